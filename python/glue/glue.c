#include "glue.h"

#include "look.h"
#include "scene_file.h"
#include "timing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Worlds and their messages

static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;

// Keeps the first message of each level. Queries may call it from several threads.
void tnp_note(tnp_world *w, int level, const char *message)
{
  pthread_mutex_lock(&message_lock);
  if (level == (int)TN_LOG_ERROR && w->errors++ == 0) {
    snprintf(w->error, sizeof w->error, "%s", message);
  } else if (level == (int)TN_LOG_WARNING && w->warnings++ == 0) {
    snprintf(w->warning, sizeof w->warning, "%s", message);
  }
  pthread_mutex_unlock(&message_lock);
}

static void keep_message(tn_log_level level, const char *message, void *context)
{
  tnp_note(context, (int)level, message);
}

static void say(tnp_world *w, const char *message)
{
  tnp_note(w, TN_LOG_ERROR, message);
}

static tn_world_def with_log(tnp_world *w, const tn_world_def *def)
{
  tn_world_def own = *def;
  own.log = keep_message;
  own.log_context = w;
  own.log_repeats = true;
  return own;
}

bool tnp_create(tnp_world *w, const tn_world_def *def)
{
  tn_world_def own = with_log(w, def);
  w->world = tn_world_create(&own);
  return w->world != NULL;
}

void tnp_close(tnp_world *w)
{
  tnp_unwatch(w);
  for (tnp_robot *r = w->robots; r; r = r->next) {
    tn_articulation_destroy(r->articulation);
    tn_instance_destroy(r->instance);
    r->articulation = NULL;
    r->instance = NULL;
  }
  w->robots = NULL;
  if (w->run) {
    scene_destroy(w->run);
  } else {
    tn_world_destroy(w->world);
  }
  scene_file_free(w->file);
  w->run = w->file = NULL;
  w->world = NULL;
}

static tn_import_def import_def(tnp_world *w, const tn_import_def *def)
{
  tn_import_def own = *def;
  own.log = keep_message;
  own.log_context = w;
  return own;
}

tn_model *tnp_load(tnp_world *w, const char *path, const tn_import_def *def)
{
  tn_import_def own = import_def(w, def);
  return tn_model_load(path, &own);
}

tn_model *tnp_parse(tnp_world *w, const char *name, const char *text, size_t size,
                    const tn_import_def *def)
{
  tn_import_def own = import_def(w, def);
  return tn_model_parse(name, text, size, &own);
}

// ---------------------------------------------------------------------------------------------
// Steps

static bool apply_controls(tnp_world *w, const tnp_robot *r)
{
  for (int i = 0; i < r->actuator_count; ++i) {
    if (r->target[i] == r->applied[i]) {
      continue;
    }
    if (!tn_instance_set_control(r->instance, i, r->target[i])) {
      char message[96];
      snprintf(message, sizeof message, "target %d of a robot is refused: %g", i, r->target[i]);
      say(w, message);
      return false;
    }
    r->applied[i] = r->target[i];
  }
  return true;
}

uint32_t tnp_step(tnp_world *w, float dt, int repeat)
{
  for (const tnp_robot *r = w->robots; r; r = r->next) {
    if (!apply_controls(w, r)) {
      return TN_STEP_REJECTED;
    }
  }
  uint32_t status = 0;
  for (int i = 0; i < repeat; ++i) {
    for (const tnp_robot *r = w->robots; r; r = r->next) {
      tn_instance_advance(r->instance, dt); // a bad dt is refused by the step
    }
    uint32_t one = w->run ? scene_advance(w->run, dt) : tn_world_step(w->world, dt);
    tnp_poses_after_step(w, one);
    status |= one;
  }
  return status;
}

void tnp_rays(tnp_world *w, const double *from, const float *way, int count, tn_query_filter filter,
              tn_hit *hits)
{
  tn_world_rays(w->world, (const tn_pos *)(const void *)from, (const tn_vec3 *)(const void *)way,
                count, filter, hits);
}

int tnp_events(tnp_world *w, int kind, void *events, int capacity)
{
  int count = 0;
  size_t size = 0;
  const void *list = NULL;
  if (kind == 0) {
    list = tn_world_contact_events(w->world, &count);
    size = sizeof(tn_contact_event);
  } else if (kind == 1) {
    list = tn_world_sleep_events(w->world, &count);
    size = sizeof(tn_sleep_event);
  } else if (kind == 2) {
    list = tn_world_soft_events(w->world, &count);
    size = sizeof(tn_soft_event);
  } else if (kind == 3) {
    list = tn_world_joint_breaks(w->world, &count);
    size = sizeof(tn_joint_break_event);
  }
  int copied = count < capacity ? count : capacity;
  if (list && copied > 0) {
    memcpy(events, list, (size_t)copied * size);
  }
  return list ? count : 0;
}

// ---------------------------------------------------------------------------------------------
// Robots

