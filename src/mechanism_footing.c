// Contacts as a mechanism feels them. A pass over contacts moves each body by itself: a foot that
// meets the ground is stopped as if nothing stood on it, and the joints push it on again. What is
// left of that is solved here for all points of a mechanism at once, with the inverse masses that
// they have while its joints hold.
#include "world.h"

#include <math.h>
#include <string.h>

#define STATE_FIELD(name) (offsetof(ContactState, name) / sizeof(R))
_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

#define MAX_FOOTINGS 64 // of a mechanism; with more of them it is left as it is
#define ROUNDS 8
static const double ENOUGH = 1e-4; // m/s, changes that need no further round

// ---------------------------------------------------------------------------------------------
// Listing

static void mark_nodes(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    m->end_count = 0;
    for (int32_t k = m->first_node; k < m->last_node; ++k) {
      if (!set->nodes[k].is_joint) {
        body_mark *mark = &world->marks[set->nodes[k].index];
        mark->mechanism = i + 1;
        mark->node = k;
      }
    }
  }
}

// A point has one end or two, and a single one if both bodies are of the same mechanism.
static void add_footing(tn_world *world, const contact *c, int32_t place, int point)
{
  mechanism_set *set = &world->mechanisms;
  footing f = {.block = place / BLOCK_WIDTH,
               .lane = (int8_t)(place % BLOCK_WIDTH),
               .point = (int8_t)point,
               .guess = (double)c->memory.lambda[point]};
  for (int side = 0; side < 2; ++side) {
    const body_mark *mark = &world->marks[c->body[side]];
    f.slot[side] = c->body[side];
    f.mechanism[side] = mark->mechanism - 1;
    f.node[side] = mark->node;
    if (f.mechanism[side] != NO_SLOT && (side == 0 || f.mechanism[0] != f.mechanism[1])) {
      set->list[f.mechanism[side]].end_count += 1;
    }
  }
  if (f.mechanism[0] != NO_SLOT || f.mechanism[1] != NO_SLOT) {
    set->footings[set->footing_count++] = f;
  }
}

// Wires and what yields are left to their own pass.
static int hard_points(const contact *c)
{
  return c->manifold.form == MANIFOLD_WIRE || c->terms.alpha > 0.0f ? 0 : c->manifold.count;
}

static bool reserve_ends(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  int32_t ends = 0, values = 0;
  for (int32_t i = 0; i < set->count; ++i) {
    mechanism *m = &set->list[i];
    int32_t n = m->end_count <= MAX_FOOTINGS ? m->end_count : 0;
    m->first_end = ends;
    m->first_footing_value = values;
    ends += n;
    values += n * (n + m->rows);
  }
  return memory_reserve(world, (void **)&set->ends, &set->end_capacity, ends, sizeof *set->ends) &&
         memory_reserve(world, (void **)&set->footing_values, &set->footing_value_capacity, values,
                        sizeof *set->footing_values);
}

bool footings_list(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  const contact_graph *g = &world->contact_graph;
  set->footing_count = 0;
  if (set->count == 0 || g->block_count == 0) {
    return true;
  }
  int32_t places = g->block_count * BLOCK_WIDTH;
  if (!memory_reserve(world, (void **)&set->footings, &set->footing_capacity,
                      places * CONTACT_POINTS, sizeof *set->footings)) {
    return false;
  }
  mark_nodes(world);
  for (int32_t i = 0; i < places; ++i) {
    int32_t slot = g->contents[i / BLOCK_WIDTH].contact[i % BLOCK_WIDTH];
    const contact *c = &world->contacts[slot == NO_SLOT ? 0 : slot];
    for (int k = 0; slot != NO_SLOT && k < hard_points(c); ++k) {
      add_footing(world, c, i, k);
    }
  }
  return reserve_ends(world);
}

// ---------------------------------------------------------------------------------------------
// What a footing asks for

static double speed_along(const double *j, const body_state *b)
{
  double u = 0.0;
  for (int k = 0; k < 3; ++k) {
    u += j[k] * (double)b->v[k] + j[3 + k] * (double)b->w[k];
  }
  return u;
}

static void set_row(double *j, V n, V lever, float sign)
{
  V turn = v_cross(lever, n);
  const float row[BODY_ROWS] = {n.x, n.y, n.z, turn.x, turn.y, turn.z};
  for (int k = 0; k < BODY_ROWS; ++k) {
    j[k] = (double)(sign * row[k]);
  }
}

static V field3(float (*fields)[BLOCK_WIDTH], size_t first, int lane)
{
  return v_make(fields[first][lane], fields[first + 1][lane], fields[first + 2][lane]);
}

