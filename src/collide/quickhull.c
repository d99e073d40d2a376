// Quickhull on an integer grid; coplanar triangles are then merged into polygons.
//
// Points are snapped to a grid finer than their float coordinates. On the grid, the side of a plane
// on which a point lies is an exact integer predicate, so the triangles always form a closed convex
// surface. Tolerances enter only when flat regions are merged, and each merge keeps the surface
// closed.
#include "collide/quickhull.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

// Grid cells across the largest extent (2^28). Coordinate differences stay below 2^29, so
// components of normals fit 60 bits and heights 96.
static const double HULL_GRID_CELLS = 268435456.0;

typedef struct hull_grid_point {
  int64_t x, y, z;
} hull_grid_point;

typedef struct triangle {
  int corner[3];          // counter-clockwise seen from outside
  int across[3];          // the triangle beyond the edge from corner[i] to corner[i + 1]
  hull_grid_point normal; // exact, outward; its length is twice the area
  int above;              // head of the list of points it sees, linked by hull_builder.next
  bool alive, visible, queued;
} triangle;

typedef struct horizon_edge {
  int from, to;
  int beyond; // the triangle on the far side, which stays
  int made;   // the new triangle from this edge to the added point
} horizon_edge;

typedef struct hull_builder {
  int count;
  hull_grid_point *points;
  d3 origin;           // m, of the grid
  double cell;         // m, size of a grid cell
  int *next;           // by point: next point of the list of its triangle
  triangle *triangles; // at most 2 count - 4 are alive
  int triangle_count;
  int *free_triangles; // free list
  int free_triangle_count;
  int *pending; // stack of triangles that may see points
  int pending_count;
  int *visible; // triangles visible from the point being added
  int visible_count;
  horizon_edge *horizon;
  int horizon_count;
  int *made_from; // by point: the new triangle whose horizon edge starts there
} hull_builder;

// ---------------------------------------------------------------------------------------------
// Grid

static hull_grid_point grid_sub(hull_grid_point a, hull_grid_point b)
{
  return (hull_grid_point){a.x - b.x, a.y - b.y, a.z - b.z};
}

