#include "robot_control.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float TURN = 6.2831853f;

int robot_find_part(const robot_model *model, const char *name)
{
  for (int i = 0; i < model->count; ++i) {
    if (strcmp(model->parts[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static float clamp(float x, float lo, float hi)
{
  return fminf(fmaxf(x, lo), hi);
}

static void set_target(robot_view *v, int part, float target)
{
  if (part >= 0) {
    v->targets[part] =
        clamp(target, v->model->parts[part].range[0], v->model->parts[part].range[1]);
  }
}

static tn_vec3 direction(const robot_view *v, int part, tn_vec3 local)
{
  return tn_rotate(tn_body_transform(v->world, v->bodies[part]).q, local);
}

// ---------------------------------------------------------------------------------------------
// The arm: rates of the joints from the error of the grip by damped least squares,
// dq = J^T (J J^T + d I)^-1 e, with three rows for the place of the grip and three for the hand.

enum { ARM_JOINTS = 6, ROWS = 6 };

static const tn_vec3 GRIP = {0.0f, 0.0f, 0.1f}; // in the frame of the hand

tn_vec3 robot_reach_goal(double time)
{
  float angle = (float)(0.2 * time) * TURN;
  return tn_v3(0.42f + 0.08f * tn_cos(angle), 0.18f * tn_sin(angle),
               0.25f + 0.08f * tn_sin(2.0f * angle));
}

static tn_pos grip_point(const robot_view *v)
{
  int hand = robot_find_part(v->model, "hand");
  return tn_transform_point(tn_body_transform(v->world, v->bodies[hand]), GRIP);
}

tn_vec3 robot_grip(const robot_view *v)
{
  return tn_transform_inverse_point(tn_body_transform(v->world, v->bodies[0]), grip_point(v));
}

// Solves a x = b in place by Gauss's elimination; a is symmetric and positive.
static void solve(float a[ROWS][ROWS], float b[ROWS])
{
  for (int k = 0; k < ROWS; ++k) {
    for (int i = k + 1; i < ROWS; ++i) {
      float factor = a[i][k] / a[k][k];
      for (int j = k; j < ROWS; ++j) {
        a[i][j] -= factor * a[k][j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int k = ROWS - 1; k >= 0; --k) {
    for (int j = k + 1; j < ROWS; ++j) {
      b[k] -= a[k][j] * b[j];
    }
    b[k] /= a[k][k];
  }
}

static void put_rows(float out[ROWS], tn_vec3 linear, tn_vec3 angular)
{
  const float all[ROWS] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  memcpy(out, all, sizeof all);
}

void robot_reach(robot_view *v, double time, float dt)
{
  static const float DAMPING = 1e-3f, GAIN = 8.0f;
  const robot_model *m = v->model;
  int first = robot_find_part(m, "turret"), hand = robot_find_part(m, "hand");
  tn_transform base = tn_body_transform(v->world, v->bodies[0]);
  tn_pos grip = grip_point(v);
  tn_vec3 goal = robot_reach_goal(time), next = robot_reach_goal(time + (double)dt);
  tn_vec3 error = tn_between_points(grip, tn_transform_point(base, goal));
  tn_vec3 speed = tn_rotate(base.q, tn_scale(1.0f / dt, tn_sub(next, goal)));
  tn_vec3 down = tn_rotate(base.q, tn_v3(0.0f, 0.0f, -1.0f));
  tn_vec3 tilt = tn_cross(direction(v, hand, tn_v3(0.0f, 0.0f, 1.0f)), down);
  float rate[ROWS], jacobian[ARM_JOINTS][ROWS], a[ROWS][ROWS] = {{0.0f}};
  put_rows(rate, tn_add(speed, tn_scale(GAIN, error)), tn_scale(GAIN, tilt));
  for (int k = 0; k < ARM_JOINTS; ++k) {
    const float *axis = m->parts[first + k].axis;
    tn_vec3 about = direction(v, first + k, tn_v3(axis[0], axis[1], axis[2]));
    tn_pos joint = tn_body_transform(v->world, v->bodies[first + k]).p;
    put_rows(jacobian[k], tn_cross(about, tn_between_points(joint, grip)), about);
    for (int i = 0; i < ROWS; ++i) {
      for (int j = 0; j < ROWS; ++j) {
        a[i][j] += jacobian[k][i] * jacobian[k][j] + (k == 0 && i == j ? DAMPING : 0.0f);
      }
    }
  }
  solve(a, rate);
  for (int k = 0; k < ARM_JOINTS; ++k) {
    float dq = 0.0f;
    for (int i = 0; i < ROWS; ++i) {
      dq += jacobian[k][i] * rate[i];
    }
    set_target(v, first + k, v->targets[first + k] + dt * clamp(dq, -3.0f, 3.0f));
  }
  float open = 0.5f + 0.5f * tn_cos((float)(0.5 * time) * TURN);
  set_target(v, robot_find_part(m, "left_finger"), 0.033f * open);
}

// ---------------------------------------------------------------------------------------------
// The quadruped: feet below the hips, lifted along half a sine, and shifted with the speed of the
// trunk and its distance from the origin, which brings it back there

// Angles of a leg whose thigh and calf are both 0.2 m long, for a foot at (ahead, left, -down) of
// the hip.
static void bend_leg(robot_view *v, const char *leg, float ahead, float left, float down)
{
  static const float BONE = 0.2f;
  float height = sqrtf(down * down + left * left), length = sqrtf(height * height + ahead * ahead);
  float half = tn_acos(clamp(0.5f * length / BONE, 0.0f, 1.0f));
  const float angles[3] = {tn_atan2(left, down), half - tn_atan2(ahead, height), -2.0f * half};
  static const char *const names[3] = {"hip", "thigh", "calf"};
  for (int i = 0; i < 3; ++i) {
    char name[40];
    snprintf(name, sizeof name, "%s_%s", leg, names[i]);
    set_target(v, robot_find_part(v->model, name), angles[i]);
  }
}

void robot_trot(robot_view *v, double time, float height)
{
  static const char *const legs[4] = {"front_left", "rear_right", "front_right", "rear_left"};
  static const double PERIOD = 0.5;
  static const float STAND = 0.2787f; // length of a leg with its thigh at 0.8 rad
  static const float SHIFT = 0.2f;    // of the feet by the speed of the trunk, s
  static const float RETURN = 3.0f;   // speed by the distance, 1/s
  tn_vec3 away = tn_vec3_from_pos(tn_body_transform(v->world, v->bodies[0]).p);
  tn_vec3 speed = tn_add(tn_body_velocity(v->world, v->bodies[0]), tn_scale(RETURN, away));
  float ahead = SHIFT * tn_dot(speed, direction(v, 0, tn_v3(1.0f, 0.0f, 0.0f)));
  float left = SHIFT * tn_dot(speed, direction(v, 0, tn_v3(0.0f, 1.0f, 0.0f)));
  double phase = time / PERIOD;
  for (int i = 0; i < 4; ++i) {
    float angle = TURN * (float)(phase - floor(phase)) + (i < 2 ? 0.0f : 0.5f * TURN);
    float lift = height * fmaxf(tn_sin(angle), 0.0f);
    bend_leg(v, legs[i], clamp(ahead, -0.08f, 0.08f), clamp(left, -0.05f, 0.05f), STAND - lift);
  }
}

// ---------------------------------------------------------------------------------------------
// The humanoid: the ankles push against the lean of the whole body

typedef struct lean {
  float forward, left;           // of the centre of mass from the middle of the feet, m
  float forward_rate, left_rate; // m/s
} lean;

static lean measure_lean(const robot_view *v, int left_foot, int right_foot)
{
  tn_transform l = tn_body_transform(v->world, v->bodies[left_foot]);
  tn_transform r = tn_body_transform(v->world, v->bodies[right_foot]);
  tn_transform pelvis = tn_body_transform(v->world, v->bodies[0]);
  tn_pos feet = tn_offset(l.p, tn_scale(0.5f, tn_between_points(l.p, r.p)));
  tn_vec3 sum = {0.0f, 0.0f, 0.0f}, momentum = sum;
  float mass = 0.0f;
  for (int i = 0; i < v->model->count; ++i) {
    float m = v->model->parts[i].mass;
    tn_vec3 arm = tn_between_points(feet, tn_body_center(v->world, v->bodies[i]));
    sum = tn_add(sum, tn_scale(m, arm));
    momentum = tn_add(momentum, tn_scale(m, tn_body_velocity(v->world, v->bodies[i])));
    mass += m;
  }
  tn_vec3 ahead = tn_rotate(pelvis.q, tn_v3(1.0f, 0.0f, 0.0f));
  tn_vec3 side = tn_rotate(pelvis.q, tn_v3(0.0f, 1.0f, 0.0f));
  lean out = {tn_dot(ahead, sum) / mass, tn_dot(side, sum) / mass, tn_dot(ahead, momentum) / mass,
              tn_dot(side, momentum) / mass};
  return out;
}

void robot_balance(robot_view *v)
{
  static const float AHEAD = 0.02f; // of the ankles, where the centre of mass belongs, m
  static const float ANKLE = 1.2f, ANKLE_RATE = 0.35f;
  const robot_model *m = v->model;
  int feet[2] = {robot_find_part(m, "left_foot"), robot_find_part(m, "right_foot")};
  static const char *const sides[2] = {"left", "right"};
  lean l = measure_lean(v, feet[0], feet[1]);
  float pitch = ANKLE * (l.forward - AHEAD) + ANKLE_RATE * l.forward_rate;
  float roll = ANKLE * l.left + ANKLE_RATE * l.left_rate;
  for (int i = 0; i < 2; ++i) {
    char name[40];
    snprintf(name, sizeof name, "%s_ankle", sides[i]);
    int ankle = robot_find_part(m, name);
    set_target(v, ankle, m->parts[ankle].home + clamp(pitch, -0.4f, 0.4f));
    set_target(v, feet[i], m->parts[feet[i]].home - clamp(roll, -0.2f, 0.2f));
  }
}
