/* The functions in lanes against the scalar path, which exhaust_main.c holds against the exact values.
 *
 *     exhaust_lanes FUNCTION FIRST LAST    acos_safe, cos_half, neg_sin_half, sin, cos: all bit patterns between, hex
 *     exhaust_lanes atan2 SEED COUNT       pairs, decimal: random ones and ones at the function's boundaries
 *     exhaust_lanes division 0 0           every quotient that lane_algebra.h's divide() could round otherwise (exit 3
 *                                          where the compiler has no integers of 128 bits)
 *     exhaust_lanes limb SEED COUNT        whole solves, decimal: random chains and goals, against the literal path
 *
 * Counts are rounded up to whole steps of 4096.
 *
 * Every path of this machine is tried. A result that is not in doubt and has other bits is printed
 * "m PATH X Y GOT EXPECTED"; the last line is "done CHECKED DOUBTFUL WRONG", counted over all paths. Of division,
 * CHECKED counts the midpoints, DOUBTFUL the quotients that lie as near to one as 2^-104, WRONG those that divide() misses;
 * of limb CHECKED counts frames.
 */
#include "all.c"
#include "float_bits.h"

#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE 4096

static const char *const NAMES[LANE_FUNCTIONS] = {"acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "atan2"};
static unsigned long checked, doubtful, wrong;

static float scalar(int function, float x, float y)
{
    switch (function) {
    case LANE_ACOS_SAFE:
        return MAXIK_EXPORT(acos_safe)(x);
    case LANE_COS_HALF:
        return MAXIK_EXPORT(cos_half)(x);
    case LANE_NEG_SIN_HALF:
        return MAXIK_EXPORT(neg_sin_half)(x);
    case LANE_SIN:
        return MAXIK_EXPORT(sin)(x);
    case LANE_COS:
        return MAXIK_EXPORT(cos)(x);
    default:
        return MAXIK_EXPORT(atan2)(x, y);
    }
}

static void compare(int function, int count, const float *x, const float *y)
{
    static float expected[AT_ONCE], got[AT_ONCE];
    static unsigned char doubt[AT_ONCE];
    int path, i;
    for (i = 0; i < count; ++i) {
        expected[i] = scalar(function, x[i], y[i]);
    }
    for (path = PATH_LANES_128; path < PATHS; ++path) {
        if (!MAXIK_EXPORT(has_path)(path)) {
            continue;
        }
        MAXIK_EXPORT(lane_function)(path, function, (size_t)count, x, y, got, doubt);
        for (i = 0; i < count; ++i) {
            ++checked;
            if (doubt[i]) {
                ++doubtful;
            } else if (bits_of(got[i]) != bits_of(expected[i])) {
                ++wrong;
                printf("m %d %08x %08x %08x %08x\n", path, bits_of(x[i]), bits_of(y[i]), bits_of(got[i]),
                       bits_of(expected[i]));
            }
        }
    }
}

static void every_input(int function, unsigned long first, unsigned long last)
{
    static float x[AT_ONCE];
    unsigned long at;
    int i;
    for (at = first; at <= last; at += AT_ONCE) {
        for (i = 0; i < AT_ONCE; ++i) {
            x[i] = float_of((unsigned)(at + (unsigned long)i));
        }
        compare(function, AT_ONCE, x, x);
    }
}

/* splitmix64 */
static unsigned long long next(unsigned long long *state)
{
    unsigned long long z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/* A float of (-1, 1). */
static float component(unsigned long long bits)
{
    return (float)((double)(int)(bits & 0xffffffffULL) / 2147483648.0);
}

/* A pair of one of seven kinds, the last twice as often. */
static void draw(unsigned long long *state, float *y, float *x)
{
    unsigned long long a = next(state), b = next(state);
    static const unsigned special[8] = {0, 1, 0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x34000000};
    unsigned sign = (unsigned)(b >> 63) << 31;
    switch (a >> 61) {
    case 0: /* any bits */
        *y = float_of((unsigned)a);
        *x = float_of((unsigned)b);
        break;
    case 1: /* around the diagonal */
        *x = component(b);
        *y = float_of(bits_of(*x) + ((unsigned)a & 63u) - 32u) * (b >> 62 & 1 ? 1.0f : -1.0f);
        break;
    case 2: /* around tan(pi / 8) and its reciprocal, where the reduction changes */
        *x = component(b);
        *y = (float)(*x * (b >> 62 & 1 ? 0.41421356237309503 : 2.414213562373095));
        *y = float_of(bits_of(*y) + ((unsigned)a & 63u) - 32u);
        break;
    case 3: /* beside an axis */
        *x = component(b);
        *y = component(a) * float_of(((unsigned)(b >> 40) % 127u) << 23);
        break;
    case 4: /* zeros of both signs, subnormals, one, the largest, infinity */
        *y = float_of(special[a & 7] | sign);
        *x = float_of(special[b & 7] | (unsigned)(a >> 32 & 1) << 31);
        break;
    case 5: /* one of these and a component */
        *y = a & 8 ? float_of(special[a & 7] | sign) : component(b);
        *x = a & 8 ? component(b) : float_of(special[a & 7] | sign);
        break;
    default: /* entries of a rotation */
        *y = component(a);
        *x = component(b);
    }
}

static void pairs(unsigned long seed, unsigned long count)
{
    static float x[AT_ONCE], y[AT_ONCE];
    unsigned long long state = seed;
    unsigned long done;
    int i;
    for (done = 0; done < count; done += AT_ONCE) {
        for (i = 0; i < AT_ONCE; ++i) {
            draw(&state, &y[i], &x[i]);
        }
        compare(LANE_ATAN2, AT_ONCE, y, x);
    }
}

#if defined(__SIZEOF_INT128__)
typedef unsigned __int128 Wide128;

/* divide() of lane_algebra.h; x and r are whole numbers, and its roundings do not depend on their scale. */
static double by_reciprocal(double x, double r)
{
    double reciprocal = 1.0 / r, q = x * reciprocal;
    return fma(-fma(q, r, -x), reciprocal, q);
}

/* A quotient x / r of a float and a double rounds to another float only where one rounding of it to binary64 is a
 * midpoint M of two floats, and another beside it. The numbers between M and its neighbours are N / 2^k, N = m * 2^s + 1 or
 * - 1 of 54 bits, m odd and below 2^25; by_reciprocal() leaves 2^-104 of the quotient, so that it can only miss where
 * |r * N - x * 2^T| <= 8 for whole numbers r < 2^53, x < 2^24, T >= 82: where r = d / N modulo 2^82, |d| <= 8 (here 16). */
static void quotients(void)
{
    const Wide128 modulus = (Wide128)1 << 82;
    unsigned long long m, n;
    int side, d, sign, i;
    for (m = 1; m < 1ULL << 25; m += 2) {
        for (side = -1; side <= 1; side += 2) {
            Wide128 inverse;
            for (n = m; n < 1ULL << 53; n <<= 1) {
            }
            n = n == 1ULL << 53 && side < 0 ? (1ULL << 54) - 1 : n + (unsigned long long)side;
            for (inverse = n, i = 0; i < 7; ++i) {
                inverse *= 2 - n * inverse;
            }
            ++checked;
            for (d = 1; d <= 16; ++d) {
                for (sign = -1; sign <= 1; sign += 2) {
                    Wide128 r = (sign < 0 ? modulus - inverse * (Wide128)d % modulus : inverse * (Wide128)d) % modulus, x;
                    int shift;
                    if (r >> 53 != 0 || r >> 52 == 0) {
                        continue;
                    }
                    ++doubtful;
                    for (shift = 82; r * n >> shift >> 24 != 0; ++shift) {
                    }
                    x = (r * n + ((Wide128)1 << (shift - 1))) >> shift; /* the float nearest to r * n / 2^T */
                    if (by_reciprocal((double)(unsigned)x, (double)(unsigned long long)r)
                        != (double)(unsigned)x / (double)(unsigned long long)r) {
                        ++wrong;
                        printf("m - %08x %016llx 0 0\n", (unsigned)x, (unsigned long long)r);
                    }
                }
            }
        }
    }
}
#else
static void quotients(void)
{
    fputs("no integers of 128 bits\n", stderr);
    exit(3);
}
#endif

/* A number around 0 of any of ten orders of magnitude. */
static float spread(unsigned long long *random)
{
    unsigned long long bits = next(random);
    return component(bits) * float_of((127u - (unsigned)(bits >> 58) % 10u) << 23);
}

/* One take: a chain and goals at random, planar ones and moving poses among them. */
static void take_of(unsigned long long *random, maxik_limb_take *take, float *pose, float *goal, float *angle,
                    float *vh_target)
{
    unsigned long long kind = next(random);
    int moving = kind % 7 == 0, planar = kind % 3 == 0, i;
    float *parts[4];
    memset(take, 0, sizeof *take);
    for (i = 0; i < 12 * AT_ONCE; ++i) {
        pose[i] = planar && i % 3 != 0 ? 0.0f : spread(random);
        goal[i] = spread(random) * (i % 12 >= 9 ? 3.0f : 1.0f);
        if (planar && i % 12 == 11) {
            goal[i] = next(random) & 1 ? 0.0f : -0.0f;
        }
    }
    for (i = 0; i < AT_ONCE; ++i) {
        angle[i] = 7.0f * component(next(random));
        vh_target[3 * i] = spread(random);
        vh_target[3 * i + 1] = spread(random);
        vh_target[3 * i + 2] = spread(random);
    }
    for (i = 0; i < 4; ++i) {
        parts[i] = pose + 3 * AT_ONCE * i;
    }
    take->last = AT_ONCE;
    take->link_count = kind >> 32 & 3 ? 3 : 0;
    take->swivel = (int)((kind >> 40) % 3);
    take->root_init_xyz = parts[0];
    take->root_extend = parts[1];
    take->links_init_zyx = parts[2];
    take->links_extend = parts[3];
    take->n0 = goal; /* any direction */
    take->a0 = goal + 3;
    take->n0_stride = take->a0_stride = moving ? 12 : 0;
    take->root_init_xyz_stride = take->root_extend_stride = take->links_init_zyx_stride = take->links_extend_stride =
        moving ? 3 : 0;
    take->goal = goal;
    take->goal_stride = 12;
    take->swivel_angle = angle;
    take->swivel_angle_stride = 1;
    take->vh_target = vh_target;
    take->vh_target_stride = 3;
}

static void limbs(unsigned long seed, unsigned long count)
{
    static float pose[12 * AT_ONCE], goal[12 * AT_ONCE], angle[AT_ONCE], vh_target[3 * AT_ONCE], angles[2][6 * AT_ONCE];
    static unsigned char status[AT_ONCE];
    unsigned long long random = seed;
    unsigned long done;
    for (done = 0; done < count; done += AT_ONCE) {
        maxik_limb_take take;
        int path, i;
        take_of(&random, &take, pose, goal, angle, vh_target);
        take.status = status;
        for (path = PATH_LITERAL; path < PATHS; ++path) {
            float *out = angles[path != PATH_LITERAL];
            if (!MAXIK_EXPORT(has_path)(path)) {
                continue;
            }
            take.path = path;
            take.rot_xyz = out;
            take.dof_zyx = out + 3 * AT_ONCE;
            MAXIK_EXPORT(limb_solve_take)(&take);
            checked += path != PATH_LITERAL ? AT_ONCE : 0;
            doubtful += take.redone;
            for (i = 0; i < (take.link_count == 3 ? 6 : 3) * AT_ONCE; ++i) {
                float got = out[i], expected = angles[0][i];
                if (bits_of(got) != bits_of(expected) && (got == got || expected == expected)) {
                    ++wrong;
                    printf("m %d %lx %x %08x %08x\n", path, done, (unsigned)i, bits_of(got), bits_of(expected));
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    int function = 0;
    if (argc != 4) {
        return 2;
    }
    if (strcmp(argv[1], "division") == 0) {
        quotients();
    } else if (strcmp(argv[1], "limb") == 0) {
        limbs(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    } else {
        while (function < LANE_FUNCTIONS && strcmp(argv[1], NAMES[function]) != 0) {
            ++function;
        }
        if (function == LANE_FUNCTIONS) {
            return 2;
        }
        if (function == LANE_ATAN2) {
            pairs(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
        } else {
            every_input(function, strtoul(argv[2], NULL, 16), strtoul(argv[3], NULL, 16));
        }
    }
    printf("done %lu %lu %lu\n", checked, doubtful, wrong);
    return 0;
}
