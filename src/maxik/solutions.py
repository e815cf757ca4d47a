"""Solutions as raw bits: what engines are compared by, and what hashes are taken of."""

from __future__ import annotations

import struct

from maxik.problems import STATUSES, LimbSolution, SplineSolution

NAN = 0x7FC00000
"""Any NaN counts as this one."""


def limb_bits(solution: LimbSolution) -> bytes:
    """Return status and angles as bytes: float32 little-endian, any NaN the same one."""
    return bytes([STATUSES.index(solution.status)]) + _bits(solution.rot_xyz) + _bits(solution.dof_zyx)


def spline_bits(solution: SplineSolution) -> bytes:
    """Return everything that a spline solve finds as bytes, but not how often it sampled."""
    parts = [bytes([STATUSES.index(solution.status)])]
    for name in ("bone_lengths", "u", "points", "euler", "frames", "directions"):
        value = getattr(solution, name)
        rows = () if value is None else value
        parts += [struct.pack("<I", len(rows)), *(_bits(row if isinstance(row, tuple) else (row,)) for row in rows)]
    return b"".join(parts)


def _bits(values: tuple[float, ...] | None) -> bytes:
    if values is None:
        return b"-"
    return b"".join(struct.pack("<I", NAN) if value != value else struct.pack("<f", value) for value in values)  # noqa: PLR0124 - NaN
