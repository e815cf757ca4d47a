/* Takes of limb chains: the paths, and what each leaves to the next (limb_batch.h). */
#include "limb_batch.h"

#include "limb.h"

/* Frames that are solved before those in doubt are solved again. */
#define FRAMES_AT_ONCE 512

INLINE LimbPose pose_at(const maxik_limb_take *take, size_t frame)
{
    const float *zyx = take->links_init_zyx + frame * take->links_init_zyx_stride;
    LimbPose pose;
    pose.root_init_xyz = load3(take->root_init_xyz + frame * take->root_init_xyz_stride);
    pose.root_extend = load3(take->root_extend + frame * take->root_extend_stride);
    pose.links_init = point3(zyx[2], zyx[1], zyx[0]);
    pose.links_extend = load3(take->links_extend + frame * take->links_extend_stride);
    pose.n0 = load3(take->n0 + frame * take->n0_stride);
    pose.a0 = load3(take->a0 + frame * take->a0_stride);
    return pose;
}

/* A pose and the initialisation that follows from it. */
typedef struct {
    int known;
    LimbPose pose;
    LimbPrepared chain;
} KeptChain;

size_t MAXIK_EXPORT(limb_kept_size)(void)
{
    return sizeof(KeptChain);
}

/* The initialisation at a frame, made only when the pose's bytes are others than those it was made from. */
static const LimbPrepared *chain_at(const maxik_limb_take *take, size_t frame, KeptChain *kept)
{
    LimbPose pose = pose_at(take, frame);
    if (!kept->known || memcmp(&pose, &kept->pose, sizeof pose) != 0) {
        limb_prepare(take->link_count, &pose, &kept->chain);
        kept->pose = pose;
        kept->known = 1;
    }
    return &kept->chain;
}

static void solve_frame(const maxik_limb_take *take, size_t frame, const LimbPrepared *chain)
{
    LimbGoal goal;
    LimbAngles angles;
    int status;
    goal.goal = take->goal == NULL ? NULL : take->goal + frame * take->goal_stride;
    goal.swivel = take->swivel;
    goal.angle = take->swivel_angle[frame * take->swivel_angle_stride];
    goal.vh_target = point3(0.0f, 0.0f, 0.0f);
    if (take->swivel == SWIVEL_VH_TARGET) {
        goal.vh_target = load3(take->vh_target + frame * take->vh_target_stride);
    }
    status = limb_solve(chain, &goal, &angles);
    take->status[frame] = (unsigned char)status;
    if (status == STATUS_SUCCESS) {
        memcpy(take->rot_xyz + 3 * frame, angles.rot_xyz, sizeof angles.rot_xyz);
        if (take->link_count == 3) {
            memcpy(take->dof_zyx + 3 * frame, angles.dof_zyx, sizeof angles.dof_zyx);
        }
    }
}

/* Every frame with an initialisation of its own (spec 3). */
static void solve_literally(const maxik_limb_take *take)
{
    size_t frame;
    for (frame = take->first; frame < take->last; ++frame) {
        KeptChain anew;
        anew.known = 0;
        solve_frame(take, frame, chain_at(take, frame, &anew));
    }
}

static void solve_by_scalars(const maxik_limb_take *take, KeptChain *kept)
{
    size_t frame;
    for (frame = take->first; frame < take->last; ++frame) {
        solve_frame(take, frame, chain_at(take, frame, kept));
    }
}

#if defined(MAXIK_WITH_LANES) && MAXIK_WIDEST_LANES >= 128

static void store_turn(float out[2], Turn t)
{
    out[0] = t.c;
    out[1] = t.s;
}

static LimbConstants constants_of(const LimbPrepared *chain)
{
    LimbConstants c;
    store3(c.n0, chain->n0);
    c.L1 = chain->L1;
    c.L2 = chain->L2;
    c.Lsum = chain->Lsum;
    c.Ldiff = chain->Ldiff;
    c.theta0 = chain->theta0;
    c.phi0 = chain->phi0;
    store3(c.initial_ee_unit, chain->initial_ee_unit);
    store3(c.initial_row1, chain->initial_row1);
    memcpy(c.initial_frame_inverse, chain->initial_frame_inverse.m, sizeof c.initial_frame_inverse);
    store3(c.init_plane_normal, chain->init_plane_normal);
    store_turn(c.root_turns[0], chain->root_x);
    store_turn(c.root_turns[1], chain->root_y);
    store_turn(c.root_turns[2], chain->root_z);
    store_turn(c.link_turns[0], chain->link_x);
    store_turn(c.link_turns[1], chain->link_y);
    store_turn(c.link_turns[2], chain->link_z);
    return c;
}

