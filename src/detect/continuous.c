// Continuous collision after the first impact of a step. The narrow phase casts fast bodies along a
// straight line. The path of a body that bounces off a static shape is traced from impact to
// impact, and shapes that it meets get speculative contacts, so that the solver bounces it off them
// with its laws of restitution and friction. What the trace does not foresee, the sweep at the end
// of the step stops (sweep.c).
#include "collide/distance.h"
#include "detect/broad_phase.h"
#include "detect/detect.h"
#include "detect/detection.h"
#include "detect/narrow_phase.h"

typedef struct ccd_path {
  tn_world *world;
  const shape *shape;
  tn_vec3 v;            // m/s
  tn_vec3 traversed;    // from the start of the step to the last impact, m
  tn_vec3 displacement; // from there to the end of the step at velocity v, m
  int count;            // of hit_shapes
  int32_t hit_shapes[TUNING_CCD_MAX_IMPACTS];
  // The next impact: shape slot or NO_SLOT, fraction of `displacement`, and normal away from it.
  int32_t wall;
  float fraction;
  tn_vec3 normal;
} ccd_path;

// The path in the frame of a static shape.
typedef struct relative_view {
  pose at;
  tn_vec3 displacement, traversed;
} relative_view;

static relative_view relative_view_of(const ccd_path *t, const shape *wall)
{
  world_pose there = shape_world_pose(t->world, wall);
  tn_quat back = tn_quat_conjugate(dquat_round(there.q));
  relative_view v = {world_pose_relative(there, t->shape->shape_cache.pose),
                     tn_rotate(back, t->displacement), tn_rotate(back, t->traversed)};
  v.at.p = tn_add(v.at.p, v.traversed);
  return v;
}

static bool visit_wall(int32_t slot, void *context)
{
  ccd_path *t = context;
  const shape *wall = &t->world->shapes[slot];
  bool left = t->count > 0 && slot == t->hit_shapes[t->count - 1];
  bool rail = wall->geometry.kind == TN_SHAPE_WIRE; // wires have contacts of their own
  if (left || rail || wall->def.sensor || !pair_should_collide(t->world, t->shape, wall)) {
    return true;
  }
  relative_view v = relative_view_of(t, wall);
  cast_hit hit;
  if (geometry_cast(&wall->geometry, &t->shape->geometry, v.at, v.displacement, 0.0f, 1.0f, &hit) &&
      (t->wall == NO_SLOT || hit.fraction < t->fraction ||
       (hit.fraction == t->fraction && slot < t->wall))) {
    t->wall = slot;
    t->fraction = hit.fraction;
    t->normal = tn_rotate(dquat_round(shape_world_pose(t->world, wall).q), hit.normal);
  }
  return true;
}

static void extend_axis(double *lower, double *upper, float traversed, float displacement)
{
  *lower += (double)(traversed + fminf(displacement, 0.0f));
  *upper += (double)(traversed + fmaxf(displacement, 0.0f));
}

static void cast_static(ccd_path *t)
{
  world_aabb box = shape_tight_aabb(t->world, t->shape);
  extend_axis(&box.lower.x, &box.upper.x, t->traversed.x, t->displacement.x);
  extend_axis(&box.lower.y, &box.upper.y, t->traversed.y, t->displacement.y);
  extend_axis(&box.lower.z, &box.upper.z, t->traversed.z, t->displacement.z);
  t->wall = NO_SLOT;
  tree_query(&t->world->detection->static_tree, box, visit_wall, t);
}

static bool is_hit_already(const ccd_path *t)
{
  for (int i = 0; i < t->count; ++i) {
    if (t->hit_shapes[i] == t->wall) {
      return true;
    }
  }
  return false;
}

// Adds a contact with gaps from the pose at the start of the step, if that is in front of the wall.
static bool add_predicted_contact(const ccd_path *t)
{
  tn_world *world = t->world;
  shape *wall = &world->shapes[t->wall];
  relative_view v = relative_view_of(t, wall);
  manifold found[MAX_MANIFOLDS];
  int count = collide_swept(wall, t->shape, v.at, v.displacement, found, MAX_MANIFOLDS), kept = 0;
  for (int i = 0; i < count; ++i) {
    float gap = -tn_dot(found[i].normal, v.traversed);
    for (int k = 0; k < found[i].count; ++k) {
      found[i].points[k].gap += gap;
    }
    if (found[i].points[0].gap > 0.0f) {
      if (t->shape < wall) {
        manifold_flip(&found[i], v.at);
      }
      found[kept++] = found[i];
    }
  }
  return continuous_add_contacts(world, (int32_t)(t->shape - world->shapes), t->wall, found, kept);
}

// Impact law of impact.c for a ball that does not spin: restitution e, friction up to mu (1 + e)
// times the approach speed, until the ball rolls.
static void bounce_velocity(ccd_path *t)
{
  const shape *wall = &t->world->shapes[t->wall];
  tn_material both = tn_materials_combine(&t->shape->def.material, &wall->def.material);
  float mu_dynamic = both.dynamic_friction, e = both.restitution;
  float closing = -tn_dot(t->normal, t->v);
  if (closing > 0.0f) {
    tn_vec3 slide = tn_add(t->v, tn_scale(closing, t->normal));
    float most = mu_dynamic * (1.0f + e) * closing / fmaxf(tn_length(slide), TUNING_CCD_MIN_SLIDE);
    tn_vec3 bounced = tn_scale(e * closing, t->normal);
    t->v = tn_add(bounced, tn_scale(1.0f - fminf(most, TUNING_CCD_ROLLING_LOSS), slide));
  }
}

static bool trace_path(tn_world *world, const shape *s, float dt)
{
  const body_state *state = &world->state[s->body];
  ccd_path t = {.world = world, .shape = s, .v = tn_v3(state->v[0], state->v[1], state->v[2])};
  float left = dt;
  while (t.count < TUNING_CCD_MAX_IMPACTS) {
    t.displacement = tn_scale(left, t.v);
    if (tn_length(t.displacement) <= s->inner_radius) {
      break;
    }
    cast_static(&t);
    if (t.wall == NO_SLOT) {
      break;
    }
    if (t.count > 0 && !is_hit_already(&t) && !add_predicted_contact(&t)) {
      return false;
    }
    t.traversed = tn_add(t.traversed, tn_scale(t.fraction, t.displacement));
    left *= 1.0f - t.fraction;
    t.hit_shapes[t.count++] = t.wall;
    bounce_velocity(&t);
  }
  return true;
}

// Only a shape with a contact to a static shape can bounce off one in this step.
static bool has_static_contact(const tn_world *world, const shape *s)
{
  for (int32_t link = s->first_pair; link != NO_SLOT;
       link = world->pairs[link / 2].next[link % 2]) {
    const pair *p = &world->pairs[link / 2];
    if (p->first_contact != NO_SLOT && world->shapes[p->shape[1 - link % 2]].is_static) {
      return true;
    }
  }
  return false;
}

bool continuous_update(tn_world *world, float dt)
{
  for (int32_t i = 0; RULE(continuous_path) && i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    const float *v = world->state[world->awake[i]].v;
    float displacement = dt * tn_length(tn_v3(v[0], v[1], v[2]));
    for (int32_t k = b->first_shape; k != NO_SLOT; k = world->shapes[k].next) {
      const shape *s = &world->shapes[k];
      bool fast =
          b->type == TN_BODY_DYNAMIC && displacement > s->inner_radius && !shape_is_complex(s);
      if (fast && !s->def.sensor && has_static_contact(world, s) && !trace_path(world, s, dt)) {
        return false;
      }
    }
  }
  return true;
}
