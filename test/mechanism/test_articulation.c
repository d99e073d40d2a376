// Reduced coordinates. On random trees of all kinds of joints, every quantity is compared with
// d'Alembert's principle, with motion and partial velocities by finite differences of poses:
//
//   force_k = sum over bodies of m (c'' - g) . dc/dq_k + (I w' + w x I w) . dphi/dq_k.
#include "support.h"

#include "data/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BODIES 10
#define MAX_NUMBERS (7 * MAX_BODIES)
#define MAX_MATRIX (MAX_NUMBERS * MAX_NUMBERS)

static const tn_vec3 z_axis = {0.0f, 0.0f, 1.0f};

// ---------------------------------------------------------------------------------------------
// Random trees

typedef struct tree {
  tn_world *world;
  tn_articulation *articulation;
  tn_body_id bodies[MAX_BODIES];
  int body_count, n, positions;
} tree;

static tn_mass random_mass(uint32_t *random)
{
  float size = test_between(random, 0.2f, 1.0f);
  tn_mass m = {.mass = test_between(random, 0.2f, 5.0f), .center = test_vector(random, 0.3f)};
  float a = m.mass * size * size * test_between(random, 0.14f, 0.2f);
  float b = m.mass * size * size * test_between(random, 0.14f, 0.2f);
  float c = m.mass * size * size * test_between(random, 0.14f, 0.2f);
  float mixed = 0.02f * m.mass * size * size;
  m.inertia = (tn_sym3){a, b, c, mixed, -mixed, 0.5f * mixed};
  return m;
}

static void open_some_axes(uint32_t *random, tn_joint_def *def)
{
  tn_range open = {-INFINITY, INFINITY};
  int which = test_index(random, 63); // at least one axis stays locked
  for (int i = 0; i < 3; ++i) {
    float at = test_between(random, -0.3f, 0.3f), turn = test_between(random, -0.5f, 0.5f);
    def->linear[i] = which >> i & 1 ? open : tn_between(at, at);
    turn = test_index(random, 2) ? 0.0f : turn;
    def->angular[i] = which >> (3 + i) & 1 ? open : tn_between(turn, turn);
  }
}

static void add_random_joint(uint32_t *random, tn_world *world, tn_joint_kind kind, tn_body_id a,
                             tn_body_id b, bool armature)
{
  tn_joint_def def = tn_default_joint_def(kind);
  bool swap = test_index(random, 2) == 1;
  def.body_a = swap ? b : a;
  def.body_b = swap ? a : b;
  tn_vec3 p = test_vector(random, 0.5f), q = test_vector(random, 0.5f);
  def.frame_a = (tn_transform){tn_p3((double)p.x, (double)p.y, (double)p.z), test_rotation(random)};
  def.frame_b = (tn_transform){tn_p3((double)q.x, (double)q.y, (double)q.z), test_rotation(random)};
  if (kind == TN_JOINT_GENERIC) {
    open_some_axes(random, &def);
  }
  for (int i = 0; armature && i < TN_JOINT_AXIS_COUNT; ++i) {
    bool ball = kind == TN_JOINT_BALL || kind == TN_JOINT_FIXED || kind == TN_JOINT_GENERIC;
    def.axis[i].armature = ball || !test_index(random, 2) ? 0.0f : test_between(random, 0.0f, 1.0f);
  }
  assert_false(TN_IS_NULL(tn_joint_create(world, &def)));
}

static tn_articulation *articulate(tn_world *world, const tn_body_id *roots, int count)
{
  tn_articulation_def def = tn_default_articulation_def();
  def.roots = roots;
  def.root_count = count;
  return tn_articulation_create(world, &def);
}

