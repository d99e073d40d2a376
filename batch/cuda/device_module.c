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
#include <string.h>

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

static bool is_left_out(const device_call *c, int index)
{
  return (c->mask && !c->mask[index]) || world_of(c, index)->has_left;
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
  arena_open(a, c->shared_size - DEVICE_HEAD, NULL);
  tn_world_def def = room_def(arena_allocator(a));
  device_set_heap(&def.allocator); // hulls are built again
  head->original = tn_world_create(&def);
  bool ok = head->original && tn_world_restore(head->original, c->bytes, c->size) &&
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
  set_result(c, index,
             room_make(w, arena_of(w), c->world_size - DEVICE_HEAD, c->pool, head->original));
}

void device_put(const device_call *c, int index)
{
  batch_world *w = world_of(c, c->first + index);
  tn_allocator heap = arena_allocator(arena_of(w));
  device_set_heap(&heap);
  w->has_left = !room_put(w, arena_of(w), c->world_size - DEVICE_HEAD, c->pool,
                          c->bytes + c->numbers[index], c->numbers[index + 1] - c->numbers[index]);
  device_set_heap(NULL);
  set_result(c, index, !w->has_left);
}

void device_step(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  const arena *a = arena_of(w);
  uint32_t status = 0;
  int made = 0;
  for (; !w->has_left && made < c->repeat && !a->overflowed; ++made) {
    status |= tn_world_step(w->world, c->dt);
  }
  c->results[index] = !w->has_left && a->overflowed ? status | DEVICE_OVERFLOWED : status;
  c->numbers[index] = (uint64_t)made;
}

void device_hash(const device_call *c, int index)
{
  const batch_world *w = world_of(c, index);
  c->numbers[index] = w->has_left ? 0 : tn_world_hash(w->world);
}

void device_keep(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, is_left_out(c, index) || batch_save(w, &w->start));
}

void device_reset(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, is_left_out(c, index) || room_reset(w, w->start.bytes, w->start.size));
}

void device_states(const device_call *c, int index)
{
  const batch_world *w = world_of(c, c->first + index);
  char *to = c->bytes + (uint64_t)index * c->size;
  c->numbers[index] = w->has_left ? 0 : tn_world_save_state(w->world, to, c->size);
}

void device_spread(const device_call *c, int index)
{
  batch_world *w = world_of(c, index);
  set_result(c, index, w->has_left || room_reset(w, c->bytes, c->size));
}

void device_rows(const device_call *c, int index)
{
  const batch_world *w = world_of(c, index);
  set_result(c, index, is_left_out(c, index) || batch_code_world(&c->rows, w));
}

void device_leave(const device_call *c, int index)
{
  batch_world *w = world_of(c, c->first);
  size_t size = tn_world_save(w->world, c->bytes, c->size);
  c->numbers[0] = size;
  c->numbers[1] = w->start.size;
  if (size + w->start.size <= c->size) {
    memcpy(c->bytes + size, w->start.bytes, w->start.size);
    w->has_left = true;
  }
  set_result(c, index, w->has_left);
}
