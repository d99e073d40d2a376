// Paths of couplings around spheres and cylinders: shortest lengths, gradients, forces on all
// bodies.
#include "support.h"

#include <math.h>
#include <string.h>

#define DT (1.0f / 60.0f)
#define G 10.0 // of test_world()
#define PI 3.14159265358979323846

static double random_between(uint32_t *seed, double lo, double hi)
{
  *seed = *seed * 1664525u + 1013904223u;
  return lo + (hi - lo) * (double)(*seed >> 8) / 16777216.0;
}

static tn_pos random_point(uint32_t *seed, double reach)
{
  double x = random_between(seed, -reach, reach), y = random_between(seed, -reach, reach);
  return tn_p3(x, y, random_between(seed, -reach, reach));
}

static tn_vec3 to_float(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static tn_pos mix(double s, tn_pos a, double t, tn_pos b)
{
  return tn_p3(s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z);
}

static double dot(tn_pos a, tn_pos b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double apart(tn_pos a, tn_pos b)
{
  tn_pos d = mix(1.0, a, -1.0, b);
  return sqrt(dot(d, d));
}

// A solid around the origin, with its axis of unit length.
typedef struct solid {
  bool sphere;
  double radius;
  tn_pos axis;
} solid;

// From the axis, or the centre, to a point.
static tn_pos outward(const solid *s, tn_pos p)
{
  return s->sphere ? p : mix(1.0, p, -dot(p, s->axis), s->axis);
}

static double height_over(const solid *s, tn_pos p)
{
  tn_pos out = outward(s, p);
  return sqrt(dot(out, out)) - s->radius;
}

static solid random_solid(uint32_t *seed)
{
  solid s = {random_between(seed, 0.0, 1.0) < 0.5, random_between(seed, 0.1, 1.0),
             random_point(seed, 1.0)};
  s.axis = mix(1.0 / sqrt(dot(s.axis, s.axis)), s.axis, 0.0, s.axis);
  return s;
}

static tn_pos random_outside(uint32_t *seed, const solid *s)
{
  tn_pos p;
  do {
    p = random_point(seed, 2.0);
  } while (height_over(s, p) < 0.05);
  return p;
}

static tn_coupling_def path_of(const solid *s, tn_pos a, tn_pos b, tn_vec3 side, bool inside)
{
  tn_body_id none = {0};
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_point(&def, none, a, 1.0f);
  tn_coupling_def_wrap(&def, none, tn_p3(0.0, 0.0, 0.0), (float)s->radius,
                       s->sphere ? tn_v3(0.0f, 0.0f, 0.0f) : to_float(s->axis));
  tn_coupling_def_point(&def, none, b, 1.0f);
  def.points[1].side = side;
  def.points[1].inside = inside;
  return def;
}

static double length_of(const tn_coupling_def *def)
{
  tn_transform poses[TN_COUPLING_POINTS];
  memset(poses, 0, sizeof poses); // not used
  return tn_coupling_def_length(def, poses);
}

// A string of beads that shortens itself around the solid, from a start on one side of it.
static double relaxed_length(const solid *s, tn_pos a, tn_pos b, tn_pos via)
{
  enum { BEADS = 96, ROUNDS = 30000 };
  tn_pos bead[BEADS + 1];
  for (int i = 0; i <= BEADS; ++i) {
    double t = (double)i / BEADS;
    bead[i] =
        t < 0.5 ? mix(1.0 - 2.0 * t, a, 2.0 * t, via) : mix(2.0 - 2.0 * t, via, 2.0 * t - 1.0, b);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 1; i < BEADS; ++i) {
      tn_pos p = mix(0.5, bead[i - 1], 0.5, bead[i + 1]);
      p = mix(1.9, p, -0.9, bead[i]); // over-relaxed
      double over = height_over(s, p);
      if (over < 0.0) {
        tn_pos out = outward(s, p);
        p = mix(1.0, p, -over / fmax(1e-9, sqrt(dot(out, out))), out);
      }
      bead[i] = p;
    }
  }
  double sum = 0.0;
  for (int i = 0; i < BEADS; ++i) {
    sum += apart(bead[i], bead[i + 1]);
  }
  return sum;
}

// Chords of the arc are shorter than it: by a share of (turn / beads)^2 / 24.
static void paths_are_the_shortest(void **unused)
{
  (void)unused;
  uint32_t seed = 5;
  int around = 0;
  for (int trial = 0; trial < test_cases(60, 600); ++trial) {
    solid s = random_solid(&seed);
    tn_pos a = random_outside(&seed, &s), b = random_outside(&seed, &s);
    bool sided = trial % 2 == 1;
    tn_vec3 side = sided ? to_float(random_point(&seed, 1.0)) : tn_v3(0.0f, 0.0f, 0.0f);
    tn_coupling_def def = path_of(&s, a, b, side, false);
    double length = length_of(&def), straight = apart(a, b);
    assert_true(length >= straight - 1e-12);
    around += length > straight + 1e-9;
    if (sided || length < straight + 1e-9) {
      continue;
    }
    // The shorter of the two ways around.
    double best = INFINITY;
    tn_pos middle = outward(&s, mix(0.5, a, 0.5, b));
    tn_pos n = s.sphere ? tn_p3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
                        : s.axis;
    tn_pos d = mix(1.0, b, -1.0, a);
    tn_pos out = tn_p3(n.y * d.z - n.z * d.y, n.z * d.x - n.x * d.z, n.x * d.y - n.y * d.x);
    out = mix(1.0 / sqrt(dot(out, out)), out, 0.0, out);
    for (int way = -1; way <= 1; way += 2) {
      tn_pos via = mix(1.0, mix(1.0, mix(0.5, a, 0.5, b), -1.0, middle), 1.5 * way * s.radius, out);
      best = fmin(best, relaxed_length(&s, a, b, via));
    }
    assert_close(length / best, 1.0, 3e-4);
  }
  assert_true(around > test_cases(15, 150));
}

// With a side the path passes there: its nearest point to the axis lies on that side of the centre,
// or it is straight and free.
static void paths_keep_to_their_side(void **unused)
{
  (void)unused;
  uint32_t seed = 8;
  for (int trial = 0; trial < test_cases(2000, 20000); ++trial) {
    solid s = random_solid(&seed);
    tn_pos a = random_outside(&seed, &s), b = random_outside(&seed, &s);
    tn_pos side = outward(&s, random_point(&seed, 1.0));
    tn_vec3 no_side = tn_v3(0.0f, 0.0f, 0.0f);
    tn_coupling_def here = path_of(&s, a, b, to_float(side), false);
    tn_coupling_def there = path_of(&s, a, b, to_float(mix(-1.0, side, 0.0, side)), false);
    tn_coupling_def shorter = path_of(&s, a, b, no_side, false);
    double one = length_of(&here), other = length_of(&there);
    // The two sides are the two ways, of which the shorter one is taken without a side.
    assert_close(fmin(one, other), length_of(&shorter), 1e-9);
    assert_true(fmax(one, other) > fmin(one, other) - 1e-12);
    tn_coupling_def back = path_of(&s, b, a, to_float(side), false);
    assert_close(length_of(&back), one, 1e-9);
  }
}

// Through a ring: the shortest of all paths over one point of the surface.
static void paths_inside_touch_once(void **unused)
{
  (void)unused;
  uint32_t seed = 17;
  for (int trial = 0; trial < test_cases(200, 2000); ++trial) {
    solid s = random_solid(&seed);
    tn_pos a = random_outside(&seed, &s), b = random_outside(&seed, &s);
    s.sphere = false; // scanned by angle and height
    if (height_over(&s, a) < 0.05 || height_over(&s, b) < 0.05) {
      continue;
    }
    tn_coupling_def def = path_of(&s, a, b, tn_v3(0.0f, 0.0f, 0.0f), true);
    double length = length_of(&def), straight = apart(a, b);
    bool crosses = false;
    for (int i = 0; i <= 1000; ++i) {
      crosses = crosses || height_over(&s, mix(1.0 - i / 1000.0, a, i / 1000.0, b)) < 0.0;
    }
    if (crosses) {
      assert_close(length, straight, 1e-9);
      continue;
    }
    tn_pos u = outward(&s, a);
    u = mix(1.0 / sqrt(dot(u, u)), u, 0.0, u);
    tn_pos n = s.axis,
           v = tn_p3(n.y * u.z - n.z * u.y, n.z * u.x - n.x * u.z, n.x * u.y - n.y * u.x);
    double best = INFINITY;
    for (int i = 0; i < 3600; ++i) {
      tn_pos ring = mix(s.radius * cos(PI * i / 1800.0), u, s.radius * sin(PI * i / 1800.0), v);
      double pa = apart(outward(&s, a), ring), pb = apart(outward(&s, b), ring);
      double rise = dot(b, n) - dot(a, n);
      best = fmin(best, sqrt((pa + pb) * (pa + pb) + rise * rise));
    }
    assert_close(length, best, 1e-5 + (length > straight + 1e-4 ? 0.0 : 1e-4));
  }
}

// ---------------------------------------------------------------------------------------------
// In worlds

static tn_body_id make_lump(tn_world *world, tn_pos at, double mass, double inertia)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.mass.mass = (float)mass;
  def.mass.inertia = (tn_sym3){.xx = (float)inertia, .yy = (float)inertia, .zz = (float)inertia};
  return tn_body_create(world, &def);
}

