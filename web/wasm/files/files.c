// Scene files in the page: reads the text of one, opens it as a scene, and writes scenes as files.
#include "gallery.h"
#include "scene_file.h"

#include <stdlib.h>
#include <string.h>

static scene_file *opened;
static char *opened_text;
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

// Reads the text in the buffer. On success all slots are closed, because they may hold the scene
// before; on failure nothing changes.
EXPORT(read_file) int page_read_file(uint32_t size)
{
  room[size] = '\0';
  scene_file *file = scene_file_parse("line", room, size, error);
  if (!file) {
    return false;
  }
  for (int s = 0; s < GALLERY_SLOTS; ++s) {
    page_close(s);
  }
  scene_file_free(opened);
  free(opened_text);
  opened = file;
  opened_text = room;
  room = NULL;
  return true;
}

EXPORT(file_scene) const char *page_file_scene(void)
{
  tn_world_def def = tn_default_world_def();
  scene_file_world(opened, &def);
  return scene_as_json(scene_file_scene(opened), &def);
}

EXPORT(open_file) int page_open_file(int s, int method, int substeps, int iterations)
{
  return opened && open_scene(s, scene_file_scene(opened), method, substeps, iterations);
}

// The text of a built-in scene with the current parameters, or of the opened file; null with a
// message if it cannot be written.
EXPORT(write_file) const char *page_write_file(int index, int method, int substeps, int iterations)
{
  static char *text;
  static size_t size;
  int count;
  const scene *const *all = scene_list(&count);
  const scene *which = index >= 0 && index < count ? all[index] : scene_file_scene(opened);
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
