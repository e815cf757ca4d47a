"""One test for each hazard of the limb solver, named after it. Expected values follow from spec.md and core-profile.md."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from model_cases import bits, made_problem, wrist_in_chain

from maxik.model.chain import Pose, initial_plane
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32
from maxik.problems import GOAL, INVALID_ARGUMENT, INVALID_INITIAL_VALUE, LimbProblem, LimbSolution, Vector

ENGINE = ModelEngine()
BASIS = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
# bent by 90 degrees in the plane z = 0, upper bone 2, lower bone 1: wrist at (2, 1, 0), n0 = a0 x elbow = -z
BENT = LimbProblem(
    link_count=3,
    root_init_xyz=(0.0, 0.0, 0.0),
    root_extend=(2.0, 0.0, 0.0),
    links_init_zyx=(f32(math.pi / 2), 0.0, 0.0),
    links_extend=(1.0, 0.0, 0.0),
    goal=None,
    swivel_parent="start-joint",
    swivel_angle=0.0,
    vh_target=None,
    n0=(0.0, 0.0, -1.0),
    a0=(f32(2 / math.sqrt(5)), f32(1 / math.sqrt(5)), 0.0),
)


def with_goal(problem: LimbProblem, x: float, y: float, z: float) -> LimbProblem:
    return replace(problem, goal=(*BASIS, x, y, z))


def miss(problem: LimbProblem, wanted: Vector) -> float:
    return float(np.linalg.norm(wrist_in_chain(problem, ENGINE.solve_limb(problem)) - np.array(wanted)))


def is_nan(values: Vector | None) -> list[bool]:
    return [math.isnan(x) for x in values or ()]


def test_straight_pose() -> None:
    """The preferred bones are collinear: n0 = Normalize(0) = (1, 0, 0) (core-profile.md, ik.initial_plane)."""
    straight = replace(BENT, root_init_xyz=(0.0, 0.0, 1.0), links_init_zyx=(0.0, 0.0, 0.0))
    pose = Pose((0.0, 0.0, 1.0), (2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    n0, a0 = initial_plane(ENGINE.core, 3, pose)
    assert n0 == (1.0, 0.0, 0.0)
    assert a0 == pytest.approx((math.cos(1.0), math.sin(1.0), 0.0), abs=1e-7)
    solution = ENGINE.solve_limb(with_goal(replace(straight, n0=n0, a0=a0), 1.0, 1.0, 1.0))
    assert solution.status == "success"
    assert not any(is_nan(solution.rot_xyz) + is_nan(solution.dof_zyx))


def test_straight_pose_along_its_own_n0() -> None:
    """Straight along +x the axis is the pole n0 itself: the zero map gives -a0, the initial frame is singular."""
    straight = replace(BENT, links_init_zyx=(0.0, 0.0, 0.0), n0=(1.0, 0.0, 0.0), a0=(1.0, 0.0, 0.0))
    solution = ENGINE.solve_limb(with_goal(straight, 1.0, 1.0, 1.0))
    assert solution.status == "success"
    assert is_nan(solution.rot_xyz)[0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_goal_at_pole_n0(sign: float) -> None:
    """On +n0 the zero map gives -a0, on -n0 it gives +a0; an exact pole is reached."""
    pole = (0.0, 0.0, -sign)
    mapped = ENGINE.items["ik.zero_map"](v=pole, n0=BENT.n0, a0=BENT.a0)["v"]
    assert mapped == tuple(-sign * x for x in BENT.a0)
    assert miss(with_goal(BENT, 0.0, 0.0, -2.0 * sign), (0.0, 0.0, -2.0 * sign)) < 1e-5


def test_zero_length_goal_with_unequal_bones() -> None:
    """Too near: the goal's direction is Normalize(0) = (1, 0, 0), the wrist goes to the least reach along it."""
    assert miss(with_goal(BENT, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0)) < 2e-3  # the acos noise of a folded limb


