// Narrow phase: distances, penetrations and manifolds of convex shapes.
#include "random_shapes.h"

#include "collide/core.h"

#include <stdio.h>
#include <string.h>

// The true gap, negative for penetration, and its normal.
static double true_separation(const sample *s, d3 hint, d3 *normal)
{
  *normal = hint;
  double best = solids_apart(&s->sa, &s->sb, hint);
  if (best > 0.0) {
    return best; // separated: the caller checks against the distance of two points
  }
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
  if (t->misses++ < 12) {
    print_error("seed %llu, %s and %s: %s off by %g of the size\n", (unsigned long long)seed,
                kind_name(s->a.kind), kind_name(s->b.kind), what, error / s->scale);
  }
  return false;
}

// If apart: no two points are closer than the support planes along the normal, and the
// two closest points are no farther. If overlapping: translation along the normal separates the
// shapes, and no shorter translation does.
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
    if (off > 2e-6 * s->scale) {
      miss(t, seed, s, "distance", off);
    }
    if (fmax(on_a, on_b) > 1e-5 * s->scale) { // hulls merge faces that are coplanar up to this
      miss(t, seed, s, "point", fmax(on_a, on_b));
    }
    return;
  }
  t->deep++;
  bool curved = s->sa.curved || s->sb.curved;
  off = fmax(off, fabs(true_separation(s, d3_unit(n), &true_normal) - distance));
  t->worst_depth = fmax(t->worst_depth, off / s->scale);
  if (off > (curved ? 1.5e-4 : 2e-6) * s->scale) {
    miss(t, seed, s, "depth", off);
  }
}

// A start saves time only: from those of the pair at another pose, and from arbitrary ones, the
// separation is that without a start.
static void starts_do_not_change_the_result(void **state)
{
  (void)state;
  double worst = 0.0;
  for (int i = 0; i < 20000; i++) {
    uint64_t stream = 77000 + (uint64_t)i;
    sample s;
    sample_make(&s, &stream, kinds[i % KINDS], kinds[i / KINDS % KINDS]);
    core_start start = {.count = 0};
    for (int k = 0; k < 4; k++) {
      if (k == 3) {
        uint64_t bits = random_bits(&stream);
        memcpy(&start, &bits, sizeof start);
        start.count &= 7;
      }
      pose at = s.b_in_a;
      at.p = tn_add(at.p, random_vector(&stream, 0.01 * s.scale));
      core_pair pair = core_pair_make(&s.a, &s.b, at), other = pair;
      core_gap gap, plain;
      core_distance(&pair, (double)INFINITY, &start, &gap);
      core_distance(&other, (double)INFINITY, NULL, &plain);
      worst = fmax(worst, fabs(gap.distance - plain.distance) / s.scale);
    }
    sample_free(&s);
  }
  print_message("separations differ by at most %.2g of the size\n", worst);
  assert_true(worst < 1e-6);
}

static void distances_of_random_pairs_match_the_reference(void **state)
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
  int forms[3], points[MAX_MANIFOLD_POINTS + 1];
  double worst_gap, worst_on, worst_normal, worst_given;
} manifold_tally;

// Points on the surfaces, in A's frame.
static void surface_points(const sample *s, const manifold *m, int i, d3 *a, d3 *b)
{
  d3 n = d3_from(m->normal);
  *a = d3_add(d3_from(m->points[i].a), d3_scale((double)m->radius_a, n));
  *b = d3_sub(solid_to_world(&s->sb, d3_from(m->points[i].b)), d3_scale((double)m->radius_b, n));
}

