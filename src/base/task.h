// Work for several threads: the host's scheduler, or a built-in pool.
#ifndef TENON_BASE_TASK_H
#define TENON_BASE_TASK_H

#include <tenon/base.h>

typedef struct task_pool task_pool;

// Null when out of memory or threads. `enqueue` and `finish` null: the pool's own threads.
task_pool *task_pool_create(int threads, tn_enqueue_fn *enqueue, tn_finish_fn *finish,
                            void *host_context, const tn_allocator *allocator);
void task_pool_destroy(task_pool *pool);

// Around the jobs of a step: how long they take decides whether the next ones are shared out.
void task_begin(task_pool *pool);
void task_end(task_pool *pool);

// Items of which none waits for another.
typedef struct task_range {
  int32_t first, last;
} task_range;

// Runs `task` over the items of one range after the other, any number of them. It costs less than
// a job for each: threads meet between ranges, but stay.
void task_run_stages(task_pool *pool, tn_task_fn *task, const task_range *stages, int count,
                     int grain, void *context);

// Runs `task` over [0, count) in ranges of at least `grain`, and returns when all is done. A grain
// is about 2 us of work.
void task_run(task_pool *pool, tn_task_fn *task, int count, int grain, void *context);

#endif
