"""Rotations of matrices (spec 2.4): PreRotateX/Y/Z, RotateX/Y/Z, RotAngleAxisMatrix, RotationValue::PreApplyTo.

All right-handed about their axis, angles in radians; every angle is a float parameter. PreRotate and Rotate clear
ROT_IDENT and leave the other bits.
"""

from __future__ import annotations

from maxik.model.core import Core, Point3, Quat
from maxik.model.matrix3 import IDENTITY, ROT_IDENT, Matrix3, from_rows, multiply, vector_transform
from maxik.model.quat import apply_row_quat, from_ang_axis, make_matrix
from maxik.model.trig import fsincos, sin_cos
from maxik.numerics import crt
from maxik.numerics.float32 import f32

_AXES: tuple[Point3, Point3, Point3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def pre_rotate(core: Core, m: Matrix3, axis: str, angle: float) -> Matrix3:
    """Return m after PreRotate about `axis`, "x", "y" or "z": the axis rotation times m (matrix3.pre_rotate).

    `rows`: two rows combined, c = f(cos a), s = f(sin a). `x87-fsincos`: the same with c and s of one fsincos.
    `multiply`: the axis rotation of `axis_rotation`, times m by matrix3.multiply.
    """
    candidate = core.choice["matrix3.pre_rotate"]
    if candidate == "multiply":
        return multiply(core, axis_rotation(axis, angle), m)
    s, c = (fsincos if candidate == "x87-fsincos" else sin_cos)(f32(angle))
    flags = m.flags & ~ROT_IDENT
    if axis == "x":
        row1, row2 = _combined(core, m.row1, m.row2, s, c)
        return Matrix3(m.row0, row1, row2, m.row3, flags)
    if axis == "y":
        row2, row0 = _combined(core, m.row2, m.row0, s, c)
        return Matrix3(row0, m.row1, row2, m.row3, flags)
    row0, row1 = _combined(core, m.row0, m.row1, s, c)
    return Matrix3(row0, row1, m.row2, m.row3, flags)


def _combined(core: Core, p: Point3, q: Point3, s: float, c: float) -> tuple[Point3, Point3]:
    """Return (f(c*p + s*q), f(c*q - s*p)), component by component."""
    sine, cosine = core.register(s), core.register(c)
    return (
        (f32(cosine * p[0] + sine * q[0]), f32(cosine * p[1] + sine * q[1]), f32(cosine * p[2] + sine * q[2])),
        (f32(cosine * q[0] - sine * p[0]), f32(cosine * q[1] - sine * p[1]), f32(cosine * q[2] - sine * p[2])),
    )


def axis_rotation(axis: str, angle: float) -> Matrix3:
    """Return the rotation about "x", "y" or "z" over identity: X has rows (1,0,0), (0,c,s), (0,-s,c), the others cyclic."""
    s, c = sin_cos(f32(angle))
    flags = IDENTITY.flags & ~ROT_IDENT
    if axis == "x":
        return Matrix3(IDENTITY.row0, (0.0, c, s), (0.0, -s, c), IDENTITY.row3, flags)
    if axis == "y":
        return Matrix3((c, 0.0, -s), IDENTITY.row1, (s, 0.0, c), IDENTITY.row3, flags)
    return Matrix3((c, s, 0.0), (-s, c, 0.0), IDENTITY.row2, IDENTITY.row3, flags)


def rotate(core: Core, m: Matrix3, axis: str, angle: float) -> Matrix3:
    """Return m after Rotate about `axis`: m times the axis rotation, translation included (matrix3.rotate).

    `columns`: two columns of all four rows combined, c = f(cos a), s = f(sin a). `multiply`: m times
    `axis_rotation` by matrix3.multiply.
    """
    if core.choice["matrix3.rotate"] == "multiply":
        return multiply(core, m, axis_rotation(axis, angle))
    sine, cosine = (core.register(part) for part in sin_cos(f32(angle)))

    def turned(row: Point3) -> Point3:
        x, y, z = row
        if axis == "x":
            return x, f32(cosine * y - sine * z), f32(sine * y + cosine * z)
        if axis == "y":
            return f32(sine * z + cosine * x), y, f32(cosine * z - sine * x)
        return f32(cosine * x - sine * y), f32(sine * x + cosine * y), z

    return Matrix3(turned(m.row0), turned(m.row1), turned(m.row2), turned(m.row3), m.flags & ~ROT_IDENT)


def rot_angle_axis(core: Core, axis: Point3, angle: float) -> Matrix3:
    """Return RotAngleAxisMatrix(axis, angle), the axis a unit vector (matrix3.rot_angle_axis); flags validated.

    `rodrigues`: c = f(cos a), s = f(sin a), t = f(1 - c). `x87-fsincos`: c, s of one fsincos. `half-angle`: h = sin(a/2)
    in binary64, t = f(2*h*h). `quaternion`: quat.from_ang_axis of -a, then quat.make_matrix.
    """
    candidate = core.choice["matrix3.rot_angle_axis"]
    a = core.conventions.turn * f32(angle)
    if candidate == "quaternion":
        return make_matrix(core, from_ang_axis(core, axis, -a))
    reg = core.register
    sine, cosine = (fsincos if candidate == "x87-fsincos" else sin_cos)(a)
    if candidate == "half-angle":
        half_sine = crt.sin(0.5 * a)
        t = reg(f32(2.0 * half_sine * half_sine))
    else:
        t = reg(f32(1.0 - reg(cosine)))
    s, c = reg(sine), cosine
    kx, ky, kz = axis
    return from_rows(
        core,
        (f32(t * kx * kx + c), f32(t * kx * ky + s * kz), f32(t * kx * kz - s * ky)),
        (f32(t * kx * ky - s * kz), f32(t * ky * ky + c), f32(t * ky * kz + s * kx)),
        (f32(t * kx * kz + s * ky), f32(t * ky * kz - s * kx), f32(t * kz * kz + c)),
    )


def pre_apply(core: Core, q: Quat, m: Matrix3) -> Matrix3:
    """Return m after RotationValue(q).PreApplyTo(m): the rotation acts first (rotation.pre_apply).

    `matrix`: make_matrix(q) * m by matrix3.multiply. `rows`: row i is the axis e_i turned by the quaternion,
    (q.Conjugate() * e_i) * q as in spec 2.3, through the 3x3 of m; the translation stays, ROT_IDENT is cleared.
    """
    if core.choice["rotation.pre_apply"] == "matrix":
        return multiply(core, make_matrix(core, q), m)
    row0, row1, row2 = (vector_transform(core, apply_row_quat(core, axis, q), m) for axis in _AXES)
    return Matrix3(row0, row1, row2, m.row3, m.flags & ~ROT_IDENT)
