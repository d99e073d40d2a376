// Passes over contact blocks: gather bodies and rows into lanes, run a kernel of kernel/contact.h,
// scatter what it changed. Compiled once for each lane width.
//
// At 16 lanes the three most expensive passes (warm start, solve, relax) take two blocks at a time,
// which saves a seventh of their time against 8 lanes (pyramid of 666 cubes, 20 substeps).
#include "base/rules.h"
#include "kernel/tuning.h"
#include "solver/contact/contact_rows.h"

#include <stddef.h>

#define CONTACT_OPS PASTE(contact_ops_, TN_LANES)
#define CONTACT_PACK PASTE(contact_pack_, TN_LANES)
#define CONTACT_UNPACK PASTE(contact_unpack_, TN_LANES)
#define COLLIDE_CAPSULE_BATCH PASTE(collide_capsule_batch_, TN_LANES)

KERNEL M is_turning(contact_block *cb, int lane)
{
  return load_field(cb->start[START_FIELD(turning)], lane) > 0.5f;
}

// Gaps are computed from the lever arms of the start of the step.
KERNEL void load_start_arms(contact_block *cb, int lane, int points, ContactWork *w)
{
  V ra[CONTACT_POINTS], rb[CONTACT_POINTS];
  M turning = is_turning(cb, lane);
  load_fields(cb->start + START_FIELD(ra), lane, (R *)ra, 3 * points);
  load_fields(cb->start + START_FIELD(rb), lane, (R *)rb, 3 * points);
  for (int i = 0; i < points; ++i) {
    w->geom.ra[i] = v_pick(turning, ra[i], w->geom.ra[i]);
    w->geom.rb[i] = v_pick(turning, rb[i], w->geom.rb[i]);
  }
}

// Gaps of flat contacts from the lever arms of the start of the step.
KERNEL void update_flat_gaps(contact_block *cb, int lane, int points, ContactWork *w)
{
  FlatStart start;
  load_fields(cb->start, lane, start.gap, points);
  update_flat_geometry(points, &start, &w->params, &w->a, &w->b, &w->geom);
}

// Gaps, lever arms and normal at the bodies' current pose.
KERNEL void update_geometry(contact_block *cb, int lane, ContactKind kind, ContactWork *w)
{
  switch (kind.form) {
  case CONTACT_FORM_FLAT:
    if (ANY_BLOCK(cb, turning)) {
      load_start_arms(cb, lane, kind.points, w);
    }
    update_flat_gaps(cb, lane, kind.points, w);
    break;
  case CONTACT_FORM_ROUND: {
    RoundStart start;
    // Cores are for two points.
    size_t size = kind.points == 1 ? offsetof(RoundStart, ca) : sizeof start;
    load_fields(cb->start, lane, (R *)&start, (int)(size / sizeof(R)));
    update_round_geometry(kind.points, &start, &w->params, &w->a, &w->b, &w->geom);
    break;
  }
  case CONTACT_FORM_RIM: {
    RimStart start;
    LOAD(cb->start, lane, &start);
    update_rim_geometry(kind.points, &start, &w->a, &w->b, &w->geom);
    break;
  }
  case CONTACT_FORM_WIRE: {
    WireStart start;
    LOAD(cb->start, lane, &start);
    update_wire_geometry(&start, &w->params, &w->a, &w->b, &w->geom);
    STORE(cb->start, lane, &start);
    break;
  }
  }
}

// Mean radius of a disc, 2/3 of its radius, over that of the square of four points on its rim.
#define DISC_FRICTION_RADIUS 1.2426f

// Compliance enters as alpha / h^2 (eq. 4).
KERNEL void find_mass(const solver_data *data, ContactKind kind, const ContactWork *w,
                      ContactMass *mass)
{
  R inv_h = splat(1.0f / data->substep.h);
  R alpha = w->params.alpha * inv_h * inv_h;
  compute_contact_mass(kind.points, w->used, w->state.lambda, &w->geom, alpha, &w->a, &w->b, mass);
  if (kind.form == CONTACT_FORM_RIM && kind.points > 2) {
    mass->friction_radius = DISC_FRICTION_RADIUS * mass->friction_radius;
  }
}

