// State of an articulation: positions, velocities, generalised forces and keyframes.
#include "tools/articulation.h"

#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/joint/joint_layout.h"
#include "world/body_write.h"

#include <math.h>
#include <string.h>

static bool reject(const tn_articulation *a, const char *caller, const char *why)
{
  report(&a->world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Positions

bool tn_articulation_positions(tn_articulation *a, double *positions)
{
  if (!positions || !art_is_sound(a, "tn_articulation_positions")) {
    return false;
  }
  a->origin = tn_p3(0.0, 0.0, 0.0);
  art_read_positions(a, positions);
  return true;
}

// Origin and axes of a placed link's body in the world.
static placement body_pose(const tn_articulation *a, const art_link *link)
{
  const body *b = &a->world->bodies[link->body.index];
  dquat q = dquat_normalize(dquat_mul(link->at.q, dquat_conjugate(b->local_principal)));
  tn_pos center = pos_add(a->origin, link->at.p);
  return (placement){pos_sub(center, dquat_rotate(q, b->local_center)), q};
}

static const char *why_bad_poses(const tn_articulation *a)
{
  for (int i = 0; i < a->link_count; ++i) {
    placement at = body_pose(a, &a->links[i]);
    const char *why = body_pose_problem(&a->world->bodies[a->links[i].body.index], at.p, at.q);
    if (why) {
      return why;
    }
  }
  return NULL;
}

// Angles that count turns are those of the positions.
static void set_angles(tn_articulation *a)
{
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    for (int k = 0; art_joint(a, link) && k < link->velocity_count; ++k) {
      joint *j = &a->world->joints[link->joint.index - 1];
      int axis = art_axis_of(link, k);
      if (joint_counts_turns(j->def.kind, axis)) {
        j->angle[axis - TN_ANGULAR_A] = a->positions[link->first_position + k];
      }
    }
  }
}

bool tn_articulation_set_positions(tn_articulation *a, const double *positions, const bool *keep)
{
  static const char *const caller = "tn_articulation_set_positions";
  if (!positions || !art_load(a, caller)) {
    return false;
  }
  memcpy(a->positions, positions, (size_t)a->position_count * sizeof *positions);
  memset(a->velocities, 0, (size_t)a->velocity_count * sizeof *a->velocities);
  if (!art_advance(a, a->positions, a->velocities, 0.0)) { // checks, normalizes quaternions
    return reject(a, caller, "a position is not finite, or a quaternion is zero");
  }
  art_place(a);
  const char *why = why_bad_poses(a);
  if (why) {
    return reject(a, caller, why);
  }
  double errors[2];
  bool closed = art_close_loops(a, keep, errors);
  if (!closed || why_bad_poses(a)) {
    report(&a->world->log, TN_LOG_ERROR,
           "%s: the loops cannot close there: %g m and %g rad are left", caller, errors[0],
           errors[1]);
    return false;
  }
  bool ok = true;
  for (int i = 0; i < a->link_count; ++i) {
    placement at = body_pose(a, &a->links[i]);
    ok = body_move(a->world, (int32_t)a->links[i].body.index, at.p, at.q) && ok;
  }
  set_angles(a);
  RECORD_STATE_OF(a->world);
  return ok || reject(a, caller, "out of memory");
}

bool tn_articulation_integrate(tn_articulation *a, double *positions, const double *velocities,
                               double dt)
{
  if (!a || !positions || !velocities) {
    return false;
  }
  memcpy(a->start, positions, (size_t)a->position_count * sizeof *positions);
  if (!art_advance(a, a->start, velocities, dt)) {
    return reject(a, "tn_articulation_integrate",
                  "a position or velocity is not finite, or a quaternion is zero");
  }
  memcpy(positions, a->start, (size_t)a->position_count * sizeof *positions);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Velocities

bool tn_articulation_velocities(tn_articulation *a, double *velocities)
{
  if (!velocities || !art_load(a, "tn_articulation_velocities")) {
    return false;
  }
  memcpy(velocities, a->velocities, (size_t)a->velocity_count * sizeof *velocities);
  return true;
}

// Velocity of the centre of mass.
static tn_vec3 center_velocity(const art_link *link)
{
  return pos_round(pos_add(link->velocity.v, pos_cross(link->velocity.w, link->at.p)));
}

bool tn_articulation_set_velocities(tn_articulation *a, const double *velocities, const bool *keep)
{
  static const char *const caller = "tn_articulation_set_velocities";
  if (!velocities || !art_load(a, caller)) {
    return false;
  }
  memcpy(a->velocities, velocities, (size_t)a->velocity_count * sizeof *velocities);
  art_project_velocities(a, keep);
  art_move(a);
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    if (!is_rate(center_velocity(link)) || !is_rate(pos_round(link->velocity.w))) {
      return reject(a, caller, "a velocity is not finite or too large");
    }
  }
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    tn_body_set_velocity(a->world, link->body, center_velocity(link));
    tn_body_set_angular_velocity(a->world, link->body, pos_round(link->velocity.w));
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Forces

// Point that the turns of a joint leave in place: B's point, or the origin of a free root's body.
static tn_pos pivot_of(const tn_articulation *a, const art_link *link)
{
  const joint *j = art_joint(a, link);
  if (!j) {
    return pos_sub(body_pose(a, link).p, a->origin);
  }
  placement other =
      link->parent >= 0 ? a->links[link->parent].at : art_pose_now(a, link->parent_slot);
  return art_frame(j, 1, link->reversed ? other : link->at).p;
}

// The wrench f on the body with S_k . f = forces[k]: along slides at the pivot, and a torque in the
// span of the turns, from the normal equations of their axes.
static wrench joint_wrench(const tn_articulation *a, const art_link *link, const double *forces)
{
  const screw *columns = a->columns + link->first_velocity;
  int slides = link->freedom.free_root ? 3 : link->freedom.slide_count;
  int turns = link->velocity_count - slides;
  double matrix[9], rhs[3];
  wrench out = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int i = 0; i < slides; ++i) {
    out.f = pos_add(out.f, pos_scale(forces[i], columns[i].v));
  }
  for (int i = 0; i < turns; ++i) {
    rhs[i] = forces[slides + i];
    for (int k = 0; k < turns; ++k) {
      matrix[i * turns + k] = pos_dot(columns[slides + i].w, columns[slides + k].w);
    }
  }
  out.n = pos_cross(pivot_of(a, link), out.f);
  if (art_solve(matrix, turns, rhs)) { // else axes coincide, and no torque separates them
    for (int i = 0; i < turns; ++i) {
      out.n = pos_add(out.n, pos_scale(rhs[i], columns[slides + i].w));
    }
  }
  return out;
}

static tn_vec3 torque_about_center(const art_link *link)
{
  return pos_round(pos_sub(link->force.n, pos_cross(link->at.p, link->force.f)));
}

bool tn_articulation_apply_forces(tn_articulation *a, const double *forces)
{
  static const char *const caller = "tn_articulation_apply_forces";
  if (!forces || !art_load(a, caller)) {
    return false;
  }
  for (int i = 0; i < a->link_count; ++i) {
    a->links[i].force = (wrench){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  }
  for (int i = 0; i < a->link_count; ++i) {
    art_link *link = &a->links[i];
    wrench f = joint_wrench(a, link, forces + link->first_velocity);
    link->force = wrench_add(link->force, f);
    if (link->parent >= 0) {
      wrench *parent = &a->links[link->parent].force;
      *parent = (wrench){pos_sub(parent->n, f.n), pos_sub(parent->f, f.f)};
    }
  }
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    const body *b = &a->world->bodies[link->body.index];
    tn_vec3 force = tn_add(b->force, pos_round(link->force.f));
    tn_vec3 torque = tn_add(b->torque, torque_about_center(link));
    if (!is_finite3(force) || !is_finite3(torque) || !body_can_bear(b, force, torque)) {
      return reject(a, caller, "a force is not finite or too large");
    }
  }
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    body *b = &a->world->bodies[link->body.index];
    body_wake(a->world, (int32_t)link->body.index);
    b->force = tn_add(b->force, pos_round(link->force.f));
    b->torque = tn_add(b->torque, torque_about_center(link));
  }
  RECORD_STATE_OF(a->world);
  return true;
}

