#include "spec.h"

#include "draw.h"
#include "options.h"
#include "output.h"
#include "read.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Keys of a spec

typedef struct file_spec {
  const char *scene;
  double seconds;
  int samples, seed, sampling;
  const cJSON *parameters, *methods, *substeps, *iterations, *metrics, *trajectories;
} file_spec;

typedef struct file_values {
  double from, to;
  int steps;
  bool log, draw;
} file_values;

typedef struct file_curves {
  const cJSON *metrics;
  int every;
} file_curves;

enum { SAMPLE_RANDOM, SAMPLE_LATIN };

static const char *const sampling_words[] = {"random", "latin_hypercube", NULL};

static const field spec_fields[] = {
    {"scene", FIELD_TEXT, offsetof(file_spec, scene), .flags = FIELD_REQUIRED},
    {"seconds", FIELD_DOUBLE, offsetof(file_spec, seconds), .hi = 36000, .flags = FIELD_ABOVE},
    {"parameters", FIELD_TREE, offsetof(file_spec, parameters), .tree = TREE_OBJECT},
    {"samples", FIELD_INT, offsetof(file_spec, samples), .lo = 1, .hi = SWEEP_MAX_RUNS},
    {"sampling", FIELD_WORD, offsetof(file_spec, sampling), .words = sampling_words},
    {"seed", FIELD_INT, offsetof(file_spec, seed), .hi = 2147483647},
    {"methods", FIELD_TREE, offsetof(file_spec, methods), .tree = TREE_LIST},
    {"substeps", FIELD_TREE, offsetof(file_spec, substeps), .tree = TREE_LIST},
    {"iterations", FIELD_TREE, offsetof(file_spec, iterations), .tree = TREE_LIST},
    {"metrics", FIELD_TREE, offsetof(file_spec, metrics), .tree = TREE_LIST},
    {"trajectories", FIELD_TREE, offsetof(file_spec, trajectories), .tree = TREE_OBJECT},
    {0}};
static const object_type type_spec = {"sweep", "A sweep.", spec_fields, NULL};

static const field values_fields[] = {
    {"from", FIELD_DOUBLE, offsetof(file_values, from), .flags = FIELD_REQUIRED},
    {"to", FIELD_DOUBLE, offsetof(file_values, to), .flags = FIELD_REQUIRED},
    {"steps", FIELD_INT, offsetof(file_values, steps), .lo = 1, .hi = SWEEP_MAX_RUNS},
    {"log", FIELD_BOOL, offsetof(file_values, log), .meaning = NULL},
    {"draw", FIELD_BOOL, offsetof(file_values, draw), .meaning = NULL},
    {0}};
static const object_type type_values = {"values", "A range of values.", values_fields, NULL};

static const field curves_fields[] = {
    {"metrics", FIELD_TREE, offsetof(file_curves, metrics), .tree = TREE_LIST,
     .flags = FIELD_REQUIRED},
    {"every", FIELD_INT, offsetof(file_curves, every), .lo = 1, .hi = 1000000},
    {0}};
static const object_type type_curves = {"trajectories", "Metrics of every frame.", curves_fields,
                                        NULL};

// ---------------------------------------------------------------------------------------------
// The scene

static char *path_beside(const char *path, const char *name)
{
  const char *slash = strrchr(path, '/');
  size_t folder = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
  size_t size = folder + strlen(name) + 1;
  char *joined = malloc(size);
  if (joined) {
    snprintf(joined, size, "%.*s%s", (int)folder, path, name);
  }
  return joined;
}

