/* Certificates for runs of steps (spline_leap.h). All bounds are binary64 and rounded outwards by LEAP_SLACK. */
#include "spline_leap.h"

#define ULP_HALF 5.9604644775390625e-8 /* 2^-24: half an ulp, relative */
#define LEAP_SLACK 1e-12               /* covers the rounding of the certificate's own binary64 arithmetic */
#define LEAP_LEAST 4                   /* shorter runs are not worth a certificate */
#ifndef LEAP_BOUND_SCALE
#define LEAP_BOUND_SCALE 1.0 /* the tests halve and drop the bound, and must then fail */
#endif

static double norm3(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double norm3_of(Point3 p)
{
    return sqrt((double)p.x * p.x + (double)p.y * p.y + (double)p.z * p.z);
}

/* No vector grows by more through the matrix's 3x3 part: the smaller of two bounds on its spectral norm. */
static double norm_of(const Matrix3 *m)
{
    double squares = 0.0, row = 0.0, column = 0.0;
    int i, j;
    for (i = 0; i < 3; ++i) {
        double across = 0.0, down = 0.0;
        for (j = 0; j < 3; ++j) {
            squares += (double)m->m[i][j] * m->m[i][j];
            across += fabs((double)m->m[i][j]);
            down += fabs((double)m->m[j][i]);
        }
        row = across > row ? across : row;
        column = down > column ? down : column;
    }
    return squares < row * column ? sqrt(squares) : sqrt(row * column);
}

/* Control points in chain space and the error bound of segment k, kept for the next call. Null when not finite. */
static const LeapSegment *leap_segment(SplineSolve *solve, int k)
{
    const float *p = solve->chain->curve.points + 12 * k;
    const Matrix3 *to_joint = &solve->to_joint;
    LeapSegment *out = &solve->segments[k % LEAP_SEGMENTS_KEPT];
    double matrix_norm = solve->to_joint_norm, max_p = 0.0, max_q = 0.0, speed_p = 0.0;
    int i, c;
    if (out->index == k) {
        return out->usable ? out : NULL;
    }
    for (i = 0; i < 4; ++i) {
        double v[3], length;
        for (c = 0; c < 3; ++c) {
            v[c] = p[3 * i + c];
            out->q[i][c] = (double)p[3 * i] * to_joint->m[0][c] + (double)p[3 * i + 1] * to_joint->m[1][c]
                           + (double)p[3 * i + 2] * to_joint->m[2][c] + to_joint->m[3][c];
        }
        length = norm3(v);
        max_p = length > max_p ? length : max_p;
        length = norm3(out->q[i]);
        max_q = length > max_q ? length : max_q;
    }
    for (i = 0; i < 3; ++i) {
        double v[3], length;
        for (c = 0; c < 3; ++c) {
            v[c] = (double)p[3 * i + 3 + c] - p[3 * i + c];
        }
        length = 3.0 * norm3(v);
        speed_p = length > speed_p ? length : speed_p;
    }
    /* t off by 2^-25, s + t off 1 by 2^-25 (1.5 * 2^-24 * max|P|), the point's store, all through the matrix; its store. */
    out->bound = LEAP_BOUND_SCALE
                     * (matrix_norm * (2.5 * ULP_HALF * max_p + 0.5 * ULP_HALF * speed_p) + ULP_HALF * max_q)
                 + LEAP_SLACK * (max_q + matrix_norm * max_p);
    out->farthest = max_q;
    out->index = k;
    out->usable = out->bound < 1e30 && out->bound > 1e-30;
    return out->usable ? out : NULL;
}

/* 2^exponent as a float's bits, -126 <= exponent <= 127. */
static double power_of_two(int exponent)
{
    unsigned bits = (unsigned)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* How many additions of `step` to u stay inside u's binade with one increment; count 0 at a tie (docs, lemma 1). */
static SteadyRun steady_run(float u, float step)
{
    SteadyRun run;
    unsigned bits;
    double ulp, ratio, rest, top;
    run.inc = 0.0;
    run.count = 0;
    if (!(u > 1e-30f && u < 2.0f)) {
        return run;
    }
    memcpy(&bits, &u, sizeof bits);
    ulp = power_of_two((int)(bits >> 23) - 127 - 23);
    top = ulp * 16777216.0;
    ratio = step * power_of_two(127 + 23 - (int)(bits >> 23)); /* step / ulp, exactly */
    if (!(ratio < 1e9)) {
        return run;
    }
    rest = ratio - (double)(long)ratio;
    if (rest == 0.5) {
        return run;
    }
    run.inc = (double)((long)ratio + (rest > 0.5)) * ulp;
    if (run.inc <= 0.0) {
        return run;
    }
    run.count = (long)((top - u) / run.inc);
    while (run.count > 0 && u + run.count * run.inc >= top) {
        --run.count;
    }
    return run;
}

/* The squared distance to `start` at t0 + h of the segment: coefficients of h^0..h^6. */
static void squared_distance(const LeapSegment *segment, double t0, Point3 start, double d[7])
{
    double s0 = 1.0 - t0, a[3];
    int c, i;
    for (i = 0; i < 7; ++i) {
        d[i] = 0.0;
    }
    a[0] = start.x;
    a[1] = start.y;
    a[2] = start.z;
    for (c = 0; c < 3; ++c) {
        /* de Casteljau at t0 gives value and derivatives */
        double q0 = segment->q[0][c], q1 = segment->q[1][c], q2 = segment->q[2][c], q3 = segment->q[3][c];
        double e0 = s0 * q0 + t0 * q1, e1 = s0 * q1 + t0 * q2, e2 = s0 * q2 + t0 * q3;
        double f0 = s0 * e0 + t0 * e1, f1 = s0 * e1 + t0 * e2;
        double c0 = s0 * f0 + t0 * f1 - a[c], c1 = 3.0 * (f1 - f0), c2 = 3.0 * (e2 - 2.0 * e1 + e0);
        double c3 = q3 - 3.0 * q2 + 3.0 * q1 - q0;
        d[0] += c0 * c0;
        d[1] += 2.0 * c0 * c1;
        d[2] += 2.0 * c0 * c2 + c1 * c1;
        d[3] += 2.0 * (c0 * c3 + c1 * c2);
        d[4] += 2.0 * c1 * c3 + c2 * c2;
        d[5] += 2.0 * c2 * c3;
        d[6] += c3 * c3;
    }
}

/* Whether the squared distance stays strictly inside (low, high) over h in [0, width]: its Bernstein coefficients do. */
static int hull_inside(const double d[7], double width, double low, double high)
{
    double w2 = width * width, w3 = w2 * width, w4 = w2 * w2, w5 = w4 * width, w6 = w3 * w3;
    double e1 = d[1] * width, e2 = d[2] * w2, e3 = d[3] * w3, e4 = d[4] * w4, e5 = d[5] * w5, e6 = d[6] * w6;
    double size = d[0] + fabs(e1) + fabs(e2) + fabs(e3) + fabs(e4) + fabs(e5) + e6;
    double b[6], least = d[0], most = d[0];
    int j;
    b[0] = d[0] + e1 * (1.0 / 6);
    b[1] = d[0] + e1 * (2.0 / 6) + e2 * (1.0 / 15);
    b[2] = d[0] + e1 * (3.0 / 6) + e2 * (3.0 / 15) + e3 * (1.0 / 20);
    b[3] = d[0] + e1 * (4.0 / 6) + e2 * (6.0 / 15) + e3 * (4.0 / 20) + e4 * (1.0 / 15);
    b[4] = d[0] + e1 * (5.0 / 6) + e2 * (10.0 / 15) + e3 * (10.0 / 20) + e4 * (5.0 / 15) + e5 * (1.0 / 6);
    b[5] = d[0] + e1 + e2 + e3 + e4 + e5 + e6;
    for (j = 0; j < 6; ++j) {
        least = b[j] < least ? b[j] : least;
        most = b[j] > most ? b[j] : most;
    }
    return least - LEAP_SLACK * size > low && most + LEAP_SLACK * size < high;
}

/* Smallest h > 0 at which the squared distance meets `target`, about: the root of its quadratic part, two Newton steps
 * on the whole. 2 when there is none within the segment. An estimate only: the hull decides. */
static double crossing(const double d[7], double target)
{
    double c = d[0] - target, discriminant = d[1] * d[1] - 4.0 * d[2] * c, q, r1, r2, h = 2.0;
    int i;
    if (!(discriminant >= 0.0)) {
        return h;
    }
    q = -0.5 * (d[1] + (d[1] < 0.0 ? -sqrt(discriminant) : sqrt(discriminant)));
    r1 = d[2] != 0.0 ? q / d[2] : h;
    r2 = q != 0.0 ? c / q : h;
    if (r1 > 0.0 && r1 < h) {
        h = r1;
    }
    if (r2 > 0.0 && r2 < h) {
        h = r2;
    }
    for (i = 0; i < 2 && h < 2.0; ++i) {
        double value = c + h * (d[1] + h * (d[2] + h * (d[3] + h * (d[4] + h * (d[5] + h * d[6])))));
        double slope =
            d[1] + h * (2.0 * d[2] + h * (3.0 * d[3] + h * (4.0 * d[4] + h * (5.0 * d[5] + h * 6.0 * d[6]))));
        double better = h - value / slope;
        if (!(better > 0.5 * h && better < 2.0 * h)) {
            break;
        }
        h = better;
    }
    return h;
}

/* The last u that additions of `step` reach from u without passing `limit`, and how many additions that takes: whole runs
 * by their closed form, a real addition over each edge and tie. */
static float advance_to(float u, float step, double limit, long *count)
{
    *count = 0;
    for (;;) {
        SteadyRun run = steady_run(u, step);
        float next;
        if (run.count > 0) {
            long steps = limit > u ? (long)((limit - u) / run.inc) : 0;
            steps = steps < run.count ? steps : run.count;
            while (steps > 0 && u + steps * run.inc > limit) {
                --steps;
            }
            u = F((double)u + steps * run.inc);
            *count += steps;
        }
        next = F(R(u) + step);
        if (!((double)next <= limit) || next == u) {
            return u;
        }
        u = next;
        ++*count;
    }
}

/* `count` additions of `step` to u. */
static float advance_by(float u, float step, long count)
{
    while (count > 0) {
        SteadyRun run = steady_run(u, step);
        long steps = run.count < count ? run.count : count;
        if (steps > 0) {
            u = F((double)u + steps * run.inc);
            count -= steps;
        } else {
            u = F(R(u) + step);
            --count;
        }
    }
    return u;
}

/* The farthest u that steps from u reach so that every sample on the way, u's own apart, is certified to lie at a distance
 * inside (low, high) from `start`; u itself when none is. Never beyond `end`, strictly inside u's segment. */
static float certified(SplineSolve *solve, float u, float step, Point3 start, double low, double high, double end, long *count)
{
    const SplineCurve *curve = &solve->chain->curve;
    const LeapSegment *segment;
    double x = (double)u * curve->segments, t0, d[7], width, error, least, most, limit;
    int k = (int)x, tries;
    *count = 0;
    t0 = x - k;
    width = 1.0 - t0;
    segment = k < curve->segments ? leap_segment(solve, k) : NULL;
    if (segment == NULL) {
        return u;
    }
    squared_distance(segment, t0, start, d);
    /* Distances inside (low, high) are off by less than this: the part that grows with them is largest at `high`, or,
     * without one, at the farthest point of the segment. */
    error = segment->bound
            + LEAP_BOUND_SCALE * 2.6 * ULP_HALF * (high < 1e29 ? high : segment->farthest + norm3_of(start));
    least = low > -error ? (low + error) * (low + error) : -1.0;
    most = high > error ? (high - error) * (high - error) : 0.0;
    if (!(d[0] > least && d[0] < most)) { /* so near a threshold that no hull from here can be inside */
        return u;
    }
    /* Moving away, `high` ends the run; coming nearer, `low` does. The hull decides, whatever is estimated. */
    if (d[1] >= 0.0 || least < 0.0) {
        limit = high < 1e29 ? crossing(d, most) : 2.0;
    } else {
        limit = crossing(d, least);
    }
    width = limit < width ? limit : width;
    for (tries = 0; tries < 8; ++tries) {
        double stop = u + width / curve->segments;
        float last;
        last = advance_to(u, step, stop < end ? stop : end, count);
        if (*count < LEAP_LEAST) {
            break;
        }
        if ((double)last * curve->segments < k + 1
            && hull_inside(d, ((double)last - u) * curve->segments, least, most)) {
            return last;
        }
        width = tries == 0 && limit < 2.0 ? (((double)last - u) - 1.5 * step) * curve->segments : 0.3 * width;
    }
    *count = 0;
    return u;
}

/* The same from a sample at distance `dist`, where a run of some length is likely, and with pauses after failures, so that
 * short bones stay near the literal march's speed. */
static float leap(SplineSolve *solve, float u, float step, float dist, Point3 start, double low, double high, double end,
                  long *count)
{
    float last;
    int near;
    *count = 0;
    if (solve->last_u >= 0.0 && u > solve->last_u) {
        solve->rate = fabs((double)dist - solve->last_dist) / ((double)u - solve->last_u);
    }
    solve->last_u = u;
    solve->last_dist = dist;
    near = solve->rate < 0.0 || (high < 1e29 && high - dist < LEAP_LEAST * step * solve->rate);
    if (near) {
        return u;
    }
    if (solve->pause > 0) {
        --solve->pause;
        return u;
    }
    last = certified(solve, u, step, start, low, high, end, count);
    if (*count > 0) {
        solve->patience = 1;
    } else {
        solve->pause = solve->patience;
        solve->patience = solve->patience < 32 ? 2 * solve->patience : 32;
    }
    return last;
}

/* A new start point: distances are no longer those from the old one; how fast they change is kept as an estimate. */
static void leap_anew(SplineSolve *solve)
{
    solve->last_u = -1.0;
}

static void leap_begin(SplineSolve *solve)
{
    int i;
    for (i = 0; i < LEAP_SEGMENTS_KEPT; ++i) {
        solve->segments[i].index = -1;
    }
    solve->to_joint_norm = norm_of(&solve->to_joint);
    solve->pause = 0;
    solve->patience = 1;
    solve->rate = -1.0;
    leap_anew(solve);
}

/* The distances inside which the march (spec 4.3) takes `step` on bone length L: the complement of its comparisons,
 * narrowed by the rounding of L - dist. */
static void march_limits(const SplineSolve *solve, float length, float step, double *low, double *high)
{
    double L = length, slack = LEAP_SLACK * L;
    if (step == STEP_COARSE) {
        *low = -1e30;
        *high = L - solve->eps1 - slack;
    } else if (step == STEP_MIDDLE) {
        *low = L - solve->eps1 + slack;
        *high = L - solve->eps2 - slack;
    } else {
        *low = L - solve->eps2 + slack;
        *high = L - solve->eps3 - slack;
    }
}

/* The step that the march takes at a distance, 0 for none (spec 4.3). */
static float march_step(const SplineSolve *solve, float length, float dist)
{
    if (R(length) - dist > solve->eps1) {
        return STEP_COARSE;
    }
    if (R(length) - dist > solve->eps2) {
        return STEP_MIDDLE;
    }
    return R(length) - dist > solve->eps3 ? STEP_FINE : 0.0f;
}

/* Marching along an open spline (spec 4.3), runs of equal steps taken at once. */
static void march_open_by_leaps(SplineSolve *solve, float u)
{
    SplineResult *out = solve->out;
    const float *L = out->bone_lengths;
    int bones = solve->chain->joints, j = 0;
    Point3 start = row3(out->points, 0);
    float u_prev = u;
    leap_anew(solve);
    while (u <= 1.0f && j < bones) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, start));
        float step = march_step(solve, L[j], dist);
        if (step != 0.0f) {
            double low, high;
            long count;
            march_limits(solve, L[j], step, &low, &high);
            u_prev = leap(solve, u, step, dist, start, low, high, 1.0, &count);
            u = F(R(u_prev) + step);
            continue;
        }
        if (R(dist) - L[j] > solve->eps3) {
            float step_delta = F(R(u) - u_prev);
            if (step_delta == STEP_COARSE) {
                u = F(R(u_prev) + STEP_MIDDLE);
                continue;
            }
            if (step_delta == STEP_MIDDLE) {
                u = F(R(u_prev) + STEP_FINE);
                continue;
            }
        }
        append(out, u, p);
        start = p;
        leap_anew(solve);
        u_prev = u;
        ++j;
        if (j < bones) {
            thresholds(solve, L[j], 5.0f);
        }
    }
}

