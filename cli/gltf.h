// A glTF 2.0 file in the making: nodes with parts, and one animation.
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

// Null without memory. What fails later is told by gltf_write.
gltf *gltf_create(void);
void gltf_destroy(gltf *g);

void gltf_add_material(gltf *g, const float color[3], bool both_sides);
gltf_surface gltf_add_surface(gltf *g, const tn_vec3 *points, const tn_vec3 *normals,
                              int point_count, const int *triangles, int triangle_count);
int gltf_add_mesh(gltf *g, gltf_surface surface, int material);
// The same with another form for each of `count` targets: points and normals of all, one target
// after the other, as differences from the surface. Its node shows them by their weights.
int gltf_add_morphed_mesh(gltf *g, gltf_surface surface, int material, const tn_vec3 *points,
                          const tn_vec3 *normals, int point_count, int count);
// A part of the node that is added next.
void gltf_add_part(gltf *g, int mesh, const float position[3], const float rotation[4]);
int gltf_add_node(gltf *g, const char *name, const float position[3], const float rotation[4]);
// A node that is one mesh.
int gltf_add_mesh_node(gltf *g, const char *name, int mesh, const float position[3],
                       const float rotation[4]);
void gltf_add_camera(gltf *g, const float position[3], const float rotation[4]);

// Times are shared by channels. There are `count` values: of three numbers for each time, of four
// for a rotation, of one for each target of the mesh and each time, those of a time together.
int gltf_add_times(gltf *g, const float *times, int count);
void gltf_add_channel(gltf *g, int node, gltf_path path, int times, const float *values,
                      size_t count);

// False without memory or beyond the format's 4 GiB.
bool gltf_write(const gltf *g, const char *title, FILE *file);

#endif
