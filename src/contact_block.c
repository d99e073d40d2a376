// Contacts as the solver sees them: coloured, sorted by type, packed into lanes, and what a step's
// impulses amount to.
#include "world.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

#define BLOCK_GRAIN 8
#define DEEP 0.08f // share of the smaller shape
// The fastest way out of a deep overlap, m/s; and of one among many, whose speeds add up from layer
// to layer.
#define PUSH 1.0f
#define PUSH_AMONG_MANY 0.06f
#define HIT_SPEED 0.1f // m/s, slowest that is told

// ---------------------------------------------------------------------------------------------
// Colours: contacts that share a moving body get different ones.

typedef struct builder {
  int32_t count;
  // Contacts in each, then the next place.
  int32_t group[MAX_COLORS + 1][CONTACT_TYPE_COUNT];
  int32_t idle[MAX_COLORS + 1][CONTACT_TYPE_COUNT];
} builder;

static contact_type type_of(const manifold *m)
{
  switch (m->form) {
  case MANIFOLD_FLAT:
    return m->count == 1 ? CONTACT_FLAT_1 : m->count == 2 ? CONTACT_FLAT_2 : CONTACT_FLAT_4;
  case MANIFOLD_ROUND:
    return m->count == 1 ? CONTACT_ROUND_1 : CONTACT_ROUND_2;
  case MANIFOLD_RIM:
    return m->count <= 2 ? CONTACT_RIM_2 : CONTACT_RIM_4;
  default:
    return CONTACT_WIRE_1;
  }
}

static bool is_pushed(const tn_world *world, int32_t body_slot)
{
  return world->bodies[body_slot].type == TN_BODY_DYNAMIC;
}

static int32_t body_of(const tn_world *world, const contact *c, int side)
{
  return world->shapes[world->pairs[c->pair].shape[side]].body;
}

// One of the four lowest free colours, as if by chance. The lowest would give all contacts on one
// side of a row the same turn, and what each pass leaves unsolved would push the row one way: a
// pyramid drifts twenty times as far then.
static int free_color(uint64_t taken, uint32_t seed)
{
  uint32_t chance = seed * 2654435761u;
  int color = lowest_free_color(taken);
  for (uint32_t skip = chance >> 16 & 3; skip > 0 && color < MAX_COLORS - 1; --skip) {
    taken |= 1ull << color;
    color = lowest_free_color(taken);
  }
  return color;
}

static bool is_loaded(const contact *c)
{
  for (int i = 0; i < c->manifold.count; ++i) {
    if (c->lambda[i] > 0.0f) {
      return true;
    }
  }
  return false;
}

static void color_contact(tn_world *world, builder *make, int32_t slot)
{
  const contact *c = &world->contacts[slot];
  uint64_t taken = 0;
  for (int side = 0; side < 2; ++side) {
    int32_t b = body_of(world, c, side);
    taken |= is_pushed(world, b) ? world->color_bits[b] : 0;
  }
  int color = free_color(taken, (uint32_t)c->pair);
  for (int side = 0; side < 2 && color < MAX_COLORS; ++side) {
    int32_t b = body_of(world, c, side);
    if (is_pushed(world, b)) {
      world->color_bits[b] |= 1ull << color;
    }
  }
  if (is_pushed(world, body_of(world, c, 0)) && is_pushed(world, body_of(world, c, 1))) {
    world->bodies[body_of(world, c, 0)].neighbors += 1;
    world->bodies[body_of(world, c, 1)].neighbors += 1;
  }
  placed_contact p = {slot, (uint8_t)color, (uint8_t)type_of(&c->manifold), !is_loaded(c)};
  world->placed_contacts[make->count++] = p;
  make->group[color][p.type] += 1;
  make->idle[color][p.type] += p.idle;
}

