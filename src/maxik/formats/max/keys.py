"""Key tables and cached values of key-frame controllers (max-format.md 5.3).

A table is an array of fixed records; its chunk id tells the record. In newer files the chunks stand in a 7127 wrapper,
in older ones directly in the object; one file can hold both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.formats.max import classes as c
from maxik.formats.max.chunks import Chunk, children
from maxik.formats.max.objects import Objects
from maxik.numerics.float32 import f32
from maxik.scene.tracks import BezierTrack, KeyedTrack, LinearTrack, SlerpTrack, StepTrack, TcbRotationTrack, TcbTrack

_WRAPPER = 0x7127
INTERVAL = 0x2500
_CACHED = {0x2501: 1, 0x2503: 3, 0x2504: 4, 0x2505: 7, 0x3006: 1}
"""Chunk of the current value -> number of float32: float, position, quaternion, scale with axis, boolean."""


@dataclass(frozen=True)
class _Layout:
    """A record: bytes in all, and where its float32 fields begin, counted in float32 from the record's start."""

    size: int
    kind: str
    components: int
    axis: int = 0  # components of a scale's axis quaternion after the value


_TABLES = {
    0x2511: _Layout(12, "linear", 1),
    0x2513: _Layout(20, "linear", 3),
    0x2514: _Layout(24, "slerp", 4),
    0x2515: _Layout(36, "linear", 3, 4),
    0x2525: _Layout(28, "bezier", 1),
    0x2526: _Layout(80, "bezier", 3),
    0x2528: _Layout(148, "bezier", 3, 4),
    0x2521: _Layout(64, "tcb", 3),
    0x2522: _Layout(92, "tcb rotation", 4),
    0x2523: _Layout(112, "tcb", 3, 4),
}
_BOOLEAN_TABLES = {0x3005: _Layout(12, "step", 1)}
"""Boolean controllers keep their keys here: time, flags, value (seen with one key; other classes keep a u32 there)."""


@dataclass(frozen=True)
class Keys:
    """A controller's keys: its track, the scale axis of its keys (K, 4) where it has one, and whether a rule is unproved."""

    track: KeyedTrack
    axes: NDArray[np.float32] | None
    assumed: str = ""


def key_frame_parts(objects: Objects, index: int) -> dict[int, Chunk]:
    """Return a controller's chunks by id, those in the wrapper first."""
    parts = objects.parts(index)
    wrapper = parts.get(_WRAPPER)
    if wrapper is None or not wrapper.is_container:
        return parts
    inner = {chunk.id: chunk for chunk in children(objects.stream, wrapper.start, wrapper.end)}
    return {**parts, **inner}


def cached_value(objects: Objects, index: int) -> tuple[float, ...] | None:
    """Return the value that 3ds Max last computed, as stored; None when there is none."""
    parts = key_frame_parts(objects, index)
    for ident, count in _CACHED.items():
        chunk = parts.get(ident)
        if chunk is not None and chunk.end - chunk.start >= 4 * count:
            return tuple(np.frombuffer(objects.bytes_of(chunk), "<f4", count).tolist())
    return None


def read_keys(objects: Objects, index: int) -> Keys | None:
    """Return a controller's keys, None when it has none.

    Raises FileFormatError when a table is no whole number of records, ValueError when its keys are not in order.
    """
    parts = key_frame_parts(objects, index)
    tables = _BOOLEAN_TABLES if objects.class_of(index).id == c.BOOLEAN else _TABLES
    for ident, layout in tables.items():
        chunk = parts.get(ident)
        if chunk is None or chunk.end == chunk.start:
            continue
        data = objects.bytes_of(chunk)
        if len(data) % layout.size:
            message = f"the key table {ident:#06x} of {len(data)} bytes is no whole number of keys"
            raise objects.stream.error(message, chunk.start)
        return _keys(np.frombuffer(data, "<f4").reshape(-1, layout.size // 4), layout)
    return None


def has_other_keys(objects: Objects, index: int) -> bool:
    """Tell whether a controller has a key table that read_keys does not know: ids 2510 to 252F."""
    parts = key_frame_parts(objects, index)
    return any(0x2510 <= ident <= 0x252F and ident not in _TABLES for ident in parts)  # noqa: PLR2004 - chunk ids


def _keys(records: NDArray[np.float32], layout: _Layout) -> Keys:
    words = np.ascontiguousarray(records).view("<i4")
    times, flags = words[:, 0], words[:, 1]
    value_end = 2 + layout.components
    axis_end = value_end + layout.axis
    values = records[:, 2:value_end]
    axes = records[:, value_end:axis_end] if layout.axis else None
    if layout.kind == "linear":
        return Keys(LinearTrack(times, values), axes)
    if layout.kind == "slerp":
        return Keys(SlerpTrack(times, values), None)
    if layout.kind == "step":
        assumed = "" if len(times) == 1 else "boolean keys: the layout is read from one file with one key"
        return Keys(StepTrack(times, values), None, assumed)
    if layout.kind == "bezier":
        return Keys(_bezier(records, layout, flags), axes)
    tcb = records[:, axis_end : axis_end + 5]
    assumed = "TCB keys: the interpolation is not verified against 3ds Max"
    if layout.kind == "tcb rotation":
        return Keys(TcbRotationTrack(times, values, tcb), None, f"{assumed}; every turn is taken the shorter way")
    return Keys(TcbTrack(times, values, tcb), axes, assumed)


def _bezier(records: NDArray[np.float32], layout: _Layout, flags: NDArray[np.int32]) -> BezierTrack:
    """Return Bezier keys: time, flags, value (a scale's axis), in-tangent, out-tangent, in-length, out-length."""
    n = layout.components
    at = 2 + n + layout.axis
    if layout.axis:  # where the lengths of scale keys lie is not known; the default is a third
        in_lengths = out_lengths = np.full((len(records), n), f32(1.0 / 3.0), np.float32)
    else:
        in_lengths, out_lengths = records[:, at + 2 * n : at + 3 * n], records[:, at + 3 * n : at + 4 * n]
    return BezierTrack(
        times=records.view("<i4")[:, 0],
        values=records[:, 2 : 2 + n],
        in_tangents=records[:, at : at + n],
        out_tangents=records[:, at + n : at + 2 * n],
        in_lengths=in_lengths,
        out_lengths=out_lengths,
        in_types=flags >> 7 & 7,
        out_types=flags >> 10 & 7,
    )
