"""Register precision: what a float sub-expression is evaluated in, for each environment.

`R(x)` lifts a float32 into a register; operators between registers (or a register and a float) give registers, rounded
as the environment rounds: to binary64 in `x87-53` (VS2008 x86 at control word 0x27F, spec 1.1), to binary32 in
`sse-32` (64-bit releases, core-profile.md). A store is an explicit `f32(...)`. Division follows IEEE 754.
"""

from __future__ import annotations

from collections.abc import Callable

from maxik.numerics import crt
from maxik.numerics.float32 import f32


class Wide(float):
    """A register of 53-bit precision: binary64 arithmetic."""

    __slots__ = ()

    def __add__(self, other: float) -> Wide:
        return Wide(float.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: float) -> Wide:
        return Wide(float.__sub__(self, other))

    def __rsub__(self, other: float) -> Wide:
        return Wide(float.__rsub__(self, other))

    def __mul__(self, other: float) -> Wide:
        return Wide(float.__mul__(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Wide:
        return Wide(crt.divide(float(self), float(other)))

    def __rtruediv__(self, other: float) -> Wide:
        return Wide(crt.divide(float(other), float(self)))

    def __neg__(self) -> Wide:
        return Wide(float.__neg__(self))


class Single(float):
    """A register of 24-bit precision: every operation rounds to binary32."""

    __slots__ = ()

    def __add__(self, other: float) -> Single:
        return Single(f32(float.__add__(self, other)))

    __radd__ = __add__

    def __sub__(self, other: float) -> Single:
        return Single(f32(float.__sub__(self, other)))

    def __rsub__(self, other: float) -> Single:
        return Single(f32(float.__rsub__(self, other)))

    def __mul__(self, other: float) -> Single:
        return Single(f32(float.__mul__(self, other)))

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Single:
        return Single(f32(crt.divide(float(self), float(other))))

    def __rtruediv__(self, other: float) -> Single:
        return Single(f32(crt.divide(float(other), float(self))))

    def __neg__(self) -> Single:
        return Single(float.__neg__(self))


Register = Wide | Single

ENVIRONMENTS: dict[str, Callable[[float], Register]] = {"x87-53": Wide, "sse-32": Single}
"""The register type of each environment of core-profile.md: `R = ENVIRONMENTS[profile.environment]`."""
