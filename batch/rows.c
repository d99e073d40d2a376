// Fields of a batch as rows of numbers.
#include "batch_data.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define AXES TN_JOINT_AXIS_COUNT

// ---------------------------------------------------------------------------------------------
// Numbers

static size_t size_of(tn_number type)
{
  return type == TN_FLOAT ? sizeof(float) : sizeof(double);
}

static void put(const tn_batch_rows *r, char *row, int k, double value)
{
  if (r->type == TN_FLOAT) {
    float x = (float)value;
    memcpy(row + (size_t)k * sizeof x, &x, sizeof x);
  } else {
    memcpy(row + (size_t)k * sizeof value, &value, sizeof value);
  }
}

static double get(const tn_batch_rows *r, const char *row, int k)
{
  float x;
  double value;
  if (r->type == TN_FLOAT) {
    memcpy(&x, row + (size_t)k * sizeof x, sizeof x);
    return (double)x;
  }
  memcpy(&value, row + (size_t)k * sizeof value, sizeof value);
  return value;
}

static void put_vector(const tn_batch_rows *r, char *row, tn_vec3 v)
{
  put(r, row, 0, (double)v.x);
  put(r, row, 1, (double)v.y);
  put(r, row, 2, (double)v.z);
}

// ---------------------------------------------------------------------------------------------
// Items, one at a time

static void read_contact_forces(const batch_world *w, int item, const tn_batch_rows *r, char *row)
{
  tn_body_id body = batch_body(w, item);
  int count = tn_body_contacts(w->world, body, NULL, 0);
  tn_contact *list = malloc(((size_t)count + 1) * sizeof *list);
  tn_vec3 sum = tn_v3(0.0f, 0.0f, 0.0f);
  count = list ? tn_body_contacts(w->world, body, list, count) : 0;
  for (int i = 0; i < count; ++i) {
    float normal = 0.0f;
    for (int k = 0; k < list[i].count; ++k) {
      normal += list[i].points[k].normal_force;
    }
    tn_vec3 force = tn_add(tn_scale(normal, list[i].normal), list[i].friction_force);
    sum = tn_add(sum, list[i].body_b.index == body.index ? force : tn_scale(-1.0f, force));
  }
  free(list);
  put_vector(r, row, sum);
}

static void read_joint(const batch_world *w, tn_batch_field field, int item, const tn_batch_rows *r,
                       char *row)
{
  tn_joint_state s = tn_joint_get_state(w->world, batch_joint(w, item));
  const float *from = field == TN_BATCH_POSITIONS ? s.position
                      : field == TN_BATCH_RATES   ? s.rate
                                                  : s.drive_force;
  for (int k = 0; k < AXES; ++k) {
    put(r, row, k, (double)from[k]);
  }
}

static float *number_of_drive(tn_drive *d, tn_batch_field field)
{
  switch (field) {
  case TN_BATCH_TARGETS:
    return &d->target;
  case TN_BATCH_TARGET_RATES:
    return &d->velocity;
  case TN_BATCH_DRIVE_INPUTS:
    return &d->force;
  case TN_BATCH_STIFFNESSES:
    return &d->stiffness;
  default: // TN_BATCH_DAMPINGS
    return &d->damping;
  }
}

static void read_drive(const batch_world *w, tn_batch_field field, int item, const tn_batch_rows *r,
                       char *row)
{
  for (int k = 0; k < AXES; ++k) {
    tn_drive d = tn_joint_get_def(w->world, batch_joint(w, item)).axis[k].drive;
    put(r, row, k, (double)*number_of_drive(&d, field));
  }
}

static bool write_drive(const batch_world *w, tn_batch_field field, int item,
                        const tn_batch_rows *r, const char *row)
{
  tn_joint_id joint = batch_joint(w, item);
  tn_joint_def def = tn_joint_get_def(w->world, joint);
  bool ok = true;
  for (int k = 0; k < AXES; ++k) {
    tn_drive d = def.axis[k].drive;
    float *number = number_of_drive(&d, field), value = (float)get(r, row, k);
    if (*number != value) {
      *number = value;
      ok = tn_joint_set_drive(w->world, joint, (tn_joint_axis)k, d) && ok;
    }
  }
  return ok;
}

static void read_material(const batch_world *w, tn_batch_field field, int item,
                          const tn_batch_rows *r, char *row)
{
  tn_material m = tn_shape_material(w->world, batch_shape(w, item));
  put(r, row, 0, (double)(field == TN_BATCH_FRICTIONS ? m.static_friction : m.restitution));
}