// Gives the contacts their blocks. The idle ones of a group are its last: a pass may leave out a
// block with nothing else.
static int32_t lay_out(tn_world *world, builder *make)
{
  int32_t loaded[MAX_COLORS + 1][CONTACT_TYPE_COUNT];
  for (int color = 0; color <= MAX_COLORS; ++color) {
    int width = color == MAX_COLORS ? BLOCK_WIDTH : 1;
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      loaded[color][type] = width * (make->group[color][type] - make->idle[color][type]);
    }
  }
  int32_t blocks =
      lay_out_colors(&world->contact_graph.coloring, &make->group[0][0], CONTACT_TYPE_COUNT);
  for (int color = 0; color <= MAX_COLORS; ++color) {
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      make->idle[color][type] = make->group[color][type] + loaded[color][type];
    }
  }
  return blocks;
}

static bool color_contacts(tn_world *world, builder *make)
{
  if (!memory_reserve(world, (void **)&world->color_bits, &world->color_bit_capacity,
                      world->body_list.used, sizeof(uint64_t)) ||
      !memory_reserve(world, (void **)&world->placed_contacts, &world->placed_capacity,
                      world->contact_list.count, sizeof(placed_contact))) {
    return false;
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->color_bits[world->awake[i]] = 0;
    world->bodies[world->awake[i]].neighbors = 0;
  }
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    for (int32_t c = world->pairs[world->active_pairs[i]].first_contact; c != NO_SLOT;
         c = world->contacts[c].next) {
      color_contact(world, make, c);
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Materials

static float combined(tn_combine mode, float a, float b)
{
  switch (mode) {
  case TN_COMBINE_MINIMUM:
    return fminf(a, b);
  case TN_COMBINE_MULTIPLY:
    return a * b;
  case TN_COMBINE_MAXIMUM:
    return fmaxf(a, b);
  default:
    return 0.5f * (a + b);
  }
}

static tn_combine later(tn_combine a, tn_combine b)
{
  return a > b ? a : b;
}

void materials_mix(const tn_material *a, const tn_material *b, float *mu_static, float *mu_dynamic,
                   float *restitution)
{
  tn_combine mode = later(a->combine_friction, b->combine_friction);
  *mu_static = combined(mode, a->static_friction, b->static_friction);
  *mu_dynamic = fminf(combined(mode, a->dynamic_friction, b->dynamic_friction), *mu_static);
  mode = later(a->combine_restitution, b->combine_restitution);
  *restitution = combined(mode, a->restitution, b->restitution);
}

static V vec(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

// What the solver is told about a contact.
typedef struct sides {
  const shape *shape[2];
  const body *body[2];
  tn_quat turned[2]; // of the shapes
  tn_vec3 at[2];     // of the shapes, from the bodies' centres, in world axes
} sides;

static sides sides_of(const tn_world *world, const contact *c)
{
  sides s;
  for (int i = 0; i < 2; ++i) {
    s.shape[i] = &world->shapes[world->pairs[c->pair].shape[i]];
    s.body[i] = &world->bodies[s.shape[i]->body];
    s.turned[i] = dquat_round(dquat_mul(s.body[i]->rotation, s.shape[i]->at_rotation));
    tn_pos at = dquat_rotate(s.body[i]->rotation, s.shape[i]->at_point);
    s.at[i] = tn_v3((float)at.x, (float)at.y, (float)at.z);
  }
  return s;
}

// A point of a shape as a lever of its body.
static V lever(const sides *s, int side, tn_vec3 p)
{
  return vec(tn_add(s->at[side], tn_rotate(s->turned[side], p)));
}

static V direction(const sides *s, int side, tn_vec3 d)
{
  return vec(tn_rotate(s->turned[side], d));
}

static tn_vec3 surface_velocity(const sides *s, int side)
{
  tn_vec3 v = s->shape[side]->def.material.surface_velocity;
  if (tn_dot(v, v) == 0.0f) {
    return v;
  }
  tn_quat body_axes = tn_quat_mul(dquat_round(s->body[side]->rotation),
                                  tn_quat_conjugate(dquat_round(s->body[side]->local_principal)));
  return tn_rotate(body_axes, v);
}

// Two bodies with no other beside them part fast.
static float push_of(const sides *s)
{
  bool fixed = s->body[0]->type != TN_BODY_DYNAMIC || s->body[1]->type != TN_BODY_DYNAMIC;
  bool alone = s->body[0]->neighbors == 1 && s->body[1]->neighbors == 1;
  return fixed || alone ? PUSH : PUSH_AMONG_MANY;
}

static ContactParams params_of(const sides *s, const manifold *m)
{
  const tn_material *a = &s->shape[0]->def.material;
  const tn_material *b = &s->shape[1]->def.material;
  tn_combine mode = later(a->combine_friction, b->combine_friction);
  ContactParams p;
  memset(&p, 0, sizeof p);
  p.mu_static = combined(mode, a->static_friction, b->static_friction);
  p.mu_dynamic = fminf(combined(mode, a->dynamic_friction, b->dynamic_friction), p.mu_static);
  p.rolling = combined(mode, a->rolling_friction, b->rolling_friction);
  p.spinning = combined(mode, a->spinning_friction, b->spinning_friction);
  p.alpha = a->compliance + b->compliance; // two springs in a row
  p.deep = DEEP * fminf(s->shape[0]->reach, s->shape[1]->reach);
  p.push = push_of(s);
  p.radius_a = m->radius_a;
  p.radius_b = m->radius_b;
  tn_vec3 slide = tn_sub(surface_velocity(s, 1), surface_velocity(s, 0));
  p.slide = vec(slide);
  bool flat = m->form == MANIFOLD_FLAT && m->radius_a == 0.0f && m->radius_b == 0.0f;
  p.anchored = flat && tn_length(slide) == 0.0f ? 1.0f : 0.0f;
  return p;
}

// ---------------------------------------------------------------------------------------------
// Packing

static tn_vec3 normal_of(const sides *s, const manifold *m)
{
  tn_vec3 n = tn_rotate(s->turned[0], m->normal);
  return tn_scale(1.0f / tn_length(n), n);
}

static Touch touch_of(const sides *s, const manifold *m)
{
  Touch t;
  memset(&t, 0, sizeof t);
  t.n = vec(normal_of(s, m));
  for (int i = 0; i < m->count; ++i) {
    t.ra[i] = v_add(lever(s, 0, m->points[i].a), v_scale(m->radius_a, t.n));
    t.rb[i] = v_sub(lever(s, 1, m->points[i].b), v_scale(m->radius_b, t.n));
    t.gap[i] = m->points[i].gap;
  }
  return t;
}

static V apart_of(const sides *s)
{
  return vec(tn_between_points(s->body[0]->center, s->body[1]->center));
}

static void set_round(const sides *s, const manifold *m, RoundStart *r)
{
  r->apart = apart_of(s);
  r->pa = lever(s, 0, m->segment[0][0]);
  r->ea = v_sub(lever(s, 0, m->segment[0][1]), r->pa);
  r->pb = lever(s, 1, m->segment[1][0]);
  r->eb = v_sub(lever(s, 1, m->segment[1][1]), r->pb);
  for (int i = 0; i < 2 && i < m->count; ++i) {
    r->ca[i] = lever(s, 0, m->points[i].a);
    r->cb[i] = lever(s, 1, m->points[i].b);
  }
}

static void set_rim(const sides *s, const manifold *m, RimStart *r)
{
  int rim = m->round_side;
  r->apart = apart_of(s);
  r->axis = direction(s, rim, m->rim_axis);
  r->side = frame_about(r->axis).s;
  r->radius = m->rim_radius;
  r->rim_is_b = rim == 1 ? 1.0f : 0.0f;
  r->plane = rim == 1 ? lever(s, 0, m->points[0].a) : lever(s, 1, m->points[0].b);
  for (int i = 0; i < m->count; ++i) {
    r->center[i] = lever(s, rim, m->points[i].rim_center);
    r->turn[i] = (float)m->points[i].turn;
  }
}

static void set_wire(const sides *s, const manifold *m, WireStart *r)
{
  int round = m->round_side;
  r->apart = apart_of(s);
  r->wire_is_b = round == 0 ? 1.0f : 0.0f;
  r->cubic[0] = lever(s, 1 - round, m->cubic[0]);
  for (int i = 1; i < 4; ++i) {
    r->cubic[i] = direction(s, 1 - round, m->cubic[i]);
  }
  r->p = lever(s, round, m->segment[round][0]);
  r->e = v_sub(lever(s, round, m->segment[round][1]), r->p);
  r->parameter = m->parameter;
}

static void pack_start(const sides *s, const manifold *m, contact_block *cb, int lane)
{
  contact_start start;
  memset(&start, 0, sizeof start);
  size_t fields = FIELDS(start.flat);
  switch (m->form) {
  case MANIFOLD_FLAT:
    for (int i = 0; i < m->count; ++i) {
      start.flat.gap[i] = m->points[i].gap;
    }
    break;
  case MANIFOLD_ROUND:
    set_round(s, m, &start.round);
    fields = FIELDS(start.round);
    break;
  case MANIFOLD_RIM:
    set_rim(s, m, &start.rim);
    fields = FIELDS(start.rim);
    break;
  case MANIFOLD_WIRE:
    set_wire(s, m, &start.wire);
    fields = FIELDS(start.wire);
    break;
  }
  set_lane(cb->start, lane, &start, fields);
}

static ContactState state_of(const contact *c, float scale)
{
  ContactState state;
  memset(&state, 0, sizeof state);
  for (int i = 0; i < c->manifold.count; ++i) {
    state.lambda[i] = scale * c->lambda[i];
  }
  state.reference = scale * c->reference;
  state.age = c->age;
  state.friction = v_scale(scale, vec(c->friction));
  state.roll = v_scale(scale, vec(c->roll));
  state.twist = scale * c->twist;
  state.sliding = c->sliding ? 1.0f : 0.0f;
  state.turning = c->turning ? 1.0f : 0.0f;
  state.angle = c->angle;
  state.offset = vec(c->offset);
  return state;
}

static float restitution_of(const sides *s)
{
  const tn_material *a = &s->shape[0]->def.material;
  const tn_material *b = &s->shape[1]->def.material;
  return combined(later(a->combine_restitution, b->combine_restitution), a->restitution,
                  b->restitution);
}

static void pack(tn_world *world, contact_block *cb, int lane, float h, float scale)
{
  contact *c = &world->contacts[cb->contact[lane]];
  sides s = sides_of(world, c);
  const manifold *m = &c->manifold;
  Touch touch = touch_of(&s, m);
  ContactParams params = params_of(&s, m);
  ContactState state = state_of(c, scale);
  float used[CONTACT_POINTS] = {0.0f}, none[CONTACT_POINTS + 4] = {0.0f};
  for (int i = 0; i < m->count; ++i) {
    used[i] = 1.0f;
  }
  cb->a[lane] = s.shape[0]->body;
  cb->b[lane] = s.shape[1]->body;
  cb->move_a[lane] = s.body[0]->type == TN_BODY_DYNAMIC;
  cb->move_b[lane] = s.body[1]->type == TN_BODY_DYNAMIC;
  set_lane(cb->used, lane, used, CONTACT_POINTS);
  set_lane(cb->params, lane, &params, FIELDS(ContactParams));
  set_lane(cb->state, lane, &state, FIELDS(ContactState));
  set_lane(cb->touch, lane, &touch, FIELDS(Touch));
  pack_start(&s, m, cb, lane);
  set_lane(cb->shift, lane, none, FIELDS(Strain));
  set_lane(cb->sum, lane, none, CONTACT_POINTS + 4);
  cb->left[lane] = h;
  cb->hit[lane] = 0.0f;
  cb->restitution[lane] = restitution_of(&s);
  cb->rolls |= params.rolling > 0.0f;
  cb->bounces |= cb->restitution[lane] > 0.0f;
}

static void clear_lane(contact_block *cb, int lane, float h)
{
  float none[FIELDS(contact_start)] = {0.0f};
  cb->a[lane] = cb->b[lane] = WORLD_SLOT;
  cb->move_a[lane] = cb->move_b[lane] = 0;
  set_lane(cb->used, lane, none, CONTACT_POINTS);
  set_lane(cb->params, lane, none, FIELDS(ContactParams));
  set_lane(cb->state, lane, none, FIELDS(ContactState));
  for (size_t i = 0; i < FIELDS(Touch); ++i) {
    cb->touch[i][lane] = 0.0f;
  }
  cb->touch[2][lane] = 1.0f; // any normal
  set_lane(cb->start, lane, none, FIELDS(contact_start));
  set_lane(cb->shift, lane, none, FIELDS(Strain));
  set_lane(cb->sum, lane, none, CONTACT_POINTS + 4);
  cb->left[lane] = h;
  cb->hit[lane] = 0.0f;
  cb->restitution[lane] = 0.0f;
}

typedef struct pack_task {
  tn_world *world;
  float h, dt, scale;
} pack_task;

static void pack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    contact_block *cb = &t->world->contact_graph.blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      if (cb->contact[lane] == NO_SLOT) {
        clear_lane(cb, lane, t->h);
      } else {
        pack(t->world, cb, lane, t->h, t->scale);
      }
    }
  }
}

