"""Limb solves by every path, preferred poses that stay and that move, kernel against model. Ratios in one run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.model.engine import ModelEngine
from maxik.profile import PROFILES
from takes import limb_take

FRAMES = 100_000


@pytest.mark.parametrize("path", KernelEngine(PROFILES["candidate-1"]).limb_paths())
@pytest.mark.parametrize("pose", ["staying", "moving"])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_paths(benchmark: BenchmarkFixture, profile: str, pose: str, path: str) -> None:
    benchmark.group = f"limb, {FRAMES:,} frames, {profile}, preferred pose {pose} (divide by {FRAMES:,} for one frame)"
    take = limb_take(FRAMES)
    if pose == "moving":
        wobble = np.linspace(0.0, 1e-3, FRAMES, dtype=np.float32)[:, None]
        take = replace(take, root_init_xyz=np.ascontiguousarray(take.root_init_xyz + wobble))
    engine = KernelEngine(PROFILES[profile], KernelSettings(limb_path=path, threads=1))
    solution = benchmark.pedantic(engine.solve_limb_take, (take,), rounds=7, warmup_rounds=1)
    assert np.isfinite(solution.rot_xyz).all()


@pytest.mark.benchmark(group="limb, 100 frames in one call")
@pytest.mark.parametrize("engine", ["kernel", "model"])
def test_engines(benchmark: BenchmarkFixture, engine: str) -> None:
    make = {"kernel": KernelEngine, "model": ModelEngine}[engine]
    benchmark(make(PROFILES["candidate-1"]).solve_limb_take, limb_take(100))
