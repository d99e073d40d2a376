// The parts of a substep that treat a soft body as a whole: the direct solve of ropes, the volume
// row of closed surfaces, the stiffness limit of Neo-Hookean solids.
#include "base/dvec.h"
#include "solver/soft/soft_steps.h"

#include <math.h>

// Angular velocity m^-1 l of a symmetric inertia m = xx yy zz xy xz yz. The diagonal is raised by
// TUNING_INERTIA_RIDGE_DOUBLE of the trace, so that thin bodies have an inverse; a zero inertia
// gives zero.
tn_pos solve_inertia(const double *m, tn_pos l)
{
  double trace = m[0] + m[1] + m[2];
  double ridge = TUNING_INERTIA_RIDGE_DOUBLE * trace;
  double xx = m[0] + ridge, yy = m[1] + ridge, zz = m[2] + ridge;
  double a = yy * zz - m[5] * m[5], b = m[4] * m[5] - m[3] * zz, c = m[3] * m[5] - m[4] * yy;
  double d = xx * zz - m[4] * m[4], e = m[3] * m[4] - xx * m[5], f = xx * yy - m[3] * m[3];
  double determinant = xx * a + m[3] * b + m[4] * c;
  double inv = determinant > 0.0 ? 1.0 / determinant : 0.0;
  return tn_p3(inv * (a * l.x + b * l.y + c * l.z), inv * (b * l.x + d * l.y + e * l.z),
               inv * (c * l.x + e * l.y + f * l.z));
}

// ---------------------------------------------------------------------------------------------
// Ropes: the distance rows of a chain are solved together, with C_k = |d_k| - rest_k.
//
// Row k shares its first particle with row k - 1, so the system is tridiagonal:
//   diagonal      s (w_0 + w_1) + a,      a = compliance / h^2,  s = 1 + damping / h
//   off-diagonal  -s w n_k . n_(k-1),     w: inverse mass of the shared particle
//   right side    -(C / h + s J v)        solve
//                 -J v                    relax

static V vec(const float *v)
{
  return v_make(v[0], v[1], v[2]);
}

static V chain_delta(const chain_row *row, const particle_state *p)
{
  V moved = v_sub(vec(p[row->solver_index[1]].dx), vec(p[row->solver_index[0]].dx));
  return v_add(vec(row->delta), moved);
}

// Forward sweep of Thomas' algorithm; afterwards x_k = impulse_k - upper_k x_(k+1). In double:
// with a heavy load at the end the pivots are small differences.
static void thomas_forward(chain_row *row, chain_row *last, float rhs, float a, float s)
{
  double w0 = row->w[0], w1 = row->w[1];
  double diagonal = (double)s * (w0 + w1) + (double)a, right = -(double)rhs;
  row->upper = 0.0;
  if (last) {
    double cosine = (double)row->n[0] * (double)last->n[0] +
                    (double)row->n[1] * (double)last->n[1] + (double)row->n[2] * (double)last->n[2];
    double between = -(double)s * w0 * cosine;
    last->upper = between * last->inverse_pivot;
    diagonal -= between * last->upper;
    right -= between * last->impulse;
  }
  // A taut rope between two pins has one redundant row, whose pivot is rounding error: drop it.
  row->inverse_pivot = diagonal > TUNING_ROPE_MIN_PIVOT * (w0 + w1) ? 1.0 / diagonal : 0.0;
  row->impulse = right * row->inverse_pivot;
}

// The body that an end is rigidly attached to, and the lever arm of the attachment.
static Body attached_body(const soft_system *system, const chain_row *row, int side, V *lever)
{
  int32_t slot = system->attachments[row->attachment_slot[side]].body;
  const body_state *state = &system->state[slot];
  const float *i = system->inertia[slot].inverse;
  Body b = {vec(state->v),       vec(state->w),
            state->inverse_mass, {i[0], i[1], i[2], i[3], i[4], i[5]},
            vec(state->dx),      {state->dq[0], state->dq[1], state->dq[2], state->dq[3]}};
  *lever = q_rotate(b.dq, vec(row->anchor[side]));
  return b;
}

