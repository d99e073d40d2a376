// Hash of a world's state (FNV-1a). It covers fields one by one instead of whole structures, so
// that padding and pointers do not matter.
#include "solver/mechanism/mechanism_tuning.h"
#include "solver/solver.h"
#include "world/snapshot.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const unsigned char *p = bytes;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ p[i]) * 0x100000001b3ull;
  }
  return hash;
}

// Settings, and what is pending for the next step.
static uint64_t hash_settings(uint64_t hash, const tn_world *world)
{
  int32_t numbers[3] = {(int32_t)world->method, world->substeps, world->iterations};
  hash = hash_bytes(hash, &world->gravity, sizeof world->gravity);
  float times[3] = {world->last_h, world->sleep_speed, world->sleep_time};
  hash = hash_bytes(hash, times, sizeof times);
  if (world->play != TUNING_PLAY) { // so that hashes of before this setting stay
    hash = hash_bytes(hash, &world->play, sizeof world->play);
  }
  return hash_bytes(hash, numbers, sizeof numbers);
}

static uint64_t hash_body_settings(uint64_t hash, const body *b)
{
  int32_t numbers[2] = {(int32_t)b->type, b->mass_from_shapes};
  hash = hash_bytes(hash, numbers, sizeof numbers);
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
  hash = hash_body_settings(hash, b);
  hash = hash_bytes(hash, &b->center, sizeof b->center);
  hash = hash_bytes(hash, &b->rotation, sizeof b->rotation);
  hash = hash_bytes(hash, state->v, sizeof state->v);
  hash = hash_bytes(hash, state->w, sizeof state->w);
  for (int i = 0; i < 3; ++i) {
    hash = hash_bytes(hash, &spin[i][slot % BLOCK_WIDTH], sizeof(float));
  }
  return hash;
}

static uint64_t hash_axis(uint64_t hash, const tn_axis *a)
{
  const tn_drive *d = &a->drive;
  float numbers[15] = {d->target,    d->velocity,  d->force,     d->stiffness, d->damping,
                       d->limits.lo, d->limits.hi, d->max_speed, a->stiffness, a->rest,
                       a->damping,   a->friction,  a->armature,  a->inertia,   a->max_effort};
  return hash_bytes(hash, numbers, sizeof numbers);
}

static uint64_t hash_def(uint64_t hash, const tn_joint_def *def)
{
  int32_t kind[2] = {(int32_t)def->kind, def->enabled};
  float numbers[7] = {def->swing,
                      def->compliance,
                      def->angular_compliance,
                      def->limit_compliance,
                      def->angular_limit_compliance,
                      def->break_force,
                      def->break_torque};
  hash = hash_bytes(hash, kind, sizeof kind);
  hash = hash_bytes(hash, def->linear, sizeof def->linear);
  hash = hash_bytes(hash, def->angular, sizeof def->angular);
  hash = hash_bytes(hash, numbers, sizeof numbers);
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    hash = hash_axis(hash, &def->axis[i]);
  }
  return hash;
}

static uint64_t hash_joint(uint64_t hash, const tn_world *world, int32_t slot)
{
  joint copy = world->joints[slot];
  hash = hash_def(hash, &copy.def);
  hash = hash_bytes(hash, copy.slot, sizeof copy.slot);
  hash = hash_bytes(hash, copy.frame_rotation, sizeof copy.frame_rotation);
  hash = hash_bytes(hash, copy.frame_point, sizeof copy.frame_point);
  hash = hash_bytes(hash, copy.target, sizeof copy.target);
  hash = hash_bytes(hash, copy.drive_force, sizeof copy.drive_force);
  hash = hash_bytes(hash, copy.angle, sizeof copy.angle);
  hash = hash_bytes(hash, &copy.axis_features, sizeof copy.axis_features);
  hash = hash_bytes(hash, &slot, sizeof slot);
  hash = hash_bytes(hash, &copy.generation, sizeof copy.generation);
  hash = hash_bytes(hash, &copy.force, sizeof copy.force);
  hash = hash_bytes(hash, &copy.torque, sizeof copy.torque);
  hash = hash_bytes(hash, &copy.half_kick_done, sizeof copy.half_kick_done);
  if (copy.block == NO_SLOT) {
    hash = hash_bytes(hash, copy.state, sizeof copy.state);
    hash = hash_bytes(hash, copy.axis_state, sizeof copy.axis_state);
    return hash_bytes(hash, copy.half_kick_impulse, sizeof copy.half_kick_impulse);
  }
  const joint_block *block = &world->solver->joint_graph.blocks[copy.block];
  const block_rows *rows[2] = {&block->linear, &block->angular};
  for (int k = 0; k < 2; ++k) {
    for (size_t i = 0; i < FIELDS(RowState); ++i) {
      hash = hash_bytes(hash, &rows[k]->state[i][copy.lane], sizeof(float));
    }
  }
  for (int k = 0; k < 2; ++k) {
    for (size_t i = 0; i < FIELDS(AxesState); ++i) {
      hash = hash_bytes(hash, &rows[k]->axes_state[i][copy.lane], sizeof(float));
    }
  }
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 3; ++i) {
      hash = hash_bytes(hash, &rows[k]->half_kick_impulse[i][copy.lane], sizeof(float));
    }
  }
  return hash;
}

