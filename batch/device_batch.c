// The worlds of a batch on a device: its memory, and one call of the device for each call of the
// batch. States and settings never leave it; rows, results and hashes are copied.
#include "device_batch.h"

#include "cuda/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

struct device_batch {
  const tn_batch_device *device;
  void *connection;
  int count;
  device_call call;             // addresses that stay
  uint8_t *mask;                // of the device
  void *rows;                   // of the device, `rows_size` bytes
  size_t rows_size, bytes_size; // `bytes_size`: of call.bytes
  void *pool_bytes;             // of the device
  void *staging;                // of the host, for rows with gaps, `staging_size` bytes
  size_t staging_size;
};

// ---------------------------------------------------------------------------------------------
// Memory of a world

typedef struct measured {
  const tn_world *original;
  const void *snapshot; // null: the worlds are copies
  size_t snapshot_size;
} measured;

static void *alloc(device_batch *d, size_t size)
{
  return d->device->alloc(d->connection, size);
}

static size_t whole_pages(size_t size)
{
  return (size + PAGE - 1) / PAGE * PAGE;
}

// Makes a world in an arena as the device does, steps it, and sees how much it takes; 0: too small.
static size_t measure_in(const measured *m, char *memory, size_t size)
{
  enum { STEPS = 60 };
  arena *a = (arena *)memory;
  batch_world w = {0};
  bool ok = m->snapshot ? room_put(&w, a, size, NULL, m->snapshot, m->snapshot_size)
                        : room_make(&w, a, size, NULL, m->original);
  for (int i = 0; i < STEPS && ok; ++i) {
    ok = !(tn_world_step(w.world, 1.0f / 60.0f) & TN_STEP_OUT_OF_MEMORY);
  }
  return ok ? a->most : 0;
}

// 0 without memory.
static size_t measure_world(const measured *m)
{
  const size_t largest = (size_t)1 << 34;
  size_t need = 0;
  for (size_t size = (size_t)1 << 20; need == 0 && size <= largest; size *= 4) {
    char *memory = aligned_alloc(PAGE, size);
    if (!memory) {
      return 0;
    }
    need = measure_in(m, memory, size);
    free(memory);
  }
  return need;
}

// Takes memory for worlds that overflow, one in POOL_SHARE at a time.
static bool take_pool(device_batch *d)
{
  enum { POOL_SHARE = 16, FEWEST = 4 };
  size_t worlds = (size_t)d->count / POOL_SHARE + FEWEST;
  arena_pool pool = {.size = worlds * d->call.world_size};
  pool.bytes = alloc(d, pool.size);
  d->pool_bytes = pool.bytes;
  d->call.pool = alloc(d, sizeof pool);
  return pool.bytes && d->call.pool &&
         d->device->write(d->connection, d->call.pool, &pool, sizeof pool);
}

bool device_batch_empty_pool(device_batch *d)
{
  const uint64_t none = 0;
  return d->device->write(d->connection, &d->call.pool->used, &none, sizeof none);
}

