// Loops of an articulation. A joint that closes a loop holds rows C = 0 between two links; their
// rates are J q'. Positions: Newton's method, with the least change of the coordinates,
//
//   dq = -W J^T (J W J^T + e)^-1 C,    W = 1 / M_kk, or 0 for coordinates that are kept,
//
// and velocities by the same projection once. Loops usually hold more rows than they need, and e
// makes these solvable. Rows are those of kernel/joint.h, in double.
#include "tools/articulation.h"

#include "base/dtrig.h"
#include "data/ids.h"
#include "data/world.h"
#include "solver/mechanism/mechanism_tuning.h"

#include <math.h>
#include <string.h>

typedef struct loop_row {
  wrench along; // rate of C: its power in the screw of B relative to A
  double error; // C
  bool turns;   // an angle
} loop_row;

static tn_pos turned_axis(dquat q, int axis)
{
  return dquat_rotate(q,
                      tn_p3(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0));
}

static loop_row linear_row(tn_pos n, tn_pos at, double error)
{
  return (loop_row){{pos_cross(at, n), n}, error, false};
}

static loop_row angular_row(tn_pos n, double error)
{
  return (loop_row){{n, tn_p3(0.0, 0.0, 0.0)}, error, true};
}

static bool is_locked_range(tn_range r)
{
  return r.lo == r.hi;
}

static int find_linear_rows(const joint *j, placement a, placement b, loop_row *rows)
{
  tn_pos offset = pos_sub(b.p, a.p);
  int count = 0;
  if (j->def.kind == TN_JOINT_DISTANCE) {
    double length = sqrt(pos_dot(offset, offset));
    double lo = (double)j->def.linear[0].lo, hi = (double)j->def.linear[0].hi;
    double error = length < lo ? length - lo : length > hi ? length - hi : 0.0;
    if (length > 0.0 && (error != 0.0 || lo == hi)) {
      rows[count++] = linear_row(pos_scale(1.0 / length, offset), b.p, error);
    }
    return count;
  }
  bool slides = j->def.kind == TN_JOINT_PRISMATIC || j->def.kind == TN_JOINT_CYLINDER;
  for (int i = 0; i < 3; ++i) {
    tn_range r = j->def.linear[i];
    bool generic = j->def.kind == TN_JOINT_GENERIC;
    if ((slides && i == 0) || (generic && !is_locked_range(r))) {
      continue;
    }
    tn_pos n = turned_axis(a.q, i);
    rows[count++] = linear_row(n, b.p, pos_dot(n, offset) - (generic ? (double)r.lo : 0.0));
  }
  return count;
}

// Parts of the rotation vector t that are locked; gradients as of generic_rows() in kernel/joint.h.
static int find_vector_rows(const joint *j, placement a, dquat q, loop_row *rows)
{
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  tn_pos v = tn_p3(sign * q.x, sign * q.y, sign * q.z);
  double sine = sqrt(pos_dot(v, v)), cosine = sign * q.w;
  double angle = 2.0 * d_atan2(sine, cosine);
  tn_pos t = pos_scale(sine > 1e-8 ? angle / sine : 2.0, v);
  double k = angle > 1e-3 ? (1.0 - 0.5 * angle * cosine / sine) / (angle * angle) : 1.0 / 12.0;
  double parts[3] = {t.x, t.y, t.z};
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    if (is_locked_range(j->def.angular[i])) {
      tn_pos e = turned_axis((dquat){0.0, 0.0, 0.0, 1.0}, i), once = pos_cross(t, e);
      tn_pos n = pos_add(e, pos_add(pos_scale(0.5, once), pos_scale(k, pos_cross(t, once))));
      rows[count++] = angular_row(dquat_rotate(a.q, n), parts[i] - (double)j->def.angular[i].lo);
    }
  }
  return count;
}

