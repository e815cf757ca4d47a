"""Spline solves: the certified leap against the literal march, problems in turn, in one run.

The same problem again and again would train the branch predictor and flatter the leap; each round goes through all
problems of a kind. The group's ratio is what counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from maxik.kernel.choices import MARCHES
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.profile import PROFILES
from maxik.verify.spline_problems import KINDS, make_problem

PROBLEMS = 200


@pytest.mark.parametrize("march", MARCHES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "degenerate"])
def test_march(benchmark: BenchmarkFixture, kind: str, march: str) -> None:
    benchmark.group = f"spline, {PROBLEMS} problems of kind {kind}"
    engine = KernelEngine(PROFILES["candidate-1"], KernelSettings(march))
    calls = [engine.spline_call(make_problem(kind, seed)) for seed in range(PROBLEMS)]

    def solve_all() -> None:
        for call in calls:
            call.solve()

    benchmark.pedantic(solve_all, rounds=7, warmup_rounds=1)
    benchmark.extra_info["samples_a_solve"] = sum(call.struct.samples for call in calls) / PROBLEMS
