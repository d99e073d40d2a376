// Memory that runs out in what is no recorded call: each allocation of mesh helpers, worlds,
// snapshots, articulations and readers of files fails once. The call says so, nothing is
// lost, and what is there already stays as it is.
#include "failing_memory.h"
#include "support.h"

#include <tenon/articulation.h>
#include <tenon/import.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_ALLOCATIONS = 100000 };

// Does all of a task and gives back what it got; whether all of it was done.
typedef bool task_fn(void *context);

// Of a task with more than `most` allocations as many are tried, spread over all.
static void fail_each(const char *name, task_fn *task, void *context, int most)
{
  memory_fail_at(-1);
  assert_true(task(context));
  int asked = memory_asked();
  int tried = asked < most ? asked : most;
  for (int i = 0; i < tried; ++i) {
    int n = (int)((long)asked * i / tried);
    long live = memory_live();
    test_forget_messages();
    memory_fail_at(n);
    bool done = task(context);
    assert_true(memory_has_failed());
    if (done) {
      fail_msg("%s, allocation %d of %d: it was done", name, n, asked);
    }
    if (memory_live() != live) {
      fail_msg("%s, allocation %d: %ld more are in use", name, n, memory_live() - live);
    }
  }
  print_message("%s: %d of %d allocations\n", name, tried, asked);
  assert_true(tried > 0);
}

// ---------------------------------------------------------------------------------------------
// Meshes

typedef bool mesh_fn(tn_soft_def *def);

static tn_soft_def surface; // of a sphere

static bool make_cloth(tn_soft_def *def)
{
  return tn_soft_mesh_cloth(def, 4, 5, 1.0f, 1.0f);
}

static bool make_rope(tn_soft_def *def)
{
  return tn_soft_mesh_rope(def, 5, 1.0f);
}

static bool make_hexahedra(tn_soft_def *def)
{
  return tn_soft_mesh_box(def, (const int[3]){2, 1, 2}, tn_v3(0.4f, 0.2f, 0.4f), false);
}

static bool make_tetrahedra(tn_soft_def *def)
{
  return tn_soft_mesh_box(def, (const int[3]){2, 1, 2}, tn_v3(0.4f, 0.2f, 0.4f), true);
}

static bool make_ball(tn_soft_def *def)
{
  return tn_soft_mesh_ball(def, 2, 0.4f, true);
}

static bool make_tube(tn_soft_def *def)
{
  return tn_soft_mesh_tube(def, (const int[3]){8, 1, 2}, 0.2f, 0.3f, 0.2f);
}

static bool make_sphere(tn_soft_def *def)
{
  return tn_soft_mesh_sphere(def, 2, 0.5f);
}

static bool make_triangles(tn_soft_def *def)
{
  return tn_soft_mesh_triangles(def, surface.vertices, surface.vertex_count, surface.triangles,
                                surface.triangle_count);
}

static bool make_solid(tn_soft_def *def)
{
  return tn_soft_mesh_solid(def, surface.vertices, surface.vertex_count, surface.triangles,
                            surface.triangle_count, 0.2f, true);
}

// A definition that a helper could not fill is as it was.
static bool run_mesh(void *context)
{
  mesh_fn *make = *(mesh_fn **)context;
  tn_soft_def def = tn_default_soft_def(), empty = def;
  if (!make(&def)) {
    assert_memory_equal(&def, &empty, sizeof def);
    return false;
  }
  tn_soft_mesh_free(&def);
  return true;
}

static bool run_tethers(void *context)
{
  tn_soft_def *def = context;
  const int anchors[2] = {0, 3};
  int tethers = def->tether_count;
  bool done = tn_soft_mesh_tethers(def, anchors, 2);
  if (!done) {
    assert_int_equal(def->tether_count, tethers);
    return false;
  }
  free((void *)def->tethers);
  free((void *)def->tether_lengths);
  def->tethers = NULL;
  def->tether_lengths = NULL;
  def->tether_count = 0;
  return true;
}

