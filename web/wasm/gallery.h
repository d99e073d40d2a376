// Interface of the module to the page: numbered slots, each with one running scene, and flat arrays
// of numbers in memory.
#ifndef TENON_GALLERY_H
#define TENON_GALLERY_H

#include "scenes.h"

#define GALLERY_SLOTS 2 // two scenes side by side
#define FRAME (1.0f / 60.0f)

// Exported functions: page_name in C, name in JavaScript.
#define EXPORT(name) __attribute__((export_name(#name), used))

// One item to draw: a shape, or a body without shapes.
typedef struct item {
  int kind;     // tn_shape_kind
  int geometry; // index of the shared geometry, or -1
  int body;     // index among the drawn bodies, or -1 for the world
  int type;     // tn_body_type
  int order;    // among equal items
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
  tn_counters drawn; // counters of the world when the items were listed
  bool dirty;        // the items must be listed again
  tn_joint_id hold;  // joint of the hand, or null
  tn_attachment_id soft_hold;
  double peak[3]; // largest since the last query of the page: gap, angle, penetration
} slot;

extern slot slots[GALLERY_SLOTS];

// gallery.c
// Creates a scene with the page's parameters; on failure the slot stays empty.
bool open_scene(int s, const scene *which, int method, int substeps, int iterations);
scene_settings page_settings(void);
void page_close(int s);

// catalog.c
// A scene as JSON; null settings of the solver are those of the scene.
const char *scene_as_json(const scene *which, const tn_world_def *def);

// Buffers for the page, one for each purpose; they grow and are reused.
typedef enum purpose { FOR_TEXT, FOR_FLOATS, FOR_DOUBLES, FOR_IDS, FOR_STATE, PURPOSES } purpose;
void *gallery_memory(purpose what, size_t size);

// Soft bodies are picked as numbers below -1: SOFT_ITEM(0) is the first.
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

// inspect.c
void forget_changes(int s);

void gallery_log(tn_log_level level, const char *message, void *context);

// surface.c
// Triangles of a shared geometry as [vertices, indices, x, y, z..., i, j, k...]; null without any.
const float *surface_of(const tn_world *world, tn_geometry_id id, float radius);

#endif
