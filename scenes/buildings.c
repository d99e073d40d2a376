// Models of buildings: a suspension bridge and a jenga tower.
#include "build.h"

#include <math.h>

static const tn_vec3 Y_AXIS = {0.0f, 1.0f, 0.0f};
static const tn_vec3 Z_AXIS = {0.0f, 0.0f, 1.0f};

// ---------------------------------------------------------------------------------------------
// A suspension bridge along x. Two cables through nodes on a parabola, a hanger from each node to
// the deck, planks joined by hinges. The cables carry the whole load: with N spans of length a, a
// sag f and a load P at every node the horizontal force in a cable is P a N^2 / (8 f).

static const double SPAN = 1.0, SAG_SHARE = 0.15,
                    LOWEST = 0.5; // m, of the length, m above the deck
static const float HALF_DECK = 0.8f, NODE_MASS = 5.0f;

static int bridge_spans(const scene_run *run)
{
  return 2 * (int)scene_value(run, "half_spans");
}

static double bridge_sag(const scene_run *run)
{
  return SAG_SHARE * SPAN * (double)bridge_spans(run);
}

static tn_pos cable_place(const scene_run *run, int node, int side)
{
  double share = 2.0 * (double)node / (double)bridge_spans(run) - 1.0;
  return tn_p3(SPAN * (double)node, LOWEST + bridge_sag(run) * share * share,
               (double)(side ? HALF_DECK : -HALF_DECK));
}

static tn_pos deck_place(int node, int side)
{
  return tn_p3(SPAN * (double)node, 0.0, (double)(side ? HALF_DECK : -HALF_DECK));
}

static void add_deck(scene_run *run)
{
  tn_body_id last = SCENE_WORLD;
  tn_shape_def shape = scene_box_shape(tn_v3(0.49f * (float)SPAN, 0.05f, HALF_DECK));
  shape.material = scene_material(0.7f, 0.0f);
  for (int i = 0; i < bridge_spans(run) && !run->failed; ++i) {
    tn_body_def def = scene_body_def();
    def.position = tn_p3(SPAN * ((double)i + 0.5), 0.0, 0.0);
    def.linear_damping = def.angular_damping = 0.5f;
    tn_body_id plank = scene_add_solid(run, &def, &shape, (float)scene_value(run, "plank_mass"));
    tn_joint_def hinge =
        scene_joint_at(run, TN_JOINT_HINGE, last, plank, tn_p3(SPAN * (double)i, 0.0, 0.0), Z_AXIS);
    scene_add_joint(run, &hinge);
    last = plank;
  }
}

static void add_tie(scene_run *run, tn_body_id a, tn_body_id b, tn_pos from, tn_pos to)
{
  tn_joint_def tie = scene_joint_between(run, a, b, from, to);
  tie.linear[0].lo = 0.0f; // may go slack
  scene_add_joint(run, &tie);
}

// The far end of the deck hangs on the tower like on a node.
static void add_cable(scene_run *run, int side)
{
  int spans = bridge_spans(run);
  tn_body_id last = SCENE_WORLD;
  tn_shape_def shape = scene_sphere_shape(0.06f);
  shape.filter.mask = 0; // visual only
  for (int i = 1; i <= spans && !run->failed; ++i) {
    tn_body_id node = SCENE_WORLD;
    if (i < spans) {
      tn_body_def def = scene_body_def();
      def.position = cable_place(run, i, side);
      def.linear_damping = def.angular_damping = 0.5f;
      node = scene_add_solid(run, &def, &shape, NODE_MASS);
    }
    add_tie(run, last, node, cable_place(run, i - 1, side), cable_place(run, i, side));
    add_tie(run, node, run->bodies[i - 1], cable_place(run, i, side), deck_place(i, side));
    last = node;
  }
}

static void add_load(scene_run *run)
{
  float mass = (float)scene_value(run, "load");
  if (mass > 0.0f) {
    tn_shape_def box = scene_box_shape(tn_v3(0.4f, 0.4f, 0.4f));
    box.material = scene_material(0.7f, 0.0f);
    tn_body_def def = scene_body_def();
    def.position = tn_p3(0.5 * SPAN * (double)bridge_spans(run), 0.8, 0.0);
    scene_add_solid(run, &def, &box, mass);
  }
}

// Visual only.
static void add_towers(scene_run *run)
{
  double height = LOWEST + bridge_sag(run) + 2.0;
  for (int i = 0; i < 4; ++i) {
    tn_shape_def tower = scene_box_shape(tn_v3(0.15f, 0.5f * (float)height, 0.15f));
    tower.filter.mask = 0;
    tn_pos top = cable_place(run, i < 2 ? 0 : bridge_spans(run), i % 2);
    tn_pos middle = tn_p3(top.x, top.y - 0.5 * height, top.z * 1.2);
    scene_add_fixed(run, (tn_transform){middle, tn_quat_identity()}, &tower);
  }
}

static void build_bridge(scene_run *run)
{
  scene_set_gravity(run);
  add_towers(run);
  add_deck(run);
  add_cable(run, 0);
  add_cable(run, 1);
  add_load(run);
  run->energy_scale = run->weighing_mass * (double)SCENE_GRAVITY * bridge_sag(run);
}

