// Models from files: masses against closed forms, defaults, the report, refusals with their place,
// and no text that crashes a reader.
#include "support.h"

#include <tenon/import.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_log messages;

static tn_import_def quiet(void)
{
  tn_import_def def = tn_default_import_def();
  def.log = test_collect;
  def.log_context = &messages;
  return def;
}

static tn_model *parse(const char *text)
{
  tn_import_def def = quiet();
  tn_model *model = tn_model_parse("robot.xml", text, strlen(text), &def);
  if (!model) {
    fail_msg("%s", messages.last);
  }
  return model;
}

#define MJCF(body) "<mujoco><worldbody>" body "</worldbody></mujoco>"

static tn_model_body body_of(const tn_model *model, int keyframe, const char *name)
{
  tn_model_body bodies[32];
  int count = tn_model_bodies(model, keyframe, bodies, 32);
  for (int i = 0; i < count && i < 32; ++i) {
    if (strcmp(bodies[i].name, name) == 0) {
      return bodies[i];
    }
  }
  fail_msg("no body %s", name);
  return bodies[0];
}

static void assert_near(double value, double wanted)
{
  if (!(fabs(value - wanted) <= 1e-9 * (1.0 + fabs(wanted)))) {
    fail_msg("%.12g instead of %.12g", value, wanted);
  }
}

// ---------------------------------------------------------------------------------------------
// Laws

// Solids by their formulas, and a body of two of them by Steiner's theorem.
static void masses_are_those_of_the_geoms(void **state)
{
  (void)state;
  tn_model *model = parse(MJCF("<body name='b'><geom type='box' size='.1 .2 .3' density='500'/>"
                               "<geom size='.1' pos='1 0 0' mass='3'/></body>"));
  tn_model_body b = body_of(model, -1, "b");
  double box = 500.0 * 0.2 * 0.4 * 0.6, total = box + 3.0, x = 3.0 / total;
  assert_near(b.mass, total);
  assert_near(b.center[0], x);
  assert_near(b.inertia[0], box * (0.04 + 0.09) / 3.0 + 3.0 * 0.4 * 0.01);
  assert_near(b.inertia[1], box * (0.01 + 0.09) / 3.0 + box * x * x + 3.0 * 0.4 * 0.01 +
                                3.0 * (1.0 - x) * (1.0 - x));
  assert_near(tn_model_total_mass(model), total);
  tn_model_destroy(model);
}

// A hinge turns about its point, a slide moves along its axis after it.
static void keyframes_place_the_bodies(void **state)
{
  (void)state;
  tn_model *model =
      parse("<mujoco><worldbody><body name='b' pos='0 0 1'><joint axis='0 0 1' pos='1 0 0'/>"
            "<joint type='slide' axis='1 0 0' ref='.5'/><geom size='.1'/></body></worldbody>"
            "<keyframe><key name='k' qpos='1.5707963267948966 1'/></keyframe></mujoco>");
  assert_int_equal(tn_model_find_keyframe(model, "k"), 0);
  tn_model_body b = body_of(model, 0, "b");
  assert_near(b.position.x, 1.0); // the point (1, 0, 0) stays, x of the body is y of the world
  assert_near(b.position.y, -1.0 + 0.5);
  assert_near(b.position.z, 1.0);
  tn_model_destroy(model);
}

static void names_and_controls_are_readable(void **state)
{
  (void)state;
  tn_model *model =
      parse("<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
            "<actuator><motor name='m' joint='j'/><motor joint='j'/></actuator>"
            "<keyframe><key/><key name='k' ctrl='1 2.5'/></keyframe></mujoco>");
  assert_string_equal(tn_model_joint_name(model, 0), "j");
  assert_string_equal(tn_model_actuator_name(model, 0), "m");
  assert_string_equal(tn_model_actuator_name(model, 1), "");
  assert_string_equal(tn_model_keyframe_name(model, 1), "k");
  assert_string_equal(tn_model_keyframe_name(model, 2), "");
  assert_string_equal(tn_model_joint_name(model, -1), "");
  double controls[3] = {9.0, 9.0, 9.0};
  assert_int_equal(tn_model_keyframe_controls(model, 1, controls, 3), 2);
  assert_near(controls[0], 1.0);
  assert_near(controls[1], 2.5);
  assert_near(controls[2], 9.0);
  assert_int_equal(tn_model_keyframe_controls(model, 0, controls, 1), 2);
  assert_near(controls[0], 0.0); // of a keyframe without controls
  assert_near(controls[1], 2.5);
  assert_int_equal(tn_model_keyframe_controls(model, 2, controls, 3), 0);
  assert_int_equal(tn_model_keyframe_controls(NULL, 0, controls, 3), 0);
  tn_model_destroy(model);
}

static void defaults_come_from_classes(void **state)
{
  (void)state;
  tn_model *model = parse("<mujoco><default><geom density='100'/><default class='a'>"
                          "<geom type='box' size='.5 .5 .5'/><default class='b'>"
                          "<geom density='200'/></default></default></default><worldbody>"
                          "<body name='p' childclass='a'><geom/></body>"
                          "<body name='q' childclass='a'><geom class='b'/></body>"
                          "<body name='r'><geom size='1'/></body></worldbody></mujoco>");
  assert_near(body_of(model, -1, "p").mass, 100.0);
  assert_near(body_of(model, -1, "q").mass, 200.0);
  assert_near(body_of(model, -1, "r").mass, 100.0 * 4.0 / 3.0 * 3.14159265358979323846);
  tn_model_destroy(model);
}