static uint64_t hash_coupling_def(uint64_t hash, const tn_coupling_def *def)
{
  int32_t counts[3] = {def->axis_count, def->point_count, def->enabled};
  float numbers[16] = {def->offset,
                       def->range.lo,
                       def->range.hi,
                       def->compliance,
                       def->range_damping,
                       def->stiffness,
                       def->rest,
                       def->damping,
                       def->friction,
                       def->drive.stiffness,
                       def->drive.target,
                       def->drive.damping,
                       def->drive.velocity,
                       def->drive.force,
                       def->drive.limits.lo,
                       def->drive.limits.hi};
  hash = hash_bytes(hash, counts, sizeof counts);
  hash = hash_bytes(hash, numbers, sizeof numbers);
  for (int i = 0; i < def->axis_count; ++i) {
    const tn_coupling_axis *a = &def->axes[i];
    int32_t axis = a->axis;
    hash = hash_bytes(hash, &axis, sizeof axis);
    hash = hash_bytes(hash, &a->reference, sizeof a->reference);
    hash = hash_bytes(hash, a->coefficients, sizeof a->coefficients);
  }
  for (int i = 0; i < def->point_count; ++i) {
    const tn_coupling_point *p = &def->points[i];
    float form[9] = {p->factor, p->radius, p->axis.x,
                     p->axis.y, p->axis.z, p->side.x,
                     p->side.y, p->side.z, p->inside ? 1.0f : 0.0f};
    hash = hash_bytes(hash, &p->position, sizeof p->position);
    hash = hash_bytes(hash, form, sizeof form);
  }
  return hash;
}

static uint64_t hash_coupling(uint64_t hash, const coupling *k)
{
  hash = hash_coupling_def(hash, &k->def);
  hash = hash_bytes(hash, &k->generation, sizeof k->generation);
  hash = hash_bytes(hash, k->joint, (size_t)k->def.axis_count * sizeof *k->joint);
  hash = hash_bytes(hash, k->side_body, (size_t)k->side_count * sizeof *k->side_body);
  hash = hash_bytes(hash, k->coordinate, (size_t)k->def.axis_count * sizeof *k->coordinate);
  hash = hash_bytes(hash, k->impulse, sizeof k->impulse);
  hash = hash_bytes(hash, k->impulse_ahead, sizeof k->impulse_ahead);
  hash = hash_bytes(hash, &k->rate_before_half_kick, sizeof k->rate_before_half_kick);
  float numbers[4] = {k->target, k->force, k->drive_force, k->half_kick_done ? 1.0f : 0.0f};
  return hash_bytes(hash, numbers, sizeof numbers);
}

// What a contact carries over to the next step.
static uint64_t hash_contact(uint64_t hash, const contact *c)
{
  hash = hash_bytes(hash, &c->pair, sizeof c->pair);
  hash = hash_bytes(hash, &c->manifold.count, sizeof c->manifold.count);
  hash = hash_bytes(hash, &c->manifold.normal, sizeof c->manifold.normal);
  for (int i = 0; i < c->manifold.count; ++i) {
    hash = hash_bytes(hash, &c->manifold.points[i].gap, sizeof(float));
    hash = hash_bytes(hash, &c->state.lambda[i], sizeof(float));
  }
  return hash_bytes(hash, &c->state.preload, sizeof c->state - offsetof(contact_state, preload));
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

// With parameters and warm start impulses of its rows.
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
  hash = hash_bytes(hash, &s->unfold.time, sizeof s->unfold.time);
  hash = hash_bytes(hash, s->unfold.cluster.q, sizeof s->unfold.cluster.q);
  for (int32_t i = 0; i < s->part_count; ++i) {
    hash = hash_bytes(hash, &s->cluster_parts[i], offsetof(cluster_part, at));
  }
  size_t plastic = s->plastic ? 9 * (size_t)s->list[SOFT_SHAPE_MATCH].count : 0;
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
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    hash = world->softs[i].alive ? hash_soft(hash, world, i) : hash;
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
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
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    if (world->bodies[i].alive) {
      hash = hash_body(hash, world, i);
    }
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    if (world->joints[i].alive) {
      hash = hash_joint(hash, world, i);
    }
  }
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    if (world->couplings[i].alive) {
      hash = hash_coupling(hash, &world->couplings[i]);
    }
  }
  for (int32_t i = 0; i < world->contact_pool.used; ++i) {
    if (world->contacts[i].alive) {
      hash = hash_contact(hash, &world->contacts[i]);
    }
  }
  return hash_softs(hash, world);
}
