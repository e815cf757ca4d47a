/* The kernel in the environment x87-53: the reference, VS2008 x86 (spec 1.1). */
#include "all.c"