static bool reserve_blocks(tn_world *world, int32_t count)
{
  contact_graph *g = &world->contact_graph;
  if (!memory_reserve(world, (void **)&g->blocks, &g->block_capacity, count,
                      sizeof(contact_block))) {
    return false;
  }
  g->block_count = count;
  return true;
}

static void place_contacts(tn_world *world, builder *make)
{
  contact_graph *g = &world->contact_graph;
  for (int32_t i = 0; i < g->block_count; ++i) {
    g->blocks[i].rolls = g->blocks[i].bounces = 0;
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      g->blocks[i].contact[lane] = NO_SLOT;
    }
  }
  for (int32_t i = 0; i < make->count; ++i) {
    placed_contact p = world->placed_contacts[i];
    int32_t *next = p.idle ? &make->idle[p.color][p.type] : &make->group[p.color][p.type];
    contact_block *cb = &g->blocks[*next / BLOCK_WIDTH];
    cb->type = p.type;
    cb->contact[*next % BLOCK_WIDTH] = p.contact;
    *next += p.color == MAX_COLORS ? BLOCK_WIDTH : 1;
  }
}

static bool list_bouncers(tn_world *world)
{
  contact_graph *g = &world->contact_graph;
  g->bouncer_count = 0;
  for (int32_t i = 0; i < g->block_count; ++i) {
    const contact_block *cb = &g->blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH && cb->bounces; ++lane) {
      if (cb->restitution[lane] > 0.0f) {
        if (!memory_reserve(world, (void **)&g->bouncers, &g->bouncer_capacity,
                            g->bouncer_count + 1, sizeof(bouncer))) {
          return false;
        }
        g->bouncers[g->bouncer_count++] = (bouncer){i, lane};
      }
    }
  }
  return true;
}

