// Loads on bodies from flat contacts.
#ifndef TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H
#define TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H

#include "data/contacts.h"

#include <tenon/tenon.h>

// Load on a body from flat face contacts.
typedef struct body_load {
  float total_load;            // sum of the magnitudes of their normal impulses, N s per substep
  tn_vec3 net_load;            // vector sum of them, N s
  float inverse_inertia_scale; // factor of the inverse inertia, at most 1
  int32_t support_count;       // faces that carry it, for the load estimate
  bool has_other_load;         // also loaded by edges, points or round contacts
} body_load;

// What a settled contact of four points presses on its bodies with, per substep.
typedef struct face_load {
  float load;       // N s; 0: none
  tn_vec3 net_load; // N s, on B
} face_load;

// A flat contact on which one body rests on another.
typedef struct support_face {
  double height; // of the upper body's centre against gravity, m
  int32_t contact, upper, lower;
} support_face;

// Initial preloads of faces in a scene whose contacts are mostly unsettled; h: substep, s.
bool load_estimate_init(tn_world *world, float h);
// Of a contact that is not such a face: zero.
face_load face_load_of(const tn_world *world, const contact *c);
// Sets body_load.inverse_inertia_scale, which stiffens loaded faces.
bool inertia_scaling_update(tn_world *world, float h);
void body_loads_release(tn_world *world);

#endif
