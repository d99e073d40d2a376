// Triangle meshes: vertex welding, edge adjacency, a BVH over the triangles, and the queries on it.
#include "collide/bvh.h"
#include "collide/collide_tuning.h"
#include "collide/core.h"
#include "collide/surface.h"
#include "collide/surface_contacts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mesh_triangle {
  int corner[3];  // vertex indices, counter-clockwise seen from outside
  int across[3];  // triangle across the edge from corner i to i + 1, or NO_FACET
  tn_vec3 normal; // unit
  float bend;     // of facet
} mesh_triangle;

struct mesh {
  size_t size; // of the memory block, bytes
  int vertex_count, triangle_count;
  tn_vec3 *vertices;
  mesh_triangle *triangles;
  bvh_node *nodes;
};

// ---------------------------------------------------------------------------------------------
// Construction

typedef struct indexed_vertex {
  tn_vec3 p;
  int index;
} indexed_vertex;

typedef struct indexed_triangle {
  int corner[3]; // ascending, to find duplicates
  int index;
} indexed_triangle;

typedef struct indexed_edge {
  int low, high; // welded indices of its ends
  int slot;      // 3 * triangle + edge
} indexed_edge;

// A cone around the normals of the triangles at a vertex.
typedef struct vertex_cone {
  tn_vec3 axis; // unit, once all normals are added
  float cosine; // of its opening; -1 at the boundary of the surface
} vertex_cone;

// Scratch memory for the construction of one mesh.
typedef struct mesh_builder {
  const tn_vec3 *vertices;
  const int *indices;
  int vertex_count, triangle_count;
  int welded_count, kept_count;
  indexed_vertex *points;
  int *welded_index;                    // by vertex: index of its position after welding
  indexed_triangle *unsorted, *triples; // the latter sorted, to find duplicates
  int *bucket_ends;                     // by vertex, while triangles or edges are sorted
  bool *keep;
  indexed_edge *edges;
  aabb *boxes;
  int *order;
  vertex_cone *cones; // by welded index
} mesh_builder;

static int compare_floats(float a, float b)
{
  return (a > b) - (a < b);
}

static int compare_ints(int a, int b)
{
  return (a > b) - (a < b);
}

// All comparisons end with the index, so that the order does not depend on the implementation of
// qsort.
static int compare_points(const void *a, const void *b)
{
  const indexed_vertex *p = a, *q = b;
  int order = compare_floats(p->p.x, q->p.x);
  order = order ? order : compare_floats(p->p.y, q->p.y);
  order = order ? order : compare_floats(p->p.z, q->p.z);
  return order ? order : compare_ints(p->index, q->index);
}

static int compare_triples(const void *a, const void *b)
{
  const indexed_triangle *p = a, *q = b;
  for (int i = 0; i < 3; i++) {
    if (p->corner[i] != q->corner[i]) {
      return compare_ints(p->corner[i], q->corner[i]);
    }
  }
  return compare_ints(p->index, q->index);
}

static int compare_edges(const void *a, const void *b)
{
  const indexed_edge *p = a, *q = b;
  int order = compare_ints(p->low, q->low);
  order = order ? order : compare_ints(p->high, q->high);
  return order ? order : compare_ints(p->slot, q->slot);
}

#define MAX_ITEM_SIZE 16 // bytes

// Insertion sort of a few items; qsort of more.
static void sort_items(char *items, int count, size_t size,
                       int (*compare)(const void *a, const void *b))
{
  if (count > 16) {
    qsort(items, (size_t)count, size, compare);
    return;
  }
  for (int i = 1; i < count; i++) {
    int item[MAX_ITEM_SIZE / sizeof(int)];
    char *at = items + (size_t)i * size;
    memcpy(item, at, size);
    for (; at > items && compare(at - size, item) > 0; at -= size) {
      memcpy(at, at - size, size);
    }
    memcpy(at, item, size);
  }
}

