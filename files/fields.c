#include "fields.h"

#include "build.h"

#include <stddef.h>
#include <string.h>

#define AT(structure, member) .offset = offsetof(structure, member)
#define MOST 3.5e38 // above the largest float

static const char *const method_words[] = {"tenon", "xpbd", "jacobi", NULL};
static const char *const body_words[] = {"static", "kinematic", "dynamic", NULL};
static const char *const shape_words[] = {"sphere",       "capsule", "box",   "cylinder",
                                          "cone",         "hull",    "plane", "mesh",
                                          "height_field", "wire",    NULL};
static const char *const combine_words[] = {"average", "minimum", "multiply", "maximum", NULL};
static const char *const geometry_words[] = {"hull", "mesh", "height_field", "wire", NULL};
static const char *const joint_words[] = {"distance", "ball",      "hinge",   "fixed", "prismatic",
                                          "cylinder", "universal", "generic", NULL};
static const char *const axis_words[] = {"linear_a",  "linear_b",  "linear_c", "angular_a",
                                         "angular_b", "angular_c", NULL};
static const char *const solid_words[] = {"corotated", "shape", "volume", "neo_hookean", NULL};
static const char *const mesh_words[] = {"cloth", "rope", "box", "ball", "tube", "sphere", NULL};

// ---------------------------------------------------------------------------------------------
// The scene

static void usual_camera(void *out)
{
  file_camera *u = out;
  memset(u, 0, sizeof *u);
  u->eye = tn_v3(4.0f, 3.0f, 8.0f);
}

static const field camera_fields[] = {
    {"eye", FIELD_VECTOR, AT(file_camera, eye), .meaning = "position of the camera, m; y is up"},
    {"target", FIELD_VECTOR, AT(file_camera, target), .meaning = "point the camera looks at, m"},
    {0}};
const object_type type_camera = {"camera", "Position and target of the camera.", camera_fields,
                                 usual_camera};

static void usual_world(void *out)
{
  tn_world_def *u = out;
  memset(u, 0, sizeof *u);
  *u = tn_default_world_def();
  u->substeps = 20;
}

static const field world_fields[] = {
    {"gravity", FIELD_VECTOR, AT(tn_world_def, gravity), .meaning = "m/s^2"},
    {"method", FIELD_WORD, AT(tn_world_def, method), .words = method_words,
     .meaning = "solver method"},
    {"substeps", FIELD_INT, AT(tn_world_def, substeps), .lo = 1, .hi = 10000,
     .meaning = "substeps per frame of 1/60 s; more are more accurate"},
    {"iterations", FIELD_INT, AT(tn_world_def, iterations), .lo = 1, .hi = 10000,
     .meaning = "passes over the constraints per substep; 1 is recommended"},
    {"sleeping", FIELD_BOOL, AT(tn_world_def, sleeping), .meaning = "bodies at rest fall asleep"},
    {"sleep_speed", FIELD_FLOAT, AT(tn_world_def, sleep_speed), .lo = 0.0, .hi = 1e6,
     .meaning = "speed below which a body is at rest, m/s; 0: by size and gravity"},
    {"sleep_time", FIELD_FLOAT, AT(tn_world_def, sleep_time), .lo = 0.0, .hi = 1e6,
     .meaning = "time at rest before bodies fall asleep, s; 0: by size and gravity"},
    {"play", FIELD_FLOAT, AT(tn_world_def, play), .lo = 0.0, .hi = 0.1,
     .meaning = "of linkages whose joints contradict each other, relative to lever arms, or rad"},
    {0}};
const object_type type_world = {"world", "Settings of the world.", world_fields, usual_world};

static void usual_behaviour(void *out)
{
  file_behaviour *u = out;
  memset(u, 0, sizeof *u);
}

static const field behaviour_fields[] = {
    {"scene", FIELD_TEXT, AT(file_behaviour, scene), .flags = FIELD_REQUIRED,
     .meaning = "name of a built-in scene; 'tenon scenes' lists them"},
    {"parameters", FIELD_TREE, AT(file_behaviour, parameters), .tree = TREE_NUMBERS,
     .meaning = "parameters of the built-in scene; omitted ones take their defaults"},
    {0}};
const object_type type_behaviour = {
    "behaviour",
    "A built-in scene whose drives and metrics apply to the bodies, joints and soft bodies of this "
    "file, by their order.",
    behaviour_fields, usual_behaviour};

static void usual_scene(void *out)
{
  file_scene *u = out;
  memset(u, 0, sizeof *u);
  u->seconds = 10.0;
  usual_camera(&u->camera);
  usual_world(&u->world);
}

static const field scene_fields[] = {
    {"$schema", FIELD_TEXT, AT(file_scene, schema), .meaning = "for editors; ignored"},
    {"tenon", FIELD_INT, AT(file_scene, version), .lo = 1, .hi = 1, .flags = FIELD_REQUIRED,
     .meaning = "version of the format"},
    {"name", FIELD_TEXT, AT(file_scene, name), .meaning = "short name; default: the file name"},
    {"title", FIELD_TEXT, AT(file_scene, title), .meaning = "short description"},
    {"source", FIELD_TEXT, AT(file_scene, source), .meaning = "origin of the scene"},
    {"seconds", FIELD_DOUBLE, AT(file_scene, seconds), .hi = 36000, .flags = FIELD_ABOVE,
     .meaning = "default simulated time, s"},
    {"conserves", FIELD_BOOL, AT(file_scene, conserves),
     .meaning = "energy is conserved: the report includes the energy error"},
    {"energy_scale", FIELD_DOUBLE, AT(file_scene, energy_scale), .hi = 1e300,
     .meaning =
         "energy that energy errors are relative to, J; 0: weight of all bodies times 1 m, plus "
         "initial kinetic and elastic energy"},
    {"camera", FIELD_PART, AT(file_scene, camera), .part = &type_camera},
    {"world", FIELD_PART, AT(file_scene, world), .part = &type_world},
    {"behaviour", FIELD_TREE, AT(file_scene, behaviour), .tree = TREE_OBJECT,
     .part = &type_behaviour},
    {"materials", FIELD_TREE, AT(file_scene, materials), .tree = TREE_NAMED, .part = &type_material,
     .meaning = "materials of shapes and soft bodies, by name"},
    {"geometries", FIELD_TREE, AT(file_scene, geometries), .tree = TREE_NAMED,
     .part = &type_geometry, .meaning = "hulls, meshes, height fields and wires by name"},
    {"shapes", FIELD_TREE, AT(file_scene, shapes), .tree = TREE_LIST, .part = &type_shape,
     .meaning = "shapes of the world: static ground and walls"},
    {"bodies", FIELD_TREE, AT(file_scene, bodies), .tree = TREE_LIST, .part = &type_body},
    {"joints", FIELD_TREE, AT(file_scene, joints), .tree = TREE_LIST, .part = &type_joint},
    {"couplings", FIELD_TREE, AT(file_scene, couplings), .tree = TREE_LIST, .part = &type_coupling,
     .meaning = "gears, pulleys, tendons"},
    {"soft_bodies", FIELD_TREE, AT(file_scene, softs), .tree = TREE_LIST, .part = &type_soft},
    {"attachments", FIELD_TREE, AT(file_scene, attachments), .tree = TREE_LIST,
     .part = &type_attachment},
    {"motions", FIELD_TREE, AT(file_scene, motions), .tree = TREE_LIST, .part = &type_motion,
     .meaning = "targets of servos over time"},
    {0}};
