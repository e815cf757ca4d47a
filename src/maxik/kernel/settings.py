"""How the kernel works: its march along splines, its path through limb takes, its threads. None of them changes a bit."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from maxik.errors import UsageError
from maxik.kernel.choices import AUTO, LEAP, LIMB_PATHS, MARCHES

THREADS_VARIABLE = "MAXIK_THREADS"
"""Environment variable: the number of threads where no setting says it."""
MOST_THREADS = 1024


def _known(what: str, got: str, known: tuple[str, ...]) -> None:
    if got not in known:
        message = f"unknown {what} {got!r}; known: {', '.join(known)}"
        raise UsageError(message)


@dataclass(frozen=True)
class KernelSettings:
    """How a kernel works.

    `march`: of MARCHES; `limb_path`: "auto" or of LIMB_PATHS; `threads`: how many frames or chains are solved side by
    side, None for MAXIK_THREADS, and without it for every core that the process may use.
    Raises UsageError for what is none of these.
    """

    march: str = LEAP
    limb_path: str = AUTO
    threads: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        _known("march", self.march, MARCHES)
        _known("limb path", self.limb_path, (AUTO, *LIMB_PATHS))
        count = self.threads
        if count is not None and (type(count) is not int or not 1 <= count <= MOST_THREADS):
            message = f"{count!r} threads; there can be 1 to {MOST_THREADS}"
            raise UsageError(message)

    def thread_count(self) -> int:
        """Return the number of threads; UsageError when MAXIK_THREADS is no such number."""
        if self.threads is not None:
            return self.threads
        given = os.environ.get(THREADS_VARIABLE, "").strip()
        if not given:
            return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if not re.fullmatch("[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_THREADS:
            message = f"{THREADS_VARIABLE} is {given[:20]!r}, not a number of 1 to {MOST_THREADS}"
            raise UsageError(message)
        return int(given)


DEFAULT_SETTINGS = KernelSettings()
"""Leaps, the widest lanes, every core."""
