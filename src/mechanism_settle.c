// Errors of position that were too large to remove by motion have moved the bodies of a mechanism;
// their velocities are to be as if that had not happened.
#include "world.h"

#include <math.h>
#include <string.h>

typedef struct sums {
  double mass;
  double center[3];     // of mass, relative to the first body
  double linear[3];     // momentum
  double angular[3];    // momentum about the first body, then about the centre of mass
  double turned[3];     // angular momentum that moving the bodies has changed
  double kinetic;       // energy
  double inertia[3][3]; // about the same
} sums;

static double dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void add_cross(double *to, double scale, const double *a, const double *b)
{
  to[0] += scale * (a[1] * b[2] - a[2] * b[1]);
  to[1] += scale * (a[2] * b[0] - a[0] * b[2]);
  to[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

// Adds to a body's velocities, or takes from them, what moves it without being motion.
static void add_given(const direct_context *c, const direct_node *node, float sign)
{
  body_state *b = &c->data->state[node->index];
  const double *given = c->set->vectors + c->set->row_count + node->first_row;
  S ii;
  memcpy(&ii, c->data->inertia[node->index].inverse, sizeof ii);
  V turn = s_mul(ii, v_make((float)given[3], (float)given[4], (float)given[5]));
  for (int k = 0; k < 3; ++k) {
    b->v[k] += sign * (float)given[k];
  }
  b->w[0] += sign * turn.x;
  b->w[1] += sign * turn.y;
  b->w[2] += sign * turn.z;
}

void mechanism_set_aside(const direct_context *c, const mechanism *m, float sign)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (!c->set->nodes[i].is_joint) {
      add_given(c, &c->set->nodes[i], sign);
    }
  }
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
  const body *of = &c->world->bodies[node->index];
  double m = 1.0 / (double)b->inverse_mass;
  double v[3] = {(double)b->v[0], (double)b->v[1], (double)b->v[2]};
  double w[3] = {(double)b->w[0], (double)b->w[1], (double)b->w[2]};
  double r[3];
  place_of(c, node, origin, r);
  s->mass += m;
  s->kinetic += 0.5 * m * dot(v, v);
  add_cross(s->angular, m, r, v);
  double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  for (int i = 0; i < 3; ++i) {
    s->center[i] += m * r[i];
    s->linear[i] += m * v[i];
    s->inertia[i][i] += m * square;
    for (int k = 0; k < 3; ++k) {
      s->inertia[i][k] -= m * r[i] * r[k];
    }
  }
  dquat q = dquat_mul(dquat_from((tn_quat){b->dq[0], b->dq[1], b->dq[2], b->dq[3]}), of->rotation);
  tn_pos axes[3] = {dquat_rotate(q, (tn_pos){1.0, 0.0, 0.0}),
                    dquat_rotate(q, (tn_pos){0.0, 1.0, 0.0}),
                    dquat_rotate(q, (tn_pos){0.0, 0.0, 1.0})};
  for (int n = 0; n < 3; ++n) {
    double a[3] = {axes[n].x, axes[n].y, axes[n].z};
    double spin = dot(a, w);
    s->kinetic += 0.5 * of->moments[n] * spin * spin;
    for (int i = 0; i < 3; ++i) {
      s->angular[i] += of->moments[n] * spin * a[i];
      for (int k = 0; k < 3; ++k) {
        s->inertia[i][k] += of->moments[n] * a[i] * a[k];
      }
    }
  }
}

// What the body's momentum has lost of its turn about the origin since it was moved aside.
static void add_turned(const direct_context *c, const direct_node *node, sums *s)
{
  const body_state *b = &c->data->state[node->index];
  const double *given = c->set->vectors + c->set->row_count + node->first_row;
  double v[3] = {(double)b->v[0], (double)b->v[1], (double)b->v[2]};
  add_cross(s->turned, (double)c->data->substep.h / (double)b->inverse_mass, given, v);
}

