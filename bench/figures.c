// Scenes used only by benchmarks: figures with joints and shapes, bodies that come and go, crowds.
#include "bench.h"

#include "build.h"

#include <math.h>
#include <string.h>

static void lay_ground(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), tn_default_material());
}

// The i-th place of a block of three layers, about the origin.
static tn_pos place_in_block(int i, int count, double spacing, double height)
{
  int across = (int)ceil(sqrt((double)count / 3.0));
  int layer = i / (across * across), row = i / across % across;
  double middle = 0.5 * (double)(across - 1);
  return tn_p3(spacing * ((double)(i % across) - middle), height * (double)layer,
               spacing * ((double)row - middle));
}

// ---------------------------------------------------------------------------------------------
// Rain of ragdolls with limits and friction

typedef struct part {
  int parent; // -1: none
  tn_joint_kind kind;
  int along;                 // axis of the capsule: 0, 1 or 2
  float half_length, radius; // m
  tn_vec3 way;               // m, from the parent's centre
} part;

// Pelvis, belly, chest, head; arms and hands; legs and feet.
static const part figure[] = {
    {-1, TN_JOINT_BALL, 0, 0.07f, 0.09f, {0.00f, 0.00f, 0.00f}},
    {0, TN_JOINT_BALL, 0, 0.06f, 0.08f, {0.00f, 0.16f, 0.00f}},
    {1, TN_JOINT_BALL, 0, 0.06f, 0.11f, {0.00f, 0.20f, 0.00f}},
    {2, TN_JOINT_BALL, 1, 0.03f, 0.09f, {0.00f, 0.24f, 0.00f}},
    {2, TN_JOINT_BALL, 0, 0.11f, 0.05f, {0.31f, 0.00f, 0.00f}},
    {2, TN_JOINT_BALL, 0, 0.11f, 0.05f, {-0.31f, 0.00f, 0.00f}},
    {4, TN_JOINT_HINGE, 0, 0.09f, 0.04f, {0.28f, 0.00f, 0.00f}},
    {5, TN_JOINT_HINGE, 0, 0.09f, 0.04f, {-0.28f, 0.00f, 0.00f}},
    {6, TN_JOINT_BALL, 0, 0.05f, 0.03f, {0.21f, 0.00f, 0.00f}},
    {7, TN_JOINT_BALL, 0, 0.05f, 0.03f, {-0.21f, 0.00f, 0.00f}},
    {0, TN_JOINT_BALL, 1, 0.15f, 0.07f, {0.09f, -0.30f, 0.00f}},
    {0, TN_JOINT_BALL, 1, 0.15f, 0.07f, {-0.09f, -0.30f, 0.00f}},
    {10, TN_JOINT_HINGE, 1, 0.16f, 0.05f, {0.00f, -0.43f, 0.00f}},
    {11, TN_JOINT_HINGE, 1, 0.16f, 0.05f, {0.00f, -0.43f, 0.00f}},
    {12, TN_JOINT_HINGE, 2, 0.07f, 0.04f, {0.00f, -0.25f, 0.05f}},
    {13, TN_JOINT_HINGE, 2, 0.07f, 0.04f, {0.00f, -0.25f, 0.05f}},
};
enum { PARTS = (int)(sizeof figure / sizeof figure[0]) };

// A joint halfway to the parent, with limits and friction.
static void join_part(scene_run *run, const part *p, tn_body_id parent, tn_body_id body, tn_pos at,
                      tn_quat turn)
{
  tn_vec3 axis = p->kind == TN_JOINT_HINGE ? tn_v3(0.0f, 0.0f, 1.0f) : tn_v3(0.0f, -1.0f, 0.0f);
  tn_pos point = tn_offset(at, tn_rotate(turn, tn_scale(-0.5f, p->way)));
  tn_joint_def def = scene_joint_at(run, p->kind, parent, body, point, tn_rotate(turn, axis));
  def.angular[0] = (tn_range){-0.6f, 0.6f};
  if (p->kind == TN_JOINT_BALL) {
    def.swing = 0.7f;
  }
  def.axis[TN_ANGULAR_A].friction = 0.3f;
  scene_add_joint(run, &def);
}

static void add_figure(scene_run *run, tn_pos pelvis, tn_quat turn, int number)
{
  static const tn_vec3 across[3] = {{0.0f, 0.0f, 1.0f}, {0.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 0.0f}};
  int first = run->body_count;
  tn_pos at[PARTS];
  for (int k = 0; k < PARTS && !run->failed; ++k) {
    const part *p = &figure[k];
    at[k] = tn_offset(p->parent < 0 ? pelvis : at[p->parent], tn_rotate(turn, p->way));
    tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, p->radius, p->half_length);
    shape.rotation = tn_quat_axis_angle(across[p->along], p->along == 1 ? 0.0f : 0.5f * TN_PI);
    shape.material = scene_material(0.6f, 0.0f);
    shape.filter.group = -1 - number;
    tn_body_def def = scene_body_def();
    def.position = at[k];
    def.rotation = turn;
    float volume = TN_PI * p->radius * p->radius * (2.0f * p->half_length + 1.333f * p->radius);
    tn_body_id body = scene_add_solid(run, &def, &shape, 1000.0f * volume);
    if (p->parent >= 0 && !run->failed) {
      join_part(run, p, run->bodies[first + p->parent], body, at[k], turn);
    }
  }
}

