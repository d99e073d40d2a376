// Continuous collision, the end of a step: no body passes through another one.
//
// Contacts are found once, at the start of a step, for the motion expected then. A body that is
// deflected, that turns about a stopped corner or meets several walls may end its step deep inside
// a wall or beyond it. So the displacement of each fast body is swept from its pose at the start of
// the step to its pose at the end, with its whole shape and its rotation. Let f be the signed
// distance of two convex shapes, negative when they overlap. A body has crossed a shape if
//
//   f(t) < -core,  core = TUNING_SWEEP_CORE * inner radius of the body's shape
//
// anywhere on the way: then it stops where f = -slop, with the whole body on the near side, and an
// impact there removes the velocity of approach. It flies on from there, to the next stop. Poses at
// the end of a step are thereby always connected to those at its start by a path without a
// crossing, whatever the solver does.
//
// f(t) is at least the separation along any fixed n, so with the normal n of the shortest
// translation at t
//
//   f(t + s) >= f(t) - s (-n . u + W |n x e| r)
//
// where u is the relative displacement, W and e rate and axis of the rotation, and r the extent of
// the shape: conservative advancement (Mirtich 1996), which also holds for overlapping shapes.
#include "detect/sweep.h"

#include "base/dvec.h"
#include "collide/bvh.h"
#include "collide/distance.h"
#include "collide/material.h"
#include "collide/surface.h"
#include "collide/surface_contacts.h"
#include "data/world.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "detect/narrow_phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_GRAIN 64 // bodies per task
#define MOVING_GRAIN 4 // bodies per task that may meet moving ones

// Motion of a body over the step, as a straight line and a rotation about a fixed axis.
typedef struct motion {
  tn_pos center;   // at the start, m
  dquat rotation;  // at the start
  tn_vec3 move;    // m
  dquat turn;      // w >= 0
  tn_vec3 axis;    // unit, or zero
  float turn_rate; // largest rate of the rotation, rad per step
} motion;

static void set_turn(motion *m, dquat turn)
{
  double sign = turn.w < 0.0 ? -1.0 : 1.0;
  m->turn_rate = 0.0f;
  m->turn = dquat_normalize((dquat){sign * turn.x, sign * turn.y, sign * turn.z, sign * turn.w});
  tn_vec3 sine = tn_v3((float)m->turn.x, (float)m->turn.y, (float)m->turn.z);
  float length = tn_length(sine);
  if (length > 0.0f) {
    m->axis = tn_scale(1.0f / length, sine);
    // motion_pose() turns along the chord between two quaternions: fastest in its middle, where the
    // rate is 4 tan(angle / 4).
    m->turn_rate = 4.0f * length / (1.0f + (float)m->turn.w);
  }
}

// The motion that the solver found for the step.
static motion motion_of(const tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  const float *dq = world->state[slot].dq;
  motion m = {.center = b->center, .rotation = b->rotation, .turn = {0.0, 0.0, 0.0, 1.0}};
  if (b->type != TN_BODY_STATIC && !b->asleep) {
    m.move = vec3_from_floats(world->state[slot].dx);
    set_turn(&m, (dquat){(double)dq[0], (double)dq[1], (double)dq[2], (double)dq[3]});
  }
  return m;
}

// Free motion from a pose with the body's present velocities for a time, s. The rotation should be
// at most about 1 rad.
static motion motion_from(const tn_world *world, int32_t slot, world_pose from, float time)
{
  tn_vec3 w = vec3_from_floats(world->state[slot].w);
  motion m = {.center = from.p, .rotation = from.q, .turn = {0.0, 0.0, 0.0, 1.0}};
  m.move = tn_scale(time, vec3_from_floats(world->state[slot].v));
  // tan(angle / 2) to the third order.
  double half = 0.5 * (double)time, square = half * half * (double)tn_dot(w, w);
  half *= 1.0 + square / 3.0;
  set_turn(&m, (dquat){half * (double)w.x, half * (double)w.y, half * (double)w.z, 1.0});
  return m;
}

static world_pose motion_pose(const motion *m, double t)
{
  dquat part = {t * m->turn.x, t * m->turn.y, t * m->turn.z, 1.0 + t * (m->turn.w - 1.0)};
  world_pose at = {pos_add(m->center, pos_scale(t, pos_from_vec3(m->move))),
                   dquat_mul(dquat_normalize(part), m->rotation)};
  return at;
}

// The part of a motion from t to `end`.
static motion motion_between(const motion *m, double t, double end)
{
  world_pose from = motion_pose(m, t), to = motion_pose(m, end);
  motion rest = {.center = from.p, .rotation = from.q, .turn = {0.0, 0.0, 0.0, 1.0}};
  rest.move = tn_scale((float)(end - t), m->move);
  set_turn(&rest, dquat_mul(to.q, dquat_conjugate(from.q)));
  return rest;
}

