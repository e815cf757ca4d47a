/* The kernel as a program: requests on stdin, replies on stdout, so that any compiler's build can be asked for its bits.
 *
 * A request is four 32-bit words (magic, op, rows, bytes of payload) and the payload; a reply is four words (magic,
 * status, x87 control word after the work, bytes of payload) and the payload. Words and floats are little-endian. Op 0
 * takes nothing and answers with lines of key=value: what was built, by what, on what. Limb takes, splines
 * and positions have a payload of their own; all other ops are over rows with a fixed number of floats in and out.
 *
 * Built by src/maxik/oracle/build.py with MAXIK_SOURCE_HASH and, on x87, MAXIK_X87_REGISTERS; x87 builds run at control
 * word 0x27F (spec 1.1). cl.exe of VS2008 compiles it too.
 */
#ifdef MAXIK_SSE_32
#error "the oracle is the reference environment"
#endif
#if defined(__MINGW32__) && defined(MAXIK_X87_REGISTERS)
#define MAXIK_RUNTIME_CALLS
static double (*runtime_sin)(double), (*runtime_cos)(double), (*runtime_acos)(double);
static double (*runtime_atan2)(double, double);
#endif
#include "all.c"

#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#endif

#ifndef MAXIK_SOURCE_HASH
#define MAXIK_SOURCE_HASH unknown
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#define PROTOCOL 1
#define REQUEST_MAGIC 0x3151584du /* "MXQ1" */
#define REPLY_MAGIC 0x3152584du   /* "MXR1" */
#define CONTROL_WORD 0x27f
#define MOST_BYTES 0x20000000u

enum { ANSWERED, UNKNOWN_OP, WRONG_SIZE, OUT_OF_MEMORY };
enum { OP_HELLO, OP_LIMB, OP_SPLINE, OP_POSITION, OP_ROWS };

/* ---- the control word ---- */

#if defined(__GNUC__) && (defined(__i386__) || defined(__x86_64__))
static unsigned read_control_word(void)
{
    unsigned short word = 0;
    __asm__ __volatile__("fnstcw %0" : "=m"(word));
    return word;
}

static void set_control_word(void)
{
    unsigned short word = CONTROL_WORD;
    __asm__ __volatile__("fldcw %0" : : "m"(word));
}
#elif defined(_MSC_VER) && defined(_M_IX86)
static unsigned read_control_word(void)
{
    unsigned short word = 0;
    __asm fnstcw word
    return word;
}

static void set_control_word(void)
{
    unsigned short word = CONTROL_WORD;
    __asm fldcw word
}
#else
static unsigned read_control_word(void)
{
    return 0;
}

static void set_control_word(void)
{
}
#endif

/* ---- rows ---- */

typedef void (*RowFunction)(const float *in, float *out);

typedef struct {
    const char *name;
    int in, out;
    RowFunction run;
} RowOp;

#define SCALAR_ROW(name)                                   \
    static void row_##name(const float *in, float *out)    \
    {                                                      \
        out[0] = MAXIK_EXPORT(name)(in[0]);                \
    }

SCALAR_ROW(acos_safe)
SCALAR_ROW(cos_half)
SCALAR_ROW(neg_sin_half)
SCALAR_ROW(sin)
SCALAR_ROW(cos)
SCALAR_ROW(sqrt)

static void row_atan2(const float *in, float *out)
{
    out[0] = MAXIK_EXPORT(atan2)(in[0], in[1]);
}

static void row_point3_length_unify(const float *in, float *out)
{
    out[3] = MAXIK_EXPORT(point3_length_unify)(in, out);
}

static void row_point3_normalize(const float *in, float *out)
{
    MAXIK_EXPORT(point3_normalize)(in, out);
}

static void row_point3_cross(const float *in, float *out)
{
    MAXIK_EXPORT(point3_cross)(in, in + 3, out);
}

static void row_matrix3_multiply(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_multiply)(1, in, in + 12, out);
}

