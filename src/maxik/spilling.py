"""Spill reports: which problems change a bit when a compiler spills a register, and at which place in the source.

A problem is solved by the model once as it is, once with every intermediate result rounded to float32, and once for
every single site whose result such a rounding changes (model/spill.py): a few hundred solves for each. A problem is
stable when no output bit changes in any of them; another build of the reference could not change it then by one spill,
nor by all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from maxik.errors import UsageError
from maxik.model import limb, spline
from maxik.model.core import Core
from maxik.model.spill import ALL, Spills, site_name, spilling_core
from maxik.problems import Engine, LimbProblem, LimbTake, LimbTakeSolution, SplineProblem, SplineSolution
from maxik.profile import CoreProfile
from maxik.solutions import limb_bits, spline_bits

Problem = LimbProblem | SplineProblem


@dataclass(frozen=True)
class SpillResult:
    """One problem: how many sites were tried, which of them change an output bit alone, and whether all together do."""

    tried: int
    changing: tuple[str, ...]
    all_change: bool

    @property
    def stable(self) -> bool:
        """Whether no spill that was tried changes a bit."""
        return not self.changing and not self.all_change


def spill(profile: CoreProfile, problem: Problem, *, singles: bool = True) -> SpillResult:
    """Return what spills do to a problem; `singles` false tries only all sites together. UsageError for sse-32."""
    if profile.environment != "x87-53":
        message = f"the profile {profile} computes in registers of 24 bits, which have nothing to spill"
        raise UsageError(message)
    met = Spills()
    plain = _solved(spilling_core(profile, met), problem)
    together = _solved(spilling_core(profile, Spills(ALL)), problem)
    sites = list(met.met) if singles else []
    changing = [site for site in sites if _solved(spilling_core(profile, Spills(frozenset({site}))), problem) != plain]
    return SpillResult(len(sites), tuple(sorted(map(site_name, changing))), together != plain)


def spill_many(
    profile: CoreProfile,
    problems: Sequence[Problem],
    *,
    singles: bool = True,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[SpillResult]:
    """Return a result for every problem, in order; problems of the same bits are tried once."""
    different = {repr(problem): problem for problem in problems}  # repr tells -0 from 0
    run = partial(spill, profile, singles=singles)
    found: dict[str, SpillResult] = {}
    for key, result in zip(different, _mapped(run, list(different.values()), processes), strict=True):
        found[key] = result
        if progress is not None:
            progress(len(found), len(different))
    return [found[repr(problem)] for problem in problems]


def _mapped(run: Callable[[Problem], SpillResult], problems: Sequence[Problem], processes: int) -> Iterator[SpillResult]:
    if processes < 2 or len(problems) < 2:  # noqa: PLR2004 - one at a time
        yield from map(run, problems)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(run, problems)


def summary(results: Sequence[SpillResult]) -> dict[str, Any]:
    """Return counts over results, and the sites with the number of problems that each changes alone."""
    sites = Counter(site for result in results for site in result.changing)
    return {
        "problems": len(results),
        "stable": sum(result.stable for result in results),
        "changed_by_one_spill": sum(bool(result.changing) for result in results),
        "changed_by_all_together": sum(result.all_change for result in results),
        "sites": [{"site": site, "problems": count} for site, count in sites.most_common()],
    }


def _solved(core: Core, problem: Problem) -> bytes:
    if isinstance(problem, LimbProblem):
        return limb_bits(limb.solve(core, problem))
    return spline_bits(spline.solve(core, problem))


class Recorder:
    """An engine that answers as another does and keeps what it was asked to solve."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.limbs: list[LimbTake] = []
        self.splines: list[Sequence[SplineProblem]] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the engine has
        return getattr(self._engine, name)

    def solve_limb_take(self, take: LimbTake) -> LimbTakeSolution:
        """Solve a take and keep it."""
        self.limbs.append(take)
        return self._engine.solve_limb_take(take)

    def solve_spline_take(self, problems: Sequence[SplineProblem]) -> list[SplineSolution]:
        """Solve a chain's problems and keep them."""
        self.splines.append(problems)
        return self._engine.solve_spline_take(problems)