static bool check_input(const mesh_builder *k, char *message, size_t size)
{
  if (!k->vertices || !k->indices || k->vertex_count < 3 || k->triangle_count < 1) {
    snprintf(message, size, "a mesh needs at least three vertices and a triangle");
    return false;
  }
  if (k->triangle_count > INT_MAX / 16 || k->vertex_count > INT_MAX / 16) {
    snprintf(message, size, "a mesh of %d vertices and %d triangles is too large", k->vertex_count,
             k->triangle_count);
    return false;
  }
  for (int i = 0; i < k->vertex_count; i++) {
    tn_vec3 p = k->vertices[i];
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
      snprintf(message, size, "vertex %d of a mesh is not finite", i);
      return false;
    }
  }
  for (int i = 0; i < 3 * k->triangle_count; i++) {
    if (k->indices[i] < 0 || k->indices[i] >= k->vertex_count) {
      snprintf(message, size, "triangle %d of a mesh names vertex %d of %d", i / 3, k->indices[i],
               k->vertex_count);
      return false;
    }
  }
  return true;
}

// Vertices at exactly the same position get the same index.
static void weld_vertices(mesh_builder *k)
{
  for (int i = 0; i < k->vertex_count; i++) {
    k->points[i] = (indexed_vertex){k->vertices[i], i};
  }
  qsort(k->points, (size_t)k->vertex_count, sizeof *k->points, compare_points);
  k->welded_count = 0;
  for (int i = 0; i < k->vertex_count; i++) {
    tn_vec3 p = k->points[i].p, last = k->points[i > 0 ? i - 1 : 0].p;
    if (i > 0 && (p.x != last.x || p.y != last.y || p.z != last.z)) {
      k->welded_count += 1;
    }
    k->welded_index[k->points[i].index] = k->welded_count;
  }
  k->welded_count += 1;
}

// Whether a triangle is too thin for its normal to be meaningful in float: twice the area at most
// 1e-6 of the longest edge squared.
static bool is_degenerate(const tn_vec3 corner[3])
{
  d3 a = d3_from_vec3(corner[0]), b = d3_from_vec3(corner[1]), c = d3_from_vec3(corner[2]);
  d3 ab = d3_sub(b, a), bc = d3_sub(c, b), ca = d3_sub(a, c);
  d3 area = d3_cross(ab, bc);
  double longest2 = fmax(d3_dot(ab, ab), fmax(d3_dot(bc, bc), d3_dot(ca, ca)));
  return !(d3_dot(area, area) > COLLIDE_DEGENERATE_TRIANGLE * longest2 * longest2);
}

static void sort_three(int corner[3])
{
  for (int i = 0; i < 3; i++) {
    int k = i == 1 ? 1 : 0; // exchanges 0-1, 1-2, 0-1
    if (corner[k] > corner[k + 1]) {
      int t = corner[k];
      corner[k] = corner[k + 1];
      corner[k + 1] = t;
    }
  }
}

// Sorting by the lowest vertex first: items are counted by it, placed in buckets, and each bucket,
// of a few items, is sorted. bucket_ends[v] is the beginning of bucket v while it is filled, and
// its end afterwards.
static void begin_buckets(const mesh_builder *k)
{
  memset(k->bucket_ends, 0, (size_t)(k->welded_count + 1) * sizeof *k->bucket_ends);
}

static void sum_buckets(const mesh_builder *k)
{
  for (int i = 0; i < k->welded_count; i++) {
    k->bucket_ends[i + 1] += k->bucket_ends[i];
  }
}

static void sort_buckets(const mesh_builder *k, void *items, size_t size,
                         int (*compare)(const void *a, const void *b))
{
  int first = 0;
  for (int i = 0; i < k->welded_count; i++) {
    int end = k->bucket_ends[i];
    if (end - first > 1) {
      sort_items((char *)items + (size_t)first * size, end - first, size, compare);
    }
    first = end;
  }
}

