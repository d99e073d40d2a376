// Validates a snapshot before a restore. Anyone can compute a checksum, so nothing is trusted: an
// index, link or count may lead to any memory, an enum or flag to any code.
//
// Linked lists are followed from their owners. Members must name their owner, so none is in two
// lists; the number of members met must equal the number of live ones, so none is missing, and
// counting stops at that number, so a cycle ends.
#include "data/soft_elements.h"
#include "kernel/ranges.h"
#include "solver/joint/coupling_value.h"
#include "world/checks.h"
#include "world/snapshot.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct checker {
  const snapshot *s;
  char *why;
  size_t size;
} checker;

static bool wrong(const checker *c, const char *part, int64_t slot, const char *what)
{
  snprintf(c->why, c->size, "the snapshot is damaged at %s %lld: %s", part, (long long)slot, what);
  return false;
}

// Reads a byte: loading a bool of another value is undefined behaviour.
static bool is_flag(const bool *flag)
{
  unsigned char byte;
  memcpy(&byte, flag, 1);
  return byte <= 1;
}

static bool is_unit(const dquat *q)
{
  double square = q->x * q->x + q->y * q->y + q->z * q->z + q->w * q->w;
  return fabs(square - 1.0) < 1e-2; // false for NaN
}

static bool is_in(int64_t index, uint64_t count)
{
  return index >= 0 && (uint64_t)index < count;
}

// ---------------------------------------------------------------------------------------------
// Pools: every slot is either alive or in the free list

typedef struct pool_view {
  const char *name;
  const void *slots;
  size_t size, alive, next_free; // of an element; offsets of fields in it
  const pool *list;
  int32_t apart; // live slots that pool.count does not include: the world's body
} pool_view;

static bool check_pool(const checker *c, const pool_view *v)
{
  const char *at = v->slots;
  int32_t alive = 0, freed = 0;
  for (int32_t i = 0; i < v->list->used; ++i) {
    const bool *flag = (const bool *)(at + (size_t)i * v->size + v->alive);
    if (!is_flag(flag)) {
      return wrong(c, v->name, i, "alive");
    }
    alive += *flag;
  }
  int32_t next = v->list->first_free;
  for (; next != NO_SLOT && freed < v->list->used; ++freed) {
    if (!is_in(next, (uint64_t)v->list->used) || *(at + (size_t)next * v->size + v->alive)) {
      return wrong(c, v->name, next, "the list of free slots");
    }
    memcpy(&next, at + (size_t)next * v->size + v->next_free, sizeof next);
  }
  if (next != NO_SLOT || alive + freed != v->list->used || alive - v->apart != v->list->count) {
    return wrong(c, v->name, v->list->count, "the count of live and free slots");
  }
  return true;
}

#define POOL(type, name, part, extra)                                                              \
  {                                                                                                \
#name, c->s->part, sizeof(type), offsetof(type, alive), offsetof(type, next_free),             \
        &c->s->header.name##_pool, extra                                                           \
  }

static bool check_pools(const checker *c)
{
  const pool_view pools[] = {POOL(body, body, bodies, 1),
                             POOL(joint, joint, joints, 0),
                             POOL(coupling, coupling, couplings, 0),
                             POOL(shared_geometry, geometry, geometries, 0),
                             POOL(shape, shape, shapes, 0),
                             POOL(pair, pair, pairs, 0),
                             POOL(contact, contact, contacts, 0),
                             POOL(soft, soft, softs, 0),
                             POOL(attachment, attachment, attachments, 0)};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; ++i) {
    if (!check_pool(c, &pools[i])) {
      return false;
    }
  }
  return c->s->bodies[WORLD_SLOT].alive || wrong(c, "body", WORLD_SLOT, "the world");
}

static bool is_body(const checker *c, int32_t slot)
{
  return is_in(slot, c->s->header.count.bodies) && c->s->bodies[slot].alive;
}

static bool is_shape(const checker *c, int32_t slot)
{
  return is_in(slot, c->s->header.count.shapes) && c->s->shapes[slot].alive;
}

static bool is_soft(const checker *c, int32_t slot)
{
  return is_in(slot, c->s->header.count.softs) && c->s->softs[slot].alive;
}

// ---------------------------------------------------------------------------------------------
// Bodies

// Next element of a sleep ring: a body slot, or -2 - slot of a soft body.
static bool is_asleep(const checker *c, int32_t place)
{
  return place < NO_SLOT ? is_soft(c, -2 - place) && c->s->softs[-2 - place].asleep
                         : is_body(c, place) && c->s->bodies[place].asleep;
}

