// Narrow phase: the manifolds of close pairs, found once a step and carried from step to step.
#include "collide/distance.h"
#include "world.h"

#include <math.h>
#include <string.h>

#define PAIR_GRAIN 16

// As shares of the smaller shape's size.
#define MARGIN 0.02f
#define MARGIN_CAP 0.5f
#define MATCH_RADIUS 0.14f
#define CLEARANCE 0.1f
#define REUSE_LENGTH 1e-3f
#define REUSE_ANGLE 1e-3f
#define SAME_NORMAL 0.9f // cosine

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
  c->pair = pair_slot;
  memcpy(c->shape, world->pairs[pair_slot].shape, sizeof c->shape);
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
}

// ---------------------------------------------------------------------------------------------
// Looking at a pair. Many at a time, on any thread: nothing but the pair's own result is written.

static bool is_active(const tn_world *world, const body *b)
{
  const body_state *state = &world->state[body_slot(world, b)];
  if (b->type == TN_BODY_KINEMATIC) {
    return b->has_target || tn_length(tn_v3(state->v[0], state->v[1], state->v[2])) > 0.0f ||
           tn_length(tn_v3(state->w[0], state->w[1], state->w[2])) > 0.0f;
  }
  return moves(b);
}

static tn_vec3 vec3_of(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// How much closer the shapes' surfaces may come in dt.
static float closing(const tn_world *world, const shape *a, const shape *b, float dt)
{
  const body_state *sa = &world->state[a->body];
  const body_state *sb = &world->state[b->body];
  const shape *sides[2] = {a, b};
  float turn = 0.0f;
  for (int i = 0; i < 2; ++i) {
    float w = tn_length(vec3_of(world->state[sides[i]->body].w));
    if (w > 0.0f) {
      tn_vec3 at = tn_v3((float)sides[i]->at_point.x, (float)sides[i]->at_point.y,
                         (float)sides[i]->at_point.z);
      turn += w * (sides[i]->reach + tn_length(at));
    }
  }
  return dt * (tn_length(tn_sub(vec3_of(sb->v), vec3_of(sa->v))) + turn);
}

static bool hardly_moved(const pair *p, pose now, float size)
{
  tn_vec3 d = tn_sub(now.p, p->at.p);
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->at.q));
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z));
  return tn_length(d) < REUSE_LENGTH * size && 2.0f * sine < REUSE_ANGLE;
}

static bool is_complex(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_MESH || s->geometry.kind == TN_SHAPE_HEIGHT_FIELD ||
         s->geometry.kind == TN_SHAPE_WIRE;
}

static float size_of(const shape *s)
{
  return s->geometry.kind == TN_SHAPE_PLANE || is_complex(s) ? INFINITY : s->reach;
}

// A corner that is stopped does not stop the body: it may turn and fly on. So the ball inside the
// moving shape is stopped as well, as one more point with its own gap.
static void add_core(const tn_world *world, const shape *a, const shape *b, pose at, tn_vec3 way,
                     manifold *m)
{
  bool crosses = -tn_dot(m->normal, way) > fminf(a->inner_radius, b->inner_radius);
  if (!crosses || m->form != MANIFOLD_FLAT || m->radius_a > 0.0f || m->radius_b > 0.0f) {
    return;
  }
  manifold_point core = {0};
  if (world->bodies[b->body].type == TN_BODY_DYNAMIC) {
    core.b = tn_scale(-b->inner_radius, pose_unvector(at, m->normal));
    tn_vec3 in_a = pose_point(at, core.b);
    core.gap = tn_dot(m->normal, tn_sub(in_a, m->points[0].a));
    core.a = tn_sub(in_a, tn_scale(core.gap, m->normal));
  } else {
    core.a = tn_scale(a->inner_radius, m->normal);
    core.gap = tn_dot(m->normal, tn_sub(pose_point(at, m->points[0].b), core.a));
    core.b = pose_unpoint(at, tn_add(core.a, tn_scale(core.gap, m->normal)));
  }
  core.feature = UINT32_MAX;
  m->points[m->count < MAX_POINTS ? m->count++ : MAX_POINTS - 1] = core;
}

