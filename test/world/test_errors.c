// Invalid calls: each logs one message, returns null, false or zero, and leaves the world
// unchanged, byte by byte.
#define _POSIX_C_SOURCE 200809L // NOLINT(bugprone-reserved-identifier)
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------
// A world with one object of each kind, and stale ids

typedef struct fixture {
  tn_world *world, *other;
  tn_body_id dynamic, second, fixed, driven;
  tn_body_id dead_body, foreign_body;
  tn_joint_id hinge, slider, anchored;
  tn_joint_id dead_joint, foreign_joint;
  unsigned char *bytes;
  size_t size;
  uint64_t hash;
} fixture;

static fixture make_fixture(void)
{
  fixture f = {0};
  tn_vec3 axis = {0.0f, 0.0f, 1.0f};
  f.world = test_world(4, TN_METHOD_TENON);
  f.dynamic = test_body(f.world, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  f.second = test_body(f.world, TN_BODY_DYNAMIC, tn_p3(1.0, 0.0, 0.0));
  f.fixed = test_body(f.world, TN_BODY_STATIC, tn_p3(2.0, 0.0, 0.0));
  f.driven = test_body(f.world, TN_BODY_KINEMATIC, tn_p3(3.0, 0.0, 0.0));
  f.hinge = test_joint(f.world, TN_JOINT_HINGE, f.dynamic, f.second, tn_p3(0.5, 0.0, 0.0), axis);
  f.slider = test_joint(f.world, TN_JOINT_PRISMATIC, f.fixed, f.second, tn_p3(2.0, 0.0, 0.0), axis);
  f.anchored =
      test_joint(f.world, TN_JOINT_BALL, test_no_body, f.dynamic, tn_p3(0.0, 1.0, 0.0), axis);
  f.dead_joint =
      test_joint(f.world, TN_JOINT_BALL, f.driven, f.dynamic, tn_p3(3.0, 1.0, 0.0), axis);
  assert_true(tn_joint_destroy(f.world, f.dead_joint));
  f.dead_body = test_body(f.world, TN_BODY_DYNAMIC, tn_p3(4.0, 0.0, 0.0));
  assert_true(tn_body_destroy(f.world, f.dead_body));
  test_run(f.world, 1.0f / 60.0f, 3);
  f.other = test_world(1, TN_METHOD_TENON);
  f.foreign_body = test_body(f.other, TN_BODY_DYNAMIC, tn_p3(0.0, 0.0, 0.0));
  f.foreign_joint =
      test_joint(f.other, TN_JOINT_BALL, test_no_body, f.foreign_body, tn_p3(0.0, 0.0, 0.0), axis);
  f.size = tn_world_save(f.world, NULL, 0);
  f.bytes = malloc(f.size);
  assert_non_null(f.bytes);
  assert_int_equal(tn_world_save(f.world, f.bytes, f.size), f.size);
  f.hash = tn_world_hash(f.world);
  test_forget_messages();
  return f;
}

static void release_fixture(fixture *f)
{
  free(f->bytes);
  tn_world_destroy(f->world);
  tn_world_destroy(f->other);
}

static void assert_unchanged(const fixture *f, const char *file, int line)
{
  unsigned char *now = malloc(f->size);
  size_t size = tn_world_save(f->world, now, f->size);
  bool same = size == f->size && memcmp(now, f->bytes, size) == 0;
  free(now);
  if (!same || tn_world_hash(f->world) != f->hash) {
    print_error("the world has changed; the last message is \"%s\"\n", test_last_message());
    _fail(file, line);
  }
}

static void assert_refusal(const fixture *f, bool refused, const char *part, const char *call,
                           const char *file, int line)
{
  if (!refused) {
    print_error("%s was accepted\n", call);
    _fail(file, line);
  }
  test_assert_message(part, file, line);
  assert_unchanged(f, file, line);
}

// `refused` is the return value of a refused call.
#define REFUSES(f, refused, part) assert_refusal(f, refused, part, #refused, __FILE__, __LINE__)

static tn_vec3 one_bad(int i, float bad)
{
  return tn_v3(i == 0 ? bad : 1.0f, i == 1 ? bad : 1.0f, i == 2 ? bad : 1.0f);
}

static tn_pos one_bad_pos(int i, double bad)
{
  return tn_p3(i == 0 ? bad : 1.0, i == 1 ? bad : 1.0, i == 2 ? bad : 1.0);
}

static const float not_finite[3] = {NAN, INFINITY, -INFINITY};

// ---------------------------------------------------------------------------------------------
// World definitions

static void assert_no_world(const tn_world_def *def, const char *part)
{
  tn_world *world = tn_world_create(def);
  assert_null(world);
  assert_message(part);
}

static void bad_worlds_are_refused(void **state)
{
  (void)state;
  test_forget_messages();
  const tn_world_def good = test_world_def(4, TN_METHOD_TENON);
  for (int i = 0; i < 9; ++i) {
    tn_world_def def = good;
    def.gravity = one_bad(i % 3, not_finite[i / 3]);
    assert_no_world(&def, "gravity");
  }
  const struct {
    int substeps, iterations, threads, lanes;
    const char *part;
  } counts[] = {
      {0, 1, 1, 0, "substeps"},   {-1, 1, 1, 0, "substeps"},   {10001, 1, 1, 0, "substeps"},
      {1, 0, 1, 0, "iterations"}, {1, -5, 1, 0, "iterations"}, {1, 10001, 1, 0, "iterations"},
      {1, 1, 0, 0, "threads"},    {1, 1, -1, 0, "threads"},    {1, 1, 65, 0, "threads"},
      {1, 1, 1, -1, "lanes"},     {1, 1, 1, 2, "lanes"},       {1, 1, 1, 32, "lanes"},
  };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    tn_world_def def = good;
    def.substeps = counts[i].substeps;
    def.iterations = counts[i].iterations;
    def.threads = counts[i].threads;
    def.lanes = counts[i].lanes;
    assert_no_world(&def, counts[i].part);
  }
  tn_world_def def = good;
  def.method = (tn_method)7;
  assert_no_world(&def, "method");
  def.method = (tn_method)-1;
  assert_no_world(&def, "method");
}

