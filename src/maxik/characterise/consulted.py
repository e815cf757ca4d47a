"""Which [CORE] items a solve consults: other candidates of the rest cannot change its bits.

A solve is run by the model with a choice of candidates that notes what is looked up. What a problem does not look up
under a profile, it does not look up under any other candidate of it either: until the first look-up both solves are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from maxik.model import limb, spline
from maxik.model.core import Core, core_of
from maxik.problems import LimbProblem, LimbSolution, SplineProblem, SplineSolution
from maxik.profile import ITEMS, CoreProfile

Problem = LimbProblem | SplineProblem
Solution = LimbSolution | SplineSolution


class Recorded(Mapping[str, str]):
    """A choice of candidates that notes in `seen` which items are looked up."""

    def __init__(self, choice: Mapping[str, str]) -> None:
        self._choice = choice
        self.seen: set[str] = set()

    def __getitem__(self, item: str) -> str:
        self.seen.add(item)
        return self._choice[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._choice)

    def __len__(self) -> int:
        return len(self._choice)


def consulted(profile: CoreProfile, problems: Iterable[Problem]) -> tuple[str, ...]:
    """Return the items that the solves of `problems` under `profile` consult, in the order of ITEMS."""
    seen = set().union(*(solve_recorded(profile, problem)[1] for problem in problems))
    return tuple(item for item in ITEMS if item in seen)


def solve_recorded(profile: CoreProfile, problem: Problem) -> tuple[Solution, frozenset[str]]:
    """Return the model's solution of a problem under `profile`, and the items that it consulted."""
    core = core_of(profile)
    choice = Recorded(core.choice)
    solution = solve(replace(core, choice=choice), problem)
    return solution, frozenset(choice.seen)


def solve(core: Core, problem: Problem) -> Solution:
    """Return the model's solution of a limb or spline problem (spec 3, 4)."""
    return limb.solve(core, problem) if isinstance(problem, LimbProblem) else spline.solve(core, problem)
