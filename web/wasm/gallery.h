// The library and its scenes as the page sees them: numbered slots, each with one scene that runs,
// and flat arrays of numbers in memory.
#ifndef TENON_GALLERY_H
#define TENON_GALLERY_H

#include "scenes.h"

#define GALLERY_SLOTS 2 // two scenes side by side
#define FRAME (1.0f / 60.0f)

// What the page calls: page_name here, name there.
#define EXPORT(name) __attribute__((export_name(#name), used))

// One thing to draw: a shape, or a body that has none.
typedef struct item {
  int kind;     // tn_shape_kind
  int geometry; // index of the shared geometry, or -1
  int body;     // number among the bodies drawn, or -1 for the world
  int type;     // tn_body_type
  int order;    // among equals
  bool sensor;
  tn_body_id id;
  tn_shape_id shape; // null for a body without shapes
  tn_vec3 position;  // in the body's frame
  tn_quat rotation;
  float radius, half_length;
  tn_vec3 half_extents;
} item;

typedef struct slot {
  scene_run *run;
  item *items;
  int item_count;
  tn_counters drawn; // the world when the items were listed
  bool dirty;        // they have to be listed again
  tn_joint_id hold;  // of the hand, or null
  tn_attachment_id soft_hold;
  double peak[3]; // worst since the page last asked: gap, angle, penetration
} slot;

extern slot slots[GALLERY_SLOTS];

// Memory for what is handed out, one block for each purpose; it grows and is used again.
typedef enum purpose { FOR_TEXT, FOR_FLOATS, FOR_DOUBLES, FOR_IDS, FOR_STATE, PURPOSES } purpose;
void *gallery_memory(purpose what, size_t size);

// Soft bodies are picked as numbers below -1: SOFT_ITEM(0) is the first of them.
#define SOFT_ITEM(i) (-2 - (i))

// soft.c
int hand_soft_pick(const tn_world *world, const tn_hit *hit, tn_pos from, tn_vec3 way,
                   float *nearest);
float hand_soft_mass(const tn_world *world, int i);
bool hand_soft_grab(int s, int i, tn_pos point, float compliance);
void hand_soft_pin(int s, int i, tn_pos point);
void hand_soft_throw(int s, int i, tn_vec3 velocity);
bool hand_soft_remove(int s, int i);
void hand_soft_forget_hand(slot *here);
void make_cloth(tn_world *world, tn_pos at, float size);

void gallery_log(tn_log_level level, const char *message, void *context);

// surface.c
// Triangles of a shared geometry as [vertices, indices, x, y, z..., i, j, k...]; null without any.
const float *surface_of(const tn_world *world, tn_geometry_id id, float radius);

#endif
