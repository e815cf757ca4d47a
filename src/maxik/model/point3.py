"""Point3 (spec 2.6): products, lengths and the normalisers, which are [CORE].

An operator that returns a Point3 stores floats, component by component. A dot product is returned in its register and
is rounded by whoever assigns it, casts it or passes it as a float.
"""

from __future__ import annotations

from maxik.model.core import Core, Point3
from maxik.numerics import crt
from maxik.numerics.float32 import f32

_LENGTHS = {
    "binary64-divide": ("binary64", "divide"),
    "binary64-reciprocal": ("binary64", "reciprocal"),
    "length-divide": ("length", "divide"),
    "length-reciprocal": ("length", "reciprocal"),
    "flength-divide": ("flength", "divide"),
    "flength-reciprocal": ("flength", "reciprocal"),
}
_ZERO: Point3 = (0.0, 0.0, 0.0)
_UNIT_X: Point3 = (1.0, 0.0, 0.0)


def dot(core: Core, a: Point3, b: Point3) -> float:
    """Return a % b, not yet rounded (spec 2.6)."""
    reg = core.register
    return reg(a[0]) * b[0] + reg(a[1]) * b[1] + reg(a[2]) * b[2]


def subtract(core: Core, a: Point3, b: Point3) -> Point3:
    """Return a - b (spec 2.6)."""
    reg = core.register
    return f32(reg(a[0]) - b[0]), f32(reg(a[1]) - b[1]), f32(reg(a[2]) - b[2])


def scale(core: Core, a: Point3, k: float) -> Point3:
    """Return a * k; `k` is a float parameter, so a register is rounded on entry (spec 2.6, reading 1)."""
    reg, factor = core.register, f32(k)
    return f32(reg(a[0]) * factor), f32(reg(a[1]) * factor), f32(reg(a[2]) * factor)


def negate(a: Point3) -> Point3:
    """Return -a; zeros change sign."""
    return -a[0], -a[1], -a[2]


def cross(core: Core, a: Point3, b: Point3) -> Point3:
    """Return a ^ b (point3.cross `standard`)."""
    reg = core.register
    ax, ay, az = reg(a[0]), reg(a[1]), reg(a[2])
    bx, by, bz = b
    return f32(ay * bz - az * by), f32(az * bx - ax * bz), f32(ax * by - ay * bx)


def length(core: Core, v: Point3) -> float:
    """Return Length(): the register sum through the runtime's binary64 square root, rounded on return (spec 2.6)."""
    return f32(crt.sqrt(dot(core, v, v)))


def flength(core: Core, v: Point3) -> float:
    """Return FLength(): the sum is rounded on entry to Sqrt, the root on leaving it (spec 2.6, 2.9)."""
    return f32(crt.sqrt(f32(dot(core, v, v))))


def normalize(core: Core, v: Point3) -> Point3:
    """Return Normalize(v) (point3.normalize)."""
    return _unified(core, core.choice["point3.normalize"], v)[0]


def unify(core: Core, v: Point3) -> Point3:
    """Return v after v.Unify() (point3.unify)."""
    return _unified(core, core.choice["point3.unify"], v)[0]


def length_unify(core: Core, v: Point3) -> tuple[Point3, float]:
    """Return v after v.LengthUnify(), and the length that it returns, rounded (point3.length_unify)."""
    return _unified(core, core.choice["point3.length_unify"], v)


def _unified(core: Core, candidate: str, v: Point3) -> tuple[Point3, float]:
    """Return the unit vector and f(length).

    Candidates name the length and what is done with it. `binary64`: sum and root in binary64 in both environments, not
    rounded. `length`, `flength`: the floats Length() and FLength(). `divide`: f(x/r). `reciprocal`: k = 1/r, a float
    unless binary64, f(x*k). A product or quotient of two floats, rounded once or through binary64, is the same float,
    so both environments share these lines. A length of exactly zero (for flength: also when the float sum
    underflows) follows point3.zero_length: `unit_x`, `keep`, `zero`, or `ieee`, that is, the formula: 0/0.
    """
    measure, how = _LENGTHS[candidate]
    x, y, z = v
    if measure == "binary64":
        r = crt.sqrt(x * x + y * y + z * z)
    else:
        r = length(core, v) if measure == "length" else flength(core, v)
    if r == 0.0:
        rule = core.choice["point3.zero_length"]
        if rule != "ieee":
            return {"unit_x": _UNIT_X, "keep": v, "zero": _ZERO}[rule], 0.0
    if how == "divide":
        return (f32(crt.divide(x, r)), f32(crt.divide(y, r)), f32(crt.divide(z, r))), f32(r)
    k = crt.divide(1.0, r)
    if measure != "binary64":
        k = f32(k)
    return (f32(x * k), f32(y * k), f32(z * k)), f32(r)
