// The exact state as a flat buffer, and its hash.
#include "soft_make.h"

#include <math.h>
#include <string.h>

#define SNAPSHOT_MAGIC 0x4e4f4e4554ull // "TENON"
#define SNAPSHOT_VERSION 3u

// Everything that is not an array. Sizes of the structures guard against another build's layout.
typedef struct header {
  uint64_t magic;
  uint32_t version, header_size;
  uint32_t body_size, state_size, block_size, joint_size;
  uint32_t shape_size, pair_size, contact_size, geometry_size;
  uint64_t size;     // of what follows the header
  uint64_t checksum; // of everything, itself taken as zero
  tn_vec3 gravity;
  int32_t method, substeps, iterations, sleeping;
  float last_h;
  pool_list bodies, joints, geometries, shapes, pairs, contacts;
  uint64_t source_size; // of all geometries
  uint32_t soft_size, attachment_size;
  pool_list softs, attachments;
  uint64_t soft_bytes; // of all their arrays
  int32_t meetings;
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
  hash = hash_bytes(hash, &copy.ahead, sizeof copy.ahead);
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

// Impulses and whatever else a contact carries to the next step.
static uint64_t hash_contact(uint64_t hash, const contact *c)
{
  hash = hash_bytes(hash, &c->pair, sizeof c->pair);
  hash = hash_bytes(hash, &c->manifold.count, sizeof c->manifold.count);
  hash = hash_bytes(hash, &c->manifold.normal, sizeof c->manifold.normal);
  for (int i = 0; i < c->manifold.count; ++i) {
    hash = hash_bytes(hash, &c->manifold.points[i].gap, sizeof(float));
    hash = hash_bytes(hash, &c->memory.lambda[i], sizeof(float));
  }
  return hash_bytes(hash, &c->memory.reference,
                    sizeof c->memory - offsetof(contact_memory, reference));
}

static uint64_t hash_particles(uint64_t hash, const soft *s)
{
  for (int32_t i = 0; i < s->particle_count; ++i) {
    const soft_particle *p = &s->particles[i];
    hash = hash_bytes(hash, &p->at, sizeof p->at);
    hash = hash_bytes(hash, &p->v, sizeof p->v);
    hash = hash_bytes(hash, &p->force, sizeof p->force);
    hash = hash_bytes(hash, &p->mass, sizeof p->mass);
    hash = hash_bytes(hash, &p->pinned, sizeof p->pinned);
  }
  return hash;
}

// With what its constraints are and remember.
static uint64_t hash_soft(uint64_t hash, const tn_world *world, int32_t slot)
{
  const soft *s = &world->softs[slot];
  int32_t numbers[6] = {slot,         s->self_collision, s->asleep,
                        s->can_sleep, s->keep_momentum,  s->triangle_count};
  float settings[12] = {s->gravity_scale, s->damping,     s->linear_damping,
                        s->radius,        s->pressure,    s->volume_compliance,
                        s->rest_volume,   s->tear_strain, s->tear_force,
                        s->yield_strain,  s->creep,       s->plastic_limit};
  hash = hash_bytes(hash, numbers, sizeof numbers);
  hash = hash_bytes(hash, &s->generation, sizeof s->generation);
  hash = hash_bytes(hash, settings, sizeof settings);
  hash = hash_particles(hash, s);
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    size_t count = (size_t)s->list[type].count;
    hash = hash_bytes(hash, s->list[type].members, count * (size_t)l.particles * sizeof(int32_t));
    hash = hash_bytes(hash, s->list[type].fields,
                      count * (size_t)(l.params + l.state) * sizeof(float));
  }
  for (int32_t i = 0; i < s->cluster_count; ++i) {
    hash = hash_bytes(hash, &s->clusters[i], sizeof s->clusters[i]);
  }
  hash = hash_bytes(hash, &s->fold.time, sizeof s->fold.time);
  hash = hash_bytes(hash, s->fold.cluster.q, sizeof s->fold.cluster.q);
  for (int32_t i = 0; i < s->part_count; ++i) {
    hash = hash_bytes(hash, &s->cluster_parts[i], offsetof(cluster_part, at));
  }
  size_t plastic = s->plastic ? 9 * (size_t)s->list[SOFT_CELL].count : 0;
  hash = hash_bytes(hash, s->plastic, plastic * sizeof(float));
  hash = hash_bytes(hash, s->triangles, 3 * (size_t)s->triangle_count * sizeof(int32_t));
  return hash;
}

