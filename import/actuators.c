// Actuators on joints as drives. Several on one joint add up.
#include "instance.h"

#include <string.h>

bool acts_on_axis(const tn_model *model, const model_actuator *t)
{
  bool to_joint = t->transmission == MODEL_TO_JOINT || t->transmission == MODEL_TO_JOINT_IN_PARENT;
  if (!t->supported || !to_joint) {
    return false;
  }
  model_joint_type type = model->joints.items[t->target].type;
  return type == MODEL_HINGE || type == MODEL_SLIDE;
}

double actuator_input(const tn_instance *in, int actuator)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  if (t->dynamics != MODEL_DYN_NONE) {
    return in->activations[actuator];
  }
  double u = in->controls[actuator];
  return t->control_limited ? fmin(fmax(u, t->control_range[0]), t->control_range[1]) : u;
}

double actuator_force(const tn_instance *in, int actuator, double length, double rate)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  double u = actuator_input(in, actuator), part[3];
  for (int i = 0; i < 3; ++i) {
    part[i] = t->gain[i] * u + t->bias[i];
  }
  double force = part[0] + part[1] * length + (part[2] - in->servo_damping[actuator]) * rate;
  return t->force_limited ? fmin(fmax(force, t->force_range[0]), t->force_range[1]) : force;
}

// Total effort of a joint's actuators at the position q and the rate q' (of the world's joint,
// which is 0 at `ref`): push - stiffness q - damping q', within limits.
typedef struct axis_law {
  double push, stiffness, damping;
  double least, most;
  int count;
  bool limited;
} axis_law;

// An actuator with its gear: force = gear (gain u + bias), where gain and bias are each
// a + b gear (q + ref) + c gear q'.
static void add_actuator(const tn_instance *in, int actuator, axis_law *law)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  const model_joint *j = &in->model->joints.items[t->target];
  double g = t->gear[0], u = actuator_input(in, actuator);
  double part[3];
  for (int i = 0; i < 3; ++i) {
    part[i] = t->gain[i] * u + t->bias[i];
  }
  part[2] -= in->servo_damping[actuator];
  law->stiffness -= part[1] * g * g;
  law->damping -= part[2] * g * g;
  law->push += g * (part[0] + part[1] * g * j->ref);
  double a = t->force_range[0] * g, b = t->force_range[1] * g;
  law->least += t->force_limited ? fmin(a, b) : -(double)INFINITY;
  law->most += t->force_limited ? fmax(a, b) : (double)INFINITY;
  law->limited = law->limited || t->force_limited;
  law->count += 1;
}

static axis_law law_of(const tn_instance *in, int joint)
{
  const tn_model *model = in->model;
  const model_joint *j = &model->joints.items[joint];
  axis_law law = {0};
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (acts_on_axis(model, t) && t->target == joint) {
      add_actuator(in, i, &law);
    }
  }
  if (j->force_limited) {
    law.least = fmax(law.least, j->force_range[0]);
    law.most = fmin(law.most, j->force_range[1]);
  }
  return law;
}

tn_drive drive_of_joint(const tn_instance *in, int joint)
{
  axis_law law = law_of(in, joint);
  const model_joint *j = &in->model->joints.items[joint];
  tn_drive drive = tn_default_drive();
  drive.max_speed = j->max_speed > 0.0 ? (float)fmin(j->max_speed, 1e9) : drive.max_speed;
  if (law.count == 0) {
    if (j->force_limited) { // for the drive that a program may set
      drive.limits =
          tn_between((float)fmin(j->force_range[0], 0.0), (float)fmax(j->force_range[1], 0.0));
    }
    return drive;
  }
  drive.limits = tn_between((float)fmin(law.least, 0.0), (float)fmax(law.most, 0.0));
  drive.damping = (float)fmax(law.damping, 0.0);
  if (law.stiffness > 0.0) {
    drive.stiffness = (float)law.stiffness;
    drive.target = (float)(law.push / law.stiffness);
  } else {
    drive.force = (float)law.push;
  }
  return drive;
}

bool apply_joint_drive(tn_instance *in, int joint)
{
  tn_joint_axis axis =
      in->model->joints.items[joint].type == MODEL_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
  return tn_joint_set_drive(in->world, in->joints[joint], axis, drive_of_joint(in, joint));
}

bool drive_apply(tn_instance *in, int actuator)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  return acts_on_axis(in->model, t) ? apply_joint_drive(in, t->target)
                                    : coupling_apply_control(in, actuator);
}

// Reports the parts of actuators that are approximated or ignored.
void note_actuators(tn_instance *in)
{
  tn_model *model = in->model;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (!t->supported || t->transmission == MODEL_TO_TENDON) {
      continue;
    }
    if (is_wrench(model, t)) {
      if (t->bias[1] != 0.0 || t->bias[2] != 0.0) {
        model_note_add(model, TN_IMPORT_APPROXIMATED, t->at,
                       "feedback of an actuator that acts on no axis: constant over a step");
      }
      continue;
    }
    if (!acts_on_axis(model, t)) {
      model_note_add(model, TN_IMPORT_IGNORED, t->at,
                     "actuator that acts on no joint, tendon or site");
      continue;
    }
    axis_law law = law_of(in, t->target);
    if (law.count > 1 && law.limited) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, t->at,
                     "several actuators on one joint: their limits add up");
    }
    if (law.least > 0.0 || law.most < 0.0) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, t->at, "forcerange without 0: widened");
    }
    if (law.stiffness < 0.0 || law.damping < 0.0) {
      model_note_add(model, TN_IMPORT_APPROXIMATED, t->at,
                     "actuator that pushes away from its target: that part is left out");
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Dynamics of actuators

static void note_motion(tn_instance *in, float dt)
{
  for (int i = 1; i < in->model->bodies.count; ++i) {
    tn_body_id id = in->bodies[i].id;
    if (in->owners[i] == i && tn_body_is_valid(in->world, id)) {
      in->past[i].velocity = dvec_of_vec3(tn_body_velocity(in->world, id));
      in->past[i].spin = dvec_of_vec3(tn_body_angular_velocity(in->world, id));
    }
  }
  in->past_dt = (double)dt;
  in->time += (double)dt;
}

bool tn_instance_advance(tn_instance *in, float dt)
{
  if (!in || !(dt >= 0.0f) || !(dt < 1e6f)) {
    return false;
  }
  const tn_model *model = in->model;
  if (in->controller) {
    in->controller(in, in->time, dt, in->controller_context);
  }
  bool ok = apply_fluid(in, (double)dt);
  note_motion(in, dt);
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (t->dynamics == MODEL_DYN_NONE) {
      continue;
    }
    double u = in->controls[i], *state = &in->activations[i];
    u = t->control_limited ? fmin(fmax(u, t->control_range[0]), t->control_range[1]) : u;
    if (t->dynamics == MODEL_DYN_INTEGRATOR) {
      *state += (double)dt * u;
    } else {
      double steps = (double)dt / fmax(t->time_constant, 1e-9);
      *state += (u - *state) * (1.0 - (double)tn_exp((float)-fmin(steps, 80.0)));
    }
    if (t->activation_limited) {
      *state = fmin(fmax(*state, t->activation_range[0]), t->activation_range[1]);
    }
    ok = drive_apply(in, i) && ok;
  }
  return apply_wrenches(in, (double)dt) && ok;
}
