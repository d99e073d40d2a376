// The direct solve of a mechanism: assemble, eliminate, substitute, and see which bounds hold.
#include "mechanism_solve.h"

#include <string.h>

// Errors of position are removed within a substep while that is slow; what is faster moves the
// bodies but is no part of their motion.
double direct_joint_speed(double fastest)
{
  return fmax(10.0, 0.25 * fastest);
}

double direct_body_speed(double fastest)
{
  return fmax(3.0, fastest);
}

static const double IDLE_SPEED = 0.1; // m/s, and a share of the energy, that nobody minds
static const double IDLE_SHARE = 1e-2;
static const double TORN_SPEED = 1.0; // m/s or rad/s: slower errors are none
#define ROUNDS 20
// How often a law may come and go. Limbs rest on the ends of angles' ranges, and springs press on
// soft ends: these must not be missing. A strain that stays at its bound is a spring that pulls
// with all of its length. Cables hold in many ways.
#define TRIALS 3
#define END_TRIALS 10
#define PRESSES 2

static solve make_solve(const direct_context *c, mechanism *m)
{
  mechanism_set *set = c->set;
  int32_t rows = set->row_count;
  solve s = {.context = c, .mechanism = m, .nodes = set->nodes, .blocks = set->blocks};
  s.joints = set->joints;
  s.laws = set->laws;
  s.values = set->values;
  s.v = set->vectors;
  s.momentum = set->vectors + rows;
  s.x = set->solutions;
  s.system.nodes = set->nodes;
  s.system.blocks = set->blocks;
  s.system.targets = set->targets;
  s.system.values = set->values;
  s.system.scratch = set->values + m->scratch;
  s.system.x = set->solutions;
  s.system.first = m->first_node;
  s.system.last = m->last_node;
  return s;
}

// No velocity is a negative zero, nor is an impulse: signs of zeros among solutions, which rows of
// zeros change in teams, are not to be seen.
static void load_bodies(solve *s)
{
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    if (!node->is_joint) {
      const body_state *b = &s->context->data->state[node->index];
      double *v = s->v + node->first_row;
      for (int k = 0; k < 3; ++k) {
        v[k] = (double)b->v[k] + 0.0;
        v[3 + k] = (double)b->w[k] + 0.0;
      }
    }
  }
}

static double law_velocity(const solve *s, const direct_joint *j, const law *l)
{
  double motion[2 * BODY_ROWS];
  direct_motion(s->context, j, motion);
  return along_law(l, motion);
}

// What solution `k` changes of it.
static double law_change(const solve *s, const direct_joint *j, const law *l, int k)
{
  double u = 0.0;
  for (int side = 0; side < 2; ++side) {
    if (j->at[side] >= 0) {
      const pair2 *x = s->x + s->nodes[j->at[side]].first_row;
      for (int i = 0; i < 6; ++i) {
        u += l->j[side][i] * x[i][k];
      }
    }
  }
  return u;
}

// ---------------------------------------------------------------------------------------------
// Assembly

S direct_inertia(const solver_data *data, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = data->bodies[slot / BLOCK_WIDTH].spin;
  int lane = slot % BLOCK_WIDTH;
  V inertia;
  Q start;
  get_lane(spin + offsetof(Spin, inertia) / sizeof(R), lane, &inertia, 3);
  get_lane(spin + offsetof(Spin, start) / sizeof(R), lane, &start, 4);
  const float *dq = data->state[slot].dq;
  Q q = {dq[0], dq[1], dq[2], dq[3]};
  return s_rotated_diagonal(seen_turn(q_mul(seen_turn(q), seen_turn(start))), inertia);
}

