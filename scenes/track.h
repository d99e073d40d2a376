// Tracks of two wires, and marbles on them.
#ifndef TENON_SCENES_TRACK_H
#define TENON_SCENES_TRACK_H

#include "build.h"

#define TRACK_MAX_STATIONS 512

// Path of a marble's centre, and the local up direction.
typedef struct track {
  tn_vec3 center[TRACK_MAX_STATIONS], up[TRACK_MAX_STATIONS];
  int count;
  bool closed;
} track;

tn_vec3 track_unit(tn_vec3 v);

void track_add(track *t, tn_vec3 center, tn_vec3 up);

// Adds both wires, for marbles of a radius, with the scene's friction.
void track_lay(scene_run *run, const track *t, float radius);
// Adds two frictionless guard wires above, which stop marbles that hop.
void track_lay_guards(scene_run *run, const track *t, float radius);

// A marble of 10 g, with the scene's friction and restitution.
tn_body_id track_add_marble(scene_run *run, tn_vec3 center, tn_vec3 velocity, tn_vec3 spin,
                            float radius);

// Distance from the rolling axis to the centre of a marble: speed over spin.
float track_rolling_radius(float radius);

// Adds two metrics: marbles off the track by more than their radius, and marbles past its end.
int track_count_off(const scene_run *run, const track *t);
int track_count_past(const scene_run *run, const track *t);
void track_note(const scene_run *run, scene_sheet *sheet, const track *t);

#endif