static bool write_material(const batch_world *w, tn_batch_field field, int item,
                           const tn_batch_rows *r, const char *row)
{
  tn_shape_id shape = batch_shape(w, item);
  tn_material m = tn_shape_material(w->world, shape);
  float value = (float)get(r, row, 0);
  if (field == TN_BATCH_FRICTIONS) {
    m.static_friction = m.dynamic_friction = value;
  } else {
    m.restitution = value;
  }
  return tn_shape_set_material(w->world, shape, m);
}

static double mass_of(const batch_world *w, int item)
{
  tn_body_id body = batch_body(w, item);
  bool dynamic = tn_body_get_type(w->world, body) == TN_BODY_DYNAMIC;
  return dynamic ? (double)tn_body_mass(w->world, body).mass : 0.0;
}

static bool write_mass(const batch_world *w, int item, const tn_batch_rows *r, const char *row)
{
  tn_body_id body = batch_body(w, item);
  double mass = get(r, row, 0);
  if (tn_body_get_type(w->world, body) != TN_BODY_DYNAMIC) {
    return true;
  }
  tn_mass scaled = tn_mass_scaled_to(tn_body_mass(w->world, body), (float)mass);
  return mass > 0.0 && tn_body_set_mass(w->world, body, scaled);
}

static void read_item(const batch_world *w, tn_batch_field field, int item, const tn_batch_rows *r,
                      char *row)
{
  switch (field) {
  case TN_BATCH_CONTACT_FORCES:
    read_contact_forces(w, item, r, row);
    break;
  case TN_BATCH_POSITIONS:
  case TN_BATCH_RATES:
  case TN_BATCH_DRIVE_FORCES:
    read_joint(w, field, item, r, row);
    break;
  case TN_BATCH_GRAVITY:
    put_vector(r, row, tn_world_gravity(w->world));
    break;
  case TN_BATCH_MASSES:
    put(r, row, 0, mass_of(w, item));
    break;
  case TN_BATCH_GRAVITY_SCALES:
    put(r, row, 0, (double)tn_body_gravity_scale(w->world, batch_body(w, item)));
    break;
  case TN_BATCH_FRICTIONS:
  case TN_BATCH_RESTITUTIONS:
    read_material(w, field, item, r, row);
    break;
  default:
    read_drive(w, field, item, r, row);
    break;
  }
}

static bool write_item(const batch_world *w, tn_batch_field field, int item, const tn_batch_rows *r,
                       const char *row)
{
  switch (field) {
  case TN_BATCH_GRAVITY: {
    tn_vec3 g = tn_v3((float)get(r, row, 0), (float)get(r, row, 1), (float)get(r, row, 2));
    return tn_world_set_gravity(w->world, g);
  }
  case TN_BATCH_MASSES:
    return write_mass(w, item, r, row);
  case TN_BATCH_GRAVITY_SCALES:
    return tn_body_set_gravity_scale(w->world, batch_body(w, item), (float)get(r, row, 0));
  case TN_BATCH_FRICTIONS:
  case TN_BATCH_RESTITUTIONS:
    return write_material(w, field, item, r, row);
  default:
    return write_drive(w, field, item, r, row);
  }
}

// ---------------------------------------------------------------------------------------------
// Whole worlds

static bool code_bodies(const batch_world *w, tn_batch_field field, const tn_batch_rows *r,
                        char *first, bool writes)
{
  int count = w->batch->body_count;
  if (field == TN_BATCH_POSES) {
    return writes ? tn_bodies_write_poses(w->world, NULL, count, r->type, first, r->item_stride)
                  : tn_bodies_read_poses(w->world, NULL, count, r->type, first, r->item_stride);
  }
  if (field == TN_BATCH_VELOCITIES) {
    return writes
               ? tn_bodies_write_velocities(w->world, NULL, count, r->type, first, r->item_stride)
               : tn_bodies_read_velocities(w->world, NULL, count, r->type, first, r->item_stride);
  }
  return tn_bodies_apply_forces(w->world, NULL, count, r->type, first, r->item_stride);
}

