// Random joint graphs whose frames do not meet, with mass ratios to 1e4: nothing may blow up, and
// no energy may come from nowhere.
//
// What is counted: motion, weight, what springs hold, and what drives have given. Closing rigid
// joints lifts bodies and turns drives, which is work from nowhere that has to be. So where the
// energy is counted, rigid joints that miss each other close before there are weight and drives.
// Then they may still pull together what turns, as a skater does with her arms. Momenta stay, so
// that has to have the energy of turning as one.
#include "support.h"

#include <math.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)
#define SUBSTEPS 20
#define MAX_BODIES 16

typedef enum graph_kind {
  GRAPH_FAR,     // rigid joints that are metres apart
  GRAPH_RIGID,   // and half a metre at most, as in all that follow
  GRAPH_STIFF,   // weightless; a quarter of the joints are springs that a substep does not resolve
  GRAPH_SPRINGS, // all are springs that it does
  GRAPH_MIXED,   // rigid joints that meet, and springs that do not
  GRAPH_BETWEEN, // the same, of springs that a substep resolves or not, or in some directions
  GRAPH_TANGLED, // all are such springs
} graph_kind;

#define MAX_DRIVES 48

typedef struct booked_drive {
  tn_joint_id joint;
  tn_drive drive;
  bool angular;
  double x;    // the coordinate it acts along
  double work; // at most
} booked_drive;

typedef struct random_graph {
  tn_world *world;
  tn_body_id body[MAX_BODIES];
  int count;
  booked_drive drive[MAX_DRIVES];
  int drive_count;
  bool hangs;
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
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.rotation = rotation(g);
  def.velocity = vector(g, 2.0f);
  tn_vec3 half = tn_v3(between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f), between(g, 0.05f, 0.5f));
  def.mass = tn_mass_scaled_to(tn_mass_box(half, 1.0f), power_of_ten(g, -2.0f, 2.0f));
  def.max_speed = def.max_angular_speed = 1e6f; // no cap may hide anything
  return tn_body_create(g->world, &def);
}

// Frames that miss each other by up to half a metre, and by any angle; or by nothing.
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

// A tree with loops that may be impossible to close, some joints twice. Half of the graphs hang
// from their heaviest body; the others float, as falling would only add its own speed.
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
  g.hangs = pick_below(&g, 2) && kind != GRAPH_STIFF;
  if (g.hangs) {
    join(&g, test_no_body, g.body[heaviest]);
  } else {
    tn_world_set_gravity(g.world, tn_v3(0.0f, 0.0f, 0.0f));
  }
  return g;
}

// ---------------------------------------------------------------------------------------------
// What drives give

static double coordinate_of(const random_graph *g, const booked_drive *d)
{
  tn_joint_state now = tn_joint_read(g->world, d->joint);
  return (double)(d->angular ? now.angle.x : now.offset.x);
}

static double change_of(const booked_drive *d, double to, double from)
{
  return d->angular ? remainder(to - from, 2.0 * 3.14159265358979) : to - from;
}

static void begin_books(random_graph *g)
{
  tn_joint_id ids[MAX_DRIVES];
  int count = tn_world_joints(g->world, ids, MAX_DRIVES);
  for (int i = 0; i < 2 * count; ++i) {
    tn_joint_def def = tn_joint_get(g->world, ids[i / 2]);
    tn_drive drive = i % 2 ? def.angular_drive : def.linear_drive;
    if (drive.mode != TN_DRIVE_OFF) {
      booked_drive *d = &g->drive[g->drive_count++];
      *d = (booked_drive){.joint = ids[i / 2], .drive = drive, .angular = i % 2};
      d->x = coordinate_of(g, d);
    }
  }
}

// A rigid servo pulls with all it has; what soft ones hold is counted with the springs. A motor
// gives its greatest force at most, and only to what does not turn faster than it, nor the other
// way.
static double work_in_step(const booked_drive *d, double x)
{
  const tn_drive *drive = &d->drive;
  double dx = change_of(d, x, d->x), most = (double)drive->max_force;
  double to_go = change_of(d, d->x, (double)drive->target);
  switch (drive->mode) {
  case TN_DRIVE_FORCE:
    return fmax(-most, fmin((double)drive->force, most)) * dx;
  case TN_DRIVE_VELOCITY:
    dx = drive->velocity < 0.0f ? -dx : dx;
    return most * fmax(0.0, fmin(dx, fabs((double)drive->velocity * (double)DT)));
  default:
    return drive->compliance > 0.0f ? 0.0 : most * (fabs(to_go) - fabs(to_go + dx));
  }
}

