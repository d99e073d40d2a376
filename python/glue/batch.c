// Many worlds on a few threads: each thread takes the next world until there are none.
#include "glue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void batch_fn(tnp_batch *batch, int world);

struct tnp_pool {
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  pthread_t *threads;
  int thread_count; // besides the caller
  int working;      // threads that have not finished the present round
  unsigned round;
  bool ends;
  batch_fn *function;
  tnp_batch *batch;
  atomic_int next;
};

static void take_worlds(tnp_pool *pool)
{
  for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->batch->count;) {
    pool->function(pool->batch, i);
  }
}

static void *work(void *context)
{
  tnp_pool *pool = context;
  unsigned seen = 0;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (pool->round == seen && !pool->ends) {
      pthread_cond_wait(&pool->start, &pool->lock);
    }
    if (pool->ends) {
      break;
    }
    seen = pool->round;
    pthread_mutex_unlock(&pool->lock);
    take_worlds(pool);
    pthread_mutex_lock(&pool->lock);
    if (--pool->working == 0) {
      pthread_cond_signal(&pool->done);
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

tnp_pool *tnp_pool_create(int threads)
{
  tnp_pool *pool = calloc(1, sizeof *pool);
  if (!pool) {
    return NULL;
  }
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->start, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->threads = calloc((size_t)threads, sizeof *pool->threads);
  for (int i = 1; pool->threads && i < threads; ++i) {
    if (pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0) {
      pool->thread_count += 1;
    }
  }
  return pool;
}

void tnp_pool_destroy(tnp_pool *pool)
{
  if (!pool) {
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->ends = true;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->thread_count; ++i) {
    pthread_join(pool->threads[i], NULL);
  }
  pthread_cond_destroy(&pool->start);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool);
}

static void run_all(tnp_pool *pool, tnp_batch *batch, batch_fn *function)
{
  pthread_mutex_lock(&pool->lock);
  pool->batch = batch;
  pool->function = function;
  atomic_store(&pool->next, 0);
  pool->working = pool->thread_count;
  pool->round += 1;
  pthread_cond_broadcast(&pool->start);
  pthread_mutex_unlock(&pool->lock);
  take_worlds(pool);
  pthread_mutex_lock(&pool->lock);
  while (pool->working > 0) {
    pthread_cond_wait(&pool->done, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
}

// ---------------------------------------------------------------------------------------------
// What a batch does with a world

static void read_rows(tnp_batch *b, int i)
{
  tnp_world *w = b->worlds[i];
  size_t first = (size_t)i * (size_t)b->body_count;
  if (b->poses) {
    tn_bodies_read_poses(w->world, NULL, b->body_count, TN_DOUBLE,
                         b->poses + first * TN_POSE_NUMBERS, 0);
  }
  if (b->velocities) {
    tn_bodies_read_velocities(w->world, NULL, b->body_count, TN_DOUBLE,
                              b->velocities + first * TN_VELOCITY_NUMBERS, 0);
  }
  if (w->robots && b->q) {
    tnp_robot_read(w, w->robots, b->q + (size_t)i * (size_t)w->robots->position_count,
                   b->rates + (size_t)i * (size_t)w->robots->velocity_count, NULL);
  }
}

static void step_one(tnp_batch *b, int i)
{
  b->status[i] = tnp_step(b->worlds[i], b->dt, b->repeat);
  read_rows(b, i);
}

static void reset_one(tnp_batch *b, int i)
{
  tnp_world *w = b->worlds[i];
  if (b->mask && !b->mask[i]) {
    return;
  }
  bool ok = tn_world_restore(w->world, b->states[i], b->state_sizes[i]);
  b->status[i] = ok ? 0 : TN_STEP_REJECTED;
  read_rows(b, i);
}

static bool write_bodies(const tnp_batch *b, const tnp_world *w, size_t first)
{
  const double *poses = b->poses ? b->poses + first * TN_POSE_NUMBERS : NULL;
  const double *rates = b->velocities ? b->velocities + first * TN_VELOCITY_NUMBERS : NULL;
  int count = b->body_count;
  return (!poses || tn_bodies_write_poses(w->world, NULL, count, TN_DOUBLE, poses, 0)) &&
         (!rates || tn_bodies_write_velocities(w->world, NULL, count, TN_DOUBLE, rates, 0));
}

static bool write_coordinates(const tnp_batch *b, const tnp_robot *r, size_t world)
{
  const double *q = b->q + world * (size_t)r->position_count;
  const double *rates = b->rates + world * (size_t)r->velocity_count;
  return tn_articulation_set_positions(r->articulation, q, NULL) &&
         tn_articulation_set_velocities(r->articulation, rates, NULL);
}

static void write_one(tnp_batch *b, int i)
{
  tnp_world *w = b->worlds[i];
  if (b->mask && !b->mask[i]) {
    return;
  }
  bool ok = write_bodies(b, w, (size_t)i * (size_t)b->body_count) &&
            (!b->q || !w->robots || write_coordinates(b, w->robots, (size_t)i));
  b->status[i] = ok ? 0 : TN_STEP_REJECTED;
  read_rows(b, i);
}

static void hash_one(tnp_batch *b, int i)
{
  b->hashes[i] = tn_world_hash(b->worlds[i]->world);
}

void tnp_batch_step(tnp_pool *pool, tnp_batch *batch)
{
  run_all(pool, batch, step_one);
}

void tnp_batch_reset(tnp_pool *pool, tnp_batch *batch)
{
  run_all(pool, batch, reset_one);
}

void tnp_batch_read(tnp_pool *pool, tnp_batch *batch)
{
  run_all(pool, batch, read_rows);
}

void tnp_batch_write(tnp_pool *pool, tnp_batch *batch)
{
  run_all(pool, batch, write_one);
}

void tnp_batch_hash(tnp_pool *pool, tnp_batch *batch)
{
  run_all(pool, batch, hash_one);
}
