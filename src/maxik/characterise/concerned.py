"""Which [CORE] items evaluations could show: those that they look up under a profile, or under a change of what they look up.

A candidate may consult items that the default does not: matrix3.rot_angle_axis by `quaternion` consults quat.make_matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from maxik.characterise.consulted import Recorded
from maxik.model.core import core_of
from maxik.model.engine import ModelEngine
from maxik.profile import ITEMS, CoreProfile, candidates_in


def concerned(profile: CoreProfile, evaluations: Iterable[Callable[[ModelEngine], object]]) -> tuple[str, ...]:
    """Return the items that `evaluations` consult under `profile` or under any single change of it, in order of ITEMS.

    An item counts only when it has several candidates in the profile's environment.
    """
    evaluations = list(evaluations)
    seen: set[str] = set()
    pending = [profile]
    while pending:
        found = _looked_up(pending.pop(), evaluations)
        for item in found - seen:
            others = candidates_in(item, profile.environment)[1:]
            pending += [profile.with_candidate(item, candidate) for candidate in others]
        seen |= found
    return tuple(item for item in ITEMS if item in seen and len(candidates_in(item, profile.environment)) > 1)


def _looked_up(profile: CoreProfile, evaluations: Iterable[Callable[[ModelEngine], object]]) -> set[str]:
    choice = Recorded(core_of(profile).choice)
    engine = ModelEngine(profile, choice)
    for evaluate in evaluations:
        evaluate(engine)
    return choice.seen
