// Many worlds: a tn_batch, with messages and robots for each of its worlds.
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Life

// Messages of a world begin with its number: "world 3: ".
static void note_of_world(tn_log_level level, const char *message, void *context)
{
  tnp_batch *b = context;
  int index = 0, length = 0;
  bool named = sscanf(message, "world %d: %n", &index, &length) == 1 && length > 0 && index >= 0 &&
               index < b->count;
  tnp_note(&b->worlds[named ? index : 0], (int)level, named ? message + length : message);
}

bool tnp_batch_create(tnp_batch *b, const tn_world *world, int threads, int lanes)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = b->count;
  def.threads = threads;
  def.lanes = lanes;
  def.device = b->on_card ? tnp_cuda() : NULL;
  def.world_bytes = b->world_bytes;
  def.log = note_of_world;
  def.log_context = b;
  b->batch = tn_batch_create(&def);
  for (int i = 0; b->batch && !b->on_card && i < b->count; ++i) {
    b->worlds[i].world = tn_batch_world(b->batch, i);
  }
  return b->batch != NULL;
}

void tnp_batch_close(tnp_batch *b)
{
  for (int i = 0; i < b->count * b->robot_count; ++i) {
    tn_articulation_destroy(b->robots[i].articulation);
    tn_instance_destroy(b->robots[i].instance);
    b->robots[i].articulation = NULL;
    b->robots[i].instance = NULL;
  }
  for (int i = 0; i < b->count; ++i) {
    tnp_unwatch(&b->worlds[i]);
    b->worlds[i].world = NULL;
    b->worlds[i].robots = NULL;
  }
  tn_batch_destroy(b->batch);
  b->batch = NULL;
}

// ---------------------------------------------------------------------------------------------
// Robots

typedef struct robot_task {
  tnp_batch *batch;
  const tnp_robot *from;
  const tn_articulation_def *def;
  int slot; // of the robot in its world
} robot_task;

static tn_articulation *articulate(const robot_task *t, tn_world *world, uint32_t key)
{
  tn_articulation_def def = *t->def;
  tn_body_id *roots = calloc((size_t)def.root_count + 1, sizeof *roots);
  tn_joint_id *cuts = calloc((size_t)def.cut_count + 1, sizeof *cuts);
  tn_articulation *made = NULL;
  if (roots && cuts) {
    for (int i = 0; i < def.root_count; ++i) {
      roots[i] = def.roots[i];
      roots[i].world = key;
    }
    for (int i = 0; i < def.cut_count; ++i) {
      cuts[i] = def.cuts[i];
      cuts[i].world = key;
    }
    def.roots = roots;
    def.cuts = cuts;
    made = tn_articulation_create(world, &def);
  }
  free(roots);
  free(cuts);
  return made;
}

static void add_robot(tn_world *world, int index, void *context)
{
  const robot_task *t = context;
  tnp_batch *b = t->batch;
  tnp_robot *r = &b->robots[index * b->robot_count + t->slot];
  size_t at = (size_t)index * (size_t)t->from->actuator_count;
  *r = *t->from;
  r->target += at;
  r->applied += at;
  r->next = NULL;
  r->instance = t->from->instance ? tn_instance_copy(t->from->instance, world) : NULL;
  r->articulation =
      t->from->articulation ? articulate(t, world, tn_batch_world_key(b->batch, index)) : NULL;
  bool ok = !t->from->instance == !r->instance && !t->from->articulation == !r->articulation;
  b->status[index] = ok ? 0 : TN_STEP_OUT_OF_MEMORY;
  if (t->slot == 0) {
    b->worlds[index].robots = r;
  } else {
    r[-1].next = r;
  }
}

