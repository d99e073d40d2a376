// Scenes: all set-ups shared by the tests, the benchmarks and the command.
//
// A scene fills a world from a few named parameters and sets its gravity; the caller chooses the
// solver settings. A run is a scene during simulation: it lists the bodies and joints in the order
// of creation, and measures energy, momentum, speeds and joint errors.
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
  bool whole; // integers only
  const char *meaning;
} scene_parameter;

// Origin of a scene; scene_group_title() returns its title.
typedef enum scene_group {
  SCENE_DETAILED,       // Mueller et al. 2020
  SCENE_JOINTS,         // Mueller's tutorial on joints
  SCENE_MOMENTUM,       // Dahl and Bargteil 2019
  SCENE_POSITION_BASED, // Deul et al. 2014
  SCENE_SEABRA,         // Seabra et al. 2022
  SCENE_MODELS,
  SCENE_LAWS, // small set-ups with closed-form results
  SCENE_GROUP_COUNT
} scene_group;

// Camera for the default parameters; y is up.
typedef struct scene_camera {
  tn_vec3 eye, target;
} scene_camera;

typedef struct scene {
  const char *name, *title;
  const char *source; // the figure or table it reproduces
  scene_group group;
  scene_camera camera;
  double seconds;  // default simulated time, s
  int substeps;    // those of the source, or enough for a plausible result
  bool conserves;  // energy is conserved
  bool tenon_only; // fails with the other methods
  scene_parameter parameters[SCENE_MAX_PARAMETERS];
  void (*build)(scene_run *run);
  void (*drive)(scene_run *run, float dt); // before every step; may be null
  void (*measure)(const scene_run *run,
                  scene_sheet *sheet); // adds the scene's own metrics; may be null
  bool (*look)(scene_look *look); // mesh of each body in its frame, instead of its shapes; or null
} scene;

// ---------------------------------------------------------------------------------------------
// List of scenes

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
  SCENE_OUT_OF_RANGE, // or not an integer where one is required
} scene_set_result;

scene_settings scene_defaults(const scene *which);
scene_set_result scene_set(const scene *which, scene_settings *settings, const char *name,
                           double value);
// Returns null if there is none of that name.
const scene_parameter *scene_parameter_find(const scene *which, const char *name);

// ---------------------------------------------------------------------------------------------
// Runs

struct scene_run {
  const scene *scene;
  tn_world *world;
  scene_settings settings;
  tn_body_id *bodies; // in the order of creation
  tn_joint_id *joints;
  tn_coupling_id *couplings;
  int body_count, joint_count, coupling_count;
  double time; // s
  int frames;
  double memory[SCENE_MEMORY]; // private state of the scene
  uint32_t status;             // all tn_step_status bits returned so far
  bool failed;                 // an object could not be created

  // Energy that errors are relative to: the potential energy that the bodies can lose, unless the
  // scene sets another value.
  double energy_scale;

  // Results of scene_observe.
  double energy_start, energy_worst; // J; the worst is a difference
  double momentum_start[3];          // kg m/s
  double impulse[3], impulse_sum; // of all external forces since the start, and of their magnitudes
  double fastest;                 // m/s
  double joint_error_max, joint_error_sum; // m, of rigid joints
  double joint_angle_error_max;            // rad
  long joint_error_count;
  double joint_gap, joint_angle; // m, rad; the largest in a joint when last observed
  double penetration_max;        // m

  // Set by the functions of build.h.
  struct scene_joint_role *roles;
  scene_record *record; // definitions of bodies; null: not recorded
  int body_capacity, joint_capacity, coupling_capacity;
  double weighing_mass; // kg, mass under gravity
  bool has_drag;        // something is damped or pinned, so momentum is not conserved
};

// The scene overrides the gravity of `def`; null settings are the defaults. Returns null if an
// object could not be created; the reason goes to the world's log.
scene_run *scene_create(const scene *which, const scene_settings *settings,
                        const tn_world_def *def);
void scene_destroy(scene_run *run);

// Drive, step, observe; returns tn_step_status bits.
uint32_t scene_step(scene_run *run, float dt);
// The first two only, for timing; the metrics over all frames then cover only observed frames.
uint32_t scene_advance(scene_run *run, float dt);
void scene_observe(scene_run *run, float dt);
// Counts a step that was made elsewhere, whose result has been put into the world.
void scene_count_step(scene_run *run, float dt, uint32_t status);

// The exact state of a run as bytes, for the same version and machine type. Save returns the
// required size and writes only if `capacity` suffices. Load creates the scene again with its
// parameters; null if the bytes are not a run, or the world of `def` cannot hold it.
size_t scene_save(const scene_run *run, void *buffer, size_t capacity);
scene_run *scene_load(const void *buffer, size_t size, const tn_world_def *def);
// The same for a scene that is not built in.
scene_run *scene_load_as(const scene *which, const void *buffer, size_t size,
                         const tn_world_def *def);
// Name of the saved scene; false if the bytes are not a run.
bool scene_saved_name(const void *buffer, size_t size, char name[32]);
// The saved scene and its parameters; null if the bytes are not a run.
const scene *scene_saved(const void *buffer, size_t size, scene_settings *settings);

// Half extents of the box with the body's mass and moments of inertia, to draw bodies without
// shapes.
tn_vec3 scene_body_box(const scene_run *run, int body);

// Change of the total energy since the start, relative to the energy scale.
double scene_energy_error(const scene_run *run);

// ---------------------------------------------------------------------------------------------
// Metrics
//
// All scenes: energy_rel_final, energy_rel_max (signed, relative to the energy scale),
// momentum_rel (change of linear momentum not explained by external forces, relative to the impulse
// of those forces or to all mass at the largest speed; not with damped bodies or pinned particles),
// max_joint_error_m, mean_joint_error_m, max_joint_error_rad (rigid joints, all frames),
// max_speed_run, max_speed_end, rms_speed_end (m/s, of bodies and particles), bodies, joints,
// particles; with shapes also contacts, contact_points,
// max_penetration_m, mean_penetration_m (now, the mean over points that penetrate) and
// max_penetration_run (all frames). Scenes add their own metrics.

typedef struct scene_metric {
  const char *name;
  double value;
} scene_metric;

// Writes up to `capacity` of them; returns their number.
int scene_metrics(const scene_run *run, scene_metric *list, int capacity);
// One of them; NaN if there is none of that name.
double scene_metric_value(const scene_run *run, const char *name);

#endif
