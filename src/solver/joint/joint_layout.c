// Joints between records and the solver: parameters and impulses into lanes, the pose at the start
// of a step, and forces after it.
#include "solver/joint/joint_layout.h"

#include "data/world.h"
#include "solver/solver.h"

#include <string.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

// ---------------------------------------------------------------------------------------------
// Lanes

// joint_features of one block; `drive` and `dissipation` are the bits of its kind.
static int block_features(BlockKind kind, const RowParams *params, int drive, int dissipation)
{
  int range = 0;
  for (int i = 0; i < range_rows(kind); ++i) {
    bool ends = params->lo[i] > -UNLIMITED || params->hi[i] < UNLIMITED;
    range |= ends && params->lo[i] != params->hi[i] ? FEATURE_RANGE : 0;
  }
  bool springs = params->alpha > 0.0f || params->alpha_limit > 0.0f ||
                 (params->drive.mode == DRIVE_TARGET && params->drive.alpha > 0.0f);
  return range | (springs ? FEATURE_SPRING : 0) | (params->drive.mode != 0.0f ? drive : 0) |
         (params->damping > 0.0f || params->friction > 0.0f ? dissipation : 0);
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
    set_lane(rows[i]->half_kick_impulse, lane, j->half_kick_impulse[i], 3);
  }
  block->lane_features[lane] =
      (uint8_t)(block_features(linear_kind(joint_type(j)), &params[0], FEATURE_LINEAR_DRIVE,
                               FEATURE_LINEAR_DISSIPATION) |
                block_features(angular_kind(joint_type(j)), &params[1], FEATURE_ANGULAR_DRIVE,
                               FEATURE_ANGULAR_DISSIPATION));
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
    get_lane(rows[i]->half_kick_impulse, j->lane, j->half_kick_impulse[i], 3);
  }
}

void joint_clear_impulses(joint *j)
{
  memset(j->state, 0, sizeof j->state);
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

// A drive's target moves linearly over the step from its last value to the current one: a jump of
// the target would be a jump of a rigid servo.
static void interpolate_block_target(block_rows *rows, int lane, const tn_drive *drive, float from,
                                     int angular, float dt)
{
  float displacement = drive->target - from;
  float *target = rows->params[offsetof(RowParams, drive.target) / sizeof(R)];
  float *rate = rows->params[offsetof(RowParams, drive.rate) / sizeof(R)];
  target[lane] = from;
  rate[lane] = (angular ? r_wrap_angle(displacement) : displacement) / dt;
}

static void scale_state(block_rows *rows, int lane, float scale)
{
  for (int i = 0; i < (int)FIELDS(RowState); ++i) {
    rows->state[i][lane] *= scale;
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
    interpolate_block_target(&block->linear, lane, &j->def.linear_drive, j->target[0], 0, dt);
    interpolate_block_target(&block->angular, lane, &j->def.angular_drive, j->target[1], 1, dt);
    if (impulse_scale != 1.0f) {
      scale_state(&block->linear, lane, impulse_scale);
      scale_state(&block->angular, lane, impulse_scale);
    }
    float none[3] = {0.0f, 0.0f, 0.0f};
    set_lane(block->linear.sum, lane, none, 3);
    set_lane(block->angular.sum, lane, none, 3);
  }
}

static void interpolate_target(Drive *to, const tn_drive *drive, float from, int angular, float dt)
{
  float displacement = drive->target - from;
  to->target = from;
  to->rate = (angular ? r_wrap_angle(displacement) : displacement) / dt;
}

void direct_joint_begin_step(tn_world *world, direct_joint *d, float dt, float impulse_scale)
{
  joint *j = &world->joints[d->joint];
  JointStart start = joint_start(world, j);
  start.frame = flush_tiny_rotation(start.frame);
  start.relative = flush_tiny_rotation(start.relative);
  d->lever[0] = v_length(start.ra);
  d->lever[1] = v_length(start.rb);
  joint_params(j, d->params);
  interpolate_target(&d->params[0].drive, &j->def.linear_drive, j->target[0], 0, dt);
  interpolate_target(&d->params[1].drive, &j->def.angular_drive, j->target[1], 1, dt);
  for (int i = 0; i < 2; ++i) {
    float *state = (float *)&d->state[i];
    for (int k = 0; k < (int)FIELDS(RowState); ++k) {
      // Impulses given ahead are not rescaled with the substep: they have been applied.
      bool ahead = k >= (int)(offsetof(RowState, load) / sizeof(R));
      state[k] = ahead ? j->state[i][k] : impulse_scale * j->state[i][k];
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
  }
}

// Eq. 10 and 17, as the mean over the step: impulse / dt.
static tn_vec3 mean_force(block_rows *rows, int lane, float dt)
{
  float s = 1.0f / dt;
  return tn_v3(s * rows->sum[0][lane], s * rows->sum[1][lane], s * rows->sum[2][lane]);
}

void joint_end_step(tn_world *world, joint_block *block, float dt)
{
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    if (block->joint[lane] == NO_SLOT) {
      continue;
    }
    joint *j = &world->joints[block->joint[lane]];
    j->force = mean_force(&block->linear, lane, dt);
    j->torque = mean_force(&block->angular, lane, dt);
    j->target[0] = j->def.linear_drive.target;
    j->target[1] = r_wrap_angle(j->def.angular_drive.target);
  }
}

void direct_joint_end_step(tn_world *world, direct_joint *d, float dt)
{
  joint *j = &world->joints[d->joint];
  float s = 1.0f / dt;
  if (d->ball != NO_SLOT) {
    const ball_joint *p = &world->solver->mechanisms.balls[d->ball];
    if (p->owns_impulse) {
      memcpy(d->state[0].lambda, p->lambda, sizeof p->lambda);
    }
    for (int k = 0; k < 3; ++k) {
      d->sum[0][k] += p->sum[k];
    }
  }
  j->force = tn_v3(s * d->sum[0][0], s * d->sum[0][1], s * d->sum[0][2]);
  j->torque = tn_v3(s * d->sum[1][0], s * d->sum[1][1], s * d->sum[1][2]);
  j->target[0] = j->def.linear_drive.target;
  j->target[1] = r_wrap_angle(j->def.angular_drive.target);
  for (int i = 0; i < 2; ++i) {
    memcpy(j->state[i], &d->state[i], sizeof j->state[i]);
  }
  j->half_kick_done = d->half_kick_share;
}
