// Runs recordings again: decodes each record, makes the call, and after a step compares status and
// hash with the recorded ones.
#include "data/record_format.h"
#include "data/world.h"
#include "tools/replay_calls.h"

#include <tenon/recorder.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tn_replay {
  tn_world *world;
  const uint8_t *bytes, *at, *end;
  tn_log_fn *log;
  void *log_context;
  int frame;
  char problem[96];
};

// Index of a call by the hash of its name, or -1.
static int find_call(uint32_t hash)
{
  for (int i = 0; i < RECORD_CALL_COUNT; ++i) {
    if (record_name_hash(record_calls[i].name) == hash) {
      return i;
    }
  }
  return -1;
}

static void say(tn_log_fn *log, void *context, const char *message)
{
  if (log) {
    log(TN_LOG_ERROR, message, context);
  } else {
    log_to_stderr(TN_LOG_ERROR, message, NULL);
  }
}

tn_replay *tn_replay_create(const void *bytes, size_t size, const tn_world_def *def)
{
  tn_log_fn *log = def ? def->log : NULL;
  void *context = def ? def->log_context : NULL;
  tn_world_def recorded = tn_default_world_def();
  if (!bytes || !record_get_header(bytes, size, &recorded)) {
    say(log, context, "tn_replay_create: this is no recording");
    return NULL;
  }
  tn_world_def own = def ? *def : recorded;
  own.gravity = recorded.gravity;
  own.method = recorded.method;
  own.sleeping = recorded.sleeping;
  own.substeps = recorded.substeps;
  own.iterations = recorded.iterations;
  own.limits = recorded.limits;
  own.lanes = def ? def->lanes : 0; // the recording may come from a machine with other lanes
  tn_replay *replay = calloc(1, sizeof *replay);
  tn_world *world = replay ? tn_world_create(&own) : NULL;
  if (!world) {
    free(replay);
    return NULL;
  }
  replay->world = world;
  replay->bytes = bytes;
  replay->at = replay->bytes + RECORD_HEADER_SIZE;
  replay->end = replay->bytes + size;
  replay->log = log;
  replay->log_context = context;
  return replay;
}

void tn_replay_destroy(tn_replay *replay)
{
  if (replay) {
    tn_world_destroy(replay->world);
    free(replay);
  }
}

tn_world *tn_replay_world(tn_replay *replay)
{
  return replay ? replay->world : NULL;
}

const char *tn_replay_problem(const tn_replay *replay)
{
  return replay && replay->problem[0] ? replay->problem : NULL;
}

static bool stop(tn_replay *replay, const char *why)
{
  snprintf(replay->problem, sizeof replay->problem, "byte %zu: %s",
           (size_t)(replay->at - replay->bytes), why);
  return false;
}

typedef struct record_view {
  uint32_t name;
  const uint8_t *content, *end;
} record_view;

static bool next_record(tn_replay *replay, record_view *view)
{
  size_t left = (size_t)(replay->end - replay->at);
  if (left < RECORD_HEAD) {
    return left > 0 && stop(replay, "the recording is cut off");
  }
  uint32_t size;
  memcpy(&view->name, replay->at, sizeof view->name);
  memcpy(&size, replay->at + 4, sizeof size);
  if (size > left - RECORD_HEAD) {
    return stop(replay, "the recording is cut off");
  }
  view->content = replay->at + RECORD_HEAD;
  view->end = view->content + size;
  return true;
}

static bool make_call(tn_replay *replay, const record_view *view, tn_replay_frame *frame,
                      bool *stepped)
{
  int call = find_call(view->name);
  if (call < 0) {
    return stop(replay, "a call that this version does not know");
  }
  record_reader r = {.at = view->content, .end = view->end, .world = replay->world->world_id};
  void *a[RECORD_MOST_ARGUMENTS] = {0};
  bool ok = record_get_call(&r, call, a);
  if (ok && call == CALL_tn_world_step) {
    float dt;
    memcpy(&dt, a[0], sizeof dt);
    frame->status = tn_world_step(replay->world, dt);
    *stepped = true;
  } else if (ok) {
    replay_functions[call](replay->world, a);
    frame->calls += 1;
  }
  record_release(&r);
  return ok || stop(replay, "the arguments of a call are damaged");
}

