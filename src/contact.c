// Narrow phase: the manifolds of close pairs, found once a step and carried from step to step.
#include "look_pair.h"

#include <math.h>
#include <string.h>

#define PAIR_GRAIN 32
#define CALL_GRAIN 128 // pairs
#define BODY_GRAIN 64

#define MATCH_RADIUS 0.14f // share of the smaller shape's size
#define SAME_NORMAL 0.9f   // cosine

// ---------------------------------------------------------------------------------------------
// Contacts of a pair

static contact *add_contact(tn_world *world, int32_t pair_slot)
{
  int32_t slot = slot_take(world, &world->contact_list, (void **)&world->contacts, sizeof(contact),
                           offsetof(contact, next_free));
  if (slot == NO_SLOT) {
    return NULL;
  }
  contact *c = &world->contacts[slot];
  memset(c, 0, sizeof *c);
  c->alive = true;
  c->idle = true;
  c->pair = pair_slot;
  memcpy(c->shape, world->pairs[pair_slot].shape, sizeof c->shape);
  memcpy(c->body, world->pairs[pair_slot].body, sizeof c->body);
  c->next = NO_SLOT;
  // Contacts of a pair are listed in the order they came.
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    link = &world->contacts[*link].next;
  }
  *link = slot;
  return c;
}

static void remove_contact(tn_world *world, int32_t *link)
{
  int32_t slot = *link;
  *link = world->contacts[slot].next;
  world->contacts[slot].alive = false;
  slot_give(&world->contact_list, world->contacts, sizeof(contact), offsetof(contact, next_free),
            slot);
}

void contact_remove_of(tn_world *world, int32_t pair_slot)
{
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    remove_contact(world, link);
  }
}

void contact_forget(contact *c)
{
  memset(&c->memory, 0, sizeof c->memory);
  c->idle = true;
  c->settled = false;
}

// ---------------------------------------------------------------------------------------------
// From what was found to contacts that remember

static float square_distance(tn_vec3 a, tn_vec3 b)
{
  tn_vec3 d = tn_sub(a, b);
  return tn_dot(d, d);
}

// The old point that a new one continues: of the same features, or close by.
static int match_point(const manifold *old, const manifold_point *point, unsigned taken,
                       float radius)
{
  for (int i = 0; i < old->count; ++i) {
    if (!(taken >> i & 1) && old->points[i].feature == point->feature) {
      return i;
    }
  }
  int best = -1;
  float nearest = radius * radius;
  for (int i = 0; i < old->count; ++i) {
    float d = square_distance(old->points[i].a, point->a);
    float e = square_distance(old->points[i].b, point->b);
    if (!(taken >> i & 1) && fminf(d, e) < nearest) {
      best = i;
      nearest = fminf(d, e);
    }
  }
  return best;
}

static void carry_over(contact *c, const manifold *now, float radius)
{
  float lambda[MAX_POINTS] = {0.0f};
  unsigned taken = 0;
  for (int i = 0; i < now->count; ++i) {
    int old = match_point(&c->manifold, &now->points[i], taken, radius);
    if (old >= 0) {
      lambda[i] = c->memory.lambda[old];
      taken |= 1u << old;
    }
  }
  if (!taken) {
    contact_forget(c);
  }
  memcpy(c->memory.lambda, lambda, sizeof lambda);
  // What was learnt is the load of all points together; what slides does not rest on it.
  if (c->terms.anchored > 0.5f) {
    c->memory.reference *= (float)c->manifold.count / (float)now->count;
  }
  c->idle = !(lambda[0] > 0.0f || lambda[1] > 0.0f || lambda[2] > 0.0f || lambda[3] > 0.0f);
  bool alike = now->form == c->manifold.form && now->count == c->manifold.count &&
               now->radius_a == c->manifold.radius_a && now->radius_b == c->manifold.radius_b;
  c->terms.mixed = alike ? c->terms.mixed : 0;
  c->steady = false;
  c->manifold = *now;
}

