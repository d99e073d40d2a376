// How the solver keeps bodies and joints: what solve.c gathers, computes and scatters.
//
// Bodies that constraints share lie one to a cache line (BodyState) so that gathering a lane
// costs one line; what only the integrator needs, and all of a joint, lies in blocks of
// BLOCK_WIDTH side by side. The block width is fixed, so every lane width finds the same blocks
// in the same order.
#ifndef TENON_SOLVER_SOLVER_DATA_H
#define TENON_SOLVER_SOLVER_DATA_H

#include "kernel/integrate.h"
#include "kernel/joint.h"

#include <stdalign.h>
#include <stdint.h>

#define BLOCK_WIDTH 8
#define FIELDS(type) (sizeof(type) / sizeof(R))

// Gathers take eight floats at a time.
typedef struct body_state {
  alignas(64) union {
    float motion[8];
    struct {
      float v[3], inverse_mass;
      float w[3], constraint_count; // share: how many constraints hold the body, at least 1
    };
  };
  union {
    float pose[8];
    struct {
      float dx[3];         // since the step began
      float advanced_time; // what lies behind the body of a substep in which it bounced, s
      float dq[4];
    };
  };
} body_state;

_Static_assert(sizeof(body_state) == 64, "a body is a cache line");

typedef struct body_inertia {
  alignas(32) float inverse[8]; // world axes: xx yy zz xy xz yz, inverse mass, one unused
} body_inertia;

// Corrections waiting to be averaged (TN_METHOD_JACOBI): dv in the first half, dw in the second.
typedef struct body_correction {
  alignas(32) float sum[8];
} body_correction;

typedef struct body_block {
  alignas(64) float spin[FIELDS(AngularState)][BLOCK_WIDTH];
  float params[FIELDS(BodyStepParams)][BLOCK_WIDTH];
  float acceleration[3][BLOCK_WIDTH];
  float torque[3][BLOCK_WIDTH];
} body_block;

// Which parts of a joint block do something in at least one lane.
typedef enum joint_features {
  FEATURE_LINEAR_DRIVE = 1,
  FEATURE_LINEAR_DISSIPATION = 2,
  FEATURE_ANGULAR_DRIVE = 4,
  FEATURE_ANGULAR_DISSIPATION = 8,
  FEATURE_RANGE = 16,  // a range that ends somewhere
  FEATURE_SPRING = 32, // compliance
} joint_features;

typedef struct block_rows {
  float params[FIELDS(RowParams)][BLOCK_WIDTH];
  float state[FIELDS(RowState)][BLOCK_WIDTH];
  float half_kick_impulse[3][BLOCK_WIDTH]; // impulse given ahead of the coming substep
  float sum[3][BLOCK_WIDTH];               // impulse given over the step
  // The rows of this substep.
  float levers[FIELDS(Levers)][BLOCK_WIDTH];
  float n[9][BLOCK_WIDTH];
  float x[3][BLOCK_WIDTH];
  float k_mean[1][BLOCK_WIDTH];
  float k[FIELDS(S)][BLOCK_WIDTH];
  float k_rows[FIELDS(S)][BLOCK_WIDTH];
  float factor[FIELDS(Factor)][BLOCK_WIDTH];
} block_rows;

// A padded lane names body 0, the world, twice.
typedef struct joint_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  int32_t joint[BLOCK_WIDTH];                       // slot, or -1
  uint8_t move_a[BLOCK_WIDTH], move_b[BLOCK_WIDTH]; // dynamic: may be written
  uint8_t lane_features[BLOCK_WIDTH];
  int32_t type;                                   // JointType of every lane
  int32_t features;                               // of any lane: joint_features
  alignas(64) float half_kick_share[BLOCK_WIDTH]; // share of the impulses that is given ahead when
                                                  // a step ends
  float start[FIELDS(JointStart)][BLOCK_WIDTH];
  block_rows linear, angular;
} joint_block;

// What a pass in position form does: springs' impulses, Algorithm 2's SolvePositions, and its
// SolveVelocities.
typedef enum solve_stage { STAGE_BEGIN, STAGE_POSITIONS, STAGE_VELOCITIES } solve_stage;

// Which kick of a step: before the first drift, between two, after the last.
typedef enum kick_phase { KICK_FIRST, KICK_WHOLE, KICK_LAST } kick_phase;

// One lane of a block's fields.
static inline void set_lane(float (*fields)[BLOCK_WIDTH], int lane, const void *values,
                            size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    fields[i][lane] = ((const float *)values)[i];
  }
}

static inline void get_lane(float (*fields)[BLOCK_WIDTH], int lane, void *values, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    ((float *)values)[i] = fields[i][lane];
  }
}

// One substep's settings.
typedef struct substep {
  float h, time;
  float warm_share, max_linear_bias, max_angular_bias;
  int half_kick;               // joint_warm_start gives half of the impulses ahead
  solve_stage stage;           // of a pass in position form
  int averaged;                // corrections are collected for the mean
  float restitution_threshold; // slower approaches do not bounce, m/s
  int deferred_warm_start; // relaxing leaves the next substep's first guess for the bodies' next
                           // kick
} substep;

typedef struct contact_block contact_block; // contact_store.h
typedef struct soft_data soft_data;         // soft_store.h

typedef struct solver_data {
  body_state *state;
  body_inertia *inertia;
  body_block *bodies;
  body_correction *corrections;
  joint_block *joints;
  contact_block *contacts;
  soft_data *soft;
  const int32_t *active; // body blocks with someone awake; body entries range over these
  substep substep;
} solver_data;

// Each entry works on a range of blocks; the ranges of one call may run side by side. Joint
// entries expect a range inside one colour.
typedef struct solver_ops {
  void (*kick)(solver_data *data, int first, int last, kick_phase phase);
  void (*drift)(solver_data *data, int first, int last);
  void (*update_momenta)(solver_data *data, int first, int last);
  void (*average)(solver_data *data, int first, int last, int move);

  // Impulse form.
  void (*joint_warm_start)(solver_data *data, int first, int last);
  void (*joint_solve)(solver_data *data, int first, int last);
  void (*joint_relax)(solver_data *data, int first, int last);

  // Position form: what substep.stage says.
  void (*joint_positions)(solver_data *data, int first, int last);
} solver_ops;

extern const solver_ops solver_ops_1, solver_ops_4, solver_ops_8;

// impact.c: moves a body to where it is at the end of a substep with velocities v.
void predict_pose(const solver_data *data, int32_t slot, const double *v);

#endif