const object_type type_scene = {"scene",
                                "A scene for 'tenon run'. Units are SI, angles are in rad.",
                                scene_fields, usual_scene};

// ---------------------------------------------------------------------------------------------
// Bodies

static void usual_rotation(void *out)
{
  file_rotation *u = out;
  memset(u, 0, sizeof *u);
}

static const field rotation_fields[] = {
    {"axis", FIELD_VECTOR, AT(file_rotation, axis), .flags = FIELD_REQUIRED},
    {"degrees", FIELD_FLOAT, AT(file_rotation, degrees), .flags = FIELD_REQUIRED},
    {0}};
const object_type type_rotation = {"rotation", "A rotation about an axis.", rotation_fields,
                                   usual_rotation};

static void usual_mass(void *out)
{
  tn_mass *u = out;
  memset(u, 0, sizeof *u);
}

static const field mass_fields[] = {
    {"mass", FIELD_FLOAT, AT(tn_mass, mass), .hi = MOST, .flags = FIELD_ABOVE | FIELD_REQUIRED,
     .meaning = "kg"},
    {"center", FIELD_VECTOR, AT(tn_mass, center),
     .meaning = "centre of mass in the body's frame, m"},
    {"inertia", FIELD_INERTIA, AT(tn_mass, inertia), .flags = FIELD_REQUIRED,
     .meaning = "about the centre of mass: xx, yy, zz, xy, xz, yz, kg m^2"},
    {0}};
const object_type type_mass = {"mass", "Mass, centre of mass and inertia.", mass_fields,
                               usual_mass};

static void usual_body(void *out)
{
  file_body *u = out;
  memset(u, 0, sizeof *u);
  u->def = scene_body_def();
}

static const field body_fields[] = {
    {"name", FIELD_TEXT, AT(file_body, def.name),
     .meaning = "name for references by joints and attachments"},
    {"type", FIELD_WORD, AT(file_body, def.type), .words = body_words,
     .meaning =
         "static: never moves; kinematic: moves with its velocity; dynamic: moves by forces"},
    {"position", FIELD_POSITION, AT(file_body, def.position),
     .meaning = "position of the body's origin, m"},
    {"rotation", FIELD_ROTATION, AT(file_body, def.rotation)},
    {"velocity", FIELD_VECTOR, AT(file_body, def.velocity), .meaning = "m/s"},
    {"angular_velocity", FIELD_VECTOR, AT(file_body, def.angular_velocity), .meaning = "rad/s"},
    {"mass", FIELD_TREE, AT(file_body, mass), .tree = TREE_MASS, .part = &type_mass, .hi = MOST,
     .flags = FIELD_ABOVE,
     .meaning =
         "mass in kg, distributed over the shapes; or mass, centre and inertia. Default: from the "
         "densities of the shapes"},
    {"gravity_scale", FIELD_FLOAT, AT(file_body, def.gravity_scale), .lo = -1e6, .hi = 1e6,
     .meaning = "factor of gravity"},
    {"linear_damping", FIELD_FLOAT, AT(file_body, def.linear_damping), .hi = 1e6, .meaning = "1/s"},
    {"angular_damping", FIELD_FLOAT, AT(file_body, def.angular_damping), .hi = 1e6,
     .meaning = "1/s"},
    {"max_speed", FIELD_FLOAT, AT(file_body, def.max_speed), .hi = 3e38, .meaning = "m/s"},
    {"max_angular_speed", FIELD_FLOAT, AT(file_body, def.max_angular_speed), .hi = 3e38,
     .meaning = "rad/s"},
    {"can_sleep", FIELD_BOOL, AT(file_body, def.can_sleep)},
    {"bullet", FIELD_BOOL, AT(file_body, def.bullet),
     .meaning = "continuous collision also against moving bodies"},
    {"scenery", FIELD_BOOL, AT(file_body, scenery),
     .meaning = "not counted, and ignored by a behaviour"},
    {"shapes", FIELD_TREE, AT(file_body, shapes), .tree = TREE_LIST, .part = &type_shape},
    {0}};
const object_type type_body = {"body", "A rigid body.", body_fields, usual_body};

// ---------------------------------------------------------------------------------------------
// Shapes

static void usual_material(void *out)
{
  file_material *u = out;
  memset(u, 0, sizeof *u);
  u->material = tn_default_material();
  u->friction = u->material.static_friction;
}

