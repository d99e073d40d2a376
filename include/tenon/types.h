// Definitions, settings, read-outs and events. Units are SI: metres, kilograms, seconds, newtons,
// radians. Every *_def comes from its tn_default_* function, which fills in sane values and a
// cookie; a definition that was not made that way is rejected.
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include "id.h"
#include "math.h"

typedef struct tn_world tn_world;

// How constraints are solved.
typedef enum tn_method {
  TN_METHOD_TENON,  // the default: XPBD in impulse form
  TN_METHOD_XPBD,   // Mueller et al. 2020, Algorithm 2: positions, Gauss-Seidel
  TN_METHOD_JACOBI, // the same with averaged corrections
} tn_method;

// Named numbers of substeps, for steps of 1/60 s, things of about a metre and the gravity of the
// Earth; tn_substeps_for scales them to others.
typedef enum tn_quality {
  TN_QUALITY_FAST = 4,
  TN_QUALITY_DEFAULT = 8,
  TN_QUALITY_ACCURATE = 20,
} tn_quality;

// The time, in any unit from any start.
typedef double tn_clock_fn(void);

typedef struct tn_world_def {
  tn_vec3 gravity;
  tn_method method;
  bool sleeping;          // bodies at rest may fall asleep
  int substeps;           // the quality knob: substeps in each step
  int iterations;         // passes over the constraints in each substep; 1 is best
  int threads;            // threads of the built-in pool, the caller's included
  int lanes;              // 1, 4, 8 or 16 constraints at a time; 0: the most this machine can do
  tn_enqueue_fn *enqueue; // the host's scheduler instead of the built-in pool; both or none
  tn_finish_fn *finish;
  void *task_context;
  tn_allocator allocator;
  tn_log_fn *log;
  void *log_context;
  tn_clock_fn *clock; // for tn_world_profile; null: none is kept
  uint32_t cookie;
} tn_world_def;

// How long the parts of the last step took, in the clock's unit.
typedef struct tn_profile {
  double pairs;     // which shapes are close
  double manifolds; // where these touch
  double prepare;   // what the substeps need
  double solve;     // all substeps
  double finish;    // read-out, events, sleep
} tn_profile;

// The range of positions, from the origin along each axis, m. Calls refuse what is beyond; what
// leaves it in a step is stopped there.
#define TN_MAX_DISTANCE 1e9
// The largest component of a velocity, an angular velocity or an acceleration, SI. Calls refuse
// what is or leads to more; what becomes faster in a step is stopped.
#define TN_MAX_RATE 1e12f

// What happened in a step, as bits; zero is a clean step.
typedef enum tn_step_status {
  TN_STEP_OK = 0,
  TN_STEP_REJECTED = 1,      // bad argument; nothing was done
  TN_STEP_OUT_OF_MEMORY = 2, // nothing was done
  TN_STEP_NON_FINITE = 4,    // a body or soft body overflowed or left the range: put back, stopped
  TN_STEP_SERIAL = 8,        // more constraints on one body than colours: the rest ran serially
  TN_STEP_ITERATIVE = 16,    // a net of joints too dense to be solved directly was iterated over
  TN_STEP_CROWDED = 32,      // a body lay deep inside more than 32 others; some contacts wait
} tn_step_status;

typedef struct tn_counters {
  int bodies, joints, colors, blocks;
  int shapes, geometries, pairs;
  int contacts, points; // manifolds that touch or nearly; their points
  int awake;            // dynamic bodies that are awake
  int softs, particles; // soft bodies and all their particles
  int soft_rows;        // constraints between particles
  int touches;          // of particles, with shapes and with each other
  size_t bytes;         // memory the world holds
} tn_counters;

// ---------------------------------------------------------------------------------------------
// Bodies

typedef enum tn_body_type {
  TN_BODY_STATIC,    // never moves
  TN_BODY_KINEMATIC, // moves as told, pushes but is not pushed
  TN_BODY_DYNAMIC,
} tn_body_type;

// Mass, centre of mass in the body's frame, and inertia about that centre.
typedef struct tn_mass {
  float mass;
  tn_vec3 center;
  tn_sym3 inertia;
} tn_mass;

