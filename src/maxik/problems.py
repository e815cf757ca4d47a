"""What a solver is asked and what it answers: the types that kernel, model and oracle all take.

A `LimbProblem` is one solve in plain Python floats (each exactly a float32); a `LimbTake` is the same for all frames
of a chain as float32 arrays. Row vectors throughout, p' = p * M; a matrix is 4 rows of 3 (rows 0-2 basis, row 3
translation). Chain space: the axes of the start joint's parent, origin at the start joint (spec 2.5).
Sources: spec sections 3 and 5, vector-format.md (`limb.solve`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from maxik.profile import CoreProfile

Vector = tuple[float, ...]
"""A point, vector (3), quaternion (4: x, y, z, w) or matrix (12, row by row, translation last) of float32 values."""
Float32s = NDArray[np.float32]

SUCCESS = "success"
INVALID_ARGUMENT = "invalid-argument"
INVALID_INITIAL_VALUE = "invalid-initial-value"
STATUSES = (SUCCESS, INVALID_ARGUMENT, INVALID_INITIAL_VALUE)
"""Status strings of core-profile.md; their index is the status code of the kernel."""

GOAL = "goal"
START_JOINT = "start-joint"

ItemFunction = Callable[..., Mapping[str, object]]
"""One [CORE] item as verify calls it: operands by the names of vector-format.md, outputs by name."""


@dataclass(frozen=True)
class LimbProblem:
    """One IK Limb solve (spec 3): `link_count` 3 is a limb, 0 a one-joint chain, anything else is refused.

    `root_init_xyz`: preferred angles of the start joint, radians. `root_extend`: the next joint's position in the
    start joint's frame (rigid extension of the root link). `links_init_zyx`, `links_extend`: the second joint's
    preferred angles (z, y, x: links 0, 1, 2) and the end joint's position in its frame; unused for link_count 0.
    `goal`: goal transform in chain space, 12 numbers, or None when there is no HI goal. `swivel_parent`:
    "start-joint" or "goal"; `swivel_angle` radians; `vh_target`: a vector in chain space that replaces the swivel,
    or None. `n0`, `a0`: plane normal and end-effector axis at the preferred pose, chain space (ik.initial_plane).
    """

    link_count: int
    root_init_xyz: Vector
    root_extend: Vector
    links_init_zyx: Vector
    links_extend: Vector
    goal: Vector | None
    swivel_parent: str
    swivel_angle: float
    vh_target: Vector | None
    n0: Vector
    a0: Vector


@dataclass(frozen=True)
class LimbSolution:
    """What a limb solve writes: `status`, the start joint's Euler XYZ and the second joint's angles z, y, x (radians).

    `rot_xyz` is None unless the status is success; `dof_zyx` is None for a one-joint chain too (reading 6).
    """

    status: str
    rot_xyz: Vector | None
    dof_zyx: Vector | None


@dataclass(frozen=True)
class LimbTake:
    """A limb chain over F frames: the fields of LimbProblem as float32 arrays, one row a frame.

    Every array is C-contiguous, shape (F, 3), (F, 12) for `goal`, (F,) for `swivel_angle`; a first dimension of 1
    stands for "the same in every frame". `vh_target` is None when the swivel angle is used.
    """

    frames: int
    link_count: int
    root_init_xyz: Float32s
    root_extend: Float32s
    links_init_zyx: Float32s
    links_extend: Float32s
    goal: Float32s
    swivel_parent: str
    swivel_angle: Float32s
    vh_target: Float32s | None
    n0: Float32s
    a0: Float32s

    def __post_init__(self) -> None:
        """Check every shape and dtype, so that an engine can trust them; ValueError names the field."""
        if self.swivel_parent not in (GOAL, START_JOINT):
            message = f"swivel_parent is {self.swivel_parent!r}, not 'goal' or 'start-joint'"
            raise ValueError(message)
        if type(self.frames) is not int or self.frames < 0 or type(self.link_count) is not int:
            message = f"frames is {self.frames!r} and link_count {self.link_count!r}: whole numbers, frames not below 0"
            raise ValueError(message)
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in ("frames", "link_count", "swivel_parent") or (entry.name == "vh_target" and value is None):
                continue
            shape = () if entry.name == "swivel_angle" else (12,) if entry.name == "goal" else (3,)
            if not isinstance(value, np.ndarray) or value.dtype != np.float32 or not value.flags.c_contiguous:
                message = f"{entry.name} must be a C-contiguous float32 array"
                raise ValueError(message)
            if value.shape not in ((self.frames, *shape), (1, *shape)):
                message = f"{entry.name} has shape {value.shape}, not ({self.frames} or 1, {shape})"
                raise ValueError(message)

    def problem(self, frame: int) -> LimbProblem:
        """Return the problem of one frame as plain floats."""

        def row(array: Float32s) -> Vector:
            return tuple(array[frame if array.shape[0] > 1 else 0].tolist())

        angle = self.swivel_angle
        return LimbProblem(
            link_count=self.link_count,
            root_init_xyz=row(self.root_init_xyz),
            root_extend=row(self.root_extend),
            links_init_zyx=row(self.links_init_zyx),
            links_extend=row(self.links_extend),
            goal=row(self.goal),
            swivel_parent=self.swivel_parent,
            swivel_angle=float(angle[frame if angle.shape[0] > 1 else 0]),
            vh_target=None if self.vh_target is None else row(self.vh_target),
            n0=row(self.n0),
            a0=row(self.a0),
        )


@dataclass(frozen=True)
class LimbTakeSolution:
    """The solution of a LimbTake: `status` (F,) uint8 (index into STATUSES), `rot_xyz` and `dof_zyx` (F, 3) float32.

    Rows whose status is not success are NaN; `dof_zyx` is NaN throughout for a one-joint chain. `redone`: how many frames
    the kernel solved again by scalars, because a lane's rounding was in doubt.
    """

    status: NDArray[np.uint8]
    rot_xyz: Float32s
    dof_zyx: Float32s
    redone: int = 0

    def at(self, frame: int, link_count: int) -> LimbSolution:
        """Return the solution of one frame as plain floats."""
        status = STATUSES[self.status[frame]]
        if status != SUCCESS:
            return LimbSolution(status, None, None)
        dof_zyx = tuple(self.dof_zyx[frame].tolist()) if link_count else None
        return LimbSolution(status, tuple(self.rot_xyz[frame].tolist()), dof_zyx)


def take_of(problems: Sequence[LimbProblem]) -> LimbTake:
    """Return the problems as one take, a frame each; they are alike in link count, swivel parent and use of a VH target.

    A problem without a goal has zeros for it.
    """
    first = problems[0]

    def column(name: str) -> Float32s:
        return np.array([getattr(problem, name) for problem in problems], np.float32)

    return LimbTake(
        frames=len(problems),
        link_count=first.link_count,
        root_init_xyz=column("root_init_xyz"),
        root_extend=column("root_extend"),
        links_init_zyx=column("links_init_zyx"),
        links_extend=column("links_extend"),
        goal=np.array([(0.0,) * 12 if problem.goal is None else problem.goal for problem in problems], np.float32),
        swivel_parent=first.swivel_parent,
        swivel_angle=column("swivel_angle"),
        vh_target=None if first.vh_target is None else column("vh_target"),
        n0=column("n0"),
        a0=column("a0"),
    )


@dataclass(frozen=True)
class SplineJoint:
    """One joint of a Spline IK chain.

    `t`: the next joint's position in this joint's frame; `axes`: three letters of "xyz_", the order in which its angles
    turn (reading 9); `init`: its initial angles x, y, z in radians.
    """

    t: Vector
    axes: str
    init: Vector


@dataclass(frozen=True)
class SplineProblem:
    """One Spline IK solve (spec 4): a chain of joints from the origin of chain space, laid along a spline.

    `segments`: for each segment its points P0..P3 (knot, out handle, next in handle, next knot) in the spline's object
    space; `object_tm`, `parent_matrix`, `twist_parent`: matrices of 12 numbers (to_joint = object_tm *
    Inverse(parent_matrix)); twists in radians; `n0`, `a0` as for the limb; `zero_map_vector`: what DefaultZeroMap
    returns, when that is given instead of n0 and a0.
    """

    joints: tuple[SplineJoint, ...]
    closed: bool
    segments: tuple[tuple[Vector, Vector, Vector, Vector], ...]
    object_tm: Vector
    parent_matrix: Vector
    twist_parent: Vector
    start_twist: float
    end_twist: float
    n0: Vector
    a0: Vector
    zero_map_vector: Vector | None = None


@dataclass(frozen=True)
class SplineSolution:
    """What a spline solve finds: `u` and `points` (chain space) of the recorded points, the first included.

    `euler`: the Euler XYZ of every bone, None when no point was recorded; `frames`: the solved frame of every bone in
    chain space, 12 numbers each; `directions`: the direction of every bone; `samples`: how often the spline was sampled.
    """

    status: str
    bone_lengths: Vector
    u: Vector
    points: tuple[Vector, ...]
    euler: tuple[Vector, ...] | None
    frames: tuple[Vector, ...]
    directions: tuple[Vector, ...]
    samples: int


SPLINE_ARRAYS: Mapping[str, int] = {
    "bone_lengths": 1,
    "bone_axes": 3,
    "co_axes": 3,
    "u": 1,
    "points": 3,
    "euler": 3,
    "frames": 12,
    "directions": 3,
}
"""The arrays that the C side of a spline solve fills -> floats a row; each has joints + 1 rows."""


def spline_solution(status: str, joints: int, count: int, arrays: Mapping[str, Float32s], samples: int) -> SplineSolution:
    """Return the solution of `count` points that stands in the arrays of SPLINE_ARRAYS."""
    bones = joints if count else 0

    def rows(name: str, number: int) -> tuple[Vector, ...]:
        return tuple(map(tuple, arrays[name][:number].tolist()))

    return SplineSolution(
        status=status,
        bone_lengths=tuple(arrays["bone_lengths"][:joints, 0].tolist()),
        u=tuple(arrays["u"][:count, 0].tolist()),
        points=rows("points", count),
        euler=rows("euler", bones) if count else None,
        frames=rows("frames", bones),
        directions=rows("directions", bones),
        samples=samples,
    )


class Engine(Protocol):
    """What evaluates: the compiled kernel or the model, under one profile. All arrays float32, C-contiguous.

    Batch functions take N rows: matrices (N, 4, 3), points (N, 3), quaternions (N, 4).
    """

    name: str
    profile: CoreProfile
    items: Mapping[str, ItemFunction]

    def describe(self) -> Mapping[str, str]:
        """Return what the certificate says of this engine: version, compiler or interpreter, environment."""
        ...

    def solve_limb(self, problem: LimbProblem) -> LimbSolution:
        """Solve one problem (spec 3)."""
        ...

    def solve_limbs(self, problems: Sequence[LimbProblem]) -> list[LimbSolution]:
        """Solve any problems, each for itself."""
        ...

    def solve_limb_take(self, take: LimbTake) -> LimbTakeSolution:
        """Solve all frames of a chain in one call (spec 3)."""
        ...

    def solve_spline(self, problem: SplineProblem) -> SplineSolution:
        """Solve one Spline IK problem (spec 4)."""
        ...

    def solve_spline_take(self, problems: Sequence[SplineProblem]) -> list[SplineSolution]:
        """Solve the problems of one chain, one a frame."""
        ...

    def initial_plane(
        self, link_count: int, root_init_xyz: Float32s, root_extend: Float32s, links_init_zyx: Float32s, links_extend: Float32s
    ) -> tuple[Float32s, Float32s]:
        """Return (n0, a0), each (N, 3), at the preferred pose in chain space (ik.initial_plane); inputs (N, 3)."""
        ...

    def multiply(self, a: Float32s, b: Float32s) -> Float32s:
        """Return a * b by matrix3.multiply, (N, 4, 3)."""
        ...

    def invert(self, m: Float32s) -> Float32s:
        """Return the inverses by matrix3.invert, (N, 4, 3)."""
        ...

    def euler_matrix(self, xyz: Float32s) -> Float32s:
        """Return identity pre-rotated by z, y, x (matrix3.pre_rotate), (N, 4, 3), from (N, 3) radians."""
        ...

    def quat_matrix(self, q: Float32s) -> Float32s:
        """Return quat.make_matrix of (N, 4) quaternions as (N, 4, 3), translation zero."""
        ...

    def transform_points(self, points: Float32s, m: Float32s) -> Float32s:
        """Return matrix3.point_transform of (N, 3) points, (N, 3)."""
        ...
