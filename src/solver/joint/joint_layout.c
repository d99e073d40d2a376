// Joints between records and the solver: parameters and impulses into lanes, the pose at the start
// of a step, and forces after it.
#include "solver/joint/joint_layout.h"

#include "data/world.h"
#include "solver/solver.h"

#include <float.h>
#include <string.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// ---------------------------------------------------------------------------------------------
// Lanes

// joint_features of one block.
static int block_features(BlockKind kind, const RowParams *params)
{
  int range = 0;
  for (int i = 0; i < range_rows(kind); ++i) {
    bool ends = params->lo[i] > -UNLIMITED || params->hi[i] < UNLIMITED;
    range |= ends && params->lo[i] != params->hi[i] ? FEATURE_RANGE : 0;
  }
  bool springs = params->alpha > 0.0f || params->alpha_limit > 0.0f;
  return range | (springs ? FEATURE_SPRING : 0);
}

// Bits of joint.axis_features of the linear or angular axes.
static uint32_t block_axes(const joint *j, int angular)
{
  uint32_t bits = (1u << (3 * AXIS_FEATURE_BITS)) - 1;
  return j->axis_features >> (angular ? 3 * AXIS_FEATURE_BITS : 0) & bits;
}

// Writes a joint's parameters and impulses to its lane; joint_unpack() reads the impulses back.
void joint_pack(tn_world *world, int32_t slot)
{
  const joint *j = &world->joints[slot];
  joint_block *block = &world->solver->joint_graph.blocks[j->block];
  int lane = j->lane;
  RowParams params[2];
  joint_params(j, params);
  block_rows *rows[2] = {&block->linear, &block->angular};
  for (int i = 0; i < 2; ++i) {
    set_lane(rows[i]->params, lane, &params[i], FIELDS(RowParams));
    set_lane(rows[i]->state, lane, j->state[i], FIELDS(RowState));
    set_lane(rows[i]->axes_state, lane, j->axis_state[i], FIELDS(AxesState));
    set_lane(rows[i]->half_kick_impulse, lane, j->half_kick_impulse[i], 3);
    Axes axes;
    for (int k = 0; k < 3; ++k) {
      axes.params[k] = joint_axis_params(j, 3 * i + k);
    }
    set_lane(rows[i]->axes, lane, &axes, FIELDS(Axes));
  }
  block->lane_features[lane] = (uint8_t)(block_features(linear_kind(joint_type(j)), &params[0]) |
                                         block_features(angular_kind(joint_type(j)), &params[1]) |
                                         (block_axes(j, 0) ? FEATURE_LINEAR_AXES : 0) |
                                         (block_axes(j, 1) ? FEATURE_ANGULAR_AXES : 0));
  block->features = 0;
  for (int i = 0; i < BLOCK_WIDTH; ++i) {
    block->features |= block->lane_features[i];
  }
}

void joint_unpack(const tn_world *world, joint *j)
{
  joint_block *block = &world->solver->joint_graph.blocks[j->block];
  block_rows *rows[2] = {&block->linear, &block->angular};
  for (int i = 0; i < 2; ++i) {
    get_lane(rows[i]->state, j->lane, j->state[i], FIELDS(RowState));
    get_lane(rows[i]->axes_state, j->lane, j->axis_state[i], FIELDS(AxesState));
    get_lane(rows[i]->half_kick_impulse, j->lane, j->half_kick_impulse[i], 3);
  }
}

void joint_clear_impulses(joint *j)
{
  memset(j->state, 0, sizeof j->state);
  memset(j->axis_state, 0, sizeof j->axis_state);
  j->rates_stale = true;
  memset(j->half_kick_impulse, 0, sizeof j->half_kick_impulse);
  j->half_kick_done = 0.0f;
  j->force = j->torque = tn_v3(0.0f, 0.0f, 0.0f);
}

// ---------------------------------------------------------------------------------------------
// Start and end of a step

static V round_pos(tn_pos p)
{
  return v_make((float)p.x, (float)p.y, (float)p.z);
}

static Q round_quat(dquat q)
{
  Q r = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  return r;
}

