"""Angles: acos_safe (spec 2.1), the sine and cosine pairs of the matrix builders, and the x87 instruction fsincos.

Everything but `fsincos` is a binary64 function of the C runtime on promoted arguments (`maxik.numerics.crt`).

`fsincos` (spec 2.9) is computed in integers. The instruction takes the 32-bit angle, reduces it by its own pi of 66
bits, 0xC90FDAA22168C234C * 2^-66, and returns 64-bit mantissas whatever the control word; the stores then round to
float32. Here the reduction is exact for that pi and the series is carried to 192 bits or more, rounded to 64 bits, then
to 24. Where this may differ from silicon: Intel documents the instruction to within one unit of the 64th bit, so a
float32 can differ when the true value lies that close to a midpoint of two float32 values (about one argument in
2^38); processors with a longer pi differ near multiples of pi/2 of large arguments.
"""

from __future__ import annotations

import math

from maxik.numerics import crt
from maxik.numerics.float32 import f32

_PI_66 = 0xC90FDAA22168C234C  # times 2^-66
_PLACES = 256  # binary places of the fixed-point numbers
_HALF_PI = _PI_66 << (_PLACES - 67)
_QUARTER_PI = _HALF_PI >> 1
_ONE = 1 << _PLACES
_TINY = 2.0**-30  # below it sine and cosine round to x and 1
_LIMIT = 2.0**63  # from it on the instruction does nothing but set C2
_X87_BITS = 64
_FLOAT_BITS = 24


def acos_safe(x: float) -> float:
    """Return the binary64 arc cosine of the float32 `x`, pi and 0 outside (-1, 1); NaN for NaN (spec 2.1, reading 3)."""
    return crt.PI if x <= -1.0 else 0.0 if x >= 1.0 else crt.acos(x)


def sin_cos(angle: float) -> tuple[float, float]:
    """Return (f(sin a), f(cos a)), the argument promoted to binary64 (core-profile.md, matrix3.pre_rotate)."""
    return f32(crt.sin(angle)), f32(crt.cos(angle))


def fsincos(angle: float) -> tuple[float, float]:
    """Return (sine, cosine) as one fsincos of the float32 `angle` and two 32-bit stores give them (spec 2.9).

    NaN and infinities give NaN twice. From 2^63 on the instruction leaves its operand: the first store (cosine) gets
    the angle, the second finds an empty register and gets NaN.
    """
    if not math.isfinite(angle):
        return math.nan, math.nan
    if abs(angle) < _TINY:
        return angle, 1.0
    if abs(angle) >= _LIMIT:
        return math.nan, angle
    numerator, denominator = angle.as_integer_ratio()
    fixed = numerator * (_ONE // denominator)
    turns = (fixed + _QUARTER_PI) // _HALF_PI
    sine, cosine = _series(fixed - turns * _HALF_PI)
    sine, cosine = ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[turns % 4]
    return _store(sine), _store(cosine)


def _series(x: int) -> tuple[int, int]:
    """Return sine and cosine of the fixed-point `x` by their Taylor series."""
    sums = [0, 0]
    term, order = _ONE, 0
    while term not in (0, -1):
        sums[order % 2] += -term if order % 4 in (2, 3) else term
        order += 1
        term = ((term * x) >> _PLACES) // order
    return sums[1], sums[0]


def _store(x: int) -> float:
    """Return the fixed-point `x` rounded to a 64-bit mantissa, then to 24 bits."""
    return math.ldexp(_rounded(_rounded(x, _X87_BITS), _FLOAT_BITS), -_PLACES)


def _rounded(x: int, bits: int) -> int:
    """Return `x`, of more than `bits` bits, rounded to that many, nearest-even, at its own scale.

    No sine or cosine here is so small: no float32 lies nearer than 2^-67 to a multiple of pi/2 other than zero.
    """
    spare = abs(x).bit_length() - bits
    half = 1 << (spare - 1)
    quotient, rest = divmod(abs(x), 1 << spare)
    quotient += rest > half or (rest == half and quotient & 1)
    return (quotient << spare) * (1 if x > 0 else -1)
