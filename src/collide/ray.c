// Ray casts against single shapes. A convex solid is the intersection of half spaces, balls,
// cylinders and cones. Each of them covers an interval of the ray; the start of the common interval
// is the hit.
//
// Computed in double: the squares in the quadratics of a distant ray lose half of the digits.
#include "collide/surface.h"

#include "collide/core.h"

typedef struct ray {
  d3 from, displacement;
} ray;

// The fractions at which the ray is inside a solid.
typedef struct ray_interval {
  double first, last;
  d3 normal; // of the surface where the ray enters; any length
} ray_interval;

static const ray_interval whole = {-HUGE_VAL, HUGE_VAL, {0.0, 0.0, 0.0}};
static const ray_interval nothing = {HUGE_VAL, -HUGE_VAL, {0.0, 0.0, 0.0}};

static d3 ray_at(const ray *r, double fraction)
{
  return d3_add(r->from, d3_scale(fraction, r->displacement));
}

// The half space dot(normal, p) <= offset. A ray within the boundary plane counts as inside, so
// that it does not pass between two solids that share a face.
static ray_interval half_space(const ray *r, d3 normal, double offset)
{
  double speed = d3_dot(normal, r->displacement), gap = d3_dot(normal, r->from) - offset;
  if (speed == 0.0) {
    return gap <= 0.0 ? whole : nothing;
  }
  double at = -gap / speed;
  return speed < 0.0 ? (ray_interval){at, HUGE_VAL, normal} : (ray_interval){-HUGE_VAL, at, normal};
}

static ray_interval intersection_of(ray_interval a, ray_interval b)
{
  ray_interval s = a.first >= b.first ? a : b;
  s.last = a.last < b.last ? a.last : b.last;
  return s;
}

static bool has_start(ray_interval s)
{
  return s.first <= s.last && s.first > -HUGE_VAL;
}

// The union of two intervals that overlap or touch.
static ray_interval union_of(ray_interval a, ray_interval b)
{
  ray_interval s = a.first <= b.first ? a : b;
  s.last = a.last > b.last ? a.last : b.last;
  return s;
}

// ---------------------------------------------------------------------------------------------
// Quadrics

// The interval a t^2 + 2 b t + c <= 0, for a >= 0.
static ray_interval quadratic_interval(double a, double b, double c)
{
  if (a == 0.0 && b == 0.0) {
    return c <= 0.0 ? whole : nothing;
  }
  double discriminant = b * b - a * c;
  if (discriminant < 0.0) {
    return nothing;
  }
  // q = -b -+ sqrt(b^2 - a c), with the sign that avoids cancellation; roots are q / a and c / q.
  double q = b < 0.0 ? -b + sqrt(discriminant) : -b - sqrt(discriminant);
  double c_over_q = q == 0.0 ? 0.0 : c / q;
  double q_over_a = a == 0.0 ? (q < 0.0 ? -HUGE_VAL : HUGE_VAL) : q / a;
  ray_interval s = whole;
  s.first = q < 0.0 ? q_over_a : c_over_q;
  s.last = q < 0.0 ? c_over_q : q_over_a;
  return s;
}

static ray_interval ball(const ray *r, d3 center, double radius)
{
  d3 from = d3_sub(r->from, center);
  ray_interval s =
      quadratic_interval(d3_dot(r->displacement, r->displacement), d3_dot(from, r->displacement),
                         d3_dot(from, from) - radius * radius);
  if (has_start(s)) {
    s.normal = d3_sub(ray_at(r, s.first), center);
  }
  return s;
}

// The infinite cylinder about the y axis.
static ray_interval infinite_cylinder(const ray *r, double radius)
{
  ray flat = {{r->from.x, 0.0, r->from.z}, {r->displacement.x, 0.0, r->displacement.z}};
  return ball(&flat, (d3){0.0, 0.0, 0.0}, radius);
}

// The infinite cone below its tip: x^2 + z^2 <= slope^2 (tip - y)^2.
static ray_interval infinite_cone(const ray *r, double slope, double tip)
{
  double k = slope * slope, height = tip - r->from.y;
  double a = r->displacement.x * r->displacement.x + r->displacement.z * r->displacement.z -
             k * r->displacement.y * r->displacement.y;
  double b = r->from.x * r->displacement.x + r->from.z * r->displacement.z +
             k * height * r->displacement.y;
  double c = r->from.x * r->from.x + r->from.z * r->from.z - k * height * height;
  ray_interval s;
  if (a >= 0.0) {
    s = quadratic_interval(a, b, c);
  } else {
    // A ray steeper than the cone is outside only between the lower and the upper nappe.
    ray_interval between = quadratic_interval(-a, -b, -c);
    if (between.first > between.last) { // through the tip, with rounding
      between.first = between.last = -b / a;
    }
    s = whole;
    if (r->displacement.y < 0.0) {
      s.first = between.last;
    } else {
      s.last = between.first;
    }
  }
  if (has_start(s)) {
    d3 at = ray_at(r, s.first);
    s.normal = (d3){at.x, k * (tip - at.y), at.z};
  }
  return s;
}

// ---------------------------------------------------------------------------------------------
// Solids

static const d3 up = {0.0, 1.0, 0.0}, down = {0.0, -1.0, 0.0};

static ray_interval slab(const ray *r, double half_length)
{
  return intersection_of(half_space(r, up, half_length), half_space(r, down, half_length));
}