static const field material_fields[] = {
    {"friction", FIELD_FLOAT, AT(file_material, friction), .hi = 1e6,
     .meaning = "static and dynamic coefficient"},
    {"static_friction", FIELD_FLOAT, AT(file_material, material.static_friction), .hi = 1e6,
     .meaning = "static coefficient"},
    {"dynamic_friction", FIELD_FLOAT, AT(file_material, material.dynamic_friction), .hi = 1e6,
     .meaning = "dynamic coefficient; not above the static one"},
    {"restitution", FIELD_FLOAT, AT(file_material, material.restitution), .hi = 1.0,
     .meaning = "ratio of speeds after and before an impact; 0: no bounce, 1: no loss"},
    {"rolling_friction", FIELD_FLOAT, AT(file_material, material.rolling_friction), .hi = 1e6,
     .meaning = "m"},
    {"spinning_friction", FIELD_FLOAT, AT(file_material, material.spinning_friction), .hi = 1e6,
     .meaning = "m"},
    {"compliance", FIELD_FLOAT, AT(file_material, material.compliance), .hi = 1e6,
     .meaning = "m/N"},
    {"surface_velocity", FIELD_VECTOR, AT(file_material, material.surface_velocity),
     .meaning = "velocity of the surface, as of a conveyor, in the body's frame, m/s"},
    {"combine_friction", FIELD_WORD, AT(file_material, material.combine_friction),
     .words = combine_words, .meaning = "how the values of two materials are combined"},
    {"combine_restitution", FIELD_WORD, AT(file_material, material.combine_restitution),
     .words = combine_words},
    {"priority", FIELD_INT, AT(file_material, material.priority), .lo = -1e6, .hi = 1e6,
     .meaning = "of two materials the larger one's friction and restitution count alone"},
    {0}};
const object_type type_material = {"material", "Properties of a surface.", material_fields,
                                   usual_material};

static void usual_filter(void *out)
{
  tn_filter *u = out;
  memset(u, 0, sizeof *u);
  *u = tn_default_shape_def(TN_SHAPE_SPHERE).filter;
}

static const field filter_fields[] = {
    {"category", FIELD_BITS, AT(tn_filter, category),
     .meaning = "categories of the shape, as bits"},
    {"mask", FIELD_BITS, AT(tn_filter, mask), .meaning = "categories it collides with, as bits"},
    {"group", FIELD_INT, AT(tn_filter, group), .lo = -2147483647.0, .hi = 2147483647.0,
     .meaning =
         "shapes of the same positive group always collide, of the same negative group never"},
    {0}};
const object_type type_filter = {"filter", "Collision filter.", filter_fields, usual_filter};

#define KIND(kind) (1u << (kind))
#define OF_AXIS (KIND(TN_SHAPE_CAPSULE) | KIND(TN_SHAPE_CYLINDER) | KIND(TN_SHAPE_CONE))
#define OF_RADIUS (OF_AXIS | KIND(TN_SHAPE_SPHERE) | KIND(TN_SHAPE_WIRE))
#define OF_GEOMETRY                                                                                \
  (KIND(TN_SHAPE_HULL) | KIND(TN_SHAPE_MESH) | KIND(TN_SHAPE_HEIGHT_FIELD) | KIND(TN_SHAPE_WIRE))

static void usual_shape(void *out)
{
  file_shape *u = out;
  memset(u, 0, sizeof *u);
  u->def = tn_default_shape_def(TN_SHAPE_SPHERE);
}

static const field shape_fields[] = {
    {"kind", FIELD_WORD, AT(file_shape, def.kind), .words = shape_words, .flags = FIELD_REQUIRED},
    {"position", FIELD_VECTOR, AT(file_shape, def.position), .meaning = "in the body's frame, m"},
    {"rotation", FIELD_ROTATION, AT(file_shape, def.rotation), .meaning = "in the body's frame"},
    {"radius", FIELD_FLOAT, AT(file_shape, def.radius), .lo = 1e-6, .hi = 1e6, .kinds = OF_RADIUS,
     .flags = FIELD_REQUIRED, .meaning = "m; for a cone, of its base"},
    {"half_length", FIELD_FLOAT, AT(file_shape, def.half_length), .lo = 1e-6, .hi = 1e6,
     .kinds = OF_AXIS, .flags = FIELD_REQUIRED,
     .meaning = "along y, m; for a capsule, of its straight part"},
    {"half_extents", FIELD_VECTOR, AT(file_shape, def.half_extents), .lo = 1e-6, .hi = 1e6,
     .kinds = KIND(TN_SHAPE_BOX), .flags = FIELD_REQUIRED,
     .meaning = "half lengths along x, y, z, m"},
    {"geometry", FIELD_TEXT, AT(file_shape, geometry), .kinds = OF_GEOMETRY,
     .flags = FIELD_REQUIRED, .meaning = "name of a geometry of the scene"},
    {"material", FIELD_TREE, AT(file_shape, material), .tree = TREE_MATERIAL,
     .part = &type_material, .meaning = "name of a material of the scene, or a material"},
    {"filter", FIELD_PART, AT(file_shape, def.filter), .part = &type_filter},
    {"density", FIELD_FLOAT, AT(file_shape, def.density), .hi = MOST, .flags = FIELD_ABOVE,
     .meaning = "kg/m^3"},
    {"sensor", FIELD_BOOL, AT(file_shape, def.sensor),
     .meaning = "reports overlaps, exerts no force"},
    {"hit_events", FIELD_BOOL, AT(file_shape, def.hit_events)},
    {0}};
const object_type type_shape = {"shape",
                                "A solid or surface on a body. A plane is solid below y = 0.",
                                shape_fields, usual_shape};

static void usual_geometry(void *out)
{
  file_geometry *u = out;
  memset(u, 0, sizeof *u);
  u->max_vertices = 64;
  u->spacing_x = u->spacing_z = 1.0f;
}

