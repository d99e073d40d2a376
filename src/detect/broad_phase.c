// Broad phase: the list of pairs of shapes that may touch.
//
// A moving shape has a fat box in the tree, grown by a margin and swept along its motion by k dt v
// with k = 2 (Müller et al. 2020, sec. 3.5), so that most shapes stay in their boxes for many
// steps. Only a shape with a new box searches for pairs.
//
// n bodies created at one place would form n^2 pairs. So a shape has at most TUNING_MAX_DEEP_PAIRS
// with shapes that it overlaps deeply, the first ones in slot order. The others wait until these
// have separated: a shape that left out pairs searches again in the next step.
#include "detect/broad_phase.h"

#include "base/bits.h"
#include "collide/distance.h"
#include "collide/material.h"
#include "data/events.h"
#include "data/ids.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/detect.h"
#include "detect/detect_tuning.h"
#include "detect/detection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOX_GRAIN 64    // bodies in a task
#define SEARCH_GRAIN 16 // shapes in a task

// ---------------------------------------------------------------------------------------------
// Pairs

world_aabb shape_tight_aabb(const tn_world *world, const shape *s)
{
  world_pose at = shape_world_pose(world, s);
  pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(at.q)};
  aabb b = geometry_aabb(&s->geometry, turned);
  world_aabb box = {
      {at.p.x + (double)b.lower.x, at.p.y + (double)b.lower.y, at.p.z + (double)b.lower.z},
      {at.p.x + (double)b.upper.x, at.p.y + (double)b.upper.y, at.p.z + (double)b.upper.z}};
  return box;
}

// A joint to the world does not disable contacts with static shapes of the world.
static bool is_joint_between(const tn_world *world, int32_t a, int32_t b)
{
  if (a == WORLD_SLOT || b == WORLD_SLOT) {
    return false;
  }
  if (world->bodies[a].joint_count > world->bodies[b].joint_count) {
    int32_t t = a;
    a = b;
    b = t;
  }
  for (int32_t link = world->bodies[a].first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    const joint *j = &world->joints[link / 2];
    if (j->slot[1 - link % 2] == b && !j->def.collide && j->def.enabled) {
      return true;
    }
  }
  return false;
}

bool shapes_may_collide(const tn_world *world, const shape *a, const shape *b)
{
  if (a->body == b->body || !filters_should_collide(&a->def.filter, &b->def.filter)) {
    return false;
  }
  bool moves = world->bodies[a->body].type == TN_BODY_DYNAMIC ||
               world->bodies[b->body].type == TN_BODY_DYNAMIC;
  bool senses = a->def.sensor || b->def.sensor;
  if (!moves && !senses) {
    return false;
  }
  if (!kind_has_volume(a->geometry.kind) && !kind_has_volume(b->geometry.kind)) {
    return false;
  }
  return !is_joint_between(world, a->body, b->body);
}

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

static int32_t find_pair(const tn_world *world, int32_t a, int32_t b)
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
  tn_pos d = pos_sub(shape_world_pose(world, s).p, shape_world_pose(world, t).p);
  double near = (double)((1.0f - TUNING_DEEP_OVERLAP) * (s->inner_radius + t->inner_radius));
  return pos_dot(d, d) < near * near;
}

static void count_deep(tn_world *world, pair *p, bool deep)
{
  int32_t change = (int32_t)deep - (int32_t)p->deep;
  world->shapes[p->shape[0]].crowd += change;
  world->shapes[p->shape[1]].crowd += change;
  p->deep = deep;
}

