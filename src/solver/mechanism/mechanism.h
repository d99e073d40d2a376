// Mechanisms: connected sets of joints, solved together by a sparse direct method.
//
// Bodies and joints are the nodes of one sparse symmetric indefinite matrix,
//     [ M  J^T ] [ dv ]   [ 0 ]
//     [ J  -A  ] [ -y ] = [ r ],      r: required change of the rows' velocities,
// where A holds the rows' compliances and y their impulses. The order of elimination is chosen once
// per topology: leaves of trees first, a joint only after one of its bodies. A tree of n joints
// then costs O(n), however many joints meet at one body, and loops add their fill. Elimination adds
// only positive terms to body pivots and negative terms to joint pivots, so no pivoting is needed.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_H
#define TENON_SOLVER_MECHANISM_MECHANISM_H

#include "data/bodies.h"
#include "data/joints.h"
#include "solver/mechanism/ball_tree.h"
#include "solver/mechanism/direct_coupling.h"
#include "solver/mechanism/direct_system.h"
#include "solver/mechanism/mechanism_batch.h"
#include "solver/solver_data.h"

#include <stdbool.h>
#include <stddef.h>

// What acts along one axis of a joint; see axis_rows.c.
typedef struct direct_axis {
  AxisParams params;
  AxisState state;
  double drive_before, passive_before; // pending impulses at the start of the substep, N s or N m s
  double drive_after, passive_after;   // pending part of the impulse after it: (1 - theta) / theta
  double old_rate;                     // rate before the substep, for the armature
  double bend;                         // in the rates of its rows, see axis_rows.c
  double next_friction;                // lagged friction impulse of the next pass, lags_friction()
  float inverse_mass;                  // of the bodies along the axis, 1/kg or 1/(kg m^2)
  double drive_sum;                    // impulse of the drive over the step
  uint32_t features;                   // AXIS_DRIVE, AXIS_PASSIVE, AXIS_FRICTION
  int8_t block, row;                   // 0 linear, 1 angular; row of the block
} direct_axis;

// A joint of a mechanism, as the direct solver sees it during a step.
typedef struct direct_joint {
  int32_t joint;   // slot of the joint
  int32_t body[2]; // body slots of A and B
  // Nodes of the joint and its bodies; NO_SLOT for bodies that joints do not move.
  int32_t node, body_node[2];
  int32_t ball;                                // index among ball_joints, or NO_SLOT
  int32_t jacobian_lane;                       // BLOCK_WIDTH * jacobian_block + lane
  int32_t first_jacobian;                      // index of its first jacobian_row
  int32_t jacobian_offset[2];                  // offset of its J blocks towards A and B in values
  int32_t first_joint_row;                     // index of its first joint_row
  int16_t joint_row_count, joint_row_capacity; // in use now, and reserved
  JointType type;
  float lever[2];       // lengths of the lever arms at the start of the step, m
  float turned_inertia; // what turns with it at least, as its axis states; infinite: it is no joint
                        // that turns; 0: not stated, kg m^2
  RowParams params[2];  // linear, angular
  RowState state[2];    // linear, angular: impulses of the last substep
  int32_t first_axis;   // index of its first direct_axis
  int16_t axis_count;   // linear axes first
  uint32_t axis_features; // as joint.axis_features
  // Springs of locked rows: pending impulses before the substep, and the pending part of the
  // impulse after it; see axis_rows.c.
  float spring_before[2][3], spring_after[2][3];
  float sum[2][3];          // linear, angular: impulse over the step, world axes, N s and N m s
  double torque_impulse[2]; // of A and B: sum of impulse times lever arm in the split pass, N m s
  // Share of the impulses given ahead in the half kick that ended the last step, and to be given at
  // the end of this one: 0.5, or 0 if supported. Only for motors, forces and friction: position
  // rows and servos record the impulse itself as their load, and springs that the substep resolves
  // have given what was pending.
  float half_kick_done;
  float half_kick_share;
} direct_joint;

