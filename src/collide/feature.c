// Supporting faces and edges of each kind of convex shape.
#include "collide/feature.h"

#include "collide/collide_tuning.h"
#include "collide/core.h"

// ---------------------------------------------------------------------------------------------
// Faces

static void box_face(tn_vec3 half, tn_vec3 direction, face_polygon *out)
{
  float x = fabsf(direction.x), y = fabsf(direction.y), z = fabsf(direction.z);
  int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  float h[3] = {half.x, half.y, half.z}, d[3] = {direction.x, direction.y, direction.z};
  float sign = d[axis] >= 0.0f ? 1.0f : -1.0f;
  int i = (axis + 1) % 3, k = (axis + 2) % 3;
  static const float around[4][2] = {{1.0f, 1.0f}, {-1.0f, 1.0f}, {-1.0f, -1.0f}, {1.0f, -1.0f}};
  float n[3] = {0.0f, 0.0f, 0.0f};
  n[axis] = sign;
  out->normal = tn_v3(n[0], n[1], n[2]);
  out->feature_id = 2 * axis + (sign > 0.0f);
  out->count = 4;
  for (int c = 0; c < 4; c++) {
    float p[3];
    p[axis] = sign * h[axis];
    p[i] = around[c][0] * h[i];
    p[k] = sign * around[c][1] * h[k];
    out->corner[c] = tn_v3(p[0], p[1], p[2]);
  }
}

static void hull_supporting_face(const convex_hull *c, tn_vec3 direction, face_polygon *out)
{
  int best = vector_rows_furthest(&c->normal_rows, direction);
  const convex_hull_face *face = &c->faces[best];
  out->normal = face->normal;
  out->feature_id = best;
  out->count = face->edge_count < MAX_FACE_VERTICES ? face->edge_count : MAX_FACE_VERTICES;
  for (int i = 0; i < out->count; i++) {
    out->corner[i] = c->vertices[c->edges[face->first_edge + i].origin];
  }
}

static tn_vec3 triangle_normal_or_y(const tn_vec3 corner[3])
{
  d3 a = d3_from_vec3(corner[0]);
  d3 n = d3_cross(d3_sub(d3_from_vec3(corner[1]), a), d3_sub(d3_from_vec3(corner[2]), a));
  double square = d3_dot(n, n);
  return square > 0.0 ? vec3_from_d3(d3_scale(1.0 / sqrt(square), n)) : tn_v3(0.0f, 1.0f, 0.0f);
}

static void triangle_face(const tn_vec3 corner[3], tn_vec3 direction, face_polygon *out)
{
  tn_vec3 n = triangle_normal_or_y(corner);
  bool front = tn_dot(n, direction) >= 0.0f;
  out->normal = front ? n : tn_scale(-1.0f, n);
  out->feature_id = front;
  out->count = 3;
  out->corner[0] = corner[0];
  out->corner[1] = corner[front ? 1 : 2];
  out->corner[2] = corner[front ? 2 : 1];
}

static void disc_face(float radius, float y, float side, face_polygon *out)
{
  // cos(i * 22.5 degrees), i = 0 to 4.
  static const float c[5] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f};
  out->normal = tn_v3(0.0f, side, 0.0f);
  out->feature_id = side > 0.0f;
  out->count = DISC_FACE_VERTICES;
  for (int i = 0; i < DISC_FACE_VERTICES; i++) {
    int k = i % 4, quarter = i / 4;
    float x = quarter % 2 == 0 ? c[k] : -c[4 - k], z = quarter % 2 == 0 ? c[4 - k] : c[k];
    float s = quarter < 2 ? radius : -radius;
    out->corner[i] = tn_v3(s * x, y, -side * s * z);
  }
}

bool supporting_face(const geometry *g, tn_vec3 direction, face_polygon *out)
{
  switch (g->kind) {
  case TN_SHAPE_BOX:
    box_face(g->half_extents, direction, out);
    return true;
  case TN_SHAPE_HULL:
    hull_supporting_face(g->hull, direction, out);
    return true;
  case GEOMETRY_TRIANGLE:
    triangle_face(g->corner, direction, out);
    return true;
  case TN_SHAPE_CYLINDER: {
    float side = direction.y >= 0.0f ? 1.0f : -1.0f;
    disc_face(g->radius, side * g->half_length, side, out);
    return true;
  }
  case TN_SHAPE_CONE:
    disc_face(g->radius, -g->half_length, -1.0f, out);
    return true;
  default:
    return false;
  }
}

// ---------------------------------------------------------------------------------------------
// Edges

static segment point_segment(tn_vec3 p, float radius, int feature_id)
{
  return (segment){{p, p}, radius, feature_id};
}

