"""Splines: the certified leap has the literal march's bits, and kernel and model agree on every one of them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxik.kernel.choices import LEAP, LITERAL
from maxik.kernel.engine import KernelEngine, is_built
from maxik.kernel.settings import KernelSettings
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import to_hex
from maxik.problems import SplineSolution
from maxik.profile import PROFILES
from maxik.verify.spline_problems import KINDS, make_problem

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")
many = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)


def bits(value: object) -> object:
    if isinstance(value, float):
        return to_hex(value)
    return [bits(entry) for entry in value] if isinstance(value, tuple) else value


def found(solution: SplineSolution) -> list[object]:
    """Return everything that a solve finds, as bits; not how often it sampled."""
    names = ("status", "bone_lengths", "u", "points", "euler", "frames", "directions")
    return [bits(getattr(solution, name)) for name in names]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_leap_has_the_bits_of_the_literal_march_on_200_problems(kind: str) -> None:
    leap, literal = (KernelEngine(PROFILES["candidate-1"], KernelSettings(march)) for march in (LEAP, LITERAL))
    for seed in range(200):
        problem = make_problem(kind, seed)
        assert found(leap.solve_spline(problem)) == found(literal.solve_spline(problem)), f"{kind} {seed}"


@settings(many, max_examples=60)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1))
def test_kernel_and_model_agree(kind: str, seed: int) -> None:
    for profile in PROFILES.values():
        problem = make_problem(kind, seed)
        assert found(KernelEngine(profile).solve_spline(problem)) == found(ModelEngine(profile).solve_spline(problem))


def test_the_leap_takes_a_small_part_of_the_samples() -> None:
    leap, literal = (KernelEngine(PROFILES["candidate-1"], KernelSettings(march)) for march in (LEAP, LITERAL))
    problems = [make_problem("open_curve", seed) for seed in range(100)]
    few, all_of_them = (sum(engine.solve_spline(problem).samples for problem in problems) for engine in (leap, literal))
    assert 30 * few < all_of_them


def test_sse_32_marches_literally() -> None:
    engines = [KernelEngine(PROFILES["max-2016-x64"], KernelSettings(march)) for march in (LEAP, LITERAL)]
    problem = make_problem("open_curve", 1)
    first, second = (engine.solve_spline(problem) for engine in engines)
    assert first == second
