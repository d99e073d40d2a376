// Narrow phase: distances, depths and manifolds of convex shapes.
#include "solids.h"

#include "collide/distance.h"
#include "collide/manifold.h"
#include "collide/surface.h"
#include "convex_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 7, MAX_HULL_POINTS = 14 };

static const int kinds[KINDS] = {TN_SHAPE_SPHERE,   TN_SHAPE_CAPSULE,  TN_SHAPE_BOX, TN_SHAPE_HULL,
                                 GEOMETRY_TRIANGLE, TN_SHAPE_CYLINDER, TN_SHAPE_CONE};

static const char *kind_name(int kind)
{
  switch (kind) {
  case TN_SHAPE_SPHERE:
    return "sphere";
  case TN_SHAPE_CAPSULE:
    return "capsule";
  case TN_SHAPE_BOX:
    return "box";
  case TN_SHAPE_HULL:
    return "hull";
  case TN_SHAPE_CYLINDER:
    return "cylinder";
  case TN_SHAPE_CONE:
    return "cone";
  default:
    return "triangle";
  }
}

// ---------------------------------------------------------------------------------------------
// Making shapes

static void *take_memory(void *context, size_t size)
{
  (void)context;
  return malloc(size);
}

static void give_memory(void *context, void *memory, size_t size)
{
  (void)context;
  (void)size;
  free(memory);
}

static const surface_memory heap = {take_memory, give_memory, NULL};

static convex *make_convex(const tn_vec3 *points, int count, int max_vertices)
{
  char why[128];
  convex *c = convex_create(points, count, max_vertices, heap, why, sizeof why);
  if (!c)
    fail_msg("no hull of %d points: %s", count, why);
  return c;
}

static float random_float(uint64_t *seed, double lo, double hi)
{
  return (float)random_between(seed, lo, hi);
}

// Extents between a third of `size` and `size`, one in eight a hundredth of that.
static float random_extent(uint64_t *seed, float size)
{
  float extent = size * random_float(seed, 0.33, 1.0);
  return random_int(seed, 0, 7) == 0 ? 0.01f * extent : extent;
}

static geometry random_geometry(uint64_t *seed, int kind, float size)
{
  geometry g = {.kind = kind};
  g.radius = random_extent(seed, size);
  g.half_length = random_extent(seed, size);
  g.half_extents.x = random_extent(seed, size);
  g.half_extents.y = random_extent(seed, size);
  g.half_extents.z = random_extent(seed, size);
  tn_vec3 points[MAX_HULL_POINTS];
  int count = random_int(seed, 6, MAX_HULL_POINTS);
  for (int i = 0; i < count; i++) {
    points[i] = random_vector(seed, 1.0);
    points[i] = tn_v3(points[i].x * g.half_extents.x, points[i].y * g.half_extents.y,
                      points[i].z * g.half_extents.z);
  }
  if (kind == GEOMETRY_TRIANGLE)
    memcpy(g.corner, points, sizeof g.corner);
  if (kind == TN_SHAPE_HULL)
    g.hull = make_convex(points, count, 0);
  return g;
}

static void free_geometry(geometry *g)
{
  if (g->kind == TN_SHAPE_HULL)
    convex_destroy((convex *)(uintptr_t)g->hull, heap);
}

static tn_quat random_rotation(uint64_t *seed)
{
  double q[4];
  random_quat(seed, q);
  return (tn_quat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]};
}

// ---------------------------------------------------------------------------------------------
// Fuzz

typedef struct sample {
  geometry a, b;
  pose b_in_a;
  solid sa, sb;
  double scale; // of all lengths
} sample;

// One in four right angles, so that faces and edges are parallel; distances from deep to well
// apart.
static void sample_make(sample *s, uint64_t *seed, int kind_a, int kind_b)
{
  static const double decades[9] = {1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0};
  double size = decades[random_int(seed, 0, 8)], ratio = random_between(seed, 0.1, 1.0);
  bool first_larger = random_int(seed, 0, 1) == 0;
  s->a = random_geometry(seed, kind_a, (float)(first_larger ? size : ratio * size));
  s->b = random_geometry(seed, kind_b, (float)(first_larger ? ratio * size : size));
  double reach = (double)geometry_reach(&s->a) + (double)geometry_reach(&s->b);
  s->b_in_a.q = random_rotation(seed);
  if (random_int(seed, 0, 3) == 0) {
    float h = sqrtf(0.5f);
    tn_quat right[4] = {{0, 0, 0, 1}, {h, 0, 0, h}, {0, h, 0, h}, {0, 0, h, h}};
    s->b_in_a.q = right[random_int(seed, 0, 3)];
  }
  s->b_in_a.p = random_vector(seed, random_between(seed, 0.0, 0.8) * reach);
  s->scale = reach;
  solid_make(&s->sa, &s->a, (pose){{0}, tn_quat_identity()});
  solid_make(&s->sb, &s->b, s->b_in_a);
}