// In double: rounding is then relative to the gap, not to the distance from the origin.
JointStart joint_start(const tn_world *world, const joint *j)
{
  const body *a = &world->bodies[j->slot[0]];
  const body *b = &world->bodies[j->slot[1]];
  tn_pos ra = dquat_rotate(a->rotation, j->frame_point[0]);
  tn_pos rb = dquat_rotate(b->rotation, j->frame_point[1]);
  tn_pos gap = pos_sub(pos_add(pos_sub(b->center, a->center), rb), ra);
  dquat frame = dquat_mul(a->rotation, j->frame_rotation[0]);
  dquat other = dquat_mul(b->rotation, j->frame_rotation[1]);
  JointStart start = {round_pos(ra), round_pos(rb), round_pos(gap), round_quat(frame),
                      round_quat(dquat_mul(dquat_conjugate(frame), other))};
  return start;
}

// Targets, angles and rates of a joint's axes in its lane at the start of a step.
static void begin_lane_axes(const tn_world *world, joint *j, block_rows *rows, int lane,
                            int angular, float dt)
{
  Axes axes;
  AxesState state;
  get_lane(rows->axes, lane, &axes, FIELDS(Axes));
  get_lane(rows->axes_state, lane, &state, FIELDS(AxesState));
  for (int k = 0; k < 3; ++k) {
    joint_interpolate_target(j, 3 * angular + k, dt, &axes.params[k]);
    if (j->rates_stale) {
      state.axis[k].rate = state.axis[k].new_rate = joint_axis_rate(world, j, 3 * angular + k);
    }
  }
  set_lane(rows->axes, lane, &axes, FIELDS(Axes));
  set_lane(rows->axes_state, lane, &state, FIELDS(AxesState));
}

// The angles from which turns are counted on.
static void begin_lane_angles(const tn_world *world, const joint *j, block_rows *rows, int lane)
{
  enum { MIDDLE = offsetof(RowParams, middle) / sizeof(R) };
  for (int i = 0; i < 2; ++i) {
    if (joint_counts_turns(j->def.kind, TN_ANGULAR_A + i)) {
      rows->params[MIDDLE + i][lane] = joint_axis_position(world, j, TN_ANGULAR_A + i);
    }
  }
}

static void end_lane_angles(joint *j, const block_rows *rows, int lane)
{
  enum { MIDDLE = offsetof(RowParams, middle) / sizeof(R) };
  for (int i = 0; i < 2; ++i) {
    if (joint_counts_turns(j->def.kind, TN_ANGULAR_A + i)) {
      j->angle[i] = (double)rows->params[MIDDLE + i][lane];
    }
  }
}

static void scale_state(block_rows *rows, int lane, float scale)
{
  for (int i = 0; i < (int)FIELDS(RowState); ++i) {
    rows->state[i][lane] *= scale;
  }
  for (int i = 0; i < (int)FIELDS(AxesState); ++i) {
    int field = i % (int)FIELDS(AxisState);
    bool is_rate = field == (int)(offsetof(AxisState, rate) / sizeof(R)) ||
                   field == (int)(offsetof(AxisState, new_rate) / sizeof(R));
    rows->axes_state[i][lane] *= is_rate ? 1.0f : scale;
  }
}

// `impulse_scale` is the ratio of this step's substep to the last one's, so that forces persist.
void joint_begin_step(tn_world *world, joint_block *block, float dt, float impulse_scale)
{
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    if (block->joint[lane] == NO_SLOT) {
      continue;
    }
    joint *j = &world->joints[block->joint[lane]];
    JointStart start = joint_start(world, j);
    set_lane(block->start, lane, &start, FIELDS(JointStart));
    bool supported = world->bodies[j->slot[0]].supported || world->bodies[j->slot[1]].supported;
    block->half_kick_share[lane] = supported ? 0.0f : 0.5f;
    begin_lane_angles(world, j, &block->angular, lane);
    if (j->axis_features != 0) {
      begin_lane_axes(world, j, &block->linear, lane, 0, dt);
      begin_lane_axes(world, j, &block->angular, lane, 1, dt);
      j->rates_stale = false;
    }
    if (impulse_scale != 1.0f) {
      scale_state(&block->linear, lane, impulse_scale);
      scale_state(&block->angular, lane, impulse_scale);
    }
    float none[3] = {0.0f, 0.0f, 0.0f};
    set_lane(block->linear.sum, lane, none, 3);
    set_lane(block->angular.sum, lane, none, 3);
  }
}

