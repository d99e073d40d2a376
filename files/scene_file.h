// Scenes as JSON files: read, run like any other scene, and written.
#ifndef TENON_FILES_SCENE_FILE_H
#define TENON_FILES_SCENE_FILE_H

#include "scenes.h"

#include <stdio.h>

#define SCENE_FILE_ERROR 1200 // bytes that hold any message

typedef struct scene_file scene_file;

// Reads and checks everything, up to making all of it once. Null with one line of the form
// "file:line: path: what is wrong" in `error`, which has SCENE_FILE_ERROR bytes.
scene_file *scene_file_load(const char *path, char *error);
// The same of a text, which `name` stands for in messages; it is not copied.
scene_file *scene_file_parse(const char *name, const char *text, size_t size, char *error);
void scene_file_free(scene_file *file);

// For scene_create and all that takes a scene; lives as long as the file.
const scene *scene_file_scene(const scene_file *file);
// How the file wants to be solved.
void scene_file_world(const scene_file *file, tn_world_def *def);

// Writes a scene, built in or of a file, with its parameters; `def` is how it is solved. False
// with `error` filled in if it cannot be made, or written down.
bool scene_file_write(const scene *which, const scene_settings *settings, const tn_world_def *def,
                      double seconds, FILE *out, char *error);
// The JSON Schema of scene files.
void scene_file_write_schema(FILE *out);
// All that a scene file may say, as a document in Markdown.
void scene_file_write_keys(FILE *out);

#endif
