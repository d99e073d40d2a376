// Particles meet lanes: gather them, run a kernel, scatter what it changed. Compiled once for each
// lane width.
#include "gather.h"
#include "soft_store.h"

#define SOFT_OPS PASTE(soft_ops_, TN_LANES)

// ---------------------------------------------------------------------------------------------
// Particles

KERNEL Particle load_particle(const solver_data *data, const int32_t *place)
{
  const float *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    from[i] = data->soft->particles[place[i]].line;
  }
  R r[8];
  load8(from, r);
  Particle p = {v_make(r[0], r[1], r[2]), r[3], v_make(r[4], r[5], r[6]), r[7]};
  return p;
}

// Place 0 is never written.
KERNEL void store_particle(const solver_data *data, const int32_t *place, const Particle *p)
{
  alignas(32) float unread[8];
  float *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    to[i] = place[i] > 0 ? data->soft->particles[place[i]].line : unread;
  }
  R r[8] = {p->v.x, p->v.y, p->v.z, p->w, p->dx.x, p->dx.y, p->dx.z, p->share};
  store8(to, r);
}

// ---------------------------------------------------------------------------------------------
// Members of one type

KERNEL SoftPass make_pass(const solver_data *data)
{
  float h = data->substep.h;
  SoftPass pass = {splat(h), splat(1.0f / h), splat(1.0f / (h * h)),
                   data->soft->stage == SOFT_POSITION ? FORM_POSITION : FORM_VELOCITY};
  return pass;
}

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

// ---------------------------------------------------------------------------------------------
// Touches and attachments

KERNEL void load_body(const solver_data *data, Gather g, Body *body, R *share)
{
  load_velocity(data, g, body, share);
  load_inertia(data, g, body);
  load_pose(data, g, body);
}

KERNEL void store_body(const solver_data *data, Gather g, const SoftPass *pass, const Body *body,
                       R share)
{
  if (pass->form == FORM_POSITION) {
    store_whole(data, g, body, share);
  } else {
    store_velocity(data, g, body, share);
  }
}

KERNEL Body no_body(void)
{
  R zero = splat(0.0f);
  S none = {zero, zero, zero, zero, zero, zero};
  Body body = {v_zero(), v_zero(), zero, none, v_zero(), {zero, zero, zero, splat(1.0f)}};
  return body;
}

// A particle on a triangle touches it as it would a body. One function for all types: three are no
// faster.
static void pass_touch(solver_data *data, touch_block *tb, int lane)
{
  int facet = tb->type >= TOUCH_FACET, has_body = tb->type < TOUCH_PAIR;
  int count = tb->type == TOUCH_BODY_3                            ? 3
              : tb->type == TOUCH_PAIR || tb->type == TOUCH_EDGES ? 2
                                                                  : 1;
  int loaded = facet ? count + 3 : count;
  Plate plate;
  SoftPass pass = make_pass(data);
  TouchParams params;
  TouchState state;
  LOAD(tb->params, lane, &params);
  LOAD(tb->state, lane, &state);
  Particle p[TOUCH_PARTICLES];
  for (int i = 0; i < loaded; ++i) {
    p[i] = load_particle(data, &tb->place[i][lane]);
  }
  Gather g = {tb->body + lane, tb->move + lane};
  Body body = no_body();
  R share = splat(1.0f);
  if (facet) {
    body = plate_body(&params, params.weight + count, p + count, &plate);
  } else if (has_body) {
    load_body(data, g, &body, &share);
  }
  solve_touch(count, &pass, data->soft->stage == SOFT_RELAX, splat(data->substep.bounce_speed),
              &params, &state, p, &body);
  STORE(tb->state, lane, &state);
  if (facet) {
    plate_push(&pass, &plate, &body, p + count);
  } else if (has_body) {
    store_body(data, g, &pass, &body, share);
  }
  for (int i = 0; i < loaded; ++i) {
    store_particle(data, &tb->place[i][lane], &p[i]);
  }
}

static void begin_touches(solver_data *data, int first, int last)
{
  for (int block = first; block < last; ++block) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      TouchState state;
      LOAD(data->soft->touches[block].state, lane, &state);
      begin_touch(&state);
      STORE(data->soft->touches[block].state, lane, &state);
    }
  }
}

static void pass_touches(solver_data *data, int first, int last)
{
  if (data->soft->stage == SOFT_WARM) {
    begin_touches(data, first, last);
    return;
  }
  for (int block = first; block < last; ++block) {
    touch_block *tb = &data->soft->touches[block];
    for (int lane = 0; lane < BLOCK_WIDTH && tb->touch[lane] >= 0; lane += TN_LANES) {
      pass_touch(data, tb, lane);
    }
  }
}

KERNEL Carry load_carry(const solver_data *data, Gather g)
{
  R r[8];
  load_each(data->soft->carry->line, STRIDE(data->soft->carry), g, r);
  Carry c = {v_make(r[0], r[1], r[2]), v_make(r[4], r[5], r[6])};
  return c;
}

KERNEL void store_carry(const solver_data *data, Gather g, const Carry *c)
{
  R zero = splat(0.0f);
  R r[8] = {c->v.x, c->v.y, c->v.z, zero, c->w.x, c->w.y, c->w.z, zero};
  store_each(data->soft->carry->line, STRIDE(data->soft->carry), g, r);
}

static void pass_holds(solver_data *data, int first, int last)
{
  SoftPass pass = make_pass(data);
  R keep = splat(data->soft->keep);
  for (int block = first; block < last; ++block) {
    hold_block *hb = &data->soft->holds[block];
    for (int lane = 0; lane < BLOCK_WIDTH && hb->attachment[lane] >= 0; lane += TN_LANES) {
      HoldParams params;
      HoldState state;
      LOAD(hb->params, lane, &params);
      LOAD(hb->state, lane, &state);
      Particle p = load_particle(data, &hb->place[lane]);
      // Where corrections are averaged a particle gives way to what holds it as it does to the
      // rest, or soft bodies shake what they are tied to apart.
      Particle before = p;
      if (data->soft->change) {
        p.w = p.share * p.w;
      }
      Gather g = {hb->body + lane, hb->move + lane};
      Body body;
      R share;
      load_body(data, g, &body, &share);
      Carry carry = load_carry(data, g);
      if (data->soft->stage == SOFT_WARM) {
        warm_hold(&pass, keep, &params, &state, &p, &body, &carry);
      } else {
        solve_hold(&pass, data->soft->stage == SOFT_RELAX, &params, &state, &p, &body, &carry);
      }
      store_carry(data, g, &carry);
      STORE(hb->state, lane, &state);
      if (data->soft->change) {
        R part = 1.0f / p.share;
        p.w = before.w;
        p.v = v_add(before.v, v_scale(part, v_sub(p.v, before.v)));
        p.dx = v_add(before.dx, v_scale(part, v_sub(p.dx, before.dx)));
      }
      store_particle(data, &hb->place[lane], &p);
      store_body(data, g, &pass, &body, share);
    }
  }
}

const soft_ops SOFT_OPS = {&PASTE(particle_ops_, TN_LANES), pass_rows, pass_touches, pass_holds};
