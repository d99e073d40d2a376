// Simulation of a scene and its metrics.
#include "build.h"
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scene_sheet {
  scene_metric *list;
  int capacity, count;
};

// ---------------------------------------------------------------------------------------------
// Creation and destruction

static scene_run *create(const scene *which, const scene_settings *settings,
                         const tn_world_def *def, scene_record *record)
{
  scene_run *run = calloc(1, sizeof *run);
  if (!run) {
    return NULL;
  }
  run->scene = which;
  run->settings = settings ? *settings : scene_defaults(which);
  run->record = record;
  run->world = tn_world_create(def);
  if (run->world) {
    which->build(run);
  }
  if (!run->world || run->failed) {
    scene_destroy(run);
    return NULL;
  }
  tn_momentum momentum = tn_world_momentum(run->world, tn_p3(0.0, 0.0, 0.0));
  memcpy(run->momentum_start, momentum.linear, sizeof run->momentum_start);
  run->energy_start = tn_world_energy(run->world).total;
  return run;
}

scene_run *scene_create(const scene *which, const scene_settings *settings, const tn_world_def *def)
{
  return create(which, settings, def, NULL);
}

scene_run *scene_create_recorded(const scene *which, const scene_settings *settings,
                                 const tn_world_def *def, scene_record *record)
{
  return create(which, settings, def, record);
}

void scene_destroy(scene_run *run)
{
  if (run) {
    tn_world_destroy(run->world);
    free(run->bodies);
    free(run->joints);
    free(run->couplings);
    free(run->roles);
    free(run);
  }
}

void scene_count_step(scene_run *run, float dt, uint32_t status)
{
  run->time += (double)dt;
  run->frames += 1;
  run->status |= status;
}

uint32_t scene_advance(scene_run *run, float dt)
{
  if (run->scene->drive) {
    run->scene->drive(run, dt);
  }
  uint32_t status = tn_world_step(run->world, dt);
  scene_count_step(run, dt, status);
  return status;
}

uint32_t scene_step(scene_run *run, float dt)
{
  uint32_t status = scene_advance(run, dt);
  scene_observe(run, dt);
  return status;
}

// For a box with half extents a: I_y + I_z - I_x = 2/3 m a_x^2.
static float half_extent(float mass, float beside, float other, float along)
{
  return sqrtf(fmaxf(0.0f, 1.5f * (beside + other - along) / mass));
}

tn_vec3 scene_body_box(const scene_run *run, int body)
{
  tn_mass m = tn_body_mass(run->world, run->bodies[body]);
  if (!(m.mass > 0.0f)) {
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
  return tn_v3(half_extent(m.mass, m.inertia.yy, m.inertia.zz, m.inertia.xx),
               half_extent(m.mass, m.inertia.xx, m.inertia.zz, m.inertia.yy),
               half_extent(m.mass, m.inertia.xx, m.inertia.yy, m.inertia.zz));
}

// ---------------------------------------------------------------------------------------------
// Observation

static double energy_change(const scene_run *run)
{
  return tn_world_energy(run->world).total - run->energy_start;
}

void scene_count_impulse(scene_run *run, tn_vec3 force, double seconds)
{
  double impulse[3] = {seconds * (double)force.x, seconds * (double)force.y,
                       seconds * (double)force.z};
  double square = 0.0;
  for (int i = 0; i < 3; ++i) {
    run->impulse[i] += impulse[i];
    square += impulse[i] * impulse[i];
  }
  run->impulse_sum += sqrt(square);
}

static void watch_joints(scene_run *run, double dt)
{
  run->joint_gap = run->joint_angle = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    tn_joint_state state = tn_joint_get_state(run->world, run->joints[i]);
    run->joint_gap = fmax(run->joint_gap, (double)state.elongation);
    run->joint_angle = fmax(run->joint_angle, (double)state.angular_error);
    const scene_joint_role *role = &run->roles[i];
    if (role->rigid) {
      run->joint_error_max = fmax(run->joint_error_max, (double)state.elongation);
      run->joint_error_sum += (double)state.elongation;
      run->joint_error_count += 1;
    }
    if (role->angular_rigid) {
      run->joint_angle_error_max = fmax(run->joint_angle_error_max, (double)state.angular_error);
    }
    // A joint to a body that is not dynamic changes the total momentum.
    scene_count_impulse(run, state.force, dt * (double)role->pull);
  }
}