bool contacts_pack(tn_world *world, float dt, float impulse_scale)
{
  builder make;
  memset(&make, 0, sizeof make);
  if (!color_contacts(world, &make) || !reserve_blocks(world, lay_out(world, &make))) {
    return false;
  }
  place_contacts(world, &make);
  pack_task task = {world, dt / (float)world->substeps, dt, impulse_scale};
  task_run(world->tasks, pack_blocks, world->contact_graph.block_count, BLOCK_GRAIN, &task);
  return list_bouncers(world);
}

// ---------------------------------------------------------------------------------------------
// After the step

static tn_vec3 to_vec3(V v)
{
  return tn_v3(v.x, v.y, v.z);
}

static void unpack(tn_world *world, contact_block *cb, int lane, float dt)
{
  contact *c = &world->contacts[cb->contact[lane]];
  ContactState state;
  Touch touch;
  float sum[CONTACT_POINTS + 4];
  get_lane(cb->state, lane, &state, FIELDS(ContactState));
  get_lane(cb->touch, lane, &touch, FIELDS(Touch));
  get_lane(cb->sum, lane, sum, CONTACT_POINTS + 4);
  Strain shift;
  get_lane(cb->shift, lane, &shift, FIELDS(Strain));
  for (int i = 0; i < c->manifold.count; ++i) {
    c->lambda[i] = state.lambda[i];
    c->force[i] = sum[i] / dt;
    c->manifold.points[i].gap = touch.gap[i];
  }
  c->approach = cb->hit[lane];
  c->reference = state.reference;
  c->age = state.age;
  c->friction = to_vec3(state.friction);
  c->roll = to_vec3(state.roll);
  c->twist = state.twist;
  c->sliding = state.sliding > 0.5f;
  c->turning = state.turning > 0.5f;
  c->offset = to_vec3(v_add(state.offset, shift.offset));
  c->angle = state.angle + shift.angle;
  c->friction_force = tn_scale(1.0f / dt, tn_v3(sum[4], sum[5], sum[6]));
  c->friction_torque = sum[7] / dt;
}

