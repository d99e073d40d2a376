// Layout of soft bodies in the solver: consecutive indices for the particles of all awake bodies,
// blocks of constraints by type and colour. Rebuilt when a body is created, destroyed, wakes, falls
// asleep, tears or is pinned; packed and unpacked in every step.
#include "data/soft_bounds.h"
#include "kernel/ranges.h"
#include "solver/soft/soft_steps.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Solver indices

static bool reserve_solver_particles(heap *h, soft_graph *g, int32_t count)
{
  int32_t blocks = (count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
  return heap_reserve(h, (void **)&g->at, &g->particle_capacity, count, sizeof *g->at) &&
         heap_reserve(h, (void **)&g->data.particles, &g->data_capacity, blocks * BLOCK_WIDTH,
                      sizeof *g->data.particles) &&
         heap_reserve(h, (void **)&g->data.blocks, &g->block_capacity, blocks,
                      sizeof *g->data.blocks) &&
         heap_reserve(h, (void **)&g->jacobi_delta, &g->jacobi_delta_capacity, blocks * BLOCK_WIDTH,
                      sizeof *g->jacobi_delta) &&
         heap_reserve(h, (void **)&g->gradient, &g->gradient_capacity, count,
                      sizeof *g->gradient) &&
         heap_reserve(h, (void **)&g->attachment_at, &g->attachment_at_capacity, count,
                      sizeof *g->attachment_at);
}

// Every body begins a block. The first block is reserved for index 0, the padding particle.
static int32_t assign_solver_indices(const soft_system *system)
{
  int32_t next = BLOCK_WIDTH;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    soft *s = &system->softs[i];
    s->first = 0;
    if (s->alive && !s->asleep) {
      s->first = next;
      next += (s->particle_count + BLOCK_WIDTH - 1) / BLOCK_WIDTH * BLOCK_WIDTH;
    }
  }
  return next;
}

// ---------------------------------------------------------------------------------------------
// Colours

typedef struct color_state {
  uint64_t *used;                // colours in use, as bits, by solver index
  uint8_t *color;                // by constraint; MAX_COLORS: none was free
  int32_t count;                 // constraints coloured
  int32_t group[MAX_COLORS + 1]; // constraints per colour, then the next lane of each colour
} color_state;

static int lowest_zero_bit(uint64_t bits)
{
  for (int i = 0; i < 64; ++i) {
    if (!(bits >> i & 1)) {
      return i;
    }
  }
  return 64;
}

// The edges of ropes are not in blocks: they are solved directly, see build_chains().
static bool is_in_blocks(const soft *s, soft_type type)
{
  return s->first > 0 && s->list[type].count > 0 && !(type == SOFT_EDGE && s->chained);
}

static int32_t count_rows(const soft_system *system, soft_type type)
{
  int32_t count = 0;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    count += s->alive && is_in_blocks(s, type) ? s->list[type].count : 0;
  }
  return count;
}

// Greedy: each constraint takes the lowest colour that none of its particles has.
static void color_constraints(const soft *s, soft_type type, color_state *p)
{
  int size = soft_layout_of(type).particles;
  for (int32_t i = 0; i < s->list[type].count; ++i) {
    const int32_t *v = s->list[type].members + (size_t)i * (size_t)size;
    uint64_t taken = 0;
    for (int k = 0; k < size; ++k) {
      taken |= v[k] == NO_SLOT ? 0 : p->used[s->first + v[k]];
    }
    int color = lowest_zero_bit(taken);
    for (int k = 0; k < size && color < MAX_COLORS; ++k) {
      if (v[k] != NO_SLOT) {
        p->used[s->first + v[k]] |= 1ull << color;
      }
    }
    p->color[p->count++] = (uint8_t)color;
    p->group[color] += 1;
  }
}

