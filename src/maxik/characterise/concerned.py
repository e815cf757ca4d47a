"""Which [CORE] items an evaluation looks up: the model's choice of candidates, recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from maxik.model.engine import ModelEngine
from maxik.profile import ITEMS, CoreProfile, candidates_in


def concerned(profile: CoreProfile, evaluations: Iterable[Callable[[ModelEngine], object]]) -> tuple[str, ...]:
    """Return the items that `evaluations` consult under `profile` or any single change of it, in order of ITEMS.

    An item counts only when it has several candidates in the profile's environment.
    """
    evaluations = list(evaluations)
    seen: set[str] = set()
    pending = [profile]
    tried: set[str] = set()
    while pending:
        found = _looked_up(pending.pop(), evaluations)
        for item in ITEMS:
            if item in found and item not in tried:
                tried.add(item)
                others = candidates_in(item, profile.environment)[1:]
                pending += [profile.with_candidate(item, candidate) for candidate in others]
        seen |= found
    return tuple(item for item in ITEMS if item in seen and len(candidates_in(item, profile.environment)) > 1)


class _Recording(Mapping[str, str]):
    """A choice of candidates that remembers what it was asked for."""

    def __init__(self, profile: CoreProfile) -> None:
        self._choice = {item: profile[item] for item in ITEMS}
        self.seen: set[str] = set()

    def __getitem__(self, item: str) -> str:
        self.seen.add(item)
        return self._choice[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._choice)

    def __len__(self) -> int:
        return len(self._choice)


def _looked_up(profile: CoreProfile, evaluations: Iterable[Callable[[ModelEngine], object]]) -> set[str]:
    recording = _Recording(profile)
    engine = ModelEngine(profile, recording)
    for evaluate in evaluations:
        evaluate(engine)
    return recording.seen
