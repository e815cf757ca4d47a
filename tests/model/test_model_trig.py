"""acos_safe at its limits, and fsincos against the instruction itself.

The fsincos bits were measured by executing the instruction on x86-64 processors (input, sine, cosine; float32): they show
the 66-bit pi for large angles, and the operand left alone from 2^63 on.
"""

from __future__ import annotations

import math

import pytest

from maxik.model.trig import acos_safe, fsincos
from maxik.numerics import crt
from maxik.numerics.float32 import f32, from_hex, step, to_hex

MEASURED = """
00000000 00000000 3f800000
80000000 80000000 3f800000
00000001 00000001 3f800000
3f490fdb 3f3504f3 3f3504f3
3fc90fdb 3f800000 b33bbd2e
40490fdb b3bbbd2e bf800000
54e9a773 3e5cbffc bf79fb0e
56854e52 bf687b53 3ed65dd1
d74c2621 3f7d710d 3e10686d
57cd45f4 3f354062 bf34c971
d6752af5 3e60dc8a bf79c065
59c6d19a 3f7abdcf be4e7bf5
5b4e7e72 3f50d1d7 bf1416c6
dc609e47 bf7fde5d 3d03366b
d5351638 bf7ec97e bdc7200a
5dff0ba5 bf274835 bf41c905
de432b74 bf5a6d4d bf058346
5effffff 3e544316 bf7a7091
5f000000 nan 5f000000
7f800000 nan nan
7fc00000 nan nan
"""


@pytest.mark.parametrize("line", MEASURED.split("\n")[1:-1])
def test_fsincos_gives_the_bits_of_the_instruction(line: str) -> None:
    angle, sine, cosine = line.split()
    assert [to_hex(x) for x in fsincos(from_hex(angle.replace("7fc00000", "nan")))] == [sine, cosine]


@pytest.mark.parametrize(("angle", "sine"), [("46199998", "beb1fa5d"), ("c6199998", "3eb1fa5d")])
def test_fsincos_rounds_once_where_binary64_rounds_twice(angle: str, sine: str) -> None:
    """The ambiguous sine of the runtime's default path: its x87 path gives the nearest float32 (vectors/crt/README.md)."""
    x = from_hex(angle)
    assert to_hex(fsincos(x)[0]) == sine
    assert to_hex(f32(crt.sin(x))) != sine


@pytest.mark.parametrize("exponent", range(-148, 63))
def test_fsincos_is_a_sine_and_a_cosine(exponent: int) -> None:
    sine, cosine = fsincos(f32(1.25 * 2.0**exponent))
    assert sine * sine + cosine * cosine == pytest.approx(1.0, abs=2e-7)
    if exponent < 20:
        assert sine == pytest.approx(math.sin(1.25 * 2.0**exponent), rel=2e-7)


def test_acos_safe_at_and_beyond_its_limits() -> None:
    assert (acos_safe(1.0), acos_safe(step(1.0, 1)), acos_safe(math.inf)) == (0.0, 0.0, 0.0)
    assert (acos_safe(-1.0), acos_safe(step(-1.0, -1)), acos_safe(-math.inf)) == (math.pi, math.pi, math.pi)
    assert math.isnan(acos_safe(math.nan))


def test_one_step_below_one_is_the_acos_noise_of_the_limb() -> None:
    """acos(1 - 2^-24) = 3.45267e-4, the noise that 3ds Max's own exports show (LIMB3.md)."""
    assert acos_safe(step(1.0, -1)) == pytest.approx(3.45267e-4, rel=1e-5)
