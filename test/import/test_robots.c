// Models in worlds: their numbers, keyframes and sensors by name, and what holds their bodies.
#include "support.h"

#include <tenon/import.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct robot {
  tn_model *model;
  tn_world *world;
  tn_instance *instance;
} robot;

static robot make_robot(const char *text, const tn_instance_def *def)
{
  robot r = {.model = tn_model_parse("robot.xml", text, strlen(text), NULL),
             .world = test_world(20, TN_METHOD_TENON)};
  assert_non_null(r.model);
  r.instance = tn_instance_create(r.world, r.model, def);
  assert_non_null(r.instance);
  tn_world_set_gravity(r.world, tn_instance_gravity(r.instance));
  return r;
}

static void release(robot *r)
{
  tn_instance_destroy(r->instance);
  tn_world_destroy(r->world);
  tn_model_destroy(r->model);
}

static double sense(const robot *r, const char *name, int part)
{
  double values[6];
  int sensor = tn_model_find_sensor(r->model, name);
  int count = tn_instance_sensor(r->instance, sensor, values, 6);
  assert_in_range(part, 0, count - 1);
  return values[part];
}

#define TREE                                                                                       \
  "<mujoco><worldbody><body name='base' pos='0 0 1'><freejoint/><geom size='.2'/>"                 \
  "<body name='arm' pos='.3 0 0' euler='10 20 30'><joint type='ball' pos='.1 0 0'/>"               \
  "<geom type='box' size='.2 .1 .1' pos='.2 0 0'/>"                                                \
  "<body name='wrist' pos='.5 0 0'><joint name='a' axis='1 1 0' ref='30'/>"                        \
  "<joint name='b' type='slide' axis='0 1 1'/><joint name='c' axis='0 0 1' pos='0 .1 0'/>"         \
  "<geom type='capsule' size='.05 .1'/></body></body></body></worldbody>"                          \
  "<actuator><position name='servo' joint='a' kp='5'/></actuator>"                                 \
  "<keyframe><key name='home' qpos='.1 .2 .3 .5 .5 -.5 .5 .8 0 .6 0 .4 .1 -.7' "                   \
  "qvel='1 2 3 .1 .2 .3 .4 .5 .6 .7 .8 .9' ctrl='.3'/></keyframe></mujoco>"

// Positions and velocities are those of the file's keyframe, whichever way the model is placed, and
// bodies stand where the model itself says.
static void numbers_are_those_of_the_file(void **state)
{
  (void)state;
  tn_instance_def def = tn_default_instance_def();
  def.place.p = tn_p3(1.0, 2.0, 3.0);
  def.place.q = tn_quat_axis_angle(tn_v3(0.0f, 1.0f, 0.0f), 0.7f);
  robot r = make_robot(TREE, &def);
  tn_model_counts counts = tn_model_get_counts(r.model);
  assert_int_equal(counts.positions, 14);
  assert_int_equal(counts.velocities, 12);
  static const double q[14] = {.1, .2, .3, .5, .5, -.5, .5, .8, 0, .6, 0, .4, .1, -.7};
  static const double u[12] = {1, 2, 3, .1, .2, .3, .4, .5, .6, .7, .8, .9};
  double now[14];
  assert_true(tn_instance_apply_keyframe(r.instance, tn_model_find_keyframe(r.model, "home")));
  assert_true(tn_instance_positions(r.instance, now));
  for (int i = 0; i < 14; ++i) {
    assert_close(now[i], q[i], 1e-6); // frames are rounded to float
  }
  assert_true(tn_instance_velocities(r.instance, now));
  for (int i = 0; i < 12; ++i) {
    assert_close(now[i], u[i], 1e-4);
  }
  assert_close(tn_instance_control(r.instance, tn_model_find_actuator(r.model, "servo")), 0.3, 0.0);
  tn_instance_def plain = tn_default_instance_def();
  plain.y_up = false;
  robot s = make_robot(TREE, &plain);
  assert_true(tn_instance_set_positions(s.instance, q));
  tn_model_body bodies[4];
  assert_int_equal(tn_model_bodies(s.model, 0, bodies, 4), 4);
  for (int i = 1; i < 4; ++i) {
    tn_transform t = tn_instance_transform(s.instance, i);
    assert_close(t.p.x, bodies[i].position.x, 1e-6);
    assert_close(t.p.y, bodies[i].position.y, 1e-6);
    assert_close(t.p.z, bodies[i].position.z, 1e-6);
  }
  assert_true(tn_instance_apply_keyframe(s.instance, -1));
  assert_true(tn_instance_positions(s.instance, now));
  assert_close(now[2], 1.0, 1e-9);
  assert_close(now[11], 30.0 * acos(-1.0) / 180.0, 1e-6);
  assert_false(tn_instance_apply_keyframe(s.instance, 1));
  release(&r);
  release(&s);
}

