// Definitions of bodies and soft bodies of a scene, which the world does not return exactly.
// Shapes, joints and the rest are read from the world.
#ifndef TENON_SCENES_RECORD_H
#define TENON_SCENES_RECORD_H

#include "scenes.h"

typedef struct recorded_body {
  tn_body_def def;
  char name[32]; // of the definition; may be empty
  bool scenery;  // not counted among the run's bodies
  bool spread;   // its mass is distributed over its shapes,
  float mass;    // scaled to this, unless it is 0
} recorded_body;

// A zeroed record is empty.
struct scene_record {
  recorded_body *bodies; // in the order of the world's bodies
  tn_soft_def *softs;    // with copies of their arrays
  int body_count, body_capacity;
  int soft_count, soft_capacity;
};

// As scene_create, and records the definitions.
scene_run *scene_create_recorded(const scene *which, const scene_settings *settings,
                                 const tn_world_def *def, scene_record *record);

// Return false if out of memory. A null record is ignored.
bool record_body(scene_record *record, const tn_body_def *def, bool scenery);
void record_spread(scene_record *record, float mass); // for the last body
bool record_soft(scene_record *record, const tn_soft_def *def);
void record_free(scene_record *record);

#endif
