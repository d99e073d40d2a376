// Reduced coordinates: state that the files of tn_articulation share.
//
// Spatial vectors are taken about one point, `origin`, in world axes: a screw is (angular
// velocity, velocity of the body's point at the origin), a force is (moment about the origin,
// force). A link is a body with the joint that moves it. Column k of a link's joint is the screw
// S_k of the body relative to its parent at q'_k = 1; with its rate of change S'_k,
//
//   v = v_parent + sum S_k q'_k,    v' = v'_parent + sum S_k q''_k + sum S'_k q'_k.
//
// S'_k follows from the frame in which S_k is constant: S'_k = v_frame x S_k.
#ifndef TENON_TOOLS_ARTICULATION_H
#define TENON_TOOLS_ARTICULATION_H

#include "base/dquat.h"
#include "base/dvec.h"
#include "base/heap.h"
#include "data/joints.h"

#include <tenon/articulation.h>

typedef struct placement {
  tn_pos p;
  dquat q;
} placement;

typedef struct screw {
  tn_pos w, v; // rad/s; m/s at the origin
} screw;

typedef struct wrench {
  tn_pos n, f; // N m about the origin; N
} wrench;

// How frame B may turn relative to frame A.
typedef enum turn_kind {
  TURN_NONE,      // not at all; generic joints: by a constant rotation vector
  TURN_AXIS,      // about one axis that both frames share
  TURN_UNIVERSAL, // about x of A, then about y of B
  TURN_BALL,      // any way, quaternion
  TURN_VECTOR,    // by the free parts of the rotation vector
} turn_kind;

// What a joint leaves free, apart from its frames.
typedef struct joint_freedom {
  bool free_root;
  int slide_count, turn_count; // turn_count: velocities
  int slides[3], turns[3];     // axes that are free: of TURN_AXIS one, of TURN_VECTOR up to two
  turn_kind turn;
  double locked[6]; // offset and rotation vector where they are locked
} joint_freedom;

typedef struct art_link {
  tn_body_id body;
  tn_joint_id joint;     // null: a free root
  int parent;            // link of the other body, or -1
  int32_t parent_slot;   // body slot of the other body
  bool reversed;         // the body is A of its joint
  joint_freedom freedom; // when the articulation was made
  int first_position, position_count;
  int first_velocity, velocity_count;

  // At the positions and velocities of the last art_place() and art_move().
  placement at;       // centre of mass, from the origin, and principal axes
  screw velocity;     // of the body
  screw drift;        // sum S'_k q'_k
  screw sum;          // scratch: acceleration
  wrench force;       // scratch: of the body and all that hang on it
  double inertia[10]; // composite: mass, first moment, inertia about the origin xx yy zz xy xz yz
} art_link;

struct tn_articulation {
  tn_world *world;
  heap heap; // with the world's allocator, so that it may be destroyed after the world
  tn_pos origin;
  art_link *links;
  tn_joint_id *loops;
  screw *columns;    // S_k, by velocity
  double *positions; // q and q' that the links are at
  double *velocities;
  double *matrix;        // scratch of the mass matrix
  double *vectors;       // scratch: three vectors of the size of a velocity
  double *start;         // scratch: a position
  double *loop_jacobian; // scratch: rows of loops x velocities
  double *loop_matrix;   // scratch: rows of loops squared
  double *loop_rows;     // scratch: errors and multipliers of the rows
  int link_count, loop_count, position_count, velocity_count;
};

static inline screw screw_add(screw a, screw b)
{
  return (screw){pos_add(a.w, b.w), pos_add(a.v, b.v)};
}

static inline screw screw_scale(double s, screw a)
{
  return (screw){pos_scale(s, a.w), pos_scale(s, a.v)};
}

// Rate of change of a screw that is constant in a frame that moves by `v`.
static inline screw screw_cross(screw v, screw s)
{
  return (screw){pos_cross(v.w, s.w), pos_add(pos_cross(v.w, s.v), pos_cross(v.v, s.w))};
}

static inline wrench wrench_add(wrench a, wrench b)
{
  return (wrench){pos_add(a.n, b.n), pos_add(a.f, b.f)};
}

static inline double power(screw s, wrench f)
{
  return pos_dot(s.w, f.n) + pos_dot(s.v, f.f);
}

// articulation.c: looks the joint up; null where there is none. The articulation must be sound.
const joint *art_joint(const tn_articulation *a, const art_link *link);
// Whether all bodies and joints are still there; otherwise false with the reason logged.
bool art_is_sound(const tn_articulation *a, const char *caller);
joint_freedom joint_freedom_of(const joint *j);

// articulation_motion.c: kinematics.
// Pose of a body of the world from the origin: centre of mass and principal axes.
placement art_pose_now(const tn_articulation *a, int32_t slot);
// Frame of a joint on one of its sides, on a body at `at`.
placement art_frame(const joint *j, int side, placement at);
// Reads q of the world.
void art_read_positions(const tn_articulation *a, double *positions);
// Places the links at a->positions.
void art_place(tn_articulation *a);
// Columns, velocities and drifts of the placed links at a->velocities.
void art_move(tn_articulation *a);
// Reads q' of the world, for placed links.
void art_read_velocities(tn_articulation *a, double *velocities);
// Motion of a body of the world about the origin.
screw art_motion_now(const tn_articulation *a, int32_t slot);
// q + q' dt. False if a result is not finite or a quaternion is zero.
bool art_advance(const tn_articulation *a, double *positions, const double *velocities, double dt);
// Reads q and q' of the world and places the links there. False as of art_is_sound().
bool art_load(tn_articulation *a, const char *caller);
// The axis of the joint (tn_joint_axis) that velocity k of a link belongs to, or -1 for a free
// root. The velocities of a ball are those of its three angular axes.
int art_axis_of(const art_link *link, int k);
// The link of a body slot, or -1.
int art_link_of(const tn_articulation *a, int32_t slot);

// articulation_dynamics.c
void art_mass_matrix(tn_articulation *a, double *matrix);
// Factors a symmetric positive matrix of n rows in place and solves for one right-hand side in
// place. False if it is not positive.
bool art_solve(double *matrix, int n, double *rhs);

// articulation_loops.c: changes a->positions until the loops close, or a->velocities. Of close,
// the largest errors that are left, in m and rad.
bool art_close_loops(tn_articulation *a, const bool *keep, double errors[2]);
void art_project_velocities(tn_articulation *a, const bool *keep);

#endif
