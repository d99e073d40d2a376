/// @file
/// Definitions, settings, read-outs and events. Units are SI: metres, kilograms, seconds, newtons,
/// radians.
///
/// Every *_def comes from its tn_default_* function, which fills in usual values and a cookie; a
/// definition that was not made that way is rejected. Numbers out of their range are rejected as
/// well, and so are NaN and, unless a field says otherwise, infinity.
#ifndef TENON_TYPES_H
#define TENON_TYPES_H

#include "id.h"
#include "math.h"

/// A world: owns bodies, joints, shapes and soft bodies. See tn_world_create().
typedef struct tn_world tn_world;

/// How constraints are solved.
typedef enum tn_method {
  TN_METHOD_TENON,  ///< the default: XPBD in impulse form
  TN_METHOD_XPBD,   ///< Mueller et al. 2020, Algorithm 2: positions, Gauss-Seidel
  TN_METHOD_JACOBI, ///< the same with averaged corrections
} tn_method;

/// Named numbers of substeps, for steps of 1/60 s, bodies of about a metre and the gravity of the
/// Earth; tn_substeps_for() scales them to others.
typedef enum tn_quality {
  TN_QUALITY_FAST = 4,      ///< for effects
  TN_QUALITY_DEFAULT = 8,   ///< for games
  TN_QUALITY_ACCURATE = 20, ///< for measurements
} tn_quality;

/// Returns the time, in any unit from any start.
typedef double tn_clock_fn(void);

/// How much a world may hold. What is beyond has to wait or is refused, with a message, and the
/// world goes on; what a restore brings in counts, but is not refused for it.
typedef struct tn_limits {
  int pairs;       ///< of shapes that are close; further ones wait: their shapes pass through; 1e7
  int shape_pairs; ///< of a shape of a dynamic body with those of other dynamic bodies; 1e5
  int particles;   ///< of all soft bodies, at most 1e7; tn_soft_create() fails; 1e7
  size_t bytes;    ///< memory; what needs more fails as if there were none; 0: no limit
} tn_limits;

/// How a world is made: from tn_default_world_def().
typedef struct tn_world_def {
  tn_vec3 gravity;        ///< m/s^2; (0, -9.81, 0)
  tn_method method;       ///< how constraints are solved; TN_METHOD_TENON
  bool sleeping;          ///< bodies at rest may fall asleep; true
  float sleep_speed;      ///< m/s, see tn_world_set_sleep_speed(); 0: by size and gravity
  float sleep_time;       ///< s, see tn_world_set_sleep_time(); 0: by size and gravity
  float play;             ///< of linkages, see tn_world_set_play(), 0 to 0.1; 1e-4
  int substeps;           ///< the quality knob: substeps in each step, 1 to 10,000; 8
  int iterations;         ///< passes over the constraints in each substep, 1 to 10,000; 1 is best
  int threads;            ///< threads of the built-in pool, the caller's included, 1 to 64; 1
  int lanes;              ///< constraints at a time: 1, 4, 8, 16, or 0 for the most of this machine
  tn_enqueue_fn *enqueue; ///< the host's scheduler instead of the built-in pool; null: none
  tn_finish_fn *finish;   ///< of the host's scheduler; set both or none
  void *task_context;     ///< passed to both as `host_context`; the host's
  tn_allocator allocator; ///< memory of the world; the C library's by default
  tn_log_fn *log;         ///< receives messages; null prints to stderr
  void *log_context;      ///< passed to `log`; the host's
  bool log_repeats;       ///< log repeated messages as well, instead of counting them; false
  tn_clock_fn *clock;     ///< for tn_world_profile(); null: no profile
  void *user_data;        ///< the host's: see tn_world_user_data()
  tn_limits limits;       ///< how much it may hold
  uint32_t cookie;        ///< set by tn_default_world_def()
} tn_world_def;

/// How long the parts of the last step took, in the unit of the clock.
typedef struct tn_profile {
  double pairs;     ///< broad phase: which shapes are close
  double manifolds; ///< narrow phase: where they touch
  double prepare;   ///< data for the substeps
  double solve;     ///< all substeps
  double finish;    ///< read-out, events, sleep
} tn_profile;

/// The range of positions, from the origin along each axis, m. Calls refuse what is beyond; what
/// leaves it in a step is stopped there.
#define TN_MAX_DISTANCE 1e9
/// The largest component of a velocity, an angular velocity or an acceleration, SI. Calls refuse
/// what is or leads to more; what becomes faster in a step is stopped.
#define TN_MAX_RATE 1e12f

