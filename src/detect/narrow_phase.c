// Narrow phase: contact manifolds of a pair, or a lower bound of its gap. Runs on any thread: it
// writes only the pair, its contacts and its result.
#include "detect/narrow_phase.h"

#include "base/prefetch.h"
#include "collide/distance.h"
#include "collide/surface.h"
#include "detect/detection.h"
#include "detect/pair_list.h"

#include <math.h>

static tn_vec3 vec3_of(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// Upper bound of the approach of the two surfaces in dt, m.
static float closing_distance(const tn_world *world, const shape *a, const shape *b, float dt)
{
  const body_state *sa = &world->state[a->body];
  const body_state *sb = &world->state[b->body];
  float turn_a = tn_length(vec3_of(sa->w)), turn_b = tn_length(vec3_of(sb->w));
  // A plane has an infinite extent: 0 * inf would be NaN.
  float turn = (turn_a > 0.0f ? turn_a * a->shape_cache.max_extent : 0.0f) +
               (turn_b > 0.0f ? turn_b * b->shape_cache.max_extent : 0.0f);
  return dt * (tn_length(tn_sub(vec3_of(sb->v), vec3_of(sa->v))) + turn);
}

// The span of a wire's axis follows the motion, and so has to be found again.
static bool follows_wire(const shape *a, const shape *b)
{
  return a->geometry.kind == TN_SHAPE_WIRE || b->geometry.kind == TN_SHAPE_WIRE;
}

static bool pose_is_unchanged(const pair *p, pose now, float size)
{
  tn_vec3 d = tn_sub(now.p, p->manifold_pose.p);
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->manifold_pose.q));
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z));
  return RULE(manifold_reuse) && tn_length(d) < TUNING_MANIFOLD_REUSE_LENGTH * size &&
         2.0f * sine < TUNING_MANIFOLD_REUSE_ANGLE;
}

// For motion larger than the other shape's thickness, where the discrete test would miss the
// contact.
int collide_swept(const shape *a, const shape *b, pose at, tn_vec3 displacement, manifold *out,
                  int room)
{
  cast_hit hit;
  if (!geometry_cast(&a->geometry, &b->geometry, at, displacement, 0.0f, 1.0f, &hit) ||
      hit.fraction <= 0.0f) {
    return 0;
  }
  pose there = at;
  there.p = tn_add(at.p, tn_scale(hit.fraction, displacement));
  float margin = TUNING_CONTACT_MARGIN * fminf(shape_size(a), shape_size(b));
  int count = collide(&a->geometry, &b->geometry, there, margin, out, room);
  for (int i = 0; i < count; ++i) {
    float gap = tn_dot(out[i].normal, tn_sub(at.p, there.p));
    for (int k = 0; k < out[i].count; ++k) {
      out[i].points[k].gap += gap;
    }
  }
  return count;
}

static bool needs_continuous(const tn_world *world, const shape *a, const shape *b,
                             float displacement)
{
  const body *sides[2] = {&world->bodies[a->body], &world->bodies[b->body]};
  bool both_dynamic = sides[0]->type == TN_BODY_DYNAMIC && sides[1]->type == TN_BODY_DYNAMIC;
  if (!RULE(continuous) || (shape_is_complex(a) && shape_is_complex(b))) {
    return false;
  }
  return displacement > fminf(a->inner_radius, b->inner_radius) &&
         (!both_dynamic || sides[0]->bullet || sides[1]->bullet);
}

// Displacement of B relative to A in dt, in A's frame.
static tn_vec3 relative_displacement(const tn_world *world, const shape *a, const shape *b,
                                     world_pose at_a, float dt)
{
  tn_vec3 v = tn_sub(vec3_of(world->state[b->body].v), vec3_of(world->state[a->body].v));
  return tn_rotate(tn_quat_conjugate(dquat_round(at_a.q)), tn_scale(dt, v));
}

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

