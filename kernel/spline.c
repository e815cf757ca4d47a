/* The Spline IK solver (spec 4). u is a float that every step stores, so that the equality tests of the march see it. */
#include "spline.h"
#include "spline_leap.h"

/* Exactly the float literals of spec 4.2. */
/* Rounded, since C99 lets a literal have the precision of the registers (FLT_EVAL_METHOD 2); cl.exe's is a float. */
#define STEP_COARSE F(0.001f)
#define STEP_MIDDLE F(0.0001f)
#define STEP_FINE F(0.000001f)

static Point3 row3(const float *rows, int i)
{
    return point3(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]);
}

static void set_row3(float *rows, int i, Point3 p)
{
    rows[3 * i] = p.x;
    rows[3 * i + 1] = p.y;
    rows[3 * i + 2] = p.z;
}

/* [CORE] spline.bezier: bernstein, s = f(1 - t). */
INLINE float bernstein(float s, float t, float p0, float p1, float p2, float p3)
{
    return F(R(s) * s * s * p0 + R(3.0f) * s * s * t * p1 + R(3.0f) * s * t * t * p2 + R(t) * t * t * p3);
}

/* [CORE] spline.parameter: simple, whatever the type argument. */
INLINE Point3 spline_position(const SplineCurve *curve, float u)
{
    double x;
    float s, t;
    int k;
    const float *p;
    if (u != u) {
        return point3(u, u, u);
    }
    if (u < 0.0f) {
        u = 0.0f;
    }
    if (u > 1.0f) {
        u = 1.0f;
    }
    x = (double)u * curve->segments;
    k = (int)x; /* floor: x is not negative */
    if (k > curve->segments - 1) {
        k = curve->segments - 1;
    }
    t = F(x - k);
    s = F(R(1.0f) - t);
    p = curve->points + 12 * k;
    return point3(bernstein(s, t, p[0], p[3], p[6], p[9]), bernstein(s, t, p[1], p[4], p[7], p[10]),
                  bernstein(s, t, p[2], p[5], p[8], p[11]));
}

/* SplinePosAt(u, 1) * toJointMat (spec 4.2) */
INLINE Point3 sample(SplineSolve *solve, float u)
{
    ++solve->out->samples;
    return point_transform(&solve->to_joint, spline_position(&solve->chain->curve, u));
}

/* Joint angles in the order of the axes string, from index 2, ending at the first '_' (spec 4.1, reading 9). */
static void pre_rotate_axes(Matrix3 *mat, const char *axes, const float *angles)
{
    int i;
    for (i = 2; i >= 0; --i) {
        if (axes[i] == '_') {
            break;
        }
        if (axes[i] == 'x') {
            matrix3_pre_rotate_x(mat, turn_of(angles[0]));
        }
        if (axes[i] == 'y') {
            matrix3_pre_rotate_y(mat, turn_of(angles[1]));
        }
        if (axes[i] == 'z') {
            matrix3_pre_rotate_z(mat, turn_of(angles[2]));
        }
    }
}

/* [CORE] ik.joint_iterator: chain-frames. From the joint's proximal frame to the joint's own, then to the next. */
static Matrix3 joint_frame(const SplineChain *chain, const Matrix3 *proximal, int joint)
{
    Matrix3 mat = *proximal;
    pre_rotate_axes(&mat, chain->axes + 3 * joint, chain->init + 3 * joint);
    return mat;
}

static Matrix3 next_proximal(const SplineChain *chain, const Matrix3 *frame, int joint)
{
    Matrix3 move = matrix3_translation(row3(chain->t, joint));
    return matrix3_multiply(&move, frame);
}

/* Dominant index of an axis: strict <, so that ties keep the earlier one (spec 4.1). */
static int dominant(Point3 axis)
{
    int ei = 0;
    float max_abs = F(fabs((double)axis.x));
    if (max_abs < F(fabs((double)axis.y))) {
        ei = 1;
        max_abs = F(fabs((double)axis.y));
    }
    if (max_abs < F(fabs((double)axis.z))) {
        ei = 2;
    }
    return ei;
}

static Point3 unit_axis(int i)
{
    return point3(i == 0 ? 1.0f : 0.0f, i == 1 ? 1.0f : 0.0f, i == 2 ? 1.0f : 0.0f);
}

static Point3 unify(Point3 v)
{
    point3_unify(&v);
    return v;
}