void direct_inverse_inertia(double *to, S inertia, double more)
{
  double xx = (double)inertia.xx + more, xy = (double)inertia.xy, xz = (double)inertia.xz;
  double yy = (double)inertia.yy + more, yz = (double)inertia.yz, zz = (double)inertia.zz + more;
  double cx = yy * zz - yz * yz, cy = xz * yz - xy * zz, cz = xy * yz - xz * yy;
  double scale = 1.0 / (xx * cx + xy * cy + xz * cz);
  to[0] = scale * cx;
  to[1] = scale * (xx * zz - xz * xz);
  to[2] = scale * (xx * yy - xy * xy);
  to[3] = scale * cy;
  to[4] = scale * cz;
  to[5] = scale * (xy * xz - xx * yz);
}

// Mass and inertia of a body; the inverses where no elimination will have changed them.
static inline void mass_of(const direct_context *c, const direct_node *node, double *to)
{
  const solver_data *data = c->data;
  double inverse_mass = (double)data->state[node->index].inverse_mass;
  if (node->bare && node->resisting == 0.0) {
    const float *ii = data->inertia[node->index].inverse;
    to[0] = inverse_mass;
    for (int i = 0; i < 6; ++i) {
      to[1 + i] = (double)ii[i];
    }
    return;
  }
  S i = direct_inertia(data, node->index);
  if (node->bare) {
    to[0] = inverse_mass;
    direct_inverse_inertia(to + 1, i, node->resisting);
    return;
  }
  to[0] = 1.0 / inverse_mass;
  to[1] = (double)i.xx + node->resisting;
  to[2] = (double)i.xy;
  to[3] = (double)i.xz;
  to[4] = (double)i.yy + node->resisting;
  to[5] = (double)i.yz;
  to[6] = (double)i.zz + node->resisting;
}

void direct_mass(const direct_context *c, const direct_node *node, double *to)
{
  mass_of(c, node, to);
}

static void put_body(const solve *s, const direct_node *node)
{
  double *a = s->values + node->diagonal, mass[MASS_VALUES];
  if (node->bare) {
    mass_of(s->context, node, a);
    return;
  }
  mass_of(s->context, node, mass);
  for (int k = 0; k < BODY_ROWS; ++k) {
    clear_six(a + k * BODY_ROWS);
  }
  a[0] = a[7] = a[14] = mass[0];
  a[21] = mass[1];
  a[22] = mass[2];
  a[23] = mass[3];
  a[28] = mass[4];
  a[29] = mass[5];
  a[35] = mass[6];
}

// Rows of a joint towards one of its bodies, in a block of n columns or padded rows.
static void put_side(const solve *s, const direct_joint *j, int side, int n)
{
  const held_row *held = &s->context->set->held[j->first_law];
  double *to = s->values + j->entry[side];
  if (j->at[side] > j->node) {
    for (int i = 0; i < n; ++i) {
      memcpy(to + i * BODY_ROWS, held[i].j[side], sizeof held->j[side]);
    }
    return;
  }
  int ld = padded(n), i = 0;
  for (; i + 1 < n; i += 2) {
    const double *a = held[i].j[side], *b = held[i + 1].j[side];
#pragma GCC unroll 6
    for (int k = 0; k < BODY_ROWS; ++k) {
      store2(to + k * ld + i, (pair2){a[k], b[k]});
    }
  }
  for (int k = 0; k < BODY_ROWS && i < n; ++k) {
    store2(to + k * ld + i, (pair2){held[i].j[side][k], 0.0}); // padding
  }
}

// The laws that are rows of the matrix; returns how many.
static int hold_rows(const solve *s, const direct_joint *j)
{
  const law *l = &s->laws[j->first_law], *end = l + j->law_count;
  held_row *first = &s->context->set->held[j->first_law], *held = first;
  for (; l < end; ++l) {
    if (l->active) {
      *held++ = (held_row){l->j, law_softness(l)};
    }
  }
  return (int)(held - first);
}

static void put_rows(const solve *s, const direct_joint *j)
{
  direct_node *node = &s->nodes[j->node];
  int n = hold_rows(s, j), ld = padded(n);
  node->rows = (int16_t)n;
  double *diagonal = s->values + node->diagonal;
  memset(diagonal, 0, (size_t)(n * ld) * sizeof *diagonal);
  for (int i = 0; i < n; ++i) {
    diagonal[i * ld + i] = -s->context->set->held[j->first_law + i].softness;
  }
  for (int side = 0; side < 2; ++side) {
    if (j->at[side] >= 0) {
      put_side(s, j, side, n);
    }
  }
}

