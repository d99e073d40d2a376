// Records the motion of a run and writes it as animated glTF 2.0.
#ifndef TENON_CLI_FILM_H
#define TENON_CLI_FILM_H

#include "scenes.h"

#include <stdio.h>

typedef struct film film;

// Returns null if out of memory.
film *film_create(const scene_run *run);
void film_destroy(film *f);

// Records the current poses. Returns false if out of memory.
bool film_record(film *f, const scene_run *run);

// Writes one binary file (.glb): a node for each body, with its shapes as children, a node for each
// soft body, with its shapes as morph targets, and the camera. Returns false if out of memory or
// beyond the format's 4 GiB; the caller checks for write errors.
bool film_write(const film *f, const scene_run *run, FILE *file);

#endif
