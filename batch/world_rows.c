// Fields of one world as rows of numbers. Memory comes from the world's allocator, so that a device
// can run this file.
#include "batch_world.h"

#include <string.h>

#define AXES TN_JOINT_AXIS_COUNT

// ---------------------------------------------------------------------------------------------
// Numbers and memory

static void *take(const batch_world *w, size_t size)
{
  return w->memory.alloc(size, 64, w->memory.context);
}

static void give_back(const batch_world *w, void *memory, size_t size)
{
  if (memory) {
    w->memory.release(memory, size, w->memory.context);
  }
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
  size_t size = ((size_t)count + 1) * sizeof(tn_contact);
  tn_contact *list = take(w, size);
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
  give_back(w, list, size);
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

static bool is_solid(tn_shape_kind kind)
{
  return kind <= TN_SHAPE_HULL;
}

static tn_transform place_of(const batch_world *w, tn_body_id body, const tn_shape_def *def)
{
  tn_transform at = {tn_p3(0.0, 0.0, 0.0), tn_quat_identity()};
  if (!TN_IS_NULL(body)) {
    at = tn_body_transform(w->world, body);
  }
  at.p = tn_offset(at.p, tn_rotate(at.q, def->position));
  at.q = tn_quat_mul(at.q, def->rotation);
  return at;
}

// Overlaps are those of the present poses: right after a reset as well.
static int count_in_sensor(const batch_world *w, int item)
{
  tn_shape_id sensor = batch_shape(w, item);
  tn_shape_def def = tn_shape_get_def(w->world, sensor);
  if (!def.sensor || !is_solid(def.kind)) {
    return 0;
  }
  tn_body_id body = tn_shape_body(w->world, sensor);
  tn_transform at = place_of(w, body, &def);
  tn_query_filter filter = tn_default_query_filter();
  filter.category = def.filter.category;
  filter.mask = def.filter.mask;
  int count = tn_world_overlap(w->world, &def, at, filter, NULL, 0), inside = 0;
  size_t size = ((size_t)count + 1) * sizeof(tn_shape_id);
  tn_shape_id *list = take(w, size);
  count = list ? tn_world_overlap(w->world, &def, at, filter, list, count) : 0;
  for (int i = 0; i < count; ++i) {
    inside += tn_shape_body(w->world, list[i]).index != body.index;
  }
  give_back(w, list, size);
  return inside;
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
  case TN_BATCH_SENSORS:
    put(r, row, 0, (double)count_in_sensor(w, item));
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
  int count = w->items->body_count;
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

int batch_particles(const tn_world *world, tn_allocator m)
{
  int count = tn_world_softs(world, NULL, 0), total = 0;
  size_t size = ((size_t)count + 1) * sizeof(tn_soft_id);
  tn_soft_id *softs = m.alloc(size, 64, m.context);
  if (!softs) {
    return 0;
  }
  tn_world_softs(world, softs, count);
  for (int i = 0; i < count; ++i) {
    total += tn_soft_positions(world, softs[i], NULL, 0);
  }
  m.release(softs, size, m.context);
  return total;
}

// Particles of all soft bodies, soft body after soft body.
static int list_particles(const batch_world *w, tn_pos *at, int capacity)
{
  int count = tn_world_softs(w->world, NULL, 0), n = 0;
  size_t size = ((size_t)count + 1) * sizeof(tn_soft_id);
  tn_soft_id *softs = take(w, size);
  if (!softs) {
    return 0;
  }
  tn_world_softs(w->world, softs, count);
  for (int i = 0; i < count; ++i) {
    n += tn_soft_positions(w->world, softs[i], at + n, capacity - n);
  }
  give_back(w, softs, size);
  return n;
}

static bool read_particles(const batch_world *w, const tn_batch_rows *r, char *first, int expected)
{
  size_t size = ((size_t)expected + 1) * sizeof(tn_pos);
  tn_pos *at = batch_particles(w->world, w->memory) == expected ? take(w, size) : NULL;
  bool ok = at && list_particles(w, at, expected) == expected;
  for (int i = 0; i < expected && ok; ++i) {
    char *row = first + (size_t)i * r->item_stride;
    put(r, row, 0, at[i].x);
    put(r, row, 1, at[i].y);
    put(r, row, 2, at[i].z);
  }
  give_back(w, at, size);
  return ok;
}

static bool code_coordinates(const batch_world *w, tn_batch_field field, const tn_batch_rows *r,
                             char *first, int count, bool writes)
{
  tn_articulation *a = w->articulation;
  size_t size = ((size_t)count + 1) * sizeof(double);
  double *numbers = take(w, size);
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
  give_back(w, numbers, size);
  return ok;
}

bool batch_code_world(const batch_rows *t, const batch_world *w)
{
  const tn_batch_rows *r = &t->rows;
  char *first = (char *)r->data + (size_t)w->index * r->world_stride;
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
