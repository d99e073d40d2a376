// Height fields: a regular grid of heights, two triangles per cell, solid below. Triangles are
// generated on demand; the grid itself serves as the acceleration structure.
#include "collide/bvh.h"
#include "collide/collide_tuning.h"
#include "collide/surface.h"
#include "collide/surface_contacts.h"

#include <float.h>
#include <stdio.h>

struct height_field {
  size_t size;                // of the memory block, bytes
  int columns, rows;          // numbers of heights along x and z
  tn_vec3 origin;             // of the first height, at y = 0; the grid is centred
  float spacing_x, spacing_z; // m
  float lowest, highest;      // m
  float heights[];            // rows of columns, m
};

// Cells from first to last, inclusive; empty when last < first.
typedef struct cell_range {
  int first_column, last_column, first_row, last_row;
} cell_range;

// ---------------------------------------------------------------------------------------------
// Construction

static bool check_input(const float *heights, int columns, int rows, float spacing_x,
                        float spacing_z, char *message, size_t size)
{
  if (!heights || columns < 2 || rows < 2) {
    snprintf(message, size, "%d by %d heights, which must be at least 2 by 2", columns, rows);
    return false;
  }
  if ((int64_t)columns * (int64_t)rows > INT64_C(1) << 28) {
    snprintf(message, size, "%d by %d heights are too many", columns, rows);
    return false;
  }
  if (!(spacing_x > 0.0f) || !(spacing_z > 0.0f) || !isfinite((float)columns * spacing_x) ||
      !isfinite((float)rows * spacing_z)) {
    snprintf(message, size, "spacing %g by %g, which must be positive and finite",
             (double)spacing_x, (double)spacing_z);
    return false;
  }
  for (int i = 0; i < columns * rows; i++) {
    if (!isfinite(heights[i])) {
      snprintf(message, size, "height %d is not finite", i);
      return false;
    }
  }
  return true;
}

height_field *height_field_create(const float *heights, int columns, int rows, float spacing_x,
                                  float spacing_z, collide_allocator memory, char *message,
                                  size_t message_size)
{
  if (!check_input(heights, columns, rows, spacing_x, spacing_z, message, message_size)) {
    return NULL;
  }
  int count = columns * rows;
  size_t size = sizeof(height_field) + (size_t)count * sizeof(float);
  height_field *f = memory.alloc(memory.context, size);
  if (!f) {
    snprintf(message, message_size, "no memory");
    return NULL;
  }
  *f = (height_field){.size = size,
                      .columns = columns,
                      .rows = rows,
                      .spacing_x = spacing_x,
                      .spacing_z = spacing_z,
                      .lowest = heights[0],
                      .highest = heights[0]};
  f->origin =
      tn_v3(-0.5f * (float)(columns - 1) * spacing_x, 0.0f, -0.5f * (float)(rows - 1) * spacing_z);
  for (int i = 0; i < count; i++) {
    f->heights[i] = heights[i];
    f->lowest = fminf(f->lowest, heights[i]);
    f->highest = fmaxf(f->highest, heights[i]);
  }
  return f;
}

void height_field_destroy(height_field *f, collide_allocator memory)
{
  if (f) {
    memory.release(memory.context, f, f->size);
  }
}

// ---------------------------------------------------------------------------------------------
// Cells and their triangles: facet 2 * cell contains the corner of lowest column and row, facet 2 *
// cell + 1 the opposite corner.

static tn_vec3 height_field_vertex(const height_field *f, int column, int row)
{
  return tn_v3(f->origin.x + (float)column * f->spacing_x, f->heights[row * f->columns + column],
               f->origin.z + (float)row * f->spacing_z);
}

static int facet_at(const height_field *f, int column, int row, int half)
{
  if (column < 0 || row < 0 || column > f->columns - 2 || row > f->rows - 2) {
    return NO_FACET;
  }
  return 2 * (row * (f->columns - 1) + column) + half;
}

static facet field_facet(const void *surface, int index)
{
  const height_field *f = surface;
  int cell = index / 2, row = cell / (f->columns - 1), column = cell % (f->columns - 1);
  facet t;
  t.corner[1] = height_field_vertex(f, column, row + 1);
  t.corner[2] = height_field_vertex(f, column + 1, row);
  if (index % 2 == 0) {
    t.corner[0] = height_field_vertex(f, column, row);
    t.across[0] = facet_at(f, column - 1, row, 1);
    t.across[2] = facet_at(f, column, row - 1, 1);
  } else {
    tn_vec3 swap = t.corner[1];
    t.corner[1] = t.corner[2];
    t.corner[2] = swap;
    t.corner[0] = height_field_vertex(f, column + 1, row + 1);
    t.across[0] = facet_at(f, column + 1, row, 0);
    t.across[2] = facet_at(f, column, row + 1, 0);
  }
  t.across[1] = index ^ 1;
  t.bend = INFINITY;
  t.normal = triangle_normal(t.corner);
  return t;
}

