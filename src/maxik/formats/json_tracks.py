"""Tracks as JSON, both ways (docs/scene-json.md): constants, components, sums, keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from numpy.typing import NDArray

from maxik.formats.json_values import At, number_entry
from maxik.scene import tracks as t

KEYED: Mapping[str, type[t.KeyedTrack]] = {
    "linear": t.LinearTrack,
    "step": t.StepTrack,
    "bezier": t.BezierTrack,
    "tcb": t.TcbTrack,
    "slerp": t.SlerpTrack,
    "tcb-rotation": t.TcbRotationTrack,
}
_KEYED_NAMES = {kind: name for name, kind in KEYED.items()}
_QUATERNION_KEYS = ("slerp", "tcb-rotation")
_IN_UNITS_OF_THE_VALUE = ("values", "in_tangents", "out_tangents")
_QUATERNION_SIZE = 4

_Read = Callable[[At], float]


def track_entry(track: t.Track) -> Any:  # noqa: ANN401 - JSON
    """Return a track as JSON data."""
    if isinstance(track, t.ConstantTrack):
        numbers = [number_entry(value) for value in track.value]
        return numbers[0] if len(numbers) == 1 else numbers
    if isinstance(track, t.ComponentsTrack):
        return {"components": [track_entry(part) for part in track.tracks]}
    if isinstance(track, t.SumTrack):
        parts = {"sum": [track_entry(part) for part in track.tracks], "weights": [track_entry(part) for part in track.weights]}
        return {**parts, "average": True} if track.average else parts
    if not isinstance(track, t.KeyedTrack):
        message = f"a track of class {type(track).__name__} has no JSON form"
        raise TypeError(message)
    entry: dict[str, Any] = {"keys": _KEYED_NAMES[type(track)]}
    for part in fields(track):
        value: NDArray[Any] = getattr(track, part.name)
        whole = value.tolist()
        entry[part.name] = [[number_entry(number) for number in row] for row in whole] if value.ndim > 1 else whole
    return entry


def optional_track(at: At, key: str, neutral: tuple[float, ...], *, angles: bool = False) -> t.Track:
    """Return the track under a key; the neutral value at all times where it is left out."""
    return read_track(at.get(key), len(neutral), angles=angles) if at.has(key) else t.ConstantTrack(neutral)


def read_track(at: At, size: int, read: _Read = At.number, *, angles: bool = False) -> t.Track:
    """Return a constant (a number, a list), components, or keys; for angles, any of them in degrees."""
    if not isinstance(at.value, dict):
        return t.ConstantTrack(row(at, size, read))
    if "degrees" in at.value:
        if not angles:
            at.fail("degrees are for angles, once around a whole track")
        return read_track(at.only(("degrees",)).get("degrees"), size, At.degrees)
    if "components" in at.value:
        parts = at.only(("components",)).get("components").items()
        if len(parts) != size:
            at.get("components").fail(f"{size} tracks are expected")
        return t.ComponentsTrack(tuple(read_track(part, 1, read, angles=angles) for part in parts))
    if "sum" in at.value:
        entries = at.only(("sum", "weights", "average")).get("sum").items()
        if not entries:
            at.get("sum").fail("at least one track is expected")
        tracks = tuple(read_track(part, size, read, angles=angles) for part in entries)
        return t.SumTrack(tracks, read_weights(at, len(tracks)), at.flag("average"))
    return _keyed(at, size, read)


def read_weights(at: At, count: int) -> tuple[t.Track, ...]:
    """Return the weights of `count` entries, each a track of size 1; 1 where none are given."""
    if not at.has("weights"):
        return (t.ConstantTrack((1.0,)),) * count
    entries = at.get("weights").items()
    if len(entries) != count:
        at.get("weights").fail(f"{count} weights are expected, not {len(entries)}")
    return tuple(read_track(entry, 1) for entry in entries)


def _keyed(at: At, size: int, read: _Read) -> t.Track:
    kind = at.get("keys").value
    if not isinstance(kind, str) or kind not in KEYED:
        at.get("keys").fail(f"one of {', '.join(KEYED)} is expected")
    if kind in _QUATERNION_KEYS and size != _QUATERNION_SIZE:
        at.get("keys").fail(f"{kind} keys are quaternions; a track of {size} is expected here")
    parts = [part.name for part in fields(KEYED[kind])]
    at.only(("keys", *parts))
    keys = len(at.get("times").items())
    given: dict[str, Any] = {}
    for part in parts:
        entries = at.get(part).items()
        if len(entries) != keys:
            at.get(part).fail(f"{keys} entries are expected, one for each of the times, not {len(entries)}")
        if part in ("times", "in_types", "out_types"):
            given[part] = tuple(entry.integer() for entry in entries)
        else:
            width = 5 if part == "tcb" else size
            in_units = read if part in _IN_UNITS_OF_THE_VALUE else At.number
            given[part] = tuple(row(entry, width, in_units) for entry in entries)
    try:
        return KEYED[kind](**given)
    except ValueError as error:
        at.fail(str(error))


def row(at: At, size: int, read: _Read = At.number) -> tuple[float, ...]:
    """Return `size` numbers; one number may stand without its list."""
    if not isinstance(at.value, list):
        if size == 1:
            return (read(at),)
        at.fail(f"{size} numbers are expected")
    entries = at.items()
    if len(entries) != size:
        at.fail(f"{size} numbers are expected, not {len(entries)}")
    return tuple(read(entry) for entry in entries)
