"""The tables of the bones (spec 4.1) and the frames of the solved pose (spec 4.4), in chain space.

A bone's axis and co-axis stand in the joint's own frame at its preferred angles; twistUp and chainUp come out of the zero
map as world vectors and go through Inverse(parentMatrix), twistUp through TwistParent before. The zero map (spline.zero_map)
is fed the raw chain axis.
"""

from __future__ import annotations

from typing import NamedTuple

from maxik.model.chain import zero_map
from maxik.model.core import Core, Point3
from maxik.model.euler import to_euler
from maxik.model.matrix3 import (
    IDENTITY,
    Matrix3,
    frame_over_identity,
    from_values,
    invert,
    multiply,
    point_transform,
    translation,
    values_of,
    vector_transform,
)
from maxik.model.point3 import cross, flength, length_unify, normalize, subtract, unify
from maxik.model.quat import conjugate, from_ang_axis
from maxik.model.rotation import pre_apply, pre_rotate
from maxik.model.spline_curve import Sampler
from maxik.numerics.float32 import FLT_EPSILON, f32
from maxik.problems import SplineProblem, Vector

_PARALLEL = f32(100.0 * FLT_EPSILON)  # 100.0f*FLT_EPSILON: the product is exact
_UNIT: tuple[Point3, Point3, Point3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_LAST_U, _NEAR_LAST_U = 1.0, f32(0.99)


class BoneTables(NamedTuple):
    """The per-solve tables of n bones: FLength of each, axis and co-axis in the joint's frame; first pivot, twistUp."""

    lengths: tuple[float, ...]
    axes: tuple[Point3, ...]
    co_axes: tuple[Point3, ...]
    first_joint: Point3
    twist_up: Point3


class SolvedFrames(NamedTuple):
    """Per bone: Euler x, y, z in radians, the frame in chain space (12 numbers), its direction."""

    euler: tuple[Point3, ...]
    frames: tuple[Vector, ...]
    directions: tuple[Point3, ...]


def dominant_axis(axis: Point3) -> int:
    """Return the index of the largest component by magnitude, the first of equals; a NaN is never larger (spec 4.1)."""
    index, largest = 0, abs(axis[0])
    if largest < abs(axis[1]):
        index, largest = 1, abs(axis[1])
    if largest < abs(axis[2]):
        index = 2
    return index


def pre_rotate_joint(core: Core, m: Matrix3, axes: str, angles: Vector) -> Matrix3:
    """Return m after the joint's PreRotates: from index 2 down to the first '_', angles by letter (reading 9)."""
    for letter in reversed(axes):
        if letter == "_":
            break
        m = pre_rotate(core, m, letter, angles["xyz".index(letter)])
    return m


def proximal_frames(core: Core, problem: SplineProblem) -> list[Matrix3]:
    """Return P_0 .. P_n: the ProximalFrame of each joint, then that of the chain's end (ik.joint_iterator)."""
    frames = [IDENTITY]
    for joint in problem.joints:
        turned = pre_rotate_joint(core, frames[-1], joint.axes, joint.init)
        x, y, z = joint.t
        frames.append(multiply(core, translation((x, y, z)), turned))
    return frames


def spline_zero_map(core: Core, problem: SplineProblem, chain_axis: Point3) -> Point3:
    """Return DefaultZeroMap()(chainAxis) of the spline goal, a world vector (spline.zero_map).

    `carried-normal`: ik.zero_map of Normalize(axis) with n0, a0. `raw-carried-normal`: of the axis as it is.
    `axis-cross-z`: Normalize(CrossProd(axis, (0,0,1))). `constant-y`: (0,1,0). `world-up`: (0,0,1).
    A problem that gives the vector gets it back as it is.
    """
    if problem.zero_map_vector is not None:
        x, y, z = problem.zero_map_vector
        return x, y, z
    candidate = core.choice["spline.zero_map"]
    if candidate == "constant-y":
        return _UNIT[1]
    if candidate == "world-up":
        return _UNIT[2]
    if candidate == "axis-cross-z":
        return normalize(core, cross(core, chain_axis, _UNIT[2]))
    a = chain_axis if candidate == "raw-carried-normal" else normalize(core, chain_axis)
    nx, ny, nz = problem.n0
    ax, ay, az = problem.a0
    return zero_map(core, (nx, ny, nz), (ax, ay, az), a)


def bone_tables(core: Core, problem: SplineProblem, inverse_parent: Matrix3) -> BoneTables:
    """Return the tables of spec 4.1; `inverse_parent` is Inverse(linkChain.parentMatrix)."""
    frames = proximal_frames(core, problem)
    chain_axis = subtract(core, frames[-1].row3, frames[0].row3)
    chain_up = twist_up = spline_zero_map(core, problem, chain_axis)
    twist_up = vector_transform(core, twist_up, from_values(core, problem.twist_parent))
    twist_up = unify(core, vector_transform(core, twist_up, inverse_parent))
    chain_up = unify(core, vector_transform(core, chain_up, inverse_parent))
    lengths, axes, co_axes = [], [], []
    for joint, proximal, distal in zip(problem.joints, frames, frames[1:], strict=False):
        into_joint = invert(core, pre_rotate_joint(core, proximal, joint.axes, joint.init))
        axis = unify(core, point_transform(core, distal.row3, into_joint))
        axes.append(axis)
        co_axes.append(_co_axis(core, axis, vector_transform(core, chain_up, into_joint)))
        lengths.append(flength(core, subtract(core, distal.row3, proximal.row3)))
    return BoneTables(tuple(lengths), tuple(axes), tuple(co_axes), frames[0].row3, twist_up)


def _co_axis(core: Core, bone_axis: Point3, bone_up: Point3) -> Point3:
    """Return the final co-axis: boneAxis ^ unit(boneUp ^ boneAxis), with another up where these are parallel."""
    co_axis, length = length_unify(core, cross(core, bone_up, bone_axis))
    if length < _PARALLEL:
        co_axis = unify(core, cross(core, _UNIT[(dominant_axis(bone_axis) + 2) % 3], bone_axis))
    return cross(core, bone_axis, co_axis)


def solved_frames(
    core: Core, problem: SplineProblem, tables: BoneTables, sampler: Sampler, points: tuple[Point3, ...]
) -> SolvedFrames:
    """Return Euler triples, frames and directions of all bones (spec 4.4); `points` in chain space, the first included."""
    euler: list[Point3] = []
    frames: list[Matrix3] = []
    directions: list[Point3] = []
    count = len(tables.lengths)
    for b in range(count):
        # past the recorded points the direction of the bone before persists; b = 0 is always at or before them
        direction = _direction(core, sampler, points, b) if b <= len(points) else directions[-1]
        axis = tables.axes[b]
        frame = _untwisted(core, axis, tables.co_axes[b], tables.twist_up, direction)
        twist = conjugate(from_ang_axis(core, axis, _twist(core, problem, b, count)))
        if b == 0:
            local = frame = pre_apply(core, twist, frame)
        else:
            local = pre_apply(core, twist, multiply(core, frame, invert(core, frames[-1])))
            frame = multiply(core, local, frames[-1])
        frames.append(frame)
        directions.append(direction)
        euler.append(to_euler(core, local))
    return SolvedFrames(tuple(euler), tuple(values_of(frame) for frame in frames), tuple(directions))


def _twist(core: Core, problem: SplineProblem, b: int, count: int) -> float:
    """Return the twist of bone `b` of `count`: the start twist, and the end twist's share, one float."""
    if b == 0:
        return problem.start_twist
    reg = core.register
    return f32(reg(problem.start_twist) + (reg(problem.end_twist) / float(count - 1)) * float(b))


def _direction(core: Core, sampler: Sampler, points: tuple[Point3, ...], b: int) -> Point3:
    """Return the direction of bone `b` <= uCount, the number of recorded points: to the next one, or the spline's end."""
    if b == len(points) - 1:
        return normalize(core, subtract(core, sampler.at(_LAST_U), points[b]))
    if b == len(points):
        return normalize(core, subtract(core, sampler.at(_LAST_U), sampler.at(_NEAR_LAST_U)))
    return normalize(core, subtract(core, points[b + 1], points[b]))


def _untwisted(core: Core, axis: Point3, co_axis: Point3, twist_up: Point3, direction: Point3) -> Matrix3:
    """Return boneBasis^-1 * global: the frame that lays the bone's axis along `direction`, before the twist."""
    i = dominant_axis(axis)
    k = (i + 2) % 3
    basis = invert(core, Matrix3(*_placed(i, axis, cross(core, co_axis, axis), co_axis), (0.0, 0.0, 0.0), 0))
    norm, length = length_unify(core, cross(core, twist_up, direction))
    if length < _PARALLEL:
        norm = unify(core, cross(core, _UNIT[k], direction))
    return multiply(core, basis, frame_over_identity(*_placed(i, direction, norm, cross(core, direction, norm))))


def _placed(i: int, row_i: Point3, row_j: Point3, row_k: Point3) -> tuple[Point3, Point3, Point3]:
    """Return rows 0, 1, 2 of a matrix whose rows i, j = (i + 1) % 3, k = (i + 2) % 3 are given."""
    rows = (row_i, row_j, row_k)
    return rows[-i % 3], rows[(1 - i) % 3], rows[(2 - i) % 3]
