// The exact state as a flat buffer, and its hash.
#include "world.h"

#include <string.h>

#define SNAPSHOT_MAGIC 0x4e4f4e4554ull // "TENON"
#define SNAPSHOT_VERSION 1u

// Everything that is not an array. Sizes of the structures guard against another build's layout.
typedef struct header {
  uint64_t magic;
  uint32_t version, header_size;
  uint32_t body_size, state_size, block_size, joint_size;
  uint64_t size;     // of what follows the header
  uint64_t checksum; // of everything, itself taken as zero
  tn_vec3 gravity;
  int32_t method, substeps, iterations;
  float last_h;
  pool_list bodies, joints;
} header;

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const unsigned char *p = bytes;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ p[i]) * 0x100000001b3ull;
  }
  return hash;
}

#define HASH_START 0xcbf29ce484222325ull

// The state's parts one by one, not as raw structures: padding and pointers have no say.

// What the world and a body have been told, and what waits for the next step.
static uint64_t hash_settings(uint64_t hash, const tn_world *world)
{
  int32_t numbers[3] = {(int32_t)world->method, world->substeps, world->iterations};
  hash = hash_bytes(hash, &world->gravity, sizeof world->gravity);
  hash = hash_bytes(hash, &world->last_h, sizeof world->last_h);
  return hash_bytes(hash, numbers, sizeof numbers);
}

static uint64_t hash_orders(uint64_t hash, const body *b)
{
  int32_t type = (int32_t)b->type;
  hash = hash_bytes(hash, &type, sizeof type);
  hash = hash_bytes(hash, &b->mass, sizeof b->mass);
  float settings[5] = {b->gravity_scale, b->linear_damping, b->angular_damping, b->max_speed,
                       b->max_angular_speed};
  hash = hash_bytes(hash, settings, sizeof settings);
  hash = hash_bytes(hash, &b->force, sizeof b->force);
  hash = hash_bytes(hash, &b->torque, sizeof b->torque);
  if (b->has_target) {
    hash = hash_bytes(hash, &b->target.p, sizeof b->target.p);
    hash = hash_bytes(hash, &b->target.q, sizeof b->target.q);
  }
  return hash;
}

static uint64_t hash_body(uint64_t hash, const tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  const body_state *state = &world->state[slot];
  float(*spin)[BLOCK_WIDTH] = world->body_blocks[slot / BLOCK_WIDTH].spin;
  hash = hash_bytes(hash, &slot, sizeof slot);
  hash = hash_bytes(hash, &b->generation, sizeof b->generation);
  hash = hash_orders(hash, b);
  hash = hash_bytes(hash, &b->center, sizeof b->center);
  hash = hash_bytes(hash, &b->rotation, sizeof b->rotation);
  hash = hash_bytes(hash, state->v, sizeof state->v);
  hash = hash_bytes(hash, state->w, sizeof state->w);
  for (int i = 0; i < 3; ++i) {
    hash = hash_bytes(hash, &spin[i][slot % BLOCK_WIDTH], sizeof(float));
  }
  return hash;
}

static uint64_t hash_drive(uint64_t hash, const tn_drive *drive)
{
  int32_t mode = (int32_t)drive->mode;
  float numbers[5] = {drive->target, drive->velocity, drive->force, drive->compliance,
                      drive->max_force};
  hash = hash_bytes(hash, &mode, sizeof mode);
  return hash_bytes(hash, numbers, sizeof numbers);
}

static uint64_t hash_def(uint64_t hash, const tn_joint_def *def)
{
  int32_t kind[2] = {(int32_t)def->kind, def->enabled};
  float numbers[11] = {def->swing,
                       def->compliance,
                       def->angular_compliance,
                       def->limit_compliance,
                       def->angular_limit_compliance,
                       def->linear_damping,
                       def->angular_damping,
                       def->linear_friction,
                       def->angular_friction,
                       def->break_force,
                       def->break_torque};
  hash = hash_bytes(hash, kind, sizeof kind);
  hash = hash_bytes(hash, def->linear, sizeof def->linear);
  hash = hash_bytes(hash, def->angular, sizeof def->angular);
  hash = hash_bytes(hash, numbers, sizeof numbers);
  hash = hash_drive(hash, &def->linear_drive);
  return hash_drive(hash, &def->angular_drive);
}

