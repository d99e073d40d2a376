// Wires against sampling, closed forms, and capsules for straight ones.
#include "surfaces.h"

static void bad_wires_are_refused(void **state)
{
  (void)state;
  tn_wire_point p[3] = {{zero, {1.0f, 0.0f, 0.0f}}, {zero, {1.0f, 0.0f, 0.0f}}, {zero, zero}};
  char text[128] = "";
  collide_allocator memory = memory_of(&endless);
  assert_refused(wire_create(p, 1, false, memory, text, sizeof text), text, "1 points");
  assert_refused(wire_create(NULL, 2, false, memory, text, sizeof text), text, "0 points");
  p[1].tangent = zero;
  assert_refused(wire_create(&p[1], 2, false, memory, text, sizeof text), text, "no length");
  p[1].tangent.z = INFINITY;
  assert_refused(wire_create(p, 2, false, memory, text, sizeof text), text, "point 1");
  assert_int_equal(endless.held, 0);
}

static void failed_allocations_create_nothing(void **state)
{
  (void)state;
  tn_wire_point p[2] = {{{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}},
                        {{1.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 0.0f}}};
  for (int blocks = 0; blocks < 3; blocks++) {
    pool few = {blocks, 0};
    char text[128] = "";
    wire *w = wire_create(p, 2, false, memory_of(&few), text, sizeof text);
    assert_int_equal(w != NULL, blocks >= 2);
    assert_int_equal(text[0] != 0, blocks < 2);
    wire_destroy(w, memory_of(&few));
    assert_int_equal(few.held, 0);
  }
}

// ---------------------------------------------------------------------------------------------
// Wires

static wire *wire_of(const tn_wire_point *points, int count, bool closed)
{
  char message[128] = "";
  wire *w = wire_create(points, count, closed, memory_of(&endless), message, sizeof message);
  if (!w) {
    fail_msg("%s", message);
  }
  return w;
}

typedef struct double3 {
  double x, y, z;
} double3;

static double hermite_part(double a, double b, double s, double t, double u)
{
  return a * (2.0 * u * u * u - 3.0 * u * u + 1.0) + s * (u * u * u - 2.0 * u * u + u) +
         b * (3.0 * u * u - 2.0 * u * u * u) + t * (u * u * u - u * u);
}

// The cubic curve by its definition.
static double3 hermite(const tn_wire_point *points, int count, double parameter)
{
  int i = (int)parameter;
  const tn_wire_point *a = &points[i % count], *b = &points[(i + 1) % count];
  double u = parameter - (double)i;
  return (double3){hermite_part((double)a->position.x, (double)b->position.x, (double)a->tangent.x,
                                (double)b->tangent.x, u),
                   hermite_part((double)a->position.y, (double)b->position.y, (double)a->tangent.y,
                                (double)b->tangent.y, u),
                   hermite_part((double)a->position.z, (double)b->position.z, (double)a->tangent.z,
                                (double)b->tangent.z, u)};
}

static double distance_to(double3 p, tn_vec3 q)
{
  double x = p.x - (double)q.x, y = p.y - (double)q.y, z = p.z - (double)q.z;
  return sqrt(x * x + y * y + z * z);
}

static wire *random_wire(tn_wire_point *points, int count, bool closed, uint32_t *seed)
{
  for (int i = 0; i < count; i++) {
    points[i].position = test_vector(seed, 2.0f);
    points[i].tangent = test_vector(seed, 4.0f);
  }
  if (test_index(seed, 3) == 0) {
    points[test_index(seed, count)].tangent = zero;
  }
  return wire_of(points, count, closed);
}

// Closest point by dense samples and golden section around the best of them.
static double sampled_distance(const tn_wire_point *points, int count, bool closed, tn_vec3 q)
{
  int cubics = closed ? count : count - 1, samples = 300 * cubics, best_at = 0;
  double best = (double)INFINITY;
  for (int i = 0; i <= samples; i++) {
    double d = distance_to(hermite(points, count, (double)i / 300.0), q);
    if (d < best) {
      best = d;
      best_at = i;
    }
  }
  const double golden = 0.61803398874989485;
  double lo = fmax(0.0, (best_at - 1) / 300.0), hi = fmin((double)cubics, (best_at + 1) / 300.0);
  for (int i = 0; i < 60; i++) {
    double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
    if (distance_to(hermite(points, count, a), q) < distance_to(hermite(points, count, b), q)) {
      hi = b;
    } else {
      lo = a;
    }
  }
  return fmin(best, distance_to(hermite(points, count, 0.5 * (lo + hi)), q));
}