/* Marching along a closed spline (spec 4.3): du takes as many additions as u. */
static void march_closed_by_leaps(SplineSolve *solve, float u)
{
    SplineResult *out = solve->out;
    const float *L = out->bone_lengths;
    int bones = solve->chain->joints, j = 0;
    Point3 start = row3(out->points, 0);
    float u_prev = u, du = 0.0f;
    leap_anew(solve);
    while (du <= 1.0f && j < bones) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, start));
        float step = march_step(solve, L[j], dist);
        if (step != 0.0f) {
            double low, high;
            long count;
            float du_last;
            march_limits(solve, L[j], step, &low, &high);
            u_prev = leap(solve, u, step, dist, start, low, high, 1.0, &count);
            du_last = advance_by(du, step, count);
            if (du_last > 1.0f) { /* the march ends on the way: step by step */
                u_prev = u;
                du_last = du;
            }
            du = du_last;
            u = wrapped(F(R(u_prev) + step));
            du = F(R(du) + step);
            continue;
        }
        if (R(dist) - L[j] > solve->eps3) {
            float step_delta = u > u_prev ? F(R(u) - u_prev) : F(R(1.0f) + u - u_prev);
            float retry = step_delta == STEP_COARSE ? STEP_MIDDLE : step_delta == STEP_MIDDLE ? STEP_FINE : 0.0f;
            if (retry != 0.0f) {
                u = F(R(u_prev) + retry);
                du = F(R(du) + (R(retry) - step_delta));
                if (u > 1.0f) {
                    u = F(R(u) - 1.0f);
                }
                continue;
            }
        }
        append(out, u, p);
        start = p;
        leap_anew(solve);
        du = 0.0f;
        ++j;
        if (j < bones) {
            thresholds(solve, L[j], 5.0f);
        }
    }
}