static bool has_flags(const body *b)
{
  return is_flag(&b->has_target) && is_flag(&b->can_sleep) && is_flag(&b->bullet) &&
         is_flag(&b->mass_from_shapes) && is_flag(&b->supported) && is_flag(&b->asleep) &&
         b->name[NAME_SIZE - 1] == 0;
}

// Relative to a centre of mass a point may be as far as two positions are from each other, and its
// place in the world farther by a position again.
#define MAX_REACH (8.0 * TN_MAX_DISTANCE)

static bool is_within_reach(tn_pos p)
{
  return fabs(p.x) <= MAX_REACH && fabs(p.y) <= MAX_REACH && fabs(p.z) <= MAX_REACH;
}

static bool are_within(const float *numbers, int count, float most)
{
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    ok = ok && fabsf(numbers[i]) <= most;
  }
  return ok;
}

// The solver's numbers of a live body: its spin is finite and its inertia that of the body,
// parameters may be infinite.
static bool is_block_of(const body_block *b, int lane, const body *owner)
{
  enum { INERTIA = offsetof(AngularState, inertia) / sizeof(float) };
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    double moment = owner->type == TN_BODY_DYNAMIC ? owner->moments[i] : 1.0;
    ok = ok && b->spin[INERTIA + i][lane] == (float)moment &&
         b->spin[INERTIA + 3 + i][lane] == (float)(1.0 / moment);
  }
  for (size_t i = 0; i < sizeof b->spin / sizeof b->spin[0]; ++i) {
    ok = ok && isfinite(b->spin[i][lane]);
  }
  for (size_t i = 0; i < sizeof b->params / sizeof b->params[0]; ++i) {
    ok = ok && !isnan(b->params[i][lane]);
  }
  for (int i = 0; i < 3; ++i) {
    ok = ok && isfinite(b->acceleration[i][lane]) && isfinite(b->torque[i][lane]);
  }
  return ok;
}

// Velocities within the range that steps keep, and the mass of the body: another one would move
// static bodies. Calls accept TN_MAX_RATE in each component, and steps turn the vector.
static bool is_state_of(const body_state *state, const body *b)
{
  const float *q = state->dq;
  float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  return are_within(state->v, 3, 2.0f * TN_MAX_RATE) &&
         are_within(state->w, 3, 2.0f * TN_MAX_RATE) &&
         are_within(&state->constraint_count, 1, 1e9f) &&
         are_within(state->dx, 4, (float)TN_MAX_DISTANCE) && fabsf(square - 1.0f) < 0.1f &&
         state->inverse_mass == (b->type == TN_BODY_DYNAMIC ? 1.0f / b->mass.mass : 0.0f);
}

