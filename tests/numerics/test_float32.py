"""float32 rounding and bit helpers, against numpy's float32 and the layout of IEEE 754 binary32."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxik.numerics.float32 import (
    FLT_EPSILON,
    FLT_MAX,
    f32,
    from_bits,
    from_hex,
    ordinal,
    same_bits,
    step,
    to_bits,
    to_hex,
    ulp_distance,
)

PATTERNS = st.integers(0, 2**32 - 1)
DOUBLES = st.floats(allow_nan=True, allow_infinity=True)
FLOATS = st.floats(width=32, allow_nan=False)


@given(DOUBLES)
def test_f32_rounds_as_numpy_does(x: float) -> None:
    with np.errstate(over="ignore"):
        assert same_bits(f32(x), float(np.float32(x)))


@pytest.mark.parametrize(
    ("x", "rounded"),
    [
        (1.0 + 2.0**-24, 1.0),  # a midpoint goes to even: down here
        (1.0 + 3 * 2.0**-24, 1.0 + 2.0**-22),  # and up here
        (2.0**-150, 0.0),  # half the smallest denormal
        (2.0**-150 * (1 + 2.0**-52), 2.0**-149),
        (FLT_MAX + 2.0**103, math.inf),  # midpoint between FLT_MAX and the next power of two
        (math.nextafter(FLT_MAX + 2.0**103, 0.0), FLT_MAX),
        (-1e300, -math.inf),
    ],
)
def test_f32_at_midpoints_and_limits(x: float, rounded: float) -> None:
    assert f32(x) == rounded


def test_f32_keeps_the_sign_of_zero() -> None:
    assert math.copysign(1.0, f32(-1e-300)) == -1.0


@given(PATTERNS)
def test_bits_go_there_and_back(bits: int) -> None:
    x = from_bits(bits)
    assert to_bits(x) == (0x7FC00000 if math.isnan(x) else bits)


@given(PATTERNS)
def test_hex_goes_there_and_back(bits: int) -> None:
    x = from_bits(bits)
    assert same_bits(from_hex(to_hex(x)), x)


def test_hex_of_known_values() -> None:
    assert (to_hex(1.0), to_hex(-0.0), to_hex(math.nan), to_hex(-math.inf)) == ("3f800000", "80000000", "nan", "ff800000")
    assert float(np.finfo(np.float32).eps) == FLT_EPSILON
    assert float(np.finfo(np.float32).max) == FLT_MAX


@pytest.mark.parametrize("text", ["", "3F800000", "3f80000", "3f8000000", "0x3f8000", "3f80000g", "+3f80000", "NaN"])
def test_from_hex_refuses_what_is_no_bit_pattern(text: str) -> None:
    with pytest.raises(ValueError, match="bit pattern"):
        from_hex(text)


@given(FLOATS, st.integers(-1000, 1000))
def test_step_and_distance_agree(x: float, ulps: int) -> None:
    there = step(x, ulps)
    if math.isfinite(there):
        assert ordinal(there) - ordinal(x) == ulps
        assert ulp_distance(x, there) == abs(ulps)


@given(FLOATS.filter(math.isfinite))
def test_one_step_is_the_next_float(x: float) -> None:
    with np.errstate(over="ignore"):
        assert step(x, 1) == float(np.nextafter(np.float32(x), np.float32(math.inf)))


def test_step_stops_at_the_infinities() -> None:
    assert step(FLT_MAX, 5) == math.inf
    assert step(-FLT_MAX, -5) == -math.inf


def test_distance_is_none_for_nan_and_zero_between_the_zeros() -> None:
    assert ulp_distance(math.nan, 1.0) is None
    assert ulp_distance(-0.0, 0.0) == 0


def test_same_bits_tells_zeros_apart_and_nans_not() -> None:
    assert same_bits(math.nan, -math.nan)
    assert not same_bits(math.nan, 0.0)
    assert not same_bits(0.0, -0.0)
    assert same_bits(-0.0, -0.0)
