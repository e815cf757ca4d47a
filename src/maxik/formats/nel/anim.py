"""A NeL animation, `.anim` (nel-facts.md 2.2), versions 0, 1 and 2: tracks, and the names that point to them.

Re-writing keeps every byte: pointer ids, the order of names and of tracks, tracks that no name points to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maxik.formats.nel.stream import Pointer, Reader, Writer, check_names, file_bytes, read_names, string_bytes, write_names
from maxik.formats.nel.tracks import Track, read_track, write_track
from maxik.numerics.float32 import FLT_MAX

_MAGIC = b"NEL_ANIM"
_NEWEST = 2
_WITH_END, _WITH_SHAPES = 1, 2
NO_END = np.array([-FLT_MAX], np.float32)
"""The minimum end time of an animation that has not been built."""


@dataclass(frozen=True, eq=False)
class Animation:
    """A whole `.anim`: `names` pairs a track's name ("Bip01 Spine.rotquat") with its index, in the file's order.

    `minimum_end` (1,) float32 seconds, None before version 1; `shapes`: names of shapes of spawned scripts, version 2.
    """

    tracks: tuple[Pointer[Track], ...]
    names: tuple[tuple[str, int], ...]
    minimum_end: NDArray[np.float32] | None = None
    shapes: tuple[str, ...] = ()
    name: str = ""
    version: int = _NEWEST

    def named(self) -> dict[str, Track]:
        """Return the tracks that names point to; a null pointer has none."""
        found = ((name, self.tracks[index].target) for name, index in self.names)
        return {name: track for name, track in found if track is not None}


def animation(tracks: Mapping[str, Track], minimum_end: NDArray[np.float32] = NO_END) -> Animation:
    """Return a new animation of version 2 with tracks in the order given, pointer ids from 1, names in their bytes' order."""
    pointers: tuple[Pointer[Track], ...] = tuple(Pointer(number, track) for number, track in enumerate(tracks.values(), 1))
    places = sorted(((name, index) for index, name in enumerate(tracks)), key=lambda entry: string_bytes(entry[0]))
    return Animation(pointers, tuple(places), minimum_end)


def read_anim(path: str | Path) -> Animation:
    """Return the animation in a file; FileFormatError, with file and offset, for one that is not whole or newer."""
    return parse_anim(file_bytes(path), str(path))


def parse_anim(data: bytes, file: str = "") -> Animation:
    """Return the animation in a file's bytes; `file` is named in errors."""
    reader = Reader(file, data)
    reader.expect(_MAGIC)
    version = reader.version(_NEWEST, "the animation")
    name = reader.string("the animation's name")
    names = read_names(reader, "tracks")
    count = reader.objects(8, "tracks")
    check_names(reader, names, count, "tracks")
    tracks = tuple(reader.pointer(lambda class_name: read_track(reader, class_name)) for _ in range(count))
    minimum_end = reader.floats(1, what="the minimum end time") if version >= _WITH_END else None
    shapes: tuple[str, ...] = ()
    if version >= _WITH_SHAPES:
        shapes = tuple(reader.string("a shape") for _ in range(reader.objects(4, "shapes")))
    reader.end()
    return Animation(tracks, names, minimum_end, shapes, name, version)


def anim_bytes(animation: Animation) -> bytes:
    """Return an animation as a file; of one that was read, the very bytes."""
    writer = Writer()
    writer.raw(_MAGIC)
    writer.byte(animation.version)
    writer.string(animation.name)
    write_names(writer, animation.names)
    writer.number("i", len(animation.tracks))
    for pointer in animation.tracks:
        writer.pointer(pointer, lambda track: track.class_name, lambda track: write_track(writer, track))
    if animation.minimum_end is not None:
        writer.array(animation.minimum_end)
    if animation.version >= _WITH_SHAPES:
        writer.number("i", len(animation.shapes))
        for shape in animation.shapes:
            writer.string(shape)
    return writer.finish()
