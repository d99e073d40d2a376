// Split impulse: a position correction that was too fast to stay in the velocities has moved the
// bodies; after the drift it is removed from the velocities.
//
// The file also has the rigid motion of a mechanism's bodies as one, u = I^-1 P for their momenta P
// (6 x 6, about the first body). It serves to restore the angular momentum of free mechanisms, to
// remove spurious motion of anchored ones, and to stop infeasible ones.
#include "data/bodies.h"
#include "solver/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

// Sums over bodies, about the centre of mass of the first.
typedef struct momentum_sums {
  double mass;                // kg
  double center[3];           // mass times centre of mass, kg m
  double momentum[BODY_ROWS]; // linear, angular; N s, N m s
  double lost[3];             // change of angular momentum to make up for, N m s
  double kinetic;             // energy, J
  double inertia[3][3];       // kg m^2
} momentum_sums;

// to += scale a x b
LARGE void add_cross(double *to, double scale, const double *a, const double *b)
{
  to[0] += scale * (a[1] * b[2] - a[2] * b[1]);
  to[1] += scale * (a[2] * b[0] - a[0] * b[2]);
  to[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

// Adds sign times the split velocity to a body. The angular part is kept as momentum, because the
// inertia has turned with the drift.
static void add_split_velocity(const direct_context *c, const direct_node *node, float sign)
{
  body_state *b = &c->data->state[node->index];
  const double *split_motion = c->set->vectors + c->set->row_count + node->first_row;
  S ii;
  memcpy(&ii, c->data->inertia[node->index].inverse, sizeof ii);
  V turn =
      s_mul(ii, v_make((float)split_motion[3], (float)split_motion[4], (float)split_motion[5]));
  for (int k = 0; k < 3; ++k) {
    b->v[k] += sign * (float)split_motion[k];
  }
  b->w[0] += sign * turn.x;
  b->w[1] += sign * turn.y;
  b->w[2] += sign * turn.z;
}

void mechanism_add_split_velocity(const direct_context *c, const mechanism *m, float sign)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (!c->set->nodes[i].is_joint) {
      add_split_velocity(c, &c->set->nodes[i], sign);
    }
  }
}

// Centre of mass of a body relative to the one of `origin`, m.
static void relative_center(const direct_context *c, const direct_node *node,
                            const direct_node *origin, double *r)
{
  const body *b = &c->bodies[node->index], *o = &c->bodies[origin->index];
  const float *dx = c->data->state[node->index].dx, *d0 = c->data->state[origin->index].dx;
  r[0] = b->center.x - o->center.x + (double)(dx[0] - d0[0]);
  r[1] = b->center.y - o->center.y + (double)(dx[1] - d0[1]);
  r[2] = b->center.z - o->center.z + (double)(dx[2] - d0[2]);
}

// Adds a body to the sums.
static void add_body(const direct_context *c, const direct_node *node, const direct_node *origin,
                     momentum_sums *s)
{
  const body_state *b = &c->data->state[node->index];
  S i = direct_world_inertia(c->data, node->index);
  V turning = s_mul(i, v_make(b->w[0], b->w[1], b->w[2]));
  const float inertia[3][3] = {{i.xx, i.xy, i.xz}, {i.xy, i.yy, i.yz}, {i.xz, i.yz, i.zz}};
  const float spin[3] = {turning.x, turning.y, turning.z};
  double m = 1.0 / (double)b->inverse_mass;
  double v[3] = {(double)b->v[0], (double)b->v[1], (double)b->v[2]};
  double r[3];
  relative_center(c, node, origin, r);
  s->mass += m;
  add_cross(s->momentum + 3, m, r, v);
  for (int n = 0; n < 3; ++n) {
    s->kinetic += 0.5 * (m * v[n] * v[n] + (double)b->w[n] * (double)spin[n]);
    s->center[n] += m * r[n];
    s->momentum[n] += m * v[n];
    s->momentum[3 + n] += (double)spin[n];
    s->inertia[n][n] += m * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int k = 0; k < 3; ++k) {
      s->inertia[n][k] += (double)inertia[n][k] - m * r[n] * r[k];
    }
  }
}

