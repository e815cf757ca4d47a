/* Register precision and rounding, spelled once (spec 1.1; core-profile.md, environment).
 *
 * A float expression is evaluated in registers and rounded to binary32 only where it is stored, cast or passed as a
 * float parameter. R(x) lifts a float into a register, F(e) is such a rounding. Two environments are compiled from
 * the same files, one translation unit each (unit_x87_53.c, unit_sse_32.c):
 *
 *   x87-53  registers have 53 bits: binary64, or the x87 stack itself at control word 0x27F;
 *   sse-32  registers have 24 bits: every operation rounds to binary32 (64-bit releases of 3ds Max).
 *
 * Where core-profile.md says "binary64", the code says (double) in both environments.
 */
#ifndef MAXIK_ENV_H
#define MAXIK_ENV_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef MAXIK_SSE_32
typedef float reg;
#define R(x) ((float)(x))
#define MAXIK_EXPORT(name) maxik_sse_32_##name
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "sse-32 needs a compiler that evaluates float expressions in float"
#endif
#else
typedef double reg;
#define MAXIK_EXPORT(name) maxik_x87_53_##name
#if defined(MAXIK_X87_REGISTERS)
#define R(x) (x)
#else
#define R(x) ((double)(x))
#endif
#endif

#define F(e) ((float)(e))

/* Small functions of the solve are inlined: passing vectors through memory costs a quarter of its time. */
#if defined(__GNUC__)
#define INLINE static __inline__ __attribute__((always_inline))
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static
#endif

/* The double constant of spec 2.1. */
#define MAXIK_PI 3.14159265358979323846

#endif
