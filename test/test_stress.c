// Random joint graphs whose frames do not meet, with mass ratios to 1e4: nothing may blow up.
#include "support.h"

#include <math.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)
#define SUBSTEPS 20
#define MAX_BODIES 16

typedef enum graph_kind {
  GRAPH_RIGID,
  GRAPH_STIFF,   // a quarter of the joints are springs that a substep does not resolve
  GRAPH_SPRINGS, // all are springs that it does
} graph_kind;

typedef struct random_graph {
  tn_world *world;
  tn_body_id body[MAX_BODIES];
  int count;
  uint32_t seed;
  graph_kind kind;
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

// The least and the most of what impulses between the two frames see as inverse mass.
static void add_inverse_mass(const random_graph *g, tn_body_id id, tn_pos at, double linear[2],
                             double angular[2])
{
  if (TN_IS_NULL(id)) {
    return;
  }
  tn_mass m = tn_body_mass(g->world, id);
  double least = (double)fminf(m.inertia.xx, fminf(m.inertia.yy, m.inertia.zz));
  double most = (double)fmaxf(m.inertia.xx, fmaxf(m.inertia.yy, m.inertia.zz));
  linear[0] += 1.0 / (double)m.mass;
  linear[1] += 1.0 / (double)m.mass + (at.x * at.x + at.y * at.y + at.z * at.z) / least;
  angular[0] += 1.0 / most;
  angular[1] += 1.0 / least;
}

// Springs and soft limits, friction and damping: slow or fast compared with a substep.
static void soften(random_graph *g, tn_joint_def *def)
{
  double linear[2] = {0.0, 0.0}, angular[2] = {0.0, 0.0};
  add_inverse_mass(g, def->body_a, def->frame_a.p, linear, angular);
  add_inverse_mass(g, def->body_b, def->frame_b.p, linear, angular);
  double square = (double)(DT / SUBSTEPS) * (double)(DT / SUBSTEPS);
  if (g->kind == GRAPH_SPRINGS) {
    def->compliance = (float)(10.0 * square * linear[1]) * power_of_ten(g, 0.0f, 2.0f);
    def->angular_compliance = (float)(10.0 * square * angular[1]) * power_of_ten(g, 0.0f, 2.0f);
  } else {
    def->compliance = (float)(0.1 * square * linear[0]) * power_of_ten(g, -4.0f, 0.0f);
    def->angular_compliance = (float)(0.1 * square * angular[0]) * power_of_ten(g, -4.0f, 0.0f);
  }
  def->limit_compliance = def->compliance;
  def->angular_limit_compliance = def->angular_compliance;
  if (pick_below(g, 2)) {
    def->angular_damping = between(g, 0.0f, 10.0f);
    def->angular_friction = between(g, 0.0f, 0.1f);
  }
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
  // Angles of a universal joint jump where its axes meet, which springs cannot prevent.
  bool jumps = g->kind == GRAPH_SPRINGS && def.kind == TN_JOINT_UNIVERSAL;
  if (pick_below(g, 2) && !jumps) {
    limit(g, &def);
  }
  if (pick_below(g, 4) == 0 && g->kind == GRAPH_RIGID) {
    drive(g, &def);
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

// Of a graph with springs frames miss each other by up to half a metre, and by any angle.
static void bring_near(random_graph *g, tn_joint_def *def)
{
  tn_transform a = {tn_p3(0.0, 0.0, 0.0), tn_quat_identity()};
  tn_transform b = tn_body_transform(g->world, def->body_b);
  if (TN_IS_NULL(def->body_a)) {
    def->frame_a.p = tn_offset(b.p, vector(g, 0.5f));
  } else {
    a = tn_body_transform(g->world, def->body_a);
  }
  tn_vec3 from_a = tn_v3((float)def->frame_a.p.x, (float)def->frame_a.p.y, (float)def->frame_a.p.z);
  tn_pos point = tn_offset(tn_offset(a.p, tn_rotate(a.q, from_a)), vector(g, 0.29f));
  tn_vec3 from_b = tn_rotate(tn_quat_conjugate(b.q), tn_between_points(b.p, point));
  def->frame_b.p = tn_p3((double)from_b.x, (double)from_b.y, (double)from_b.z);
}

static void join(random_graph *g, tn_body_id a, tn_body_id b)
{
  tn_joint_def def = random_joint(g, a, b);
  if (g->kind != GRAPH_RIGID) {
    bring_near(g, &def);
    if (g->kind == GRAPH_SPRINGS || pick_below(g, 4) == 0) {
      soften(g, &def);
    }
  }
  assert_false(TN_IS_NULL(tn_joint_create(g->world, &def)));
}

// A tree whose frames miss each other by up to one and a half metres along each axis and by any
// angle, with loops that may be impossible to close. Half of the graphs hang from their heaviest
// body; the others float, as falling would only add its own speed.
static random_graph make_graph(uint32_t seed, graph_kind kind, int most_bodies)
{
  random_graph g = {
      .world = test_world(SUBSTEPS, TN_METHOD_TENON), .seed = seed * 7919u + 1u, .kind = kind};
  int heaviest = 0;
  g.count = 2 + pick_below(&g, most_bodies - 1);
  for (int i = 0; i < g.count; ++i) {
    if (i == 0) {
      g.body[0] = random_body(&g, tn_p3(0.0, 0.0, 0.0));
      continue;
    }
    tn_body_id parent = g.body[pick_below(&g, i)];
    tn_vec3 miss = vector(&g, 0.5f);
    g.body[i] = random_body(&g, tn_offset(tn_body_position(g.world, parent), miss));
    join(&g, parent, g.body[i]);
    float mass = tn_body_mass(g.world, g.body[i]).mass;
    heaviest = mass > tn_body_mass(g.world, g.body[heaviest]).mass ? i : heaviest;
  }
  for (int i = 0; i < (g.count + 1) / 3; ++i) {
    tn_body_id a = g.body[pick_below(&g, g.count)];
    tn_body_id b = g.body[pick_below(&g, g.count)];
    if (!TN_SAME_ID(a, b)) {
      join(&g, a, b);
    }
  }
  if (pick_below(&g, 2) && kind != GRAPH_STIFF) {
    join(&g, test_no_body, g.body[heaviest]);
  } else {
    tn_world_set_gravity(g.world, tn_v3(0.0f, 0.0f, 0.0f));
  }
  return g;
}

typedef struct outcome {
  double fastest; // m/s
  double gained;  // J/kg above where it began
} outcome;

// Five seconds.
static outcome run_graph(const random_graph *g)
{
  outcome o = {0.0, 0.0};
  double mass = 0.0;
  for (int k = 0; k < g->count; ++k) {
    mass += (double)tn_body_mass(g->world, g->body[k]).mass;
  }
  tn_energy start = tn_world_energy(g->world);
  for (int i = 0; i < 300; ++i) {
    assert_int_equal(tn_world_step(g->world, DT) & TN_STEP_NON_FINITE, 0);
    for (int k = 0; k < g->count; ++k) {
      o.fastest = fmax(o.fastest, (double)tn_length(tn_body_velocity(g->world, g->body[k])));
    }
    tn_energy now = tn_world_energy(g->world);
    // What stiff springs hold as rigid joints do, by force, is no energy of theirs.
    bool counted = g->kind == GRAPH_SPRINGS;
    double gained = now.kinetic + now.potential - start.kinetic - start.potential +
                    (counted ? now.elastic - start.elastic : 0.0);
    o.gained = fmax(o.gained, gained / mass);
  }
  tn_world_destroy(g->world);
  return o;
}

typedef struct worst_of {
  outcome worst;
  uint32_t fastest_seed, gained_seed;
  int too_fast, gaining;
} worst_of;

// One in `share` of a range of seeds.
static worst_of run_graphs(graph_kind kind, const uint32_t *range, uint32_t share, int most_bodies)
{
  worst_of w = {0};
  for (uint32_t seed = range[0]; seed < range[1]; seed += share) {
    random_graph g = make_graph(seed, kind, most_bodies);
    outcome o = run_graph(&g);
    w.too_fast += o.fastest > 100.0;
    w.gaining += o.gained > 5.0;
    w.fastest_seed = o.fastest > w.worst.fastest ? seed : w.fastest_seed;
    w.gained_seed = o.gained > w.worst.gained ? seed : w.gained_seed;
    w.worst.fastest = fmax(w.worst.fastest, o.fastest);
    w.worst.gained = fmax(w.worst.gained, o.gained);
  }
  print_message(
      "  fastest body %.1f m/s (seed %u), above 100 m/s in %d; %.1f J/kg gained (seed %u), "
      "more than 5 in %d\n",
      w.worst.fastest, w.fastest_seed, w.too_fast, w.worst.gained, w.gained_seed, w.gaining);
  return w;
}

static void rigid_graphs_stay_calm(void **range)
{
  assert_int_equal(run_graphs(GRAPH_RIGID, *range, 1, 4).too_fast, 0);
}

static void large_rigid_graphs_stay_calm(void **range)
{
  assert_int_equal(run_graphs(GRAPH_RIGID, *range, 50, MAX_BODIES).too_fast, 0);
}

// A spring that starts half a metre too long may throw a light body as far as it likes, but only
// with what it holds.
static void graphs_of_springs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_SPRINGS, *range, 4, 6).gaining, 0);
}

// Springs that a substep does not resolve close like rigid joints.
static void graphs_of_stiff_springs_stay_calm(void **range)
{
  assert_int_equal(run_graphs(GRAPH_STIFF, *range, 4, 6).too_fast, 0);
}

// Seeds from and to: several runs of this share the work.
int main(int count, char **arguments)
{
  uint32_t range[2] = {0, 500};
  for (int i = 0; i < 2 && count > 2; ++i) {
    range[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(rigid_graphs_stay_calm, range),
      cmocka_unit_test_prestate(large_rigid_graphs_stay_calm, range),
      cmocka_unit_test_prestate(graphs_of_springs_gain_nothing, range),
      cmocka_unit_test_prestate(graphs_of_stiff_springs_stay_calm, range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
