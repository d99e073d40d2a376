// Loads on bodies from flat contacts.
#ifndef TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H
#define TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H

#include "data/contacts.h"

#include <tenon/tenon.h>

#include <stdatomic.h>

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
  atomic_int stack;            // bodies that faces join have the same root; see stack_of()
  atomic_int stack_points;     // at which other things carry the body; of a root: its stack
} body_load;

// What the contacts of a pair press on its bodies with, per substep.
typedef struct pair_load {
  float squeeze, load;           // N s, sums of impulses: of all contacts; of settled faces
  tn_vec3 net_squeeze, net_load; // N s, on B, vector sums of them
  int8_t faces, points;          // settled faces; points at which other contacts bear
  bool has_other;                // a contact that is no face may bear
} pair_load;

// A flat contact on which one body rests on another.
typedef struct support_face {
  double height; // of the upper body's centre against gravity, m
  int32_t contact, upper, lower;
} support_face;

// Initial preloads of faces in a scene whose contacts are mostly unsettled; h: substep, s.
bool load_estimate_init(tn_world *world, float h);
pair_load pair_load_of(const tn_world *world, const contact *first);
// Sets the factors of mass and inertia of body_load.
bool inertia_scaling_update(tn_world *world, float h);
void body_loads_release(tn_world *world);

#endif
