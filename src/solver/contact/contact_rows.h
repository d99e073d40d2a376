// Bodies and rows of TN_LANES contacts: from and to their block, for each lane width. At 16 lanes
// from two consecutive blocks.
#ifndef TENON_SOLVER_CONTACT_CONTACT_ROWS_H
#define TENON_SOLVER_CONTACT_CONTACT_ROWS_H

#include "solver/contact/contact_block.h"

#define BLOCK_FLOATS (sizeof(contact_block) / sizeof(float))
#include "solver/gather.h"

#include <stddef.h>

// A flag of the block, or of either block at 16 lanes.
#if TN_LANES == 16
#define ANY_BLOCK(cb, flag) ((cb)[0].flag | (cb)[1].flag)
#else
#define ANY_BLOCK(cb, flag) ((cb)->flag)
#endif

// Type of a block, taken apart. Constant in every call, so that kernels are specialised for it.
typedef struct ContactKind {
  ContactForm form;
  int points;
} ContactKind;

// Optional rows that some lane has; the loads and the work of the others are skipped.
typedef struct ContactNeeds {
  int has_rolling, has_compliance, has_surface_velocity;
  int turns;      // twist row: friction torque about the normal
  int has_anchor; // friction pulls back to an anchor
} ContactNeeds;

KERNEL ContactNeeds need_of(const contact_block *cb, ContactKind kind)
{
  int features = ANY_BLOCK(cb, features);
  ContactNeeds need = {features & CONTACT_ROLLING_FRICTION, features & CONTACT_COMPLIANCE,
                       features & CONTACT_SURFACE_VELOCITY,
                       kind.points > 1 || features & CONTACT_ROLLING_FRICTION,
                       kind.form <= CONTACT_FORM_ROUND && features & CONTACT_FRICTION_ANCHOR};
  return need;
}

// Bodies and rows of TN_LANES contacts. share_a, share_b: number of constraints on the body.
typedef struct ContactWork {
  Body a, b;
  R share_a, share_b;
  R used[CONTACT_POINTS];
  ContactParams params;
  ContactState state;
  ContactGeometry geom;
} ContactWork;

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

// Returns the time of the substep that the bodies have advanced through by impacts, s.
KERNEL R load_poses(const solver_data *data, const contact_block *cb, int lane, ContactWork *w)
{
  R flown_a = load_pose(data, gather_a(cb, lane), &w->a);
  R flown_b = load_pose(data, gather_b(cb, lane), &w->b);
  return r_max(flown_a, flown_b);
}

KERNEL void load_velocities(const solver_data *data, const contact_block *cb, int lane,
                            ContactWork *w)
{
  load_velocity(data, gather_a(cb, lane), &w->a, &w->share_a);
  load_velocity(data, gather_b(cb, lane), &w->b, &w->share_b);
}

KERNEL void load_inertias(const solver_data *data, const contact_block *cb, int lane,
                          ContactWork *w)
{
  load_inertia(data, gather_a(cb, lane), &w->a);
  load_inertia(data, gather_b(cb, lane), &w->b);
}

KERNEL void store_velocities(const solver_data *data, const contact_block *cb, int lane,
                             const ContactWork *w)
{
  Gather a = gather_a(cb, lane);
  Gather b = gather_b(cb, lane);
  a.move = ANY_BLOCK(cb, fixed_a) ? a.move : NULL;
  b.move = ANY_BLOCK(cb, fixed_b) ? b.move : NULL;
  store_velocity(data, a, &w->a, w->share_a);
  store_velocity(data, b, &w->b, w->share_b);
}

// Loads no more points than the type has.
KERNEL void load_geometry(contact_block *cb, int lane, int points, ContactGeometry *geom)
{
  load_fields(cb->geom + GEOMETRY_FIELD(n), lane, (R *)&geom->n, 3);
  load_fields(cb->geom + GEOMETRY_FIELD(ra), lane, (R *)geom->ra, 3 * points);
  load_fields(cb->geom + GEOMETRY_FIELD(rb), lane, (R *)geom->rb, 3 * points);
  load_fields(cb->geom + GEOMETRY_FIELD(gap), lane, geom->gap, points);
}

// Normal and lever arms of flat contacts are constant over a step.
KERNEL void store_geometry(contact_block *cb, int lane, ContactKind kind,
                           const ContactGeometry *geom)
{
  store_fields(cb->geom + GEOMETRY_FIELD(gap), lane, geom->gap, kind.points);
  if (kind.form == CONTACT_FORM_FLAT) {
    return;
  }
  store_fields(cb->geom + GEOMETRY_FIELD(n), lane, (const R *)&geom->n, 3);
  store_fields(cb->geom + GEOMETRY_FIELD(ra), lane, (const R *)geom->ra, 3 * kind.points);
  store_fields(cb->geom + GEOMETRY_FIELD(rb), lane, (const R *)geom->rb, 3 * kind.points);
}

#define STATE_FIELD(name) (offsetof(ContactState, name) / sizeof(R))

