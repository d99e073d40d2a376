// A clock, and statistics of measured times.
#ifndef TENON_SCENES_TIMING_H
#define TENON_SCENES_TIMING_H

#include <stdlib.h>
#include <time.h>

// Restarts every ten days: a double of the time since 1970 would lose the microseconds.
static inline double timing_now_ms(void)
{
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)(now.tv_sec % 864000) * 1e3 + (double)now.tv_nsec * 1e-6;
}

static inline int timing_compare(const void *a, const void *b)
{
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void timing_sort(double *times, int count)
{
  qsort(times, (size_t)count, sizeof *times, timing_compare);
}

// Quantile of the sorted times; a `share` of 0.5 is the median.
static inline double timing_quantile(const double *sorted, int count, double share)
{
  if (count == 0) {
    return 0.0;
  }
  return sorted[(int)(share * (double)(count - 1))];
}

#endif