// A pendulum of a point mass on a massless rod at an angle, turning at a rate.
static void sensors_read_the_state(void **state)
{
  (void)state;
  robot r = make_robot(
      "<mujoco><compiler angle='radian'/><worldbody><body name='p' pos='0 0 2'>"
      "<joint name='j' axis='0 1 0'/>"
      "<inertial pos='1 0 0' mass='2' diaginertia='.01 .01 .01'/>"
      "<site name='tip' pos='1 0 0'/></body></worldbody>"
      "<actuator><motor name='m' joint='j' gear='3'/></actuator><sensor>"
      "<jointpos name='q' joint='j'/><jointvel name='u' joint='j'/>"
      "<actuatorpos name='length' actuator='m'/>"
      "<framepos name='at' objtype='site' objname='tip'/>"
      "<framelinvel name='speed' objtype='site' objname='tip'/>"
      "<framequat name='turn' objtype='site' objname='tip'/>"
      "<framezaxis name='z' objtype='site' objname='tip'/>"
      "<gyro name='gyro' site='tip' cutoff='1.5'/><velocimeter name='local' site='tip'/>"
      "<subtreecom name='com' body='p'/><subtreeangmom name='spin' body='p'/>"
      "<insidesite name='none' objtype='body' objname='p' site='tip'/></sensor></mujoco>",
      NULL);
  double q = 0.5, u = 2.0;
  assert_true(tn_instance_set_positions(r.instance, &q));
  assert_true(tn_instance_set_velocities(r.instance, &u));
  assert_close(sense(&r, "q", 0), q, 1e-6);
  assert_close(sense(&r, "u", 0), u, 1e-5);
  assert_close(sense(&r, "length", 0), 3.0 * q, 1e-5);
  assert_close(sense(&r, "at", 0), cos(q), 1e-6);
  assert_close(sense(&r, "at", 2), 2.0 - sin(q), 1e-6);
  assert_close(sense(&r, "speed", 0), -u * sin(q), 1e-5);
  assert_close(sense(&r, "speed", 2), -u * cos(q), 1e-5);
  assert_close(sense(&r, "turn", 0), cos(0.5 * q), 1e-6);
  assert_close(sense(&r, "turn", 2), sin(0.5 * q), 1e-6);
  assert_close(sense(&r, "z", 0), sin(q), 1e-6);
  assert_close(sense(&r, "gyro", 1), 1.5, 1e-9); // cut off
  assert_close(sense(&r, "local", 2), -u, 1e-5);
  assert_close(sense(&r, "com", 0), cos(q), 1e-6);
  assert_close(sense(&r, "spin", 1), 0.01 * u, 1e-5);
  assert_int_equal(tn_instance_sensor(r.instance, tn_model_find_sensor(r.model, "none"), NULL, 0),
                   0);
  assert_int_equal(tn_model_find_sensor(r.model, "nowhere"), -1);
  assert_string_equal(tn_model_sensor_name(r.model, 1), "u");
  assert_string_equal(tn_model_joint_name(r.model, 0), "j");
  assert_string_equal(tn_model_joint_name(r.model, 1), "");
  release(&r);
}

// A block of 2 kg on the ground, and one that hangs on a load cell.
static void sensors_read_loads(void **state)
{
  (void)state;
  robot r = make_robot(
      "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
      "<body name='block' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/>"
      "<site name='foot'/></body>"
      "<body name='hung' pos='3 0 2'><joint name='s' type='slide' axis='0 0 1' range='0 1' "
      "limited='true'/><geom size='.1' mass='3'/><site name='cell' euler='0 90 0'/></body>"
      "</worldbody><sensor><touch name='touch' site='foot'/><force name='load' site='cell'/>"
      "</sensor></mujoco>",
      NULL);
  test_run(r.world, 1.0f / 60.0f, 60);
  assert_close(sense(&r, "touch", 0), 2.0 * 9.81, 0.02);
  assert_close(sense(&r, "load", 0), -3.0 * 9.81, 0.03); // the site's x axis points down
  assert_close(sense(&r, "load", 2), 0.0, 0.03);
  release(&r);
}

// Excluded pairs pass through each other and are not held in any way.
static void excluded_bodies_move_freely(void **state)
{
  (void)state;
  robot r = make_robot("<mujoco><worldbody>"
                       "<body name='a'><joint axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body>"
                       "<body name='b'><joint axis='0 1 0'/><geom size='.1' pos='0 0 .3'/></body>"
                       "</worldbody><contact><exclude body1='a' body2='b'/></contact>"
                       "<option gravity='0 0 0'/></mujoco>",
                       NULL);
  double u[2] = {-3.0, 0.0}, q[2];
  assert_true(tn_instance_set_velocities(r.instance, u));
  test_run(r.world, 1.0f / 60.0f, 60);
  assert_true(tn_instance_positions(r.instance, q));
  assert_close(q[0], -3.0, 1e-3); // through b, which is half a radian wide
  assert_close(q[1], 0.0, 1e-6);
  release(&r);
}