static float gap_rate_at(const solver_data *data, contact_block *cb, const footing *b, float gap)
{
  float h = data->substep.h;
  ContactPass pass = {.inv_h = 1.0f / h,
                      .inv_left = 1.0f / cb->left[b->lane],
                      .near = h * data->substep.bounce_speed};
  ContactParams params;
  get_lane(cb->params, b->lane, &params, FIELDS(params));
  float k = cb->mass[sym(b->point, b->point)][b->lane];
  return gap_rate(&pass, &params, gap, (float)b->lambda, k);
}

static bool is_footed(const mechanism *m)
{
  return m->end_count <= MAX_FOOTINGS && m->factored && !m->torn;
}

// A side that no joints are to answer for is a body by itself, unless there are some all the same.
static bool look_at_side(const direct_context *c, footing *f, int side)
{
  const body_state *b = &c->data->state[f->slot[side]];
  const double *j = f->j[side];
  bool jointed = f->mechanism[side] != NO_SLOT;
  f->footed[side] = jointed && is_footed(&c->set->list[f->mechanism[side]]);
  f->end[side] = NO_SLOT;
  f->start[side] = speed_along(j, b);
  if (!f->footed[side]) {
    S ii;
    memcpy(&ii, c->data->inertia[f->slot[side]].inverse, sizeof ii);
    V turn = v_make((float)j[3], (float)j[4], (float)j[5]);
    f->weight += (double)(b->inverse_mass + v_dot(turn, s_mul(ii, turn)));
  }
  return f->footed[side] || !jointed;
}

// As the pass over contacts would ask for it.
static void look_at(const direct_context *c, footing *f)
{
  contact_block *cb = &c->data->contacts[f->block];
  size_t lever = 3 * (size_t)f->point;
  V n = field3(cb->touch, TOUCH_FIELD(n), f->lane);
  set_row(f->j[0], n, field3(cb->touch, TOUCH_FIELD(ra) + lever, f->lane), -1.0f);
  set_row(f->j[1], n, field3(cb->touch, TOUCH_FIELD(rb) + lever, f->lane), 1.0f);
  float gap = cb->touch[TOUCH_FIELD(gap) + (size_t)f->point][f->lane];
  f->lambda = (double)cb->state[f->point][f->lane];
  f->given = f->weight = 0.0;
  bool known = look_at_side(c, f, 0);
  known = look_at_side(c, f, 1) && known;
  bool relaxing = c->pass == DIRECT_RELAX;
  double rate = relaxing ? 0.0 : (double)gap_rate_at(c->data, cb, f, gap);
  f->wanted = -(rate + f->start[0] + f->start[1]);
  bool presses = f->lambda > 0.0 || (f->wanted > 0.0 && !(relaxing && gap > 0.0f));
  f->active = known && presses;
}

// ---------------------------------------------------------------------------------------------
// How a mechanism answers

static bool is_restless(const mechanism_set *set, const footing *b)
{
  return (b->footed[0] && set->list[b->mechanism[0]].restless) ||
         (b->footed[1] && set->list[b->mechanism[1]].restless);
}

// Mechanisms whose joints have undone what contacts did, or the other way round.
static void find_restless(const direct_context *c)
{
  mechanism_set *set = c->set;
  double most = 0.5 * (double)c->data->substep.bounce_speed;
  for (int32_t i = 0; i < set->footing_count; ++i) {
    const footing *b = &set->footings[i];
    for (int side = 0; side < 2 && b->active && fabs(b->wanted) > most; ++side) {
      if (b->footed[side]) {
        set->list[b->mechanism[side]].restless = true;
      }
    }
  }
}

// The footings of a mechanism find their places.
static void list_ends(const direct_context *c)
{
  mechanism_set *set = c->set;
  for (int32_t i = 0; i < set->count; ++i) {
    set->list[i].active_ends = 0;
    set->list[i].restless = false;
  }
  find_restless(c);
  for (int32_t i = 0; i < set->footing_count; ++i) {
    footing *b = &set->footings[i];
    b->active = b->active && is_restless(set, b);
    for (int side = 0; side < 2 && b->active; ++side) {
      if (!b->footed[side]) {
        continue;
      }
      if (side == 1 && b->mechanism[0] == b->mechanism[1]) {
        break;
      }
      mechanism *m = &set->list[b->mechanism[side]];
      b->end[side] = m->first_end + m->active_ends++;
      set->ends[b->end[side]] = (footing_end){.footing = i};
    }
  }
}

static bool is_side(const mechanism_set *set, const footing *b, int side, const mechanism *m)
{
  return b->mechanism[side] != NO_SLOT && &set->list[b->mechanism[side]] == m;
}

