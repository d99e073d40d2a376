// Contacts meet lanes: gather bodies, run a kernel, scatter what it changed. Compiled once for each
// lane width.
//
// Sixteen lanes take two blocks at a time, in the three passes of a substep that cost the most: a
// seventh of their time less than eight lanes (666-cube pyramid, 20 substeps).
#include "contact_store.h"

#define BLOCK_FLOATS (sizeof(contact_block) / sizeof(float))
#include "gather.h"

#include <stddef.h>

#define CONTACT_OPS PASTE(contact_ops_, TN_LANES)
#define CONTACT_PACK PASTE(contact_pack_, TN_LANES)
#define CONTACT_UNPACK PASTE(contact_unpack_, TN_LANES)
#define LOOK_ROUND PASTE(look_round_, TN_LANES)

// Whether something is to be done in any lane.
#if TN_LANES == 16
#define IN_ANY(cb, flag) ((cb)[0].flag | (cb)[1].flag)
#else
#define IN_ANY(cb, flag) ((cb)->flag)
#endif

// What is known about a block at compile time.
typedef struct Kind {
  ContactForm form;
  int points;
} Kind;

// What some manifold of a block needs: most do without it.
typedef struct Need {
  int rolls, yields, slides;
  int turns;  // about the normal
  int sticks; // friction that pulls back
} Need;

KERNEL Need need_of(const contact_block *cb, Kind kind)
{
  int traits = IN_ANY(cb, traits);
  Need need = {traits & TRAIT_ROLLS, traits & TRAIT_YIELDS, traits & TRAIT_SLIDES,
               kind.points > 1 || traits & TRAIT_ROLLS,
               kind.form <= FORM_ROUND && traits & TRAIT_STICKS};
  return need;
}

// Bodies and rows of TN_LANES manifolds.
typedef struct Work {
  Body a, b;
  R share_a, share_b;
  R used[CONTACT_POINTS];
  ContactParams params;
  ContactState state;
  Touch touch;
} Work;

KERNEL Gather gather_a(const contact_block *cb, int lane)
{
  Gather g = {cb->a + lane, cb->move_a + lane};
  return g;
}

KERNEL Gather gather_b(const contact_block *cb, int lane)
{
  Gather g = {cb->b + lane, cb->move_b + lane};
  return g;
}

// Returns how much of the substep one of the bodies has flown already.
KERNEL R load_poses(const solver_data *data, const contact_block *cb, int lane, Work *w)
{
  R flown_a = load_pose(data, gather_a(cb, lane), &w->a);
  R flown_b = load_pose(data, gather_b(cb, lane), &w->b);
  return r_max(flown_a, flown_b);
}

KERNEL void load_velocities(const solver_data *data, const contact_block *cb, int lane, Work *w)
{
  load_velocity(data, gather_a(cb, lane), &w->a, &w->share_a);
  load_velocity(data, gather_b(cb, lane), &w->b, &w->share_b);
}

KERNEL void load_inertias(const solver_data *data, const contact_block *cb, int lane, Work *w)
{
  load_inertia(data, gather_a(cb, lane), &w->a);
  load_inertia(data, gather_b(cb, lane), &w->b);
}

KERNEL void store_velocities(const solver_data *data, const contact_block *cb, int lane,
                             const Work *w)
{
  Gather a = gather_a(cb, lane);
  Gather b = gather_b(cb, lane);
  a.move = IN_ANY(cb, fixed_a) ? a.move : NULL;
  b.move = IN_ANY(cb, fixed_b) ? b.move : NULL;
  store_velocity(data, a, &w->a, w->share_a);
  store_velocity(data, b, &w->b, w->share_b);
}

// No more than the points that the type has.
KERNEL void load_touch(contact_block *cb, int lane, int points, Touch *touch)
{
  load_fields(cb->touch + TOUCH_FIELD(n), lane, (R *)&touch->n, 3);
  load_fields(cb->touch + TOUCH_FIELD(ra), lane, (R *)touch->ra, 3 * points);
  load_fields(cb->touch + TOUCH_FIELD(rb), lane, (R *)touch->rb, 3 * points);
  load_fields(cb->touch + TOUCH_FIELD(gap), lane, touch->gap, points);
}

KERNEL void store_touch(contact_block *cb, int lane, Kind kind, const Touch *touch)
{
  store_fields(cb->touch + TOUCH_FIELD(gap), lane, touch->gap, kind.points);
  if (kind.form == FORM_FLAT) {
    return;
  }
  store_fields(cb->touch + TOUCH_FIELD(n), lane, (const R *)&touch->n, 3);
  store_fields(cb->touch + TOUCH_FIELD(ra), lane, (const R *)touch->ra, 3 * kind.points);
  store_fields(cb->touch + TOUCH_FIELD(rb), lane, (const R *)touch->rb, 3 * kind.points);
}

