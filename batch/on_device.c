// Worlds of a batch that are on a device, and those that leave it: one that outgrows its memory
// there goes on on the CPU, with the same bits.
#include "batch_data.h"

#include <stdlib.h>
#include <string.h>

static bool device_failed(tn_batch *b, const char *caller)
{
  for (int i = 0; i < b->count; ++i) {
    b->status[i] = TN_STEP_REJECTED;
  }
  return batch_refuse(b, "%s: %s", caller, device_batch_problem(b->device));
}

static bool no_results(const tn_batch *b)
{
  bool none = true;
  for (int i = 0; i < b->count && none; ++i) {
    none = b->results[i] == 0;
  }
  return none;
}

// ---------------------------------------------------------------------------------------------
// Steps

static bool leave_device(tn_batch *b, int index)
{
  size_t sizes[2];
  char *bytes = device_batch_leave(b->device, index, sizes);
  batch_world *w = &b->worlds[index];
  bool ok = bytes && batch_make_of(b, index, bytes, sizes[0]);
  if (ok) {
    batch_free_state(&w->start, w->memory);
    w->start.bytes = w->memory.alloc(sizes[1] + 1, 64, w->memory.context);
    w->start.size = sizes[1];
    w->start.capacity = sizes[1] + 1;
    ok = w->start.bytes != NULL;
  }
  if (ok) {
    memcpy(w->start.bytes, bytes + sizes[0], sizes[1]);
    b->left += 1;
  }
  free(bytes);
  return ok;
}

bool batch_device_step(tn_batch *b, float dt, int repeat)
{
  if (!device_batch_step(b->device, dt, repeat, b->status, b->made)) {
    return device_failed(b, "tn_batch_step");
  }
  int before = b->left;
  bool all_left = true;
  for (int i = 0; i < b->count; ++i) {
    if (b->status[i] & DEVICE_OVERFLOWED) {
      bool left = leave_device(b, i);
      b->status[i] &= ~DEVICE_OVERFLOWED;
      b->status[i] |= left ? 0 : TN_STEP_OUT_OF_MEMORY;
      all_left = all_left && left;
    }
  }
  if (b->left > before) {
    if (all_left && !device_batch_empty_pool(b->device)) {
      return device_failed(b, "tn_batch_step");
    }
    batch_warn(b,
               "tn_batch_step: %d worlds have outgrown their memory on the device (%zu bytes) and "
               "go on on the CPU",
               b->left - before, device_batch_world_bytes(b->device));
  }
  return true;
}

bool batch_device_hashes(tn_batch *b, uint64_t *hashes)
{
  return device_batch_hashes(b->device, hashes) || device_failed(b, "tn_batch_hashes");
}

// ---------------------------------------------------------------------------------------------
// States

bool batch_device_keep(tn_batch *b, const uint8_t *mask)
{
  bool ran = device_batch_keep(b->device, mask, b->results);
  return ran ? no_results(b) : device_failed(b, "tn_batch_keep");
}

bool batch_device_reset(tn_batch *b, const uint8_t *mask)
{
  bool ran = device_batch_reset(b->device, mask, b->results);
  return ran ? no_results(b) : device_failed(b, "tn_batch_reset");
}

bool batch_device_spread(tn_batch *b, int from, batch_state *state)
{
  uint64_t size = 0;
  size_t stride;
  if (b->worlds[from].world) {
    if (!batch_save(&b->worlds[from], state)) {
      return false;
    }
  } else {
    state->bytes = device_batch_states(b->device, from, 1, &size, &stride);
    state->size = size;
  }
  bool ran = state->bytes && device_batch_spread(b->device, state->bytes, state->size, b->results);
  return ran ? no_results(b) : device_failed(b, "tn_batch_spread");
}

// ---------------------------------------------------------------------------------------------
// Rows

bool batch_device_rows(tn_batch *b, const batch_rows *rows, const uint8_t *mask)
{
  if (!device_batch_rows(b->device, rows, mask, b->results)) {
    return device_failed(b, rows->writes ? "tn_batch_write" : "tn_batch_read");
  }
  for (int i = 0; i < b->count && rows->writes; ++i) {
    if (!mask || mask[i]) {
      b->status[i] = b->results[i];
    }
  }
  return no_results(b);
}

