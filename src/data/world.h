// The data of a world, and the internal interface between its source files.
//
// Objects live in arrays and are named by slot (array index); NO_SLOT means none. Between steps
// poses are double; within a step the solver works in float on the change since the step began
// (solver_data.h). Arrays with a capacity only grow; those marked scratch hold nothing between
// steps.
#ifndef TENON_DATA_WORLD_H
#define TENON_DATA_WORLD_H

#include "base/dquat.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/task.h"
#include "collide/manifold.h"
#include "collide/surface.h"
#include "detect/aabb_tree.h"
#include "solver/contact/contact_block.h"
#include "solver/mechanism/mechanism.h"
#include "solver/solver_data.h"

#include <tenon/tenon.h>

// Set by the tn_default_..._def functions; a definition without it was not initialised.
#define DEF_COOKIE 0x7e4045u
#define NAME_SIZE 32 // bytes of a body's name, with the terminating zero
// Starts loading a cache line. A macro: compilers drop an inline function that does nothing else.
#if defined(__GNUC__) && !defined(__wasm__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) (void)(address)
#endif
#define PREFETCH_DISTANCE 8 // list entries ahead of the one in use
#define WORLD_SLOT 0        // body slot that stands for the static world
#define MAX_COLORS 64       // bits of a colour mask

typedef task_range color_range; // range of constraint blocks

// Bits that say when the state of a body or soft body was not finite: in the last step, in this
// one.
typedef enum lost_when { LOST_BEFORE = 1, LOST_NOW = 2 } lost_when;

#include "data/softs.h"

typedef struct body {
  uint32_t generation;
  int32_t next_free; // free list, while not alive
  bool alive;
  bool has_target;     // kinematic: `target` holds for the next step
  uint8_t lost;        // bits of lost_when
  uint8_t frozen_type; // the body's own type while recovery treats it as static
  tn_body_type type;
  tn_pos center;         // of mass, m, world
  dquat rotation;        // of the principal axes, to world
  tn_pos local_center;   // of mass, m, body frame
  dquat local_principal; // of the principal axes, to the body frame
  tn_mass mass;
  double moments[3];                     // principal, ascending, kg m^2
  float gravity_scale;                   // multiplies the world's gravity
  float linear_damping, angular_damping; // 1/s
  float max_speed, max_angular_speed;    // m/s, rad/s
  tn_vec3 force, torque;                 // applied during the next step, N and N m
  tn_transform target;                   // pose at the end of the next step, if has_target
  bool can_sleep, bullet;                // bullet: continuous collision against dynamic bodies too
  bool mass_from_shapes;                 // its mass follows its shapes
  bool supported; // carried by contacts, directly or through joints or soft bodies
  bool asleep;
  float sleep_time;        // s since it last moved faster than the sleep threshold
  int32_t sleep_ring_next; // next body or soft body of the ring that fell asleep together
  int32_t first_shape;     // slot, or NO_SLOT; list by shape.next
  int32_t first_joint;     // slot * 2 + side, or NO_SLOT
  int32_t joint_count;
  void *user_data;
  char name[NAME_SIZE];
} body;

// Geometry that shapes share, with the source it was built from.
typedef struct shared_geometry {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int kind;     // tn_shape_kind
  int users;    // shapes that use it
  void *data;   // convex, mesh, height_field or wire
  void *source; // copy of the user's data
  size_t source_size;
  // Hull: points, most vertices; mesh: vertices, triangles; field: columns, rows; wire: points.
  int32_t counts[2];
  float spacing[2]; // of a height field's samples, m
  bool closed;      // of a wire
} shared_geometry;

typedef struct world_pose {
  tn_pos p;
  dquat q;
} world_pose;

// Pose and bounds of a shape at the last contact update. All pairs of the shape read it: two cache
// lines.
typedef struct shape_cache {
  alignas(64) float axis[3]; // y axis of the shape, world
  float half_length, radius; // of a sphere or capsule, m
  float max_extent;          // bound of the distance from the body's centre of mass to any point, m
  float bounding_radius;     // about the shape's origin, m
  float speed;               // bound of the speed of any point, m/s
  // Rotation to world; offset from the body's centre of mass, m, world axes.
  float rotation[4], offset[3];
  world_pose pose;
  double travel; // bound of the path length of any point, summed over all updates, m
} shape_cache;

// What the pair list needs of a shape to skip pairs that cannot touch.
typedef struct shape_motion {
  // Bound of `travel` at the end of this step. It also holds for shapes that are not updated: they
  // are at rest.
  double travel_bound;
  // 2 * contact_update_count of the last update, plus one if the shape was active then.
  uint32_t stamp;
  bool is_fast; // its body moves farther in this step than the shape's inner radius
} shape_motion;

