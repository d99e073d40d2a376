// A convex shape moved until it meets another shape, by conservative advancement. The distance of
// two convex solids is a convex function of the way, and the normal of their shortest line gives
// its slope: Newton's method comes closer with every step and never too far.
#include "surface.h"

#define MAX_STEPS 64
// Of the sizes: what float leaves of a distance. Shapes that overlap by less only touch, and may
// part or slide along each other.
#define RELATIVE_TOLERANCE 1e-6f

static pose moved(pose p, tn_vec3 way, float fraction)
{
  p.p = tn_add(p.p, tn_scale(fraction, way));
  return p;
}

static bool touch(cast_hit *hit, float fraction, const separation *s)
{
  hit->fraction = fraction;
  hit->point = s->a;
  hit->normal = s->normal;
  return true;
}

static bool convex_cast(const geometry *a, const geometry *b, pose start, tn_vec3 way, float target,
                        float max_fraction, cast_hit *hit)
{
  float tolerance = RELATIVE_TOLERANCE * (geometry_reach(a) + geometry_reach(b));
  float fraction = 0.0f;
  for (int i = 0; i < MAX_STEPS; ++i) {
    separation s = convex_distance(a, b, moved(start, way, fraction));
    float gap = s.distance - target, approach = -tn_dot(way, s.normal);
    if (gap < -tolerance) {
      return touch(hit, fraction, &s);
    }
    bool touches_at_start = i == 0 && gap <= tolerance;
    if (!(approach > (touches_at_start ? tolerance : 0.0f))) {
      return false;
    }
    float next = gap > 0.0f ? fraction + gap / approach : fraction;
    if (next > max_fraction) {
      return false;
    }
    if (gap <= tolerance || next == fraction) {
      return touch(hit, next, &s);
    }
    fraction = next;
    *hit = (cast_hit){fraction, s.a, s.normal};
  }
  return true; // as close as it gets
}

static bool plane_cast(const geometry *b, pose start, tn_vec3 way, float target, float max_fraction,
                       cast_hit *hit)
{
  tn_vec3 up = {0.0f, 1.0f, 0.0f};
  tn_vec3 lowest = convex_support(b, pose_unvector(start, tn_scale(-1.0f, up)));
  tn_vec3 at = pose_point(start, lowest);
  float tolerance = RELATIVE_TOLERANCE * (geometry_reach(b) + fabsf(start.p.y));
  float gap = at.y - target, fraction = 0.0f;
  if (gap >= -tolerance) {
    if (!(-way.y > (gap <= tolerance ? tolerance : 0.0f)) || gap > -way.y * max_fraction) {
      return false;
    }
    fraction = gap > 0.0f ? gap / -way.y : 0.0f;
  }
  at = tn_add(at, tn_scale(fraction, way));
  *hit = (cast_hit){fraction, tn_v3(at.x, 0.0f, at.z), up};
  return true;
}

bool geometry_cast(const geometry *a, const geometry *b, pose b_in_a, tn_vec3 way, float target,
                   float max_fraction, cast_hit *hit)
{
  switch (a->kind) {
  case TN_SHAPE_PLANE:
    return plane_cast(b, b_in_a, way, target, max_fraction, hit);
  case TN_SHAPE_MESH:
    return mesh_cast(a->mesh, b, b_in_a, way, target, max_fraction, hit);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_cast(a->field, b, b_in_a, way, target, max_fraction, hit);
  case TN_SHAPE_WIRE:
    return wire_cast(a->wire, a->radius, b, b_in_a, way, target, max_fraction, hit);
  default:
    return convex_cast(a, b, b_in_a, way, target, max_fraction, hit);
  }
}
