// Data layout of the solver for bodies and joints.
//
// What constraints read and write of a body is one cache line (body_state), so gathering a lane
// touches one line. What only the integrator needs, and all of a joint, lies in blocks of
// BLOCK_WIDTH lanes, field by field. The block width does not depend on the lane width, so every
// lane width solves the same blocks in the same order.
#ifndef TENON_SOLVER_SOLVER_DATA_H
#define TENON_SOLVER_SOLVER_DATA_H

#include "data/body_state.h"
#include "kernel/integrate.h"
#include "kernel/joint.h"

#include <stdalign.h>
#include <stdint.h>

// Parts of a joint block that act in at least one lane.
typedef enum joint_features {
  FEATURE_LINEAR_AXES = 1, // a drive, spring, damping, friction or armature
  FEATURE_ANGULAR_AXES = 2,
  FEATURE_RANGE = 16,  // a finite limit
  FEATURE_SPRING = 32, // compliance of locked rows or limits, or a spring of an axis
} joint_features;

// The linear or the angular block of BLOCK_WIDTH joints.
typedef struct block_rows {
  float params[FIELDS(RowParams)][BLOCK_WIDTH];
  float state[FIELDS(RowState)][BLOCK_WIDTH];
  float axes[FIELDS(Axes)][BLOCK_WIDTH];
  float axes_state[FIELDS(AxesState)][BLOCK_WIDTH];
  float half_kick_impulse[3][BLOCK_WIDTH]; // impulse given ahead at the end of the last step
  float sum[3][BLOCK_WIDTH];               // impulse of the step; both in world axes
  // Rows of this substep.
  float levers[FIELDS(Levers)][BLOCK_WIDTH];
  float n[9][BLOCK_WIDTH];
  float x[3][BLOCK_WIDTH];
  float turn[6][BLOCK_WIDTH];
  float k_mean[1][BLOCK_WIDTH];
  float k[FIELDS(S)][BLOCK_WIDTH];
  float k_rows[FIELDS(S)][BLOCK_WIDTH];
  float factor[FIELDS(Factor)][BLOCK_WIDTH];
} block_rows;

// BLOCK_WIDTH joints of one type and one colour. Unused lanes have body 0, the static world, on
// both sides.
typedef struct joint_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  int32_t joint[BLOCK_WIDTH];                       // slot, or -1: unused
  uint8_t move_a[BLOCK_WIDTH], move_b[BLOCK_WIDTH]; // 1: the body is dynamic and may be written
  uint8_t lane_features[BLOCK_WIDTH];               // joint_features of each lane
  int32_t type;                                     // JointType of every lane
  int32_t features;                                 // joint_features of any lane
  // Share of the impulses that is given ahead when a step ends: 0.5, or 0 for supported bodies.
  alignas(64) float half_kick_share[BLOCK_WIDTH];
  float start[FIELDS(JointStart)][BLOCK_WIDTH];
  block_rows linear, angular;
} joint_block;

// Stages of a pass in position form: warm start of springs, then SolvePositions and SolveVelocities
// of Algorithm 2 (Mueller et al. 2020).
typedef enum solve_stage { STAGE_BEGIN, STAGE_POSITIONS, STAGE_VELOCITIES } solve_stage;

// Kicks of a step: before the first drift, between two drifts, after the last drift.
typedef enum kick_phase { KICK_FIRST, KICK_WHOLE, KICK_LAST } kick_phase;

// Settings of one substep.
typedef struct substep {
  float h, time;                                       // s; time: at its end, since the step began
  float warm_share, max_linear_bias, max_angular_bias; // as in Pass
  int half_kick;               // joint_warm_start gives impulses ahead, at the end of a step
  solve_stage stage;           // of a pass in position form
  int averaged;                // Jacobi: corrections are collected and averaged
  float restitution_threshold; // 2 g h, m/s: slower approaches do not bounce
  int deferred_warm_start;     // the relax pass computes the next substep's warm start of contacts;
                               // bodies get it with their next kick
} substep;

typedef struct contact_block contact_block; // contact_block.h
typedef struct soft_data soft_data;         // soft_solver.h

typedef struct solver_data {
  body_state *state;
  body_inertia *inertia;
  body_block *bodies;
  body_correction *corrections;
  joint_block *joints;
  contact_block *contacts;
  soft_data *soft;
  const int32_t *active; // body blocks with an awake body; passes over bodies range over these
  substep substep;
} solver_data;

// The passes of one lane width. Each works on a range of blocks; disjoint ranges of one pass may
// run in parallel. Ranges of joint passes lie inside one colour.
typedef struct solver_ops {
  void (*kick)(solver_data *data, int first, int last, kick_phase phase);
  void (*drift)(solver_data *data, int first, int last);
  void (*update_momenta)(solver_data *data, int first, int last);
  void (*average)(solver_data *data, int first, int last, int move);

  // Impulse form.
  void (*joint_warm_start)(solver_data *data, int first, int last);
  void (*joint_solve)(solver_data *data, int first, int last);
  void (*joint_relax)(solver_data *data, int first, int last);

  // Position form, the stage in substep.stage.
  void (*joint_positions)(solver_data *data, int first, int last);
} solver_ops;

extern const solver_ops solver_ops_1, solver_ops_4, solver_ops_8;

// impact.c: moves a body to its pose at the end of the substep, given its velocities v: linear,
// then angular.
void predict_pose(const solver_data *data, int32_t slot, const double *v);
// The same for good, with the inverse inertia; the body keeps its velocities and momenta.
void displace_body(const solver_data *data, int32_t slot, const double *v);

#endif
