// What a fast body meets after its first impact within a step. The narrow phase looks along a
// straight way; a body that bounces off something fixed would fly through what lies on its new way.
// So its way is followed from impact to impact, and what it meets gets a contact ahead of time.
#include "collide/distance.h"
#include "look_pair.h"

#define MOST_IMPACTS 8

typedef struct traveller {
  tn_world *world;
  const shape *shape;
  tn_vec3 v;
  tn_vec3 gone; // from where the shape is
  tn_vec3 way;  // to the end of the step
  int count;    // of walls that it has met, and which
  int32_t met[MOST_IMPACTS];
  // The next one, or NO_SLOT, and what is known of it.
  int32_t wall;
  float fraction;
  tn_vec3 normal;
} traveller;

// A wall as the traveller sees it, in the wall's frame.
typedef struct view {
  pose at;
  tn_vec3 way, gone;
} view;

static view view_of(const traveller *t, const shape *wall)
{
  placed there = shape_placed(t->world, wall);
  tn_quat back = tn_quat_conjugate(dquat_round(there.q));
  view v = {placed_relative(there, t->shape->stance.here), tn_rotate(back, t->way),
            tn_rotate(back, t->gone)};
  v.at.p = tn_add(v.at.p, v.gone);
  return v;
}

static bool visit_wall(int32_t slot, void *context)
{
  traveller *t = context;
  const shape *wall = &t->world->shapes[slot];
  bool left = t->count > 0 && slot == t->met[t->count - 1];
  bool rail = wall->geometry.kind == TN_SHAPE_WIRE; // has contacts of its own kind
  if (left || rail || wall->def.sensor || !pair_is_wanted(t->world, t->shape, wall)) {
    return true;
  }
  view v = view_of(t, wall);
  cast_hit hit;
  if (geometry_cast(&wall->geometry, &t->shape->geometry, v.at, v.way, 0.0f, 1.0f, &hit) &&
      (t->wall == NO_SLOT || hit.fraction < t->fraction ||
       (hit.fraction == t->fraction && slot < t->wall))) {
    t->wall = slot;
    t->fraction = hit.fraction;
    t->normal = tn_rotate(dquat_round(shape_placed(t->world, wall).q), hit.normal);
  }
  return true;
}

static void reach_out(double *lower, double *upper, float gone, float way)
{
  *lower += (double)(gone + fminf(way, 0.0f));
  *upper += (double)(gone + fmaxf(way, 0.0f));
}

static void find_wall(traveller *t)
{
  world_box box = shape_tight_box(t->world, t->shape);
  reach_out(&box.lower.x, &box.upper.x, t->gone.x, t->way.x);
  reach_out(&box.lower.y, &box.upper.y, t->gone.y, t->way.y);
  reach_out(&box.lower.z, &box.upper.z, t->gone.z, t->way.z);
  t->wall = NO_SLOT;
  tree_query(&t->world->fixed_tree, box, visit_wall, t);
}

static bool is_known(const traveller *t)
{
  for (int i = 0; i < t->count; ++i) {
    if (t->met[i] == t->wall) {
      return true;
    }
  }
  return false;
}

// The contact holds from where the body is now, if that is in front of the wall.
static bool prepare(const traveller *t)
{
  tn_world *world = t->world;
  shape *wall = &world->shapes[t->wall];
  view v = view_of(t, wall);
  manifold found[MAX_MANIFOLDS];
  int count = look_ahead(wall, t->shape, v.at, v.way, found, MAX_MANIFOLDS), kept = 0;
  pose now = v.at;
  now.p = tn_sub(now.p, v.gone);
  for (int i = 0; i < count; ++i) {
    float gap = -tn_dot(found[i].normal, v.gone);
    for (int k = 0; k < found[i].count; ++k) {
      found[i].points[k].gap += gap;
    }
    if (found[i].points[0].gap > 0.0f) {
      look_at_core(world, wall, t->shape, now, tn_add(v.gone, v.way), &found[i]);
      if (t->shape < wall) {
        manifold_flip(&found[i], v.at);
      }
      found[kept++] = found[i];
    }
  }
  return contacts_foresee(world, (int32_t)(t->shape - world->shapes), t->wall, found, kept);
}

// The law of impact.c for a ball that does not spin.
static void strike(traveller *t)
{
  const shape *wall = &t->world->shapes[t->wall];
  float mu_static, mu_dynamic, e;
  materials_mix(&t->shape->def.material, &wall->def.material, &mu_static, &mu_dynamic, &e);
  float closing = -tn_dot(t->normal, t->v);
  if (closing > 0.0f) {
    tn_vec3 slide = tn_add(t->v, tn_scale(closing, t->normal));
    float most = mu_dynamic * (1.0f + e) * closing / fmaxf(tn_length(slide), 1e-30f);
    tn_vec3 bounced = tn_scale(e * closing, t->normal);
    t->v = tn_add(bounced, tn_scale(1.0f - fminf(most, 2.0f / 7.0f), slide));
  }
}

static bool follow_way(tn_world *world, const shape *s, float dt)
{
  const body_state *state = &world->state[s->body];
  traveller t = {.world = world, .shape = s, .v = tn_v3(state->v[0], state->v[1], state->v[2])};
  float left = dt;
  while (t.count < MOST_IMPACTS) {
    t.way = tn_scale(left, t.v);
    if (tn_length(t.way) <= s->inner_radius) {
      break;
    }
    find_wall(&t);
    if (t.wall == NO_SLOT) {
      break;
    }
    if (t.count > 0 && !is_known(&t) && !prepare(&t)) {
      return false;
    }
    t.gone = tn_add(t.gone, tn_scale(t.fraction, t.way));
    left *= 1.0f - t.fraction;
    t.met[t.count++] = t.wall;
    strike(&t);
  }
  return true;
}

// Only what has a contact ahead may bounce.
static bool has_contact(const tn_world *world, const shape *s)
{
  for (int32_t link = s->first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    const pair *p = &world->pairs[link / 2];
    if (p->first_contact != NO_SLOT && world->shapes[p->shape[1 - link % 2]].fixed) {
      return true;
    }
  }
  return false;
}

bool bounces_foresee(tn_world *world, float dt)
{
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    const float *v = world->state[world->awake[i]].v;
    float way = dt * tn_length(tn_v3(v[0], v[1], v[2]));
    for (int32_t k = b->first_shape; k != NO_SLOT; k = world->shapes[k].next) {
      const shape *s = &world->shapes[k];
      bool fast = b->type == TN_BODY_DYNAMIC && way > s->inner_radius && !shape_is_complex(s);
      if (fast && !s->def.sensor && has_contact(world, s) && !follow_way(world, s, dt)) {
        return false;
      }
    }
  }
  return true;
}