static tree make_tree(uint32_t seed, bool floating, bool armature)
{
  static const tn_joint_kind kinds[] = {TN_JOINT_HINGE,     TN_JOINT_PRISMATIC, TN_JOINT_CYLINDER,
                                        TN_JOINT_UNIVERSAL, TN_JOINT_BALL,      TN_JOINT_FIXED,
                                        TN_JOINT_GENERIC};
  uint32_t random = 77u + 977u * seed;
  tree t = {.world = test_world(20, TN_METHOD_TENON)};
  t.body_count = 2 + test_index(&random, MAX_BODIES - 1);
  for (int i = 0; i < t.body_count; ++i) {
    tn_body_def def = tn_default_body_def();
    def.mass = random_mass(&random);
    def.gravity_scale = test_index(&random, 4) ? 1.0f : 0.3f;
    t.bodies[i] = tn_body_create(t.world, &def);
    assert_false(TN_IS_NULL(t.bodies[i]));
    tn_body_id parent = i ? t.bodies[test_index(&random, i)] : test_no_body;
    if (i > 0 || !floating) {
      add_random_joint(&random, t.world, kinds[test_index(&random, 7)], parent, t.bodies[i],
                       armature);
    }
  }
  t.articulation = articulate(t.world, t.bodies, 1);
  assert_non_null(t.articulation);
  tn_articulation_counts counts = tn_articulation_get_counts(t.articulation);
  assert_int_equal(counts.joints, t.body_count);
  assert_int_equal(counts.loops, 0);
  t.n = counts.velocities;
  t.positions = counts.positions;
  return t;
}

static void release(tree *t)
{
  tn_articulation_destroy(t->articulation);
  tn_world_destroy(t->world);
}

static void random_numbers(uint32_t *random, double *x, int n, float size)
{
  for (int i = 0; i < n; ++i) {
    x[i] = (double)test_between(random, -size, size);
  }
}

// Quaternions are random and not unit.
static void set_random_positions(uint32_t *random, tree *t, double *q)
{
  random_numbers(random, q, t->positions, 1.3f);
  assert_true(tn_articulation_set_positions(t->articulation, q, NULL));
  assert_true(tn_articulation_positions(t->articulation, q));
}

// ---------------------------------------------------------------------------------------------
// Finite differences of poses

typedef struct record {
  tn_pos center;
  dquat rotation; // of the principal axes
} record;

static void record_at(tree *t, const double *q, const double *u, double dt, record *to)
{
  double moved[MAX_NUMBERS];
  memcpy(moved, q, sizeof(double) * (size_t)t->positions);
  assert_true(tn_articulation_integrate(t->articulation, moved, u, dt));
  assert_true(tn_articulation_set_positions(t->articulation, moved, NULL));
  for (int i = 0; i < t->body_count; ++i) {
    const body *b = &t->world->bodies[t->bodies[i].index];
    to[i] = (record){b->center, b->rotation};
  }
}

// Rotation vector from one pose to another, small.
static tn_pos turn_between(dquat from, dquat to)
{
  dquat d = dquat_mul(to, dquat_conjugate(from));
  double sign = d.w < 0.0 ? -1.0 : 1.0;
  double sine = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  double ratio = sine > 1e-12 ? 2.0 * asin(fmin(sine, 1.0)) / sine : 2.0;
  return tn_p3(sign * ratio * d.x, sign * ratio * d.y, sign * ratio * d.z);
}

static tn_pos stencil(const double *weights, const tn_pos *x, double scale)
{
  tn_pos sum = {0.0, 0.0, 0.0};
  for (int i = 0; i < 5; ++i) {
    sum = tn_p3(sum.x + scale * weights[i] * x[i].x, sum.y + scale * weights[i] * x[i].y,
                sum.z + scale * weights[i] * x[i].z);
  }
  return sum;
}

// Velocity and acceleration of each body: of the centre, and angular; fourth order.
typedef struct body_motion {
  tn_pos v, a, w, alpha;
} body_motion;