#define STATE_FIELD(name) (offsetof(ContactState, name) / sizeof(R))

KERNEL void load_params(contact_block *cb, int lane, Need need, ContactParams *p)
{
  p->rolling = p->spinning = p->alpha = p->anchored = splat(0.0f);
  p->slide = v_zero();
  load_fields(cb->params + PARAM_FIELD(mu_static), lane, &p->mu_static, 2);
  load_fields(cb->params + PARAM_FIELD(deep), lane, &p->deep, 4);
  load_fields(cb->params + PARAM_FIELD(push), lane, &p->push, 1);
  if (need.rolls) {
    load_fields(cb->params + PARAM_FIELD(rolling), lane, &p->rolling, 2);
  }
  if (need.yields) {
    load_fields(cb->params + PARAM_FIELD(alpha), lane, &p->alpha, 1);
  }
  if (need.slides) {
    load_fields(cb->params + PARAM_FIELD(slide), lane, (R *)&p->slide, 3);
  }
  if (need.sticks) {
    load_fields(cb->params + PARAM_FIELD(anchored), lane, &p->anchored, 1);
  }
}

KERNEL void load_state(contact_block *cb, int lane, Kind kind, Need need, ContactState *s)
{
  s->twist = s->turning = s->angle = splat(0.0f);
  s->roll = s->offset = v_zero();
  for (int i = kind.points; i < CONTACT_POINTS; ++i) {
    s->lambda[i] = splat(0.0f);
  }
  load_fields(cb->state + STATE_FIELD(lambda), lane, s->lambda, kind.points);
  load_fields(cb->state + STATE_FIELD(reference), lane, &s->reference, 2);
  load_fields(cb->state + STATE_FIELD(friction), lane, (R *)&s->friction, 3);
  load_fields(cb->state + STATE_FIELD(sliding), lane, &s->sliding, 1);
  if (need.turns) {
    load_fields(cb->state + STATE_FIELD(twist), lane, &s->twist, 1);
    load_fields(cb->state + STATE_FIELD(turning), lane, &s->turning, 1);
  }
  if (need.rolls) {
    load_fields(cb->state + STATE_FIELD(roll), lane, (R *)&s->roll, 3);
  }
  if (need.sticks) {
    load_fields(cb->state + STATE_FIELD(offset), lane, (R *)&s->offset, 4);
  }
}

KERNEL void store_impulses(contact_block *cb, int lane, Kind kind, Need need, const ContactState *s)
{
  store_fields(cb->state + STATE_FIELD(lambda), lane, s->lambda, kind.points);
  store_fields(cb->state + STATE_FIELD(friction), lane, (const R *)&s->friction, 3);
  if (need.turns) {
    store_fields(cb->state + STATE_FIELD(twist), lane, &s->twist, 1);
  }
  if (need.rolls) {
    store_fields(cb->state + STATE_FIELD(roll), lane, (const R *)&s->roll, 3);
  }
}

KERNEL void load_rows(contact_block *cb, int lane, Kind kind, Need need, Work *w)
{
  load_fields(cb->used, lane, w->used, kind.points);
  load_params(cb, lane, need, &w->params);
  load_state(cb, lane, kind, need, &w->state);
  load_touch(cb, lane, kind.points, &w->touch);
}

#define MASS_FIELD(name) (offsetof(ContactMass, name) / sizeof(R))

// Between the points, and what the patch has besides the tangents: one point is its own patch.
KERNEL void store_mass(contact_block *cb, int lane, Kind kind, Need need, const ContactMass *mass)
{
  int count = kind.points * (kind.points + 1) / 2;
  store_fields(cb->mass + MASS_FIELD(k), lane, mass->k, count);
  store_fields(cb->mass + MASS_FIELD(inverse), lane, mass->inverse, count);
  store_fields(cb->mass + MASS_FIELD(tangent), lane, mass->tangent, 3);
  if (need.turns) {
    store_fields(cb->mass + MASS_FIELD(twist), lane, &mass->twist, 1);
  }
  if (kind.points > 1) {
    store_fields(cb->mass + MASS_FIELD(arm), lane, &mass->arm, 2);
    store_fields(cb->mass + MASS_FIELD(patch), lane, (const R *)&mass->patch, 6);
  }
}

