/* Solves one chain over and over, for a profiler to count in (benchmarks/instructions.py).
 *
 *     profile PATH FRAMES      PATH the number of a limb path; random goals, the swivel angle in the start joint
 */
#include "all.c"

#include <stdio.h>
#include <stdlib.h>

static unsigned long state = 1;

/* Uniform in (-1, 1). */
static float draw(void)
{
    state = (state * 69069UL + 12345UL) & 0xffffffffUL;
    return (float)((double)(state >> 8) / 8388608.0 - 1.0);
}

int main(int argc, char **argv)
{
    static const float pose[4][3] = {{0.1f, 0.2f, 0.3f}, {5.0f, 0.1f, 0.0f}, {0.9f, 0.0f, 0.0f}, {4.5f, 0.0f, 0.2f}};
    maxik_limb_take take;
    float n0[3], a0[3], *goal, *angle, *angles;
    size_t frames, i;
    memset(&take, 0, sizeof take);
    take.path = argc == 3 ? atoi(argv[1]) : -1;
    frames = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    goal = (float *)calloc(12 * frames + 1, sizeof(float));
    angle = (float *)calloc(frames + 1, sizeof(float));
    angles = (float *)calloc(6 * frames + 1, sizeof(float));
    take.status = (unsigned char *)calloc(frames + 1, 1);
    if (!MAXIK_EXPORT(has_path)(take.path) || goal == NULL || angle == NULL || angles == NULL || take.status == NULL) {
        return 2;
    }
    for (i = 0; i < frames; ++i) {
        goal[12 * i] = goal[12 * i + 4] = goal[12 * i + 8] = 1.0f;
        goal[12 * i + 9] = 6.0f * draw();
        goal[12 * i + 10] = 6.0f * draw();
        goal[12 * i + 11] = 6.0f * draw();
        angle[i] = 3.0f * draw();
    }
    MAXIK_EXPORT(initial_plane)(1, 3, pose[0], pose[1], pose[2], pose[3], n0, a0);
    take.last = frames;
    take.link_count = 3;
    take.root_init_xyz = pose[0];
    take.root_extend = pose[1];
    take.links_init_zyx = pose[2];
    take.links_extend = pose[3];
    take.n0 = n0;
    take.a0 = a0;
    take.goal = goal;
    take.goal_stride = 12;
    take.swivel_angle = angle;
    take.swivel_angle_stride = 1;
    take.rot_xyz = angles;
    take.dof_zyx = angles + 3 * frames;
    MAXIK_EXPORT(limb_solve_take)(&take);
    printf("%lu frames, %lu solved again\n", (unsigned long)frames, (unsigned long)take.redone);
    return 0;
}
