// What bodies bear on flat faces: how it stiffens them, and what it is when nothing is known yet.
#include "world.h"

#include <math.h>
#include <stdlib.h>

#define BRACE 4000.0f
#define MOST_BRACE 32.0f
#define FULL_FACE 3      // points that bear something
#define UPRIGHT 0.9f     // cosine
#define TOUCHING 1e-3f   // share of the smaller shape, open
#define PRESSED_IN 0.02f // or closed

static bool reserve(tn_world *world)
{
  return memory_reserve(world, (void **)&world->bearings, &world->bearing_capacity,
                        world->body_list.used, sizeof(bearing));
}

void bearings_release(tn_world *world)
{
  memory_give(world, world->bearings, (size_t)world->bearing_capacity * sizeof(bearing));
  memory_give(world, world->supports, (size_t)world->support_capacity * sizeof(support));
}

static bool is_face(const contact *c)
{
  return c->manifold.form == MANIFOLD_FLAT && c->manifold.count >= FULL_FACE;
}

static tn_vec3 normal_of(const tn_world *world, const contact *c)
{
  const float *q = world->shapes[c->shape[0]].stance.turned;
  return tn_rotate((tn_quat){q[0], q[1], q[2], q[3]}, c->manifold.normal);
}

// ---------------------------------------------------------------------------------------------
// Bracing
//
// One pass a substep makes contacts elastic: a face resists tilting like a spring of about the
// body's moment of inertia over h^2, on which towers and walls buckle that are high enough. Bodies
// that pass a load on from face to face hardly turn, so a larger moment changes little but the
// spring: it grows with the load times h^2. Bodies that lean on edges or round shapes as well do
// turn, and would rattle; joints want to know true moments.

static void add_load(tn_world *world, int32_t slot, float load, tn_vec3 push)
{
  bearing *b = &world->bearings[slot];
  if (world->marks[slot].dynamic) {
    b->sum += load;
    b->push = tn_add(b->push, push);
  }
}

static void add_face(tn_world *world, const contact *c)
{
  const float *x = c->memory.lambda;
  int loaded = (x[0] > 0.0f) + (x[1] > 0.0f) + (x[2] > 0.0f) + (x[3] > 0.0f);
  if (loaded < FULL_FACE) {
    return;
  }
  float load = x[0] + x[1] + x[2] + x[3];
  tn_vec3 push = tn_scale(load, normal_of(world, c));
  add_load(world, c->body[0], load, tn_scale(-1.0f, push));
  add_load(world, c->body[1], load, push);
}

static void note(tn_world *world, const pair_brief *p, int32_t slot, contact_brief brief)
{
  if (brief.type == CONTACT_FLAT_4) {
    const contact *c = &world->contacts[slot];
    if (c->settled) {
      add_face(world, c);
    }
  } else if (!brief.idle) {
    world->bearings[p->body[0]].loose = true;
    world->bearings[p->body[1]].loose = true;
  }
}

// The share of its inverse moments that a body is left with.
static float yield_of(const tn_world *world, int32_t slot, float h)
{
  const bearing *b = &world->bearings[slot];
  const body *of = &world->bodies[slot];
  float through = 0.5f * (b->sum - tn_length(b->push));
  if (!(through > 0.0f) || b->loose || of->first_joint != NO_SLOT) {
    return 1.0f;
  }
  float moment = (float)((of->moments[0] + of->moments[1] + of->moments[2]) / 3.0);
  float brace = BRACE * h * through / sqrtf(moment * of->mass.mass);
  return 1.0f / fminf(fmaxf(brace, 1.0f), MOST_BRACE);
}

bool bearings_find(tn_world *world, float h)
{
  if (!reserve(world)) {
    return false;
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->bearings[world->awake[i]] = (bearing){.yield = 1.0f};
  }
  if (world->method != TN_METHOD_TENON || !world->contact_graph.has_faces) {
    return true;
  }
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    const pair_brief *p = &world->briefs[i];
    if (i + FETCH_AHEAD < world->active_pair_count && p[FETCH_AHEAD].contact != NO_SLOT &&
        p[FETCH_AHEAD].first.type == CONTACT_FLAT_4) {
      FETCH(&world->contacts[p[FETCH_AHEAD].contact].memory);
      FETCH(&world->contacts[p[FETCH_AHEAD].contact].manifold);
    }
    if (p->contact != NO_SLOT) {
      note(world, p, p->contact, p->first);
    }
    for (int32_t k = p->more ? world->contacts[p->contact].next : NO_SLOT; k != NO_SLOT;
         k = world->contacts[k].next) {
      note(world, p, k, contact_brief_of(&world->contacts[k]));
    }
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    int32_t slot = world->awake[i];
    world->bearings[slot].yield = yield_of(world, slot, h);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// First loads
//
// A pass carries a load down by one level, so a high stack would sink before it is borne. What is
// built standing starts from a guess: from the top down, each body's weight and what it bears,
// shared evenly by the faces below it.

static bool is_still(const tn_world *world, int32_t slot, float speed)
{
  const float *v = world->state[slot].v;
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2] <= speed * speed;
}

