// What the readers of all formats fill in, and what worlds are built from. Lengths in m, angles in
// rad, masses in kg; frames are those of MJCF: z up, a body's frame relative to its parent's.
// Names are empty where a file gives none.
#ifndef TENON_IMPORT_MODEL_H
#define TENON_IMPORT_MODEL_H

#include "memory.h"
#include "space.h"

#include <tenon/import.h>

#include <stdint.h>

typedef struct place {
  const char *file;
  int line;
} place;

// ---------------------------------------------------------------------------------------------
// Bodies

typedef struct model_mass {
  double mass;
  dvec center;  // in the body's frame
  dsym inertia; // about the centre, in the body's axes
} model_mass;

typedef struct model_body {
  const char *name;
  place at;
  int parent; // -1: the world, which is body 0
  dpose pose; // in the parent's frame, at the reference position of the joints
  bool has_inertial;
  model_mass mass;
  double gravcomp;
  bool mocap;
  int first_joint, joint_count;
  int first_geom, geom_count;
} model_body;

typedef enum model_joint_type {
  MODEL_HINGE,
  MODEL_SLIDE,
  MODEL_BALL,
  MODEL_FREE,
  MODEL_PLANAR, // of URDF: two slides across the axis and a turn about it
} model_joint_type;

typedef struct model_joint {
  const char *name;
  place at;
  model_joint_type type;
  int body;
  dvec pos, axis; // in the body's frame; the axis is a unit vector
  bool limited;
  double range[2];
  double ref, springref;
  double stiffness, damping, armature, frictionloss;
  double spring_time, spring_ratio; // spring and damper by time constant, s, and damping ratio; 0
  bool force_limited;               // what all actuators together may apply
  double force_range[2];
  double max_speed; // of URDF; 0: none
  double solref[2], solimp[5];
  double margin;
  bool actuator_gravcomp;
  int qpos, dof; // first index in the vectors of the model
} model_joint;

// A joint between two bodies that are not parent and child, as the tutorial's scenes have them.
typedef struct model_link {
  const char *name;
  place at;
  tn_joint_kind kind;
  int a, b;    // bodies
  dpose frame; // in the frame of the model at the reference position; x is the joint's axis
  double linear[2], angular[2], swing; // ranges; infinite: open
  bool has_target, has_velocity;       // of the free axis
  double target, velocity, compliance, damping;
} model_link;

// ---------------------------------------------------------------------------------------------
// Geoms and assets

typedef enum model_geom_type {
  MODEL_PLANE,
  MODEL_HFIELD,
  MODEL_SPHERE,
  MODEL_CAPSULE,
  MODEL_ELLIPSOID,
  MODEL_CYLINDER,
  MODEL_BOX,
  MODEL_MESH,
} model_geom_type;

typedef struct model_contact {
  double friction[3]; // sliding; torsional and rolling in m
  double solref[2], solimp[5];
  double margin, gap;
  double compliance; // m/N, of URDF; 0: rigid
  int condim;
} model_contact;

typedef struct model_geom {
  const char *name;
  place at;
  model_geom_type type;
  int body;
  dpose pose; // in the body's frame; axial solids are along z
  double size[3];
  int mesh, hfield; // -1: none
  bool has_mass, shell;
  double mass, density;
  int contype, conaffinity, priority, group;
  uint64_t pair_category, pair_mask; // bits of contact pairs
  model_contact contact;
  double fit_scale; // of a primitive that fits a mesh
  model_mass solid; // in the body's frame
  bool left_out;    // its mesh could not be read
  float rgba[4];
} model_geom;

typedef struct model_site {
  const char *name;
  place at;
  int body;
  dpose pose;
} model_site;

typedef enum model_mesh_inertia {
  MODEL_INERTIA_LEGACY, // sum of the absolute volumes of tetrahedra from a centre
  MODEL_INERTIA_EXACT,
  MODEL_INERTIA_CONVEX,
  MODEL_INERTIA_SHELL,
} model_mesh_inertia;

typedef struct model_mesh {
  const char *name;
  place at;
  const char *path; // empty: the vertices are in the file itself
  dvec scale, refpos;
  drot refquat;
  model_mesh_inertia inertia;
  double *vertices; // three each, in the frame of the geom
  int *triangles;   // three each; none: the hull of the vertices
  int vertex_count, triangle_count;
  bool used, missing, checked;
} model_mesh;

