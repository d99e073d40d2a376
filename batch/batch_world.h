// One world of a batch, as the threads of the CPU and of a device see it.
#ifndef TENON_BATCH_WORLD_H
#define TENON_BATCH_WORLD_H

#include <tenon/batch.h>

#include <stddef.h>

// Items of each world. Their numbers are those of the first world when the batch was made.
typedef struct batch_items {
  tn_body_id *bodies;
  tn_shape_id *shapes;
  tn_joint_id *joints;
  int body_count, shape_count, joint_count;
} batch_items;

typedef struct batch_state {
  void *bytes;
  size_t size, capacity;
} batch_state;

typedef struct batch_world {
  tn_batch *batch; // for its messages
  int index;
  tn_world *world;
  const batch_items *items;
  uint32_t key; // of its ids
  tn_articulation *articulation;
  batch_state start; // that a reset goes back to
  batch_state spare; // of a device: memory that a reset may take
  bool has_left;     // of a device: it goes on on the host
  tn_allocator memory;
} batch_world;

// Rows of one field of all worlds. Both strides are set.
typedef struct batch_rows {
  tn_batch_field field;
  tn_batch_rows rows;
  int items, numbers; // of a world, of an item
  bool writes;
} batch_rows;

// What ids of a world have as `world`; 0 of an empty one.
uint32_t batch_key_of(const tn_world *world);
// Ids of the original as those of a world.
tn_body_id batch_body(const batch_world *w, int index);
tn_shape_id batch_shape(const batch_world *w, int index);
tn_joint_id batch_joint(const batch_world *w, int index);
// Lists the items of a world; false without memory.
bool batch_list_items(batch_items *items, const tn_world *world, tn_allocator memory);
void batch_free_items(batch_items *items, tn_allocator memory);
// Saves the state of a world to `s`, which grows; puts it back.
bool batch_save(const batch_world *w, batch_state *s);
bool batch_restore(const batch_world *w, const batch_state *s);
void batch_free_state(batch_state *s, tn_allocator memory);

// Number of particles of all soft bodies.
int batch_particles(const tn_world *world, tn_allocator memory);
// Reads or writes the rows of one world. False if the world refused, or has not as many items.
bool batch_code_world(const batch_rows *r, const batch_world *w);

#endif
