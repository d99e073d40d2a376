// Ten small worlds, the same as in worlds.mjs: prints the hash of each after 60 steps.
#include <tenon/tenon.h>

#include <inttypes.h>
#include <stdio.h>

static tn_world *world;

static tn_body_id add_body(double x, double y, double z)
{
  tn_body_def def = tn_default_body_def();
  def.position = tn_p3(x, y, z);
  return tn_body_create(world, &def);
}

static void add_shape(tn_body_id body, tn_shape_def def)
{
  tn_shape_create(world, body, &def);
}

static void add_ground(void)
{
  add_shape((tn_body_id){0}, tn_default_shape_def(TN_SHAPE_PLANE));
}

static tn_body_id add_box(double x, double y, double z)
{
  tn_body_id body = add_body(x, y, z);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_BOX);
  def.half_extents = tn_v3(0.5f, 0.25f, 0.375f);
  add_shape(body, def);
  return body;
}

static void tower(void)
{
  add_ground();
  for (int i = 0; i < 5; ++i) {
    add_box(0.0625 * i, 0.25 + 0.5 * i, 0.0);
  }
}

static void joint_at(tn_joint_kind kind, tn_body_id a, tn_body_id b, tn_pos point, tn_vec3 axis)
{
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_a = a;
  def.body_b = b;
  tn_joint_def_at(world, &def, point, axis);
  tn_joint_create(world, &def);
}

static void chain(void)
{
  tn_body_id last = {0};
  for (int i = 0; i < 6; ++i) {
    tn_body_id next = add_box(0.5 + i, 4.0, 0.0);
    joint_at(TN_JOINT_BALL, last, next, tn_p3(i, 4.0, 0.0), tn_v3(1.0f, 0.0f, 0.0f));
    last = next;
  }
}

static void hinges(void)
{
  tn_body_id last = {0};
  for (int i = 0; i < 4; ++i) {
    tn_body_id next = add_box(0.5 + i, 4.0, 0.0);
    joint_at(TN_JOINT_HINGE, last, next, tn_p3(i, 4.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    last = next;
  }
}

static void spheres(void)
{
  add_ground();
  for (int i = 0; i < 12; ++i) {
    tn_body_id body = add_body(0.25 * (i % 3), 1.0 + i, 0.125 * (i % 2));
    tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
    def.radius = 0.25f;
    def.material.restitution = 0.5f;
    add_shape(body, def);
  }
}

static void capsules(void)
{
  float heights[25];
  for (int i = 0; i < 25; ++i) {
    heights[i] = (float)(i * 7 % 5) * 0.125f;
  }
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, 5, 5, 1.0f, 1.0f);
  add_shape((tn_body_id){0}, field);
  for (int i = 0; i < 6; ++i) {
    tn_body_id body = add_body(1.0 + 0.25 * i, 2.0 + 0.5 * i, 2.0);
    tn_shape_def def = tn_default_shape_def(TN_SHAPE_CAPSULE);
    def.radius = 0.25f;
    def.half_length = 0.25f;
    add_shape(body, def);
  }
}

static void hulls(void)
{
  const tn_vec3 points[] = {{0.0f, 0.5f, 0.0f},
                            {-0.5f, -0.25f, -0.5f},
                            {0.5f, -0.25f, -0.5f},
                            {0.5f, -0.25f, 0.5f},
                            {-0.5f, -0.25f, 0.5f}};
  add_ground();
  tn_geometry_id hull = tn_hull_create(world, points, 5, 32);
  for (int i = 0; i < 5; ++i) {
    tn_body_id body = add_body(0.125 * i, 1.0 + i, 0.0);
    tn_shape_def def = tn_default_shape_def(TN_SHAPE_HULL);
    def.geometry = hull;
    add_shape(body, def);
  }
}

static void mesh(void)
{
  const tn_vec3 vertices[] = {
      {-4.0f, 0.0f, -4.0f}, {-4.0f, 0.0f, 4.0f}, {4.0f, 0.5f, 4.0f}, {4.0f, 0.5f, -4.0f}};
  const int triangles[] = {0, 1, 2, 0, 2, 3};
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_MESH);
  ground.geometry = tn_mesh_create(world, vertices, 4, triangles, 2);
  add_shape((tn_body_id){0}, ground);
  for (int i = 0; i < 4; ++i) {
    add_box(i - 2.0, 1.5 + 0.5 * i, 0.0);
  }
}

static void add_soft(tn_soft_def *def)
{
  def->position = tn_p3(0.0, 1.5, 0.0);
  tn_soft_create(world, def);
  tn_soft_mesh_free(def);
}

static void cloth(void)
{
  add_ground();
  tn_body_id body = add_body(0.0, 0.5, 0.0);
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_SPHERE);
  add_shape(body, def);
  tn_soft_def soft = tn_default_soft_def();
  tn_soft_mesh_cloth(&soft, 12, 12, 2.0f, 2.0f);
  add_soft(&soft);
}

static void rope(void)
{
  tn_soft_def soft = tn_default_soft_def();
  tn_soft_mesh_rope(&soft, 20, 2.0f);
  soft.position = tn_p3(0.0, 3.0, 0.0);
  tn_soft_id id = tn_soft_create(world, &soft);
  tn_soft_mesh_free(&soft);
  tn_soft_set_pinned(world, id, 0, true);
}

static void jelly(void)
{
  const int cells[3] = {3, 3, 3};
  add_ground();
  tn_soft_def soft = tn_default_soft_def();
  tn_soft_mesh_box(&soft, cells, tn_v3(0.5f, 0.5f, 0.5f), true);
  add_soft(&soft);
}

int main(void)
{
  void (*const make[])(void) = {tower, chain, hinges, spheres, capsules,
                                hulls, mesh,  cloth,  rope,    jelly};
  for (size_t i = 0; i < sizeof make / sizeof make[0]; ++i) {
    tn_world_def def = tn_default_world_def();
    world = tn_world_create(&def);
    make[i]();
    for (int k = 0; k < 60; ++k) {
      tn_world_step(world, 1.0f / 60.0f);
    }
    printf("%016" PRIx64 "\n", tn_world_hash(world));
    tn_world_destroy(world);
  }
  return 0;
}
