/* What the kernel exports: whole takes and single items over plain float arrays. Names carry the environment. */
#ifndef MAXIK_BATCH_H
#define MAXIK_BATCH_H

#include "spline.h"

/* A limb chain over many frames; a stride is in floats from one frame to the next, 0 for the same in all frames. */
typedef struct {
    size_t frames;
    int link_count;
    int swivel;
    const float *root_init_xyz, *root_extend, *links_init_zyx, *links_extend, *n0, *a0;
    size_t root_init_xyz_stride, root_extend_stride, links_init_zyx_stride, links_extend_stride, n0_stride, a0_stride;
    const float *goal;      /* 12 a frame, or null */
    const float *angle;     /* 1 a frame */
    const float *vh_target; /* 3 a frame; read for SWIVEL_VH_TARGET only */
    size_t goal_stride, angle_stride, vh_target_stride;
    unsigned char *status; /* 1 a frame */
    float *rot_xyz;        /* 3 a frame */
    float *dof_zyx;        /* 3 a frame */
} maxik_limb_take;

/* One spline solve; the arrays are those of SplineChain and SplineResult. Matrices have 12 floats. */
typedef struct {
    int joints;
    const float *t;
    const char *axes;
    const float *init;
    int closed, segments;
    const float *curve;
    const float *object_tm, *parent_matrix, *twist_parent;
    float start_twist, end_twist;
    const float *n0, *a0, *zero_map;
    float *bone_lengths, *bone_axes, *co_axes, *u, *points, *euler, *frames, *directions;
    float twist_up[3];
    int prepared; /* set by a solve: bone_lengths, bone_axes, co_axes, twist_up hold for this chain */
    int march;    /* MARCH_... */
    int count;
    size_t samples;
} maxik_spline;

#endif
