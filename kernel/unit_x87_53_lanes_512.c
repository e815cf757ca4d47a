/* The limb solver in lanes of 512 bits (AVX-512 F and DQ) in the environment x87-53. */
#include "limb_batch.h"
#if MAXIK_WIDEST_LANES >= 512
#define MAXIK_LANES 512
#include "limb_lanes.c"
#endif