// A planar joint slides across its axis and turns about it.
static void planar_joints_move(void **state)
{
  (void)state;
  robot r =
      make_robot("<robot name='r'><link name='world'/><link name='puck'><inertial><mass value='1'/>"
                 "<inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                 "<joint name='j' type='planar'><parent link='world'/><child link='puck'/>"
                 "<axis xyz='0 1 0'/></joint></robot>",
                 NULL);
  tn_world_set_gravity(r.world, tn_v3(0.0f, 0.0f, 0.0f));
  double q[3] = {0.1, 0.2, 0.3}, u[3] = {1.0, -2.0, 0.5};
  assert_true(tn_instance_set_positions(r.instance, q));
  assert_true(tn_instance_set_velocities(r.instance, u));
  test_run(r.world, 1.0f / 60.0f, 30);
  assert_true(tn_instance_positions(r.instance, q));
  assert_close(q[0], 0.6, 1e-5);
  assert_close(q[1], -0.8, 1e-5);
  assert_close(q[2], 0.55, 1e-5);
  release(&r);
}

// Half of the weight of a part that is fixed to a beam is carried by something else.
static void parts_have_their_own_weight(void **state)
{
  (void)state;
  robot r = make_robot("<mujoco><worldbody><body name='beam'><joint axis='0 1 0'/>"
                       "<geom size='.1' mass='2' pos='-1 0 0'/>"
                       "<body name='part' pos='1 0 0' gravcomp='.5'><geom size='.1' mass='4'/>"
                       "</body></body></worldbody></mujoco>",
                       NULL);
  double force;
  assert_true(tn_articulation_bias_forces(tn_instance_articulation(r.instance), &force));
  assert_close(force, 0.0, 1e-5); // 2 kg at -1 m, half of 4 kg at 1 m
  test_run(r.world, 1.0f / 60.0f, 60);
  double q;
  assert_true(tn_instance_positions(r.instance, &q));
  assert_close(q, 0.0, 1e-4);
  release(&r);
}

#define WHEEL                                                                                      \
  "<mujoco><option gravity='0 0 0'/><compiler angle='radian'/><worldbody><body name='w'>"          \
  "<joint name='j' axis='0 0 1' armature='.5'/>"                                                   \
  "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1.5'/></body></worldbody><actuator>"

static double angle_of(const robot *r)
{
  double q;
  assert_true(tn_instance_positions(r->instance, &q));
  return q;
}

// A wheel of 2 kg m^2 with its motor, critically damped: 1 - (1 + w t) exp(-w t), w^2 = 8 / 2.
static void damping_ratios_are_critical(void **state)
{
  (void)state;
  robot r = make_robot(
      WHEEL "<position name='s' joint='j' kp='2' gear='2' dampratio='1'/></actuator></mujoco>",
      NULL);
  assert_true(tn_instance_set_control(r.instance, 0, 2.0)); // of the actuator's length: 1 rad
  test_run(r.world, 1.0f / 240.0f, 1);                      // moves the target there
  double lag = 0.5 / 240.0;
  test_run(r.world, 1.0f / 240.0f, 239);
  double t = 2.0 * (1.0 - lag);
  assert_close(angle_of(&r), 1.0 - (1.0 + t) * exp(-t), 0.005);
  release(&r);
}

// A servo of 10 N m/rad to 1 rad and a motor of 3 N m against it.
static void actuators_of_a_joint_add_up(void **state)
{
  (void)state;
  robot r = make_robot(WHEEL "<position joint='j' kp='10' kv='8'/><motor joint='j'/>"
                             "</actuator></mujoco>",
                       NULL);
  tn_instance_set_control(r.instance, 0, 1.0);
  tn_instance_set_control(r.instance, 1, -3.0);
  test_run(r.world, 1.0f / 60.0f, 600);
  assert_close(angle_of(&r), 0.7, 1e-4);
  release(&r);
}

// An integrator turns the wheel at its control's rate, up to the end of its range.
static void integrators_need_to_advance(void **state)
{
  (void)state;
  robot r = make_robot(WHEEL "<intvelocity joint='j' kp='400' kv='60' actrange='-1 1'/>"
                             "</actuator></mujoco>",
                       NULL);
  tn_instance_set_control(r.instance, 0, 0.5);
  for (int i = 0; i < 60; ++i) {
    assert_true(tn_instance_advance(r.instance, 1.0f / 60.0f));
    test_run(r.world, 1.0f / 60.0f, 1);
  }
  assert_close(angle_of(&r), 0.5 - 0.5 * 60.0 / 400.0, 0.005); // it lags by kv / kp
  for (int i = 0; i < 240; ++i) {
    assert_true(tn_instance_advance(r.instance, 1.0f / 60.0f));
    test_run(r.world, 1.0f / 60.0f, 1);
  }
  assert_close(angle_of(&r), 1.0, 1e-3);
  assert_false(tn_instance_advance(r.instance, -1.0f));
  assert_false(tn_instance_advance(NULL, 0.1f));
  release(&r);
}

static double height_of(const robot *r, const char *body)
{
  return tn_instance_transform(r->instance, tn_model_find_body(r->model, body)).p.y;
}

