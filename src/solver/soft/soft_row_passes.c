// Passes over the blocks of internal constraints of soft bodies, by type: gather the particles, run
// the kernel of kernel/soft.h, scatter. Compiled once per lane width.
#include "solver/soft/soft_gather.h"

#define SOFT_OPS PASTE(soft_ops_, TN_LANES)

// Particles of TN_LANES constraints.
typedef struct ElementParticles {
  Particle p[SOFT_MAX_PARTICLES];
  V d[SOFT_MAX_PARTICLES - 1]; // m, from particle 0 to particles 1, 2, ... at the current pose
} ElementParticles;

KERNEL void load_particles(const solver_data *data, int32_t (*solver_index)[BLOCK_WIDTH],
                           float (*start)[BLOCK_WIDTH], int lane, int count, ElementParticles *rows)
{
  rows->p[0] = load_particle(data, &solver_index[0][lane]);
  for (int i = 1; i < count; ++i) {
    rows->p[i] = load_particle(data, &solver_index[i][lane]);
    V delta;
    LOAD(start + 3 * (i - 1), lane, &delta);
    rows->d[i - 1] = v_add(delta, v_sub(rows->p[i].dx, rows->p[0].dx));
  }
  // With averaging each of the n constraints of a particle has 1/n of its mass, so that momentum is
  // conserved and compliances keep their meaning. solve_shape_match() does this itself, with one
  // count for all its particles.
  if (count < SHAPE_MATCH_PARTICLES && data->soft->jacobi_delta) {
    for (int i = 0; i < count; ++i) {
      rows->p[i].w = rows->p[i].constraint_count * rows->p[i].w;
    }
  }
}

// Adds `part` of the constraint's correction to the sums of its particles.
KERNEL void add_averaged(const solver_data *data, const int32_t *solver_index, R part,
                         const Particle *after)
{
  Particle before = load_particle(data, solver_index);
  V dv = v_scale(part, v_sub(after->v, before.v));
  V dx = v_scale(part, v_sub(after->dx, before.dx));
  R r[6] = {dv.x, dv.y, dv.z, dx.x, dx.y, dx.z};
  for (int i = 0; i < TN_LANES; ++i) {
    float *line = data->soft->jacobi_delta[solver_index[i]].line;
    for (int k = 0; k < 6 && solver_index[i] > 0; ++k) {
      line[k < 3 ? k : k + 1] += ((const float *)&r[k])[i];
    }
  }
}

