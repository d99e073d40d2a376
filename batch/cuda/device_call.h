// What the host asks of a device: one function on all worlds, with its arguments in the device's
// memory. The functions are in device_module.c; a thread of the device runs one for one world.
#ifndef TENON_DEVICE_CALL_H
#define TENON_DEVICE_CALL_H

#include "batch_world.h"

typedef enum device_function {
  DEVICE_OPEN,   // makes the original of its snapshot; one thread
  DEVICE_MAKE,   // copies the original to each world
  DEVICE_STEP,   // `repeat` steps of `dt`; the result is the status
  DEVICE_HASH,   // into `hashes`
  DEVICE_KEEP,   // saves states, of the worlds in the mask
  DEVICE_RESET,  // puts them back
  DEVICE_SEND,   // saves the state of world `from` in addition
  DEVICE_SPREAD, // puts that state into all worlds
  DEVICE_ROWS,   // reads or writes rows, of the worlds in the mask
  DEVICE_FUNCTION_COUNT
} device_function;

// Numbers have the same sizes on the host and the device. Addresses are those of the device.
typedef struct device_call {
  char *worlds;        // `world_size` bytes for each
  uint64_t world_size; // a multiple of 64
  char *shared;        // of the original
  uint64_t shared_size;
  const void *snapshot; // of the original
  uint64_t snapshot_size;
  const uint8_t *mask; // null: all worlds
  uint32_t *results;   // of each world: 0, or bits of tn_step_status
  uint64_t *hashes;
  batch_rows rows;
  float dt;
  int32_t repeat, from;
} device_call;

#define DEVICE_HEAD                                                                                \
  256 // bytes before the arena of a world and of the original, see device_module.c

// device_module.c
void device_open(const device_call *c, int index);
void device_make(const device_call *c, int index);
void device_step(const device_call *c, int index);
void device_hash(const device_call *c, int index);
void device_keep(const device_call *c, int index);
void device_reset(const device_call *c, int index);
void device_send(const device_call *c, int index);
void device_spread(const device_call *c, int index);
void device_rows(const device_call *c, int index);

#endif