// The cell that contains a coordinate; -1 before the first and `count` after the last.
static int cell_of(float x, float origin, float spacing, int count)
{
  float cell = (x - origin) / spacing;
  if (!(cell >= 0.0f)) {
    return -1;
  }
  return cell < (float)count ? (int)cell : count;
}

static int clamp_int(int i, int lo, int hi)
{
  return i < lo ? lo : i > hi ? hi : i;
}

// The cells that an AABB covers, with slack for rounding.
static cell_range cells_between(const height_field *f, tn_vec3 lower, tn_vec3 upper)
{
  float slack_x = COLLIDE_CELL_SLACK * f->spacing_x + COLLIDE_CELL_ROUNDING * fabsf(f->origin.x);
  float slack_z = COLLIDE_CELL_SLACK * f->spacing_z + COLLIDE_CELL_ROUNDING * fabsf(f->origin.z);
  int columns = f->columns - 1, rows = f->rows - 1;
  cell_range r = {cell_of(lower.x - slack_x, f->origin.x, f->spacing_x, columns),
                  cell_of(upper.x + slack_x, f->origin.x, f->spacing_x, columns),
                  cell_of(lower.z - slack_z, f->origin.z, f->spacing_z, rows),
                  cell_of(upper.z + slack_z, f->origin.z, f->spacing_z, rows)};
  r.first_column = r.first_column < 0 ? 0 : r.first_column;
  r.first_row = r.first_row < 0 ? 0 : r.first_row;
  r.last_column = r.last_column < columns ? r.last_column : columns - 1;
  r.last_row = r.last_row < rows ? r.last_row : rows - 1;
  return r;
}

static bool is_over_grid(const height_field *f, tn_vec3 p)
{
  return fabsf(p.x) <= -f->origin.x && fabsf(p.z) <= -f->origin.z;
}

// The cell above or below a point, clamped to the grid.
static void cell_under(const height_field *f, tn_vec3 p, int *column, int *row)
{
  *column = cell_of(p.x, f->origin.x, f->spacing_x, f->columns - 1);
  *row = cell_of(p.z, f->origin.z, f->spacing_z, f->rows - 1);
  *column = clamp_int(*column, 0, f->columns - 2);
  *row = clamp_int(*row, 0, f->rows - 2);
}

static int facet_under(const height_field *f, tn_vec3 p)
{
  int column, row;
  cell_under(f, p, &column, &row);
  float x = (p.x - f->origin.x) / f->spacing_x - (float)column;
  float z = (p.z - f->origin.z) / f->spacing_z - (float)row;
  return facet_at(f, column, row, x + z > 1.0f);
}

// Whether a point is inside the solid: over the grid and below its surface.
static bool is_below(const height_field *f, tn_vec3 p)
{
  if (!is_over_grid(f, p)) {
    return false;
  }
  facet t = field_facet(f, facet_under(f, p));
  return tn_dot(t.normal, tn_sub(p, t.corner[0])) < 0.0f;
}

static void cell_heights(const height_field *f, int column, int row, float *lowest, float *highest)
{
  const float *near = &f->heights[row * f->columns + column], *far = near + f->columns;
  *lowest = fminf(fminf(near[0], near[1]), fminf(far[0], far[1]));
  *highest = fmaxf(fmaxf(near[0], near[1]), fmaxf(far[0], far[1]));
}

aabb height_field_aabb(const height_field *f)
{
  return (aabb){tn_v3(f->origin.x, f->lowest, f->origin.z),
                tn_v3(-f->origin.x, f->highest, -f->origin.z)};
}

// ---------------------------------------------------------------------------------------------
// Ray and shape casts: a moving box is clipped to the strips of cells (columns or rows) along the
// axis on which it crosses more of them, in order of the motion.

typedef struct grid_sweep {
  const height_field *f;
  tn_vec3 center, half, displacement;
  float limit; // fraction of the displacement
  bool found;
  void (*visit)(struct grid_sweep *s, const facet *t); // lowers `limit` on a hit
  ray_hit *ray;                                        // result of a ray cast
  const geometry *b;                                   // shape cast only, as the fields below
  pose b_in_a;
  float target_distance;
  cast_hit *cast;
  facet_visit_fn *visit_facet; // height_field_sweep_facets
  void *context;
} grid_sweep;

