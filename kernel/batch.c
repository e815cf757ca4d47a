/* The exported functions but takes of limbs: splines, node arithmetic over many rows, every [CORE] item on its own. */
#include "batch.h"

static Quat load4(const float *q)
{
    return quat(q[0], q[1], q[2], q[3]);
}

static void store4(float *out, Quat q)
{
    out[0] = q.x;
    out[1] = q.y;
    out[2] = q.z;
    out[3] = q.w;
}

static Matrix3 load12(const float *m)
{
    Matrix3 a;
    memcpy(a.m, m, sizeof a.m);
    matrix3_validate_flags(&a);
    return a;
}

static void store12(float *out, const Matrix3 *a)
{
    memcpy(out, a->m, sizeof a->m);
}

/* ik.initial_plane for n preferred poses; every array has 3 floats a row. */
void MAXIK_EXPORT(initial_plane)(size_t n, int link_count, const float *root_init_xyz, const float *root_extend,
                                 const float *links_init_zyx, const float *links_extend, float *n0, float *a0)
{
    size_t i;
    for (i = 0; i < 3 * n; i += 3) {
        LimbPose pose;
        Point3 normal, axis;
        pose.root_init_xyz = load3(root_init_xyz + i);
        pose.root_extend = load3(root_extend + i);
        pose.links_init = point3(links_init_zyx[i + 2], links_init_zyx[i + 1], links_init_zyx[i]);
        pose.links_extend = load3(links_extend + i);
        pose.n0 = pose.a0 = point3(0.0f, 0.0f, 0.0f);
        limb_initial_plane(link_count, &pose, &normal, &axis);
        store3(n0 + i, normal);
        store3(a0 + i, axis);
    }
}

/* ---- splines ---- */

int MAXIK_EXPORT(spline_solve)(maxik_spline *call)
{
    SplineChain chain;
    SplineResult result;
    int status;
    chain.joints = call->joints;
    chain.t = call->t;
    chain.axes = call->axes;
    chain.init = call->init;
    chain.curve.closed = call->closed;
    chain.curve.segments = call->segments;
    chain.curve.points = call->curve;
    chain.object_tm = load12(call->object_tm);
    chain.parent_matrix = load12(call->parent_matrix);
    chain.twist_parent = load12(call->twist_parent);
    chain.start_twist = call->start_twist;
    chain.end_twist = call->end_twist;
    chain.n0 = load3(call->n0);
    chain.a0 = load3(call->a0);
    chain.zero_map = call->zero_map;
    result.bone_lengths = call->bone_lengths;
    result.bone_axes = call->bone_axes;
    result.co_axes = call->co_axes;
    result.u = call->u;
    result.points = call->points;
    result.euler = call->euler;
    result.frames = call->frames;
    result.directions = call->directions;
    result.prepared = call->prepared;
    result.twist_up = load3(call->twist_up);
    status = spline_solve(&chain, call->march, &result);
    call->prepared = result.prepared;
    store3(call->twist_up, result.twist_up);
    call->count = result.count;
    call->samples = result.samples;
    return status;
}

void MAXIK_EXPORT(spline_position)(int segments, const float *curve, float u, float *out)
{
    SplineCurve spline;
    spline.closed = 0;
    spline.segments = segments;
    spline.points = curve;
    store3(out, spline_position(&spline, u));
}

/* ---- rows of matrices, points, vectors ---- */

void MAXIK_EXPORT(matrix3_multiply)(size_t n, const float *a, const float *b, float *out)
{
    size_t i;
    for (i = 0; i < 12 * n; i += 12) {
        Matrix3 ma = load12(a + i), mb = load12(b + i), p = matrix3_multiply(&ma, &mb);
        store12(out + i, &p);
    }
}

void MAXIK_EXPORT(matrix3_invert)(size_t n, const float *m, float *out)
{
    size_t i;
    for (i = 0; i < 12 * n; i += 12) {
        Matrix3 a = load12(m + i), inverse = matrix3_inverse(&a);
        store12(out + i, &inverse);
    }
}

/* Identity, PreRotateZ, PreRotateY, PreRotateX: a node's rotation from its Euler XYZ controller. */
void MAXIK_EXPORT(euler_matrix)(size_t n, const float *xyz, float *out)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        Matrix3 m = matrix3_identity();
        matrix3_pre_rotate_z(&m, turn_of(xyz[3 * i + 2]));
        matrix3_pre_rotate_y(&m, turn_of(xyz[3 * i + 1]));
        matrix3_pre_rotate_x(&m, turn_of(xyz[3 * i]));
        store12(out + 12 * i, &m);
    }
}