KERNEL void load_mass(contact_block *cb, int lane, Kind kind, Need need, const Touch *touch,
                      ContactMass *mass)
{
  int count = kind.points * (kind.points + 1) / 2;
  load_fields(cb->mass + MASS_FIELD(k), lane, mass->k, count);
  load_fields(cb->mass + MASS_FIELD(inverse), lane, mass->inverse, count);
  load_fields(cb->mass + MASS_FIELD(tangent), lane, mass->tangent, 3);
  mass->twist = splat(0.0f);
  if (need.turns) {
    load_fields(cb->mass + MASS_FIELD(twist), lane, &mass->twist, 1);
  }
  if (kind.points > 1) {
    load_fields(cb->mass + MASS_FIELD(arm), lane, &mass->arm, 2);
    load_fields(cb->mass + MASS_FIELD(patch), lane, (R *)&mass->patch, 6);
  } else {
    Patch patch = {touch->ra[0], touch->rb[0]};
    mass->patch = patch;
    mass->arm = splat(0.0f);
    mass->share = splat(1.0f);
  }
}

// The touch at the bodies' current pose.
KERNEL void follow(contact_block *cb, int lane, Kind kind, Work *w)
{
  switch (kind.form) {
  case FORM_FLAT: {
    FlatStart start;
    load_fields(cb->start, lane, start.gap, kind.points);
    follow_flat(kind.points, &start, &w->params, &w->a, &w->b, &w->touch);
    break;
  }
  case FORM_ROUND: {
    RoundStart start;
    // One point needs no cores.
    size_t size = kind.points == 1 ? offsetof(RoundStart, ca) : sizeof start;
    load_fields(cb->start, lane, (R *)&start, (int)(size / sizeof(R)));
    follow_round(kind.points, &start, &w->params, &w->a, &w->b, &w->touch);
    break;
  }
  case FORM_RIM: {
    RimStart start;
    LOAD(cb->start, lane, &start);
    follow_rim(kind.points, &start, &w->a, &w->b, &w->touch);
    break;
  }
  case FORM_WIRE: {
    WireStart start;
    LOAD(cb->start, lane, &start);
    follow_wire(&start, &w->params, &w->a, &w->b, &w->touch);
    STORE(cb->start, lane, &start);
    break;
  }
  }
}

KERNEL ContactMass find_mass(const solver_data *data, Kind kind, const Work *w)
{
  R inv_h = splat(1.0f / data->substep.h);
  R alpha = w->params.alpha * inv_h * inv_h;
  return masses_of(kind.points, w->used, w->state.lambda, &w->touch, alpha, &w->a, &w->b);
}

// How far the friction patch has moved and turned since the step began. What is round rolls on to
// other points of its surface: there it is how far it has slid, with the velocities of the drift.
KERNEL Strain follow_patch(const solver_data *data, contact_block *cb, int lane, const Patch *patch,
                           Work *w)
{
  V d = v_sub(moved(&w->b, patch->rb), moved(&w->a, patch->ra));
  M rolls = w->params.radius_a + w->params.radius_b > 0.0f;
  if (m_any(rolls)) {
    Strain last;
    LOAD(cb->shift, lane, &last);
    load_velocities(data, cb, lane, w);
    V slid = v_scale(splat(data->substep.h), relative_velocity(&w->a, &w->b, patch->ra, patch->rb));
    d = v_pick(rolls, v_add(last.offset, slid), d);
  }
  V turn = v_sub(q_vector(w->b.dq), q_vector(w->a.dq)); // half of it
  Strain shift = {v_sub(d, v_scale(v_dot(d, w->touch.n), w->touch.n)),
                  2.0f * v_dot(turn, w->touch.n)};
  STORE(cb->shift, lane, &shift);
  return shift;
}

// A patch that loses its load for a moment sticks where it stuck before, unless it has moved on by
// more than `far`.
KERNEL Slip slip_without_load(R far, R arm, const Strain *shift, const ContactState *state)
{
  V d = v_add(state->offset, shift->offset);
  R angle = state->angle + shift->angle;
  Slip slip = {(state->sliding > 0.5f) | (v_dot(d, d) > far * far),
               (state->turning > 0.5f) | (r_abs(angle) * arm > far)};
  return slip;
}

// ---------------------------------------------------------------------------------------------
// Impulse form

#if TN_LANES < 16

// Flat and round touches are where the step found them.
LARGE void begin_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Need need = need_of(cb, kind);
  Work w;
  load_velocities(data, cb, lane, &w);
  load_inertias(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  if (kind.form == FORM_RIM || kind.form == FORM_WIRE) {
    load_poses(data, cb, lane, &w);
    follow(cb, lane, kind, &w);
    store_touch(cb, lane, kind, &w.touch);
  }
  ContactMass mass = find_mass(data, kind, &w);
  store_mass(cb, lane, kind, need, &mass);
}

