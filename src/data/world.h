// A world: objects, settings and events. Detection and the solver keep their own data behind
// pointers (detect/detection.h, solver/solver.h), which this layer does not look into.
//
// Objects live in arrays and are named by slot (array index); NO_SLOT means none. Arrays with a
// capacity only grow.
#ifndef TENON_DATA_WORLD_H
#define TENON_DATA_WORLD_H

#include "base/heap.h"
#include "base/log.h"
#include "base/task.h"
#include "data/bodies.h"
#include "data/contacts.h"
#include "data/couplings.h"
#include "data/geometries.h"
#include "data/joints.h"
#include "data/pairs.h"
#include "data/shapes.h"
#include "data/softs.h"

#include <tenon/tenon.h>

// Set by the tn_default_..._def functions; a definition without it was not initialised.
#define DEF_COOKIE 0x7e4045u

struct tn_world {
  heap heap;
  log_sink log;
  log_history log_history;
  uint32_t world_id; // part of every id, so that ids of other worlds are detected
  task_pool *tasks;
  struct detection *detection;
  struct solver *solver;

  void *user_data;
  tn_vec3 gravity;
  tn_method method;
  int substeps, iterations, lanes, threads;
  bool sleeping;                 // bodies may fall asleep
  float sleep_speed, sleep_time; // m/s, s; 0: by size and gravity
  float play;                    // of linkages, relative to lever arms, or rad
  tn_limits limits;              // `bytes` is the heap's
  tn_pair_filter_fn *pair_filter;
  void *pair_filter_context;
  float last_h; // length of the last substep, s
  // Counts changes that make contact_params stale, from 1 on; a contact's 0 is always stale.
  uint32_t material_version;

  pool body_pool;
  body *bodies;
  // The solver's view of the bodies, by slot; blocks by slot / BLOCK_WIDTH.
  body_state *state;
  body_inertia *inertia;
  body_correction *corrections;
  body_block *body_blocks;
  int32_t *awake; // slots of awake dynamic and kinematic bodies, ascending
  int32_t awake_count, awake_capacity;
  int32_t *active_blocks; // blocks of BLOCK_WIDTH bodies with an awake body
  int32_t active_block_count, active_block_capacity;
  int32_t *awake_scratch;
  int32_t awake_scratch_capacity;
  bool awake_list_stale; // `awake` must be updated
  bool awake_list_lost; // from all bodies; else only those of changed_bodies may have begun to move
  int32_t *changed_bodies;
  int32_t changed_body_count, changed_body_capacity;

  pool geometry_pool;
  shared_geometry *geometries;
  pool shape_pool;
  shape *shapes;
  pool pair_pool;
  pair *pairs;
  pool contact_pool;
  contact *contacts;

  pool joint_pool;
  joint *joints;
  pool coupling_pool;
  coupling *couplings;
  // The solver's joints and couplings must be laid out again before the next step.
  bool joint_layout_stale;

  pool soft_pool;
  soft *softs;
  pool attachment_pool;
  attachment *attachments;
  soft_contact *soft_contacts; // of the last step
  int32_t soft_contact_count, soft_contact_capacity;
  soft_touch_pair *soft_touch_pairs;
  int32_t soft_touch_pair_count, soft_touch_pair_capacity;
  bool soft_layout_stale; // the same of soft bodies

  // Events. The published ones are those of the last step; the rest belong to the next one.
  tn_contact_event *contact_events;
  int32_t contact_event_count, contact_event_capacity, published_contact_event_count;
  tn_sleep_event *sleep_events;
  int32_t sleep_event_count, sleep_event_capacity, published_sleep_event_count;
  tn_soft_event *soft_events;
  int32_t soft_event_count, soft_event_capacity, published_soft_event_count;
  tn_joint_break_event *break_events;
  int32_t break_event_count, break_event_capacity;
  struct move_record *moves; // of the last step, see solver/moves.h
  int32_t move_count, move_capacity;

  struct recorder *recorder; // null: calls are not recorded

  tn_clock_fn *clock;
  double stage_start; // s, when the running stage of the step began
  tn_profile profile;
};

static inline world_pose shape_world_pose(const tn_world *world, const shape *s)
{
  const body *b = &world->bodies[s->body];
  world_pose at = {pos_add(b->center, dquat_rotate(b->rotation, s->local_position)),
                   dquat_mul(b->rotation, s->local_rotation)};
  return at;
}

#endif