KERNEL void turn_points(const solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactNeeds need = need_of(cb, kind);
  ContactWork w;
  ContactMass mass;
  M turning = is_turning(cb, lane);
  load_poses(data, cb, lane, &w);
  load_inertias(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  update_geometry(cb, lane, kind, &w);
  store_geometry(cb, lane, kind, &w.geom);
  turn_lever_arms(kind.points, turning, &w.params, &w.a, &w.b, &w.geom);
  store_fields(cb->geom + GEOMETRY_FIELD(ra), lane, (const R *)w.geom.ra, 3 * kind.points);
  store_fields(cb->geom + GEOMETRY_FIELD(rb), lane, (const R *)w.geom.rb, 3 * kind.points);
  load_mass(cb, lane, kind, need, &w.geom, &mass);
  ContactMass now;
  find_mass(data, kind, &w, &now);
  for (int i = 0; i < kind.points * (kind.points + 1) / 2; ++i) {
    mass.k[i] = pick(turning, now.k[i], mass.k[i]);
    mass.inverse[i] = pick(turning, now.inverse[i], mass.inverse[i]);
  }
  for (int i = 0; i < 3; ++i) {
    mass.tangent[i] = pick(turning, now.tangent[i], mass.tangent[i]);
  }
  mass.twist = pick(turning, now.twist, mass.twist);
  mass.friction_radius = pick(turning, now.friction_radius, mass.friction_radius);
  mass.patch.ra = v_pick(turning, now.patch.ra, mass.patch.ra);
  mass.patch.rb = v_pick(turning, now.patch.rb, mass.patch.rb);
  store_mass(cb, lane, kind, need, &mass);
}

// Gaps, lever arms and effective masses of flat contacts whose bodies turn fast, at the current
// pose. Out of line and through memory: other contacts need the registers.
SELDOM void turn_contact(const solver_data *data, contact_block *cb, int lane, int points)
{
  switch (points) {
  case 1:
    turn_points(data, cb, lane, (ContactKind){CONTACT_FORM_FLAT, 1});
    break;
  case 2:
    turn_points(data, cb, lane, (ContactKind){CONTACT_FORM_FLAT, 2});
    break;
  default:
    turn_points(data, cb, lane, (ContactKind){CONTACT_FORM_FLAT, CONTACT_POINTS});
    break;
  }
}

// Tangential displacement of the friction patch since the step began, and its rotation about the
// normal. A round shape rolls on to other points of its surface; there the slip velocity of the
// drift is integrated instead: offset += h u.
KERNEL FrictionOffset update_patch_offset(const solver_data *data, contact_block *cb, int lane,
                                          const Patch *patch, ContactWork *w)
{
  V d = v_sub(point_displacement(&w->b, patch->rb), point_displacement(&w->a, patch->ra));
  if (ANY_BLOCK(cb, turning)) {
    V now_b = v_sub(v_add(w->b.dx, patch->rb), q_unrotate(w->b.dq, patch->rb));
    V now_a = v_sub(v_add(w->a.dx, patch->ra), q_unrotate(w->a.dq, patch->ra));
    d = v_pick(is_turning(cb, lane), v_sub(now_b, now_a), d);
  }
  M is_round = w->params.radius_a + w->params.radius_b > 0.0f;
  if (m_any(is_round)) {
    FrictionOffset last;
    LOAD(cb->patch_offset, lane, &last);
    load_velocities(data, cb, lane, w);
    V slid = v_scale(splat(data->substep.h), relative_velocity(&w->a, &w->b, patch->ra, patch->rb));
    d = v_pick(is_round, v_add(last.offset, slid), d);
  }
  V turn = v_sub(q_vector(w->b.dq), q_vector(w->a.dq)); // half of the relative rotation
  FrictionOffset patch_offset = {v_sub(d, v_scale(v_dot(d, w->geom.n), w->geom.n)),
                                 2.0f * v_dot(turn, w->geom.n)};
  STORE(cb->patch_offset, lane, &patch_offset);
  return patch_offset;
}

// Slip of a patch without load. A patch that loses its load for a moment keeps its anchor, unless
// it is farther from it than `far`, m.
KERNEL Slip slip_without_load(R far, R friction_radius, const FrictionOffset *patch_offset,
                              const ContactState *state)
{
  V d = v_add(state->offset, patch_offset->offset);
  R angle = state->angle + patch_offset->angle;
  Slip slip = {(state->sliding > 0.5f) | (v_dot(d, d) > far * far),
               (state->turning > 0.5f) | (r_abs(angle) * friction_radius > far)};
  if (!RULE(anchor_kept)) {
    slip.slides = slip.turns = splat(0.0f) == 0.0f;
  }
  return slip;
}

// ---------------------------------------------------------------------------------------------
// Impulse form

// Velocity that gravity adds in a substep, g h, m/s.
KERNEL float gravity_speed(const solver_data *data)
{
  return 1.0f / TUNING_RESTITUTION_THRESHOLD * data->substep.restitution_threshold;
}

#if TN_LANES < 16

// Effective masses. Packing has set the geometry of flat and round contacts.
LARGE void prepare_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactNeeds need = need_of(cb, kind);
  ContactWork w;
  load_velocities(data, cb, lane, &w);
  load_inertias(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  if (kind.form == CONTACT_FORM_RIM || kind.form == CONTACT_FORM_WIRE) {
    load_poses(data, cb, lane, &w);
    update_geometry(cb, lane, kind, &w);
    store_geometry(cb, lane, kind, &w.geom);
  }
  ContactMass mass;
  find_mass(data, kind, &w, &mass);
  store_mass(cb, lane, kind, need, &mass);
}

#endif

// Idle contacts are skipped when all lanes of a register are idle. Otherwise their lanes are
// restored bit for bit, including signs of zeros, so that results do not depend on the lane width.
KERNEL void restore_idle_lanes(M idle, const ContactWork *before, ContactWork *w)
{
  w->a.v = v_pick(idle, before->a.v, w->a.v);
  w->a.w = v_pick(idle, before->a.w, w->a.w);
  w->b.v = v_pick(idle, before->b.v, w->b.v);
  w->b.w = v_pick(idle, before->b.w, w->b.w);
  w->state.friction = v_pick(idle, before->state.friction, w->state.friction);
  w->state.twist = pick(idle, before->state.twist, w->state.twist);
  w->state.roll = v_pick(idle, before->state.roll, w->state.roll);
}

// Neither a point nor the patch has an impulse.
KERNEL M is_unloaded(ContactKind kind, const ContactState *state)
{
  M unloaded = has_no_friction_impulse(state);
  for (int i = 0; i < kind.points; ++i) {
    unloaded = unloaded & (state->lambda[i] == 0.0f);
  }
  return unloaded;
}

// Applies the impulses of the last substep, less their decay.
LARGE void warm_start_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactNeeds need = need_of(cb, kind);
  ContactWork w;
  load_rows(cb, lane, kind, need, &w);
  M idle = is_unloaded(kind, &w.state);
  if (!m_any(m_not(idle))) {
    return;
  }
  load_velocities(data, cb, lane, &w);
  load_inertias(data, cb, lane, &w);
  ContactWork before = w;
  ContactMass mass;
  load_mass(cb, lane, kind, need, &w.geom, &mass);
  decay_contact_impulses(kind.points, &w.params, &mass, splat(gravity_speed(data)), &w.state);
  project_to_tangent_plane(&w.geom, &w.state);
  Wrench wrench = contact_wrench(kind.points, &w.geom, &mass.patch, &w.state);
  apply_wrench(&w.a, &w.b, &wrench);
  restore_idle_lanes(idle, &before, &w);
  store_impulses(cb, lane, kind, need, &w.state);
  store_velocities(data, cb, lane, &w);
}

