// Shapes with shared data: convex hulls, meshes, height fields and wires. Each is one block of
// memory from the caller's allocator.
#ifndef TENON_COLLIDE_SURFACE_H
#define TENON_COLLIDE_SURFACE_H

#include "collide/distance.h"
#include "collide/manifold.h"

// Like tn_allocator; `release` gets the size that was allocated.
typedef struct collide_allocator {
  void *(*alloc)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  void *context;
} collide_allocator;

// Each returns null on failure, and `message` names the cause.
convex_hull *convex_hull_create(const tn_vec3 *points, int count, int max_vertices,
                                collide_allocator memory, char *message, size_t message_size);
mesh *mesh_create(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                  int triangle_count, collide_allocator memory, char *message, size_t message_size);
height_field *height_field_create(const float *heights, int columns, int rows, float spacing_x,
                                  float spacing_z, collide_allocator memory, char *message,
                                  size_t message_size);
wire *wire_create(const tn_wire_point *points, int count, bool closed, collide_allocator memory,
                  char *message, size_t message_size);
void convex_hull_destroy(convex_hull *c, collide_allocator memory);
void mesh_destroy(mesh *m, collide_allocator memory);
void height_field_destroy(height_field *f, collide_allocator memory);
void wire_destroy(wire *w, collide_allocator memory);

// Implementations of the functions of distance.h and manifold.h for one kind of surface.
bool mesh_ray(const mesh *m, tn_vec3 from, tn_vec3 displacement, float max_fraction, ray_hit *hit);
bool mesh_cast(const mesh *m, const geometry *b, pose b_in_a, tn_vec3 displacement,
               float target_distance, float max_fraction, cast_hit *hit);
bool mesh_closest(const mesh *m, tn_vec3 p, float max_distance, closest *out);
bool mesh_overlaps(const mesh *m, const geometry *b, pose b_in_a);
// The shortest segment from any triangle of the surface to a convex shape. Returns false when it is
// longer than `max_distance`.
bool mesh_nearest(const mesh *m, const geometry *b, pose b_in_a, float max_distance,
                  separation *out);
aabb mesh_aabb(const mesh *m);

bool height_field_ray(const height_field *f, tn_vec3 from, tn_vec3 displacement, float max_fraction,
                      ray_hit *hit);
bool height_field_cast(const height_field *f, const geometry *b, pose b_in_a, tn_vec3 displacement,
                       float target_distance, float max_fraction, cast_hit *hit);
bool height_field_closest(const height_field *f, tn_vec3 p, float max_distance, closest *out);
bool height_field_overlaps(const height_field *f, const geometry *b, pose b_in_a);
bool height_field_nearest(const height_field *f, const geometry *b, pose b_in_a, float max_distance,
                          separation *out);
aabb height_field_aabb(const height_field *f);

bool wire_ray(const wire *w, float radius, tn_vec3 from, tn_vec3 displacement, float max_fraction,
              ray_hit *hit);
bool wire_cast(const wire *w, float radius, const geometry *b, pose b_in_a, tn_vec3 displacement,
               float target_distance, float max_fraction, cast_hit *hit);
bool wire_closest(const wire *w, float radius, tn_vec3 p, float max_distance, closest *out);
bool wire_overlaps(const wire *w, float radius, const geometry *b, pose b_in_a);
aabb wire_aabb(const wire *w, float radius);

// Parameter of the point on the axis closest to p, from 0 to the number of cubics.
float wire_closest_parameter(const wire *w, tn_vec3 p);
tn_vec3 wire_point(const wire *w, float parameter);
tn_vec3 wire_tangent(const wire *w, float parameter); // derivative of wire_point()
int wire_segment_count(const wire *w);

// Child ids reserved per cubic: child / WIRE_CHILDREN_PER_CUBIC is the index of the cubic.
#define WIRE_CHILDREN_PER_CUBIC 8u

// Fits the `curve` of a MANIFOLD_WIRE, in the wire's frame, to the stretch of the axis from
// `behind` to `ahead` metres around the contact point: the range that the body can cover in a step.
// Exact where the stretch lies within one cubic of the wire.
void wire_fit_curve(const wire *w, manifold *m, float behind, float ahead);
// Tangent of the axis at the contact point, of any length. Call it before wire_fit_curve, which
// changes `parameter`.
tn_vec3 wire_contact_tangent(const wire *w, const manifold *m);

// Calls `visit` for the facets whose boxes are hit by `box` moving along `displacement`.
typedef void facet_visit_fn(const tn_vec3 corner[3], void *context);
void mesh_sweep_facets(const mesh *m, aabb box, tn_vec3 displacement, facet_visit_fn *visit,
                       void *context);
void height_field_sweep_facets(const height_field *f, aabb box, tn_vec3 displacement,
                               facet_visit_fn *visit, void *context);

// For debug drawing: calls `line` for every edge.
void mesh_edges(const mesh *m, void (*line)(tn_vec3 a, tn_vec3 b, void *context), void *context);
void height_field_edges(const height_field *f, void (*line)(tn_vec3 a, tn_vec3 b, void *context),
                        void *context);

#endif