bool tn_articulation_joint_forces(tn_articulation *a, double *forces)
{
  if (!forces || !art_load(a, "tn_articulation_joint_forces")) {
    return false;
  }
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    const joint *j = art_joint(a, link);
    for (int k = link->first_velocity; k < link->first_velocity + link->velocity_count; ++k) {
      forces[k] = 0.0;
      if (j) { // force and torque act on B at its point
        tn_pos f = pos_from_vec3(j->force);
        wrench on_b = {pos_add(pos_from_vec3(j->torque), pos_cross(pivot_of(a, link), f)), f};
        forces[k] = (link->reversed ? -1.0 : 1.0) * power(a->columns[k], on_b);
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Keyframes

// The drive of velocity k of a link if it has a target, or null. The law of a ball's rotation is
// that of its first axis, each axis has its part of the target.
static const tn_drive *target_drive(const tn_articulation *a, const art_link *link, int k)
{
  const joint *j = art_joint(a, link);
  if (!j) {
    return NULL;
  }
  int axis = art_axis_of(link, k);
  bool ball = link->freedom.turn == TURN_BALL && k >= link->freedom.slide_count;
  int law = ball && j->def.kind == TN_JOINT_BALL ? TN_ANGULAR_A : axis;
  return j->def.axis[law].drive.stiffness > 0.0f ? &j->def.axis[axis].drive : NULL;
}

static void read_targets(const tn_articulation *a, double *targets)
{
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    for (int k = 0; k < link->velocity_count; ++k) {
      const tn_drive *drive = target_drive(a, link, k);
      targets[link->first_velocity + k] = drive ? (double)drive->target : 0.0;
    }
  }
}

static bool set_targets(const tn_articulation *a, const double *targets)
{
  bool ok = true;
  for (int i = 0; i < a->link_count; ++i) {
    const art_link *link = &a->links[i];
    for (int k = 0; k < link->velocity_count; ++k) {
      const tn_drive *now = target_drive(a, link, k);
      if (now) {
        tn_drive drive = *now;
        drive.target = (float)targets[link->first_velocity + k];
        ok =
            tn_joint_set_drive(a->world, link->joint, (tn_joint_axis)art_axis_of(link, k), drive) &&
            ok;
      }
    }
  }
  return ok;
}

bool tn_articulation_save(tn_articulation *a, tn_keyframe *keyframe)
{
  if (!keyframe || !art_load(a, "tn_articulation_save")) {
    return false;
  }
  if (keyframe->positions) {
    memcpy(keyframe->positions, a->positions, (size_t)a->position_count * sizeof(double));
  }
  if (keyframe->velocities) {
    memcpy(keyframe->velocities, a->velocities, (size_t)a->velocity_count * sizeof(double));
  }
  if (keyframe->targets) {
    read_targets(a, keyframe->targets);
  }
  return true;
}

bool tn_articulation_apply(tn_articulation *a, const tn_keyframe *keyframe)
{
  if (!keyframe || !art_is_sound(a, "tn_articulation_apply")) {
    return false;
  }
  bool ok = !keyframe->positions || tn_articulation_set_positions(a, keyframe->positions, NULL);
  ok = ok &&
       (!keyframe->velocities || tn_articulation_set_velocities(a, keyframe->velocities, NULL));
  return ok && (!keyframe->targets || set_targets(a, keyframe->targets));
}