// Reuses the manifolds: points and normal stay fixed in the shapes, only the gaps change. In
// double: rounding errors of the gaps would make towers tip over.
static void update_gaps(const tn_world *world, const pair *p, world_pose at_a, world_pose at_b)
{
  for (int32_t slot = p->first_contact; slot != NO_SLOT; slot = world->contacts[slot].next) {
    manifold *m = &world->contacts[slot].manifold;
    // The normal in A's, world and B's axes.
    tn_pos na = wide(m->normal);
    tn_pos n = dquat_rotate(at_a.q, na);
    tn_pos nb = dquat_rotate(dquat_conjugate(at_b.q), n);
    double apart = pos_dot(n, pos_sub(at_b.p, at_a.p));
    for (int i = 0; i < m->count; ++i) {
      double gap = apart + pos_dot(nb, wide(m->points[i].b)) - pos_dot(na, wide(m->points[i].a));
      m->points[i].gap = (float)gap - m->radius_a - m->radius_b;
    }
  }
}

// Fits the wire's curve to the part that a body may pass in this step, which may span several
// cubics.
static void select_wire_span(const tn_world *world, const shape *a, const shape *b, world_pose at_a,
                             world_pose at_b, float dt, manifold *m)
{
  bool first = m->round_side == 1; // A is the wire
  const shape *rail = first ? a : b;
  const shape *round = first ? b : a;
  tn_vec3 v = tn_sub(vec3_of(world->state[round->body].v), vec3_of(world->state[rail->body].v));
  v = tn_rotate(tn_quat_conjugate(dquat_round((first ? at_a : at_b).q)), v);
  tn_vec3 along = wire_contact_tangent(rail->geometry.wire, m);
  float length = tn_length(along);
  float displacement = length > 0.0f ? dt * tn_dot(v, along) / length : 0.0f;
  float spare = TUNING_WIRE_SPAN_MARGIN * fabsf(displacement);
  wire_fit_curve(rail->geometry.wire, m, spare + fmaxf(-displacement, 0.0f),
                 spare + fmaxf(displacement, 0.0f));
}

// ---------------------------------------------------------------------------------------------
// Separated pairs. Most pairs are apart and stay so: a lower bound of the gap is enough.

// Bound of the motion of any point of B in A's frame since manifold_pose.
static float max_displacement(const pair *p, pose now, float bounding_radius)
{
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->manifold_pose.q));
  // Sine of half the angle: a point at distance r moves by the chord 2 r sine, with a margin here.
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z));
  return tn_length(tn_sub(now.p, p->manifold_pose.p)) + TUNING_ARC_BOUND * sine * bounding_radius;
}

// Gap along the direction n from A to B, by support functions.
static float gap_along(const shape *a, const shape *b, pose at, tn_vec3 n)
{
  tn_vec3 on_a = convex_support(&a->geometry, n);
  tn_vec3 on_b = convex_support(&b->geometry, pose_inverse_vector(at, tn_scale(-1.0f, n)));
  return tn_dot(n, tn_sub(pose_point(at, on_b), on_a));
}

// A direction along which the shapes are apart, if they are nearer than `limit`.
static bool find_axis(pair *p, const shape *a, const shape *b, pose at, float limit, tn_vec3 *axis)
{
  if (a->geometry.kind != TN_SHAPE_BOX || b->geometry.kind != TN_SHAPE_BOX) {
    return convex_axis(&a->geometry, &b->geometry, at, limit, &p->start, axis);
  }
  manifold nearest; // separating axes of boxes need no distance
  bool found = collide(&a->geometry, &b->geometry, at, limit, &nearest, 1) > 0;
  *axis = nearest.normal;
  return found;
}

// Whether two shapes without a contact are still farther apart than `margin`. If the stored bound
// does not prove it, min_gap is measured again.
static bool stays_separated(pair *p, const shape *a, const shape *b, pose at, float margin,
                            float size)
{
  if (p->is_new || p->first_contact != NO_SLOT || !shape_is_bounded(a) || !shape_is_bounded(b)) {
    p->min_gap = 0.0f;
    p->travel_limit = 0.0;
    return false;
  }
  if (!p->stale_pose && max_displacement(p, at, b->bounding_radius) + margin < p->min_gap) {
    return true;
  }
  tn_vec3 axis;
  p->manifold_pose = at;
  p->stale_pose = false;
  p->min_gap = margin + TUNING_SEPARATION_MARGIN * size;
  if (find_axis(p, a, b, at, p->min_gap, &axis)) {
    p->min_gap = gap_along(a, b, at, axis);
  }
  p->travel_limit = travel_until_contact(&a->shape_cache, &b->shape_cache, p->min_gap);
  return p->min_gap > margin;
}

