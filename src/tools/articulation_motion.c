// Kinematics of an articulation: positions from poses and back, columns S_k and their drift.
#include "tools/articulation.h"

#include "base/dtrig.h"
#include "data/ids.h"
#include "data/world.h"
#include "solver/joint/joint_layout.h"

static const dquat identity = {0.0, 0.0, 0.0, 1.0};

static tn_pos unit(int axis)
{
  return tn_p3(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
}

static double part(tn_pos v, int axis)
{
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// ---------------------------------------------------------------------------------------------
// Rotations

static dquat turn_about(int axis, double angle)
{
  double s, c;
  d_sine_cosine(0.5 * angle, &s, &c);
  return (dquat){axis == 0 ? s : 0.0, axis == 1 ? s : 0.0, axis == 2 ? s : 0.0, c};
}

// exp of a rotation vector.
static dquat turn_by(tn_pos t)
{
  double angle = sqrt(pos_dot(t, t)), s, c;
  d_sine_cosine(0.5 * angle, &s, &c);
  double k = angle > 1e-8 ? s / angle : 0.5;
  return (dquat){k * t.x, k * t.y, k * t.z, c};
}

// Rotation vector of a unit quaternion, up to half a turn.
static tn_pos vector_of(dquat q)
{
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  tn_pos v = tn_p3(sign * q.x, sign * q.y, sign * q.z);
  double sine = sqrt(pos_dot(v, v));
  double ratio = sine > 1e-8 ? 2.0 * d_atan2(sine, sign * q.w) / sine : 2.0;
  return pos_scale(ratio, v);
}

// Coefficients of the left Jacobian of exp, J(t) = 1 + a [t] + b [t]^2, at |t|^2 = s, and their
// derivatives by s: a = (1 - cos) / s, b = (|t| - sin) / (s |t|).
typedef struct exp_terms {
  double a, b, da, db;
} exp_terms;

static exp_terms exp_terms_at(double s)
{
  exp_terms e;
  if (s < 0.01) {
    e.a = 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s / 40320.0));
    e.b = 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0));
    e.da = -1.0 / 24.0 + s * (2.0 / 720.0 - s * (3.0 / 40320.0 - s * 4.0 / 3628800.0));
    e.db = -1.0 / 120.0 + s * (2.0 / 5040.0 - s * (3.0 / 362880.0 - s * 4.0 / 39916800.0));
    return e;
  }
  double angle = sqrt(s), sine, cosine;
  d_sine_cosine(angle, &sine, &cosine);
  e.a = (1.0 - cosine) / s;
  e.b = (angle - sine) / (s * angle);
  e.da = (0.5 * sine / angle - e.a) / s;
  e.db = (0.5 * e.a - 1.5 * e.b) / s;
  return e;
}

// J(t) x: angular velocity of exp(t) at t' = x, in the axes that t is given in.
static tn_pos exp_rate(exp_terms e, tn_pos t, tn_pos x)
{
  tn_pos once = pos_cross(t, x);
  return pos_add(x, pos_add(pos_scale(e.a, once), pos_scale(e.b, pos_cross(t, once))));
}

// Derivative of J(t) x by time at t' = u.
static tn_pos exp_rate_change(exp_terms e, tn_pos t, tn_pos u, tn_pos x)
{
  double ds = 2.0 * pos_dot(t, u);
  tn_pos once = pos_cross(t, x), rate = pos_cross(u, x);
  tn_pos first = pos_add(pos_scale(e.da * ds, once), pos_scale(e.a, rate));
  tn_pos twice = pos_add(pos_cross(u, once), pos_cross(t, rate));
  return pos_add(first, pos_add(pos_scale(e.db * ds, pos_cross(t, once)), pos_scale(e.b, twice)));
}

// ---------------------------------------------------------------------------------------------
// Positions

placement art_pose_now(const tn_articulation *a, int32_t slot)
{
  const body *b = &a->world->bodies[slot];
  return (placement){pos_sub(b->center, a->origin), b->rotation};
}

placement art_frame(const joint *j, int side, placement at)
{
  return (placement){pos_add(at.p, dquat_rotate(at.q, j->frame_point[side])),
                     dquat_mul(at.q, j->frame_rotation[side])};
}

