// Warm starts of contacts on mechanisms.
//
// Contacts and joints are solved in turns, and neither can raise the energy, but the warm start
// can: after an impact it holds the impulse that stopped a whole body through a hand or foot, and
// given once more it throws the body. Scaled by s, the work of a warm start is linear in s, so the
// energy is a parabola; with the work `cold` at s = 0 and `warm` at s = 1 its minimum is at
//     s = cold / (cold - warm),   0 if cold >= 0.
#include "base/heap.h"
#include "solver/mechanism/mechanism_build.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

// ---------------------------------------------------------------------------------------------
// Listing

// Notes the mechanism of each body, plus one.
static void mark_bodies(const mechanism_set *set, body_contact_flags *flags)
{
  for (int32_t i = 0; i < set->count; ++i) {
    for (int32_t k = set->list[i].first_node; k < set->list[i].last_node; ++k) {
      if (!set->nodes[k].is_joint) {
        flags[set->nodes[k].index].mechanism = i + 1;
      }
    }
  }
}

bool warm_contacts_list(mechanism_set *set, heap *h, const contact_graph *g,
                        const contact *contacts, body_contact_flags *flags)
{
  set->warm_contact_count = 0;
  if (set->count == 0) {
    return true;
  }
  int32_t places = g->shared_block_count * BLOCK_WIDTH;
  if (!heap_reserve(h, (void **)&set->warm_contacts, &set->warm_contact_capacity, places,
                    sizeof *set->warm_contacts)) {
    return false;
  }
  mark_bodies(set, flags);
  for (int32_t i = 0; i < places; ++i) {
    int32_t slot = g->contents[i / BLOCK_WIDTH].contact[i % BLOCK_WIDTH];
    if (slot != NO_SLOT) {
      const contact *c = &contacts[slot];
      warm_contact next = {
          .block = i / BLOCK_WIDTH,
          .lane = i % BLOCK_WIDTH,
          .mechanism = {flags[c->body[0]].mechanism - 1, flags[c->body[1]].mechanism - 1}};
      if (next.mechanism[0] != NO_SLOT || next.mechanism[1] != NO_SLOT) {
        set->warm_contacts[set->warm_contact_count++] = next;
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// One contact

#define STATE_FIELD(name) (offsetof(ContactState, name) / sizeof(R))
#define GEOM_FIELD(name) (offsetof(ContactGeometry, name) / sizeof(R))

// Impulse and angular impulses of a contact's warm start.
static Wrench wrench_of(contact_block *cb, int lane)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  int count = points[cb->type];
  ContactState state;
  ContactGeometry geom = {0};
  get_lane(cb->state, lane, &state, STATE_FIELD(offset));
  get_lane(cb->geom, lane, &geom.n, 3);
  get_lane(cb->geom + GEOM_FIELD(ra), lane, geom.ra, 3 * (size_t)count);
  get_lane(cb->geom + GEOM_FIELD(rb), lane, geom.rb, 3 * (size_t)count);
  Patch patch = {geom.ra[0], geom.rb[0]};
  if (count > 1) {
    get_lane(cb->mass + offsetof(ContactMass, patch) / sizeof(R), lane, &patch, FIELDS(patch));
  }
  return contact_wrench(count, &geom, &patch, &state);
}

// Impulse times current relative velocity, J.
static double impulse_work(const solver_data *data, const warm_contact *g)
{
  const contact_block *cb = &data->contacts[g->block];
  const body_state *a = &data->state[cb->a[g->lane]], *b = &data->state[cb->b[g->lane]];
  const float p[3] = {g->impulse.x, g->impulse.y, g->impulse.z};
  const float la[3] = {g->angular_impulse[0].x, g->angular_impulse[0].y, g->angular_impulse[0].z};
  const float lb[3] = {g->angular_impulse[1].x, g->angular_impulse[1].y, g->angular_impulse[1].z};
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    float slide = cb->params[PARAM_FIELD(surface_velocity) + (size_t)k][g->lane];
    sum += (double)p[k] * (double)(b->v[k] - a->v[k] + slide);
    sum += (double)lb[k] * (double)b->w[k] - (double)la[k] * (double)a->w[k];
  }
  return sum;
}

// Applies scale times an impulse p and an angular impulse l to a body.
static void apply_impulse_side(const solver_data *data, int32_t slot, V p, V l, float scale)
{
  body_state *b = &data->state[slot];
  S ii;
  memcpy(&ii, data->inertia[slot].inverse, sizeof ii);
  V v = v_scale(scale * b->inverse_mass, p);
  V w = v_scale(scale, s_mul(ii, l));
  const float dv[3] = {v.x, v.y, v.z}, dw[3] = {w.x, w.y, w.z};
  for (int k = 0; k < 3; ++k) {
    b->v[k] += dv[k];
    b->w[k] += dw[k];
  }
}

static void apply_impulse(const solver_data *data, const warm_contact *g, float scale)
{
  const contact_block *cb = &data->contacts[g->block];
  if (cb->move_a[g->lane]) {
    apply_impulse_side(data, cb->a[g->lane], g->impulse, g->angular_impulse[0], -scale);
  }
  if (cb->move_b[g->lane]) {
    apply_impulse_side(data, cb->b[g->lane], g->impulse, g->angular_impulse[1], scale);
  }
}

static void scale_impulses(contact_block *cb, int lane, float scale)
{
  for (size_t i = 0; i < CONTACT_POINTS; ++i) {
    cb->state[STATE_FIELD(lambda) + i][lane] *= scale;
  }
  for (size_t i = 0; i < 3; ++i) {
    cb->state[STATE_FIELD(friction) + i][lane] *= scale;
    cb->state[STATE_FIELD(roll) + i][lane] *= scale;
  }
  cb->state[STATE_FIELD(twist)][lane] *= scale;
}

// Compliant contacts are not limited: they may return their elastic energy.
static bool is_rigid_contact(const contact_block *cb, int lane)
{
  return cb->params[PARAM_FIELD(alpha)][lane] == 0.0f;
}

void warm_contacts_measure(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    warm_contact *g = &c->set->warm_contacts[i];
    contact_block *cb = &c->data->contacts[g->block];
    Wrench w = wrench_of(cb, g->lane);
    g->impulse = w.p;
    g->angular_impulse[0] = w.la;
    g->angular_impulse[1] = w.lb;
    g->load = v_length(w.p);
    g->work = g->load > 0.0f && is_rigid_contact(cb, g->lane) ? impulse_work(c->data, g) : 0.0;
  }
}

// ---------------------------------------------------------------------------------------------
// All contacts

static mechanism *side_of(const direct_context *c, const warm_contact *g, int side)
{
  return g->mechanism[side] == NO_SLOT ? NULL : &c->set->list[g->mechanism[side]];
}

// Removes warm starts whose points separate too fast. restitution_threshold is 2 g h.
bool warm_contacts_remove_excess(const direct_context *c)
{
  for (int32_t i = 0; i < c->set->count; ++i) {
    mechanism *m = &c->set->list[i];
    m->bad_warm_start = false;
    m->warm_work = m->cold_work = 0.0;
  }
  double speed =
      TUNING_WARM_START_SEPARATION_SPEED + 0.5 * (double)c->data->substep.restitution_threshold;
  bool any = false;
  for (int32_t i = 0; i < c->set->warm_contact_count; ++i) {
    warm_contact *g = &c->set->warm_contacts[i];
    g->bad_warm_start = RULE(mechanism_contact_warm_start) && g->work > speed * (double)g->load;
    any = any || g->bad_warm_start;
    for (int side = 0; side < 2 && g->bad_warm_start; ++side) {
      mechanism *m = side_of(c, g, side);
      if (m) {
        m->bad_warm_start = true;
        m->warm_work += g->work;
      }
    }
    if (g->bad_warm_start) {
      apply_impulse(c->data, g, -1.0f);
    }
  }
  return any;
}

// Scale of a mechanism's warm starts with the least energy, see above.
static float warm_start_scale(const mechanism *m)
{
  if (!m) {
    return 1.0f;
  }
  return m->cold_work < 0.0 ? (float)(m->cold_work / (m->cold_work - m->warm_work)) : 0.0f;
}

void warm_contacts_reapply(const direct_context *c)
{
  for (int32_t i = 0; i < c->set->warm_contact_count; ++i) {
    const warm_contact *g = &c->set->warm_contacts[i];
    double work = g->bad_warm_start ? impulse_work(c->data, g) : 0.0;
    for (int side = 0; side < 2 && g->bad_warm_start; ++side) {
      if (side_of(c, g, side)) {
        side_of(c, g, side)->cold_work += work;
      }
    }
  }
  for (int32_t i = 0; i < c->set->warm_contact_count; ++i) {
    const warm_contact *g = &c->set->warm_contacts[i];
    if (g->bad_warm_start) {
      float share = fminf(warm_start_scale(side_of(c, g, 0)), warm_start_scale(side_of(c, g, 1)));
      scale_impulses(&c->data->contacts[g->block], g->lane, share);
      apply_impulse(c->data, g, share);
    }
  }
}