// Sizes of the blocks below a node, and zeros where only elimination writes.
static void clear_blocks(const solve *s, direct_node *node)
{
  int below = BODY_ROWS;
  for (int32_t k = 0; k < node->count; ++k) {
    const direct_block *block = &s->blocks[node->first + k];
    int rows = s->nodes[block->node].rows;
    below = k == 0 || below == rows ? rows : 0;
    if (block->fills) {
      memset(s->values + block->at, 0, (size_t)(padded(rows) * node->rows) * sizeof *s->values);
    }
  }
  node->below = (int16_t)below;
}

// All of the matrix but the rows of joints.
static void put_bodies(const solve *s)
{
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &s->nodes[i];
    clear_blocks(s, node);
    node->resisting = node->resistance;
    if (!node->is_joint) {
      put_body(s, node);
    }
  }
}

static bool holds_rows(const solve *s, const direct_joint *j)
{
  const law *l = &s->laws[j->first_law], *end = l + j->law_count;
  const held_row *first = &s->context->set->held[j->first_law], *held = first;
  const held_row *last = held + s->nodes[j->node].rows;
  for (; l < end; ++l) {
    if (l->active) {
      if (held == last || held->j != l->j || held->softness != law_softness(l)) {
        return false;
      }
      held += 1;
    }
  }
  return held == last;
}

// Whether the matrix that has been factored is the one that is asked for. What stops a mechanism as
// a substep ends and what moves it in the next one often is.
bool solve_is_held(const solve *s)
{
  const mechanism *m = s->mechanism;
  if (m->factored != s->context->pose) {
    return false;
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    if (!holds_rows(s, &s->joints[i])) {
      return false;
    }
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (s->nodes[i].resisting != s->nodes[i].resistance) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Right-hand sides

// Adds impulses times rows to what a joint's bodies are given.
static void give(const solve *s, const direct_joint *j, const double *impulses)
{
  for (int side = 0; side < 2; ++side, impulses += BODY_ROWS) {
    if (j->at[side] >= 0) {
      pair2 *x = s->x + s->nodes[j->at[side]].first_row;
      for (int n = 0; n < BODY_ROWS; ++n) {
        x[n][0] += impulses[n];
      }
    }
  }
}

// Of a law at its bound; false if it has given that already.
static inline bool add_bound(const law *l, double *given)
{
  double impulse = law_bound(l) - l->lambda;
  for (int n = 0; n < BODY_ROWS && impulse != 0.0; ++n) {
    given[n] += impulse * l->j[0][n];
    given[BODY_ROWS + n] += impulse * l->j[1][n];
  }
  return impulse != 0.0;
}

// Velocities to change for what is asked of them, and then for errors of position. A law at its
// bound is an impulse.
static void ask_joint(const solve *s, const direct_joint *j, bool again)
{
  double motion[2 * BODY_ROWS], given[2 * BODY_ROWS] = {0.0};
  bool gives = false, whole = again && !s->mechanism->apart;
  pair2 *rows = s->x + s->nodes[j->node].first_row;
  direct_motion(s->context, j, motion);
  law *l = &s->laws[j->first_law], *end = l + j->law_count;
  for (; l < end; ++l) {
    if (s->parting) {
      if (l->active) {
        *rows++ = (pair2){-l->asked, -l->error};
      }
      continue;
    }
    if (l->active) {
      double error = whole ? l->error : 0.0;
      l->asked = -(l->rate + error + along_law(l, motion) + l->alpha * l->lambda);
      *rows++ = (pair2){l->asked, again ? 0.0 : -l->error};
      continue;
    }
    gives |= add_bound(l, given);
  }
  if (gives) {
    give(s, j, given);
  }
}

static void ask_nothing(const solve *s)
{
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      double *x = (double *)(s->x + s->nodes[i].first_row);
      clear_six(x);
      clear_six(x + BODY_ROWS);
    }
  }
}

