// Any sequence of public calls, with ordinary and wild arguments, on two worlds that differ in
// lanes and threads, with saves and restores between them. Both have the same hash after every
// step, their numbers are finite, and their events name what is there.
//
// An input is not a recording but a list of changes to one of a few, so that it survives changes of
// the format: a byte of options, a byte that chooses the recording, then four bytes a change, the
// seed of calls_mutate().
#include "calls.h"
#include "churn.h"
#include "data/record_format.h"
#include "data/recorded_calls.h"
#include "fuzz.h"

#include <tenon/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCES = 64, SOURCE_STEPS = 20, MOST_STEPS = 12, MOST_BODIES = 150 };
enum { MOST_PARTICLES = 1200, MOST_REPEATS = 6, HEAD = 2, EDIT = 4, MOST_EDITS = 24 };
enum { CAPACITY = 1 << 17 };

// ---------------------------------------------------------------------------------------------
// Recordings of churn

typedef struct records {
  uint8_t *bytes;
  size_t size;
} records;

static records read_records(const char *path)
{
  records r = {malloc(CAPACITY), 0};
  FILE *in = fopen(path, "rb");
  if (r.bytes && in && fseek(in, RECORD_HEADER_SIZE, SEEK_SET) == 0) {
    r.size = fread(r.bytes, 1, CAPACITY, in);
  }
  if (in) {
    fclose(in);
  }
  return r;
}

static void record_churn(int which, const char *path)
{
  churn c = {.chaos = which % 2 == 1};
  c.world[c.count++] = test_world_with(2, TN_METHOD_TENON, 1, 1);
  tn_world_record_calls(c.world[0], path);
  churn_begin(&c, (uint32_t)(7 * which + 1));
  c.pace = 0.5f + 0.5f * (float)(which % 4);
  while (c.step < SOURCE_STEPS) {
    churn_step(&c);
  }
  tn_world_destroy(c.world[0]);
}

static records source(int which)
{
  static records kept[SOURCES];
  records *r = &kept[which];
  char path[] = "/tmp/tenon_fuzz_XXXXXX";
  int handle = r->bytes ? -1 : mkstemp(path);
  if (handle >= 0) {
    close(handle);
    record_churn(which, path);
    *r = read_records(path);
    unlink(path);
  }
  return *r;
}

// ---------------------------------------------------------------------------------------------
// The input as a recording

// Many substeps are valid, but slow.
static void bound_repeats(uint32_t name, uint8_t *content, uint32_t size)
{
  int32_t count;
  if (size == sizeof count && (name == record_name_hash("tn_world_set_substeps") ||
                               name == record_name_hash("tn_world_set_iterations"))) {
    memcpy(&count, content, sizeof count);
    count = count > MOST_REPEATS ? 1 + count % MOST_REPEATS : count;
    memcpy(content, &count, sizeof count);
  }
}

static bool can_be_read(uint32_t name, const uint8_t *content, uint32_t size)
{
  void *a[RECORD_MOST_ARGUMENTS] = {0};
  for (int i = 0; i < RECORD_CALL_COUNT; ++i) {
    if (record_name_hash(record_calls[i].name) == name) {
      record_reader r = {.at = content, .end = content + size, .world = 1};
      bool ok = record_get_call(&r, i, a);
      record_release(&r);
      return ok;
    }
  }
  return false;
}

// Leaves out calls whose arguments do not fit together any more, which would end the replay, and
// results, which belong to the unchanged recording.
static void put_records(record_writer *w, uint8_t *at, const uint8_t *end)
{
  while (end - at >= RECORD_HEAD) {
    uint32_t name, size;
    memcpy(&name, at, 4);
    memcpy(&size, at + 4, 4);
    if (size > (size_t)(end - at) - RECORD_HEAD) {
      return;
    }
    bound_repeats(name, at + RECORD_HEAD, size);
    if (can_be_read(name, at + RECORD_HEAD, size)) {
      record_put(w, at, RECORD_HEAD + size);
    }
    at += RECORD_HEAD + size;
  }
}

static uint8_t *recording_of(const uint8_t *data, size_t size, size_t *whole)
{
  static uint8_t room[CAPACITY];
  records from = source(data[1] % SOURCES);
  size_t length = from.size;
  if (length == 0) {
    fuzz_fail("a churn cannot be recorded");
  }
  memcpy(room, from.bytes, length);
  for (size_t i = HEAD; i + EDIT <= size && i < HEAD + EDIT * MOST_EDITS; i += EDIT) {
    uint32_t seed;
    memcpy(&seed, data + i, sizeof seed);
    length = calls_mutate(room, length, CAPACITY, seed);
  }
  tn_world_def def = tn_default_world_def();
  def.substeps = 1 + (data[0] >> 5 & 3);
  def.sleeping = data[0] >> 4 & 1;
  int method = data[1] / SOURCES; // half of the recordings run with the default
  def.method = method < 2 ? TN_METHOD_TENON : method == 2 ? TN_METHOD_XPBD : TN_METHOD_JACOBI;
  record_writer w = {0};
  record_put_header(&w, &def);
  put_records(&w, room, room + length);
  if (w.failed) {
    free(w.bytes);
    return NULL;
  }
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

static void copy_world(tn_world *from, tn_world *to, bool state)
{
  size_t (*save)(const tn_world *, void *, size_t) = state ? tn_world_save_state : tn_world_save;
  size_t size = save(from, NULL, 0);
  void *bytes = malloc(size);
  if (bytes && save(from, bytes, size) == size) {
    if (!(state ? tn_world_restore_state(to, bytes, size) : tn_world_restore(to, bytes, size))) {
      fuzz_fail(state ? "a saved state is refused" : "a saved world is refused");
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
      if (tn_replay_problem(a)) {
        fuzz_fail(tn_replay_problem(a));
      }
      return;
    }
    if (x.hash != y.hash || x.status != y.status) {
      fuzz_fail("the worlds differ");
    }
    fuzz_check_finite(left);
    // A step that is refused leaves the events of the last one, which calls may have made stale.
    const char *problem = x.status & TN_STEP_REJECTED ? NULL : churn_event_problem(left);
    if (problem) {
      fuzz_fail(problem);
    }
    if (i % restore_every == restore_every - 1) {
      copy_world(i % 2 ? left : right, i % 2 ? right : left, i % 3 == 0);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t whole;
  int lanes[4], widths = test_lanes(lanes);
  uint8_t *bytes = size >= HEAD ? recording_of(data, size, &whole) : NULL;
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

// Adds, removes or changes an edit; the same seed makes the same change.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  fuzz_random r = {seed};
  if (size < HEAD) {
    data[0] = (uint8_t)fuzz_next(&r);
    data[1] = (uint8_t)fuzz_next(&r);
    size = HEAD;
  }
  int edits = (int)((size - HEAD) / EDIT);
  uint32_t edit = fuzz_next(&r);
  size = HEAD + (size_t)edits * EDIT;
  switch (fuzz_index(&r, 8)) {
  case 0:
    data[fuzz_index(&r, HEAD)] = (uint8_t)edit;
    return size;
  case 1:
    return edits > 0 ? size - EDIT : size;
  case 2:
    if (edits > 0) {
      memcpy(data + HEAD + EDIT * (size_t)fuzz_index(&r, edits), &edit, EDIT);
    }
    return size;
  default:
    if (edits < MOST_EDITS && size + EDIT <= capacity) {
      memcpy(data + size, &edit, EDIT);
      size += EDIT;
    }
    return size;
  }
}