static double work_of_drives(random_graph *g)
{
  double sum = 0.0;
  for (int i = 0; i < g->drive_count; ++i) {
    booked_drive *d = &g->drive[i];
    double x = coordinate_of(g, d);
    d->work += work_in_step(d, x);
    d->x = x;
    sum += d->work;
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------
// What momenta demand

// All bodies as one, seen from the first.
static tn_mass as_one(const random_graph *g)
{
  tn_mass parts[MAX_BODIES];
  tn_pos first = tn_body_position(g->world, g->body[0]);
  for (int k = 0; k < g->count; ++k) {
    tn_transform at = tn_body_transform(g->world, g->body[k]);
    parts[k] = tn_mass_at(tn_body_mass(g->world, g->body[k]), tn_between_points(first, at.p), at.q);
  }
  return tn_mass_compound(parts, g->count);
}

// About the centre of mass.
static tn_momentum momenta_of(const random_graph *g)
{
  tn_pos first = tn_body_position(g->world, g->body[0]);
  return tn_world_momentum(g->world, tn_offset(first, as_one(g).center));
}

static double determinant(const double a[3], const double b[3], const double c[3])
{
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// The least energy with these momenta at the pose: that of bodies which move as one.
static double least_energy(const random_graph *g, const tn_momentum *m)
{
  tn_sym3 i = as_one(g).inertia;
  const double x[3] = {(double)i.xx, (double)i.xy, (double)i.xz};
  const double y[3] = {(double)i.xy, (double)i.yy, (double)i.yz};
  const double z[3] = {(double)i.xz, (double)i.yz, (double)i.zz};
  const double *l = m->angular, *p = m->linear;
  double turning =
      l[0] * determinant(l, y, z) + l[1] * determinant(x, l, z) + l[2] * determinant(x, y, l);
  return 0.5 * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / m->mass +
         0.5 * turning / determinant(x, y, z);
}

// ---------------------------------------------------------------------------------------------
// Runs

typedef struct outcome {
  double fastest; // m/s
  double gained;  // J/kg above where it began
} outcome;

static double mass_of(const random_graph *g)
{
  double mass = 0.0;
  for (int k = 0; k < g->count; ++k) {
    mass += (double)tn_body_mass(g->world, g->body[k]).mass;
  }
  return mass;
}

// The most above the start in some steps, per mass. Graphs that nothing holds, closing without
// weight, may have what their momenta have demanded of them.
static void run_steps(random_graph *g, int steps, bool closing, outcome *o)
{
  double mass = mass_of(g);
  tn_energy start = tn_world_energy(g->world);
  tn_momentum momenta = momenta_of(g);
  double moving = start.kinetic;
  for (int i = 0; i < steps; ++i) {
    assert_int_equal(tn_world_step(g->world, DT) & TN_STEP_NON_FINITE, 0);
    for (int k = 0; k < g->count; ++k) {
      o->fastest = fmax(o->fastest, (double)tn_length(tn_body_velocity(g->world, g->body[k])));
    }
    tn_energy now = tn_world_energy(g->world);
    // What stiff springs hold as rigid joints do, by force, is no energy of theirs.
    double elastic = g->kind == GRAPH_STIFF ? 0.0 : now.elastic - start.elastic;
    if (closing && !g->hangs) {
      moving = fmax(moving, least_energy(g, &momenta));
    }
    double gained =
        now.kinetic - moving + now.potential - start.potential + elastic - work_of_drives(g);
    o->gained = fmax(o->gained, gained / mass);
  }
}

static void set_drive(const random_graph *g, const booked_drive *d, tn_drive drive)
{
  if (d->angular) {
    tn_joint_drive_angular(g->world, d->joint, drive);
  } else {
    tn_joint_drive_linear(g->world, d->joint, drive);
  }
}

// Without weight and drives.
static void close_joints(random_graph *g, outcome *o)
{
  tn_vec3 gravity = tn_world_gravity(g->world);
  int drives = g->drive_count;
  tn_world_set_gravity(g->world, tn_v3(0.0f, 0.0f, 0.0f));
  for (int i = 0; i < drives; ++i) {
    set_drive(g, &g->drive[i], (tn_drive){.mode = TN_DRIVE_OFF});
  }
  g->drive_count = 0;
  run_steps(g, 180, true, o);
  tn_world_set_gravity(g->world, gravity);
  g->drive_count = drives;
  for (int i = 0; i < drives; ++i) {
    set_drive(g, &g->drive[i], g->drive[i].drive);
    g->drive[i].x = coordinate_of(g, &g->drive[i]);
  }
}

// Three seconds, after three to close.
static outcome run_graph(uint32_t seed, graph_kind kind, int most_bodies)
{
  random_graph g = make_graph(seed, kind, most_bodies);
  outcome o = {0.0, 0.0};
  begin_books(&g);
  if (kind == GRAPH_RIGID) {
    close_joints(&g, &o);
  }
  run_steps(&g, 180, kind == GRAPH_STIFF, &o);
  tn_world_destroy(g.world);
  return o;
}

typedef struct worst_of {
  outcome worst;
  uint32_t fastest_seed, gained_seed;
  int too_fast, gaining, count;
} worst_of;

// One in `share` of a range of seeds.
static worst_of run_graphs(graph_kind kind, const uint32_t *range, uint32_t share, int most_bodies)
{
  worst_of w = {0};
  for (uint32_t seed = range[0]; seed < range[1]; seed += share) {
    outcome o = run_graph(seed, kind, most_bodies);
    w.count += 1;
    w.too_fast += o.fastest > 100.0;
    w.gaining += o.gained > 5.0;
    w.fastest_seed = o.fastest > w.worst.fastest ? seed : w.fastest_seed;
    w.gained_seed = o.gained > w.worst.gained ? seed : w.gained_seed;
    w.worst.fastest = fmax(w.worst.fastest, o.fastest);
    w.worst.gained = fmax(w.worst.gained, o.gained);
  }
  print_message(
      "  %d graphs: fastest body %.1f m/s (seed %u), above 100 m/s in %d; %.1f J/kg gained "
      "(seed %u), more than 5 in %d\n",
      w.count, w.worst.fastest, w.fastest_seed, w.too_fast, w.worst.gained, w.gained_seed,
      w.gaining);
  return w;
}

static void graphs_metres_apart_stay_calm(void **range)
{
  assert_int_equal(run_graphs(GRAPH_FAR, *range, 4, 4).too_fast, 0);
}

// Under weight a gram at the end of a hundred kilograms may be as fast as the tip of a whip.
static void rigid_graphs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_RIGID, *range, 2, 4).gaining, 0);
}

