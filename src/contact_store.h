// How the solver keeps contacts: what solve_contact.c gathers, computes and scatters.
#ifndef TENON_CONTACT_STORE_H
#define TENON_CONTACT_STORE_H

#include "kernel/follow.h"
#include "store.h"

// Manifolds that one pass treats alike: how they follow their bodies, and how many points they may
// have.
typedef enum contact_type {
  CONTACT_FLAT_1,
  CONTACT_FLAT_2,
  CONTACT_FLAT_4,
  CONTACT_ROUND_1,
  CONTACT_ROUND_2,
  CONTACT_RIM_2,
  CONTACT_RIM_4,
  CONTACT_WIRE_1,
  CONTACT_TYPE_COUNT
} contact_type;

typedef union contact_start {
  FlatStart flat;
  RoundStart round;
  RimStart rim;
  WireStart wire;
} contact_start;

struct contact_block {
  alignas(64) int32_t a[BLOCK_WIDTH];
  int32_t b[BLOCK_WIDTH];
  int32_t contact[BLOCK_WIDTH]; // slot, or -1
  uint8_t move_a[BLOCK_WIDTH], move_b[BLOCK_WIDTH];
  int32_t type;                                        // contact_type of every lane
  int32_t rolls;                                       // some lane has rolling friction
  int32_t bounces;                                     // some lane has restitution
  alignas(64) float used[CONTACT_POINTS][BLOCK_WIDTH]; // 1 for points in use
  float params[FIELDS(ContactParams)][BLOCK_WIDTH];
  float state[FIELDS(ContactState)][BLOCK_WIDTH];
  float touch[FIELDS(Touch)][BLOCK_WIDTH];
  float mass[FIELDS(ContactMass)][BLOCK_WIDTH];
  float start[FIELDS(contact_start)][BLOCK_WIDTH];
  float shift[FIELDS(Strain)][BLOCK_WIDTH];   // of the friction patch since the step began
  float left[BLOCK_WIDTH];                    // of the substep, s
  float sum[CONTACT_POINTS + 4][BLOCK_WIDTH]; // impulses of the step: points, friction, twist
  float restitution[BLOCK_WIDTH];
  float hit[BLOCK_WIDTH];                      // fastest approach that was stopped in the step, m/s
  float approach[CONTACT_POINTS][BLOCK_WIDTH]; // normal velocity before the substep
};

// A manifold that may bounce, as its place in the blocks.
typedef struct bouncer {
  int32_t block, lane;
} bouncer;

typedef struct contact_ops {
  // Impulse form: once a step; what a substep starts from; its solve; at the new pose without
  // correction; gaps again after impacts.
  void (*begin)(solver_data *data, int first, int last);
  void (*warm)(solver_data *data, int first, int last);
  void (*solve)(solver_data *data, int first, int last);
  void (*relax)(solver_data *data, int first, int last);
  void (*refresh)(solver_data *data, int first, int last);
  // Position form: velocities before the substep; then what substep.stage says.
  void (*approach)(solver_data *data, int first, int last);
  void (*positions)(solver_data *data, int first, int last);
} contact_ops;

extern const contact_ops contact_ops_1, contact_ops_4, contact_ops_8;

// Impacts with restitution, one after the other; true if there were any.
int bounce(solver_data *data, const bouncer *bouncers, int count, float gravity);

#endif