#endif

// A manifold with nothing to do may be left out if its neighbours have nothing to do either. So
// that lanes do not matter it stays as it was, to the sign of a zero, if they have.
KERNEL void restore_idle(M idle, const Work *before, Work *w)
{
  w->a.v = v_pick(idle, before->a.v, w->a.v);
  w->a.w = v_pick(idle, before->a.w, w->a.w);
  w->b.v = v_pick(idle, before->b.v, w->b.v);
  w->b.w = v_pick(idle, before->b.w, w->b.w);
  w->state.friction = v_pick(idle, before->state.friction, w->state.friction);
  w->state.twist = pick(idle, before->state.twist, w->state.twist);
  w->state.roll = v_pick(idle, before->state.roll, w->state.roll);
}

// No point has an impulse, nor has the patch.
KERNEL M is_unloaded(Kind kind, const ContactState *state)
{
  M unloaded = is_slack(state);
  for (int i = 0; i < kind.points; ++i) {
    unloaded = unloaded & (state->lambda[i] == 0.0f);
  }
  return unloaded;
}

LARGE void warm_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Need need = need_of(cb, kind);
  Work w;
  load_rows(cb, lane, kind, need, &w);
  M idle = is_unloaded(kind, &w.state);
  if (!m_any(m_not(idle))) {
    return;
  }
  load_velocities(data, cb, lane, &w);
  load_inertias(data, cb, lane, &w);
  Work before = w;
  ContactMass mass;
  load_mass(cb, lane, kind, need, &w.touch, &mass);
  leak_contact(kind.points, &w.params, &mass, splat(0.5f * data->substep.bounce_speed), &w.state);
  flatten(&w.touch, &w.state);
  Wrench wrench = whole_wrench(kind.points, &w.touch, &mass.patch, &w.state);
  give(&w.a, &w.b, &wrench);
  restore_idle(idle, &before, &w);
  store_impulses(cb, lane, kind, need, &w.state);
  store_velocities(data, cb, lane, &w);
}

// The first guess of the next substep: its pose is known and its rows are at hand. The bodies get
// it with their next kick. Adding -0 changes nothing, to the sign of a zero.
KERNEL void warm_ahead(solver_data *data, contact_block *cb, int lane, Kind kind,
                       const ContactMass *mass, Work *w)
{
  M idle = is_unloaded(kind, &w->state);
  if (!m_any(m_not(idle))) {
    return;
  }
  ContactState before = w->state;
  leak_contact(kind.points, &w->params, mass, splat(0.5f * data->substep.bounce_speed), &w->state);
  Wrench wrench = whole_wrench(kind.points, &w->touch, &mass->patch, &w->state);
  w->state.friction = v_pick(idle, before.friction, w->state.friction);
  w->state.twist = pick(idle, before.twist, w->state.twist);
  w->state.roll = v_pick(idle, before.roll, w->state.roll);
  Gather a = gather_a(cb, lane);
  Gather b = gather_b(cb, lane);
  a.move = IN_ANY(cb, fixed_a) ? a.move : NULL;
  b.move = IN_ANY(cb, fixed_b) ? b.move : NULL;
  V nothing = v_make(splat(-0.0f), splat(-0.0f), splat(-0.0f));
  V none = v_zero();
  V turn_a = v_sub(none, s_mul(w->a.ii, wrench.la));
  V turn_b = s_mul(w->b.ii, wrench.lb);
  add_change(data, a, v_pick(idle, nothing, v_scale(-w->a.im, wrench.p)),
             v_pick(idle, nothing, turn_a));
  add_change(data, b, v_pick(idle, nothing, v_scale(w->b.im, wrench.p)),
             v_pick(idle, nothing, turn_b));
}

KERNEL ContactPass make_pass(const solver_data *data, const contact_block *cb, int lane, Need need,
                             int relaxing)
{
  float h = data->substep.h;
  ContactPass pass = {splat(h),
                      splat(1.0f / h),
                      1.0f / load_field(cb->left, lane),
                      splat(h * data->substep.bounce_speed),
                      relaxing,
                      need.rolls,
                      need.yields,
                      splat(0.0f)};
  return pass;
}

