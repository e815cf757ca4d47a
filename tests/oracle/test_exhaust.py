"""Exhaustion in samples: the ranges where rounding is hardest, and the program's own honesty."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from maxik.oracle import build as oracle_build
from maxik.oracle import exhaust as ex

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAXIK_ORACLE_CACHE", str(tmp_path_factory.mktemp("exhaust")))
        return ex.build_program()


@pytest.mark.parametrize("function", ex.FUNCTIONS)
@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0x00000000, 0x0000FFFF),
        (0x3EFF8000, 0x3F007FFF),
        (0x3F7F8000, 0x3F807FFF),
        (0x3FC88000, 0x3FC97FFF),
        (0x80000000, 0x80007FFF),
        (0xBF7F8000, 0xBF807FFF),
        (0xC7FF8000, 0xC8007FFF),
        (0x7F7FF000, 0x7F801000),
        (0xFFFFF000, 0xFFFFFFFF),
    ],
)
def test_every_input_of_a_hard_range_is_right(program: Path, function: str, first: int, last: int) -> None:
    found = ex.exhaust(program, function, first, last)
    assert found.wrong == 0, found.first_wrong
    assert found.checked in range(last - first + 2)


@pytest.mark.shared
@pytest.mark.parametrize("function", ["acos_safe", "cos_half", "neg_sin_half", "sin", "cos"])
def test_the_ambiguous_inputs_go_to_mpfr_and_are_msvcr90_s(program: Path, function: str, shared: Path) -> None:
    """Every input that is known to lie near a midpoint is undecided by long double, and MPFR has msvcr90's bits for it."""
    lines = (shared / "vectors" / "crt" / f"ambiguous_{function}.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if "in" in case]
    assert cases
    for case in cases:
        given, wanted = (int(_bits(case[key]), 16) for key in ("in", "out"))
        assert ex.rounded_bits(function, given) == wanted, case
        assert ex.exhaust(program, function, given, given).wrong == 0


def _bits(value: object) -> str:
    while isinstance(value, dict):
        value = next(iter(value.values()))
    return str(value)


@pytest.mark.parametrize("function", ex.LANE_FUNCTIONS)
def test_lanes_have_the_bits_of_the_scalar_path(function: str) -> None:
    program = ex.build_lanes_program()
    for first in (0x00000000, 0x38800000, 0x3EFFE000, 0x3F7FF000, 0x40490000, 0x461C3000, 0x7F7FF000, 0x80000000, 0xBF7FF000):
        found = ex.exhaust_lanes(program, function, f"{first:x}", f"{first + 0x1FFF:x}")
        assert found.wrong == 0, found.first_wrong
        assert found.checked % 0x2000 == 0
        assert found.checked > 0


def test_lanes_have_the_bits_of_the_scalar_path_for_pairs_and_quotients() -> None:
    program = ex.build_lanes_program()
    for found in (ex.exhaust_lanes(program, ex.ATAN2, "77", "2000000"), ex.exhaust_lanes(program, ex.DIVISION, "0", "0")):
        assert found.wrong == 0, found.first_wrong
        assert found.checked > 2_000_000


def test_a_lane_that_rounds_otherwise_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A polynomial that is off by 2^-36 is more than the guard allows for."""
    changed = tmp_path / "kernel"
    shutil.copytree(oracle_build.KERNEL, changed)
    source = (changed / "lane_functions.h").read_text(encoding="utf-8")
    exact = "wide(SIN_0)"
    assert exact in source
    (changed / "lane_functions.h").write_text(source.replace(exact, "wide(SIN_0 * (1.0 + 0x1p-30))"), encoding="utf-8")
    monkeypatch.setattr(ex, "KERNEL", changed)
    monkeypatch.setenv("MAXIK_ORACLE_CACHE", str(tmp_path / "cache"))
    found = ex.exhaust_lanes(ex.build_lanes_program(), "sin", "3f000000", "3f0fffff")
    assert found.wrong > 0
    assert found.first_wrong[0].startswith("sin ")


def test_a_wrong_function_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose square root and cosine are off by one ulp now and then is found out, by both ways of deciding."""
    changed = tmp_path / "kernel"
    shutil.copytree(oracle_build.KERNEL, changed)
    source = (changed / "matrix3.c").read_text(encoding="utf-8")
    exact = "t.c = F(crt_cos((double)angle));"
    assert exact in source
    (changed / "matrix3.c").write_text(
        source.replace(exact, "t.c = F(crt_cos((double)angle) * (1.0 + 1e-8));"), encoding="utf-8"
    )
    monkeypatch.setattr(ex, "KERNEL", changed)
    monkeypatch.setenv("MAXIK_ORACLE_CACHE", str(tmp_path / "cache"))
    found = ex.exhaust(ex.build_program(), "cos", 0x3F000000, 0x3F00FFFF)
    assert found.wrong > 1000
    assert found.first_wrong[0].startswith("cos 3f0")
