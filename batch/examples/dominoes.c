// The speed of a wave of falling dominoes, and how it depends on their friction: Monte-Carlo runs.
//
//   dominoes WORLDS THREADS
//
// Each world has a row of dominoes with a friction and an error of every place of its own. Prints
// mean and deviation of the speed for eight ranges of friction, in sqrt(g height). Exit status 0
// if nearly all rows have fallen, and no wave is faster than the tip of a free domino.
#include "example.h"

#include <math.h>
#include <stdio.h>

#define DOMINOES 20
#define BINS 8
#define STEPS 240

static const float dt = 1.0f / 120.0f;
static const double spacing = 0.025, height = 0.05, lo = 0.05, hi = 0.85;

static tn_world *make_row(void)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  tn_body_id none = {0};
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, none, &ground);
  tn_shape_def domino = tn_default_shape_def(TN_SHAPE_BOX);
  domino.half_extents = tn_v3(0.00375f, (float)height / 2.0f, 0.0125f);
  for (int i = 0; i < DOMINOES; ++i) {
    tn_body_def body = tn_default_body_def();
    body.position = tn_p3(spacing * i, height / 2.0, 0.0);
    tn_shape_create(world, tn_body_create(world, &body), &domino);
  }
  return world;
}

// Friction of the dominoes; the ground, shape 0, holds their feet. Places vary by a millimetre, and
// the first domino gets a push.
static void vary(tn_batch *batch, int count, double *friction)
{
  double(*shapes)[DOMINOES + 1] = malloc((size_t)count * sizeof *shapes);
  double(*poses)[DOMINOES][TN_POSE_NUMBERS] = malloc((size_t)count * sizeof *poses);
  double(*rates)[DOMINOES][TN_VELOCITY_NUMBERS] = calloc((size_t)count, sizeof *rates);
  tn_batch_rows rows = {.data = poses, .type = TN_DOUBLE};
  tn_batch_read(batch, TN_BATCH_POSES, NULL, rows);
  for (int i = 0; i < count; ++i) {
    friction[i] = tn_batch_uniform(7, (uint32_t)i, 0, 0, lo, hi);
    shapes[i][0] = 0.9;
    for (int k = 0; k < DOMINOES; ++k) {
      shapes[i][1 + k] = friction[i];
      poses[i][k][0] += tn_batch_uniform(7, (uint32_t)i, 0, (uint32_t)k + 1, -1e-3, 1e-3);
    }
    rates[i][0][5] = -6.0; // about z
    rates[i][0][0] = 6.0 * height / 2.0;
  }
  tn_batch_write(batch, TN_BATCH_POSES, NULL, rows);
  rows.data = rates;
  tn_batch_write(batch, TN_BATCH_VELOCITIES, NULL, rows);
  rows.data = shapes;
  tn_batch_write(batch, TN_BATCH_FRICTIONS, NULL, rows);
  free(shapes);
  free(poses);
  free(rates);
}

// A domino counts as falling when it has turned by a tenth of a radian.
static bool has_begun(const double *pose)
{
  return fabs(2.0 * asin(fmin(1.0, fabs(pose[5])))) > 0.1;
}

// The time between two dominoes of each row, s; 0 of rows that have stopped.
static void measure(tn_batch *batch, int count, int from, int to, double *took)
{
  double(*poses)[DOMINOES][TN_POSE_NUMBERS] = malloc((size_t)count * sizeof *poses);
  double *start = calloc((size_t)count, sizeof *start);
  for (int step = 1; step <= STEPS; ++step) {
    tn_batch_rows rows = {.data = poses, .type = TN_DOUBLE};
    tn_batch_step(batch, dt, 1);
    tn_batch_read(batch, TN_BATCH_POSES, NULL, rows);
    for (int i = 0; i < count; ++i) {
      double time = (double)dt * step;
      start[i] = start[i] == 0.0 && has_begun(poses[i][from]) ? time : start[i];
      took[i] = took[i] == 0.0 && has_begun(poses[i][to]) ? time - start[i] : took[i];
    }
  }
  free(poses);
  free(start);
}

static bool report(const double *friction, const double *took, int count, int gaps)
{
  double sum[BINS] = {0.0}, squares[BINS] = {0.0}, unit = sqrt(10.0 * height), fastest = 0.0;
  int fell[BINS] = {0}, all[BINS] = {0}, total = 0;
  for (int i = 0; i < count; ++i) {
    int bin = (int)(BINS * (friction[i] - lo) / (hi - lo));
    all[bin] += 1;
    if (took[i] > 0.0) {
      double speed = gaps * spacing / took[i] / unit;
      sum[bin] += speed;
      squares[bin] += speed * speed;
      fastest = fmax(fastest, speed);
      fell[bin] += 1;
      total += 1;
    }
  }
  printf("friction    rows  fallen  speed / sqrt(g h)  deviation\n");
  for (int k = 0; k < BINS; ++k) {
    double mean = sum[k] / fmax(1, fell[k]);
    printf("%.2f..%.2f %6d %7d %18.3f %10.3f\n", lo + (hi - lo) * k / BINS,
           lo + (hi - lo) * (k + 1) / BINS, all[k], fell[k], mean,
           sqrt(fmax(0.0, squares[k] / fmax(1, fell[k]) - mean * mean)));
  }
  // A rod that falls over freely from rest has at most the tip speed sqrt(3 g h).
  return total > 0.95 * count && fastest > 0.5 && fastest < 3.0 * sqrt(3.0);
}

int main(int argc, char **argv)
{
  const int from = 5, to = DOMINOES - 3;
  int count = argument(argc, argv, 1, 4096, 1 << 20);
  tn_batch_def def = tn_default_batch_def();
  tn_world *world = make_row();
  def.world = world;
  def.count = count;
  def.threads = argument(argc, argv, 2, 1, 256);
  tn_batch *batch = tn_batch_create(&def);
  double *friction = calloc((size_t)count, sizeof *friction);
  double *took = calloc((size_t)count, sizeof *took);
  uint64_t *hashes = calloc((size_t)count, sizeof *hashes);
  bool ok = batch && friction && took && hashes;
  if (ok) {
    vary(batch, count, friction);
    double start = seconds_now();
    measure(batch, count, from, to, took);
    double seconds = seconds_now() - start;
    ok = report(friction, took, count, to - from) && tn_batch_hashes(batch, hashes);
    printf("%.0f steps/s, hash of hashes %016llx\n", (double)count * STEPS / seconds,
           (unsigned long long)hash_of_hashes(hashes, count));
  }
  free(friction);
  free(took);
  free(hashes);
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return ok ? 0 : 1;
}
