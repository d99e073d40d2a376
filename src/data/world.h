// The world's own structures and what its files offer each other.
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

#define DEF_COOKIE 0x7e4045u
#define NAME_SIZE 32
// Has a cache line on its way before it is asked for. Inline: compilers drop a function that does
// nothing else.
#if defined(__GNUC__) && !defined(__wasm__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) (void)(address)
#endif
#define PREFETCH_DISTANCE 8 // places in a list
#define WORLD_SLOT 0        // the body that stands for the world
#define MAX_COLORS 64

typedef task_range color_range; // of blocks

// When a body or soft body was not finite, as bits: in its last step, and in the one that runs.
typedef enum lost_when { LOST_BEFORE = 1, LOST_NOW = 2 } lost_when;

#include "data/softs.h"

typedef struct body {
  uint32_t generation;
  int32_t next_free; // while dead
  bool alive;
  bool has_target;     // kinematic, for the next step
  uint8_t lost;        // lost_when
  uint8_t frozen_type; // its type, while it is frozen as a static body
  tn_body_type type;
  tn_pos center;         // of mass
  dquat rotation;        // of the principal axes
  tn_pos local_center;   // of mass, in the body's frame
  dquat local_principal; // principal axes in the body's frame
  tn_mass mass;
  double moments[3]; // principal, ascending
  float gravity_scale;
  float linear_damping, angular_damping;
  float max_speed, max_angular_speed;
  tn_vec3 force, torque; // for the next step
  tn_transform target;
  bool can_sleep, bullet;
  bool supported; // contacts carry it, or something it is joined to
  bool asleep;
  float sleep_time;        // s, how long it has hardly moved
  int32_t sleep_ring_next; // ring of those that fell asleep together
  int32_t first_shape;     // slot, or NO_SLOT
  int32_t first_joint;     // slot * 2 + side, or NO_SLOT
  int32_t joint_count;
  void *user_data;
  char name[NAME_SIZE];
} body;

// Data that shapes share, and what it was made of.
typedef struct shared_geometry {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int kind; // tn_shape_kind
  int users;
  void *data;   // convex, mesh, height_field or wire
  void *source; // as given by the user
  size_t source_size;
  int32_t counts[2];
  float spacing[2];
  bool closed;
} shared_geometry;

typedef struct world_pose {
  tn_pos p;
  dquat q;
} world_pose;

// Where a shape was when pairs were last looked at, and how fast: what many pairs ask for, on two
// cache lines.
typedef struct shape_cache {
  alignas(64) float axis[3]; // its y, in world axes
  float half_length, radius; // of a sphere or capsule
  float max_extent;          // from the body's centre to the furthest point
  float bounding_radius;
  float speed;                  // no point of it is faster, m/s
  float rotation[4], offset[3]; // about its body's centre, in world axes
  world_pose pose;
  double travel; // no point of it has gone farther since it was made, m
} shape_cache;

// Of a shape, what listing pairs asks for.
typedef struct shape_motion {
  // No point of it will have gone farther when the step ends. It holds for a shape that is not
  // looked at as well, for that rests.
  double travel_bound;
  uint32_t stamp; // when it was last placed, and whether it was active
  bool is_fast;   // its body goes farther in this step than it is thick
} shape_motion;

typedef struct shape {
  shape_cache shape_cache;
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int32_t body; // slot
  int32_t next; // in the body's list of shapes
  tn_shape_def def;
  geometry geometry;
  int32_t shared; // slot of the shared geometry, or NO_SLOT
  // Relative to the centre of mass and the principal axes.
  tn_pos local_position;
  dquat local_rotation;
  float bounding_radius, inner_radius;
  float box_slack;    // how far any point of the shape may still move within `box`
  float box_sweep;    // of `box`, for the motion it was made for
  bool is_static;     // in the tree of what never moves
  int32_t tree_leaf;  // in its tree
  world_aabb box;     // grown: what the tree has
  bool pairs_pending; // looks for pairs when the next step begins
  bool waits;         // found some in the last look that it may not have yet
  int32_t first_pair; // pair * 2 + side, or NO_SLOT
  int32_t pair_count;
  int32_t crowd; // of these, with shapes that it lies deep inside of
} shape;

