/* Quaternions: the solver-local functions of spec 2.2 and 2.3, and the [CORE] items of core-profile.md, Quat. */
#include "quat.h"

INLINE Quat quat(float x, float y, float z, float w)
{
    Quat q;
    q.x = x;
    q.y = y;
    q.z = z;
    q.w = w;
    return q;
}

/* MakeRowQuat (spec 2.2): s is rounded to float first, then float times float per component. */
INLINE Quat make_row_quat(Point3 axis, float angle)
{
    double half_angle = 0.5 * angle;
    double c = crt_cos(half_angle);
    double s = -crt_sin(half_angle);
    return quat(F(R(F(s)) * axis.x), F(R(F(s)) * axis.y), F(R(F(s)) * axis.z), F(c));
}

/* [CORE] quat.conjugate: standard */
INLINE Quat quat_conjugate(Quat q)
{
    return quat(-q.x, -q.y, -q.z, q.w);
}

/* The quaternion-vector product of spec 2.3, component by component. */
INLINE Quat quat_times_vector(Quat q, Point3 v)
{
    Quat ret;
    ret.w = F(-R(q.x) * v.x - R(q.y) * v.y - R(q.z) * v.z);
    ret.x = F(R(q.w) * v.x + R(q.y) * v.z - R(q.z) * v.y);
    ret.y = F(R(q.w) * v.y + R(q.z) * v.x - R(q.x) * v.z);
    ret.z = F(R(q.w) * v.z + R(q.x) * v.y - R(q.y) * v.x);
    return ret;
}

/* [CORE] quat.product: hamilton */
INLINE Quat quat_product(Quat a, Quat b)
{
    Quat p;
    p.w = F(R(a.w) * b.w - R(a.x) * b.x - R(a.y) * b.y - R(a.z) * b.z);
    p.x = F(R(a.w) * b.x + R(a.x) * b.w + R(a.y) * b.z - R(a.z) * b.y);
    p.y = F(R(a.w) * b.y + R(a.y) * b.w + R(a.z) * b.x - R(a.x) * b.z);
    p.z = F(R(a.w) * b.z + R(a.z) * b.w + R(a.x) * b.y - R(a.y) * b.x);
    return p;
}

/* ApplyRowQuat (spec 2.3) */
INLINE Point3 apply_row_quat(Point3 p, Quat q)
{
    Quat result = quat_product(quat_times_vector(quat_conjugate(q), p), q);
    return point3(result.x, result.y, result.z);
}

/* [CORE] quat.from_ang_axis: binary64-half */
INLINE Quat quat_from_ang_axis(Point3 axis, float angle)
{
    double h = 0.5 * angle;
    float s = F(crt_sin(h));
    return quat(F(R(s) * axis.x), F(R(s) * axis.y), F(R(s) * axis.z), F(crt_cos(h)));
}

/* [CORE] quat.make_matrix: products-first */
INLINE Matrix3 quat_make_matrix(Quat q)
{
    Matrix3 m;
    m.m[0][0] = F(R(1.0f) - R(2.0f) * (R(q.y) * q.y + R(q.z) * q.z));
    m.m[0][1] = F(R(2.0f) * (R(q.x) * q.y - R(q.w) * q.z));
    m.m[0][2] = F(R(2.0f) * (R(q.x) * q.z + R(q.w) * q.y));
    m.m[1][0] = F(R(2.0f) * (R(q.x) * q.y + R(q.w) * q.z));
    m.m[1][1] = F(R(1.0f) - R(2.0f) * (R(q.x) * q.x + R(q.z) * q.z));
    m.m[1][2] = F(R(2.0f) * (R(q.y) * q.z - R(q.w) * q.x));
    m.m[2][0] = F(R(2.0f) * (R(q.x) * q.z - R(q.w) * q.y));
    m.m[2][1] = F(R(2.0f) * (R(q.y) * q.z + R(q.w) * q.x));
    m.m[2][2] = F(R(1.0f) - R(2.0f) * (R(q.x) * q.x + R(q.y) * q.y));
    m.m[3][0] = m.m[3][1] = m.m[3][2] = 0.0f;
    m.flags = POS_IDENT | SCL_IDENT;
    return m;
}

/* [CORE] rotation.pre_apply: matrix */
INLINE void rotation_pre_apply(Quat q, Matrix3 *m)
{
    Matrix3 turn = quat_make_matrix(q);
    *m = matrix3_multiply(&turn, m);
}