static hull_grid_point grid_cross(hull_grid_point a, hull_grid_point b)
{
  return (hull_grid_point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static d3 grid_d3(hull_grid_point a)
{
  return (d3){(double)a.x, (double)a.y, (double)a.z};
}

static double d3_length(d3 a)
{
  return sqrt(d3_dot(a, a));
}

// Dot product with exact sign and rounded value. The low 32 bits of the normal and the rest are
// summed separately, so that neither sum overflows.
static double exact_dot(hull_grid_point normal, hull_grid_point d)
{
  const int64_t base = INT64_C(1) << 32, mask = base - 1;
  hull_grid_point low = {normal.x & mask, normal.y & mask, normal.z & mask};
  hull_grid_point high = {(normal.x - low.x) / base, (normal.y - low.y) / base,
                          (normal.z - low.z) / base};
  int64_t low_sum = low.x * d.x + low.y * d.y + low.z * d.z;
  int64_t rest = low_sum & mask;
  int64_t high_sum = high.x * d.x + high.y * d.y + high.z * d.z + (low_sum - rest) / base;
  return (double)high_sum * (double)base + (double)rest;
}

// Height of a point above a triangle in cells, times twice the triangle's area.
static double height_above(const hull_builder *b, int t, int point)
{
  const triangle *tri = &b->triangles[t];
  return exact_dot(tri->normal, grid_sub(b->points[point], b->points[tri->corner[0]]));
}

static float larger(float a, float b)
{
  return a > b ? a : b;
}

static float smaller(float a, float b)
{
  return a < b ? a : b;
}

static void find_bounds(const tn_vec3 *points, int count, tn_vec3 *lo, tn_vec3 *hi)
{
  *lo = *hi = points[0];
  for (int i = 1; i < count; i++) {
    tn_vec3 p = points[i];
    *lo = tn_v3(smaller(lo->x, p.x), smaller(lo->y, p.y), smaller(lo->z, p.z));
    *hi = tn_v3(larger(hi->x, p.x), larger(hi->y, p.y), larger(hi->z, p.z));
  }
}

static d3 find_longest_axis(d3 size)
{
  if (size.x >= size.y && size.x >= size.z) {
    return (d3){1.0, 0.0, 0.0};
  }
  return size.y >= size.z ? (d3){0.0, 1.0, 0.0} : (d3){0.0, 0.0, 1.0};
}

double hull_rounding_error(const tn_vec3 *points, int count)
{
  float largest = 0.0f;
  for (int i = 0; i < count; i++) {
    tn_vec3 p = points[i];
    largest = larger(largest, larger(fabsf(p.x), larger(fabsf(p.y), fabsf(p.z))));
  }
  return 4.0 * (double)FLT_EPSILON * (double)largest;
}

static double power_of_two_at_least(double x)
{
  double power = 1.0;
  while (power < x) {
    power *= 2.0;
  }
  while (power * 0.5 >= x) {
    power *= 0.5;
  }
  return power;
}

static int64_t snapped(float x, double origin, double cell)
{
  return (int64_t)(((double)x - origin) / cell + 0.5);
}

// The cell size is a power of two and the origin a multiple of it, so that most floats, and all
// that lie on a coarser grid, are represented exactly.
static void snap_points(hull_builder *b, const tn_vec3 *points, tn_vec3 lo, double extent)
{
  double cell = power_of_two_at_least(extent) / HULL_GRID_CELLS;
  b->cell = cell;
  b->origin = (d3){floor((double)lo.x / cell) * cell, floor((double)lo.y / cell) * cell,
                   floor((double)lo.z / cell) * cell};
  for (int i = 0; i < b->count; i++) {
    b->points[i] = (hull_grid_point){snapped(points[i].x, b->origin.x, cell),
                                     snapped(points[i].y, b->origin.y, cell),
                                     snapped(points[i].z, b->origin.z, cell)};
  }
}

static d3 point_position(const hull_builder *b, int point)
{
  return d3_add(b->origin, d3_scale(b->cell, grid_d3(b->points[point])));
}

// ---------------------------------------------------------------------------------------------
// Quickhull

static int make_triangle(hull_builder *b, int p0, int p1, int p2)
{
  int t = b->free_triangle_count > 0 ? b->free_triangles[--b->free_triangle_count]
                                     : b->triangle_count++;
  triangle *tri = &b->triangles[t];
  hull_grid_point a = b->points[p0];
  tri->corner[0] = p0;
  tri->corner[1] = p1;
  tri->corner[2] = p2;
  tri->normal = grid_cross(grid_sub(b->points[p1], a), grid_sub(b->points[p2], a));
  tri->above = NONE;
  tri->alive = true;
  tri->visible = false;
  return t;
}

// Index of the corner of triangle `t` at `point`; the edge that starts there has the same index.
static int corner_at(const hull_builder *b, int t, int point)
{
  const int *corner = b->triangles[t].corner;
  return corner[0] == point ? 0 : corner[1] == point ? 1 : 2;
}

static int farthest_along(const hull_builder *b, d3 direction)
{
  int best = 0;
  double best_height = d3_dot(direction, grid_d3(b->points[0]));
  for (int i = 1; i < b->count; i++) {
    double height = d3_dot(direction, grid_d3(b->points[i]));
    if (height > best_height) {
      best = i;
      best_height = height;
    }
  }
  return best;
}

static int farthest_from_line(const hull_builder *b, int p0, int p1, double *distance)
{
  hull_grid_point along = grid_sub(b->points[p1], b->points[p0]);
  int best = p0;
  double best_area = 0.0;
  for (int i = 0; i < b->count; i++) {
    double area = d3_length(grid_d3(grid_cross(along, grid_sub(b->points[i], b->points[p0]))));
    if (area > best_area) {
      best = i;
      best_area = area;
    }
  }
  *distance = best_area / d3_length(grid_d3(along)) * b->cell;
  return best;
}

static int farthest_from_triangle(const hull_builder *b, int t, double *distance)
{
  int best = b->triangles[t].corner[0];
  double best_height = 0.0;
  for (int i = 0; i < b->count; i++) {
    double height = fabs(height_above(b, t, i));
    if (height > best_height) {
      best = i;
      best_height = height;
    }
  }
  *distance = best_height / d3_length(grid_d3(b->triangles[t].normal)) * b->cell;
  return best;
}

// Adds `point` to the list of the first triangle that sees it. Points that no triangle sees are
// inside.
static void assign_point(hull_builder *b, int point, const int *triangles, int count)
{
  for (int i = 0; i < count; i++) {
    int t = triangles[i];
    triangle *tri = &b->triangles[t];
    if (height_above(b, t, point) <= 0.0) {
      continue;
    }
    b->next[point] = tri->above;
    tri->above = point;
    if (!tri->queued) {
      tri->queued = true;
      b->pending[b->pending_count++] = t;
    }
    return;
  }
}

static void make_tetrahedron(hull_builder *b, int p0, int p1, int p2, int p3)
{
  int side[4] = {make_triangle(b, p0, p1, p2), make_triangle(b, p0, p3, p1),
                 make_triangle(b, p1, p3, p2), make_triangle(b, p2, p3, p0)};
  static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      b->triangles[side[i]].across[k] = side[across[i][k]];
    }
  }
  for (int point = 0; point < b->count; point++) {
    assign_point(b, point, side, 4);
  }
}