// Two shapes whose boxes are close.
typedef struct pair {
  int32_t next_free;
  bool alive;
  bool sensor;   // no contacts, only overlap
  bool touching; // told by an event
  bool is_new;   // its manifolds were never found, or the shapes changed
  int32_t shape[2];
  int32_t body[2];
  int32_t sort_body; // the first body of the two that may move: where the pair belongs in the list
  int32_t first_contact;
  bool round;           // spheres and capsules: known by their segments
  bool multi_manifold;  // may have several manifolds
  bool stale_pose;      // `at` is not where the manifolds were found
  bool initial_overlap; // the shapes overlap since they were first looked at
  bool deep;            // so far that the pair counts for their crowds
  float min_gap;        // no less was between the shapes when looked at, if that is known; else 0
  double travel_limit;  // of the ways of both together, before which they cannot meet
  int32_t next[2], previous[2]; // in each shape's list: pair * 2 + side
  pose manifold_pose;           // B in A when the manifolds were found
} pair;

typedef struct joint {
  uint32_t generation;
  int32_t next_free;
  bool alive, broken;
  int32_t slot[2]; // bodies A and B
  int32_t next[2]; // in each body's list of joints: slot * 2 + side
  int32_t previous[2];
  tn_joint_def def;
  dquat frame_rotation[2]; // of the joint's frames relative to the principal axes
  tn_pos frame_point[2];   // relative to the centre of mass
  float target[2];         // of the linear and the angular drive when the last step ended
  int32_t direct;          // place among the joints solved directly, or NO_SLOT
  int32_t block, lane;     // place among those solved by Gauss-Seidel, or block == NO_SLOT
  tn_vec3 force, torque;   // mean over the last step
  // Impulses while the joint is in no block.
  float state[2][FIELDS(RowState)];
  float half_kick_impulse[2][3];
  float half_kick_done; // share of the impulses that was given ahead as the last step ended
} joint;

// Blocks by colour, and within a colour by type.
typedef struct coloring {
  color_range color[MAX_COLORS];
  int32_t count;
  color_range overflow; // those for which no colour was left, one to a block
} coloring;

// The constraint joint_graph of joints.
typedef struct joint_graph {
  bool dirty;
  joint_block *blocks;
  int32_t block_count, block_capacity;
  coloring coloring;
} joint_graph;

// What the narrow phase found for an active pair.
typedef struct pair_result {
  int32_t first;      // in found_manifolds
  int32_t room;       // how many manifolds fit there
  int32_t count;      // how many were found, or KEPT_MANIFOLDS
  bool overlap;       // of a sensor
  bool touch_changed; // the pair begins or ends to touch in this step
} pair_result;

#define KEPT_MANIFOLDS (-1) // the pair has hardly moved: its manifolds still hold

// What colouring asks of a contact, and of an active pair. Bits of one word, which goes from hand
// to hand in a register.
typedef struct contact_summary {
  uint32_t type : 8;      // contact_type
  uint32_t idle : 1;      // had no load in the last step
  uint32_t unsettled : 1; // its load had no time to be learnt
} contact_summary;

typedef struct pair_summary {
  uint32_t seed;   // for its colours
  int32_t contact; // the first, or NO_SLOT
  int32_t body[2];
  contact_summary first;
  bool has_more;         // contacts after the first
  bool sensor, touching; // as of the pair
  bool has_restitution;  // some contact may
  bool near_touch;       // the bodies touch, or nearly
  bool initial_overlap;  // they were made overlapping, and still do
} pair_summary;

// Where each contact of a step goes.
typedef struct contact_placement {
  int32_t contact;
  int32_t home_block; // block of a body that it moves
  uint8_t color, type;
  bool idle; // had no load in the last step
} contact_placement;

// What the contacts of a step say about a body.
typedef struct body_contact_flags {
  uint64_t colors;               // taken by its contacts
  int32_t dynamic_contact_count; // contacts with dynamic bodies
  uint32_t stamp;                // for which this holds
  int32_t mechanism;             // that it belongs to, from 1 on
  bool dynamic;
  bool moves;              // dynamic or kinematic, and awake
  bool in_initial_overlap; // made inside one of them
  bool supported;          // something carries it
  bool may_touch;          // something may touch it in this step
  bool non_finite;         // its state is not finite
  bool may_leave_box;      // from the boxes of its shapes, perhaps
} body_contact_flags;

