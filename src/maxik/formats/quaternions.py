"""Rotation matrices to unit quaternions over time, for formats that store quaternions.

Row matrices in (p' = p * M), the usual quaternions out (x, y, z, w: the turn that glTF and BVH readers expect, which is
the conjugate of what 3ds Max stores). Binary64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]


def from_row_matrices(rotation: NDArray[np.floating]) -> Float64s:
    """Return unit quaternions (F, 4) of row matrices (F, 3, 3), each on the hemisphere of the one before.

    The largest of the four candidates is taken, so that no division is by a small number.
    """
    m = rotation.astype(np.float64)
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    squares = np.stack([1 + 2 * m[:, 0, 0] - trace, 1 + 2 * m[:, 1, 1] - trace, 1 + 2 * m[:, 2, 2] - trace, 1 + trace], axis=1)
    sums = np.empty((len(m), 4, 4))
    sums[:, range(4), range(4)] = squares
    sums[:, 0, 1] = sums[:, 1, 0] = m[:, 0, 1] + m[:, 1, 0]
    sums[:, 0, 2] = sums[:, 2, 0] = m[:, 0, 2] + m[:, 2, 0]
    sums[:, 1, 2] = sums[:, 2, 1] = m[:, 1, 2] + m[:, 2, 1]
    sums[:, 0, 3] = sums[:, 3, 0] = m[:, 1, 2] - m[:, 2, 1]
    sums[:, 1, 3] = sums[:, 3, 1] = m[:, 2, 0] - m[:, 0, 2]
    sums[:, 2, 3] = sums[:, 3, 2] = m[:, 0, 1] - m[:, 1, 0]
    q = sums[np.arange(len(m)), np.argmax(squares, axis=1)]
    return continuous(q / np.linalg.norm(q, axis=1, keepdims=True))


def continuous(q: Float64s) -> Float64s:
    """Return the quaternions (F, 4) with signs chosen so that neighbours lie on one hemisphere."""
    flips = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2 == 1, -1.0, 1.0)])
    first = -1.0 if q[0, 3] < 0.0 else 1.0
    return q * (first * signs)[:, None]