static bool check_body(const checker *c, int32_t slot)
{
  const body *b = &c->s->bodies[slot];
  int type = (int)b->type;
  if (!has_flags(b)) {
    return wrong(c, "body", slot, "a flag or the name");
  }
  if (!b->alive) {
    return true;
  }
  if (type < TN_BODY_STATIC || type > TN_BODY_DYNAMIC ||
      (slot == WORLD_SLOT && type != TN_BODY_STATIC) || (b->asleep && type != TN_BODY_DYNAMIC)) {
    return wrong(c, "body", slot, "the type");
  }
  if (!is_position(b->center) || !is_unit(&b->rotation) || !is_position(b->local_center) ||
      !is_unit(&b->local_principal)) {
    return wrong(c, "body", slot, "the pose");
  }
  bool dynamic = type == TN_BODY_DYNAMIC;
  if (dynamic && (mass_problem(&b->mass) || !(b->moments[0] > 0.0) || !(b->moments[1] > 0.0) ||
                  !(b->moments[2] > 0.0))) {
    return wrong(c, "body", slot, "the mass");
  }
  if (!is_state_of(&c->s->states[slot], b) ||
      !is_block_of(&c->s->blocks[slot / BLOCK_WIDTH], slot % BLOCK_WIDTH, b)) {
    return wrong(c, "body", slot, "the velocity, the inertia or the inverse mass");
  }
  if (b->has_target &&
      (type != TN_BODY_KINEMATIC || !is_position(b->target.p) || !is_rotation(b->target.q))) {
    return wrong(c, "body", slot, "the target");
  }
  if (!isfinite(b->gravity_scale) || !(b->linear_damping >= 0.0f) ||
      !(b->angular_damping >= 0.0f) || !(b->max_speed >= 0.0f) || !(b->max_angular_speed >= 0.0f) ||
      !is_finite3(b->force) || !is_finite3(b->torque) || !(b->sleep_time >= 0.0f)) {
    return wrong(c, "body", slot, "a number");
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Joints

static bool check_joint(const checker *c, int32_t slot)
{
  const joint *j = &c->s->joints[slot];
  if (!is_flag(&j->broken) || !is_flag(&j->def.enabled) || !is_flag(&j->def.collide)) {
    return wrong(c, "joint", slot, "a flag");
  }
  if (!j->alive) {
    return (is_in(j->slot[0], c->s->header.count.bodies) &&
            is_in(j->slot[1], c->s->header.count.bodies)) ||
           wrong(c, "joint", slot, "a body");
  }
  if (!is_body(c, j->slot[0]) || !is_body(c, j->slot[1]) || j->slot[0] == j->slot[1]) {
    return wrong(c, "joint", slot, "a body");
  }
  const char *why = joint_def_problem(&j->def);
  if (why) {
    return wrong(c, "joint", slot, why);
  }
  if (j->block != NO_SLOT || j->direct != NO_SLOT) {
    return wrong(c, "joint", slot, "its place in the solver");
  }
  for (int side = 0; side < 2; ++side) {
    if (!is_within_reach(j->frame_point[side]) || !is_unit(&j->frame_rotation[side])) {
      return wrong(c, "joint", slot, "a frame");
    }
  }
  if (!is_flag(&j->rates_stale) || j->axis_features >> (AXIS_FEATURE_BITS * TN_JOINT_AXIS_COUNT)) {
    return wrong(c, "joint", slot, "the flags of its axes");
  }
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    if (!isfinite(j->target[i]) || !(fabs(j->angle[i % 2]) <= 1e9)) {
      return wrong(c, "joint", slot, "a target or an angle");
    }
  }
  return true;
}

static bool check_joint_links(const checker *c)
{
  int64_t links = 0, most = 2 * (int64_t)c->s->header.joint_pool.count;
  for (int32_t i = 0; i < c->s->header.body_pool.used; ++i) {
    const body *b = &c->s->bodies[i];
    int32_t from = NO_SLOT, count = 0;
    for (int32_t at = b->alive ? b->first_joint : NO_SLOT; at != NO_SLOT && links <= most;) {
      const joint *j = &c->s->joints[at / 2];
      if (!is_in(at, 2 * c->s->header.count.joints) || !j->alive || j->slot[at % 2] != i ||
          j->previous[at % 2] != from) {
        return wrong(c, "body", i, "the list of joints");
      }
      from = at;
      at = j->next[at % 2];
      count += 1;
      links += 1;
    }
    if (b->alive && b->joint_count != count) {
      return wrong(c, "body", i, "the count of joints");
    }
  }
  return links == most || wrong(c, "joint", links, "lists of joints");
}

// ---------------------------------------------------------------------------------------------
// Couplings

static bool is_side(const coupling *k, int8_t side, int32_t slot)
{
  return slot == WORLD_SLOT ? side == -1
                            : side >= 0 && side < k->side_count && k->side_body[side] == slot;
}

static bool check_coupling_axis(const checker *c, const coupling *k, int i)
{
  if (!is_in(k->joint[i], c->s->header.count.joints) || !c->s->joints[k->joint[i]].alive) {
    return false;
  }
  const joint *j = &c->s->joints[k->joint[i]];
  return is_side(k, k->axis_side[i][0], j->slot[0]) && is_side(k, k->axis_side[i][1], j->slot[1]) &&
         joint_axis_is_free(&j->def, k->def.axes[i].axis) && isfinite(k->coordinate[i]);
}

static bool check_coupling(const checker *c, int32_t slot)
{
  const coupling *k = &c->s->couplings[slot];
  if (!is_flag(&k->def.enabled) || !is_flag(&k->half_kick_done)) {
    return wrong(c, "coupling", slot, "a flag");
  }
  if (!k->alive) {
    return true;
  }
  const char *why = c->s->header.method == (int32_t)TN_METHOD_TENON ? coupling_def_problem(&k->def)
                                                                    : "a method that solves none";
  if (why) {
    return wrong(c, "coupling", slot, why);
  }
  if (k->side_count < 1 || k->side_count > COUPLING_SIDES || k->direct != NO_SLOT) {
    return wrong(c, "coupling", slot, "its sides or place in the solver");
  }
  for (int i = 0; i < k->side_count; ++i) {
    if (!is_body(c, k->side_body[i]) || k->side_body[i] == WORLD_SLOT) {
      return wrong(c, "coupling", slot, "a body");
    }
  }
  for (int i = 0; i < k->def.axis_count; ++i) {
    if (!check_coupling_axis(c, k, i)) {
      return wrong(c, "coupling", slot, "an axis");
    }
  }
  for (int i = 0; i < k->def.point_count; ++i) {
    if (k->point_side[i] < -1 || k->point_side[i] >= k->side_count) {
      return wrong(c, "coupling", slot, "a point");
    }
  }
  bool finite = isfinite(k->target) && isfinite(k->force) && isfinite(k->drive_force) &&
                isfinite(k->rate_before_half_kick);
  for (int i = 0; i < COUPLING_PARTS; ++i) {
    finite = finite && isfinite(k->impulse[i]) && isfinite(k->impulse_ahead[i]);
  }
  return finite || wrong(c, "coupling", slot, "a number");
}

static bool check_coupling_counts(const checker *c)
{
  int64_t sides = 0;
  for (int32_t i = 0; i < c->s->header.coupling_pool.used; ++i) {
    sides += c->s->couplings[i].alive ? c->s->couplings[i].side_count : 0;
  }
  for (int32_t i = 0; i < c->s->header.body_pool.used; ++i) {
    int32_t count = 0, most = c->s->bodies[i].coupling_count;
    for (int32_t n = 0; n < c->s->header.coupling_pool.used && most != 0; ++n) {
      const coupling *k = &c->s->couplings[n];
      for (int32_t side = 0; side < k->side_count && k->alive; ++side) {
        count += k->side_body[side] == i;
      }
    }
    if (c->s->bodies[i].alive && most != count) {
      return wrong(c, "body", i, "the count of couplings");
    }
    sides -= c->s->bodies[i].alive ? count : 0;
  }
  return sides == 0 || wrong(c, "coupling", sides, "its sides");
}

// ---------------------------------------------------------------------------------------------
// Shapes

static bool check_geometries(const checker *c)
{
  uint64_t bytes = 0;
  for (int32_t i = 0; i < c->s->header.geometry_pool.used; ++i) {
    const shared_geometry *g = &c->s->geometries[i];
    if (!g->alive) {
      continue;
    }
    const char *why = is_flag(&g->closed) ? geometry_problem(g) : "a flag";
    if (why) {
      return wrong(c, "geometry", i, why);
    }
    bytes += g->source_size;
    if (bytes > c->s->header.count.sources) {
      return wrong(c, "geometry", i, "the source's size");
    }
    int32_t users = 0;
    for (int32_t k = 0; k < c->s->header.shape_pool.used; ++k) {
      users += c->s->shapes[k].alive && c->s->shapes[k].shared == i;
    }
    if (users != g->users) {
      return wrong(c, "geometry", i, "the count of users");
    }
  }
  return bytes == c->s->header.count.sources || wrong(c, "geometry", 0, "sources");
}

static bool is_box(const world_aabb *b)
{
  return b->lower.x <= b->upper.x && b->lower.y <= b->upper.y && b->lower.z <= b->upper.z;
}

// The shape's geometry is the one that the definition names, and of its kind.
static bool has_geometry(const checker *c, const shape *s)
{
  bool shared = s->def.kind == TN_SHAPE_HULL || s->def.kind >= TN_SHAPE_MESH;
  if (!shared) {
    return s->shared == NO_SLOT;
  }
  if (!is_in(s->shared, c->s->header.count.geometries)) {
    return false;
  }
  const shared_geometry *g = &c->s->geometries[s->shared];
  return g->alive && g->kind == (int)s->def.kind &&
         s->def.geometry.index == (uint32_t)s->shared + 1 &&
         s->def.geometry.generation == g->generation;
}

// Bounds of a plane are infinite. The sizes that its kind does not have may be any numbers.
static bool is_cache_of(const shape *s)
{
  const shape_cache *k = &s->shape_cache;
  const float sizes[] = {k->max_extent,      k->bounding_radius, k->speed,
                         s->bounding_radius, s->inner_radius,    s->box_sweep};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    if (!(sizes[i] >= 0.0f)) {
      return false;
    }
  }
  const dquat *q = &k->pose.q; // zero before the first update
  if (!(fabs(q->x) <= 1.1 && fabs(q->y) <= 1.1 && fabs(q->z) <= 1.1 && fabs(q->w) <= 1.1)) {
    return false;
  }
  return !isnan(s->box_slack) && are_within(k->axis, 3, 1.1f) && are_within(k->rotation, 4, 1.1f) &&
         are_within(k->offset, 3, (float)MAX_REACH) && is_within_reach(k->pose.p);
}