// What a body bears on flat faces.
typedef struct body_load {
  float total_load; // of the impulses of a substep on them
  tn_vec3 net_load;
  float inverse_inertia_scale; // of its inverse moments of inertia
  int32_t support_count;       // faces that carry it, where loads are guessed
  bool has_other_load;         // something presses that is no face
} body_load;

// A face that carries a body.
typedef struct support_face {
  double height; // of the upper body
  int32_t contact, upper, lower;
} support_face;

// Which contacts a block is for.
typedef struct block_content {
  int32_t contact[BLOCK_WIDTH]; // slot, or NO_SLOT
  int32_t type;
} block_content;

// The manifolds of a step.
typedef struct contact_graph {
  contact_block *blocks; // those that are in no part, then room for a part on each thread
  block_content *contents;
  int32_t block_count, block_capacity, content_capacity; // of all of them
  int32_t shared_block_count;                            // that are in no part: they come first
  coloring coloring;                                     // of these
  int min_passes;                                        // over contacts, at least, in a substep
  bool unsettled;                                        // most of them
  bool has_faces;                                        // some have four points
  restitution_contact *restitution_contacts;
  int32_t restitution_contact_count, restitution_contact_capacity;
} contact_graph;

// What goes through the substeps by itself, see part.c.
typedef struct solver_group {
  color_range blocks;   // of bodies, in solver_group_set.active
  color_range contacts; // in solver_group_set.sorted
  int32_t first;        // of its blocks of contacts
  coloring coloring;    // of these, from 0 on
} solver_group;

// Of body blocks that contacts join.
typedef struct block_set {
  int32_t root; // or another on the way to it
  int32_t cost, group;
  bool excluded; // in no part
} block_set;

typedef struct solver_group_set {
  solver_group *list;
  int32_t count, capacity;
  block_set *block_sets; // by body block
  int32_t *active;       // body blocks: the rest's, then part after part
  contact_placement *sorted;
  int32_t block_set_capacity, active_capacity, sorted_capacity;
  int32_t shared_body_blocks, shared_contacts;
  int32_t arena_count,
      arena_blocks;     // where parts are solved, and blocks of contacts that each has room for
  int32_t search_delay; // steps without a search
  bool enabled;
} solver_group_set;

// What a step changes before it is known to be finite; see recover.c.
#define START_SPIN 6 // floats: Spin's momentum and last
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
  uint32_t world_id; // told apart in ids

  tn_vec3 gravity;
  tn_method method;
  int substeps, iterations, lanes, threads;
  const solver_ops *ops;
  const contact_ops *contact_ops;
  task_pool *tasks;
  float last_h;
  uint64_t contact_update_count; // at what touches what
  uint32_t material_version;     // from 1 on; which bodies have joints counts as well

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
  int32_t *pending_shapes; // shapes that look for pairs
  int32_t pending_shape_count, pending_shape_capacity;
  bool crowded; // some shape had more to pair with than a crowd may have
  int32_t
      tree_reinsert_debt; // leaves of the tree to be looked at again, for others that have moved

  pool pair_pool;
  pair *pairs;
  pool contact_pool;
  contact *contacts;
  contact_graph contact_graph;
  solver_group_set groups;
  pair_summary *pair_summaries; // of active pairs
  contact_placement *contact_placements;
  body_contact_flags *contact_flags; // by body
  body_load *body_loads;             // by body
  support_face *support_faces;
  int32_t body_load_capacity, support_face_capacity;
  uint64_t *pair_bits;         // scratch: pairs to be listed
  shape_motion *shape_motions; // by shape
  int32_t pair_summary_capacity, contact_placement_capacity, contact_flag_capacity,
      pair_bit_capacity, shape_motion_capacity;
  // Scratch of a step.
  int32_t *candidates; // shapes near a pairs_pending one
  int32_t candidate_count, candidate_capacity;
  uint8_t *pair_may_touch; // by pair: 1 where the shapes may have met
  int32_t *sort_places;
  int32_t pair_may_touch_capacity, sort_place_capacity;
  int32_t *active_pairs; // with someone awake
  int32_t active_pair_count, active_pair_capacity;
  pair_result *found;
  manifold *found_manifolds;
  int32_t found_capacity, found_manifold_capacity;

  tn_clock_fn *clock;
  double stage_start; // when the running part of the step began
  tn_profile profile;
  tn_pair_filter_fn *pair_filter;
  void *pair_filter_context;
  tn_contact_event *contact_events;
  int32_t contact_event_count, contact_event_capacity;
  int32_t published_contact_event_count; // those of the last step; the rest came about since then
  tn_sleep_event *sleep_events;
  int32_t sleep_event_count, sleep_event_capacity, published_sleep_event_count;
  bool sleeping;             // bodies may fall asleep
  bool awake_list_stale;     // the list of those awake is out of date
  bool pending_shapes_stale; // some shape searches that is not in the list
  int32_t *awake;            // body slots that move, in rising order
  int32_t awake_count, awake_capacity;
  int32_t *island_parent; // scratch: sets of bodies
  float *island_sleep_time;
  int32_t *island_ring_tail;
  int32_t island_capacity, island_sleep_time_capacity, island_ring_tail_capacity;
  int32_t *active_blocks;
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
  soft_contact *chunk_contacts; // scratch of a step: what each bunch touches, and how many
  int32_t *chunk_contact_counts;
  int32_t chunk_contact_capacity, chunk_contact_count_capacity;
  world_aabb *chunk_boxes; // scratch of a step: of a soft body's particles and triangles
  int32_t chunk_box_capacity;
  soft_touch_pair *soft_touch_pairs;
  int32_t soft_touch_pair_count, soft_touch_pair_capacity;
  tn_soft_event *soft_events;
  int32_t soft_event_count, soft_event_capacity, published_soft_event_count;

  tn_joint_break_event *break_events;
  int32_t break_event_count, break_event_capacity;

  bool troubled; // something was not finite in the step

  // As the step began.
  body_start *starts;                  // by body
  contact_start_state *contact_starts; // by contact, of those in parts
  float *soft_starts;                  // of clusters
  int32_t start_capacity, contact_start_capacity, soft_start_capacity;
};

