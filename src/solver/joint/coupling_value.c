// Coordinates of couplings: joint axes and paths, in double precision.
//
// With d = p_b - p_a, A's joint frame (a1, b1, c1) and q = (v, w) the rotation of B's frame
// relative to A's, axes are measured as kernel/joint.h does it:
//
//   offset      x = n . d with n = a1, b1 or c1;  distance: |d|
//   twist       2 atan2(v.x, w),                  n = (a1 + a2) / (1 + a1 . a2)
//   universal   atan2(b2.z, b2.y) about a1, and the angle from a1 to a2 about b2
//   generic     rotation vector t of q,           n_i = e_i + t x e_i / 2 + k t x (t x e_i)
//
//   J = [-n  -(r_a + d) x n  n  r_b x n] of offsets,   [0 -n 0 n] of angles.
//
// Paths: coupling_path.c.
#include "solver/joint/coupling_value.h"

#include "base/dangle.h"
#include "base/dvec.h"
#include "kernel/tuning.h"

#include <string.h>

bool joint_axis_is_free(const tn_joint_def *def, int axis)
{
  switch (def->kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_PRISMATIC:
    return axis == 0;
  case TN_JOINT_BALL:
  case TN_JOINT_HINGE:
    return axis == 3;
  case TN_JOINT_CYLINDER:
    return axis == 0 || axis == 3;
  case TN_JOINT_UNIVERSAL:
    return axis == 3 || axis == 4;
  case TN_JOINT_GENERIC: {
    tn_range r = {0.0f, 0.0f};
    if (axis >= 0 && axis < 6) {
      r = axis < 3 ? def->linear[axis] : def->angular[axis - 3];
    }
    return r.lo < r.hi;
  }
  default:
    return false;
  }
}

bool joint_axis_counts_turns(tn_joint_kind kind, int axis)
{
  return axis >= 3 && kind != TN_JOINT_GENERIC;
}

// ---------------------------------------------------------------------------------------------
// Axes

static tn_pos axis_x(dquat q)
{
  return dquat_rotate(q, tn_p3(1.0, 0.0, 0.0));
}

static tn_pos axis_y(dquat q)
{
  return dquat_rotate(q, tn_p3(0.0, 1.0, 0.0));
}

static double pos_length(tn_pos p)
{
  return sqrt(pos_dot(p, p));
}

static void set_row(double *to, tn_pos linear, tn_pos angular)
{
  to[0] = linear.x;
  to[1] = linear.y;
  to[2] = linear.z;
  to[3] = angular.x;
  to[4] = angular.y;
  to[5] = angular.z;
}

static void measure_offset(const joint *j, int axis, const body_pose *a, const body_pose *b,
                           axis_value *to)
{
  tn_pos ra = dquat_rotate(a->rotation, j->frame_point[0]);
  tn_pos rb = dquat_rotate(b->rotation, j->frame_point[1]);
  tn_pos d = pos_sub(pos_add(pos_sub(b->center, a->center), rb), ra);
  tn_pos n;
  if (j->def.kind == TN_JOINT_DISTANCE) {
    double length = pos_length(d);
    n = length > (double)TUNING_MIN_LENGTH ? pos_scale(1.0 / length, d) : tn_p3(1.0, 0.0, 0.0);
  } else {
    tn_pos e = tn_p3(axis == 0, axis == 1, axis == 2);
    n = dquat_rotate(dquat_mul(a->rotation, j->frame_rotation[0]), e);
  }
  to->q = pos_dot(n, d);
  set_row(to->j[1], n, pos_cross(rb, n));
  set_row(to->j[0], pos_scale(-1.0, n), pos_scale(-1.0, pos_cross(pos_add(ra, d), n)));
}

// The twist and its gradient in A's frame; the gradient is capped where the axes are opposite.
static double measure_twist(dquat q, tn_pos *n)
{
  tn_pos sum = pos_add(tn_p3(1.0, 0.0, 0.0), axis_x(q));
  double least = fmax(sum.x, (double)TUNING_MIN_SWING_SINE);
  *n = pos_scale(1.0 / least, sum);
  double length = pos_length(*n), most = (double)TUNING_TWIST_MAX_GRADIENT;
  *n = length > most ? pos_scale(most / length, *n) : *n;
  return 2.0 * d_atan2(q.x, q.w);
}

// Gradient of the angle about a unit axis: axis - axis_cosine / |across|^2 across.
static tn_pos turn_gradient(tn_pos axis, double axis_cosine, tn_pos across)
{
  double square = fmax(pos_dot(across, across), (double)TUNING_MIN_ANGLE_SINE2);
  return pos_sub(axis, pos_scale(axis_cosine / square, across));
}

static double measure_universal(dquat q, int second, tn_pos *n)
{
  tn_pos a1 = tn_p3(1.0, 0.0, 0.0), a2 = axis_x(q), b2 = axis_y(q);
  if (!second) {
    *n = turn_gradient(a1, b2.x, tn_p3(0.0, b2.y, b2.z));
    return d_atan2(b2.z, b2.y);
  }
  *n = turn_gradient(b2, b2.x, pos_sub(a1, pos_scale(b2.x, b2)));
  return d_atan2(pos_triple(b2, a1, a2), pos_dot(a1, a2));
}