static bool check_shape(const checker *c, int32_t slot)
{
  const shape *s = &c->s->shapes[slot];
  if (!is_flag(&s->def.sensor) || !is_flag(&s->def.hit_events) || !is_flag(&s->is_static) ||
      !is_flag(&s->pairs_pending) || !is_flag(&s->waits)) {
    return wrong(c, "shape", slot, "a flag");
  }
  if (!s->alive) {
    return true;
  }
  if (!is_body(c, s->body)) {
    return wrong(c, "shape", slot, "the body");
  }
  const char *why = shape_def_problem(&s->def);
  if (why) {
    return wrong(c, "shape", slot, why);
  }
  bool moves = s->def.kind < TN_SHAPE_PLANE || s->def.kind == TN_SHAPE_WIRE;
  tn_body_type type = c->s->bodies[s->body].type;
  if (!has_geometry(c, s) || (type == TN_BODY_DYNAMIC && !moves) ||
      s->is_static != (type == TN_BODY_STATIC)) {
    return wrong(c, "shape", slot, "the geometry");
  }
  if (!is_within_reach(s->local_position) || !is_unit(&s->local_rotation) || !is_box(&s->box) ||
      !(c->s->shape_motions[slot] >= 0.0) || !(s->shape_cache.travel >= 0.0) || !is_cache_of(s)) {
    return wrong(c, "shape", slot, "its place");
  }
  return true;
}

