// Scenes: every set-up that the tests, the benchmarks and the command simulate, once.
//
// A scene fills a world from a handful of named parameters and decides its gravity; the caller
// decides how the world is solved. A run is one scene being simulated: it remembers the bodies and
// joints in the order they were made, and watches energy, momentum, speeds and joint errors.
#ifndef TENON_SCENES_H
#define TENON_SCENES_H

#include <tenon/tenon.h>

#define SCENE_MAX_PARAMETERS 10
#define SCENE_MAX_METRICS 32
#define SCENE_MEMORY 8

typedef struct scene_run scene_run;
typedef struct scene_look scene_look; // look.h
typedef struct scene_sheet scene_sheet;
typedef struct scene_record scene_record; // record.h

typedef struct scene_parameter {
  const char *name; // null ends the list
  double lo, hi, value;
  bool whole; // only whole numbers make sense
  const char *meaning;
} scene_parameter;

// Where a scene comes from; scene_group_title names it.
typedef enum scene_group {
  SCENE_DETAILED,       // Mueller et al. 2020
  SCENE_JOINTS,         // Mueller's text on joints
  SCENE_MOMENTUM,       // Dahl and Bargteil 2019
  SCENE_POSITION_BASED, // Deul et al. 2014
  SCENE_SEABRA,         // Seabra et al. 2022
  SCENE_MODELS,
  SCENE_LAWS, // small set-ups whose outcome is known in closed form
  SCENE_GROUP_COUNT
} scene_group;

// Where to look from and at, for the default parameters; y is up.
typedef struct scene_camera {
  tn_vec3 eye, target;
} scene_camera;

typedef struct scene {
  const char *name, *title;
  const char *source; // the figure or table it reproduces
  scene_group group;
  scene_camera camera;
  double seconds;  // worth watching
  int substeps;    // those of the source, or enough to look right
  bool conserves;  // nothing takes energy out or puts it in
  bool tenon_only; // the other methods do not hold it
  scene_parameter parameters[SCENE_MAX_PARAMETERS];
  void (*build)(scene_run *run);
  void (*drive)(scene_run *run, float dt);                   // before every step; may be null
  void (*measure)(const scene_run *run, scene_sheet *sheet); // the scene's own; may be null
  bool (*look)(scene_look *look); // of each body in its frame, where shapes do not say it; or null
} scene;

// ---------------------------------------------------------------------------------------------
// Which scenes there are

const scene *const *scene_list(int *count);
const scene *scene_find(const char *name); // null if there is none
const char *scene_group_title(scene_group group);

// ---------------------------------------------------------------------------------------------
// Parameters

typedef struct scene_settings {
  double value[SCENE_MAX_PARAMETERS]; // in the order of the scene's parameters
} scene_settings;

typedef enum scene_set_result {
  SCENE_SET,
  SCENE_NO_SUCH_PARAMETER,
  SCENE_OUT_OF_RANGE, // or no whole number where one is needed
} scene_set_result;

scene_settings scene_defaults(const scene *which);
scene_set_result scene_set(const scene *which, scene_settings *settings, const char *name,
                           double value);
// Null if there is none of that name.
const scene_parameter *scene_parameter_find(const scene *which, const char *name);

// ---------------------------------------------------------------------------------------------
// Running one

struct scene_run {
  const scene *scene;
  tn_world *world;
  scene_settings settings;
  tn_body_id *bodies; // in the order they were made
  tn_joint_id *joints;
  int body_count, joint_count;
  double time; // s
  int frames;
  double memory[SCENE_MEMORY]; // for the scene's own use
  uint32_t status;             // every tn_step_status bit that came up
  bool failed;                 // something could not be made

  // The energy that errors are measured against: the most that the bodies could lose by falling,
  // unless the scene says otherwise.
  double energy_scale;

  // What scene_observe has seen.
  double energy_start, energy_worst; // J, the worst as a difference
  double momentum_start[3];          // kg m/s
  double impulse[3], impulse_sum;    // of all outer forces since the start, and of their sizes
  double fastest;                    // m/s
  double joint_error_max, joint_error_sum; // m, of rigid joints
  double joint_angle_error_max;            // rad
  long joint_error_count;
  double penetration_max; // m

  // Kept by the helpers that build.
  struct scene_joint_role *roles;
  scene_record *record; // of what was made; null: none is kept
  int body_capacity, joint_capacity;
  double weighing_mass; // kg that gravity pulls at
  bool has_drag;        // something is damped or pinned, so momentum is not kept
};

// Gravity of `def` is the scene's business; null settings are the defaults. Null when something
// could not be made, with the reason told to the world's log.
scene_run *scene_create(const scene *which, const scene_settings *settings,
                        const tn_world_def *def);
void scene_destroy(scene_run *run);

// Drive, step, observe; returns tn_step_status bits.
uint32_t scene_step(scene_run *run, float dt);
// The first two alone, for timing; the running metrics then cover only what was observed.
uint32_t scene_advance(scene_run *run, float dt);
void scene_observe(scene_run *run, float dt);

// The exact state of a run as bytes, for the same version and machine type. Save returns the size
// needed and writes only if `capacity` suffices. Load makes the scene again with the parameters it
// had; null if the bytes are no run, or `def` has no room for it.
size_t scene_save(const scene_run *run, void *buffer, size_t capacity);
scene_run *scene_load(const void *buffer, size_t size, const tn_world_def *def);
// The same of a scene that is not built in.
scene_run *scene_load_as(const scene *which, const void *buffer, size_t size,
                         const tn_world_def *def);
// What was saved was called so; false if the bytes are no run.
bool scene_saved_name(const void *buffer, size_t size, char name[32]);
// What was saved, and its parameters; null if the bytes are no run.
const scene *scene_saved(const void *buffer, size_t size, scene_settings *settings);

// Half extents of the box with the body's mass and moments, to draw bodies that have no shapes.
tn_vec3 scene_body_box(const scene_run *run, int body);

// The total energy now less that at the start, relative to the scene's scale.
double scene_energy_error(const scene_run *run);

// ---------------------------------------------------------------------------------------------
// Metrics
//
// All scenes: energy_rel_final, energy_rel_max (signed, relative to the scene's scale),
// momentum_rel (change of linear momentum that no outer force explains, relative to the impulse of
// those forces or to all mass at top speed; not with damped bodies or pinned particles),
// max_joint_error_m, mean_joint_error_m, max_joint_error_rad (rigid joints, all frames),
// max_speed_run, max_speed_end, rms_speed_end (m/s, of bodies and particles), bodies, joints,
// particles; with shapes also contacts, contact_points,
// max_penetration_m, mean_penetration_m (now, the mean over points that penetrate) and
// max_penetration_run (all frames). Further ones are the scene's own.

typedef struct scene_metric {
  const char *name;
  double value;
} scene_metric;

// Writes up to `capacity` of them; returns how many there are.
int scene_metrics(const scene_run *run, scene_metric *list, int capacity);
// One of them; NaN if there is none of that name.
double scene_metric_value(const scene_run *run, const char *name);

#endif
