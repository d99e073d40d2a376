// What contacts of a mechanism begin a substep with.
//
// From there on contacts and joints take turns, and neither can raise the energy. But the first
// guess can: an impact leaves impulses that stopped a whole body through a hand or a foot, and
// given once more they throw it. Along a guess the energy is a parabola, of which the speeds of the
// points with the guess and without it tell the lowest place.
#include "world.h"

#include <math.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

static const double IDLE_SPEED = 0.1; // m/s

// ---------------------------------------------------------------------------------------------
// Listing

static void mark_bodies(tn_world *world)
{
  const mechanism_set *set = &world->mechanisms;
  for (int32_t i = 0; i < set->count; ++i) {
    for (int32_t k = set->list[i].first_node; k < set->list[i].last_node; ++k) {
      if (!set->nodes[k].is_joint) {
        world->marks[set->nodes[k].index].mechanism = i + 1;
      }
    }
  }
}

bool guesses_list(tn_world *world)
{
  mechanism_set *set = &world->mechanisms;
  const contact_graph *g = &world->contact_graph;
  set->guess_count = 0;
  if (set->count == 0) {
    return true;
  }
  int32_t places = g->rest_count * BLOCK_WIDTH;
  if (!memory_reserve(world, (void **)&set->guesses, &set->guess_capacity, places,
                      sizeof *set->guesses)) {
    return false;
  }
  mark_bodies(world);
  for (int32_t i = 0; i < places; ++i) {
    int32_t slot = g->contents[i / BLOCK_WIDTH].contact[i % BLOCK_WIDTH];
    if (slot != NO_SLOT) {
      const contact *c = &world->contacts[slot];
      guess next = {.block = i / BLOCK_WIDTH,
                    .lane = i % BLOCK_WIDTH,
                    .mechanism = {world->marks[c->body[0]].mechanism - 1,
                                  world->marks[c->body[1]].mechanism - 1}};
      if (next.mechanism[0] != NO_SLOT || next.mechanism[1] != NO_SLOT) {
        set->guesses[set->guess_count++] = next;
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// One guess

#define STATE_FIELD(name) (offsetof(ContactState, name) / sizeof(R))

static Wrench wrench_of(contact_block *cb, int lane)
{
  static const int points[CONTACT_TYPE_COUNT] = {1, 2, 4, 1, 2, 2, 4, 1};
  int count = points[cb->type];
  ContactState state;
  Touch touch;
  get_lane(cb->state, lane, &state, FIELDS(state));
  get_lane(cb->touch, lane, &touch, FIELDS(touch));
  Patch patch = {touch.ra[0], touch.rb[0]};
  if (count > 1) {
    get_lane(cb->mass + offsetof(ContactMass, patch) / sizeof(R), lane, &patch, FIELDS(patch));
  }
  return whole_wrench(count, &touch, &patch, &state);
}

// The work of its impulses on velocities as they are.
static double work_of(const solver_data *data, const guess *g)
{
  const contact_block *cb = &data->contacts[g->block];
  const body_state *a = &data->state[cb->a[g->lane]], *b = &data->state[cb->b[g->lane]];
  const float p[3] = {g->push.x, g->push.y, g->push.z};
  const float la[3] = {g->turn[0].x, g->turn[0].y, g->turn[0].z};
  const float lb[3] = {g->turn[1].x, g->turn[1].y, g->turn[1].z};
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    float slide = cb->params[PARAM_FIELD(slide) + (size_t)k][g->lane];
    sum += (double)p[k] * (double)(b->v[k] - a->v[k] + slide);
    sum += (double)lb[k] * (double)b->w[k] - (double)la[k] * (double)a->w[k];
  }
  return sum;
}

static void push_side(const solver_data *data, int32_t slot, V p, V l, float scale)
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

static void push_both(const solver_data *data, const guess *g, float scale)
{
  const contact_block *cb = &data->contacts[g->block];
  if (cb->move_a[g->lane]) {
    push_side(data, cb->a[g->lane], g->push, g->turn[0], -scale);
  }
  if (cb->move_b[g->lane]) {
    push_side(data, cb->b[g->lane], g->push, g->turn[1], scale);
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

// What gives way has energy of its own.
static bool is_hard(const contact_block *cb, int lane)
{
  return cb->params[PARAM_FIELD(alpha)][lane] == 0.0f;
}

void guesses_weigh(int first, int last, void *context)
{
  const direct_context *c = context;
  for (int i = first; i < last; ++i) {
    guess *g = &c->set->guesses[i];
    contact_block *cb = &c->data->contacts[g->block];
    Wrench w = wrench_of(cb, g->lane);
    g->push = w.p;
    g->turn[0] = w.la;
    g->turn[1] = w.lb;
    g->load = v_length(w.p);
    g->work = g->load > 0.0f && is_hard(cb, g->lane) ? work_of(c->data, g) : 0.0;
  }
}

// ---------------------------------------------------------------------------------------------
// All of them

static mechanism *side_of(const direct_context *c, const guess *g, int side)
{
  return g->mechanism[side] == NO_SLOT ? NULL : &c->set->list[g->mechanism[side]];
}

// Guesses are doubted that make bodies part faster than anyone would leave alone.
bool guesses_take_back(const direct_context *c)
{
  for (int32_t i = 0; i < c->set->count; ++i) {
    mechanism *m = &c->set->list[i];
    m->doubted = false;
    m->guessed = m->unguessed = 0.0;
  }
  double speed = IDLE_SPEED + 0.5 * (double)c->data->substep.bounce_speed;
  bool any = false;
  for (int32_t i = 0; i < c->set->guess_count; ++i) {
    guess *g = &c->set->guesses[i];
    g->doubted = g->work > speed * (double)g->load;
    any = any || g->doubted;
    for (int side = 0; side < 2 && g->doubted; ++side) {
      mechanism *m = side_of(c, g, side);
      if (m) {
        m->doubted = true;
        m->guessed += g->work;
      }
    }
    if (g->doubted) {
      push_both(c->data, g, -1.0f);
    }
  }
  return any;
}

// What is left of guesses where the energy is lowest.
static float believed(const mechanism *m)
{
  if (!m) {
    return 1.0f;
  }
  return m->unguessed < 0.0 ? (float)(m->unguessed / (m->unguessed - m->guessed)) : 0.0f;
}

void guesses_give(const direct_context *c)
{
  for (int32_t i = 0; i < c->set->guess_count; ++i) {
    const guess *g = &c->set->guesses[i];
    double work = g->doubted ? work_of(c->data, g) : 0.0;
    for (int side = 0; side < 2 && g->doubted; ++side) {
      if (side_of(c, g, side)) {
        side_of(c, g, side)->unguessed += work;
      }
    }
  }
  for (int32_t i = 0; i < c->set->guess_count; ++i) {
    const guess *g = &c->set->guesses[i];
    if (g->doubted) {
      float share = fminf(believed(side_of(c, g, 0)), believed(side_of(c, g, 1)));
      scale_impulses(&c->data->contacts[g->block], g->lane, share);
      push_both(c->data, g, share);
    }
  }
}
