// Soft contacts between records and blocks.
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#include <math.h>
#include <string.h>

#define BLOCK_GRAIN 8 // blocks of contacts in a task

static tn_vec3 surface_velocity(const soft_system *system, const soft_contact *t)
{
  const shape *s = &system->shapes[t->shape];
  dquat rotation = dquat_mul(system->bodies[s->body].rotation, s->local_rotation);
  return pos_round(dquat_rotate(rotation, pos_from_vec3(s->def.material.surface_velocity)));
}

static V vec(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

static SoftContactParams params_of(const soft_system *system, const soft_contact *t)
{
  SoftContactParams p;
  memset(&p, 0, sizeof p);
  for (int i = 0; i < SOFT_CONTACT_PARTICLES; ++i) {
    p.weight[i] = t->weight[i];
  }
  const tn_material *a = &system->softs[t->soft].material;
  bool soft_soft = is_soft_soft(t);
  const tn_material *b =
      soft_soft ? &system->softs[t->other].material : &system->shapes[t->shape].def.material;
  tn_material both = tn_materials_combine(a, b);
  p.mu_static = both.static_friction;
  p.mu_dynamic = both.dynamic_friction;
  p.restitution = both.restitution;
  p.delta = vec(t->delta);
  p.anchor = vec(t->anchor);
  p.normal = vec(t->normal);
  p.round = t->round ? 1.0f : 0.0f;
  p.distance = t->distance;
  p.compliance = soft_soft ? 0.0f : both.compliance;
  p.beta = soft_soft ? TUNING_SOFT_SOFT_BETA : TUNING_CONTACT_DECAY;
  p.beta = RULE(soft_contact_beta) ? p.beta : 1.0f;
  p.max_push_speed =
      RULE(soft_contact_push) ? TUNING_SOFT_CONTACT_PUSH_SPEED : TUNING_PARTICLE_MAX_SPEED;
  if (t->type >= SOFT_CONTACT_PARTICLE_TRIANGLE) {
    const soft_particle *q = system->softs[t->other].particles;
    const int32_t *v = t->particle + first_side_particles(t);
    p.first_side = vec(tn_between_points(q[v[0]].at, q[v[1]].at));
    p.second_side = vec(tn_between_points(q[v[0]].at, q[v[2]].at));
  } else if (!soft_soft) {
    p.surface_velocity = vec(surface_velocity(system, t));
  }
  return p;
}

static int32_t solver_index_of(const soft_system *system, const soft_contact *t, int i)
{
  bool second = is_soft_soft(t) && i >= first_side_particles(t);
  return system->softs[second ? t->other : t->soft].first + t->particle[i];
}

static bool is_dynamic_body(const soft_system *system, int32_t slot)
{
  return slot != NO_SLOT && system->bodies[slot].type == TN_BODY_DYNAMIC;
}

static void pack(const soft_system *system, soft_contact_block *block, int lane)
{
  const soft_contact *t = &system->contacts[block->contact[lane]];
  for (int i = 0; i < soft_contact_particles(t); ++i) {
    block->solver_index[i][lane] = solver_index_of(system, t, i);
  }
  block->body[lane] = t->body == NO_SLOT ? WORLD_SLOT : t->body;
  block->move[lane] = is_dynamic_body(system, t->body);
  SoftContactParams params = params_of(system, t);
  SoftContactState state;
  memset(&state, 0, sizeof state);
  set_lane(block->params, lane, &params, FIELDS(SoftContactParams));
  set_lane(block->state, lane, &state, FIELDS(SoftContactState));
}

static void clear_blocks_task(int first, int last, void *context)
{
  const soft_system *system = context;
  for (int i = first; i < last; ++i) {
    soft_contact_block *block = &system->graph->data.soft_contacts[i];
    memset(block, 0, sizeof *block);
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      block->contact[lane] = NO_SLOT;
    }
  }
}

static void pack_blocks_task(int first, int last, void *context)
{
  const soft_system *system = context;
  for (int i = first; i < last; ++i) {
    soft_contact_block *block = &system->graph->data.soft_contacts[i];
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      if (block->contact[lane] != NO_SLOT) {
        pack(system, block, lane);
      }
    }
  }
}

static soft_coloring_node coloring_node_of(const soft_system *system, int32_t index)
{
  const soft_contact *t = &system->contacts[index];
  soft_coloring_node link = {.count = soft_contact_particles(t), .type = t->type};
  link.body = is_dynamic_body(system, t->body) ? t->body : NO_SLOT;
  for (int i = 0; i < link.count; ++i) {
    link.solver_index[i] = solver_index_of(system, t, i);
  }
  return link;
}

bool soft_contacts_pack(const soft_system *system)
{
  soft_coloring *links = system->contact_coloring;
  soft_data *data = &system->graph->data;
  if (!soft_coloring_build(system, links, system->contact_count, coloring_node_of) ||
      !heap_reserve(system->heap, (void **)&data->soft_contacts, &links->block_capacity,
                    links->block_count, sizeof(soft_contact_block))) {
    return false;
  }
  task_run(system->tasks, clear_blocks_task, links->block_count, BLOCK_GRAIN, (void *)system);
  for (int32_t i = 0; i < system->contact_count; ++i) {
    soft_contact_block *block = &data->soft_contacts[links->at[i] / BLOCK_WIDTH];
    block->type = system->contacts[i].type;
    block->contact[links->at[i] % BLOCK_WIDTH] = i;
  }
  task_run(system->tasks, pack_blocks_task, links->block_count, BLOCK_GRAIN, (void *)system);
  return true;
}

typedef struct unpack_task {
  const soft_system *system;
  float dt;
} unpack_task;

static void unpack_blocks_task(int first, int last, void *context)
{
  const unpack_task *task = context;
  const soft_system *system = task->system;
  for (int32_t i = first * BLOCK_WIDTH; i < last * BLOCK_WIDTH; ++i) {
    soft_contact_block *block = &system->graph->data.soft_contacts[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    if (block->contact[lane] == NO_SLOT) {
      continue;
    }
    SoftContactState state;
    get_lane(block->state, lane, &state, FIELDS(SoftContactState));
    soft_contact *t = &system->contacts[block->contact[lane]];
    t->force = tn_scale(1.0f / task->dt, tn_v3(state.sum.x, state.sum.y, state.sum.z));
  }
}

void soft_contacts_unpack(const soft_system *system, float dt)
{
  unpack_task task = {system, dt};
  task_run(system->tasks, unpack_blocks_task, system->contact_coloring->block_count, BLOCK_GRAIN,
           &task);
}

void soft_contact_layout_release(heap *h, soft_data *data, soft_coloring *links)
{
  soft_coloring_release(h, links);
  heap_free(h, data->soft_contacts, (size_t)links->block_capacity * sizeof(soft_contact_block));
}
