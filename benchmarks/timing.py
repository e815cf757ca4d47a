"""Times of several calls in one run, all in turn, so that a machine's moods meet every one of them; tables of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Timed:
    """A call's shortest time in seconds, and how many times as fast as the first call it is (median over the rounds)."""

    seconds: float
    ratio: float


def in_turn(calls: Mapping[str, Callable[[], object]], rounds: int, repeat: int = 1) -> dict[str, Timed]:
    """Return the times of the calls, each called `repeat` times in every round; the first is what ratios are of."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            found[name].append((time.perf_counter() - start) / repeat)
    first = next(iter(found.values()))
    return {
        name: Timed(min(times), statistics.median(a / b for a, b in zip(first, times, strict=True)))
        for name, times in found.items()
    }


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
