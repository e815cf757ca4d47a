/* Every float32 input of one of the kernel's functions against the correctly rounded result.
 *
 *     exhaust FUNCTION FIRST LAST      FUNCTION acos_safe, cos_half, neg_sin_half, sin, cos, sqrt; bit patterns, hex
 *
 * What is claimed of a result: it is the binary64 nearest to the exact value, rounded to float. A second, independent
 * evaluation in long double (64 bits) decides all inputs whose exact value cannot lie near a midpoint of two floats: it
 * is trusted to 2^-40 only, a hundred times less than any C library promises. What it cannot decide is printed for MPFR
 * (src/maxik/oracle/exhaust.py): "a IN OUT". A wrong result is printed "m IN OUT EXPECTED". The last line is
 * "done CHECKED UNDECIDED WRONG". Square roots are decided exactly: the midpoints' squares fit into 50 bits.
 */
#include "all.c"
#include "float_bits.h"

#include <stdio.h>
#include <stdlib.h>

#define LARGEST 131071.0f /* sin and cos are exact up to here (the C runtime's vectors); the halves up to twice that */
#define TINY 8.6e-19      /* 2^-60: below, the binary64 nearest to sin(h) is h, to cos(h) is 1: h^2/6 < 2^-122 */

typedef enum { SKIPPED, RIGHT, WRONG, UNDECIDED } Verdict;

static Verdict same(float got, float expected)
{
    if (expected != expected) {
        return got != got ? RIGHT : WRONG;
    }
    return bits_of(got) == bits_of(expected) ? RIGHT : WRONG;
}

/* got against an approximation good to 2^-40. */
static Verdict decide(float got, long double y, float *expected)
{
    long double slack = fabsl(y) * 9.094947017729282e-13L;
    float low = (float)(y - slack), high = (float)(y + slack);
    *expected = low;
    if (bits_of(low) != bits_of(high)) {
        return UNDECIDED;
    }
    return same(got, low);
}

static Verdict check_acos(float x, float got, float *expected)
{
    if (!(x > -1.0f && x < 1.0f)) {
        *expected = x <= -1.0f ? (float)MAXIK_PI : x >= 1.0f ? 0.0f : x;
        return same(got, *expected);
    }
    return decide(got, acosl((long double)x), expected);
}

/* sign * sin(h) */
static Verdict check_sin(double h, double sign, float got, float *expected)
{
    if (fabs(h) < TINY) {
        *expected = (float)(sign * h);
        return same(got, *expected);
    }
    return decide(got, sign * sinl((long double)h), expected);
}

static Verdict check_cos(double h, float got, float *expected)
{
    if (fabs(h) < TINY) {
        *expected = 1.0f;
        return same(got, *expected);
    }
    return decide(got, cosl((long double)h), expected);
}

static Verdict check_sqrt(float x, float got, float *expected)
{
    double below, above, root = got;
    *expected = got;
    if (x != x || x < 0.0f) {
        return got != got ? RIGHT : WRONG;
    }
    if (x == 0.0f || x > FLT_MAX) {
        return same(got, x);
    }
    if (!(got > 0.0f && got <= FLT_MAX)) {
        return WRONG;
    }
    below = (root + (double)float_of(bits_of(got) - 1)) / 2.0;
    above = (root + (double)float_of(bits_of(got) + 1)) / 2.0;
    return below * below <= x && x <= above * above ? RIGHT : WRONG;
}

static Verdict check(int function, float x, float *got, float *expected)
{
    int in_range = x >= -LARGEST && x <= LARGEST, half_in_range = x >= -2.0f * LARGEST && x <= 2.0f * LARGEST;
    switch (function) {
    case 0:
        *got = MAXIK_EXPORT(acos_safe)(x);
        return check_acos(x, *got, expected);
    case 1:
        if (!half_in_range) {
            return SKIPPED;
        }
        *got = MAXIK_EXPORT(cos_half)(x);
        return check_cos(0.5 * x, *got, expected);
    case 2:
        if (!half_in_range) {
            return SKIPPED;
        }
        *got = MAXIK_EXPORT(neg_sin_half)(x);
        return check_sin(0.5 * x, -1.0, *got, expected);
    case 3:
        if (!in_range) {
            return SKIPPED;
        }
        *got = MAXIK_EXPORT(sin)(x);
        return check_sin((double)x, 1.0, *got, expected);
    case 4:
        if (!in_range) {
            return SKIPPED;
        }
        *got = MAXIK_EXPORT(cos)(x);
        return check_cos((double)x, *got, expected);
    default:
        *got = MAXIK_EXPORT(sqrt)(x);
        return check_sqrt(x, *got, expected);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "sqrt"};
    unsigned long first, last, at, checked = 0, undecided = 0, wrong = 0;
    int function = 0;
    if (argc != 4) {
        return 2;
    }
    while (function < 6 && strcmp(argv[1], names[function]) != 0) {
        ++function;
    }
    if (function == 6) {
        return 2;
    }
    first = strtoul(argv[2], NULL, 16);
    last = strtoul(argv[3], NULL, 16);
    for (at = first; at <= last; ++at) {
        float got = 0.0f, expected = 0.0f, x = float_of((unsigned)at);
        Verdict verdict = check(function, x, &got, &expected);
        checked += verdict != SKIPPED;
        if (verdict == UNDECIDED) {
            ++undecided;
            printf("a %08lx %08x\n", at, bits_of(got));
        } else if (verdict == WRONG) {
            ++wrong;
            printf("m %08lx %08x %08x\n", at, bits_of(got), bits_of(expected));
        }
        if (at == 0xffffffffUL) {
            break;
        }
    }
    printf("done %lu %lu %lu\n", checked, undecided, wrong);
    return 0;
}