static const field geometry_fields[] = {
    {"kind", FIELD_WORD, AT(file_geometry, kind), .words = geometry_words, .flags = FIELD_REQUIRED},
    {"points", FIELD_VECTORS, AT(file_geometry, points),
     .kinds = KIND(GEOMETRY_HULL) | KIND(GEOMETRY_MESH) | KIND(GEOMETRY_WIRE),
     .flags = FIELD_REQUIRED, .meaning = "m"},
    {"max_vertices", FIELD_INT, AT(file_geometry, max_vertices), .lo = 4, .hi = 255,
     .kinds = KIND(GEOMETRY_HULL), .meaning = "larger hulls are simplified"},
    {"triangles", FIELD_INDICES, AT(file_geometry, triangles), .width = 3,
     .kinds = KIND(GEOMETRY_MESH), .flags = FIELD_REQUIRED,
     .meaning = "indices of points, counter-clockwise from outside"},
    {"heights", FIELD_FLOATS, AT(file_geometry, heights), .kinds = KIND(GEOMETRY_HEIGHT_FIELD),
     .flags = FIELD_REQUIRED, .meaning = "rows along z of columns along x, m"},
    {"columns", FIELD_INT, AT(file_geometry, columns), .lo = 2, .hi = 32767,
     .kinds = KIND(GEOMETRY_HEIGHT_FIELD), .flags = FIELD_REQUIRED},
    {"rows", FIELD_INT, AT(file_geometry, rows), .lo = 2, .hi = 32767,
     .kinds = KIND(GEOMETRY_HEIGHT_FIELD), .flags = FIELD_REQUIRED},
    {"spacing_x", FIELD_FLOAT, AT(file_geometry, spacing_x), .hi = 1e6, .flags = FIELD_ABOVE,
     .kinds = KIND(GEOMETRY_HEIGHT_FIELD), .meaning = "m"},
    {"spacing_z", FIELD_FLOAT, AT(file_geometry, spacing_z), .hi = 1e6, .flags = FIELD_ABOVE,
     .kinds = KIND(GEOMETRY_HEIGHT_FIELD), .meaning = "m"},
    {"tangents", FIELD_VECTORS, AT(file_geometry, tangents), .kinds = KIND(GEOMETRY_WIRE),
     .flags = FIELD_REQUIRED,
     .meaning = "derivative at each point, by a parameter that grows by 1 per point, m"},
    {"closed", FIELD_BOOL, AT(file_geometry, closed), .kinds = KIND(GEOMETRY_WIRE),
     .meaning = "connects the last point to the first"},
    {0}};
const object_type type_geometry = {"geometry", "Geometry that shapes can share.", geometry_fields,
                                   usual_geometry};

// ---------------------------------------------------------------------------------------------
// Joints

static void usual_frame(void *out)
{
  tn_transform *u = out;
  memset(u, 0, sizeof *u);
  u->q = tn_quat_identity();
}

static const field frame_fields[] = {{"position", FIELD_POSITION, AT(tn_transform, p),
                                      .meaning = "in the body's frame, or in the world, m"},
                                     {"rotation", FIELD_ROTATION, AT(tn_transform, q)},
                                     {0}};
const object_type type_frame = {"frame",
                                "Frame of a joint on a body; its x axis is the joint's axis.",
                                frame_fields, usual_frame};

static void usual_drive(void *out)
{
  tn_drive *u = out;
  memset(u, 0, sizeof *u);
  *u = tn_default_joint_def(TN_JOINT_BALL).axis[TN_LINEAR_A].drive;
}

static const field drive_fields[] = {
    {"target", FIELD_FLOAT, AT(tn_drive, target), .meaning = "m or rad"},
    {"velocity", FIELD_FLOAT, AT(tn_drive, velocity), .meaning = "m/s or rad/s"},
    {"force", FIELD_FLOAT, AT(tn_drive, force), .meaning = "feed-forward, N or N m"},
    {"stiffness", FIELD_FLOAT, AT(tn_drive, stiffness), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "N/m or N m/rad; null: rigid"},
    {"damping", FIELD_FLOAT, AT(tn_drive, damping), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "N s/m or N m s/rad; null: rigid"},
    {"min_force", FIELD_FLOAT, AT(tn_drive, limits.lo), .lo = -MOST,
     .flags = FIELD_OPEN | FIELD_BELOW, .meaning = "least force, 0 or less, N or N m"},
    {"max_force", FIELD_FLOAT, AT(tn_drive, limits.hi), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "greatest force, N or N m"},
    {"max_speed", FIELD_FLOAT, AT(tn_drive, max_speed), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "m/s or rad/s"},
    {0}};
const object_type type_drive = {"drive", "A servo, motor or force along or about an axis.",
                                drive_fields, usual_drive};

static void usual_axis(void *out)
{
  tn_axis *u = out;
  memset(u, 0, sizeof *u);
  *u = tn_default_joint_def(TN_JOINT_BALL).axis[TN_LINEAR_A];
}

static const field axis_fields[] = {
    {"drive", FIELD_PART, AT(tn_axis, drive), .part = &type_drive},
    {"stiffness", FIELD_FLOAT, AT(tn_axis, stiffness), .hi = 1e12,
     .meaning = "of a passive spring, N/m or N m/rad"},
    {"rest", FIELD_FLOAT, AT(tn_axis, rest), .meaning = "where the spring is relaxed, m or rad"},
    {"damping", FIELD_FLOAT, AT(tn_axis, damping), .hi = 1e12, .meaning = "N s/m or N m s/rad"},
    {"friction", FIELD_FLOAT, AT(tn_axis, friction), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "N or N m"},
    {"armature", FIELD_FLOAT, AT(tn_axis, armature), .hi = 1e9,
     .meaning = "inertia on the axis, kg or kg m^2"},
    {"inertia", FIELD_FLOAT, AT(tn_axis, inertia), .hi = MOST,
     .meaning =
         "that moves with the axis at least, where the bodies are light links, kg or kg m^2"},
    {"max_effort", FIELD_FLOAT, AT(tn_axis, max_effort), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "limit of drive, spring and damping together, N or N m"},
    {0}};
const object_type type_axis = {"axis", "What acts along or about a free axis of a joint.",
                               axis_fields, usual_axis};

static void usual_joint(void *out)
{
  file_joint *u = out;
  memset(u, 0, sizeof *u);
  u->def = tn_default_joint_def(TN_JOINT_BALL); // kinds differ only in their ranges
  u->axis = tn_v3(1.0f, 0.0f, 0.0f);
}