static void *no_enqueue(tn_task_fn *task, int count, int grain, void *task_context, void *context)
{
  (void)grain, (void)context;
  task(0, count, task_context);
  return NULL;
}

static void no_finish(void *handle, void *context)
{
  (void)handle, (void)context;
}

static void incomplete_callbacks_are_refused(void **state)
{
  (void)state;
  test_forget_messages();
  for (int i = 0; i < 4; ++i) {
    tn_world_def def = test_world_def(4, TN_METHOD_TENON);
    def.enqueue = i == 0 ? no_enqueue : NULL;
    def.finish = i == 1 ? no_finish : NULL;
    def.allocator.alloc = i == 2 ? test_metered(NULL).alloc : NULL;
    def.allocator.release = i == 3 ? test_metered(NULL).release : NULL;
    assert_no_world(&def, "both hooks");
  }
}

// Messages without a log callback go to stderr.
static void definitions_of_unknown_origin_are_refused_on_stderr(void **state)
{
  (void)state;
  test_forget_messages();
  tn_world_def copied = test_world_def(4, TN_METHOD_TENON);
  copied.cookie ^= 1;
  tn_world_def zeroed;
  memset(&zeroed, 0, sizeof zeroed);
  fflush(stderr);
  int saved = dup(STDERR_FILENO);
  FILE *caught = tmpfile();
  assert_non_null(caught);
  dup2(fileno(caught), STDERR_FILENO);
  tn_world *worlds[3] = {tn_world_create(&copied), tn_world_create(&zeroed), tn_world_create(NULL)};
  tn_mass mass = tn_mass_sphere(-1.0f, 1.0f);
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  char text[1024] = {0};
  rewind(caught);
  size_t length = fread(text, 1, sizeof text - 1, caught);
  fclose(caught);
  for (int i = 0; i < 3; ++i) {
    assert_null(worlds[i]);
  }
  assert_true(mass.mass == 0.0f);
  int lines = 0;
  for (size_t i = 0; i < length; ++i) {
    lines += text[i] == '\n';
  }
  assert_int_equal(lines, 4);
  assert_non_null(strstr(text, "tn_default_world_def"));
  assert_non_null(strstr(text, "null"));
  assert_int_equal(test_messages.count, 0);
}

static void bad_settings_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  for (int i = 0; i < 9; ++i) {
    REFUSES(&f, !tn_world_set_gravity(f.world, one_bad(i % 3, not_finite[i / 3])), "gravity");
  }
  REFUSES(&f, !tn_world_set_method(f.world, (tn_method)3), "method");
  REFUSES(&f, !tn_world_set_method(f.world, (tn_method)-1), "method");
  REFUSES(&f, !tn_world_set_substeps(f.world, 0), "substeps");
  REFUSES(&f, !tn_world_set_iterations(f.world, 0), "iterations");
  REFUSES(&f, !tn_world_set_substeps(f.world, 10001), "substeps");
  for (int i = 0; i < 3; ++i) {
    REFUSES(&f, !tn_world_set_sleep_speed(f.world, not_finite[i]), "sleep_speed");
    REFUSES(&f, !tn_world_set_sleep_time(f.world, not_finite[i]), "sleep_time");
  }
  REFUSES(&f, !tn_world_set_sleep_speed(f.world, -1.0f), "sleep_speed");
  REFUSES(&f, !tn_world_set_sleep_time(f.world, -1.0f), "sleep_time");
  REFUSES(&f, !tn_world_set_play(f.world, -1.0f), "play");
  REFUSES(&f, !tn_world_set_play(f.world, 0.11f), "play");
  REFUSES(&f, !tn_world_set_play(f.world, NAN), "play");
  const float times[7] = {0.0f, -0.0f, -1.0f, NAN, INFINITY, -INFINITY, 10.1f};
  for (int i = 0; i < 7; ++i) {
    REFUSES(&f, tn_world_step(f.world, times[i]) == TN_STEP_REJECTED, "dt");
  }
  release_fixture(&f);
}

// A step of any length is either clean or refused.
static void short_steps_are_clean_or_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const float times[8] = {1e-3f, 1e-6f, 1e-9f, 1e-12f, 1e-20f, 1e-30f, FLT_MIN, 1e-45f};
  for (int m = 0; m < TEST_METHODS; ++m) {
    assert_true(tn_world_set_method(f.world, test_methods[m]));
    for (int i = 0; i < 8; ++i) {
      uint32_t status = tn_world_step(f.world, times[i]);
      if (status != TN_STEP_OK && status != TN_STEP_REJECTED) {
        fail_msg("%s, dt = %g: status %u", test_method_name(test_methods[m]), (double)times[i],
                 (unsigned)status);
      }
    }
  }
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Body definitions

typedef struct floats {
  size_t offset;
  int count;
} floats;

static void put_float(void *def, size_t offset, int i, float value)
{
  memcpy((char *)def + offset + (size_t)i * sizeof value, &value, sizeof value);
}

static void assert_no_body(const fixture *f, const tn_body_def *def, const char *part)
{
  REFUSES(f, TN_IS_NULL(tn_body_create(f->world, def)), part);
}

static void bodies_with_fields_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const floats fields[] = {
      {offsetof(tn_body_def, rotation), 4},          {offsetof(tn_body_def, velocity), 3},
      {offsetof(tn_body_def, angular_velocity), 3},  {offsetof(tn_body_def, mass), 10},
      {offsetof(tn_body_def, gravity_scale), 1},     {offsetof(tn_body_def, linear_damping), 1},
      {offsetof(tn_body_def, angular_damping), 1},   {offsetof(tn_body_def, max_speed), 1},
      {offsetof(tn_body_def, max_angular_speed), 1},
  };
  for (int bad = 0; bad < 3; ++bad) {
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; ++k) {
      for (int i = 0; i < fields[k].count; ++i) {
        tn_body_def def = test_body_def();
        put_float(&def, fields[k].offset, i, not_finite[bad]);
        assert_no_body(&f, &def, "tn_body_create");
      }
    }
    for (int i = 0; i < 3; ++i) {
      tn_body_def def = test_body_def();
      def.position = one_bad_pos(i, (double)not_finite[bad]);
      assert_no_body(&f, &def, "position");
    }
  }
  release_fixture(&f);
}