static void begin_direct_axes(tn_world *world, joint *j, const direct_joint *d, float dt,
                              float impulse_scale)
{
  for (int i = 0; i < d->axis_count; ++i) {
    direct_axis *a = &world->solver->mechanisms.axes[d->first_axis + i];
    int axis = 3 * a->block + a->row;
    a->params = joint_axis_params(j, axis);
    joint_interpolate_target(j, axis, dt, &a->params);
    memcpy(&a->state, j->axis_state[a->block][a->row], sizeof a->state);
    a->state.drive *= impulse_scale;
    a->state.passive *= impulse_scale;
    a->state.friction *= impulse_scale;
    a->state.drive_pending *= impulse_scale;
    a->state.passive_pending *= impulse_scale;
    if (j->rates_stale) {
      a->state.rate = joint_axis_rate(world, j, axis);
    }
    a->drive_sum = 0.0;
  }
  j->rates_stale = j->rates_stale && d->axis_count == 0;
}

// The inertia of the mechanism about the free angle of a joint, as far as its axis states it.
static float turned_inertia(const tn_joint_def *def)
{
  bool slides = def->kind == TN_JOINT_FIXED || def->kind == TN_JOINT_PRISMATIC;
  bool turns = def->kind == TN_JOINT_HINGE || def->kind == TN_JOINT_CYLINDER;
  return slides ? (float)INFINITY : turns ? def->axis[TN_ANGULAR_A].inertia : 0.0f;
}

void direct_joint_begin_step(tn_world *world, direct_joint *d, float dt, float impulse_scale)
{
  joint *j = &world->joints[d->joint];
  JointStart start = joint_start(world, j);
  start.frame = flush_tiny_rotation(start.frame);
  start.relative = flush_tiny_rotation(start.relative);
  d->lever[0] = v_length(start.ra);
  d->lever[1] = v_length(start.rb);
  d->turned_inertia = turned_inertia(&j->def);
  joint_params(j, d->params);
  if (d->axis_count > 0) {
    begin_direct_axes(world, j, d, dt, impulse_scale);
  }
  for (int i = 0; i < 2; ++i) {
    // Impulses given ahead are not rescaled with the substep: they have been applied.
    enum { RESCALED = offsetof(RowState, load) / sizeof(R) };
    float *state = (float *)&d->state[i];
    memcpy(state, j->state[i], sizeof d->state[i]);
    for (int k = 0; k < RESCALED; ++k) {
      state[k] *= impulse_scale;
    }
    memset(d->sum[i], 0, sizeof d->sum[i]);
  }
  jacobian_block *rows = &world->solver->mechanisms.jacobian_blocks[d->jacobian_lane / BLOCK_WIDTH];
  int lane = d->jacobian_lane % BLOCK_WIDTH;
  set_lane(rows->start, lane, &start, FIELDS(JointStart));
  set_lane(rows->lo, lane, d->params[1].lo, 3);
  set_lane(rows->hi, lane, d->params[1].hi, 3);
  set_lane(rows->middle, lane, d->params[1].middle, 3);
  bool supported = world->bodies[j->slot[0]].supported || world->bodies[j->slot[1]].supported;
  d->torque_impulse[0] = d->torque_impulse[1] = 0.0;
  d->half_kick_done = j->half_kick_done / impulse_scale;
  d->half_kick_share = supported ? 0.0f : 0.5f;
  if (d->ball != NO_SLOT) {
    ball_block *block = &world->solver->mechanisms.ball_blocks[d->ball / BLOCK_WIDTH];
    ball_joint *p = &world->solver->mechanisms.balls[d->ball];
    set_lane(block->start, d->ball % BLOCK_WIDTH, &start, 9);
    memcpy(p->lambda, d->state[0].lambda, sizeof p->lambda);
    memset(p->sum, 0, sizeof p->sum);
    p->lever[0][3] =
        v_dot(start.ra, start.ra); // for the added inertia, before the first evaluation
    p->lever[1][3] = v_dot(start.rb, start.rb);
    p->owns_impulse = false;
  }
}