static world_pose shape_pose_at(const motion *m, const shape *s, double t)
{
  world_pose of = motion_pose(m, t);
  world_pose at = {pos_add(of.p, dquat_rotate(of.q, s->local_position)),
                   dquat_mul(of.q, s->local_rotation)};
  return at;
}

// Bound of the distance from the body's centre of mass to what rotation moves, m.
static float turning_extent(const shape *s)
{
  float offset = tn_length(pos_round(s->local_position));
  if (s->geometry.kind == TN_SHAPE_SPHERE) {
    return offset;
  }
  return s->geometry.kind == TN_SHAPE_CAPSULE ? offset + s->geometry.half_length
                                              : offset + s->bounding_radius;
}

// Bound of the motion of any point of the shape, m; infinite extents of planes do not turn.
static float travel_of(const motion *m, const shape *s)
{
  return tn_length(m->move) + (m->turn_rate > 0.0f ? m->turn_rate * turning_extent(s) : 0.0f);
}

// ---------------------------------------------------------------------------------------------
// Time of impact of two shapes

// Where two shapes meet at a stop: the point that touches there, and that which gets deepest later.
typedef struct stop_point {
  tn_vec3 normal; // unit, world
  tn_pos point;   // m, world
} stop_point;

enum { STOP_POINTS = 2 };

// Convex B against A, or against a part of A.
typedef struct sweep_pair {
  const motion *motion_a, *motion_b;
  const shape *a, *b;
  float core, slop; // m
  float turn_a;     // bound of the motion of A's frame at B due to the rotation of A, m
  float limit;      // earliest stop found so far, fraction of the motion
  bool found;
  bool always;                    // a part of a motion that is fast as a whole
  stop_point points[STOP_POINTS]; // there, normals from A to B
} sweep_pair;

typedef struct sweep_gap {
  float distance;
  stop_point at; // normal from A to B
} sweep_gap;

static separation plane_separation(const geometry *b, pose b_in_a)
{
  tn_vec3 up = {0.0f, 1.0f, 0.0f};
  tn_vec3 lowest = convex_support(b, pose_inverse_vector(b_in_a, tn_scale(-1.0f, up)));
  tn_vec3 at = pose_point(b_in_a, lowest);
  return (separation){at.y, up, tn_v3(at.x, 0.0f, at.z), at};
}

static sweep_gap gap_at(const sweep_pair *k, const geometry *part, float t)
{
  world_pose a = shape_pose_at(k->motion_a, k->a, (double)t);
  world_pose b = shape_pose_at(k->motion_b, k->b, (double)t);
  pose b_in_a = world_pose_relative(a, b);
  separation s = part->kind == TN_SHAPE_PLANE ? plane_separation(&k->b->geometry, b_in_a)
                                              : convex_distance(part, &k->b->geometry, b_in_a);
  return (sweep_gap){
      s.distance,
      {tn_rotate(dquat_round(a.q), s.normal), pos_add(a.p, dquat_rotate(a.q, pos_from_vec3(s.b)))}};
}

// Largest rate at which the gap can shrink from now on, m per step.
static float closing_rate(const sweep_pair *k, const sweep_gap *gap)
{
  const motion *b = k->motion_b;
  tn_vec3 u = tn_sub(b->move, k->motion_a->move);
  if (k->turn_a > 0.0f) {
    return tn_length(u) + b->turn_rate * turning_extent(k->b) + k->turn_a;
  }
  float across = tn_length(tn_cross(gap->at.normal, b->axis));
  return -tn_dot(gap->at.normal, u) + b->turn_rate * across * turning_extent(k->b);
}

// Advances `t` until the gap is below `level` + `band`; false if it is not up to `end`.
static bool advance(const sweep_pair *k, const geometry *part, float level, float band, float end,
                    float *t, sweep_gap *gap)
{
  for (int i = 0; i < TUNING_SWEEP_ITERATIONS; ++i) {
    if (gap->distance < level + band) {
      return true;
    }
    float rate = closing_rate(k, gap);
    if (!(rate > 0.0f) || !(*t + (gap->distance - level) / rate < end)) {
      return false;
    }
    *t += (gap->distance - level) / rate;
    *gap = gap_at(k, part, *t);
  }
  return true;
}

// The latest place before a crossing at `end` where the gap is `level`, by bisection; all of the
// way up to `end` is free. 0 if the gap is smaller at the start already.
static float last_at_level(const sweep_pair *k, const geometry *part, float level, float end)
{
  float low = 0.0f, high = end;
  for (int i = 0; i < TUNING_SWEEP_BISECTIONS; ++i) {
    float middle = 0.5f * (low + high);
    *(gap_at(k, part, middle).distance >= level ? &low : &high) = middle;
  }
  return low;
}

