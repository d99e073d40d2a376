// Inverse kinematics: moves a mechanism so that a frame of one of its bodies comes as close to a
// target as possible. The target is a spring joint to the world; the mechanism is solved as in a
// step, but quasi-statically: every iteration starts at rest.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "kernel/ranges.h"
#include "solver/joint/coupling_step.h"
#include "solver/joint/joint_layout.h"
#include "solver/solver.h"
#include "world/lifetime.h"

#include <math.h>
#include <string.h>

tn_reach_def tn_default_reach_def(void)
{
  tn_reach_def def = {0};
  def.frame.q = def.target.q = tn_quat_identity();
  def.iterations = 100;
  def.cookie = DEF_COOKIE;
  return def;
}

static const char *why_bad(const tn_reach_def *def)
{
  if (!def || def->cookie != DEF_COOKIE) {
    return "the definition was not made by tn_default_reach_def";
  }
  if (!is_position(def->frame.p) || !is_rotation(def->frame.q)) {
    return "the frame is not finite, too far away or not a rotation";
  }
  if (!is_position(def->target.p) || !is_rotation(def->target.q)) {
    return "the target is not finite, too far away or not a rotation";
  }
  return def->iterations < 1 || def->iterations > 100000 ? "iterations must be 1 to 100,000" : NULL;
}

// ---------------------------------------------------------------------------------------------
// Quasi-static steps of one mechanism

// State of a body before the iterations, to be restored.
typedef struct reach_record {
  float motion[6]; // v 3, w 3
  tn_pos center;
  dquat rotation;
} reach_record;

typedef struct ik_solver {
  tn_world *world;
  mechanism *mechanism;
  solver_data data;
  direct_context context;
  reach_record *records; // by node of the mechanism
} ik_solver;

static const direct_node *body_node(const ik_solver *r, int32_t i)
{
  const direct_node *node = &r->world->solver->mechanisms.nodes[r->mechanism->first_node + i];
  return node->is_joint ? NULL : node;
}

static int32_t node_count(const ik_solver *r)
{
  return r->mechanism->last_node - r->mechanism->first_node;
}

// What acts along axes does not limit the poses that a mechanism can take: switch it off.
static void begin_joint(const ik_solver *r, direct_joint *d)
{
  direct_joint_begin_step(r->world, d, TUNING_IK_STEP, 1.0f);
  d->half_kick_done = 0.0f;
  memset(d->state, 0, sizeof d->state);
  for (int i = 0; i < d->axis_count; ++i) {
    direct_axis *a = &r->world->solver->mechanisms.axes[d->first_axis + i];
    memset(&a->params, 0, sizeof a->params);
    memset(&a->state, 0, sizeof a->state);
  }
}

static void stop_bodies(const ik_solver *r)
{
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      body_state *state = &r->world->state[node->index];
      memset(state->v, 0, sizeof state->v);
      memset(state->w, 0, sizeof state->w);
      body_sync_solver(r->world, node->index);
    }
  }
}

static void move_bodies(const ik_solver *r)
{
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      const body_state *state = &r->world->state[node->index];
      body *b = &r->world->bodies[node->index];
      double h = (double)TUNING_IK_STEP;
      tn_pos move = {h * (double)state->v[0], h * (double)state->v[1], h * (double)state->v[2]};
      dquat turn = {0.5 * h * (double)state->w[0], 0.5 * h * (double)state->w[1],
                    0.5 * h * (double)state->w[2], 1.0};
      b->center = pos_add(b->center, move);
      b->rotation = dquat_normalize(dquat_mul(turn, b->rotation));
    }
  }
}

static void iterate(ik_solver *r)
{
  stop_bodies(r);
  mechanism_set *set = &r->world->solver->mechanisms;
  for (int32_t i = r->mechanism->first_joint; i < r->mechanism->last_joint; ++i) {
    begin_joint(r, &set->joints[i]);
  }
  for (int32_t i = r->mechanism->first_coupling; i < r->mechanism->last_coupling; ++i) {
    direct_coupling_begin_step(r->world, &set->couplings[i], TUNING_IK_STEP, 0.0f);
  }
  mechanism_solve(&r->context, r->mechanism);
  for (int32_t i = r->mechanism->first_coupling; i < r->mechanism->last_coupling; ++i) {
    const direct_coupling *d = &set->couplings[i];
    memcpy(r->world->couplings[d->coupling].coordinate, d->coordinate, sizeof d->coordinate);
  }
  move_bodies(r);
  r->context.pose += 1;
}

