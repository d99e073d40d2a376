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

bool room_make(batch_world *w, arena *a, size_t size, const tn_world *original)
{
  arena_open(a, size);
  w->memory = arena_allocator(a);
  tn_world_def def = room_def(w->memory);
  w->world = tn_world_copy(original, &def);
  w->key = batch_key_of(w->world);
  if (!w->world || !batch_save(w, &w->start)) {
    return false;
  }
  size_t most = a->most;
  a->most = a->used;
  bool ok = batch_restore(w, &w->start);
  take_spare(w, a->most - a->used);
  a->most = most > a->most ? most : a->most;
  return ok && w->spare.bytes;
}

bool room_reset(batch_world *w, const batch_state *s)
{
  size_t size = w->spare.capacity;
  batch_free_state(&w->spare, w->memory);
  bool ok = batch_restore(w, s);
  take_spare(w, size);
  return ok;
}
