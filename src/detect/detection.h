// What detection keeps from step to step: trees, the list of active pairs, and scratch arrays.
#ifndef TENON_DETECT_DETECTION_H
#define TENON_DETECT_DETECTION_H

#include "collide/manifold.h"
#include "data/softs.h"
#include "detect/aabb_tree.h"
#include "detect/capsule_batch.h"

#include <stdint.h>

// What the pair list needs of a shape to skip pairs that cannot touch.
typedef struct shape_motion {
  // Bound of `travel` at the end of this step. It also holds for shapes that are not updated: they
  // are at rest.
  double travel_bound;
  // 2 * contact_update_count of the last update, plus one if the shape was active then.
  uint32_t stamp;
  bool is_fast; // its body moves farther in this step than the shape's inner radius
} shape_motion;

// What the narrow phase found for one active pair.
typedef struct pair_result {
  int32_t first;   // index in found_manifolds
  int32_t room;    // manifolds that fit there
  int32_t count;   // manifolds found, or KEPT_MANIFOLDS
  bool overlap;    // sensors only
  uint32_t ghosts; // bit i: the pair's i-th contact is a ghost
} pair_result;

// A body that is swept against moving ones at the end of a step.
typedef struct sweep_order {
  float travel;  // m, of its centre
  int32_t body;  // slot
  int32_t index; // in tn_world.awake
  bool stops;    // it meets something, if nothing else stops
  bool left_box; // that was looked for beyond its pairs
} sweep_order;

// Places of a soft body in the arrays of this step, and its largest speed.
typedef struct soft_scan {
  int32_t first_chunk, first_box; // in soft_chunks, triangle_boxes
  bool has_boxes;                 // has boxes of its triangles
  float max_speed;                // m/s, of its particles
} soft_scan;

// Consecutive particles or triangles of a soft body.
typedef struct soft_chunk {
  world_aabb box;
  float square_speed; // (m/s)^2, largest of the particles
  double rounding;    // m, bound of rounding errors of distances from the triangles
  int32_t soft;       // slot
} soft_chunk;

// A part of a search for soft contacts, which one thread does.
typedef struct soft_item {
  int32_t job, part;    // of which pair of colliders; which chunk
  int32_t count, place; // contacts found; where they begin in tn_world.soft_contacts
} soft_item;

#define KEPT_MANIFOLDS (-1) // the contacts of the last step are still valid

typedef struct detection {
  capsule_batch_fn *collide_capsule_batch; // of the world's lane width
  // Narrow phase updates so far: the stamp of shape_motion and body_contact_flags.
  uint64_t contact_update_count;
  tree static_tree, moving_tree;
  int32_t tree_reinsert_debt; // leaves of moving_tree still to be reinserted: others have moved
  int32_t *pending_shapes;    // shapes with pairs_pending
  int32_t pending_shape_count, pending_shape_capacity;
  bool pending_shapes_changed; // by calls between steps: not sorted, may hold old slots
  bool pending_shapes_stale;   // must be listed again from all shapes
  int32_t crowded_shape;       // the first that left out pairs in this step plus one; 0: none did

  shape_motion *shape_motions; // by shape
  int32_t shape_motion_capacity;
  int32_t *active_pairs; // slots of pairs to be collided in this step
  int32_t active_pair_count, active_pair_capacity;
  int32_t multi_manifold_pair_count; // of the active ones

  int32_t sweep_stop_count; // bodies that continuous collision put back in the last step

  // Scratch of a step.
  uint8_t *sweep_flags; // by index in tn_world.awake
  sweep_order *sweep_orders;
  int32_t sweep_flag_capacity, sweep_order_count, sweep_order_capacity;
  uint64_t *pair_bits; // one bit for each pair to be listed
  int32_t pair_bit_capacity;
  uint8_t *body_marks; // by index in `awake`: bodies that need serial work after a parallel loop
  int32_t body_mark_capacity;
  void *search_results; // of pending_shapes, see broad_phase.c
  int32_t search_result_capacity;
  int32_t *candidates; // shapes found by a search that has more than there is room for
  int32_t candidate_count, candidate_capacity;
  // By index in active_pairs: pairs that need serial work after a parallel loop.
  uint8_t *pair_marks;
  int32_t *chunk_pairs, *inactive_shapes; // lists that pair_list.c joins
  void *pair_chunks;
  int32_t pair_mark_capacity, chunk_pair_capacity, inactive_shape_capacity, pair_chunk_capacity;
  int32_t *sort_places; // new slots of pairs and contacts while they are sorted
  int32_t sort_place_capacity;
  pair_result *found; // by index in active_pairs
  manifold *found_manifolds;
  int32_t found_capacity, found_manifold_capacity;
  // Soft bodies, see soft_detect.h.
  soft_scan *soft_scans;      // by slot
  soft_chunk *soft_chunks;    // of particles, then of triangles, of each awake soft body
  world_aabb *triangle_boxes; // of soft bodies that may collide with others
  int32_t soft_scan_capacity, soft_chunk_capacity, triangle_box_capacity;
  void *soft_jobs; // of the running search for soft contacts
  soft_item *soft_items;
  soft_contact *chunk_contacts; // what the items have found
  int32_t soft_job_capacity, soft_item_count, soft_item_capacity, chunk_contact_capacity;
  void *edge_memory; // feature edges, see soft_edge_contacts.c
  int32_t edge_memory_capacity;
} detection;

#endif
