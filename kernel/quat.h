/* Quat, spec 2.2, 2.3, 2.8: vector part x, y, z, scalar part w. */
#ifndef MAXIK_QUAT_H
#define MAXIK_QUAT_H

#include "matrix3.h"

typedef struct {
    float x, y, z, w;
} Quat;

static Quat quat(float x, float y, float z, float w);
static Quat make_row_quat(Point3 axis, float angle);
static Quat quat_conjugate(Quat q);
static Quat quat_times_vector(Quat q, Point3 v);
static Quat quat_product(Quat a, Quat b);
static Point3 apply_row_quat(Point3 p, Quat q);
static Quat quat_from_ang_axis(Point3 axis, float angle);
static Matrix3 quat_make_matrix(Quat q);
static void rotation_pre_apply(Quat q, Matrix3 *m);

#endif
