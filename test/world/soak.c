// Soak: worlds of all kinds churned at random for some minutes, under a watchdog. Worlds of all
// lanes, of 1, 2 and 16 threads, and one that is restored every few steps stay equal; events name
// what is there; a recording of one of them replays with the same hashes; memory stays flat.
// usage: soak MINUTES [SEED]
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 300, RESTORE_EVERY = 30, HANG = 120, WARM = 10, GROWTH = 64 }; // s; runs; MB

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Memory in use, MB.
static double resident(void)
{
  long pages = 0, ignored;
  FILE *in = fopen("/proc/self/statm", "r");
  if (in) {
    if (fscanf(in, "%ld %ld", &ignored, &pages) != 2) {
      pages = 0;
    }
    fclose(in);
  }
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void make_worlds(churn *c)
{
  const int threads[3] = {1, 2, 16};
  int lanes[4], widths = test_lanes(lanes);
  for (int i = 0; i < widths; ++i) {
    c->world[c->count++] = test_world_with(3, TN_METHOD_TENON, lanes[i], threads[i % 3]);
  }
  c->world[c->count++] = test_world_with(3, TN_METHOD_TENON, lanes[widths - 1], 16);
  c->world[c->count++] = test_world_with(3, TN_METHOD_TENON, lanes[1], 2); // restored
}

static const char *difference(const churn *c)
{
  for (int k = 1; k < c->count; ++k) {
    if (tn_world_hash(c->world[k]) != tn_world_hash(c->world[0])) {
      return k + 1 == c->count ? "the restored world differs" : "lanes or threads differ";
    }
  }
  return NULL;
}

static void *read_file(const char *path, size_t *size)
{
  FILE *in = fopen(path, "rb");
  void *bytes = NULL;
  if (in && fseek(in, 0, SEEK_END) == 0) {
    *size = (size_t)ftell(in);
    bytes = malloc(*size + 1);
    rewind(in);
    if (bytes && fread(bytes, 1, *size, in) != *size) {
      *size = 0;
    }
  }
  if (in) {
    fclose(in);
  }
  return bytes;
}

static const char *replay_difference(const char *path)
{
  size_t size = 0;
  void *bytes = read_file(path, &size);
  tn_world_def def = test_world_def(1, TN_METHOD_TENON);
  def.threads = 2;
  tn_replay *replay = bytes ? tn_replay_create(bytes, size, &def) : NULL;
  tn_replay_frame frame;
  const char *why = replay ? NULL : "the recording cannot be read";
  int steps = 0;
  while (!why && tn_replay_step(replay, &frame)) {
    why = frame.hash != frame.recorded_hash ? "the replay differs" : NULL;
    ++steps;
  }
  if (!why && (steps != STEPS || tn_replay_problem(replay))) {
    why = "the replay ended early";
  }
  tn_replay_destroy(replay);
  free(bytes);
  return why;
}

static const char *run(uint32_t seed, const char *path)
{
  churn c = {0};
  const char *why = NULL;
  c.chaos = seed % 2 == 1;
  make_worlds(&c);
  tn_world_record_calls(c.world[0], path);
  churn_begin(&c, seed);
  while (c.step < STEPS && !why) {
    alarm(HANG);
    churn_step(&c);
    why = c.step % 5 == 0 ? difference(&c) : NULL;
    for (int k = 0; k < c.count && !why; ++k) {
      why = churn_event_problem(c.world[k]);
    }
    why = why || test_is_finite(c.world[0]) ? why : "a number is not finite";
    if (c.step % RESTORE_EVERY == 0 && !why) {
      churn_restore(&c, c.step / RESTORE_EVERY % (c.count - 1), c.count - 1);
      why = difference(&c);
    }
  }
  for (int k = 0; k < c.count; ++k) {
    tn_world_destroy(c.world[k]);
  }
  return why ? why : replay_difference(path);
}

int main(int argc, char **argv)
{
  double end = seconds_now() + 60.0 * (argc > 1 ? strtod(argv[1], NULL) : 1.0), warm = 0.0;
  uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
  char path[] = "/tmp/tenon_soak_XXXXXX";
  int handle = mkstemp(path), runs = 0, failures = 0;
  if (handle < 0) {
    return 1;
  }
  close(handle);
  for (; seconds_now() < end; ++runs) {
    const char *why = run(seed + (uint32_t)runs, path);
    if (why) {
      printf("seed %u: %s\n", (unsigned)seed + (unsigned)runs, why);
      fflush(stdout);
      ++failures;
    }
    warm = runs == WARM ? resident() : warm;
  }
  double growth = runs > WARM ? resident() - warm : 0.0;
  printf("%d runs of %d steps, %d failed; memory %+.1f MB after the first %d\n", runs, STEPS,
         failures, growth, WARM);
  unlink(path);
  return failures > 0 || growth > GROWTH;
}
