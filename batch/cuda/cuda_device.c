// A card of NVIDIA through its driver, which is loaded when the first batch asks for it. Declared
// here is what is used of the driver's interface; it needs no header of CUDA.
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/cuda.h>

// Ends with a zero; see CMakeLists.txt.
extern const char tenon_cuda_module[];

#define THREADS_PER_BLOCK 32
#define STACK_BYTES 131072 // of a thread
#define LIMIT_STACK_SIZE 0
#define INPUT_PTX 1
#define MAJOR_CAPABILITY 75
#define MINOR_CAPABILITY 76

typedef uint64_t address; // on the card

typedef struct driver {
  int (*init)(unsigned flags);
  int (*device_get)(int *device, int ordinal);
  int (*context_retain)(void **context, int device);
  int (*context_release)(int device);
  int (*set_current)(void *context);
  int (*set_limit)(int limit, size_t value);
  int (*synchronize)(void);
  int (*version)(int *version);
  int (*attribute)(int *value, int attribute, int device);
  int (*link_create)(unsigned count, int *options, void **values, void **link);
  int (*link_add)(void *link, int type, void *data, size_t size, const char *name, unsigned count,
                  int *options, void **values);
  int (*link_complete)(void *link, void **image, size_t *size);
  int (*link_destroy)(void *link);
  int (*load)(void **module, const void *image);
  int (*unload)(void *module);
  int (*get_function)(void **function, void *module, const char *name);
  int (*alloc)(address *memory, size_t size);
  int (*release)(address memory);
  int (*write)(address to, const void *from, size_t size);
  int (*read)(void *to, address from, size_t size);
  int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                void **parameters, void **extra);
  int (*error_string)(int error, const char **text);
} driver;

typedef struct connection {
  driver driver;
  void *library;
  int card;
  void *context, *module;
  void *functions[DEVICE_FUNCTION_COUNT];
  address call;
  char problem[256];
} connection;

// ---------------------------------------------------------------------------------------------
// Driver

static bool find_functions(connection *c)
{
  const struct {
    const char *name;
    void *at;
  } wanted[] = {
      {"cuInit", &c->driver.init},
      {"cuDeviceGet", &c->driver.device_get},
      {"cuDevicePrimaryCtxRetain", &c->driver.context_retain},
      {"cuDevicePrimaryCtxRelease_v2", &c->driver.context_release},
      {"cuCtxSetCurrent", &c->driver.set_current},
      {"cuCtxSetLimit", &c->driver.set_limit},
      {"cuCtxSynchronize", &c->driver.synchronize},
      {"cuDriverGetVersion", &c->driver.version},
      {"cuDeviceGetAttribute", &c->driver.attribute},
      {"cuLinkCreate_v2", &c->driver.link_create},
      {"cuLinkAddData_v2", &c->driver.link_add},
      {"cuLinkComplete", &c->driver.link_complete},
      {"cuLinkDestroy", &c->driver.link_destroy},
      {"cuModuleLoadData", &c->driver.load},
      {"cuModuleUnload", &c->driver.unload},
      {"cuModuleGetFunction", &c->driver.get_function},
      {"cuMemAlloc_v2", &c->driver.alloc},
      {"cuMemFree_v2", &c->driver.release},
      {"cuMemcpyHtoD_v2", &c->driver.write},
      {"cuMemcpyDtoH_v2", &c->driver.read},
      {"cuLaunchKernel", &c->driver.launch},
      {"cuGetErrorString", &c->driver.error_string},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void *symbol = dlsym(c->library, wanted[i].name);
    if (!symbol) {
      snprintf(c->problem, sizeof c->problem, "the driver of the card is too old: it has no %s",
               wanted[i].name);
      return false;
    }
    memcpy(wanted[i].at, &symbol, sizeof symbol);
  }
  return true;
}

// False, with the reason in `problem`, if `error` is one.
static bool is_well(connection *c, const char *action, int error)
{
  const char *text = NULL;
  if (error != 0) {
    c->driver.error_string(error, &text);
    snprintf(c->problem, sizeof c->problem, "the card cannot %s: %s", action,
             text ? text : "unknown error");
  }
  return error == 0;
}

// ---------------------------------------------------------------------------------------------
// Module