static void bad_bodies_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const struct {
    size_t offset;
    float value;
    const char *part;
  } fields[] = {
      {offsetof(tn_body_def, mass.mass), 0.0f, "mass"},
      {offsetof(tn_body_def, mass.mass), -1.0f, "mass"},
      {offsetof(tn_body_def, mass.mass), 1e-40f, "mass"}, // its inverse is not finite
      {offsetof(tn_body_def, mass.inertia.xx), 0.0f, "inertia"},
      {offsetof(tn_body_def, mass.inertia.yy), -1.0f, "inertia"},
      {offsetof(tn_body_def, mass.inertia.zz), 10.0f, "inertia"}, // triangle inequality
      {offsetof(tn_body_def, mass.inertia.xy), 10.0f, "inertia"}, // not positive definite
      {offsetof(tn_body_def, linear_damping), -1e-6f, "damping"},
      {offsetof(tn_body_def, angular_damping), -1.0f, "damping"},
      {offsetof(tn_body_def, linear_damping), 2e6f, "damping"},
      {offsetof(tn_body_def, max_speed), -1.0f, "speed"},
      {offsetof(tn_body_def, max_angular_speed), -1.0f, "speed"},
      {offsetof(tn_body_def, rotation.w), 0.0f, "rotation"},
      {offsetof(tn_body_def, rotation.w), 2.0f, "rotation"},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    tn_body_def def = test_body_def();
    put_float(&def, fields[i].offset, 0, fields[i].value);
    assert_no_body(&f, &def, fields[i].part);
  }
  tn_body_def tiny = test_body_def();
  tiny.mass.inertia = (tn_sym3){1e-42f, 1e-42f, 1e-42f, 0.0f, 0.0f, 0.0f};
  assert_no_body(&f, &tiny, "inertia");
  tn_body_def def = test_body_def();
  def.type = (tn_body_type)3;
  assert_no_body(&f, &def, "type");
  def.type = (tn_body_type)-1;
  assert_no_body(&f, &def, "type");
  def = test_body_def();
  def.cookie = 0;
  assert_no_body(&f, &def, "tn_default_body_def");
  assert_no_body(&f, NULL, "null");
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Setters of bodies

static void bad_vectors_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  tn_pos here = {0.0, 0.0, 0.0};
  for (int i = 0; i < 9; ++i) {
    tn_vec3 v = one_bad(i % 3, not_finite[i / 3]);
    tn_pos p = one_bad_pos(i % 3, (double)not_finite[i / 3]);
    tn_vec3 good = {1.0f, 0.0f, 0.0f};
    tn_transform place = {p, tn_quat_identity()};
    REFUSES(&f, !tn_body_set_velocity(f.world, f.dynamic, v), "finite");
    REFUSES(&f, !tn_body_set_angular_velocity(f.world, f.dynamic, v), "finite");
    REFUSES(&f, !tn_body_apply_force(f.world, f.dynamic, v, here), "finite");
    REFUSES(&f, !tn_body_apply_force(f.world, f.dynamic, good, p), "finite");
    REFUSES(&f, !tn_body_apply_force_to_center(f.world, f.dynamic, v), "finite");
    REFUSES(&f, !tn_body_apply_torque(f.world, f.dynamic, v), "finite");
    REFUSES(&f, !tn_body_apply_impulse(f.world, f.dynamic, v, here), "finite");
    REFUSES(&f, !tn_body_apply_impulse(f.world, f.dynamic, good, p), "finite");
    REFUSES(&f, !tn_body_apply_angular_impulse(f.world, f.dynamic, v), "finite");
    REFUSES(&f, !tn_body_set_transform(f.world, f.dynamic, place), "finite");
    REFUSES(&f, !tn_body_move_to(f.world, f.driven, place), "finite");
    REFUSES(&f, !tn_joint_set_anchor(f.world, f.anchored, p), "finite");
  }
  for (int i = 0; i < 12; ++i) {
    tn_transform place = {here, tn_quat_identity()};
    put_float(&place.q, 0, i % 4, not_finite[i / 4]);
    REFUSES(&f, !tn_body_set_transform(f.world, f.dynamic, place), "rotation");
    REFUSES(&f, !tn_body_move_to(f.world, f.driven, place), "rotation");
  }
  release_fixture(&f);
}

static void bad_numbers_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const float bad[5] = {NAN, INFINITY, -INFINITY, -1.0f, 2e38f};
  for (int i = 0; i < 5; ++i) {
    if (i < 3) {
      REFUSES(&f, !tn_body_set_gravity_scale(f.world, f.dynamic, bad[i]), "scale");
    }
    REFUSES(&f, !tn_body_set_linear_damping(f.world, f.dynamic, bad[i]), "damping");
    REFUSES(&f, !tn_body_set_angular_damping(f.world, f.dynamic, bad[i]), "damping");
    if (i < 4) {
      REFUSES(&f, !tn_body_set_max_speed(f.world, f.dynamic, bad[i]), "speed");
      REFUSES(&f, !tn_body_set_max_angular_speed(f.world, f.dynamic, bad[i]), "speed");
    }
    for (int k = 0; k < 10 && i < 3; ++k) {
      tn_mass mass = tn_mass_sphere(1.0f, 1.0f);
      put_float(&mass, 0, k, bad[i]);
      REFUSES(&f, !tn_body_set_mass(f.world, f.dynamic, mass), "tn_body_set_mass");
    }
  }
  REFUSES(&f, !tn_body_set_mass(f.world, f.dynamic, (tn_mass){0}), "mass");
  REFUSES(&f, !tn_body_set_type(f.world, f.dynamic, (tn_body_type)3), "type");
  release_fixture(&f);
}