/* [CORE] spline.zero_map: carried-normal */
static Point3 spline_zero_map(const SplineChain *chain, Point3 axis)
{
    if (chain->zero_map != NULL) {
        return row3(chain->zero_map, 0);
    }
    return zero_map(normalize(axis), chain->n0, chain->a0);
}

/* First pass of 4.1: twistUp and chainUp from the raw chain axis. Returns chainUp. */
static Point3 up_vectors(SplineSolve *solve)
{
    const SplineChain *chain = solve->chain;
    Matrix3 proximal = matrix3_identity(), inverse = matrix3_inverse(&chain->parent_matrix);
    Point3 first = matrix3_row(&proximal, 3), chain_axis, chain_up;
    int joint;
    for (joint = 0; joint < chain->joints; ++joint) {
        Matrix3 frame = joint_frame(chain, &proximal, joint);
        memcpy(solve->out->frames + 12 * joint, frame.m, sizeof frame.m);
        proximal = next_proximal(chain, &frame, joint);
    }
    chain_axis = point3_subtract(matrix3_row(&proximal, 3), first);
    solve->twist_up = spline_zero_map(chain, chain_axis);
    chain_up = solve->twist_up;
    solve->twist_up = vector_transform(&chain->twist_parent, solve->twist_up);
    solve->twist_up = vector_transform(&inverse, solve->twist_up);
    chain_up = vector_transform(&inverse, chain_up);
    solve->twist_up = unify(solve->twist_up);
    return unify(chain_up);
}

/* Second pass of 4.1: bone axis, co-axis and length of every joint. The joints' frames are those of the first pass. */
static void bone_tables(SplineSolve *solve, Point3 chain_up)
{
    const SplineChain *chain = solve->chain;
    Matrix3 proximal = matrix3_identity();
    int joint;
    for (joint = 0; joint < chain->joints; ++joint) {
        Matrix3 frame, next, mat;
        Point3 pivot, distal_end, bone_axis, bone_up, co_axis;
        int ei;
        memcpy(frame.m, solve->out->frames + 12 * joint, sizeof frame.m);
        frame.flags = proximal.flags & ~(unsigned)ROT_IDENT;
        next = next_proximal(chain, &frame, joint);
        mat = matrix3_inverse(&frame);
        pivot = matrix3_row(&proximal, 3);
        distal_end = matrix3_row(&next, 3);
        bone_axis = unify(point_transform(&mat, distal_end));
        bone_up = vector_transform(&mat, chain_up);
        co_axis = cross(bone_up, bone_axis);
        ei = dominant(bone_axis);
        if (length_unify(&co_axis) < 100.0f * FLT_EPSILON) {
            co_axis = unit_axis((ei + 2) % 3);
            co_axis = unify(cross(co_axis, bone_axis));
        }
        co_axis = cross(bone_axis, co_axis);
        set_row3(solve->out->bone_axes, joint, bone_axis);
        set_row3(solve->out->co_axes, joint, co_axis);
        solve->out->bone_lengths[joint] = point3_flength(point3_subtract(distal_end, pivot));
        proximal = next;
    }
}

static void append(SplineResult *out, float u, Point3 point)
{
    out->u[out->count] = u;
    set_row3(out->points, out->count, point);
    ++out->count;
}

/* eps1 = L/divisor, eps2 = L/50, eps3 = L/100: the divisor is 7 for the first bone, 5 after it (spec 4.2, 4.3). */
static void thresholds(SplineSolve *solve, float length, float divisor)
{
    solve->eps1 = F(R(length) / divisor);
    solve->eps2 = F(R(length) / 50.0f);
    solve->eps3 = F(R(length) / 100.0f);
}