static bool is_scene_file(const char *name)
{
  size_t length = strlen(name);
  return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static bool load_scene_file(sweep_spec *s, reader *r, const char *name)
{
  size_t size;
  s->file_path = path_beside(s->path, name);
  s->file_text = s->file_path ? read_whole_file(s->file_path, &size) : NULL;
  if (!s->file_text) {
    return reader_fail(r, "cannot be read");
  }
  s->file_text[size] = '\0';
  char error[SCENE_FILE_ERROR];
  scene_file *file = scene_file_parse(s->file_path, s->file_text, size, error);
  if (!file) {
    fprintf(stderr, "%s\n", error);
    return reader_fail(r, "is not a scene file");
  }
  tn_world_def def = tn_default_world_def();
  scene_file_world(file, &def);
  s->methods[0] = def.method;
  s->substeps[0] = def.substeps;
  s->iterations[0] = def.iterations;
  s->seconds = scene_file_scene(file)->seconds;
  scene_file_free(file);
  s->file_tree = cJSON_Parse(s->file_text);
  return s->file_tree || reader_fail(r, "not enough memory");
}

static bool find_scene(sweep_spec *s, reader *r, const char *name)
{
  reader_enter(r, "scene");
  if (is_scene_file(name)) {
    return load_scene_file(s, r, name);
  }
  s->scene = scene_find(name);
  if (!s->scene) {
    return reader_fail(r, "unknown scene '%.60s'; 'tenon scenes' lists all scenes", name);
  }
  s->methods[0] = TN_METHOD_TENON;
  s->substeps[0] = s->scene->substeps;
  s->iterations[0] = 1;
  s->seconds = s->scene->seconds;
  reader_leave(r);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Parameters

// The number at a JSON pointer (RFC 6901, without escapes); null if there is none.
static cJSON *number_at(cJSON *tree, const char *pointer)
{
  cJSON *at = tree;
  while (at && *pointer == '/') {
    char key[SWEEP_NAME];
    size_t length = strcspn(++pointer, "/");
    snprintf(key, sizeof key, "%.*s", (int)length, pointer);
    pointer += length;
    bool index = key[0] && strspn(key, "0123456789") == length && length < 9;
    at = cJSON_IsArray(at) ? (index ? cJSON_GetArrayItem(at, atoi(key)) : NULL)
                           : cJSON_GetObjectItemCaseSensitive(at, key);
  }
  return cJSON_IsNumber(at) ? at : NULL;
}

static bool fail_unknown(const sweep_spec *s, reader *r)
{
  if (!s->scene) {
    return reader_fail(r, "is no number of the scene file; write a path such as "
                          "\"/bodies/0/mass\"");
  }
  char known[256] = "";
  for (int i = 0; i < SCENE_MAX_PARAMETERS && s->scene->parameters[i].name; ++i) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
             s->scene->parameters[i].name);
  }
  return reader_fail(r, "scene %s has no such parameter; it has %s", s->scene->name,
                     known[0] ? known : "none");
}

static bool check_values(const sweep_spec *s, const sweep_parameter *p, reader *r)
{
  const scene_parameter *of = s->scene ? scene_parameter_find(s->scene, p->name) : NULL;
  scene_settings settings = s->scene ? scene_defaults(s->scene) : (scene_settings){{0.0}};
  for (int i = 0; i < p->count; ++i) {
    if (of && scene_set(s->scene, &settings, p->name, p->values[i]) != SCENE_SET) {
      return reader_fail(r, "takes %snumbers from %g to %g, not %.12g", of->whole ? "whole " : "",
                         of->lo, of->hi, p->values[i]);
    }
  }
  return true;
}

static bool read_list_values(reader *r, const cJSON *json, sweep_parameter *p)
{
  p->count = cJSON_GetArraySize(json);
  p->values = calloc((size_t)p->count + 1, sizeof *p->values);
  if (p->count == 0 || !p->values) {
    return reader_fail(r, p->values ? "the list is empty" : "not enough memory");
  }
  static const field number = {.name = "value", .type = FIELD_DOUBLE};
  int i = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, json)
  {
    reader_enter_item(r, i);
    if (!read_number(r, item, &number, &p->values[i++])) {
      return false;
    }
    reader_leave(r);
  }
  return true;
}

static bool read_range_values(reader *r, const cJSON *json, const file_spec *from, bool whole,
                              int stream, sweep_parameter *p)
{
  file_values v = {.steps = 0};
  if (!read_object(r, json, &type_values, &v, NULL)) {
    return false;
  }
  value_range range = {v.from, v.to, v.log, whole};
  if (v.log && !(v.from > 0.0 && v.to > 0.0)) {
    return reader_fail(r, "a log range takes numbers above 0");
  }
  if (v.from > v.to || (v.from == v.to && (v.draw || v.steps > 1))) {
    return reader_fail(r, "the range from %g to %g is empty", v.from, v.to);
  }
  if (v.draw ? v.steps != 0 || from->samples == 0 : v.steps == 0) {
    return reader_fail(r, v.draw ? "drawn values need \"samples\" beside \"parameters\", not steps"
                                 : "needs \"steps\", or \"draw\": true");
  }
  p->drawn = v.draw;
  p->count = v.draw ? from->samples : v.steps;
  p->values = calloc((size_t)p->count, sizeof *p->values);
  if (!p->values) {
    return reader_fail(r, "not enough memory for %d values", p->count);
  }
  if (!v.draw) {
    values_space(range, p->values, p->count);
  } else if (from->sampling == SAMPLE_LATIN) {
    values_stratify(range, (uint64_t)from->seed, stream, p->values, p->count);
  } else {
    values_draw(range, (uint64_t)from->seed, stream, p->values, p->count);
  }
  return true;
}

