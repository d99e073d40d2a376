// How the solver keeps particles and what holds them: what solve_soft.c gathers, computes and
// scatters.
//
// Particles lie half a cache line each, those of all soft bodies that are awake one after the
// other. Place 0 stands for none. Constraints of a type lie in blocks of BLOCK_WIDTH: places of
// their particles, then floats, of which the first are set once, the next remember from substep to
// substep, and the last say where the particles were when the step began, seen from the first.
#ifndef TENON_SOFT_STORE_H
#define TENON_SOFT_STORE_H

#include "kernel/touch.h"
#include "store.h"

typedef struct particle_state {
  union {
    alignas(32) float line[8];
    struct {
      float v[3], inverse_mass;
      float dx[3]; // since the step began
      float share;
    };
  };
} particle_state;

// A particle when the step began, seen from its body's first.
typedef struct ParticleStart {
  V x, v;
  R mass;
} ParticleStart;

// Eight particles' accelerations, and how much of a substep's kick comes before the first drift.
typedef struct particle_block {
  alignas(32) float acceleration[3][BLOCK_WIDTH];
  float lead[BLOCK_WIDTH];
  float start[FIELDS(ParticleStart)][BLOCK_WIDTH];
} particle_block;

// Sums over the particles of a body, of which each has moved by dx and changed its velocity by dv,
// which is not what gravity and forces do.
typedef struct MotionSums {
  R mass;
  V first, way, p; // m x, m dx, m v
  V dp, dl;        // how momenta have changed
  S second;        // m x x
} MotionSums;

typedef enum soft_type {
  SOFT_EDGE,
  SOFT_TETHER,
  SOFT_BEND,
  SOFT_FOLD,
  SOFT_VOLUME,
  SOFT_NEO,
  SOFT_TET,
  SOFT_CELL,
  SOFT_TYPE_COUNT
} soft_type;

// Sizes of a type, in floats but for the first.
typedef struct soft_layout {
  int particles, params, state;
} soft_layout;

#define SOFT_MAX_PARTICLES 8

static inline soft_layout soft_layout_of(soft_type type)
{
  switch (type) {
  case SOFT_EDGE:
    return (soft_layout){2, FIELDS(EdgeParams), FIELDS(EdgeState)};
  case SOFT_TETHER:
    return (soft_layout){2, FIELDS(TetherParams), FIELDS(RowMemory)};
  case SOFT_BEND:
    return (soft_layout){4, FIELDS(BendParams), FIELDS(RowMemory)};
  case SOFT_FOLD:
    return (soft_layout){4, FIELDS(FoldParams), FIELDS(RowMemory)};
  case SOFT_VOLUME:
    return (soft_layout){4, FIELDS(VolumeParams), FIELDS(RowMemory)};
  case SOFT_NEO:
    return (soft_layout){4, FIELDS(NeoParams), FIELDS(NeoState)};
  case SOFT_TET:
    return (soft_layout){4, FIELDS(TetParams), FIELDS(TetState)};
  default: // SOFT_CELL
    return (soft_layout){8, FIELDS(CellParams), FIELDS(CellState)};
  }
}

// In units of BLOCK_WIDTH four-byte numbers.
static inline int soft_block_rows(soft_type type)
{
  soft_layout l = soft_layout_of(type);
  return l.particles + l.params + l.state + 3 * (l.particles - 1);
}

// The blocks of a type, as one array of rows.
typedef struct soft_rows {
  union {
    float (*row)[BLOCK_WIDTH];
    int32_t (*place)[BLOCK_WIDTH];
  };
  int32_t block_count, block_capacity;
} soft_rows;

typedef enum touch_type {
  TOUCH_BODY_1, // a particle on a body
  TOUCH_BODY_3, // a triangle on a body
  TOUCH_PAIR,   // two particles
  TOUCH_FACET,  // a particle on a triangle of another soft body
  TOUCH_EDGES,  // an edge on one of a triangle of another
  TOUCH_TYPE_COUNT
} touch_type;

// A padded lane names particle 0 and body 0.
typedef struct touch_block {
  alignas(64) int32_t place[TOUCH_PARTICLES][BLOCK_WIDTH];
  int32_t body[BLOCK_WIDTH];
  int32_t touch[BLOCK_WIDTH]; // in the step's list, or -1
  uint8_t move[BLOCK_WIDTH];  // a body that may be written
  int32_t type;
  alignas(64) float params[FIELDS(TouchParams)][BLOCK_WIDTH];
  float state[FIELDS(TouchState)][BLOCK_WIDTH];
} touch_block;

typedef struct hold_block {
  alignas(64) int32_t place[BLOCK_WIDTH];
  int32_t body[BLOCK_WIDTH];
  int32_t attachment[BLOCK_WIDTH]; // slot, or -1
  uint8_t move[BLOCK_WIDTH];
  alignas(64) float params[FIELDS(HoldParams)][BLOCK_WIDTH];
  float state[FIELDS(HoldState)][BLOCK_WIDTH];
} hold_block;

// What rounding has kept from a body's velocities in a step.
typedef struct body_carry {
  alignas(32) float line[8];
} body_carry;

// What a pass does.
typedef enum soft_stage {
  SOFT_WARM,    // begin the substep from what is known
  SOFT_SOLVE,   // impulses, at the pose of its start
  SOFT_RELAX,   // at its end, without correcting positions
  SOFT_POSITION // positions, at their latest
} soft_stage;

struct soft_data {
  particle_state *particles;
  particle_block *blocks; // of eight particles
  soft_rows rows[SOFT_TYPE_COUNT];
  touch_block *touches;
  hold_block *holds;
  body_carry *carry; // of each body
  soft_type type;    // of the running pass
  soft_stage stage;
  kick_part part;
  // Where corrections are averaged, of all constraints of a particle; else null.
  particle_state *change;
  float keep; // share of the last substep's impulses that the next starts from
  // Eight sums of each, so that the order of adding is the same for any lanes.
  alignas(32) float sums[FIELDS(MotionSums)][BLOCK_WIDTH];
  float dt;                // of the step
  float given[3], turn[3]; // what the motion of a rigid body adds
};

// The inverse mass that a constraint finds: where corrections are averaged it has only its part of
// the particle.
static inline float soft_mass(const soft_data *data, int32_t place)
{
  const particle_state *p = &data->particles[place];
  return data->change ? p->share * p->inverse_mass : p->inverse_mass;
}

// Moves a particle where positions are solved.
static inline void soft_move(soft_data *data, int32_t place, int axis, float dv, float h)
{
  float *line = (data->change ? data->change : data->particles)[place].line;
  line[axis] += dv;
  line[4 + axis] += h * dv;
}

// Each entry works on a range of blocks.
typedef struct particle_ops {
  void (*kick)(solver_data *data, int first, int last);
  void (*drift)(solver_data *data, int first, int last);
  void (*average)(solver_data *data, int first, int last);
  void (*sum)(solver_data *data, int first, int last);
  void (*carry)(solver_data *data, int first, int last);
} particle_ops;

typedef struct link_ops {
  void (*touches)(solver_data *data, int first, int last);
  void (*holds)(solver_data *data, int first, int last);
} link_ops;

typedef struct soft_ops {
  const particle_ops *particles;
  const link_ops *links;
  void (*rows)(solver_data *data, int first, int last);
} soft_ops;

extern const soft_ops soft_ops_1, soft_ops_4, soft_ops_8;
extern const link_ops link_ops_1, link_ops_4, link_ops_8;
extern const particle_ops particle_ops_1, particle_ops_4, particle_ops_8;

#endif
