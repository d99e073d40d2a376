// CPU time of one thread varies less than wall time on a machine that runs other programs.
#define _POSIX_C_SOURCE 200809L // NOLINT: for clock_gettime

#include "bench.h"

#include "timing.h"

#include <unistd.h>

double bench_wall_ms(void)
{
  return timing_now_ms();
}

double bench_cpu_ms(void)
{
#ifdef CLOCK_THREAD_CPUTIME_ID
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
#else
  return timing_now_ms();
#endif
}

int bench_cores(void)
{
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores > 64 ? 64 : (int)cores;
}
