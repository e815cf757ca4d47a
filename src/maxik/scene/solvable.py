"""Which chains maxik solves and by which method, and why it leaves the others to their FK pose.

IK Limb and Spline IK chains are solved as the reference solves them. HI is iterative; of it only chains of two bones
are solved, by the limb formulae, where these are known to hold (core-contracts.md 5, 6; measured on poses of 3ds Max).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from maxik.problems import Engine
from maxik.scene.ik import NEAR, chain_joints, preferred_bones
from maxik.scene.motion import UnsolvedChain
from maxik.scene.placing import Placing
from maxik.scene.scene import HI, LIMB, SPLINE, Chain, Scene
from maxik.scene.tracks import Ticks
from maxik.scene.transform import nodes_of
from maxik.scene.turns import Float64s

LIMB_METHOD = "IK Limb"
ONE_JOINT_METHOD = "one-joint chain"
SPLINE_METHOD = "Spline IK"
HI_METHOD = "HI by limb, about 1e-4 rad"


def sort_chains(scene: Scene, ticks: Ticks, engine: Engine) -> tuple[list[int], list[UnsolvedChain]]:
    """Return the chains to solve at `ticks` (F,), in file order, and the others with their reasons.

    Raises SceneError for a chain that does not hang together.
    """
    placing = Placing(scene, ticks, engine)
    solved: list[int] = []
    unsolved: list[UnsolvedChain] = []
    driven: dict[int, str] = {}
    for index, chain in enumerate(scene.chains):
        joints = chain_joints(scene, chain)
        reason = why_not_solved(placing, chain, joints, driven)
        if reason is not None:
            unsolved.append(UnsolvedChain(index, reason))
            continue
        solved.append(index)
        driven.update(dict.fromkeys(joints[:-1], chain.name))
    return solved, unsolved


def method(chain: Chain, bones: int) -> str:
    """Return by which method maxik solves a chain with so many bones."""
    if chain.solver == HI:
        return HI_METHOD
    if chain.solver == SPLINE:
        return SPLINE_METHOD
    return ONE_JOINT_METHOD if bones == 1 else LIMB_METHOD


def why_not_solved(placing: Placing, chain: Chain, joints: tuple[int, ...], driven: Mapping[int, str]) -> str | None:
    """Return why maxik leaves this chain to its FK pose over the ticks of `placing`, or None when it solves it.

    `driven`: joints that an earlier chain already solves, with that chain's name.
    """
    scene = placing.scene
    misfit = _misfit(scene, chain, joints)
    if misfit is not None:
        return misfit
    for index in joints[:-1]:
        node = scene.nodes[index]
        if node.joint is None:
            return f"joint {node.name!r} has no IK joint controller, so no preferred angles"
        if index in driven:
            return f"joint {node.name!r} is already solved by the chain {driven[index]!r}"
    bound = _bound_joint(scene, joints)
    if bound is not None or chain.solver != HI:
        return bound
    return _unlike_limb(placing, joints)


def _misfit(scene: Scene, chain: Chain, joints: tuple[int, ...]) -> str | None:
    """Return why maxik has no method for such a chain, whatever its joints are."""
    if chain.solver == SPLINE:
        return _spline_misfit(scene, chain, joints)
    if chain.solver not in (LIMB, HI):
        evaluated = f"it evaluates {LIMB}, {SPLINE} and, of two bones, {HI}"
        return f"the solver {chain.solver!r} is not one that maxik evaluates ({evaluated})"
    if chain.spline is not None:
        return f"the chain has a spline to follow, and its solver {chain.solver!r} follows none"
    if len(joints) == 3 or (chain.solver == LIMB and len(joints) == 2):  # noqa: PLR2004 - two bones, one bone
        return None
    if chain.solver == LIMB:
        return f"the limb solver accepts 2 or 3 joints, this chain has {len(joints)} (status invalid-initial-value)"
    start, end = scene.nodes[joints[0]].name, scene.nodes[joints[-1]].name
    return f"of {HI} maxik evaluates chains of 3 joints (two bones), from {start!r} to {end!r} there are {len(joints)}"


def _spline_misfit(scene: Scene, chain: Chain, joints: tuple[int, ...]) -> str | None:
    if chain.spline is None or scene.nodes[chain.spline.shape].shape is None:
        return "the chain has no spline to follow: its shape node is missing or holds no knots"
    if chain.spline.up_node in joints:
        return "the up-node is a joint of the chain"
    return None


def _bound_joint(scene: Scene, joints: tuple[int, ...]) -> str | None:
    """Return why a joint's place cannot be known before the chain is solved."""
    for index in joints:
        node = scene.nodes[index]
        if node.links is not None:
            return f"joint {node.name!r} hangs below other nodes by a Link Constraint"
        if index != joints[0] and nodes_of(node.transform.position):
            return f"the position of joint {node.name!r} is set by a constraint to other nodes"
    return None


