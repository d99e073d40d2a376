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
  device_call call; // addresses that stay
  uint8_t *mask;    // of the device
  void *rows;       // of the device, `rows_size` bytes
  size_t rows_size;
  void *staging; // of the host, for rows with gaps, `staging_size` bytes
  size_t staging_size;
};

// ---------------------------------------------------------------------------------------------
// Memory of a world

static size_t whole_pages(size_t size)
{
  return (size + PAGE - 1) / PAGE * PAGE;
}

// Makes a copy in an arena as the device does, steps it, and sees how much it takes; 0: too small.
static size_t measure_in(const tn_world *original, char *memory, size_t size)
{
  enum { STEPS = 60 };
  arena *a = (arena *)memory;
  batch_world w = {0};
  bool ok = room_make(&w, a, size, original);
  for (int i = 0; i < STEPS && ok; ++i) {
    ok = !(tn_world_step(w.world, 1.0f / 60.0f) & TN_STEP_OUT_OF_MEMORY);
  }
  return ok ? a->most : 0;
}

// With half as much again in reserve, for contacts that come later; 0 without memory.
static size_t measure_world(const tn_world *original)
{
  const size_t largest = (size_t)1 << 34;
  size_t need = 0;
  for (size_t size = (size_t)1 << 20; need == 0 && size <= largest; size *= 4) {
    char *memory = aligned_alloc(PAGE, size);
    if (!memory) {
      return 0;
    }
    need = measure_in(original, memory, size);
    free(memory);
  }
  return need + need / 2;
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

static void *alloc(device_batch *d, size_t size)
{
  return d->device->alloc(d->connection, size);
}

// Puts the snapshot of the original on the device, from which that makes it.
static const char *open_original(device_batch *d, const tn_world *original)
{
  size_t size = tn_world_save(original, NULL, 0);
  void *bytes = malloc(size);
  void *snapshot = alloc(d, size);
  uint32_t result = TN_STEP_REJECTED;
  bool ok = bytes && snapshot;
  if (ok) {
    tn_world_save(original, bytes, size);
    d->call.snapshot = snapshot;
    d->call.snapshot_size = size;
    ok = d->device->write(d->connection, snapshot, bytes, size) && run(d, DEVICE_OPEN, 1) &&
         read_results(d, &result, 1);
  }
  if (snapshot) {
    d->device->release(d->connection, snapshot);
  }
  free(bytes);
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

static const char *fill(device_batch *d, const tn_world *original, size_t world_bytes)
{
  size_t n = (size_t)d->count, own = world_bytes ? world_bytes : measure_world(original);
  d->call.world_size = whole_pages(own + DEVICE_HEAD);
  // The original, and what restoring its snapshot takes.
  size_t saved = tn_world_save(original, NULL, 0);
  d->call.shared_size = whole_pages(4 * saved + 4 * tn_world_counters(original).bytes + (1 << 20));
  d->call.worlds = own > 0 ? alloc(d, n * d->call.world_size) : NULL;
  d->call.shared = alloc(d, d->call.shared_size);
  d->call.results = alloc(d, n * sizeof *d->call.results);
  d->call.hashes = alloc(d, n * sizeof *d->call.hashes);
  d->mask = alloc(d, n);
  if (!d->call.worlds || !d->call.shared || !d->call.results || !d->call.hashes || !d->mask) {
    return "the device has not enough memory";
  }
  const char *why = open_original(d, original);
  return why ? why : make_worlds(d);
}

device_batch *device_batch_create(const tn_batch_device *device, const tn_world *original,
                                  int count, size_t world_bytes, char *why, size_t size)
{
  device_batch *d = calloc(1, sizeof *d);
  if (!d) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  d->device = device;
  d->count = count;
  d->connection = device->open(why, size);
  if (!d->connection) {
    free(d);
    return NULL;
  }
  const char *problem = fill(d, original, world_bytes);
  if (problem) {
    snprintf(why, size, "%s (%d worlds of %zu bytes)", problem, count, (size_t)d->call.world_size);
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
  void *const memory[] = {d->call.worlds, d->call.shared, d->call.results,
                          d->call.hashes, d->mask,        d->rows};
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

bool device_batch_step(device_batch *d, float dt, int repeat, uint32_t *results)
{
  d->call.dt = dt;
  d->call.repeat = repeat;
  return run(d, DEVICE_STEP, d->count) && read_results(d, results, d->count);
}

bool device_batch_hashes(device_batch *d, uint64_t *hashes)
{
  return run(d, DEVICE_HASH, d->count) &&
         d->device->read(d->connection, hashes, d->call.hashes, (size_t)d->count * sizeof *hashes);
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

bool device_batch_spread(device_batch *d, int from, uint32_t *results)
{
  d->call.from = from;
  if (!run_masked(d, DEVICE_SEND, NULL, results)) {
    return false;
  }
  return results[from] || run_masked(d, DEVICE_SPREAD, NULL, results);
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