// NO_SLOT when out of memory.
static int32_t add_pair(tn_world *world, int32_t a, int32_t b)
{
  int32_t slot = pool_alloc(&world->heap, &world->pair_pool, (void **)&world->pairs, sizeof(pair),
                            offsetof(pair, next_free));
  if (slot == NO_SLOT) {
    return NO_SLOT;
  }
  pair *p = &world->pairs[slot];
  memset(p, 0, sizeof *p);
  p->alive = true;
  p->is_new = true;
  p->shape[0] = a < b ? a : b;
  p->shape[1] = a < b ? b : a;
  p->body[0] = world->shapes[p->shape[0]].body;
  p->body[1] = world->shapes[p->shape[1]].body;
  p->sort_body = p->body[world->shapes[p->shape[0]].is_static ? 1 : 0];
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
  pair_remove_contacts(world, slot);
  count_deep(world, p, false);
  unlink_pair(world, slot, 0);
  unlink_pair(world, slot, 1);
  p->alive = p->is_new = p->touching = false;
  p->travel_limit = (double)INFINITY;
  p->sort_body = INT32_MAX; // free slots come last in the sorted list
  pool_free(&world->pair_pool, world->pairs, sizeof(pair), offsetof(pair, next_free), slot);
}

void shape_remove_pairs(tn_world *world, int32_t shape_slot)
{
  while (world->shapes[shape_slot].first_pair != NO_SLOT) {
    int32_t slot = world->shapes[shape_slot].first_pair / 2;
    const pair *p = &world->pairs[slot];
    // Bodies that rested on the shape must notice.
    body_wake(world, world->shapes[p->shape[0]].body);
    body_wake(world, world->shapes[p->shape[1]].body);
    pair_remove(world, slot);
  }
}

// The list may hold shapes that were destroyed since, and a slot twice: list_pending() cleans it.
static void append_pending(tn_world *world, int32_t shape_slot)
{
  detection *d = world->detection;
  d->pending_shapes_changed = true;
  if (!heap_reserve(&world->heap, (void **)&d->pending_shapes, &d->pending_shape_capacity,
                    d->pending_shape_count + 1, sizeof(int32_t))) {
    d->pending_shapes_stale = true;
    return;
  }
  d->pending_shapes[d->pending_shape_count++] = shape_slot;
}

void shape_invalidate_pairs(tn_world *world, int32_t shape_slot)
{
  shape *s = &world->shapes[shape_slot];
  if (!s->pairs_pending) {
    s->pairs_pending = true;
    append_pending(world, shape_slot);
  }
  for (int32_t link = s->first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    world->pairs[link / 2].is_new = true;
  }
}

// ---------------------------------------------------------------------------------------------
// Boxes

static void grow(world_aabb *box, double margin)
{
  box->lower = tn_p3(box->lower.x - margin, box->lower.y - margin, box->lower.z - margin);
  box->upper = tn_p3(box->upper.x + margin, box->upper.y + margin, box->upper.z + margin);
}

static void sweep(world_aabb *box, const float *v, double time)
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

// Bound of the motion of any point of a shape when its body rotates by `angle`, m. The radius of a
// plane is infinite, and 0 * inf would be NaN.
static float turned_by(float angle, const shape *s)
{
  tn_vec3 at =
      tn_v3((float)s->local_position.x, (float)s->local_position.y, (float)s->local_position.z);
  return angle > 0.0f ? angle * (s->bounding_radius + tn_length(at)) : 0.0f;
}

static float margin_of(const shape *s)
{
  return isfinite(s->bounding_radius) ? TUNING_BOX_MARGIN * s->bounding_radius : 0.0f;
}

double shape_box_grid(const shape *s)
{
  float margin = margin_of(s);
  uint32_t bits;
  memcpy(&bits, &margin, sizeof bits);
  bits &= 0x7f800000u; // without its fraction
  memcpy(&margin, &bits, sizeof bits);
  return 0.125 * (double)margin;
}

// Outwards to multiples of `grid`.
static void round_out(double *lower, double *upper, double grid)
{
  *lower = floor(*lower / grid) * grid;
  *upper = ceil(*upper / grid) * grid;
}

// The box of the shape only; move_leaf() tells the tree, which threads share.
static void set_box(shape *s, world_aabb box, float box_slack, float box_sweep)
{
  double grid = shape_box_grid(s);
  if (grid > 0.0) {
    round_out(&box.lower.x, &box.upper.x, grid);
    round_out(&box.lower.y, &box.upper.y, grid);
    round_out(&box.lower.z, &box.upper.z, grid);
  }
  s->box = box;
  s->box_slack = box_slack;
  s->box_sweep = box_sweep;
}

