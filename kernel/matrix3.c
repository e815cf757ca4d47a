/* The [CORE] routines of Matrix3 in candidate-1 arithmetic (core-profile.md, Matrix3). */
#include "matrix3.h"

/* IdentityMatrix, Matrix3(TRUE): all identity flags set (spec 2.7). */
INLINE Matrix3 matrix3_identity(void)
{
    Matrix3 m;
    int i, j;
    for (i = 0; i < 4; ++i) {
        for (j = 0; j < 3; ++j) {
            m.m[i][j] = i == j ? 1.0f : 0.0f;
        }
    }
    m.flags = ALL_IDENT;
    return m;
}

/* A pure translation: identity, then SetTrans. */
INLINE Matrix3 matrix3_translation(Point3 t)
{
    Matrix3 m = matrix3_identity();
    matrix3_set_row(&m, 3, t);
    return m;
}

/* GetRow, GetTrans (row 3): spec 2.7 */
INLINE Point3 matrix3_row(const Matrix3 *m, int i)
{
    return point3(m->m[i][0], m->m[i][1], m->m[i][2]);
}

/* SetRow; row 3 is SetTrans, which clears POS_IDENT; a basis row clears the other two (spec 2.7). */
INLINE void matrix3_set_row(Matrix3 *m, int i, Point3 row)
{
    m->m[i][0] = row.x;
    m->m[i][1] = row.y;
    m->m[i][2] = row.z;
    m->flags &= i == 3 ? ~(unsigned)POS_IDENT : ~(unsigned)(ROT_IDENT | SCL_IDENT);
}

/* NoTrans: zeros row 3 (spec 2.7). */
INLINE void matrix3_no_trans(Matrix3 *m)
{
    matrix3_set_row(m, 3, point3(0.0f, 0.0f, 0.0f));
    m->flags |= POS_IDENT;
}

/* [CORE] matrix3.validate_flags: exact; an exact 3x3 identity sets both rotation and scale. */
INLINE void matrix3_validate_flags(Matrix3 *m)
{
    int i, j, basis = 1, trans = 1;
    for (j = 0; j < 3; ++j) {
        for (i = 0; i < 3; ++i) {
            basis = basis && m->m[i][j] == (i == j ? 1.0f : 0.0f);
        }
        trans = trans && m->m[3][j] == 0.0f;
    }
    m->flags = (trans ? POS_IDENT : 0u) | (basis ? (unsigned)(ROT_IDENT | SCL_IDENT) : 0u);
}

/* The four-row constructor: SetRow for rows 0-3, then ValidateFlags (spec 2.7). */
INLINE Matrix3 matrix3_rows(Point3 row0, Point3 row1, Point3 row2, Point3 row3)
{
    Matrix3 m;
    m.flags = 0;
    matrix3_set_row(&m, 0, row0);
    matrix3_set_row(&m, 1, row1);
    matrix3_set_row(&m, 2, row2);
    matrix3_set_row(&m, 3, row3);
    matrix3_validate_flags(&m);
    return m;
}

/* [CORE] matrix3.multiply: full */
INLINE Matrix3 matrix3_multiply(const Matrix3 *a, const Matrix3 *b)
{
    Matrix3 p;
    int i, j;
    for (j = 0; j < 3; ++j) {
        for (i = 0; i < 3; ++i) {
            p.m[i][j] = F(R(a->m[i][0]) * b->m[0][j] + R(a->m[i][1]) * b->m[1][j] + R(a->m[i][2]) * b->m[2][j]);
        }
        p.m[3][j] = F(R(a->m[3][0]) * b->m[0][j] + R(a->m[3][1]) * b->m[1][j] + R(a->m[3][2]) * b->m[2][j]
                      + b->m[3][j]);
    }
    p.flags = a->flags & b->flags;
    return p;
}

/* [CORE] matrix3.invert: adjugate-reciprocal */
INLINE Matrix3 matrix3_inverse(const Matrix3 *a)
{
    Matrix3 inv;
    float c[3][3], det, r;
    int i, j;
    const float(*m)[3] = a->m;
    c[0][0] = F(R(m[1][1]) * m[2][2] - R(m[1][2]) * m[2][1]);
    c[0][1] = F(R(m[1][2]) * m[2][0] - R(m[1][0]) * m[2][2]);
    c[0][2] = F(R(m[1][0]) * m[2][1] - R(m[1][1]) * m[2][0]);
    c[1][0] = F(R(m[2][1]) * m[0][2] - R(m[2][2]) * m[0][1]);
    c[1][1] = F(R(m[2][2]) * m[0][0] - R(m[2][0]) * m[0][2]);
    c[1][2] = F(R(m[2][0]) * m[0][1] - R(m[2][1]) * m[0][0]);
    c[2][0] = F(R(m[0][1]) * m[1][2] - R(m[0][2]) * m[1][1]);
    c[2][1] = F(R(m[0][2]) * m[1][0] - R(m[0][0]) * m[1][2]);
    c[2][2] = F(R(m[0][0]) * m[1][1] - R(m[0][1]) * m[1][0]);
    det = F(R(m[0][0]) * c[0][0] + R(m[0][1]) * c[0][1] + R(m[0][2]) * c[0][2]);
    r = F(R(1.0f) / det);
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 3; ++j) {
            inv.m[i][j] = F(R(c[j][i]) * r);
        }
    }
    for (j = 0; j < 3; ++j) {
        inv.m[3][j] = F(-(R(m[3][0]) * inv.m[0][j] + R(m[3][1]) * inv.m[1][j] + R(m[3][2]) * inv.m[2][j]));
    }
    inv.flags = a->flags;
    return inv;
}