// Makes the first tetrahedron. Returns null, or the reason why the points span no volume.
static const char *start_hull(hull_builder *b, d3 longest_axis, double flat)
{
  int p0 = farthest_along(b, d3_scale(-1.0, longest_axis));
  int p1 = farthest_along(b, longest_axis);
  double distance = 0.0;
  int p2 = farthest_from_line(b, p0, p1, &distance);
  if (distance <= flat) {
    return "the points lie on one line";
  }
  int t = make_triangle(b, p0, p1, p2);
  int p3 = farthest_from_triangle(b, t, &distance);
  bool above = height_above(b, t, p3) > 0.0;
  b->triangle_count = 0;
  if (distance <= flat) {
    return "the points lie in one plane";
  }
  if (above) {
    make_tetrahedron(b, p0, p2, p1, p3);
  } else {
    make_tetrahedron(b, p0, p1, p2, p3);
  }
  return NULL;
}

static int farthest_above(const hull_builder *b, int t)
{
  int best = b->triangles[t].above;
  double best_height = height_above(b, t, best);
  for (int i = b->next[best]; i != NONE; i = b->next[i]) {
    double height = height_above(b, t, i);
    if (height > best_height || (height == best_height && i < best)) {
      best = i;
      best_height = height;
    }
  }
  return best;
}

static void mark_visible(hull_builder *b, int t)
{
  b->triangles[t].visible = true;
  b->visible[b->visible_count++] = t;
}

// Finds the connected triangles visible from `point`, by flood fill, and their boundary edges.
static void find_horizon(hull_builder *b, int first, int point)
{
  b->visible_count = 0;
  b->horizon_count = 0;
  mark_visible(b, first);
  for (int i = 0; i < b->visible_count; i++) {
    const triangle *tri = &b->triangles[b->visible[i]];
    for (int k = 0; k < 3; k++) {
      int beyond = tri->across[k];
      if (b->triangles[beyond].visible) {
        continue;
      }
      if (height_above(b, beyond, point) > 0.0) {
        mark_visible(b, beyond);
      } else {
        b->horizon[b->horizon_count++] =
            (horizon_edge){tri->corner[k], tri->corner[(k + 1) % 3], beyond, NONE};
      }
    }
  }
}

// Removes the visible triangles. Returns their points as one list.
static int retire_visible(hull_builder *b)
{
  int orphans = NONE;
  for (int i = 0; i < b->visible_count; i++) {
    triangle *tri = &b->triangles[b->visible[i]];
    for (int point = tri->above; point != NONE;) {
      int next = b->next[point];
      b->next[point] = orphans;
      orphans = point;
      point = next;
    }
    tri->above = NONE;
    tri->alive = false;
    b->free_triangles[b->free_triangle_count++] = b->visible[i];
  }
  return orphans;
}