// Sweeps B against one convex part of A, and lowers the limit if it crosses it.
static void sweep_part(sweep_pair *k, const geometry *part)
{
  float t = 0.0f;
  sweep_gap gap = gap_at(k, part, t);
  // Shapes that overlap at the start may separate, but not sink in much further.
  float start = fminf(gap.distance, 0.0f), band = TUNING_SWEEP_BAND * k->core;
  float sink = (start > -k->core ? TUNING_SWEEP_SINK : TUNING_SWEEP_DEEP_SINK) * k->core;
  float level = fminf(-k->core, start - sink - band);
  if (!advance(k, part, level, band, 1.0f, &t, &gap)) {
    return;
  }
  world_pose deep = shape_pose_at(k->motion_b, k->b, (double)t);
  float at_stop = fminf(-k->slop, start - sink);
  float stop = last_at_level(k, part, at_stop, t);
  if (k->found && stop >= k->limit) {
    return;
  }
  world_pose at = shape_pose_at(k->motion_b, k->b, (double)stop);
  dquat turn = dquat_mul(at.q, dquat_conjugate(deep.q));
  k->limit = stop;
  k->found = true;
  k->points[0] = gap_at(k, part, stop).at;
  k->points[1] =
      (stop_point){gap.at.normal, pos_add(at.p, dquat_rotate(turn, pos_sub(gap.at.point, deep.p)))};
}

static void visit_facet(const tn_vec3 corner[3], void *context)
{
  geometry part = triangle_geometry(corner);
  sweep_part(context, &part);
}

// The facets of A that B may meet: those in its box along its motion in A's frame.
static void sweep_surface(sweep_pair *k)
{
  world_pose a0 = shape_pose_at(k->motion_a, k->a, 0.0), a1 = shape_pose_at(k->motion_a, k->a, 1.0);
  world_pose b0 = shape_pose_at(k->motion_b, k->b, 0.0), b1 = shape_pose_at(k->motion_b, k->b, 1.0);
  world_pose c0 = motion_pose(k->motion_b, 0.0), c1 = motion_pose(k->motion_b, 1.0);
  tn_vec3 displacement = tn_sub(world_pose_relative(a1, c1).p, world_pose_relative(a0, c0).p);
  aabb last = geometry_aabb(&k->b->geometry, world_pose_relative(a1, b1));
  last = (aabb){tn_sub(last.lower, displacement), tn_sub(last.upper, displacement)};
  aabb box = aabb_union(geometry_aabb(&k->b->geometry, world_pose_relative(a0, b0)), last);
  // Arcs bulge beyond their ends by r (1 - cos(angle / 2)).
  float bulge = (1.0f - (float)k->motion_b->turn.w) * turning_extent(k->b);
  box = aabb_expand(box, bulge + k->turn_a + k->slop);
  if (k->a->geometry.kind == TN_SHAPE_MESH) {
    mesh_sweep_facets(k->a->geometry.mesh, box, displacement, visit_facet, k);
  } else {
    height_field_sweep_facets(k->a->geometry.field, box, displacement, visit_facet, k);
  }
}

static void sweep_shapes(sweep_pair *k)
{
  const motion *a = k->motion_a, *b = k->motion_b;
  if (a->turn_rate > 0.0f) {
    // Points of B are at most so far from A's centre; a large A need not be counted whole.
    float reach = tn_length(pos_round(pos_sub(b->center, a->center))) + tn_length(a->move) +
                  tn_length(b->move) + k->b->shape_cache.max_extent;
    k->turn_a = a->turn_rate * reach;
  }
  float most = tn_length(tn_sub(b->move, a->move)) + k->turn_a;
  most += b->turn_rate > 0.0f ? b->turn_rate * turning_extent(k->b) : 0.0f;
  if (!k->always && !(most > k->core)) {
    return;
  }
  if (shape_is_complex(k->a)) {
    sweep_surface(k);
  } else {
    sweep_part(k, &k->a->geometry);
  }
}

// ---------------------------------------------------------------------------------------------
// One body

typedef enum sweep_flags {
  SWEEP_STOPPED = 1,  // it would have crossed something
  SWEEP_MOVING = 2,   // it may meet moving bodies
  SWEEP_OBSTACLE = 4, // kinematic or a bullet: others may meet it
} sweep_flags;

// A stop of this step: what touched there may touch still.
typedef struct past_stop {
  int32_t obstacle; // body slot
  tn_vec3 normal;   // unit, towards the body, world
  tn_pos point;     // of the body when it stopped, m, world
  tn_vec3 local;    // in the body's principal axes
  float slop;       // m
} past_stop;

enum { PAST_STOPS = 8 };

