"""MAXScript as text: literals that hand over every bit, and the functions with which a script writes bits.

Functions are global and named maxik_..., since a function in a block may not be able to see the block's locals. A float
goes in and out through a binary stream: a decimal would be rounded. All names are kept clear of reserved words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from maxik.characterise.inputs import angles
from maxik.errors import UsageError
from maxik.numerics.float32 import to_bits
from maxik.problems import Vector

_SIGN, _WORDS = 1 << 31, 1 << 32

FUNCTIONS = """\
global maxik_helper = (getDir #temp) + "\\\\maxik_bits.bin"
fn maxik_floatOf bits = (
    local s = fopen maxik_helper "wb"
    WriteLong s bits
    fclose s
    s = fopen maxik_helper "rb"
    local x = ReadFloat s
    fclose s
    x
)
fn maxik_bitsOf x = (
    local s = fopen maxik_helper "wb"
    WriteFloat s x
    fclose s
    s = fopen maxik_helper "rb"
    local bits = ReadLong s
    fclose s
    bits
)
fn maxik_word x = (
    local bits = maxik_bitsOf x
    local digits = "0123456789abcdef"
    local answer = ""
    for i = 7 to 0 by -1 do answer += digits[1 + (bit.and (bit.shift bits (-4 * i)) 15)]
    if (bit.and bits 2139095040) == 2139095040 and (bit.and bits 8388607) != 0 do answer = "nan"
    "\\"" + answer + "\\""
)
fn maxik_p3 a b c = (point3 (maxik_floatOf a) (maxik_floatOf b) (maxik_floatOf c))
fn maxik_row v = ((maxik_word v.x) + ", " + (maxik_word v.y) + ", " + (maxik_word v.z))
fn maxik_vector v = ("[" + (maxik_row v) + "]")
fn maxik_matrix m = (
    "[" + (maxik_row m.row1) + ", " + (maxik_row m.row2) + ", " + (maxik_row m.row3) + ", " + (maxik_row m.row4) + "]"
)
fn maxik_quat q = ("[" + (maxik_word q.x) + ", " + (maxik_word q.y) + ", " + (maxik_word q.z) + ", " + (maxik_word q.w) + "]")
"""


def text(value: str) -> str:
    """Return a string literal."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def word(x: float) -> str:
    """Return the bits of a float32 as an integer of 32 bits with sign, in parentheses."""
    bits = to_bits(x)
    # The smallest integer has no literal: its digits alone are too large.
    return "(-2147483647 - 1)" if bits == _SIGN else f"({bits - _WORDS if bits > _SIGN else bits})"


def number(x: float) -> str:
    """Return an expression of a float32."""
    return f"(maxik_floatOf {word(x)})"


def point(v: Sequence[float]) -> str:
    """Return an expression of a point3."""
    return f"(maxik_p3 {' '.join(map(word, v))})"


def matrix(m: Vector) -> str:
    """Return an expression of a matrix3."""
    return f"(matrix3 {' '.join(point(m[row : row + 3]) for row in range(0, 12, 3))})"


def quat(q: Vector) -> str:
    """Return an expression of a quaternion."""
    return f"(quat {' '.join(map(number, q))})"


def degrees(radians: float) -> str:
    """Return the degrees of an angle of inputs.angles(), or of its negative; UsageError for others."""
    for whole, known in [(0.0, 0.0), *angles()]:
        if abs(radians) == abs(known):
            # A value, not a literal after a name, so that a sign is no subtraction.
            return f"({math.copysign(1.0, radians) * math.copysign(1.0, known) * whole:.1f})"
    message = f"the angle {radians!r} is no whole number of degrees that MAXScript could hand over"
    raise UsageError(message)
