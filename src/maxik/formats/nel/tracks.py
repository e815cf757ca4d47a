"""The tracks of an `.anim` (nel-facts.md 2.3): key framers, defaults, sampled tracks; read and written byte for byte.

A key framer's class is `CTrackKeyFramer` and its kind, say LinearQuat; its keys are one numpy record array, with the
fields of `KEY_FIELDS`. Times are seconds, quaternions x, y, z, w; everything is float32 but where said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.formats.nel.stream import Reader, Writer

Float32s = NDArray[np.float32]

_KEY_FRAMER, _DEFAULT, _SAMPLED = "CTrackKeyFramer", "CTrackDefault", "CTrackSampled"
_TCB = (("tension", "<f4"), ("continuity", "<f4"), ("bias", "<f4"), ("ease_to", "<f4"), ("ease_from", "<f4"))
_ONE = (("value", "<f4", (1,)),)
_THREE = (("value", "<f4", (3,)),)
_QUAT = (("value", "<f4", (4,)),)


def _bezier(size: int) -> tuple[tuple[object, ...], ...]:
    return *((name, "<f4", (size,)) for name in ("value", "in", "out")), ("step", "u1")


KEY_FIELDS: dict[str, tuple[tuple[object, ...], ...]] = {
    **dict.fromkeys(("LinearQuat", "ConstQuat", "BezierQuat"), _QUAT),
    **dict.fromkeys(("LinearVector", "ConstVector"), _THREE),
    **dict.fromkeys(("LinearFloat", "ConstFloat"), _ONE),
    **dict.fromkeys(("LinearInt", "ConstInt"), (("value", "<i4", (1,)),)),
    **dict.fromkeys(("LinearRGBA", "ConstRGBA"), (("value", "u1", (4,)),)),
    "ConstBool": (("value", "u1", (1,)),),
    **dict.fromkeys(("TCBFloat", "TCBInt"), (*_ONE, *_TCB)),
    **dict.fromkeys(("TCBVector", "TCBRGBA"), (*_THREE, *_TCB)),
    "TCBQuat": (("axis", "<f4", (3,)), ("angle", "<f4"), *_TCB),
    **dict.fromkeys(("BezierFloat", "BezierInt"), _bezier(1)),
    **dict.fromkeys(("BezierVector", "BezierRGBA"), _bezier(3)),
}
"""Kind of a key framer -> its keys' fields, after the time and the version byte that every key has."""
_STRINGS = "ConstString"
_FLAGS = {"ConstBool": "value", **dict.fromkeys(("BezierFloat", "BezierInt", "BezierVector", "BezierRGBA"), "step")}
"""Kind -> the field of its keys that is a bool."""
_DEFAULTS = {"Float": ("<f4", 1), "Vector": ("<f4", 3), "Quat": ("<f4", 4), "Int": ("<i4", 1), "RGBA": ("u1", 4)}


@dataclass(frozen=True, eq=False)
class KeyFramer:
    """Keys of one kind: a record array `keys` (K,), of a ConstString besides their `strings`.

    `begin`, `end` (1,) seconds: the range, which counts only without `range_lock` (with it they may be garbage).
    """

    kind: str
    keys: NDArray[np.void]
    begin: Float32s
    end: Float32s
    loop: bool = False
    range_lock: bool = False
    strings: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        """The class as the file names it."""
        return _KEY_FRAMER + self.kind


@dataclass(frozen=True, eq=False)
class DefaultTrack:
    """A value for all times: an array of `kind` Float (1,), Vector (3,), Quat (4,), Int (1,), RGBA (4,), a String or a Bool."""

    kind: str
    value: NDArray[np.generic] | str | bool

    @property
    def class_name(self) -> str:
        """The class as the file names it."""
        return _DEFAULT + self.kind


@dataclass(frozen=True, eq=False)
class TimeBlock:
    """Keys near one another: `times` (bytes) in samples after `time_offset`; the first of them is key `key_offset`."""

    time_offset: int
    key_offset: int
    times: bytes


@dataclass(frozen=True, eq=False)
class SampledTrack:
    """Keys on a raster of samples: `kind` Quat with codes (K, 4) int16, or Vector with values (K, 3) float32.

    `spans` (6,): begin, end, their distance, its inverse, seconds between samples, their inverse. `version`: 0 or 1 of
    Quat, 0 of Vector.
    """

    kind: str
    version: int
    loop: bool
    spans: Float32s
    blocks: tuple[TimeBlock, ...]
    keys: NDArray[np.int16] | Float32s

    @property
    def class_name(self) -> str:
        """The class as the file names it."""
        return _SAMPLED + self.kind


Track = KeyFramer | DefaultTrack | SampledTrack


def key_records(kind: str, times: Float32s, **fields: NDArray[np.generic]) -> NDArray[np.void]:
    """Return the keys of a kind as records, from times (K,) and an array for each of KEY_FIELDS."""
    records = np.zeros(len(times), _key_type(kind))
    records["time"] = times
    for name, values in fields.items():
        records[name] = values
    return records


def read_track(reader: Reader, class_name: str) -> Track:
    """Return a track of the class named; FileFormatError for an unknown class."""
    start = reader.at
    for prefix, read in ((_KEY_FRAMER, _key_framer), (_SAMPLED, _sampled), (_DEFAULT, _default)):
        if class_name.startswith(prefix):
            track = read(reader, class_name.removeprefix(prefix))
            if track is not None:
                return track
    message = f"the track class {class_name[:80]!r} is not known"
    raise reader.error(message, start)