/* Placing the first point (spec 4.2). Returns its u; the point is the first recorded one. */
static float place_first_point(SplineSolve *solve)
{
    Point3 first_joint = point3(0.0f, 0.0f, 0.0f), best = point3(0.0f, 0.0f, 0.0f);
    float u = 0.0f, u_last = 0.0f, u_best = 0.0f, u_before_best = 0.0f, u_after_best = 0.0f, dist_best = FLT_MAX;
    float u_best_initial;
    int flag = 0;
    while (u <= 1.0f) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, first_joint));
        if (dist < dist_best) {
            u_best = u;
            dist_best = dist;
            best = p;
            u_before_best = u_last;
            flag = 1;
        }
        u_last = u;
        if (dist > solve->eps1) {
            u = F(R(u) + STEP_COARSE);
        } else if (dist > solve->eps2) {
            u = F(R(u) + STEP_MIDDLE);
        } else if (dist > solve->eps3) {
            u = F(R(u) + STEP_FINE);
        } else {
            append(solve->out, u, p);
            return u;
        }
        if (flag) {
            u_after_best = u;
            flag = 0;
        }
    }
    /* No convergence: rescan before the best u; only when nothing better lies there, go on after it (reading 7). */
    u_best_initial = u_best;
    u = F(R(u_before_best) + STEP_FINE);
    for (; u < u_best_initial; u = F(R(u) + STEP_FINE)) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, first_joint));
        if (dist < dist_best) {
            u_best = u;
            dist_best = dist;
            best = p;
        }
    }
    if (u_best >= u_best_initial) {
        for (; u < u_after_best; u = F(R(u) + STEP_FINE)) {
            Point3 p = sample(solve, u);
            float dist = point3_flength(point3_subtract(p, first_joint));
            if (dist < dist_best) {
                u_best = u;
                dist_best = dist;
                best = p;
            }
        }
    }
    append(solve->out, u_best, best);
    return u_best;
}

/* Marching along an open spline (spec 4.3). */
static void march_open(SplineSolve *solve, float u)
{
    SplineResult *out = solve->out;
    const float *L = out->bone_lengths;
    int bones = solve->chain->joints, j = 0;
    Point3 start = row3(out->points, 0);
    float u_prev = u;
    while (u <= 1.0f && j < bones) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, start));
        if (R(L[j]) - dist > solve->eps1) {
            u_prev = u;
            u = F(R(u) + STEP_COARSE);
            continue;
        }
        if (R(L[j]) - dist > solve->eps2) {
            u_prev = u;
            u = F(R(u) + STEP_MIDDLE);
            continue;
        }
        if (R(L[j]) - dist > solve->eps3) {
            u_prev = u;
            u = F(R(u) + STEP_FINE);
            continue;
        }
        if (R(dist) - L[j] > solve->eps3) { /* backtrack: exact float equality */
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
        u_prev = u;
        ++j;
        if (j < bones) {
            thresholds(solve, L[j], 5.0f);
        }
    }
}

/* if (u > 1.0) u = u - 1.00f: compared in double, subtracted in float (spec 4.3) */
static float wrapped(float u)
{
    return (double)u > 1.0 ? F(R(u) - 1.0f) : u;
}

/* Marching along a closed spline (spec 4.3): acceptance does not update uPrev. */
static void march_closed(SplineSolve *solve, float u)
{
    SplineResult *out = solve->out;
    const float *L = out->bone_lengths;
    int bones = solve->chain->joints, j = 0;
    Point3 start = row3(out->points, 0);
    float u_prev = u, du = 0.0f;
    while (du <= 1.0f && j < bones) {
        Point3 p = sample(solve, u);
        float dist = point3_flength(point3_subtract(p, start));
        float step = 0.0f;
        if (R(L[j]) - dist > solve->eps1) {
            step = STEP_COARSE;
        } else if (R(L[j]) - dist > solve->eps2) {
            step = STEP_MIDDLE;
        } else if (R(L[j]) - dist > solve->eps3) {
            step = STEP_FINE;
        }
        if (step != 0.0f) {
            u_prev = u;
            u = wrapped(F(R(u) + step));
            du = F(R(du) + step);
            continue;
        }
        if (R(dist) - L[j] > solve->eps3) { /* backtrack: exact float equality, over the seam too */
            float step_delta = u > u_prev ? F(R(u) - u_prev) : F(R(1.0f) + u - u_prev);
            if (step_delta == STEP_COARSE) {
                u = F(R(u_prev) + STEP_MIDDLE);
                du = F(R(du) + (R(STEP_MIDDLE) - STEP_COARSE));
                if (u > 1.0f) {
                    u = F(R(u) - 1.0f);
                }
                continue;
            }
            if (step_delta == STEP_MIDDLE) {
                u = F(R(u_prev) + STEP_FINE);
                du = F(R(du) + (R(STEP_FINE) - STEP_MIDDLE));
                if (u > 1.0f) {
                    u = F(R(u) - 1.0f);
                }
                continue;
            }
        }
        append(out, u, p);
        start = p;
        du = 0.0f;
        ++j;
        if (j < bones) {
            thresholds(solve, L[j], 5.0f);
        }
    }
}

