"""Inputs that may tell candidates apart: for each item an endless, seeded stream, the nicest first.

Nice are numbers that a 3ds Max user types: small decimals, whole degrees, unit axes. Then the special ones of spec 6 and
core-contracts.md: zero lengths, squares that underflow, a unit in the last place beside the identity, the gimbal, signs
of zero. Then random float32 values. Angles are whole degrees whose radians come out the same whether the factor is
multiplied in binary32 or in binary64, so that a script, which speaks degrees, hands over the same float. Hard cases, for
candidates that ordinary inputs do not tell apart, stand in `RARE_QUOTIENTS` and `hard_cases`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxik.characterise.solve_inputs import Operands, limbs, splines
from maxik.numerics.float32 import FLT_EPSILON, f32
from maxik.problems import Vector
from maxik.verify.rotations import euler_xyz_matrix

_NICE = (1.0, 2.0, 3.0, 0.5, 0.1, 0.3, 0.7, 10.0, -1.0, 1.7, 123.4)
_DEGREES = (30, 45, 90, 20, 37, 10, 70, 123, 5, 1, 60, 15, 77, 33, 101, 160, -20, -37, 179, 3, 7, 11, 13)
RARE_QUOTIENTS: tuple[Vector, ...] = (
    (14821586.0, 15238871.0, 49143.0),
    (8402043.0, 7839760.0, 122150.0),
    (10560123.0, 9487287.0, 2627781.0),
)
"""Hard cases: x / r and x * (1 / r), both in binary64, round to different floats.

The two are within two units in the last place of binary64, so they part only where x / r lies that near to a float32
midpoint M: once in some 10^8 random vectors. These are whole numbers below 2^24 whose squares add up to the whole number
next to (x / M)^2, where that is nearly whole.
"""
RARE_TURN, RARE_DEGREES = 9830.3984375, 54398544.0
"""Hard cases: angles whose sine by fsincos and by a binary64 function are different floats.

Of all float32 from 2^-12 to 1e4, RARE_TURN (radians) alone is one, and its negative: a scan of each of them, where the sine or
cosine lies near enough to a float32 midpoint for a pi of 66 bits or a longer mantissa to matter, found no other. The runtime's
sine there is known: vectors/crt, sin-ambiguous-0000. No float32 number of degrees comes to it, so a script gets
RARE_DEGREES, one of the two more up to 1e6 radians; the runtime has not been measured there.
"""
_UP = 1.0 + FLT_EPSILON
_DOWN = 1.0 - FLT_EPSILON / 2.0
_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def inputs_for(item: str) -> Iterator[Operands]:
    """Yield operands of an item's function (vector-format.md) without end; KeyError for an item without such inputs."""
    return _STREAMS[item]()


def angles() -> list[tuple[float, float]]:
    """Return (degrees, radians) of whole degrees on which a binary32 and a binary64 product agree, the hard ones last."""
    found = []
    for degrees in (*_DEGREES, RARE_DEGREES, 2.0 * RARE_DEGREES):
        single = float(np.float32(degrees) * np.float32(math.pi / 180.0))
        if single == f32(math.radians(degrees)) == f32(degrees * math.pi / 180.0):
            found.append((float(degrees), single))
    return found


def _turns() -> list[float]:
    """Return the ordinary angles, radians."""
    return [radians for degrees, radians in angles() if degrees < RARE_DEGREES]


def hard_cases(item: str) -> Iterator[Operands]:
    """Yield inputs for pairs that ordinary ones leave together: far-off angles that no scene has; none for most items."""
    axis = (0.0, 0.0, 1.0)
    by_degrees = next(radians for degrees, radians in angles() if degrees == RARE_DEGREES)
    if item == "matrix3.pre_rotate":
        yield from ({"m": _IDENTITY, "axis": "x", "angle": angle} for angle in (by_degrees, RARE_TURN))
    if item == "quat.from_ang_axis":
        yield from ({"axis": axis, "angle": 2.0 * angle} for angle in (by_degrees, RARE_TURN))
    if item == "matrix3.rot_angle_axis":
        yield {"axis": axis, "angle": RARE_TURN}


def vectors() -> Iterator[Vector]:
    """Yield vectors: nice components, zero lengths, squares that underflow, multiples of (3, 4, 0), then random ones."""
    yield from ((f32(a), f32(b), f32(c)) for a, b, c in sorted(itertools.product(_NICE, repeat=3), key=_plainness))
    yield from ((0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (f32(1e-23), 0.0, 0.0), (f32(3.0 * _UP), f32(4.0 * _UP), 0.0))
    random = np.random.default_rng(0)
    while True:
        yield _vector(random.normal(size=3) * 10.0 ** random.integers(-2, 3))


def _zero_vectors() -> Iterator[Vector]:
    yield from ((0.0, 0.0, 0.0), (-0.0, 0.0, 0.0), (f32(1e-23), 0.0, 0.0), (f32(1e-30), f32(1e-30), 0.0))
    yield from vectors()


def _unit_vectors() -> Iterator[Vector]:
    yield from ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6000000238418579, 0.0, 0.800000011920929))
    for v in vectors():
        length = math.sqrt(sum(x * x for x in v))
        if length > 0.0:
            yield _vector(np.array(v) / length)


