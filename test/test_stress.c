// Random joint graphs whose frames do not meet, with mass ratios to 1e4: nothing may blow up.
#include "support.h"

#include <math.h>

#define DT (1.0f / 60.0f)
#define MAX_BODIES 16
#define GRAPHS 150

typedef struct random_graph {
  tn_world *world;
  tn_body_id body[MAX_BODIES];
  int count;
  uint32_t seed;
  bool soft; // with springs
} random_graph;

static float between(random_graph *g, float lo, float hi)
{
  return lo + (hi - lo) * test_random(&g->seed);
}

static tn_vec3 vector(random_graph *g, float size)
{
  return tn_v3(between(g, -size, size), between(g, -size, size), between(g, -size, size));
}

static tn_quat rotation(random_graph *g)
{
  return tn_quat_axis_angle(vector(g, 1.0f), between(g, -3.0f, 3.0f));
}

static int pick_below(random_graph *g, int count)
{
  return (int)(test_random(&g->seed) * (float)count);
}

static float power_of_ten(random_graph *g, float lo, float hi)
{
  return tn_exp(2.302585f * between(g, lo, hi));
}

static void limit(random_graph *g, tn_joint_def *def)
{
  for (int i = 0; i < 3; ++i) {
    def->angular[i] = tn_between(-between(g, 0.0f, 1.0f), between(g, 0.0f, 1.0f));
  }
  def->swing = between(g, 0.1f, 1.0f);
}

// Strong enough to matter, too weak to be the cause of speed: a constant force of 5 m/s^2 times the
// lighter body's mass, at a lever of 0.1 m where it is a torque.
static void drive(random_graph *g, tn_joint_def *def)
{
  tn_drive_mode mode = (tn_drive_mode)(1 + pick_below(g, 3));
  float mass = tn_body_mass(g->world, def->body_b).mass;
  if (!TN_IS_NULL(def->body_a)) {
    mass = fminf(mass, tn_body_mass(g->world, def->body_a).mass);
  }
  tn_drive d = {mode,
                between(g, -1.0f, 1.0f),
                between(g, -3.0f, 3.0f),
                between(g, -5.0f, 5.0f),
                pick_below(g, 2) ? 0.0f : 0.01f,
                20.0f};
  d.force *= mass;
  d.max_force *= mass;
  bool slides = def->kind == TN_JOINT_PRISMATIC || def->kind == TN_JOINT_CYLINDER;
  bool turns = def->kind == TN_JOINT_HINGE || def->kind == TN_JOINT_CYLINDER ||
               def->kind == TN_JOINT_BALL || def->kind == TN_JOINT_UNIVERSAL;
  if (slides) {
    def->linear_drive = d;
  }
  if (turns) {
    d.force *= 0.1f;
    d.max_force *= 0.1f;
    def->angular_drive = d;
  }
}

// Springs and soft limits of any stiffness, friction and damping.
static void soften(random_graph *g, tn_joint_def *def)
{
  def->compliance = power_of_ten(g, -8.0f, -2.0f);
  def->angular_compliance = power_of_ten(g, -8.0f, -1.0f);
  def->limit_compliance = power_of_ten(g, -8.0f, -2.0f);
  def->angular_limit_compliance = power_of_ten(g, -8.0f, -1.0f);
  def->angular_damping = between(g, 0.0f, 10.0f);
  def->angular_friction = between(g, 0.0f, 0.1f);
}

static tn_joint_def random_joint(random_graph *g, tn_body_id a, tn_body_id b)
{
  tn_joint_def def = tn_default_joint_def((tn_joint_kind)pick_below(g, TN_JOINT_KIND_COUNT));
  def.body_a = a;
  def.body_b = b;
  tn_vec3 pa = vector(g, 0.5f);
  tn_vec3 pb = vector(g, 0.5f);
  def.frame_a.p = tn_p3((double)pa.x, (double)pa.y, (double)pa.z);
  def.frame_b.p = tn_p3((double)pb.x, (double)pb.y, (double)pb.z);
  def.frame_a.q = rotation(g);
  def.frame_b.q = rotation(g);
  if (def.kind == TN_JOINT_DISTANCE) {
    def.linear[0] = tn_between(between(g, 0.0f, 0.5f), between(g, 0.5f, 1.0f));
  } else if (def.kind == TN_JOINT_PRISMATIC || def.kind == TN_JOINT_CYLINDER) {
    def.linear[0] = tn_between(-between(g, 0.0f, 1.0f), between(g, 0.0f, 1.0f));
  }
  if (pick_below(g, 2)) {
    limit(g, &def);
  }
  if (pick_below(g, 4) == 0) {
    drive(g, &def);
  }
  if (g->soft && pick_below(g, 4) == 0) {
    soften(g, &def);
  }
  return def;
}