/// What happened in a step, as bits; zero is a clean step.
typedef enum tn_step_status {
  TN_STEP_OK = 0,            ///< nothing to report
  TN_STEP_REJECTED = 1,      ///< bad argument; nothing was done
  TN_STEP_OUT_OF_MEMORY = 2, ///< nothing was done
  TN_STEP_NON_FINITE = 4, ///< a body or soft body overflowed or left the range: put back, stopped
  TN_STEP_SERIAL = 8,     ///< more constraints on one body than colours: the rest ran serially
  TN_STEP_ITERATIVE = 16, ///< a net of joints too dense to be solved directly was iterated over
  TN_STEP_CROWDED = 32,   ///< a body lay deep inside more than 32 others, or a limit of pairs was
                          ///< met: some contacts wait
} tn_step_status;

/// How much of everything a world has: see tn_world_counters().
typedef struct tn_counters {
  int bodies;     ///< rigid bodies
  int joints;     ///< joints
  int colors;     ///< colours of the joints that Gauss-Seidel solves
  int blocks;     ///< blocks of these joints
  int shapes;     ///< shapes
  int geometries; ///< hulls, meshes, height fields and wires
  int pairs;      ///< pairs of shapes that are close
  int contacts;   ///< manifolds that touch or nearly
  int points;     ///< points of all manifolds
  int awake;      ///< dynamic bodies that are awake
  int swept;      ///< bodies that continuous collision stopped at the end of the last step
  int softs;      ///< soft bodies
  int particles;  ///< particles of all soft bodies
  int soft_rows;  ///< constraints between particles
  int touches;    ///< contacts of particles, with shapes and with each other
  size_t bytes;   ///< memory that the world holds
} tn_counters;

// ---------------------------------------------------------------------------------------------
// Bodies

/// How a body moves.
typedef enum tn_body_type {
  TN_BODY_STATIC,    ///< never moves
  TN_BODY_KINEMATIC, ///< moves as told, pushes but is not pushed
  TN_BODY_DYNAMIC,   ///< moves by forces
} tn_body_type;

/// Mass properties: see the tn_mass_* functions.
typedef struct tn_mass {
  float mass;      ///< kg, positive
  tn_vec3 center;  ///< centre of mass in the body's frame, m
  tn_sym3 inertia; ///< about that centre, in the body's axes, kg m^2; one that a solid can have
} tn_mass;

/// How a body is made: from tn_default_body_def().
typedef struct tn_body_def {
  tn_body_type type;        ///< TN_BODY_DYNAMIC
  tn_pos position;          ///< of the body's origin, m; within TN_MAX_DISTANCE
  tn_quat rotation;         ///< of a length from 0.9 to 1.1; it is normalized
  tn_vec3 velocity;         ///< of the centre of mass, m/s; a static body ignores it
  tn_vec3 angular_velocity; ///< rad/s, world axes; a static body ignores it
  tn_mass mass;             ///< all zero, the default: that of the shapes, see tn_body_mass()
  float gravity_scale;      ///< multiplies the gravity of the world, -1e6 to 1e6; 1
  float linear_damping;     ///< 1/s, 0 to 1e6: the velocity decays as exp(-damping t); 0
  float angular_damping;    ///< 1/s, 0 to 1e6, of the angular velocity; 0
  float max_speed;          ///< m/s, 0 or more; 1,000
  float max_angular_speed;  ///< rad/s, 0 or more; 1,000
  bool can_sleep;           ///< may fall asleep at rest; true
  bool bullet;              ///< continuous collision against moving bodies as well; false
  void *user_data;          ///< the host's
  const char *name;         ///< copied, cut to 31 bytes; may be null
  uint32_t cookie;          ///< set by tn_default_body_def()
} tn_body_def;

/// Energy, J.
typedef struct tn_energy {
  double kinetic;   ///< of linear and angular motion
  double potential; ///< in the field of gravity, zero at the origin
  double elastic;   ///< of springs, compliant joints and soft bodies
  double total;     ///< the sum
} tn_energy;

/// Mass and momentum of a set of bodies.
typedef struct tn_momentum {
  double mass;       ///< kg
  double linear[3];  ///< kg m/s
  double angular[3]; ///< kg m^2/s, about the point that was asked for
} tn_momentum;

