// What the host asks of a device: one function on all worlds, with its arguments in the device's
// memory. The functions are in device_module.c; a thread of the device runs one for one world.
#ifndef TENON_DEVICE_CALL_H
#define TENON_DEVICE_CALL_H

#include "arena.h"
#include "batch_world.h"

//
// A world that has left goes on on the host: the other functions pass it over.
typedef enum device_function {
  DEVICE_OPEN,  // makes the original of its snapshot in `bytes`; one thread
  DEVICE_MAKE,  // copies the original to each world
  DEVICE_PUT,   // makes worlds anew, from `first` on, of their snapshots: that of thread i lies in
                // `bytes` from numbers[i] to numbers[i + 1]; a world that fails has left
  DEVICE_STEP,  // `repeat` steps of `dt`, fewer of a world that overflows; the result is the status
                // and perhaps DEVICE_OVERFLOWED, the number how many steps were made
  DEVICE_HASH,  // the numbers are the hashes
  DEVICE_KEEP,  // saves states, of the worlds in the mask
  DEVICE_RESET, // puts them back
  DEVICE_STATES, // the states of worlds, from `first` on, into `size` bytes of `bytes` each, where
                 // they fit; the numbers are their sizes
  DEVICE_SPREAD, // puts the state in `bytes` into all worlds
  DEVICE_ROWS,   // reads or writes rows, of the worlds in the mask
  DEVICE_LEAVE,  // world `first` leaves: its snapshot and its kept state to `bytes`, if they fit;
                 // the numbers are their sizes; one thread
  DEVICE_FUNCTION_COUNT
} device_function;

// Numbers have the same sizes on the host and the device. Addresses are those of the device.
typedef struct device_call {
  char *worlds;        // `world_size` bytes for each
  uint64_t world_size; // a multiple of 64
  char *shared;        // of the original
  uint64_t shared_size;
  arena_pool *pool;    // for worlds that overflow
  const uint8_t *mask; // null: all worlds
  uint32_t *results;   // of each world: 0, or bits of tn_step_status
  uint64_t *numbers;   // of each world, and one more
  char *bytes;         // snapshots and states
  uint64_t size;       // of `bytes`, or of the part of a world
  batch_rows rows;
  float dt;
  int32_t repeat, first;
} device_call;

#define DEVICE_OVERFLOWED 0x80000000u // besides the bits of tn_step_status
#define DEVICE_MOST_PUT 4096          // worlds in a call of DEVICE_PUT
#define DEVICE_HEAD                                                                                \
  256 // bytes before the arena of a world and of the original, see device_module.c

// device_module.c
void device_open(const device_call *c, int index);
void device_make(const device_call *c, int index);
void device_put(const device_call *c, int index);
void device_step(const device_call *c, int index);
void device_hash(const device_call *c, int index);
void device_keep(const device_call *c, int index);
void device_reset(const device_call *c, int index);
void device_states(const device_call *c, int index);
void device_spread(const device_call *c, int index);
void device_rows(const device_call *c, int index);
void device_leave(const device_call *c, int index);

#endif