static bool check_shape_links(const checker *c)
{
  int64_t links = 0, most = c->s->header.shape_pool.count;
  for (int32_t i = 0; i < c->s->header.body_pool.used; ++i) {
    int32_t at = c->s->bodies[i].alive ? c->s->bodies[i].first_shape : NO_SLOT;
    for (; at != NO_SLOT && links <= most; ++links) {
      if (!is_shape(c, at) || c->s->shapes[at].body != i) {
        return wrong(c, "body", i, "the list of shapes");
      }
      at = c->s->shapes[at].next;
    }
  }
  return links == most || wrong(c, "shape", links, "lists of shapes");
}

// ---------------------------------------------------------------------------------------------
// Pairs and contacts

static bool check_pair(const checker *c, int32_t slot)
{
  const pair *p = &c->s->pairs[slot];
  if (!is_flag(&p->sensor) || !is_flag(&p->touching) || !is_flag(&p->is_new) ||
      !is_flag(&p->round) || !is_flag(&p->multi_manifold) || !is_flag(&p->stale_pose) ||
      !is_flag(&p->initial_overlap) || !is_flag(&p->deep)) {
    return wrong(c, "pair", slot, "a flag");
  }
  if (!p->alive) { // culling reads the shapes of free pairs too
    return (is_in(p->shape[0], c->s->header.count.shapes) &&
            is_in(p->shape[1], c->s->header.count.shapes)) ||
           wrong(c, "pair", slot, "a shape");
  }
  if (!is_shape(c, p->shape[0]) || !is_shape(c, p->shape[1]) || p->shape[0] >= p->shape[1]) {
    return wrong(c, "pair", slot, "a shape");
  }
  const shape *a = &c->s->shapes[p->shape[0]], *b = &c->s->shapes[p->shape[1]];
  if (p->body[0] != a->body || p->body[1] != b->body || a->body == b->body ||
      (p->sort_body != a->body && p->sort_body != b->body)) {
    return wrong(c, "pair", slot, "a body");
  }
  if (p->sensor != (a->def.sensor || b->def.sensor) || (p->sensor && p->first_contact != NO_SLOT)) {
    return wrong(c, "pair", slot, "a sensor's contacts");
  }
  return !isnan(p->travel_limit) || wrong(c, "pair", slot, "a number");
}

static bool check_pair_links(const checker *c)
{
  int64_t links = 0, most = 2 * (int64_t)c->s->header.pair_pool.count;
  for (int32_t i = 0; i < c->s->header.shape_pool.used; ++i) {
    const shape *s = &c->s->shapes[i];
    int32_t from = NO_SLOT, count = 0, crowd = 0;
    for (int32_t at = s->alive ? s->first_pair : NO_SLOT; at != NO_SLOT && links <= most;) {
      const pair *p = &c->s->pairs[at / 2];
      if (!is_in(at, 2 * c->s->header.count.pairs) || !p->alive || p->shape[at % 2] != i ||
          p->previous[at % 2] != from) {
        return wrong(c, "shape", i, "the list of pairs");
      }
      from = at;
      at = p->next[at % 2];
      count += 1;
      crowd += p->deep;
      links += 1;
    }
    if (s->alive && (s->pair_count != count || s->crowd != crowd)) {
      return wrong(c, "shape", i, "the count of pairs");
    }
  }
  return links == most || wrong(c, "pair", links, "lists of pairs");
}

