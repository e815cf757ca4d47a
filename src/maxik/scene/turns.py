"""Rotations as row matrices and as quaternions, over frames, in binary64.

Row matrices (F, 3, 3) act as p' = p * M. Quaternions (F, 4: x, y, z, w) are 3ds Max's: the textbook column matrix of q is
the row matrix (core-contracts.md 1), so they are the conjugates of the usual ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]

NO_LENGTH = 1e-12
"""A vector up to this length has no direction."""


def unit(vectors: Float64s, otherwise: Float64s) -> Float64s:
    """Return vectors (F, n) of length 1, `otherwise` where they have no direction; NaN stays NaN."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    none = length <= NO_LENGTH  # false for NaN, which stays
    return np.where(none, otherwise, vectors / np.where(none, 1.0, length))


def matrix_of(q: Float64s) -> Float64s:
    """Return the row matrices (F, 3, 3) of unit quaternions."""
    x, y, z, w = q.T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1),
        ],
        axis=1,
    )


def quat_of(m: Float64s) -> Float64s:
    """Return unit quaternions of rotations (F, 3, 3); the largest component is divided by."""
    trace = np.trace(m, axis1=1, axis2=2)
    squares = np.stack([1 + 2 * m[:, 0, 0] - trace, 1 + 2 * m[:, 1, 1] - trace, 1 + 2 * m[:, 2, 2] - trace, 1 + trace], axis=1)
    sums = np.empty((len(m), 4, 4))
    sums[:, range(4), range(4)] = squares
    for i, j in ((0, 1), (0, 2), (1, 2)):
        sums[:, i, j] = sums[:, j, i] = m[:, i, j] + m[:, j, i]
        k = 3 - i - j
        sign = 1.0 if k == 1 else -1.0
        sums[:, k, 3] = sums[:, 3, k] = sign * (m[:, i, j] - m[:, j, i])
    best = sums[np.arange(len(m)), np.argmax(squares, axis=1)]
    return unit(best, np.array([0.0, 0.0, 0.0, 1.0]))


def matrix_of_euler(xyz: Float64s) -> Float64s:
    """Return the row matrices R = Rx * Ry * Rz (F, 3, 3) of angles (F, 3) in radians."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(xyz).T, np.sin(xyz).T
    return np.stack(
        [
            np.stack([cy * cz, cy * sz, -sy], axis=1),
            np.stack([sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy], axis=1),
            np.stack([cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy], axis=1),
        ],
        axis=1,
    )


def euler_xyz(m: Float64s) -> Float64s:
    """Return the angles (F, 3) of rotations R = Rx * Ry * Rz (core-contracts.md 2, E1); z is 0 where y is a quarter turn."""
    cy = np.hypot(m[:, 0, 0], m[:, 0, 1])
    y = np.arctan2(-m[:, 0, 2], cy)
    free = cy > 1e-9  # noqa: PLR2004 - far below float32's resolution of a quarter turn
    x = np.where(free, np.arctan2(m[:, 1, 2], m[:, 2, 2]), np.arctan2(-m[:, 2, 1], m[:, 1, 1]))
    z = np.where(free, np.arctan2(m[:, 0, 1], m[:, 0, 0]), 0.0)
    return np.stack([x, y, z], axis=1)
