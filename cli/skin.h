// The soft bodies of a film. Each is a node that moves as the body does as a whole; what remains is
// its form, which is kept at some of the frames, the keys, and changes evenly in between.
#ifndef TENON_CLI_SKIN_H
#define TENON_CLI_SKIN_H

#include "gltf.h"
#include "scenes.h"

typedef struct skins skins;

// Null without memory.
skins *skins_create(const scene_run *run);
void skins_destroy(skins *s);

// As they are now. False without memory.
bool skins_record(skins *s, const scene_run *run);

// `times` holds those of the frames, also as an accessor. False without memory.
bool skins_write(const skins *s, gltf *file, const float *times, int times_accessor,
                 int first_material, int materials);

#endif
