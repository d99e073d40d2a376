// Threads that share the worlds of a batch.
#ifndef TENON_BATCH_WORKERS_H
#define TENON_BATCH_WORKERS_H

typedef struct workers workers;

// `threads` includes the caller. Null without memory or threads.
workers *workers_create(int threads);
void workers_destroy(workers *w);
// Calls task(i, context) for all i of [0, count), on all threads.
void workers_run(workers *w, int count, void (*task)(int index, void *context), void *context);

#endif
