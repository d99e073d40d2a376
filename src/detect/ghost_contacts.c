// Ghost contacts: what slides over flush shapes must not hit their sides.
//
// Each shape, and each facet of a mesh, is collided on its own, so a body that slides over a floor
// of many boxes, hulls or meshes gets contacts with their hidden sides, and with chamfers and pit
// walls below the plane that carries it. Let contact 1 carry body B on a plane with normal m.
// Contact 2, with a fixed shape A, can only push B along m if that plane separates the two,
//
//   min over B of m . x  -  max over A of m . x  >=  -slop
//
// for then B passes above A. Such a contact with another normal is removed, if it is steep or if B
// moves against it; a contact that B merely rests on stays. Of a mesh or height field only the
// facets at the contact count as A.
#include "base/bits.h"
#include "base/dvec.h"
#include "collide/bvh.h"
#include "collide/distance.h"
#include "collide/surface.h"
#include "data/world.h"
#include "detect/detect.h"
#include "detect/detection.h"
#include "detect/narrow_phase.h"

#include <math.h>

#define GHOST_GRAIN 64 // pairs per task

// A contact of a shape of a dynamic body with a fixed shape. World axes, relative to the origin of
// the dynamic shape.
typedef struct fixed_contact {
  const manifold *manifold;
  const shape *fixed;
  int side;       // of the fixed shape in the manifold
  tn_vec3 normal; // unit, from the fixed shape
  float gap;      // the smallest, m
} fixed_contact;

static bool is_fixed(const tn_world *world, int32_t body_slot)
{
  return world->bodies[body_slot].type != TN_BODY_DYNAMIC;
}

static fixed_contact fixed_contact_make(const tn_world *world, const contact *c, int side)
{
  const manifold *m = &c->manifold;
  tn_quat q = dquat_round(world->shapes[c->shape[0]].shape_cache.pose.q);
  fixed_contact f = {m, &world->shapes[c->shape[side]], side, tn_rotate(q, m->normal), INFINITY};
  f.normal = tn_scale(side == 0 ? 1.0f : -1.0f, f.normal);
  for (int i = 0; i < m->count; ++i) {
    f.gap = fminf(f.gap, m->points[i].gap);
  }
  return f;
}

// A point of the contact on the fixed shape.
static tn_vec3 fixed_point(const shape *s, const fixed_contact *f, int i)
{
  world_pose at = f->fixed->shape_cache.pose;
  tn_vec3 local = f->side == 0 ? f->manifold->points[i].a : f->manifold->points[i].b;
  float radius = f->side == 0 ? f->manifold->radius_a : f->manifold->radius_b;
  tn_vec3 apart = pos_round(pos_sub(at.p, s->shape_cache.pose.p));
  return tn_add(tn_add(apart, tn_rotate(dquat_round(at.q), local)), tn_scale(radius, f->normal));
}

// ---------------------------------------------------------------------------------------------
// Heights along a normal m, relative to the origin of the dynamic shape

static float lowest_of(const shape *s, tn_vec3 m)
{
  tn_quat q = dquat_round(s->shape_cache.pose.q);
  tn_vec3 down = tn_rotate(tn_quat_conjugate(q), tn_scale(-1.0f, m));
  return tn_dot(m, tn_rotate(q, convex_support(&s->geometry, down)));
}

typedef struct facet_height {
  tn_vec3 m; // in the surface's frame
  float highest;
} facet_height;

static void visit_facet(const tn_vec3 corner[3], void *context)
{
  facet_height *h = context;
  for (int i = 0; i < 3; ++i) {
    h->highest = fmaxf(h->highest, tn_dot(h->m, corner[i]));
  }
}

// Of the facets at the points of a contact, and of the points: those of planes may lie beside them.
static float highest_of_surface(const fixed_contact *f, tn_vec3 m, float size)
{
  const manifold *found = f->manifold;
  const tn_vec3 still = {0.0f, 0.0f, 0.0f};
  facet_height h = {m, -INFINITY};
  for (int i = 0; i < found->count; ++i) {
    tn_vec3 p = f->side == 0 ? found->points[i].a : found->points[i].b;
    aabb box = aabb_expand((aabb){p, p}, TUNING_GHOST_SLOP * size + fabsf(found->points[i].gap));
    h.highest = fmaxf(h.highest, tn_dot(m, p));
    if (f->fixed->geometry.kind == TN_SHAPE_MESH) {
      mesh_sweep_facets(f->fixed->geometry.mesh, box, still, visit_facet, &h);
    } else {
      height_field_sweep_facets(f->fixed->geometry.field, box, still, visit_facet, &h);
    }
  }
  return h.highest;
}

static float highest_of(const shape *s, const fixed_contact *f, tn_vec3 m)
{
  world_pose at = f->fixed->shape_cache.pose;
  tn_vec3 local = tn_rotate(tn_quat_conjugate(dquat_round(at.q)), m);
  float base = tn_dot(m, pos_round(pos_sub(at.p, s->shape_cache.pose.p)));
  int kind = f->fixed->geometry.kind;
  if (kind == TN_SHAPE_PLANE || kind == TN_SHAPE_WIRE) {
    return INFINITY;
  }
  if (shape_is_complex(f->fixed)) {
    return base + highest_of_surface(f, local, shape_size(s));
  }
  return base + tn_dot(local, convex_support(&f->fixed->geometry, local));
}

