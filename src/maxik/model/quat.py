"""Quat (spec 2.2, 2.3, 2.8): row quaternions, the product and the matrix of a quaternion. Order x, y, z, w.

A rotation quaternion here follows the left-hand rule: make_matrix of (k sin a/2, cos a/2) turns by -a about k in
the right-handed sense (core-contracts.md 1), which is what the negated sine of MakeRowQuat makes up for.
"""

from __future__ import annotations

from maxik.model.core import Core, Point3, Quat
from maxik.model.matrix3 import Matrix3, from_rows
from maxik.model.trig import fsincos
from maxik.numerics import crt
from maxik.numerics.float32 import f32


def conjugate(q: Quat) -> Quat:
    """Return (-x, -y, -z, w) (quat.conjugate `standard`)."""
    return -q[0], -q[1], -q[2], q[3]


def product(core: Core, a: Quat, b: Quat) -> Quat:
    """Return a * b (quat.product).

    `hamilton`: the textbook product, w terms first. `reversed`: the textbook product of b and a.
    `hamilton-vector-first`: the same product as w = f(aw*bw - (ax*bx + ay*by + az*bz)) and
    cross(a, b) + aw*b + bw*a: x = f(ay*bz - az*by + aw*bx + ax*bw), and cyclic.
    """
    candidate = core.choice["quat.product"]
    if candidate == "reversed":
        a, b = b, a
    reg = core.register
    ax, ay, az, aw = reg(a[0]), reg(a[1]), reg(a[2]), reg(a[3])
    bx, by, bz, bw = b
    if candidate == "hamilton-vector-first":
        return (
            f32(ay * bz - az * by + aw * bx + ax * bw),
            f32(az * bx - ax * bz + aw * by + ay * bw),
            f32(ax * by - ay * bx + aw * bz + az * bw),
            f32(aw * bw - (ax * bx + ay * by + az * bz)),
        )
    return (
        f32(aw * bx + ax * bw + ay * bz - az * by),
        f32(aw * by + ay * bw + az * bx - ax * bz),
        f32(aw * bz + az * bw + ax * by - ay * bx),
        f32(aw * bw - ax * bx - ay * by - az * bz),
    )


def times_vector(core: Core, q: Quat, v: Point3) -> Quat:
    """Return q * v by the solver-local operator, its exact component formulas (spec 2.3)."""
    reg = core.register
    x, y, z, w = reg(q[0]), reg(q[1]), reg(q[2]), reg(q[3])
    vx, vy, vz = v
    return (
        f32(w * vx + y * vz - z * vy),
        f32(w * vy + z * vx - x * vz),
        f32(w * vz + x * vy - y * vx),
        f32(-x * vx - y * vy - z * vz),
    )


def apply_row_quat(core: Core, p: Point3, q: Quat) -> Point3:
    """Return p turned by q: (q.Conjugate() * p) * q (spec 2.3)."""
    x, y, z, _ = product(core, times_vector(core, conjugate(q), p), q)
    return x, y, z


def make_row_quat(core: Core, axis: Point3, angle: float) -> Quat:
    """Return MakeRowQuat(axis, angle): binary64 half angle, the negated sine cast to float first (spec 2.2)."""
    half_angle = 0.5 * f32(angle)
    c = crt.cos(half_angle)
    s = core.register(f32(-crt.sin(half_angle)))
    return f32(s * axis[0]), f32(s * axis[1]), f32(s * axis[2]), f32(c)


def from_ang_axis(core: Core, axis: Point3, angle: float) -> Quat:
    """Return Quat(AngAxis(axis, angle)) (quat.from_ang_axis).

    `binary64-half`: h = 0.5*a in binary64, s = f(sin h), (f(s*k), f(cos h)). `x87-fsincos`: s and c from one fsincos of
    f(0.5*a).
    """
    half = 0.5 * f32(angle)
    if core.choice["quat.from_ang_axis"] == "x87-fsincos":
        sine, w = fsincos(f32(half))
    else:
        sine, w = f32(crt.sin(half)), f32(crt.cos(half))
    s = core.register(sine)
    return f32(s * axis[0]), f32(s * axis[1]), f32(s * axis[2]), w


