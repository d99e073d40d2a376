// Impacts with restitution, at the moment they happen.
//
// DEVIATION: sec. 3.6 restores the velocity at the end of a substep, wherever in it the bodies met,
// and with friction from before the impact. Here each body flies to the moment of impact on its own
// clock, is hit there with the velocity it has then, and drifts for what is left of the substep.
// Energy stays to 1e-4 for any number of substeps.
#include "contact_store.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one impact at a time");

#define IMPACT_SWEEPS 10
#define SLOWEST_IMPACT 0.01f // m/s

// A body in flight.
typedef struct flyer {
  int32_t slot;
  int moves; // by impulses
  Body body;
  Spin spin;
  Drag drag;
  V acceleration;
  float flown;
} flyer;

static flyer load_flyer(const solver_data *data, int32_t slot, int is_moved)
{
  flyer f;
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
  f.flown = state->flown;
  get_lane(block->spin, lane, &f.spin, FIELDS(Spin));
  get_lane(block->drag, lane, &f.drag, FIELDS(Drag));
  get_lane(block->acceleration, lane, &f.acceleration, 3);
  return f;
}

static void store_flyer(const solver_data *data, const flyer *f)
{
  if (!f->moves) {
    return;
  }
  const Body *b = &f->body;
  body_state *state = &data->state[f->slot];
  float motion[8] = {b->v.x, b->v.y, b->v.z, state->inverse_mass,
                     b->w.x, b->w.y, b->w.z, state->share};
  float moved_by[8] = {b->dx.x, b->dx.y, b->dx.z, f->flown, b->dq.x, b->dq.y, b->dq.z, b->dq.w};
  float inverse[8] = {b->ii.xx, b->ii.yy, b->ii.zz, b->ii.xy, b->ii.xz, b->ii.yz, b->im, 0.0f};
  memcpy(state->motion, motion, sizeof motion);
  memcpy(state->pose, moved_by, sizeof moved_by);
  memcpy(data->inertia[f->slot].inverse, inverse, sizeof inverse);
  set_lane(data->bodies[f->slot / BLOCK_WIDTH].spin, f->slot % BLOCK_WIDTH, &f->spin, FIELDS(Spin));
}

static void fly_to(flyer *f, float time)
{
  if (f->moves && time > f->flown) {
    drift(&f->body, &f->spin, f->drag.dynamic, time - f->flown);
    f->flown = time;
  }
}

void fly_ahead(const solver_data *data, int32_t slot, const double *v)
{
  flyer f = load_flyer(data, slot, 1);
  f.body.v = v_make((float)v[0], (float)v[1], (float)v[2]);
  f.body.w = v_make((float)v[3], (float)v[4], (float)v[5]);
  fly_to(&f, data->substep.h);
  memcpy(data->state[slot].dx, &f.body.dx, sizeof f.body.dx);
  memcpy(data->state[slot].dq, &f.body.dq, sizeof f.body.dq);
}

typedef struct meeting {
  contact_block *block;
  int lane, points;
  flyer a, b;
  ContactParams params;
  Touch touch;
} meeting;

static void follow_meeting(meeting *m)
{
  contact_start start;
  get_lane(m->block->start, m->lane, &start, FIELDS(contact_start));
  const Body *a = &m->a.body;
  const Body *b = &m->b.body;
  switch (m->block->type) {
  case CONTACT_FLAT_1:
  case CONTACT_FLAT_2:
  case CONTACT_FLAT_4:
    follow_flat(m->points, &start.flat, &m->params, a, b, &m->touch);
    break;
  case CONTACT_ROUND_1:
    follow_round(1, &start.round, &m->params, a, b, &m->touch);
    break;
  case CONTACT_ROUND_2:
    follow_round(2, &start.round, &m->params, a, b, &m->touch);
    break;
  case CONTACT_RIM_2:
  case CONTACT_RIM_4:
    follow_rim(m->points, &start.rim, a, b, &m->touch);
    break;
  default:
    follow_wire(&start.wire, &m->params, a, b, &m->touch);
    break;
  }
}

static meeting load_meeting(const solver_data *data, bouncer at)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  meeting m;
  m.block = &data->contacts[at.block];
  m.lane = at.lane;
  m.points = points[m.block->type];
  m.a = load_flyer(data, m.block->a[at.lane], m.block->move_a[at.lane]);
  m.b = load_flyer(data, m.block->b[at.lane], m.block->move_b[at.lane]);
  get_lane(m.block->params, at.lane, &m.params, FIELDS(ContactParams));
  get_lane(m.block->touch, at.lane, &m.touch, FIELDS(Touch));
  follow_meeting(&m);
  return m;
}

