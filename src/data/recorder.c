// Records the calls of a world; see recorder.h.
#include "data/recorder.h"
#include "data/record_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
  FILE *out;
  record_writer w; // of one record
  int paused;
  bool failed; // something could not be written, which has been logged
};

static void flush_record(tn_world *world, recorder *r)
{
  bool ok = !r->w.failed && fwrite(r->w.bytes, 1, r->w.size, r->out) == r->w.size;
  if (!ok && !r->failed) {
    report(&world->log, TN_LOG_ERROR, "tn_world_record_calls: the recording cannot be written");
  }
  r->failed = r->failed || !ok;
  r->w.size = 0;
  r->w.failed = false;
}

recorder *recorder_open(tn_world *world, const char *path, const tn_world_def *def)
{
  recorder *r = calloc(1, sizeof *r);
  FILE *out = r ? fopen(path, "wb") : NULL;
  if (!out) {
    report(&world->log, TN_LOG_ERROR, "tn_world_record_calls: %s cannot be opened", path);
    free(r);
    return NULL;
  }
  r->out = out;
  r->w.world = world->world_id;
  record_put_header(&r->w, def);
  flush_record(world, r);
  return r;
}

bool recorder_close(recorder *r)
{
  bool ok = fclose(r->out) == 0 && !r->failed;
  free(r->w.bytes);
  free(r);
  return ok;
}

void recorder_call(tn_world *world, int call, const void *const *arguments)
{
  recorder *r = world->recorder;
  if (!r->paused && !r->failed) {
    record_put_call(&r->w, call, arguments);
    flush_record(world, r);
  }
}

void recorder_result(tn_world *world, uint32_t status)
{
  recorder *r = world->recorder;
  uint64_t hash = tn_world_hash(world);
  char bytes[12];
  memcpy(bytes, &status, sizeof status);
  memcpy(bytes + 4, &hash, sizeof hash);
  if (!r->paused && !r->failed) {
    record_put_record(&r->w, RECORD_RESULT, bytes, sizeof bytes);
    flush_record(world, r);
    r->failed = fflush(r->out) != 0 || r->failed; // what led to a crash is in the file
  }
}

void recorder_state(tn_world *world)
{
  recorder *r = world->recorder;
  size_t size = r->paused || r->failed ? 0 : tn_world_save(world, NULL, 0);
  void *bytes = size > 0 ? malloc(size) : NULL;
  if (bytes && tn_world_save(world, bytes, size) == size) {
    record_put_record(&r->w, RECORD_STATE, bytes, size);
    flush_record(world, r);
  } else if (size > 0) {
    report(&world->log, TN_LOG_ERROR, "tn_world_record_calls: out of memory");
    r->failed = true;
  }
  free(bytes);
}

void recorder_pause(tn_world *world, int by)
{
  world->recorder->paused += by;
}
