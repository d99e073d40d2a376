// Broad phase: which shapes are close enough to look at.
//
// A moving shape's box in the tree is larger than the shape, and grows along its way by twice what
// it moves in a step (sec. 3.5), so that most shapes stay in their boxes for many steps. Only a
// shape whose box is new looks for pairs.
//
// Bodies made at one place would pair with each other, as many as they are squared. So a shape has
// at most CROWD pairs with shapes that it lies deep inside of, the first in the order of slots.
// Others wait until these have parted: a shape that left some out looks again in the next step.
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOX_MARGIN 0.05f // of the shape's reach
#define SPEED_SHARE 2.0  // k of sec. 3.5
#define TREE_STEPS 64    // in which the whole tree is improved
#define TREE_DEBT 4      // leaves to be looked at for one that has moved
// Twelve balls of a size touch one ball; nothing that is solid gets as deep as DEEP by its load.
#define CROWD 32
#define DEEP 0.1f // share of the inner radii

// ---------------------------------------------------------------------------------------------
// Pairs

static void link_pair(tn_world *world, int32_t slot, int side)
{
  pair *p = &world->pairs[slot];
  shape *s = &world->shapes[p->shape[side]];
  p->previous[side] = NO_SLOT;
  p->next[side] = s->first_pair;
  if (s->first_pair != NO_SLOT) {
    world->pairs[s->first_pair / 2].previous[s->first_pair % 2] = 2 * slot + side;
  }
  s->first_pair = 2 * slot + side;
  s->pair_count += 1;
}

static void unlink_pair(tn_world *world, int32_t slot, int side)
{
  pair *p = &world->pairs[slot];
  shape *s = &world->shapes[p->shape[side]];
  if (p->previous[side] != NO_SLOT) {
    world->pairs[p->previous[side] / 2].next[p->previous[side] % 2] = p->next[side];
  } else {
    s->first_pair = p->next[side];
  }
  if (p->next[side] != NO_SLOT) {
    world->pairs[p->next[side] / 2].previous[p->next[side] % 2] = p->previous[side];
  }
  s->pair_count -= 1;
}

static int32_t pair_of(const tn_world *world, int32_t a, int32_t b)
{
  int32_t few = world->shapes[a].pair_count <= world->shapes[b].pair_count ? a : b;
  int32_t other = few == a ? b : a;
  for (int32_t link = world->shapes[few].first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    if (world->pairs[link / 2].shape[1 - link % 2] == other) {
      return link / 2;
    }
  }
  return NO_SLOT;
}

static bool is_deep(const tn_world *world, int32_t a, int32_t b)
{
  const shape *s = &world->shapes[a], *t = &world->shapes[b];
  tn_pos d = pos_sub(shape_placed(world, s).p, shape_placed(world, t).p);
  double near = (double)((1.0f - DEEP) * (s->inner_radius + t->inner_radius));
  return pos_dot(d, d) < near * near;
}

static void count_deep(tn_world *world, pair *p, bool deep)
{
  int32_t change = (int32_t)deep - (int32_t)p->deep;
  world->shapes[p->shape[0]].crowd += change;
  world->shapes[p->shape[1]].crowd += change;
  p->deep = deep;
}

// Its slot, or NO_SLOT without memory.
static int32_t add_pair(tn_world *world, int32_t a, int32_t b)
{
  int32_t slot = slot_take(world, &world->pair_list, (void **)&world->pairs, sizeof(pair),
                           offsetof(pair, next_free));
  if (slot == NO_SLOT) {
    return NO_SLOT;
  }
  pair *p = &world->pairs[slot];
  memset(p, 0, sizeof *p);
  p->alive = true;
  p->fresh = true;
  p->shape[0] = a < b ? a : b;
  p->shape[1] = a < b ? b : a;
  p->body[0] = world->shapes[p->shape[0]].body;
  p->body[1] = world->shapes[p->shape[1]].body;
  p->home = p->body[world->shapes[p->shape[0]].fixed ? 1 : 0];
  p->sensor = world->shapes[a].def.sensor || world->shapes[b].def.sensor;
  p->first_contact = NO_SLOT;
  link_pair(world, slot, 0);
  link_pair(world, slot, 1);
  return slot;
}