// The AABB of the box between two fractions of the displacement.
static aabb swept_aabb(const grid_sweep *s, float start, float end)
{
  tn_vec3 a = tn_add(s->center, tn_scale(start, s->displacement));
  tn_vec3 b = tn_add(s->center, tn_scale(end, s->displacement));
  aabb box = aabb_from_points(a, b);
  return (aabb){tn_sub(box.lower, s->half), tn_add(box.upper, s->half)};
}

static void visit_cells(grid_sweep *s, cell_range cells, aabb box)
{
  for (int row = cells.first_row; row <= cells.last_row; row++) {
    for (int column = cells.first_column; column <= cells.last_column; column++) {
      float lowest, highest;
      cell_heights(s->f, column, row, &lowest, &highest);
      if (box.lower.y > highest || box.upper.y < lowest) {
        continue;
      }
      for (int half = 0; half < 2; half++) {
        facet t = field_facet(s->f, facet_at(s->f, column, row, half));
        s->visit(s, &t);
      }
    }
  }
}

// The fractions of the displacement at which the box overlaps a strip of cells; false when there
// are none up to the limit.
static bool strip_fractions(float from, float half, float displacement, float lower, float upper,
                            float limit, float *start, float *end)
{
  float t0 = (lower - half - from) / displacement, t1 = (upper + half - from) / displacement;
  *start = fmaxf(0.0f, fminf(t0, t1));
  *end = fminf(limit, fmaxf(t0, t1));
  return *start <= *end;
}

static void sweep_strips(grid_sweep *s, bool along_x)
{
  const height_field *f = s->f;
  aabb all = swept_aabb(s, 0.0f, s->limit);
  cell_range cells = cells_between(f, all.lower, all.upper);
  float displacement = along_x ? s->displacement.x : s->displacement.z,
        from = along_x ? s->center.x : s->center.z;
  float half = along_x ? s->half.x : s->half.z, origin = along_x ? f->origin.x : f->origin.z;
  float spacing = along_x ? f->spacing_x : f->spacing_z;
  int first = along_x ? cells.first_column : cells.first_row;
  int last = along_x ? cells.last_column : cells.last_row;
  half += COLLIDE_CELL_SLACK * spacing + COLLIDE_CELL_ROUNDING * fabsf(origin);
  for (int i = 0; i <= last - first; i++) {
    int strip = displacement > 0.0f ? first + i : last - i;
    float lower = origin + (float)strip * spacing, start, end;
    if (!strip_fractions(from, half, displacement, lower, lower + spacing, s->limit, &start,
                         &end)) {
      continue;
    }
    aabb box = swept_aabb(s, start, end);
    cell_range across = cells_between(f, box.lower, box.upper);
    if (along_x) {
      across.first_column = across.last_column = strip;
    } else {
      across.first_row = across.last_row = strip;
    }
    visit_cells(s, across, box);
  }
}

static void sweep_field(grid_sweep *s)
{
  float columns = fabsf(s->displacement.x) / s->f->spacing_x,
        rows = fabsf(s->displacement.z) / s->f->spacing_z;
  if (columns == 0.0f && rows == 0.0f) {
    aabb box = swept_aabb(s, 0.0f, s->limit);
    visit_cells(s, cells_between(s->f, box.lower, box.upper), box);
  } else {
    sweep_strips(s, columns >= rows);
  }
}

static void visit_ray(grid_sweep *s, const facet *t)
{
  float fraction;
  if (!triangle_ray(t->corner, s->center, s->displacement, s->limit, &fraction)) {
    return;
  }
  s->limit = s->ray->fraction = fraction;
  s->ray->normal = tn_scale(tn_dot(t->normal, s->displacement) > 0.0f ? -1.0f : 1.0f, t->normal);
  s->found = true;
}

// Limits a fraction to the part of the displacement that can reach the field.
static float clamp_fraction(const height_field *f, tn_vec3 from, tn_vec3 half, tn_vec3 displacement,
                            float max_fraction)
{
  float longest = fmaxf(fabsf(displacement.x), fmaxf(fabsf(displacement.y), fabsf(displacement.z)));
  aabb box = height_field_aabb(f);
  tn_vec3 far = vec3_max(tn_sub(from, box.lower), tn_sub(box.upper, from));
  float max_distance = fmaxf(far.x + half.x, fmaxf(far.y + half.y, far.z + half.z));
  return longest > 0.0f
             ? fminf(max_fraction, COLLIDE_RAY_END_SLACK * fmaxf(max_distance, 0.0f) / longest)
             : 0.0f;
}