// Figures in any pose, their pelvis 1.2 to 4.4 m above `height`, fall onto each other.
static void build_rain(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  uint32_t random = 11;
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_pos at = place_in_block(i, count, 1.3, 1.6);
    at.y += 1.2 + scene_value(run, "height");
    tn_vec3 axis = tn_add(scene_random_vector(&random, 1.0f), tn_v3(0.01f, 0.0f, 0.0f));
    float angle = TN_PI * scene_random_vector(&random, 1.0f).x;
    add_figure(run, at, tn_quat_axis_angle(axis, angle), i);
  }
}

// ---------------------------------------------------------------------------------------------
// Chains of links with springs, limits and drives

enum { LINKS = 12 };

// A spring towards the middle at every second joint, a servo at the others.
static void build_chains(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    tn_body_id last = SCENE_WORLD;
    for (int k = 0; k < LINKS && !run->failed; ++k) {
      tn_pos at = tn_p3(0.2 + 0.4 * (double)k, 0.0, (double)i);
      tn_body_id body = scene_add_box(run, at, tn_v3(0.18f, 0.05f, 0.05f), 1.0f);
      tn_joint_def def = scene_joint_at(run, TN_JOINT_HINGE, last, body,
                                        tn_p3(at.x - 0.2, 0.0, at.z), tn_v3(0.0f, 0.0f, 1.0f));
      tn_axis *axis = &def.axis[TN_ANGULAR_A];
      def.angular[0] = (tn_range){-0.8f, 0.8f};
      if (k % 2 == 0) {
        axis->stiffness = 30.0f;
        axis->damping = 1.0f;
      } else {
        axis->drive.stiffness = 200.0f;
        axis->drive.damping = 10.0f;
        axis->drive.target = 0.3f;
      }
      scene_add_joint(run, &def);
      last = body;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Bodies that come and go

enum { SPAWNED = 10 }; // bodies destroyed and created per frame

static void add_spawned(scene_run *run, int i)
{
  int count = (int)scene_value(run, "count");
  tn_body_def def = scene_body_def();
  def.position = place_in_block(i % count, count, 1.2, 1.5);
  def.position.y += 1.0;
  tn_shape_def shape = scene_box_shape(tn_v3(0.4f, 0.4f, 0.4f));
  scene_add_solid(run, &def, &shape, 500.0f);
}

static void build_spawn(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    add_spawned(run, i);
  }
}

// The oldest bodies give way to new ones at their places.
static void drive_spawn(scene_run *run, float dt)
{
  (void)dt;
  int count = (int)scene_value(run, "count");
  for (int k = 0; k < SPAWNED && !run->failed && run->body_count == count; ++k) {
    int i = (run->frames * SPAWNED + k) % count;
    tn_body_destroy(run->world, run->bodies[i]);
    add_spawned(run, i);
    run->body_count -= 1;
    run->bodies[i] = run->bodies[run->body_count];
  }
}

// ---------------------------------------------------------------------------------------------
// A crowd of soft bodies

// Soft cubes of 4 x 4 x 4 cells fall onto each other.
static void build_crowd(scene_run *run)
{
  lay_ground(run);
  int count = (int)scene_value(run, "count");
  for (int i = 0; i < count && !run->failed; ++i) {
    const int cells[3] = {4, 4, 4};
    tn_soft_def def = tn_default_soft_def();
    def.position = place_in_block(i, count, 0.6, 0.7);
    def.position.y += 0.5;
    def.mass = 30.0f;
    def.youngs_modulus = 1e5f;
    tn_soft_mesh_box(&def, cells, tn_v3(0.25f, 0.25f, 0.25f), true);
    scene_add_soft(run, &def);
  }
}

// ---------------------------------------------------------------------------------------------

static const scene figures[] = {
    {.name = "rain",
     .parameters = {{"count", 1.0, 1e5, 100.0, true, "number of ragdolls"},
                    {"height", 0.0, 1e5, 0.0, false, "further height of their fall, m"}},
     .build = build_rain},
    {.name = "chains",
     .parameters = {{"count", 1.0, 1e5, 50.0, true, "number of chains of 12 links"}},
     .build = build_chains},
    {.name = "spawn",
     .parameters = {{"count", 10.0, 1e6, 1000.0, true, "number of cubes"}},
     .build = build_spawn,
     .drive = drive_spawn},
    {.name = "crowd",
     .parameters = {{"count", 1.0, 1e4, 27.0, true, "number of soft cubes"}},
     .build = build_crowd},
};

const scene *bench_find_figure(const char *name)
{
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; ++i) {
    if (strcmp(figures[i].name, name) == 0) {
      return &figures[i];
    }
  }
  return NULL;
}