static uint64_t hash_attachment(uint64_t hash, const tn_world *world, int32_t slot)
{
  const attachment *a = &world->attachments[slot];
  int32_t numbers[5] = {slot, a->soft, a->body, a->def.particle, a->broken};
  hash = hash_bytes(hash, numbers, sizeof numbers);
  hash = hash_bytes(hash, &a->generation, sizeof a->generation);
  hash = hash_bytes(hash, &a->def.point, sizeof a->def.point);
  hash = hash_bytes(hash, &a->def.compliance, sizeof a->def.compliance);
  hash = hash_bytes(hash, &a->def.break_force, sizeof a->def.break_force);
  return hash_bytes(hash, &a->lambda, sizeof a->lambda);
}

static uint64_t hash_softs(uint64_t hash, const tn_world *world)
{
  soft_states_out(world);
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    hash = world->softs[i].alive ? hash_soft(hash, world, i) : hash;
  }
  for (int32_t i = 0; i < world->attachment_list.used; ++i) {
    hash = world->attachments[i].alive ? hash_attachment(hash, world, i) : hash;
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
  for (int32_t i = 0; i < world->contact_list.used; ++i) {
    if (world->contacts[i].alive) {
      hash = hash_contact(hash, &world->contacts[i]);
    }
  }
  return hash_softs(hash, world);
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

static size_t content_size(const header *h)
{
  size_t n = (size_t)h->bodies.used;
  return n * (sizeof(body) + sizeof(body_state)) +
         (size_t)blocks_of(h->bodies.used) * sizeof(body_block) +
         (size_t)h->joints.used * sizeof(joint) +
         (size_t)h->geometries.used * sizeof(shared_geometry) + (size_t)h->source_size +
         (size_t)h->shapes.used * sizeof(shape) + (size_t)h->pairs.used * sizeof(pair) +
         (size_t)h->contacts.used * sizeof(contact) + (size_t)h->softs.used * sizeof(soft) +
         (size_t)h->attachments.used * sizeof(attachment) + (size_t)h->meetings * sizeof(meeting) +
         (size_t)h->soft_bytes;
}

static uint64_t soft_bytes(const tn_world *world)
{
  uint64_t size = 0;
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    size += world->softs[i].alive ? world->softs[i].size : 0;
  }
  return size;
}

static uint64_t source_size(const tn_world *world)
{
  uint64_t size = 0;
  for (int32_t i = 0; i < world->geometry_list.used; ++i) {
    size += world->geometries[i].alive ? world->geometries[i].source_size : 0;
  }
  return size;
}

static header header_of(const tn_world *world)
{
  header h;
  memset(&h, 0, sizeof h);
  h.magic = SNAPSHOT_MAGIC;
  h.version = SNAPSHOT_VERSION;
  h.header_size = sizeof(header);
  h.body_size = sizeof(body);
  h.state_size = sizeof(body_state);
  h.block_size = sizeof(body_block);
  h.joint_size = sizeof(joint);
  h.shape_size = sizeof(shape);
  h.pair_size = sizeof(pair);
  h.contact_size = sizeof(contact);
  h.geometry_size = sizeof(shared_geometry);
  h.gravity = world->gravity;
  h.method = (int32_t)world->method;
  h.substeps = world->substeps;
  h.iterations = world->iterations;
  h.sleeping = world->sleeping;
  h.last_h = world->last_h;
  h.bodies = world->body_list;
  h.joints = world->joint_list;
  h.geometries = world->geometry_list;
  h.shapes = world->shape_list;
  h.pairs = world->pair_list;
  h.contacts = world->contact_list;
  h.source_size = source_size(world);
  h.soft_size = sizeof(soft);
  h.attachment_size = sizeof(attachment);
  h.softs = world->soft_list;
  h.attachments = world->attachment_list;
  h.soft_bytes = soft_bytes(world);
  h.meetings = world->meeting_count;
  h.size = content_size(&h);
  return h;
}

// An empty pool has no memory to copy.
static unsigned char *put(unsigned char *at, const void *bytes, size_t size)
{
  if (size > 0) {
    memcpy(at, bytes, size);
  }
  return at + size;
}

static const unsigned char *get(const unsigned char *at, void *bytes, size_t size)
{
  if (size > 0) {
    memcpy(bytes, at, size);
  }
  return at + size;
}