typedef struct shape {
  shape_cache shape_cache;
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int32_t body; // slot
  int32_t next; // in the body's list of shapes, or NO_SLOT
  tn_shape_def def;
  geometry geometry;
  int32_t shared; // slot of the shared geometry, or NO_SLOT
  // Pose relative to the body's centre of mass and principal axes.
  tn_pos local_position;
  dquat local_rotation;
  float bounding_radius, inner_radius; // outer and inscribed sphere, m
  float box_slack;                     // m that any point may still move without leaving `box`
  float box_sweep;    // extent of `box` that is due to the motion expected when it was made, m
  bool is_static;     // in static_tree, else in moving_tree
  int32_t tree_leaf;  // in its tree
  world_aabb box;     // fat box, as stored in the tree
  bool pairs_pending; // searches for pairs at the start of the next step
  bool waits;         // the last search left out pairs because of a crowd
  int32_t first_pair; // pair * 2 + side, or NO_SLOT
  int32_t pair_count;
  int32_t crowd; // number of pairs with shapes that overlap it deeply
} shape;

// Two shapes whose fat boxes overlap.
typedef struct pair {
  int32_t next_free;
  bool alive;
  bool sensor;   // only tests for overlap, has no contacts
  bool touching; // a begin event was sent, and no end event
  bool is_new;   // never collided, or a shape has changed since
  int32_t shape[2];
  int32_t body[2];
  int32_t sort_body; // the first of the two bodies that is not static: sort key of the pair list
  int32_t first_contact; // slot, or NO_SLOT
  bool round;            // sphere or capsule against the same: handled in lanes
  bool multi_manifold;   // a mesh, height field or wire takes part: up to MAX_MANIFOLDS
  bool stale_pose;       // manifold_pose is out of date
  bool initial_overlap;  // the shapes have overlapped since the pair was created
  bool deep;             // counts towards `crowd` of both shapes
  float min_gap;         // lower bound of the gap at manifold_pose, m; 0: unknown
  double travel_limit;   // the shapes cannot touch while the sum of their `travel` is below it, m
  int32_t next[2], previous[2]; // in each shape's list: pair * 2 + side, or NO_SLOT
  pose manifold_pose;           // of B in A's frame when the manifolds were found
} pair;

typedef struct joint {
  uint32_t generation;
  int32_t next_free;
  bool alive, broken;
  int32_t slot[2]; // bodies A and B
  int32_t next[2]; // in each body's list: joint * 2 + side, or NO_SLOT
  int32_t previous[2];
  tn_joint_def def;
  dquat frame_rotation[2]; // of the joint's frames, to the principal axes
  tn_pos frame_point[2];   // from the centre of mass, m, principal axes
  float target[2];         // of the linear and angular drive at the end of the last step, m and rad
  int32_t direct;          // index in mechanism_set.joints, or NO_SLOT
  int32_t block, lane;     // place in joint_graph, or block == NO_SLOT
  tn_vec3 force, torque;   // mean over the last step, N and N m
  // Linear and angular row impulses while the joint is in no block.
  float state[2][FIELDS(RowState)];
  float half_kick_impulse[2][3]; // already applied for the next step, see joint_passes.c
  float half_kick_done; // share of the impulses that was applied ahead at the end of the last step
} joint;

// Graph colouring: constraints of one colour share no dynamic body and are solved in parallel.
// Blocks are sorted by colour, within a colour by constraint type.
typedef struct coloring {
  color_range color[MAX_COLORS];
  int32_t count;
  color_range overflow; // constraints that got no colour, one to a block, solved one after another
} coloring;

// Joints that Gauss-Seidel solves.
typedef struct joint_graph {
  bool dirty; // to be rebuilt before the next step
  joint_block *blocks;
  int32_t block_count, block_capacity;
  coloring coloring;
} joint_graph;

// What the narrow phase found for one active pair.
typedef struct pair_result {
  int32_t first;      // index in found_manifolds
  int32_t room;       // manifolds that fit there
  int32_t count;      // manifolds found, or KEPT_MANIFOLDS
  bool overlap;       // sensors only
  bool touch_changed; // the pair starts or stops touching in this step
} pair_result;

#define KEPT_MANIFOLDS (-1) // the contacts of the last step are still valid

// What contact colouring needs of a contact. One word of bits, passed in a register.
typedef struct contact_summary {
  uint32_t type : 8;      // contact_type
  uint32_t idle : 1;      // no impulse in the last step
  uint32_t unsettled : 1; // younger than the settling time: its preload is unknown
} contact_summary;

