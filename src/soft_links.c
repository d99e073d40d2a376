// Colours for what holds or bears particles in a step: of one colour no two share a particle, nor a
// body that may move.
#include "world.h"

#include <string.h>

static bool reserve(tn_world *world, soft_links *links, int32_t count)
{
  return memory_reserve(world, (void **)&links->places, &links->place_capacity,
                        world->soft_graph.place_count, sizeof(uint64_t)) &&
         memory_reserve(world, (void **)&links->bodies, &links->body_capacity,
                        world->body_list.used, sizeof(uint64_t)) &&
         memory_reserve(world, (void **)&links->at, &links->at_capacity, count, sizeof(int32_t));
}

// The lowest colour that is free, or MAX_COLORS.
static int paint(soft_links *links, const soft_link *l)
{
  uint64_t none = 0, *moved = l->body == NO_SLOT ? &none : &links->bodies[l->body], taken = *moved;
  for (int i = 0; i < l->count; ++i) {
    taken |= links->places[l->place[i]];
  }
  int color = 0;
  while (color < MAX_COLORS && (taken >> color & 1)) {
    color += 1;
  }
  for (int i = 0; i < l->count && color < MAX_COLORS; ++i) {
    links->places[l->place[i]] |= 1ull << color;
  }
  *moved |= color < MAX_COLORS ? 1ull << color : 0;
  return color;
}

static void paint_all(tn_world *world, soft_links *links, int32_t count, soft_link_of *of)
{
  int32_t left = count;
  for (int32_t i = 0; i < count; ++i) {
    links->at[i] = LINK_COLORS;
  }
  for (int first = 0; first < LINK_COLORS && left > 0; first += MAX_COLORS) {
    memset(links->places, 0, (size_t)world->soft_graph.place_count * sizeof(uint64_t));
    memset(links->bodies, 0, (size_t)world->body_list.used * sizeof(uint64_t));
    left = 0;
    for (int32_t i = 0; i < count; ++i) {
      if (links->at[i] == LINK_COLORS) {
        soft_link l = of(world, i);
        int color = paint(links, &l);
        links->at[i] = color < MAX_COLORS ? first + color : LINK_COLORS;
        left += color == MAX_COLORS;
      }
    }
  }
}

// Blocks are of one colour and one type; without a colour, of one.
static void lay_out(soft_links *links, int32_t group[LINK_COLORS + 1][TOUCH_TYPE_COUNT])
{
  int32_t next = 0;
  links->color_count = 0;
  for (int color = 0; color <= LINK_COLORS; ++color) {
    color_range range = {next, next};
    for (int type = 0; type < TOUCH_TYPE_COUNT; ++type) {
      int32_t count = group[color][type];
      group[color][type] = next * BLOCK_WIDTH;
      next += color == LINK_COLORS ? count : (count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
    }
    range.last = next;
    if (color == LINK_COLORS) {
      links->serial = range;
    } else {
      links->color[color] = range;
      links->color_count = range.last > range.first ? color + 1 : links->color_count;
    }
  }
  links->block_count = next;
}

bool soft_links_make(tn_world *world, soft_links *links, int32_t count, soft_link_of *of)
{
  int32_t group[LINK_COLORS + 1][TOUCH_TYPE_COUNT];
  memset(group, 0, sizeof group);
  if (!reserve(world, links, count)) {
    return false;
  }
  paint_all(world, links, count, of);
  for (int32_t i = 0; i < count; ++i) {
    soft_link l = of(world, i);
    group[links->at[i]][l.type] += l.count > 0;
  }
  lay_out(links, group);
  for (int32_t i = 0; i < count; ++i) {
    soft_link l = of(world, i);
    int32_t color = links->at[i], *next = &group[color][l.type];
    links->at[i] = l.count > 0 ? *next : NO_SLOT;
    *next += l.count == 0 ? 0 : color == LINK_COLORS ? BLOCK_WIDTH : 1;
  }
  return true;
}

void soft_links_release(tn_world *world, soft_links *links)
{
  memory_give(world, links->places, (size_t)links->place_capacity * sizeof *links->places);
  memory_give(world, links->bodies, (size_t)links->body_capacity * sizeof *links->bodies);
  memory_give(world, links->at, (size_t)links->at_capacity * sizeof *links->at);
}
