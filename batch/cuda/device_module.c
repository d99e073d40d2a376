// The device's side of a batch: what a thread does with its world. Together with the library this
// file is compiled for the device, and for the CPU to test it there.
//
// A world lives in an arena of its own, with its batch_world before it. The original, whose
// geometries all worlds share, lives in a larger one. All are made on the device, of the snapshot
// of the original, so that no address of the host gets there.
#include "device_call.h"
#include "device_libc.h"
#include "room.h"

#include <assert.h>

// Before the arena of the original.
typedef struct shared_head {
  tn_world *original; // null: there was not enough memory
  batch_items items;
} shared_head;

static_assert(sizeof(batch_world) <= DEVICE_HEAD, "room before an arena");
static_assert(sizeof(shared_head) <= DEVICE_HEAD, "room before an arena");

static shared_head *shared_of(const device_call *c)
{
  return (shared_head *)c->shared;
}

static batch_world *world_of(const device_call *c, int index)
{
  return (batch_world *)(c->worlds + (uint64_t)index * c->world_size);
}

static bool is_masked(const device_call *c, int index)
{
  return c->mask && !c->mask[index];
}

static void set_result(const device_call *c, int index, bool ok)
{
  c->results[index] = ok ? 0 : TN_STEP_REJECTED;
}

static arena *arena_of(batch_world *w)
{
  return (arena *)((char *)w + DEVICE_HEAD);
}

void device_open(const device_call *c, int index)
{
  shared_head *head = shared_of(c);
  arena *a = (arena *)(c->shared + DEVICE_HEAD);
  arena_open(a, c->shared_size - DEVICE_HEAD);
  tn_world_def def = room_def(arena_allocator(a));
  device_set_heap(&def.allocator); // hulls are built again
  head->original = tn_world_create(&def);
  bool ok = head->original && tn_world_restore(head->original, c->snapshot, c->snapshot_size) &&
            batch_list_items(&head->items, head->original, def.allocator);
  head->original = ok ? head->original : NULL;
  device_set_heap(NULL);
  set_result(c, index, ok);
}

void device_make(const device_call *c, int index)
{
  const shared_head *head = shared_of(c);
  batch_world *w = world_of(c, index);
  *w = (batch_world){.index = index, .items = &head->items};
  set_result(c, index, room_make(w, arena_of(w), c->world_size - DEVICE_HEAD, head->original));
}

void device_step(const device_call *c, int index)
{
  tn_world *world = world_of(c, index)->world;
  uint32_t status = 0;
  for (int i = 0; i < c->repeat; ++i) {
    status |= tn_world_step(world, c->dt);
  }
  c->results[index] = status;
}

void device_hash(const device_call *c, int index)
{
  c->hashes[index] = tn_world_hash(world_of(c, index)->world);
}

void device_keep(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, is_masked(c, index) || batch_save(w, &w->start));
}

void device_reset(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, is_masked(c, index) || room_reset(w, &w->start));
}

void device_send(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, index != c->from || batch_save(w, &w->sent));
}

void device_spread(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, room_reset(w, &world_of(c, c->from)->sent));
}

void device_rows(const device_call *c, int index)
{
  const batch_world *w = world_of(c, index);
  set_result(c, index, is_masked(c, index) || batch_code_world(&c->rows, w));
}
