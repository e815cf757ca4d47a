/* The limb solver in lanes of 512 bits (AVX-512 F and DQ) in the environment sse-32. */
#define MAXIK_SSE_32
#include "limb_batch.h"
#if MAXIK_WIDEST_LANES >= 512
#define MAXIK_LANES 512
#include "limb_lanes.c"
#endif
