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
#ifndef TENON_MECHANISM_H
#define TENON_MECHANISM_H

#include "direct_store.h"
#include "point_store.h"
#include "store.h"
#include "team_store.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct direct_joint {
  int32_t joint; // slot
  int32_t body[2];
  int32_t node, at[2]; // of the joint and of its bodies, NO_SLOT for those that joints do not move
  int32_t point;       // its place in a tree of ball joints, or NO_SLOT
  int32_t place;       // in blocks of rows
  int32_t first_row;   // of the stated ones
  int32_t entry[2];    // where its rows go among the values, for each body
  int32_t first_law;
  int16_t law_count, law_capacity;
  JointType type;
  float lever[2];      // lengths, as the step begins
  RowParams params[2]; // linear, angular
  RowState state[2];   // impulses of the last substep
  float sum[2][3];     // over the step
  float resist[2][3];  // what friction is to be as the substep ends; see lags()
  double press[2];     // impulses times levers with which errors apart from motion press on bodies
  float given; // share of them that was given ahead when the last step ended, but for springs
  float lag;   // and is to be when this one ends
} direct_joint;

typedef struct mechanism {
  int32_t first_node, last_node;
  int32_t first_joint, last_joint;
  int32_t rows;                  // of its vectors
  int32_t first_value;           // of its blocks
  int32_t scratch;               // after them: room for the columns under elimination
  int32_t end_value;             // after that
  int32_t team;                  // that it is one of, or NO_SLOT
  int32_t first_rows, last_rows; // blocks of joints
  int32_t first_point;           // of a tree of ball joints, or NO_SLOT
  int32_t first_link, first_point_body, point_body_count;
  int32_t stated, factored;  // the poses at which its rows and its matrix are, or NO_SLOT
  bool by_tree;              // this substep is solved by the tree
  bool overloaded;           // in this step: light links would swing too fast for a tree
  bool strained;             // after the last solve by the tree they might
  bool anchored;             // to something that its joints do not move
  bool stale;                // values hold another matrix than the velocities' one
  bool leaning;              // contacts carry one of its bodies
  bool meets;                // or may do so before the step ends
  bool torn;                 // some joint cannot close, whatever the bodies do
  bool torn_off;             // and none of these holds on to anything else
  bool apart;                // position changes of this substep are not to stay in the velocities
  bool doubted;              // some of its contacts begin with too much, perhaps
  bool alone;                // its matrix is its own, not one of a team's
  bool recalled;             // a substep may ask for its matrix more than once
  double guessed, unguessed; // work of their guesses on velocities with and without them
} mechanism;

// What a contact of a mechanism begins a substep with.
typedef struct guess {
  int32_t block, lane;
  int32_t mechanism[2]; // or NO_SLOT
  V push, turn[2];      // its impulse and what that turns A and B by
  float load;
  bool doubted;
  double work; // on the velocities that it leaves
} guess;

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
  law *laws;
  held_row *held; // of each joint as many as it has rows now
  int32_t law_count, law_capacity, held_capacity;
  rows_block *rows_blocks;
  stated_row *stated; // by places in blocks
  int32_t rows_count, rows_capacity, stated_count, stated_capacity;
  double *values; // blocks, then scratch
  int32_t value_count, value_capacity;
  double *vectors; // velocities, then momenta, by row
  int32_t row_count, vector_capacity;
  pair2 *solutions; // velocity, position
  int32_t solution_capacity;
  point_joint *points; // in whole blocks
  point_block *point_blocks;
  int32_t point_count, point_capacity, point_block_capacity;
  point_body *point_bodies;
  int32_t point_body_count, point_body_capacity;
  point_link *links;
  int32_t link_count, link_capacity;
  body_inertia *resisting; // by slot: of bodies in trees, where these need more
  int32_t resisting_capacity;
  guess *guesses;
  int32_t guess_count, guess_capacity;
  int32_t *work; // mechanisms to solve one by one, or ~ the team that they are solved in
  int32_t work_count, work_capacity;
  mechanism_team *teams;
  int32_t team_count, team_capacity;
  direct_node *team_nodes; // of each team those of one member, with the rows that any of them has
  int32_t team_node_count, team_node_capacity;
  team_joint *team_joints;
  int32_t team_joint_count, team_joint_capacity;
  team_row *team_rows;
  int32_t team_row_count, team_row_capacity;
  team_stated *team_stated;
  int32_t team_stated_count, team_stated_capacity;
  lanes2 *team_values; // blocks, then scratch
  int32_t team_value_count, team_value_capacity;
  lanes2 *team_rooms; // for matrices that nobody asks for again: these stay in a core's cache
  int32_t team_room_size, team_room_count, team_room_capacity;
  team_lock *team_locks; // of rooms
  int32_t team_lock_capacity;
  lanes2 *team_vectors; // solutions, then velocities
  int32_t team_vector_count, team_vector_capacity;
  int32_t skipped; // joints left to Gauss-Seidel: their mechanism would fill up
} mechanism_set;