// ---------------------------------------------------------------------------------------------
// Shapes

/// What a shape is, and which fields of tn_shape_def give its size.
typedef enum tn_shape_kind {
  TN_SHAPE_SPHERE,       ///< radius
  TN_SHAPE_CAPSULE,      ///< along y: radius, half_length of the straight part
  TN_SHAPE_BOX,          ///< half_extents
  TN_SHAPE_CYLINDER,     ///< along y: radius, half_length
  TN_SHAPE_CONE,         ///< along y: radius of the base at -half_length, tip at +half_length
  TN_SHAPE_HULL,         ///< geometry: tn_hull_create()
  TN_SHAPE_PLANE,        ///< the half space y < 0 is solid; not on dynamic bodies
  TN_SHAPE_MESH,         ///< geometry: tn_mesh_create(); not on dynamic bodies
  TN_SHAPE_HEIGHT_FIELD, ///< geometry: tn_height_field_create(); not on dynamic bodies
  TN_SHAPE_WIRE,         ///< geometry: tn_wire_create(); a tube of `radius`
  TN_SHAPE_KIND_COUNT    ///< number of kinds
} tn_shape_kind;

/// How the values of two materials become that of a contact. Where two materials differ in this,
/// the later of the list counts.
typedef enum tn_combine {
  TN_COMBINE_AVERAGE,  ///< the mean
  TN_COMBINE_MINIMUM,  ///< the smaller
  TN_COMBINE_MULTIPLY, ///< the product
  TN_COMBINE_MAXIMUM,  ///< the larger
} tn_combine;

/// The surface of a shape or soft body.
typedef struct tn_material {
  float static_friction;          ///< coefficient up to which a contact sticks, 0 to 1e6; 0.6
  float dynamic_friction;         ///< coefficient while it slides, not above the static one; 0.6
  float restitution;              ///< speed after an impact over that before it, 0 to 1; 0
  float rolling_friction;         ///< m, 0 to 1e6: torque against rolling over the normal force; 0
  float spinning_friction;        ///< m, 0 to 1e6: torque about the normal over the normal force; 0
  float compliance;               ///< m/N, 0 to 1e6; 0 is rigid
  tn_vec3 surface_velocity;       ///< m/s in the body's frame, for a conveyor; 0
  tn_combine combine_friction;    ///< for all kinds of friction; TN_COMBINE_AVERAGE
  tn_combine combine_restitution; ///< TN_COMBINE_AVERAGE
  /// Of two materials that differ in this the larger one's friction and restitution count alone; 0.
  int32_t priority;
} tn_material;

/// Which shapes collide: two shapes do if the mask of each has a category bit of the other, unless
/// they share a group that is not zero. Then they collide if the group is positive, and do not if
/// it is negative.
typedef struct tn_filter {
  uint64_t category; ///< bits; 1
  uint64_t mask;     ///< categories that it collides with; all
  int32_t group;     ///< 0: none
} tn_filter;

/// How a shape is made: from tn_default_shape_def(). Sizes are from 1e-6 to 1e6 m.
typedef struct tn_shape_def {
  tn_shape_kind kind;      ///< what it is; decides which sizes count
  tn_vec3 position;        ///< in the body's frame, m
  tn_quat rotation;        ///< in the body's frame; of a length from 0.9 to 1.1
  float radius;            ///< m; 0.5
  float half_length;       ///< m, along y; 0.5
  tn_vec3 half_extents;    ///< m, of a box; 0.5 each
  tn_geometry_id geometry; ///< of a hull, mesh, height field or wire
  tn_material material;    ///< from tn_default_material()
  tn_filter filter;        ///< collides with everything by default
  float density;           ///< kg/m^3, positive, for a body whose mass is that of its shapes; 1,000
  bool sensor;             ///< reports overlaps, pushes nothing, has no mass; false
  bool hit_events;         ///< reports TN_EVENT_HIT; false
  void *user_data;         ///< the host's
  uint32_t cookie;         ///< set by tn_default_shape_def()
} tn_shape_def;

/// A point of a wire's axis.
typedef struct tn_wire_point {
  tn_vec3 position; ///< m, in the shape's frame
  tn_vec3 tangent;  ///< m: derivative by a parameter that grows by one from point to point
} tn_wire_point;

