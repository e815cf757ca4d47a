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

/* Small functions of the solve are inlined: passing vectors through memory costs a quarter of its time. */
#if defined(__GNUC__)
#define INLINE static __inline__ __attribute__((always_inline))
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static
#endif

/* A rounding to float. On x87 a cast alone is not enough: gcc narrows (float)((long double)a * b) to a product of floats,
 * which stays in a register of 53 bits; only a store rounds for certain. */
#if defined(MAXIK_X87_REGISTERS)
INLINE float rounded_to_float(double e)
{
    volatile float stored = (float)e;
    return stored;
}
#define F(e) rounded_to_float(e)
#else
#define F(e) ((float)(e))
#endif

/* sin, cos, acos, atan2 of the C runtime, each correctly rounded but for the last bits of a double.
 *
 * MAXIK_RUNTIME_CALLS: the program asks the runtime's DLL (oracle_main.c), since MinGW's own sin and cos are bare x87
 * instructions, which are wrong for large angles. glibc's acos for 32-bit x86 computes on x87 at whatever precision is
 * set, and at 53 bits misses msvcr90's float on two inputs: there it is computed with 64 bits and rounded once. */
#if defined(MAXIK_RUNTIME_CALLS)
#define crt_sin(x) runtime_sin(x)
#define crt_cos(x) runtime_cos(x)
#define crt_acos(x) runtime_acos(x)
#define crt_atan2(y, x) runtime_atan2(y, x)
#else
#define crt_sin(x) sin(x)
#define crt_cos(x) cos(x)
#define crt_atan2(y, x) atan2(y, x)
#if defined(MAXIK_X87_REGISTERS) && defined(__GNUC__) && !defined(_WIN32)
static double crt_acos(double x)
{
    unsigned short kept, wide = 0x37f;
    volatile double found;
    __asm__ __volatile__("fnstcw %0" : "=m"(kept));
    __asm__ __volatile__("fldcw %0" : : "m"(wide));
    found = (double)acosl(x);
    __asm__ __volatile__("fldcw %0" : : "m"(kept));
    return found;
}
#else
#define crt_acos(x) acos(x)
#endif
#endif

/* The double constant of spec 2.1. */
#define MAXIK_PI 3.14159265358979323846

#endif