static void find_motion(tree *t, const double *q, const double *u, const double *rate, double h,
                        body_motion *out)
{
  static const double first[5] = {1.0, -8.0, 0.0, 8.0, -1.0};
  static const double second[5] = {-1.0, 16.0, -30.0, 16.0, -1.0};
  record at[5][MAX_BODIES];
  for (int s = 0; s < 5; ++s) {
    double time = (s - 2) * h, mean[MAX_NUMBERS];
    for (int k = 0; k < t->n; ++k) {
      mean[k] = u[k] + 0.5 * rate[k] * time;
    }
    record_at(t, q, mean, time, at[s]);
  }
  for (int i = 0; i < t->body_count; ++i) {
    tn_pos c[5], turn[5];
    for (int s = 0; s < 5; ++s) {
      tn_pos c0 = at[2][i].center, cs = at[s][i].center;
      c[s] = tn_p3(cs.x - c0.x, cs.y - c0.y, cs.z - c0.z);
      turn[s] = turn_between(at[2][i].rotation, at[s][i].rotation);
    }
    out[i] = (body_motion){
        stencil(first, c, 1.0 / (12.0 * h)), stencil(second, c, 1.0 / (12.0 * h * h)),
        stencil(first, turn, 1.0 / (12.0 * h)), stencil(second, turn, 1.0 / (12.0 * h * h))};
  }
}

