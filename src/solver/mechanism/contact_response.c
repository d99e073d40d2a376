// Contacts felt through mechanisms.
//
// A contact knows the mass of the limb that it touches. A blow that must stop a whole figure
// through its foot is borne by the foot alone, and the joints' second solve gives nearly all of the
// approach back. Where points still close fast after it, contacts are solved once more with the
// response of their mechanisms,
//     D = G Phi G^T,   Phi = M^-1 - M^-1 J^T (J M^-1 J^T + A)^-1 J M^-1,
// G the gradients of the contacts' rows, J the two-sided rows of the joints: one substitution with
// the mechanism's factors for two rows. Bodies that belong to no struck mechanism respond by their
// own mass. The impulses of projected Gauss-Seidel are given to the bodies that they touch, and the
// mechanisms are solved again.
//
// Limits that press are held in J. Where one would have to pull it is let go, and the sweeps begin
// anew. Friction of joints and drives that may saturate are left out, which makes D larger: the
// impulses are rather too small than too large.
#include "solver/mechanism/contact_response.h"

#include "solver/mechanism/mechanism_build.h"
#include "solver/mechanism/solve_state.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

// ---------------------------------------------------------------------------------------------
// One contact

typedef struct contact_lane {
  int points;
  ContactGeometry geom;
  ContactState state;
  ContactParams params;
  ContactMass mass;
} contact_lane;

static contact_lane read_contact(const direct_context *c, const warm_contact *g)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  contact_block *cb = &c->data->contacts[g->block];
  contact_lane to;
  to.points = points[cb->type];
  get_lane(cb->geom, g->lane, &to.geom, FIELDS(to.geom));
  get_lane(cb->state, g->lane, &to.state, FIELDS(to.state));
  get_lane(cb->params, g->lane, &to.params, FIELDS(to.params));
  get_lane(cb->mass, g->lane, &to.mass, FIELDS(to.mass));
  if (to.points == 1) {
    to.mass.patch = (Patch){to.geom.ra[0], to.geom.rb[0]};
  }
  return to;
}

// Gradients of the velocity along n of B's point relative to A's.
static void set_gradients(float (*g)[BODY_ROWS], V n, V ra, V rb)
{
  V la = v_cross(ra, n), lb = v_cross(rb, n);
  const float to[2][BODY_ROWS] = {{-n.x, -n.y, -n.z, -la.x, -la.y, -la.z},
                                  {n.x, n.y, n.z, lb.x, lb.y, lb.z}};
  memcpy(g, to, sizeof to);
}

static double side_velocity(const direct_context *c, const float *g, int32_t slot)
{
  const body_state *b = &c->data->state[slot];
  double u = 0.0;
  for (int k = 0; k < 3; ++k) {
    u += (double)g[k] * (double)b->v[k] + (double)g[3 + k] * (double)b->w[k];
  }
  return u;
}

// Velocity that the gap of a point asks for, as in the pass over contacts.
static double bias_of(const direct_context *c, const warm_contact *g, const contact_lane *of, int i)
{
  const substep *s = &c->data->substep;
  float gravity_gap = 0.5f * TUNING_CONTACT_NEAR_GAP * s->restitution_threshold * s->h;
  float time_left = c->data->contacts[g->block].time_left[g->lane];
  ContactPass pass = {s->h, 1.0f / s->h, 1.0f / time_left, gravity_gap, 0, 0, 0, 0.0f};
  return (double)gap_bias(&pass, &of->params, of->geom.gap[i], of->state.lambda[i],
                          of->mass.k[sym(i, i)]);
}

// ---------------------------------------------------------------------------------------------
// Struck mechanisms

// The slowest velocity of the contact's points beyond what their gaps allow. Penetrations are
// pushed out slowly on purpose.
static double closing_rate(const direct_context *c, const warm_contact *g, const contact_lane *of)
{
  const contact_block *cb = &c->data->contacts[g->block];
  double least = (double)INFINITY;
  for (int i = 0; i < of->points; ++i) {
    if (cb->used[i][g->lane] > 0.0f) {
      float n[2][BODY_ROWS];
      set_gradients(n, of->geom.n, of->geom.ra[i], of->geom.rb[i]);
      double u = side_velocity(c, n[0], cb->a[g->lane]) + side_velocity(c, n[1], cb->b[g->lane]);
      least = fmin(least, u + fmax(0.0, bias_of(c, g, of, i)));
    }
  }
  return least;
}

void contact_responses_measure(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    warm_contact *g = &c->set->warm_contacts[i];
    contact_lane of = read_contact(c, g);
    g->rate = of.params.alpha > 0.0f ? (double)INFINITY : closing_rate(c, g, &of);
  }
}

