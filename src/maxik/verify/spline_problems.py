"""Spline problems to compare solvers on: random chains and curves, one kind for each shape that matters.

A problem is drawn from a kind and a seed. Every number is a float32.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from maxik.numerics.float32 import f32
from maxik.problems import SplineJoint, SplineProblem, Vector

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
Segments = tuple[tuple[Vector, Vector, Vector, Vector], ...]


def vector(draw: random.Random, size: float) -> Vector:
    """Return three float32 values between -size and size."""
    return tuple(f32(draw.uniform(-size, size)) for _ in range(3))


def curve(draw: random.Random, knots: int, size: float, *, closed: bool) -> Segments:
    """Return a smooth curve through random knots that begins at the origin; handles a third of the neighbours' chord."""
    points = [(0.0, 0.0, 0.0)]
    heading = [draw.uniform(-1, 1) for _ in range(3)]
    for _ in range(knots - 1):
        heading = [h + draw.uniform(-0.7, 0.7) for h in heading]
        length = math.sqrt(sum(h * h for h in heading)) or 1.0
        points.append(tuple(p + size * draw.uniform(0.5, 1.5) * h / length for p, h in zip(points[-1], heading, strict=True)))  # type: ignore[arg-type]
    count = knots if closed else knots - 1
    segments = []
    for i in range(count):
        a, b = points[i], points[(i + 1) % knots]
        before, after = points[i - 1 if closed or i else 0], points[(i + 2) % knots if closed or i + 2 < knots else knots - 1]
        out = tuple(x + (y - z) / 6 for x, y, z in zip(a, b, before, strict=True))
        back = tuple(x - (y - z) / 6 for x, y, z in zip(b, after, a, strict=True))
        segments.append(tuple(tuple(f32(c) for c in p) for p in (a, out, back, b)))
    return tuple(segments)  # type: ignore[arg-type]


def length_of(segments: Segments) -> float:
    """Return about how long a curve is: its knots' distances."""
    return sum(math.dist(segment[0], segment[3]) for segment in segments)


def chain(draw: random.Random, bones: int, length: float) -> tuple[SplineJoint, ...]:
    """Return joints of about equal bones that add up to `length`."""
    axes = draw.choice(("xyz", "xyz", "zyx", "yxz", "_yz", "z__", "__z", "xz_"))
    joints = []
    for _ in range(bones):
        bone = f32(draw.uniform(0.7, 1.3) * length / bones)
        t = (bone, 0.0, 0.0) if draw.random() < 0.7 else (f32(bone * 0.9), f32(bone * 0.3), f32(-bone * 0.2))
        joints.append(SplineJoint(t, axes, vector(draw, 0.4)))
    return tuple(joints)


def problem(draw: random.Random, bones: int, share: float, segments: Segments, *, closed: bool = False) -> SplineProblem:
    """Return a problem whose chain is about `share` of the curve long."""
    return SplineProblem(
        joints=chain(draw, bones, share * length_of(segments)),
        closed=closed,
        segments=segments,
        object_tm=IDENTITY,
        parent_matrix=IDENTITY,
        twist_parent=IDENTITY,
        start_twist=f32(draw.choice((0.0, draw.uniform(-3.0, 3.0)))),
        end_twist=f32(draw.choice((0.0, draw.uniform(-6.0, 6.0)))),
        n0=(0.0, 1.0, 0.0),
        a0=(0.0, 0.0, 1.0),
    )


def size_of(draw: random.Random) -> float:
    """Return a length of any order of magnitude that scenes have."""
    return float(10.0 ** draw.uniform(-2, 3))


def open_curve(draw: random.Random) -> SplineProblem:
    """Return a chain somewhat shorter than an open curve."""
    return problem(
        draw, draw.randint(1, 12), draw.uniform(0.3, 0.95), curve(draw, draw.randint(3, 6), size_of(draw), closed=False)
    )