// The angle that an axis is measured next to: where the last step left it if it counts turns, or
// else the middle of its range.
static double angle_before(const joint *j, int axis)
{
  if (joint_counts_turns(j->def.kind, TN_ANGULAR_A + axis)) {
    return j->angle[axis];
  }
  tn_range r = j->def.angular[axis];
  bool closed = isfinite(r.lo) && isfinite(r.hi);
  return closed ? 0.5 * ((double)r.lo + (double)r.hi) : 0.0;
}

static void measure_turn(const joint *j, const joint_freedom *f, dquat q, double *positions)
{
  if (f->turn == TURN_AXIS) {
    int axis = f->turns[0];
    double angle = 2.0 * d_atan2(part(tn_p3(q.x, q.y, q.z), axis), q.w);
    positions[0] = d_angle_near(angle, angle_before(j, axis));
  } else if (f->turn == TURN_UNIVERSAL) {
    tn_pos a1 = unit(0), a2 = dquat_rotate(q, unit(0)), b2 = dquat_rotate(q, unit(1));
    double about_b = d_atan2(pos_dot(pos_cross(a1, a2), b2), pos_dot(a1, a2));
    positions[0] = d_angle_near(d_atan2(b2.z, b2.y), angle_before(j, 0));
    positions[1] = d_angle_near(about_b, angle_before(j, 1));
  } else if (f->turn == TURN_BALL) {
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    positions[0] = sign * q.x;
    positions[1] = sign * q.y;
    positions[2] = sign * q.z;
    positions[3] = sign * q.w;
  } else if (f->turn == TURN_VECTOR) {
    tn_pos t = vector_of(q);
    for (int i = 0; i < f->turn_count; ++i) {
      positions[i] = part(t, f->turns[i]);
    }
  }
}

// Angle, offset and rotation of frame B in frame A as positions of a joint.
static void measure(const joint *j, const joint_freedom *f, placement a, placement b,
                    double *positions)
{
  dquat inverse = dquat_conjugate(a.q);
  tn_pos offset = dquat_rotate(inverse, pos_sub(b.p, a.p));
  for (int i = 0; i < f->slide_count; ++i) {
    positions[i] = part(offset, f->slides[i]);
  }
  measure_turn(j, f, dquat_mul(inverse, b.q), positions + f->slide_count);
}

// A free root: origin and axes of the body from its centre of mass and principal axes.
static void measure_free(const tn_articulation *a, const art_link *link, double *positions)
{
  const body *b = &a->world->bodies[link->body.index];
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_pos p = pos_sub(b->center, dquat_rotate(q, b->local_center));
  double sign = q.w < 0.0 ? -1.0 : 1.0;
  double all[7] = {p.x, p.y, p.z, sign * q.x, sign * q.y, sign * q.z, sign * q.w};
  for (int i = 0; i < 7; ++i) {
    positions[i] = all[i];
  }
}

void art_read_positions(const tn_articulation *a, double *positions)
{
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    double *to = positions + link->first_position;
    const joint *j = art_joint(a, link);
    if (!j) {
      measure_free(a, link, to);
      continue;
    }
    measure(j, &link->freedom, art_frame(j, 0, art_pose_now(a, j->slot[0])),
            art_frame(j, 1, art_pose_now(a, j->slot[1])), to);
  }
}

// Offset and rotation vector of a joint with all of its locked parts.
static void split_positions(const joint_freedom *f, const double *positions, double offset[3],
                            double vector[3])
{
  for (int i = 0; i < 3; ++i) {
    offset[i] = f->locked[i];
    vector[i] = f->locked[3 + i];
  }
  for (int i = 0; i < f->slide_count; ++i) {
    offset[f->slides[i]] = positions[i];
  }
  if (f->turn == TURN_VECTOR) {
    for (int i = 0; i < f->turn_count; ++i) {
      vector[f->turns[i]] = positions[f->slide_count + i];
    }
  }
}

// Frame B in frame A.
static placement relative_pose(const joint_freedom *f, const double *positions)
{
  double offset[3], vector[3];
  split_positions(f, positions, offset, vector);
  const double *turn = positions + f->slide_count;
  placement relative = {tn_p3(offset[0], offset[1], offset[2]), identity};
  switch (f->turn) {
  case TURN_AXIS:
    relative.q = turn_about(f->turns[0], turn[0]);
    break;
  case TURN_UNIVERSAL:
    relative.q = dquat_mul(turn_about(0, turn[0]), turn_about(1, turn[1]));
    break;
  case TURN_BALL:
    relative.q = dquat_normalize((dquat){turn[0], turn[1], turn[2], turn[3]});
    break;
  default:
    relative.q = turn_by(tn_p3(vector[0], vector[1], vector[2]));
    break;
  }
  return relative;
}

