"""Euler angles as the quaternions that a NeL file keeps: float32 (raw), to be packed by formats/nel/packing.py.

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

from maxik.formats.nel.packing import normalised

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


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


def _on_one_hemisphere(q: Float64s) -> Float64s:
    order = q[:, [3, 0, 1, 2]]
    first = np.take_along_axis(order, np.argmax(order != 0.0, axis=1)[:, None], axis=1)
    return np.where(first < 0.0, -q, q) + 0.0  # -0 becomes 0
