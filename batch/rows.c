// Fields of a batch as rows of numbers.
#include "batch_data.h"

#include <stdatomic.h>

typedef struct rows_task {
  tn_batch *batch;
  const uint8_t *mask;
  batch_rows rows;
  atomic_bool failed;
} rows_task;

static void code_rows(int index, void *context)
{
  rows_task *t = context;
  const batch_world *w = &t->batch->worlds[index];
  if (!w->world || (t->mask && !t->mask[index])) {
    return;
  }
  bool ok = t->rows.rows.on_device ? batch_code_left(t->batch, &t->rows, index)
                                   : batch_code_world(&t->rows, w);
  if (t->rows.writes) {
    t->batch->status[index] = ok ? 0 : TN_STEP_REJECTED;
  }
  if (!ok) {
    atomic_store(&t->failed, true);
  }
}

// ---------------------------------------------------------------------------------------------
// Calls

static size_t size_of(tn_number type)
{
  return type == TN_FLOAT ? sizeof(float) : sizeof(double);
}

static int numbers_of(tn_batch_field field)
{
  switch (field) {
  case TN_BATCH_POSES:
    return TN_POSE_NUMBERS;
  case TN_BATCH_VELOCITIES:
    return TN_VELOCITY_NUMBERS;
  case TN_BATCH_FORCES:
    return TN_FORCE_NUMBERS;
  case TN_BATCH_CONTACT_FORCES:
  case TN_BATCH_PARTICLES:
  case TN_BATCH_GRAVITY:
    return 3;
  case TN_BATCH_Q:
  case TN_BATCH_QD:
  case TN_BATCH_Q_FORCES:
  case TN_BATCH_MASSES:
  case TN_BATCH_GRAVITY_SCALES:
  case TN_BATCH_FRICTIONS:
  case TN_BATCH_RESTITUTIONS:
  case TN_BATCH_SENSORS:
    return 1;
  default:
    return TN_JOINT_AXIS_COUNT;
  }
}

tn_batch_shape tn_batch_shape_of(tn_batch *b, tn_batch_field field)
{
  tn_batch_shape shape = {0, 0, 0};
  if (!b || (int)field < 0 || field >= TN_BATCH_FIELD_COUNT) {
    return shape;
  }
  tn_articulation_counts counts = tn_articulation_get_counts(b->worlds[0].articulation);
  shape.worlds = b->count;
  shape.numbers = numbers_of(field);
  switch (field) {
  case TN_BATCH_GRAVITY:
    shape.items = 1;
    break;
  case TN_BATCH_FRICTIONS:
  case TN_BATCH_RESTITUTIONS:
  case TN_BATCH_SENSORS:
    shape.items = b->items.shape_count;
    break;
  case TN_BATCH_PARTICLES:
    shape.items = batch_particles(b->original, b->worlds[0].memory);
    break;
  case TN_BATCH_Q:
    shape.items = counts.positions;
    break;
  case TN_BATCH_QD:
  case TN_BATCH_Q_FORCES:
    shape.items = counts.velocities;
    break;
  case TN_BATCH_POSES:
  case TN_BATCH_VELOCITIES:
  case TN_BATCH_FORCES:
  case TN_BATCH_CONTACT_FORCES:
  case TN_BATCH_MASSES:
  case TN_BATCH_GRAVITY_SCALES:
    shape.items = b->items.body_count;
    break;
  default:
    shape.items = b->items.joint_count;
    break;
  }
  return shape;
}

static bool run_rows(tn_batch *b, tn_batch_field field, const uint8_t *mask, tn_batch_rows rows,
                     bool writes)
{
  const char *caller = writes ? "tn_batch_write" : "tn_batch_read";
  tn_batch_shape shape = tn_batch_shape_of(b, field);
  if (shape.items == 0) {
    return shape.worlds > 0 || (b && batch_refuse(b, "%s: there is no such field", caller));
  }
  if (!rows.data || (rows.type != TN_FLOAT && rows.type != TN_DOUBLE)) {
    return batch_refuse(b, "%s: the rows are null or of no type", caller);
  }
  size_t item = (size_t)shape.numbers * size_of(rows.type);
  rows.item_stride = rows.item_stride ? rows.item_stride : item;
  size_t world = (size_t)(shape.items - 1) * rows.item_stride + item;
  rows.world_stride =
      rows.world_stride ? rows.world_stride : (size_t)shape.items * rows.item_stride;
  if (rows.item_stride < item || rows.world_stride < world) {
    return batch_refuse(b, "%s: a stride is shorter than what it spans", caller);
  }
  if (rows.on_device && !b->device) {
    return batch_refuse(b, "%s: the rows are on a device and the worlds are not", caller);
  }
  rows_task task = {
      .batch = b, .mask = mask, .rows = {field, rows, shape.items, shape.numbers, writes}};
  bool ok = !b->device || batch_device_rows(b, &task.rows, mask);
  if (!b->device || b->left > 0) {
    workers_run(b->workers, b->count, code_rows, &task);
  }
  return ok && !atomic_load(&task.failed);
}

bool tn_batch_read(tn_batch *b, tn_batch_field field, const uint8_t *mask, tn_batch_rows rows)
{
  if (field == TN_BATCH_FORCES || field == TN_BATCH_Q_FORCES) {
    return b && batch_refuse(b, "tn_batch_read: forces of the next step can only be written");
  }
  return run_rows(b, field, mask, rows, false);
}

bool tn_batch_write(tn_batch *b, tn_batch_field field, const uint8_t *mask, tn_batch_rows rows)
{
  bool result = field == TN_BATCH_CONTACT_FORCES || field == TN_BATCH_PARTICLES ||
                field == TN_BATCH_POSITIONS || field == TN_BATCH_RATES ||
                field == TN_BATCH_DRIVE_FORCES || field == TN_BATCH_SENSORS;
  if (result) {
    return b && batch_refuse(b, "tn_batch_write: this field can only be read");
  }
  return run_rows(b, field, mask, rows, true);
}
