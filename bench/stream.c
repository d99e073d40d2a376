// Limits of the machine: the rate at which threads read a buffer of a given size again and again, a
// cache line at a time, and the rate of products and sums in registers. A pass over a scene of that
// size cannot be faster.
#include "bench.h"

#include "timing.h"

#include <pthread.h>
#include <stdlib.h>

enum { RUNS = 7, LINE_WORDS = 8, READ_MB = 512, THREADS = 64 };

typedef struct reader {
  const uint64_t *words;
  size_t count;
  int rounds;
  uint64_t sum; // result, so that the loop is not removed
} reader;

static void *read_lines(void *context)
{
  reader *r = context;
  uint64_t sums[4] = {0};
  for (int round = 0; round < r->rounds; ++round) {
    for (size_t i = 0; i + 4 * LINE_WORDS <= r->count; i += 4 * LINE_WORDS) {
      for (size_t k = 0; k < 4; ++k) {
        sums[k] += r->words[i + k * LINE_WORDS];
      }
    }
  }
  r->sum = sums[0] + sums[1] + sums[2] + sums[3];
  return NULL;
}

// Time in ms of `count` threads: of the processor for one, wall time for several.
static double time_threads(void *(*work)(void *), void *contexts, size_t size, int count)
{
  pthread_t others[THREADS];
  int started = 1;
  tn_clock_fn *now = count > 1 ? bench_wall_ms : bench_cpu_ms;
  double start = now();
  while (started < count && pthread_create(&others[started], NULL, work,
                                           (char *)contexts + (size_t)started * size) == 0) {
    started += 1;
  }
  work(contexts);
  while (started > 1) {
    pthread_join(others[--started], NULL);
  }
  return now() - start;
}

// Time in ms while each thread reads its share.
static double read_once(const uint64_t *words, size_t count, int rounds, int threads)
{
  reader readers[THREADS];
  size_t share = count / (size_t)threads;
  for (int i = 0; i < threads; ++i) {
    readers[i] = (reader){words + (size_t)i * share, share, rounds, 0};
  }
  return time_threads(read_lines, readers, sizeof readers[0], threads);
}

static void report_stream(bench *b, int megabytes, int threads, const uint64_t *words, size_t count)
{
  double times[RUNS];
  int rounds = READ_MB / megabytes;
  for (int i = 0; i < RUNS; ++i) {
    times[i] = read_once(words, count, rounds, threads);
  }
  timing_sort(times, RUNS);
  bench_row row = {.engine = "memory", .scene = "stream", .setting = "own", .size = megabytes};
  row.threads = threads;
  row.lanes = 1;
  row.ms_median = timing_quantile(times, RUNS, 0.5);
  row.ms_p99 = times[RUNS - 1];
  // The fastest run: other programs use the machine as well.
  bench_note(&row, "gb_a_second", (double)megabytes * rounds / times[0] * 1048.576 / 1e3);
  row.shown[0] = "gb_a_second";
  bench_report(b, &row);
}

// ---------------------------------------------------------------------------------------------
// Arithmetic, as the library does it: products and sums apart, in the widest vectors

enum { WIDTH = 16, CHAINS = 12, STEPS = 1 << 21 };

typedef float vector __attribute__((vector_size(4 * WIDTH)));

typedef struct adder {
  float sum;
} adder;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void *
add_products(void *context)
{
  adder *a = context;
  vector x[CHAINS], by = a->sum + (vector){0}, more = 1e-3f + (vector){0};
#pragma GCC unroll 12
  for (int k = 0; k < CHAINS; ++k) {
    x[k] = (float)k + (vector){0};
  }
  for (int i = 0; i < STEPS; ++i) {
#pragma GCC unroll 12 // so that all stay in registers
    for (int k = 0; k < CHAINS; ++k) {
      x[k] = x[k] * by + more;
    }
  }
#pragma GCC unroll 12
  for (int k = 1; k < CHAINS; ++k) {
    x[0] += x[k];
  }
  a->sum = x[0][0];
  return NULL;
}

static void report_flops(bench *b, int threads)
{
  double times[RUNS];
  for (int i = 0; i < RUNS; ++i) {
    adder adders[THREADS];
    for (int k = 0; k < threads; ++k) {
      adders[k].sum = 0.5f;
    }
    times[i] = time_threads(add_products, adders, sizeof adders[0], threads);
  }
  timing_sort(times, RUNS);
  bench_row row = {.engine = "core", .scene = "flops", .setting = "own", .size = threads};
  row.threads = threads;
  row.lanes = WIDTH;
  row.ms_median = timing_quantile(times, RUNS, 0.5);
  row.ms_p99 = times[RUNS - 1];
  bench_note(&row, "gflops", 2e-6 * (double)WIDTH * CHAINS * STEPS * threads / times[0]);
  row.shown[0] = "gflops";
  bench_report(b, &row);
}

// 1, 2, 4, ... threads up to all cores.
static int next_threads(int threads)
{
  int cores = bench_cores() < THREADS ? bench_cores() : THREADS;
  return threads < cores && 2 * threads > cores ? cores : 2 * threads;
}

static bool has_threads(int threads)
{
  return threads <= bench_cores() && threads <= THREADS;
}

bool bench_stream(bench *b)
{
  static const int sizes[] = {1, 8, 64, 256};
  bool ok = true;
  for (int i = 0; i < 4; ++i) {
    if (!bench_is_picked(b, "memory", "stream", sizes[i])) {
      continue;
    }
    size_t count = (size_t)sizes[i] * (1 << 20) / sizeof(uint64_t);
    uint64_t *words = malloc(count * sizeof *words);
    for (size_t k = 0; words && k < count; ++k) {
      words[k] = k;
    }
    for (int threads = 1; words && has_threads(threads); threads = next_threads(threads)) {
      report_stream(b, sizes[i], threads, words, count);
    }
    ok = ok && words;
    free(words);
  }
  for (int threads = 1; has_threads(threads); threads = next_threads(threads)) {
    if (bench_is_picked(b, "memory", "flops", threads)) {
      report_flops(b, threads);
    }
  }
  return ok;
}
