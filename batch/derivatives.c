// Reduced coordinates of all worlds, and derivatives of steps by central differences.
//
// Each difference takes two runs from the same saved state; runs are dealt out to the worlds. A run
// starts by restoring that state, so that it has the same bits in every world.
#include "batch_data.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void forget_articulations(tn_batch *b)
{
  for (int i = 0; i < b->count; ++i) {
    tn_articulation_destroy(b->worlds[i].articulation);
    b->worlds[i].articulation = NULL;
  }
}

static bool articulate_world(batch_world *w, const tn_articulation_def *def, tn_body_id *roots,
                             tn_joint_id *cuts)
{
  tn_articulation_def own = *def;
  for (int i = 0; i < def->root_count; ++i) {
    roots[i] = def->roots[i];
    roots[i].world = w->key;
  }
  for (int i = 0; i < def->cut_count; ++i) {
    cuts[i] = def->cuts[i];
    cuts[i].world = w->key;
  }
  own.roots = roots;
  own.cuts = cuts;
  w->articulation = tn_articulation_create(w->world, &own);
  return w->articulation != NULL;
}

bool tn_batch_articulate(tn_batch *b, const tn_articulation_def *def)
{
  if (!b || !def || !def->roots || def->root_count < 1 || def->cut_count < 0) {
    return b && batch_refuse(b, "tn_batch_articulate: the definition has no roots");
  }
  if (b->device) {
    return batch_refuse(b, "tn_batch_articulate: the worlds are on a device");
  }
  forget_articulations(b);
  tn_body_id *roots = malloc((size_t)def->root_count * sizeof *roots);
  tn_joint_id *cuts = malloc(((size_t)def->cut_count + 1) * sizeof *cuts);
  bool ok = roots && cuts;
  for (int i = 0; i < b->count && ok; ++i) {
    ok = articulate_world(&b->worlds[i], def, roots, cuts);
  }
  if (!ok) {
    forget_articulations(b);
  }
  free(roots);
  free(cuts);
  return ok;
}

typedef struct derivative_task {
  tn_batch *batch;
  batch_state start;
  int n, runs; // coordinates; 2 for each of the 3 n columns
  float dt;
  int repeat;
  double change;
  double *values;  // q, q', u about which to differentiate
  double *results; // q, q' after each run
  double *inputs;  // of each world: q, q', u
  atomic_bool failed;
} derivative_task;

static bool run_once(const derivative_task *t, batch_world *w, double *x, int run)
{
  size_t n = (size_t)t->n;
  double *result = t->results + 2 * n * (size_t)run;
  memcpy(x, t->values, 3 * n * sizeof *x);
  x[run / 2] += run % 2 ? -t->change : t->change;
  bool ok = batch_restore(w, &t->start) &&
            tn_articulation_set_positions(w->articulation, x, NULL) &&
            tn_articulation_set_velocities(w->articulation, x + n, NULL);
  for (int i = 0; i < t->repeat && ok; ++i) {
    ok = tn_articulation_apply_forces(w->articulation, x + 2 * n) &&
         !(tn_world_step(w->world, t->dt) & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY));
  }
  return ok && tn_articulation_positions(w->articulation, result) &&
         tn_articulation_velocities(w->articulation, result + n);
}

static void run_world(int index, void *context)
{
  derivative_task *t = context;
  double *x = t->inputs + 3 * (size_t)t->n * (size_t)index;
  for (int run = index; run < t->runs; run += t->batch->count) {
    if (!run_once(t, &t->batch->worlds[index], x, run)) {
      atomic_store(&t->failed, true);
    }
  }
}

static void store_columns(const derivative_task *t, double *a, double *b)
{
  int n = t->n, rows = 2 * n;
  for (int column = 0; column < 3 * n; ++column) {
    const double *plus = t->results + (size_t)(2 * column * rows), *minus = plus + rows;
    for (int i = 0; i < rows; ++i) {
      double slope = (plus[i] - minus[i]) / (2.0 * t->change);
      if (column < rows) {
        a[i * rows + column] = slope;
      } else {
        b[i * n + column - rows] = slope;
      }
    }
  }
}

bool tn_batch_derivatives(tn_batch *b, float dt, int repeat, double change, const double *forces,
                          double *a, double *u)
{
  tn_articulation_counts counts = tn_articulation_get_counts(b ? b->worlds[0].articulation : NULL);
  if (!b || !a || !u || repeat < 1 || !(change >= 0.0)) {
    return b && batch_refuse(b, "tn_batch_derivatives: null arrays, no steps or a bad change");
  }
  if (counts.velocities == 0 || counts.positions != counts.velocities) {
    return batch_refuse(b, "tn_batch_derivatives: coordinates must be angles and lengths, of "
                           "tn_batch_articulate()");
  }
  size_t n = (size_t)counts.velocities;
  derivative_task t = {.batch = b,
                       .n = counts.velocities,
                       .runs = 6 * counts.velocities,
                       .dt = dt,
                       .repeat = repeat,
                       .change = change > 0.0 ? change : 0x1p-9};
  t.values = calloc(3 * n, sizeof(double));
  t.results = calloc(12 * n * n, sizeof(double));
  t.inputs = calloc(3 * n * (size_t)b->count, sizeof(double));
  batch_world *first = &b->worlds[0];
  bool ok = t.values && t.results && t.inputs && batch_save(first, &t.start) &&
            tn_articulation_positions(first->articulation, t.values) &&
            tn_articulation_velocities(first->articulation, t.values + n);
  if (ok && forces) {
    memcpy(t.values + 2 * n, forces, n * sizeof(double));
  }
  if (ok) {
    workers_run(b->workers, b->count, run_world, &t);
    ok = !atomic_load(&t.failed);
  }
  if (ok) {
    store_columns(&t, a, u);
  }
  batch_free_state(&t.start, first->memory);
  free(t.values);
  free(t.results);
  free(t.inputs);
  return ok;
}
