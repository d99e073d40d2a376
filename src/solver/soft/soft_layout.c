// Layout of soft bodies in the solver: consecutive indices for the particles of all awake bodies,
// blocks of constraints by type and colour. Rebuilt when a body is created, destroyed, wakes, falls
// asleep, tears or is pinned; soft_pack.c fills it in every step.
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
                      sizeof *g->attachment_at) &&
         heap_reserve(h, (void **)&g->block_owners, &g->block_owner_capacity, blocks,
                      sizeof *g->block_owners);
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

static void list_block_owners(const soft_system *system)
{
  soft_graph *g = system->graph;
  for (int32_t i = 0; i < g->solver_particle_count / BLOCK_WIDTH; ++i) {
    g->block_owners[i] = (soft_block_owner){.soft = NO_SLOT};
  }
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    const soft *s = &system->softs[i];
    for (int32_t k = 0; s->alive && s->first > 0 && k < s->particle_count; k += BLOCK_WIDTH) {
      int32_t left = s->particle_count - k;
      g->block_owners[(s->first + k) / BLOCK_WIDTH] =
          (soft_block_owner){.soft = i, .count = left < BLOCK_WIDTH ? left : BLOCK_WIDTH};
    }
  }
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

static void fill_lane(const soft_system *system, soft_type type, soft_source from, int32_t at)
{
  soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(type);
  const soft *s = &system->softs[from.soft];
  soft_rows *rows = &g->data.rows[type];
  size_t row = soft_first_row(type, at / BLOCK_WIDTH);
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
  memset(rows->row, 0, soft_first_row(type, count) * sizeof *rows->row);
  for (int32_t i = 0; i < count * BLOCK_WIDTH; ++i) {
    g->sources[type][i].soft = NO_SLOT;
    if (type == SOFT_COROTATED || type == SOFT_SHAPE_MATCH) {
      size_t w = soft_first_row(type, i / BLOCK_WIDTH) + (size_t)(l.particles + l.params) + 3;
      rows->row[w][i % BLOCK_WIDTH] = 1.0f;
    }
  }
}

static bool reserve_blocks(heap *h, soft_graph *g, soft_type type, int32_t count)
{
  soft_rows *rows = &g->data.rows[type];
  return heap_reserve(h, (void **)&rows->row, &rows->block_capacity, count,
                      soft_first_row(type, 1) * sizeof *rows->row) &&
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
    list_block_owners(system);
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
  heap_free(h, g->block_owners, (size_t)g->block_owner_capacity * sizeof *g->block_owners);
  heap_free(h, g->gradient, (size_t)g->gradient_capacity * sizeof *g->gradient);
  heap_free(h, g->chain, (size_t)g->chain_capacity * sizeof *g->chain);
  heap_free(h, g->jacobi_delta, (size_t)g->jacobi_delta_capacity * sizeof *g->jacobi_delta);
  heap_free(h, g->unfold_parts, (size_t)g->unfold_part_capacity * sizeof *g->unfold_parts);
  for (int type = 0; type < SOFT_TYPE_COUNT; ++type) {
    soft_rows *rows = &g->data.rows[type];
    heap_free(h, rows->row,
              (size_t)rows->block_capacity * soft_first_row((soft_type)type, 1) *
                  sizeof *rows->row);
    heap_free(h, g->sources[type], (size_t)g->source_capacity[type] * sizeof *g->sources[type]);
  }
}
