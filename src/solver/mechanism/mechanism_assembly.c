// The matrix and the right-hand sides of a mechanism's solve.
#include "solver/mechanism/solve_state.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Assembly

S direct_world_inertia(const solver_data *data, int32_t slot)
{
  float(*spin)[BLOCK_WIDTH] = data->bodies[slot / BLOCK_WIDTH].spin;
  int lane = slot % BLOCK_WIDTH;
  V inertia;
  Q start;
  get_lane(spin + offsetof(AngularState, inertia) / sizeof(R), lane, &inertia, 3);
  get_lane(spin + offsetof(AngularState, start) / sizeof(R), lane, &start, 4);
  const float *dq = data->state[slot].dq;
  Q q = {dq[0], dq[1], dq[2], dq[3]};
  return s_rotated_diagonal(
      flush_tiny_rotation(q_mul(flush_tiny_rotation(q), flush_tiny_rotation(start))), inertia);
}

void direct_inverse_inertia_with(double *to, S inertia, double more)
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

// MASS_VALUES of a body: inverses for a leaf, whose block no elimination changes.
static inline void node_mass(const direct_context *c, const direct_node *node, double *to)
{
  const solver_data *data = c->data;
  double inverse_mass = (double)data->state[node->index].inverse_mass;
  if (node->is_leaf && node->factored_inertia == 0.0) {
    const float *ii = data->inertia[node->index].inverse;
    to[0] = inverse_mass;
    for (int i = 0; i < 6; ++i) {
      to[1 + i] = (double)ii[i];
    }
    return;
  }
  S i = direct_world_inertia(data, node->index);
  if (node->is_leaf) {
    to[0] = inverse_mass;
    direct_inverse_inertia_with(to + 1, i, node->factored_inertia);
    return;
  }
  to[0] = 1.0 / inverse_mass;
  to[1] = (double)i.xx + node->factored_inertia;
  to[2] = (double)i.xy;
  to[3] = (double)i.xz;
  to[4] = (double)i.yy + node->factored_inertia;
  to[5] = (double)i.yz;
  to[6] = (double)i.zz + node->factored_inertia;
}

void direct_node_mass(const direct_context *c, const direct_node *node, double *to)
{
  node_mass(c, node, to);
}

static void assemble_body(const solve_state *s, const direct_node *node)
{
  double *a = s->values + node->diagonal, mass[MASS_VALUES];
  if (node->is_leaf) {
    node_mass(s->context, node, a);
    return;
  }
  node_mass(s->context, node, mass);
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

// Writes J of n active rows towards one body: as J^T (columns of 6) if the body is eliminated
// later, else as J (6 columns of padded(n) rows).
static inline void assemble_side(const solve_state *s, const active_row *active_rows, int n,
                                 int side, bool body_below, int32_t jacobian_offset)
{
  double *to = s->values + jacobian_offset;
  if (body_below) {
    for (int i = 0; i < n; ++i) {
      memcpy(to + i * BODY_ROWS, active_rows[i].j[side], sizeof active_rows->j[side]);
    }
    return;
  }
  int ld = padded(n), i = 0;
  for (; i + 1 < n; i += 2) {
    const double *a = active_rows[i].j[side], *b = active_rows[i + 1].j[side];
#pragma GCC unroll 6
    for (int k = 0; k < BODY_ROWS; ++k) {
      store2(to + k * ld + i, (f64x2){a[k], b[k]});
    }
  }
  for (int k = 0; k < BODY_ROWS && i < n; ++k) {
    store2(to + k * ld + i, (f64x2){active_rows[i].j[side][k], 0.0}); // padding
  }
}

void solve_assemble_side(const solve_state *s, const active_row *active_rows, int n, int side,
                         bool body_below, int32_t jacobian_offset)
{
  assemble_side(s, active_rows, n, side, body_below, jacobian_offset);
}

// Lists the active rows of a node; returns their number.
static int collect_active_rows(const solve_state *s, int32_t first_row, int32_t count)
{
  const joint_row *l = &s->joint_rows[first_row], *end = l + count;
  active_row *first = &s->context->set->active_rows[first_row], *active_rows = first;
  for (; l < end; ++l) {
    if (l->active) {
      *active_rows++ = (active_row){l->j, row_compliance(l)};
    }
  }
  return (int)(active_rows - first);
}

int solve_assemble_diagonal(const solve_state *s, int32_t at, int32_t first_row, int32_t count)
{
  direct_node *node = &s->nodes[at];
  int n = collect_active_rows(s, first_row, count), ld = padded(n);
  node->rows = (int16_t)n;
  double *diagonal = s->values + node->diagonal;
  memset(diagonal, 0, (size_t)(n * ld) * sizeof *diagonal);
  for (int i = 0; i < n; ++i) {
    diagonal[i * ld + i] = -s->context->set->active_rows[first_row + i].compliance;
  }
  return n;
}

static void assemble_rows(const solve_state *s, const direct_joint *j)
{
  int n = solve_assemble_diagonal(s, j->node, j->first_joint_row, j->joint_row_count);
  for (int side = 0; side < 2; ++side) {
    if (j->body_node[side] >= 0) {
      assemble_side(s, &s->context->set->active_rows[j->first_joint_row], n, side,
                    j->body_node[side] > j->node, j->jacobian_offset[side]);
    }
  }
}

// Sets `below` and clears the blocks that only elimination writes to.
static void clear_blocks(const solve_state *s, direct_node *node)
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

// All of the matrix except the rows of joints.
static void assemble_bodies(const solve_state *s)
{
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    direct_node *node = &s->nodes[i];
    clear_blocks(s, node);
    node->factored_inertia = node->added_inertia;
    if (!node->is_joint) {
      assemble_body(s, node);
    }
  }
}