// Takes the memory of the worlds: of a measured one three times what it needs, for contacts that
// come later, or less where the device has not as much.
static bool take_worlds(device_batch *d, size_t given, size_t measured_size)
{
  const size_t halves[] = {6, 4, 3};
  size_t tries = given ? 1 : sizeof halves / sizeof *halves;
  for (size_t i = 0; i < tries && !d->call.worlds; ++i) {
    size_t own = given ? given : measured_size * halves[i] / 2;
    d->call.world_size = whole_pages(own + DEVICE_HEAD);
    d->call.worlds = own > 0 ? alloc(d, (size_t)d->count * d->call.world_size) : NULL;
  }
  return d->call.worlds != NULL;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

static bool run(device_batch *d, device_function function, int count)
{
  return d->device->run(d->connection, function, &d->call, count);
}

static bool read_results(device_batch *d, uint32_t *results, int count)
{
  return d->device->read(d->connection, results, d->call.results, (size_t)count * sizeof *results);
}

// Memory of the device for snapshots and states, at least `size` bytes.
static bool reserve_bytes(device_batch *d, size_t size)
{
  if (size > d->bytes_size) {
    if (d->call.bytes) {
      d->device->release(d->connection, d->call.bytes);
    }
    d->call.bytes = alloc(d, size);
    d->bytes_size = d->call.bytes ? size : 0;
  }
  return d->bytes_size >= size;
}

// Makes the original on the device, of its snapshot.
static const char *open_original(device_batch *d, const void *snapshot, size_t size)
{
  uint32_t result = TN_STEP_REJECTED;
  d->call.size = size;
  bool ok = reserve_bytes(d, size) &&
            d->device->write(d->connection, d->call.bytes, snapshot, size) &&
            run(d, DEVICE_OPEN, 1) && read_results(d, &result, 1);
  if (!ok) {
    return d->device->problem(d->connection);
  }
  return result ? "the device could not make the original" : NULL;
}

static const char *make_worlds(device_batch *d)
{
  uint32_t *results = calloc((size_t)d->count, sizeof *results);
  const char *why = results ? NULL : "out of memory";
  if (!why && !(run(d, DEVICE_MAKE, d->count) && read_results(d, results, d->count))) {
    why = d->device->problem(d->connection);
  }
  for (int i = 0; i < d->count && !why; ++i) {
    why = results[i] ? "the memory of a world is too small for it: see world_bytes" : NULL;
  }
  free(results);
  return why;
}

static const char *fill(device_batch *d, const tn_batch_def *def, const tn_world *original)
{
  size_t n = (size_t)d->count, size = tn_world_save(original, NULL, 0);
  void *snapshot = malloc(size);
  if (!snapshot) {
    return "out of memory";
  }
  tn_world_save(original, snapshot, size);
  const measured world = {original, def->own_geometries ? snapshot : NULL, size};
  bool has_worlds = take_worlds(d, def->world_bytes, def->world_bytes ? 0 : measure_world(&world));
  // The original, and what restoring its snapshot takes.
  d->call.shared_size = whole_pages(4 * size + 4 * tn_world_counters(original).bytes + (1 << 20));
  d->call.shared = alloc(d, d->call.shared_size);
  d->call.results = alloc(d, n * sizeof *d->call.results);
  d->call.numbers = alloc(d, (n + 1) * sizeof *d->call.numbers);
  d->mask = alloc(d, n);
  bool ok =
      has_worlds && take_pool(d) && d->call.shared && d->call.results && d->call.numbers && d->mask;
  const char *why = ok ? open_original(d, snapshot, size) : "the device has not enough memory";
  free(snapshot);
  return why ? why : make_worlds(d);
}

device_batch *device_batch_create(const tn_batch_def *def, const tn_world *original, char *why,
                                  size_t size)
{
  device_batch *d = calloc(1, sizeof *d);
  if (!d) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  d->device = def->device;
  d->count = def->count;
  d->connection = d->device->open(why, size);
  if (!d->connection) {
    free(d);
    return NULL;
  }
  const char *problem = fill(d, def, original);
  if (problem) {
    snprintf(why, size, "%s (%d worlds of %zu bytes)", problem, d->count,
             (size_t)d->call.world_size);
    device_batch_destroy(d);
    return NULL;
  }
  return d;
}

void device_batch_destroy(device_batch *d)
{
  if (!d) {
    return;
  }
  void *const memory[] = {d->call.worlds,  d->call.shared, d->call.results,
                          d->call.numbers, d->call.bytes,  d->call.pool,
                          d->pool_bytes,   d->mask,        d->rows};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) {
    if (memory[i]) {
      d->device->release(d->connection, memory[i]);
    }
  }
  d->device->close(d->connection);
  free(d->staging);
  free(d);
}

size_t device_batch_world_bytes(const device_batch *d)
{
  return d->call.world_size;
}

const char *device_batch_problem(const device_batch *d)
{
  return d->device->problem(d->connection);
}

