// Muscles, after the manual of MuJoCo (Modeling, Muscles): a pull of
//
//     F = F0 (FL(L) FV(V) activation + FP(L)),   L = r0 + (length - l0) / L0,   V = rate / (L0
//     vmax),
//
// with L0 the optimal length, (l1 - l0) / (r1 - r0) for the length range l and the operating range
// r. A drive follows the tangent of this law over a step, so that its damping is implicit.
#include "instance.h"

#include <string.h>

// A value and its derivative.
typedef struct curve {
  double value, slope;
} curve;

// Parabola 1/2 x^2 with x from 0 at `zero` to 1 at `one`.
static curve half_square(double at, double zero, double one)
{
  double width = one - zero, x = (at - zero) / (fabs(width) > 1e-9 ? width : 1e-9);
  curve out = {0.5 * x * x, x / (fabs(width) > 1e-9 ? width : 1e-9)};
  return out;
}

static curve below_one(curve c)
{
  curve out = {1.0 - c.value, -c.slope};
  return out;
}

// Force of the active part by length: a bell of four parabolas between `least` and `most`.
static curve force_by_length(const model_muscle *m, double x)
{
  double a = 0.5 * (m->least + 1.0), b = 0.5 * (1.0 + m->most);
  if (x < m->least || x > m->most) {
    return (curve){0.0, 0.0};
  }
  if (x <= a) {
    return half_square(x, m->least, a);
  }
  if (x <= 1.0) {
    return below_one(half_square(x, 1.0, a));
  }
  return x <= b ? below_one(half_square(x, 1.0, b)) : half_square(x, m->most, b);
}

// By velocity: none at the fastest contraction, 1 at rest, `lengthening` beyond.
static curve force_by_velocity(const model_muscle *m, double v)
{
  double y = fmax(m->lengthening - 1.0, 1e-9);
  if (v <= -1.0) {
    return (curve){0.0, 0.0};
  }
  if (v <= 0.0) {
    return (curve){(v + 1.0) * (v + 1.0), 2.0 * (v + 1.0)};
  }
  if (v <= y) {
    return (curve){m->lengthening - (y - v) * (y - v) / y, 2.0 * (y - v) / y};
  }
  return (curve){m->lengthening, 0.0};
}

// Force of the passive part: a parabola to the middle of 1 and `most`, a line beyond.
static curve passive_force(const model_muscle *m, double x)
{
  double b = 0.5 * (1.0 + m->most), width = fmax(b - 1.0, 1e-9);
  if (x <= 1.0) {
    return (curve){0.0, 0.0};
  }
  if (x <= b) {
    return (curve){0.5 * m->passive * (x - 1.0) * (x - 1.0) / (width * width),
                   m->passive * (x - 1.0) / (width * width)};
  }
  return (curve){m->passive * (0.5 + (x - b) / width), m->passive / width};
}

actuator_line muscle_line(const tn_instance *in, int actuator, double length, double rate)
{
  const model_muscle *m = &in->model->actuators.items[actuator].muscle;
  const muscle_size *size = &in->muscles[actuator];
  double optimal = (size->range[1] - size->range[0]) / fmax(m->range[1] - m->range[0], 1e-9);
  if (!(optimal > 0.0) || size->force == 0.0) {
    return (actuator_line){0.0, 0.0, 0.0};
  }
  double x = m->range[0] + (length - size->range[0]) / optimal;
  double fastest = fmax(optimal * m->speed, 1e-9), u = actuator_input(in, actuator);
  curve fl = force_by_length(m, x), fv = force_by_velocity(m, rate / fastest);
  curve fp = passive_force(m, x);
  double pull = size->force * (fl.value * fv.value * u + fp.value);
  actuator_line line = {.stiffness =
                            fmax(0.0, size->force * (fl.slope * fv.value * u + fp.slope) / optimal),
                        .damping = fmax(0.0, size->force * fl.value * fv.slope * u / fastest)};
  line.constant = -pull + line.stiffness * length + line.damping * rate;
  return line;
}

// Quintic that goes from 0 to 1 between 0 and 1.
static double smooth_step(double x)
{
  x = fmin(fmax(x, 0.0), 1.0);
  return x * x * x * (x * (6.0 * x - 15.0) + 10.0);
}

static double activation_rate(const model_muscle *m, double control, double activation)
{
  double inner = 0.5 + 1.5 * fmin(fmax(activation, 0.0), 1.0);
  double rise = m->time[0] * inner, fall = m->time[1] / inner;
  double change = fmin(fmax(control, 0.0), 1.0) - activation;
  double time = change > 0.0 ? rise : fall;
  if (m->smoothing > 1e-9) {
    time = fall + (rise - fall) * smooth_step(change / m->smoothing + 0.5);
  }
  return change / fmax(time, 1e-4);
}

double muscle_activation(const model_muscle *m, double control, double activation, double dt)
{
  double fastest = fmax(fmin(m->time[0], m->time[1]), 1e-4);
  int steps = (int)fmin(1.0 + 20.0 * dt / fastest, 1000.0);
  for (int i = 0; i < steps; ++i) { // by the midpoint method
    double middle = activation + 0.5 * dt / steps * activation_rate(m, control, activation);
    activation += dt / steps * activation_rate(m, control, middle);
  }
  return activation;
}

// ---------------------------------------------------------------------------------------------
// Length ranges and peak forces that the file leaves open

static bool is_below(const tn_model *model, int body, int ancestor)
{
  while (body > ancestor) {
    body = model->bodies.items[body].parent;
  }
  return body == ancestor;
}

