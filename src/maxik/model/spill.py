"""Register spills (spec 1.1): a compiler may store any intermediate result of a float expression, rounded to float32.

Which ones it stores is its own affair; a reference build has some. `SpillingRegister` is a register of the model that
rounds the results of chosen operations of the source: a site is one operator of one expression, wherever it is met during a
solve. Rounding what an expression ends in changes nothing, since that is rounded anyway.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Self

from maxik.model.core import Core, core_of
from maxik.numerics import crt
from maxik.numerics.float32 import f32
from maxik.profile import CoreProfile

Site = tuple[CodeType, int]
"""A place in the source: a function's code and the operation in it."""
ALL = "all"


@dataclass
class Spills:
    """What to spill: any set of sites, or ALL; `met` collects the sites whose result is no float32 already."""

    chosen: frozenset[Site] | str = frozenset()
    met: dict[Site, None] = field(default_factory=dict)

    def keep(self, value: float) -> float:
        """Return a register's value, rounded where the operation that is two frames up is to be spilled."""
        rounded = f32(value)
        if rounded == value or value != value:  # noqa: PLR0124 - NaN
            return value
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the operation's place is what is asked for
        while frame is not None and frame.f_code is crt.divide.__code__:
            frame = frame.f_back
        assert frame is not None  # noqa: S101 - someone called
        site = (frame.f_code, frame.f_lasti)
        self.met[site] = None
        return rounded if self.chosen == ALL or site in self.chosen else value


def spilling_core(profile: CoreProfile, spills: Spills) -> Core:
    """Return the machine of an x87-53 profile whose registers spill."""
    core = core_of(profile)
    if profile.environment != "x87-53":
        message = "registers of 24 bits have nothing to spill"
        raise ValueError(message)
    return Core(profile, _register_of(spills), core.choice)


def site_name(site: Site) -> str:
    """Return a site as text: file, line, function and the operation, as "point3.py:31 dot: reg(a[0]) * b[0]"."""
    code, at = site
    line, end_line, column, end_column = list(code.co_positions())[at // 2]
    name = f"{PurePath(code.co_filename).name}:{line} {code.co_name}"
    if line is None or column is None or end_column is None:
        return name
    text = linecache.getline(code.co_filename, line)
    return f"{name}: {text[column : end_column if end_line == line else None].strip()}"


def _register_of(spills: Spills) -> Callable[[float], float]:
    keep = spills.keep

    class SpillingRegister(float):
        """A register of 53 bits, some of whose results are rounded to float32."""

        __slots__ = ()

        def __add__(self, other: float) -> Self:
            return type(self)(keep(float.__add__(self, other)))

        def __radd__(self, other: float) -> Self:
            return type(self)(keep(float.__add__(self, other)))

        def __sub__(self, other: float) -> Self:
            return type(self)(keep(float.__sub__(self, other)))

        def __rsub__(self, other: float) -> Self:
            return type(self)(keep(float.__rsub__(self, other)))

        def __mul__(self, other: float) -> Self:
            return type(self)(keep(float.__mul__(self, other)))

        def __rmul__(self, other: float) -> Self:
            return type(self)(keep(float.__mul__(self, other)))

        def __truediv__(self, other: float) -> Self:
            return type(self)(keep(float.__truediv__(self, other)))

        def __rtruediv__(self, other: float) -> Self:
            return type(self)(keep(float.__rtruediv__(self, other)))

        def __neg__(self) -> Self:
            return type(self)(float.__neg__(self))

    return SpillingRegister