static void bodies_of_the_wrong_type_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  tn_vec3 v = {1.0f, 0.0f, 0.0f};
  tn_pos here = {0.0, 0.0, 0.0};
  tn_transform place = {here, tn_quat_identity()};
  REFUSES(&f, !tn_body_set_velocity(f.world, f.fixed, v), "static");
  REFUSES(&f, !tn_body_set_angular_velocity(f.world, f.fixed, v), "static");
  const tn_body_id ids[2] = {f.fixed, f.driven};
  for (int i = 0; i < 2; ++i) {
    REFUSES(&f, !tn_body_apply_force(f.world, ids[i], v, here), "tn_body_apply_force");
    REFUSES(&f, !tn_body_apply_force_to_center(f.world, ids[i], v), "to_center");
    REFUSES(&f, !tn_body_apply_torque(f.world, ids[i], v), "torque");
    REFUSES(&f, !tn_body_apply_impulse(f.world, ids[i], v, here), "impulse");
    REFUSES(&f, !tn_body_apply_angular_impulse(f.world, ids[i], v), "angular_impulse");
  }
  REFUSES(&f, !tn_body_move_to(f.world, f.dynamic, place), "kinematic");
  REFUSES(&f, !tn_body_move_to(f.world, f.fixed, place), "kinematic");
  release_fixture(&f);

  // Without mass and shapes it has 1 kg once it is dynamic.
  tn_world *world = test_world(1, TN_METHOD_TENON);
  tn_body_def def = test_body_def();
  def.type = TN_BODY_STATIC;
  def.mass = (tn_mass){0};
  tn_body_id body = tn_body_create(world, &def);
  assert_true(tn_body_is_valid(world, body));
  assert_true(tn_body_mass(world, body).mass == 0.0f);
  assert_true(tn_body_set_type(world, body, TN_BODY_DYNAMIC));
  assert_true(tn_body_mass(world, body).mass == 1.0f);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Joint definitions

static tn_joint_def good_joint(const fixture *f, tn_joint_kind kind)
{
  return test_joint_def(f->world, kind, f->dynamic, f->driven, tn_p3(1.0, 1.0, 1.0),
                        tn_v3(0.0f, 1.0f, 0.0f));
}

// Creating the joint fails, and so does changing the fixture's joint of that kind to it.
static void assert_no_joint(const fixture *f, const tn_joint_def *def, const char *part)
{
  REFUSES(f, TN_IS_NULL(tn_joint_create(f->world, def)), part);
  if (def && (def->kind == TN_JOINT_HINGE || def->kind == TN_JOINT_PRISMATIC)) {
    tn_joint_id id = def->kind == TN_JOINT_HINGE ? f->hinge : f->slider;
    tn_joint_def changed = *def;
    changed.body_a = tn_joint_get_def(f->world, id).body_a;
    changed.body_b = tn_joint_get_def(f->world, id).body_b;
    REFUSES(f, !tn_joint_set_def(f->world, id, &changed), part);
  }
}

static void assert_field_refused(const fixture *f, tn_joint_kind kind, size_t offset, float value,
                                 const char *part)
{
  tn_joint_def def = good_joint(f, kind);
  put_float(&def, offset, 0, value);
  assert_no_joint(f, &def, part);
}

static void joints_with_bad_numbers_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const size_t finite[] = {offsetof(tn_joint_def, compliance),
                           offsetof(tn_joint_def, angular_compliance),
                           offsetof(tn_joint_def, limit_compliance),
                           offsetof(tn_joint_def, angular_limit_compliance),
                           offsetof(tn_joint_def, axis[TN_LINEAR_A].damping),
                           offsetof(tn_joint_def, axis[TN_ANGULAR_A].damping),
                           offsetof(tn_joint_def, axis[TN_LINEAR_A].stiffness),
                           offsetof(tn_joint_def, axis[TN_ANGULAR_A].armature)};
  const size_t may_be_infinite[] = {offsetof(tn_joint_def, axis[TN_LINEAR_A].friction),
                                    offsetof(tn_joint_def, axis[TN_ANGULAR_A].friction),
                                    offsetof(tn_joint_def, axis[TN_ANGULAR_A].max_effort),
                                    offsetof(tn_joint_def, axis[TN_ANGULAR_A].inertia),
                                    offsetof(tn_joint_def, break_force),
                                    offsetof(tn_joint_def, break_torque)};
  const float bad[4] = {NAN, -1.0f, -INFINITY, INFINITY};
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    for (int i = 0; i < 4; ++i) {
      for (size_t k = 0; k < sizeof finite / sizeof finite[0]; ++k) {
        assert_field_refused(&f, (tn_joint_kind)kind, finite[k], bad[i], "must");
      }
      for (size_t k = 0; k < 6 && i < 3; ++k) {
        assert_field_refused(&f, (tn_joint_kind)kind, may_be_infinite[k], bad[i], "negative");
      }
    }
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 4; ++k) {
        size_t part = (size_t)k * sizeof(float);
        size_t a = offsetof(tn_joint_def, frame_a.q) + part;
        size_t b = offsetof(tn_joint_def, frame_b.q) + part;
        assert_field_refused(&f, (tn_joint_kind)kind, a, not_finite[i], "rotation");
        assert_field_refused(&f, (tn_joint_kind)kind, b, not_finite[i], "rotation");
      }
      tn_joint_def def = good_joint(&f, (tn_joint_kind)kind);
      def.frame_a.p = one_bad_pos(i, (double)not_finite[i]);
      assert_no_joint(&f, &def, "position");
      def = good_joint(&f, (tn_joint_kind)kind);
      def.frame_b.p = one_bad_pos(i, (double)not_finite[i]);
      assert_no_joint(&f, &def, "position");
    }
  }
  assert_field_refused(&f, TN_JOINT_BALL, offsetof(tn_joint_def, swing), NAN, "swing");
  assert_field_refused(&f, TN_JOINT_BALL, offsetof(tn_joint_def, swing), -0.1f, "swing");
  release_fixture(&f);
}

