// Greedy colouring of a step's soft contacts or attachments: no two of one colour share a particle
// or a dynamic body, so the blocks of a colour can run in parallel.
#include "solver/soft/soft_steps.h"

#include <string.h>

static bool reserve(const soft_system *system, soft_coloring *links, int32_t count)
{
  return heap_reserve(system->heap, (void **)&links->particle_colors, &links->particle_capacity,
                      system->graph->solver_particle_count, sizeof(uint64_t)) &&
         heap_reserve(system->heap, (void **)&links->bodies, &links->body_capacity,
                      system->body_pool->used, sizeof(uint64_t)) &&
         heap_reserve(system->heap, (void **)&links->at, &links->at_capacity, count,
                      sizeof(int32_t));
}

// Returns the lowest free colour and takes it, or MAX_COLORS if there is none.
static int color_node(soft_coloring *links, const soft_coloring_node *l)
{
  uint64_t none = 0, *moved = l->body == NO_SLOT ? &none : &links->bodies[l->body], taken = *moved;
  for (int i = 0; i < l->count; ++i) {
    taken |= links->particle_colors[l->solver_index[i]];
  }
  int color = 0;
  while (color < MAX_COLORS && (taken >> color & 1)) {
    color += 1;
  }
  for (int i = 0; i < l->count && color < MAX_COLORS; ++i) {
    links->particle_colors[l->solver_index[i]] |= 1ull << color;
  }
  *moved |= color < MAX_COLORS ? 1ull << color : 0;
  return color;
}

static void color_all(const soft_system *system, soft_coloring *links, int32_t count,
                      soft_coloring_node_fn *of)
{
  int32_t left = count;
  for (int32_t i = 0; i < count; ++i) {
    links->at[i] = SOFT_COLORS;
  }
  for (int first = 0; first < SOFT_COLORS && left > 0; first += MAX_COLORS) {
    memset(links->particle_colors, 0,
           (size_t)system->graph->solver_particle_count * sizeof(uint64_t));
    memset(links->bodies, 0, (size_t)system->body_pool->used * sizeof(uint64_t));
    left = 0;
    for (int32_t i = 0; i < count; ++i) {
      if (links->at[i] == SOFT_COLORS) {
        soft_coloring_node l = of(system, i);
        int color = color_node(links, &l);
        links->at[i] = color < MAX_COLORS ? first + color : SOFT_COLORS;
        left += color == MAX_COLORS;
      }
    }
  }
}

// Turns the counts of each colour and type into its first lane. A block has one colour and one
// type; nodes without a colour get a block each.
static void assign_color_ranges(soft_coloring *links,
                                int32_t group[SOFT_COLORS + 1][SOFT_CONTACT_TYPE_COUNT])
{
  int32_t next = 0;
  links->color_count = 0;
  for (int color = 0; color <= SOFT_COLORS; ++color) {
    color_range range = {next, next};
    for (int type = 0; type < SOFT_CONTACT_TYPE_COUNT; ++type) {
      int32_t count = group[color][type];
      group[color][type] = next * BLOCK_WIDTH;
      next += color == SOFT_COLORS ? count : (count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
    }
    range.last = next;
    if (color == SOFT_COLORS) {
      links->overflow = range;
    } else {
      links->color[color] = range;
      links->color_count = range.last > range.first ? color + 1 : links->color_count;
    }
  }
  links->block_count = next;
}

bool soft_coloring_build(const soft_system *system, soft_coloring *links, int32_t count,
                         soft_coloring_node_fn *of)
{
  int32_t group[SOFT_COLORS + 1][SOFT_CONTACT_TYPE_COUNT];
  memset(group, 0, sizeof group);
  if (!reserve(system, links, count)) {
    return false;
  }
  color_all(system, links, count, of);
  for (int32_t i = 0; i < count; ++i) {
    soft_coloring_node l = of(system, i);
    group[links->at[i]][l.type] += l.count > 0;
  }
  assign_color_ranges(links, group);
  for (int32_t i = 0; i < count; ++i) {
    soft_coloring_node l = of(system, i);
    int32_t color = links->at[i], *next = &group[color][l.type];
    links->at[i] = l.count > 0 ? *next : NO_SLOT;
    *next += l.count == 0 ? 0 : color == SOFT_COLORS ? BLOCK_WIDTH : 1;
  }
  return true;
}

void soft_coloring_release(heap *h, soft_coloring *links)
{
  heap_free(h, links->particle_colors,
            (size_t)links->particle_capacity * sizeof *links->particle_colors);
  heap_free(h, links->bodies, (size_t)links->body_capacity * sizeof *links->bodies);
  heap_free(h, links->at, (size_t)links->at_capacity * sizeof *links->at);
}