// Pairs collide whatever their filters say; other geoms without filters do not. A block slides
// with the friction of its pair.
static void pairs_collide(void **state)
{
  (void)state;
  robot r =
      make_robot("<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>"
                 "<geom name='floor' type='plane' size='9 9 1' friction='.1'/>"
                 "<body name='a' pos='0 0 .1'><freejoint/><geom name='a' size='.1'/></body>"
                 "<body name='b' pos='1 0 .1'><freejoint/><geom name='b' size='.1'/></body>"
                 "<body name='c' pos='2 0 .1'><freejoint/><geom name='c' size='.1'/></body>"
                 "<body name='top' pos='0 0 .3'><freejoint/><geom name='top' size='.1'/></body>"
                 "</worldbody><contact><pair geom1='floor' geom2='a'/>"
                 "<pair geom1='c' geom2='floor'/><pair geom1='a' geom2='top'/></contact></mujoco>",
                 NULL);
  test_run(r.world, 1.0f / 60.0f, 60);
  assert_close(height_of(&r, "a"), 0.1, 1e-3);
  assert_close(height_of(&r, "c"), 0.1, 1e-3);
  assert_close(height_of(&r, "top"), 0.3, 1e-3);
  assert_true(height_of(&r, "b") < -4.0);
  release(&r);
  r = make_robot(
      "<mujoco><option gravity='3 0 -9'/><default><geom contype='0' conaffinity='0'/></default>"
      "<worldbody><geom name='floor' type='plane' size='9 9 1' friction='9'/>"
      "<body name='block' pos='0 0 .1'><freejoint/>"
      "<geom name='block' type='box' size='.1 .1 .1'/></body></worldbody><contact>"
      "<pair geom1='floor' geom2='block' friction='.2 .2' condim='3'/></contact></mujoco>",
      NULL);
  test_run(r.world, 1.0f / 60.0f, 60);
  assert_close(tn_instance_transform(r.instance, 1).p.x, 0.5 * (3.0 - 0.2 * 9.0), 0.01);
  release(&r);
}

// The friction of the geom with the higher priority counts, in either order.
static void priority_decides_friction(void **state)
{
  (void)state;
  for (int higher = 0; higher < 2; ++higher) {
    char text[700];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='3 0 -9'/><worldbody>"
             "<geom type='plane' size='9 9 1' friction='%s' priority='%d'/>"
             "<body pos='0 0 .1'><freejoint/>"
             "<geom type='box' size='.1 .1 .1' friction='%s' "
             "priority='%d'/></body></worldbody></mujoco>",
             higher ? ".2" : "9", higher ? 2 : 1, higher ? "9" : ".2", higher ? 1 : 2);
    robot r = make_robot(text, NULL);
    test_run(r.world, 1.0f / 60.0f, 60);
    assert_close(tn_instance_transform(r.instance, 1).p.x, 0.5 * (3.0 - 0.2 * 9.0), 0.01);
    release(&r);
  }
}

// A tendon over a drum with an actuator whose forces differ in sign: it lifts what it can.
static void tendon_forces_may_differ(void **state)
{
  (void)state;
  robot r = make_robot(
      "<mujoco><option gravity='0 0 -10'/><worldbody><site name='s' pos='-.1 0 0'/>"
      "<geom name='drum' type='cylinder' size='.1 .1' pos='0 0 1' euler='90 0 0' contype='0' "
      "conaffinity='0'/>"
      "<site name='up' pos='0 0 2'/>"
      "<body pos='.1 0 0'><joint name='j' type='slide' axis='0 0 1' range='-1 .5'/><inertial "
      "pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
      "<site name='load'/></body></worldbody>"
      "<tendon><spatial name='t'><site site='s'/><geom geom='drum' sidesite='up'/><site "
      "site='load'/></spatial></tendon>"
      "<actuator><position name='p' tendon='t' kp='1000' kv='100' forcerange='-12 3'/></actuator>"
      "<sensor><tendonpos name='l' tendon='t'/></sensor></mujoco>",
      NULL);
  double length;
  assert_int_equal(tn_instance_sensor(r.instance, 0, &length, 1), 1);
  assert_close(length, 2.0 + 3.14159265 * 0.1, 1e-6);
  assert_true(tn_instance_set_control(r.instance, 0, 0.0)); // pulls with 12 N against 10
  test_run(r.world, 1.0f / 60.0f, 30);
  assert_close(tn_instance_transform(r.instance, 1).p.y, 0.5 * 2.0 * 0.25, 0.01);
  assert_true(tn_instance_set_control(r.instance, 0, 9.0)); // pushes with 3 N beside gravity
  test_run(r.world, 1.0f / 60.0f, 1); // the target moves there within this step
  tn_body_id load = tn_instance_body(r.instance, 1);
  double before = (double)tn_body_velocity(r.world, load).y;
  test_run(r.world, 1.0f / 60.0f, 30);
  assert_close((double)tn_body_velocity(r.world, load).y - before, -13.0 * 0.5, 0.01);
  release(&r);
}