static int find_angular_rows(const joint *j, placement a, placement b, loop_row *rows)
{
  dquat q = dquat_mul(dquat_conjugate(a.q), b.q);
  tn_pos a1 = turned_axis(a.q, 0), a2 = turned_axis(b.q, 0), b2 = turned_axis(b.q, 1);
  tn_pos across = pos_cross(a1, a2);
  double sign = q.w < 0.0 ? -2.0 : 2.0;
  double turn[3] = {sign * q.x, sign * q.y, sign * q.z};
  switch (j->def.kind) {
  case TN_JOINT_HINGE:
  case TN_JOINT_CYLINDER:
    rows[0] = angular_row(turned_axis(a.q, 1), pos_dot(across, turned_axis(a.q, 1)));
    rows[1] = angular_row(turned_axis(a.q, 2), pos_dot(across, turned_axis(a.q, 2)));
    return 2;
  case TN_JOINT_FIXED:
  case TN_JOINT_PRISMATIC:
    for (int i = 0; i < 3; ++i) {
      rows[i] = angular_row(turned_axis(a.q, i), turn[i]);
    }
    return 3;
  case TN_JOINT_UNIVERSAL:
    rows[0] = angular_row(pos_cross(b2, a1), pos_dot(a1, b2));
    return 1;
  case TN_JOINT_GENERIC:
    return find_vector_rows(j, a, q, rows);
  default:
    return 0;
  }
}

// ---------------------------------------------------------------------------------------------
// The system of all loops

static double *jacobian_row(const tn_articulation *a, int row)
{
  return a->loop_jacobian + (size_t)row * (size_t)a->velocity_count;
}

// Adds the columns between a link and its root to a row.
static void add_path(tn_articulation *a, int row, int link, wrench along, double sign)
{
  double *to = jacobian_row(a, row);
  for (; link >= 0; link = a->links[link].parent) {
    const art_link *l = &a->links[link];
    for (int k = l->first_velocity; k < l->first_velocity + l->velocity_count; ++k) {
      to[k] += sign * power(a->columns[k], along);
    }
  }
}

// Rows of one loop joint. `errors`: those of positions, or of velocities.
static int add_rows(tn_articulation *a, const joint *j, int first, bool rates, double *errors,
                    double worst[2])
{
  placement frames[2];
  int links[2];
  screw now[2];
  for (int side = 0; side < 2; ++side) {
    links[side] = art_link_of(a, j->slot[side]);
    bool outside = links[side] < 0;
    frames[side] =
        art_frame(j, side, outside ? art_pose_now(a, j->slot[side]) : a->links[links[side]].at);
    now[side] = outside ? art_motion_now(a, j->slot[side]) : a->links[links[side]].velocity;
  }
  loop_row rows[6];
  int count = find_linear_rows(j, frames[0], frames[1], rows);
  count += find_angular_rows(j, frames[0], frames[1], rows + count);
  screw relative = screw_add(now[1], screw_scale(-1.0, now[0]));
  for (int i = 0; i < count; ++i) {
    memset(jacobian_row(a, first + i), 0, (size_t)a->velocity_count * sizeof(double));
    add_path(a, first + i, links[1], rows[i].along, 1.0);
    add_path(a, first + i, links[0], rows[i].along, -1.0);
    errors[first + i] = rates ? power(relative, rows[i].along) : rows[i].error;
    worst[rows[i].turns] = fmax(worst[rows[i].turns], fabs(errors[first + i]));
  }
  return first + count;
}

static int find_rows(tn_articulation *a, bool rates, double *errors, double worst[2])
{
  int count = 0;
  worst[0] = worst[1] = 0.0;
  for (int i = 0; i < a->loop_count; ++i) {
    const joint *j = &a->world->joints[a->loops[i].index - 1];
    if (j->def.enabled && !j->broken) {
      count = add_rows(a, j, count, rates, errors, worst);
    }
  }
  return count;
}

