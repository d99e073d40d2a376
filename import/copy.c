// An instance in a copy of its world, and what an instance carries from step to step.
#include "instance.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Ids of a copied world differ from those of the original in the number of the world only.

static uint32_t key_of(const tn_world *world)
{
  tn_body_id body = {0};
  tn_shape_id shape = {0};
  if (tn_world_bodies(world, &body, 1) > 0) {
    return body.world;
  }
  return tn_world_shapes(world, &shape, 1) > 0 ? shape.world : 0;
}

#define MOVE_ID(id, key) ((id).world = TN_IS_NULL(id) ? 0 : (key))

static void move_ids(tn_instance *in, uint32_t key)
{
  const tn_model *model = in->model;
  MOVE_ID(in->ground, key);
  for (int i = 0; i < model->bodies.count; ++i) {
    MOVE_ID(in->bodies[i].id, key);
  }
  for (int i = 0; i < model->joints.count; ++i) {
    MOVE_ID(in->between[i].id, key);
    MOVE_ID(in->joints[i], key);
  }
  for (int i = 0; i < model->equalities.count; ++i) {
    MOVE_ID(in->equalities[i], key);
  }
  for (int i = 0; i < model->links.count; ++i) {
    MOVE_ID(in->links[i], key);
  }
  for (int i = 0; i < model->actuators.count; ++i) {
    MOVE_ID(in->pulls[i], key);
  }
  for (int i = 0; i < model->tendons.count; ++i) {
    MOVE_ID(in->paths[i], key);
  }
  for (int i = 0; i < in->couplings.count; ++i) {
    MOVE_ID(in->couplings.items[i], key);
  }
  for (int i = 0; i < in->shapes.count; ++i) {
    MOVE_ID(in->shapes.items[i], key);
  }
}

static bool has_bodies(const tn_instance *in)
{
  for (int i = 0; i < in->model->bodies.count; ++i) {
    if (!TN_IS_NULL(in->bodies[i].id) && !tn_body_is_valid(in->world, in->bodies[i].id)) {
      return false;
    }
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    if (!TN_IS_NULL(in->joints[i]) && !tn_joint_is_valid(in->world, in->joints[i])) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Copy

static void *take_copy(memory *m, const void *items, int count, size_t size)
{
  void *made = memory_take(m, (size_t)count + 1, size);
  if (made && items) {
    memcpy(made, items, (size_t)count * size);
  }
  return made;
}

#define COPY(name, count) in->name = take_copy(m, from->name, count, sizeof *from->name)

// Geometries stay with the original, so that nothing of them is taken over.
static bool copy_arrays(tn_instance *in, const tn_instance *from)
{
  const tn_model *model = from->model;
  memory *m = &in->memory;
  COPY(owners, model->bodies.count);
  COPY(welded, model->bodies.count);
  COPY(local, model->bodies.count);
  COPY(reference, model->bodies.count);
  COPY(bodies, model->bodies.count);
  COPY(past, model->bodies.count);
  COPY(between, model->joints.count);
  COPY(joints, model->joints.count);
  COPY(links, model->links.count);
  COPY(equalities, model->equalities.count);
  COPY(pulls, model->actuators.count);
  COPY(controls, model->actuators.count);
  COPY(activations, model->actuators.count);
  COPY(servo_damping, model->actuators.count);
  COPY(muscles, model->actuators.count);
  COPY(paths, model->tendons.count);
  COPY(fixed_lengths, model->tendons.count);
  COPY(couplings.items, from->couplings.count);
  COPY(shapes.items, from->shapes.count);
  in->couplings.count = in->couplings.capacity = from->couplings.count;
  in->shapes.count = in->shapes.capacity = from->shapes.count;
  return !m->failed;
}

tn_instance *tn_instance_copy(const tn_instance *from, tn_world *world)
{
  tn_instance *in = from && world ? calloc(1, sizeof *in) : NULL;
  if (!in) {
    return NULL;
  }
  in->world = world;
  in->model = from->model;
  in->place = from->place;
  in->ground = from->ground;
  in->time = from->time;
  in->past_dt = from->past_dt;
  if (copy_arrays(in, from)) {
    move_ids(in, key_of(world));
    if (has_bodies(in) && build_articulation(in)) {
      return in;
    }
  }
  tn_instance_destroy(in);
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// State

enum { PER_BODY = 6, PER_ACTUATOR = 2, PER_INSTANCE = 2 };

static int state_size(const tn_instance *in)
{
  return PER_INSTANCE + PER_BODY * in->model->bodies.count +
         PER_ACTUATOR * in->model->actuators.count;
}

int tn_instance_state(const tn_instance *in, double *numbers, int capacity)
{
  int size = in ? state_size(in) : 0;
  if (size == 0 || !numbers || capacity < size) {
    return size;
  }
  double *at = numbers;
  *at++ = in->time;
  *at++ = in->past_dt;
  for (int i = 0; i < in->model->bodies.count; ++i, at += PER_BODY) {
    memcpy(at, &in->past[i].velocity, 3 * sizeof *at);
    memcpy(at + 3, &in->past[i].spin, 3 * sizeof *at);
  }
  for (int i = 0; i < in->model->actuators.count; ++i, at += PER_ACTUATOR) {
    at[0] = in->controls[i];
    at[1] = in->activations[i];
  }
  return size;
}

bool tn_instance_set_state(tn_instance *in, const double *numbers, int count)
{
  if (!in || !numbers || count != state_size(in)) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (!isfinite(numbers[i])) {
      return false;
    }
  }
  const double *at = numbers;
  in->time = *at++;
  in->past_dt = *at++;
  for (int i = 0; i < in->model->bodies.count; ++i, at += PER_BODY) {
    memcpy(&in->past[i].velocity, at, 3 * sizeof *at);
    memcpy(&in->past[i].spin, at + 3, 3 * sizeof *at);
  }
  for (int i = 0; i < in->model->actuators.count; ++i, at += PER_ACTUATOR) {
    in->controls[i] = at[0];
    in->activations[i] = at[1];
  }
  return true;
}
