// A contact and its bodies during impacts. Each body has a clock of its own within the substep.
#ifndef TENON_SOLVER_CONTACT_IMPACT_CONTACT_H
#define TENON_SOLVER_CONTACT_IMPACT_CONTACT_H

#include "data/world.h"
#include "solver/contact/contact_block.h"

typedef struct toi_body {
  int32_t slot;
  int moves; // dynamic: impulses apply
  Body body;
  AngularState spin;
  BodyStepParams params;
  V acceleration;      // m/s^2, gravity and forces
  float advanced_time; // s, clock of the body since the substep began
} toi_body;

// A contact with both bodies, at the times of their clocks.
typedef struct toi_contact {
  contact_block *block;
  int lane;
  int points;
  int used[CONTACT_POINTS]; // 1 for points in use
  int anew;                 // its points are not those of the block
  int loaded;               // some point has an impulse from the last substep
  toi_body a, b;
  ContactParams params;
  ContactGeometry geom;
} toi_contact;

toi_contact toi_contact_load(const solver_data *data, const restitution_contact *at);

// Stores the dynamic bodies.
void toi_contact_store(const solver_data *data, const toi_contact *m);

// Moves both bodies to `time`. A kinematic body is moved in `m` only.
void toi_contact_advance(toi_contact *m, float time);

// Points, gaps and lever arms at the current pose. A contact without load between shapes with
// corners is looked for anew, within `reach`, m, for other corners than those of the step's start
// may strike; `at` remembers how far apart the shapes were. Returns 0 if there is no point within
// reach.
int toi_contact_locate(const tn_world *world, toi_contact *m, restitution_contact *at, float reach);

// Upper bound of the error in a normal velocity, m/s, where the passes over contacts take the lever
// arms of the step's start.
float toi_contact_lever_error(const toi_contact *m, const restitution_contact *at);

// Whether other points than those of the step's start may strike.
bool may_strike_anew(const tn_world *world, const contact *c);

static inline V point_velocity(const toi_body *f, V r)
{
  return v_add(f->body.v, v_cross(f->body.w, r));
}

#endif
