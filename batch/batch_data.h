// A batch and what its files share.
#ifndef TENON_BATCH_DATA_H
#define TENON_BATCH_DATA_H

#include "batch_world.h"
#include "device_batch.h"
#include "workers.h"

#include <pthread.h>

#define BATCH_COOKIE 0x62617463u

struct tn_batch {
  int count;
  workers *workers;
  tn_world *original;   // owns the geometries
  batch_world *worlds;  // without worlds if those are on a device
  device_batch *device; // null: the CPU
  uint32_t *results;    // of the last call of the device
  uint32_t *status;
  tn_log_fn *log;
  void *log_context;
  pthread_mutex_t log_lock;
  batch_items items;
};

// Reports an error of a call on the batch; returns false.
bool batch_refuse(tn_batch *batch, const char *format, ...);
// Rows of worlds on a device; status as of tn_batch_write().
bool batch_device_rows(tn_batch *batch, const batch_rows *rows, const uint8_t *mask);

#endif
