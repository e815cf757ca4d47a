/* A limb chain in lanes: what solves need of it, the same in all lanes or of a preferred pose of each lane's own.
 *
 * A pose that stays is initialised once, by limb.c, and given to all lanes (broadcast). A pose that moves is initialised in
 * lanes (prepare), every expression that of limb.c (spec 3.1, 3.3).
 */
#ifndef MAXIK_LIMB_LANES_CHAIN_H
#define MAXIK_LIMB_LANES_CHAIN_H

#include "lane_algebra.h"
#include "limb_batch.h"

/* LimbPrepared in lanes, without a0: only zero maps that are in doubt need it. */
typedef struct {
    Vec n0;
    Reg L1, L2, Lsum, Ldiff;
    Reg theta0, phi0;
    Vec initial_ee_unit, initial_row1;
    Basis initial_frame_inverse;
    Vec init_plane_normal;
    Turns root_x, root_y, root_z;
    Turns link_x, link_y, link_z;
} Chain;

/* [CORE] ik.zero_map: carried-normal */
INLINE Vec zero_map(Vec a, Vec n0, Doubt *doubt)
{
    return normalized(subtract(n0, scale(a, F(DOT_LANES(n0, a)))), doubt);
}

/* The interior angle at the elbow (spec 3.1). */
INLINE Reg elbow_angle(Reg L1, Reg L2, Reg d, Doubt *doubt)
{
    Reg elbow_num = F(minus_product(plus_product(L1 * L1, L2, L2), d, d));
    return reg_acos_safe(F(elbow_num / (splat(2.0f) * L1 * L2)), doubt);
}

/* The angle at the shoulder between the end-effector axis and the upper bone (spec 3.1). */
INLINE Reg shoulder_angle(Reg L1, Reg L2, Reg d, Doubt *doubt)
{
    Reg shoulder_num = F(minus_product(plus_product(d * d, L1, L1), L2, L2));
    return reg_acos_safe(F(shoulder_num / (splat(2.0f) * d * L1)), doubt);
}

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

INLINE Vec vec_load(float (*lanes)[LANES])
{
    return vec(reg_load(lanes[0]), reg_load(lanes[1]), reg_load(lanes[2]));
}

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

#endif
