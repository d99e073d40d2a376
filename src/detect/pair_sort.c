// Sorts pairs and contacts by body.
//
// New pairs take any free slot, so after a while neighbours in the array belong to bodies anywhere
// in the world: reading pairs and gathering bodies misses the cache, and threads that share a list
// touch the same bodies. Then both arrays are sorted as a whole. Whether and how depends only on
// the arrays, so results are reproducible.
#include "detect/pair_sort.h"

#include "data/world.h"
#include "detect/detection.h"

#include <string.h>

// Sort if more than one in this many pairs follows a pair of a later body.
#define SORT_FRACTION 8
#define MIN_SORTED_PAIRS 256 // below it sorting does not pay

bool pairs_need_sort(int32_t descents, int32_t count)
{
  return count >= MIN_SORTED_PAIRS && descents > count / SORT_FRACTION;
}

static void swap_bytes(char *a, char *b, size_t size)
{
  char spare[sizeof(contact)];
  memcpy(spare, a, size);
  memcpy(a, b, size);
  memcpy(b, spare, size);
}

// Moves element i to place[i] in the array, following cycles; `place` becomes the identity.
static void permute(void *array, size_t size, int32_t *place, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    while (place[i] != i) {
      int32_t to = place[i];
      swap_bytes((char *)array + (size_t)i * size, (char *)array + (size_t)to * size, size);
      place[i] = place[to];
      place[to] = to;
    }
  }
}

// Counting sort by sort_body, stable; free slots last. `next`: scratch of bodies + 1 counters.
static void find_pair_places(const tn_world *world, int32_t *next, int32_t *place)
{
  int32_t bodies = world->body_pool.used;
  memset(next, 0, (size_t)(bodies + 1) * sizeof *next);
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    const pair *p = &world->pairs[i];
    next[p->alive ? p->sort_body : bodies] += 1;
  }
  int32_t first = 0;
  for (int32_t i = 0; i <= bodies; ++i) {
    int32_t count = next[i];
    next[i] = first;
    first += count;
  }
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    const pair *p = &world->pairs[i];
    place[i] = next[p->alive ? p->sort_body : bodies]++;
  }
}

static int32_t moved_link(const int32_t *place, int32_t link)
{
  return link == NO_SLOT ? NO_SLOT : 2 * place[link / 2] + link % 2;
}

static void relink_pairs(tn_world *world, const int32_t *place)
{
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    shape *s = &world->shapes[i];
    s->first_pair = s->alive ? moved_link(place, s->first_pair) : s->first_pair;
  }
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    pair *p = &world->pairs[i];
    for (int side = 0; side < 2 && p->alive; ++side) {
      p->next[side] = moved_link(place, p->next[side]);
      p->previous[side] = moved_link(place, p->previous[side]);
    }
  }
  for (int32_t i = 0; i < world->contact_pool.used; ++i) {
    contact *c = &world->contacts[i];
    c->pair = c->alive ? place[c->pair] : c->pair;
  }
}

// In the order of their pairs; free slots last.
static void find_contact_places(const tn_world *world, int32_t *place)
{
  int32_t next = 0;
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    const pair *p = &world->pairs[i];
    for (int32_t c = p->alive ? p->first_contact : NO_SLOT; c != NO_SLOT;
         c = world->contacts[c].next) {
      place[c] = next++;
    }
  }
  for (int32_t i = 0; i < world->contact_pool.used; ++i) {
    if (!world->contacts[i].alive) {
      place[i] = next++;
    }
  }
}

static void relink_contacts(tn_world *world, const int32_t *place)
{
  for (int32_t i = 0; i < world->pair_pool.used; ++i) {
    pair *p = &world->pairs[i];
    if (p->alive && p->first_contact != NO_SLOT) {
      p->first_contact = place[p->first_contact];
    }
  }
  for (int32_t i = 0; i < world->contact_pool.used; ++i) {
    contact *c = &world->contacts[i];
    if (c->alive && c->next != NO_SLOT) {
      c->next = place[c->next];
    }
  }
}

static void reset_free_list(pool *list)
{
  list->used = list->count;
  list->first_free = NO_SLOT;
}

bool pairs_sort(tn_world *world)
{
  int32_t pairs = world->pair_pool.used, contacts = world->contact_pool.used;
  int32_t most = pairs > contacts ? pairs : contacts;
  if (!heap_reserve(&world->heap, (void **)&world->detection->sort_places,
                    &world->detection->sort_place_capacity, most + world->body_pool.used + 1,
                    sizeof(int32_t))) {
    return false;
  }
  int32_t *place = world->detection->sort_places;
  find_pair_places(world, place + most, place);
  relink_pairs(world, place);
  permute(world->pairs, sizeof(pair), place, pairs);
  reset_free_list(&world->pair_pool);
  find_contact_places(world, place);
  relink_contacts(world, place);
  permute(world->contacts, sizeof(contact), place, contacts);
  reset_free_list(&world->contact_pool);
  return true;
}