// ---------------------------------------------------------------------------------------------
// Calls on all worlds

static bool read_numbers(device_batch *d, uint64_t *numbers, int count)
{
  return d->device->read(d->connection, numbers, d->call.numbers, (size_t)count * sizeof *numbers);
}

bool device_batch_step(device_batch *d, float dt, int repeat, uint32_t *results, uint64_t *made)
{
  d->call.dt = dt;
  d->call.repeat = repeat;
  return run(d, DEVICE_STEP, d->count) && read_results(d, results, d->count) &&
         read_numbers(d, made, d->count);
}

bool device_batch_hashes(device_batch *d, uint64_t *hashes)
{
  return run(d, DEVICE_HASH, d->count) && read_numbers(d, hashes, d->count);
}

static bool run_masked(device_batch *d, device_function function, const uint8_t *mask,
                       uint32_t *results)
{
  d->call.mask = mask ? d->mask : NULL;
  return (!mask || d->device->write(d->connection, d->mask, mask, (size_t)d->count)) &&
         run(d, function, d->count) && read_results(d, results, d->count);
}

bool device_batch_keep(device_batch *d, const uint8_t *mask, uint32_t *results)
{
  return run_masked(d, DEVICE_KEEP, mask, results);
}

bool device_batch_reset(device_batch *d, const uint8_t *mask, uint32_t *results)
{
  return run_masked(d, DEVICE_RESET, mask, results);
}

// ---------------------------------------------------------------------------------------------
// States and whole worlds

// Repeats a function with more memory until what it writes fits; `numbers` gets the sizes.
static bool run_into_bytes(device_batch *d, device_function function, int count, int parts,
                           uint64_t *numbers)
{
  enum { FIRST_SIZE = 1 << 14 };
  size_t wanted = d->bytes_size / (size_t)count > FIRST_SIZE ? d->bytes_size / (size_t)count
                                                             : (size_t)FIRST_SIZE;
  for (;;) {
    if (!reserve_bytes(d, wanted * (size_t)count)) {
      return false;
    }
    d->call.size = wanted / 64 * 64;
    if (!run(d, function, count) || !read_numbers(d, numbers, parts)) {
      return false;
    }
    uint64_t most = 0;
    for (int i = 0; i < parts; ++i) {
      most = function == DEVICE_LEAVE ? most + numbers[i] : numbers[i] > most ? numbers[i] : most;
    }
    if (most <= d->call.size) {
      return true;
    }
    wanted = most + most / 4 + 64;
  }
}

char *device_batch_states(device_batch *d, int first, int count, uint64_t *sizes, size_t *stride)
{
  d->call.first = first;
  bool ok = run_into_bytes(d, DEVICE_STATES, count, count, sizes);
  *stride = d->call.size;
  char *bytes = ok ? malloc((size_t)count * *stride) : NULL;
  if (bytes && d->device->read(d->connection, bytes, d->call.bytes, (size_t)count * *stride)) {
    return bytes;
  }
  free(bytes);
  return NULL;
}

bool device_batch_spread(device_batch *d, const void *state, size_t size, uint32_t *results)
{
  d->call.size = size;
  return reserve_bytes(d, size) && d->device->write(d->connection, d->call.bytes, state, size) &&
         run_masked(d, DEVICE_SPREAD, NULL, results);
}

char *device_batch_leave(device_batch *d, int index, size_t sizes[2])
{
  uint64_t numbers[2];
  d->call.first = index;
  bool ok = run_into_bytes(d, DEVICE_LEAVE, 1, 2, numbers);
  char *bytes = ok ? malloc(numbers[0] + numbers[1]) : NULL;
  if (!bytes || !d->device->read(d->connection, bytes, d->call.bytes, numbers[0] + numbers[1])) {
    free(bytes);
    return NULL;
  }
  sizes[0] = numbers[0], sizes[1] = numbers[1];
  return bytes;
}

