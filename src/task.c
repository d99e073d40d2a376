#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L // NOLINT: for clock_gettime
#endif
#include "task.h"

#include <string.h>

#if defined(TN_NO_THREADS)

struct task_pool {
  tn_allocator allocator;
};

task_pool *task_pool_create(int threads, tn_enqueue_fn *enqueue, tn_finish_fn *finish,
                            void *host_context, const tn_allocator *allocator)
{
  (void)threads, (void)enqueue, (void)finish, (void)host_context;
  task_pool *pool = allocator->alloc(sizeof *pool, 64, allocator->context);
  if (pool) {
    pool->allocator = *allocator;
  }
  return pool;
}

void task_pool_destroy(task_pool *pool)
{
  tn_allocator a = pool->allocator;
  a.release(pool, sizeof *pool, a.context);
}

bool task_pool_is_serial(const task_pool *pool)
{
  (void)pool;
  return true;
}

void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context)
{
  (void)pool, (void)grain;
  task(0, count, context);
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define MAX_THREADS 64
#define SPINS 4000 // a worker looks this often for the next job before it sleeps
// Jobs that the caller does alone after it was kept waiting, and those in time that halve it.
#define SHORTEST_REST 256
#define LONGEST_REST 16384
#define FORGIVEN 2048
#define PATIENCE 2e-4 // s, that a caller waits in any case

// One job at a time: workers and the caller take chunks off `next` until none is left. `ticket` is
// odd while a job is open. A worker counts itself among the `busy` before it looks at the ticket,
// and the caller closes the job before it looks at the busy: a worker either sees the job closed
// and touches nothing of it, or is waited for. One that has not woken up in time holds up nobody.
struct task_pool {
  tn_allocator allocator;
  tn_enqueue_fn *enqueue;
  tn_finish_fn *finish;
  void *host_context;
  int thread_count;
  pthread_t threads[MAX_THREADS];

  tn_task_fn *task;
  void *context;
  int count, chunk;
  atomic_int next;
  atomic_int busy; // workers that may be at the current job
  atomic_uint ticket;
  atomic_int sleepers;
  int rest;    // jobs that the caller does alone after it was kept waiting
  int resting; // that are left of them
  int prompt;  // jobs since then that were done in time
  atomic_bool stop;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
};

static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static void run_chunks(task_pool *pool)
{
  for (;;) {
    int first = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
    if (first >= pool->count) {
      return;
    }
    int last = first + pool->chunk;
    pool->task(first, last < pool->count ? last : pool->count, pool->context);
  }
}

static bool has_news(task_pool *pool, unsigned seen)
{
  unsigned ticket = atomic_load(&pool->ticket);
  return atomic_load(&pool->stop) || (ticket != seen && ticket % 2 == 1);
}

static void wait_for_news(task_pool *pool, unsigned seen)
{
  for (int i = 0; i < SPINS; ++i) {
    if (has_news(pool, seen)) {
      return;
    }
    relax_cpu();
  }
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    // Told before it is checked: the caller opens a job before it looks for sleepers.
    atomic_fetch_add(&pool->sleepers, 1);
    if (has_news(pool, seen)) {
      break;
    }
    pthread_cond_wait(&pool->wake, &pool->mutex);
  }
  pthread_mutex_unlock(&pool->mutex);
}