static double dot(tn_pos a, tn_pos b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static tn_pos times_inertia(const body *b, tn_pos w)
{
  tn_pos local = dquat_rotate(dquat_conjugate(b->rotation), w);
  local = tn_p3(b->moments[0] * local.x, b->moments[1] * local.y, b->moments[2] * local.z);
  return dquat_rotate(b->rotation, local);
}

// What the bodies' motion asks for: m (c'' - g) and I w' + w x I w, in `v` and `w`.
static void forces_of(tree *t, const body_motion *m, body_motion *out)
{
  tn_vec3 g = tn_world_gravity(t->world);
  for (int i = 0; i < t->body_count; ++i) {
    const body *b = &t->world->bodies[t->bodies[i].index];
    double mass = (double)b->mass.mass, s = (double)b->gravity_scale;
    out[i].v = tn_p3(mass * (m[i].a.x - s * (double)g.x), mass * (m[i].a.y - s * (double)g.y),
                     mass * (m[i].a.z - s * (double)g.z));
    tn_pos l = times_inertia(b, m[i].w), turn = times_inertia(b, m[i].alpha);
    tn_pos w = m[i].w;
    out[i].w = tn_p3(turn.x + w.y * l.z - w.z * l.y, turn.y + w.z * l.x - w.x * l.z,
                     turn.z + w.x * l.y - w.y * l.x);
  }
}

static double sum_over_bodies(const tree *t, const body_motion *force, const body_motion *along)
{
  double sum = 0.0;
  for (int i = 0; i < t->body_count; ++i) {
    sum += dot(force[i].v, along[i].v) + dot(force[i].w, along[i].w);
  }
  return sum;
}

static double largest(const double *x, int n)
{
  double most = 0.0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

// ---------------------------------------------------------------------------------------------
// Laws

// Partial velocities of all bodies, for each coordinate.
static void find_partials(tree *t, const double *q, body_motion partial[][MAX_BODIES])
{
  for (int k = 0; k < t->n; ++k) {
    double one[MAX_NUMBERS] = {0.0}, zero[MAX_NUMBERS] = {0.0};
    one[k] = 1.0;
    find_motion(t, q, one, zero, 1e-3, partial[k]);
  }
}

static void check_mass_matrix(tree *t, body_motion partial[][MAX_BODIES], double *matrix)
{
  assert_true(tn_articulation_mass_matrix(t->articulation, matrix));
  double scale = largest(matrix, t->n * t->n);
  for (int k = 0; k < t->n; ++k) {
    for (int l = 0; l < t->n; ++l) {
      body_motion force[MAX_BODIES];
      for (int i = 0; i < t->body_count; ++i) {
        const body *b = &t->world->bodies[t->bodies[i].index];
        tn_pos v = partial[l][i].v;
        double m = (double)b->mass.mass;
        force[i].v = tn_p3(m * v.x, m * v.y, m * v.z);
        force[i].w = times_inertia(b, partial[l][i].w);
      }
      assert_close(matrix[k * t->n + l], sum_over_bodies(t, force, partial[k]), 1e-8 * scale);
      assert_true(matrix[k * t->n + l] == matrix[l * t->n + k]);
    }
  }
}

static void check_jacobian(tree *t, uint32_t *random, body_motion partial[][MAX_BODIES])
{
  double linear[3 * MAX_NUMBERS], angular[3 * MAX_NUMBERS];
  int i = test_index(random, t->body_count);
  const body *b = &t->world->bodies[t->bodies[i].index];
  tn_vec3 v = test_vector(random, 1.0f);
  tn_pos point = tn_p3((double)v.x, (double)v.y, (double)v.z);
  assert_true(tn_articulation_jacobian(t->articulation, t->bodies[i], point, linear, angular));
  dquat q = dquat_mul(b->rotation, dquat_conjugate(b->local_principal));
  tn_pos arm = dquat_rotate(q, tn_p3(point.x - b->local_center.x, point.y - b->local_center.y,
                                     point.z - b->local_center.z));
  for (int k = 0; k < t->n; ++k) {
    tn_pos w = partial[k][i].w, c = partial[k][i].v;
    assert_close(linear[k], c.x + w.y * arm.z - w.z * arm.y, 1e-8);
    assert_close(linear[t->n + k], c.y + w.z * arm.x - w.x * arm.z, 1e-8);
    assert_close(linear[2 * t->n + k], c.z + w.x * arm.y - w.y * arm.x, 1e-8);
    assert_close(angular[k], w.x, 1e-8);
    assert_close(angular[t->n + k], w.y, 1e-8);
    assert_close(angular[2 * t->n + k], w.z, 1e-8);
  }
}

static void check_dynamics(tree *t, const double *q, const double *u, const double *rate,
                           body_motion partial[][MAX_BODIES], const double *matrix)
{
  double forces[MAX_NUMBERS], bias[MAX_NUMBERS], back[MAX_NUMBERS];
  assert_true(tn_articulation_inverse_dynamics(t->articulation, rate, forces));
  assert_true(tn_articulation_bias_forces(t->articulation, bias));
  assert_true(tn_articulation_forward_dynamics(t->articulation, forces, back));
  double scale = largest(forces, t->n) + largest(bias, t->n);
  for (int k = 0; k < t->n; ++k) {
    double sum = bias[k];
    for (int l = 0; l < t->n; ++l) {
      sum += matrix[k * t->n + l] * rate[l];
    }
    assert_close(forces[k], sum, 1e-12 * scale);
    assert_close(back[k], rate[k], 1e-6); // times the condition of the matrix
  }
  body_motion motion[MAX_BODIES], asked[MAX_BODIES];
  find_motion(t, q, u, rate, 1e-3, motion);
  record_at(t, q, u, 0.0, (record[MAX_BODIES]){0});
  forces_of(t, motion, asked);
  for (int k = 0; k < t->n; ++k) {
    assert_close(forces[k], sum_over_bodies(t, asked, partial[k]), 1e-6 * scale);
  }
}

static double quadratic(const double *matrix, const double *u, int n)
{
  double sum = 0.0;
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l < n; ++l) {
      sum += 0.5 * u[k] * matrix[k * n + l] * u[l];
    }
  }
  return sum;
}

// Power: d/dt of kinetic and potential energy along the motion is the work of the forces.
static void check_power(tree *t, const double *q, const double *u, const double *rate,
                        const double *forces)
{
  static double matrix[MAX_MATRIX];
  double energy[2], power = 0.0, h = 1e-4, scale = 0.0;
  for (int s = 0; s < 2; ++s) {
    double time = s ? h : -h, mean[MAX_NUMBERS], then[MAX_NUMBERS];
    for (int k = 0; k < t->n; ++k) {
      mean[k] = u[k] + 0.5 * rate[k] * time;
      then[k] = u[k] + rate[k] * time;
    }
    record_at(t, q, mean, time, (record[MAX_BODIES]){0});
    assert_true(tn_articulation_mass_matrix(t->articulation, matrix));
    energy[s] = quadratic(matrix, then, t->n) + tn_world_energy(t->world).potential;
  }
  for (int k = 0; k < t->n; ++k) {
    power += u[k] * forces[k];
    scale += fabs(u[k] * forces[k]);
  }
  assert_close((energy[1] - energy[0]) / (2.0 * h), power, 1e-5 * scale + 1e-6);
}

