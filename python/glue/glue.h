// What the Python package needs besides the public functions: messages as text, steps with robots
// and scenes in one call, rows of numbers for arrays, and batches of worlds on several threads.
//
// generate.py reads this header as it reads the public ones.
#ifndef TENON_PYTHON_GLUE_H
#define TENON_PYTHON_GLUE_H

#include <tenon/batch.h>
#include <tenon/import.h>
#include <tenon/tenon.h>

/// Reduced coordinates of a world, with the controls of a robot. The arrays belong to Python.
typedef struct tnp_robot {
  tn_articulation *articulation; ///< null: no body of it moves; destroyed with the world
  tn_instance *instance;         ///< null: made of bodies, not of a file; destroyed with the world
  double *target;                ///< controls for the next step
  double *applied;               ///< controls that the world has
  int actuator_count;            ///< numbers in both
  int position_count;            ///< numbers in q
  int velocity_count;            ///< numbers in q'
  void *next;                    ///< of the same world
} tnp_robot;

/// A world with its messages.
typedef struct tnp_world {
  tn_world *world;    ///< null once it is closed
  void *run;          ///< the scene that it belongs to; null: none
  void *file;         ///< the file of that scene; null: built in
  tnp_robot *robots;  ///< list
  int errors;         ///< refused calls since the last look
  int warnings;       ///< warnings since the last look
  char error[1200];   ///< the first of these
  char warning[1200]; ///< the first of these
  double *poses;      ///< of all bodies, refreshed by steps; null without tnp_watch()
  void *watched;      ///< what refreshing them takes
  bool stale;         ///< a call has changed bodies since the poses were read
} tnp_world;

/// Keeps a message if it is the first of its level.
void tnp_note(tnp_world *w, int level, const char *message);
/// Makes a world whose messages go to `w`; false with `error` set.
bool tnp_create(tnp_world *w, const tn_world_def *def);
/// Destroys what tnp_create() or a scene has made.
void tnp_close(tnp_world *w);
/// Reads a model whose messages go to `w`; null with `error` set.
tn_model *tnp_load(tnp_world *w, const char *path, const tn_import_def *def);
/// The same for a text.
tn_model *tnp_parse(tnp_world *w, const char *name, const char *text, size_t size,
                    const tn_import_def *def);
/// Steps of `dt` s, with the controls of robots; all bits of tn_step_status.
uint32_t tnp_step(tnp_world *w, float dt, int repeat);
/// Reads a robot: coordinates, their rates, and forces or torques along them; null: not wanted.
bool tnp_robot_read(tnp_world *w, const tnp_robot *robot, double *q, double *rate, double *force);
/// Makes steps refresh `poses`, rows of TN_POSE_NUMBERS of the bodies that there are now; stale at
/// first. They belong to Python. False without memory.
bool tnp_watch(tnp_world *w, double *poses);
/// Ends that.
void tnp_unwatch(tnp_world *w);
/// Reads the poses that are watched.
void tnp_read_poses(tnp_world *w);
/// Refreshes them behind a step with its bits of tn_step_status.
void tnp_poses_after_step(tnp_world *w, uint32_t status);
/// Rays with rows of three doubles and three floats.
void tnp_rays(tnp_world *w, const double *from, const float *way, int count, tn_query_filter filter,
              tn_hit *hits);
/// Copies the events of the last step; kind 0 contacts, 1 sleep, 2 soft bodies, 3 joints that
/// broke.
int tnp_events(tnp_world *w, int kind, void *events, int capacity);

/// A built-in scene.
typedef struct tnp_scene {
  const char *name;    ///< for tnp_scene_create()
  const char *title;   ///< one line
  const char *source;  ///< the figure or table it reproduces
  double seconds;      ///< usual time, s
  int substeps;        ///< usual substeps
  int parameter_count; ///< number of parameters
} tnp_scene;

/// A parameter of a scene.
typedef struct tnp_parameter {
  const char *name;    ///< key
  const char *meaning; ///< one line
  double lo;           ///< lowest value
  double hi;           ///< highest value
  double value;        ///< default
  bool whole;          ///< integers only
} tnp_parameter;

/// Number of built-in scenes.
int tnp_scene_count(void);
/// A scene by index.
tnp_scene tnp_scene_at(int index);
/// A parameter of a scene by index.
tnp_parameter tnp_parameter_at(int scene, int index);
/// Makes the world of a scene; a path that ends in .json is a scene file. False with `error` set.
bool tnp_scene_create(tnp_world *w, const char *name, const tn_world_def *def, bool own_substeps,
                      int count, const char *const *names, const double *values);