static bool is_manifold(const manifold *m)
{
  const int most[] = {MAX_MANIFOLD_POINTS, 2, MAX_MANIFOLD_POINTS, 1};
  int form = (int)m->form;
  if (form < MANIFOLD_FLAT || form > MANIFOLD_WIRE || m->count < 1 || m->count > most[form] ||
      m->round_side < 0 || m->round_side > 1 || !is_finite3(m->normal) || !isfinite(m->radius_a) ||
      !isfinite(m->radius_b)) {
    return false;
  }
  for (int i = 0; i < m->count; ++i) {
    if (!is_offset(m->points[i].a) || !is_offset(m->points[i].b) ||
        !(fabsf(m->points[i].gap) <= (float)MAX_REACH)) {
      return false;
    }
  }
  return true;
}

static bool check_contacts(const checker *c)
{
  int64_t links = 0, most = c->s->header.contact_pool.count;
  for (int32_t i = 0; i < c->s->header.pair_pool.used; ++i) {
    const pair *p = &c->s->pairs[i];
    int32_t at = p->alive ? p->first_contact : NO_SLOT, count = 0;
    for (; at != NO_SLOT && links <= most; ++links) {
      const contact *k = &c->s->contacts[at];
      if (!is_in(at, c->s->header.count.contacts) || !k->alive || k->pair != i ||
          ++count > MAX_MANIFOLDS) {
        return wrong(c, "pair", i, "the list of contacts");
      }
      if (memcmp(k->body, p->body, sizeof k->body) != 0 ||
          memcmp(k->shape, p->shape, sizeof k->shape) != 0) {
        return wrong(c, "contact", at, "a shape");
      }
      if (!is_manifold(&k->manifold)) {
        return wrong(c, "contact", at, "the manifold");
      }
      at = k->next;
    }
  }
  return links == most || wrong(c, "contact", links, "lists of contacts");
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

// Bounds the counts so that no product of a count and an element size overflows.
#define MOST_ELEMENTS (1 << 26)

static bool has_counts(const soft *s)
{
  const int32_t counts[] = {s->particle_count, s->triangle_count, s->cluster_count, s->part_count};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    if (counts[i] < 0 || counts[i] > MOST_ELEMENTS) {
      return false;
    }
  }
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    if (s->list[type].count < 0 || s->list[type].count > MOST_ELEMENTS) {
      return false;
    }
  }
  return s->particle_count > 0;
}

static bool are_members(const int32_t *v, size_t count, int32_t most, bool may_lack)
{
  for (size_t i = 0; i < count; ++i) {
    if (v[i] >= most || v[i] < (may_lack ? NO_SLOT : 0)) {
      return false;
    }
  }
  return true;
}

// A shape matching cell has eight particles, or four and then four times NO_SLOT.
static bool is_cell(const int32_t *v)
{
  bool whole = v[4] != NO_SLOT;
  for (int i = 0; i < SHAPE_MATCH_PARTICLES; ++i) {
    if ((v[i] != NO_SLOT) != (whole || i < 4)) {
      return false;
    }
  }
  return true;
}

static bool check_rows(const checker *c, int32_t slot)
{
  const soft *s = &c->s->softs[slot];
  if (!are_members(s->triangles, 3 * (size_t)s->triangle_count, s->particle_count, false)) {
    return wrong(c, "soft", slot, "triangles");
  }
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    const soft_row_list *list = &s->list[type];
    soft_layout l = soft_layout_of((soft_type)type);
    if (!are_members(list->members, (size_t)list->count * (size_t)l.particles, s->particle_count,
                     type == SOFT_SHAPE_MATCH)) {
      return wrong(c, "soft", slot, "the particles of a row");
    }
    for (int32_t i = 0; i < list->count; ++i) {
      const float *params = list->fields + (size_t)i * (size_t)(l.params + l.state);
      for (int k = 0; k < l.params; ++k) {
        if (isnan(params[k])) {
          return wrong(c, "soft", slot, "a number of a row");
        }
      }
      if (type == SOFT_SHAPE_MATCH && !is_cell(list->members + SHAPE_MATCH_PARTICLES * (size_t)i)) {
        return wrong(c, "soft", slot, "the particles of a cell");
      }
    }
  }
  for (int32_t i = 0; i < s->cluster_count; ++i) {
    const soft_cluster *k = &s->clusters[i];
    if (k->first < 0 || k->count < 1 || k->first > s->part_count - k->count) {
      return wrong(c, "soft", slot, "a cluster");
    }
  }
  for (int32_t i = 0; i < s->part_count; ++i) {
    if (!is_in(s->cluster_parts[i].particle, (uint64_t)s->particle_count)) {
      return wrong(c, "soft", slot, "a cluster's particle");
    }
  }
  return true;
}