typedef struct pair_summary {
  uint32_t seed;   // of the random choice of colours
  int32_t contact; // the first one, or NO_SLOT
  int32_t body[2];
  contact_summary first;
  bool has_more;         // contacts after the first
  bool sensor, touching; // copied from the pair
  bool has_restitution;  // a contact may have restitution; set only while groups are searched for
  bool near_touch;       // touching, or a gap small enough to support a body
  bool initial_overlap;  // as of the pair
} pair_summary;

// Colour, type and home of a contact, from which the blocks are laid out.
typedef struct contact_placement {
  int32_t contact;
  int32_t home_block; // body block of a body that it moves
  uint8_t color, type;
  bool idle; // no impulse in the last step
} contact_placement;

// Facts about a body that the contacts of a step determine.
typedef struct body_contact_flags {
  uint64_t colors;               // bits of the colours that its contacts use
  int32_t dynamic_contact_count; // contacts between it and another dynamic body
  uint32_t stamp;                // contact update that this belongs to
  int32_t mechanism;             // mechanism that it belongs to, counted from 1; 0: none
  bool dynamic;
  bool moves;              // dynamic or kinematic, and awake
  bool in_initial_overlap; // some contact is with a dynamic body that it was created inside of
  bool supported;          // carried by a contact
  bool may_touch;          // has a contact in this step
  bool non_finite;         // its state became non-finite in this step
  bool may_leave_box;      // a shape may have left its fat box: refit
  bool moved;              // the step changed its pose
} body_contact_flags;

// Load on a body from flat face contacts.
typedef struct body_load {
  float total_load;            // sum of the magnitudes of their normal impulses, N s per substep
  tn_vec3 net_load;            // vector sum of them, N s
  float inverse_inertia_scale; // factor of the inverse inertia, at most 1
  int32_t support_count;       // faces that carry it, for the load estimate
  bool has_other_load;         // also loaded by edges, points or round contacts
} body_load;

// A flat contact on which one body rests on another.
typedef struct support_face {
  double height; // of the upper body's centre against gravity, m
  int32_t contact, upper, lower;
} support_face;

// The contacts of a block.
typedef struct block_content {
  int32_t contact[BLOCK_WIDTH]; // slot, or NO_SLOT
  int32_t type;
} block_content;

// The contacts of a step, in blocks.
typedef struct contact_graph {
  contact_block *blocks;   // shared blocks first, then room for one solver group per arena
  block_content *contents; // by block
  int32_t block_count, block_capacity, content_capacity; // of shared and group blocks
  int32_t shared_block_count;                            // blocks that belong to no solver group
  coloring coloring;                                     // of the shared blocks
  int min_passes; // least number of contact passes in a substep
  bool unsettled; // most contacts are younger than the settling time
  bool has_faces; // some contact has four points
  restitution_contact *restitution_contacts;
  int32_t restitution_contact_count, restitution_contact_capacity;
} contact_graph;

// Bodies and contacts that go through all substeps on their own, see groups.c.
typedef struct solver_group {
  color_range blocks;   // range of body blocks in solver_group_set.active
  color_range contacts; // range in solver_group_set.sorted
  int32_t first;        // first contact block of its arena
  coloring coloring;    // of its contact blocks, counted from 0
} solver_group;

// Union-find node: body blocks that contacts connect.
typedef struct block_set {
  int32_t root;        // or a node on the path to it
  int32_t cost, group; // cost: in contacts
  bool excluded;       // belongs to no group
} block_set;

typedef struct solver_group_set {
  solver_group *list;
  int32_t count, capacity;
  block_set *block_sets;     // by body block
  int32_t *active;           // body blocks: shared ones, then group by group
  contact_placement *sorted; // in the same order
  int32_t block_set_capacity, active_capacity, sorted_capacity;
  int32_t shared_body_blocks, shared_contacts;
  // Arenas are the memory in which groups are solved, with arena_blocks contact blocks each.
  int32_t arena_count, arena_blocks;
  int32_t search_delay; // steps until groups are searched for again
  bool enabled;         // this step searches for groups
} solver_group_set;

// State that a step overwrites before it is known to be finite, see recovery.c.
#define START_SPIN 6 // leading floats of AngularState: momentum, last
typedef struct body_start {
  float v[3], w[3], spin[START_SPIN];
} body_start;

typedef struct contact_start_state {
  contact_state state;
  float gap[MAX_MANIFOLD_POINTS], hit_speed;
  bool idle, was_loaded, settled;
} contact_start_state;