// Warm start of the next substep, done in the relax pass because the pose is the same and the rows
// are loaded. The bodies get the velocity change with their next kick. Idle lanes add -0, which
// leaves every float as it is, including the sign of a zero.
KERNEL void warm_start_next_substep(solver_data *data, contact_block *cb, int lane,
                                    ContactKind kind, const ContactMass *mass, ContactWork *w)
{
  M idle = is_unloaded(kind, &w->state);
  if (!m_any(m_not(idle))) {
    return;
  }
  ContactState before = w->state;
  decay_contact_impulses(kind.points, &w->params, mass, splat(gravity_speed(data)), &w->state);
  Wrench wrench = contact_wrench(kind.points, &w->geom, &mass->patch, &w->state);
  w->state.friction = v_pick(idle, before.friction, w->state.friction);
  w->state.twist = pick(idle, before.twist, w->state.twist);
  w->state.roll = v_pick(idle, before.roll, w->state.roll);
  Gather a = gather_a(cb, lane);
  Gather b = gather_b(cb, lane);
  a.move = ANY_BLOCK(cb, fixed_a) ? a.move : NULL;
  b.move = ANY_BLOCK(cb, fixed_b) ? b.move : NULL;
  V nothing = v_make(splat(-0.0f), splat(-0.0f), splat(-0.0f));
  V none = v_zero();
  V turn_a = v_sub(none, s_mul(w->a.ii, wrench.la));
  V turn_b = s_mul(w->b.ii, wrench.lb);
  add_correction(data, a, v_pick(idle, nothing, v_scale(-w->a.im, wrench.p)),
                 v_pick(idle, nothing, turn_a));
  add_correction(data, b, v_pick(idle, nothing, v_scale(w->b.im, wrench.p)),
                 v_pick(idle, nothing, turn_b));
}