static const field joint_fields[] = {
    {"kind", FIELD_WORD, AT(file_joint, def.kind), .words = joint_words, .flags = FIELD_REQUIRED},
    {"bodies", FIELD_TREE, AT(file_joint, bodies), .tree = TREE_BODIES, .flags = FIELD_REQUIRED,
     .meaning = "the two connected bodies"},
    {"at", FIELD_POSITION, AT(file_joint, at),
     .meaning = "world point of both frames, at the initial poses, m"},
    {"axis", FIELD_VECTOR, AT(file_joint, axis),
     .meaning = "axis of the joint in the world; with at"},
    {"from", FIELD_POSITION, AT(file_joint, from),
     .meaning = "anchor on the first body, in the world, m"},
    {"to", FIELD_POSITION, AT(file_joint, to),
     .meaning = "anchor on the second body, in the world, m; their distance is the length of a "
                "distance joint"},
    {"frame_a", FIELD_PART, AT(file_joint, def.frame_a), .part = &type_frame},
    {"frame_b", FIELD_PART, AT(file_joint, def.frame_b), .part = &type_frame},
    {"linear", FIELD_RANGES, AT(file_joint, def.linear),
     .meaning = "ranges along x, y, z of frame a, m"},
    {"angular", FIELD_RANGES, AT(file_joint, def.angular), .meaning = "ranges about the axes, rad"},
    {"swing", FIELD_FLOAT, AT(file_joint, def.swing), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "half angle of the cone of a ball joint, rad"},
    {"compliance", FIELD_FLOAT, AT(file_joint, def.compliance), .hi = 1e12, .meaning = "m/N"},
    {"angular_compliance", FIELD_FLOAT, AT(file_joint, def.angular_compliance), .hi = 1e12,
     .meaning = "rad/(N m)"},
    {"limit_compliance", FIELD_FLOAT, AT(file_joint, def.limit_compliance), .hi = 1e12,
     .meaning = "compliance of linear limits, m/N"},
    {"angular_limit_compliance", FIELD_FLOAT, AT(file_joint, def.angular_limit_compliance),
     .hi = 1e12, .meaning = "compliance of angular limits, rad/(N m)"},
    {"linear_a", FIELD_PART, AT(file_joint, def.axis[TN_LINEAR_A]), .part = &type_axis},
    {"linear_b", FIELD_PART, AT(file_joint, def.axis[TN_LINEAR_B]), .part = &type_axis},
    {"linear_c", FIELD_PART, AT(file_joint, def.axis[TN_LINEAR_C]), .part = &type_axis},
    {"angular_a", FIELD_PART, AT(file_joint, def.axis[TN_ANGULAR_A]), .part = &type_axis},
    {"angular_b", FIELD_PART, AT(file_joint, def.axis[TN_ANGULAR_B]), .part = &type_axis},
    {"angular_c", FIELD_PART, AT(file_joint, def.axis[TN_ANGULAR_C]), .part = &type_axis},
    {"break_force", FIELD_FLOAT, AT(file_joint, def.break_force), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "N"},
    {"break_torque", FIELD_FLOAT, AT(file_joint, def.break_torque), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "N m"},
    {"enabled", FIELD_BOOL, AT(file_joint, def.enabled)},
    {"collide", FIELD_BOOL, AT(file_joint, def.collide),
     .meaning = "the two bodies collide with each other"},
    {0}};
const object_type type_joint = {"joint", "Connects a body to another, or to the world.",
                                joint_fields, usual_joint};

// ---------------------------------------------------------------------------------------------
// Couplings

static void usual_coupling_axis(void *out)
{
  file_axis *u = out;
  memset(u, 0, sizeof *u);
  u->axis.coefficients[0] = 1.0f;
}

#define COEFFICIENT(i) AT(file_axis, axis.coefficients) + (i) * sizeof(float)
static const field coupling_axis_fields[] = {
    {"joint", FIELD_INT, AT(file_axis, joint), .lo = 0, .hi = 2147483647.0, .flags = FIELD_REQUIRED,
     .meaning = "index of the joint"},
    {"axis", FIELD_WORD, AT(file_axis, axis.axis), .words = axis_words, .flags = FIELD_REQUIRED,
     .meaning = "offset along, or angle about, an axis of the joint; one that it leaves free"},
    {"reference", FIELD_FLOAT, AT(file_axis, axis.reference),
     .meaning = "m or rad, where the coordinate q counts as zero"},
    {"coefficient", FIELD_FLOAT, COEFFICIENT(0), .meaning = "of q"},
    {"square", FIELD_FLOAT, COEFFICIENT(1), .meaning = "coefficient of q^2"},
    {"cube", FIELD_FLOAT, COEFFICIENT(2), .meaning = "coefficient of q^3"},
    {"fourth", FIELD_FLOAT, COEFFICIENT(3), .meaning = "coefficient of q^4"},
    {0}};
const object_type type_coupling_axis = {"coupling_axis",
                                        "An axis of a joint, as part of a coupling.",
                                        coupling_axis_fields, usual_coupling_axis};

static void usual_point(void *out)
{
  file_point *u = out;
  memset(u, 0, sizeof *u);
  u->point.factor = 1.0f;
}

static const field point_fields[] = {
    {"body", FIELD_TREE, AT(file_point, body), .tree = TREE_BODY},
    {"position", FIELD_POSITION, AT(file_point, point.position), .flags = FIELD_REQUIRED,
     .meaning = "in the body's frame, or in the world, m"},
    {"factor", FIELD_FLOAT, AT(file_point, point.factor), .hi = 1e6,
     .meaning = "of the length of the segment that ends here; 0 begins a new branch"},
    {"radius", FIELD_FLOAT, AT(file_point, point.radius), .hi = 1e6,
     .meaning = "m, of a round solid that the path runs around; 0: a point"},
    {"axis", FIELD_VECTOR, AT(file_point, point.axis),
     .meaning = "of a cylinder, in the body's frame; 0: a sphere"},
    {"side", FIELD_VECTOR, AT(file_point, point.side),
     .meaning = "where the path passes the solid, from its centre; 0: the shorter way"},
    {"inside", FIELD_BOOL, AT(file_point, point.inside),
     .meaning = "the path comes to the surface but does not wind about it"},
    {0}};
