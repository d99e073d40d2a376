// Soft bodies in a film. Each is a node with the rigid motion of the body; the remaining
// deformation is stored at some frames, the keys, and interpolated linearly in between.
#ifndef TENON_CLI_SKIN_H
#define TENON_CLI_SKIN_H

#include "gltf.h"
#include "scenes.h"

typedef struct skins skins;

// Returns null if out of memory.
skins *skins_create(const scene_run *run);
void skins_destroy(skins *s);

// Records the current state. Returns false if out of memory.
bool skins_record(skins *s, const scene_run *run);

// `times` holds the times of the frames, `times_accessor` is their accessor. Returns false if out
// of memory.
bool skins_write(const skins *s, gltf *file, const float *times, int times_accessor,
                 int first_material, int materials);

#endif