/* The nearest point so far: its u, distance and position. */
typedef struct {
    float u, dist;
    Point3 point;
} Nearest;

/* The distance of a member of the fine steps from `u` to `end` that lies near the curve's nearest point: the nearest of
 * all is not farther. FLT_MAX where no run of steps is steady. */
static float probe(SplineSolve *solve, float u, float end)
{
    SteadyRun run = steady_run(u, STEP_FINE);
    Point3 origin = point3(0.0f, 0.0f, 0.0f);
    double x = (double)u * solve->chain->curve.segments, d[7], h = 0.0, per_step, most;
    const LeapSegment *segment;
    int k = (int)x, i;
    long place;
    segment = run.count < LEAP_LEAST || k >= solve->chain->curve.segments ? NULL : leap_segment(solve, k);
    if (segment == NULL) {
        return FLT_MAX;
    }
    most = ((double)end - u) / run.inc - 1.0;
    most = most < run.count ? most : run.count;
    per_step = run.inc * solve->chain->curve.segments;
    squared_distance(segment, x - k, origin, d);
    for (i = 0; i < 4; ++i) {
        double slope = d[1] + h * (2.0 * d[2] + h * (3.0 * d[3] + h * 4.0 * d[4]));
        double bend = 2.0 * d[2] + h * (6.0 * d[3] + h * 12.0 * d[4]);
        h = bend > 0.0 ? h - slope / bend : h;
        h = h > 0.0 ? h : 0.0;
        h = h < most * per_step ? h : most * per_step;
    }
    place = most > 0.0 ? (long)(h / per_step) : 0;
    return point3_flength(point3_subtract(sample(solve, F((double)u + place * run.inc)), origin));
}