// Returns the velocity u of an end along the row and sets its inverse mass row->w. An attached end
// and its body move as one:
//   w = w_p w_b / (w_p + w_b),  u = (w_b u_p + w_p u_b) / (w_p + w_b).
// Without this a light rope cannot carry a heavy body.
static double end_velocity_and_mass(const soft_system *system, chain_row *row, int side)
{
  const particle_state *p = &system->graph->data.particles[row->solver_index[side]];
  V n = vec(row->n), lever;
  double w = (double)p->inverse_mass, u = (double)v_dot(n, vec(p->v));
  row->w[side] = w;
  if (row->attachment_slot[side] == NO_SLOT) {
    return u;
  }
  Body b = attached_body(system, row, side, &lever);
  double body_w = (double)(b.im + v_dot(n, s_mul(lever_inverse_mass(b.ii, lever), n)));
  double body_u = (double)v_dot(n, v_add(b.v, v_cross(b.w, lever)));
  row->w[side] = w + body_w > 0.0 ? w * body_w / (w + body_w) : 0.0;
  return w + body_w > 0.0 ? (body_w * u + w * body_u) / (w + body_w) : body_u;
}

// Applies the impulse x n to both ends. At an attached end the particle takes the share w / w_p and
// the body the rest, so that both change velocity alike.
static void apply_chain_impulse(const soft_system *system, const chain_row *row, float x)
{
  for (int side = 0; side < 2; ++side) {
    particle_state *to = &system->graph->data.particles[row->solver_index[side]];
    float sign = side == 0 ? -x : x, scale = sign * (float)row->w[side];
    for (int i = 0; i < 3; ++i) {
      to->v[i] += scale * row->n[i];
    }
    if (row->attachment_slot[side] == NO_SLOT || to->inverse_mass == 0.0f) {
      continue;
    }
    V lever;
    Body b = attached_body(system, row, side, &lever);
    V given = v_scale(sign * (1.0f - (float)row->w[side] / to->inverse_mass), vec(row->n));
    V turn = s_mul(b.ii, v_cross(lever, given));
    attachment *hold = &system->attachments[row->attachment_slot[side]];
    hold->rope_impulse = tn_add(hold->rope_impulse, tn_v3(given.x, given.y, given.z));
    body_state *state = &system->state[hold->body];
    const float dv[3] = {b.im * given.x, b.im * given.y, b.im * given.z};
    const float dw[3] = {turn.x, turn.y, turn.z};
    for (int i = 0; i < 3; ++i) {
      state->v[i] += dv[i];
      state->w[i] += dw[i];
    }
  }
}

// Geometric stiffness. A light rope under tension T vibrates transversely with stiffness
// k = T / rest, faster than a substep resolves if h^2 k w > TUNING_ROPE_STIFFNESS_RESOLVED = s. The
// excess k' = k - s / (h^2 w) is made implicit: (M + h^2 K') v = M v*, a tridiagonal system per
// axis that draws the velocities of neighbours together. This sets row->excess = h^2 k' and
// returns whether any row has an excess.
static bool find_excess_stiffness(soft_graph *g, int32_t first, int32_t last, float h)
{
  bool any = false;
  for (int32_t i = first; i < last; ++i) {
    chain_row *row = &g->chain[i];
    double w = row->w[0] + row->w[1];
    double stiff = -row->impulse * (double)h / (double)row->rest;
    row->excess = w > 0.0 && stiff * w > TUNING_ROPE_STIFFNESS_RESOLVED
                      ? stiff - TUNING_ROPE_STIFFNESS_RESOLVED / w
                      : 0.0;
    any = any || row->excess > 0.0;
  }
  return any;
}

// Thomas' algorithm over the particles of rows first to last - 1, in the symbols of
// find_excess_stiffness(): v_i = damped_v_i + damped_upper_i v_(i+1).
static void damp_transverse(soft_graph *g, int32_t first, int32_t last)
{
  particle_state *p = g->data.particles;
  double upper = 0.0, sum[3] = {0.0, 0.0, 0.0};
  for (int32_t i = first; i <= last; ++i) {
    const chain_row *row = &g->chain[i < last ? i : last - 1];
    const particle_state *at = &p[row->solver_index[i < last ? 0 : 1]];
    double before = i > first ? g->chain[i - 1].excess : 0.0;
    double after = i < last ? row->excess : 0.0;
    double w = row->w[i < last ? 0 : 1];
    double pivot = 1.0 / (1.0 + w * (before + after - before * upper));
    for (int k = 0; k < 3; ++k) {
      sum[k] = pivot * ((double)at->v[k] + w * before * sum[k]);
      if (i < last) {
        g->chain[i].damped_v[k] = sum[k];
      }
    }
    upper = pivot * w * after;
    if (i < last) {
      g->chain[i].damped_upper = upper;
    }
  }
  for (int32_t i = last; i >= first; --i) {
    particle_state *at = &p[g->chain[i < last ? i : last - 1].solver_index[i < last ? 0 : 1]];
    for (int k = 0; k < 3; ++k) {
      sum[k] = i < last ? g->chain[i].damped_v[k] + g->chain[i].damped_upper * sum[k] : sum[k];
      at->v[k] = (float)sum[k];
    }
  }
}

