// Fingerprints that tell whether a saved state fits a world.
#include "world/state.h"

static uint64_t mix_body(uint64_t hash, const body *b)
{
  uint32_t numbers[4] = {b->alive, b->generation, (uint32_t)b->type, (uint32_t)b->first_shape};
  hash = state_mix(hash, numbers, sizeof numbers);
  hash = state_mix(hash, &b->local_center, sizeof b->local_center);
  return state_mix(hash, &b->local_principal, sizeof b->local_principal);
}

static uint64_t mix_joint(uint64_t hash, const joint *j)
{
  uint32_t numbers[6] = {j->alive,
                         j->generation,
                         (uint32_t)j->def.kind,
                         (uint32_t)j->slot[0],
                         (uint32_t)j->slot[1],
                         j->def.collide};
  return state_mix(hash, numbers, sizeof numbers);
}

static uint64_t mix_coupling(uint64_t hash, const coupling *k)
{
  uint32_t numbers[4] = {k->alive, k->generation, (uint32_t)k->def.axis_count,
                         (uint32_t)k->def.point_count};
  hash = state_mix(hash, numbers, sizeof numbers);
  return state_mix(hash, k->joint, (size_t)k->def.axis_count * sizeof *k->joint);
}

static uint64_t mix_shape(uint64_t hash, const shape *s)
{
  const tn_shape_def *d = &s->def;
  uint32_t numbers[8] = {
      s->alive,          s->generation, (uint32_t)s->body,   (uint32_t)s->next,
      (uint32_t)d->kind, d->sensor,     (uint32_t)s->shared, (uint32_t)d->filter.group};
  float sizes[12] = {d->position.x,  d->position.y,     d->position.z,     d->rotation.x,
                     d->rotation.y,  d->rotation.z,     d->rotation.w,     d->radius,
                     d->half_length, d->half_extents.x, d->half_extents.y, d->half_extents.z};
  uint64_t filter[2] = {d->filter.category, d->filter.mask};
  hash = state_mix(hash, numbers, sizeof numbers);
  hash = state_mix(hash, sizes, sizeof sizes);
  return state_mix(hash, filter, sizeof filter);
}

static uint64_t mix_geometry(uint64_t hash, const shared_geometry *g)
{
  uint32_t numbers[6] = {g->alive,
                         g->generation,
                         (uint32_t)g->kind,
                         (uint32_t)g->counts[0],
                         (uint32_t)g->counts[1],
                         (uint32_t)g->source_size};
  return state_mix(hash, numbers, sizeof numbers);
}

static uint64_t mix_soft(uint64_t hash, const soft *s)
{
  int32_t numbers[6 + SOFT_TYPE_COUNT] = {s->alive,          (int32_t)s->generation,
                                          s->particle_count, s->triangle_count,
                                          s->cluster_count,  s->part_count};
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    numbers[6 + type] = s->list[type].count;
  }
  return state_mix(hash, numbers, sizeof numbers);
}

static uint64_t mix_attachment(uint64_t hash, const attachment *a)
{
  uint32_t numbers[5] = {a->alive, a->generation, (uint32_t)a->soft, (uint32_t)a->body,
                         (uint32_t)a->def.particle};
  return state_mix(hash, numbers, sizeof numbers);
}

uint64_t state_things(const tn_world *world)
{
  int32_t method = (int32_t)world->method;
  uint64_t hash = state_mix(HASH_START, &method, sizeof method);
#define EACH(name, part)                                                                           \
  for (int32_t i = 0; i < world->name##_pool.used; ++i) {                                          \
    hash = mix_##name(hash, &world->part[i]);                                                      \
  }
  EACH(body, bodies)
  EACH(joint, joints)
  EACH(coupling, couplings)
  EACH(geometry, geometries)
  EACH(shape, shapes)
  EACH(soft, softs)
  EACH(attachment, attachments)
#undef EACH
  return hash;
}

uint64_t state_masses(const tn_world *world)
{
  uint64_t hash = HASH_START;
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    const body *b = &world->bodies[i];
    if (b->alive && b->type == TN_BODY_DYNAMIC) {
      hash = state_mix(hash, &b->mass.mass, sizeof b->mass.mass);
      hash = state_mix(hash, b->moments, sizeof b->moments);
    }
  }
  return hash;
}