static segment box_edge(tn_vec3 half, tn_vec3 direction)
{
  float x = fabsf(direction.x), y = fabsf(direction.y), z = fabsf(direction.z);
  int axis = x <= y && x <= z ? 0 : y <= z ? 1 : 2;
  float h[3] = {half.x, half.y, half.z}, d[3] = {direction.x, direction.y, direction.z};
  float p[3];
  int feature_id = 8 * axis;
  for (int i = 0; i < 3; i++) {
    p[i] = d[i] >= 0.0f ? h[i] : -h[i];
    feature_id += i != axis && d[i] >= 0.0f ? 1 << i : 0;
  }
  segment edge = {.radius = 0.0f, .feature_id = feature_id};
  p[axis] = -h[axis];
  edge.end[0] = tn_v3(p[0], p[1], p[2]);
  p[axis] = h[axis];
  edge.end[1] = tn_v3(p[0], p[1], p[2]);
  return edge;
}

// Absolute sine of the angle between the edge p q and the plane perpendicular to `direction`.
static float steepness(tn_vec3 p, tn_vec3 q, tn_vec3 direction)
{
  tn_vec3 d = tn_sub(q, p);
  float length = tn_length(d);
  return length > 0.0f ? fabsf(tn_dot(d, direction)) / length : 1.0f;
}

static segment hull_supporting_edge(const convex_hull *c, tn_vec3 direction)
{
  int top = vector_rows_furthest(&c->vertex_rows, direction), first = c->first_edge[top];
  int best = first, edge = first;
  float best_steepness = INFINITY;
  do {
    tn_vec3 to = c->vertices[c->edges[c->edges[edge].twin].origin];
    float steep = steepness(c->vertices[top], to, direction);
    if (steep < best_steepness || (steep == best_steepness && edge < best)) {
      best = edge;
      best_steepness = steep;
    }
    edge = c->edges[c->edges[edge].twin].next;
  } while (edge != first);
  // The same id and direction from whichever end the edge is found.
  int twin = c->edges[best].twin, feature_id = best < twin ? best : twin;
  const convex_hull_edge *lower = &c->edges[feature_id];
  return (segment){
      {c->vertices[lower->origin], c->vertices[c->edges[lower->twin].origin]}, 0.0f, feature_id};
}

static segment triangle_edge(const tn_vec3 corner[3], tn_vec3 direction)
{
  int top = 0;
  for (int i = 1; i < 3; i++) {
    if (tn_dot(corner[i], direction) > tn_dot(corner[top], direction)) {
      top = i;
    }
  }
  int next = (top + 1) % 3, last = (top + 2) % 3;
  bool ahead = steepness(corner[top], corner[next], direction) <=
               steepness(corner[last], corner[top], direction);
  int from = ahead ? top : last;
  return (segment){{corner[from], corner[(from + 1) % 3]}, 0.0f, from};
}

static segment cone_side(const geometry *g, tn_vec3 direction)
{
  tn_vec3 tip = tn_v3(0.0f, g->half_length, 0.0f);
  float across = sqrtf(direction.x * direction.x + direction.z * direction.z);
  float s = across > 0.0f ? g->radius / across : 0.0f;
  return (segment){{tip, tn_v3(s * direction.x, -g->half_length, s * direction.z)}, 0.0f, 0};
}

// Within 0.6 degrees of perpendicular (|sine| <= 0.01) the side faces the direction: the axis with
// the cylinder's radius. Otherwise the support point on the rim. The end of the axis is shortened
// by the part for which axis point + radius * direction would lie beyond the rim.
static segment cylinder_side(const geometry *g, tn_vec3 direction)
{
  if (fabsf(direction.y) > COLLIDE_CYLINDER_SIDE_SINE) {
    return point_segment(vec3_from_d3(core_support(g, d3_from_vec3(direction))), 0.0f,
                         1 + (direction.y > 0.0f));
  }
  float beyond = g->radius * direction.y, h = g->half_length;
  float top = beyond > 0.0f ? h - beyond : h, bottom = beyond < 0.0f ? -h - beyond : -h;
  if (top <= bottom) {
    top = bottom = 0.0f;
  }
  return (segment){{tn_v3(0.0f, bottom, 0.0f), tn_v3(0.0f, top, 0.0f)}, g->radius, 0};
}

segment supporting_edge(const geometry *g, tn_vec3 direction)
{
  switch (g->kind) {
  case TN_SHAPE_CAPSULE: {
    tn_vec3 end = tn_v3(0.0f, g->half_length, 0.0f);
    return (segment){{tn_scale(-1.0f, end), end}, g->radius, 0};
  }
  case TN_SHAPE_BOX:
    return box_edge(g->half_extents, direction);
  case TN_SHAPE_HULL:
    return hull_supporting_edge(g->hull, direction);
  case GEOMETRY_TRIANGLE:
    return triangle_edge(g->corner, direction);
  case TN_SHAPE_CYLINDER:
    return cylinder_side(g, direction);
  case TN_SHAPE_CONE:
    return cone_side(g, direction);
  default:
    return point_segment(tn_v3(0.0f, 0.0f, 0.0f), g->radius, 0);
  }
}
