/* Lanes: vectors of binary64 and binary32 numbers of one instruction set, and the few operations that a solve needs.
 *
 * MAXIK_LANES is the width in bits: 128 (SSE2, or NEON on 64-bit ARM), 256 (AVX2 with FMA), 512 (AVX-512 F and DQ). A
 * unit is compiled for its instruction set by a pragma, so that one extension holds them all and the running machine
 * chooses (limb_batch.c).
 *
 *   Wide     binary64 lanes: what the functions of lane_functions.h are computed in
 *   Narrow   as many binary32 lanes
 *   Reg      the registers of the environment (env.h): x87-53 Wide; sse-32 binary32 lanes, twice as many (HALVES)
 *
 * A float is held in a Reg. F(e) is the rounding to float: in x87-53 to binary32 and back, in sse-32 nothing, since
 * every operation rounds. plus_product(c, a, b) is c + a * b, minus_product(c, a, b) c - a * b, for floats a and b: in
 * binary64 their product is exact, so that one rounding gives what two give.
 *
 * A mask is a vector of integers, all bits set where true. Arithmetic is written with operators; conversions are
 * intrinsics, since GCC 12 takes its own apart into halves.
 */
#ifndef MAXIK_LANES_H
#define MAXIK_LANES_H

#if defined(__clang__) && MAXIK_LANES == 512
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq"))), apply_to = function)
#elif defined(__clang__) && MAXIK_LANES == 256
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#elif MAXIK_LANES == 512
#pragma GCC target("avx512f,avx512dq")
#elif MAXIK_LANES == 256
#pragma GCC target("avx2,fma")
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

#include "env.h"

#define WIDE_LANES (MAXIK_LANES / 64)
#define BYTES (MAXIK_LANES / 8)

typedef double Wide __attribute__((vector_size(BYTES)));
typedef long long WideMask __attribute__((vector_size(BYTES)));
typedef unsigned long long WideBits __attribute__((vector_size(BYTES))); /* for sums and shifts that run over */

/* ---- one instruction set ---- *
 *
 * wide_madd(a, b, c) is a * b + c, wide_nmadd(a, b, c) c - a * b, with one rounding where the instruction set has it;
 * wide_msub, a * b - c, is there only where divide() of lane_algebra.h gains time by one rounding. wide_smaller(a, b) and
 * wide_larger(a, b) are b where a is NaN. smaller_words compares numbers below 2^32. wide_bits and floats_bits are one bit
 * a lane.
 */

#if MAXIK_LANES == 512

typedef __m256 Narrow;
#define narrow_of_wide(a) _mm512_cvtpd_ps(a)
#define wide_of_narrow(a) ((Wide)_mm512_cvtps_pd(a))
#define wide_madd(a, b, c) ((Wide)_mm512_fmadd_pd(a, b, c))
#define wide_msub(a, b, c) ((Wide)_mm512_fmsub_pd(a, b, c))
#define wide_nmadd(a, b, c) ((Wide)_mm512_fnmadd_pd(a, b, c))
#define wide_sqrt(a) ((Wide)_mm512_sqrt_pd(a))
#define wide_smaller(a, b) ((Wide)_mm512_min_pd(a, b))
#define wide_larger(a, b) ((Wide)_mm512_max_pd(a, b))
#define narrow_load(at) _mm256_loadu_ps(at)
#define narrow_store(at, a) _mm256_storeu_ps(at, a)
#define floats_sqrt(a) _mm512_sqrt_ps(a)
#define lower_half(a) _mm512_castps512_ps256(a)
#define upper_half(a) _mm512_extractf32x8_ps(a, 1)
#define joined_halves(a, b) _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1)
#define smaller_words(a, b) ((WideMask)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#define wide_bits(mask) ((unsigned)_mm512_movepi64_mask((__m512i)(mask)))
#define floats_bits(mask) ((unsigned)_mm512_movepi32_mask((__m512i)(mask)))