static void wire_closest_matches_sampling(void **state)
{
  (void)state;
  uint32_t seed = 43;
  double worst = 0.0;
  for (int i = 0; i < 100; i++) {
    tn_wire_point points[6];
    bool closed = i % 2;
    int count = 2 + test_index(&seed, 5);
    wire *w = random_wire(points, count, closed, &seed);
    assert_int_equal(wire_segment_count(w), closed ? count : count - 1);
    for (int k = 0; k < 100; k++) {
      tn_vec3 q = test_vector(&seed, 3.0f);
      float s = wire_closest_parameter(w, q);
      double expected = sampled_distance(points, count, closed, q);
      double found = distance_to(hermite(points, count, (double)s), q);
      worst = fmax(worst, found - expected);
      assert_close(apart(wire_point(w, s), q), found, 1e-5);
      closest c = {0};
      assert_true(wire_closest(w, 0.1f, q, 10.0f, &c));
      assert_close(c.distance, found - 0.1, 3e-6);
      assert_close(apart(c.point, tn_sub(q, tn_scale(c.distance, c.normal))), 0.0, 2e-6);
    }
    wire_destroy(w, memory_of(&endless));
  }
  print_message("closest point of a wire, 10000 queries: at most %.1e further than by sampling\n",
                worst);
  assert_true(worst < 2e-6);
}

static double segment_distance(double3 p, tn_vec3 a, tn_vec3 b)
{
  double3 d = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
  double3 r = {p.x - (double)a.x, p.y - (double)a.y, p.z - (double)a.z};
  double t = (r.x * d.x + r.y * d.y + r.z * d.z) / (d.x * d.x + d.y * d.y + d.z * d.z);
  t = fmin(fmax(t, 0.0), 1.0);
  double x = r.x - t * d.x, y = r.y - t * d.y, z = r.z - t * d.z;
  return sqrt(x * x + y * y + z * z);
}

