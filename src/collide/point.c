// A point and a solid of revolution, in closed form: both are figures in the plane of the axis and
// the point.
#include "core.h"

typedef struct place {
  double x, y; // from the axis, along it
} place;

// From the top of the axis around to its bottom.
static int profile_of(const geometry *g, place corner[4])
{
  double r = (double)g->radius, h = (double)g->half_length;
  bool cone = g->kind == TN_SHAPE_CONE;
  int count = 0;
  corner[count++] = (place){0.0, h};
  if (!cone)
    corner[count++] = (place){r, h};
  corner[count++] = (place){r, -h};
  corner[count++] = (place){0.0, -h};
  return count;
}

typedef struct foot {
  place at, normal;
  double distance; // negative inside
} foot;

// The closest point of one side, whose outside is to its left when going down.
static foot foot_on(place from, place to, place p)
{
  double dx = to.x - from.x, dy = to.y - from.y, length = sqrt(dx * dx + dy * dy);
  place n = {-dy / length, dx / length};
  double t = ((p.x - from.x) * dx + (p.y - from.y) * dy) / (length * length);
  t = fmin(1.0, fmax(0.0, t));
  foot f = {.at = {from.x + t * dx, from.y + t * dy}, .normal = n};
  double x = p.x - f.at.x, y = p.y - f.at.y, height = n.x * x + n.y * y;
  f.distance = sqrt(x * x + y * y);
  if (height <= 0.0)
    f.distance = -f.distance;
  else if (f.distance > height * (1.0 + 1e-15))
    f.normal = (place){x / f.distance, y / f.distance};
  return f;
}

static foot foot_on_profile(const geometry *g, place p)
{
  place corner[4];
  int count = profile_of(g, corner);
  foot inside = {.distance = -(double)INFINITY}, outside = {.distance = (double)INFINITY};
  for (int i = 0; i + 1 < count; i++) {
    foot f = foot_on(corner[i], corner[i + 1], p);
    if (f.distance > 0.0 && f.distance < outside.distance)
      outside = f;
    else if (f.distance <= 0.0 && f.distance > inside.distance)
      inside = f;
  }
  return outside.distance < (double)INFINITY ? outside : inside;
}

static d3 turned_out(place p, d3 way)
{
  return (d3){p.x * way.x, p.y, p.x * way.z};
}

core_gap core_gap_of_point(const geometry *g, d3 p)
{
  double across = sqrt(p.x * p.x + p.z * p.z);
  d3 way = across > 0.0 ? (d3){p.x / across, 0.0, p.z / across} : (d3){1.0, 0.0, 0.0};
  foot f = foot_on_profile(g, (place){across, p.y});
  return (core_gap){.distance = f.distance,
                    .normal = turned_out(f.normal, way),
                    .a = turned_out(f.at, way),
                    .b = p};
}
