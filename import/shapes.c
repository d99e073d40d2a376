// Shapes of a model in a world.
#include "instance.h"

#include <stdlib.h>
#include <string.h>

// Axial shapes and planes are along y here and along z in models.
static drot y_to_z(void)
{
  return drot_from_to(dvec_of(0.0, 1.0, 0.0), dvec_of(0.0, 0.0, 1.0));
}

// Two geoms of MuJoCo collide if contype of one meets conaffinity of the other, in either order.
// Both numbers lie side by side in category and, swapped, in mask: then each of the two tests of a
// filter is that condition.
static tn_filter filter_of(const model_geom *g)
{
  uint64_t type = (uint32_t)g->contype, affinity = (uint32_t)g->conaffinity;
  tn_filter filter = {type | affinity << 32 | g->pair_category,
                      affinity | type << 32 | g->pair_mask, 0};
  return filter;
}

// MuJoCo states contacts by the acceleration -b v - k r that they give at the depth r, of which
// they reach the share d: at rest under gravity g a body sinks by (1 - d) / d g / k. Contacts here
// are rigid unless a file asks for k below that of the default, of which this is the compliance of
// the body's mass; b below critical damping becomes the restitution of the oscillator's half swing.
static void soften(const model_contact *c, double mass, tn_material *m)
{
  double d = fmin(fmax(c->solimp[1], 1e-4), 0.9999), k = -c->solref[0] / (d * d);
  double ratio = c->solref[1], rigid = 0.25 / (0.02 * 0.02 * d * d);
  if (c->solref[0] > 0.0) {
    double rate = 1.0 / fmax(c->solref[0] * fmax(fabs(ratio), 1e-3) * d, 1e-6);
    k = rate * rate;
  } else if (k > 0.0) {
    ratio = -c->solref[1] / (2.0 * d * sqrt(k));
  }
  if (k > 0.0 && k < rigid && mass > 0.0) {
    m->compliance += (float)fmin((1.0 - d) / (d * k * mass), 1e6);
  }
  if (k > 0.0 && ratio < 0.99) {
    ratio = fmax(ratio, 0.0);
    m->restitution = tn_exp((float)(-3.14159265358979 * ratio / sqrt(1.0 - ratio * ratio)));
    m->combine_restitution = TN_COMBINE_MAXIMUM;
  }
}

// The larger friction of two geoms counts, as in MuJoCo. A condim of 1 has no friction, from 4 on
// there is spinning friction, of 6 rolling friction as well.
static tn_material material_of(const tn_instance *in, const model_geom *g)
{
  const model_contact *c = &g->contact;
  tn_material m = tn_default_material();
  m.priority = g->priority;
  double sliding = c->condim >= 3 ? fmin(fmax(c->friction[0], 0.0), 1e6) : 0.0;
  m.static_friction = m.dynamic_friction = (float)sliding;
  m.spinning_friction = c->condim >= 4 ? (float)fmin(fmax(c->friction[1], 0.0), 1e6) : 0.0f;
  m.rolling_friction = c->condim >= 6 ? (float)fmin(fmax(c->friction[2], 0.0), 1e6) : 0.0f;
  m.compliance = (float)fmin(c->compliance, 1e6);
  m.combine_friction = TN_COMBINE_MAXIMUM;
  m.restitution = 0.0f;
  soften(c, in->model->bodies.items[g->body].mass.mass, &m);
  return m;
}

// ---------------------------------------------------------------------------------------------
// Geometry

// Null, with the instance marked, without memory.
static tn_vec3 *mesh_points(tn_instance *in, const model_mesh *mesh)
{
  tn_vec3 *points = malloc((size_t)mesh->vertex_count * sizeof *points);
  in->memory.failed = in->memory.failed || !points;
  for (int i = 0; points && i < mesh->vertex_count; ++i) {
    const double *v = mesh->vertices + (size_t)3 * (size_t)i;
    points[i] = tn_v3((float)v[0], (float)v[1], (float)v[2]);
  }
  return points;
}

static bool surface_geometry(tn_instance *in, int mesh_index, tn_geometry_id *out)
{
  const model_mesh *mesh = &in->model->meshes.items[mesh_index];
  tn_geometry_id *kept = &in->surfaces[mesh_index];
  tn_vec3 *points = TN_IS_NULL(*kept) ? mesh_points(in, mesh) : NULL;
  if (points) {
    *kept = tn_mesh_create(in->world, points, mesh->vertex_count, mesh->triangles,
                           mesh->triangle_count);
  }
  free(points);
  *out = *kept;
  return !TN_IS_NULL(*kept);
}