// Which ranges a kind has: bits 0-2 linear, 3-5 angular.
static const int ranges_of[TN_JOINT_KIND_COUNT] = {
    [TN_JOINT_DISTANCE] = 1,   [TN_JOINT_BALL] = 8,      [TN_JOINT_HINGE] = 8,
    [TN_JOINT_FIXED] = 0,      [TN_JOINT_PRISMATIC] = 1, [TN_JOINT_CYLINDER] = 9,
    [TN_JOINT_UNIVERSAL] = 24, [TN_JOINT_GENERIC] = 63};

static void bad_ranges_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const tn_range bad[] = {{1.0f, 0.5f},         {NAN, 1.0f},          {-1.0f, NAN},
                          {NAN, NAN},           {INFINITY, INFINITY}, {-INFINITY, -INFINITY},
                          {INFINITY, -INFINITY}};
  const tn_range bad_angles[] = {{-4.0f, 4.0f}, {0.0f, 6.4f}, {-7.0f, INFINITY}, {-INFINITY, 7.0f}};
  const tn_range bad_turns[] = {
      {-1.1e4f, 0.0f}, {0.0f, 1.1e4f}, {-1.1e4f, INFINITY}, {-INFINITY, 1.1e4f}};
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    for (int axis = 0; axis < 6; ++axis) {
      if (!(ranges_of[kind] >> axis & 1)) {
        continue;
      }
      for (size_t i = 0; i < 11; ++i) {
        if (i >= 7 && axis < 3) {
          continue;
        }
        tn_joint_def def = good_joint(&f, (tn_joint_kind)kind);
        tn_range *r = axis < 3 ? &def.linear[axis] : &def.angular[axis - 3];
        bool turns =
            kind == TN_JOINT_HINGE || kind == TN_JOINT_CYLINDER || kind == TN_JOINT_UNIVERSAL;
        *r = i < 7 ? bad[i] : turns ? bad_turns[i - 7] : bad_angles[i - 7];
        assert_no_joint(&f, &def, i < (turns ? 7 : 9) ? "range" : "angle");
      }
    }
  }
  tn_joint_def rod = good_joint(&f, TN_JOINT_DISTANCE);
  rod.linear[0] = tn_between(-2.0f, -1.0f);
  assert_no_joint(&f, &rod, "length");
  release_fixture(&f);
}

static void bad_drives_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  for (int kind = 0; kind < TN_JOINT_KIND_COUNT; ++kind) {
    for (int angular = 0; angular < 2; ++angular) {
      bool possible = ranges_of[kind] & (angular ? 8 : 1);
      for (int i = 0; i < 16; ++i) {
        tn_joint_def def = good_joint(&f, (tn_joint_kind)kind);
        tn_drive *drive = angular ? &def.axis[TN_ANGULAR_A].drive : &def.axis[TN_LINEAR_A].drive;
        drive->stiffness = drive->damping = 1.0f;
        drive->target = i < 3 ? not_finite[i] : 0.5f;
        drive->velocity = i >= 3 && i < 6 ? not_finite[i - 3] : 0.5f;
        drive->force = i >= 6 && i < 9 ? not_finite[i - 6] : 0.5f;
        drive->stiffness = i == 9 ? NAN : i == 10 ? -1.0f : i == 11 ? INFINITY : 1.0f;
        drive->damping = i == 11 ? INFINITY : 1.0f;
        drive->limits = tn_between(i == 12 ? NAN : i == 13 ? 1.0f : -1.0f, 2.0f);
        drive->max_speed = i == 14 ? NAN : i == 15 ? 0.0f : 1.0f;
        assert_no_joint(&f, &def, possible ? "a drive's" : "no free axis");
      }
    }
  }
  tn_drive good = tn_motor(1.0f, INFINITY, 1.0f);
  tn_drive bad = good;
  bad.limits.hi = NAN;
  REFUSES(&f, !tn_joint_set_drive(f.world, f.hinge, TN_LINEAR_A, good), "no free axis");
  REFUSES(&f, !tn_joint_set_drive(f.world, f.slider, TN_ANGULAR_A, good), "no free axis");
  REFUSES(&f, !tn_joint_set_drive(f.world, f.slider, TN_LINEAR_A, bad), "limits");
  REFUSES(&f, !tn_joint_set_drive(f.world, f.hinge, TN_ANGULAR_A, bad), "limits");
  REFUSES(&f, !tn_joint_set_drive(f.world, f.hinge, (tn_joint_axis)6, good), "axis");
  REFUSES(&f, !tn_joint_set_drive(f.world, f.hinge, (tn_joint_axis)-1, good), "axis");
  REFUSES(&f, !tn_joint_set_angle(f.world, f.hinge, TN_ANGULAR_B, 0.0f), "turns");
  REFUSES(&f, !tn_joint_set_angle(f.world, f.slider, TN_LINEAR_A, 0.0f), "turns");
  REFUSES(&f, !tn_joint_set_angle(f.world, f.hinge, TN_ANGULAR_A, NAN), "angle");
  release_fixture(&f);
}