typedef struct body_sweep {
  tn_world *world;
  int32_t slot;
  motion motion;      // the part that is swept now
  float time, end;    // parts of the step up to its start and its end
  const shape *shape; // of the body, that is swept now
  bool moving;        // moving bodies count as obstacles too
  bool meets_moving;  // there are such bodies
  bool left_box;      // some shape was swept against what is not among its pairs
  // The next stop: fraction of `motion`, normals towards the body.
  float limit;
  stop_point points[STOP_POINTS];
  const shape *stopped; // of the body, or NULL: no stop
  const shape *obstacle;
  float slop; // m, of that pair
  int past_count;
  past_stop past[PAST_STOPS]; // the last ones
} body_sweep;

static bool is_surface(const shape *s)
{
  return shape_is_complex(s) || s->geometry.kind == TN_SHAPE_PLANE;
}

static void sweep_against(body_sweep *t, const shape *other)
{
  motion whole = motion_of(t->world, other->body);
  motion there = motion_between(&whole, (double)t->time, (double)t->end);
  bool swap = is_surface(t->shape);
  float inner = t->shape->inner_radius > 0.0f ? t->shape->inner_radius : other->inner_radius;
  sweep_pair k = {.motion_a = swap ? &t->motion : &there,
                  .motion_b = swap ? &there : &t->motion,
                  .a = swap ? t->shape : other,
                  .b = swap ? other : t->shape,
                  .core = TUNING_SWEEP_CORE * inner,
                  .limit = 1.0f};
  k.slop = TUNING_SWEEP_SLOP * k.core;
  k.always = t->time > 0.0f;
  sweep_shapes(&k);
  bool first = k.limit < t->limit || (k.limit == t->limit && other < t->obstacle);
  if (k.found && (!t->stopped || first)) {
    t->limit = k.limit;
    for (int i = 0; i < STOP_POINTS; ++i) {
      t->points[i] = k.points[i];
      t->points[i].normal = tn_scale(swap ? -1.0f : 1.0f, k.points[i].normal);
    }
    t->stopped = t->shape;
    t->obstacle = other;
    t->slop = k.slop;
  }
}

// Bodies are swept against moving ones in the order of their travel, so that the slower one of a
// pair has its final motion.
static bool is_later(const tn_world *world, int32_t slot, int32_t other)
{
  const sweep_order *order = world->detection->sweep_orders;
  for (int32_t i = world->detection->sweep_order_count - 1; i >= 0 && order[i].body != slot; --i) {
    if (order[i].body == other) {
      return true;
    }
  }
  return false;
}

static void meet(body_sweep *t, const shape *other)
{
  const body *b = &t->world->bodies[t->slot], *o = &t->world->bodies[other->body];
  bool rail = other->geometry.kind == TN_SHAPE_WIRE; // wires have contacts of their own
  if (rail || (is_surface(other) && is_surface(t->shape))) {
    return;
  }
  if (o->type == TN_BODY_STATIC) {
    sweep_against(t, other);
  } else if (o->type == TN_BODY_KINEMATIC || b->bullet || o->bullet) {
    t->meets_moving = true;
    if (t->moving && !is_later(t->world, t->slot, other->body)) {
      sweep_against(t, other);
    }
  }
}

static bool meet_in_tree(int32_t slot, void *context)
{
  body_sweep *t = context;
  const shape *other = &t->world->shapes[slot];
  if (!other->def.sensor && pair_should_collide(t->world, t->shape, other)) {
    meet(t, other);
  }
  return true;
}

// True if the motion since the start of the step keeps the shape inside the box of its broad phase
// pairs.
static bool stays_in_box(const body_sweep *t)
{
  const shape *s = t->shape;
  world_aabb box = shape_tight_aabb(t->world, s);
  tn_vec3 move = t->motion.move;
  double turned = (double)(travel_of(&t->motion, s) - tn_length(move));
  box.lower = tn_p3(box.lower.x - turned + fmin((double)move.x, 0.0),
                    box.lower.y - turned + fmin((double)move.y, 0.0),
                    box.lower.z - turned + fmin((double)move.z, 0.0));
  box.upper = tn_p3(box.upper.x + turned + fmax((double)move.x, 0.0),
                    box.upper.y + turned + fmax((double)move.y, 0.0),
                    box.upper.z + turned + fmax((double)move.z, 0.0));
  return aabb_contains(&s->box, &box);
}

