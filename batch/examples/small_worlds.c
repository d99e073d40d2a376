// Measures the time of a step of small worlds, and how a batch of them scales with threads.
//
//   small_worlds THREADS ROUNDS
//
// Prints for each kind of world the time of a step of 1/60 s at 8 substeps on one thread, its
// memory, and the time of saving and restoring its state; then how many times as fast THREADS
// threads are, for a batch and for a loop of multiplications that touches no memory. All times are
// the best of ROUNDS.
#include "example.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define BODIES 10
#define WORLDS 64
#define STEPS 20
#define MOST_THREADS 256

static const float dt = 1.0f / 60.0f;
static const tn_body_id none = {0};

// ---------------------------------------------------------------------------------------------
// Worlds

static tn_body_id add_body(tn_world *world, tn_pos at, tn_vec3 half)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.mass = tn_mass_box(half, 1000.0f);
  return tn_body_create(world, &def);
}

static void add_boxes(tn_world *world, double apart, double up)
{
  tn_shape_def ground = tn_default_shape_def(TN_SHAPE_PLANE);
  tn_shape_create(world, none, &ground);
  tn_shape_def box = tn_default_shape_def(TN_SHAPE_BOX);
  for (int i = 0; i < BODIES; ++i) {
    tn_shape_create(world, add_body(world, tn_p3(apart * i, 0.5 + up * i, 0.0), box.half_extents),
                    &box);
  }
}

static void add_links(tn_world *world, int count, tn_joint_kind kind)
{
  tn_body_id last = none;
  for (int i = 0; i < count; ++i) {
    tn_body_id body = add_body(world, tn_p3(0.2 * i + 0.1, 10.0, 0.0), tn_v3(0.1f, 0.03f, 0.03f));
    tn_joint_def joint = tn_default_joint_def(kind);
    joint.body_a = last;
    joint.body_b = body;
    tn_joint_def_at(world, &joint, tn_p3(0.2 * i, 10.0, 0.0), tn_v3(0.0f, 0.0f, 1.0f));
    tn_joint_create(world, &joint);
    last = body;
  }
}

static void make_boxes(tn_world *world)
{
  add_boxes(world, 2.0, 0.0);
}

static void make_stack(tn_world *world)
{
  add_boxes(world, 0.0, 1.0);
}

static void make_chain(tn_world *world)
{
  add_links(world, BODIES, TN_JOINT_BALL);
}

static void make_hinges(tn_world *world)
{
  add_links(world, BODIES, TN_JOINT_HINGE);
}

static void make_pendulum(tn_world *world)
{
  add_links(world, 1, TN_JOINT_BALL);
}

static const struct {
  const char *name;
  void (*make)(tn_world *world);
} kinds[] = {{"10 boxes at rest", make_boxes},
             {"stack of 10 boxes", make_stack},
             {"chain of 10", make_chain},
             {"10 hinges", make_hinges},
             {"pendulum", make_pendulum}};

static tn_world *make_world(int kind)
{
  tn_world_def def = tn_default_world_def();
  def.sleeping = false;
  tn_world *world = tn_world_create(&def);
  kinds[kind].make(world);
  for (int i = 0; i < 100; ++i) {
    tn_world_step(world, dt);
  }
  return world;
}

// ---------------------------------------------------------------------------------------------
// Costs

static void print_costs(int kind, int rounds)
{
  static unsigned char state[1 << 16];
  tn_world *world = make_world(kind);
  double step = HUGE_VAL, save = HUGE_VAL, restore = HUGE_VAL;
  size_t size = tn_world_save_state(world, state, sizeof state);
  for (int i = 0; i < 100 * rounds; ++i) {
    double times[4] = {seconds_now()};
    tn_world_step(world, dt);
    times[1] = seconds_now();
    size = tn_world_save_state(world, state, sizeof state);
    times[2] = seconds_now();
    tn_world_restore_state(world, state, size);
    times[3] = seconds_now();
    step = fmin(step, times[1] - times[0]);
    save = fmin(save, times[2] - times[1]);
    restore = fmin(restore, times[3] - times[2]);
  }
  printf("%-18s %8.1f us %8.0f KiB %6zu bytes, saved in %.1f us, restored in %.1f us\n",
         kinds[kind].name, 1e6 * step, (double)tn_world_counters(world).bytes / 1024.0, size,
         1e6 * save, 1e6 * restore);
  tn_world_destroy(world);
}

// ---------------------------------------------------------------------------------------------
// Scaling

static void *multiply(void *context)
{
  volatile double *result = context;
  double x[8] = {1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
  for (int i = 0; i < 2000000; ++i) {
    for (int k = 0; k < 8; ++k) {
      x[k] = x[k] * 0.999999 + 1e-6;
    }
  }
  *result = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
  return NULL;
}

// Time of the loop on each of some threads at once.
static double time_of_loop(int threads)
{
  pthread_t thread[MOST_THREADS];
  double result[MOST_THREADS];
  double start = seconds_now();
  int made = 1;
  while (made < threads && pthread_create(&thread[made], NULL, multiply, &result[made]) == 0) {
    made += 1;
  }
  multiply(&result[0]);
  for (int i = 1; i < made; ++i) {
    pthread_join(thread[i], NULL);
  }
  return (seconds_now() - start) / made;
}

static double time_of_batch(tn_batch *batch)
{
  double start = seconds_now();
  tn_batch_step(batch, dt, STEPS);
  return seconds_now() - start;
}

static tn_batch *make_batch(const tn_world *world, int threads)
{
  tn_batch_def def = tn_default_batch_def();
  def.world = world;
  def.count = WORLDS;
  def.threads = threads;
  return tn_batch_create(&def);
}

static void print_scaling(int kind, int threads, int rounds)
{
  tn_world *world = make_world(kind);
  tn_batch *one = make_batch(world, 1), *many = make_batch(world, threads);
  double best[4] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
  for (int i = 0; i < rounds && one && many; ++i) {
    best[0] = fmin(best[0], time_of_batch(one));
    best[1] = fmin(best[1], time_of_batch(many));
    best[2] = fmin(best[2], time_of_loop(1));
    best[3] = fmin(best[3], time_of_loop(threads));
  }
  double batch = best[0] / best[1], loop = best[2] / best[3];
  printf("%-18s %d threads: batch %.2f times as fast, loop %.2f times: %.2f\n", kinds[kind].name,
         threads, batch, loop, batch / loop);
  tn_batch_destroy(one);
  tn_batch_destroy(many);
  tn_world_destroy(world);
}

int main(int argc, char **argv)
{
  int threads = argument(argc, argv, 1, 2, MOST_THREADS);
  int rounds = argument(argc, argv, 2, 20, 100000);
  int count = (int)(sizeof kinds / sizeof *kinds);
  for (int i = 0; i < count; ++i) {
    print_costs(i, rounds);
  }
  for (int i = 0; i < count; ++i) {
    print_scaling(i, threads, rounds);
  }
  return 0;
}