// world.c
bool is_method(tn_method method);
const char *counts_problem(int substeps, int iterations);

// body.c
body *body_find(const tn_world *world, tn_body_id id, const char *caller);
tn_body_id body_id_at(const tn_world *world, int32_t slot);
bool body_reserve(tn_world *world, int32_t wanted);
void body_create_static_world(tn_world *world);
// Why a mass cannot be that of a dynamic body, or null.
const char *mass_problem(const tn_mass *mass);
void body_clear_slots(tn_world *world, int32_t first, int32_t last);
void body_restore_inertia(tn_world *world);
int32_t body_slot(const tn_world *world, const body *b);
// Brings the solver's view of a body up to date with `b`.
void body_sync_solver(tn_world *world, int32_t slot);
tn_transform body_transform_of(const body *b);
void body_begin_step(tn_world *world, int32_t slot, float dt, int substeps);
// False when it leaves the range of positions: it stays where the step began, and is stopped.
bool body_end_step(tn_world *world, int32_t slot);

// geometry.c
// Null with the reason in `why`.
shared_geometry *geometry_find(const tn_world *world, tn_geometry_id id, const char **why);
void geometry_release(tn_world *world, shared_geometry *g);
void geometry_release_all(tn_world *world);
// Why a geometry cannot have such counts and so many bytes of source, or null.
const char *geometry_problem(const shared_geometry *g);
// Makes the data again from a copy of the source; false with the reason in `why`.
bool geometry_rebuild(tn_world *world, shared_geometry *g, const void *source, char *why,
                      size_t size);

