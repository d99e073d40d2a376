// Shape casts by conservative advancement. The distance of two convex solids is a convex function
// of the displacement with slope dot(displacement, normal), so Newton's method
//
//   t += gap / -dot(displacement, normal)
//
// approaches the first contact from below and never passes it.
#include "collide/collide_tuning.h"
#include "collide/surface.h"

static pose pose_translated(pose p, tn_vec3 displacement, float fraction)
{
  p.p = tn_add(p.p, tn_scale(fraction, displacement));
  return p;
}

static bool set_hit(cast_hit *hit, float fraction, const separation *s)
{
  hit->fraction = fraction;
  hit->point = s->a;
  hit->normal = s->normal;
  return true;
}

static bool convex_cast(const geometry *a, const geometry *b, pose start, tn_vec3 displacement,
                        float target_distance, float max_fraction, cast_hit *hit)
{
  float tolerance =
      COLLIDE_CAST_TOLERANCE * (geometry_bounding_radius(a) + geometry_bounding_radius(b));
  float fraction = 0.0f;
  for (int i = 0; i < COLLIDE_CAST_ITERATIONS; ++i) {
    separation s = convex_distance(a, b, pose_translated(start, displacement, fraction));
    float gap = s.distance - target_distance, approach = -tn_dot(displacement, s.normal);
    if (gap < -tolerance) {
      return set_hit(hit, fraction, &s);
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
      return set_hit(hit, next, &s);
    }
    fraction = next;
    *hit = (cast_hit){fraction, s.a, s.normal};
  }
  return true; // out of iterations: the last lower bound
}

static bool plane_cast(const geometry *b, pose start, tn_vec3 displacement, float target_distance,
                       float max_fraction, cast_hit *hit)
{
  tn_vec3 up = {0.0f, 1.0f, 0.0f};
  tn_vec3 lowest = convex_support(b, pose_inverse_vector(start, tn_scale(-1.0f, up)));
  tn_vec3 at = pose_point(start, lowest);
  float tolerance = COLLIDE_CAST_TOLERANCE * (geometry_bounding_radius(b) + fabsf(start.p.y));
  float gap = at.y - target_distance, fraction = 0.0f;
  if (gap >= -tolerance) {
    if (!(-displacement.y > (gap <= tolerance ? tolerance : 0.0f)) ||
        gap > -displacement.y * max_fraction) {
      return false;
    }
    fraction = gap > 0.0f ? gap / -displacement.y : 0.0f;
  }
  at = tn_add(at, tn_scale(fraction, displacement));
  *hit = (cast_hit){fraction, tn_v3(at.x, 0.0f, at.z), up};
  return true;
}

bool geometry_cast(const geometry *a, const geometry *b, pose b_in_a, tn_vec3 displacement,
                   float target_distance, float max_fraction, cast_hit *hit)
{
  switch (a->kind) {
  case TN_SHAPE_PLANE:
    return plane_cast(b, b_in_a, displacement, target_distance, max_fraction, hit);
  case TN_SHAPE_MESH:
    return mesh_cast(a->mesh, b, b_in_a, displacement, target_distance, max_fraction, hit);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_cast(a->field, b, b_in_a, displacement, target_distance, max_fraction, hit);
  case TN_SHAPE_WIRE:
    return wire_cast(a->wire, a->radius, b, b_in_a, displacement, target_distance, max_fraction,
                     hit);
  default:
    return convex_cast(a, b, b_in_a, displacement, target_distance, max_fraction, hit);
  }
}
