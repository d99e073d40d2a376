#include "room.h"

static void say_nothing(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

tn_world_def room_def(tn_allocator memory)
{
  tn_world_def def = tn_default_world_def();
  def.allocator = memory;
  def.log = say_nothing;
  def.lanes = 1;
  return def;
}

static void take_spare(batch_world *w, size_t size)
{
  w->spare.bytes = w->memory.alloc(size, 64, w->memory.context);
  w->spare.capacity = w->spare.bytes ? size : 0;
}

// Saves the state that a reset goes back to. What putting it back takes is held in spare.
static bool prepare_reset(batch_world *w, arena *a)
{
  w->key = batch_key_of(w->world);
  if (!batch_save(w, &w->start)) {
    return false;
  }
  size_t most = a->most;
  a->most = a->used;
  bool ok = batch_restore(w, &w->start);
  take_spare(w, a->most - a->used);
  a->most = most > a->most ? most : a->most;
  return ok && w->spare.bytes;
}

static void open_room(batch_world *w, arena *a, size_t size, arena_pool *pool)
{
  arena_open(a, size, pool);
  w->memory = arena_allocator(a);
  w->start = w->spare = (batch_state){0};
}

bool room_make(batch_world *w, arena *a, size_t size, arena_pool *pool, const tn_world *original)
{
  open_room(w, a, size, pool);
  tn_world_def def = room_def(w->memory);
  w->world = tn_world_copy(original, &def);
  return w->world && prepare_reset(w, a) && !a->overflowed;
}

bool room_put(batch_world *w, arena *a, size_t size, arena_pool *pool, const void *snapshot,
              size_t snapshot_size)
{
  open_room(w, a, size, pool);
  tn_world_def def = room_def(w->memory);
  w->world = tn_world_create(&def);
  return w->world && tn_world_restore(w->world, snapshot, snapshot_size) && prepare_reset(w, a) &&
         !a->overflowed;
}

bool room_reset(batch_world *w, const void *state, size_t state_size)
{
  size_t size = w->spare.capacity;
  batch_free_state(&w->spare, w->memory);
  bool ok = tn_world_restore_state(w->world, state, state_size);
  take_spare(w, size);
  return ok;
}