// All obstacles of one shape: those of its pairs, unless it leaves the box that these were searched
// with. `reach` is a bound of its distance from the pose at the start of the step, m.
static void sweep_shape(body_sweep *t, float reach)
{
  const tn_world *world = t->world;
  const shape *s = t->shape;
  if (reach < s->box_slack || (t->time == 0.0f && stays_in_box(t))) {
    for (int32_t link = s->first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      const pair *p = &world->pairs[link / 2];
      if (!p->sensor) {
        meet(t, &world->shapes[p->shape[1 - link % 2]]);
      }
    }
    return;
  }
  t->left_box = true;
  world_aabb box = shape_tight_aabb(world, s);
  double by = (double)reach;
  box.lower = tn_p3(box.lower.x - by, box.lower.y - by, box.lower.z - by);
  box.upper = tn_p3(box.upper.x + by, box.upper.y + by, box.upper.z + by);
  tree_query(&world->detection->static_tree, box, meet_in_tree, t);
  tree_query(&world->detection->moving_tree, box, meet_in_tree, t);
}

// One side of an impact.
typedef struct impact_side {
  int32_t slot;
  bool responds; // dynamic and awake
  AngularState spin;
  V arm; // r x n
} impact_side;

static impact_side impact_side_make(const tn_world *world, int32_t slot, world_pose at,
                                    tn_pos point, V n)
{
  const body *b = &world->bodies[slot];
  impact_side s = {.slot = slot, .responds = b->type == TN_BODY_DYNAMIC && !b->asleep};
  tn_vec3 r = pos_round(pos_sub(point, at.p));
  s.arm = v_cross(v_make(r.x, r.y, r.z), n);
  s.spin = body_spin(world, slot);
  tn_quat q = dquat_round(at.q);
  Q start = {q.x, q.y, q.z, q.w};
  s.spin.start = start;
  return s;
}

static float speed_along(const tn_world *world, const impact_side *s, V n)
{
  const body_state *state = &world->state[s->slot];
  return v_dot(n, v_make(state->v[0], state->v[1], state->v[2])) +
         v_dot(s->arm, v_make(state->w[0], state->w[1], state->w[2]));
}

static float inverse_mass_along(const tn_world *world, const impact_side *s)
{
  V turned = q_unrotate(s->spin.start, s->arm);
  return s->responds
             ? world->state[s->slot].inverse_mass + v_dot(turned, v_mul(s->spin.inverse, turned))
             : 0.0f;
}

static void apply_impulse(tn_world *world, impact_side *s, float impulse, tn_vec3 n)
{
  if (!s->responds) {
    return;
  }
  body_state *state = &world->state[s->slot];
  V turned = v_mul(s->spin.inverse, q_unrotate(s->spin.start, s->arm));
  V dw = v_scale(impulse, q_rotate(s->spin.start, turned));
  tn_vec3 dv = tn_scale(impulse * state->inverse_mass, n);
  float linear[3] = {dv.x, dv.y, dv.z}, angular[3] = {dw.x, dw.y, dw.z};
  for (int i = 0; i < 3; ++i) {
    state->v[i] += linear[i];
    state->w[i] += angular[i];
  }
  body_update_momentum(state, &s->spin);
  body_set_spin(world, s->slot, &s->spin);
}

// Newton's law without friction for one point. Returns whether the sides approached each other.
static bool collide_at(const body_sweep *t, int32_t obstacle, const stop_point *p, world_pose here,
                       world_pose there, float restitution)
{
  tn_world *world = t->world;
  V n = v_make(p->normal.x, p->normal.y, p->normal.z);
  impact_side a = impact_side_make(world, obstacle, there, p->point, n);
  impact_side b = impact_side_make(world, t->slot, here, p->point, n);
  float approach = speed_along(world, &a, n) - speed_along(world, &b, n);
  float mass_term = inverse_mass_along(world, &a) + inverse_mass_along(world, &b);
  if (!(approach > 0.0f)) {
    return false;
  }
  float impulse = (1.0f + restitution) * approach / mass_term;
  apply_impulse(world, &b, impulse, p->normal);
  apply_impulse(world, &a, -impulse, p->normal);
  return true;
}

static void remember_stop(body_sweep *t, const stop_point *p, world_pose here)
{
  tn_pos local = dquat_rotate(dquat_conjugate(here.q), pos_sub(p->point, here.p));
  t->past[t->past_count++ % PAST_STOPS] =
      (past_stop){t->obstacle->body, p->normal, p->point, pos_round(local), t->slop};
}

static world_pose obstacle_pose(const body_sweep *t, int32_t slot)
{
  motion whole = motion_of(t->world, slot);
  motion part = motion_between(&whole, (double)t->time, (double)t->end);
  return motion_pose(&part, (double)t->limit);
}