static void collide_pair(const tn_world *world, int32_t index, float dt)
{
  pair_result *found = &world->detection->found[index];
  pair *p = &world->pairs[world->detection->active_pairs[index]];
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  world_pose at_a = a->shape_cache.pose;
  world_pose at_b = b->shape_cache.pose;
  pose at = world_pose_relative(at_a, at_b);
  if (p->sensor) {
    found->overlap = geometry_overlap(&a->geometry, &b->geometry, at);
    return;
  }
  float size = fminf(shape_size(a), shape_size(b));
  bool known = !p->is_new && !p->stale_pose && p->first_contact != NO_SLOT;
  if (known && !follows_wire(a, b) && pose_is_unchanged(p, at, size)) {
    found->count = KEPT_MANIFOLDS;
    update_gaps(world, p, at_a, at_b);
    return;
  }
  float close = closing_distance(world, a, b, dt);
  float bounce =
      closing_ahead(close, fmaxf(a->shape_cache.restitution, b->shape_cache.restitution));
  if (stays_separated(p, a, b, at, TUNING_CONTACT_MARGIN * size + bounce, size)) {
    found->count = KEPT_MANIFOLDS;
    return;
  }
  float ahead = bounce > close ? bounce : fminf(close, TUNING_CONTACT_MARGIN_CAP * size);
  float margin = TUNING_CONTACT_MARGIN * size + (RULE(speculative_margin) ? ahead : 0.0f);
  manifold *out = &world->detection->found_manifolds[found->first];
  found->count = collide_from(&a->geometry, &b->geometry, at, margin, &p->start, out, found->room);
  bool fast = needs_continuous(world, a, b, close);
  tn_vec3 displacement = relative_displacement(world, a, b, at_a, dt);
  if (found->count == 0 && fast) {
    if (shape_is_complex(b) || b->geometry.kind == TN_SHAPE_PLANE) {
      // Casts move the convex shape: swap the shapes.
      pose back = pose_inverse(at);
      found->count = collide_swept(
          b, a, back, pose_inverse_vector(at, tn_scale(-1.0f, displacement)), out, found->room);
      for (int i = 0; i < found->count; ++i) {
        manifold_flip(&out[i], back);
      }
    } else {
      found->count = collide_swept(a, b, at, displacement, out, found->room);
    }
  }
  for (int i = 0; i < found->count; ++i) {
    if (out[i].form == MANIFOLD_WIRE) {
      select_wire_span(world, a, b, at_a, at_b, dt, &out[i]);
    }
  }
  p->manifold_pose = at;
  p->stale_pose = false;
}

// ---------------------------------------------------------------------------------------------
// Spheres and capsules in lanes

// The pair has one round contact with one point: only its position changes.
static bool is_continued(const tn_world *world, const pair *p)
{
  const contact *c = p->first_contact == NO_SLOT ? NULL : &world->contacts[p->first_contact];
  return c && !p->is_new && c->next == NO_SLOT && c->manifold.form == MANIFOLD_ROUND &&
         c->manifold.count == 1;
}

static void set_capsule_point(manifold *m, const capsule_batch *batch, int i)
{
  m->normal = tn_v3(batch->nx[i], batch->ny[i], batch->nz[i]);
  m->points[0].a.y = batch->along_a[i];
  m->points[0].b.y = batch->along_b[i];
  m->points[0].gap = batch->gap[i];
}

static void make_capsule_manifold(const shape *a, const shape *b, manifold *m)
{
  float ha = a->shape_cache.half_length, hb = b->shape_cache.half_length;
  *m = (manifold){.form = MANIFOLD_ROUND, .count = 1};
  m->radius_a = a->shape_cache.radius;
  m->radius_b = b->shape_cache.radius;
  m->segment[0][0] = tn_v3(0.0f, -ha, 0.0f);
  m->segment[0][1] = tn_v3(0.0f, ha, 0.0f);
  m->segment[1][0] = tn_v3(0.0f, -hb, 0.0f);
  m->segment[1][1] = tn_v3(0.0f, hb, 0.0f);
}

