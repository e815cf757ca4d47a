/* The limb solver, literally (spec 3; core-profile.md, IK system and readings 1-6). */
#include "limb.h"

/* [CORE] ik.zero_map: carried-normal (spec 2.5, DefaultZeroMap of the HI goal) */
INLINE Point3 zero_map(Point3 a, Point3 n0, Point3 a0)
{
    float d = F(DOT(n0, a));
    Point3 w = point3_subtract(n0, point3_scale(a, d));
    float length = length_unify(&w);
    if (length == 0.0f) {
        return DOT(n0, a) > 0.0f ? point3(-a0.x, -a0.y, -a0.z) : a0;
    }
    return w;
}

/* [CORE] ik.dof_matrix of the root link: identity, PreRotateZ, PreRotateY, PreRotateX of rotXYZ. */
static Matrix3 root_dof_matrix(const LimbPrepared *p)
{
    Matrix3 m = matrix3_identity();
    matrix3_pre_rotate_z(&m, p->root_z);
    matrix3_pre_rotate_y(&m, p->root_y);
    matrix3_pre_rotate_x(&m, p->root_x);
    return m;
}

/* [CORE] ik.link_matrix of the root link: LinkMatrix(true) = rigidExtend * DofMatrix. */
static Matrix3 root_link_matrix(const LimbPrepared *p, const LimbPose *pose)
{
    Matrix3 extend = matrix3_translation(pose->root_extend);
    Matrix3 dof = root_dof_matrix(p);
    return matrix3_multiply(&extend, &dof);
}

/* [CORE] ik.dof_matrix of links 0 (z), 1 (y), 2 (x): the one PreRotate of the link's axis over identity. */
static Matrix3 link_dof_matrix(const LimbPrepared *p, int link)
{
    Matrix3 m = matrix3_identity();
    if (link == 0) {
        matrix3_pre_rotate_z(&m, p->link_z);
    } else if (link == 1) {
        matrix3_pre_rotate_y(&m, p->link_y);
    } else {
        matrix3_pre_rotate_x(&m, p->link_x);
    }
    return m;
}

/* [CORE] ik.link_matrix, LinkMatrix(true): links 0 and 1 store no rigid extension, link 2 has the end joint's position. */
static Matrix3 link_matrix(const LimbPrepared *p, const LimbPose *pose, int link)
{
    Matrix3 dof = link_dof_matrix(p, link);
    if (link == 2) {
        Matrix3 extend = matrix3_translation(pose->links_extend);
        return matrix3_multiply(&extend, &dof);
    }
    return dof;
}

/* LinkOf(0), LinkOf(1), LinkOf(2): ApplyLinkMatrix(M, true), M = LinkMatrix(true) * M (spec 3.1) */
static void apply_link_matrices(const LimbPrepared *p, const LimbPose *pose, Matrix3 *m)
{
    int link;
    for (link = 0; link < 3; ++link) {
        Matrix3 l = link_matrix(p, pose, link);
        *m = matrix3_multiply(&l, m);
    }
}

/* rotXYZ = initXYZ, dofValue = initValue (spec 3.1), as the cosines and sines that every later pre-rotation uses. */
static void initial_turns(const LimbPose *pose, LimbPrepared *p)
{
    p->root_x = turn_of(pose->root_init_xyz.x);
    p->root_y = turn_of(pose->root_init_xyz.y);
    p->root_z = turn_of(pose->root_init_xyz.z);
    p->link_x = turn_of(pose->links_init.x);
    p->link_y = turn_of(pose->links_init.y);
    p->link_z = turn_of(pose->links_init.z);
}

/* elbowPos and wristPos in chain space at the preferred pose (spec 3.1). */
static void initial_positions(const LimbPrepared *p, const LimbPose *pose, Point3 *elbow, Point3 *wrist)
{
    Matrix3 root = root_link_matrix(p, pose);
    Matrix3 link2 = link_dof_matrix(p, 2), link1 = link_matrix(p, pose, 1), link0 = link_matrix(p, pose, 0);
    Matrix3 elbow_tm = matrix3_multiply(&link2, &link1);
    Matrix3 m = root;
    elbow_tm = matrix3_multiply(&elbow_tm, &link0);
    elbow_tm = matrix3_multiply(&elbow_tm, &root);
    *elbow = matrix3_row(&elbow_tm, 3);
    apply_link_matrices(p, pose, &m);
    *wrist = matrix3_row(&m, 3);
}

/* [CORE] ik.initial_plane: preferred-pose. A two-joint chain takes its end for both elbow and wrist. */
static void limb_initial_plane(int link_count, const LimbPose *pose, Point3 *n0, Point3 *a0)
{
    LimbPrepared p;
    Point3 elbow, wrist;
    initial_turns(pose, &p);
    if (link_count == 3) {
        initial_positions(&p, pose, &elbow, &wrist);
    } else {
        Matrix3 root = root_link_matrix(&p, pose);
        elbow = wrist = matrix3_row(&root, 3);
    }
    *a0 = normalize(wrist);
    *n0 = normalize(cross(*a0, normalize(elbow)));
}