// Of a large set, the points that are extreme in some of 256 directions, evenly spread for a box
// around them that is made a cube: hulls keep 64 of them in any case. Returns how many there are.
static int thin(const tn_vec3 *points, int count, tn_vec3 *kept)
{
  enum { DIRECTIONS = 256 };
  tn_vec3 lo = points[0], hi = points[0];
  for (int i = 1; i < count; ++i) {
    lo = tn_v3(fminf(lo.x, points[i].x), fminf(lo.y, points[i].y), fminf(lo.z, points[i].z));
    hi = tn_v3(fmaxf(hi.x, points[i].x), fmaxf(hi.y, points[i].y), fmaxf(hi.z, points[i].z));
  }
  tn_vec3 size = tn_sub(hi, lo);
  int chosen[DIRECTIONS], total = 0;
  for (int k = 0; k < DIRECTIONS; ++k) {
    double s, c, z = 1.0 - (2.0 * k + 1.0) / DIRECTIONS, r = sqrt(1.0 - z * z);
    sine_and_cosine(2.399963229728653 * k, &s, &c); // the golden angle
    tn_vec3 d = tn_v3((float)(r * c) / fmaxf(size.x, 1e-9f), (float)(r * s) / fmaxf(size.y, 1e-9f),
                      (float)z / fmaxf(size.z, 1e-9f));
    int best = 0;
    float most = tn_dot(d, points[0]);
    for (int i = 1; i < count; ++i) {
      float height = tn_dot(d, points[i]);
      if (height > most) {
        most = height;
        best = i;
      }
    }
    bool known = false;
    for (int i = 0; i < total && !known; ++i) {
      known = chosen[i] == best;
    }
    if (!known) {
      chosen[total++] = best;
    }
  }
  for (int i = 0; i < total; ++i) {
    kept[i] = points[chosen[i]];
  }
  return total;
}

static void keep_hull(tn_instance *in, int mesh_index, const tn_vec3 *points, int count)
{
  enum { MANY = 2000 };
  tn_vec3 kept_points[256];
  if (count > MANY) {
    count = thin(points, count, kept_points);
    points = kept_points;
  }
  tn_geometry_id made = tn_hull_create(in->world, points, count, 0);
  tn_geometry_id *kept = TN_IS_NULL(made) ? NULL : LIST_ADD(&in->memory, &in->hulls);
  if (kept) {
    *kept = made;
    in->hull_count[mesh_index] += 1;
  }
}

// The hulls of a mesh: its convex hull, or those of its convex parts.
static void make_hulls(tn_instance *in, int mesh_index)
{
  const model_mesh *mesh = &in->model->meshes.items[mesh_index];
  tn_vec3 *points = in->first_hull[mesh_index] < 0 ? mesh_points(in, mesh) : NULL;
  if (!points) {
    return;
  }
  in->first_hull[mesh_index] = in->hulls.count;
  tn_convex_parts *parts = NULL;
  if (in->model->max_hulls > 1) {
    parts = tn_convex_decompose(points, mesh->vertex_count, mesh->triangles, mesh->triangle_count,
                                in->model->max_hulls, 0.05f);
  }
  const tn_vec3 *from = parts ? parts->points : NULL;
  for (int i = 0; parts && i < parts->part_count; ++i) {
    keep_hull(in, mesh_index, from, parts->counts[i]);
    from += parts->counts[i];
  }
  if (in->hull_count[mesh_index] == 0) {
    keep_hull(in, mesh_index, points, mesh->vertex_count);
  }
  tn_convex_parts_free(parts);
  free(points);
}

// Points of a sphere in rings, scaled.
static bool ellipsoid_geometry(tn_instance *in, const model_geom *g, tn_geometry_id *out)
{
  enum { RINGS = 6, SECTORS = 10 };
  tn_vec3 points[RINGS * SECTORS + 2];
  int count = 0;
  for (int ring = 1; ring <= RINGS; ++ring) {
    double s, c;
    sine_and_cosine(3.14159265358979323846 * ring / (RINGS + 1), &s, &c);
    for (int sector = 0; sector < SECTORS; ++sector) {
      double x, y;
      sine_and_cosine(2.0 * 3.14159265358979323846 * sector / SECTORS, &y, &x);
      points[count++] =
          tn_v3((float)(g->size[0] * s * x), (float)(g->size[1] * s * y), (float)(g->size[2] * c));
    }
  }
  points[count++] = tn_v3(0.0f, 0.0f, (float)g->size[2]);
  points[count++] = tn_v3(0.0f, 0.0f, (float)-g->size[2]);
  model_note_add(in->model, TN_IMPORT_APPROXIMATED, g->at, "ellipsoid: a hull of %d points", count);
  *out = tn_hull_create(in->world, points, count, 0);
  return !TN_IS_NULL(*out);
}

