// Waking. A sleeping island is a circular list (ring), so that waking one member wakes all.
#include "data/wake.h"

#include "data/events.h"
#include "data/world.h"

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
    world->awake_list_stale = true;
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

bool awake_list_update(tn_world *world)
{
  if (!world->awake_list_stale) {
    return true;
  }
  int32_t blocks = (world->body_pool.used + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
  if (!heap_reserve(&world->heap, (void **)&world->awake, &world->awake_capacity,
                    world->body_pool.used, sizeof(int32_t)) ||
      !heap_reserve(&world->heap, (void **)&world->active_blocks, &world->active_block_capacity,
                    blocks, sizeof(int32_t))) {
    return false;
  }
  world->awake_count = world->active_block_count = 0;
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (!moves(&world->bodies[i])) {
      continue;
    }
    world->awake[world->awake_count++] = i;
    int32_t block = i / BLOCK_WIDTH;
    int32_t count = world->active_block_count;
    if (count == 0 || world->active_blocks[count - 1] != block) {
      world->active_blocks[world->active_block_count++] = block;
    }
  }
  world->awake_list_stale = false;
  return true;
}
