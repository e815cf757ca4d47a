"""The two register types: binary64 arithmetic (`Wide`) and binary32 per operation (`Single`), IEEE throughout."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxik.numerics.float32 import same_bits
from maxik.numerics.registers import ENVIRONMENTS, Single, Wide

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("operation", OPERATIONS)
@given(a=FLOATS, b=FLOATS)
def test_single_rounds_every_operation_to_binary32(operation: Callable[[object, object], float], a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(operation(np.float32(a), np.float32(b)))
    assert same_bits(operation(Single(a), b), expected)
    assert same_bits(operation(a, Single(b)), expected)
    assert isinstance(operation(Single(a), Single(b)), Single)


@pytest.mark.parametrize("operation", OPERATIONS)
@given(a=FLOATS, b=FLOATS)
def test_wide_is_binary64(operation: Callable[[object, object], float], a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(operation(np.float64(a), np.float64(b)))
    for result in (operation(Wide(a), b), operation(a, Wide(b))):
        assert result == expected or (result != result and expected != expected)  # noqa: PLR0124 - NaN
        assert isinstance(result, Wide)


def test_a_sum_of_products_shows_the_environment() -> None:
    """1 + 2^-24 + 2^-24 keeps the small terms in a 53-bit register and loses each of them in a 24-bit one (spec 1.1)."""
    small = 2.0**-24
    assert ENVIRONMENTS["x87-53"](1.0) + small + small == 1.0 + 2.0**-23
    assert ENVIRONMENTS["sse-32"](1.0) + small + small == 1.0


def test_int_literals_are_promoted() -> None:
    assert [float(2 * register(1.5)) for register in ENVIRONMENTS.values()] == [3.0, 3.0]


def test_negation_turns_zero_into_minus_zero() -> None:
    assert same_bits(-Wide(0.0), -0.0)
    assert same_bits(-Single(0.0), -0.0)
