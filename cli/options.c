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

static bool parse_method(const char *word, tn_method *method)
{
  for (int i = 0; i < method_count; ++i) {
    if (strcmp(methods[i].name, word) == 0) {
      *method = methods[i].method;
      return true;
    }
  }
  complain("--method takes tenon, xpbd or jacobi, not '%s'", word);
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

static bool parse_seconds(const char *word, double *seconds)
{
  double number;
  if (!parse_number(word, &number) || number <= 0.0 || number > 36000.0) {
    complain("--seconds takes a number above 0 and up to 36000, not '%s'", word);
    return false;
  }
  *seconds = number;
  return true;
}

static bool parse_lanes(const char *word, int *lanes)
{
  static const char *const widths[] = {"0", "1", "4", "8"};
  for (int i = 0; i < 4; ++i) {
    if (strcmp(word, widths[i]) == 0) {
      *lanes = atoi(word);
      return true;
    }
  }
  complain("--lanes takes 1, 4, 8, or 0 for the widest there is, not '%s'", word);
  return false;
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
// The whole command line

static bool parse_value(const char *option, const char *word, run_options *options)
{
  if (strcmp(option, "--set") == 0) {
    return parse_setting(word, options);
  }
  if (strcmp(option, "--seconds") == 0) {
    return parse_seconds(word, &options->seconds);
  }
  if (strcmp(option, "--substeps") == 0) {
    return parse_whole(option, word, 1, 10000, &options->world.substeps);
  }
  if (strcmp(option, "--iterations") == 0) {
    return parse_whole(option, word, 1, 10000, &options->world.iterations);
  }
  if (strcmp(option, "--threads") == 0) {
    return parse_whole(option, word, 1, 64, &options->world.threads);
  }
  if (strcmp(option, "--lanes") == 0) {
    return parse_lanes(word, &options->world.lanes);
  }
  return parse_method(word, &options->world.method);
}

static bool takes_value(const char *option)
{
  static const char *const known[] = {"--set",     "--seconds", "--substeps", "--iterations",
                                      "--threads", "--lanes",   "--method"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (strcmp(option, known[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool parse_scene(const char *name, run_options *options)
{
  options->scene = scene_find(name);
  if (!options->scene) {
    complain("there is no scene '%s'; 'tenon scenes' lists them", name);
    return false;
  }
  options->settings = scene_defaults(options->scene);
  options->seconds = options->scene->seconds;
  options->world = tn_default_world_def();
  options->world.substeps = options->scene->substeps;
  return true;
}

bool options_parse(int count, char **words, run_options *options)
{
  memset(options, 0, sizeof *options);
  if (count < 1) {
    complain("run needs a scene; 'tenon scenes' lists them");
    return false;
  }
  if (!parse_scene(words[0], options)) {
    return false;
  }
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "--json") == 0) {
      options->json = true;
    } else if (!takes_value(words[i])) {
      complain("run has no option '%s'; 'tenon help' lists them", words[i]);
      return false;
    } else if (i + 1 == count) {
      complain("%s needs a value", words[i]);
      return false;
    } else if (!parse_value(words[i], words[i + 1], options)) {
      return false;
    } else {
      i += 1;
    }
  }
  return true;
}
