"""Writes kernel/lane_polynomials.h: the polynomials of sin, cos, asin and atan in binary64 lanes, each with its error.

    python kernel/make_lane_polynomials.py > kernel/lane_polynomials.h

A polynomial interpolates its function at Chebyshev nodes, in MPFR at 200 bits; the coefficients are then rounded to
binary64, and the relative error of the whole function with these rounded coefficients is taken on a dense grid.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr

_GRID = 20_000


@dataclass(frozen=True)
class Wanted:
    """A polynomial P(z) of `degree` on [0, end], z = r * r, where function(r) = whole(r, z, P(z))."""

    name: str
    formula: str
    degree: int
    end: Callable[[], mpfr]
    function: Callable[[mpfr], mpfr]
    inner: Callable[[mpfr, mpfr], mpfr]
    whole: Callable[[mpfr, mpfr, mpfr], mpfr]


WANTED = (
    Wanted(
        "SIN",
        "sin(r) = r + r * z * P(z), |r| <= pi / 4",
        5,
        lambda: (gmpy2.const_pi() / 4) ** 2,
        gmpy2.sin,
        lambda r, z: (gmpy2.sin(r) / r - 1) / z,
        lambda r, z, p: r + r * z * p,
    ),
    Wanted(
        "COS",
        "cos(r) = 1 - z / 2 + z * z * P(z), |r| <= pi / 4",
        4,
        lambda: (gmpy2.const_pi() / 4) ** 2,
        gmpy2.cos,
        lambda r, z: (gmpy2.cos(r) - 1 + z / 2) / (z * z),
        lambda _, z, p: 1 - z / 2 + z * z * p,
    ),
    Wanted(
        "ASIN",
        "asin(r) = r + r * z * P(z), |r| <= 1 / 2",
        10,
        lambda: mpfr("0.25"),
        gmpy2.asin,
        lambda r, z: (gmpy2.asin(r) / r - 1) / z,
        lambda r, z, p: r + r * z * p,
    ),
    Wanted(
        "ATAN",
        "atan(r) = r + r * z * P(z), |r| <= sqrt(2) - 1",
        8,
        lambda: (gmpy2.sqrt(mpfr(2)) - 1) ** 2,
        gmpy2.atan,
        lambda r, z: (gmpy2.atan(r) / r - 1) / z,
        lambda r, z, p: r + r * z * p,
    ),
)


def interpolated(wanted: Wanted) -> list[float]:
    """Return the coefficients, that of z^0 first, rounded to binary64."""
    count = wanted.degree + 1
    half = wanted.end() / 2
    nodes = [half * (1 + gmpy2.cos(gmpy2.const_pi() * (2 * k + 1) / (2 * count))) for k in range(count)]
    rows = [[z**power for power in range(count)] + [wanted.inner(gmpy2.sqrt(z), z)] for z in nodes]
    for i in range(count):
        for other in range(count):
            if other != i:
                factor = rows[other][i] / rows[i][i]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[i], strict=True)]
    return [float(rows[i][count] / rows[i][i]) for i in range(count)]


def largest_error(wanted: Wanted, coefficients: Sequence[float]) -> float:
    """Return the largest relative error of the function on the grid, evaluated without rounding."""
    worst = mpfr(0)
    for step in range(1, _GRID + 1):
        z = wanted.end() * step / _GRID
        r = gmpy2.sqrt(z)
        polynomial = mpfr(0)
        for coefficient in reversed(coefficients):
            polynomial = polynomial * z + coefficient
        worst = max(worst, abs(wanted.whole(r, z, polynomial) / wanted.function(r) - 1))
    return float(worst)


def header() -> Iterator[str]:
    """Return the lines of the header."""
    yield "/* Polynomials of the functions in binary64 lanes; written by make_lane_polynomials.py, z = r * r. */"
    yield "#ifndef MAXIK_LANE_POLYNOMIALS_H"
    yield "#define MAXIK_LANE_POLYNOMIALS_H"
    with gmpy2.context(precision=200):
        for wanted in WANTED:
            coefficients = interpolated(wanted)
            yield ""
            yield f"/* {wanted.formula}: relative error below 2^{float(gmpy2.log2(largest_error(wanted, coefficients))):.1f} */"
            for power, coefficient in enumerate(coefficients):
                yield f"#define {wanted.name}_{power} {coefficient!r}"
    yield ""
    yield "#endif"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in header())
