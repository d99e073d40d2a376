// Triangles that form a surface, and the contacts of a convex shape with it.
//
// Where triangles meet, each of them alone would push the shape off their common edge, although
// the surface goes on there. So a surface has two kinds of contacts: with the planes of its faces,
// at those points of the plane's own manifold that lie on the surface, and with edges and corners,
// in directions in which no neighbour lies.
#ifndef TENON_COLLIDE_FACET_H
#define TENON_COLLIDE_FACET_H

#include "distance.h"
#include "manifold_list.h"

enum { NO_FACET = -1 };

typedef struct facet {
  tn_vec3 corner[3]; // counter-clockwise from outside
  tn_vec3 normal;    // unit
  int across[3];     // the facet beyond the edge from corner i to the next, or NO_FACET
} facet;

// Neighbours have the same corners, bit for bit.
typedef struct facet_source {
  const void *surface;
  facet (*get)(const void *surface, int index);
  bool solid_below; // down the y axis; else both sides are outside
} facet_source;

// ---------------------------------------------------------------------------------------------
// One triangle

tn_vec3 triangle_normal(const tn_vec3 corner[3]); // zero when it has no area
tn_vec3 triangle_closest(const tn_vec3 corner[3], tn_vec3 normal, tn_vec3 p);
// From both sides. Rays through a common edge meet at least one of its triangles.
bool triangle_ray(const tn_vec3 corner[3], tn_vec3 from, tn_vec3 way, float max_fraction,
                  float *fraction);
geometry triangle_geometry(const tn_vec3 corner[3]);
// Takes the line from a triangle to a shape if it is shorter than the best so far; one through an
// overlap only if it leaves by the triangle's outside.
bool triangle_nearer(const tn_vec3 corner[3], const geometry *b, pose b_in_a, separation *best);

// The shortest rotation that takes the y axis to a unit vector.
tn_quat quat_y_to(tn_vec3 n);

// ---------------------------------------------------------------------------------------------
// Contacts. Every facet near the shape is shown first to facet_faces, then to facet_edges.

#define FACET_PATCHES 24
#define FACET_EXTRA 12

// Facets of one plane, seen from one side.
typedef struct facet_patch {
  manifold plane; // of the whole plane
  tn_vec3 normal; // towards the shape
  tn_vec3 origin;
  unsigned on_surface; // bits: which points of `plane` are
  unsigned likely;     // and which are if the plane is met from the front elsewhere
  bool touched, met;   // at all, from the front
  int extra_count;
  manifold_point extra[FACET_EXTRA]; // where the surface ends below the shape
} facet_patch;

typedef struct facet_contacts {
  facet_source source;
  const geometry *b;
  pose b_in_a;
  float margin, size;
  tn_vec3 center; // of B
  box3 own_box;   // around B in its own frame
  int patch_count;
  facet_patch patches[FACET_PATCHES];
  facet_patch trial; // that of the last plane without one; its plane has no points if it is unused
  manifold_list edges; // and corners
  manifold spare;      // what to make do with when there is nothing better; or without points
} facet_contacts;

void facet_begin(facet_contacts *c, facet_source source, const geometry *b, pose b_in_a,
                 float margin);
void facet_faces(facet_contacts *c, int index);
void facet_edges(facet_contacts *c, int index);
// The whole plane of a facet below which the shape has sunk, unless there is a better contact.
void facet_sunk(facet_contacts *c, int index);
int facet_finish(facet_contacts *c, manifold *out, int capacity);

// A point well inside a convex shape, in its own frame.
tn_vec3 convex_middle(const geometry *g);

#endif
