// A gripper that catches thrown balls, planned by the cross-entropy method.
//
//   catch WORLDS THREADS THROWS
//
// A plan is four numbers: where the hand waits, when the fingers close, and how fast the hand gives
// way then. For each throw WORLDS plans are drawn from a normal distribution and tried side by side
// in copies of the world; the best eighth gives the next distribution. After a few rounds the best
// plan is carried out. Exit status 0 if all balls are held, and end where the plan said.
#include "example.h"

#include <math.h>
#include <stdio.h>

enum { X, Y, LEFT, RIGHT, JOINTS };                        // axes of the gripper
enum { BALL, CARRIAGE, PALM, FINGER_A, FINGER_B, BODIES }; // in the order in which they are made
enum { WAIT_X, WAIT_Y, CLOSE, YIELD, NUMBERS };            // of a plan: m, m, s, m/s

#define ROUNDS 6
#define STEPS 120 // of a try
#define HOLD 60   // more, after the plan was carried out

static const float dt = 1.0f / 60.0f;

typedef struct plan {
  double number[NUMBERS];
  double cost;
} plan;

// ---------------------------------------------------------------------------------------------
// World

static tn_body_id make_box(tn_world *world, tn_pos at, tn_vec3 half, float mass)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  box.half_extents = half;
  box.material.static_friction = box.material.dynamic_friction = 0.8f;
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_create(world, body, &box);
  tn_body_set_mass(world, body, tn_mass_scaled_to(tn_body_mass(world, body), mass));
  return body;
}

static void make_slide(tn_world *world, tn_body_id a, tn_body_id b, tn_pos at, tn_vec3 axis,
                       float stiffness, float damping)
{
  tn_joint_def slide = tn_default_joint_def(TN_JOINT_PRISMATIC);
  slide.body_a = a;
  slide.body_b = b;
  tn_joint_def_at(world, &slide, at, axis);
  slide.axis[TN_LINEAR_A].drive.stiffness = stiffness;
  slide.axis[TN_LINEAR_A].drive.damping = damping;
  slide.axis[TN_LINEAR_A].drive.limits = (tn_range){-200.0f, 200.0f};
  tn_joint_create(world, &slide);
}

// The hand moves in the plane z = 0: a carriage along x, on it the palm along y with two fingers.
static tn_world *make_world(void)
{
  tn_world_def def = tn_default_world_def();
  tn_world *world = tn_world_create(&def);
  tn_body_id none = {0};
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  ground.position = tn_v3(0.0f, -1.0f, 0.0f);
  tn_shape_create(world, none, &ground);
  tn_body_def ball = tn_default_body_def();
  ball.position = tn_p3(-1.5, 0.6, 0.0);
  tn_shape_def sphere = tn_default_shape_def(TN_SHAPE_SPHERE);
  sphere.radius = 0.05f;
  sphere.density = 400.0f;
  tn_shape_create(world, tn_body_create(world, &ball), &sphere);
  const tn_vec3 x = tn_v3(1.0f, 0.0f, 0.0f), back = tn_v3(-1.0f, 0.0f, 0.0f);
  const tn_vec3 finger = tn_v3(0.02f, 0.12f, 0.06f);
  tn_body_id carriage = make_box(world, tn_p3(0.0, -0.4, 0.0), tn_v3(0.05f, 0.05f, 0.05f), 1.0f);
  tn_body_id palm = make_box(world, tn_p3(0.0, 0.0, 0.0), tn_v3(0.2f, 0.02f, 0.06f), 1.0f);
  make_slide(world, none, carriage, tn_p3(0.0, -0.4, 0.0), x, 800.0f, 60.0f);
  make_slide(world, carriage, palm, tn_p3(0.0, 0.0, 0.0), tn_v3(0.0f, 1.0f, 0.0f), 800.0f, 60.0f);
  tn_body_id left = make_box(world, tn_p3(-0.16, 0.14, 0.0), finger, 0.2f);
  make_slide(world, palm, left, tn_p3(-0.16, 0.14, 0.0), x, 300.0f, 12.0f);
  tn_body_id right = make_box(world, tn_p3(0.16, 0.14, 0.0), finger, 0.2f);
  make_slide(world, palm, right, tn_p3(0.16, 0.14, 0.0), back, 300.0f, 12.0f);
  return world;
}

