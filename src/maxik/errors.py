"""The exceptions of maxik: what went wrong, where (file, node, time, offset) and what to do.

Every error that a user can cause is a `MaxikError`; the command line prints it as one line and exits with its
`exit_code` (design: 1 = a check failed or a file could not be baked, 2 = wrong usage).
"""

from __future__ import annotations

from typing import ClassVar


class MaxikError(Exception):
    """An error with its place.

    `file` is the path as the user gave it, `node` a node's name, `tick` a time in ticks (4800 a second), `offset` a
    byte offset (or a line number in `line`), `hint` what the user can do about it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(  # noqa: PLR0913 - one keyword for each part of the place
        self,
        what: str,
        *,
        file: str | None = None,
        node: str | None = None,
        tick: int | None = None,
        stream: str | None = None,
        offset: int | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.file = file
        self.node = node
        self.tick = tick
        self.stream = stream
        self.offset = offset
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        """Return the error as one line: file:line, node, time, offset, what, hint."""
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}"
        where = [
            part
            for part in (
                place,
                f"node {self.node!r}" if self.node is not None else "",
                f"tick {self.tick}" if self.tick is not None else "",
                f"stream {self.stream}" if self.stream is not None else "",
                f"offset {self.offset:#x}" if self.offset is not None else "",
            )
            if part
        ]
        text = ": ".join([", ".join(where), self.what] if where else [self.what])
        if self.hint:
            text = f"{text} ({self.hint})"
        return " ".join(text.split())


class UsageError(MaxikError):
    """The call itself is wrong: an unknown option value, an impossible range, an output format maxik cannot write."""

    exit_code: ClassVar[int] = 2


class FileFormatError(MaxikError):
    """A file is not what it should be: truncated, damaged, of another kind."""


class SceneError(MaxikError):
    """A scene cannot be evaluated: a cycle, a chain that does not hang together, a missing node."""


class EngineError(MaxikError):
    """An engine cannot do what was asked: no compiled kernel, or a candidate that the kernel does not have."""