// One connected set of joints. Index ranges are [first, last) into the arrays of mechanism_set.
struct mechanism {
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t first_coupling, last_coupling;
  int32_t rows;        // length of its vectors
  int32_t first_value; // its matrix blocks in values
  int32_t scratch;     // after the blocks: copies of the columns under elimination
  int32_t end_value;   // end of the scratch
  int32_t batch;       // batch that it belongs to, or NO_SLOT
  int32_t first_jacobian_block, last_jacobian_block;
  int32_t first_ball; // ball tree: first ball_joint, or NO_SLOT if it is none
  int32_t first_link, first_ball_body, ball_body_count;
  int32_t jacobian_pose, factor_pose; // direct_context.pose of these, or NO_SLOT
  float largest_mass[2];              // of a body, kg, and largest mean moment of inertia, kg m^2
  bool by_ball_tree;                  // this substep is solved as a ball tree
  bool needs_added_inertia;           // ball tree, in this step: some body needs added inertia
  bool maybe_overloaded; // ball tree: the last solve may have exceeded TUNING_STIFFNESS_RESOLVED
  bool has_loops;        // of joints; the world counts as one body
  bool anchored;         // a joint connects it to a body that is no node
  bool factors_stale;    // values hold the matrix of the split pass, not the one of the velocities
  bool supported;        // contacts carry one of its bodies
  bool may_touch;        // supported, or contacts may act before the step ends
  bool infeasible;       // some joint cannot close: its error remains whatever the bodies do
  bool infeasible_free;  // and no such joint is anchored
  bool split_impulse;    // the position correction of this substep is removed from the velocities
                         // after the drift
  bool bad_warm_start;   // a contact's warm start separates bodies too fast
  bool own_factor;       // the factors are in its own values, not in those of its batch
  bool reuses_factors;   // a substep may solve with the same factors more than once
  bool coasts;           // nothing acts between its bodies in this step, see coasting.c
  // Work of its excessive warm starts on the velocities with and without them, J.
  double warm_work, cold_work;
};

// Warm start of a contact on a mechanism's body.
typedef struct warm_contact {
  int32_t block, lane;           // of the contact
  int32_t mechanism[2];          // of the bodies A and B, or NO_SLOT
  V impulse, angular_impulse[2]; // N s on B; N m s about the centres of mass of A and B
  float load;                    // length of impulse, N s
  bool bad_warm_start;           // does more work than the separation speed allowed
  double work;                   // impulse times velocity after the joints' first solve, J
} warm_contact;

// All mechanisms of a world. Each array holds the parts of all mechanisms one after the other.
typedef struct mechanism_set {
  mechanism *list;
  int32_t count, capacity;
  direct_node *nodes;
  int32_t node_count, node_capacity;
  direct_block *blocks;
  int32_t block_count, block_capacity;
  int32_t *targets; // offsets in values that elimination subtracts from, in order of use
  int32_t target_count, target_capacity;
  direct_joint *joints;
  int32_t joint_count, joint_capacity;
  direct_axis *axes; // joint by joint
  int32_t axis_count, axis_capacity;
  direct_coupling *couplings;
  int32_t coupling_count, coupling_capacity;
  coupling_side *coupling_sides;
  double (*coupling_jacobians)[BODY_ROWS]; // by coupling_side
  int32_t coupling_side_count, coupling_side_capacity, coupling_jacobian_capacity;
  joint_row *joint_rows;
  active_row *active_rows; // of each joint, as many as its node has rows in the factored matrix
  int32_t joint_row_count, joint_row_capacity, active_row_capacity;
  jacobian_block *jacobian_blocks;
  jacobian_row *jacobians; // joint by joint, in the order of the blocks
  int32_t jacobian_block_count, jacobian_block_capacity, jacobian_count, jacobian_capacity;
  double *values; // matrix blocks, then scratch
  int32_t value_count, value_capacity;
  double *vectors; // by row: velocities, then split motions (row_count each)
  int32_t row_count, vector_capacity;
  f64x2 *solutions; // by row: right-hand sides, then solutions for velocity and position
  int32_t solution_capacity;
  ball_joint *balls; // padded to whole blocks
  ball_block *ball_blocks;
  int32_t ball_count, ball_capacity, ball_block_capacity;
  ball_body *ball_bodies;
  int32_t ball_body_count, ball_body_capacity;
  ball_link *links;
  int32_t link_count, link_capacity;
  body_inertia *augmented_inertia; // by body slot: inverse inertia of ball trees with added inertia
  int32_t augmented_inertia_capacity;
  warm_contact *warm_contacts;
  int32_t warm_contact_count, warm_contact_capacity;
  int32_t *work; // work items: a mechanism to solve alone, or ~batch
  int32_t work_count, work_capacity;
  mechanism_batch *batches;
  int32_t batch_count, batch_capacity;
  direct_node *batch_nodes; // nodes of one member per batch, with the union of all members' rows
  int32_t batch_node_count, batch_node_capacity;
  batch_joint *batch_joints;
  int32_t batch_joint_count, batch_joint_capacity;
  batch_row *batch_rows;
  int32_t batch_row_count, batch_row_capacity;
  batch_jacobian *batch_jacobian;
  int32_t batch_jacobian_count, batch_jacobian_capacity;
  batch_f64 *batch_values; // matrix blocks, then scratch
  int32_t batch_value_count, batch_value_capacity;
  batch_f64 *batch_scratch; // for matrices that are used once: few enough to stay in a core's cache
  int32_t batch_scratch_size, batch_scratch_count, batch_scratch_capacity;
  scratch_lock *scratch_locks; // one for each matrix in batch_scratch
  int32_t scratch_lock_capacity;
  batch_f64 *batch_vectors; // solutions, then velocities
  int32_t batch_vector_count, batch_vector_capacity;
  int32_t skipped; // joints left to Gauss-Seidel, because elimination would fill the matrix
} mechanism_set;

