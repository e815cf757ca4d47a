/* [CORE] matrix3.to_euler: shoemake, cy rounded to float (core-profile.md). NaN in row 0 takes the else branch. */
#include "euler.h"

INLINE void matrix_to_euler(const Matrix3 *a, float eul[3])
{
    const float(*m)[3] = a->m;
    float cy = F(sqrt((double)(R(m[0][0]) * m[0][0] + R(m[0][1]) * m[0][1])));
    if (cy > 16.0f * FLT_EPSILON) {
        eul[0] = F(crt_atan2((double)m[1][2], (double)m[2][2]));
        eul[1] = F(crt_atan2(-(double)m[0][2], (double)cy));
        eul[2] = F(crt_atan2((double)m[0][1], (double)m[0][0]));
    } else {
        eul[0] = F(crt_atan2(-(double)m[2][1], (double)m[1][1]));
        eul[1] = F(crt_atan2(-(double)m[0][2], (double)cy));
        eul[2] = 0.0f;
    }
}
