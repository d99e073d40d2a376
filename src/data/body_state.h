// The solver's view of bodies, in float: the change since the step began. What constraints read and
// write of a body is one cache line (body_state), so gathering a lane touches one line; what only
// the integrator needs lies in blocks.
#ifndef TENON_DATA_BODY_STATE_H
#define TENON_DATA_BODY_STATE_H

#include "kernel/blocks.h"
#include "kernel/integrate.h"

#include <stdalign.h>

// What constraints read and write of a body; gathers take eight floats at a time.
typedef struct body_state {
  alignas(64) union {
    float motion[8];
    struct {
      float v[3], inverse_mass;     // m/s, 1/kg
      float w[3], constraint_count; // rad/s; number of constraints on the body, at least 1, by
                                    // which averaged corrections are divided
    };
  };
  union {
    float pose[8];
    struct {
      float dx[3];         // displacement since the step began, m
      float advanced_time; // part of the substep already flown, after impacts, s
      float dq[4];         // rotation since the step began
    };
  };
} body_state;

_Static_assert(sizeof(body_state) == 64, "a body is a cache line");

typedef struct body_inertia {
  alignas(32) float inverse[8]; // inverse inertia, world axes: xx yy zz xy xz yz; inverse mass; 0
} body_inertia;

// Velocity changes that wait to be applied, dv in [0..2], dw in [4..6]: corrections to be averaged
// (TN_METHOD_JACOBI), or the deferred warm start of contacts.
typedef struct body_correction {
  alignas(32) float sum[8];
} body_correction;

// What only the integrator needs, of bodies in BLOCK_WIDTH consecutive slots.
typedef struct body_block {
  alignas(64) float spin[FIELDS(AngularState)][BLOCK_WIDTH];
  float params[FIELDS(BodyStepParams)][BLOCK_WIDTH];
  float acceleration[3][BLOCK_WIDTH]; // gravity and external forces, m/s^2
  float torque[3][BLOCK_WIDTH];       // external, N m
} body_block;

#endif