// What a body that crosses more than the other shape's depth in a step would fly through is found
// by moving it there first; the gaps are then those from where it is.
static int look_ahead(const shape *a, const shape *b, pose at, tn_vec3 way, manifold *out, int room)
{
  cast_hit hit;
  if (!geometry_cast(&a->geometry, &b->geometry, at, way, 0.0f, 1.0f, &hit) ||
      hit.fraction <= 0.0f) {
    return 0;
  }
  pose there = at;
  there.p = tn_add(at.p, tn_scale(hit.fraction, way));
  float margin = MARGIN * fminf(size_of(a), size_of(b));
  int count = collide(&a->geometry, &b->geometry, there, margin, out, room);
  for (int i = 0; i < count; ++i) {
    float gap = tn_dot(out[i].normal, tn_sub(at.p, there.p));
    for (int k = 0; k < out[i].count; ++k) {
      out[i].points[k].gap += gap;
    }
  }
  return count;
}

typedef struct narrow_task {
  tn_world *world;
  float dt;
} narrow_task;

static bool needs_look_ahead(const tn_world *world, const shape *a, const shape *b, float way)
{
  const body *sides[2] = {&world->bodies[a->body], &world->bodies[b->body]};
  bool both_dynamic = sides[0]->type == TN_BODY_DYNAMIC && sides[1]->type == TN_BODY_DYNAMIC;
  if (is_complex(a) && is_complex(b)) {
    return false;
  }
  return way > fminf(a->inner_radius, b->inner_radius) &&
         (!both_dynamic || sides[0]->bullet || sides[1]->bullet);
}

// The way of B relative to A in dt, in A's frame.
static tn_vec3 relative_way(const tn_world *world, const shape *a, const shape *b, placed at_a,
                            float dt)
{
  tn_vec3 v = tn_sub(vec3_of(world->state[b->body].v), vec3_of(world->state[a->body].v));
  return tn_rotate(tn_quat_conjugate(dquat_round(at_a.q)), tn_scale(dt, v));
}

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

// The points stay where they were in their shapes; only the gaps are new. In double, because what
// rounding adds to a gap tips a tower over in the end.
static void update_gaps(const tn_world *world, const pair *p, placed at_a, placed at_b)
{
  for (int32_t slot = p->first_contact; slot != NO_SLOT; slot = world->contacts[slot].next) {
    manifold *m = &world->contacts[slot].manifold;
    // The normal in A's axes, the world's and B's.
    tn_pos na = wide(m->normal);
    tn_pos n = dquat_rotate(at_a.q, na);
    tn_pos nb = dquat_rotate(dquat_conjugate(at_b.q), n);
    double apart = pos_dot(n, pos_sub(at_b.p, at_a.p));
    for (int i = 0; i < m->count; ++i) {
      double gap = apart + pos_dot(nb, wide(m->points[i].b)) - pos_dot(na, wide(m->points[i].a));
      m->points[i].gap = (float)gap - m->radius_a - m->radius_b;
    }
  }
}

// A marble may pass several cubics of a wire in a step.
static void span_wire(const tn_world *world, const shape *a, const shape *b, placed at_a,
                      placed at_b, float dt, manifold *m)
{
  bool first = m->round_side == 1; // A is the wire
  const shape *rail = first ? a : b;
  const shape *round = first ? b : a;
  tn_vec3 v = tn_sub(vec3_of(world->state[round->body].v), vec3_of(world->state[rail->body].v));
  v = tn_rotate(tn_quat_conjugate(dquat_round((first ? at_a : at_b).q)), v);
  tn_vec3 along = wire_slope(rail->geometry.wire, m);
  float length = tn_length(along);
  float way = length > 0.0f ? dt * tn_dot(v, along) / length : 0.0f;
  float spare = 0.2f * fabsf(way);
  wire_span(rail->geometry.wire, m, spare + fmaxf(-way, 0.0f), spare + fmaxf(way, 0.0f));
}

// ---------------------------------------------------------------------------------------------
// Most pairs are apart and stay so: it is enough to know by how much.

static bool is_bounded(const shape *s)
{
  return s->geometry.kind != TN_SHAPE_PLANE && !is_complex(s);
}

// No point of B has moved further in A's frame since the pair was looked at.
static float moved_most(const pair *p, pose now, float reach)
{
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->at.q));
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z)); // of half the angle
  return tn_length(tn_sub(now.p, p->at.p)) + 3.2f * sine * reach;
}

// What lies between two shapes along a direction from A to B.
static float clear_along(const shape *a, const shape *b, pose at, tn_vec3 n)
{
  tn_vec3 on_a = convex_support(&a->geometry, n);
  tn_vec3 on_b = convex_support(&b->geometry, pose_unvector(at, tn_scale(-1.0f, n)));
  return tn_dot(n, tn_sub(pose_point(at, on_b), on_a));
}