// Passes of the direct solve, in the order of a substep.
typedef enum direct_pass {
  DIRECT_BIAS,      // velocities and position errors, at the start of the substep
  DIRECT_RESOLVE,   // again, after contacts have changed velocities; same pose and rows
  DIRECT_RELAX,     // velocities only, at the pose after the drift
  DIRECT_HALF_KICK, // the same at the end of a step, with half of the springs' next impulses
} direct_pass;

struct direct_context {
  const body *bodies;        // by slot; centres of mass at the start of the step
  const joint *joints;       // by slot
  const coupling *couplings; // by slot
  solver_data *data;
  mechanism_set *set;
  direct_pass pass;
  bool first_substep; // of the step
  float play;         // tn_world_play()
  bool ranges_only;   // inverse kinematics: of couplings only the ranges act
  int32_t pose;       // counts changes of pose in the step, to tell whether Jacobians are current
  const direct_ops *direct;
  const ball_ops *ball_ops;
};

// Velocities of a joint's bodies at the start of the solve: v, w of A, then of B.
static inline void direct_joint_motion(const direct_context *c, const direct_joint *j, double *v)
{
  for (int side = 0; side < 2; ++side, v += BODY_ROWS) {
    if (j->body_node[side] >= 0) {
      memcpy(v, c->set->vectors + c->set->nodes[j->body_node[side]].first_row,
             BODY_ROWS * sizeof *v);
      continue;
    }
    const body_state *b = &c->data->state[j->body[side]];
    for (int k = 0; k < 3; ++k) {
      v[k] = (double)b->v[k];
      v[3 + k] = (double)b->w[k];
    }
  }
}

// J v of a row, for the velocities `motion` of A and B.
static inline double row_velocity(const joint_row *l, const double *motion)
{
  const double *j = l->j[0];
  f64x2 sum = load2(j) * load2(motion);
#pragma GCC unroll 8
  for (int i = 2; i < 2 * BODY_ROWS; i += 2) {
    sum += load2(j + i) * load2(motion + i);
  }
  return sum[0] + sum[1];
}

// Regularization of a row over its inverse mass.
static inline double row_regularization(void)
{
  return RULE(mechanism_regularization) ? TUNING_ROW_REGULARIZATION : TUNING_PIVOT_FLOOR;
}

// Compliance in the matrix: regularization is needed only where the spring itself is stiffer.
static inline double row_compliance(const joint_row *l)
{
  return at_least(l->alpha, l->regularization);
}

// The bound at which an inactive row stays.
static inline double row_bound(const joint_row *l)
{
  return l->at_hi ? l->hi : l->lo;
}

// Friction of a mechanism that contacts support lags: it takes one step per substep towards the
// impulse that stops its motion. Solved together with joints at their limits, friction has no
// unique solution, and limbs at rest would twitch from one solution to the next.
static inline bool lags_friction(const mechanism *m)
{
  return RULE(mechanism_lagged_friction) && m->supported;
}

// Whether friction acts along all axes and is bounded as a vector, not row by row.
static inline bool friction_is_vector(const direct_joint *j, const joint_row *l)
{
  return l->block && angular_kind(j->type).ball_axes;
}

// Records the impulse that a position row gave in the half kick, for the next step. That of a
// spring which the substep resolves was pending.
static inline void row_store_half_kick(direct_joint *j, const joint_row *l)
{
  RowState *state = &j->state[l->block];
  if (j->spring_after[l->block][l->state] > 0.0f) {
    state->pending[l->state] -= (float)l->lambda;
  } else if (l->kind != ROW_STIFF_SPRING) {
    state->load[l->state] = (float)l->lambda;
  }
}

// Stores the impulse of a position row. A stiff spring adds to the impulse of its row.
static inline void row_store_impulse(direct_joint *j, const joint_row *l)
{
  RowState *state = &j->state[l->block];
  if (l->kind == ROW_STIFF_SPRING) {
    state->lambda[l->state] += (float)l->lambda;
    return;
  }
  float after = j->spring_after[l->block][l->state];
  state->lambda[l->state] = (float)l->lambda;
  if (after > 0.0f) {
    state->lambda[l->state] -= j->spring_before[l->block][l->state];
    state->pending[l->state] = after * state->lambda[l->state];
  }
}

// Whether a row belongs to an axis.
static inline bool is_axis_row(const joint_row *l)
{
  return l->kind >= ROW_DRIVE;
}

static inline direct_axis *row_axis(const mechanism_set *set, const direct_joint *j,
                                    const joint_row *l)
{
  return &set->axes[j->first_axis + l->state];
}

