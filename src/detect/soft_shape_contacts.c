// Contacts of soft bodies: particles and triangles against shapes, and the list of all soft
// contacts. Contacts are found once a step; the solver updates their gaps in every substep.
#include "base/dvec.h"
#include "collide/distance.h"
#include "collide/material.h"
#include "collide/surface.h"
#include "data/soft_bounds.h"
#include "data/wake.h"
#include "detect/detection.h"
#include "detect/soft_contacts.h"
#include "detect/soft_detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// The list

static void remove_contacts(tn_world *world,
                            bool (*is_removed)(const soft_contact *t, int32_t slot), int32_t slot)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    if (!is_removed(&world->soft_contacts[i], slot)) {
      world->soft_contacts[count++] = world->soft_contacts[i];
    }
  }
  world->soft_contact_count = count;
}

static bool is_of_shape(const soft_contact *t, int32_t slot)
{
  return t->shape == slot;
}

void soft_contacts_remove_soft(tn_world *world, int32_t slot)
{
  soft_touch_pairs_remove_soft(world, slot);
  remove_contacts(world, soft_contact_is_of, slot);
}

void soft_contacts_discard(tn_world *world, int32_t slot)
{
  remove_contacts(world, soft_contact_is_of, slot);
}

void soft_contacts_remove_shape(tn_world *world, int32_t slot)
{
  soft_touch_pairs_remove_shape(world, slot);
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    if (is_of_shape(&world->soft_contacts[i], slot)) {
      soft_wake(world, world->soft_contacts[i].soft);
    }
  }
  remove_contacts(world, is_of_shape, slot);
}

