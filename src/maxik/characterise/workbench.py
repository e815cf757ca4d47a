"""The workbench: vector files in; for every item which candidates are refuted, which survive, which cannot be told apart.

    result = characterise(["limb0-throw-disc.a.jsonl"], Options(items=("point3.normalize",), environments=("sse-32",)))

The search (search.py) finds the profile that agrees best. About it every single change is scored; a candidate that
is refuted there is given every other chance: the best score with anything else changed too, on the trials that decide.
Only what no combination saves is refuted (tally.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from maxik.characterise.concerned import concerned
from maxik.characterise.noise import NoiseTest, noise_test
from maxik.characterise.search import BUDGET, Axes, Search
from maxik.characterise.tally import Tally, best_of, better, why_refuted
from maxik.characterise.trials import LimbTrial, Trial, TrialSet, load_trials
from maxik.errors import UsageError
from maxik.model.engine import ModelEngine
from maxik.profile import ENVIRONMENT, ENVIRONMENT_IDS, ITEMS, PROFILES, CoreProfile, candidates_in

BEST, SAME, FITS, FITS_WITH_OTHERS, REFUTED, ABSENT = "best", "same bits", "fits", "fits with others", "refuted", "absent"
"""A candidate: the best; the same bits in every trial; other bits that agree as well; agrees only with other items changed
too; refuted whatever else changes; not to be had in the environment."""
SINGLED_OUT, GIVEN_THE_REST, CANNOT_TELL = "singled out", "singled out, given the rest", "cannot tell"
NOT_SEEN, NO_OTHER = "not seen", "no other"
"""An item: one candidate is left; one is left while the other items are as in the best profile; several are left; no
candidate changes a bit; the environment has one candidate only."""
_WITNESSES = 3
_WATCHED, _WATCHED_WEIGHT = 24, 800
"""Trials that are watched for the items they consult, and what they may weigh together."""
_FASTEST = "x87-53"
"""The environment that the model evaluates fastest; what is consulted does not depend on it."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """What to try: `items` (None: all that the vectors consult), `start`.

    `environments`: several are tried like candidates; None: the one that the files' provenance names, else both.
    """

    items: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None
    start: CoreProfile = PROFILES["candidate-1"]


@dataclass(frozen=True)
class Score:
    """A profile's agreement: bits `right` of `compared`, trials that `exceeded` a tolerance (`worst` in parts), `rms` rad."""

    profile: str
    right: int
    compared: int
    exceeded: int
    worst: float
    rms: float


@dataclass(frozen=True)
class CandidateResult:
    """One candidate: `verdict`, score with only this changed, best score with anything else changed too, why refuted."""

    candidate: str
    verdict: str
    alone: Score | None
    with_others: Score | None
    reason: str


@dataclass(frozen=True)
class ItemResult:
    """One item: its `verdict`, the candidates that survive, and each one's result."""

    item: str
    verdict: str
    survivors: tuple[str, ...]
    candidates: tuple[CandidateResult, ...]


@dataclass(frozen=True)
class Characterisation:
    """The result of a run. `pins`: the vectors come from the reference software, so the verdicts may pin an item.

    `trials` of the `cases` are distinct; combinations were tried on the `decisive` ones (`decisive`). `exact`: all combinations
    of the candidates that show there; otherwise the search was a descent.
    """

    sources: tuple[str, ...]
    pins: bool
    cases: int
    trials: int
    decisive: int
    left_out: dict[str, int]
    exact: bool
    profiles: int
    best: Score
    items: tuple[ItemResult, ...]
    noise: NoiseTest | None


def characterise(
    paths: Sequence[str | Path], options: Options | None = None, progress: Progress | None = None
) -> Characterisation:
    """Try the candidates against vector files. `progress` is called with (profiles tried, profiles expected).

    Raises UsageError for an unknown item or environment, FileFormatError for a damaged file.
    """
    options = options or Options()
    loaded = load_trials(paths, ModelEngine(options.start))
    environments = options.environments or ((loaded.environment,) if loaded.environment else ENVIRONMENT_IDS)
    start = _start(options, environments)
    axes = _axes(options, environments, start, loaded)
    expected = 3 * sum(map(len, axes.values()))
    report = None if progress is None else lambda tried: progress(min(tried, expected - 1), expected)
    search = Search(loaded.trials, axes, report)
    best = search.descend(start)
    told = decisive(search)
    narrow = search if len(told) == len(loaded.trials) else Search(told, axes)
    narrow.descend(best.profile)
    telling = narrow.telling(narrow.best.profile)
    exact = narrow.combinations(narrow.best.profile, telling)
    if not exact:
        narrow.restart(narrow.best.profile, telling)
    if better(narrow.best, narrow.of(best.profile)):
        best = search.descend(narrow.best.profile)
    search.try_all(profile for _, _, profile in search.singles(best.profile))
    bench = _Bench(search, narrow, best, exact)
    items = tuple(bench.item(item) for item in axes)
    return Characterisation(
        sources=loaded.sources,
        pins=loaded.reference,
        cases=loaded.cases,
        trials=len(loaded.trials),
        left_out=loaded.left_out,
        exact=exact,
        decisive=len(narrow.trials),
        profiles=len(search.tallies.keys() | narrow.tallies.keys()),
        best=_score(best),
        items=items,
        noise=noise_test(paths, environments),
    )


