// The worlds of a batch that are on a device.
#ifndef TENON_BATCH_DEVICE_BATCH_H
#define TENON_BATCH_DEVICE_BATCH_H

#include "device.h"

typedef struct device_batch device_batch;

// Copies of `original`; null with the reason in `why`. `world_bytes` 0: measured.
device_batch *device_batch_create(const tn_batch_device *device, const tn_world *original,
                                  int count, size_t world_bytes, char *why, size_t size);
void device_batch_destroy(device_batch *d);
// Bytes of the memory of a world.
size_t device_batch_world_bytes(const device_batch *d);

// False when the device has failed: see device_batch_problem(). `results` has one for each world:
// bits of tn_step_status.
bool device_batch_step(device_batch *d, float dt, int repeat, uint32_t *results);
bool device_batch_hashes(device_batch *d, uint64_t *hashes);
bool device_batch_keep(device_batch *d, const uint8_t *mask, uint32_t *results);
bool device_batch_reset(device_batch *d, const uint8_t *mask, uint32_t *results);
bool device_batch_spread(device_batch *d, int from, uint32_t *results);
bool device_batch_rows(device_batch *d, const batch_rows *rows, const uint8_t *mask,
                       uint32_t *results);
const char *device_batch_problem(const device_batch *d);

#endif
