// Distance of a point from a cylinder or cone, in closed form: a 2D problem in the half plane
// through the axis and the point.
#include "collide/collide_tuning.h"
#include "collide/core.h"

typedef struct point_2d {
  double x, y; // distance from the axis, height along it
} point_2d;

// The corners of the profile from the top of the axis around to its bottom.
static int profile_of(const geometry *g, point_2d corner[4])
{
  double r = (double)g->radius, h = (double)g->half_length;
  bool cone = g->kind == TN_SHAPE_CONE;
  int count = 0;
  corner[count++] = (point_2d){0.0, h};
  if (!cone) {
    corner[count++] = (point_2d){r, h};
  }
  corner[count++] = (point_2d){r, -h};
  corner[count++] = (point_2d){0.0, -h};
  return count;
}

typedef struct profile_closest {
  point_2d at, normal; // closest point of the profile, unit outward normal there
  double distance;     // negative inside
} profile_closest;

// The closest point of one side of the profile, whose outside is to its left. Beyond an end of the
// side the normal is the direction from the corner to p.
static profile_closest closest_on_side(point_2d from, point_2d to, point_2d p)
{
  double dx = to.x - from.x, dy = to.y - from.y, length = sqrt(dx * dx + dy * dy);
  point_2d n = {-dy / length, dx / length};
  double t = ((p.x - from.x) * dx + (p.y - from.y) * dy) / (length * length);
  t = fmin(1.0, fmax(0.0, t));
  profile_closest f = {.at = {from.x + t * dx, from.y + t * dy}, .normal = n};
  double x = p.x - f.at.x, y = p.y - f.at.y, height = n.x * x + n.y * y;
  f.distance = sqrt(x * x + y * y);
  if (height <= 0.0) {
    f.distance = -f.distance;
  } else if (f.distance > height * (1.0 + COLLIDE_PROFILE_CORNER)) {
    f.normal = (point_2d){x / f.distance, y / f.distance};
  }
  return f;
}

// Outside, the nearest side counts; inside, the one with the smallest depth.
static profile_closest closest_on_profile(const geometry *g, point_2d p)
{
  point_2d corner[4];
  int count = profile_of(g, corner);
  profile_closest inside = {.distance = -(double)INFINITY},
                  outside = {.distance = (double)INFINITY};
  for (int i = 0; i + 1 < count; i++) {
    profile_closest f = closest_on_side(corner[i], corner[i + 1], p);
    if (f.distance > 0.0 && f.distance < outside.distance) {
      outside = f;
    } else if (f.distance <= 0.0 && f.distance > inside.distance) {
      inside = f;
    }
  }
  return outside.distance < (double)INFINITY ? outside : inside;
}

// From the half plane back to 3D; `radial` is the unit direction of the point from the axis.
static d3 revolve(point_2d p, d3 radial)
{
  return (d3){p.x * radial.x, p.y, p.x * radial.z};
}

core_gap core_gap_of_point(const geometry *g, d3 p)
{
  double across = sqrt(p.x * p.x + p.z * p.z);
  d3 radial = across > 0.0 ? (d3){p.x / across, 0.0, p.z / across} : (d3){1.0, 0.0, 0.0};
  profile_closest f = closest_on_profile(g, (point_2d){across, p.y});
  return (core_gap){.distance = f.distance,
                    .normal = revolve(f.normal, radial),
                    .a = revolve(f.at, radial),
                    .b = p};
}
