// How the solver keeps particles and what holds them: what solve_soft.c gathers, computes and
// scatters.
//
// Particles lie half a cache line each, those of all soft bodies that are awake one after the
// other. Place 0 stands for none. Constraints of a type lie in blocks of BLOCK_WIDTH: places of
// their particles, then floats, of which the first are set once, the next remember from substep to
// substep, and the last say where the particles were when the step began, seen from the first.
#ifndef TENON_SOLVER_SOFT_SOFT_SOLVER_H
#define TENON_SOLVER_SOFT_SOFT_SOLVER_H

#include "kernel/soft_contact.h"
#include "solver/solver_data.h"

typedef struct particle_state {
  union {
    alignas(32) float line[8];
    struct {
      float v[3], inverse_mass;
      float dx[3]; // since the step began
      float constraint_count;
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
  float first_kick[BLOCK_WIDTH];
  float start[FIELDS(ParticleStart)][BLOCK_WIDTH];
} particle_block;

// Sums over the particles of a body, of which each has moved by dx and changed its velocity by dv,
// which is not what gravity and forces do.
typedef struct MotionSums {
  R mass;
  V first_moment, displacement, p; // m x, m dx, m v
  V dp, dl;                        // how momenta have changed
  S second_moment;                 // m x x
} MotionSums;

typedef enum soft_type {
  SOFT_EDGE,
  SOFT_TETHER,
  SOFT_BEND,
  SOFT_DIHEDRAL,
  SOFT_VOLUME,
  SOFT_NEO_HOOKEAN,
  SOFT_COROTATED,
  SOFT_SHAPE_MATCH,
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
    return (soft_layout){2, FIELDS(TetherParams), FIELDS(SoftRowState)};
  case SOFT_BEND:
    return (soft_layout){4, FIELDS(BendParams), FIELDS(SoftRowState)};
  case SOFT_DIHEDRAL:
    return (soft_layout){4, FIELDS(DihedralParams), FIELDS(SoftRowState)};
  case SOFT_VOLUME:
    return (soft_layout){4, FIELDS(VolumeParams), FIELDS(SoftRowState)};
  case SOFT_NEO_HOOKEAN:
    return (soft_layout){4, FIELDS(NeoHookeanParams), FIELDS(NeoHookeanState)};
  case SOFT_COROTATED:
    return (soft_layout){4, FIELDS(CorotatedParams), FIELDS(CorotatedState)};
  default: // SOFT_SHAPE_MATCH
    return (soft_layout){8, FIELDS(ShapeMatchParams), FIELDS(ShapeMatchState)};
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
    int32_t (*solver_index)[BLOCK_WIDTH];
  };
  int32_t block_count, block_capacity;
} soft_rows;

typedef enum soft_contact_type {
  SOFT_CONTACT_PARTICLE_BODY,     // a particle on a body
  SOFT_CONTACT_TRIANGLE_BODY,     // a triangle on a body
  SOFT_CONTACT_PARTICLE_PARTICLE, // two particles
  SOFT_CONTACT_PARTICLE_TRIANGLE, // a particle on a triangle of another soft body
  SOFT_CONTACT_EDGE_EDGE,         // an edge on one of a triangle of another
  SOFT_CONTACT_TYPE_COUNT
} soft_contact_type;

// A padded lane names particle 0 and body 0.
typedef struct soft_contact_block {
  alignas(64) int32_t solver_index[SOFT_CONTACT_PARTICLES][BLOCK_WIDTH];
  int32_t body[BLOCK_WIDTH];
  int32_t contact[BLOCK_WIDTH]; // in the step's list, or -1
  uint8_t move[BLOCK_WIDTH];    // a body that may be written
  int32_t type;
  alignas(64) float params[FIELDS(SoftContactParams)][BLOCK_WIDTH];
  float state[FIELDS(SoftContactState)][BLOCK_WIDTH];
} soft_contact_block;

typedef struct attachment_block {
  alignas(64) int32_t solver_index[BLOCK_WIDTH];
  int32_t body[BLOCK_WIDTH];
  int32_t attachment[BLOCK_WIDTH]; // slot, or -1
  uint8_t move[BLOCK_WIDTH];
  alignas(64) float params[FIELDS(AttachmentParams)][BLOCK_WIDTH];
  float state[FIELDS(AttachmentState)][BLOCK_WIDTH];
} attachment_block;

// What rounding has kept from a body's velocities in a step.
typedef struct body_compensation {
  alignas(32) float line[8];
} body_compensation;

// What a pass does.
typedef enum soft_stage {
  SOFT_WARM_START, // begin the substep from what is known
  SOFT_SOLVE,      // impulses, at the pose of its start
  SOFT_RELAX,      // at its end, without correcting positions
  SOFT_POSITION    // positions, at their latest
} soft_stage;

struct soft_data {
  particle_state *particles;
  particle_block *blocks; // of eight particles
  soft_rows rows[SOFT_TYPE_COUNT];
  soft_contact_block *soft_contacts;
  attachment_block *attachments;
  body_compensation *compensation; // of each body
  soft_type type;                  // of the running pass
  soft_stage stage;
  kick_phase phase;
  // Where corrections are averaged, of all constraints of a particle; else null.
  particle_state *jacobi_delta;
  float warm_start_factor; // share of the last substep's impulses that the next starts from
  // Eight sums of each, so that the order of adding is the same for any lanes.
  alignas(32) float sums[FIELDS(MotionSums)][BLOCK_WIDTH];
  float dt;                                          // of the step
  float linear_correction[3], angular_correction[3]; // what the motion of a rigid body adds
};

// The inverse mass that a constraint finds: where corrections are averaged it has only its part of
// the particle.
static inline float jacobi_inverse_mass(const soft_data *data, int32_t solver_index)
{
  const particle_state *p = &data->particles[solver_index];
  return data->jacobi_delta ? p->constraint_count * p->inverse_mass : p->inverse_mass;
}

// Moves a particle where positions are solved.
static inline void move_particle(soft_data *data, int32_t solver_index, int axis, float dv, float h)
{
  float *line = (data->jacobi_delta ? data->jacobi_delta : data->particles)[solver_index].line;
  line[axis] += dv;
  line[4 + axis] += h * dv;
}

// Each entry works on a range of blocks.
typedef struct particle_ops {
  void (*kick)(solver_data *data, int first, int last);
  void (*drift)(solver_data *data, int first, int last);
  void (*average)(solver_data *data, int first, int last);
  void (*sum)(solver_data *data, int first, int last);
  void (*add_rigid_velocity)(solver_data *data, int first, int last);
} particle_ops;

typedef struct soft_contact_ops {
  void (*soft_contacts)(solver_data *data, int first, int last);
  void (*attachments)(solver_data *data, int first, int last);
} soft_contact_ops;

typedef struct soft_ops {
  const particle_ops *particles;
  const soft_contact_ops *contacts;
  void (*rows)(solver_data *data, int first, int last);
} soft_ops;

extern const soft_ops soft_ops_1, soft_ops_4, soft_ops_8;
extern const soft_contact_ops soft_contact_ops_1, soft_contact_ops_4, soft_contact_ops_8;
extern const particle_ops particle_ops_1, particle_ops_4, particle_ops_8;

#endif