bool solve_rows_unchanged(const solve_state *s, int32_t node, int32_t first_row, int32_t count)
{
  const joint_row *l = &s->joint_rows[first_row], *end = l + count;
  const active_row *active_rows = &s->context->set->active_rows[first_row];
  const active_row *last = active_rows + s->nodes[node].rows;
  for (; l < end; ++l) {
    if (l->active) {
      if (active_rows == last || active_rows->j != l->j ||
          active_rows->compliance != row_compliance(l)) {
        return false;
      }
      active_rows += 1;
    }
  }
  return active_rows == last;
}

// Whether the factored matrix is the one needed now. The relax pass at the end of a substep and the
// bias pass of the next one often have the same.
bool solve_is_factored(const solve_state *s)
{
  const mechanism *m = s->mechanism;
  if (m->factor_pose != s->context->pose) {
    return false;
  }
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    if (!solve_rows_unchanged(s, j->node, j->first_joint_row, j->joint_row_count)) {
      return false;
    }
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (s->nodes[i].factored_inertia != s->nodes[i].added_inertia) {
      return false;
    }
  }
  return couplings_are_factored(s);
}

// ---------------------------------------------------------------------------------------------
// Right-hand sides

// Adds impulses on A and B to the right-hand sides of a joint's bodies.
static void add_impulse(const solve_state *s, const direct_joint *j, const double *impulses)
{
  for (int side = 0; side < 2; ++side, impulses += BODY_ROWS) {
    if (j->body_node[side] >= 0) {
      f64x2 *x = s->x + s->nodes[j->body_node[side]].first_row;
      for (int n = 0; n < BODY_ROWS; ++n) {
        x[n][0] += impulses[n];
      }
    }
  }
}

// Adds J^T (bound - lambda) of an inactive row; false if the row is at its bound already.
static inline bool add_bound_impulse(const joint_row *l, double *given)
{
  double impulse = row_bound(l) - l->lambda;
  for (int n = 0; n < BODY_ROWS && impulse != 0.0; ++n) {
    given[n] += impulse * l->j[0][n];
    given[BODY_ROWS + n] += impulse * l->j[1][n];
  }
  return impulse != 0.0;
}

// Right-hand sides of a joint: of its active rows for velocity and position, of its bodies the
// impulses of inactive rows. In DIRECT_RESOLVE (`again`) errors that stay in the velocities are
// part of the first right-hand side; errors of a split impulse are done.
static void build_joint_rhs(const solve_state *s, const direct_joint *j, bool again)
{
  double motion[2 * BODY_ROWS], given[2 * BODY_ROWS] = {0.0};
  bool gives = false, whole = again && !s->mechanism->split_impulse;
  f64x2 *rows = s->x + s->nodes[j->node].first_row;
  direct_joint_motion(s->context, j, motion);
  joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
  for (; l < end; ++l) {
    if (s->split_pass) {
      if (l->active) {
        *rows++ = (f64x2){-l->rhs, -l->error};
      }
      continue;
    }
    if (l->active) {
      double error = whole ? l->error : 0.0;
      l->rhs = -(l->rate + error + row_velocity(l, motion) + l->alpha * l->lambda);
      *rows++ = (f64x2){l->rhs, again ? 0.0 : -l->error};
      continue;
    }
    gives |= add_bound_impulse(l, given);
  }
  if (gives) {
    add_impulse(s, j, given);
  }
}

static void clear_body_rhs(const solve_state *s)
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
void solve_add_bound_impulses(const solve_state *s)
{
  clear_body_rhs(s);
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double given[2 * BODY_ROWS] = {0.0};
    bool gives = false;
    const joint_row *l = &s->joint_rows[j->first_joint_row], *end = l + j->joint_row_count;
    for (; l < end; ++l) {
      gives = (!l->active && add_bound_impulse(l, given)) || gives;
    }
    if (gives) {
      add_impulse(s, j, given);
    }
  }
}
#endif

// A joint's rows are assembled together with their right-hand sides while they are in the cache.
void solve_factor_and_solve(solve_state *s)
{
  mechanism *m = s->mechanism;
  bool again = s->context->pass == DIRECT_RESOLVE;
  s->refactor = s->refactor && !(m->own_factor && solve_is_factored(s));
  m->factor_pose = s->context->pose;
  m->own_factor = true;
  clear_body_rhs(s);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    if (s->refactor) {
      assemble_rows(s, &s->joints[i]);
    }
    build_joint_rhs(s, &s->joints[i], again);
  }
  couplings_build_rhs(s, again);
  if (s->refactor) {
    couplings_assemble(s);
    assemble_bodies(s);
  }
  s->context->direct->solve(&s->system, s->refactor);
  s->refactor = false;
}
