"""The IK Limb solver (spec 3), expression by expression: 3.1 and 3.2 for LinkCount 3, 3.3 for LinkCount 0.

Stateless: every solve starts from the preferred angles. Every named `float` of the spec is rounded where it is
assigned; comparisons of dot products use the register (core-profile.md, readings 1 to 6).
"""

from __future__ import annotations

from typing import NamedTuple

from maxik.model.chain import (
    Pose,
    apply_links,
    elbow_and_wrist,
    link_matrices,
    pre_rotate_xyz,
    root_link_matrix,
    zero_map,
)
from maxik.model.core import Core, Point3
from maxik.model.euler import to_euler
from maxik.model.matrix3 import (
    Matrix3,
    frame_over_identity,
    from_rows,
    from_values,
    invert,
    multiply,
    translation,
    vector_transform,
)
from maxik.model.point3 import cross, dot, flength, length_unify, normalize, scale, subtract
from maxik.model.quat import apply_row_quat, make_row_quat
from maxik.model.rotation import rot_angle_axis
from maxik.model.trig import acos_safe
from maxik.numerics import crt
from maxik.numerics.float32 import f32
from maxik.problems import (
    GOAL,
    INVALID_ARGUMENT,
    INVALID_INITIAL_VALUE,
    START_JOINT,
    SUCCESS,
    LimbProblem,
    LimbSolution,
    Vector,
)

_LINK_COUNTS = (0, 3)


class InitialPose(NamedTuple):
    """What 3.1 leaves for 3.2: bone lengths, angles at elbow and shoulder, the shoulder frame and the elbow's axis."""

    upper: float
    lower: float
    theta0: float
    phi0: float
    shoulder_frame: Matrix3
    plane_normal: Point3


def solve(core: Core, problem: LimbProblem) -> LimbSolution:
    """Solve one problem (spec 3); the link count is checked before the goal (reading 6)."""
    if problem.link_count not in _LINK_COUNTS:
        return LimbSolution(INVALID_INITIAL_VALUE, None, None)
    if problem.goal is None:
        return LimbSolution(INVALID_ARGUMENT, None, None)
    goal = from_values(core, problem.goal)
    if problem.link_count == 0:
        return LimbSolution(SUCCESS, _solve_one_joint(core, problem, goal), None)
    return _solve_limb(core, problem, goal)


def initialise(core: Core, problem: LimbProblem) -> InitialPose:
    """Return the initial pose of a three-link limb (spec 3.1)."""
    pose = pose_of(problem)
    links = link_matrices(core, pose)
    elbow, wrist = elbow_and_wrist(core, pose, links)
    ee = normalize(core, wrist)
    upper = flength(core, elbow)
    lower = flength(core, subtract(core, wrist, elbow))
    theta0, phi0 = _cosine_law(core, upper, lower, flength(core, wrist))
    local_root = translation(pose.root_extend)  # LinkMatrix(false)
    elbow_unit_local = normalize(core, local_root.row3)
    ee_unit_local = normalize(core, apply_links(core, pose, links, local_root).row3)
    return InitialPose(
        upper=upper,
        lower=lower,
        theta0=theta0,
        phi0=phi0,
        shoulder_frame=_initial_frame(core, problem, ee),
        plane_normal=normalize(core, cross(core, ee_unit_local, elbow_unit_local)),
    )


def _solve_limb(core: Core, problem: LimbProblem, goal: Matrix3) -> LimbSolution:
    """Solve a three-link limb (spec 3.2)."""
    init = initialise(core, problem)
    wrist = _reachable(core, init, goal.row3)
    ee = normalize(core, wrist)
    theta, phi = _cosine_law(core, init.upper, init.lower, flength(core, wrist))
    p = zero_map(core, _point(problem.n0), _point(problem.a0), ee)
    t = _target_normal(core, problem, goal, ee, p)
    swivel = _swivel(core, p, t, ee)

    m1 = rot_angle_axis(core, p, _difference(core, phi, init.phi0))
    m2 = rot_angle_axis(core, ee, swivel)
    rx = vector_transform(core, vector_transform(core, ee, m1), m2)
    ry = vector_transform(core, p, m2)
    rot_xyz = _shoulder_angles(core, problem, init.shoulder_frame, rx, ry)

    elbow = rot_angle_axis(core, init.plane_normal, _difference(core, theta, init.theta0))
    z, y, x = problem.links_init_zyx
    euler = to_euler(core, pre_rotate_xyz(core, elbow, (x, y, z)))
    return LimbSolution(SUCCESS, rot_xyz, (euler[2], euler[1], euler[0]))


def _solve_one_joint(core: Core, problem: LimbProblem, goal: Matrix3) -> Point3:
    """Return rot_xyz of a one-joint chain (spec 3.3)."""
    init_ee = normalize(core, root_link_matrix(core, pose_of(problem)).row3)
    frame = _initial_frame(core, problem, init_ee)
    ee = normalize(core, goal.row3)
    angle = f32(acos_safe(f32(dot(core, init_ee, ee))))
    axis = normalize(core, cross(core, init_ee, ee))
    m = rot_angle_axis(core, axis, angle)
    rx = vector_transform(core, init_ee, m)
    ry = vector_transform(core, frame.row1, m)
    return _shoulder_angles(core, problem, frame, rx, ry)


