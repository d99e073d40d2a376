// A scene file on its way into a world.
#ifndef TENON_FILES_LOADER_H
#define TENON_FILES_LOADER_H

#include "build.h"
#include "names.h"
#include "read.h"
#include "scene_file.h"

struct scene_file {
  scene scene; // the first, so that a run's scene leads back here
  char name[64];
  const char *path;
  char *text;
  cJSON *tree;
  file_scene content;
  const scene *behaviour;       // built in; null: none
  double memory[SCENE_MEMORY];  // that the behaviour starts with
  char message[256];            // what the library said last
  char error[SCENE_FILE_ERROR]; // of the last build
};

enum { MAX_THINGS = 100000, MAX_SHAPES = 5000, MAX_PARTICLES = 500000 };

typedef struct loader {
  scene_file *file;
  scene_run *run;
  reader r;
  tn_material *materials;
  tn_geometry_id *geometries;
  tn_body_id *bodies;
  tn_soft_id *softs;
  name_table material_names, geometry_names, body_names, soft_names;
  int body_count, soft_count;
  double particles;
} loader;

// The built-in scene whose drives or metrics a scene has; null if it has none.
const scene *scene_behaviour(const scene *which);

// What the library did not like; returns false.
bool loader_fail(loader *l);
// Whether it is a list of no more than so many; none at all is an empty one.
bool is_list(loader *l, const cJSON *list, const char *key, int most);
// Which body, null id for the world; and which soft body.
bool find_body(loader *l, const cJSON *json, tn_body_id *id);
bool find_soft(loader *l, const cJSON *json, tn_soft_id *id);
// A name, or an object.
bool load_material(loader *l, const cJSON *json, tn_material *out);

bool load_materials(loader *l);
bool load_geometries(loader *l);
bool load_bodies(loader *l);
bool load_joints(loader *l);
bool load_softs(loader *l);
bool load_attachments(loader *l);

#endif