bool height_field_ray(const height_field *f, tn_vec3 from, tn_vec3 displacement, float max_fraction,
                      ray_hit *hit)
{
  const tn_vec3 zero = {0.0f, 0.0f, 0.0f};
  if (is_below(f, from)) {
    *hit = (ray_hit){0.0f, zero};
    return true;
  }
  grid_sweep s = {
      .f = f, .center = from, .displacement = displacement, .visit = visit_ray, .ray = hit};
  float slack = COLLIDE_RAY_HEIGHT_SLACK * (fabsf(f->lowest) + fabsf(f->highest) + fabsf(from.y));
  s.half.y = slack;
  s.limit = clamp_fraction(f, from, zero, displacement, max_fraction);
  sweep_field(&s);
  return s.found;
}

static void visit_cast(grid_sweep *s, const facet *t)
{
  geometry g = triangle_geometry(t->corner);
  cast_hit hit;
  if (!geometry_cast(&g, s->b, s->b_in_a, s->displacement, s->target_distance, s->limit, &hit)) {
    return;
  }
  s->limit = hit.fraction;
  *s->cast = hit;
  s->found = true;
}

bool height_field_cast(const height_field *f, const geometry *b, pose b_in_a, tn_vec3 displacement,
                       float target_distance, float max_fraction, cast_hit *hit)
{
  tn_vec3 middle = pose_point(b_in_a, convex_center(b));
  if (is_below(f, middle)) {
    facet t = field_facet(f, facet_under(f, middle));
    *hit = (cast_hit){0.0f, triangle_closest(t.corner, t.normal, middle), t.normal};
    return true;
  }
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), target_distance);
  grid_sweep s = {.f = f,
                  .center = tn_scale(0.5f, tn_add(box.lower, box.upper)),
                  .half = tn_scale(0.5f, tn_sub(box.upper, box.lower)),
                  .displacement = displacement,
                  .visit = visit_cast,
                  .b = b,
                  .b_in_a = b_in_a,
                  .target_distance = target_distance,
                  .cast = hit};
  s.limit = clamp_fraction(f, s.center, s.half, displacement, max_fraction);
  sweep_field(&s);
  return s.found;
}

static void visit_swept(grid_sweep *s, const facet *t)
{
  s->visit_facet(t->corner, s->context);
}

void height_field_sweep_facets(const height_field *f, aabb box, tn_vec3 displacement,
                               facet_visit_fn *visit, void *context)
{
  grid_sweep s = {.f = f,
                  .center = tn_scale(0.5f, tn_add(box.lower, box.upper)),
                  .half = tn_scale(0.5f, tn_sub(box.upper, box.lower)),
                  .displacement = displacement,
                  .visit = visit_swept,
                  .visit_facet = visit,
                  .context = context};
  s.limit = clamp_fraction(f, s.center, s.half, displacement, 1.0f);
  sweep_field(&s);
}

// ---------------------------------------------------------------------------------------------
// Closest points: search in rings of cells around that of the point, until a ring is further than
// the best result.

typedef struct field_search {
  const height_field *f;
  tn_vec3 p;
  float limit2; // squared distance of the best point so far
  bool found;
  tn_vec3 point, normal;
} field_search;

static void search_cell(field_search *s, int column, int row)
{
  for (int half = 0; half < 2; half++) {
    int index = facet_at(s->f, column, row, half);
    if (index == NO_FACET) {
      return;
    }
    facet t = field_facet(s->f, index);
    tn_vec3 q = triangle_closest(t.corner, t.normal, s->p), d = tn_sub(s->p, q);
    float distance2 = tn_dot(d, d);
    if (distance2 > s->limit2 || (s->found && distance2 == s->limit2)) {
      continue;
    }
    s->limit2 = distance2;
    s->point = q;
    s->normal = t.normal;
    s->found = true;
  }
}

static void search_ring(field_search *s, int column, int row, int ring)
{
  for (int i = -ring; i <= ring; i++) {
    search_cell(s, column + i, row - ring);
    if (ring > 0) {
      search_cell(s, column + i, row + ring);
    }
  }
  for (int i = 1 - ring; i < ring; i++) {
    search_cell(s, column - ring, row + i);
    search_cell(s, column + ring, row + i);
  }
}