// Connects the horizon to `point` by a fan of triangles. The horizon is a single loop, so each of
// its points starts exactly one edge.
static void join_horizon(hull_builder *b, int point)
{
  for (int i = 0; i < b->horizon_count; i++) {
    horizon_edge *edge = &b->horizon[i];
    edge->made = make_triangle(b, edge->from, edge->to, point);
    b->triangles[edge->made].across[0] = edge->beyond;
    b->triangles[edge->beyond].across[corner_at(b, edge->beyond, edge->to)] = edge->made;
    b->made_from[edge->from] = edge->made;
  }
  for (int i = 0; i < b->horizon_count; i++) {
    int t = b->horizon[i].made, neighbour = b->made_from[b->horizon[i].to];
    b->triangles[t].across[1] = neighbour;
    b->triangles[neighbour].across[2] = t;
  }
}

static void add_farthest_point(hull_builder *b, int t)
{
  int point = farthest_above(b, t);
  find_horizon(b, t, point);
  int orphan = retire_visible(b);
  join_horizon(b, point);
  int *made = b->visible;
  for (int i = 0; i < b->horizon_count; i++) {
    made[i] = b->horizon[i].made;
  }
  while (orphan != NONE) {
    int next = b->next[orphan];
    assign_point(b, orphan, made, b->horizon_count);
    orphan = next;
  }
}

static void grow_hull(hull_builder *b)
{
  while (b->pending_count > 0) {
    int t = b->pending[--b->pending_count];
    b->triangles[t].queued = false;
    while (b->triangles[t].alive && b->triangles[t].above != NONE) {
      add_farthest_point(b, t);
    }
  }
}

static bool builder_allocate(hull_builder *b)
{
  size_t points = (size_t)b->count, triangles = 2 * points;
  b->points = calloc(points, sizeof *b->points);
  b->next = calloc(points, sizeof *b->next);
  b->made_from = calloc(points, sizeof *b->made_from);
  b->horizon = calloc(points, sizeof *b->horizon);
  b->triangles = calloc(triangles, sizeof *b->triangles);
  b->free_triangles = calloc(triangles, sizeof *b->free_triangles);
  b->pending = calloc(triangles, sizeof *b->pending);
  b->visible = calloc(triangles, sizeof *b->visible);
  return b->points && b->next && b->made_from && b->horizon && b->triangles && b->free_triangles &&
         b->pending && b->visible;
}

static void builder_free(hull_builder *b)
{
  free(b->points);
  free(b->next);
  free(b->made_from);
  free(b->horizon);
  free(b->triangles);
  free(b->free_triangles);
  free(b->pending);
  free(b->visible);
}

// ---------------------------------------------------------------------------------------------
// Merging into polygons
//
// Half-edge 3 t + k runs from corner k of triangle t to the next.

typedef struct polygon {
  int seed;         // the triangle that defines its plane
  int first, count; // range in merger.edges
  int corners;      // number of its half-edges that start at a kept vertex
} polygon;

// A triangle from which to grow a polygon.
typedef struct seed {
  double area; // twice the area, in cells squared
  int triangle;
} seed;

typedef struct merger {
  const hull_builder *b;
  double flatness; // in cells
  int *owner;      // by triangle: index of its polygon
  bool *on_loop;   // by point: on the boundary of the current polygon
  int *loop;       // boundary half-edges of the current polygon
  int loop_count;
  int *absorbed; // triangles of the current polygon except the seed
  int absorbed_count;
  polygon *polygons;
  int polygon_count;
  int *edges; // boundary half-edges of all polygons, one polygon after the other
  int edge_count;
  int *place;       // by half-edge: its index in `edges`
  int *polygons_at; // by point: number of polygons with it on their boundary
  bool *dropped;    // by point: inside a straight edge, no vertex of the result
} merger;

static int edge_origin(const hull_builder *b, int edge)
{
  return b->triangles[edge / 3].corner[edge % 3];
}

static int edge_next(int edge)
{
  return edge % 3 == 2 ? edge - 2 : edge + 1;
}

static int edge_end(const hull_builder *b, int edge)
{
  return edge_origin(b, edge_next(edge));
}

static int edge_twin(const hull_builder *b, int edge)
{
  int beyond = b->triangles[edge / 3].across[edge % 3];
  return 3 * beyond + corner_at(b, beyond, edge_end(b, edge));
}