static placement placement_mul(placement a, placement b)
{
  return (placement){pos_add(a.p, dquat_rotate(a.q, b.p)), dquat_normalize(dquat_mul(a.q, b.q))};
}

static placement placement_inverse(placement a)
{
  dquat q = dquat_conjugate(a.q);
  return (placement){pos_scale(-1.0, dquat_rotate(q, a.p)), q};
}

static placement parent_pose(const tn_articulation *a, const art_link *link)
{
  return link->parent >= 0 ? a->links[link->parent].at : art_pose_now(a, link->parent_slot);
}

static placement free_pose(const tn_articulation *a, const art_link *link, const double *q)
{
  const body *b = &a->world->bodies[link->body.index];
  dquat turn = dquat_normalize((dquat){q[3], q[4], q[5], q[6]});
  tn_pos p = pos_sub(tn_p3(q[0], q[1], q[2]), a->origin);
  return (placement){pos_add(p, dquat_rotate(turn, b->local_center)),
                     dquat_mul(turn, b->local_principal)};
}

void art_place(tn_articulation *a)
{
  for (int i = 0; i < a->link_count; ++i) {
    art_link *link = &a->links[i];
    const double *q = a->positions + link->first_position;
    const joint *j = art_joint(a, link);
    if (!j) {
      link->at = free_pose(a, link, q);
      continue;
    }
    int side = link->reversed ? 0 : 1;
    placement relative = relative_pose(&link->freedom, q);
    relative = link->reversed ? placement_inverse(relative) : relative;
    placement frame = placement_mul(art_frame(j, 1 - side, parent_pose(a, link)), relative);
    placement local = {j->frame_point[side], j->frame_rotation[side]};
    link->at = placement_mul(frame, placement_inverse(local));
  }
}

// ---------------------------------------------------------------------------------------------
// Columns

// Collects the columns of one joint, from the parent towards the body.
typedef struct column_writer {
  screw *columns;           // of the joint
  const double *velocities; // of the joint
  screw velocity;           // of the frame that the next column is fixed in
  screw drift;
} column_writer;

// Adds a column that is fixed in a frame that moves by `frame`, apart from `change`.
static void put_column(column_writer *w, int k, screw column, screw frame, screw change)
{
  w->columns[k] = column;
  screw rate = screw_add(screw_cross(frame, column), change);
  w->drift = screw_add(w->drift, screw_scale(w->velocities[k], rate));
}

static void advance_frame(column_writer *w, int first, int count)
{
  for (int k = first; k < first + count; ++k) {
    w->velocity = screw_add(w->velocity, screw_scale(w->velocities[k], w->columns[k]));
  }
}

static const screw no_screw;

static screw turn_column(tn_pos axis, tn_pos point)
{
  return (screw){axis, pos_cross(point, axis)};
}

// Offsets along the axes of A.
static void put_slides(column_writer *w, const joint_freedom *f, placement a, double sign)
{
  for (int i = 0; i < f->slide_count; ++i) {
    screw column = {.v = pos_scale(sign, dquat_rotate(a.q, unit(f->slides[i])))};
    put_column(w, i, column, w->velocity, no_screw);
  }
  advance_frame(w, 0, f->slide_count);
}

// A rotation vector, whose columns are not constant in A but change with it.
static void put_vector(column_writer *w, const art_link *link, const double *q, placement a,
                       tn_pos at)
{
  const joint_freedom *f = &link->freedom;
  double offset[3], t[3], sign = link->reversed ? -1.0 : 1.0;
  split_positions(f, q, offset, t);
  tn_pos vector = tn_p3(t[0], t[1], t[2]), rate = tn_p3(0.0, 0.0, 0.0);
  exp_terms e = exp_terms_at(pos_dot(vector, vector));
  int first = f->slide_count;
  for (int i = 0; i < f->turn_count; ++i) {
    rate = pos_add(rate, pos_scale(w->velocities[first + i], unit(f->turns[i])));
    tn_pos axis = dquat_rotate(a.q, exp_rate(e, vector, unit(f->turns[i])));
    w->columns[first + i] = turn_column(pos_scale(sign, axis), at);
  }
  screw frame = w->velocity; // that A's axes turn by
  advance_frame(w, first, f->turn_count);
  frame = link->reversed ? w->velocity : frame;
  for (int i = 0; i < f->turn_count; ++i) {
    tn_pos change = exp_rate_change(e, vector, rate, unit(f->turns[i]));
    change = pos_scale(sign, dquat_rotate(a.q, change));
    put_column(w, first + i, w->columns[first + i], frame, turn_column(change, at));
  }
}

