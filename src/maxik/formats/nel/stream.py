"""The primitives of NeL's binary streams (nel-facts.md 2.1): little-endian, unaligned, no checksum.

What is read keeps its bits: float32 stay numpy values, never Python floats, which would turn a signalling NaN quiet.
Strings are taken as UTF-8; bytes that are not (older exporters wrote the code page of their machine) survive as
surrogate escapes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from maxik.errors import FileFormatError, SceneError

MOST_FILE_BYTES = 64 << 20
"""The largest file that is read; the largest of the real ones has 0.2 MB."""
MOST_OBJECTS = 100_000
"""The most bones, tracks, names, time blocks and strings of a file, so that a hostile one is read in a second or two."""
NULL = 0

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Pointer(Generic[T]):
    """A polymorphic pointer: `id` as stored (0 is null, then `target` is None); pointers of one id share their target.

    Newer files count ids from 1, older ones hold the raw pointers of the program that wrote them; either is kept.
    """

    id: int
    target: T | None


@dataclass
class Reader:
    """Takes values off a file's bytes from `at` on; whatever does not fit is a FileFormatError with the offset."""

    file: str
    data: bytes
    at: int = 0
    _targets: dict[int, Any] = field(default_factory=dict)
    _objects: int = 0

    def error(self, what: str, offset: int | None = None) -> FileFormatError:
        """Return an error at `offset`, or where the reader stands."""
        return FileFormatError(what, file=self.file or None, offset=self.at if offset is None else offset)

    def take(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes."""
        if size > len(self.data) - self.at:
            message = f"{what} of {size} bytes is cut off: {len(self.data) - self.at} bytes are left"
            raise self.error(message)
        self.at += size
        return self.data[self.at - size : self.at]

    def expect(self, magic: bytes) -> None:
        """Take the file's mark."""
        found = self.data[self.at : self.at + len(magic)]
        if found != magic:
            message = f"does not begin with {magic.decode()}"
            raise self.error(message)
        self.at += len(magic)

    def version(self, newest: int, what: str) -> int:
        """Return a version byte up to `newest`."""
        (found,) = self.take(1, f"the version of {what}")
        if found > newest:
            message = f"{what} has version {found}; known are 0 to {newest}"
            raise self.error(message, self.at - 1)
        return found

    def flag(self, what: str) -> bool:
        """Return a bool, a byte of 0 or 1."""
        (found,) = self.take(1, what)
        if found > 1:
            message = f"{what} is {found}, neither 0 nor 1"
            raise self.error(message, self.at - 1)
        return bool(found)

    def number(self, code: str, what: str) -> int:
        """Return one whole number of the struct code `code`: "i", "I", "H" or "Q"."""
        layout = struct.Struct("<" + code)
        return int(layout.unpack(self.take(layout.size, what))[0])

    def count(self, item_bytes: int, what: str) -> int:
        """Return the number of items, of at least `item_bytes` each, that follows: never more than the bytes left hold."""
        found = self.number("i", f"the number of {what}")
        if not 0 <= found <= (len(self.data) - self.at) // item_bytes:
            message = f"{found} {what} do not fit into the {len(self.data) - self.at} bytes left"
            raise self.error(message, self.at - 4)
        return found

    def objects(self, item_bytes: int, what: str) -> int:
        """Return, as `count` does, the number of items that become objects; a file may hold MOST_OBJECTS of them."""
        found = self.count(item_bytes, what)
        self._objects += found
        if self._objects > MOST_OBJECTS:
            message = f"{found} {what} are more than maxik reads: {MOST_OBJECTS} objects a file"
            raise self.error(message, self.at - 4)
        return found

    def array(self, dtype: DTypeLike, shape: tuple[int, ...], what: str) -> NDArray[Any]:
        """Return an array of fixed-size items; its memory is the file's and cannot be written to."""
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self.take(count * kind.itemsize, what), kind).reshape(shape)

    def floats(self, *shape: int, what: str) -> NDArray[np.float32]:
        """Return float32 values."""
        return self.array("<f4", shape, what)

    def string(self, what: str) -> str:
        """Return a string: u32 length and bytes."""
        size = self.number("I", f"the length of {what}")
        return self.take(size, what).decode("utf-8", "surrogateescape")

    def pointer(self, read: Callable[[str], T]) -> Pointer[T]:
        """Return a polymorphic pointer; `read` takes a class name and reads an object of it."""
        ident = self.number("Q", "a pointer")
        if ident == NULL:
            return Pointer(NULL, None)
        if ident not in self._targets:
            self._targets[ident] = read(self.string("a class name"))
        return Pointer(ident, self._targets[ident])

    def end(self) -> None:
        """Check that nothing follows."""
        if self.at != len(self.data):
            message = f"{len(self.data) - self.at} bytes follow the end"
            raise self.error(message)


@dataclass
class Writer:
    """Puts values behind one another, as Reader takes them."""

    parts: list[bytes] = field(default_factory=list)
    _written: set[int] = field(default_factory=set)

    def raw(self, data: bytes) -> None:
        """Put bytes as they are."""
        self.parts.append(data)

    def byte(self, value: int) -> None:
        """Put a version or a bool."""
        self.parts.append(bytes((value,)))

    def number(self, code: str, value: int) -> None:
        """Put one whole number of the struct code `code`."""
        self.parts.append(struct.pack("<" + code, value))

    def array(self, values: NDArray[Any]) -> None:
        """Put the items of an array, of the type that it has."""
        self.parts.append(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes())

    def string(self, text: str) -> None:
        """Put a string; SceneError for one that no UTF-8 can hold."""
        data = string_bytes(text)
        self.number("I", len(data))
        self.parts.append(data)

    def pointer(self, pointer: Pointer[T], class_name: Callable[[T], str], write: Callable[[T], None]) -> None:
        """Put a polymorphic pointer: an id that comes for the first time brings its object."""
        self.number("Q", pointer.id)
        if pointer.target is not None and pointer.id not in self._written:
            self._written.add(pointer.id)
            self.string(class_name(pointer.target))
            write(pointer.target)

    def finish(self) -> bytes:
        """Return the whole file."""
        return b"".join(self.parts)


def string_bytes(text: str) -> bytes:
    """Return a string's bytes in the file; the order of these is the order of names in a map."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        message = f"the name {text!r} cannot be written as UTF-8"
        raise SceneError(message) from None


def read_names(reader: Reader, what: str) -> tuple[tuple[str, int], ...]:
    """Return a map of names to u32 indices, in the file's order."""
    count = reader.objects(8, f"names of {what}")
    return tuple((reader.string(f"a name of {what}"), reader.number("I", "an index")) for _ in range(count))


def check_names(reader: Reader, names: tuple[tuple[str, int], ...], targets: int, what: str) -> None:
    """Refuse names that point past the last of the `targets`."""
    for name, index in names:
        if index >= targets:
            message = f"the name {name[:80]!r} points to number {index} of {targets} {what}"
            raise reader.error(message)


def write_names(writer: Writer, names: tuple[tuple[str, int], ...]) -> None:
    """Put a map of names to indices."""
    writer.number("i", len(names))
    for name, index in names:
        writer.string(name)
        writer.number("I", index)


def file_bytes(path: str | Path) -> bytes:
    """Return a file's bytes; FileFormatError when it cannot be read or is too large."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=str(path)) from error
    if len(data) > MOST_FILE_BYTES:
        message = f"is larger than {MOST_FILE_BYTES >> 20} MB"
        raise FileFormatError(message, file=str(path))
    return data
