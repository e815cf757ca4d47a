/* The Spline IK solver, literally (spec 4; core-profile.md, spline items and readings 7-10).
 *
 * One solve runs through four stages, each a function: the per-bone tables (4.1), the first point (4.2), the march
 * (4.3), frames and twist (4.4). The caller gives all memory.
 */
#ifndef MAXIK_SPLINE_H
#define MAXIK_SPLINE_H

#include "limb.h"

/* The curve: segments of four points (knot, its out handle, next knot's in handle, next knot), object space. */
typedef struct {
    int closed;
    int segments;
    const float *points; /* 12 a segment */
} SplineCurve;

/* What is asked. */
typedef struct {
    int joints;
    const float *t;    /* 3 a joint: the next joint's position in its frame */
    const char *axes;  /* 3 letters a joint: x y z _ */
    const float *init; /* 3 a joint: x, y, z, radians */
    SplineCurve curve;
    Matrix3 object_tm, parent_matrix, twist_parent;
    float start_twist, end_twist;
    Point3 n0, a0;
    const float *zero_map; /* what DefaultZeroMap returns, when given; else null */
} SplineChain;

/* What is found: 1 row a joint, `u` and `points` 1 row more. */
typedef struct {
    float *bone_lengths, *bone_axes, *co_axes;
    Point3 twist_up;
    int prepared; /* the four above are those of this chain at its preferred pose: 4.1 need not be done again */
    float *u, *points;
    int count;
    float *euler, *frames, *directions;
    size_t samples;
} SplineResult;

/* One segment in chain space, for the certified leap (spline_leap.h). */
typedef struct {
    int index;  /* -1 for none */
    int usable; /* whether its numbers are finite */
    double q[4][3];
    double bound;    /* on a sample's rounding errors, as far as they do not depend on the distance */
    double farthest; /* no point of the segment is farther from the origin */
} LeapSegment;

#define LEAP_SEGMENTS_KEPT 8

/* State between the stages. */
typedef struct {
    const SplineChain *chain;
    SplineResult *out;
    Matrix3 to_joint;
    Point3 twist_up;
    float eps1, eps2, eps3;
    double to_joint_norm; /* no vector grows by more through to_joint's 3x3 part */
    LeapSegment segments[LEAP_SEGMENTS_KEPT]; /* the leap's segments, each at its index modulo their number */
    int pause, patience; /* steps until the next certificate is tried, and after the next failure */
    double last_u;       /* the leap's last sample from the same start point, -1 for none, */
    float last_dist;     /* its distance, */
    double rate;         /* and how fast the distance changed with u, -1 when not known */
} SplineSolve;

enum { MARCH_LEAP = 0, MARCH_LITERAL = 1 };

INLINE Point3 spline_position(const SplineCurve *curve, float u);
static int spline_solve(const SplineChain *chain, int march, SplineResult *out);

#endif