// Which of the found manifolds continues the contact: that of the same part, or one that looks much
// the same, as when a marble rolls from one part of a wire to the next.
static int match_manifold(const contact *c, const manifold *found, int count, uint32_t taken,
                          float radius)
{
  for (int i = 0; i < count; ++i) {
    if (!(taken >> i & 1) && found[i].child == c->manifold.child) {
      return i;
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!(taken >> i & 1) && tn_dot(found[i].normal, c->manifold.normal) > SAME_NORMAL &&
        match_point(&c->manifold, &found[i].points[0], 0, radius) >= 0) {
      return i;
    }
  }
  return -1;
}

static float match_radius(const tn_world *world, const pair *p)
{
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  return MATCH_RADIUS * fminf(shape_size(a), shape_size(b));
}

static bool take_over(tn_world *world, int32_t index)
{
  const found_pair *found = &world->found[index];
  int32_t pair_slot = world->active_pairs[index];
  const pair *p = &world->pairs[pair_slot];
  const manifold *manifolds = &world->found_manifolds[found->first];
  float radius = match_radius(world, p);
  uint32_t taken = 0;
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    contact *c = &world->contacts[*link];
    int match = match_manifold(c, manifolds, found->count, taken, radius);
    if (match < 0) {
      remove_contact(world, link);
      continue;
    }
    taken |= 1u << match;
    carry_over(c, &manifolds[match], radius);
    link = &c->next;
  }
  for (int i = 0; i < found->count; ++i) {
    if (!(taken >> i & 1)) {
      contact *c = add_contact(world, pair_slot);
      if (!c) {
        return false;
      }
      c->manifold = manifolds[i];
    }
  }
  return true;
}

// Most pairs that are found anew have one manifold and had one: any thread may take that over.
static void take_over_one(const tn_world *world, int32_t index)
{
  found_pair *found = &world->found[index];
  if (found->count == KEPT_MANIFOLDS) {
    return;
  }
  pair *p = &world->pairs[world->active_pairs[index]];
  contact *c = p->first_contact == NO_SLOT ? NULL : &world->contacts[p->first_contact];
  if (p->sensor || found->count != (c ? 1 : 0) || (c && c->next != NO_SLOT)) {
    return;
  }
  if (c) {
    const manifold *now = &world->found_manifolds[found->first];
    float radius = match_radius(world, p);
    if (match_manifold(c, now, 1, 0, radius) != 0) {
      return;
    }
    carry_over(c, now, radius);
  }
  p->inside |= p->fresh;
  p->fresh = false;
  found->count = KEPT_MANIFOLDS;
}

static void update_sensor(tn_world *world, pair *p, bool overlap)
{
  if (overlap != p->touching) {
    p->touching = overlap;
    tn_event_kind kind = overlap ? TN_EVENT_SENSOR_BEGIN : TN_EVENT_SENSOR_END;
    add_contact_event(world, pair_event(world, p, kind));
  }
}

