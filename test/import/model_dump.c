// Prints models as JSON for oracle.mjs: bodies with mass, centre and inertia, and their poses at
// the reference position and at every keyframe, of the model and in a world, with mass matrix and
// bias forces there. usage: model_dump [--fixed] FILE...   one line for each file
#include <tenon/import.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_numbers(const char *name, const double *values, int count)
{
  printf(", \"%s\": [", name);
  for (int i = 0; i < count; ++i) {
    printf("%s%.17g", i ? ", " : "", values[i]);
  }
  printf("]");
}

static void print_pose(const tn_model_body *b)
{
  double position[3] = {b->position.x, b->position.y, b->position.z};
  double rotation[4] = {b->rotation[3], b->rotation[0], b->rotation[1], b->rotation[2]};
  print_numbers("pos", position, 3);
  print_numbers("quat", rotation, 4);
}

// Poses of the bodies of an instance, which starts at a keyframe, and the mass of its world.
static void print_instance(tn_model *model, int keyframe)
{
  tn_world_def world_def = tn_default_world_def();
  tn_world *world = tn_world_create(&world_def);
  tn_instance_def def = tn_default_instance_def();
  def.y_up = false;
  def.keyframe = keyframe;
  tn_instance *instance = tn_instance_create(world, model, &def);
  int count = instance ? tn_model_get_counts(model).bodies : 0;
  for (int i = 0; i < count; ++i) {
    tn_transform t = tn_instance_transform(instance, i);
    double position[3] = {t.p.x, t.p.y, t.p.z};
    double rotation[4] = {(double)t.q.w, (double)t.q.x, (double)t.q.y, (double)t.q.z};
    printf("%s{\"index\": %d", i ? ", " : "", i);
    print_numbers("pos", position, 3);
    print_numbers("quat", rotation, 4);
    printf("}");
  }
  tn_instance_destroy(instance);
  tn_world_destroy(world);
}

// Velocities for the bias forces, the same as in mujoco.mjs: no two are alike.
static double test_velocity(int i)
{
  return 0.1 * (1 + i * 7 % 11) * (i % 2 ? -1.0 : 1.0);
}

static void print_matrix(tn_articulation *a, int n)
{
  double *matrix = calloc((size_t)n * (size_t)n + 1, sizeof *matrix);
  if (matrix && tn_articulation_mass_matrix(a, matrix)) {
    print_numbers("mass", matrix, n * n);
  }
  free(matrix);
}

// Numbers of an instance at a keyframe: positions, mass matrix, forces that hold it against gravity
// at rest, and bias forces in motion.
static void print_dynamics(tn_model *model, int keyframe)
{
  tn_world_def world_def = tn_default_world_def();
  tn_world *world = tn_world_create(&world_def);
  tn_instance_def def = tn_default_instance_def();
  def.y_up = false;
  def.keyframe = keyframe;
  tn_instance *instance = tn_instance_create(world, model, &def);
  tn_articulation *a = tn_instance_articulation(instance);
  tn_model_counts counts = tn_model_get_counts(model);
  int n = counts.velocities;
  double *numbers = calloc((size_t)counts.positions + 1, sizeof *numbers);
  printf("{\"key\": %d", keyframe);
  if (a && numbers) {
    tn_world_set_gravity(world, tn_instance_gravity(instance));
    tn_instance_positions(instance, numbers);
    print_numbers("qpos", numbers, counts.positions);
    print_matrix(a, n);
    for (int i = 0; i < n; ++i) {
      numbers[i] = 0.0;
    }
    tn_instance_set_velocities(instance, numbers);
    tn_articulation_bias_forces(a, numbers);
    print_numbers("hold", numbers, n);
    for (int i = 0; i < n; ++i) {
      numbers[i] = test_velocity(i);
    }
    tn_instance_set_velocities(instance, numbers);
    tn_articulation_bias_forces(a, numbers);
    print_numbers("bias", numbers, n);
  }
  printf("}");
  free(numbers);
  tn_instance_destroy(instance);
  tn_world_destroy(world);
}

static void print_model(tn_model *model)
{
  tn_model_counts counts = tn_model_get_counts(model);
  tn_model_body *bodies = calloc((size_t)counts.bodies, sizeof *bodies);
  printf("{\"name\": \"%s\", \"nq\": %d, \"nv\": %d, \"mass\": %.17g, \"positions\": [",
         tn_model_name(model), counts.positions, counts.velocities, tn_model_total_mass(model));
  for (int key = -1; bodies && key < counts.keyframes; ++key) {
    printf("%s[", key >= 0 ? ", " : "");
    tn_model_bodies(model, key, bodies, counts.bodies);
    for (int i = 0; i < counts.bodies; ++i) {
      const tn_model_body *b = &bodies[i];
      printf("%s{\"name\": \"%s\", \"parent\": %d, \"mass\": %.17g", i ? ", " : "", b->name,
             b->parent, b->mass);
      print_pose(b);
      if (key < 0) {
        print_numbers("center", b->center, 3);
        print_numbers("inertia", b->inertia, 6);
      }
      printf("}");
    }
    printf("]");
  }
  printf("], \"worlds\": [");
  for (int key = -1; key < counts.keyframes; ++key) {
    printf("%s[", key >= 0 ? ", " : "");
    print_instance(model, key);
    printf("]");
  }
  printf("], \"dynamics\": [");
  for (int key = -1; key < counts.keyframes; ++key) {
    printf("%s", key >= 0 ? ", " : "");
    print_dynamics(model, key);
  }
  printf("]}\n");
  free(bodies);
}

int main(int argc, char **argv)
{
  tn_import_def def = tn_default_import_def();
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--fixed") == 0) {
      def.base = TN_IMPORT_BASE_FIXED;
      continue;
    }
    tn_model *model = tn_model_load(argv[i], &def);
    if (model) {
      print_model(model);
    } else {
      printf("null\n");
      failed = 1;
    }
    tn_model_destroy(model);
  }
  return failed;
}