static unsigned char *put_joint(unsigned char *at, const tn_world *world, int32_t slot)
{
  joint copy = world->joints[slot];
  if (copy.alive && copy.block != NO_SLOT) {
    joint_copy_state(world, &copy);
    copy.block = NO_SLOT;
  }
  if (copy.alive) {
    copy.direct = NO_SLOT;
  }
  return put(at, &copy, sizeof copy);
}

static void put_softs(unsigned char *at, const tn_world *world)
{
  soft_states_out(world);
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft copy = world->softs[i];
    soft_lay_out(&copy, NULL); // where its arrays lie says nothing
    copy.memory = NULL;
    at = put(at, &copy, sizeof copy);
  }
  at = put(at, world->attachments, (size_t)world->attachment_list.used * sizeof(attachment));
  at = put(at, world->meetings, (size_t)world->meeting_count * sizeof(meeting));
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    const soft *s = &world->softs[i];
    at = s->alive ? put(at, s->memory, s->size) : at;
  }
}

size_t tn_world_save(const tn_world *world, void *buffer, size_t capacity)
{
  if (!world) {
    return 0;
  }
  header h = header_of(world);
  size_t size = sizeof(header) + (size_t)h.size;
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
  at = put(at, world->geometries, (size_t)h.geometries.used * sizeof(shared_geometry));
  for (int32_t i = 0; i < world->geometry_list.used; ++i) {
    const shared_geometry *g = &world->geometries[i];
    at = g->alive ? put(at, g->source, g->source_size) : at;
  }
  at = put(at, world->shapes, (size_t)h.shapes.used * sizeof(shape));
  at = put(at, world->pairs, (size_t)h.pairs.used * sizeof(pair));
  at = put(at, world->contacts, (size_t)h.contacts.used * sizeof(contact));
  put_softs(at, world);
  h.checksum = checksum_of(h, start);
  memcpy(buffer, &h, sizeof h);
  return size;
}

static bool is_count(int32_t count)
{
  return count >= 0 && count <= INT32_MAX / 2;
}

static const char *why_bad_snapshot(const header *h, const unsigned char *buffer, size_t size)
{
  if (h->magic != SNAPSHOT_MAGIC) {
    return "this is no snapshot";
  }
  if (h->version != SNAPSHOT_VERSION || h->header_size != sizeof(header) ||
      h->body_size != sizeof(body) || h->state_size != sizeof(body_state) ||
      h->block_size != sizeof(body_block) || h->joint_size != sizeof(joint) ||
      h->shape_size != sizeof(shape) || h->pair_size != sizeof(pair) ||
      h->contact_size != sizeof(contact) || h->geometry_size != sizeof(shared_geometry) ||
      h->soft_size != sizeof(soft) || h->attachment_size != sizeof(attachment)) {
    return "the snapshot is of another version or machine type";
  }
  if (h->bodies.used < 1 || !is_count(h->bodies.used) || !is_count(h->joints.used) ||
      !is_count(h->geometries.used) || !is_count(h->shapes.used) || !is_count(h->pairs.used) ||
      !is_count(h->contacts.used) || !is_count(h->softs.used) || !is_count(h->attachments.used) ||
      !is_count(h->meetings) || h->soft_bytes > SIZE_MAX / 4 || h->source_size > SIZE_MAX / 4 ||
      h->size != content_size(h) || size - sizeof(header) < h->size) {
    return "the snapshot is truncated";
  }
  if (checksum_of(*h, buffer + sizeof(header)) != h->checksum) {
    return "the snapshot is damaged";
  }
  return NULL;
}

static size_t geometry_offset(const header *h)
{
  size_t n = (size_t)h->bodies.used;
  return n * (sizeof(body) + sizeof(body_state)) +
         (size_t)blocks_of(h->bodies.used) * sizeof(body_block) +
         (size_t)h->joints.used * sizeof(joint);
}

static bool reserve_pool(tn_world *world, void **array, pool_list *list, int32_t used, size_t size)
{
  if (used > list->capacity) {
    if (!memory_grow(world, array, list->used, list->capacity, used, size)) {
      return false;
    }
    list->capacity = used;
  }
  return true;
}

// The geometries of the snapshot, made apart from the world's own, which stay until all is well.
typedef struct remade {
  shared_geometry *geometries;
  int32_t count;
} remade;