// Bodies that are excluded from colliding with the world's own geoms.
static void the_world_can_be_excluded(void **state)
{
  (void)state;
  robot r = make_robot("<mujoco><worldbody><geom type='plane' size='9 9 1'/>"
                       "<body name='a' pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
                       "<body name='b' pos='1 0 .1'><freejoint/><geom size='.1'/></body>"
                       "</worldbody><contact><exclude body1='world' body2='b'/></contact></mujoco>",
                       NULL);
  test_run(r.world, 1.0f / 60.0f, 60);
  assert_close(height_of(&r, "a"), 0.1, 1e-3);
  assert_true(height_of(&r, "b") < -4.0);
  release(&r);
}

// Files in the styles of public models: classes, nested frames, grippers with loops and tendons,
// wheels, replicates, sections in any order, tabs, ends on every geom, packages, mimics, floating
// bases, settings of other simulators. Nothing of them may be without effect.
static void nothing_is_ignored(void **state)
{
  (void)state;
  static const char *const files[] = {"hand.xml",     "gripper.xml", "legged.xml",   "mobile.xml",
                                      "humanoid.xml", "tabs.xml",    "biped.xml",    "spider.xml",
                                      "finger.xml",   "crank.xml",   "gripper.urdf", "rover.urdf",
                                      "drone.urdf"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", STYLE_FOLDER, files[i]);
    robot r = {.model = tn_model_load(path, NULL), .world = test_world(20, TN_METHOD_TENON)};
    assert_non_null(r.model);
    r.instance = tn_instance_create(r.world, r.model, NULL);
    assert_non_null(r.instance);
    tn_world_set_gravity(r.world, tn_instance_gravity(r.instance));
    for (int step = 0; step < 30; ++step) {
      assert_true(tn_instance_advance(r.instance, 1.0f / 60.0f));
      test_run(r.world, 1.0f / 60.0f, 1);
    }
    int count;
    const tn_import_note *notes = tn_model_report(r.model, &count);
    for (int k = 0; k < count; ++k) {
      if (notes[k].fate == TN_IMPORT_IGNORED || notes[k].fate == TN_IMPORT_MISSING) {
        fail_msg("%s:%d: %s", notes[k].file, notes[k].line, notes[k].text);
      }
    }
    release(&r);
  }
}

#define LIMB                                                                                       \
  "<mujoco><worldbody><geom type='plane' size='1 1 1' pos='0 0 -2'/><body name='upper'>"           \
  "<joint name='a' axis='0 1 0'/><joint name='b' axis='1 0 0'/><geom type='capsule' "              \
  "fromto='0 0 0 .3 0 0' size='.03'/><site name='s' pos='.3 0 .05'/><body name='lower' pos='.3 0 " \
  "0'>"                                                                                            \
  "<joint name='c' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .3 0 0' size='.03'/>"          \
  "<site name='tip' pos='.1 0 .05'/></body></body></worldbody>"                                    \
  "<tendon><spatial name='t'><site site='s'/><site site='tip'/></spatial></tendon>"                \
  "<actuator><intvelocity name='turn' joint='a' kp='50' actrange='-2 2'/>"                         \
  "<general name='filter' joint='c' dyntype='filter' dynprm='.2' gainprm='3'/>"                    \
  "<motor name='pull' tendon='t'/></actuator>"                                                     \
  "<sensor><accelerometer name='shake' site='tip'/></sensor></mujoco>"

static void drive_limb(tn_instance *instance, tn_world *world, int from, int steps)
{
  for (int i = from; i < from + steps; ++i) {
    tn_instance_set_control(instance, 0, i % 20 < 10 ? 1.0 : -0.5);
    tn_instance_set_control(instance, 1, 0.1 * i);
    tn_instance_set_control(instance, 2, i % 7 ? 0.0 : -1.0);
    tn_instance_advance(instance, 1.0f / 60.0f);
    tn_world_step(world, 1.0f / 60.0f);
  }
}

// An instance in a copy of its world goes on as the original does, and each for itself.
static void instances_are_copied_with_their_world(void **state)
{
  (void)state;
  robot r = make_robot(LIMB, NULL);
  drive_limb(r.instance, r.world, 0, 13);
  tn_world_def def = tn_default_world_def();
  tn_world *other = tn_world_copy(r.world, &def);
  tn_instance *copy = tn_instance_copy(r.instance, other);
  assert_non_null(copy);
  drive_limb(copy, other, 13, 40);
  assert_int_not_equal(tn_world_hash(other), tn_world_hash(r.world));
  drive_limb(r.instance, r.world, 13, 40);
  assert_int_equal(tn_world_hash(other), tn_world_hash(r.world));
  double a[3], b[3], q[2][3];
  assert_int_equal(tn_instance_sensor(r.instance, 0, a, 3), 3);
  assert_int_equal(tn_instance_sensor(copy, 0, b, 3), 3);
  assert_true(tn_instance_positions(r.instance, q[0]) && tn_instance_positions(copy, q[1]));
  assert_memory_equal(a, b, sizeof a);
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  tn_world *empty = test_world(20, TN_METHOD_TENON);
  assert_null(tn_instance_copy(r.instance, empty));
  tn_world_destroy(empty);
  tn_instance_destroy(copy);
  tn_world_destroy(other);
  release(&r);
}

