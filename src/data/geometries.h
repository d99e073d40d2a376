// Geometry that shapes share: hulls, meshes, height fields and wires.
#ifndef TENON_DATA_GEOMETRIES_H
#define TENON_DATA_GEOMETRIES_H

#include <tenon/types.h>

#include <stddef.h>

// Geometry that shapes share, with the source it was built from.
typedef struct shared_geometry {
  uint32_t generation;
  int32_t next_free;
  bool alive;
  int kind;     // tn_shape_kind
  int users;    // shapes that use it
  void *data;   // convex, mesh, height_field or wire
  void *source; // copy of the user's data
  size_t source_size;
  // Hull: points, most vertices; mesh: vertices, triangles; field: columns, rows; wire: points.
  int32_t counts[2];
  float spacing[2]; // of a height field's samples, m
  bool closed;      // of a wire
  bool borrowed;    // data and source belong to another world, see tn_world_copy()
} shared_geometry;

#endif
