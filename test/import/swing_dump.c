// Simulates models without contacts and prints the motion as JSON for swing.mjs and machines.mjs:
// positions of the joints, sensors and energy at equal times. usage: swing_dump SECONDS FRAMES
// SUBSTEPS FILE...   from the last keyframe of each file, one line for each
#include <tenon/import.h>

#include <stdio.h>
#include <stdlib.h>

static bool refuse(tn_shape_id a, tn_shape_id b, void *context)
{
  (void)a;
  (void)b;
  (void)context;
  return false;
}

static void print_sensors(tn_instance *instance, int count)
{
  printf("], \"sensors\": [");
  for (int i = 0; i < count; ++i) {
    double values[6];
    int n = tn_instance_sensor(instance, i, values, 6);
    printf("%s[", i ? ", " : "");
    for (int k = 0; k < n; ++k) {
      printf("%s%.9g", k ? ", " : "", values[k]);
    }
    printf("]");
  }
}

static void print_state(tn_world *world, tn_instance *instance, double *numbers,
                        tn_model_counts counts)
{
  tn_energy energy = tn_world_energy(world);
  printf("{\"energy\": %.9g, \"kinetic\": %.9g, \"qpos\": [", energy.total, energy.kinetic);
  tn_instance_positions(instance, numbers);
  for (int i = 0; i < counts.positions; ++i) {
    printf("%s%.12g", i ? ", " : "", numbers[i]);
  }
  print_sensors(instance, counts.sensors);
  printf("]}");
}

static void swing(tn_model *model, double seconds, int frames, int substeps)
{
  tn_world_def def = tn_default_world_def();
  def.sleeping = false;
  def.substeps = substeps;
  tn_world *world = tn_world_create(&def);
  tn_instance_def place = tn_default_instance_def();
  tn_model_counts counts = tn_model_get_counts(model);
  place.y_up = false;
  place.keyframe = counts.keyframes - 1;
  tn_instance *instance = tn_instance_create(world, model, &place);
  double *numbers = calloc((size_t)counts.positions + 1, sizeof *numbers);
  int steps = (int)(seconds * 60.0 / frames + 0.5); // of 1/60 s, in a frame
  steps = steps > 0 ? steps : 1;
  printf("[");
  if (instance && numbers) {
    tn_world_set_gravity(world, tn_instance_gravity(instance));
    tn_world_set_pair_filter(world, refuse, NULL);
    print_state(world, instance, numbers, counts);
    for (int i = 0; i < frames; ++i) {
      for (int k = 0; k < steps; ++k) {
        tn_instance_advance(instance, (float)(seconds / (frames * steps)));
        tn_world_step(world, (float)(seconds / (frames * steps)));
      }
      printf(", ");
      print_state(world, instance, numbers, counts);
    }
  }
  printf("]\n");
  free(numbers);
  tn_instance_destroy(instance);
  tn_world_destroy(world);
}

int main(int argc, char **argv)
{
  for (int i = 4; i < argc; ++i) {
    tn_model *model = tn_model_load(argv[i], NULL);
    if (!model) {
      return 1;
    }
    swing(model, strtod(argv[1], NULL), atoi(argv[2]), atoi(argv[3]));
    tn_model_destroy(model);
  }
  return 0;
}
