"""Tracks: values over time, evaluated for many ticks in one call.

A track gives `size` float32 components at every tick asked for. Arithmetic is binary64, rounded to float32 once at
the end. Sources: max-format.md 5.3, core-contracts.md 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ticks = NDArray[np.int64]
Float32s = NDArray[np.float32]


class Track(Protocol):
    """A value over time."""

    @property
    def size(self) -> int:
        """Number of components."""
        ...

    @property
    def key_range(self) -> tuple[int, int] | None:
        """First and last key in ticks; None when the track has fewer than two keys and so never changes."""
        ...

    def at(self, ticks: Ticks) -> Float32s:
        """Return the values at `ticks`, (F, size) float32; (1, size) when the track never changes."""
        ...


@dataclass(frozen=True)
class ConstantTrack:
    """The same value at all times."""

    value: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.value)

    @property
    def key_range(self) -> None:
        """No keys."""
        return

    def at(self, ticks: Ticks) -> Float32s:  # noqa: ARG002 - a constant does not look at the time
        """Return the value once, (1, size)."""
        return np.array([self.value], dtype=np.float32)