// shape.c
shape *shape_find(const tn_world *world, tn_shape_id id, const char *caller);
tn_shape_id shape_id_at(const tn_world *world, int32_t slot);
// Where the shape is in the world.
static inline world_pose shape_world_pose(const tn_world *world, const shape *s)
{
  const body *b = &world->bodies[s->body];
  world_pose at = {pos_add(b->center, dquat_rotate(b->rotation, s->local_position)),
                   dquat_mul(b->rotation, s->local_rotation)};
  return at;
}
// B's frame in A's, rounded only after the difference was taken.
static inline pose world_pose_relative(world_pose a, world_pose b)
{
  dquat q = dquat_conjugate(a.q);
  tn_pos p = dquat_rotate(q, pos_sub(b.p, a.p));
  pose r = {tn_v3((float)p.x, (float)p.y, (float)p.z),
            dquat_round(dquat_normalize(dquat_mul(q, b.q)))};
  return r;
}
// The geometry of a definition, checked; why not, or null.
const char *geometry_of_def(const tn_world *world, const tn_shape_def *def, geometry *g);
// Why a definition is wrong by itself, or null.
const char *shape_def_problem(const tn_shape_def *def);
void shape_remove(tn_world *world, int32_t slot);
bool shapes_reserve_trees(tn_world *world, int32_t count);
void shapes_rebuild_trees(tn_world *world);
// After a change of the body's pose, type or mass.
bool shapes_refresh(tn_world *world, int32_t body_slot);
// The box of a shape as it stands, without any margin.
world_aabb shape_tight_aabb(const tn_world *world, const shape *s);
bool shape_can_be_dynamic(const shape *s); // with a dynamic body
bool shapes_may_collide(const tn_world *world, const shape *a, const shape *b);
bool filters_should_collide(const tn_filter *a, const tn_filter *b);
// Why a material is wrong, or null.
const char *material_error(const tn_material *m);

// pair.c: broad phase
// Looks for pairs of the shape when the next step begins.
void shape_invalidate_pairs(tn_world *world, int32_t shape_slot);
void shape_remove_pairs(tn_world *world, int32_t shape_slot);
void pair_remove(tn_world *world, int32_t slot);
// Boxes and pairs of everything that moves. False when out of memory.
bool broad_phase_update(tn_world *world, float dt);
bool pair_should_collide(const tn_world *world, const shape *a, const shape *b);
// Its slot, also of a new one; NO_SLOT without memory.
int32_t pair_find_or_add(tn_world *world, int32_t a, int32_t b);
// After a step boxes still enclose their shapes: what has moved is counted before the bodies take
// their new places, and boxes that may be too small are made anew after.
bool shape_boxes_use_slack(tn_world *world, int32_t body_slot); // false where one may be
void shape_boxes_refit(tn_world *world, int32_t body_slot);
void trees_refit(tn_world *world); // the trees, after that

// pair_order.c
// Whether so many pairs of a list come after one of a later body that it is worth sorting.
bool pairs_need_sort(int32_t descents, int32_t count);
// Gives pairs and contacts new slots, in the order of their bodies. False when out of memory.
bool pairs_sort(tn_world *world);

// contact.c: narrow phase
bool narrow_phase_update(tn_world *world, float dt);
// Contacts of shapes that meet later in the step, instead of those on a straight way.
bool continuous_add_contacts(tn_world *world, int32_t a, int32_t b, const manifold *list,
                             int count);
bool continuous_update(tn_world *world, float dt); // foresee.c
void contact_clear_impulses(contact *c);
void pair_remove_contacts(tn_world *world, int32_t pair_slot);
bool add_contact_event(tn_world *world, tn_contact_event event);
tn_contact_event pair_event(const tn_world *world, const pair *p, tn_event_kind kind);

// contact_block.c
// Where contacts go, and whom they hold; then, with bodies ready for the step, what they are.
bool contact_layout_build(tn_world *world);
contact_summary contact_summary_of(const contact *c);
// Loads that most contacts of a unsettled scene lack, for substeps of h.
bool load_estimate_init(tn_world *world, float h);
// How much of its inverse moments a body is left with under its loads.
bool inertia_scaling_update(tn_world *world, float h);
void body_loads_release(tn_world *world);
void contacts_pack(tn_world *world, solver_data *data, float dt, float impulse_scale);
void contacts_unpack(tn_world *world, float dt);
// The same of one part, on one thread, in the room that `data` has for it.
void group_pack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt,
                         float scale);
void group_unpack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt);
void contact_graph_release(tn_world *world);
void materials_combine(const tn_material *a, const tn_material *b, float *mu_static,
                       float *mu_dynamic, float *restitution);

// island.c: sleep
void body_wake(tn_world *world, int32_t body_slot);
bool awake_list_update(tn_world *world); // lists of what moves
bool sleep_update(tn_world *world, float dt);
void wake_all(tn_world *world);
void soft_wake(tn_world *world, int32_t slot);
bool soft_sleep(tn_world *world, int32_t slot); // with all that it touches
// Drops a body's events of the step to come: they would name a dead body.
void sleep_events_remove_of(tn_world *world, int32_t slot);
static inline bool moves(const body *b)
{
  return b->alive && b->type != TN_BODY_STATIC && !b->asleep;
}

