// What holds soft bodies together, type after type. Compiled once for each lane width.
#include "gather_soft.h"

#define SOFT_OPS PASTE(soft_ops_, TN_LANES)

// Constraints of TN_LANES lanes of a block.
typedef struct Members {
  Particle p[SOFT_MAX_PARTICLES];
  V d[SOFT_MAX_PARTICLES - 1];
} Members;

KERNEL void load_particles(const solver_data *data, int32_t (*place)[BLOCK_WIDTH],
                           float (*start)[BLOCK_WIDTH], int lane, int count, Members *rows)
{
  rows->p[0] = load_particle(data, &place[0][lane]);
  for (int i = 1; i < count; ++i) {
    rows->p[i] = load_particle(data, &place[i][lane]);
    V apart;
    LOAD(start + 3 * (i - 1), lane, &apart);
    rows->d[i - 1] = v_add(apart, v_sub(rows->p[i].dx, rows->p[0].dx));
  }
  // Where corrections are averaged, each of a particle's constraints has its part of the mass.
  if (count < CELL_SIZE && data->soft->change) {
    for (int i = 0; i < count; ++i) {
      rows->p[i].w = rows->p[i].share * rows->p[i].w;
    }
  }
}

// Adds to the change of each particle its part of what the constraint did to it.
KERNEL void add_averaged(const solver_data *data, const int32_t *place, R part,
                         const Particle *after)
{
  Particle before = load_particle(data, place);
  V dv = v_scale(part, v_sub(after->v, before.v));
  V dx = v_scale(part, v_sub(after->dx, before.dx));
  R r[6] = {dv.x, dv.y, dv.z, dx.x, dx.y, dx.z};
  for (int i = 0; i < TN_LANES; ++i) {
    float *line = data->soft->change[place[i]].line;
    for (int k = 0; k < 6 && place[i] > 0; ++k) {
      line[k < 3 ? k : k + 1] += ((const float *)&r[k])[i];
    }
  }
}

