// Closest point of a single shape's surface to a given point, with signed distance.
#include "collide/surface.h"

#include "collide/core.h"

// On a ball around `center`; `fallback` is the normal for p at the centre.
static closest on_ball(d3 p, d3 center, double radius, d3 fallback)
{
  d3 off = d3_sub(p, center);
  double length = sqrt(d3_dot(off, off));
  d3 normal = length > 0.0 ? d3_scale(1.0 / length, off) : fallback;
  closest c = {(float)(length - radius), vec3_from_d3(d3_add(center, d3_scale(radius, normal))),
               vec3_from_d3(normal)};
  return c;
}

static double clamp_symmetric(double x, double limit)
{
  return x > limit ? limit : x < -limit ? -limit : x;
}

// For p outside of a solid: `on` is the closest point of the solid.
static closest from_outside(d3 p, d3 on)
{
  closest c = on_ball(p, on, 0.0, (d3){0.0, 1.0, 0.0});
  c.point = vec3_from_d3(on);
  return c;
}

// On a plane at the given signed distance from p.
static closest on_face(d3 p, d3 normal, double distance)
{
  closest c = {(float)distance, vec3_from_d3(d3_sub(p, d3_scale(distance, normal))),
               vec3_from_d3(normal)};
  return c;
}

static closest on_capsule(d3 p, double radius, double half_length)
{
  d3 on_axis = {0.0, clamp_symmetric(p.y, half_length), 0.0};
  return on_ball(p, on_axis, radius, (d3){1.0, 0.0, 0.0});
}

static closest on_box(d3 p, d3 half)
{
  d3 on = {clamp_symmetric(p.x, half.x), clamp_symmetric(p.y, half.y),
           clamp_symmetric(p.z, half.z)};
  if (on.x != p.x || on.y != p.y || on.z != p.z) {
    return from_outside(p, on);
  }
  double depth[3] = {half.x - fabs(p.x), half.y - fabs(p.y), half.z - fabs(p.z)};
  int axis = depth[0] <= depth[1] ? 0 : 1;
  axis = depth[2] < depth[axis] ? 2 : axis;
  d3 normal = {axis == 0 ? (p.x < 0.0 ? -1.0 : 1.0) : 0.0,
               axis == 1 ? (p.y < 0.0 ? -1.0 : 1.0) : 0.0,
               axis == 2 ? (p.z < 0.0 ? -1.0 : 1.0) : 0.0};
  return on_face(p, normal, -depth[axis]);
}

// ---------------------------------------------------------------------------------------------
// Polygons

static d3 on_segment(d3 p, d3 a, d3 b)
{
  d3 along = d3_sub(b, a);
  double square = d3_dot(along, along);
  double s = square > 0.0 ? d3_dot(d3_sub(p, a), along) / square : 0.0;
  s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
  return d3_add(a, d3_scale(s, along));
}

static double squared_distance(d3 a, d3 b)
{
  d3 off = d3_sub(a, b);
  return d3_dot(off, off);
}

// Accumulates the closest point of a polygon edge by edge.
typedef struct polygon_projection {
  bool above;     // p projects to the inner side of all edges so far
  double squared; // squared distance of `on_edge` from p
  d3 on_edge;     // closest point of the edges so far
} polygon_projection;

// Edges are in counter-clockwise order around `normal`, which may have any length.
static void add_polygon_edge(polygon_projection *f, d3 p, d3 a, d3 b, d3 normal)
{
  d3 on = on_segment(p, a, b);
  double squared = squared_distance(p, on);
  f->above = f->above && d3_dot(d3_cross(normal, d3_sub(b, a)), d3_sub(p, a)) >= 0.0;
  if (squared < f->squared) {
    f->squared = squared;
    f->on_edge = on;
  }
}

// The result; `corner` is any point of the polygon's plane.
static d3 polygon_point(const polygon_projection *f, d3 p, d3 corner, d3 normal)
{
  double square = d3_dot(normal, normal);
  if (!f->above || square == 0.0) {
    return f->on_edge;
  }
  return d3_sub(p, d3_scale(d3_dot(normal, d3_sub(p, corner)) / square, normal));
}

