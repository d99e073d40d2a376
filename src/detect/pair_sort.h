// Order of pairs and contacts in memory.
#ifndef TENON_DETECT_PAIR_SORT_H
#define TENON_DETECT_PAIR_SORT_H

#include <tenon/tenon.h>

#include <stdint.h>

// Whether enough pairs precede one of an earlier body that sorting pays.
bool pairs_need_sort(int32_t descents, int32_t count);
// Renumbers pairs and contacts in body order. False when out of memory.
bool pairs_sort(tn_world *world);

#endif
