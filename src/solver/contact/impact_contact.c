#include "solver/contact/impact_contact.h"

#include "base/rules.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one impact at a time");

static toi_body load_toi_body(const solver_data *data, int32_t slot, int is_moved)
{
  toi_body f;
  const body_state *state = &data->state[slot];
  body_block *block = &data->bodies[slot / BLOCK_WIDTH];
  const float *ii = data->inertia[slot].inverse;
  int lane = slot % BLOCK_WIDTH;
  f.slot = slot;
  f.moves = is_moved;
  f.body.v = v_make(state->v[0], state->v[1], state->v[2]);
  f.body.w = v_make(state->w[0], state->w[1], state->w[2]);
  f.body.im = is_moved ? state->inverse_mass : 0.0f;
  f.body.dx = v_make(state->dx[0], state->dx[1], state->dx[2]);
  f.body.dq = (Q){state->dq[0], state->dq[1], state->dq[2], state->dq[3]};
  f.body.ii = (S){ii[0], ii[1], ii[2], ii[3], ii[4], ii[5]};
  f.advanced_time = state->advanced_time;
  get_lane(block->spin, lane, &f.spin, FIELDS(AngularState));
  get_lane(block->params, lane, &f.params, FIELDS(BodyStepParams));
  get_lane(block->acceleration, lane, &f.acceleration, 3);
  return f;
}

static void store_toi_body(const solver_data *data, const toi_body *f)
{
  if (!f->moves) {
    return;
  }
  const Body *b = &f->body;
  body_state *state = &data->state[f->slot];
  float motion[8] = {b->v.x, b->v.y, b->v.z, state->inverse_mass,
                     b->w.x, b->w.y, b->w.z, state->constraint_count};
  float moved_by[8] = {b->dx.x, b->dx.y, b->dx.z, f->advanced_time,
                       b->dq.x, b->dq.y, b->dq.z, b->dq.w};
  float inverse[8] = {b->ii.xx, b->ii.yy, b->ii.zz, b->ii.xy, b->ii.xz, b->ii.yz, b->im, 0.0f};
  memcpy(state->motion, motion, sizeof motion);
  memcpy(state->pose, moved_by, sizeof moved_by);
  memcpy(data->inertia[f->slot].inverse, inverse, sizeof inverse);
  set_lane(data->bodies[f->slot / BLOCK_WIDTH].spin, f->slot % BLOCK_WIDTH, &f->spin,
           FIELDS(AngularState));
}

static bool is_moving(const toi_body *f)
{
  return f->moves || v_dot(f->body.v, f->body.v) + v_dot(f->body.w, f->body.w) > 0.0f;
}

static void advance_to(toi_body *f, float time)
{
  if (time > f->advanced_time && is_moving(f)) {
    drift(&f->body, &f->spin, f->params.inverse_inertia_scale, time - f->advanced_time);
    f->advanced_time = time;
  }
}

// A body after the time h with the velocities v: linear, then angular.
static toi_body moved_body(const solver_data *data, int32_t slot, const double *v)
{
  toi_body f = load_toi_body(data, slot, 1);
  f.body.v = v_make((float)v[0], (float)v[1], (float)v[2]);
  f.body.w = v_make((float)v[3], (float)v[4], (float)v[5]);
  advance_to(&f, data->substep.h);
  memcpy(data->state[slot].dx, &f.body.dx, sizeof f.body.dx);
  memcpy(data->state[slot].dq, &f.body.dq, sizeof f.body.dq);
  return f;
}

void predict_pose(const solver_data *data, int32_t slot, const double *v)
{
  moved_body(data, slot, v);
}

void displace_body(const solver_data *data, int32_t slot, const double *v)
{
  toi_body f = moved_body(data, slot, v);
  memcpy(data->inertia[slot].inverse, &f.body.ii, sizeof f.body.ii);
}