static closest on_triangle(d3 p, const tn_vec3 corner[3])
{
  d3 corners[3] = {d3_from_vec3(corner[0]), d3_from_vec3(corner[1]), d3_from_vec3(corner[2])};
  d3 normal = d3_cross(d3_sub(corners[1], corners[0]), d3_sub(corners[2], corners[0]));
  double length = sqrt(d3_dot(normal, normal));
  polygon_projection f = {true, HUGE_VAL, p};
  for (int i = 0; i < 3; ++i) {
    add_polygon_edge(&f, p, corners[i], corners[(i + 1) % 3], normal);
  }
  d3 on = polygon_point(&f, p, corners[0], normal);
  closest c = on_ball(p, on, 0.0, length > 0.0 ? d3_scale(1.0 / length, normal) : normal);
  c.point = vec3_from_d3(on);
  return c;
}

static d3 on_hull_face(d3 p, const convex_hull *c, const convex_hull_face *face)
{
  const convex_hull_edge *edges = &c->edges[face->first_edge];
  d3 normal = d3_from_vec3(face->normal);
  d3 corner = d3_from_vec3(c->vertices[edges[face->edge_count - 1].origin]);
  polygon_projection f = {true, HUGE_VAL, p};
  for (int i = 0; i < face->edge_count; ++i) {
    d3 next = d3_from_vec3(c->vertices[edges[i].origin]);
    add_polygon_edge(&f, p, corner, next, normal);
    corner = next;
  }
  return polygon_point(&f, p, corner, normal);
}

static closest on_hull(d3 p, const convex_hull *c)
{
  double highest = -HUGE_VAL, least = HUGE_VAL;
  const convex_hull_face *top = &c->faces[0];
  d3 on = p;
  for (int i = 0; i < c->face_count; ++i) {
    const convex_hull_face *face = &c->faces[i];
    double height = d3_dot(d3_from_vec3(face->normal), p) - (double)face->offset;
    if (height > highest) {
      highest = height;
      top = face;
    }
    if (height > 0.0) {
      d3 foot = on_hull_face(p, c, face);
      double squared = squared_distance(p, foot);
      on = squared < least ? foot : on;
      least = squared < least ? squared : least;
    }
  }
  return highest > 0.0 ? from_outside(p, on) : on_face(p, d3_from_vec3(top->normal), highest);
}

// ---------------------------------------------------------------------------------------------

static closest on_convex(const geometry *g, d3 p)
{
  double radius = (double)g->radius, half_length = (double)g->half_length;
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return on_ball(p, (d3){0.0, 0.0, 0.0}, radius, (d3){0.0, 1.0, 0.0});
  case TN_SHAPE_CAPSULE:
    return on_capsule(p, radius, half_length);
  case TN_SHAPE_BOX:
    return on_box(p, d3_from_vec3(g->half_extents));
  case TN_SHAPE_CYLINDER:
  case TN_SHAPE_CONE: {
    core_gap gap = core_gap_of_point(g, p);
    return (closest){(float)gap.distance, vec3_from_d3(gap.a), vec3_from_d3(gap.normal)};
  }
  case TN_SHAPE_HULL:
    return on_hull(p, g->hull);
  case GEOMETRY_TRIANGLE:
    return on_triangle(p, g->corner);
  default: // TN_SHAPE_PLANE
    return on_face(p, (d3){0.0, 1.0, 0.0}, p.y);
  }
}

bool geometry_closest(const geometry *g, tn_vec3 p, float max_distance, closest *out)
{
  switch (g->kind) {
  case TN_SHAPE_MESH:
    return mesh_closest(g->mesh, p, max_distance, out);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_closest(g->field, p, max_distance, out);
  case TN_SHAPE_WIRE:
    return wire_closest(g->wire, g->radius, p, max_distance, out);
  default:
    *out = on_convex(g, d3_from_vec3(p));
    return out->distance <= max_distance;
  }
}