struct tn_world {
  heap heap;
  log_sink log;
  log_history log_history;
  void *user_data;
  uint32_t world_id; // part of every id, so that ids of other worlds are detected

  tn_vec3 gravity;
  tn_method method;
  int substeps, iterations, lanes, threads;
  const solver_ops *ops;
  const contact_ops *contact_ops;
  task_pool *tasks;
  float last_h; // length of the last substep, s
  // Narrow phase updates so far: the stamp of shape_motion and body_contact_flags.
  uint64_t contact_update_count;
  // Counts changes that make contact_params stale, from 1 on; a contact's 0 is always stale.
  uint32_t material_version;

  pool body_pool;
  body *bodies;
  body_state *state;
  body_inertia *inertia;
  body_correction *corrections;
  body_block *body_blocks;

  pool geometry_pool;
  shared_geometry *geometries;
  pool shape_pool;
  shape *shapes;
  tree static_tree, moving_tree;
  int32_t *pending_shapes; // shapes with pairs_pending
  int32_t pending_shape_count, pending_shape_capacity;
  bool crowded; // a shape left out pairs because of a crowd; reported by the step
  // Leaves of moving_tree still to be reinserted because others have moved.
  int32_t tree_reinsert_debt;

  pool pair_pool;
  pair *pairs;
  pool contact_pool;
  contact *contacts;
  contact_graph contact_graph;
  solver_group_set groups;
  pair_summary *pair_summaries; // by index in active_pairs
  contact_placement *contact_placements;
  body_contact_flags *contact_flags; // by body
  body_load *body_loads;             // by body
  support_face *support_faces;
  int32_t body_load_capacity, support_face_capacity;
  uint64_t *pair_bits;         // scratch: one bit for each pair to be listed
  shape_motion *shape_motions; // by shape
  int32_t pair_summary_capacity, contact_placement_capacity, contact_flag_capacity,
      pair_bit_capacity, shape_motion_capacity;
  // Scratch of a step, from here to found_manifolds.
  int32_t *candidates; // shapes whose box overlaps that of the searching one
  int32_t candidate_count, candidate_capacity;
  uint8_t *pair_may_touch; // by pair slot: 0 if the pair can be skipped
  int32_t *sort_places;    // new slots of pairs and contacts while they are sorted
  int32_t pair_may_touch_capacity, sort_place_capacity;
  int32_t *active_pairs; // slots of pairs to be collided in this step
  int32_t active_pair_count, active_pair_capacity;
  pair_result *found; // by index in active_pairs
  manifold *found_manifolds;
  int32_t found_capacity, found_manifold_capacity;

  tn_clock_fn *clock;
  double stage_start; // s, when the running stage of the step began
  tn_profile profile;
  tn_pair_filter_fn *pair_filter;
  void *pair_filter_context;
  tn_contact_event *contact_events;
  int32_t contact_event_count, contact_event_capacity;
  int32_t published_contact_event_count; // those of the last step; the rest belong to the next one
  tn_sleep_event *sleep_events;
  int32_t sleep_event_count, sleep_event_capacity, published_sleep_event_count;
  struct move_record *moves; // of the last step, see world/moves.h
  int32_t move_count, move_capacity;
  bool sleeping;             // bodies may fall asleep
  bool awake_list_stale;     // `awake` must be rebuilt
  bool pending_shapes_stale; // pending_shapes must be rebuilt
  int32_t *awake;            // slots of awake dynamic and kinematic bodies, ascending
  int32_t awake_count, awake_capacity;
  int32_t *island_parent;    // scratch: union-find over bodies and soft bodies
  float *island_sleep_time;  // scratch: by root, least sleep_time
  int32_t *island_ring_tail; // scratch: by root, end of the sleep ring
  int32_t island_capacity, island_sleep_time_capacity, island_ring_tail_capacity;
  int32_t *active_blocks; // body blocks with an awake body
  int32_t active_block_count, active_block_capacity;

  pool joint_pool;
  joint *joints;
  joint_graph joint_graph;
  mechanism_set mechanisms;
  const direct_ops *direct_ops;
  const ball_ops *ball_ops;

  const soft_ops *soft_ops;
  pool soft_pool;
  soft *softs;
  soft_graph soft_graph;
  pool attachment_pool;
  attachment *attachments;
  soft_coloring soft_contact_coloring, attachment_coloring;
  soft_contact *soft_contacts; // of the last step
  int32_t soft_contact_count, soft_contact_capacity;
  // Scratch: room for the contacts of each chunk of a soft body's particles or triangles.
  soft_contact *chunk_contacts;
  int32_t *chunk_contact_counts;
  int32_t chunk_contact_capacity, chunk_contact_count_capacity;
  world_aabb *chunk_boxes; // scratch: of the same chunks
  int32_t chunk_box_capacity;
  soft_touch_pair *soft_touch_pairs;
  int32_t soft_touch_pair_count, soft_touch_pair_capacity;
  tn_soft_event *soft_events;
  int32_t soft_event_count, soft_event_capacity, published_soft_event_count;

