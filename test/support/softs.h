// Cloth, soft solids, a balloon and a rope with a box on it, above a plane. Depends on the library
// only, so that hash_main.c can be built for any target.
#ifndef TENON_TEST_SOFTS_H
#define TENON_TEST_SOFTS_H

#include <tenon/tenon.h>

static inline void softs_cloth(tn_world *world)
{
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_cloth(&def, 13, 13, 1.2f, 1.2f);
  def.position = tn_p3(0.0, 1.0, 0.0);
  def.bending_stiffness = 1e-3f;
  def.self_collision = true;
  def.radius = 0.04f;
  def.damping = 1.0f;
  tn_soft_id cloth = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_soft_set_pinned(world, cloth, 0, true);
}

// One cluster of all particles of a cube.
static inline void softs_cluster(tn_world *world)
{
  static const int cells[3] = {2, 2, 2};
  int all[27];
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_box(&def, cells, tn_v3(0.1f, 0.1f, 0.1f), false);
  for (int i = 0; i < 27; ++i) {
    all[i] = i;
  }
  def.clusters = all;
  def.cluster_sizes = &def.vertex_count;
  def.cluster_count = 1;
  def.hexahedron_count = 0;
  def.position = tn_p3(0.5, 0.8, -0.5);
  tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
}

static inline void softs_solids(tn_world *world)
{
  static const int cells[3] = {2, 2, 3};
  for (int i = 0; i < 2; ++i) {
    tn_soft_def def = tn_default_soft_def();
    tn_soft_mesh_box(&def, cells, tn_v3(0.15f, 0.15f, 0.2f), i == 0);
    def.position = tn_p3(0.3 * i, 1.5 + 0.5 * i, 0.1);
    def.material.restitution = 0.3f * (float)i;
    tn_soft_create(world, &def);
    tn_soft_mesh_free(&def);
  }
  softs_cluster(world);
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_sphere(&def, 2, 0.2f);
  def.position = tn_p3(-0.4, 1.4, -0.3);
  def.pressure = 1.1f;
  def.edge_compliance = 1e-4f;
  def.bending_stiffness = 1e-3f;
  def.curved_rest = true;
  tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
}

static inline void softs_rope(tn_world *world)
{
  tn_soft_def def = tn_default_soft_def();
  tn_soft_mesh_rope(&def, 10, 1.0f);
  def.position = tn_p3(0.0, 2.5, 0.5);
  tn_soft_id rope = tn_soft_create(world, &def);
  tn_soft_mesh_free(&def);
  tn_body_def body_def = tn_default_body_def();
  body_def.position = tn_p3(1.0, 2.4, 0.5);
  body_def.mass = tn_mass_box(tn_v3(0.1f, 0.1f, 0.1f), 60.0f);
  tn_body_id body = tn_body_create(world, &body_def);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.1f, 0.1f, 0.1f);
  tn_shape_create(world, body, &box);
  tn_attachment_def hold = tn_default_attachment_def();
  hold.soft = rope;
  hold.point = tn_p3(0.0, 2.5, 0.5);
  tn_attachment_create(world, &hold);
  hold.particle = 10;
  hold.body = body;
  hold.point = tn_p3(0.0, 0.1, 0.0);
  tn_attachment_create(world, &hold);
}

static inline void softs_build(tn_world *world)
{
  tn_body_id ground = {0};
  tn_shape_def plane = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, ground, &plane);
  softs_cloth(world);
  softs_solids(world);
  softs_rope(world);
}

#endif
