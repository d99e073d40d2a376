// State of a model in a world by the numbers of its file: positions and velocities of all joints in
// the order and the conventions of MJCF, keyframes.
#include "instance.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// The articulation

// Whether a tree of joints starts at a body.
static bool is_root(const tn_instance *in, int body)
{
  const model_body *b = &in->model->bodies.items[body];
  if (b->joint_count == 0) {
    return false;
  }
  return in->model->joints.items[b->first_joint].type == MODEL_FREE ||
         !instance_is_dynamic(in, b->parent);
}

static int find_roots(const tn_instance *in, tn_body_id *roots)
{
  int count = 0;
  for (int i = 1; i < in->model->bodies.count; ++i) {
    const model_body *b = &in->model->bodies.items[i];
    if (is_root(in, i)) {
      roots[count++] = b->joint_count > 1 ? in->between[b->first_joint].id : in->bodies[i].id;
    }
  }
  return count;
}

static int find_cuts(const tn_instance *in, tn_joint_id *cuts)
{
  int count = 0;
  for (int i = 0; i < in->model->equalities.count; ++i) {
    if (!TN_IS_NULL(in->equalities[i])) {
      cuts[count++] = in->equalities[i];
    }
  }
  return count;
}

// Index of a joint of the model among those of the articulation, or -1.
static int find_entry(const tn_instance *in, int joint, const tn_articulation_joint *list,
                      int count)
{
  const model_joint *j = &in->model->joints.items[joint];
  for (int i = 0; i < count; ++i) {
    bool same = j->type == MODEL_FREE
                    ? TN_IS_NULL(list[i].joint) && TN_SAME_ID(list[i].body, in->bodies[j->body].id)
                    : TN_SAME_ID(list[i].joint, in->joints[joint]);
    if (same) {
      return i;
    }
  }
  return -1;
}

static bool find_numbers(tn_instance *in)
{
  tn_articulation_counts counts = tn_articulation_get_counts(in->articulation);
  tn_articulation_joint *list = memory_take(&in->memory, (size_t)counts.joints, sizeof *list);
  if (!list) {
    return false;
  }
  tn_articulation_joints(in->articulation, list, counts.joints);
  for (int i = 0; i < in->model->joints.count; ++i) {
    int at = find_entry(in, i, list, counts.joints);
    if (at < 0) {
      return false;
    }
    in->first_position[i] = list[at].first_position;
    in->first_velocity[i] = list[at].first_velocity;
  }
  in->q = memory_take(&in->memory, (size_t)counts.positions + 1, sizeof *in->q);
  in->u = memory_take(&in->memory, (size_t)counts.velocities + 1, sizeof *in->u);
  in->numbers = memory_take(&in->memory, (size_t)in->model->qpos_count + 1, sizeof *in->numbers);
  return !in->memory.failed;
}

bool build_articulation(tn_instance *in)
{
  const tn_model *model = in->model;
  if (model->joints.count == 0 || model->links.count > 0) {
    return true; // bodies of the tutorial's scenes hang on links: there is no tree
  }
  tn_body_id *roots = memory_take(&in->memory, (size_t)model->bodies.count, sizeof *roots);
  tn_joint_id *cuts = memory_take(&in->memory, (size_t)model->equalities.count + 1, sizeof *cuts);
  in->first_position = memory_take(&in->memory, (size_t)model->joints.count, sizeof(int));
  in->first_velocity = memory_take(&in->memory, (size_t)model->joints.count, sizeof(int));
  if (in->memory.failed) {
    return false;
  }
  tn_articulation_def def = tn_default_articulation_def();
  def.roots = roots;
  def.root_count = find_roots(in, roots);
  def.cuts = cuts;
  def.cut_count = find_cuts(in, cuts);
  in->articulation = tn_articulation_create(in->world, &def);
  return in->articulation && find_numbers(in);
}

tn_articulation *tn_instance_articulation(tn_instance *instance)
{
  return instance ? instance->articulation : NULL;
}

int tn_instance_joint_position(const tn_instance *instance, int joint)
{
  bool valid =
      instance && instance->articulation && joint >= 0 && joint < instance->model->joints.count;
  return valid ? instance->first_position[joint] : -1;
}

int tn_instance_joint_velocity(const tn_instance *instance, int joint)
{
  bool valid =
      instance && instance->articulation && joint >= 0 && joint < instance->model->joints.count;
  return valid ? instance->first_velocity[joint] : -1;
}

// ---------------------------------------------------------------------------------------------
// Positions and velocities

