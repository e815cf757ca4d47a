/* The IK Limb solver with three links and the one-joint chain with none (spec 3).
 *
 * The work of a solve is split where the specification splits it: limb_prepare is 3.1 (and the initialisation of
 * 3.3), which depends on the preferred pose alone; limb_solve is 3.2 and 3.3. Solving many frames of one chain with
 * one prepared pose gives the same bits as preparing anew for each, since the initialisation has no other input.
 */
#ifndef MAXIK_LIMB_H
#define MAXIK_LIMB_H

#include "euler.h"
#include "quat.h"
#include "swivel.h"

enum { STATUS_SUCCESS = 0, STATUS_INVALID_ARGUMENT = 1, STATUS_INVALID_INITIAL_VALUE = 2 };

/* The preferred pose of a chain: nothing but floats, so that equal bytes are equal poses. */
typedef struct {
    Point3 root_init_xyz; /* radians */
    Point3 root_extend;   /* the next joint's position in the start joint's frame */
    Point3 links_init;    /* radians: x, y, z of the second joint (links 2, 1, 0) */
    Point3 links_extend;  /* the end joint's position in the second joint's frame */
    Point3 n0, a0;        /* plane normal and end-effector axis at the preferred pose, chain space */
} LimbPose;

/* What 3.1 and the initialisation of 3.3 leave behind for a solve. */
typedef struct {
    int link_count;
    Point3 n0, a0;
    float L1, L2, Lsum, Ldiff;
    float theta0, phi0;
    Point3 initial_ee_unit, initial_row1;
    Matrix3 initial_frame_inverse;
    Point3 init_plane_normal;
    Turn root_x, root_y, root_z;
    Turn link_x, link_y, link_z;
} LimbPrepared;

typedef struct {
    const float *goal; /* 12 floats, chain space; null: no HI goal */
    int swivel;        /* SWIVEL_... */
    float angle;       /* radians */
    Point3 vh_target;  /* chain space */
} LimbGoal;

typedef struct {
    float rot_xyz[3]; /* start joint */
    float dof_zyx[3]; /* links 0, 1, 2 */
} LimbAngles;

INLINE Point3 zero_map(Point3 a, Point3 n0, Point3 a0);
static void limb_initial_plane(int link_count, const LimbPose *pose, Point3 *n0, Point3 *a0);
static void limb_prepare(int link_count, const LimbPose *pose, LimbPrepared *out);
INLINE int limb_solve(const LimbPrepared *chain, const LimbGoal *goal, LimbAngles *out);

#endif