def pose_of(problem: LimbProblem) -> Pose:
    """Return the preferred pose of a problem: rotXYZ = initXYZ, dofValue = initValue (spec 3.1)."""
    return Pose(*map(_point, (problem.root_init_xyz, problem.root_extend, problem.links_init_zyx, problem.links_extend)))


def _initial_frame(core: Core, problem: LimbProblem, ee: Point3) -> Matrix3:
    """Return the initial shoulder frame; row 1 is the zero map's output as it is (spec 3.1)."""
    row1 = zero_map(core, _point(problem.n0), _point(problem.a0), ee)
    return from_rows(core, ee, row1, normalize(core, cross(core, ee, row1)))


def _cosine_law(core: Core, upper: float, lower: float, d: float) -> tuple[float, float]:
    """Return theta and phi, the angles at elbow and shoulder for the reach `d` (spec 3.1)."""
    reg = core.register
    l1, l2, reach = reg(upper), reg(lower), reg(d)
    elbow_num = f32(l1 * l1 + l2 * l2 - reach * reach)
    cos_elbow = f32(crt.divide(elbow_num, 2 * l1 * l2))
    shoulder_num = f32(reach * reach + l1 * l1 - l2 * l2)
    cos_shoulder = f32(crt.divide(shoulder_num, 2 * reach * l1))
    return f32(acos_safe(cos_elbow)), f32(acos_safe(cos_shoulder))


def _reachable(core: Core, init: InitialPose, g: Point3) -> Point3:
    """Return the wrist position for the goal position `g`: clamped to what the two bones reach (spec 3.2)."""
    l_sum = f32(core.register(init.upper) + init.lower)
    l_diff = abs(_difference(core, init.upper, init.lower))
    goal_dist = flength(core, g)
    goal_unit = normalize(core, g)
    if goal_dist > l_sum:
        return scale(core, goal_unit, l_sum)
    if goal_dist < l_diff:
        return scale(core, goal_unit, l_diff)
    return g


def _target_normal(core: Core, problem: LimbProblem, goal: Matrix3, ee: Point3, p: Point3) -> Point3:
    """Return t, the plane normal asked for: by VH target, or by swivel in start joint or goal (spec 3.2)."""
    n0, a0 = _point(problem.n0), _point(problem.a0)
    if problem.vh_target is not None:
        t, length = length_unify(core, _across(core, normalize(core, _point(problem.vh_target)), ee))
        return p if length == 0.0 else cross(core, ee, t)
    if problem.swivel_parent == START_JOINT:
        return apply_row_quat(core, zero_map(core, n0, a0, ee), make_row_quat(core, ee, problem.swivel_angle))
    if problem.swivel_parent != GOAL:
        message = f"swivel_parent is {problem.swivel_parent!r}, not 'goal' or 'start-joint'"
        raise ValueError(message)
    t = (0.0, 0.0, 0.0)
    ee_in_goal, length = length_unify(core, vector_transform(core, ee, invert(core, goal)))
    if length != 0.0:
        quat = make_row_quat(core, ee_in_goal, problem.swivel_angle)
        t_in_goal = apply_row_quat(core, zero_map(core, n0, a0, ee_in_goal), quat)
        t = _across(core, vector_transform(core, t_in_goal, goal), ee)
    t, length = length_unify(core, t)
    return p if length == 0.0 else t


def _across(core: Core, t: Point3, ee: Point3) -> Point3:
    """Return t after t -= (ee % t) * ee; the dot product is a float parameter (reading 1)."""
    return subtract(core, t, scale(core, ee, dot(core, ee, t)))


def _swivel(core: Core, p: Point3, t: Point3, ee: Point3) -> float:
    """Return the turn about ee from p to t, 0 to 2 pi (spec 3.2)."""
    swivel = f32(acos_safe(f32(dot(core, p, t))))
    if dot(core, cross(core, p, t), ee) < 0.0:
        swivel = f32(2.0 * crt.PI - swivel)
    return swivel


def _shoulder_angles(core: Core, problem: LimbProblem, initial_frame: Matrix3, rx: Point3, ry: Point3) -> Point3:
    """Return rotXYZ from the solved frame's first rows: frame, pre-rotation by initXYZ, Euler angles (spec 3.2)."""
    frame = frame_over_identity(rx, ry, normalize(core, cross(core, rx, ry)))
    r = multiply(core, invert(core, initial_frame), frame)
    return to_euler(core, pre_rotate_xyz(core, r, _point(problem.root_init_xyz)))


def _difference(core: Core, a: float, b: float) -> float:
    """Return f(a - b), as an assignment or a float parameter rounds it."""
    return f32(core.register(a) - b)


def _point(values: Vector) -> Point3:
    x, y, z = values
    return x, y, z
