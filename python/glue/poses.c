// The array of all poses of a world, which each step refreshes.
//
// The step has just written the bodies, so that they are still in the cache: a copy here takes a
// few nanoseconds a body, less than a hundredth of the step. Read later, the same rows would come
// from memory. Of a world where little moves only the rows of what moved are copied.
#include "glue.h"

#include <stdlib.h>

struct tnp_poses {
  int count;            // of bodies
  int capacity;         // of the three below
  tn_move_event *moved; // of the last step
  tn_body_id *ids;      // of these
  double *rows;         // their poses
  int slot_count;       // of the next
  int *row_of_slot;     // -1: no body
};

void tnp_unwatch(tnp_world *w)
{
  struct tnp_poses *p = w->watched;
  if (p) {
    free(p->moved);
    free(p->ids);
    free(p->rows);
    free(p->row_of_slot);
    free(p);
  }
  w->watched = NULL;
  w->poses = NULL;
}

static bool map_slots(tnp_world *w, struct tnp_poses *p)
{
  tn_body_id *ids = calloc((size_t)p->count + 1, sizeof *ids);
  if (!ids) {
    return false;
  }
  tn_world_bodies(w->world, ids, p->count);
  p->slot_count = p->count > 0 ? (int)ids[p->count - 1].index + 1 : 0;
  p->row_of_slot = malloc(((size_t)p->slot_count + 1) * sizeof *p->row_of_slot);
  for (int i = 0; p->row_of_slot && i < p->slot_count; ++i) {
    p->row_of_slot[i] = -1;
  }
  for (int i = 0; p->row_of_slot && i < p->count; ++i) {
    p->row_of_slot[ids[i].index] = i;
  }
  free(ids);
  return p->row_of_slot != NULL;
}

bool tnp_watch(tnp_world *w, double *poses)
{
  tnp_unwatch(w);
  struct tnp_poses *p = calloc(1, sizeof *p);
  if (!p) {
    return false;
  }
  w->watched = p;
  p->count = tn_world_bodies(w->world, NULL, 0);
  p->capacity = p->count / 4 + 1; // where more moved, all rows are copied
  p->moved = calloc((size_t)p->capacity, sizeof *p->moved);
  p->ids = calloc((size_t)p->capacity, sizeof *p->ids);
  p->rows = calloc((size_t)p->capacity * TN_POSE_NUMBERS, sizeof *p->rows);
  if (!p->moved || !p->ids || !p->rows || !map_slots(w, p)) {
    tnp_unwatch(w);
    return false;
  }
  w->poses = poses;
  w->stale = true;
  return true;
}

void tnp_read_poses(tnp_world *w)
{
  const struct tnp_poses *p = w->watched;
  if (p) {
    w->stale =
        p->count > 0 && !tn_bodies_read_poses(w->world, NULL, p->count, TN_DOUBLE, w->poses, 0);
  }
}

static void read_moved(tnp_world *w, const struct tnp_poses *p, int count)
{
  int bodies = 0;
  while (bodies < count && p->moved[bodies].body.index != 0) { // soft bodies come behind them
    p->ids[bodies] = p->moved[bodies].body;
    ++bodies;
  }
  if (bodies == 0) {
    return;
  }
  if (!tn_bodies_read_poses(w->world, p->ids, bodies, TN_DOUBLE, p->rows, 0)) {
    w->stale = true;
    return;
  }
  for (int i = 0; i < bodies; ++i) {
    int slot = (int)p->ids[i].index;
    int row = slot < p->slot_count ? p->row_of_slot[slot] : -1; // -1: it came after tnp_watch()
    if (row < 0) {
      continue;
    }
    double *to = w->poses + (size_t)row * TN_POSE_NUMBERS;
    const double *from = p->rows + (size_t)i * TN_POSE_NUMBERS;
    for (int k = 0; k < TN_POSE_NUMBERS; ++k) {
      to[k] = from[k];
    }
  }
}

void tnp_poses_after_step(tnp_world *w, uint32_t status)
{
  const struct tnp_poses *p = w->watched;
  if (!p) {
    return;
  }
  // A scene moves bodies before its steps as well, and recovery what it has lost: neither is
  // listed.
  int count = status == 0 && !w->stale && !w->run ? tn_world_moved(w->world, p->moved, p->capacity)
                                                  : p->capacity + 1;
  if (count > p->capacity) {
    tnp_read_poses(w);
  } else {
    read_moved(w, p, count);
  }
}