static ray_interval capsule_span(const ray *r, double radius, double half_length)
{
  ray_interval ends = union_of(ball(r, (d3){0.0, half_length, 0.0}, radius),
                               ball(r, (d3){0.0, -half_length, 0.0}, radius));
  ray_interval middle = intersection_of(infinite_cylinder(r, radius), slab(r, half_length));
  return middle.first <= middle.last ? union_of(ends, middle) : ends;
}

static ray_interval box_span(const ray *r, tn_vec3 half)
{
  d3 h = d3_from_vec3(half);
  ray_interval s = slab(r, h.y);
  s = intersection_of(s, half_space(r, (d3){1.0, 0.0, 0.0}, h.x));
  s = intersection_of(s, half_space(r, (d3){-1.0, 0.0, 0.0}, h.x));
  s = intersection_of(s, half_space(r, (d3){0.0, 0.0, 1.0}, h.z));
  return intersection_of(s, half_space(r, (d3){0.0, 0.0, -1.0}, h.z));
}

static ray_interval cone_span(const ray *r, double radius, double half_length)
{
  return intersection_of(infinite_cone(r, radius / (2.0 * half_length), half_length),
                         slab(r, half_length));
}

static ray_interval hull_span(const ray *r, const convex_hull *c)
{
  ray_interval s = whole;
  for (int i = 0; i < c->face_count && s.first <= s.last; ++i) {
    const convex_hull_face *f = &c->faces[i];
    s = intersection_of(s, half_space(r, d3_from_vec3(f->normal), (double)f->offset));
  }
  return s;
}

// Signed volume of the ray and an edge, zero where they intersect. Exchanging the edge's ends
// changes only the sign, so no ray passes between two triangles that share the edge.
static double side_of_edge(const ray *r, tn_vec3 a, tn_vec3 b)
{
  return d3_dot(d3_cross(d3_sub(d3_from_vec3(a), r->from), d3_sub(d3_from_vec3(b), r->from)),
                r->displacement);
}

// Two-sided: the normal faces the ray.
static ray_interval triangle_span(const ray *r, const tn_vec3 corner[3])
{
  double s0 = side_of_edge(r, corner[0], corner[1]);
  double s1 = side_of_edge(r, corner[1], corner[2]);
  double s2 = side_of_edge(r, corner[2], corner[0]);
  bool through = (s0 <= 0.0 && s1 <= 0.0 && s2 <= 0.0) || (s0 >= 0.0 && s1 >= 0.0 && s2 >= 0.0);
  d3 p = d3_from_vec3(corner[0]);
  d3 normal = d3_cross(d3_sub(d3_from_vec3(corner[1]), p), d3_sub(d3_from_vec3(corner[2]), p));
  double speed = d3_dot(normal, r->displacement);
  if (!through || speed == 0.0) {
    return nothing;
  }
  double at = d3_dot(normal, d3_sub(p, r->from)) / speed;
  return (ray_interval){at, at, d3_scale(speed > 0.0 ? -1.0 : 1.0, normal)};
}

static ray_interval convex_span(const geometry *g, const ray *r)
{
  double radius = (double)g->radius, half_length = (double)g->half_length;
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return ball(r, (d3){0.0, 0.0, 0.0}, radius);
  case TN_SHAPE_CAPSULE:
    return capsule_span(r, radius, half_length);
  case TN_SHAPE_BOX:
    return box_span(r, g->half_extents);
  case TN_SHAPE_CYLINDER:
    return intersection_of(infinite_cylinder(r, radius), slab(r, half_length));
  case TN_SHAPE_CONE:
    return cone_span(r, radius, half_length);
  case TN_SHAPE_HULL:
    return hull_span(r, g->hull);
  case TN_SHAPE_PLANE:
    return half_space(r, up, 0.0);
  case GEOMETRY_TRIANGLE:
    return triangle_span(r, g->corner);
  default:
    return nothing;
  }
}

static tn_vec3 unit_or_up(d3 v)
{
  double length = sqrt(d3_dot(v, v));
  if (length == 0.0) { // at the tip of a cone
    return tn_v3(0.0f, 1.0f, 0.0f);
  }
  return vec3_from_d3(d3_scale(1.0 / length, v));
}

static bool hit_of_span(ray_interval s, float max_fraction, ray_hit *hit)
{
  if (!(s.first <= s.last) || s.first > (double)max_fraction) {
    return false;
  }
  if (s.first >= 0.0) {
    hit->fraction = (float)s.first;
    hit->normal = unit_or_up(s.normal);
    return true;
  }
  hit->fraction = 0.0f;
  hit->normal = tn_v3(0.0f, 0.0f, 0.0f);
  return s.last > 0.0; // starts inside; or the solid is behind the ray
}

bool geometry_ray(const geometry *g, tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  ray_hit *hit)
{
  switch (g->kind) {
  case TN_SHAPE_MESH:
    return mesh_ray(g->mesh, from, displacement, max_fraction, hit);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_ray(g->field, from, displacement, max_fraction, hit);
  case TN_SHAPE_WIRE:
    return wire_ray(g->wire, g->radius, from, displacement, max_fraction, hit);
  default: {
    ray r = {d3_from_vec3(from), d3_from_vec3(displacement)};
    return hit_of_span(convex_span(g, &r), max_fraction, hit);
  }
  }
}