KERNEL ContactPass make_contact_pass(const solver_data *data, const contact_block *cb, int lane,
                                     ContactNeeds need, int relaxing)
{
  float h = data->substep.h;
  ContactPass pass = {splat(h),
                      splat(1.0f / h),
                      1.0f / load_field(cb->time_left, lane),
                      splat(TUNING_CONTACT_NEAR_GAP * gravity_speed(data) * h),
                      relaxing,
                      need.has_rolling,
                      need.has_compliance,
                      splat(0.0f)};
  return pass;
}

KERNEL void solve_normals_and_friction(solver_data *data, contact_block *cb, int lane,
                                       ContactKind kind, ContactNeeds need, const ContactPass *pass,
                                       const ContactRhs *rhs, const ContactMass *mass,
                                       ContactWork *w)
{
  FrictionOffset anchor_offset = {v_zero(), splat(0.0f)};
  if (need.has_anchor) {
    FrictionOffset patch_offset;
    LOAD(cb->patch_offset, lane, &patch_offset);
    anchor_offset.offset =
        v_scale(w->params.has_anchor, v_add(w->state.offset, patch_offset.offset));
    anchor_offset.angle = w->params.has_anchor * (w->state.angle + patch_offset.angle);
  }
  load_inertias(data, cb, lane, w);
  ContactWork before = *w;
  R hit_speed =
      solve_normals(kind.points, rhs, pass, &w->params, &w->geom, mass, &w->state, &w->a, &w->b);
  store_field(cb->hit_speed, lane, r_max(load_field(cb->hit_speed, lane), hit_speed));
  solve_friction(kind.points, w->used, pass, &w->params, &w->geom, mass, &anchor_offset, &w->state,
                 &w->a, &w->b);
  restore_idle_lanes(rhs->idle, &before, w);
  store_velocities(data, cb, lane, w);
}

// Moves the anchor of a slipping patch to its current place: offset + patch_offset becomes zero.
KERNEL void reset_slipped_anchor(contact_block *cb, int lane, ContactState *state)
{
  FrictionOffset patch_offset;
  LOAD(cb->patch_offset, lane, &patch_offset);
  V none = v_zero();
  FrictionOffset since = {
      v_pick(state->sliding > 0.5f, v_sub(none, patch_offset.offset), state->offset),
      pick(state->turning > 0.5f, -patch_offset.angle, state->angle)};
  STORE(cb->state + STATE_FIELD(offset), lane, &since);
}

