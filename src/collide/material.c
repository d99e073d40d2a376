// How the materials and filters of two shapes act together.
#include "collide/material.h"

#include <tenon/tenon.h>

#include <math.h>

static float mix_coefficient(tn_combine mode, float a, float b)
{
  switch (mode) {
  case TN_COMBINE_MINIMUM:
    return fminf(a, b);
  case TN_COMBINE_MULTIPLY:
    return a * b;
  case TN_COMBINE_MAXIMUM:
    return fmaxf(a, b);
  default:
    return 0.5f * (a + b);
  }
}

static tn_combine stronger_combine(tn_combine a, tn_combine b)
{
  return a > b ? a : b;
}

static tn_material mix_equals(const tn_material *a, const tn_material *b)
{
  tn_material m = {.priority = a->priority};
  m.combine_friction = stronger_combine(a->combine_friction, b->combine_friction);
  m.combine_restitution = stronger_combine(a->combine_restitution, b->combine_restitution);
  m.static_friction = mix_coefficient(m.combine_friction, a->static_friction, b->static_friction);
  m.dynamic_friction =
      fminf(mix_coefficient(m.combine_friction, a->dynamic_friction, b->dynamic_friction),
            m.static_friction);
  m.rolling_friction =
      mix_coefficient(m.combine_friction, a->rolling_friction, b->rolling_friction);
  m.spinning_friction =
      mix_coefficient(m.combine_friction, a->spinning_friction, b->spinning_friction);
  m.restitution = mix_coefficient(m.combine_restitution, a->restitution, b->restitution);
  return m;
}

tn_material tn_materials_combine(const tn_material *a, const tn_material *b)
{
  tn_material m = {0};
  if (!a || !b) {
    return m;
  }
  if (a->priority == b->priority) {
    m = mix_equals(a, b);
  } else {
    m = a->priority > b->priority ? *a : *b;
    m.surface_velocity = tn_v3(0.0f, 0.0f, 0.0f);
  }
  m.compliance = a->compliance + b->compliance; // springs in series
  return m;
}

bool filters_should_collide(const tn_filter *a, const tn_filter *b)
{
  if (a->group != 0 && a->group == b->group) {
    return a->group > 0;
  }
  return (a->mask & b->category) != 0 && (b->mask & a->category) != 0;
}

bool tn_filters_collide(const tn_filter *a, const tn_filter *b)
{
  return a && b && filters_should_collide(a, b);
}
