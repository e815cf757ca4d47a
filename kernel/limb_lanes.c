/* The limb solver in lanes: every lane a frame, every expression that of limb.c, matrix3.c, quat.c and euler.c (spec 3).
 *
 * What is written with an operator is IEEE arithmetic and has the scalar path's bits in every case, NaN, infinities and
 * subnormals included. What is not is the functions of lane_functions.h, and three branches that frames seldom take:
 * vectors of no length, gimbal lock, goals without a direction. There a lane is in doubt. Identity flags are not kept:
 * they change no number under candidate-1 (core-profile.md, reading 4).
 */
#include "lanes.h" /* first: it chooses the instruction set */

#include "lane_functions.h"
#include "limb_batch.h"

enum { IN_START_JOINT = 0, IN_GOAL = 1, VH_TARGET = 2 };

typedef struct {
    Reg x, y, z;
} Vec;

/* Rows 0-2; translations take part only in the initialisation. */
typedef struct {
    Vec row[3];
} Basis;

typedef struct {
    Basis basis;
    Vec trans;
} Affine;

typedef struct {
    Reg c, s;
} Turns;

typedef struct {
    Reg x, y, z, w;
} Quats;

/* LimbPrepared in lanes. */
typedef struct {
    Vec n0, a0;
    Reg L1, L2, Lsum, Ldiff;
    Reg theta0, phi0;
    Vec initial_ee_unit, initial_row1;
    Basis initial_frame_inverse;
    Vec init_plane_normal;
    Turns root_x, root_y, root_z;
    Turns link_x, link_y, link_z;
} Chain;

/* ---- point3.h ---- */

#define DOT_LANES(a, b) ((a).x * (b).x + (a).y * (b).y + (a).z * (b).z)

