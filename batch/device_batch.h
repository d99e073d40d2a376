// The worlds of a batch that are on a device.
#ifndef TENON_BATCH_DEVICE_BATCH_H
#define TENON_BATCH_DEVICE_BATCH_H

#include "device.h"

typedef struct device_batch device_batch;

// Copies of `original`; null with the reason in `why`.
device_batch *device_batch_create(const tn_batch_def *def, const tn_world *original, char *why,
                                  size_t size);
void device_batch_destroy(device_batch *d);
// Bytes of the memory of a world.
size_t device_batch_world_bytes(const device_batch *d);
const char *device_batch_problem(const device_batch *d);

// The functions below fail when the device has: see device_batch_problem(). `results` has one for
// each world: bits of tn_step_status. They pass over worlds that have left.

// `made`: how many steps each world has made before it ran out of memory.
bool device_batch_step(device_batch *d, float dt, int repeat, uint32_t *results, uint64_t *made);
bool device_batch_hashes(device_batch *d, uint64_t *hashes);
bool device_batch_keep(device_batch *d, const uint8_t *mask, uint32_t *results);
bool device_batch_reset(device_batch *d, const uint8_t *mask, uint32_t *results);
// Puts a state into all worlds.
bool device_batch_spread(device_batch *d, const void *state, size_t size, uint32_t *results);
bool device_batch_rows(device_batch *d, const batch_rows *rows, const uint8_t *mask,
                       uint32_t *results);
// The states of worlds from `first` on, `stride` bytes apart, for free(); size 0 of those that have
// left.
char *device_batch_states(device_batch *d, int first, int count, uint64_t *sizes, size_t *stride);
// Makes worlds from `first` on anew, as those of the host; at most DEVICE_MOST_PUT. One with a
// result has left.
bool device_batch_put(device_batch *d, int first, int count, tn_world *const *worlds,
                      uint32_t *results);
// Takes a world off the device: its snapshot and its kept state, one after the other, for free().
char *device_batch_leave(device_batch *d, int index, size_t sizes[2]);
// Gives back what overflowed worlds have taken, when all of these have left.
bool device_batch_empty_pool(device_batch *d);
// Copies memory between the device and the host.
bool device_batch_copy(device_batch *d, void *of_device, void *of_host, size_t size,
                       bool to_device);

#endif