  tn_joint_break_event *break_events;
  int32_t break_event_count, break_event_capacity;

  bool troubled; // something was not finite in this step

  // State at the start of the step, for recovery.c.
  body_start *starts;                  // by body
  contact_start_state *contact_starts; // by contact slot; only contacts of solver groups
  float *soft_starts;                  // rotations and velocity changes of shape matching clusters
  int32_t start_capacity, contact_start_capacity, soft_start_capacity;
};

// `..._find` functions return null and log the reason, with `caller`, if the id is not valid.
// `..._problem` functions and material_error() return the reason for a refusal, or null.

// world/world.c
bool is_method(tn_method method);
const char *counts_problem(int substeps, int iterations);

// world/body.c
body *body_find(const tn_world *world, tn_body_id id, const char *caller);
tn_body_id body_id_at(const tn_world *world, int32_t slot);
void body_set_name(body *b, const char *name); // cut to NAME_SIZE - 1 bytes; null: none
// Grows all arrays of bodies. False when out of memory.
bool body_reserve(tn_world *world, int32_t wanted);
void body_create_static_world(tn_world *world);
// As the mass of a dynamic body.
const char *mass_problem(const tn_mass *mass);
// Makes the slots [first, last) static bodies without mass.
void body_clear_slots(tn_world *world, int32_t first, int32_t last);
// Computes the world inverse inertia of all bodies from their AngularState.
void body_restore_inertia(tn_world *world);
int32_t body_slot(const tn_world *world, const body *b);
// Derives the solver's view (state, inertia, body_blocks) from `b`.
void body_sync_solver(tn_world *world, int32_t slot);
tn_transform body_transform_of(const body *b);
void body_begin_step(tn_world *world, int32_t slot, float dt, int substeps);
// False if the body would leave the accepted positions: it stays where the step began and stops.
bool body_end_step(tn_world *world, int32_t slot);
bool body_apply_mass(tn_world *world, int32_t slot, tn_mass mass);
// body_mass.c
tn_mass body_default_mass(void);
bool mass_is_given(const tn_mass *mass); // not all zero
// The sum of the shapes, for a dynamic body whose mass follows them; after a shape was appended.
void body_mass_refresh(tn_world *world, int32_t slot);
void body_mass_add_shape(tn_world *world, int32_t slot, int32_t shape_slot);

// world/geometry.c
// Null if not valid, with the reason in `why`.
shared_geometry *geometry_find(const tn_world *world, tn_geometry_id id, const char **why);
void geometry_release(tn_world *world, shared_geometry *g);
void geometry_release_all(tn_world *world);
// Checks the counts against source_size.
const char *geometry_problem(const shared_geometry *g);
// Builds `data` from a copy of `source`; false with the reason in `why`.
bool geometry_rebuild(tn_world *world, shared_geometry *g, const void *source, char *why,
                      size_t size);

// world/shape.c
shape *shape_find(const tn_world *world, tn_shape_id id, const char *caller);
tn_shape_id shape_id_at(const tn_world *world, int32_t slot);
static inline world_pose shape_world_pose(const tn_world *world, const shape *s)
{
  const body *b = &world->bodies[s->body];
  world_pose at = {pos_add(b->center, dquat_rotate(b->rotation, s->local_position)),
                   dquat_mul(b->rotation, s->local_rotation)};
  return at;
}
// B's frame in A's frame; the difference is taken in double before it is rounded.
static inline pose world_pose_relative(world_pose a, world_pose b)
{
  dquat q = dquat_conjugate(a.q);
  tn_pos p = dquat_rotate(q, pos_sub(b.p, a.p));
  pose r = {tn_v3((float)p.x, (float)p.y, (float)p.z),
            dquat_round(dquat_normalize(dquat_mul(q, b.q)))};
  return r;
}
// Fills `g` from the definition, or returns the reason for a refusal.
const char *geometry_of_def(const tn_world *world, const tn_shape_def *def, geometry *g);
// Checks what does not depend on the world.
const char *shape_def_problem(const tn_shape_def *def);
void shape_remove(tn_world *world, int32_t slot);
bool shapes_reserve_trees(tn_world *world, int32_t count);
void shapes_rebuild_trees(tn_world *world);
// Call after the body's pose, type or mass has changed.
bool shapes_refresh(tn_world *world, int32_t body_slot);
// AABB without a margin.
world_aabb shape_tight_aabb(const tn_world *world, const shape *s);
bool shape_has_mass(const shape *s);       // solid and no sensor
bool shape_can_be_dynamic(const shape *s); // whether its body may be dynamic
bool shapes_may_collide(const tn_world *world, const shape *a, const shape *b);
bool filters_should_collide(const tn_filter *a, const tn_filter *b);
const char *material_error(const tn_material *m);