static tn_batch *make_batch(const tn_world *world, int count, int threads)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = count;
  def.threads = threads;
  return tn_batch_create(&def);
}

// The same throw in all worlds, which begin anew with it.
static bool throw_ball(tn_batch *batch, uint32_t throw)
{
  int count = tn_batch_count(batch);
  double(*rates)[BODIES][TN_VELOCITY_NUMBERS] = calloc((size_t)count, sizeof *rates);
  tn_batch_rows rows = {.data = rates, .type = TN_DOUBLE};
  for (int i = 0; i < count && rates; ++i) {
    rates[i][BALL][0] = tn_batch_uniform(5, 0, throw, 0, 1.0, 2.6);
    rates[i][BALL][1] = tn_batch_uniform(5, 0, throw, 1, 2.5, 4.0);
  }
  bool ok =
      rates && tn_batch_write(batch, TN_BATCH_VELOCITIES, NULL, rows) && tn_batch_keep(batch, NULL);
  free(rates);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Trying plans

static void set_targets(const plan *p, double time, float targets[JOINTS][TN_JOINT_AXIS_COUNT])
{
  double late = fmax(0.0, time - p->number[CLOSE]);
  double yielded = p->number[YIELD] * fmin(late, 0.2);
  targets[X][TN_LINEAR_A] = (float)fmax(-1.2, fmin(1.2, p->number[WAIT_X]));
  targets[Y][TN_LINEAR_A] = (float)fmax(-0.2, fmin(0.4, p->number[WAIT_Y] - yielded));
  targets[LEFT][TN_LINEAR_A] = targets[RIGHT][TN_LINEAR_A] = late > 0.0 ? 0.12f : 0.0f;
}

// From the ball to the middle between the fingers, m.
static double distance_to_grip(double poses[BODIES][TN_POSE_NUMBERS])
{
  const double *ball = poses[BALL], *palm = poses[PALM];
  return hypot(ball[0] - palm[0], ball[1] - palm[1] - 0.1) + fabs(ball[2] - palm[2]);
}

// Carries out a plan in each world from step `first` on; the cost is the least distance of the ball
// to the grip and the last one.
static bool try_plans(tn_batch *batch, plan *plans, int first, int last)
{
  int count = tn_batch_count(batch);
  float(*targets)[JOINTS][TN_JOINT_AXIS_COUNT] = calloc((size_t)count, sizeof *targets);
  double(*poses)[BODIES][TN_POSE_NUMBERS] = calloc((size_t)count, sizeof *poses);
  double *least = calloc((size_t)count, sizeof *least);
  tn_batch_rows to = {.data = targets, .type = TN_FLOAT}, from = {.data = poses, .type = TN_DOUBLE};
  bool ok = targets && poses && least;
  for (int step = first; step < last && ok; ++step) {
    for (int i = 0; i < count; ++i) {
      set_targets(&plans[i], (double)dt * step, targets[i]);
    }
    ok = tn_batch_write(batch, TN_BATCH_TARGETS, NULL, to);
    tn_batch_step(batch, dt, 1);
    ok = ok && tn_batch_read(batch, TN_BATCH_POSES, NULL, from);
    for (int i = 0; i < count; ++i) {
      double apart = distance_to_grip(poses[i]);
      least[i] = step == first ? apart : fmin(least[i], apart);
      plans[i].cost = least[i] + apart;
    }
  }
  free(targets);
  free(poses);
  free(least);
  return ok;
}

// ---------------------------------------------------------------------------------------------
// Cross-entropy

// About normal: the sum of four uniform numbers.
static double draw_normal(uint32_t world, uint32_t round, uint32_t draw)
{
  uint32_t word[4];
  tn_batch_random(9, world, round, draw, word);
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) {
    sum += ldexp((double)word[i], -32) - 0.5;
  }
  return sqrt(3.0) * sum;
}