static void keep_bodies(const ik_solver *r)
{
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      const body_state *state = &r->world->state[node->index];
      const body *b = &r->world->bodies[node->index];
      reach_record *record = &r->records[i];
      memcpy(record->motion, state->v, sizeof state->v);
      memcpy(record->motion + 3, state->w, sizeof state->w);
      record->center = b->center;
      record->rotation = b->rotation;
    }
  }
}

// Velocities always; poses only if the iterations failed.
static void restore_bodies(const ik_solver *r, bool poses)
{
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (!node) {
      continue;
    }
    body_state *state = &r->world->state[node->index];
    body *b = &r->world->bodies[node->index];
    const reach_record *record = &r->records[i];
    memcpy(state->v, record->motion, sizeof state->v);
    memcpy(state->w, record->motion + 3, sizeof state->w);
    if (poses) {
      b->center = record->center;
      b->rotation = record->rotation;
    }
  }
}

static bool are_poses_finite(const ik_solver *r)
{
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      const body *b = &r->world->bodies[node->index];
      const dquat *q = &b->rotation;
      if (!is_finite_pos(b->center) || !isfinite(q->x + q->y + q->z + q->w)) {
        return false;
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// The target

// Target spring with the compliance softness h^2 / m, angular softness h^2 / I: at softness 1 it is
// as compliant as the free body within a step.
static void set_target_softness(tn_world *world, joint *j, const tn_reach_def *def, float softness)
{
  const body *b = &world->bodies[j->slot[1]];
  float h2 = TUNING_IK_STEP * TUNING_IK_STEP;
  double moment = b->moments[1];
  j->def.compliance = softness * h2 / b->mass.mass;
  j->def.angular_compliance = def->turn ? (float)((double)(softness * h2) / moment) : 0.0f;
}

static tn_joint_id add_target(tn_world *world, const tn_reach_def *def)
{
  tn_joint_def spring = tn_default_joint_def(def->turn ? TN_JOINT_FIXED : TN_JOINT_BALL);
  spring.body_b = def->body;
  spring.frame_a = def->target;
  spring.frame_b = def->frame;
  // Compliant from the start: the matrix layout reserves more rows for springs.
  spring.compliance = 1.0f;
  spring.angular_compliance = def->turn ? 1.0f : 0.0f;
  return tn_joint_create(world, &spring);
}

static tn_transform current_frame(const tn_world *world, const tn_reach_def *def)
{
  tn_transform at = tn_body_transform(world, def->body);
  tn_vec3 offset =
      tn_rotate(at.q, tn_v3((float)def->frame.p.x, (float)def->frame.p.y, (float)def->frame.p.z));
  tn_transform frame = {tn_offset(at.p, offset), tn_quat_mul(at.q, def->frame.q)};
  return frame;
}

static double distance_left(const tn_world *world, const tn_reach_def *def)
{
  return (double)tn_length(tn_between_points(current_frame(world, def).p, def->target.p));
}

// Largest distance from the frame to a body of the mechanism, m, but at least TUNING_IK_MIN_EXTENT.
static double extent(const ik_solver *r, const tn_reach_def *def)
{
  tn_pos at = current_frame(r->world, def).p;
  double most = TUNING_IK_MIN_EXTENT;
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      tn_pos d = pos_sub(r->world->bodies[node->index].center, at);
      most = fmax(most, sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
    }
  }
  return most;
}

// Limits the distance to the target to `step`, because the joints could not follow a larger one.
static void set_step_target(tn_world *world, joint *target, const tn_reach_def *def, double step)
{
  tn_pos at = current_frame(world, def).p;
  tn_pos displacement = pos_sub(def->target.p, at);
  double length = sqrt(displacement.x * displacement.x + displacement.y * displacement.y +
                       displacement.z * displacement.z);
  double share = length > step ? step / length : 1.0;
  target->def.frame_a.p = tn_p3(at.x + share * displacement.x, at.y + share * displacement.y,
                                at.z + share * displacement.z);
  joint_refresh_frames(world, (int32_t)(target - world->joints));
}

// Adaptive stiffness: halves the softness after an improvement, quadruples it after a failure.
static void run_iterations(ik_solver *r, joint *target, const tn_reach_def *def)
{
  float softness = TUNING_IK_SOFTNESS;
  double last = distance_left(r->world, def);
  double step = TUNING_IK_STEP_SHARE * extent(r, def);
  for (int i = 0; i < def->iterations; ++i) {
    set_step_target(r->world, target, def, step);
    set_target_softness(r->world, target, def, softness);
    iterate(r);
    double now = distance_left(r->world, def);
    softness = now < last ? fmaxf(TUNING_IK_STIFFER * softness, TUNING_IK_SOFTNESS_MIN)
                          : fminf(TUNING_IK_SOFTER * softness, TUNING_IK_SOFTNESS_MAX);
    last = now;
  }
  // Let joints close that the target has pulled open.
  set_target_softness(r->world, target, def, TUNING_IK_SOFTNESS_RELEASED);
  for (int i = 0; i < TUNING_IK_CLOSING_ITERATIONS; ++i) {
    iterate(r);
  }
}

static tn_reach_result result_of(const tn_world *world, const tn_reach_def *def)
{
  tn_reach_result result = {true, current_frame(world, def), (float)distance_left(world, def)};
  return result;
}

// ---------------------------------------------------------------------------------------------

static mechanism *mechanism_of(mechanism_set *set, const joint *target)
{
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    if (target->direct >= m->first_joint && target->direct < m->last_joint) {
      return m;
    }
  }
  return NULL;
}