// Force in the middle of the first cable, compared with the weight of the planks.
static void measure_bridge(const scene_run *run, scene_sheet *sheet)
{
  int spans = bridge_spans(run);
  double load = (0.5 * scene_value(run, "plank_mass") + (double)NODE_MASS) * (double)SCENE_GRAVITY;
  double expected = load * SPAN * (double)(spans * spans) / (8.0 * bridge_sag(run));
  int middle = spans + 2 * (spans / 2 - 1); // each node has a cable tie and a hanger
  tn_vec3 force = tn_joint_get_state(run->world, run->joints[middle]).force;
  double lowest = 0.0;
  for (int i = 0; i < spans; ++i) {
    lowest = fmin(lowest, tn_body_position(run->world, run->bodies[i]).y);
  }
  scene_note(sheet, "pull_n", fabs((double)force.x));
  scene_note(sheet, "pull_expected_n", expected);
  scene_note(sheet, "top_drop_m", -lowest);
}

const scene scene_bridge = {
    .name = "bridge",
    .title = "A suspension bridge with a box dropped on it",
    .source = "Tenon",
    .group = SCENE_MODELS,
    .camera = {{3.0f, 5.0f, 19.0f}, {10.0f, 1.0f, 0.0f}},
    .seconds = 10.0,
    .substeps = 20,
    .parameters = {{"half_spans", 1.0, 100.0, 10.0, true,
                    "number of planks from an end to the middle"},
                   {"plank_mass", 0.1, 1e4, 50.0, false, "mass of a plank, kg"},
                   {"load", 0.0, 1e5, 100.0, false,
                    "mass of the box dropped in the middle, kg; 0: none"}},
    .build = build_bridge,
    .measure = measure_bridge,
};

// ---------------------------------------------------------------------------------------------
// A jenga tower: layers of three blocks, crosswise; in some layers the middle block is missing.

static const tn_vec3 BLOCK = {0.75f, 0.15f, 0.25f}; // half extents, ten times life size

static tn_body_def block_def(int layer, int place, uint32_t *random)
{
  tn_vec3 shift = scene_random_vector(random, 0.005f);
  tn_body_def def = scene_body_def();
  float aside = 2.02f * BLOCK.z * (float)(place - 1);
  bool across = layer % 2 == 1;
  def.position = tn_p3((double)((across ? aside : 0.0f) + shift.x),
                       (double)BLOCK.y * (2.0 * (double)layer + 1.0),
                       (double)((across ? 0.0f : aside) + shift.z));
  def.rotation = tn_quat_axis_angle(Y_AXIS, (across ? 0.5f * TN_PI : 0.0f) + 0.3f * shift.y);
  return def;
}

static void build_jenga(scene_run *run)
{
  scene_set_gravity(run);
  scene_add_ground(run, tn_p3(0.0, 0.0, 0.0), scene_material(0.5f, 0.0f));
  tn_shape_def shape = scene_box_shape(BLOCK);
  shape.material = scene_material(0.5f, 0.0f);
  int layers = (int)scene_value(run, "layers"), missing = (int)scene_value(run, "missing");
  uint32_t random = 3;
  for (int i = 0; i < layers; ++i) {
    bool has_middle = i % 2 == 0 || i / 2 >= missing;
    for (int k = 0; k < 3 && !run->failed; ++k) {
      tn_body_def def = block_def(i, k, &random);
      if (k != 1 || has_middle) {
        scene_add_solid(run, &def, &shape, 10.0f);
        run->energy_scale += 10.0 * (double)SCENE_GRAVITY * def.position.y;
      }
    }
  }
}

static void measure_jenga(const scene_run *run, scene_sheet *sheet)
{
  int layers = (int)scene_value(run, "layers");
  tn_pos top = tn_body_position(run->world, run->bodies[run->body_count - 1]);
  double drop = (double)BLOCK.y * (2.0 * (double)layers - 1.0) - top.y;
  tn_vec3 up = tn_rotate(tn_body_rotation(run->world, run->bodies[run->body_count - 1]), Y_AXIS);
  scene_note(sheet, "top_drop_m", drop);
  scene_note(sheet, "top_tilt_rad", (double)tn_acos(fminf(1.0f, up.y)));
  scene_note(sheet, "fallen", fabs(drop) < (double)BLOCK.y ? 0.0 : 1.0);
}

const scene scene_jenga = {
    .name = "jenga",
    .title = "A jenga tower with missing blocks",
    .source = "Tenon",
    .group = SCENE_MODELS,
    .camera = {{4.0f, 4.0f, 7.0f}, {0.0f, 2.5f, 0.0f}},
    .seconds = 20.0,
    .substeps = 20,
    .parameters = {{"layers", 1.0, 100.0, 18.0, true, "number of layers of three blocks of 10 kg"},
                   {"missing", 0.0, 50.0, 5.0, true,
                    "number of missing blocks, from the lowest odd layers"}},
    .build = build_jenga,
    .measure = measure_jenga,
};
