// Materials, geometries, bodies with their shapes, joints, couplings.
#include "loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Materials

static bool read_material(loader *l, const cJSON *json, tn_material *out)
{
  file_material m;
  uint64_t seen;
  type_material.usual(&m);
  if (!read_object(&l->r, json, &type_material, &m, &seen)) {
    return false;
  }
  if (was_seen(&type_material, seen, "friction")) {
    if (was_seen(&type_material, seen, "static_friction") ||
        was_seen(&type_material, seen, "dynamic_friction")) {
      return reader_fail(&l->r, "give either friction, or static_friction and dynamic_friction");
    }
    m.material.static_friction = m.material.dynamic_friction = m.friction;
  }
  if (m.material.dynamic_friction > m.material.static_friction) {
    return reader_fail(&l->r, "dynamic_friction is above static_friction");
  }
  *out = m.material;
  return true;
}

// Names of the members of an object.
static bool take_names(loader *l, const cJSON *json, const char *key, name_table *names)
{
  if (!json) {
    return true;
  }
  reader_enter(&l->r, key);
  if (!cJSON_IsObject(json)) {
    return reader_fail(&l->r, "must be an object in braces");
  }
  int count = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, json)
  {
    if (!names_add(names, item->string, count++)) {
      return reader_fail(&l->r, "not enough memory");
    }
  }
  int first, again = names_sort(names, &first);
  if (again >= 0) {
    reader_enter(&l->r, cJSON_GetArrayItem(json, again)->string);
    l->r.path.steps[l->r.path.depth - 1].index = 1;
    return reader_fail(&l->r, "duplicate key");
  }
  reader_leave(&l->r);
  return true;
}

bool load_materials(loader *l)
{
  const cJSON *all = l->file->content.materials, *item;
  if (!take_names(l, all, "materials", &l->material_names)) {
    return false;
  }
  l->materials = calloc((size_t)l->material_names.count + 1, sizeof *l->materials);
  if (!l->materials) {
    return reader_fail(&l->r, "not enough memory for the materials");
  }
  int count = 0;
  cJSON_ArrayForEach(item, all)
  {
    reader_enter(&l->r, "materials");
    reader_enter(&l->r, item->string);
    if (!read_material(l, item, &l->materials[count++])) {
      return false;
    }
    reader_leave(&l->r);
    reader_leave(&l->r);
  }
  return true;
}