// Each sleep is ended once, however long the worker takes to wake up.
static void wake_sleepers(task_pool *pool)
{
  if (atomic_load(&pool->sleepers) > 0) {
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->sleepers, 0);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void *worker(void *argument)
{
  task_pool *pool = argument;
  unsigned seen = 0;
  while (!atomic_load(&pool->stop)) {
    wait_for_news(pool, seen);
    atomic_fetch_add(&pool->busy, 1);
    unsigned ticket = atomic_load(&pool->ticket);
    if (ticket % 2 == 1) {
      run_chunks(pool);
      seen = ticket;
    }
    atomic_fetch_sub(&pool->busy, 1);
  }
  return NULL;
}

task_pool *task_pool_create(int threads, tn_enqueue_fn *enqueue, tn_finish_fn *finish,
                            void *host_context, const tn_allocator *allocator)
{
  task_pool *pool = allocator->alloc(sizeof *pool, 64, allocator->context);
  if (!pool) {
    return NULL;
  }
  memset(pool, 0, sizeof *pool);
  pool->allocator = *allocator;
  pool->enqueue = enqueue;
  pool->finish = finish;
  pool->host_context = host_context;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->wake, NULL);
  int workers = enqueue ? 0 : threads - 1;
  workers = workers > MAX_THREADS ? MAX_THREADS : workers;
  for (int i = 0; i < workers; ++i) {
    if (pthread_create(&pool->threads[i], NULL, worker, pool) != 0) {
      task_pool_destroy(pool);
      return NULL;
    }
    pool->thread_count += 1;
  }
  return pool;
}

void task_pool_destroy(task_pool *pool)
{
  atomic_store(&pool->stop, true);
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->thread_count; ++i) {
    pthread_join(pool->threads[i], NULL);
  }
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->mutex);
  tn_allocator a = pool->allocator;
  a.release(pool, sizeof *pool, a.context);
}

bool task_pool_is_serial(const task_pool *pool)
{
  return pool->thread_count == 0 && !pool->enqueue;
}

// Equal chunks, about four a thread, which evens out unequal costs; fewer where little is to be
// done, but one for every thread if that is enough. An even number in each: what goes by twos stays
// together.
static int chunk_for(const task_pool *pool, int count, int grain)
{
  int threads = pool->thread_count + 1;
  int chunks = count / grain < 4 * threads ? count / grain : 4 * threads;
  chunks = chunks > threads ? chunks / threads * threads : chunks;
  int chunk = (count + chunks - 1) / chunks;
  return chunk + chunk % 2;
}

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Waits for workers that are still at a job on which the caller was from `start` to now; false if
// that takes longer than the caller's own share. Then others want the machine.
static bool wait_for_workers(task_pool *pool, double start)
{
  double done = seconds_now();
  for (int i = 0; atomic_load(&pool->busy) > 0; ++i) {
    if (i < SPINS) {
      relax_cpu();
    } else {
      sched_yield();
    }
  }
  double share = done - start;
  return seconds_now() - done < (share > PATIENCE ? share : PATIENCE);
}

// On a machine that is short of cores a worker may be stopped in the middle of a job, and a step
// would take longer than on one thread. The caller works alone then for a while, which changes
// nothing but the time, and longer each time it happens again.
static void judge(task_pool *pool, bool in_time)
{
  if (!in_time) {
    pool->rest = pool->rest < LONGEST_REST / 2 ? 2 * pool->rest + SHORTEST_REST : LONGEST_REST;
    pool->resting = pool->rest;
    pool->prompt = 0;
  } else if (++pool->prompt == FORGIVEN) {
    pool->rest /= 2;
    pool->prompt = 0;
  }
}

static void run_in_pool(task_pool *pool, tn_task_fn *task, int count, int grain, void *context)
{
  pool->task = task;
  pool->context = context;
  pool->count = count;
  pool->chunk = chunk_for(pool, count, grain);
  atomic_store(&pool->next, 0);
  atomic_fetch_add(&pool->ticket, 1);
  double start = seconds_now();
  wake_sleepers(pool);
  run_chunks(pool);
  atomic_fetch_add(&pool->ticket, 1);
  judge(pool, wait_for_workers(pool, start));
}

void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context)
{
  if (task_pool_is_serial(pool) || count < 2 * grain) {
    if (count > 0) {
      task(0, count, context);
    }
    return;
  }
  if (pool->enqueue) {
    void *handle = pool->enqueue(task, count, grain, context, pool->host_context);
    if (handle) {
      pool->finish(handle, pool->host_context);
    }
    return;
  }
  if (pool->resting > 0) {
    pool->resting -= 1;
    task(0, count, context);
    return;
  }
  run_in_pool(pool, task, count, grain, context);
}

#endif