typedef struct roped {
  tn_body_id body[3]; // end, solid, end
  tn_coupling_id rope;
} roped;

// Two bodies and a solid between them, all free, with a rope around it.
static roped make_roped(tn_world *world, uint32_t *seed)
{
  tn_body_id none = {0};
  solid s = random_solid(seed);
  tn_pos at[3] = {random_outside(seed, &s), {0.0, 0.0, 0.0}, random_outside(seed, &s)};
  roped r = {{none, none, none}, {0}};
  for (int i = 0; i < 3; ++i) {
    r.body[i] = make_lump(world, at[i], random_between(seed, 0.5, 2.0), 0.1);
  }
  tn_coupling_def def = tn_default_coupling_def();
  tn_coupling_def_point(&def, r.body[0], random_point(seed, 0.01), 1.0f);
  tn_coupling_def_wrap(&def, r.body[1], random_point(seed, 0.02), (float)s.radius,
                       s.sphere ? tn_v3(0.0f, 0.0f, 0.0f) : to_float(s.axis));
  tn_coupling_def_point(&def, r.body[2], random_point(seed, 0.01), 1.0f);
  if (random_between(seed, 0.0, 1.0) < 0.7) { // most are taut around the solid
    tn_pos d = mix(1.0, at[2], 1.0, at[0]);
    def.points[1].side = to_float(mix(-1.0, outward(&s, d), 0.0, d));
  }
  def.points[1].inside = random_between(seed, 0.0, 1.0) < 0.2;
  def.range = tn_between(-INFINITY, INFINITY);
  r.rope = tn_coupling_create(world, &def);
  assert_false(TN_IS_NULL(r.rope));
  return r;
}