// All current contacts, to be freed; null with count 0 if out of memory.
static tn_contact *read_contacts(const scene_run *run, int *count)
{
  *count = tn_world_contacts(run->world, NULL, 0);
  tn_contact *contacts = malloc(((size_t)*count + 1) * sizeof *contacts);
  *count = contacts ? tn_world_contacts(run->world, contacts, *count) : 0;
  return contacts;
}

// Sign of the contact's force on all moving bodies together: 1, -1, or 0 for internal forces.
static int pull_of(const scene_run *run, const tn_contact *contact)
{
  return scene_moves(run, contact->body_b) - scene_moves(run, contact->body_a);
}

static void watch_contacts(scene_run *run, double dt)
{
  int count;
  tn_contact *contacts = read_contacts(run, &count);
  for (int i = 0; i < count; ++i) {
    const tn_contact *contact = &contacts[i];
    tn_vec3 force = contact->friction_force;
    for (int k = 0; k < contact->count; ++k) {
      const tn_contact_point *point = &contact->points[k];
      force = tn_add(force, tn_scale(point->normal_force, contact->normal));
      run->penetration_max = fmax(run->penetration_max, -(double)point->gap);
    }
    scene_count_impulse(run, force, dt * pull_of(run, contact));
  }
  free(contacts);
}

// External forces come from bodies that are not dynamic.
static void watch_touches(scene_run *run, tn_soft_id soft, double dt)
{
  int count = tn_soft_contacts(run->world, soft, NULL, 0);
  tn_soft_contact *touches = malloc(((size_t)count + 1) * sizeof *touches);
  count = touches ? tn_soft_contacts(run->world, soft, touches, count) : 0;
  for (int i = 0; i < count; ++i) {
    bool outside = TN_IS_NULL(touches[i].other_soft) && !scene_moves(run, touches[i].body);
    scene_count_impulse(run, touches[i].force, outside ? dt : 0.0);
  }
  free(touches);
}

// All soft bodies, to be freed; null with count 0 if out of memory.
static tn_soft_id *read_softs(const scene_run *run, int *count)
{
  *count = tn_world_softs(run->world, NULL, 0);
  tn_soft_id *softs = malloc(((size_t)*count + 1) * sizeof *softs);
  *count = softs ? tn_world_softs(run->world, softs, *count) : 0;
  return softs;
}

static void watch_softs(scene_run *run, double dt)
{
  int count;
  tn_soft_id *softs = read_softs(run, &count);
  for (int i = 0; i < count; ++i) {
    watch_touches(run, softs[i], dt);
  }
  free(softs);
}

// Speeds of bodies and particles.
typedef struct speeds {
  double fastest, squares; // m/s; sum of squares, (m/s)^2
  int count;
} speeds;

static void add_speed(speeds *s, tn_vec3 velocity)
{
  double v = (double)tn_length(velocity);
  s->fastest = fmax(s->fastest, v);
  s->squares += v * v;
  s->count += 1;
}

static void add_particle_speeds(const scene_run *run, tn_soft_id soft, speeds *s)
{
  int count = tn_soft_velocities(run->world, soft, NULL, 0);
  tn_vec3 *v = malloc(((size_t)count + 1) * sizeof *v);
  count = v ? tn_soft_velocities(run->world, soft, v, count) : 0;
  for (int i = 0; i < count; ++i) {
    add_speed(s, v[i]);
  }
  free(v);
}

static speeds read_speeds(const scene_run *run)
{
  speeds s = {0.0, 0.0, 0};
  for (int i = 0; i < run->body_count; ++i) {
    add_speed(&s, tn_body_velocity(run->world, run->bodies[i]));
  }
  int count;
  tn_soft_id *softs = read_softs(run, &count);
  for (int i = 0; i < count; ++i) {
    add_particle_speeds(run, softs[i], &s);
  }
  free(softs);
  return s;
}