/* The interior angle at the elbow, law of cosines in the exact expression ordering of spec 3.1. */
INLINE float elbow_angle(float L1, float L2, float d)
{
    float elbow_num = F(R(L1) * L1 + R(L2) * L2 - R(d) * d);
    float cos_elbow = F(R(elbow_num) / (R(2.0f) * L1 * L2));
    return F(acos_safe(cos_elbow));
}

/* The angle at the shoulder between the end-effector axis and the upper bone (spec 3.1). */
INLINE float shoulder_angle(float L1, float L2, float d)
{
    float shoulder_num = F(R(d) * d + R(L1) * L1 - R(L2) * L2);
    float cos_shoulder = F(R(shoulder_num) / (R(2.0f) * d * L1));
    return F(acos_safe(cos_shoulder));
}

/* Initial shoulder frame (spec 3.1): row 1 from the zero map as it is, not re-orthogonalised. */
static void initial_frame(LimbPrepared *p, Point3 ee_unit)
{
    Matrix3 frame;
    p->initial_ee_unit = ee_unit;
    p->initial_row1 = zero_map(ee_unit, p->n0, p->a0);
    frame = matrix3_rows(ee_unit, p->initial_row1, normalize(cross(ee_unit, p->initial_row1)), point3(0.0f, 0.0f, 0.0f));
    p->initial_frame_inverse = matrix3_inverse(&frame);
}

/* Initialisation: spec 3.1 for three links, spec 3.3 for none. */
static void limb_prepare(int link_count, const LimbPose *pose, LimbPrepared *p)
{
    Point3 elbow_pos, wrist_pos, elbow_unit_local, ee_unit_local;
    Matrix3 m;
    float d;
    p->link_count = link_count;
    p->n0 = pose->n0;
    p->a0 = pose->a0;
    initial_turns(pose, p);
    if (link_count == 0) {
        m = root_link_matrix(p, pose);
        initial_frame(p, normalize(matrix3_row(&m, 3)));
        return;
    }
    if (link_count != 3) {
        return;
    }
    initial_positions(p, pose, &elbow_pos, &wrist_pos);
    p->L1 = point3_flength(elbow_pos);
    p->L2 = point3_flength(point3_subtract(wrist_pos, elbow_pos));
    p->Lsum = F(R(p->L1) + p->L2);
    p->Ldiff = F(R(p->L1) - p->L2);
    d = point3_flength(wrist_pos);
    p->theta0 = elbow_angle(p->L1, p->L2, d);
    p->phi0 = shoulder_angle(p->L1, p->L2, d);
    initial_frame(p, normalize(wrist_pos));

    /* Shoulder-local quantities: M2 = rootLink.LinkMatrix(false), the rigid extension alone. */
    m = matrix3_translation(pose->root_extend);
    elbow_unit_local = normalize(matrix3_row(&m, 3));
    apply_link_matrices(p, pose, &m);
    ee_unit_local = normalize(matrix3_row(&m, 3));
    p->init_plane_normal = normalize(cross(ee_unit_local, elbow_unit_local));
}

/* t -= (ee % t) * ee (spec 3.2): the dot product is rounded as operator*'s float parameter (reading 1). */
INLINE Point3 project_off(Point3 t, Point3 ee)
{
    return point3_subtract(t, point3_scale(ee, F(DOT(ee, t))));
}

/* The target normal t of the three swivel paths (spec 3.2); p is the zero map at ee. */
INLINE Point3 target_normal(const LimbPrepared *chain, const LimbGoal *goal, const Matrix3 *goal_tm, Point3 ee, Point3 p)
{
    Point3 t, ee_in_goal;
    Matrix3 inverse;
    if (goal->swivel == SWIVEL_VH_TARGET) {
        t = project_off(normalize(goal->vh_target), ee);
        return length_unify(&t) == 0.0f ? p : cross(ee, t);
    }
    if (goal->swivel == SWIVEL_IN_START_JOINT) {
        return apply_row_quat(p, make_row_quat(ee, goal->angle));
    }
    t = point3(0.0f, 0.0f, 0.0f);
    inverse = matrix3_inverse(goal_tm);
    ee_in_goal = vector_transform(&inverse, ee);
    if (length_unify(&ee_in_goal) != 0.0f) {
        Point3 t_in_goal =
            apply_row_quat(zero_map(ee_in_goal, chain->n0, chain->a0), make_row_quat(ee_in_goal, goal->angle));
        t = project_off(vector_transform(goal_tm, t_in_goal), ee);
    }
    return length_unify(&t) == 0.0f ? p : t;
}