static void urdf_links_hang_on_joints(void **state)
{
  (void)state;
  tn_model *model =
      parse("<robot name='r'><link name='base'/><link name='arm'><inertial><origin xyz='0 0 .5' "
            "rpy='1.5707963267948966 0 0'/><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' "
            "iyy='2' iyz='0' izz='3'/></inertial></link><joint name='j' type='revolute'>"
            "<parent link='base'/><child link='arm'/><origin xyz='1 0 0' rpy='0 0 "
            "1.5707963267948966'/><axis xyz='0 2 0'/><limit lower='-1' upper='1' effort='5' "
            "velocity='2'/></joint></robot>");
  tn_model_body arm = body_of(model, -1, "arm");
  assert_near(arm.position.x, 1.0);
  assert_near(arm.rotation[2], sqrt(0.5));
  assert_near(arm.inertia[1], 3.0); // y and z changed places
  assert_near(arm.inertia[2], 2.0);
  tn_model_destroy(model);
}

// ---------------------------------------------------------------------------------------------
// The report

static const tn_import_note *find_note(const tn_model *model, const char *part)
{
  int count;
  const tn_import_note *notes = tn_model_report(model, &count);
  for (int i = 0; i < count; ++i) {
    if (strstr(notes[i].text, part)) {
      return &notes[i];
    }
  }
  return NULL;
}

static void assert_fate(const tn_model *model, const char *part, tn_import_fate fate, int line)
{
  const tn_import_note *note = find_note(model, part);
  if (!note || note->fate != fate || note->line != line) {
    fail_msg("%s: fate %d in line %d", part, note ? (int)note->fate : -1, note ? note->line : 0);
  }
}

static void everything_is_in_the_report(void **state)
{
  (void)state;
  tn_model *model = parse("<mujoco>\n<option timestep='.01' wind='1 0 0'/>\n<worldbody>\n"
                          "<light pos='0 0 1'/>\n<body wings='2'>\n<geom size='.1' solref='.1 1'/>"
                          "\n<plume/>\n</body></worldbody><sails><sail/></sails></mujoco>");
  assert_fate(model, "<geom> size", TN_IMPORT_HONOURED, 6);
  assert_fate(model, "<geom> solref", TN_IMPORT_APPROXIMATED, 6);
  assert_fate(model, "<option> wind", TN_IMPORT_HONOURED, 2);
  assert_fate(model, "<body> wings", TN_IMPORT_IGNORED, 5);
  assert_fate(model, "<plume>", TN_IMPORT_IGNORED, 7);
  assert_fate(model, "<sails>", TN_IMPORT_IGNORED, 8);
  assert_fate(model, "<light>", TN_IMPORT_VISUAL, 4);
  char small[16], large[8192];
  size_t size = tn_model_write_report(model, true, large, sizeof large);
  assert_true(size == strlen(large) + 1);
  assert_true(tn_model_write_report(model, true, small, sizeof small) == size);
  assert_true(strlen(small) == sizeof small - 1);
  tn_model_destroy(model);
}

static void missing_meshes_are_left_out(void **state)
{
  (void)state;
  tn_model *model = parse("<mujoco><asset><mesh name='m' file='nowhere.stl'/></asset><worldbody>"
                          "<body name='b'><geom type='mesh' mesh='m'/><geom size='.1' mass='1'/>"
                          "</body></worldbody></mujoco>");
  assert_fate(model, "nowhere.stl", TN_IMPORT_MISSING, 1);
  assert_near(body_of(model, -1, "b").mass, 1.0);
  tn_model_destroy(model);
}

// ---------------------------------------------------------------------------------------------
// Meshes

// Writes a file into the working folder of the test.
static void write_file(const char *name, const void *bytes, size_t size)
{
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  assert_true(fwrite(bytes, 1, size, file) == size);
  fclose(file);
}

static const char cube_obj[] =
    "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
    "f 4 3 2 1\nf 5 6 7 8\nf 1/1 2/2 6/3 5/4\nf -6//1 -5//1 -1//1 -2//1\nf 1 5 8 4\nf 2 3 7 6\n";

