// Impacts with restitution, resolved at their time of impact (TOI) before the contacts are solved.
//
// DEVIATION: sec. 3.6 restores the velocity at the end of a substep, whenever in it the bodies met,
// and with friction from before the impact. Here each body has its own clock: it advances to the
// time of impact, gets the impulse for the velocity it has then, and drifts for the rest of the
// substep. Impacts are resolved in the order of their times, over all contacts with restitution.
//
// A contact that bounces is left to this file: only where a point closes too slowly to bounce, or
// bears a load, the passes over contacts solve it.
#include "solver/contact/impact.h"

#include "base/rules.h"
#include "kernel/tuning.h"
#include "solver/contact/impact_contact.h"
#include "solver/solver.h"

#include <math.h>

_Static_assert(TN_LANES == 1, "this file works on one impact at a time");

typedef struct impact_pass {
  const tn_world *world;
  solver_data *data;
  contact_graph *graph;
  int32_t pending; // number of contacts with an impact ahead, listed in the first contacts
  float threshold; // m/s, slowest approach that bounces
} impact_pass;

// ---------------------------------------------------------------------------------------------
// The law

// Velocity to add for the acceleration up to `time`: the kick has already applied it for
// first_kick * h, half a substep or a whole one.
static V gravity_velocity(const toi_body *f, float time, float h)
{
  return v_scale(time - f->params.first_kick * h, f->acceleration);
}

// Index of the contact's point in its block that is nearest to the point with lever arm rb: there
// the impulse is summed up.
static int nearest_block_point(const toi_contact *m, const restitution_contact *at, V rb)
{
  ContactGeometry geom;
  int nearest = 0;
  float least = INFINITY;
  get_lane(m->block->geom, m->lane, &geom, FIELDS(ContactGeometry));
  for (int i = 0; i < at->points; ++i) {
    V d = v_sub(geom.rb[i], rb);
    float square = v_dot(d, d);
    nearest = square < least ? i : nearest;
    least = fminf(least, square);
  }
  return nearest;
}

// Normal impulse p = -(1 + e) (n . u) / (n . K n) at point i, K the inverse mass there. Then
// friction against the tangential velocity that it leaves: static if it takes at most mu_s p to
// stop it, otherwise mu_d p. Both enter the sums of the step.
static void apply_impact(toi_contact *m, const restitution_contact *at, int i, float time, float h)
{
  V ra = m->geom.ra[i], rb = m->geom.rb[i], n = m->geom.n;
  V gravity_rate = v_sub(gravity_velocity(&m->b, time, h), gravity_velocity(&m->a, time, h));
  V u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), gravity_rate);
  float un = v_dot(n, u);
  if (un >= 0.0f) {
    return;
  }
  Body *a = &m->a.body, *b = &m->b.body;
  float(*sum)[BLOCK_WIDTH] = m->block->sum;
  S k = linear_inverse_mass(a, b, ra, rb);
  float e = m->block->restitution[m->lane];
  float p = -(1.0f + e) * un / v_dot(n, s_mul(k, n));
  apply_linear(a, b, ra, rb, v_scale(p, n), FORM_VELOCITY, 0.0f);
  sum[nearest_block_point(m, at, rb)][m->lane] += p;
  m->block->hit_speed[m->lane] = fmaxf(m->block->hit_speed[m->lane], -un);
  u = v_add(v_sub(point_velocity(&m->b, rb), point_velocity(&m->a, ra)), gravity_rate);
  u = v_add(u, m->params.surface_velocity);
  V slide = v_sub(u, v_scale(v_dot(u, n), n));
  float speed = v_length(slide);
  if (speed > 0.0f) {
    V t = v_scale(1.0f / speed, slide);
    float stop = speed / v_dot(t, s_mul(k, t));
    float most = m->params.mu_static * p;
    float q = stop <= most ? stop : m->params.mu_dynamic * p;
    apply_linear(a, b, ra, rb, v_scale(-q, t), FORM_VELOCITY, 0.0f);
    sum[4][m->lane] -= q * t.x;
    sum[5][m->lane] -= q * t.y;
    sum[6][m->lane] -= q * t.z;
  }
}

// The bodies separate: no warm start from the impulses that held them together.
static void clear_contact_state(const toi_contact *m)
{
  ContactState state;
  get_lane(m->block->state, m->lane, &state, FIELDS(ContactState));
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    state.lambda[i] = 0.0f;
  }
  state.friction = state.roll = v_zero();
  state.twist = state.preload = state.preload_age = 0.0f;
  set_lane(m->block->state, m->lane, &state, FIELDS(ContactState));
}

// ---------------------------------------------------------------------------------------------
// Times of impact

// Upper bound of the speed at which the shapes approach.
static float approach_bound(const toi_contact *m, const restitution_contact *at)
{
  float turn_a = v_length(m->a.body.w), turn_b = v_length(m->b.body.w);
  return v_length(v_sub(m->b.body.v, m->a.body.v)) +
         (turn_a > 0.0f ? turn_a * at->extent_a : 0.0f) +
         (turn_b > 0.0f ? turn_b * at->extent_b : 0.0f);
}