static bool check_particles(const checker *c, int32_t slot)
{
  const soft *s = &c->s->softs[slot];
  int32_t pinned = 0;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    if (!is_position(p->at) || !is_rate(p->v) || !is_finite3(p->force) || !is_finite3(p->rest) ||
        !(p->mass > 0.0f) || !isfinite(1.0f / p->mass) || !isfinite(p->mass) || p->pinned < 0 ||
        p->pinned > 1) {
      return wrong(c, "soft", slot, "a particle");
    }
    pinned += p->pinned;
  }
  return pinned == s->pin_count || wrong(c, "soft", slot, "the count of pinned particles");
}

static bool has_soft_flags(const soft *s)
{
  return is_flag(&s->can_sleep) && is_flag(&s->asleep) && is_flag(&s->self_collision) &&
         is_flag(&s->closed) && is_flag(&s->chained) && is_flag(&s->supported) &&
         is_flag(&s->stiffness_limited) && is_flag(&s->keep_momentum) && is_flag(&s->box_grown) &&
         is_flag(&s->def.curved_rest) && is_flag(&s->def.self_collision) &&
         is_flag(&s->def.keep_momentum) && is_flag(&s->def.can_sleep) &&
         is_flag(&s->unfold.found) && is_flag(&s->unfold.active);
}

static bool check_fold(const checker *c, int32_t slot)
{
  const soft_unfold *f = &c->s->softs[slot].unfold;
  const soft_row_list *list = c->s->softs[slot].list;
  int32_t count = list[SOFT_COROTATED].count + list[SOFT_SHAPE_MATCH].count;
  bool is_known = f->element == 0 || is_in(f->element, (uint64_t)count);
  return (is_known && (!f->active || count > 0) && f->time >= 0.0f && f->time < 1e3f) ||
         wrong(c, "soft", slot, "the fold");
}

static bool check_soft(const checker *c, int32_t slot)
{
  const soft *s = &c->s->softs[slot];
  if (!has_soft_flags(s)) {
    return wrong(c, "soft", slot, "a flag");
  }
  if (!s->alive) {
    return true;
  }
  const float numbers[] = {
      s->gravity_scale, s->damping,    s->linear_damping,        s->radius,           s->pressure,
      s->rest_volume,   s->sleep_time, s->max_frequency_squared, s->volume_compliance};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (!isfinite(numbers[i])) {
      return wrong(c, "soft", slot, "a number");
    }
  }
  if (!(s->damping >= 0.0f) || !(s->linear_damping >= 0.0f) || !(s->radius >= 0.0f) ||
      isnan(s->tear_strain) || isnan(s->tear_force) || isnan(s->yield_strain) || isnan(s->creep) ||
      isnan(s->plastic_limit) || !is_box(&s->box)) {
    return wrong(c, "soft", slot, "a number");
  }
  const char *why = material_error(&s->material);
  if (why) {
    return wrong(c, "soft", slot, why);
  }
  return check_particles(c, slot) && check_rows(c, slot) && check_fold(c, slot);
}

static bool check_attachments(const checker *c)
{
  for (int32_t i = 0; i < c->s->header.attachment_pool.used; ++i) {
    const attachment *a = &c->s->attachments[i];
    if (!a->alive) {
      continue;
    }
    const char *why = is_flag(&a->broken) ? attachment_def_problem(&a->def) : "a flag";
    if (why) {
      return wrong(c, "attachment", i, why);
    }
    if (!is_soft(c, a->soft) || !is_body(c, a->body) ||
        !is_in(a->def.particle, (uint64_t)c->s->softs[a->soft].particle_count)) {
      return wrong(c, "attachment", i, "what it holds");
    }
    if (!is_finite3(a->lambda)) {
      return wrong(c, "attachment", i, "the impulse");
    }
  }
  for (int32_t i = 0; i < c->s->header.soft_pool.used; ++i) {
    int32_t count = 0;
    for (int32_t k = 0; k < c->s->header.attachment_pool.used; ++k) {
      const attachment *a = &c->s->attachments[k];
      count += a->alive && !a->broken && a->soft == i;
    }
    if (c->s->softs[i].alive && count != c->s->softs[i].attachment_count) {
      return wrong(c, "soft", i, "the count of attachments");
    }
  }
  return true;
}

static bool check_touch_pairs(const checker *c)
{
  for (uint64_t i = 0; i < c->s->header.count.soft_touch_pairs; ++i) {
    const soft_touch_pair *m = &c->s->soft_touch_pairs[i];
    if (!is_soft(c, m->soft) || m->other_is_soft < 0 || m->other_is_soft > 1 ||
        !(m->other_is_soft ? is_soft(c, m->other) : is_shape(c, m->other))) {
      return wrong(c, "soft touch pair", (int64_t)i, "a shape or soft body");
    }
  }
  return true;
}

