// Sensors of actuators and tendons, and the clock.
#include "sensors.h"

#include <string.h>

int sense_actuator(tn_instance *in, const model_sensor *s, double *out)
{
  bool position = sensor_is(s, "actuatorpos"), velocity = sensor_is(s, "actuatorvel");
  int index = model_find_actuator(in->model, s->object);
  double length, rate;
  if (index < 0 || (!position && !velocity && !sensor_is(s, "actuatorfrc")) ||
      !actuator_length(in, index, &length, &rate)) {
    return 0;
  }
  const model_actuator *t = &in->model->actuators.items[index];
  if (position || velocity) {
    out[0] = position ? length : rate;
  } else {
    out[0] = t->supported ? actuator_force(in, index, length, rate) : 0.0;
  }
  return 1;
}

// Force of all actuators on a joint, by their laws.
static double force_on_joint(tn_instance *in, int joint)
{
  const tn_model *model = in->model;
  const model_joint *j = &model->joints.items[joint];
  double sum = 0.0;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    double length, rate;
    if (acts_on_axis(model, t) && t->target == joint && actuator_length(in, i, &length, &rate)) {
      sum += t->gear[0] * actuator_force(in, i, length, rate);
    }
  }
  return j->force_limited ? fmin(fmax(sum, j->force_range[0]), j->force_range[1]) : sum;
}

int sense_tendon(tn_instance *in, const model_sensor *s, double *out)
{
  if (sensor_is(s, "clock")) {
    out[0] = in->time;
    return 1;
  }
  if (sensor_is(s, "jointactuatorfrc")) {
    int joint = model_find_joint(in->model, s->object);
    out[0] = joint >= 0 ? force_on_joint(in, joint) : 0.0;
    return joint >= 0;
  }
  bool position = sensor_is(s, "tendonpos");
  int tendon = model_find_tendon(in->model, s->object);
  if (tendon < 0 || (!position && !sensor_is(s, "tendonvel"))) {
    return 0;
  }
  double rate, length = tendon_length(in, tendon, &rate);
  out[0] = position ? length : rate;
  return 1;
}