// A controller that holds an inverted pendulum by its motor, and counts its calls.
static void balance(tn_instance *instance, double time, float dt, void *context)
{
  int *calls = context;
  double angle, rate;
  assert_close(time, *calls * (double)dt, 1e-6);
  assert_true(tn_instance_positions(instance, &angle) && tn_instance_velocities(instance, &rate));
  tn_instance_set_control(instance, 0, -20.0 * angle - 3.0 * rate);
  *calls += 1;
}

static double lean_after(robot *r, int steps)
{
  for (int i = 0; i < steps; ++i) {
    tn_instance_advance(r->instance, 1.0f / 120.0f);
    tn_world_step(r->world, 1.0f / 120.0f);
  }
  double angle;
  assert_true(tn_instance_positions(r->instance, &angle));
  return angle;
}

// A controller is called before every step and acts in it: a pendulum on its tip comes to rest with
// it, and falls without it.
static void controllers_act_in_each_step(void **state)
{
  (void)state;
  tn_instance_def def = tn_default_instance_def();
  def.keyframe = 0;
  robot r = make_robot("<mujoco><worldbody><body pos='0 0 1'><joint name='j' axis='0 1 0'/>"
                       "<geom type='capsule' fromto='0 0 0 0 0 .5' size='.03' mass='1'/></body>"
                       "</worldbody><actuator><motor joint='j'/></actuator>"
                       "<keyframe><key qpos='.2'/></keyframe></mujoco>",
                       &def);
  int calls = 0;
  assert_true(tn_instance_set_controller(r.instance, balance, &calls));
  assert_true(tn_instance_controller(r.instance) == balance);
  assert_close(lean_after(&r, 600), 0.0, 1e-4);
  assert_int_equal(calls, 600);
  assert_true(tn_instance_set_controller(r.instance, NULL, NULL));
  tn_instance_set_control(r.instance, 0, 0.0);
  double start = 0.2;
  assert_true(tn_instance_set_positions(r.instance, &start));
  assert_true(fabs(lean_after(&r, 120)) > 1.0);
  assert_int_equal(calls, 600);
  release(&r);
}

// World and instance that are put back into a state go the same way again, with their integrators.
static void instances_have_a_state(void **state)
{
  (void)state;
  robot r = make_robot(LIMB, NULL);
  drive_limb(r.instance, r.world, 0, 13);
  double numbers[64];
  int count = tn_instance_state(r.instance, numbers, 64);
  assert_in_range(count, 3, 64);
  size_t size = tn_world_save_state(r.world, NULL, 0);
  void *bytes = malloc(size);
  assert_int_equal(tn_world_save_state(r.world, bytes, size), size);
  drive_limb(r.instance, r.world, 13, 40);
  uint64_t hash = tn_world_hash(r.world);
  assert_true(tn_world_restore_state(r.world, bytes, size));
  assert_true(tn_instance_set_state(r.instance, numbers, count));
  drive_limb(r.instance, r.world, 13, 40);
  assert_int_equal(tn_world_hash(r.world), hash);
  assert_true(tn_world_restore_state(r.world, bytes, size)); // the integrators are not in it
  drive_limb(r.instance, r.world, 13, 40);
  assert_int_not_equal(tn_world_hash(r.world), hash);
  numbers[2] = NAN;
  assert_false(tn_instance_set_state(r.instance, numbers, count));
  assert_false(tn_instance_set_state(r.instance, numbers, count - 1));
  free(bytes);
  release(&r);
}

#define LINK(name, mass, inertia, more)                                                            \
  "<link name='" name "'><inertial><mass value='" mass "'/><inertia ixx='" inertia                 \
  "' iyy='" inertia "' izz='" inertia "' ixy='0' ixz='0' iyz='0'/></inertial>" more "</link>"

// Joints of URDF with an effort have a motor of their name, up to that effort; joints that mimic
// another have none. Servos that a program sets keep to effort and velocity.
static void limits_of_urdf_hold(void **state)
{
  (void)state;
  robot r = make_robot(
      "<robot name='r'><link name='world'/>" LINK("a", "1", ".05", "") LINK("b", "1", ".05", "")
          LINK(
              "c", "1", ".5",
              "") "<joint name='spin' type='continuous'><parent link='world'/><child link='a'/>"
                  "<axis xyz='0 0 1'/><limit effort='2' velocity='3'/></joint>"
                  "<joint name='same' type='continuous'><parent link='world'/><child link='b'/>"
                  "<axis xyz='0 0 1'/><limit effort='2' velocity='3'/><mimic joint='spin'/></joint>"
                  "<joint name='free' type='continuous'><parent link='world'/><child link='c'/>"
                  "<axis xyz='0 0 1'/></joint></robot>",
      NULL);
  int motor = tn_model_find_actuator(r.model, "spin");
  assert_int_equal(motor, 0);
  assert_int_equal(tn_model_get_counts(r.model).actuators, 1);
  assert_true(tn_instance_set_control(r.instance, motor, 9.0));
  test_run(r.world, 1.0f / 60.0f, 30);
  double u[3];
  assert_true(tn_instance_velocities(r.instance, u));
  assert_close(u[0], 2.0 * 0.5 / (0.05 + 0.05), 1e-2); // the mimic turns with it
  assert_close(u[1], u[0], 1e-2);
  assert_close(u[2], 0.0, 1e-6);
  tn_joint_id joint = tn_instance_joint(r.instance, tn_model_find_joint(r.model, "spin"));
  tn_drive drive = tn_joint_get_def(r.world, joint).axis[TN_ANGULAR_A].drive;
  drive.force = 0.0f;
  drive.stiffness = 1000.0f;
  drive.damping = 100.0f;
  drive.target = 30.0f;
  assert_true(tn_joint_set_drive(r.world, joint, TN_ANGULAR_A, drive));
  test_run(r.world, 1.0f / 60.0f, 180);
  assert_true(tn_instance_velocities(r.instance, u));
  assert_close(u[0], 3.0, 0.02);
  release(&r);
}

