"""The OLE container of a .max file: its streams, inflated where they are compressed (max-format.md 1)."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from maxik.errors import FileFormatError

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_GZIP_MAGIC = b"\x1f\x8b"
_LFS_START = b"version https://git-lfs"
MOST_FILE_BYTES = 1 << 30
"""The largest file that is read."""
_INFLATED_AT_LEAST, _INFLATED_BY, _INFLATED_AT_MOST = 32 << 20, 40, 320 << 20
"""A compressed stream may inflate to 32 MB, or 40 times its size up to 320 MB (real ones: 3 to 24 times): a gzip bomb, a
thousand times its size, ends here."""
_PIECE = 1 << 20
_SECTOR_SHIFTS = (9, 12)
_HEADER = struct.Struct("<24xHHHHH6xIIIIIIIII")
_HEADER_BYTES = 512


@dataclass(frozen=True)
class Stream:
    """One stream: the file's path as given, the stream's name, its bytes."""

    file: str
    name: str
    data: bytes = field(repr=False)

    def error(self, what: str, offset: int | None = None, hint: str | None = None) -> FileFormatError:
        """Return an error that carries this stream's place."""
        return FileFormatError(what, file=self.file, stream=self.name, offset=offset, hint=hint)


def read_streams(path: str | Path, names: tuple[str, ...]) -> dict[str, Stream]:
    """Return those of the named streams that the file has, inflated.

    Raises FileFormatError for a file that cannot be read, that is no OLE file (a Git LFS pointer is named as such), or
    whose container is damaged.
    """
    file = str(path)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=file) from error
    if len(content) > MOST_FILE_BYTES:
        message = f"is larger than {MOST_FILE_BYTES >> 20} MB"
        raise FileFormatError(message, file=file)
    _check_kind(file, content)
    _check_tables(file, content)
    return {name: Stream(file, name, _inflated(file, name, data)) for name, data in _ole_streams(file, content, names).items()}


def _check_kind(file: str, content: bytes) -> None:
    if content.startswith(_LFS_START):
        message = "is a Git LFS pointer, not the .max file itself"
        raise FileFormatError(message, file=file, hint="fetch it with: git lfs pull")
    if not content:
        message = "is empty"
        raise FileFormatError(message, file=file)
    if not content.startswith(_OLE_MAGIC):
        what = "holds nothing but zero bytes" if not content.strip(b"\0") else "is not an OLE file, so no .max file"
        raise FileFormatError(what, file=file)


def _check_tables(file: str, content: bytes) -> None:
    """Refuse a container whose header claims more table sectors than the file has: reading them would not end."""
    if len(content) < _HEADER_BYTES:
        message = "the OLE container is damaged or cut off: its header is incomplete"
        raise FileFormatError(message, file=file)
    _, _, _, shift, _, directory, fat, _, _, _, _, mini_fat, _, double_fat = _HEADER.unpack_from(content)
    if shift not in _SECTOR_SHIFTS:
        message = f"the OLE container is damaged: sectors of 2^{shift} bytes"
        raise FileFormatError(message, file=file, offset=30)
    sectors = (len(content) >> shift) + 1
    claims = ((40, "directory", directory), (44, "FAT", fat), (64, "mini FAT", mini_fat), (72, "DIFAT", double_fat))
    for offset, name, count in claims:
        if count > sectors:
            message = f"the OLE container is damaged: {count} {name} sectors in a file of {sectors} sectors"
            raise FileFormatError(message, file=file, offset=offset)


def _ole_streams(file: str, content: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    import olefile  # noqa: PLC0415 - loaded only when a .max file is read

    found: dict[str, bytes] = {}
    larger = None
    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            for entry in ole.root.kids:
                if entry.name not in names:
                    continue
                if entry.size > len(content):
                    larger = entry.name
                elif entry.size >= ole.minisectorcutoff:
                    found[entry.name] = _long_stream(content, ole.fat, ole.sectorsize, entry.isectStart, entry.size)
                else:
                    found[entry.name] = ole.openstream(entry.name).read()
    except Exception as error:  # olefile raises whatever a damaged table leads to
        message = f"the OLE container is damaged or cut off: {error or type(error).__name__}"
        raise FileFormatError(message, file=file) from error
    if larger is not None:
        message = "the OLE container is damaged: the stream is larger than the file"
        raise FileFormatError(message, file=file, stream=larger)
    return found


def _long_stream(content: bytes, fat: Sequence[int], sector_bytes: int, first: int, size: int) -> bytes:
    """Return a stream of whole sectors, by runs of neighbouring ones: several times faster than one by one.

    Raises ValueError where the chain of sectors ends too early or leaves the file; it may run in a circle, size ends it.
    """
    parts = []
    sector, left = first, -(-size // sector_bytes)
    while left:
        start = sector
        while True:
            if not 0 <= sector < len(fat) or (sector + 1) * sector_bytes >= len(content):
                message = f"the chain of a stream's sectors leaves the file at sector {sector}"
                raise ValueError(message)
            left -= 1
            following = fat[sector]
            if not left or following != sector + 1:
                break
            sector = following
        parts.append(content[(start + 1) * sector_bytes : (sector + 2) * sector_bytes])
        sector = following
    whole = b"".join(parts) if len(parts) > 1 else parts[0]
    if len(whole) < size:
        message = "the last sector of a stream is cut off"
        raise ValueError(message)
    return whole[:size]


def _inflated(file: str, name: str, data: bytes) -> bytes:
    """Return a stream inflated; its size is counted before any of it is kept."""
    if not data.startswith(_GZIP_MAGIC):
        return data
    most = min(max(_INFLATED_AT_LEAST, _INFLATED_BY * len(data)), _INFLATED_AT_MOST)
    inflater = zlib.decompressobj(31)
    size, waiting = 0, data
    try:
        while not inflater.eof and size <= most:
            piece = inflater.decompress(waiting, _PIECE)
            waiting = inflater.unconsumed_tail
            size += len(piece)
            if not piece and not waiting:
                message = "the compressed stream is cut off"
                raise FileFormatError(message, file=file, stream=name)
        if size <= most:
            return zlib.decompress(data[: len(data) - len(inflater.unused_data)], 31, max(size, 1))
    except zlib.error as error:
        message = f"the compressed stream is damaged: {error}"
        raise FileFormatError(message, file=file, stream=name) from error
    message = f"the compressed stream inflates to more than {most >> 20} MB"
    raise FileFormatError(message, file=file, stream=name)
