#include "trial.h"

#include "peer.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------------------------
// Solvers

enum { MOST_SOLVERS = 16 };

int solver_count(void)
{
  int count = OWN_SOLVERS + 2 * peer_count();
  return count < MOST_SOLVERS ? count : MOST_SOLVERS;
}

const solver *solver_at(int index)
{
  static solver list[MOST_SOLVERS] = {{"tenon", TN_METHOD_TENON, NULL, false},
                                      {"xpbd", TN_METHOD_XPBD, NULL, false},
                                      {"jacobi", TN_METHOD_JACOBI, NULL, false}};
  if (index >= OWN_SOLVERS && index < MOST_SOLVERS) {
    solver *s = &list[index];
    s->peer = peer_name((index - OWN_SOLVERS) / 2);
    s->iterates = (index - OWN_SOLVERS) % 2 == 1;
    snprintf(s->name, sizeof s->name, s->iterates ? "%.30s 1 step" : "%.30s", s->peer);
  }
  return &list[index];
}

const solver *solver_named(const char *name)
{
  for (int i = 0; i < solver_count(); ++i) {
    if (strcmp(solver_at(i)->name, name) == 0) {
      return solver_at(i);
    }
  }
  return NULL;
}

const char *solver_describe(int index)
{
  const char *name = solver_at(index)->peer;
  return name ? peer_describe(name) : tn_config();
}

// CPU time in ms, which other processes disturb little. One thread.
static double processor_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// ---------------------------------------------------------------------------------------------
// The simulation: the world, or a peer created from it

typedef struct stepper {
  scene_run *run;
  peer *peer;
} stepper;

static bool step(stepper *s, float dt)
{
  if (s->peer) {
    peer_step(s->peer, dt);
    return true;
  }
  uint32_t bad = TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY | TN_STEP_NON_FINITE;
  return !(scene_advance(s->run, dt) & bad);
}

// Writes the state of the peer to the world, to measure it there.
static bool show(stepper *s, float dt)
{
  if (s->peer) {
    if (!peer_show(s->peer, s->run->world)) {
      return false;
    }
    s->run->time += (double)dt;
    s->run->frames += 1;
    if (s->run->scene->drive) {
      s->run->scene->drive(s->run, dt); // the cradle's drive only observes
    }
  }
  scene_observe(s->run, dt);
  return isfinite(s->run->energy_worst);
}

static void put_settings(const scene *which, const char *words, scene_settings *settings)
{
  char name[SHEET_WORD];
  double value;
  int length;
  while (words && sscanf(words, " %127[^= ]=%lf%n", name, &value, &length) == 2) {
    scene_set(which, settings, name, value);
    words += length;
  }
}

// Failures are in the report.
static void say_nothing(tn_log_level level, const char *message, void *context)
{
  (void)level;
  (void)message;
  (void)context;
}

static scene_run *make_run(const trial *t)
{
  const scene *which = scene_find(t->scene);
  if (!which) {
    return NULL;
  }
  scene_settings settings = scene_defaults(which);
  put_settings(which, t->settings, &settings);
  tn_world_def def = tn_default_world_def();
  def.method = t->solver->method;
  def.substeps = t->substeps;
  def.iterations = t->iterations > 0 ? t->iterations : 1;
  def.sleeping = false; // sleeping bodies would hide the motion that the solver leaves
  def.clock = processor_ms;
  def.log = say_nothing;
  return scene_create(which, &settings, &def);
}

static bool make_stepper(const trial *t, stepper *s, finding *f)
{
  s->run = f->run = make_run(t);
  if (!s->run) {
    snprintf(f->why, sizeof f->why, "could not be created");
    return false;
  }
  if (t->solver->peer) {
    peer_settings settings = {.substeps = t->substeps, .iterations = t->iterations};
    if (t->solver->iterates) {
      settings = (peer_settings){.substeps = 1, .iterations = t->substeps};
    }
    s->peer = peer_create(t->solver->peer, s->run->world, settings, f->why, sizeof f->why);
    f->refused = !s->peer;
  }
  f->places = calloc((size_t)s->run->body_count + 1, sizeof *f->places);
  for (int i = 0; i < s->run->body_count && f->places; ++i) {
    f->places[i] = tn_body_position(s->run->world, s->run->bodies[i]);
  }
  return f->places && !f->refused;
}

// ---------------------------------------------------------------------------------------------
// The run

static double worst_joint(const scene_run *run)
{
  double worst = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    worst = fmax(worst, (double)tn_joint_get_state(run->world, run->joints[i]).elongation);
  }
  return worst;
}

static void read_metrics(finding *f)
{
  int count = scene_metrics(f->run, f->metrics, SCENE_MAX_METRICS);
  f->metric_count = count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
}

