// What a scene was made of, where the world cannot tell it again to the last bit: the definitions
// of bodies and soft bodies. Shapes, joints and the rest are read from the world.
#ifndef TENON_SCENES_RECORD_H
#define TENON_SCENES_RECORD_H

#include "scenes.h"

typedef struct recorded_body {
  tn_body_def def;
  char name[32]; // of the definition, empty for none
  bool scenery;  // none of the run's
  bool spread;   // its mass is that of its shapes,
  float mass;    // scaled to this, unless it is 0
} recorded_body;

// Zeroed is empty.
struct scene_record {
  recorded_body *bodies; // in the order of the world's
  tn_soft_def *softs;    // with copies of their arrays
  int body_count, body_capacity;
  int soft_count, soft_capacity;
};

// As scene_create, and writes down what is made.
scene_run *scene_create_recorded(const scene *which, const scene_settings *settings,
                                 const tn_world_def *def, scene_record *record);

// False without memory. A null record takes nothing down.
bool record_body(scene_record *record, const tn_body_def *def, bool scenery);
void record_spread(scene_record *record, float mass); // of the last body
bool record_soft(scene_record *record, const tn_soft_def *def);
void record_free(scene_record *record);

#endif