static int body_of_wrap(const tn_model *model, const model_wrap *w)
{
  return w->type == MODEL_WRAP_SITE    ? model->sites.items[w->target].body
         : w->type == MODEL_WRAP_GEOM  ? model->geoms.items[w->target].body
         : w->type == MODEL_WRAP_JOINT ? model->joints.items[w->target].body
                                       : 0;
}

// Whether a hinge or slide changes the length of an actuator's target.
static bool moves_target(const tn_model *model, const model_actuator *t, int joint)
{
  const model_joint *j = &model->joints.items[joint];
  if (j->type != MODEL_HINGE && j->type != MODEL_SLIDE) {
    return false;
  }
  if (t->transmission != MODEL_TO_TENDON) {
    return t->target == joint;
  }
  const model_tendon *tendon = &model->tendons.items[t->target];
  int below = 0, count = 0;
  for (int i = tendon->first_wrap; i < tendon->first_wrap + tendon->wrap_count; ++i) {
    const model_wrap *w = &model->wraps.items[i];
    if (!tendon->spatial && w->target == joint) {
      return true;
    }
    if (tendon->spatial && w->type != MODEL_WRAP_PULLEY) {
      below += is_below(model, body_of_wrap(model, w), j->body);
      count += 1;
    }
  }
  return below > 0 && below < count;
}

// The length of an actuator with a joint at `q`, others as in in->numbers, where `q` stays.
static double length_at(tn_instance *in, int actuator, int joint, double q)
{
  double length = 0.0, rate;
  in->numbers[in->model->joints.items[joint].qpos] = q;
  return tn_instance_set_positions(in, in->numbers) && actuator_length(in, actuator, &length, &rate)
             ? length
             : 0.0;
}

// The shortest (sign -1) or longest (1) length within the ranges of the joints, one joint after the
// other.
static double extreme_length(tn_instance *in, int actuator, double sign)
{
  enum { SWEEPS = 2, SAMPLES = 16 };
  const tn_model *model = in->model;
  double best = 0.0;
  model_reference(model, in->numbers);
  for (int i = 0; i < SWEEPS * model->joints.count; ++i) {
    int joint = i % model->joints.count;
    const model_joint *j = &model->joints.items[joint];
    if (!j->limited || !moves_target(model, &model->actuators.items[actuator], joint)) {
      continue;
    }
    double at = in->numbers[j->qpos];
    best = length_at(in, actuator, joint, at);
    for (int k = 0; k <= SAMPLES; ++k) {
      double q = j->range[0] + (j->range[1] - j->range[0]) * k / SAMPLES;
      double length = length_at(in, actuator, joint, q);
      if (sign * length > sign * best) {
        best = length;
        at = q;
      }
    }
    length_at(in, actuator, joint, at);
  }
  return best;
}

// Acceleration of the joints that a unit force of the actuator gives, at the reference position.
static double response_to(tn_instance *in, int actuator, size_t n, double *forces, double *at_rest)
{
  const tn_model *model = in->model;
  const double step =
      0.02; // positions are those of the world, in floats: differences of fourth order
  memset(forces, 0, n * sizeof *forces);
  memset(at_rest, 0, n * sizeof *at_rest);
  model_reference(model, in->numbers);
  for (int i = 0; i < model->joints.count; ++i) {
    if (moves_target(model, &model->actuators.items[actuator], i)) {
      double q = in->numbers[model->joints.items[i].qpos], change[2];
      for (int k = 0; k < 2; ++k) {
        double way = (k + 1) * step;
        change[k] = length_at(in, actuator, i, q + way) - length_at(in, actuator, i, q - way);
      }
      forces[in->first_velocity[i]] = (8.0 * change[0] - change[1]) / (12.0 * step);
      length_at(in, actuator, i, q);
    }
  }
  double sum = 0.0;
  if (!tn_instance_set_positions(in, in->numbers) ||
      !tn_articulation_forward_dynamics(in->articulation, at_rest, at_rest) ||
      !tn_articulation_forward_dynamics(in->articulation, forces, forces)) {
    return 0.0;
  }
  for (size_t i = 0; i < n; ++i) {
    sum += (forces[i] - at_rest[i]) * (forces[i] - at_rest[i]);
  }
  return sqrt(sum);
}

bool tune_muscles(tn_instance *in, double *scratch, size_t n)
{
  tn_model *model = in->model;
  for (int i = 0; i < model->actuators.count; ++i) {
    const model_actuator *t = &model->actuators.items[i];
    const model_muscle *m = &t->muscle;
    muscle_size *size = &in->muscles[i];
    if (!t->is_muscle || !t->supported) {
      continue;
    }
    memcpy(size->range, m->length_range, sizeof size->range);
    if (size->range[0] == size->range[1]) {
      size->range[0] = extreme_length(in, i, -1.0);
      size->range[1] = extreme_length(in, i, 1.0);
      model_note_add(model, TN_IMPORT_APPROXIMATED, t->at,
                     "muscle without lengthrange: found from the ranges of the joints");
    }
    double response = m->force < 0.0 ? response_to(in, i, n, scratch, scratch + n) : 1.0;
    size->force = m->force < 0.0 ? m->scale / fmax(response, 1e-9) : m->force;
    if (!(size->range[1] - size->range[0] > 1e-9) || !(response > 1e-9)) {
      size->force = 0.0;
      model_note_add(model, TN_IMPORT_IGNORED, t->at, "muscle whose length does not change");
    }
  }
  model_reference(model, in->numbers);
  return true;
}

bool start_muscles(tn_instance *in)
{
  bool ok = true;
  for (int i = 0; ok && i < in->model->actuators.count; ++i) {
    ok = !in->model->actuators.items[i].is_muscle || drive_apply(in, i);
  }
  return ok;
}
