// Long chains and large trees of joints.
#include "build.h"

#include <math.h>

// ---------------------------------------------------------------------------------------------
// A chain, fixed at one end and released horizontally

static void build_chain(scene_run *run)
{
  scene_set_gravity(run);
  int count = (int)scene_value(run, "count");
  float length = (float)scene_value(run, "length");
  float end_mass = (float)scene_value(run, "end_mass_ratio");
  tn_joint_kind kind = scene_value(run, "hinges") > 0.0 ? TN_JOINT_HINGE : TN_JOINT_BALL;
  float stir = (float)scene_value(run, "stir");
  tn_vec3 half = tn_v3(0.5f * length, 0.1f * length, 0.1f * length);
  tn_body_id last = SCENE_WORLD;
  uint32_t random = 1;
  for (int i = 0; i < count && !run->failed; ++i) {
    float mass = i == count - 1 ? end_mass : 1.0f;
    double start = (double)i * (double)length;
    tn_pos center = tn_p3(start + 0.5 * (double)length, 0.0, 0.0);
    tn_body_def def = scene_box(center, half, mass);
    def.angular_velocity = scene_random_vector(&random, stir);
    if (kind == TN_JOINT_HINGE) {
      def.angular_velocity.x = def.angular_velocity.y = 0.0f; // only rotation about the hinge axis
    }
    tn_body_id link = scene_add_body(run, &def);
    tn_joint_def joint =
        scene_joint_at(run, kind, last, link, tn_p3(start, 0.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    scene_add_joint(run, &joint);
    last = link;
    run->energy_scale += (double)(mass * SCENE_GRAVITY) * center.x; // from horizontal to vertical
  }
}

// Elongation of the chain: the sum of all joint gaps, relative to its length.
static void measure_chain(const scene_run *run, scene_sheet *sheet)
{
  double gaps = 0.0;
  for (int i = 0; i < run->joint_count; ++i) {
    gaps += (double)tn_joint_get_state(run->world, run->joints[i]).elongation;
  }
  double length = scene_value(run, "count") * scene_value(run, "length");
  scene_note(sheet, "stretch_rel_end", gaps / length);
}

const scene scene_chain = {
    .name = "chain",
    .title = "A chain of links of 1 kg, released horizontally",
    .source = "after Mueller et al. 2020, Fig. 10",
    .group = SCENE_SEABRA,
    .camera = {{-6.0f, 3.0f, 14.0f}, {3.0f, -6.0f, 0.0f}},
    .seconds = 5.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"count", 1.0, 1e6, 100.0, true, "number of links"},
                   {"end_mass_ratio", 1e-4, 1e6, 1.0, false, "mass of the last link, kg"},
                   {"length", 0.01, 10.0, 0.2, false, "length of a link, m"},
                   {"hinges", 0.0, 1.0, 0.0, true, "0: ball joints, 1: hinges"},
                   {"stir", 0.0, 10.0, 0.0, false,
                    "initial random angular velocity of the links, rad/s"}},
    .build = build_chain,
    .measure = measure_chain,
};

// ---------------------------------------------------------------------------------------------
// A mobile: bar i carries bars or weights 2 i + 1 and 2 i + 2, and hangs at their point of balance.

typedef struct mobile {
  int count, levels;
  float bar, weight; // kg
  float hanger;      // m, from a bar up to its pivot
} mobile;

static int level_of(int i)
{
  int level = 0;
  while ((i + 1) >> (level + 1)) {
    level += 1;
  }
  return level;
}

static float hanging_mass(const mobile *m, int i)
{
  if (i >= m->count) {
    return 0.0f;
  }
  if (2 * i + 1 >= m->count) {
    return m->weight;
  }
  return m->bar + hanging_mass(m, 2 * i + 1) + hanging_mass(m, 2 * i + 2);
}

// Bars get shorter with depth, so that parallel bars two levels apart do not overlap.
static float half_length(const mobile *m, int level)
{
  float half = 0.15f;
  for (int i = level; i < m->levels - 2; ++i) {
    half *= sqrtf(2.0f);
  }
  return half;
}

static tn_vec3 bar_direction(int level)
{
  return level % 2 ? tn_v3(0.0f, 0.0f, 1.0f) : tn_v3(1.0f, 0.0f, 0.0f);
}

