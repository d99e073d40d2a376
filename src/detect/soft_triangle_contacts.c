// Particles of one soft body against triangles of another. A particle gets a contact with the
// nearest feature of the other body (face, edge or corner), and with every near face that it is in
// front of: on coarse meshes the nearest feature alone lets it pass the neighbouring faces.
#include "collide/material.h"
#include "collide/surface_contacts.h"
#include "data/soft_bounds.h"
#include "detect/detection.h"
#include "detect/soft_detect.h"

#include <math.h>
#include <string.h>

// Collision of the particles of `from` with the triangles of `to`.
typedef struct triangle_collider {
  tn_world *world;
  const soft *from, *to;
  int32_t from_slot, to_slot;
  bool corners;       // contacts with corners too; two bodies with triangles make them only once
  float distance, dt; // m, contact distance; s
} triangle_collider;

// A triangle within the contact range of a particle.
typedef struct triangle_hit {
  int32_t triangle;
  float w[3];        // barycentric weights of the closest point
  tn_vec3 x, normal; // closest point, from the particle; normal of the triangle
  float length;      // m, of x
  bool behind;       // the particle is behind a triangle of a closed surface
} triangle_hit;

typedef struct particle_hits {
  triangle_hit nearest;
  triangle_hit faces[TUNING_SOFT_MAX_FACES];
  int count;
} particle_hits;

static bool is_corner(const triangle_hit *f)
{
  return fmaxf(f->w[0], fmaxf(f->w[1], f->w[2])) > TUNING_SOFT_CORNER_WEIGHT;
}

static bool is_face(const triangle_hit *f)
{
  return fminf(f->w[0], fminf(f->w[1], f->w[2])) > TUNING_SOFT_FACE_WEIGHT;
}

// False if the triangle is out of range: the contact distance and its margin, and the relative
// motion.
static bool closest_on_triangle(const triangle_collider *s, const soft_particle *p,
                                int32_t triangle, triangle_hit *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)triangle;
  tn_vec3 corner[3], speed = p->v, none = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < 3; ++i) {
    corner[i] = tn_between_points(p->at, s->to->particles[v[i]].at);
  }
  f->triangle = triangle;
  f->normal = triangle_normal(corner);
  f->x = triangle_closest(corner, f->normal, none);
  f->length = tn_length(f->x);
  f->behind = s->to->closed && tn_dot(f->normal, f->x) > 0.0f;
  barycentric_weights(f->x, corner, f->w);
  for (int i = 0; i < 3; ++i) {
    speed = tn_sub(speed, tn_scale(f->w[i], s->to->particles[v[i]].v));
  }
  return f->length < (1.0f + TUNING_SOFT_SOFT_MARGIN) * s->distance +
                         TUNING_SOFT_MOTION_MARGIN * s->dt * tn_length(speed);
}

// Triangles that share the nearest edge or corner are equally near. The particle is outside if it
// is in front of one of them, so that one is preferred.
static void consider_triangle(const triangle_collider *s, const soft_particle *p, int32_t triangle,
                              particle_hits *v)
{
  triangle_hit f;
  if (!closest_on_triangle(s, p, triangle, &f)) {
    return;
  }
  if (is_face(&f) && !f.behind && v->count < TUNING_SOFT_MAX_FACES) {
    v->faces[v->count++] = f;
  }
  const triangle_hit *n = &v->nearest;
  float same = TUNING_SOFT_SAME_DISTANCE_SHARE * n->length + TUNING_SOFT_SAME_DISTANCE;
  if (n->triangle == NO_SLOT || f.length < n->length - same ||
      (f.length < n->length + same && n->behind && !f.behind)) {
    v->nearest = f;
  }
}