// A file; null if it cannot be read.
static char *read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) {
    return NULL;
  }
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *bytes = size > 0 ? malloc((size_t)size) : NULL;
  rewind(file);
  if (bytes && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

// Where the compiled module is kept: by its text, the card and the driver. False without a place.
static bool find_cache(connection *c, char *path, size_t size)
{
  const char *folder = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int major = 0, minor = 0, version = 0;
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (const char *at = tenon_cuda_module; *at; ++at) {
    hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
  }
  c->driver.attribute(&major, MAJOR_CAPABILITY, c->card);
  c->driver.attribute(&minor, MINOR_CAPABILITY, c->card);
  c->driver.version(&version);
  bool own = folder && *folder;
  if (!own && !(home && *home)) {
    return false;
  }
  int length = snprintf(path, size, "%s%s/tenon-%016llx-%d%d-%d", own ? folder : home,
                        own ? "" : "/.cache", (unsigned long long)hash, major, minor, version);
  return length > 0 && (size_t)length + sizeof ".new" < size;
}

// Written beside its place and moved there, so that no other program reads half of it.
static void keep_image(const char *path, const void *image, size_t size)
{
  char new_path[520];
  snprintf(new_path, sizeof new_path, "%s.new", path);
  FILE *file = fopen(new_path, "wb");
  if (!file) {
    return;
  }
  bool ok = fwrite(image, 1, size, file) == size;
  ok = fclose(file) == 0 && ok;
  if (!ok || rename(new_path, path) != 0) {
    remove(new_path);
  }
}

// Compiled as a part to be linked: the driver then takes each function once, and not again for each
// entry that reaches it.
static bool compile_module(connection *c, const char *cache)
{
  void *link = NULL, *image = NULL;
  size_t size = 0;
  bool ok = is_well(c, "link", c->driver.link_create(0, NULL, NULL, &link)) &&
            is_well(c, "compile the module",
                    c->driver.link_add(link, INPUT_PTX, (void *)tenon_cuda_module,
                                       strlen(tenon_cuda_module) + 1, "tenon", 0, NULL, NULL)) &&
            is_well(c, "link the module", c->driver.link_complete(link, &image, &size)) &&
            is_well(c, "load the module", c->driver.load(&c->module, image));
  if (ok && cache) {
    keep_image(cache, image, size);
  }
  if (link) {
    c->driver.link_destroy(link);
  }
  return ok;
}

static bool load_module(connection *c)
{
  const char *given = getenv("TENON_CUDA_MODULE");
  char cache[512];
  bool has_cache = find_cache(c, cache, sizeof cache);
  const char *path = given && *given ? given : has_cache ? cache : NULL;
  char *image = path ? read_file(path) : NULL;
  bool ok = image && is_well(c, "load the module", c->driver.load(&c->module, image));
  free(image);
  if (path == given && given && !ok) {
    snprintf(c->problem, sizeof c->problem, "the module %.200s cannot be loaded", path);
    return false;
  }
  return ok || compile_module(c, has_cache ? cache : NULL);
}

static bool find_kernels(connection *c)
{
  static const char *const names[DEVICE_FUNCTION_COUNT] = {
      "kernel_open",  "kernel_make",   "kernel_put",    "kernel_step", "kernel_hash", "kernel_keep",
      "kernel_reset", "kernel_states", "kernel_spread", "kernel_rows", "kernel_leave"};
  bool ok = true;
  for (int i = 0; i < DEVICE_FUNCTION_COUNT && ok; ++i) {
    ok = is_well(c, "find a function of the module",
                 c->driver.get_function(&c->functions[i], c->module, names[i]));
  }
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Connection

static void close_card(void *device)
{
  connection *c = device;
  if (c->context) {
    c->driver.set_current(c->context);
    if (c->call) {
      c->driver.release(c->call);
    }
    if (c->module) {
      c->driver.unload(c->module);
    }
    c->driver.context_release(c->card);
  }
  if (c->library) {
    dlclose(c->library);
  }
  free(c);
}

static bool connect_card(connection *c)
{
  c->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!c->library) {
    snprintf(c->problem, sizeof c->problem, "no card: the driver (libcuda.so.1) is not installed");
    return false;
  }
  return find_functions(c) && is_well(c, "start", c->driver.init(0)) &&
         is_well(c, "be found", c->driver.device_get(&c->card, 0)) &&
         is_well(c, "make a context", c->driver.context_retain(&c->context, c->card)) &&
         is_well(c, "take its context", c->driver.set_current(c->context)) &&
         is_well(c, "give threads their stacks",
                 c->driver.set_limit(LIMIT_STACK_SIZE, STACK_BYTES)) &&
         load_module(c) && find_kernels(c) &&
         is_well(c, "give memory", c->driver.alloc(&c->call, sizeof(device_call)));
}

static void *open_card(char *why, size_t size)
{
  connection *c = calloc(1, sizeof *c);
  if (!c) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  if (!connect_card(c)) {
    snprintf(why, size, "%s", c->problem);
    close_card(c);
    return NULL;
  }
  return c;
}

// ---------------------------------------------------------------------------------------------
// Memory and calls

static void *take(void *device, size_t size)
{
  connection *c = device;
  address memory = 0;
  c->driver.set_current(c->context);
  return is_well(c, "give memory", c->driver.alloc(&memory, size)) ? (void *)memory : NULL;
}

static void give_back(void *device, void *memory)
{
  connection *c = device;
  c->driver.set_current(c->context);
  c->driver.release((address)memory);
}

static bool write_card(void *device, void *to, const void *from, size_t size)
{
  connection *c = device;
  c->driver.set_current(c->context);
  return is_well(c, "be written to", c->driver.write((address)to, from, size));
}

static bool read_card(void *device, void *to, const void *from, size_t size)
{
  connection *c = device;
  c->driver.set_current(c->context);
  return is_well(c, "be read", c->driver.read(to, (address)from, size));
}

static bool run(void *device, device_function function, const device_call *call, int count)
{
  connection *c = device;
  int32_t threads = count;
  void *parameters[] = {&c->call, &threads};
  unsigned blocks = ((unsigned)count + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK;
  c->driver.set_current(c->context);
  return is_well(c, "be written to", c->driver.write(c->call, call, sizeof *call)) &&
         is_well(c, "start a call",
                 c->driver.launch(c->functions[function], blocks, 1, 1, THREADS_PER_BLOCK, 1, 1, 0,
                                  NULL, parameters, NULL)) &&
         is_well(c, "finish a call", c->driver.synchronize());
}

static const char *problem(void *device)
{
  const connection *c = device;
  return c->problem;
}

const tn_batch_device *tn_cuda(void)
{
  static const tn_batch_device device = {open_card,  close_card, take, give_back,
                                         write_card, read_card,  run,  problem};
  return &device;
}