static bool apply_found(tn_world *world)
{
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    if (world->found[i].count == KEPT_MANIFOLDS) {
      continue;
    }
    pair *p = &world->pairs[world->active_pairs[i]];
    if (p->sensor) {
      update_sensor(world, p, world->found[i].overlap);
      continue;
    }
    p->inside |= p->fresh;
    p->fresh = false;
    if (!take_over(world, i)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// A step's round

static bool is_active(const tn_world *world, const body *b)
{
  const body_state *state = &world->state[body_slot(world, b)];
  if (b->type == TN_BODY_KINEMATIC) {
    return b->has_target || tn_length(tn_v3(state->v[0], state->v[1], state->v[2])) > 0.0f ||
           tn_length(tn_v3(state->w[0], state->w[1], state->w[2])) > 0.0f;
  }
  return moves(b);
}

// No point has gone farther from one place to another.
static double way_between(const placed *from, const placed *to, float reach)
{
  tn_pos d = pos_sub(to->p, from->p);
  dquat turn = dquat_mul(to->q, dquat_conjugate(from->q));
  double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z); // of half the angle
  return sqrt(pos_dot(d, d)) + 2.1 * sine * (double)reach;
}

// The look, and whether someone active is looked at.
static uint32_t look_of(const tn_world *world, bool active)
{
  return (uint32_t)(2 * world->look_count) + active;
}

static bool someone_hastes(const tn_world *world)
{
  for (int32_t i = 0; i < world->shape_list.used; ++i) {
    if (world->ways[i].hastes && world->ways[i].look == look_of(world, true)) {
      return true;
    }
  }
  return false;
}

static bool is_placed(const tn_world *world, int32_t slot)
{
  return (world->ways[slot].look | 1) == look_of(world, true);
}

// Once a look and shape, for all of its pairs.
static void place_shape(tn_world *world, int32_t slot, bool active, float dt)
{
  shape *s = &world->shapes[slot];
  const body *b = &world->bodies[s->body];
  const body_state *state = &world->state[s->body];
  stance *now = &s->stance;
  placed last = now->here;
  tn_pos at = dquat_rotate(b->rotation, s->at_point);
  now->here.p = pos_add(b->center, at);
  now->here.q = dquat_mul(b->rotation, s->at_rotation);
  tn_quat q = dquat_round(now->here.q);
  tn_pos y = dquat_rotate(now->here.q, tn_p3(0.0, 1.0, 0.0));
  now->axis[0] = (float)y.x, now->axis[1] = (float)y.y, now->axis[2] = (float)y.z;
  now->turned[0] = q.x, now->turned[1] = q.y, now->turned[2] = q.z, now->turned[3] = q.w;
  now->at[0] = (float)at.x, now->at[1] = (float)at.y, now->at[2] = (float)at.z;
  now->half_length = s->geometry.kind == TN_SHAPE_CAPSULE ? s->geometry.half_length : 0.0f;
  now->radius = s->geometry.radius;
  now->reach = s->reach;
  now->arm = s->reach + tn_length(tn_v3(now->at[0], now->at[1], now->at[2]));
  float speed = tn_length(tn_v3(state->v[0], state->v[1], state->v[2]));
  if (shape_is_bounded(s)) {
    float turn = tn_length(tn_v3(state->w[0], state->w[1], state->w[2]));
    now->speed = speed + now->arm * turn;
    now->way += way_between(&last, &now->here, s->reach);
  }
  world->ways[slot] = (shape_way){now->way + (double)(dt * now->speed), look_of(world, active),
                                  active && dt * speed > s->inner_radius};
}

typedef struct narrow_task {
  tn_world *world;
  float dt;
} narrow_task;

static void place_active(int first, int last, void *context)
{
  const narrow_task *task = context;
  tn_world *world = task->world;
  for (int32_t i = first; i < last; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    bool active = is_active(world, b);
    for (int32_t k = b->first_shape; active && k != NO_SLOT; k = world->shapes[k].next) {
      place_shape(world, k, true, task->dt);
    }
  }
}

// Whether two shapes that were apart cannot have met, by the ways they have made since and may make
// in this step. Half of the pairs are far, in no order: no jumps.
static inline bool is_far(const shape_way *ways, const pair *p)
{
  return (p->first_contact == NO_SLOT) & !p->fresh & !p->touching &
         (ways[p->shape[0]].spent + ways[p->shape[1]].spent < p->limit);
}

// What kinds of shapes may have changed.
static void know_shapes(const tn_world *world, pair *p)
{
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  p->round = !p->sensor && shape_is_round(a) && shape_is_round(b);
  p->complex = shape_is_complex(a) || shape_is_complex(b);
}

typedef struct lister {
  tn_world *world;
  found_pair *found;
  int32_t *listed;
  int32_t count;
  uint32_t active; // look of shapes that are
  float dt;
  int32_t room;      // for manifolds, so far
  int32_t descents;  // pairs that come after one of a later body
  bool meets_asleep; // some pair has a sleeping body
} lister;

// The shape beside an active one that is not active itself.
static void place_other(lister *l, int32_t slot)
{
  const body *b = &l->world->bodies[l->world->shapes[slot].body];
  l->meets_asleep = l->meets_asleep || b->asleep;
  if (!is_placed(l->world, slot)) {
    place_shape(l->world, slot, false, l->dt);
  }
}

// A pair with someone active, unless its shapes cannot have met. It is written in any case, and
// counted if it is to be listed: no jumps.
static inline void list_pair(lister *l, int32_t slot)
{
  pair *p = &l->world->pairs[slot];
  const shape_way *ways = l->world->ways;
  bool first = ways[p->shape[0]].look == l->active;
  bool second = ways[p->shape[1]].look == l->active;
  if (!p->alive || !(first || second)) {
    return;
  }
  if (!(first && second)) {
    place_other(l, p->shape[first]);
  }
  if (p->fresh) {
    know_shapes(l->world, p);
  }
  int32_t at = l->count, is_listed = !is_far(ways, p);
  int32_t room = p->complex ? MAX_MANIFOLDS : 1;
  l->found[at] = (found_pair){.first = l->room, .room = room};
  l->listed[at] = slot;
  l->count = at + is_listed;
  l->room += is_listed * room;
  l->descents += is_listed & (slot > 0 && p->home < p[-1].home);
}

static int64_t count_links(const tn_world *world)
{
  int64_t links = 0;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      links += world->shapes[k].pair_count;
    }
  }
  return links;
}

