// Facets near a convex shape, before contacts are looked for.
#ifndef TENON_COLLIDE_NEAR_FACET_H
#define TENON_COLLIDE_NEAR_FACET_H

#include "collide/surface_contacts.h"

typedef enum edge_kind {
  EDGE_CONVEX, // boundary of the surface, or it bends away from the shape
  EDGE_COPLANAR,
  EDGE_CONCAVE, // the surface bends towards the shape
} edge_kind;

typedef struct edge_info {
  edge_kind kind;
  // EDGE_CONCAVE: normal of the neighbour's plane, which contains the edge; it points to the side
  // on which this facet is.
  tn_vec3 beyond;
  bool seen; // EDGE_CONCAVE: whether the shape's centre is on that side as well
} edge_info;

// A facet whose plane the shape is near, with its normal on the side of the shape.
typedef struct near_facet {
  int index;
  facet f;
  tn_vec3 normal;    // unit, towards the shape
  tn_vec3 inward[3]; // unit, in the plane, perpendicular to each edge
  bool is_classified;
  edge_info edge_kind[3]; // once classified
  // Of boxes and hulls: a vertex within the margin of the plane may count as a point on the facet;
  // the shape is beyond the margin of one of its sides; a contact with the facet may be one that no
  // neighbour's region excludes.
  bool has_vertex_over, is_apart, may_hold;
  int lowest;   // vertex
  float height; // of it, above the plane
} near_facet;

// The vertices of a box or hull, turned; none of other shapes.
void turn_vertices(surface_contacts *c);
tn_vec3 polyhedron_vertex(const geometry *g, int i);

static inline tn_vec3 turned_vertex(const surface_contacts *c, int i)
{
  const vector_rows *v = &c->vertices.rows;
  return tn_v3(v->x[i], v->y[i], v->z[i]);
}

tn_vec3 unit_or_zero(tn_vec3 v);

// Looks at a facet; its edges are not classified. False when the shape is beyond the margin of its
// plane.
bool near_facet_view(surface_contacts *c, int index, near_facet *v);

#endif
