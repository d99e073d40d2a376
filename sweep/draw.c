#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double round_digits(double value)
{
  char words[32];
  snprintf(words, sizeof words, "%.12g", value);
  return strtod(words, NULL);
}

// The value at the share t of the range. A whole number is drawn from equal parts.
static double value_at(value_range r, double t)
{
  double value = r.log ? r.lo * pow(r.hi / r.lo, t) : r.lo + (r.hi - r.lo) * t;
  value = r.whole ? floor(value + 0.5) : round_digits(value);
  return fmin(fmax(value, r.lo), r.hi);
}

static double draw_at(value_range r, double t)
{
  if (r.whole && !r.log) {
    return fmin(floor(r.lo + (r.hi - r.lo + 1.0) * t), r.hi);
  }
  return value_at(r, t);
}

void values_space(value_range range, double *values, int count)
{
  for (int i = 0; i < count; ++i) {
    values[i] = value_at(range, count > 1 ? (double)i / (double)(count - 1) : 0.0);
  }
}

// Counter-based generator: the output function of SplitMix64 over seed, stream and index.
static uint64_t random_bits(uint64_t seed, int stream, int index)
{
  uint64_t x = seed;
  const uint64_t parts[] = {(uint64_t)stream + 1, (uint64_t)index + 1};
  for (int i = 0; i < 2; ++i) {
    x += parts[i] * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
  }
  return x;
}

// In [0, 1).
static double random_share(uint64_t seed, int stream, int index)
{
  return (double)(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

void values_draw(value_range range, uint64_t seed, int stream, double *values, int count)
{
  for (int i = 0; i < count; ++i) {
    values[i] = draw_at(range, random_share(seed, stream, i));
  }
}

void values_stratify(value_range range, uint64_t seed, int stream, double *values, int count)
{
  for (int i = 0; i < count; ++i) {
    values[i] = (double)i;
  }
  for (int i = count - 1; i > 0; --i) { // Fisher and Yates
    int k = (int)(random_share(seed, stream, count + i) * (double)(i + 1));
    double swapped = values[i];
    values[i] = values[k];
    values[k] = swapped;
  }
  for (int i = 0; i < count; ++i) {
    values[i] = draw_at(range, (values[i] + random_share(seed, stream, i)) / (double)count);
  }
}
