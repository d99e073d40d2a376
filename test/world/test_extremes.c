// Extremes: random worlds of bodies, joints and soft bodies over many orders of magnitude: sizes of
// 1e-3 to 1e3 m, masses of 1e-6 to 1e9 kg and their ratios up to 1e9, spins of 1e3 rad/s, speeds of
// 1e4 m/s, gravity up to 1e3 m/s^2, steps of 1e-5 to 0.5 s of 1 to 8 substeps, places up to 1e7 m
// away. The state is finite whatever the numbers; energy is not gained beyond a bound of the
// family; with sizes of 1e-2 to 1e2 m and ratios up to 1e4 nothing is much faster than a fall or
// the fastest body could make it; a step costs at most ten times that of the same world with
// ordinary numbers.
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, STEPS = 60 };

typedef struct extreme {
  uint32_t random;
  tn_world *world;
  float gravity, dt, size,
      ratio; // size: m, of a usual body; ratio: of the largest mass to the least
  tn_pos at;
  tn_body_id body[MOST];
  int bodies;
  double speed;     // m/s, that bodies begin with or kinematic ones have
  double height;    // m, that bodies may fall
  double soft_mass; // kg
  bool inside;      // sizes and ratios are those for which speeds are promised
  bool driven;      // kinematic bodies do work
  bool grounded;    // there is a ground: falls end
} extreme;

static float spread(extreme *e, float lo, float hi)
{
  return lo * expf(test_random(&e->random) * logf(hi / lo));
}

static tn_pos place(const extreme *e, double x, double y, double z)
{
  return tn_p3(e->at.x + x, e->at.y + y, e->at.z + z);
}

static tn_body_id add_box(extreme *e, tn_pos at, tn_vec3 half, float mass)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.mass = tn_mass_scaled_to(tn_mass_box(half, 1.0f), mass);
  def.max_speed = def.max_angular_speed = 1e5f;
  tn_body_id id = tn_body_create(e->world, &def);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = half;
  tn_shape_create(e->world, id, &box);
  assert_true(e->bodies < MOST && !TN_IS_NULL(id));
  e->body[e->bodies++] = id;
  return id;
}

static void add_ground(extreme *e)
{
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_STATIC;
  def.position = e->at;
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(e->world, tn_body_create(e->world, &def), &plane);
  e->grounded = true;
}

// ---------------------------------------------------------------------------------------------
// Families

// Light and heavy boxes in turns, the heaviest on top.
static void make_stack(extreme *e)
{
  add_ground(e);
  float light = spread(e, 1e-6f, 1.0f);
  for (int i = 0; i < 6; ++i) {
    float mass = i % 2 ? light * e->ratio : light;
    double s = (double)e->size;
    add_box(e, place(e, 0.0, s * (2.0 * i + 1.0), 0.0), tn_v3(e->size, e->size, e->size), mass);
  }
  e->height = 12.0 * (double)e->size;
}

