/* Quat, spec 2.2, 2.3, 2.8: vector part x, y, z, scalar part w. */
#ifndef MAXIK_QUAT_H
#define MAXIK_QUAT_H

#include "matrix3.h"

typedef struct {
    float x, y, z, w;
} Quat;

INLINE Quat quat(float x, float y, float z, float w);
INLINE Quat make_row_quat(Point3 axis, float angle);
INLINE Quat quat_conjugate(Quat q);
INLINE Quat quat_times_vector(Quat q, Point3 v);
INLINE Quat quat_product(Quat a, Quat b);
INLINE Point3 apply_row_quat(Point3 p, Quat q);
INLINE Quat quat_from_ang_axis(Point3 axis, float angle);
INLINE Matrix3 quat_make_matrix(Quat q);
INLINE void rotation_pre_apply(Quat q, Matrix3 *m);

#endif
