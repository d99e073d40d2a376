// What a batch needs of a device: memory, and calls of the functions of device_call.h. A device is
// a card (cuda/cuda_device.c), or the module compiled for the CPU (cuda/emulated_device.c).
#ifndef TENON_BATCH_DEVICE_H
#define TENON_BATCH_DEVICE_H

#include "cuda/device_call.h"

struct tn_batch_device {
  // A connection, or null with the reason in `why`.
  void *(*open)(char *why, size_t size);
  void (*close)(void *device);
  void *(*alloc)(void *device, size_t size); // null without memory
  void (*release)(void *device, void *memory);
  bool (*write)(void *device, void *to, const void *from, size_t size);
  bool (*read)(void *device, void *to, const void *from, size_t size);
  // Runs a function for worlds [0, count) and waits for it; `call` is the host's.
  bool (*run)(void *device, device_function function, const device_call *call, int count);
  // What has gone wrong since the connection was opened.
  const char *(*problem)(void *device);
};

#endif