KERNEL void store_particles(const solver_data *data, int32_t (*solver_index)[BLOCK_WIDTH], int lane,
                            int count, const ElementParticles *rows)
{
  if (!data->soft->jacobi_delta) {
    for (int i = 0; i < count; ++i) {
      store_particle(data, &solver_index[i][lane], &rows->p[i]);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    R part = count < SHAPE_MATCH_PARTICLES ? 1.0f / rows->p[i].constraint_count : splat(1.0f);
    add_averaged(data, &solver_index[i][lane], part, &rows->p[i]);
  }
}

// The sections of a block, see soft_solver.h.
typedef struct RowBlock {
  int32_t (*solver_index)[BLOCK_WIDTH];
  float (*params)[BLOCK_WIDTH], (*state)[BLOCK_WIDTH], (*start)[BLOCK_WIDTH];
} RowBlock;

KERNEL RowBlock row_block_at(const solver_data *data, soft_type type, int block)
{
  soft_layout l = soft_layout_of(type);
  const soft_rows *rows = &data->soft->rows[type];
  size_t first = (size_t)block * (size_t)soft_block_rows(type);
  RowBlock row_block = {rows->solver_index + first, rows->row + first + l.particles,
                        rows->row + first + l.particles + l.params,
                        rows->row + first + l.particles + l.params + l.state};
  return row_block;
}

// Runs a kernel on TN_LANES constraints. `Params` and `State` are the type's structures; `call` may
// use pass, p, d, params and state.
#define SOFT_KERNEL(Params, State, count, call)                                                    \
  do {                                                                                             \
    Params params;                                                                                 \
    State state;                                                                                   \
    ElementParticles rows;                                                                         \
    Particle *p = rows.p;                                                                          \
    const V *d = rows.d;                                                                           \
    LOAD(row_block.params, lane, &params);                                                         \
    LOAD(row_block.state, lane, &state);                                                           \
    load_particles(data, row_block.solver_index, row_block.start, lane, count, &rows);             \
    call;                                                                                          \
    STORE(row_block.state, lane, &state);                                                          \
    store_particles(data, row_block.solver_index, lane, count, &rows);                             \
  } while (0)

#define SOFT_FOR_LANES(type, ...)                                                                  \
  for (int block = first; block < last; ++block) {                                                 \
    RowBlock row_block = row_block_at(data, type, block);                                          \
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {                                     \
      __VA_ARGS__;                                                                                 \
    }                                                                                              \
  }

static void warm_start_edges(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  R warm_start_factor = splat(data->soft->warm_start_factor);
  SOFT_FOR_LANES(SOFT_EDGE, SOFT_KERNEL(EdgeParams, EdgeState, 2,
                                        warm_start_edge(&pass, p, d, warm_start_factor, &state);
                                        (void)params));
}

static void relax_edges(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  SOFT_FOR_LANES(SOFT_EDGE,
                 SOFT_KERNEL(EdgeParams, EdgeState, 2, relax_edge(&pass, p, d, &params, &state)));
}

static void relax_tethers(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  SOFT_FOR_LANES(
      SOFT_TETHER,
      SOFT_KERNEL(TetherParams, SoftRowState, 2, relax_tether(&pass, p, d, &state); (void)params));
}

static void warm_start_corotated_rows(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  R warm_start_factor = splat(data->soft->warm_start_factor);
  SOFT_FOR_LANES(SOFT_COROTATED, SOFT_KERNEL(CorotatedParams, CorotatedState, 4,
                                             warm_start_corotated(&pass, p, d, &params,
                                                                  warm_start_factor, &state)));
}

static void warm_start_shape_matches(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  R warm_start_factor = splat(data->soft->warm_start_factor);
  SOFT_FOR_LANES(SOFT_SHAPE_MATCH, SOFT_KERNEL(ShapeMatchParams, ShapeMatchState, 8,
                                               warm_start_shape_match(&pass, p, d, &params,
                                                                      warm_start_factor, &state)));
}

// Clears the impulses of the last substep.
static void reset_impulses(solver_data *data, soft_type type, int first, int last)
{
  soft_layout l = soft_layout_of(type);
  // The rotation of an element comes first in its state, the step's sum of an edge last: both stay.
  int first_row = type == SOFT_COROTATED || type == SOFT_SHAPE_MATCH ? (int)FIELDS(Q) : 0;
  int last_row = type == SOFT_EDGE ? 1 : l.state;
  for (int block = first; block < last; ++block) {
    RowBlock row_block = row_block_at(data, type, block);
    memset(row_block.state + first_row, 0,
           (size_t)(last_row - first_row) * sizeof *row_block.state);
  }
}

static void warm_start_rows(solver_data *data, int first, int last)
{
  switch (data->soft->type) {
  case SOFT_EDGE:
    warm_start_edges(data, first, last);
    break;
  case SOFT_COROTATED:
    warm_start_corotated_rows(data, first, last);
    break;
  case SOFT_SHAPE_MATCH:
    warm_start_shape_matches(data, first, last);
    break;
  default:
    reset_impulses(data, data->soft->type, first, last);
    break;
  }
}

static void solve_rows(solver_data *data, int first, int last)
{
  SoftPass pass = make_soft_pass(data);
  switch (data->soft->type) {
  case SOFT_EDGE:
    SOFT_FOR_LANES(SOFT_EDGE,
                   SOFT_KERNEL(EdgeParams, EdgeState, 2, solve_edge(&pass, p, d, &params, &state)));
    break;
  case SOFT_TETHER:
    SOFT_FOR_LANES(SOFT_TETHER, SOFT_KERNEL(TetherParams, SoftRowState, 2,
                                            solve_tether(&pass, p, d, &params, &state)));
    break;
  case SOFT_BEND:
    SOFT_FOR_LANES(SOFT_BEND, SOFT_KERNEL(BendParams, SoftRowState, 4,
                                          solve_bend(&pass, p, d, &params, &state)));
    break;
  case SOFT_DIHEDRAL:
    SOFT_FOR_LANES(SOFT_DIHEDRAL, SOFT_KERNEL(DihedralParams, SoftRowState, 4,
                                              solve_dihedral(&pass, p, d, &params, &state)));
    break;
  case SOFT_VOLUME:
    SOFT_FOR_LANES(SOFT_VOLUME, SOFT_KERNEL(VolumeParams, SoftRowState, 4,
                                            solve_volume(&pass, p, d, &params, &state)));
    break;
  case SOFT_NEO_HOOKEAN:
    SOFT_FOR_LANES(SOFT_NEO_HOOKEAN, SOFT_KERNEL(NeoHookeanParams, NeoHookeanState, 4,
                                                 solve_neo_hookean(&pass, p, d, &params, &state)));
    break;
  case SOFT_COROTATED:
    SOFT_FOR_LANES(SOFT_COROTATED, SOFT_KERNEL(CorotatedParams, CorotatedState, 4,
                                               solve_corotated(&pass, p, d, &params, &state)));
    break;
  case SOFT_SHAPE_MATCH:
    SOFT_FOR_LANES(SOFT_SHAPE_MATCH, SOFT_KERNEL(ShapeMatchParams, ShapeMatchState, 8,
                                                 solve_shape_match(&pass, p, d, &params, &state)));
    break;
  default:
    break;
  }
}

static void soft_row_pass(solver_data *data, int first, int last)
{
  soft_type type = data->soft->type;
  soft_stage stage = data->soft->stage;
  if (stage == SOFT_SOLVE || stage == SOFT_POSITION) {
    solve_rows(data, first, last);
  } else if (stage == SOFT_RELAX && !RULE(soft_relax)) {
    return;
  } else if (type == SOFT_EDGE && stage == SOFT_RELAX) {
    relax_edges(data, first, last);
  } else if (type == SOFT_TETHER && stage == SOFT_RELAX) {
    relax_tethers(data, first, last);
  } else if (stage == SOFT_WARM_START &&
             (!RULE(soft_warm_start) || data->soft->warm_start_factor == 0.0f)) {
    reset_impulses(data, type, first, last);
  } else if (stage == SOFT_WARM_START) {
    warm_start_rows(data, first, last);
  }
}

const soft_ops SOFT_OPS = {&PASTE(particle_ops_, TN_LANES), &PASTE(soft_contact_ops_, TN_LANES),
                           soft_row_pass};
