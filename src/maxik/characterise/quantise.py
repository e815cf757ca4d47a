"""How a NeL file keeps a rotation: as a float32 quaternion, or packed as four 16-bit codes (nel-facts.md 3.3).

A raw track, the bind pose of a `.skel` and a constant track of a built file hold float32 quaternions; a built, sampled
track holds codes of step 1/32767. Quaternions are rows (N, 4) in the order x, y, z, w, of NeL's convention: the usual
one, since NeL negates the w of 3ds Max's conjugates (1.4). q and -q are one rotation, and a file may hold either (1.5):
here the first non-zero of w, x, y, z is positive, and what is compared with it takes the sign that lies closer to it, as
makeClosest does. No zero is negative. A rotation that is not known is a row of NaN.

Not modelled: that 3ds Max computes a float32 node matrix, which the exporter decomposes, before anything is stored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxik.errors import UsageError

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Codes = NDArray[np.int16]

STEPS = 32767
"""Code steps from 0 to 1."""
_UNPACK = float(np.float32(1.0 / STEPS))


def quaternions(euler_xyz: ArrayLike) -> Float64s:
    """Return the unit quaternions (N, 4), binary64, of Euler angles (N, 3) in radians: node matrix Rx * Ry * Rz of row vectors.

    Row vectors turn about x first, so this is qz * qy * qx. The first non-zero of w, x, y, z is positive.
    """
    half = 0.5 * np.asarray(euler_xyz, np.float64)
    (cx, cy, cz), (sx, sy, sz) = np.cos(half).T, np.sin(half).T
    q = np.stack(
        [
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        ],
        axis=1,
    )
    return _on_one_hemisphere(normalised(q))


def raw(q: Float64s) -> Float32s:
    """Return quaternions (N, 4) as a raw track keeps them: each component rounded once to float32."""
    return q.astype(np.float32)


def closest(q: Float64s, to: Float64s) -> Float64s:
    """Return quaternions (N, 4), those negated whose dot product with the row of `to` is negative (makeClosest, 1.5)."""
    return np.where(np.sum(q * to, axis=1, keepdims=True) < 0.0, -q, q) + 0.0


def normalised(q: Float64s) -> Float64s:
    """Return quaternions (N, 4) times the reciprocal of their length, in binary64 (1.5)."""
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


def _on_one_hemisphere(q: Float64s) -> Float64s:
    order = q[:, [3, 0, 1, 2]]
    first = np.take_along_axis(order, np.argmax(order != 0.0, axis=1)[:, None], axis=1)
    return np.where(first < 0.0, -q, q) + 0.0  # -0 becomes 0
