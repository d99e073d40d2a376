// Deul et al. 2014, Figure 5: an elk on wheels hits a duck, a balloon of cloth.
#include "build.h"
#include "carve.h"

#include <math.h>

static const tn_vec3 X_AXIS = {1.0f, 0.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

static const float ELK_WHEEL = 0.08f;  // m, its radius
static const float ELK_HEIGHT = 0.43f; // m, of its centre
static const double DUCK_X = 1.1;
static const float PRESSURE = 1.05f;

enum { DUCK_VOLUME, DUCK_START }; // memory
enum { DUCK_CATEGORY = 2 };

// ---------------------------------------------------------------------------------------------
// The elk, facing x

typedef struct limb {
  tn_vec3 from, to;
  float radius;
  bool both; // mirrored to the other side as well
} limb;

static const limb limbs[] = {
    {{-0.17f, 0.0f, 0.0f}, {0.17f, 0.02f, 0.0f}, 0.11f, false},    // trunk
    {{0.17f, -0.05f, 0.07f}, {0.17f, -0.34f, 0.07f}, 0.03f, true}, // legs
    {{-0.17f, -0.05f, 0.07f}, {-0.17f, -0.34f, 0.07f}, 0.03f, true},
    {{0.2f, 0.06f, 0.0f}, {0.32f, 0.27f, 0.0f}, 0.06f, false},    // neck
    {{0.32f, 0.28f, 0.0f}, {0.48f, 0.2f, 0.0f}, 0.065f, false},   // head
    {{0.29f, 0.33f, 0.05f}, {0.23f, 0.36f, 0.13f}, 0.015f, true}, // ears
    {{0.33f, 0.33f, 0.03f}, {0.3f, 0.46f, 0.14f}, 0.016f, true},  // antlers
    {{0.3f, 0.46f, 0.14f}, {0.26f, 0.62f, 0.27f}, 0.014f, true},
    {{0.3f, 0.46f, 0.14f}, {0.4f, 0.57f, 0.18f}, 0.012f, true},
    {{0.28f, 0.54f, 0.2f}, {0.34f, 0.66f, 0.24f}, 0.012f, true},
    {{-0.27f, 0.06f, 0.0f}, {-0.33f, -0.02f, 0.0f}, 0.025f, false}, // tail
};
enum { LIMBS = sizeof limbs / sizeof limbs[0] };

static tn_shape_def limb_shape(const limb *l, float side)
{
  tn_vec3 from = {l->from.x, l->from.y, side * l->from.z}, to = {l->to.x, l->to.y, side * l->to.z};
  tn_vec3 way = tn_sub(to, from);
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CAPSULE, l->radius, 0.5f * tn_length(way));
  shape.position = tn_scale(0.5f, tn_add(from, to));
  shape.rotation = tn_quat_mul(tn_quat_x_to(way), tn_quat_axis_angle(Z_AXIS, -0.5f * TN_PI));
  return shape;
}

static void add_wheel(scene_run *run, tn_body_id elk, const tn_body_def *of, tn_vec3 at,
                      tn_material material)
{
  tn_shape_def shape = scene_axial_shape(TN_SHAPE_CYLINDER, ELK_WHEEL, 0.025f);
  shape.rotation = tn_quat_axis_angle(X_AXIS, 0.5f * TN_PI);
  shape.material = material;
  tn_body_def def = *of;
  def.position = tn_offset(of->position, at);
  def.angular_velocity = tn_v3(0.0f, 0.0f, -of->velocity.x / ELK_WHEEL);
  tn_body_id wheel = scene_add_solid(run, &def, &shape, 0.3f);
  tn_joint_def hinge = scene_joint_at(run, TN_JOINT_HINGE, elk, wheel, def.position, Z_AXIS);
  hinge.axis[TN_ANGULAR_A].friction = 0.02f; // N m
  scene_add_joint(run, &hinge);
}

static void add_elk(scene_run *run, tn_material material)
{
  tn_shape_def shapes[2 * LIMBS];
  int count = 0;
  for (int i = 0; i < LIMBS; ++i) {
    for (int side = 1; side >= (limbs[i].both ? -1 : 1); side -= 2) {
      shapes[count] = limb_shape(&limbs[i], (float)side);
      shapes[count++].material = material;
    }
  }
  tn_body_def def = scene_body_def();
  def.position = tn_p3(-0.6, (double)ELK_HEIGHT, 0.0);
  def.velocity = tn_v3((float)scene_value(run, "speed"), 0.0f, 0.0f);
  tn_body_id elk =
      scene_add_compound(run, &def, shapes, count, (float)scene_value(run, "elk_mass"));
  for (int i = 0; i < 4 && !run->failed; ++i) {
    float x = i < 2 ? 0.17f : -0.17f, z = i % 2 ? -0.13f : 0.13f;
    add_wheel(run, elk, &def, tn_v3(x, ELK_WHEEL - ELK_HEIGHT, z), material);
  }
}

// ---------------------------------------------------------------------------------------------
// The duck