// Slowest approach that bounces. Slower ones are left to the passes over contacts, unless these
// would take them for faster than they are: all approaches of a body that spins bounce.
static float slowest_bounce(const impact_pass *s, const toi_contact *m,
                            const restitution_contact *at)
{
  bool exact = m->loaded || !RULE(impact_spinning) ||
               toi_contact_lever_error(m, at) < TUNING_IMPACT_LEVER_ERROR * s->threshold;
  return exact ? s->threshold : 0.0f;
}

// Rate at which the turning of the bodies changes the approach of point i, m/s^2: -n . w x (w x r)
// of its cores, for the radius of a round core stays along the normal.
static float approach_change(const toi_contact *m, int i)
{
  V n = m->geom.n, wa = m->a.body.w, wb = m->b.body.w;
  if (!m->anew && m->block->type > CONTACT_FLAT_4) {
    return 0.0f;
  }
  V a = v_sub(m->geom.ra[i], v_scale(m->params.radius_a, n));
  V b = v_add(m->geom.rb[i], v_scale(m->params.radius_b, n));
  return v_dot(n, v_sub(v_cross(wa, v_cross(wa, a)), v_cross(wb, v_cross(wb, b))));
}

typedef struct closing_point {
  float time;  // s, when it closes; beyond the substep: it does not
  float speed; // m/s, of its approach then
} closing_point;

// From `now`, the later of the bodies' clocks, the gap is C - c t - a t^2 / 2.
static closing_point find_closing(const toi_contact *m, int i, float h)
{
  float va = v_dot(m->geom.n, point_velocity(&m->a, m->geom.ra[i]));
  float vb = v_dot(m->geom.n, point_velocity(&m->b, m->geom.rb[i]));
  float now = fmaxf(m->a.advanced_time, m->b.advanced_time), c = va - vb;
  float gap = m->geom.gap[i] + vb * (now - m->b.advanced_time) - va * (now - m->a.advanced_time);
  closing_point never = {2.0f * h, 0.0f};
  if (gap <= 0.0f) {
    return c > 0.0f && gap < c * (h - now) ? (closing_point){now, c} : never;
  }
  float square = c * c + 2.0f * approach_change(m, i) * gap;
  float speed = sqrtf(fmaxf(square, 0.0f));
  if (!(square > 0.0f) || !(2.0f * gap < (c + speed) * (h - now))) {
    return never;
  }
  return (closing_point){now + 2.0f * gap / (c + speed), speed};
}

// Finds the next impact of a contact: its point and, in `at`, its time.
static int find_next_impact(const impact_pass *s, toi_contact *m, restitution_contact *at)
{
  float h = s->data->substep.h;
  float slow = -1.0f; // slowest approach that bounces, once it is needed
  int next = -1;
  at->time = 2.0f * h;
  at->closes = 0;
  float left = h - fminf(m->a.moves ? m->a.advanced_time : h, m->b.moves ? m->b.advanced_time : h);
  if (!toi_contact_locate(s->world, m, at, approach_bound(m, at) * left)) {
    return -1;
  }
  for (int i = 0; i < m->points; ++i) {
    closing_point closing = find_closing(m, i, h);
    if (!m->used[i] || closing.time > h) {
      continue;
    }
    slow = slow < 0.0f ? slowest_bounce(s, m, at) : slow;
    at->closes |= closing.speed <= slow;
    if (closing.speed > slow && closing.time < at->time) {
      at->time = closing.time;
      next = i;
    }
  }
  return next;
}

// ---------------------------------------------------------------------------------------------
// Events in the order of their times

static void find_time(impact_pass *s, int32_t index)
{
  restitution_contact *at = &s->graph->restitution_contacts[index];
  float h = s->data->substep.h;
  toi_contact m = toi_contact_load(s->data, at);
  find_next_impact(s, &m, at);
  if (at->time <= h && !at->ahead) {
    at->ahead = true;
    s->graph->restitution_contacts[s->pending++].listed = index;
  }
}

// The contact with the earliest impact, and in equal cases with the lowest index; NO_SLOT if none.
// Contacts whose impact does not happen any more leave the list.
static int32_t take_earliest(impact_pass *s)
{
  restitution_contact *contacts = s->graph->restitution_contacts;
  int32_t kept = 0, best = NO_SLOT;
  for (int32_t k = 0; k < s->pending; ++k) {
    int32_t i = contacts[k].listed;
    if (contacts[i].time > s->data->substep.h) {
      contacts[i].ahead = false;
      continue;
    }
    contacts[kept++].listed = i;
    if (best == NO_SLOT || contacts[i].time < contacts[best].time ||
        (contacts[i].time == contacts[best].time && i < best)) {
      best = i;
    }
  }
  s->pending = kept;
  return best;
}

