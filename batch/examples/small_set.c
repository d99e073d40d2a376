#include "small_set.h"

#include <string.h>

#define LIMBS 15
#define BOXES 20
#define LINKS 20

static const tn_body_id none = {0};

static tn_body_id add_body(tn_world *world, tn_body_def *def, tn_shape_def *shape, float mass,
                           int group)
{
  tn_body_id body = tn_body_create(world, def);
  shape->filter.group = group;
  tn_shape_create(world, body, shape);
  tn_body_set_mass_from_shapes(world, body);
  tn_body_set_mass(world, body, tn_mass_scaled_to(tn_body_mass(world, body), mass));
  return body;
}

static void add_ground(tn_world *world)
{
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, none, &plane);
}

static tn_joint_def joint_of(const tn_world *world, tn_joint_kind kind, tn_body_id a, tn_body_id b,
                             tn_pos at, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  tn_joint_def_at(world, &def, at, axis);
  return def;
}

static void make_chain(tn_world *world)
{
  tn_body_id last = none;
  for (int i = 0; i < LINKS; ++i) {
    tn_body_def link = tn_default_body_def();
    link.position = tn_p3(0.2 * i + 0.1, 10.0, 0.0);
    link.mass = tn_mass_box(tn_v3(0.1f, 0.03f, 0.03f), 1000.0f);
    tn_body_id body = tn_body_create(world, &link);
    tn_joint_def ball = joint_of(world, TN_JOINT_BALL, last, body, tn_p3(0.2 * i, 10.0, 0.0),
                                 tn_v3(1.0f, 0.0f, 0.0f));
    tn_joint_create(world, &ball);
    last = body;
  }
}

// ---------------------------------------------------------------------------------------------
// Ragdoll

typedef struct limb {
  tn_vec3 center;
  float radius, half_length, mass;
  int parent; // -1: none
  tn_joint_kind kind;
  tn_vec3 joint;
  float lo, hi; // about the axis of a hinge, twist of a ball joint
  float swing;
} limb;

#define BALL TN_JOINT_BALL
#define HINGE TN_JOINT_HINGE

static const limb limbs[LIMBS] = {
    {{0.0f, 1.0f, 0.0f}, 0.14f, 0.06f, 12.0f, -1, BALL, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, 0.0f},
    {{0.0f, 1.33f, 0.0f}, 0.16f, 0.1f, 24.0f, 0, BALL, {0.0f, 1.14f, 0.0f}, -0.4f, 0.4f, 0.5f},
    {{0.0f, 1.7f, 0.0f}, 0.1f, 0.04f, 5.0f, 1, BALL, {0.0f, 1.56f, 0.0f}, -0.8f, 0.8f, 0.5f},
    {{0.23f, 1.32f, 0.0f}, 0.05f, 0.12f, 2.5f, 1, BALL, {0.23f, 1.47f, 0.0f}, -0.8f, 0.8f, 1.5f},
    {{-0.23f, 1.32f, 0.0f}, 0.05f, 0.12f, 2.5f, 1, BALL, {-0.23f, 1.47f, 0.0f}, -0.8f, 0.8f, 1.5f},
    {{0.23f, 1.02f, 0.0f}, 0.04f, 0.13f, 2.0f, 3, HINGE, {0.23f, 1.17f, 0.0f}, -2.4f, 0.0f, 0.0f},
    {{-0.23f, 1.02f, 0.0f}, 0.04f, 0.13f, 2.0f, 4, HINGE, {-0.23f, 1.17f, 0.0f}, -2.4f, 0.0f, 0.0f},
    {{0.09f, 0.68f, 0.0f}, 0.075f, 0.15f, 8.0f, 0, BALL, {0.09f, 0.9f, 0.0f}, -0.4f, 0.4f, 1.0f},
    {{-0.09f, 0.68f, 0.0f}, 0.075f, 0.15f, 8.0f, 0, BALL, {-0.09f, 0.9f, 0.0f}, -0.4f, 0.4f, 1.0f},
    {{0.09f, 0.27f, 0.0f}, 0.055f, 0.16f, 4.0f, 7, HINGE, {0.09f, 0.47f, 0.0f}, 0.0f, 2.4f, 0.0f},
    {{-0.09f, 0.27f, 0.0f}, 0.055f, 0.16f, 4.0f, 8, HINGE, {-0.09f, 0.47f, 0.0f}, 0.0f, 2.4f, 0.0f},
    {{0.23f, 0.81f, 0.0f}, 0.03f, 0.04f, 0.4f, 5, BALL, {0.23f, 0.87f, 0.0f}, -0.3f, 0.3f, 1.0f},
    {{-0.23f, 0.81f, 0.0f}, 0.03f, 0.04f, 0.4f, 6, BALL, {-0.23f, 0.87f, 0.0f}, -0.3f, 0.3f, 1.0f},
    {{0.09f, 0.05f, 0.06f}, 0.05f, 0.07f, 1.0f, 9, HINGE, {0.09f, 0.07f, 0.0f}, -0.5f, 0.5f, 0.0f},
    {{-0.09f, 0.05f, 0.06f},
     0.05f,
     0.07f,
     1.0f,
     10,
     HINGE,
     {-0.09f, 0.07f, 0.0f},
     -0.5f,
     0.5f,
     0.0f},
};