#elif MAXIK_LANES == 256

typedef __m128 Narrow;
#define narrow_of_wide(a) _mm256_cvtpd_ps(a)
#define wide_of_narrow(a) ((Wide)_mm256_cvtps_pd(a))
#define wide_madd(a, b, c) ((Wide)_mm256_fmadd_pd(a, b, c))
#define wide_msub(a, b, c) ((Wide)_mm256_fmsub_pd(a, b, c))
#define wide_nmadd(a, b, c) ((Wide)_mm256_fnmadd_pd(a, b, c))
#define wide_sqrt(a) ((Wide)_mm256_sqrt_pd(a))
#define wide_smaller(a, b) ((Wide)_mm256_min_pd(a, b))
#define wide_larger(a, b) ((Wide)_mm256_max_pd(a, b))
#define narrow_load(at) _mm_loadu_ps(at)
#define narrow_store(at, a) _mm_storeu_ps(at, a)
#define floats_sqrt(a) _mm256_sqrt_ps(a)
#define lower_half(a) _mm256_castps256_ps128(a)
#define upper_half(a) _mm256_extractf128_ps(a, 1)
#define joined_halves(a, b) _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1)
#define smaller_words(a, b) ((WideMask)_mm256_min_epu32((__m256i)(a), (__m256i)(b)))
#define wide_bits(mask) ((unsigned)_mm256_movemask_pd((__m256d)(mask)))
#define floats_bits(mask) ((unsigned)_mm256_movemask_ps((__m256)(mask)))

#elif defined(__x86_64__)

typedef __m128 Narrow; /* the lower two */
#define narrow_of_wide(a) _mm_cvtpd_ps(a)
#define wide_of_narrow(a) ((Wide)_mm_cvtps_pd(a))
#define wide_madd(a, b, c) ((a) * (b) + (c))
#define wide_nmadd(a, b, c) ((c) - (a) * (b))
#define wide_sqrt(a) ((Wide)_mm_sqrt_pd(a))
#define wide_smaller(a, b) ((Wide)_mm_min_pd(a, b))
#define wide_larger(a, b) ((Wide)_mm_max_pd(a, b))
#define narrow_load(at) _mm_castpd_ps(_mm_load_sd((const double *)(const void *)(at)))
#define narrow_store(at, a) _mm_store_sd((double *)(void *)(at), _mm_castps_pd(a))
#define floats_sqrt(a) _mm_sqrt_ps(a)
#define lower_half(a) (a)
#define upper_half(a) _mm_movehl_ps(a, a)
#define joined_halves(a, b) _mm_movelh_ps(a, b)
/* SSE2 has no minimum of words; that of doubles between 1 and 2 does for numbers below 2^32 */
#define smaller_words(a, b) ((WideMask)_mm_min_pd((__m128d)((a) | 0x3ff0000000000000LL), (__m128d)(b)))
#define wide_bits(mask) ((unsigned)_mm_movemask_pd((__m128d)(mask)))
#define floats_bits(mask) ((unsigned)_mm_movemask_ps((__m128)(mask)))

#else

typedef float32x2_t Narrow;
#define narrow_of_wide(a) vcvt_f32_f64(a)
#define wide_of_narrow(a) ((Wide)vcvt_f64_f32(a))
#define wide_madd(a, b, c) ((Wide)vfmaq_f64(c, a, b))
#define wide_nmadd(a, b, c) ((Wide)vfmsq_f64(c, a, b))
#define wide_sqrt(a) ((Wide)vsqrtq_f64(a))
#define wide_smaller(a, b) ((Wide)vminnmq_f64(a, b))
#define wide_larger(a, b) ((Wide)vmaxnmq_f64(a, b))
#define narrow_load(at) vld1_f32(at)
#define narrow_store(at, a) vst1_f32(at, a)
#define floats_sqrt(a) vsqrtq_f32(a)
#define lower_half(a) vget_low_f32(a)
#define upper_half(a) vget_high_f32(a)
#define joined_halves(a, b) vcombine_f32(a, b)
#define smaller_words(a, b) ((WideMask)vminq_u32((uint32x4_t)(a), (uint32x4_t)(b)))
#define wide_bits(mask) ((unsigned)((mask)[0] & 1) | (unsigned)((mask)[1] & 2))
#define floats_bits(mask) \
    ((unsigned)((mask)[0] & 1) | (unsigned)((mask)[1] & 2) | (unsigned)((mask)[2] & 4) | (unsigned)((mask)[3] & 8))

