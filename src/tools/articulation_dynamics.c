// Dynamics of an articulation (Featherstone, Rigid Body Dynamics Algorithms, 2008): the mass matrix
// by composite bodies (ch. 6), forces by the recursive Newton-Euler equations (ch. 5), all about
// one point in world axes.
#include "tools/articulation.h"

#include "data/ids.h"
#include "data/world.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Inertias: mass, first moment h = m c, inertia about the origin xx yy zz xy xz yz

static void body_inertia_at(const body *b, placement at, double out[10])
{
  double m = (double)b->mass.mass;
  tn_pos axes[3] = {dquat_rotate(at.q, tn_p3(1.0, 0.0, 0.0)),
                    dquat_rotate(at.q, tn_p3(0.0, 1.0, 0.0)),
                    dquat_rotate(at.q, tn_p3(0.0, 0.0, 1.0))};
  tn_pos c = at.p;
  double square = pos_dot(c, c);
  double all[10] = {m,
                    m * c.x,
                    m * c.y,
                    m * c.z,
                    m * (square - c.x * c.x),
                    m * (square - c.y * c.y),
                    m * (square - c.z * c.z),
                    -m * c.x * c.y,
                    -m * c.x * c.z,
                    -m * c.y * c.z};
  for (int i = 0; i < 3; ++i) {
    double moment = b->moments[i];
    tn_pos n = axes[i];
    all[4] += moment * n.x * n.x;
    all[5] += moment * n.y * n.y;
    all[6] += moment * n.z * n.z;
    all[7] += moment * n.x * n.y;
    all[8] += moment * n.x * n.z;
    all[9] += moment * n.y * n.z;
  }
  memcpy(out, all, sizeof all);
}

// Momentum of a screw.
static wrench inertia_times(const double *i, screw s)
{
  tn_pos h = tn_p3(i[1], i[2], i[3]);
  tn_pos turn =
      tn_p3(i[4] * s.w.x + i[7] * s.w.y + i[8] * s.w.z, i[7] * s.w.x + i[5] * s.w.y + i[9] * s.w.z,
            i[8] * s.w.x + i[9] * s.w.y + i[6] * s.w.z);
  return (wrench){pos_add(turn, pos_cross(h, s.v)),
                  pos_add(pos_scale(i[0], s.v), pos_cross(s.w, h))};
}

static void load_inertias(tn_articulation *a)
{
  for (int i = 0; i < a->link_count; ++i) {
    art_link *link = &a->links[i];
    body_inertia_at(&a->world->bodies[link->body.index], link->at, link->inertia);
  }
}

// ---------------------------------------------------------------------------------------------
// Mass matrix

// Inertia of the motor of an axis; ball joints have none.
static double armature_of(const tn_articulation *a, const art_link *link, int k)
{
  const joint *j = art_joint(a, link);
  bool ball = j && link->freedom.turn == TURN_BALL && k >= link->freedom.slide_count;
  return j && !ball ? (double)j->def.axis[art_axis_of(link, k)].armature : 0.0;
}

// M_kl = S_k . I S_l, with the composite inertia I of the outer of the two links.
void art_mass_matrix(tn_articulation *a, double *matrix)
{
  int n = a->velocity_count;
  memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
  load_inertias(a);
  for (int i = a->link_count - 1; i >= 0; --i) {
    const art_link *link = &a->links[i];
    for (int k = link->first_velocity; k < link->first_velocity + link->velocity_count; ++k) {
      wrench momentum = inertia_times(link->inertia, a->columns[k]);
      for (int at = i; at >= 0; at = a->links[at].parent) {
        const art_link *inner = &a->links[at];
        int last = inner->first_velocity + inner->velocity_count;
        for (int l = inner->first_velocity; l < last; ++l) {
          matrix[k * n + l] = matrix[l * n + k] = power(a->columns[l], momentum);
        }
      }
      matrix[k * n + k] += armature_of(a, link, k - link->first_velocity);
    }
    if (link->parent >= 0) {
      for (int k = 0; k < 10; ++k) {
        a->links[link->parent].inertia[k] += link->inertia[k];
      }
    }
  }
}

bool tn_articulation_mass_matrix(tn_articulation *a, double *matrix)
{
  if (!matrix || !art_load(a, "tn_articulation_mass_matrix")) {
    return false;
  }
  art_mass_matrix(a, matrix);
  return true;
}