const object_type type_coupling_point = {"coupling_point",
                                         "A point of a coupling's path, or a solid it runs around.",
                                         point_fields, usual_point};

static void usual_coupling_drive(void *out)
{
  tn_coupling_drive *u = out;
  memset(u, 0, sizeof *u);
  *u = tn_default_coupling_def().drive;
}

static const field coupling_drive_fields[] = {
    {"stiffness", FIELD_FLOAT, AT(tn_coupling_drive, stiffness), .hi = 1e12,
     .meaning = "N per unit of c"},
    {"target", FIELD_FLOAT, AT(tn_coupling_drive, target), .meaning = "of c"},
    {"damping", FIELD_FLOAT, AT(tn_coupling_drive, damping), .hi = 1e12,
     .meaning = "N s per unit of c"},
    {"velocity", FIELD_FLOAT, AT(tn_coupling_drive, velocity), .meaning = "of c per second"},
    {"force", FIELD_FLOAT, AT(tn_coupling_drive, force), .meaning = "N"},
    {"min_force", FIELD_FLOAT, AT(tn_coupling_drive, limits.lo), .lo = -MOST,
     .flags = FIELD_OPEN | FIELD_BELOW, .meaning = "least force, 0 or less, N"},
    {"max_force", FIELD_FLOAT, AT(tn_coupling_drive, limits.hi), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "greatest force, N"},
    {0}};
const object_type type_coupling_drive = {
    "coupling_drive", "The force stiffness (target - c) + damping (velocity - c') + force.",
    coupling_drive_fields, usual_coupling_drive};

static void usual_coupling(void *out)
{
  file_coupling *u = out;
  memset(u, 0, sizeof *u);
  u->def = tn_default_coupling_def();
}

static const field coupling_fields[] = {
    {"axes", FIELD_TREE, AT(file_coupling, axes), .tree = TREE_LIST, .part = &type_coupling_axis,
     .meaning = "axes of joints, up to 8"},
    {"points", FIELD_TREE, AT(file_coupling, points), .tree = TREE_LIST,
     .part = &type_coupling_point, .meaning = "path of a rope or tendon, 2 to 16 points"},
    {"offset", FIELD_FLOAT, AT(file_coupling, def.offset), .meaning = "constant part of c"},
    {"range", FIELD_RANGES, AT(file_coupling, range),
     .meaning = "of c, one range; without it c is held at 0"},
    {"compliance", FIELD_FLOAT, AT(file_coupling, def.compliance), .hi = 1e12,
     .meaning = "of the range's ends, units of c per N"},
    {"range_damping", FIELD_FLOAT, AT(file_coupling, def.range_damping), .hi = 1e12,
     .meaning = "of compliant ends, N s per unit of c"},
    {"stiffness", FIELD_FLOAT, AT(file_coupling, def.stiffness), .hi = 1e12,
     .meaning = "of a spring, N per unit of c"},
    {"rest", FIELD_FLOAT, AT(file_coupling, def.rest),
     .meaning = "c at which the spring is at rest"},
    {"damping", FIELD_FLOAT, AT(file_coupling, def.damping), .hi = 1e12,
     .meaning = "N s per unit of c"},
    {"friction", FIELD_FLOAT, AT(file_coupling, def.friction), .hi = MOST, .meaning = "N"},
    {"drive", FIELD_PART, AT(file_coupling, def.drive), .part = &type_coupling_drive},
    {"enabled", FIELD_BOOL, AT(file_coupling, def.enabled)},
    {0}};
const object_type type_coupling = {"coupling",
                                   "One constraint c = offset + sum over axes of joints + length "
                                   "of a path. Forces are conjugate to "
                                   "c.",
                                   coupling_fields, usual_coupling};

// ---------------------------------------------------------------------------------------------
// Soft bodies

#define OF_CELLS (KIND(MESH_BOX) | KIND(MESH_TUBE))

static void usual_mesh(void *out)
{
  file_mesh *u = out;
  memset(u, 0, sizeof *u);
}

static const field mesh_fields[] = {
    {"kind", FIELD_WORD, AT(file_mesh, kind), .words = mesh_words, .flags = FIELD_REQUIRED},
    {"columns", FIELD_INT, AT(file_mesh, columns), .lo = 2, .hi = 1000, .kinds = KIND(MESH_CLOTH),
     .flags = FIELD_REQUIRED, .meaning = "vertices along x"},
    {"rows", FIELD_INT, AT(file_mesh, rows), .lo = 2, .hi = 1000, .kinds = KIND(MESH_CLOTH),
     .flags = FIELD_REQUIRED, .meaning = "vertices along z"},
    {"size_x", FIELD_FLOAT, AT(file_mesh, size_x), .hi = 1e6, .flags = FIELD_ABOVE | FIELD_REQUIRED,
     .kinds = KIND(MESH_CLOTH), .meaning = "m"},
    {"size_z", FIELD_FLOAT, AT(file_mesh, size_z), .hi = 1e6, .flags = FIELD_ABOVE | FIELD_REQUIRED,
     .kinds = KIND(MESH_CLOTH), .meaning = "m"},
    {"segments", FIELD_INT, AT(file_mesh, segments), .lo = 1, .hi = 100000,
     .kinds = KIND(MESH_ROPE), .flags = FIELD_REQUIRED},
    {"length", FIELD_FLOAT, AT(file_mesh, length), .hi = 1e6, .flags = FIELD_ABOVE | FIELD_REQUIRED,
     .kinds = KIND(MESH_ROPE), .meaning = "along x, m"},
    {"cells", FIELD_CELLS, AT(file_mesh, cells), .lo = 1, .hi = 100,
     .kinds = OF_CELLS | KIND(MESH_BALL), .flags = FIELD_REQUIRED,
     .meaning = "along x, y, z of a box; around, across and along a tube; a ball uses the first"},
    {"half_extents", FIELD_VECTOR, AT(file_mesh, half_extents), .lo = 1e-6, .hi = 1e6,
     .kinds = KIND(MESH_BOX), .flags = FIELD_REQUIRED, .meaning = "m"},
    {"radius", FIELD_FLOAT, AT(file_mesh, radius), .hi = 1e6, .flags = FIELD_ABOVE | FIELD_REQUIRED,
     .kinds = KIND(MESH_BALL) | KIND(MESH_SPHERE), .meaning = "m"},
    {"inner_radius", FIELD_FLOAT, AT(file_mesh, inner_radius), .hi = 1e6,
     .flags = FIELD_ABOVE | FIELD_REQUIRED, .kinds = KIND(MESH_TUBE), .meaning = "m"},
    {"outer_radius", FIELD_FLOAT, AT(file_mesh, outer_radius), .hi = 1e6,
     .flags = FIELD_ABOVE | FIELD_REQUIRED, .kinds = KIND(MESH_TUBE), .meaning = "m"},
    {"half_length", FIELD_FLOAT, AT(file_mesh, half_length), .hi = 1e6,
     .flags = FIELD_ABOVE | FIELD_REQUIRED, .kinds = KIND(MESH_TUBE), .meaning = "along z, m"},
    {"level", FIELD_INT, AT(file_mesh, level), .lo = 0, .hi = 6, .kinds = KIND(MESH_SPHERE),
     .flags = FIELD_REQUIRED, .meaning = "a closed surface of 20 * 4^level triangles"},
    {"tetrahedra", FIELD_BOOL, AT(file_mesh, tetrahedra), .kinds = KIND(MESH_BOX) | KIND(MESH_BALL),
     .meaning = "use tetrahedra instead of hexahedra"},
    {0}};
