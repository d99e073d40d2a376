// Values of a parameter: evenly spaced, or drawn at random.
#ifndef TENON_SWEEP_DRAW_H
#define TENON_SWEEP_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct value_range {
  double lo, hi;
  bool log;   // evenly spaced in the logarithm
  bool whole; // integers only
} value_range;

// Values are rounded to 12 digits, so that they do not depend on the C library.

// `count` values from lo to hi, both included.
void values_space(value_range range, double *values, int count);
// Independent draws. The same seed and stream give the same numbers.
void values_draw(value_range range, uint64_t seed, int stream, double *values, int count);
// A Latin hypercube: one draw in each of `count` equal parts of the range, in random order.
void values_stratify(value_range range, uint64_t seed, int stream, double *values, int count);

#endif