// detect/broad_phase.c
// All pairs of the shape are collided again, and it searches for pairs at the start of the next
// step.
void shape_invalidate_pairs(tn_world *world, int32_t shape_slot);
void shape_remove_pairs(tn_world *world, int32_t shape_slot);
void pair_remove(tn_world *world, int32_t slot);
// Updates fat boxes, trees and the pair list. False when out of memory.
bool broad_phase_update(tn_world *world, float dt);
bool pair_should_collide(const tn_world *world, const shape *a, const shape *b);
// NO_SLOT when out of memory.
int32_t pair_find_or_add(tn_world *world, int32_t a, int32_t b);
// Fat boxes enclose their shapes at the end of a step as well: shape_boxes_use_slack() subtracts
// the motion of the step, before bodies take their new poses, and returns false if a shape may have
// left its box; then shape_boxes_refit() replaces such boxes, and trees_refit() updates the trees.
bool shape_boxes_use_slack(tn_world *world, int32_t body_slot);
void shape_boxes_refit(tn_world *world, int32_t body_slot);
void trees_refit(tn_world *world);

// detect/pair_sort.c
// Whether enough pairs precede one of an earlier body that sorting pays.
bool pairs_need_sort(int32_t descents, int32_t count);
// Renumbers pairs and contacts in body order. False when out of memory.
bool pairs_sort(tn_world *world);

// detect/narrow_phase_update.c
bool narrow_phase_update(tn_world *world, float dt);
// Replaces the contacts of a pair by those met on the path of a bouncing body. False when out of
// memory.
bool continuous_add_contacts(tn_world *world, int32_t a, int32_t b, const manifold *list,
                             int count);
bool continuous_update(tn_world *world, float dt); // detect/continuous.c
void contact_clear_impulses(contact *c);
void pair_remove_contacts(tn_world *world, int32_t pair_slot);
bool add_contact_event(tn_world *world, tn_contact_event event);
tn_contact_event pair_event(const tn_world *world, const pair *p, tn_event_kind kind);

// solver/contact/contact_layout.c and load_estimate.c
// contact_layout_build() colours the contacts and assigns them to blocks; contacts_pack() fills the
// blocks once the bodies are ready for the step.
bool contact_layout_build(tn_world *world);
contact_summary contact_summary_of(const contact *c);
// Initial preloads of faces in a scene whose contacts are mostly unsettled; h: substep, s.
bool load_estimate_init(tn_world *world, float h);
// Sets body_load.inverse_inertia_scale, which stiffens loaded faces.
bool inertia_scaling_update(tn_world *world, float h);
void body_loads_release(tn_world *world);
void contacts_pack(tn_world *world, solver_data *data, float dt, float impulse_scale);
void contacts_unpack(tn_world *world, float dt);
// The same for one solver group, on one thread, in the arena that `data` points to.
void group_pack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt,
                         float scale);
void group_unpack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt);
void contact_graph_release(tn_world *world);

// solver/islands.c
void body_wake(tn_world *world, int32_t body_slot);
bool awake_list_update(tn_world *world); // rebuilds `awake` and `active_blocks` if stale
bool sleep_update(tn_world *world, float dt);
void wake_all(tn_world *world);
void soft_wake(tn_world *world, int32_t slot);
bool soft_sleep(tn_world *world, int32_t slot); // with everything that it touches
// Drops unpublished events of a body that is destroyed.
void sleep_events_remove_of(tn_world *world, int32_t slot);
static inline bool moves(const body *b)
{
  return b->alive && b->type != TN_BODY_STATIC && !b->asleep;
}