static void row_matrix3_invert(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_invert)(1, in, out);
}

static void row_matrix3_pre_rotate(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_pre_rotate)(in, (int)in[12], in[13], out);
}

static void row_matrix3_rotate(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_rotate)(in, (int)in[12], in[13], out);
}

static void row_matrix3_rot_angle_axis(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_rot_angle_axis)(in, in[3], out);
}

static void row_matrix3_vector_transform(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_vector_transform)(in, in + 3, out);
}

static void row_matrix3_point_transform(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_point_transform)(1, in, in + 3, out);
}

static void row_matrix3_validate_flags(const float *in, float *out)
{
    out[0] = (float)MAXIK_EXPORT(matrix3_validate_flags)(in);
}

static void row_matrix3_to_euler(const float *in, float *out)
{
    MAXIK_EXPORT(matrix3_to_euler)(in, out);
}

static void row_euler_matrix(const float *in, float *out)
{
    MAXIK_EXPORT(euler_matrix)(1, in, out);
}

static void row_quat_conjugate(const float *in, float *out)
{
    MAXIK_EXPORT(quat_conjugate)(in, out);
}

static void row_quat_product(const float *in, float *out)
{
    MAXIK_EXPORT(quat_product)(in, in + 4, out);
}

static void row_quat_from_ang_axis(const float *in, float *out)
{
    MAXIK_EXPORT(quat_from_ang_axis)(in, in[3], out);
}

static void row_quat_make_matrix(const float *in, float *out)
{
    MAXIK_EXPORT(quat_make_matrix)(1, in, out);
}

static void row_rotation_pre_apply(const float *in, float *out)
{
    MAXIK_EXPORT(rotation_pre_apply)(in, in + 4, out);
}

static void row_zero_map(const float *in, float *out)
{
    MAXIK_EXPORT(zero_map)(in, in + 3, in + 6, out);
}

/* link_count, root_init_xyz, root_extend, links_init_zyx, links_extend -> n0, a0 */
static void row_initial_plane(const float *in, float *out)
{
    MAXIK_EXPORT(initial_plane)(1, (int)in[0], in + 1, in + 4, in + 7, in + 10, out, out + 3);
}

/* The order is the protocol's: op OP_ROWS + place. src/maxik/oracle/protocol.py has the same table. */
static const RowOp row_ops[] = {
    {"acos_safe", 1, 1, row_acos_safe},
    {"cos_half", 1, 1, row_cos_half},
    {"neg_sin_half", 1, 1, row_neg_sin_half},
    {"sin", 1, 1, row_sin},
    {"cos", 1, 1, row_cos},
    {"sqrt", 1, 1, row_sqrt},
    {"atan2", 2, 1, row_atan2},
    {"point3_length_unify", 3, 4, row_point3_length_unify},
    {"point3_normalize", 3, 3, row_point3_normalize},
    {"point3_cross", 6, 3, row_point3_cross},
    {"matrix3_multiply", 24, 12, row_matrix3_multiply},
    {"matrix3_invert", 12, 12, row_matrix3_invert},
    {"matrix3_pre_rotate", 14, 12, row_matrix3_pre_rotate},
    {"matrix3_rotate", 14, 12, row_matrix3_rotate},
    {"matrix3_rot_angle_axis", 4, 12, row_matrix3_rot_angle_axis},
    {"matrix3_vector_transform", 15, 3, row_matrix3_vector_transform},
    {"matrix3_point_transform", 15, 3, row_matrix3_point_transform},
    {"matrix3_validate_flags", 12, 1, row_matrix3_validate_flags},
    {"matrix3_to_euler", 12, 3, row_matrix3_to_euler},
    {"euler_matrix", 3, 12, row_euler_matrix},
    {"quat_conjugate", 4, 4, row_quat_conjugate},
    {"quat_product", 8, 4, row_quat_product},
    {"quat_from_ang_axis", 4, 4, row_quat_from_ang_axis},
    {"quat_make_matrix", 4, 12, row_quat_make_matrix},
    {"rotation_pre_apply", 16, 12, row_rotation_pre_apply},
    {"zero_map", 9, 3, row_zero_map},
    {"initial_plane", 13, 6, row_initial_plane},
};
#define ROW_OPS (sizeof row_ops / sizeof row_ops[0])