// Change of angular momentum (h dv) x (m v), as the split velocity dv has displaced a body that
// moves with v.
static void add_lost_momentum(const direct_context *c, const direct_node *node, momentum_sums *s)
{
  const body_state *b = &c->data->state[node->index];
  const double *split_motion = c->set->vectors + c->set->row_count + node->first_row;
  double v[3] = {(double)b->v[0], (double)b->v[1], (double)b->v[2]};
  add_cross(s->lost, (double)c->data->substep.h / (double)b->inverse_mass, split_motion, v);
}

// Adds the stiffness of active rows to the rigid inertia: J^T A^-1 J, with `row` their Jacobian J
// on the motion of all bodies as one and A the compliances.
static void add_row_stiffness(const joint_row *l, const double *row, double (*to)[BODY_ROWS])
{
  for (int i = 0; i < BODY_ROWS && l->active; ++i) {
    for (int n = 0; n < BODY_ROWS; ++n) {
      to[i][n] += row[i] * row[n] / row_compliance(l);
    }
  }
}

// The mechanism moves as one only as its anchors allow: joints to bodies that are no nodes.
static void add_anchor_stiffness(const direct_context *c, const direct_joint *j,
                                 const direct_node *origin, double (*to)[BODY_ROWS])
{
  int side = j->body_node[0] < 0;
  double r[3];
  relative_center(c, &c->set->nodes[j->body_node[side]], origin, r);
  for (int k = 0; k < j->joint_row_count; ++k) {
    const joint_row *l = &c->set->joint_rows[j->first_joint_row + k];
    double row[BODY_ROWS];
    memcpy(row, l->j[side], sizeof row);
    add_cross(row + 3, 1.0, r, row);
    add_row_stiffness(l, row, to);
  }
}

// A coupling resists the motion of all bodies as one if it has axes of joints to the world, or
// points of the world; the Jacobian of any other adds up to zero.
static void add_coupling_stiffness(const direct_context *c, const direct_coupling *d,
                                   const direct_node *origin, double (*to)[BODY_ROWS])
{
  double row[BODY_ROWS] = {0.0};
  for (int32_t i = d->first_side; i < d->first_side + d->side_count; ++i) {
    const double *j = c->set->coupling_jacobians[i];
    int32_t node = c->set->coupling_sides[i].node;
    double r[3];
    if (node >= 0) {
      relative_center(c, &c->set->nodes[node], origin, r);
      for (int k = 0; k < BODY_ROWS; ++k) {
        row[k] += j[k];
      }
      add_cross(row + 3, 1.0, r, j);
    }
  }
  for (int k = 0; k < d->joint_row_count; ++k) {
    add_row_stiffness(&c->set->joint_rows[d->first_joint_row + k], row, to);
  }
}

// All bodies, or those at infeasible joints.
static bool is_selected(const direct_node *node, bool infeasible)
{
  return infeasible ? node->infeasible : !node->is_joint;
}

static const direct_node *first_body(const direct_context *c, const mechanism *m, bool infeasible)
{
  int32_t i = m->first_node;
  while (i + 1 < m->last_node && !is_selected(&c->set->nodes[i], infeasible)) {
    ++i;
  }
  return &c->set->nodes[i];
}