// Whether two shapes that were apart are still apart by more than `margin`. If they were not known
// to be, `clear` becomes what is between them.
static bool stays_apart(pair *p, const shape *a, const shape *b, pose at, float margin, float size)
{
  if (p->fresh || p->first_contact != NO_SLOT || !is_bounded(a) || !is_bounded(b)) {
    p->clear = 0.0f;
    return false;
  }
  if (moved_most(p, at, b->reach) + margin < p->clear) {
    return true;
  }
  manifold nearest;
  p->at = at;
  p->way = a->way + b->way;
  p->clear = margin + CLEARANCE * size;
  if (collide(&a->geometry, &b->geometry, at, p->clear, &nearest, 1) > 0) {
    p->clear = clear_along(a, b, at, nearest.normal);
  }
  return p->clear > margin;
}

static void look_at(const tn_world *world, int32_t index, float dt)
{
  found_pair *found = &world->found[index];
  pair *p = &world->pairs[world->active_pairs[index]];
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  placed at_a = a->here;
  placed at_b = b->here;
  pose at = placed_relative(at_a, at_b);
  if (p->sensor) {
    found->overlap = overlaps(&a->geometry, &b->geometry, at);
    return;
  }
  float size = fminf(size_of(a), size_of(b));
  bool touched = !p->fresh && p->first_contact != NO_SLOT;
  if (touched && !is_complex(a) && !is_complex(b) && hardly_moved(p, at, size)) {
    found->count = KEPT_MANIFOLDS;
    update_gaps(world, p, at_a, at_b);
    return;
  }
  float close = closing(world, a, b, dt);
  if (stays_apart(p, a, b, at, MARGIN * size + close, size)) {
    found->count = KEPT_MANIFOLDS;
    return;
  }
  float margin = MARGIN * size + fminf(close, MARGIN_CAP * size);
  manifold *out = &world->found_manifolds[found->first];
  found->count = collide(&a->geometry, &b->geometry, at, margin, out, found->room);
  bool fast = needs_look_ahead(world, a, b, close);
  tn_vec3 way = relative_way(world, a, b, at_a, dt);
  if (found->count == 0 && fast) {
    if (is_complex(b) || b->geometry.kind == TN_SHAPE_PLANE) {
      // Casts move what is convex: look from the other side.
      pose back = pose_inverse(at);
      found->count =
          look_ahead(b, a, back, pose_unvector(at, tn_scale(-1.0f, way)), out, found->room);
      for (int i = 0; i < found->count; ++i) {
        manifold_flip(&out[i], back);
      }
    } else {
      found->count = look_ahead(a, b, at, way, out, found->room);
    }
  }
  for (int i = 0; i < found->count; ++i) {
    if (fast) {
      add_core(world, a, b, at, way, &out[i]);
    }
    if (out[i].form == MANIFOLD_WIRE) {
      span_wire(world, a, b, at_a, at_b, dt, &out[i]);
    }
  }
  p->at = at;
}

