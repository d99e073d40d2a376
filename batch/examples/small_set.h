// Small worlds whose rates are measured: a chain, a ragdoll, an arm with drives, a pile, a cloth.
#ifndef TENON_BATCH_SMALL_SET_H
#define TENON_BATCH_SMALL_SET_H

#include <tenon/tenon.h>

// A world of this name, made with `def`; null if there is none.
tn_world *small_set_make(const char *name, const tn_world_def *def);

#endif
