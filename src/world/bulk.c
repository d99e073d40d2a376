// Calls for many bodies: rows of numbers from and to the state of bodies. Calls that write check
// all rows first and then write all of them, so that a refusal changes nothing.
#include "tenon/bulk.h"
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "kernel/ranges.h"
#include "world/body_write.h"
#include "world/lifetime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The rows of a call, checked.
typedef struct row_list {
  const tn_body_id *ids; // NULL: all bodies
  int count;
  tn_number type;
  size_t stride; // bytes
  const char *caller;
} row_list;

static bool reject(const tn_world *world, const char *caller, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

static bool reject_row(const tn_world *world, const row_list *list, int row, const char *why)
{
  report(&world->log, TN_LOG_ERROR, "%s: row %d: %s", list->caller, row, why);
  return false;
}

// Bodies of a list are alive.
static bool has_bodies(const tn_world *world, const row_list *list)
{
  if (!list->ids && list->count != world->body_pool.count) {
    report(&world->log, TN_LOG_ERROR, "%s: %d rows for all bodies, of which there are %d",
           list->caller, list->count, world->body_pool.count);
    return false;
  }
  for (int i = 0; list->ids && i < list->count; ++i) {
    if (!tn_body_is_valid(world, list->ids[i])) {
      char where[64];
      snprintf(where, sizeof where, "%s: row %d", list->caller, i);
      body_find(world, list->ids[i], where); // says why
      return false;
    }
  }
  return true;
}

// `size` is that of a row in bytes; sets the stride of rows without gaps.
static bool open_rows(const tn_world *world, row_list *list, const void *rows, size_t size)
{
  if (!world) {
    return false;
  }
  if (list->count < 0) {
    return reject(world, list->caller, "the number of rows is negative");
  }
  if (list->type != TN_FLOAT && list->type != TN_DOUBLE) {
    return reject(world, list->caller, "unknown type of numbers");
  }
  if (list->stride != 0 && list->stride < size) {
    return reject(world, list->caller, "the stride is shorter than a row");
  }
  if (list->count > 0 && !rows) {
    return reject(world, list->caller, "the rows are null");
  }
  list->stride = list->stride ? list->stride : size;
  return has_bodies(world, list);
}

static size_t size_of(tn_number type)
{
  return type == TN_DOUBLE ? sizeof(double) : sizeof(float);
}

// Slot of a row's body, given that of the row before, or WORLD_SLOT before the first.
static int32_t next_slot(const tn_world *world, const row_list *list, int row, int32_t slot)
{
  if (list->ids) {
    return (int32_t)list->ids[row].index;
  }
  do {
    slot += 1;
  } while (!world->bodies[slot].alive);
  return slot;
}

// Rows of a constant `count` are copied as a whole.
static inline void put_numbers(const row_list *list, void *rows, int row, const double *from,
                               int count)
{
  char *to = (char *)rows + (size_t)row * list->stride;
  float rounded[TN_MATRIX_NUMBERS];
  if (list->type == TN_DOUBLE) {
    memcpy(to, from, (size_t)count * sizeof(double));
    return;
  }
  for (int i = 0; i < count; ++i) {
    rounded[i] = (float)from[i];
  }
  memcpy(to, rounded, (size_t)count * sizeof(float));
}

static inline void get_numbers(const row_list *list, const void *rows, int row, double *to,
                               int count)
{
  const char *from = (const char *)rows + (size_t)row * list->stride;
  float single[TN_MATRIX_NUMBERS];
  if (list->type == TN_DOUBLE) {
    memcpy(to, from, (size_t)count * sizeof(double));
    return;
  }
  memcpy(single, from, (size_t)count * sizeof(float));
  for (int i = 0; i < count; ++i) {
    to[i] = (double)single[i];
  }
}

static tn_vec3 vector_at(const double *n)
{
  return tn_v3((float)n[0], (float)n[1], (float)n[2]);
}

static bool is_zero(const double *n, int count)
{
  for (int i = 0; i < count; ++i) {
    if (n[i] != 0.0) { // true for NaN
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Reading

// As body_transform_of(), without rounding.
static world_pose pose_of(const body *b)
{
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  return (world_pose){pos_sub(b->center, dquat_rotate(q, b->local_center)), q};
}

// A body with its principal axes along those of its frame keeps its rotation, one with its centre
// of mass at the origin its position: what is copied in memory is several times as fast.
static inline void put_pose(const row_list *list, void *rows, int row, const body *b)
{
  static const tn_pos origin = {0.0, 0.0, 0.0};
  static const dquat identity = {0.0, 0.0, 0.0, 1.0};
  bool straight = memcmp(&b->local_principal, &identity, sizeof identity) == 0;
  bool centered = memcmp(&b->local_center, &origin, sizeof origin) == 0;
  if (list->type == TN_DOUBLE && centered) {
    char *to = (char *)rows + (size_t)row * list->stride;
    memcpy(to, &b->center, sizeof b->center);
    if (straight) {
      memcpy(to + sizeof b->center, &b->rotation, sizeof b->rotation);
      return;
    }
    dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
    memcpy(to + sizeof b->center, &q, sizeof q);
    return;
  }
  world_pose at = pose_of(b);
  const double n[TN_POSE_NUMBERS] = {at.p.x, at.p.y, at.p.z, at.q.x, at.q.y, at.q.z, at.q.w};
  put_numbers(list, rows, row, n, TN_POSE_NUMBERS);
}

bool tn_bodies_read_poses(const tn_world *world, const tn_body_id *ids, int count, tn_number type,
                          void *rows, size_t stride)
{
  row_list list = {ids, count, type, stride, "tn_bodies_read_poses"};
  if (!open_rows(world, &list, rows, TN_POSE_NUMBERS * size_of(type))) {
    return false;
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    put_pose(&list, rows, i, &world->bodies[slot]);
  }
  return true;
}

bool tn_bodies_read_velocities(const tn_world *world, const tn_body_id *ids, int count,
                               tn_number type, void *rows, size_t stride)
{
  row_list list = {ids, count, type, stride, "tn_bodies_read_velocities"};
  if (!open_rows(world, &list, rows, TN_VELOCITY_NUMBERS * size_of(type))) {
    return false;
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    const float *v = world->state[slot].v, *w = world->state[slot].w;
    const double n[TN_VELOCITY_NUMBERS] = {(double)v[0], (double)v[1], (double)v[2],
                                           (double)w[0], (double)w[1], (double)w[2]};
    put_numbers(&list, rows, i, n, TN_VELOCITY_NUMBERS);
  }
  return true;
}

static void put_matrix(const row_list *list, float *rows, int row, const body *b, tn_pos origin)
{
  world_pose at = pose_of(b);
  dquat q = at.q;
  tn_pos p = pos_sub(at.p, origin);
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  const double n[TN_MATRIX_NUMBERS] = {1.0 - 2.0 * (yy + zz),
                                       2.0 * (xy + wz),
                                       2.0 * (xz - wy),
                                       0.0,
                                       2.0 * (xy - wz),
                                       1.0 - 2.0 * (xx + zz),
                                       2.0 * (yz + wx),
                                       0.0,
                                       2.0 * (xz + wy),
                                       2.0 * (yz - wx),
                                       1.0 - 2.0 * (xx + yy),
                                       0.0,
                                       p.x,
                                       p.y,
                                       p.z,
                                       1.0};
  put_numbers(list, rows, row, n, TN_MATRIX_NUMBERS);
}

bool tn_bodies_read_matrices(const tn_world *world, const tn_body_id *ids, int count, tn_pos origin,
                             float *rows, size_t stride)
{
  row_list list = {ids, count, TN_FLOAT, stride, "tn_bodies_read_matrices"};
  if (!open_rows(world, &list, rows, TN_MATRIX_NUMBERS * sizeof(float))) {
    return false;
  }
  if (!is_finite_pos(origin)) {
    return reject(world, list.caller, "the origin is not finite");
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    put_matrix(&list, rows, i, &world->bodies[slot], origin);
  }
  return true;
}

bool tn_bodies_read_awake(const tn_world *world, const tn_body_id *ids, int count, uint8_t *flags,
                          size_t stride)
{
  row_list list = {ids, count, TN_FLOAT, stride, "tn_bodies_read_awake"};
  if (!open_rows(world, &list, flags, sizeof *flags)) {
    return false;
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    flags[(size_t)i * list.stride] = !world->bodies[slot].asleep;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct pose_row {
  tn_pos p;
  dquat q;
} pose_row;

static pose_row get_pose(const row_list *list, const void *rows, int row)
{
  double n[TN_POSE_NUMBERS];
  get_numbers(list, rows, row, n, TN_POSE_NUMBERS);
  return (pose_row){{n[0], n[1], n[2]}, {n[3], n[4], n[5], n[6]}};
}

bool tn_bodies_write_poses(tn_world *world, const tn_body_id *ids, int count, tn_number type,
                           const void *rows, size_t stride)
{
  RECORD(world, tn_bodies_write_poses, ids, &count, &type, rows, &stride);
  row_list list = {ids, count, type, stride, "tn_bodies_write_poses"};
  if (!open_rows(world, &list, rows, TN_POSE_NUMBERS * size_of(type))) {
    return false;
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    pose_row at = get_pose(&list, rows, i);
    const char *why = body_pose_problem(&world->bodies[slot], at.p, at.q);
    if (why) {
      return reject_row(world, &list, i, why);
    }
  }
  bool ok = true;
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    pose_row at = get_pose(&list, rows, i);
    ok = body_move(world, slot, at.p, at.q) && ok;
  }
  return ok || reject(world, list.caller, "out of memory");
}

static const char *velocity_problem(const body *b, const double *n)
{
  if (!is_rate(vector_at(n)) || !is_rate(vector_at(n + 3))) {
    return "the velocity is not finite or too large";
  }
  bool stays = b->type == TN_BODY_STATIC && !is_zero(n, TN_VELOCITY_NUMBERS);
  return stays ? "a static body has no velocity" : NULL;
}

bool tn_bodies_write_velocities(tn_world *world, const tn_body_id *ids, int count, tn_number type,
                                const void *rows, size_t stride)
{
  RECORD(world, tn_bodies_write_velocities, ids, &count, &type, rows, &stride);
  row_list list = {ids, count, type, stride, "tn_bodies_write_velocities"};
  if (!open_rows(world, &list, rows, TN_VELOCITY_NUMBERS * size_of(type))) {
    return false;
  }
  double n[TN_VELOCITY_NUMBERS];
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    get_numbers(&list, rows, i, n, TN_VELOCITY_NUMBERS);
    const char *why = velocity_problem(&world->bodies[slot], n);
    if (why) {
      return reject_row(world, &list, i, why);
    }
  }
  for (int32_t i = 0, slot = WORLD_SLOT; i < count; ++i) {
    slot = next_slot(world, &list, i, slot);
    if (world->bodies[slot].type == TN_BODY_STATIC) {
      continue;
    }
    get_numbers(&list, rows, i, n, TN_VELOCITY_NUMBERS);
    body_wake(world, slot);
    for (int k = 0; k < 3; ++k) {
      world->state[slot].v[k] = (float)n[k];
      world->state[slot].w[k] = (float)n[3 + k];
    }
    joints_forget_rates(world, slot);
    body_sync_solver(world, slot);
  }
  return true;
}

// Force and torque of a body before a row was added.
typedef struct force_before {
  int32_t slot;
  tn_vec3 force, torque;
} force_before;

static const char *add_row(body *b, const double *n)
{
  if (is_zero(n, TN_FORCE_NUMBERS)) {
    return NULL;
  }
  if (b->type != TN_BODY_DYNAMIC) {
    return "only dynamic bodies feel forces";
  }
  tn_vec3 force = tn_add(b->force, vector_at(n)), torque = tn_add(b->torque, vector_at(n + 3));
  if (!body_can_bear(b, force, torque)) {
    return "the body would accelerate too much";
  }
  b->force = force;
  b->torque = torque;
  return NULL;
}

// Adds row by row, because the sum of a body that is listed twice may be too much where its rows
// are not. On a refusal the old values return, from the last row to the first.
static bool add_rows(tn_world *world, const row_list *list, const void *rows, force_before *before)
{
  for (int32_t i = 0, slot = WORLD_SLOT; i < list->count; ++i) {
    double n[TN_FORCE_NUMBERS];
    slot = next_slot(world, list, i, slot);
    body *b = &world->bodies[slot];
    before[i] = (force_before){slot, b->force, b->torque};
    get_numbers(list, rows, i, n, TN_FORCE_NUMBERS);
    const char *why = add_row(b, n);
    if (why) {
      for (int32_t k = i - 1; k >= 0; --k) {
        world->bodies[before[k].slot].force = before[k].force;
        world->bodies[before[k].slot].torque = before[k].torque;
      }
      return reject_row(world, list, i, why);
    }
  }
  return true;
}

bool tn_bodies_apply_forces(tn_world *world, const tn_body_id *ids, int count, tn_number type,
                            const void *rows, size_t stride)
{
  RECORD(world, tn_bodies_apply_forces, ids, &count, &type, rows, &stride);
  row_list list = {ids, count, type, stride, "tn_bodies_apply_forces"};
  if (!open_rows(world, &list, rows, TN_FORCE_NUMBERS * size_of(type))) {
    return false;
  }
  size_t size = (size_t)count * sizeof(force_before);
  force_before *before = size > 0 ? heap_alloc(&world->heap, size) : NULL;
  if (size > 0 && !before) {
    return reject(world, list.caller, "out of memory");
  }
  bool ok = add_rows(world, &list, rows, before);
  heap_free(&world->heap, before, size);
  for (int32_t i = 0, slot = WORLD_SLOT; ok && i < count; ++i) {
    double n[TN_FORCE_NUMBERS];
    slot = next_slot(world, &list, i, slot);
    get_numbers(&list, rows, i, n, TN_FORCE_NUMBERS);
    if (!is_zero(n, TN_FORCE_NUMBERS)) {
      body_wake(world, slot);
    }
  }
  return ok;
}