// joint.c
joint *joint_find(const tn_world *world, tn_joint_id id, const char *caller);
tn_joint_id joint_id_at(const tn_world *world, int32_t slot);
void joint_remove(tn_world *world, int32_t slot);
// Why a definition is wrong, whatever the bodies, or null.
const char *joint_def_problem(const tn_joint_def *def);
JointType joint_type(const joint *j);
// Linear, angular.
void joint_params(const joint *j, RowParams params[2]);
// Parameters and impulses of a joint into its lane, and impulses back.
void joint_pack(tn_world *world, int32_t slot);
void joint_unpack(const tn_world *world, joint *j);
void joint_clear_impulses(joint *j);
void joint_begin_step(tn_world *world, joint_block *block, float dt, float impulse_scale);
void joint_end_step(tn_world *world, joint_block *block, float dt);
void direct_joint_begin_step(tn_world *world, direct_joint *d, float dt, float impulse_scale);
void direct_joint_end_step(tn_world *world, direct_joint *d, float dt);
void joint_refresh_frames(tn_world *world, int32_t slot);
double joint_elastic_energy(const tn_world *world, const joint *j);

// soft.c
soft *soft_find(const tn_world *world, tn_soft_id id, const char *caller);
tn_soft_id soft_id_at(const tn_world *world, int32_t slot);
void softs_release(tn_world *world);

// soft_graph.c
bool soft_graph_build(tn_world *world);
void soft_graph_invalidate(tn_world *world);
void soft_graph_release(tn_world *world);
void soft_pack(tn_world *world);
void soft_forget_rows(tn_world *world, int32_t slot);
bool soft_unpack(tn_world *world);    // false when a body was lost
bool soft_stop_wild(tn_world *world); // the same of velocities that damping has made

// soft_step.c
void soft_solve_chains(tn_world *world, float h, bool relaxing);
void soft_solve_chain_positions(tn_world *world, float h);
void soft_solve_pressure(tn_world *world, float h, soft_stage stage);
void soft_update_box(soft *s);
void soft_grow_box(soft *s, tn_pos at);               // to hold a particle that was moved there
void soft_boxes_settle(tn_world *world);              // as the step begins
void soft_limit_stiffness(tn_world *world, float dt); // what its substeps cannot follow
// The turn that an angular momentum gives an inertia xx yy zz xy xz yz.
tn_pos solve_inertia(const double *inertia, tn_pos momentum);

// soft_momentum.c
void soft_damp(tn_world *world, float dt);
void soft_restore_momentum(tn_world *world, float dt);

// soft_coloring.c
typedef soft_coloring_node soft_coloring_node_fn(const tn_world *world, int32_t index);
bool soft_coloring_build(tn_world *world, soft_coloring *links, int32_t count,
                         soft_coloring_node_fn *of);
void soft_coloring_release(tn_world *world, soft_coloring *links);

// soft_touch.c
bool soft_contacts_find(tn_world *world, float dt);
bool soft_contacts_pack(tn_world *world);
void soft_contacts_unpack(tn_world *world, float dt);
void soft_contacts_remove_soft(tn_world *world, int32_t slot);
void touches_drop_of_soft(tn_world *world, int32_t slot); // without a word to events
void soft_contacts_remove_shape(tn_world *world, int32_t slot);
void soft_wake_touched(tn_world *world, int32_t slot);
void soft_contacts_release(tn_world *world);

// soft_attach.c
// Why a definition is wrong by itself, or null.
const char *attachment_def_problem(const tn_attachment_def *def);
bool attachment_is_active(const tn_world *world, const attachment *a);
tn_pos attachment_lever(const tn_world *world, const attachment *a);
double attachment_energy(const tn_world *world, const attachment *a);
bool attachments_pack(tn_world *world, float scale);
void attachments_unpack(tn_world *world, float dt);
void attachments_remove_soft(tn_world *world, int32_t slot);
void attachments_remove_body(tn_world *world, int32_t slot);
void attachments_release(tn_world *world);

