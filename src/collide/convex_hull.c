// Convex hull shapes: quickhull, simplification to a maximum number of vertices, and packing into
// one block. A simplified hull uses a subset of the vertices and lies inside the exact one.
#include "collide/collide_tuning.h"
#include "collide/quickhull.h"
#include "collide/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HULL_DEFAULT_VERTICES = 64, HULL_MIN_VERTICES = 4, HULL_MAX_VERTICES = 255 };

static d3 vec3_to_d3(tn_vec3 v)
{
  return (d3){(double)v.x, (double)v.y, (double)v.z};
}

static tn_vec3 d3_to_vec3(d3 v)
{
  return tn_v3((float)v.x, (float)v.y, (float)v.z);
}

static double extent_of(const tn_vec3 *points, int count)
{
  tn_vec3 lo = points[0], hi = points[0];
  for (int i = 1; i < count; i++) {
    lo = tn_v3(fminf(lo.x, points[i].x), fminf(lo.y, points[i].y), fminf(lo.z, points[i].z));
    hi = tn_v3(fmaxf(hi.x, points[i].x), fmaxf(hi.y, points[i].y), fmaxf(hi.z, points[i].z));
  }
  tn_vec3 d = tn_sub(hi, lo);
  return (double)fmaxf(d.x, fmaxf(d.y, d.z));
}

// ---------------------------------------------------------------------------------------------
// Simplification

typedef struct vertex_selection {
  const hull *whole;
  tn_vec3 *points; // selected so far
  bool *taken;     // by vertex of `whole`
  int count, limit;
} vertex_selection;

static void take_vertex(vertex_selection *c, int vertex)
{
  c->taken[vertex] = true;
  c->points[c->count++] = d3_to_vec3(c->whole->vertices[vertex]);
}

// A measure that grows with the distance of p from what the first `count` corners span: a point,
// line or plane. Squared, and scaled by their squared length or area.
static double distance_from(const d3 *corner, int count, d3 p)
{
  d3 d = d3_sub(p, corner[0]), along = d3_sub(corner[1], corner[0]);
  if (count == 1) {
    return d3_dot(d, d);
  }
  d3 normal = d3_cross(along, count == 2 ? d : d3_sub(corner[2], corner[0]));
  double height = d3_dot(normal, d);
  return count == 2 ? d3_dot(normal, normal) : height * height;
}

// Starts with a large tetrahedron: each vertex is the furthest from those before.
static void take_tetrahedron(vertex_selection *c)
{
  d3 corner[4] = {c->whole->vertices[0]};
  take_vertex(c, 0);
  for (int n = 1; n < 4; n++) {
    int best = 0;
    double best_distance = -1.0;
    for (int i = 0; i < c->whole->vertex_count; i++) {
      double distance = distance_from(corner, n, c->whole->vertices[i]);
      if (!c->taken[i] && distance > best_distance) {
        best = i;
        best_distance = distance;
      }
    }
    corner[n] = c->whole->vertices[best];
    take_vertex(c, best);
  }
}

// A vertex of the exact hull outside of the simplified one.
typedef struct outlier {
  double height; // m, above a face of the simplified hull
  int vertex;
} outlier;

static outlier farthest_above_face(const vertex_selection *c, const hull_face *face)
{
  outlier best = {0.0, -1};
  for (int i = 0; i < c->whole->vertex_count; i++) {
    double height = d3_dot(face->normal, c->whole->vertices[i]) - face->offset;
    if (!c->taken[i] && height > best.height) {
      best = (outlier){height, i};
    }
  }
  return best;
}

