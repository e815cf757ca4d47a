"""The C runtime's functions: the ambiguous inputs by bit pattern, IEEE results at the edges, the measured samples.

An input is ambiguous when its exact result lies within 4 binary64 ulps of the midpoint of two float32 values: a libm
that is off by more than 0.6 ulp may round to the other neighbour. The lists are complete for acos on (-1, 1) and for sin
and cos on |x| <= 131071; the outputs were measured on msvcr90.dll (vectors/crt/README.md). A platform whose libm
passes them gives the reference's bits for every call of the solvers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxik.numerics import crt
from maxik.numerics.float32 import f32, from_hex, same_bits, to_hex

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "acos": crt.acos,
    "sin": crt.sin,
    "cos": crt.cos,
    "cos_half": lambda x: crt.cos(0.5 * x),
    "neg_sin_half": lambda x: -crt.sin(0.5 * x),
}

# function, input -> float32 of the runtime's result; the number is the distance to the midpoint in binary64 ulps
AMBIGUOUS = {
    "acos": """
        39826222:3fc907b4  0.04, rounding twice goes down, rounding once goes up
        328885a3:3fc90fda  0.28, the same
        bc406ccd:3fca90b6  -0.54
        3c8a2f9b:3fc6e716  2.02
        ba9d5f75:3fc93733  2.39
        3b7d281b:3fc89147  3.19
    """,
    "sin": """
        46199998:beb1fa5e  -0.35, rounding twice goes up, rounding once goes down
        c6199998:3eb1fa5e  -0.35
        4371ade3:3e62da56  1.11
        c371ade3:be62da56  1.11
        3ef3830f:3eea6f45  -2.41
        bef3830f:beea6f45  -2.41
        45a8abb3:3e51ade2  2.44
        c5a8abb3:be51ade2  2.44
        3dcf5597:3dcefaf9  2.96
        bdcf5597:bdcefaf9  2.96
    """,
    "cos": """
        3c107fe6:3f7ffd74  0.91
        bc107fe6:3f7ffd74  0.91
        39800000:3f800000  1.33
        b9800000:3f800000  1.33
        424790ce:3f6e4c01  -1.95
        c24790ce:3f6e4c01  -1.95
        3a544395:3f7ffffb  2.00
        ba544395:3f7ffffb  2.00
        42378db8:bea87a07  -3.36
        c2378db8:bea87a07  -3.36
    """,
    "cos_half": """
        3c907fe6:3f7ffd74  the cos inputs doubled
        bc907fe6:3f7ffd74
        3a000000:3f800000
        ba000000:3f800000
        42c790ce:3f6e4c01
        c2c790ce:3f6e4c01
        3ad44395:3f7ffffb
        bad44395:3f7ffffb
        42b78db8:bea87a07
        c2b78db8:bea87a07
    """,
    "neg_sin_half": """
        46999998:3eb1fa5e  the sin inputs doubled
        c6999998:beb1fa5e
        43f1ade3:be62da56
        c3f1ade3:3e62da56
        3f73830f:beea6f45
        bf73830f:3eea6f45
        4628abb3:be51ade2
        c628abb3:3e51ade2
        3e4f5597:bdcefaf9
        be4f5597:3dcefaf9
        00000001:80000000  odd angles below 2^-125: half of one is itself a midpoint, and sin(x) = x rounds to even
        80000001:00000000
        00000003:80000002
        00000005:80000002
        00000007:80000004
        00800001:80400000
        00800003:80400002
        007ffffd:803ffffe
        007fffff:80400000
        807fffff:00400000
        00fffffd:807ffffe
        00ffffff:80800000
        80ffffff:00800000
    """,
}
PAIRS = [(name, *line.split()[0].split(":")) for name, text in AMBIGUOUS.items() for line in text.strip().splitlines()]


@pytest.mark.parametrize(("name", "given_bits", "bits"), PAIRS)
def test_ambiguous_input_rounds_as_the_runtime_does(name: str, given_bits: str, bits: str) -> None:
    assert to_hex(f32(FUNCTIONS[name](from_hex(given_bits)))) == bits


@pytest.mark.shared
@pytest.mark.parametrize("name", ["acos_safe", "sin", "cos", "cos_half", "neg_sin_half"])
def test_every_measured_value_of_the_runtime(shared: Path, name: str) -> None:
    function = FUNCTIONS[name.removesuffix("_safe")]
    wrong = []
    for kind in ("ambiguous", "msvcr90"):
        lines = (shared / "vectors" / "crt" / f"{kind}_{name}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
        for case in map(json.loads, lines):
            x = from_hex(case["in"]["x"])
            if name == "acos_safe" and not -1.0 < x < 1.0:
                continue  # acos_safe is tests/model's
            if to_hex(f32(function(x))) != case["out"]["y"]:
                wrong.append(case["id"])
    assert wrong == []


@pytest.mark.shared
def test_every_measured_atan2(shared: Path) -> None:
    lines = (shared / "vectors" / "crt" / "msvcr90_atan2.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    cases = [json.loads(line) for line in lines]
    angles = [to_hex(f32(crt.atan2(from_hex(case["in"]["y"]), from_hex(case["in"]["x"])))) for case in cases]
    assert angles == [case["out"]["angle"] for case in cases]


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True))
def test_divide_is_ieee(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(np.float64(a) / np.float64(b))
    result = crt.divide(a, b)
    assert (math.isnan(result) and math.isnan(expected)) or (
        result == expected and math.copysign(1.0, result) == math.copysign(1.0, expected)
    )


@pytest.mark.parametrize("function", [crt.sin, crt.cos, crt.acos, crt.asin, crt.sqrt])
def test_nan_in_nan_out(function: Callable[[float], float]) -> None:
    assert math.isnan(function(math.nan))


def test_outside_their_domains_the_functions_give_nan() -> None:
    outside = [crt.sin(math.inf), crt.cos(-math.inf), crt.acos(1.5), crt.asin(-1.5), crt.acos(math.inf), crt.sqrt(-1.0)]
    assert all(map(math.isnan, outside))


def test_minus_zero_is_kept() -> None:
    for value in (crt.sqrt(-0.0), crt.sin(-0.0), crt.atan2(-0.0, 1.0)):
        assert same_bits(value, -0.0)