static void sort_triples(const mesh_builder *k, int count)
{
  begin_buckets(k);
  for (int i = 0; i < count; i++) {
    k->bucket_ends[k->unsorted[i].corner[0] + 1] += 1;
  }
  sum_buckets(k);
  for (int i = 0; i < count; i++) {
    k->triples[k->bucket_ends[k->unsorted[i].corner[0]]++] = k->unsorted[i];
  }
  sort_buckets(k, k->triples, sizeof *k->triples, compare_triples);
}

// Drops degenerate triangles, and all but the first of those with the same corners.
static void drop_degenerate_triangles(mesh_builder *k)
{
  int count = 0;
  for (int i = 0; i < k->triangle_count; i++) {
    const int *index = &k->indices[3 * i];
    tn_vec3 corner[3] = {k->vertices[index[0]], k->vertices[index[1]], k->vertices[index[2]]};
    k->keep[i] = !is_degenerate(corner);
    if (!k->keep[i]) {
      continue;
    }
    indexed_triangle t = {
        {k->welded_index[index[0]], k->welded_index[index[1]], k->welded_index[index[2]]}, i};
    sort_three(t.corner);
    k->unsorted[count++] = t;
  }
  sort_triples(k, count);
  k->kept_count = count;
  for (int i = 1; i < count; i++) {
    if (memcmp(k->triples[i].corner, k->triples[i - 1].corner, sizeof k->triples[i].corner) == 0) {
      k->keep[k->triples[i].index] = false;
      k->kept_count -= 1;
    }
  }
}

static void fill_triangles(const mesh_builder *k, mesh *m)
{
  for (int i = 0; i < k->vertex_count; i++) {
    m->vertices[k->welded_index[k->points[i].index]] = k->points[i].p;
  }
  int count = 0;
  for (int i = 0; i < k->triangle_count; i++) {
    if (!k->keep[i]) {
      continue;
    }
    mesh_triangle *t = &m->triangles[count];
    tn_vec3 corner[3];
    for (int e = 0; e < 3; e++) {
      t->corner[e] = k->welded_index[k->indices[3 * i + e]];
      t->across[e] = NO_FACET;
      corner[e] = m->vertices[t->corner[e]];
    }
    t->normal = triangle_normal(corner);
    k->boxes[count] =
        aabb_union(aabb_from_points(corner[0], corner[1]), aabb_from_points(corner[2], corner[2]));
    count += 1;
  }
}

static indexed_edge edge_at(const mesh *m, int slot)
{
  const mesh_triangle *t = &m->triangles[slot / 3];
  int a = t->corner[slot % 3], b = t->corner[(slot % 3 + 1) % 3];
  return (indexed_edge){a < b ? a : b, a < b ? b : a, slot};
}

// Links the triangles around each edge into a ring by `across`. Usually there are two; a
// non-manifold edge has more.
static void find_adjacency(const mesh_builder *k, mesh *m)
{
  int count = 3 * m->triangle_count;
  begin_buckets(k);
  for (int slot = 0; slot < count; slot++) {
    k->bucket_ends[edge_at(m, slot).low + 1] += 1;
  }
  sum_buckets(k);
  for (int slot = 0; slot < count; slot++) {
    indexed_edge edge = edge_at(m, slot);
    k->edges[k->bucket_ends[edge.low]++] = edge;
  }
  sort_buckets(k, k->edges, sizeof *k->edges, compare_edges);
  for (int first = 0, end; first < count; first = end) {
    end = first + 1;
    while (end < count && k->edges[end].low == k->edges[first].low &&
           k->edges[end].high == k->edges[first].high) {
      end += 1;
    }
    for (int i = first; i < end && end - first > 1; i++) {
      int slot = k->edges[i].slot, next = k->edges[i + 1 < end ? i + 1 : first].slot;
      m->triangles[slot / 3].across[slot % 3] = next / 3;
    }
  }
}

