// Soft bodies before and after the substeps: particles and constraints into blocks and back, by
// blocks on all threads.
#include "data/soft_bounds.h"
#include "kernel/ranges.h"
#include "solver/soft/soft_steps.h"

#include <stdatomic.h>
#include <string.h>

// Least work of a task: about 2 us.
#define PARTICLE_BLOCK_GRAIN 8
#define ROW_BLOCK_GRAIN 32

static int32_t block_count(const soft_system *system)
{
  return system->graph->solver_particle_count / BLOCK_WIDTH;
}

static bool is_solved(const soft *s)
{
  return s->alive && s->first > 0;
}

// ---------------------------------------------------------------------------------------------
// Constraints

static void store_chain_sums(const soft_system *system)
{
  const soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(SOFT_EDGE);
  for (int32_t i = 0; i < g->chain_count; ++i) {
    const chain_row *row = &g->chain[i];
    float *fields = system->softs[row->soft].list[SOFT_EDGE].fields +
                    (size_t)row->index * (size_t)(l.params + l.state);
    ((EdgeState *)(fields + l.params))->sum = row->sum;
  }
}

typedef struct row_task {
  const soft_system *system;
  soft_type type;
} row_task;

static void unpack_rows_task(int first, int last, void *context)
{
  const row_task *t = context;
  const soft_graph *g = t->system->graph;
  soft_layout l = soft_layout_of(t->type);
  const soft_rows *rows = &g->data.rows[t->type];
  for (int32_t at = first * BLOCK_WIDTH; at < last * BLOCK_WIDTH; ++at) {
    soft_source from = g->sources[t->type][at];
    if (from.soft == NO_SLOT) {
      continue;
    }
    size_t row = soft_first_row(t->type, at / BLOCK_WIDTH);
    float *fields = t->system->softs[from.soft].list[t->type].fields +
                    (size_t)from.index * (size_t)(l.params + l.state);
    get_lane(rows->row + row + l.particles + l.params, at % BLOCK_WIDTH, fields + l.params,
             (size_t)l.state);
  }
}

void soft_unpack_rows(const soft_system *system)
{
  store_chain_sums(system);
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    row_task task = {system, (soft_type)type};
    task_run(system->tasks, unpack_rows_task, system->graph->data.rows[type].block_count,
             ROW_BLOCK_GRAIN, &task);
  }
}

static float off(const double *to, const double *from)
{
  return (float)(*to - *from);
}

