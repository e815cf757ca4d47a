"""Small rigs for tests: a limb under any parent, its goal anywhere; and an independent binary64 forward kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maxik.scene.scene import LIMB, Chain, Joint, Node, Scene
from maxik.scene.tracks import ConstantTrack, Track
from maxik.scene.transform import EulerRotation, Transform

Float64s = NDArray[np.float64]
ONE = (1.0, 1.0, 1.0)
NO_TURN = (0.0, 0.0, 0.0, 1.0)


def constant(*values: float) -> ConstantTrack:
    return ConstantTrack(tuple(float(np.float32(value)) for value in values))


def node(  # noqa: PLR0913 - a node has that many parts
    name: str,
    parent: int | None,
    position: Sequence[float] = (0.0, 0.0, 0.0),
    euler: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    scale: Sequence[float] = ONE,
    scale_axis: Sequence[float] = NO_TURN,
    preferred: Sequence[float] | None = None,
) -> Node:
    transform = Transform(
        position=constant(*position),
        rotation=EulerRotation(constant(euler[0]), constant(euler[1]), constant(euler[2])),
        scale=constant(*scale),
        scale_axis=constant(*scale_axis),
    )
    joint = None if preferred is None else Joint(constant(*preferred))
    return Node(name, parent, transform, "Bone" if joint else "Dummy", "IKControl" if joint else "PRS", joint)


def limb_scene(  # noqa: PLR0913 - what a test may vary
    *,
    root: Node | None = None,
    start_scale: Sequence[float] = ONE,
    start_axis: Sequence[float] = NO_TURN,
    goal: Sequence[float] = (6.0, 2.0, 3.0),
    goal_parent: int | None = None,
    swivel: Track | None = None,
    enabled: Track | None = None,
    preferred_elbow: Sequence[float] = (0.0, 0.0, 0.8),
) -> Scene:
    """Return root (0), upper arm (1), forearm (2), hand (3), goal (4); bones of 5 and 4 along x."""
    nodes = (
        root or node("root", None),
        node(
            "upper arm",
            0,
            (1.0, 2.0, 3.0),
            (0.1, 0.2, 0.3),
            scale=start_scale,
            scale_axis=start_axis,
            preferred=(0.2, -0.4, 0.1),
        ),
        node("forearm", 1, (5.0, 0.0, 0.0), (0.0, 0.0, 0.5), preferred=preferred_elbow),
        node("hand", 2, (4.0, 0.0, 0.0), (0.3, 0.0, 0.0), preferred=(0.0, 0.0, 0.0)),
        node("goal", goal_parent, goal),
    )
    chain = Chain(
        name="arm",
        solver=LIMB,
        start=1,
        end=3,
        goal=4,
        swivel=swivel or constant(0.0),
        swivel_parent="start-joint",
        vh_target=None,
        enabled=enabled or constant(1.0),
    )
    return Scene("test", nodes, (chain,), last_tick=4800)


def with_chain(scene: Scene, **changes: object) -> Scene:
    """Return the scene with its first chain changed."""
    return replace(scene, chains=(replace(scene.chains[0], **changes), *scene.chains[1:]))  # type: ignore[arg-type]


def local_matrix(position: Float64s, euler: Float64s, scale: Float64s, scale_axis: Float64s) -> Float64s:
    """Return S * R * T as a 4x4 row-vector matrix in binary64: R = Rx * Ry * Rz, S = Q^T * diag(s) * Q."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(euler), np.sin(euler)
    rx = np.array([[1, 0, 0], [0, cx, sx], [0, -sx, cx]])
    ry = np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])
    rz = np.array([[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]])
    x, y, z, w = scale_axis
    q = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = q.T @ np.diag(scale) @ q @ rx @ ry @ rz
    matrix[3, :3] = position
    return matrix
