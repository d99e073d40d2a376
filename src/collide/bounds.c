// Bounds of each kind of shape: AABB at a pose, bounding radius, inner ball.
#include "collide/distance.h"
#include "collide/surface.h"

static float smallest(tn_vec3 v)
{
  float xy = v.x < v.y ? v.x : v.y;
  return xy < v.z ? xy : v.z;
}

static tn_vec3 vec3_lower(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}

static tn_vec3 vec3_upper(tn_vec3 a, tn_vec3 b)
{
  return tn_v3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}

static float max_length(const tn_vec3 *points, int count)
{
  float square = 0.0f;
  for (int i = 0; i < count; i++) {
    square = fmaxf(square, tn_dot(points[i], points[i]));
  }
  return sqrtf(square);
}

// ---------------------------------------------------------------------------------------------
// AABBs

static aabb aabb_of_vertices(const vector_rows *points, pose at)
{
  tn_vec3 lower, upper;
  vector_rows_range(points, pose_inverse_vector(at, tn_v3(1.0f, 0.0f, 0.0f)), &lower.x, &upper.x);
  vector_rows_range(points, pose_inverse_vector(at, tn_v3(0.0f, 1.0f, 0.0f)), &lower.y, &upper.y);
  vector_rows_range(points, pose_inverse_vector(at, tn_v3(0.0f, 0.0f, 1.0f)), &lower.z, &upper.z);
  return (aabb){tn_add(at.p, lower), tn_add(at.p, upper)};
}

static aabb aabb_of_triangle(const tn_vec3 corner[3], pose at)
{
  tn_vec3 a = pose_point(at, corner[0]), b = pose_point(at, corner[1]);
  tn_vec3 c = pose_point(at, corner[2]);
  return (aabb){vec3_lower(a, vec3_lower(b, c)), vec3_upper(a, vec3_upper(b, c))};
}

static aabb aabb_centered(tn_vec3 center, tn_vec3 half)
{
  return (aabb){tn_sub(center, half), tn_add(center, half)};
}

static tn_vec3 abs_extent(tn_vec3 axis, float length)
{
  return tn_v3(length * fabsf(axis.x), length * fabsf(axis.y), length * fabsf(axis.z));
}

static aabb aabb_of_box(tn_vec3 center, tn_vec3 half, pose at)
{
  tn_vec3 x = abs_extent(pose_vector(at, tn_v3(1.0f, 0.0f, 0.0f)), half.x);
  tn_vec3 y = abs_extent(pose_vector(at, tn_v3(0.0f, 1.0f, 0.0f)), half.y);
  tn_vec3 z = abs_extent(pose_vector(at, tn_v3(0.0f, 0.0f, 1.0f)), half.z);
  return aabb_centered(pose_point(at, center), tn_add(x, tn_add(y, z)));
}

static aabb aabb_of_local_aabb(aabb own, pose at)
{
  tn_vec3 center = tn_scale(0.5f, tn_add(own.lower, own.upper));
  return aabb_of_box(center, tn_scale(0.5f, tn_sub(own.upper, own.lower)), at);
}

// Half extents of a disc along the coordinate axes: radius * sine of the angle between the disc's
// axis and the coordinate axis.
static tn_vec3 disc_extent(tn_vec3 axis, float radius)
{
  return tn_v3(radius * sqrtf(fmaxf(0.0f, axis.y * axis.y + axis.z * axis.z)),
               radius * sqrtf(fmaxf(0.0f, axis.x * axis.x + axis.z * axis.z)),
               radius * sqrtf(fmaxf(0.0f, axis.x * axis.x + axis.y * axis.y)));
}

static aabb aabb_of_cone(const geometry *g, tn_vec3 axis, pose at)
{
  tn_vec3 up = tn_scale(g->half_length, axis), tip = tn_add(at.p, up);
  aabb base = aabb_centered(tn_sub(at.p, up), disc_extent(axis, g->radius));
  return (aabb){vec3_lower(base.lower, tip), vec3_upper(base.upper, tip)};
}

// Infinite, but ends at the plane if that is exactly horizontal.
static aabb aabb_of_plane(tn_vec3 up, pose at)
{
  aabb box = {tn_v3(-INFINITY, -INFINITY, -INFINITY), tn_v3(INFINITY, INFINITY, INFINITY)};
  if (up.x == 0.0f && up.z == 0.0f) {
    if (up.y > 0.0f) {
      box.upper.y = at.p.y;
    } else {
      box.lower.y = at.p.y;
    }
  }
  return box;
}

aabb geometry_aabb(const geometry *g, pose at)
{
  tn_vec3 axis = pose_vector(at, tn_v3(0.0f, 1.0f, 0.0f));
  tn_vec3 along = abs_extent(axis, g->half_length);
  tn_vec3 ball = tn_v3(g->radius, g->radius, g->radius);
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    return aabb_centered(at.p, ball);
  case TN_SHAPE_CAPSULE:
    return aabb_centered(at.p, tn_add(along, ball));
  case TN_SHAPE_BOX:
    return aabb_of_box(tn_v3(0.0f, 0.0f, 0.0f), g->half_extents, at);
  case TN_SHAPE_CYLINDER:
    return aabb_centered(at.p, tn_add(along, disc_extent(axis, g->radius)));
  case TN_SHAPE_CONE:
    return aabb_of_cone(g, axis, at);
  case TN_SHAPE_HULL:
    return aabb_of_vertices(&g->hull->vertex_rows, at);
  case TN_SHAPE_PLANE:
    return aabb_of_plane(axis, at);
  case TN_SHAPE_MESH:
    return aabb_of_local_aabb(mesh_aabb(g->mesh), at);
  case TN_SHAPE_HEIGHT_FIELD:
    return aabb_of_local_aabb(height_field_aabb(g->field), at);
  case TN_SHAPE_WIRE:
    return aabb_of_local_aabb(wire_aabb(g->wire, g->radius), at);
  default:
    return aabb_of_triangle(g->corner, at);
  }
}

// ---------------------------------------------------------------------------------------------
// Radii

static float radius_of_aabb(aabb box)
{
  tn_vec3 lower = tn_v3(fabsf(box.lower.x), fabsf(box.lower.y), fabsf(box.lower.z));
  tn_vec3 upper = tn_v3(fabsf(box.upper.x), fabsf(box.upper.y), fabsf(box.upper.z));
  return tn_length(vec3_upper(lower, upper));
}

float geometry_bounding_radius(const geometry *g)
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
    return max_length(g->hull->vertices, g->hull->vertex_count);
  case TN_SHAPE_PLANE:
    return INFINITY;
  case TN_SHAPE_MESH:
    return radius_of_aabb(mesh_aabb(g->mesh));
  case TN_SHAPE_HEIGHT_FIELD:
    return radius_of_aabb(height_field_aabb(g->field));
  case TN_SHAPE_WIRE:
    return radius_of_aabb(wire_aabb(g->wire, g->radius));
  default:
    return max_length(g->corner, 3);
  }
}

// Radius of the ball that touches the cone's base and side.
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
