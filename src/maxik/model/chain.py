"""The links that the limb solver sees (spec 2.5, 3.1; core-profile.md, IK system), in chain space.

A `Pose` is the chain at its preferred angles: the root link turns by x, y, z and carries its rigid extension, the
next joint's position; links 0, 1, 2 turn about z, y, x, and link 2 carries the end joint's position. Links 0 and
1 have no rigid extension. Extensions are given as they are in the problem: ik.rigid_extension is applied where problems
are built.
"""

from __future__ import annotations

from typing import NamedTuple

from maxik.model.core import Core, Point3
from maxik.model.matrix3 import IDENTITY, Matrix3, multiply, pre_translate, translation
from maxik.model.point3 import cross, dot, length_unify, negate, normalize, scale, subtract
from maxik.model.rotation import pre_rotate

LINK_AXES = "zyx"
"""The axes of links 0, 1 and 2 (ik.dof_matrix)."""


class Pose(NamedTuple):
    """A limb's angles and extensions: start joint x, y, z and links z, y, x in radians, positions in their joint's frame."""

    root_xyz: Point3
    root_extend: Point3
    links_zyx: Point3
    links_extend: Point3


def pre_rotate_xyz(core: Core, m: Matrix3, xyz: Point3) -> Matrix3:
    """Return m after PreRotateZ(z), PreRotateY(y), PreRotateX(x): Rx * Ry * Rz * m."""
    m = pre_rotate(core, m, "z", xyz[2])
    m = pre_rotate(core, m, "y", xyz[1])
    return pre_rotate(core, m, "x", xyz[0])


def root_dof_matrix(core: Core, xyz: Point3) -> Matrix3:
    """Return the root link's DofMatrix: identity pre-rotated by z, y, x (ik.dof_matrix `pre-rotate`)."""
    return pre_rotate_xyz(core, IDENTITY, xyz)


def root_link_matrix(core: Core, pose: Pose) -> Matrix3:
    """Return the root's LinkMatrix(true), the first child joint's transform in chain space (ik.link_matrix).

    `multiply`: rigidExtend * DofMatrix. `pre-rotate-in-place`: identity pre-rotated, then pre-translated.
    """
    dof = root_dof_matrix(core, pose.root_xyz)
    if core.choice["ik.link_matrix"] == "pre-rotate-in-place":
        return pre_translate(core, dof, pose.root_extend)
    return multiply(core, translation(pose.root_extend), dof)


def dof_matrix(core: Core, pose: Pose, link: int) -> Matrix3:
    """Return LinkOf(link).DofMatrix(): identity pre-rotated about the link's axis (ik.dof_matrix `pre-rotate`)."""
    return pre_rotate(core, IDENTITY, LINK_AXES[link], pose.links_zyx[link])


def link_matrix(core: Core, pose: Pose, link: int) -> Matrix3:
    """Return LinkOf(link).LinkMatrix(true); a link without extension gives its DofMatrix itself (reading 5)."""
    dof = dof_matrix(core, pose, link)
    if LINK_AXES[link] != "x":
        return dof
    if core.choice["ik.link_matrix"] == "pre-rotate-in-place":
        return pre_translate(core, dof, pose.links_extend)
    return multiply(core, translation(pose.links_extend), dof)


def link_matrices(core: Core, pose: Pose) -> tuple[Matrix3, Matrix3, Matrix3]:
    """Return LinkMatrix(true) of links 0, 1 and 2."""
    return link_matrix(core, pose, 0), link_matrix(core, pose, 1), link_matrix(core, pose, 2)


def apply_links(core: Core, pose: Pose, links: tuple[Matrix3, Matrix3, Matrix3], m: Matrix3) -> Matrix3:
    """Return m after ApplyLinkMatrix(m, true) of links 0, 1 and 2, `links` their matrices (ik.link_matrix).

    `multiply`: m = LinkMatrix(true) * m. `pre-rotate-in-place`: m is pre-rotated about the link's axis, then
    pre-translated by its extension.
    """
    if core.choice["ik.link_matrix"] == "pre-rotate-in-place":
        for axis, angle in zip(LINK_AXES, pose.links_zyx, strict=True):
            m = pre_rotate(core, m, axis, angle)
        return pre_translate(core, m, pose.links_extend)
    for link in links:
        m = multiply(core, link, m)
    return m


def elbow_and_wrist(core: Core, pose: Pose, links: tuple[Matrix3, Matrix3, Matrix3]) -> tuple[Point3, Point3]:
    """Return elbowPos and wristPos in chain space at the preferred pose, `links` from `link_matrices` (spec 3.1)."""
    root = root_link_matrix(core, pose)
    elbow = multiply(core, dof_matrix(core, pose, 2), links[1])
    elbow = multiply(core, multiply(core, elbow, links[0]), root)
    return elbow.row3, apply_links(core, pose, links, root).row3


def initial_plane(core: Core, link_count: int, pose: Pose) -> tuple[Point3, Point3]:
    """Return (n0, a0), plane normal and end-effector axis in chain space (ik.initial_plane); ValueError for other counts.

    `preferred-pose`: a0 = Normalize(wrist), n0 = Normalize(CrossProd(a0, Normalize(elbow))), the start joint at its
    preferred angles; link_count 0 takes the root link's end for both. `start-joint-zero`: the same with the start
    joint's angles at zero.
    """
    if core.choice["ik.initial_plane"] == "start-joint-zero":
        pose = pose._replace(root_xyz=(0.0, 0.0, 0.0))
    if link_count == 0:
        elbow = wrist = root_link_matrix(core, pose).row3
    elif link_count == 3:  # noqa: PLR2004 - the two shapes the solver accepts (spec 3)
        elbow, wrist = elbow_and_wrist(core, pose, link_matrices(core, pose))
    else:
        message = f"link_count is {link_count}, not 0 or 3"
        raise ValueError(message)
    a0 = normalize(core, wrist)
    n0 = normalize(core, cross(core, a0, normalize(core, elbow)))
    return (n0 if core.conventions.normal > 0.0 else negate(n0)), a0


def zero_map(core: Core, n0: Point3, a0: Point3, a: Point3) -> Point3:
    """Return DefaultZeroMap()(a), the plane normal at swivel zero for the axis `a` (ik.zero_map).

    `carried-normal`: d = f(n0 % a), w = n0 - d*a as Point3 operations, unified by LengthUnify.
    `double-cross`: w = a ^ (n0 ^ a), unified the same way.
    When that length is zero, in both: -a0 if n0 % a > 0 (register value, reading 2), else +a0.
    """
    if core.choice["ik.zero_map"] == "carried-normal":
        w = subtract(core, n0, scale(core, a, dot(core, n0, a)))
    else:
        w = cross(core, a, cross(core, n0, a))
    w, length = length_unify(core, w)
    if length == 0.0:
        return negate(a0) if dot(core, n0, a) > 0.0 else a0
    return w