// The rate is the derivative of the length when all bodies move.
static void rates_are_derivatives(void **unused)
{
  (void)unused;
  uint32_t seed = 3;
  const float e = 1.0f / 512.0f;
  for (int trial = 0; trial < test_cases(200, 2000); ++trial) {
    tn_world *world = test_world(8, TN_METHOD_TENON);
    roped r = make_roped(world, &seed);
    double value[3];
    tn_transform start[3];
    tn_vec3 v[3], w[3];
    for (int i = 0; i < 3; ++i) {
      start[i] = tn_body_transform(world, r.body[i]);
      v[i] = to_float(random_point(&seed, 1.0));
      w[i] = to_float(random_point(&seed, 1.0));
      tn_body_set_velocity(world, r.body[i], v[i]);
      tn_body_set_angular_velocity(world, r.body[i], w[i]);
    }
    double rate = (double)tn_coupling_get_state(world, r.rope).rate;
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) {
        tn_transform t = start[i];
        double step = (k - 1) * (double)e;
        t.p = tn_p3(t.p.x + step * (double)v[i].x, t.p.y + step * (double)v[i].y,
                    t.p.z + step * (double)v[i].z);
        tn_vec3 half = tn_scale(0.5f * (float)step, w[i]); // e is small
        t.q = (tn_quat){half.x, half.y, half.z, sqrtf(1.0f - tn_dot(half, half))};
        tn_body_set_transform(world, r.body[i], t);
      }
      value[k] = tn_coupling_get_state(world, r.rope).value;
    }
    // Beside the curvature: a path may leave the solid or change sides within the difference.
    double ahead = (value[2] - value[1]) / (double)e, behind = (value[1] - value[0]) / (double)e;
    if (fabs(ahead - behind) < 0.05) {
      assert_close(rate, 0.5 * (ahead + behind), 2e-3);
    }
    tn_world_destroy(world);
  }
}

// Nothing pulls from outside: linear and angular momentum stay, and an undamped spring keeps the
// energy.
static void ropes_around_solids_conserve(void **unused)
{
  (void)unused;
  uint32_t seed = 12;
  for (int trial = 0; trial < test_cases(30, 300); ++trial) {
    tn_world *world = test_world(20, TN_METHOD_TENON);
    tn_world_set_gravity(world, tn_v3(0.0f, 0.0f, 0.0f));
    roped r = make_roped(world, &seed);
    tn_coupling_def def = tn_coupling_get_def(world, r.rope);
    def.points[1].side = tn_v3(0.0f, 0.0f, 0.0f); // no jumps to the long way
    def.rest = 0.9f * (float)tn_coupling_get_state(world, r.rope).value;
    def.stiffness = 20.0f;
    assert_true(tn_coupling_set_def(world, r.rope, &def));
    tn_pos origin = {0.0, 0.0, 0.0};
    double energy = tn_world_energy(world).total, most = 0.0;
    for (int i = 0; i < 60; ++i) {
      test_run(world, DT, 1);
      most = fmax(most, fabs(tn_world_energy(world).total - energy));
    }
    tn_momentum p = tn_world_momentum(world, origin);
    for (int i = 0; i < 3; ++i) {
      assert_close(p.linear[i], 0.0, 1e-5);
      assert_close(p.angular[i], 0.0, 1e-4);
    }
    assert_below(most, 0.02 * energy);
    tn_world_destroy(world);
  }
}

