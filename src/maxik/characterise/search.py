"""The search through the profile space: which candidates, alone and together, agree best with some trials.

Coordinate descent from the start profile, item by item, then from seeded random profiles; where the candidates that
matter have few enough combinations, all of them. Every profile tried is kept, so nothing is solved twice.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from maxik.characterise.tally import Tally, best_of, tally
from maxik.characterise.trials import Trial
from maxik.profile import ENVIRONMENT, CoreProfile, candidates_in

BUDGET = 60_000
"""Limb solves that a search may take beyond single changes: about two minutes of the model."""
WORTH_PROCESSES = 4_000
"""Limb solves from which processes are started."""
RESTARTS = 3

Axes = Mapping[str, tuple[str, ...]]
"""What may change: item-id (or "environment") -> candidate-ids, the default first."""


@dataclass
class Search:
    """Profiles tried on `trials`: `tallies` by profile text. `axes` may change; `progress` is called with profiles tried."""

    trials: Sequence[Trial]
    axes: Axes
    progress: Callable[[int], None] | None = None
    tallies: dict[str, Tally] = field(default_factory=dict)

    @property
    def cost(self) -> int:
        """Return what one profile costs, in limb solves."""
        return sum(trial.weight for trial in self.trials)

    def of(self, profile: CoreProfile) -> Tally:
        """Return a profile's tally."""
        key = str(profile)
        if key not in self.tallies:
            self._keep(key, tally(profile, self.trials))
        return self.tallies[key]

    def try_all(self, profiles: Iterable[CoreProfile]) -> None:
        """Try the profiles that have not been tried, in several processes where that is worth it."""
        missing = {str(profile): profile for profile in profiles if str(profile) not in self.tallies}
        if len(missing) < 2 or len(missing) * self.cost < WORTH_PROCESSES:  # noqa: PLR2004 - one at a time
            for profile in missing.values():
                self.of(profile)
            return
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(partial(tally, trials=self.trials), missing.values())
            for key, entry in zip(missing, found, strict=True):
                self._keep(key, entry)

    def _keep(self, key: str, entry: Tally) -> None:
        self.tallies[key] = entry
        if self.progress is not None:
            self.progress(len(self.tallies))

    def singles(self, about: CoreProfile) -> Iterable[tuple[str, str, CoreProfile]]:
        """Yield (item, candidate, profile) of every single change of `about`, the candidate it has included."""
        for item, candidates in self.axes.items():
            for candidate in candidates:
                if item == ENVIRONMENT or candidate in candidates_in(item, about.environment):
                    yield item, candidate, about.with_candidate(item, candidate)

    def descend(self, start: CoreProfile, fixed: Iterable[str] = ()) -> Tally:
        """Return the best profile reached from `start` by changing one item at a time, `fixed` items excepted."""
        best = self.of(start)
        kept = set(fixed)
        improved = True
        while improved:
            improved = False
            self.try_all(profile for item, _, profile in self.singles(best.profile) if item not in kept)
            for item in self.axes:
                changes = (profile for name, _, profile in self.singles(best.profile) if name == item and item not in kept)
                found = best_of([best, *map(self.of, changes)])
                if found is not best:
                    best, improved = found, True
        return best

    def telling(self, about: CoreProfile) -> dict[str, tuple[str, ...]]:
        """Return the axes that show: for each item the candidates whose outputs differ, one of every kind.

        Items whose candidates all give the same bits about `about` are left out.
        """
        self.try_all(profile for _, _, profile in self.singles(about))
        kinds: dict[str, dict[object, str]] = {}
        for item, candidate, profile in self.singles(about):
            kind = kinds.setdefault(item, {self.of(about).words: _value(about, item)})
            kind.setdefault(self.of(profile).words, candidate)
        return {item: tuple(kind.values()) for item, kind in kinds.items() if len(kind) > 1}

    def combinations(self, about: CoreProfile, axes: Axes) -> bool:
        """Try every combination of `axes`, others as in `about`; return False, having tried none, when they are too many."""
        count = 1
        for candidates in axes.values():
            count *= len(candidates)
        if count * self.cost > BUDGET:
            return False
        self.try_all(_changed(about, zip(axes, choice, strict=True)) for choice in itertools.product(*axes.values()))
        return True

    def restart(self, about: CoreProfile, axes: Axes) -> None:
        """Descend from random combinations of `axes`, seeded, where the budget allows it."""
        choose = random.Random(0)  # noqa: S311 - a search, not a secret
        if RESTARTS * self.cost * sum(map(len, axes.values())) > BUDGET:
            return
        for _ in range(RESTARTS):
            self.descend(_changed(about, ((item, choose.choice(candidates)) for item, candidates in axes.items())))

    @property
    def best(self) -> Tally:
        """Return the best profile tried."""
        return best_of(self.tallies.values())


def _value(profile: CoreProfile, item: str) -> str:
    return profile.environment if item == ENVIRONMENT else profile[item]


def _changed(profile: CoreProfile, changes: Iterable[tuple[str, str]]) -> CoreProfile:
    """Return `profile` with changes; a candidate that the environment does not have is left at the default."""
    for item, candidate in sorted(changes, key=lambda change: change[0] != ENVIRONMENT):
        if item == ENVIRONMENT or candidate in candidates_in(item, profile.environment):
            profile = profile.with_candidate(item, candidate)
    return profile
