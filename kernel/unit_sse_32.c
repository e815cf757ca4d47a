/* The kernel in the environment sse-32: 64-bit releases of 3ds Max (core-profile.md, environment). */
#define MAXIK_SSE_32
#include "all.c"
