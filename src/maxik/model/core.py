"""The machine that the model computes on: a profile, its registers, and the candidate chosen for every [CORE] item.

A `Core` is passed to every function that rounds or that has candidates; nothing is global. Values are plain Python
floats that are exact float32 numbers; `core.register(x)` starts a float sub-expression (53 bits in `x87-53`, binary32
for each operation in `sse-32`) and `f32(...)` ends it, wherever the reference stores, casts or passes a float
(spec 1.1, core-profile.md Notation). Where a formula says binary64, plain float arithmetic stands in both environments.
Every division is `crt.divide`, so that zero divides as IEEE 754 has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from maxik.numerics.registers import Single
from maxik.profile import ITEMS, CoreProfile

Point3 = tuple[float, float, float]
"""A point or vector of three float32 values (spec 2.6)."""
Quat = tuple[float, float, float, float]
"""A quaternion (x, y, z, w) of four float32 values (spec 2.8)."""

# A Python float is a register of 53 bits: registers.Wide adds IEEE division, which the model spells crt.divide, and
# takes three times as long. tests/model/test_core.py holds the two against each other.
_REGISTERS: Mapping[str, Callable[[float], float]] = {"x87-53": float, "sse-32": Single}


@dataclass(frozen=True, slots=True)
class Conventions:
    """Signs and orders that the solver itself settles (core-contracts.md 0); the defaults are the ones that close.

    `turn`: +1 when RotAngleAxisMatrix is right-handed, -1 when left-handed. `normal`: +1 for n0 = +(a0 ^ elbow), -1 for
    its opposite. `transposed_euler`: MatrixToEuler reads the transposed matrix. Others than these only try closure.
    """

    turn: float = 1.0
    normal: float = 1.0
    transposed_euler: bool = False


@dataclass(frozen=True, slots=True)
class Core:
    """A profile made ready to compute with: `register` of its environment and `choice`, item-id -> candidate-id."""

    profile: CoreProfile
    register: Callable[[float], float]
    choice: Mapping[str, str]
    conventions: Conventions = Conventions()


def core_of(profile: CoreProfile) -> Core:
    """Return the machine of `profile`, every item resolved."""
    return Core(profile, _REGISTERS[profile.environment], {item: profile[item] for item in ITEMS})