// A bar with a stem from `foot` up to its pivot; the stem has a third of the mass.
static tn_mass bar_mass(const mobile *m, tn_vec3 half_extents, tn_vec3 foot)
{
  tn_mass bar = tn_mass_box(half_extents, 1.0f);
  tn_mass stem = tn_mass_box(tn_v3(0.01f, 0.5f * m->hanger, 0.01f), 1.0f);
  tn_mass parts[2] = {tn_mass_scaled_to(bar, 2.0f),
                      tn_mass_at(tn_mass_scaled_to(stem, 1.0f),
                                 tn_add(foot, tn_v3(0.0f, 0.5f * m->hanger, 0.0f)),
                                 tn_quat_identity())};
  return tn_mass_scaled_to(tn_mass_compound(parts, 2), m->bar);
}

static tn_body_def bar_or_weight(const mobile *m, int i, tn_pos hook)
{
  int level = level_of(i);
  if (2 * i + 1 >= m->count) {
    tn_pos center = tn_offset(hook, tn_v3(0.0f, -m->hanger, 0.0f));
    return scene_box(center, tn_v3(0.05f, 0.05f, 0.05f), m->weight);
  }
  float half = half_length(m, level);
  tn_vec3 way = bar_direction(level);
  float left = hanging_mass(m, 2 * i + 1);
  float right = hanging_mass(m, 2 * i + 2);
  float bar = m->bar * 2.0f / 3.0f; // the stem is on the axis
  tn_vec3 foot = tn_scale(half * (right - left) / (left + right + bar), way);
  tn_body_def def = scene_body_def();
  def.position = tn_offset(hook, tn_v3(-foot.x, -m->hanger, -foot.z));
  def.mass = bar_mass(m, tn_add(tn_v3(0.01f, 0.01f, 0.01f), tn_scale(half, way)), foot);
  return def;
}

static tn_pos hook_of(const scene_run *run, const mobile *m, int i)
{
  if (i == 0) {
    return tn_p3(0.0, 0.0, 0.0);
  }
  int parent = (i - 1) / 2;
  int level = level_of(parent);
  float half = i % 2 ? -half_length(m, level) : half_length(m, level);
  return tn_body_world_point(run->world, run->bodies[parent], tn_scale(half, bar_direction(level)));
}

static void build_mobile(scene_run *run)
{
  scene_set_gravity(run);
  mobile m = {.count = (int)scene_value(run, "count"),
              .bar = (float)scene_value(run, "bar_mass"),
              .weight = 1.0f,
              .hanger = 0.3f};
  m.levels = level_of(m.count - 1) + 1;
  float spin = (float)scene_value(run, "spin");
  for (int i = 0; i < m.count && !run->failed; ++i) {
    tn_pos hook = hook_of(run, &m, i);
    tn_body_def def = bar_or_weight(&m, i, hook);
    // All bodies rotate as one, so that joint velocities are consistent.
    def.angular_velocity = tn_v3(0.0f, spin, 0.0f);
    tn_pos center = tn_offset(def.position, def.mass.center);
    def.velocity = tn_v3(spin * (float)center.z, 0.0f, -spin * (float)center.x);
    tn_body_id body = scene_add_body(run, &def);
    tn_body_id parent = i > 0 ? run->bodies[(i - 1) / 2] : SCENE_WORLD;
    tn_joint_def joint =
        scene_joint_at(run, TN_JOINT_BALL, parent, body, hook, tn_v3(0.0f, -1.0f, 0.0f));
    scene_add_joint(run, &joint);
  }
  double height = (double)(m.hanger * (float)m.levels);
  run->energy_scale = (double)(hanging_mass(&m, 0) * SCENE_GRAVITY) * height;
}

const scene scene_mobile = {
    .name = "mobile",
    .title = "A mobile: a tree of light bars with equal weights, rotating slowly",
    .source = "Deul et al. 2014, Fig. 1",
    .group = SCENE_POSITION_BASED,
    .camera = {{3.0f, 0.5f, 5.0f}, {0.0f, -1.2f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .conserves = true,
    .parameters = {{"count", 3.0, 4095.0, 127.0, true, "number of joints"},
                   {"bar_mass", 1e-3, 100.0, 0.5, false, "mass of a bar, kg; a weight has 1 kg"},
                   {"spin", 0.0, 2.0, 0.3, false, "initial angular velocity, rad/s"}},
    .build = build_mobile,
};
