/* Point3, spec 2.6: three floats and the operators the solvers use, component-wise in the written order. */
#ifndef MAXIK_POINT3_H
#define MAXIK_POINT3_H

#include "env.h"

typedef struct {
    float x, y, z;
} Point3;

/* a % b, DotProd: left-associative, at register precision; the place of use rounds (spec 2.6). */
#define DOT(a, b) (R((a).x) * (b).x + R((a).y) * (b).y + R((a).z) * (b).z)

INLINE Point3 point3(float x, float y, float z)
{
    Point3 p;
    p.x = x;
    p.y = y;
    p.z = z;
    return p;
}

INLINE Point3 load3(const float *v)
{
    return point3(v[0], v[1], v[2]);
}

INLINE void store3(float *out, Point3 p)
{
    out[0] = p.x;
    out[1] = p.y;
    out[2] = p.z;
}

/* a - b (spec 2.6) */
INLINE Point3 point3_subtract(Point3 a, Point3 b)
{
    return point3(F(R(a.x) - b.x), F(R(a.y) - b.y), F(R(a.z) - b.z));
}

/* a * f, f * a (spec 2.6) */
INLINE Point3 point3_scale(Point3 a, float f)
{
    return point3(F(R(a.x) * f), F(R(a.y) * f), F(R(a.z) * f));
}

/* Sqrt (spec 2.9): a float parameter, fsqrt at 53 bits, a float store. */
INLINE float float_sqrt(float a)
{
    return F(sqrt((double)a));
}

/* FLength (spec 2.6): the sum is rounded at Sqrt's float parameter. */
INLINE float point3_flength(Point3 v)
{
    return float_sqrt(F(DOT(v, v)));
}

/* [CORE] point3.normalize, point3.unify: binary64-divide; point3.zero_length: unit_x. Returns the unrounded length. */
INLINE double point3_unify(Point3 *v)
{
    double x = v->x, y = v->y, z = v->z;
    double r = sqrt(x * x + y * y + z * z);
    if (r == 0.0) {
        *v = point3(1.0f, 0.0f, 0.0f);
    } else {
        *v = point3(F(x / r), F(y / r), F(z / r));
    }
    return r;
}

/* [CORE] point3.normalize: the free function Normalize(v). */
INLINE Point3 normalize(Point3 v)
{
    point3_unify(&v);
    return v;
}

/* [CORE] point3.length_unify: normalises in place, returns f(r), 0 for a vector of zero length. */
INLINE float length_unify(Point3 *v)
{
    return F(point3_unify(v));
}

/* [CORE] point3.cross: a ^ b, CrossProd(a, b). */
INLINE Point3 cross(Point3 a, Point3 b)
{
    return point3(F(R(a.y) * b.z - R(a.z) * b.y), F(R(a.z) * b.x - R(a.x) * b.z), F(R(a.x) * b.y - R(a.y) * b.x));
}

/* acos_safe (spec 2.1): returns double; every call site assigns the result to a float. */
INLINE double acos_safe(float x)
{
    return x <= -1.0f ? MAXIK_PI : x >= 1.0f ? 0.0 : crt_acos((double)x);
}

#endif