INLINE Vec vec(Reg x, Reg y, Reg z)
{
    Vec v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

INLINE Vec vec_select(RegMask where, Vec a, Vec b)
{
    return vec(reg_select(where, a.x, b.x), reg_select(where, a.y, b.y), reg_select(where, a.z, b.z));
}

/* a - b (spec 2.6) */
INLINE Vec subtract(Vec a, Vec b)
{
    return vec(F(a.x - b.x), F(a.y - b.y), F(a.z - b.z));
}

/* a * f (spec 2.6) */
INLINE Vec scale(Vec a, Reg f)
{
    return vec(F(a.x * f), F(a.y * f), F(a.z * f));
}

/* FLength (spec 2.6): the sum is rounded at Sqrt's float parameter (spec 2.9). */
INLINE Reg flength(Vec v)
{
    return F(reg_sqrt(F(DOT_LANES(v, v))));
}

/* v / r, to what rounds to the same floats.
 *
 * On AVX-512, whose divisions take longest, three are one: the quotient q by RN(1 / r) is off by 2^-52, its correction leaves
 * 2^-104, and `make exhaust` shows that no quotient of a float lies so near to where that would tell. */
INLINE void divide(Wide *x, Wide *y, Wide *z, Wide r)
{
#if MAXIK_LANES == 512
    Wide reciprocal = 1.0 / r, q = *x * reciprocal;
    *x = wide_nmadd(wide_msub(q, r, *x), reciprocal, q);
    q = *y * reciprocal;
    *y = wide_nmadd(wide_msub(q, r, *y), reciprocal, q);
    q = *z * reciprocal;
    *z = wide_nmadd(wide_msub(q, r, *z), reciprocal, q);
#else
    *x /= r;
    *y /= r;
    *z /= r;
#endif
}

/* [CORE] point3.normalize, point3.unify: binary64-divide; a vector of no length is in doubt. */
INLINE Vec normalized(Vec v, Doubt *doubt)
{
    Wide x[HALVES], y[HALVES], z[HALVES], r;
    int h;
    for (h = 0; h < HALVES; ++h) {
        x[h] = wide_of(v.x, h);
        y[h] = wide_of(v.y, h);
        z[h] = wide_of(v.z, h);
        r = wide_sqrt(x[h] * x[h] + y[h] * y[h] + z[h] * z[h]);
        divide(&x[h], &y[h], &z[h], r);
        doubt_short(r, doubt, h);
    }
    return vec(reg_of(x), reg_of(y), reg_of(z));
}

/* [CORE] point3.cross */
INLINE Vec cross(Vec a, Vec b)
{
    return vec(F(a.y * b.z - a.z * b.y), F(a.z * b.x - a.x * b.z), F(a.x * b.y - a.y * b.x));
}

/* ---- matrix3.c ---- */

/* c = f(cos(a)), s = f(sin(a)) */
INLINE Turns turns_of(Reg angle, Doubt *doubt)
{
    Turns t;
    reg_sincos(angle, 1.0, &t.s, &t.c, doubt);
    return t;
}

/* row_i' = f(c*row_i + s*row_k), row_k' = f(c*row_k - s*row_i) */
INLINE void turn_rows(Vec *i, Vec *k, Turns t)
{
    Vec a = *i, b = *k;
    *i = vec(F(t.c * a.x + t.s * b.x), F(t.c * a.y + t.s * b.y), F(t.c * a.z + t.s * b.z));
    *k = vec(F(t.c * b.x - t.s * a.x), F(t.c * b.y - t.s * a.y), F(t.c * b.z - t.s * a.z));
}

/* [CORE] matrix3.pre_rotate: rows; z, then y, then x. */
INLINE void pre_rotate_zyx(Basis *m, Turns x, Turns y, Turns z)
{
    turn_rows(&m->row[0], &m->row[1], z);
    turn_rows(&m->row[2], &m->row[0], y);
    turn_rows(&m->row[1], &m->row[2], x);
}

/* One row of [CORE] matrix3.multiply: full */
INLINE Vec row_times(Vec a, const Basis *b)
{
    return vec(F(a.x * b->row[0].x + a.y * b->row[1].x + a.z * b->row[2].x),
               F(a.x * b->row[0].y + a.y * b->row[1].y + a.z * b->row[2].y),
               F(a.x * b->row[0].z + a.y * b->row[1].z + a.z * b->row[2].z));
}

INLINE Basis basis_times(const Basis *a, const Basis *b)
{
    Basis p;
    p.row[0] = row_times(a->row[0], b);
    p.row[1] = row_times(a->row[1], b);
    p.row[2] = row_times(a->row[2], b);
    return p;
}

/* [CORE] matrix3.vector_transform: sum */
#define vector_transform(m, v) row_times(v, m)

/* [CORE] matrix3.multiply: full, translation included */
INLINE Affine affine_times(const Affine *a, const Affine *b)
{
    Affine p;
    p.basis = basis_times(&a->basis, &b->basis);
    p.trans = vec(F(a->trans.x * b->basis.row[0].x + a->trans.y * b->basis.row[1].x + a->trans.z * b->basis.row[2].x + b->trans.x),
                  F(a->trans.x * b->basis.row[0].y + a->trans.y * b->basis.row[1].y + a->trans.z * b->basis.row[2].y + b->trans.y),
                  F(a->trans.x * b->basis.row[0].z + a->trans.y * b->basis.row[1].z + a->trans.z * b->basis.row[2].z + b->trans.z));
    return p;
}

INLINE Basis identity_basis(void)
{
    Basis m;
    Reg one = splat(1.0f), zero = splat(0.0f);
    m.row[0] = vec(one, zero, zero);
    m.row[1] = vec(zero, one, zero);
    m.row[2] = vec(zero, zero, one);
    return m;
}

/* [CORE] matrix3.invert: adjugate-reciprocal, the 3x3 part */
INLINE Basis basis_inverse(const Basis *a)
{
    const Vec *m = a->row;
    Basis inverse;
    Vec c0, c1, c2;
    Reg det, r;
    c0.x = F(m[1].y * m[2].z - m[1].z * m[2].y);
    c0.y = F(m[1].z * m[2].x - m[1].x * m[2].z);
    c0.z = F(m[1].x * m[2].y - m[1].y * m[2].x);
    c1.x = F(m[2].y * m[0].z - m[2].z * m[0].y);
    c1.y = F(m[2].z * m[0].x - m[2].x * m[0].z);
    c1.z = F(m[2].x * m[0].y - m[2].y * m[0].x);
    c2.x = F(m[0].y * m[1].z - m[0].z * m[1].y);
    c2.y = F(m[0].z * m[1].x - m[0].x * m[1].z);
    c2.z = F(m[0].x * m[1].y - m[0].y * m[1].x);
    det = F(m[0].x * c0.x + m[0].y * c0.y + m[0].z * c0.z);
    r = F(splat(1.0f) / det);
    inverse.row[0] = vec(F(c0.x * r), F(c1.x * r), F(c2.x * r));
    inverse.row[1] = vec(F(c0.y * r), F(c1.y * r), F(c2.y * r));
    inverse.row[2] = vec(F(c0.z * r), F(c1.z * r), F(c2.z * r));
    return inverse;
}

/* [CORE] matrix3.rot_angle_axis: rodrigues */
INLINE Basis rot_angle_axis(Vec k, Reg angle, Doubt *doubt)
{
    Turns turn = turns_of(angle, doubt);
    Reg c = turn.c, s = turn.s, t = F(splat(1.0f) - c);
    Basis m;
    m.row[0] = vec(F(t * k.x * k.x + c), F(t * k.x * k.y + s * k.z), F(t * k.x * k.z - s * k.y));
    m.row[1] = vec(F(t * k.x * k.y - s * k.z), F(t * k.y * k.y + c), F(t * k.y * k.z + s * k.x));
    m.row[2] = vec(F(t * k.x * k.z + s * k.y), F(t * k.y * k.z - s * k.x), F(t * k.z * k.z + c));
    return m;
}

/* ---- euler.c ---- */

/* What Euler angles are taken of: the rest of a matrix need not be computed. */
typedef struct {
    Vec row0;
    Reg row1_z, row2_z;
} Turned;

INLINE Turned turned(const Basis *m)
{
    Turned t;
    t.row0 = m->row[0];
    t.row1_z = m->row[1].z;
    t.row2_z = m->row[2].z;
    return t;
}

/* [CORE] matrix3.to_euler: shoemake; gimbal lock is in doubt. */
INLINE Vec to_euler(const Turned *m, Doubt *doubt)
{
    Reg cy = F(reg_sqrt(m->row0.x * m->row0.x + m->row0.y * m->row0.y));
    doubt->lock |= ~(cy > splat(16.0f * FLT_EPSILON));
    return vec(reg_atan2(m->row1_z, m->row2_z, doubt), reg_atan2(-m->row0.z, cy, doubt),
               reg_atan2(m->row0.y, m->row0.x, doubt));
}

/* ---- quat.c ---- */

/* MakeRowQuat (spec 2.2) */
INLINE Quats make_row_quat(Vec axis, Reg angle, Doubt *doubt)
{
    Quats q;
    Reg s;
    reg_sincos(angle, 0.5, &s, &q.w, doubt);
    s = -s;
    q.x = F(s * axis.x);
    q.y = F(s * axis.y);
    q.z = F(s * axis.z);
    return q;
}

/* ApplyRowQuat (spec 2.3): conjugate, the quaternion-vector product, the product (hamilton). */
INLINE Vec apply_row_quat(Vec v, Quats b)
{
    Quats q = b, a;
    q.x = -b.x;
    q.y = -b.y;
    q.z = -b.z;
    a.w = F(-q.x * v.x - q.y * v.y - q.z * v.z);
    a.x = F(q.w * v.x + q.y * v.z - q.z * v.y);
    a.y = F(q.w * v.y + q.z * v.x - q.x * v.z);
    a.z = F(q.w * v.z + q.x * v.y - q.y * v.x);
    return vec(F(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y), F(a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z),
               F(a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x));
}

/* ---- limb.c ---- */

/* [CORE] ik.zero_map: carried-normal */
INLINE Vec zero_map(Vec a, Vec n0, Doubt *doubt)
{
    return normalized(subtract(n0, scale(a, F(DOT_LANES(n0, a)))), doubt);
}

/* The interior angle at the elbow (spec 3.1). */
INLINE Reg elbow_angle(Reg L1, Reg L2, Reg d, Doubt *doubt)
{
    Reg elbow_num = F(L1 * L1 + L2 * L2 - d * d);
    return reg_acos_safe(F(elbow_num / (splat(2.0f) * L1 * L2)), doubt);
}

/* The angle at the shoulder between the end-effector axis and the upper bone (spec 3.1). */
INLINE Reg shoulder_angle(Reg L1, Reg L2, Reg d, Doubt *doubt)
{
    Reg shoulder_num = F(d * d + L1 * L1 - L2 * L2);
    return reg_acos_safe(F(shoulder_num / (splat(2.0f) * d * L1)), doubt);
}

/* t -= (ee % t) * ee (spec 3.2) */
INLINE Vec project_off(Vec t, Vec ee)
{
    return subtract(t, scale(ee, F(DOT_LANES(ee, t))));
}

/* The swivel scalar (spec 3.2): the angle from p to t about ee, in [0, 2 pi]. */
INLINE Reg swivel_scalar(Vec p, Vec t, Vec ee, Doubt *doubt)
{
    Reg swivel = reg_acos_safe(F(DOT_LANES(p, t)), doubt);
    Vec c = cross(p, t);
    Wide around[HALVES];
    int h;
    for (h = 0; h < HALVES; ++h) {
        around[h] = 2.0 * MAXIK_PI - wide_of(swivel, h);
    }
    return reg_select(DOT_LANES(c, ee) < splat(0.0f), reg_of(around), swivel);
}

/* ---- a solve in steps ----
 *
 * A solve is one long chain of operations that wait for each other. Each step is short, and is done for many blocks of
 * frames before the next begins, so that a processor finds work in the next block while one waits.
 */

/* A block of LANES frames on its way through the steps. */
typedef struct {
    Doubt doubt;
    const Chain *chain;
    size_t at; /* its first frame */
    float goal[12][LANES], swivel_angle[LANES], vh_target[3][LANES];
    Vec wrist, ee, p, t, ee_in_goal, t_in_goal;
    Reg theta, phi, swivel;
    Vec upper, rx, ry, rz;
    Turned shoulder, elbow;
    float rot_xyz[3][LANES], dof_zyx[3][LANES];
    Reg number; /* NaN where an angle is */
} Block;

/* `size` floats a frame, frames `stride` floats apart, each to an array over lanes: done well before they are needed, since
 * a vector that is read just after its lanes were written waits for them. */
INLINE void gather(const float *at, size_t stride, int size, float (*out)[LANES])
{
    int lane, k;
    for (lane = 0; lane < LANES; ++lane) {
        for (k = 0; k < size; ++k) {
            out[k][lane] = at[lane * stride + k];
        }
    }
}

/* The same for four floats a frame. */
INLINE void gather4(const float *at, size_t stride, float (*out)[LANES])
{
#if defined(__x86_64__)
    int lane;
    for (lane = 0; lane + 4 <= LANES; lane += 4) {
        const float *from = at + (size_t)lane * stride;
        __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + stride), c = _mm_loadu_ps(from + 2 * stride),
               d = _mm_loadu_ps(from + 3 * stride);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(&out[0][lane], a);
        _mm_storeu_ps(&out[1][lane], b);
        _mm_storeu_ps(&out[2][lane], c);
        _mm_storeu_ps(&out[3][lane], d);
    }
    if (LANES >= 4) {
        return;
    }
#endif
    gather(at, stride, 4, out);
}

