// Mechanisms: joints between moving bodies, solved together and directly.
//
// Bodies and joints are the nodes of one sparse symmetric matrix,
//     [ M  J^T ] [ dv ]   [ 0 ]
//     [ J  -A  ] [ -y ] = [ r ],      r what the rows' velocities are to change by,
// where A holds the rows' compliances and y their impulses. Nodes are eliminated in an order
// chosen once for a topology: from the tips of trees inwards, a joint only after one of its
// bodies. A tree then costs as much as it has joints, whatever their number at one body, and loops
// cost the fill they bring. Elimination only adds positive terms to bodies and negative ones to
// joints, so it needs no pivoting.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_H
#define TENON_SOLVER_MECHANISM_MECHANISM_H

#include "solver/mechanism/ball_tree.h"
#include "solver/mechanism/direct_system.h"
#include "solver/mechanism/mechanism_batch.h"
#include "solver/solver_data.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct direct_joint {
  int32_t joint; // slot
  int32_t body[2];
  int32_t node,
      body_node[2]; // of the joint and of its bodies, NO_SLOT for those that joints do not move
  int32_t ball;     // its place in a tree of ball joints, or NO_SLOT
  int32_t jacobian_lane;      // in blocks of rows
  int32_t first_jacobian;     // of the stated ones
  int32_t jacobian_offset[2]; // where its rows go among the values, for each body
  int32_t first_joint_row;
  int16_t joint_row_count, joint_row_capacity;
  JointType type;
  float lever[2];            // lengths, as the step begins
  RowParams params[2];       // linear, angular
  RowState state[2];         // impulses of the last substep
  float sum[2][3];           // over the step
  float next_friction[2][3]; // what friction is to be as the substep ends; see lags_friction()
  double torque_impulse[2];  // impulses times levers with which errors apart from motion press on
                             // bodies
  float half_kick_done;      // share of them that was given ahead when the last step ended, but for
                             // springs
  float half_kick_share;     // and is to be when this one ends
} direct_joint;

typedef struct mechanism {
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t rows;        // of its vectors
  int32_t first_value; // of its blocks
  int32_t scratch;     // after them: room for the columns under elimination
  int32_t end_value;   // after that
  int32_t batch;       // that it is one of, or NO_SLOT
  int32_t first_jacobian_block, last_jacobian_block; // blocks of joints
  int32_t first_ball;                                // of a tree of ball joints, or NO_SLOT
  int32_t first_link, first_ball_body, ball_body_count;
  int32_t jacobian_pose, factor_pose; // the poses at which its rows and its matrix are, or NO_SLOT
  bool by_ball_tree;                  // this substep is solved by the tree
  bool needs_added_inertia;           // in this step: light links would swing too fast for a tree
  bool maybe_overloaded;              // after the last solve by the tree they might
  bool anchored;                      // to something that its joints do not move
  bool factors_stale;                 // values hold another matrix than the velocities' one
  bool supported;                     // contacts carry one of its bodies
  bool may_touch;                     // or may do so before the step ends
  bool infeasible;                    // some joint cannot close, whatever the bodies do
  bool infeasible_free;               // and none of these holds on to anything else
  bool split_impulse;          // position changes of this substep are not to stay in the velocities
  bool bad_warm_start;         // some of its contacts begin with too much, perhaps
  bool own_factor;             // its matrix is its own, not one of a batch's
  bool reuses_factors;         // a substep may ask for its matrix more than once
  double warm_work, cold_work; // work of their warm_contacts on velocities with and without them
} mechanism;

// What a contact of a mechanism begins a substep with.
typedef struct warm_contact {
  int32_t block, lane;
  int32_t mechanism[2];          // or NO_SLOT
  V impulse, angular_impulse[2]; // its impulse and what that turns A and B by
  float load;
  bool bad_warm_start;
  double work; // on the velocities that it leaves
} warm_contact;

