// Bodies of every shape that fall on a plane, a mesh, a height field and two wires. Depends on the
// library only, so that hash_main.c can be built for any target.
#ifndef TENON_TEST_HEAP_H
#define TENON_TEST_HEAP_H

#include <tenon/tenon.h>

static inline tn_shape_def heap_material(tn_shape_def def, int variant)
{
  def.material.static_friction = 0.3f + 0.1f * (float)(variant % 5);
  def.material.dynamic_friction = 0.3f;
  def.material.restitution = variant % 4 == 1 ? 0.5f : 0.0f;
  def.material.rolling_friction = variant % 3 == 1 ? 0.01f : 0.0f;
  def.material.spinning_friction = variant % 3 == 2 ? 0.01f : 0.0f;
  def.material.compliance = variant % 7 == 3 ? 1e-5f : 0.0f;
  def.material.combine_friction = (tn_combine)(variant % 4);
  return def;
}

static inline void heap_hull(tn_world *world, tn_shape_def *def)
{
  tn_vec3 points[6] = {{0.3f, 0.0f, 0.0f},  {-0.3f, 0.0f, 0.0f}, {0.0f, 0.3f, 0.0f},
                       {0.0f, -0.3f, 0.0f}, {0.0f, 0.0f, 0.3f},  {0.05f, 0.0f, -0.3f}};
  def->geometry = tn_hull_create(world, points, 6, 0);
}

static inline tn_shape_def heap_shape(tn_world *world, int index)
{
  static const tn_shape_kind kinds[6] = {TN_SHAPE_BOX,      TN_SHAPE_SPHERE, TN_SHAPE_CAPSULE,
                                         TN_SHAPE_CYLINDER, TN_SHAPE_CONE,   TN_SHAPE_HULL};
  tn_shape_def def = tn_default_shape_def(kinds[index % 6]);
  def.radius = 0.2f;
  def.half_length = 0.2f;
  def.half_extents = tn_v3(0.25f, 0.15f, 0.2f);
  def.hit_events = true;
  if (def.kind == TN_SHAPE_HULL) {
    heap_hull(world, &def);
  }
  return heap_material(def, index);
}

// Ground: a mesh that is a bowl, a wavy height field, and a wire as a rail.
static inline void heap_ground(tn_world *world)
{
  tn_body_id none = {0, 0, 0};
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, none, &plane);

  tn_vec3 rim[5] = {{-1.0f, 0.8f, -1.0f},
                    {1.0f, 0.8f, -1.0f},
                    {1.0f, 0.8f, 1.0f},
                    {-1.0f, 0.8f, 1.0f},
                    {0.0f, 0.2f, 0.0f}};
  const int triangles[12] = {0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0};
  tn_shape_def mesh = tn_default_shape_def(TN_SHAPE_MESH);
  mesh.geometry = tn_mesh_create(world, rim, 5, triangles, 4);
  tn_shape_create(world, none, &mesh);

  float heights[36];
  for (int i = 0; i < 36; ++i) {
    heights[i] = 0.3f + 0.2f * tn_sin(1.3f * (float)i);
  }
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, 6, 6, 0.5f, 0.5f);
  field.position = tn_v3(3.0f, 0.0f, 0.0f);
  tn_shape_create(world, none, &field);

  for (int side = -1; side <= 1; side += 2) {
    tn_wire_point points[3];
    for (int i = 0; i < 3; ++i) {
      float x = (float)(i - 1);
      points[i].position = tn_v3(x, 0.6f + 0.2f * x * x, 3.0f + 0.12f * (float)side);
      points[i].tangent = tn_v3(1.0f, 0.4f * x, 0.0f);
    }
    tn_shape_def wire = tn_default_shape_def(TN_SHAPE_WIRE);
    wire.radius = 0.05f;
    wire.geometry = tn_wire_create(world, points, 3, false);
    tn_shape_create(world, none, &wire);
  }
}

// One column of bodies above each kind of ground.
static inline void heap_build(tn_world *world, int layers)
{
  static const float column[4][2] = {{0.0f, 0.0f}, {3.0f, 0.0f}, {0.0f, 3.0f}, {3.0f, 3.0f}};
  heap_ground(world);
  for (int i = 0; i < 16 * layers; ++i) {
    tn_body_def def = tn_default_body_def();
    def.mass = tn_mass_scaled_to(tn_mass_box(tn_v3(0.5f, 0.5f, 0.5f), 1.0f), 1.0f);
    const float *at = column[i % 4];
    float x = at[0] + 0.35f * (float)(i / 4 % 2) - 0.17f;
    float z = at[1] + 0.35f * (float)(i / 8 % 2) - 0.17f;
    int layer = i / 16;
    def.position = tn_p3((double)x, 1.2 + 0.5 * (double)layer, (double)z);
    def.rotation = tn_quat_axis_angle(tn_v3(1.0f, 0.5f, 0.2f), 0.4f * (float)i);
    tn_body_id body = tn_body_create(world, &def);
    tn_shape_def shape = heap_shape(world, i + i / 16);
    tn_shape_create(world, body, &shape);
    tn_body_set_mass_from_shapes(world, body);
  }
}

#endif
