/* sin, cos, acos and atan2 in binary64 lanes, and the doubt that a lane may round otherwise than the C runtime's.
 *
 * Each function states its error in units of the last place of binary64 (ulp). The runtime's own results are within 1
 * ulp of the exact value. Where a result lies farther than GUARD ulp from every midpoint of two floats, both round to the
 * same float; where it does not, the lane is in doubt and the scalar path solves it again. So is a lane whose argument
 * or result lies outside what a function is made for. `make exhaust` tries every float32 argument.
 *
 * The errors: a polynomial's own stands in lane_polynomials.h; the operations after it round at most six times a result
 * that is not smaller than their operands by more than a factor of two, which is below 16 ulp; an argument of sin and
 * cos is reduced with an error of 2^-73, which is below 32 ulp of the smallest remainder (2^-25) that a float32
 * argument up to 1e4 has. All are below 64 ulp.
 */
#ifndef MAXIK_LANE_FUNCTIONS_H
#define MAXIK_LANE_FUNCTIONS_H

#include "lane_polynomials.h"
#include "lanes.h"

#define GUARD 512LL               /* ulp of binary64 on both sides of a midpoint */
#define BELOW_FLOAT 0x1fffffffLL  /* the bits of a double below a float's last */
#define MIDPOINT 0x10000000LL     /* these bits at a midpoint of two floats */
#define LARGEST_ANGLE 1e4         /* sin, cos */
#define SMALLEST 1e-30            /* lengths, angles: a midpoint's bits lie elsewhere below the smallest normal float */
#define HALF_PI 1.57079632679489661923
#define QUARTER_PI 0.785398163397448309616
#define TAN_PI_8 0.414213562373095048802
#define ROUND_TO_INTEGER 6755399441055744.0 /* 3 * 2^51 */
#define TWO_BY_PI 0.636619772367581343076
#define HALF_PI_HIGH 1.57079632673412561417 /* the first 33 bits: exact when multiplied by a whole number below 2^20 */
#define HALF_PI_LOW 6.07710050650619224932e-11

/* How far a block's lanes have kept from what is in doubt, as extremes over all of its results. */
typedef struct {
    WideMask nearest[HALVES]; /* distance to a midpoint plus GUARD, modulo what BELOW_FLOAT masks */
    Wide smallest[HALVES];    /* length, or angle other than zero */
    Wide largest[HALVES];     /* argument of sin and cos */
    RegMask lock;             /* gimbal lock */
} Doubt;

INLINE void no_doubt(Doubt *doubt)
{
    int h;
    for (h = 0; h < HALVES; ++h) {
        doubt->nearest[h] = (WideMask)wide(1.0) + MIDPOINT;
        doubt->smallest[h] = wide(1.0);
        doubt->largest[h] = wide(0.0);
    }
    doubt->lock = (RegMask){0};
}

INLINE void doubt_near_midpoint(Wide r, Doubt *doubt, int h)
{
    WideMask at = (WideMask)((WideBits)r - (unsigned long long)(MIDPOINT - GUARD)) & BELOW_FLOAT;
    doubt->nearest[h] = smaller_words(at, doubt->nearest[h]);
}

INLINE void doubt_short(Wide length, Doubt *doubt, int h)
{
    doubt->smallest[h] = wide_smaller(length, doubt->smallest[h]);
}

/* An angle of zero or more; the bits below those of zero are a NaN. */
INLINE void doubt_tiny(Wide angle, Doubt *doubt, int h)
{
    doubt->smallest[h] = wide_smaller((Wide)((WideMask)angle - 1), doubt->smallest[h]);
}

INLINE void doubt_large(Wide angle, Doubt *doubt, int h)
{
    doubt->largest[h] = wide_larger(angle, doubt->largest[h]);
}

/* The lanes in doubt. */
INLINE WideMask doubtful(const Doubt *doubt, int h)
{
    return ((doubt->nearest[h] & BELOW_FLOAT) <= 2 * GUARD) | (doubt->smallest[h] < SMALLEST)
           | (doubt->largest[h] > LARGEST_ANGLE);
}

/* sin(x) and cos(x), |x| <= 1e4: below 64 ulp. */
INLINE void wide_sincos(Wide x, Wide *s, Wide *c, Doubt *doubt, int h)
{
    Wide shifted = wide_madd(x, wide(TWO_BY_PI), wide(ROUND_TO_INTEGER));
    Wide n = shifted - ROUND_TO_INTEGER, r, z, zz, sine, cosine;
    WideBits quadrant = (WideBits)shifted;
    WideMask odd = -(WideMask)(quadrant & 1);
    r = wide_madd(n, wide(-HALF_PI_LOW), wide_madd(n, wide(-HALF_PI_HIGH), x));
    z = r * r;
    zz = z * z;
    sine = wide_madd(wide_madd(z, wide(SIN_5), wide(SIN_4)), zz, wide_madd(z, wide(SIN_3), wide(SIN_2)));
    sine = wide_madd(sine, zz, wide_madd(z, wide(SIN_1), wide(SIN_0)));
    sine = r * wide_madd(z, sine, wide(1.0)); /* a product: -0 stays */
    cosine = wide_madd(wide_madd(wide(COS_4), zz, wide_madd(z, wide(COS_3), wide(COS_2))), zz,
                       wide_madd(z, wide(COS_1), wide(COS_0)));
    cosine = wide_madd(zz, cosine, wide_madd(z, wide(-0.5), wide(1.0)));
    *s = (Wide)((WideBits)wide_select(odd, cosine, sine) ^ ((quadrant & 2) << 62));
    *c = (Wide)((WideBits)wide_select(odd, sine, cosine) ^ (((quadrant + 1) & 2) << 62));
    doubt_large(wide_abs(x), doubt, h);
    doubt_near_midpoint(*s, doubt, h);
    doubt_near_midpoint(*c, doubt, h);
}

