// A batch and what its files share.
#ifndef TENON_BATCH_DATA_H
#define TENON_BATCH_DATA_H

#include "workers.h"

#include <pthread.h>
#include <tenon/batch.h>

#define BATCH_COOKIE 0x62617463u

typedef struct batch_state {
  void *bytes;
  size_t size, capacity;
} batch_state;

// A world of a batch, with ids of its items in slot order.
typedef struct batch_world {
  tn_batch *batch; // for its messages
  int index;
  tn_world *world;
  uint32_t key; // of its ids
  tn_articulation *articulation;
  batch_state start; // that a reset goes back to
} batch_world;

struct tn_batch {
  int count;
  workers *workers;
  tn_world *original; // owns the geometries
  batch_world *worlds;
  uint32_t *status;
  tn_log_fn *log;
  void *log_context;
  pthread_mutex_t log_lock;
  // Items of each world. Their numbers are those of the first world when the batch was made.
  tn_body_id *bodies;
  tn_shape_id *shapes;
  tn_joint_id *joints;
  int body_count, shape_count, joint_count;
};

// Reports an error of a call on the batch; returns false.
bool batch_refuse(tn_batch *batch, const char *format, ...);
// Ids of the original as those of a world.
tn_body_id batch_body(const batch_world *w, int index);
tn_shape_id batch_shape(const batch_world *w, int index);
tn_joint_id batch_joint(const batch_world *w, int index);
// Saves the state of a world to `s`, which grows; puts it back.
bool batch_save(const batch_world *w, batch_state *s);
bool batch_restore(const batch_world *w, const batch_state *s);

#endif