toi_contact toi_contact_load(const solver_data *data, const restitution_contact *at)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  toi_contact m;
  ContactState state;
  m.block = &data->contacts[at->block];
  m.lane = at->lane;
  m.points = points[m.block->type];
  m.a = load_toi_body(data, m.block->a[at->lane], m.block->move_a[at->lane]);
  m.b = load_toi_body(data, m.block->b[at->lane], m.block->move_b[at->lane]);
  get_lane(m.block->params, at->lane, &m.params, FIELDS(ContactParams));
  get_lane(m.block->state, at->lane, &state, FIELDS(ContactState));
  m.loaded = m.anew = 0;
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    m.loaded |= i < m.points && state.lambda[i] > 0.0f;
  }
  return m;
}

void toi_contact_store(const solver_data *data, const toi_contact *m)
{
  store_toi_body(data, &m->a);
  store_toi_body(data, &m->b);
}

void toi_contact_advance(toi_contact *m, float time)
{
  advance_to(&m->a, time);
  advance_to(&m->b, time);
}

// ---------------------------------------------------------------------------------------------
// Points of the step's start

// The lever arms of flat contacts in blocks are those of the step's start; here they turn with
// their bodies. The radius of a round core stays along the normal.
static void turn_levers(toi_contact *m)
{
  V skin_a = v_scale(m->params.radius_a, m->geom.n),
    skin_b = v_scale(m->params.radius_b, m->geom.n);
  for (int i = 0; i < m->points; ++i) {
    V core_a = q_rotate(m->a.body.dq, v_sub(m->geom.ra[i], skin_a));
    V core_b = q_rotate(m->b.body.dq, v_add(m->geom.rb[i], skin_b));
    m->geom.ra[i] = v_add(core_a, skin_a);
    m->geom.rb[i] = v_sub(core_b, skin_b);
  }
}

static void locate_points_of_start(toi_contact *m, const restitution_contact *at)
{
  contact_start start;
  get_lane(m->block->geom, m->lane, &m->geom, FIELDS(ContactGeometry));
  get_lane(m->block->start, m->lane, &start, FIELDS(contact_start));
  for (int i = 0; i < m->points; ++i) {
    m->used[i] = i < at->points;
  }
  const Body *a = &m->a.body;
  const Body *b = &m->b.body;
  switch (m->block->type) {
  case CONTACT_FLAT_1:
  case CONTACT_FLAT_2:
  case CONTACT_FLAT_4:
    update_flat_geometry(m->points, &start.flat, &m->params, a, b, &m->geom);
    turn_levers(m);
    break;
  case CONTACT_ROUND_1:
    update_round_geometry(1, &start.round, &m->params, a, b, &m->geom);
    break;
  case CONTACT_ROUND_2:
    update_round_geometry(2, &start.round, &m->params, a, b, &m->geom);
    break;
  case CONTACT_RIM_2:
  case CONTACT_RIM_4:
    update_rim_geometry(m->points, &start.rim, a, b, &m->geom);
    break;
  default:
    update_wire_geometry(&start.wire, &m->params, a, b, &m->geom);
    break;
  }
}

float toi_contact_lever_error(const toi_contact *m, const restitution_contact *at)
{
  if (m->block->type > CONTACT_FLAT_4) {
    return 0.0f;
  }
  toi_contact now = *m;
  now.points = at->points;
  get_lane(m->block->geom, m->lane, &now.geom, FIELDS(ContactGeometry));
  ContactGeometry start = now.geom;
  turn_levers(&now);
  float error = 0.0f;
  for (int i = 0; i < at->points; ++i) {
    V a = v_cross(m->a.body.w, v_sub(now.geom.ra[i], start.ra[i]));
    V b = v_cross(m->b.body.w, v_sub(now.geom.rb[i], start.rb[i]));
    error = fmaxf(error, fabsf(v_dot(start.n, v_sub(b, a))));
  }
  return error;
}

// ---------------------------------------------------------------------------------------------
// Points found anew

static bool has_corners(int kind)
{
  return kind == TN_SHAPE_BOX || kind == TN_SHAPE_HULL;
}

static bool is_flat_or_convex(int kind)
{
  return kind != TN_SHAPE_MESH && kind != TN_SHAPE_HEIGHT_FIELD && kind != TN_SHAPE_WIRE;
}

