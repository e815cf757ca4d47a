"""Tracks: values over time, evaluated for many ticks in one call.

A track gives `size` float32 components at every tick asked for. Arithmetic is binary64, rounded to float32 once at
the end. Outside its keys a track holds its end value: the documented default, the stored out-of-range type being
unknown. The interpolation itself is in interpolate.py. Sources: max-format.md 5.3, core-contracts.md 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maxik.scene import interpolate

Ticks = NDArray[np.int64]
Float32s = NDArray[np.float32]
Times = Sequence[int] | NDArray[np.integer]
"""One whole number for each key; kept as an array (K,)."""
Rows = Sequence[Sequence[float]] | NDArray[np.floating]
"""One row of numbers for each key; kept as a float32 array (K, numbers)."""


class Track(Protocol):
    """A value over time."""

    @property
    def size(self) -> int:
        """Number of components."""
        ...

    @property
    def key_range(self) -> tuple[int, int] | None:
        """First and last key in ticks; None when the track has fewer than two keys and so never changes."""
        ...

    def at(self, ticks: Ticks) -> Float32s:
        """Return the values at `ticks`, (F, size) float32; (1, size) when the track never changes."""
        ...


@dataclass(frozen=True)
class ConstantTrack:
    """The same value at all times."""

    value: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.value)

    @property
    def key_range(self) -> None:
        """No keys."""
        return

    def at(self, ticks: Ticks) -> Float32s:  # noqa: ARG002 - a constant does not look at the time
        """Return the value once, (1, size)."""
        with np.errstate(all="ignore"):
            return np.array([self.value], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class KeyedTrack:
    """What all keyed tracks share: `times` in ticks, strictly rising, and one row of `values` for each key.

    Every field may be given as nested tuples or lists; it is kept as a read-only array: times and types int64 and int8,
    all else float32. Tracks are equal when they are of one class and all bits of their fields agree.
    """

    times: Times
    values: Rows

    def __post_init__(self) -> None:
        """Check that there are keys, rising in time, and a row for each in every field; ValueError says what is wrong."""
        for entry in fields(self):
            object.__setattr__(self, entry.name, _key_array(entry.name, getattr(self, entry.name)))
        times, values = np.asarray(self.times), np.asarray(self.values)
        if not len(times) or len(times) != len(values):
            message = f"{len(times)} key times with {len(values)} values"
            raise ValueError(message)
        if (times[1:] <= times[:-1]).any():
            message = "key times are not strictly rising"
            raise ValueError(message)
        if any(len(getattr(self, entry.name)) != len(times) for entry in fields(self)):
            message = "a key lacks a part: tangent, length, type or TCB numbers"
            raise ValueError(message)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, entry.name), getattr(other, entry.name)) for entry in fields(self))
        return all(mine.shape == other.shape and mine.tobytes() == other.tobytes() for mine, other in pairs)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.values[0])

    @property
    def key_range(self) -> tuple[int, int] | None:
        """First and last key in ticks; None with one key."""
        return (int(self.times[0]), int(self.times[-1])) if len(self.times) > 1 else None

    def at(self, ticks: Ticks) -> Float32s:
        """Return the values at `ticks`, (F, size) float32; (1, size) with one key."""
        if len(self.times) == 1:
            return np.array(self.values, dtype=np.float32)
        with np.errstate(all="ignore"):  # NaN and infinity of a damaged file stay what they are
            values = np.array(self.values, dtype=np.float64)
            place = interpolate.locate(np.asarray(self.times, dtype=np.int64), ticks)
            return self._between(values, place).astype(np.float32)

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        """Return the values at the places, (F, size) binary64."""
        raise NotImplementedError


def _key_array(name: str, given: Times | Rows) -> NDArray[Any]:
    """Return a field of a keyed track as the array that it is kept as."""
    if name == "times":
        kept = np.array(given, np.int64)
    elif name.endswith("_types"):
        kept = np.array(given, np.int8)
    else:
        try:
            kept = np.array(given, np.float32)
        except ValueError as error:
            message = "key values differ in size"
            raise ValueError(message) from error
        if kept.ndim == 1:
            kept = kept[:, None]
    kept.flags.writeable = False
    return kept


@dataclass(frozen=True, eq=False)
class LinearTrack(KeyedTrack):
    """Straight lines from key to key (max-format.md 5.3, linear keys)."""

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        return interpolate.linear(values, place)


@dataclass(frozen=True, eq=False)
class StepTrack(KeyedTrack):
    """Each key's value until the next key: booleans, on/off."""

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        return interpolate.hold(values, place)