typedef struct model_hfield {
  const char *name;
  place at;
  int rows, columns;
  double size[4];  // half x, half y, height, thickness of the base
  double *heights; // 0 to 1, rows along y
} model_hfield;

// ---------------------------------------------------------------------------------------------
// Actuators, tendons, equalities

typedef enum model_transmission {
  MODEL_TO_JOINT,
  MODEL_TO_JOINT_IN_PARENT,
  MODEL_TO_TENDON,
  MODEL_TO_SITE,
  MODEL_TO_BODY,
  MODEL_TO_SLIDER_CRANK,
} model_transmission;

typedef enum model_dynamics {
  MODEL_DYN_NONE,
  MODEL_DYN_INTEGRATOR,
  MODEL_DYN_FILTER,
  MODEL_DYN_MUSCLE,
} model_dynamics;

// A muscle, after the manual of MuJoCo (Modeling, Muscles). L counts in optimal lengths.
typedef struct model_muscle {
  double range[2];        // L at the ends of the length range
  double force;           // peak force at rest, N; negative: scale / acceleration by a unit force
  double scale;           // N / (acceleration by a unit force)
  double least, most;     // L between which it contracts
  double speed;           // fastest contraction, L/s
  double passive;         // force at the middle of 1 and `most` without activation, in peak forces
  double lengthening;     // force while it is lengthened fast, in peak forces
  double time[2];         // of activation and deactivation, s
  double smoothing;       // width of the transition between both times, in units of the control
  double length_range[2]; // of the actuator; equal: found from the ranges of the joints
} model_muscle;

// force = gain u + bias, with u the control or, with dynamics, the activation;
// gain and bias are a + b length + c velocity, or the curves of a muscle.
typedef struct model_actuator {
  const char *name;
  place at;
  model_transmission transmission;
  const char *target_name;
  int target;   // index by the kind of transmission
  int refsite;  // site that a site counts from, or of a slider; -1: none
  double crank; // length of the rod from the crank's site to the slider, m
  bool is_muscle;
  model_muscle muscle;
  double gear[6];
  bool control_limited, force_limited, activation_limited;
  double control_range[2], force_range[2], activation_range[2];
  model_dynamics dynamics;
  double time_constant; // of a filter, s
  double gain[3], bias[3];
  double damping_ratio; // of a position servo: gives bias[2] from the inertia; 0: none
  double inherit_range; // control range as a multiple of the target's range; 0: no
  bool supported;
  bool has_own_states; // of a kind that is not read: how many activations it has is not known
} model_actuator;

typedef enum model_wrap_type {
  MODEL_WRAP_JOINT,
  MODEL_WRAP_SITE,
  MODEL_WRAP_GEOM,
  MODEL_WRAP_PULLEY
} model_wrap_type;

typedef struct model_wrap {
  model_wrap_type type;
  const char *name;
  place at;
  int target, side_site; // -1: none
  double value;          // coefficient of a joint, divisor of a pulley
} model_wrap;

typedef struct model_tendon {
  const char *name;
  place at;
  bool spatial, limited;
  double range[2];
  double stiffness, damping, frictionloss, armature;
  double spring_length[2]; // negative: that of the reference position
  int first_wrap, wrap_count;
} model_tendon;

typedef enum model_equality_type {
  MODEL_CONNECT,
  MODEL_WELD,
  MODEL_EQUAL_JOINTS,
  MODEL_EQUAL_TENDONS,
} model_equality_type;

typedef struct model_equality {
  const char *name;
  place at;
  model_equality_type type;
  const char *name_a, *name_b;
  bool sites; // the names are those of sites
  int a, b;   // bodies, joints or tendons; -1: none, or the world's body for bodies
  bool active;
  dpose anchor_a, anchor_b; // in the frames of the bodies
  bool has_pose;            // of a weld: anchor_b is given, not that of the reference position
  dvec anchor;              // as given
  dpose relative;           // of a weld, as given
  double coefficients[5];   // a = c0 + c1 b + ...
  double solref[2], solimp[5];
} model_equality;

