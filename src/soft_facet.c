// Particles of one soft body and triangles of another. A particle touches the nearest place of the
// other body, be it on a face, an edge or a corner, and all faces that it is in front of.
#include "collide/facet.h"
#include "soft_touch.h"

#include <math.h>
#include <string.h>

#define MOST 4 // faces beside the nearest place; those made first count

// A soft body with triangles, as the particles of another see it.
typedef struct sheet {
  tn_world *world;
  const soft *from, *to; // particles, triangles
  int32_t from_slot, to_slot;
  bool corners; // are met as well; of two bodies with triangles the second leaves them to the first
  float distance, dt;
} sheet;

// A triangle that a particle may come to touch.
typedef struct facing {
  int32_t triangle;
  float w[3];
  tn_vec3 x, normal; // from the particle to its closest point
  float length;
  bool behind; // the particle is, seen from the triangle of a closed surface
} facing;

// What a particle sees.
typedef struct view {
  facing nearest;
  facing faces[MOST];
  int count;
} view;

static bool is_corner(const facing *f)
{
  return fmaxf(f->w[0], fmaxf(f->w[1], f->w[2])) > 0.999f;
}

static bool is_face(const facing *f)
{
  return fminf(f->w[0], fminf(f->w[1], f->w[2])) > 1e-4f;
}

static bool face(const sheet *s, const soft_particle *p, int32_t triangle, facing *f)
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
  weights_at(f->x, corner, f->w);
  for (int i = 0; i < 3; ++i) {
    speed = tn_sub(speed, tn_scale(f->w[i], s->to->particles[v[i]].v));
  }
  return f->length < 1.25f * s->distance + 1.5f * s->dt * tn_length(speed);
}

// Triangles that share the nearest edge or corner are as near, and it is enough to be in front of
// one of them.
static void look_at(const sheet *s, const soft_particle *p, int32_t triangle, view *v)
{
  facing f;
  if (!face(s, p, triangle, &f)) {
    return;
  }
  if (is_face(&f) && !f.behind && v->count < MOST) {
    v->faces[v->count++] = f;
  }
  const facing *n = &v->nearest;
  float same = 1e-4f * n->length + 1e-6f;
  if (n->triangle == NO_SLOT || f.length < n->length - same ||
      (f.length < n->length + same && n->behind && !f.behind)) {
    v->nearest = f;
  }
}

static bool add_facet(const sheet *s, int32_t index, const facing *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)f->triangle;
  soft_contact t;
  memset(&t, 0, sizeof t);
  t.type = TOUCH_FACET;
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
  t.apart = tn_scale(-1.0f, f->x);
  bool along = !f->behind && f->length > 1e-6f;
  t.normal = along ? tn_scale(-1.0f / f->length, f->x) : f->normal;
  t.round = along && is_corner(f);
  t.distance = s->distance;
  t.gap = tn_dot(t.normal, t.apart) - s->distance;
  return !free || add_touch(s->world, &t);
}

// Behind the nearest place is inside, and that is the way out.
static bool add_view(const sheet *s, int32_t index, const view *v)
{
  const facing *n = &v->nearest;
  if (n->triangle == NO_SLOT) {
    return true;
  }
  bool ok = (is_corner(n) && !s->corners) || add_facet(s, index, n);
  for (int i = 0; ok && i < v->count && !n->behind; ++i) {
    ok = v->faces[i].triangle == n->triangle || add_facet(s, index, &v->faces[i]);
  }
  return ok;
}

static bool touch_bunch(const sheet *s, int32_t first, int32_t count, double reach)
{
  const soft_particle *p = s->from->particles + first;
  view views[BUNCH];
  world_box box = no_box();
  for (int32_t i = 0; i < count; ++i) {
    widen(&box, p[i].at);
    views[i].nearest = (facing){.triangle = NO_SLOT};
    views[i].count = 0;
  }
  box = grown_box(box, reach);
  if (!boxes_overlap(&box, &s->to->box)) {
    return true;
  }
  const world_box *bunches = s->world->bunches + bunches_of(s->to->particle_count);
  for (int32_t b = 0; b < bunches_of(s->to->triangle_count); ++b) {
    for (int32_t i = 0; i < count && boxes_overlap(&box, &bunches[b]); ++i) {
      if (!is_near(&bunches[b], p[i].at, reach)) {
        continue;
      }
      for (int32_t k = BUNCH * b; k < BUNCH * (b + 1) && k < s->to->triangle_count; ++k) {
        look_at(s, &p[i], k, &views[i]);
      }
    }
  }
  bool ok = true;
  for (int32_t i = 0; ok && i < count; ++i) {
    ok = add_view(s, first + i, &views[i]);
  }
  return ok;
}

static bool touch_sheet(const sheet *s)
{
  float speed = fastest_of(s->from) + fastest_of(s->to);
  double reach = (double)(1.25f * s->distance + 1.5f * s->dt * speed);
  world_box box = grown_box(s->from->box, reach);
  if (!boxes_overlap(&box, &s->to->box)) {
    return true;
  }
  bool ok = bunch(s->world, s->to);
  for (int32_t i = 0; ok && i < s->from->particle_count; i += BUNCH) {
    int32_t left = s->from->particle_count - i;
    ok = touch_bunch(s, i, left < BUNCH ? left : BUNCH, reach);
  }
  return ok;
}

bool touch_facets(tn_world *world, float dt)
{
  bool ok = true;
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    for (int32_t k = 0; ok && k < world->soft_list.used; ++k) {
      const soft *a = &world->softs[i], *b = &world->softs[k];
      bool corners = i < k || a->triangle_count == 0;
      sheet s = {world, a, b, i, k, corners, a->radius + b->radius, dt};
      if (i != k && b->triangle_count > 0 && touches_others(a) && touches_others(b) &&
          filters_agree(&a->filter, &b->filter)) {
        ok = touch_sheet(&s) && (i > k || a->triangle_count == 0 || touch_edges(world, i, k, dt));
      }
    }
  }
  return ok;
}