static bool can_respond(const mechanism *m)
{
  return !m->by_ball_tree && !m->coasts && m->first_coupling == m->last_coupling;
}

static void find_struck(const direct_context *c)
{
  mechanism_set *set = c->set;
  double fast = TUNING_RESPONSE_SPEED + 0.5 * (double)c->data->substep.restitution_threshold;
  set->struck_count = 0;
  for (int32_t i = 0; i < set->warm_contact_count; ++i) {
    const warm_contact *g = &set->warm_contacts[i];
    for (int side = 0; side < 2 && g->rate < -fast; ++side) {
      mechanism *m = g->mechanism[side] == NO_SLOT ? NULL : &set->list[g->mechanism[side]];
      if (m && m->struck == NO_SLOT && can_respond(m) && set->struck_count < set->struck_capacity) {
        m->struck = set->struck_count++;
        struck_mechanism *to = &set->struck[m->struck];
        to->mechanism = g->mechanism[side];
        to->count = to->held_count = 0;
        to->stale = true;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Rows

static void find_sides(const direct_context *c, const warm_contact *g, response_contact *to)
{
  const contact_block *cb = &c->data->contacts[g->block];
  bool moves[2] = {cb->move_a[g->lane], cb->move_b[g->lane]};
  to->body[0] = cb->a[g->lane];
  to->body[1] = cb->b[g->lane];
  for (int side = 0; side < 2; ++side) {
    int32_t m = moves[side] ? g->mechanism[side] : NO_SLOT;
    to->struck[side] = m == NO_SLOT ? NO_SLOT : c->set->list[m].struck;
    to->loose[side] = moves[side] && to->struck[side] == NO_SLOT;
  }
}

// Whether the struck mechanisms of a contact have room for its rows.
static bool has_room(const mechanism_set *set, const response_contact *to, int rows)
{
  rows *= to->struck[0] == to->struck[1] ? 2 : 1;
  for (int side = 0; side < 2; ++side) {
    int32_t m = to->struck[side];
    if (m != NO_SLOT && set->struck[m].count + rows > RESPONSE_ROWS) {
      return false;
    }
  }
  return true;
}

static void add_row(const direct_context *c, const response_contact *to, V n, V ra, V rb,
                    double bias, double before)
{
  mechanism_set *set = c->set;
  int32_t at = set->response_row_count++;
  response_row *row = &set->response_rows[at];
  set_gradients(row->g, n, ra, rb);
  row->rate = bias;
  row->before = before;
  row->impulse = 0.0;
  for (int side = 0; side < 2; ++side) {
    row->rate += to->loose[side] ? 0.0 : side_velocity(c, row->g[side], to->body[side]);
    if (to->struck[side] != NO_SLOT) {
      struck_mechanism *m = &set->struck[to->struck[side]];
      row->place[side] = m->count;
      m->body[m->count] = to->body[side];
      m->row[m->count++] = 2 * at + side;
    }
  }
  row->start = row->rate;
}

// Rows of the points in use, then two of friction, which pulls back to the anchor as in the pass
// over contacts.
static void add_contact(const direct_context *c, int32_t warm)
{
  mechanism_set *set = c->set;
  const warm_contact *g = &set->warm_contacts[warm];
  response_contact to = {.warm = warm, .first_row = set->response_row_count};
  find_sides(c, g, &to);
  contact_block *cb = &c->data->contacts[g->block];
  contact_lane of = read_contact(c, g);
  if ((to.struck[0] == NO_SLOT && to.struck[1] == NO_SLOT) || !has_room(set, &to, of.points + 2)) {
    return;
  }
  for (int i = 0; i < of.points; ++i) {
    if (cb->used[i][g->lane] > 0.0f) {
      to.point[to.points++] = i;
      add_row(c, &to, of.geom.n, of.geom.ra[i], of.geom.rb[i], bias_of(c, g, &of, i),
              (double)of.state.lambda[i]);
    }
  }
  FrictionOffset drift;
  get_lane(cb->patch_offset, g->lane, &drift, FIELDS(drift));
  float gain = of.params.has_anchor * TUNING_CONTACT_DECAY / c->data->substep.h;
  V wanted = v_add(of.params.surface_velocity,
                   v_scale(gain, v_add(of.state.offset, drift.offset)));
  Frame f = frame_about(of.geom.n);
  for (int i = 0; i < 2; ++i) {
    V t = i ? f.t : f.s;
    add_row(c, &to, t, of.mass.patch.ra, of.mass.patch.rb, (double)v_dot(t, wanted),
            (double)v_dot(t, of.state.friction));
  }
  to.friction =
      (double)(of.state.sliding > 0.5f ? of.params.mu_dynamic : of.params.mu_static);
  set->response_contacts[set->response_contact_count++] = to;
}

// Contacts of struck mechanisms that bear a load or are about to.
static void list_rows(const direct_context *c)
{
  mechanism_set *set = c->set;
  set->response_row_count = set->response_contact_count = 0;
  for (int32_t i = 0; i < set->warm_contact_count; ++i) {
    if (set->warm_contacts[i].rate < TUNING_RESPONSE_NEAR) {
      add_contact(c, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Response of a mechanism

static bool is_two_sided(const joint_row *l)
{
  return l->lo <= -UNBOUNDED_IMPULSE && l->hi >= UNBOUNDED_IMPULSE;
}

static held_limit *find_held(struck_mechanism *r, const joint_row *l)
{
  for (int32_t i = 0; i < r->held_count; ++i) {
    if (r->held[i].row == l) {
      return &r->held[i];
    }
  }
  return NULL;
}

static const float *gradient(const mechanism_set *set, const struck_mechanism *r, int32_t i)
{
  return set->response_rows[r->row[i] / 2].g[r->row[i] % 2];
}

static void list_held(const mechanism_set *set, const mechanism *m, struck_mechanism *r)
{
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &set->joints[i];
    for (int k = 0; k < j->joint_row_count && r->held_count < RESPONSE_LIMITS; ++k) {
      const joint_row *l = &set->joint_rows[j->first_joint_row + k];
      if (l->active && l->kind == ROW_LIMIT && !is_two_sided(l)) {
        r->held[r->held_count++] = (held_limit){.row = l};
      }
    }
  }
}

// Factors the matrix of the two-sided rows and the limits that are held. velocity_active keeps the
// active set meanwhile.
static void factor(solve_state *s, struck_mechanism *r)
{
  const mechanism *m = s->mechanism;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    int32_t at = s->nodes[j->node].first_row;
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      held_limit *held = find_held(r, l);
      l->velocity_active = l->active;
      l->active = l->active && (held ? !held->released : is_two_sided(l));
      if (held) {
        held->solution = at;
      }
      at += l->active;
    }
  }
  s->refactor = true;
  s->mechanism->factor_pose = NO_SLOT;
  solve_factor_and_solve(s);
  s->mechanism->factor_pose = NO_SLOT;
  for (int32_t i = m->first_joint; i < m->last_joint; ++i) {
    const direct_joint *j = &s->joints[i];
    for (int k = 0; k < j->joint_row_count; ++k) {
      joint_row *l = &s->joint_rows[j->first_joint_row + k];
      l->active = l->velocity_active;
    }
  }
}

// First row of the body that a row of the mechanism touches, in its vectors.
static int32_t body_row(const direct_context *c, const mechanism *m, int32_t slot)
{
  for (int32_t i = m->first_node; i < m->last_node; ++i) {
    if (!c->set->nodes[i].is_joint && c->set->nodes[i].index == slot) {
      return c->set->nodes[i].first_row;
    }
  }
  return NO_SLOT;
}

// D of a struck mechanism: velocities of all its rows for a unit impulse along each, two at a time.
static void find_response(const direct_context *c, struck_mechanism *r)
{
  mechanism_set *set = c->set;
  mechanism *m = &set->list[r->mechanism];
  solve_state s = solve_make(c, m);
  f64x2 *x = s.x + s.nodes[m->first_node].first_row;
  int32_t at[RESPONSE_ROWS];
  if (r->held_count == 0) {
    list_held(set, m, r);
  }
  factor(&s, r);
  for (int32_t i = 0; i < r->count; ++i) {
    at[i] = body_row(c, m, r->body[i]);
  }
  for (int32_t i = 0; i < r->count; i += 2) {
    memset(x, 0, (size_t)m->rows * sizeof *x);
    for (int32_t q = 0; q < 2 && i + q < r->count; ++q) {
      for (int k = 0; k < BODY_ROWS; ++k) {
        s.x[at[i + q] + k][q] = (double)gradient(set, r, i + q)[k];
      }
    }
    c->direct->solve(&s.system, 0);
    for (int32_t q = 0; q < 2 && i + q < r->count; ++q) {
      for (int32_t n = 0; n < r->count; ++n) {
        double u = 0.0;
        for (int k = 0; k < BODY_ROWS; ++k) {
          u += (double)gradient(set, r, n)[k] * s.x[at[n] + k][q];
        }
        r->d[i + q][n] = (float)u;
      }
      for (int32_t n = 0; n < r->held_count; ++n) {
        held_limit *held = &r->held[n];
        held->share[i + q] = held->released ? 0.0f : (float)-s.x[held->solution][q];
      }
    }
  }
  r->stale = false;
}

void contact_responses_find(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    if (c->set->struck[i].stale) {
      find_response(c, &c->set->struck[i]);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Sweeps

static void push_body(const direct_context *c, const float *g, int32_t slot, double impulse)
{
  body_state *b = &c->data->state[slot];
  S ii;
  memcpy(&ii, c->data->inertia[slot].inverse, sizeof ii);
  float p = (float)impulse, dv = p * b->inverse_mass;
  V w = s_mul(ii, v_make(p * g[3], p * g[4], p * g[5]));
  const float dw[3] = {w.x, w.y, w.z};
  for (int k = 0; k < 3; ++k) {
    b->v[k] += dv * g[k];
    b->w[k] += dw[k];
  }
}

static double loose_inverse_mass(const direct_context *c, const float *g, int32_t slot)
{
  S ii;
  memcpy(&ii, c->data->inertia[slot].inverse, sizeof ii);
  V a = v_make(g[3], g[4], g[5]);
  V n = v_make(g[0], g[1], g[2]);
  return (double)(c->data->state[slot].inverse_mass * v_dot(n, n) + v_dot(a, s_mul(ii, a)));
}

// Gives an impulse along a row: loose bodies move, struck mechanisms pass it on to all their rows.
static void give(const direct_context *c, const response_contact *of, int32_t at, double impulse)
{
  mechanism_set *set = c->set;
  response_row *row = &set->response_rows[at];
  row->impulse += impulse;
  for (int side = 0; side < 2; ++side) {
    if (of->loose[side]) {
      push_body(c, row->g[side], of->body[side], impulse);
    } else if (of->struck[side] != NO_SLOT) {
      const struck_mechanism *r = &set->struck[of->struck[side]];
      const float *d = r->d[row->place[side]];
      for (int32_t n = 0; n < r->count; ++n) {
        set->response_rows[r->row[n] / 2].rate += (double)d[n] * impulse;
      }
    }
  }
}

static double current_rate(const direct_context *c, const response_contact *of, int32_t at)
{
  const response_row *row = &c->set->response_rows[at];
  double u = row->rate;
  for (int side = 0; side < 2; ++side) {
    u += of->loose[side] ? side_velocity(c, row->g[side], of->body[side]) : 0.0;
  }
  return u;
}

static double inverse_mass_of(const direct_context *c, const response_contact *of,
                              const response_row *row)
{
  double w = 0.0;
  for (int side = 0; side < 2; ++side) {
    if (of->loose[side]) {
      w += loose_inverse_mass(c, row->g[side], of->body[side]);
    } else if (of->struck[side] != NO_SLOT) {
      w += (double)c->set->struck[of->struck[side]].d[row->place[side]][row->place[side]];
    }
  }
  if (of->struck[0] != NO_SLOT && of->struck[0] == of->struck[1]) {
    w += 2.0 * (double)c->set->struck[of->struck[0]].d[row->place[0]][row->place[1]];
  }
  return w;
}

// Takes back what the last sweeps gave, and finds the inverse masses.
static void begin_sweeps(const direct_context *c)
{
  mechanism_set *set = c->set;
  for (int32_t i = 0; i < set->response_contact_count; ++i) {
    const response_contact *of = &set->response_contacts[i];
    for (int32_t k = of->first_row; k < of->first_row + of->points + 2; ++k) {
      response_row *row = &set->response_rows[k];
      for (int side = 0; side < 2 && row->impulse != 0.0; ++side) {
        if (of->loose[side]) {
          push_body(c, row->g[side], of->body[side], -row->impulse);
        }
      }
      row->rate = row->start;
      row->impulse = 0.0;
      row->inverse_mass = inverse_mass_of(c, of, row);
    }
  }
}

// Normals one after the other, then friction, scaled back to its cone.
static void sweep_contact(const direct_context *c, const response_contact *of)
{
  response_row *row = &c->set->response_rows[of->first_row];
  double load = 0.0;
  for (int i = 0; i < of->points; ++i, ++row) {
    double change = -current_rate(c, of, of->first_row + i) / row->inverse_mass;
    change = fmax(change, -row->before - row->impulse);
    give(c, of, of->first_row + i, change);
    load += row->before + row->impulse;
  }
  int32_t at = of->first_row + of->points;
  double w = fmax(row[0].inverse_mass, row[1].inverse_mass), to[2];
  for (int i = 0; i < 2; ++i) {
    to[i] = row[i].before + row[i].impulse - current_rate(c, of, at + i) / w;
  }
  double length = sqrt(to[0] * to[0] + to[1] * to[1]), most = of->friction * load;
  double scale = length > most ? most / length : 1.0;
  for (int i = 0; i < 2; ++i) {
    give(c, of, at + i, scale * to[i] - row[i].before - row[i].impulse);
  }
}

// Lets go of limits that would pull; returns whether there are any.
static bool release_limits(const mechanism_set *set, struck_mechanism *r)
{
  for (int32_t i = 0; i < r->held_count; ++i) {
    held_limit *held = &r->held[i];
    double lambda = held->row->lambda;
    for (int32_t n = 0; n < r->count; ++n) {
      lambda += (double)held->share[n] * set->response_rows[r->row[n] / 2].impulse;
    }
    if (!held->released && (lambda < held->row->lo || lambda > held->row->hi)) {
      held->released = r->stale = true;
    }
  }
  return r->stale;
}

bool contact_responses_sweep(const direct_context *c)
{
  mechanism_set *set = c->set;
  begin_sweeps(c);
  for (int i = 0; i < TUNING_RESPONSE_SWEEPS; ++i) {
    for (int32_t k = 0; k < set->response_contact_count; ++k) {
      sweep_contact(c, &set->response_contacts[k]);
    }
  }
  bool released = false;
  for (int32_t i = 0; i < set->struck_count; ++i) {
    released = release_limits(set, &set->struck[i]) || released;
  }
  return released;
}

// ---------------------------------------------------------------------------------------------
// One pass

bool contact_responses_begin(const direct_context *c)
{
  find_struck(c);
  if (c->set->struck_count > 0) {
    list_rows(c);
  }
  return c->set->struck_count > 0;
}

// The impulses are not warm started: what stopped a figure once would throw it in the next substep.
void contact_responses_apply(const direct_context *c)
{
  mechanism_set *set = c->set;
  for (int32_t i = 0; i < set->response_contact_count; ++i) {
    const response_contact *of = &set->response_contacts[i];
    const warm_contact *g = &set->warm_contacts[of->warm];
    contact_block *cb = &c->data->contacts[g->block];
    for (int k = 0; k < of->points + 2; ++k) {
      const response_row *row = &set->response_rows[of->first_row + k];
      for (int side = 0; side < 2; ++side) {
        if (of->struck[side] != NO_SLOT) {
          push_body(c, row->g[side], of->body[side], row->impulse);
        }
      }
      if (k < of->points) {
        cb->sum[of->point[k]][g->lane] += (float)row->impulse;
        continue;
      }
      for (int n = 0; n < 3; ++n) {
        cb->sum[CONTACT_POINTS + n][g->lane] += (float)row->impulse * row->g[1][n];
      }
    }
    for (int side = 0; side < 2; ++side) {
      if (g->mechanism[side] != NO_SLOT) {
        set->list[g->mechanism[side]].answers = true;
      }
    }
  }
}

void contact_responses_end(const direct_context *c)
{
  for (int32_t i = 0; i < c->set->count; ++i) {
    c->set->list[i].struck = NO_SLOT;
    c->set->list[i].answers = false;
  }
}

// ---------------------------------------------------------------------------------------------
// Memory

bool contact_responses_reserve(mechanism_set *set, heap *h)
{
  int32_t most = set->count < RESPONSE_MECHANISMS ? set->count : RESPONSE_MECHANISMS;
  most = set->warm_contact_count > 0 ? most : 0;
  return heap_reserve(h, (void **)&set->struck, &set->struck_capacity, most, sizeof *set->struck) &&
         heap_reserve(h, (void **)&set->response_rows, &set->response_row_capacity,
                      most * RESPONSE_ROWS, sizeof *set->response_rows) &&
         heap_reserve(h, (void **)&set->response_contacts, &set->response_contact_capacity,
                      most * RESPONSE_ROWS / 3, sizeof *set->response_contacts);
}

void contact_responses_release(mechanism_set *set, heap *h)
{
  heap_free(h, set->struck, (size_t)set->struck_capacity * sizeof *set->struck);
  heap_free(h, set->response_rows, (size_t)set->response_row_capacity * sizeof *set->response_rows);
  heap_free(h, set->response_contacts,
            (size_t)set->response_contact_capacity * sizeof *set->response_contacts);
}
