// Whole frames of joints alone, which are solved directly: does the time grow with the joints only?
#include "bench.h"

#include "build.h"

static const int SUBSTEPS = 20;

// ---------------------------------------------------------------------------------------------
// What no scene of the others has. No body has a shape.

static const tn_vec3 DOWN = {0.0f, -1.0f, 0.0f};

static void join(scene_run *run, tn_joint_kind kind, tn_body_id a, tn_body_id b, tn_pos point)
{
  tn_joint_def def = scene_joint_at(run, kind, a, b, point, DOWN);
  scene_add_joint(run, &def);
}

// A hub that hangs by its centre, with arms around it, released level.
static void build_star(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  tn_pos center = tn_p3(0.0, 0.0, 0.0);
  tn_body_id hub = scene_add_box(run, center, tn_v3(1.0f, 0.1f, 1.0f), 0.1f * (float)count);
  join(run, TN_JOINT_BALL, SCENE_WORLD, hub, center);
  for (int i = 1; i < count && !run->failed; ++i) {
    float angle = 2.0f * TN_PI * (float)i / (float)(count - 1);
    tn_vec3 out = tn_v3(tn_cos(angle), 0.0f, tn_sin(angle));
    tn_body_id arm =
        scene_add_box(run, tn_offset(center, tn_scale(1.25f, out)), tn_v3(0.1f, 0.1f, 0.1f), 0.1f);
    join(run, TN_JOINT_BALL, hub, arm, tn_offset(center, out));
  }
}

// Knots in a square, level, held at two corners.
static void build_net(scene_run *run)
{
  scene_set_gravity(run);
  int side = (int)scene_value(run, "side");
  const double mesh = 0.2;
  for (int i = 0; i < side * side && !run->failed; ++i) {
    int row = i / side, column = i % side;
    tn_pos at = tn_p3(mesh * (double)column, 0.0, mesh * (double)row);
    tn_body_id knot = scene_add_box(run, at, tn_v3(0.05f, 0.05f, 0.05f), 1.0f);
    if (column > 0) {
      join(run, TN_JOINT_BALL, run->bodies[i - 1], knot, tn_p3(at.x - 0.5 * mesh, 0.0, at.z));
    }
    if (row > 0) {
      join(run, TN_JOINT_BALL, run->bodies[i - side], knot, tn_p3(at.x, 0.0, at.z - 0.5 * mesh));
    }
    if (row == 0 && (column == 0 || column == side - 1)) {
      join(run, TN_JOINT_BALL, SCENE_WORLD, knot, at);
    }
  }
}

typedef struct part {
  int parent; // -1: none
  tn_joint_kind kind;
  tn_vec3 half, way; // m; from the parent's centre
} part;

// Pelvis, belly, chest, head; arms and hands; legs and feet.
static const part doll[] = {
    {-1, TN_JOINT_BALL, {0.15f, 0.08f, 0.10f}, {0.00f, 0.0f, 0.0f}},
    {0, TN_JOINT_BALL, {0.13f, 0.08f, 0.09f}, {0.00f, 0.16f, 0.0f}},
    {1, TN_JOINT_BALL, {0.16f, 0.12f, 0.10f}, {0.00f, 0.20f, 0.0f}},
    {2, TN_JOINT_BALL, {0.08f, 0.12f, 0.10f}, {0.00f, 0.24f, 0.0f}},
    {2, TN_JOINT_BALL, {0.15f, 0.05f, 0.05f}, {0.31f, 0.0f, 0.0f}},
    {2, TN_JOINT_BALL, {0.15f, 0.05f, 0.05f}, {-0.31f, 0.0f, 0.0f}},
    {4, TN_JOINT_HINGE, {0.13f, 0.04f, 0.04f}, {0.28f, 0.0f, 0.0f}},
    {5, TN_JOINT_HINGE, {0.13f, 0.04f, 0.04f}, {-0.28f, 0.0f, 0.0f}},
    {6, TN_JOINT_BALL, {0.08f, 0.02f, 0.04f}, {0.21f, 0.0f, 0.0f}},
    {7, TN_JOINT_BALL, {0.08f, 0.02f, 0.04f}, {-0.21f, 0.0f, 0.0f}},
    {0, TN_JOINT_BALL, {0.07f, 0.22f, 0.07f}, {0.09f, -0.30f, 0.0f}},
    {0, TN_JOINT_BALL, {0.07f, 0.22f, 0.07f}, {-0.09f, -0.30f, 0.0f}},
    {10, TN_JOINT_HINGE, {0.05f, 0.21f, 0.05f}, {0.0f, -0.43f, 0.0f}},
    {11, TN_JOINT_HINGE, {0.05f, 0.21f, 0.05f}, {0.0f, -0.43f, 0.0f}},
    {12, TN_JOINT_HINGE, {0.05f, 0.04f, 0.12f}, {0.0f, -0.25f, 0.0f}},
};
enum { PARTS = (int)(sizeof doll / sizeof doll[0]) };

