"""Closure: of all sign and order conventions only those are possible that bring the wrist to the goal in the asked plane.

No export is needed: the limb solver itself decides (core-contracts.md 0). Every combination of the conventions is
tried in the model on seeded limbs, preferred angles and swivel angles different from zero. The posed limb is
measured in binary64, apart from the solver: how far the wrist misses the goal, and how far the limb's plane normal is
from the one asked for, the carried normal of the preferred pose turned right-handed about the end-effector axis by
the swivel angle.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from maxik.model import chain, limb
from maxik.model.core import Conventions, core_of
from maxik.numerics.float32 import f32
from maxik.problems import START_JOINT, LimbProblem, LimbSolution, Vector
from maxik.profile import CoreProfile
from maxik.verify.rotations import Float64s, euler_xyz_matrix

LIMBS = 24
REACHED = 1e-4
"""Miss, in parts of the reach, up to which the wrist is at the goal."""
IN_PLANE = 2e-3
"""Radians between plane normals up to which the limb lies in the asked plane: acos noise near swivel 0 is below 1e-3."""


@dataclass(frozen=True)
class Closure:
    """One combination and how it does: worst `miss` in parts of the reach, worst `plane` error in radians, over all limbs.

    `turn`: RotAngleAxisMatrix "right-handed" or "left-handed". `euler`: MatrixToEuler of "M" or "M transposed". `order`:
    the triple is read "Rx Ry Rz" or "Rz Ry Rx" (row vectors). `product`, `plane_pose`: candidates of quat.product and
    ik.initial_plane. `normal`: n0 is "+" or "-" (a0 ^ elbow).
    """

    turn: str
    euler: str
    order: str
    product: str
    normal: str
    plane_pose: str
    miss: float
    plane: float

    @property
    def closes(self) -> bool:
        """Tell whether every wrist reaches its goal in the asked plane."""
        return self.miss <= REACHED and self.plane <= IN_PLANE


def closure(limbs: int = LIMBS) -> tuple[Closure, ...]:
    """Try every combination on `limbs` seeded limbs, the best first."""
    problems = seeded_limbs(limbs)
    axes = (
        ("right-handed", "left-handed"),
        ("M", "M transposed"),
        ("hamilton", "reversed"),
        ("+", "-"),
        ("preferred-pose", "start-joint-zero"),
    )
    rows = [row for choice in itertools.product(*axes) for row in _tried(problems, choice)]
    return tuple(sorted(rows, key=lambda row: (not row.closes, max(row.miss / REACHED, row.plane / IN_PLANE))))


def seeded_limbs(count: int) -> list[LimbProblem]:
    """Return limbs with bent elbows, every preferred and swivel angle away from zero, goals well in reach (seed 0)."""
    random = np.random.default_rng(0)
    problems: list[LimbProblem] = []
    while len(problems) < count:
        signs = random.choice((-1.0, 1.0), 7)
        angles = signs * random.uniform(0.3, 1.2, 7)
        first, second = (_vector(random.uniform((2.0, -1.0, -1.0), (4.0, 1.0, 1.0))) for _ in range(2))
        problem = LimbProblem(
            link_count=3,
            root_init_xyz=_vector(angles[:3]),
            root_extend=first,
            links_init_zyx=_vector(angles[3:6]),
            links_extend=second,
            goal=None,
            swivel_parent=START_JOINT,
            swivel_angle=f32(float(angles[6])),
            vh_target=None,
            n0=(0.0, 0.0, 0.0),
            a0=(0.0, 0.0, 0.0),
        )
        longest = float(np.linalg.norm(first) + np.linalg.norm(second))
        goal = random.normal(size=3)
        goal *= longest * random.uniform(0.55, 0.85) / np.linalg.norm(goal)
        normal, _ = _plane(*_posed(problem.root_init_xyz, problem.links_init_zyx, problem))
        away_from_pole = abs(float(normal @ goal)) < 0.8 * float(np.linalg.norm(goal))
        if away_from_pole:
            problems.append(replace(problem, goal=(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *_vector(goal))))
    return problems


def _tried(problems: Sequence[LimbProblem], choice: tuple[str, ...]) -> list[Closure]:
    """Return one combination's row for each order in which the Euler triple may be read."""
    turn, euler, product, normal, pose = choice
    profile = CoreProfile().with_candidate("quat.product", product).with_candidate("ik.initial_plane", pose)
    conventions = Conventions(
        turn=1.0 if turn == "right-handed" else -1.0,
        normal=1.0 if normal == "+" else -1.0,
        transposed_euler=euler != "M",
    )
    core = replace(core_of(profile), conventions=conventions)
    solved = []
    for problem in problems:
        n0, a0 = chain.initial_plane(core, 3, limb.pose_of(problem))
        solved.append(limb.solve(core, replace(problem, n0=n0, a0=a0)))
    rows = []
    for order in ("Rx Ry Rz", "Rz Ry Rx"):
        errors = [_errors(problem, solution, order) for problem, solution in zip(problems, solved, strict=True)]
        miss, plane = (max(values) for values in zip(*errors, strict=True))
        rows.append(Closure(turn, euler, order, product, normal, pose, miss, plane))
    return rows


def _errors(problem: LimbProblem, solution: LimbSolution, order: str) -> tuple[float, float]:
    """Return (miss in parts of the reach, radians between the limb's plane normal and the asked one)."""
    assert problem.goal is not None  # noqa: S101 - seeded_limbs gives every limb a goal
    assert solution.rot_xyz is not None  # noqa: S101 - the solver refuses no limb with a goal
    assert solution.dof_zyx is not None  # noqa: S101 - the same
    goal = np.array(problem.goal[9:])
    elbow, wrist = _posed(solution.rot_xyz, solution.dof_zyx, problem, reverse=order != "Rx Ry Rz")
    reach = float(np.linalg.norm(problem.root_extend) + np.linalg.norm(problem.links_extend))
    n0, _ = _plane(*_posed(problem.root_init_xyz, problem.links_init_zyx, problem))
    ee = goal / np.linalg.norm(goal)
    carried = n0 - (n0 @ ee) * ee
    carried /= np.linalg.norm(carried)
    asked = np.cos(problem.swivel_angle) * carried + np.sin(problem.swivel_angle) * np.cross(ee, carried)
    normal, _ = _plane(elbow, wrist)
    turn = float(np.arctan2(np.linalg.norm(np.cross(asked, normal)), asked @ normal))
    return float(np.linalg.norm(wrist - goal)) / reach, turn


def _posed(root_xyz: Vector, links_zyx: Vector, problem: LimbProblem, *, reverse: bool = False) -> tuple[Float64s, Float64s]:
    """Return elbow and wrist in chain space, binary64; `reverse` reads the triples as Rz * Ry * Rx."""

    def matrix(x: float, y: float, z: float) -> Float64s:
        return euler_xyz_matrix((-x, -y, -z)).T if reverse else euler_xyz_matrix((x, y, z))

    root, elbow = matrix(*root_xyz), matrix(*links_zyx[::-1])
    first = np.array(problem.root_extend) @ root
    return first, first + np.array(problem.links_extend) @ elbow @ root


def _plane(elbow: Float64s, wrist: Float64s) -> tuple[Float64s, Float64s]:
    """Return the limb's plane normal unit(ee ^ elbow) and ee, binary64."""
    ee = wrist / np.linalg.norm(wrist)
    normal = np.cross(ee, elbow)
    return normal / np.linalg.norm(normal), ee


def _vector(values: Float64s) -> Vector:
    return tuple(f32(float(value)) for value in values)
