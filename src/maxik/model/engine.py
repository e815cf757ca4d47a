"""The model as an engine: `ModelEngine` answers the `Engine` protocol of problems.py under any profile.

Batch functions are plain loops over rows, about a thousand times slower than the compiled kernel: the model is there to
be read, to try candidates and to check the kernel.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata

import numpy as np

from maxik.model import chain, limb, quat, spline
from maxik.model.core import core_of
from maxik.model.items import item_functions
from maxik.model.matrix3 import from_values, invert, multiply, point_transform, values_of
from maxik.problems import (
    STATUSES,
    SUCCESS,
    Float32s,
    ItemFunction,
    LimbProblem,
    LimbSolution,
    LimbTake,
    LimbTakeSolution,
    SplineProblem,
    SplineSolution,
    Vector,
)
from maxik.profile import CoreProfile


class ModelEngine:
    """The executable specification under `profile`; every array float32, matrices (N, 4, 3), angles in radians."""

    name: str = "model"

    def __init__(self, profile: CoreProfile | None = None, choice: Mapping[str, str] | None = None) -> None:
        """Take `profile`; `choice`, its candidates by item, only to watch which of them are looked up."""
        self.profile: CoreProfile = profile or CoreProfile()
        self.core = core_of(self.profile) if choice is None else replace(core_of(self.profile), choice=choice)
        self.items: Mapping[str, ItemFunction] = item_functions(self.core)

    def describe(self) -> Mapping[str, str]:
        """Return what the certificate says of this engine."""
        return {
            "engine": self.name,
            "version": metadata.version("maxik"),
            "implementation": f"{platform.python_implementation()} {platform.python_version()}",
            "environment": self.profile.environment,
            "profile": str(self.profile),
        }

    def solve_limb(self, problem: LimbProblem) -> LimbSolution:
        """Solve one problem (spec 3)."""
        return limb.solve(self.core, problem)

    def solve_limbs(self, problems: Sequence[LimbProblem]) -> list[LimbSolution]:
        """Solve any problems, one after the other."""
        return [self.solve_limb(problem) for problem in problems]

    def solve_limb_take(self, take: LimbTake) -> LimbTakeSolution:
        """Solve all frames of a chain, one after the other (spec 3)."""
        status = np.zeros(take.frames, np.uint8)
        rot_xyz = np.full((take.frames, 3), np.nan, np.float32)
        dof_zyx = np.full((take.frames, 3), np.nan, np.float32)
        for frame in range(take.frames):
            solution = self.solve_limb(take.problem(frame))
            status[frame] = STATUSES.index(solution.status)
            if solution.status == SUCCESS:
                rot_xyz[frame] = solution.rot_xyz
            if solution.dof_zyx is not None:
                dof_zyx[frame] = solution.dof_zyx
        return LimbTakeSolution(status, rot_xyz, dof_zyx)

    def solve_spline(self, problem: SplineProblem) -> SplineSolution:
        """Solve one Spline IK problem (spec 4)."""
        return spline.solve(self.core, problem)

    def solve_spline_take(self, problems: Sequence[SplineProblem]) -> list[SplineSolution]:
        """Solve one chain's problems frame by frame."""
        return [self.solve_spline(problem) for problem in problems]

    def initial_plane(
        self, link_count: int, root_init_xyz: Float32s, root_extend: Float32s, links_init_zyx: Float32s, links_extend: Float32s
    ) -> tuple[Float32s, Float32s]:
        """Return (n0, a0), each (N, 3), at the preferred pose in chain space; ValueError for a link count not 0 or 3."""
        poses = zip(root_init_xyz.tolist(), root_extend.tolist(), links_init_zyx.tolist(), links_extend.tolist(), strict=True)
        planes = [chain.initial_plane(self.core, link_count, chain.Pose(*map(tuple, pose))) for pose in poses]
        return _array((n0 for n0, _ in planes), (3,)), _array((a0 for _, a0 in planes), (3,))

    def multiply(self, a: Float32s, b: Float32s) -> Float32s:
        """Return a * b by matrix3.multiply, (N, 4, 3)."""
        core = self.core
        pairs = zip(_rows(a, 12), _rows(b, 12), strict=True)
        return _array((values_of(multiply(core, from_values(core, x), from_values(core, y))) for x, y in pairs), (4, 3))

    def invert(self, m: Float32s) -> Float32s:
        """Return the inverses by matrix3.invert, (N, 4, 3)."""
        return _array((values_of(invert(self.core, from_values(self.core, x))) for x in _rows(m, 12)), (4, 3))

    def euler_matrix(self, xyz: Float32s) -> Float32s:
        """Return identity pre-rotated by z, y, x (matrix3.pre_rotate), (N, 4, 3), from (N, 3) radians."""
        return _array((values_of(chain.root_dof_matrix(self.core, (x, y, z))) for x, y, z in xyz.tolist()), (4, 3))

    def quat_matrix(self, q: Float32s) -> Float32s:
        """Return quat.make_matrix of (N, 4) quaternions as (N, 4, 3), translation zero."""
        return _array((values_of(quat.make_matrix(self.core, (x, y, z, w))) for x, y, z, w in q.tolist()), (4, 3))

    def transform_points(self, points: Float32s, m: Float32s) -> Float32s:
        """Return matrix3.point_transform of (N, 3) points, (N, 3)."""
        core = self.core
        pairs = zip(points.tolist(), _rows(m, 12), strict=True)
        return _array((point_transform(core, (x, y, z), from_values(core, row)) for (x, y, z), row in pairs), (3,))


def _rows(array: Float32s, width: int) -> list[Vector]:
    """Return the rows of an (N, ...) array as flat tuples of `width` floats."""
    return [tuple(row) for row in array.reshape(-1, width).tolist()]


def _array(values: Iterable[Vector], shape: tuple[int, ...]) -> Float32s:
    """Return the values as a float32 array (N, *shape)."""
    return np.array(list(values), np.float32).reshape(-1, *shape)