static bool may_absorb(const merger *m, int seed_triangle, int t, int apex, double flatness)
{
  const triangle *flat = &m->b->triangles[seed_triangle];
  d3 normal = grid_d3(flat->normal);
  double depth = -height_above(m->b, seed_triangle, apex);
  return m->owner[t] == NONE && depth <= flatness * d3_length(normal) &&
         d3_dot(normal, grid_d3(m->b->triangles[t].normal)) > 0.0;
}

static void loop_remove(merger *m, int i)
{
  m->loop_count--;
  memmove(m->loop + i, m->loop + i + 1, (size_t)(m->loop_count - i) * sizeof *m->loop);
}

static void loop_insert(merger *m, int i, int edge)
{
  memmove(m->loop + i + 1, m->loop + i, (size_t)(m->loop_count - i) * sizeof *m->loop);
  m->loop_count++;
  m->loop[i] = edge;
}

// Merges the triangle across loop edge `i` if it is coplanar within `flatness` and the loop stays
// simple. The last triangle of a hull always faces away from the seed, so a loop never closes on
// itself.
static bool absorb(merger *m, int seed_triangle, int i, double flatness)
{
  const hull_builder *b = m->b;
  int twin = edge_twin(b, m->loop[i]);
  int to_apex = edge_next(twin), from_apex = edge_next(to_apex);
  int apex = edge_origin(b, from_apex);
  int previous = (i + m->loop_count - 1) % m->loop_count, next = (i + 1) % m->loop_count;
  bool closes_before = edge_origin(b, m->loop[previous]) == apex;
  bool closes_after = edge_end(b, m->loop[next]) == apex;
  bool pinches = m->on_loop[apex] && !closes_before && !closes_after;
  if (pinches || !may_absorb(m, seed_triangle, twin / 3, apex, flatness)) {
    return false;
  }
  m->owner[twin / 3] = m->polygon_count;
  m->absorbed[m->absorbed_count++] = twin / 3;
  if (closes_before) {
    m->on_loop[edge_origin(b, m->loop[i])] = false;
    m->loop[i] = from_apex;
    loop_remove(m, previous);
  } else if (closes_after) {
    m->on_loop[edge_end(b, m->loop[i])] = false;
    m->loop[i] = to_apex;
    loop_remove(m, next);
  } else {
    m->on_loop[apex] = true;
    m->loop[i] = to_apex;
    loop_insert(m, i + 1, from_apex);
  }
  return true;
}

// Signed distance, in cells, of `point` to the left of a line, seen from outside.
static double left_of_line(const hull_builder *b, d3 unit_normal, int from, int to, int point)
{
  hull_grid_point along = grid_sub(b->points[to], b->points[from]);
  hull_grid_point across = grid_sub(b->points[point], b->points[from]);
  return d3_dot(grid_d3(grid_cross(along, across)), unit_normal) / d3_length(grid_d3(along));
}

static d3 unit_normal_of(const hull_builder *b, int t)
{
  d3 normal = grid_d3(b->triangles[t].normal);
  return d3_scale(1.0 / d3_length(normal), normal);
}

static bool loop_is_convex(const merger *m, int seed_triangle)
{
  d3 normal = unit_normal_of(m->b, seed_triangle);
  for (int i = 0; i < m->loop_count; i++) {
    int after = m->loop[(i + 1) % m->loop_count];
    int corner = edge_origin(m->b, after);
    double reflex =
        left_of_line(m->b, normal, edge_origin(m->b, m->loop[i]), edge_end(m->b, after), corner);
    if (reflex > m->flatness) {
      return false;
    }
  }
  return true;
}

static void set_loop_to_triangle(merger *m, int t)
{
  for (int i = 0; i < m->loop_count; i++) {
    m->on_loop[edge_origin(m->b, m->loop[i])] = false;
  }
  for (int i = 0; i < m->absorbed_count; i++) {
    m->owner[m->absorbed[i]] = NONE;
  }
  m->absorbed_count = 0;
  m->loop_count = 3;
  for (int k = 0; k < 3; k++) {
    m->loop[k] = 3 * t + k;
    m->on_loop[edge_origin(m->b, 3 * t + k)] = true;
  }
}