// From the articulation's numbers of a joint to the file's: frame of the model instead of the
// world's, quaternions with w first, and angles that begin at `ref`.
static void to_file(const tn_instance *in, const model_joint *j, const double *q, double *out)
{
  if (j->type == MODEL_FREE) {
    dpose at = {dvec_of(q[0], q[1], q[2]), {q[6], q[3], q[4], q[5]}};
    at = dpose_mul(dpose_inverse(in->place), at);
    double all[7] = {at.p.x, at.p.y, at.p.z, at.q.w, at.q.x, at.q.y, at.q.z};
    memcpy(out, all, sizeof all);
  } else if (j->type == MODEL_BALL) {
    double all[4] = {q[3], q[0], q[1], q[2]};
    memcpy(out, all, sizeof all);
  } else if (j->type == MODEL_PLANAR) {
    memcpy(out, q, 3 * sizeof *q);
  } else {
    out[0] = q[0] + j->ref;
  }
}

static void from_file(const tn_instance *in, const model_joint *j, const double *q, double *out)
{
  if (j->type == MODEL_FREE) {
    dpose at = {dvec_of(q[0], q[1], q[2]), drot_normalize((drot){q[3], q[4], q[5], q[6]})};
    at = dpose_mul(in->place, at);
    double all[7] = {at.p.x, at.p.y, at.p.z, at.q.x, at.q.y, at.q.z, at.q.w};
    memcpy(out, all, sizeof all);
  } else if (j->type == MODEL_BALL) {
    double all[4] = {q[1], q[2], q[3], q[0]};
    memcpy(out, all, sizeof all);
  } else if (j->type == MODEL_PLANAR) {
    memcpy(out, q, 3 * sizeof *q);
  } else {
    out[0] = q[0] - j->ref;
  }
}

// Velocities differ by the axes of a free joint's linear part alone.
static void convert_velocity(const model_joint *j, drot turn, const double *u, double *out)
{
  int count = model_joint_dof_count(j->type);
  memcpy(out, u, (size_t)count * sizeof *u);
  if (j->type == MODEL_FREE) {
    dvec v = drot_apply(turn, dvec_of(u[0], u[1], u[2]));
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
  }
}

bool tn_instance_positions(tn_instance *in, double *positions)
{
  if (!in || !positions || !in->articulation ||
      !tn_articulation_positions(in->articulation, in->q)) {
    return false;
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    to_file(in, j, in->q + in->first_position[i], positions + j->qpos);
  }
  return true;
}

bool tn_instance_set_positions(tn_instance *in, const double *positions)
{
  if (!in || !positions || !in->articulation) {
    return false;
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    from_file(in, j, positions + j->qpos, in->q + in->first_position[i]);
  }
  return tn_articulation_set_positions(in->articulation, in->q, NULL);
}

bool tn_instance_velocities(tn_instance *in, double *velocities)
{
  if (!in || !velocities || !in->articulation ||
      !tn_articulation_velocities(in->articulation, in->u)) {
    return false;
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    convert_velocity(j, drot_inverse(in->place.q), in->u + in->first_velocity[i],
                     velocities + j->dof);
  }
  return true;
}

bool tn_instance_set_velocities(tn_instance *in, const double *velocities)
{
  if (!in || !velocities || !in->articulation) {
    return false;
  }
  for (int i = 0; i < in->model->joints.count; ++i) {
    const model_joint *j = &in->model->joints.items[i];
    convert_velocity(j, in->place.q, velocities + j->dof, in->u + in->first_velocity[i]);
  }
  return tn_articulation_set_velocities(in->articulation, in->u, NULL);
}

// ---------------------------------------------------------------------------------------------
// Keyframes

void take_controls(tn_instance *in, const model_key *key)
{
  int state = 0;
  for (int i = 0; i < in->model->actuators.count; ++i) {
    in->controls[i] = key && key->ctrl ? key->ctrl[i] : 0.0;
    in->activations[i] = 0.0;
    if (in->model->actuators.items[i].dynamics != MODEL_DYN_NONE) {
      in->activations[i] = key && key->act ? key->act[state] : 0.0;
      state += 1;
    }
  }
}

bool tn_instance_apply_keyframe(tn_instance *in, int keyframe)
{
  if (!in || !in->articulation || keyframe < -1 || keyframe >= in->model->keys.count) {
    return false;
  }
  const tn_model *model = in->model;
  const model_key *key = keyframe >= 0 ? &model->keys.items[keyframe] : NULL;
  double *numbers = in->numbers;
  model_reference(model, numbers);
  bool ok = tn_instance_set_positions(in, key && key->qpos ? key->qpos : numbers);
  memset(numbers, 0, (size_t)model->qpos_count * sizeof *numbers);
  ok = ok && tn_instance_set_velocities(in, key && key->qvel ? key->qvel : numbers);
  take_controls(in, key);
  for (int i = 0; ok && i < model->actuators.count; ++i) {
    ok = drive_apply(in, i);
  }
  return ok;
}
