// Any sequence of public calls, with ordinary and wild arguments, on two worlds that differ in
// lanes and threads, with saves and restores between them. Both have the same hash after every
// step, their numbers are finite, and their events name what is there.
//
// An input is a byte of options and the records of a recording (src/data/record_format.h) without
// its header.
#include "churn.h"
#include "data/record_format.h"
#include "fuzz.h"

#include <tenon/recorder.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 48, MOST_BODIES = 150, MOST_PARTICLES = 1200, MOST_REPEATS = 6 };

// ---------------------------------------------------------------------------------------------
// The input as a recording

// Many substeps are valid, but slow.
static void bound_repeats(uint8_t *at, const uint8_t *end)
{
  uint32_t substeps = record_name_hash("tn_world_set_substeps");
  uint32_t iterations = record_name_hash("tn_world_set_iterations");
  while (end - at >= RECORD_HEAD) {
    uint32_t name, size;
    memcpy(&name, at, 4);
    memcpy(&size, at + 4, 4);
    at += RECORD_HEAD;
    if (size > (size_t)(end - at)) {
      return;
    }
    int32_t count;
    if ((name == substeps || name == iterations) && size == 4) {
      memcpy(&count, at, 4);
      count = count > MOST_REPEATS ? 1 + count % MOST_REPEATS : count;
      memcpy(at, &count, 4);
    }
    at += size;
  }
}

static uint8_t *recording_of(const uint8_t *data, size_t size, size_t *whole)
{
  tn_world_def def = tn_default_world_def();
  def.substeps = 1 + (data[0] >> 5 & 3);
  def.sleeping = data[0] >> 4 & 1;
  record_writer w = {0};
  record_put_header(&w, &def);
  record_put(&w, data + 1, size - 1);
  if (w.failed) {
    free(w.bytes);
    return NULL;
  }
  bound_repeats(w.bytes + RECORD_HEADER_SIZE, w.bytes + w.size);
  *whole = w.size;
  return w.bytes;
}

// ---------------------------------------------------------------------------------------------
// Two worlds in lockstep

static tn_replay *open_replay(const uint8_t *bytes, size_t size, int lanes, int threads)
{
  tn_world_def def = fuzz_world_def();
  def.lanes = lanes;
  def.threads = threads;
  return tn_replay_create(bytes, size, &def);
}

static void compare(tn_world *a, tn_world *b, const char *what)
{
  if (tn_world_hash(a) != tn_world_hash(b)) {
    fuzz_fail(what);
  }
}

static void copy_world(tn_world *from, tn_world *to)
{
  size_t size = tn_world_save(from, NULL, 0);
  void *bytes = malloc(size);
  if (bytes && tn_world_save(from, bytes, size) == size) {
    if (!tn_world_restore(to, bytes, size)) {
      fuzz_fail("a saved world is refused");
    }
    compare(from, to, "a restored world differs");
  }
  free(bytes);
}

static bool is_large(const tn_world *world)
{
  tn_counters c = tn_world_counters(world);
  return c.bodies > MOST_BODIES || c.particles > MOST_PARTICLES;
}

static void run(tn_replay *a, tn_replay *b, int restore_every)
{
  tn_world *left = tn_replay_world(a), *right = tn_replay_world(b);
  tn_replay_frame x, y;
  for (int i = 0; i < MOST_STEPS && !is_large(left); ++i) {
    bool more = tn_replay_step(a, &x);
    if (more != tn_replay_step(b, &y)) {
      fuzz_fail("one world took a step, the other did not");
    }
    if (!more) {
      compare(left, right, "the worlds differ at the end");
      return;
    }
    if (x.hash != y.hash || x.status != y.status) {
      fuzz_fail("the worlds differ");
    }
    fuzz_check_finite(left);
    const char *problem = churn_event_problem(left);
    if (problem) {
      fuzz_fail(problem);
    }
    if (i % restore_every == restore_every - 1) {
      copy_world(i % 2 ? left : right, i % 2 ? right : left);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t whole;
  int lanes[4], widths = test_lanes(lanes);
  uint8_t *bytes = size > 1 ? recording_of(data, size, &whole) : NULL;
  if (!bytes) {
    return 0;
  }
  tn_replay *a = open_replay(bytes, whole, 1, 1);
  tn_replay *b = open_replay(bytes, whole, lanes[data[0] % widths], 1 + (data[0] >> 3 & 1));
  if (a && b) {
    run(a, b, 3 + (data[0] & 7));
  }
  tn_replay_destroy(a);
  tn_replay_destroy(b);
  free(bytes);
  return 0;
}
