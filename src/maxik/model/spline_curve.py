"""SplinePosAt, the position on a spline, and its sample in chain space (core-profile.md, Spline position; spec 4.2).

A spline is segments of four float32 points P0..P3: knot, its out handle, the next knot's in handle, the next knot.
spline.parameter turns u into a segment and its local t; spline.bezier turns these into a point. The type argument of
SplinePosAt changes nothing (core-profile.md, spline.parameter).
A `Sampler` adds toJointMat and counts its calls; everything that does not depend on u is prepared once.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from maxik.model.core import Core, Point3
from maxik.model.matrix3 import Matrix3, point_transform
from maxik.model.point3 import flength, subtract
from maxik.numerics.float32 import f32

Segment = Sequence[Sequence[float]]
"""Four points P0, P1, P2, P3 of float32 values."""
_Locate = Callable[[float], tuple[int, float]]
_Evaluate = Callable[[Segment, float], Point3]


def position(core: Core, segments: Sequence[Segment]) -> Callable[[float], Point3]:
    """Return SplinePosAt as a function of u, the spline's own space (spline.parameter, spline.bezier).

    u is clamped to [0, 1] (reading 7), for open and closed splines; a NaN gives a NaN point. ValueError for no segment.
    """
    if not segments:
        message = "a spline needs at least one segment"
        raise ValueError(message)
    evaluate = _bezier(core)
    candidate = core.choice["spline.parameter"]
    if candidate == "simple":
        locate = _simple(len(segments))
    else:
        locate = _chord_table(core, segments, evaluate, int(candidate.removeprefix("chord-table-")))

    def position_at(u: float) -> Point3:
        if u < 0.0:
            u = 0.0
        elif u > 1.0:
            u = 1.0
        k, t = locate(u)
        return evaluate(segments[k], t)

    return position_at


def _simple(n: int) -> _Locate:
    """Return `simple`: x = u*n in binary64, in both environments; k = min(floor(x), n-1), t = f(x - k)."""
    last = n - 1

    def locate(u: float) -> tuple[int, float]:
        x = u * n
        if math.isnan(x):
            return 0, x
        k = min(int(x), last)
        return k, f32(x - k)

    return locate


class _Table(NamedTuple):
    """A segment's chords: `lengths` d_i and running sums `sums` c_i, i = 0..N (d_0 = c_0 = 0)."""

    lengths: tuple[float, ...]
    sums: tuple[float, ...]


def _chord_table(core: Core, segments: Sequence[Segment], evaluate: _Evaluate, chords: int) -> _Locate:
    """Return `chord-table-N`, N = `chords`: u is a share of the summed chords, linear inside a chord."""
    reg = core.register
    tables = [_table(core, segment, evaluate, chords) for segment in segments]
    starts = [0.0]
    for table in tables:
        starts.append(f32(reg(starts[-1]) + table.sums[-1]))
    last = len(segments) - 1

    def locate(u: float) -> tuple[int, float]:
        target = f32(reg(u) * starts[-1])
        k = next((k for k in range(last) if target <= starts[k + 1]), last)
        rest = f32(reg(target) - starts[k])
        lengths, sums = tables[k]
        i = next((i for i in range(1, chords) if rest <= sums[i]), chords)
        share = 0.0 if lengths[i] == 0.0 else (reg(rest) - sums[i - 1]) / lengths[i]
        t = f32((i - 1 + share) / chords)
        if t < 0.0:
            t = 0.0
        elif t > 1.0:
            t = 1.0
        return k, t

    return locate


def _table(core: Core, segment: Segment, evaluate: _Evaluate, chords: int) -> _Table:
    """Return the chords of a segment between t_i = f(i/N), a binary64 quotient (reading 10)."""
    lengths, sums = [0.0], [0.0]
    before = evaluate(segment, 0.0)
    for i in range(1, chords + 1):
        point = evaluate(segment, f32(i / chords))
        lengths.append(flength(core, subtract(core, point, before)))
        sums.append(f32(core.register(sums[-1]) + lengths[-1]))
        before = point
    return _Table(tuple(lengths), tuple(sums))


def _bezier(core: Core) -> _Evaluate:
    """Return the cubic's value at t in [0, 1] (spline.bezier); s = f(1 - t).

    `bernstein`: f(s*s*s*P0 + 3*s*s*t*P1 + 3*s*t*t*P2 + t*t*t*P3), left to right; the weights are the same in all three
    components. `de-casteljau`: f(s*A + t*B) at each of the six lerps. `power`: a = f(3*(P1 - P0)),
    b = f(3*(P2 - 2*P1 + P0)), c = f(P3 - 3*P2 + 3*P1 - P0), then f(((c*t + b)*t + a)*t + P0).
    """
    candidate = core.choice["spline.bezier"]
    reg = core.register

    def bernstein(segment: Segment, t: float) -> Point3:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz), (dx, dy, dz) = segment
        t = reg(t)
        s = reg(f32(1.0 - t))
        a, b, c, d = s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t
        return (
            f32(a * ax + b * bx + c * cx + d * dx),
            f32(a * ay + b * by + c * cy + d * dy),
            f32(a * az + b * bz + c * cz + d * dz),
        )

    def de_casteljau(segment: Segment, t: float) -> Point3:
        t = reg(t)
        s = reg(f32(1.0 - t))
        x, y, z = (_lerped(component, s, t) for component in zip(*segment, strict=True))
        return x, y, z

    def power(segment: Segment, t: float) -> Point3:
        x, y, z = (_powers(core, component, t) for component in zip(*segment, strict=True))
        return x, y, z

    return {"bernstein": bernstein, "de-casteljau": de_casteljau, "power": power}[candidate]