bool tnp_batch_add_robot(tnp_batch *b, int slot, const tnp_robot *from,
                         const tn_articulation_def *def)
{
  robot_task task = {b, from, def, slot};
  tn_batch_run(b->batch, add_robot, &task);
  for (int i = 0; i < b->count; ++i) {
    if (b->status[i] != 0) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Rows

static bool read_rows(tnp_batch *b, int i)
{
  tnp_world *w = &b->worlds[i];
  size_t first = (size_t)i * (size_t)b->body_count;
  bool ok = tn_bodies_read_poses(w->world, NULL, b->body_count, TN_DOUBLE,
                                 b->poses + first * TN_POSE_NUMBERS, 0) &&
            tn_bodies_read_velocities(w->world, NULL, b->body_count, TN_DOUBLE,
                                      b->velocities + first * TN_VELOCITY_NUMBERS, 0);
  if (w->robots && b->q) {
    ok = tnp_robot_read(w, w->robots, b->q + (size_t)i * (size_t)w->robots->position_count,
                        b->rates + (size_t)i * (size_t)w->robots->velocity_count, NULL) &&
         ok;
  }
  return ok;
}

static void read_one(tn_world *world, int i, void *context)
{
  (void)world;
  tnp_batch *b = context;
  b->status[i] = read_rows(b, i) ? 0 : TN_STEP_REJECTED;
}

static void step_one(tn_world *world, int i, void *context)
{
  (void)world;
  tnp_batch *b = context;
  b->status[i] = tnp_step(&b->worlds[i], b->dt, b->repeat);
  if (!read_rows(b, i)) {
    b->status[i] |= TN_STEP_REJECTED;
  }
}

static bool write_bodies(const tnp_batch *b, const tnp_world *w, size_t first)
{
  int count = b->body_count;
  return tn_bodies_write_poses(w->world, NULL, count, TN_DOUBLE, b->poses + first * TN_POSE_NUMBERS,
                               0) &&
         tn_bodies_write_velocities(w->world, NULL, count, TN_DOUBLE,
                                    b->velocities + first * TN_VELOCITY_NUMBERS, 0);
}

static bool write_coordinates(const tnp_batch *b, const tnp_robot *r, size_t world)
{
  const double *q = b->q + world * (size_t)r->position_count;
  const double *rates = b->rates + world * (size_t)r->velocity_count;
  return tn_articulation_set_positions(r->articulation, q, NULL) &&
         tn_articulation_set_velocities(r->articulation, rates, NULL);
}

static void write_one(tn_world *world, int i, void *context)
{
  (void)world;
  tnp_batch *b = context;
  tnp_world *w = &b->worlds[i];
  b->status[i] = 0;
  if (b->mask && !b->mask[i]) {
    return;
  }
  bool ok = b->writes_bodies ? write_bodies(b, w, (size_t)i * (size_t)b->body_count)
                             : !w->robots || write_coordinates(b, w->robots, (size_t)i);
  b->status[i] = ok && read_rows(b, i) ? 0 : TN_STEP_REJECTED;
}

void tnp_batch_forget(tnp_batch *b)
{
  for (int i = 0; i < b->count; ++i) {
    b->worlds[i].errors = 0;
  }
}

void tnp_batch_step(tnp_batch *b)
{
  tn_batch_run(b->batch, step_one, b);
}

void tnp_batch_read(tnp_batch *b)
{
  tn_batch_run(b->batch, read_one, b);
}

void tnp_batch_write(tnp_batch *b)
{
  tn_batch_run(b->batch, write_one, b);
}

// ---------------------------------------------------------------------------------------------
// Starts: states of the worlds, and of what robots carry from step to step

static void visit_states(tnp_batch *b, int world, bool reads)
{
  double *at = b->starts + (size_t)world * (size_t)b->start_count;
  for (tnp_robot *r = b->worlds[world].robots; r; r = r->next) {
    int count = tn_instance_state(r->instance, reads ? at : NULL, reads ? b->start_count : 0);
    if (!reads && count > 0) {
      tn_instance_set_state(r->instance, at, count);
    }
    at += count;
  }
}

bool tnp_batch_keep(tnp_batch *b)
{
  for (int i = 0; i < b->count; ++i) {
    visit_states(b, i, true);
  }
  return tn_batch_keep(b->batch, NULL);
}

void tnp_batch_reset(tnp_batch *b)
{
  tn_batch_reset(b->batch, b->mask);
  for (int i = 0; i < b->count; ++i) {
    if (!b->mask || b->mask[i]) {
      visit_states(b, i, false);
    }
  }
  tn_batch_run(b->batch, read_one, b);
  for (int i = 0; i < b->count; ++i) {
    b->status[i] |= b->worlds[i].errors ? (uint32_t)TN_STEP_REJECTED : 0;
  }
}

bool tnp_batch_derivatives(tnp_batch *b, double change, const double *forces, double *a,
                           double *input)
{
  tn_world *first = b->worlds[0].world;
  size_t size = tn_world_save_state(first, NULL, 0);
  void *bytes = malloc(size + 1);
  bool ok = bytes && tn_world_save_state(first, bytes, size) == size &&
            tn_batch_derivatives(b->batch, b->dt, b->repeat, change, forces, a, input);
  ok = bytes && tn_world_restore_state(first, bytes, size) && tn_batch_spread(b->batch, 0) && ok;
  free(bytes);
  tn_batch_run(b->batch, read_one, b);
  return ok;
}