def straight(draw: random.Random) -> SplineProblem:
    """Return a chain on a straight curve."""
    size = size_of(draw)
    thirds = [tuple(f32(size * i / 3.0 * c) for c in (0.6, -0.64, 0.48)) for i in range(4)]
    return problem(draw, draw.randint(1, 12), draw.uniform(0.3, 1.2), (tuple(thirds),))  # type: ignore[arg-type]


def long_chain(draw: random.Random) -> SplineProblem:
    """Return a chain longer than its curve."""
    return problem(
        draw, draw.randint(2, 12), draw.uniform(1.1, 4.0), curve(draw, draw.randint(2, 5), size_of(draw), closed=False)
    )


def closed_curve(draw: random.Random) -> SplineProblem:
    """Return a chain on a closed curve, sometimes round it more than once."""
    return problem(
        draw,
        draw.randint(1, 12),
        draw.uniform(0.2, 1.3),
        curve(draw, draw.randint(3, 6), size_of(draw), closed=True),
        closed=True,
    )


def offset(draw: random.Random) -> SplineProblem:
    """Return a curve that does not pass through the first joint: no sample converges."""
    given = open_curve(draw) if draw.random() < 0.6 else closed_curve(draw)
    reach = length_of(given.segments) * draw.uniform(0.02, 0.6)
    moved = (*IDENTITY[:9], *(f32(c) for c in vector(draw, reach)))
    return replace(given, object_tm=moved)


def placed(draw: random.Random) -> SplineProblem:
    """Return a curve under a turned and scaled object matrix and parent."""
    given = open_curve(draw)
    c, s = math.cos(draw.uniform(-3, 3)), math.sin(draw.uniform(-3, 3))
    turned = tuple(f32(x) for x in (c, s, 0.1, -s, c, 0.0, 0.0, 0.2, 1.1))
    return replace(
        given,
        object_tm=(*turned, 0.0, 0.0, 0.0),
        parent_matrix=(*turned[::-1], *vector(draw, 0.01)),
        twist_parent=(*turned, 0.0, 0.0, 0.0),
    )


def short_bones(draw: random.Random) -> SplineProblem:
    """Return bones so short that a coarse step overshoots: backtracking fires."""
    return problem(
        draw,
        draw.randint(1, 12),
        draw.uniform(1e-4, 8e-3),
        curve(draw, draw.randint(2, 5), size_of(draw), closed=False),
    )


def short_bones_closed(draw: random.Random) -> SplineProblem:
    """Return very short bones on a closed curve."""
    return replace(short_bones(draw), closed=True)


def unjoined(draw: random.Random) -> SplineProblem:
    """Return segments that do not join."""
    given = open_curve(draw)
    size = length_of(given.segments) * 0.05

    def moved(point: Vector) -> Vector:
        return tuple(f32(a + b) for a, b in zip(point, vector(draw, size), strict=True))

    return replace(given, segments=tuple((moved(a), moved(b), moved(c), moved(d)) for a, b, c, d in given.segments))


def degenerate(draw: random.Random) -> SplineProblem:
    """Return something broken: zero bones, a curve of one point, NaN or infinity."""
    given = open_curve(draw)
    kind = draw.randrange(4)
    if kind == 0:
        return replace(given, joints=tuple(replace(j, t=(0.0, 0.0, 0.0)) if draw.random() < 0.5 else j for j in given.joints))
    if kind == 1:
        return replace(given, segments=(((0.0, 0.0, 0.0),) * 4,))
    if kind == 2:
        odd = draw.choice((float("nan"), float("inf"), f32(1e38), f32(1e-42)))
        return replace(given, segments=((*given.segments[0][:3], (odd, 0.0, 0.0)), *given.segments[1:]))
    return replace(given, parent_matrix=(0.0,) * 12)


KINDS: Mapping[str, Callable[[random.Random], SplineProblem]] = {
    make.__name__: make
    for make in (
        open_curve, straight, long_chain, closed_curve, offset, placed, short_bones, short_bones_closed, unjoined, degenerate,
    )
}  # fmt: skip


def make_problem(kind: str, seed: int) -> SplineProblem:
    """Return the problem of a kind and a seed."""
    return KINDS[kind](random.Random(seed))