@dataclass(frozen=True, eq=False)
class BezierTrack(KeyedTrack):
    """Bezier keys: a curve in (time, value) with handles (max-format.md 5.3, verified against cached values).

    Tangents are per tick, the in-tangent with the sign of a handle that points back in time; lengths are fractions of
    the segment, -1 where not set (then 1/3). Types: 0 smooth, 1 linear, 2 step, 3 fast, 4 slow, 5 custom.
    """

    in_tangents: Rows
    out_tangents: Rows
    in_lengths: Rows
    out_lengths: Rows
    in_types: Times
    out_types: Times

    def __post_init__(self) -> None:
        """Check that tangents and lengths have the values' size, besides what every keyed track checks."""
        super().__post_init__()
        rows = (self.in_tangents, self.out_tangents, self.in_lengths, self.out_lengths)
        if any(len(part[0]) != self.size for part in rows):
            message = "a Bezier key's tangent or length differs in size from its value"
            raise ValueError(message)

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        rows = (self.in_tangents, self.out_tangents, self.in_lengths, self.out_lengths)
        handles = interpolate.Handles(*(np.array(part, dtype=np.float64) for part in rows))
        types = (np.array(self.in_types, dtype=np.int64), np.array(self.out_types, dtype=np.int64))
        return interpolate.bezier(values, place, handles, *types)


@dataclass(frozen=True, eq=False)
class TcbTrack(KeyedTrack):
    """Tension, continuity, bias keys with ease (core-contracts.md 9; not verified on real keys: none were found).

    `tcb`: tension, continuity, bias, ease in, ease out (old name: ease to, ease from) for each key.
    """

    tcb: Rows

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        return interpolate.tcb(values, place, np.array(self.times, np.float64), np.array(self.tcb, np.float64))


@dataclass(frozen=True, eq=False)
class SlerpTrack(KeyedTrack):
    """Quaternions (x, y, z, w) turned the shorter way from key to key at constant speed: linear rotation keys."""

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        return interpolate.slerp(values, place, place.fraction)


@dataclass(frozen=True, eq=False)
class TcbRotationTrack(KeyedTrack):
    """TCB rotation keys as quaternions (x, y, z, w): Kochanek-Bartels tangents of the turns from key to key, with ease.

    Every turn is taken the shorter way. Not verified on real keys (none were found): readers name such tracks as assumed.
    """

    tcb: Rows

    def _between(self, values: interpolate.Float64s, place: interpolate.Place) -> interpolate.Float64s:
        return interpolate.tcb_rotation(values, place, np.array(self.times, np.float64), np.array(self.tcb, np.float64))


@dataclass(frozen=True)
class ComponentsTrack:
    """Tracks of size 1 side by side: Position XYZ, ScaleXYZ, preferred angles."""

    tracks: tuple[Track, ...]

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.tracks)

    @property
    def key_range(self) -> tuple[int, int] | None:
        """First and last key of all components; None when none of them changes."""
        ranges = [track.key_range for track in self.tracks if track.key_range is not None]
        return (min(first for first, _ in ranges), max(last for _, last in ranges)) if ranges else None

    def at(self, ticks: Ticks) -> Float32s:
        """Return the components side by side, (F, size) float32; (1, size) when none of them changes."""
        columns = [track.at(ticks) for track in self.tracks]
        rows = max(len(column) for column in columns)
        return np.ascontiguousarray(np.concatenate([np.broadcast_to(column, (rows, 1)) for column in columns], axis=1))


@dataclass(frozen=True)
class SumTrack:
    """A list controller over tracks of one size: their values added, each times its weight (a track of size 1).

    `average` divides the weights by their sum. Binary64, rounded once. Weights other than 1 are assumed.
    """

    tracks: tuple[Track, ...]
    weights: tuple[Track, ...]
    average: bool = False

    @property
    def size(self) -> int:
        """Number of components."""
        return self.tracks[0].size

    @property
    def key_range(self) -> tuple[int, int] | None:
        """First and last key of all entries and weights; None when none of them changes."""
        return ComponentsTrack((*self.tracks, *self.weights)).key_range

    def at(self, ticks: Ticks) -> Float32s:
        """Return the sum, (F, size) float32; (1, size) when nothing changes."""
        with np.errstate(all="ignore"):
            weights = [track.at(ticks).astype(np.float64) for track in self.weights]
            total = sum(weights)
            if self.average:
                weights = [
                    np.divide(weight, total, out=np.zeros_like(weight * total), where=total != 0.0) for weight in weights
                ]
            parts = [track.at(ticks).astype(np.float64) * weight for track, weight in zip(self.tracks, weights, strict=True)]
            return np.asarray(sum(parts), dtype=np.float32)