// ParticleStart of every particle, for soft_restore_momentum().
static void pack_start_state(soft_graph *g, const soft *s)
{
  tn_pos origin = s->particles[0].at;
  particle_block *block = &g->data.blocks[s->first / BLOCK_WIDTH];
  const soft_particle *p = s->particles, *end = p + s->particle_count;
  for (; p < end; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH && p < end; ++lane, ++p) {
      float *to = &block->start[0][lane];
      to[0] = off(&p->at.x, &origin.x);
      to[BLOCK_WIDTH] = off(&p->at.y, &origin.y);
      to[2 * BLOCK_WIDTH] = off(&p->at.z, &origin.z);
      to[3 * BLOCK_WIDTH] = p->v.x;
      to[4 * BLOCK_WIDTH] = p->v.y;
      to[5 * BLOCK_WIDTH] = p->v.z;
      to[6 * BLOCK_WIDTH] = p->mass;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Particles

static void pack_particle(const soft_system *system, const soft *s, int32_t i)
{
  soft_graph *g = system->graph;
  const soft_particle *p = &s->particles[i];
  int32_t solver_index = s->first + i;
  int lane = solver_index % BLOCK_WIDTH;
  particle_block *block = &g->data.blocks[solver_index / BLOCK_WIDTH];
  float w = p->pinned ? 0.0f : 1.0f / p->mass;
  float scale = p->pinned ? 0.0f : s->gravity_scale;
  particle_state state = {
      .v = {p->v.x, p->v.y, p->v.z}, .inverse_mass = w, .constraint_count = 1.0f};
  g->data.particles[solver_index] = state;
  g->at[solver_index] = p->at;
  block->acceleration[0][lane] = scale * system->gravity.x + w * p->force.x;
  block->acceleration[1][lane] = scale * system->gravity.y + w * p->force.y;
  block->acceleration[2][lane] = scale * system->gravity.z + w * p->force.z;
  // A free body kicks half before and half after the drifts (leapfrog: exact free flight). A
  // supported one kicks first, so that its contacts answer the whole load.
  block->first_kick[lane] = RULE(soft_supported_kick) && s->supported ? 1.0f : 0.5f;
}

// Clears the impulse sums of the last step.
static void reset_edge_sums(soft_graph *g, int32_t first, int32_t last)
{
  soft_layout l = soft_layout_of(SOFT_EDGE);
  size_t at = (size_t)(l.particles + l.params) + offsetof(EdgeState, sum) / sizeof(R);
  for (int32_t block = first; block < last; ++block) {
    memset(g->data.rows[SOFT_EDGE].row[soft_first_row(SOFT_EDGE, block) + at], 0,
           sizeof *g->data.rows[SOFT_EDGE].row);
  }
}

// Offsets of the particles of each constraint from its first one, rounded to float.
static void pack_row_starts(soft_graph *g, soft_type type, int32_t first, int32_t last)
{
  soft_layout l = soft_layout_of(type);
  soft_rows *rows = &g->data.rows[type];
  for (int32_t block = first; block < last; ++block) {
    size_t row = soft_first_row(type, block);
    int32_t(*solver_index)[BLOCK_WIDTH] = rows->solver_index + row;
    float(*start)[BLOCK_WIDTH] = rows->row + row + l.particles + l.params + l.state;
    for (int k = 1; k < l.particles; ++k) {
      for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
        const tn_pos *a = &g->at[solver_index[0][lane]], *b = &g->at[solver_index[k][lane]];
        bool there = solver_index[k][lane] > 0;
        start[3 * (k - 1)][lane] = there ? off(&b->x, &a->x) : 0.0f;
        start[3 * (k - 1) + 1][lane] = there ? off(&b->y, &a->y) : 0.0f;
        start[3 * (k - 1) + 2][lane] = there ? off(&b->z, &a->z) : 0.0f;
      }
    }
  }
}

// Finds the rigid attachments at particles of ropes: the direct solve includes their bodies.
static void find_rope_attachments(const soft_system *system)
{
  soft_graph *g = system->graph;
  for (int32_t i = 0; i < g->solver_particle_count && g->chain_count > 0; ++i) {
    g->attachment_at[i] = NO_SLOT;
  }
  for (int32_t i = 0; i < system->attachment_pool->used && g->chain_count > 0; ++i) {
    const attachment *a = &system->attachments[i];
    if (RULE(soft_rope_body_mass) && attachment_is_active(system->softs, a) &&
        a->def.compliance == 0.0f) {
      g->attachment_at[system->softs[a->soft].first + a->def.particle] = i;
    }
  }
  for (int32_t i = 0; i < 2 * g->chain_count; ++i) {
    chain_row *row = &g->chain[i / 2];
    int32_t attachment_at = g->attachment_at[row->solver_index[i % 2]];
    row->attachment_slot[i % 2] = attachment_at;
    if (attachment_at != NO_SLOT) {
      tn_pos at = attachment_lever(system->bodies, &system->attachments[attachment_at]);
      row->anchor[i % 2][0] = (float)at.x;
      row->anchor[i % 2][1] = (float)at.y;
      row->anchor[i % 2][2] = (float)at.z;
    }
  }
}

static void pack_starts_task(int first, int last, void *context)
{
  const row_task *t = context;
  if (t->type == SOFT_EDGE) {
    reset_edge_sums(t->system->graph, first, last);
  }
  pack_row_starts(t->system->graph, t->type, first, last);
}

// Number of constraints on each particle, at least 1, for averaging (TN_METHOD_JACOBI).
static void count_particle_constraints(const soft_system *system)
{
  soft_graph *g = system->graph;
  memset(g->jacobi_delta, 0, (size_t)g->solver_particle_count * sizeof *g->jacobi_delta);
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    if (!s->alive || s->first == 0) {
      continue;
    }
    particle_state *p = g->data.particles + s->first;
    for (int32_t k = 0; k < s->particle_count; ++k) {
      p[k].constraint_count = s->pressure > 0.0f ? 1.0f : 0.0f;
    }
    for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
      int32_t count = s->list[type].count * soft_layout_of((soft_type)type).particles;
      for (int32_t k = 0; k < count; ++k) {
        int32_t member = s->list[type].members[k];
        if (member != NO_SLOT) {
          p[member].constraint_count += 1.0f;
        }
      }
    }
    for (int32_t k = 0; k < s->part_count; ++k) {
      p[s->cluster_parts[k].particle].constraint_count += 1.0f;
    }
    for (int32_t k = 0; k < s->particle_count; ++k) {
      p[k].constraint_count = p[k].constraint_count < 1.0f ? 1.0f : p[k].constraint_count;
    }
  }
}

