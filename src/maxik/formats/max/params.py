"""ParamBlock2: a class's parameters by id, constant, animated or referring to nodes (max-format.md 6).

Reference slots are not stored: they are counted over the records in file order. A constant takes none, an animated
parameter one, a reference that is not kept inline always one, a table of references one an element, and an animated
element of a table one of its own (max-format-spline-ik.md S.4).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from maxik.formats.max.chunks import Chunk
from maxik.formats.max.objects import Objects

_RECORD_BYTES = {0x000A: 11, 0x000E: 15, 0x100E: 15}
"""Record chunk ids (Max 3-7, 9-2012, 2013 on) and where the value starts; the flag byte stands just before."""
_SIZES = {0: 4, 1: 4, 2: 12, 3: 12, 4: 4, 5: 4, 6: 4, 7: 4, 0xC: 4, 0xD: 4, 0x14: 52, 0x17: 16}
_STRINGS = (8, 9)
_REFERENCES = (0xE, 0xF, 0x10, 0x11, 0x12)
_TABLE, _TYPE_MASK = 0x0800, 0x07FF
_INLINE = 0x01000000
_CONSTANT, _ANIMATED = 0x40, 0x80


@dataclass(frozen=True)
class Param:
    """One parameter: its type, its constant `value` as bytes, and the objects in its reference slots (None when empty).

    For a table `elements` has one constant, or None, for each element; `is_table` tells an empty one from no table.
    """

    kind: int
    value: bytes | None
    targets: tuple[int | None, ...] = ()
    is_table: bool = False
    elements: tuple[bytes | None, ...] = ()


class Params:
    """The parameters of one ParamBlock2, by id."""

    def __init__(self, objects: Objects, block: int) -> None:
        self._objects = objects
        self._wide = True
        self._params: dict[int, Param] = {}
        references = objects.references(block)
        slot = 0
        for chunk in objects.chunk_list(block):
            if chunk.id not in _RECORD_BYTES or chunk.is_container:
                continue
            self._wide = chunk.id != 0x000A  # noqa: PLR2004 - strings are 8-bit in that layout
            ident, param, slots = self._record(chunk)
            targets = tuple(references.get(slot + step) for step in range(slots))
            self._params.setdefault(ident, replace(param, targets=targets))
            slot += slots

    def _record(self, chunk: Chunk) -> tuple[int, Param, int]:
        """Return a record's parameter id, the parameter without its targets, and how many reference slots it takes."""
        data = self._objects.bytes_of(chunk)
        start = _RECORD_BYTES[chunk.id]
        if len(data) < start:
            message = "a parameter record is cut off"
            raise self._objects.stream.error(message, chunk.start)
        ident, kind, flags = struct.unpack_from("<HHI", data)
        kind, table, inline = kind & _TYPE_MASK, bool(kind & _TABLE), bool(flags & _INLINE)
        mark, value = data[start - 1], data[start:]
        if table:
            elements, slots = self._table(chunk, kind, inline=inline, value=value)
            return ident, Param(kind, None, is_table=True, elements=elements), slots
        if kind in _REFERENCES:
            return ident, Param(kind, value if inline else None), 0 if inline else 1
        if mark & _CONSTANT:
            return ident, Param(kind, value), 0
        return ident, Param(kind, None), 1 if mark & _ANIMATED else 0

    def _table(self, chunk: Chunk, kind: int, *, inline: bool, value: bytes) -> tuple[tuple[bytes | None, ...], int]:
        """Return a table's constants and how many reference slots its elements take."""
        if len(value) < 4:  # noqa: PLR2004 - a u32 count
            return (), 0
        (count,) = struct.unpack_from("<I", value)
        if count > len(value):
            message = f"a parameter table of {count} elements is longer than its chunk"
            raise self._objects.stream.error(message, chunk.start)
        if kind in _REFERENCES and not inline:
            return (None,) * int(count), int(count)
        elements = tuple(_elements(kind, count, value))
        return elements, sum(element is None for element in elements)

    def __contains__(self, ident: int) -> bool:
        return ident in self._params

    def number(self, ident: int, default: float = 0.0) -> float:
        """Return a constant float parameter; `default` when it is absent or animated."""
        return float(self._unpack(ident, "<f", default))

    def integer(self, ident: int, default: int = 0) -> int:
        """Return a constant integer, boolean or radio parameter; `default` when it is absent or animated."""
        return int(self._unpack(ident, "<i", default))

    def string(self, ident: int) -> str:
        """Return a string parameter, "" when absent: 8-bit text in Max 3-7, UTF-16 later; told by its zero bytes."""
        param = self._params.get(ident)
        if param is None or param.value is None or len(param.value) < 4:  # noqa: PLR2004 - a u32 length
            return ""
        (length,) = struct.unpack_from("<I", param.value)
        raw = param.value[4 : 4 + length] if length <= len(param.value) else b""
        wide = len(raw) > 1 and raw[1] == 0 and self._wide
        return raw.decode("utf-16-le" if wide else "cp1252", errors="replace").split("\0")[0]

    def target(self, ident: int) -> int | None:
        """Return the object that the parameter refers to or that animates it; None when there is none."""
        targets = self.targets(ident)
        return targets[0] if targets else None

    def targets(self, ident: int) -> tuple[int | None, ...]:
        """Return the objects in the reference slots of a parameter, one an element for a table of nodes."""
        param = self._params.get(ident)
        return () if param is None else param.targets

    def elements(self, ident: int) -> tuple[tuple[float | None, int | None], ...]:
        """Return the elements of a table of floats: (constant, None), or (None, the controller that animates it)."""
        param = self._params.get(ident)
        if param is None:
            return ()
        targets = iter(param.targets)
        return tuple(
            (None, next(targets, None)) if element is None or len(element) < 4 else (struct.unpack_from("<f", element)[0], None)  # noqa: PLR2004 - a float
            for element in param.elements
        )

    def integers(self, ident: int) -> tuple[int, ...]:
        """Return the constants of a table of integers or times; what is animated is left out."""
        param = self._params.get(ident)
        elements = () if param is None else param.elements
        return tuple(struct.unpack_from("<i", element)[0] for element in elements if element and len(element) >= 4)  # noqa: PLR2004 - a word

    def first_table(self, kinds: tuple[int, ...]) -> int | None:
        """Return the id of the first table, in file order, whose elements are of one of the types; None without one."""
        return next((ident for ident, param in self._params.items() if param.is_table and param.kind in kinds), None)

    def kind(self, ident: int) -> int | None:
        """Return a parameter's type (max-format.md 6), None when it is absent."""
        param = self._params.get(ident)
        return None if param is None else param.kind

    def is_constant(self, ident: int) -> bool:
        """Tell whether the parameter has a constant value."""
        param = self._params.get(ident)
        return param is not None and param.value is not None

    def _unpack(self, ident: int, layout: str, default: float) -> float:
        param = self._params.get(ident)
        if param is None or param.value is None or len(param.value) < struct.calcsize(layout):
            return default
        value: float = struct.unpack_from(layout, param.value)[0]
        return value


def _elements(kind: int, count: int, value: bytes) -> Iterator[bytes | None]:
    """Yield every element's constant, None where a controller in a reference slot of its own animates it."""
    at = 4
    for _ in range(count):
        if at >= len(value):
            return
        mark = value[at]
        at += 1
        size = 0
        if kind in _STRINGS and mark & _CONSTANT:
            size = 4 + struct.unpack_from("<I", value.ljust(at + 4, b"\0"), at)[0]
        elif mark & _CONSTANT or kind in _REFERENCES:
            size = _SIZES.get(kind, 4)
        yield None if mark & _ANIMATED and not mark & _CONSTANT else value[at : at + size]
        at += size
