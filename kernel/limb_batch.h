/* Takes of limb chains: many frames of one chain in one call, literally or in lanes, with the same bits (spec 3).
 *
 * The literal path solves frame by frame and initialises for each anew, as the specification writes it. The scalar path
 * keeps the initialisation while the preferred pose's bytes stay the same: its result depends on nothing else. The lane
 * paths (limb_lanes.c) solve as many frames at once as a vector holds; frames whose lanes are in doubt are solved again by the
 * scalar path, and so are takes too short for lanes.
 */
#ifndef MAXIK_LIMB_BATCH_H
#define MAXIK_LIMB_BATCH_H

#include "env.h"
#include "swivel.h"

/* Frames first..last-1 of a limb chain; a stride is in floats from one frame to the next, 0 for the same in all frames. */
typedef struct {
    size_t first, last;
    int link_count;
    int swivel; /* SWIVEL_... */
    const float *root_init_xyz, *root_extend, *links_init_zyx, *links_extend, *n0, *a0;
    size_t root_init_xyz_stride, root_extend_stride, links_init_zyx_stride, links_extend_stride, n0_stride, a0_stride;
    const float *goal;         /* 12 a frame, or null */
    const float *swivel_angle; /* 1 a frame */
    const float *vh_target;    /* 3 a frame; read for SWIVEL_VH_TARGET only */
    size_t goal_stride, swivel_angle_stride, vh_target_stride;
    int path;              /* PATH_... */
    unsigned char *status; /* 1 a frame */
    float *rot_xyz;        /* 3 a frame */
    float *dof_zyx;        /* 3 a frame */
    size_t redone;         /* set by a solve: how many frames were in doubt and solved again */
    void *kept;            /* limb_kept_size() bytes, at first zero, that keep the initialisation for later; or null */
} maxik_limb_take;

/* How a take is solved. Lanes of 128 bits are SSE2 or NEON, of 256 bits AVX2 with FMA, of 512 bits AVX-512 F and DQ. */
enum { PATH_LITERAL, PATH_SCALAR, PATH_LANES_128, PATH_LANES_256, PATH_LANES_512, PATHS };

/* What the initialisation leaves behind, as the floats that lanes begin with. */
typedef struct {
    float n0[3];
    float L1, L2, Lsum, Ldiff;
    float theta0, phi0;
    float initial_ee_unit[3], initial_row1[3];
    float initial_frame_inverse[3][3];
    float init_plane_normal[3];
    float root_turns[3][2], link_turns[3][2]; /* x, y, z: cosine and sine */
} LimbConstants;

/* Solves frames first..last-1, MOST_LANES or more, in lanes; without constants every lane has an initialisation of its own.
 * Returns how many frames are in doubt and lists them in `doubtful`. */
#define MOST_LANES 16
typedef size_t LaneSolver(const maxik_limb_take *take, const LimbConstants *constants, size_t first, size_t last,
                          size_t *doubtful);

/* One of lane_functions.h over n floats x (atan2(x, y)), MOST_LANES or more: LANE_..., results rounded to float, whether in
 * doubt. */
typedef void LaneFunction(int function, size_t n, const float *x, const float *y, float *out, unsigned char *doubt);

enum { LANE_ACOS_SAFE, LANE_COS_HALF, LANE_NEG_SIN_HALF, LANE_SIN, LANE_COS, LANE_ATAN2, LANE_FUNCTIONS };

/* Where lanes are compiled: GCC (9 on) or clang, for 64-bit x86 and 64-bit ARM. */
#if (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)) && defined(__x86_64__)
#define MAXIK_WIDEST_LANES 512
#elif (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)) && defined(__aarch64__)
#define MAXIK_WIDEST_LANES 128
#else
#define MAXIK_WIDEST_LANES 0
#endif

#if MAXIK_WIDEST_LANES >= 128
LaneSolver MAXIK_EXPORT(limb_lanes_128);
LaneFunction MAXIK_EXPORT(lane_function_128);
#endif
#if MAXIK_WIDEST_LANES >= 512
LaneSolver MAXIK_EXPORT(limb_lanes_256), MAXIK_EXPORT(limb_lanes_512);
LaneFunction MAXIK_EXPORT(lane_function_256), MAXIK_EXPORT(lane_function_512);
#endif

#endif