// What a solve is for.
typedef enum direct_pass {
  DIRECT_FIRST, // the substep's own
  DIRECT_AGAIN, // after contacts have changed velocities
  DIRECT_RELAX, // at the new pose, velocities alone
  DIRECT_AHEAD, // the same as the step ends, with half of the springs' impulses to come
} direct_pass;

typedef struct direct_context {
  const struct tn_world *world;
  solver_data *data;
  mechanism_set *set;
  direct_pass pass;
  bool begins;  // the first substep of a step
  int32_t pose; // counts in how many places of the step bodies have been
  const direct_ops *direct;
  const point_ops *points;
} direct_context;

// What the bodies of a joint move with as the solve begins, A and then B.
static inline void direct_motion(const direct_context *c, const direct_joint *j, double *v)
{
  for (int side = 0; side < 2; ++side, v += BODY_ROWS) {
    if (j->at[side] >= 0) {
      memcpy(v, c->set->vectors + c->set->nodes[j->at[side]].first_row, BODY_ROWS * sizeof *v);
      continue;
    }
    const body_state *b = &c->data->state[j->body[side]];
    for (int k = 0; k < 3; ++k) {
      v[k] = (double)b->v[k];
      v[3 + k] = (double)b->w[k];
    }
  }
}

// What `motion` of A and B is along a law.
static inline double along_law(const law *l, const double *motion)
{
  const double *j = l->j[0];
  pair2 sum = load2(j) * load2(motion);
#pragma GCC unroll 8
  for (int i = 2; i < 2 * BODY_ROWS; i += 2) {
    sum += load2(j + i) * load2(motion + i);
  }
  return sum[0] + sum[1];
}

// A spring is soft enough by itself.
static inline double law_softness(const law *l)
{
  return at_least(l->alpha, l->soft);
}

static inline double law_bound(const law *l)
{
  return l->at_hi ? l->hi : l->lo;
}

// Friction of a mechanism that contacts carry follows its motion from substep to substep, as the
// contacts do: solved at once, friction in joints at the ends of their ranges has no one solution,
// and would be another one each time.
static inline bool lags(const mechanism *m)
{
  return m->leaning;
}

// Friction about all axes is bounded as a vector.
static inline bool resists_all_ways(const direct_joint *j, const law *l)
{
  return (l->block ? angular_kind(j->type) : linear_kind(j->type)).vector_resist;
}

// What a law gives ahead of the next step. In a RowState each row's load is as far from its impulse
// as a drive's is.
static inline void law_keep_ahead(direct_joint *j, const law *l)
{
  enum { LOAD = offsetof(RowState, load) / sizeof(float) };
  _Static_assert(offsetof(RowState, drive_load) - offsetof(RowState, drive) ==
                     offsetof(RowState, load) - offsetof(RowState, lambda),
                 "loads lie as impulses do");
  if (l->kind == LAW_LOCKED || l->kind == LAW_RANGE || l->kind == LAW_DRIVE) {
    ((float *)&j->state[l->block])[LOAD + l->state] = (float)l->lambda;
  }
}

