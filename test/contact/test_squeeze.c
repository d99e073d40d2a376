// Light bodies under heavy ones, with ratios of their masses up to 1e9: they bear them, whatever
// the substep, the size and the ratio, and what slips out from under them is no faster than a fall.
#include "support.h"

#include <math.h>
#include <stdlib.h>

#define DT (1.0f / 60.0f)

enum { LEVELS = 6, MOST = 8 };

static int lane_width; // 0: the widest

typedef struct pile {
  tn_world *world;
  tn_body_id body[MOST];
  int count;
} pile;

static pile ground_pile(float gravity, int substeps)
{
  pile p = {0};
  tn_world_def def = test_world_def(substeps, TN_METHOD_TENON);
  def.lanes = lane_width;
  def.gravity = tn_v3(0.0f, -gravity, 0.0f);
  p.world = tn_world_create(&def);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(p.world, test_no_body, &plane);
  return p;
}

static void add(pile *p, tn_shape_kind kind, tn_pos at, tn_quat turn, float size, float mass)
{
  tn_body_def def = tn_default_body_def();
  tn_shape_def shape = tn_default_shape_def(kind);
  def.position = at;
  def.rotation = turn;
  def.mass = kind == TN_SHAPE_BOX      ? tn_mass_box(tn_v3(size, size, size), 1.0f)
             : kind == TN_SHAPE_SPHERE ? tn_mass_sphere(size, 1.0f)
                                       : tn_mass_cylinder(size, 2.0f * size, 1.0f);
  def.mass = tn_mass_scaled_to(def.mass, mass);
  def.max_speed = def.max_angular_speed = 1e6f;
  shape.half_extents = tn_v3(size, size, size);
  shape.radius = size;
  shape.half_length = 2.0f * size;
  p->body[p->count] = tn_body_create(p->world, &def);
  tn_shape_create(p->world, p->body[p->count], &shape);
  p->count += 1;
}

static float spread(uint32_t *random, float lo, float hi)
{
  return lo * expf(test_random(random) * logf(hi / lo));
}

typedef struct outcome {
  double fastest; // m/s
  double moved;   // m, farthest way of a body from where it began
  double lowest;  // m, of a centre
} outcome;

static outcome run(const pile *p, float dt, int steps)
{
  outcome o = {0.0, 0.0, INFINITY};
  tn_pos start[MOST];
  for (int i = 0; i < p->count; ++i) {
    start[i] = tn_body_position(p->world, p->body[i]);
  }
  for (int k = 0; k < steps; ++k) {
    tn_world_step(p->world, dt);
    for (int i = 0; i < p->count; ++i) {
      tn_pos at = tn_body_position(p->world, p->body[i]);
      o.fastest = fmax(o.fastest, (double)tn_length(tn_body_velocity(p->world, p->body[i])));
      o.moved = fmax(o.moved, (double)tn_length(tn_between_points(start[i], at)));
      o.lowest = fmin(o.lowest, at.y);
    }
  }
  return o;
}

// Cubes of one size, light and heavy in turns, of 1 cm to 100 m: nothing moves by more than a
// thousandth of them. The step follows the size, as that of test_substeps.c.
static void light_boxes_bear_heavy_ones(void **state)
{
  (void)state;
  const int substeps[4] = {2, 4, 8, 20};
  uint32_t random = 3;
  double worst = 0.0;
  for (int n = 0; n < test_cases(24, 400); ++n) {
    float size = spread(&random, 0.005f, 50.0f), ratio = spread(&random, 1.0f, 1e9f);
    float light = spread(&random, 1e-3f, 1e3f);
    pile p = ground_pile(10.0f, substeps[n % 4]);
    for (int i = 0; i < LEVELS; ++i) {
      tn_pos at = tn_p3(0.0, (double)size * (2.0 * i + 1.0), 0.0);
      add(&p, TN_SHAPE_BOX, at, tn_quat_identity(), size, i % 2 ? light * ratio : light);
    }
    outcome o = run(&p, DT * sqrtf(2.0f * size), 300);
    worst = fmax(worst, o.moved / (double)size);
    if (!(o.moved < 1e-3 * (double)size)) {
      fail_msg("case %d: half a side %g m, ratio %g, %d substeps: moves by %g m", n, (double)size,
               (double)ratio, substeps[n % 4], o.moved);
    }
    tn_world_destroy(p.world);
  }
  print_message("  a body moves by %.2g of its size at most\n", worst);
}