static void large_rigid_graphs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_RIGID, *range, 40, MAX_BODIES).gaining, 0);
}

// A spring that starts half a metre too long may throw a light body as far as it likes, but only
// with what it holds.
static void graphs_of_springs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_SPRINGS, *range, 4, 6).gaining, 0);
}

// Nor do springs that throw about what rigid joints hold.
static void mixed_graphs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_MIXED, *range, 4, 6).gaining, 0);
}

// Springs that a substep does not resolve close like rigid joints.
static void rigid_and_stiff_graphs_gain_nothing(void **range)
{
  worst_of w = run_graphs(GRAPH_STIFF, *range, 4, 6);
  assert_int_equal(w.too_fast, 0);
  assert_int_equal(w.gaining, 0);
}

// Springs whose time is about that of a substep: in some directions they swing, in others they
// close like rigid joints, and all of what they hold counts.
static void graphs_between_stiff_and_soft_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_BETWEEN, *range, 4, 6).gaining, 0);
}

static void tangled_springs_gain_nothing(void **range)
{
  assert_int_equal(run_graphs(GRAPH_TANGLED, *range, 4, 6).gaining, 0);
}

// Among all graphs of 6,560 seeds these have gained more than 5 J/kg before: two that turn while
// they close, one whose springs pressed on a limit too steep for the substep, which gave way, one
// at an anchor that errors apart from motion turned as a whole, and so lifted, and one whose spring
// pulled with all of its length instead of closing.
static void graphs_that_have_gained_before_do_not(void **unused)
{
  (void)unused;
  assert_below(run_graph(3572, GRAPH_RIGID, 4).gained, 5.0);
  assert_below(run_graph(4452, GRAPH_STIFF, 6).gained, 5.0);
  assert_below(run_graph(5844, GRAPH_MIXED, 6).gained, 5.0);
  assert_below(run_graph(3140, GRAPH_RIGID, MAX_BODIES).gained, 5.0);
  assert_below(run_graph(4056, GRAPH_STIFF, 6).gained, 5.0);
}

