// Graph colouring of joints. Joints that share a dynamic body get different colours, so the joints
// of one colour can be solved in parallel, in lanes and on threads, with the result of solving them
// one by one. Colours are assigned in slot order: they do not depend on lanes or threads. Joints of
// mechanisms that are solved directly are left out.
#include "solver/joint/joint_graph.h"

#include "base/bits.h"
#include "data/world.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/mechanism/mechanism_build.h"
#include "solver/solver.h"

#include <string.h>

// Colour and type of a joint.
typedef struct placement {
  int32_t joint; // slot
  uint8_t color; // MAX_COLORS: no colour was free
  uint8_t type;  // JointType
} placement;

typedef struct builder {
  placement *placed; // in slot order
  int32_t placed_capacity, placed_count;
  uint64_t *used; // bit mask of the colours taken, by body
  int32_t body_count;
  // Joints of each colour and type; after lay_out_colors() the next free lane, counted over blocks.
  int32_t group[MAX_COLORS + 1][TYPE_COUNT];
} builder;

static bool is_dynamic(const tn_world *world, int32_t slot)
{
  return world->bodies[slot].type == TN_BODY_DYNAMIC;
}

static bool is_awake_dynamic(const tn_world *world, int32_t slot)
{
  return is_dynamic(world, slot) && !world->bodies[slot].asleep;
}

static bool can_act(const tn_world *world, const joint *j)
{
  return j->alive && j->def.enabled &&
         (is_dynamic(world, j->slot[0]) || is_dynamic(world, j->slot[1]));
}

static bool is_solved(const tn_world *world, const joint *j)
{
  return can_act(world, j) &&
         (is_awake_dynamic(world, j->slot[0]) || is_awake_dynamic(world, j->slot[1]));
}

static bool is_coupling_solved(const tn_world *world, const coupling *k)
{
  bool awake = false;
  for (int32_t i = 0; i < k->side_count && k->alive; ++i) {
    awake = awake || is_awake_dynamic(world, k->side_body[i]);
  }
  return awake && coupling_is_active(world, k);
}

static void color_joints(tn_world *world, builder *make)
{
  for (int32_t slot = 0; slot < world->joint_pool.used; ++slot) {
    const joint *j = &world->joints[slot];
    if (j->direct != NO_SLOT || !is_solved(world, j)) {
      continue;
    }
    uint64_t taken = 0;
    for (int side = 0; side < 2; ++side) {
      if (is_dynamic(world, j->slot[side])) {
        taken |= make->used[j->slot[side]];
      }
    }
    int color = lowest_clear_bit(taken);
    for (int side = 0; side < 2 && color < MAX_COLORS; ++side) {
      make->used[j->slot[side]] |= 1ull << color;
    }
    placement p = {slot, (uint8_t)color, (uint8_t)joint_type(j)};
    make->placed[make->placed_count++] = p;
    make->group[color][p.type] += 1;
  }
}

// Unused lanes: body 0 on both sides, unit rotations, no joint.
static void clear_block(joint_block *block)
{
  memset(block, 0, sizeof *block);
  size_t w = offsetof(Q, w) / sizeof(R);
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    block->joint[lane] = NO_SLOT;
    block->start[offsetof(JointStart, frame) / sizeof(R) + w][lane] = 1.0f;
    block->start[offsetof(JointStart, relative) / sizeof(R) + w][lane] = 1.0f;
  }
}

static void place_joint(tn_world *world, builder *make, placement p)
{
  joint *j = &world->joints[p.joint];
  int32_t *next = &make->group[p.color][p.type];
  j->block = *next / BLOCK_WIDTH;
  j->lane = *next % BLOCK_WIDTH;
  *next += p.color == MAX_COLORS ? BLOCK_WIDTH : 1;
  joint_block *block = &world->solver->joint_graph.blocks[j->block];
  block->type = p.type;
  block->joint[j->lane] = p.joint;
  block->a[j->lane] = j->slot[0];
  block->b[j->lane] = j->slot[1];
  block->move_a[j->lane] = is_dynamic(world, j->slot[0]);
  block->move_b[j->lane] = is_dynamic(world, j->slot[1]);
  joint_pack(world, p.joint);
}

// Copies impulses from the blocks back to the joints; joints that cannot act lose theirs.
static void save_states(tn_world *world)
{
  for (int32_t slot = 0; slot < world->joint_pool.used; ++slot) {
    joint *j = &world->joints[slot];
    if (j->alive && j->block != NO_SLOT) {
      joint_unpack(world, j);
      j->block = NO_SLOT;
    }
    j->direct = NO_SLOT;
    if (j->alive && !can_act(world, j)) {
      joint_clear_impulses(j);
    }
  }
  for (int32_t slot = 0; slot < world->coupling_pool.used; ++slot) {
    coupling *k = &world->couplings[slot];
    k->direct = NO_SLOT;
    if (k->alive && !coupling_is_active(world, k)) {
      coupling_clear_impulses(k);
    }
  }
}