def _lerped(component: tuple[float, ...], s: float, t: float) -> float:
    """Return one component by de Casteljau's three rounds of lerps, `s` and `t` in registers."""
    values = component
    while len(values) > 1:
        values = tuple(f32(s * a + t * b) for a, b in pairwise(values))
    return values[0]


def _powers(core: Core, component: tuple[float, ...], t: float) -> float:
    """Return one component in power form; the coefficients are floats."""
    reg = core.register
    p0, p1, p2, p3 = (reg(value) for value in component)
    a, b, c = f32((p1 - p0) * 3.0), f32((p2 - 2.0 * p1 + p0) * 3.0), f32(p3 - 3.0 * p2 + 3.0 * p1 - p0)
    return f32(((reg(c) * t + b) * t + a) * t + p0)


class Sampler:
    """sample(u) = SplinePosAt(u, 1) * toJointMat, in chain space (spec 4.2); `samples` counts the calls.

    The cache prime SplinePosAt(0.0f, 1, TRUE) has no effect on a value and is not counted.
    """

    def __init__(self, core: Core, segments: Sequence[Segment], to_joint: Matrix3) -> None:
        self.samples = 0
        if core.register is float and (core.choice["spline.parameter"], core.choice["spline.bezier"]) == _INLINED:
            self._measure = _inlined(segments, to_joint)
        else:
            self._measure = _literal(core, segments, to_joint)

    def at(self, u: float) -> Point3:
        """Return the sample at u, a point in chain space."""
        return self.at_distance(u, _ZERO)[0]

    def at_distance(self, u: float, start: Point3) -> tuple[Point3, float]:
        """Return the sample at u and FLength(sample - start)."""
        self.samples += 1
        return self._measure(u, start)


_INLINED = ("simple", "bernstein")
_ZERO: Point3 = (0.0, 0.0, 0.0)
_Measure = Callable[[float, Point3], tuple[Point3, float]]


def _literal(core: Core, segments: Sequence[Segment], to_joint: Matrix3) -> _Measure:
    """Return sample and distance, whatever the candidates and the register."""
    position_at = position(core, segments)

    def measure(u: float, start: Point3) -> tuple[Point3, float]:
        point = point_transform(core, position_at(u), to_joint)
        return point, flength(core, subtract(core, point, start))

    return measure


def _inlined(segments: Sequence[Segment], to_joint: Matrix3) -> _Measure:
    """Return what `_literal` returns for `simple`, `bernstein` and 53-bit registers, written out in plain floats.

    A solve takes thousands of samples, and this is twice as fast. tests/model/test_model_spline.py holds the two against
    each other.
    """
    n, last = len(segments), len(segments) - 1
    flat = [tuple(value for point in segment for value in point) for segment in segments]
    (m00, m01, m02), (m10, m11, m12), (m20, m21, m22), (m30, m31, m32) = to_joint[:4]
    stored = array("f", [0.0] * 3)  # writing an entry rounds as f32 does, and overflows to an infinity

    def measure(u: float, start: Point3) -> tuple[Point3, float]:
        x = 0.0 if u < 0.0 else u * n if u <= 1.0 else float(n)
        k = min(int(x), last)
        stored[0] = x - k
        t = stored[0]
        stored[0] = 1.0 - t
        s = stored[0]
        a, b, c, d = s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t
        ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz = flat[k]
        stored[0] = a * ax + b * bx + c * cx + d * dx
        stored[1] = a * ay + b * by + c * cy + d * dy
        stored[2] = a * az + b * bz + c * cz + d * dz
        x, y, z = stored
        stored[0] = x * m00 + y * m10 + z * m20 + m30
        stored[1] = x * m01 + y * m11 + z * m21 + m31
        stored[2] = x * m02 + y * m12 + z * m22 + m32
        point = sx, sy, sz = stored[0], stored[1], stored[2]
        stored[0] = sx - start[0]
        stored[1] = sy - start[1]
        stored[2] = sz - start[2]
        x, y, z = stored
        stored[0] = x * x + y * y + z * z
        stored[0] = math.sqrt(stored[0])
        return point, stored[0]

    return measure