// From the first body to the centre of mass.
static void center_sums(sums *s)
{
  double square = 0.0;
  for (int i = 0; i < 3; ++i) {
    s->center[i] /= s->mass;
    square += s->center[i] * s->center[i];
  }
  add_cross(s->angular, -1.0, s->center, s->linear);
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

// The spin of all as one that has an angular momentum.
static bool find_spin(const sums *s, const double *momentum, double *spin)
{
  const double(*m)[3] = s->inertia; // symmetric: rows are columns
  double d = determinant(m[0], m[1], m[2]);
  if (!(d > 0.0)) {
    return false;
  }
  spin[0] = determinant(momentum, m[1], m[2]) / d;
  spin[1] = determinant(m[0], momentum, m[2]) / d;
  spin[2] = determinant(m[0], m[1], momentum) / d;
  return true;
}

// v + spin x r, r from the centre of mass.
static void move_as_one(const direct_context *c, const direct_node *node, const direct_node *origin,
                        const sums *s, const double *spin, double *v)
{
  double r[3];
  place_of(c, node, origin, r);
  for (int k = 0; k < 3; ++k) {
    r[k] -= s->center[k];
  }
  add_cross(v, 1.0, spin, r);
}

// What the motion within a mechanism keeps of itself, if all turn by `-turn` more, as one, and then
// with `spin`, and that is to bring no energy.
static double keep_of_motion(const sums *s, const double *turn, const double *spin)
{
  double brought = 0.5 * dot(turn, s->turned) - dot(turn, s->angular);
  double as_one = 0.5 * dot(s->linear, s->linear) / s->mass;
  for (int i = 0; i < 3; ++i) {
    as_one += 0.5 * spin[i] * (s->angular[i] - s->turned[i]);
  }
  double within = s->kinetic + brought - as_one;
  return brought <= 0.0 ? 1.0 : brought < within ? sqrt(1.0 - brought / within) : 0.0;
}

// Bodies in motion that are moved aside take their momentum with them, which changes the angular
// momentum of all; a mechanism that nothing holds must keep it. Pulling together what turns takes
// work, as of a skater's arms. It comes from the motion within, and what that does not have from
// nowhere, as the momentum stays.
static void keep_angular_momentum(const direct_context *c, const mechanism *m)
{
  sums s = {0};
  const direct_node *origin = NULL;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      origin = origin ? origin : node;
      add_body(c, node, origin, &s);
      add_turned(c, node, &s);
    }
  }
  center_sums(&s);
  double turn[3], spin[3];
  if (!find_spin(&s, s.turned, turn) || !find_spin(&s, s.angular, spin)) {
    return;
  }
  for (int k = 0; k < 3; ++k) {
    spin[k] -= turn[k];
  }
  double keep = keep_of_motion(&s, turn, spin);
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (!node->is_joint) {
      double dv[3] = {0.0, 0.0, 0.0}, v[3] = {0.0, 0.0, 0.0};
      move_as_one(c, node, origin, &s, turn, dv);
      move_as_one(c, node, origin, &s, spin, v);
      body_state *b = &c->data->state[node->index];
      for (int k = 0; k < 3; ++k) {
        v[k] += s.linear[k] / s.mass;
        b->v[k] = (float)(v[k] + keep * ((double)b->v[k] - dv[k] - v[k]));
        b->w[k] = (float)(spin[k] + keep * ((double)b->w[k] - turn[k] - spin[k]));
      }
    }
  }
}

// Joints that contradict each other hold bodies where their errors are shared out; what motion
// there is left is not to be seen again and again.
void mechanism_calm(const direct_context *c, const mechanism *m)
{
  if (!m->torn) {
    return;
  }
  sums s = {0};
  const direct_node *origin = NULL;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->torn) {
      origin = origin ? origin : node;
      add_body(c, node, origin, &s);
    }
  }
  center_sums(&s);
  double spin[3] = {0.0, 0.0, 0.0};
  if (m->torn_off && !find_spin(&s, s.angular, spin)) {
    return;
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->torn) {
      double v[3] = {0.0, 0.0, 0.0};
      for (int k = 0; k < 3; ++k) {
        v[k] = m->torn_off ? s.linear[k] / s.mass : 0.0;
      }
      move_as_one(c, node, origin, &s, spin, v);
      body_state *b = &c->data->state[node->index];
      for (int k = 0; k < 3; ++k) {
        b->v[k] = (float)v[k];
        b->w[k] = (float)spin[k];
      }
    }
  }
}

void mechanism_settle(const direct_context *c, const mechanism *m)
{
  if (!m->apart) {
    return;
  }
  mechanism_set_aside(c, m, -1.0f);
  if (!m->anchored && !m->leaning) {
    keep_angular_momentum(c, m);
  }
  mechanism_calm(c, m);
}