def write_track(writer: Writer, track: Track) -> None:
    """Put a track, without its class name."""
    if isinstance(track, KeyFramer):
        _write_key_framer(writer, track)
    elif isinstance(track, SampledTrack):
        _write_sampled(writer, track)
    else:
        writer.byte(0)
        if isinstance(track.value, str):
            writer.string(track.value)
        elif isinstance(track.value, bool):
            writer.byte(track.value)
        else:
            writer.array(track.value)


def _key_type(kind: str) -> np.dtype[np.void]:
    return np.dtype([("time", "<f4"), ("version", "u1"), *([] if kind == _STRINGS else KEY_FIELDS[kind])])


def _key_framer(reader: Reader, kind: str) -> KeyFramer | None:
    if kind != _STRINGS and kind not in KEY_FIELDS:
        return None
    reader.version(0, "a track")
    strings: tuple[str, ...] = ()
    if kind == _STRINGS:
        keys, strings = _string_keys(reader)
    else:
        dtype = _key_type(kind)
        count, start = reader.count(dtype.itemsize, "keys"), reader.at
        keys = reader.array(dtype, (count,), "keys")
        _check_bytes(reader, keys, "version", 0, start)
        if kind in _FLAGS:
            _check_bytes(reader, keys, _FLAGS[kind], 1, start)
    range_lock = reader.flag("a range lock")
    begin, end = reader.floats(1, what="a range"), reader.floats(1, what="a range")
    return KeyFramer(kind, keys, begin, end, reader.flag("a loop"), range_lock, strings)


def _string_keys(reader: Reader) -> tuple[NDArray[np.void], tuple[str, ...]]:
    dtype = _key_type(_STRINGS)
    heads, strings = [], []
    for _ in range(reader.objects(dtype.itemsize + 4, "keys")):
        start = reader.at
        heads.append(reader.array(dtype, (1,), "a key"))
        _check_bytes(reader, heads[-1], "version", 0, start)
        strings.append(reader.string("a key"))
    return np.concatenate(heads) if heads else np.zeros(0, dtype), tuple(strings)


def _check_bytes(reader: Reader, keys: NDArray[np.void], name: str, most: int, start: int) -> None:
    """Refuse keys whose byte `name` is above `most`."""
    wrong = (keys[name].reshape(len(keys)) > most).nonzero()[0]
    if len(wrong):
        assert keys.dtype.fields is not None  # noqa: S101 - records have fields
        offset = start + int(wrong[0]) * keys.dtype.itemsize + keys.dtype.fields[name][1]
        message = f"the {name} of a key is above {most}"
        raise reader.error(message, offset)


def _default(reader: Reader, kind: str) -> DefaultTrack | None:
    if kind not in (*_DEFAULTS, "String", "Bool"):
        return None
    reader.version(0, "a track")
    if kind == "String":
        return DefaultTrack(kind, reader.string("a value"))
    if kind == "Bool":
        return DefaultTrack(kind, reader.flag("a value"))
    dtype, size = _DEFAULTS[kind]
    return DefaultTrack(kind, reader.array(dtype, (size,), "a value"))


def _sampled(reader: Reader, kind: str) -> SampledTrack | None:
    if kind not in ("Quat", "Vector"):
        return None
    version = reader.version(1 if kind == "Quat" else 0, "a track")
    if kind == "Vector" or version:
        reader.version(0, "a track's raster")
    loop = reader.flag("a loop")
    spans = reader.floats(6, what="a raster")
    blocks = tuple(_block(reader) for _ in range(reader.objects(11, "time blocks")))
    dtype, size = ("<i2", 4) if kind == "Quat" else ("<f4", 3)
    keys = reader.array(dtype, (reader.count(np.dtype(dtype).itemsize * size, "keys"), size), "keys")
    return SampledTrack(kind, version, loop, spans, blocks, keys)


def _block(reader: Reader) -> TimeBlock:
    reader.version(0, "a time block")
    time_offset, key_offset = reader.number("H", "a time offset"), reader.number("I", "a key offset")
    return TimeBlock(time_offset, key_offset, reader.take(reader.count(1, "times"), "times"))


def _write_key_framer(writer: Writer, track: KeyFramer) -> None:
    writer.byte(0)
    writer.number("i", len(track.keys))
    if track.kind == _STRINGS:
        for place, text in enumerate(track.strings):
            writer.array(track.keys[place : place + 1])
            writer.string(text)
    else:
        writer.array(track.keys)
    writer.byte(track.range_lock)
    writer.array(track.begin)
    writer.array(track.end)
    writer.byte(track.loop)


def _write_sampled(writer: Writer, track: SampledTrack) -> None:
    writer.byte(track.version)
    if track.kind == "Vector" or track.version:
        writer.byte(0)
    writer.byte(track.loop)
    writer.array(track.spans)
    writer.number("i", len(track.blocks))
    for block in track.blocks:
        writer.byte(0)
        writer.number("H", block.time_offset)
        writer.number("I", block.key_offset)
        writer.number("i", len(block.times))
        writer.raw(block.times)
    writer.number("i", len(track.keys))
    writer.array(track.keys)
