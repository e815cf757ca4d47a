/* Floats as bit patterns, for the exhaustion programs. */
#ifndef MAXIK_FLOAT_BITS_H
#define MAXIK_FLOAT_BITS_H

#include <string.h>

static float float_of(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static unsigned bits_of(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