#if !defined(TN_SMALL)
void solve_gives(const solve *s)
{
  ask_nothing(s);
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double given[2 * BODY_ROWS] = {0.0};
    bool gives = false;
    const law *l = &s->laws[j->first_law], *end = l + j->law_count;
    for (; l < end; ++l) {
      gives = (!l->active && add_bound(l, given)) || gives;
    }
    if (gives) {
      give(s, j, given);
    }
  }
}
#endif

// Solutions for what is asked. A joint's rows and what is asked of them go together while they are
// at hand, and so do elimination and the first half of substitution.
static void answer(solve *s)
{
  mechanism *m = s->mechanism;
  bool again = s->context->pass == DIRECT_AGAIN;
  s->fresh = s->fresh && !(m->alone && solve_is_held(s));
  m->factored = s->context->pose;
  m->alone = true;
  ask_nothing(s);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    if (s->fresh) {
      put_rows(s, &s->joints[i]);
    }
    ask_joint(s, &s->joints[i], again);
  }
  if (s->fresh) {
    put_bodies(s);
  }
  s->context->direct->solve(&s->system, s->fresh);
  s->fresh = false;
}

// The speed that the position part gives a body.
static double top_speed(const solve *s)
{
  const mechanism *m = s->mechanism;
  double top = 0.0;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      const pair2 *x = s->x + s->nodes[i].first_row;
      top = at_least(top, x[0][1] * x[0][1] + x[1][1] * x[1][1] + x[2][1] * x[2][1]);
    }
  }
  return sqrt(top);
}

double direct_spare(double square, double inverse_mass)
{
  return 0.5 * (IDLE_SPEED * IDLE_SPEED + IDLE_SHARE * square) / inverse_mass;
}

// How fast the bodies are, and what energy may come from nowhere.
static void survey_bodies(solve *s)
{
  double most = 0.0;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    if (!s->nodes[i].is_joint) {
      const double *v = s->v + s->nodes[i].first_row;
      double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
      most = at_least(most, square);
      s->spare +=
          direct_spare(square, (double)s->context->data->state[s->nodes[i].index].inverse_mass);
    }
  }
  s->fastest = sqrt(most);
}

// The worst error of a row, and the energy that the position part brings beyond what the
// velocities' part takes and may come from nowhere. A row changes its velocity by what is asked,
// but for its softness.
static double survey_rows(const solve *s, double *brought)
{
  const mechanism *m = s->mechanism;
  double worst = 0.0, sum = 0.0;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const pair2 *x = s->x + s->nodes[j->node].first_row;
    const law *l = &s->laws[j->first_law], *end = l + j->law_count;
    for (; l < end; ++l) {
      if (l->active) {
        double change = l->asked + law_softness(l) * (*x)[0];
        worst = at_least(worst, fabs(l->error));
        sum += (*x)[1] * l->error + (*x)[0] * change;
        x += 1;
      }
    }
  }
  *brought = 0.5 * sum - s->spare;
  return worst;
}

// How much of the position part is used, and whether it stays in the velocities. Fast bodies make
// larger errors in a substep.
static void judge_errors(solve *s)
{
  double joint_speed = direct_joint_speed(s->fastest);
  double body_speed = direct_body_speed(s->fastest);
  double brought;
  double worst = survey_rows(s, &brought);
  s->share = fmin(1.0, joint_speed / fmax(worst, 1e-30));
  double top = s->share * top_speed(s);
  s->mechanism->apart = s->share < 1.0 || top > body_speed || brought > 0.0;
  s->share *= fmin(1.0, body_speed / fmax(top, 1e-30));
  s->kept = s->mechanism->apart ? 0.0 : s->share;
}