// These have gained from 20 to 400,000 J/kg: springs that turns lengthened without work (198 to
// 650, tangled ones), or rigid joints beside them that turns opened (250, 1098); springs that
// pressed harder than their length (803, 3282), or less hard than others on them (6186); inertia
// that is not there (2570); the soft end of a range that was missing (4922). 948 would, if rigid
// joints could give way to springs and close again.
static void springs_that_have_gained_before_do_not(void **unused)
{
  (void)unused;
  const uint32_t between[] = {198, 390, 650, 250, 803, 948, 1098, 2570, 3282, 4922, 6186};
  const uint32_t tangled[] = {574, 1033, 1610};
  for (size_t i = 0; i < sizeof between / sizeof *between; ++i) {
    assert_below(run_graph(between[i], GRAPH_BETWEEN, 6).gained, 5.0);
  }
  for (size_t i = 0; i < sizeof tangled / sizeof *tangled; ++i) {
    assert_below(run_graph(tangled[i], GRAPH_TANGLED, 6).gained, 5.0);
  }
}

// Nothing holds these, so that nothing can turn them: inertia that is not there did, by up to
// 2.5 m^2/s. Within what 3,600 substeps in floats round off of momenta of some m^2/s.
static void graphs_that_nothing_holds_keep_their_momenta(void **unused)
{
  (void)unused;
  const struct {
    uint32_t seed;
    graph_kind kind;
  } graphs[] = {{2570, GRAPH_BETWEEN}, {948, GRAPH_BETWEEN}, {5516, GRAPH_BETWEEN},
                {803, GRAPH_BETWEEN},  {5936, GRAPH_MIXED},  {4056, GRAPH_STIFF}};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; ++i) {
    random_graph g = make_graph(graphs[i].seed, graphs[i].kind, 6);
    assert_false(g.hangs);
    double mass = mass_of(&g);
    tn_momentum start = momenta_of(&g);
    for (int k = 0; k < 180; ++k) {
      tn_world_step(g.world, DT);
    }
    tn_momentum end = momenta_of(&g);
    for (int k = 0; k < 3; ++k) {
      assert_close(end.linear[k], start.linear[k], 1e-4 * mass);
      assert_close(end.angular[k], start.angular[k], 1e-4 * mass);
    }
    tn_world_destroy(g.world);
  }
}

// Seeds from and to: several runs of this share the work.
int main(int count, char **arguments)
{
  uint32_t range[2] = {0, 300};
  for (int i = 0; i < 2 && count > 2; ++i) {
    range[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(graphs_metres_apart_stay_calm, range),
      cmocka_unit_test_prestate(rigid_graphs_gain_nothing, range),
      cmocka_unit_test_prestate(large_rigid_graphs_gain_nothing, range),
      cmocka_unit_test_prestate(graphs_of_springs_gain_nothing, range),
      cmocka_unit_test_prestate(mixed_graphs_gain_nothing, range),
      cmocka_unit_test_prestate(rigid_and_stiff_graphs_gain_nothing, range),
      cmocka_unit_test_prestate(graphs_between_stiff_and_soft_gain_nothing, range),
      cmocka_unit_test_prestate(tangled_springs_gain_nothing, range),
      cmocka_unit_test(graphs_that_have_gained_before_do_not),
      cmocka_unit_test(springs_that_have_gained_before_do_not),
      cmocka_unit_test(graphs_that_nothing_holds_keep_their_momenta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
