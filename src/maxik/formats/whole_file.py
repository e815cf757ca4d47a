"""Output files appear whole or not at all: written beside, then renamed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from maxik.errors import MaxikError


def write_whole(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader sees the old file or the new one, never a part; MaxikError when it cannot."""
    target = Path(path)
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(beside).chmod(0o666 & ~mask)
            Path(beside).replace(target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise MaxikError(message, file=str(path)) from error