static bool remake(tn_world *world, const header *h, const unsigned char *at, remade *out)
{
  out->count = h->geometries.used;
  out->geometries = memory_take(world, (size_t)(out->count + 1) * sizeof(shared_geometry));
  if (!out->geometries) {
    return false;
  }
  const unsigned char *source =
      get(at, out->geometries, (size_t)out->count * sizeof(shared_geometry));
  bool ok = true;
  for (int32_t i = 0; i < out->count; ++i) {
    shared_geometry *g = &out->geometries[i];
    size_t size = g->alive ? g->source_size : 0;
    g->alive = g->alive && ok && geometry_remake(world, g, source);
    ok = ok && (size == 0 || g->alive);
    source += size;
  }
  return ok;
}

static void discard(tn_world *world, remade *r)
{
  for (int32_t i = 0; i < r->count && r->geometries; ++i) {
    if (r->geometries[i].alive) {
      geometry_release(world, &r->geometries[i]);
    }
  }
  memory_give(world, r->geometries, (size_t)(r->count + 1) * sizeof(shared_geometry));
}

// The soft bodies of the snapshot with arrays of their own.
typedef struct soft_copies {
  soft *softs;
  int32_t count;
} soft_copies;

static void discard_softs(tn_world *world, soft_copies *copies)
{
  for (int32_t i = 0; i < copies->count && copies->softs; ++i) {
    if (copies->softs[i].alive) {
      memory_give(world, copies->softs[i].memory, copies->softs[i].size);
    }
  }
  memory_give(world, copies->softs, (size_t)(copies->count + 1) * sizeof(soft));
  copies->softs = NULL;
}

static bool copy_softs(tn_world *world, const header *h, const unsigned char *at, soft_copies *out)
{
  out->count = h->softs.used;
  out->softs = memory_take(world, (size_t)(out->count + 1) * sizeof(soft));
  if (!out->softs) {
    return false;
  }
  at = get(at, out->softs, (size_t)out->count * sizeof(soft));
  at += (size_t)h->attachments.used * sizeof(attachment) + (size_t)h->meetings * sizeof(meeting);
  bool ok = true;
  for (int32_t i = 0; i < out->count; ++i) {
    soft *s = &out->softs[i];
    if (!s->alive) {
      continue;
    }
    s->memory = ok ? memory_take(world, s->size) : NULL;
    ok = ok && s->memory;
    s->alive = ok;
    if (ok) {
      at = get(at, s->memory, s->size);
      soft_lay_out(s, s->memory);
    }
  }
  return ok;
}

