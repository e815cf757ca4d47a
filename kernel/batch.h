/* What the kernel exports: whole takes and single items over plain float arrays. Names carry the environment. */
#ifndef MAXIK_BATCH_H
#define MAXIK_BATCH_H

#include "spline.h"

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