// The impulse of a law into its joint's state; damping has none that stays.
static inline void law_keep(direct_joint *j, const law *l)
{
  float *to = (float *)&j->state[l->block] + l->state;
  if (l->kind == LAW_STRAIN) {
    *to += (float)l->lambda;
  } else if (l->kind != LAW_DAMPING) {
    *to = (float)l->lambda;
  }
}

// mechanism_rows.c
// Rows that depend on each other are told apart by a little compliance, relative to the inverse
// mass that a row sees.
#define DIRECT_SOFTNESS 1e-5
// The rows of a mechanism's joints at their bodies' pose, and their laws.
void direct_state(const direct_context *c, const mechanism *m);
void direct_laws(const direct_context *c, mechanism *m);
// Friction against the motion of a joint's bodies in this substep; see lags().
void direct_follow_motion(const direct_context *c, direct_joint *j, const double *motion);
// How many it has unless something gives way, and may have at most.
int direct_usual_rows(JointType type, const RowParams params[2]);
int direct_law_capacity(JointType type, const RowParams params[2]);

// mechanism_points.c
// Solves a tree of ball joints; false if the mechanism is none, or is to be solved as any other.
bool points_solve(const direct_context *c, mechanism *m);

// mechanism.c
// How fast errors of position may close joints and move bodies, if the fastest body has that speed.
// What is faster moves the bodies but is no part of their motion.
double direct_joint_speed(double fastest);
double direct_body_speed(double fastest);
// Energy of a body that may come from nowhere, by its speed squared.
double direct_spare(double square, double inverse_mass);
void mechanism_solve(const direct_context *c, mechanism *m);
// Of a body in the matrix: its mass and inertia, or their inverses.
void direct_mass(const direct_context *c, const direct_node *node, double *to);
// Inertia about the centre of mass, world axes; the inverse of one plus the same about all axes.
S direct_inertia(const solver_data *data, int32_t slot);
void direct_inverse_inertia(double *to, S inertia, double more);

// mechanism_team.c
typedef bool takes_part_fn(const mechanism *m, direct_pass pass);
// One item of the set's work: those of its mechanisms that take part.
void mechanisms_solve(const direct_context *c, int32_t item, takes_part_fn *takes_part);

// mechanism_ahead.c
// What is asked back of rows by the bodies' velocities. Solutions are lost.
void mechanism_look_ahead(const direct_context *c, const mechanism *m);

// mechanism_stiffness.c
// What bodies resist turning with besides their inertia: nothing, what errors that are no motion
// press with, or what their joints bear beyond what the substep can follow.
void mechanism_resist_nothing(const direct_context *c, const mechanism *m);
void mechanism_resist_press(const direct_context *c, const mechanism *m);
void mechanism_resist_load(const direct_context *c, const mechanism *m);

// mechanism_settle.c
// After the drift, takes back what moved the bodies without being motion.
void mechanism_settle(const direct_context *c, const mechanism *m);
// What a mechanism that nothing holds or touches has lost of its angular momentum in a solve comes
// back into the solutions, of whose position part a share is kept.
void mechanism_keep_turning(const direct_context *c, const mechanism *m, double kept);
// What errors move an anchored mechanism by as one is taken out of the solutions.
void mechanism_stay(const direct_context *c, const mechanism *m);
// What moves the bodies so is not for joints to stop, so it is taken out while they are solved
// again.
void mechanism_set_aside(const direct_context *c, const mechanism *m, float sign);
// Bodies at joints that cannot close move as one.
void mechanism_calm(const direct_context *c, const mechanism *m);

// mechanism_guess.c
// After the joints' first solve: what guesses do; those that do too much are taken back, if there
// are any, and given as far as that takes energy, each before joints are solved again.
void guesses_weigh(int first, int last, void *context);
bool guesses_take_back(const direct_context *c);
void guesses_give(const direct_context *c);

#endif
