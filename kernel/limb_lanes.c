/* The limb solver in lanes: every lane a frame, every expression that of limb.c (spec 3).
 *
 * A lane has the scalar path's bits or is in doubt (lane_functions.h, lane_algebra.h): then its frame is solved again.
 */
#include "lanes.h" /* first: it chooses the instruction set */

#include "limb_batch.h"
#include "limb_lanes_chain.h"

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
 * frames before the next begins, so that a processor finds work in the next block while one waits. Steps that wait for
 * divisions and roots go together with what divides nothing.
 */

/* A block of LANES frames on its way through the steps. */
typedef struct {
    Doubt doubt;
    const Chain *chain;
    size_t at; /* its first frame */
    float goal[12][LANES], swivel_angle[LANES], vh_target[3][LANES];
    Turns half_swivel_angle;
    Basis from_goal, to_goal;
    Vec wrist, ee, p, t, ee_in_goal, t_in_goal;
    Reg theta, phi, swivel;
    Vec upper, rx, ry, rz;
    EulerEntries shoulder, elbow;
    float rot_xyz[3][LANES], dof_zyx[3][LANES];
    Reg angle_sum; /* NaN where an angle is NaN */
} Block;

/* gather for four floats a frame. */
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

/* What a solve reads of its frames. */
INLINE void gather_goal(const maxik_limb_take *take, Block *b)
{
    const float *goal = take->goal + b->at * take->goal_stride;
    if (take->swivel == SWIVEL_IN_GOAL) {
        gather4(goal, take->goal_stride, b->goal);
        gather4(goal + 4, take->goal_stride, b->goal + 4);
    }
    gather4(goal + 8, take->goal_stride, b->goal + 8);
    if (take->swivel == SWIVEL_VH_TARGET) {
        gather(take->vh_target + b->at * take->vh_target_stride, take->vh_target_stride, 3, b->vh_target);
    } else {
        gather(take->swivel_angle + b->at * take->swivel_angle_stride, take->swivel_angle_stride, 1, &b->swivel_angle);
    }
}

/* What needs the goal and the swivel angle alone. */
INLINE void swivel_turns(int swivel, Block *b)
{
    if (swivel != SWIVEL_VH_TARGET) {
        b->half_swivel_angle = half_turns_of(reg_load(b->swivel_angle), &b->doubt);
    }
    if (swivel == SWIVEL_IN_GOAL) {
        b->from_goal.row[0] = vec_load(b->goal);
        b->from_goal.row[1] = vec_load(b->goal + 3);
        b->from_goal.row[2] = vec_load(b->goal + 6);
        b->to_goal = basis_inverse(&b->from_goal);
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
    b->t = apply_row_quat(b->p, make_row_quat(b->ee, b->half_swivel_angle));
}

/* The end-effector axis in the goal's frame (spec 3.2). */
INLINE void axis_in_goal(Block *b)
{
    b->ee_in_goal = normalized(vector_transform(&b->to_goal, b->ee), &b->doubt);
}

/* The target normal by the swivel angle, in the goal's frame (spec 3.2). */
INLINE void normal_in_goal(const Chain *chain, Block *b)
{
    Quats turn = make_row_quat(b->ee_in_goal, b->half_swivel_angle);
    b->t_in_goal = apply_row_quat(zero_map(b->ee_in_goal, chain->n0, &b->doubt), turn);
}

/* The target normal t from the goal's frame (spec 3.2). */
INLINE void normal_from_goal(Block *b)
{
    b->t = normalized(project_off(vector_transform(&b->from_goal, b->t_in_goal), b->ee), &b->doubt);
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
    b->shoulder = euler_entries(&r);
}

/* E about the initial plane normal, pre-rotated by the initial values (spec 3.2). */
INLINE void elbow_rotation(const Chain *chain, Block *b)
{
    Basis e = rot_angle_axis(chain->init_plane_normal, F(b->theta - chain->theta0), &b->doubt);
    pre_rotate_zyx(&e, chain->link_x, chain->link_y, chain->link_z);
    b->elbow = euler_entries(&e);
}

/* ---- whole takes ---- */

#define BLOCKS 8 /* blocks on their way at once: they stay in the nearest cache */

/* The lanes in doubt, a bit each; a lane with an angle that is NaN is one. */
INLINE unsigned doubt_bits(const Doubt *doubt, Reg angles)
{
    unsigned bits = reg_bits(doubt->lock | (angles != angles));
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
    b->angle_sum += angles.x + angles.y + angles.z;
}

/* The crosswise assignment to links 0, 1, 2 (spec 3.2). */
INLINE void elbow_angles(Block *b)
{
    Vec angles = to_euler(&b->elbow, &b->doubt);
    reg_store(angles.z, b->dof_zyx[0]);
    reg_store(angles.y, b->dof_zyx[1]);
    reg_store(angles.x, b->dof_zyx[2]);
    b->angle_sum += angles.x + angles.y + angles.z;
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
        EACH_BLOCK(wrist(chain, b); swivel_turns(swivel, b))
        /* the elbow is that of the block before, whose triangle is ready */
        EACH_BLOCK(triangle(chain, b); if (b > blocks) elbow_rotation((b - 1)->chain, b - 1))
        elbow_rotation((b - 1)->chain, b - 1);
        EACH_BLOCK(elbow_angles(b))
        EACH_BLOCK(b->p = zero_map(b->ee, chain->n0, &b->doubt))
        if (swivel == SWIVEL_VH_TARGET) {
            EACH_BLOCK(normal_to_vh_target(b))
        } else if (swivel == SWIVEL_IN_GOAL) {
            EACH_BLOCK(axis_in_goal(b))
            EACH_BLOCK(normal_in_goal(chain, b))
            EACH_BLOCK(normal_from_goal(b))
        } else {
            EACH_BLOCK(normal_in_start_joint(b))
        }
        EACH_BLOCK(b->swivel = swivel_scalar(b->p, b->t, b->ee, &b->doubt))
        EACH_BLOCK(turn_in_plane(chain, b))
        EACH_BLOCK(turn_about_axis(b))
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
            b->angle_sum = splat(0.0f);
            b->at = last - next < LANES ? last - LANES : next; /* the last block may overlap the one before */
            b->chain = &chains[constants == NULL ? some : 0];
            if (constants == NULL) {
                prepare(take, b->at, &chains[some], &b->doubt);
            }
        }
        solve_blocks(take, blocks, some);
        for (b = blocks; b < blocks + some; ++b) {
            unsigned bits = doubt_bits(&b->doubt, b->angle_sum);
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

void NAME(lane_function, MAXIK_LANES)(int function, size_t n, const float *x, const float *y, float *out,
                                      unsigned char *doubts)
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
