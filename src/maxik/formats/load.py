"""Any scene file to a Scene: the format is told by the content, not by the name."""

from __future__ import annotations

from pathlib import Path

from maxik.errors import FileFormatError
from maxik.scene.scene import Scene


def load_scene(path: str | Path) -> Scene:
    """Read a .max file or a scene JSON file.

    A file that begins with "{" (after white space) is scene JSON, everything else is taken for a .max file. Raises
    FileFormatError, which names the file, for what cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(64)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=str(path)) from error
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        from maxik.formats.scene_json import read_scene_json  # noqa: PLC0415 - one reader is loaded, not both

        return read_scene_json(path)
    from maxik.formats.max import read_max  # noqa: PLC0415 - one reader is loaded, not both

    return read_max(path)
