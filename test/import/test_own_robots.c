// The robots in robots/: files, tables of the scenes and controllers.
#include "robot_control.h"
#include "support.h"

#include <tenon/import.h>

#include <stdio.h>
#include <string.h>

typedef struct machine {
  tn_world *world;
  tn_model *model;
  tn_instance *instance;
  robot_view view;
} machine;

static tn_model *load(const char *name, const char *file)
{
  char path[400];
  snprintf(path, sizeof path, "%s/%s/%s", ROBOT_FOLDER, name, file);
  tn_model *model = tn_model_load(path, NULL);
  assert_non_null(model);
  return model;
}

static machine start(const robot_model *table, int substeps)
{
  machine m = {.world = test_world(substeps, TN_METHOD_TENON),
               .model = load(table->name, "scene.xml")};
  tn_instance_def def = tn_default_instance_def();
  def.keyframe = tn_model_find_keyframe(m.model, "home");
  assert_in_range(def.keyframe, 0, 0);
  m.instance = tn_instance_create(m.world, m.model, &def);
  assert_non_null(m.instance);
  tn_world_set_gravity(m.world, tn_instance_gravity(m.instance));
  m.view = (robot_view){.model = table, .world = m.world};
  for (int i = 0; i < table->count; ++i) {
    const robot_part *p = &table->parts[i];
    m.view.bodies[i] = tn_instance_body(m.instance, tn_model_find_body(m.model, p->name));
    m.view.joints[i] = tn_instance_joint(m.instance, tn_model_find_joint(m.model, p->name));
    m.view.targets[i] = p->home;
  }
  return m;
}

static void finish(machine *m)
{
  tn_instance_destroy(m->instance);
  tn_world_destroy(m->world);
  tn_model_destroy(m->model);
}

static void step(machine *m)
{
  for (int i = 0; i < m->view.model->count; ++i) {
    const robot_part *p = &m->view.model->parts[i];
    if (p->effort > 0.0f) {
      int actuator = tn_model_find_actuator(m->model, p->name);
      assert_true(tn_instance_set_control(m->instance, actuator, (double)m->view.targets[i]));
    }
  }
  assert_true(tn_instance_advance(m->instance, 1.0f / 60.0f));
  test_run(m->world, 1.0f / 60.0f, 1);
}

// ---------------------------------------------------------------------------------------------
// Files

static void compare_bodies(const robot_model *table, const tn_model *model)
{
  tn_model_body bodies[ROBOT_MOST_PARTS + 1];
  int count = tn_model_bodies(model, -1, bodies, ROBOT_MOST_PARTS + 1);
  assert_true(count <= ROBOT_MOST_PARTS + 1);
  for (int i = 0; i < table->count; ++i) {
    const robot_part *p = &table->parts[i];
    int at = tn_model_find_body(model, p->name);
    assert_in_range(at, 0, count - 1);
    assert_close(bodies[at].mass, (double)p->mass, 1e-6);
    for (int k = 0; k < 3; ++k) {
      assert_close(bodies[at].center[k], (double)p->center[k], 1e-6);
      assert_close(bodies[at].inertia[k], (double)p->inertia[k], 1e-6);
    }
  }
}