/* c = f(cos(a)), s = f(sin(a)), the argument promoted to binary64 (matrix3.pre_rotate, matrix3.rot_angle_axis). */
INLINE Turn turn_of(float angle)
{
    Turn t;
    t.c = F(crt_cos((double)angle));
    t.s = F(crt_sin((double)angle));
    return t;
}

/* Two basis rows turned into each other: row_i' = f(c*row_i + s*row_k), row_k' = f(c*row_k - s*row_i). */
INLINE void pre_rotate_rows(Matrix3 *m, int i, int k, Turn t)
{
    int j;
    for (j = 0; j < 3; ++j) {
        float a = m->m[i][j], b = m->m[k][j];
        m->m[i][j] = F(R(t.c) * a + R(t.s) * b);
        m->m[k][j] = F(R(t.c) * b - R(t.s) * a);
    }
    m->flags &= ~(unsigned)ROT_IDENT;
}

/* [CORE] matrix3.pre_rotate: rows. X turns rows 1 and 2, Y rows 2 and 0, Z rows 0 and 1. */
INLINE void matrix3_pre_rotate_x(Matrix3 *m, Turn t)
{
    pre_rotate_rows(m, 1, 2, t);
}

/* row0' = f(c*row0 - s*row2), row2' = f(c*row2 + s*row0) */
INLINE void matrix3_pre_rotate_y(Matrix3 *m, Turn t)
{
    pre_rotate_rows(m, 2, 0, t);
}

INLINE void matrix3_pre_rotate_z(Matrix3 *m, Turn t)
{
    pre_rotate_rows(m, 0, 1, t);
}

/* [CORE] matrix3.rotate: columns, translation included. X: y' = f(y*c - z*s), z' = f(y*s + z*c), and cyclic. */
INLINE void matrix3_rotate(Matrix3 *m, char axis, float angle)
{
    Turn t = turn_of(angle);
    int i, p = axis == 'x' ? 1 : axis == 'y' ? 2 : 0, q = (p + 1) % 3;
    for (i = 0; i < 4; ++i) {
        float a = m->m[i][p], b = m->m[i][q];
        m->m[i][p] = F(R(a) * t.c - R(b) * t.s);
        m->m[i][q] = F(R(a) * t.s + R(b) * t.c);
    }
    m->flags &= ~(unsigned)(ROT_IDENT | POS_IDENT);
}

/* [CORE] matrix3.rot_angle_axis: rodrigues */
INLINE Matrix3 rot_angle_axis(Point3 k, float angle)
{
    Turn turn = turn_of(angle);
    float c = turn.c, s = turn.s, t = F(R(1.0f) - c);
    Matrix3 m;
    m.m[0][0] = F(R(t) * k.x * k.x + c);
    m.m[0][1] = F(R(t) * k.x * k.y + R(s) * k.z);
    m.m[0][2] = F(R(t) * k.x * k.z - R(s) * k.y);
    m.m[1][0] = F(R(t) * k.x * k.y - R(s) * k.z);
    m.m[1][1] = F(R(t) * k.y * k.y + c);
    m.m[1][2] = F(R(t) * k.y * k.z + R(s) * k.x);
    m.m[2][0] = F(R(t) * k.x * k.z + R(s) * k.y);
    m.m[2][1] = F(R(t) * k.y * k.z - R(s) * k.x);
    m.m[2][2] = F(R(t) * k.z * k.z + c);
    m.m[3][0] = m.m[3][1] = m.m[3][2] = 0.0f;
    m.flags = POS_IDENT | SCL_IDENT;
    return m;
}

/* [CORE] matrix3.vector_transform: sum; the 3x3 part only (spec 2.4). */
INLINE Point3 vector_transform(const Matrix3 *m, Point3 v)
{
    return point3(F(R(v.x) * m->m[0][0] + R(v.y) * m->m[1][0] + R(v.z) * m->m[2][0]),
                  F(R(v.x) * m->m[0][1] + R(v.y) * m->m[1][1] + R(v.z) * m->m[2][1]),
                  F(R(v.x) * m->m[0][2] + R(v.y) * m->m[1][2] + R(v.z) * m->m[2][2]));
}

/* [CORE] matrix3.point_transform: sum; full affine. */
INLINE Point3 point_transform(const Matrix3 *m, Point3 v)
{
    return point3(F(R(v.x) * m->m[0][0] + R(v.y) * m->m[1][0] + R(v.z) * m->m[2][0] + m->m[3][0]),
                  F(R(v.x) * m->m[0][1] + R(v.y) * m->m[1][1] + R(v.z) * m->m[2][1] + m->m[3][1]),
                  F(R(v.x) * m->m[0][2] + R(v.y) * m->m[1][2] + R(v.z) * m->m[2][2] + m->m[3][2]));
}
