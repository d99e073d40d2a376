// Churn: a seeded stream of public calls on several worlds in lockstep.
//
// Every random number is drawn once and the call is made on all worlds, so worlds that differ only
// in lane width, threads or a restore must stay equal. Each seed has its own rate of calls, from
// one in twenty steps, at which bodies fall asleep, to several per step.
#ifndef TENON_TEST_CHURN_H
#define TENON_TEST_CHURN_H

#include "support.h"

#define CHURN_WORLDS 8
#define CHURN_GEOMETRIES 4 // a hull, a mesh, a height field and a wire

typedef struct churn {
  tn_world *world[CHURN_WORLDS];
  uint32_t serial[CHURN_WORLDS]; // serial number in the ids of this world
  int count;
  uint32_t random;
  float pace; // mean number of calls per step
  int step;
  bool chaos; // further calls: resizing, couplings, bodies thrown far, wild settings
  tn_geometry_id geometry[CHURN_GEOMETRIES];
} churn;

// Adds geometries and ground to the worlds, which must be empty.
void churn_begin(churn *c, uint32_t seed);
// Makes some calls, then steps each world; returns the status of the first world's step.
uint32_t churn_step(churn *c);
// Replaces world `to` by the saved state of world `from`.
void churn_restore(churn *c, int from, int to);
// Why an event of the last step names something that is not there; null: none does.
const char *churn_event_problem(const tn_world *world);
// Translates an id of world 0 to world k.
#define CHURN_ID(c, k, id) (churn_name(&(id).world, (c)->serial[k]), (id))
void churn_name(uint32_t *world, uint32_t serial);

#endif