void soft_wake_touched(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    if (t->soft == slot && t->body != NO_SLOT) {
      body_wake(world, t->body);
    } else if (soft_contact_is_of(t, slot)) {
      soft_wake(world, t->soft == slot ? t->other : t->soft);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Particles and shapes

// Collision of a soft body with a shape.
typedef struct collider {
  tn_world *world;
  const soft *soft;
  int32_t soft_slot, shape_slot;
  const shape *shape;
  const body *body;
  world_pose at;        // of the shape
  tn_vec3 v;            // m/s, of the body
  float max_turn_speed; // m/s, bound of the shape's speed by rotation
  float dt, margin;     // s; m
  world_aabb box;       // of the shape
  world_aabb max_box;   // `box` expanded by the longest contact range
} collider;

static tn_pos world_pose_inverse_point(world_pose frame, tn_pos p)
{
  return dquat_rotate(dquat_conjugate(frame.q), pos_sub(p, frame.p));
}

bool point_near_box(const world_aabb *box, tn_pos p, double max_distance)
{
  return p.x >= box->lower.x - max_distance && p.x <= box->upper.x + max_distance &&
         p.y >= box->lower.y - max_distance && p.y <= box->upper.y + max_distance &&
         p.z >= box->lower.z - max_distance && p.z <= box->upper.z + max_distance;
}

world_aabb box_expand(world_aabb box, double by)
{
  box.lower = tn_p3(box.lower.x - by, box.lower.y - by, box.lower.z - by);
  box.upper = tn_p3(box.upper.x + by, box.upper.y + by, box.upper.z + by);
  return box;
}

// Candidates are kept as far as the relative motion reaches.
static float contact_range_at(const collider *t, float speed)
{
  return t->soft->radius + t->margin +
         TUNING_SOFT_MOTION_MARGIN * t->dt * (speed + t->max_turn_speed);
}

static float contact_range_of(const collider *t, const soft_particle *p)
{
  return contact_range_at(t, tn_length(tn_sub(p->v, t->v)));
}

// Quick rejection: all corners are beyond one side of the box.
static bool triangle_outside_box(const world_aabb *box, const soft_particle *const *p)
{
  tn_pos a = p[0]->at, b = p[1]->at, c = p[2]->at;
  const tn_pos *lo = &box->lower, *hi = &box->upper;
  return (a.x < lo->x && b.x < lo->x && c.x < lo->x) ||
         (a.x > hi->x && b.x > hi->x && c.x > hi->x) ||
         (a.y < lo->y && b.y < lo->y && c.y < lo->y) ||
         (a.y > hi->y && b.y > hi->y && c.y > hi->y) ||
         (a.z < lo->z && b.z < lo->z && c.z < lo->z) || (a.z > hi->z && b.z > hi->z && c.z > hi->z);
}

// Shapes whose surface has a constant distance from a core point or segment.
static bool is_round(int kind)
{
  return kind == TN_SHAPE_SPHERE || kind == TN_SHAPE_CAPSULE || kind == TN_SHAPE_WIRE;
}

// Contact of the point x with the closest point c of the shape, in the shape's frame.
static soft_contact make_contact(const collider *t, tn_pos x, const closest *c)
{
  soft_contact made;
  memset(&made, 0, sizeof made);
  made.soft = t->soft_slot;
  made.other = NO_SLOT;
  made.shape = t->shape_slot;
  made.body = t->shape->body;
  made.round = is_round(t->shape->geometry.kind);
  float skin = made.round ? t->shape->geometry.radius : 0.0f;
  tn_vec3 core = tn_sub(c->point, tn_scale(skin, c->normal));
  tn_pos at = pos_add(t->at.p, dquat_rotate(t->at.q, pos_from_vec3(core)));
  made.normal = pos_round(dquat_rotate(t->at.q, pos_from_vec3(c->normal)));
  made.delta = pos_round(pos_sub(x, at));
  made.anchor = pos_round(pos_sub(at, t->body->center));
  made.distance = t->soft->radius + skin;
  made.gap = c->distance - t->soft->radius;
  return made;
}

static bool collide_particle(const collider *t, int32_t index, soft_contact *out)
{
  const soft_particle *p = &t->soft->particles[index];
  if (!point_near_box(&t->max_box, p->at, 0.0)) {
    return false;
  }
  float max_distance = contact_range_of(t, p);
  if (!point_near_box(&t->box, p->at, (double)max_distance)) {
    return false;
  }
  closest c;
  if (!geometry_closest(&t->shape->geometry, pos_round(world_pose_inverse_point(t->at, p->at)),
                        max_distance, &c)) {
    return false;
  }
  soft_contact made = make_contact(t, p->at, &c);
  made.type = SOFT_CONTACT_PARTICLE_BODY;
  made.particle[0] = index;
  made.particle[1] = made.particle[2] = made.particle[3] = NO_SLOT;
  made.weight[0] = 1.0f;
  *out = made;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Triangles and shapes, for corners and small shapes that pass between the particles

void barycentric_weights(tn_vec3 p, const tn_vec3 *x, float *w)
{
  tn_vec3 e = tn_sub(x[1], x[0]), f = tn_sub(x[2], x[0]), d = tn_sub(p, x[0]);
  float ee = tn_dot(e, e), ef = tn_dot(e, f), ff = tn_dot(f, f);
  float de = tn_dot(d, e), df = tn_dot(d, f), determinant = ee * ff - ef * ef;
  float inv = determinant > 0.0f ? 1.0f / determinant : 0.0f;
  w[1] = fminf(fmaxf((ff * de - ef * df) * inv, 0.0f), 1.0f);
  w[2] = fminf(fmaxf((ee * df - ef * de) * inv, 0.0f), 1.0f - w[1]);
  w[0] = 1.0f - w[1] - w[2];
}

// Whether the triangle is closer than each corner by a share of the radius; else the particles' own
// contacts suffice.
static bool is_closer_than_corners(const collider *t, const tn_vec3 *x, float distance,
                                   float max_distance)
{
  for (int i = 0; i < 3 && RULE(soft_triangle_corner); ++i) {
    closest c;
    if (geometry_closest(&t->shape->geometry, x[i], max_distance, &c) &&
        c.distance < distance + TUNING_SOFT_CORNER_TOLERANCE * t->soft->radius) {
      return false;
    }
  }
  return true;
}

// Closest points of a shape and a triangle, in the shape's frame; false beyond max_distance.
static bool closest_points(const geometry *other, const geometry *triangle, float max_distance,
                           separation *s)
{
  pose here = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 1.0f}};
  switch (other->kind) {
  case TN_SHAPE_MESH:
    return mesh_nearest(other->mesh, triangle, here, max_distance, s);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_nearest(other->field, triangle, here, max_distance, s);
  default:
    *s = convex_distance(other, triangle, here);
    return s->distance <= max_distance;
  }
}

static bool collide_triangle(const collider *t, const int32_t *v, soft_contact *out)
{
  const soft_particle *p[3] = {&t->soft->particles[v[0]], &t->soft->particles[v[1]],
                               &t->soft->particles[v[2]]};
  if (triangle_outside_box(&t->max_box, p)) {
    return false;
  }
  geometry g = {.kind = GEOMETRY_TRIANGLE};
  tn_vec3 middle = {0.0f, 0.0f, 0.0f};
  float max_distance = 0.0f, size = 0.0f;
  for (int i = 0; i < 3; ++i) {
    g.corner[i] = pos_round(world_pose_inverse_point(t->at, p[i]->at));
    middle = tn_add(middle, tn_scale(1.0f / 3.0f, g.corner[i]));
    max_distance = fmaxf(max_distance, contact_range_of(t, p[i]));
  }
  for (int i = 0; i < 3; ++i) {
    size = fmaxf(size, tn_length(tn_sub(g.corner[i], middle)));
  }
  closest near;
  if (!point_near_box(&t->box, p[0]->at, (double)(2.0f * size + max_distance)) ||
      !geometry_closest(&t->shape->geometry, middle, size + max_distance, &near)) {
    return false;
  }
  separation s;
  if (!closest_points(&t->shape->geometry, &g, max_distance, &s) ||
      !is_closer_than_corners(t, g.corner, s.distance, size + max_distance)) {
    return false;
  }
  closest c = {s.distance, s.a, s.normal};
  float w[3];
  barycentric_weights(s.b, g.corner, w);
  tn_pos x = p[0]->at;
  x = pos_add(x, pos_from_vec3(tn_scale(w[1], tn_between_points(p[0]->at, p[1]->at))));
  x = pos_add(x, pos_from_vec3(tn_scale(w[2], tn_between_points(p[0]->at, p[2]->at))));
  soft_contact made = make_contact(t, x, &c);
  made.type = SOFT_CONTACT_TRIANGLE_BODY;
  float share = RULE(soft_triangle_radius) ? TUNING_SOFT_TRIANGLE_RADIUS_SHARE : 1.0f;
  made.distance -= (1.0f - share) * t->soft->radius;
  made.gap += (1.0f - share) * t->soft->radius;
  made.particle[3] = NO_SLOT;
  for (int i = 0; i < 3; ++i) {
    made.particle[i] = v[i];
    made.weight[i] = w[i];
  }
  *out = made;
  return true;
}

static bool should_collide(const soft *s, const shape *other)
{
  return !other->def.sensor && filters_should_collide(&s->filter, &other->def.filter);
}

// m, bound of the distance of the shape's surface from the body's centre of mass.
static float max_lever(const shape *s)
{
  return s->bounding_radius + tn_length(pos_round(s->local_position));
}

static collider collider_of(tn_world *world, int32_t soft_slot, int32_t shape_slot, float dt)
{
  const shape *s = &world->shapes[shape_slot];
  const body_state *state = &world->state[s->body];
  float turn = tn_length(vec3_from_floats(state->w));
  collider t = {.world = world,
                .soft = &world->softs[soft_slot],
                .soft_slot = soft_slot,
                .shape_slot = shape_slot,
                .shape = s,
                .body = &world->bodies[s->body],
                .at = shape_world_pose(world, s),
                .v = vec3_from_floats(state->v),
                .max_turn_speed = turn > 0.0f ? turn * max_lever(s) : 0.0f,
                .dt = dt,
                .box = s->box};
  t.margin = t.soft->radius + TUNING_SOFT_GRAVITY_MARGIN * dt * dt * tn_length(world->gravity);
  return t;
}

// A chunk of particles or triangles against a shape: at most one contact for each of them.
static void collide_chunk(const void *context, const soft_item *item, soft_contact_list *out)
{
  const collider *t = (const collider *)context + item->job;
  int32_t particles = chunk_count(t->soft->particle_count);
  bool triangles = item->part >= particles;
  int32_t from = CHUNK_SIZE * (triangles ? item->part - particles : item->part);
  int32_t all = triangles ? t->soft->triangle_count : t->soft->particle_count;
  for (int32_t k = from; k < from + CHUNK_SIZE && k < all; ++k) {
    soft_contact made;
    if (triangles ? collide_triangle(t, t->soft->triangles + 3 * (size_t)k, &made)
                  : collide_particle(t, k, &made)) {
      soft_contact_put(out, &made);
    }
  }
}

// Lists the collider as a job, and as items the chunks that are near it.
static bool add_shape_job(tn_world *world, int32_t job, int32_t soft_slot, int32_t shape_slot,
                          float dt)
{
  detection *d = world->detection;
  if (!heap_reserve(&world->heap, &d->soft_jobs, &d->soft_job_capacity,
                    (job + 1) * (int32_t)sizeof(collider), 1)) {
    return false;
  }
  collider *t = (collider *)d->soft_jobs + job;
  *t = collider_of(world, soft_slot, shape_slot, dt);
  float fastest = d->soft_scans[soft_slot].max_speed;
  t->max_box = box_expand(t->box, (double)contact_range_at(t, fastest + tn_length(t->v)));
  int kind = t->shape->geometry.kind;
  bool solid = kind <= TN_SHAPE_HULL || kind == TN_SHAPE_MESH || kind == TN_SHAPE_HEIGHT_FIELD;
  int32_t count =
      chunk_count(t->soft->particle_count) + (solid ? chunk_count(t->soft->triangle_count) : 0);
  bool ok = true;
  for (int32_t i = 0; ok && i < count; ++i) {
    ok = !aabbs_overlap(&soft_particle_chunks(world, soft_slot)[i].box, &t->max_box) ||
         soft_item_add(world, job, i);
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Shapes near a soft body

static world_aabb swept_box(const tn_world *world, const soft *s, float max_speed, float dt)
{
  float way = TUNING_SOFT_MOTION_MARGIN * dt * max_speed +
              TUNING_SOFT_GRAVITY_MARGIN * dt * dt * tn_length(world->gravity);
  return box_expand(s->box, (double)(s->radius + way));
}

typedef struct shape_search {
  tn_world *world;
  const soft *soft;
  bool ok;
} shape_search;

static bool collect(int32_t item, void *context)
{
  shape_search *s = context;
  tn_world *world = s->world;
  if (should_collide(s->soft, &world->shapes[item])) {
    s->ok = heap_reserve(&world->heap, (void **)&world->detection->candidates,
                         &world->detection->candidate_capacity,
                         world->detection->candidate_count + 1, sizeof(int32_t));
    if (s->ok) {
      world->detection->candidates[world->detection->candidate_count++] = item;
    }
  }
  return s->ok;
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static bool query_shapes(tn_world *world, const soft *s, float max_speed, float dt)
{
  shape_search search = {world, s, true};
  world_aabb box = swept_box(world, s, max_speed, dt);
  world->detection->candidate_count = 0;
  tree_query(&world->detection->moving_tree, box, collect, &search);
  if (search.ok) {
    tree_query(&world->detection->static_tree, box, collect, &search);
  }
  if (world->detection->candidate_count > 1) {
    qsort(world->detection->candidates, (size_t)world->detection->candidate_count, sizeof(int32_t),
          by_slot);
  }
  return search.ok;
}

static bool list_shapes(tn_world *world, int32_t slot, float dt, int32_t *jobs)
{
  if (!query_shapes(world, &world->softs[slot], world->detection->soft_scans[slot].max_speed, dt)) {
    return false;
  }
  for (int32_t i = 0; i < world->detection->candidate_count; ++i) {
    if (!add_shape_job(world, *jobs, slot, world->detection->candidates[i], dt)) {
      return false;
    }
    *jobs += 1;
  }
  return true;
}

static bool find_shape_contacts(tn_world *world, float dt)
{
  int32_t jobs = 0;
  world->detection->soft_item_count = 0;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    soft *s = &world->softs[i];
    s->supported = s->pin_count > 0 || s->attachment_count > 0;
    if (s->alive && !s->asleep && !list_shapes(world, i, dt, &jobs)) {
      return false;
    }
  }
  return soft_items_run(world, collide_chunk, world->detection->soft_jobs, CHUNK_SIZE);
}

// Whether a moving body touches the sleeping soft body.
static bool is_disturbed(tn_world *world, int32_t slot)
{
  const soft *s = &world->softs[slot];
  for (int32_t i = 0; i < world->detection->candidate_count; ++i) {
    const body *b = &world->bodies[world->shapes[world->detection->candidates[i]].body];
    if (!moves(b)) {
      continue;
    }
    collider t = collider_of(world, slot, world->detection->candidates[i], 0.0f);
    float max_distance = s->radius + TUNING_SOFT_TOUCH_GAP;
    for (int32_t k = 0; k < s->particle_count; ++k) {
      closest c;
      if (point_near_box(&t.box, s->particles[k].at, (double)max_distance) &&
          geometry_closest(&t.shape->geometry,
                           pos_round(world_pose_inverse_point(t.at, s->particles[k].at)),
                           max_distance, &c)) {
        return true;
      }
    }
  }
  return false;
}

static bool wake_disturbed(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive && world->softs[i].asleep) {
      if (!query_shapes(world, &world->softs[i], 0.0f, 0.0f)) {
        return false;
      }
      if (is_disturbed(world, i)) {
        soft_wake(world, i);
      }
    }
  }
  return true;
}

// Marks supported soft bodies and wakes sleeping rigid bodies that a soft body touches. Contacts
// with rigid bodies that stay asleep are dropped.
static void wake_touched(tn_world *world)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    soft_contact *t = &world->soft_contacts[i];
    soft *s = &world->softs[t->soft];
    bool near = t->gap < TUNING_SOFT_TOUCH_GAP;
    s->supported = s->supported || near;
    if (is_soft_soft(t) && near) {
      world->softs[t->other].supported = true;
    }
    if (t->body != NO_SLOT && near && world->bodies[t->body].asleep) {
      body_wake(world, t->body);
    }
    if (t->body != NO_SLOT && world->bodies[t->body].asleep) {
      continue;
    }
    if (count < i) {
      world->soft_contacts[count] = *t;
    }
    count += 1;
  }
  world->soft_contact_count = count;
}