const object_type type_mesh = {"mesh", "Vertices and elements of a common shape.", mesh_fields,
                               usual_mesh};

static void usual_soft(void *out)
{
  file_soft *u = out;
  memset(u, 0, sizeof *u);
  u->def = tn_default_soft_def();
}

static const field soft_fields[] = {
    {"name", FIELD_TEXT, AT(file_soft, name), .meaning = "name for references by attachments"},
    {"position", FIELD_POSITION, AT(file_soft, def.position),
     .meaning = "of the frame of its vertices, m"},
    {"rotation", FIELD_ROTATION, AT(file_soft, def.rotation)},
    {"velocity", FIELD_VECTOR, AT(file_soft, def.velocity), .meaning = "m/s"},
    {"mesh", FIELD_PART, AT(file_soft, mesh), .part = &type_mesh,
     .meaning = "instead of vertices and elements"},
    {"vertices", FIELD_VECTORS, AT(file_soft, vertices), .meaning = "in its frame, m"},
    {"edges", FIELD_INDICES, AT(file_soft, edges), .width = 2,
     .meaning = "pairs of vertices that keep their distance"},
    {"triangles", FIELD_INDICES, AT(file_soft, triangles), .width = 3,
     .meaning = "counter-clockwise from outside"},
    {"tetrahedra", FIELD_INDICES, AT(file_soft, tetrahedra), .width = 4,
     .meaning = "vertices in the order of positive volume"},
    {"hexahedra", FIELD_INDICES, AT(file_soft, hexahedra), .width = 8,
     .meaning = "vertices of the lower face, then of the upper one, in the same sense"},
    {"tethers", FIELD_INDICES, AT(file_soft, tethers), .width = 2,
     .meaning = "pairs of vertices with a maximum distance"},
    {"tether_lengths", FIELD_FLOATS, AT(file_soft, tether_lengths), .hi = MOST,
     .flags = FIELD_ABOVE, .meaning = "m; default: the initial distances"},
    {"mass", FIELD_FLOAT, AT(file_soft, def.mass), .hi = 1e12, .flags = FIELD_ABOVE,
     .meaning = "kg"},
    {"masses", FIELD_FLOATS, AT(file_soft, masses),
     .meaning = "kg, of each vertex; instead of mass"},
    {"velocities", FIELD_VECTORS, AT(file_soft, velocities), .meaning = "m/s, of each vertex"},
    {"pinned", FIELD_INDICES, AT(file_soft, pinned), .width = 1,
     .meaning = "vertices fixed in the world"},
    {"edge_compliance", FIELD_FLOAT, AT(file_soft, def.edge_compliance), .hi = 1e12,
     .meaning = "m/N"},
    {"stretch_limit", FIELD_FLOAT, AT(file_soft, def.stretch_limit), .hi = MOST,
     .flags = FIELD_OPEN,
     .meaning = "maximum stretch of compliant edges, as a share of their length"},
    {"tear_strain", FIELD_FLOAT, AT(file_soft, def.tear_strain), .hi = MOST,
     .flags = FIELD_OPEN | FIELD_ABOVE,
     .meaning = "stretch beyond which elements tear, as a share of their length"},
    {"tear_force", FIELD_FLOAT, AT(file_soft, def.tear_force), .hi = MOST,
     .flags = FIELD_OPEN | FIELD_ABOVE, .meaning = "tension beyond which an edge tears, N"},
    {"bending_stiffness", FIELD_FLOAT, AT(file_soft, def.bending_stiffness), .hi = 1e12,
     .meaning = "N m"},
    {"solid", FIELD_WORD, AT(file_soft, def.solid), .words = solid_words,
     .meaning = "material model of tetrahedra"},
    {"youngs_modulus", FIELD_FLOAT, AT(file_soft, def.youngs_modulus), .lo = 1e-3, .hi = 1e12,
     .meaning = "Pa"},
    {"poisson_ratio", FIELD_FLOAT, AT(file_soft, def.poisson_ratio), .hi = 0.49},
    {"yield_strain", FIELD_FLOAT, AT(file_soft, def.yield_strain), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "strain beyond which shape-matched elements flow"},
    {"creep", FIELD_FLOAT, AT(file_soft, def.creep), .hi = MOST, .flags = FIELD_OPEN,
     .meaning = "rate of plastic flow, 1/s"},
    {"plastic_limit", FIELD_FLOAT, AT(file_soft, def.plastic_limit), .hi = MOST,
     .flags = FIELD_OPEN, .meaning = "largest plastic strain"},
    {"volume_compliance", FIELD_FLOAT, AT(file_soft, def.volume_compliance), .hi = 1e12,
     .meaning = "m^3/Pa"},
    {"pressure", FIELD_FLOAT, AT(file_soft, def.pressure), .hi = 1000.0,
     .meaning = "target volume of a closed surface, relative to its initial volume"},
    {"stiffness_damping", FIELD_FLOAT, AT(file_soft, def.stiffness_damping), .hi = 1e6,
     .meaning = "s"},
    {"damping", FIELD_FLOAT, AT(file_soft, def.damping), .hi = 1e6,
     .meaning = "damping of all but rigid motion, 1/s"},
    {"linear_damping", FIELD_FLOAT, AT(file_soft, def.linear_damping), .hi = 1e6, .meaning = "1/s"},
    {"gravity_scale", FIELD_FLOAT, AT(file_soft, def.gravity_scale), .lo = -1e6, .hi = 1e6},
    {"radius", FIELD_FLOAT, AT(file_soft, def.radius), .hi = 1e6, .meaning = "of a particle, m"},
    {"material", FIELD_TREE, AT(file_soft, material), .tree = TREE_MATERIAL, .part = &type_material,
     .meaning = "name of a material of the scene, or a material"},
    {"filter", FIELD_PART, AT(file_soft, def.filter), .part = &type_filter},
    {"curved_rest", FIELD_BOOL, AT(file_soft, def.curved_rest),
     .meaning = "bending has its rest state at the initial shape instead of flat"},
    {"self_collision", FIELD_BOOL, AT(file_soft, def.self_collision)},
    {"keep_momentum", FIELD_BOOL, AT(file_soft, def.keep_momentum)},
    {"can_sleep", FIELD_BOOL, AT(file_soft, def.can_sleep)},
    {0}};