// Snapshots of worlds one after the other; `at` gets their places and the end.
static char *pack_snapshots(tn_world *const *worlds, int count, uint64_t *at)
{
  at[0] = 0;
  for (int i = 0; i < count; ++i) {
    at[i + 1] = (at[i] + tn_world_save(worlds[i], NULL, 0) + 63) / 64 * 64;
  }
  char *bytes = malloc(at[count]);
  for (int i = 0; i < count && bytes; ++i) {
    tn_world_save(worlds[i], bytes + at[i], at[i + 1] - at[i]);
  }
  return bytes;
}

bool device_batch_put(device_batch *d, int first, int count, tn_world *const *worlds,
                      uint32_t *results)
{
  uint64_t *at = malloc(((size_t)count + 1) * sizeof *at);
  char *bytes = at ? pack_snapshots(worlds, count, at) : NULL;
  d->call.first = first;
  bool ok =
      bytes && reserve_bytes(d, at[count]) &&
      d->device->write(d->connection, d->call.bytes, bytes, at[count]) &&
      d->device->write(d->connection, d->call.numbers, at, ((size_t)count + 1) * sizeof *at) &&
      run(d, DEVICE_PUT, count) && read_results(d, results, count);
  free(at);
  free(bytes);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Rows

static size_t row_size(const batch_rows *r)
{
  return (size_t)r->numbers * (r->rows.type == TN_FLOAT ? sizeof(float) : sizeof(double));
}

// Copies the rows of worlds in the mask between the caller's array and one without gaps.
static void copy_rows(const batch_rows *r, const uint8_t *mask, int count, char *tight, bool out)
{
  size_t row = row_size(r), at = 0;
  for (int w = 0; w < count; ++w) {
    char *world = (char *)r->rows.data + (size_t)w * r->rows.world_stride;
    for (int i = 0; i < r->items; ++i, at += row) {
      char *item = world + (size_t)i * r->rows.item_stride;
      if (mask && !mask[w]) {
        continue;
      }
      memcpy(out ? item : tight + at, out ? tight + at : item, row);
    }
  }
}

static bool reserve_rows(device_batch *d, size_t size)
{
  if (size > d->staging_size) {
    free(d->staging);
    d->staging = malloc(size);
    d->staging_size = d->staging ? size : 0;
  }
  if (size > d->rows_size) {
    if (d->rows) {
      d->device->release(d->connection, d->rows);
    }
    d->rows = alloc(d, size);
    d->rows_size = d->rows ? size : 0;
  }
  return d->staging_size >= size && d->rows_size >= size;
}

bool device_batch_copy(device_batch *d, void *of_device, void *of_host, size_t size, bool to_device)
{
  return to_device ? d->device->write(d->connection, of_device, of_host, size)
                   : d->device->read(d->connection, of_host, of_device, size);
}

// Rows of the host go through memory of the device; those of the device are coded where they are.
bool device_batch_rows(device_batch *d, const batch_rows *rows, const uint8_t *mask,
                       uint32_t *results)
{
  if (rows->rows.on_device) {
    d->call.rows = *rows;
    return run_masked(d, DEVICE_ROWS, mask, results);
  }
  size_t row = row_size(rows), world = row * (size_t)rows->items;
  size_t size = world * (size_t)d->count;
  if (!reserve_rows(d, size)) {
    return false;
  }
  if (rows->writes) {
    copy_rows(rows, mask, d->count, d->staging, false);
    if (!d->device->write(d->connection, d->rows, d->staging, size)) {
      return false;
    }
  }
  d->call.rows = *rows;
  d->call.rows.rows.data = d->rows;
  d->call.rows.rows.item_stride = row;
  d->call.rows.rows.world_stride = world;
  bool ok = run_masked(d, DEVICE_ROWS, mask, results);
  if (ok && !rows->writes) {
    ok = d->device->read(d->connection, d->staging, d->rows, size);
    if (ok) {
      copy_rows(rows, mask, d->count, d->staging, true);
    }
  }
  return ok;
}