static void pack_blocks_task(int first, int last, void *context)
{
  const soft_system *system = context;
  const soft_graph *g = system->graph;
  for (int32_t i = first; i < last; ++i) {
    const soft_block_owner *owner = &g->block_owners[i];
    memset(g->data.particles + (size_t)i * BLOCK_WIDTH, 0, BLOCK_WIDTH * sizeof *g->data.particles);
    for (int32_t k = 0; k < owner->count; ++k) {
      const soft *s = &system->softs[owner->soft];
      pack_particle(system, s, i * BLOCK_WIDTH - s->first + k);
    }
  }
}

void soft_pack(const soft_system *system)
{
  soft_graph *g = system->graph;
  memset(g->at, 0, (size_t)BLOCK_WIDTH * sizeof *g->at);
  task_run(system->tasks, pack_blocks_task, block_count(system), PARTICLE_BLOCK_GRAIN,
           (void *)system);
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    if (is_solved(s) && s->keep_momentum && system->method != TN_METHOD_TENON) {
      pack_start_state(g, s);
    }
  }
  g->data.jacobi_delta = system->method == TN_METHOD_JACOBI ? g->jacobi_delta : NULL;
  if (g->data.jacobi_delta) {
    count_particle_constraints(system);
  }
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    row_task task = {system, (soft_type)type};
    task_run(system->tasks, pack_starts_task, g->data.rows[type].block_count, ROW_BLOCK_GRAIN,
             &task);
  }
  for (int32_t i = 0; i < g->chain_count; ++i) {
    chain_row *row = &g->chain[i];
    const tn_pos *a = &g->at[row->solver_index[0]], *b = &g->at[row->solver_index[1]];
    row->sum = 0.0f;
    row->delta[0] = off(&b->x, &a->x);
    row->delta[1] = off(&b->y, &a->y);
    row->delta[2] = off(&b->z, &a->z);
  }
  find_rope_attachments(system);
}

// Particles of a block: where they are stored, and their states.
typedef struct block_view {
  soft_particle *stored;
  const particle_state *state;
} block_view;

static block_view view_of(const soft_system *system, int32_t block)
{
  const soft_graph *g = system->graph;
  const soft *s = &system->softs[g->block_owners[block].soft];
  return (block_view){s->particles + (block * BLOCK_WIDTH - s->first),
                      g->data.particles + (size_t)block * BLOCK_WIDTH};
}

static tn_pos end_of(const soft_particle *p, const particle_state *state)
{
  return tn_offset(p->at, tn_v3(state->dx[0], state->dx[1], state->dx[2]));
}

static void check_ends_task(int first, int last, void *context)
{
  const soft_system *system = context;
  for (int32_t i = first; i < last; ++i) {
    soft_block_owner *owner = &system->graph->block_owners[i];
    owner->is_bad = false;
    for (int32_t k = 0; k < owner->count; ++k) {
      block_view v = view_of(system, i);
      owner->is_bad = owner->is_bad || !is_position(end_of(&v.stored[k], &v.state[k]));
    }
  }
}

static void store_particles_task(int first, int last, void *context)
{
  const soft_system *system = context;
  tn_vec3 none = {0.0f, 0.0f, 0.0f};
  for (int32_t i = first; i < last; ++i) {
    soft_block_owner *owner = &system->graph->block_owners[i];
    owner->box = empty_box();
    for (int32_t k = 0; k < owner->count; ++k) {
      block_view v = view_of(system, i);
      soft_particle *p = &v.stored[k];
      const float *speed = v.state[k].v;
      p->force = none;
      p->v = owner->is_bad ? none : tn_v3(speed[0], speed[1], speed[2]);
      p->at = owner->is_bad ? p->at : end_of(p, &v.state[k]);
      box_add_point(&owner->box, p->at);
    }
  }
}

