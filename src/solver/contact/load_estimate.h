// Loads on bodies from flat contacts.
#ifndef TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H
#define TENON_SOLVER_CONTACT_LOAD_ESTIMATE_H

#include "data/contacts.h"

#include <tenon/tenon.h>

#include <stdatomic.h>

// Impulses per substep, N s: x, y, z of their vector sum, and the sum of their magnitudes. One
// array, so that it is added as a vector.
typedef float load_sum[4];

// Loads on a body: of its settled flat contacts of at least three points, and of all contacts.
typedef struct body_load {
  load_sum load, squeeze;
  float inverse_mass_scale;    // factor of the inverse mass, at most 1
  float inverse_inertia_scale; // factor of the inverse inertia, at most 1
  float total_weight;          // N s per substep, of it and what rests on it, for the load estimate
  int32_t support_count;       // faces that carry it, for the load estimate
  bool has_other_load;         // also loaded by edges, points or round contacts
  atomic_int stack;            // bodies that faces join have the same root; see stack_of()
  atomic_int stack_points;     // at which other things carry the body; of a root: its stack
} body_load;

// What the contacts of a pair press on its bodies with; vectors on B.
typedef struct pair_load {
  load_sum load, squeeze; // of settled faces; of all contacts
  int8_t faces, points;   // settled faces; points at which other contacts bear
  bool has_other;         // a contact that is no face may bear
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