// Gaps must match the points. The points lie on the surfaces; where a curved side is tilted against
// the normal they may lie slightly inside.
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
    d3 aside = d3_sub(d3_sub(b, a), d3_scale(gap, d3_from(m->normal)));
    double radii = (double)(m->radius_a + m->radius_b), apart = fabs(gap + radii);
    if (!(d3_length(aside) <= 0.03 * (apart + radii) + 1e-3 * s->scale)) {
      miss(&t->t, seed, s, "points not opposite each other", d3_length(aside));
    }
    for (int k = 0; k < i; k++) {
      if (m->points[k].feature == m->points[i].feature) {
        miss(&t->t, seed, s, "two points of one feature", s->scale);
      }
    }
    if (!(given <= 1e-6 * s->scale)) {
      miss(&t->t, seed, s, "gap of given points", given);
    }
    if (!(on <= 1e-3 * s->scale)) {
      miss(&t->t, seed, s, "surface point", on);
    }
    if (!(m->points[i].gap <= margin + 1e-6f * (float)s->scale)) {
      miss(&t->t, seed, s, "gap over margin", gap);
    }
  }
}

// Points of rims are at the angle `turn`.
static bool is_on_rim(const manifold *m, pose b_in_a, const manifold_point *p)
{
  bool on_b = m->round_side == 1;
  tn_vec3 n = on_b ? pose_inverse_vector(b_in_a, m->normal) : tn_scale(-1.0f, m->normal);
  d3 axis = d3_from(m->rim_axis), down = d3_scale(-1.0, d3_from(n));
  d3 out = d3_sub(d3_from(on_b ? p->b : p->a), d3_from(p->rim_center));
  d3 lowest = d3_sub(down, d3_scale(d3_dot(down, axis), axis));
  double radius = (double)m->rim_radius, size = d3_length(lowest);
  if (fabs(d3_dot(out, axis)) > 1e-6 * radius || fabs(d3_length(out) - radius) > 1e-6 * radius) {
    return false;
  }
  if (size < 0.2) {
    return true; // all points are about equally low
  }
  static const double cosine[4] = {1.0, 0.0, -1.0, 0.0}, sine[4] = {0.0, 1.0, 0.0, -1.0};
  d3 u = d3_scale(1.0 / size, lowest), v = d3_cross(axis, u);
  d3 at = d3_add(d3_scale(cosine[p->turn], u), d3_scale(sine[p->turn], v));
  return d3_distance(out, d3_scale(radius, at)) < 1e-3 * radius;
}

static void check_manifold(manifold_tally *t, uint64_t seed, const sample *s, float margin)
{
  separation r = convex_distance(&s->a, &s->b, s->b_in_a);
  manifold m;
  bool found = collide_convex(&s->a, &s->b, s->b_in_a, margin, &m);
  double distance = (double)r.distance, slack = 1e-5 * s->scale;
  if (found != (r.distance <= margin)) {
    if (fabsf(r.distance - margin) > (float)slack) {
      miss(&t->t, seed, s, found ? "found" : "not found", distance);
    }
    return;
  }
  if (!found) {
    return;
  }
  if (m.count < 1 || m.count > MAX_MANIFOLD_POINTS ||
      !isfinite(m.normal.x + m.normal.y + m.normal.z)) {
    miss(&t->t, seed, s, "count", s->scale);
    return;
  }
  t->forms[m.form]++;
  t->points[m.count]++;
  // A triangle pushes to the side of the other shape's centre, which may be the longer way.
  bool triangle = s->a.kind == GEOMETRY_TRIANGLE || s->b.kind == GEOMETRY_TRIANGLE;
  if (triangle && distance < 0.0) {
    return;
  }
  check_points(t, seed, s, &m, margin);
  if (!goes_round(&m)) {
    miss(&t->t, seed, s, "order of points", s->scale);
  }
  for (int i = 0; m.form == MANIFOLD_RIM && i < m.count; i++) {
    if (!is_on_rim(&m, s->b_in_a, &m.points[i])) {
      miss(&t->t, seed, s, "point on rim", s->scale);
    }
  }
  double along = solids_apart(&s->sa, &s->sb, d3_unit(d3_from(m.normal)));
  double off_normal = distance - along, off_gap = fabs(deepest_gap(&m) - distance);
  double bound = 0.06 * fabs(distance) + 1e-4 * s->scale;
  t->worst_normal = fmax(t->worst_normal, (off_normal - 0.06 * fabs(distance)) / s->scale);
  t->worst_gap = fmax(t->worst_gap, (off_gap - 0.06 * fabs(distance)) / s->scale);
  if (!(off_normal <= bound)) {
    miss(&t->t, seed, s, "normal", off_normal);
  }
  if (!(off_gap <= bound)) {
    miss(&t->t, seed, s, "deepest gap", off_gap);
  }
}

