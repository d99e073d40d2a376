// The scene library: every scene builds and runs, parameters are checked, a run can be saved, and
// shapes are drawn at their size.
#include "contact_support.h"
#include "look.h"

// ---------------------------------------------------------------------------------------------
// Every scene

// Large scenes run at a small size.
static scene_settings small_settings(const scene *which)
{
  static const char *const names[] = {"count", "base", "layers", "around", "level"};
  static const double most[] = {60.0, 8.0, 6.0, 12.0, 3.0};
  scene_settings settings = scene_defaults(which);
  for (size_t i = 0; i < sizeof most / sizeof most[0]; ++i) {
    const scene_parameter *p = scene_parameter_find(which, names[i]);
    if (p && p->value > most[i]) {
      scene_set(which, &settings, names[i], most[i]);
    }
  }
  const scene_parameter *cell = scene_parameter_find(which, "cell");
  if (cell) {
    scene_set(which, &settings, cell->name, 2.0 * cell->value);
  }
  return settings;
}

static void run_briefly(const scene *which, tn_method method, double seconds)
{
  tn_world_def def = test_world_def(which->substeps, method);
  scene_settings settings = small_settings(which);
  scene_run *run = scene_create(which, &settings, &def);
  if (!run) {
    fail_msg("%s could not be set up: %s", which->name, test_last_message());
    return;
  }
  run_scene(run, fmin(seconds, which->seconds));
  assert_true(test_is_finite(run->world));
  scene_metric list[SCENE_MAX_METRICS];
  int count = scene_metrics(run, list, SCENE_MAX_METRICS);
  assert_in_range(count, 1, SCENE_MAX_METRICS);
  for (int i = 0; i < count; ++i) {
    if (!isfinite(list[i].value)) {
      fail_msg("%s: %s is %g", which->name, list[i].name, list[i].value);
    }
  }
  scene_destroy(run);
}

static void every_scene_runs_in_every_method_it_claims(void **unused)
{
  (void)unused;
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    for (int m = 0; m < (all[i]->tenon_only ? 1 : TEST_METHODS); ++m) {
      run_briefly(all[i], test_methods[m], 0.5);
    }
  }
}

static void every_scene_has_descriptions(void **unused)
{
  (void)unused;
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    const scene *s = all[i];
    assert_ptr_equal(scene_find(s->name), s);
    assert_non_null(scene_group_title(s->group));
    tn_vec3 view = tn_sub(s->camera.target, s->camera.eye);
    assert_below(0.1, tn_length(view));
    for (int k = 0; k < SCENE_MAX_PARAMETERS && s->parameters[k].name; ++k) {
      const scene_parameter *p = &s->parameters[k];
      scene_settings settings = scene_defaults(s);
      assert_non_null(p->meaning);
      assert_int_equal(scene_set(s, &settings, p->name, p->value), SCENE_SET);
      assert_int_equal(scene_set(s, &settings, p->name, p->lo), SCENE_SET);
      assert_int_equal(scene_set(s, &settings, p->name, p->hi), SCENE_SET);
      assert_int_equal(scene_set(s, &settings, p->name, 2.0 * p->hi + 1.0), SCENE_OUT_OF_RANGE);
      assert_int_equal(scene_set(s, &settings, p->name, (double)NAN), SCENE_OUT_OF_RANGE);
    }
  }
}

static bool is_in_view(scene_camera camera, tn_pos place)
{
  tn_vec3 to = tn_between_points(tn_offset(tn_p3(0.0, 0.0, 0.0), camera.eye), place);
  tn_vec3 ahead = tn_sub(camera.target, camera.eye);
  return tn_dot(to, ahead) > 0.8f * tn_length(to) * tn_length(ahead); // within 37 degrees
}

static void check_camera(const scene_run *run)
{
  scene_camera camera = run->scene->camera;
  int seen = 0, all = run->body_count;
  for (int k = 0; k < run->body_count; ++k) {
    seen += is_in_view(camera, tn_body_position(run->world, run->bodies[k]));
  }
  tn_soft_id softs[16];
  int soft_count = tn_world_softs(run->world, softs, 16);
  assert_in_range(soft_count, 0, 16);
  for (int i = 0; i < soft_count; ++i) {
    int particles = tn_soft_positions(run->world, softs[i], NULL, 0);
    for (int k = 0; k < particles; ++k) {
      seen += is_in_view(camera, tn_soft_position(run->world, softs[i], k));
    }
    all += particles;
  }
  if (2 * seen < all) {
    fail_msg("%s: the camera sees %d of %d bodies and particles", run->scene->name, seen, all);
  }
}

