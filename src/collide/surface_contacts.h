// Triangles that form a surface, and the contacts of a convex shape with it.
//
// Where triangles meet, each of them alone would push the shape off their common edge, although
// the surface goes on there. So a surface has two kinds of contacts: with the planes of its faces,
// at those points of the plane's own manifold that lie on the surface, and with edges and corners,
// in directions in which no neighbour lies.
#ifndef TENON_COLLIDE_SURFACE_CONTACTS_H
#define TENON_COLLIDE_SURFACE_CONTACTS_H

#include "collide/distance.h"
#include "collide/manifold_list.h"

enum { NO_FACET = -1 };

typedef struct facet {
  tn_vec3 corner[3]; // counter-clockwise from outside
  tn_vec3 normal;    // unit
  int across[3];     // the facet beyond the edge from corner i to the next, or NO_FACET
} facet;

// Neighbours have the same corners, bit for bit.
typedef struct triangle_source {
  const void *surface;
  facet (*get)(const void *surface, int index);
  bool solid_below; // down the y axis; else both sides are outside
} triangle_source;

// ---------------------------------------------------------------------------------------------
// One triangle

tn_vec3 triangle_normal(const tn_vec3 corner[3]); // zero when it has no area
tn_vec3 triangle_closest(const tn_vec3 corner[3], tn_vec3 normal, tn_vec3 p);
// From both sides. Rays through a common edge meet at least one of its triangles.
bool triangle_ray(const tn_vec3 corner[3], tn_vec3 from, tn_vec3 displacement, float max_fraction,
                  float *fraction);
geometry triangle_geometry(const tn_vec3 corner[3]);
// Takes the line from a triangle to a shape if it is shorter than the best so far; one through an
// overlap only if it leaves by the triangle's outside.
bool triangle_update_nearest(const tn_vec3 corner[3], const geometry *b, pose b_in_a,
                             separation *best);

// The shortest rotation that takes the y axis to a unit vector.
tn_quat quat_y_to(tn_vec3 n);

// ---------------------------------------------------------------------------------------------
// Contacts. Every facet near the shape is shown first to surface_contacts_add_face, then to
// surface_contacts_add_edges.

#define MAX_PLANE_PATCHES 24
#define MAX_PATCH_EXTRA 12

// Facets of one plane, seen from one side.
typedef struct plane_patch {
  manifold plane; // of the whole plane
  tn_vec3 normal; // towards the shape
  tn_vec3 origin;
  unsigned on_surface;        // bits: which points of `plane` are
  unsigned possible;          // and which are if the plane is met from the front elsewhere
  bool overlapped, front_hit; // at all, from the front
  int extra_count;
  manifold_point extra[MAX_PATCH_EXTRA]; // where the surface ends below the shape
} plane_patch;

typedef struct surface_contacts {
  triangle_source source;
  const geometry *b;
  pose b_in_a;
  float margin, size;
  tn_vec3 center;  // of B
  aabb local_aabb; // around B in its own frame
  int patch_count;
  plane_patch patches[MAX_PLANE_PATCHES];
  plane_patch
      candidate; // that of the last plane without one; its plane has no points if it is unused
  manifold_list edges; // and corners
  manifold fallback;   // what to make do with when there is nothing better; or without points
} surface_contacts;

void surface_contacts_begin(surface_contacts *c, triangle_source source, const geometry *b,
                            pose b_in_a, float margin);
void surface_contacts_add_face(surface_contacts *c, int index);
void surface_contacts_add_edges(surface_contacts *c, int index);
// The whole plane of a facet below which the shape has sunk, unless there is a better contact.
void surface_contacts_add_below(surface_contacts *c, int index);
int surface_contacts_finish(surface_contacts *c, manifold *out, int capacity);

// A point well inside a convex shape, in its own frame.
tn_vec3 convex_center(const geometry *g);

#endif