def matrices() -> Iterator[Vector]:
    """Yield matrices: identity and beside it, turns by whole degrees, scaled, mirrored, nearly singular, then random ones."""
    yield from _near_identity()
    for x, y, z in itertools.islice(_triples(), 60):
        yield _matrix((x, y, z), (10.0, 20.0, 30.0))
    for scale in (2.0, 0.1, -1.0):
        yield tuple(f32(scale * value) for value in _matrix((0.3, 0.5, 0.7), (1.0, 2.0, 3.0)))
    yield (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, f32(9.0 + 1e-5), 1.0, 2.0, 3.0)
    random = np.random.default_rng(1)
    while True:
        turned = _matrix(tuple(random.uniform(-3.0, 3.0, 3)), tuple(random.normal(size=3) * 100.0))
        yield turned if random.random() < 0.5 else _vector(random.normal(size=12))  # noqa: PLR2004 - half of them


def _near_identity() -> Iterator[Vector]:
    yield _IDENTITY
    for place in range(12):
        for value in (_UP, _DOWN) if _IDENTITY[place] else (f32(1e-7), -f32(1e-7)):
            yield (*_IDENTITY[:place], value, *_IDENTITY[place + 1 :])
    yield (_UP, 0.0, 0.0, 0.0, _UP, 0.0, 0.0, 0.0, _UP, 0.0, 0.0, 0.0)


def _gimbal_matrices() -> Iterator[Vector]:
    """Yield turns by whole degrees, some whose y comes near 90 degrees, cy on both sides of 16 FLT_EPSILON, more turns."""
    for x, y, z in itertools.islice(_triples(), 40):
        yield _matrix((x, y, z), (0.0, 0.0, 0.0))
    for off in (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 2.5e-6, 1.907e-6, 1.5e-6, 1e-6, 1e-7, 1e-8, 0.0):
        for sign in (1.0, -1.0):
            yield _matrix((0.3, sign * (math.pi / 2.0 - off), -1.1), (0.0, 0.0, 0.0))
    random = np.random.default_rng(6)
    while True:
        yield _matrix(tuple(np.radians(random.integers(-180, 181, 3)).tolist()), (0.0, 0.0, 0.0))


def quaternions() -> Iterator[Vector]:
    """Yield quaternions (x, y, z, w): turns by whole degrees about nice axes, signs of zero, not quite unit, then random."""
    for angle, axis in itertools.product(_turns()[:8], itertools.islice(_unit_vectors(), 6)):
        yield (*(f32(math.sin(angle / 2.0) * k) for k in axis), f32(math.cos(angle / 2.0)))
    yield from ((0.0, 0.0, 0.0, 1.0), (-0.0, 0.0, -0.0, 1.0), (0.5, 0.5, 0.5, 0.5))
    random = np.random.default_rng(2)
    while True:
        q = random.normal(size=4)
        yield _vector(q / np.linalg.norm(q) * random.choice((1.0, 1.0, 1.001, 0.5)))


def _triples() -> Iterator[tuple[float, float, float]]:
    turns = _turns()
    triples = [(x, y, z) for x in turns[:8] for y in turns[:8] for z in turns[:8]]
    return iter(sorted(triples, key=lambda triple: (len(set(triple)), triple)))


def _pairs(make: Callable[[], Iterator[Vector]], names: tuple[str, str]) -> Iterator[Operands]:
    first, second = make(), make()
    next(second)
    for a, b in zip(first, second, strict=False):
        yield {names[0]: a, names[1]: b}


def _axis_angles() -> Iterator[Operands]:
    for axis in itertools.islice(_unit_vectors(), 100):
        for angle in _turns():
            yield {"axis": axis, "angle": angle}
    random = np.random.default_rng(3)
    while True:
        direction = random.normal(size=3)
        yield {"axis": _vector(direction / np.linalg.norm(direction)), "angle": f32(random.uniform(-4.0, 4.0))}


def _matrix_turns() -> Iterator[Operands]:
    turns = _turns()
    yield {"m": (-0.0, 0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), "axis": "x", "angle": turns[0]}
    for place, m in enumerate(matrices()):
        for axis in "xyz":
            yield {"m": m, "axis": axis, "angle": turns[place % len(turns)]}


