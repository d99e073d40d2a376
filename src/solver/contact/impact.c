// Impacts with restitution, resolved at their time of impact (TOI) before the contacts are solved.
//
// DEVIATION: sec. 3.6 restores the velocity at the end of a substep, whenever in it the bodies met,
// and with friction from before the impact. Here each body has its own clock: it advances to the
// time of impact, gets the impulse for the velocity it has then, and drifts for the rest of the
// substep. Elastic impacts conserve energy to 1e-4 for any number of substeps.
#include "solver/contact/contact_block.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one impact at a time");

// A body with its own clock within the substep.
typedef struct toi_body {
  int32_t slot;
  int moves; // dynamic: impulses and clock apply
  Body body;
  AngularState spin;
  BodyStepParams params;
  V acceleration;      // m/s^2, gravity and forces
  float advanced_time; // s, clock of the body since the substep began
} toi_body;

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

static void advance_to(toi_body *f, float time)
{
  if (f->moves && time > f->advanced_time) {
    drift(&f->body, &f->spin, f->params.inverse_inertia_scale, time - f->advanced_time);
    f->advanced_time = time;
  }
}

void predict_pose(const solver_data *data, int32_t slot, const double *v)
{
  toi_body f = load_toi_body(data, slot, 1);
  f.body.v = v_make((float)v[0], (float)v[1], (float)v[2]);
  f.body.w = v_make((float)v[3], (float)v[4], (float)v[5]);
  advance_to(&f, data->substep.h);
  memcpy(data->state[slot].dx, &f.body.dx, sizeof f.body.dx);
  memcpy(data->state[slot].dq, &f.body.dq, sizeof f.body.dq);
}

// One contact with both bodies, at the times of their clocks.
typedef struct toi_contact {
  contact_block *block;
  int lane, points;
  toi_body a, b;
  ContactParams params;
  ContactGeometry geom;
} toi_contact;

static void update_toi_geometry(toi_contact *m)
{
  contact_start start;
  get_lane(m->block->start, m->lane, &start, FIELDS(contact_start));
  const Body *a = &m->a.body;
  const Body *b = &m->b.body;
  switch (m->block->type) {
  case CONTACT_FLAT_1:
  case CONTACT_FLAT_2:
  case CONTACT_FLAT_4:
    update_flat_geometry(m->points, &start.flat, &m->params, a, b, &m->geom);
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

static toi_contact load_toi_contact(const solver_data *data, restitution_contact at)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  toi_contact m;
  m.block = &data->contacts[at.block];
  m.lane = at.lane;
  m.points = points[m.block->type];
  m.a = load_toi_body(data, m.block->a[at.lane], m.block->move_a[at.lane]);
  m.b = load_toi_body(data, m.block->b[at.lane], m.block->move_b[at.lane]);
  get_lane(m.block->params, at.lane, &m.params, FIELDS(ContactParams));
  get_lane(m.block->geom, at.lane, &m.geom, FIELDS(ContactGeometry));
  update_toi_geometry(&m);
  return m;
}

static V point_velocity(const toi_body *f, V r)
{
  return v_add(f->body.v, v_cross(f->body.w, r));
}

// Velocity to add for the acceleration up to `time`: the kick has already applied it for
// first_kick * h, half a substep or a whole one.
static V gravity_velocity(const toi_body *f, float time, float h)
{
  return v_scale(time - f->params.first_kick * h, f->acceleration);
}

// Normal impulse p = -(1 + e) (n . u) / (n . K n) at point i, K the inverse mass there. Then
// friction against the tangential velocity that it leaves: static if it takes at most mu_s p to
// stop it, otherwise mu_d p. Both enter the sums of the step.
static void apply_impact(toi_contact *m, int i, float e, float time, float h)
{
  V ra = m->geom.ra[i], rb = m->geom.rb[i], n = m->geom.n;
  V gravity_rate = v_sub(gravity_velocity(&m->b, time, h), gravity_velocity(&m->a, time, h));
  V u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), gravity_rate);
  float un = v_dot(n, u);
  if (un >= 0.0f) {
    return;
  }
  Body *a = &m->a.body, *b = &m->b.body;
  S k = linear_inverse_mass(a, b, ra, rb);
  float p = -(1.0f + e) * un / v_dot(n, s_mul(k, n));
  apply_linear(a, b, ra, rb, v_scale(p, n), FORM_VELOCITY, 0.0f);
  m->block->sum[i][m->lane] += p;
  m->block->hit_speed[m->lane] = fmaxf(m->block->hit_speed[m->lane], -un);
  u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), gravity_rate);
  u = v_add(u, m->params.surface_velocity);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  float speed = v_length(slide);
  if (speed > 0.0f) {
    V t = v_scale(1.0f / speed, slide);
    float stop = speed / v_dot(t, s_mul(k, t));
    float most = m->params.mu_static * p;
    float q = stop <= most ? stop : m->params.mu_dynamic * p;
    apply_linear(a, b, ra, rb, v_scale(-q, t), FORM_VELOCITY, 0.0f);
    m->block->sum[4][m->lane] -= q * t.x;
    m->block->sum[5][m->lane] -= q * t.y;
    m->block->sum[6][m->lane] -= q * t.z;
  }
}

