// Builds a glTF 2.0 file: nodes with parts, and one animation.
#ifndef TENON_CLI_GLTF_H
#define TENON_CLI_GLTF_H

#include <tenon/math.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct gltf gltf;

// Accessors of points, normals and triangles.
typedef struct gltf_surface {
  int points, normals, triangles;
} gltf_surface;

typedef enum gltf_path { GLTF_TRANSLATION, GLTF_ROTATION, GLTF_WEIGHTS } gltf_path;

// Returns null if out of memory. Later failures are reported by gltf_write.
gltf *gltf_create(void);
void gltf_destroy(gltf *g);

void gltf_add_material(gltf *g, const float color[3], bool both_sides);
gltf_surface gltf_add_surface(gltf *g, const tn_vec3 *points, const tn_vec3 *normals,
                              int point_count, const int *triangles, int triangle_count);
int gltf_add_mesh(gltf *g, gltf_surface surface, int material);
// The same with `count` morph targets: points and normals, one target after the other, as
// differences from the surface. The weights of the node select them.
int gltf_add_morphed_mesh(gltf *g, gltf_surface surface, int material, const tn_vec3 *points,
                          const tn_vec3 *normals, int point_count, int count);
// Adds a part to the node that is added next.
void gltf_add_part(gltf *g, int mesh, const float position[3], const float rotation[4]);
int gltf_add_node(gltf *g, const char *name, const float position[3], const float rotation[4]);
// Adds a node with one mesh.
int gltf_add_mesh_node(gltf *g, const char *name, int mesh, const float position[3],
                       const float rotation[4]);
void gltf_add_camera(gltf *g, const float position[3], const float rotation[4]);

// Channels share the times. There are `count` values: three numbers per time for a translation,
// four for a rotation, one per target for weights.
int gltf_add_times(gltf *g, const float *times, int count);
void gltf_add_channel(gltf *g, int node, gltf_path path, int times, const float *values,
                      size_t count);

// Returns false if out of memory or beyond the format's 4 GiB.
bool gltf_write(const gltf *g, const char *title, FILE *file);

#endif