static void grow_loop(merger *m, int seed_triangle, double flatness)
{
  set_loop_to_triangle(m, seed_triangle);
  bool grew = true;
  while (grew) {
    grew = false;
    for (int i = 0; i < m->loop_count;) {
      if (absorb(m, seed_triangle, i, flatness)) {
        grew = true;
      } else {
        i++;
      }
    }
  }
}

// A curved patch can be flat within the tolerance and yet have a non-convex boundary. Then only
// exactly coplanar triangles are merged, or none if neighbouring polygons have left a non-convex
// part of those as well.
static void make_polygon(merger *m, int seed_triangle)
{
  m->owner[seed_triangle] = m->polygon_count;
  m->loop_count = m->absorbed_count = 0;
  grow_loop(m, seed_triangle, m->flatness);
  if (!loop_is_convex(m, seed_triangle)) {
    grow_loop(m, seed_triangle, 0.0);
  }
  if (!loop_is_convex(m, seed_triangle)) {
    set_loop_to_triangle(m, seed_triangle);
  }
  polygon *p = &m->polygons[m->polygon_count++];
  *p = (polygon){seed_triangle, m->edge_count, m->loop_count, m->loop_count};
  for (int i = 0; i < m->loop_count; i++) {
    int point = edge_origin(m->b, m->loop[i]);
    m->on_loop[point] = false;
    m->polygons_at[point]++;
    m->place[m->loop[i]] = m->edge_count;
    m->edges[m->edge_count++] = m->loop[i];
  }
}