static bool take_result(tn_replay *replay, const record_view *view, tn_replay_frame *frame)
{
  if (view->end - view->content != 12) {
    return stop(replay, "a result is damaged");
  }
  memcpy(&frame->recorded_status, view->content, 4);
  memcpy(&frame->recorded_hash, view->content + 4, 8);
  return true;
}

// A recording may end right after a step that did not return.
static void end_frame(tn_replay *replay, tn_replay_frame *frame)
{
  record_view view;
  if ((size_t)(replay->end - replay->at) >= RECORD_HEAD && next_record(replay, &view) &&
      view.name == record_name_hash(RECORD_RESULT) && take_result(replay, &view, frame)) {
    replay->at = view.end;
  }
  frame->hash = tn_world_hash(replay->world);
  frame->last = (size_t)(replay->at - replay->bytes);
  frame->index = replay->frame++;
}

bool tn_replay_step(tn_replay *replay, tn_replay_frame *out)
{
  record_view view;
  if (!replay || replay->problem[0]) {
    return false;
  }
  tn_replay_frame frame = {.first = (size_t)(replay->at - replay->bytes)};
  for (bool stepped = false; !stepped;) {
    if (!next_record(replay, &view)) {
      return false;
    }
    if (view.name == record_name_hash(RECORD_STATE)) {
      size_t size = (size_t)(view.end - view.content);
      if (!tn_world_restore(replay->world, view.content, size)) {
        return stop(replay, "a state is damaged, or of another build");
      }
    } else if (view.name == record_name_hash(RECORD_RESULT)) {
      // of a step that was refused
    } else if (!make_call(replay, &view, &frame, &stepped)) {
      return false;
    }
    replay->at = view.end;
  }
  end_frame(replay, &frame);
  if (out) {
    *out = frame;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Cutting

static bool write_part(tn_replay *replay, size_t first, size_t last, const char *path)
{
  tn_world *world = replay->world;
  record_writer w = {.world = world->world_id};
  size_t size = tn_world_save(world, NULL, 0);
  void *state = malloc(size);
  if (state && tn_world_save(world, state, size) == size) {
    record_put(&w, replay->bytes, RECORD_HEADER_SIZE);
    record_put_record(&w, RECORD_STATE, state, size);
    record_put(&w, replay->bytes + first, last - first);
  }
  free(state);
  FILE *out = w.size > 0 && !w.failed ? fopen(path, "wb") : NULL;
  bool ok = out && fwrite(w.bytes, 1, w.size, out) == w.size;
  ok = out && fclose(out) == 0 && ok;
  free(w.bytes);
  return ok;
}

// The byte after step `to`; 0 if there is none. The world of the replay goes on to there.
static size_t end_of(const void *bytes, size_t size, int to)
{
  tn_replay *replay = tn_replay_create(bytes, size, NULL);
  tn_replay_frame frame = {0};
  bool ok = replay != NULL;
  while (ok && replay->frame < to) {
    ok = tn_replay_step(replay, &frame);
  }
  tn_replay_destroy(replay);
  return ok ? frame.last : 0;
}

bool tn_replay_cut(const void *bytes, size_t size, int from, int to, const char *path)
{
  tn_replay *replay = path && from >= 0 && to > from ? tn_replay_create(bytes, size, NULL) : NULL;
  bool ok = replay != NULL;
  while (ok && replay->frame < from) {
    ok = tn_replay_step(replay, NULL);
  }
  size_t first = ok ? (size_t)(replay->at - replay->bytes) : 0;
  size_t last = ok ? end_of(bytes, size, to) : 0;
  ok = last > first && write_part(replay, first, last, path);
  tn_replay_destroy(replay);
  return ok;
}
