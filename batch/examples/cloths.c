// Cloths that fall over a ball, each in a gravity of its own.
//
//   cloths WORLDS THREADS STEPS
//
// Prints steps a second, how deep the corners hang below the top of the ball, and a hash. Exit
// status 0 if no particle of any cloth is inside of the ball.
#include "example.h"

#include <math.h>
#include <stdio.h>

#define SIDE 12 // particles

static const float dt = 1.0f / 60.0f;
static const float ball_radius = 0.4f, particle_radius = 0.01f;

static tn_world *make_world(void)
{
  tn_world_def def = tn_default_world_def();
  def.substeps = 16;
  tn_world *world = tn_world_create(&def);
  tn_body_id none = {0};
  tn_shape_def ball = tn_default_shape_def(TN_SHAPE_SPHERE);
  ball.radius = ball_radius;
  tn_shape_create(world, none, &ball);
  tn_soft_def cloth = tn_default_soft_def();
  if (tn_soft_mesh_cloth(&cloth, SIDE, SIDE, 1.0f, 1.0f)) {
    cloth.position = tn_p3(0.0, 0.5, 0.0);
    cloth.mass = 0.2f;
    cloth.radius = particle_radius;
    cloth.linear_damping = 0.5f;
    tn_soft_create(world, &cloth);
    tn_soft_mesh_free(&cloth);
  }
  return world;
}

static bool vary_gravity(tn_batch *batch, int count)
{
  float(*gravity)[3] = calloc((size_t)count, sizeof *gravity);
  for (int i = 0; gravity && i < count; ++i) {
    gravity[i][0] = (float)tn_batch_uniform(3, (uint32_t)i, 0, 0, -1.0, 1.0);
    gravity[i][1] = (float)tn_batch_uniform(3, (uint32_t)i, 0, 1, -12.0, -8.0);
  }
  tn_batch_rows rows = {.data = gravity, .type = TN_FLOAT};
  bool ok = gravity && tn_batch_write(batch, TN_BATCH_GRAVITY, NULL, rows);
  free(gravity);
  return ok;
}

// The deepest particle in a ball and the lowest one of all worlds, m.
static bool examine(tn_batch *batch, double *deepest, double *lowest)
{
  tn_batch_shape shape = tn_batch_shape_of(batch, TN_BATCH_PARTICLES);
  size_t count = (size_t)shape.worlds * (size_t)shape.items;
  float(*at)[3] = malloc(count * sizeof *at);
  tn_batch_rows rows = {.data = at, .type = TN_FLOAT};
  bool ok = at && tn_batch_read(batch, TN_BATCH_PARTICLES, NULL, rows);
  for (size_t i = 0; i < count && ok; ++i) {
    double x = (double)at[i][0], y = (double)at[i][1], z = (double)at[i][2];
    double outside = sqrt(x * x + y * y + z * z) - (double)ball_radius;
    *deepest = fmax(*deepest, -outside);
    *lowest = fmin(*lowest, y - (double)ball_radius);
    ok = isfinite(outside);
  }
  free(at);
  return ok;
}

int main(int argc, char **argv)
{
  int count = argument(argc, argv, 1, 4096, 1 << 20);
  int steps = argument(argc, argv, 3, 120, 100000);
  tn_batch_def def = tn_default_batch_def();
  tn_world *world = make_world();
  def.world = world;
  def.count = count;
  def.threads = argument(argc, argv, 2, 1, 256);
  tn_batch *batch = tn_batch_create(&def);
  uint64_t *hashes = calloc((size_t)count, sizeof *hashes);
  double deepest = 0.0, lowest = 0.0;
  bool ok = batch && hashes && vary_gravity(batch, count);
  if (ok) {
    double start = seconds_now();
    uint32_t status = tn_batch_step(batch, dt, steps);
    double seconds = seconds_now() - start;
    ok = examine(batch, &deepest, &lowest) && tn_batch_hashes(batch, hashes);
    printf("%d cloths of %d particles, %.0f steps/s, status %u\n", count, SIDE * SIDE,
           (double)count * steps / seconds, (unsigned)status);
    printf("corners hang %.3f m below the top of the ball; deepest particle %.2g m inside\n",
           -lowest, deepest);
    printf("hash of hashes %016llx\n", (unsigned long long)hash_of_hashes(hashes, count));
  }
  free(hashes);
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return ok && deepest < 1e-3 && lowest < -0.1 ? 0 : 1;
}