// The impact at a stop. A body that rocks would sink in with each stop if only one of its corners
// were stopped at a time, so the points of earlier stops that still touch are held as well.
static void collide_at_stop(body_sweep *t)
{
  world_pose here = motion_pose(&t->motion, (double)t->limit);
  world_pose there = obstacle_pose(t, t->obstacle->body);
  tn_material both = tn_materials_combine(&t->stopped->def.material, &t->obstacle->def.material);
  for (int i = 0; i < STOP_POINTS; ++i) {
    collide_at(t, t->obstacle->body, &t->points[i], here, there, both.restitution);
    remember_stop(t, &t->points[i], here);
  }
  int count = t->past_count < PAST_STOPS ? t->past_count : PAST_STOPS;
  bool approaches = true;
  for (int sweep = 0; sweep < TUNING_SWEEP_IMPACTS && approaches; ++sweep) {
    approaches = false;
    for (int i = 0; i < count; ++i) {
      const past_stop *s = &t->past[i];
      stop_point p = {s->normal, pos_add(here.p, dquat_rotate(here.q, pos_from_vec3(s->local)))};
      bool touches = tn_dot(s->normal, pos_round(pos_sub(p.point, s->point))) < s->slop;
      approaches |=
          touches && collide_at(t, s->obstacle, &p, here, obstacle_pose(t, s->obstacle), 0.0f);
    }
  }
}

static void set_displacement(tn_world *world, int32_t slot, world_pose end)
{
  const body *b = &world->bodies[slot];
  body_state *state = &world->state[slot];
  tn_vec3 move = pos_round(pos_sub(end.p, b->center));
  tn_quat turn = dquat_round(dquat_normalize(dquat_mul(end.q, dquat_conjugate(b->rotation))));
  float dx[3] = {move.x, move.y, move.z}, dq[4] = {turn.x, turn.y, turn.z, turn.w};
  memcpy(state->dx, dx, sizeof dx);
  memcpy(state->dq, dq, sizeof dq);
}

// Angular momentum of a body's angular velocity at a rotation.
static void set_momentum(tn_world *world, int32_t slot, dquat at)
{
  AngularState spin = body_spin(world, slot);
  tn_quat q = dquat_round(at);
  Q start = {q.x, q.y, q.z, q.w};
  spin.start = start;
  body_update_momentum(&world->state[slot], &spin);
  body_set_spin(world, slot, &spin);
}

// Angular velocities are those at the end of the step. They go back with the body to where it is
// stopped: with another rotation the same velocity has another energy.
static void turn_back(tn_world *world, int32_t slot, dquat from, dquat to)
{
  float *w = world->state[slot].w;
  tn_pos turned =
      dquat_rotate(dquat_mul(to, dquat_conjugate(from)), pos_from_vec3(vec3_from_floats(w)));
  w[0] = (float)turned.x;
  w[1] = (float)turned.y;
  w[2] = (float)turned.z;
}

static void find_stop(body_sweep *t)
{
  const tn_world *world = t->world;
  const body *b = &world->bodies[t->slot];
  float traversed = tn_length(pos_round(pos_sub(t->motion.center, b->center)));
  t->limit = 1.0f;
  t->stopped = NULL;
  for (int32_t k = b->first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    t->shape = &world->shapes[k];
    float travel = travel_of(&t->motion, t->shape);
    bool fast = travel > TUNING_SWEEP_CORE * t->shape->inner_radius;
    if (!t->shape->def.sensor && t->shape->geometry.kind != TN_SHAPE_WIRE &&
        (fast || t->moving || t->time > 0.0f)) {
      // After a stop it may be turned in any way.
      float turned = t->time > 0.0f ? 2.0f * turning_extent(t->shape) : 0.0f;
      sweep_shape(t, traversed + travel + turned);
    }
  }
}

// A body that has spent its parts stays where it is, or rides on the last obstacle for the rest of
// the step, as far as static shapes let it.
static void ride_on_obstacle(body_sweep *t, int32_t obstacle)
{
  motion whole = motion_of(t->world, obstacle);
  motion rest = motion_between(&whole, (double)t->time, 1.0);
  world_pose to = motion_pose(&rest, 1.0);
  dquat turn = dquat_mul(to.q, dquat_conjugate(rest.rotation));
  tn_pos arm = pos_sub(t->motion.center, rest.center);
  t->motion.move = pos_round(pos_sub(pos_add(to.p, dquat_rotate(turn, arm)), t->motion.center));
  set_turn(&t->motion, turn);
  t->moving = false;
  find_stop(t);
}

// The next part of the free flight: the rest of the step, or as long as the body turns by 1 rad.
// `t->end` is the part of the step at its end.
static void fly_on(body_sweep *t, world_pose at, float dt)
{
  float spin = tn_length(vec3_from_floats(t->world->state[t->slot].w));
  float rest = dt * (1.0f - t->time), time = spin * rest > 1.0f ? 1.0f / spin : rest;
  t->motion = motion_from(t->world, t->slot, at, time);
  t->end = time < rest ? t->time + time / dt : 1.0f;
}

