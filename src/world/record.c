// Starts and ends recordings of a world; src/data/recorder.h writes them.
#include "data/recorder.h"
#include "data/world.h"

#include <tenon/recorder.h>

static bool is_new(const tn_world *world)
{
  return world->last_h == 0.0f && world->body_pool.used <= 1 && world->geometry_pool.used == 0 &&
         world->shape_pool.used == 0 && world->joint_pool.used == 0 &&
         world->coupling_pool.used == 0 && world->soft_pool.used == 0 &&
         world->attachment_pool.used == 0;
}

static tn_world_def settings_of(const tn_world *world)
{
  tn_world_def def = tn_default_world_def();
  def.gravity = world->gravity;
  def.method = world->method;
  def.sleeping = world->sleeping;
  def.substeps = world->substeps;
  def.iterations = world->iterations;
  def.threads = world->threads;
  def.lanes = world->lanes;
  def.limits = world->limits;
  return def;
}

bool tn_world_record_calls(tn_world *world, const char *path)
{
  if (!world) {
    return false;
  }
#if defined(TN_NO_RECORDER)
  (void)is_new, (void)settings_of;
  if (path) {
    report(&world->log, TN_LOG_ERROR, "tn_world_record_calls: this build has no recorder");
  }
  return !path;
#else
  bool ok = !world->recorder || recorder_close(world->recorder);
  world->recorder = NULL;
  if (path) {
    tn_world_def def = settings_of(world);
    world->recorder = recorder_open(world, path, &def);
    ok = ok && world->recorder;
  }
  if (world->recorder) {
    RECORD(world, tn_world_set_sleep_speed, &world->sleep_speed);
    RECORD(world, tn_world_set_sleep_time, &world->sleep_time);
    RECORD(world, tn_world_set_play, &world->play);
  }
  if (world->recorder && !is_new(world)) {
    recorder_state(world);
  }
  if (world->recorder && world->pair_filter) {
    report(&world->log, TN_LOG_WARNING, "tn_world_record_calls: the pair filter is not recorded");
  }
  return ok;
#endif
}
