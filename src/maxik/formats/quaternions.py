"""Rotation matrices to unit quaternions over time, for formats that store quaternions.

Row matrices in (p' = p * M), the usual quaternions out (x, y, z, w: the turn that glTF and BVH readers expect, which is
the conjugate of what 3ds Max stores). Binary64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxik.scene.turns import Float64s, quat_of


def from_row_matrices(rotation: NDArray[np.floating]) -> Float64s:
    """Return unit quaternions (F, 4) of row matrices (F, 3, 3), each on the hemisphere of the one before."""
    return continuous(quat_of(rotation.astype(np.float64)) * (-1.0, -1.0, -1.0, 1.0))


def continuous(q: Float64s) -> Float64s:
    """Return the quaternions (F, 4) with signs chosen so that neighbours lie on one hemisphere."""
    flips = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2 == 1, -1.0, 1.0)])
    first = -1.0 if q[0, 3] < 0.0 else 1.0
    return q * (first * signs)[:, None]