/// What a geometry was made of, as it was given; what its kind does not have is null and zero. The
/// arrays belong to the world and are valid as long as the geometry lives.
typedef struct tn_geometry_source {
  tn_shape_kind kind;               ///< hull, mesh, height field or wire
  const tn_vec3 *points;            ///< of a hull or mesh, m
  int point_count;                  ///< number of points
  int max_vertices;                 ///< of a hull
  const int *triangles;             ///< of a mesh: points, three each
  int triangle_count;               ///< number of triangles
  const float *heights;             ///< of a height field, m
  int columns;                      ///< of a height field
  int rows;                         ///< of a height field
  float spacing_x;                  ///< between columns, m
  float spacing_z;                  ///< between rows, m
  const tn_wire_point *wire_points; ///< of a wire
  int wire_point_count;             ///< number of them
  bool closed;                      ///< of a wire: the last point is followed by the first
} tn_geometry_source;

// ---------------------------------------------------------------------------------------------
// Contacts. The normal points from shape A to shape B.

/// A point of a contact.
typedef struct tn_contact_point {
  tn_pos position;    ///< midway between the two surfaces, m
  float gap;          ///< m; negative: penetration
  float normal_force; ///< N, mean over the last step
} tn_contact_point;

/// What a contact does now. Forces act on B, as the mean over the last step.
typedef struct tn_contact {
  tn_shape_id shape_a;        ///< first shape
  tn_shape_id shape_b;        ///< second shape
  tn_body_id body_a;          ///< body of the first shape; null: the world
  tn_body_id body_b;          ///< body of the second shape; null: the world
  tn_vec3 normal;             ///< unit, from A to B
  int count;                  ///< of points, 1 to 4
  tn_contact_point points[4]; ///< the first `count` are in use
  tn_vec3 friction_force;     ///< N, on B
  float friction_torque;      ///< N m, on B, about the normal
} tn_contact;

/// What happened between two shapes.
typedef enum tn_event_kind {
  TN_EVENT_BEGIN,        ///< two shapes touch
  TN_EVENT_END,          ///< they part, or one of them is gone
  TN_EVENT_HIT,          ///< they begin to touch, faster than bodies that come to rest
  TN_EVENT_SENSOR_BEGIN, ///< shape B enters sensor A
  TN_EVENT_SENSOR_END,   ///< shape B leaves sensor A, or one of them is gone
} tn_event_kind;

/// Shapes that touched or parted in the last step.
typedef struct tn_contact_event {
  tn_event_kind kind;  ///< what happened
  tn_shape_id shape_a; ///< first shape; the sensor
  tn_shape_id shape_b; ///< second shape
  tn_body_id body_a;   ///< body of the first shape; null: the world
  tn_body_id body_b;   ///< body of the second shape; null: the world
  tn_pos point;        ///< where they begin to touch, m
  tn_vec3 normal;      ///< unit, from A to B
  float speed;         ///< of approach, m/s
  /// Of all normal forces between the two shapes, over the step in which they begin to touch, N s.
  /// An impact at the very end of that step may give a part of its impulse in the next one.
  float impulse;
} tn_contact_event;

/// A body that fell asleep or woke in the last step.
typedef struct tn_sleep_event {
  tn_body_id body; ///< which one
  bool asleep;     ///< it fell asleep; false: it woke
} tn_sleep_event;

/// Decides about pairs besides the filters of shapes: see tn_world_set_pair_filter().
///
/// Called during tn_world_step(), on the thread that called it. It must not call back into the
/// world.
///
/// @return false keeps the two shapes from colliding
typedef bool tn_pair_filter_fn(tn_shape_id a, tn_shape_id b, void *context);

// ---------------------------------------------------------------------------------------------
// Queries

/// What a query found.
typedef struct tn_hit {
  tn_shape_id shape; ///< null: a soft body, or nothing
  tn_body_id body;   ///< of the shape; null: the world
  tn_soft_id soft;   ///< null: a shape, or nothing
  int triangle;      ///< of the soft body
  tn_pos point;      ///< on the shape, m
  tn_vec3 normal;    ///< of its surface there, unit
  float fraction;    ///< of the way until the hit, 0 to 1
  float distance;    ///< of tn_world_closest_point(), m; negative inside
  bool hit;          ///< false: there is nothing, and the rest is zero
} tn_hit;

