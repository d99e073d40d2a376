// Dispatch of shape pairs to their collision functions; flip and reduction of manifolds.
#include "collide/manifold.h"

#include "collide/collide_tuning.h"
#include "collide/convex_manifold.h"
#include "collide/distance.h"
#include "collide/surface.h"

static bool is_surface(int kind)
{
  return kind == TN_SHAPE_MESH || kind == TN_SHAPE_HEIGHT_FIELD || kind == TN_SHAPE_WIRE;
}

// Spheres are capsules of zero length here.
static bool is_capsule(int kind)
{
  return kind == TN_SHAPE_SPHERE || kind == TN_SHAPE_CAPSULE;
}

// Every field is initialised, so that manifolds can be copied and hashed whole.
static void clear(manifold *m)
{
  *m = (manifold){.count = 0};
}

static bool flipped(bool found, manifold *m, pose a_in_b)
{
  if (found) {
    manifold_flip(m, a_in_b);
  }
  return found;
}

static bool collide_convex_from(const geometry *a, const geometry *b, pose b_in_a, float margin,
                                core_start *start, manifold *out)
{
  clear(out);
  if (a->kind == TN_SHAPE_PLANE) {
    return b->kind != TN_SHAPE_PLANE && collide_plane(b, b_in_a, margin, out);
  }
  if (a->kind == TN_SHAPE_BOX && b->kind == TN_SHAPE_BOX) {
    return collide_boxes(a, b, b_in_a, margin, out);
  }
  if (is_capsule(a->kind) && is_capsule(b->kind)) {
    return collide_capsules(a, b, b_in_a, margin, out);
  }
  if (a->kind == TN_SHAPE_BOX && b->kind == TN_SHAPE_SPHERE) {
    return collide_sphere_box(a, b, b_in_a, margin, out);
  }
  bool backwards = b->kind == TN_SHAPE_PLANE ||
                   (a->kind == TN_SHAPE_SPHERE && b->kind == TN_SHAPE_BOX) ||
                   (b->kind == GEOMETRY_TRIANGLE && a->kind != GEOMETRY_TRIANGLE);
  pose a_in_b = pose_inverse(b_in_a);
  if (backwards) {
    return flipped(collide_convex_from(b, a, a_in_b, margin, start, out), out, a_in_b);
  }
  return collide_convex_generic(a, b, b_in_a, margin, start, out);
}

bool collide_convex(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out)
{
  return collide_convex_from(a, b, b_in_a, margin, NULL, out);
}

static int collide_surface(const geometry *a, const geometry *b, pose b_in_a, float margin,
                           manifold *out, int capacity)
{
  switch (a->kind) {
  case TN_SHAPE_MESH:
    return collide_mesh(a, b, b_in_a, margin, out, capacity);
  case TN_SHAPE_HEIGHT_FIELD:
    return collide_height_field(a, b, b_in_a, margin, out, capacity);
  default:
    return collide_wire(a, b, b_in_a, margin, out, capacity);
  }
}

int collide_from(const geometry *a, const geometry *b, pose b_in_a, float margin, core_start *start,
                 manifold *out, int capacity)
{
  bool is_surface_a = is_surface(a->kind) || a->kind == TN_SHAPE_PLANE;
  bool is_surface_b = is_surface(b->kind) || b->kind == TN_SHAPE_PLANE;
  if (capacity <= 0 || (is_surface_a && is_surface_b)) {
    return 0;
  }
  if (is_surface(a->kind)) {
    return collide_surface(a, b, b_in_a, margin, out, capacity);
  }
  if (is_surface(b->kind)) {
    pose a_in_b = pose_inverse(b_in_a);
    int count = collide_surface(b, a, a_in_b, margin, out, capacity);
    for (int i = 0; i < count; i++) {
      manifold_flip(&out[i], a_in_b);
    }
    return count;
  }
  return collide_convex_from(a, b, b_in_a, margin, start, out) ? 1 : 0;
}

