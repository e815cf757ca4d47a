"""Work in parts on several threads, which stay: to start one takes as long as to solve some thousand frames.

For calls that release the GIL and raise nothing. What is done does not depend on which thread does it, nor when.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


class SideBySide:
    """At most `threads` threads, the caller's among them. The others are started when they are first needed."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def do(self, work: Callable[[Any], None], parts: Sequence[Any], memory: object) -> None:
        """Do the work for every part; each thread takes the next part that none has taken.

        `memory` owns the arrays that the work writes to: every thread holds it, so that an interrupted wait frees none.
        """
        if len(parts) == 1:
            work(parts[0])
            return
        waiting = deque(parts)

        def run(_: object) -> None:
            while True:
                try:
                    part = waiting.popleft()
                except IndexError:
                    return
                work(part)

        others: list[Future[None]] = []
        try:
            for _ in range(min(self.threads, len(parts)) - 1):
                others.append(self._others().submit(run, memory))  # noqa: PERF401 - those before an error count
        except RuntimeError:  # the system has no more threads: those that there are do it all
            pass
        try:
            run(memory)
        finally:
            waiting.clear()  # interrupted: what nobody has begun is left
            for other in others:
                if not other.cancel():
                    other.result()

    def _others(self) -> ThreadPoolExecutor:
        """Return the threads of this process: a fork takes none of its parent's along."""
        if self._pool is None or self._process != os.getpid():
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - 10 ms that short takes need not wait for

            self._pool, self._process = ThreadPoolExecutor(self.threads - 1, "maxik"), os.getpid()
        return self._pool