/* Arrays over lanes to three floats a frame. */
INLINE void scatter(float (*in)[LANES], float *at)
{
    int lane;
    for (lane = 0; lane < LANES; ++lane) {
        at[3 * lane] = in[0][lane];
        at[3 * lane + 1] = in[1][lane];
        at[3 * lane + 2] = in[2][lane];
    }
}

INLINE Vec vec_load(float (*lanes)[LANES])
{
    return vec(reg_load(lanes[0]), reg_load(lanes[1]), reg_load(lanes[2]));
}

/* What a solve reads of its frames. */
INLINE void gather_goal(const maxik_limb_take *take, Block *b)
{
    const float *goal = take->goal + b->at * take->goal_stride;
    if (take->swivel == IN_GOAL) {
        gather4(goal, take->goal_stride, b->goal);
        gather4(goal + 4, take->goal_stride, b->goal + 4);
    }
    gather4(goal + 8, take->goal_stride, b->goal + 8);
    if (take->swivel == VH_TARGET) {
        gather(take->vh_target + b->at * take->vh_target_stride, take->vh_target_stride, 3, b->vh_target);
    } else {
        gather(take->swivel_angle + b->at * take->swivel_angle_stride, take->swivel_angle_stride, 1, &b->swivel_angle);
    }
}