static bool touches(const tn_world *world, const contact *c)
{
  float size = fminf(world->shapes[c->shape[0]].reach, world->shapes[c->shape[1]].reach);
  for (int i = 0; i < c->manifold.count; ++i) {
    float gap = c->manifold.points[i].gap;
    if (!(gap < TOUCHING * size) || !(gap > -PRESSED_IN * size)) {
      return false;
    }
  }
  return true;
}

static void list_support(tn_world *world, int32_t slot, tn_vec3 up, float speed, int32_t *count)
{
  const contact *c = &world->contacts[slot];
  if (c->memory.age > 0.0f || !is_face(c) || !touches(world, c) ||
      !is_still(world, c->body[0], speed) || !is_still(world, c->body[1], speed)) {
    return;
  }
  float rise = tn_dot(normal_of(world, c), up);
  if (fabsf(rise) < UPRIGHT) {
    return;
  }
  int32_t upper = c->body[rise > 0.0f ? 1 : 0], lower = c->body[rise > 0.0f ? 0 : 1];
  tn_pos p = world->bodies[upper].center;
  double height = p.x * (double)up.x + p.y * (double)up.y + p.z * (double)up.z;
  if (world->marks[upper].dynamic) {
    world->supports[(*count)++] = (support){height, slot, upper, lower};
  }
}

// From the bottom up, equals by slot.
static int by_height(const void *first, const void *second)
{
  const support *a = first, *b = second;
  if (a->height != b->height) {
    return a->height < b->height ? -1 : 1;
  }
  return (a->contact > b->contact) - (a->contact < b->contact);
}

static bool stands(const tn_world *world, int32_t slot)
{
  return !world->marks[slot].dynamic || world->bearings[slot].supports > 0;
}

static void take_load(contact *c, float load)
{
  int count = c->manifold.count;
  for (int i = 0; i < count; ++i) {
    c->memory.lambda[i] = load / (float)count;
  }
  c->memory.reference = load / (float)count;
  c->memory.age = 1.01f * SETTLING_TIME;
  c->settled = true;
  c->idle = false;
}

static void share_loads(tn_world *world, int32_t count, float fall)
{
  for (int32_t i = 0; i < count; ++i) {
    const support *s = &world->supports[i];
    world->bearings[s->upper].supports += stands(world, s->lower);
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    world->bearings[world->awake[i]].sum = b->mass.mass * b->gravity_scale * fall;
  }
  for (int32_t i = count - 1; i >= 0; --i) {
    const support *s = &world->supports[i];
    if (stands(world, s->lower)) {
      const bearing *upper = &world->bearings[s->upper];
      float load = upper->sum / (float)upper->supports;
      take_load(&world->contacts[s->contact], load);
      world->bearings[s->lower].sum += world->marks[s->lower].dynamic ? load : 0.0f;
    }
  }
}

bool loads_guess(tn_world *world, float h)
{
  float gravity = tn_length(world->gravity);
  if (world->method != TN_METHOD_TENON || gravity == 0.0f) {
    return true;
  }
  if (!reserve(world) || !memory_reserve(world, (void **)&world->supports, &world->support_capacity,
                                         world->contact_list.count, sizeof(support))) {
    return false;
  }
  int32_t count = 0;
  tn_vec3 up = tn_scale(-1.0f / gravity, world->gravity);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->bearings[world->awake[i]].supports = 0;
  }
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    for (int32_t k = world->pairs[world->active_pairs[i]].first_contact; k != NO_SLOT;
         k = world->contacts[k].next) {
      list_support(world, k, up, gravity * h, &count);
    }
  }
  if (count > 0) {
    qsort(world->supports, (size_t)count, sizeof *world->supports, by_height);
    share_loads(world, count, gravity * h);
  }
  return true;
}