// world/joint.c and solver/joint/joint_layout.c
joint *joint_find(const tn_world *world, tn_joint_id id, const char *caller);
tn_joint_id joint_id_at(const tn_world *world, int32_t slot);
void joint_remove(tn_world *world, int32_t slot);
// Checks what does not depend on the bodies.
const char *joint_def_problem(const tn_joint_def *def);
JointType joint_type(const joint *j);
// Linear rows, angular rows.
void joint_params(const joint *j, RowParams params[2]);
// Parameters and impulses of a joint to its lane; impulses back.
void joint_pack(tn_world *world, int32_t slot);
void joint_unpack(const tn_world *world, joint *j);
void joint_clear_impulses(joint *j);
void joint_begin_step(tn_world *world, joint_block *block, float dt, float impulse_scale);
void joint_end_step(tn_world *world, joint_block *block, float dt);
void direct_joint_begin_step(tn_world *world, direct_joint *d, float dt, float impulse_scale);
void direct_joint_end_step(tn_world *world, direct_joint *d, float dt);
void joint_refresh_frames(tn_world *world, int32_t slot);
double joint_elastic_energy(const tn_world *world, const joint *j);

// world/soft.c
soft *soft_find(const tn_world *world, tn_soft_id id, const char *caller);
tn_soft_id soft_id_at(const tn_world *world, int32_t slot);
void softs_release(tn_world *world);

// solver/soft/soft_layout.c
bool soft_graph_build(tn_world *world);
void soft_graph_invalidate(tn_world *world);
void soft_graph_release(tn_world *world);
void soft_pack(tn_world *world);
void soft_forget_rows(tn_world *world, int32_t slot);
bool soft_unpack(tn_world *world); // false if a soft body was lost
// The same for velocities that damping left out of range.
bool soft_stop_bad_velocities(tn_world *world);

// solver/soft/soft_chains.c
void soft_solve_chains(tn_world *world, float h, bool relaxing);
void soft_solve_chain_positions(tn_world *world, float h);
void soft_solve_pressure(tn_world *world, float h, soft_stage stage);
void soft_update_box(soft *s);
void soft_grow_box(soft *s, tn_pos at);  // so that it contains `at`
void soft_boxes_settle(tn_world *world); // exact boxes again, at the start of a step
// Caps the stiffness that the substeps cannot resolve.
void soft_limit_stiffness(tn_world *world, float dt);
// Angular velocity of a body with this inertia (xx yy zz xy xz yz) and angular momentum.
tn_pos solve_inertia(const double *inertia, tn_pos momentum);

// solver/soft/soft_momentum.c
void soft_damp(tn_world *world, float dt);
void soft_restore_momentum(tn_world *world, float dt);

// solver/soft/soft_coloring.c
typedef soft_coloring_node soft_coloring_node_fn(const tn_world *world, int32_t index);
bool soft_coloring_build(tn_world *world, soft_coloring *links, int32_t count,
                         soft_coloring_node_fn *of);
void soft_coloring_release(tn_world *world, soft_coloring *links);

// detect/soft_shape_contacts.c
bool soft_contacts_find(tn_world *world, float dt);
bool soft_contacts_pack(tn_world *world);
void soft_contacts_unpack(tn_world *world, float dt);
void soft_contacts_remove_soft(tn_world *world, int32_t slot);
void soft_contacts_discard(tn_world *world, int32_t slot); // sends no events
void soft_contacts_remove_shape(tn_world *world, int32_t slot);
void soft_wake_touched(tn_world *world, int32_t slot);
void soft_contacts_release(tn_world *world);

// world/attachment.c
// Checks what does not depend on the world.
const char *attachment_def_problem(const tn_attachment_def *def);
bool attachment_is_active(const tn_world *world, const attachment *a);
tn_pos attachment_lever(const tn_world *world, const attachment *a);
double attachment_energy(const tn_world *world, const attachment *a);
bool attachments_pack(tn_world *world, float scale);
void attachments_unpack(tn_world *world, float dt);
void attachments_remove_soft(tn_world *world, int32_t slot);
void attachments_remove_body(tn_world *world, int32_t slot);
void attachments_release(tn_world *world);

// world/soft_events.c
void add_soft_event(tn_world *world, const tn_soft_event *event);
void soft_touch_pairs_update(tn_world *world);
void soft_touch_pairs_remove_soft(tn_world *world, int32_t slot);
void soft_touch_pairs_remove_shape(tn_world *world, int32_t slot);
void soft_events_release(tn_world *world);

// solver/soft/soft_clusters.c; soft_fit_rotation: world/soft_measure.c
void soft_solve_clusters(tn_world *world, float h, soft_stage stage);
double soft_cluster_energy(const soft *s, int32_t index);
// Fits the cluster's rotation to its parts; returns their deviation, relative to their size.
double soft_cluster_error(const soft *s, soft_cluster *cluster, const cluster_part *parts);
// Rotation closest to the matrix with columns f, iterated from `known`.
Q soft_fit_rotation(Q known, const tn_pos *f);

// solver/soft/soft_unfold.c
void soft_unfold_update(tn_world *world, float dt);
bool soft_unfold_pack(tn_world *world);