// Rigid motions about the first body: [0] with the momenta of the selected bodies, as far as
// anchors allow, [1] with the angular momentum `lost`.
static void solve_rigid_motion(const direct_context *c, const mechanism *m, bool infeasible,
                               const direct_node *origin, const momentum_sums *s, f64x2 *motion)
{
  double inertia[BODY_ROWS][BODY_ROWS] = {{0.0}};
  for (int k = 0; k < 3; ++k) {
    int next = (k + 1) % 3, last = (k + 2) % 3;
    inertia[k][k] = s->mass;
    inertia[k][3 + next] = s->center[last];
    inertia[k][3 + last] = -s->center[next];
    memcpy(inertia[3 + k] + 3, s->inertia[k], sizeof s->inertia[k]);
    motion[k] = (f64x2){s->momentum[k], 0.0};
    motion[3 + k] = (f64x2){s->momentum[3 + k], s->lost[k]};
  }
  for (int32_t i = m->first_joint; i < m->last_joint && !infeasible; ++i) {
    const direct_joint *j = &c->set->joints[i];
    if (j->body_node[0] < 0 || j->body_node[1] < 0) {
      add_anchor_stiffness(c, j, origin, inertia);
    }
  }
  for (int32_t i = m->first_coupling; i < m->last_coupling && !infeasible; ++i) {
    add_coupling_stiffness(c, &c->set->couplings[i], origin, inertia);
  }
  direct_node whole = {.rows = BODY_ROWS, .below = BODY_ROWS};
  direct_system system = {.nodes = &whole, .values = inertia[0], .x = motion, .last = 1};
  c->direct->solve(&system, true);
}

static void add_bodies(const direct_context *c, const mechanism *m, bool infeasible,
                       const direct_node *origin, momentum_sums *s)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (is_selected(&c->set->nodes[i], infeasible)) {
      add_body(c, &c->set->nodes[i], origin, s);
    }
  }
}

// Sums and rigid motions of the selected bodies; `lost` is found for free mechanisms only. Returns
// the first body.
static const direct_node *find_rigid_motion(const direct_context *c, const mechanism *m,
                                            bool infeasible, momentum_sums *s, f64x2 *motion)
{
  const direct_node *origin = first_body(c, m, infeasible);
  add_bodies(c, m, infeasible, origin, s);
  for (int32_t i = m->first_node; i < m->last_node && !infeasible && !m->anchored; ++i) {
    if (!c->set->nodes[i].is_joint) {
      add_lost_momentum(c, &c->set->nodes[i], s);
    }
  }
  solve_rigid_motion(c, m, infeasible, origin, s, motion);
  return origin;
}

// Velocity of a body under the rigid motions.
static void rigid_velocity_at(const direct_context *c, const direct_node *node,
                              const direct_node *origin, const f64x2 *motion, f64x2 *v)
{
  double r[3];
  relative_center(c, node, origin, r);
  memcpy(v, motion, BODY_ROWS * sizeof *v);
  for (int k = 0; k < 3; ++k) {
    int next = (k + 1) % 3, last = (k + 2) % 3;
    v[k] += motion[3 + next] * r[last] - motion[3 + last] * r[next];
  }
}

// Share that the motion relative to the rigid motion keeps, so that restoring the angular momentum
// L = `lost` by du = I^-1 L brings no energy. With P the momenta and u = I^-1 P:
//     brought = du (L / 2 - P)         change of the rigid motion's energy
//     within  = T - P u / 2            energy of the motion within
//     share   = sqrt(1 - brought / within), or 0 if that is not enough
static double internal_motion_share(const momentum_sums *s, const f64x2 *motion)
{
  double brought = 0.0, as_one = 0.0;
  if (!RULE(mechanism_split_work)) {
    return 1.0;
  }
  for (int k = 0; k < BODY_ROWS; ++k) {
    double lost = k < 3 ? 0.0 : s->lost[k - 3];
    brought += motion[k][1] * (0.5 * lost - s->momentum[k]);
    as_one += 0.5 * (motion[k][0] - motion[k][1]) * (s->momentum[k] - lost);
  }
  double within = s->kinetic + brought - as_one;
  return brought <= 0.0 ? 1.0 : brought < within ? sqrt(1.0 - brought / within) : 0.0;
}

// v = u - du + keep (v - u) of each selected body.
static void set_rigid_motion(const direct_context *c, const mechanism *m, bool infeasible,
                             const direct_node *origin, const f64x2 *motion, double keep)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (is_selected(node, infeasible)) {
      f64x2 v[BODY_ROWS];
      rigid_velocity_at(c, node, origin, motion, v);
      body_state *b = &c->data->state[node->index];
      for (int k = 0; k < BODY_ROWS; ++k) {
        float *of = k < 3 ? &b->v[k] : &b->w[k - 3];
        *of = (float)(v[k][0] - v[k][1] + keep * ((double)*of - v[k][0]));
      }
    }
  }
}