// Joints of which the position part cannot remove most of the error contradict each other.
static void find_torn(const solve *s)
{
  mechanism *m = s->mechanism;
  m->torn = false;
  m->torn_off = true;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    s->nodes[i].torn = false;
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double left = 0.0, whole = 0.0;
    for (int k = 0; k < j->law_count; ++k) {
      const law *l = &s->laws[j->first_law + k];
      if (l->active) {
        double rest = l->error + law_change(s, j, l, 1);
        left += rest * rest;
        whole += l->error * l->error;
      }
    }
    double least = fmax(TORN_SPEED, s->fastest);
    if (left <= 0.64 * whole || whole < least * least) {
      continue;
    }
    m->torn = true;
    for (int side = 0; side < 2; ++side) {
      if (j->at[side] >= 0) {
        s->nodes[j->at[side]].torn = true;
      } else {
        m->torn_off = false;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Bounds: a law that exceeds one stays at it, one that would leave its bound becomes a row

static double row_impulse(const solve *s, pair2 x)
{
  return 0.0 - (x[0] + s->kept * x[1]);
}

// A law at its bound that may become a row again.
static bool may_return(const law *l)
{
  bool end = l->kind == LAW_RANGE && (l->block || l->alpha > 0.0);
  int most = end || l->kind == LAW_STRAIN ? END_TRIALS : TRIALS;
  return !l->active && l->lo != l->hi && l->trials < most;
}

// What the bodies of a joint will move with, if a share of the position part stays.
static void foresee(const solve *s, const direct_joint *j, double share, double *motion)
{
  direct_motion(s->context, j, motion);
  for (int side = 0; side < 2; ++side) {
    if (j->at[side] >= 0) {
      const pair2 *x = s->x + s->nodes[j->at[side]].first_row;
      for (int i = 0; i < BODY_ROWS; ++i) {
        motion[BODY_ROWS * side + i] += x[i][0] + share * x[i][1];
      }
    }
  }
}

// A row that exceeds its bounds.
static bool leaves(const solve *s, law *l, pair2 x)
{
  double lambda = l->lambda + row_impulse(s, x);
  double slack = 1e-9 * fabs(lambda);
  if (lambda <= l->hi + slack && lambda >= l->lo - slack) {
    return false;
  }
  l->active = false;
  l->at_hi = lambda > l->hi;
  l->trials += 1;
  return true;
}

// A law that would leave its bound.
static bool returns(const solve *s, law *l, const double *motion)
{
  double u = along_law(l, motion);
  double wanted = l->rate + s->kept * l->error + u + l->alpha * law_bound(l);
  if (l->at_hi ? wanted <= 1e-9 : wanted >= -1e-9) {
    return false;
  }
  l->active = true;
  l->trials += 1;
  return true;
}

// Friction about all axes is bounded as a vector: it slides along its impulse, and holds again
// once that would drive the motion it resists.
static bool revise_friction(const solve *s, const direct_joint *j, law *l, const pair2 *x)
{
  double most = (double)j->params[l->block].friction * (double)s->context->data->substep.h;
  double sum = 0.0;
  if (l->active) {
    double lambda[3];
    for (int i = 0; i < 3; ++i) {
      lambda[i] = l[i].lambda + row_impulse(s, x[i]);
      sum += lambda[i] * lambda[i];
    }
    if (sum <= most * most * (1.0 + 1e-9)) {
      return false;
    }
    for (int i = 0; i < 3; ++i) {
      l[i].active = false;
      l[i].lo = l[i].hi = lambda[i] * most / sqrt(sum);
      l[i].trials += 1;
    }
    return true;
  }
  if (l->trials >= TRIALS) {
    return false;
  }
  double motion[2 * BODY_ROWS];
  foresee(s, j, 0.0, motion);
  for (int i = 0; i < 3; ++i) {
    sum += l[i].hi * along_law(&l[i], motion);
  }
  if (sum <= 0.0) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    l[i].active = true;
    l[i].lo = -1e300;
    l[i].hi = 1e300;
    l[i].trials += 1;
  }
  return true;
}

static bool revise_joint(const solve *s, const direct_joint *j, bool relaxing)
{
  bool changed = false, foreseen = false;
  double motion[2 * BODY_ROWS];
  const pair2 *x = s->x + s->nodes[j->node].first_row;
  law *l = &s->laws[j->first_law], *end = l + j->law_count;
  for (; l < end; ++l) {
    bool was_active = l->active;
    if (l->kind == LAW_FRICTION && !relaxing && !lags(s->mechanism) && resists_all_ways(j, l)) {
      changed |= revise_friction(s, j, l, x);
      l += 2;
      x += was_active ? 3 : 0;
#if !defined(TN_SMALL)
    } else if (l->kind == LAW_LOCKED && was_active) {
      x += 1; // it has no bounds
#endif
    } else if (was_active) {
      changed |= leaves(s, l, *x++);
    } else if (may_return(l)) {
      if (!foreseen) {
        foresee(s, j, s->kept, motion);
        foreseen = true;
      }
      changed |= returns(s, l, motion);
    }
  }
  return changed;
}

static bool revise(const solve *s)
{
  bool changed = false;
  bool relaxing = s->context->pass == DIRECT_RELAX || s->context->pass == DIRECT_AHEAD;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    changed |= revise_joint(s, &s->joints[i], relaxing);
  }
  return changed;
}

// ---------------------------------------------------------------------------------------------
// Results

static void keep_impulses(const solve *s, direct_joint *j)
{
  const pair2 *x = s->x + s->nodes[j->node].first_row;
  bool ahead = s->context->pass == DIRECT_AHEAD;
  law *l = &s->laws[j->first_law], *end = l + j->law_count;
  for (int block = 0; block < 2; ++block) {
    pair2 sum = {0.0, 0.0};
    double last = 0.0;
    for (; l < end && l->block == block; ++l) {
      double impulse = l->active ? row_impulse(s, *x) : law_bound(l) - l->lambda;
      x += l->active;
      l->lambda += impulse;
      const double *n = l->j[1] + 3 * block;
      sum += impulse * load2(n);
      last += impulse * n[2];
      if (ahead) {
        law_keep_ahead(j, l);
      } else {
        law_keep(j, l);
      }
    }
    j->sum[block][0] += (float)sum[0];
    j->sum[block][1] += (float)sum[1];
    j->sum[block][2] += (float)last;
  }
}

// The angular momentum that a change of spin stands for, at the pose of this solve.
static void note_momentum(const solve *s, const direct_node *node)
{
  const pair2 *x = s->x + node->first_row;
  V turn =
      v_make((float)(s->share * x[3][1]), (float)(s->share * x[4][1]), (float)(s->share * x[5][1]));
  V l = s_mul(direct_inertia(s->context->data, node->index), turn);
  double *to = s->momentum + node->first_row;
  for (int k = 0; k < 3; ++k) {
    to[k] = s->share * x[k][1];
  }
  to[3] = (double)l.x;
  to[4] = (double)l.y;
  to[5] = (double)l.z;
}

static void store_bodies(const solve *s)
{
  bool first = s->context->pass == DIRECT_FIRST;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    if (node->is_joint) {
      continue;
    }
    body_state *b = &s->context->data->state[node->index];
    const double *v = s->v + node->first_row;
    const pair2 *x = s->x + node->first_row;
    for (int k = 0; k < 3; ++k) {
      b->v[k] = (float)(v[k] + x[k][0] + s->share * x[k][1]);
      b->w[k] = (float)(v[3 + k] + x[3 + k][0] + s->share * x[3 + k][1]);
    }
    if (first && s->mechanism->apart) {
      note_momentum(s, node);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Errors that are no motion
//
// What moves the bodies without staying in their velocities has impulses of its own, and its own
// bounds: an end of a range that only one of the two parts presses against must not pull in the
// other.

// What is left of an error once the bodies move as the velocities' part has it. Only rows that
// hold a position take part. Whether there are springs among them whose length is not explained.
static bool leave_errors(const solve *s)
{
  const mechanism *m = s->mechanism;
  bool strained = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->law_count; ++k) {
      law *l = &s->laws[j->first_law + k];
      l->holds = l->active;
      l->trials = 0;
      if (l->kind == LAW_RANGE && l->lo < l->hi) {
        double u = law_velocity(s, j, l);
        l->error += l->active ? 0.0 : l->rate + u + l->alpha * l->lambda;
        l->active = l->at_hi ? l->error >= 0.0 : l->error <= 0.0;
      } else {
        l->active = l->active && (l->kind == LAW_LOCKED || l->kind == LAW_RANGE);
      }
      l->asked = 0.0;
      strained |= l->active && l->holds && l->alpha > 0.0 && l->error != 0.0;
    }
  }
  return strained;
}

static bool revise_errors(const solve *s)
{
  bool changed = false;
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    const pair2 *x = s->x + s->nodes[j->node].first_row;
    for (int k = 0; k < j->law_count; ++k) {
      law *l = &s->laws[j->first_law + k];
      bool was_active = l->active;
      if (l->kind == LAW_RANGE && l->lo < l->hi) {
        double push = l->at_hi ? 1.0 : -1.0;
        if (was_active) {
          l->active = push * (*x)[1] >= 0.0;
        } else if (l->trials < TRIALS) {
          l->active = push * (l->error + law_change(s, j, l, 1)) > 1e-9;
        }
        if (l->active != was_active) {
          l->trials += 1;
          changed = true;
        }
      }
      x += was_active;
    }
  }
  return changed;
}