static void push_footing(const mechanism_set *set, const mechanism *m, const footing *b, int column)
{
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < BODY_ROWS && is_side(set, b, side, m); ++k) {
      set->solutions[set->nodes[b->node[side]].first_row + k][column] += b->j[side][k];
    }
  }
}

static double *matrix_of(const mechanism_set *set, const mechanism *m)
{
  return set->footing_values + m->first_footing_value;
}

// What all rows of the mechanism do at a unit impulse on the footing.
static double *column_of(const mechanism_set *set, const mechanism *m, int32_t i)
{
  return matrix_of(set, m) + m->active_ends * m->active_ends + i * m->rows;
}

static double answer_to(const mechanism_set *set, const mechanism *m, const footing *b,
                        const double *column)
{
  double u = 0.0;
  int32_t base = set->nodes[m->first_node].first_row;
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < BODY_ROWS && is_side(set, b, side, m); ++k) {
      u += b->j[side][k] * column[set->nodes[b->node[side]].first_row - base + k];
    }
  }
  return u;
}

static void find_answers(const direct_context *c, mechanism *m)
{
  mechanism_set *set = c->set;
  int32_t n = m->active_ends;
  pair2 *x = set->solutions + set->nodes[m->first_node].first_row;
  direct_system system = mechanism_system(set, m);
  for (int32_t i = 0; i < n; i += 2) {
    int count = i + 1 < n ? 2 : 1;
    memset(x, 0, (size_t)m->rows * sizeof *x);
    for (int k = 0; k < count; ++k) {
      push_footing(set, m, &set->footings[set->ends[m->first_end + i + k].footing], k);
    }
    c->direct->substitute(&system);
    for (int k = 0; k < count; ++k) {
      double *column = column_of(set, m, i + k);
      for (int32_t row = 0; row < m->rows; ++row) {
        column[row] = x[row][k];
      }
    }
  }
  double *a = matrix_of(set, m);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t k = 0; k < n; ++k) {
      const footing *b = &set->footings[set->ends[m->first_end + k].footing];
      a[i * n + k] = answer_to(set, m, b, column_of(set, m, i));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Sweeps

// How much the side's velocity along the footing has changed.
static double change_of(const direct_context *c, const footing *b, int side)
{
  if (b->end[side] != NO_SLOT) {
    return c->set->ends[b->end[side]].u;
  }
  return b->footed[side] ? 0.0 // the same end
                         : speed_along(b->j[side], &c->data->state[b->slot[side]]) - b->start[side];
}

static void push_side(const direct_context *c, const footing *b, int side, double impulse)
{
  mechanism_set *set = c->set;
  if (b->end[side] != NO_SLOT) {
    const mechanism *m = &set->list[b->mechanism[side]];
    int32_t n = m->active_ends;
    const double *row = matrix_of(set, m) + (b->end[side] - m->first_end) * n;
    for (int32_t k = 0; k < n; ++k) {
      set->ends[m->first_end + k].u += impulse * row[k];
    }
  } else if (!b->footed[side] && c->data->state[b->slot[side]].inverse_mass > 0.0f) {
    body_state *s = &c->data->state[b->slot[side]];
    const double *j = b->j[side];
    float p = (float)impulse;
    S ii;
    memcpy(&ii, c->data->inertia[b->slot[side]].inverse, sizeof ii);
    V turn = s_mul(ii, v_make(p * (float)j[3], p * (float)j[4], p * (float)j[5]));
    for (int k = 0; k < 3; ++k) {
      s->v[k] += p * s->inverse_mass * (float)j[k];
    }
    s->w[0] += turn.x;
    s->w[1] += turn.y;
    s->w[2] += turn.z;
  }
}

static double own_weight(const mechanism_set *set, const footing *b, int side)
{
  if (b->end[side] == NO_SLOT) {
    return 0.0;
  }
  const mechanism *m = &set->list[b->mechanism[side]];
  return matrix_of(set, m)[(b->end[side] - m->first_end) * (m->active_ends + 1)];
}

// Gauss-Seidel from nothing.
static void sweep(const direct_context *c)
{
  mechanism_set *set = c->set;
  for (int32_t i = 0; i < set->footing_count; ++i) {
    footing *b = &set->footings[i];
    if (b->active) {
      b->weight += own_weight(set, b, 0) + own_weight(set, b, 1);
    }
  }
  double most = 1.0;
  for (int round = 0; round < ROUNDS && most > ENOUGH; ++round) {
    most = 0.0;
    for (int32_t i = 0; i < set->footing_count; ++i) {
      footing *b = &set->footings[i];
      if (!b->active || !(b->weight > 0.0)) {
        continue;
      }
      double missing = b->wanted - change_of(c, b, 0) - change_of(c, b, 1);
      double impulse = at_least(missing / b->weight, -(b->lambda + b->given));
      b->given += impulse;
      push_side(c, b, 0, impulse);
      push_side(c, b, 1, impulse);
      most = at_least(most, fabs(impulse) * b->weight);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Results

static void give_to_joint(const direct_context *c, direct_joint *j, const double *x)
{
  for (int k = 0; k < j->law_count; ++k) {
    law *l = &c->set->laws[j->first_law + k];
    if (l->active) {
      double impulse = -*x++;
      // A limit that pulls for a moment is none that was reached.
      l->lambda = fmax(l->lo, fmin(l->lambda + impulse, l->hi));
      for (int i = 0; i < 3; ++i) {
        j->sum[l->block][i] += (float)(impulse * l->j[1][3 * l->block + i]);
      }
      law_keep(j, l);
    }
  }
}

static void give_footings(const direct_context *c, mechanism *m)
{
  mechanism_set *set = c->set;
  int32_t base = set->nodes[m->first_node].first_row;
  double *sum = column_of(set, m, 0);
  double first = set->footings[set->ends[m->first_end].footing].given;
  for (int32_t row = 0; row < m->rows; ++row) {
    sum[row] *= first;
  }
  for (int32_t i = 1; i < m->active_ends; ++i) {
    double given = set->footings[set->ends[m->first_end + i].footing].given;
    const double *column = column_of(set, m, i);
    for (int32_t row = 0; row < m->rows; ++row) {
      sum[row] += given * column[row];
    }
  }
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    const direct_node *node = &set->nodes[i];
    const double *x = sum + (node->first_row - base);
    if (node->is_joint) {
      give_to_joint(c, &set->joints[node->index], x);
      continue;
    }
    body_state *b = &c->data->state[node->index];
    for (int k = 0; k < 3; ++k) {
      b->v[k] += (float)x[k];
      b->w[k] += (float)x[3 + k];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// What the next substep begins with
//
// An impact is over when the next substep begins, and its impulse is no guess of what will be
// needed then: on a light limb it would be speed. A guess may be twice the last one, and the weight
// of what the point stops besides.

// The footings of one manifold; friction goes with their sum.
static void forget_impact(const direct_context *c, footing *b, int count)
{
  contact_block *cb = &c->data->contacts[b->block];
  double weight = 0.5 * (double)c->data->substep.bounce_speed;
  float was = 0.0f, is = 0.0f;
  for (int i = 0; i < count; ++i) {
    float *lambda = &cb->state[b[i].point][b->lane];
    double most = 2.0 * b[i].guess + weight / at_least(b[i].weight, 1e-9);
    was += *lambda;
    *lambda = fminf(*lambda, (float)most);
    is += *lambda;
    b[i].guess = (double)*lambda;
  }
  for (size_t k = STATE_FIELD(friction); is < was && k <= STATE_FIELD(twist); ++k) {
    cb->state[k][b->lane] *= is / was;
  }
}

static void forget_impacts(const direct_context *c)
{
  mechanism_set *set = c->set;
  for (int32_t i = 0, last; i < set->footing_count; i = last) {
    footing *b = &set->footings[i];
    last = i + 1;
    while (last < set->footing_count && set->footings[last].block == b->block &&
           set->footings[last].lane == b->lane) {
      ++last;
    }
    if (b->footed[0] || b->footed[1]) {
      forget_impact(c, b, (int)(last - i));
    }
  }
}

void footings_look(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    look_at(c, &c->set->footings[i]);
  }
}

void footings_answer(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    if (c->set->list[i].active_ends > 0) {
      find_answers(c, &c->set->list[i]);
    }
  }
}

void footings_give(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    if (c->set->list[i].active_ends > 0) {
      give_footings(c, &c->set->list[i]);
    }
  }
}

void footings_place(const direct_context *c)
{
  list_ends(c);
}

void footings_sweep(const direct_context *c)
{
  mechanism_set *set = c->set;
  sweep(c);
  for (int32_t i = 0; i < set->footing_count; ++i) {
    const footing *b = &set->footings[i];
    contact_block *cb = &c->data->contacts[b->block];
    if (b->active && c->pass == DIRECT_AGAIN) {
      cb->state[b->point][b->lane] = (float)(b->lambda + b->given);
    } else if (b->active) {
      cb->sum[b->point][b->lane] += (float)b->given;
    }
  }
  if (c->pass == DIRECT_RELAX) {
    forget_impacts(c);
  }
}
