// Thread pool for parallel loops of a few microseconds.
//
// Each thread has a fixed share of a stage's items, taken in chunks, so that the same items go to
// the same thread in job after job and stay in its cache; a thread that is done steals from the
// others. Workers spin between the jobs of a step and sleep between steps. Whether parallel steps
// are faster is measured from time to time, by trials.
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
#define CHUNKS_PER_THREAD 4 // of a thread's share, at most; other threads may steal what is left
#define BATCH 64            // stages per job, for which the pool has counters; more take more jobs
// Polls of a thread that is done before it steals: stolen items move to its cache, and have to move
// back in the next job.
#define STEAL_SPINS 100
// Polls of a worker for the next job before it sleeps: between steps, and within one.
#define IDLE_SPINS 500
#define STEP_SPINS 20000
// A trial runs TRIAL_STEPS steps the other way, in parallel or serially, which is kept if it takes
// less than MAX_TIME_RATIO of the time. The interval to the next trial starts at
// FIRST_TRIAL_INTERVAL steps and doubles with every trial that fails. Serial steps faster than
// MIN_PARALLEL_STEP are not tried in parallel.
#define TRIAL_STEPS 3
#define FIRST_TRIAL_INTERVAL 8
#define MAX_TRIAL_INTERVAL 256
#define MAX_TIME_RATIO 0.96
#define MIN_PARALLEL_STEP 1e-4 // s
// Back-off: jobs that the caller runs alone after a stall. It grows with every stall, and halves
// after BACKOFF_DECAY_JOBS jobs without one.
#define MIN_BACKOFF_JOBS 64
#define MAX_BACKOFF_JOBS 4096
#define BACKOFF_DECAY_JOBS 512
#define STALL_TIME 2e-4 // s, shorter waits are no stall

// Next item of a thread's share, by stage. The owner and thieves take chunks from it.
typedef struct thread_share {
  alignas(64) atomic_int next[BATCH];
} thread_share;

// A thread's share of a stage, and the items per chunk.
typedef struct thread_range {
  int first, last, chunk;
} thread_range;

// One job at a time. Workers and the caller (thread 0) take chunks of the shares until all items of
// a stage are done, then go on to the next stage.
//
// `ticket` is odd while a job is open. A worker increments `busy` before it reads the ticket, and
// the caller closes the job before it reads `busy`. So a worker either sees the job closed and does
// not touch it, or the caller waits for it. A worker that wakes up too late delays nobody.
struct task_pool { // NOLINT(clang-analyzer-optin.performance.Padding)
  tn_allocator allocator;
  tn_enqueue_fn *enqueue;
  tn_finish_fn *finish;
  void *host_context;
  int thread_count;
  atomic_int started; // workers that have taken their index
  pthread_t threads[MAX_THREADS];
  pthread_mutex_t mutex;
  pthread_cond_t wake;

  bool parallel;       // mode of the current step
  bool in_trial;       // the mode is on trial
  int steps_left;      // until the trial begins or ends
  int trial_interval;  // steps from the last trial to the next
  double step_start;   // s, time at which the step began
  double best_time[2]; // s, fastest of the recent steps, by mode: serial, parallel
  int backoff;         // jobs that the caller runs alone after the next stall, before it grows
  int backoff_left;    // jobs that are left of the current back-off
  int on_time_jobs;    // since the last stall or decay of the back-off

  // Data that the caller writes and data that workers write are on separate cache lines.
  alignas(64) tn_task_fn *task;
  void *context;
  const task_range *stages;
  int stage_count;
  int grain;
  atomic_uint ticket;
  atomic_bool in_step;
  atomic_bool stop;
  alignas(64) atomic_int busy; // workers that may be in the current job
  atomic_int sleepers;
  alignas(64) atomic_int done[BATCH]; // finished items of each stage
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

// Equal shares, in chunks of at least a grain, both with an even number of items: 16-lane passes
// take two blocks at a time. A stage of less than two grains goes to thread 0 as a whole.
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

// Runs what is left of a thread's share, which may be another's.
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

// Waits until `counter` equals `wanted`. Returns the time, s; 0 if IDLE_SPINS polls suffice.
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

// Runs the open job; returns the time spent waiting for others, s.
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

// Polls for a job; false if none came.
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
    // No lost wake-up: the sleeper is counted before it checks for a job, and the caller opens the
    // job before it reads the count.
    atomic_fetch_add(&pool->sleepers, 1);
    if (!has_job(pool, seen)) {
      pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
  }
}

// Resets the count itself, so that slow wakers are not signalled again by every job.
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

// Wakes the workers early, so that they are ready for the first job.
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

// Keeps the mode of the trial if it was faster; otherwise returns and tries again later.
static void end_trial(task_pool *pool)
{
  bool better = pool->best_time[pool->parallel] < MAX_TIME_RATIO * pool->best_time[!pool->parallel];
  pool->parallel = better ? pool->parallel : !pool->parallel;
  pool->trial_interval = better                                      ? FIRST_TRIAL_INTERVAL
                         : pool->trial_interval < MAX_TRIAL_INTERVAL ? 2 * pool->trial_interval
                                                                     : MAX_TRIAL_INTERVAL;
  pool->steps_left = pool->trial_interval;
}

// Waking workers and moving data between caches may cost more than parallel jobs gain. That is
// measured: the fastest step of a trial is compared with the fastest of the steps just before it.
// The fastest, because other programs disturb the rest.
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

// On a machine that is short of cores a worker may be preempted in the middle of a job, and a step
// would take longer than on one thread. After such a stall the caller works alone for a while, and
// for longer each time it happens again. Results do not depend on it.
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

// It is a stall if the caller waits for longer than it works, and longer than STALL_TIME.
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

// The host counts items from 0.
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

// True if at least one stage has enough work to run in parallel.
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