static double measure_generic(dquat q, int i, tn_pos *n)
{
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  tn_pos v = tn_p3(sign * q.x, sign * q.y, sign * q.z);
  double sine = pos_length(v), w = sign * q.w, angle = 2.0 * d_atan2(sine, w);
  bool small = angle < 1e-3;
  double ratio = small ? 2.0 + sine * sine / 3.0 : angle / sine;
  double k =
      small ? 1.0 / 12.0 + angle * angle / 720.0 : (1.0 - 0.5 * angle * w / sine) / (angle * angle);
  tn_pos t = pos_scale(ratio, v), e = tn_p3(i == 0, i == 1, i == 2), te = pos_cross(t, e);
  *n = pos_add(e, pos_add(pos_scale(0.5, te), pos_scale(k, pos_cross(t, te))));
  return i == 0 ? t.x : i == 1 ? t.y : t.z;
}

static void measure_angle(const joint *j, int axis, const body_pose *a, const body_pose *b,
                          axis_value *to)
{
  dquat frame = dquat_mul(a->rotation, j->frame_rotation[0]);
  dquat other = dquat_mul(b->rotation, j->frame_rotation[1]);
  dquat q = dquat_mul(dquat_conjugate(frame), other);
  tn_pos n;
  if (j->def.kind == TN_JOINT_UNIVERSAL) {
    to->q = measure_universal(q, axis == 4, &n);
  } else if (j->def.kind == TN_JOINT_GENERIC) {
    to->q = measure_generic(q, axis - 3, &n);
  } else {
    to->q = measure_twist(q, &n);
  }
  n = dquat_rotate(frame, n);
  set_row(to->j[1], tn_p3(0.0, 0.0, 0.0), n);
  set_row(to->j[0], tn_p3(0.0, 0.0, 0.0), pos_scale(-1.0, n));
}

axis_value joint_axis_value(const joint *j, int axis, const body_pose *a, const body_pose *b)
{
  axis_value v;
  if (axis < 3) {
    measure_offset(j, axis, a, b, &v);
  } else {
    measure_angle(j, axis, a, b, &v);
  }
  return v;
}

// ---------------------------------------------------------------------------------------------
// Couplings

static body_pose pose_of(const coupling_inputs *in, int32_t slot)
{
  const body *b = &in->bodies[slot];
  body_pose at = {b->center, b->rotation};
  if (in->state) {
    const body_state *s = &in->state[slot];
    dquat turn = {(double)s->dq[0], (double)s->dq[1], (double)s->dq[2], (double)s->dq[3]};
    at.center = pos_add(at.center, tn_p3((double)s->dx[0], (double)s->dx[1], (double)s->dx[2]));
    at.rotation = dquat_normalize(dquat_mul(turn, at.rotation));
  }
  return at;
}

static double side_rate(const body_state *state, const double *j)
{
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    sum += j[i] * (double)state->v[i] + j[3 + i] * (double)state->w[i];
  }
  return sum;
}

static void add_row(double (*j)[6], int side, double scale, const double *row)
{
  for (int i = 0; i < 6 && side >= 0; ++i) {
    j[side][i] += scale * row[i];
  }
}

static double add_axis(const coupling *k, int i, const coupling_inputs *in, double elapsed,
                       double *coordinate, double (*j)[6])
{
  const tn_coupling_axis *axis = &k->def.axes[i];
  const joint *of = &in->joints[k->joint[i]];
  body_pose a = pose_of(in, of->slot[0]), b = pose_of(in, of->slot[1]);
  axis_value at = joint_axis_value(of, axis->axis, &a, &b);
  if (joint_axis_counts_turns(of->def.kind, axis->axis)) {
    double rate = 0.0;
    for (int side = 0; side < 2 && elapsed > 0.0; ++side) {
      rate += side_rate(&in->state[of->slot[side]], at.j[side]);
    }
    at.q = d_angle_near(at.q, *coordinate + elapsed * rate);
  }
  *coordinate = at.q;
  double q = at.q - (double)axis->reference;
  const float *f = axis->coefficients;
  double a1 = (double)f[0], a2 = (double)f[1], a3 = (double)f[2], a4 = (double)f[3];
  double slope = a1 + q * (2.0 * a2 + q * (3.0 * a3 + q * 4.0 * a4));
  add_row(j, k->axis_side[i][0], slope, at.j[0]);
  add_row(j, k->axis_side[i][1], slope, at.j[1]);
  return q * (a1 + q * (a2 + q * (a3 + q * a4)));
}

int coupling_path_parts(const coupling *k, const coupling_inputs *in, path_part *parts)
{
  for (int i = 0; i < k->def.point_count; ++i) {
    const tn_coupling_point *p = &k->def.points[i];
    path_part part = {p, p->position, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0}, k->point_side[i]};
    if (part.side >= 0) {
      int32_t slot = k->side_body[part.side];
      const body *b = &in->bodies[slot];
      body_pose pose = pose_of(in, slot);
      part.turn = dquat_mul(pose.rotation, dquat_conjugate(b->local_principal));
      part.lever = dquat_rotate(part.turn, pos_sub(p->position, b->local_center));
      part.at = pos_add(pose.center, part.lever);
    }
    parts[i] = part;
  }
  return k->def.point_count;
}

double coupling_value(const coupling *k, const coupling_inputs *in, double elapsed,
                      double *coordinate, double (*j)[6])
{
  memset(j, 0, (size_t)k->side_count * sizeof *j);
  double c = (double)k->def.offset;
  for (int i = 0; i < k->def.axis_count; ++i) {
    c += add_axis(k, i, in, elapsed, &coordinate[i], j);
  }
  path_part parts[TN_COUPLING_POINTS];
  return c + path_length(parts, coupling_path_parts(k, in, parts), j);
}

double coupling_rate(const coupling *k, const body_state *state, double (*j)[6])
{
  double sum = 0.0;
  for (int i = 0; i < k->side_count; ++i) {
    sum += side_rate(&state[k->side_body[i]], j[i]);
  }
  return sum;
}