// Every local minimum of the distance within reach is a contact, and nothing else is.
static void wires_hold_spheres_and_capsules(void **state)
{
  (void)state;
  uint32_t seed = 47;
  int contacts = 0, missed = 0, extra = 0;
  double worst = 0.0;
  for (int i = 0; i < 400; i++) {
    tn_wire_point points[5];
    bool closed = i % 2;
    int count = 2 + test_index(&seed, 4), cubics = closed ? count : count - 1;
    for (int k = 0; k < count; k++) {
      points[k].position = test_vector(&seed, 2.0f);
      points[k].tangent = test_vector(&seed, 4.0f);
    }
    wire *w = wire_of(points, count, closed);
    geometry a = {.kind = TN_SHAPE_WIRE, .radius = 0.05f, .wire = w};
    for (int n = 0; n < 10; n++) {
      bool round = n % 2;
      geometry b = round ? ball(0.4f) : rod(0.3f, 0.4f);
      tn_vec3 p = test_vector(&seed, 2.0f);
      pose where = at(p, test_rotation(&seed));
      tn_vec3 half = tn_v3(0.0f, round ? 0.0f : 0.4f, 0.0f);
      tn_vec3 e = pose_point(where, tn_scale(-1.0f, half)), f = pose_point(where, half);
      if (round) {
        f.x += 1e-6f; // avoids a segment of length zero
      }
      double reach = 0.05 + (double)b.radius + 0.05, before = (double)INFINITY, best = before;
      int expected = 0, samples = 2000 * cubics;
      double here =
          segment_distance(hermite(points, count, closed ? (double)cubics - 0.0005 : 0.0), e, f);
      before = closed ? here : before;
      here = segment_distance(hermite(points, count, 0.0), e, f);
      for (int k = 0; k <= samples; k++) {
        double s = (double)(k + 1) / 2000.0;
        bool last = k == samples;
        double after = last && !closed
                           ? (double)INFINITY
                           : segment_distance(hermite(points, count, last ? 0.0005 : s), e, f);
        if (last && closed) {
          break;
        }
        expected += here < before && here <= after && here <= reach;
        best = fmin(best, here);
        before = here;
        here = after;
      }
      manifold out[MAX_MANIFOLDS];
      int got = collide_wire(&a, &b, where, 0.05f, out, MAX_MANIFOLDS), which = 0;
      contacts += got;
      missed += got < expected;
      extra += got > expected;
      if (got == 0 || best > reach - 1e-3) {
        continue;
      }
      worst = fmax(worst, fabs((double)deepest(out, got, &which) - (best - reach + 0.05)));
      for (int k = 0; k < got; k++) {
        const manifold *m = &out[k];
        assert_int_equal(m->form, MANIFOLD_WIRE);
        assert_int_equal(m->round_side, 1);
        assert_true(m->parameter >= 0.0f && m->parameter <= 1.0f);
        float s = m->parameter;
        tn_vec3 on = m->curve[5];
        for (int term = 4; term >= 0; term--) {
          on = tn_add(m->curve[term], tn_scale(s, on));
        }
        assert_close(apart(on, m->points[0].a), 0.0, 3e-6);
        tn_vec3 core = pose_point(where, m->points[0].b);
        assert_close(tn_dot(m->normal, tn_sub(core, on)), apart(core, on), 3e-6);
        assert_close(apart(core, on) - m->radius_a - m->radius_b, m->points[0].gap, 3e-6);
      }
    }
    wire_destroy(w, memory_of(&endless));
  }
  print_message("wires: %d contacts, gaps off by %.1e; of 4000 poses %d have one less than by "
                "sampling, %d one more\n",
                contacts, worst, missed, extra);
  assert_true(contacts > 400);
  assert_true(worst < 2e-4); // precision of sampling
  assert_true(missed <= 20 && extra <= 40);
}

// Straight wires of several cubics, each of unit length, along x.
static wire *rail(float y, float z, int count)
{
  tn_wire_point points[12];
  for (int i = 0; i < count; i++) {
    points[i].position = tn_v3((float)i - 0.5f * (float)(count - 1), y, z);
    points[i].tangent = tn_v3(1.0f, 0.0f, 0.0f);
  }
  return wire_of(points, count, false);
}

static void marble_runs_on_rails(void **state)
{
  (void)state;
  wire *left = rail(0.0f, -0.3f, 8), *right = rail(0.0f, 0.3f, 8);
  geometry a = {.kind = TN_SHAPE_WIRE, .radius = 0.1f, .wire = left}, c = a, b = ball(0.4f);
  c.wire = right;
  for (int i = -3000; i <= 3000; i++) {
    // Height of the centre for a gap of 1 mm: 0.501 from both axes.
    pose where =
        at(tn_v3((float)i / 1000.0f, sqrtf(0.501f * 0.501f - 0.09f), 0.0f), tn_quat_identity());
    for (int side = 0; side < 2; side++) {
      manifold out[MAX_MANIFOLDS];
      assert_int_equal(collide_wire(side ? &c : &a, &b, where, 0.05f, out, MAX_MANIFOLDS), 1);
      assert_close(out[0].points[0].gap, 0.001, 1e-6);
      assert_close(out[0].normal.x, 0.0, 1e-6);
      assert_close(out[0].normal.z, side ? -0.3 / 0.501 : 0.3 / 0.501, 1e-6);
      assert_close(out[0].points[0].a.x, where.p.x, 1e-5);
    }
  }
  wire_destroy(left, memory_of(&endless));
  wire_destroy(right, memory_of(&endless));
}

