/* Every part of the kernel, for one translation unit an environment. */
#include "matrix3.c"
#include "quat.c"
#include "euler.c"
#include "limb.c"
#include "limb_batch.c"
#include "spline.c"
#include "spline_leap.c"
#include "batch.c"
