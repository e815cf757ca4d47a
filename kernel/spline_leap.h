/* The certified leap: the same u, points and Euler bits as the literal march of spline.c, with far fewer samples.
 *
 * Between two changes of branch the march repeats one addition to u. Two facts let it skip most samples (docs/spline-leap.md
 * has the proofs):
 *
 *   1. k additions of a constant to a float have a closed form inside a binade: each adds the same multiple of the ulp,
 *      unless the constant lies half-way between two of them (a tie), where single steps are taken.
 *   2. The squared distance to the start point is a polynomial of degree 6 in the segment's parameter. The hull of its
 *      Bernstein coefficients over a run of steps, widened by a bound on the rounding errors of the literal sample, keeps
 *      every sample of the run on one side of the thresholds: the steps need not be taken.
 *
 * Certified for candidate-1 under x87-53 only; sse-32 marches literally.
 */
#ifndef MAXIK_SPLINE_LEAP_H
#define MAXIK_SPLINE_LEAP_H

#include "spline.h"

/* The environment that the bounds are proved for. */
#ifdef MAXIK_SSE_32
#define LEAP_CERTIFIED 0
#else
#define LEAP_CERTIFIED 1
#endif

/* A run of additions of one step to u: `inc` what each adds, `count` how many stay in u's binade. */
typedef struct {
    double inc;
    long count;
} SteadyRun;

static void leap_begin(SplineSolve *solve);
static float place_first_point_by_leaps(SplineSolve *solve);
static void march_open_by_leaps(SplineSolve *solve, float u);
static void march_closed_by_leaps(SplineSolve *solve, float u);

#endif