typedef struct tn_body_def {
  tn_body_type type;
  tn_pos position;  // of the body's origin
  tn_quat rotation; // need not be exactly unit
  tn_vec3 velocity; // of the centre of mass
  tn_vec3 angular_velocity;
  tn_mass mass; // of a dynamic body; see the tn_mass_* functions
  float gravity_scale;
  float linear_damping, angular_damping; // 1/s: velocities decay as exp(-damping t)
  float max_speed, max_angular_speed;
  bool can_sleep;
  bool bullet; // checked for tunnelling against moving bodies as well, not only against the rest
  void *user_data;
  const char *name; // copied, cut to 31 bytes; may be null
  uint32_t cookie;
} tn_body_def;

typedef struct tn_energy {
  double kinetic, potential, elastic, total;
} tn_energy;

typedef struct tn_momentum {
  double mass;
  double linear[3];
  double angular[3]; // about the point asked for
} tn_momentum;

// ---------------------------------------------------------------------------------------------
// Shapes

typedef enum tn_shape_kind {
  TN_SHAPE_SPHERE,       // radius
  TN_SHAPE_CAPSULE,      // along y: radius, half_length of the straight part
  TN_SHAPE_BOX,          // half_extents
  TN_SHAPE_CYLINDER,     // along y: radius, half_length
  TN_SHAPE_CONE,         // along y: radius of the base at -half_length, tip at +half_length
  TN_SHAPE_HULL,         // geometry: tn_hull_create
  TN_SHAPE_PLANE,        // the half space y < 0 is solid
  TN_SHAPE_MESH,         // geometry: tn_mesh_create; not on dynamic bodies
  TN_SHAPE_HEIGHT_FIELD, // geometry: tn_height_field_create; not on dynamic bodies
  TN_SHAPE_WIRE,         // geometry: tn_wire_create; a tube of `radius`
  TN_SHAPE_KIND_COUNT
} tn_shape_kind;

// How the values of two materials become that of a contact.
typedef enum tn_combine {
  TN_COMBINE_AVERAGE,
  TN_COMBINE_MINIMUM,
  TN_COMBINE_MULTIPLY,
  TN_COMBINE_MAXIMUM, // where two materials differ in this, the later of the list counts
} tn_combine;

typedef struct tn_material {
  float static_friction;    // coefficient up to which the contact sticks
  float dynamic_friction;   // coefficient while it slides; not above the static one
  float restitution;        // 0 to 1
  float rolling_friction;   // m: torque against rolling over the normal force
  float spinning_friction;  // m: torque against turning about the normal over the normal force
  float compliance;         // m/N
  tn_vec3 surface_velocity; // m/s in the body's frame: a conveyor
  tn_combine combine_friction, combine_restitution;
} tn_material;

// Two shapes collide if each one's mask has the other's category, unless they share a group that
// is not zero: then they collide if the group is positive and do not if it is negative.
typedef struct tn_filter {
  uint64_t category, mask;
  int32_t group;
} tn_filter;

typedef struct tn_shape_def {
  tn_shape_kind kind;
  tn_vec3 position; // in the body's frame
  tn_quat rotation;
  float radius, half_length;
  tn_vec3 half_extents;
  tn_geometry_id geometry;
  tn_material material;
  tn_filter filter;
  float density;   // kg/m^3, for tn_body_set_mass_from_shapes
  bool sensor;     // reports overlaps, pushes nothing
  bool hit_events; // reports hits
  void *user_data;
  uint32_t cookie;
} tn_shape_def;

// A point of a wire's axis, and the direction in which the cubic passes through it: the derivative
// with respect to a parameter that grows by one from point to point.
typedef struct tn_wire_point {
  tn_vec3 position, tangent;
} tn_wire_point;

// What a geometry was made of, as it was given; what its kind does not have is null and zero. The
// arrays are the world's, for as long as the geometry lives.
typedef struct tn_geometry_source {
  tn_shape_kind kind;
  const tn_vec3 *points; // of a hull or mesh
  int point_count;
  int max_vertices;     // of a hull
  const int *triangles; // of a mesh, three each
  int triangle_count;
  const float *heights; // of a height field
  int columns, rows;
  float spacing_x, spacing_z;
  const tn_wire_point *wire_points;
  int wire_point_count;
  bool closed; // of a wire
} tn_geometry_source;

// ---------------------------------------------------------------------------------------------
// Contacts. The normal points from shape A to shape B.

typedef struct tn_contact_point {
  tn_pos position; // midway between the two surfaces
  float gap;       // negative: penetration
  float normal_force;
} tn_contact_point;

