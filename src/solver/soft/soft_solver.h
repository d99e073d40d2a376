// Solver data of soft bodies: what the passes of this folder gather, compute and scatter.
//
// The particles of all awake soft bodies are one array, half a cache line each, addressed by their
// solver index. Index 0 is a dummy for padding. Constraints of a type are in blocks of BLOCK_WIDTH
// lanes. The rows of a block are: solver indices of the particles; params, constant; state, kept
// from substep to substep; start, the offsets of particles 1, 2, ... from particle 0 at the start
// of the step.
#ifndef TENON_SOLVER_SOFT_SOFT_SOLVER_H
#define TENON_SOLVER_SOFT_SOFT_SOLVER_H

#include "data/soft_types.h"
#include "solver/solver_data.h"

typedef struct particle_state {
  union {
    alignas(32) float line[8];
    struct {
      float v[3], inverse_mass; // m/s; 1/kg, 0: pinned
      float dx[3];              // m, since the step began
      float constraint_count;   // constraints on the particle, at least 1; used by averaging only
    };
  };
} particle_state;

// A particle at the start of the step. Only set for bodies whose momentum is restored.
typedef struct ParticleStart {
  V x, v; // m, from the body's first particle; m/s
  R mass; // kg
} ParticleStart;

typedef struct particle_block {
  alignas(32) float acceleration[3][BLOCK_WIDTH]; // m/s^2, of gravity and external forces
  float first_kick[BLOCK_WIDTH]; // share of h a applied before the first drift; the rest comes last
  float start[FIELDS(ParticleStart)][BLOCK_WIDTH];
} particle_block;

// Sums over the particles of a body. x is the position at the end of the step, dx the displacement,
// v the velocity at the end, dv its change in the step without that of gravity and forces.
typedef struct MotionSums {
  R mass;
  V first_moment, displacement, p; // sum m x, m dx, m v
  // dp: sum m dv; dl: change of angular momentum, sum x0 x m dv + dx x m v with x0 = x - dx.
  V dp, dl;
  S second_moment; // sum m x x^T
} MotionSums;

// Rows of a block, of BLOCK_WIDTH four-byte numbers each.
static inline int soft_block_rows(soft_type type)
{
  soft_layout l = soft_layout_of(type);
  return l.particles + l.params + l.state + 3 * (l.particles - 1);
}

// The blocks of a type as one array of rows.
typedef struct soft_rows {
  union {
    float (*row)[BLOCK_WIDTH];
    int32_t (*solver_index)[BLOCK_WIDTH];
  };
  int32_t block_count, block_capacity;
} soft_rows;

// Contacts of one type. Padding lanes refer to particle 0 and body 0.
typedef struct soft_contact_block {
  alignas(64) int32_t solver_index[SOFT_CONTACT_PARTICLES][BLOCK_WIDTH];
  int32_t body[BLOCK_WIDTH];
  int32_t contact[BLOCK_WIDTH]; // index in soft_system.contacts, or -1
  uint8_t move[BLOCK_WIDTH];    // 1: dynamic, the body is written back
  int32_t type;                 // soft_contact_type
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

// Rounding errors of a body's velocities, carried along by compensated (Kahan) summation: v in
// line[0..2], w in line[4..6].
typedef struct body_compensation {
  alignas(32) float line[8];
} body_compensation;

// What a pass does.
typedef enum soft_stage {
  SOFT_WARM_START, // apply a share of the last substep's impulses, or reset them
  SOFT_SOLVE,      // impulses at the pose of the substep's start, with position correction
  SOFT_RELAX,      // impulses at the pose of its end, without position correction
  SOFT_POSITION    // position form: corrections at the latest pose
} soft_stage;

struct soft_data {
  particle_state *particles;
  particle_block *blocks; // of BLOCK_WIDTH particles
  soft_rows rows[SOFT_TYPE_COUNT];
  soft_contact_block *soft_contacts;
  attachment_block *attachments;
  body_compensation *compensation; // by body
  soft_type type;                  // of the running pass, as are stage and phase
  soft_stage stage;
  kick_phase phase;
  particle_state *jacobi_delta; // sums of corrections to average, or null: Gauss-Seidel
  float warm_start_factor;      // share of the last substep's impulses that is applied first
  // One sum per lane of a block, so that the order of additions does not depend on the lane width.
  alignas(32) float sums[FIELDS(MotionSums)][BLOCK_WIDTH];
  float dt; // s, of the step
  // m/s and rad/s: the rigid velocity that add_rigid_velocity adds, about the body's first
  // particle.
  float linear_correction[3], angular_correction[3];
};

// Inverse mass that a constraint sees. With averaging, the n constraints of a particle have 1/n of
// its mass each.
static inline float jacobi_inverse_mass(const soft_data *data, int32_t solver_index)
{
  const particle_state *p = &data->particles[solver_index];
  return data->jacobi_delta ? p->constraint_count * p->inverse_mass : p->inverse_mass;
}

// Applies a position correction h dv, now or to the sums that are averaged later.
static inline void move_particle(soft_data *data, int32_t solver_index, int axis, float dv, float h)
{
  float *line = (data->jacobi_delta ? data->jacobi_delta : data->particles)[solver_index].line;
  line[axis] += dv;
  line[4 + axis] += h * dv;
}

// Passes over a range of blocks, one set per lane width.
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