def _unlike_limb(placing: Placing, joints: tuple[int, ...]) -> str | None:
    """Return why the limb formulae are not known to hold for an HI chain of two bones, or None where they are.

    HI turns the elbow along the gradient of the reach in its Euler angles, whose part for an axis is that axis times
    the plane normal. So the elbow bends about the normal alone, as a limb's does, when every active axis lies along the
    normal or across it, and one along it.
    """
    start, elbow = (placing.scene.nodes[index] for index in joints[:-1])
    assert start.joint is not None  # noqa: S101 - checked by the caller
    assert elbow.joint is not None  # noqa: S101 - the same
    for name, joint in ((start.name, start.joint), (elbow.name, elbow.joint)):
        if joint.limited_axes:
            return f"joint {name!r} has limits on ({joint.limited_axes}), which {HI} keeps to and the limb formulae do not"
    if start.joint.inactive_axes:
        off = start.joint.inactive_axes
        return f"joint {start.name!r} has axes off ({off}), which {HI} does not turn and the limb formulae do"
    with np.errstate(all="ignore"):  # what is not finite has no plane
        angles = placing.preferred(joints)[1]
        upper, lower = placing.extends(joints)
        first, second, rotation = preferred_bones(upper, lower, angles)
        normal = np.cross(first, second)  # opposite to ee ^ elbow; its sign does not matter here
        length = np.linalg.norm(normal, axis=1)
        bend = length / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
        normal = (normal / length[:, None])[:, None]
        euler_axes = _euler_axes(rotation, angles.astype(np.float64))
        along = np.linalg.norm(np.cross(euler_axes, normal), axis=2) < NEAR
        across = np.abs((euler_axes * normal).sum(axis=2)) < NEAR
    active = np.array([axis not in elbow.joint.inactive_axes for axis in "xyz"])
    causes = (
        (~(bend >= NEAR), "makes no plane at the preferred pose: its bones are straight there, or not finite"),
        (
            ~active.any() | (along & ~active).any(axis=1) & ~(along & active).any(axis=1),
            f"has axes off, among them the one about which the chain bends ({elbow.joint.inactive_axes})",
        ),
        (
            ~((along | across | ~active).all(axis=1) & (along & active).any(axis=1)),
            f"bends about several of its axes from the preferred pose, where {HI} differs from the limb formulae",
        ),
    )
    for frames, cause in causes:
        if frames.any():
            when = f" at tick {placing.ticks[np.argmax(frames)]}" if len(frames) > 1 else ""
            return f"joint {elbow.name!r} {cause}{when}"
    return None


def _euler_axes(rotation: Float64s, angles: Float64s) -> Float64s:
    """Return the axes about which the angles x, y, z (F or 1, 3) of R = Rx * Ry * Rz (F, 3, 3) turn it, (F, 3, 3)."""
    x = rotation[:, 0]  # (1,0,0) * Ry * Rz, since Rx leaves (1,0,0)
    z = angles[:, 2]
    y = np.stack([-np.sin(z), np.cos(z), np.zeros_like(z)], axis=1)
    return np.stack(np.broadcast_arrays(x, y, np.array([0.0, 0.0, 1.0])), axis=1)