// Normals and friction with position bias, at the pose before the drift.
KERNEL void solve_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactNeeds need = need_of(cb, kind);
  ContactPass pass = make_contact_pass(data, cb, lane, need, 0);
  ContactWork w;
  ContactMass mass;
  load_velocities(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  load_mass(cb, lane, kind, need, &w.geom, &mass);
  if (RULE(curvature_bias) && kind.form == CONTACT_FORM_WIRE) {
    WireStart start;
    LOAD(cb->start, lane, &start);
    load_poses(data, cb, lane, &w);
    pass.curvature_bias =
        curvature_bias(&start, &w.params, &w.geom, &w.a, &w.b, splat(data->substep.h));
  }
  ContactRhs rhs =
      build_rhs(kind.points, w.used, &pass, &w.params, &w.geom, &mass, &w.state, &w.a, &w.b);
  rhs.idle = rhs.idle & has_no_friction_impulse(&w.state);
  if (m_any(m_not(rhs.idle))) {
    solve_normals_and_friction(data, cb, lane, kind, need, &pass, &rhs, &mass, &w);
    store_impulses(cb, lane, kind, need, &w.state);
  }
  if (need.has_anchor) {
    reset_slipped_anchor(cb, lane, &w.state);
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

// Solves normals and friction without position bias. A loaded patch that this cannot stop has
// dynamic friction in the next substep; one without load keeps the slip it was called with.
KERNEL void relax_touching(solver_data *data, contact_block *cb, int lane, ContactKind kind,
                           ContactNeeds need, M idle, const ContactMass *mass, ContactWork *w,
                           Slip *slip)
{
  ContactPass pass = make_contact_pass(data, cb, lane, need, 1);
  if (kind.form == CONTACT_FORM_FLAT) {
    load_velocities(data, cb, lane, w);
    load_inertias(data, cb, lane, w);
  }
  if (!RULE(contact_relax)) {
    sum_impulses(cb, lane, kind.points, need.turns, &w->state);
    return;
  }
  ContactWork before = *w;
  ContactRhs rhs =
      build_rhs(kind.points, w->used, &pass, &w->params, &w->geom, mass, &w->state, &w->a, &w->b);
  solve_normals(kind.points, &rhs, &pass, &w->params, &w->geom, mass, &w->state, &w->a, &w->b);
  FrictionOffset none = {v_zero(), splat(0.0f)};
  Slip loaded = solve_friction(kind.points, w->used, &pass, &w->params, &w->geom, mass, &none,
                               &w->state, &w->a, &w->b);
  M light = sum_of(kind.points, w->state.lambda) == 0.0f;
  slip->slides = (light & slip->slides) | (m_not(light) & loaded.slides);
  slip->turns = (light & slip->turns) | (m_not(light) & loaded.turns);
  restore_idle_lanes(idle, &before, w);
  sum_impulses(cb, lane, kind.points, need.turns, &w->state);
  store_velocities(data, cb, lane, w);
}

// Nothing to relax: no impulses, and every point is unused, open or compliant.
KERNEL M is_apart(ContactKind kind, const ContactWork *w)
{
  M apart = has_no_friction_impulse(&w->state);
  for (int i = 0; i < kind.points; ++i) {
    apart = apart & (w->state.lambda[i] == 0.0f) &
            ((w->used[i] == 0.0f) | (w->geom.gap[i] > 0.0f) | (w->params.alpha > 0.0f));
  }
  return apart;
}

KERNEL void store_preload_and_slip(contact_block *cb, int lane, ContactNeeds need, const Slip *slip,
                                   ContactState *s)
{
  s->sliding = pick(slip->slides, splat(1.0f), splat(0.0f));
  store_fields(cb->state + STATE_FIELD(preload), lane, &s->preload, 2);
  store_fields(cb->state + STATE_FIELD(sliding), lane, &s->sliding, 1);
  if (need.turns) {
    s->turning = pick(slip->turns, splat(1.0f), splat(0.0f));
    store_fields(cb->state + STATE_FIELD(turning), lane, &s->turning, 1);
  }
}

// Relax pass after the drift. The next substep starts from the same pose, so its geometry and
// effective masses are computed here.
KERNEL void relax_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactNeeds need = need_of(cb, kind);
  ContactWork w;
  ContactMass mass;
  Slip slip;
  bool turned = kind.form == CONTACT_FORM_FLAT && ANY_BLOCK(cb, turning);
  if (turned) {
    turn_contact(data, cb, lane, kind.points);
  }
  load_poses(data, cb, lane, &w);
  load_rows(cb, lane, kind, need, &w);
  if (kind.form != CONTACT_FORM_FLAT) {
    update_geometry(cb, lane, kind, &w);
  } else if (!turned) {
    update_flat_gaps(cb, lane, kind.points, &w);
  }
  store_geometry(cb, lane, kind, &w.geom);
  store_field(cb->time_left, lane, splat(data->substep.h));
  M apart = is_apart(kind, &w);
  if (kind.form == CONTACT_FORM_FLAT) {
    load_mass(cb, lane, kind, need, &w.geom, &mass);
    slip.slides = w.state.sliding > 0.5f;
    slip.turns = w.state.turning > 0.5f;
  } else {
    slip.slides = slip.turns = splat(0.0f) == 0.0f;
    load_velocities(data, cb, lane, &w);
    load_inertias(data, cb, lane, &w);
    find_mass(data, kind, &w, &mass);
    store_mass(cb, lane, kind, need, &mass);
    project_to_tangent_plane(&w.geom, &w.state);
  }
  if (need.has_anchor) {
    FrictionOffset patch_offset = update_patch_offset(data, cb, lane, &mass.patch, &w);
    R far = splat(TUNING_ANCHOR_KEEP * gravity_speed(data) * data->substep.h);
    slip = slip_without_load(far, mass.friction_radius, &patch_offset, &w.state);
  }
  update_preload(kind.points, mass.share, splat(data->substep.h), &w.state);
  if (m_any(m_not(apart))) {
    relax_touching(data, cb, lane, kind, need, apart, &mass, &w, &slip);
    if (data->substep.deferred_warm_start) {
      warm_start_next_substep(data, cb, lane, kind, &mass, &w);
    }
  }
  store_preload_and_slip(cb, lane, need, &slip, &w.state);
  store_impulses(cb, lane, kind, need, &w.state);
}

#if TN_LANES < 16

// Gaps after impacts have moved some bodies, and the rest of the substep that is left to them.
LARGE void refresh_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactWork w;
  R advanced_time = load_poses(data, cb, lane, &w);
  load_rows(cb, lane, kind, need_of(cb, kind), &w);
  update_geometry(cb, lane, kind, &w);
  store_geometry(cb, lane, kind, &w.geom);
  R h = splat(data->substep.h);
  store(&cb->time_left[lane], r_max(h - advanced_time, TUNING_IMPACT_MIN_TIME_LEFT * h));
}

