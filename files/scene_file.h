// Scenes as JSON files: read, run as built-in scenes are, and written.
#ifndef TENON_FILES_SCENE_FILE_H
#define TENON_FILES_SCENE_FILE_H

#include "scenes.h"

#include <stdio.h>

#define SCENE_FILE_ERROR 1200 // bytes, enough for any message

typedef struct scene_file scene_file;

// Reads and checks the whole file, and creates the scene once as a test. Returns null with one line
// of the form "file:line: path: reason" in `error`, which has SCENE_FILE_ERROR bytes.
scene_file *scene_file_load(const char *path, char *error);
// The same for a text; `name` is used in messages and is not copied.
scene_file *scene_file_parse(const char *name, const char *text, size_t size, char *error);
void scene_file_free(scene_file *file);

// The scene for scene_create and other functions; valid as long as the file.
const scene *scene_file_scene(const scene_file *file);
// Solver settings of the file.
void scene_file_world(const scene_file *file, tn_world_def *def);

// Writes a scene, built in or from a file, with its parameters and the solver settings of `def`.
// Returns false with `error` set if it cannot be created or written.
bool scene_file_write(const scene *which, const scene_settings *settings, const tn_world_def *def,
                      double seconds, FILE *out, char *error);
// Writes the JSON Schema of scene files.
void scene_file_write_schema(FILE *out);
// Writes all keys of scene files as a Markdown document.
void scene_file_write_keys(FILE *out);

#endif