// A puck on a slope slides with the friction that <gazebo> gives it, a light one floats, and a lid
// swings on its spring.
static void gazebo_elements_act(void **state)
{
  (void)state;
  robot r = make_robot(
      "<robot name='r'>" LINK("puck", "1", ".1",
                              "<collision><geometry><box size='.2 .2 .2'/></geometry></collision>")
          LINK("float", "1", ".1", "") "<link name='world'/>" LINK(
              "lid", "1", ".1",
              "") "<joint name='hinge' type='continuous'><parent link='world'/><child link='lid'/>"
                  "<axis xyz='0 0 1'/></joint>"
                  "<gazebo reference='puck'><mu1>0.1</mu1><mu2> 0.3\n</mu2><kp "
                  "value='1e7'/></gazebo>"
                  "<gazebo reference='float'><turnGravityOff>true</turnGravityOff>"
                  "<material>Gazebo/Grey</material></gazebo>"
                  "<gazebo reference='hinge'><springStiffness>2.5</springStiffness>"
                  "<springReference>0.4</springReference></gazebo>"
                  "<gazebo><plugin name='p' filename='p.so'><a>1</a></plugin></gazebo></robot>",
      NULL);
  int count;
  const tn_import_note *notes = tn_model_report(r.model, &count);
  for (int i = 0; i < count; ++i) {
    assert_int_not_equal(notes[i].fate, TN_IMPORT_IGNORED);
  }
  tn_body_def ground = tn_default_body_def();
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  plane.position = tn_v3(0.0f, -0.1f, 0.0f);
  plane.material.static_friction = plane.material.dynamic_friction = 0.0f;
  ground.type = TN_BODY_STATIC;
  tn_shape_create(r.world, tn_body_create(r.world, &ground), &plane);
  tn_world_set_gravity(r.world, tn_v3(4.0f, -10.0f, 0.0f));
  test_run(r.world, 1.0f / 60.0f, 60);
  tn_pos puck = tn_instance_transform(r.instance, tn_model_find_body(r.model, "puck")).p;
  tn_pos lightest = tn_instance_transform(r.instance, tn_model_find_body(r.model, "float")).p;
  assert_close(puck.x, 0.5 * (4.0 - 0.2 * 10.0), 0.02);
  assert_close(lightest.y, 0.0, 1e-5);
  double q[16];
  tn_model_counts counts = tn_model_get_counts(r.model);
  assert_in_range(counts.positions, 15, 16);
  assert_true(tn_instance_positions(r.instance, q));
  assert_close(q[counts.positions - 1], 0.4 * (1.0 - cos(5.0)), 2e-3);
  release(&r);
}

// A ball on the world with a spring, or with a range, whose armature turns with its body.
static void armature_of_balls_turns(void **state)
{
  (void)state;
  for (int limited = 0; limited < 2; ++limited) {
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><compiler angle='radian'/><worldbody><body>"
             "<joint type='ball' armature='.03' %s/><inertial pos='0 0 0' mass='1' "
             "diaginertia='.01 .01 .01'/></body></worldbody></mujoco>",
             limited ? "range='0 2'" : "stiffness='.64'");
    robot r = make_robot(text, NULL);
    double q[4], u[3] = {0.0, limited ? 0.0 : 0.4, 0.0};
    assert_true(tn_instance_set_velocities(r.instance, u));
    tn_body_id body = tn_instance_body(r.instance, 1);
    for (int i = 0; i < 30; ++i) { // 4 rad/s with the spring, or from rest by a torque of 0.01 N m
      if (limited) {
        tn_body_apply_torque(r.world, body, tn_v3(0.0f, 0.01f, 0.0f));
      }
      test_run(r.world, 1.0f / 60.0f, 1);
    }
    assert_true(tn_instance_positions(r.instance, q));
    double angle = 2.0 * acos(fmin(1.0, fabs(q[0])));
    assert_close(angle, limited ? 0.5 * 0.25 * 0.25 : 0.1 * sin(2.0), 5e-4);
    release(&r);
  }
}