def _quaternion_products() -> Iterator[Operands]:
    """Yield pairs of quaternions, the first two turns by 90 degrees.

    Their w all but cancels, so that the order of its terms decides whether the squares of the small parts are lost.
    """
    half, small = f32(math.sqrt(0.5)), f32(1e-9)
    yield {"a": (half, small, 0.0, half), "b": (half, small, small, half)}
    yield from _pairs(quaternions, ("a", "b"))


def _products() -> Iterator[Operands]:
    """Yield pairs of matrices, one of them beside the identity first."""
    yield {"a": _IDENTITY, "b": (-0.0, 1.0, 0.0, -1.0, -0.0, 0.0, 0.0, 0.0, 1.0, 10.0, 20.0, 30.0)}
    others = list(itertools.islice(matrices(), 30, 60))
    for near, other in itertools.product(_near_identity(), others[:6]):
        yield {"a": near, "b": other}
        yield {"a": other, "b": near}
    yield from _pairs(matrices, ("a", "b"))


def _quaternions_and_matrices() -> Iterator[Operands]:
    for q, m in zip(quaternions(), itertools.islice(matrices(), 26, None), strict=False):
        yield {"q": q, "m": m}


def _zero_maps() -> Iterator[Operands]:
    for v, n0, a0 in zip(
        _unit_vectors(), itertools.islice(_unit_vectors(), 7, None), itertools.islice(_unit_vectors(), 3, None), strict=False
    ):
        yield {"v": v, "n0": n0, "a0": a0}


def _splines() -> Iterator[Operands]:
    """Yield points asked of splines: one segment, two, lengths as 1 to 9, a straight line; ends and joins of segments too."""
    one = (((0.0, 0.0, 0.0), (10.0, 0.0, 0.0), (20.0, 10.0, 0.0), (30.0, 30.0, 0.0)),)
    two = (*one, ((30.0, 30.0, 0.0), (40.0, 50.0, 5.0), (50.0, 50.0, 10.0), (f32(60.1), 30.0, 20.0)))
    knots = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 9.0, 0.0))
    uneven = tuple(
        (a, tuple(map(f32, _thirds(a, b, 1))), tuple(map(f32, _thirds(a, b, 2))), b) for a, b in itertools.pairwise(knots)
    )
    for segments in (one, two, uneven, uneven[:1]):
        for u in (0.5, f32(0.1), f32(0.3), f32(0.7), 0.25, f32(0.9), f32(1.0 / 3.0), 0.0, 1.0, f32(1.0 - 1e-7)):
            yield {"spline": {"closed": False, "segments": segments}, "u": u, "type": 0}
    random = np.random.default_rng(4)
    while True:
        points = tuple(_vector(row) for row in random.normal(size=(4, 3)) * 10.0)
        yield {"spline": {"closed": False, "segments": (points,)}, "u": f32(random.uniform()), "type": 0}


def _thirds(a: Vector, b: Vector, place: int) -> Vector:
    return tuple(p + (q - p) * place / 3.0 for p, q in zip(a, b, strict=True))


def _matrix(xyz: tuple[float, ...], translation: tuple[float, ...]) -> Vector:
    return (*(f32(float(value)) for value in euler_xyz_matrix(xyz).reshape(9)), *(f32(float(t)) for t in translation))


def _vector(values: Any) -> Vector:  # noqa: ANN401 - an array of any kind
    return tuple(f32(float(value)) for value in values)


def _plainness(triple: tuple[float, ...]) -> tuple[int, tuple[int, ...]]:
    places = tuple(_NICE.index(value) for value in triple)
    return max(places), places


def _of(make: Callable[[], Iterator[Vector]], name: str) -> Callable[[], Iterator[Operands]]:
    return lambda: ({name: value} for value in make())


_STREAMS: dict[str, Callable[[], Iterator[Operands]]] = {
    "point3.normalize": _of(vectors, "v"),
    "point3.unify": _of(vectors, "v"),
    "point3.length_unify": _of(vectors, "v"),
    "point3.zero_length": _of(_zero_vectors, "v"),
    "matrix3.multiply": _products,
    "matrix3.invert": _of(lambda: itertools.islice(matrices(), 26, None), "m"),
    "matrix3.pre_rotate": _matrix_turns,
    "matrix3.rotate": _matrix_turns,
    "matrix3.rot_angle_axis": _axis_angles,
    "matrix3.to_euler": _of(_gimbal_matrices, "m"),
    "quat.product": _quaternion_products,
    "quat.from_ang_axis": _axis_angles,
    "quat.make_matrix": _of(quaternions, "q"),
    "rotation.pre_apply": _quaternions_and_matrices,
    "ik.zero_map": _zero_maps,
    "spline.position": _splines,
    "limb.solve": limbs,
    "spline.solve": splines,
}
