// A driver of cards for tests: what cuda_device.c asks of libcuda, with the module of the card
// compiled for this CPU. The environment variable FAKE_CUDA chooses what goes wrong; without it
// nothing does. Compiled with FAKE_CUDA_OLD it lacks a function, as old drivers do.
#include "device_call.h"

#include <stdlib.h>
#include <string.h>

#define CALL __attribute__((visibility("default")))

enum { FINE = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 100, NO_FUNCTION = 500, FAILED = 719 };

typedef void device_fn(const device_call *call, int index);

static const struct {
  const char *name;
  device_fn *function;
} kernels[] = {
    {"kernel_open", device_open},     {"kernel_make", device_make},
    {"kernel_put", device_put},       {"kernel_step", device_step},
    {"kernel_hash", device_hash},     {"kernel_keep", device_keep},
    {"kernel_reset", device_reset},   {"kernel_states", device_states},
    {"kernel_spread", device_spread}, {"kernel_rows", device_rows},
    {"kernel_leave", device_leave},
};

// Memory that is taken has its size before it.
typedef struct block {
  size_t size, rest[7];
} block;

static size_t in_use;
static int compilations, contexts;
static char image[16] = "image of fake";

static bool fails(const char *how)
{
  const char *chosen = getenv("FAKE_CUDA");
  return chosen && strcmp(chosen, how) == 0;
}

// For the test: what has happened so far.
CALL int fake_compilations(void);
CALL int fake_contexts(void);
CALL size_t fake_bytes(void);

int fake_compilations(void)
{
  return compilations;
}

int fake_contexts(void)
{
  return contexts;
}

size_t fake_bytes(void)
{
  return in_use;
}

// ---------------------------------------------------------------------------------------------
// Driver

CALL int cuInit(unsigned flags);
CALL int cuDeviceGet(int *device, int ordinal);
CALL int cuDevicePrimaryCtxRetain(void **context, int device);
CALL int cuDevicePrimaryCtxRelease_v2(int device);
CALL int cuCtxSetCurrent(void *context);
CALL int cuCtxSetLimit(int limit, size_t value);
CALL int cuCtxSynchronize(void);
CALL int cuDriverGetVersion(int *version);
CALL int cuDeviceGetAttribute(int *value, int attribute, int device);
CALL int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link);
CALL int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name,
                          unsigned count, int *options, void **values);
CALL int cuLinkComplete(void *link, void **made, size_t *size);
CALL int cuLinkDestroy(void *link);
CALL int cuModuleLoadData(void **module, const void *from);
CALL int cuModuleUnload(void *module);
CALL int cuModuleGetFunction(void **function, void *module, const char *name);
CALL int cuMemAlloc_v2(uint64_t *memory, size_t size);
CALL int cuMemFree_v2(uint64_t memory);
CALL int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
CALL int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
CALL int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        void *stream, void **parameters, void **extra);
CALL int cuGetErrorString(int error, const char **text);

int cuInit(unsigned flags)
{
  (void)flags;
  return fails("no card") ? NO_DEVICE : FINE;
}

int cuDeviceGet(int *device, int ordinal)
{
  *device = ordinal;
  return FINE;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
  (void)device;
  *context = &contexts;
  contexts += 1;
  return FINE;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
  (void)device;
  contexts -= 1;
  return FINE;
}

int cuCtxSetCurrent(void *context)
{
  return context == &contexts ? FINE : INVALID;
}

int cuCtxSetLimit(int limit, size_t value)
{
  (void)limit, (void)value;
  return FINE;
}

int cuCtxSynchronize(void)
{
  return fails("killed") ? FAILED : FINE;
}

int cuDriverGetVersion(int *version)
{
  *version = 12000;
  return FINE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return FINE;
}

#ifndef FAKE_CUDA_OLD
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **link)
{
  (void)count, (void)options, (void)values;
  *link = &compilations;
  return FINE;
}
#endif

int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name,
                     unsigned count, int *options, void **values)
{
  (void)link, (void)type, (void)name, (void)count, (void)options, (void)values;
  compilations += 1;
  // The text of a module, which ends with a zero.
  return size > 1000 && strlen(data) + 1 == size && strstr(data, "kernel_step") ? FINE : INVALID;
}

int cuLinkComplete(void *link, void **made, size_t *size)
{
  (void)link;
  *made = image;
  *size = sizeof image;
  return FINE;
}

int cuLinkDestroy(void *link)
{
  (void)link;
  return FINE;
}

int cuModuleLoadData(void **module, const void *from)
{
  *module = image;
  return memcmp(from, image, sizeof image) == 0 ? FINE : INVALID;
}

int cuModuleUnload(void *module)
{
  (void)module;
  return FINE;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
  (void)module;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    if (strcmp(name, kernels[i].name) == 0) {
      *function = (void *)(uintptr_t)&kernels[i];
      return FINE;
    }
  }
  return NO_FUNCTION;
}

int cuMemAlloc_v2(uint64_t *memory, size_t size)
{
  size_t whole = (size + 63) / 64 * 64;
  block *made =
      fails("no memory") && size > 100000 ? NULL : aligned_alloc(64, sizeof *made + whole);
  if (!made) {
    return NO_MEMORY;
  }
  memset(made, 0xa5, sizeof *made + whole); // garbage, as a card's memory is
  made->size = size;
  in_use += size;
  *memory = (uintptr_t)(made + 1);
  return FINE;
}

int cuMemFree_v2(uint64_t memory)
{
  block *made = (block *)(uintptr_t)memory - 1;
  in_use -= made->size;
  free(made);
  return FINE;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
  memcpy((void *)(uintptr_t)to, from, size);
  return FINE;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
  memcpy(to, (const void *)(uintptr_t)from, size);
  return fails("killed") ? FAILED : FINE;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra)
{
  (void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)shared, (void)stream, (void)extra;
  uint64_t call = *(const uint64_t *)parameters[0];
  int32_t count = *(const int32_t *)parameters[1];
  device_fn *run = kernels[((uintptr_t)function - (uintptr_t)kernels) / sizeof *kernels].function;
  for (unsigned i = 0; i < grid_x * block_x && (int32_t)i < count; ++i) {
    run((const device_call *)(uintptr_t)call, (int)i);
  }
  return FINE;
}

int cuGetErrorString(int error, const char **text)
{
  *text = error == NO_DEVICE   ? "no CUDA-capable device is detected"
          : error == NO_MEMORY ? "out of memory"
          : error == FAILED    ? "unspecified launch failure"
                               : "invalid argument";
  return FINE;
}
