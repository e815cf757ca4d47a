"""The object graph of the Scene stream: objects by index, their classes, their references (max-format.md 2, 3).

Objects are found once; their chunks are looked at only when asked for, so that meshes cost nothing.
"""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from maxik.formats.max.chunks import Chunk, children, spans, text
from maxik.formats.max.classes import DERIVED_OBJECTS, ClassEntry, ClassId
from maxik.formats.max.container import Stream, read_streams

_REFERENCE_LIST, _REFERENCE_MAP = 0x2034, 0x2035
MOST_OBJECTS = 1_000_000
"""Far above real scenes (the largest at hand has 11,000): a file of tiny chunks ends here."""
_UNKNOWN = ClassEntry(ClassId(0, 0, 0), "unknown class")


def read_classes(stream: Stream) -> tuple[ClassEntry, ...]:
    """Return the class table of the ClassDirectory3 stream."""
    entries = []
    for chunk in children(stream):
        ident, name = ClassId(0, 0, 0), ""
        for part in children(stream, chunk.start, chunk.end) if chunk.is_container else ():
            if part.id == 0x2060 and part.end - part.start >= 16:  # noqa: PLR2004 - max-format.md 2
                _, a, b, super_id = struct.unpack_from("<iIII", stream.data, part.start)
                ident = ClassId(super_id, a, b)
            elif part.id == 0x2042:  # noqa: PLR2004 - max-format.md 2
                name = text(stream, part)
        entries.append(ClassEntry(ident, name))
    return tuple(entries)


class Objects:
    """The objects of a Scene stream. An index is an object's place in the file."""

    def __init__(self, stream: Stream, classes: tuple[ClassEntry, ...]) -> None:
        self.stream = stream
        self._classes = classes
        roots = list(children(stream))
        if len(roots) != 1 or not roots[0].is_container:
            message = "the Scene stream does not hold one root chunk"
            raise stream.error(message, 0)
        self.root_id = roots[0].id
        self._places = _Places(stream, roots[0])
        self._parts: dict[int, dict[int, Chunk]] = {}
        self._references: dict[int, dict[int, int]] = {}

    def __len__(self) -> int:
        return len(self._places.ids)

    def class_of(self, index: int) -> ClassEntry:
        """Return an object's class; a class index outside the table gives "unknown class"."""
        return self._class(self._places.ids[index])

    def _class(self, ident: int) -> ClassEntry:
        if ident in DERIVED_OBJECTS:
            return ClassEntry(ClassId(0, ident, 0), DERIVED_OBJECTS[ident])
        return self._classes[ident] if ident < len(self._classes) else _UNKNOWN

    @cached_property
    def by_class(self) -> dict[ClassId, list[int]]:
        """Object indices by class, in file order."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for index, ident in enumerate(self._places.ids):
            found[ident].append(index)
        classes: dict[ClassId, list[int]] = {}
        for ident, places in found.items():
            classes.setdefault(self._class(ident).id, []).extend(places)
        return {ident: sorted(places) for ident, places in classes.items()}

    def chunk_list(self, index: int) -> list[Chunk]:
        """Return an object's chunks in file order, repeated ones included."""
        if not self._places.containers[index]:
            return []
        return list(children(self.stream, self._places.starts[index], self._places.ends[index]))

    def parts(self, index: int) -> dict[int, Chunk]:
        """Return an object's chunks by id; of repeated ids the first."""
        if index not in self._parts:
            parts: dict[int, Chunk] = {}
            for chunk in self.chunk_list(index):
                parts.setdefault(chunk.id, chunk)
            self._parts[index] = parts
        return self._parts[index]

    def bytes_of(self, chunk: Chunk) -> bytes:
        """Return a chunk's payload."""
        return self.stream.data[chunk.start : chunk.end]

    def references(self, index: int) -> dict[int, int]:
        """Return slot -> object index; empty slots and indices outside the file are left out."""
        if index not in self._references:
            self._references[index] = self._read_references(index)
        return self._references[index]

    def _read_references(self, index: int) -> dict[int, int]:
        parts = self.parts(index)
        if _REFERENCE_LIST in parts:
            targets = list(enumerate(self._integers(parts[_REFERENCE_LIST])))
        elif _REFERENCE_MAP in parts:
            words = self._integers(parts[_REFERENCE_MAP])[1:]
            targets = list(zip(words[::2], words[1::2], strict=False))
        else:
            return {}
        return {slot: target for slot, target in targets if 0 <= target < len(self._places.ids)}

    def _integers(self, chunk: Chunk) -> tuple[int, ...]:
        return struct.unpack_from(f"<{(chunk.end - chunk.start) // 4}i", self.stream.data, chunk.start)


class _Places:
    """Where the objects of a stream stand, 19 bytes each: a file of nothing but tiny objects must not fill the memory."""

    def __init__(self, stream: Stream, root: Chunk) -> None:
        self.ids, self.containers = array("H"), bytearray()
        self.starts, self.ends = array("Q"), array("Q")
        for ident, container, start, end in spans(stream, root.start, root.end):
            if len(self.ids) >= MOST_OBJECTS:
                message = f"the scene has more than {MOST_OBJECTS} objects"
                raise stream.error(message, start)
            self.ids.append(ident)
            self.containers.append(container)
            self.starts.append(start)
            self.ends.append(end)


_STREAMS = ("Scene", "ClassDirectory3", "ClassDirectory", "DllDirectory", "Config", "SaveConfigData", "ScriptedCustAttribDefs")


def open_objects(path: str | Path) -> tuple[Objects, Mapping[str, Stream]]:
    """Return a .max file's objects and its streams; FileFormatError for a file that is damaged or no .max file."""
    streams = read_streams(path, _STREAMS)
    if "Scene" not in streams:
        message = "has no Scene stream, so it is no .max file, or it is cut off"
        raise Stream(str(path), "", b"").error(message)
    table = streams.get("ClassDirectory3") or streams.get("ClassDirectory")
    return Objects(streams["Scene"], read_classes(table) if table else ()), streams