// Momenta of a chain's particles: p linear, l angular about their centre of mass.
typedef struct chain_motion {
  double mass, inertia[6];
  tn_pos center, p, l;
} chain_motion;

static const particle_state *chain_particle(const soft_graph *g, int32_t i, int32_t last,
                                            tn_pos *at)
{
  const chain_row *row = &g->chain[i < last ? i : last - 1];
  int32_t solver_index = row->solver_index[i < last ? 0 : 1];
  const particle_state *p = &g->data.particles[solver_index];
  *at = pos_add(g->at[solver_index], tn_p3((double)p->dx[0], (double)p->dx[1], (double)p->dx[2]));
  return p;
}

// False if a particle is pinned or attached to a body: the chain is not free.
static bool chain_momenta(const soft_graph *g, int32_t first, int32_t last, chain_motion *m)
{
  *m = (chain_motion){0};
  tn_pos at, origin = g->at[g->chain[first].solver_index[0]];
  for (int32_t i = first; i <= last; ++i) {
    const particle_state *p = chain_particle(g, i, last, &at);
    const chain_row *row = &g->chain[i < last ? i : last - 1];
    if (p->inverse_mass == 0.0f || row->attachment_slot[0] != NO_SLOT ||
        row->attachment_slot[1] != NO_SLOT) {
      return false;
    }
    double mass = 1.0 / (double)p->inverse_mass;
    m->mass += mass;
    m->center = pos_add(m->center, pos_scale(mass, pos_sub(at, origin)));
  }
  m->center = pos_add(origin, pos_scale(1.0 / m->mass, m->center));
  for (int32_t i = first; i <= last; ++i) {
    const particle_state *p = chain_particle(g, i, last, &at);
    double mass = 1.0 / (double)p->inverse_mass;
    tn_pos x = pos_sub(at, m->center);
    tn_pos mv = pos_scale(mass, tn_p3((double)p->v[0], (double)p->v[1], (double)p->v[2]));
    m->p = pos_add(m->p, mv);
    m->l = pos_add(m->l, pos_cross(x, mv));
    m->inertia[0] += mass * (x.y * x.y + x.z * x.z);
    m->inertia[1] += mass * (x.x * x.x + x.z * x.z);
    m->inertia[2] += mass * (x.x * x.x + x.y * x.y);
    m->inertia[3] -= mass * x.x * x.y;
    m->inertia[4] -= mass * x.x * x.z;
    m->inertia[5] -= mass * x.y * x.z;
  }
  return true;
}

// Restores the momenta of a free rope after the transverse damping, by a rigid velocity.
static void restore_chain_momenta(soft_graph *g, int32_t first, int32_t last,
                                  const chain_motion *before)
{
  chain_motion m;
  chain_momenta(g, first, last, &m);
  tn_pos v = pos_scale(1.0 / m.mass, pos_sub(before->p, m.p));
  tn_pos w = solve_inertia(m.inertia, pos_sub(before->l, m.l));
  for (int32_t i = first; i <= last; ++i) {
    tn_pos at;
    particle_state *p = &g->data.particles[chain_particle(g, i, last, &at) - g->data.particles];
    tn_pos add = pos_add(v, pos_cross(w, pos_sub(at, m.center)));
    p->v[0] += (float)add.x;
    p->v[1] += (float)add.y;
    p->v[2] += (float)add.z;
  }
}

static void damp_transverse_motion(soft_graph *g, float h)
{
  for (int32_t first = 0; first < g->chain_count;) {
    int32_t last = first + 1;
    while (last < g->chain_count && g->chain[last].continues) {
      last += 1;
    }
    if (find_excess_stiffness(g, first, last, h)) {
      chain_motion before;
      bool is_free = chain_momenta(g, first, last, &before);
      damp_transverse(g, first, last);
      if (is_free && RULE(soft_rope_momentum)) {
        restore_chain_momenta(g, first, last, &before);
      }
    }
    first = last;
  }
}

