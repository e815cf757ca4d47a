"""Matrix3 (spec 2.7): four rows and identity flags, product, inverse, transforms. Row vectors, p' = p * M.

Flags follow spec 2.7. The four-row constructor validates them; SetTrans clears POS_IDENT; SetRow is [CORE] and is taken
to clear the bits of the block that it writes (ROT_IDENT and SCL_IDENT for rows 0-2, POS_IDENT for row 3); Inverse
keeps them; a product has the bits that both factors have. Only `skip-identity` computes differently because of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from maxik.model.core import Core, Point3
from maxik.numerics import crt
from maxik.numerics.float32 import f32

POS_IDENT = 1
ROT_IDENT = 2
SCL_IDENT = 4
ALL_IDENT = POS_IDENT | ROT_IDENT | SCL_IDENT
_EPSILON = f32(1e-6)  # the documented default tolerance of Equals (core-contracts.md 3)
_ZERO: Point3 = (0.0, 0.0, 0.0)


class Matrix3(NamedTuple):
    """A 4x3 matrix: rows 0-2 the basis, row 3 the translation, and the identity bits."""

    row0: Point3
    row1: Point3
    row2: Point3
    row3: Point3
    flags: int


IDENTITY = Matrix3((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), _ZERO, ALL_IDENT)
"""Matrix3(TRUE): identity with all bits set."""


def from_rows(core: Core, row0: Point3, row1: Point3, row2: Point3, row3: Point3 = _ZERO) -> Matrix3:
    """Return the matrix of the four-row constructor: rows set, then ValidateFlags (spec 2.7)."""
    return validate_flags(core, Matrix3(row0, row1, row2, row3, 0))


def from_values(core: Core, values: Sequence[float]) -> Matrix3:
    """Return the matrix of 12 numbers, row by row, as the four-row constructor builds it."""
    a, b, c, d, e, f, g, h, i, x, y, z = values
    return from_rows(core, (a, b, c), (d, e, f), (g, h, i), (x, y, z))


def values_of(m: Matrix3) -> tuple[float, ...]:
    """Return the 12 numbers of a matrix, row by row, translation last."""
    return m.row0 + m.row1 + m.row2 + m.row3


def translation(t: Point3) -> Matrix3:
    """Return identity after SetTrans(t), which clears POS_IDENT (spec 2.7)."""
    return IDENTITY._replace(row3=t, flags=ROT_IDENT | SCL_IDENT)


def frame_over_identity(row0: Point3, row1: Point3, row2: Point3) -> Matrix3:
    """Return identity after SetRow of rows 0, 1 and 2: only POS_IDENT is left (spec 3.2)."""
    return Matrix3(row0, row1, row2, _ZERO, POS_IDENT)


def validate_flags(core: Core, m: Matrix3) -> Matrix3:
    """Return `m` with its identity bits recomputed (matrix3.validate_flags).

    `exact`: row 3 equal to zero sets POS_IDENT, the 3x3 equal to identity sets ROT_IDENT and SCL_IDENT.
    `epsilon-1e-6`: the same with every number allowed to be off by at most 1e-6f; the numbers are not touched.
    """
    if core.choice["matrix3.validate_flags"] == "exact":
        position = m.row3 == _ZERO
        basis = m[:3] == IDENTITY[:3]
    else:
        position = _near(m.row3, _ZERO)
        basis = _near(m.row0, IDENTITY.row0) and _near(m.row1, IDENTITY.row1) and _near(m.row2, IDENTITY.row2)
    return m._replace(flags=(POS_IDENT if position else 0) | (ROT_IDENT | SCL_IDENT if basis else 0))


def _near(a: Point3, b: Point3) -> bool:
    return all(abs(x - y) <= _EPSILON for x, y in zip(a, b, strict=True))


def vector_transform(core: Core, v: Point3, m: Matrix3) -> Point3:
    """Return v through the 3x3 part (matrix3.vector_transform `sum`)."""
    reg = core.register
    x, y, z = reg(v[0]), reg(v[1]), reg(v[2])
    a, b, c = m.row0, m.row1, m.row2
    return f32(x * a[0] + y * b[0] + z * c[0]), f32(x * a[1] + y * b[1] + z * c[1]), f32(x * a[2] + y * b[2] + z * c[2])


def point_transform(core: Core, v: Point3, m: Matrix3) -> Point3:
    """Return v through the whole matrix (matrix3.point_transform `sum`)."""
    reg = core.register
    x, y, z = reg(v[0]), reg(v[1]), reg(v[2])
    a, b, c, d = m.row0, m.row1, m.row2, m.row3
    return (
        f32(x * a[0] + y * b[0] + z * c[0] + d[0]),
        f32(x * a[1] + y * b[1] + z * c[1] + d[1]),
        f32(x * a[2] + y * b[2] + z * c[2] + d[2]),
    )


def multiply(core: Core, a: Matrix3, b: Matrix3) -> Matrix3:
    """Return a * b, a acting first (matrix3.multiply).

    `full`: each row of a through b, row 3 with b's translation. `skip-identity`: a factor with all identity bits
    set returns the other one unchanged (a is looked at first); otherwise as `full`.
    """
    if core.choice["matrix3.multiply"] == "skip-identity":
        if a.flags == ALL_IDENT:
            return b
        if b.flags == ALL_IDENT:
            return a
    row0, row1, row2 = (vector_transform(core, row, b) for row in a[:3])
    return Matrix3(row0, row1, row2, point_transform(core, a.row3, b), a.flags & b.flags)


def pre_translate(core: Core, m: Matrix3, t: Point3) -> Matrix3:
    """Return Translation(t) * m in place: only row 3 changes, to t through m; clears POS_IDENT."""
    return m._replace(row3=point_transform(core, t, m), flags=m.flags & ~POS_IDENT)


def invert(core: Core, m: Matrix3) -> Matrix3:
    """Return the inverse (matrix3.invert); the flags are kept, a singular matrix gives infinities or NaN.

    `adjugate-reciprocal`: cofactors, determinant and its reciprocal each rounded, inv_ij = f(c_ji * r).
    `adjugate-divide`: inv_ij = f(c_ji / det). `transpose`: the 3x3 transposed, whatever the flags. `binary64`: cofactors,
    determinant, reciprocal, products and translation in binary64 in both environments, rounded at the final stores
    only (so the translation is made from the unrounded inverse). Translation: -(m3 through inv).
    """
    candidate = core.choice["matrix3.invert"]
    reg: Callable[[float], float] = float if candidate == "binary64" else core.register
    store: Callable[[float], float] = float if candidate == "binary64" else f32
    if candidate == "transpose":
        basis = tuple(zip(m.row0, m.row1, m.row2, strict=True))
    else:
        basis = _adjugate_over_determinant(m, reg, store, divide=candidate == "adjugate-divide")
    (a, b, c), (d, e, f), (g, h, i) = basis
    x, y, z = (reg(component) for component in m.row3)
    row3 = f32(-(x * a + y * d + z * g)), f32(-(x * b + y * e + z * h)), f32(-(x * c + y * f + z * i))
    return Matrix3((f32(a), f32(b), f32(c)), (f32(d), f32(e), f32(f)), (f32(g), f32(h), f32(i)), row3, m.flags)


def _adjugate_over_determinant(
    m: Matrix3, reg: Callable[[float], float], store: Callable[[float], float], *, divide: bool
) -> tuple[Point3, ...]:
    """Return the rows of the inverse 3x3; `reg` lifts, `store` rounds (or does not) each named value."""
    (m00, m01, m02), (m10, m11, m12), (m20, m21, m22) = ([reg(component) for component in row] for row in m[:3])
    c00, c01, c02 = store(m11 * m22 - m12 * m21), store(m12 * m20 - m10 * m22), store(m10 * m21 - m11 * m20)
    c10, c11, c12 = store(m21 * m02 - m22 * m01), store(m22 * m00 - m20 * m02), store(m20 * m01 - m21 * m00)
    c20, c21, c22 = store(m01 * m12 - m02 * m11), store(m02 * m10 - m00 * m12), store(m00 * m11 - m01 * m10)
    determinant = store(m00 * c00 + m01 * c01 + m02 * c02)
    reciprocal = store(crt.divide(1.0, determinant))

    def over(cofactor: float) -> float:
        return store(crt.divide(cofactor, determinant) if divide else cofactor * reciprocal)

    return (
        (over(c00), over(c10), over(c20)),
        (over(c01), over(c11), over(c21)),
        (over(c02), over(c12), over(c22)),
    )
