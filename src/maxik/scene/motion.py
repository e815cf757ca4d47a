"""A baked scene: every node's local and world TM at every frame, what writers turn into files.

Row vectors, scene units, Z up, as in 3ds Max. Nothing here is converted: units and axes are the writers' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from maxik.scene.scene import Scene

Float32s = NDArray[np.float32]


@dataclass(frozen=True)
class NodeMotion:
    """One node over F frames; arrays have F rows, or 1 where nothing changes.

    `position` (F, 3): local translation; `rotation` (F, 3, 3): local rotation, row matrix; `euler` (F, 3): Euler XYZ
    in radians where the rotation is one (FK Euler controllers and solved joints), else None; `scale` (F, 3) and
    `scale_axis` (F, 4): see scene.Transform; `local_tm`, `world_tm` (F, 4, 3): local = scale * rotation * translation,
    world = local * parent's world. `solved_by`: names of the IK chains that set the rotation, empty for plain FK.
    """

    position: Float32s
    rotation: Float32s
    euler: Float32s | None
    scale: Float32s
    scale_axis: Float32s
    local_tm: Float32s
    world_tm: Float32s
    solved_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChainMotion:
    """One IK chain over F frames: what went into the solver and what came out.

    `solved` (F,) bool: frames in which the solver set the joints; `goal_in_chain` (F, 4, 3); `goal_distance`, `reach`
    (F,): length to the goal and of the straight chain, chain space; `goal_miss` (F,): distance from the end joint to
    the goal, world space, scene units; `joints`: node indices whose rotation the solver replaced; `causes`: name of a
    degenerate condition (ik.py) -> boolean mask (F,).

    `parent_tm` (F, 4, 3): chain space to world. `n0` (F, 3): a limb's plane normal at its preferred pose, chain space.
    Of a spline chain: `points` (F, bones + 1, 3), the accepted points in chain space, NaN past the last; `object_tm`
    (F, 4, 3), the spline's object space to world; `knots` (F, K, 3), object space, where helpers carry them, else None.
    """

    chain: int
    solved: NDArray[np.bool_]
    goal_in_chain: Float32s
    goal_distance: Float32s
    reach: Float32s
    goal_miss: Float32s
    joints: tuple[int, ...]
    causes: Mapping[str, NDArray[np.bool_]]
    parent_tm: Float32s
    n0: Float32s
    points: Float32s
    object_tm: Float32s
    knots: Float32s | None


@dataclass(frozen=True)
class UnsolvedChain:
    """A chain that was left to its FK pose, and why: one sentence."""

    chain: int
    reason: str


@dataclass(frozen=True)
class BakedScene:
    """A scene evaluated at `ticks` (F,) int64.

    One NodeMotion per node of `scene.nodes`, one ChainMotion per solved chain, one UnsolvedChain for each other.
    """

    scene: Scene
    ticks: NDArray[np.int64]
    frame_rate: float
    nodes: tuple[NodeMotion, ...]
    chains: tuple[ChainMotion, ...]
    unsolved: tuple[UnsolvedChain, ...] = ()


_Motion = TypeVar("_Motion", NodeMotion, ChainMotion)


def first_frames(motion: _Motion, frames: int) -> _Motion:
    """Return the motion with its arrays cut to the first `frames` rows."""

    def cut(value: Any) -> Any:  # noqa: ANN401 - any field
        return value[:frames] if isinstance(value, np.ndarray) else value

    changes = {entry.name: cut(getattr(motion, entry.name)) for entry in fields(motion)}
    if isinstance(motion, ChainMotion):
        changes["causes"] = {cause: cut(mask) for cause, mask in motion.causes.items()}
    return replace(motion, **changes)


def same_rows(*arrays: Float32s) -> list[Float32s]:
    """Return the arrays with the same number of rows, C-contiguous; one row stands for all frames."""
    rows = max(len(array) for array in arrays)
    return [np.ascontiguousarray(np.broadcast_to(array, (rows, *array.shape[1:]))) for array in arrays]
