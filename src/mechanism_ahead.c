// Springs that the substep does not resolve, on bodies that turn far in it.
//
// Until such a spring has closed it does not pull with its length, so that turns which lengthen it
// do no work: its rows hold their velocities along where the substep began, and a point on a circle
// leaves along the tangent. Where the bodies will be tells what that adds to what the springs hold;
// it is taken back as errors are, but at once.
#include "mechanism.h"

#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one body at a time");

static const double LEAST = 1e-5; // share of what springs hold

// Held in both parts, by a spring whose impulse does not explain its length.
static bool is_strained(const law *l)
{
  bool spring = (l->kind == LAW_LOCKED || l->kind == LAW_RANGE) && l->alpha > 0.0;
  return spring && l->active && l->holds && l->error != 0.0;
}

static const stated_row *row_of(const law *l)
{
  return (const stated_row *)(const void *)l->j;
}

// Velocities and what the solve changes of them.
static double velocity_of(const mechanism_set *set, int32_t row)
{
  return set->vectors[row] + set->vectors[set->row_count + row];
}

static double velocity_along(const direct_context *c, const direct_joint *j, const law *l)
{
  double u = 0.0;
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < BODY_ROWS && j->at[side] >= 0; ++k) {
      u += l->j[side][k] * velocity_of(c->set, c->set->nodes[j->at[side]].first_row + k);
    }
  }
  return u;
}

// Where rows will be by their velocities; false if nothing is strained.
static bool foresee_rows(const direct_context *c, const mechanism *m, double inv_h)
{
  bool any = false;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    for (int k = 0; k < j->law_count; ++k) {
      law *l = &c->set->laws[j->first_law + k];
      l->asked = 0.0;
      if (is_strained(l)) {
        l->asked = (double)row_of(l)->x * inv_h + velocity_along(c, j, l);
        any = true;
      }
    }
  }
  return any;
}

static void state_rows(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_rows; i < m->last_rows; ++i) {
    rows_block *block = &c->set->rows_blocks[i];
    c->direct->state(c->data, block, &c->set->stated[block->first_row]);
  }
}

// To the end of the substep, or back. Solutions keep the poses meanwhile.
static void move_bodies(const direct_context *c, const mechanism *m, bool ahead)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    body_state *b = &c->data->state[node->index];
    pair2 *pose = c->set->solutions + node->first_row;
    if (!ahead) {
      memcpy(b->pose, pose, sizeof b->pose);
      continue;
    }
    memcpy(pose, b->pose, sizeof b->pose);
    float v[BODY_ROWS];
    for (int k = 0; k < BODY_ROWS; ++k) {
      v[k] = (float)velocity_of(c->set, node->first_row + k);
    }
    fly_ahead(c->data, node->index, v, b);
  }
}

// What the springs of a block hold more than their rows foresaw is to leave them along their own
// lengths: as a vector, for the rows' axes need not turn with it.
static void ask_back(const direct_joint *j, law *l, int block, double inv_h)
{
  double more = 0.0, whole = 0.0;
  for (int k = 0; k < j->law_count; ++k) {
    if (l[k].block == block && is_strained(&l[k])) {
      double length = l[k].rate + l[k].error;
      double beyond = (double)row_of(&l[k])->x * inv_h - l[k].asked;
      more += (length + 0.5 * beyond) * beyond / l[k].alpha;
      whole += length * length / l[k].alpha;
    }
  }
  // Not what rounding brings, nor what an angle's jump does.
  double share = more > LEAST * whole && more < whole ? more / whole : 0.0;
  for (int k = 0; k < j->law_count; ++k) {
    if (l[k].block == block && is_strained(&l[k])) {
      l[k].asked = share * (l[k].rate + l[k].error);
    }
  }
}

void mechanism_look_ahead(const direct_context *c, const mechanism *m)
{
  double inv_h = 1.0 / (double)c->data->substep.h;
  if (!foresee_rows(c, m, inv_h)) {
    return;
  }
  move_bodies(c, m, true);
  state_rows(c, m);
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    ask_back(j, &c->set->laws[j->first_law], 0, inv_h);
    ask_back(j, &c->set->laws[j->first_law], 1, inv_h);
  }
  move_bodies(c, m, false);
  state_rows(c, m);
}