// What a contact does now. Forces act on B, as the mean over the last step.
typedef struct tn_contact {
  tn_shape_id shape_a, shape_b;
  tn_body_id body_a, body_b;
  tn_vec3 normal;
  int count;
  tn_contact_point points[4];
  tn_vec3 friction_force;
  float friction_torque; // about the normal
} tn_contact;

typedef enum tn_event_kind {
  TN_EVENT_BEGIN,        // two shapes touch
  TN_EVENT_END,          // they part, or one of them is gone
  TN_EVENT_HIT,          // they begin to touch, faster than bodies that come to rest
  TN_EVENT_SENSOR_BEGIN, // shape B enters sensor A
  TN_EVENT_SENSOR_END,
} tn_event_kind;

typedef struct tn_contact_event {
  tn_event_kind kind;
  tn_shape_id shape_a, shape_b;
  tn_body_id body_a, body_b;
  tn_pos point;   // where they begin to touch
  tn_vec3 normal; // from A to B
  float speed;    // of approach, m/s
  /// N s: of all normal forces between the two shapes, over the step in which they begin to touch.
  /// What an impact at the very end of that step gives in the next one is not part of it.
  float impulse;
} tn_contact_event;

typedef struct tn_sleep_event {
  tn_body_id body;
  bool asleep; // fell asleep, or woke
} tn_sleep_event;

// False keeps two shapes from colliding. Called during tn_world_step, on the thread that called it.
typedef bool tn_pair_filter_fn(tn_shape_id a, tn_shape_id b, void *context);

// ---------------------------------------------------------------------------------------------
// Queries

typedef struct tn_hit {
  tn_shape_id shape; // null: a soft body
  tn_body_id body;
  tn_soft_id soft;
  int triangle;   // of the soft body
  tn_pos point;   // on the shape
  tn_vec3 normal; // of its surface there
  float fraction; // of the way
  float distance; // of tn_world_closest_point
  bool hit;
} tn_hit;

typedef struct tn_query_filter {
  uint64_t category, mask; // as a shape's
  bool sensors;            // find sensors as well
} tn_query_filter;

// Called for every hit, in no order of distance. Returns how far the query goes on: 0 ends it, the
// hit's fraction cuts it there, 1 goes on as if nothing was hit, below 0 skips the shape.
typedef float tn_hit_fn(const tn_hit *hit, void *context);

// ---------------------------------------------------------------------------------------------
// Debug draw: the world calls those that are set.

typedef struct tn_debug_draw {
  void (*line)(tn_pos from, tn_pos to, uint32_t rgba, void *context);
  void (*point)(tn_pos at, float pixels, uint32_t rgba, void *context);
  void (*text)(tn_pos at, const char *text, uint32_t rgba, void *context);
  bool shapes, contacts, forces, joints, limits, boxes, islands, colors, sleep, softs;
  float force_scale; // m/N
  void *context;
} tn_debug_draw;

// ---------------------------------------------------------------------------------------------
// Joints

// A joint holds frame B (on body B) relative to frame A (on body A). The frames' x, y, z axes are
// a, b, c of Mueller et al. sec. 3.4.
typedef enum tn_joint_kind {
  TN_JOINT_DISTANCE,  // length between the two points: linear[0] is its range
  TN_JOINT_BALL,      // points coincide; angular[0] limits twist about a, `swing` the cone
  TN_JOINT_HINGE,     // turns about a: angular[0]
  TN_JOINT_FIXED,     // nothing moves
  TN_JOINT_PRISMATIC, // slides along a: linear[0]
  TN_JOINT_CYLINDER,  // slides along and turns about a: linear[0], angular[0]
  TN_JOINT_UNIVERSAL, // turns about a of A (angular[0]) and b of B (angular[1])
  TN_JOINT_GENERIC,   // every axis by its range; angular[] are components of the rotation vector
  TN_JOINT_KIND_COUNT
} tn_joint_kind;

typedef enum tn_drive_mode {
  TN_DRIVE_OFF,
  TN_DRIVE_TARGET,   // servo: pulls to `target` with `compliance`
  TN_DRIVE_VELOCITY, // motor: keeps `velocity`
  TN_DRIVE_FORCE,    // applies `force`
} tn_drive_mode;