/* Every u from `u` by fine steps while u < end, as the rescan of 4.2 visits it, keeping the first nearest point. Runs
 * whose hull lies above the nearest distance known are passed over. Returns the u that ends the loop. */
static float rescan(SplineSolve *solve, float u, float end, Nearest *best)
{
    Point3 origin = point3(0.0f, 0.0f, 0.0f);
    float known = u < end ? probe(solve, u, end) : FLT_MAX;
    while (u < end) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, origin));
        long count;
        if (dist < best->dist) {
            best->u = u;
            best->dist = dist;
            best->point = p;
        }
        known = best->dist < known ? best->dist : known;
        u = leap(solve, u, STEP_FINE, dist, origin, known, 1e30, (double)end - STEP_FINE, &count);
        u = F(R(u) + STEP_FINE);
    }
    return u;
}

/* The step of the first march at a distance, 0 where it ends, and the distances inside which it stays (spec 4.2). */
static float first_step(const SplineSolve *solve, float dist, double *low, double *high)
{
    if (dist > solve->eps1) {
        *low = solve->eps1;
        *high = 1e30;
        return STEP_COARSE;
    }
    if (dist > solve->eps2) {
        *low = solve->eps2;
        *high = solve->eps1;
        return STEP_MIDDLE;
    }
    *low = solve->eps3;
    *high = solve->eps2;
    return dist > solve->eps3 ? STEP_FINE : 0.0f;
}