int collide(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
            int capacity)
{
  return collide_from(a, b, b_in_a, margin, NULL, out, capacity);
}

static void swap_vectors(tn_vec3 *a, tn_vec3 *b)
{
  tn_vec3 kept = *a;
  *a = *b;
  *b = kept;
}

void manifold_flip(manifold *m, pose b_in_a)
{
  m->normal = pose_inverse_vector(b_in_a, tn_scale(-1.0f, m->normal));
  float radius = m->radius_a;
  m->radius_a = m->radius_b;
  m->radius_b = radius;
  m->round_side = 1 - m->round_side;
  for (int i = 0; i < m->count; i++) {
    swap_vectors(&m->points[i].a, &m->points[i].b);
  }
  if (m->form == MANIFOLD_ROUND || m->form == MANIFOLD_WIRE) {
    swap_vectors(&m->segment[0][0], &m->segment[1][0]);
    swap_vectors(&m->segment[0][1], &m->segment[1][1]);
  }
}

// ---------------------------------------------------------------------------------------------
// Reduction

static tn_vec3 perpendicular_unit(tn_vec3 n)
{
  tn_vec3 axis =
      fabsf(n.x) < COLLIDE_PERPENDICULAR_X ? tn_v3(1.0f, 0.0f, 0.0f) : tn_v3(0.0f, 1.0f, 0.0f);
  tn_vec3 u = tn_cross(n, axis);
  return tn_scale(1.0f / tn_length(u), u);
}

void manifold_reduce(manifold *m, const manifold_point *points, int count)
{
  clip_vertex flat[MAX_CLIP_VERTICES];
  tn_vec3 u = perpendicular_unit(m->normal), v = tn_cross(m->normal, u);
  count = count < MAX_CLIP_VERTICES ? count : MAX_CLIP_VERTICES;
  for (int i = 0; i < count; i++) {
    flat[i] = (clip_vertex){
        .u = tn_dot(u, points[i].a), .v = tn_dot(v, points[i].a), .height = points[i].gap};
  }
  int chosen[MAX_MANIFOLD_POINTS];
  m->count = select_contact_points(flat, count, COLLIDE_NEAR_POINTS, chosen);
  manifold_point kept[MAX_MANIFOLD_POINTS];
  for (int i = 0; i < m->count; i++) {
    kept[i] = points[chosen[i]];
  }
  for (int i = 0; i < m->count; i++) {
    m->points[i] = kept[i];
  }
}

// ---------------------------------------------------------------------------------------------
// Overlap

static bool overlaps_plane(const geometry *b, pose b_in_a)
{
  tn_vec3 down = pose_inverse_vector(b_in_a, tn_v3(0.0f, -1.0f, 0.0f));
  return pose_point(b_in_a, convex_support(b, down)).y <= 0.0f;
}

bool geometry_overlap(const geometry *a, const geometry *b, pose b_in_a)
{
  bool is_surface_a = is_surface(a->kind) || a->kind == TN_SHAPE_PLANE;
  bool is_surface_b = is_surface(b->kind) || b->kind == TN_SHAPE_PLANE;
  if (is_surface_a && is_surface_b) {
    return false;
  }
  if (is_surface_b) {
    return geometry_overlap(b, a, pose_inverse(b_in_a));
  }
  switch (a->kind) {
  case TN_SHAPE_PLANE:
    return overlaps_plane(b, b_in_a);
  case TN_SHAPE_MESH:
    return mesh_overlaps(a->mesh, b, b_in_a);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_overlaps(a->field, b, b_in_a);
  case TN_SHAPE_WIRE:
    return wire_overlaps(a->wire, a->radius, b, b_in_a);
  default: {
    core_pair pair = core_pair_make(a, b, b_in_a);
    core_gap gap;
    return core_distance(&pair, (double)(core_radius(a) + core_radius(b)), NULL, &gap);
  }
  }
}