// Follows a body through the step, from stop to stop; after a stop it flies on freely. Returns
// sweep_flags.
static int sweep_body(tn_world *world, int32_t slot, float dt, bool moving)
{
  body_sweep t = {.world = world, .slot = slot, .moving = moving, .end = 1.0f};
  t.motion = motion_of(world, slot);
  bool changed = false;
  int32_t obstacle = NO_SLOT;
  for (int i = 0; i < TUNING_SWEEP_PARTS; ++i) {
    find_stop(&t);
    world_pose at = motion_pose(&t.motion, (double)t.limit);
    if (!t.stopped && t.end == 1.0f) {
      break;
    }
    if (t.stopped) {
      if (!changed) {
        turn_back(world, slot, motion_pose(&t.motion, 1.0).q, at.q);
      }
      changed = true;
      obstacle = t.obstacle->body;
      collide_at_stop(&t);
    }
    t.time += (t.end - t.time) * t.limit;
    fly_on(&t, at, dt);
    if (i == TUNING_SWEEP_PARTS - 1) {
      ride_on_obstacle(&t, obstacle);
    }
  }
  if (changed) {
    world_pose end = motion_pose(&t.motion, (double)t.limit);
    set_displacement(world, slot, end);
    set_momentum(world, slot, end.q);
  }
  return (changed ? SWEEP_STOPPED : 0) | (t.meets_moving ? SWEEP_MOVING : 0);
}

// ---------------------------------------------------------------------------------------------
// All bodies

// Coarse bound of the motion of all shapes of a body: no shape crosses anything. Most bodies end
// here. A point at distance r from the centre of mass moves by the rotation by less than 4 r times
// the sine of half the angle.
static bool hardly_moves(const tn_world *world, int32_t slot)
{
  const body_state *state = &world->state[slot];
  float move = tn_length(vec3_from_floats(state->dx));
  float turn = 4.0f * tn_length(vec3_from_floats(state->dq));
  for (int32_t k = world->bodies[slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    const shape *s = &world->shapes[k];
    if (!(move + turn * s->shape_cache.max_extent < TUNING_SWEEP_CORE * s->inner_radius)) {
      return false;
    }
  }
  return true;
}

// Whether a shape of the body moves far enough to cross something.
static bool may_cross(const tn_world *world, int32_t slot)
{
  if (hardly_moves(world, slot)) {
    return false;
  }
  motion m = motion_of(world, slot);
  for (int32_t k = world->bodies[slot].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    const shape *s = &world->shapes[k];
    if (travel_of(&m, s) > TUNING_SWEEP_CORE * s->inner_radius) {
      return true;
    }
  }
  return false;
}

typedef struct sweep_context {
  tn_world *world;
  float dt;
} sweep_context;

// A body with joints is not swept: a stop of one limb alone would open its joints.
static bool is_swept(const body *b)
{
  return b->type == TN_BODY_DYNAMIC && !has_links(b);
}

static void sweep_task(int first, int last, void *context)
{
  const sweep_context *task = context;
  tn_world *world = task->world;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    const body *b = &world->bodies[slot];
    bool dynamic = b->type == TN_BODY_DYNAMIC;
    int flags =
        is_swept(b) && may_cross(world, slot) ? sweep_body(world, slot, task->dt, false) : 0;
    flags |= !dynamic || b->bullet ? SWEEP_OBSTACLE : 0;
    world->detection->sweep_flags[i] = (uint8_t)flags;
  }
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// Slow bodies may be met as well: marks those near kinematic bodies and bullets.
static void mark_met(const tn_world *world, int32_t obstacle)
{
  for (int32_t k = world->bodies[obstacle].first_shape; k != NO_SLOT; k = world->shapes[k].next) {
    for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      int32_t slot = world->pairs[link / 2].body[1 - link % 2];
      const int32_t *at =
          bsearch(&slot, world->awake, (size_t)world->awake_count, sizeof *world->awake, by_slot);
      if (at && is_swept(&world->bodies[slot])) {
        world->detection->sweep_flags[at - world->awake] |= SWEEP_MOVING;
      }
    }
  }
}

static int by_travel(const void *a, const void *b)
{
  const sweep_order *x = a, *y = b;
  return x->travel != y->travel ? (x->travel > y->travel) - (x->travel < y->travel)
                                : (x->body > y->body) - (x->body < y->body);
}

#if !defined(TN_NO_THREADS)

// Looks for the first stop of bodies that may meet moving ones, while none of them has stopped yet.
static void find_stop_task(int first, int last, void *context)
{
  const sweep_context *task = context;
  for (int i = first; i < last; ++i) {
    sweep_order *order = &task->world->detection->sweep_orders[i];
    body_sweep t = {.world = task->world, .slot = order->body, .moving = true, .end = 1.0f};
    t.motion = motion_of(task->world, order->body);
    find_stop(&t);
    order->stops = t.stopped != NULL;
    order->left_box = t.left_box;
  }
}