// All mechanisms of a world, one after the other in each array.
typedef struct mechanism_set {
  mechanism *list;
  int32_t count, capacity;
  direct_node *nodes;
  int32_t node_count, node_capacity;
  direct_block *blocks;
  int32_t block_count, block_capacity;
  int32_t *targets;
  int32_t target_count, target_capacity;
  direct_joint *joints;
  int32_t joint_count, joint_capacity;
  joint_row *joint_rows;
  active_row *active_rows; // of each joint as many as it has rows now
  int32_t joint_row_count, joint_row_capacity, active_row_capacity;
  jacobian_block *jacobian_blocks;
  jacobian_row *jacobians; // by places in blocks
  int32_t jacobian_block_count, jacobian_block_capacity, jacobian_count, jacobian_capacity;
  double *values; // blocks, then scratch
  int32_t value_count, value_capacity;
  double *vectors; // velocities, then momenta, by row
  int32_t row_count, vector_capacity;
  f64x2 *solutions; // velocity, position
  int32_t solution_capacity;
  ball_joint *balls; // in whole blocks
  ball_block *ball_blocks;
  int32_t ball_count, ball_capacity, ball_block_capacity;
  ball_body *ball_bodies;
  int32_t ball_body_count, ball_body_capacity;
  ball_link *links;
  int32_t link_count, link_capacity;
  body_inertia *augmented_inertia; // by slot: of bodies in trees, where these need more
  int32_t augmented_inertia_capacity;
  warm_contact *warm_contacts;
  int32_t warm_contact_count, warm_contact_capacity;
  int32_t *work; // mechanisms to solve one by one, or ~ the batch that they are solved in
  int32_t work_count, work_capacity;
  mechanism_batch *batches;
  int32_t batch_count, batch_capacity;
  direct_node *batch_nodes; // of each batch those of one member, with the rows that any of them has
  int32_t batch_node_count, batch_node_capacity;
  batch_joint *batch_joints;
  int32_t batch_joint_count, batch_joint_capacity;
  batch_row *batch_rows;
  int32_t batch_row_count, batch_row_capacity;
  batch_jacobian *batch_jacobian;
  int32_t batch_jacobian_count, batch_jacobian_capacity;
  batch_f64 *batch_values; // blocks, then scratch
  int32_t batch_value_count, batch_value_capacity;
  batch_f64 *batch_scratch; // for matrices that nobody asks for again: these stay in a core's cache
  int32_t batch_scratch_size, batch_scratch_count, batch_scratch_capacity;
  scratch_lock *scratch_locks; // of rooms
  int32_t scratch_lock_capacity;
  batch_f64 *batch_vectors; // solutions, then velocities
  int32_t batch_vector_count, batch_vector_capacity;
  int32_t skipped; // joints left to Gauss-Seidel: their mechanism would fill up
} mechanism_set;

// What a solve is for.
typedef enum direct_pass {
  DIRECT_BIAS,      // the substep's own
  DIRECT_RESOLVE,   // after contacts have changed velocities
  DIRECT_RELAX,     // at the new pose, velocities alone
  DIRECT_HALF_KICK, // the same as the step ends, with half of the springs' impulses to come
} direct_pass;

typedef struct direct_context {
  const struct tn_world *world;
  solver_data *data;
  mechanism_set *set;
  direct_pass pass;
  bool first_substep; // the first substep of a step
  int32_t pose;       // counts in how many places of the step bodies have been
  const direct_ops *direct;
  const ball_ops *ball_ops;
} direct_context;

// What the bodies of a joint move with as the solve begins, A and then B.
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

// What `motion` of A and B is along a joint_row.
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

// A spring is soft enough by itself.
static inline double row_compliance(const joint_row *l)
{
  return at_least(l->alpha, l->regularization);
}

static inline double row_bound(const joint_row *l)
{
  return l->at_hi ? l->hi : l->lo;
}

// Friction of a mechanism that contacts carry follows its motion from substep to substep, as the
// contacts do: solved at once, friction in joints at the ends of their ranges has no one solution,
// and would be another one each time.
static inline bool lags_friction(const mechanism *m)
{
  return m->supported;
}

// Friction about all axes is bounded as a vector.
static inline bool friction_is_vector(const direct_joint *j, const joint_row *l)
{
  return (l->block ? angular_kind(j->type) : linear_kind(j->type)).vector_dissipation;
}

// What a joint_row gives ahead of the next step. In a RowState each row's load is as far from its
// impulse as a drive's is.
static inline void law_keep_ahead(direct_joint *j, const joint_row *l)
{
  enum { LOAD = offsetof(RowState, load) / sizeof(float) };
  _Static_assert(offsetof(RowState, drive_load) - offsetof(RowState, drive) ==
                     offsetof(RowState, load) - offsetof(RowState, lambda),
                 "loads lie as impulses do");
  if (l->kind == ROW_LOCKED || l->kind == ROW_LIMIT || l->kind == ROW_DRIVE) {
    ((float *)&j->state[l->block])[LOAD + l->state] = (float)l->lambda;
  }
}

