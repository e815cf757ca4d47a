"""How the kernel works: its march along splines, its path through limb takes, its threads. None of them changes a bit."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from maxik.errors import UsageError

LEAP, LITERAL = MARCHES = ("leap", "literal")
"""How splines are marched: the certified leap or every literal step."""

AUTO = "auto"
"""The widest lanes that the machine has, else scalar."""
SCALAR = "scalar"
LIMB_PATHS: Mapping[str, int] = {LITERAL: 0, SCALAR: 1, "sse2": 2, "neon": 2, "avx2": 3, "avx512": 4}
"""How takes of limbs are solved -> the kernel's number of the path (kernel/limb_batch.h).

`literal` initialises for every frame anew, as the specification writes it; `scalar` once for a pose; the others solve as
many frames at once as their vectors hold.
"""
LANE_BITS: Mapping[str, int] = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}

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