/* acos_safe(x) (spec 2.1), x a float: below 32 ulp. */
INLINE Wide wide_acos_safe(Wide x, Doubt *doubt, int h)
{
    Wide a = wide_abs(x), z, zz, r, p, base, angle;
    WideMask large = a > 0.5, sign = (WideMask)x & SIGN_BIT;
    z = wide_select(large, (1.0 - a) * 0.5, x * x);
    r = wide_select(large, wide_sqrt(z), a);
    zz = z * z;
    p = wide_madd(wide_madd(wide(ASIN_10), zz, wide_madd(z, wide(ASIN_9), wide(ASIN_8))), zz * zz,
                  wide_madd(wide_madd(z, wide(ASIN_7), wide(ASIN_6)), zz, wide_madd(z, wide(ASIN_5), wide(ASIN_4))));
    p = wide_madd(p, zz * zz,
                  wide_madd(wide_madd(z, wide(ASIN_3), wide(ASIN_2)), zz, wide_madd(z, wide(ASIN_1), wide(ASIN_0))));
    angle = (Wide)((WideMask)wide_madd(r * z, p, r) ^ sign);
    base = wide_select(large, (Wide)((WideMask)wide(MAXIK_PI) & (x < 0.0)), wide(HALF_PI));
    angle = base + wide_select(large, angle + angle, -angle);
    angle = wide_select(x <= -1.0, wide(MAXIK_PI), (Wide)((WideMask)angle & ~(x >= 1.0)));
    doubt_near_midpoint(angle, doubt, h);
    return angle;
}

/* atan2(y, x), signed zeros kept; NaN where both are zero or infinite: below 64 ulp. */
INLINE Wide wide_atan2(Wide y, Wide x, Doubt *doubt, int h)
{
    Wide ay = wide_abs(y), ax = wide_abs(x), longer, shorter, t, z, zz, p, angle;
    WideMask steep = ay > ax, far;
    longer = wide_select(steep, ay, ax);
    shorter = wide_select(steep, ax, ay);
    far = shorter > longer * TAN_PI_8;
    t = wide_select(far, shorter - longer, shorter) / wide_select(far, longer + shorter, longer);
    z = t * t;
    zz = z * z;
    p = wide_madd(wide_madd(wide(ATAN_8), zz, wide_madd(z, wide(ATAN_7), wide(ATAN_6))), zz,
                  wide_madd(z, wide(ATAN_5), wide(ATAN_4)));
    p = wide_madd(p, zz * zz,
                  wide_madd(wide_madd(z, wide(ATAN_3), wide(ATAN_2)), zz, wide_madd(z, wide(ATAN_1), wide(ATAN_0))));
    angle = wide_madd(t * z, p, t) + (Wide)((WideMask)wide(QUARTER_PI) & far);
    angle = wide_select(steep, HALF_PI - angle, angle);
    angle = wide_select(x < 0.0, MAXIK_PI - angle, angle);
    doubt_near_midpoint(angle, doubt, h);
    doubt_tiny(angle, doubt, h);
    return (Wide)((WideMask)angle | ((WideMask)y & SIGN_BIT));
}

/* ---- over registers: what env.h calls crt_..., rounded to float ---- */

/* cos and sin of factor * angle, the product in binary64. */
INLINE void reg_sincos(Reg angle, double factor, Reg *s, Reg *c, Doubt *doubt)
{
    Wide sine[HALVES], cosine[HALVES];
    int h;
    for (h = 0; h < HALVES; ++h) {
        wide_sincos(factor * wide_of(angle, h), &sine[h], &cosine[h], doubt, h);
    }
    *s = reg_of(sine);
    *c = reg_of(cosine);
}

INLINE Reg reg_acos_safe(Reg x, Doubt *doubt)
{
    Wide angle[HALVES];
    int h;
    for (h = 0; h < HALVES; ++h) {
        angle[h] = wide_acos_safe(wide_of(x, h), doubt, h);
    }
    return reg_of(angle);
}

INLINE Reg reg_atan2(Reg y, Reg x, Doubt *doubt)
{
    Wide angle[HALVES];
    int h;
    for (h = 0; h < HALVES; ++h) {
        angle[h] = wide_atan2(wide_of(y, h), wide_of(x, h), doubt, h);
    }
    return reg_of(angle);
}

#endif