static bool add_triangle_contact(const triangle_collider *s, int32_t index, const triangle_hit *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)f->triangle;
  soft_contact t;
  memset(&t, 0, sizeof t);
  t.type = SOFT_CONTACT_PARTICLE_TRIANGLE;
  t.soft = s->from_slot;
  t.other = s->to_slot;
  t.particle[0] = index;
  t.weight[0] = 1.0f;
  int32_t free = !s->from->particles[index].pinned;
  for (int i = 0; i < 3; ++i) {
    t.particle[i + 1] = v[i];
    t.weight[i + 1] = -f->w[i];
    free |= !s->to->particles[v[i]].pinned;
  }
  t.shape = t.body = NO_SLOT;
  t.delta = tn_scale(-1.0f, f->x);
  bool along = !f->behind && f->length > TUNING_SOFT_MIN_DIRECTION;
  t.normal = along ? tn_scale(-1.0f / f->length, f->x) : f->normal;
  t.round = along && is_corner(f);
  t.distance = s->distance;
  t.gap = tn_dot(t.normal, t.delta) - s->distance;
  return !free || add_soft_contact(s->world, &t);
}

// A particle behind its nearest feature is inside: only that feature's contact pushes it out.
static bool add_particle_contacts(const triangle_collider *s, int32_t index, const particle_hits *v)
{
  const triangle_hit *n = &v->nearest;
  if (n->triangle == NO_SLOT) {
    return true;
  }
  bool ok = (is_corner(n) && !s->corners) || add_triangle_contact(s, index, n);
  for (int i = 0; ok && i < v->count && !n->behind && RULE(soft_face_contacts); ++i) {
    ok = v->faces[i].triangle == n->triangle || add_triangle_contact(s, index, &v->faces[i]);
  }
  return ok;
}

static bool collide_chunk(const triangle_collider *s, int32_t first, int32_t count,
                          double max_distance)
{
  const soft_particle *p = s->from->particles + first;
  particle_hits hits[CHUNK_SIZE];
  world_aabb box = empty_box();
  for (int32_t i = 0; i < count; ++i) {
    box_add_point(&box, p[i].at);
    hits[i].nearest = (triangle_hit){.triangle = NO_SLOT};
    hits[i].count = 0;
  }
  box = box_expand(box, max_distance);
  if (!aabbs_overlap(&box, &s->to->box)) {
    return true;
  }
  const world_aabb *chunk_boxes =
      s->world->detection->chunk_boxes + chunk_count(s->to->particle_count);
  for (int32_t b = 0; b < chunk_count(s->to->triangle_count); ++b) {
    for (int32_t i = 0; i < count && aabbs_overlap(&box, &chunk_boxes[b]); ++i) {
      if (!point_near_box(&chunk_boxes[b], p[i].at, max_distance)) {
        continue;
      }
      for (int32_t k = CHUNK_SIZE * b; k < CHUNK_SIZE * (b + 1) && k < s->to->triangle_count; ++k) {
        consider_triangle(s, &p[i], k, &hits[i]);
      }
    }
  }
  bool ok = true;
  for (int32_t i = 0; ok && i < count; ++i) {
    ok = add_particle_contacts(s, first + i, &hits[i]);
  }
  return ok;
}

static bool collide_triangles(const triangle_collider *s)
{
  float speed = soft_max_speed(s->from) + soft_max_speed(s->to);
  double max_distance = (double)((1.0f + TUNING_SOFT_SOFT_MARGIN) * s->distance +
                                 TUNING_SOFT_MOTION_MARGIN * s->dt * speed);
  world_aabb box = box_expand(s->from->box, max_distance);
  if (!aabbs_overlap(&box, &s->to->box)) {
    return true;
  }
  bool ok = build_chunk_boxes(s->world, s->to);
  for (int32_t i = 0; ok && i < s->from->particle_count; i += CHUNK_SIZE) {
    int32_t left = s->from->particle_count - i;
    ok = collide_chunk(s, i, left < CHUNK_SIZE ? left : CHUNK_SIZE, max_distance);
  }
  return ok;
}

bool find_triangle_contacts(tn_world *world, float dt)
{
  bool ok = true;
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    for (int32_t k = 0; ok && k < world->soft_pool.used; ++k) {
      const soft *a = &world->softs[i], *b = &world->softs[k];
      bool corners = i < k || a->triangle_count == 0;
      triangle_collider s = {world, a, b, i, k, corners, a->radius + b->radius, dt};
      if (i != k && b->triangle_count > 0 && has_collision(a) && has_collision(b) &&
          filters_should_collide(&a->filter, &b->filter)) {
        ok = collide_triangles(&s) &&
             (i > k || a->triangle_count == 0 || find_edge_contacts(world, i, k, dt));
      }
    }
  }
  return ok;
}