// A ball between two turns of a coil touches both.
static void ball_between_turns_of_a_coil_touches_both(void **state)
{
  (void)state;
  tn_wire_point points[25];
  for (int i = 0; i < 25; i++) {
    float angle = 0.25f * TN_PI * (float)i, step = 0.25f * TN_PI;
    points[i].position = tn_v3(tn_cos(angle), 0.05f * (float)i, tn_sin(angle));
    points[i].tangent = tn_v3(-step * tn_sin(angle), 0.05f, step * tn_cos(angle));
  }
  wire *w = wire_of(points, 25, false);
  geometry a = {.kind = TN_SHAPE_WIRE, .radius = 0.05f, .wire = w}, b = ball(0.2f);
  for (int i = 0; i < 1000; i++) {
    float angle = 2.0f * TN_PI * (0.2f + 1.6f * (float)i / 1000.0f);
    // On the outside, halfway between this turn and the next, which are 0.4 apart.
    pose where =
        at(tn_v3(1.1f * tn_cos(angle), 0.4f * angle / (2.0f * TN_PI) + 0.2f, 1.1f * tn_sin(angle)),
           tn_quat_identity());
    manifold out[MAX_MANIFOLDS];
    int count = collide_wire(&a, &b, where, 0.02f, out, MAX_MANIFOLDS);
    assert_int_equal(count, 2);
    assert_true(out[0].normal.y * out[1].normal.y < 0.0f);
    assert_close(out[0].points[0].gap, out[1].points[0].gap, 1e-3);
    assert_int_not_equal(out[0].child, out[1].child);
  }
  wire_destroy(w, memory_of(&endless));
}

// A straight wire equals a capsule.
static void straight_wires_are_capsules(void **state)
{
  (void)state;
  uint32_t seed = 53;
  wire *w = rail(0.0f, 0.0f, 3);
  geometry a = {.kind = TN_SHAPE_WIRE, .radius = 0.1f, .wire = w}, tube = rod(0.1f, 1.0f);
  geometry shapes[4] = {ball(0.3f), rod(0.15f, 0.3f), block(0.4f, 0.2f, 0.3f), drum(0.25f, 0.2f)};
  pose along_x = at(zero, tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI));
  int touching = 0, off = 0, cast = 0;
  for (int i = 0; i < 8000; i++) {
    const geometry *b = &shapes[i % 4];
    tn_vec3 p = test_vector(&seed, 0.6f);
    pose where = at(tn_v3(2.2f * p.x, p.y, p.z), test_rotation(&seed));
    pose in_tube = pose_mul(pose_inverse(along_x), where);
    separation expected = convex_distance(&tube, b, in_tube);
    assert_int_equal(wire_overlaps(w, 0.1f, b, where), expected.distance <= 0.0f);
    manifold out[MAX_MANIFOLDS];
    int count = collide_wire(&a, b, where, 0.05f, out, MAX_MANIFOLDS), which = 0;
    if (fabsf(expected.distance - 0.05f) < 1e-4f || expected.distance < -0.05f) {
      continue;
    }
    assert_int_equal(count > 0, expected.distance < 0.05f);
    tn_vec3 from = tn_v3(3.0f * p.x, 2.0f, 3.0f * p.z), way = tn_v3(p.y, -3.0f, p.x);
    cast_hit c = {0}, d = {0};
    bool hits = wire_cast(w, 0.1f, b, at(from, where.q), way, 0.01f, 1.0f, &c);
    pose start = pose_mul(pose_inverse(along_x), at(from, where.q));
    assert_int_equal(
        hits, geometry_cast(&tube, b, start, pose_inverse_vector(along_x, way), 0.01f, 1.0f, &d));
    if (hits) {
      assert_close(c.fraction, d.fraction, 2e-4);
    }
    cast += hits;
    if (count == 0) {
      continue;
    }
    touching += 1;
    float gap = deepest(out, count, &which);
    if (fabsf(gap - expected.distance) > 1e-3f ||
        apart(out[which].normal, pose_vector(along_x, expected.normal)) > 0.02f) {
      off += 1;
    }
  }
  print_message("a straight wire: %d contacts as a capsule's but %d, %d casts\n", touching, off,
                cast);
  assert_true(touching > 1000);
  assert_true(cast > 500);
  assert_true(50 * off < touching);
  wire_destroy(w, memory_of(&endless));
}