// The default method (TN_METHOD_TENON) solves mechanisms directly, unless their elimination would
// fill in too much.
static bool build_mechanisms(tn_world *world)
{
  size_t size = (size_t)(world->joint_pool.used + world->coupling_pool.used + 1) * sizeof(int32_t);
  int32_t *solved = heap_alloc(&world->heap, size);
  int32_t count = 0;
  for (int32_t slot = 0; solved && slot < world->joint_pool.used; ++slot) {
    if (world->method == TN_METHOD_TENON && is_solved(world, &world->joints[slot])) {
      solved[count++] = slot;
    }
  }
  for (int32_t slot = 0; solved && slot < world->coupling_pool.used; ++slot) {
    if (is_coupling_solved(world, &world->couplings[slot])) {
      solved[count++] = ~slot;
    }
  }
  mechanism_inputs in = {.heap = &world->heap,
                         .bodies = world->bodies,
                         .body_count = world->body_pool.used,
                         .joints = world->joints,
                         .couplings = world->couplings,
                         .threads = world->threads};
  bool ok = solved && mechanisms_build(&world->solver->mechanisms, &in, solved, count);
  for (int32_t i = 0; ok && i < count; ++i) {
    if (solved[i] < 0 && world->couplings[~solved[i]].direct == NO_SLOT) {
      report(&world->log, TN_LOG_WARNING,
             "coupling %d does not act: its joints are too densely connected", ~solved[i]);
    }
  }
  heap_free(&world->heap, solved, size);
  return ok;
}

static bool reserve_blocks(tn_world *world, int32_t wanted)
{
  joint_graph *g = &world->solver->joint_graph;
  if (wanted <= g->block_capacity) {
    return true;
  }
  int32_t capacity = wanted + wanted / 2 + 8;
  joint_block *blocks = heap_alloc(&world->heap, (size_t)capacity * sizeof *blocks);
  if (!blocks) {
    return false;
  }
  heap_free(&world->heap, g->blocks, (size_t)g->block_capacity * sizeof *blocks);
  g->blocks = blocks;
  g->block_capacity = capacity;
  return true;
}

static bool reserve_events(tn_world *world)
{
  int32_t wanted = world->joint_pool.used;
  if (wanted <= world->break_event_capacity) {
    return true;
  }
  if (!heap_grow(&world->heap, (void **)&world->break_events, world->break_event_count,
                 world->break_event_capacity, wanted, sizeof *world->break_events)) {
    return false;
  }
  world->break_event_capacity = wanted;
  return true;
}

static void fill_blocks(tn_world *world, builder *make, int32_t count)
{
  world->solver->joint_graph.block_count = count;
  for (int32_t i = 0; i < count; ++i) {
    clear_block(&world->solver->joint_graph.blocks[i]);
  }
  for (int32_t i = 0; i < make->placed_count; ++i) {
    place_joint(world, make, make->placed[i]);
  }
}

bool joint_graph_build(tn_world *world)
{
  if (!world->joint_layout_stale) {
    return true;
  }
  builder make = {0};
  make.body_count = world->body_pool.used;
  make.placed_capacity = world->joint_pool.used + 1;
  size_t placed_size = (size_t)make.placed_capacity * sizeof *make.placed;
  size_t used_size = (size_t)make.body_count * sizeof *make.used;
  make.placed = heap_alloc(&world->heap, placed_size);
  make.used = heap_alloc(&world->heap, used_size);
  bool ok = make.placed && make.used && reserve_events(world);
  if (ok) {
    // Save the impulses before the old blocks are overwritten or freed.
    save_states(world);
    ok = build_mechanisms(world);
  }
  if (ok) {
    color_joints(world, &make);
    int32_t count = lay_out_colors(&world->solver->joint_graph.coloring, 0, &make.group[0][0],
                                   TYPE_COUNT, MAX_COLORS);
    ok = reserve_blocks(world, count);
    if (ok) {
      fill_blocks(world, &make, count);
      world->joint_layout_stale = false;
    }
  }
  heap_free(&world->heap, make.placed, placed_size);
  heap_free(&world->heap, make.used, used_size);
  return ok;
}

void joint_graph_release(tn_world *world)
{
  mechanisms_release(&world->solver->mechanisms, &world->heap);
  heap_free(&world->heap, world->solver->joint_graph.blocks,
            (size_t)world->solver->joint_graph.block_capacity *
                sizeof *world->solver->joint_graph.blocks);
  heap_free(&world->heap, world->break_events,
            (size_t)world->break_event_capacity * sizeof *world->break_events);
}