static void check_tree(uint32_t seed, bool floating)
{
  static double matrix[MAX_MATRIX];
  static body_motion partial[MAX_NUMBERS][MAX_BODIES];
  uint32_t random = 5u + seed;
  tree t = make_tree(seed, floating, false);
  double q[MAX_NUMBERS], again[MAX_NUMBERS], u[MAX_NUMBERS], rate[MAX_NUMBERS];
  set_random_positions(&random, &t, q);
  find_partials(&t, q, partial);
  assert_true(tn_articulation_set_positions(t.articulation, q, NULL));
  assert_true(tn_articulation_positions(t.articulation, again));
  for (int i = 0; i < t.positions; ++i) {
    assert_close(again[i], q[i], 1e-12);
  }
  random_numbers(&random, rate, t.n, 2.0f);
  random_numbers(&random, u, t.n, 2.0f);
  double asked[MAX_NUMBERS];
  memcpy(asked, u, sizeof asked);
  assert_true(tn_articulation_set_velocities(t.articulation, u, NULL));
  assert_true(tn_articulation_velocities(t.articulation, u));
  for (int i = 0; i < t.n; ++i) {
    assert_close(u[i], asked[i], 2e-5); // bodies' velocities are floats
  }
  check_mass_matrix(&t, partial, matrix);
  double kinetic = tn_world_energy(t.world).kinetic;
  assert_close(quadratic(matrix, u, t.n), kinetic, 1e-5 * kinetic);
  check_jacobian(&t, &random, partial);
  check_dynamics(&t, q, u, rate, partial, matrix);
  double forces[MAX_NUMBERS];
  assert_true(tn_articulation_inverse_dynamics(t.articulation, rate, forces));
  check_power(&t, q, u, rate, forces);
  release(&t);
}

static void trees_obey_dalembert(void **state)
{
  (void)state;
  for (int i = 0; i < test_cases(40, 1000); ++i) {
    check_tree((uint32_t)i, i % 2 == 1);
  }
}

// Ten short steps of the world from rest under random generalised forces against forward dynamics.
// The solver's regularization lets joints lag in the first of them, which has no warm start.
static void applied_forces_accelerate(void **state)
{
  (void)state;
  for (int i = 0; i < test_cases(30, 300); ++i) {
    uint32_t random = 900u + (uint32_t)i;
    tree t = make_tree((uint32_t)i, i % 2 == 0, i % 3 == 0);
    double q[MAX_NUMBERS], forces[MAX_NUMBERS], rate[MAX_NUMBERS], u[MAX_NUMBERS];
    set_random_positions(&random, &t, q);
    random_numbers(&random, forces, t.n, 5.0f);
    assert_true(tn_articulation_forward_dynamics(t.articulation, forces, rate));
    tn_world_set_substeps(t.world, 1);
    for (int step = 0; step < 10; ++step) {
      assert_true(tn_articulation_apply_forces(t.articulation, forces));
      test_run(t.world, 1e-4f, 1);
    }
    assert_true(tn_articulation_velocities(t.articulation, u));
    double scale = largest(rate, t.n);
    for (int k = 0; k < t.n; ++k) {
      assert_close(u[k] * 1e3, rate[k], 1e-3 * scale);
    }
    release(&t);
  }
}

// ---------------------------------------------------------------------------------------------
// Arms, loops, errors

#define LINKS 3

typedef struct arm {
  tn_world *world;
  tn_body_id links[LINKS];
  tn_articulation *articulation;
} arm;

