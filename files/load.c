// Loads a scene file as a scene.
#include "loader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_SIZE = 64 << 20 };

// ---------------------------------------------------------------------------------------------
// Functions shared by the loaders

bool loader_fail(loader *l)
{
  const char *why = strstr(l->file->message, ": "); // after the name of the library's function
  l->run->failed = true;
  return reader_fail(&l->r, "%s", why ? why + 2 : "could not be created");
}

bool is_list(loader *l, const cJSON *list, const char *key, int most)
{
  bool array = !list || cJSON_IsArray(list);
  if (!array || cJSON_GetArraySize(list) > most) {
    reader_enter(&l->r, key);
    return array ? reader_fail(&l->r, "has more than %d items", most)
                 : reader_fail(&l->r, "must be a list in brackets");
  }
  return true;
}

static void take_message(tn_log_level level, const char *message, void *context)
{
  scene_file *file = context;
  (void)level;
  snprintf(file->message, sizeof file->message, "%s", message);
}

// ---------------------------------------------------------------------------------------------
// Building

static reader reader_of(scene_file *file)
{
  reader r = {.file = file->path,
              .text = file->text,
              .error = file->error,
              .error_size = sizeof file->error};
  return r;
}

// Default energy scale: the weight of all bodies times 1 m, plus kinetic and elastic energy.
static double usual_energy(const scene_run *run)
{
  tn_energy e = tn_world_energy(run->world);
  double weight = run->weighing_mass * (double)tn_length(tn_world_gravity(run->world));
  double sum = weight + e.kinetic + e.elastic;
  return isfinite(sum) ? sum : 0.0;
}

static void build_from_file(scene_run *run)
{
  scene_file *file = (scene_file *)(void *)run->scene;
  loader l = {.file = file, .run = run, .r = reader_of(file)};
  tn_world_set_gravity(run->world, file->content.world.gravity);
  bool ok = load_materials(&l) && load_geometries(&l) && load_bodies(&l) && load_joints(&l) &&
            load_couplings(&l) && load_softs(&l) && load_attachments(&l) && load_motions(&l);
  run->failed = run->failed || !ok;
  double scale = file->content.energy_scale;
  run->energy_scale = scale > 0.0 ? scale : usual_energy(run);
  memcpy(run->memory, file->memory, sizeof run->memory);
  names_free(&l.material_names);
  names_free(&l.geometry_names);
  names_free(&l.body_names);
  names_free(&l.soft_names);
  free(l.materials);
  free(l.geometries);
  free(l.bodies);
  free(l.softs);
}

// The drives of the behaviour, then the motions of the file, by the end of the step.
static void drive_from_file(scene_run *run, float dt)
{
  const scene_file *file = (const scene_file *)(const void *)run->scene;
  if (file->behaviour && file->behaviour->drive) {
    file->behaviour->drive(run, dt);
  }
  motions_drive(file, run, run->time + (double)dt);
}

const file_motion *scene_motions(const scene *which, int *count)
{
  const scene_file *file =
      which->build == build_from_file ? (const scene_file *)(const void *)which : NULL;
  *count = file ? file->motion_count : 0;
  return file ? file->motions : NULL;
}

// ---------------------------------------------------------------------------------------------
// Behaviour

static bool read_parameter(reader *r, const cJSON *json, scene *s)
{
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->parameters[i].name; ++i) {
    scene_parameter *p = &s->parameters[i];
    if (strcmp(p->name, json->string) == 0) {
      double value = cJSON_IsNumber(json) ? json->valuedouble : (double)NAN;
      if (!(value >= p->lo && value <= p->hi) || (p->whole && value != floor(value))) {
        return reader_fail(r, "must be a %snumber from %g to %g", p->whole ? "whole " : "", p->lo,
                           p->hi);
      }
      p->value = value;
      return true;
    }
  }
  return reader_fail(r, "%s has no such parameter", s->name);
}

