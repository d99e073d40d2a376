#include "look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 24, ARC = 8, TUBE = 8, PIECES = 4 }; // segments of round shapes
static const float PLANE_HALF = 40.0f;

// ---------------------------------------------------------------------------------------------
// Building meshes

static void *grown(void *items, int *capacity, size_t size)
{
  int wanted = *capacity > 0 ? 2 * *capacity : 64;
  void *more = realloc(items, (size_t)wanted * size);
  *capacity = more ? wanted : *capacity;
  return more;
}

static bool make_room_for_point(scene_look *l)
{
  if (l->point_count < l->point_capacity) {
    return true;
  }
  int capacity = l->point_capacity;
  tn_vec3 *points = grown(l->points, &capacity, sizeof *points);
  l->points = points ? points : l->points;
  capacity = l->point_capacity;
  tn_vec3 *normals = grown(l->normals, &capacity, sizeof *normals);
  l->normals = normals ? normals : l->normals;
  l->failed = l->failed || !points || !normals;
  l->point_capacity = l->failed ? l->point_capacity : capacity;
  return !l->failed;
}

static int add_point(scene_look *l, tn_vec3 point, tn_vec3 normal)
{
  if (l->failed || !make_room_for_point(l)) {
    return 0;
  }
  l->points[l->point_count] = point;
  l->normals[l->point_count] = normal;
  return l->point_count++;
}

static void add_triangle(scene_look *l, int a, int b, int c)
{
  if (!l->failed && l->triangle_count == l->triangle_capacity) {
    int *triangles = grown(l->triangles, &l->triangle_capacity, 3 * sizeof(int));
    l->failed = !triangles;
    l->triangles = triangles ? triangles : l->triangles;
  }
  if (!l->failed) {
    int *corner = &l->triangles[3 * l->triangle_count++];
    corner[0] = a, corner[1] = b, corner[2] = c;
  }
}

static void add_quad(scene_look *l, int a, int b, int c, int d)
{
  add_triangle(l, a, b, c);
  add_triangle(l, a, c, d);
}

static void add_flat_triangle(scene_look *l, tn_vec3 a, tn_vec3 b, tn_vec3 c)
{
  tn_vec3 across = tn_cross(tn_sub(b, a), tn_sub(c, a));
  float size = tn_length(across);
  if (size > 0.0f) {
    tn_vec3 normal = tn_scale(1.0f / size, across);
    int first = add_point(l, a, normal);
    add_point(l, b, normal);
    add_point(l, c, normal);
    add_triangle(l, first, first + 1, first + 2);
  }
}