static double metric(const finding *f, const char *name)
{
  for (int i = 0; i < f->metric_count; ++i) {
    if (strcmp(f->metrics[i].name, name) == 0) {
      return f->metrics[i].value;
    }
  }
  return (double)NAN;
}

// The joint error is the maximum since the last reading.
static void add_reading(const trial *t, finding *f, double joint_error)
{
  read_metrics(f);
  f->curve[f->reading_count++] =
      (reading){.time = f->run->time,
                .energy_rel = metric(f, "energy_rel_final"),
                .joint_error_m = joint_error,
                .penetration_m = metric(f, "max_penetration_m"),
                .drift_m = metric(f, "top_drift_m"),
                .drop_m = metric(f, "top_drop_m"),
                .rms_speed = metric(f, "rms_speed_end"),
                .motion = f->motion,
                .kinetic = tn_world_energy(f->run->world).kinetic,
                .tracked = t->tracked ? metric(f, t->tracked) : (double)NAN};
}

// Measured from positions: a method may move bodies whose velocity is zero.
static void note_motion(finding *f, double dt)
{
  double squares = 0.0;
  for (int i = 0; i < f->run->body_count; ++i) {
    tn_pos now = tn_body_position(f->run->world, f->run->bodies[i]);
    double way = (double)tn_length(tn_between_points(f->places[i], now));
    squares += way * way;
    f->places[i] = now;
  }
  f->motion = sqrt(squares / (double)(f->run->body_count > 0 ? f->run->body_count : 1)) / dt;
}

// Sums of the quantities reported as means.
static void count_frame(const trial *t, finding *f)
{
  f->solve_ms += tn_world_profile(f->run->world).solve;
  f->contacts += (double)tn_world_counters(f->run->world).points;
  f->gain = fmax(f->gain, scene_energy_error(f->run));
  f->tracked += t->tracked ? scene_metric_value(f->run, t->tracked) : 0.0;
}

static bool is_reading_due(const trial *t, const finding *f, int frame)
{
  long next = (long)(frame + 1) * t->readings / f->frames;
  return f->curve && frame >= 0 && next > (long)frame * t->readings / f->frames;
}

static bool step_all(study *s, const trial *t, stepper *what, finding *f)
{
  float dt = (float)(t->dt > 0.0 ? t->dt : 1.0 / 60.0);
  double worst = 0.0;
  for (int i = -t->lead; i < f->frames && !interrupt_came(); ++i) {
    double start = processor_ms();
    bool ok = step(what, dt);
    double ms = processor_ms() - start;
    if (!ok || !show(what, dt)) {
      snprintf(f->why, sizeof f->why, "not finite after %.2f s", what->run->time);
      return false;
    }
    note_motion(f, (double)dt);
    if (i >= 0) {
      f->times[i] = ms;
      count_frame(t, f);
    }
    worst = f->curve ? fmax(worst, worst_joint(what->run)) : 0.0;
    if (is_reading_due(t, f, i)) {
      add_reading(t, f, worst);
      worst = 0.0;
    }
    study_tick(s);
  }
  return !interrupt_came();
}

static void complete(finding *f)
{
  read_metrics(f);
  double count = (double)f->frames;
  f->solve_ms /= count;
  f->contacts /= count;
  f->tracked /= count;
  double *sorted = malloc((size_t)f->frames * sizeof *sorted);
  if (sorted) {
    memcpy(sorted, f->times, (size_t)f->frames * sizeof *sorted);
    timing_sort(sorted, f->frames);
    f->ms = f->ok ? timing_quantile(sorted, f->frames, 0.5) : (double)NAN;
  }
  free(sorted);
}

finding trial_run(study *s, const trial *t)
{
  finding f = {.ms = (double)NAN};
  f.frames = (int)(t->seconds / (t->dt > 0.0 ? t->dt : 1.0 / 60.0) + 0.5);
  f.frames = f.frames > 0 ? f.frames : 1;
  f.times = calloc((size_t)f.frames, sizeof *f.times);
  f.curve = t->readings > 0 ? calloc((size_t)t->readings + 1, sizeof *f.curve) : NULL;
  stepper what = {NULL, NULL};
  if (!f.times || (t->readings > 0 && !f.curve)) {
    s->failed = true;
  } else if (make_stepper(t, &what, &f)) {
    if (f.curve) {
      add_reading(t, &f, worst_joint(f.run));
    }
    f.ok = step_all(s, t, &what, &f);
    complete(&f);
  }
  peer_destroy(what.peer);
  return f;
}

void finding_free(finding *f)
{
  scene_destroy(f->run);
  free(f->curve);
  free(f->times);
  free(f->places);
  memset(f, 0, sizeof *f);
}

double finding_metric(const finding *f, const char *name)
{
  return f->ok ? metric(f, name) : (double)NAN;
}