/* The wrist: the goal, moved into reach (spec 3.2). */
INLINE void wrist(const Chain *chain, Block *b)
{
    Vec g = vec_load(b->goal + 9);
    Reg goal_dist = flength(g), nearest = reg_abs(chain->Ldiff);
    Vec goal_unit = normalized(g, &b->doubt);
    RegMask beyond = goal_dist > chain->Lsum, inside = ~beyond & (goal_dist < nearest);
    b->wrist = vec_select(beyond | inside, scale(goal_unit, reg_select(beyond, chain->Lsum, nearest)), g);
}

/* The end-effector axis, and the triangle's angles (spec 3.2). */
INLINE void triangle(const Chain *chain, Block *b)
{
    Reg d = flength(b->wrist);
    b->ee = normalized(b->wrist, &b->doubt);
    b->theta = elbow_angle(chain->L1, chain->L2, d, &b->doubt);
    b->phi = shoulder_angle(chain->L1, chain->L2, d, &b->doubt);
}

/* The target normal t for a VH target (spec 3.2). */
INLINE void normal_to_vh_target(Block *b)
{
    Vec t = project_off(normalized(vec_load(b->vh_target), &b->doubt), b->ee);
    b->t = cross(b->ee, normalized(t, &b->doubt));
}

/* The target normal t by the swivel angle in the start joint (spec 3.2). */
INLINE void normal_in_start_joint(Block *b)
{
    b->t = apply_row_quat(b->p, make_row_quat(b->ee, reg_load(b->swivel_angle), &b->doubt));
}