/* Placing the first point (spec 4.2). First without the minimum, which matters only when no point converges; then again,
 * passing over the runs that lie farther than the nearest sample seen. */
static float place_first_point_by_leaps(SplineSolve *solve)
{
    Point3 origin = point3(0.0f, 0.0f, 0.0f);
    float seen = FLT_MAX, u, u_last = 0.0f, u_before_best = 0.0f, u_after_best = 0.0f, u_best_initial;
    double low, high;
    long count;
    Nearest best;
    for (u = 0.0f; u <= 1.0f;) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, origin));
        float step = first_step(solve, dist, &low, &high);
        if (step == 0.0f) {
            append(solve->out, u, p);
            return u;
        }
        seen = dist < seen ? dist : seen;
        u = leap(solve, u, step, dist, origin, low, high, 1.0, &count);
        u = F(R(u) + step);
    }
    best.u = 0.0f;
    best.dist = FLT_MAX;
    best.point = origin;
    for (u = 0.0f; u <= 1.0f;) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, origin));
        float step = first_step(solve, dist, &low, &high);
        if (dist < best.dist) {
            best.u = u;
            best.dist = dist;
            best.point = p;
            u_before_best = u_last;
            u_after_best = F(R(u) + step);
        }
        u_last = leap(solve, u, step, dist, origin, low > seen ? low : seen, high, 1.0, &count);
        u = F(R(u_last) + step);
    }
    u_best_initial = best.u;
    u = rescan(solve, F(R(u_before_best) + STEP_FINE), u_best_initial, &best);
    if (best.u >= u_best_initial) {
        rescan(solve, u, u_after_best, &best);
    }
    append(solve->out, best.u, best.point);
    return best.u;
}