bool soft_contacts_find(tn_world *world, float dt)
{
  if (world->soft_pool.count == 0) {
    return true;
  }
  world->soft_contact_count = 0;
  if (!wake_disturbed(world) || !soft_scan_all(world) || !find_shape_contacts(world, dt) ||
      (wake_overlapping_softs(world) && !soft_scan_all(world)) ||
      !find_particle_contacts(world, dt) || !find_triangle_contacts(world, dt)) {
    return false;
  }
  wake_touched(world);
  return true;
}

void soft_contacts_release(tn_world *world)
{
  detection *d = world->detection;
  heap_free(&world->heap, d->soft_scans, (size_t)d->soft_scan_capacity * sizeof *d->soft_scans);
  heap_free(&world->heap, d->soft_chunks, (size_t)d->soft_chunk_capacity * sizeof *d->soft_chunks);
  heap_free(&world->heap, d->triangle_boxes,
            (size_t)d->triangle_box_capacity * sizeof *d->triangle_boxes);
  heap_free(&world->heap, d->soft_jobs, (size_t)d->soft_job_capacity);
  heap_free(&world->heap, d->soft_items, (size_t)d->soft_item_capacity * sizeof *d->soft_items);
  heap_free(&world->heap, d->chunk_contacts,
            (size_t)d->chunk_contact_capacity * sizeof *d->chunk_contacts);
  heap_free(&world->heap, d->edge_memory, (size_t)d->edge_memory_capacity);
  heap_free(&world->heap, world->soft_contacts,
            (size_t)world->soft_contact_capacity * sizeof(soft_contact));
}
