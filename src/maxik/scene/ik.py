"""IK chains: from nodes to solver problems and back (design 6; core-contracts.md 5, 6; core-profile.md, IK system).

Chain space has the axes of the start joint's parent and its origin at the start joint:
parentMatrix = Translation(start position) * ParentTM(start); goal in chain space = TM(goal) * Inverse(parentMatrix).
A start joint whose child is the end joint has LinkCount 0; one joint between them makes LinkCount 3. The solver
replaces the rotations of the start joint up to the joint before the end; everything else stays FK.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.errors import SceneError
from maxik.problems import STATUSES, SUCCESS, Engine, Float32s, LimbTake, LimbTakeSolution
from maxik.scene.motion import same_rows
from maxik.scene.scene import Chain, Scene
from maxik.scene.tracks import Ticks
from maxik.scene.turns import Float64s, matrix_of_euler

Mask = NDArray[np.bool_]

POLE = "pole of the zero map"
ZERO_TARGET = "zero-length target"
STRAIGHT = "straight preferred pose"
ANTI_PARALLEL = "anti-parallel one-joint chain"
TOO_FAR = "unreachable goal: too far"
TOO_NEAR = "unreachable goal: too near"
NOT_FINITE = "solver result is not finite"

NEAR = 1e-3
"""How near, in radians, a pose counts as degenerate: there noise of one float32 step exceeds 1e-4 rad."""


@dataclass(frozen=True)
class ChainFrames:
    """What a chain needs of its nodes at every frame; F rows, or 1 where constant.

    `preferred`, `extends`: for each joint from start to the one before the end, the preferred angles (F, 3) and the
    next joint's position times the scales of the chain's joints before it (F, 3). The rest is chain space.
    """

    preferred: tuple[Float32s, ...]
    extends: tuple[Float32s, ...]
    goal_in_chain: Float32s
    vh_target_in_chain: Float32s | None
    swivel: Float32s


def chain_joints(scene: Scene, chain: Chain) -> tuple[int, ...]:
    """Return the node indices from the start joint to the end joint, both included.

    Raises SceneError naming file and chain when the end joint is not below the start joint.
    """
    joints = [chain.end]
    while joints[-1] != chain.start:
        parent = scene.nodes[joints[-1]].parent
        if parent is None:
            start, end = scene.nodes[chain.start].name, scene.nodes[chain.end].name
            message = f"the chain's end joint {end!r} is not below its start joint {start!r}"
            raise SceneError(message, file=scene.file, node=chain.name)
        joints.append(parent)
    if len(joints) == 1:
        message = f"the chain starts and ends at the same joint {scene.nodes[chain.end].name!r}"
        raise SceneError(message, file=scene.file, node=chain.name)
    return tuple(reversed(joints))


def limb_take(engine: Engine, frames: int, chain: Chain, parts: ChainFrames) -> LimbTake:
    """Build the limb problem of every frame; the plane at the preferred pose comes from the engine (ik.initial_plane)."""
    one_joint = len(parts.preferred) == 1
    root_init, root_extend = parts.preferred[0], parts.extends[0]
    none = np.zeros((1, 3), np.float32)
    links_init = none if one_joint else np.ascontiguousarray(parts.preferred[1][:, ::-1])
    links_extend = none if one_joint else parts.extends[1]
    link_count = 0 if one_joint else 3
    pose = same_rows(root_init, root_extend, links_init, links_extend)
    n0, a0 = engine.initial_plane(link_count, *pose)
    return LimbTake(
        frames=frames,
        link_count=link_count,
        root_init_xyz=root_init,
        root_extend=root_extend,
        links_init_zyx=links_init,
        links_extend=links_extend,
        goal=parts.goal_in_chain.reshape(-1, 12),
        swivel_parent=chain.swivel_parent,
        swivel_angle=np.ascontiguousarray(parts.swivel[:, 0]),
        vh_target=parts.vh_target_in_chain,
        n0=n0,
        a0=a0,
    )


def joint_angles(take: LimbTake, solution: LimbTakeSolution) -> tuple[Float32s, ...]:
    """Return each solved joint's Euler XYZ, (F, 3) radians: the root link's, then links 2, 1, 0 (x, y, z)."""
    if take.link_count == 0:
        return (solution.rot_xyz,)
    return (solution.rot_xyz, np.ascontiguousarray(solution.dof_zyx[:, ::-1]))


def enabled_frames(chain: Chain, ticks: Ticks) -> Mask:
    """Return the frames in which the chain is enabled, (F,)."""
    enabled: Mask = np.broadcast_to(chain.enabled.at(ticks)[:, 0] > 0.5, len(ticks))  # noqa: PLR2004 - a boolean as float
    return enabled


def solved_frames(chain: Chain, ticks: Ticks, solution: LimbTakeSolution) -> Mask:
    """Return the frames in which the chain is enabled and the solver succeeded, (F,)."""
    succeeded: Mask = solution.status == STATUSES.index(SUCCESS)
    return np.logical_and(enabled_frames(chain, ticks), succeeded)


def reach(take: LimbTake) -> tuple[Float64s, Float64s]:
    """Return (longest, shortest) distance from the start joint that the end joint can have, (F or 1,) binary64."""
    first = np.linalg.norm(take.root_extend.astype(np.float64), axis=1)
    if take.link_count == 0:
        return first, first
    second = np.linalg.norm(take.links_extend.astype(np.float64), axis=1)
    return first + second, np.abs(first - second)


def degenerate_frames(take: LimbTake, solution: LimbTakeSolution) -> dict[str, Mask]:
    """Return the frames that are degenerate, by cause; the certificate counts them (design 5).

    Computed in binary64 from the solver's inputs; a direction counts as degenerate within `NEAR` radians.
    """
    goal = take.goal[:, 9:].astype(np.float64)
    n0, a0 = take.n0.astype(np.float64), take.a0.astype(np.float64)
    distance = np.linalg.norm(goal, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ee = goal / distance[:, None]
    longest, shortest = reach(take)
    finite = np.isfinite(solution.rot_xyz).all(axis=1)
    causes: dict[str, Mask] = {ZERO_TARGET: np.equal(distance, 0.0)}
    if take.link_count == 0:
        causes[ANTI_PARALLEL] = np.einsum("ij,ij->i", *np.broadcast_arrays(ee, a0)) < -np.cos(NEAR)
    else:
        slack = 1e-6 * longest
        causes[POLE] = np.linalg.norm(np.cross(ee, n0), axis=1) < NEAR
        causes[TOO_FAR] = distance > longest + slack
        causes[TOO_NEAR] = distance < shortest - slack
        causes[STRAIGHT] = _preferred_bend(take) < NEAR
        finite = finite & np.isfinite(solution.dof_zyx).all(axis=1)
    causes[NOT_FINITE] = np.logical_not(finite)
    return {cause: np.broadcast_to(mask, take.frames) for cause, mask in causes.items() if mask.any()}


def _preferred_bend(take: LimbTake) -> Float64s:
    """Return the angle between the limb's two bones at the preferred pose, 0 when straight, (F or 1,)."""
    first, second, _ = preferred_bones(take.root_extend, take.links_extend, take.links_init_zyx[:, ::-1])
    bend: Float64s = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.einsum("ij,ij->i", first, second))
    return bend


def preferred_bones(first: Float32s, second: Float32s, elbow: Float32s) -> tuple[Float64s, Float64s, Float64s]:
    """Return both bones (F, 3) and the elbow's rotation (F, 3, 3) at the preferred pose, binary64, start joint's frame.

    `first`, `second` (F or 1, 3): the rigid extensions; `elbow` (F or 1, 3): its preferred x, y, z in radians.
    """
    first64, second64, angles = (rows.astype(np.float64) for rows in same_rows(first, second, elbow))
    rotation = matrix_of_euler(angles)
    return first64, np.einsum("fi,fij->fj", second64, rotation), rotation