def test_zero_length_goal_with_equal_bones() -> None:
    """Nothing is too near: d = 0, cosShoulder = 0/0, so the shoulder is NaN and the elbow is not."""
    solution = ENGINE.solve_limb(with_goal(replace(BENT, links_extend=(2.0, 0.0, 0.0)), 0.0, 0.0, 0.0))
    assert solution.status == "success"
    assert not any(is_nan(solution.dof_zyx))
    assert is_nan(solution.rot_xyz)[0]


def test_goal_too_far() -> None:
    """The wrist stops on the way to the goal, both bones in line but for the acos noise of a straight elbow."""
    assert miss(with_goal(BENT, 0.0, 30.0, 40.0), (0.0, 1.8, 2.4)) < 2e-3


def test_goal_too_near() -> None:
    assert miss(with_goal(BENT, 0.0, 0.3, 0.4), (0.0, 0.6, 0.8)) < 2e-3


def test_minus_zero_kept() -> None:
    """Identity has y = atan2(-m02, cy) = -0 with m02 = +0; a conjugate negates zeros too."""
    euler = ENGINE.items["matrix3.to_euler"](m=(*BASIS, 0.0, 0.0, 0.0))["euler"]
    assert bits(euler) == ["00000000", "80000000", "00000000"]
    q = ENGINE.items["quat.conjugate"](q=(0.0, -0.0, 1.0, 0.0))["q"]
    assert bits(q) == ["80000000", "00000000", "bf800000", "00000000"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gimbal(sign: float) -> None:
    """Rows of Rx(a) * Ry(+-pi/2): cy = 0, so x takes the whole turn and z = +0 (core-profile.md, matrix3.to_euler)."""
    s, c = f32(math.sin(0.5)), f32(math.cos(0.5))
    m = (0.0, 0.0, -sign, sign * s, c, 0.0, sign * c, -s, 0.0, 0.0, 0.0, 0.0)
    euler = ENGINE.items["matrix3.to_euler"](m=m)["euler"]
    assert bits(euler) == bits((f32(math.atan2(s, c)), f32(sign * math.pi / 2), 0.0))


def test_nan_in_row_0_takes_the_gimbal_branch() -> None:
    m = (math.nan, *BASIS[1:], 0.0, 0.0, 0.0)
    assert bits(ENGINE.items["matrix3.to_euler"](m=m)["euler"]) == ["80000000", "nan", "00000000"]


def test_nan_goal() -> None:
    """No comparison with NaN holds, so the goal is taken as it is; the solve succeeds and its angles are NaN."""
    solution = ENGINE.solve_limb(with_goal(BENT, math.nan, 0.0, 0.0))
    assert solution.status == "success"
    assert is_nan(solution.rot_xyz) == [True, True, False]
    assert bits((solution.rot_xyz or ())[2]) == "00000000"


def test_infinite_goal() -> None:
    """The direction of an infinite goal is inf/inf: NaN, but still a success."""
    solution = ENGINE.solve_limb(with_goal(BENT, math.inf, 0.0, 0.0))
    assert solution.status == "success"
    assert is_nan(solution.rot_xyz)[0]


@pytest.mark.parametrize("link_count", [-1, 1, 2, 4])
def test_link_count_is_checked_before_the_goal(link_count: int) -> None:
    solution = ENGINE.solve_limb(replace(BENT, link_count=link_count, goal=None))
    assert solution == LimbSolution(INVALID_INITIAL_VALUE, None, None)


@pytest.mark.parametrize("link_count", [0, 3])
def test_no_goal(link_count: int) -> None:
    assert ENGINE.solve_limb(replace(BENT, link_count=link_count)) == LimbSolution(INVALID_ARGUMENT, None, None)


def test_unknown_swivel_parent() -> None:
    with pytest.raises(ValueError, match="swivel_parent is 'world'"):
        ENGINE.solve_limb(with_goal(replace(BENT, swivel_parent="world"), 1.0, 1.0, 0.0))


def test_vh_target_along_the_end_effector_axis() -> None:
    """Nothing of the target is across ee: t = p, that is, swivel zero."""
    problem = with_goal(BENT, 0.0, 2.0, 0.0)
    along = ENGINE.solve_limb(replace(problem, vh_target=(0.0, 5.0, 0.0)))
    without = ENGINE.solve_limb(problem)
    assert bits(along.rot_xyz) == bits(without.rot_xyz)


def test_vh_target_replaces_the_swivel_angle() -> None:
    problem = replace(with_goal(BENT, 0.0, 2.0, 0.0), vh_target=(0.0, 0.0, 5.0))
    turns = [ENGINE.solve_limb(replace(problem, swivel_angle=angle)).rot_xyz for angle in (0.0, 1.0)]
    assert bits(turns[0]) == bits(turns[1])
    elbow_height = wrist_in_chain(replace(problem, link_count=0), ENGINE.solve_limb(problem))[2]
    assert elbow_height > 0.5  # the elbow bends towards the target


def test_goal_without_volume_in_goal_space() -> None:
    """A goal matrix of zeros cannot be inverted: eeInGoal is NaN, which is not 0, and NaN runs through (reading 3)."""
    problem = replace(BENT, swivel_parent=GOAL, goal=(0.0,) * 9 + (0.0, 2.0, 0.0))
    assert is_nan(ENGINE.solve_limb(problem).rot_xyz)[0]


def test_singular_swivel_in_goal_space_falls_back_to_p() -> None:
    """With a scale of 2^50 the determinant overflows, the inverse is zero, so eeInGoal is: t = p, swivel zero."""
    goal = (*(2.0**50 * x for x in BASIS), 0.0, 2.0, 0.0)
    scaled = replace(BENT, swivel_parent=GOAL, swivel_angle=1.0, goal=goal)
    assert bits(ENGINE.solve_limb(scaled).rot_xyz) == bits(ENGINE.solve_limb(with_goal(BENT, 0.0, 2.0, 0.0)).rot_xyz)


def test_one_joint_ignores_the_swivel() -> None:
    problem = with_goal(replace(BENT, link_count=0), 0.0, 2.0, 1.0)
    turns = [ENGINE.solve_limb(replace(problem, swivel_angle=angle)).rot_xyz for angle in (0.0, 1.0)]
    assert bits(turns[0]) == bits(turns[1])
    assert miss(problem, (0.0, f32(4 / math.sqrt(5)), f32(2 / math.sqrt(5)))) < 1e-6


def test_antiparallel_goal_of_a_one_joint_chain() -> None:
    """The axis is Normalize(0) = (1, 0, 0): a chain along y turns half round it, one along x does not turn back."""
    along_y = replace(BENT, link_count=0, root_extend=(0.0, 2.0, 0.0), n0=(1.0, 0.0, 0.0), a0=(0.0, 1.0, 0.0))
    assert miss(with_goal(along_y, 0.0, -2.0, 0.0), (0.0, -2.0, 0.0)) < 1e-6
    along_x = replace(BENT, link_count=0, n0=(0.0, 1.0, 0.0), a0=(1.0, 0.0, 0.0))
    assert miss(with_goal(along_x, -2.0, 0.0, 0.0), (2.0, 0.0, 0.0)) < 1e-6


@pytest.mark.parametrize("parent", ["start-joint", GOAL])
def test_swivel_turns_the_plane_about_the_end_effector_axis(parent: str) -> None:
    """With an unrotated goal both spaces are the same; the elbow turns right-handed about ee by the swivel angle."""
    problem = replace(with_goal(BENT, 0.0, 2.0, 0.0), swivel_parent=parent)
    elbows = [
        wrist_in_chain(replace(problem, link_count=0), ENGINE.solve_limb(replace(problem, swivel_angle=f32(angle))))
        for angle in (0.0, 1.0)
    ]
    (x0, _, z0), (x1, _, z1) = elbows
    turned = math.atan2(z0 * x1 - x0 * z1, x0 * x1 + z0 * z1)  # about y: from z to x
    assert turned == pytest.approx(1.0, abs=1e-3)


def test_well_conditioned_poses_reach_to_a_few_millionths() -> None:
    for seed in range(200):
        problem = made_problem(seed)
        assert problem.goal is not None
        assert miss(problem, problem.goal[9:]) < 4e-6 * float(np.linalg.norm(problem.goal[9:]))