/// What a query finds: from tn_default_query_filter().
typedef struct tn_query_filter {
  uint64_t category; ///< bits that the mask of a shape must have; all
  uint64_t mask;     ///< categories of shapes to find; all
  bool sensors;      ///< find sensors as well; false
} tn_query_filter;

/// Called for every hit, in no order of distance.
///
/// @param hit      valid during the call
/// @param context  as given to the query
/// @return how far the query goes on, as a fraction of the way: 0 ends it, the hit's fraction cuts
///         it there, 1 goes on as if nothing was hit, below 0 skips the shape
typedef float tn_hit_fn(const tn_hit *hit, void *context);

// ---------------------------------------------------------------------------------------------
// Debug draw

/// What tn_world_draw() draws, and how: from tn_default_debug_draw(). Callbacks that are null are
/// not called.
typedef struct tn_debug_draw {
  /// Draws a line in a colour 0xRRGGBBAA.
  void (*line)(tn_pos from, tn_pos to, uint32_t rgba, void *context);
  /// Draws a point of a size in pixels.
  void (*point)(tn_pos at, float pixels, uint32_t rgba, void *context);
  /// Draws text, valid during the call.
  void (*text)(tn_pos at, const char *text, uint32_t rgba, void *context);
  bool shapes;       ///< outlines of shapes
  bool contacts;     ///< contact points and normals
  bool forces;       ///< forces of contacts and joints
  bool joints;       ///< frames of joints
  bool limits;       ///< ranges of joints
  bool boxes;        ///< boxes of the broad phase
  bool islands;      ///< lines between the bodies of an island
  bool colors;       ///< constraints in the colours of the solver's graph
  bool sleep;        ///< sleeping bodies in another colour
  bool softs;        ///< soft bodies
  float force_scale; ///< length of a drawn force, m/N
  void *context;     ///< passed to the callbacks; the host's
} tn_debug_draw;

// ---------------------------------------------------------------------------------------------
// Joints

/// What a joint leaves free. It holds frame B (on body B) relative to frame A (on body A). The x,
/// y, z axes of the frames are a, b, c of Mueller et al. sec. 3.4.
typedef enum tn_joint_kind {
  TN_JOINT_DISTANCE,  ///< length between the two points: linear[0] is its range
  TN_JOINT_BALL,      ///< points coincide; angular[0] limits twist about a, `swing` the cone
  TN_JOINT_HINGE,     ///< turns about a: angular[0]
  TN_JOINT_FIXED,     ///< nothing moves
  TN_JOINT_PRISMATIC, ///< slides along a: linear[0]
  TN_JOINT_CYLINDER,  ///< slides along and turns about a: linear[0], angular[0]
  TN_JOINT_UNIVERSAL, ///< turns about a of A (angular[0]) and b of B (angular[1])
  TN_JOINT_GENERIC,   ///< every axis by its range; angular[] are parts of the rotation vector
  TN_JOINT_KIND_COUNT ///< number of kinds
} tn_joint_kind;

/// The axes of a joint: along and about a, b, c of its frames. Which of them a kind leaves free:
///
/// | kind | free axes |
/// |---|---|
/// | distance | TN_LINEAR_A: the line between the points |
/// | ball | TN_ANGULAR_A stands for the whole rotation, see tn_axis |
/// | hinge | TN_ANGULAR_A |
/// | prismatic | TN_LINEAR_A |
/// | cylinder | TN_LINEAR_A, TN_ANGULAR_A |
/// | universal | TN_ANGULAR_A (about a of A), TN_ANGULAR_B (about b of B) |
/// | generic | all whose range is not a single value; angles are parts of the rotation vector |
typedef enum tn_joint_axis {
  TN_LINEAR_A,        ///< along a
  TN_LINEAR_B,        ///< along b
  TN_LINEAR_C,        ///< along c
  TN_ANGULAR_A,       ///< about a
  TN_ANGULAR_B,       ///< about b
  TN_ANGULAR_C,       ///< about c
  TN_JOINT_AXIS_COUNT ///< number of axes
} tn_joint_axis;