// Cubes of different sizes, off the middle and turned, in a tower that stands by its statics.
static pile crooked_tower(uint32_t *random, float ratio, int substeps)
{
  const float sizes[LEVELS] = {0.5f, 0.7f, 0.4f, 0.5f, 0.4f, 0.6f};
  pile p = ground_pile(10.0f, substeps);
  double y = 0.0;
  for (int i = 0; i < LEVELS; ++i) {
    tn_vec3 off = test_vector(random, 0.05f);
    tn_quat turn = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), test_between(random, 0.0f, 3.0f));
    y += (double)sizes[i];
    add(&p, TN_SHAPE_BOX, tn_p3((double)off.x, y, (double)off.z), turn, sizes[i],
        i % 2 ? ratio : 1.0f);
    y += (double)sizes[i];
  }
  return p;
}

// Nothing moves by more than 5 cm at 8 substeps, and by more than 15 cm in more than one of fifty
// towers at 4.
static void light_boxes_bear_heavy_ones_off_the_middle(void **state)
{
  (void)state;
  uint32_t random = 5;
  double worst[2] = {0.0, 0.0};
  int fallen = 0, cases = test_cases(10, 200);
  for (int n = 0; n < cases; ++n) {
    float ratio = spread(&random, 1.0f, 1e9f);
    pile p = crooked_tower(&random, ratio, n % 2 ? 8 : 4);
    outcome o = run(&p, DT, 300);
    if (n % 2 == 0 && o.moved > 0.15) {
      ++fallen;
    } else {
      worst[n % 2] = fmax(worst[n % 2], o.moved);
    }
    tn_world_destroy(p.world);
  }
  print_message("  a body moves by %.2g m at 8 substeps, %.2g at 4, where %d of %d fall\n",
                worst[1], worst[0], fallen, cases / 2);
  assert_below(worst[1], 0.05);
  assert_in_range(fallen, 0, cases / 100);
}

// A heavy box laid on light balls or logs, or dropped on a light box from up to 1 m. In nine of ten
// cases what is under it does not sink into the ground by more than its radius (without
// `mass_scaling` in six of ten). Nothing is faster than twice a fall with ratios up to 1e4, and
// than 100 m/s with ratios up to 1e7.
static pile loaded_floor(uint32_t *random, int n, float ratio)
{
  tn_quat none = tn_quat_identity(),
          lying = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 1.5707963f);
  pile p = ground_pile(10.0f, n % 2 ? 8 : 4);
  double fall = n % 3 == 2 ? (double)test_between(random, 0.1f, 1.0f) : 0.0;
  tn_vec3 off = test_vector(random, 0.1f);
  for (int i = 0; i < 4; ++i) {
    tn_pos ball = tn_p3(i % 2 - 0.5, 0.2, i / 2 - 0.5), log = tn_p3(0.45 * (i - 1.5), 0.2, 0.0);
    if (n % 3 < 2) {
      add(&p, n % 3 ? TN_SHAPE_CYLINDER : TN_SHAPE_SPHERE, n % 3 ? log : ball, n % 3 ? lying : none,
          0.2f, 1.0f);
    } else if (i == 0) {
      add(&p, TN_SHAPE_BOX, tn_p3(0.0, 0.2, 0.0), none, 0.2f, 1.0f);
    }
  }
  add(&p, TN_SHAPE_BOX, tn_p3((double)off.x, fall + 1.15, (double)off.z), none, 0.75f, ratio);
  return p;
}

