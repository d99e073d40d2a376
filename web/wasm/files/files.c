// Scene files and models of robots in the page: reads one, opens it as a scene, and writes scenes
// as files.
#include "gallery.h"
#include "options.h"
#include "scene_file.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static scene_file *opened;
static char *opened_text;
// The model that is opened instead, by its path on the disk in memory: one for each slot, because a
// model knows the instance of its last run.
static char *model_path;
static robot *robots[GALLERY_SLOTS];
static char error[SCENE_FILE_ERROR];

// The message of the last failure: "file:line: path: reason".
EXPORT(file_error) const char *page_file_error(void)
{
  return error;
}

static char *room;

// Buffer for a text of `size` bytes, which a null byte must end.
EXPORT(file_room) char *page_file_room(uint32_t size)
{
  free(room);
  room = malloc((size_t)size + 1);
  if (!room) {
    __builtin_trap(); // the page reports that the engine has stopped
  }
  return room;
}

static void close_opened(void)
{
  for (int s = 0; s < GALLERY_SLOTS; ++s) {
    page_close(s);
    robot_free(robots[s]);
    robots[s] = NULL;
  }
  scene_file_free(opened);
  free(opened_text);
  free(model_path);
  opened = NULL;
  opened_text = model_path = NULL;
}

// Reads the text in the buffer. On success all slots are closed, because they may hold the scene
// before; on failure nothing changes.
EXPORT(read_file) int page_read_file(uint32_t size)
{
  room[size] = '\0';
  scene_file *file = scene_file_parse("line", room, size, error);
  if (!file) {
    return false;
  }
  close_opened();
  opened = file;
  opened_text = room;
  room = NULL;
  return true;
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

// Reads the model whose path on the disk in memory is in the buffer, as page_read_file() does; the
// message of a failure is on stderr.
EXPORT(read_model) int page_read_model(uint32_t size)
{
  static const robot_options usual;
  room[size] = '\0';
  robot *r = robot_load(room, &usual);
  if (!r) {
    return false;
  }
  close_opened();
  robots[0] = r;
  model_path = room;
  room = NULL;
  return true;
}

// The opened scene, as slot `s` uses it; null if there is none.
static const scene *opened_scene(int s)
{
  static const robot_options usual;
  if (model_path && !robots[s]) {
    robots[s] = robot_load(model_path, &usual);
  }
  return robots[s] ? robot_scene(robots[s]) : opened ? scene_file_scene(opened) : NULL;
}

EXPORT(file_scene) const char *page_file_scene(void)
{
  if (model_path) {
    return scene_as_json(opened_scene(0), NULL);
  }
  tn_world_def def = tn_default_world_def();
  scene_file_world(opened, &def);
  return scene_as_json(scene_file_scene(opened), &def);
}

EXPORT(open_file) int page_open_file(int s, int method, int substeps, int iterations)
{
  const scene *which = opened_scene(s);
  return which && open_scene(s, which, method, substeps, iterations);
}

// The text of a built-in scene with the current parameters, or of the opened file; null with a
// message if it cannot be written.
EXPORT(write_file) const char *page_write_file(int index, int method, int substeps, int iterations)
{
  static char *text;
  static size_t size;
  int count;
  const scene *const *all = scene_list(&count);
  const scene *which = index >= 0 && index < count ? all[index] : opened_scene(0);
  scene_settings settings = page_settings();
  tn_world_def def = tn_default_world_def();
  def.method = (tn_method)method;
  def.substeps = substeps;
  def.iterations = iterations;
  free(text);
  text = NULL;
  FILE *out = open_memstream(&text, &size);
  bool written = out && scene_file_write(which, &settings, &def, which->seconds, out, error);
  if (out) {
    fclose(out);
  }
  return written ? text : NULL;
}