static void sample_free(sample *s)
{
  free_geometry(&s->a);
  free_geometry(&s->b);
}

// The true separation, negative for depth, and the normal that has it.
static double true_separation(const sample *s, d3 hint, d3 *normal)
{
  *normal = hint;
  double best = solids_apart(&s->sa, &s->sb, hint);
  if (best > 0.0)
    return best; // a certificate needs no search: compare with the distance of two points
  d3 n = hint;
  double other = s->sa.curved || s->sb.curved ? best_of_directions(&s->sa, &s->sb, hint, &n)
                                              : best_of_all_axes(&s->sa, &s->sb, &n);
  if (other > best) {
    best = other;
    *normal = n;
  }
  return best;
}

typedef struct tally {
  double worst_gap, worst_depth, worst_point;
  int apart, deep, misses;
} tally;

static bool miss(tally *t, uint64_t seed, const sample *s, const char *what, double error)
{
  if (t->misses++ < 12)
    print_error("seed %llu, %s and %s: %s off by %g of the size\n", (unsigned long long)seed,
                kind_name(s->a.kind), kind_name(s->b.kind), what, error / s->scale);
  return false;
}

// Apart: no two points are closer than the support planes along the normal, and the two that are
// given are no further. Overlapping: along the normal they come apart, and no way out is shorter.
static void check_distance(tally *t, uint64_t seed, const sample *s)
{
  separation r = convex_distance(&s->a, &s->b, s->b_in_a);
  d3 n = d3_from(r.normal), true_normal;
  double distance = (double)r.distance, bound = solids_apart(&s->sa, &s->sb, d3_unit(n));
  if (!(fabs(d3_length(n) - 1.0) < 1e-6) || !isfinite(distance)) {
    miss(t, seed, s, "normal", s->scale);
    return;
  }
  double off = fabs(distance - bound);
  double on_a = fabs(solid_distance(&s->sa, d3_from(r.a)));
  double on_b = fabs(solid_distance(&s->sb, d3_from(r.b)));
  t->worst_point = fmax(t->worst_point, fmax(on_a, on_b) / s->scale);
  if (distance > 0.0) {
    t->apart++;
    off = fmax(off, fabs(d3_distance(d3_from(r.a), d3_from(r.b)) - distance));
    t->worst_gap = fmax(t->worst_gap, off / s->scale);
    if (off > 2e-6 * s->scale)
      miss(t, seed, s, "distance", off);
    if (fmax(on_a, on_b) > 1e-5 * s->scale) // hulls count faces as one that are so close to it
      miss(t, seed, s, "point", fmax(on_a, on_b));
    return;
  }
  t->deep++;
  bool curved = s->sa.curved || s->sb.curved;
  off = fmax(off, fabs(true_separation(s, d3_unit(n), &true_normal) - distance));
  t->worst_depth = fmax(t->worst_depth, off / s->scale);
  if (off > (curved ? 1.5e-4 : 2e-6) * s->scale)
    miss(t, seed, s, "depth", off);
}

static void fuzz_distances(void **state)
{
  (void)state;
  tally t = {0};
  for (int i = 0; i < 100000; i++) {
    uint64_t seed = 1000 + (uint64_t)i, stream = seed;
    sample s;
    sample_make(&s, &stream, kinds[i % KINDS], kinds[i / KINDS % KINDS]);
    check_distance(&t, seed, &s);
    sample_free(&s);
  }
  print_message("%d apart, worst %.2g; %d overlapping, worst %.2g; points %.2g (of the size)\n",
                t.apart, t.worst_gap, t.deep, t.worst_depth, t.worst_point);
  assert_int_equal(t.misses, 0);
}

// ---------------------------------------------------------------------------------------------
// Manifolds

static const char *const form_names[] = {"flat", "round", "rim", "wire"};

typedef struct manifold_tally {
  tally t;
  int forms[3], points[MAX_POINTS + 1];
  double worst_gap, worst_on, worst_normal, worst_given;
} manifold_tally;