/* ---- limb takes and splines ---- */

#define LIMB_HEAD 3  /* link_count, swivel, whether there is a goal */
#define LIMB_IN 34   /* root_init_xyz, root_extend, links_init_zyx, links_extend, n0, a0, goal, angle, vh_target */
#define LIMB_OUT 7   /* status, rot_xyz, dof_zyx */
#define SPLINE_HEAD 6 /* joints, closed, segments, march, whether there is a zero_map, 0 */
#define SPLINE_FIXED 47 /* object_tm, parent_matrix, twist_parent, twists, n0, a0, zero_map */
#define SPLINE_BONE 9   /* axes as codes 3, t 3, init 3 */
#define SPLINE_OUT 29   /* a bone: length 1, axis 3, co-axis 3, u 1, point 3, euler 3, frame 12, direction 3 */

static void run_limb(const float *in, size_t rows, float *out)
{
    const float *row = in + LIMB_HEAD;
    maxik_limb_take take;
    unsigned char *status = (unsigned char *)malloc(rows + 1);
    float *angles = (float *)malloc((6 * rows + 1) * sizeof(float));
    size_t frame;
    if (status == NULL || angles == NULL) {
        exit(3);
    }
    memset(&take, 0, sizeof take);
    memset(angles, 0, 6 * rows * sizeof(float));
    take.last = rows;
    take.link_count = (int)in[0];
    take.swivel = (int)in[1];
    take.root_init_xyz = row;
    take.root_extend = row + 3;
    take.links_init_zyx = row + 6;
    take.links_extend = row + 9;
    take.n0 = row + 12;
    take.a0 = row + 15;
    take.goal = in[2] != 0.0f ? row + 18 : NULL;
    take.swivel_angle = row + 30;
    take.vh_target = row + 31;
    take.root_init_xyz_stride = take.root_extend_stride = take.links_init_zyx_stride = take.links_extend_stride = LIMB_IN;
    take.n0_stride = take.a0_stride = take.goal_stride = take.swivel_angle_stride = take.vh_target_stride = LIMB_IN;
    take.status = status;
    take.rot_xyz = angles;
    take.dof_zyx = angles + 3 * rows;
    MAXIK_EXPORT(limb_solve_take)(&take);
    for (frame = 0; frame < rows; ++frame) {
        out[LIMB_OUT * frame] = (float)status[frame];
        memcpy(out + LIMB_OUT * frame + 1, angles + 3 * frame, 3 * sizeof(float));
        memcpy(out + LIMB_OUT * frame + 4, angles + 3 * rows + 3 * frame, 3 * sizeof(float));
    }
    free(status);
    free(angles);
}

static size_t spline_in(const float *head)
{
    return SPLINE_HEAD + SPLINE_FIXED + (size_t)head[0] * SPLINE_BONE + (size_t)head[2] * 12;
}

static size_t spline_out(const float *head)
{
    return 4 + ((size_t)head[0] + 1) * SPLINE_OUT;
}

