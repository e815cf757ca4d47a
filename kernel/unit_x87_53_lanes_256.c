/* The limb solver in lanes of 256 bits (AVX2 with FMA) in the environment x87-53. */
#include "limb_batch.h"
#if MAXIK_WIDEST_LANES >= 256
#define MAXIK_LANES 256
#include "limb_lanes.c"
#endif