static arm make_arm(void)
{
  arm a = {.world = test_world(20, TN_METHOD_TENON)};
  for (int i = 0; i < LINKS; ++i) {
    a.links[i] = test_box(a.world, tn_p3(i + 0.5, 0.0, 0.0), 1.0f, tn_v3(0.5f, 0.1f, 0.1f));
    tn_joint_def def = test_joint_def(a.world, TN_JOINT_HINGE, i ? a.links[i - 1] : test_no_body,
                                      a.links[i], tn_p3(i, 0.0, 0.0), z_axis);
    def.axis[TN_ANGULAR_A].drive = tn_servo(0.0f, INFINITY, 0.0f);
    tn_joint_create(a.world, &def);
  }
  a.articulation = articulate(a.world, a.links, 1);
  return a;
}

// Servos that hold an arm exert the forces of gravity: 10 m/s^2 on links of 1 kg and 1 m.
static void servos_carry_the_bias(void **state)
{
  (void)state;
  arm a = make_arm();
  double q[LINKS] = {0.3, -0.5, 0.4}, u[LINKS] = {0.0, 0.0, 0.0}, held[LINKS], bias[LINKS];
  tn_keyframe start = {q, u, q};
  assert_true(tn_articulation_apply(a.articulation, &start));
  test_run(a.world, 1.0f / 60.0f, 60);
  double now[LINKS], target[LINKS];
  tn_keyframe end = {.positions = now, .targets = target};
  assert_true(tn_articulation_save(a.articulation, &end));
  assert_true(tn_articulation_joint_forces(a.articulation, held));
  assert_true(tn_articulation_bias_forces(a.articulation, bias));
  double angle = 0.0, x[LINKS + 1] = {0.0};
  for (int i = 0; i < LINKS; ++i) {
    angle += q[i];
    x[i + 1] = x[i] + cos(angle);
  }
  for (int i = 0; i < LINKS; ++i) {
    double weight = 0.0; // moment about joint i
    for (int k = i; k < LINKS; ++k) {
      weight += 10.0 * (0.5 * (x[k] + x[k + 1]) - x[i]);
    }
    assert_close(now[i], q[i], 1e-5);
    assert_close(target[i], q[i], 1e-7);
    assert_close(bias[i], weight, 1e-3);
    assert_close(held[i], weight, 1e-3 * fabs(weight) + 1e-3);
  }
  tn_articulation_destroy(a.articulation);
  tn_world_destroy(a.world);
}

// A crank of 0.3, a coupler and a rocker of 1 m on posts 1 m apart.
static tn_world *make_four_bar(tn_body_id bars[3])
{
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_pos p[4] = {{0.0, 0.0, 0.0}, {0.0, 0.3, 0.0}, {0.9, 0.9, 0.0}, {1.0, -0.1, 0.0}};
  for (int i = 0; i < 3; ++i) {
    tn_pos m = tn_p3(0.5 * (p[i].x + p[i + 1].x), 0.5 * (p[i].y + p[i + 1].y), 0.0);
    bars[i] = test_box(world, m, 1.0f, tn_v3(0.1f, 0.1f, 0.1f));
  }
  test_joint(world, TN_JOINT_HINGE, test_no_body, bars[0], p[0], z_axis);
  test_joint(world, TN_JOINT_HINGE, bars[0], bars[1], p[1], z_axis);
  test_joint(world, TN_JOINT_HINGE, bars[1], bars[2], p[2], z_axis);
  test_joint(world, TN_JOINT_HINGE, bars[2], test_no_body, p[3], z_axis);
  return world;
}

static double worst_elongation(tn_world *world)
{
  tn_joint_id joints[8];
  int count = tn_world_joints(world, joints, 8);
  double most = 0.0;
  for (int i = 0; i < count; ++i) {
    most = fmax(most, (double)tn_joint_get_state(world, joints[i]).elongation);
  }
  return most;
}