bool height_field_closest(const height_field *f, tn_vec3 p, float max_distance, closest *out)
{
  bool below = is_below(f, p);
  field_search s = {.f = f, .p = p, .limit2 = below ? INFINITY : max_distance * max_distance};
  int column, row;
  cell_under(f, p, &column, &row);
  float spacing = fminf(f->spacing_x, f->spacing_z);
  int rings = f->columns > f->rows ? f->columns : f->rows;
  for (int ring = 0; ring < rings; ring++) {
    float apart = (float)(ring - 1) * spacing;
    if (ring > 1 && apart * apart > s.limit2) {
      break;
    }
    search_ring(&s, column, row, ring);
  }
  if (!s.found) {
    return false;
  }
  tn_vec3 d = tn_scale(below ? -1.0f : 1.0f, tn_sub(p, s.point));
  float distance = tn_length(d);
  out->distance = below ? -distance : distance;
  out->point = s.point;
  out->normal = distance > 0.0f ? tn_scale(1.0f / distance, d) : s.normal;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Overlaps and contacts

bool height_field_overlaps(const height_field *f, const geometry *b, pose b_in_a)
{
  if (is_below(f, pose_point(b_in_a, convex_center(b)))) {
    return true;
  }
  aabb box = geometry_aabb(b, b_in_a);
  cell_range cells = cells_between(f, box.lower, box.upper);
  for (int row = cells.first_row; row <= cells.last_row; row++) {
    for (int column = cells.first_column; column <= cells.last_column; column++) {
      float lowest, highest;
      cell_heights(f, column, row, &lowest, &highest);
      for (int half = 0; half < 2 && box.lower.y <= highest && box.upper.y >= lowest; half++) {
        geometry g = triangle_geometry(field_facet(f, facet_at(f, column, row, half)).corner);
        if (convex_distance(&g, b, b_in_a).distance <= 0.0f) {
          return true;
        }
      }
    }
  }
  return false;
}

bool height_field_nearest(const height_field *f, const geometry *b, pose b_in_a, float max_distance,
                          separation *out)
{
  aabb box = aabb_expand(geometry_aabb(b, b_in_a), max_distance);
  cell_range cells = cells_between(f, box.lower, box.upper);
  bool found = false;
  out->distance = max_distance;
  for (int row = cells.first_row; row <= cells.last_row; row++) {
    for (int column = cells.first_column; column <= cells.last_column; column++) {
      float lowest, highest;
      cell_heights(f, column, row, &lowest, &highest);
      for (int half = 0; half < 2 && box.lower.y <= highest && box.upper.y >= lowest; half++) {
        facet triangle = field_facet(f, facet_at(f, column, row, half));
        found = triangle_update_nearest(triangle.corner, b, b_in_a, out) || found;
      }
    }
  }
  return found;
}

// Visits the facets of the cells covered by a box, except cells entirely below it. Cells above it
// count, since the field is solid below.
static void walk_facets(const void *surface, aabb box, facet_index_fn *visit, void *context)
{
  const height_field *f = surface;
  cell_range cells = cells_between(f, box.lower, box.upper);
  for (int row = cells.first_row; row <= cells.last_row; row++) {
    for (int column = cells.first_column; column <= cells.last_column; column++) {
      float lowest, highest;
      cell_heights(f, column, row, &lowest, &highest);
      for (int half = 0; half < 2 && box.lower.y <= highest; half++) {
        visit(context, facet_at(f, column, row, half));
      }
    }
  }
}

int collide_height_field(const geometry *a, const geometry *b, pose b_in_a, float margin,
                         manifold *out, int capacity)
{
  const height_field *f = a->field;
  surface_contacts contacts;
  triangle_source source = {f, field_facet, walk_facets, true};
  surface_contacts_find(&contacts, source, b, b_in_a, margin);
  if (is_below(f, contacts.center)) {
    surface_contacts_add_below(&contacts, facet_under(f, contacts.center));
  }
  return surface_contacts_finish(&contacts, out, capacity);
}

void height_field_edges(const height_field *f, void (*line)(tn_vec3 a, tn_vec3 b, void *context),
                        void *context)
{
  for (int row = 0; row < f->rows; row++) {
    for (int column = 0; column < f->columns; column++) {
      tn_vec3 p = height_field_vertex(f, column, row);
      bool right = column + 1 < f->columns, on = row + 1 < f->rows;
      if (right) {
        line(p, height_field_vertex(f, column + 1, row), context);
      }
      if (on) {
        line(p, height_field_vertex(f, column, row + 1), context);
      }
      if (right && on) {
        line(height_field_vertex(f, column + 1, row), height_field_vertex(f, column, row + 1),
             context);
      }
    }
  }
}
