"""Limb solves: the literal initialisation every frame against once a take; kernel against model. Ratios in one run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from maxik.kernel.engine import KernelEngine
from maxik.model.engine import ModelEngine
from maxik.problems import LimbTake
from maxik.profile import PROFILES

FRAMES = 100_000


def walking_limb(frames: int, profile: str) -> LimbTake:
    """Return a limb whose goal circles smoothly before it, as in a walk."""
    engine = KernelEngine(PROFILES[profile])

    def row(*values: float) -> np.ndarray:
        return np.array([values], np.float32)

    angle = np.linspace(0.0, 40.0, frames)
    goal = np.zeros((frames, 12), np.float32)
    goal[:, [0, 4, 8]] = 1.0
    goal[:, 9:] = np.stack([6.0 + np.cos(angle), 2.0 * np.sin(angle), np.sin(0.7 * angle)], axis=1)
    pose = (row(0.1, 0.2, 0.3), row(5.0, 0.0, 0.0), row(0.9, 0.0, 0.0), row(4.5, 0.0, 0.0))
    n0, a0 = engine.initial_plane(3, *pose)
    return LimbTake(frames, 3, *pose, goal, "start-joint", np.full(1, 0.3, np.float32), None, n0, a0)


@pytest.mark.benchmark(group="limb, 100,000 frames in one call (divide by 100,000 for one frame)")
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("pose", ["constant", "changing"])
def test_kernel_take(benchmark: BenchmarkFixture, profile: str, pose: str) -> None:
    take = walking_limb(FRAMES, profile)
    if pose == "changing":
        wobble = np.linspace(0.0, 1e-3, FRAMES, dtype=np.float32)[:, None]
        take = replace(take, root_init_xyz=np.ascontiguousarray(take.root_init_xyz + wobble))
    engine = KernelEngine(PROFILES[profile])
    solution = benchmark(engine.solve_limb_take, take)
    assert np.isfinite(solution.rot_xyz).all()


@pytest.mark.benchmark(group="limb, 100 frames in one call")
@pytest.mark.parametrize("engine", ["kernel", "model"])
def test_engines(benchmark: BenchmarkFixture, engine: str) -> None:
    make = {"kernel": KernelEngine, "model": ModelEngine}[engine]
    take = walking_limb(100, "candidate-1")
    benchmark(make(PROFILES["candidate-1"]).solve_limb_take, take)