// The impulse of a joint_row into its joint's state; damping has none that stays.
static inline void row_store_impulse(direct_joint *j, const joint_row *l)
{
  float *to = (float *)&j->state[l->block] + l->state;
  if (l->kind == ROW_STIFF_SPRING) {
    *to += (float)l->lambda;
  } else if (l->kind != ROW_DAMPING) {
    *to = (float)l->lambda;
  }
}

// mechanism_rows.c
// Rows that depend on each other are told apart by a little compliance, relative to the inverse
// mass that a row sees.
#define TUNING_ROW_REGULARIZATION 1e-5
// The rows of a mechanism's joints at their bodies' pose, and their joint_rows.
void direct_evaluate_jacobians(const direct_context *c, const mechanism *m);
void direct_build_rows(const direct_context *c, mechanism *m);
// Friction against the motion of a joint's bodies in this substep; see lags_friction().
void direct_update_lagged_friction(const direct_context *c, direct_joint *j, const double *motion);
// How many it has unless something gives way, and may have at most.
int direct_typical_rows(JointType type, const RowParams params[2]);
int direct_row_capacity(JointType type, const RowParams params[2]);

// mechanism_points.c
// Solves a tree of ball joints; false if the mechanism is none, or is to be solved as any other.
bool ball_tree_solve(const direct_context *c, mechanism *m);

// mechanism.c
// How fast errors of position may close joints and move bodies, if the fastest body has that speed.
// What is faster moves the bodies but is no part of their motion.
double direct_max_error_rate(double fastest);
double direct_max_correction_speed(double fastest);
// Energy of a body that may come from nowhere, by its speed squared.
double direct_energy_tolerance(double square, double inverse_mass);
void mechanism_solve(const direct_context *c, mechanism *m);
// Of a body in the matrix: its mass and inertia, or their inverses.
void direct_node_mass(const direct_context *c, const direct_node *node, double *to);
// Inertia about the centre of mass, world axes; the inverse of one plus the same about all axes.
S direct_world_inertia(const solver_data *data, int32_t slot);
void direct_inverse_inertia_with(double *to, S inertia, double more);

// mechanism_batch.c
typedef bool needs_pass_fn(const mechanism *m, direct_pass pass);
// One item of the set's work: those of its mechanisms that take part.
void mechanisms_solve(const direct_context *c, int32_t item, needs_pass_fn *needs_pass);

// mechanism_ahead.c
// What is asked back of rows by the bodies' velocities. Solutions are lost.
void mechanism_predict_stiff_springs(const direct_context *c, const mechanism *m);

// mechanism_stiffness.c
// What bodies resist turning with besides their inertia: nothing, what errors that are no motion
// press with, or what their joints bear beyond what the substep can follow.
void mechanism_clear_added_inertia(const direct_context *c, const mechanism *m);
void mechanism_add_inertia_for_correction(const direct_context *c, const mechanism *m);
void mechanism_add_inertia_for_load(const direct_context *c, const mechanism *m);

// mechanism_finish_split_impulse.c
// After the drift, takes back what moved the bodies without being motion.
void mechanism_finish_split_impulse(const direct_context *c, const mechanism *m);
// What a mechanism that nothing holds or touches has lost of its angular momentum in a solve comes
// back into the solutions, of whose position part a share is kept.
void mechanism_restore_angular_momentum(const direct_context *c, const mechanism *m,
                                        double kept_share);
// What errors move an anchored mechanism by as one is taken out of the solutions.
void mechanism_remove_rigid_motion(const direct_context *c, const mechanism *m);
// What moves the bodies so is not for joints to stop, so it is taken out while they are solved
// again.
void mechanism_add_split_velocity(const direct_context *c, const mechanism *m, float sign);
// Bodies at joints that cannot close move as one.
void mechanism_stop_infeasible(const direct_context *c, const mechanism *m);

// mechanism_guess.c
// After the joints' first solve: what warm_contacts do; those that do too much are taken back, if
// there are any, and given as far as that takes energy, each before joints are solved again.
void warm_contacts_measure(int first, int last, void *context);
bool warm_contacts_remove_excess(const direct_context *c);
void warm_contacts_reapply(const direct_context *c);

#endif
