// The motion of a run, frame by frame, as animated glTF 2.0.
#ifndef TENON_CLI_FILM_H
#define TENON_CLI_FILM_H

#include "scenes.h"

#include <stdio.h>

typedef struct film film;

// Null without memory.
film *film_create(const scene_run *run);
void film_destroy(film *f);

// The bodies as they are now. False without memory.
bool film_record(film *f, const scene_run *run);

// One binary file (.glb): a node for each body, with its shapes as children, one for each soft
// body, with its form as morph targets, and the camera. False if it does not fit into memory or
// into the format's 4 GiB; the caller looks after write errors.
bool film_write(const film *f, const scene_run *run, FILE *file);

#endif