// Where few are awake, their pairs are marked first, so that they come in the same order.
static bool list_few(lister *l)
{
  tn_world *world = l->world;
  int32_t words = world->pair_list.used / 64 + 1;
  if (!memory_reserve(world, (void **)&world->pair_bits, &world->pair_bit_capacity, words,
                      sizeof(uint64_t))) {
    return false;
  }
  memset(world->pair_bits, 0, (size_t)words * sizeof(uint64_t));
  for (int32_t i = 0; i < world->awake_count; ++i) {
    for (int32_t k = world->bodies[world->awake[i]].first_shape; k != NO_SLOT;
         k = world->shapes[k].next) {
      for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
           link = world->pairs[link / 2].next[link % 2]) {
        world->pair_bits[link / 128] |= 1ull << (link / 2 % 64);
      }
    }
  }
  for (int32_t i = 0; i < words; ++i) {
    for (uint64_t bits = world->pair_bits[i]; bits != 0; bits &= bits - 1) {
      int32_t slot = 64 * i + lowest_free_color(~bits);
      list_pair(l, slot);
    }
  }
  return true;
}

// Most of the others are known to be far from what was last seen of their shapes.
static void judge_pairs(int first, int last, void *context)
{
  const tn_world *world = context;
  const shape_way *ways = world->ways;
  const pair *pairs = world->pairs;
  uint8_t *calls = world->pair_calls; // bytes, which might be anyone's: read nothing again for them
  for (int32_t i = first; i < last; ++i) {
    calls[i] = !is_far(ways, &pairs[i]);
  }
}

static bool list_all(lister *l)
{
  tn_world *world = l->world;
  int32_t count = world->pair_list.used, called = 0;
  if (!memory_reserve(world, (void **)&world->pair_calls, &world->pair_call_capacity, count,
                      sizeof(uint8_t))) {
    return false;
  }
  task_run(world->tasks, judge_pairs, count, CALL_GRAIN, world);
  // The list of those that are called becomes that of the active ones.
  int32_t *listed = l->listed;
  const uint8_t *calls = world->pair_calls;
  for (int32_t i = 0; i < count; ++i) {
    listed[called] = i;
    called += calls[i];
  }
  for (int32_t i = 0; i < called; ++i) {
    if (i + FETCH_AHEAD < called) {
      FETCH(&world->pairs[l->listed[i + FETCH_AHEAD]]);
    }
    list_pair(l, l->listed[i]);
  }
  return true;
}