enum { STOPPED_BODIES = 32 };

// Bodies that have stopped in sweep_moving(), with a new displacement; more than fit are counted.
typedef struct stopped_bodies {
  int32_t slot[STOPPED_BODIES];
  int32_t count;
} stopped_bodies;

// True if a body whose path was free may now hit a body that has been stopped.
static bool may_meet_stopped(const tn_world *world, const sweep_order *order,
                             const stopped_bodies *stopped)
{
  if (stopped->count > STOPPED_BODIES || (stopped->count > 0 && order->left_box)) {
    return true;
  }
  bool may = false;
  for (int32_t k = world->bodies[order->body].first_shape; k != NO_SLOT && stopped->count > 0;
       k = world->shapes[k].next) {
    for (int32_t link = world->shapes[k].first_pair; link != NO_SLOT;
         link = world->pairs[link / 2].next[link % 2]) {
      for (int32_t i = 0; i < stopped->count; ++i) {
        may = may || world->pairs[link / 2].body[1 - link % 2] == stopped->slot[i];
      }
    }
  }
  return may;
}

static void note_stopped(stopped_bodies *stopped, int32_t slot)
{
  if (stopped->count < STOPPED_BODIES) {
    stopped->slot[stopped->count] = slot;
  }
  stopped->count += 1;
}

// Finds bodies that meet nothing as long as nothing else stops, which most do not.
static void find_first_stops(tn_world *world, int32_t count, float dt)
{
  sweep_context task = {world, dt};
  task_run(world->tasks, find_stop_task, count, MOVING_GRAIN, &task);
}

#else // small: all of them are followed one after the other

typedef struct stopped_bodies {
  int32_t count;
} stopped_bodies;

static bool may_meet_stopped(const tn_world *world, const sweep_order *order,
                             const stopped_bodies *stopped)
{
  (void)world, (void)order, (void)stopped;
  return true;
}

static void note_stopped(stopped_bodies *stopped, int32_t slot)
{
  (void)stopped, (void)slot;
}

static void find_first_stops(tn_world *world, int32_t count, float dt)
{
  (void)world, (void)count, (void)dt;
}

#endif

// Bodies that may meet moving ones, in the order of their travel, one after the other: each changes
// the velocity of what it meets. Most of them meet nothing, which is found on all threads before;
// it stays true unless something in their way has stopped since.
static void sweep_moving(tn_world *world, float dt)
{
  detection *d = world->detection;
  stopped_bodies stopped = {.count = 0};
  int32_t at = 0;
  for (int32_t i = 0; i < world->awake_count; ++i) {
    if (d->sweep_flags[i] & SWEEP_MOVING) {
      tn_vec3 move = vec3_from_floats(world->state[world->awake[i]].dx);
      d->sweep_orders[at++] =
          (sweep_order){.travel = tn_length(move), .body = world->awake[i], .index = i};
    }
  }
  qsort(d->sweep_orders, (size_t)at, sizeof(sweep_order), by_travel);
  find_first_stops(world, at, dt);
  for (int32_t i = 0; i < at; ++i) {
    const sweep_order *order = &d->sweep_orders[i];
    if (!order->stops && !may_meet_stopped(world, order, &stopped)) {
      continue;
    }
    int flags = sweep_body(world, order->body, dt, true);
    d->sweep_flags[order->index] |= (uint8_t)flags;
    if (flags & SWEEP_STOPPED) {
      note_stopped(&stopped, order->body);
    }
  }
}

bool sweep_reserve(tn_world *world)
{
  detection *d = world->detection;
  return heap_reserve(&world->heap, (void **)&d->sweep_flags, &d->sweep_flag_capacity,
                      world->awake_count, sizeof(uint8_t)) &&
         heap_reserve(&world->heap, (void **)&d->sweep_orders, &d->sweep_order_capacity,
                      world->awake_count, sizeof(sweep_order));
}

void sweep_bodies(tn_world *world, float dt)
{
  detection *d = world->detection;
  sweep_context task = {world, dt};
  d->sweep_stop_count = d->sweep_order_count = 0;
  if (!RULE(sweep)) {
    return;
  }
  task_run(world->tasks, sweep_task, world->awake_count, SWEEP_GRAIN, &task);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    if (d->sweep_flags[i] & SWEEP_OBSTACLE) {
      mark_met(world, world->awake[i]);
    }
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    d->sweep_order_count += (d->sweep_flags[i] & SWEEP_MOVING) != 0;
  }
  if (d->sweep_order_count > 0) {
    sweep_moving(world, dt);
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    d->sweep_stop_count += (d->sweep_flags[i] & SWEEP_STOPPED) != 0;
  }
}