/* The end-effector axis in the goal's frame (spec 3.2). */
INLINE void axis_in_goal(Block *b)
{
    Basis goal, inverse;
    goal.row[0] = vec_load(b->goal);
    goal.row[1] = vec_load(b->goal + 3);
    goal.row[2] = vec_load(b->goal + 6);
    inverse = basis_inverse(&goal);
    b->ee_in_goal = normalized(vector_transform(&inverse, b->ee), &b->doubt);
}

/* The target normal by the swivel angle, in the goal's frame (spec 3.2). */
INLINE void normal_in_goal(const Chain *chain, Block *b)
{
    Quats turn = make_row_quat(b->ee_in_goal, reg_load(b->swivel_angle), &b->doubt);
    b->t_in_goal = apply_row_quat(zero_map(b->ee_in_goal, chain->n0, &b->doubt), turn);
}

/* The target normal t from the goal's frame (spec 3.2). */
INLINE void normal_from_goal(Block *b)
{
    Basis goal;
    goal.row[0] = vec_load(b->goal);
    goal.row[1] = vec_load(b->goal + 3);
    goal.row[2] = vec_load(b->goal + 6);
    b->t = normalized(project_off(vector_transform(&goal, b->t_in_goal), b->ee), &b->doubt);
}

/* ee turned in the plane by phi (spec 3.2). */
INLINE void turn_in_plane(const Chain *chain, Block *b)
{
    Basis m1 = rot_angle_axis(b->p, F(b->phi - chain->phi0), &b->doubt);
    b->upper = vector_transform(&m1, b->ee);
}

/* The shoulder frame's rows 0 and 1: that and p turned about ee by the swivel scalar (spec 3.2). */
INLINE void turn_about_axis(Block *b)
{
    Basis m2 = rot_angle_axis(b->ee, b->swivel, &b->doubt);
    b->rx = vector_transform(&m2, b->upper);
    b->ry = vector_transform(&m2, b->p);
}

/* The angle from the initial to the goal direction of a one-joint chain, and its axis (spec 3.3). */
INLINE void turn_to_goal(const Chain *chain, Block *b)
{
    Vec ee = normalized(vec_load(b->goal + 9), &b->doubt);
    b->swivel = reg_acos_safe(F(DOT_LANES(chain->initial_ee_unit, ee)), &b->doubt);
    b->p = normalized(cross(chain->initial_ee_unit, ee), &b->doubt);
}

/* The rows that a one-joint chain ends with (spec 3.3). */
INLINE void one_joint_rows(const Chain *chain, Block *b)
{
    Basis m = rot_angle_axis(b->p, b->swivel, &b->doubt);
    b->rx = vector_transform(&m, chain->initial_ee_unit);
    b->ry = vector_transform(&m, chain->initial_row1);
}

/* R = Inverse(initialShoulderFrame) * F, pre-rotated by initXYZ (spec 3.2). */
INLINE void shoulder_rotation(const Chain *chain, Block *b)
{
    Basis frame, r;
    frame.row[0] = b->rx;
    frame.row[1] = b->ry;
    frame.row[2] = b->rz;
    r = basis_times(&chain->initial_frame_inverse, &frame);
    pre_rotate_zyx(&r, chain->root_x, chain->root_y, chain->root_z);
    b->shoulder = turned(&r);
}