def _spread(trials: Sequence[Trial]) -> Sequence[Trial]:
    """Return some of the trials, spread over all."""
    weight = max((trial.weight for trial in trials), default=1)
    wanted = max(2, min(_WATCHED, _WATCHED_WEIGHT // weight))
    return trials[:: max(1, len(trials) // wanted)]


def _start(options: Options, environments: tuple[str, ...]) -> CoreProfile:
    unknown = [item for item in options.items or () if item not in ITEMS]
    if unknown:
        message = f"unknown item {unknown[0]!r}; known: {', '.join(ITEMS)}"
        raise UsageError(message)
    environment = options.start.environment if options.start.environment in environments else environments[0]
    return options.start.with_candidate(ENVIRONMENT, environment)


def _axes(options: Options, environments: tuple[str, ...], start: CoreProfile, loaded: TrialSet) -> Axes:
    """Return what to change: the items asked for, or those that the trials consult in any of the environments."""
    watched = _spread(loaded.trials)
    found = concerned(start.with_candidate(ENVIRONMENT, _FASTEST), [trial.judge for trial in watched])
    axes: dict[str, tuple[str, ...]] = {}
    if len(environments) > 1 and loaded.trials:
        axes[ENVIRONMENT] = environments
    for item, candidates in ITEMS.items():
        wanted = item in options.items if options.items is not None else item in found
        if wanted and len(candidates) > 1:
            axes[item] = tuple(name for name in candidates if any(name in candidates_in(item, e) for e in environments))
    return axes


def decisive(search: Search) -> list[Trial]:
    """Return the trials that decide: those that compare bits or residuals, and for every candidate tried the worst misses."""
    told = {place for place, trial in enumerate(search.trials) if _compares_values(trial)}
    for entry in search.tallies.values():
        worst = sorted(range(len(search.trials)), key=lambda place: -entry.excess[place])[:_WITNESSES]
        told |= {place for place in worst if entry.excess[place] > 1.0}
    return [search.trials[place] for place in sorted(told)]


def _compares_values(trial: Trial) -> bool:
    if isinstance(trial, LimbTrial):
        return bool(trial.degrees) or any(name != "status" for name, _ in trial.bits)
    return True


@dataclass(frozen=True)
class _Bench:
    """A finished search: all trials, those that decide, and the best profile."""

    search: Search
    narrow: Search
    best: Tally
    exact: bool

    def item(self, item: str) -> ItemResult:
        """Return the result of an item."""
        results = [self.candidate(item, candidate) for candidate in self.search.axes[item]]
        survivors = tuple(entry.candidate for entry in results if entry.verdict not in (REFUTED, ABSENT))
        return ItemResult(item, _verdict([entry.verdict for entry in results]), survivors, tuple(results))

    def candidate(self, item: str, candidate: str) -> CandidateResult:
        """Return the result of one candidate of an item."""
        profile = self.best.profile
        if item != ENVIRONMENT and candidate not in candidates_in(item, profile.environment):
            return CandidateResult(candidate, ABSENT, None, None, f"needs the x87, which {profile.environment} does not have")
        alone = self.search.of(profile.with_candidate(item, candidate))
        if str(alone.profile) == str(profile):
            return CandidateResult(candidate, BEST, _score(alone), None, "")
        if alone.words == self.best.words:
            return CandidateResult(candidate, SAME, _score(alone), None, "")
        reason = why_refuted(self.best, alone)
        if reason is None:
            return CandidateResult(candidate, FITS, _score(alone), None, "")
        saved = self._best_with(alone.profile, item, candidate)
        if saved is None:
            return CandidateResult(candidate, REFUTED, _score(alone), None, reason)
        verdict = REFUTED if why_refuted(self.narrow.of(profile), saved) else FITS_WITH_OTHERS
        return CandidateResult(candidate, verdict, _score(alone), _score(saved), reason)

    def _best_with(self, alone: CoreProfile, item: str, candidate: str) -> Tally | None:
        """Return the best tally with this candidate and anything else, None where that is too much to try.

        By descent where not all combinations were tried.
        """
        narrow = self.narrow
        if not self.exact:
            if narrow.cost * sum(map(len, narrow.axes.values())) > BUDGET // 8:
                return None
            return narrow.descend(alone, fixed=(item,))
        narrow.of(alone)
        return best_of(entry for entry in narrow.tallies.values() if _value(entry.profile, item) == candidate)


def _verdict(candidates: Sequence[str]) -> str:
    """Return an item's verdict from those of its candidates."""
    present = [verdict for verdict in candidates if verdict not in (ABSENT, BEST)]
    if not present:
        return NO_OTHER
    if all(verdict == SAME for verdict in present):
        return NOT_SEEN
    if all(verdict == REFUTED for verdict in present):
        return SINGLED_OUT
    return GIVEN_THE_REST if all(verdict in (REFUTED, FITS_WITH_OTHERS) for verdict in present) else CANNOT_TELL


def _value(profile: CoreProfile, item: str) -> str:
    return profile.environment if item == ENVIRONMENT else profile[item]


def _score(entry: Tally) -> Score:
    worst = float(entry.excess.max()) if len(entry.excess) else 0.0
    return Score(str(entry.profile), entry.right, entry.compared, entry.exceeded, worst, entry.rms)
