// Loads on bodies from flat contacts.
#ifndef TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H
#define TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H

#include "data/contacts.h"

#include <tenon/tenon.h>

// Loads on a body: of its settled flat contacts of at least three points, and of all contacts.
typedef struct body_load {
  float total_load;            // sum of the magnitudes of the faces' impulses, N s per substep
  tn_vec3 net_load;            // vector sum of them, N s
  float total_squeeze;         // the same of all contacts
  tn_vec3 net_squeeze;         // vector sum of them, N s
  float inverse_mass_scale;    // factor of the inverse mass, at most 1
  float inverse_inertia_scale; // factor of the inverse inertia, at most 1
  int32_t support_count;       // faces that carry it, for the load estimate
  bool has_other_load;         // also loaded by edges, points or round contacts
  int32_t stack;               // bodies that faces join have the same root; see stack_of()
  int32_t stack_points;        // of a root: points at which other things carry the stack
} body_load;

// What a contact presses on its bodies with, per substep.
typedef struct contact_load {
  float load;       // N s; 0: none
  tn_vec3 net_load; // N s, on B
  bool face;        // settled, flat, and three of its points are loaded
} contact_load;

// A flat contact on which one body rests on another.
typedef struct support_face {
  double height; // of the upper body's centre against gravity, m
  int32_t contact, upper, lower;
} support_face;

// Initial preloads of faces in a scene whose contacts are mostly unsettled; h: substep, s.
bool load_estimate_init(tn_world *world, float h);
contact_load contact_load_of(const tn_world *world, const contact *c);
// Sets the factors of mass and inertia of body_load.
bool inertia_scaling_update(tn_world *world, float h);
void body_loads_release(tn_world *world);

#endif
