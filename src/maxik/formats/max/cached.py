"""Keyed tracks against the values that 3ds Max cached in them (max-format.md 5.3): ground truth in every file.

A key-frame controller stores the value that 3ds Max last computed and the interval of time for which it holds. Evaluating
the keys there shows, in the file itself, how well maxik's interpolation agrees with 3ds Max's.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from maxik.formats.max import classes as c
from maxik.formats.max.keys import INTERVAL, cached_value, has_other_keys, key_frame_parts, read_keys
from maxik.formats.max.objects import Objects, open_objects
from maxik.scene.tracks import KeyedTrack

_KINDS = {c.FLOAT, c.POINT3, c.POSITION, c.ROTATION, c.SCALE}
_FOREVER = (-(2**31), 2**31 - 1)
ON_KEY, BETWEEN, OUTSIDE, ONE_KEY = "on a key", "between keys", "outside the keys", "one key"


@dataclass(frozen=True)
class CachedValue:
    """One cached value: controller (object index and class), where the tick lies among the keys, how far maxik is off.

    `error` is the largest absolute difference of the components, `share` the same as a fraction of the track's range (0
    for a track that is flat), `exact` whether every float32 bit is the same.
    """

    controller: int
    class_name: str
    tick: int
    place: str
    error: float
    share: float
    exact: bool


def cached_values(path: str | Path) -> tuple[CachedValue, ...]:
    """Return every cached value of a .max file's key-frame controllers with keys. Raises FileFormatError as read_max does."""
    objects, _ = open_objects(path)
    found = (
        _compare(objects, index) for ident, places in objects.by_class.items() if ident.super in _KINDS for index in places
    )
    return tuple(value for value in found if value is not None)


def _compare(objects: Objects, index: int) -> CachedValue | None:
    """Return a controller's cached value beside maxik's; None without keys, cache or interval, or where keys are damaged."""
    interval = key_frame_parts(objects, index).get(INTERVAL)
    if interval is None or interval.end - interval.start != 8 or has_other_keys(objects, index):  # noqa: PLR2004 - two i32
        return None
    try:
        keys = read_keys(objects, index)
    except ValueError:
        return None
    cached = cached_value(objects, index)
    if keys is None or cached is None or len(cached) < keys.track.size:
        return None
    start, end = struct.unpack("<2i", objects.bytes_of(interval))
    track = keys.track
    tick = int(track.times[0]) if (start, end) == _FOREVER else start
    stored = np.array(cached[: track.size], np.float32)
    value = track.at(np.array([tick], np.int64))[0]
    error = float(np.abs(value.astype(np.float64) - stored).max())
    spread = float(np.ptp(np.array(track.values), axis=0).max())
    return CachedValue(
        controller=index,
        class_name=objects.class_of(index).name,
        tick=tick,
        place=_place(track, tick),
        error=error,
        share=error / spread if spread else 0.0,
        exact=value.tobytes() == stored.tobytes(),
    )


def _place(track: KeyedTrack, tick: int) -> str:
    if len(track.times) == 1:
        return ONE_KEY
    if tick in track.times:
        return ON_KEY
    return BETWEEN if track.times[0] < tick < track.times[-1] else OUTSIDE