static tn_body_id random_body(random_graph *g, tn_pos at)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.rotation = rotation(g);
  def.velocity = vector(g, 2.0f);
  tn_vec3 half = tn_v3(between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f));
  def.mass = tn_mass_scaled_to(tn_mass_box(half, 1.0f), power_of_ten(g, -2.0f, 2.0f));
  def.max_speed = def.max_angular_speed = 1e6f; // no cap may hide anything
  return tn_body_create(g->world, &def);
}

// A tree whose frames miss each other by up to half a metre along each axis and by any angle, with
// loops that may be impossible to close. Half of the graphs hang from their heaviest body; the
// others float, as falling would only add its own speed.
static random_graph make_graph(uint32_t seed, bool soft)
{
  random_graph g = {
      .world = test_world(20, TN_METHOD_TENON), .seed = seed * 7919u + 1u, .soft = soft};
  int heaviest = 0;
  g.count = 2 + pick_below(&g, MAX_BODIES - 2);
  for (int i = 0; i < g.count; ++i) {
    if (i == 0) {
      g.body[0] = random_body(&g, tn_p3(0.0, 0.0, 0.0));
      continue;
    }
    tn_body_id parent = g.body[pick_below(&g, i)];
    tn_vec3 miss = vector(&g, 0.5f);
    g.body[i] = random_body(&g, tn_offset(tn_body_position(g.world, parent), miss));
    tn_joint_def def = random_joint(&g, parent, g.body[i]);
    assert_false(TN_IS_NULL(tn_joint_create(g.world, &def)));
    float mass = tn_body_mass(g.world, g.body[i]).mass;
    heaviest = mass > tn_body_mass(g.world, g.body[heaviest]).mass ? i : heaviest;
  }
  for (int i = 0; i < g.count / 3; ++i) {
    tn_body_id a = g.body[pick_below(&g, g.count)];
    tn_body_id b = g.body[pick_below(&g, g.count)];
    if (!TN_SAME_ID(a, b)) {
      tn_joint_def def = random_joint(&g, a, b);
      tn_joint_create(g.world, &def);
    }
  }
  if (pick_below(&g, 2)) {
    tn_body_id none = {0};
    tn_joint_def def = random_joint(&g, none, g.body[heaviest]);
    tn_joint_create(g.world, &def);
  } else {
    tn_world_set_gravity(g.world, tn_v3(0.0f, 0.0f, 0.0f));
  }
  return g;
}

static void random_graphs_stay_calm(void **unused)
{
  (void)unused;
  double fastest = 0.0;
  uint32_t worst = 0;
  int too_fast = 0;
  for (uint32_t seed = 0; seed < GRAPHS; ++seed) {
    random_graph g = make_graph(seed, false);
    double top = 0.0;
    for (int i = 0; i < 300; ++i) {
      assert_int_equal(tn_world_step(g.world, DT) & TN_STEP_NON_FINITE, 0);
      for (int k = 0; k < g.count; ++k) {
        top = fmax(top, (double)tn_length(tn_body_velocity(g.world, g.body[k])));
      }
    }
    too_fast += top > 100.0;
    worst = top > fastest ? seed : worst;
    fastest = fmax(fastest, top);
    tn_world_destroy(g.world);
  }
  print_message("%d random graphs: fastest body %.1f m/s (seed %u), above 100 m/s in %d\n", GRAPHS,
                fastest, worst, too_fast);
  assert_int_equal(too_fast, 0);
}

// A spring that starts half a metre too long may throw a light body as far as it likes; what it may
// not do is to leave the numbers.
static void soft_graphs_stay_finite(void **unused)
{
  (void)unused;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    random_graph g = make_graph(seed, true);
    for (int i = 0; i < 120; ++i) {
      assert_int_equal(tn_world_step(g.world, DT) & TN_STEP_NON_FINITE, 0);
    }
    tn_world_destroy(g.world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs_stay_calm),
      cmocka_unit_test(soft_graphs_stay_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
