// Errors of position that were too large to remove by motion have moved the bodies of a mechanism;
// their velocities are to be as if that had not happened.
#include "world.h"

#include <string.h>

typedef struct sums {
  double mass;
  double center[3];     // of mass, relative to the first body
  double turned[3];     // angular momentum that moving the bodies has changed
  double inertia[3][3]; // about the centre of mass
} sums;

static void add_cross(double *to, double scale, const double *a, const double *b)
{
  to[0] += scale * (a[1] * b[2] - a[2] * b[1]);
  to[1] += scale * (a[2] * b[0] - a[0] * b[2]);
  to[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

static void take_back(const direct_context *c, const direct_node *node)
{
  body_state *b = &c->data->state[node->index];
  const double *given = c->set->vectors + c->set->row_count + node->first_row;
  S ii;
  memcpy(&ii, c->data->inertia[node->index].inverse, sizeof ii);
  V turn = s_mul(ii, v_make((float)given[3], (float)given[4], (float)given[5]));
  for (int k = 0; k < 3; ++k) {
    b->v[k] -= (float)given[k];
  }
  b->w[0] -= turn.x;
  b->w[1] -= turn.y;
  b->w[2] -= turn.z;
}

// Where a body is, as seen from the first one.
static void place_of(const direct_context *c, const direct_node *node, const direct_node *origin,
                     double *r)
{
  const body *b = &c->world->bodies[node->index], *o = &c->world->bodies[origin->index];
  const float *dx = c->data->state[node->index].dx, *d0 = c->data->state[origin->index].dx;
  r[0] = b->center.x - o->center.x + (double)(dx[0] - d0[0]);
  r[1] = b->center.y - o->center.y + (double)(dx[1] - d0[1]);
  r[2] = b->center.z - o->center.z + (double)(dx[2] - d0[2]);
}

static void add_body(const direct_context *c, const direct_node *node, const direct_node *origin,
                     sums *s)
{
  const body_state *b = &c->data->state[node->index];
  const double *given = c->set->vectors + c->set->row_count + node->first_row;
  double m = 1.0 / (double)b->inverse_mass;
  double v[3] = {(double)b->v[0], (double)b->v[1], (double)b->v[2]};
  double r[3];
  place_of(c, node, origin, r);
  s->mass += m;
  add_cross(s->turned, m * (double)c->data->substep.h, given, v);
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  for (int i = 0; i < 3; ++i) {
    s->center[i] += m * r[i];
    s->inertia[i][i] += m * square;
    for (int k = 0; k < 3; ++k) {
      s->inertia[i][k] -= m * r[i] * r[k];
    }
  }
  const body *of = &c->world->bodies[node->index];
  dquat q = dquat_mul(dquat_from((tn_quat){b->dq[0], b->dq[1], b->dq[2], b->dq[3]}), of->rotation);
  tn_pos axes[3] = {dquat_rotate(q, (tn_pos){1.0, 0.0, 0.0}),
                    dquat_rotate(q, (tn_pos){0.0, 1.0, 0.0}),
                    dquat_rotate(q, (tn_pos){0.0, 0.0, 1.0})};
  for (int n = 0; n < 3; ++n) {
    double a[3] = {axes[n].x, axes[n].y, axes[n].z};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        s->inertia[i][k] += of->moments[n] * a[i] * a[k];
      }
    }
  }
}

// From the first body to the centre of mass.
static void center_inertia(sums *s)
{
  double square = 0.0;
  for (int i = 0; i < 3; ++i) {
    s->center[i] /= s->mass;
    square += s->center[i] * s->center[i];
  }
  for (int i = 0; i < 3; ++i) {
    s->inertia[i][i] -= s->mass * square;
    for (int k = 0; k < 3; ++k) {
      s->inertia[i][k] += s->mass * s->center[i] * s->center[k];
    }
  }
}

static double determinant(const double *a, const double *b, const double *c)
{
  double bc[3] = {0.0, 0.0, 0.0};
  add_cross(bc, 1.0, b, c);
  return a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2];
}

// The spin of all as one that takes the change of angular momentum back.
static bool find_spin(const sums *s, double *spin)
{
  const double(*m)[3] = s->inertia; // symmetric: rows are columns
  double d = determinant(m[0], m[1], m[2]);
  if (!(d > 0.0)) {
    return false;
  }
  spin[0] = -determinant(s->turned, m[1], m[2]) / d;
  spin[1] = -determinant(m[0], s->turned, m[2]) / d;
  spin[2] = -determinant(m[0], m[1], s->turned) / d;
  return true;
}

static void turn_all(const direct_context *c, const mechanism *m, const direct_node *origin,
                     const sums *s)
{
  double spin[3];
  if (!find_spin(s, spin)) {
    return;
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    double r[3], dv[3] = {0.0, 0.0, 0.0};
    place_of(c, node, origin, r);
    for (int k = 0; k < 3; ++k) {
      r[k] -= s->center[k];
    }
    add_cross(dv, 1.0, spin, r);
    body_state *b = &c->data->state[node->index];
    for (int k = 0; k < 3; ++k) {
      b->v[k] += (float)dv[k];
      b->w[k] += (float)spin[k];
    }
  }
}

// Bodies in motion that are moved aside take their momentum with them, which changes the angular
// momentum of all; a mechanism that nothing holds must keep it.
void mechanism_settle(const direct_context *c, const mechanism *m)
{
  if (!m->apart) {
    return;
  }
  const direct_node *origin = NULL;
  sums s = {0};
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    take_back(c, node);
    origin = origin ? origin : node;
    add_body(c, node, origin, &s);
  }
  if (!m->anchored && !m->leaning) {
    center_inertia(&s);
    turn_all(c, m, origin, &s);
  }
}