static void joints_of_impossible_bodies_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  const struct {
    tn_body_id a, b;
    const char *part;
  } ends[] = {{f.dynamic, f.dynamic, "itself"},       {test_no_body, test_no_body, "itself"},
              {f.dead_body, f.dynamic, "destroyed"},  {f.dynamic, f.dead_body, "destroyed"},
              {f.foreign_body, f.dynamic, "another"}, {f.dynamic, f.foreign_body, "another"}};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
    tn_joint_def def = good_joint(&f, TN_JOINT_BALL);
    def.body_a = ends[i].a;
    def.body_b = ends[i].b;
    REFUSES(&f, TN_IS_NULL(tn_joint_create(f.world, &def)), ends[i].part);
    if (i >= 2) {
      tn_joint_def before = def;
      tn_vec3 axis = {1.0f, 0.0f, 0.0f};
      tn_pos p = {0.0, 0.0, 0.0};
      REFUSES(&f, !tn_joint_def_at(f.world, &def, p, axis), ends[i].part);
      REFUSES(&f, !tn_joint_def_between(f.world, &def, p, p), ends[i].part);
      assert_memory_equal(&def, &before, sizeof def);
    }
  }
  tn_joint_def def = good_joint(&f, TN_JOINT_BALL);
  def.cookie = 0;
  assert_no_joint(&f, &def, "tn_default_joint_def");
  assert_no_joint(&f, NULL, "null");
  REFUSES(&f, !tn_joint_set_def(f.world, f.hinge, NULL), "null");
  const int kinds[2] = {-1, TN_JOINT_KIND_COUNT};
  for (int i = 0; i < 2; ++i) {
    def = tn_default_joint_def((tn_joint_kind)kinds[i]);
    def.body_a = f.dynamic;
    assert_no_joint(&f, &def, "kind");
  }
  release_fixture(&f);
}

static void joints_keep_their_kind_and_bodies(void **state)
{
  (void)state;
  fixture f = make_fixture();
  for (int i = 0; i < 3; ++i) {
    tn_joint_def def = tn_joint_get_def(f.world, f.hinge);
    def.kind = i == 0 ? TN_JOINT_BALL : def.kind;
    def.body_a = i == 1 ? f.fixed : def.body_a;
    def.body_b = i == 2 ? f.dead_body : def.body_b;
    REFUSES(&f, !tn_joint_set_def(f.world, f.hinge, &def), "cannot change");
  }
  REFUSES(&f, !tn_joint_set_anchor(f.world, f.hinge, tn_p3(0.0, 0.0, 0.0)), "fixed to the world");
  release_fixture(&f);
}

