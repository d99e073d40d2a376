// Waking. A sleeping island is a circular list (ring), so that waking one member wakes all.
#include "data/wake.h"

#include "data/events.h"
#include "data/world.h"

#include <stdlib.h>

int32_t sleep_ring_index(int32_t soft_slot)
{
  return -2 - soft_slot;
}

// Wakes a member of a ring; returns the next one, or NO_SLOT if it was awake.
static int32_t wake_ring_member(tn_world *world, int32_t place)
{
  if (place < NO_SLOT) {
    soft *s = &world->softs[sleep_ring_index(place)];
    bool was = s->asleep;
    s->sleep_time = 0.0f;
    s->asleep = false;
    world->soft_layout_stale = world->soft_layout_stale || was;
    return was ? s->sleep_ring_next : NO_SLOT;
  }
  body *b = &world->bodies[place];
  bool was = b->asleep;
  b->sleep_time = 0.0f;
  b->asleep = false;
  if (was) {
    awake_list_note(world, place);
    world->joint_layout_stale = world->joint_layout_stale || has_links(b);
    add_sleep_event(world, place, false);
  }
  return was ? b->sleep_ring_next : NO_SLOT;
}

static void wake_ring(tn_world *world, int32_t place)
{
  while (place != NO_SLOT) {
    place = wake_ring_member(world, place);
  }
}

void body_wake(tn_world *world, int32_t slot)
{
  wake_ring(world, slot);
}

void soft_wake(tn_world *world, int32_t slot)
{
  wake_ring(world, sleep_ring_index(slot));
}

void wake_all(tn_world *world)
{
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (world->bodies[i].alive) {
      body_wake(world, i);
    }
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      soft_wake(world, i);
    }
  }
}

void awake_list_note(tn_world *world, int32_t body_slot)
{
  world->awake_list_stale = true;
  if (!heap_reserve(&world->heap, (void **)&world->changed_bodies, &world->changed_body_capacity,
                    world->changed_body_count + 1, sizeof(int32_t))) {
    world->awake_list_lost = true;
    return;
  }
  world->changed_bodies[world->changed_body_count++] = body_slot;
}

static void list_all_awake(tn_world *world)
{
  world->awake_count = 0;
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (moves(&world->bodies[i])) {
      world->awake[world->awake_count++] = i;
    }
  }
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// Merges the list with the changed bodies, which may be in it, and leaves out what does not move.
static void merge_changed(tn_world *world)
{
  const int32_t *old = world->awake, *changed = world->changed_bodies;
  int32_t *list = world->awake_scratch;
  int32_t count = 0, i = 0, k = 0;
  qsort(world->changed_bodies, (size_t)world->changed_body_count, sizeof(int32_t), by_slot);
  while (i < world->awake_count || k < world->changed_body_count) {
    bool from_old =
        k == world->changed_body_count || (i < world->awake_count && old[i] <= changed[k]);
    int32_t slot = from_old ? old[i++] : changed[k++];
    bool is_listed = count > 0 && list[count - 1] == slot;
    if (!is_listed && moves(&world->bodies[slot])) {
      list[count++] = slot;
    }
  }
  world->awake_scratch = world->awake;
  world->awake = list;
  int32_t capacity = world->awake_capacity;
  world->awake_capacity = world->awake_scratch_capacity;
  world->awake_scratch_capacity = capacity;
  world->awake_count = count;
}

static void list_active_blocks(tn_world *world)
{
  world->active_block_count = 0;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t block = world->awake[i] / BLOCK_WIDTH, count = world->active_block_count;
    if (count == 0 || world->active_blocks[count - 1] != block) {
      world->active_blocks[world->active_block_count++] = block;
    }
  }
}

bool awake_list_update(tn_world *world)
{
  if (!world->awake_list_stale) {
    return true;
  }
  int32_t most = world->awake_list_lost ? world->body_pool.used
                                        : world->awake_count + world->changed_body_count;
  if (!heap_reserve(&world->heap, (void **)&world->awake, &world->awake_capacity, most,
                    sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->awake_scratch, &world->awake_scratch_capacity,
                    most, sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->active_blocks, &world->active_block_capacity,
                    most, sizeof(int32_t))) {
    return false;
  }
  if (world->awake_list_lost) {
    list_all_awake(world);
  } else {
    merge_changed(world);
  }
  list_active_blocks(world);
  world->changed_body_count = 0;
  world->awake_list_stale = world->awake_list_lost = false;
  return true;
}