// Moves the shape's leaf to its box, and lists the shape for a search.
static void move_leaf(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  tree_move_lazily(s->is_static ? &world->detection->static_tree : &world->detection->moving_tree,
                   s->tree_leaf, s->box);
  if (!s->pairs_pending) {
    s->pairs_pending = true;
    world->detection->pending_shapes[world->detection->pending_shape_count++] = slot;
  }
}

// Distance between two sides; infinite if one of them is.
static double room_between(double low, double high)
{
  return isfinite(low) && isfinite(high) ? high - low : (double)INFINITY;
}

// How far `tight` may move in any direction without leaving `box`.
static float slack_in(const world_aabb *box, const world_aabb *tight)
{
  double x =
      fmin(room_between(box->lower.x, tight->lower.x), room_between(tight->upper.x, box->upper.x));
  double y =
      fmin(room_between(box->lower.y, tight->lower.y), room_between(tight->upper.y, box->upper.y));
  double z =
      fmin(room_between(box->lower.z, tight->lower.z), room_between(tight->upper.z, box->upper.z));
  return (float)fmin(x, fmin(y, z));
}

// Replaces the fat box if the shape may leave it in this step, or if it was swept for a much faster
// motion: a body that has come to rest would otherwise pair with everything around it. True if it
// was replaced.
static bool update_box(const tn_world *world, int32_t slot, float dt)
{
  shape *s = &world->shapes[slot];
  const body_state *state = &world->state[s->body];
  float turn = turned_by(dt * tn_length(vec3_of(state->w)), s);
  float margin = margin_of(s);
  float needed = TUNING_BOX_MIN_SLACK * margin + turn;
  float way = dt * tn_length(vec3_of(state->v));
  float box_sweep = (float)TUNING_BOX_SWEEP * (turn + way);
  bool is_oversized = s->box_sweep > TUNING_BOX_OVERSIZE * (margin + box_sweep);
  if (!is_oversized && needed + way <= s->box_slack) {
    return false;
  }
  world_aabb tight = shape_tight_aabb(world, s);
  world_aabb swept = tight;
  grow(&swept, (double)needed);
  sweep(&swept, state->v, (double)dt);
  if (!is_oversized && aabb_contains(&s->box, &swept)) {
    s->box_slack = slack_in(&s->box, &tight);
    return false;
  }
  world_aabb box = tight;
  float box_slack = margin + (float)TUNING_BOX_SWEEP * turn;
  grow(&box, (double)box_slack);
  sweep(&box, state->v, TUNING_BOX_SWEEP * (double)dt);
  set_box(s, box, box_slack, box_sweep);
  return true;
}

typedef struct box_task {
  const tn_world *world;
  float dt;
} box_task;

static void update_boxes(int first, int last, void *context)
{
  const box_task *t = context;
  for (int i = first; i < last; ++i) {
    bool moved = false;
    for (int32_t k = t->world->bodies[t->world->awake[i]].first_shape; k != NO_SLOT;
         k = t->world->shapes[k].next) {
      moved = update_box(t->world, k, t->dt) || moved;
    }
    t->world->detection->body_marks[i] = moved;
  }
}

static bool has_leaf_moved(const tn_world *world, const shape *s)
{
  const tree *t = s->is_static ? &world->detection->static_tree : &world->detection->moving_tree;
  const world_aabb *leaf = &t->nodes[s->tree_leaf].box;
  return leaf->lower.x != s->box.lower.x || leaf->lower.y != s->box.lower.y ||
         leaf->lower.z != s->box.lower.z || leaf->upper.x != s->box.upper.x ||
         leaf->upper.y != s->box.upper.y || leaf->upper.z != s->box.upper.z;
}

// Boxes of all awake bodies: computed on all threads, the tree changed in the order of slots.
static void move_boxes(tn_world *world, float dt)
{
  box_task task = {world, dt};
  task_run(world->tasks, update_boxes, world->awake_count, BOX_GRAIN, &task);
  const uint8_t *marks = world->detection->body_marks;
  for (int32_t i = next_mark(marks, 0, world->awake_count); i < world->awake_count;
       i = next_mark(marks, i + 1, world->awake_count)) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      if (has_leaf_moved(world, &world->shapes[k])) {
        move_leaf(world, k);
      }
    }
  }
}

