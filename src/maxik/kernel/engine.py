"""The kernel as an Engine: numpy arrays in, one C call for a take or for each thread's part of it, numpy arrays out.

The kernel implements the default candidate of every item, in both environments; any other profile is refused
(EngineError) and belongs to the model. Arrays are float32; every C call releases the GIL.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.errors import EngineError
from maxik.kernel.choices import AUTO, LANE_BITS, LIMB_PATHS, LITERAL, MARCHES
from maxik.kernel.settings import DEFAULT_SETTINGS, KernelSettings
from maxik.kernel.side_by_side import SideBySide
from maxik.problems import (
    GOAL,
    SPLINE_ARRAYS,
    STATUSES,
    Float32s,
    ItemFunction,
    LimbProblem,
    LimbSolution,
    LimbTake,
    LimbTakeSolution,
    SplineProblem,
    SplineSolution,
    Vector,
    spline_solution,
    take_of,
)
from maxik.profile import CoreProfile

_kernel: ModuleType | None
try:
    _kernel = import_module("maxik.kernel._kernel")
except ModuleNotFoundError:
    _kernel = None

_SWIVEL_IN_GOAL, _SWIVEL_VH_TARGET = 1, 2
_LINKS_OF_A_LIMB = 3
_FRAMES_OF_A_PART = 4096
"""At least: fewer are solved before another thread has heard of them."""
_PARTS_OF_A_THREAD = 4
"""At most: a thread that falls behind leaves parts to the others."""


def is_built() -> bool:
    """Tell whether the compiled kernel is there."""
    return _kernel is not None


@dataclass(frozen=True, eq=False)
class LimbCall:
    """A take in the kernel's memory: its arrays, the output arrays, and the call that solves what the arrays now hold.

    Whoever solves batch after batch of one chain writes into the take's goals and angles and calls `solve` again, which
    fills the same output arrays; the initialisation is kept while the preferred pose stays. Several threads may call it:
    they take turns.
    """

    take: LimbTake
    status: NDArray[np.uint8]
    rot_xyz: Float32s
    dof_zyx: Float32s
    parts: tuple[Any, ...]
    solve_part: Callable[[Any], None]
    side_by_side: SideBySide
    kept: object
    """The kept initialisation of every part, in the kernel's memory."""
    turn: Lock
    """Held by who solves."""

    def solve(self) -> int:
        """Solve all frames, long takes on several threads; return how many were solved again by scalars."""
        with self.turn:
            self.side_by_side.do(self.solve_part, self.parts, self)
            return self._redone()

    def solution(self) -> LimbTakeSolution:
        """Return what the last solve found, of which there must be one; its arrays are those that the next one fills."""
        return LimbTakeSolution(self.status, self.rot_xyz, self.dof_zyx, self._redone())

    def _redone(self) -> int:
        return sum([part.redone for part in self.parts])


@dataclass(frozen=True)
class SplineCall:
    """A spline problem in the kernel's memory: its struct, its output arrays, and the call that solves it."""

    problem: SplineProblem
    struct: Any
    found: Mapping[str, Float32s]
    solve: Callable[[], int]
    kept: object