/* E about the initial plane normal, pre-rotated by the initial values (spec 3.2). */
INLINE void elbow_rotation(const Chain *chain, Block *b)
{
    Basis e = rot_angle_axis(chain->init_plane_normal, F(b->theta - chain->theta0), &b->doubt);
    pre_rotate_zyx(&e, chain->link_x, chain->link_y, chain->link_z);
    b->elbow = turned(&e);
}

/* ---- the initialisation, for preferred poses that move (spec 3.1, 3.3) ---- */

INLINE Affine translation(Vec t)
{
    Affine m;
    m.basis = identity_basis();
    m.trans = t;
    return m;
}

/* [CORE] ik.link_matrix of the root link */
INLINE Affine root_link_matrix(const Chain *p, Vec root_extend)
{
    Affine extend = translation(root_extend), dof = translation(vec(splat(0.0f), splat(0.0f), splat(0.0f)));
    pre_rotate_zyx(&dof.basis, p->root_x, p->root_y, p->root_z);
    return affine_times(&extend, &dof);
}

/* [CORE] ik.dof_matrix of links 0 (z), 1 (y), 2 (x) */
INLINE Affine link_dof_matrix(const Chain *p, int link)
{
    Affine m = translation(vec(splat(0.0f), splat(0.0f), splat(0.0f)));
    if (link == 0) {
        turn_rows(&m.basis.row[0], &m.basis.row[1], p->link_z);
    } else if (link == 1) {
        turn_rows(&m.basis.row[2], &m.basis.row[0], p->link_y);
    } else {
        turn_rows(&m.basis.row[1], &m.basis.row[2], p->link_x);
    }
    return m;
}

/* ApplyLinkMatrix(M, true) of LinkOf(0), LinkOf(1), LinkOf(2) */
INLINE void apply_link_matrices(const Chain *p, Vec links_extend, Affine *m)
{
    Affine extend = translation(links_extend), link0 = link_dof_matrix(p, 0), link1 = link_dof_matrix(p, 1),
           link2 = link_dof_matrix(p, 2);
    link2 = affine_times(&extend, &link2);
    *m = affine_times(&link0, m);
    *m = affine_times(&link1, m);
    *m = affine_times(&link2, m);
}

INLINE void initial_frame(Chain *p, Vec ee_unit, Doubt *doubt)
{
    Basis frame;
    p->initial_ee_unit = ee_unit;
    p->initial_row1 = zero_map(ee_unit, p->n0, doubt);
    frame.row[0] = ee_unit;
    frame.row[1] = p->initial_row1;
    frame.row[2] = normalized(cross(ee_unit, p->initial_row1), doubt);
    p->initial_frame_inverse = basis_inverse(&frame);
}

/* One of the preferred pose's vectors at a block's frames. */
INLINE Vec pose_vec(const float *array, size_t stride, size_t at)
{
    float lanes[3][LANES];
    gather(array + at * stride, stride, 3, lanes);
    return vec_load(lanes);
}

#define LOAD_POSE(field) pose_vec(take->field, take->field##_stride, at)

static void prepare(const maxik_limb_take *take, size_t at, Chain *p, Doubt *doubt)
{
    Vec root_init = LOAD_POSE(root_init_xyz), root_extend = LOAD_POSE(root_extend), links_extend, zyx, elbow_pos, wrist_pos,
        elbow_unit_local, ee_unit_local;
    Affine root, elbow_tm, link, m;
    Reg d;
    p->n0 = LOAD_POSE(n0);
    p->a0 = LOAD_POSE(a0);
    p->root_x = turns_of(root_init.x, doubt);
    p->root_y = turns_of(root_init.y, doubt);
    p->root_z = turns_of(root_init.z, doubt);
    root = root_link_matrix(p, root_extend);
    if (take->link_count == 0) {
        initial_frame(p, normalized(root.trans, doubt), doubt);
        return;
    }
    links_extend = LOAD_POSE(links_extend);
    zyx = LOAD_POSE(links_init_zyx);
    p->link_z = turns_of(zyx.x, doubt);
    p->link_y = turns_of(zyx.y, doubt);
    p->link_x = turns_of(zyx.z, doubt);
    elbow_tm = link_dof_matrix(p, 2);
    link = link_dof_matrix(p, 1);
    elbow_tm = affine_times(&elbow_tm, &link);
    link = link_dof_matrix(p, 0);
    elbow_tm = affine_times(&elbow_tm, &link);
    elbow_tm = affine_times(&elbow_tm, &root);
    elbow_pos = elbow_tm.trans;
    m = root;
    apply_link_matrices(p, links_extend, &m);
    wrist_pos = m.trans;
    p->L1 = flength(elbow_pos);
    p->L2 = flength(subtract(wrist_pos, elbow_pos));
    p->Lsum = F(p->L1 + p->L2);
    p->Ldiff = F(p->L1 - p->L2);
    d = flength(wrist_pos);
    p->theta0 = elbow_angle(p->L1, p->L2, d, doubt);
    p->phi0 = shoulder_angle(p->L1, p->L2, d, doubt);
    initial_frame(p, normalized(wrist_pos, doubt), doubt);

    m = translation(root_extend);
    elbow_unit_local = normalized(m.trans, doubt);
    apply_link_matrices(p, links_extend, &m);
    ee_unit_local = normalized(m.trans, doubt);
    p->init_plane_normal = normalized(cross(ee_unit_local, elbow_unit_local), doubt);
}

