"""An animation as the animation builder leaves it (nel-facts.md 3): resampled, constant tracks folded, thinned, packed.

Reproduced are the steps of linear tracks. Left out: Bezier and TCB tracks, which the builder resamples too, are copied,
since how NeL interpolates them is not in the fact sheet (`not_built` names them). Where the fact sheet leaves a step open:
a fraction of the way between two keys is rounded to float32; vectors are mixed in binary64 and rounded once; a take of
one sample takes the end; "all within the threshold" of three samples is taken as every pair of them; dot products are not
rounded. None of it could be compared with a built file: none is at hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.errors import UsageError
from maxik.formats.nel.anim import NO_END, Animation, animation
from maxik.formats.nel.packing import make_closest, normalise, pack
from maxik.formats.nel.stream import string_bytes
from maxik.formats.nel.tracks import DefaultTrack, KeyFramer, SampledTrack, TimeBlock, Track
from maxik.numerics.float32 import f32

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Row = tuple[float, ...]

SAMPLE_RATE = 30.0
MOST_SAMPLES = 1 << 16
"""A time block counts samples in 16 bits."""
_LOW_PRECISION = ("Finger", "Ponytail")
_TURN, _TURN_LOW = 1e-6, 1e-4
_DISTANCE, _DISTANCE_LOW = 1e-4, 1e-3
_NEARLY_ONE = 1.0 - 1e-6
_BLOCK = 255
_KINDS = {"LinearQuat": "Quat", "LinearVector": "Vector"}


@dataclass(frozen=True)
class Rules:
    """What tells samples of a kind apart and mixes them: within the threshold, between two at a parameter."""

    close: Callable[[Row, Row], bool]
    between: Callable[[Row, Row, float], Row]
    hemispheres: bool


def build(raw: Animation) -> Animation:
    """Return the built form of an animation: tracks in the order of their names, packed rotations, sampled vectors.

    Tracks that no name points to are gone, others than linear rotations and vectors are copied. UsageError for a track
    of more than MOST_SAMPLES samples (36 minutes), one whose numbers are not finite or whose times do not rise, or one with a
    rotation of no direction.
    """
    tracks = raw.named()
    built = {name: _build(name, tracks[name]) for name in sorted(tracks, key=string_bytes)}
    ends = [NO_END if raw.minimum_end is None else raw.minimum_end, *(_range(track)[1] for track in tracks.values())]
    return animation(built, np.fmax.reduce(ends))


def not_built(raw: Animation) -> tuple[str, ...]:
    """Return the names of Bezier and TCB rotation and vector tracks, which `build` copies and the builder resamples."""
    others = {"BezierQuat", "BezierVector", "TCBQuat", "TCBVector"}
    return tuple(name for name, track in raw.named().items() if isinstance(track, KeyFramer) and track.kind in others)


def sample_times(begin: np.float32, end: np.float32) -> Float32s:
    """Return the times (n,) at which a track is sampled, seconds: n = max(1, ceil((end - begin) * 30)), unrounded.

    The times add up in float32; the last is the end itself (3.2, step 2). UsageError for more than MOST_SAMPLES.
    """
    span = float(end) - float(begin)
    if not span * SAMPLE_RATE <= MOST_SAMPLES:
        message = f"an animation from {begin} to {end} seconds is too long to be built: {MOST_SAMPLES} samples at most"
        raise UsageError(message)
    count = max(1, math.ceil(span * SAMPLE_RATE))
    steps = np.full(count, np.float32(span / max(count - 1, 1)), np.float32)
    steps[0] = begin
    times = np.add.accumulate(steps, dtype=np.float32)
    times[-1] = end
    return times


def slerp(a: Float64s, b: Float64s, p: Float32s) -> Float32s:
    """Return quaternions (N, 4) at the parameters p (N,) from a to b, as NeL mixes them: not normalised, hemispheres kept.

    Angle and sines in binary64, weights rounded to float32; within 1e-6 of the same turn the weights are linear.
    """
    dots = np.clip(np.sum(a * b, axis=1), -1.0, 1.0)
    near = dots >= _NEARLY_ONE
    angle = np.arccos(dots)
    sine = np.where(near, 1.0, np.sin(angle))
    wide = p.astype(np.float64)
    from_a = np.where(near, 1.0 - wide, np.sin((1.0 - wide) * angle) / sine).astype(np.float32)
    from_b = np.where(near, wide, np.sin(wide * angle) / sine).astype(np.float32)
    mixed: Float64s = from_a[:, None] * a + from_b[:, None] * b
    return mixed.astype(np.float32)


def thin(samples: Float32s, rules: Rules) -> list[int]:
    """Return which samples stay (3.2, step 4): greedily, those that the ones beside them do not give within the threshold.

    The parameter of the interpolation is that of the builder, with its slip: (cur - ref) / (next / ref).
    """
    rows: list[Row] = [tuple(row) for row in samples.astype(np.float64).tolist()]
    kept = [0]
    for cur in range(1, len(rows) - 1):
        ref, following = kept[-1], cur + 1
        a, here, b = rows[ref], rows[cur], rows[following]
        if following - ref > _BLOCK or (rules.hemispheres and _dot(a, b) < 0.0):
            kept.append(cur)
            continue
        if rules.close(a, here) and rules.close(here, b) and rules.close(a, b):
            continue
        parameter = (cur - ref) / (following / ref) if ref else 0.0
        if not rules.close(here, rules.between(a, b, parameter)):
            kept.append(cur)
    return kept if len(rows) == 1 else [*kept, len(rows) - 1]


def raster(begin: np.float32, end: np.float32, samples: int, kept: list[int]) -> tuple[Float32s, tuple[TimeBlock, ...]]:
    """Return spans (6,) and time blocks of the keys `kept` of `samples` samples (2.3, "filling the common block")."""
    if len(kept) <= 1:
        return np.array([begin, end, 0, 0, 0, 0], np.float32), (TimeBlock(0, 0, b"\0"),) * len(kept)
    spans = [np.float32(float(end) - float(begin)), np.float32((float(end) - float(begin)) / (samples - 1))]
    inverses = [np.float32(1.0 / float(span)) for span in spans]
    starts = [0]
    for place, sample in enumerate(kept):
        if sample - kept[starts[-1]] > _BLOCK:
            starts.append(place)
    blocks = tuple(
        TimeBlock(kept[start], start, bytes(sample - kept[start] for sample in kept[start:stop]))
        for start, stop in zip(starts, [*starts[1:], len(kept)], strict=True)
    )
    return np.array([begin, end, spans[0], inverses[0], spans[1], inverses[1]], np.float32), blocks


def rules_of(kind: str, name: str) -> Rules:
    """Return the thresholds of a track (3.2), lower precision for names with Finger or Ponytail in them."""
    low = any(part in name for part in _LOW_PRECISION)
    if kind == "LinearQuat":
        least = 1.0 - (_TURN_LOW if low else _TURN)
        return Rules(lambda a, b: abs(_dot(a, b)) >= least, _slerp_row, hemispheres=True)
    most = _DISTANCE_LOW if low else _DISTANCE
    return Rules(lambda a, b: math.dist(a, b) <= most, _mix_row, hemispheres=False)


def _build(name: str, track: Track) -> Track:
    if not isinstance(track, KeyFramer) or track.kind not in _KINDS or not len(track.keys):
        return track
    _check(name, track)
    begin, end = (bound[0] for bound in _range(track))
    samples = _samples(track, sample_times(begin, end))
    rules = rules_of(track.kind, name)
    rows: list[Row] = [tuple(row) for row in samples.astype(np.float64).tolist()]
    if all(rules.close(row, rows[0]) for row in rows):
        return DefaultTrack(_KINDS[track.kind], samples[0])
    kept = thin(samples, rules)
    spans, blocks = raster(begin, end, len(samples), kept)
    if track.kind == "LinearQuat":
        return SampledTrack("Quat", 1, track.loop, spans, blocks, pack(samples[kept]))
    return SampledTrack("Vector", 0, track.loop, spans, blocks, samples[kept])


def _check(name: str, track: KeyFramer) -> None:
    numbers = [track.keys["time"], track.keys["value"], *_range(track)]
    if not all(np.isfinite(part).all() for part in numbers) or (track.keys["time"][1:] <= track.keys["time"][:-1]).any():
        message = f"the track {name!r} cannot be built: numbers that are not finite, or key times that do not rise"
        raise UsageError(message)


def _range(track: Track) -> tuple[Float32s, Float32s]:
    """Return begin and end (1,) of a track; with a range lock those of its keys (2.3)."""
    if isinstance(track, SampledTrack):
        return track.spans[:1], track.spans[1:2]
    if isinstance(track, DefaultTrack):
        return np.zeros(1, np.float32), np.zeros(1, np.float32)
    if track.range_lock and len(track.keys):
        return track.keys["time"][:1], track.keys["time"][-1:]
    return track.begin, track.end


def _samples(track: KeyFramer, times: Float32s) -> Float32s:
    """Return a linear track's values at `times`; outside its keys the end keys hold."""
    keys, values = track.keys["time"], track.keys["value"].astype(np.float64)
    if len(keys) == 1:
        sampled = np.repeat(track.keys["value"], len(times), axis=0)
    else:
        place = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
        a, b = keys[place].astype(np.float64), keys[place + 1].astype(np.float64)
        fraction = np.clip((times - a) / (b - a), 0.0, 1.0).astype(np.float32)
        if track.kind == "LinearQuat":
            sampled = slerp(values[place], values[place + 1], fraction)
        else:
            p = fraction.astype(np.float64)[:, None]
            sampled = ((1.0 - p) * values[place] + p * values[place + 1]).astype(np.float32)
    return make_closest(normalise(sampled)) if track.kind == "LinearQuat" else sampled


def _dot(a: Row, b: Row) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


def _slerp_row(a: Row, b: Row, p: float) -> Row:
    """Return what `slerp` gives for one pair; a call for every sample has to be quick."""
    p, dot = f32(p), max(-1.0, min(1.0, _dot(a, b)))
    from_a, from_b = 1.0 - p, p
    if dot < _NEARLY_ONE:
        angle = math.acos(dot)
        sine = math.sin(angle)
        from_a, from_b = math.sin(from_a * angle) / sine, math.sin(from_b * angle) / sine
    from_a, from_b = f32(from_a), f32(from_b)
    return tuple(f32(from_a * x + from_b * y) for x, y in zip(a, b, strict=True))


def _mix_row(a: Row, b: Row, p: float) -> Row:
    return tuple((1.0 - p) * x + p * y for x, y in zip(a, b, strict=True))