static void apply_capsule_result(const tn_world *world, const capsule_batch *batch, int i,
                                 int32_t index, float dt)
{
  pair_result *found = &world->detection->found[index];
  pair *p = &world->pairs[world->detection->active_pairs[index]];
  if (batch->needs_scalar[i] != 0.0f) {
    collide_pair(world, index, dt);
    return;
  }
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  p->stale_pose = true;
  p->min_gap = batch->gap[i];
  p->travel_limit = travel_until_contact(&a->shape_cache, &b->shape_cache, p->min_gap);
  if (batch->gap[i] > batch->margin[i]) {
    found->count = p->first_contact == NO_SLOT && !p->is_new ? KEPT_MANIFOLDS : 0;
  } else if (is_continued(world, p)) {
    contact *c = &world->contacts[p->first_contact];
    found->count = KEPT_MANIFOLDS;
    c->fixed_normal =
        RULE(fixed_normal) && batch->fixed_normal[i] != 0.0f && world->method == TN_METHOD_TENON;
    set_capsule_point(&c->manifold, batch, i);
  } else {
    found->count = 1;
    make_capsule_manifold(a, b, &world->detection->found_manifolds[found->first]);
    set_capsule_point(&world->detection->found_manifolds[found->first], batch, i);
  }
}

static void add_to_batch(const tn_world *world, const pair *p, capsule_batch *batch, int i)
{
  for (int side = 0; side < 2; ++side) {
    batch->shape[side][i] = world->shapes[p->shape[side]].shape_cache.axis;
    batch->motion[side][i] = world->state[p->body[side]].motion;
  }
  tn_pos a = world->shapes[p->shape[0]].shape_cache.pose.p,
         b = world->shapes[p->shape[1]].shape_cache.pose.p;
  batch->x[i] = (float)(b.x - a.x);
  batch->y[i] = (float)(b.y - a.y);
  batch->z[i] = (float)(b.z - a.z);
}

static void collide_batch(const tn_world *world, capsule_batch *batch, const int32_t *index,
                          int count, float dt)
{
  // Fill idle lanes with the last pair.
  for (int i = count; i % BLOCK_WIDTH != 0; ++i) {
    add_to_batch(world, &world->pairs[world->detection->active_pairs[index[count - 1]]], batch, i);
  }
  world->detection->collide_capsule_batch(batch, count, dt);
  for (int i = 0; i < count; ++i) {
    apply_capsule_result(world, batch, i, index[i], dt);
  }
}

// Loads the cache lines that colliding the pair will need; shapes lie scattered in memory.
KERNEL void prefetch_pair(const tn_world *world, const pair *p)
{
  for (int side = 0; side < 2; ++side) {
    const shape_cache *s = &world->shapes[p->shape[side]].shape_cache;
    PREFETCH(s);
    PREFETCH(&s->pose);
  }
  if (p->first_contact != NO_SLOT) {
    PREFETCH(&world->contacts[p->first_contact].manifold);
    PREFETCH(world->contacts[p->first_contact].manifold.points);
  }
}

void collide_pairs(const tn_world *world, int32_t first, int32_t last, float dt)
{
  capsule_batch batch;
  int32_t index[CAPSULE_BATCH];
  int count = 0;
  for (int32_t i = first; i < last; ++i) {
    const pair *p = &world->pairs[world->detection->active_pairs[i]];
    if (i + PREFETCH_DISTANCE < last) {
      prefetch_pair(world, &world->pairs[world->detection->active_pairs[i + PREFETCH_DISTANCE]]);
    }
    if (!p->round) {
      collide_pair(world, i, dt);
      continue;
    }
    add_to_batch(world, p, &batch, count);
    index[count++] = i;
    if (count == CAPSULE_BATCH) {
      collide_batch(world, &batch, index, count, dt);
      count = 0;
    }
  }
  collide_batch(world, &batch, index, count, dt);
}