KERNEL void store_particles(const solver_data *data, int32_t (*place)[BLOCK_WIDTH], int lane,
                            int count, const Members *rows)
{
  if (!data->soft->change) {
    for (int i = 0; i < count; ++i) {
      store_particle(data, &place[i][lane], &rows->p[i]);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    R part = count < CELL_SIZE ? 1.0f / rows->p[i].share : splat(1.0f);
    add_averaged(data, &place[i][lane], part, &rows->p[i]);
  }
}

// The parts of a block.
typedef struct Parts {
  int32_t (*place)[BLOCK_WIDTH];
  float (*params)[BLOCK_WIDTH], (*state)[BLOCK_WIDTH], (*start)[BLOCK_WIDTH];
} Parts;

KERNEL Parts parts_of(const solver_data *data, soft_type type, int block)
{
  soft_layout l = soft_layout_of(type);
  const soft_rows *rows = &data->soft->rows[type];
  size_t first = (size_t)block * (size_t)soft_block_rows(type);
  Parts parts = {rows->place + first, rows->row + first + l.particles,
                 rows->row + first + l.particles + l.params,
                 rows->row + first + l.particles + l.params + l.state};
  return parts;
}

// `Params` and `State` name the type's structures, `call` uses pass, p, d, params and state.
#define SOFT_CASE(Params, State, count, call)                                                      \
  do {                                                                                             \
    Params params;                                                                                 \
    State state;                                                                                   \
    Members rows;                                                                                  \
    Particle *p = rows.p;                                                                          \
    const V *d = rows.d;                                                                           \
    LOAD(parts.params, lane, &params);                                                             \
    LOAD(parts.state, lane, &state);                                                               \
    load_particles(data, parts.place, parts.start, lane, count, &rows);                            \
    call;                                                                                          \
    STORE(parts.state, lane, &state);                                                              \
    store_particles(data, parts.place, lane, count, &rows);                                        \
  } while (0)

#define SOFT_LOOP(type, ...)                                                                       \
  for (int block = first; block < last; ++block) {                                                 \
    Parts parts = parts_of(data, type, block);                                                     \
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {                                     \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  }

static void warm_edges(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  R keep = splat(data->soft->keep);
  SOFT_LOOP(SOFT_EDGE, SOFT_CASE(EdgeParams, EdgeState, 2, warm_edge(&pass, p, d, keep, &state);
                                 (void)params));
}

static void relax_edges(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  SOFT_LOOP(SOFT_EDGE,
            SOFT_CASE(EdgeParams, EdgeState, 2, relax_edge(&pass, p, d, &params, &state)));
}

static void relax_tethers(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  SOFT_LOOP(SOFT_TETHER,
            SOFT_CASE(TetherParams, RowMemory, 2, relax_tether(&pass, p, d, &state); (void)params));
}

static void warm_tets(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  R keep = splat(data->soft->keep);
  SOFT_LOOP(SOFT_TET,
            SOFT_CASE(TetParams, TetState, 4, warm_tet(&pass, p, d, &params, keep, &state)));
}

static void warm_cells(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  R keep = splat(data->soft->keep);
  SOFT_LOOP(SOFT_CELL,
            SOFT_CASE(CellParams, CellState, 8, warm_cell(&pass, p, d, &params, keep, &state)));
}

// Impulses of the last substep are forgotten.
static void begin_rows(solver_data *data, soft_type type, int first, int last)
{
  soft_layout l = soft_layout_of(type);
  // But not where elements have turned to, nor the sum of a step.
  int first_row = type == SOFT_TET || type == SOFT_CELL ? (int)FIELDS(Q) : 0;
  int last_row = type == SOFT_EDGE ? 1 : l.state;
  for (int block = first; block < last; ++block) {
    Parts parts = parts_of(data, type, block);
    memset(parts.state + first_row, 0, (size_t)(last_row - first_row) * sizeof *parts.state);
  }
}

static void warm_rows(solver_data *data, int first, int last)
{
  switch (data->soft->type) {
  case SOFT_EDGE:
    warm_edges(data, first, last);
    break;
  case SOFT_TET:
    warm_tets(data, first, last);
    break;
  case SOFT_CELL:
    warm_cells(data, first, last);
    break;
  default:
    begin_rows(data, data->soft->type, first, last);
    break;
  }
}

static void solve_rows(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  switch (data->soft->type) {
  case SOFT_EDGE:
    SOFT_LOOP(SOFT_EDGE,
              SOFT_CASE(EdgeParams, EdgeState, 2, solve_edge(&pass, p, d, &params, &state)));
    break;
  case SOFT_TETHER:
    SOFT_LOOP(SOFT_TETHER,
              SOFT_CASE(TetherParams, RowMemory, 2, solve_tether(&pass, p, d, &params, &state)));
    break;
  case SOFT_BEND:
    SOFT_LOOP(SOFT_BEND,
              SOFT_CASE(BendParams, RowMemory, 4, solve_bend(&pass, p, d, &params, &state)));
    break;
  case SOFT_FOLD:
    SOFT_LOOP(SOFT_FOLD,
              SOFT_CASE(FoldParams, RowMemory, 4, solve_fold(&pass, p, d, &params, &state)));
    break;
  case SOFT_VOLUME:
    SOFT_LOOP(SOFT_VOLUME,
              SOFT_CASE(VolumeParams, RowMemory, 4, solve_volume(&pass, p, d, &params, &state)));
    break;
  case SOFT_NEO:
    SOFT_LOOP(SOFT_NEO, SOFT_CASE(NeoParams, NeoState, 4, solve_neo(&pass, p, d, &params, &state)));
    break;
  case SOFT_TET:
    SOFT_LOOP(SOFT_TET, SOFT_CASE(TetParams, TetState, 4, solve_tet(&pass, p, d, &params, &state)));
    break;
  case SOFT_CELL:
    SOFT_LOOP(SOFT_CELL,
              SOFT_CASE(CellParams, CellState, 8, solve_cell(&pass, p, d, &params, &state)));
    break;
  default:
    break;
  }
}

static void pass_rows(solver_data *data, int first, int last)
{
  soft_type type = data->soft->type;
  soft_stage stage = data->soft->stage;
  if (stage == SOFT_SOLVE || stage == SOFT_POSITION) {
    solve_rows(data, first, last);
  } else if (type == SOFT_EDGE && stage == SOFT_RELAX) {
    relax_edges(data, first, last);
  } else if (type == SOFT_TETHER && stage == SOFT_RELAX) {
    relax_tethers(data, first, last);
  } else if (stage == SOFT_WARM && data->soft->keep == 0.0f) {
    begin_rows(data, type, first, last);
  } else if (stage == SOFT_WARM) {
    warm_rows(data, first, last);
  }
}

const soft_ops SOFT_OPS = {&PASTE(particle_ops_, TN_LANES), &PASTE(link_ops_, TN_LANES), pass_rows};