static void cameras_look_at_their_scenes(void **unused)
{
  (void)unused;
  int count;
  const scene *const *all = scene_list(&count);
  for (int i = 0; i < count; ++i) {
    tn_world_def def = test_world_def(1, TN_METHOD_TENON);
    scene_run *run = scene_create(all[i], NULL, &def);
    check_camera(run);
    scene_destroy(run);
  }
}

// Names that users rely on.
static void scenes_and_parameters_have_their_names(void **unused)
{
  (void)unused;
  static const char *const names[] = {"springs3",
                                      "springs7",
                                      "torque_bar",
                                      "mass_ratio",
                                      "joint_zoo",
                                      "pendulum_loop",
                                      "bunny_chain",
                                      "marble_impulse",
                                      "marbles_in_wires",
                                      "pendulum_double",
                                      "sculpture",
                                      "coin",
                                      "robot_arm",
                                      "pendulum_triple",
                                      "rope",
                                      "joints_basic",
                                      "steering",
                                      "rotor",
                                      "car",
                                      "four_cubes",
                                      "bowling",
                                      "car_ramp",
                                      "car_spin",
                                      "ship",
                                      "tori_on_cloth",
                                      "elk_and_duck",
                                      "soft_cube_spin",
                                      "mobile",
                                      "pile",
                                      "cradle",
                                      "chain",
                                      "stack",
                                      "pyramid",
                                      "plate",
                                      "overlap",
                                      "unsolvable",
                                      "capsules"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (!scene_find(names[i])) {
      fail_msg("there is no scene %s", names[i]);
    }
  }
  static const char *const parameters[][2] = {
      {"pyramid", "base"},        {"stack", "count"},  {"chain", "count"},
      {"capsules", "count"},      {"pile", "count"},   {"mobile", "count"},
      {"overlap", "overlap_m"},   {"stack", "offset"}, {"pyramid", "overlap_m"},
      {"chain", "end_mass_ratio"}};
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; ++i) {
    assert_non_null(scene_parameter_find(scene_find(parameters[i][0]), parameters[i][1]));
  }
}

// ---------------------------------------------------------------------------------------------
// Saving

static scene_run *start_gears(void)
{
  scene_run *run = start_scene("gears", "speed=2", 8);
  run_scene(run, 0.5);
  return run;
}

static void a_saved_run_continues_exactly(void **unused)
{
  (void)unused;
  scene_run *run = start_gears();
  size_t size = scene_save(run, NULL, 0);
  char *bytes = malloc(size);
  assert_int_equal(scene_save(run, bytes, size - 1), size); // too small: nothing is written
  assert_int_equal(scene_save(run, bytes, size), size);
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  scene_run *other = scene_load(bytes, size, &def);
  assert_non_null(other);
  run_scene(run, 0.5);
  run_scene(other, 0.5);
  assert_true(tn_world_hash(run->world) == tn_world_hash(other->world));
  assert_close(scene_metric_value(other, "turns"), scene_metric_value(run, "turns"), 0.0);
  scene_destroy(other);
  scene_destroy(run);
  free(bytes);
}

static void bytes_that_are_no_run_are_refused(void **unused)
{
  (void)unused;
  scene_run *run = start_gears();
  size_t size = scene_save(run, NULL, 0);
  char *bytes = malloc(size);
  scene_save(run, bytes, size);
  scene_destroy(run);
  tn_world_def def = test_world_def(8, TN_METHOD_TENON);
  scene_settings settings;
  assert_null(scene_load(bytes, 10, &def));
  assert_null(scene_load(bytes, size - 1, &def));
  assert_message("truncated");
  assert_non_null(scene_saved(bytes, size, &settings));
  bytes[0] ^= 1;
  assert_null(scene_load(bytes, size, &def));
  bytes[0] ^= 1;
  char *name = memchr(bytes, 'g', 64); // the name "gears"
  assert_non_null(name);
  *name = 'x';
  assert_null(scene_saved(bytes, size, &settings));
  free(bytes);
}

// ---------------------------------------------------------------------------------------------
// Render meshes

// The divergence theorem: a closed surface with outward triangles has the volume of its solid.
static double volume_of(const scene_look *l)
{
  double sum = 0.0;
  for (int i = 0; i < l->triangle_count; ++i) {
    const int *t = &l->triangles[3 * i];
    tn_vec3 a = l->points[t[0]], b = l->points[t[1]], c = l->points[t[2]];
    sum += (double)tn_dot(a, tn_cross(b, c)) / 6.0;
  }
  return sum;
}

