// Clock and command line numbers of the examples.
#ifndef TENON_BATCH_EXAMPLE_H
#define TENON_BATCH_EXAMPLE_H

#define _POSIX_C_SOURCE 200809L // NOLINT: for clock_gettime
#include <tenon/batch.h>

#include <stdlib.h>
#include <time.h>

static inline double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Argument number `index`, from 1 to `most`, or the usual value.
static inline int argument(int count, char **words, int index, int usual, int most)
{
  int value = index < count ? atoi(words[index]) : usual;
  return value < 1 ? 1 : value > most ? most : value;
}

// One hash of the hashes of all worlds (FNV-1a).
static inline uint64_t hash_of_hashes(const uint64_t *hashes, int count)
{
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8 * count; ++i) {
    hash = (hash ^ (hashes[i / 8] >> i % 8 * 8 & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

#endif