// The angular velocity of a ball joint is given in the axes of `b`.
static void put_ball(column_writer *w, int first, placement b, tn_pos at, bool reversed)
{
  for (int i = 0; i < 3; ++i) {
    tn_pos axis = pos_scale(reversed ? -1.0 : 1.0, dquat_rotate(b.q, unit(i)));
    w->columns[first + i] = turn_column(axis, at);
  }
  screw frame = w->velocity;
  advance_frame(w, first, 3);
  frame = reversed ? frame : w->velocity;
  for (int i = 0; i < 3; ++i) {
    put_column(w, first + i, w->columns[first + i], frame, no_screw);
  }
}

static void put_turns(column_writer *w, const art_link *link, const double *q, placement a,
                      placement b)
{
  const joint_freedom *f = &link->freedom;
  int first = f->slide_count;
  double sign = link->reversed ? -1.0 : 1.0;
  if (f->turn == TURN_AXIS || f->turn == TURN_UNIVERSAL) {
    for (int i = 0; i < f->turn_count; ++i) {
      int k = link->reversed ? f->turn_count - 1 - i : i;
      tn_pos axis = f->turn == TURN_AXIS ? dquat_rotate(a.q, unit(f->turns[0]))
                                         : dquat_rotate(k == 0 ? a.q : b.q, unit(k));
      put_column(w, first + k, turn_column(pos_scale(sign, axis), b.p), w->velocity, no_screw);
      advance_frame(w, first + k, 1);
    }
  } else if (f->turn == TURN_BALL) {
    put_ball(w, first, b, b.p, link->reversed);
  } else if (f->turn == TURN_VECTOR) {
    put_vector(w, link, q, a, b.p);
  }
}

static void put_free(column_writer *w, const tn_articulation *a, const art_link *link)
{
  const body *b = &a->world->bodies[link->body.index];
  dquat q = dquat_mul(link->at.q, dquat_conjugate(b->local_principal));
  tn_pos at = pos_sub(link->at.p, dquat_rotate(q, b->local_center));
  for (int i = 0; i < 3; ++i) {
    put_column(w, i, (screw){.v = unit(i)}, no_screw, no_screw);
  }
  advance_frame(w, 0, 3);
  put_ball(w, 3, (placement){at, q}, at, false);
}

screw art_motion_now(const tn_articulation *a, int32_t slot)
{
  const body_state *state = &a->world->state[slot];
  tn_pos w = pos_from_vec3(vec3_from_floats(state->w));
  tn_pos v = pos_from_vec3(vec3_from_floats(state->v));
  return (screw){w, pos_add(v, pos_cross(art_pose_now(a, slot).p, w))};
}

void art_move(tn_articulation *a)
{
  for (int i = 0; i < a->link_count; ++i) {
    art_link *link = &a->links[i];
    column_writer w = {.columns = a->columns + link->first_velocity,
                       .velocities = a->velocities + link->first_velocity};
    w.velocity =
        link->parent >= 0 ? a->links[link->parent].velocity : art_motion_now(a, link->parent_slot);
    const joint *j = art_joint(a, link);
    if (!j) {
      w.velocity = no_screw;
      put_free(&w, a, link);
    } else {
      int side = link->reversed ? 0 : 1;
      placement parent = art_frame(j, 1 - side, parent_pose(a, link));
      placement frames[2];
      frames[side] = art_frame(j, side, link->at);
      frames[1 - side] = parent;
      const double *q = a->positions + link->first_position;
      if (link->reversed) {
        put_turns(&w, link, q, frames[0], frames[1]);
        put_slides(&w, &link->freedom, frames[0], -1.0);
      } else {
        put_slides(&w, &link->freedom, frames[0], 1.0);
        put_turns(&w, link, q, frames[0], frames[1]);
      }
    }
    link->velocity = w.velocity;
    link->drift = w.drift;
  }
}

