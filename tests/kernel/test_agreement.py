"""Two implementations, one truth: kernel and model agree on every bit, in both environments."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxik.kernel.engine import KernelEngine, is_built
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import same_bits, to_hex
from maxik.problems import LimbSolution, Vector
from maxik.profile import PROFILES
from maxik.verify.limb_problems import KINDS, make_problem

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")

A_BATCH = 50
problems = st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1)), min_size=A_BATCH, max_size=A_BATCH)
many = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)


def same(a: Vector | None, b: Vector | None) -> bool:
    if a is None or b is None:
        return a is b
    return all(same_bits(x, y) for x, y in zip(a, b, strict=True))


def shown(solution: LimbSolution) -> str:
    def bits(values: Vector | None) -> list[str] | None:
        return None if values is None else [to_hex(value) for value in values]

    return f"{solution.status} {bits(solution.rot_xyz)} {bits(solution.dof_zyx)}"


def compare(profile: str, batch: list[tuple[str, int]]) -> None:
    kernel, model = KernelEngine(PROFILES[profile]), ModelEngine(PROFILES[profile])
    for kind, seed in batch:
        problem = make_problem(kind, seed)
        a, b = kernel.solve_limb(problem), model.solve_limb(problem)
        assert a.status == b.status
        assert same(a.rot_xyz, b.rot_xyz), f"{kind} {seed}: kernel {shown(a)}, model {shown(b)}"
        assert same(a.dof_zyx, b.dof_zyx), f"{kind} {seed}: kernel {shown(a)}, model {shown(b)}"


@settings(many, max_examples=400)
@given(problems)
def test_kernel_and_model_agree_on_20000_problems_x87_53(batch: list[tuple[str, int]]) -> None:
    compare("candidate-1", batch)


@settings(many, max_examples=80)
@given(problems)
def test_kernel_and_model_agree_on_4000_problems_sse_32(batch: list[tuple[str, int]]) -> None:
    compare("max-2016-x64", batch)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_hazard_is_met(profile: str, kind: str) -> None:
    compare(profile, [(kind, seed) for seed in range(40)])