// Whether a block of the soft body is marked. A tear may just have added particles without blocks.
static bool has_bad_block(const soft_system *system, int32_t slot)
{
  const soft_block_owner *owners = system->graph->block_owners;
  bool bad = false;
  for (int32_t i = system->softs[slot].first / BLOCK_WIDTH;
       i < block_count(system) && owners[i].soft == slot; ++i) {
    bad = bad || owners[i].is_bad;
  }
  return bad;
}

// The box of the particles that store_particles_task() has left.
static void update_box(const soft_graph *g, soft *s)
{
  world_aabb box = empty_box();
  for (int32_t k = 0; k < s->particle_count; k += BLOCK_WIDTH) {
    const world_aabb *part = &g->block_owners[(s->first + k) / BLOCK_WIDTH].box;
    box_add_point(&box, part->lower);
    box_add_point(&box, part->upper);
  }
  soft_set_box(s, box);
}

void soft_unpack(const soft_system *system)
{
  soft_graph *g = system->graph;
  int32_t blocks = block_count(system);
  task_run(system->tasks, check_ends_task, blocks, PARTICLE_BLOCK_GRAIN, (void *)system);
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    bool left = is_solved(s) && has_bad_block(system, i);
    for (int32_t k = 0; k < s->particle_count && left; k += BLOCK_WIDTH) {
      g->block_owners[(s->first + k) / BLOCK_WIDTH].is_bad = true;
    }
  }
  task_run(system->tasks, store_particles_task, blocks, PARTICLE_BLOCK_GRAIN, (void *)system);
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    if (is_solved(&system->softs[i])) {
      update_box(g, &system->softs[i]);
    }
  }
}

bool soft_has_left(const soft_system *system, int32_t slot)
{
  return has_bad_block(system, slot);
}

static void check_rates_task(int first, int last, void *context)
{
  const soft_system *system = context;
  for (int32_t i = first; i < last; ++i) {
    soft_block_owner *owner = &system->graph->block_owners[i];
    owner->is_bad = false;
    for (int32_t k = 0; k < owner->count; ++k) {
      owner->is_bad = owner->is_bad || !is_rate(view_of(system, i).stored[k].v);
    }
  }
}

// Particles that a tear has just added are copies.
void soft_check_velocities(const soft_system *system)
{
  task_run(system->tasks, check_rates_task, block_count(system), PARTICLE_BLOCK_GRAIN,
           (void *)system);
}

bool soft_stop_bad_velocities(const soft_system *system, int32_t slot)
{
  soft *s = &system->softs[slot];
  bool bad = has_bad_block(system, slot);
  for (int32_t i = 0; i < s->particle_count && bad; ++i) {
    s->particles[i].v = tn_v3(0.0f, 0.0f, 0.0f);
  }
  return !bad;
}

typedef struct state_task {
  const soft_graph *graph;
  float largest_square;
  atomic_bool beyond;
} state_task;

static float square_of(const float *v)
{
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static void check_states_task(int first, int last, void *context)
{
  state_task *t = context;
  bool within = true;
  for (int32_t i = first; i < last; ++i) {
    const particle_state *p = t->graph->data.particles + (size_t)i * BLOCK_WIDTH;
    for (int32_t k = 0; k < t->graph->block_owners[i].count; ++k) {
      within = within && square_of(p[k].v) + square_of(p[k].dx) <= t->largest_square;
    }
  }
  if (!within) {
    atomic_store_explicit(&t->beyond, true, memory_order_relaxed);
  }
}

bool soft_states_are_within(const soft_system *system, float largest_square)
{
  state_task task = {.graph = system->graph, .largest_square = largest_square};
  task_run(system->tasks, check_states_task, block_count(system), PARTICLE_BLOCK_GRAIN, &task);
  return !task.beyond;
}

void soft_forget_rows(soft *s)
{
  soft_reset_clusters(s, tn_quat_identity());
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    for (int32_t i = 0; i < s->list[type].count; ++i) {
      float *state =
          s->list[type].fields + (size_t)i * (size_t)(l.params + l.state) + (size_t)l.params;
      memset(state, 0, (size_t)l.state * sizeof *state);
      if (type == SOFT_COROTATED || type == SOFT_SHAPE_MATCH) {
        state[3] = 1.0f;
      }
    }
  }
}