static void solve_errors(solve *s)
{
  for (int round = 0; round < ROUNDS; ++round) {
    s->fresh = true;
    answer(s);
    if (!revise_errors(s)) {
      break;
    }
  }
}

// Where joints contradict each other their impulses stay, however the bodies move: without the
// resistance they are asked to turn far beyond where errors are shared out.
static void note_press(const solve *s, direct_joint *j)
{
  const pair2 *x = s->x + s->nodes[j->node].first_row;
  double lever[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
  for (int k = 0; k < j->law_count; ++k) {
    const law *l = &s->laws[j->first_law + k];
    if (!l->active) {
      continue;
    }
    sum[l->block] += (*x)[1] * (*x)[1];
    x += 1;
    for (int side = 0; side < 2 && !l->block; ++side) {
      const double *r = l->j[side] + 3;
      lever[side] = fmax(lever[side], r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
  }
  for (int side = 0; side < 2; ++side) {
    j->press[side] = sqrt(sum[0] * lever[side]) + sqrt(sum[1]);
  }
}

// The impulses are those of the last substep, if it had any.
static void find_errors(solve *s)
{
  const mechanism *m = s->mechanism;
  for (int k = !s->context->begins && m->stale ? 1 : 0; k < PRESSES; ++k) {
    mechanism_resist_press(s->context, m);
    solve_errors(s);
    for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
      note_press(s, &s->joints[i]);
    }
  }
}

// The bodies' velocities become what the solve has found.
static void take_motion(const solve *s)
{
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    int32_t first = s->nodes[i].first_row;
    for (int k = 0; k < BODY_ROWS && !s->nodes[i].is_joint; ++k) {
      s->v[first + k] += s->x[first + k][0];
    }
  }
}

static void keep_all_impulses(const solve *s)
{
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    keep_impulses(s, &s->joints[i]);
  }
}