// A chain whose last link is the heaviest.
static void make_chain(extreme *e)
{
  tn_body_id last = test_no_body;
  float light = spread(e, 1e-6f, 1.0f);
  tn_vec3 half = tn_v3(e->size, 0.3f * e->size, 0.3f * e->size);
  for (int i = 0; i < 8; ++i) {
    double x = 2.0 * (double)e->size * i;
    tn_body_id link = add_box(e, place(e, x + (double)e->size, 0.0, 0.0), half,
                              i == 7 ? light * e->ratio : light);
    tn_joint_kind kind = test_index(&e->random, 2) ? TN_JOINT_BALL : TN_JOINT_HINGE;
    test_joint(e->world, kind, last, link, place(e, x, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    last = link;
  }
  e->height = 40.0 * (double)e->size;
}

// Spinning boxes of unequal sides.
static void make_spins(extreme *e)
{
  for (int i = 0; i < 6; ++i) {
    float s = e->size;
    tn_vec3 half = tn_v3(s * spread(e, 0.1f, 1.0f), s * spread(e, 0.1f, 1.0f), s);
    tn_body_id id = add_box(e, place(e, 4.0 * (double)s * i, 2.0 * (double)s, 0.0), half,
                            spread(e, 1e-6f, 1e9f));
    float w = spread(e, 1.0f, 1e3f);
    tn_body_set_angular_velocity(e->world, id, test_vector(&e->random, w));
    e->speed = fmax(e->speed, 2.0 * (double)(w * s));
  }
  e->height = 4.0 * (double)e->size;
}

static void make_landing_spins(extreme *e)
{
  add_ground(e);
  make_spins(e);
}

// Bodies thrown at the ground and each other.
static void make_throws(extreme *e)
{
  add_ground(e);
  for (int i = 0; i < 8; ++i) {
    float s = e->size, v = spread(e, 1.0f, 1e4f);
    tn_body_id id =
        add_box(e, place(e, 3.0 * (double)s * (i % 4), 2.0 * (double)s * (1 + i / 4), 0.0),
                tn_v3(s, 0.5f * s, s), spread(e, 1.0f, 1e3f));
    tn_body_set_velocity(e->world, id, test_vector(&e->random, v));
    e->speed = fmax(e->speed, 1.8 * (double)v);
  }
  e->height = 8.0 * (double)e->size;
}

// A kinematic plate that comes down on boxes and goes on into the ground.
static void make_press(extreme *e)
{
  add_ground(e);
  for (int i = 0; i < 5; ++i) {
    double s = (double)e->size;
    add_box(e, place(e, 2.5 * s * i, s, 0.0), tn_v3(e->size, e->size, e->size),
            i % 2 ? e->ratio : 1.0f);
  }
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_KINEMATIC;
  def.position = place(e, 5.0 * (double)e->size, 3.5 * (double)e->size, 0.0);
  float v = fminf(e->size * spread(e, 0.1f, 10.0f), 2.0f * e->size / (STEPS * e->dt));
  def.velocity = tn_v3(0.0f, -v, 0.0f);
  tn_shape_def plate = tn_default_shape_def(TN_SHAPE_BOX);
  plate.half_extents = tn_v3(8.0f * e->size, e->size, 2.0f * e->size);
  tn_shape_create(e->world, tn_body_create(e->world, &def), &plate);
  e->speed = 10.0 * (double)v; // what is squeezed out
  e->height = 2.0 * (double)e->size;
  e->driven = true;
}

static tn_geometry_id bowl(extreme *e)
{
  float s = 6.0f * e->size;
  const tn_vec3 rim[5] = {{-s, 0.5f * s, -s},
                          {s, 0.5f * s, -s},
                          {s, 0.5f * s, s},
                          {-s, 0.5f * s, s},
                          {0.0f, 0.0f, 0.0f}};
  const int triangles[12] = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
  return tn_mesh_create(e->world, rim, 5, triangles, 4);
}

// A bowl of triangles that moves and turns, with bodies in it.
static void make_moving_mesh(extreme *e)
{
  tn_body_def def = tn_default_body_def();
  def.type = TN_BODY_KINEMATIC;
  def.position = e->at;
  def.velocity = test_vector(&e->random, 3.0f * e->size);
  def.angular_velocity = test_vector(&e->random, 2.0f);
  tn_shape_def mesh = tn_default_shape_def(TN_SHAPE_MESH);
  mesh.geometry = bowl(e);
  tn_shape_create(e->world, tn_body_create(e->world, &def), &mesh);
  for (int i = 0; i < 6; ++i) {
    float s = 0.5f * e->size;
    add_box(e, place(e, 3.0 * (double)s * (i % 3 - 1), (double)s * (8.0 + 2.5 * (i / 3)), 0.0),
            tn_v3(s, s, s), i % 2 ? e->ratio : 1.0f);
  }
  e->speed = 100.0 * (double)e->size;
  e->height = 20.0 * (double)e->size;
  e->driven = true;
}

// A soft solid or cloth, collapsed or turned inside out after its creation, on the ground.
static void make_soft(extreme *e)
{
  const int cells[3] = {2, 2, 2};
  add_ground(e);
  tn_soft_def def = tn_default_soft_def();
  bool solid = test_index(&e->random, 2);
  float s = e->size;
  assert_true(solid ? tn_soft_mesh_box(&def, cells, tn_v3(s, s, s), true)
                    : tn_soft_mesh_cloth(&def, 6, 6, 2.0f * s, 2.0f * s));
  def.position = place(e, 0.0, 2.0 * (double)s, 0.0);
  def.radius = 0.02f * s;
  def.mass = spread(e, 1e-3f, 1e3f);
  def.youngs_modulus = spread(e, 1e2f, 1e7f);
  tn_soft_id id = tn_soft_create(e->world, &def);
  assert_false(TN_IS_NULL(id));
  int how = solid ? test_index(&e->random, 3) : 0;
  for (int i = 0; i < def.vertex_count && how > 0; ++i) {
    tn_vec3 p = def.vertices[i];
    p.y *= how == 1 ? 0.01f : -1.0f; // collapsed; inside out
    tn_soft_set_position(e->world, id, i, tn_offset(def.position, p));
  }
  tn_soft_mesh_free(&def);
  e->soft_mass = (double)def.mass;
  e->height = 4.0 * (double)s;
}

// ---------------------------------------------------------------------------------------------
// Runs

typedef void make_fn(extreme *e);

// Bounds of the default method where a step resolves gravity: of the gain of kinetic and potential
// energy, over the largest kinetic energy and that of a fall; of speeds, over that of a fall and
// the fastest body at the beginning. None (infinite): a chain whose heaviest link is the last may
// crack like a whip; kinematic bodies do work.
typedef struct family {
  const char *name;
  make_fn *make;
  double gain, speed;
} family;

static const family families[] = {{"stack", make_stack, 0.001, 2.0},
                                  {"chain", make_chain, 0.5, INFINITY},
                                  {"spins", make_spins, 0.02, 2.0},
                                  {"landing spins", make_landing_spins, 0.05, 2.0},
                                  {"throws", make_throws, 0.001, 2.0},
                                  {"press", make_press, INFINITY, 2.0},
                                  {"moving mesh", make_moving_mesh, INFINITY, INFINITY},
                                  {"soft", make_soft, 0.01, INFINITY}};

static extreme begin(uint32_t seed, tn_method method, bool ordinary)
{
  extreme e = {.random = 7919u * seed + 1u};
  tn_world_def def = test_world_def(1, method);
  e.gravity = test_index(&e.random, 6) ? spread(&e, 1e-2f, 1e3f) : 0.0f;
  e.dt = spread(&e, 1e-5f, 0.5f);
  bool inside = test_index(&e.random, 2);
  e.size = inside ? spread(&e, 1e-2f, 1e2f) : spread(&e, 1e-3f, 1e3f);
  e.ratio = spread(&e, 1.0f, inside ? 1e4f : 1e9f);
  def.substeps = test_index(&e.random, 3) ? 1 + test_index(&e.random, 8) : 1;
  if (inside) { // gravity does not move a body by more than a part of its size in a substep
    float resolved = (float)def.substeps * sqrtf(0.05f * e.size / fmaxf(e.gravity, 1e-3f));
    e.dt = fminf(e.dt, resolved);
  }
  tn_vec3 far = test_vector(&e.random, test_index(&e.random, 3) ? 0.0f : 1e7f);
  e.at = tn_p3((double)far.x, (double)far.y, (double)far.z);
  e.inside = inside;
  if (ordinary) {
    e.gravity = 10.0f;
    e.dt = 1.0f / 60.0f;
    e.size = 0.5f;
    e.ratio = 1.0f;
    e.at = tn_p3(0.0, 0.0, 0.0);
  }
  def.gravity = tn_v3(0.0f, -e.gravity, 0.0f);
  e.world = tn_world_create(&def);
  return e;
}

static double fastest(const extreme *e)
{
  double most = 0.0;
  for (int i = 0; i < e->bodies; ++i) {
    most = fmax(most, (double)tn_length(tn_body_velocity(e->world, e->body[i])));
  }
  return most;
}

typedef struct outcome {
  double gain, speed; // over what is allowed
  double cost;        // s of processor time
  bool finite, inside;
} outcome;

static outcome run(const extreme *e)
{
  outcome o = {0.0, 0.0, 0.0, true, e->inside};
  tn_energy start = tn_world_energy(e->world);
  double most_kinetic = start.kinetic, mass = e->soft_mass, time = 0.0;
  for (int i = 0; i < e->bodies; ++i) {
    mass += (double)tn_body_mass(e->world, e->body[i]).mass;
  }
  for (int i = 0; i < STEPS; ++i) {
    clock_t begun = clock();
    uint32_t status = tn_world_step(e->world, e->dt);
    o.cost += (double)(clock() - begun) / CLOCKS_PER_SEC;
    assert_int_equal(status & (TN_STEP_REJECTED | TN_STEP_OUT_OF_MEMORY), 0);
    time += (double)e->dt;
    tn_energy now = tn_world_energy(e->world);
    most_kinetic = fmax(most_kinetic, now.kinetic);
    double room = most_kinetic + mass * (double)e->gravity * e->height + start.elastic;
    // The elastic energy of what a substep does not resolve is no measure: rounding squared times
    // stiffness.
    if (room > 0.0) {
      o.gain = fmax(o.gain, (now.kinetic + now.potential - start.total) / room);
    }
    double fall = e->grounded || e->driven ? sqrt(2.0 * (double)e->gravity * e->height)
                                           : (double)e->gravity * time;
    o.speed = fmax(o.speed, fastest(e) / (e->speed + fall + 1e-3 * (double)e->size));
    o.finite = o.finite && test_is_finite(e->world);
  }
  return o;
}

static outcome run_seed(const family *f, uint32_t seed, tn_method method, bool ordinary)
{
  extreme e = begin(seed, method, ordinary);
  f->make(&e);
  outcome o = run(&e);
  tn_world_destroy(e.world);
  return o;
}

static bool is_bounded(const family *f, tn_method method, const outcome *o)
{
  bool promised = o->inside && method == TN_METHOD_TENON;
  return o->finite && (!promised || (o->gain <= f->gain && o->speed <= f->speed));
}

// Returns the number of seeds that broke a bound. Steps of all seeds together cost at most ten
// times those of the same worlds with ordinary numbers.
static int check_family(const family *f, tn_method method)
{
  double gain = 0.0, speed = 0.0, cost = 0.0, ordinary = 0.0;
  int problems = 0;
  for (uint32_t seed = 0; seed < (uint32_t)test_cases(40, 400); ++seed) {
    outcome o = run_seed(f, seed, method, false);
    if (!is_bounded(f, method, &o)) {
      print_error("%s, %s, seed %u: finite %d, gain %g, speed %g\n", f->name,
                  test_method_name(method), (unsigned)seed, o.finite, o.gain, o.speed);
      ++problems;
    }
    gain = o.inside ? fmax(gain, o.gain) : gain;
    speed = o.inside ? fmax(speed, o.speed) : speed;
    cost += o.cost;
    ordinary += run_seed(f, seed, method, true).cost;
  }
  print_message("%-13s %-6s: gain %8.2g, speed %7.3g, cost %4.1f\n", f->name,
                test_method_name(method), gain, speed, cost / ordinary);
  assert_below(cost, 10.0 * ordinary);
  return problems;
}

static void extremes_are_bounded(void **state)
{
  (void)state;
  int problems = 0;
  for (size_t f = 0; f < sizeof families / sizeof *families; ++f) {
    for (int m = 0; m < TEST_METHODS; ++m) {
      problems += check_family(&families[f], test_methods[m]);
    }
  }
  assert_int_equal(problems, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extremes_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
