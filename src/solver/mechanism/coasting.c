// Mechanisms that coast: free bodies that move together without turning, whose joints are closed
// and carry nothing, as a figure in free fall. Forces that are the same per mass keep them so: no
// row has anything to do, and the solves of a step are left out.
//
// The first solve of a step builds its rows and finds out. Later ones look at velocities only,
// which impacts or soft bodies may have changed since.
#include "solver/mechanism/solve_state.h"

#include <math.h>
#include <string.h>

// Whether all bodies have the velocity of the first and none turns.
static bool move_together(const direct_context *c, const mechanism *m)
{
  const float *first = NULL;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    const body_state *b = &c->data->state[node->index];
    first = first ? first : b->v;
    for (int k = 0; k < 3; ++k) {
      if (!(fabsf(b->v[k] - first[k]) <= TUNING_COASTING_SPEED &&
            fabsf(b->w[k]) <= TUNING_COASTING_SPEED)) {
        return false;
      }
    }
  }
  return true;
}

// Whether a row asks for nothing: a closed rigid row or friction, or a row at a bound of zero.
static bool is_idle(const joint_row *l, const double *motion, double most_error)
{
  if (!l->active) {
    return l->lambda == 0.0 && row_bound(l) == 0.0;
  }
  bool plain = (l->kind == ROW_LOCKED && l->alpha == 0.0) || l->kind == ROW_FRICTION;
  return plain && fabs(l->error) <= most_error &&
         fabs(l->rate + row_velocity(l, motion)) <= (double)TUNING_COASTING_SPEED;
}

static bool are_rows_idle(const solve_state *s)
{
  double least = TUNING_COASTING_ERROR / (double)s->context->data->substep.h;
  for (int32_t i = s->mechanism->first_joint; i < s->mechanism->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    double motion[2 * BODY_ROWS], lever = (double)fmaxf(j->lever[0], j->lever[1]);
    direct_joint_motion(s->context, j, motion);
    const joint_row *l = &s->joint_rows[j->first_joint_row];
    for (int k = 0; k < j->joint_row_count; ++k, ++l) {
      if (!is_idle(l, motion, l->block ? least : lever * least)) {
        return false;
      }
    }
  }
  return true;
}

// What friction gave ahead has done its work: all impulses of the step are zero.
static void drop_impulses(const direct_context *c, const mechanism *m)
{
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    direct_joint *j = &c->set->joints[i];
    memset(j->state[0].lambda, 0, sizeof j->state[0].lambda);
    memset(j->state[1].lambda, 0, sizeof j->state[1].lambda);
    for (int k = 0; k < j->axis_count; ++k) {
      c->set->axes[j->first_axis + k].state.friction = 0.0f;
    }
  }
}

bool solve_begins_to_coast(const solve_state *s)
{
  const direct_context *c = s->context;
  mechanism *m = s->mechanism;
  m->coasts = RULE(mechanism_coasting) && c->first_substep && c->pass == DIRECT_BIAS &&
              !m->may_touch && !m->anchored && m->first_ball < 0 &&
              m->first_coupling == m->last_coupling && move_together(c, m) && are_rows_idle(s);
  if (m->coasts) {
    drop_impulses(c, m);
  }
  return m->coasts;
}

bool mechanism_coasts(const direct_context *c, mechanism *m)
{
  m->coasts = m->coasts && move_together(c, m);
  return m->coasts;
}
