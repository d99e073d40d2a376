#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("tenon: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

// ---------------------------------------------------------------------------------------------
// Methods by name

typedef struct named_method {
  const char *name;
  tn_method method;
} named_method;

static const named_method methods[] = {
    {"tenon", TN_METHOD_TENON}, {"xpbd", TN_METHOD_XPBD}, {"jacobi", TN_METHOD_JACOBI}};
static const int method_count = (int)(sizeof methods / sizeof methods[0]);

const char *method_name(tn_method method)
{
  for (int i = 0; i < method_count; ++i) {
    if (methods[i].method == method) {
      return methods[i].name;
    }
  }
  return "unknown";
}

static bool find_method(const char *option, const char *word, tn_method *method)
{
  for (int i = 0; i < method_count; ++i) {
    if (strcmp(methods[i].name, word) == 0) {
      *method = methods[i].method;
      return true;
    }
  }
  complain("%s takes tenon, xpbd or jacobi, not '%s'", option, word);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Numbers

static bool parse_number(const char *word, double *value)
{
  char *end;
  errno = 0;
  *value = strtod(word, &end);
  return end != word && *end == '\0' && errno != ERANGE && isfinite(*value);
}

static bool parse_whole(const char *option, const char *word, int lo, int hi, int *value)
{
  double number;
  if (!parse_number(word, &number) || number < (double)lo || number > (double)hi ||
      number != floor(number)) {
    complain("%s takes a whole number from %d to %d, not '%s'", option, lo, hi, word);
    return false;
  }
  *value = (int)number;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Parameters of the scene

static void complain_about_name(const scene *which, const char *name)
{
  char known[256] = "";
  for (int i = 0; i < SCENE_MAX_PARAMETERS && which->parameters[i].name; ++i) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
             which->parameters[i].name);
  }
  complain("scene %s has no parameter '%s'; it has %s", which->name, name,
           known[0] ? known : "none");
}

