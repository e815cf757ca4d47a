/* How the swivel plane of a limb is given (spec 3.2): for the solver and its lanes. */
#ifndef MAXIK_SWIVEL_H
#define MAXIK_SWIVEL_H

enum { SWIVEL_IN_START_JOINT = 0, SWIVEL_IN_GOAL = 1, SWIVEL_VH_TARGET = 2 };

#endif
