// Joints between the public definition and the solver: parameters and impulses into lanes, the pose
// at the start of a step, forces after it, and the public read-out.
#include "solver/joint/joint_layout.h"

#include "data/ids.h"
#include "data/world.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

// This file uses the scalar kernels.
_Static_assert(TN_LANES == 1, "this file works on one joint at a time");

static bool is_open(tn_range r)
{
  return r.lo == -INFINITY && r.hi == INFINITY;
}

JointType joint_type(const joint *j)
{
  const tn_joint_def *def = &j->def;
  switch (def->kind) {
  case TN_JOINT_DISTANCE:
    // A distance of zero has no direction; it is a point constraint.
    return def->linear[0].hi <= 0.0f && def->linear_drive.mode == TN_DRIVE_OFF ? TYPE_POINT
                                                                               : TYPE_DISTANCE;
  case TN_JOINT_BALL:
    return is_open(def->angular[0]) && def->swing == INFINITY && def->angular_damping == 0.0f &&
                   def->angular_friction == 0.0f && def->angular_drive.mode == TN_DRIVE_OFF
               ? TYPE_POINT
               : TYPE_BALL;
  case TN_JOINT_HINGE:
    return TYPE_HINGE;
  case TN_JOINT_FIXED:
    return TYPE_FIXED;
  case TN_JOINT_PRISMATIC:
    return TYPE_PRISMATIC;
  case TN_JOINT_CYLINDER:
    return TYPE_CYLINDER;
  case TN_JOINT_UNIVERSAL:
    return TYPE_UNIVERSAL;
  default:
    return TYPE_GENERIC;
  }
}

// ---------------------------------------------------------------------------------------------
// Parameters

// Infinite limits become +-UNLIMITED: kernels subtract and multiply them.
static float finite_end(float x)
{
  return r_clamp(x, -UNLIMITED, UNLIMITED);
}

static void set_range(RowParams *params, int row, tn_range r)
{
  params->lo[row] = finite_end(r.lo);
  params->hi[row] = finite_end(r.hi);
  bool closed = isfinite(r.lo) && isfinite(r.hi);
  params->middle[row] = closed ? 0.5f * (r.lo + r.hi) : 0.0f;
}

static Drive drive_params(const tn_drive *drive)
{
  Drive d = {(float)drive->mode,
             drive->target,
             0.0f,
             drive->velocity,
             drive->force,
             drive->compliance,
             fminf(drive->max_force, TUNING_MAX_FORCE)};
  return d;
}

// Parameters of the linear block. Rows without a range stay zero: locked kinds do not read it.
static RowParams linear_params(const joint *j)
{
  const tn_joint_def *def = &j->def;
  JointType type = joint_type(j);
  RowParams params;
  memset(&params, 0, sizeof params);
  params.alpha = def->compliance;
  params.alpha_limit = def->limit_compliance;
  if (type == TYPE_POINT || !has_free_axis(linear_kind(type))) {
    return params;
  }
  int ranges = type == TYPE_GENERIC ? 3 : 1;
  for (int i = 0; i < ranges; ++i) {
    set_range(&params, i, def->linear[i]);
  }
  if (type == TYPE_DISTANCE) {
    params.lo[0] = fmaxf(params.lo[0], 0.0f);
    if (params.lo[0] == params.hi[0]) {
      params.alpha_limit = def->compliance; // a rod or spring, not a limit
    }
  }
  params.drive = drive_params(&def->linear_drive);
  params.damping = def->linear_damping;
  params.friction = fminf(def->linear_friction, TUNING_MAX_FORCE);
  return params;
}

static RowParams angular_params(const joint *j)
{
  const tn_joint_def *def = &j->def;
  JointType type = joint_type(j);
  RowParams params;
  memset(&params, 0, sizeof params);
  params.alpha = def->angular_compliance;
  params.alpha_limit = def->angular_limit_compliance;
  if (!has_free_axis(angular_kind(type))) {
    return params;
  }
  int ranges = type == TYPE_GENERIC ? 3 : type == TYPE_UNIVERSAL ? 2 : 1;
  for (int i = 0; i < ranges; ++i) {
    set_range(&params, i, def->angular[i]);
  }
  if (type == TYPE_BALL) {
    set_range(&params, 1, tn_between(-INFINITY, def->swing));
    params.middle[1] = 0.0f;
  }
  params.drive = drive_params(&def->angular_drive);
  params.damping = def->angular_damping;
  params.friction = fminf(def->angular_friction, TUNING_MAX_FORCE);
  return params;
}

