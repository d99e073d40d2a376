// The reader of MJCF: state that its parts share.
#ifndef TENON_IMPORT_MJCF_H
#define TENON_IMPORT_MJCF_H

#include "xml.h"

enum { MJCF_MAX_COPIES = 200000 };

// A class of defaults. Its elements lie in several <default> sections if a file has them.
typedef struct mjcf_class mjcf_class;
struct mjcf_class {
  const char *name;
  mjcf_class *parent; // null: the root
  LIST(const xml_node *) sections;
};

typedef enum mjcf_tristate { MJCF_FALSE, MJCF_TRUE, MJCF_AUTO } mjcf_tristate;

typedef struct mjcf_compiler {
  bool degrees, autolimits, strip_path;
  char euler[4];
  const char *mesh_folder;
  const char *base; // the main file
} mjcf_compiler;

// Parts that a <flag> can switch off.
typedef enum mjcf_flag {
  MJCF_CONSTRAINT,
  MJCF_EQUALITY,
  MJCF_FRICTIONLOSS,
  MJCF_LIMIT,
  MJCF_CONTACT,
  MJCF_PASSIVE,
  MJCF_SPRING,
  MJCF_DAMPER,
  MJCF_GRAVITY,
  MJCF_CLAMP,
  MJCF_ACTUATION,
  MJCF_FILTER_PARENT,
  MJCF_FLAG_COUNT
} mjcf_flag;

typedef struct mjcf {
  reader *r;
  bool off[MJCF_FLAG_COUNT];
  tn_model *model;
  mjcf_compiler compiler;
  LIST(mjcf_class *) classes; // the root first
  int includes;
  int copies; // made by <replicate>
} mjcf;

// ---------------------------------------------------------------------------------------------
// Defaults

// Sets fields of `out` for the attributes that a node has.
typedef void mjcf_apply_fn(mjcf *m, const xml_node *node, void *out);

bool mjcf_read_defaults(mjcf *m, const xml_node *root);
// The class of that name; null with an error if there is none.
mjcf_class *mjcf_find_class(mjcf *m, const xml_node *node, const char *name);
// The class of an element: its own, or the one of its surroundings.
mjcf_class *mjcf_class_of(mjcf *m, const xml_node *node, mjcf_class *around);
// Applies the defaults of a class and those it inherits from, then the node itself. `tags` are the
// elements whose defaults count, separated by spaces.
void mjcf_apply(mjcf *m, const xml_node *node, mjcf_class *around, const char *tags,
                mjcf_apply_fn *apply, void *out);

// ---------------------------------------------------------------------------------------------
// Parts of a file

// Replaces <include> elements by the files they name.
bool mjcf_expand_includes(mjcf *m, xml_node *root);
void mjcf_read_compiler(mjcf *m, const xml_node *root);
void mjcf_read_option(mjcf *m, const xml_node *root);
void mjcf_read_flags(mjcf *m, const xml_node *option);
// What <flag> elements switch off; after everything else is read.
void mjcf_apply_flags(mjcf *m);
void mjcf_read_assets(mjcf *m, const xml_node *root);
void mjcf_read_bodies(mjcf *m, const xml_node *root);
void mjcf_read_tendons(mjcf *m, const xml_node *root);
void mjcf_read_equalities(mjcf *m, const xml_node *root);
void mjcf_read_contacts(mjcf *m, const xml_node *root);
void mjcf_read_actuators(mjcf *m, const xml_node *root);
void mjcf_read_sensors(mjcf *m, const xml_node *root);
void mjcf_read_keyframes(mjcf *m, const xml_node *root);

// Angles of the file in rad.
double mjcf_angle(const mjcf *m, double value);
// Rotation by three angles of the file, about the axes of `eulerseq`.
drot mjcf_euler(const mjcf *m, const double angles[3]);
// Position and orientation by any of the attributes that state them; others stay as they are. As in
// MuJoCo a quat does not count beside another notation, also where that comes from a default.
typedef struct mjcf_pose {
  dpose pose;
  bool by_other; // the rotation was not stated by quat
} mjcf_pose;
void mjcf_read_pose(mjcf *m, const xml_node *node, mjcf_pose *out);
// That of one element without defaults.
dpose mjcf_pose_of(mjcf *m, const xml_node *node);
// All but the friction, which geoms and pairs state differently.
void mjcf_read_contact(mjcf *m, const xml_node *node, model_contact *contact);
model_contact mjcf_usual_contact(void);
// A range with the attribute that says whether it counts: `name` and `limited`.
typedef struct mjcf_limit {
  double range[2];
  bool has_range;
  mjcf_tristate limited;
} mjcf_limit;
void mjcf_read_limit(mjcf *m, const xml_node *node, const char *name, const char *limited,
                     mjcf_limit *out);
// A coefficient that may be a polynomial: its first number is that of the linear law.
void mjcf_read_linear(mjcf *m, const xml_node *node, const char *name, double *out);
bool mjcf_is_limited(mjcf *m, const xml_node *node, const mjcf_limit *limit);

// Visits all children of all sections of a name; the function tells whether it has used one.
typedef bool mjcf_visit_fn(mjcf *m, const xml_node *node);
void mjcf_visit(mjcf *m, const xml_node *root, const char *section, mjcf_visit_fn *visit);

#endif