/* The swivel scalar (spec 3.2): the angle from p to t about ee, in [0, 2 pi]. */
INLINE float swivel_scalar(Point3 p, Point3 t, Point3 ee)
{
    float swivel = F(DOT(p, t));
    Point3 c = cross(p, t);
    swivel = F(acos_safe(swivel));
    if (DOT(c, ee) < 0.0f) {
        swivel = F(2.0 * MAXIK_PI - (double)swivel);
    }
    return swivel;
}

/* R = Inverse(initialShoulderFrame) * F, pre-rotated by initXYZ, to Euler angles (spec 3.2). */
INLINE void shoulder_rotation(const LimbPrepared *chain, Point3 rx, Point3 ry, float rot_xyz[3])
{
    Matrix3 frame = matrix3_identity(), r;
    matrix3_set_row(&frame, 0, rx);
    matrix3_set_row(&frame, 1, ry);
    matrix3_set_row(&frame, 2, normalize(cross(rx, ry)));
    matrix3_no_trans(&frame);
    r = matrix3_multiply(&chain->initial_frame_inverse, &frame);
    matrix3_pre_rotate_z(&r, chain->root_z);
    matrix3_pre_rotate_y(&r, chain->root_y);
    matrix3_pre_rotate_x(&r, chain->root_x);
    matrix_to_euler(&r, rot_xyz);
}

/* E about the initial plane normal, pre-rotated by the initial values; the crosswise assignment (spec 3.2). */
INLINE void elbow_update(const LimbPrepared *chain, float theta, float dof_zyx[3])
{
    float elbow_eul[3];
    Matrix3 e = rot_angle_axis(chain->init_plane_normal, F(R(theta) - chain->theta0));
    matrix3_pre_rotate_z(&e, chain->link_z);
    matrix3_pre_rotate_y(&e, chain->link_y);
    matrix3_pre_rotate_x(&e, chain->link_x);
    matrix_to_euler(&e, elbow_eul);
    dof_zyx[0] = elbow_eul[2];
    dof_zyx[1] = elbow_eul[1];
    dof_zyx[2] = elbow_eul[0];
}

/* Solve with LinkCount 3 (spec 3.2) */
INLINE void solve_limb(const LimbPrepared *chain, const LimbGoal *goal, const Matrix3 *goal_tm, LimbAngles *out)
{
    Point3 g = matrix3_row(goal_tm, 3);
    float goal_dist = point3_flength(g);
    Point3 goal_unit = normalize(g), wrist, ee, p, t;
    float d, theta, phi, swivel;
    Matrix3 m1, m2;
    if (goal_dist > chain->Lsum) {
        wrist = point3_scale(goal_unit, chain->Lsum);
    } else if (goal_dist < F(fabs((double)chain->Ldiff))) {
        wrist = point3_scale(goal_unit, F(fabs((double)chain->Ldiff)));
    } else {
        wrist = g;
    }
    ee = normalize(wrist);
    d = point3_flength(wrist);
    theta = elbow_angle(chain->L1, chain->L2, d);
    phi = shoulder_angle(chain->L1, chain->L2, d);
    p = zero_map(ee, chain->n0, chain->a0);
    t = target_normal(chain, goal, goal_tm, ee, p);
    swivel = swivel_scalar(p, t, ee);

    m1 = rot_angle_axis(p, F(R(phi) - chain->phi0));
    m2 = rot_angle_axis(ee, swivel);
    shoulder_rotation(chain, vector_transform(&m2, vector_transform(&m1, ee)), vector_transform(&m2, p), out->rot_xyz);
    elbow_update(chain, theta, out->dof_zyx);
}

/* Solve with LinkCount 0 (spec 3.3): the turn from the initial to the goal direction. */
INLINE void solve_one_joint(const LimbPrepared *chain, const Matrix3 *goal_tm, LimbAngles *out)
{
    Point3 ee = normalize(matrix3_row(goal_tm, 3));
    float ang = F(acos_safe(F(DOT(chain->initial_ee_unit, ee))));
    Point3 axis = normalize(cross(chain->initial_ee_unit, ee));
    Matrix3 m = rot_angle_axis(axis, ang);
    shoulder_rotation(chain, vector_transform(&m, chain->initial_ee_unit), vector_transform(&m, chain->initial_row1),
                      out->rot_xyz);
}

/* Solve (spec 3): the link count is checked before the goal (reading 6). */
INLINE int limb_solve(const LimbPrepared *chain, const LimbGoal *goal, LimbAngles *out)
{
    Matrix3 goal_tm;
    if (chain->link_count != 3 && chain->link_count != 0) {
        return STATUS_INVALID_INITIAL_VALUE;
    }
    if (goal->goal == NULL) {
        return STATUS_INVALID_ARGUMENT;
    }
    memcpy(goal_tm.m, goal->goal, sizeof goal_tm.m);
    matrix3_validate_flags(&goal_tm);
    if (chain->link_count == 3) {
        solve_limb(chain, goal, &goal_tm, out);
    } else {
        solve_one_joint(chain, &goal_tm, out);
    }
    return STATUS_SUCCESS;
}