static void manifolds_of_random_pairs_match_the_reference(void **state)
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
  for (int i = 0; i < 3; i++) {
    print_message("%s %d ", form_names[i], t.forms[i]);
  }
  for (int i = 1; i <= MAX_MANIFOLD_POINTS; i++) {
    print_message("%d points %d ", i, t.points[i]);
  }
  print_message("worst gap %.2g, normal %.2g, given %.2g, on surface %.2g\n", t.worst_gap,
                t.worst_normal, t.worst_given, t.worst_on);
  assert_int_equal(t.t.misses, 0);
}

// ---------------------------------------------------------------------------------------------
// Planes

static void check_on_plane(uint64_t seed, const geometry *g, pose at, float margin)
{
  const geometry plane = {.kind = TN_SHAPE_PLANE};
  solid b;
  solid_make(&b, g, at);
  double height = -solid_reach(&b, (d3){0.0, -1.0, 0.0}),
         size = (double)geometry_bounding_radius(g);
  manifold m, other;
  bool found = collide_convex(&plane, g, at, margin, &m);
  if (fabs(height - (double)margin) > 1e-5 * size && found != (height <= (double)margin)) {
    fail_msg("seed %llu: %s %g over a plane", (unsigned long long)seed, kind_name(g->kind), height);
  }
  if (!found) {
    return;
  }
  ASSERT_NEAR(deepest_gap(&m), height, 3e-5 * size); // points of equal depth tie
  ASSERT_NEAR(m.normal.y, 1.0, 0.0);
  for (int i = 0; i < m.count; i++) {
    d3 p = solid_to_world(&b, d3_from(m.points[i].b));
    p.y -= (double)m.radius_b;
    ASSERT_NEAR(m.points[i].a.y, 0.0, 1e-6 * size);
    ASSERT_NEAR(p.y, m.points[i].gap, 4e-6 * size);
    assert_true(solid_distance(&b, p) < 1e-5 * size);
  }
  assert_true(goes_round(&m));
  assert_true(collide_convex(g, &plane, pose_inverse(at), margin, &other));
  assert_int_equal(other.count, m.count);
  for (int i = 0; i < m.count; i++) {
    ASSERT_NEAR(other.points[i].gap, m.points[i].gap, 2e-6 * size);
  }
}

static void manifolds_on_planes(void **state)
{
  (void)state;
  for (int i = 0; i < 20000; i++) {
    uint64_t seed = (uint64_t)i, stream = seed;
    float size = random_float(&stream, 0.01, 100.0);
    geometry g = random_geometry(&stream, kinds[i % KINDS], size);
    float reach = geometry_bounding_radius(&g);
    pose at = {random_vector(&stream, (double)reach), random_rotation(&stream)};
    check_on_plane(seed, &g, at, 0.02f * size);
    free_geometry(&g);
  }
}

// ---------------------------------------------------------------------------------------------
// Closed forms

static geometry sphere(float radius)
{
  return (geometry){.kind = TN_SHAPE_SPHERE, .radius = radius};
}

static geometry capsule(float radius, float half_length)
{
  return (geometry){.kind = TN_SHAPE_CAPSULE, .radius = radius, .half_length = half_length};
}

static geometry box(float x, float y, float z)
{
  return (geometry){.kind = TN_SHAPE_BOX, .half_extents = {x, y, z}};
}

static geometry cylinder(float radius, float half_length)
{
  return (geometry){.kind = TN_SHAPE_CYLINDER, .radius = radius, .half_length = half_length};
}

static geometry cone(float radius, float half_length)
{
  return (geometry){.kind = TN_SHAPE_CONE, .radius = radius, .half_length = half_length};
}

