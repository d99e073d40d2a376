// Of the device module. A world is stepped by one thread, so that what threads of a world share on
// the CPU are plain variables here.
#ifndef TENON_DEVICE_STDATOMIC_H
#define TENON_DEVICE_STDATOMIC_H

#include <stdbool.h>

typedef bool atomic_bool;
typedef int atomic_int;
typedef unsigned atomic_uint;

#define atomic_load(p) (*(p))
#define atomic_store(p, x) ((void)(*(p) = (x)))
#define atomic_load_explicit(p, order) (*(p))
#define atomic_store_explicit(p, x, order) ((void)(*(p) = (x)))
#define atomic_fetch_add(p, x) ((*(p) += (x)) - (x))
#define atomic_fetch_add_explicit(p, x, order) atomic_fetch_add(p, x)

static inline bool device_exchange(bool *p, bool x)
{
  bool old = *p;
  *p = x;
  return old;
}

#define atomic_exchange_explicit(p, x, order) device_exchange(p, x)

static inline bool device_compare_exchange(unsigned *p, unsigned *expected, unsigned x)
{
  bool equal = *p == *expected;
  *(equal ? p : expected) = equal ? x : *p;
  return equal;
}

#define atomic_compare_exchange_strong(p, expected, x) device_compare_exchange(p, expected, x)

#endif