static bool reserve(tn_world *world, const header *h)
{
  return body_reserve(world, h->bodies.used) &&
         reserve_pool(world, (void **)&world->joints, &world->joint_list, h->joints.used,
                      sizeof(joint)) &&
         reserve_pool(world, (void **)&world->geometries, &world->geometry_list, h->geometries.used,
                      sizeof(shared_geometry)) &&
         reserve_pool(world, (void **)&world->shapes, &world->shape_list, h->shapes.used,
                      sizeof(shape)) &&
         memory_reserve(world, (void **)&world->ways, &world->way_capacity, h->shapes.used,
                        sizeof(shape_way)) &&
         reserve_pool(world, (void **)&world->pairs, &world->pair_list, h->pairs.used,
                      sizeof(pair)) &&
         reserve_pool(world, (void **)&world->softs, &world->soft_list, h->softs.used,
                      sizeof(soft)) &&
         reserve_pool(world, (void **)&world->attachments, &world->attachment_list,
                      h->attachments.used, sizeof(attachment)) &&
         memory_reserve(world, (void **)&world->meetings, &world->meeting_capacity, h->meetings,
                        sizeof(meeting)) &&
         reserve_pool(world, (void **)&world->contacts, &world->contact_list, h->contacts.used,
                      sizeof(contact));
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

static void take_pool(pool_list *list, const pool_list *from)
{
  int32_t capacity = list->capacity;
  *list = *from;
  list->capacity = capacity;
}

static void take_bodies(tn_world *world, const header *h, const unsigned char *at)
{
  size_t n = (size_t)h->bodies.used;
  body_clear_slots(world, 0, world->body_list.capacity);
  at = get(at, world->bodies, n * sizeof(body));
  at = get(at, world->state, n * sizeof(body_state));
  at = get(at, world->body_blocks, (size_t)blocks_of(h->bodies.used) * sizeof(body_block));
  if (world->joint_list.capacity > 0) {
    memset(world->joints, 0, (size_t)world->joint_list.capacity * sizeof(joint));
  }
  get(at, world->joints, (size_t)h->joints.used * sizeof(joint));
  take_pool(&world->body_list, &h->bodies);
  take_pool(&world->joint_list, &h->joints);
  world->graph.dirty = true;
  world->graph.block_count = 0;
  world->awake_changed = true;
  body_restore_inertia(world);
  for (int32_t i = 0; i < world->joint_list.used; ++i) {
    name_own_bodies(world, &world->joints[i]);
  }
}

static void take_geometries(tn_world *world, const remade *made)
{
  for (int32_t i = 0; i < world->geometry_list.used; ++i) {
    if (world->geometries[i].alive) {
      geometry_release(world, &world->geometries[i]);
    }
  }
  if (made->count > 0) {
    memcpy(world->geometries, made->geometries, (size_t)made->count * sizeof(shared_geometry));
  }
}

static void take_shapes(tn_world *world, const header *h, const unsigned char *at)
{
  at += (size_t)h->geometries.used * sizeof(shared_geometry) + (size_t)h->source_size;
  at = get(at, world->shapes, (size_t)h->shapes.used * sizeof(shape));
  at = get(at, world->pairs, (size_t)h->pairs.used * sizeof(pair));
  get(at, world->contacts, (size_t)h->contacts.used * sizeof(contact));
  take_pool(&world->geometry_list, &h->geometries);
  take_pool(&world->shape_list, &h->shapes);
  take_pool(&world->pair_list, &h->pairs);
  take_pool(&world->contact_list, &h->contacts);
  world->contact_graph.block_count = 0;
  // What was kept of places and materials belongs to the other world's count of looks and changes.
  for (int32_t i = 0; i < world->shape_list.used; ++i) {
    world->ways[i] = (shape_way){.spent = (double)INFINITY};
  }
  for (int32_t i = 0; i < world->contact_list.used; ++i) {
    world->contacts[i].terms.mixed = 0;
  }
  world->searchers_changed = true;
  world->contact_event_count = world->told_event_count = 0;
  world->sleep_event_count = world->told_sleep_count = 0;
}

static void take_softs(tn_world *world, const header *h, const unsigned char *at,
                       soft_copies *copies)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    if (world->softs[i].alive) {
      memory_give(world, world->softs[i].memory, world->softs[i].size);
    }
  }
  if (copies->count > 0) {
    memcpy(world->softs, copies->softs, (size_t)copies->count * sizeof(soft));
  }
  at = get(at + (size_t)h->softs.used * sizeof(soft), world->attachments,
           (size_t)h->attachments.used * sizeof(attachment));
  get(at, world->meetings, (size_t)h->meetings * sizeof(meeting));
  world->meeting_count = h->meetings;
  world->soft_event_count = world->told_soft_count = 0;
  take_pool(&world->soft_list, &h->softs);
  take_pool(&world->attachment_list, &h->attachments);
  world->touch_count = 0;
  soft_graph_forget(world);
  memory_give(world, copies->softs, (size_t)(copies->count + 1) * sizeof(soft));
}

static size_t soft_offset(const header *h)
{
  return (size_t)(h->size - h->soft_bytes) - (size_t)h->softs.used * sizeof(soft) -
         (size_t)h->attachments.used * sizeof(attachment) - (size_t)h->meetings * sizeof(meeting);
}

static void take_settings(tn_world *world, const header *h)
{
  world->gravity = h->gravity;
  world->method = (tn_method)h->method;
  world->substeps = h->substeps;
  world->iterations = h->iterations;
  world->sleeping = h->sleeping;
  world->last_h = h->last_h;
  world->break_count = 0;
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
  const unsigned char *content = why ? NULL : (const unsigned char *)buffer + sizeof h;
  remade made = {0};
  soft_copies copies = {0};
  if (!why && (!remake(world, &h, content + geometry_offset(&h), &made) ||
               !copy_softs(world, &h, content + soft_offset(&h), &copies) || !reserve(world, &h) ||
               !shapes_reserve_trees(world, h.shapes.used))) {
    discard(world, &made);
    discard_softs(world, &copies);
    why = "out of memory";
  }
  if (why) {
    report(world, TN_LOG_ERROR, "tn_world_restore: %s", why);
    return false;
  }
  take_bodies(world, &h, content);
  take_geometries(world, &made);
  take_shapes(world, &h, content + geometry_offset(&h));
  take_softs(world, &h, content + soft_offset(&h), &copies);
  take_settings(world, &h);
  shapes_replant(world);
  memory_give(world, made.geometries, (size_t)(made.count + 1) * sizeof(shared_geometry));
  return true;
}
