// A run as bytes: its scene and parameters, its metrics, and a snapshot of the world.
#include "build.h"

#include <string.h>

static const char MAGIC[8] = {'t', 'e', 'n', 'o', 'n', 'r', 'u', '1'};

typedef struct header {
  char magic[8];
  uint64_t size; // of the header
  char scene[32];
  scene_run run; // pointers are not saved
} header;

static void drop_pointers(scene_run *run)
{
  run->scene = NULL;
  run->world = NULL;
  run->bodies = NULL;
  run->joints = NULL;
  run->couplings = NULL;
  run->roles = NULL;
  run->record = NULL;
}

size_t scene_save(const scene_run *run, void *buffer, size_t capacity)
{
  size_t world = tn_world_save(run->world, NULL, 0);
  size_t size = sizeof(header) + world;
  if (capacity < size || world == 0) {
    return world == 0 ? 0 : size;
  }
  header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, MAGIC, sizeof h.magic);
  h.size = sizeof h;
  strncpy(h.scene, run->scene->name, sizeof h.scene - 1);
  memcpy(&h.run, run, sizeof h.run); // including padding, which is zero
  drop_pointers(&h.run);
  memcpy(buffer, &h, sizeof h);
  tn_world_save(run->world, (char *)buffer + sizeof h, world);
  return size;
}

static bool read_header(header *h, const void *buffer, size_t size)
{
  if (size < sizeof *h) {
    return false;
  }
  memcpy(h, buffer, sizeof *h);
  return memcmp(h->magic, MAGIC, sizeof h->magic) == 0 && h->size == sizeof *h &&
         memchr(h->scene, '\0', sizeof h->scene) != NULL;
}

// Checks that the parameters are valid for the scene.
static bool read_settings(const scene *which, const scene_settings *saved, scene_settings *settings)
{
  for (int i = 0; i < SCENE_MAX_PARAMETERS && which->parameters[i].name; ++i) {
    if (scene_set(which, settings, which->parameters[i].name, saved->value[i]) != SCENE_SET) {
      return false;
    }
  }
  return true;
}

bool scene_saved_name(const void *buffer, size_t size, char name[32])
{
  header h;
  bool ok = read_header(&h, buffer, size);
  memcpy(name, ok ? h.scene : "", ok ? sizeof h.scene : 1);
  return ok;
}

static const scene *find_saved(const void *buffer, size_t size)
{
  char name[32];
  return scene_saved_name(buffer, size, name) ? scene_find(name) : NULL;
}

const scene *scene_saved(const void *buffer, size_t size, scene_settings *settings)
{
  header h;
  const scene *which = find_saved(buffer, size);
  return which && read_header(&h, buffer, size) && read_settings(which, &h.run.settings, settings)
             ? which
             : NULL;
}

// Restores all but the pointers to this run's own memory.
static void take_watched(scene_run *run, const scene_run *saved)
{
  scene_run own = *run;
  *run = *saved;
  run->scene = own.scene;
  run->world = own.world;
  run->bodies = own.bodies;
  run->joints = own.joints;
  run->couplings = own.couplings;
  run->roles = own.roles;
  run->record = own.record;
  run->body_capacity = own.body_capacity;
  run->joint_capacity = own.joint_capacity;
  run->coupling_capacity = own.coupling_capacity;
}

static bool restore(scene_run *run, const void *buffer, size_t size)
{
  header h;
  if (!read_header(&h, buffer, size) || h.run.body_count != run->body_count ||
      h.run.joint_count != run->joint_count ||
      !tn_world_restore(run->world, (const char *)buffer + sizeof h, size - sizeof h)) {
    return false;
  }
  take_watched(run, &h.run);
  return true;
}

scene_run *scene_load(const void *buffer, size_t size, const tn_world_def *def)
{
  const scene *which = find_saved(buffer, size);
  return which ? scene_load_as(which, buffer, size, def) : NULL;
}

scene_run *scene_load_as(const scene *which, const void *buffer, size_t size,
                         const tn_world_def *def)
{
  header h;
  scene_settings settings;
  bool ok = read_header(&h, buffer, size) && read_settings(which, &h.run.settings, &settings);
  scene_run *run = ok ? scene_create(which, &settings, def) : NULL;
  if (run && !restore(run, buffer, size)) {
    scene_destroy(run);
    run = NULL;
  }
  return run;
}