// Acts along the joint's free axis a (the line between the points of a distance joint), as a
// force or as a torque, never beyond `max_force`.
typedef struct tn_drive {
  tn_drive_mode mode;
  float target;     // m or rad
  float velocity;   // m/s or rad/s
  float force;      // N or N m
  float compliance; // m/N or rad/(N m); 0 is rigid
  float max_force;  // N or N m
} tn_drive;

typedef struct tn_joint_def {
  tn_joint_kind kind;
  tn_body_id body_a, body_b;                        // one may be null: the world
  tn_transform frame_a, frame_b;                    // in the body's frame, or in the world
  tn_range linear[3];                               // m, along a, b, c of frame A
  tn_range angular[3];                              // rad
  float swing;                                      // rad, the cone of a ball joint
  float compliance, angular_compliance;             // of what the joint holds: m/N and rad/(N m)
  float limit_compliance, angular_limit_compliance; // of the ends of ranges
  tn_drive linear_drive, angular_drive;
  float linear_damping, angular_damping;   // 1/s, of the relative velocity along free axes
  float linear_friction, angular_friction; // N and N m against motion along free axes
  float break_force, break_torque;         // mean over a step; infinite never breaks
  bool enabled;
  bool collide; // the two bodies collide with each other
  void *user_data;
  uint32_t cookie;
} tn_joint_def;

// What a joint does now. Force and torque act on body B, in world axes, at the joint's point on
// B, as the mean over the last step.
typedef struct tn_joint_state {
  tn_vec3 force, torque;
  tn_vec3 offset;      // from A's point to B's, along a, b, c of frame A
  float length;        // its length
  float elongation;    // how far outside of its linear ranges, m
  tn_vec3 angle;       // as the kind's angular[] ranges measure it
  float swing;         // between the two a axes
  float angular_error; // how far outside of its angular ranges, rad
  bool broken;
} tn_joint_state;

// Where a mechanism is to bring a frame of one of its bodies.
typedef struct tn_reach_def {
  tn_body_id body;
  tn_transform frame;  // in the body's own
  tn_transform target; // in the world
  bool turn;           // its rotation counts as well
  int iterations;      // more come closer; 100 are plenty for most
  uint32_t cookie;
} tn_reach_def;

typedef struct tn_reach_result {
  bool ok;           // false with a message; nothing was moved
  tn_transform pose; // of the frame, in the world
  float distance;    // from the target's position, m
} tn_reach_result;

typedef struct tn_joint_break_event {
  tn_joint_id joint;
  tn_vec3 force, torque;
  void *user_data;
} tn_joint_break_event;

// ---------------------------------------------------------------------------------------------
// Soft bodies: particles and what holds them together

// What tetrahedra are made of.
typedef enum tn_soft_material {
  TN_SOFT_COROTATED, // linear elasticity in the frame that turns with the element; always stable
  TN_SOFT_SHAPE,     // pulled to its rest shape as a whole; youngs_modulus gives the scale
  TN_SOFT_VOLUME,    // keeps its volume only; give the body edges as well
  // Stays elastic in large strains, but only as stiff as the substeps allow: see the manual.
  TN_SOFT_NEO_HOOKEAN,
} tn_soft_material;