// ---------------------------------------------------------------------------------------------
// Position form: contacts as in sec. 3.5 and 3.6 of Mueller et al. 2020, errata corrected.

LARGE void load_all_rows(contact_block *cb, int lane, ContactKind kind, ContactWork *w)
{
  load_fields(cb->used, lane, w->used, kind.points);
  LOAD(cb->params, lane, &w->params);
  LOAD(cb->state, lane, &w->state);
  load_geometry(cb, lane, kind.points, &w->geom);
}

// Normal velocities before the substep, for restitution; impulses start from zero.
LARGE void record_approach(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  ContactWork w;
  R approach[CONTACT_POINTS];
  load_velocities(data, cb, lane, &w);
  load_poses(data, cb, lane, &w);
  load_all_rows(cb, lane, kind, &w);
  update_geometry(cb, lane, kind, &w);
  for (int i = 0; i < kind.points; ++i) {
    approach[i] = v_dot(w.geom.n, relative_velocity(&w.a, &w.b, w.geom.ra[i], w.geom.rb[i]));
    w.state.lambda[i] = splat(0.0f);
  }
  w.state.friction = v_zero();
  store_fields(cb->approach, lane, approach, kind.points);
  STORE(cb->state, lane, &w.state);
}

// SolvePositions. Penetration, eq. 4 divided by h, with alpha' = alpha / h^2 and K the inverse mass
// at the point:
//   lambda += -(C / h + alpha' lambda) / (n . K n + alpha'),  lambda >= 0.
// Then static friction: an impulse that cancels the tangential motion of the substep, h u_t, if it
// is less than mu_s lambda.
LARGE void position_point(const solver_data *data, int i, ContactWork *w)
{
  R h = splat(data->substep.h);
  R inv_h = 1.0f / h;
  V ra = w->geom.ra[i];
  V rb = w->geom.rb[i];
  V n = w->geom.n;
  R alpha = w->params.alpha * inv_h * inv_h;
  S k = linear_inverse_mass(&w->a, &w->b, ra, rb);
  R mass = v_dot(n, s_mul(k, n)) + alpha;
  R wanted = -(w->geom.gap[i] * inv_h + alpha * w->state.lambda[i]);
  R now = r_max(w->state.lambda[i] + wanted * r_inverse_above(mass, splat(0.0f)), splat(0.0f));
  now = pick(w->used[i] > 0.5f, now, splat(0.0f));
  apply_linear(&w->a, &w->b, ra, rb, v_scale(now - w->state.lambda[i], n), FORM_POSITION, h);
  w->state.lambda[i] = now;

  V u = v_add(relative_velocity(&w->a, &w->b, ra, rb), w->params.surface_velocity);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  R speed = v_length(slide);
  V t = v_scale(1.0f / r_max(speed, splat(TUNING_MIN_DIVISOR)), slide);
  R stop = speed * r_inverse_above(v_dot(t, s_mul(k, t)), splat(0.0f));
  // DEVIATION: magnitudes are compared. Both multipliers of eq. 4 are negative; as printed, a steep
  // slope would hold.
  R given = pick(stop < w->params.mu_static * now, stop, splat(0.0f));
  V friction = v_scale(-given, t);
  apply_linear(&w->a, &w->b, ra, rb, friction, FORM_POSITION, h);
  w->state.friction = v_add(w->state.friction, friction);
}