// Faces up, 4 wide.
static geometry triangle(void)
{
  return (geometry){.kind = GEOMETRY_TRIANGLE,
                    .corner = {{-2.0f, 0.0f, 2.0f}, {2.0f, 0.0f, 2.0f}, {0.0f, 0.0f, -2.0f}}};
}

static geometry cube_hull(float half)
{
  tn_vec3 points[8];
  for (int i = 0; i < 8; i++) {
    points[i] = tn_v3(i & 1 ? half : -half, i & 2 ? half : -half, i & 4 ? half : -half);
  }
  return (geometry){.kind = TN_SHAPE_HULL, .hull = make_convex(points, 8, 0)};
}

static const tn_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};
static const tn_quat lying = {0.0f, 0.0f, 0.70710678f, 0.70710678f};   // y to -x
static const tn_quat crossed = {0.70710678f, 0.0f, 0.0f, 0.70710678f}; // y to z
static const tn_quat eighth = {0.38268343f, 0.0f, 0.0f, 0.92387953f};  // 45 degrees about x

typedef struct contact_case {
  const char *name;
  const geometry *a, *b;
  tn_vec3 p;
  tn_quat q;
  manifold_form form;
  int count;
  tn_vec3 normal;
  float gap;
} contact_case;

static void check_case(const contact_case *c, const geometry *a, const geometry *b, pose b_in_a,
                       tn_vec3 normal)
{
  manifold m;
  assert_true(collide_convex(a, b, b_in_a, 0.02f, &m));
  if (m.count != c->count || m.form != c->form) {
    fail_msg("%s: %d points, %s; not %d, %s", c->name, m.count, form_names[m.form], c->count,
             form_names[c->form]);
  }
  double turned = d3_distance(d3_from(m.normal), d3_from(normal));
  double off = fabs(deepest_gap(&m) - (double)c->gap);
  if (!(turned < 2e-4) || !(off < 2e-6)) {
    fail_msg("%s: normal off by %g, gap by %g", c->name, turned, off);
  }
  separation r = convex_distance(a, b, b_in_a);
  if (a->kind != TN_SHAPE_PLANE && b->kind != TN_SHAPE_PLANE) {
    ASSERT_NEAR(r.distance, c->gap, 2e-6);
  }
  assert_int_equal(geometry_overlap(a, b, b_in_a), c->gap < 0.0f);
}

static void check_cases(const contact_case *cases, int count)
{
  for (int i = 0; i < count; i++) {
    const contact_case *c = &cases[i];
    pose at = {c->p, c->q};
    check_case(c, c->a, c->b, at, c->normal);
    tn_vec3 back = pose_inverse_vector(at, tn_scale(-1.0f, c->normal));
    check_case(c, c->b, c->a, pose_inverse(at), back);
  }
}

static const tn_vec3 up = {0.0f, 1.0f, 0.0f}, right = {1.0f, 0.0f, 0.0f},
                     front = {0.0f, 0.0f, 1.0f};
static const tn_vec3 slanted = {0.70710678f, 0.70710678f, 0.0f};