// Connects points from `first` on, in rows of `across`, by triangles.
static void join_rows(scene_look *l, int first, int rows, int across)
{
  for (int i = 0; i + 1 < rows; ++i) {
    for (int k = 0; k + 1 < across; ++k) {
      int at = first + i * across + k;
      add_quad(l, at, at + 1, at + across + 1, at + across);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Solids

static void add_box(scene_look *l, tn_vec3 h)
{
  for (int face = 0; face < 6; ++face) {
    float side = face % 2 ? -1.0f : 1.0f;
    float n[3] = {0.0f, 0.0f, 0.0f}, u[3] = {0.0f, 0.0f, 0.0f};
    n[face / 2] = side;
    u[(face / 2 + 1) % 3] = 1.0f;
    tn_vec3 normal = tn_v3(n[0], n[1], n[2]), right = tn_v3(u[0], u[1], u[2]);
    tn_vec3 up = tn_cross(normal, right);
    int first = l->point_count;
    for (int i = 0; i < 4; ++i) {
      float x = i == 1 || i == 2 ? 1.0f : -1.0f, y = i < 2 ? -1.0f : 1.0f;
      tn_vec3 p = tn_add(normal, tn_add(tn_scale(x, right), tn_scale(y, up)));
      add_point(l, tn_v3(p.x * h.x, p.y * h.y, p.z * h.z), normal);
    }
    add_quad(l, first, first + 1, first + 2, first + 3);
  }
}

// A point of the profile of a surface of revolution about y, from the bottom up.
typedef struct outline_point {
  float radius, y, normal_out, normal_up;
} outline_point;

static void add_turned(scene_look *l, const outline_point *outline, int count)
{
  int first = l->point_count;
  for (int i = 0; i < count; ++i) {
    const outline_point *o = &outline[i];
    for (int k = 0; k <= AROUND; ++k) {
      float angle = -2.0f * TN_PI * (float)(k % AROUND) / (float)AROUND;
      float c = tn_cos(angle), s = tn_sin(angle);
      add_point(l, tn_v3(o->radius * c, o->y, o->radius * s),
                tn_v3(o->normal_out * c, o->normal_up, o->normal_out * s));
    }
  }
  join_rows(l, first, count, AROUND + 1);
}

// Two hemispheres, apart by twice `half`.
static void add_capsule(scene_look *l, float radius, float half)
{
  outline_point outline[2 * ARC + 2];
  for (int i = 0; i < 2 * ARC + 2; ++i) {
    bool upper = i > ARC;
    float angle = 0.5f * TN_PI * ((float)(i - upper) / (float)ARC - 1.0f);
    float c = i == 0 || i == 2 * ARC + 1 ? 0.0f : tn_cos(angle), s = tn_sin(angle);
    outline[i] = (outline_point){radius * c, radius * s + (upper ? half : -half), c, s};
  }
  add_turned(l, outline, 2 * ARC + 2);
}

static void add_lid(scene_look *l, float radius, float y, float up)
{
  outline_point center = {0.0f, y, 0.0f, up}, rim = {radius, y, 0.0f, up};
  outline_point outline[2] = {up < 0.0f ? center : rim, up < 0.0f ? rim : center};
  add_turned(l, outline, 2);
}

// A cylinder or cone: the side between two radii, and caps.
static void add_side(scene_look *l, float bottom, float top, float half)
{
  float slant = 1.0f / sqrtf((bottom - top) * (bottom - top) + 4.0f * half * half);
  float out = 2.0f * half * slant, up = (bottom - top) * slant;
  outline_point side[2] = {{bottom, -half, out, up}, {top, half, out, up}};
  add_turned(l, side, 2);
  add_lid(l, bottom, -half, -1.0f);
  if (top > 0.0f) {
    add_lid(l, top, half, 1.0f);
  }
}

// Corners, faces and indices of a hull, in the C library's heap.
typedef struct hull_copy {
  tn_vec3 *vertices;
  tn_hull_face *faces;
  int *indices;
  int face_count;
} hull_copy;

static hull_copy copy_hull(const tn_world *world, tn_geometry_id id)
{
  int vertices = tn_hull_vertices(world, id, NULL, 0),
      indices = tn_hull_indices(world, id, NULL, 0);
  hull_copy hull = {.face_count = tn_hull_faces(world, id, NULL, 0)};
  hull.vertices = malloc((size_t)vertices * sizeof *hull.vertices);
  hull.faces = malloc((size_t)hull.face_count * sizeof *hull.faces);
  hull.indices = malloc((size_t)indices * sizeof *hull.indices);
  if (hull.vertices && hull.faces && hull.indices) {
    tn_hull_vertices(world, id, hull.vertices, vertices);
    tn_hull_faces(world, id, hull.faces, hull.face_count);
    tn_hull_indices(world, id, hull.indices, indices);
  } else {
    hull.face_count = 0;
  }
  return hull;
}

static void add_hull(scene_look *l, const tn_world *world, tn_geometry_id id)
{
  hull_copy hull = copy_hull(world, id);
  l->failed = l->failed || hull.face_count == 0;
  for (int i = 0; i < hull.face_count; ++i) {
    const tn_hull_face *face = &hull.faces[i];
    int first = l->point_count;
    for (int k = 0; k < face->count; ++k) {
      add_point(l, hull.vertices[hull.indices[face->first + k]], face->normal);
      if (k >= 2) {
        add_triangle(l, first, first + k - 1, first + k);
      }
    }
  }
  free(hull.vertices);
  free(hull.faces);
  free(hull.indices);
}

// ---------------------------------------------------------------------------------------------
// Surfaces

static void add_plane(scene_look *l)
{
  tn_vec3 up = {0.0f, 1.0f, 0.0f};
  int first = add_point(l, tn_v3(-PLANE_HALF, 0.0f, -PLANE_HALF), up);
  add_point(l, tn_v3(-PLANE_HALF, 0.0f, PLANE_HALF), up);
  add_point(l, tn_v3(PLANE_HALF, 0.0f, PLANE_HALF), up);
  add_point(l, tn_v3(PLANE_HALF, 0.0f, -PLANE_HALF), up);
  add_quad(l, first, first + 1, first + 2, first + 3);
}

static void add_mesh(scene_look *l, const tn_geometry_source *mesh)
{
  const int *corners = mesh->triangles;
  for (int i = 0; i < mesh->triangle_count; ++i, corners += 3) {
    add_flat_triangle(l, mesh->points[corners[0]], mesh->points[corners[1]],
                      mesh->points[corners[2]]);
  }
}

static tn_vec3 field_point(const tn_geometry_source *field, int row, int column)
{
  return tn_v3(((float)column - 0.5f * (float)(field->columns - 1)) * field->spacing_x,
               field->heights[row * field->columns + column],
               ((float)row - 0.5f * (float)(field->rows - 1)) * field->spacing_z);
}

static void add_field(scene_look *l, const tn_geometry_source *field)
{
  for (int row = 0; row + 1 < field->rows; ++row) {
    for (int column = 0; column + 1 < field->columns; ++column) {
      tn_vec3 a = field_point(field, row, column), b = field_point(field, row, column + 1);
      tn_vec3 c = field_point(field, row + 1, column + 1), d = field_point(field, row + 1, column);
      add_flat_triangle(l, a, c, b);
      add_flat_triangle(l, a, d, c);
    }
  }
}

// A tube with rings transported with minimal rotation. Its direction is that between two points: a
// wire may be given without tangents.
static void add_wire(scene_look *l, const tn_world *world, const tn_shape_def *def,
                     const tn_geometry_source *source)
{
  int cubics = source->wire_point_count - (source->closed ? 0 : 1);
  int rings = PIECES * cubics + 1;
  int first = l->point_count;
  tn_vec3 out = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < rings; ++i) {
    float at = (float)i / (float)PIECES, step = 0.25f / (float)PIECES;
    tn_vec3 center = tn_wire_at(world, def->geometry, at).position;
    tn_vec3 ahead = tn_wire_at(world, def->geometry, fminf(at + step, (float)cubics)).position;
    tn_vec3 behind = tn_wire_at(world, def->geometry, fmaxf(at - step, 0.0f)).position;
    tn_quat turn = tn_quat_x_to(tn_sub(ahead, behind));
    tn_vec3 along = tn_rotate(turn, tn_v3(1.0f, 0.0f, 0.0f));
    out = tn_sub(out, tn_scale(tn_dot(out, along), along));
    float size = tn_length(out);
    out = size > 1e-3f ? tn_scale(1.0f / size, out) : tn_rotate(turn, tn_v3(0.0f, 1.0f, 0.0f));
    tn_vec3 beside = tn_cross(along, out);
    for (int k = 0; k <= TUBE; ++k) {
      float angle = 2.0f * TN_PI * (float)(k % TUBE) / (float)TUBE;
      tn_vec3 normal = tn_add(tn_scale(tn_cos(angle), out), tn_scale(tn_sin(angle), beside));
      add_point(l, tn_add(center, tn_scale(def->radius, normal)), normal);
    }
  }
  join_rows(l, first, rings, TUBE + 1);
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

// Particles and triangles of a soft body, in the C library's heap.
typedef struct soft_copy {
  tn_pos *at;
  int *triangles, *number; // `number`: of each particle among the points, or -1
  int particle_count, triangle_count;
} soft_copy;

static soft_copy copy_soft(const tn_world *world, tn_soft_id id)
{
  soft_copy s = {.particle_count = tn_soft_positions(world, id, NULL, 0),
                 .triangle_count = tn_soft_triangles(world, id, NULL, 0) / 3};
  s.at = malloc((size_t)s.particle_count * sizeof *s.at);
  s.number = malloc((size_t)s.particle_count * sizeof *s.number);
  s.triangles = malloc((3 * (size_t)s.triangle_count + 1) * sizeof *s.triangles);
  if (s.at && s.number && s.triangles) {
    tn_soft_positions(world, id, s.at, s.particle_count);
    tn_soft_triangles(world, id, s.triangles, 3 * s.triangle_count);
  } else {
    s.particle_count = 0;
  }
  return s;
}

static tn_vec3 particle_at(const soft_copy *s, int i)
{
  return tn_between_points(tn_p3(0.0, 0.0, 0.0), s->at[i]);
}

// Only points on the surface.
static void add_skin(scene_look *l, const soft_copy *s)
{
  for (int i = 0; i < s->particle_count; ++i) {
    s->number[i] = -1;
  }
  for (int i = 0; i < s->triangle_count; ++i) {
    int corner[3];
    for (int k = 0; k < 3; ++k) {
      int particle = s->triangles[3 * i + k];
      if (s->number[particle] < 0) {
        s->number[particle] = add_point(l, particle_at(s, particle), tn_v3(0.0f, 0.0f, 0.0f));
      }
      corner[k] = s->number[particle];
    }
    add_triangle(l, corner[0], corner[1], corner[2]);
  }
}

// A ring around each particle, transported with minimal rotation.
static void add_rope(scene_look *l, const soft_copy *s, float radius)
{
  tn_vec3 side = {0.3f, 0.5f, 0.8f};
  int last = s->particle_count - 1;
  for (int i = 0; i <= last; ++i) {
    tn_vec3 along = tn_sub(particle_at(s, i < last ? i + 1 : i), particle_at(s, i > 0 ? i - 1 : i));
    float length = tn_length(along);
    along = length > 0.0f ? tn_scale(1.0f / length, along) : tn_v3(1.0f, 0.0f, 0.0f);
    side = tn_sub(side, tn_scale(tn_dot(side, along), along));
    length = tn_length(side);
    side = length > 1e-3f ? tn_scale(1.0f / length, side)
                          : tn_rotate(tn_quat_x_to(along), tn_v3(0.0f, 1.0f, 0.0f));
    tn_vec3 other = tn_cross(along, side);
    for (int k = 0; k <= TUBE; ++k) {
      float angle = 2.0f * TN_PI * (float)(k % TUBE) / (float)TUBE;
      tn_vec3 out = tn_add(tn_scale(tn_cos(angle), side), tn_scale(tn_sin(angle), other));
      add_point(l, tn_add(particle_at(s, i), tn_scale(radius, out)), out);
    }
  }
  join_rows(l, 0, last + 1, TUBE + 1);
}

void scene_look_shade(scene_look *look)
{
  for (int i = 0; i < look->point_count; ++i) {
    look->normals[i] = tn_v3(0.0f, 0.0f, 0.0f);
  }
  for (int i = 0; i < look->triangle_count; ++i) {
    const int *c = look->triangles + 3 * i;
    tn_vec3 a = look->points[c[0]];
    tn_vec3 across = tn_cross(tn_sub(look->points[c[1]], a), tn_sub(look->points[c[2]], a));
    for (int k = 0; k < 3; ++k) {
      look->normals[c[k]] = tn_add(look->normals[c[k]], across);
    }
  }
  for (int i = 0; i < look->point_count; ++i) {
    float size = tn_length(look->normals[i]);
    look->normals[i] =
        size > 0.0f ? tn_scale(1.0f / size, look->normals[i]) : tn_v3(0.0f, 1.0f, 0.0f);
  }
}

// ---------------------------------------------------------------------------------------------
// All kinds

static void add_shape(scene_look *l, const tn_world *world, const tn_shape_def *g,
                      const tn_geometry_source *source)
{
  switch (g->kind) {
  case TN_SHAPE_SPHERE:
    add_capsule(l, g->radius, 0.0f);
    break;
  case TN_SHAPE_CAPSULE:
    add_capsule(l, g->radius, g->half_length);
    break;
  case TN_SHAPE_BOX:
    add_box(l, g->half_extents);
    break;
  case TN_SHAPE_CYLINDER:
    add_side(l, g->radius, g->radius, g->half_length);
    break;
  case TN_SHAPE_CONE:
    add_side(l, g->radius, 0.0f, g->half_length);
    break;
  case TN_SHAPE_HULL:
    add_hull(l, world, g->geometry);
    break;
  case TN_SHAPE_PLANE:
    add_plane(l);
    break;
  case TN_SHAPE_MESH:
    add_mesh(l, source);
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    add_field(l, source);
    break;
  default:
    add_wire(l, world, g, source);
    break;
  }
}

static bool has_geometry(tn_shape_kind kind)
{
  return kind == TN_SHAPE_HULL || kind == TN_SHAPE_MESH || kind == TN_SHAPE_HEIGHT_FIELD ||
         kind == TN_SHAPE_WIRE;
}

static bool finish(scene_look *look)
{
  if (look->failed) {
    scene_look_free(look);
  }
  return !look->failed;
}

bool scene_look_from_triangles(scene_look *look, const tn_vec3 *points, const int *triangles,
                               int count)
{
  memset(look, 0, sizeof *look);
  for (int i = 0; i < count; ++i, triangles += 3) {
    add_flat_triangle(look, points[triangles[0]], points[triangles[1]], points[triangles[2]]);
  }
  return finish(look);
}

bool scene_look_soft(const tn_world *world, tn_soft_id id, scene_look *look)
{
  memset(look, 0, sizeof *look);
  soft_copy s = copy_soft(world, id);
  look->failed = s.particle_count == 0;
  if (s.particle_count > 0 && s.triangle_count > 0) {
    add_skin(look, &s);
  } else if (s.particle_count > 0) {
    add_rope(look, &s, tn_soft_radius(world, id));
  }
  free(s.at);
  free(s.number);
  free(s.triangles);
  if (!look->failed) {
    scene_look_shade(look);
  }
  return finish(look);
}

bool scene_look_make(const tn_world *world, const tn_shape_def *def, scene_look *look)
{
  memset(look, 0, sizeof *look);
  tn_geometry_source source = {0};
  if (has_geometry(def->kind)) {
    source = TN_IS_NULL(def->geometry) ? source : tn_geometry_get_source(world, def->geometry);
    if (source.kind != def->kind) {
      return false;
    }
  }
  add_shape(look, world, def, &source);
  return finish(look);
}

void scene_look_free(scene_look *look)
{
  free(look->points);
  free(look->normals);
  free(look->triangles);
  memset(look, 0, offsetof(scene_look, failed));
}