// SolveVelocities: dynamic friction (eq. 30), then restitution (eq. 34), which sets the normal
// velocity to -e times that before the substep.
LARGE void velocity_point(const solver_data *data, int i, R approach, R e, R threshold,
                          ContactWork *w)
{
  R h = splat(data->substep.h);
  V ra = w->geom.ra[i];
  V rb = w->geom.rb[i];
  V n = w->geom.n;
  S k = linear_inverse_mass(&w->a, &w->b, ra, rb);
  R lambda = w->state.lambda[i];
  V u = v_add(relative_velocity(&w->a, &w->b, ra, rb), w->params.surface_velocity);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  R speed = v_length(slide);
  V t = v_scale(1.0f / r_max(speed, splat(TUNING_MIN_DIVISOR)), slide);
  R stop = speed * r_inverse_above(v_dot(t, s_mul(k, t)), splat(0.0f));
  // DEVIATION: eq. 30 lacks the inverse mass; as an impulse it is min(mu h fn, |vt| / w).
  V friction = v_scale(-r_min(w->params.mu_dynamic * lambda, stop), t);
  apply_linear(&w->a, &w->b, ra, rb, friction, FORM_VELOCITY, h);
  w->state.friction = v_add(w->state.friction, friction);

  // DEVIATION: the threshold is on the speed before the contact, or an elastic ball would stop; and
  // the total impulse may not pull, or separating bodies would stick.
  R un = v_dot(n, relative_velocity(&w->a, &w->b, ra, rb));
  R back = pick(approach < -threshold, -e * approach, splat(0.0f));
  R p = (r_max(back, splat(0.0f)) - un) * r_inverse_above(v_dot(n, s_mul(k, n)), splat(0.0f));
  R now = r_max(lambda + p, splat(0.0f));
  now = pick(lambda > 0.0f, now, lambda);
  apply_linear(&w->a, &w->b, ra, rb, v_scale(now - lambda, n), FORM_VELOCITY, h);
  w->state.lambda[i] = now;
}

// Jacobi: with n constraints on a body each sees the mass m / n, and the body takes the mean of the
// corrections, so that momentum is conserved.
LARGE void load_scaled_bodies(const solver_data *data, contact_block *cb, int lane,
                              ContactKind kind, ContactWork *w)
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

LARGE void store_corrected_bodies(const solver_data *data, contact_block *cb, int lane,
                                  const ContactWork *before, const ContactWork *w)
{
  if (data->substep.averaged) {
    add_correction(data, gather_a(cb, lane), v_sub(w->a.v, before->a.v),
                   v_sub(w->a.w, before->a.w));
    add_correction(data, gather_b(cb, lane), v_sub(w->b.v, before->b.v),
                   v_sub(w->b.w, before->b.w));
    return;
  }
  store_motion(data, gather_a(cb, lane), &w->a, w->share_a);
  store_motion(data, gather_b(cb, lane), &w->b, w->share_b);
}

LARGE void position_contact(solver_data *data, contact_block *cb, int lane, ContactKind kind)
{
  solve_stage stage = data->substep.stage;
  if (stage == STAGE_BEGIN) {
    return;
  }
  ContactWork w;
  R approach[CONTACT_POINTS];
  load_scaled_bodies(data, cb, lane, kind, &w);
  load_fields(cb->approach, lane, approach, kind.points);
  R e = load(&cb->restitution[lane]);
  ContactWork before = w;
  for (int i = 0; i < kind.points; ++i) {
    update_geometry(cb, lane, kind, &w);
    if (stage == STAGE_POSITIONS) {
      position_point(data, i, &w);
    } else {
      R hit_speed = pick(w.state.lambda[i] > 0.0f, -approach[i], splat(0.0f));
      store(cb->hit_speed + lane, r_max(load(cb->hit_speed + lane), hit_speed));
      velocity_point(data, i, approach[i], e, splat(data->substep.restitution_threshold), &w);
    }
  }
  if (stage == STAGE_VELOCITIES) {
    sum_impulses(cb, lane, kind.points, 1, &w.state);
  }
  STORE(cb->state, lane, &w.state);
  store_corrected_bodies(data, cb, lane, &before, &w);
}

#endif

// ---------------------------------------------------------------------------------------------
// Passes over ranges of blocks. All lanes of a block have one type, so one switch selects the code.

#if TN_LANES == 16

#define PASS_LANES TN_LANES // of both blocks

