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

bool actuator_length(tn_instance *in, int actuator, double *length, double *rate)
{
  const tn_model *model = in->model;
  const model_actuator *t = &model->actuators.items[actuator];
  *length = *rate = 0.0;
  if (is_wrench(model, t)) {
    wrench_length(in, actuator, length, rate);
    return true;
  }
  if (acts_on_axis(model, t)) {
    const model_joint *j = &model->joints.items[t->target];
    int axis = j->type == MODEL_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
    tn_joint_state state = tn_joint_get_state(in->world, in->joints[t->target]);
    *length = (double)state.position[axis] + j->ref;
    *rate = (double)state.rate[axis];
  } else if (t->transmission == MODEL_TO_TENDON) {
    *length = tendon_length(in, t->target, rate);
  } else {
    return false;
  }
  *length *= t->gear[0];
  *rate *= t->gear[0];
  return true;
}

static actuator_line line_near(const tn_instance *in, int actuator, double length, double rate)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  if (t->is_muscle) {
    return muscle_line(in, actuator, length, rate);
  }
  double u = actuator_input(in, actuator);
  actuator_line line = {
      .constant = t->gain[0] * u + t->bias[0],
      .stiffness = -(t->gain[1] * u + t->bias[1]),
      .damping = in->servo_damping[actuator] - (t->gain[2] * u + t->bias[2]),
  };
  return line;
}

actuator_line actuator_law(tn_instance *in, int actuator)
{
  double length = 0.0, rate = 0.0;
  if (in->muscles[actuator].force != 0.0) {
    actuator_length(in, actuator, &length, &rate);
    length += 0.5 * in->past_dt * rate; // in the middle of the step
  }
  return line_near(in, actuator, length, rate);
}

double actuator_force(const tn_instance *in, int actuator, double length, double rate)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  actuator_line line = line_near(in, actuator, length, rate);
  double force = line.constant - line.stiffness * length - line.damping * rate;
  return t->force_limited ? fmin(fmax(force, t->force_range[0]), t->force_range[1]) : force;
}

tn_range actuator_range(const model_actuator *t)
{
  double lo = t->force_limited ? t->force_range[0] : -(double)INFINITY;
  double hi = t->force_limited ? t->force_range[1] : (double)INFINITY;
  hi = t->is_muscle ? fmin(hi, 0.0) : hi; // the tangent of a muscle's law does not
  double a = t->gear[0] * lo, b = t->gear[0] * hi;
  bool none = t->gear[0] == 0.0;
  return none ? tn_between(0.0f, 0.0f) : tn_between((float)fmin(a, b), (float)fmax(a, b));
}

// Total effort of a joint's actuators at the position q and the rate q' (of the world's joint,
// which is 0 at `ref`): push - stiffness q - damping q', within limits.
typedef struct axis_law {
  double push, stiffness, damping;
  double least, most;
  int count;
  bool limited, has_muscle;
} axis_law;

// An actuator with its gear g: effort g (constant - stiffness g (q + ref) - damping g q').
static void add_actuator(tn_instance *in, int actuator, axis_law *law)
{
  const model_actuator *t = &in->model->actuators.items[actuator];
  const model_joint *j = &in->model->joints.items[t->target];
  actuator_line line = actuator_law(in, actuator);
  double g = t->gear[0];
  law->stiffness += line.stiffness * g * g;
  law->damping += line.damping * g * g;
  law->push += g * (line.constant - line.stiffness * g * j->ref);
  tn_range range = actuator_range(t);
  law->least += (double)range.lo;
  law->most += (double)range.hi;
  law->limited = law->limited || t->force_limited;
  law->has_muscle = law->has_muscle || in->muscles[actuator].force != 0.0;
  law->count += 1;
}

static axis_law law_of(tn_instance *in, int joint)
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

// The target of a drive moves over a step from where it was. The stiffness of a muscle changes: its
// target is where the axis will be, so that the force in the middle of the step is that of the law.
tn_drive drive_of_joint(tn_instance *in, int joint)
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
  if (law.stiffness > 0.0 && law.has_muscle) {
    tn_joint_state state = tn_joint_get_state(in->world, in->joints[joint]);
    int axis = j->type == MODEL_HINGE ? TN_ANGULAR_A : TN_LINEAR_A;
    double way = in->past_dt * (double)state.rate[axis], q = (double)state.position[axis];
    drive.stiffness = (float)law.stiffness;
    drive.target = (float)(q + way);
    drive.force = (float)(law.push - law.stiffness * (q + 0.5 * way));
  } else if (law.stiffness > 0.0) {
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
    if (t->transmission == MODEL_TO_BODY) {
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
      model_note_add(model, TN_IMPORT_IGNORED, t->at, "actuator on a target that it cannot move");
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

// Adhesion acts on the contacts of the last step; before the first step they have to be found.
static bool has_adhesion(const tn_model *model)
{
  bool any = false;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    any = any || (t->supported && t->transmission == MODEL_TO_BODY);
  }
  return any;
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
  ok = (in->past_dt > 0.0 || !has_adhesion(model) || tn_world_update_contacts(in->world)) && ok;
  note_motion(in, dt);
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    if (t->dynamics == MODEL_DYN_NONE) {
      ok = (!t->is_muscle || drive_apply(in, i)) && ok;
      continue;
    }
    double u = in->controls[i], *state = &in->activations[i];
    u = t->control_limited ? fmin(fmax(u, t->control_range[0]), t->control_range[1]) : u;
    if (t->dynamics == MODEL_DYN_INTEGRATOR) {
      *state += (double)dt * u;
    } else if (t->dynamics == MODEL_DYN_MUSCLE) {
      *state = muscle_activation(&t->muscle, u, *state, 0.5 * (double)dt);
    } else {
      double steps = (double)dt / fmax(t->time_constant, 1e-9);
      *state += (u - *state) * (1.0 - (double)tn_exp((float)-fmin(steps, 80.0)));
    }
    if (t->activation_limited) {
      *state = fmin(fmax(*state, t->activation_range[0]), t->activation_range[1]);
    }
    ok = drive_apply(in, i) && ok;
    if (t->dynamics == MODEL_DYN_MUSCLE) { // it has pulled by what it is in the middle of the step
      *state = muscle_activation(&t->muscle, u, *state, 0.5 * (double)dt);
    }
  }
  return apply_wrenches(in, (double)dt) && ok;
}
