// A churn: a seeded stream of public calls on several worlds in lockstep.
//
// Every random number is drawn once and the call made on all worlds, so worlds that differ only in
// lanes, threads or a restore must stay equal. Each seed has its own pace, from a call in twenty
// steps, at which bodies fall asleep, to several calls a step.
#ifndef TENON_TEST_CHURN_H
#define TENON_TEST_CHURN_H

#include "support.h"

#define CHURN_WORLDS 8
#define CHURN_GEOMETRIES 4 // a hull, a mesh, a height field and a wire

typedef struct churn {
  tn_world *world[CHURN_WORLDS];
  uint32_t serial[CHURN_WORLDS]; // that ids of this world carry
  int count;
  uint32_t random;
  float pace; // calls a step, mean
  int step;
  tn_geometry_id geometry[CHURN_GEOMETRIES];
} churn;

// Gives the worlds, which must be empty, their geometries and ground.
void churn_begin(churn *c, uint32_t seed);
// Some calls, then a step of each world; returns the status of the first world's step.
uint32_t churn_step(churn *c);
// Replaces world `to` by the saved state of world `from`.
void churn_restore(churn *c, int from, int to);
// The id as world k knows it; ids of the churn are those of world 0.
#define CHURN_ID(c, k, id) (churn_name(&(id).world, (c)->serial[k]), (id))
void churn_name(uint32_t *world, uint32_t serial);

#endif
