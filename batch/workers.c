// Work stealing: every thread has a range of worlds, the same in every call, so that a world stays
// in the cache of its core. A thread takes worlds from the front of its range, one at a time; one
// that has none left takes the rear half of another range.
#include "workers.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Range [first, last) of a thread, in one word so that it changes at once: first in the upper half.
typedef struct share {
  alignas(64) _Atomic uint64_t range;
} share;

struct workers {
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  pthread_t *threads;
  struct seat *seats;
  share *shares;
  int count;   // threads, the caller included
  int started; // besides the caller
  int working; // threads that have not finished the present call
  unsigned calls;
  bool ends;
  void (*task)(int index, void *context);
  void *context;
};

typedef struct seat {
  workers *owner;
  int index;
} seat;

static uint64_t range_of(uint32_t first, uint32_t last)
{
  return (uint64_t)first << 32 | last;
}

// Takes the front of the own range; -1: none is left.
static int take_own(share *s)
{
  uint64_t range = atomic_load(&s->range);
  for (;;) {
    uint32_t first = (uint32_t)(range >> 32), last = (uint32_t)range;
    if (first >= last) {
      return -1;
    }
    if (atomic_compare_exchange_weak(&s->range, &range, range_of(first + 1, last))) {
      return (int)first;
    }
  }
}

// Moves the rear half of a range, at least one world, to `to`, which is empty.
static bool steal(share *from, share *to)
{
  uint64_t range = atomic_load(&from->range);
  for (;;) {
    uint32_t first = (uint32_t)(range >> 32), last = (uint32_t)range;
    if (first >= last) {
      return false;
    }
    uint32_t middle = first + (last - first) / 2;
    if (atomic_compare_exchange_weak(&from->range, &range, range_of(first, middle))) {
      atomic_store(&to->range, range_of(middle, last));
      return true;
    }
  }
}

static void work(workers *w, int index)
{
  share *own = &w->shares[index];
  for (bool found = true; found;) {
    for (int i; (i = take_own(own)) >= 0;) {
      w->task(i, w->context);
    }
    found = false;
    for (int k = 1; k < w->count && !found; ++k) {
      found = steal(&w->shares[(index + k) % w->count], own);
    }
  }
}

static void *thread_main(void *context)
{
  const seat *s = context;
  workers *w = s->owner;
  unsigned seen = 0;
  pthread_mutex_lock(&w->lock);
  for (;;) {
    while (w->calls == seen && !w->ends) {
      pthread_cond_wait(&w->start, &w->lock);
    }
    if (w->ends) {
      break;
    }
    seen = w->calls;
    pthread_mutex_unlock(&w->lock);
    work(w, s->index);
    pthread_mutex_lock(&w->lock);
    if (--w->working == 0) {
      pthread_cond_signal(&w->done);
    }
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

workers *workers_create(int threads)
{
  workers *w = calloc(1, sizeof *w);
  if (!w) {
    return NULL;
  }
  size_t shares = (size_t)threads * sizeof *w->shares;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->start, NULL);
  pthread_cond_init(&w->done, NULL);
  w->threads = calloc((size_t)threads, sizeof *w->threads);
  w->seats = calloc((size_t)threads, sizeof *w->seats);
  w->shares = aligned_alloc(alignof(share), shares);
  bool ok = w->threads && w->seats && w->shares;
  w->count = threads;
  for (int i = 0; i < threads && ok; ++i) {
    w->seats[i] = (seat){w, i};
    atomic_init(&w->shares[i].range, 0);
    if (i > 0) {
      ok = pthread_create(&w->threads[i], NULL, thread_main, &w->seats[i]) == 0;
      w->started += ok;
    }
  }
  if (!ok) {
    workers_destroy(w);
    return NULL;
  }
  return w;
}

void workers_destroy(workers *w)
{
  if (!w) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  w->ends = true;
  pthread_cond_broadcast(&w->start);
  pthread_mutex_unlock(&w->lock);
  for (int i = 1; i <= w->started; ++i) {
    pthread_join(w->threads[i], NULL);
  }
  pthread_cond_destroy(&w->start);
  pthread_cond_destroy(&w->done);
  pthread_mutex_destroy(&w->lock);
  free(w->threads);
  free(w->seats);
  free(w->shares);
  free(w);
}

void workers_run(workers *w, int count, void (*task)(int index, void *context), void *context)
{
  pthread_mutex_lock(&w->lock);
  for (int64_t i = 0; i < w->count; ++i) {
    uint32_t first = (uint32_t)(i * count / w->count);
    uint32_t last = (uint32_t)((i + 1) * count / w->count);
    atomic_store(&w->shares[i].range, range_of(first, last));
  }
  w->task = task;
  w->context = context;
  w->working = w->started;
  w->calls += 1;
  pthread_cond_broadcast(&w->start);
  pthread_mutex_unlock(&w->lock);
  work(w, 0);
  pthread_mutex_lock(&w->lock);
  while (w->working > 0) {
    pthread_cond_wait(&w->done, &w->lock);
  }
  pthread_mutex_unlock(&w->lock);
}