// solver/soft/soft_plastic.c
void soft_apply_plasticity(tn_world *world, float dt);

// solver/soft/soft_tear.c
void soft_tear(tn_world *world, float dt);

// world/soft_measure.c
double soft_volume_of(const soft *s);
void soft_add_energy(const tn_world *world, const soft *s, tn_energy *sum);
void soft_add_momentum(const soft *s, tn_pos about, tn_momentum *sum);

// solver/joint/joint_graph.c
bool joint_graph_build(tn_world *world);
void joint_graph_release(tn_world *world);
// Lowest bit that is not set in `taken`, or MAX_COLORS.
static inline int lowest_free_color(uint64_t taken)
{
#if defined(__GNUC__)
  return ~taken == 0 ? MAX_COLORS : __builtin_ctzll(~taken);
#else
  int color = 0;
  while (color < MAX_COLORS && taken >> color & 1) {
    ++color;
  }
  return color;
#endif
}
// Assigns blocks to every colour and type. On entry `group` holds the number of constraints for
// each colour, `types` entries a colour, with one more colour for the overflow; on return the first
// place of each, block * BLOCK_WIDTH + lane. Blocks are taken from first_block on; returns the next
// free one.
int32_t lay_out_colors(coloring *c, int32_t first_block, int32_t *group, int types);

// solver/groups.c
#if defined(TN_NO_THREADS) // the web module leaves them out to stay small
#define HAS_SOLVER_GROUPS 0
#else
#define HAS_SOLVER_GROUPS 1
#endif
static inline bool groups_enabled(const tn_world *world)
{
  return HAS_SOLVER_GROUPS && world->groups.enabled;
}
static inline int32_t groups_count(const tn_world *world)
{
  return HAS_SOLVER_GROUPS ? world->groups.count : 0;
}
// While contacts are coloured, groups_join() connects the bodies of a contact and groups_exclude()
// keeps a body in the shared set; then groups_find() forms the groups, if there are enough.
bool groups_begin(tn_world *world);
void groups_join(solver_group_set *p, int32_t slot_a, int32_t slot_b);
void groups_exclude(solver_group_set *p, int32_t slot);
bool groups_find(tn_world *world, const contact_placement *contacts, int32_t count);
void groups_release(tn_world *world);

// solver/mechanism/elimination_order.c
// Groups `count` joints, in slot order, into mechanisms. A mechanism whose elimination would fill
// in too much is left out: its joints keep direct == NO_SLOT and go to Gauss-Seidel.
bool mechanisms_build(tn_world *world, const int32_t *joints, int32_t count);
void mechanisms_release(tn_world *world);
// solver/mechanism/mechanism_batch.c: mechanisms solved side by side in lanes, and blocks of joint
// Jacobians.
bool batches_build(tn_world *world);
void batches_begin_step(tn_world *world);
void batches_release(tn_world *world);

// solver/mechanism/mechanism_warm_start.c
// Lists the contacts of mechanisms. False when out of memory.
bool warm_contacts_list(tn_world *world);

// solver/recovery.c
bool start_reserve(tn_world *world);
void start_release(tn_world *world);
// Save the state that a step begins with: of a body, of joints and soft bodies, of a group's
// contacts.
void start_keep_body(tn_world *world, int32_t slot);
void start_keep(tn_world *world);
void start_keep_group_contacts(const tn_world *world, const solver_group *group);
void start_restore(tn_world *world);
bool world_is_finite(const tn_world *world); // call after the substeps
// Marks bodies and soft bodies that are not finite with LOST_NOW; with `known` only those that have
// LOST_BEFORE as well. False if there are none.
bool lost_find(tn_world *world, bool known);
// lost_freeze() takes what is marked out of the step; lost_thaw() puts it back afterwards and
// reports it, and returns false if there was nothing.
void lost_freeze(tn_world *world);
bool lost_thaw(tn_world *world);
void lost_forget_body(tn_world *world, int32_t slot);
void lost_forget_soft(tn_world *world, int32_t slot);
// Log an error, once until the body has been finite for a step.
void lost_report_body(tn_world *world, int32_t slot, const char *what);
void lost_report_soft(tn_world *world, int32_t slot, const char *what);

// kernel/math.c
bool is_finite3(tn_vec3 v);
bool is_finite_pos(tn_pos p);
// Ranges that public calls accept: TN_MAX_DISTANCE and TN_MAX_RATE. False for NaN.
bool is_position(tn_pos p);
bool is_offset(tn_vec3 v); // of a point in a body's frame
bool is_rate(tn_vec3 v);
bool is_rotation(tn_quat q);

#endif
