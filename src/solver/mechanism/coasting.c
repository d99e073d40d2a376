// Mechanisms that coast: free bodies that move together without turning, whose joints are closed
// and carry nothing, as a figure in free fall. Forces that are the same per mass keep them so: no
// row has anything to do, and the solves of a step are left out.
//
// The first solve of a step builds its rows and finds out. Later ones look at velocities only,
// which impacts or soft bodies may have changed since.
#include "solver/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

// Whether all bodies have the velocity of the first and none turns.
static bool move_together(const direct_context *c, const mechanism *m)
{
  const float *first = NULL;
  float most = 0.0f;
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &c->set->nodes[i];
    if (node->is_joint) {
      continue;
    }
    const body_state *b = &c->data->state[node->index];
    first = first ? first : b->v;
    for (int k = 0; k < 3; ++k) {
      float apart = fabsf(b->v[k] - first[k]), turn = fabsf(b->w[k]);
      most = apart > most ? apart : most;
      most = turn > most ? turn : most;
    }
  }
  return most <= TUNING_COASTING_SPEED;
}

// Whether a row asks for nothing of bodies that move together: a closed rigid row or friction, or a
// row at a bound of zero.
static bool is_idle(const joint_row *l, double most_error)
{
  if (!l->active) {
    return l->lambda == 0.0 && row_bound(l) == 0.0;
  }
  bool plain = (l->kind == ROW_LOCKED && l->alpha == 0.0) || l->kind == ROW_FRICTION;
  return plain && l->rate == 0.0 && fabs(l->error) <= most_error;
}

static bool are_rows_idle(const direct_context *c, const mechanism *m)
{
  double least = TUNING_COASTING_ERROR / (double)c->data->substep.h;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &c->set->joints[i];
    double lever = (double)(j->lever[0] > j->lever[1] ? j->lever[0] : j->lever[1]);
    const joint_row *l = &c->set->joint_rows[j->first_joint_row];
    for (int k = 0; k < j->joint_row_count; ++k, ++l) {
      if (!is_idle(l, l->block ? least : lever * least)) {
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

void mechanism_begin_to_coast(const direct_context *c, mechanism *m)
{
  m->coasts = RULE(mechanism_coasting) && c->first_substep && c->pass == DIRECT_BIAS &&
              !m->may_touch && !m->anchored && m->first_ball < 0 &&
              m->first_coupling == m->last_coupling && move_together(c, m) && are_rows_idle(c, m);
  if (m->coasts) {
    drop_impulses(c, m);
  }
}

bool mechanism_coasts(const direct_context *c, mechanism *m)
{
  m->coasts = m->coasts && move_together(c, m);
  return m->coasts;
}