static uint64_t hash_joint(uint64_t hash, const tn_world *world, int32_t slot)
{
  joint copy = world->joints[slot];
  hash = hash_def(hash, &copy.def);
  hash = hash_bytes(hash, copy.slot, sizeof copy.slot);
  hash = hash_bytes(hash, copy.frame_rotation, sizeof copy.frame_rotation);
  hash = hash_bytes(hash, copy.frame_point, sizeof copy.frame_point);
  hash = hash_bytes(hash, copy.target, sizeof copy.target);
  hash = hash_bytes(hash, &slot, sizeof slot);
  hash = hash_bytes(hash, &copy.generation, sizeof copy.generation);
  hash = hash_bytes(hash, &copy.force, sizeof copy.force);
  hash = hash_bytes(hash, &copy.torque, sizeof copy.torque);
  if (copy.block == NO_SLOT) {
    hash = hash_bytes(hash, copy.state, sizeof copy.state);
    return hash_bytes(hash, copy.carry, sizeof copy.carry);
  }
  joint_block *block = &world->graph.blocks[copy.block];
  block_rows *rows[2] = {&block->linear, &block->angular};
  for (int k = 0; k < 2; ++k) {
    for (size_t i = 0; i < FIELDS(RowState); ++i) {
      hash = hash_bytes(hash, &rows[k]->state[i][copy.lane], sizeof(float));
    }
  }
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 3; ++i) {
      hash = hash_bytes(hash, &rows[k]->carry[i][copy.lane], sizeof(float));
    }
  }
  return hash;
}

uint64_t tn_world_hash(const tn_world *world)
{
  uint64_t hash = HASH_START;
  if (!world) {
    return hash;
  }
  hash = hash_settings(hash, world);
  for (int32_t i = 0; i < world->body_list.used; ++i) {
    if (world->bodies[i].alive) {
      hash = hash_body(hash, world, i);
    }
  }
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    if (world->joints[i].alive) {
      hash = hash_joint(hash, world, i);
    }
  }
  return hash;
}

// ---------------------------------------------------------------------------------------------

static uint64_t checksum_of(header h, const void *content)
{
  h.checksum = 0;
  return hash_bytes(hash_bytes(HASH_START, &h, sizeof h), content, (size_t)h.size);
}

static int32_t blocks_of(int32_t bodies)
{
  return (bodies + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
}

static size_t content_size(const pool_list *bodies, const pool_list *joints)
{
  size_t n = (size_t)bodies->used;
  return n * (sizeof(body) + sizeof(body_state)) +
         (size_t)blocks_of(bodies->used) * sizeof(body_block) +
         (size_t)joints->used * sizeof(joint);
}

static unsigned char *put(unsigned char *at, const void *bytes, size_t size)
{
  memcpy(at, bytes, size);
  return at + size;
}

static const unsigned char *get(const unsigned char *at, void *bytes, size_t size)
{
  memcpy(bytes, at, size);
  return at + size;
}

static unsigned char *put_joint(unsigned char *at, const tn_world *world, int32_t slot)
{
  joint copy = world->joints[slot];
  if (copy.alive && copy.block != NO_SLOT) {
    joint_copy_state(world, &copy);
    copy.block = NO_SLOT;
  }
  return put(at, &copy, sizeof copy);
}

size_t tn_world_save(const tn_world *world, void *buffer, size_t capacity)
{
  if (!world) {
    return 0;
  }
  size_t content = content_size(&world->body_list, &world->joint_list);
  size_t size = sizeof(header) + content;
  if (!buffer || capacity < size) {
    return size;
  }
  unsigned char *start = (unsigned char *)buffer + sizeof(header);
  unsigned char *at = start;
  size_t n = (size_t)world->body_list.used;
  at = put(at, world->bodies, n * sizeof(body));
  at = put(at, world->state, n * sizeof(body_state));
  at = put(at, world->body_blocks, (size_t)blocks_of(world->body_list.used) * sizeof(body_block));
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    at = put_joint(at, world, i);
  }
  header h;
  memset(&h, 0, sizeof h);
  h.magic = SNAPSHOT_MAGIC;
  h.version = SNAPSHOT_VERSION;
  h.header_size = sizeof(header);
  h.body_size = sizeof(body);
  h.state_size = sizeof(body_state);
  h.block_size = sizeof(body_block);
  h.joint_size = sizeof(joint);
  h.size = content;
  h.gravity = world->gravity;
  h.method = (int32_t)world->method;
  h.substeps = world->substeps;
  h.iterations = world->iterations;
  h.last_h = world->last_h;
  h.bodies = world->body_list;
  h.joints = world->joint_list;
  h.checksum = checksum_of(h, start);
  memcpy(buffer, &h, sizeof h);
  return size;
}