/// Usual time of the scene of a world, s; 0: none.
double tnp_scene_seconds(const tnp_world *w);
/// Advances a scene and observes it, up to `frames` frames or for about `milliseconds`; the number
/// done.
int tnp_scene_run(tnp_world *w, float dt, int frames, double milliseconds, uint32_t *status);
/// Metrics of the scene; how many there are.
int tnp_scene_metrics(const tnp_world *w, const char **names, double *values, int capacity);

/// Triangles of a shape in its frame, three floats a point; null arrays tell the counts.
bool tnp_shape_look(const tn_world *world, tn_shape_id shape, float *points, int *point_count,
                    int *triangles, int *triangle_count);

/// A batch with messages and robots for each of its worlds. The arrays belong to Python; rows of
/// all worlds follow each other.
typedef struct tnp_batch {
  tn_batch *batch;     ///< null once it is closed
  tnp_world *worlds;   ///< `count` of them
  tnp_robot *robots;   ///< `robot_count` for each world
  int count;           ///< number of worlds
  int robot_count;     ///< of each world
  int body_count;      ///< of each world
  float dt;            ///< s
  int repeat;          ///< steps in a row
  uint32_t *status;    ///< of each world, written
  const uint8_t *mask; ///< which worlds to restore or to write; null: all
  bool writes_bodies;  ///< poses and velocities are written, not coordinates
  double *poses;       ///< of all bodies
  double *velocities;  ///< of all bodies
  double *q;           ///< coordinates of the first robot; null: there is none
  double *rates;       ///< their rates; null with `q`
  double *starts;      ///< what robots carry at the start
  int start_count;     ///< numbers of that for each world
  bool on_card; ///< the worlds are on a card: only `batch` and `worlds`, for messages, are used
  size_t world_bytes; ///< memory of each world on a card; 0: measured
} tnp_batch;

/// Makes the worlds of a batch with `worlds`, `count` and so on; false with the error of world 0
/// set.
bool tnp_batch_create(tnp_batch *b, const tn_world *world, int threads, int lanes);
/// Destroys them and their robots.
void tnp_batch_close(tnp_batch *b);
/// Gives each world a copy of a robot of the original: number `slot` of `robot_count`. `from` has
/// the rows of controls of world 0.
bool tnp_batch_add_robot(tnp_batch *b, int slot, const tnp_robot *from,
                         const tn_articulation_def *def);
/// Forgets the messages of all worlds.
void tnp_batch_forget(tnp_batch *b);
/// Steps all worlds and reads their rows.
void tnp_batch_step(tnp_batch *b);
/// Reads the rows of all worlds.
void tnp_batch_read(tnp_batch *b);
/// Writes poses and velocities, or coordinates, of the masked worlds, and reads their rows.
void tnp_batch_write(tnp_batch *b);
/// Makes the present states those that a reset goes back to.
bool tnp_batch_keep(tnp_batch *b);
/// Restores the masked worlds and reads the rows of all.
void tnp_batch_reset(tnp_batch *b);
/// tn_batch_derivatives(); all worlds are put into the state of the first one.
bool tnp_batch_derivatives(tnp_batch *b, double change, const double *forces, double *a,
                           double *input);

/// An array in the memory of a card.
typedef struct tnp_card tnp_card;

/// Whether batches can be on a card here; the reason why not goes to `why`.
bool tnp_card_is_there(char *why, size_t size);
/// tn_cuda(); null: this build has no module for cards.
const tn_batch_device *tnp_cuda(void);
/// An array of so many bytes, for tnp_card_drop(); null with the reason in `why`.
tnp_card *tnp_card_new(size_t bytes, char *why, size_t size);
/// Ends one use of it; the last one frees it.
void tnp_card_drop(tnp_card *card);
/// Where it is, on the card.
void *tnp_card_address(const tnp_card *card);
/// Copies it to the host; false with the reason in `why`.
bool tnp_card_read(const tnp_card *card, void *to, char *why, size_t size);
/// Fills it from the host; false with the reason in `why`.
bool tnp_card_write(const tnp_card *card, const void *from, char *why, size_t size);
/// A DLManagedTensor of it, which uses it until it is deleted; null without memory.
void *tnp_card_tensor(tnp_card *card, int bits, const int64_t *shape, int dimensions);
/// Destructor of the capsule of such a tensor: deletes it if nobody has taken it.
void tnp_card_end_capsule(void *capsule);

#endif