INLINE Vec vec_same(const float v[3])
{
    return vec(splat(v[0]), splat(v[1]), splat(v[2]));
}

INLINE Turns turns_same(const float turn[2])
{
    Turns t;
    t.c = splat(turn[0]);
    t.s = splat(turn[1]);
    return t;
}

/* The same initialisation in all lanes. */
INLINE void broadcast(const LimbConstants *from, Chain *p)
{
    int row;
    p->n0 = vec_same(from->n0);
    p->a0 = vec_same(from->a0);
    p->L1 = splat(from->L1);
    p->L2 = splat(from->L2);
    p->Lsum = splat(from->Lsum);
    p->Ldiff = splat(from->Ldiff);
    p->theta0 = splat(from->theta0);
    p->phi0 = splat(from->phi0);
    p->initial_ee_unit = vec_same(from->initial_ee_unit);
    p->initial_row1 = vec_same(from->initial_row1);
    for (row = 0; row < 3; ++row) {
        p->initial_frame_inverse.row[row] = vec_same(from->initial_frame_inverse[row]);
    }
    p->init_plane_normal = vec_same(from->init_plane_normal);
    p->root_x = turns_same(from->root_turns[0]);
    p->root_y = turns_same(from->root_turns[1]);
    p->root_z = turns_same(from->root_turns[2]);
    p->link_x = turns_same(from->link_turns[0]);
    p->link_y = turns_same(from->link_turns[1]);
    p->link_z = turns_same(from->link_turns[2]);
}

/* ---- whole takes ---- */

#define BLOCKS 8 /* blocks on their way at once: they stay in the nearest cache */

/* The lanes in doubt, a bit each; one whose `number` is none is. */
INLINE unsigned doubt_bits(const Doubt *doubt, Reg number)
{
    unsigned bits = reg_bits(doubt->lock | (number != number));
    int h;
    for (h = 0; h < HALVES; ++h) {
        bits |= wide_bits(doubtful(doubt, h)) << (h * WIDE_LANES);
    }
    return bits;
}

/* rot_xyz (spec 3.2) */
INLINE void shoulder_angles(Block *b)
{
    Vec angles = to_euler(&b->shoulder, &b->doubt);
    reg_store(angles.x, b->rot_xyz[0]);
    reg_store(angles.y, b->rot_xyz[1]);
    reg_store(angles.z, b->rot_xyz[2]);
    b->number += angles.x + angles.y + angles.z;
}

/* The crosswise assignment to links 0, 1, 2 (spec 3.2). */
INLINE void elbow_angles(Block *b)
{
    Vec angles = to_euler(&b->elbow, &b->doubt);
    reg_store(angles.z, b->dof_zyx[0]);
    reg_store(angles.y, b->dof_zyx[1]);
    reg_store(angles.x, b->dof_zyx[2]);
    b->number += angles.x + angles.y + angles.z;
}