// Points of the surfaces in A's frame.
static void surface_points(const sample *s, const manifold *m, int i, d3 *a, d3 *b)
{
  d3 n = d3_from(m->normal);
  *a = d3_add(d3_from(m->points[i].a), d3_scale((double)m->radius_a, n));
  *b = d3_sub(solid_to_world(&s->sb, d3_from(m->points[i].b)), d3_scale((double)m->radius_b, n));
}

// Gaps are those of the points given. The points are on the surfaces; where a round side is tilted
// against the normal they may be a little inside.
static void check_points(manifold_tally *t, uint64_t seed, const sample *s, const manifold *m,
                         float margin)
{
  for (int i = 0; i < m->count; i++) {
    d3 a, b;
    surface_points(s, m, i, &a, &b);
    double gap = (double)m->points[i].gap;
    double given = fabs(d3_dot(d3_from(m->normal), d3_sub(b, a)) - gap);
    double on = fmax(solid_distance(&s->sa, a), solid_distance(&s->sb, b));
    t->worst_given = fmax(t->worst_given, given / s->scale);
    t->worst_on = fmax(t->worst_on, on / s->scale);
    if (!(given <= 1e-6 * s->scale))
      miss(&t->t, seed, s, "gap of given points", given);
    if (!(on <= 1e-3 * s->scale))
      miss(&t->t, seed, s, "surface point", on);
    if (!(m->points[i].gap <= margin + 1e-6f * (float)s->scale))
      miss(&t->t, seed, s, "gap over margin", gap);
  }
}

static double deepest_gap(const manifold *m)
{
  double gap = (double)INFINITY;
  for (int i = 0; i < m->count; i++)
    gap = fmin(gap, (double)m->points[i].gap);
  return gap;
}

static void check_manifold(manifold_tally *t, uint64_t seed, const sample *s, float margin)
{
  separation r = convex_distance(&s->a, &s->b, s->b_in_a);
  manifold m;
  bool found = collide_convex(&s->a, &s->b, s->b_in_a, margin, &m);
  double distance = (double)r.distance, slack = 1e-5 * s->scale;
  if (found != (r.distance <= margin)) {
    if (fabsf(r.distance - margin) > (float)slack)
      miss(&t->t, seed, s, found ? "found" : "not found", distance);
    return;
  }
  if (!found)
    return;
  if (m.count < 1 || m.count > MAX_POINTS || !isfinite(m.normal.x + m.normal.y + m.normal.z)) {
    miss(&t->t, seed, s, "count", s->scale);
    return;
  }
  t->forms[m.form]++;
  t->points[m.count]++;
  // A triangle pushes to the side of the other's centre, which may be the longer way.
  bool triangle = s->a.kind == GEOMETRY_TRIANGLE || s->b.kind == GEOMETRY_TRIANGLE;
  if (triangle && distance < 0.0)
    return;
  check_points(t, seed, s, &m, margin);
  double along = solids_apart(&s->sa, &s->sb, d3_unit(d3_from(m.normal)));
  double off_normal = distance - along, off_gap = fabs(deepest_gap(&m) - distance);
  double bound = 0.06 * fabs(distance) + 3e-4 * s->scale;
  t->worst_normal = fmax(t->worst_normal, (off_normal - 0.06 * fabs(distance)) / s->scale);
  t->worst_gap = fmax(t->worst_gap, (off_gap - 0.06 * fabs(distance)) / s->scale);
  if (!(off_normal <= bound))
    miss(&t->t, seed, s, "normal", off_normal);
  if (!(off_gap <= bound))
    miss(&t->t, seed, s, "deepest gap", off_gap);
}

static void fuzz_manifolds(void **state)
{
  (void)state;
  manifold_tally t = {0};
  for (int i = 0; i < 100000; i++) {
    uint64_t seed = 1000 + (uint64_t)i, stream = seed;
    sample s;
    sample_make(&s, &stream, kinds[i % KINDS], kinds[i / KINDS % KINDS]);
    check_manifold(&t, seed, &s, 0.05f * (float)s.scale);
    sample_free(&s);
  }
  for (int i = 0; i < 3; i++)
    print_message("%s %d ", form_names[i], t.forms[i]);
  for (int i = 1; i <= MAX_POINTS; i++)
    print_message("%d points %d ", i, t.points[i]);
  print_message("worst gap %.2g, normal %.2g, given %.2g, on surface %.2g\n", t.worst_gap,
                t.worst_normal, t.worst_given, t.worst_on);
  assert_int_equal(t.t.misses, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fuzz_distances),
      cmocka_unit_test(fuzz_manifolds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
