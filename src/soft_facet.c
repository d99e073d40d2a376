// Particles of one soft body and triangles of another: what is finer than the distance between
// particles, and skins whose particles are far apart. A particle pushes at the point of the
// triangle that is closest to it, and its corners share what it gives.
#include "collide/facet.h"
#include "world.h"

#include <math.h>
#include <string.h>

// Triangles lie in bunches with a box each, those that are far are passed over together.
#define BUNCH 32
#define MOST 64 // triangles near a particle; those made first count

// A soft body with triangles, as the particles of another see it.
typedef struct sheet {
  tn_world *world;
  const soft *from, *to; // particles, triangles
  int32_t from_slot, to_slot;
  float distance, dt;
} sheet;

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static bool is_in(const world_box *box, tn_pos p, double d)
{
  return p.x >= box->lower.x - d && p.x <= box->upper.x + d && p.y >= box->lower.y - d &&
         p.y <= box->upper.y + d && p.z >= box->lower.z - d && p.z <= box->upper.z + d;
}

static int32_t bunch_count(const soft *s)
{
  return (s->triangle_count + BUNCH - 1) / BUNCH;
}

static bool bunch_triangles(tn_world *world, const soft *s)
{
  if (!memory_reserve(world, (void **)&world->bunches, &world->bunch_capacity, bunch_count(s),
                      sizeof(world_box))) {
    return false;
  }
  for (int32_t i = 0; i < 3 * s->triangle_count; ++i) {
    world_box *box = &world->bunches[i / (3 * BUNCH)];
    tn_pos p = s->particles[s->triangles[i]].at;
    if (i % (3 * BUNCH) == 0) {
      box->lower = box->upper = p;
    }
    box->lower = tn_p3(fmin(box->lower.x, p.x), fmin(box->lower.y, p.y), fmin(box->lower.z, p.z));
    box->upper = tn_p3(fmax(box->upper.x, p.x), fmax(box->upper.y, p.y), fmax(box->upper.z, p.z));
  }
  return true;
}

// Where in a triangle the point x of it is.
static void weights_at(tn_vec3 x, const tn_vec3 *corner, float *w)
{
  tn_vec3 e = tn_sub(corner[1], corner[0]), f = tn_sub(corner[2], corner[0]);
  tn_vec3 d = tn_sub(x, corner[0]);
  float ee = tn_dot(e, e), ef = tn_dot(e, f), ff = tn_dot(f, f);
  float de = tn_dot(d, e), df = tn_dot(d, f), determinant = ee * ff - ef * ef;
  float inv = determinant > 0.0f ? 1.0f / determinant : 0.0f;
  w[1] = fminf(fmaxf((ff * de - ef * df) * inv, 0.0f), 1.0f);
  w[2] = fminf(fmaxf((ee * df - ef * de) * inv, 0.0f), 1.0f - w[1]);
  w[0] = 1.0f - w[1] - w[2];
}

// A triangle that a particle may come to touch.
typedef struct facing {
  int32_t triangle;
  float w[3];
  tn_vec3 x, normal; // from the particle to its closest point
  float length;
  bool behind; // the particle is, seen from the triangle
} facing;

static bool is_corner(const facing *f)
{
  return fmaxf(f->w[0], fmaxf(f->w[1], f->w[2])) > 0.999f;
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

static bool add_facet(const sheet *s, int32_t index, const facing *f)
{
  const int32_t *v = s->to->triangles + 3 * (size_t)f->triangle;
  const soft_particle *q = s->to->particles;
  bool pinned =
      s->from->particles[index].pinned && q[v[0]].pinned && q[v[1]].pinned && q[v[2]].pinned;
  if (pinned) {
    return true;
  }
  soft_contact t;
  memset(&t, 0, sizeof t);
  t.type = TOUCH_FACET;
  t.soft = s->from_slot;
  t.other = s->to_slot;
  t.particle[0] = index;
  t.weight[0] = 1.0f;
  for (int i = 0; i < 3; ++i) {
    t.particle[i + 1] = v[i];
    t.weight[i + 1] = -f->w[i];
  }
  t.shape = t.body = NO_SLOT;
  t.apart = tn_scale(-1.0f, f->x);
  bool along = !f->behind && f->length > 1e-6f;
  t.normal = along ? tn_scale(-1.0f / f->length, f->x) : f->normal;
  t.distance = s->distance;
  t.gap = tn_dot(t.normal, t.apart) - s->distance;
  return add_touch(s->world, &t);
}

// Triangles near the particle, those first that come first.
static int find_facing(const sheet *s, const soft_particle *p, facing *list)
{
  int count = 0;
  // The triangle may come towards it as fast.
  double reach = 1.25 * (double)s->distance + 3.0 * (double)(s->dt * tn_length(p->v));
  for (int32_t i = 0; i < bunch_count(s->to); ++i) {
    if (!is_in(&s->world->bunches[i], p->at, reach)) {
      continue;
    }
    for (int32_t k = BUNCH * i; k < BUNCH * (i + 1) && k < s->to->triangle_count; ++k) {
      count += count < MOST && face(s, p, k, &list[count]);
    }
  }
  return count;
}

// Inside of a closed surface it is behind each of the nearest triangles, which may share an edge.
// Then the nearest is the way out; from outside it meets those that it is before. A corner touches
// for itself.
static bool touch_triangles(const sheet *s, int32_t index)
{
  facing list[MOST];
  int count = find_facing(s, &s->from->particles[index], list), nearest = 0;
  for (int i = 1; i < count; ++i) {
    nearest = list[i].length < list[nearest].length ? i : nearest;
  }
  bool inside = count > 0;
  for (int i = 0; i < count; ++i) {
    bool as_near = list[i].length <= 1.0001f * list[nearest].length + 1e-6f;
    inside = inside && (!as_near || list[i].behind);
  }
  if (inside) {
    return add_facet(s, index, &list[nearest]);
  }
  for (int i = 0; i < count; ++i) {
    if (!list[i].behind && !is_corner(&list[i]) && !add_facet(s, index, &list[i])) {
      return false;
    }
  }
  return true;
}

static bool touch_sheet(const sheet *s)
{
  double near = 4.0 * (double)s->distance;
  if (!bunch_triangles(s->world, s->to)) {
    return false;
  }
  for (int32_t i = 0; i < s->from->particle_count; ++i) {
    if (is_in(&s->to->box, s->from->particles[i].at, near) && !touch_triangles(s, i)) {
      return false;
    }
  }
  return true;
}

static bool may_meet(const soft *a, const soft *b)
{
  float d = 4.0f * (a->radius + b->radius);
  world_box box = {wide(tn_v3(-d, -d, -d)), wide(tn_v3(d, d, d))};
  box.lower = pos_add(box.lower, a->box.lower);
  box.upper = pos_add(box.upper, a->box.upper);
  return a->alive && b->alive && !a->asleep && !b->asleep && a->radius > 0.0f && b->radius > 0.0f &&
         b->triangle_count > 0 && filters_agree(&a->filter, &b->filter) &&
         boxes_overlap(&box, &b->box);
}

bool touch_facets(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    for (int32_t k = 0; k < world->soft_list.used; ++k) {
      const soft *a = &world->softs[i], *b = &world->softs[k];
      sheet s = {world, a, b, i, k, a->radius + b->radius, dt};
      if (i != k && may_meet(a, b) && !touch_sheet(&s)) {
        return false;
      }
    }
  }
  return true;
}