// Pairs with someone active that may have met, in the order of their slots.
static bool list_active(lister *l)
{
  tn_world *world = l->world;
  int32_t count = world->pair_list.used + 1; // one more is written before it is left out
  if (!memory_reserve(world, (void **)&world->active_pairs, &world->active_pair_capacity, count,
                      sizeof(int32_t)) ||
      !memory_reserve(world, (void **)&world->found, &world->found_capacity, count,
                      sizeof(found_pair))) {
    return false;
  }
  l->found = world->found;
  l->listed = world->active_pairs;
  l->active = look_of(world, true);
  bool few = 4 * count_links(world) < world->pair_list.used;
  if (!(few ? list_few(l) : list_all(l))) {
    return false;
  }
  world->active_pair_count = l->count;
  return memory_reserve(world, (void **)&world->found_manifolds, &world->found_manifold_capacity,
                        l->room, sizeof(manifold));
}

// What an awake body touches wakes up.
static void wake_touched(tn_world *world)
{
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    const pair *p = &world->pairs[world->active_pairs[i]];
    for (int side = 0; side < 2 && p->first_contact != NO_SLOT; ++side) {
      if (world->bodies[p->body[side]].asleep) {
        body_wake(world, p->body[side]);
      }
    }
  }
}

// What is new, or was too far to look at, is not among the active pairs.
static bool activate(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    if (world->active_pairs[i] == slot) {
      return true;
    }
  }
  int32_t count = world->active_pair_count + 1;
  if (!memory_reserve(world, (void **)&world->active_pairs, &world->active_pair_capacity, count,
                      sizeof(int32_t)) ||
      !memory_reserve(world, (void **)&world->found, &world->found_capacity, count,
                      sizeof(found_pair))) {
    return false;
  }
  world->found[count - 1] = (found_pair){.count = KEPT_MANIFOLDS};
  world->active_pairs[count - 1] = slot;
  world->active_pair_count = count;
  return true;
}

bool contacts_foresee(tn_world *world, int32_t a, int32_t b, const manifold *list, int count)
{
  int32_t slot = count > 0 ? pair_ensure(world, a, b) : NO_SLOT;
  if (count == 0 || slot == NO_SLOT) {
    return count == 0;
  }
  int32_t first = world->pairs[slot].first_contact;
  if (first != NO_SLOT && (shape_is_complex(&world->shapes[b]) ||
                           world->contacts[first].manifold.points[0].gap <= 0.0f)) {
    return true;
  }
  contact_remove_of(world, slot);
  if (!is_placed(world, b)) {
    place_shape(world, b, false, 0.0f);
  }
  for (int i = 0; i < count; ++i) {
    contact *c = add_contact(world, slot);
    if (!c) {
      return false;
    }
    c->manifold = list[i];
  }
  return activate(world, slot);
}

static void narrow(int first, int last, void *context)
{
  const narrow_task *task = context;
  look_at_pairs(task->world, first, last, task->dt);
  for (int i = first; i < last; ++i) {
    take_over_one(task->world, i);
  }
}