// Contacts that a file makes soft: a ball sinks by (1 - d) / d g / k, one without damping comes
// back up, and usual ones do neither.
static void soft_contacts_give_way(void **state)
{
  (void)state;
  robot r =
      make_robot("<mujoco><option gravity='0 0 -10'/><worldbody><geom type='plane' size='9 9 1'/>"
                 "<body name='hard' pos='0 0 .1'><freejoint/><geom size='.1' mass='3'/></body>"
                 "<body name='soft' pos='1 0 .1'><freejoint/>"
                 "<geom size='.1' mass='3' solref='.1 1' solimp='.8 .8 .001'/></body>"
                 "<body name='ball' pos='2 0 .6'><freejoint/><geom size='.1' mass='1' "
                 "solref='-4000 0'/></body>"
                 "</worldbody></mujoco>",
                 NULL);
  double top = 0.0;
  for (int i = 0; i < 1200; ++i) { // it gives way slowly
    test_run(r.world, 1.0f / 60.0f, 1);
    top = i > 25 && i < 60 ? fmax(top, height_of(&r, "ball")) : top;
  }
  assert_close(height_of(&r, "hard"), 0.1, 1e-4);
  assert_close(height_of(&r, "soft"), 0.1 - 0.25 * 10.0 * 0.01 * 0.64, 1e-3);
  assert_close(top, 0.6, 0.02);
  release(&r);
}

// A plate hangs from a ceiling by adhesion if the pull is more than its weight, and falls if it is
// less; the contacts bear the difference.
static void adhesion_holds_what_it_can(void **state)
{
  (void)state;
  for (int trial = 0; trial < 12; ++trial) {
    char text[1000];
    double mass = 0.1 * pow(3.0, trial % 6), weight = 9.81 * mass, pull = trial % 2 ? 0.95 : 1.3;
    snprintf(text, sizeof text,
             "<mujoco><worldbody><geom type='box' size='2 2 .1' pos='0 0 1.1'/><body name='plate' "
             "pos='0 0 %g'><freejoint/><geom type='box' size='.1 .2 .05' mass='%g'/></body>"
             "</worldbody><actuator><adhesion name='grip' body='plate' gain='%g' ctrlrange='0 1'/>"
             "</actuator><sensor><actuatorfrc name='f' actuator='grip'/></sensor></mujoco>",
             0.9499, mass, pull * weight);
    robot r = make_robot(text, NULL);
    tn_instance_set_control(r.instance, 0, 3.0); // clamped to 1
    for (int i = 0; i < 120; ++i) {
      assert_true(tn_instance_advance(r.instance, 1.0f / 60.0f));
      tn_world_step(r.world, 1.0f / 60.0f);
    }
    double height = tn_instance_transform(r.instance, 1).p.y, force = 0.0;
    tn_contact contacts[4];
    int count = tn_body_contacts(r.world, tn_instance_body(r.instance, 1), contacts, 4);
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < contacts[i].count; ++k) {
        force += (double)contacts[i].points[k].normal_force;
      }
    }
    if (pull > 1.0) {
      assert_close(height, 0.95, 1e-3);
      assert_close(force, (pull - 1.0) * weight, 1e-2 * weight);
    } else {
      assert_below(height, 0.8);
    }
    release(&r);
  }
}

// Files with actuators that are not known load with their keyframes; muscles are known.
static void activations_of_unknown_actuators_are_left_out(void **state)
{
  (void)state;
  const char *text =
      "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody><actuator>"
      "<plugin joint='j' plugin='pid'/><muscle name='m' joint='j' force='3' lengthrange='-1 1'/>"
      "</actuator><keyframe><key name='k' qpos='.2' act='.1 .2 .3' ctrl='0 "
      "1'/></keyframe></mujoco>";
  robot r = make_robot(text, NULL);
  assert_true(tn_instance_apply_keyframe(r.instance, 0));
  double q;
  assert_true(tn_instance_positions(r.instance, &q));
  assert_close(q, 0.2, 1e-6);
  release(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_of_urdf_hold),
      cmocka_unit_test(gazebo_elements_act),
      cmocka_unit_test(armature_of_balls_turns),
      cmocka_unit_test(soft_contacts_give_way),
      cmocka_unit_test(adhesion_holds_what_it_can),
      cmocka_unit_test(activations_of_unknown_actuators_are_left_out),
      cmocka_unit_test(numbers_are_those_of_the_file),
      cmocka_unit_test(sensors_read_the_state),
      cmocka_unit_test(sensors_read_loads),
      cmocka_unit_test(excluded_bodies_move_freely),
      cmocka_unit_test(damping_ratios_are_critical),
      cmocka_unit_test(actuators_of_a_joint_add_up),
      cmocka_unit_test(integrators_need_to_advance),
      cmocka_unit_test(planar_joints_move),
      cmocka_unit_test(pairs_collide),
      cmocka_unit_test(priority_decides_friction),
      cmocka_unit_test(tendon_forces_may_differ),
      cmocka_unit_test(the_world_can_be_excluded),
      cmocka_unit_test(nothing_is_ignored),
      cmocka_unit_test(parts_have_their_own_weight),
      cmocka_unit_test(instances_are_copied_with_their_world),
      cmocka_unit_test(instances_have_a_state),
      cmocka_unit_test(controllers_act_in_each_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