static void narrow(int first, int last, void *context)
{
  const narrow_task *task = context;
  for (int i = first; i < last; ++i) {
    look_at(task->world, i, task->dt);
  }
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
  c->manifold = *now;
  c->mixed = 0;
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

static bool take_over(tn_world *world, int32_t index)
{
  const found_pair *found = &world->found[index];
  int32_t pair_slot = world->active_pairs[index];
  const pair *p = &world->pairs[pair_slot];
  const manifold *manifolds = &world->found_manifolds[found->first];
  float size = fminf(size_of(&world->shapes[p->shape[0]]), size_of(&world->shapes[p->shape[1]]));
  uint32_t taken = 0;
  int32_t *link = &world->pairs[pair_slot].first_contact;
  while (*link != NO_SLOT) {
    contact *c = &world->contacts[*link];
    int match = match_manifold(c, manifolds, found->count, taken, MATCH_RADIUS * size);
    if (match < 0) {
      remove_contact(world, link);
      continue;
    }
    taken |= 1u << match;
    carry_over(c, &manifolds[match], MATCH_RADIUS * size);
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

static void update_sensor(tn_world *world, pair *p, bool overlap)
{
  if (overlap != p->touching) {
    p->touching = overlap;
    tn_event_kind kind = overlap ? TN_EVENT_SENSOR_BEGIN : TN_EVENT_SENSOR_END;
    add_contact_event(world, pair_event(world, p, kind));
  }
}

static bool apply_found(tn_world *world, int32_t index)
{
  pair *p = &world->pairs[world->active_pairs[index]];
  const found_pair *found = &world->found[index];
  if (p->sensor) {
    update_sensor(world, p, found->overlap);
    return true;
  }
  if (found->count == KEPT_MANIFOLDS) {
    return true;
  }
  p->fresh = false;
  return take_over(world, index);
}

// ---------------------------------------------------------------------------------------------
// A step's round

// No point has gone farther from one place to another.
static double way_between(const placed *from, const placed *to, float reach)
{
  tn_pos d = pos_sub(to->p, from->p);
  dquat turn = dquat_mul(to->q, dquat_conjugate(from->q));
  double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z); // of half the angle
  return sqrt(pos_dot(d, d)) + 2.1 * sine * (double)reach;
}

// Once a look and shape, for all of its pairs.
static void place_shape(tn_world *world, shape *s)
{
  if (s->placed_in == world->look_count) {
    return;
  }
  const body *b = &world->bodies[s->body];
  const body_state *state = &world->state[s->body];
  placed last = s->here;
  tn_pos at = dquat_rotate(b->rotation, s->at_point);
  s->placed_in = world->look_count;
  s->here.p = pos_add(b->center, at);
  s->here.q = dquat_mul(b->rotation, s->at_rotation);
  tn_quat q = dquat_round(s->here.q);
  float place[8] = {q.x, q.y, q.z, q.w, (float)at.x, (float)at.y, (float)at.z, 0.0f};
  memcpy(s->place, place, sizeof place);
  if (is_bounded(s)) {
    float arm = s->reach + tn_length(tn_v3(place[4], place[5], place[6]));
    s->speed = tn_length(vec3_of(state->v)) + arm * tn_length(vec3_of(state->w));
    s->way += way_between(&last, &s->here, s->reach);
  }
}

// Whether two shapes that were apart cannot have met, by the ways they have made since.
static bool is_far(const tn_world *world, const pair *p, float dt)
{
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  float margin = MARGIN * fminf(a->reach, b->reach) + dt * (a->speed + b->speed);
  return !p->fresh && p->first_contact == NO_SLOT && !p->touching &&
         a->way + b->way - p->way + (double)margin < (double)p->clear;
}

// Pairs with someone active that may have met, each once.
static bool list_active(tn_world *world, float dt)
{
  int32_t room = world->pair_list.count;
  if (!memory_reserve(world, (void **)&world->active_pairs, &world->active_pair_capacity, room,
                      sizeof(int32_t)) ||
      !memory_reserve(world, (void **)&world->found, &world->found_capacity, room,
                      sizeof(found_pair))) {
    return false;
  }
  world->active_pair_count = 0;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    if (!is_active(world, b)) {
      continue;
    }
    for (int32_t k = b->first_shape; k != NO_SLOT; k = world->shapes[k].next) {
      for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
           link = world->pairs[link / 2].next[link % 2]) {
        const pair *p = &world->pairs[link / 2];
        if (link % 2 == 1 && is_active(world, &world->bodies[world->shapes[p->shape[0]].body])) {
          continue; // listed there
        }
        place_shape(world, &world->shapes[p->shape[0]]);
        place_shape(world, &world->shapes[p->shape[1]]);
        if (!is_far(world, p, dt)) {
          world->active_pairs[world->active_pair_count++] = link / 2;
        }
      }
    }
  }
  return true;
}

static bool make_room(tn_world *world)
{
  int32_t next = 0;
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    const pair *p = &world->pairs[world->active_pairs[i]];
    bool several =
        is_complex(&world->shapes[p->shape[0]]) || is_complex(&world->shapes[p->shape[1]]);
    found_pair empty = {next, several ? MAX_MANIFOLDS : 1, 0, false};
    world->found[i] = empty;
    next += empty.room;
  }
  return memory_reserve(world, (void **)&world->found_manifolds, &world->found_manifold_capacity,
                        next, sizeof(manifold));
}

// What an awake body touches wakes up.
static void wake_touched(tn_world *world)
{
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    const pair *p = &world->pairs[world->active_pairs[i]];
    for (int side = 0; side < 2 && p->first_contact != NO_SLOT; ++side) {
      int32_t slot = world->shapes[p->shape[side]].body;
      if (world->bodies[slot].asleep) {
        body_wake(world, slot);
      }
    }
  }
}

bool contacts_update(tn_world *world, float dt)
{
  world->look_count += 1;
  if (!list_active(world, dt) || !make_room(world)) {
    return false;
  }
  narrow_task task = {world, dt};
  task_run(world->tasks, narrow, world->active_pair_count, PAIR_GRAIN, &task);
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    if (!apply_found(world, i)) {
      return false;
    }
  }
  wake_touched(world);
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