// The crank is kept at any angle and rate while the rest follows.
static void loops_close(void **state)
{
  (void)state;
  tn_body_id bars[3];
  tn_world *world = make_four_bar(bars);
  tn_articulation *a = articulate(world, bars, 1);
  tn_articulation_counts counts = tn_articulation_get_counts(a);
  assert_int_equal(counts.joints, 3);
  assert_int_equal(counts.loops, 1);
  bool keep[3] = {true, false, false};
  for (int i = 0; i <= 24; ++i) { // a whole turn
    double q[3], u[3] = {2.0, 0.0, 0.0}, now[3];
    assert_true(tn_articulation_positions(a, q));
    q[0] = i * 0.26;
    assert_true(tn_articulation_set_positions(a, q, keep));
    assert_true(tn_articulation_positions(a, now));
    assert_close(sin(now[0] - q[0]), 0.0, 1e-12);
    assert_below(worst_elongation(world), 1e-6);
    assert_true(tn_articulation_set_velocities(a, u, keep));
    assert_true(tn_articulation_velocities(a, u));
    assert_close(u[0], 2.0, 1e-6);
    tn_world_set_substeps(world, 1);
    test_run(world, 1e-4f, 1);
    assert_true(tn_articulation_velocities(a, now));
    for (int k = 0; k < 3; ++k) {
      assert_close(now[k], u[k], 0.02); // gravity and the linkage's own, for 0.1 ms
    }
  }
  double far[3] = {0.0, 0.0, 2.5}; // crank and rocker kept: no coupler is that long
  double before[3], after[3];
  bool both[3] = {true, true, true};
  assert_true(tn_articulation_positions(a, before));
  test_forget_messages();
  assert_false(tn_articulation_set_positions(a, far, both));
  assert_message("loops cannot close");
  assert_true(tn_articulation_positions(a, after));
  assert_memory_equal(before, after, sizeof before);
  tn_articulation_destroy(a);
  tn_world_destroy(world);
}

// Depth first by creation, from a root that is A of its joint to the world.
static void order_is_depth_first(void **state)
{
  (void)state;
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_body_id b[5];
  for (int i = 0; i < 5; ++i) {
    b[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(i, 0.0, 0.0));
  }
  tn_pos o = tn_p3(0.0, 0.0, 0.0);
  test_joint(world, TN_JOINT_BALL, b[0], b[2], o, z_axis);
  test_joint(world, TN_JOINT_HINGE, b[1], b[0], o, z_axis);
  test_joint(world, TN_JOINT_FIXED, b[2], b[3], o, z_axis);
  test_joint(world, TN_JOINT_HINGE, b[0], test_no_body, o, z_axis);
  test_joint(world, TN_JOINT_DISTANCE, b[1], b[3], o, z_axis);
  test_joint(world, TN_JOINT_DISTANCE, b[1], b[4], o, z_axis);
  tn_articulation *a = articulate(world, b, 1);
  tn_articulation_joint list[5];
  assert_int_equal(tn_articulation_joints(a, list, 5), 4);
  static const int bodies[4] = {0, 2, 3, 1}, parents[4] = {-1, 0, 1, 0};
  static const int first[4] = {0, 1, 5, 5}, velocities[4] = {0, 1, 4, 4};
  for (int i = 0; i < 4; ++i) {
    assert_true(TN_SAME_ID(list[i].body, b[bodies[i]]));
    assert_int_equal(list[i].parent, parents[i]);
    assert_int_equal(list[i].first_position, first[i]);
    assert_int_equal(list[i].first_velocity, velocities[i]);
  }
  tn_joint_id loops[2];
  assert_int_equal(tn_articulation_loops(a, loops, 2), 1); // the one to b[4] leads out
  tn_articulation_destroy(a);
  tn_articulation_def def = tn_default_articulation_def();
  tn_body_id roots[2] = {b[0], b[2]};
  def.roots = roots;
  def.root_count = 2;
  def.cuts = &list[1].joint;
  def.cut_count = 1;
  a = tn_articulation_create(world, &def);
  assert_int_equal(tn_articulation_joints(a, list, 5), 4);
  assert_true(TN_SAME_ID(list[1].body, b[1]));
  assert_true(TN_SAME_ID(list[2].body, b[2]) && list[2].velocity_count == 6);
  assert_int_equal(tn_articulation_loops(a, loops, 2), 2);
  tn_articulation_destroy(a);
  tn_world_destroy(world);
}