// The arrays are copied. What is not needed stays null and zero: a rope has edges; cloth has edges
// and triangles; a soft solid has tetrahedra or hexahedra, and triangles if rays and points of
// bodies shall meet its surface; a balloon has edges and closed triangles, and pressure.
typedef struct tn_soft_def {
  tn_pos position; // of the vertices' frame
  tn_quat rotation;
  tn_vec3 velocity;
  int vertex_count;
  const tn_vec3 *vertices;     // one particle each
  const int *edges;            // two vertices each: kept at their length
  const int *triangles;        // three each, counter-clockwise from outside
  const int *tetrahedra;       // four each, of positive volume
  const int *hexahedra;        // eight each: the lower face, then the upper one, in the same turn
  const int *tethers;          // two each: come no farther apart than their length
  const float *tether_lengths; // m; null: as far as they are
  const int *clusters;         // vertices of each cluster: matched to their shape as a whole
  const int *cluster_sizes;    // how many each has, four or more
  const float *masses;         // kg, of each vertex, instead of `mass`
  int edge_count, triangle_count, tetrahedron_count, hexahedron_count, tether_count, cluster_count;
  float mass; // kg, shared out by volume, or by area, or by length

  float edge_compliance;   // m/N
  float stretch_limit;     // as a share of its length, no compliant edge gets longer than that
  float tear_strain;       // what is stretched by more, as a share of its length, tears
  float tear_force;        // N, of an edge, mean over a step; infinite: never
  float bending_stiffness; // N m: the flexural rigidity of a plate; 0 bends freely
  tn_soft_material solid;
  float youngs_modulus;    // Pa, of tetrahedra, hexahedra and clusters
  float poisson_ratio;     // of elastic tetrahedra, 0 to 0.49
  float yield_strain;      // beyond it matched elements flow; infinite: elastic. Keeps the volume
  float creep;             // 1/s, how fast they do; infinite: at once
  float plastic_limit;     // largest strain that stays
  float volume_compliance; // m^3/Pa, of TN_SOFT_VOLUME and of a closed surface
  float pressure;          // a closed surface keeps so many times its volume; 0: none to keep
  float stiffness_damping; // s: rows resist their rate of change as a spring does so far away
  float damping;           // 1/s, of all motion but that as a rigid body
  float linear_damping;    // 1/s, of all motion
  float gravity_scale;
  float radius; // of a particle, m: how far surfaces stay away from it
  tn_material material;
  tn_filter filter;
  void *user_data;
  bool curved_rest;    // bending pulls back to the shape of the definition, not to flat
  bool self_collision; // particles of the same body keep two radii apart
  bool keep_momentum;  // set right after each step where the world solves positions
  bool can_sleep;
  uint32_t cookie;
} tn_soft_def;

typedef struct tn_attachment_def {
  tn_soft_id soft;
  int particle;
  tn_body_id body;   // null: the world
  tn_pos point;      // in the body's frame, or in the world
  float compliance;  // m/N
  float break_force; // N, mean over a step; infinite never breaks
  void *user_data;
  uint32_t cookie;
} tn_attachment_def;

// The force acts on the particle, as the mean over the last step.
typedef struct tn_attachment_state {
  tn_vec3 force;
  float length; // between particle and point, m
  bool broken;
} tn_attachment_state;

// A particle, or a point of a triangle, and what it touches. The force acts on the soft body, as
// the mean over the last step; the normal leads to it.
typedef struct tn_soft_contact {
  int particles[3];  // those not needed are -1
  tn_shape_id shape; // null: another soft body
  tn_body_id body;
  tn_soft_id other_soft;
  int other_particle; // the first of a triangle's
  tn_vec3 normal;
  float gap;
  tn_vec3 force;
} tn_soft_contact;

// A fine surface that follows a soft body: made by tn_soft_skin_bind, from the C library's heap.
typedef struct tn_soft_skin {
  int vertex_count, triangle_count;
  int *particles; // four of each vertex, or three and -1
  float *weights; // of these; beside a -1 the height above the triangle, m
  int *triangles;
} tn_soft_skin;

typedef enum tn_soft_event_kind {
  TN_SOFT_EVENT_TOUCH,   // it begins to touch a shape, or another soft body
  TN_SOFT_EVENT_PART,    // it no longer does, or one of them is gone
  TN_SOFT_EVENT_RELEASE, // an attachment broke
  TN_SOFT_EVENT_TEAR,    // it tore at a particle
} tn_soft_event_kind;

// What does not belong to the kind is null, zero or -1.
typedef struct tn_soft_event {
  tn_soft_event_kind kind;
  tn_soft_id soft, other_soft;
  tn_shape_id shape;
  tn_body_id body; // of the shape, or of the attachment; null: the world
  tn_attachment_id attachment;
  int particles[2]; // the first that touched, or the attachment's; a torn one and its first copy
  tn_pos point;     // where that is
  tn_vec3 force;    // on it, as the mean over the step
} tn_soft_event;

// ---------------------------------------------------------------------------------------------
// Read-outs of shapes and mass

/// Principal moments and axes of an inertia.
typedef struct tn_principal_axes {
  double moments[3];  ///< kg m^2, ascending
  double rotation[4]; ///< unit quaternion x y z w, from the principal axes to the frame of the mass
} tn_principal_axes;

/// A face of a convex hull: the plane dot(normal, x) = offset, and its corners.
typedef struct tn_hull_face {
  tn_vec3 normal; ///< unit, outward
  float offset;   ///< m
  int first;      ///< of its corners in the list of tn_hull_indices()
  int count;      ///< of its corners, 3 or more
} tn_hull_face;

#endif
