"""Rotations as NeL keeps them (nel-facts.md 1.5, 3.3): normalised float32, on one hemisphere, or packed as 16-bit codes.

Quaternions are rows (N, 4): x, y, z, w of NeL's convention, the usual one (1.4). The exporter's normalisation is that of
its x87 code: the squares are summed and rooted without rounding to float32, the length is stored as float32, reciprocal
and products are binary64, each component is rounded once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxik.errors import UsageError

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Codes = NDArray[np.int16]

STEPS = 32767
"""Code steps from 0 to 1."""
_UNPACK = float(np.float32(1.0 / STEPS))


def normalised(q: Float64s) -> Float64s:
    """Return quaternions (N, 4) times the reciprocal of their length, all in binary64, as packing does (3.3)."""
    reciprocal: Float64s = 1.0 / np.sqrt(np.sum(q * q, axis=1, keepdims=True))
    return q * reciprocal


def pack(q: NDArray[np.floating]) -> Codes:
    """Return the codes (N, 4) of quaternions (N, 4): normalised in binary64, floor(v * 32767 + 0.5), at most 32767 either way.

    UsageError for a quaternion without a direction: zero, infinite or NaN.
    """
    wide = q.astype(np.float64)
    if not (np.isfinite(wide).all() and np.any(wide, axis=1).all()):
        message = "a quaternion that is zero or not finite has no codes"
        raise UsageError(message)
    return np.clip(np.floor(normalised(wide) * STEPS + 0.5), -STEPS, STEPS).astype(np.int16)


def unpack(codes: Codes) -> Float32s:
    """Return the float32 quaternions (N, 4) that NeL reads from codes (N, 4), not all 0 in a row.

    A code is multiplied by 1/32767 rounded to float32, then the quaternion is normalised in binary64 (3.3).
    """
    return normalised(codes.astype(np.float64) * _UNPACK).astype(np.float32)


def normalise(q: Float32s) -> Float32s:
    """Return float32 quaternions (N, 4) as the exporter normalises them (1.5); one of length 0 stays what it is."""
    x, y, z, w = q.astype(np.float64).T
    length = np.sqrt(x * x + y * y + z * z + w * w).astype(np.float32).astype(np.float64)
    reciprocal = np.divide(1.0, length, out=np.ones_like(length), where=length != 0.0)
    scaled: Float64s = q * reciprocal[:, None]
    return scaled.astype(np.float32)


def make_closest(q: Float32s) -> Float32s:
    """Return float32 quaternions (N, 4), each negated whose dot product with the one stored before it is below 0 (1.5).

    The first keeps its sign, and so does one at right angles to the one before.
    """
    (ax, ay, az, aw), (bx, by, bz, bw) = q[:-1].astype(np.float64).T, q[1:].astype(np.float64).T
    dots = np.concatenate([[0.0], (ax * bx + ay * by + az * bz + aw * bw).astype(np.float32)])
    flips = np.cumsum(dots < 0.0)
    kept = np.maximum.accumulate(np.where(dots == 0.0, np.arange(len(q)), 0))  # the last one that kept its sign
    turned = np.asarray((flips - flips[kept]) % 2 == 1)
    return np.where(turned[:, None], -q, q)
