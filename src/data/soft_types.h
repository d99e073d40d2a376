// Types of soft constraints and contacts, and the sizes of their records.
#ifndef TENON_DATA_SOFT_TYPES_H
#define TENON_DATA_SOFT_TYPES_H

#include "kernel/blocks.h"
#include "kernel/soft_contact.h"

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

// Sizes of a constraint: its particles, and the floats of its params and state.
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

typedef enum soft_contact_type {
  SOFT_CONTACT_PARTICLE_BODY,     // particle against a rigid body's shape
  SOFT_CONTACT_TRIANGLE_BODY,     // triangle against a rigid body's shape
  SOFT_CONTACT_PARTICLE_PARTICLE, // two particles
  SOFT_CONTACT_PARTICLE_TRIANGLE, // particle against a triangle of another soft body
  SOFT_CONTACT_EDGE_EDGE,         // edge against an edge of a triangle of another soft body
  SOFT_CONTACT_TYPE_COUNT
} soft_contact_type;

#endif