// Halfway to the parent, with limits that are met soon, and friction.
static void join_part(scene_run *run, const part *p, tn_body_id parent, tn_body_id body, tn_pos at)
{
  tn_vec3 axis = p->kind == TN_JOINT_HINGE ? tn_v3(0.0f, 0.0f, 1.0f) : DOWN;
  tn_joint_def def =
      scene_joint_at(run, p->kind, parent, body, tn_offset(at, tn_scale(-0.5f, p->way)), axis);
  def.angular[0] = (tn_range){-0.3f, 0.3f};
  if (p->kind == TN_JOINT_BALL) {
    def.swing = 0.5f;
  }
  def.angular_friction = 0.1f;
  scene_add_joint(run, &def);
}

// Far from each other, every part with a spin of its own.
static void build_ragdolls(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    int first = run->body_count;
    tn_pos at[PARTS];
    for (int k = 0; k < PARTS && !run->failed; ++k) {
      const part *p = &doll[k];
      tn_pos from = p->parent < 0 ? tn_p3(3.0 * (double)i, 0.0, 0.0) : at[p->parent];
      at[k] = tn_offset(from, p->way);
      tn_body_def def =
          scene_box(at[k], p->half, 8000.0f * p->half.x * p->half.y * p->half.z); // as water
      def.angular_velocity = scene_random_vector(&random, 2.0f);
      tn_body_id body = scene_add_body(run, &def);
      if (p->parent >= 0 && !run->failed) {
        join_part(run, p, run->bodies[first + p->parent], body, at[k]);
      }
    }
  }
}

static const scene star = {.name = "star",
                           .parameters = {{"count", 2.0, 1e5, 16.0, true, "joints on one body"}},
                           .build = build_star};
static const scene net = {
    .name = "net", .parameters = {{"side", 2.0, 1000.0, 10.0, true, "knots"}}, .build = build_net};
static const scene ragdolls = {.name = "ragdolls",
                               .parameters = {{"count", 1.0, 1e5, 100.0, true, "ragdolls"}},
                               .build = build_ragdolls};

// ---------------------------------------------------------------------------------------------

// One line for each number of threads. The hashes must agree.
static bool run_on_threads(bench *b, const char *name, int size, bench_job *job)
{
  uint64_t expected = 0;
  for (job->threads = 1; job->threads <= 2; ++job->threads) {
    bench_result result;
    if (!bench_run(job, &result)) {
      return false;
    }
    bench_line line = {.name = name,
                       .size = size,
                       .threads = job->threads,
                       .lanes = bench_widest_lanes(),
                       .ms = result.ms,
                       .ns = result.ms * 1e6 / ((double)result.joints * (double)job->substeps),
                       .hash = result.hash,
                       .compare = result.joint_error,
                       .compared = "joint_error_m"};
    bench_report(b, &line);
    expected = expected ? expected : result.hash;
    if (result.hash != expected) {
      printf("MISMATCH: the hash should not depend on threads\n");
      b->has_mismatch = true;
    }
  }
  return true;
}

typedef struct mechanism {
  const char *name;
  const scene *scene;
  const char *parameter; // that is the size
  int size, frames;
} mechanism;

static bool run_mechanism(bench *b, const mechanism *m)
{
  bench_job job = bench_job_of(m->scene, SUBSTEPS);
  bench_set(&job, m->parameter, (double)m->size);
  job.frames = m->frames;
  return !bench_is_picked(b, "mechanism", m->size) || run_on_threads(b, m->name, m->size, &job);
}

static bool run_chains(bench *b, const char *name, int hinges)
{
  static const int sizes[] = {10, 100, 1000, 10000};
  static const int frames[] = {600, 120, 20, 4};
  bool ok = true;
  for (int i = 0; ok && i < 4; ++i) {
    bench_job job = bench_job_of(scene_find("chain"), SUBSTEPS);
    bench_set(&job, "count", (double)sizes[i]);
    bench_set(&job, "hinges", (double)hinges);
    bench_set(&job, "stir", 1.0);
    job.frames = frames[i];
    ok = !bench_is_picked(b, "mechanism", sizes[i]) || run_on_threads(b, name, sizes[i], &job);
  }
  return ok;
}

bool bench_mechanisms(bench *b)
{
  const scene *mobile = scene_find("mobile");
  const mechanism list[] = {
      {"mobile", mobile, "count", 127, 120},     {"mobile", mobile, "count", 1023, 30},
      {"mobile", mobile, "count", 4095, 5},      {"star", &star, "count", 16, 600},
      {"star", &star, "count", 64, 120},         {"star", &star, "count", 512, 30},
      {"star", &star, "count", 5000, 5},         {"net", &net, "side", 10, 60},
      {"ragdolls", &ragdolls, "count", 10, 60},  {"ragdolls", &ragdolls, "count", 100, 20},
      {"ragdolls", &ragdolls, "count", 1000, 4},
  };
  bool ok = run_chains(b, "chain_ball", 0) && run_chains(b, "chain_hinge", 1);
  for (int i = 0; ok && i < (int)(sizeof list / sizeof list[0]); ++i) {
    ok = run_mechanism(b, &list[i]);
  }
  return ok;
}
