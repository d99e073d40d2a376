// Read-out of a body's damping.
#include "data/world.h"

float tn_body_linear_damping(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_linear_damping");
  return b ? b->linear_damping : 0.0f;
}

float tn_body_angular_damping(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_angular_damping");
  return b ? b->angular_damping : 0.0f;
}