// name=value
static bool parse_setting(const char *word, run_options *options)
{
  char name[64];
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : 0;
  if (length == 0 || length >= sizeof name) {
    complain("--set takes name=value, not '%s'", word);
    return false;
  }
  memcpy(name, word, length);
  name[length] = '\0';
  const scene_parameter *parameter = scene_parameter_find(options->scene, name);
  if (!parameter) {
    complain_about_name(options->scene, name);
    return false;
  }
  double value;
  if (!parse_number(equals + 1, &value) ||
      scene_set(options->scene, &options->settings, name, value) != SCENE_SET) {
    complain("%s takes a %snumber from %g to %g, not '%s'", name, parameter->whole ? "whole " : "",
             parameter->lo, parameter->hi, equals + 1);
    return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Lists

typedef bool item_fn(const char *option, const char *word, run_options *options);

// "a,b,c": calls `take` for each.
static bool parse_list(const char *option, const char *word, run_options *options, item_fn *take)
{
  for (int i = 0;; ++i) {
    char item[32];
    size_t length = strcspn(word, ",");
    if (i == MAX_COMPARED) {
      complain("%s takes at most %d", option, MAX_COMPARED);
      return false;
    }
    if (length >= sizeof item) {
      length = sizeof item - 1; // longer than any valid item
    }
    memcpy(item, word, length);
    item[length] = '\0';
    if (!take(option, item, options)) {
      return false;
    }
    word += strcspn(word, ",");
    if (*word++ == '\0') {
      return true;
    }
  }
}

static bool take_method(const char *option, const char *word, run_options *options)
{
  return find_method(option, word, &options->methods[options->method_count++]);
}

static bool take_substeps(const char *option, const char *word, run_options *options)
{
  return parse_whole(option, word, 1, 10000, &options->substeps[options->substeps_count++]);
}

// ---------------------------------------------------------------------------------------------
// Options and the functions that parse their values

static bool parse_seconds(const char *option, const char *word, run_options *options)
{
  double number;
  if (!parse_number(word, &number) || number <= 0.0 || number > 36000.0) {
    complain("%s takes a number above 0 and up to 36000, not '%s'", option, word);
    return false;
  }
  options->seconds = number;
  return true;
}

static bool parse_set(const char *option, const char *word, run_options *options)
{
  (void)option;
  options->sets = true;
  return parse_setting(word, options);
}

static bool parse_substeps(const char *option, const char *word, run_options *options)
{
  options->chooses_substeps = true;
  return parse_whole(option, word, 1, 10000, &options->world.substeps);
}

static bool parse_substeps_list(const char *option, const char *word, run_options *options)
{
  options->substeps_count = 0;
  return parse_list(option, word, options, take_substeps);
}

static bool parse_iterations(const char *option, const char *word, run_options *options)
{
  options->chooses_iterations = true;
  return parse_whole(option, word, 1, 10000, &options->world.iterations);
}

static bool parse_method(const char *option, const char *word, run_options *options)
{
  options->chooses_method = true;
  return find_method(option, word, &options->world.method);
}

static bool parse_methods(const char *option, const char *word, run_options *options)
{
  options->method_count = 0;
  return parse_list(option, word, options, take_method);
}

static bool parse_threads(const char *option, const char *word, run_options *options)
{
  return parse_whole(option, word, 1, 64, &options->world.threads);
}

static bool parse_lanes(const char *option, const char *word, run_options *options)
{
  static const char *const widths[] = {"0", "1", "4", "8", "16"};
  for (int i = 0; i < 5; ++i) {
    if (strcmp(word, widths[i]) == 0) {
      options->world.lanes = atoi(word);
      return true;
    }
  }
  complain("%s takes 1, 4, 8, 16, or 0 for the widest available, not '%s'", option, word);
  return false;
}

// The field for the file of an option.
static const char **file_of(const char *option, run_options *options)
{
  switch (option[2]) {
  case 'c':
    return &options->csv;
  case 'p':
    return &options->poses;
  case 'g':
    return &options->glb;
  case 's':
    return &options->snapshot;
  default:
    return &options->from;
  }
}

static bool parse_keyframe(const char *option, const char *word, run_options *options)
{
  (void)option;
  options->keyframe = word;
  return true;
}

// Read before all others, as they decide how the file is read.
static bool parse_robot_option(const char *option, const char *word, run_options *options)
{
  (void)option, (void)word;
  if (!options->robot) {
    complain("%s is for models of robots", option);
  }
  return options->robot;
}

static bool scan_robot_options(int count, char **words, robot_options *options)
{
  for (int i = 1; i + 1 < count; ++i) {
    if (strcmp(words[i], "--path") == 0 && options->path_count < ROBOT_MAX_PATHS) {
      options->paths[options->path_count++] = words[i + 1];
    } else if (strcmp(words[i], "--base") == 0 && strcmp(words[i + 1], "fixed") == 0) {
      options->base = TN_IMPORT_BASE_FIXED;
    } else if (strcmp(words[i], "--base") == 0 && strcmp(words[i + 1], "free") == 0) {
      options->base = TN_IMPORT_BASE_FREE;
    } else if (strcmp(words[i], "--hulls") == 0 &&
               !parse_whole("--hulls", words[i + 1], 1, 64, &options->hulls)) {
      return false;
    } else if (strcmp(words[i], "--base") == 0) {
      complain("--base takes fixed or free, not '%s'", words[i + 1]);
      return false;
    }
  }
  return true;
}

static bool parse_file(const char *option, const char *word, run_options *options)
{
  if (word[0] == '\0') {
    complain("%s needs the name of a file", option);
    return false;
  }
  *file_of(option, options) = word;
  return true;
}

typedef struct option {
  const char *name;
  int commands;   // that accept it
  item_fn *parse; // null: it takes no value
} option;

static const option known[] = {
    {"--set", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_set},
    {"--seconds", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_seconds},
    {"--iterations", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_iterations},
    {"--threads", COMMAND_RUN | COMMAND_COMPARE, parse_threads},
    {"--lanes", COMMAND_RUN | COMMAND_COMPARE, parse_lanes},
    {"--json", COMMAND_RUN | COMMAND_COMPARE, NULL},
    {"--substeps", COMMAND_RUN | COMMAND_EXPORT, parse_substeps},
    {"--method", COMMAND_RUN | COMMAND_EXPORT, parse_method},
    {"--csv", COMMAND_RUN, parse_file},
    {"--poses", COMMAND_RUN, parse_file},
    {"--glb", COMMAND_RUN, parse_file},
    {"--snapshot", COMMAND_RUN, parse_file},
    {"--from", COMMAND_RUN, parse_file},
    {"--keyframe", COMMAND_RUN | COMMAND_EXPORT, parse_keyframe},
    {"--path", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_robot_option},
    {"--base", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_robot_option},
    {"--hulls", COMMAND_RUN | COMMAND_COMPARE | COMMAND_EXPORT, parse_robot_option},
    {"--substeps", COMMAND_COMPARE, parse_substeps_list},
    {"--methods", COMMAND_COMPARE, parse_methods},
};

static const option *find_option(run_command which, const char *word)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if ((known[i].commands & (int)which) && strcmp(known[i].name, word) == 0) {
      return &known[i];
    }
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// The whole command line

static bool is_file(const char *name)
{
  size_t length = strlen(name);
  return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static bool find_scene(const char *name, run_options *options)
{
  if (robot_is_file(name)) {
    options->robot = robot_load(name, &options->robot_options);
    options->scene = options->robot ? robot_scene(options->robot) : NULL;
    return options->robot;
  }
  if (!is_file(name)) {
    options->scene = scene_find(name);
    if (!options->scene) {
      complain("unknown scene '%s'; 'tenon scenes' lists all scenes", name);
    }
    return options->scene;
  }
  char error[SCENE_FILE_ERROR];
  options->file = scene_file_load(name, error);
  if (!options->file) {
    fprintf(stderr, "%s\n", error); // FILE:LINE: first, as editors expect
    return false;
  }
  options->scene = scene_file_scene(options->file);
  return true;
}

static bool parse_scene(const char *name, run_options *options)
{
  if (!find_scene(name, options)) {
    return false;
  }
  options->settings = scene_defaults(options->scene);
  options->seconds = options->scene->seconds;
  options->world = tn_default_world_def();
  options->world.substeps = options->scene->substeps;
  if (options->file) {
    scene_file_world(options->file, &options->world);
  }
  static const int substeps[] = {1, 5, 20, 40};
  for (int i = 0; i < method_count; ++i) {
    options->methods[options->method_count++] = methods[i].method;
  }
  for (int i = 0; i < 4; ++i) {
    options->substeps[options->substeps_count++] = substeps[i];
  }
  return true;
}

bool options_parse(run_command which, int count, char **words, run_options *options)
{
  const char *name = which == COMMAND_RUN ? "run" : which == COMMAND_COMPARE ? "compare" : "export";
  memset(options, 0, sizeof *options);
  if (count < 1) {
    complain("%s needs a scene; 'tenon scenes' lists all scenes", name);
    return false;
  }
  if (!scan_robot_options(count, words, &options->robot_options) ||
      !parse_scene(words[0], options)) {
    return false;
  }
  for (int i = 1; i < count; ++i) {
    const option *o = find_option(which, words[i]);
    if (!o) {
      complain("%s has no option '%s'; see 'tenon help'", name, words[i]);
      return false;
    }
    if (o->parse && i + 1 == count) {
      complain("%s needs a value", words[i]);
      return false;
    }
    options->json = options->json || !o->parse;
    if (o->parse && !o->parse(words[i], words[i + 1], options)) {
      return false;
    }
    i += o->parse != NULL;
  }
  if (options->keyframe && !options->robot) {
    complain("--keyframe is for models of robots");
    return false;
  }
  if (options->keyframe && !robot_set_keyframe(options->robot, options->keyframe)) {
    return false;
  }
  if (options->file && options->sets) {
    complain("--set cannot be used with a scene file: the file sets the parameters");
    return false;
  }
  if (options->from && options->sets) {
    complain("--set cannot be used with --from: the snapshot sets the parameters");
    return false;
  }
  return true;
}

void options_free(run_options *options)
{
  scene_file_free(options->file);
  options->file = NULL;
  robot_free(options->robot);
  options->robot = NULL;
}