def make_matrix(core: Core, q: Quat) -> Matrix3:
    """Return q.MakeMatrix() (quat.make_matrix); translation zero, flags validated.

    `products-first`: products summed, doubled, one rounding. `transposed`: its 3x3 transposed (the transpose flag).
    `normalise-first`: each component f(c / r), r = sqrt(x*x + y*y + z*z + w*w) in binary64 (a zero quaternion is left
    alone), then products-first. `shoemake-scaled`: see `_shoemake_scaled`.
    """
    candidate = core.choice["quat.make_matrix"]
    if candidate == "shoemake-scaled":
        return _shoemake_scaled(core, q)
    if candidate == "normalise-first":
        x, y, z, w = q
        r = crt.sqrt(x * x + y * y + z * z + w * w)
        if r != 0.0:
            q = f32(crt.divide(x, r)), f32(crt.divide(y, r)), f32(crt.divide(z, r)), f32(crt.divide(w, r))
    row0, row1, row2 = products_first(core, q)
    if candidate == "transposed":
        row0, row1, row2 = zip(row0, row1, row2, strict=True)
    return from_rows(core, row0, row1, row2)


def products_first(core: Core, q: Quat) -> tuple[Point3, Point3, Point3]:
    """Return the basis rows of the quaternion's matrix by the `products-first` formula."""
    reg = core.register
    x, y, z, w = reg(q[0]), reg(q[1]), reg(q[2]), reg(q[3])
    return (
        (f32(1.0 - (y * y + z * z) * 2.0), f32((x * y - w * z) * 2.0), f32((x * z + w * y) * 2.0)),
        (f32((x * y + w * z) * 2.0), f32(1.0 - (x * x + z * z) * 2.0), f32((y * z - w * x) * 2.0)),
        (f32((x * z - w * y) * 2.0), f32((y * z + w * x) * 2.0), f32(1.0 - (x * x + y * y) * 2.0)),
    )


def _shoemake_scaled(core: Core, q: Quat) -> Matrix3:
    """Return the matrix after Shoemake: n = f(x*x + y*y + z*z + w*w), s = f(2/n), 0 for n = 0; xs = f(x*s), ys, zs.

    Then wx = f(w*xs), wy = f(w*ys), wz = f(w*zs), xx = f(x*xs), xy = f(x*ys), xz = f(x*zs), yy = f(y*ys),
    yz = f(y*zs), zz = f(z*zs): every named value is a float. Entries: f(1 - (yy + zz)), f(xy - wz), and so on.
    """
    reg = core.register
    x, y, z, w = reg(q[0]), reg(q[1]), reg(q[2]), reg(q[3])
    n = f32(x * x + y * y + z * z + w * w)
    s = 0.0 if n == 0.0 else f32(crt.divide(2.0, n))
    xs, ys, zs = f32(x * s), f32(y * s), f32(z * s)
    wx, wy, wz = reg(f32(w * xs)), reg(f32(w * ys)), reg(f32(w * zs))
    xx, xy, xz = reg(f32(x * xs)), reg(f32(x * ys)), reg(f32(x * zs))
    yy, yz, zz = reg(f32(y * ys)), reg(f32(y * zs)), reg(f32(z * zs))
    return from_rows(
        core,
        (f32(1.0 - (yy + zz)), f32(xy - wz), f32(xz + wy)),
        (f32(xy + wz), f32(1.0 - (xx + zz)), f32(yz - wx)),
        (f32(xz - wy), f32(yz + wx), f32(1.0 - (xx + yy))),
    )


def from_matrix(core: Core, m: Matrix3) -> Quat:
    """Return a quaternion whose products-first matrix is the 3x3 of `m`, after Shoemake's Qt_FromMatrix.

    Used by matrix3.to_euler `via-quat` only. The trace decides (tr >= 0), else the largest diagonal entry, first of
    equals; s = f(sqrt(tr + 1)), the large component f(0.5*s), then s = f(0.5/s), the others f((difference) * s).
    """
    reg = core.register
    rows = [[reg(component) for component in row] for row in m[:3]]
    trace = rows[0][0] + rows[1][1] + rows[2][2]
    q = [0.0, 0.0, 0.0, 0.0]
    if trace >= 0.0:
        s = f32(crt.sqrt(trace + 1.0))
        q[3] = f32(reg(s) * 0.5)
        s = f32(crt.divide(0.5, s))
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            q[i] = f32((rows[k][j] - rows[j][k]) * s)
        return q[0], q[1], q[2], q[3]
    i = 1 if rows[1][1] > rows[0][0] else 0
    if rows[2][2] > rows[i][i]:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    s = f32(crt.sqrt(rows[i][i] - (rows[j][j] + rows[k][k]) + 1.0))
    q[i] = f32(reg(s) * 0.5)
    s = f32(crt.divide(0.5, s))
    q[j] = f32((rows[i][j] + rows[j][i]) * s)
    q[k] = f32((rows[k][i] + rows[i][k]) * s)
    q[3] = f32((rows[k][j] - rows[j][k]) * s)
    return q[0], q[1], q[2], q[3]
