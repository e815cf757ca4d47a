"""How the extension `maxik.kernel._kernel` is built: cffi in API mode over kernel/*.c, both environments.

No fast-math, no contraction of a*b + c. The extension is optional: where no compiler is found the installation goes
on without it. Run by setup.py; the paths are relative to the project's root.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from cffi import FFI

ENVIRONMENTS = ("x87_53", "sse_32")
LANES = tuple(f"unit_{env}_lanes_{bits}" for env in ENVIRONMENTS for bits in (128, 256, 512))
"""The units in lanes; each is empty where its instruction set cannot be compiled."""

_TYPES = """
typedef struct {
    size_t first, last;
    int link_count;
    int swivel;
    const float *root_init_xyz, *root_extend, *links_init_zyx, *links_extend, *n0, *a0;
    size_t root_init_xyz_stride, root_extend_stride, links_init_zyx_stride, links_extend_stride, n0_stride, a0_stride;
    const float *goal;
    const float *swivel_angle;
    const float *vh_target;
    size_t goal_stride, swivel_angle_stride, vh_target_stride;
    int path;
    unsigned char *status;
    float *rot_xyz;
    float *dof_zyx;
    size_t redone;
    void *kept;
} maxik_limb_take;
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
    int prepared;
    int march;
    int count;
    size_t samples;
} maxik_spline;
"""

_FUNCTIONS = """
void maxik_{env}_limb_solve_take(maxik_limb_take *take);
int maxik_{env}_has_path(int path);
size_t maxik_{env}_limb_kept_size(void);
void maxik_{env}_lane_function(int path, int function, size_t n, const float *x, const float *y, float *out,
                               unsigned char *doubt);
void maxik_{env}_initial_plane(size_t n, int link_count, const float *root_init_xyz, const float *root_extend,
                               const float *links_init_zyx, const float *links_extend, float *n0, float *a0);
int maxik_{env}_spline_solve(maxik_spline *call);
void maxik_{env}_spline_position(int segments, const float *curve, float u, float *out);
void maxik_{env}_matrix3_multiply(size_t n, const float *a, const float *b, float *out);
void maxik_{env}_matrix3_invert(size_t n, const float *m, float *out);
void maxik_{env}_euler_matrix(size_t n, const float *xyz, float *out);
void maxik_{env}_quat_make_matrix(size_t n, const float *q, float *out);
void maxik_{env}_matrix3_point_transform(size_t n, const float *v, const float *m, float *out);
float maxik_{env}_acos_safe(float x);
float maxik_{env}_cos_half(float x);
float maxik_{env}_neg_sin_half(float x);
float maxik_{env}_sin(float x);
float maxik_{env}_cos(float x);
float maxik_{env}_sqrt(float x);
float maxik_{env}_atan2(float y, float x);
float maxik_{env}_point3_length_unify(const float *v, float *out);
void maxik_{env}_point3_normalize(const float *v, float *out);
void maxik_{env}_point3_cross(const float *a, const float *b, float *out);
void maxik_{env}_matrix3_pre_rotate(const float *m, int axis, float angle, float *out);
void maxik_{env}_matrix3_rotate(const float *m, int axis, float angle, float *out);
void maxik_{env}_matrix3_rot_angle_axis(const float *axis, float angle, float *out);
void maxik_{env}_matrix3_vector_transform(const float *v, const float *m, float *out);
int maxik_{env}_matrix3_validate_flags(const float *m);
void maxik_{env}_matrix3_to_euler(const float *m, float *out);
void maxik_{env}_quat_conjugate(const float *q, float *out);
void maxik_{env}_quat_product(const float *a, const float *b, float *out);
void maxik_{env}_quat_from_ang_axis(const float *axis, float angle, float *out);
void maxik_{env}_rotation_pre_apply(const float *q, const float *m, float *out);
void maxik_{env}_zero_map(const float *v, const float *n0, const float *a0, float *out);
"""

_COMPILER = """
#if defined(__clang__)
#define MAXIK_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define MAXIK_COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define MAXIK_STRING_(x) #x
#define MAXIK_STRING(x) MAXIK_STRING_(x)
#define MAXIK_COMPILER "msvc " MAXIK_STRING(_MSC_FULL_VER)
#else
#define MAXIK_COMPILER "unknown"
#endif
static const char *maxik_compiler(void) { return MAXIK_COMPILER; }
"""


def compile_flags() -> list[str]:
    """Return the flags that keep float arithmetic as written.

    -fno-tree-vectorize is one of them: the superword vectoriser of GCC 12 drops the rounding of a double to float and
    back when it packs two of them, and with it the last bits of every solve.
    """
    if sys.platform == "win32":
        return ["/O2", "/fp:precise"]
    flags = ["-O3", "-fno-tree-vectorize", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno"]
    if platform.machine() in ("i386", "i586", "i686"):
        flags += ["-msse2", "-mfpmath=sse"]
    return flags


def declarations() -> str:
    """Return the C declarations of everything that the kernel exports, for both environments."""
    return _TYPES + "".join(_FUNCTIONS.format(env=env) for env in ENVIRONMENTS)


ffibuilder = FFI()
ffibuilder.cdef(declarations() + "const char *maxik_compiler(void);")
ffibuilder.set_source(
    "maxik.kernel._kernel",
    declarations() + _COMPILER,
    sources=[
        *(f"kernel/unit_{env}.c" for env in ENVIRONMENTS),
        *(f"kernel/{unit}.c" for unit in LANES),
    ],
    include_dirs=["kernel"],
    define_macros=[("MAXIK_WITH_LANES", None)],
    depends=sorted(path.as_posix() for ending in "ch" for path in Path("kernel").glob(f"*.{ending}")),
    extra_compile_args=compile_flags(),
    libraries=[] if sys.platform == "win32" else ["m"],
    optional=True,
)