bool contacts_update(tn_world *world, float dt)
{
  narrow_task task = {world, dt};
  lister l = {.world = world, .dt = dt};
  world->look_count += 1;
  if (!memory_reserve(world, (void **)&world->ways, &world->way_capacity, world->shape_list.used,
                      sizeof(shape_way))) {
    return false;
  }
  task_run(world->tasks, place_active, world->awake_count, BODY_GRAIN, &task);
  if (!list_active(&l)) {
    return false;
  }
  if (pairs_are_mixed_up(l.descents, l.count)) {
    l = (lister){.world = world, .dt = dt};
    if (!pairs_sort(world) || !list_active(&l)) {
      return false;
    }
  }
  task_run(world->tasks, narrow, world->active_pair_count, PAIR_GRAIN, &task);
  if (!apply_found(world) || (someone_hastes(world) && !bounces_foresee(world, dt))) {
    return false;
  }
  if (l.meets_asleep) {
    wake_touched(world);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Events and read-out

static tn_body_id body_id_of(const tn_world *world, int32_t slot)
{
  tn_body_id none = {0};
  return slot == WORLD_SLOT ? none : body_id_at(world, slot);
}

tn_contact_event pair_event(const tn_world *world, const pair *p, tn_event_kind kind)
{
  tn_contact_event e = {0};
  int first = p->sensor && !world->shapes[p->shape[0]].def.sensor ? 1 : 0;
  e.kind = kind;
  e.shape_a = shape_id_at(world, p->shape[first]);
  e.shape_b = shape_id_at(world, p->shape[1 - first]);
  e.body_a = body_id_of(world, world->shapes[p->shape[first]].body);
  e.body_b = body_id_of(world, world->shapes[p->shape[1 - first]].body);
  return e;
}

bool add_contact_event(tn_world *world, tn_contact_event event)
{
  if (!memory_reserve(world, (void **)&world->contact_events, &world->contact_event_capacity,
                      world->contact_event_count + 1, sizeof event)) {
    report(world, TN_LOG_WARNING, "out of memory: a contact event is lost");
    return false;
  }
  world->contact_events[world->contact_event_count++] = event;
  return true;
}

const tn_contact_event *tn_world_contact_events(const tn_world *world, int *count)
{
  if (count) {
    *count = world ? world->told_event_count : 0;
  }
  return world && world->told_event_count > 0 ? world->contact_events : NULL;
}

static tn_contact describe(const tn_world *world, const contact *c)
{
  const pair *p = &world->pairs[c->pair];
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  placed at_a = shape_placed(world, a);
  placed at_b = shape_placed(world, b);
  tn_quat qa = dquat_round(at_a.q), qb = dquat_round(at_b.q);
  tn_contact out = {0};
  out.shape_a = shape_id_at(world, p->shape[0]);
  out.shape_b = shape_id_at(world, p->shape[1]);
  out.body_a = body_id_of(world, a->body);
  out.body_b = body_id_of(world, b->body);
  out.normal = tn_rotate(qa, c->manifold.normal);
  out.count = c->manifold.count;
  for (int i = 0; i < out.count; ++i) {
    const manifold_point *m = &c->manifold.points[i];
    tn_vec3 skin_a = tn_scale(c->manifold.radius_a, out.normal);
    tn_vec3 skin_b = tn_scale(-c->manifold.radius_b, out.normal);
    tn_pos on_a = tn_offset(at_a.p, tn_add(tn_rotate(qa, m->a), skin_a));
    tn_pos on_b = tn_offset(at_b.p, tn_add(tn_rotate(qb, m->b), skin_b));
    out.points[i].position = tn_offset(on_a, tn_scale(0.5f, tn_between_points(on_a, on_b)));
    out.points[i].gap = c->manifold.points[i].gap;
    out.points[i].normal_force = c->load.force[i];
  }
  out.friction_force = c->load.friction_force;
  out.friction_torque = c->load.friction_torque;
  return out;
}

int tn_world_contacts(const tn_world *world, tn_contact *contacts, int capacity)
{
  int count = 0;
  for (int32_t i = 0; world && i < world->contact_list.used; ++i) {
    if (world->contacts[i].alive) {
      if (contacts && count < capacity) {
        contacts[count] = describe(world, &world->contacts[i]);
      }
      count += 1;
    }
  }
  return count;
}

int tn_body_contacts(const tn_world *world, tn_body_id id, tn_contact *contacts, int capacity)
{
  const body *b = body_find(world, id, "tn_body_contacts");
  int count = 0;
  for (int32_t k = b ? b->first_shape : NO_SLOT; k != NO_SLOT; k = world->shapes[k].next) {
    for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      for (int32_t c = world->pairs[link / 2].first_contact; c != NO_SLOT;
           c = world->contacts[c].next) {
        if (contacts && count < capacity) {
          contacts[count] = describe(world, &world->contacts[c]);
        }
        count += 1;
      }
    }
  }
  return count;
}

bool tn_world_set_pair_filter(tn_world *world, tn_pair_filter_fn *filter, void *context)
{
  if (!world) {
    return false;
  }
  world->pair_filter = filter;
  world->pair_filter_context = context;
  return true;
}