// Bodies that are displaced while they move change the angular momentum; a free mechanism must keep
// it. Pulling rotating bodies together takes work, as of a skater's arms: it is taken from the
// motion within. What that cannot supply is a gain of energy, because momentum has priority.
static void restore_angular_momentum(const direct_context *c, const mechanism *m)
{
  momentum_sums s = {0};
  f64x2 motion[BODY_ROWS];
  const direct_node *origin = find_rigid_motion(c, m, false, &s, motion);
  set_rigid_motion(c, m, false, origin, motion, internal_motion_share(&s, motion));
}

// Angular momentum that added inertia has absorbed. Returns whether there is any.
static bool add_absorbed_momentum(const direct_context *c, const direct_node *node,
                                  double kept_share, momentum_sums *s)
{
  const f64x2 *x = c->set->solutions + node->first_row + 3;
  for (int k = 0; k < 3; ++k) {
    s->lost[k] += node->added_inertia * (x[k][0] + kept_share * x[k][1]);
  }
  return node->added_inertia > 0.0;
}

void mechanism_restore_angular_momentum(const direct_context *c, const mechanism *m,
                                        double kept_share)
{
  if (!RULE(mechanism_inertia_momentum) || m->anchored || m->may_touch) {
    return;
  }
  momentum_sums s = {0};
  bool taken = false;
  const direct_node *origin = first_body(c, m, false);
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      taken = add_absorbed_momentum(c, node, kept_share, &s) || taken;
    }
  }
  if (!taken) {
    return;
  }
  add_bodies(c, m, false, origin, &s);
  f64x2 motion[BODY_ROWS], v[BODY_ROWS];
  solve_rigid_motion(c, m, false, origin, &s, motion);
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      rigid_velocity_at(c, node, origin, motion, v);
      for (int k = 0; k < BODY_ROWS; ++k) {
        c->set->solutions[node->first_row + k][0] += v[k][1];
      }
    }
  }
}

// Impulses between bodies cannot move the mechanism as one, but added inertia is no impulse: it
// would turn the mechanism about its anchor and lift it without work. Uses the bodies' velocities
// as scratch; the caller writes them afterwards.
void mechanism_remove_rigid_motion(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    const f64x2 *x = c->set->solutions + node->first_row;
    for (int k = 0; k < 3 && !node->is_joint; ++k) {
      c->data->state[node->index].v[k] = (float)x[k][1];
      c->data->state[node->index].w[k] = (float)x[3 + k][1];
    }
  }
  momentum_sums s = {0};
  f64x2 motion[BODY_ROWS], v[BODY_ROWS];
  const direct_node *origin = find_rigid_motion(c, m, false, &s, motion);
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      rigid_velocity_at(c, node, origin, motion, v);
      for (int k = 0; k < BODY_ROWS; ++k) {
        c->set->solutions[node->first_row + k][1] -= v[k][0];
      }
    }
  }
}

// Infeasible joints hold bodies where the errors are shared out; the motion that is left would
// repeat for ever. Without anchors the bodies keep their common rigid motion.
void mechanism_stop_infeasible(const direct_context *c, const mechanism *m)
{
  if (!m->infeasible) {
    return;
  }
  momentum_sums s = {0};
  f64x2 motion[BODY_ROWS];
  const direct_node *origin = find_rigid_motion(c, m, true, &s, motion);
  for (int k = 0; k < BODY_ROWS; ++k) {
    motion[k] = (f64x2){m->infeasible_free ? motion[k][0] : 0.0, 0.0};
  }
  set_rigid_motion(c, m, true, origin, motion, 0.0);
}

void mechanism_finish_split_impulse(const direct_context *c, const mechanism *m)
{
  if (!m->split_impulse) {
    return;
  }
  mechanism_add_split_velocity(c, m, -1.0f);
  if (RULE(mechanism_split_momentum) && !m->anchored && !m->supported) {
    restore_angular_momentum(c, m);
  }
  mechanism_stop_infeasible(c, m);
}
