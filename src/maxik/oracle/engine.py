"""An oracle as an Engine: the same questions as to the kernel, answered by a program built otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from maxik.errors import EngineError
from maxik.kernel.choices import MARCHES
from maxik.oracle.build import Program, build
from maxik.oracle.protocol import LIMB, POSITION, SPLINE, Float32s, Oracle
from maxik.problems import (
    GOAL,
    SPLINE_ARRAYS,
    STATUSES,
    SUCCESS,
    ItemFunction,
    LimbProblem,
    LimbSolution,
    LimbTake,
    LimbTakeSolution,
    SplineProblem,
    SplineSolution,
    Vector,
    spline_solution,
)
from maxik.profile import CoreProfile

_IN_START_JOINT, _IN_GOAL, _VH_TARGET = range(3)
_NO_GOAL = (0.0,) * 12


class OracleEngine:
    """A built oracle under a profile whose items are all at their defaults, in the environment x87-53."""

    name = "oracle"

    def __init__(self, program: Program, profile: CoreProfile, march: str = "literal") -> None:
        if not profile.is_shipped or profile.environment != "x87-53":
            message = f"an oracle has only the default candidates of x87-53, not {profile}"
            raise EngineError(message, hint="use --engine model")
        self.profile = profile
        self.march = march
        self.oracle = Oracle(program)
        self.items: Mapping[str, ItemFunction] = self._item_table()

    def describe(self) -> Mapping[str, str]:
        """Return what reports say of this engine."""
        told = self.oracle.told
        return {
            "engine": f"oracle {self.oracle.program.target}",
            "version": version("maxik"),
            "implementation": told["compiler"],
            "flags": " ".join(self.oracle.program.flags),
            "environment": self.profile.environment,
            "registers": told["registers"],
            "control_word": told["control_word"],
            "runtime": told["runtime"],
            "source": told["source"],
            "profile": str(self.profile),
            "spline_march": self.march,
        }

    def close(self) -> None:
        """End the program."""
        self.oracle.close()

    def solve_limb(self, problem: LimbProblem) -> LimbSolution:
        """Solve one problem (spec 3)."""
        return self.solve_limbs([problem])[0]

    def solve_limbs(self, problems: Sequence[LimbProblem]) -> list[LimbSolution]:
        """Solve any problems, those of one kind in one request."""
        found: dict[int, LimbSolution] = {}
        kinds: dict[tuple[int, int, bool], list[int]] = {}
        for place, problem in enumerate(problems):
            kinds.setdefault((problem.link_count, _swivel(problem), problem.goal is not None), []).append(place)
        for (link_count, swivel, has_goal), places in kinds.items():
            rows = np.array([_limb_row(problems[place]) for place in places], np.float32)
            for place, row in zip(places, self._limbs(link_count, swivel, has_goal=has_goal, rows=rows), strict=True):
                status = STATUSES[int(row[0])]
                solved = status == SUCCESS
                angles = tuple(row[4:7].tolist()) if solved and link_count else None
                found[place] = LimbSolution(status, tuple(row[1:4].tolist()) if solved else None, angles)
        return [found[place] for place in range(len(problems))]

    def solve_limb_take(self, take: LimbTake) -> LimbTakeSolution:
        """Solve all frames of a chain in one request."""
        frames = take.frames
        vh_target = np.zeros((1, 3), np.float32) if take.vh_target is None else take.vh_target
        parts = (take.root_init_xyz, take.root_extend, take.links_init_zyx, take.links_extend, take.n0, take.a0)
        columns = [*parts, take.goal, take.swivel_angle, vh_target]
        rows = np.concatenate([_all_frames(column, frames) for column in columns], axis=1)
        swivel = _VH_TARGET if take.vh_target is not None else _IN_GOAL if take.swivel_parent == GOAL else _IN_START_JOINT
        found = self._limbs(take.link_count, swivel, has_goal=True, rows=rows)
        status = found[:, 0].astype(np.uint8)
        solved = (status == STATUSES.index(SUCCESS))[:, None]
        rot_xyz = np.where(solved, found[:, 1:4], np.float32(np.nan))
        dof_zyx = np.where(solved & bool(take.link_count), found[:, 4:7], np.float32(np.nan))
        return LimbTakeSolution(status, rot_xyz, dof_zyx)

    def _limbs(self, link_count: int, swivel: int, *, has_goal: bool, rows: Float32s) -> Float32s:
        head = np.array([link_count, swivel, has_goal], np.float32)
        return self.oracle.ask(LIMB, len(rows), np.concatenate([head, rows.reshape(-1)])).reshape(len(rows), -1)

    def solve_spline(self, problem: SplineProblem) -> SplineSolution:
        """Solve one Spline IK problem (spec 4)."""
        found = self.oracle.ask(SPLINE, 1, spline_payload(problem, self.march))
        return _spline_solution(found, len(problem.joints))

    def solve_spline_take(self, problems: Sequence[SplineProblem]) -> list[SplineSolution]:
        """Solve one chain's problems frame by frame."""
        return [self.solve_spline(problem) for problem in problems]

    def initial_plane(
        self, link_count: int, root_init_xyz: Float32s, root_extend: Float32s, links_init_zyx: Float32s, links_extend: Float32s
    ) -> tuple[Float32s, Float32s]:
        """Return (n0, a0), each (N, 3), at the preferred pose in chain space."""
        count = np.full((len(root_init_xyz), 1), link_count, np.float32)
        found = self.oracle.rows("initial_plane", count, root_init_xyz, root_extend, links_init_zyx, links_extend)
        return np.ascontiguousarray(found[:, :3]), np.ascontiguousarray(found[:, 3:])

    def multiply(self, a: Float32s, b: Float32s) -> Float32s:
        """Return a * b, (N, 4, 3)."""
        return self.oracle.rows("matrix3_multiply", a, b).reshape(-1, 4, 3)

    def invert(self, m: Float32s) -> Float32s:
        """Return the inverses, (N, 4, 3)."""
        return self.oracle.rows("matrix3_invert", m).reshape(-1, 4, 3)

    def euler_matrix(self, xyz: Float32s) -> Float32s:
        """Return identity pre-rotated by z, y, x, (N, 4, 3)."""
        return self.oracle.rows("euler_matrix", xyz).reshape(-1, 4, 3)

    def quat_matrix(self, q: Float32s) -> Float32s:
        """Return quat.make_matrix of (N, 4) quaternions, (N, 4, 3)."""
        return self.oracle.rows("quat_make_matrix", q).reshape(-1, 4, 3)

    def transform_points(self, points: Float32s, m: Float32s) -> Float32s:
        """Return the points transformed, (N, 3)."""
        return self.oracle.rows("matrix3_point_transform", points, m)

    def _item_table(self) -> Mapping[str, ItemFunction]:
        """Return every item by its id, with the operand and output names of vector-format.md."""

        def run(name: str, *operands: Any) -> Vector:  # noqa: ANN401 - numbers and tuples of them
            row = [number for operand in operands for number in (operand if isinstance(operand, (tuple, list)) else (operand,))]
            return tuple(self.oracle.rows(name, np.array([row], np.float32))[0].tolist())

        def named(output: str, name: str) -> ItemFunction:
            return lambda **given: {output: run(name, *given.values())}

        def length_unify(v: Vector) -> Mapping[str, object]:
            *unit, length = run("point3_length_unify", v)
            return {"v": tuple(unit), "length": length}

        def position(**given: Any) -> Mapping[str, object]:  # noqa: ANN401 - operands of vector-format.md
            segments = given["spline"]["segments"]
            curve = np.array(segments, np.float32).reshape(-1)
            payload = np.concatenate([np.array([len(segments), given["u"]], np.float32), curve])
            return {"point": tuple(self.oracle.ask(POSITION, 1, payload).tolist())}

        scalars = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "sqrt")
        return {
            **{name: (lambda x, name=name: {"y": run(name, x)[0]}) for name in scalars},
            "atan2": lambda y, x: {"angle": run("atan2", y, x)[0]},
            "point3.normalize": named("v", "point3_normalize"),
            "point3.unify": named("v", "point3_normalize"),
            "point3.length_unify": length_unify,
            "point3.zero_length": length_unify,
            "point3.cross": lambda a, b: {"v": run("point3_cross", a, b)},
            "matrix3.multiply": lambda a, b: {"m": run("matrix3_multiply", a, b)},
            "matrix3.invert": named("m", "matrix3_invert"),
            "matrix3.pre_rotate": lambda m, axis, angle: {"m": run("matrix3_pre_rotate", m, float(ord(axis)), angle)},
            "matrix3.rotate": lambda m, axis, angle: {"m": run("matrix3_rotate", m, float(ord(axis)), angle)},
            "matrix3.rot_angle_axis": lambda axis, angle: {"m": run("matrix3_rot_angle_axis", axis, angle)},
            "matrix3.vector_transform": lambda m, v: {"v": run("matrix3_vector_transform", v, m)},
            "matrix3.point_transform": lambda m, v: {"v": run("matrix3_point_transform", v, m)},
            "matrix3.validate_flags": lambda m: {"flags": int(run("matrix3_validate_flags", m)[0])},
            "matrix3.to_euler": named("euler", "matrix3_to_euler"),
            "quat.conjugate": named("q", "quat_conjugate"),
            "quat.product": lambda a, b: {"q": run("quat_product", a, b)},
            "quat.from_ang_axis": lambda axis, angle: {"q": run("quat_from_ang_axis", axis, angle)},
            "quat.make_matrix": named("m", "quat_make_matrix"),
            "rotation.pre_apply": lambda q, m: {"m": run("rotation_pre_apply", q, m)},
            "spline.position": position,
            "ik.zero_map": lambda v, n0, a0: {"v": run("zero_map", v, n0, a0)},
        }


