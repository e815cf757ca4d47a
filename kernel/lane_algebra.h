/* Vectors, matrices, quaternions and Euler angles in lanes: every expression that of point3.h, matrix3.c, quat.c, euler.c.
 *
 * What is written with an operator is IEEE arithmetic and has the scalar path's bits in every case, NaN, infinities and
 * subnormals included. A vector of no length and gimbal lock are in doubt. Identity flags are not kept: they change no
 * number under candidate-1 (core-profile.md, reading 4).
 */
#ifndef MAXIK_LANE_ALGEBRA_H
#define MAXIK_LANE_ALGEBRA_H

#include "lane_functions.h"

typedef struct {
    Reg x, y, z;
} Vec;

/* Rows 0-2; translations take part only in the initialisation. */
typedef struct {
    Vec row[3];
} Basis;

typedef struct {
    Basis basis;
    Vec trans;
} Affine;

typedef struct {
    Reg c, s;
} Turns;

typedef struct {
    Reg x, y, z, w;
} Quats;

/* ---- point3.h ---- */

/* a % b */
#define DOT_LANES(a, b) sum_of_products(a, (b).x, (b).y, (b).z)

INLINE Vec vec(Reg x, Reg y, Reg z)
{
    Vec v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

/* a.x * x + a.y * y + a.z * z */
INLINE Reg sum_of_products(Vec a, Reg x, Reg y, Reg z)
{
    return plus_product(plus_product(a.x * x, a.y, y), a.z, z);
}

INLINE Vec vec_select(RegMask where, Vec a, Vec b)
{
    return vec(reg_select(where, a.x, b.x), reg_select(where, a.y, b.y), reg_select(where, a.z, b.z));
}

/* a - b (spec 2.6) */
INLINE Vec subtract(Vec a, Vec b)
{
    return vec(F(a.x - b.x), F(a.y - b.y), F(a.z - b.z));
}

/* a * f (spec 2.6) */
INLINE Vec scale(Vec a, Reg f)
{
    return vec(F(a.x * f), F(a.y * f), F(a.z * f));
}

/* FLength (spec 2.6): the sum is rounded at Sqrt's float parameter (spec 2.9). */
INLINE Reg flength(Vec v)
{
    return F(reg_sqrt(F(DOT_LANES(v, v))));
}

/* v / r, to what rounds to the same floats.
 *
 * Where a * b + c has one rounding, three divisions are one: the quotient q by RN(1 / r) is off by 2^-52, its correction
 * leaves 2^-104, and `make exhaust` shows that no quotient of a float lies so near to where that would tell. */
INLINE void divide(Wide *x, Wide *y, Wide *z, Wide r)
{
#ifdef wide_msub
    Wide reciprocal = 1.0 / r, q = *x * reciprocal;
    *x = wide_nmadd(wide_msub(q, r, *x), reciprocal, q);
    q = *y * reciprocal;
    *y = wide_nmadd(wide_msub(q, r, *y), reciprocal, q);
    q = *z * reciprocal;
    *z = wide_nmadd(wide_msub(q, r, *z), reciprocal, q);
#else
    *x /= r;
    *y /= r;
    *z /= r;
#endif
}

/* [CORE] point3.normalize, point3.unify: binary64-divide; a vector of no length is in doubt. */
INLINE Vec normalized(Vec v, Doubt *doubt)
{
    Wide x[HALVES], y[HALVES], z[HALVES], r;
    int h;
    for (h = 0; h < HALVES; ++h) {
        x[h] = wide_of(v.x, h);
        y[h] = wide_of(v.y, h);
        z[h] = wide_of(v.z, h);
        r = wide_sqrt(wide_madd(z[h], z[h], wide_madd(y[h], y[h], x[h] * x[h])));
        divide(&x[h], &y[h], &z[h], r);
        doubt_short(r, doubt, h);
    }
    return vec(reg_of(x), reg_of(y), reg_of(z));
}

/* [CORE] point3.cross */
INLINE Vec cross(Vec a, Vec b)
{
    return vec(F(minus_product(a.y * b.z, a.z, b.y)), F(minus_product(a.z * b.x, a.x, b.z)),
               F(minus_product(a.x * b.y, a.y, b.x)));
}

/* ---- matrix3.c ---- */

/* c = f(cos(a)), s = f(sin(a)) */
INLINE Turns turns_of(Reg angle, Doubt *doubt)
{
    Turns t;
    reg_sincos(angle, 1.0, &t.s, &t.c, doubt);
    return t;
}

/* row_i' = f(c*row_i + s*row_k), row_k' = f(c*row_k - s*row_i) */
INLINE void turn_rows(Vec *i, Vec *k, Turns t)
{
    Vec a = *i, b = *k;
    *i = vec(F(plus_product(t.c * a.x, t.s, b.x)), F(plus_product(t.c * a.y, t.s, b.y)), F(plus_product(t.c * a.z, t.s, b.z)));
    *k = vec(F(minus_product(t.c * b.x, t.s, a.x)), F(minus_product(t.c * b.y, t.s, a.y)),
             F(minus_product(t.c * b.z, t.s, a.z)));
}

/* [CORE] matrix3.pre_rotate: rows; z, then y, then x. */
INLINE void pre_rotate_zyx(Basis *m, Turns x, Turns y, Turns z)
{
    turn_rows(&m->row[0], &m->row[1], z);
    turn_rows(&m->row[2], &m->row[0], y);
    turn_rows(&m->row[1], &m->row[2], x);
}

/* One row of [CORE] matrix3.multiply: full */
INLINE Vec row_times(Vec a, const Basis *b)
{
    const Vec *m = b->row;
    return vec(F(sum_of_products(a, m[0].x, m[1].x, m[2].x)), F(sum_of_products(a, m[0].y, m[1].y, m[2].y)),
               F(sum_of_products(a, m[0].z, m[1].z, m[2].z)));
}

INLINE Basis basis_times(const Basis *a, const Basis *b)
{
    Basis p;
    p.row[0] = row_times(a->row[0], b);
    p.row[1] = row_times(a->row[1], b);
    p.row[2] = row_times(a->row[2], b);
    return p;
}

/* [CORE] matrix3.vector_transform: sum */
#define vector_transform(m, v) row_times(v, m)

/* [CORE] matrix3.multiply: full, translation included */
INLINE Affine affine_times(const Affine *a, const Affine *b)
{
    Affine p;
    const Vec *m = b->basis.row;
    p.basis = basis_times(&a->basis, &b->basis);
    p.trans = vec(F(sum_of_products(a->trans, m[0].x, m[1].x, m[2].x) + b->trans.x),
                  F(sum_of_products(a->trans, m[0].y, m[1].y, m[2].y) + b->trans.y),
                  F(sum_of_products(a->trans, m[0].z, m[1].z, m[2].z) + b->trans.z));
    return p;
}

INLINE Basis identity_basis(void)
{
    Basis m;
    Reg one = splat(1.0f), zero = splat(0.0f);
    m.row[0] = vec(one, zero, zero);
    m.row[1] = vec(zero, one, zero);
    m.row[2] = vec(zero, zero, one);
    return m;
}

/* [CORE] matrix3.invert: adjugate-reciprocal, the 3x3 part */
INLINE Basis basis_inverse(const Basis *a)
{
    const Vec *m = a->row;
    Basis inverse;
    Vec c0, c1, c2;
    Reg det, r;
    c0.x = F(minus_product(m[1].y * m[2].z, m[1].z, m[2].y));
    c0.y = F(minus_product(m[1].z * m[2].x, m[1].x, m[2].z));
    c0.z = F(minus_product(m[1].x * m[2].y, m[1].y, m[2].x));
    c1.x = F(minus_product(m[2].y * m[0].z, m[2].z, m[0].y));
    c1.y = F(minus_product(m[2].z * m[0].x, m[2].x, m[0].z));
    c1.z = F(minus_product(m[2].x * m[0].y, m[2].y, m[0].x));
    c2.x = F(minus_product(m[0].y * m[1].z, m[0].z, m[1].y));
    c2.y = F(minus_product(m[0].z * m[1].x, m[0].x, m[1].z));
    c2.z = F(minus_product(m[0].x * m[1].y, m[0].y, m[1].x));
    det = F(DOT_LANES(m[0], c0));
    r = F(splat(1.0f) / det);
    inverse.row[0] = vec(F(c0.x * r), F(c1.x * r), F(c2.x * r));
    inverse.row[1] = vec(F(c0.y * r), F(c1.y * r), F(c2.y * r));
    inverse.row[2] = vec(F(c0.z * r), F(c1.z * r), F(c2.z * r));
    return inverse;
}

/* [CORE] matrix3.rot_angle_axis: rodrigues */
INLINE Basis rot_angle_axis(Vec k, Reg angle, Doubt *doubt)
{
    Turns turn = turns_of(angle, doubt);
    Reg c = turn.c, s = turn.s, t = F(splat(1.0f) - c);
    Basis m;
    m.row[0] = vec(F(t * k.x * k.x + c), F(plus_product(t * k.x * k.y, s, k.z)), F(minus_product(t * k.x * k.z, s, k.y)));
    m.row[1] = vec(F(minus_product(t * k.x * k.y, s, k.z)), F(t * k.y * k.y + c), F(plus_product(t * k.y * k.z, s, k.x)));
    m.row[2] = vec(F(plus_product(t * k.x * k.z, s, k.y)), F(minus_product(t * k.y * k.z, s, k.x)), F(t * k.z * k.z + c));
    return m;
}

/* ---- euler.c ---- */

/* What Euler angles are taken of: the rest of a matrix need not be computed. */
typedef struct {
    Vec row0;
    Reg row1_z, row2_z;
} EulerEntries;

INLINE EulerEntries euler_entries(const Basis *m)
{
    EulerEntries t;
    t.row0 = m->row[0];
    t.row1_z = m->row[1].z;
    t.row2_z = m->row[2].z;
    return t;
}

/* [CORE] matrix3.to_euler: shoemake; gimbal lock is in doubt. */
INLINE Vec to_euler(const EulerEntries *m, Doubt *doubt)
{
    Reg cy = F(reg_sqrt(plus_product(m->row0.x * m->row0.x, m->row0.y, m->row0.y)));
    doubt->lock |= ~(cy > splat(16.0f * FLT_EPSILON));
    return vec(reg_atan2(m->row1_z, m->row2_z, doubt), reg_atan2(-m->row0.z, cy, doubt),
               reg_atan2(m->row0.y, m->row0.x, doubt));
}

/* ---- quat.c ---- */

/* c = f(cos(a/2)), s = f(-sin(a/2)), the half in binary64 */
INLINE Turns half_turns_of(Reg angle, Doubt *doubt)
{
    Turns t;
    reg_sincos(angle, 0.5, &t.s, &t.c, doubt);
    t.s = -t.s;
    return t;
}

/* MakeRowQuat (spec 2.2) */
INLINE Quats make_row_quat(Vec axis, Turns half)
{
    Quats q;
    Reg s = half.s;
    q.w = half.c;
    q.x = F(s * axis.x);
    q.y = F(s * axis.y);
    q.z = F(s * axis.z);
    return q;
}

/* ApplyRowQuat (spec 2.3): conjugate, the quaternion-vector product, the product (hamilton). */
INLINE Vec apply_row_quat(Vec v, Quats b)
{
    Quats q = b, a;
    q.x = -b.x;
    q.y = -b.y;
    q.z = -b.z;
    a.w = F(minus_product(minus_product(-q.x * v.x, q.y, v.y), q.z, v.z));
    a.x = F(minus_product(plus_product(q.w * v.x, q.y, v.z), q.z, v.y));
    a.y = F(minus_product(plus_product(q.w * v.y, q.z, v.x), q.x, v.z));
    a.z = F(minus_product(plus_product(q.w * v.z, q.x, v.y), q.y, v.x));
    return vec(F(minus_product(plus_product(plus_product(a.w * b.x, a.x, b.w), a.y, b.z), a.z, b.y)),
               F(minus_product(plus_product(plus_product(a.w * b.y, a.y, b.w), a.z, b.x), a.x, b.z)),
               F(minus_product(plus_product(plus_product(a.w * b.z, a.z, b.w), a.x, b.y), a.y, b.x)));
}

#endif