/// A servo, motor or force along an axis with the position q and the rate q':
///
///     force = clamp(stiffness (target - q) + damping (velocity - q') + force, limits)
///
/// All zero is no drive. See tn_servo(), tn_servo_tuned(), tn_motor() and tn_stiffness(). Units are
/// those of the axis: m and N, or rad and N m.
typedef struct tn_drive {
  float target;    ///< m or rad; angles of hinge, cylinder and universal count turns; 0
  float velocity;  ///< m/s or rad/s: the rate that `damping` pulls to; 0
  float force;     ///< N or N m, feed-forward; 0
  float stiffness; ///< N/m or N m/rad, 0 or more; infinite: a rigid servo; 0
  float damping;   ///< N s/m or N m s/rad, 0 or more; infinite: a rigid motor; 0
  tn_range limits; ///< N or N m, of the sum; contains 0; open
  float max_speed; ///< m/s or rad/s: the target is approached no faster; infinite
} tn_drive;

/// What acts along one free axis of a joint. Of a ball joint only TN_ANGULAR_A counts: stiffness,
/// damping, friction and limits are those of the whole rotation, and the targets and velocities of
/// the three angular axes are the parts of a rotation vector and of an angular velocity along a, b,
/// c of frame A.
typedef struct tn_axis {
  tn_drive drive;  ///< off
  float stiffness; ///< N/m or N m/rad, 0 to 1e12: a passive spring beside the drive; 0
  float rest;      ///< m or rad, where that spring is relaxed; 0
  float damping;   ///< N s/m or N m s/rad, 0 to 1e12: force against the rate; 0
  float friction;  ///< N or N m, 0 or more: dry friction; 0
  float armature;  ///< kg or kg m^2, 0 to 1e9: inertia of the motor's rotor times the square of its
                   ///< gear ratio; not of a ball joint; 0
  float inertia;   ///< kg or kg m^2, 0 or more: at least so much moves with the axis, where the two
                   ///< bodies are light links of a mechanism; 0: what they have by themselves
  float max_effort; ///< N or N m, 0 or more: limit of drive, spring and damping together; infinite
} tn_axis;

/// How a joint is made: from tn_default_joint_def(), with the frames of tn_joint_def_at() or
/// tn_joint_def_between(). Ranges and axes that the kind does not name are not used.
typedef struct tn_joint_def {
  tn_joint_kind kind;   ///< what it leaves free
  tn_body_id body_a;    ///< null: the world
  tn_body_id body_b;    ///< null: the world; not both
  tn_transform frame_a; ///< in the frame of body A, or in the world
  tn_transform frame_b; ///< in the frame of body B, or in the world
  tn_range linear[3];   ///< m, along a, b, c of frame A; open, or 0 where that is locked
  tn_range angular[3];  ///< rad; of a hinge, cylinder or universal up to 1e4, else within a turn
  float swing;          ///< rad, the cone of a ball joint, 0 or more; infinite: open
  float compliance;     ///< m/N, 0 to 1e12, of the positions that it holds; 0 is rigid
  float angular_compliance;          ///< rad/(N m), 0 to 1e12, of the angles that it holds
  float limit_compliance;            ///< m/N, 0 to 1e12, of the ends of linear ranges
  float angular_limit_compliance;    ///< rad/(N m), 0 to 1e12, of the ends of angular ranges
  tn_axis axis[TN_JOINT_AXIS_COUNT]; ///< drive, spring, damping, friction, armature of each axis
  float break_force;                 ///< N, mean over a step; infinite, the default: never breaks
  float break_torque;                ///< N m, mean over a step; infinite, the default: never breaks
  bool enabled;                      ///< false: does nothing; true
  bool collide;                      ///< the two bodies collide with each other; false
  void *user_data;                   ///< the host's
  uint32_t cookie;                   ///< set by tn_default_joint_def()
} tn_joint_def;

/// What a joint does now. Force and torque act on body B, in world axes, at the joint's point on
/// B, as the mean over the last step.
typedef struct tn_joint_state {
  tn_vec3 force;       ///< N
  tn_vec3 torque;      ///< N m
  tn_vec3 offset;      ///< from A's point to B's, along a, b, c of frame A, m
  float length;        ///< of the offset, m
  float elongation;    ///< how far outside of its linear ranges, m
  tn_vec3 angle;       ///< rad, as the angular[] ranges of the kind measure it
  float swing;         ///< rad, between the two a axes
  float angular_error; ///< how far outside of its angular ranges, rad
  /// m or rad, of each axis; of a distance joint TN_LINEAR_A is the length
  float position[TN_JOINT_AXIS_COUNT];
  float rate[TN_JOINT_AXIS_COUNT];        ///< m/s or rad/s, of the positions
  float drive_force[TN_JOINT_AXIS_COUNT]; ///< N or N m, of the drives, mean over the last step
  bool broken;                            ///< it broke, and does nothing until it is enabled again
} tn_joint_state;

