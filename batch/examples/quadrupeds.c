// Quadrupeds that trot over hills, each with a gait, a friction and a place of the hills of its
// own.
//
//   quadrupeds WORLDS THREADS SECONDS
//
// The feet follow a hand-made trot: straight back on the ground, a half ellipse through the air,
// diagonal legs together; the angles of hip and knee are those of a leg of two links. Prints steps
// a second, how far the robots came, and a hash. Exit status 0 if nearly all are upright and have
// walked.
#include "example.h"

#include <math.h>
#include <stdio.h>

#define LEGS 4
#define JOINTS (2 * LEGS)
#define BODIES (1 + 1 + JOINTS) // the hills, the trunk, thighs and calves
#define GRID 65

static const float dt = 1.0f / 60.0f;
static const float pi = 3.14159265f, link_length = 0.2f, foot_radius = 0.025f;

// ---------------------------------------------------------------------------------------------
// World

static void make_hills(tn_world *world)
{
  static float heights[GRID * GRID];
  for (int i = 0; i < GRID * GRID; ++i) {
    float x = 0.25f * (float)(i % GRID), z = 0.25f * (float)(i / GRID);
    heights[i] = 0.03f * tn_sin(1.7f * x) * tn_sin(1.3f * z) + 0.01f * tn_sin(5.0f * x + 3.0f * z);
  }
  tn_body_def still = tn_default_body_def();
  still.type = TN_BODY_STATIC;
  tn_shape_def field = tn_default_shape_def(TN_SHAPE_HEIGHT_FIELD);
  field.geometry = tn_height_field_create(world, heights, GRID, GRID, 0.25f, 0.25f);
  tn_shape_create(world, tn_body_create(world, &still), &field);
}

static tn_body_id make_part(tn_world *world, tn_pos at, tn_shape_def *shape, float mass)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  shape->filter.group = -1;
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_create(world, body, shape);
  tn_body_set_mass(world, body, tn_mass_scaled_to(tn_body_mass(world, body), mass));
  return body;
}

static void join(tn_world *world, tn_body_id a, tn_body_id b, tn_pos at)
{
  tn_joint_def hinge = tn_default_joint_def(TN_JOINT_HINGE);
  hinge.body_a = a;
  hinge.body_b = b;
  tn_joint_def_at(world, &hinge, at, tn_v3(0.0f, 0.0f, 1.0f));
  tn_drive *drive = &hinge.axis[TN_ANGULAR_A].drive;
  drive->stiffness = 150.0f;
  drive->damping = 4.0f;
  drive->limits = (tn_range){-40.0f, 40.0f};
  hinge.axis[TN_ANGULAR_A].armature = 0.01f;
  tn_joint_create(world, &hinge);
}

// The legs hang down straight, as the angles zero mean. x is forwards, y up.
static tn_world *make_world(void)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  make_hills(world);
  const double high = 0.5;
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = tn_v3(0.24f, 0.05f, 0.09f);
  tn_body_id trunk = make_part(world, tn_p3(0.0, high, 0.0), &box, 6.0f);
  tn_shape_def rod = tn_default_shape_def(TN_SHAPE_CAPSULE);
  rod.radius = foot_radius;
  rod.half_length = link_length / 2.0f;
  for (int leg = 0; leg < LEGS; ++leg) {
    double x = leg < 2 ? 0.19 : -0.19, z = leg % 2 ? 0.16 : -0.16, l = (double)link_length;
    tn_body_id thigh = make_part(world, tn_p3(x, high - l / 2.0, z), &rod, 0.8f);
    join(world, trunk, thigh, tn_p3(x, high, z));
    tn_body_id calf = make_part(world, tn_p3(x, high - 1.5 * l, z), &rod, 0.2f);
    join(world, thigh, calf, tn_p3(x, high - l, z));
  }
  return world;
}

// ---------------------------------------------------------------------------------------------
// Gait

typedef struct gait {
  float stride, rate, lift; // m, steps a second, m
} gait;

static gait draw_gait(uint32_t index)
{
  return (gait){(float)tn_batch_uniform(1, index, 0, 0, 0.05, 0.12),
                (float)tn_batch_uniform(1, index, 0, 1, 3.0, 4.0),
                (float)tn_batch_uniform(1, index, 0, 2, 0.04, 0.07)};
}

// Targets of hip and knee that bring the foot to (x, -depth) below the hip; the knee points
// forwards.
static void reach(float x, float depth, float *hip, float *knee)
{
  float length = fminf(sqrtf(x * x + depth * depth), 1.99f * link_length);
  float bend = 2.0f * acosf(length / (2.0f * link_length));
  *hip = atan2f(x, depth) + bend / 2.0f;
  *knee = -bend;
}

