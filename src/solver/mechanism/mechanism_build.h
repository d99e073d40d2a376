// Building of mechanisms: which joints they consist of, and how their steps begin.
#ifndef TENON_SOLVER_MECHANISM_MECHANISM_BUILD_H
#define TENON_SOLVER_MECHANISM_MECHANISM_BUILD_H

#include "base/heap.h"
#include "data/bodies.h"
#include "data/contacts.h"
#include "data/couplings.h"
#include "data/joints.h"
#include "solver/contact/contact_layout.h"
#include "solver/mechanism/mechanism.h"

// What mechanisms are made of. Arrays are by slot.
typedef struct mechanism_inputs {
  heap *heap;
  const body *bodies;
  int32_t body_count;
  joint *joints;
  coupling *couplings;
  int32_t threads; // threads that solve mechanisms
} mechanism_inputs;

// Groups `count` links into mechanisms and sets their joint.direct and coupling.direct. A link is
// the slot of a joint, or ~slot of a coupling; joints come first, both in slot order. A mechanism
// whose elimination would fill in too much is left out: its links keep direct == NO_SLOT, and its
// joints go to Gauss-Seidel. False when out of memory.
bool mechanisms_build(mechanism_set *set, const mechanism_inputs *in, const int32_t *links,
                      int32_t count);
void mechanisms_release(mechanism_set *set, heap *h);
// solver/mechanism/mechanism_batch.c: mechanisms solved side by side in lanes, and blocks of joint
// Jacobians.
bool batches_build(mechanism_set *set, heap *h, int32_t threads);
void batches_begin_step(mechanism_set *set);
void batches_release(mechanism_set *set, heap *h);
// Lists the contacts of mechanisms among the blocks of `g`, and sets the mechanisms of bodies in
// `flags`. False when out of memory.
bool warm_contacts_list(mechanism_set *set, heap *h, const contact_graph *g,
                        const contact *contacts, body_contact_flags *flags);

#endif
