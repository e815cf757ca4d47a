"""The Spline IK solver (spec 4): the first point (4.2), the march along the spline (4.3), and the whole solve.

u and du are floats that grow step by step, f(u + step); the steps are float literals. Distances are floats; the differences
L[j] - dist and dist - L[j] are compared in their register (reading 2). A NaN makes every comparison false, so it
is recorded as converged: nothing here loops on it. Tables and frames (4.1, 4.4) are in spline_frames.py, the position on the
spline in spline_curve.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from maxik.model import spline_frames
from maxik.model.core import Core, Point3
from maxik.model.matrix3 import from_values, invert, multiply
from maxik.model.spline_curve import Sampler
from maxik.numerics.float32 import FLT_MAX, f32
from maxik.problems import SUCCESS, SplineProblem, SplineSolution

COARSE, MIDDLE, FINE = f32(0.001), f32(0.0001), f32(0.000001)
"""The steps of u: 0.001f, 0.0001f, 0.000001f."""
Recorded = tuple[float, Point3]
"""A recorded point: its u and the point in chain space."""
_FIRST_DIVISOR = 7.0
_LATER_DIVISOR = 5.0


def thresholds(core: Core, bone_length: float, coarse_divisor: float) -> tuple[float, float, float]:
    """Return eps1 = L/7 (first bone) or L/5, eps2 = L/50, eps3 = L/100 as floats (spec 4.2, 4.3)."""
    length = core.register(bone_length)
    return f32(length / coarse_divisor), f32(length / 50.0), f32(length / 100.0)


class _Nearest(NamedTuple):
    """The sample nearest to the first joint so far: uBest, distBest and its point."""

    u: float
    distance: float
    point: Point3


def first_point(core: Core, sampler: Sampler, first_joint: Point3, first_length: float) -> Recorded:
    """Return the u and the point where the chain starts, the first joint at `first_joint` (spec 4.2, reading 7)."""
    reg = core.register
    eps1, eps2, eps3 = thresholds(core, first_length, _FIRST_DIVISOR)
    u = u_last = u_before_best = u_after_best = 0.0
    best = _Nearest(0.0, FLT_MAX, (0.0, 0.0, 0.0))  # stays so only where every distance overflows
    flag = False
    while u <= 1.0:
        point, distance = sampler.at_distance(u, first_joint)
        if distance < best.distance:
            best, u_before_best, flag = _Nearest(u, distance, point), u_last, True
        u_last = u
        if distance > eps1:
            u = f32(reg(u) + COARSE)
        elif distance > eps2:
            u = f32(reg(u) + MIDDLE)
        elif distance > eps3:
            u = f32(reg(u) + FINE)
        else:
            return u, point
        if flag:
            u_after_best, flag = u, False

    u_best_initial = best.u
    u, best = _rescanned(core, sampler, first_joint, best, f32(reg(u_before_best) + FINE), u_best_initial)
    if best.u >= u_best_initial:
        u, best = _rescanned(core, sampler, first_joint, best, u, u_after_best)
    return best.u, best.point


def _rescanned(  # noqa: PLR0913, PLR0917 - the solver's own variables
    core: Core, sampler: Sampler, first_joint: Point3, best: _Nearest, u: float, end: float
) -> tuple[float, _Nearest]:
    """Return where the fine scan from u up to `end` stops, and the nearest sample (spec 4.2)."""
    while u < end:
        point, distance = sampler.at_distance(u, first_joint)
        if distance < best.distance:
            best = _Nearest(u, distance, point)
        u = f32(core.register(u) + FINE)
    return u, best


def open_march(core: Core, sampler: Sampler, lengths: Sequence[float], start: Recorded) -> list[Recorded]:
    """Return the points recorded after `start` on an open spline, at most one a bone (spec 4.3, reading 8)."""
    reg = core.register
    u, start_point = start
    u_before = u
    recorded: list[Recorded] = []
    j = 0
    eps1, eps2, eps3 = thresholds(core, lengths[0], _FIRST_DIVISOR)
    while u <= 1.0 and j < len(lengths):
        point, distance = sampler.at_distance(u, start_point)
        if reg(lengths[j]) - distance > eps1:
            u_before, u = u, f32(reg(u) + COARSE)
        elif reg(lengths[j]) - distance > eps2:
            u_before, u = u, f32(reg(u) + MIDDLE)
        elif reg(lengths[j]) - distance > eps3:
            u_before, u = u, f32(reg(u) + FINE)
        else:
            if reg(distance) - lengths[j] > eps3:  # too far: step back and go on in smaller steps, where the step is known
                step_delta = f32(reg(u) - u_before)
                if step_delta == COARSE:
                    u = f32(reg(u_before) + MIDDLE)
                    continue
                if step_delta == MIDDLE:
                    u = f32(reg(u_before) + FINE)
                    continue
            recorded.append((u, point))
            start_point, u_before = point, u
            j += 1
            if j < len(lengths):
                eps1, eps2, eps3 = thresholds(core, lengths[j], _LATER_DIVISOR)
    return recorded


def closed_march(core: Core, sampler: Sampler, lengths: Sequence[float], start: Recorded) -> list[Recorded]:
    """Return the points recorded after `start` on a closed spline (spec 4.3, reading 8).

    u wraps at 1, and du, the way since the last point, ends the march. Unlike the open march, accepting leaves uPrev.
    """
    reg = core.register
    u, start_point = start
    u_before = u
    recorded: list[Recorded] = []
    j, du = 0, 0.0
    eps1, eps2, eps3 = thresholds(core, lengths[0], _FIRST_DIVISOR)
    while du <= 1.0 and j < len(lengths):
        point, distance = sampler.at_distance(u, start_point)
        if reg(lengths[j]) - distance > eps1:
            u_before, u, du = u, _wrapped(core, f32(reg(u) + COARSE)), f32(reg(du) + COARSE)
        elif reg(lengths[j]) - distance > eps2:
            u_before, u, du = u, _wrapped(core, f32(reg(u) + MIDDLE)), f32(reg(du) + MIDDLE)
        elif reg(lengths[j]) - distance > eps3:
            u_before, u, du = u, _wrapped(core, f32(reg(u) + FINE)), f32(reg(du) + FINE)
        else:
            if reg(distance) - lengths[j] > eps3:
                step_delta = f32(reg(u) - u_before if u > u_before else 1.0 + reg(u) - u_before)
                if step_delta == COARSE:
                    u, du = _wrapped(core, f32(reg(u_before) + MIDDLE)), f32(reg(du) + (reg(MIDDLE) - COARSE))
                    continue
                if step_delta == MIDDLE:
                    u, du = _wrapped(core, f32(reg(u_before) + FINE)), f32(reg(du) + (reg(FINE) - MIDDLE))
                    continue
            recorded.append((u, point))
            start_point, du = point, 0.0
            j += 1
            if j < len(lengths):
                eps1, eps2, eps3 = thresholds(core, lengths[j], _LATER_DIVISOR)
    return recorded


def _wrapped(core: Core, u: float) -> float:
    """Return u, less one turn when it is past 1."""
    return f32(core.register(u) - 1.0) if u > 1.0 else u


def solve(core: Core, problem: SplineProblem) -> SplineSolution:
    """Solve one problem (spec 4): angles in radians, points and frames in chain space.

    Without a joint, or without a segment (a spline of one knot), no point is recorded: success, the chain left as it is.
    """
    inverse_parent = invert(core, from_values(core, problem.parent_matrix))
    tables = spline_frames.bone_tables(core, problem, inverse_parent)
    if not tables.lengths or not problem.segments:
        return SplineSolution(SUCCESS, tables.lengths, (), (), None, (), (), 0)
    sampler = Sampler(core, problem.segments, multiply(core, from_values(core, problem.object_tm), inverse_parent))
    start = first_point(core, sampler, tables.first_joint, tables.lengths[0])
    march = closed_march if problem.closed else open_march
    recorded = [start, *march(core, sampler, tables.lengths, start)]
    points = tuple(point for _, point in recorded)
    solved = spline_frames.solved_frames(core, problem, tables, sampler, points)
    return SplineSolution(
        status=SUCCESS,
        bone_lengths=tables.lengths,
        u=tuple(u for u, _ in recorded),
        points=points,
        euler=solved.euler,
        frames=solved.frames,
        directions=solved.directions,
        samples=sampler.samples,
    )