static void find_cones(const mesh_builder *k, const mesh *m)
{
  for (int i = 0; i < m->vertex_count; i++) {
    k->cones[i] = (vertex_cone){{0.0f, 0.0f, 0.0f}, 1.0f};
  }
  for (int i = 0; i < 3 * m->triangle_count; i++) {
    const mesh_triangle *t = &m->triangles[i / 3];
    vertex_cone *cone = &k->cones[t->corner[i % 3]];
    cone->axis = tn_add(cone->axis, t->normal);
    if (t->across[i % 3] == NO_FACET) {
      cone->cosine = k->cones[t->corner[(i + 1) % 3]].cosine = -1.0f;
    }
  }
  for (int i = 0; i < m->vertex_count; i++) {
    float length = tn_length(k->cones[i].axis);
    k->cones[i].axis = tn_scale(length > 0.0f ? 1.0f / length : 0.0f, k->cones[i].axis);
  }
  for (int i = 0; i < 3 * m->triangle_count; i++) {
    const mesh_triangle *t = &m->triangles[i / 3];
    vertex_cone *cone = &k->cones[t->corner[i % 3]];
    cone->cosine = fminf(cone->cosine, tn_dot(cone->axis, t->normal));
  }
}

// Bends of the triangles: angles to the axis of a corner and from there to the other triangles.
static void find_bends(const mesh_builder *k, mesh *m)
{
  find_cones(k, m);
  for (int i = 0; i < m->triangle_count; i++) {
    mesh_triangle *t = &m->triangles[i];
    t->bend = COLLIDE_LEAST_BEND;
    for (int e = 0; e < 3; e++) {
      const vertex_cone *cone = &k->cones[t->corner[e]];
      float a = fminf(tn_dot(cone->axis, t->normal), 1.0f), b = fminf(cone->cosine, 1.0f);
      float sine_a = sqrtf(1.0f - a * a), sine_b = sqrtf(1.0f - b * b);
      float cosine = a * b - sine_a * sine_b, tangent = (sine_a * b + a * sine_b) / cosine;
      bool bounded =
          a > COLLIDE_BEND_COSINE && b > COLLIDE_BEND_COSINE && cosine > COLLIDE_BEND_COSINE;
      float bend = tangent + COLLIDE_BEND_MARGIN * (1.0f + tangent * tangent);
      t->bend = fmaxf(t->bend, bounded ? bend : INFINITY);
    }
  }
}

// Reserves `count` items in a block of size `offset`, aligned to 16 bytes. Returns where they
// start.
static size_t reserve(size_t *offset, int count, size_t size)
{
  size_t at = (*offset + 15) / 16 * 16;
  *offset = at + (size_t)count * size;
  return at;
}

static mesh *assemble(mesh_builder *k, collide_allocator memory)
{
  size_t size = sizeof(mesh);
  size_t vertices = reserve(&size, k->welded_count, sizeof(tn_vec3));
  size_t triangles = reserve(&size, k->kept_count, sizeof(mesh_triangle));
  size_t nodes = reserve(&size, bvh_node_count(k->kept_count), sizeof(bvh_node));
  char *block = memory.alloc(memory.context, size);
  if (!block) {
    return NULL;
  }
  mesh *m = (mesh *)block;
  m->size = size;
  m->vertex_count = k->welded_count;
  m->triangle_count = k->kept_count;
  m->vertices = (tn_vec3 *)(block + vertices);
  m->triangles = (mesh_triangle *)(block + triangles);
  m->nodes = (bvh_node *)(block + nodes);
  fill_triangles(k, m);
  find_adjacency(k, m);
  find_bends(k, m);
  bvh_build(m->nodes, k->boxes, k->order, m->triangle_count);
  return m;
}