void MAXIK_EXPORT(quat_make_matrix)(size_t n, const float *q, float *out)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        Matrix3 m = quat_make_matrix(load4(q + 4 * i));
        store12(out + 12 * i, &m);
    }
}

void MAXIK_EXPORT(matrix3_point_transform)(size_t n, const float *v, const float *m, float *out)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        Matrix3 a = load12(m + 12 * i);
        store3(out + 3 * i, point_transform(&a, load3(v + 3 * i)));
    }
}

/* ---- single items ---- */

float MAXIK_EXPORT(acos_safe)(float x)
{
    return F(acos_safe(x));
}

/* The cosine that MakeRowQuat takes (spec 2.2). */
float MAXIK_EXPORT(cos_half)(float x)
{
    return make_row_quat(point3(1.0f, 0.0f, 0.0f), x).w;
}

/* The sine that MakeRowQuat takes, negated, before it meets the axis (spec 2.2). */
float MAXIK_EXPORT(neg_sin_half)(float x)
{
    return make_row_quat(point3(1.0f, 0.0f, 0.0f), x).x;
}

float MAXIK_EXPORT(sin)(float x)
{
    return turn_of(x).s;
}

float MAXIK_EXPORT(cos)(float x)
{
    return turn_of(x).c;
}

float MAXIK_EXPORT(sqrt)(float x)
{
    return float_sqrt(x);
}

float MAXIK_EXPORT(atan2)(float y, float x)
{
    return F(crt_atan2((double)y, (double)x));
}

float MAXIK_EXPORT(point3_length_unify)(const float *v, float *out)
{
    Point3 p = load3(v);
    float length = length_unify(&p);
    store3(out, p);
    return length;
}

void MAXIK_EXPORT(point3_normalize)(const float *v, float *out)
{
    store3(out, normalize(load3(v)));
}

void MAXIK_EXPORT(point3_cross)(const float *a, const float *b, float *out)
{
    store3(out, cross(load3(a), load3(b)));
}

void MAXIK_EXPORT(matrix3_pre_rotate)(const float *m, int axis, float angle, float *out)
{
    Matrix3 a = load12(m);
    Turn t = turn_of(angle);
    if (axis == 'x') {
        matrix3_pre_rotate_x(&a, t);
    } else if (axis == 'y') {
        matrix3_pre_rotate_y(&a, t);
    } else {
        matrix3_pre_rotate_z(&a, t);
    }
    store12(out, &a);
}

void MAXIK_EXPORT(matrix3_rotate)(const float *m, int axis, float angle, float *out)
{
    Matrix3 a = load12(m);
    matrix3_rotate(&a, (char)axis, angle);
    store12(out, &a);
}

void MAXIK_EXPORT(matrix3_rot_angle_axis)(const float *axis, float angle, float *out)
{
    Matrix3 m = rot_angle_axis(load3(axis), angle);
    store12(out, &m);
}

void MAXIK_EXPORT(matrix3_vector_transform)(const float *v, const float *m, float *out)
{
    Matrix3 a = load12(m);
    store3(out, vector_transform(&a, load3(v)));
}

int MAXIK_EXPORT(matrix3_validate_flags)(const float *m)
{
    return (int)load12(m).flags;
}

void MAXIK_EXPORT(matrix3_to_euler)(const float *m, float *out)
{
    Matrix3 a = load12(m);
    matrix_to_euler(&a, out);
}

void MAXIK_EXPORT(quat_conjugate)(const float *q, float *out)
{
    store4(out, quat_conjugate(load4(q)));
}

void MAXIK_EXPORT(quat_product)(const float *a, const float *b, float *out)
{
    store4(out, quat_product(load4(a), load4(b)));
}

void MAXIK_EXPORT(quat_from_ang_axis)(const float *axis, float angle, float *out)
{
    store4(out, quat_from_ang_axis(load3(axis), angle));
}

void MAXIK_EXPORT(rotation_pre_apply)(const float *q, const float *m, float *out)
{
    Matrix3 a = load12(m);
    rotation_pre_apply(load4(q), &a);
    store12(out, &a);
}

void MAXIK_EXPORT(zero_map)(const float *v, const float *n0, const float *a0, float *out)
{
    store3(out, zero_map(load3(v), load3(n0), load3(a0)));
}