static bool read_parameters(reader *r, const cJSON *json, scene *s)
{
  const cJSON *item;
  reader_enter(r, "parameters");
  if (json && !cJSON_IsObject(json)) {
    return reader_fail(r, "must be an object in braces");
  }
  cJSON_ArrayForEach(item, json)
  {
    reader_enter(r, item->string);
    if (cJSON_GetObjectItemCaseSensitive(json, item->string) != item) {
      r->path.steps[r->path.depth - 1].index = 1;
      return reader_fail(r, "duplicate key");
    }
    if (!read_parameter(r, item, s)) {
      return false;
    }
    reader_leave(r);
  }
  reader_leave(r);
  return true;
}

// Takes the drives and metrics of the built-in scene, and the parameters of the file.
static bool take_behaviour(scene_file *file, reader *r)
{
  file_behaviour b = {NULL, NULL};
  if (!file->content.behaviour) {
    return true;
  }
  reader_enter(r, "behaviour");
  if (!read_object(r, file->content.behaviour, &type_behaviour, &b, NULL)) {
    return false;
  }
  file->behaviour = scene_find(b.scene);
  if (!file->behaviour) {
    reader_enter(r, "scene");
    return reader_fail(r, "no built-in scene '%.60s'", b.scene);
  }
  scene borrowed = *file->behaviour;
  if (!read_parameters(r, b.parameters, &borrowed)) {
    return false;
  }
  scene *s = &file->scene;
  memcpy(s->parameters, borrowed.parameters, sizeof s->parameters);
  s->drive = borrowed.drive;
  s->measure = borrowed.measure;
  s->look = borrowed.look;
  s->tenon_only = borrowed.tenon_only;
  reader_leave(r);
  return true;
}

const scene *scene_behaviour(const scene *which)
{
  if (which->build == build_from_file) {
    return ((const scene_file *)(const void *)which)->behaviour;
  }
  bool acts = which->drive || which->measure || which->look;
  return acts && scene_find(which->name) == which ? which : NULL;
}

// A behaviour refers to bodies and joints by their order: their numbers and kinds must match.
static bool suits_behaviour(const scene_run *run, const scene_run *model, reader *r)
{
  int softs = tn_world_softs(run->world, NULL, 0), wanted = tn_world_softs(model->world, NULL, 0);
  reader_enter(r, "behaviour");
  if (run->coupling_count < model->coupling_count) {
    return reader_fail(r, "%s needs at least %d couplings, but the file has %d", model->scene->name,
                       model->coupling_count, run->coupling_count);
  }
  if (run->body_count < model->body_count || run->joint_count < model->joint_count ||
      softs < wanted) {
    return reader_fail(
        r,
        "%s needs at least %d bodies, %d joints and %d soft bodies, but the file has %d, %d and "
        "%d, not counting scenery",
        model->scene->name, model->body_count, model->joint_count, wanted, run->body_count,
        run->joint_count, softs);
  }
  for (int i = 0; i < model->joint_count; ++i) {
    tn_joint_kind kind = tn_joint_get_def(model->world, model->joints[i]).kind;
    if (tn_joint_get_def(run->world, run->joints[i]).kind != kind) {
      return reader_fail(r, "%s needs joints[%d] to be of kind %s", model->scene->name, i,
                         field_word(&type_joint, "kind", (int)kind));
    }
  }
  reader_leave(r);
  return true;
}

static scene_run *make_model(scene_file *file, const tn_world_def *def)
{
  scene_settings settings = scene_defaults(&file->scene);
  return scene_create(file->behaviour, &settings, def);
}

