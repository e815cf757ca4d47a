"""The chunk tree: headers of id and size, containers and leaves (max-format.md 1).

A chunk is u16 id, u32 size including the header; bit 31 of the size marks a container. A size of 0 is followed by a
u64 size with bit 63 as the mark. Nothing is parsed ahead: `children` looks at one level.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from maxik.formats.max.container import Stream

_HEADER = struct.Struct("<HI")
_LONG_SIZE = struct.Struct("<Q")


class Chunk(NamedTuple):
    """One chunk: `id`, whether it is a container, and where its payload lies in the stream."""

    id: int
    is_container: bool
    start: int
    end: int


def children(stream: Stream, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
    """Yield the chunks between two offsets; FileFormatError with the offset where one does not fit."""
    for ident, container, first, last in spans(stream, start, end):
        yield Chunk(ident, container, first, last)


def spans(stream: Stream, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bool, int, int]]:
    """Yield chunks as plain tuples (id, is container, start, end): for the longest list of all, a scene's objects."""
    data = stream.data
    end = len(data) if end is None else end
    at = start
    while at < end:
        if at + 6 > end:
            message = "a chunk header is cut off: the file is truncated or damaged"
            raise stream.error(message, at)
        ident, size = _HEADER.unpack_from(data, at)
        header = 6
        if size == 0:
            if at + 14 > end:
                message = "a long chunk header is cut off: the file is truncated or damaged"
                raise stream.error(message, at)
            (size,) = _LONG_SIZE.unpack_from(data, at + 6)
            header = 14
            container, size = bool(size >> 63), size & 0x7FFFFFFFFFFFFFFF
        else:
            container, size = bool(size >> 31), size & 0x7FFFFFFF
        if size < header:
            message = f"chunk {ident:#06x} has the impossible size {size}"
            raise stream.error(message, at)
        if at + size > end:
            message = f"chunk {ident:#06x} of {size} bytes ends past its parent: the file is truncated or damaged"
            raise stream.error(message, at)
        yield ident, container, at + header, at + size
        at += size


def text(stream: Stream, chunk: Chunk) -> str:
    """Return a leaf's UTF-16LE text, without terminator; undecodable units become U+FFFD."""
    return stream.data[chunk.start : chunk.end].decode("utf-16-le", errors="replace").rstrip("\0")