static void make_ragdoll(tn_world *world)
{
  add_ground(world);
  tn_pos foot = tn_p3(0.0, 0.15, 0.0);
  tn_quat turn = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.3f);
  tn_body_id ids[LIMBS];
  for (int i = 0; i < LIMBS; ++i) {
    const limb *l = &limbs[i];
    tn_shape_def capsule = tn_default_shape_def(TN_SHAPE_CAPSULE);
    capsule.radius = l->radius;
    capsule.half_length = l->half_length;
    if (i >= LIMBS - 2) { // feet
      capsule.rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.0f, 0.0f), 0.5f * TN_PI);
    }
    tn_body_def def = tn_default_body_def();
    def.position = tn_offset(foot, tn_rotate(turn, l->center));
    def.rotation = turn;
    ids[i] = add_body(world, &def, &capsule, l->mass, -1);
    if (l->parent < 0) {
      continue;
    }
    tn_vec3 axis = l->kind == HINGE ? tn_v3(1.0f, 0.0f, 0.0f) : tn_v3(0.0f, -1.0f, 0.0f);
    tn_joint_def joint =
        joint_of(world, l->kind, ids[l->parent], ids[i], tn_offset(foot, tn_rotate(turn, l->joint)),
                 tn_rotate(turn, axis));
    joint.angular[0] = tn_between(l->lo, l->hi);
    if (l->kind == BALL) {
      joint.swing = l->swing;
    }
    joint.axis[TN_ANGULAR_A].friction = 0.5f;
    tn_joint_create(world, &joint);
  }
}

// ---------------------------------------------------------------------------------------------
// Arm, pile, cloth

static tn_body_id add_link(tn_world *world, tn_body_id parent, tn_pos at, tn_vec3 axis,
                           float length)
{
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.06f, 0.5f * length, 0.06f);
  tn_body_def def = tn_default_body_def();
  def.position = tn_offset(at, tn_v3(0.0f, 0.5f * length, 0.0f));
  tn_body_id body = add_body(world, &def, &box, 3.0f, -1);
  tn_joint_def joint = joint_of(world, TN_JOINT_HINGE, parent, body, at, axis);
  joint.angular[0] = tn_between(-1.5f, 1.5f);
  joint.axis[TN_ANGULAR_A].drive = tn_servo(0.0f, 1000.0f, 5.0f);
  joint.axis[TN_ANGULAR_A].drive.limits = tn_between(-200.0f, 200.0f);
  tn_joint_create(world, &joint);
  return body;
}

// A trunk of three links with servos, two arms of four.
static void make_arm(tn_world *world)
{
  add_ground(world);
  const tn_vec3 axes[3] = {{0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}};
  tn_body_id trunk = none;
  tn_pos at = tn_p3(0.0, 0.5, 0.0);
  for (int i = 0; i < 3; ++i) {
    trunk = add_link(world, trunk, at, axes[i], 0.4f);
    at.y += 0.4;
  }
  for (int side = -1; side <= 1; side += 2) {
    tn_body_id hand = trunk;
    tn_pos elbow = tn_offset(at, tn_v3(0.2f * (float)side, 0.0f, 0.0f));
    for (int i = 0; i < 4; ++i) {
      hand = add_link(world, hand, elbow, axes[(i + 1) % 3], 0.3f);
      elbow.y += 0.3;
    }
  }
}

static void make_pile(tn_world *world)
{
  add_ground(world);
  for (int i = 0; i < BOXES; ++i) {
    tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
    box.half_extents = tn_v3(0.25f, 0.2f, 0.15f);
    tn_body_def def = tn_default_body_def();
    def.position = tn_p3(0.35 * (i % 2) + 0.05 * (i % 3), 0.3 + 0.45 * (i / 4), 0.35 * (i / 2 % 2));
    def.rotation = tn_quat_axis_angle(tn_v3(0.3f, 1.0f, 0.1f), 0.37f * (float)i);
    add_body(world, &def, &box, 10.0f, 0);
  }
}

static void make_cloth(tn_world *world)
{
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = 0.4f;
  tn_shape_create(world, none, &ball);
  tn_soft_def cloth = tn_default_soft_def();
  if (tn_soft_mesh_cloth(&cloth, 20, 20, 1.0f, 1.0f)) {
    cloth.position = tn_p3(0.0, 0.5, 0.0);
    cloth.radius = 0.01f;
    tn_soft_create(world, &cloth);
    tn_soft_mesh_free(&cloth);
  }
}

tn_world *small_set_make(const char *name, const tn_world_def *def)
{
  const struct {
    const char *name;
    void (*make)(tn_world *world);
  } kinds[] = {{"chain20", make_chain},
               {"ragdoll15", make_ragdoll},
               {"arm11", make_arm},
               {"pile20", make_pile},
               {"cloth400", make_cloth}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(name, kinds[i].name) == 0) {
      tn_world *world = tn_world_create(def);
      kinds[i].make(world);
      return world;
    }
  }
  return NULL;
}