static bool refresh_bodies(const ik_solver *r)
{
  bool ok = true;
  for (int32_t i = 0; i < node_count(r); ++i) {
    const direct_node *node = body_node(r, i);
    if (node) {
      body_sync_solver(r->world, node->index);
      ok = shapes_refresh(r->world, node->index) && ok;
    }
  }
  return ok;
}

// Returns why it failed, or NULL.
static const char *run(tn_world *world, const tn_reach_def *def, joint *target)
{
  static const char *const no_room = "out of memory, or the joints are too densely connected";
  if (!awake_list_update(world) || !joint_graph_build(world) || target->direct == NO_SLOT) {
    return no_room;
  }
  mechanism_set *set = &world->solver->mechanisms;
  ik_solver r = {.world = world, .mechanism = mechanism_of(set, target)};
  if (!r.mechanism) {
    return no_room;
  }
  r.data.state = world->state;
  r.data.inertia = world->inertia;
  r.data.bodies = world->body_blocks;
  r.data.substep.h = r.data.substep.time = TUNING_IK_STEP;
  r.mechanism->jacobian_pose = r.mechanism->factor_pose = NO_SLOT;
  direct_context context = {
      .bodies = world->bodies, .data = &r.data, .set = set, .pass = DIRECT_BIAS};
  context.joints = world->joints;
  context.play = world->play;
  context.couplings = world->couplings;
  context.ranges_only = true;
  context.first_substep = true;
  context.direct = world->solver->direct_ops;
  context.ball_ops = world->solver->ball_ops;
  r.context = context;
  size_t size = (size_t)node_count(&r) * sizeof *r.records;
  r.records = heap_alloc(&world->heap, size);
  if (!r.records) {
    return no_room;
  }
  keep_bodies(&r);
  run_iterations(&r, target, def);
  bool finite = are_poses_finite(&r) && isfinite((float)distance_left(world, def));
  restore_bodies(&r, !finite);
  bool ok = refresh_bodies(&r);
  heap_free(&world->heap, r.records, size);
  return !finite ? "a frame is too far from its body, or the target from the mechanism"
                 : (ok ? NULL : no_room);
}

static tn_reach_result reach(tn_world *world, const tn_reach_def *def)
{
  tn_reach_result none = {0};
  if (!world) {
    return none;
  }
  const char *why = why_bad(def);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_world_reach: %s", why);
    return none;
  }
  body *b = body_find(world, def->body, "tn_world_reach");
  if (!b) {
    return none;
  }
  if (b->type != TN_BODY_DYNAMIC) {
    report(&world->log, TN_LOG_ERROR, "tn_world_reach: the body is not dynamic");
    return none;
  }
  tn_joint_id id = add_target(world, def);
  if (TN_IS_NULL(id)) {
    return none;
  }
  tn_method method = world->method;
  world->method = TN_METHOD_TENON;
  world->joint_layout_stale = true;
  why = run(world, def, joint_find(world, id, "tn_world_reach"));
  world->method = method;
  tn_joint_destroy(world, id);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_world_reach: %s", why);
    return none;
  }
  return result_of(world, def);
}

tn_reach_result tn_world_reach(tn_world *world, const tn_reach_def *def)
{
  RECORD(world, tn_world_reach, def);
  RECORD_PAUSE(world);
  tn_reach_result result = reach(world, def);
  RECORD_RESUME(world);
  return result;
}
