// Soft contacts between records and blocks.
#include "base/dvec.h"
#include "data/world.h"
#include "solver/soft/soft_steps.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static tn_vec3 surface_velocity(const tn_world *world, const soft_contact *t)
{
  const shape *s = &world->shapes[t->shape];
  tn_vec3 v = s->def.material.surface_velocity;
  return pos_round(dquat_rotate(shape_world_pose(world, s).q, pos_from_vec3(v)));
}

static V vec(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

static SoftContactParams params_of(const tn_world *world, const soft_contact *t)
{
  SoftContactParams p;
  memset(&p, 0, sizeof p);
  for (int i = 0; i < SOFT_CONTACT_PARTICLES; ++i) {
    p.weight[i] = t->weight[i];
  }
  const tn_material *a = &world->softs[t->soft].material;
  bool soft_soft = is_soft_soft(t);
  const tn_material *b =
      soft_soft ? &world->softs[t->other].material : &world->shapes[t->shape].def.material;
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
    const soft_particle *q = world->softs[t->other].particles;
    const int32_t *v = t->particle + first_side_particles(t);
    p.first_side = vec(tn_between_points(q[v[0]].at, q[v[1]].at));
    p.second_side = vec(tn_between_points(q[v[0]].at, q[v[2]].at));
  } else if (!soft_soft) {
    p.surface_velocity = vec(surface_velocity(world, t));
  }
  return p;
}

static int32_t solver_index_of(const tn_world *world, const soft_contact *t, int i)
{
  bool second = is_soft_soft(t) && i >= first_side_particles(t);
  return world->softs[second ? t->other : t->soft].first + t->particle[i];
}

static bool is_dynamic_body(const tn_world *world, int32_t slot)
{
  return slot != NO_SLOT && world->bodies[slot].type == TN_BODY_DYNAMIC;
}

static void pack(const tn_world *world, const soft_contact *t, soft_contact_block *block, int lane)
{
  for (int i = 0; i < soft_contact_particles(t); ++i) {
    block->solver_index[i][lane] = solver_index_of(world, t, i);
  }
  block->body[lane] = t->body == NO_SLOT ? WORLD_SLOT : t->body;
  block->move[lane] = is_dynamic_body(world, t->body);
  block->contact[lane] = (int32_t)(t - world->soft_contacts);
  SoftContactParams params = params_of(world, t);
  SoftContactState state;
  memset(&state, 0, sizeof state);
  set_lane(block->params, lane, &params, FIELDS(SoftContactParams));
  set_lane(block->state, lane, &state, FIELDS(SoftContactState));
}

static soft_coloring_node coloring_node_of(const tn_world *world, int32_t index)
{
  const soft_contact *t = &world->soft_contacts[index];
  soft_coloring_node link = {.count = soft_contact_particles(t), .type = t->type};
  link.body = is_dynamic_body(world, t->body) ? t->body : NO_SLOT;
  for (int i = 0; i < link.count; ++i) {
    link.solver_index[i] = solver_index_of(world, t, i);
  }
  return link;
}

bool soft_contacts_pack(tn_world *world)
{
  soft_coloring *links = &world->solver->soft_contact_coloring;
  soft_data *data = &world->solver->soft_graph.data;
  if (!soft_coloring_build(world, links, world->soft_contact_count, coloring_node_of) ||
      !heap_reserve(&world->heap, (void **)&data->soft_contacts, &links->block_capacity,
                    links->block_count, sizeof(soft_contact_block))) {
    return false;
  }
  if (links->block_count > 0) {
    memset(data->soft_contacts, 0, (size_t)links->block_count * sizeof(soft_contact_block));
  }
  for (int32_t i = 0; i < links->block_count * BLOCK_WIDTH; ++i) {
    data->soft_contacts[i / BLOCK_WIDTH].contact[i % BLOCK_WIDTH] = NO_SLOT;
  }
  for (int32_t i = 0; i < world->soft_contact_count; ++i) {
    const soft_contact *t = &world->soft_contacts[i];
    soft_contact_block *block = &data->soft_contacts[links->at[i] / BLOCK_WIDTH];
    block->type = t->type;
    pack(world, t, block, links->at[i] % BLOCK_WIDTH);
  }
  return true;
}

void soft_contacts_unpack(tn_world *world, float dt)
{
  soft_data *data = &world->solver->soft_graph.data;
  for (int32_t i = 0; i < world->solver->soft_contact_coloring.block_count * BLOCK_WIDTH; ++i) {
    soft_contact_block *block = &data->soft_contacts[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    if (block->contact[lane] == NO_SLOT) {
      continue;
    }
    SoftContactState state;
    get_lane(block->state, lane, &state, FIELDS(SoftContactState));
    soft_contact *t = &world->soft_contacts[block->contact[lane]];
    t->force = tn_scale(1.0f / dt, tn_v3(state.sum.x, state.sum.y, state.sum.z));
  }
}

void soft_contact_layout_release(tn_world *world)
{
  soft_coloring *links = &world->solver->soft_contact_coloring;
  soft_coloring_release(world, links);
  heap_free(&world->heap, world->solver->soft_graph.data.soft_contacts,
            (size_t)links->block_capacity * sizeof(soft_contact_block));
}
