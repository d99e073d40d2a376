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
  batch_world *worlds;  // those on a device have no `world` here
  device_batch *device; // null: the CPU
  uint32_t *results;    // of the last call of the device
  uint64_t *made;       // steps that worlds made on the device in the last call
  int left;             // worlds that have left the device
  int lanes;            // of worlds on the CPU
  uint32_t *status;
  tn_log_fn *log;
  void *log_context;
  pthread_mutex_t log_lock;
  batch_items items;
};

// Reports an error of a call on the batch; returns false.
bool batch_refuse(tn_batch *batch, const char *format, ...);
void batch_warn(tn_batch *batch, const char *format, ...);
// Makes world `index` on the CPU, of a snapshot, and saves its state; false without memory.
bool batch_make_of(tn_batch *batch, int index, const void *snapshot, size_t size);

// on_device.c: the part of a call that concerns worlds on a device. False, with the reason in the
// log, if the device has failed.
bool batch_device_step(tn_batch *batch, float dt, int repeat);
bool batch_device_hashes(tn_batch *batch, uint64_t *hashes);
bool batch_device_keep(tn_batch *batch, const uint8_t *mask);
bool batch_device_reset(tn_batch *batch, const uint8_t *mask);
// The state of world `from` is put into the worlds of the device and given to the caller, who frees
// `state->bytes`.
bool batch_device_spread(tn_batch *batch, int from, batch_state *state);
// Status as of tn_batch_write().
bool batch_device_rows(tn_batch *batch, const batch_rows *rows, const uint8_t *mask);
// The row of a world that has left, which lies on the device.
bool batch_code_left(tn_batch *batch, const batch_rows *rows, int index);

#endif