KERNEL void press_and_rub(solver_data *data, contact_block *cb, int lane, Kind kind, Need need,
                          const ContactPass *pass, const Demand *demand, const ContactMass *mass,
                          Work *w)
{
  Strain strain = {v_zero(), splat(0.0f)};
  if (need.sticks) {
    Strain shift;
    LOAD(cb->shift, lane, &shift);
    strain.offset = v_scale(w->params.anchored, v_add(w->state.offset, shift.offset));
    strain.angle = w->params.anchored * (w->state.angle + shift.angle);
  }
  load_inertias(data, cb, lane, w);
  Work before = *w;
  R hit = press(kind.points, demand, pass, &w->params, &w->touch, mass, &w->state, &w->a, &w->b);
  store_field(cb->hit, lane, r_max(load_field(cb->hit, lane), hit));
  rub(kind.points, pass, &w->params, &w->touch, mass, &strain, &w->state, &w->a, &w->b);
  restore_idle(demand->idle, &before, w);
  store_velocities(data, cb, lane, w);
}

// A patch that slips begins to stick where it is.
KERNEL void slip_along(contact_block *cb, int lane, ContactState *state)
{
  Strain shift;
  LOAD(cb->shift, lane, &shift);
  V none = v_zero();
  Strain since = {v_pick(state->sliding > 0.5f, v_sub(none, shift.offset), state->offset),
                  pick(state->turning > 0.5f, -shift.angle, state->angle)};
  STORE(cb->state + STATE_FIELD(offset), lane, &since);
}

KERNEL void solve_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Need need = need_of(cb, kind);
  ContactPass pass = make_pass(data, cb, lane, need, 0);
  Work w;
  ContactMass mass;
  load_velocities(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  load_mass(cb, lane, kind, need, &w.touch, &mass);
  if (kind.form == FORM_WIRE) {
    WireStart start;
    LOAD(cb->start, lane, &start);
    load_poses(data, cb, lane, &w);
    pass.bend = bend_rate(&start, &w.params, &w.touch, &w.a, &w.b, splat(data->substep.h));
  }
  Demand demand =
      demand_of(kind.points, w.used, &pass, &w.params, &w.touch, &mass, &w.state, &w.a, &w.b);
  demand.idle = demand.idle & is_slack(&w.state);
  if (m_any(m_not(demand.idle))) {
    press_and_rub(data, cb, lane, kind, need, &pass, &demand, &mass, &w);
    store_impulses(cb, lane, kind, need, &w.state);
  }
  if (need.sticks) {
    slip_along(cb, lane, &w.state);
  }
}

KERNEL void add_field(float *field, int lane, R x)
{
  store_field(field, lane, load_field(field, lane) + x);
}

KERNEL void sum_impulses(contact_block *cb, int lane, int points, int turns,
                         const ContactState *state)
{
  for (int i = 0; i < points; ++i) {
    add_field(cb->sum[i], lane, state->lambda[i]);
  }
  add_field(cb->sum[4], lane, state->friction.x);
  add_field(cb->sum[5], lane, state->friction.y);
  add_field(cb->sum[6], lane, state->friction.z);
  if (turns) {
    add_field(cb->sum[7], lane, state->twist);
  }
}

KERNEL void relax_touching(solver_data *data, contact_block *cb, int lane, Kind kind, Need need,
                           M idle, const ContactMass *mass, Work *w, Slip *slip)
{
  ContactPass pass = make_pass(data, cb, lane, need, 1);
  if (kind.form == FORM_FLAT) {
    load_velocities(data, cb, lane, w);
    load_inertias(data, cb, lane, w);
  }
  Work before = *w;
  Demand demand =
      demand_of(kind.points, w->used, &pass, &w->params, &w->touch, mass, &w->state, &w->a, &w->b);
  press(kind.points, &demand, &pass, &w->params, &w->touch, mass, &w->state, &w->a, &w->b);
  Strain none = {v_zero(), splat(0.0f)};
  Slip loaded =
      rub(kind.points, &pass, &w->params, &w->touch, mass, &none, &w->state, &w->a, &w->b);
  M light = sum_of(kind.points, w->state.lambda) == 0.0f;
  slip->slides = (light & slip->slides) | (m_not(light) & loaded.slides);
  slip->turns = (light & slip->turns) | (m_not(light) & loaded.turns);
  restore_idle(idle, &before, w);
  sum_impulses(cb, lane, kind.points, need.turns, &w->state);
  store_velocities(data, cb, lane, w);
}

// No point touches or has an impulse.
KERNEL M is_apart(Kind kind, const Work *w)
{
  M apart = is_slack(&w->state);
  for (int i = 0; i < kind.points; ++i) {
    apart = apart & (w->state.lambda[i] == 0.0f) &
            ((w->used[i] == 0.0f) | (w->touch.gap[i] > 0.0f) | (w->params.alpha > 0.0f));
  }
  return apart;
}