static void unpack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    contact_block *cb = &t->world->contact_graph.blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      if (cb->contact[lane] != NO_SLOT) {
        unpack(t->world, cb, lane, t->dt);
      }
    }
  }
}

static bool presses(const contact *c)
{
  for (int i = 0; i < c->manifold.count; ++i) {
    if (c->force[i] > 0.0f) {
      return true;
    }
  }
  return false;
}

// Where and in which direction two shapes touch.
static tn_contact_event touch_event(const tn_world *world, const pair *p, const contact *c)
{
  tn_contact_event e = pair_event(world, p, TN_EVENT_BEGIN);
  const manifold *m = &c->manifold;
  placed at = shape_placed(world, &world->shapes[p->shape[0]]);
  tn_vec3 local = tn_add(m->points[0].a, tn_scale(m->radius_a, m->normal));
  e.normal = tn_rotate(dquat_round(at.q), m->normal);
  e.point = tn_offset(at.p, tn_rotate(dquat_round(at.q), local));
  e.speed = c->approach;
  return e;
}

// Bodies that come to rest on each other do not hit.
static bool is_hit(const tn_world *world, const pair *p, float speed)
{
  bool asked =
      world->shapes[p->shape[0]].def.hit_events || world->shapes[p->shape[1]].def.hit_events;
  return asked && speed > fmaxf(HIT_SPEED, 4.0f * tn_length(world->gravity) * world->last_h);
}