static bool run_skin(void *context)
{
  const tn_soft_def *def = context;
  tn_soft_skin skin = {0};
  bool done = tn_soft_skin_bind(&skin, def, surface.vertices, surface.vertex_count,
                                surface.triangles, surface.triangle_count);
  tn_soft_skin_free(&skin);
  return done;
}

static bool run_hull_mass(void *context)
{
  (void)context;
  return tn_mass_hull(surface.vertices, surface.vertex_count, 1.0f).mass > 0.0f;
}

static bool run_mesh_mass(void *context)
{
  (void)context;
  return tn_mass_mesh(surface.vertices, surface.vertex_count, surface.triangles,
                      surface.triangle_count, 1.0f)
             .mass > 0.0f;
}

static void mesh_helpers_survive_failed_allocations(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    mesh_fn *make;
  } helpers[] = {
      {"cloth", make_cloth},           {"rope", make_rope},           {"hexahedra", make_hexahedra},
      {"tetrahedra", make_tetrahedra}, {"ball", make_ball},           {"tube", make_tube},
      {"sphere", make_sphere},         {"triangles", make_triangles}, {"solid", make_solid}};
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; ++i) {
    mesh_fn *make = helpers[i].make;
    fail_each(helpers[i].name, run_mesh, &make, MOST_ALLOCATIONS);
  }
  tn_soft_def cloth = tn_default_soft_def(), ball = cloth;
  assert_true(make_cloth(&cloth) && make_ball(&ball));
  fail_each("tethers", run_tethers, &cloth, MOST_ALLOCATIONS);
  fail_each("skin", run_skin, &ball, MOST_ALLOCATIONS);
  fail_each("mass of a hull", run_hull_mass, NULL, MOST_ALLOCATIONS);
  fail_each("mass of a mesh", run_mesh_mass, NULL, MOST_ALLOCATIONS);
  tn_soft_mesh_free(&cloth);
  tn_soft_mesh_free(&ball);
}

// ---------------------------------------------------------------------------------------------
// Worlds

static tn_world *small_world(void)
{
  tn_world *world = test_world(2, TN_METHOD_TENON);
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE), hull = ball;
  hull.kind = TN_SHAPE_HULL;
  hull.geometry = tn_hull_create(world, surface.vertices, surface.vertex_count, 32);
  tn_shape_create(world, test_no_body, &ground);
  tn_body_id body[4];
  for (int i = 0; i < 4; ++i) {
    body[i] = test_body(world, TN_BODY_DYNAMIC, tn_p3(0.7 * i, 0.5, 0.0));
    tn_shape_create(world, body[i], i % 2 ? &hull : &ball);
  }
  test_joint(world, TN_JOINT_HINGE, body[0], body[1], tn_p3(0.3, 0.5, 0.0), tn_v3(0, 0, 1));
  tn_soft_def cloth = tn_default_soft_def();
  assert_true(tn_soft_mesh_cloth(&cloth, 4, 4, 1.0f, 1.0f));
  cloth.position = tn_p3(0.0, 2.0, 0.0);
  tn_soft_create(world, &cloth);
  tn_soft_mesh_free(&cloth);
  test_run(world, 1.0f / 60.0f, 3);
  return world;
}

static bool run_world(void *context)
{
  tn_world_def def = test_world_def(4, TN_METHOD_TENON);
  def.threads = *(const int *)context;
  tn_world *world = tn_world_create(&def);
  tn_world_destroy(world);
  return world != NULL;
}

typedef struct copy_task {
  tn_world *from, *to;
  void *bytes;
  size_t size;
  uint64_t hash;
} copy_task;

static bool run_copy(void *context)
{
  const copy_task *t = context;
  tn_world_def def = test_world_def(2, TN_METHOD_TENON);
  tn_world *copy = tn_world_copy(t->from, &def);
  assert_true(!copy || tn_world_hash(copy) == t->hash);
  tn_world_destroy(copy);
  return copy != NULL;
}

// Restored into a fresh world, so that all its memory is asked for; one that fails changes nothing.
static bool run_restore(void *context)
{
  const copy_task *t = context;
  tn_world_def def = test_world_def(2, TN_METHOD_TENON);
  tn_world *world = tn_world_create(&def);
  uint64_t before = tn_world_hash(world);
  bool done = world && tn_world_restore(world, t->bytes, t->size);
  assert_true(!world || tn_world_hash(world) == (done ? t->hash : before));
  tn_world_destroy(world);
  return done;
}