static const char *why_bad_snapshot(const header *h, const unsigned char *buffer, size_t size)
{
  if (h->magic != SNAPSHOT_MAGIC) {
    return "this is no snapshot";
  }
  if (h->version != SNAPSHOT_VERSION || h->header_size != sizeof(header) ||
      h->body_size != sizeof(body) || h->state_size != sizeof(body_state) ||
      h->block_size != sizeof(body_block) || h->joint_size != sizeof(joint)) {
    return "the snapshot is of another version or machine type";
  }
  if (h->bodies.used < 1 || h->joints.used < 0 || h->bodies.used > INT32_MAX / 2 ||
      h->joints.used > INT32_MAX / 2 || h->size != content_size(&h->bodies, &h->joints) ||
      size - sizeof(header) < h->size) {
    return "the snapshot is truncated";
  }
  if (checksum_of(*h, buffer + sizeof(header)) != h->checksum) {
    return "the snapshot is damaged";
  }
  return NULL;
}

static bool reserve(tn_world *world, const header *h)
{
  if (!body_reserve(world, h->bodies.used)) {
    return false;
  }
  if (h->joints.used > world->joint_list.capacity) {
    if (!memory_grow(world, (void **)&world->joints, world->joint_list.used,
                     world->joint_list.capacity, h->joints.used, sizeof(joint))) {
      return false;
    }
    world->joint_list.capacity = h->joints.used;
  }
  return true;
}

// The ids in a definition are of the world that was saved.
static void name_own_bodies(const tn_world *world, joint *j)
{
  tn_body_id none = {0};
  if (j->alive) {
    j->def.body_a = j->slot[0] == WORLD_SLOT ? none : body_id_at(world, j->slot[0]);
    j->def.body_b = j->slot[1] == WORLD_SLOT ? none : body_id_at(world, j->slot[1]);
  }
}

static void take_content(tn_world *world, const header *h, const unsigned char *at)
{
  int32_t body_capacity = world->body_list.capacity;
  int32_t joint_capacity = world->joint_list.capacity;
  size_t n = (size_t)h->bodies.used;
  body_clear_slots(world, 0, body_capacity);
  at = get(at, world->bodies, n * sizeof(body));
  at = get(at, world->state, n * sizeof(body_state));
  at = get(at, world->body_blocks, (size_t)blocks_of(h->bodies.used) * sizeof(body_block));
  if (joint_capacity > 0) {
    memset(world->joints, 0, (size_t)joint_capacity * sizeof(joint));
    get(at, world->joints, (size_t)h->joints.used * sizeof(joint));
  }
  world->body_list = h->bodies;
  world->body_list.capacity = body_capacity;
  world->joint_list = h->joints;
  world->joint_list.capacity = joint_capacity;
  world->gravity = h->gravity;
  world->method = (tn_method)h->method;
  world->substeps = h->substeps;
  world->iterations = h->iterations;
  world->last_h = h->last_h;
  world->break_count = 0;
  world->graph.dirty = true;
  world->graph.block_count = 0;
  body_restore_inertia(world);
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    name_own_bodies(world, &world->joints[i]);
  }
}

bool tn_world_restore(tn_world *world, const void *buffer, size_t size)
{
  if (!world) {
    return false;
  }
  header h = {0};
  const char *why = "the snapshot is truncated";
  if (buffer && size >= sizeof h) {
    memcpy(&h, buffer, sizeof h);
    why = why_bad_snapshot(&h, buffer, size);
  }
  if (!why && !reserve(world, &h)) {
    why = "out of memory";
  }
  if (why) {
    report(world, TN_LOG_ERROR, "tn_world_restore: %s", why);
    return false;
  }
  take_content(world, &h, (const unsigned char *)buffer + sizeof h);
  return true;
}