static void frames_need_a_point_and_an_axis(void **state)
{
  (void)state;
  fixture f = make_fixture();
  tn_joint_def def = good_joint(&f, TN_JOINT_HINGE);
  tn_joint_def before = def;
  tn_pos p = {0.0, 0.0, 0.0};
  tn_vec3 axis = {1.0f, 0.0f, 0.0f};
  REFUSES(&f, !tn_joint_def_at(f.world, &def, p, tn_v3(0.0f, 0.0f, 0.0f)), "axis");
  REFUSES(&f, !tn_joint_def_at(f.world, NULL, p, axis), "tn_joint_def_at");
  REFUSES(&f, !tn_joint_def_between(f.world, NULL, p, p), "tn_joint_def_between");
  for (int i = 0; i < 9; ++i) {
    tn_pos bad = one_bad_pos(i % 3, (double)not_finite[i / 3]);
    REFUSES(&f, !tn_joint_def_at(f.world, &def, bad, axis), "finite");
    REFUSES(&f, !tn_joint_def_at(f.world, &def, p, one_bad(i % 3, not_finite[i / 3])), "axis");
    REFUSES(&f, !tn_joint_def_between(f.world, &def, bad, p), "finite");
    REFUSES(&f, !tn_joint_def_between(f.world, &def, p, bad), "finite");
  }
  assert_memory_equal(&def, &before, sizeof def);
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Stale ids

static bool is_zero(const void *value, size_t size)
{
  const unsigned char *byte = value;
  for (size_t i = 0; i < size; ++i) {
    if (byte[i] != 0) {
      return false;
    }
  }
  return true;
}

#define IS_ZERO(type, call) is_zero(&(type[1]){call}, sizeof(type)) // NOLINT(bugprone-macro-*)

static const tn_transform place_at_origin = {{0.0, 0.0, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};

static bool is_at_origin(tn_transform t)
{
  return IS_ZERO(tn_pos, t.p) && t.q.x == 0.0f && t.q.y == 0.0f && t.q.z == 0.0f && t.q.w == 1.0f;
}

// Calls every function that takes an id with a stale one, or without a world.
typedef struct attempt {
  const fixture *f;
  tn_world *w;
  const char *part;
} attempt;

static void assert_attempt(const attempt *a, bool refused, const char *call, int line)
{
  if (a->w) {
    assert_refusal(a->f, refused, a->part, call, __FILE__, line);
  } else if (!refused) {
    print_error("%s was accepted\n", call);
    _fail(__FILE__, line);
  }
}

#define FAILS(refused) assert_attempt(&a, refused, #refused, __LINE__)

static void assert_body_calls_fail(attempt a, tn_body_id id)
{
  tn_world *w = a.w;
  tn_vec3 v = {1.0f, 0.0f, 0.0f};
  tn_pos p = {0.0, 0.0, 0.0};
  tn_joint_id joints[4];
  FAILS(!tn_body_destroy(w, id));
  FAILS(tn_body_get_type(w, id) == TN_BODY_STATIC);
  FAILS(!tn_body_set_type(w, id, TN_BODY_DYNAMIC));
  FAILS(is_at_origin(tn_body_transform(w, id)));
  FAILS(IS_ZERO(tn_pos, tn_body_position(w, id)));
  FAILS(tn_body_rotation(w, id).w == 1.0f);
  FAILS(IS_ZERO(tn_pos, tn_body_center(w, id)));
  FAILS(!tn_body_set_transform(w, id, place_at_origin));
  FAILS(IS_ZERO(tn_pos, tn_body_world_point(w, id, v)));
  FAILS(IS_ZERO(tn_vec3, tn_body_point_velocity(w, id, p)));
  FAILS(IS_ZERO(tn_vec3, tn_body_velocity(w, id)));
  FAILS(IS_ZERO(tn_vec3, tn_body_angular_velocity(w, id)));
  FAILS(!tn_body_set_velocity(w, id, v));
  FAILS(!tn_body_set_angular_velocity(w, id, v));
  FAILS(!tn_body_move_to(w, id, place_at_origin));
  FAILS(!tn_body_apply_force(w, id, v, p));
  FAILS(!tn_body_apply_force_to_center(w, id, v));
  FAILS(!tn_body_apply_torque(w, id, v));
  FAILS(!tn_body_apply_impulse(w, id, v, p));
  FAILS(!tn_body_apply_angular_impulse(w, id, v));
  FAILS(IS_ZERO(tn_mass, tn_body_mass(w, id)));
  FAILS(!tn_body_set_mass(w, id, tn_mass_sphere(1.0f, 1.0f)));
  FAILS(!tn_body_set_gravity_scale(w, id, 1.0f));
  FAILS(tn_body_gravity_scale(w, id) == 0.0f);
  FAILS(!tn_body_set_linear_damping(w, id, 0.0f));
  FAILS(!tn_body_set_angular_damping(w, id, 0.0f));
  FAILS(!tn_body_set_max_speed(w, id, 1.0f));
  FAILS(!tn_body_set_max_angular_speed(w, id, 1.0f));
  FAILS(tn_body_linear_damping(w, id) == 0.0f);
  FAILS(tn_body_angular_damping(w, id) == 0.0f);
  FAILS(tn_body_max_speed(w, id) == 0.0f);
  FAILS(tn_body_max_angular_speed(w, id) == 0.0f);
  FAILS(!tn_body_can_sleep(w, id));
  FAILS(tn_body_get_def(w, id).cookie == 0);
  FAILS(!tn_body_set_def(w, id, NULL));
  FAILS(tn_body_user_data(w, id) == NULL);
  FAILS(!tn_body_set_user_data(w, id, w));
  FAILS(strcmp(tn_body_name(w, id), "") == 0);
  FAILS(!tn_body_set_name(w, id, "name"));
  FAILS(tn_body_joints(w, id, joints, 4) == 0);
  FAILS(IS_ZERO(tn_energy, tn_bodies_energy(w, &id, 1)));
  FAILS(IS_ZERO(tn_momentum, tn_bodies_momentum(w, &id, 1, p)));
  assert_false(tn_body_is_valid(w, id));
}

static void assert_joint_calls_fail(attempt a, tn_joint_id id)
{
  tn_world *w = a.w;
  tn_drive drive = tn_default_drive();
  tn_joint_def def = tn_default_joint_def(TN_JOINT_HINGE);
  FAILS(!tn_joint_destroy(w, id));
  FAILS(tn_joint_get_def(w, id).cookie == 0);
  FAILS(!tn_joint_set_def(w, id, &def));
  FAILS(!tn_joint_set_drive(w, id, TN_LINEAR_A, drive));
  FAILS(!tn_joint_set_drive(w, id, TN_ANGULAR_A, drive));
  FAILS(IS_ZERO(tn_drive, tn_joint_drive(w, id, TN_LINEAR_A)));
  FAILS(IS_ZERO(tn_drive, tn_joint_drive(w, id, TN_ANGULAR_A)));
  FAILS(!tn_joint_set_angle(w, id, TN_ANGULAR_A, 0.0f));
  FAILS(tn_joint_angle(w, id, TN_ANGULAR_A) == 0.0f);
  FAILS(!tn_joint_set_enabled(w, id, true));
  FAILS(!tn_joint_is_enabled(w, id));
  FAILS(tn_joint_user_data(w, id) == NULL);
  FAILS(!tn_joint_set_user_data(w, id, NULL));
  FAILS(IS_ZERO(tn_pos, tn_joint_anchor(w, id)));
  FAILS(!tn_joint_set_anchor(w, id, tn_p3(0.0, 0.0, 0.0)));
  tn_joint_state read = tn_joint_get_state(w, id);
  FAILS(is_zero(&read, offsetof(tn_joint_state, broken)) && !read.broken);
  assert_false(tn_joint_is_valid(w, id));
}

static void stale_ids_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  tn_body_id wild_body = {1000000, 0, f.dynamic.world};
  tn_joint_id wild_joint = {1000000, 0, f.hinge.world};
  const tn_body_id bodies[4] = {test_no_body, f.dead_body, f.foreign_body, wild_body};
  const tn_joint_id joints[4] = {{0}, f.dead_joint, f.foreign_joint, wild_joint};
  const char *const parts[4] = {"null", "destroyed", "another world", "destroyed"};
  for (int i = 0; i < 4; ++i) {
    attempt a = {&f, f.world, parts[i]};
    assert_body_calls_fail(a, bodies[i]);
    assert_joint_calls_fail(a, joints[i]);
  }
  REFUSES(&f, IS_ZERO(tn_energy, tn_bodies_energy(f.world, NULL, 1)), "tn_bodies_energy");
  REFUSES(&f, IS_ZERO(tn_momentum, tn_bodies_momentum(f.world, NULL, 1, place_at_origin.p)),
          "tn_bodies_momentum");
  release_fixture(&f);
}

// Without a world there is no log; the calls must not crash.
static void null_worlds_are_refused(void **state)
{
  (void)state;
  fixture f = make_fixture();
  tn_body_def body = test_body_def();
  tn_joint_def joint = tn_default_joint_def(TN_JOINT_BALL);
  tn_pos p = {0.0, 0.0, 0.0};
  int count = 7;
  attempt a = {&f, NULL, NULL};
  assert_body_calls_fail(a, f.dynamic);
  assert_joint_calls_fail(a, f.hinge);
  assert_true(TN_IS_NULL(tn_body_create(NULL, &body)));
  assert_true(TN_IS_NULL(tn_joint_create(NULL, &joint)));
  assert_false(tn_joint_def_at(NULL, &joint, p, tn_v3(1.0f, 0.0f, 0.0f)));
  assert_false(tn_joint_def_between(NULL, &joint, p, p));
  assert_int_equal(tn_world_step(NULL, 0.1f), TN_STEP_REJECTED);
  assert_false(tn_world_set_gravity(NULL, tn_v3(0.0f, 0.0f, 0.0f)));
  assert_true(IS_ZERO(tn_vec3, tn_world_gravity(NULL)));
  assert_false(tn_world_set_method(NULL, TN_METHOD_XPBD));
  assert_int_equal(tn_world_method(NULL), 0);
  assert_false(tn_world_set_substeps(NULL, 1));
  assert_int_equal(tn_world_substeps(NULL) + tn_world_iterations(NULL) + tn_world_lanes(NULL), 0);
  assert_true(IS_ZERO(tn_counters, tn_world_counters(NULL)));
  assert_int_equal(tn_world_bodies(NULL, NULL, 0) + tn_world_joints(NULL, NULL, 0), 0);
  assert_null(tn_world_joint_breaks(NULL, &count));
  assert_int_equal(count, 0);
  assert_null(tn_world_joint_breaks(f.world, NULL));
  (void)tn_world_hash(NULL);
  assert_int_equal(tn_world_save(NULL, NULL, 0), 0);
  assert_false(tn_world_restore(NULL, f.bytes, f.size));
  assert_true(IS_ZERO(tn_energy, tn_world_energy(NULL)));
  assert_true(IS_ZERO(tn_momentum, tn_world_momentum(NULL, p)));
  tn_world_destroy(NULL);
  assert_int_equal(test_messages.count, 0);
  assert_unchanged(&f, __FILE__, __LINE__);
  release_fixture(&f);
}

// ---------------------------------------------------------------------------------------------
// Out of memory, at every single allocation

// Makes a call and, if it failed by lack of memory, repeats it.
#define TWICE(done, m)                                                                             \
  ((done) || (assert_message("out of memory"), assert_int_equal((m)->failed, 1), (done)))

static bool step_cleanly(tn_world *world)
{
  uint64_t before = tn_world_hash(world);
  uint32_t status = tn_world_step(world, 1.0f / 60.0f);
  if (status == TN_STEP_OUT_OF_MEMORY) {
    assert_true(tn_world_hash(world) == before);
    return false;
  }
  assert_int_equal(status, TN_STEP_OK);
  return true;
}

// A chain of 200 breakable joints; grows every array of the world at least twice.
static void grow_chain(tn_world *world, test_meter *m)
{
  tn_body_id last = test_no_body;
  for (int i = 0; i < 200; ++i) {
    tn_body_def def = test_body_def();
    def.position = tn_p3(i, 0.0, 0.0);
    tn_body_id body = {0};
    assert_true(TWICE(!TN_IS_NULL(body = tn_body_create(world, &def)), m));
    tn_joint_def joint = tn_default_joint_def(i % 2 ? TN_JOINT_BALL : TN_JOINT_HINGE);
    joint.body_a = last;
    joint.body_b = body;
    joint.frame_a.p = tn_p3(i == 0 ? 0.0 : 0.5, 0.0, 0.0);
    joint.frame_b.p = tn_p3(i == 0 ? 0.0 : -0.5, 0.0, 0.0);
    tn_joint_id made = {0};
    assert_true(TWICE(!TN_IS_NULL(made = tn_joint_create(world, &joint)), m));
    last = body;
    if (i % 60 == 0) {
      assert_true(TWICE(step_cleanly(world), m));
    }
  }
}

// Makes all calls that allocate; returns the final hash.
static uint64_t use_memory(test_meter *m)
{
  test_forget_messages();
  tn_world_def def = test_world_def(2, TN_METHOD_TENON);
  def.allocator = test_metered(m);
  def.threads = 2;
  tn_world *world = NULL;
  assert_true(TWICE((world = tn_world_create(&def)) != NULL, m));
  grow_chain(world, m);
  assert_true(TWICE(step_cleanly(world), m));
  size_t size = tn_world_save(world, NULL, 0);
  void *bytes = malloc(size);
  assert_int_equal(tn_world_save(world, bytes, size), size);
  assert_true(tn_world_counters(world).bytes <= m->bytes);
  tn_world_destroy(world);
  assert_int_equal(m->bytes, 0);

  assert_true(TWICE((world = tn_world_create(&def)) != NULL, m));
  uint64_t empty = tn_world_hash(world);
  if (!tn_world_restore(world, bytes, size)) {
    assert_message("out of memory");
    assert_true(tn_world_hash(world) == empty);
    assert_true(tn_world_restore(world, bytes, size));
  }
  assert_true(TWICE(step_cleanly(world), m));
  uint64_t hash = tn_world_hash(world);
  free(bytes);
  tn_world_destroy(world);
  assert_int_equal(m->bytes, 0);
  assert_int_equal(test_messages.count, 0);
  return hash;
}

static void every_failed_allocation_is_survived(void **state)
{
  (void)state;
  test_meter all = {0};
  all.until_failure = -1;
  uint64_t hash = use_memory(&all);
  int n = 0;
  for (;; ++n) {
    test_meter m = {0};
    m.until_failure = n;
    assert_true(use_memory(&m) == hash);
    if (m.failed == 0) {
      break;
    }
  }
  print_message("%d allocations\n", n);
  assert_true(n > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_worlds_are_refused),
      cmocka_unit_test(incomplete_callbacks_are_refused),
      cmocka_unit_test(definitions_of_unknown_origin_are_refused_on_stderr),
      cmocka_unit_test(bad_settings_are_refused),
      cmocka_unit_test(short_steps_are_clean_or_refused),
      cmocka_unit_test(bodies_with_fields_that_are_not_finite_are_refused),
      cmocka_unit_test(bad_bodies_are_refused),
      cmocka_unit_test(bad_vectors_are_refused),
      cmocka_unit_test(bad_numbers_are_refused),
      cmocka_unit_test(bodies_of_the_wrong_type_are_refused),
      cmocka_unit_test(joints_with_bad_numbers_are_refused),
      cmocka_unit_test(bad_ranges_are_refused),
      cmocka_unit_test(bad_drives_are_refused),
      cmocka_unit_test(joints_of_impossible_bodies_are_refused),
      cmocka_unit_test(joints_keep_their_kind_and_bodies),
      cmocka_unit_test(frames_need_a_point_and_an_axis),
      cmocka_unit_test(stale_ids_are_refused),
      cmocka_unit_test(null_worlds_are_refused),
      cmocka_unit_test(every_failed_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