static int by_falling_area(const void *left, const void *right)
{
  const seed *a = left, *b = right;
  if (a->area != b->area) {
    return a->area > b->area ? -1 : 1;
  }
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

// Large triangles first: their planes are the most accurate.
static void make_polygons(merger *m, seed *seeds)
{
  int count = 0;
  for (int t = 0; t < m->b->triangle_count; t++) {
    m->owner[t] = NONE;
    if (m->b->triangles[t].alive) {
      seeds[count++] = (seed){d3_length(grid_d3(m->b->triangles[t].normal)), t};
    }
  }
  qsort(seeds, (size_t)count, sizeof *seeds, by_falling_area);
  for (int i = 0; i < count; i++) {
    if (m->owner[seeds[i].triangle] == NONE) {
      make_polygon(m, seeds[i].triangle);
    }
  }
}

static int place_before(const polygon *p, int place)
{
  return place == p->first ? p->first + p->count - 1 : place - 1;
}

static int place_after(const polygon *p, int place)
{
  return place == p->first + p->count - 1 ? p->first : place + 1;
}

static int place_origin(const merger *m, int place)
{
  return edge_origin(m->b, m->edges[place]);
}

static int kept_place_before(const merger *m, const polygon *p, int place)
{
  do {
    place = place_before(p, place);
  } while (m->dropped[place_origin(m, place)]);
  return place;
}

static int kept_place_after(const merger *m, const polygon *p, int place)
{
  do {
    place = place_after(p, place);
  } while (m->dropped[place_origin(m, place)]);
  return place;
}

static bool corner_is_convex(const merger *m, const polygon *p, int place)
{
  int from = place_origin(m, kept_place_before(m, p, place));
  int to = place_origin(m, kept_place_after(m, p, place));
  d3 normal = unit_normal_of(m->b, p->seed);
  return left_of_line(m->b, normal, from, to, place_origin(m, place)) <= m->flatness;
}

static bool neighbours_are_convex(const merger *m, const polygon *p, int place)
{
  return corner_is_convex(m, p, kept_place_before(m, p, place)) &&
         corner_is_convex(m, p, kept_place_after(m, p, place));
}

static bool is_straight(const merger *m, const polygon *p, int place)
{
  hull_grid_point point = m->b->points[place_origin(m, place)];
  hull_grid_point before = m->b->points[place_origin(m, kept_place_before(m, p, place))];
  hull_grid_point after = m->b->points[place_origin(m, kept_place_after(m, p, place))];
  hull_grid_point along = grid_sub(after, before);
  double area = d3_length(grid_d3(grid_cross(along, grid_sub(point, before))));
  return area <= m->flatness * d3_length(grid_d3(along));
}

// A point that only two polygons share lies on their common edge. It is dropped if the edge is
// straight there and both polygons stay convex with at least three corners.
static void drop_if_straight(merger *m, polygon *p, int place)
{
  int point = place_origin(m, place);
  int other_place = m->place[edge_twin(m->b, m->edges[place_before(p, place)])];
  polygon *other = &m->polygons[m->owner[m->edges[other_place] / 3]];
  if (m->polygons_at[point] != 2 || m->dropped[point] || p->corners == 3 || other->corners == 3 ||
      !is_straight(m, p, place)) {
    return;
  }
  m->dropped[point] = true;
  if (neighbours_are_convex(m, p, place) && neighbours_are_convex(m, other, other_place)) {
    p->corners--;
    other->corners--;
  } else {
    m->dropped[point] = false;
  }
}

static void drop_straight_points(merger *m)
{
  for (int i = 0; i < m->polygon_count; i++) {
    polygon *p = &m->polygons[i];
    for (int place = p->first; place < p->first + p->count; place++) {
      drop_if_straight(m, p, place);
    }
  }
}

static bool merger_allocate(merger *m, seed **seeds)
{
  size_t points = (size_t)m->b->count, triangles = (size_t)m->b->triangle_count;
  m->owner = calloc(triangles, sizeof *m->owner);
  m->on_loop = calloc(points, sizeof *m->on_loop);
  m->loop = calloc(3 * triangles, sizeof *m->loop);
  m->absorbed = calloc(triangles, sizeof *m->absorbed);
  m->polygons = calloc(triangles, sizeof *m->polygons);
  m->edges = calloc(3 * triangles, sizeof *m->edges);
  m->place = calloc(3 * triangles, sizeof *m->place);
  m->polygons_at = calloc(points, sizeof *m->polygons_at);
  m->dropped = calloc(points, sizeof *m->dropped);
  *seeds = calloc(triangles, sizeof **seeds);
  return m->owner && m->on_loop && m->loop && m->absorbed && m->polygons && m->edges && m->place &&
         m->polygons_at && m->dropped && *seeds;
}

static void merger_free(merger *m)
{
  free(m->owner);
  free(m->on_loop);
  free(m->loop);
  free(m->absorbed);
  free(m->polygons);
  free(m->edges);
  free(m->place);
  free(m->polygons_at);
  free(m->dropped);
}

// ---------------------------------------------------------------------------------------------
// Result

static bool is_vertex(const merger *m, int point)
{
  return m->polygons_at[point] > 0 && !m->dropped[point];
}

static void count_hull(const merger *m, hull *out)
{
  for (int i = 0; i < m->b->count; i++) {
    out->vertex_count += is_vertex(m, i);
  }
  for (int i = 0; i < m->polygon_count; i++) {
    out->edge_count += m->polygons[i].corners;
  }
  out->face_count = m->polygon_count;
}

static bool hull_allocate(hull *out)
{
  out->vertices = calloc((size_t)out->vertex_count, sizeof *out->vertices);
  out->sources = calloc((size_t)out->vertex_count, sizeof *out->sources);
  out->edges = calloc((size_t)out->edge_count, sizeof *out->edges);
  out->faces = calloc((size_t)out->face_count, sizeof *out->faces);
  return out->vertices && out->sources && out->edges && out->faces;
}

// `new_vertex` becomes the vertex index by point.
static void write_vertices(const merger *m, hull *out, int *new_vertex)
{
  int count = 0;
  for (int point = 0; point < m->b->count; point++) {
    if (!is_vertex(m, point)) {
      continue;
    }
    out->vertices[count] = point_position(m->b, point);
    out->sources[count] = point;
    new_vertex[point] = count++;
  }
}

// `new_edge` becomes the edge index by index in merger.edges.
static void write_faces(const merger *m, hull *out, const int *new_vertex, int *new_edge)
{
  int count = 0;
  for (int i = 0; i < m->polygon_count; i++) {
    const polygon *p = &m->polygons[i];
    d3 normal = unit_normal_of(m->b, p->seed);
    d3 corner = point_position(m->b, m->b->triangles[p->seed].corner[0]);
    out->faces[i] = (hull_face){normal, d3_dot(normal, corner), count, p->corners};
    for (int place = p->first; place < p->first + p->count; place++) {
      int point = place_origin(m, place);
      if (m->dropped[point]) {
        continue;
      }
      out->edges[count] = (hull_edge){new_vertex[point], NONE, i};
      new_edge[place] = count++;
    }
  }
}

// Seen from the neighbour, an edge through dropped points starts with the last of its parts.
static void write_twins(const merger *m, hull *out, const int *new_edge)
{
  for (int i = 0; i < m->polygon_count; i++) {
    const polygon *p = &m->polygons[i];
    for (int place = p->first; place < p->first + p->count; place++) {
      if (m->dropped[place_origin(m, place)]) {
        continue;
      }
      int last_part = place_before(p, kept_place_after(m, p, place));
      int twin = edge_twin(m->b, m->edges[last_part]);
      out->edges[new_edge[place]].twin = new_edge[m->place[twin]];
    }
  }
}

static const char *write_hull(const merger *m, hull *out)
{
  count_hull(m, out);
  if (out->face_count < 4 || out->vertex_count < 4) {
    return "the points lie in one plane";
  }
  if (!hull_allocate(out)) {
    return HULL_NO_MEMORY;
  }
  // Reuse scratch memory of the earlier stages; it is large enough.
  int *new_edge = m->loop, *new_vertex = m->b->made_from;
  write_vertices(m, out, new_vertex);
  write_faces(m, out, new_vertex, new_edge);
  write_twins(m, out, new_edge);
  return NULL;
}

static const char *merge_triangles(const hull_builder *b, double flatness, hull *out)
{
  merger m = {.b = b, .flatness = flatness / b->cell};
  seed *seeds = NULL;
  const char *why = HULL_NO_MEMORY;
  if (merger_allocate(&m, &seeds)) {
    make_polygons(&m, seeds);
    drop_straight_points(&m);
    why = write_hull(&m, out);
  }
  merger_free(&m);
  free(seeds);
  return why;
}

static const char *build_from(const tn_vec3 *points, int count, double flatness, hull *out)
{
  tn_vec3 lo, hi;
  find_bounds(points, count, &lo, &hi);
  d3 size = {(double)hi.x - (double)lo.x, (double)hi.y - (double)lo.y, (double)hi.z - (double)lo.z};
  d3 longest_axis = find_longest_axis(size);
  double extent = d3_dot(longest_axis, size);
  double flat = hull_rounding_error(points, count);
  if (flat < flatness) {
    flat = flatness;
  }
  if (extent <= flat) {
    return "the points coincide";
  }

  hull_builder b = {.count = count};
  const char *why = HULL_NO_MEMORY;
  if (builder_allocate(&b)) {
    snap_points(&b, points, lo, extent);
    why = start_hull(&b, longest_axis, flat);
    if (!why) {
      grow_hull(&b);
      why = merge_triangles(&b, flatness, out);
    }
  }
  builder_free(&b);
  return why;
}

static int first_not_finite(const tn_vec3 *points, int count)
{
  for (int i = 0; i < count; i++) {
    if (!isfinite(points[i].x) || !isfinite(points[i].y) || !isfinite(points[i].z)) {
      return i;
    }
  }
  return NONE;
}

bool hull_build(const tn_vec3 *points, int count, double flatness, hull *out, char *message,
                size_t message_size)
{
  memset(out, 0, sizeof *out);
  if (!points || count < 4 || count > INT_MAX / 6) {
    snprintf(message, message_size, "%d points, which must be between 4 and %d", points ? count : 0,
             INT_MAX / 6);
    return false;
  }
  int bad = first_not_finite(points, count);
  if (bad != NONE) {
    snprintf(message, message_size, "point %d is not finite", bad);
    return false;
  }
  const char *why = build_from(points, count, flatness, out);
  if (!why) {
    return true;
  }
  hull_free(out);
  snprintf(message, message_size, "%s", why);
  return false;
}

void hull_free(hull *h)
{
  free(h->vertices);
  free(h->sources);
  free(h->edges);
  free(h->faces);
  memset(h, 0, sizeof *h);
}