static void bad_input_is_refused(void **state)
{
  (void)state;
  arm a = make_arm();
  tn_body_id ground = test_body(a.world, TN_BODY_STATIC, tn_p3(0.0, -5.0, 0.0));
  tn_body_id roots[2] = {a.links[0], a.links[1]};
  double q[LINKS] = {0.0, 0.0, 0.0}, nan[LINKS] = {0.0, NAN, 0.0}, jacobian[3 * LINKS];
  test_forget_messages();
  assert_null(articulate(a.world, NULL, 0));
  assert_message("there is no root");
  assert_null(articulate(a.world, &test_no_body, 1));
  assert_message("a root is null");
  assert_null(articulate(a.world, &ground, 1));
  assert_message("not dynamic");
  assert_null(articulate(a.world, roots, 2));
  assert_message("part of the tree of another root");
  assert_null(articulate(NULL, roots, 1));
  assert_null(tn_articulation_create(a.world, &(tn_articulation_def){.roots = roots}));
  assert_message("tn_default_articulation_def");
  tn_articulation_def cut = tn_default_articulation_def();
  cut.roots = roots;
  cut.cuts = &(tn_joint_id){0};
  cut.root_count = cut.cut_count = 1;
  assert_null(tn_articulation_create(a.world, &cut));
  assert_message("a cut is null");
  assert_false(tn_articulation_set_positions(a.articulation, nan, NULL));
  assert_message("not finite");
  assert_false(tn_articulation_set_velocities(a.articulation, nan, NULL));
  assert_message("not finite");
  assert_false(tn_articulation_apply_forces(a.articulation, nan));
  assert_message("not finite");
  assert_false(tn_articulation_integrate(a.articulation, q, nan, 1.0));
  assert_message("not finite");
  assert_false(
      tn_articulation_jacobian(a.articulation, ground, tn_p3(0.0, 0.0, 0.0), jacobian, NULL));
  assert_message("not part of the articulation");
  assert_false(tn_articulation_positions(NULL, q));
  assert_false(tn_articulation_positions(a.articulation, NULL));
  tn_joint_id last;
  assert_int_equal(tn_body_joints(a.world, a.links[2], &last, 1), 1);
  tn_joint_set_enabled(a.world, last, false);
  assert_false(tn_articulation_positions(a.articulation, q));
  assert_message("body 2 of the articulation has lost its joint, which is disabled");
  tn_joint_set_enabled(a.world, last, true);
  assert_true(tn_articulation_positions(a.articulation, q));
  tn_body_destroy(a.world, a.links[1]);
  assert_false(tn_articulation_bias_forces(a.articulation, q));
  assert_message("body 1 of the articulation has been destroyed; make a new one");
  tn_world_destroy(a.world);
  tn_articulation_destroy(a.articulation);
}

static void failed_allocations_leak_nothing(void **state)
{
  (void)state;
  test_meter meter = {.until_failure = -1};
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  def.allocator = test_metered(&meter);
  tn_world *world = tn_world_create(&def);
  tn_body_id root = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  size_t before = meter.bytes;
  for (int i = 0; i < 40; ++i) {
    meter.until_failure = i;
    tn_articulation *a = articulate(world, &root, 1);
    meter.until_failure = -1;
    tn_articulation_destroy(a);
    assert_int_equal(meter.bytes, before);
    assert_int_equal(i >= 19, a != NULL);
  }
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_obey_dalembert),           cmocka_unit_test(applied_forces_accelerate),
      cmocka_unit_test(servos_carry_the_bias),          cmocka_unit_test(loops_close),
      cmocka_unit_test(order_is_depth_first),           cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(failed_allocations_leak_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