void soft_solve_chains(const soft_system *system, float h, bool relaxing)
{
  soft_graph *g = system->graph;
  particle_state *p = g->data.particles;
  if (relaxing && !RULE(soft_relax)) {
    return;
  }
  for (int32_t i = 0; i < g->chain_count; ++i) {
    chain_row *row = &g->chain[i];
    float length;
    V n = edge_direction(chain_delta(row, p), &length);
    row->n[0] = n.x;
    row->n[1] = n.y;
    row->n[2] = n.z;
    double u0 = end_velocity_and_mass(system, row, 0), u1 = end_velocity_and_mass(system, row, 1);
    float rate = (float)(u1 - u0);
    float a = row->compliance / (h * h), s = relaxing ? 1.0f : 1.0f + row->damping / h;
    // Springs are not relaxed: a huge compliance takes their row out of the system.
    bool out = relaxing && (double)a > row->w[0] + row->w[1];
    float rhs = relaxing ? rate : (length - row->rest) / h + s * rate;
    thomas_forward(row, row->continues ? &g->chain[i - 1] : NULL, out ? 0.0f : rhs,
                   out ? SOFT_ROW_OFF : a, s);
  }
  for (int32_t i = g->chain_count - 1; i >= 0; --i) {
    if (i + 1 < g->chain_count && g->chain[i + 1].continues) {
      g->chain[i].impulse -= g->chain[i].upper * g->chain[i + 1].impulse;
    }
  }
  for (int32_t i = 0; i < g->chain_count; ++i) {
    g->chain[i].sum += (float)g->chain[i].impulse;
    apply_chain_impulse(system, &g->chain[i], (float)g->chain[i].impulse);
  }
  if (!relaxing && RULE(soft_rope_stiffness)) {
    damp_transverse_motion(g, h);
  }
}