// Weights W of the coordinates.
static void find_weights(tn_articulation *a, const bool *keep, double *weights)
{
  int n = a->velocity_count;
  art_mass_matrix(a, a->matrix);
  for (int k = 0; k < n; ++k) {
    double m = a->matrix[k * n + k];
    weights[k] = (keep && keep[k]) || !(m > 0.0) ? 0.0 : 1.0 / m;
  }
}

// The change of the coordinates that removes the errors. False if none can.
static bool find_change(const tn_articulation *a, int rows, const double *weights, double *errors,
                        double *change)
{
  int n = a->velocity_count;
  double most = 0.0;
  for (int i = 0; i < rows; ++i) {
    const double *ji = jacobian_row(a, i);
    for (int k = 0; k <= i; ++k) {
      const double *jk = jacobian_row(a, k);
      double sum = 0.0;
      for (int l = 0; l < n; ++l) {
        sum += ji[l] * weights[l] * jk[l];
      }
      a->loop_matrix[i * rows + k] = a->loop_matrix[k * rows + i] = sum;
    }
    most = fmax(most, a->loop_matrix[i * rows + i]);
  }
  for (int i = 0; i < rows; ++i) {
    a->loop_matrix[i * rows + i] += TUNING_LOOP_REGULARIZATION * most;
  }
  if (!(most > 0.0) || !art_solve(a->loop_matrix, rows, errors)) {
    return false;
  }
  for (int l = 0; l < n; ++l) {
    double sum = 0.0;
    for (int i = 0; i < rows; ++i) {
      sum += jacobian_row(a, i)[l] * errors[i];
    }
    change[l] = -weights[l] * sum;
  }
  return true;
}

// Size of the mechanism, m: the largest distance of a body from the origin.
static double extent_of(const tn_articulation *a)
{
  double most = 0.0;
  for (int i = 0; i < a->link_count; ++i) {
    most = fmax(most, pos_dot(a->links[i].at.p, a->links[i].at.p));
  }
  return sqrt(most);
}

bool art_close_loops(tn_articulation *a, const bool *keep, double errors[2])
{
  double *weights = a->vectors, *change = a->vectors + a->velocity_count;
  double size = 0.0;
  errors[0] = errors[1] = 0.0;
  for (int i = 0; a->loop_count > 0 && i <= TUNING_LOOP_ITERATIONS; ++i) {
    art_place(a);
    art_move(a);
    int rows = find_rows(a, false, a->loop_rows, errors);
    size = fmax(extent_of(a), TUNING_IK_MIN_EXTENT);
    bool closed = errors[0] <= 1e-13 * size && errors[1] <= 1e-13;
    find_weights(a, keep, weights);
    if (closed || i == TUNING_LOOP_ITERATIONS ||
        !find_change(a, rows, weights, a->loop_rows, change)) {
      break;
    }
    double largest = 0.0;
    for (int k = 0; k < a->velocity_count; ++k) {
      largest = fmax(largest, fabs(change[k]));
    }
    double share = largest > TUNING_LOOP_STEP ? TUNING_LOOP_STEP / largest : 1.0;
    if (!art_advance(a, a->positions, change, share)) {
      return false;
    }
  }
  return errors[0] <= TUNING_LOOP_TOLERANCE * size && errors[1] <= TUNING_LOOP_TOLERANCE;
}

void art_project_velocities(tn_articulation *a, const bool *keep)
{
  double *weights = a->vectors, *change = a->vectors + a->velocity_count;
  double worst[2];
  // Twice: once more removes what the regularization has left.
  for (int i = 0; a->loop_count > 0 && i < 2; ++i) {
    art_move(a);
    int rows = find_rows(a, true, a->loop_rows, worst);
    find_weights(a, keep, weights);
    if (!find_change(a, rows, weights, a->loop_rows, change)) {
      return;
    }
    for (int k = 0; k < a->velocity_count; ++k) {
      a->velocities[k] += change[k];
    }
  }
}