// Turns the counts of each colour into its first lane; returns the number of blocks. Constraints
// without a colour get a block each and run serially.
static int32_t assign_color_ranges(soft_graph *g, soft_type type, color_state *p)
{
  int32_t next = 0;
  g->color_count[type] = 0;
  for (int color = 0; color <= MAX_COLORS; ++color) {
    int32_t first = next, count = p->group[color];
    bool overflow = color == MAX_COLORS;
    p->group[color] = next * BLOCK_WIDTH;
    next += overflow ? count : (count + BLOCK_WIDTH - 1) / BLOCK_WIDTH;
    if (overflow) {
      g->overflow[type].first = first;
      g->overflow[type].last = next;
    } else {
      g->color[type][color].first = first;
      g->color[type][color].last = next;
      g->color_count[type] = count > 0 ? color + 1 : g->color_count[type];
    }
  }
  return next;
}

// ---------------------------------------------------------------------------------------------
// Blocks

// First row of a block in soft_rows.
static size_t first_row(soft_type type, int32_t block)
{
  return (size_t)block * (size_t)soft_block_rows(type);
}

static void fill_lane(const soft_system *system, soft_type type, soft_source from, int32_t at)
{
  soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(type);
  const soft *s = &system->softs[from.soft];
  soft_rows *rows = &g->data.rows[type];
  size_t row = first_row(type, at / BLOCK_WIDTH);
  int lane = at % BLOCK_WIDTH;
  const int32_t *v = s->list[type].members + (size_t)from.index * (size_t)l.particles;
  const float *fields = s->list[type].fields + (size_t)from.index * (size_t)(l.params + l.state);
  for (int k = 0; k < l.particles; ++k) {
    rows->solver_index[row + (size_t)k][lane] = v[k] == NO_SLOT ? 0 : s->first + v[k];
  }
  set_lane(rows->row + row + l.particles, lane, fields, (size_t)l.params + (size_t)l.state);
  if (type == SOFT_SHAPE_MATCH) {
    size_t mass = row + (size_t)l.particles + offsetof(ShapeMatchParams, mass) / sizeof(R);
    for (int k = 0; k < l.particles; ++k) {
      bool pinned = RULE(soft_pinned_mass) && v[k] != NO_SLOT && s->particles[v[k]].pinned;
      rows->row[mass + (size_t)k][lane] *= pinned ? TUNING_PINNED_MASS_FACTOR : 1.0f;
    }
  }
  g->sources[type][at] = from;
}

// Padding lanes are zero but for unit quaternions, so that they compute no NaN or denormals.
static void clear_blocks(soft_graph *g, soft_type type, int32_t count)
{
  soft_layout l = soft_layout_of(type);
  soft_rows *rows = &g->data.rows[type];
  memset(rows->row, 0, first_row(type, count) * sizeof *rows->row);
  for (int32_t i = 0; i < count * BLOCK_WIDTH; ++i) {
    g->sources[type][i].soft = NO_SLOT;
    if (type == SOFT_COROTATED || type == SOFT_SHAPE_MATCH) {
      size_t w = first_row(type, i / BLOCK_WIDTH) + (size_t)(l.particles + l.params) + 3;
      rows->row[w][i % BLOCK_WIDTH] = 1.0f;
    }
  }
}

static bool reserve_blocks(heap *h, soft_graph *g, soft_type type, int32_t count)
{
  soft_rows *rows = &g->data.rows[type];
  return heap_reserve(h, (void **)&rows->row, &rows->block_capacity, count,
                      first_row(type, 1) * sizeof *rows->row) &&
         heap_reserve(h, (void **)&g->sources[type], &g->source_capacity[type], count * BLOCK_WIDTH,
                      sizeof(soft_source));
}

static bool build_type(const soft_system *system, soft_type type, color_state *p,
                       int32_t solver_particles)
{
  soft_graph *g = system->graph;
  memset(p->used, 0, (size_t)solver_particles * sizeof *p->used);
  memset(p->group, 0, sizeof p->group);
  p->count = 0;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    if (system->softs[i].alive && is_in_blocks(&system->softs[i], type)) {
      color_constraints(&system->softs[i], type, p);
    }
  }
  int32_t blocks = assign_color_ranges(g, type, p), next = 0;
  if (!reserve_blocks(system->heap, g, type, blocks)) {
    return false;
  }
  g->data.rows[type].block_count = blocks;
  if (blocks > 0) {
    clear_blocks(g, type, blocks);
  }
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    for (int32_t k = 0; s->alive && is_in_blocks(s, type) && k < s->list[type].count; ++k) {
      int color = p->color[next++];
      soft_source from = {i, k};
      fill_lane(system, type, from, p->group[color]);
      p->group[color] += color == MAX_COLORS ? BLOCK_WIDTH : 1;
    }
  }
  return true;
}

