// Thread pool for parallel loops of a few microseconds.
//
// How many threads a step and a loop use is decided by counted work: the estimate given to
// task_begin() and the number of items in grains. Nothing is timed, so equal steps run alike.
//
// Each thread has a fixed share of a stage's items, taken in chunks, so that the same items go to
// the same thread in job after job and stay in its cache; a thread that is done takes chunks of
// others. Workers poll between the jobs of a step and sleep between steps.
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L // NOLINT: for nanosleep
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

void task_begin(task_pool *pool, double work)
{
  (void)pool, (void)work;
}

void task_end(task_pool *pool)
{
  (void)pool;
}

int task_team(const task_pool *pool)
{
  (void)pool;
  return 1;
}

void task_run_stages(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                     int grain, void *context)
{
  (void)pool, (void)grain;
  for (int i = 0; i < count; ++i) {
    if (stages[i].first < stages[i].last) {
      task(stages[i].first, stages[i].last, context);
    }
  }
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <time.h>

#define MAX_WORKERS 63
#define CHUNKS_PER_SHARE 8 // at most; other threads may take what is left
#define BATCH 64           // stages per job, for which the pool has room; more take more jobs
// Estimated work of a step on one thread, us, that pays for waking one more thread. Waking takes
// about 5 us of the caller, or of another worker, and 20 to 50 us until the thread runs.
#define WORK_PER_THREAD 100.0
// Polls, of about 40 ns each with the pause instruction: before a thread that is done takes items
// of others, which move to its cache; before it yields its core to other programs; between steps,
// before a worker sleeps; within a step, before it naps, because a serial part takes long.
#define STEAL_POLLS 12
#define YIELD_POLLS 256
#define IDLE_POLLS 1024
#define NAP_POLLS 65536
#define NAP_NS 20000

// Next chunk of a thread's share, by stage: ticket * 2^16 + chunk. An older ticket means that no
// chunk was taken yet, so nothing has to be reset between jobs.
typedef struct thread_share {
  alignas(64) _Atomic uint64_t next[BATCH];
} thread_share;

// Items [first, last), of which thread i has `share` items from first + i share on, in chunks.
// Atomic because a worker that is late may read the next job's while the caller writes it.
typedef struct job_stage {
  atomic_int first, last, share, chunk;
  int range_first, range_count; // in `ranges`, of a stage that one thread runs; else no ranges
  int target;                   // finished items of the job when the stage is complete
} job_stage;

typedef struct worker_state {
  alignas(64) atomic_bool asleep;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
} worker_state;

// One job at a time. `phase` is ticket * 2^16 + stage; the ticket is odd while a job is open. All
// threads poll `phase` only. The thread that finishes the last item of a stage moves it on, to the
// next stage or to an even ticket.
//
// A late worker is harmless: it reads the stage, then checks that the phase is still the same, then
// takes a chunk by a compare and swap that carries the ticket. If that succeeds the job cannot end
// before the worker has counted the chunk as finished; if the job has ended all its chunks carry
// its ticket or a later one.
struct task_pool { // NOLINT(clang-analyzer-optin.performance.Padding)
  tn_allocator allocator;
  tn_enqueue_fn *enqueue;
  tn_finish_fn *finish;
  void *host_context;
  int worker_count;
  atomic_int started; // workers that have taken their index

  // Written by the caller. The phase has a cache line of its own: everybody polls it.
  alignas(64) tn_task_fn *task;
  void *context;
  int stage_count;
  atomic_int team; // threads of the current step, the caller included
  atomic_bool in_step, stop;
  job_stage stages[BATCH];
  task_range ranges[BATCH];
  alignas(64) _Atomic uint64_t phase;
  alignas(64) atomic_int done; // finished items of the job
  int seats;                   // threads that may work on a job
  thread_share *shares;        // of each; both behind the pool, in the same memory
  worker_state *workers;       // [0] is the caller, unused
};

static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int items_of(task_range stage)
{
  return stage.last - stage.first;
}

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

static uint64_t ticket_of(uint64_t phase)
{
  return phase >> 16;
}

static bool is_open(uint64_t phase)
{
  return ticket_of(phase) % 2 == 1;
}

static void run_ranges(const task_pool *pool, const job_stage *s, int first, int last)
{
  if (s->range_count == 0) {
    pool->task(first, last, pool->context);
  }
  for (int i = 0; i < s->range_count; ++i) {
    task_range r = pool->ranges[s->range_first + i];
    pool->task(r.first, r.last, pool->context);
  }
}

// Takes the next chunk of a share; its index, or -1 if none is left or the job is over.
static int take_chunk(_Atomic uint64_t *next, uint64_t ticket, int count)
{
  uint64_t seen = atomic_load_explicit(next, memory_order_relaxed);
  for (;;) {
    int chunk = ticket_of(seen) == ticket ? (int)(seen & 0xffff) : 0;
    if (ticket_of(seen) > ticket || chunk >= count) {
      return -1;
    }
    if (atomic_compare_exchange_weak_explicit(next, &seen, (ticket << 16) + (uint64_t)chunk + 1,
                                              memory_order_relaxed, memory_order_relaxed)) {
      return chunk;
    }
  }
}

// Counts finished items; the last ones of the stage open the next stage or close the job. What the
// caller may overwrite once they are counted is read before.
static void count_done(task_pool *pool, uint64_t phase, const job_stage *s, int items)
{
  int target = s->target;
  bool is_last = (int)(phase & 0xffff) + 1 == pool->stage_count;
  int done = items + atomic_fetch_add_explicit(&pool->done, items, memory_order_acq_rel);
  if (done == target) {
    uint64_t next = is_last ? (ticket_of(phase) + 1) << 16 : phase + 1;
    atomic_store_explicit(&pool->phase, next, memory_order_release);
  }
}

// Runs what is left of a thread's share, which may be another's.
static void run_share(task_pool *pool, uint64_t phase, int thread)
{
  int stage = (int)(phase & 0xffff);
  const job_stage *s = &pool->stages[stage];
  int first = atomic_load_explicit(&s->first, memory_order_acquire);
  int last = atomic_load_explicit(&s->last, memory_order_acquire);
  int share = atomic_load_explicit(&s->share, memory_order_acquire);
  int chunk = atomic_load_explicit(&s->chunk, memory_order_acquire);
  if (atomic_load_explicit(&pool->phase, memory_order_acquire) != phase ||
      thread >= (last - first + share - 1) / share) {
    return;
  }
  first += thread * share;
  last = smaller(first + share, last);
  int done = 0, index, count = (last - first + chunk - 1) / chunk;
  while ((index = take_chunk(&pool->shares[thread].next[stage], ticket_of(phase), count)) >= 0) {
    int from = first + index * chunk, to = smaller(from + chunk, last);
    run_ranges(pool, s, from, to);
    done += to - from;
  }
  if (done > 0) {
    count_done(pool, phase, s, done);
  }
}

static void wait_a_little(int polls)
{
  if (polls < YIELD_POLLS) {
    relax_cpu();
  } else {
    sched_yield();
  }
}

static uint64_t load_phase(task_pool *pool)
{
  return atomic_load_explicit(&pool->phase, memory_order_acquire);
}

// Waits until the stage is over, and helps others if that takes long. Returns the new phase.
static uint64_t finish_stage(task_pool *pool, uint64_t phase, int self)
{
  uint64_t now = load_phase(pool);
  for (int i = 0; now == phase; ++i) {
    if (i % YIELD_POLLS == STEAL_POLLS) {
      int team = atomic_load(&pool->team);
      for (int k = 1; k <= team; ++k) {
        run_share(pool, phase, (self + k) % team);
      }
    }
    wait_a_little(i);
    now = load_phase(pool);
  }
  return now;
}

static void run_job(task_pool *pool, uint64_t phase, int self)
{
  uint64_t ticket = ticket_of(phase);
  while (ticket_of(phase) == ticket) {
    run_share(pool, phase, self);
    phase = finish_stage(pool, phase, self);
  }
}

// ---------------------------------------------------------------------------------------------
// Workers

// Whether the worker is wanted: it polls for jobs.
static bool is_on_duty(task_pool *pool, int self)
{
  return atomic_load(&pool->stop) ||
         (atomic_load(&pool->in_step) && self < atomic_load(&pool->team));
}

static void wake_worker(task_pool *pool, int index)
{
  worker_state *w = &pool->workers[index];
  pthread_mutex_lock(&w->mutex);
  pthread_cond_signal(&w->wake);
  pthread_mutex_unlock(&w->mutex);
}

// Workers wake each other as a binary tree: worker i the workers 2 i + 1 and 2 i + 2.
static void wake_children(task_pool *pool, int self)
{
  for (int i = 2 * self + 1; i <= 2 * self + 2 && i <= pool->worker_count; ++i) {
    if (i < atomic_load(&pool->team) && atomic_load(&pool->workers[i].asleep)) {
      wake_worker(pool, i);
    }
  }
}

// No wake-up is lost: the worker is marked before it checks whether it is wanted, and the caller
// opens the step before it reads the marks.
static void sleep_off_duty(task_pool *pool, int self)
{
  worker_state *w = &pool->workers[self];
  pthread_mutex_lock(&w->mutex);
  atomic_store(&w->asleep, true);
  while (!is_on_duty(pool, self)) {
    pthread_cond_wait(&w->wake, &w->mutex);
  }
  atomic_store(&w->asleep, false);
  pthread_mutex_unlock(&w->mutex);
  wake_children(pool, self);
}

static void nap(void)
{
  struct timespec time = {0, NAP_NS};
  nanosleep(&time, NULL);
}

// Returns the phase of an open job; a closed one if the pool stops.
static uint64_t wait_for_job(task_pool *pool, int self)
{
  int polls = 0;
  for (;;) {
    uint64_t phase = load_phase(pool);
    if (is_open(phase) || atomic_load(&pool->stop)) {
      return phase;
    }
    polls += 1;
    if (polls > IDLE_POLLS && !is_on_duty(pool, self)) {
      sleep_off_duty(pool, self);
      polls = 0;
    } else if (polls > NAP_POLLS) {
      nap();
    } else {
      wait_a_little(polls);
    }
  }
}

static void *worker(void *argument)
{
  task_pool *pool = argument;
  int self = 1 + atomic_fetch_add(&pool->started, 1);
  uint64_t phase;
  while (is_open(phase = wait_for_job(pool, self))) {
    run_job(pool, phase, self);
  }
  return NULL;
}

static size_t pool_size(int seats)
{
  return sizeof(task_pool) + (size_t)seats * (sizeof(thread_share) + sizeof(worker_state));
}

task_pool *task_pool_create(int threads, tn_enqueue_fn *enqueue, tn_finish_fn *finish,
                            void *host_context, const tn_allocator *allocator)
{
  int workers = enqueue ? 0 : smaller(threads - 1, MAX_WORKERS);
  int seats = workers + 1;
  size_t size = pool_size(seats);
  task_pool *pool = allocator->alloc(size, 64, allocator->context);
  if (!pool) {
    return NULL;
  }
  memset(pool, 0, size);
  pool->allocator = *allocator;
  pool->enqueue = enqueue;
  pool->finish = finish;
  pool->host_context = host_context;
  pool->seats = seats;
  pool->shares = (thread_share *)(pool + 1);
  pool->workers = (worker_state *)(pool->shares + seats);
  atomic_store(&pool->team, 1);
  for (int i = 0; i < seats; ++i) {
    pthread_mutex_init(&pool->workers[i].mutex, NULL);
    pthread_cond_init(&pool->workers[i].wake, NULL);
  }
  for (int i = 1; i <= workers; ++i) {
    if (pthread_create(&pool->workers[i].thread, NULL, worker, pool) != 0) {
      task_pool_destroy(pool);
      return NULL;
    }
    pool->worker_count += 1;
  }
  return pool;
}

void task_pool_destroy(task_pool *pool)
{
  atomic_store(&pool->stop, true);
  for (int i = 1; i <= pool->worker_count; ++i) {
    wake_worker(pool, i);
  }
  for (int i = 1; i <= pool->worker_count; ++i) {
    pthread_join(pool->workers[i].thread, NULL);
  }
  for (int i = 0; i < pool->seats; ++i) {
    pthread_cond_destroy(&pool->workers[i].wake);
    pthread_mutex_destroy(&pool->workers[i].mutex);
  }
  tn_allocator a = pool->allocator;
  a.release(pool, pool_size(pool->seats), a.context);
}

// ---------------------------------------------------------------------------------------------
// Steps and jobs

// Wakes workers early, so that they are ready for the first jobs; what a late one has not begun is
// done by others.
void task_begin(task_pool *pool, double work)
{
  double wanted = work / WORK_PER_THREAD;
  int most = pool->worker_count + 1;
  int team = wanted < 2.0 ? 1 : wanted < (double)most ? (int)wanted : most;
  atomic_store(&pool->team, team);
  if (team == 1) {
    return;
  }
  atomic_store(&pool->in_step, true);
  for (int i = 1; i < team; ++i) {
    int parent = (i - 1) / 2;
    if (atomic_load(&pool->workers[i].asleep) &&
        (parent == 0 || !atomic_load(&pool->workers[parent].asleep))) {
      wake_worker(pool, i);
    }
  }
}

void task_end(task_pool *pool)
{
  if (atomic_load(&pool->team) > 1) {
    atomic_store(&pool->in_step, false);
    atomic_store(&pool->team, 1);
  }
}

int task_team(const task_pool *pool)
{
  return pool ? atomic_load(&pool->team) : 1;
}

// Shares and chunks of blocks, whose grain is more than one, have an even number of them: 16-lane
// passes take two at a time.
static int even(int items, int grain)
{
  return grain > 1 ? items + items % 2 : items;
}

// With release order: a late worker that reads a new value also sees that the last job is over.
static void set_stage(job_stage *s, task_range range, int share, int chunk)
{
  atomic_store_explicit(&s->first, range.first, memory_order_release);
  atomic_store_explicit(&s->last, range.last, memory_order_release);
  atomic_store_explicit(&s->share, share, memory_order_release);
  atomic_store_explicit(&s->chunk, chunk, memory_order_release);
}

// A stage of its own. As many threads take part as the stage has grains.
static void add_stage(task_pool *pool, task_range range, int grain)
{
  int count = items_of(range), threads = smaller(count / grain, atomic_load(&pool->team));
  int share = even((count + threads - 1) / threads, grain);
  int chunk = (share + CHUNKS_PER_SHARE - 1) / CHUNKS_PER_SHARE;
  job_stage *s = &pool->stages[pool->stage_count++];
  s->range_count = 0;
  set_stage(s, range, share, even(chunk < grain ? grain : chunk, grain));
}

// A stage that one thread runs: a range of less than two grains, or several of them in order.
static void add_small_stage(task_pool *pool, task_range range, int range_index, bool joins_last)
{
  job_stage *s = &pool->stages[joins_last ? pool->stage_count - 1 : pool->stage_count++];
  if (!joins_last) {
    s->range_first = range_index;
    s->range_count = 0;
  }
  int items = (joins_last ? atomic_load(&s->last) : 0) + items_of(range);
  s->range_count += 1;
  set_stage(s, (task_range){0, items}, items, items);
}

// Copies the stages that are not empty. Small ones in a row become one: a barrier between them
// would cost more than other threads could help.
static void make_stages(task_pool *pool, const task_range *stages, int count, int grain)
{
  int ranges = 0, done = 0;
  bool was_small = false;
  pool->stage_count = 0;
  for (int i = 0; i < count; ++i) {
    if (items_of(stages[i]) <= 0) {
      continue;
    }
    bool is_small = items_of(stages[i]) < 2 * grain;
    if (is_small) {
      add_small_stage(pool, stages[i], ranges, was_small);
    } else {
      add_stage(pool, stages[i], grain);
    }
    was_small = is_small;
    pool->ranges[ranges++] = stages[i];
    done += items_of(stages[i]);
    pool->stages[pool->stage_count - 1].target = done;
  }
}

// At most BATCH stages, at least one of them large.
static void run_in_pool(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                        int grain, void *context)
{
  pool->task = task;
  pool->context = context;
  make_stages(pool, stages, count, grain);
  atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
  uint64_t phase = (ticket_of(load_phase(pool)) + 1) << 16;
  atomic_store_explicit(&pool->phase, phase, memory_order_release);
  run_job(pool, phase, 0);
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
  for (int first = 0; !pool->enqueue && first < count; first += BATCH) {
    int size = smaller(count - first, BATCH);
    if (task_team(pool) > 1 && is_large(stages + first, size, grain)) {
      run_in_pool(pool, task, stages + first, size, grain, context);
    } else {
      run_alone(task, stages + first, size, context);
    }
  }
}

#endif

void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context)
{
  task_range all = {0, count};
  task_run_stages(pool, task, &all, 1, grain, context);
}