static char *take_scratch(mesh_builder *k, collide_allocator memory, size_t *size)
{
  *size = 0;
  size_t points = reserve(size, k->vertex_count, sizeof *k->points);
  size_t welded_index = reserve(size, k->vertex_count, sizeof *k->welded_index);
  size_t triples = reserve(size, k->triangle_count, sizeof *k->triples);
  size_t unsorted = reserve(size, k->triangle_count, sizeof *k->unsorted);
  size_t bucket_ends = reserve(size, k->vertex_count + 1, sizeof *k->bucket_ends);
  size_t keep = reserve(size, k->triangle_count, sizeof *k->keep);
  size_t edges = reserve(size, 3 * k->triangle_count, sizeof *k->edges);
  size_t boxes = reserve(size, k->triangle_count, sizeof *k->boxes);
  size_t order = reserve(size, k->triangle_count, sizeof *k->order);
  size_t cones = reserve(size, k->vertex_count, sizeof *k->cones);
  char *block = memory.alloc(memory.context, *size);
  if (!block) {
    return NULL;
  }
  k->points = (indexed_vertex *)(block + points);
  k->welded_index = (int *)(block + welded_index);
  k->triples = (indexed_triangle *)(block + triples);
  k->unsorted = (indexed_triangle *)(block + unsorted);
  k->bucket_ends = (int *)(block + bucket_ends);
  k->keep = (bool *)(block + keep);
  k->edges = (indexed_edge *)(block + edges);
  k->boxes = (aabb *)(block + boxes);
  k->order = (int *)(block + order);
  k->cones = (vertex_cone *)(block + cones);
  return block;
}

mesh *mesh_create(const tn_vec3 *vertices, int vertex_count, const int *triangles,
                  int triangle_count, collide_allocator memory, char *message, size_t message_size)
{
  mesh_builder k = {.vertices = vertices,
                    .indices = triangles,
                    .vertex_count = vertex_count,
                    .triangle_count = triangle_count};
  if (!check_input(&k, message, message_size)) {
    return NULL;
  }
  size_t scratch_size;
  char *scratch = take_scratch(&k, memory, &scratch_size);
  if (!scratch) {
    snprintf(message, message_size, "no memory for a mesh");
    return NULL;
  }
  weld_vertices(&k);
  drop_degenerate_triangles(&k);
  mesh *m = NULL;
  if (k.kept_count == 0) {
    snprintf(message, message_size, "no triangle of a mesh has an area");
  } else {
    m = assemble(&k, memory);
    if (!m) {
      snprintf(message, message_size, "no memory for a mesh");
    }
  }
  memory.release(memory.context, scratch, scratch_size);
  return m;
}

void mesh_destroy(mesh *m, collide_allocator memory)
{
  if (m) {
    memory.release(memory.context, m, m->size);
  }
}

// ---------------------------------------------------------------------------------------------
// Queries

static facet mesh_facet(const void *surface, int index)
{
  const mesh *m = surface;
  const mesh_triangle *t = &m->triangles[index];
  facet f = {.normal = t->normal, .bend = t->bend};
  for (int i = 0; i < 3; i++) {
    f.corner[i] = m->vertices[t->corner[i]];
    f.across[i] = t->across[i];
  }
  return f;
}

aabb mesh_aabb(const mesh *m)
{
  return m->nodes[0].box;
}

bool mesh_ray(const mesh *m, tn_vec3 from, tn_vec3 displacement, float max_fraction, ray_hit *hit)
{
  bvh_iterator walk = bvh_sweep(m->nodes, aabb_from_points(from, from), displacement, max_fraction);
  bool found = false;
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    facet f = mesh_facet(m, i);
    float fraction;
    if (!triangle_ray(f.corner, from, displacement, walk.limit, &fraction)) {
      continue;
    }
    walk.limit = fraction;
    hit->fraction = fraction;
    hit->normal = tn_scale(tn_dot(f.normal, displacement) > 0.0f ? -1.0f : 1.0f, f.normal);
    found = true;
  }
  return found;
}

