/* Matrix3, spec 2.7: 4 x 3 affine, row vectors (p' = p * M), with identity flags.
 *
 * Rows 0-2 basis, row 3 translation. In A * B, A acts first. The flags change no number under candidate-1
 * (core-profile.md, reading 4); they are propagated as the specification says.
 */
#ifndef MAXIK_MATRIX3_H
#define MAXIK_MATRIX3_H

#include "point3.h"

enum { POS_IDENT = 1, ROT_IDENT = 2, SCL_IDENT = 4, ALL_IDENT = 7 };

typedef struct {
    float m[4][3];
    unsigned flags;
} Matrix3;

/* Cosine and sine of one angle, each rounded to float: what a pre-rotation uses. */
typedef struct {
    float c, s;
} Turn;

INLINE Matrix3 matrix3_identity(void);
INLINE Matrix3 matrix3_translation(Point3 t);
INLINE Point3 matrix3_row(const Matrix3 *m, int i);
INLINE void matrix3_set_row(Matrix3 *m, int i, Point3 row);
INLINE void matrix3_no_trans(Matrix3 *m);
INLINE void matrix3_validate_flags(Matrix3 *m);
INLINE Matrix3 matrix3_rows(Point3 row0, Point3 row1, Point3 row2, Point3 row3);
INLINE Matrix3 matrix3_multiply(const Matrix3 *a, const Matrix3 *b);
INLINE Matrix3 matrix3_inverse(const Matrix3 *a);
INLINE Turn turn_of(float angle);
INLINE void matrix3_pre_rotate_x(Matrix3 *m, Turn t);
INLINE void matrix3_pre_rotate_y(Matrix3 *m, Turn t);
INLINE void matrix3_pre_rotate_z(Matrix3 *m, Turn t);
INLINE void matrix3_rotate(Matrix3 *m, char axis, float angle);
INLINE Matrix3 rot_angle_axis(Point3 k, float angle);
INLINE Point3 vector_transform(const Matrix3 *m, Point3 v);
INLINE Point3 point_transform(const Matrix3 *m, Point3 v);

#endif
