/* The limb solver in lanes of 128 bits (SSE2 or NEON) in the environment x87-53. */
#include "limb_batch.h"
#if MAXIK_WIDEST_LANES >= 128
#define MAXIK_LANES 128
#include "limb_lanes.c"
#endif
