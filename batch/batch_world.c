// Items and states of one world of a batch.
#include "batch_world.h"

#include <string.h>

uint32_t batch_key_of(const tn_world *world)
{
  tn_body_id body = {0};
  tn_joint_id joint = {0};
  tn_shape_id shape = {0};
  tn_soft_id soft = {0};
  if (tn_world_bodies(world, &body, 1) > 0) {
    return body.world;
  }
  if (tn_world_shapes(world, &shape, 1) > 0) {
    return shape.world;
  }
  if (tn_world_joints(world, &joint, 1) > 0) {
    return joint.world;
  }
  return tn_world_softs(world, &soft, 1) > 0 ? soft.world : 0;
}

tn_body_id batch_body(const batch_world *w, int index)
{
  tn_body_id id = w->items->bodies[index];
  id.world = w->key;
  return id;
}

tn_shape_id batch_shape(const batch_world *w, int index)
{
  tn_shape_id id = w->items->shapes[index];
  id.world = w->key;
  return id;
}

tn_joint_id batch_joint(const batch_world *w, int index)
{
  tn_joint_id id = w->items->joints[index];
  id.world = w->key;
  return id;
}

// Room for one more, so that an empty list has memory too.
static size_t bytes_of(int count, size_t size)
{
  return ((size_t)count + 1) * size;
}

bool batch_list_items(batch_items *items, const tn_world *w, tn_allocator m)
{
  items->body_count = tn_world_bodies(w, NULL, 0);
  items->shape_count = tn_world_shapes(w, NULL, 0);
  items->joint_count = tn_world_joints(w, NULL, 0);
  items->bodies = m.alloc(bytes_of(items->body_count, sizeof *items->bodies), 64, m.context);
  items->shapes = m.alloc(bytes_of(items->shape_count, sizeof *items->shapes), 64, m.context);
  items->joints = m.alloc(bytes_of(items->joint_count, sizeof *items->joints), 64, m.context);
  if (!items->bodies || !items->shapes || !items->joints) {
    return false;
  }
  tn_world_bodies(w, items->bodies, items->body_count);
  tn_world_shapes(w, items->shapes, items->shape_count);
  tn_world_joints(w, items->joints, items->joint_count);
  return true;
}

static void release(tn_allocator m, void *memory, size_t size)
{
  if (memory) {
    m.release(memory, size, m.context);
  }
}

void batch_free_items(batch_items *items, tn_allocator m)
{
  release(m, items->bodies, bytes_of(items->body_count, sizeof *items->bodies));
  release(m, items->shapes, bytes_of(items->shape_count, sizeof *items->shapes));
  release(m, items->joints, bytes_of(items->joint_count, sizeof *items->joints));
  memset(items, 0, sizeof *items);
}

bool batch_save(const batch_world *w, batch_state *s)
{
  s->size = tn_world_save_state(w->world, s->bytes, s->capacity);
  if (s->size > s->capacity) {
    size_t capacity = s->size + s->size / 4;
    batch_free_state(s, w->memory);
    s->bytes = w->memory.alloc(capacity, 64, w->memory.context);
    if (!s->bytes) {
      return false;
    }
    s->capacity = capacity;
    s->size = tn_world_save_state(w->world, s->bytes, s->capacity);
  }
  return s->size > 0;
}

bool batch_restore(const batch_world *w, const batch_state *s)
{
  return tn_world_restore_state(w->world, s->bytes, s->size);
}

void batch_free_state(batch_state *s, tn_allocator m)
{
  release(m, s->bytes, s->capacity);
  memset(s, 0, sizeof *s);
}