void scene_observe(scene_run *run, float dt)
{
  double change = energy_change(run);
  if (!(fabs(change) <= fabs(run->energy_worst))) {
    run->energy_worst = change; // also if it is NaN
  }
  scene_count_impulse(run, tn_world_gravity(run->world), run->weighing_mass * (double)dt);
  watch_joints(run, (double)dt);
  watch_contacts(run, (double)dt);
  watch_softs(run, (double)dt);
  run->fastest = fmax(run->fastest, read_speeds(run).fastest);
}

// ---------------------------------------------------------------------------------------------
// Metrics

void scene_note(scene_sheet *sheet, const char *name, double value)
{
  if (sheet->count < sheet->capacity) {
    sheet->list[sheet->count].name = name;
    sheet->list[sheet->count].value = value;
  }
  sheet->count += 1;
}

static double relative_to(double value, double scale)
{
  return scale > 0.0 ? value / scale : 0.0;
}

double scene_energy_error(const scene_run *run)
{
  return relative_to(energy_change(run), run->energy_scale);
}

static double momentum_error(const scene_run *run)
{
  tn_momentum now = tn_world_momentum(run->world, tn_p3(0.0, 0.0, 0.0));
  double square = 0.0;
  for (int i = 0; i < 3; ++i) {
    double d = now.linear[i] - run->momentum_start[i] - run->impulse[i];
    square += d * d;
  }
  return relative_to(sqrt(square), fmax(now.mass * run->fastest, run->impulse_sum));
}

static void note_speeds(const scene_run *run, scene_sheet *sheet)
{
  speeds now = read_speeds(run);
  scene_note(sheet, "max_speed_run", run->fastest);
  scene_note(sheet, "max_speed_end", now.fastest);
  scene_note(sheet, "rms_speed_end", sqrt(relative_to(now.squares, (double)now.count)));
}

static void note_contacts(const scene_run *run, scene_sheet *sheet)
{
  int count;
  tn_contact *contacts = read_contacts(run, &count);
  double deepest = 0.0;
  double sum = 0.0;
  int points = 0;
  int deep = 0;
  for (int i = 0; i < count; ++i) {
    points += contacts[i].count;
    for (int k = 0; k < contacts[i].count; ++k) {
      double depth = fmax(0.0, -(double)contacts[i].points[k].gap);
      deepest = fmax(deepest, depth);
      sum += depth;
      deep += depth > 0.0;
    }
  }
  free(contacts);
  scene_note(sheet, "contacts", (double)count);
  scene_note(sheet, "contact_points", (double)points);
  scene_note(sheet, "max_penetration_m", deepest);
  scene_note(sheet, "mean_penetration_m", relative_to(sum, (double)deep));
  scene_note(sheet, "max_penetration_run", run->penetration_max);
}

static void note_all(const scene_run *run, scene_sheet *sheet)
{
  tn_counters counters = tn_world_counters(run->world);
  scene_note(sheet, "bodies", (double)counters.bodies);
  scene_note(sheet, "joints", (double)counters.joints);
  scene_note(sheet, "particles", (double)counters.particles);
  scene_note(sheet, "energy_rel_final", scene_energy_error(run));
  scene_note(sheet, "energy_rel_max", relative_to(run->energy_worst, run->energy_scale));
  if (!run->has_drag) {
    scene_note(sheet, "momentum_rel", momentum_error(run));
  }
  scene_note(sheet, "max_joint_error_m", run->joint_error_max);
  scene_note(sheet, "mean_joint_error_m",
             relative_to(run->joint_error_sum, (double)run->joint_error_count));
  scene_note(sheet, "max_joint_error_rad", run->joint_angle_error_max);
  note_speeds(run, sheet);
  if (counters.shapes > 0) {
    note_contacts(run, sheet);
  }
  if (run->scene->measure) {
    run->scene->measure(run, sheet);
  }
}

int scene_metrics(const scene_run *run, scene_metric *list, int capacity)
{
  scene_sheet sheet = {list, capacity, 0};
  note_all(run, &sheet);
  return sheet.count;
}

double scene_metric_value(const scene_run *run, const char *name)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  for (int i = 0; i < count && i < SCENE_MAX_METRICS; ++i) {
    if (strcmp(list[i].name, name) == 0) {
      return list[i].value;
    }
  }
  return (double)NAN;
}