// Time at which point i closes, s from the start of the substep; 2 h if it does not, or approaches
// slower than `threshold`. With the clocks t_a, t_b of the bodies:
//   gap + v_b (t - t_b) - v_a (t - t_a) = 0.
static float time_of_impact(const toi_contact *m, int i, float threshold, float h)
{
  float va = v_dot(m->geom.n, point_velocity(&m->a, m->geom.ra[i]));
  float vb = v_dot(m->geom.n, point_velocity(&m->b, m->geom.rb[i]));
  float closing = va - vb;
  float gap = m->geom.gap[i];
  // The gap at the end of the substep.
  float end = gap + vb * (h - m->b.advanced_time) - va * (h - m->a.advanced_time);
  if (!(closing > threshold) || !(end < 0.0f)) {
    return 2.0f * h;
  }
  return fminf((gap - vb * m->b.advanced_time + va * m->a.advanced_time) / closing, h);
}

// A body whose clock is past `time`, because of another impact, may have crossed the surface: it is
// moved back along the normal by the distance it went since.
static void retreat_to_surface(toi_contact *m, float time)
{
  V n = m->geom.n;
  if (m->b.moves && m->b.advanced_time > time) {
    float beyond = (time - m->b.advanced_time) * v_dot(n, m->b.body.v);
    m->b.body.dx = v_add(m->b.body.dx, v_scale(fmaxf(beyond, 0.0f), n));
  } else if (m->a.moves && m->a.advanced_time > time) {
    float beyond = (m->a.advanced_time - time) * v_dot(n, m->a.body.v);
    m->a.body.dx = v_sub(m->a.body.dx, v_scale(fmaxf(beyond, 0.0f), n));
  }
}

// Resolves the earliest impact among the points of a contact; returns 0 if there is none.
static int resolve_impact(const solver_data *data, restitution_contact at, float threshold)
{
  float h = data->substep.h;
  toi_contact m = load_toi_contact(data, at);
  float first = 2.0f * h;
  int point = -1;
  for (int i = 0; i < m.points; ++i) {
    float time = m.block->used[i][at.lane] > 0.0f ? time_of_impact(&m, i, threshold, h) : 2.0f * h;
    if (time < first) {
      first = time;
      point = i;
    }
  }
  if (point < 0) {
    return 0;
  }
  if (first > 0.0f && RULE(impact_retreat)) {
    retreat_to_surface(&m, first);
  }
  first = fmaxf(RULE(impact_time) ? first : 0.0f, fmaxf(m.a.advanced_time, m.b.advanced_time));
  advance_to(&m.a, first);
  advance_to(&m.b, first);
  update_toi_geometry(&m);
  apply_impact(&m, point, m.block->restitution[at.lane], first, h);
  store_toi_body(data, &m.a);
  store_toi_body(data, &m.b);
  // The bodies separate: no warm start from the impulses that held them together.
  ContactState state;
  get_lane(m.block->state, at.lane, &state, FIELDS(ContactState));
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    state.lambda[i] = 0.0f;
  }
  state.friction = state.roll = v_zero();
  state.twist = state.preload = state.preload_age = 0.0f;
  set_lane(m.block->state, at.lane, &state, FIELDS(ContactState));
  return 1;
}

// Sweeps alternate in direction, so that an impulse travels through a row of bodies in one sweep,
// whatever the order of its contacts.
int solve_impacts(solver_data *data, const restitution_contact *restitution_contacts, int count,
                  float gravity)
{
  float threshold =
      fmaxf(TUNING_RESTITUTION_THRESHOLD * gravity * data->substep.h, TUNING_IMPACT_MIN_SPEED);
  threshold = RULE(restitution_threshold) ? threshold : 0.0f;
  int any = 0;
  int sweeps = RULE(impact_sweeps) ? TUNING_IMPACT_SWEEPS : 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    int impact_count = 0;
    for (int i = 0; i < count; ++i) {
      impact_count +=
          resolve_impact(data, restitution_contacts[sweep % 2 ? count - 1 - i : i], threshold);
    }
    any += impact_count;
    if (impact_count == 0) {
      break;
    }
  }
  return any;
}
