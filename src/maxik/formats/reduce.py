"""Fewer keys: frames of a track that interpolation between the others gives within a tolerance.

Readers interpolate positions and scales linearly, rotations by slerp along the shorter way (glTF 2.0, appendix C). A
track keeps its first and last frame, then the frame that is farthest off, as often as needed (Douglas and Peucker, with
time as the parameter). Binary64; rows of float32 values in, indices out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxik.scene.turns import Float64s

Frames = NDArray[np.int64]


def kept_frames(values: Float64s, tolerance: float, *, rotation: bool) -> Frames:
    """Return the frames to keep of a track (F, 3), or (F, 4) unit quaternions, ascending.

    `tolerance`: distance between vectors, or radians between rotations, that no frame may be off.
    """
    last = len(values) - 1
    kept = {0, last}
    pending = [(0, last)]
    while pending:
        first, end = pending.pop()
        if end - first < 2:  # noqa: PLR2004 - neighbours
            continue
        between = np.arange(first + 1, end)
        error = _error(values[between], _between(values, first, end, between, rotation=rotation), rotation=rotation)
        worst = int(np.argmax(error))
        if error[worst] > tolerance:
            middle = int(between[worst])
            kept.add(middle)
            pending += [(first, middle), (middle, end)]
    return np.array(sorted(kept), np.int64)


def interpolated(values: Float64s, kept: Frames, *, rotation: bool) -> Float64s:
    """Return the track as a reader sees it in every frame from the kept ones alone, (F, 3) or (F, 4)."""
    result = np.empty_like(values)
    result[kept] = values[kept]
    for first, end in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True):
        between = np.arange(first + 1, end)
        result[between] = _between(values, first, end, between, rotation=rotation)
    return result


def _between(values: Float64s, first: int, end: int, frames: Frames, *, rotation: bool) -> Float64s:
    t = ((frames - first) / (end - first))[:, None]
    a, b = values[first], values[end]
    if not rotation:
        line: Float64s = a + (b - a) * t
        return line
    dot = float(a @ b)
    if dot < 0.0:
        b, dot = -b, -dot
    angle = float(np.arctan2(np.linalg.norm(b - dot * a), dot))
    if angle == 0.0:
        return np.tile(a, (len(frames), 1))
    turned: Float64s = (np.sin((1.0 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)
    return turned


def _error(values: Float64s, other: Float64s, *, rotation: bool) -> Float64s:
    if not rotation:
        distance: Float64s = np.linalg.norm(values - other, axis=1)
        return distance
    chord = np.minimum(np.linalg.norm(values - other, axis=1), np.linalg.norm(values + other, axis=1))
    turn: Float64s = 4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))
    return turn
