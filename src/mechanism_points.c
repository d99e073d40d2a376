// What the solve of a mechanism needs to know of a tree of ball joints.
#include "mechanism.h"

point_tree points_of(const mechanism_set *set, const mechanism *m)
{
  point_tree t = {0};
  t.blocks = set->point_blocks + m->first_point / BLOCK_WIDTH;
  t.points = set->points + m->first_point;
  t.count = m->last_joint - m->first_joint;
  t.links = set->links + m->first_link;
  t.bodies = set->point_bodies + m->first_node;
  t.body_count = m->last_node - m->first_node;
  t.changes = set->solutions + set->nodes[m->first_node].first_row;
  t.impulses = t.changes + BODY_ROWS * (ptrdiff_t)t.body_count;
  return t;
}

void points_keep(const point_tree *t)
{
  for (int32_t i = 0; i < t->count; ++i) {
    point_joint *p = &t->points[i];
    for (int k = 0; k < 3; ++k) {
      p->lambda[k] = (float)t->impulses[3 * i + k][0];
      p->sum[k] += p->lambda[k];
    }
  }
}

void points_rest(const point_tree *t, int32_t i, double *left, double *whole)
{
  const point_joint *p = &t->points[i];
  double rest[3] = {(double)p->error[0], (double)p->error[1], (double)p->error[2]};
  for (int k = 0; k < 3; ++k) {
    *whole += rest[k] * rest[k];
  }
  for (int side = 0; side < 2; ++side) {
    if (p->body[side] >= 0) {
      const pair2 *x = t->changes + BODY_ROWS * (ptrdiff_t)p->body[side];
      const float *r = p->lever[side]; // negative for A
      double sign = side == 0 ? -1.0 : 1.0;
      for (int k = 0; k < 3; ++k) {
        int n = (k + 1) % 3, o = (k + 2) % 3;
        rest[k] += sign * x[k][1] + x[3 + n][1] * (double)r[o] - x[3 + o][1] * (double)r[n];
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    *left += rest[k] * rest[k];
  }
}