static int higher_first(const void *a, const void *b)
{
  const outlier *p = a, *q = b;
  if (p->height != q->height) {
    return p->height > q->height ? -1 : 1;
  }
  return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// Adds the vertices with the largest heights, a quarter of the current number at a time. False when
// none is left or the limit is reached.
static bool take_outliers(vertex_selection *c, const hull *inner)
{
  outlier outliers[2 * HULL_MAX_VERTICES] = {{0.0, 0}};
  int count = 0, room = c->limit - c->count, at_once = 1 + c->count / 4;
  for (int i = 0; i < inner->face_count && count < 2 * HULL_MAX_VERTICES; i++) {
    outlier p = farthest_above_face(c, &inner->faces[i]);
    if (p.vertex >= 0) {
      outliers[count++] = p;
    }
  }
  qsort(outliers, (size_t)count, sizeof *outliers, higher_first);
  int taken = 0;
  for (int i = 0; i < count && taken < room && taken < at_once; i++) {
    if (c->taken[outliers[i].vertex]) {
      continue;
    }
    take_vertex(c, outliers[i].vertex);
    taken++;
  }
  return taken > 0 && c->count < c->limit;
}

static bool choose_vertices(vertex_selection *c, char *message, size_t message_size)
{
  take_tetrahedron(c);
  for (bool more = c->count < c->limit; more;) {
    hull inner;
    if (!hull_build(c->points, c->count, 0.0, &inner, message, message_size)) {
      return false;
    }
    more = take_outliers(c, &inner);
    hull_free(&inner);
  }
  return true;
}

// Replaces the hull by that of at most `limit` of its vertices.
static bool simplify(hull *h, int limit, double tolerance, char *message, size_t message_size)
{
  vertex_selection c = {.whole = h,
                        .points = calloc((size_t)limit, sizeof *c.points),
                        .taken = calloc((size_t)h->vertex_count, sizeof *c.taken),
                        .limit = limit};
  hull fewer = {0};
  bool done = false;
  if (!c.points || !c.taken) {
    snprintf(message, message_size, HULL_NO_MEMORY);
  } else {
    done = choose_vertices(&c, message, message_size) &&
           hull_build(c.points, c.count, tolerance, &fewer, message, message_size);
  }
  free(c.points);
  free(c.taken);
  hull_free(h);
  *h = fewer;
  return done;
}

// ---------------------------------------------------------------------------------------------
// Packing

static size_t head_size(void)
{
  return (sizeof(convex_hull) + 15) / 16 * 16;
}

static size_t block_size(int vertices, int edges, int faces)
{
  return head_size() + vector_rows_size(vertices) + vector_rows_size(faces) +
         (size_t)vertices * (sizeof(tn_vec3) + sizeof(uint16_t)) +
         (size_t)faces * sizeof(convex_hull_face) + (size_t)edges * sizeof(convex_hull_edge);
}

static void fill_faces(convex_hull *c, const hull *h)
{
  for (int i = 0; i < h->face_count; i++) {
    const hull_face *face = &h->faces[i];
    c->faces[i] = (convex_hull_face){.normal = d3_to_vec3(face->normal),
                                     .offset = (float)face->offset,
                                     .first_edge = (uint16_t)face->first_edge,
                                     .edge_count = (uint16_t)face->edge_count};
    for (int k = 0; k < face->edge_count; k++) {
      int edge = face->first_edge + k;
      int next = k + 1 < face->edge_count ? edge + 1 : face->first_edge;
      c->edges[edge] = (convex_hull_edge){.origin = (uint16_t)h->edges[edge].origin,
                                          .twin = (uint16_t)h->edges[edge].twin,
                                          .face = (uint16_t)i,
                                          .next = (uint16_t)next};
    }
  }
}

// Centre of mass, from the tetrahedra of one vertex and the triangulated faces.
static d3 center_of_hull(const hull *h)
{
  d3 origin = h->vertices[0], sum = {0.0, 0.0, 0.0};
  double volume = 0.0;
  for (int i = 0; i < h->face_count; i++) {
    const hull_edge *loop = h->edges + h->faces[i].first_edge;
    d3 a = d3_sub(h->vertices[loop[0].origin], origin);
    for (int k = 2; k < h->faces[i].edge_count; k++) {
      d3 b = d3_sub(h->vertices[loop[k - 1].origin], origin);
      d3 c = d3_sub(h->vertices[loop[k].origin], origin);
      double v = d3_dot(a, d3_cross(b, c));
      sum = d3_add(sum, d3_scale(0.25 * v, d3_add(a, d3_add(b, c))));
      volume += v;
    }
  }
  return d3_add(origin, d3_scale(1.0 / volume, sum));
}

// Rounded down by 1e-4, so that the ball is inside despite rounding.
static float inner_radius_of(const convex_hull *c)
{
  double least = (double)INFINITY;
  for (int i = 0; i < c->face_count; i++) {
    double height =
        (double)c->faces[i].offset - d3_dot(vec3_to_d3(c->faces[i].normal), vec3_to_d3(c->center));
    least = fmin(least, height);
  }
  return least > 0.0 ? (float)(COLLIDE_HULL_INNER_RADIUS * least) : 0.0f;
}

static convex_hull *pack(const hull *h, collide_allocator memory)
{
  size_t size = block_size(h->vertex_count, h->edge_count, h->face_count);
  convex_hull *c = memory.alloc(memory.context, size);
  if (!c) {
    return NULL;
  }
  c->vertex_count = h->vertex_count;
  c->edge_count = h->edge_count;
  c->face_count = h->face_count;
  char *rows = (char *)c + head_size();
  char *normals = rows + vector_rows_size(c->vertex_count);
  c->vertices = (tn_vec3 *)(normals + vector_rows_size(c->face_count));
  c->faces = (convex_hull_face *)(c->vertices + c->vertex_count);
  c->edges = (convex_hull_edge *)(c->faces + c->face_count);
  c->first_edge = (uint16_t *)(c->edges + c->edge_count);
  for (int i = 0; i < h->vertex_count; i++) {
    c->vertices[i] = d3_to_vec3(h->vertices[i]);
  }
  fill_faces(c, h);
  for (int i = c->edge_count - 1; i >= 0; i--) {
    c->first_edge[c->edges[i].origin] = (uint16_t)i;
  }
  c->vertex_rows = vector_rows_make(rows, c->vertices, sizeof *c->vertices, c->vertex_count);
  c->normal_rows = vector_rows_make(normals, &c->faces[0].normal, sizeof *c->faces, c->face_count);
  c->center = d3_to_vec3(center_of_hull(h));
  c->inner_radius = inner_radius_of(c);
  return c;
}

// False when out of memory.
static bool measure_volume(convex_hull *c, char *message, size_t message_size)
{
  return hull_volume(c->vertices, c->vertex_count, &c->volume, message, message_size) ||
         strcmp(message, HULL_NO_MEMORY) != 0;
}

convex_hull *convex_hull_create(const tn_vec3 *points, int count, int max_vertices,
                                collide_allocator memory, char *message, size_t message_size)
{
  int limit = max_vertices == 0 ? HULL_DEFAULT_VERTICES : max_vertices;
  if (limit < HULL_MIN_VERTICES || limit > HULL_MAX_VERTICES) {
    snprintf(message, message_size, "max_vertices is %d, which must be 0 or between %d and %d",
             max_vertices, HULL_MIN_VERTICES, HULL_MAX_VERTICES);
    return NULL;
  }
  hull h;
  double tolerance = 0.0;
  if (points && count > 0) {
    tolerance =
        fmax(hull_rounding_error(points, count), COLLIDE_HULL_FLATNESS * extent_of(points, count));
  }
  if (!hull_build(points, count, tolerance, &h, message, message_size)) {
    return NULL;
  }
  if (h.vertex_count > limit && !simplify(&h, limit, tolerance, message, message_size)) {
    return NULL;
  }
  convex_hull *c = pack(&h, memory);
  hull_free(&h);
  if (c && !measure_volume(c, message, message_size)) {
    convex_hull_destroy(c, memory);
    c = NULL;
  }
  if (!c) {
    snprintf(message, message_size, HULL_NO_MEMORY);
  }
  return c;
}

void convex_hull_destroy(convex_hull *c, collide_allocator memory)
{
  if (c) {
    memory.release(memory.context, c, block_size(c->vertex_count, c->edge_count, c->face_count));
  }
}