static void heavy_boxes_do_not_press_light_bodies_through_the_ground(void **state)
{
  (void)state;
  uint32_t random = 11;
  double fastest[2] = {0.0, 0.0};
  int pressed = 0, cases = test_cases(12, 200);
  for (int n = 0; n < cases; ++n) {
    float ratio = spread(&random, 1.0f, 1e7f);
    pile p = loaded_floor(&random, n, ratio);
    outcome o = run(&p, DT, 300);
    fastest[ratio > 1e4f] = fmax(fastest[ratio > 1e4f], o.fastest);
    pressed += o.lowest < 0.0;
    tn_world_destroy(p.world);
  }
  print_message("  %d of %d pressed into the ground; fastest %.2f m/s up to 1e4, %.2f beyond\n",
                pressed, cases, fastest[0], fastest[1]);
  assert_in_range(pressed, 0, cases / 10);
  assert_below(fastest[0], 2.0 * sqrt(2.0 * 10.0 * 2.15));
  assert_below(fastest[1], 100.0);
}

// The factor of a mass follows from the stored impulses alone.
static void squeezed_bodies_do_not_depend_on_lanes_or_restores(void **state)
{
  (void)state;
  int lanes[4], widths = test_lanes(lanes);
  uint64_t wanted = 0;
  for (int k = 0; k < widths; ++k) {
    uint32_t random = 9;
    lane_width = lanes[k];
    pile p = crooked_tower(&random, 1e5f, 4);
    test_run(p.world, DT, 30);
    size_t size = tn_world_save(p.world, NULL, 0);
    void *bytes = malloc(size);
    assert_int_equal(tn_world_save(p.world, bytes, size), size);
    tn_world *other = test_world_with(4, TN_METHOD_TENON, lanes[widths - 1 - k], 1);
    assert_true(tn_world_restore(other, bytes, size));
    free(bytes);
    test_run(p.world, DT, 30);
    test_run(other, DT, 30);
    assert_true(tn_world_hash(other) == tn_world_hash(p.world));
    assert_true(k == 0 || tn_world_hash(p.world) == wanted);
    wanted = tn_world_hash(p.world);
    tn_world_destroy(other);
    tn_world_destroy(p.world);
  }
  lane_width = 0;
}

// The weight of a squeezed body is its own: the ground bears the sum of the weights, and in free
// fall and under a push a body that nothing squeezes moves by its own mass.
static void squeezed_bodies_keep_their_weight(void **state)
{
  (void)state;
  for (int n = 0; n < 4; ++n) {
    float ratio = powf(10.0f, (float)(2 * n + 1));
    pile p = ground_pile(10.0f, 8);
    add(&p, TN_SHAPE_BOX, tn_p3(0.0, 0.5, 0.0), tn_quat_identity(), 0.5f, 1.0f);
    add(&p, TN_SHAPE_BOX, tn_p3(0.0, 1.5, 0.0), tn_quat_identity(), 0.5f, ratio);
    test_run(p.world, DT, 120);
    tn_contact contacts[4];
    assert_int_equal(tn_world_contacts(p.world, contacts, 4), 2);
    for (int c = 0; c < 2; ++c) {
      bool low = TN_IS_NULL(contacts[c].body_a) || TN_IS_NULL(contacts[c].body_b);
      double force = 0.0, weight = 10.0 * (double)(low ? 1.0f + ratio : ratio);
      for (int i = 0; i < contacts[c].count; ++i) {
        force += (double)contacts[c].points[i].normal_force;
      }
      assert_close(force, weight, 1e-3 * weight);
    }
    assert_true(tn_body_destroy(p.world, p.body[1]));
    tn_world_step(p.world, DT);
    assert_true(tn_body_apply_impulse(p.world, p.body[0], tn_v3(0.0f, 5.0f, 0.0f),
                                      tn_body_center(p.world, p.body[0])));
    test_run(p.world, DT, 6);
    assert_close(tn_body_velocity(p.world, p.body[0]).y, 5.0 - 10.0 * 6.0 * (double)DT, 1e-3);
    tn_world_destroy(p.world);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(light_boxes_bear_heavy_ones),
      cmocka_unit_test(light_boxes_bear_heavy_ones_off_the_middle),
      cmocka_unit_test(heavy_boxes_do_not_press_light_bodies_through_the_ground),
      cmocka_unit_test(squeezed_bodies_do_not_depend_on_lanes_or_restores),
      cmocka_unit_test(squeezed_bodies_keep_their_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