static bool run_articulation(void *context)
{
  const copy_task *t = context;
  tn_body_id root[1];
  tn_world_bodies(t->from, root, 1);
  tn_articulation_def def = tn_default_articulation_def();
  def.roots = root;
  def.root_count = 1;
  tn_articulation *made = tn_articulation_create(t->from, &def);
  tn_articulation_destroy(made);
  return made != NULL;
}

static void worlds_and_snapshots_survive_failed_allocations(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 2; ++threads) {
    fail_each("world", run_world, &threads, MOST_ALLOCATIONS);
  }
  copy_task t = {.from = small_world()};
  t.hash = tn_world_hash(t.from);
  t.size = tn_world_save(t.from, NULL, 0);
  t.bytes = malloc(t.size);
  assert_true(t.bytes && tn_world_save(t.from, t.bytes, t.size) == t.size);
  fail_each("copy", run_copy, &t, MOST_ALLOCATIONS);
  fail_each("restore", run_restore, &t, MOST_ALLOCATIONS);
  fail_each("articulation", run_articulation, &t, MOST_ALLOCATIONS);
  assert_true(tn_world_hash(t.from) == t.hash);
  free(t.bytes);
  tn_world_destroy(t.from);
  test_forget_messages();
}

// ---------------------------------------------------------------------------------------------
// Readers

static void no_message(tn_log_level level, const char *message, void *context)
{
  (void)level, (void)message, (void)context;
}

typedef struct model_task {
  const char *path;
  int bodies, shapes, joints; // of the whole robot; 0: not known yet
} model_task;

// A robot that is whole, or the world's log says what it lacks.
static bool is_whole(const tn_world *world, model_task *t)
{
  tn_counters has = tn_world_counters(world);
  if (t->bodies == 0) {
    t->bodies = has.bodies;
    t->shapes = has.shapes;
    t->joints = has.joints;
  }
  return has.bodies == t->bodies && has.joints == t->joints &&
         (has.shapes == t->shapes || strstr(test_messages.last, "out of memory"));
}

// Also false for a robot that was built whole although an allocation failed.
static bool run_model(void *context)
{
  model_task *t = context;
  bool first = t->bodies == 0;
  tn_import_def def = tn_default_import_def();
  def.log = no_message;
  tn_model *model = tn_model_load(t->path, &def);
  tn_world_def world_def = test_world_def(2, TN_METHOD_TENON);
  tn_world *world = model ? tn_world_create(&world_def) : NULL;
  tn_instance *instance = world ? tn_instance_create(world, model, NULL) : NULL;
  bool done = instance != NULL;
  assert_true(!world || (done ? is_whole(world, t) : tn_world_bodies(world, NULL, 0) == 0));
  tn_instance_destroy(instance);
  tn_world_destroy(world);
  tn_model_destroy(model);
  return done && first;
}

static bool run_decompose(void *context)
{
  (void)context;
  tn_convex_parts *parts = tn_convex_decompose(surface.vertices, surface.vertex_count,
                                               surface.triangles, surface.triangle_count, 2, 0.05f);
  tn_convex_parts_free(parts);
  return parts != NULL;
}

static void readers_survive_failed_allocations(void **state)
{
  (void)state;
  model_task arm = {.path = ROBOT_FOLDER "/arm/arm.xml"};
  fail_each("arm", run_model, &arm, test_cases(40, 4000));
  fail_each("convex parts", run_decompose, NULL, test_cases(8, 30));
}

int main(void)
{
  surface = tn_default_soft_def();
  if (!tn_soft_mesh_sphere(&surface, 1, 0.5f)) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mesh_helpers_survive_failed_allocations),
      cmocka_unit_test(worlds_and_snapshots_survive_failed_allocations),
      cmocka_unit_test(readers_survive_failed_allocations),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tn_soft_mesh_free(&surface);
  return failed;
}