def open_oracle(target: str, profile: CoreProfile, march: str = "literal", optimisation: str = "-O2") -> OracleEngine:
    """Build (or find) a target and start it."""
    return OracleEngine(build(target, optimisation=optimisation), profile, march)


def _swivel(problem: LimbProblem) -> int:
    if problem.vh_target is not None:
        return _VH_TARGET
    return _IN_GOAL if problem.swivel_parent == GOAL else _IN_START_JOINT


def _limb_row(problem: LimbProblem) -> tuple[float, ...]:
    pose = (*problem.root_init_xyz, *problem.root_extend, *problem.links_init_zyx, *problem.links_extend)
    target = problem.vh_target or (0.0, 0.0, 0.0)
    return (*pose, *problem.n0, *problem.a0, *(problem.goal or _NO_GOAL), problem.swivel_angle, *target)


def _all_frames(column: Float32s, frames: int) -> Float32s:
    rows = column.reshape(len(column), -1)
    return np.broadcast_to(rows, (frames, rows.shape[1]))


def spline_payload(problem: SplineProblem, march: str) -> Float32s:
    """Return a problem as the program takes it."""
    zero_map = problem.zero_map_vector
    head = (len(problem.joints), problem.closed, len(problem.segments), MARCHES.index(march), zero_map is not None, 0)
    fixed = (
        *problem.object_tm, *problem.parent_matrix, *problem.twist_parent, problem.start_twist, problem.end_twist,
        *problem.n0, *problem.a0, *(zero_map or (0.0, 0.0, 0.0)),
    )  # fmt: skip
    axes = "".join(joint.axes for joint in problem.joints).encode("ascii")
    bones = [number for joint in problem.joints for number in joint.t] + [n for joint in problem.joints for n in joint.init]
    curve = np.array(problem.segments, np.float32).reshape(-1)
    return np.concatenate([np.array([*head, *fixed, *axes, *bones], np.float32), curve])


def _spline_solution(found: Float32s, joints: int) -> SplineSolution:
    """Return what a spline reply holds: status, count, samples in two parts, and the arrays one after the other."""
    arrays, at = {}, 4
    for name, width in SPLINE_ARRAYS.items():
        size = (joints + 1) * width
        arrays[name] = found[at : at + size].reshape(-1, width)
        at += size
    samples = int(found[2]) + (int(found[3]) << 24)
    return spline_solution(STATUSES[int(found[0])], joints, int(found[1]), arrays, samples)
