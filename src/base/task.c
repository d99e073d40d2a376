#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L // NOLINT: for clock_gettime
#endif
#include "base/task.h"

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

void task_begin(task_pool *pool)
{
  (void)pool;
}

void task_end(task_pool *pool)
{
  (void)pool;
}

void task_run_stages(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                     int grain, void *context)
{
  (void)pool, (void)grain;
  for (int i = 0; i < count; ++i) {
    task(stages[i].first, stages[i].last, context);
  }
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <time.h>

#define MAX_THREADS 64
#define CHUNKS_PER_THREAD 4 // of a thread's share, at most: they even out unequal costs
#define BATCH 64 // stages of a job: the pool has counters for these, and more stages take more jobs
// How often a thread that is done looks whether the others are, before it takes from them: what it
// takes has to come to its cache, and go back for the next job.
#define STEAL_SPINS 100
// How often a worker looks for the next job before it sleeps: outside of a step, and in one.
#define IDLE_SPINS 500
#define STEP_SPINS 20000
// Steps that are tried the other way, shared out or not; those until the next trial; and the share
// of the time that has to be left to change over. What is quicker than this is not tried.
#define TRIAL_STEPS 3
#define FIRST_TRIAL_INTERVAL 8
#define MAX_TRIAL_INTERVAL 256
#define MAX_TIME_RATIO 0.96
#define MIN_PARALLEL_STEP 1e-4 // s
// Jobs that the caller does alone after it was kept waiting, and those in time that halve it.
#define MIN_BACKOFF_JOBS 64
#define MAX_BACKOFF_JOBS 4096
#define BACKOFF_DECAY_JOBS 512
#define STALL_TIME 2e-4 // s, that a caller waits in any case

// What a thread begins with in each stage; when it is done, and the others are not for a while, it
// takes from them. The same items go to the same thread in job after job, and stay in its cache.
typedef struct thread_share {
  alignas(64) atomic_int next[BATCH];
} thread_share;

// A thread's items of a stage, taken in chunks.
typedef struct thread_range {
  int first, last, chunk;
} thread_range;

// One job at a time: workers and the caller take chunks off the shares until none is left, stage
// after stage: a stage begins when all of the last one is done, whoever did it. `ticket` is odd
// while a job is open. A worker counts itself among the `busy` before it looks at the ticket, and
// the caller closes the job before it looks at the busy: a worker either sees the job closed and
// touches nothing of it, or is waited for. One that has not woken up in time holds up nobody.
struct task_pool { // NOLINT(clang-analyzer-optin.performance.Padding)
  tn_allocator allocator;
  tn_enqueue_fn *enqueue;
  tn_finish_fn *finish;
  void *host_context;
  int thread_count;
  atomic_int started; // workers that know which one they are
  pthread_t threads[MAX_THREADS];
  pthread_mutex_t mutex;
  pthread_cond_t wake;

  bool parallel;       // the current step is shared out
  bool in_trial;       // to see whether that is better
  int steps_left;      // steps until this changes
  int trial_interval;  // steps from the last trial to the next
  double step_start;   // when the step began
  double best_time[2]; // s, of the last steps that were done by the caller alone, and shared out
  int backoff;         // jobs that the caller does alone after it was kept waiting
  int backoff_left;    // that are left of them
  int on_time_jobs;    // jobs since then that were done in time

  // What the caller writes and workers read, and the other way round, on lines of their own.
  alignas(64) tn_task_fn *task;
  void *context;
  const task_range *stages;
  int stage_count;
  int grain;
  atomic_uint ticket;
  atomic_bool in_step;
  atomic_bool stop;
  alignas(64) atomic_int busy; // workers that may be at the current job
  atomic_int sleepers;
  alignas(64) atomic_int done[BATCH]; // items
  thread_share shares[MAX_THREADS + 1];
};

static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static int items_of(task_range stage)
{
  return stage.last - stage.first;
}

// Equal shares, in chunks of at least a grain. An even number in each: what goes by twos stays
// together. A stage of one grain is not worth sharing.
static thread_range thread_range_of(const task_pool *pool, int stage, int thread)
{
  int threads = pool->thread_count + 1;
  int count = items_of(pool->stages[stage]), end = pool->stages[stage].last;
  int share = count < 2 * pool->grain ? count : (count + threads - 1) / threads;
  share += share % 2;
  int chunk = (share + CHUNKS_PER_THREAD - 1) / CHUNKS_PER_THREAD;
  chunk = chunk < pool->grain ? pool->grain : chunk;
  int first = pool->stages[stage].first + thread * share;
  thread_range part = {first, first + share < end ? first + share : end, chunk + chunk % 2};
  return part;
}

static void run_share(task_pool *pool, int stage, int thread)
{
  thread_range part = thread_range_of(pool, stage, thread);
  atomic_int *next = &pool->shares[thread].next[stage];
  int done = 0;
  while (atomic_load_explicit(next, memory_order_relaxed) < part.last) {
    int first = atomic_fetch_add_explicit(next, part.chunk, memory_order_relaxed);
    if (first >= part.last) {
      break;
    }
    int last = first + part.chunk < part.last ? first + part.chunk : part.last;
    pool->task(first, last, pool->context);
    done += last - first;
  }
  if (done > 0) {
    atomic_fetch_add_explicit(&pool->done[stage], done, memory_order_acq_rel);
  }
}

static bool finishes_soon(task_pool *pool, int stage)
{
  for (int i = 0; i < STEAL_SPINS; ++i) {
    if (atomic_load(&pool->done[stage]) == items_of(pool->stages[stage])) {
      return true;
    }
    relax_cpu();
  }
  return false;
}

static double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Waits until `counter` is what it should be. Returns for how long, unless that was a moment.
static double wait_for(const atomic_int *counter, int wanted)
{
  for (int i = 0; i < IDLE_SPINS; ++i) {
    if (atomic_load(counter) == wanted) {
      return 0.0;
    }
    relax_cpu();
  }
  double start = seconds_now();
  while (atomic_load(counter) != wanted) {
    sched_yield();
  }
  return seconds_now() - start;
}

// Returns how long it waited for others.
static double run_stages(task_pool *pool, int self)
{
  int threads = pool->thread_count + 1;
  double waited = 0.0;
  for (int stage = 0; stage < pool->stage_count; ++stage) {
    run_share(pool, stage, self);
    if (!finishes_soon(pool, stage)) {
      for (int i = 1; i < threads; ++i) {
        run_share(pool, stage, (self + i) % threads);
      }
    }
    waited += wait_for(&pool->done[stage], items_of(pool->stages[stage]));
  }
  return waited;
}

static bool has_job(task_pool *pool, unsigned seen)
{
  unsigned ticket = atomic_load(&pool->ticket);
  return atomic_load(&pool->stop) || (ticket != seen && ticket % 2 == 1);
}

// Looks for a job for a while.
static bool spin_for_job(task_pool *pool, unsigned seen)
{
  for (int i = 0; i < IDLE_SPINS || (i < STEP_SPINS && atomic_load(&pool->in_step)); ++i) {
    if (has_job(pool, seen)) {
      return true;
    }
    relax_cpu();
  }
  return false;
}

static void wait_for_job(task_pool *pool, unsigned seen)
{
  while (!spin_for_job(pool, seen)) {
    pthread_mutex_lock(&pool->mutex);
    // Told before it is checked: the caller opens a job before it looks for sleepers.
    atomic_fetch_add(&pool->sleepers, 1);
    if (!has_job(pool, seen)) {
      pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
  }
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
  int self = 1 + atomic_fetch_add(&pool->started, 1);
  unsigned seen = 0;
  while (!atomic_load(&pool->stop)) {
    wait_for_job(pool, seen);
    atomic_fetch_add(&pool->busy, 1);
    unsigned ticket = atomic_load(&pool->ticket);
    if (ticket % 2 == 1) {
      run_stages(pool, self);
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
  pool->steps_left = 1;
  pool->trial_interval = FIRST_TRIAL_INTERVAL;
  pool->best_time[0] = 1e30;
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

// Workers that wake up now are ready when the first job is.
void task_begin(task_pool *pool)
{
  if (pool->thread_count > 0) {
    pool->step_start = seconds_now();
    atomic_store(&pool->in_step, pool->parallel);
    if (pool->parallel && pool->backoff_left == 0) {
      wake_sleepers(pool);
    }
  }
}

// A trial has ended: its way is kept, or the other one for longer.
static void end_trial(task_pool *pool)
{
  bool better = pool->best_time[pool->parallel] < MAX_TIME_RATIO * pool->best_time[!pool->parallel];
  pool->parallel = better ? pool->parallel : !pool->parallel;
  pool->trial_interval = better                                      ? FIRST_TRIAL_INTERVAL
                         : pool->trial_interval < MAX_TRIAL_INTERVAL ? 2 * pool->trial_interval
                                                                     : MAX_TRIAL_INTERVAL;
  pool->steps_left = pool->trial_interval;
}

// To wake workers costs as much as many small jobs, and so does what others have in their caches:
// what a step gains by them is found out by trying, with the steps before to compare. The quickest
// of each counts, for other programs disturb the rest.
static void update_trial(task_pool *pool, double time)
{
  double *best_time = &pool->best_time[pool->parallel];
  *best_time = time < *best_time ? time : *best_time;
  pool->steps_left -= 1;
  if (pool->steps_left == TRIAL_STEPS && !pool->in_trial) {
    *best_time = 1e30;
  }
  if (pool->steps_left > 0) {
    return;
  }
  if (pool->in_trial) {
    end_trial(pool);
    pool->in_trial = false;
  } else if (pool->parallel || *best_time > MIN_PARALLEL_STEP) {
    pool->in_trial = true;
    pool->parallel = !pool->parallel;
    pool->best_time[pool->parallel] = 1e30;
    pool->steps_left = TRIAL_STEPS;
  } else {
    pool->steps_left = FIRST_TRIAL_INTERVAL;
  }
}

void task_end(task_pool *pool)
{
  if (pool->thread_count > 0) {
    update_trial(pool, seconds_now() - pool->step_start);
    atomic_store(&pool->in_step, false);
  }
}

// On a machine that is short of cores a worker may be stopped in the middle of a job, and a step
// would take longer than on one thread. The caller works alone then for a while, which changes
// nothing but the time, and longer each time it happens again.
static void update_backoff(task_pool *pool, bool in_time)
{
  if (!in_time) {
    pool->backoff = pool->backoff < MAX_BACKOFF_JOBS / 2 ? 2 * pool->backoff + MIN_BACKOFF_JOBS
                                                         : MAX_BACKOFF_JOBS;
    pool->backoff_left = pool->backoff;
    pool->on_time_jobs = 0;
  } else if (++pool->on_time_jobs == BACKOFF_DECAY_JOBS) {
    pool->backoff /= 2;
    pool->on_time_jobs = 0;
  }
}

// A caller that waits for longer than it works is on a machine that others want.
static void run_in_pool(task_pool *pool, tn_task_fn *task, void *context)
{
  pool->task = task;
  pool->context = context;
  for (int stage = 0; stage < pool->stage_count; ++stage) {
    atomic_store_explicit(&pool->done[stage], 0, memory_order_relaxed);
    for (int i = 0; i <= pool->thread_count; ++i) {
      int first = thread_range_of(pool, stage, i).first;
      atomic_store_explicit(&pool->shares[i].next[stage], first, memory_order_relaxed);
    }
  }
  atomic_fetch_add(&pool->ticket, 1);
  double start = seconds_now();
  wake_sleepers(pool);
  double waited = run_stages(pool, 0);
  atomic_fetch_add(&pool->ticket, 1);
  waited += wait_for(&pool->busy, 0);
  double worked = waited > 0.0 ? seconds_now() - start - waited : 0.0;
  update_backoff(pool, waited < (worked > STALL_TIME ? worked : STALL_TIME));
}

static void run_alone(tn_task_fn *task, const task_range *stages, int count, void *context)
{
  for (int i = 0; i < count; ++i) {
    if (items_of(stages[i]) > 0) {
      task(stages[i].first, stages[i].last, context);
    }
  }
}

typedef struct host_job {
  tn_task_fn *task;
  void *context;
  int offset;
} host_job;

static void run_at_host(int first, int last, void *context)
{
  const host_job *job = context;
  job->task(job->offset + first, job->offset + last, job->context);
}

static void enqueue_stage(task_pool *pool, tn_task_fn *task, task_range stage, int grain,
                          void *context)
{
  host_job job = {task, context, stage.first};
  if (items_of(stage) < 2 * grain) {
    run_alone(task, &stage, 1, context);
    return;
  }
  void *handle = pool->enqueue(run_at_host, items_of(stage), grain, &job, pool->host_context);
  if (handle) {
    pool->finish(handle, pool->host_context);
  }
}

// Whether a stage is worth sharing.
static bool is_large(const task_range *stages, int count, int grain)
{
  for (int i = 0; i < count; ++i) {
    if (items_of(stages[i]) >= 2 * grain) {
      return true;
    }
  }
  return false;
}

// At most BATCH stages, on the pool's own threads.
static void run_batch(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                      int grain, void *context)
{
  bool shared = pool->parallel && is_large(stages, count, grain);
  if (!shared || pool->backoff_left > 0) {
    pool->backoff_left -= shared;
    run_alone(task, stages, count, context);
    return;
  }
  pool->stages = stages;
  pool->stage_count = count;
  pool->grain = grain;
  run_in_pool(pool, task, context);
}

void task_run_stages(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                     int grain, void *context)
{
  if (!pool) {
    run_alone(task, stages, count, context);
    return;
  }
  for (int i = 0; pool->enqueue && i < count; ++i) {
    enqueue_stage(pool, task, stages[i], grain, context);
  }
  if (pool->enqueue) {
    return;
  }
  for (int first = 0; first < count; first += BATCH) {
    int size = count - first < BATCH ? count - first : BATCH;
    run_batch(pool, task, stages + first, size, grain, context);
  }
}

#endif

void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context)
{
  task_range all = {0, count};
  task_run_stages(pool, task, &all, 1, grain, context);
}