// Cholesky: L in the lower triangle.
bool art_solve(double *matrix, int n, double *rhs)
{
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k <= i; ++k) {
      double sum = matrix[i * n + k];
      for (int l = 0; l < k; ++l) {
        sum -= matrix[i * n + l] * matrix[k * n + l];
      }
      if (i > k) {
        matrix[i * n + k] = sum / matrix[k * n + k];
      } else if (!(sum > 1e-14 * matrix[i * n + i])) {
        return false;
      } else {
        matrix[i * n + i] = sqrt(sum);
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      rhs[i] -= matrix[i * n + k] * rhs[k];
    }
    rhs[i] /= matrix[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      rhs[i] -= matrix[k * n + i] * rhs[k];
    }
    rhs[i] /= matrix[i * n + i];
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Forces

// Force of a body's acceleration, less its weight: I a + v x* I v - m g.
static wrench body_force(const tn_articulation *a, const art_link *link)
{
  const body *b = &a->world->bodies[link->body.index];
  wrench momentum = inertia_times(link->inertia, link->velocity);
  wrench force = inertia_times(link->inertia, link->sum);
  screw v = link->velocity;
  wrench turn = {pos_add(pos_cross(v.w, momentum.n), pos_cross(v.v, momentum.f)),
                 pos_cross(v.w, momentum.f)};
  tn_pos weight =
      pos_scale(-(double)b->mass.mass * (double)b->gravity_scale, pos_from_vec3(a->world->gravity));
  wrench lift = {pos_cross(link->at.p, weight), weight};
  return wrench_add(wrench_add(force, turn), lift);
}

// The generalised forces at accelerations; null: zero.
static void find_forces(tn_articulation *a, const double *accelerations, double *forces)
{
  load_inertias(a);
  for (int i = 0; i < a->link_count; ++i) {
    art_link *link = &a->links[i];
    screw sum = link->drift;
    if (link->parent >= 0) {
      sum = screw_add(sum, a->links[link->parent].sum);
    }
    int last = link->first_velocity + link->velocity_count;
    for (int k = link->first_velocity; accelerations && k < last; ++k) {
      sum = screw_add(sum, screw_scale(accelerations[k], a->columns[k]));
    }
    link->sum = sum;
    link->force = body_force(a, link);
  }
  for (int i = a->link_count - 1; i >= 0; --i) {
    const art_link *link = &a->links[i];
    for (int k = link->first_velocity; k < link->first_velocity + link->velocity_count; ++k) {
      double armature = accelerations ? armature_of(a, link, k - link->first_velocity) : 0.0;
      double rate =
          accelerations ? accelerations[k] : 0.0; // before `forces`, which may be the same
      forces[k] = power(a->columns[k], link->force) + armature * rate;
    }
    if (link->parent >= 0) {
      art_link *parent = &a->links[link->parent];
      parent->force = wrench_add(parent->force, link->force);
    }
  }
}

bool tn_articulation_bias_forces(tn_articulation *a, double *forces)
{
  if (!forces || !art_load(a, "tn_articulation_bias_forces")) {
    return false;
  }
  find_forces(a, NULL, forces);
  return true;
}

bool tn_articulation_inverse_dynamics(tn_articulation *a, const double *accelerations,
                                      double *forces)
{
  if (!accelerations || !forces || !art_load(a, "tn_articulation_inverse_dynamics")) {
    return false;
  }
  find_forces(a, accelerations, forces);
  return true;
}

bool tn_articulation_forward_dynamics(tn_articulation *a, const double *forces,
                                      double *accelerations)
{
  if (!accelerations || !forces || !art_load(a, "tn_articulation_forward_dynamics")) {
    return false;
  }
  int n = a->velocity_count;
  double *rhs = a->vectors;
  find_forces(a, NULL, rhs);
  for (int i = 0; i < n; ++i) {
    rhs[i] = forces[i] - rhs[i];
  }
  art_mass_matrix(a, a->matrix);
  if (!art_solve(a->matrix, n, rhs)) {
    report(&a->world->log, TN_LOG_ERROR,
           "tn_articulation_forward_dynamics: the mass matrix is singular at this position");
    return false;
  }
  memcpy(accelerations, rhs, (size_t)n * sizeof *rhs);
  return true;
}

bool tn_articulation_jacobian(tn_articulation *a, tn_body_id id, tn_pos point, double *linear,
                              double *angular)
{
  static const char *const caller = "tn_articulation_jacobian";
  if (!art_load(a, caller)) {
    return false;
  }
  const body *b = body_find(a->world, id, caller);
  int at = b ? art_link_of(a, body_slot(a->world, b)) : -1;
  if (b && at < 0) {
    report(&a->world->log, TN_LOG_ERROR, "%s: the body is not part of the articulation", caller);
  }
  if (at < 0) {
    return false;
  }
  placement body_at = a->links[at].at;
  dquat to_principal = dquat_conjugate(b->local_principal);
  tn_pos local = dquat_rotate(to_principal, pos_sub(point, b->local_center));
  tn_pos p = pos_add(body_at.p, dquat_rotate(body_at.q, local));
  size_t n = (size_t)a->velocity_count;
  for (size_t k = 0; k < 3 * n; ++k) {
    if (linear) {
      linear[k] = 0.0;
    }
    if (angular) {
      angular[k] = 0.0;
    }
  }
  for (; at >= 0; at = a->links[at].parent) {
    const art_link *link = &a->links[at];
    for (int i = 0; i < link->velocity_count; ++i) {
      size_t k = (size_t)(link->first_velocity + i);
      screw s = a->columns[k];
      tn_pos v = pos_add(s.v, pos_cross(s.w, p));
      if (linear) {
        linear[k] = v.x;
        linear[n + k] = v.y;
        linear[2 * n + k] = v.z;
      }
      if (angular) {
        angular[k] = s.w.x;
        angular[n + k] = s.w.y;
        angular[2 * n + k] = s.w.z;
      }
    }
  }
  return true;
}