// A capsule along the wire has contacts at both ends; a box has four or two points.
static void wires_carry_bodies_that_lie_along_them(void **state)
{
  (void)state;
  wire *w = rail(0.0f, 0.0f, 6);
  geometry a = {.kind = TN_SHAPE_WIRE, .radius = 0.1f, .wire = w}, b = rod(0.2f, 0.7f),
           c = block(0.8f, 0.2f, 0.3f);
  tn_quat lie = tn_quat_axis_angle(tn_v3(0.0f, 0.0f, 1.0f), -0.5f * TN_PI);
  for (int i = 0; i < 100; i++) {
    float x = -1.0f + 0.02f * (float)i;
    manifold out[MAX_MANIFOLDS];
    assert_int_equal(
        collide_wire(&a, &b, at(tn_v3(x, 0.305f, 0.0f), lie), 0.05f, out, MAX_MANIFOLDS), 2);
    float first = out[0].points[0].a.x - x, second = out[1].points[0].a.x - x;
    assert_close(fminf(first, second), -0.7, 1e-4);
    assert_close(fmaxf(first, second), 0.7, 1e-4);
    assert_close(out[0].points[0].gap, 0.005, 1e-6);
    assert_int_equal(collide_wire(&a, &c, at(tn_v3(x, 0.305f, 0.0f), tn_quat_identity()), 0.05f,
                                  out, MAX_MANIFOLDS),
                     1);
    assert_true(out[0].count >= 2);
    float low = INFINITY, high = -INFINITY;
    for (int k = 0; k < out[0].count; k++) {
      low = fminf(low, out[0].points[k].a.x - x);
      high = fmaxf(high, out[0].points[k].a.x - x);
      assert_close(out[0].points[k].gap, 0.005, 1e-6);
    }
    assert_close(low, -0.8, 1e-3);
    assert_close(high, 0.8, 1e-3);
    assert_close(out[0].normal.y, 1.0, 1e-6);
  }
  wire_destroy(w, memory_of(&endless));
}

static void wire_rays_find_the_tube(void **state)
{
  (void)state;
  uint32_t seed = 59;
  int hits = 0, wrong = 0;
  for (int i = 0; i < 60; i++) {
    tn_wire_point points[5];
    bool closed = i % 2;
    int count = 2 + test_index(&seed, 4);
    wire *w = random_wire(points, count, closed, &seed);
    for (int k = 0; k < 50; k++) {
      float radius = 0.15f;
      tn_vec3 from = test_vector(&seed, 3.0f),
              way = tn_scale(1.5f, tn_sub(test_vector(&seed, 2.0f), from));
      closest c = {0};
      // The first of many samples that lies inside; the surface is between it and the one before.
      float expected = INFINITY;
      for (int n = 0; n <= 400 && expected == INFINITY; n++) {
        float t = (float)n / 400.0f;
        if (wire_closest(w, radius, tn_add(from, tn_scale(t, way)), 0.0f, &c)) {
          expected = t;
        }
      }
      ray_hit hit = {INFINITY, zero};
      bool found = wire_ray(w, radius, from, way, 1.0f, &hit);
      hits += found;
      if (expected == INFINITY ? found && hit.fraction < 0.0f
                               : !found || hit.fraction > expected + 1e-6f) {
        wrong += 1;
      }
      if (!found || hit.fraction == 0.0f) {
        continue;
      }
      tn_vec3 p = tn_add(from, tn_scale(hit.fraction, way));
      assert_true(wire_closest(w, radius, p, 1.0f, &c));
      assert_close(c.distance, 0.0, 2e-5);
      assert_close(apart(c.normal, hit.normal), 0.0, 1e-2);
      assert_true(expected == INFINITY || hit.fraction >= expected - 1.0f / 400.0f - 1e-6f);
    }
    wire_destroy(w, memory_of(&endless));
  }
  print_message("rays against wires: %d of 3000 hit, %d wrong\n", hits, wrong);
  assert_true(hits > 300);
  assert_int_equal(wrong, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_wires_are_refused),
      cmocka_unit_test(failed_allocations_create_nothing),
      cmocka_unit_test(wire_closest_matches_sampling),
      cmocka_unit_test(wires_hold_spheres_and_capsules),
      cmocka_unit_test(marble_runs_on_rails),
      cmocka_unit_test(ball_between_turns_of_a_coil_touches_both),
      cmocka_unit_test(straight_wires_are_capsules),
      cmocka_unit_test(wires_carry_bodies_that_lie_along_them),
      cmocka_unit_test(wire_rays_find_the_tube),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
