"""Tallies: how a profile does on all trials, which of two does better, and when one refutes the other.

A profile is refuted by another one when

- the other gives every compared bit pattern and this one does not, or
- the other keeps every tolerance and this one exceeds one at least twofold, or
- this one is worse in at least 99 % of 2000 resamples of the trials (a bootstrap, seed 0) in its wrong bit patterns, its
  exceeded tolerances, or its squared residuals. For residuals, Gaussian errors of unknown size must also make it a
  thousand times less likely: N ln(rms / rms of the other) >= ln 1000. One flipped threshold in one pose is not enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from maxik.characterise.trials import Judgement, Trial
from maxik.model.engine import ModelEngine
from maxik.profile import CoreProfile

RESAMPLES = 2000
CONFIDENCE = 0.99
LEAST_NATS = math.log(1000.0)
EXCEEDED_TWOFOLD = 2.0


@dataclass(frozen=True)
class Tally:
    """A profile on all trials; arrays have one entry a trial (`residuals` is the number of angles, in all)."""

    profile: CoreProfile
    words: tuple[tuple[object, ...], ...]
    wrong: NDArray[np.int64]
    compared: int
    excess: NDArray[np.float64]
    squares: NDArray[np.float64]
    residuals: int

    @property
    def right(self) -> int:
        """Bit patterns that are right."""
        return self.compared - int(self.wrong.sum())

    @property
    def exceeded(self) -> int:
        """Trials with a turn beyond the tolerance."""
        return int((self.excess > 1.0).sum())

    @property
    def rms(self) -> float:
        """Root mean square of the residuals, radians; 0 without any."""
        return math.sqrt(float(self.squares.sum()) / self.residuals) if self.residuals else 0.0


def tally(profile: CoreProfile, trials: Sequence[Trial]) -> Tally:
    """Judge a profile by every trial, with the model."""
    engine = ModelEngine(profile)
    with np.errstate(all="ignore"):
        judgements: list[Judgement] = [trial.judge(engine) for trial in trials]
    return Tally(
        profile=profile,
        words=tuple(judgement.words for judgement in judgements),
        wrong=np.array([judgement.wrong for judgement in judgements], np.int64),
        compared=sum(judgement.compared for judgement in judgements),
        excess=np.array([judgement.excess for judgement in judgements], np.float64),
        squares=np.array([sum(r * r for r in judgement.residuals) for judgement in judgements], np.float64),
        residuals=sum(len(judgement.residuals) for judgement in judgements),
    )


def better(a: Tally, b: Tally) -> bool:
    """Tell whether `a` agrees better: fewer wrong bits, fewer exceeded tolerances, residuals a thousand times likelier.

    Of two that agree as well, the one with fewer changes from the default is better.
    """
    misses_a, misses_b = ((int(entry.wrong.sum()), entry.exceeded) for entry in (a, b))
    if misses_a != misses_b:
        return misses_a < misses_b
    gain = nats(a, b)
    if abs(gain) >= LEAST_NATS:
        return gain > 0.0
    return len(a.profile.overrides) < len(b.profile.overrides)


def best_of(tallies: Iterable[Tally]) -> Tally:
    """Return the best of some tallies; of equals the first."""
    return reduce(lambda best, entry: entry if better(entry, best) else best, tallies)


def why_refuted(best: Tally, other: Tally) -> str | None:
    """Return why `other` is refuted when `best` stands, in a few words, or None."""
    wrong = int(other.wrong.sum())
    if not best.wrong.any() and wrong:
        return f"{wrong} of {other.compared} values differ"
    if not best.exceeded and (other.excess >= EXCEEDED_TWOFOLD).any():
        return f"{other.exceeded} of {len(other.excess)} trials beyond tolerance, the worst {other.excess.max():.3g} times"
    if _mostly_worse(best.wrong, other.wrong):
        return f"{wrong} of {other.compared} values differ, against {int(best.wrong.sum())}"
    if _mostly_worse((best.excess > 1.0).astype(np.int64), (other.excess > 1.0).astype(np.int64)):
        return f"{other.exceeded} of {len(other.excess)} trials beyond tolerance, against {best.exceeded}"
    if nats(best, other) >= LEAST_NATS and _mostly_worse(best.squares, other.squares):
        return f"rms {other.rms:.2g} rad against {best.rms:.2g}, {nats(best, other):.0f} nats"
    return None


def nats(best: Tally, other: Tally) -> float:
    """Return by how many nats the residuals speak for `best`, with Gaussian errors of unknown size."""
    if not best.residuals or best.rms == other.rms:
        return 0.0
    if best.rms == 0.0 or other.rms == 0.0:
        return math.inf if best.rms == 0.0 else -math.inf
    return best.residuals * math.log(other.rms / best.rms)


def _mostly_worse(best: NDArray[np.generic], other: NDArray[np.generic]) -> bool:
    """Tell whether the sum of `other` is the larger one in nearly all resamples of the trials."""
    if np.array_equal(best, other):
        return False
    count = len(best)
    picks = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
    worse = other[picks].sum(axis=1) > best[picks].sum(axis=1)
    return bool(worse.mean() >= CONFIDENCE)