typedef struct model_exclude {
  place at;
  const char *name_a, *name_b;
  int a, b; // bodies
} model_exclude;

typedef struct model_pair {
  const char *name;
  place at;
  const char *name_a, *name_b;
  int a, b; // geoms
  model_contact contact;
  bool has_friction;
} model_pair;

typedef struct model_sensor {
  const char *name;
  place at;
  const char *type;        // the element's name
  const char *object_type; // body, joint, site, geom, tendon, actuator
  const char *object;
  const char *reference_type, *reference; // in whose frame; empty: the model's
  double cutoff;                          // largest absolute value; 0: none
} model_sensor;

typedef struct model_key {
  const char *name;
  place at;
  double time;
  double *qpos, *qvel, *ctrl; // null: those of the reference position, or zero
  double *act, *mpos, *mquat; // activations; poses of mocap bodies
  int qpos_count, qvel_count, ctrl_count, act_count, mpos_count, mquat_count;
} model_key;

typedef struct model_note {
  tn_import_fate fate;
  const char *text;
  place at; // of the first
  int count;
} model_note;

typedef struct model_option {
  double timestep;
  dvec gravity, magnetic;    // m/s^2; any unit
  double density, viscosity; // of the fluid around the bodies, kg/m^3 and Pa s
  dvec wind;                 // its velocity, m/s
  bool y_up;                 // the up axis of the file is y, not z
  bool parents_collide;      // with their children
} model_option;

// How masses follow from the geoms.
typedef struct model_rules {
  bool always_from_geoms, never_from_geoms; // neither: for bodies that state none
  int group_first, group_last;              // of geoms that have mass
  double bound_mass, bound_inertia;         // at least this, for bodies that move
  double total_mass;                        // all masses are scaled to it; 0 or less: not
  bool balance_inertia;                     // moments that no solid has are averaged
  bool fit_boxes;                           // primitives fit the box of a mesh, not its inertia
} model_rules;

struct tn_model {
  memory memory;
  const char *name, *path;
  tn_import_format format;
  model_option option;
  model_rules rules;
  LIST(model_body) bodies; // parents before children; the world first
  LIST(model_joint) joints;
  LIST(model_link) links;
  LIST(model_geom) geoms;
  LIST(model_site) sites;
  LIST(model_mesh) meshes;
  LIST(model_hfield) hfields;
  LIST(model_actuator) actuators;
  LIST(model_tendon) tendons;
  LIST(model_wrap) wraps;
  LIST(model_equality) equalities;
  LIST(model_exclude) excludes;
  LIST(model_pair) pairs;
  LIST(model_sensor) sensors;
  LIST(model_key) keys;
  LIST(model_note) notes;
  bool is_noted; // an instance has been built: further ones would repeat its notes
  int qpos_count, dof_count;
  int max_hulls;          // of a mesh on a body that moves
  tn_import_note *report; // the notes, by fate
  int report_count;
};

// ---------------------------------------------------------------------------------------------

// Adds to the report; equal texts are counted. `text` is copied.
void model_note_add(tn_model *model, tn_import_fate fate, place at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Makes the report of the notes.
void model_sort_notes(tn_model *model);

// Index by name, or -1.
int model_find_body(const tn_model *model, const char *name);
int model_find_joint(const tn_model *model, const char *name);
int model_find_geom(const tn_model *model, const char *name);
int model_find_site(const tn_model *model, const char *name);
int model_find_mesh(const tn_model *model, const char *name);
int model_find_tendon(const tn_model *model, const char *name);
int model_find_actuator(const tn_model *model, const char *name);

// Whether a geom collides with anything.
static inline bool model_geom_collides(const model_geom *g)
{
  return g->contype || g->conaffinity || g->pair_category;
}

// Numbers of a joint in qpos and qvel.
int model_joint_qpos_count(model_joint_type type);
int model_joint_dof_count(model_joint_type type);

// Poses of all bodies in the frame of the model at a keyframe; null: the reference position.
// `after`, unless null, gets the pose that a joint leaves its body in, before the joints that
// follow it.
void model_kinematics(const tn_model *model, const model_key *key, dpose *poses, dpose *after);
// The reference position.
void model_reference(const tn_model *model, double *qpos);

#endif
