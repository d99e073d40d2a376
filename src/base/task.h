// Parallel loops, on the host's scheduler or a built-in thread pool. Calls return when all of their
// items are done. Items of a range must be independent: which thread runs which is not determined.
#ifndef TENON_BASE_TASK_H
#define TENON_BASE_TASK_H

#include <tenon/base.h>

typedef struct task_pool task_pool;

// `threads` includes the caller. With `enqueue` and `finish` the host's scheduler runs the items;
// null: the pool has its own threads. Null when out of memory or threads.
task_pool *task_pool_create(int threads, tn_enqueue_fn *enqueue, tn_finish_fn *finish,
                            void *host_context, const tn_allocator *allocator);
void task_pool_destroy(task_pool *pool);

// Around the jobs of a step. `work`: estimated time of the step on one thread, us, which decides
// how many threads take part; outside of a step everything runs on the calling thread.
void task_begin(task_pool *pool, double work);
void task_end(task_pool *pool);
// Threads of the current step, the caller included.
int task_team(const task_pool *pool);

// Items [first, last), in any order and side by side.
typedef struct task_range {
  int32_t first, last;
} task_range;

// Runs `task` over one range (stage) after the other; a stage begins when the last one is done.
// Cheaper than a task_run() for each: threads meet at a barrier between stages, but keep the job.
// `pool` null: on the calling thread.
void task_run_stages(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                     int grain, void *context);

// Runs `task` over [0, count) in ranges of at least `grain` items, which should be about 2 us of
// work.
void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context);

#endif