bool may_strike_anew(const tn_world *world, const contact *c)
{
  int a = world->shapes[c->shape[0]].geometry.kind, b = world->shapes[c->shape[1]].geometry.kind;
  return RULE(impact_corners) && is_flat_or_convex(a) && is_flat_or_convex(b) &&
         (has_corners(a) || has_corners(b));
}

static tn_vec3 vec3_of(V v)
{
  return tn_v3(v.x, v.y, v.z);
}

static V vec_of(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

// Rotation of a shape to world axes, and its offset from the body's centre of mass.
static pose shape_pose_now(const shape *s, const toi_body *f)
{
  const float *q = s->shape_cache.rotation, *p = s->shape_cache.offset;
  tn_quat turn = {f->body.dq.x, f->body.dq.y, f->body.dq.z, f->body.dq.w};
  tn_quat start = {q[0], q[1], q[2], q[3]};
  pose r = {tn_rotate(turn, tn_v3(p[0], p[1], p[2])), tn_quat_mul(turn, start)};
  return r;
}

// Upper bound of the motion of one shape relative to the other since their distance was measured.
static float travel_since(const toi_contact *m, const restitution_contact *at)
{
  V moved = v_sub(v_sub(m->b.body.dx, m->a.body.dx), at->apart);
  Q turn_a = q_mul(m->a.body.dq, q_conjugate(at->turn_a));
  Q turn_b = q_mul(m->b.body.dq, q_conjugate(at->turn_b));
  float sine_a = v_length(q_vector(turn_a)), sine_b = v_length(q_vector(turn_b));
  return v_length(moved) + (sine_a > 0.0f ? 2.0f * sine_a * at->extent_a : 0.0f) +
         (sine_b > 0.0f ? 2.0f * sine_b * at->extent_b : 0.0f);
}

static void remember_distance(const toi_contact *m, restitution_contact *at, float distance)
{
  at->apart = v_sub(m->b.body.dx, m->a.body.dx);
  at->turn_a = m->a.body.dq;
  at->turn_b = m->b.body.dq;
  at->distance = distance;
}

static int find_points_anew(const tn_world *world, toi_contact *m, restitution_contact *at,
                            float reach)
{
  if (at->distance > 0.0f && at->distance - travel_since(m, at) > reach) {
    return 0;
  }
  const contact *c = &world->contacts[at->contact];
  const shape *sa = &world->shapes[c->shape[0]], *sb = &world->shapes[c->shape[1]];
  pose a = shape_pose_now(sa, &m->a), b = shape_pose_now(sb, &m->b);
  tn_vec3 apart =
      tn_between_points(world->bodies[c->body[0]].center, world->bodies[c->body[1]].center);
  apart = tn_add(apart, vec3_of(v_sub(m->b.body.dx, m->a.body.dx)));
  pose b_from_a = {tn_add(b.p, apart), b.q};
  core_start start = world->pairs[c->pair].start;
  manifold found;
  float margin = 2.0f * reach;
  if (!collide_from(&sa->geometry, &sb->geometry, pose_mul(pose_inverse(a), b_from_a), margin,
                    &start, &found, 1)) {
    remember_distance(m, at, margin);
    return 0;
  }
  m->points = found.count;
  m->anew = 1;
  m->params.radius_a = found.radius_a;
  m->params.radius_b = found.radius_b;
  m->geom.n = vec_of(pose_vector(a, found.normal));
  float nearest = margin;
  for (int i = 0; i < found.count; ++i) {
    tn_vec3 ra = pose_point(a, found.points[i].a);
    tn_vec3 rb = pose_point(b, found.points[i].b);
    m->geom.ra[i] = v_add(vec_of(ra), v_scale(found.radius_a, m->geom.n));
    m->geom.rb[i] = v_sub(vec_of(rb), v_scale(found.radius_b, m->geom.n));
    m->geom.gap[i] = found.points[i].gap;
    m->used[i] = 1;
    nearest = fminf(nearest, found.points[i].gap);
  }
  remember_distance(m, at, nearest);
  return 1;
}

int toi_contact_locate(const tn_world *world, toi_contact *m, restitution_contact *at, float reach)
{
  if (at->anew && !m->loaded) {
    return find_points_anew(world, m, at, reach);
  }
  locate_points_of_start(m, at);
  return 1;
}