// The bytes between the rows are the caller's: they are fetched first and written back as they are.
bool batch_code_left(tn_batch *b, const batch_rows *rows, int index)
{
  size_t number = rows->rows.type == TN_FLOAT ? sizeof(float) : sizeof(double);
  size_t size = (size_t)(rows->items - 1) * rows->rows.item_stride + (size_t)rows->numbers * number;
  char *there = (char *)rows->rows.data + (size_t)index * rows->rows.world_stride;
  void *here = malloc(size);
  batch_rows copy = *rows;
  copy.rows.data = here;
  copy.rows.world_stride = 0;
  bool ok = here && device_batch_copy(b->device, there, here, size, false) &&
            batch_code_world(&copy, &b->worlds[index]) &&
            (rows->writes || device_batch_copy(b->device, there, here, size, true));
  free(here);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Worlds of the caller

typedef struct exchange {
  tn_batch *batch;
  int first;
  tn_world *const *worlds; // of the caller
  char *states;            // of worlds on a device, `stride` bytes apart
  size_t stride;
  const uint64_t *sizes;
  bool *ok; // of each world
} exchange;

static void put_world(int index, void *context)
{
  exchange *e = context;
  size_t size = tn_world_save(e->worlds[index], NULL, 0);
  void *bytes = malloc(size);
  if (bytes) {
    tn_world_save(e->worlds[index], bytes, size);
    e->ok[index] = batch_make_of(e->batch, e->first + index, bytes, size);
  }
  free(bytes);
}

static void take_world(int index, void *context)
{
  exchange *e = context;
  const batch_world *w = &e->batch->worlds[e->first + index];
  if (!w->world) {
    e->ok[index] = tn_world_restore_state(e->worlds[index], e->states + (size_t)index * e->stride,
                                          e->sizes[index]);
    return;
  }
  batch_state s = {0};
  e->ok[index] = batch_save(w, &s) && tn_world_restore_state(e->worlds[index], s.bytes, s.size);
  batch_free_state(&s, w->memory);
}

static bool run_exchange(exchange *e, int count, void (*task)(int index, void *context))
{
  e->ok = calloc((size_t)count, sizeof *e->ok);
  bool ok = e->ok != NULL;
  if (ok) {
    workers_run(e->batch->workers, count, task, e);
  }
  for (int i = 0; i < count && ok; ++i) {
    ok = e->ok[i];
  }
  free(e->ok);
  return ok;
}

static bool is_range(tn_batch *b, int first, int count, tn_world *const *worlds, const char *caller)
{
  bool ok = b && worlds && first >= 0 && count >= 1 && first <= b->count - count;
  for (int i = 0; i < count && ok; ++i) {
    ok = worlds[i] != NULL;
  }
  return ok || (b && batch_refuse(b, "%s: there are no such worlds", caller));
}

// Worlds that do not fit into their memory on the device are made on the CPU.
static bool put_on_device(tn_batch *b, int first, int count, tn_world *const *worlds)
{
  if (!device_batch_put(b->device, first, count, worlds, b->results)) {
    return device_failed(b, "tn_batch_put");
  }
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    batch_world *w = &b->worlds[first + i];
    b->left -= w->world != NULL;
    tn_world_destroy(w->world);
    w->world = NULL;
    if (b->results[i]) {
      exchange e = {.batch = b, .first = first + i, .worlds = worlds + i};
      ok = run_exchange(&e, 1, put_world) && ok;
      b->left += w->world != NULL;
    }
  }
  return ok;
}

bool tn_batch_put(tn_batch *b, int first, int count, tn_world *const *worlds)
{
  if (!is_range(b, first, count, worlds, "tn_batch_put")) {
    return false;
  }
  if (!b->device) {
    exchange e = {.batch = b, .first = first, .worlds = worlds};
    return run_exchange(&e, count, put_world);
  }
  bool ok = true;
  for (int i = 0; i < count; i += DEVICE_MOST_PUT) {
    int part = count - i < DEVICE_MOST_PUT ? count - i : DEVICE_MOST_PUT;
    ok = put_on_device(b, first + i, part, worlds + i) && ok;
  }
  return ok;
}

bool tn_batch_take(tn_batch *b, int first, int count, tn_world *const *worlds)
{
  if (!is_range(b, first, count, worlds, "tn_batch_take")) {
    return false;
  }
  exchange e = {.batch = b, .first = first, .worlds = worlds};
  uint64_t *sizes = calloc((size_t)count, sizeof *sizes);
  e.sizes = sizes;
  if (sizes && b->device) {
    e.states = device_batch_states(b->device, first, count, sizes, &e.stride);
  }
  bool ok = sizes && (!b->device || e.states);
  ok = ok ? run_exchange(&e, count, take_world) : b->device && device_failed(b, "tn_batch_take");
  free(sizes);
  free(e.states);
  return ok;
}
