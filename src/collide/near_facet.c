// Which facets of a surface a shape may touch: the shape's vertices are compared with the plane and
// the sides of each, several at a time.
#include "collide/near_facet.h"

#include "collide/collide_tuning.h"

tn_vec3 unit_or_zero(tn_vec3 v)
{
  float length = tn_length(v);
  return length > 0.0f ? tn_scale(1.0f / length, v) : tn_v3(0.0f, 0.0f, 0.0f);
}

// Vertex of a box, numbered as those of its core, or of a hull.
tn_vec3 polyhedron_vertex(const geometry *g, int i)
{
  tn_vec3 h = g->half_extents;
  return g->kind == TN_SHAPE_HULL
             ? g->hull->vertices[i]
             : tn_v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
}

void turn_vertices(surface_contacts *c)
{
  alignas(16) float memory[3 * 8];
  tn_vec3 corner[8];
  vector_rows rows = {.count = 0};
  if (c->b->kind == TN_SHAPE_HULL && c->b->hull->vertex_count <= MAX_TURNED_VERTICES) {
    rows = c->b->hull->vertex_rows;
  } else if (c->b->kind == TN_SHAPE_BOX) {
    for (int i = 0; i < 8; i++) {
      corner[i] = polyhedron_vertex(c->b, i);
    }
    rows = vector_rows_make(memory, corner, sizeof *corner, 8);
  }
  c->vertices.rows =
      vector_rows_turned(c->vertices.memory, &rows, convex_center(c->b), c->b_in_a.q);
}

// True if all vertices of the shape are farther from the facet's plane than the margin.
static bool is_beyond_margin(const surface_contacts *c, const near_facet *v)
{
  tn_vec3 down = pose_inverse_vector(c->b_in_a, tn_scale(-1.0f, v->normal));
  tn_vec3 lowest = pose_point(c->b_in_a, convex_support(c->b, down));
  return tn_dot(v->normal, tn_sub(lowest, v->f.corner[0])) >
         c->margin + COLLIDE_PLANE_ROUNDING * c->size;
}

static float sum_of_magnitudes(tn_vec3 v)
{
  return fabsf(v.x) + fabsf(v.y) + fabsf(v.z);
}

// How far beyond a side of a facet a point may be that point_on_facet() accepts, and rounding.
static float side_slack(const surface_contacts *c, tn_vec3 along)
{
  float rounding = COLLIDE_ON_TRIANGLE * (sum_of_magnitudes(c->center) + 4.0f * c->size) +
                   COLLIDE_ON_TRIANGLE_EDGE * sum_of_magnitudes(along);
  return COLLIDE_CONCAVE_OVERHANG * c->size + 2.0f * rounding;
}

// Compares the vertices of a box or hull with the plane and the sides of a facet. False when all
// are beyond the margin of the plane.
//
// A contact normal that points into no neighbour's region is within the angle `bend` of that of the
// facet, so the points of the shape that touch are the lowest along such a normal: vertices i with
//
//   height_i - height_lowest <= bend * (their distance across),   bend: a tangent
//
// and what lies between them. They must reach over the facet, but for the depth times the sine.
static bool compare_vertices(const surface_contacts *c, near_facet *v)
{
  alignas(16) float heights[MAX_TURNED_VERTICES];
  const vector_rows *rows = &c->vertices.rows;
  float slack[3], rounding = COLLIDE_PLANE_ROUNDING * c->size;
  float plane = tn_dot(v->normal, tn_sub(v->f.corner[0], c->center));
  v->height = vector_rows_products(rows, v->normal, heights) - plane;
  if (v->height > c->margin + rounding) {
    return false;
  }
  v->lowest = vector_rows_furthest(rows, tn_scale(-1.0f, v->normal));
  prism over = {.limit = plane + c->margin + rounding,
                .slope = v->f.bend,
                .rounding = COLLIDE_AABB_SLACK * c->size};
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    over.side[i] = v->inward[i] = unit_or_zero(tn_cross(v->f.normal, along));
    over.offset[i] = tn_dot(v->inward[i], tn_sub(v->f.corner[i], c->center));
    slack[i] = side_slack(c, along);
  }
  prism_reach reach = vector_rows_reach(rows, heights, v->lowest, &over, slack);
  float aside = fmaxf(c->margin, -v->height) * fminf(v->f.bend, 1.0f);
  v->has_vertex_over = reach.near_any;
  for (int i = 0; i < 3; i++) {
    v->is_apart = v->is_apart || reach.all[i] < -c->margin - rounding;
    v->may_hold =
        v->may_hold && reach.foremost[i] >= -aside - slack[i] + COLLIDE_CONCAVE_OVERHANG * c->size;
  }
  return true;
}

bool near_facet_view(surface_contacts *c, int index, near_facet *v)
{
  v->index = index;
  v->f = c->source.get(c->source.surface, index);
  v->is_classified = v->is_apart = false;
  v->may_hold = true;
  bool behind = tn_dot(v->f.normal, tn_sub(c->center, v->f.corner[0])) < 0.0f;
  c->met_back = c->met_back || behind;
  c->met_front = c->met_front || !behind;
  v->normal = tn_scale(behind && !c->source.solid_below ? -1.0f : 1.0f, v->f.normal);
  if (c->vertices.rows.count > 0) {
    return compare_vertices(c, v);
  }
  v->has_vertex_over = true;
  if (is_beyond_margin(c, v)) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    tn_vec3 along = tn_sub(v->f.corner[(i + 1) % 3], v->f.corner[i]);
    v->inward[i] = unit_or_zero(tn_cross(v->f.normal, along));
  }
  return true;
}
