/* MatrixToEuler, EULERTYPE_XYZ (spec 2.4). */
#ifndef MAXIK_EULER_H
#define MAXIK_EULER_H

#include "matrix3.h"

INLINE void matrix_to_euler(const Matrix3 *m, float eul[3]);

#endif
