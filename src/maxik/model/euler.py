"""MatrixToEuler of type EULERTYPE_XYZ (spec 2.4, matrix3.to_euler): angles x, y, z of M = Rx(x) * Ry(y) * Rz(z), radians.

The arithmetic is Shoemake's (Graphics Gems IV) on the transposed matrix. The vector files keep the sign of zero:
identity gives y = -0, because y = atan2(-m02, cy).
"""

from __future__ import annotations

from maxik.model.core import Core, Point3
from maxik.model.matrix3 import Matrix3
from maxik.model.quat import from_matrix, products_first
from maxik.numerics import crt
from maxik.numerics.float32 import FLT_EPSILON, f32

_GIMBAL = 16 * FLT_EPSILON


def to_euler(core: Core, m: Matrix3) -> Point3:
    """Return (x, y, z), each rounded once from `unrounded_euler`."""
    x, y, z = unrounded_euler(core, m)
    return f32(x), f32(y), f32(z)


def unrounded_euler(core: Core, m: Matrix3) -> Point3:
    """Return (x, y, z) in registers of 53 bits; at the gimbal, and for a NaN in row 0, z = 0 (reading 3).

    `shoemake`: cy = f(sqrt(m00*m00 + m01*m01)). `shoemake-binary64`: the same sum and root in binary64 in both
    environments, not rounded. `asin`: as shoemake, but y = f(asin(-m02 clamped to [-1, 1])). `via-quat`: the quaternion of
    `quat.from_matrix`, its products-first matrix, then shoemake.
    """
    candidate = core.choice["matrix3.to_euler"]
    if core.conventions.transposed_euler:
        m = _transposed(m)
    row0, row1, row2 = products_first(core, from_matrix(core, m)) if candidate == "via-quat" else m[:3]
    m00, m01, m02 = row0
    if candidate == "shoemake-binary64":
        cy = crt.sqrt(m00 * m00 + m01 * m01)
    else:
        reg = core.register
        cy = f32(crt.sqrt(reg(m00) * m00 + reg(m01) * m01))
    # min and max return their first argument when it is a NaN
    y = crt.asin(min(max(-m02, -1.0), 1.0)) if candidate == "asin" else crt.atan2(-m02, cy)
    if cy > _GIMBAL:
        return crt.atan2(row1[2], row2[2]), y, crt.atan2(m01, m00)
    return crt.atan2(-row2[1], row1[1]), y, 0.0


def _transposed(m: Matrix3) -> Matrix3:
    (a, b, c), (d, e, f), (g, h, i) = m[:3]
    return m._replace(row0=(a, d, g), row1=(b, e, h), row2=(c, f, i))