// Position form: Gauss-Seidel over the rows, or Jacobi with averaging.
void soft_solve_chain_positions(const soft_system *system, float h)
{
  soft_graph *g = system->graph;
  particle_state *p = g->data.particles;
  for (int32_t i = 0; i < g->chain_count; ++i) {
    chain_row *row = &g->chain[i];
    float length;
    V n = edge_direction(chain_delta(row, p), &length);
    row->n[0] = n.x;
    row->n[1] = n.y;
    row->n[2] = n.z;
    float w = jacobi_inverse_mass(&g->data, row->solver_index[0]) +
              jacobi_inverse_mass(&g->data, row->solver_index[1]);
    float a = row->compliance / (h * h);
    float x = w + a > 0.0f ? -(length - row->rest) / h / (w + a) : 0.0f;
    row->sum += x;
    for (int side = 0; side < 2; ++side) {
      const particle_state *to = &p[row->solver_index[side]];
      float scale = (side == 0 ? -x : x) * to->inverse_mass;
      for (int k = 0; k < 3; ++k) {
        move_particle(&g->data, row->solver_index[side], k, scale * row->n[k], h);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Closed surfaces: one row C = V - pressure V0 per body.
//   V = sum over triangles x0 . (x1 x x2) / 6,  dV/dx0 = (x1 x x2) / 6 from each triangle

static void add_volume_gradients(soft_graph *g, const soft *s, tn_pos origin, double *volume)
{
  const particle_state *p = g->data.particles;
  double sum = 0.0;
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    int32_t solver_index[3];
    V x[3];
    for (int k = 0; k < 3; ++k) {
      solver_index[k] = s->first + s->triangles[3 * (size_t)i + (size_t)k];
      tn_pos at = pos_sub(g->at[solver_index[k]], origin);
      x[k] = v_add(v_make((float)at.x, (float)at.y, (float)at.z), vec(p[solver_index[k]].dx));
    }
    for (int k = 0; k < 3; ++k) {
      V c = v_cross(x[(k + 1) % 3], x[(k + 2) % 3]);
      float *to = g->gradient[solver_index[k]];
      to[0] += c.x * (1.0f / 6.0f);
      to[1] += c.y * (1.0f / 6.0f);
      to[2] += c.z * (1.0f / 6.0f);
      sum += k == 0 ? (double)(v_dot(x[0], c) * (1.0f / 6.0f)) : 0.0;
    }
  }
  *volume = sum;
}

static void solve_volume_row(soft_graph *g, const soft *s, float h, soft_stage stage)
{
  particle_state *p = g->data.particles;
  for (int32_t i = s->first; i < s->first + s->particle_count; ++i) {
    g->gradient[i][0] = g->gradient[i][1] = g->gradient[i][2] = 0.0f;
  }
  double volume, w = 0.0, rate = 0.0;
  add_volume_gradients(g, s, g->at[s->first], &volume);
  for (int32_t i = s->first; i < s->first + s->particle_count; ++i) {
    V d = vec(g->gradient[i]);
    w += (double)(jacobi_inverse_mass(&g->data, i) * v_dot(d, d));
    rate += (double)v_dot(d, vec(p[i].v));
  }
  double a = (double)s->volume_compliance / ((double)h * (double)h);
  double c = volume - (double)s->pressure * (double)s->rest_volume;
  double rhs = stage == SOFT_RELAX      ? rate
               : stage == SOFT_POSITION ? c / (double)h
                                        : c / (double)h + rate;
  bool out = stage == SOFT_RELAX && (!RULE(soft_relax) || a > w);
  float x = w + a > 0.0 && !out ? (float)(-rhs / (w + a)) : 0.0f;
  for (int32_t i = s->first; i < s->first + s->particle_count; ++i) {
    for (int k = 0; k < 3; ++k) {
      float dv = x * p[i].inverse_mass * g->gradient[i][k];
      if (stage == SOFT_POSITION) {
        move_particle(&g->data, i, k, dv, h);
      } else {
        p[i].v[k] += dv;
      }
    }
  }
}

typedef struct pressure_task {
  const soft_system *system;
  float h;
  soft_stage stage;
} pressure_task;

static bool has_pressure(const soft *s)
{
  return s->alive && s->first > 0 && s->pressure > 0.0f;
}

static void solve_pressure_task(int first, int last, void *context)
{
  const pressure_task *t = context;
  for (int i = first; i < last; ++i) {
    if (has_pressure(&t->system->softs[i])) {
      solve_volume_row(t->system->graph, &t->system->softs[i], t->h, t->stage);
    }
  }
}

// Soft bodies share no particle and run in parallel.
void soft_solve_pressure(const soft_system *system, float h, soft_stage stage)
{
  pressure_task task = {system, h, stage};
  bool any = false;
  for (int32_t i = 0; i < system->soft_pool->used && !any; ++i) {
    any = has_pressure(&system->softs[i]);
  }
  if (any) {
    task_run(system->tasks, solve_pressure_task, system->soft_pool->used, 1, &task);
  }
}

// ---------------------------------------------------------------------------------------------

// Sets the compliances of shear and bulk to `factor` times those of the definition.
static void soften_rows(const soft_system *system, int32_t slot, float factor)
{
  soft_graph *g = system->graph;
  soft_layout l = soft_layout_of(SOFT_NEO_HOOKEAN);
  soft_rows *rows = &g->data.rows[SOFT_NEO_HOOKEAN];
  for (int32_t at = 0; at < rows->block_count * BLOCK_WIDTH; ++at) {
    soft_source from = g->sources[SOFT_NEO_HOOKEAN][at];
    if (from.soft != slot) {
      continue;
    }
    const float *fields = system->softs[slot].list[SOFT_NEO_HOOKEAN].fields +
                          (size_t)from.index * (size_t)(l.params + l.state);
    const NeoHookeanParams *neo = (const NeoHookeanParams *)fields;
    float(*row)[BLOCK_WIDTH] =
        rows->row + (size_t)(at / BLOCK_WIDTH) * (size_t)soft_block_rows(SOFT_NEO_HOOKEAN) +
        l.particles;
    row[offsetof(NeoHookeanParams, shear) / sizeof(R)][at % BLOCK_WIDTH] = factor * neo->shear;
    row[offsetof(NeoHookeanParams, bulk) / sizeof(R)][at % BLOCK_WIDTH] = factor * neo->bulk;
  }
}

void soft_limit_stiffness(const soft_system *system, float dt)
{
  float h = dt / (float)system->substeps;
  for (int32_t i = 0; i < system->soft_pool->used; ++i) {
    soft *s = &system->softs[i];
    if (!s->alive || s->first == 0 || s->max_frequency_squared == 0.0f ||
        !RULE(soft_neo_stability)) {
      continue;
    }
    bool stiff = s->max_frequency_squared * h * h > TUNING_NEO_HOOKEAN_STABILITY;
    if (stiff && !s->stiffness_limited) {
      report(
          system->log, TN_LOG_WARNING,
          "tn_world_step: Neo-Hookean soft body %d is too stiff for %d substeps and is softened; "
          "it needs %d",
          (int)i, system->substeps,
          (int)(dt * sqrtf(s->max_frequency_squared / TUNING_NEO_HOOKEAN_STABILITY)) + 1);
    }
    if (stiff || s->stiffness_limited) {
      soften_rows(system, i,
                  stiff ? s->max_frequency_squared * h * h / TUNING_NEO_HOOKEAN_STABILITY : 1.0f);
    }
    s->stiffness_limited = stiff;
  }
}
