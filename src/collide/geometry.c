// Extents of shapes.
#include "distance.h"
#include "surface.h"

static float smallest(tn_vec3 v)
{
  float xy = v.x < v.y ? v.x : v.y;
  return xy < v.z ? xy : v.z;
}

static tn_vec3 lower_of(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}

static tn_vec3 upper_of(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}

static float furthest(const tn_vec3 *points, int count)
{
  float square = 0.0f;
  for (int i = 0; i < count; i++)
    square = fmaxf(square, tn_dot(points[i], points[i]));
  return sqrtf(square);
}

// ---------------------------------------------------------------------------------------------
// Boxes

static box3 box_of_points(const tn_vec3 *points, int count, pose at)
{
  tn_vec3 first = pose_point(at, points[0]);
  box3 box = {first, first};
  for (int i = 1; i < count; i++) {
    tn_vec3 p = pose_point(at, points[i]);
    box.lower = lower_of(box.lower, p);
    box.upper = upper_of(box.upper, p);
  }
  return box;
}

static box3 box_around(tn_vec3 center, tn_vec3 half)
{
  return (box3){tn_sub(center, half), tn_add(center, half)};
}

static tn_vec3 reach_of_axis(tn_vec3 axis, float length)
{
  return tn_v3(length * fabsf(axis.x), length * fabsf(axis.y), length * fabsf(axis.z));
}

static box3 box_of_box(tn_vec3 center, tn_vec3 half, pose at)
{
  tn_vec3 x = reach_of_axis(pose_vector(at, tn_v3(1.0f, 0.0f, 0.0f)), half.x);
  tn_vec3 y = reach_of_axis(pose_vector(at, tn_v3(0.0f, 1.0f, 0.0f)), half.y);
  tn_vec3 z = reach_of_axis(pose_vector(at, tn_v3(0.0f, 0.0f, 1.0f)), half.z);
  return box_around(pose_point(at, center), tn_add(x, tn_add(y, z)));
}

static box3 box_of_surface(box3 own, pose at)
{
  tn_vec3 center = tn_scale(0.5f, tn_add(own.lower, own.upper));
  return box_of_box(center, tn_scale(0.5f, tn_sub(own.upper, own.lower)), at);
}

// How far a disc reaches along each axis of space: radius times the sine of the angle between.
static tn_vec3 reach_of_disc(tn_vec3 axis, float radius)
{
  return tn_v3(radius * sqrtf(fmaxf(0.0f, axis.y * axis.y + axis.z * axis.z)),
               radius * sqrtf(fmaxf(0.0f, axis.x * axis.x + axis.z * axis.z)),
               radius * sqrtf(fmaxf(0.0f, axis.x * axis.x + axis.y * axis.y)));
}

static box3 box_of_cone(const geometry *g, tn_vec3 axis, pose at)
{
  tn_vec3 up = tn_scale(g->half_length, axis), tip = tn_add(at.p, up);
  box3 base = box_around(tn_sub(at.p, up), reach_of_disc(axis, g->radius));
  return (box3){lower_of(base.lower, tip), upper_of(base.upper, tip)};
}

// Infinite, but exact below a plane that lies along an axis.
static box3 box_of_plane(tn_vec3 up, pose at)
{
  box3 box = {tn_v3(-INFINITY, -INFINITY, -INFINITY), tn_v3(INFINITY, INFINITY, INFINITY)};
  if (up.x == 0.0f && up.z == 0.0f) {
    if (up.y > 0.0f)
      box.upper.y = at.p.y;
    else
      box.lower.y = at.p.y;
  }
  return box;
}

box3 geometry_box(const geometry *g, pose at)
{
  tn_vec3 axis = pose_vector(at, tn_v3(0.0f, 1.0f, 0.0f));
  tn_vec3 along = reach_of_axis(axis, g->half_length);
  tn_vec3 ball = tn_v3(g->radius, g->radius, g->radius);
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return box_around(at.p, ball);
  case TN_SHAPE_CAPSULE:
    return box_around(at.p, tn_add(along, ball));
  case TN_SHAPE_BOX:
    return box_of_box(tn_v3(0.0f, 0.0f, 0.0f), g->half_extents, at);
  case TN_SHAPE_CYLINDER:
    return box_around(at.p, tn_add(along, reach_of_disc(axis, g->radius)));
  case TN_SHAPE_CONE:
    return box_of_cone(g, axis, at);
  case TN_SHAPE_HULL:
    return box_of_points(g->hull->vertices, g->hull->vertex_count, at);
  case TN_SHAPE_PLANE:
    return box_of_plane(axis, at);
  case TN_SHAPE_MESH:
    return box_of_surface(mesh_box(g->mesh), at);
  case TN_SHAPE_HEIGHT_FIELD:
    return box_of_surface(height_field_box(g->field), at);
  case TN_SHAPE_WIRE:
    return box_of_surface(wire_box(g->wire, g->radius), at);
  default:
    return box_of_points(g->corner, 3, at);
  }
}

// ---------------------------------------------------------------------------------------------
// Radii

static float reach_of_bounds(box3 box)
{
  tn_vec3 lower = tn_v3(fabsf(box.lower.x), fabsf(box.lower.y), fabsf(box.lower.z));
  tn_vec3 upper = tn_v3(fabsf(box.upper.x), fabsf(box.upper.y), fabsf(box.upper.z));
  return tn_length(upper_of(lower, upper));
}

float geometry_reach(const geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return g->radius;
  case TN_SHAPE_CAPSULE:
    return g->half_length + g->radius;
  case TN_SHAPE_BOX:
    return tn_length(g->half_extents);
  case TN_SHAPE_CYLINDER:
  case TN_SHAPE_CONE:
    return tn_length(tn_v3(g->radius, g->half_length, 0.0f));
  case TN_SHAPE_HULL:
    return furthest(g->hull->vertices, g->hull->vertex_count);
  case TN_SHAPE_PLANE:
    return INFINITY;
  case TN_SHAPE_MESH:
    return reach_of_bounds(mesh_box(g->mesh));
  case TN_SHAPE_HEIGHT_FIELD:
    return reach_of_bounds(height_field_box(g->field));
  case TN_SHAPE_WIRE:
    return reach_of_bounds(wire_box(g->wire, g->radius));
  default:
    return furthest(g->corner, 3);
  }
}

// The largest ball in a cone touches its base and its side.
static float inner_radius_of_cone(float radius, float height)
{
  return radius * height / (radius + tn_length(tn_v3(radius, height, 0.0f)));
}

float geometry_inner_radius(const geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_BOX:
    return smallest(g->half_extents);
  case TN_SHAPE_CYLINDER:
    return fminf(g->radius, g->half_length);
  case TN_SHAPE_CONE:
    return inner_radius_of_cone(g->radius, 2.0f * g->half_length);
  case TN_SHAPE_HULL:
    return g->hull->inner_radius;
  case TN_SHAPE_PLANE:
    return INFINITY;
  case TN_SHAPE_SPHERE:
  case TN_SHAPE_CAPSULE:
  case TN_SHAPE_WIRE:
    return g->radius;
  default: // surfaces without an inside
    return 0.0f;
  }
}

tn_vec3 geometry_inner_center(const geometry *g)
{
  switch (g->kind) {
  case TN_SHAPE_CONE: // its base is at -half_length
    return tn_v3(0.0f, geometry_inner_radius(g) - g->half_length, 0.0f);
  case TN_SHAPE_HULL:
    return g->hull->center;
  default:
    return tn_v3(0.0f, 0.0f, 0.0f);
  }
}
