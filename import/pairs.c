// Contact pairs: geoms that collide whatever contype and conaffinity say. Pairs with one geom in
// common form a star, which takes two bits of the filters: one for the geom in the middle, one for
// all others. 16 stars fit, beside 16 bits of contype and of conaffinity.
#include "pairs.h"

#include <string.h>

enum { STARS = 16, MOST_PAIRS = 2000, PLAIN_BITS = 0xffff, PAIR_PRIORITY = 1 << 30 };

static uint64_t bit_of(int index)
{
  return (uint64_t)1 << (index < 16 ? 16 + index : 32 + index);
}

// The geom that most of the pairs without a star have in common; -1: there are none.
static int find_middle(const tn_model *model, const bool *done)
{
  int best = -1, most = 0;
  for (int i = 0; i < model->pairs.count; ++i) {
    const int ends[2] = {model->pairs.items[i].a, model->pairs.items[i].b};
    for (int end = 0; end < 2 && !done[i]; ++end) {
      int count = 0;
      for (int k = 0; k < model->pairs.count; ++k) {
        const model_pair *p = &model->pairs.items[k];
        count += !done[k] && (p->a == ends[end] || p->b == ends[end]);
      }
      if (count > most) {
        most = count;
        best = ends[end];
      }
    }
  }
  return best;
}

static void add_star(tn_model *model, int middle, int star, bool *done)
{
  uint64_t inner = bit_of(2 * star), outer = bit_of(2 * star + 1);
  model_geom *m = &model->geoms.items[middle];
  m->pair_category |= inner;
  m->pair_mask |= outer;
  for (int i = 0; i < model->pairs.count; ++i) {
    const model_pair *p = &model->pairs.items[i];
    if (done[i] || (p->a != middle && p->b != middle)) {
      continue;
    }
    model_geom *g = &model->geoms.items[p->a == middle ? p->b : p->a];
    g->pair_category |= outer;
    g->pair_mask |= inner;
    done[i] = true;
  }
}

// A geom that collides in pairs alone takes their friction if they agree; it counts whatever the
// other geom has.
static bool take_friction(tn_model *model, int geom)
{
  model_geom *g = &model->geoms.items[geom];
  const model_contact *first = NULL;
  for (int i = 0; i < model->pairs.count; ++i) {
    const model_pair *p = &model->pairs.items[i];
    if (p->a != geom && p->b != geom) {
      continue;
    }
    bool same =
        !first || (memcmp(p->contact.friction, first->friction, sizeof first->friction) == 0 &&
                   p->contact.condim == first->condim);
    if (!p->has_friction || !same || g->contype || g->conaffinity) {
      return false;
    }
    first = &p->contact;
  }
  if (first) {
    memcpy(g->contact.friction, first->friction, sizeof first->friction);
    g->contact.condim = first->condim;
    g->priority = PAIR_PRIORITY;
  }
  return first != NULL;
}

static void take_frictions(tn_model *model, bool *takes)
{
  for (int i = 0; i < model->geoms.count; ++i) {
    takes[i] = take_friction(model, i);
  }
  for (int i = 0; i < model->pairs.count; ++i) {
    const model_pair *p = &model->pairs.items[i];
    if (p->has_friction && !takes[p->a] && !takes[p->b]) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, p->at,
                     "<pair> friction of geoms that collide with others too: that of the geoms");
    }
  }
}

static bool fits(const tn_model *model)
{
  if (model->pairs.count > MOST_PAIRS) {
    return false;
  }
  for (int i = 0; i < model->geoms.count; ++i) {
    const model_geom *g = &model->geoms.items[i];
    if ((g->contype | g->conaffinity) & ~PLAIN_BITS) {
      return false;
    }
  }
  return true;
}

void pairs_assign(tn_model *model)
{
  if (model->pairs.count == 0) {
    return;
  }
  place at = model->pairs.items[0].at;
  bool *done = memory_take(&model->memory, (size_t)model->pairs.count, sizeof *done);
  bool *takes = memory_take(&model->memory, (size_t)model->geoms.count, sizeof *takes);
  if (!done || !takes || !fits(model)) {
    model_note_add(model, TN_IMPORT_IGNORED, at,
                   "more than %d pairs, or pairs beside a contype of more than 16 bits",
                   MOST_PAIRS);
    return;
  }
  take_frictions(model, takes);
  int star = 0;
  for (int middle; (middle = find_middle(model, done)) >= 0; ++star) {
    if (star == STARS) {
      model_note_add(model, TN_IMPORT_IGNORED, at, "pairs around more than %d geoms", STARS);
      return;
    }
    add_star(model, middle, star, done);
  }
}