static void tell_touching(tn_world *world, int32_t pair_slot)
{
  pair *p = &world->pairs[pair_slot];
  const contact *hardest = NULL;
  for (int32_t i = p->first_contact; i != NO_SLOT; i = world->contacts[i].next) {
    const contact *c = &world->contacts[i];
    if (presses(c) && (!hardest || c->approach > hardest->approach)) {
      hardest = c;
    }
  }
  bool touching = hardest != NULL;
  if (touching == p->touching) {
    return;
  }
  p->touching = touching;
  if (!touching) {
    add_contact_event(world, pair_event(world, p, TN_EVENT_END));
    return;
  }
  tn_contact_event e = touch_event(world, p, hardest);
  add_contact_event(world, e);
  if (is_hit(world, p, e.speed)) {
    e.kind = TN_EVENT_HIT;
    add_contact_event(world, e);
  }
}

void contacts_unpack(tn_world *world, float dt)
{
  pack_task task = {world, 0.0f, dt, 0.0f};
  task_run(world->tasks, unpack_blocks, world->contact_graph.block_count, BLOCK_GRAIN, &task);
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    if (!world->pairs[world->active_pairs[i]].sensor) {
      tell_touching(world, world->active_pairs[i]);
    }
  }
}

void contact_graph_release(tn_world *world)
{
  contact_graph *g = &world->contact_graph;
  memory_give(world, g->blocks, (size_t)g->block_capacity * sizeof *g->blocks);
  memory_give(world, g->bouncers, (size_t)g->bouncer_capacity * sizeof *g->bouncers);
  memory_give(world, world->color_bits, (size_t)world->color_bit_capacity * sizeof(uint64_t));
  memory_give(world, world->placed_contacts,
              (size_t)world->placed_capacity * sizeof(placed_contact));
}