KERNEL void store_learnt(contact_block *cb, int lane, Need need, const Slip *slip, ContactState *s)
{
  s->sliding = pick(slip->slides, splat(1.0f), splat(0.0f));
  store_fields(cb->state + STATE_FIELD(reference), lane, &s->reference, 2);
  store_fields(cb->state + STATE_FIELD(sliding), lane, &s->sliding, 1);
  if (need.turns) {
    s->turning = pick(slip->turns, splat(1.0f), splat(0.0f));
    store_fields(cb->state + STATE_FIELD(turning), lane, &s->turning, 1);
  }
}

// At the new pose, which the next substep starts from: its rows are found here.
KERNEL void relax_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Need need = need_of(cb, kind);
  Work w;
  ContactMass mass;
  Slip slip;
  load_poses(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  follow(cb, lane, kind, &w);
  store_touch(cb, lane, kind, &w.touch);
  store_field(cb->left, lane, splat(data->substep.h));
  M apart = is_apart(kind, &w);
  if (kind.form == FORM_FLAT) {
    load_mass(cb, lane, kind, need, &w.touch, &mass);
    slip.slides = w.state.sliding > 0.5f;
    slip.turns = w.state.turning > 0.5f;
  } else {
    slip.slides = slip.turns = splat(0.0f) == 0.0f;
    load_velocities(data, cb, lane, &w);
    load_inertias(data, cb, lane, &w);
    mass = find_mass(data, kind, &w);
    store_mass(cb, lane, kind, need, &mass);
    flatten(&w.touch, &w.state);
  }
  if (need.sticks) {
    Strain shift = follow_patch(data, cb, lane, &mass.patch, &w);
    R far = splat(4.0f * data->substep.bounce_speed * data->substep.h);
    slip = slip_without_load(far, mass.arm, &shift, &w.state);
  }
  learn_load(kind.points, mass.share, splat(data->substep.h), &w.state);
  if (m_any(m_not(apart))) {
    relax_touching(data, cb, lane, kind, need, apart, &mass, &w, &slip);
    if (data->substep.carried) {
      warm_ahead(data, cb, lane, kind, &mass, &w);
    }
  }
  store_learnt(cb, lane, need, &slip, &w.state);
  store_impulses(cb, lane, kind, need, &w.state);
}

#if TN_LANES < 16

// After impacts some bodies have moved, and less of the substep is left to them.
LARGE void refresh_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Work w;
  R flown = load_poses(data, cb, lane, &w);
  load_rows(cb, lane, kind, need_of(cb, kind), &w);
  follow(cb, lane, kind, &w);
  store_touch(cb, lane, kind, &w.touch);
  R h = splat(data->substep.h);
  store(&cb->left[lane], r_max(h - flown, 1e-3f * h));
}

// ---------------------------------------------------------------------------------------------
// Position form: the paper's own handling, errata mended.

LARGE void load_all_rows(contact_block *cb, int lane, Kind kind, Work *w)
{
  load_fields(cb->used, lane, w->used, kind.points);
  LOAD(cb->params, lane, &w->params);
  LOAD(cb->state, lane, &w->state);
  load_touch(cb, lane, kind.points, &w->touch);
}

LARGE void approach_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  Work w;
  R approach[CONTACT_POINTS];
  load_velocities(data, cb, lane, &w);
  load_poses(data, cb, lane, &w);
  load_all_rows(cb, lane, kind, &w);
  follow(cb, lane, kind, &w);
  for (int i = 0; i < kind.points; ++i) {
    approach[i] = v_dot(w.touch.n, relative_velocity(&w.a, &w.b, w.touch.ra[i], w.touch.rb[i]));
    w.state.lambda[i] = splat(0.0f);
  }
  w.state.friction = v_zero();
  store_fields(cb->approach, lane, approach, kind.points);
  STORE(cb->state, lane, &w.state);
}