static int particles_of(int type)
{
  const int count[SOFT_CONTACT_TYPE_COUNT] = {1, 3, 2, 4, 5};
  return type < 0 || type >= SOFT_CONTACT_TYPE_COUNT ? 0 : count[type];
}

static bool check_soft_contacts(const checker *c)
{
  for (uint64_t i = 0; i < c->s->header.count.soft_contacts; ++i) {
    const soft_contact *t = &c->s->soft_contacts[i];
    int count = particles_of(t->type);
    bool mutual = t->type >= SOFT_CONTACT_PARTICLE_PARTICLE;
    if (count == 0 || !is_flag(&t->round) || !is_soft(c, t->soft) || mutual != is_soft_soft(t) ||
        (mutual && !is_soft(c, t->other))) {
      return wrong(c, "soft contact", (int64_t)i, "a body, shape or particle");
    }
    if (mutual ? t->shape != NO_SLOT || t->body != NO_SLOT
               : !is_shape(c, t->shape) || t->body != c->s->shapes[t->shape].body) {
      return wrong(c, "touch", (int64_t)i, "the shape");
    }
    for (int k = 0; k < count; ++k) {
      int32_t owner = mutual && k >= first_side_particles(t) ? t->other : t->soft;
      if (!is_in(t->particle[k], (uint64_t)c->s->softs[owner].particle_count)) {
        return wrong(c, "touch", (int64_t)i, "a particle");
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------

static bool check_header(const checker *c)
{
  const snapshot_header *h = &c->s->header;
  if (!is_finite3(h->gravity) || !is_method((tn_method)h->method) ||
      counts_problem(h->substeps, h->iterations) || h->sleeping < 0 || h->sleeping > 1 ||
      !is_sleep_setting(h->sleep_speed) || !is_sleep_setting(h->sleep_time) || !is_play(h->play) ||
      !(h->last_h >= 0.0f) || !isfinite(h->last_h)) {
    return wrong(c, "header", 0, "a setting");
  }
  return true;
}

// Checks each slot on its own. Free slots need valid flags, and valid indices where those are read
// before `alive`.
static bool check_slots(const checker *c)
{
  const snapshot *s = c->s;
#define EACH(name, part)                                                                           \
  for (int32_t i = 0; i < s->header.name##_pool.used; ++i) {                                       \
    if (!check_##name(c, i)) {                                                                     \
      return false;                                                                                \
    }                                                                                              \
  }
  EACH(body, bodies)
  EACH(joint, joints)
  EACH(coupling, couplings)
  EACH(shape, shapes)
  EACH(pair, pairs)
  EACH(soft, softs)
#undef EACH
  return true;
}

static bool check_sleepers(const checker *c)
{
  for (int32_t i = 0; i < c->s->header.body_pool.used; ++i) {
    const body *b = &c->s->bodies[i];
    if (b->alive && b->asleep && !is_asleep(c, b->sleep_ring_next)) {
      return wrong(c, "body", i, "the ring of sleepers");
    }
  }
  for (int32_t i = 0; i < c->s->header.soft_pool.used; ++i) {
    const soft *s = &c->s->softs[i];
    if (s->alive && s->asleep && !is_asleep(c, s->sleep_ring_next)) {
      return wrong(c, "soft", i, "the ring of sleepers");
    }
  }
  return true;
}

bool snapshot_check_sizes(const snapshot *s, char *why, size_t size)
{
  checker c = {s, why, size};
  uint64_t bytes = 0;
  if (!check_header(&c) || !check_pools(&c)) {
    return false;
  }
  for (int32_t i = 0; i < s->header.soft_pool.used; ++i) {
    soft copy = s->softs[i];
    // Tearing may leave more memory than the counts need.
    if (copy.alive && (!has_counts(&copy) || copy.size > s->header.count.soft_data - bytes ||
                       soft_assign_arrays(&copy, NULL) > copy.size)) {
      return wrong(&c, "soft", i, "its counts");
    }
    bytes += copy.alive ? copy.size : 0;
  }
  return bytes == s->header.count.soft_data || wrong(&c, "soft", 0, "data of soft bodies");
}

bool snapshot_check(const snapshot *s, char *why, size_t size)
{
  checker c = {s, why, size};
  return check_slots(&c) && check_joint_links(&c) && check_coupling_counts(&c) &&
         check_geometries(&c) && check_shape_links(&c) && check_pair_links(&c) &&
         check_contacts(&c) && check_sleepers(&c) && check_attachments(&c) &&
         check_touch_pairs(&c) && check_soft_contacts(&c);
}
