// Scenes, parameters and metrics as JSON.
#include "gallery.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CATALOG_SIZE (256 * 1024)

static size_t used;

static void put(const char *format, ...)
{
  char *text = gallery_memory(FOR_TEXT, CATALOG_SIZE);
  va_list arguments;
  va_start(arguments, format);
  int count = vsnprintf(text + used, CATALOG_SIZE - used, format, arguments);
  va_end(arguments);
  used += count > 0 && used + (size_t)count < CATALOG_SIZE ? (size_t)count : 0;
}

static void put_string(const char *s)
{
  put("\"");
  for (; *s; ++s) {
    put(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
  }
  put("\"");
}

// Numbers are passed separately and exactly: the text has their index in `numbers`.
#define MOST_NUMBERS 8192

static double *numbers;
static int number_count;

static void put_number(double value)
{
  numbers = gallery_memory(FOR_DOUBLES, MOST_NUMBERS * sizeof *numbers);
  if (number_count == MOST_NUMBERS) {
    __builtin_trap();
  }
  put("%d", number_count);
  numbers[number_count++] = value;
}

static void put_field(const char *name, double value)
{
  put(",\"%s\":", name);
  put_number(value);
}

static void put_vector(const char *name, tn_vec3 v)
{
  put(",\"%s\":[", name);
  put_number((double)v.x);
  put(",");
  put_number((double)v.y);
  put(",");
  put_number((double)v.z);
  put("]");
}

EXPORT(catalog_numbers) const double *page_catalog_numbers(void)
{
  return numbers;
}

static void put_parameters(const scene *which)
{
  for (int i = 0; i < SCENE_MAX_PARAMETERS && which->parameters[i].name; ++i) {
    const scene_parameter *p = &which->parameters[i];
    put("%s{\"name\":", i ? "," : "");
    put_string(p->name);
    put_field("lo", p->lo);
    put_field("hi", p->hi);
    put_field("value", p->value);
    put(",\"whole\":%s,\"meaning\":", p->whole ? "true" : "false");
    put_string(p->meaning);
    put("}");
  }
}

static void put_scene(const scene *which, const tn_world_def *def)
{
  put("{\"name\":");
  put_string(which->name);
  put(",\"title\":");
  put_string(which->title);
  put(",\"source\":");
  put_string(which->source);
  put(",\"group\":");
  put_string(scene_group_title(which->group));
  put(",\"conserves\":%s", which->conserves ? "true" : "false");
  put_field("seconds", which->seconds);
  put_field("substeps", def ? def->substeps : which->substeps);
  put_field("method", def ? def->method : TN_METHOD_TENON);
  put_field("iterations", def ? def->iterations : 1);
  put_vector("eye", which->camera.eye);
  put_vector("target", which->camera.target);
  put(",\"parameters\":[");
  put_parameters(which);
  put("]}");
}

EXPORT(catalog) const char *page_catalog(void)
{
  used = 0;
  number_count = 0;
  int count;
  const scene *const *all = scene_list(&count);
  put("{\"version\":");
  put_string(TN_VERSION_STRING);
  put(",\"scenes\":[");
  for (int i = 0; i < count; ++i) {
    put(i ? "," : "");
    put_scene(all[i], NULL);
  }
  put("]}");
  return gallery_memory(FOR_TEXT, CATALOG_SIZE);
}

const char *scene_as_json(const scene *which, const tn_world_def *def)
{
  used = 0;
  number_count = 0;
  put_scene(which, def);
  return gallery_memory(FOR_TEXT, CATALOG_SIZE);
}

EXPORT(metrics) const char *page_metrics(int s)
{
  scene_metric list[SCENE_MAX_METRICS];
  int count = scene_metrics(slots[s].run, list, SCENE_MAX_METRICS);
  used = 0;
  number_count = 0;
  put("[");
  for (int i = 0; i < count && i < SCENE_MAX_METRICS; ++i) {
    put("%s[", i ? "," : "");
    put_string(list[i].name);
    put(",");
    put_number(list[i].value);
    put("]");
  }
  put("]");
  return gallery_memory(FOR_TEXT, CATALOG_SIZE);
}