bool tnp_robot_read(tnp_world *w, const tnp_robot *robot, double *q, double *rate, double *force)
{
  tn_articulation *a = robot->articulation;
  if (!w->world || !a) {
    return a == NULL;
  }
  return (!q || tn_articulation_positions(a, q)) &&
         (!rate || tn_articulation_velocities(a, rate)) &&
         (!force || tn_articulation_joint_forces(a, force));
}

// ---------------------------------------------------------------------------------------------
// Scenes

int tnp_scene_count(void)
{
  int count;
  scene_list(&count);
  return count;
}

tnp_scene tnp_scene_at(int index)
{
  int count;
  const scene *which = scene_list(&count)[index];
  tnp_scene out = {which->name, which->title, which->source, which->seconds, which->substeps, 0};
  while (out.parameter_count < SCENE_MAX_PARAMETERS &&
         which->parameters[out.parameter_count].name) {
    ++out.parameter_count;
  }
  return out;
}

tnp_parameter tnp_parameter_at(int scene_index, int index)
{
  int count;
  const scene_parameter *p = &scene_list(&count)[scene_index]->parameters[index];
  tnp_parameter out = {p->name, p->meaning, p->lo, p->hi, p->value, p->whole};
  return out;
}

static bool ends_in_json(const char *name)
{
  size_t length = strlen(name);
  return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static const scene *find_scene(tnp_world *w, const char *name)
{
  char message[SCENE_FILE_ERROR];
  if (ends_in_json(name)) {
    w->file = scene_file_load(name, message);
    if (!w->file) {
      say(w, message);
    }
    return w->file ? scene_file_scene(w->file) : NULL;
  }
  const scene *which = scene_find(name);
  if (!which) {
    snprintf(message, sizeof message, "there is no scene '%s'", name);
    say(w, message);
  }
  return which;
}

static bool set_parameters(tnp_world *w, const scene *which, scene_settings *settings, int count,
                           const char *const *names, const double *values)
{
  for (int i = 0; i < count; ++i) {
    char message[256];
    scene_set_result result = scene_set(which, settings, names[i], values[i]);
    const scene_parameter *p = scene_parameter_find(which, names[i]);
    if (result == SCENE_NO_SUCH_PARAMETER || !p) {
      snprintf(message, sizeof message, "%s has no parameter '%s'", which->name, names[i]);
    } else if (result == SCENE_OUT_OF_RANGE) {
      snprintf(message, sizeof message, "%s of %s must be %sfrom %g to %g, not %g", names[i],
               which->name, p->whole ? "an integer " : "", p->lo, p->hi, values[i]);
    }
    if (result != SCENE_SET) {
      say(w, message);
      return false;
    }
  }
  return true;
}

bool tnp_scene_create(tnp_world *w, const char *name, const tn_world_def *def, bool own_substeps,
                      int count, const char *const *names, const double *values)
{
  const scene *which = find_scene(w, name);
  tn_world_def own = with_log(w, def);
  if (!which) {
    return false;
  }
  scene_settings settings = scene_defaults(which);
  if (w->file && own_substeps) {
    scene_file_world(w->file, &own);
  } else if (own_substeps) {
    own.substeps = which->substeps;
  }
  scene_run *run = set_parameters(w, which, &settings, count, names, values)
                       ? scene_create(which, &settings, &own)
                       : NULL;
  if (!run) {
    scene_file_free(w->file);
    w->file = NULL;
    return false;
  }
  w->run = run;
  w->world = run->world;
  return true;
}

double tnp_scene_seconds(const tnp_world *w)
{
  const scene_run *run = w->run;
  return run ? run->scene->seconds : 0.0;
}

int tnp_scene_run(tnp_world *w, float dt, int frames, double milliseconds, uint32_t *status)
{
  double end = timing_now_ms() + milliseconds;
  int done = 0;
  do {
    *status |= scene_step(w->run, dt);
    ++done;
  } while (done < frames && timing_now_ms() < end);
  tnp_read_poses(w);
  return done;
}

int tnp_scene_metrics(const tnp_world *w, const char **names, double *values, int capacity)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = w->run ? scene_metrics(w->run, list, SCENE_MAX_METRICS) : 0;
  count = count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
  for (int i = 0; i < count && i < capacity; ++i) {
    names[i] = list[i].name;
    values[i] = list[i].value;
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Pictures

bool tnp_shape_look(const tn_world *world, tn_shape_id shape, float *points, int *point_count,
                    int *triangles, int *triangle_count)
{
  tn_shape_def def = tn_shape_get_def(world, shape);
  scene_look look = {.failed = false};
  bool ok = tn_shape_is_valid(world, shape) && scene_look_make(world, &def, &look);
  if (ok && points && triangles) {
    memcpy(points, look.points, (size_t)look.point_count * sizeof *look.points);
    memcpy(triangles, look.triangles, (size_t)look.triangle_count * 3 * sizeof *look.triangles);
  }
  *point_count = look.point_count;
  *triangle_count = look.triangle_count;
  scene_look_free(&look);
  return ok;
}