static V point_velocity(const flyer *f, V r)
{
  return v_add(f->body.v, v_cross(f->body.w, r));
}

// What gravity adds to the velocity in hand, which is that of the middle or of the end of the
// substep, to make it that of the moment.
static V fall(const flyer *f, float time, float h)
{
  return v_scale(time - f->drag.lead * h, f->acceleration);
}

// Normal impulse, then friction on the velocity that it leaves; both count in the step's sums.
static void strike(meeting *m, int i, float e, float time, float h)
{
  V ra = m->touch.ra[i], rb = m->touch.rb[i], n = m->touch.n;
  V falling = v_sub(fall(&m->b, time, h), fall(&m->a, time, h));
  V u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), falling);
  float un = v_dot(n, u);
  if (un >= 0.0f) {
    return;
  }
  Body *a = &m->a.body, *b = &m->b.body;
  S k = linear_inverse_mass(a, b, ra, rb);
  float p = -(1.0f + e) * un / v_dot(n, s_mul(k, n));
  apply_linear(a, b, ra, rb, v_scale(p, n), FORM_VELOCITY, 0.0f);
  m->block->sum[i][m->lane] += p;
  m->block->hit[m->lane] = fmaxf(m->block->hit[m->lane], -un);
  u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), falling);
  u = v_add(u, m->params.slide);
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

// The moment at which a point closes; above h when it does not.
static float moment_of(const meeting *m, int i, float threshold, float h)
{
  float va = v_dot(m->touch.n, point_velocity(&m->a, m->touch.ra[i]));
  float vb = v_dot(m->touch.n, point_velocity(&m->b, m->touch.rb[i]));
  float closing = va - vb;
  float gap = m->touch.gap[i];
  // Each body has come as far as its own clock says.
  float end = gap + vb * (h - m->b.flown) - va * (h - m->a.flown);
  if (!(closing > threshold) || !(end < 0.0f)) {
    return 2.0f * h;
  }
  return fminf((gap - vb * m->b.flown + va * m->a.flown) / closing, h);
}

// A body that has met something else first has flown too far: it goes back to the surface.
static void fly_back(meeting *m, float time)
{
  V n = m->touch.n;
  if (m->b.moves && m->b.flown > time) {
    float beyond = (time - m->b.flown) * v_dot(n, m->b.body.v);
    m->b.body.dx = v_add(m->b.body.dx, v_scale(fmaxf(beyond, 0.0f), n));
  } else if (m->a.moves && m->a.flown > time) {
    float beyond = (m->a.flown - time) * v_dot(n, m->a.body.v);
    m->a.body.dx = v_sub(m->a.body.dx, v_scale(fmaxf(beyond, 0.0f), n));
  }
}

// The earliest of the points goes first.
static int bounce_once(const solver_data *data, bouncer at, float threshold)
{
  float h = data->substep.h;
  meeting m = load_meeting(data, at);
  float first = 2.0f * h;
  int point = -1;
  for (int i = 0; i < m.points; ++i) {
    float time = m.block->used[i][at.lane] > 0.0f ? moment_of(&m, i, threshold, h) : 2.0f * h;
    if (time < first) {
      first = time;
      point = i;
    }
  }
  if (point < 0) {
    return 0;
  }
  if (first > 0.0f) {
    fly_back(&m, first);
  }
  first = fmaxf(first, fmaxf(m.a.flown, m.b.flown));
  fly_to(&m.a, first);
  fly_to(&m.b, first);
  follow_meeting(&m);
  strike(&m, point, m.block->restitution[at.lane], first, h);
  store_flyer(data, &m.a);
  store_flyer(data, &m.b);
  // The impulse that carried the contact so far is void.
  ContactState state;
  get_lane(m.block->state, at.lane, &state, FIELDS(ContactState));
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    state.lambda[i] = 0.0f;
  }
  state.friction = state.roll = v_zero();
  state.twist = state.reference = state.age = 0.0f;
  set_lane(m.block->state, at.lane, &state, FIELDS(ContactState));
  return 1;
}

// There and back again, so that an impulse passes through a row of bodies in one sweep.
int bounce(solver_data *data, const bouncer *bouncers, int count, float gravity)
{
  float threshold = fmaxf(2.0f * gravity * data->substep.h, SLOWEST_IMPACT);
  int any = 0;
  for (int sweep = 0; sweep < IMPACT_SWEEPS; ++sweep) {
    int fired = 0;
    for (int i = 0; i < count; ++i) {
      fired += bounce_once(data, bouncers[sweep % 2 ? count - 1 - i : i], threshold);
    }
    any += fired;
    if (fired == 0) {
      break;
    }
  }
  return any;
}
