// Memory bandwidth: rate at which one and two threads repeatedly read a buffer of given size, a
// cache line at a time. A pass over a scene of that size cannot be faster.
#include "bench.h"

#include "timing.h"

#include <pthread.h>
#include <stdlib.h>

enum { RUNS = 7, LINE_WORDS = 8, READ_MB = 512, THREADS = 2 };

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

// Wall time in ms while each thread reads its share.
static double read_once(const uint64_t *words, size_t count, int rounds, int threads)
{
  reader readers[THREADS] = {{0}};
  pthread_t other;
  for (int i = 0; i < threads; ++i) {
    size_t share = count / (size_t)threads;
    readers[i] = (reader){words + (size_t)i * share, share, rounds, 0};
  }
  double start = bench_wall_ms();
  bool shared = threads > 1 && pthread_create(&other, NULL, read_lines, &readers[1]) == 0;
  read_lines(&readers[0]);
  if (shared) {
    pthread_join(other, NULL);
  }
  return bench_wall_ms() - start;
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
    for (int threads = 1; words && threads <= THREADS; ++threads) {
      report_stream(b, sizes[i], threads, words, count);
    }
    ok = ok && words;
    free(words);
  }
  return ok;
}