// MJCF and URDF have the masses of the tables, and nothing of them is ignored.
static void files_agree(void **state)
{
  (void)state;
  static const robot_model *const tables[] = {&robot_arm, &robot_quadruped, &robot_humanoid};
  for (int i = 0; i < 3; ++i) {
    char urdf[64];
    snprintf(urdf, sizeof urdf, "%s.urdf", tables[i]->name);
    const char *const files[2] = {"scene.xml", urdf};
    for (int f = 0; f < 2; ++f) {
      tn_model *model = load(tables[i]->name, files[f]);
      compare_bodies(tables[i], model);
      int count;
      const tn_import_note *notes = tn_model_report(model, &count);
      for (int k = 0; k < count; ++k) {
        assert_int_not_equal(notes[k].fate, TN_IMPORT_IGNORED);
        assert_int_not_equal(notes[k].fate, TN_IMPORT_MISSING);
      }
      tn_model_destroy(model);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Control

static void the_arm_follows_its_goal(void **state)
{
  (void)state;
  machine m = start(&robot_arm, 8);
  double worst = 0.0;
  for (int i = 0; i < 600; ++i) {
    robot_reach(&m.view, i / 60.0, 1.0f / 60.0f);
    step(&m);
    tn_vec3 apart = tn_sub(robot_grip(&m.view), robot_reach_goal((i + 1) / 60.0));
    worst = i > 120 ? fmax(worst, (double)tn_length(apart)) : 0.0;
  }
  assert_true(worst < 5e-3);
  finish(&m);
}

static tn_vec3 up_of(const machine *m)
{
  return tn_rotate(tn_body_transform(m->world, m->view.bodies[0]).q, tn_v3(0.0f, 0.0f, 1.0f));
}

static void the_quadruped_trots(void **state)
{
  (void)state;
  machine m = start(&robot_quadruped, 8);
  int calf = robot_find_part(m.view.model, "front_left_calf");
  double lifted = 0.0;
  for (int i = 0; i < 600; ++i) {
    robot_trot(&m.view, i / 60.0, 0.04f);
    step(&m);
    tn_transform t = tn_body_transform(m.world, m.view.bodies[calf]);
    tn_pos foot = tn_transform_point(t, tn_v3(0.0f, 0.0f, -0.2f));
    lifted = fmax(lifted, foot.y - 0.02);
  }
  tn_pos trunk = tn_body_transform(m.world, m.view.bodies[0]).p;
  assert_true(up_of(&m).y > 0.98f);
  assert_true(lifted > 0.02 && lifted < 0.05);
  assert_true(hypot(trunk.x, trunk.z) < 0.2);
  finish(&m);
}

static void the_humanoid_keeps_its_balance(void **state)
{
  (void)state;
  machine m = start(&robot_humanoid, 8);
  int torso = robot_find_part(m.view.model, "torso");
  for (int i = 0; i < 480; ++i) {
    robot_balance(&m.view);
    if (i >= 120 && i < 126) {
      tn_body_apply_force_to_center(m.world, m.view.bodies[torso], tn_v3(150.0f, 0.0f, 0.0f));
    }
    step(&m);
  }
  assert_true(up_of(&m).y > 0.98f);
  assert_true(tn_body_transform(m.world, m.view.bodies[0]).p.y > 0.8);
  finish(&m);
}

// ---------------------------------------------------------------------------------------------
// A standing quadruped stands still: less than 0.1 mm from 1 to 10 s, trunk and feet.

static void feet_of(const machine *m, tn_pos feet[4])
{
  static const char *const names[4] = {"front_left_calf", "front_right_calf", "rear_left_calf",
                                       "rear_right_calf"};
  for (int i = 0; i < 4; ++i) {
    int part = robot_find_part(m->view.model, names[i]);
    feet[i] = tn_transform_point(tn_body_transform(m->world, m->view.bodies[part]),
                                 tn_v3(0.0f, 0.0f, -0.2f));
  }
}

static void the_quadruped_stands_still(void **state)
{
  (void)state;
  for (int sleeping = 0; sleeping < 2; ++sleeping) {
    machine m = start(&robot_quadruped, 8);
    tn_world_set_sleeping(m.world, sleeping);
    for (int i = 0; i < 60; ++i) {
      step(&m);
    }
    tn_pos trunk = tn_body_transform(m.world, m.view.bodies[0]).p, feet[4], now[4];
    feet_of(&m, feet);
    double moved = 0.0, slipped = 0.0;
    for (int i = 0; i < 540; ++i) {
      step(&m);
      moved = fmax(moved, tn_distance(tn_body_transform(m.world, m.view.bodies[0]).p, trunk));
      feet_of(&m, now);
      for (int k = 0; k < 4; ++k) {
        slipped = fmax(slipped, tn_distance(now[k], feet[k]));
      }
    }
    print_message("the trunk moves %.2g mm, a foot %.2g mm\n", 1e3 * moved, 1e3 * slipped);
    assert_true(moved < 1e-4);
    assert_true(slipped < 1e-4);
    finish(&m);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_agree),
      cmocka_unit_test(the_arm_follows_its_goal),
      cmocka_unit_test(the_quadruped_trots),
      cmocka_unit_test(the_humanoid_keeps_its_balance),
      cmocka_unit_test(the_quadruped_stands_still),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
