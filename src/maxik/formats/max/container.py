"""The OLE container of a .max file: its streams, inflated where they are compressed (max-format.md 1)."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from maxik.errors import FileFormatError

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_GZIP_MAGIC = b"\x1f\x8b"
_LFS_START = b"version https://git-lfs"
MOST_BYTES = 512 * 1024 * 1024
"""The largest stream that is read, inflated: a gzip bomb ends here."""


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
        content = Path(path).read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=file) from error
    _check_kind(file, content)
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


def _ole_streams(file: str, content: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    import olefile  # noqa: PLC0415 - loaded only when a .max file is read

    found: dict[str, bytes] = {}
    try:
        with olefile.OleFileIO(io.BytesIO(content)) as ole:
            for name in names:
                if ole.exists(name):
                    found[name] = ole.openstream(name).read()
    except Exception as error:  # olefile raises whatever a damaged table leads to
        message = f"the OLE container is damaged or cut off: {error or type(error).__name__}"
        raise FileFormatError(message, file=file) from error
    return found


def _inflated(file: str, name: str, data: bytes) -> bytes:
    if not data.startswith(_GZIP_MAGIC):
        return data
    inflater = zlib.decompressobj(31)
    try:
        inflated = inflater.decompress(data, MOST_BYTES)
    except zlib.error as error:
        message = f"the compressed stream is damaged: {error}"
        raise FileFormatError(message, file=file, stream=name) from error
    if inflater.unconsumed_tail:
        message = f"the compressed stream inflates to more than {MOST_BYTES >> 20} MB"
        raise FileFormatError(message, file=file, stream=name)
    if not inflater.eof:
        message = "the compressed stream is cut off"
        raise FileFormatError(message, file=file, stream=name)
    return inflated