const object_type type_soft = {"soft_body", "A deformable body of particles and elements.",
                               soft_fields, usual_soft};

static void usual_attachment(void *out)
{
  file_attachment *u = out;
  memset(u, 0, sizeof *u);
  u->def = tn_default_attachment_def();
}

static const field attachment_fields[] = {
    {"soft_body", FIELD_TREE, AT(file_attachment, soft), .tree = TREE_SOFT,
     .flags = FIELD_REQUIRED},
    {"particle", FIELD_INT, AT(file_attachment, def.particle), .lo = 0, .hi = 2147483647.0,
     .flags = FIELD_REQUIRED},
    {"body", FIELD_TREE, AT(file_attachment, body), .tree = TREE_BODY},
    {"point", FIELD_POSITION, AT(file_attachment, def.point), .flags = FIELD_REQUIRED,
     .meaning = "in the body's frame, or in the world, m"},
    {"compliance", FIELD_FLOAT, AT(file_attachment, def.compliance), .hi = 1e12, .meaning = "m/N"},
    {"break_force", FIELD_FLOAT, AT(file_attachment, def.break_force), .hi = MOST,
     .flags = FIELD_OPEN, .meaning = "N"},
    {0}};
const object_type type_attachment = {
    "attachment", "Ties a particle of a soft body to a rigid body or to the world.",
    attachment_fields, usual_attachment};

// ---------------------------------------------------------------------------------------------
// Motions

static void usual_motion(void *out)
{
  file_motion *u = out;
  memset(u, 0, sizeof *u);
  u->joint = u->coupling = -1;
  u->axis = TN_ANGULAR_A;
}

static const field motion_fields[] = {
    {"joint", FIELD_INT, AT(file_motion, joint), .lo = 0, .hi = 2147483647.0,
     .meaning = "index of the joint"},
    {"axis", FIELD_WORD, AT(file_motion, axis), .words = axis_words,
     .meaning = "of the joint; its drive has stiffness"},
    {"coupling", FIELD_INT, AT(file_motion, coupling), .lo = 0, .hi = 2147483647.0,
     .meaning = "instead: index of a coupling whose drive has stiffness"},
    {"times", FIELD_FLOATS, AT(file_motion, times), .flags = FIELD_REQUIRED,
     .meaning = "s from the start, growing"},
    {"targets", FIELD_FLOATS, AT(file_motion, targets), .flags = FIELD_REQUIRED,
     .meaning = "at these times, m, rad or units of c; straight in between, constant outside"},
    {"repeat", FIELD_BOOL, AT(file_motion, repeat), .meaning = "begins again after the last time"},
    {0}};
const object_type type_motion = {"motion", "Targets of a servo over time.", motion_fields,
                                 usual_motion};

// ---------------------------------------------------------------------------------------------

const object_type *const *object_types(void)
{
  static const object_type *const all[] = {&type_camera,
                                           &type_world,
                                           &type_behaviour,
                                           &type_rotation,
                                           &type_mass,
                                           &type_body,
                                           &type_filter,
                                           &type_material,
                                           &type_geometry,
                                           &type_shape,
                                           &type_frame,
                                           &type_drive,
                                           &type_axis,
                                           &type_joint,
                                           &type_coupling_axis,
                                           &type_coupling_point,
                                           &type_coupling_drive,
                                           &type_coupling,
                                           &type_mesh,
                                           &type_soft,
                                           &type_attachment,
                                           &type_motion,
                                           NULL};
  return all;
}

const field *field_find(const object_type *type, const char *name)
{
  for (const field *f = type->fields; f->name; ++f) {
    if (strcmp(f->name, name) == 0) {
      return f;
    }
  }
  return NULL;
}

size_t field_row_size(const field *f)
{
  return f->type == FIELD_VECTORS  ? sizeof(tn_vec3)
         : f->type == FIELD_FLOATS ? sizeof(float)
                                   : (size_t)f->width * sizeof(int);
}

const char *field_word(const object_type *type, const char *name, int value)
{
  return field_find(type, name)->words[value];
}