/* Solves some blocks, step by step. */
static void solve_blocks(const maxik_limb_take *take, Block *blocks, int count)
{
    int link_count = take->link_count, swivel = take->swivel;
    Block *b;
#define EACH_BLOCK(step)                         \
    for (b = blocks; b < blocks + count; ++b) {  \
        const Chain *chain = b->chain;           \
        (void)chain;                             \
        step;                                    \
    }
    EACH_BLOCK(gather_goal(take, b))
    if (link_count == 0) {
        EACH_BLOCK(turn_to_goal(chain, b))
        EACH_BLOCK(one_joint_rows(chain, b))
    } else {
        EACH_BLOCK(wrist(chain, b))
        EACH_BLOCK(triangle(chain, b))
        EACH_BLOCK(b->p = zero_map(b->ee, chain->n0, &b->doubt))
        if (swivel == VH_TARGET) {
            EACH_BLOCK(normal_to_vh_target(b))
        } else if (swivel == IN_GOAL) {
            EACH_BLOCK(axis_in_goal(b))
            EACH_BLOCK(normal_in_goal(chain, b))
            EACH_BLOCK(normal_from_goal(b))
        } else {
            EACH_BLOCK(normal_in_start_joint(b))
        }
        EACH_BLOCK(b->swivel = swivel_scalar(b->p, b->t, b->ee, &b->doubt))
        EACH_BLOCK(turn_in_plane(chain, b))
        EACH_BLOCK(turn_about_axis(b))
        EACH_BLOCK(elbow_rotation(chain, b))
        EACH_BLOCK(elbow_angles(b))
    }
    EACH_BLOCK(b->rz = normalized(cross(b->rx, b->ry), &b->doubt))
    EACH_BLOCK(shoulder_rotation(chain, b))
    EACH_BLOCK(shoulder_angles(b))
    EACH_BLOCK(scatter(b->rot_xyz, take->rot_xyz + 3 * b->at))
    if (link_count == 3) {
        EACH_BLOCK(scatter(b->dof_zyx, take->dof_zyx + 3 * b->at))
    }
#undef EACH_BLOCK
}

#define NAME_OF(name, width) MAXIK_EXPORT(name##_##width)
#define NAME(name, width) NAME_OF(name, width)

size_t NAME(limb_lanes, MAXIK_LANES)(const maxik_limb_take *take, const LimbConstants *constants, size_t first, size_t last,
                                     size_t *doubtful)
{
    Chain chains[BLOCKS];
    Block blocks[BLOCKS], *b;
    size_t next = first, count = 0;
    if (constants != NULL) {
        broadcast(constants, &chains[0]);
    }
    while (next < last) {
        int some, lane;
        size_t unsolved = next;
        for (some = 0; some < BLOCKS && next < last; ++some, next += LANES) {
            b = &blocks[some];
            no_doubt(&b->doubt);
            b->number = splat(0.0f);
            b->at = last - next < LANES ? last - LANES : next; /* the last lanes may solve frames anew */
            b->chain = &chains[constants == NULL ? some : 0];
            if (constants == NULL) {
                prepare(take, b->at, &chains[some], &b->doubt);
            }
        }
        solve_blocks(take, blocks, some);
        for (b = blocks; b < blocks + some; ++b) {
            unsigned bits = doubt_bits(&b->doubt, b->number);
            for (lane = 0; bits >> lane != 0; ++lane) {
                if ((bits >> lane & 1) != 0 && b->at + (size_t)lane >= unsolved) {
                    doubtful[count++] = b->at + (size_t)lane;
                }
            }
            unsolved = b->at + LANES;
        }
    }
    return count;
}

void NAME(lane_function, MAXIK_LANES)(int function, size_t n, const float *x, const float *y, float *out, unsigned char *doubts)
{
    size_t next, at;
    for (next = 0; next < n; next += LANES) {
        Reg a, s, c, result;
        Doubt doubt;
        unsigned bits;
        int lane;
        at = n - next < LANES ? n - LANES : next;
        a = reg_load(x + at);
        no_doubt(&doubt);
        if (function == LANE_ACOS_SAFE) {
            result = reg_acos_safe(a, &doubt);
        } else if (function == LANE_ATAN2) {
            result = reg_atan2(a, reg_load(y + at), &doubt);
        } else {
            reg_sincos(a, function == LANE_COS_HALF || function == LANE_NEG_SIN_HALF ? 0.5 : 1.0, &s, &c, &doubt);
            result = function == LANE_SIN ? s : function == LANE_NEG_SIN_HALF ? -s : c;
        }
        reg_store(result, out + at);
        bits = doubt_bits(&doubt, result);
        for (lane = 0; lane < LANES; ++lane) {
            doubts[at + (size_t)lane] = bits >> lane & 1;
        }
    }
}

#if defined(__clang__) && MAXIK_LANES > 128
#pragma clang attribute pop
#endif