static bool build_chains(const soft_system *system)
{
  soft_graph *g = system->graph;
  int32_t count = 0;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    count += s->alive && s->chained && s->first > 0 ? s->list[SOFT_EDGE].count : 0;
  }
  if (!heap_reserve(system->heap, (void **)&g->chain, &g->chain_capacity, count,
                    sizeof(chain_row))) {
    return false;
  }
  g->chain_count = 0;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    for (int32_t k = 0; s->alive && s->chained && s->first > 0 && k < s->list[SOFT_EDGE].count;
         ++k) {
      soft_layout l = soft_layout_of(SOFT_EDGE);
      const int32_t *v = s->list[SOFT_EDGE].members + 2 * (size_t)k;
      const EdgeParams *e = (const EdgeParams *)(s->list[SOFT_EDGE].fields +
                                                 (size_t)k * (size_t)(l.params + l.state));
      chain_row row = {.soft = i,
                       .index = k,
                       .solver_index = {s->first + v[0], s->first + v[1]},
                       .continues = k > 0 && v[-1] == v[0],
                       .rest = e->rest,
                       .compliance = e->compliance,
                       .damping = e->damping};
      g->chain[g->chain_count++] = row;
    }
  }
  return true;
}

void soft_graph_invalidate(soft_graph *g, bool *stale)
{
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    g->data.rows[type].block_count = 0;
  }
  g->chain_count = 0;
  *stale = true;
}

static bool build(const soft_system *system)
{
  soft_graph *g = system->graph;
  int32_t solver_particles = assign_solver_indices(system), most = 0;
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    int32_t count = count_rows(system, (soft_type)type);
    most = count > most ? count : most;
  }
  g->solver_particle_count = solver_particles;
  size_t used_size = (size_t)solver_particles * sizeof(uint64_t), color_size = (size_t)most + 1;
  color_state p = {
      heap_alloc(system->heap, used_size), heap_alloc(system->heap, color_size), 0, {0}};
  bool ok = p.used && p.color && reserve_solver_particles(system->heap, g, solver_particles) &&
            build_chains(system);
  if (ok) { // padding particles after a body's last one have no acceleration and no mass
    memset(g->data.blocks, 0, (size_t)(solver_particles / BLOCK_WIDTH) * sizeof *g->data.blocks);
  }
  for (int type = 0; ok && type < SOFT_TYPE_COUNT; ++type) {
    ok = build_type(system, (soft_type)type, &p, solver_particles);
  }
  heap_free(system->heap, p.used, used_size);
  heap_free(system->heap, p.color, color_size);
  return ok;
}

bool soft_graph_build(const soft_system *system)
{
  if (!*system->layout_stale) {
    return true;
  }
  if (!build(system)) {
    soft_graph_invalidate(system->graph, system->layout_stale);
    return false;
  }
  *system->layout_stale = false;
  return true;
}

void soft_graph_release(heap *h, soft_graph *g)
{
  heap_free(h, g->at, (size_t)g->particle_capacity * sizeof *g->at);
  heap_free(h, g->data.particles, (size_t)g->data_capacity * sizeof *g->data.particles);
  heap_free(h, g->data.blocks, (size_t)g->block_capacity * sizeof *g->data.blocks);
  heap_free(h, g->attachment_at, (size_t)g->attachment_at_capacity * sizeof *g->attachment_at);
  heap_free(h, g->gradient, (size_t)g->gradient_capacity * sizeof *g->gradient);
  heap_free(h, g->chain, (size_t)g->chain_capacity * sizeof *g->chain);
  heap_free(h, g->jacobi_delta, (size_t)g->jacobi_delta_capacity * sizeof *g->jacobi_delta);
  heap_free(h, g->unfold_parts, (size_t)g->unfold_part_capacity * sizeof *g->unfold_parts);
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_rows *rows = &g->data.rows[type];
    heap_free(h, rows->row,
              (size_t)rows->block_capacity * first_row((soft_type)type, 1) * sizeof *rows->row);
    heap_free(h, g->sources[type], (size_t)g->source_capacity[type] * sizeof *g->sources[type]);
  }
}

