"""Rotations in binary64, for comparing poses within a tolerance; row matrices, p' = p * M."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]


def euler_xyz_matrix(xyz: Sequence[float]) -> Float64s:
    """Return Rx * Ry * Rz (3, 3) of three angles in radians (max-format.md 4)."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(xyz), np.sin(xyz)
    rx = np.array([[1.0, 0.0, 0.0], [0.0, cx, sx], [0.0, -sx, cx]])
    ry = np.array([[cy, 0.0, -sy], [0.0, 1.0, 0.0], [sy, 0.0, cy]])
    rz = np.array([[cz, sz, 0.0], [-sz, cz, 0.0], [0.0, 0.0, 1.0]])
    product: Float64s = rx @ ry @ rz
    return product


def turn_between(a: Float64s, b: Float64s) -> float:
    """Return the angle of the rotation from a to b, radians in [0, pi]; exact for tiny angles, NaN for NaN.

    Half the chord between the matrices is sqrt(2) sin(angle / 2): no arc cosine near 1.
    """
    half_chord = float(np.linalg.norm(a - b)) / np.sqrt(8.0)
    return float(2.0 * np.arcsin(min(half_chord, 1.0))) if np.isfinite(half_chord) else float("nan")