static int by_cost(const void *a, const void *b)
{
  double x = ((const plan *)a)->cost, y = ((const plan *)b)->cost;
  return (x > y) - (x < y);
}

// Mean and deviation of the best plans; the deviation does not shrink to nothing.
static void learn(plan *plans, int count, double mean[NUMBERS], double deviation[NUMBERS])
{
  int best = count < 16 ? 2 : count / 8;
  qsort(plans, (size_t)count, sizeof *plans, by_cost);
  for (int k = 0; k < NUMBERS; ++k) {
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < best; ++i) {
      sum += plans[i].number[k] / best;
    }
    for (int i = 0; i < best; ++i) {
      squares += (plans[i].number[k] - sum) * (plans[i].number[k] - sum) / best;
    }
    mean[k] = sum;
    deviation[k] = fmax(sqrt(squares), 0.005);
  }
}

static bool find_plan(tn_batch *batch, uint32_t throw, plan *plans, plan *found)
{
  int count = tn_batch_count(batch);
  double mean[NUMBERS] = {0.0, 0.1, 0.9, 0.5}, deviation[NUMBERS] = {0.6, 0.1, 0.3, 0.5};
  found->cost = HUGE_VAL;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < NUMBERS; ++k) {
        uint32_t step = throw *ROUNDS + (uint32_t)round;
        plans[i].number[k] = mean[k] + deviation[k] * draw_normal((uint32_t)i, step, (uint32_t)k);
      }
    }
    if (!tn_batch_reset(batch, NULL) || !try_plans(batch, plans, 0, STEPS)) {
      return false;
    }
    learn(plans, count, mean, deviation);
    *found = plans[0].cost < found->cost ? plans[0] : *found;
  }
  return true;
}

// Carries out a plan, then holds the ball.
static bool catch_ball(tn_batch *hand, const plan *found, uint32_t throw)
{
  plan p = *found;
  bool ok = try_plans(hand, &p, 0, STEPS);
  bool as_planned = p.cost == found->cost;
  ok = ok && try_plans(hand, &p, STEPS, STEPS + HOLD);
  bool held = p.cost < 0.16;
  printf("throw %u: waits at %.2f m, closes at %.2f s; ball %s, %.0f mm from the middle%s\n",
         (unsigned) throw, p.number[WAIT_X], p.number[CLOSE], held ? "held" : "lost",
         500.0 * p.cost, as_planned ? "" : ", not as planned");
  return ok && held && as_planned;
}

int main(int argc, char **argv)
{
  int count = argument(argc, argv, 1, 256, 1 << 20), throws = argument(argc, argv, 3, 4, 1000);
  tn_world *world = make_world();
  tn_batch *batch = make_batch(world, count, argument(argc, argv, 2, 1, 256));
  plan *plans = calloc((size_t)count, sizeof *plans), found;
  bool ok = batch && plans;
  double start = seconds_now();
  int caught = 0;
  for (int i = 0; i < throws && ok; ++i) {
    tn_batch *hand = make_batch(world, 1, 1);
    ok = hand && throw_ball(hand, (uint32_t)i) && tn_batch_reset(batch, NULL) &&
         throw_ball(batch, (uint32_t)i) && find_plan(batch, (uint32_t)i, plans, &found);
    caught += ok && catch_ball(hand, &found, (uint32_t)i);
    tn_batch_destroy(hand);
  }
  double tries = (double)count * ROUNDS * throws, seconds = seconds_now() - start;
  printf("%d of %d caught; %.0f tries in %.1f s\n", caught, throws, tries, seconds);
  free(plans);
  tn_batch_destroy(batch);
  tn_world_destroy(world);
  return ok && caught == throws ? 0 : 1;
}