// Bound of the motion of any point of the shape in this step, m.
static float max_point_motion(const body_state *state, const shape *s)
{
  // |dq| is the sine of half the angle: chord 2 r |dq|, with a margin.
  float angle = TUNING_BOX_CHORD_BOUND * tn_length(vec3_of(state->dq));
  return tn_length(vec3_of(state->dx)) + turned_by(angle, s);
}

bool shape_boxes_use_slack(tn_world *world, int32_t body_slot)
{
  const body_state *state = &world->state[body_slot];
  bool enough = true;
  for (int32_t k = world->bodies[body_slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    shape *s = &world->shapes[k];
    s->box_slack -= max_point_motion(state, s);
    enough = enough && s->box_slack >= 0.0f;
  }
  return enough;
}

static void refit_box(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  world_aabb tight = shape_tight_aabb(world, s);
  if (aabb_contains(&s->box, &tight)) {
    s->box_slack = slack_in(&s->box, &tight);
  } else {
    float margin = margin_of(s);
    grow(&tight, (double)margin);
    set_box(s, tight, margin, 0.0f);
    move_leaf(world, slot);
  }
}

void shape_boxes_refit(tn_world *world, int32_t body_slot)
{
  for (int32_t k = world->bodies[body_slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    if (!(world->shapes[k].box_slack >= 0.0f)) {
      refit_box(world, k);
    }
  }
}

void trees_refit(tn_world *world)
{
  tree_refit(&world->detection->static_tree, NULL);
  tree_refit(&world->detection->moving_tree, world->tasks);
}

// ---------------------------------------------------------------------------------------------
// Search

// What the parallel part of a search finds for one pending shape.
#define SEARCH_ROOM 14

typedef struct search_result {
  bool has_far_pair;           // a pair whose boxes no longer overlap
  int32_t count;               // shapes found, also those without room in `others`
  int32_t others[SEARCH_ROOM]; // that may collide and have no pair yet, ascending
} search_result;

typedef struct search {
  const tn_world *world;
  const shape *of;
  int32_t slot;
  int32_t *others;
  int32_t count, room;
} search;

// Two searching shapes find each other once: from the lower slot, which searches first.
static bool is_searched_already(const search *s, int32_t item)
{
  return item < s->slot && s->world->shapes[item].pairs_pending;
}

static bool collect_candidate(int32_t item, void *context)
{
  search *s = context;
  if (!is_searched_already(s, item) &&
      shapes_may_collide(s->world, s->of, &s->world->shapes[item]) &&
      find_pair(s->world, s->slot, item) == NO_SLOT) {
    if (s->count < s->room) {
      s->others[s->count] = item;
    }
    s->count += 1;
  }
  return true;
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// Insertion sort, since most lists are short or nearly sorted; qsort if it takes too many moves.
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

// The user's pair filter.
static bool passes_filter(const tn_world *world, int32_t a, int32_t b)
{
  return !world->pair_filter ||
         world->pair_filter(shape_id_at(world, a < b ? a : b), shape_id_at(world, a < b ? b : a),
                            world->pair_filter_context);
}

bool pair_should_collide(const tn_world *world, const shape *a, const shape *b)
{
  return shapes_may_collide(world, a, b) &&
         passes_filter(world, (int32_t)(a - world->shapes), (int32_t)(b - world->shapes));
}

int32_t pair_find_or_add(tn_world *world, int32_t a, int32_t b)
{
  int32_t slot = find_pair(world, a, b);
  return slot == NO_SLOT ? add_pair(world, a, b) : slot;
}

static bool is_solid_dynamic(const tn_world *world, int32_t slot)
{
  const shape *s = &world->shapes[slot];
  return world->bodies[s->body].type == TN_BODY_DYNAMIC && !s->def.sensor;
}

// Pairs that are no longer deep do not count any more.
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

// Whether a pair has to wait for a crowd to dissolve. Between two full crowds shallow pairs wait as
// well: while a heap comes apart they would be as many.
static bool is_crowded(const shape *s, const shape *t, bool deep)
{
  bool full = s->crowd >= TUNING_MAX_DEEP_PAIRS, other_full = t->crowd >= TUNING_MAX_DEEP_PAIRS;
  return deep ? full || other_full : full && other_full;
}

// Adds a pair, unless it has to wait: for a crowd, or beyond a limit. What carries dynamic bodies
// is never left out for a limit of a shape. False when out of memory.
static bool admit_pair(tn_world *world, int32_t slot, int32_t other)
{
  shape *s = &world->shapes[slot], *t = &world->shapes[other];
  bool solid = is_solid_dynamic(world, slot) && is_solid_dynamic(world, other);
  bool deep = solid && is_deep(world, slot, other);
  int32_t most = s->pair_count > t->pair_count ? s->pair_count : t->pair_count;
  if (world->pair_pool.count >= world->limits.pairs ||
      (solid && (most >= world->limits.shape_pairs || is_crowded(s, t, deep)))) {
    int32_t *first = &world->detection->crowded_shape;
    *first = *first ? *first : slot + 1;
    s->waits = true;
    return true;
  }
  int32_t made = add_pair(world, slot, other);
  if (made != NO_SLOT) {
    count_deep(world, &world->pairs[made], deep);
  }
  return made != NO_SLOT;
}

// Candidates are sorted by slot, so that the pairs do not depend on the shape of the tree.
static int32_t search_trees(const tn_world *world, int32_t slot, int32_t *others, int32_t room)
{
  const shape *s = &world->shapes[slot];
  search context = {world, s, slot, others, 0, room};
  tree_query(&world->detection->moving_tree, s->box, collect_candidate, &context);
  if (!s->is_static) {
    tree_query(&world->detection->static_tree, s->box, collect_candidate, &context);
  }
  sort_slots(others, context.count < room ? context.count : room);
  return context.count;
}

static bool is_far_pair(const tn_world *world, const pair *p)
{
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  return !aabbs_overlap(&a->box, &b->box) || !shapes_may_collide(world, a, b);
}

static bool has_far_pair(const tn_world *world, int32_t slot)
{
  for (int32_t link = world->shapes[slot].first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    if (is_far_pair(world, &world->pairs[link / 2])) {
      return true;
    }
  }
  return false;
}

// The part of a search that changes nothing. What it finds does not depend on the pairs that other
// searches of this step add or remove: those that are added are found by one search only, and those
// that are removed have boxes that do not overlap.
static void search_pending(int first, int last, void *context)
{
  const tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->detection->pending_shapes[i];
    search_result *found = &((search_result *)world->detection->search_results)[i];
    found->has_far_pair = has_far_pair(world, slot);
    found->count = search_trees(world, slot, found->others, SEARCH_ROOM);
  }
}

// Adds the pairs that a search has found. False when out of memory.
static bool add_found_pairs(tn_world *world, int32_t slot, const search_result *found)
{
  const int32_t *others = found->others;
  world->shapes[slot].waits = false;
  leave_crowd(world, slot);
  if (found->count > SEARCH_ROOM) {
    if (!heap_reserve(&world->heap, (void **)&world->detection->candidates,
                      &world->detection->candidate_capacity, found->count, sizeof(int32_t))) {
      return false;
    }
    search_trees(world, slot, world->detection->candidates, found->count);
    others = world->detection->candidates;
  }
  for (int32_t i = 0; i < found->count; ++i) {
    if (passes_filter(world, slot, others[i]) && !admit_pair(world, slot, others[i])) {
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
    if (is_far_pair(world, p)) {
      pair_remove(world, link / 2);
    }
    link = next;
  }
}

// Searches on all threads, then removes and adds pairs in the order of slots.
static bool update_pairs(tn_world *world)
{
  int32_t count = world->detection->pending_shape_count;
  if (!heap_reserve(&world->heap, &world->detection->search_results,
                    &world->detection->search_result_capacity, count, sizeof(search_result))) {
    return false;
  }
  task_run(world->tasks, search_pending, count, SEARCH_GRAIN, world);
  for (int32_t i = 0; i < count; ++i) {
    int32_t slot = world->detection->pending_shapes[i];
    const search_result *found = &((search_result *)world->detection->search_results)[i];
    if (found->has_far_pair) {
      drop_far_pairs(world, slot);
    }
    if (!add_found_pairs(world, slot, found)) {
      return false;
    }
  }
  return true;
}

// Lists shapes that the user has created, moved or changed since the last step.
static void list_pending(tn_world *world)
{
  detection *d = world->detection;
  if (d->pending_shapes_stale) {
    d->pending_shape_count = 0;
    for (int32_t i = 0; i < world->shape_pool.used; ++i) {
      if (world->shapes[i].alive && world->shapes[i].pairs_pending) {
        d->pending_shapes[d->pending_shape_count++] = i;
      }
    }
  } else if (d->pending_shapes_changed) {
    sort_slots(d->pending_shapes, d->pending_shape_count);
    int32_t count = 0, last = NO_SLOT;
    for (int32_t i = 0; i < d->pending_shape_count; ++i) {
      int32_t slot = d->pending_shapes[i];
      if (slot != last && world->shapes[slot].alive && world->shapes[slot].pairs_pending) {
        d->pending_shapes[count++] = slot;
      }
      last = slot;
    }
    d->pending_shape_count = count;
  }
  d->pending_shapes_stale = d->pending_shapes_changed = false;
}

// The work is bounded by what has moved: none while the world sleeps.
static void optimize_tree(tn_world *world)
{
  int32_t nodes = world->detection->moving_tree.used;
  int32_t most = 1 + nodes / TUNING_TREE_STEPS;
  int64_t debt = world->detection->tree_reinsert_debt +
                 TUNING_TREE_REINSERTS * (int64_t)world->detection->pending_shape_count;
  world->detection->tree_reinsert_debt = (int32_t)(debt < nodes ? debt : nodes);
  int32_t budget =
      world->detection->tree_reinsert_debt < most ? world->detection->tree_reinsert_debt : most;
  tree_optimize(&world->detection->moving_tree, budget);
  world->detection->tree_reinsert_debt -= budget;
}

bool body_marks_reserve(tn_world *world)
{
  return heap_reserve(&world->heap, (void **)&world->detection->body_marks,
                      &world->detection->body_mark_capacity, world->awake_count, sizeof(uint8_t));
}

void broad_phase_release(tn_world *world)
{
  heap_free(&world->heap, world->detection->search_results,
            (size_t)world->detection->search_result_capacity * sizeof(search_result));
}

// Once for every time that something begins to wait.
static void report_crowd(const tn_world *world, int32_t slot)
{
  int32_t at = world->shapes[slot].body;
  const char *name = world->bodies[at].name;
  report(&world->log, TN_LOG_WARNING,
         "tn_world_step: too many pairs of shape %d of body %d (%s): some contacts wait", (int)slot,
         (int)at, name[0] ? name : "unnamed");
}

bool broad_phase_update(tn_world *world, float dt)
{
  if (!heap_reserve(&world->heap, (void **)&world->detection->pending_shapes,
                    &world->detection->pending_shape_capacity,
                    world->shape_pool.used + world->detection->pending_shape_count,
                    sizeof(int32_t)) ||
      !body_marks_reserve(world)) {
    return false;
  }
  bool was_crowded = world->detection->crowded_shape != 0;
  world->detection->crowded_shape = 0;
  list_pending(world);
  move_boxes(world, dt);
  trees_refit(world);
  optimize_tree(world);
  sort_slots(world->detection->pending_shapes, world->detection->pending_shape_count);
  if (!update_pairs(world)) {
    return false;
  }
  int32_t waiting = 0;
  for (int32_t i = 0; i < world->detection->pending_shape_count; ++i) {
    shape *s = &world->shapes[world->detection->pending_shapes[i]];
    s->pairs_pending = s->waits;
    world->detection->pending_shapes[waiting] = world->detection->pending_shapes[i];
    waiting += s->waits;
  }
  world->detection->pending_shape_count = waiting;
  if (world->detection->crowded_shape && !was_crowded) {
    report_crowd(world, world->detection->crowded_shape - 1);
  }
  return true;
}