// ---------------------------------------------------------------------------------------------
// Pack and unpack

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

void soft_unpack_rows(const soft_system *system)
{
  const soft_graph *g = system->graph;
  store_chain_sums(system);
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    const soft_rows *rows = &g->data.rows[type];
    for (int32_t at = 0; at < rows->block_count * BLOCK_WIDTH; ++at) {
      soft_source from = g->sources[type][at];
      if (from.soft == NO_SLOT) {
        continue;
      }
      size_t row = first_row((soft_type)type, at / BLOCK_WIDTH);
      float *fields = system->softs[from.soft].list[type].fields +
                      (size_t)from.index * (size_t)(l.params + l.state);
      get_lane(rows->row + row + l.particles + l.params, at % BLOCK_WIDTH, fields + l.params,
               (size_t)l.state);
    }
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
    memset(g->data.rows[SOFT_EDGE].row[first_row(SOFT_EDGE, block) + at], 0,
           sizeof *g->data.rows[SOFT_EDGE].row);
  }
}

// Offsets of the particles of each constraint from its first one, rounded to float.
static void pack_row_starts(soft_graph *g, soft_type type, int32_t first, int32_t last)
{
  soft_layout l = soft_layout_of(type);
  soft_rows *rows = &g->data.rows[type];
  for (int32_t block = first; block < last; ++block) {
    size_t row = first_row(type, block);
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

typedef struct start_task {
  soft_graph *graph;
  soft_type type;
} start_task;

static void run_starts(int first, int last, void *context)
{
  start_task *t = context;
  if (t->type == SOFT_EDGE) {
    reset_edge_sums(t->graph, first, last);
  }
  pack_row_starts(t->graph, t->type, first, last);
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

void soft_pack(const soft_system *system)
{
  soft_graph *g = system->graph;
  memset(g->data.particles, 0, (size_t)g->solver_particle_count * sizeof *g->data.particles);
  memset(g->at, 0, (size_t)BLOCK_WIDTH * sizeof *g->at);
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    for (int32_t k = 0; s->alive && s->first > 0 && k < s->particle_count; ++k) {
      pack_particle(system, s, k);
    }
    if (s->alive && s->first > 0 && s->keep_momentum && system->method != TN_METHOD_TENON) {
      pack_start_state(g, s);
    }
  }
  g->data.jacobi_delta = system->method == TN_METHOD_JACOBI ? g->jacobi_delta : NULL;
  if (g->data.jacobi_delta) {
    count_particle_constraints(system);
  }
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    start_task task = {g, (soft_type)type};
    task_run(system->tasks, run_starts, g->data.rows[type].block_count, 64, &task);
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

bool soft_unpack(const soft_graph *g, soft *s)
{
  const particle_state *state = g->data.particles + s->first;
  bool inside = true;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    tn_vec3 way = tn_v3(state[i].dx[0], state[i].dx[1], state[i].dx[2]);
    inside = inside && is_position(tn_offset(s->particles[i].at, way));
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    soft_particle *p = &s->particles[i];
    p->force = tn_v3(0.0f, 0.0f, 0.0f);
    p->v = inside ? tn_v3(state[i].v[0], state[i].v[1], state[i].v[2]) : p->force;
    if (inside) {
      p->at = tn_offset(p->at, tn_v3(state[i].dx[0], state[i].dx[1], state[i].dx[2]));
    }
  }
  soft_update_box(s);
  return inside;
}

bool soft_stop_bad_velocities(soft *s)
{
  bool ok = true;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    ok = ok && is_rate(s->particles[i].v);
  }
  for (int32_t i = 0; i < s->particle_count && !ok; ++i) {
    s->particles[i].v = tn_v3(0.0f, 0.0f, 0.0f);
  }
  return ok;
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