// Two masses over a fixed, smooth drum: an Atwood machine, which rests if they are equal.
static void drum_is_an_atwood_machine(void **unused)
{
  (void)unused;
  static const int substeps[] = {4, 8, 20};
  tn_body_id none = {0};
  for (int trial = 0; trial < 6; ++trial) {
    tn_world *world = test_world(substeps[trial % 3], TN_METHOD_TENON);
    double heavy = trial < 3 ? 1.0 : 3.0;
    tn_body_id a = make_lump(world, tn_p3(-0.3, -1.0, 0.0), 1.0, 0.01);
    tn_body_id b = make_lump(world, tn_p3(0.3, -1.0, 0.2), heavy, 0.01);
    tn_coupling_def def = tn_default_coupling_def();
    tn_coupling_def_point(&def, a, tn_p3(0.0, 0.0, 0.0), 1.0f);
    tn_coupling_def_wrap(&def, none, tn_p3(0.0, 0.0, 0.0), 0.3f, tn_v3(0.0f, 0.0f, 2.0f));
    tn_coupling_def_point(&def, b, tn_p3(0.0, 0.0, 0.0), 1.0f);
    def.points[1].side = tn_v3(0.0f, 1.0f, 0.0f);
    tn_transform poses[3] = {tn_body_transform(world, a), tn_transform_identity(),
                             tn_body_transform(world, b)};
    double turn = PI * 0.3 + 2.0, length = sqrt(turn * turn + 0.04);
    assert_close(tn_coupling_def_length(&def, poses), length, 1e-6);
    def.range = tn_between((float)length, (float)length);
    tn_coupling_id rope = tn_coupling_create(world, &def);
    tn_joint_def slide = test_joint_def(world, TN_JOINT_PRISMATIC, none, a, tn_p3(-0.3, -1.0, 0.0),
                                        tn_v3(0.0f, 1.0f, 0.0f));
    tn_joint_create(world, &slide);
    slide = test_joint_def(world, TN_JOINT_PRISMATIC, none, b, tn_p3(0.3, -1.0, 0.2),
                           tn_v3(0.0f, 1.0f, 0.0f));
    tn_joint_create(world, &slide);
    test_run(world, DT, 12); // 0.2 s
    double g = (heavy - 1.0) / (heavy + 1.0) * G;
    assert_close(tn_body_transform(world, b).p.y, -1.0 - 0.5 * g * 0.04, 2e-3);
    double tension = -(double)tn_coupling_get_state(world, rope).force;
    // The rope is oblique on the drum: by turn / length of its tension acts across the axis.
    assert_close(tension * turn / length, 2.0 * heavy / (1.0 + heavy) * G, 0.05);
    tn_world_destroy(world);
  }
}

static void bad_solids_are_refused(void **unused)
{
  (void)unused;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  uint32_t seed = 1;
  roped r = make_roped(world, &seed);
  tn_coupling_def good = tn_coupling_get_def(world, r.rope), def;
#define REFUSED(change, message)                                                                   \
  def = good;                                                                                      \
  change;                                                                                          \
  test_forget_messages();                                                                          \
  assert_false(tn_coupling_set_def(world, r.rope, &def));                                          \
  assert_message(message)
  REFUSED(def.points[1].radius = -1.0f, "radii");
  REFUSED(def.points[1].radius = NAN, "radii");
  REFUSED(def.points[1].axis.x = INFINITY, "axis");
  REFUSED(def.points[1].side.z = NAN, "side");
  REFUSED(def.points[0].radius = 1.0f, "between two points");
  REFUSED(def.points[2].radius = 1.0f, "between two points");
#undef REFUSED
  assert_true(tn_coupling_def_length(NULL, NULL) == 0.0);
  assert_true(tn_coupling_def_length(&good, NULL) == 0.0);
  def = good;
  def.point_count = TN_COUPLING_POINTS;
  assert_false(tn_coupling_def_wrap(&def, r.body[0], tn_p3(0.0, 0.0, 0.0), 1.0f, tn_v3(0, 0, 0)));
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(paths_are_the_shortest),       cmocka_unit_test(paths_keep_to_their_side),
      cmocka_unit_test(paths_inside_touch_once),      cmocka_unit_test(rates_are_derivatives),
      cmocka_unit_test(ropes_around_solids_conserve), cmocka_unit_test(drum_is_an_atwood_machine),
      cmocka_unit_test(bad_solids_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