// axis_rows.c
//
// Appends the axes of a joint to the set; there is room for them.
void direct_add_axes(mechanism_set *set, direct_joint *d);
void axis_store_impulse(direct_axis *a, const joint_row *l, direct_pass pass);
// Inverse mass along an axis that is w for its bodies by themselves: that of the mechanism where
// these are light links.
double mechanism_inverse_mass(const AxisParams *p, double w);

// joint_rows.c
//
// Evaluates Jacobians at the current pose; builds the rows that act in this pass.
void direct_evaluate_jacobians(const direct_context *c, const mechanism *m);
void direct_build_rows(const direct_context *c, mechanism *m);
// Next lagged friction impulse for the velocities `motion` of A and B; see lags_friction().
void direct_update_lagged_friction(const direct_context *c, const direct_joint *j,
                                   const double *motion);
// Rows that a joint usually has in the matrix (no limits), and at most.
int direct_typical_rows(JointType type, const RowParams params[2], uint32_t axis_features);
int direct_row_capacity(JointType type, const RowParams params[2], uint32_t axis_features);

// ball_tree.c
//
// Solves a ball tree. Returns false if the mechanism is none, or needs the general solve.
bool ball_tree_solve(const direct_context *c, mechanism *m);

// mechanism_solve.c
//
// Fastest closing of a joint (m/s, rad/s) and fastest correction of a body (m/s) that may stay in
// the velocities, for the speed of the fastest body. Faster corrections are applied as split
// impulses.
double direct_max_error_rate(double fastest);
double direct_max_correction_speed(double fastest);
// Tolerated energy gain of a body, J, for its squared speed.
double direct_energy_tolerance(double square, double inverse_mass);
void mechanism_solve(const direct_context *c, mechanism *m);
// MASS_VALUES of a body: mass and inertia, or the inverses of a leaf.
void direct_node_mass(const direct_context *c, const direct_node *node, double *to);
// Inertia about the centre of mass, world axes, kg m^2; and the inverse of inertia + more * 1, as
// xx yy zz xy xz yz.
S direct_world_inertia(const solver_data *data, int32_t slot);
void direct_inverse_inertia_with(double *to, S inertia, double more);

// mechanism_batch.c
typedef bool needs_pass_fn(const mechanism *m, direct_pass pass);
// Solves one work item: those of its mechanisms that need the pass.
void mechanisms_solve(const direct_context *c, int32_t item, needs_pass_fn *needs_pass);

// coasting.c
//
// In the first pass of a step, with its rows built: sets mechanism.coasts, and impulses to zero if
// so.
void mechanism_begin_to_coast(const direct_context *c, mechanism *m);
// Whether the first solve of the step has found that the mechanism coasts, and it still does.
bool mechanism_coasts(const direct_context *c, mechanism *m);

// stiff_spring_prediction.c
//
// Sets joint_row.rhs to what stiff springs and rigid joints will lengthen beyond the linear
// prediction. Overwrites the solutions.
void mechanism_predict_stiff_springs(const direct_context *c, const mechanism *m);

// geometric_stiffness.c
//
// Sets direct_node.added_inertia: to zero; to h^2 times the stiffness under the impulses of the
// split pass; or to what exceeds TUNING_STIFFNESS_RESOLVED under the last impulses.
void mechanism_clear_added_inertia(const direct_context *c, const mechanism *m);
void mechanism_add_inertia_for_correction(const direct_context *c, const mechanism *m);
void mechanism_add_inertia_for_load(const direct_context *c, const mechanism *m);

// split_impulse.c
//
// After the drift: removes the split impulse from the velocities.
void mechanism_finish_split_impulse(const direct_context *c, const mechanism *m);
// Gives back the angular momentum that added inertia absorbed in a solve, for a mechanism without
// anchors and contacts. `kept_share` of the position solution stays in the velocities.
void mechanism_restore_angular_momentum(const direct_context *c, const mechanism *m,
                                        double kept_share);
// Removes the rigid motion of an anchored mechanism from the position solutions.
void mechanism_remove_rigid_motion(const direct_context *c, const mechanism *m);
// Adds (+1) or removes (-1) the split velocity: joints that are solved again must not stop it.
void mechanism_add_split_velocity(const direct_context *c, const mechanism *m, float sign);
// Lets bodies at infeasible joints move as one rigid body.
void mechanism_stop_infeasible(const direct_context *c, const mechanism *m);

// mechanism_warm_start.c
//
// In this order, after DIRECT_BIAS: measure the work of contacts' warm starts; remove the excessive
// ones, if any; after a solve, apply them again with the scale of least energy. Solve again.
void warm_contacts_measure(int first, int last, void *context);
bool warm_contacts_remove_excess(const direct_context *c);
void warm_contacts_reapply(const direct_context *c);

#endif