#endif

/* ---- binary64 lanes ---- */

INLINE Wide wide(double x)
{
    return x - (Wide){0};
}

INLINE Wide wide_select(WideMask where, Wide a, Wide b)
{
    return (Wide)((where & (WideMask)a) | (~where & (WideMask)b));
}

#define SIGN_BIT (-0x7fffffffffffffffLL - 1)

INLINE Wide wide_abs(Wide a)
{
    return (Wide)((WideMask)a & 0x7fffffffffffffffLL);
}

/* ---- registers ---- */

#undef R /* no lane lifts: a float is held in a register */
#undef F

#ifdef MAXIK_SSE_32

#define LANES (MAXIK_LANES / 32)
#define HALVES 2
typedef float Reg __attribute__((vector_size(BYTES)));
typedef int RegMask __attribute__((vector_size(BYTES)));
#define F(e) (e)
#define reg_sqrt(a) ((Reg)floats_sqrt(a))
#define reg_bits(mask) floats_bits(mask)
#define plus_product(c, a, b) ((c) + (a) * (b))
#define minus_product(c, a, b) ((c) - (a) * (b))
#define ABS_BITS 0x7fffffff

INLINE Reg splat(float x)
{
    return x - (Reg){0};
}

/* Half `h` of the lanes, promoted to binary64. */
INLINE Wide wide_of(Reg a, int h)
{
    return h == 0 ? wide_of_narrow(lower_half(a)) : wide_of_narrow(upper_half(a));
}

/* Halves in binary64, rounded to float. */
INLINE Reg reg_of(const Wide half[HALVES])
{
    return (Reg)joined_halves(narrow_of_wide(half[0]), narrow_of_wide(half[1]));
}

INLINE Reg reg_load(const float lane[LANES])
{
    Reg a;
    memcpy(&a, lane, sizeof a);
    return a;
}

INLINE void reg_store(Reg a, float lane[LANES])
{
    memcpy(lane, &a, sizeof a);
}

#else

#define LANES WIDE_LANES
#define HALVES 1
typedef Wide Reg;
typedef WideMask RegMask;
#define F(e) wide_of_narrow(narrow_of_wide(e))
#define reg_sqrt(a) wide_sqrt(a)
#define reg_bits(mask) wide_bits(mask)
#define plus_product(c, a, b) wide_madd(a, b, c)
#define minus_product(c, a, b) wide_nmadd(a, b, c)
#define ABS_BITS 0x7fffffffffffffffLL

INLINE Reg splat(float x)
{
    return wide(x);
}

INLINE Wide wide_of(Reg a, int h)
{
    (void)h;
    return a;
}

INLINE Reg reg_of(const Wide half[HALVES])
{
    return F(half[0]);
}

INLINE Reg reg_load(const float lane[LANES])
{
    return wide_of_narrow(narrow_load(lane));
}

INLINE void reg_store(Reg a, float lane[LANES])
{
    narrow_store(lane, narrow_of_wide(a));
}

#endif

INLINE Reg reg_select(RegMask where, Reg a, Reg b)
{
    return (Reg)((where & (RegMask)a) | (~where & (RegMask)b));
}

INLINE Reg reg_abs(Reg a)
{
    return (Reg)((RegMask)a & ABS_BITS);
}

#endif
