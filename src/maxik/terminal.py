"""What commands share: how one is added to the parser, and a progress bar for what takes long."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from time import monotonic

Progress = Callable[[int, int], None]
"""Called with (steps done, steps in all)."""


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    """Add a command that `run` executes; `text` says what it does, without a full stop."""
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.set_defaults(run=run)
    return command


class ProgressBar:
    """A progress bar on stderr that appears once `what` turns out to take long; nothing when stderr is no terminal."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> Progress | None:
        self._bar = None
        if not sys.stderr.isatty():
            return None
        started = monotonic()

        def show(done: int, total: int) -> None:
            if self._bar is None:
                if monotonic() - started < 1.0 or done >= total:
                    return
                from rich.console import Console  # noqa: PLC0415 - heavy imports are lazy
                from rich.progress import Progress as Bar  # noqa: PLC0415 - heavy imports are lazy

                self._bar = Bar(console=Console(stderr=True), transient=True)
                self._bar.start()
                self._task = self._bar.add_task(self._what, total=total)
            self._bar.update(self._task, completed=done)

        return show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