bool load_material(loader *l, const cJSON *json, tn_material *out)
{
  if (!json) {
    return true;
  }
  reader_enter(&l->r, "material");
  if (cJSON_IsString(json)) {
    int index = names_find(&l->material_names, json->valuestring);
    if (index < 0) {
      return reader_fail(&l->r, "no material named '%.60s'", json->valuestring);
    }
    *out = l->materials[index];
  } else if (!read_material(l, json, out)) {
    return false;
  }
  reader_leave(&l->r);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Geometries

static tn_geometry_id make_wire(loader *l, const file_geometry *g)
{
  tn_geometry_id id = {0, 0, 0};
  tn_wire_point *points = calloc((size_t)g->points.count + 1, sizeof *points);
  for (int i = 0; points && i < g->points.count; ++i) {
    points[i].position = ((const tn_vec3 *)g->points.items)[i];
    points[i].tangent = ((const tn_vec3 *)g->tangents.items)[i];
  }
  if (points) {
    id = tn_wire_create(l->run->world, points, g->points.count, g->closed);
  }
  free(points);
  return id;
}

static bool make_geometry(loader *l, const file_geometry *g, tn_geometry_id *id)
{
  tn_world *world = l->run->world;
  switch (g->kind) {
  case GEOMETRY_HULL:
    *id = tn_hull_create(world, g->points.items, g->points.count, g->max_vertices);
    break;
  case GEOMETRY_MESH:
    *id = tn_mesh_create(world, g->points.items, g->points.count, g->triangles.items,
                         g->triangles.count);
    break;
  case GEOMETRY_HEIGHT_FIELD:
    if ((double)g->columns * (double)g->rows != (double)g->heights.count) {
      return reader_fail(&l->r, "needs columns * rows = %g heights, but has %d",
                         (double)g->columns * (double)g->rows, g->heights.count);
    }
    *id = tn_height_field_create(world, g->heights.items, g->columns, g->rows, g->spacing_x,
                                 g->spacing_z);
    break;
  default:
    if (g->points.count != g->tangents.count) {
      return reader_fail(&l->r, "needs one tangent per point, but has %d points and %d tangents",
                         g->points.count, g->tangents.count);
    }
    *id = make_wire(l, g);
    break;
  }
  return !TN_IS_NULL(*id) || loader_fail(l);
}

bool load_geometries(loader *l)
{
  const cJSON *all = l->file->content.geometries, *item;
  if (!take_names(l, all, "geometries", &l->geometry_names)) {
    return false;
  }
  l->geometries = calloc((size_t)l->geometry_names.count + 1, sizeof *l->geometries);
  if (!l->geometries) {
    return reader_fail(&l->r, "not enough memory for the geometries");
  }
  int count = 0;
  cJSON_ArrayForEach(item, all)
  {
    file_geometry g;
    type_geometry.usual(&g);
    reader_enter(&l->r, "geometries");
    reader_enter(&l->r, item->string);
    bool ok = read_object(&l->r, item, &type_geometry, &g, NULL) &&
              make_geometry(l, &g, &l->geometries[count++]);
    free_lists(&type_geometry, &g);
    if (!ok) {
      return false;
    }
    reader_leave(&l->r);
    reader_leave(&l->r);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Shapes

static bool find_geometry(loader *l, const char *name, tn_geometry_id *id)
{
  int index = name ? names_find(&l->geometry_names, name) : -1;
  if (name && index < 0) {
    reader_enter(&l->r, "geometry");
    return reader_fail(&l->r, "no geometry named '%.60s'", name);
  }
  if (index >= 0) {
    *id = l->geometries[index];
  }
  return true;
}

static bool load_shape(loader *l, const cJSON *json, tn_body_id body)
{
  file_shape s;
  type_shape.usual(&s);
  if (!read_object(&l->r, json, &type_shape, &s, NULL) ||
      !load_material(l, s.material, &s.def.material) ||
      !find_geometry(l, s.geometry, &s.def.geometry)) {
    return false;
  }
  scene_add_shape(l->run, body, &s.def);
  return !l->run->failed || loader_fail(l);
}

static bool load_shapes(loader *l, const cJSON *list, tn_body_id body)
{
  if (!is_list(l, list, "shapes", MAX_SHAPES)) {
    return false;
  }
  int i = 0;
  const cJSON *item;
  reader_enter(&l->r, "shapes");
  cJSON_ArrayForEach(item, list)
  {
    reader_enter_item(&l->r, i++);
    if (!load_shape(l, item, body)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Bodies

// Reads the full mass into the definition, or the mass to distribute over the shapes.
static bool read_mass(loader *l, file_body *b, float *spread)
{
  *spread = -1.0f;
  if (!b->mass) {
    bool has_shapes = cJSON_GetArraySize(b->shapes) > 0;
    *spread = b->def.type == TN_BODY_DYNAMIC && has_shapes ? 0.0f : -1.0f;
    return true;
  }
  reader_enter(&l->r, "mass");
  if (cJSON_IsObject(b->mass)) {
    memset(&b->def.mass, 0, sizeof b->def.mass);
    if (!read_object(&l->r, b->mass, &type_mass, &b->def.mass, NULL)) {
      return false;
    }
  } else {
    double mass;
    if (!read_number(&l->r, b->mass, field_find(&type_body, "mass"), &mass)) {
      return false;
    }
    if (cJSON_GetArraySize(b->shapes) == 0) {
      return reader_fail(&l->r, "a body without shapes needs an object with mass and inertia");
    }
    *spread = (float)mass;
  }
  reader_leave(&l->r);
  return true;
}

// Bounds of the mass and size of a body's shapes, from their bounding boxes.
typedef struct extent {
  double bulk, reach, least; // kg; m from the origin; smallest width, m
} extent;

static void add_extent(const tn_world *world, tn_shape_id id, tn_pos origin, extent *sum)
{
  tn_pos lo, hi;
  double density = (double)tn_shape_get_def(world, id).density;
  if (tn_shape_box(world, id, &lo, &hi)) {
    double x = hi.x - lo.x, y = hi.y - lo.y, z = hi.z - lo.z;
    double far[3] = {fmax(fabs(hi.x - origin.x), fabs(lo.x - origin.x)),
                     fmax(fabs(hi.y - origin.y), fabs(lo.y - origin.y)),
                     fmax(fabs(hi.z - origin.z), fabs(lo.z - origin.z))};
    sum->bulk += density * x * y * z;
    sum->reach = fmax(sum->reach, sqrt(far[0] * far[0] + far[1] * far[1] + far[2] * far[2]));
    sum->least = fmin(sum->least, fmin(x, fmin(y, z)));
  }
}

// Checks that mass and inertia fit into floats: the functions that add them do not report it.
static bool can_spread(loader *l, tn_body_id body, float mass)
{
  const tn_world *world = l->run->world;
  extent sum = {0.0, 0.0, 1e30};
  int count = tn_body_shapes(world, body, NULL, 0);
  tn_shape_id *ids = calloc((size_t)count + 1, sizeof *ids);
  tn_body_shapes(world, body, ids, ids ? count : 0);
  for (int i = 0; ids && i < count; ++i) {
    add_extent(world, ids[i], tn_body_position(world, body), &sum);
  }
  free(ids);
  double most = fmax(sum.bulk, (double)mass), least = mass > 0.0f ? (double)mass : sum.bulk;
  if (!(most * fmax(1.0, sum.reach * sum.reach) < 1e37)) {
    return reader_fail(&l->r, "mass or inertia too large for a float");
  }
  if (!(1e-3 * fmin(least, sum.bulk) * fmin(1.0, sum.least * sum.least) > 1e-36)) {
    return reader_fail(&l->r, "mass or inertia too small for a float");
  }
  return true;
}

static bool load_body(loader *l, const cJSON *json)
{
  file_body b;
  float spread;
  type_body.usual(&b);
  if (!read_object(&l->r, json, &type_body, &b, NULL) || !read_mass(l, &b, &spread)) {
    return false;
  }
  if (b.def.name && strlen(b.def.name) > 31) {
    reader_enter(&l->r, "name");
    return reader_fail(&l->r, "must have at most 31 bytes");
  }
  if (b.def.name && !names_add(&l->body_names, b.def.name, l->body_count)) {
    return reader_fail(&l->r, "not enough memory for its name");
  }
  tn_body_id id = b.scenery ? scene_add_scenery(l->run, &b.def) : scene_add_body(l->run, &b.def);
  if (l->run->failed) {
    return loader_fail(l);
  }
  l->bodies[l->body_count++] = id;
  if (!load_shapes(l, b.shapes, id)) {
    return false;
  }
  if (spread >= 0.0f) {
    if (!can_spread(l, id, spread)) {
      return false;
    }
    scene_spread_mass(l->run, id, &b.def, spread);
  }
  return !l->run->failed || loader_fail(l);
}

static bool check_body_names(loader *l)
{
  int first, again = names_sort(&l->body_names, &first);
  if (again >= 0) {
    reader_enter(&l->r, "bodies");
    reader_enter_item(&l->r, again);
    reader_enter(&l->r, "name");
    return reader_fail(&l->r, "bodies[%d] already has this name", first);
  }
  return true;
}

bool load_bodies(loader *l)
{
  const cJSON *all = l->file->content.bodies, *item;
  tn_body_id world = {0, 0, 0};
  if (!load_shapes(l, l->file->content.shapes, world) || !is_list(l, all, "bodies", MAX_THINGS)) {
    return false;
  }
  l->bodies = calloc((size_t)cJSON_GetArraySize(all) + 1, sizeof *l->bodies);
  if (!l->bodies) {
    return reader_fail(&l->r, "not enough memory for the bodies");
  }
  reader_enter(&l->r, "bodies");
  cJSON_ArrayForEach(item, all)
  {
    reader_enter_item(&l->r, l->body_count);
    if (!load_body(l, item)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return check_body_names(l);
}

bool find_body(loader *l, const cJSON *json, tn_body_id *id)
{
  *id = (tn_body_id){0, 0, 0};
  if (!json || cJSON_IsNull(json)) {
    return true;
  }
  double number = cJSON_IsNumber(json) ? json->valuedouble : -1.0;
  if (cJSON_IsString(json)) {
    number = names_find(&l->body_names, json->valuestring);
    if (number < 0.0) {
      return reader_fail(&l->r, "no body named '%.60s'", json->valuestring);
    }
  } else if (!cJSON_IsNumber(json)) {
    return reader_fail(&l->r, "must be the name or index of a body, or null for the world");
  } else if (!(number >= 0.0 && number < l->body_count) || number != (double)(int)number) {
    return reader_fail(&l->r, "no body with index %g; there are %d, counted from 0", number,
                       l->body_count);
  }
  *id = l->bodies[(int)number];
  return true;
}

// ---------------------------------------------------------------------------------------------
// Joints

static bool read_ends(loader *l, file_joint *j)
{
  tn_body_id *ends[2] = {&j->def.body_a, &j->def.body_b};
  reader_enter(&l->r, "bodies");
  if (!cJSON_IsArray(j->bodies) || cJSON_GetArraySize(j->bodies) != 2) {
    return reader_fail(&l->r, "must be a list of two names or indices, or null for the world");
  }
  for (int i = 0; i < 2; ++i) {
    reader_enter_item(&l->r, i);
    if (!find_body(l, cJSON_GetArrayItem(j->bodies, i), ends[i])) {
      return false;
    }
    reader_leave(&l->r);
  }
  if (TN_SAME_ID(j->def.body_a, j->def.body_b)) {
    return reader_fail(&l->r, "a body cannot be joined to itself");
  }
  reader_leave(&l->r);
  return true;
}

// Computes the frames from world points.
static bool place_joint(loader *l, file_joint *j, uint64_t seen)
{
  bool at = was_seen(&type_joint, seen, "at"), axis = was_seen(&type_joint, seen, "axis");
  bool from = was_seen(&type_joint, seen, "from"), to = was_seen(&type_joint, seen, "to");
  bool frames = was_seen(&type_joint, seen, "frame_a") || was_seen(&type_joint, seen, "frame_b");
  if (at + from + frames > 1 || from != to || (axis && !at)) {
    return reader_fail(&l->r, "give at and axis, or from and to, or frame_a and frame_b");
  }
  if (at) {
    return tn_joint_def_at(l->run->world, &j->def, j->at, j->axis) || loader_fail(l);
  }
  if (from) {
    tn_range given = j->def.linear[0];
    bool ok = tn_joint_def_between(l->run->world, &j->def, j->from, j->to);
    if (was_seen(&type_joint, seen, "linear")) {
      j->def.linear[0] = given;
    }
    return ok || loader_fail(l);
  }
  return true;
}

static tn_joint_kind kind_of(const cJSON *json)
{
  const cJSON *kind = cJSON_GetObjectItemCaseSensitive(json, "kind");
  const field *f = field_find(&type_joint, "kind");
  for (int i = 0; cJSON_IsString(kind) && f->words[i]; ++i) {
    if (strcmp(f->words[i], kind->valuestring) == 0) {
      return (tn_joint_kind)i;
    }
  }
  return TN_JOINT_BALL; // the reader reports the error
}

static bool load_joint(loader *l, const cJSON *json)
{
  file_joint j;
  uint64_t seen;
  type_joint.usual(&j);
  j.def = tn_default_joint_def(kind_of(json));
  if (!read_object(&l->r, json, &type_joint, &j, &seen) || !read_ends(l, &j) ||
      !place_joint(l, &j, seen)) {
    return false;
  }
  scene_add_joint(l->run, &j.def);
  return !l->run->failed || loader_fail(l);
}

bool load_joints(loader *l)
{
  const cJSON *all = l->file->content.joints, *item;
  if (!is_list(l, all, "joints", MAX_THINGS)) {
    return false;
  }
  int i = 0;
  reader_enter(&l->r, "joints");
  cJSON_ArrayForEach(item, all)
  {
    reader_enter_item(&l->r, i++);
    if (!load_joint(l, item)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Couplings

static bool load_axis(loader *l, const cJSON *json, tn_coupling_def *def)
{
  file_axis a;
  type_coupling_axis.usual(&a);
  if (!read_object(&l->r, json, &type_coupling_axis, &a, NULL)) {
    return false;
  }
  if (a.joint >= l->run->joint_count) {
    return reader_fail(&l->r, "no joint with index %d; there are %d, counted from 0", a.joint,
                       l->run->joint_count);
  }
  a.axis.joint = l->run->joints[a.joint];
  def->axes[def->axis_count++] = a.axis;
  return true;
}

static bool load_point(loader *l, const cJSON *json, tn_coupling_def *def)
{
  file_point p;
  type_coupling_point.usual(&p);
  if (!read_object(&l->r, json, &type_coupling_point, &p, NULL)) {
    return false;
  }
  reader_enter(&l->r, "body");
  if (!find_body(l, p.body, &p.point.body)) {
    return false;
  }
  reader_leave(&l->r);
  def->points[def->point_count++] = p.point;
  return true;
}

static bool load_terms(loader *l, const cJSON *list, const char *key, int most,
                       bool (*load)(loader *, const cJSON *, tn_coupling_def *),
                       tn_coupling_def *def)
{
  if (!is_list(l, list, key, most)) {
    return false;
  }
  int i = 0;
  const cJSON *item;
  reader_enter(&l->r, key);
  cJSON_ArrayForEach(item, list)
  {
    reader_enter_item(&l->r, i++);
    if (!load(l, item, def)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}

static bool load_coupling(loader *l, const cJSON *json)
{
  file_coupling k;
  type_coupling.usual(&k);
  if (!read_object(&l->r, json, &type_coupling, &k, NULL) ||
      !load_terms(l, k.axes, "axes", TN_COUPLING_AXES, load_axis, &k.def) ||
      !load_terms(l, k.points, "points", TN_COUPLING_POINTS, load_point, &k.def)) {
    return false;
  }
  k.def.range = k.range[0];
  scene_add_coupling(l->run, &k.def);
  return !l->run->failed || loader_fail(l);
}

bool load_couplings(loader *l)
{
  const cJSON *all = l->file->content.couplings, *item;
  if (!is_list(l, all, "couplings", MAX_THINGS)) {
    return false;
  }
  int i = 0;
  reader_enter(&l->r, "couplings");
  cJSON_ArrayForEach(item, all)
  {
    reader_enter_item(&l->r, i++);
    if (!load_coupling(l, item)) {
      return false;
    }
    reader_leave(&l->r);
  }
  reader_leave(&l->r);
  return true;
}