// Whether the plane of contact `by` separates the shape from the fixed shape of contact `f`.
static bool separates(const shape *s, const fixed_contact *by, const fixed_contact *f)
{
  float slop = TUNING_GHOST_SLOP * shape_size(s), lowest = lowest_of(s, by->normal);
  float plane = tn_dot(by->normal, fixed_point(s, by, 0));
  return lowest - plane >= -slop && lowest - highest_of(s, f, by->normal) >= -slop;
}

// ---------------------------------------------------------------------------------------------
// One pair

// Closing speed of a contact, m/s.
static float closing_speed(const tn_world *world, const shape *s, const fixed_contact *f)
{
  const body_state *b = &world->state[s->body], *a = &world->state[f->fixed->body];
  tn_vec3 p = fixed_point(s, f, 0);
  tn_vec3 from_b = tn_add(p, vec3_from_floats(s->shape_cache.offset));
  tn_vec3 from_a =
      tn_add(p, pos_round(pos_sub(s->shape_cache.pose.p, world->bodies[f->fixed->body].center)));
  tn_vec3 v = tn_sub(tn_add(vec3_from_floats(b->v), tn_cross(vec3_from_floats(b->w), from_b)),
                     tn_add(vec3_from_floats(a->v), tn_cross(vec3_from_floats(a->w), from_a)));
  return -tn_dot(f->normal, v);
}

static bool is_ghost_of(const shape *s, const fixed_contact *f, const fixed_contact *by,
                        float moves)
{
  float size = shape_size(s), cosine = tn_dot(f->normal, by->normal);
  bool carries = by->gap <= TUNING_GHOST_SLOP * size && cosine < TUNING_GHOST_COSINE;
  bool against = cosine < TUNING_GHOST_STEEP_COSINE || moves > TUNING_GHOST_MOTION * size;
  if (!carries || !against || !separates(s, by, f)) {
    return false;
  }
  // Two contacts that exclude each other both stay.
  return f->gap > TUNING_GHOST_SLOP * size || !separates(s, f, by);
}

// Whether any other contact of the shape with a fixed one makes this contact a ghost.
static bool is_ghost(const tn_world *world, const shape *s, const contact *c, int side, float dt)
{
  fixed_contact f = fixed_contact_make(world, c, side);
  float moves = dt * closing_speed(world, s, &f);
  for (int32_t link = s->first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    const pair *p = &world->pairs[link / 2];
    int other = 1 - link % 2;
    if (p->first_contact == NO_SLOT || !is_fixed(world, p->body[other])) {
      continue;
    }
    for (int32_t slot = p->first_contact; slot != NO_SLOT; slot = world->contacts[slot].next) {
      const contact *by = &world->contacts[slot];
      fixed_contact g = by == c ? f : fixed_contact_make(world, by, other);
      if (by != c && is_ghost_of(s, &f, &g, moves)) {
        return true;
      }
    }
  }
  return false;
}

typedef struct ghost_context {
  tn_world *world;
  float dt;
} ghost_context;

// Marks the pairs with ghosts. Reads all contacts and writes none.
static void find_ghosts(int first, int last, void *context)
{
  const ghost_context *task = context;
  const tn_world *world = task->world;
  for (int i = first; i < last; ++i) {
    const pair *p = &world->pairs[world->detection->active_pairs[i]];
    uint32_t ghosts = 0;
    int fixed = is_fixed(world, p->body[0]) ? 0 : 1;
    const shape *s = &world->shapes[p->shape[1 - fixed]];
    bool alone = p->first_contact == NO_SLOT || !is_fixed(world, p->body[fixed]);
    if (!alone && (s->pair_count > 1 || p->multi_manifold) && shape_is_bounded(s)) {
      int k = 0;
      for (int32_t slot = p->first_contact; slot != NO_SLOT; slot = world->contacts[slot].next) {
        ghosts |= (uint32_t)is_ghost(world, s, &world->contacts[slot], fixed, task->dt) << k++;
      }
    }
    world->detection->found[i].ghosts = ghosts;
    world->detection->pair_marks[i] = ghosts != 0;
  }
}

bool ghost_contacts_remove(tn_world *world, float dt)
{
  detection *d = world->detection;
  ghost_context task = {world, dt};
  int32_t count = d->active_pair_count;
  if (!RULE(ghosts)) {
    return true;
  }
  if (!heap_reserve(&world->heap, (void **)&d->pair_marks, &d->pair_mark_capacity, count + 8,
                    sizeof(uint8_t))) {
    return false;
  }
  task_run(world->tasks, find_ghosts, count, GHOST_GRAIN, &task);
  for (int32_t i = next_mark(d->pair_marks, 0, count); i < count;
       i = next_mark(d->pair_marks, i + 1, count)) {
    pair_remove_contacts_of(world, d->active_pairs[i], d->found[i].ghosts);
  }
  return true;
}