/* status, count, and the samples in two halves of 24 bits; then every array of joints + 1 rows, one after the other. */
static void run_spline(const float *in, float *out)
{
    maxik_spline call;
    size_t joints = (size_t)in[0], bones = joints + 1, i;
    const float *fixed = in + SPLINE_HEAD, *bone = fixed + SPLINE_FIXED;
    char *axes = (char *)malloc(3 * joints + 1);
    float *at = out + 4;
    if (axes == NULL) {
        exit(3);
    }
    for (i = 0; i < 3 * joints; ++i) {
        axes[i] = (char)bone[i];
    }
    axes[3 * joints] = '\0';
    memset(&call, 0, sizeof call);
    call.joints = (int)joints;
    call.closed = (int)in[1];
    call.segments = (int)in[2];
    call.march = (int)in[3];
    call.axes = axes;
    call.t = bone + 3 * joints;
    call.init = bone + 6 * joints;
    call.curve = bone + 9 * joints;
    call.object_tm = fixed;
    call.parent_matrix = fixed + 12;
    call.twist_parent = fixed + 24;
    call.start_twist = fixed[36];
    call.end_twist = fixed[37];
    call.n0 = fixed + 38;
    call.a0 = fixed + 41;
    call.zero_map = in[4] != 0.0f ? fixed + 44 : NULL;
    call.bone_lengths = at;
    call.bone_axes = call.bone_lengths + bones;
    call.co_axes = call.bone_axes + 3 * bones;
    call.u = call.co_axes + 3 * bones;
    call.points = call.u + bones;
    call.euler = call.points + 3 * bones;
    call.frames = call.euler + 3 * bones;
    call.directions = call.frames + 12 * bones;
    out[0] = (float)MAXIK_EXPORT(spline_solve)(&call);
    out[1] = (float)call.count;
    out[2] = (float)(call.samples & 0xffffff);
    out[3] = (float)(call.samples >> 24);
    free(axes);
}

/* ---- frames ---- */

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define COMPILER "msvc " TEXT(_MSC_FULL_VER)
#else
#define COMPILER "unknown"
#endif

