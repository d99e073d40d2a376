// Operations on a single triangle of a surface.
#include "collide/core.h"
#include "collide/surface_contacts.h"

// In double, so that slivers and small triangles far from the origin get the same normal as their
// neighbours in the plane.
tn_vec3 triangle_normal(const tn_vec3 corner[3])
{
  d3 a = d3_from_vec3(corner[0]);
  d3 n = d3_cross(d3_sub(d3_from_vec3(corner[1]), a), d3_sub(d3_from_vec3(corner[2]), a));
  double length = sqrt(d3_dot(n, n));
  return length > 0.0 ? vec3_from_d3(d3_scale(1.0 / length, n)) : tn_v3(0.0f, 0.0f, 0.0f);
}

static tn_vec3 segment_closest(tn_vec3 a, tn_vec3 b, tn_vec3 p)
{
  tn_vec3 d = tn_sub(b, a);
  float along = tn_dot(tn_sub(p, a), d), length2 = tn_dot(d, d);
  if (along <= 0.0f) {
    return a;
  }
  return along < length2 ? tn_add(a, tn_scale(along / length2, d)) : b;
}

tn_vec3 triangle_closest(const tn_vec3 corner[3], tn_vec3 normal, tn_vec3 p)
{
  tn_vec3 best = corner[0];
  float best2 = INFINITY;
  bool inside = true;
  for (int i = 0; i < 3; i++) {
    tn_vec3 a = corner[i], b = corner[(i + 1) % 3];
    if (tn_dot(tn_cross(normal, tn_sub(b, a)), tn_sub(p, a)) >= 0.0f) {
      continue;
    }
    inside = false;
    tn_vec3 q = segment_closest(a, b, p), d = tn_sub(p, q);
    if (tn_dot(d, d) < best2) {
      best2 = tn_dot(d, d);
      best = q;
    }
  }
  if (!inside) {
    return best;
  }
  return tn_sub(p, tn_scale(tn_dot(normal, tn_sub(p, corner[0])), normal));
}

// The signed volumes u, v, w of the ray with each edge have the same sign if the ray passes through
// the triangle. Two triangles with a common edge compute the same value for it up to sign, so no
// ray slips between them.
bool triangle_ray(const tn_vec3 corner[3], tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  float *fraction)
{
  d3 a = d3_from_vec3(tn_sub(corner[0], from)), b = d3_from_vec3(tn_sub(corner[1], from));
  d3 c = d3_from_vec3(tn_sub(corner[2], from)), d = d3_from_vec3(displacement);
  double u = d3_dot(d, d3_cross(b, c)), v = d3_dot(d, d3_cross(c, a));
  double w = d3_dot(d, d3_cross(a, b)), sum = u + v + w;
  bool left = u >= 0.0 && v >= 0.0 && w >= 0.0, right = u <= 0.0 && v <= 0.0 && w <= 0.0;
  if ((!left && !right) || sum == 0.0) {
    return false;
  }
  d3 n = d3_cross(d3_sub(b, a), d3_sub(c, a));
  double t = d3_dot(n, a) / sum;
  if (!(t >= 0.0) || t > (double)max_fraction) {
    return false;
  }
  *fraction = (float)t;
  return true;
}

geometry triangle_geometry(const tn_vec3 corner[3])
{
  return (geometry){.kind = GEOMETRY_TRIANGLE, .corner = {corner[0], corner[1], corner[2]}};
}

bool triangle_update_nearest(const tn_vec3 corner[3], const geometry *b, pose b_in_a,
                             separation *best)
{
  geometry g = triangle_geometry(corner);
  separation s = convex_distance(&g, b, b_in_a);
  if (!(s.distance < best->distance) ||
      (s.distance <= 0.0f && !(tn_dot(s.normal, triangle_normal(corner)) > 0.0f))) {
    return false;
  }
  *best = s;
  return true;
}

tn_quat quat_y_to(tn_vec3 n)
{
  float across = n.x * n.x + n.z * n.z;
  if (across == 0.0f) {
    return n.y < 0.0f ? (tn_quat){1.0f, 0.0f, 0.0f, 0.0f} : tn_quat_identity();
  }
  float w = n.y < 0.0f ? across / (1.0f - n.y) : 1.0f + n.y; // 1 + n.y without cancellation
  float scale = 1.0f / sqrtf(across + w * w);
  return (tn_quat){scale * n.z, 0.0f, scale * -n.x, scale * w};
}
