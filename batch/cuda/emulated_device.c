// A device for tests: the module that a card runs, compiled for this CPU, in memory of its own.
#include "emulated_device.h"

#include "device_libc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Worlds are made one by one.
const tn_allocator **device_heap(void)
{
  static const tn_allocator *heap;
  return &heap;
}

static void *open_device(char *why, size_t size)
{
  static int connection;
  (void)why, (void)size;
  return &connection;
}

static void close_device(void *device)
{
  (void)device;
}

// Filled with garbage, as a card's memory is.
static void *alloc(void *device, size_t size)
{
  (void)device;
  size_t whole = (size + 4095) / 4096 * 4096;
  void *memory = aligned_alloc(4096, whole);
  return memory ? memset(memory, 0xa5, whole) : NULL;
}

static void release(void *device, void *memory)
{
  (void)device;
  free(memory);
}

static bool copy(void *device, void *to, const void *from, size_t size)
{
  (void)device;
  memcpy(to, from, size);
  return true;
}

static bool run(void *device, device_function function, const device_call *call, int count)
{
  static void (*const functions[DEVICE_FUNCTION_COUNT])(const device_call *c, int index) = {
      device_open,  device_make,   device_put,    device_step, device_hash, device_keep,
      device_reset, device_states, device_spread, device_rows, device_leave};
  (void)device;
  for (int i = 0; i < count; ++i) {
    functions[function](call, i);
  }
  return true;
}

static const char *problem(void *device)
{
  (void)device;
  return "no problem";
}

const tn_batch_device *emulated_device(void)
{
  static const tn_batch_device device = {open_device, close_device, alloc, release,
                                         copy,        copy,         run,   problem};
  return &device;
}