float force_in_range(double f)
{
  double most = (double)FLT_MAX;
  return f >= -most && f <= most ? (float)f : f > 0.0 ? FLT_MAX : -FLT_MAX;
}

// Eq. 10 and 17, as the mean over the step: impulse / dt.
static tn_vec3 mean_force(float x, float y, float z, float dt)
{
  float s = 1.0f / dt;
  return tn_v3(force_in_range((double)(s * x)), force_in_range((double)(s * y)),
               force_in_range((double)(s * z)));
}

static tn_vec3 lane_force(block_rows *rows, int lane, float dt)
{
  return mean_force(rows->sum[0][lane], rows->sum[1][lane], rows->sum[2][lane], dt);
}

static void end_targets(joint *j, float dt)
{
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    j->target[i] = joint_next_target(j, i, dt);
  }
}

// Drives: the force of the last substep stands for the mean over the step.
static void end_lane_axes(const tn_world *world, joint *j, joint_block *block, int lane, float dt)
{
  float inv_h = (float)world->substeps / dt;
  for (int i = 0; i < TN_JOINT_AXIS_COUNT; ++i) {
    block_rows *rows = i < TN_ANGULAR_A ? &block->linear : &block->angular;
    AxesState state;
    get_lane(rows->axes_state, lane, &state, FIELDS(AxesState));
    j->drive_force[i] = force_in_range(
        (double)(inv_h * (state.axis[i % 3].drive + state.axis[i % 3].drive_velocity)));
  }
  end_targets(j, dt);
}

void joint_end_step(tn_world *world, joint_block *block, float dt)
{
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    if (block->joint[lane] == NO_SLOT) {
      continue;
    }
    joint *j = &world->joints[block->joint[lane]];
    j->force = lane_force(&block->linear, lane, dt);
    j->torque = lane_force(&block->angular, lane, dt);
    end_lane_angles(j, &block->angular, lane);
    if (j->axis_features != 0) {
      end_lane_axes(world, j, block, lane, dt);
    }
  }
}

static void end_direct_axes(const tn_world *world, joint *j, const direct_joint *d, float dt)
{
  for (int i = 0; i < d->axis_count; ++i) {
    const direct_axis *a = &world->solver->mechanisms.axes[d->first_axis + i];
    memcpy(j->axis_state[a->block][a->row], &a->state, sizeof a->state);
    j->drive_force[3 * a->block + a->row] = force_in_range(a->drive_sum / (double)dt);
  }
  end_targets(j, dt);
}

void direct_joint_end_step(tn_world *world, direct_joint *d, float dt)
{
  joint *j = &world->joints[d->joint];
  if (d->ball != NO_SLOT) {
    const ball_joint *p = &world->solver->mechanisms.balls[d->ball];
    if (p->owns_impulse) {
      memcpy(d->state[0].lambda, p->lambda, sizeof p->lambda);
    }
    for (int k = 0; k < 3; ++k) {
      d->sum[0][k] += p->sum[k];
    }
  }
  j->force = mean_force(d->sum[0][0], d->sum[0][1], d->sum[0][2], dt);
  j->torque = mean_force(d->sum[1][0], d->sum[1][1], d->sum[1][2], dt);
  for (int i = 0; i < 2; ++i) {
    memcpy(j->state[i], &d->state[i], sizeof j->state[i]);
  }
  if (d->axis_count > 0) {
    end_direct_axes(world, j, d, dt);
  }
  const jacobian_block *rows =
      &world->solver->mechanisms.jacobian_blocks[d->jacobian_lane / BLOCK_WIDTH];
  for (int i = 0; i < 2; ++i) {
    if (joint_counts_turns(j->def.kind, TN_ANGULAR_A + i)) {
      j->angle[i] = (double)rows->middle[i][d->jacobian_lane % BLOCK_WIDTH];
    }
  }
  j->half_kick_done = d->half_kick_share;
}