// Rows give way by their softness, under a load in each substep. Errors that are removed slowly
// would become large by that, so what rows gave way to is asked of them once more.
static void ask_again(solve *s)
{
  take_motion(s);
  s->fresh = !s->mechanism->alone; // what a team has factored is not at hand
  answer(s);
  mechanism_keep_turning(s->context, s->mechanism, 0.0);
  keep_all_impulses(s);
  take_motion(s);
}

// Moves the bodies so that errors go, apart from their velocities.
static void part_errors(solve *s)
{
  mechanism *m = s->mechanism;
  pair2 *x = s->x + s->nodes[m->first_node].first_row;
  ask_again(s);
  if (leave_errors(s)) {
    mechanism_look_ahead(s->context, m);
  }
  s->parting = true;
  find_errors(s);
  s->parting = false;
  judge_errors(s);
  m->apart = true;
  find_torn(s);
  for (int32_t i = 0; i < m->rows; ++i) {
    x[i] = (pair2){0.0, s->share * x[i][1] + x[i][0]};
  }
  s->share = 1.0;
  if (m->anchored) {
    mechanism_stay(s->context, m);
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->law_count; ++k) {
      s->laws[j->first_law + k].active = s->laws[j->first_law + k].holds;
    }
  }
}

bool solve_concludes(solve *s, int round)
{
  if (s->context->pass == DIRECT_FIRST) {
    judge_errors(s);
  }
  s->fresh = round + 1 < ROUNDS && revise(s);
  return !s->fresh;
}

