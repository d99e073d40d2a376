// Rows of contacts of struck mechanisms, see contact_response.c.
#ifndef TENON_SOLVER_MECHANISM_CONTACT_RESPONSE_H
#define TENON_SOLVER_MECHANISM_CONTACT_RESPONSE_H

#include "base/heap.h"
#include "solver/contact/contact_block.h"
#include "solver/mechanism/mechanism.h"

// Rows and held limits of one mechanism, and mechanisms that respond in a substep. Contacts and
// mechanisms beyond these keep what the pass over contacts has found.
#define RESPONSE_ROWS 48
#define RESPONSE_LIMITS 16
#define RESPONSE_MECHANISMS 256

// A normal or tangential row of a contact; g: its gradient on v, w of the bodies A and B.
struct response_row {
  float g[2][BODY_ROWS];
  int32_t place[2];   // among the rows of its struck mechanisms
  double start, rate; // bias and velocity of all but loose bodies, m/s: before the sweeps, and now
  double inverse_mass;
  double before, impulse; // N s: of the pass over contacts, and beyond it
};

struct response_contact {
  int32_t warm;                  // index in mechanism_set.warm_contacts
  int32_t first_row;             // a row for each point, then two tangents
  int32_t points;                // in use
  int32_t point[CONTACT_POINTS]; // their places in the manifold
  int32_t body[2];
  int32_t struck[2]; // struck mechanism of A and B, or NO_SLOT
  bool loose[2];     // moves, and belongs to no struck mechanism
  double friction;   // coefficient
};

typedef struct held_limit {
  const joint_row *row;
  bool released;
  int32_t solution;           // place of its impulse in the solutions
  float share[RESPONSE_ROWS]; // its impulse for a unit impulse along each row
} held_limit;

struct struck_mechanism {
  int32_t mechanism;
  int32_t count;              // of rows
  int32_t row[RESPONSE_ROWS]; // 2 * response_row + side
  int32_t body[RESPONSE_ROWS];
  float d[RESPONSE_ROWS][RESPONSE_ROWS]; // velocity of a row per impulse of another, 1/kg
  held_limit held[RESPONSE_LIMITS];
  int32_t held_count;
  bool stale; // d must be found
};

bool contact_responses_reserve(mechanism_set *set, heap *h);
void contact_responses_release(mechanism_set *set, heap *h);

// In this order, after DIRECT_RESOLVE: closing rates of all contacts of mechanisms; which
// mechanisms are struck, and the rows of their contacts, false if there are none; responses, and
// sweeps, until no limit is released; then the impulses to the bodies, and a solve of the
// mechanisms that answer.
void contact_responses_measure(int first, int last, void *context);
bool contact_responses_begin(const direct_context *c);
void contact_responses_find(int first, int last, void *context);
bool contact_responses_sweep(const direct_context *c);
void contact_responses_apply(const direct_context *c);
void contact_responses_end(const direct_context *c);

#endif
