"""float32 values as Python floats: rounding, bit patterns, distances.

A float32 is held in a Python float (binary64) whose value is exactly representable in binary32. `f32` is the only
place where a value is rounded to binary32; core-profile.md writes it f(e).
"""

from __future__ import annotations

import math
import struct
from ctypes import c_float

FLT_EPSILON = 2.0**-23
FLT_MAX = 3.4028234663852886e38
_BITS = struct.Struct("<I")
_FLOAT = struct.Struct("<f")
_SIGN = 0x80000000


def f32(x: float) -> float:
    """Return `x` rounded once to binary32, nearest-even; overflow gives an infinity (core-profile.md, Notation)."""
    return c_float(x).value


def to_bits(x: float) -> int:
    """Return the 32 bits of the float32 value `x` (a NaN gives 0x7fc00000)."""
    if math.isnan(x):
        return 0x7FC00000
    return int(_BITS.unpack(_FLOAT.pack(x))[0])


def from_bits(bits: int) -> float:
    """Return the float32 value with the 32 bits `bits`."""
    return float(_FLOAT.unpack(_BITS.pack(bits))[0])


def to_hex(x: float) -> str:
    """Return the bit pattern of the float32 `x` as vector files write it: 8 hex digits, or "nan"."""
    return "nan" if math.isnan(x) else f"{to_bits(x):08x}"


def from_hex(text: str) -> float:
    """Return the float32 that a vector file writes as `text`; ValueError when it is not 8 lower-case hex digits or "nan"."""
    if text == "nan":
        return math.nan
    if len(text) != 8 or any(c not in "0123456789abcdef" for c in text):  # noqa: PLR2004 - 8 hex digits are 32 bits
        message = f"{text!r} is not a float32 bit pattern of 8 lower-case hex digits"
        raise ValueError(message)
    return from_bits(int(text, 16))


def ordinal(x: float) -> int:
    """Return the place of the float32 `x` on the line of all float32 values; both zeros are 0."""
    bits = to_bits(x)
    return -(bits - _SIGN) if bits & _SIGN else bits


def ulp_distance(a: float, b: float) -> int | None:
    """Return how many float32 values lie between `a` and `b`; None when either is a NaN. -0 and +0 are 0 apart."""
    if math.isnan(a) or math.isnan(b):
        return None
    return abs(ordinal(a) - ordinal(b))


def step(x: float, ulps: int) -> float:
    """Return the float32 that lies `ulps` places above `x` (below when negative), not past the infinities."""
    place = max(-0x7F800000, min(0x7F800000, ordinal(x) + ulps))
    return from_bits(place) if place >= 0 else from_bits(_SIGN - place)


def same_bits(a: float, b: float) -> bool:
    """Tell whether two float32 values are the same: any NaN equals any NaN, -0 differs from +0 (vector-format.md)."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