void joint_params(const joint *j, RowParams params[2])
{
  params[0] = linear_params(j);
  params[1] = angular_params(j);
}

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
  RowParams linear = linear_params(j);
  RowParams angular = angular_params(j);
  set_lane(block->linear.params, lane, &linear, FIELDS(RowParams));
  set_lane(block->angular.params, lane, &angular, FIELDS(RowParams));
  block_rows *rows[2] = {&block->linear, &block->angular};
  for (int i = 0; i < 2; ++i) {
    set_lane(rows[i]->state, lane, j->state[i], FIELDS(RowState));
    set_lane(rows[i]->half_kick_impulse, lane, j->half_kick_impulse[i], 3);
  }
  block->lane_features[lane] =
      (uint8_t)(block_features(linear_kind(joint_type(j)), &linear, FEATURE_LINEAR_DRIVE,
                               FEATURE_LINEAR_DISSIPATION) |
                block_features(angular_kind(joint_type(j)), &angular, FEATURE_ANGULAR_DRIVE,
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

// The joint at the bodies' current poses, in double: rounding is then relative to the gap, not to
// the distance from the origin.
static JointStart joint_start(const tn_world *world, const joint *j)
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

// ---------------------------------------------------------------------------------------------
// Read-out

// Coordinates of the rows at the current poses; the angular ones as `angular_type` measures them.
static void find_rows_now(const tn_world *world, const joint *j, JointType angular_type,
                          const RowParams *params, Rows *linear, Rows *angular)
{
  JointStart start = joint_start(world, j);
  Body still;
  memset(&still, 0, sizeof still);
  still.dq.w = 1.0f;
  memset(linear, 0, sizeof *linear);
  memset(angular, 0, sizeof *angular);
  linear_rows(joint_type(j), &start, &still, &still, linear);
  angular_rows(angular_type, &start, params, &still, &still, angular);
}

// Error of a row, m or rad: deviation from its locked value or amount beyond a limit; and the
// compliance that acts on it.
static double row_error(BlockKind kind, const RowParams *params, const Rows *rows, int i,
                        double *compliance)
{
  bool locked = is_locked(kind, params, i);
  *compliance = (double)(locked ? params->alpha : params->alpha_limit);
  double x = (double)rows->x[i];
  if (locked) {
    return kind.mixed ? x - (double)params->lo[i] : x;
  }
  double lo = (double)params->lo[i];
  double hi = (double)params->hi[i];
  return x < lo ? x - lo : x > hi ? x - hi : 0.0;
}

// Length of the vector of row errors.
static double block_error(BlockKind kind, const RowParams *params, const Rows *rows)
{
  double sum = 0.0;
  for (int i = 0; i < kind.rows; ++i) {
    double compliance;
    double e = row_error(kind, params, rows, i, &compliance);
    sum += e * e;
  }
  return sqrt(sum);
}

// Energy of a block's compliant rows and servo. Angular locked rows: alignment_energy().
static double block_energy(BlockKind kind, const RowParams *params, const Rows *rows, int angular)
{
  double sum = 0.0;
  for (int i = 0; i < kind.rows && (!angular || kind.mixed || i < kind.first_locked); ++i) {
    double compliance;
    double e = row_error(kind, params, rows, i, &compliance);
    sum += compliance > 0.0 ? 0.5 * e * e / compliance : 0.0;
  }
  const Drive *drive = &params->drive;
  if (kind.rows > 0 && drive->mode == DRIVE_TARGET && drive->alpha > 0.0f) {
    float e = rows->x[0] - drive->target;
    double d = (double)(angular ? r_wrap_angle(e) : e);
    // A saturated servo pulls with constant force: the energy grows linearly.
    double most = (double)drive->max * (double)drive->alpha;
    double a = fabs(d);
    sum += a < most ? 0.5 * d * d / (double)drive->alpha : (double)drive->max * (a - 0.5 * most);
  }
  return sum;
}

// Energy of angular locked rows. The torque of rows that align axes is the sine of the angle theta
// between them over the compliance (hinge, universal), or twice the sine of its half (fixed); the
// integrals are
//     (1 - cos theta) / alpha,    4 (1 - cos(theta / 2)) / alpha,
// where 1 - cos = sin^2 / (1 + cos) avoids cancellation.
static double alignment_energy(JointType type, const RowParams *params, const Rows *rows,
                               Q relative)
{
  BlockKind kind = angular_kind(type);
  double square = 0.0;
  for (int i = kind.first_locked; i < kind.rows; ++i) {
    square += (double)rows->x[i] * (double)rows->x[i];
  }
  if (params->alpha == 0.0f || kind.mixed || square == 0.0) {
    return 0.0;
  }
  bool whole = type == TYPE_FIXED || type == TYPE_PRISMATIC;
  double cosine = sqrt(fmax(0.0, 1.0 - (whole ? 0.25 : 1.0) * square));
  if (type == TYPE_HINGE || type == TYPE_CYLINDER) {
    double along = (double)q_axis_x(relative).x;
    cosine = along < 0.0 ? along : cosine;
  }
  double lifted = cosine < 0.0 ? 1.0 - cosine : square / (1.0 + cosine);
  return lifted / (double)params->alpha;
}

double joint_elastic_energy(const tn_world *world, const joint *j)
{
  JointType type = joint_type(j);
  Rows linear, angular;
  RowParams lp = linear_params(j);
  RowParams ap = angular_params(j);
  find_rows_now(world, j, type, &ap, &linear, &angular);
  return block_energy(linear_kind(type), &lp, &linear, 0) +
         block_energy(angular_kind(type), &ap, &angular, 1) +
         alignment_energy(type, &ap, &angular, joint_start(world, j).relative);
}

// The type whose angular rows are the angles that tn_joint_get_state() reports for a kind.
static JointType measuring_type(tn_joint_kind kind)
{
  switch (kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_BALL:
    return TYPE_BALL;
  case TN_JOINT_HINGE:
  case TN_JOINT_CYLINDER:
    return TYPE_HINGE;
  case TN_JOINT_UNIVERSAL:
    return TYPE_UNIVERSAL;
  default:
    return TYPE_GENERIC;
  }
}

tn_joint_state tn_joint_get_state(const tn_world *world, tn_joint_id id)
{
  tn_joint_state read = {0};
  const joint *j = joint_find(world, id, "tn_joint_get_state");
  if (!j) {
    return read;
  }
  JointType type = joint_type(j);
  Rows linear, angular;
  RowParams lp = linear_params(j);
  RowParams ap = angular_params(j);
  find_rows_now(world, j, type, &ap, &linear, &angular);
  read.elongation = (float)block_error(linear_kind(type), &lp, &linear);
  read.angular_error = (float)block_error(angular_kind(type), &ap, &angular);

  JointType measure = measuring_type(j->def.kind);
  for (int i = 0; i < 3; ++i) { // without limits, which would distort the angles they act on
    ap.lo[i] = -UNLIMITED;
    ap.hi[i] = UNLIMITED;
  }
  find_rows_now(world, j, measure, &ap, &linear, &angular);
  read.angle.x = angular.x[0];
  read.angle.y = measure == TYPE_UNIVERSAL || measure == TYPE_GENERIC ? angular.x[1] : 0.0f;
  read.angle.z = measure == TYPE_GENERIC ? angular.x[2] : 0.0f;

  JointStart start = joint_start(world, j);
  V offset = q_unrotate(start.frame, start.gap);
  V axis = q_axis_x(start.relative);
  read.offset = tn_v3(offset.x, offset.y, offset.z);
  read.length = v_length(start.gap);
  read.swing = r_atan2(r_sqrt(axis.y * axis.y + axis.z * axis.z), axis.x);
  read.force = j->force;
  read.torque = j->torque;
  read.broken = j->broken;
  return read;
}