static int same_in_all_frames(const float *array, size_t stride, size_t first, size_t last)
{
    size_t frame;
    if (stride == 0) {
        return 1;
    }
    for (frame = first + 1; frame < last; ++frame) {
        if (memcmp(array + first * stride, array + frame * stride, 3 * sizeof *array) != 0) {
            return 0;
        }
    }
    return 1;
}

static int pose_is_constant(const maxik_limb_take *take, size_t first, size_t last)
{
    return same_in_all_frames(take->root_init_xyz, take->root_init_xyz_stride, first, last)
        && same_in_all_frames(take->root_extend, take->root_extend_stride, first, last)
        && same_in_all_frames(take->links_init_zyx, take->links_init_zyx_stride, first, last)
        && same_in_all_frames(take->links_extend, take->links_extend_stride, first, last)
        && same_in_all_frames(take->n0, take->n0_stride, first, last)
        && same_in_all_frames(take->a0, take->a0_stride, first, last);
}

static void solve_in_lanes(maxik_limb_take *take, LaneSolver *solve, KeptChain *kept)
{
    size_t doubtful[FRAMES_AT_ONCE + MOST_LANES], first, last, count, i;
    LimbConstants constants;
    memset(take->status + take->first, STATUS_SUCCESS, take->last - take->first);
    for (first = take->first; first < take->last; first = last) {
        last = take->last - first < FRAMES_AT_ONCE + MOST_LANES ? take->last : first + FRAMES_AT_ONCE;
        if (pose_is_constant(take, first, last)) {
            constants = constants_of(chain_at(take, first, kept));
            count = solve(take, &constants, first, last, doubtful);
        } else {
            count = solve(take, NULL, first, last, doubtful);
        }
        for (i = 0; i < count; ++i) {
            solve_frame(take, doubtful[i], chain_at(take, doubtful[i], kept));
        }
        take->redone += count;
    }
}

static LaneSolver *lane_solver(int path)
{
#if MAXIK_WIDEST_LANES >= 512
    if (path == PATH_LANES_512) {
        return MAXIK_EXPORT(limb_lanes_512);
    }
    if (path == PATH_LANES_256) {
        return MAXIK_EXPORT(limb_lanes_256);
    }
#endif
    return path == PATH_LANES_128 ? MAXIK_EXPORT(limb_lanes_128) : NULL;
}

/* Tells whether this build on this machine has a path. */
int MAXIK_EXPORT(has_path)(int path)
{
#if MAXIK_WIDEST_LANES >= 512
    if (path == PATH_LANES_512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    }
    if (path == PATH_LANES_256) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
#endif
    return path >= 0 && path <= PATH_LANES_128;
}

void MAXIK_EXPORT(lane_function)(int path, int function, size_t n, const float *x, const float *y, float *out,
                                 unsigned char *doubt)
{
#if MAXIK_WIDEST_LANES >= 512
    if (path == PATH_LANES_512) {
        MAXIK_EXPORT(lane_function_512)(function, n, x, y, out, doubt);
        return;
    }
    if (path == PATH_LANES_256) {
        MAXIK_EXPORT(lane_function_256)(function, n, x, y, out, doubt);
        return;
    }
#endif
    (void)path;
    MAXIK_EXPORT(lane_function_128)(function, n, x, y, out, doubt);
}

#else

static LaneSolver *lane_solver(int path)
{
    (void)path;
    return NULL;
}

static void solve_in_lanes(maxik_limb_take *take, LaneSolver *solve, KeptChain *kept)
{
    (void)take;
    (void)solve;
    (void)kept;
}

int MAXIK_EXPORT(has_path)(int path)
{
    return path == PATH_LITERAL || path == PATH_SCALAR;
}

/* Without lanes every result is in doubt. */
void MAXIK_EXPORT(lane_function)(int path, int function, size_t n, const float *x, const float *y, float *out,
                                 unsigned char *doubt)
{
    (void)path;
    (void)function;
    (void)x;
    (void)y;
    (void)out;
    memset(doubt, 1, n);
}

#endif

/* Solves a take by take->path, which has_path allows; frames without a solution are left as they are but for status. */
void MAXIK_EXPORT(limb_solve_take)(maxik_limb_take *take)
{
    int solvable = take->goal != NULL && (take->link_count == 3 || take->link_count == 0);
    LaneSolver *solve = solvable && take->last - take->first >= MOST_LANES ? lane_solver(take->path) : NULL;
    KeptChain own, *kept = take->kept == NULL ? &own : (KeptChain *)take->kept;
    own.known = 0;
    take->redone = 0;
    if (solve != NULL) {
        solve_in_lanes(take, solve, kept);
    } else if (take->path == PATH_LITERAL) {
        solve_literally(take);
    } else {
        solve_by_scalars(take, kept);
    }
}