static float duck_solid(tn_vec3 p)
{
  float body = carve_ellipsoid(p, tn_v3(0.0f, 0.24f, 0.0f), tn_v3(0.36f, 0.24f, 0.27f));
  float tail = carve_ellipsoid(p, tn_v3(0.33f, 0.36f, 0.0f), tn_v3(0.13f, 0.07f, 0.11f));
  float head = carve_ellipsoid(p, tn_v3(-0.2f, 0.58f, 0.0f), tn_v3(0.18f, 0.17f, 0.17f));
  float beak = carve_ellipsoid(p, tn_v3(-0.42f, 0.55f, 0.0f), tn_v3(0.15f, 0.055f, 0.1f));
  float front = carve_join(head, beak, 0.04f);
  return carve_join(carve_join(body, tail, 0.12f), front, 0.1f);
}

static void add_duck(scene_run *run, tn_material material)
{
  tn_soft_def def = tn_default_soft_def();
  carve_skin(&def, duck_solid, tn_v3(-0.03f, 0.38f, 0.0f), 0.55f, (int)scene_value(run, "level"));
  def.position = tn_p3(DUCK_X, 0.012, 0.0);
  def.mass = (float)scene_value(run, "duck_mass");
  def.radius = 0.01f;
  def.pressure = PRESSURE;
  def.edge_compliance = (float)scene_value(run, "compliance");
  def.bending_stiffness = 0.02f;
  def.curved_rest = true;
  def.damping = 2.0f;
  def.material = material;
  def.filter.category = DUCK_CATEGORY;
  tn_soft_id duck = scene_add_soft(run, &def);
  run->memory[DUCK_VOLUME] = run->failed ? 1.0 : tn_soft_volume(run->world, duck);
}

// Mean x of its particles.
static double duck_middle(const scene_run *run)
{
  tn_soft_id duck;
  tn_world_softs(run->world, &duck, 1);
  int count = tn_soft_positions(run->world, duck, NULL, 0);
  double sum = 0.0;
  for (int i = 0; i < count; ++i) {
    sum += tn_soft_position(run->world, duck, i).x;
  }
  return sum / fmax(count, 1.0);
}

static void build_elk_and_duck(scene_run *run)
{
  scene_set_gravity(run);
  tn_material material = scene_material((float)scene_value(run, "friction"), 0.0f);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), material);
  add_elk(run, material);
  add_duck(run, material);
  run->memory[DUCK_START] = run->failed ? 0.0 : duck_middle(run);
  run->energy_scale = tn_world_energy(run->world).kinetic;
}

// ---------------------------------------------------------------------------------------------
// Metrics

// Includes the penetration of particles into the elk and the ground.
static void measure_elk_and_duck(const scene_run *run, scene_sheet *sheet)
{
  tn_query_filter all_but_duck = tn_default_query_filter();
  all_but_duck.mask = ~(uint64_t)DUCK_CATEGORY;
  tn_soft_id duck;
  tn_world_softs(run->world, &duck, 1);
  int count = tn_soft_positions(run->world, duck, NULL, 0);
  double deepest = 0.0;
  for (int i = 0; i < count; ++i) {
    tn_pos p = tn_soft_position(run->world, duck, i);
    tn_hit hit = tn_world_closest_point(run->world, p, 0.05f, all_but_duck);
    deepest = hit.hit ? fmax(deepest, -(double)hit.distance) : deepest;
  }
  double volume = tn_soft_volume(run->world, duck) / ((double)PRESSURE * run->memory[DUCK_VOLUME]);
  scene_note(sheet, "duck_volume_rel", volume - 1.0);
  scene_note(sheet, "duck_way_m", duck_middle(run) - run->memory[DUCK_START]);
  scene_note(sheet, "duck_depth_m", deepest);
  scene_note(sheet, "elk_speed", (double)tn_body_velocity(run->world, run->bodies[0]).x);
}

const scene scene_elk_and_duck = {
    .name = "elk_and_duck",
    .title = "An elk on wheels hits a duck, a balloon of cloth",
    .source = "Deul et al. 2014, Fig. 5",
    .group = SCENE_POSITION_BASED,
    .camera = {{1.4f, 1.3f, 3.3f}, {1.1f, 0.35f, 0.0f}},
    .seconds = 5.0,
    .substeps = 20,
    .parameters = {{"speed", 0.0, 20.0, 3.0, false, "speed of the elk, m/s"},
                   {"elk_mass", 0.1, 100.0, 5.0, false, "mass of the elk, kg; a wheel has 0.3"},
                   {"duck_mass", 0.05, 100.0, 1.0, false, "mass of the duck, kg"},
                   {"level", 2.0, 6.0, 4.0, true, "the duck has 20 * 4^level triangles"},
                   {"compliance", 0.0, 0.1, 1e-3, false, "compliance of the cloth's edges, m/N"},
                   {"friction", 0.0, 10.0, 0.5, false, "coefficient of friction"}},
    .build = build_elk_and_duck,
    .measure = measure_elk_and_duck,
};