void pair_remove(tn_world *world, int32_t slot)
{
  pair *p = &world->pairs[slot];
  if (p->touching) {
    tn_event_kind kind = p->sensor ? TN_EVENT_SENSOR_END : TN_EVENT_END;
    add_contact_event(world, pair_event(world, p, kind));
  }
  contact_remove_of(world, slot);
  count_deep(world, p, false);
  unlink_pair(world, slot, 0);
  unlink_pair(world, slot, 1);
  p->alive = p->fresh = p->touching = false;
  p->limit = (double)INFINITY;
  slot_give(&world->pair_list, world->pairs, sizeof(pair), offsetof(pair, next_free), slot);
}

void pairs_remove_of(tn_world *world, int32_t shape_slot)
{
  while (world->shapes[shape_slot].first_pair != NO_SLOT) {
    int32_t slot = world->shapes[shape_slot].first_pair / 2;
    const pair *p = &world->pairs[slot];
    // What leaned on the shape must find out.
    body_wake(world, world->shapes[p->shape[0]].body);
    body_wake(world, world->shapes[p->shape[1]].body);
    pair_remove(world, slot);
  }
}

void pairs_recheck(tn_world *world, int32_t shape_slot)
{
  shape *s = &world->shapes[shape_slot];
  s->searching = true;
  world->searchers_changed = true;
  for (int32_t link = s->first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    world->pairs[link / 2].fresh = true;
  }
}

// ---------------------------------------------------------------------------------------------
// Boxes

static void grow(world_box *box, double margin)
{
  box->lower = tn_p3(box->lower.x - margin, box->lower.y - margin, box->lower.z - margin);
  box->upper = tn_p3(box->upper.x + margin, box->upper.y + margin, box->upper.z + margin);
}

static void sweep(world_box *box, const float *v, double time)
{
  double *lower[3] = {&box->lower.x, &box->lower.y, &box->lower.z};
  double *upper[3] = {&box->upper.x, &box->upper.y, &box->upper.z};
  for (int i = 0; i < 3; ++i) {
    double d = time * (double)v[i];
    *(d < 0.0 ? lower[i] : upper[i]) += d;
  }
}

