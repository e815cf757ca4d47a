"""The C runtime's binary64 functions, with IEEE results where Python would raise.

The reference's msvcr90 is settled: for every float32 input of the solvers' calls, a binary64 function with an error
below 0.6 ulp, rounded to float32, gives its bits (vectors/crt/README.md). Python's `math` calls the platform's libm,
which meets that on every platform where the ambiguous inputs pass (tests/numerics/test_crt.py).
"""

from __future__ import annotations

import math

PI = 3.14159265358979323846  # the double constant of spec 2.1


def sqrt(x: float) -> float:
    """Return the binary64 square root; NaN below zero, -0 for -0."""
    return math.nan if x < 0.0 else math.sqrt(x)


def sin(x: float) -> float:
    """Return the binary64 sine of `x` radians; NaN for an infinity."""
    return math.nan if math.isinf(x) else math.sin(x)


def cos(x: float) -> float:
    """Return the binary64 cosine of `x` radians; NaN for an infinity."""
    return math.nan if math.isinf(x) else math.cos(x)


def acos(x: float) -> float:
    """Return the binary64 arc cosine in radians; NaN outside [-1, 1]."""
    return math.acos(x) if -1.0 <= x <= 1.0 else math.nan


def asin(x: float) -> float:
    """Return the binary64 arc sine in radians; NaN outside [-1, 1]."""
    return math.asin(x) if -1.0 <= x <= 1.0 else math.nan


def atan2(y: float, x: float) -> float:
    """Return the binary64 angle of (x, y) in radians, signed zeros kept."""
    return math.atan2(y, x)


def divide(a: float, b: float) -> float:
    """Return a / b in binary64 as IEEE 754 has it: infinities and NaN instead of ZeroDivisionError."""
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)