/* The direction of bone b, for b <= uCount (spec 4.4). */
static Point3 bone_direction(SplineSolve *solve, int b)
{
    const SplineResult *out = solve->out;
    if (b == out->count - 1) {
        return normalize(point3_subtract(sample(solve, 1.00f), row3(out->points, b)));
    }
    if (b == out->count) {
        Point3 end = sample(solve, 1.0f), before = sample(solve, 0.99f);
        return normalize(point3_subtract(end, before));
    }
    return normalize(point3_subtract(row3(out->points, b + 1), row3(out->points, b)));
}

/* Bone basis inverse times global frame (spec 4.4). */
static Matrix3 bone_frame(const SplineSolve *solve, int b, Point3 dir)
{
    Point3 axis = row3(solve->out->bone_axes, b), co_axis = row3(solve->out->co_axes, b), norm;
    int i = dominant(axis), j = (i + 1) % 3, k = (i + 2) % 3;
    Matrix3 basis, global = matrix3_identity();
    basis.flags = 0;
    matrix3_set_row(&basis, i, axis);
    matrix3_set_row(&basis, k, co_axis);
    matrix3_set_row(&basis, j, cross(co_axis, axis));
    matrix3_no_trans(&basis);
    basis = matrix3_inverse(&basis);
    matrix3_set_row(&global, i, dir);
    norm = cross(solve->twist_up, dir);
    if (length_unify(&norm) < 100.0f * FLT_EPSILON) {
        norm = unify(cross(unit_axis(k), dir));
    }
    matrix3_set_row(&global, j, norm);
    matrix3_set_row(&global, k, cross(dir, norm));
    return matrix3_multiply(&basis, &global);
}

/* Frames, twist, Euler triples (spec 4.4). For b > uCount the previous direction and norm's input persist. */
static void frames_and_twist(SplineSolve *solve)
{
    const SplineChain *chain = solve->chain;
    SplineResult *out = solve->out;
    int bones = chain->joints, b;
    Point3 dir = point3(0.0f, 0.0f, 0.0f);
    Matrix3 previous = matrix3_identity();
    for (b = 0; b < bones; ++b) {
        float twist = chain->start_twist;
        Matrix3 global, local;
        Quat q;
        if (b > 0) {
            twist = F(R(chain->start_twist) + (R(chain->end_twist) / (float)(bones - 1)) * (float)b);
        }
        if (b <= out->count) {
            dir = bone_direction(solve, b);
        }
        global = bone_frame(solve, b, dir);
        q = quat_conjugate(quat_from_ang_axis(row3(out->bone_axes, b), twist));
        if (b == 0) {
            rotation_pre_apply(q, &global);
            local = global;
        } else {
            Matrix3 inverse = matrix3_inverse(&previous);
            local = matrix3_multiply(&global, &inverse);
            rotation_pre_apply(q, &local);
            global = matrix3_multiply(&local, &previous);
        }
        previous = global;
        memcpy(out->frames + 12 * b, global.m, sizeof global.m);
        set_row3(out->directions, b, dir);
        matrix_to_euler(&local, out->euler + 3 * b);
    }
}

/* Solve (spec 4): success also when no point was recorded, the chain is then left untouched. */
static int spline_solve(const SplineChain *chain, int march, SplineResult *out)
{
    SplineSolve solve;
    Matrix3 inverse = matrix3_inverse(&chain->parent_matrix);
    float u;
    solve.chain = chain;
    solve.out = out;
    solve.to_joint = matrix3_multiply(&chain->object_tm, &inverse);
    out->count = 0;
    out->samples = 0;
    if (!out->prepared) {
        bone_tables(&solve, up_vectors(&solve));
        out->twist_up = solve.twist_up;
        out->prepared = 1;
    }
    solve.twist_up = out->twist_up;
    if (chain->joints == 0 || chain->curve.segments == 0) {
        return STATUS_SUCCESS;
    }
    thresholds(&solve, out->bone_lengths[0], 7.0f);
    if (march == MARCH_LEAP && LEAP_CERTIFIED) {
        leap_begin(&solve);
        u = place_first_point_by_leaps(&solve);
        if (chain->curve.closed) {
            march_closed_by_leaps(&solve, u);
        } else {
            march_open_by_leaps(&solve, u);
        }
    } else {
        u = place_first_point(&solve);
        if (chain->curve.closed) {
            march_closed(&solve, u);
        } else {
            march_open(&solve, u);
        }
    }
    frames_and_twist(&solve);
    return STATUS_SUCCESS;
}