// soft_event.c
void add_soft_event(tn_world *world, const tn_soft_event *event);
void soft_touch_pairs_update(tn_world *world);
void soft_touch_pairs_remove_soft(tn_world *world, int32_t slot);
void soft_touch_pairs_remove_shape(tn_world *world, int32_t slot);
void soft_events_release(tn_world *world);

// soft_cluster.c
void soft_solve_clusters(tn_world *world, float h, soft_stage stage);
double soft_cluster_energy(const soft *s, int32_t index);
// Turns a cluster to where its parts are; returns how far they are off, as a share of their size.
double soft_cluster_error(const soft *s, soft_cluster *cluster, const cluster_part *parts);
// The rotation closest to columns, from one that is known.
Q soft_fit_rotation(Q known, const tn_pos *f);

// soft_unfold.c
void soft_unfold_update(tn_world *world, float dt);
bool soft_unfold_pack(tn_world *world);

// soft_plastic.c
void soft_apply_plasticity(tn_world *world, float dt);

// soft_tear.c
void soft_tear(tn_world *world, float dt);

// soft_measure.c
double soft_volume_of(const soft *s);
void soft_add_energy(const tn_world *world, const soft *s, tn_energy *sum);
void soft_add_momentum(const soft *s, tn_pos about, tn_momentum *sum);

// joint_graph.c
bool joint_graph_build(tn_world *world);
void joint_graph_release(tn_world *world);
// One of MAX_COLORS that is not taken, or MAX_COLORS.
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
// Gives each colour and type its blocks: turns the counts in `group`, `types` of them to a colour
// and one more colour for what none was left for, into the first place of each, that is block *
// BLOCK_WIDTH. Blocks are taken from the first on; returns the one after the last.
int32_t lay_out_colors(coloring *c, int32_t first_block, int32_t *group, int types);

// part.c
#if defined(TN_NO_THREADS) // a module for the web is to be small, and so are its worlds
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
// While contacts are placed: to be told which bodies a contact joins, and what is in no part; then
// the parts, if there are any.
bool groups_begin(tn_world *world);
void groups_join(solver_group_set *p, int32_t slot_a, int32_t slot_b);
void groups_exclude(solver_group_set *p, int32_t slot);
bool groups_find(tn_world *world, const contact_placement *contacts, int32_t count);
void groups_release(tn_world *world);

// mechanism_order.c
// Mechanisms of `count` joints, in slot order. Those whose elimination would fill up are left out:
// their joints have no place in the result.
bool mechanisms_build(tn_world *world, const int32_t *joints, int32_t count);
void mechanisms_release(tn_world *world);
// mechanism_batch.c: which of them are solved side by side, and blocks of all joints' rows.
bool batches_build(tn_world *world);
void batches_begin_step(tn_world *world);
void batches_release(tn_world *world);

// mechanism_guess.c
// Contacts of mechanisms; false when out of memory.
bool warm_contacts_list(tn_world *world);

// recover.c
bool start_reserve(tn_world *world);
void start_release(tn_world *world);
// What a step begins with: of a body, of joints and soft bodies, of a part's contacts.
void start_keep_body(tn_world *world, int32_t slot);
void start_keep(tn_world *world);
void start_keep_part(const tn_world *world, const solver_group *group);
void start_restore(tn_world *world);
bool world_is_finite(const tn_world *world); // after substeps
// Marks what is not finite, or what of it was lost in the last step as well; false if nothing is.
bool lost_find(tn_world *world, bool known);
// Takes what is marked out of the step; after it, puts it back and tells. False if nothing was.
void lost_freeze(tn_world *world);
bool lost_thaw(tn_world *world);
void lost_forget_body(tn_world *world, int32_t slot);
void lost_forget_soft(tn_world *world, int32_t slot);
// Once, until it was finite for a step.
void lost_report_body(tn_world *world, int32_t slot, const char *what);
void lost_report_soft(tn_world *world, int32_t slot, const char *what);

// mathlib.c
bool is_finite3(tn_vec3 v);
bool is_finite_pos(tn_pos p);
// Whether calls accept it; see TN_MAX_DISTANCE and TN_MAX_RATE. False for NaN.
bool is_position(tn_pos p);
bool is_offset(tn_vec3 v); // the same of a point in a body's frame
bool is_rate(tn_vec3 v);
bool is_rotation(tn_quat q);

#endif