// The triangles of the cube.
static int cube_triangles(float corners[12][3][3])
{
  static const int faces[6][4] = {{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                  {2, 3, 7, 6}, {0, 4, 7, 3}, {1, 2, 6, 5}};
  static const float signs[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  for (int f = 0; f < 6; ++f) {
    for (int t = 0; t < 2; ++t) {
      const int picks[3] = {0, 1 + t, 2 + t};
      for (int k = 0; k < 3; ++k) {
        memcpy(corners[2 * f + t][k], signs[faces[f][picks[k]]], sizeof corners[0][0]);
      }
    }
  }
  return 12;
}

static void write_cubes(void)
{
  float corners[12][3][3];
  int count = cube_triangles(corners);
  unsigned char binary[84 + 12 * 50] = "solid, as some programs begin binary files";
  char text[4096] = "solid cube\n";
  binary[80] = (unsigned char)count;
  for (int t = 0; t < count; ++t) {
    memcpy(binary + 84 + 50 * t + 12, corners[t], sizeof corners[t]);
    strcat(text, " facet normal 0 0 0\n  outer loop\n");
    for (int k = 0; k < 3; ++k) {
      const float *v = corners[t][k];
      snprintf(text + strlen(text), sizeof text - strlen(text), "   vertex %g %g %g\n",
               (double)v[0], (double)v[1], (double)v[2]);
    }
    strcat(text, "  endloop\n endfacet\n");
  }
  strcat(text, "endsolid cube\n");
  write_file("cube_binary.stl", binary, sizeof binary);
  write_file("cube_text.stl", text, strlen(text));
  write_file("cube.obj", cube_obj, sizeof cube_obj - 1);
}

// A cube as GLB: all corners of all triangles, without indices, under a node that shrinks it.
static void write_glb(void)
{
  float corners[12][3][3];
  cube_triangles(corners);
  char json[700];
  int length = snprintf(
      json, sizeof json,
      "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
      "\"nodes\":[{\"scale\":[0.5,0.5,0.5],\"children\":[1]},{\"mesh\":0,\"scale\":[2,2,2]}],"
      "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
      "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":36,\"type\":\"VEC3\"}],"
      "\"bufferViews\":[{\"buffer\":0,\"byteLength\":432}],\"buffers\":[{\"byteLength\":432}]}");
  while (length % 4) {
    json[length++] = ' ';
  }
  unsigned char file[1400] = "glTF";
  uint32_t sizes[5] = {2, (uint32_t)(28 + length) + 432, (uint32_t)length, 0x4e4f534a, 0};
  memcpy(file + 4, sizes, 8);
  memcpy(file + 12, sizes + 2, 8);
  memcpy(file + 20, json, (size_t)length);
  uint32_t chunk[2] = {432, 0x004e4942};
  memcpy(file + 20 + length, chunk, 8);
  memcpy(file + 28 + length, corners, 432);
  write_file("cube.glb", file, (size_t)length + 28 + 432);
}

// A cube of 2 m, scaled and moved, in all formats.
static void meshes_have_their_volume(void **state)
{
  (void)state;
  static const char *const names[] = {"cube_binary.stl", "cube_text.stl", "cube.obj", "cube.glb"};
  write_cubes();
  write_glb();
  for (int i = 0; i < 4; ++i) {
    char text[500];
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' file='%s' scale='1 .5 -2' refpos='1 0 0'/></asset>"
             "<worldbody><body name='b'><geom type='mesh' mesh='m' density='10'/></body>"
             "</worldbody></mujoco>",
             names[i]);
    tn_model *model = parse(text);
    tn_model_body b = body_of(model, -1, "b");
    assert_near(b.mass, 10.0 * 8.0);
    assert_near(b.center[0], -1.0);
    assert_near(b.inertia[0], b.mass * (0.25 + 4.0) / 3.0);
    tn_model_destroy(model);
  }
}

// Settings for MuJoCo in URDF: the file is in `meshdir` by its name alone, or by its path.
static void urdf_finds_meshes_in_the_mesh_folder(void **state)
{
  (void)state;
  static const struct {
    const char *folder, *name;
  } cases[] = {{".", "meshes/cube.obj"},
               {"./", "package://other/meshes/cube.obj"},
               {"nowhere", "cube.obj"},
               {"nowhere", "./cube.obj"}};
  write_cubes();
  for (int i = 0; i < 4; ++i) {
    char text[600];
    snprintf(text, sizeof text,
             "<robot name='r'><mujoco><compiler meshdir='%s' discardvisual='false'/></mujoco>"
             "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
             "ixz='0' iyz='0'/></inertial><collision><geometry><mesh filename='%s'/></geometry>"
             "</collision></link></robot>",
             cases[i].folder, cases[i].name);
    tn_model *model = parse(text);
    assert_int_equal(tn_model_get_counts(model).meshes, 1);
    int count;
    const tn_import_note *notes = tn_model_report(model, &count);
    for (int n = 0; n < count; ++n) {
      assert_true(notes[n].fate != TN_IMPORT_MISSING && notes[n].fate != TN_IMPORT_IGNORED);
    }
    tn_model_destroy(model);
  }
}

// ---------------------------------------------------------------------------------------------
// Worlds

static tn_instance *place(tn_world *world, tn_model *model, const char *prefix, double x)
{
  tn_instance_def def = tn_default_instance_def();
  def.place.p.x = x;
  def.prefix = prefix;
  tn_instance *instance = tn_instance_create(world, model, &def);
  assert_non_null(instance);
  return instance;
}

static double world_mass(const tn_world *world)
{
  return tn_world_momentum(world, tn_p3(0.0, 0.0, 0.0)).mass;
}

// Two copies side by side, with names of their own, y up.
static void copies_stand_where_they_are_put(void **state)
{
  (void)state;
  tn_model *model =
      parse(MJCF("<body name='base' pos='0 0 1'><geom size='.1'/><body name='arm' pos='.5 0 0'>"
                 "<joint type='slide'/><joint/><geom size='.1' mass='2'/><body name='tip' pos='0 0 "
                 ".5'><geom size='.05' mass='1'/></body></body></body>"));
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_instance *a = place(world, model, "a_", 0.0), *b = place(world, model, "b_", 10.0);
  int arm = tn_model_find_body(model, "arm"), tip = tn_model_find_body(model, "tip");
  assert_true(TN_SAME_ID(tn_instance_body(a, arm), tn_instance_body(a, tip)));
  assert_false(TN_SAME_ID(tn_instance_body(a, arm), tn_instance_body(b, arm)));
  assert_string_equal(tn_body_name(world, tn_instance_body(b, arm)), "b_arm");
  tn_transform at = tn_instance_transform(b, tip);
  assert_near(at.p.x, 10.5);
  assert_near(at.p.y, 1.5);
  assert_true(fabs(world_mass(world) - 2.0 * 3.0) < 1e-6);
  tn_instance_destroy(a);
  tn_instance_destroy(b);
  tn_world_destroy(world);
  tn_model_destroy(model);
}

// MuJoCo's rule: the types of one meet the affinities of the other, in either order.
static void filters_are_an_or_of_two_tests(void **state)
{
  (void)state;
  uint32_t rng = 5;
  for (int i = 0; i < 200; ++i) {
    unsigned bits[4];
    for (int k = 0; k < 4; ++k) {
      bits[k] = (unsigned)(test_random(&rng) * 8.0f) & (unsigned)(test_random(&rng) * 8.0f);
    }
    char text[400];
    snprintf(text, sizeof text,
             MJCF("<body><freejoint/><geom size='.1' contype='%u' conaffinity='%u'/></body><body>"
                  "<freejoint/><geom size='.1' contype='%u' conaffinity='%u'/></body>"),
             bits[0], bits[1], bits[2], bits[3]);
    tn_model *model = parse(text);
    tn_world *world = test_world(8, TN_METHOD_TENON);
    tn_instance *instance = place(world, model, NULL, 0.0);
    assert_true(tn_world_update_contacts(world));
    bool wanted = (bits[0] & bits[3]) || (bits[2] & bits[1]);
    if ((tn_world_contacts(world, NULL, 0) > 0) != wanted) {
      fail_msg("types %u, %u, affinities %u, %u", bits[0], bits[2], bits[1], bits[3]);
    }
    tn_instance_destroy(instance);
    tn_world_destroy(world);
    tn_model_destroy(model);
  }
}

// Bodies that overlap: parent and child, and excluded ones, do not touch; others do.
static void related_bodies_do_not_collide(void **state)
{
  (void)state;
  static const struct {
    const char *bodies, *contact;
    bool touch;
  } cases[] = {
      {"<body name='a'><freejoint/><geom size='.1'/><body name='b'><joint/><geom size='.1'/>"
       "</body></body>",
       "", false},
      {"<body name='a'><freejoint/><geom size='.1'/><body name='b'><joint/><joint axis='1 0 0'/>"
       "<geom size='.1'/></body></body>",
       "", false},
      {"<body name='a'><freejoint/><geom size='.1'/></body><body name='b'><freejoint/><geom "
       "size='.1'/></body>",
       "", true},
      {"<body name='a'><freejoint/><geom size='.1'/></body><body name='b'><freejoint/><geom "
       "size='.1'/></body>",
       "<exclude body1='a' body2='b'/>", false},
      {"<body name='a'><geom size='.1'/><body name='b'><joint/><geom size='.1'/></body></body>", "",
       true},
      {"<body name='a'><geom size='.1'/><body name='b'><joint/><geom size='.1'/></body></body>",
       "<exclude body1='a' body2='b'/>", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char text[600];
    snprintf(text, sizeof text, "<mujoco><worldbody>%s</worldbody><contact>%s</contact></mujoco>",
             cases[i].bodies, cases[i].contact);
    tn_model *model = parse(text);
    tn_world *world = test_world(8, TN_METHOD_TENON);
    tn_instance *instance = place(world, model, NULL, 0.0);
    assert_true(tn_world_update_contacts(world));
    if ((tn_world_contacts(world, NULL, 0) > 0) != cases[i].touch) {
      fail_msg("case %zu: %d contacts", i, tn_world_contacts(world, NULL, 0));
    }
    tn_instance_destroy(instance);
    tn_world_destroy(world);
    tn_model_destroy(model);
  }
}

// A rod on a hinge, let go level: it passes the lowest point with w^2 = 3 g / l.
static void a_rod_swings_by_its_law(void **state)
{
  (void)state;
  tn_model *model = parse(MJCF("<body name='rod' pos='0 0 2'><joint name='j' axis='0 1 0'/><geom "
                               "type='box' size='.5 .001 .001' pos='.5 0 0' contype='0' "
                               "conaffinity='0'/></body>"));
  tn_world *world = test_world(20, TN_METHOD_TENON);
  tn_instance *instance = place(world, model, NULL, 0.0);
  tn_world_set_gravity(world, tn_instance_gravity(instance));
  tn_body_id rod = tn_instance_body(instance, tn_model_find_body(model, "rod"));
  float fastest = 0.0f;
  for (int i = 0; i < 200; ++i) {
    assert_int_equal(tn_world_step(world, 1.0f / 240.0f), TN_STEP_OK);
    fastest = fmaxf(fastest, tn_length(tn_body_angular_velocity(world, rod)));
  }
  assert_true(fabs((double)fastest - sqrt(3.0 * 9.81)) < 0.005);
  tn_instance_destroy(instance);
  tn_world_destroy(world);
  tn_model_destroy(model);
}

// ---------------------------------------------------------------------------------------------
// Couplings

static tn_instance *place_with_gravity(tn_world *world, tn_model *model)
{
  tn_instance *instance = place(world, model, NULL, 0.0);
  tn_world_set_gravity(world, tn_instance_gravity(instance));
  return instance;
}

static void destroy_all(tn_instance *instance, tn_world *world, tn_model *model)
{
  tn_instance_destroy(instance);
  tn_world_destroy(world);
  tn_model_destroy(model);
}

static double angle_of(const tn_world *world, const tn_instance *instance, int joint)
{
  return (double)tn_joint_get_state(world, tn_instance_joint(instance, joint)).angle.x;
}

// Two pendula: a = 0.5 b + 0.2 b^2 - 0.1 b^3 + 0.05 b^4, both from their reference.
static void equal_joints_follow_their_polynomial(void **state)
{
  (void)state;
  tn_model *model = parse(
      "<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><geom size='.1' pos='.1 0 0' "
      "mass='.1'/></body><body pos='0 1 0'><joint name='b' axis='0 1 0' ref='20'/><geom size='.1' "
      "pos='1 0 0' mass='5'/></body></worldbody><equality><joint joint1='a' joint2='b' "
      "polycoef='0 .5 .2 -.1 .05'/></equality></mujoco>");
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_instance *instance = place_with_gravity(world, model);
  double most = 0.0;
  for (int i = 0; i < 120; ++i) {
    assert_int_equal(tn_world_step(world, 1.0f / 60.0f), TN_STEP_OK);
    double a = angle_of(world, instance, 0), b = angle_of(world, instance, 1);
    double wanted = b * (0.5 + b * (0.2 + b * (-0.1 + b * 0.05)));
    assert_true(fabs(remainder(a - wanted, 2.0 * 3.14159265358979)) < 1e-3);
    most = fmax(most, b);
  }
  assert_true(most > 1.5);
  destroy_all(instance, world, model);
}

static void mimic_joints_follow(void **state)
{
  (void)state;
  tn_model *model = parse(
      "<robot name='r'><link name='w'/><link name='a'><inertial><origin xyz='.5 0 0'/><mass "
      "value='1'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial></link><link name='b'><inertial>"
      "<origin xyz='.1 0 0'/><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial>"
      "</link><joint name='j' type='continuous'><parent link='w'/><child link='a'/><axis xyz='0 1 "
      "0'/></joint><joint name='k' type='continuous'><parent link='w'/><child link='b'/><axis "
      "xyz='0 1 0'/><mimic joint='j' multiplier='-3'/></joint></robot>");
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_instance *instance = place_with_gravity(world, model);
  int count = tn_world_couplings(world, NULL, 0);
  assert_int_equal(count, 1);
  for (int i = 0; i < 30; ++i) {
    assert_int_equal(tn_world_step(world, 1.0f / 60.0f), TN_STEP_OK);
  }
  double a = angle_of(world, instance, 0), b = angle_of(world, instance, 1);
  assert_true(fabs(a) > 0.1);
  assert_true(fabs(remainder(b + 3.0 * a, 2.0 * 3.14159265358979)) < 1e-4);
  destroy_all(instance, world, model);
}

// A mass of 1 kg on a vertical slide q; the tendon's length is L = 2 q. In balance
// 2 (u - k (L - 0.1)) = m g.
static void tendon_over_a_joint_balances(void **state)
{
  (void)state;
  tn_model *model = parse(
      "<mujoco><worldbody><body><joint name='q' type='slide' axis='0 0 1' ref='.3'/><geom "
      "size='.1' mass='1'/></body></worldbody><tendon><fixed name='t' stiffness='100' damping='5' "
      "springlength='.1'><joint joint='q' coef='2'/></fixed></tendon><actuator><motor tendon='t'/>"
      "</actuator></mujoco>");
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_instance *instance = place_with_gravity(world, model);
  assert_true(tn_instance_set_control(instance, 0, 3.0));
  for (int i = 0; i < 300; ++i) {
    assert_int_equal(tn_world_step(world, 1.0f / 60.0f), TN_STEP_OK);
  }
  tn_joint_state q = tn_joint_get_state(world, tn_instance_joint(instance, 0));
  double length = 0.1 + (3.0 - 0.5 * 9.81) / 100.0;
  assert_true(fabs((double)q.offset.x + 0.3 - 0.5 * length) < 1e-5);
  destroy_all(instance, world, model);
}

// A mass on a tendon of two branches, the second behind a pulley of divisor 2: L = 1.5 d.
static void tendon_over_a_pulley_holds(void **state)
{
  (void)state;
  tn_model *model = parse(
      "<mujoco><worldbody><site name='top' pos='0 0 2'/><body name='m' pos='0 0 1.1'><joint "
      "type='slide' axis='0 0 1'/><geom size='.1' mass='1'/><site name='end' pos='0 0 .1'/></body>"
      "</worldbody><tendon><spatial limited='true' range='0 1.5'><site site='top'/><site "
      "site='end'/><pulley divisor='2'/><site site='top'/><site site='end'/></spatial></tendon>"
      "</mujoco>");
  tn_world *world = test_world(8, TN_METHOD_TENON);
  tn_instance *instance = place_with_gravity(world, model);
  for (int i = 0; i < 120; ++i) {
    assert_int_equal(tn_world_step(world, 1.0f / 60.0f), TN_STEP_OK);
  }
  int body = tn_model_find_body(model, "m");
  assert_true(fabs(tn_instance_transform(instance, body).p.y - 0.9) < 1e-5);
  tn_coupling_id tendon;
  assert_int_equal(tn_world_couplings(world, &tendon, 1), 1);
  double force = (double)tn_coupling_get_state(world, tendon).force;
  assert_true(fabs(1.5 * force + 9.81) < 1e-3);
  destroy_all(instance, world, model);
}

// ---------------------------------------------------------------------------------------------
// Convex parts

enum { MAX_BOXES = 4 };

// Boxes as one mesh of closed shells, which may overlap.
static void add_box(tn_vec3 lo, tn_vec3 hi, tn_vec3 *vertices, int *triangles, int box)
{
  static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                   {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                   {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int i = 0; i < 8; ++i) {
    vertices[8 * box + i] = tn_v3(i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z);
  }
  for (int i = 0; i < 36; ++i) {
    triangles[36 * box + i] = 8 * box + faces[i / 3][i % 3];
  }
}

// Whether a hull grows by a point.
static bool is_inside(const tn_vec3 *points, int count, tn_vec3 point, float slack)
{
  tn_vec3 *with = malloc((size_t)(count + 1) * sizeof *with);
  assert_non_null(with);
  memcpy(with, points, (size_t)count * sizeof *with);
  with[count] = point;
  float before = tn_mass_hull(points, count, 1.0f).mass;
  float after = tn_mass_hull(with, count + 1, 1.0f).mass;
  free(with);
  return after <= before + slack;
}

static bool is_covered(const tn_convex_parts *parts, tn_vec3 point)
{
  const tn_vec3 *from = parts->points;
  for (int i = 0; i < parts->part_count; ++i) {
    if (is_inside(from, parts->counts[i], point, 1e-5f)) {
      return true;
    }
    from += parts->counts[i];
  }
  return false;
}

// Two boxes that form an L are two parts, without an error.
static void an_angle_has_two_parts(void **state)
{
  (void)state;
  tn_vec3 vertices[16];
  int triangles[72];
  add_box(tn_v3(0, 0, 0), tn_v3(2, 1, 1), vertices, triangles, 0);
  add_box(tn_v3(0, 1, 0), tn_v3(1, 2, 1), vertices, triangles, 1);
  tn_convex_parts *parts = tn_convex_decompose(vertices, 16, triangles, 24, 16, 0.01f);
  assert_non_null(parts);
  assert_int_equal(parts->part_count, 2);
  assert_true(fabs(parts->volume - 3.0) < 1e-4);
  tn_convex_parts_free(parts);
}

// Random unions of boxes: every point inside is covered, and more parts are closer.
static void parts_cover_the_solid(void **state)
{
  (void)state;
  uint32_t rng = 3;
  for (int i = 0; i < test_cases(6, 100); ++i) {
    tn_vec3 vertices[8 * MAX_BOXES], lo[MAX_BOXES], hi[MAX_BOXES];
    int triangles[36 * MAX_BOXES], boxes = 2 + i % (MAX_BOXES - 1);
    for (int k = 0; k < boxes; ++k) {
      tn_vec3 size =
          tn_v3(0.2f + test_random(&rng), 0.2f + test_random(&rng), 0.2f + test_random(&rng));
      lo[k] = tn_v3(test_random(&rng), test_random(&rng), test_random(&rng));
      hi[k] = tn_add(lo[k], size);
      add_box(lo[k], hi[k], vertices, triangles, k);
    }
    tn_convex_parts *one = tn_convex_decompose(vertices, 8 * boxes, triangles, 12 * boxes, 1, 0.0f);
    tn_convex_parts *many =
        tn_convex_decompose(vertices, 8 * boxes, triangles, 12 * boxes, 24, 0.02f);
    assert_non_null(one);
    assert_non_null(many);
    assert_int_equal(one->part_count, 1);
    assert_true(many->volume <= 1.001 * one->volume);
    for (int k = 0; k < 40; ++k) {
      int box = k % boxes;
      tn_vec3 r = tn_v3(test_random(&rng), test_random(&rng), test_random(&rng));
      tn_vec3 size = tn_sub(hi[box], lo[box]);
      tn_vec3 p = tn_add(lo[box], tn_v3(r.x * size.x, r.y * size.y, r.z * size.z));
      if (!is_covered(many, p)) {
        fail_msg("case %d: (%g, %g, %g) is not covered", i, (double)p.x, (double)p.y, (double)p.z);
      }
    }
    tn_convex_parts_free(one);
    tn_convex_parts_free(many);
  }
}

static void bad_meshes_have_no_parts(void **state)
{
  (void)state;
  tn_vec3 vertices[8];
  int triangles[36];
  add_box(tn_v3(0, 0, 0), tn_v3(1, 1, 1), vertices, triangles, 0);
  assert_null(tn_convex_decompose(NULL, 8, triangles, 12, 4, 0.1f));
  assert_null(tn_convex_decompose(vertices, 8, triangles, 12, 0, 0.1f));
  assert_null(tn_convex_decompose(vertices, 8, triangles, 12, 65, 0.1f));
  assert_null(tn_convex_decompose(vertices, 8, triangles, 12, 4, (float)NAN));
  assert_null(tn_convex_decompose(vertices, 7, triangles, 12, 4, 0.1f)); // names vertex 7
  vertices[3].x = (float)NAN;
  assert_null(tn_convex_decompose(vertices, 8, triangles, 12, 4, 0.1f));
  tn_convex_parts_free(NULL);
}

// ---------------------------------------------------------------------------------------------
// Refusals

typedef struct refusal {
  const char *text, *message;
} refusal;

static const refusal refusals[] = {
    {"", "robot.xml:1: not well-formed"},
    {"<mujoco>\n<worldbody>\n</mujoco>", "robot.xml:3: not well-formed: mismatched tag"},
    {"<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>", "entity declarations are not allowed"},
    {"<house/>", "robot.xml:1: the root element must be <mujoco> or <robot>, not <house>"},
    {MJCF("<body>\n<geom size='big'/></body>"), "robot.xml:2: size of <geom> must be numbers"},
    {MJCF("<geom size='1e999'/>"), "must be numbers, not '1e999'"},
    {MJCF("<geom size='nan'/>"), "must be numbers, not 'nan'"},
    {MJCF("<geom size='0x10'/>"), "must be numbers, not '0x10'"},
    {MJCF("<geom size='1 2 3 4'/>"), "size of <geom> has more than 3 numbers"},
    {MJCF("<geom pos='1 2'/>"), "pos of <geom> needs 3 numbers, not 2"},
    {"<sdf version='1.6'/>", "the root element must be <mujoco> or <robot>, not <sdf>"},
    {"<robot name='r'><xacro:macro name='leg'/></robot>", "<xacro:macro>: expand this file first"},
    {MJCF("<geom type='cube'/>"), "type of <geom> must be one of plane, hfield"},
    {MJCF("<geom type='box' size='1'/>"), "this box needs 3 sizes above 0"},
    {MJCF("<geom size='1' mass='-1'/>"), "mass and density must not be negative"},
    {MJCF("<geom class='c'/>"), "there is no default class 'c'"},
    {MJCF("<geom type='mesh' mesh='m'/>"), "there is no mesh 'm'"},
    {MJCF("<body><joint axis='0 0 0'/></body>"), "axis of this joint has no length"},
    {MJCF("<body><joint range='1 -1'/></body>"), "range of this <joint> is reversed"},
    {MJCF("<body><body><freejoint/></body></body>"), "a free joint must be on a body of the world"},
    {MJCF("<body><inertial pos='0 0 0' mass='1'/></body>"), "needs diaginertia or fullinertia"},
    {MJCF("<replicate count='99999999'><geom size='1'/></replicate>"), "count must be from 0 to"},
    {MJCF("<replicate count='50000'><replicate count='50000'><replicate count='50000'/></replicate>"
          "</replicate>"),
     "more than 200000 copies"},
    {MJCF("<geom size='1' pos='1e308 1e308 -1e309'/>"),
     "must be numbers, not '1e308 1e308 -1e309'"},
    {MJCF("<body><joint/><joint/><joint/><joint/><joint/><joint/><joint/><geom size='1'/></body>"),
     "more than 6 joints on one body"},
    {"<mujoco><contact><pair geom1='a' geom2='b'/></contact></mujoco>", "there is no geom 'a'"},
    {"<mujoco><keyframe><key act='1'/></keyframe></mujoco>", "act of this keyframe has 1 numbers"},
    {"<mujoco><keyframe><key mquat='1 0 0 0'/></keyframe></mujoco>",
     "mquat of this keyframe has 4"},
    {"<mujoco><worldbody>\n<body><freejoint/><geom size='1e30' "
     "mass='1e38'/></body></worldbody></mujoco>",
     "robot.xml:2: mass or inertia of this body is beyond 1e+30"},
    {"<mujoco><option><flag gravity='off'/></option></mujoco>", "gravity of <flag> must be one of"},
    {"<mujoco><include file='robot.xml'/></mujoco>", "'robot.xml' includes itself"},
    {"<mujoco><include file='nowhere.xml'/></mujoco>", "cannot read the included file"},
    {"<mujoco><compiler eulerseq='abc'/></mujoco>", "eulerseq must be three of"},
    {"<mujoco><compiler angle='grad'/></mujoco>", "angle of <compiler> must be one of"},
    {"<mujoco><default><default/></default></mujoco>", "a nested <default> needs a class"},
    {"<mujoco><actuator><motor/></actuator></mujoco>", "this actuator acts on nothing"},
    {"<mujoco><actuator><motor joint='j'/></actuator></mujoco>", "there is no joint 'j'"},
    {"<mujoco><contact><exclude body1='a' body2='b'/></contact></mujoco>", "there is no body 'a'"},
    {"<mujoco><keyframe><key qpos='1'/></keyframe></mujoco>", "has 1 numbers, the model needs 0"},
    {"<robot><link name='a'/><link name='a'/></robot>", "there are two links 'a'"},
    {"<robot><joint name='j' type='fixed'/></robot>", "names a link '' that is not there"},
    {"<robot><link name='a'/><link name='b'/><joint name='j' type='bent'><parent link='a'/><child "
     "link='b'/></joint></robot>",
     "type of <joint> must be one of revolute"},
    {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/><child "
     "link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"
     "</robot>",
     "is part of a loop of joints"},
};

static void bad_files_get_one_line(void **state)
{
  (void)state;
  tn_import_def def = quiet();
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    const refusal *r = &refusals[i];
    messages = (test_log){0};
    tn_model *model = tn_model_parse("robot.xml", r->text, strlen(r->text), &def);
    if (model || messages.count != 1 || !strstr(messages.last, r->message)) {
      fail_msg("%s: %d messages, '%s' instead of '%s'", r->text, messages.count, messages.last,
               r->message);
    }
  }
  tn_import_def bad = {.log = test_collect, .log_context = &messages};
  assert_null(tn_model_parse("robot.xml", "<mujoco/>", 9, &bad));
  assert_non_null(strstr(messages.last, "tn_default_import_def"));
  assert_null(tn_model_load("nowhere.xml", &def));
  assert_non_null(strstr(messages.last, "nowhere.xml: cannot be opened"));
}

static void deep_files_are_refused(void **state)
{
  (void)state;
  enum { DEPTH = 100000 };
  static const char tag[] = "<body>";
  char *text = malloc(DEPTH * sizeof tag + 64);
  assert_non_null(text);
  char *end = text + sprintf(text, "<mujoco><worldbody>");
  for (int i = 0; i < DEPTH; ++i) {
    memcpy(end, tag, sizeof tag);
    end += sizeof tag - 1;
  }
  tn_import_def def = quiet();
  assert_null(tn_model_parse("robot.xml", text, (size_t)(end - text), &def));
  assert_non_null(strstr(messages.last, "nested too deeply"));
  free(text);
}

// Two files that include each other, and JSON that is nested as deep.
static void cycles_and_nests_are_refused(void **state)
{
  (void)state;
  static const char a[] = "<mujoco>\n<include file='cycle_b.xml'/></mujoco>";
  static const char b[] = "<mujoco>\n\n<include file='cycle_a.xml'/></mujoco>";
  write_file("cycle_a.xml", a, sizeof a - 1);
  write_file("cycle_b.xml", b, sizeof b - 1);
  tn_import_def def = quiet();
  assert_null(tn_model_load("cycle_a.xml", &def));
  assert_non_null(strstr(messages.last, "cycle_b.xml:3: 'cycle_a.xml' includes itself"));
  enum { DEPTH = 100000 };
  char *text = malloc(DEPTH + 32);
  assert_non_null(text);
  int start = sprintf(text, "{\"meshes\": ");
  memset(text + start, '[', DEPTH);
  assert_null(tn_model_parse("scene.json", text, (size_t)(start + DEPTH), &def));
  assert_non_null(strstr(messages.last, "scene.json:1: not well-formed JSON"));
  free(text);
}

// ---------------------------------------------------------------------------------------------
// Damaged texts

static const char *const seeds[] = {
    "<mujoco><compiler angle='radian' eulerseq='zyx'/><default><geom density='1'/><default "
    "class='c'><joint damping='1'/></default></default><asset><mesh name='m' vertex='0 0 0 1 0 0 0 "
    "1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3'/><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' "
    "elevation='0 1 2 3'/></asset><worldbody><geom type='hfield' hfield='h'/><body name='a' "
    "childclass='c'><freejoint/><geom type='mesh' mesh='m'/><site name='s'/><frame pos='1 0 0'>"
    "<body name='b' euler='1 2 3'><joint name='j' range='0 1'/><joint name='k' type='slide'/>"
    "<geom type='capsule' fromto='0 0 0 1 1 1' size='.1'/></body></frame></body><replicate "
    "count='3' offset='1 0 0'><body><geom type='box' mesh='m'/></body></replicate></worldbody>"
    "<tendon><fixed name='t'><joint joint='j' coef='2'/></fixed><spatial><site site='s'/></spatial>"
    "</tendon><equality><weld body1='a' body2='b'/><joint joint1='j' joint2='k'/></equality>"
    "<actuator><position joint='j' kp='3'/><general tendon='t' gainprm='1 2 3'/></actuator>"
    "<sensor><gyro site='s'/></sensor><contact><exclude body1='a' body2='b'/></contact><keyframe>"
    "<key qpos='0 0 0 1 0 0 0 1 2'/></keyframe></mujoco>",
    "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
    "</inertial><collision><geometry><box size='1 2 3'/></geometry></collision></link><link "
    "name='b'><collision><origin rpy='1 2 3'/><geometry><cylinder radius='1' length='2'/>"
    "</geometry></collision></link><joint name='j' type='continuous'><parent link='a'/><child "
    "link='b'/><axis xyz='0 1 0'/><dynamics damping='1'/></joint></robot>",
};

// Replaces, removes and repeats characters, and swaps in pieces that mean something.
static size_t damage(char *text, size_t length, size_t capacity, uint32_t *rng)
{
  static const char *const pieces[] = {"'",      "<",    "/>",  "-1",  "1e9",
                                       "1e-300", "body", "inf", "&#0;"};
  int changes = 1 + (int)(test_random(rng) * 6.0f);
  for (int i = 0; i < changes; ++i) {
    size_t at = (size_t)(test_random(rng) * (float)length) % length;
    size_t span = 1 + (size_t)(test_random(rng) * 20.0f);
    const char *piece = pieces[(size_t)(test_random(rng) * 9.0f) % 9];
    size_t more = strlen(piece);
    switch ((int)(test_random(rng) * 4.0f)) {
    case 0:
      text[at] = (char)(32.0f + test_random(rng) * 95.0f);
      break;
    case 1:
      span = span < length - at ? span : length - at - 1;
      memmove(text + at, text + at + span, length - at - span);
      length -= span;
      break;
    default:
      if (length + more < capacity) {
        memmove(text + at + more, text + at, length - at);
        memcpy(text + at, piece, more);
        length += more;
      }
    }
  }
  return length;
}

static void damaged_texts_do_no_harm(void **state)
{
  (void)state;
  tn_import_def def = quiet();
  uint32_t rng = 7;
  int read = 0, cases = test_cases(3000, 100000);
  for (int i = 0; i < cases; ++i) {
    char text[4096];
    const char *seed = seeds[i % 2];
    size_t length = strlen(seed);
    memcpy(text, seed, length + 1);
    length = damage(text, length, sizeof text, &rng);
    messages = (test_log){0};
    tn_model *model = tn_model_parse("robot.xml", text, length, &def);
    if (!model && messages.count != 1) {
      fail_msg("%d messages for %.*s", messages.count, (int)length, text);
    }
    read += model != NULL;
    tn_model_destroy(model);
  }
  assert_in_range(read, cases / 100, cases - cases / 100); // neither all nor none are readable
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_are_those_of_the_geoms),
      cmocka_unit_test(keyframes_place_the_bodies),
      cmocka_unit_test(names_and_controls_are_readable),
      cmocka_unit_test(defaults_come_from_classes),
      cmocka_unit_test(urdf_links_hang_on_joints),
      cmocka_unit_test(everything_is_in_the_report),
      cmocka_unit_test(missing_meshes_are_left_out),
      cmocka_unit_test(meshes_have_their_volume),
      cmocka_unit_test(urdf_finds_meshes_in_the_mesh_folder),
      cmocka_unit_test(copies_stand_where_they_are_put),
      cmocka_unit_test(filters_are_an_or_of_two_tests),
      cmocka_unit_test(related_bodies_do_not_collide),
      cmocka_unit_test(a_rod_swings_by_its_law),
      cmocka_unit_test(an_angle_has_two_parts),
      cmocka_unit_test(parts_cover_the_solid),
      cmocka_unit_test(bad_meshes_have_no_parts),
      cmocka_unit_test(equal_joints_follow_their_polynomial),
      cmocka_unit_test(mimic_joints_follow),
      cmocka_unit_test(tendon_over_a_joint_balances),
      cmocka_unit_test(tendon_over_a_pulley_holds),
      cmocka_unit_test(bad_files_get_one_line),
      cmocka_unit_test(deep_files_are_refused),
      cmocka_unit_test(cycles_and_nests_are_refused),
      cmocka_unit_test(damaged_texts_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