// Creates the scene once to check that it is valid.
static bool try_out(scene_file *file)
{
  tn_world_def def = tn_default_world_def();
  def.log = take_message;
  def.log_context = file;
  def.log_repeats = true;
  scene_file_world(file, &def);
  reader r = reader_of(file);
  scene_run *run = scene_create(&file->scene, NULL, &def);
  if (!run) {
    return file->error[0] ? false : reader_fail(&r, "not enough memory for the scene");
  }
  bool ok = true;
  if (file->behaviour) {
    scene_run *model = make_model(file, &def);
    if (model) {
      ok = suits_behaviour(run, model, &r);
      memcpy(file->memory, model->memory, sizeof file->memory);
    } else {
      ok = reader_fail(&r, "the scene of the behaviour could not be created");
    }
    scene_destroy(model);
  }
  scene_destroy(run);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// The file

static void set_name(scene_file *file)
{
  const char *slash = strrchr(file->path, '/'), *base = slash ? slash + 1 : file->path;
  const char *name = file->content.name ? file->content.name : base;
  snprintf(file->name, sizeof file->name, "%s", name);
  size_t length = strlen(file->name);
  if (!file->content.name && length > 5 && strcmp(file->name + length - 5, ".json") == 0) {
    file->name[length - 5] = '\0';
  }
  file->content.name = file->name;
}

static bool read_content(scene_file *file)
{
  file_scene *c = &file->content;
  reader r = reader_of(file);
  type_scene.usual(c);
  if (!read_object(&r, file->tree, &type_scene, c, NULL)) {
    return false;
  }
  set_name(file);
  scene *s = &file->scene;
  s->name = file->name;
  s->title = c->title ? c->title : file->name;
  s->source = c->source ? c->source : "a scene file";
  s->group = SCENE_MODELS;
  s->camera = (scene_camera){c->camera.eye, c->camera.target};
  s->seconds = c->seconds;
  s->substeps = c->world.substeps;
  s->conserves = c->conserves;
  s->build = build_from_file;
  if (!take_behaviour(file, &r)) {
    return false;
  }
  s->drive = c->motions ? drive_from_file : s->drive;
  return true;
}

scene_file *scene_file_parse(const char *name, const char *text, size_t size, char *error)
{
  scene_file *file = calloc(1, sizeof *file);
  char *copy = file ? malloc(size + 1) : NULL;
  if (!copy) {
    snprintf(error, SCENE_FILE_ERROR, "%s:1: not enough memory", name);
    free(file);
    return NULL;
  }
  memcpy(copy, text, size);
  copy[size] = '\0';
  file->text = copy;
  file->path = name;
  reader r = reader_of(file);
  file->tree = reader_parse(&r, size);
  if (!file->tree || !read_content(file) || !try_out(file)) {
    snprintf(error, SCENE_FILE_ERROR, "%s", file->error);
    scene_file_free(file);
    return NULL;
  }
  return file;
}

// Reads to the end of the stream, or slightly more than the size limit.
static char *read_all(FILE *in, size_t *size)
{
  size_t capacity = 1 << 16;
  char *text = malloc(capacity);
  *size = text ? fread(text, 1, capacity, in) : 0;
  while (text && *size == capacity && capacity <= MAX_FILE_SIZE) {
    char *grown = realloc(text, 2 * capacity);
    if (!grown) {
      break;
    }
    text = grown;
    *size += fread(text + capacity, 1, capacity, in);
    capacity *= 2;
  }
  return text;
}

static char *read_text(const char *path, size_t *size, char *error)
{
  FILE *in = fopen(path, "rb");
  char *text = in ? read_all(in, size) : NULL;
  if (!text || ferror(in)) {
    snprintf(error, SCENE_FILE_ERROR, "%s: %s", path, strerror(errno));
  } else if (*size > MAX_FILE_SIZE) {
    snprintf(error, SCENE_FILE_ERROR, "%s:1: the file is larger than %d MiB", path,
             MAX_FILE_SIZE >> 20);
  }
  if (text && (ferror(in) || *size > MAX_FILE_SIZE)) {
    free(text);
    text = NULL;
  }
  if (in) {
    fclose(in);
  }
  return text;
}

scene_file *scene_file_load(const char *path, char *error)
{
  size_t size;
  char *text = read_text(path, &size, error);
  scene_file *file = text ? scene_file_parse(path, text, size, error) : NULL;
  free(text);
  return file;
}

void scene_file_free(scene_file *file)
{
  if (file) {
    motions_free(file);
    cJSON_Delete(file->tree);
    free(file->text);
    free(file);
  }
}

const scene *scene_file_scene(const scene_file *file)
{
  return &file->scene;
}

void scene_file_world(const scene_file *file, tn_world_def *def)
{
  const tn_world_def *world = &file->content.world;
  def->gravity = world->gravity;
  def->method = world->method;
  def->substeps = world->substeps;
  def->iterations = world->iterations;
  def->sleeping = world->sleeping;
  def->sleep_speed = world->sleep_speed;
  def->sleep_time = world->sleep_time;
  def->play = world->play;
}