// All particles of a world; null without memory.
static tn_pos *list_particles(const tn_world *world, int *total)
{
  int count = tn_world_softs(world, NULL, 0), n = 0;
  tn_soft_id *softs = malloc(((size_t)count + 1) * sizeof *softs);
  *total = 0;
  if (!softs) {
    return NULL;
  }
  tn_world_softs(world, softs, count);
  for (int i = 0; i < count; ++i) {
    *total += tn_soft_positions(world, softs[i], NULL, 0);
  }
  tn_pos *at = malloc(((size_t)*total + 1) * sizeof *at);
  for (int i = 0; i < count && at; ++i) {
    n += tn_soft_positions(world, softs[i], at + n, *total - n);
  }
  free(softs);
  return at;
}

static bool read_particles(const batch_world *w, const tn_batch_rows *r, char *first, int expected)
{
  int total;
  tn_pos *at = list_particles(w->world, &total);
  for (int i = 0; i < total && at && total == expected; ++i) {
    char *row = first + (size_t)i * r->item_stride;
    put(r, row, 0, at[i].x);
    put(r, row, 1, at[i].y);
    put(r, row, 2, at[i].z);
  }
  bool ok = at && total == expected;
  free(at);
  return ok;
}

static bool code_coordinates(const batch_world *w, tn_batch_field field, const tn_batch_rows *r,
                             char *first, int count, bool writes)
{
  tn_articulation *a = w->articulation;
  double *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
  bool ok = numbers != NULL;
  for (int i = 0; i < count && ok && writes; ++i) {
    numbers[i] = get(r, first + (size_t)i * r->item_stride, 0);
  }
  if (field == TN_BATCH_Q) {
    ok = ok && (writes ? tn_articulation_set_positions(a, numbers, NULL)
                       : tn_articulation_positions(a, numbers));
  } else if (field == TN_BATCH_QD) {
    ok = ok && (writes ? tn_articulation_set_velocities(a, numbers, NULL)
                       : tn_articulation_velocities(a, numbers));
  } else {
    ok = ok && tn_articulation_apply_forces(a, numbers);
  }
  for (int i = 0; i < count && ok && !writes; ++i) {
    put(r, first + (size_t)i * r->item_stride, 0, numbers[i]);
  }
  free(numbers);
  return ok;
}

typedef struct rows_task {
  tn_batch *batch;
  tn_batch_field field;
  const uint8_t *mask;
  tn_batch_rows rows;
  int items;
  bool writes;
  atomic_bool failed;
} rows_task;

static bool code_world(const rows_task *t, const batch_world *w, char *first)
{
  const tn_batch_rows *r = &t->rows;
  switch (t->field) {
  case TN_BATCH_POSES:
  case TN_BATCH_VELOCITIES:
  case TN_BATCH_FORCES:
    return code_bodies(w, t->field, r, first, t->writes);
  case TN_BATCH_PARTICLES:
    return read_particles(w, r, first, t->items);
  case TN_BATCH_Q:
  case TN_BATCH_QD:
  case TN_BATCH_Q_FORCES:
    return code_coordinates(w, t->field, r, first, t->items, t->writes);
  default:
    break;
  }
  bool ok = true;
  for (int i = 0; i < t->items; ++i) {
    char *row = first + (size_t)i * r->item_stride;
    if (t->writes) {
      ok = write_item(w, t->field, i, r, row) && ok;
    } else {
      read_item(w, t->field, i, r, row);
    }
  }
  return ok;
}

static void code_rows(int index, void *context)
{
  rows_task *t = context;
  if (t->mask && !t->mask[index]) {
    return;
  }
  char *first = (char *)t->rows.data + (size_t)index * t->rows.world_stride;
  bool ok = code_world(t, &t->batch->worlds[index], first);
  if (t->writes) {
    t->batch->status[index] = ok ? 0 : TN_STEP_REJECTED;
  }
  if (!ok) {
    atomic_store(&t->failed, true);
  }
}

// ---------------------------------------------------------------------------------------------
// Calls

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
    return 1;
  default:
    return AXES;
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
    shape.items = b->shape_count;
    break;
  case TN_BATCH_PARTICLES:
    free(list_particles(b->worlds[0].world, &shape.items));
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
    shape.items = b->body_count;
    break;
  default:
    shape.items = b->joint_count;
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
  rows_task task = {.batch = b,
                    .field = field,
                    .mask = mask,
                    .rows = rows,
                    .items = shape.items,
                    .writes = writes};
  workers_run(b->workers, b->count, code_rows, &task);
  return !atomic_load(&task.failed);
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
                field == TN_BATCH_DRIVE_FORCES;
  if (result) {
    return b && batch_refuse(b, "tn_batch_write: this field can only be read");
  }
  return run_rows(b, field, mask, rows, true);
}