/// Where a mechanism is to bring a frame of one of its bodies: from tn_default_reach_def().
typedef struct tn_reach_def {
  tn_body_id body;     ///< a dynamic body
  tn_transform frame;  ///< in the body's frame
  tn_transform target; ///< in the world
  bool turn;           ///< the rotation of the target counts as well; false
  int iterations;      ///< more come closer; 100, the default, are plenty for most
  uint32_t cookie;     ///< set by tn_default_reach_def()
} tn_reach_def;

/// How close a mechanism came.
typedef struct tn_reach_result {
  bool ok;           ///< false with a message; nothing was moved
  tn_transform pose; ///< of the frame, in the world
  float distance;    ///< from the position of the target, m
} tn_reach_result;

/// A joint that broke in the last step.
typedef struct tn_joint_break_event {
  tn_joint_id joint; ///< which one; it is still there, disabled
  tn_vec3 force;     ///< N, that broke it
  tn_vec3 torque;    ///< N m, that broke it
  void *user_data;   ///< of the joint
} tn_joint_break_event;

// ---------------------------------------------------------------------------------------------
// Soft bodies: particles and what holds them together

/// What tetrahedra are made of.
typedef enum tn_soft_material {
  TN_SOFT_COROTATED, ///< linear elasticity in a frame that turns with the element; always stable
  TN_SOFT_SHAPE,     ///< pulled to its rest shape as a whole; youngs_modulus gives the scale
  TN_SOFT_VOLUME,    ///< keeps its volume only; give the body edges as well
  /// Stays elastic in large strains, but only as stiff as the substeps allow: see the manual.
  TN_SOFT_NEO_HOOKEAN,
} tn_soft_material;

/// How a soft body is made: from tn_default_soft_def(), with the arrays of a tn_soft_mesh_*
/// function or of the host, which are copied.
///
/// What is not needed stays null and zero: a rope has edges; cloth has edges and triangles; a soft
/// solid has tetrahedra or hexahedra, and triangles if rays and points of bodies shall meet its
/// surface; a balloon has edges and closed triangles, and pressure.
typedef struct tn_soft_def {
  tn_pos position;             ///< of the frame of the vertices, m
  tn_quat rotation;            ///< of that frame; of a length from 0.9 to 1.1
  tn_vec3 velocity;            ///< of all particles, m/s
  int vertex_count;            ///< 1 or more
  const tn_vec3 *vertices;     ///< one particle each, m
  const int *edges;            ///< two vertices each: kept at their length
  const int *triangles;        ///< three each, counter-clockwise from outside
  const int *tetrahedra;       ///< four each, of positive volume
  const int *hexahedra;        ///< eight each: the lower face, then the upper one, in the same turn
  const int *tethers;          ///< two each: come no farther apart than their length
  const float *tether_lengths; ///< m; null: as far as they are
  const int *clusters;         ///< vertices of each cluster: matched to their shape as a whole
  const int *cluster_sizes;    ///< how many each has, four or more
  const float *masses;         ///< kg, of each vertex, instead of `mass`; null: none
  int edge_count;              ///< number of edges
  int triangle_count;          ///< number of triangles
  int tetrahedron_count;       ///< number of tetrahedra
  int hexahedron_count;        ///< number of hexahedra
  int tether_count;            ///< number of tethers
  int cluster_count;           ///< number of clusters
  float mass;                  ///< kg, shared out by volume, or by area, or by length; 1

  float edge_compliance;   ///< m/N, 0 or more; 0 is rigid
  float stretch_limit;     ///< strain that no compliant edge exceeds; infinite: none
  float tear_strain;       ///< strain beyond which elements tear; infinite: never
  float tear_force;        ///< N, of an edge, mean over a step; infinite: never
  float bending_stiffness; ///< N m: the flexural rigidity of a plate; 0 bends freely
  tn_soft_material solid;  ///< of tetrahedra; TN_SOFT_COROTATED
  float youngs_modulus;    ///< Pa, of tetrahedra, hexahedra and clusters; 1e5
  float poisson_ratio;     ///< of elastic tetrahedra, 0 to 0.49; 0.3
  float yield_strain;      ///< beyond it matched elements flow; infinite: elastic
  float creep;             ///< 1/s, how fast they flow; infinite: at once
  float plastic_limit;     ///< largest strain that stays; infinite: no limit
  float volume_compliance; ///< m^3/Pa, of TN_SOFT_VOLUME and of a closed surface; 0
  float pressure;          ///< volume of a closed surface over that at rest, to 1,000; 0: none
  float stiffness_damping; ///< s, 0 to 1e6: rows resist their rate of change as a spring would
  float damping;           ///< 1/s, 0 to 1e6, of all motion but that as a rigid body
  float linear_damping;    ///< 1/s, 0 to 1e6, of all motion
  float gravity_scale;     ///< -1e6 to 1e6; 1
  float radius;            ///< of a particle, m, 0 to 1e6: how far surfaces stay away; 0.005
  tn_material material;    ///< from tn_default_material()
  tn_filter filter;        ///< collides with everything by default
  void *user_data;         ///< the host's
  bool curved_rest;        ///< bending pulls to the shape of the definition, not to flat; false
  bool self_collision;     ///< particles of the same body keep two radii apart; false
  bool keep_momentum;      ///< restored after each step where the world solves positions; true
  bool can_sleep;          ///< may fall asleep at rest; true
  uint32_t cookie;         ///< set by tn_default_soft_def()
} tn_soft_def;

