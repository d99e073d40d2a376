#include "random_graph.h"

#include <math.h>

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

// Drive force 5 m/s^2 times the lighter body's mass, at a lever arm of 0.1 m for a torque: large
// enough to matter, too small to explain high speeds.
static void drive(random_graph *g, tn_joint_def *def)
{
  int mode = (int)pick_below(g, 3); // servo, motor, force
  float mass = tn_body_mass(g->world, def->body_b).mass;
  if (!TN_IS_NULL(def->body_a)) {
    mass = fminf(mass, tn_body_mass(g->world, def->body_a).mass);
  }
  tn_drive d = tn_default_drive();
  d.target = between(g, -1.0f, 1.0f);
  d.velocity = between(g, -3.0f, 3.0f);
  float force = between(g, -5.0f, 5.0f);
  float stiffness = pick_below(g, 2) ? INFINITY : 100.0f;
  d.stiffness = mode == 0 ? stiffness : 0.0f;
  d.damping = mode == 1 ? INFINITY : 0.0f;
  d.force = mode == 2 ? force * mass : 0.0f;
  d.limits = tn_between(-20.0f * mass, 20.0f * mass);
  bool slides = def->kind == TN_JOINT_PRISMATIC || def->kind == TN_JOINT_CYLINDER;
  // The drive of a ball joint turns about three axes; the tests book the work along one.
  bool turns = def->kind == TN_JOINT_HINGE || def->kind == TN_JOINT_CYLINDER ||
               def->kind == TN_JOINT_UNIVERSAL;
  if (slides) {
    def->axis[TN_LINEAR_A].drive = d;
  }
  if (turns) {
    d.force *= 0.1f;
    d.limits = tn_between(-2.0f * mass, 2.0f * mass);
    def->axis[TN_ANGULAR_A].drive = d;
  }
}

// Bounds of the inverse effective mass of impulses between the two frames.
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

// Springs, soft limits, friction and damping whose periods are slow or fast compared with a
// substep.
static void soften(random_graph *g, tn_joint_def *def)
{
  double linear[2] = {0.0, 0.0}, angular[2] = {0.0, 0.0};
  add_inverse_mass(g, def->body_a, def->frame_a.p, linear, angular);
  add_inverse_mass(g, def->body_b, def->frame_b.p, linear, angular);
  double square = (double)(GRAPH_DT / GRAPH_SUBSTEPS) * (double)(GRAPH_DT / GRAPH_SUBSTEPS);
  if (g->kind == GRAPH_BETWEEN || g->kind == GRAPH_TANGLED) {
    double mean[2] = {sqrt(linear[0] * linear[1]), sqrt(angular[0] * angular[1])};
    def->compliance = (float)(square * mean[0]) * power_of_ten(g, -2.0f, 1.0f);
    def->angular_compliance = (float)(square * mean[1]) * power_of_ten(g, -2.0f, 1.0f);
  } else if (g->kind != GRAPH_STIFF) {
    def->compliance = (float)(10.0 * square * linear[1]) * power_of_ten(g, 0.0f, 2.0f);
    def->angular_compliance = (float)(10.0 * square * angular[1]) * power_of_ten(g, 0.0f, 2.0f);
  } else {
    def->compliance = (float)(0.1 * square * linear[0]) * power_of_ten(g, -4.0f, 0.0f);
    def->angular_compliance = (float)(0.1 * square * angular[0]) * power_of_ten(g, -4.0f, 0.0f);
  }
  def->limit_compliance = def->compliance;
  def->angular_limit_compliance = def->angular_compliance;
  if (pick_below(g, 2)) {
    def->axis[TN_ANGULAR_A].damping = between(g, 0.0f, 10.0f) * (float)(1.0 / angular[1]);
    def->axis[TN_ANGULAR_A].friction = between(g, 0.0f, 0.1f);
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
  if (pick_below(g, 2)) {
    limit(g, &def);
  }
  bool driven = g->kind != GRAPH_STIFF && g->kind != GRAPH_SPRINGS && g->kind != GRAPH_TANGLED;
  if (pick_below(g, 4) == 0 && driven) {
    drive(g, &def);
  }
  return def;
}

static tn_body_id random_body(random_graph *g, tn_pos at)
{
  tn_body_def def = test_body_def();
  def.position = at;
  def.rotation = rotation(g);
  def.velocity = vector(g, 2.0f);
  tn_vec3 half = tn_v3(between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f));
  def.mass = tn_mass_scaled_to(tn_mass_box(half, 1.0f), power_of_ten(g, -2.0f, 2.0f));
  def.max_speed = def.max_angular_speed = 1e6f; // the speed limit must not hide an instability
  return tn_body_create(g->world, &def);
}

// Frames with a position error of up to half a metre and any angle, or with none.
static void bring_near(random_graph *g, tn_joint_def *def, bool meet)
{
  tn_transform a = {tn_p3(0.0, 0.0, 0.0), tn_quat_identity()};
  tn_transform b = tn_body_transform(g->world, def->body_b);
  if (TN_IS_NULL(def->body_a)) {
    def->frame_a.p = tn_offset(b.p, vector(g, 0.5f));
  } else {
    a = tn_body_transform(g->world, def->body_a);
  }
  tn_vec3 miss = vector(g, 0.29f);
  if (meet) {
    float length = def->kind == TN_JOINT_DISTANCE ? def->linear[0].lo : 0.0f;
    miss = tn_scale(length / fmaxf(tn_length(miss), 1e-6f), miss);
    def->frame_b.q = tn_quat_mul(tn_quat_conjugate(b.q), tn_quat_mul(a.q, def->frame_a.q));
  }
  tn_vec3 from_a = tn_v3((float)def->frame_a.p.x, (float)def->frame_a.p.y, (float)def->frame_a.p.z);
  tn_pos point = tn_offset(tn_offset(a.p, tn_rotate(a.q, from_a)), miss);
  tn_vec3 from_b = tn_rotate(tn_quat_conjugate(b.q), tn_between_points(b.p, point));
  def->frame_b.p = tn_p3((double)from_b.x, (double)from_b.y, (double)from_b.z);
}

static void join(random_graph *g, tn_body_id a, tn_body_id b)
{
  tn_joint_def def = random_joint(g, a, b);
  bool mixed = g->kind == GRAPH_MIXED || g->kind == GRAPH_BETWEEN;
  bool soft = g->kind == GRAPH_SPRINGS || g->kind == GRAPH_TANGLED;
  soft = soft || (g->kind == GRAPH_STIFF && pick_below(g, 4) == 0);
  soft = soft || (mixed && pick_below(g, 2) == 0);
  if (g->kind != GRAPH_FAR) {
    bring_near(g, &def, mixed && !soft);
  }
  if (soft) {
    soften(g, &def);
  }
  assert_false(TN_IS_NULL(tn_joint_create(g->world, &def)));
}

random_graph graph_create(uint32_t seed, graph_kind kind, int most_bodies)
{
  random_graph g = {.world = test_world(GRAPH_SUBSTEPS, TN_METHOD_TENON),
                    .seed = seed * 7919u + 1u,
                    .kind = kind};
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
  g.hangs = pick_below(&g, 2) && kind != GRAPH_STIFF;
  if (g.hangs) {
    join(&g, test_no_body, g.body[heaviest]);
  } else {
    tn_world_set_gravity(g.world, tn_v3(0.0f, 0.0f, 0.0f));
  }
  return g;
}