static void closed_forms_of_round_shapes(void **state)
{
  (void)state;
  geometry s = sphere(0.5f), k = capsule(0.2f, 0.5f), p = {.kind = TN_SHAPE_PLANE};
  geometry b = box(0.5f, 0.5f, 0.5f), t = triangle(), h = cube_hull(0.5f);
  geometry y = cylinder(0.4f, 0.5f), o = cone(0.5f, 0.5f);
  float d = 0.5f + 0.49f * 0.70710678f; // along the diagonal from an edge
  tn_vec3 side = {0.89442719f, 0.4472136f, 0.0f};
  const contact_case cases[] = {
      {"spheres", &s, &s, {0.99f, 0, 0}, upright, MANIFOLD_ROUND, 1, right, -0.01f},
      {"spheres apart", &s, &s, {0, 1.01f, 0}, lying, MANIFOLD_ROUND, 1, up, 0.01f},
      {"sphere, capsule", &k, &s, {0.69f, 0.2f, 0}, upright, MANIFOLD_ROUND, 1, right, -0.01f},
      {"sphere, capsule's end", &k, &s, {0, 1.19f, 0}, upright, MANIFOLD_ROUND, 1, up, -0.01f},
      {"capsules beside", &k, &k, {0.39f, 0.2f, 0}, upright, MANIFOLD_ROUND, 2, right, -0.01f},
      {"capsules crossed", &k, &k, {0.39f, 0.2f, 0}, crossed, MANIFOLD_ROUND, 1, right, -0.01f},
      {"capsules in line", &k, &k, {0, 1.39f, 0}, upright, MANIFOLD_ROUND, 1, up, -0.01f},
      {"sphere on plane", &p, &s, {3, 0.49f, 2}, lying, MANIFOLD_FLAT, 1, up, -0.01f},
      {"capsule on plane", &p, &k, {3, 0.19f, 2}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"capsule stands", &p, &k, {3, 0.69f, 2}, upright, MANIFOLD_FLAT, 1, up, -0.01f},
      {"sphere on box", &b, &s, {0.1f, 0.99f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.01f},
      {"sphere on edge", &b, &s, {d, d, 0.1f}, upright, MANIFOLD_ROUND, 1, slanted, -0.01f},
      {"sphere in box", &b, &s, {0.1f, 0.4f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.6f},
      {"capsule on box", &b, &k, {0, 0.69f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"sphere on hull", &h, &s, {0.1f, 0.99f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.01f},
      {"sphere on hull's edge", &h, &s, {d, d, 0.1f}, upright, MANIFOLD_ROUND, 1, slanted, -0.01f},
      {"sphere in hull", &h, &s, {0.1f, 0.4f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.6f},
      {"capsule on hull", &h, &k, {0, 0.69f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"sphere on triangle", &t, &s, {0, 0.49f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.01f},
      {"sphere under it", &t, &s, {0, -0.49f, 0}, upright, MANIFOLD_FLAT, 1, {0, -1, 0}, -0.01f},
      {"capsule on triangle", &t, &k, {0, 0.19f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"capsule across triangle", &t, &k, {0, 0.4f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.3f},
      {"sphere on cylinder", &y, &s, {0.1f, 0.99f, 0}, upright, MANIFOLD_FLAT, 1, up, -0.01f},
      {"sphere beside", &y, &s, {0.89f, 0.2f, 0}, upright, MANIFOLD_ROUND, 1, right, -0.01f},
      {"capsule beside", &y, &k, {0.59f, 0.2f, 0}, upright, MANIFOLD_ROUND, 2, right, -0.01f},
      {"capsule across", &y, &k, {0, 0.1f, 0.59f}, lying, MANIFOLD_ROUND, 1, front, -0.01f},
      {"capsule on cylinder", &y, &k, {0, 0.69f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"sphere under cone",
       &o,
       &s,
       {0.1f, -0.99f, 0},
       upright,
       MANIFOLD_FLAT,
       1,
       {0, -1, 0},
       -0.01f},
      {"sphere on tip", &o, &s, {0, 0.99f, 0}, upright, MANIFOLD_ROUND, 1, up, -0.01f},
      {"sphere on cone's side",
       &o,
       &s,
       {0.25f + 0.49f * side.x, 0.49f * side.y, 0},
       upright,
       MANIFOLD_ROUND,
       1,
       side,
       -0.01f},
  };
  check_cases(cases, (int)(sizeof cases / sizeof *cases));
  free_geometry(&h);
}

static void closed_forms_of_flat_shapes(void **state)
{
  (void)state;
  geometry p = {.kind = TN_SHAPE_PLANE}, b = box(0.5f, 0.5f, 0.5f), g = box(5.0f, 0.5f, 5.0f);
  geometry t = triangle(), h = cube_hull(0.5f);
  float r = 0.70710678f;
  const contact_case cases[] = {
      {"box on plane", &p, &b, {3, 0.49f, 2}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"box on its edge", &p, &b, {3, r - 0.01f, 2}, eighth, MANIFOLD_FLAT, 2, up, -0.01f},
      {"hull on plane", &p, &h, {3, 0.51f, 2}, upright, MANIFOLD_FLAT, 4, up, 0.01f},
      {"triangle on plane", &p, &t, {3, 0.01f, 2}, upright, MANIFOLD_FLAT, 3, up, 0.01f},
      {"boxes", &b, &b, {0.1f, 0.99f, 0.2f}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"boxes apart", &b, &b, {0.1f, 1.01f, 0.2f}, upright, MANIFOLD_FLAT, 4, up, 0.01f},
      {"boxes at 45 degrees", &g, &b, {0, 0.49f + r, 0}, eighth, MANIFOLD_FLAT, 2, up, -0.01f},
      {"boxes, edge to edge apart",
       &b,
       &b,
       {1 + 0.01f * r, 1 + 0.01f * r, 0},
       upright,
       MANIFOLD_FLAT,
       2,
       slanted,
       0.01f},
      {"hulls", &h, &h, {0.1f, 0.99f, 0.2f}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"hull on box", &g, &h, {2, 0.99f, 0.2f}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"hull on box apart", &g, &h, {2, 1.01f, 0.2f}, upright, MANIFOLD_FLAT, 4, up, 0.01f},
      {"box on triangle", &t, &b, {0, 0.49f, 0}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"box over triangle", &t, &b, {0, 0.51f, 0}, upright, MANIFOLD_FLAT, 4, up, 0.01f},
      {"box through triangle", &t, &b, {0, 0.3f, 0}, upright, MANIFOLD_FLAT, 4, up, -0.2f},
      {"hull under triangle",
       &t,
       &h,
       {0, -0.49f, 0},
       upright,
       MANIFOLD_FLAT,
       4,
       {0, -1, 0},
       -0.01f},
  };
  check_cases(cases, (int)(sizeof cases / sizeof *cases));
  free_geometry(&h);
}

static void closed_forms_of_rims(void **state)
{
  (void)state;
  geometry p = {.kind = TN_SHAPE_PLANE}, g = box(5.0f, 0.5f, 5.0f), b = box(0.5f, 0.5f, 0.5f);
  geometry t = triangle(), h = cube_hull(0.5f), y = cylinder(0.4f, 0.5f), o = cone(0.5f, 0.5f);
  float tip = 0.44721360f; // height of the tip of a lying cone over its slant length
  // Rotates the cone so that its side lies on the plane.
  tn_quat side_down = {0.0f, 0.0f, 0.85065081f, 0.52573111f};
  const contact_case cases[] = {
      {"cylinder on plane", &p, &y, {3, 0.49f, 2}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cylinder lies on plane", &p, &y, {3, 0.39f, 2}, lying, MANIFOLD_RIM, 2, up, -0.01f},
      {"cylinder tilted",
       &p,
       &y,
       {3, 0.9f * 0.70710678f - 0.01f, 2},
       eighth,
       MANIFOLD_RIM,
       1,
       up,
       -0.01f},
      {"cylinder on box", &g, &y, {3, 0.99f, 2}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cylinder over box", &g, &y, {3, 1.01f, 2}, upright, MANIFOLD_RIM, 4, up, 0.01f},
      {"cylinder lies on box", &g, &y, {3, 0.89f, 2}, lying, MANIFOLD_RIM, 2, up, -0.01f},
      {"cylinder half off a box", &b, &y, {0.4f, 0.99f, 0}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"cylinder lies half off", &b, &y, {0.5f, 0.89f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"cylinder on hull", &h, &y, {0.05f, 0.99f, 0}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cylinder on triangle", &t, &y, {0, 0.49f, 0}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cylinder lies on triangle", &t, &y, {0, 0.39f, 0}, lying, MANIFOLD_RIM, 2, up, -0.01f},
      {"cylinder on cylinder", &y, &y, {0.05f, 0.99f, 0.1f}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"cylinder over cylinder", &y, &y, {0, 1.01f, 0}, upright, MANIFOLD_FLAT, 4, up, 0.01f},
      {"cylinders beside", &y, &y, {0.79f, 0.2f, 0}, upright, MANIFOLD_ROUND, 2, right, -0.01f},
      {"cylinders crossed", &y, &y, {0, 0.1f, 0.79f}, lying, MANIFOLD_ROUND, 1, front, -0.01f},
      {"cylinder lies on cylinder", &y, &y, {0, 0.89f, 0}, lying, MANIFOLD_FLAT, 2, up, -0.01f},
      {"cone on plane", &p, &o, {3, 0.49f, 2}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cone lies on plane",
       &p,
       &o,
       {3, 0.5f * tip - 0.01f, 2},
       side_down,
       MANIFOLD_FLAT,
       2,
       up,
       -0.01f},
      {"cone on box", &g, &o, {3, 0.99f, 2}, upright, MANIFOLD_RIM, 4, up, -0.01f},
      {"cone lies on box",
       &g,
       &o,
       {3, 0.5f * tip + 0.49f, 2},
       side_down,
       MANIFOLD_FLAT,
       2,
       up,
       -0.01f},
      {"cone on its tip", &g, &o, {3, 0.99f, 2}, {1, 0, 0, 0}, MANIFOLD_FLAT, 1, up, -0.01f},
      {"cone on cylinder", &y, &o, {0, 0.99f, 0}, upright, MANIFOLD_FLAT, 4, up, -0.01f},
      {"cone under cone",
       &o,
       &o,
       {0, -0.99f, 0},
       {1, 0, 0, 0},
       MANIFOLD_FLAT,
       4,
       {0, -1, 0},
       -0.01f},
  };
  check_cases(cases, (int)(sizeof cases / sizeof *cases));
  free_geometry(&h);
}

// ---------------------------------------------------------------------------------------------
// Symmetry and motion

// Results do not depend on which shape is A, nor on a common rigid motion.
static void exchanging_or_moving_both_shapes_changes_nothing(void **state)
{
  (void)state;
  double worst_swap = 0.0, worst_motion = 0.0;
  for (int i = 0; i < 20000; i++) {
    uint64_t stream = 77 + (uint64_t)i;
    sample s;
    sample_make(&s, &stream, kinds[i % KINDS], kinds[i / KINDS % KINDS]);
    double tolerance = (s.sa.curved || s.sb.curved ? 1.5e-4 : 2e-6) * s.scale;
    separation r = convex_distance(&s.a, &s.b, s.b_in_a);
    separation back = convex_distance(&s.b, &s.a, pose_inverse(s.b_in_a));
    pose a_at = {random_vector(&stream, s.scale), random_rotation(&stream)};
    pose moved = pose_mul(pose_inverse(a_at), pose_mul(a_at, s.b_in_a));
    separation again = convex_distance(&s.a, &s.b, moved);
    ASSERT_NEAR(back.distance, r.distance, tolerance);
    ASSERT_NEAR(again.distance, r.distance, tolerance);
    worst_swap = fmax(worst_swap, fabs((double)(back.distance - r.distance)) / s.scale);
    worst_motion = fmax(worst_motion, fabs((double)(again.distance - r.distance)) / s.scale);
    tn_vec3 n = pose_vector(s.b_in_a, tn_scale(-1.0f, back.normal));
    if (r.distance > 0.01f * (float)s.scale) {
      ASSERT_NEAR(d3_distance(d3_from(n), d3_from(r.normal)), 0.0, 2e-4);
    }
    sample_free(&s);
  }
  print_message("worst difference: swapped %.2g, moved %.2g of the size\n", worst_swap,
                worst_motion);
}

static void flipping_a_manifold_twice_restores_it(void **state)
{
  (void)state;
  for (int i = 0; i < 2000; i++) {
    uint64_t stream = 5 + (uint64_t)i;
    sample s;
    sample_make(&s, &stream, kinds[i % KINDS], kinds[i / KINDS % KINDS]);
    manifold m, twice;
    if (collide_convex(&s.a, &s.b, s.b_in_a, 0.1f * (float)s.scale, &m)) {
      twice = m;
      manifold_flip(&twice, s.b_in_a);
      ASSERT_NEAR(twice.radius_a, m.radius_b, 0.0);
      assert_memory_equal(&twice.points[0].a, &m.points[0].b, sizeof(tn_vec3));
      manifold_flip(&twice, pose_inverse(s.b_in_a));
      ASSERT_NEAR(d3_distance(d3_from(twice.normal), d3_from(m.normal)), 0.0, 1e-6);
      assert_memory_equal(twice.points, m.points, (size_t)m.count * sizeof m.points[0]);
      assert_int_equal(twice.round_side, m.round_side);
    }
    sample_free(&s);
  }
}

// Resting pairs that move by less than a millionth of their size keep the feature ids of their
// points.
static void feature_ids_of_resting_pairs_are_stable(void **state)
{
  (void)state;
  geometry b = box(0.5f, 0.5f, 0.5f), g = box(5.0f, 0.5f, 5.0f), h = cube_hull(0.5f);
  geometry y = cylinder(0.4f, 0.5f), k = capsule(0.2f, 0.4f), t = triangle();
  const struct {
    const geometry *a, *b;
    pose at;
  } pairs[] = {
      {&b, &b, {{0, 0.9999f, 0}, upright}},     {&b, &b, {{0.1f, 0.9999f, 0.2f}, upright}},
      {&g, &b, {{0, 0.9999f, 0}, upright}},     {&b, &b, {{0, 1.0001f, 0}, upright}},
      {&h, &h, {{0, 0.9999f, 0}, upright}},     {&h, &b, {{0, 1.0001f, 0}, upright}},
      {&g, &h, {{0, 0.9999f, 0}, upright}},     {&b, &k, {{0, 0.6999f, 0}, lying}},
      {&g, &k, {{0, 0.7001f, 0}, lying}},       {&t, &b, {{0, 0.4999f, 0}, upright}},
      {&k, &k, {{0.3999f, 0.1f, 0}, upright}},  {&g, &y, {{0, 0.8999f, 0}, lying}},
      {&y, &y, {{0.05f, 0.9999f, 0}, upright}}, {&y, &y, {{0.7999f, 0.1f, 0}, upright}},
  };
  uint64_t seed = 3;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    manifold first, m;
    assert_true(collide_convex(pairs[i].a, pairs[i].b, pairs[i].at, 0.02f, &first));
    for (int k2 = 0; k2 < 200; k2++) {
      pose at = pairs[i].at;
      at.p = tn_add(at.p, random_vector(&seed, 1e-6));
      tn_vec3 turn = random_vector(&seed, 5e-7);
      at.q = tn_quat_mul((tn_quat){turn.x, turn.y, turn.z, 1.0f}, at.q);
      assert_true(collide_convex(pairs[i].a, pairs[i].b, at, 0.02f, &m));
      assert_int_equal(m.count, first.count);
      for (int j = 0; j < m.count; j++) {
        if (m.points[j].feature != first.points[j].feature) {
          fail_msg("pair %d: point %d was %x and is %x", (int)i, j, first.points[j].feature,
                   m.points[j].feature);
        }
      }
    }
  }
  free_geometry(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_forms_of_round_shapes),
      cmocka_unit_test(closed_forms_of_flat_shapes),
      cmocka_unit_test(closed_forms_of_rims),
      cmocka_unit_test(manifolds_on_planes),
      cmocka_unit_test(exchanging_or_moving_both_shapes_changes_nothing),
      cmocka_unit_test(flipping_a_manifold_twice_restores_it),
      cmocka_unit_test(feature_ids_of_resting_pairs_are_stable),
      cmocka_unit_test(starts_do_not_change_the_result),
      cmocka_unit_test(distances_of_random_pairs_match_the_reference),
      cmocka_unit_test(manifolds_of_random_pairs_match_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