// Rows that hold, and what the bodies do with them.
void solve_rounds(solve *s, int round)
{
  for (; round < ROUNDS; ++round) {
    answer(s);
    if (solve_concludes(s, round)) {
      break;
    }
  }
}

// Inertia that is not there stores energy of spins: what it gives back came from nowhere.
static bool resistance_drives(const solve *s)
{
  double brought = 0.0;
  for (int32_t i = s->mechanism->first_node; i < s->mechanism->last_node; ++i) {
    const direct_node *node = &s->nodes[i];
    const double *w = s->v + node->first_row + 3;
    const pair2 *x = s->x + node->first_row + 3;
    for (int k = 0; k < 3 && node->resistance > 0.0; ++k) {
      brought -= 0.5 * node->resistance * x[k][0] * (2.0 * w[k] + x[k][0]);
    }
  }
  return brought > s->spare;
}

// What contacts have left is no motion yet: of a limb they know nothing but the body that they
// touch, and joints pass on to others what that takes.
static void follow_motion(const solve *s)
{
  double motion[2 * BODY_ROWS];
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    foresee(s, &s->joints[i], 0.0, motion);
    direct_follow_motion(s->context, &s->joints[i], motion);
  }
}

solve solve_begin(const direct_context *c, mechanism *m)
{
  solve s = make_solve(c, m);
  s.share = s.kept = c->pass == DIRECT_AGAIN && !m->apart ? 1.0 : 0.0;
  s.aside = c->pass == DIRECT_AGAIN && m->apart;
  if (s.aside) {
    mechanism_set_aside(c, m, -1.0f);
  }
  load_bodies(&s);
  survey_bodies(&s);
  s.fresh = c->pass != DIRECT_AGAIN || m->stale;
  if (c->pass != DIRECT_AGAIN) {
    direct_laws(c, m);
  }
  if (c->pass == DIRECT_FIRST || c->pass == DIRECT_AGAIN) {
    mechanism_resist_load(c, m);
  } else {
    mechanism_resist_nothing(c, m);
  }
  return s;
}

void solve_end(solve *s)
{
  const direct_context *c = s->context;
  mechanism *m = s->mechanism;
  if (resistance_drives(s)) {
    mechanism_resist_nothing(c, m);
    s->fresh = true;
    solve_rounds(s, 0);
  }
  mechanism_keep_turning(c, m, s->kept);
  keep_all_impulses(s);
  if (c->pass == DIRECT_AGAIN && lags(m)) {
    follow_motion(s);
  }
  if (c->pass == DIRECT_FIRST) {
    m->torn = false;
    if (m->apart) {
      part_errors(s);
    }
    m->stale = m->apart;
  }
  store_bodies(s);
  if (s->aside) {
    mechanism_set_aside(c, m, 1.0f);
  }
  if (c->pass == DIRECT_RELAX || c->pass == DIRECT_AHEAD) {
    mechanism_calm(c, m);
  }
}

void mechanism_solve(const direct_context *c, mechanism *m)
{
  if (!points_solve(c, m)) {
    solve s = solve_begin(c, m);
    solve_rounds(&s, 0);
    solve_end(&s);
  }
}