// Rows run along y of the model and against z here.
static bool field_geometry(tn_instance *in, const model_hfield *h, tn_geometry_id *out)
{
  size_t count = (size_t)h->rows * (size_t)h->columns;
  float *heights = count && h->heights ? malloc(count * sizeof *heights) : NULL;
  for (int row = 0; heights && row < h->rows; ++row) {
    for (int column = 0; column < h->columns; ++column) {
      size_t to = (size_t)(h->rows - 1 - row) * (size_t)h->columns + (size_t)column;
      heights[to] = (float)(h->size[2] * h->heights[row * h->columns + column]);
    }
  }
  if (heights) {
    *out = tn_height_field_create(in->world, heights, h->columns, h->rows,
                                  (float)(2.0 * h->size[0] / (h->columns - 1)),
                                  (float)(2.0 * h->size[1] / (h->rows - 1)));
  }
  in->memory.failed = in->memory.failed || (count && h->heights && !heights);
  free(heights);
  return heights && !TN_IS_NULL(*out);
}

// ---------------------------------------------------------------------------------------------
// Shapes

// The shape of a geom without its place; false if there is none.
static bool shape_of(tn_instance *in, const model_geom *g, bool moves, tn_shape_def *def)
{
  static const tn_shape_kind kinds[] = {
      [MODEL_PLANE] = TN_SHAPE_PLANE,    [MODEL_HFIELD] = TN_SHAPE_HEIGHT_FIELD,
      [MODEL_SPHERE] = TN_SHAPE_SPHERE,  [MODEL_CAPSULE] = TN_SHAPE_CAPSULE,
      [MODEL_ELLIPSOID] = TN_SHAPE_HULL, [MODEL_CYLINDER] = TN_SHAPE_CYLINDER,
      [MODEL_BOX] = TN_SHAPE_BOX,        [MODEL_MESH] = TN_SHAPE_HULL};
  *def = tn_default_shape_def(kinds[g->type]);
  def->radius = (float)g->size[0];
  def->half_length = (float)g->size[1];
  def->half_extents = tn_v3((float)g->size[0], (float)g->size[1], (float)g->size[2]);
  if (g->type == MODEL_ELLIPSOID) {
    return ellipsoid_geometry(in, g, &def->geometry);
  }
  if (g->type == MODEL_HFIELD && !moves) {
    return field_geometry(in, &in->model->hfields.items[g->hfield], &def->geometry);
  }
  // Meshes collide as hulls in MuJoCo, and links of robots are meant so; those of the world itself
  // are terrain.
  if (g->type == MODEL_MESH && g->body == 0 &&
      in->model->meshes.items[g->mesh].triangle_count > 0) {
    def->kind = TN_SHAPE_MESH;
    return surface_geometry(in, g->mesh, &def->geometry);
  }
  if (g->type == MODEL_MESH) {
    make_hulls(in, g->mesh);
    return in->hull_count[g->mesh] > 0;
  }
  return !moves || (g->type != MODEL_PLANE && g->type != MODEL_HFIELD);
}

static bool build_shape(tn_instance *in, const model_geom *g)
{
  tn_shape_def def;
  int owner = in->owners[g->body];
  bool turned = g->type == MODEL_PLANE || g->type == MODEL_HFIELD || g->type == MODEL_CAPSULE ||
                g->type == MODEL_CYLINDER;
  if (!shape_of(in, g, instance_moves(in, g->body), &def)) {
    if (in->memory.failed) {
      return false;
    }
    bool reported = g->hfield >= 0 && in->model->hfields.items[g->hfield].rows == 0;
    if (!reported) {
      model_note_add(in->model, TN_IMPORT_IGNORED, g->at,
                     "geom that cannot be built on a body that moves, or has no volume");
    }
    return true;
  }
  dpose at = dpose_mul(in->local[g->body], g->pose);
  tn_body_id body = owner == 0 ? in->ground : in->bodies[owner].id;
  at = TN_IS_NULL(body) ? dpose_mul(in->place, at) : at;
  def.position = vec3_of(at.p);
  def.rotation = quat_of(drot_normalize(turned ? drot_mul(at.q, y_to_z()) : at.q));
  def.material = material_of(in, g);
  def.filter = filter_of(g);
  bool hulls = g->type == MODEL_MESH && def.kind == TN_SHAPE_HULL;
  int count = hulls ? in->hull_count[g->mesh] : 1;
  for (int i = 0; i < count; ++i) {
    if (hulls) {
      def.geometry = in->hulls.items[in->first_hull[g->mesh] + i];
    }
    tn_shape_id made = tn_shape_create(in->world, body, &def);
    tn_shape_id *kept = LIST_ADD(&in->memory, &in->shapes);
    if (!kept || TN_IS_NULL(made)) {
      return false;
    }
    *kept = made;
  }
  return true;
}

bool build_shapes(tn_instance *in)
{
  for (int i = 0; i < in->model->geoms.count; ++i) {
    const model_geom *g = &in->model->geoms.items[i];
    if (!g->left_out && model_geom_collides(g) && !build_shape(in, g)) {
      return false;
    }
  }
  return true;
}