/// How an attachment is made: from tn_default_attachment_def().
typedef struct tn_attachment_def {
  tn_soft_id soft;   ///< the soft body
  int particle;      ///< of the soft body
  tn_body_id body;   ///< null: the world
  tn_pos point;      ///< in the body's frame, or in the world, m
  float compliance;  ///< m/N, 0 to 1e12; 0 is rigid
  float break_force; ///< N, mean over a step; infinite, the default: never breaks
  void *user_data;   ///< the host's
  uint32_t cookie;   ///< set by tn_default_attachment_def()
} tn_attachment_def;

/// What an attachment does now.
typedef struct tn_attachment_state {
  tn_vec3 force; ///< N, on the particle, mean over the last step
  float length;  ///< between particle and point, m
  bool broken;   ///< it broke, and does nothing
} tn_attachment_state;

/// A particle, or a point of a triangle, and what it touches. The force acts on the soft body, as
/// the mean over the last step; the normal leads to it.
typedef struct tn_soft_contact {
  int particles[3];      ///< one, or those of a triangle; those not needed are -1
  tn_shape_id shape;     ///< null: another soft body
  tn_body_id body;       ///< of the shape; null: the world
  tn_soft_id other_soft; ///< null: a shape
  int other_particle;    ///< of the other soft body: the first of a triangle's
  tn_vec3 normal;        ///< unit
  float gap;             ///< m; negative: penetration
  tn_vec3 force;         ///< N
} tn_soft_contact;

/// A fine surface that follows a soft body: made by tn_soft_skin_bind(), from the heap of the C
/// library; give it back with tn_soft_skin_free().
typedef struct tn_soft_skin {
  int vertex_count;   ///< number of vertices
  int triangle_count; ///< number of triangles
  int *particles;     ///< four of each vertex, or three and -1
  float *weights;     ///< of these; beside a -1 the height above the triangle, m
  int *triangles;     ///< vertices of the skin, three each
} tn_soft_skin;

/// What happened to a soft body.
typedef enum tn_soft_event_kind {
  TN_SOFT_EVENT_TOUCH,   ///< it begins to touch a shape, or another soft body
  TN_SOFT_EVENT_PART,    ///< it no longer does, or one of them is gone
  TN_SOFT_EVENT_RELEASE, ///< an attachment broke
  TN_SOFT_EVENT_TEAR,    ///< it tore at a particle
} tn_soft_event_kind;

/// What happened to a soft body in the last step. What does not belong to the kind is null, zero or
/// -1.
typedef struct tn_soft_event {
  tn_soft_event_kind kind;     ///< what happened
  tn_soft_id soft;             ///< to which one
  tn_soft_id other_soft;       ///< that it touches or parted from
  tn_shape_id shape;           ///< that it touches or parted from
  tn_body_id body;             ///< of the shape, or of the attachment; null: the world
  tn_attachment_id attachment; ///< that broke
  int particles[2]; ///< the first that touched, or the attachment's; a torn one and its first copy
  tn_pos point;     ///< where that is, m
  tn_vec3 force;    ///< N, on it, as the mean over the step
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