// Two blocks are taken together if type and features agree; single ones go through 8 lanes. With
// different features one block would solve rows that are absent in the other, which changes signs
// of zeros.
KERNEL int is_alike(const contact_block *a, const contact_block *b)
{
  return a->type == b->type && a->features == b->features;
}

#define NEXT_BLOCKS(pass)                                                                          \
  if (block + 1 >= last || !is_alike(cb, cb + 1)) {                                                \
    contact_ops_8.pass(data, block, block + 1);                                                    \
    ++block;                                                                                       \
    continue;                                                                                      \
  }                                                                                                \
  block += 2

#else

#define PASS_LANES BLOCK_WIDTH

#define NEXT_BLOCKS(pass) ++block

#endif

#define TYPE_PASS(pass, call, form, points)                                                        \
  SEPARATE void pass##_##form##_##points(solver_data *data, contact_block *cb)                     \
  {                                                                                                \
    for (int lane = 0; lane < PASS_LANES; lane += TN_LANES) {                                      \
      call(data, cb, lane, (ContactKind){CONTACT_FORM_##form, points});                            \
    }                                                                                              \
  }

#define CASE(pass, form, points)                                                                   \
  case CONTACT_##form##_##points:                                                                  \
    pass##_##form##_##points(data, cb);                                                            \
    break

#define CONTACT_PASS(pass, call)                                                                   \
  TYPE_PASS(pass, call, FLAT, 1)                                                                   \
  TYPE_PASS(pass, call, FLAT, 2)                                                                   \
  TYPE_PASS(pass, call, FLAT, 4)                                                                   \
  TYPE_PASS(pass, call, ROUND, 1)                                                                  \
  TYPE_PASS(pass, call, ROUND, 2)                                                                  \
  TYPE_PASS(pass, call, RIM, 2)                                                                    \
  TYPE_PASS(pass, call, RIM, 4)                                                                    \
  TYPE_PASS(pass, call, WIRE, 1)                                                                   \
  static void pass_##pass(solver_data *data, int first, int last)                                  \
  {                                                                                                \
    for (int block = first; block < last;) {                                                       \
      contact_block *cb = &data->contacts[block];                                                  \
      NEXT_BLOCKS(pass);                                                                           \
      switch (cb->type) {                                                                          \
        CASE(pass, FLAT, 1);                                                                       \
        CASE(pass, FLAT, 2);                                                                       \
        CASE(pass, FLAT, 4);                                                                       \
        CASE(pass, ROUND, 1);                                                                      \
        CASE(pass, ROUND, 2);                                                                      \
        CASE(pass, RIM, 2);                                                                        \
        CASE(pass, RIM, 4);                                                                        \
        CASE(pass, WIRE, 1);                                                                       \
      default:                                                                                     \
        break;                                                                                     \
      }                                                                                            \
    }                                                                                              \
  }

CONTACT_PASS(warm_start, warm_start_contact)
CONTACT_PASS(solve, solve_contact)
CONTACT_PASS(relax, relax_contact)

#if TN_LANES == 16

// The other passes gain nothing from 16 lanes.
static void pass_prepare(solver_data *data, int first, int last)
{
  contact_ops_8.prepare(data, first, last);
}

static void pass_refresh(solver_data *data, int first, int last)
{
  contact_ops_8.refresh(data, first, last);
}

static void pass_record_approach(solver_data *data, int first, int last)
{
  contact_ops_8.record_approach(data, first, last);
}

static void pass_solve_positions(solver_data *data, int first, int last)
{
  contact_ops_8.solve_positions(data, first, last);
}

#undef CONTACT_PACK
#undef CONTACT_UNPACK
#undef COLLIDE_CAPSULE_BATCH
#define CONTACT_PACK contact_pack_8
#define CONTACT_UNPACK contact_unpack_8
#define COLLIDE_CAPSULE_BATCH collide_capsule_batch_8

#else

CONTACT_PASS(prepare, prepare_contact)
CONTACT_PASS(refresh, refresh_contact)
CONTACT_PASS(record_approach, record_approach)
CONTACT_PASS(solve_positions, position_contact)

#endif

const contact_ops CONTACT_OPS = {
    COLLIDE_CAPSULE_BATCH, CONTACT_PACK,         CONTACT_UNPACK, pass_prepare,
    pass_warm_start,       pass_solve,           pass_relax,     pass_refresh,
    pass_record_approach,  pass_solve_positions,
};