// ---------------------------------------------------------------------------------------------
// Velocities

// Solves for the turns of a joint with the least error of the angular velocity: the normal
// equations of its columns, of up to three.
static void fit_turns(const screw *columns, int count, tn_pos w, double *velocities)
{
  double matrix[9];
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < count; ++k) {
      matrix[i * count + k] = pos_dot(columns[i].w, columns[k].w);
    }
    velocities[i] = pos_dot(columns[i].w, w);
  }
  if (!art_solve(matrix, count, velocities)) { // axes that coincide, at a singular position
    for (int i = 0; i < count; ++i) {
      velocities[i] = pos_dot(columns[i].w, w) / (pos_dot(columns[i].w, columns[i].w) * count);
    }
  }
}

void art_read_velocities(tn_articulation *a, double *velocities)
{
  for (int i = 0; i < a->velocity_count; ++i) {
    a->velocities[i] = 0.0;
  }
  art_move(a);
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    const joint *j = art_joint(a, link);
    screw *columns = a->columns + link->first_velocity;
    double *to = velocities + link->first_velocity;
    screw base = j ? art_motion_now(a, link->parent_slot) : no_screw;
    screw relative =
        screw_add(art_motion_now(a, (int32_t)link->body.index), screw_scale(-1.0, base));
    int slides = j ? link->freedom.slide_count : 3;
    fit_turns(columns + slides, link->velocity_count - slides, relative.w, to + slides);
    // What the turns do to the point at the origin is no slide.
    tn_pos rest = relative.v;
    for (int k = slides; k < link->velocity_count; ++k) {
      rest = pos_sub(rest, pos_scale(to[k], columns[k].v));
    }
    for (int k = 0; k < slides; ++k) {
      to[k] = pos_dot(columns[k].v, rest);
    }
  }
}

static bool advance_quaternion(double *q, const double *w, double dt)
{
  double norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(norm > 1e-200) || !isfinite(norm)) {
    return false;
  }
  dquat now = dquat_normalize((dquat){q[0], q[1], q[2], q[3]});
  dquat turned = dquat_mul(now, turn_by(tn_p3(dt * w[0], dt * w[1], dt * w[2])));
  turned = dquat_normalize(turned);
  q[0] = turned.x;
  q[1] = turned.y;
  q[2] = turned.z;
  q[3] = turned.w;
  return isfinite(turned.x + turned.y + turned.z + turned.w);
}

bool art_advance(const tn_articulation *a, double *positions, const double *velocities, double dt)
{
  bool ok = true;
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    double *q = positions + link->first_position;
    const double *u = velocities + link->first_velocity;
    bool turns = link->position_count > link->velocity_count;
    int plain = turns ? link->position_count - 4 : link->position_count;
    for (int k = 0; k < plain; ++k) {
      q[k] += dt * u[k];
      ok = ok && isfinite(q[k]);
    }
    ok = (!turns || advance_quaternion(q + plain, u + plain, dt)) && ok;
  }
  return ok;
}

bool art_load(tn_articulation *a, const char *caller)
{
  if (!art_is_sound(a, caller)) {
    return false;
  }
  a->origin = a->world->bodies[a->links[0].body.index].center;
  art_read_positions(a, a->positions);
  art_place(a);
  art_read_velocities(a, a->vectors);
  for (int i = 0; i < a->velocity_count; ++i) {
    a->velocities[i] = a->vectors[i];
  }
  art_move(a);
  return true;
}

int art_axis_of(const art_link *link, int k)
{
  const joint_freedom *f = &link->freedom;
  if (f->free_root) {
    return -1;
  }
  if (k < f->slide_count) {
    return TN_LINEAR_A + f->slides[k];
  }
  bool listed = f->turn == TURN_AXIS || f->turn == TURN_VECTOR;
  return TN_ANGULAR_A + (listed ? f->turns[k - f->slide_count] : k - f->slide_count);
}

int art_link_of(const tn_articulation *a, int32_t slot)
{
  for (int i = 0; i < a->link_count; ++i) {
    if ((int32_t)a->links[i].body.index == slot) {
      return i;
    }
  }
  return -1;
}
