// Contacts of a convex shape with a surface of connected triangles (facets).
//
// A facet on its own would push the shape off its edges, although the surface continues there:
// ghost contacts at internal edges. So contacts are of two kinds. Face contacts take the manifold
// of the shape with a facet's whole plane, and keep the points that lie on the surface. Edge and
// vertex contacts are kept only if their normal points into no neighbouring facet's region.
#ifndef TENON_COLLIDE_SURFACE_CONTACTS_H
#define TENON_COLLIDE_SURFACE_CONTACTS_H

#include "collide/distance.h"
#include "collide/manifold_list.h"
#include "collide/vector_rows.h"

#include <stdalign.h>

enum { NO_FACET = -1 };

typedef struct facet {
  tn_vec3 corner[3]; // counter-clockwise seen from outside
  tn_vec3 normal;    // unit
  int across[3];     // facet across the edge from corner i to i + 1, or NO_FACET
  float bend; // tangent of the largest angle to a facet at its corners; infinite at a boundary
} facet;

typedef void facet_index_fn(void *context, int index);

// Access to the facets of a mesh or height field. Neighbouring facets share their corners bit for
// bit.
typedef struct triangle_source {
  const void *surface;
  facet (*get)(const void *surface, int index);
  // Calls `visit` for each facet that a shape with this box may touch.
  void (*walk)(const void *surface, aabb box, facet_index_fn *visit, void *context);
  bool solid_below; // solid down the y axis (height field); else two-sided
} triangle_source;

// ---------------------------------------------------------------------------------------------
// One triangle

tn_vec3 triangle_normal(const tn_vec3 corner[3]); // unit, or zero for a degenerate triangle
tn_vec3 triangle_closest(const tn_vec3 corner[3], tn_vec3 normal, tn_vec3 p);
// Two-sided. A ray through an edge shared by two triangles hits at least one of them.
bool triangle_ray(const tn_vec3 corner[3], tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  float *fraction);
geometry triangle_geometry(const tn_vec3 corner[3]);
// Replaces `best` by the separation of a triangle and a shape if that is smaller. A penetrating one
// counts only if it pushes towards the front of the triangle.
bool triangle_update_nearest(const tn_vec3 corner[3], const geometry *b, pose b_in_a,
                             separation *best);

// The smallest rotation that takes the y axis to a unit vector.
tn_quat quat_y_to(tn_vec3 n);

// ---------------------------------------------------------------------------------------------
// Contacts: surface_contacts_find, then surface_contacts_finish.

#define MAX_PLANE_PATCHES 24 // per pair
#define MAX_PATCH_EXTRA 12   // extra points per patch
#define MAX_NEAR_FACETS 64   // looked at once; if there are more, they are looked at in each pass
#define MAX_TURNED_VERTICES 256

// The coplanar facets of one plane, seen from one side.
typedef struct plane_patch {
  manifold plane;      // manifold of the shape with the whole plane
  tn_vec3 normal;      // unit, towards the shape
  tn_vec3 origin;      // a point of the plane
  unsigned on_surface; // bit i: point i of `plane` lies on the surface
  unsigned possible; // bit i: it does, provided that some facet of the plane is hit from the front
  bool overlapped, front_hit; // a facet overlaps the shape; a facet is hit from the front
  int extra_count;
  manifold_point extra[MAX_PATCH_EXTRA]; // contacts with single facets at the surface's boundary
} plane_patch;

// The vertices of a box or hull relative to its centre, in the surface's axes.
typedef struct turned_vertices {
  vector_rows rows; // count 0: another shape
  alignas(16) float memory[3 * MAX_TURNED_VERTICES];
} turned_vertices;

typedef struct surface_contacts {
  triangle_source source;
  const geometry *b;
  pose b_in_a;
  float margin, size; // m; size is half the diagonal of B's AABB
  tn_vec3 center;     // of B, in the surface's frame
  aabb local_aabb;    // of B in its own frame, grown by the margin
  turned_vertices vertices;
  bool met_front, met_back; // B's centre is in front of, or behind, a facet near it
  int near_count;
  struct near_facet *near_facets; // room for MAX_NEAR_FACETS; null: there are more
  int patch_count;
  plane_patch patches[MAX_PLANE_PATCHES];
  plane_patch candidate; // not yet in `patches`; its plane has no points while it is unused
  manifold_list edges;   // contacts with edges and vertices
  manifold fallback;     // deepest contact with an internal edge; used when no other contact holds
} surface_contacts;

void surface_contacts_find(surface_contacts *c, triangle_source source, const geometry *b,
                           pose b_in_a, float margin);
// For a shape whose centre is below a solid surface: the contact with the whole plane of the facet
// above it, unless a penetrating contact was found.
void surface_contacts_add_below(surface_contacts *c, int index);
int surface_contacts_finish(surface_contacts *c, manifold *out, int capacity);

// A point well inside a convex shape, in its own frame.
tn_vec3 convex_center(const geometry *g);

#endif