static void set_targets(gait g, float time, float targets[JOINTS][TN_JOINT_AXIS_COUNT])
{
  float start = fminf(time / 0.5f, 1.0f); // crouches first
  for (int leg = 0; leg < LEGS; ++leg) {
    bool diagonal = leg == 0 || leg == 3;
    float phase = fmodf(fmaxf(time - 0.7f, 0.0f) * g.rate + (diagonal ? 0.0f : 0.5f), 1.0f);
    bool swings = phase < 0.5f && time > 0.7f;
    float part = swings ? 2.0f * phase : 2.0f * phase - 1.0f;
    float x = g.stride * (swings ? part - 0.5f : 0.5f - part);
    float depth = 0.4f - start * 0.14f - (swings ? g.lift * sinf(pi * part) : 0.0f);
    x = time > 0.7f ? x : 0.0f;
    reach(x - 0.01f, depth, &targets[2 * leg][TN_ANGULAR_A], &targets[2 * leg + 1][TN_ANGULAR_A]);
  }
}

// ---------------------------------------------------------------------------------------------
// Run

// Friction of all shapes, and where the hills lie.
static bool vary(tn_batch *batch, int count)
{
  int shapes = tn_batch_shape_of(batch, TN_BATCH_FRICTIONS).items;
  float *friction = calloc((size_t)count * (size_t)shapes, sizeof *friction);
  double(*poses)[BODIES][TN_POSE_NUMBERS] = calloc((size_t)count, sizeof *poses);
  tn_batch_rows rows = {.data = poses, .type = TN_DOUBLE};
  bool ok = friction && poses && tn_batch_read(batch, TN_BATCH_POSES, NULL, rows);
  for (int i = 0; i < count && ok; ++i) {
    poses[i][0][0] = tn_batch_uniform(2, (uint32_t)i, 0, 0, -3.0, 3.0);
    poses[i][0][2] = tn_batch_uniform(2, (uint32_t)i, 0, 1, -3.0, 3.0);
    for (int k = 0; k < shapes; ++k) {
      friction[i * shapes + k] = (float)tn_batch_uniform(2, (uint32_t)i, 0, 2, 0.6, 1.2);
    }
  }
  ok = ok && tn_batch_write(batch, TN_BATCH_POSES, NULL, rows);
  rows = (tn_batch_rows){.data = friction, .type = TN_FLOAT};
  ok = ok && tn_batch_write(batch, TN_BATCH_FRICTIONS, NULL, rows);
  free(friction);
  free(poses);
  return ok;
}

static bool walk(tn_batch *batch, int count, int steps)
{
  float(*targets)[JOINTS][TN_JOINT_AXIS_COUNT] = calloc((size_t)count, sizeof *targets);
  tn_batch_rows rows = {.data = targets, .type = TN_FLOAT};
  bool ok = targets != NULL;
  for (int step = 0; step < steps && ok; ++step) {
    for (int i = 0; i < count; ++i) {
      set_targets(draw_gait((uint32_t)i), dt * (float)step, targets[i]);
    }
    ok = tn_batch_write(batch, TN_BATCH_TARGETS, NULL, rows);
    tn_batch_step(batch, dt, 1);
  }
  free(targets);
  return ok;
}

static bool report(tn_batch *batch, int count)
{
  double(*poses)[BODIES][TN_POSE_NUMBERS] = calloc((size_t)count, sizeof *poses);
  tn_batch_rows rows = {.data = poses, .type = TN_DOUBLE};
  bool ok = poses && tn_batch_read(batch, TN_BATCH_POSES, NULL, rows);
  int upright = 0;
  double sum = 0.0, least = 1e9, most = -1e9;
  for (int i = 0; i < count && ok; ++i) {
    const double *p = poses[i][1], up = 1.0 - 2.0 * (p[3] * p[3] + p[5] * p[5]);
    upright += up > 0.8;
    sum += p[0];
    least = fmin(least, p[0]);
    most = fmax(most, p[0]);
  }
  printf("%d of %d upright; they came %.2f m forwards on average, %.2f to %.2f m\n", upright, count,
         sum / count, least, most);
  free(poses);
  return ok && upright > 0.9 * count && sum / count > 0.3;
}

int main(int argc, char **argv)
{
  int count = argument(argc, argv, 1, 4096, 1 << 20);
  int steps = 60 * argument(argc, argv, 3, 4, 1000);
  tn_batch_def def = tn_default_batch_def();
  tn_world *world = make_world();
  def.world = world;
  def.count = count;
  def.threads = argument(argc, argv, 2, 1, 256);
  tn_batch *batch = tn_batch_create(&def);
  uint64_t *hashes = calloc((size_t)count, sizeof *hashes);
  bool ok = batch && hashes && vary(batch, count);
  if (ok) {
    double start = seconds_now();
    ok = walk(batch, count, steps);
    double seconds = seconds_now() - start;
    printf("%d quadrupeds, %.0f steps/s\n", count, (double)count * steps / seconds);
    ok = report(batch, count) && tn_batch_hashes(batch, hashes) && ok;
    printf("hash of hashes %016llx\n", (unsigned long long)hash_of_hashes(hashes, count));
  }
  free(hashes);
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return ok ? 0 : 1;
}