// SolvePositions: eq. 4 for the penetration, then static friction against the whole tangential
// motion of the substep, which is h times the velocity.
LARGE void position_point(const solver_data *data, int i, Work *w)
{
  R h = splat(data->substep.h);
  R inv_h = 1.0f / h;
  V ra = w->touch.ra[i];
  V rb = w->touch.rb[i];
  V n = w->touch.n;
  R alpha = w->params.alpha * inv_h * inv_h;
  S k = linear_inverse_mass(&w->a, &w->b, ra, rb);
  R mass = v_dot(n, s_mul(k, n)) + alpha;
  R wanted = -(w->touch.gap[i] * inv_h + alpha * w->state.lambda[i]);
  R now = r_max(w->state.lambda[i] + wanted * r_inverse_above(mass, splat(0.0f)), splat(0.0f));
  now = pick(w->used[i] > 0.5f, now, splat(0.0f));
  apply_linear(&w->a, &w->b, ra, rb, v_scale(now - w->state.lambda[i], n), FORM_POSITION, h);
  w->state.lambda[i] = now;

  V u = v_add(relative_velocity(&w->a, &w->b, ra, rb), w->params.slide);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  R speed = v_length(slide);
  V t = v_scale(1.0f / r_max(speed, splat(1e-30f)), slide);
  R stop = speed * r_inverse_above(v_dot(t, s_mul(k, t)), splat(0.0f));
  // DEVIATION: the comparison of eq. 4's multipliers is one of magnitudes.
  R given = pick(stop < w->params.mu_static * now, stop, splat(0.0f));
  V friction = v_scale(-given, t);
  apply_linear(&w->a, &w->b, ra, rb, friction, FORM_POSITION, h);
  w->state.friction = v_add(w->state.friction, friction);
}

// SolveVelocities: eq. 30 and 34.
LARGE void velocity_point(const solver_data *data, int i, R approach, R e, R threshold, Work *w)
{
  R h = splat(data->substep.h);
  V ra = w->touch.ra[i];
  V rb = w->touch.rb[i];
  V n = w->touch.n;
  S k = linear_inverse_mass(&w->a, &w->b, ra, rb);
  R lambda = w->state.lambda[i];
  V u = v_add(relative_velocity(&w->a, &w->b, ra, rb), w->params.slide);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  R speed = v_length(slide);
  V t = v_scale(1.0f / r_max(speed, splat(1e-30f)), slide);
  R stop = speed * r_inverse_above(v_dot(t, s_mul(k, t)), splat(0.0f));
  // DEVIATION: eq. 30 lacks the inverse mass; as an impulse it is min(mu h fn, |vt| / w).
  V friction = v_scale(-r_min(w->params.mu_dynamic * lambda, stop), t);
  apply_linear(&w->a, &w->b, ra, rb, friction, FORM_VELOCITY, h);
  w->state.friction = v_add(w->state.friction, friction);

  // DEVIATION: the threshold is on the speed before the contact, and the impulse may not pull.
  R un = v_dot(n, relative_velocity(&w->a, &w->b, ra, rb));
  R back = pick(approach < -threshold, -e * approach, splat(0.0f));
  R p = (r_max(back, splat(0.0f)) - un) * r_inverse_above(v_dot(n, s_mul(k, n)), splat(0.0f));
  R now = r_max(lambda + p, splat(0.0f));
  now = pick(lambda > 0.0f, now, lambda);
  apply_linear(&w->a, &w->b, ra, rb, v_scale(now - lambda, n), FORM_VELOCITY, h);
  w->state.lambda[i] = now;
}

LARGE void load_movable(const solver_data *data, contact_block *cb, int lane, Kind kind, Work *w)
{
  load_velocities(data, cb, lane, w);
  load_inertias(data, cb, lane, w);
  load_poses(data, cb, lane, w);
  load_all_rows(cb, lane, kind, w);
  if (data->substep.averaged) {
    w->a.im = w->share_a * w->a.im;
    w->b.im = w->share_b * w->b.im;
    w->a.ii = s_scale(w->share_a, w->a.ii);
    w->b.ii = s_scale(w->share_b, w->b.ii);
  }
}

LARGE void store_moved(const solver_data *data, contact_block *cb, int lane, const Work *before,
                       const Work *w)
{
  if (data->substep.averaged) {
    add_change(data, gather_a(cb, lane), v_sub(w->a.v, before->a.v), v_sub(w->a.w, before->a.w));
    add_change(data, gather_b(cb, lane), v_sub(w->b.v, before->b.v), v_sub(w->b.w, before->b.w));
    return;
  }
  store_whole(data, gather_a(cb, lane), &w->a, w->share_a);
  store_whole(data, gather_b(cb, lane), &w->b, w->share_b);
}

