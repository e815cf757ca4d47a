"""Noise as a discriminator: the acos of a float32 dot product near 1 shows how a normaliser rounds (LIMB3.md).

At swivel 0 a limb's swivel is acos(p % p), p the zero map's output. The float32 sum p % p is 1 - n * 2^-24, so the solved
start joint is turned about the end-effector axis by sqrt(n) * 3.45267e-4 rad. No single n can be foretold, since the
inputs of an export carry a float32 step of noise; but how often each n comes depends on how the vector was
normalised. The distribution that a candidate predicts, over the cases' own poses jittered within their accuracy, is held
against the one seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32
from maxik.problems import Engine, LimbProblem, Vector
from maxik.profile import ENVIRONMENT, PROFILES, CoreProfile, candidates_in
from maxik.vectors import LIMB_SOLVE, VectorFile, limb_problem, read_vectors
from maxik.verify.rotations import Float64s, euler_xyz_matrix, turn_between

STEP = math.acos(1.0 - 2.0**-24)
"""The turn of one step, radians: 3.45267e-4."""
BINS = 4
"""n = 0, 1, 2, and 3 or more."""
JITTERS = 4
"""Draws of the inputs' noise: each component of the goal moves by up to one float32 step."""
NORMALISERS = ("point3.normalize", "point3.length_unify")


@dataclass(frozen=True)
class NoisePose:
    """A pose with swivel 0, in reach: the problem, the start joint's rotation without noise (3, 3), and n as exported."""

    problem: LimbProblem
    noise_free: Float64s
    steps: int


@dataclass(frozen=True)
class NoiseRow:
    """What one candidate predicts: expected counts of n = 0, 1, 2, 3 or more, and the log-likelihood of the counts seen."""

    environment: str
    candidate: str
    expected: tuple[float, ...]
    log_likelihood: float


@dataclass(frozen=True)
class NoiseTest:
    """Counts of n seen in `poses` poses, and a row for every normaliser, the likeliest first."""

    poses: int
    seen: tuple[int, ...]
    rows: tuple[NoiseRow, ...]


def noise_test(paths: Sequence[str | Path], environments: Sequence[str]) -> NoiseTest | None:
    """Return the test on the files' poses, for each normaliser used throughout; None when they hold no such poses."""
    poses = [pose for file in map(read_vectors, paths) for pose in noise_poses(file)]
    if not poses:
        return None
    seen = histogram([pose.steps for pose in poses])
    rows = []
    for environment in environments:
        base = PROFILES["candidate-1"].with_candidate(ENVIRONMENT, environment)
        for candidate in candidates_in(NORMALISERS[0], environment):
            expected = predicted(ModelEngine(_with_normaliser(base, candidate)), poses)
            rows.append(NoiseRow(environment, candidate, expected, log_likelihood(seen, expected)))
    return NoiseTest(len(poses), seen, tuple(sorted(rows, key=lambda row: -row.log_likelihood)))


def noise_poses(file: VectorFile) -> list[NoisePose]:
    """Return the cases that carry `swivel_steps` and `noise_free`, with swivel 0 beyond doubt and the goal in reach."""
    if file.item != LIMB_SOLVE:
        return []
    poses = []
    for case in file.cases:
        extra: Any = case.extra
        if "swivel_steps" not in extra or extra.get("swivel_small_unknown") or extra.get("reach") != "inside":
            continue
        problem = limb_problem(file, case)
        if problem.swivel_angle == 0.0 and problem.vh_target is None:
            free = np.array(extra["noise_free"]["root"], np.float64).reshape(3, 3)
            poses.append(NoisePose(problem, free, int(extra["swivel_steps"])))
    return poses


def steps_of(engine: Engine, pose: NoisePose) -> int:
    """Return n of the engine's own solution, from the turn between it and the pose without noise."""
    return _steps(engine.solve_limb(pose.problem).rot_xyz, pose.noise_free)


def predicted(engine: Engine, poses: Sequence[NoisePose], jitters: int = JITTERS) -> tuple[float, ...]:
    """Return expected counts of n over the poses, averaged over jittered inputs; the same jitter for every engine."""
    draws = np.random.default_rng(0).integers(-1, 2, (jitters, len(poses), 3))
    total = np.zeros(BINS)
    for draw in draws:
        jittered = [replace(pose, problem=_jittered(pose.problem, row)) for pose, row in zip(poses, draw, strict=True)]
        total += histogram([steps_of(engine, pose) for pose in jittered])
    return tuple((total / jitters).tolist())


def histogram(steps: Sequence[int]) -> tuple[int, ...]:
    """Return how often n is 0, 1, 2, 3 or more."""
    return tuple(np.bincount(np.minimum(steps, BINS - 1), minlength=BINS).tolist())


def log_likelihood(seen: Sequence[int], expected: Sequence[float]) -> float:
    """Return the log-likelihood of counts under expected ones; half a count is added to each, so that none is impossible."""
    total = sum(expected) + 0.5 * len(expected)
    return sum(count * math.log((wanted + 0.5) / total) for count, wanted in zip(seen, expected, strict=True))


def _with_normaliser(base: CoreProfile, candidate: str) -> CoreProfile:
    for item in NORMALISERS:
        base = base.with_candidate(item, candidate)
    return base


def _jittered(problem: LimbProblem, steps: Sequence[int]) -> LimbProblem:
    goal: Vector = problem.goal or ()
    moved = tuple(f32(x + int(k) * float(np.spacing(np.float32(abs(x))))) for x, k in zip(goal[9:], steps, strict=True))
    return replace(problem, goal=(*goal[:9], *moved))


def _steps(angles: Vector | None, noise_free: Float64s) -> int:
    turn = math.nan if angles is None else turn_between(noise_free, euler_xyz_matrix(angles))
    return round((turn / STEP) ** 2) if math.isfinite(turn) else BINS
