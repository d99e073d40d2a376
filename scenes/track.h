// Tracks of two wires, and marbles on them.
#ifndef TENON_SCENES_TRACK_H
#define TENON_SCENES_TRACK_H

#include "build.h"

#define TRACK_MAX_STATIONS 512

// Where the centre of a marble passes, and the way up that it sees.
typedef struct track {
  tn_vec3 center[TRACK_MAX_STATIONS], up[TRACK_MAX_STATIONS];
  int count;
  bool closed;
} track;

tn_vec3 track_unit(tn_vec3 v);

void track_add(track *t, tn_vec3 center, tn_vec3 up);

// Both wires, for marbles of a radius, with the scene's friction.
void track_lay(scene_run *run, const track *t, float radius);
// Two smooth wires above, which a marble touches only when it hops, and cannot pass.
void track_lay_guards(scene_run *run, const track *t, float radius);

// Of 10 g, with the scene's friction and restitution.
tn_body_id track_add_marble(scene_run *run, tn_vec3 center, tn_vec3 velocity, tn_vec3 spin,
                            float radius);

// From the axis about which a marble turns to its centre: what its spin times is its speed.
float track_rolling_radius(float radius);

// Marbles more than their radius from where the track carries them, except past its end; those that
// are past it; both as metrics.
int track_count_off(const scene_run *run, const track *t);
int track_count_past(const scene_run *run, const track *t);
void track_note(const scene_run *run, scene_sheet *sheet, const track *t);

#endif
