// Arrays in the memory of a card (CUDA), and their exchange with learners by DLPack.
//
// The arrays are in the primary context of the first card, which batches use too, so that addresses
// are valid for both. The driver is loaded when the first array is made. An array is counted: one
// user is the array of Python, another each tensor that a learner has taken of it.
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include "glue.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TENON_HAS_CARDS
#include <tenon/cuda.h>
#endif

// ---------------------------------------------------------------------------------------------
// Driver: what is used of libcuda

typedef uint64_t address; // on the card

struct tnp_card {
  atomic_int users;
  void *library;
  int (*init)(unsigned flags);
  int (*device_get)(int *device, int ordinal);
  int (*context_retain)(void **context, int device);
  int (*context_release)(int device);
  int (*set_current)(void *context);
  int (*alloc)(address *memory, size_t size);
  int (*release)(address memory);
  int (*write)(address to, const void *from, size_t size);
  int (*read)(void *to, address from, size_t size);
  int (*error_string)(int error, const char **text);
  int device;
  void *context; // null: not taken
  address memory;
  size_t size;
};

static bool find_functions(struct tnp_card *c, char *why, size_t size)
{
  const struct {
    const char *name;
    void *at;
  } wanted[] = {
      {"cuInit", &c->init},
      {"cuDeviceGet", &c->device_get},
      {"cuDevicePrimaryCtxRetain", &c->context_retain},
      {"cuDevicePrimaryCtxRelease_v2", &c->context_release},
      {"cuCtxSetCurrent", &c->set_current},
      {"cuMemAlloc_v2", &c->alloc},
      {"cuMemFree_v2", &c->release},
      {"cuMemcpyHtoD_v2", &c->write},
      {"cuMemcpyDtoH_v2", &c->read},
      {"cuGetErrorString", &c->error_string},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void *symbol = dlsym(c->library, wanted[i].name);
    if (!symbol) {
      snprintf(why, size, "the driver of the card is too old: it has no %s", wanted[i].name);
      return false;
    }
    memcpy(wanted[i].at, &symbol, sizeof symbol);
  }
  return true;
}

// False, with the reason in `why`, if `error` is one.
static bool is_well(const struct tnp_card *c, const char *action, int error, char *why, size_t size)
{
  const char *text = NULL;
  if (error != 0) {
    c->error_string(error, &text);
    snprintf(why, size, "the card cannot %s: %s", action, text ? text : "unknown error");
  }
  return error == 0;
}

static void close_card(struct tnp_card *c)
{
  if (c->context) {
    c->set_current(c->context);
    if (c->memory) {
      c->release(c->memory);
    }
    c->context_release(c->device);
  }
  if (c->library) {
    dlclose(c->library);
  }
  free(c);
}

static struct tnp_card *open_card(char *why, size_t size)
{
  struct tnp_card *c = calloc(1, sizeof *c);
  if (!c) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  atomic_init(&c->users, 1);
  c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!c->library) {
    snprintf(why, size, "no card: the driver (libcuda.so.1) is not installed");
  } else if (find_functions(c, why, size) && is_well(c, "start", c->init(0), why, size) &&
             is_well(c, "be found", c->device_get(&c->device, 0), why, size)) {
    return c;
  }
  close_card(c);
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Arrays

bool tnp_card_is_there(char *why, size_t size)
{
#ifdef TENON_HAS_CARDS
  struct tnp_card *c = open_card(why, size);
  if (c) {
    close_card(c);
  }
  return c != NULL;
#else
  snprintf(why, size, "this build of the package has no module for cards: see docs/python.md");
  return false;
#endif
}

const tn_batch_device *tnp_cuda(void)
{
#ifdef TENON_HAS_CARDS
  return tn_cuda();
#else
  return NULL;
#endif
}

struct tnp_card *tnp_card_new(size_t bytes, char *why, size_t size)
{
  struct tnp_card *c = open_card(why, size);
  if (!c) {
    return NULL;
  }
  if (is_well(c, "make a context", c->context_retain(&c->context, c->device), why, size) &&
      is_well(c, "take its context", c->set_current(c->context), why, size) &&
      is_well(c, "give memory", c->alloc(&c->memory, bytes > 0 ? bytes : 1), why, size)) {
    c->size = bytes;
    return c;
  }
  close_card(c);
  return NULL;
}

void tnp_card_drop(struct tnp_card *c)
{
  if (c && atomic_fetch_sub(&c->users, 1) == 1) {
    close_card(c);
  }
}

void *tnp_card_address(const struct tnp_card *c)
{
  return (void *)(uintptr_t)c->memory;
}

bool tnp_card_read(const struct tnp_card *c, void *to, char *why, size_t size)
{
  return is_well(c, "take its context", c->set_current(c->context), why, size) &&
         is_well(c, "be read", c->read(to, c->memory, c->size), why, size);
}

bool tnp_card_write(const struct tnp_card *c, const void *from, char *why, size_t size)
{
  return is_well(c, "take its context", c->set_current(c->context), why, size) &&
         is_well(c, "be written to", c->write(c->memory, from, c->size), why, size);
}

// ---------------------------------------------------------------------------------------------
// DLPack: DLManagedTensor of its specification, version 0

#define MAX_DIMENSIONS 3
#define DEVICE_CUDA 2
#define KIND_FLOAT 2

typedef struct managed_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t dimensions;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; // null strides: without gaps
  uint64_t byte_offset;
  void *context;
  void (*deleter)(struct managed_tensor *self);
} managed_tensor;

typedef struct tensor {
  managed_tensor managed; // first: a tensor is freed by its address
  int64_t shape[MAX_DIMENSIONS];
} tensor;

static void delete_tensor(managed_tensor *self)
{
  tnp_card_drop(self->context);
  free(self);
}

void *tnp_card_tensor(struct tnp_card *c, int bits, const int64_t *shape, int dimensions)
{
  tensor *t = dimensions <= MAX_DIMENSIONS ? calloc(1, sizeof *t) : NULL;
  if (!t) {
    return NULL;
  }
  for (int i = 0; i < dimensions; ++i) {
    t->shape[i] = shape[i];
  }
  t->managed = (managed_tensor){.data = tnp_card_address(c),
                                .device_type = DEVICE_CUDA,
                                .dimensions = dimensions,
                                .code = KIND_FLOAT,
                                .bits = (uint8_t)bits,
                                .lanes = 1,
                                .shape = t->shape,
                                .context = c,
                                .deleter = delete_tensor};
  atomic_fetch_add(&c->users, 1);
  return t;
}

void tnp_card_end_capsule(void *capsule)
{
  PyObject *object = capsule;
  if (PyCapsule_IsValid(object, "dltensor")) { // else a learner has taken it and its name
    managed_tensor *t = PyCapsule_GetPointer(object, "dltensor");
    t->deleter(t);
  }
}