static void find_times_of_body(impact_pass *s, int32_t slot, int moves)
{
  if (!moves) {
    return;
  }
  for (int32_t k = s->world->solver->contact_flags[slot].first_restitution_contact; k != NO_SLOT;
       k = s->graph->restitution_contacts[k / 2].next[k % 2]) {
    find_time(s, k / 2);
  }
}

// Moves the bodies of a contact to its next impact, which happens there if its point still closes.
static void resolve_impact(impact_pass *s, restitution_contact *at)
{
  float h = s->data->substep.h, time = at->time;
  toi_contact m = toi_contact_load(s->data, at);
  toi_contact_advance(&m, time);
  int point = find_next_impact(s, &m, at);
  if (point >= 0 && at->time <= time + TUNING_IMPACT_TIME_TOLERANCE * h) {
    apply_impact(&m, at, point, time, h);
    clear_contact_state(&m);
  }
  toi_contact_store(s->data, &m);
  find_times_of_body(s, m.a.slot, m.a.moves);
  find_times_of_body(s, m.b.slot, m.b.moves);
}

// The passes over contacts solve a contact that bears a load or closes too slowly to bounce.
static void choose_solved(const impact_pass *s, const restitution_contact *at)
{
  contact_block *cb = &s->data->contacts[at->block];
  ContactState state;
  get_lane(cb->state, at->lane, &state, FIELDS(ContactState));
  int solved = at->closes || !RULE(impact_alone);
  for (int i = 0; i < at->points; ++i) {
    solved |= state.lambda[i] > 0.0f;
  }
  for (int i = 0; i < at->points; ++i) {
    cb->used[i][at->lane] = solved ? 1.0f : 0.0f;
  }
}

bool impacts_solve(tn_world *world, solver_data *data)
{
  contact_graph *g = &world->solver->contact_graph;
  float least = TUNING_RESTITUTION_THRESHOLD * tn_length(world->gravity) * data->substep.h;
  impact_pass s = {world, data, g, 0, fmaxf(least, TUNING_IMPACT_MIN_SPEED)};
  s.threshold = RULE(restitution_threshold) ? s.threshold : 0.0f;
  bool moved = false;
  for (int32_t i = 0; i < g->restitution_contact_count; ++i) {
    g->restitution_contacts[i].events = 0;
    find_time(&s, i);
  }
  for (;;) {
    int32_t i = take_earliest(&s);
    if (i == NO_SLOT) {
      break;
    }
    restitution_contact *at = &g->restitution_contacts[i];
    if (++at->events > TUNING_IMPACT_EVENTS) {
      at->time = 2.0f * data->substep.h;
      continue;
    }
    resolve_impact(&s, at);
    moved = true;
  }
  for (int32_t i = 0; i < g->restitution_contact_count; ++i) {
    choose_solved(&s, &g->restitution_contacts[i]);
  }
  return moved;
}

// ---------------------------------------------------------------------------------------------
// Once a step

// A contact that bounces ends before joints could respond, so it is no reason to solve a mechanism
// again after the contacts.
static void clear_may_touch(tn_world *world, const contact *c)
{
  world->solver->contact_flags[c->body[0]].may_touch = false;
  world->solver->contact_flags[c->body[1]].may_touch = false;
}

static void add_to_list(tn_world *world, int32_t node, int32_t slot)
{
  int32_t *first = &world->solver->contact_flags[slot].first_restitution_contact;
  world->solver->contact_graph.restitution_contacts[node / 2].next[node % 2] = *first;
  *first = node;
}

static restitution_contact impact_of(const tn_world *world, int32_t block, int lane)
{
  const contact_graph *g = &world->solver->contact_graph;
  int32_t slot = g->contents[block].contact[lane];
  const contact *c = &world->contacts[slot];
  restitution_contact at = {.block = block, .lane = lane, .contact = slot};
  at.points = c->manifold.count;
  at.anew = may_strike_anew(world, c);
  at.extent_a = world->shapes[c->shape[0]].shape_cache.max_extent;
  at.extent_b = world->shapes[c->shape[1]].shape_cache.max_extent;
  return at;
}

void impacts_list(tn_world *world)
{
  contact_graph *g = &world->solver->contact_graph;
  int32_t count = 0;
  for (int32_t i = 0; i < g->shared_block_count; ++i) {
    const contact_block *cb = &g->blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH && cb->features & CONTACT_RESTITUTION; ++lane) {
      if (cb->restitution[lane] > 0.0f) {
        g->restitution_contacts[count++] = impact_of(world, i, lane);
        world->solver->contact_flags[cb->a[lane]].first_restitution_contact = NO_SLOT;
        world->solver->contact_flags[cb->b[lane]].first_restitution_contact = NO_SLOT;
      }
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    const restitution_contact *at = &g->restitution_contacts[i];
    const contact_block *cb = &g->blocks[at->block];
    add_to_list(world, 2 * i, cb->a[at->lane]);
    add_to_list(world, 2 * i + 1, cb->b[at->lane]);
    if (RULE(bounce_without_touch)) {
      clear_may_touch(world, &world->contacts[at->contact]);
    }
  }
  g->restitution_contact_count = count;
}
