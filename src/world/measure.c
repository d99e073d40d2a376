// Energy and momentum of a world or of a set of bodies.
//
//   kinetic   = 1/2 m v^2 + 1/2 w . L
//   potential = -m g . x, with zero at the origin
//   angular   = L + (x - about) x m v
#include "data/ids.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "world/measures.h"

#include <string.h>

static V momentum_of(const tn_world *world, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = world->body_blocks[slot / BLOCK_WIDTH].spin;
  int lane = slot % BLOCK_WIDTH;
  return v_make(spin[0][lane], spin[1][lane], spin[2][lane]);
}

static void add_body_energy(const tn_world *world, int32_t slot, tn_energy *sum)
{
  const body *b = &world->bodies[slot];
  if (!b->alive || b->type != TN_BODY_DYNAMIC) {
    return;
  }
  const float *v = world->state[slot].v;
  const float *w = world->state[slot].w;
  V l = momentum_of(world, slot);
  double m = (double)b->mass.mass;
  sum->kinetic +=
      0.5 * m *
      ((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
  sum->kinetic +=
      0.5 * ((double)w[0] * (double)l.x + (double)w[1] * (double)l.y + (double)w[2] * (double)l.z);
  sum->potential -=
      m * (double)b->gravity_scale *
      ((double)world->gravity.x * b->center.x + (double)world->gravity.y * b->center.y +
       (double)world->gravity.z * b->center.z);
}

static void add_body_momentum(const tn_world *world, int32_t slot, tn_pos about, tn_momentum *sum)
{
  const body *b = &world->bodies[slot];
  if (!b->alive || b->type != TN_BODY_DYNAMIC) {
    return;
  }
  const float *v = world->state[slot].v;
  V l = momentum_of(world, slot);
  double m = (double)b->mass.mass;
  double p[3] = {m * (double)v[0], m * (double)v[1], m * (double)v[2]};
  tn_pos r = pos_sub(b->center, about);
  sum->mass += m;
  sum->linear[0] += p[0];
  sum->linear[1] += p[1];
  sum->linear[2] += p[2];
  sum->angular[0] += (double)l.x + r.y * p[2] - r.z * p[1];
  sum->angular[1] += (double)l.y + r.z * p[0] - r.x * p[2];
  sum->angular[2] += (double)l.z + r.x * p[1] - r.y * p[0];
}

tn_energy tn_world_energy(const tn_world *world)
{
  tn_energy sum = {0};
  if (!world) {
    return sum;
  }
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    add_body_energy(world, i, &sum);
  }
  for (int32_t i = 0; i < world->joint_pool.used; ++i) {
    const joint *j = &world->joints[i];
    if (j->alive && j->def.enabled) {
      sum.elastic += joint_elastic_energy(world, j);
      sum.kinetic += joint_armature_energy(world, j);
    }
  }
  for (int32_t i = 0; i < world->coupling_pool.used; ++i) {
    const coupling *k = &world->couplings[i];
    sum.elastic += k->alive ? coupling_elastic_energy(world, k) : 0.0;
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      soft_add_energy(world, &world->softs[i], &sum);
    }
  }
  for (int32_t i = 0; i < world->attachment_pool.used; ++i) {
    const attachment *a = &world->attachments[i];
    sum.elastic += a->alive && !a->broken ? attachment_energy(world, a) : 0.0;
  }
  sum.total = sum.kinetic + sum.potential + sum.elastic;
  return sum;
}

static bool is_point(const tn_world *world, tn_pos about, const char *caller)
{
  bool finite = is_finite_pos(about);
  if (!finite) {
    report(&world->log, TN_LOG_ERROR, "%s: the point is not finite", caller);
  }
  return finite;
}

tn_momentum tn_world_momentum(const tn_world *world, tn_pos about)
{
  tn_momentum sum = {0};
  if (!world || !is_point(world, about, "tn_world_momentum")) {
    return sum;
  }
  for (int32_t i = 0; i < world->body_pool.used; ++i) {
    add_body_momentum(world, i, about, &sum);
  }
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    if (world->softs[i].alive) {
      soft_add_momentum(&world->softs[i], about, &sum);
    }
  }
  return sum;
}

// Whether the energy of a joint belongs to the set: its other body `other` is in the set, or is not
// dynamic. Joints inside the set are visited from both bodies, so each visit has `weight` 1/2.
static bool other_end_in_set(const tn_world *world, int32_t other, const tn_body_id *ids, int count,
                             double *weight)
{
  *weight = 1.0;
  if (world->bodies[other].type != TN_BODY_DYNAMIC) {
    return true;
  }
  for (int i = 0; i < count; ++i) {
    if (ids[i].index == (uint32_t)other) {
      *weight = 0.5;
      return true;
    }
  }
  return false;
}

static void add_joint_energy(const tn_world *world, const body *b, const tn_body_id *ids, int count,
                             tn_energy *sum)
{
  for (int32_t link = b->first_joint; link != NO_SLOT;
       link = world->joints[link / 2].next[link % 2]) {
    const joint *j = &world->joints[link / 2];
    double weight;
    if (j->def.enabled && other_end_in_set(world, j->slot[1 - link % 2], ids, count, &weight)) {
      sum->elastic += weight * joint_elastic_energy(world, j);
      sum->kinetic += weight * joint_armature_energy(world, j);
    }
  }
}

static bool is_repeated(const tn_body_id *ids, int at)
{
  for (int i = 0; i < at; ++i) {
    if (TN_SAME_ID(ids[i], ids[at])) {
      return true;
    }
  }
  return false;
}

static bool has_ids(const tn_world *world, const tn_body_id *ids, int count, const char *caller)
{
  if (world && count > 0 && !ids) {
    report(&world->log, TN_LOG_ERROR, "%s: the list of bodies is null", caller);
  }
  return world && ids;
}

tn_energy tn_bodies_energy(const tn_world *world, const tn_body_id *ids, int count)
{
  tn_energy sum = {0};
  if (!has_ids(world, ids, count, "tn_bodies_energy")) {
    return sum;
  }
  for (int i = 0; i < count; ++i) {
    const body *b = body_find(world, ids[i], "tn_bodies_energy");
    if (!b) {
      return (tn_energy){0};
    }
    if (is_repeated(ids, i)) {
      continue;
    }
    add_body_energy(world, body_slot(world, b), &sum);
    if (b->type == TN_BODY_DYNAMIC) {
      add_joint_energy(world, b, ids, count, &sum);
    }
  }
  sum.total = sum.kinetic + sum.potential + sum.elastic;
  return sum;
}

tn_momentum tn_bodies_momentum(const tn_world *world, const tn_body_id *ids, int count,
                               tn_pos about)
{
  tn_momentum sum = {0};
  if (!has_ids(world, ids, count, "tn_bodies_momentum") ||
      !is_point(world, about, "tn_bodies_momentum")) {
    return sum;
  }
  for (int i = 0; i < count; ++i) {
    const body *b = body_find(world, ids[i], "tn_bodies_momentum");
    if (!b) {
      return (tn_momentum){0};
    }
    if (!is_repeated(ids, i)) {
      add_body_momentum(world, body_slot(world, b), about, &sum);
    }
  }
  return sum;
}