static void check_normals(const scene_look *l)
{
  for (int i = 0; i < l->triangle_count; ++i) {
    const int *t = &l->triangles[3 * i];
    tn_vec3 a = l->points[t[0]], b = l->points[t[1]], c = l->points[t[2]];
    tn_vec3 across = tn_cross(tn_sub(b, a), tn_sub(c, a));
    for (int k = 0; k < 3; ++k) {
      assert_close(tn_length(l->normals[t[k]]), 1.0, 1e-3);
      assert_true(tn_dot(across, l->normals[t[k]]) >= 0.0f);
    }
  }
}

static void check_look(const tn_world *world, const tn_shape_def *def, double volume,
                       double tolerance)
{
  scene_look look;
  assert_true(scene_look_make(world, def, &look));
  check_normals(&look);
  assert_close(volume_of(&look), volume, tolerance * volume);
  scene_look_free(&look);
}

// Round shapes have 24 corners around and lose 3 %.
static void drawn_solids_have_their_volume(void **unused)
{
  (void)unused;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  double pi = (double)TN_PI;
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.5f, 1.0f, 1.5f);
  check_look(world, &box, 6.0, 1e-6);
  tn_shape_def ball = ball_shape(0.5f);
  check_look(world, &ball, pi / 6.0, 0.03);
  tn_shape_def capsule = axial_shape(TN_SHAPE_CAPSULE, 0.5f, 1.0f);
  check_look(world, &capsule, pi / 6.0 + 0.5 * pi, 0.03);
  tn_shape_def cylinder = axial_shape(TN_SHAPE_CYLINDER, 0.5f, 1.0f);
  check_look(world, &cylinder, 0.5 * pi, 0.03);
  tn_shape_def cone = axial_shape(TN_SHAPE_CONE, 0.5f, 1.0f);
  check_look(world, &cone, 0.5 * pi / 3.0, 0.03);
  tn_vec3 corners[6] = {{1.0f, 0.0f, 0.0f},  {-1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f},
                        {0.0f, -1.0f, 0.0f}, {0.0f, 0.0f, 1.0f},  {0.0f, 0.0f, -1.0f}};
  tn_shape_def hull = tn_default_shape_def(TN_SHAPE_HULL);
  hull.geometry = tn_hull_create(world, corners, 6, 0);
  check_look(world, &hull, 4.0 / 3.0, 1e-6);
  tn_world_destroy(world);
}

// Pappus: the volume of a closed tube is its cross section times the length of its centre line.
static void drawn_wires_have_the_volume_of_tubes(void **unused)
{
  (void)unused;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_wire_point ring[32];
  for (int i = 0; i < 32; ++i) {
    float angle = 2.0f * TN_PI * (float)i / 32.0f, step = 2.0f * TN_PI / 32.0f;
    ring[i].position = tn_v3(cosf(angle), 0.0f, sinf(angle));
    ring[i].tangent = tn_v3(-step * sinf(angle), 0.0f, step * cosf(angle));
  }
  tn_shape_def wire = tn_default_shape_def(TN_SHAPE_WIRE);
  wire.radius = 0.1f;
  wire.geometry = tn_wire_create(world, ring, 32, true);
  double octagon = 2.0 * sqrt(2.0) * 0.01; // the cross section has 8 corners
  check_look(world, &wire, 2.0 * (double)TN_PI * octagon, 0.01);
  tn_world_destroy(world);
}

static void drawn_surfaces_face_up(void **unused)
{
  (void)unused;
  tn_world *world = test_world(1, TN_METHOD_TENON);
  float heights[6] = {0.0f, 0.1f, 0.0f, 0.2f, 0.0f, 0.1f};
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, 3, 2, 1.0f, 1.0f);
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  const tn_shape_def *shapes[2] = {&field, &plane};
  for (int i = 0; i < 2; ++i) {
    scene_look look;
    assert_true(scene_look_make(world, shapes[i], &look));
    check_normals(&look);
    for (int k = 0; k < look.point_count; ++k) {
      assert_true(look.normals[k].y > 0.9f);
    }
    scene_look_free(&look);
  }
  tn_shape_def none = tn_default_shape_def(TN_SHAPE_HULL);
  scene_look look;
  assert_false(scene_look_make(world, &none, &look)); // no geometry
  tn_world_destroy(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scene_runs_in_every_method_it_claims),
      cmocka_unit_test(every_scene_has_descriptions),
      cmocka_unit_test(cameras_look_at_their_scenes),
      cmocka_unit_test(scenes_and_parameters_have_their_names),
      cmocka_unit_test(a_saved_run_continues_exactly),
      cmocka_unit_test(bytes_that_are_no_run_are_refused),
      cmocka_unit_test(drawn_solids_have_their_volume),
      cmocka_unit_test(drawn_wires_have_the_volume_of_tubes),
      cmocka_unit_test(drawn_surfaces_face_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
