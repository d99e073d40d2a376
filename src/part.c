// Parts of a step: bodies that no contact joins with others.
//
// A pass over all contacts of a large scene fetches them from memory, and so does the next. Bodies
// that do not meet may go through all substeps group by group instead, each with what it needs in
// the cache of one core, and on threads that do not wait for each other after each colour. The same
// is done to each body in the same order, so the result is the same.
//
// Bodies go by blocks, as kick and drift take them. What joints and soft bodies hold, what bounces,
// and what is too large for a cache is the rest, which goes colour by colour on all threads.
#include "world.h"

#include <string.h>

#define BLOCK_WEIGHT 2    // contacts that eight bodies take as much room as
#define PART_WEIGHT 1024  // contacts that fit into a core's own cache, with their bodies
#define LARGE_WEIGHT 4096 // not worth it
#define LONG_WAIT 64      // steps without a search after one that found no parts

static int32_t body_block_count(const tn_world *world)
{
  return (world->body_list.used + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
}

static bool is_worth_a_search(tn_world *world)
{
  step_parts *p = &world->parts;
  p->wait -= p->wait > 0;
  return p->wait == 0 && world->method == TN_METHOD_TENON && world->soft_list.count == 0 &&
         world->contact_list.count + BLOCK_WEIGHT * world->active_block_count > 4 * PART_WEIGHT;
}

bool parts_begin(tn_world *world)
{
  step_parts *p = &world->parts;
  p->count = 0;
  p->sought = is_worth_a_search(world);
  if (!parts_are_sought(world)) {
    return true;
  }
  int32_t blocks = body_block_count(world);
  if (!memory_reserve(world, (void **)&p->groups, &p->group_capacity, blocks, sizeof *p->groups)) {
    return false;
  }
  for (int32_t i = 0; i < blocks; ++i) {
    p->groups[i] = (part_group){.root = i, .part = NO_SLOT};
  }
  // Its first place is the world's, which the parts only read.
  p->groups[0].shut = true;
  return true;
}

static int32_t root_of(step_parts *p, int32_t group)
{
  while (p->groups[group].root != group) {
    p->groups[group].root = p->groups[p->groups[group].root].root;
    group = p->groups[group].root;
  }
  return group;
}

// The lower one becomes the root, whatever the order.
void parts_join(step_parts *p, int32_t slot_a, int32_t slot_b)
{
  int32_t a = root_of(p, slot_a / BLOCK_WIDTH), b = root_of(p, slot_b / BLOCK_WIDTH);
  p->groups[a < b ? b : a].root = a < b ? a : b;
}

void parts_shut(step_parts *p, int32_t slot)
{
  p->groups[slot / BLOCK_WIDTH].shut = true;
}

static void shut_joints(tn_world *world)
{
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    const joint *j = &world->joints[i];
    for (int side = 0; side < 2 && j->alive; ++side) {
      parts_shut(&world->parts, j->slot[side]);
    }
  }
}

static void weigh_groups(tn_world *world, const placed_contact *contacts, int32_t count)
{
  step_parts *p = &world->parts;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t block = world->active_blocks[i];
    part_group *root = &p->groups[root_of(p, block)];
    root->shut = root->shut || p->groups[block].shut;
    root->weight += BLOCK_WEIGHT;
  }
  for (int32_t i = 0; i < count; ++i) {
    p->groups[root_of(p, contacts[i].home)].weight += 1;
  }
}

// Groups that fit together become a part; the number of parts.
static int32_t number_parts(tn_world *world)
{
  step_parts *p = &world->parts;
  int32_t parts = 0, weight = PART_WEIGHT;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    part_group *root = &p->groups[root_of(p, world->active_blocks[i])];
    if (root->part != NO_SLOT || root->shut || root->weight > LARGE_WEIGHT) {
      continue;
    }
    if (weight + root->weight > PART_WEIGHT) {
      parts += 1;
      weight = 0;
    }
    weight += root->weight;
    root->part = parts - 1;
  }
  return parts;
}

static int32_t part_of_block(step_parts *p, int32_t block)
{
  return p->groups[root_of(p, block)].part;
}

// An empty range with room for so many.
static color_range room_for(int32_t count, int32_t *next)
{
  color_range range = {*next, *next};
  *next += count;
  return range;
}

// First the rest, then part after part; within each in the old order.
static void sort_bodies(tn_world *world)
{
  step_parts *p = &world->parts;
  p->rest_blocks = 0;
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t part = part_of_block(p, world->active_blocks[i]);
    if (part == NO_SLOT) {
      p->active[p->rest_blocks++] = world->active_blocks[i];
    } else {
      p->list[part].blocks.last += 1;
    }
  }
  int32_t next = p->rest_blocks;
  for (int32_t i = 0; i < p->count; ++i) {
    p->list[i].blocks = room_for(p->list[i].blocks.last, &next);
  }
  for (int32_t i = 0; i < world->active_block_count; ++i) {
    int32_t part = part_of_block(p, world->active_blocks[i]);
    if (part != NO_SLOT) {
      p->active[p->list[part].blocks.last++] = world->active_blocks[i];
    }
  }
}

static void sort_contacts(step_parts *p, const placed_contact *contacts, int32_t count)
{
  p->rest_contacts = 0;
  for (int32_t i = 0; i < count; ++i) {
    int32_t part = part_of_block(p, contacts[i].home);
    if (part == NO_SLOT) {
      p->sorted[p->rest_contacts++] = contacts[i];
    } else {
      p->list[part].contacts.last += 1;
    }
  }
  int32_t next = p->rest_contacts;
  for (int32_t i = 0; i < p->count; ++i) {
    p->list[i].contacts = room_for(p->list[i].contacts.last, &next);
  }
  for (int32_t i = 0; i < count; ++i) {
    int32_t part = part_of_block(p, contacts[i].home);
    if (part != NO_SLOT) {
      p->sorted[p->list[part].contacts.last++] = contacts[i];
    }
  }
}

bool parts_find(tn_world *world, const placed_contact *contacts, int32_t count)
{
  step_parts *p = &world->parts;
  if (!parts_are_sought(world)) {
    return true;
  }
  shut_joints(world);
  weigh_groups(world, contacts, count);
  int32_t parts = number_parts(world);
  if (parts < 2) {
    p->wait = LONG_WAIT;
    return true;
  }
  if (!memory_reserve(world, (void **)&p->list, &p->capacity, parts, sizeof *p->list) ||
      !memory_reserve(world, (void **)&p->active, &p->active_capacity, world->active_block_count,
                      sizeof *p->active) ||
      !memory_reserve(world, (void **)&p->sorted, &p->sorted_capacity, count, sizeof *p->sorted)) {
    return false;
  }
  p->count = parts;
  for (int32_t i = 0; i < parts; ++i) {
    p->list[i].blocks = p->list[i].contacts = (color_range){0, 0};
  }
  sort_bodies(world);
  sort_contacts(p, contacts, count);
  return true;
}

void parts_release(tn_world *world)
{
  step_parts *p = &world->parts;
  memory_give(world, p->list, (size_t)p->capacity * sizeof *p->list);
  memory_give(world, p->groups, (size_t)p->group_capacity * sizeof *p->groups);
  memory_give(world, p->active, (size_t)p->active_capacity * sizeof *p->active);
  memory_give(world, p->sorted, (size_t)p->sorted_capacity * sizeof *p->sorted);
}
