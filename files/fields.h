// What a scene file may say: a table for every kind of object. Reader, writer and schema all go by
// these tables.
#ifndef TENON_FILES_FIELDS_H
#define TENON_FILES_FIELDS_H

#include <cjson/cJSON.h>
#include <tenon/tenon.h>

typedef enum field_type {
  FIELD_FLOAT,
  FIELD_DOUBLE,
  FIELD_INT,
  FIELD_BOOL,
  FIELD_TEXT,     // const char *, into the tree
  FIELD_WORD,     // int: the place among `words`
  FIELD_BITS,     // uint64_t: a whole number, or "0x..." where that would not be exact
  FIELD_VECTOR,   // tn_vec3
  FIELD_POSITION, // tn_pos
  FIELD_ROTATION, // tn_quat: x y z w, or an axis and degrees
  FIELD_INERTIA,  // tn_sym3: xx yy zz xy xz yz
  FIELD_RANGES,   // tn_range[3]
  FIELD_CELLS,    // int[3]
  FIELD_PART,     // a structure with a table of its own, at the same place
  FIELD_VECTORS,  // number_list of tn_vec3
  FIELD_FLOATS,   // number_list of float
  FIELD_INDICES,  // number_list of `width` whole numbers each
  FIELD_TREE,     // const cJSON *: the loader goes on from there
  FIELD_TYPE_COUNT
} field_type;

// What the loader makes of a FIELD_TREE, for the schema.
typedef enum tree_type {
  TREE_NONE,
  TREE_MASS,     // a number, or a part
  TREE_MATERIAL, // a name, or a part
  TREE_BODY,     // a name, a number, or null for the world
  TREE_BODIES,   // two of those
  TREE_SOFT,     // a name or a number
  TREE_LIST,     // of objects
  TREE_NAMED,    // objects by name
  TREE_NUMBERS,  // numbers by name
  TREE_OBJECT,   // one object
} tree_type;

typedef struct number_list {
  void *items;
  int count; // of rows
} number_list;

enum {
  FIELD_OPEN = 1,     // null stands for no bound
  FIELD_ABOVE = 2,    // `lo` itself is not allowed
  FIELD_REQUIRED = 4, // must be there, where the kind may have it
};

typedef struct object_type object_type;

typedef struct field {
  const char *name; // null ends the table
  field_type type;
  size_t offset;
  double lo, hi; // of numbers, or of each component
  int flags;
  int width;                // of indices
  const char *const *words; // null ends them
  const object_type *part;
  tree_type tree;
  unsigned kinds; // bits of the kinds that may have it; 0: all
  const char *meaning;
} field;

// Fills in what holds where a file says nothing.
typedef void usual_fn(void *out);

struct object_type {
  const char *name, *meaning;
  const field *fields;
  usual_fn *usual;
};

// What an object is read into, where a definition does not have room for all.
// A turn about an axis.
typedef struct file_rotation {
  tn_vec3 axis;
  float degrees;
} file_rotation;

typedef struct file_camera {
  tn_vec3 eye, target;
} file_camera;

typedef struct file_behaviour {
  const char *scene;
  const cJSON *parameters;
} file_behaviour;

typedef struct file_scene {
  const char *schema, *name, *title, *source;
  int version;
  double seconds, energy_scale;
  bool conserves;
  file_camera camera;
  tn_world_def world;
  const cJSON *behaviour, *materials, *geometries, *shapes, *bodies, *joints, *softs, *attachments;
} file_scene;

typedef struct file_body {
  tn_body_def def;
  bool scenery;
  const cJSON *mass, *shapes;
} file_body;

typedef struct file_material {
  tn_material material;
  float friction; // both, where it is said
} file_material;

typedef struct file_shape {
  tn_shape_def def;
  const char *geometry;
  const cJSON *material;
} file_shape;

typedef struct file_geometry {
  int kind; // place among geometry_words
  number_list points, tangents, triangles, heights;
  int max_vertices, columns, rows;
  float spacing_x, spacing_z;
  bool closed;
} file_geometry;

typedef struct file_joint {
  tn_joint_def def;
  const cJSON *bodies;
  tn_pos at, from, to;
  tn_vec3 axis;
} file_joint;

typedef struct file_mesh {
  int kind; // place among mesh_words
  int columns, rows, segments, level;
  int cells[3];
  float size_x, size_z, length, radius, inner_radius, outer_radius, half_length;
  tn_vec3 half_extents;
  bool tetrahedra;
} file_mesh;

typedef struct file_soft {
  tn_soft_def def;
  const char *name;
  file_mesh mesh;
  const cJSON *material;
  number_list vertices, edges, triangles, tetrahedra, hexahedra, tethers, tether_lengths;
  number_list masses, velocities, pinned;
} file_soft;

typedef struct file_attachment {
  tn_attachment_def def;
  const cJSON *soft, *body;
} file_attachment;

extern const object_type type_scene, type_camera, type_world, type_behaviour, type_body, type_mass,
    type_shape, type_material, type_filter, type_geometry, type_joint, type_frame, type_drive,
    type_soft, type_mesh, type_attachment, type_rotation;

// Large enough for any of the structures above.
typedef union any_object {
  file_scene scene;
  file_body body;
  file_shape shape;
  file_material material;
  file_geometry geometry;
  file_joint joint;
  file_soft soft;
  file_attachment attachment;
} any_object;

// Every type, null at the end, for the schema.
const object_type *const *object_types(void);

enum { GEOMETRY_HULL, GEOMETRY_MESH, GEOMETRY_HEIGHT_FIELD, GEOMETRY_WIRE };
enum { MESH_CLOTH, MESH_ROPE, MESH_BOX, MESH_BALL, MESH_TUBE, MESH_SPHERE };

// Null if there is none.
const field *field_find(const object_type *type, const char *name);
// Bytes of a row of a list.
size_t field_row_size(const field *f);
// The name of a field's value.
const char *field_word(const object_type *type, const char *name, int value);

#endif