class KernelEngine:
    """The compiled kernel under a profile whose items are all at their defaults.

    Raises EngineError when the kernel was not built, when the profile asks for a candidate that it does not have, or the
    settings for a limb path that this build or this machine does not have.
    """

    name = "kernel"

    def __init__(self, profile: CoreProfile, settings: KernelSettings = DEFAULT_SETTINGS) -> None:
        if _kernel is None:
            message = "the compiled kernel is not there: maxik was installed without a C compiler"
            raise EngineError(message, hint="use --engine model, or install again with a compiler")
        if not profile.is_shipped:
            changed = ", ".join(f"{item}={candidate}" for item, candidate in sorted(profile.overrides.items()))
            message = f"the kernel has only the default candidates, not {changed}"
            raise EngineError(message, hint="use --engine model")
        self.profile = profile
        self.settings = settings
        self._module: ModuleType = _kernel
        self._ffi = _kernel.ffi
        self._prefix = f"maxik_{profile.environment.replace('-', '_')}_"
        self._take_pointer = self._ffi.typeof("maxik_limb_take *")
        self._floats_of = self._ffi.typeof("float[]")
        self._bytes_of = self._ffi.typeof("unsigned char[]")
        self._kept_bytes = self._ffi.typeof(f"char(*)[{self._call('limb_kept_size')()}]")
        self._solve_take = self._call("limb_solve_take")
        self.limb_path = self._limb_path(settings.limb_path)
        self._path_number = LIMB_PATHS[self.limb_path]
        self.threads = settings.thread_count()
        self._side_by_side = SideBySide(self.threads)
        self.items: Mapping[str, ItemFunction] = self._item_table()

    def describe(self) -> Mapping[str, str]:
        """Return what the certificate says of this engine."""
        return {
            "engine": self.name,
            "version": version("maxik"),
            "implementation": self._ffi.string(self._module.lib.maxik_compiler()).decode(),
            "environment": self.profile.environment,
            "profile": str(self.profile),
            "spline_march": self.settings.march if self.profile.environment == "x87-53" else LITERAL,
            "limb_path": self.limb_path,
            "limb_lanes": str(self._limb_lanes()),
        }

    def limb_paths(self) -> tuple[str, ...]:
        """Return the limb paths that this build has on this machine, the widest last."""
        other = "neon" if platform.machine().lower() in ("x86_64", "amd64") else "sse2"
        has = self._call("has_path")
        return tuple(path for path, number in LIMB_PATHS.items() if path != other and has(number))

    def _limb_path(self, wanted: str) -> str:
        paths = self.limb_paths()
        if wanted == AUTO:
            return paths[-1]
        if wanted not in paths:
            message = f"the limb path {wanted} is not to be had here; there are {', '.join(paths)}"
            raise EngineError(message, hint="--limb-path auto takes the widest")
        return wanted

    def _limb_lanes(self) -> int:
        """Return how many frames of a limb are solved at once."""
        if self.limb_path not in LANE_BITS:
            return 1
        return LANE_BITS[self.limb_path] // (32 if self.profile.environment == "sse-32" else 64)

    def solve_limb(self, problem: LimbProblem) -> LimbSolution:
        """Solve one problem (spec 3)."""
        return self.solve_limbs([problem])[0]

    def solve_limbs(self, problems: Sequence[LimbProblem]) -> list[LimbSolution]:
        """Solve any problems, those of one kind in one take."""
        kinds: dict[tuple[object, ...], list[int]] = {}
        for place, problem in enumerate(problems):
            kind = (problem.link_count, problem.swivel_parent, problem.vh_target is None, problem.goal is None)
            kinds.setdefault(kind, []).append(place)
        found: dict[int, LimbSolution] = {}
        for places in kinds.values():
            alike = [problems[place] for place in places]
            call = self.limb_call(take_of(alike), has_goal=alike[0].goal is not None)
            call.solve()
            solution = call.solution()
            found.update((place, solution.at(frame, alike[0].link_count)) for frame, place in enumerate(places))
        return [found[place] for place in range(len(problems))]

    def solve_limb_take(self, take: LimbTake) -> LimbTakeSolution:
        """Solve all frames of a chain, long takes on several threads; frames and bits do not depend on their number."""
        call = self.limb_call(take)
        call.solve()
        return call.solution()

    def solve_limb_takes(self, takes: Sequence[LimbTake]) -> list[LimbTakeSolution]:
        """Solve many chains, on several threads; the solutions are in the order of the takes."""
        calls = [self.limb_call(take) for take in takes]
        self._side_by_side.do(self._solve_take, [part for call in calls for part in call.parts], calls)
        return [call.solution() for call in calls]

    def limb_call(self, take: LimbTake, *, has_goal: bool = True) -> LimbCall:
        """Return a take laid out for the kernel; solving it again costs no more than the kernel's own time."""
        frames, pointer, floats = take.frames, self._ffi.from_buffer, self._floats_of
        status = np.empty(frames, np.uint8)
        rot_xyz = np.empty((frames, 3), np.float32)
        dof_zyx = np.empty((frames, 3), np.float32)
        if not has_goal or take.link_count != _LINKS_OF_A_LIMB:
            rot_xyz.fill(np.nan)
            dof_zyx.fill(np.nan)
        pose = (take.root_init_xyz, take.root_extend, take.links_init_zyx, take.links_extend, take.n0, take.a0)
        goal, angle, vh_target = take.goal, take.swivel_angle, take.vh_target
        struct = self._ffi.new(
            self._take_pointer,
            (
                0, frames, take.link_count,
                _SWIVEL_VH_TARGET if vh_target is not None else _SWIVEL_IN_GOAL if take.swivel_parent == GOAL else 0,
                *[pointer(floats, array) for array in pose],
                *[3 if len(array) > 1 else 0 for array in pose],
                pointer(floats, goal) if has_goal else self._ffi.NULL,
                pointer(floats, angle),
                self._ffi.NULL if vh_target is None else pointer(floats, vh_target),
                12 if len(goal) > 1 else 0, 1 if len(angle) > 1 else 0, 0 if vh_target is None or len(vh_target) == 1 else 3,
                self._path_number,
                pointer(self._bytes_of, status), pointer(floats, rot_xyz), pointer(floats, dof_zyx),
            ),
        )  # fmt: skip
        most = self.threads * _PARTS_OF_A_THREAD if self.threads > 1 else 1
        count = max(1, min(most, frames // _FRAMES_OF_A_PART))
        parts = (struct, *(self._ffi.new(self._take_pointer, struct[0]) for _ in range(count - 1)))
        kept = [self._ffi.new(self._kept_bytes) for _ in parts]
        for place, part in enumerate(parts):
            part.first, part.last = frames * place // count, frames * (place + 1) // count
            part.kept = kept[place]
        return LimbCall(take, status, rot_xyz, dof_zyx, parts, self._solve_take, self._side_by_side, kept, Lock())

    def solve_spline(self, problem: SplineProblem) -> SplineSolution:
        """Solve one Spline IK problem (spec 4)."""
        return self._spline_solution(self.spline_call(problem))

    def solve_spline_take(self, problems: Sequence[SplineProblem]) -> list[SplineSolution]:
        """Solve one chain's problems frame by frame; the tables of spec 4.1 are kept while the chain does not change."""
        solutions = []
        before: SplineCall | None = None
        for problem in problems:
            call = self.spline_call(problem)
            if before is not None and _same_chain(before.problem, problem):
                for name in ("bone_lengths", "bone_axes", "co_axes"):
                    call.found[name][:] = before.found[name]
                call.struct.twist_up, call.struct.prepared = before.struct.twist_up, before.struct.prepared
            solutions.append(self._spline_solution(call))
            before = call
        return solutions

    def _spline_solution(self, call: SplineCall) -> SplineSolution:
        status = STATUSES[call.solve()]
        return spline_solution(status, len(call.problem.joints), call.struct.count, call.found, call.struct.samples)

    def spline_call(self, problem: SplineProblem) -> SplineCall:
        """Return a problem laid out for the kernel; solving it again and again gives the same."""
        joints = len(problem.joints)
        given = {
            "t": [joint.t for joint in problem.joints],
            "init": [joint.init for joint in problem.joints],
            "curve": problem.segments,
            **{name: getattr(problem, name) for name in ("object_tm", "parent_matrix", "twist_parent", "n0", "a0")},
        }
        if problem.zero_map_vector is not None:
            given["zero_map"] = problem.zero_map_vector
        arrays = {name: np.array(value, np.float32).reshape(-1) for name, value in given.items()}
        found = {name: np.zeros((joints + 1, size), np.float32) for name, size in SPLINE_ARRAYS.items()}
        axes = self._ffi.new("char[]", "".join(joint.axes for joint in problem.joints).encode("ascii"))
        struct = self._ffi.new("maxik_spline *")
        struct.joints, struct.closed, struct.segments = joints, int(problem.closed), len(problem.segments)
        struct.march = MARCHES.index(self.settings.march)
        struct.axes, struct.start_twist, struct.end_twist = axes, problem.start_twist, problem.end_twist
        for name, array in {**arrays, **found}.items():
            setattr(struct, name, self._floats(array))
        solve = self._call("spline_solve")
        return SplineCall(problem, struct, found, partial(solve, struct), (axes, arrays))

    def initial_plane(
        self, link_count: int, root_init_xyz: Float32s, root_extend: Float32s, links_init_zyx: Float32s, links_extend: Float32s
    ) -> tuple[Float32s, Float32s]:
        """Return (n0, a0), each (N, 3), at the preferred pose in chain space (ik.initial_plane)."""
        n0, a0 = np.empty_like(root_init_xyz), np.empty_like(root_init_xyz)
        arrays = (root_init_xyz, root_extend, links_init_zyx, links_extend, n0, a0)
        self._call("initial_plane")(len(n0), link_count, *map(self._floats, arrays))
        return n0, a0

    def multiply(self, a: Float32s, b: Float32s) -> Float32s:
        """Return a * b by matrix3.multiply, (N, 4, 3)."""
        return self._rows("matrix3_multiply", (len(a), 4, 3), a, b)

    def invert(self, m: Float32s) -> Float32s:
        """Return the inverses by matrix3.invert, (N, 4, 3)."""
        return self._rows("matrix3_invert", (len(m), 4, 3), m)

    def euler_matrix(self, xyz: Float32s) -> Float32s:
        """Return identity pre-rotated by z, y, x (matrix3.pre_rotate), (N, 4, 3)."""
        return self._rows("euler_matrix", (len(xyz), 4, 3), xyz)

    def quat_matrix(self, q: Float32s) -> Float32s:
        """Return quat.make_matrix of (N, 4) quaternions as (N, 4, 3), translation zero."""
        return self._rows("quat_make_matrix", (len(q), 4, 3), q)

    def transform_points(self, points: Float32s, m: Float32s) -> Float32s:
        """Return matrix3.point_transform of (N, 3) points, (N, 3)."""
        return self._rows("matrix3_point_transform", (len(points), 3), points, m)

    def _call(self, name: str) -> Any:  # noqa: ANN401 - a cffi function
        return getattr(self._module.lib, self._prefix + name)

    def _floats(self, array: Float32s) -> Any:  # noqa: ANN401 - a cffi pointer
        return self._ffi.cast("float *", self._ffi.from_buffer(array))

    def _rows(self, name: str, shape: tuple[int, ...], *arrays: Float32s) -> Float32s:
        """Call a function over N rows; every array must be C-contiguous float32 with N rows."""
        for array in arrays:
            if array.dtype != np.float32 or not array.flags.c_contiguous or len(array) != shape[0]:
                message = f"{name} takes C-contiguous float32 arrays of {shape[0]} rows"
                raise ValueError(message)
        out = np.empty(shape, np.float32)
        self._call(name)(shape[0], *map(self._floats, arrays), self._floats(out))
        return out

    def _spline_position(self, **given: Any) -> Mapping[str, object]:  # noqa: ANN401 - operands of vector-format.md
        """Return the point at `u` of `spline`; the parameter `type` has no effect (spline.parameter)."""
        spline, u = given["spline"], given["u"]
        if not spline["segments"]:
            message = "a spline without segments has no positions"
            raise ValueError(message)
        curve = np.array(spline["segments"], np.float32).reshape(-1)
        out = np.zeros(3, np.float32)
        self._call("spline_position")(len(spline["segments"]), self._floats(curve), u, self._floats(out))
        return {"point": tuple(out.tolist())}

    def _item_table(self) -> Mapping[str, ItemFunction]:
        """Return every item by its id, with the operand and output names of vector-format.md."""
        ffi, call = self._ffi, self._call

        def filled(size: int, name: str, *operands: object) -> tuple[Vector, Any]:
            out = ffi.new(f"float[{size}]")
            result = call(name)(*operands, out)
            return tuple(out), result

        def vector(name: str, *operands: object) -> Mapping[str, object]:
            return {"v": filled(3, name, *operands)[0]}

        def quat(name: str, *operands: object) -> Mapping[str, object]:
            return {"q": filled(4, name, *operands)[0]}

        def matrix(name: str, *operands: object) -> Mapping[str, object]:
            return {"m": filled(12, name, *operands)[0]}

        def length_unify(v: Vector) -> Mapping[str, object]:
            unit, length = filled(3, "point3_length_unify", v)
            return {"v": unit, "length": length}

        scalars = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "sqrt")
        return {
            **{name: (lambda x, name=name: {"y": call(name)(x)}) for name in scalars},
            "atan2": lambda y, x: {"angle": call("atan2")(y, x)},
            "point3.normalize": lambda v: vector("point3_normalize", v),
            "point3.unify": lambda v: vector("point3_normalize", v),
            "point3.length_unify": length_unify,
            "point3.zero_length": length_unify,
            "point3.cross": lambda a, b: vector("point3_cross", a, b),
            "matrix3.multiply": lambda a, b: matrix("matrix3_multiply", 1, a, b),
            "matrix3.invert": lambda m: matrix("matrix3_invert", 1, m),
            "matrix3.pre_rotate": lambda m, axis, angle: matrix("matrix3_pre_rotate", m, ord(axis), angle),
            "matrix3.rotate": lambda m, axis, angle: matrix("matrix3_rotate", m, ord(axis), angle),
            "matrix3.rot_angle_axis": lambda axis, angle: matrix("matrix3_rot_angle_axis", axis, angle),
            "matrix3.vector_transform": lambda m, v: vector("matrix3_vector_transform", v, m),
            "matrix3.point_transform": lambda m, v: vector("matrix3_point_transform", 1, v, m),
            "matrix3.validate_flags": lambda m: {"flags": call("matrix3_validate_flags")(m)},
            "matrix3.to_euler": lambda m: {"euler": filled(3, "matrix3_to_euler", m)[0]},
            "quat.conjugate": lambda q: quat("quat_conjugate", q),
            "quat.product": lambda a, b: quat("quat_product", a, b),
            "quat.from_ang_axis": lambda axis, angle: quat("quat_from_ang_axis", axis, angle),
            "quat.make_matrix": lambda q: matrix("quat_make_matrix", 1, q),
            "rotation.pre_apply": lambda q, m: matrix("rotation_pre_apply", q, m),
            "spline.position": self._spline_position,
            "ik.zero_map": lambda v, n0, a0: vector("zero_map", v, n0, a0),
        }


def _same_chain(a: SplineProblem, b: SplineProblem) -> bool:
    """Tell whether two problems have the same tables of spec 4.1: all that these depend on is the same."""
    names = ("joints", "parent_matrix", "twist_parent", "n0", "a0", "zero_map_vector")
    return all(getattr(a, name) == getattr(b, name) for name in names)