/* Which C runtime computes sin, cos, acos: under Wine it is not Microsoft's own. */
static void runtime_name(char *text, size_t size)
{
#ifdef _WIN32
    static const char *const names[] = {"msvcr90.dll", "msvcrt.dll", "ucrtbase.dll"};
    size_t i;
    text[0] = '\0';
    for (i = 0; i < 3 && text[0] == '\0'; ++i) {
        HMODULE module = GetModuleHandleA(names[i]);
        if (module != NULL) {
            const char *(*wine_version)(void) =
                (const char *(*)(void))(void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version");
            GetModuleFileNameA(module, text, (DWORD)(size - 40));
            if (wine_version != NULL) {
                sprintf(text + strlen(text), " (Wine %.20s)", wine_version());
            }
        }
    }
#elif defined(__GLIBC__)
    sprintf(text, "glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);
    (void)size;
#else
    strcpy(text, "unknown");
    (void)size;
#endif
}

static unsigned hello(char *text)
{
    char runtime[320];
    runtime_name(runtime, sizeof runtime);
    sprintf(text,
            "protocol=%d\nsource=%s\ncompiler=%s\nregisters=%s\npointer_bits=%d\ncontrol_word=%#x\nruntime=%s\n",
            PROTOCOL, TEXT(MAXIK_SOURCE_HASH), COMPILER,
#ifdef MAXIK_X87_REGISTERS
            "x87",
#else
            "binary64",
#endif
            (int)(8 * sizeof(void *)), read_control_word(), runtime);
    return (unsigned)strlen(text);
}

static unsigned word_at(const unsigned char *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8 | (unsigned)bytes[2] << 16 | (unsigned)bytes[3] << 24;
}

static void put_word(unsigned char *bytes, unsigned word)
{
    bytes[0] = (unsigned char)word;
    bytes[1] = (unsigned char)(word >> 8);
    bytes[2] = (unsigned char)(word >> 16);
    bytes[3] = (unsigned char)(word >> 24);
}

static void reply(unsigned status, const void *payload, unsigned bytes)
{
    unsigned char head[16];
    put_word(head, REPLY_MAGIC);
    put_word(head + 4, status);
    put_word(head + 8, read_control_word());
    put_word(head + 12, bytes);
    if (fwrite(head, 1, sizeof head, stdout) != sizeof head || fwrite(payload, 1, bytes, stdout) != bytes
        || fflush(stdout) != 0) {
        exit(4);
    }
}

/* Answer one request whose payload has `floats` floats. */
static void answer(unsigned op, size_t rows, const float *in, size_t floats)
{
    size_t in_floats, out_floats, row;
    float *out;
    if (op == OP_LIMB) {
        in_floats = LIMB_HEAD + rows * LIMB_IN;
        out_floats = rows * LIMB_OUT;
    } else if (op == OP_SPLINE) {
        in_floats = floats >= SPLINE_HEAD ? spline_in(in) : 0;
        out_floats = floats >= SPLINE_HEAD ? spline_out(in) : 0;
    } else if (op == OP_POSITION) { /* segments, u, the curve -> the point */
        in_floats = floats >= 2 ? 2 + 12 * (size_t)in[0] : 1;
        out_floats = 3;
    } else if (op >= OP_ROWS && op - OP_ROWS < ROW_OPS) {
        in_floats = rows * (size_t)row_ops[op - OP_ROWS].in;
        out_floats = rows * (size_t)row_ops[op - OP_ROWS].out;
    } else {
        reply(UNKNOWN_OP, "", 0);
        return;
    }
    if (in_floats != floats || out_floats > MOST_BYTES / sizeof(float)) {
        reply(WRONG_SIZE, "", 0);
        return;
    }
    out = (float *)calloc(out_floats + 1, sizeof(float));
    if (out == NULL) {
        reply(OUT_OF_MEMORY, "", 0);
        return;
    }
    set_control_word();
    if (op == OP_LIMB) {
        run_limb(in, rows, out);
    } else if (op == OP_SPLINE) {
        run_spline(in, out);
    } else if (op == OP_POSITION) {
        MAXIK_EXPORT(spline_position)((int)in[0], in + 2, in[1], out);
    } else {
        const RowOp *row_op = &row_ops[op - OP_ROWS];
        for (row = 0; row < rows; ++row) {
            row_op->run(in + row * (size_t)row_op->in, out + row * (size_t)row_op->out);
        }
    }
    reply(ANSWERED, out, (unsigned)(out_floats * sizeof(float)));
    free(out);
}

#ifdef MAXIK_RUNTIME_CALLS
typedef double (*OneOperand)(double);
typedef double (*TwoOperands)(double, double);

/* Take the transcendentals from the runtime's DLL; 0 when one is missing. */
static int find_runtime(void)
{
    HMODULE module = GetModuleHandleA("msvcrt.dll");
    if (module == NULL) {
        return 0;
    }
    runtime_sin = (OneOperand)(void *)GetProcAddress(module, "sin");
    runtime_cos = (OneOperand)(void *)GetProcAddress(module, "cos");
    runtime_acos = (OneOperand)(void *)GetProcAddress(module, "acos");
    runtime_atan2 = (TwoOperands)(void *)GetProcAddress(module, "atan2");
    return runtime_sin != NULL && runtime_cos != NULL && runtime_acos != NULL && runtime_atan2 != NULL;
}
#endif

int main(void)
{
    unsigned char head[16];
#ifdef MAXIK_RUNTIME_CALLS
    if (!find_runtime()) {
        return 5;
    }
#endif
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    set_control_word();
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        unsigned op = word_at(head + 4), rows = word_at(head + 8), bytes = word_at(head + 12);
        float *payload;
        if (word_at(head) != REQUEST_MAGIC || bytes > MOST_BYTES || bytes % sizeof(float) != 0) {
            return 2;
        }
        payload = (float *)malloc(bytes + sizeof(float));
        if (payload == NULL) {
            return 3;
        }
        if (fread(payload, 1, bytes, stdin) != bytes) {
            return 2;
        }
        if (op == OP_HELLO) {
            char text[1024];
            reply(ANSWERED, text, hello(text));
        } else {
            answer(op, rows, payload, bytes / sizeof(float));
        }
        free(payload);
    }
    return 0;
}