static tn_vec3 vec3_of(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// How far turning by `angle` moves any point of a shape. A plane has no furthest point: while it
// does not turn it does not move, and 0 times infinity would be no number.
static float turned_by(float angle, const shape *s)
{
  tn_vec3 at = tn_v3((float)s->at_point.x, (float)s->at_point.y, (float)s->at_point.z);
  return angle > 0.0f ? angle * (s->reach + tn_length(at)) : 0.0f;
}

static float margin_of(const shape *s)
{
  return isfinite(s->reach) ? BOX_MARGIN * s->reach : 0.0f;
}

static void place_box(tn_world *world, int32_t slot, world_box box, float slack, float stretch)
{
  shape *s = &world->shapes[slot];
  s->box = box;
  s->slack = slack;
  s->stretch = stretch;
  tree_shift(s->fixed ? &world->fixed_tree : &world->moving_tree, s->leaf, box);
  if (!s->searching) {
    s->searching = true;
    world->searchers[world->searcher_count++] = slot;
  }
}

// Between two sides of boxes, both of which may be infinitely far.
static double room_between(double low, double high)
{
  return isfinite(low) && isfinite(high) ? high - low : (double)INFINITY;
}

// How far a box may move within another, whatever the direction.
static float room_in(const world_box *box, const world_box *tight)
{
  double x =
      fmin(room_between(box->lower.x, tight->lower.x), room_between(tight->upper.x, box->upper.x));
  double y =
      fmin(room_between(box->lower.y, tight->lower.y), room_between(tight->upper.y, box->upper.y));
  double z =
      fmin(room_between(box->lower.z, tight->lower.z), room_between(tight->upper.z, box->upper.z));
  return (float)fmin(x, fmin(y, z));
}

// Gives a shape a new box if it may leave the old one in this step, or if that was made for a much
// faster motion: what has come to rest would be paired with all that is around.
static void update_box(tn_world *world, int32_t slot, float dt)
{
  shape *s = &world->shapes[slot];
  const body_state *state = &world->state[s->body];
  float turn = turned_by(dt * tn_length(vec3_of(state->w)), s);
  float margin = margin_of(s);
  float needed = 0.4f * margin + turn;
  float way = dt * tn_length(vec3_of(state->v));
  float stretch = (float)SPEED_SHARE * (turn + way);
  bool is_loose = s->stretch > 2.0f * (margin + stretch);
  if (!is_loose && needed + way <= s->slack) {
    return;
  }
  world_box tight = shape_tight_box(world, s);
  world_box swept = tight;
  grow(&swept, (double)needed);
  sweep(&swept, state->v, (double)dt);
  if (!is_loose && box_contains(&s->box, &swept)) {
    s->slack = room_in(&s->box, &tight);
    return;
  }
  world_box box = tight;
  float slack = margin + (float)SPEED_SHARE * turn;
  grow(&box, (double)slack);
  sweep(&box, state->v, SPEED_SHARE * (double)dt);
  place_box(world, slot, box, slack, stretch);
}

// How far any point of the shape moved in the step that ends.
static float moved_by(const body_state *state, const shape *s)
{
  // |q - 1| is half the angle, or a little less.
  float angle = 2.2f * tn_length(vec3_of(state->dq));
  return tn_length(vec3_of(state->dx)) + turned_by(angle, s);
}

bool boxes_spend(tn_world *world, int32_t body_slot)
{
  const body_state *state = &world->state[body_slot];
  bool enough = true;
  for (int32_t k = world->bodies[body_slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    shape *s = &world->shapes[k];
    s->slack -= moved_by(state, s);
    enough = enough && s->slack >= 0.0f;
  }
  return enough;
}

static void follow(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  world_box tight = shape_tight_box(world, s);
  if (box_contains(&s->box, &tight)) {
    s->slack = room_in(&s->box, &tight);
  } else {
    float margin = margin_of(s);
    grow(&tight, (double)margin);
    place_box(world, slot, tight, margin, 0.0f);
  }
}

void boxes_follow(tn_world *world, int32_t body_slot)
{
  for (int32_t k = world->bodies[body_slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    if (!(world->shapes[k].slack >= 0.0f)) {
      follow(world, k);
    }
  }
}

void boxes_catch_up(tn_world *world)
{
  tree_catch_up(&world->fixed_tree);
  tree_catch_up(&world->moving_tree);
}

// ---------------------------------------------------------------------------------------------
// Search

typedef struct search {
  tn_world *world;
  const shape *of;
  int32_t slot;
  bool ok;
} search;

// Whether two shapes that both look for pairs have met already: they go in the order of slots.
static bool has_searched(const search *s, int32_t item)
{
  return item < s->slot && s->world->shapes[item].searching;
}

static bool collect(int32_t item, void *context)
{
  search *s = context;
  tn_world *world = s->world;
  if (has_searched(s, item) || !shapes_may_collide(world, s->of, &world->shapes[item])) {
    return true;
  }
  s->ok = memory_reserve(world, (void **)&world->candidates, &world->candidate_capacity,
                         world->candidate_count + 1, sizeof(int32_t));
  if (s->ok) {
    world->candidates[world->candidate_count++] = item;
  }
  return s->ok;
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// Most lists are short, or in order as they are.
static void sort_slots(int32_t *slots, int32_t count)
{
  int32_t moves = 0;
  for (int32_t i = 1; i < count; ++i) {
    int32_t slot = slots[i], k = i;
    for (; k > 0 && slots[k - 1] > slot; --k) {
      slots[k] = slots[k - 1];
    }
    slots[k] = slot;
    moves += i - k;
    if (moves > 8 * count) {
      qsort(slots, (size_t)count, sizeof *slots, by_slot);
      return;
    }
  }
}

// What the user says.
static bool passes_filter(const tn_world *world, int32_t a, int32_t b)
{
  return !world->pair_filter ||
         world->pair_filter(shape_id_at(world, a < b ? a : b), shape_id_at(world, a < b ? b : a),
                            world->pair_filter_context);
}

bool pair_is_wanted(const tn_world *world, const shape *a, const shape *b)
{
  return shapes_may_collide(world, a, b) &&
         passes_filter(world, (int32_t)(a - world->shapes), (int32_t)(b - world->shapes));
}

int32_t pair_ensure(tn_world *world, int32_t a, int32_t b)
{
  int32_t slot = pair_of(world, a, b);
  return slot == NO_SLOT ? add_pair(world, a, b) : slot;
}

static bool is_solid_dynamic(const tn_world *world, int32_t slot)
{
  const shape *s = &world->shapes[slot];
  return world->bodies[s->body].type == TN_BODY_DYNAMIC && !s->def.sensor;
}

// Those of its pairs that have parted count no longer.
static void leave_crowd(tn_world *world, int32_t slot)
{
  const shape *s = &world->shapes[slot];
  for (int32_t link = s->crowd > 0 ? s->first_pair : NO_SLOT; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    pair *p = &world->pairs[link / 2];
    if (p->deep && !is_deep(world, p->shape[0], p->shape[1])) {
      count_deep(world, p, false);
    }
  }
}

// A new pair, unless it has to wait; false without memory. Of two crowds not even those pair that
// hardly touch: while a heap comes apart there are as many of them.
static bool admit_pair(tn_world *world, int32_t slot, int32_t other)
{
  shape *s = &world->shapes[slot];
  bool solid = is_solid_dynamic(world, slot) && is_solid_dynamic(world, other);
  bool deep = solid && is_deep(world, slot, other);
  bool full = s->crowd >= CROWD, other_full = world->shapes[other].crowd >= CROWD;
  if (solid && (deep ? full || other_full : full && other_full)) {
    s->waits = world->crowded = true;
    return true;
  }
  int32_t made = add_pair(world, slot, other);
  if (made != NO_SLOT) {
    count_deep(world, &world->pairs[made], deep);
  }
  return made != NO_SLOT;
}

// In the order of slots, whatever the tree looks like.
static bool find_pairs(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  search context = {world, s, slot, true};
  world->candidate_count = 0;
  s->waits = false;
  leave_crowd(world, slot);
  tree_query(&world->moving_tree, s->box, collect, &context);
  if (!s->fixed && context.ok) {
    tree_query(&world->fixed_tree, s->box, collect, &context);
  }
  if (!context.ok) {
    return false;
  }
  sort_slots(world->candidates, world->candidate_count);
  for (int32_t i = 0; i < world->candidate_count; ++i) {
    int32_t other = world->candidates[i];
    if (pair_of(world, slot, other) == NO_SLOT && passes_filter(world, slot, other) &&
        !admit_pair(world, slot, other)) {
      return false;
    }
  }
  return true;
}

static void drop_far_pairs(tn_world *world, int32_t slot)
{
  int32_t link = world->shapes[slot].first_pair;
  while (link != NO_SLOT) {
    const pair *p = &world->pairs[link / 2];
    int32_t next = p->next[link % 2];
    const shape *a = &world->shapes[p->shape[0]];
    const shape *b = &world->shapes[p->shape[1]];
    if (!boxes_overlap(&a->box, &b->box) || !shapes_may_collide(world, a, b)) {
      pair_remove(world, link / 2);
    }
    link = next;
  }
}

// Shapes that were made, moved or changed by hand since the last step.
static void list_changed(tn_world *world)
{
  if (!world->searchers_changed) {
    return;
  }
  world->searchers_changed = false;
  world->searcher_count = 0;
  for (int32_t i = 0; i < world->shape_list.used; ++i) {
    if (world->shapes[i].alive && world->shapes[i].searching) {
      world->searchers[world->searcher_count++] = i;
    }
  }
}

// No more than what has moved makes worth while: nothing in a world that sleeps.
static void improve_tree(tn_world *world)
{
  int32_t nodes = world->moving_tree.used;
  int32_t most = 1 + nodes / TREE_STEPS;
  int64_t debt = world->tree_debt + TREE_DEBT * (int64_t)world->searcher_count;
  world->tree_debt = (int32_t)(debt < nodes ? debt : nodes);
  int32_t budget = world->tree_debt < most ? world->tree_debt : most;
  tree_improve(&world->moving_tree, budget);
  world->tree_debt -= budget;
}

bool pairs_update(tn_world *world, float dt)
{
  if (!memory_reserve(world, (void **)&world->searchers, &world->searcher_capacity,
                      world->shape_list.used, sizeof(int32_t))) {
    return false;
  }
  world->crowded = false;
  list_changed(world);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    for (int32_t k = b->first_shape; k != NO_SLOT; k = world->shapes[k].next) {
      update_box(world, k, dt);
    }
  }
  boxes_catch_up(world);
  improve_tree(world);
  sort_slots(world->searchers, world->searcher_count);
  for (int32_t i = 0; i < world->searcher_count; ++i) {
    drop_far_pairs(world, world->searchers[i]);
    if (!find_pairs(world, world->searchers[i])) {
      return false;
    }
  }
  int32_t waiting = 0;
  for (int32_t i = 0; i < world->searcher_count; ++i) {
    shape *s = &world->shapes[world->searchers[i]];
    s->searching = s->waits;
    world->searchers[waiting] = world->searchers[i];
    waiting += s->waits;
  }
  world->searcher_count = waiting;
  return true;
}