static bool read_parameter(sweep_spec *s, reader *r, const cJSON *json, const file_spec *from)
{
  sweep_parameter *p = &s->parameters[s->parameter_count++];
  bool fits = strlen(json->string) < sizeof p->name;
  snprintf(p->name, sizeof p->name, "%s", json->string);
  const scene_parameter *of = s->scene ? scene_parameter_find(s->scene, p->name) : NULL;
  if (!fits || (s->scene ? !of : p->name[0] != '/' || !number_at(s->file_tree, p->name))) {
    return fail_unknown(s, r);
  }
  bool ok = cJSON_IsArray(json) ? read_list_values(r, json, p)
            : cJSON_IsObject(json)
                ? read_range_values(r, json, from, of && of->whole, s->parameter_count, p)
                : reader_fail(r, "must be a list of numbers, or a range such as {\"from\": "
                                 "0, \"to\": 1, \"steps\": 5}");
  return ok && check_values(s, p, r);
}

static bool read_parameters(sweep_spec *s, reader *r, const file_spec *from)
{
  const cJSON *item;
  reader_enter(r, "parameters");
  if (from->parameters && !cJSON_IsObject(from->parameters)) {
    return reader_fail(r, "must be an object in braces");
  }
  cJSON_ArrayForEach(item, from->parameters)
  {
    reader_enter(r, item->string);
    if (cJSON_GetObjectItemCaseSensitive(from->parameters, item->string) != item) {
      r->path.steps[r->path.depth - 1].index = 1;
      return reader_fail(r, "duplicate key");
    }
    if (s->parameter_count == SWEEP_MAX_PARAMETERS) {
      return reader_fail(r, "a sweep has at most %d parameters", SWEEP_MAX_PARAMETERS);
    }
    if (!read_parameter(s, r, item, from)) {
      return false;
    }
    reader_leave(r);
  }
  reader_leave(r);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Choices of the solver

// Reads the items of a list; null keeps the default. Returns their number, 0 on failure.
static int list_size(reader *r, const cJSON *list, const char *key, int most)
{
  reader_enter(r, key);
  int count = cJSON_GetArraySize(list);
  if (!cJSON_IsArray(list) || count == 0 || count > most) {
    reader_fail(r, "must be a list of 1 to %d items", most);
    return 0;
  }
  return count;
}

static bool read_methods(sweep_spec *s, reader *r, const cJSON *list)
{
  static const struct {
    const char *name;
    tn_method method;
  } known[] = {{"tenon", TN_METHOD_TENON}, {"xpbd", TN_METHOD_XPBD}, {"jacobi", TN_METHOD_JACOBI}};
  s->method_count = 1;
  if (!list) {
    return true;
  }
  s->method_count = list_size(r, list, "methods", SWEEP_MAX_CHOICES);
  for (int i = 0; i < s->method_count; ++i) {
    const cJSON *item = cJSON_GetArrayItem(list, i);
    int k = 0;
    while (k < 3 && !(cJSON_IsString(item) && strcmp(known[k].name, item->valuestring) == 0)) {
      k += 1;
    }
    if (k == 3) {
      reader_enter_item(r, i);
      return reader_fail(r, "must be tenon, xpbd or jacobi");
    }
    s->methods[i] = known[k].method;
  }
  reader_leave(r);
  return s->method_count > 0;
}

static bool read_counts(reader *r, const cJSON *list, const char *key, int *values, int *count)
{
  static const field number = {.name = "value", .type = FIELD_INT, .lo = 1, .hi = 10000};
  *count = 1;
  if (!list) {
    return true;
  }
  *count = list_size(r, list, key, SWEEP_MAX_CHOICES);
  for (int i = 0; i < *count; ++i) {
    double value;
    reader_enter_item(r, i);
    if (!read_number(r, cJSON_GetArrayItem(list, i), &number, &value)) {
      return false;
    }
    values[i] = (int)value;
    reader_leave(r);
  }
  reader_leave(r);
  return *count > 0;
}

// ---------------------------------------------------------------------------------------------
// Metrics

static bool has_metric(const scene_metric *list, int count, const char *name)
{
  for (int i = 0; i < count; ++i) {
    if (strcmp(list[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

static bool read_metric_names(reader *r, const cJSON *list, const scene_metric *known, int count,
                              char (*names)[SWEEP_NAME], int *name_count)
{
  *name_count = list_size(r, list, "metrics", SCENE_MAX_METRICS);
  for (int i = 0; i < *name_count; ++i) {
    const cJSON *item = cJSON_GetArrayItem(list, i);
    reader_enter_item(r, i);
    if (!cJSON_IsString(item) || !has_metric(known, count, item->valuestring)) {
      return reader_fail(r, "the scene has no metric '%.60s'",
                         cJSON_IsString(item) ? item->valuestring : "");
    }
    snprintf(names[i], SWEEP_NAME, "%s", item->valuestring);
    reader_leave(r);
  }
  reader_leave(r);
  return *name_count > 0;
}

// The names of the metrics are those of the first run.
static bool read_metrics(sweep_spec *s, reader *r, const file_spec *from)
{
  char error[SCENE_FILE_ERROR];
  scene_file *file;
  sweep_point first = spec_point(s, 0);
  scene_run *run = spec_create(s, &first, &file, error);
  if (!run) {
    return reader_fail(r, "the first run cannot be created: %s", error);
  }
  scene_metric known[SCENE_MAX_METRICS];
  int count = scene_metrics(run, known, SCENE_MAX_METRICS);
  count = count < SCENE_MAX_METRICS ? count : SCENE_MAX_METRICS;
  bool ok = true;
  if (from->metrics) {
    ok = read_metric_names(r, from->metrics, known, count, s->metrics, &s->metric_count);
  } else {
    for (s->metric_count = 0; s->metric_count < count; ++s->metric_count) {
      snprintf(s->metrics[s->metric_count], SWEEP_NAME, "%s", known[s->metric_count].name);
    }
  }
  if (ok && from->trajectories) {
    file_curves curves = {.every = 1};
    reader_enter(r, "trajectories");
    ok = read_object(r, from->trajectories, &type_curves, &curves, NULL) &&
         read_metric_names(r, curves.metrics, known, count, s->curves, &s->curve_count);
    s->curve_every = curves.every;
  }
  scene_destroy(run);
  scene_file_free(file);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// The whole spec

static bool count_runs(sweep_spec *s, reader *r, const file_spec *from)
{
  double runs = (double)s->method_count * s->substeps_count * s->iterations_count;
  bool drawn = false;
  for (int i = 0; i < s->parameter_count; ++i) {
    drawn = drawn || s->parameters[i].drawn;
    runs *= s->parameters[i].drawn ? 1.0 : (double)s->parameters[i].count;
  }
  s->samples = drawn ? from->samples : 1;
  runs *= (double)s->samples;
  if (from->samples > 0 && !drawn) {
    return reader_fail(r, "\"samples\" is given, but no parameter is drawn");
  }
  if (runs > (double)SWEEP_MAX_RUNS) {
    return reader_fail(r, "has %.6g runs; at most %d are possible", runs, SWEEP_MAX_RUNS);
  }
  s->runs = (int64_t)runs;
  return true;
}

static uint64_t add_hash(uint64_t hash, const char *text)
{
  for (; *text; ++text) {
    hash = (hash ^ (uint64_t)(unsigned char)*text) * UINT64_C(0x100000001b3);
  }
  return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static bool identify(sweep_spec *s, reader *r)
{
  char *canonical = cJSON_PrintUnformatted(s->tree);
  if (!canonical) {
    return reader_fail(r, "not enough memory");
  }
  char version[64];
  tn_version_info v = tn_version();
  snprintf(version, sizeof version, "%d.%d.%d", v.major, v.minor, v.patch);
  s->identity = add_hash(UINT64_C(0xcbf29ce484222325), canonical);
  s->identity = add_hash(s->identity, version);
  s->identity = add_hash(s->identity, s->file_text ? s->file_text : "");
  cJSON_free(canonical);
  return true;
}

static bool read_spec(sweep_spec *s, reader *r)
{
  file_spec from = {.sampling = SAMPLE_RANDOM};
  if (!read_object(r, s->tree, &type_spec, &from, NULL) || !find_scene(s, r, from.scene) ||
      !read_parameters(s, r, &from) || !read_methods(s, r, from.methods) ||
      !read_counts(r, from.substeps, "substeps", s->substeps, &s->substeps_count) ||
      !read_counts(r, from.iterations, "iterations", s->iterations, &s->iterations_count) ||
      !count_runs(s, r, &from)) {
    return false;
  }
  s->seconds = from.seconds > 0.0 ? from.seconds : s->seconds;
  return read_metrics(s, r, &from) && identify(s, r);
}

bool spec_load(sweep_spec *s, const char *path)
{
  size_t size;
  memset(s, 0, sizeof *s);
  s->path = path;
  s->text = read_whole_file(path, &size);
  if (!s->text) {
    return false;
  }
  s->text[size] = '\0';
  char error[1200] = "";
  reader r = {.file = path, .text = s->text, .error = error, .error_size = sizeof error};
  s->tree = reader_parse(&r, size);
  bool ok = s->tree && read_spec(s, &r);
  if (!ok) {
    fprintf(stderr, "%s\n", error); // FILE:LINE: first, as editors expect
  }
  return ok;
}

void spec_free(sweep_spec *s)
{
  for (int i = 0; i < s->parameter_count; ++i) {
    free(s->parameters[i].values);
  }
  cJSON_Delete(s->tree);
  cJSON_Delete(s->file_tree);
  free(s->text);
  free(s->file_text);
  free(s->file_path);
  memset(s, 0, sizeof *s);
}

// ---------------------------------------------------------------------------------------------
// Runs

// Takes the last digit of a mixed-radix number.
static int take_digit(int64_t *number, int radix)
{
  int digit = (int)(*number % radix);
  *number /= radix;
  return digit;
}

sweep_point spec_point(const sweep_spec *s, int64_t run)
{
  sweep_point p;
  memset(&p, 0, sizeof p);
  p.iterations = s->iterations[take_digit(&run, s->iterations_count)];
  p.substeps = s->substeps[take_digit(&run, s->substeps_count)];
  p.method = s->methods[take_digit(&run, s->method_count)];
  int sample = take_digit(&run, s->samples);
  for (int i = s->parameter_count - 1; i >= 0; --i) {
    const sweep_parameter *of = &s->parameters[i];
    p.values[i] = of->values[of->drawn ? sample : take_digit(&run, of->count)];
  }
  return p;
}

static void take_message(tn_log_level level, const char *message, void *context)
{
  (void)level;
  snprintf(context, SCENE_FILE_ERROR, "%s", message);
}

// The scene file with the values of a run, to be freed.
static char *file_of_point(const sweep_spec *s, const sweep_point *p)
{
  cJSON *tree = cJSON_Duplicate(s->file_tree, true);
  for (int i = 0; i < s->parameter_count && tree; ++i) {
    cJSON_SetNumberValue(number_at(tree, s->parameters[i].name), p->values[i]);
  }
  char *text = tree ? cJSON_PrintUnformatted(tree) : NULL;
  cJSON_Delete(tree);
  return text;
}

scene_run *spec_create(const sweep_spec *s, const sweep_point *p, scene_file **file, char *error)
{
  const scene *which = s->scene;
  scene_settings settings = {{0.0}};
  tn_world_def def = tn_default_world_def();
  *file = NULL;
  snprintf(error, SCENE_FILE_ERROR, "not enough memory");
  if (which) {
    settings = scene_defaults(which);
    for (int i = 0; i < s->parameter_count; ++i) {
      scene_set(which, &settings, s->parameters[i].name, p->values[i]);
    }
  } else {
    char *text = file_of_point(s, p);
    *file = text ? scene_file_parse(s->file_path, text, strlen(text), error) : NULL;
    cJSON_free(text);
    if (!*file) {
      return NULL;
    }
    which = scene_file_scene(*file);
    settings = scene_defaults(which);
    scene_file_world(*file, &def);
  }
  def.method = p->method;
  def.substeps = p->substeps;
  def.iterations = p->iterations;
  def.log = take_message;
  def.log_context = error;
  return scene_create(which, &settings, &def);
}