bool mesh_cast(const mesh *m, const geometry *b, pose b_in_a, tn_vec3 displacement,
               float target_distance, float max_fraction, cast_hit *hit)
{
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), target_distance);
  bvh_iterator walk = bvh_sweep(m->nodes, box, displacement, max_fraction);
  bool found = false;
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    geometry g = triangle_geometry(mesh_facet(m, i).corner);
    cast_hit h;
    if (!geometry_cast(&g, b, b_in_a, displacement, target_distance, walk.limit, &h)) {
      continue;
    }
    walk.limit = h.fraction;
    *hit = h;
    found = true;
  }
  return found;
}

void mesh_sweep_facets(const mesh *m, aabb box, tn_vec3 displacement, facet_visit_fn *visit,
                       void *context)
{
  bvh_iterator walk = bvh_sweep(m->nodes, box, displacement, 1.0f);
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    visit(mesh_facet(m, i).corner, context);
  }
}

bool mesh_closest(const mesh *m, tn_vec3 p, float max_distance, closest *out)
{
  bvh_iterator walk = bvh_nearest(m->nodes, p, max_distance);
  bool found = false;
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    facet f = mesh_facet(m, i);
    tn_vec3 q = triangle_closest(f.corner, f.normal, p), d = tn_sub(p, q);
    float distance2 = tn_dot(d, d);
    if (distance2 > walk.limit || (found && distance2 == walk.limit)) {
      continue;
    }
    walk.limit = distance2;
    out->distance = sqrtf(distance2);
    out->point = q;
    out->normal = out->distance > 0.0f ? tn_scale(1.0f / out->distance, d) : f.normal;
    found = true;
  }
  return found;
}

bool mesh_overlaps(const mesh *m, const geometry *b, pose b_in_a)
{
  bvh_iterator walk = bvh_sweep(m->nodes, geometry_aabb(b, b_in_a), tn_v3(0.0f, 0.0f, 0.0f), 0.0f);
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    geometry g = triangle_geometry(mesh_facet(m, i).corner);
    if (convex_distance(&g, b, b_in_a).distance <= 0.0f) {
      return true;
    }
  }
  return false;
}

bool mesh_nearest(const mesh *m, const geometry *b, pose b_in_a, float max_distance,
                  separation *out)
{
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), max_distance);
  bvh_iterator walk = bvh_sweep(m->nodes, box, tn_v3(0.0f, 0.0f, 0.0f), 0.0f);
  bool found = false;
  out->distance = max_distance;
  for (int i; (i = bvh_next(&walk)) >= 0;) {
    found = triangle_update_nearest(mesh_facet(m, i).corner, b, b_in_a, out) || found;
  }
  return found;
}

static void walk_facets(const void *surface, aabb box, facet_index_fn *visit, void *context)
{
  bvh_overlaps(((const mesh *)surface)->nodes, box, visit, context);
}

int collide_mesh(const geometry *a, const geometry *b, pose b_in_a, float margin, manifold *out,
                 int capacity)
{
  surface_contacts contacts;
  triangle_source source = {a->mesh, mesh_facet, walk_facets, false};
  surface_contacts_find(&contacts, source, b, b_in_a, margin);
  return surface_contacts_finish(&contacts, out, capacity);
}

// Of the two triangles at an edge, the one with the lower index draws it.
void mesh_edges(const mesh *m, void (*line)(tn_vec3 a, tn_vec3 b, void *context), void *context)
{
  for (int i = 0; i < m->triangle_count; i++) {
    const mesh_triangle *t = &m->triangles[i];
    for (int e = 0; e < 3; e++) {
      if (t->across[e] == NO_FACET || t->across[e] > i) {
        line(m->vertices[t->corner[e]], m->vertices[t->corner[(e + 1) % 3]], context);
      }
    }
  }
}
