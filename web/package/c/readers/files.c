// Scene files and models of robots as scenes, for the npm package: a text is read once and opened
// as runs; scenes are written as files.
#include "options.h"
#include "robot.h"
#include "scene_file.h"

#include <tenon/import.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name), used))

// Layouts that import.js assumes.
_Static_assert(sizeof(tn_import_def) == 36 && offsetof(tn_import_def, log) == 24, "import");
_Static_assert(sizeof(tn_instance_def) == 56 && offsetof(tn_instance_def, y_up) == 40, "instance");
_Static_assert(sizeof(tn_model_body) == 144 && offsetof(tn_model_body, mass) == 64, "body");
_Static_assert(sizeof(tn_import_note) == 20 && sizeof(tn_model_counts) == 48, "note");
_Static_assert(sizeof(tn_convex_parts) == 24, "parts");

static char error[SCENE_FILE_ERROR];

EXPORT(file_error) const char *file_error(void)
{
  return error;
}

// A scene file with its text, which it keeps in use, or a model.
typedef struct file_source {
  scene_file *file;
  robot *robot;
  char text[];
} file_source;

static file_source *take_source(size_t size)
{
  file_source *source = calloc(1, sizeof *source + size + 1);
  if (!source) {
    strcpy(error, "not enough memory");
  }
  return source;
}

// Null with a message in file_error().
EXPORT(file_read) file_source *file_read(const char *text, uint32_t size)
{
  file_source *source = take_source(size);
  if (!source) {
    return NULL;
  }
  memcpy(source->text, text, size);
  source->file = scene_file_parse("line", source->text, size, error);
  if (!source->file) {
    free(source);
    return NULL;
  }
  return source;
}

// Messages of the command's functions: the disk in memory keeps what is written to stderr.
void complain(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

// A model on the disk in memory; null with a message in disk_told(). It knows the instance of its
// last run: each run needs a source of its own.
EXPORT(file_model) file_source *file_model(const char *path)
{
  static const robot_options usual;
  file_source *source = take_source(0);
  if (!source) {
    return NULL;
  }
  source->robot = robot_load(path, &usual);
  if (!source->robot) {
    free(source);
    return NULL;
  }
  return source;
}

EXPORT(file_free) void file_free(file_source *source)
{
  if (source) {
    scene_file_free(source->file);
    robot_free(source->robot);
    free(source);
  }
}

EXPORT(file_scene) const scene *file_scene(const file_source *source)
{
  return source->robot ? robot_scene(source->robot) : scene_file_scene(source->file);
}

// Solver settings of a scene file, and the substeps of a model.
EXPORT(file_settings) void file_settings(const file_source *source, tn_world_def *def)
{
  if (source->file) {
    scene_file_world(source->file, def);
  } else {
    def->substeps = robot_scene(source->robot)->substeps;
  }
}

// A scene as the text of a file, to be freed; null with a message in file_error().
EXPORT(file_write)
char *file_write(const scene *which, const scene_settings *values, const tn_world_def *def)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  bool written = out && scene_file_write(which, values, def, which->seconds, out, error);
  if (out) {
    fclose(out);
  }
  if (!written) {
    free(text);
    return NULL;
  }
  return text;
}
