// The keys of scene files: a table for every type of object, used by reader, writer and schema.
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
  FIELD_WORD,     // int: index into `words`
  FIELD_BITS,     // uint64_t: an integer, or "0x..." if that would not be exact
  FIELD_VECTOR,   // tn_vec3
  FIELD_POSITION, // tn_pos
  FIELD_ROTATION, // tn_quat: x y z w, or an axis and degrees
  FIELD_INERTIA,  // tn_sym3: xx yy zz xy xz yz
  FIELD_RANGES,   // tn_range[3]
  FIELD_CELLS,    // int[3]
  FIELD_PART,     // a nested structure with its own table
  FIELD_VECTORS,  // number_list of tn_vec3
  FIELD_FLOATS,   // number_list of float
  FIELD_INDICES,  // number_list of `width` integers each
  FIELD_TREE,     // const cJSON *: read by the loader
  FIELD_TYPE_COUNT
} field_type;

// How the loader reads a FIELD_TREE, for the schema.
typedef enum tree_type {
  TREE_NONE,
  TREE_MASS,     // a number, or a part
  TREE_MATERIAL, // a name, or a part
  TREE_BODY,     // a name, an index, or null for the world
  TREE_BODIES,   // two of those
  TREE_SOFT,     // a name or an index
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
  FIELD_OPEN = 1,     // null means no bound
  FIELD_ABOVE = 2,    // `lo` itself is not allowed
  FIELD_REQUIRED = 4, // required, for the kinds that have it
  FIELD_BELOW = 8,    // with FIELD_OPEN: the bound is a lower one
};

typedef struct object_type object_type;

typedef struct field {
  const char *name; // null ends the table
  field_type type;
  size_t offset;
  double lo, hi; // of numbers, or of each component
  int flags;
  int width;                // of indices
  const char *const *words; // null-terminated
  const object_type *part;
  tree_type tree;
  unsigned kinds; // bits of the kinds that have it; 0: all
  const char *meaning;
} field;

// Fills in the defaults.
typedef void usual_fn(void *out);

struct object_type {
  const char *name, *meaning;
  const field *fields;
  usual_fn *usual;
};

// Structures that objects are read into, where the definition does not suffice.

// A rotation about an axis.
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
  const cJSON *behaviour, *materials, *geometries, *shapes, *bodies, *joints, *couplings;
  const cJSON *softs, *attachments, *motions;
} file_scene;

// Targets of a servo over time.
typedef struct file_motion {
  int joint, coupling; // index; -1: none
  int axis;
  number_list times, targets;
  bool repeat;
} file_motion;

typedef struct file_body {
  tn_body_def def;
  bool scenery;
  const cJSON *mass, *shapes;
} file_body;

typedef struct file_material {
  tn_material material;
  float friction; // sets both if given
} file_material;

typedef struct file_shape {
  tn_shape_def def;
  const char *geometry;
  const cJSON *material;
} file_shape;

typedef struct file_geometry {
  int kind; // index into geometry_words
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

typedef struct file_axis {
  tn_coupling_axis axis;
  int joint; // index
} file_axis;

typedef struct file_point {
  tn_coupling_point point;
  const cJSON *body;
} file_point;

typedef struct file_coupling {
  tn_coupling_def def;
  tn_range range[3]; // the first one
  const cJSON *axes, *points;
} file_coupling;

typedef struct file_mesh {
  int kind; // index into mesh_words
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
    type_axis, type_motion, type_coupling, type_coupling_axis, type_coupling_point,
    type_coupling_drive, type_soft, type_mesh, type_attachment, type_rotation;

// Large enough for any of the structures above.
typedef union any_object {
  file_scene scene;
  file_body body;
  file_shape shape;
  file_material material;
  file_geometry geometry;
  file_joint joint;
  file_coupling coupling;
  file_soft soft;
  file_attachment attachment;
} any_object;

// All types, null-terminated, for the schema.
const object_type *const *object_types(void);

enum { GEOMETRY_HULL, GEOMETRY_MESH, GEOMETRY_HEIGHT_FIELD, GEOMETRY_WIRE };
enum { MESH_CLOTH, MESH_ROPE, MESH_BOX, MESH_BALL, MESH_TUBE, MESH_SPHERE };

// Returns null if there is none.
const field *field_find(const object_type *type, const char *name);
// Size of a row of a list in bytes.
size_t field_row_size(const field *f);
// The word for a value of a field.
const char *field_word(const object_type *type, const char *name, int value);

#endif