LARGE void position_contact(solver_data *data, contact_block *cb, int lane, Kind kind)
{
  solve_stage stage = data->substep.stage;
  if (stage == STAGE_BEGIN) {
    return;
  }
  Work w;
  R approach[CONTACT_POINTS];
  load_movable(data, cb, lane, kind, &w);
  load_fields(cb->approach, lane, approach, kind.points);
  R e = load(&cb->restitution[lane]);
  Work before = w;
  for (int i = 0; i < kind.points; ++i) {
    follow(cb, lane, kind, &w);
    if (stage == STAGE_POSITIONS) {
      position_point(data, i, &w);
    } else {
      R hit = pick(w.state.lambda[i] > 0.0f, -approach[i], splat(0.0f));
      store(cb->hit + lane, r_max(load(cb->hit + lane), hit));
      velocity_point(data, i, approach[i], e, splat(data->substep.bounce_speed), &w);
    }
  }
  if (stage == STAGE_VELOCITIES) {
    sum_impulses(cb, lane, kind.points, 1, &w.state);
  }
  STORE(cb->state, lane, &w.state);
  store_moved(data, cb, lane, &before, &w);
}

#endif

// ---------------------------------------------------------------------------------------------
// Every pass over contacts: all lanes of a block are of one type, so the type is settled once.

#if TN_LANES == 16

#define CASE(type, call, form, points)                                                             \
  case type:                                                                                       \
    call(data, cb, 0, (Kind){form, points});                                                       \
    break

// Blocks of one kind by twos; what is left alone goes by eight lanes. What one block leaves out and
// the other does not would show, if only in the sign of a zero.
KERNEL int is_alike(const contact_block *a, const contact_block *b)
{
  return a->type == b->type && a->traits == b->traits;
}

#define NEXT_BLOCKS(pass)                                                                          \
  if (block + 1 >= last || !is_alike(cb, cb + 1)) {                                                \
    contact_ops_8.pass(data, block, block + 1);                                                    \
    ++block;                                                                                       \
    continue;                                                                                      \
  }                                                                                                \
  block += 2

#else

#define CASE(type, call, form, points)                                                             \
  case type:                                                                                       \
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {                                     \
      call(data, cb, lane, (Kind){form, points});                                                  \
    }                                                                                              \
    break

#define NEXT_BLOCKS(pass) ++block

#endif

#define CONTACT_PASS(pass, call)                                                                   \
  static void pass_##pass(solver_data *data, int first, int last)                                  \
  {                                                                                                \
    for (int block = first; block < last;) {                                                       \
      contact_block *cb = &data->contacts[block];                                                  \
      NEXT_BLOCKS(pass);                                                                           \
      switch (cb->type) {                                                                          \
        CASE(CONTACT_FLAT_1, call, FORM_FLAT, 1);                                                  \
        CASE(CONTACT_FLAT_2, call, FORM_FLAT, 2);                                                  \
        CASE(CONTACT_FLAT_4, call, FORM_FLAT, 4);                                                  \
        CASE(CONTACT_ROUND_1, call, FORM_ROUND, 1);                                                \
        CASE(CONTACT_ROUND_2, call, FORM_ROUND, 2);                                                \
        CASE(CONTACT_RIM_2, call, FORM_RIM, 2);                                                    \
        CASE(CONTACT_RIM_4, call, FORM_RIM, 4);                                                    \
        CASE(CONTACT_WIRE_1, call, FORM_WIRE, 1);                                                  \
      default:                                                                                     \
        break;                                                                                     \
      }                                                                                            \
    }                                                                                              \
  }

CONTACT_PASS(warm, warm_contact)
CONTACT_PASS(solve, solve_contact)
CONTACT_PASS(relax, relax_contact)

#if TN_LANES == 16

// The rest is no faster.
static void pass_begin(solver_data *data, int first, int last)
{
  contact_ops_8.begin(data, first, last);
}

static void pass_refresh(solver_data *data, int first, int last)
{
  contact_ops_8.refresh(data, first, last);
}

static void pass_approach(solver_data *data, int first, int last)
{
  contact_ops_8.approach(data, first, last);
}

static void pass_positions(solver_data *data, int first, int last)
{
  contact_ops_8.positions(data, first, last);
}

#undef CONTACT_PACK
#undef CONTACT_UNPACK
#undef LOOK_ROUND
#define CONTACT_PACK contact_pack_8
#define CONTACT_UNPACK contact_unpack_8
#define LOOK_ROUND look_round_8

#else

CONTACT_PASS(begin, begin_contact)
CONTACT_PASS(refresh, refresh_contact)
CONTACT_PASS(approach, approach_contact)
CONTACT_PASS(positions, position_contact)

#endif

const contact_ops CONTACT_OPS = {
    LOOK_ROUND, CONTACT_PACK, CONTACT_UNPACK, pass_begin,    pass_warm,
    pass_solve, pass_relax,   pass_refresh,   pass_approach, pass_positions,
};
