// The list of what moved in a step. A step notes slots only; poses are computed when they are asked
// for, so that the list costs next to nothing if nobody does.
#include "solver/moves.h"

#include "data/ids.h"
#include "solver/solver.h"

void moves_note_body(tn_world *world, int32_t awake_index, bool is_moved)
{
  int32_t slot = world->awake[awake_index];
  world->moves[awake_index] =
      (move_record){is_moved ? slot : NO_SLOT, world->bodies[slot].generation, false, false};
}

void moves_note_asleep(tn_world *world, int32_t awake_index)
{
  int32_t slot = world->awake[awake_index];
  world->moves[awake_index] = (move_record){slot, world->bodies[slot].generation, false, true};
}

// A soft body that was awake in the step has a place in the solver, also if it sleeps now.
static void record_soft(tn_world *world, int32_t slot)
{
  const soft *s = &world->softs[slot];
  if (s->alive && (!s->asleep || s->first > 0)) {
    world->moves[world->move_count++] = (move_record){slot, s->generation, true, s->asleep};
  }
}

bool moves_reserve(tn_world *world)
{
  return heap_reserve(&world->heap, (void **)&world->moves, &world->move_capacity,
                      world->awake_count + world->soft_pool.used, sizeof(move_record));
}

void moves_record_softs(tn_world *world)
{
  world->move_count = world->awake_count;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    record_soft(world, i);
  }
}

static bool is_alive(const tn_world *world, const move_record *m)
{
  if (m->slot == NO_SLOT) {
    return false;
  }
  return m->is_soft
             ? world->softs[m->slot].alive && world->softs[m->slot].generation == m->generation
             : world->bodies[m->slot].alive && world->bodies[m->slot].generation == m->generation;
}

static tn_move_event event_of(const tn_world *world, const move_record *m)
{
  tn_move_event e = {.pose = {{0.0, 0.0, 0.0}, tn_quat_identity()}, .fell_asleep = m->fell_asleep};
  if (m->is_soft) {
    e.soft = soft_id_at(world, m->slot);
    e.user_data = world->softs[m->slot].user_data;
  } else {
    e.body = body_id_at(world, m->slot);
    e.pose = body_transform_of(&world->bodies[m->slot]);
    e.user_data = world->bodies[m->slot].user_data;
  }
  return e;
}

int tn_world_moved(const tn_world *world, tn_move_event *events, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->move_count; ++i) {
    const move_record *m = &world->moves[i];
    if (is_alive(world, m)) {
      if (events && count < capacity) {
        events[count] = event_of(world, m);
      }
      count += 1;
    }
  }
  return count;
}
