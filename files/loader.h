// State of loading a scene file into a world.
#ifndef TENON_FILES_LOADER_H
#define TENON_FILES_LOADER_H

#include "build.h"
#include "names.h"
#include "read.h"
#include "scene_file.h"

struct scene_file {
  scene scene; // first, so that a run's scene can be cast to this
  char name[64];
  const char *path;
  char *text;
  cJSON *tree;
  file_scene content;
  file_motion *motions;
  int motion_count;
  const scene *behaviour;       // a built-in scene; null: none
  double memory[SCENE_MEMORY];  // initial memory of the behaviour
  char message[256];            // last message of the library
  char error[SCENE_FILE_ERROR]; // error of the last build
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

// The built-in scene whose drives and metrics a scene uses; null if none.
const scene *scene_behaviour(const scene *which);

// Reports the last message of the library as an error; returns false.
bool loader_fail(loader *l);
// Checks that it is a list of at most `most` items; a missing list is empty.
bool is_list(loader *l, const cJSON *list, const char *key, int most);
// Finds a body, null id for the world, or a soft body.
bool find_body(loader *l, const cJSON *json, tn_body_id *id);
bool find_soft(loader *l, const cJSON *json, tn_soft_id *id);
// Reads the name of a material, or a material.
bool load_material(loader *l, const cJSON *json, tn_material *out);

bool load_materials(loader *l);
bool load_geometries(loader *l);
bool load_bodies(loader *l);
bool load_joints(loader *l);
bool load_couplings(loader *l);
bool load_softs(loader *l);
bool load_attachments(loader *l);
bool load_motions(loader *l);

// Sets the targets of all servos with a motion.
void motions_drive(const scene_file *file, scene_run *run, double time);
void motions_free(scene_file *file);
// The motions of a scene from a file; null for others.
const file_motion *scene_motions(const scene *which, int *count);

#endif