KERNEL void load_params(contact_block *cb, int lane, ContactNeeds need, ContactParams *p)
{
  p->rolling = p->spinning = p->alpha = p->has_anchor = splat(0.0f);
  p->surface_velocity = v_zero();
  load_fields(cb->params + PARAM_FIELD(mu_static), lane, &p->mu_static, 2);
  load_fields(cb->params + PARAM_FIELD(deep_gap), lane, &p->deep_gap, 4);
  load_fields(cb->params + PARAM_FIELD(max_push_speed), lane, &p->max_push_speed, 1);
  if (need.has_rolling) {
    load_fields(cb->params + PARAM_FIELD(rolling), lane, &p->rolling, 2);
  }
  if (need.has_compliance) {
    load_fields(cb->params + PARAM_FIELD(alpha), lane, &p->alpha, 1);
  }
  if (need.has_surface_velocity) {
    load_fields(cb->params + PARAM_FIELD(surface_velocity), lane, (R *)&p->surface_velocity, 3);
  }
  if (need.has_anchor) {
    load_fields(cb->params + PARAM_FIELD(has_anchor), lane, &p->has_anchor, 1);
  }
}

KERNEL void load_state(contact_block *cb, int lane, ContactKind kind, ContactNeeds need,
                       ContactState *s)
{
  s->twist = s->turning = s->angle = splat(0.0f);
  s->roll = s->offset = v_zero();
  for (int i = kind.points; i < CONTACT_POINTS; ++i) {
    s->lambda[i] = splat(0.0f);
  }
  load_fields(cb->state + STATE_FIELD(lambda), lane, s->lambda, kind.points);
  load_fields(cb->state + STATE_FIELD(preload), lane, &s->preload, 2);
  load_fields(cb->state + STATE_FIELD(friction), lane, (R *)&s->friction, 3);
  load_fields(cb->state + STATE_FIELD(sliding), lane, &s->sliding, 1);
  if (need.turns) {
    load_fields(cb->state + STATE_FIELD(twist), lane, &s->twist, 1);
    load_fields(cb->state + STATE_FIELD(turning), lane, &s->turning, 1);
  }
  if (need.has_rolling) {
    load_fields(cb->state + STATE_FIELD(roll), lane, (R *)&s->roll, 3);
  }
  if (need.has_anchor) {
    load_fields(cb->state + STATE_FIELD(offset), lane, (R *)&s->offset, 4);
  }
}

KERNEL void store_impulses(contact_block *cb, int lane, ContactKind kind, ContactNeeds need,
                           const ContactState *s)
{
  store_fields(cb->state + STATE_FIELD(lambda), lane, s->lambda, kind.points);
  store_fields(cb->state + STATE_FIELD(friction), lane, (const R *)&s->friction, 3);
  if (need.turns) {
    store_fields(cb->state + STATE_FIELD(twist), lane, &s->twist, 1);
  }
  if (need.has_rolling) {
    store_fields(cb->state + STATE_FIELD(roll), lane, (const R *)&s->roll, 3);
  }
}

KERNEL void load_rows(contact_block *cb, int lane, ContactKind kind, ContactNeeds need,
                      ContactWork *w)
{
  load_fields(cb->used, lane, w->used, kind.points);
  load_params(cb, lane, need, &w->params);
  load_state(cb, lane, kind, need, &w->state);
  load_geometry(cb, lane, kind.points, &w->geom);
}

#define MASS_FIELD(name) (offsetof(ContactMass, name) / sizeof(R))

// Normal matrices as upper triangles, and the friction patch. A single point is its own patch.
KERNEL void store_mass(contact_block *cb, int lane, ContactKind kind, ContactNeeds need,
                       const ContactMass *mass)
{
  int count = kind.points * (kind.points + 1) / 2;
  store_fields(cb->mass + MASS_FIELD(k), lane, mass->k, count);
  store_fields(cb->mass + MASS_FIELD(inverse), lane, mass->inverse, count);
  store_fields(cb->mass + MASS_FIELD(tangent), lane, mass->tangent, 3);
  if (need.turns) {
    store_fields(cb->mass + MASS_FIELD(twist), lane, &mass->twist, 1);
  }
  if (kind.points > 1) {
    store_fields(cb->mass + MASS_FIELD(friction_radius), lane, &mass->friction_radius, 2);
    store_fields(cb->mass + MASS_FIELD(patch), lane, (const R *)&mass->patch, 6);
  }
}

KERNEL void load_mass(contact_block *cb, int lane, ContactKind kind, ContactNeeds need,
                      const ContactGeometry *geom, ContactMass *mass)
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
    load_fields(cb->mass + MASS_FIELD(friction_radius), lane, &mass->friction_radius, 2);
    load_fields(cb->mass + MASS_FIELD(patch), lane, (R *)&mass->patch, 6);
  } else {
    Patch patch = {geom->ra[0], geom->rb[0]};
    mass->patch = patch;
    mass->friction_radius = splat(0.0f);
    mass->share = splat(1.0f);
  }
}

#endif
