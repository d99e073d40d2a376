// Contacts as the solver sees them: coloured, sorted by type, packed into lanes, and what a step's
// impulses amount to.
#include "world.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

#define PACK_GRAIN 4 // blocks
#define UNPACK_GRAIN 8
#define MARK_GRAIN 256 // bodies
#define BRIEF_GRAIN 64 // pairs
#define DEEP 0.08f     // share of the smaller shape
#define LOOSE 0.1f     // of that: how far open a point may be that keeps its load
#define OVERLAP 0.03f
#define INSIDE 0.005f // made inside each other, until it is less
// The fastest way out of an overlap, m/s; and of one among many, whose speeds add up from layer to
// layer.
#define PUSH 1.0f
#define PUSH_AMONG_MANY 0.06f
// What is built as a stack has no loads to start from, and sinks until they are learnt; its
// friction holds it there. While most contacts are young, passes make up for substeps.
#define SETTLING_PASSES 12
#define HIT_SPEED 0.1f // m/s, slowest that is told

// ---------------------------------------------------------------------------------------------
// Colours: contacts that share a moving body get different ones.

// Contacts that fill blocks of their own.
typedef struct block_group {
  int32_t left;      // to be placed
  int32_t next, end; // places that are open for them
} block_group;

typedef struct builder {
  int32_t count;
  int32_t young; // of them, without a load to start from
  bool has_faces;
  // Those with a load, and the idle ones: a pass may leave out a block with nothing else.
  block_group group[MAX_COLORS + 1][CONTACT_TYPE_COUNT][2];
  int32_t next_block[MAX_COLORS + 1];
} builder;

static contact_type type_of(const contact *c)
{
  const manifold *m = &c->manifold;
  switch (c->steady ? MANIFOLD_FLAT : m->form) {
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

// One of the four lowest free colours, as if by chance. The lowest would give all contacts on one
// side of a row the same turn, and what each pass leaves unsolved would push the row one way: a
// pyramid drifts twenty times as far then.
static int free_color(uint64_t taken, uint32_t seed)
{
  uint32_t chance = seed * 2654435761u;
  uint64_t after[4] = {taken}; // so many colours were passed over
  for (int skip = 1; skip < 4; ++skip) {
    uint64_t more = taken | (taken + 1); // with the lowest that is free
    taken = ~more == 0 ? taken : more;
    after[skip] = taken;
  }
  return lowest_free_color(after[chance >> 16 & 3]);
}

// Both take note of the colour, if they can be pushed.
static int take_color(body_mark *a, body_mark *b, uint32_t seed)
{
  int color = free_color((a->dynamic ? a->colors : 0) | (b->dynamic ? b->colors : 0), seed);
  if (color < MAX_COLORS) {
    a->colors |= 1ull << color;
    b->colors |= 1ull << color;
  }
  return color;
}

contact_brief contact_brief_of(const contact *c)
{
  return (contact_brief){type_of(c), c->idle, !c->settled};
}

static void color_contact(tn_world *world, builder *make, const pair_brief *p, int32_t slot,
                          contact_brief c)
{
  body_mark *a = &world->marks[p->body[0]], *b = &world->marks[p->body[1]];
  int color = take_color(a, b, p->seed);
  if (color == MAX_COLORS && parts_are_sought(world)) {
    parts_shut(&world->parts, p->body[a->moves ? 0 : 1]);
  }
  a->meets = b->meets = true;
  if (a->dynamic && b->dynamic) {
    a->neighbors += 1;
    b->neighbors += 1;
    a->wedged |= p->inside;
    b->wedged |= p->inside;
  }
  int32_t home = p->body[a->moves ? 0 : 1] / BLOCK_WIDTH;
  placed_contact place = {slot, home, (uint8_t)color, (uint8_t)c.type, c.idle};
  world->placed_contacts[make->count++] = place;
  make->young += c.young;
  make->has_faces |= c.type == CONTACT_FLAT_4;
  make->group[color][c.type][c.idle].left += 1;
}

// Of a part.
static void count_groups(builder *make, const placed_contact *contacts, int32_t count)
{
  memset(make->group, 0, sizeof make->group);
  for (int32_t i = 0; i < count; ++i) {
    placed_contact p = contacts[i];
    make->group[p.color][p.type][p.idle].left += 1;
  }
}

// Gives each colour its blocks, from the first on; returns the one after the last.
static int32_t lay_out(const builder *make, coloring *c, int32_t first)
{
  int32_t count[MAX_COLORS + 1][CONTACT_TYPE_COUNT];
  for (int color = 0; color <= MAX_COLORS; ++color) {
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      const block_group *group = make->group[color][type];
      count[color][type] = group[0].left + group[1].left;
    }
  }
  return lay_out_colors(c, first, &count[0][0], CONTACT_TYPE_COUNT);
}

// The last idle contacts of a type fill up the last block of the others.
static void open_blocks(builder *make, const coloring *c)
{
  for (int color = 0; color < MAX_COLORS; ++color) {
    make->next_block[color] = c->color[color].first;
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      block_group *loaded = &make->group[color][type][0], *idle = &make->group[color][type][1];
      int32_t room = -loaded->left & (BLOCK_WIDTH - 1);
      int32_t moved = room < idle->left ? room : idle->left;
      loaded->left += moved;
      idle->left -= moved;
    }
  }
  make->next_block[MAX_COLORS] = c->serial.first;
}

// The next place of a colour's contacts of a type. Blocks are opened as they are needed, by twos
// for sixteen lanes: whatever their type, what comes early in the list comes early in each colour,
// and so the same bodies go to the same thread.
static int32_t take_place(builder *make, placed_contact p)
{
  block_group *g = make->group[p.color][p.type];
  g += p.idle && g[1].left > 0;
  if (g->next == g->end) {
    int32_t blocks = p.color < MAX_COLORS && g->left > BLOCK_WIDTH ? 2 : 1;
    g->next = make->next_block[p.color] * BLOCK_WIDTH;
    g->end = g->next + (p.color < MAX_COLORS ? blocks * BLOCK_WIDTH : 1);
    make->next_block[p.color] += blocks;
  }
  g->left -= 1;
  return g->next++;
}

static float smaller_reach(const tn_world *world, const pair *p)
{
  return fminf(world->shapes[p->shape[0]].reach, world->shapes[p->shape[1]].reach);
}

static bool may_bounce(const tn_world *world, const pair *p)
{
  return world->shapes[p->shape[0]].def.material.restitution > 0.0f ||
         world->shapes[p->shape[1]].def.material.restitution > 0.0f;
}

static bool nearly_touches(const tn_world *world, const pair *p)
{
  float bound = 1e-3f * smaller_reach(world, p);
  for (int32_t i = p->first_contact; i != NO_SLOT; i = world->contacts[i].next) {
    const manifold *m = &world->contacts[i].manifold;
    for (int k = 0; k < m->count; ++k) {
      if (m->points[k].gap < bound) {
        return true;
      }
    }
  }
  return false;
}

// Of what does not move nothing is known but that.
static body_mark *mark_of(tn_world *world, int32_t slot)
{
  body_mark *m = &world->marks[slot];
  if (m->look != (uint32_t)world->look_count) {
    *m = (body_mark){.look = (uint32_t)world->look_count};
  }
  return m;
}

static void mark_bodies(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->marks[slot] = (body_mark){.look = (uint32_t)world->look_count,
                                     .dynamic = world->bodies[slot].type == TN_BODY_DYNAMIC,
                                     .moves = true};
  }
}

// Lines of a pair and a contact that will be asked for.
KERNEL void fetch_pair_of(const tn_world *world, int32_t active)
{
  if (active < world->active_pair_count) {
    FETCH(&world->pairs[world->active_pairs[active]]);
  }
}

KERNEL void fetch_contact(const tn_world *world, int32_t slot)
{
  if (slot != NO_SLOT) {
    FETCH(&world->contacts[slot].manifold);
  }
}

KERNEL void fetch_contact_of(const tn_world *world, int32_t active)
{
  if (active < world->active_pair_count) {
    fetch_contact(world, world->pairs[world->active_pairs[active]].first_contact);
  }
}

// What colouring asks of a pair, gathered on all threads, because it lies far apart.
static void brief_pairs(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->active_pairs[i];
    pair *p = &world->pairs[slot];
    fetch_pair_of(world, i + 2 * FETCH_AHEAD);
    fetch_contact_of(world, i + FETCH_AHEAD);
    pair_brief *brief = &world->briefs[i];
    brief->seed = (uint32_t)slot;
    brief->contact = p->first_contact;
    brief->body[0] = p->body[0];
    brief->body[1] = p->body[1];
    if (p->first_contact != NO_SLOT) {
      const contact *c = &world->contacts[p->first_contact];
      brief->first = contact_brief_of(c);
      brief->more = c->next != NO_SLOT;
      p->inside = p->inside && c->manifold.points[0].gap < -INSIDE * smaller_reach(world, p);
    } else {
      brief->more = p->inside = false;
    }
    brief->sensor = p->sensor;
    brief->touching = p->touching;
    brief->inside = p->inside;
    brief->bounces = parts_are_sought(world) && may_bounce(world, p);
    brief->leans = !p->sensor && (p->touching || nearly_touches(world, p));
  }
}

// Which parts a contact would join.
static void join_parts(step_parts *parts, const pair_brief *p, const body_mark *a,
                       const body_mark *b)
{
  if (a->moves && b->moves) {
    parts_join(parts, p->body[0], p->body[1]);
  }
  if (p->bounces) {
    parts_shut(parts, p->body[a->moves ? 0 : 1]);
  }
}

static void color_pair(tn_world *world, builder *make, const pair_brief *p)
{
  if (p->contact == NO_SLOT && !p->leans) {
    return;
  }
  body_mark *a = mark_of(world, p->body[0]), *b = mark_of(world, p->body[1]);
  if (p->leans) {
    a->leaning = a->dynamic;
    b->leaning = b->dynamic;
  }
  if (p->contact != NO_SLOT) {
    color_contact(world, make, p, p->contact, p->first);
    if (parts_are_sought(world)) {
      join_parts(&world->parts, p, a, b);
    }
  }
  for (int32_t c = p->more ? world->contacts[p->contact].next : NO_SLOT; c != NO_SLOT;
       c = world->contacts[c].next) {
    color_contact(world, make, p, c, contact_brief_of(&world->contacts[c]));
  }
}

static bool color_contacts(tn_world *world, builder *make)
{
  if (!memory_reserve(world, (void **)&world->marks, &world->mark_capacity, world->body_list.used,
                      sizeof(body_mark)) ||
      !memory_reserve(world, (void **)&world->briefs, &world->brief_capacity,
                      world->active_pair_count, sizeof(pair_brief)) ||
      !memory_reserve(world, (void **)&world->placed_contacts, &world->placed_capacity,
                      world->contact_list.count, sizeof(placed_contact)) ||
      !parts_begin(world)) {
    return false;
  }
  task_run(world->tasks, mark_bodies, world->awake_count, MARK_GRAIN, world);
  task_run(world->tasks, brief_pairs, world->active_pair_count, BRIEF_GRAIN, world);
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    color_pair(world, make, &world->briefs[i]);
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
} sides;

static sides sides_of(const tn_world *world, const contact *c)
{
  sides s = {{&world->shapes[c->shape[0]], &world->shapes[c->shape[1]]},
             {&world->bodies[c->body[0]], &world->bodies[c->body[1]]}};
  return s;
}

static tn_vec3 turned(const sides *s, int side, tn_vec3 d)
{
  const float *q = s->shape[side]->stance.turned;
  return tn_rotate((tn_quat){q[0], q[1], q[2], q[3]}, d);
}

// A point of a shape as a lever of its body.
static V lever(const sides *s, int side, tn_vec3 p)
{
  const float *at = s->shape[side]->stance.at;
  return vec(tn_add(tn_v3(at[0], at[1], at[2]), turned(s, side, p)));
}

static V direction(const sides *s, int side, tn_vec3 d)
{
  return vec(turned(s, side, d));
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

// Two bodies with no other beside them part fast, and so does one from what is fixed, and one that
// was driven into another; unless that would drive them deeper into those they were made inside of.
static float push_of(const body_mark *a, const body_mark *b, const contact *c)
{
  bool fixed = !a->dynamic || !b->dynamic;
  bool alone = a->neighbors == 1 && b->neighbors == 1;
  bool wedged = a->wedged || b->wedged;
  bool overlaps = c->manifold.points[0].gap < -OVERLAP / DEEP * c->terms.deep; // one tells enough
  return alone || ((fixed || overlaps) && !wedged) ? PUSH : PUSH_AMONG_MANY;
}

// Contacts of mechanisms are solved in turns with joints, and what is round would creep.
static bool has_joints(const body *b)
{
  return b->type == TN_BODY_DYNAMIC && b->first_joint != NO_SLOT;
}

static void mix_materials(contact *c, const sides *s)
{
  const tn_material *a = &s->shape[0]->def.material;
  const tn_material *b = &s->shape[1]->def.material;
  const manifold *m = &c->manifold;
  contact_terms *t = &c->terms;
  materials_mix(a, b, &t->mu_static, &t->mu_dynamic, &t->restitution);
  tn_combine mode = later(a->combine_friction, b->combine_friction);
  t->rolling = combined(mode, a->rolling_friction, b->rolling_friction);
  t->spinning = combined(mode, a->spinning_friction, b->spinning_friction);
  t->alpha = a->compliance + b->compliance; // two springs in a row
  t->deep = DEEP * fminf(s->shape[0]->reach, s->shape[1]->reach);
  bool joined = has_joints(s->body[0]) || has_joints(s->body[1]);
  t->loose = joined ? LOOSE * t->deep : 0.0f;
  t->radius_a = m->radius_a;
  t->radius_b = m->radius_b;
  t->slide = tn_sub(surface_velocity(s, 1), surface_velocity(s, 0));
  bool flat = m->form == MANIFOLD_FLAT && m->radius_a == 0.0f && m->radius_b == 0.0f;
  bool follows = m->form == MANIFOLD_FLAT || m->form == MANIFOLD_ROUND;
  t->anchored = (flat || (joined && follows)) && tn_length(t->slide) == 0.0f ? 1.0f : 0.0f;
  t->points = (float)m->count;
}

// What moves its surface turns with it: such contacts are never done with.
static bool is_driven(const sides *s)
{
  tn_vec3 a = s->shape[0]->def.material.surface_velocity;
  tn_vec3 b = s->shape[1]->def.material.surface_velocity;
  return tn_dot(a, a) + tn_dot(b, b) > 0.0f;
}

static void update_terms(const tn_world *world, contact *c)
{
  if (c->terms.mixed == world->material_changes) {
    return;
  }
  sides s = sides_of(world, c);
  contact_terms *t = &c->terms;
  mix_materials(c, &s);
  t->mixed = is_driven(&s) ? 0 : world->material_changes;
  c->traits =
      (uint8_t)((t->rolling > 0.0f || t->spinning > 0.0f ? TRAIT_ROLLS : 0) |
                (t->restitution > 0.0f ? TRAIT_BOUNCES : 0) | (t->alpha > 0.0f ? TRAIT_YIELDS : 0) |
                (tn_length(t->slide) > 0.0f ? TRAIT_SLIDES : 0) |
                (t->anchored > 0.0f ? TRAIT_STICKS : 0));
}

// ---------------------------------------------------------------------------------------------
// Packing

static V apart_of(const body *a, const body *b)
{
  return vec(tn_between_points(a->center, b->center));
}

static void set_rim(const sides *s, const manifold *m, RimStart *r)
{
  int rim = m->round_side;
  r->apart = apart_of(s->body[0], s->body[1]);
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
  r->apart = apart_of(s->body[0], s->body[1]);
  r->wire_is_b = round == 0 ? 1.0f : 0.0f;
  r->curve[0] = lever(s, 1 - round, m->curve[0]);
  for (int i = 1; i < WIRE_TERMS; ++i) {
    r->curve[i] = direction(s, 1 - round, m->curve[i]);
  }
  r->p = lever(s, round, m->segment[round][0]);
  r->e = v_sub(lever(s, round, m->segment[round][1]), r->p);
  r->parameter = m->parameter;
}

// How the touch of what is round follows its bodies. Flat sides, and segments but for where their
// bodies are, are left to solve_record.c.
static void pack_start(const tn_world *world, const contact *c, contact_block *cb, int lane)
{
  const manifold *m = &c->manifold;
  contact_start start;
  if (cb->type <= CONTACT_FLAT_4) {
    return;
  }
  if (m->form == MANIFOLD_ROUND) {
    start.round.apart = apart_of(&world->bodies[c->body[0]], &world->bodies[c->body[1]]);
    set_lane(cb->start, lane, &start, FIELDS(start.round.apart));
    return;
  }
  sides s = sides_of(world, c);
  memset(&start, 0, sizeof start);
  if (m->form == MANIFOLD_RIM) {
    set_rim(&s, m, &start.rim);
    set_lane(cb->start, lane, &start, FIELDS(start.rim));
  } else {
    set_wire(&s, m, &start.wire);
    set_lane(cb->start, lane, &start, FIELDS(start.wire));
  }
}

// The parts of a step read what does not move as the world, for one of them may be at its block.
static int32_t gathered_slot(int32_t slot, const body_mark *mark, bool in_part)
{
  return in_part && !mark->moves ? WORLD_SLOT : slot;
}

static void pack(tn_world *world, contact_block *cb, int lane, bool in_part)
{
  contact *c = &world->contacts[cb->contact[lane]];
  const body_mark *a = &world->marks[c->body[0]], *b = &world->marks[c->body[1]];
  update_terms(world, c);
  cb->a[lane] = gathered_slot(c->body[0], a, in_part);
  cb->b[lane] = gathered_slot(c->body[1], b, in_part);
  cb->move_a[lane] = a->dynamic;
  cb->move_b[lane] = b->dynamic;
  cb->traits |= c->traits;
  cb->fixed_a |= !a->dynamic;
  cb->fixed_b |= !b->dynamic;
  cb->params[PARAM_FIELD(push)][lane] = push_of(a, b, c);
  pack_start(world, c, cb, lane);
}

static void clear_lane(contact_block *cb, int lane)
{
  float none[FIELDS(contact_start)] = {0.0f};
  cb->a[lane] = cb->b[lane] = WORLD_SLOT;
  cb->move_a[lane] = cb->move_b[lane] = 0;
  cb->fixed_a = cb->fixed_b = 1;
  cb->params[PARAM_FIELD(push)][lane] = PUSH;
  set_lane(cb->start, lane, none, FIELDS(contact_start));
}

typedef struct pack_task {
  tn_world *world;
  solver_data *data;
  record_view view;
  const block_content *contents;
  bool in_part;
} pack_task;

static pack_task make_task(tn_world *world, solver_data *data, float dt, float scale)
{
  record_view view = {.blocks = world->contact_graph.blocks,
                      .contacts = world->contacts,
                      .places = world->shape_list.used > 0 ? world->shapes->stance.turned : NULL,
                      .place_stride = sizeof(shape) / sizeof(float),
                      .h = dt / (float)world->substeps,
                      .dt = dt,
                      .scale = scale};
  pack_task task = {world, data, view, world->contact_graph.contents, false};
  return task;
}

// Colour by colour, like the substeps: each thread gets the blocks that it will solve.
static void for_blocks(pack_task *task, tn_task_fn *run, int grain)
{
  const coloring *c = &task->world->contact_graph.coloring;
  task_run_stages(task->world->tasks, run, c->color, c->count, grain, task);
  run(c->serial.first, c->serial.last, task);
}

// What contacts are asked for and told, on its way while the block before is at work.
KERNEL void fetch_contacts(const tn_world *world, const block_content *content, bool packing)
{
  for (int lane = 0; lane < BLOCK_WIDTH && content->contact[lane] != NO_SLOT; ++lane) {
    const contact *c = &world->contacts[content->contact[lane]];
    FETCH(&c->memory);
    FETCH(&c->load);
    FETCH(&c->manifold);
    FETCH(c->manifold.points);
    if (packing) {
      FETCH(&c->terms);
    }
    if (packing && content->type > CONTACT_FLAT_4) {
      FETCH(c->manifold.segment);
    }
  }
}

static void pack_block(const pack_task *t, int i, bool has_next)
{
  contact_block *cb = &t->view.blocks[i];
  const block_content *content = &t->contents[i];
  if (has_next) {
    fetch_contacts(t->world, content + 1, true);
  }
  cb->type = content->type;
  cb->traits = cb->fixed_a = cb->fixed_b = 0;
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    cb->contact[lane] = content->contact[lane];
    if (cb->contact[lane] == NO_SLOT) {
      clear_lane(cb, lane);
    } else {
      pack(t->world, cb, lane, t->in_part);
    }
  }
}

// One at a time, so that it is still in the cache for the next thing to be done with it, and there
// is time for the next one's contacts to come.
static void pack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    pack_block(t, i, i + 1 < last);
    t->world->contact_ops->pack(&t->view, i, i + 1);
    t->world->contact_ops->begin(t->data, i, i + 1);
  }
}

static bool reserve_blocks(tn_world *world, int32_t count)
{
  contact_graph *g = &world->contact_graph;
  int32_t room =
      g->rest_count + (parts_count(world) > 0 ? world->parts.rooms * world->parts.room : 0);
  if (!memory_reserve(world, (void **)&g->blocks, &g->block_capacity, room,
                      sizeof(contact_block)) ||
      !memory_reserve(world, (void **)&g->contents, &g->content_capacity, count,
                      sizeof(block_content))) {
    return false;
  }
  g->block_count = count;
  return true;
}

static int32_t first_block(const coloring *c)
{
  return c->color[0].first;
}

static int32_t last_block(const coloring *c)
{
  return c->serial.last;
}

static void place_contacts(block_content *contents, builder *make, const coloring *c,
                           const placed_contact *contacts, int32_t count)
{
  open_blocks(make, c);
  for (int32_t i = first_block(c); i < last_block(c); ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      contents[i].contact[lane] = NO_SLOT;
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    placed_contact p = contacts[i];
    int32_t place = take_place(make, p);
    block_content *content = &contents[place / BLOCK_WIDTH];
    content->type = p.type;
    content->contact[place % BLOCK_WIDTH] = p.contact;
  }
}

// What bounces is gone before joints could answer.
static void let_bounce(tn_world *world, const contact *c)
{
  world->marks[c->body[0]].meets = false;
  world->marks[c->body[1]].meets = false;
}

static void list_bouncers(tn_world *world)
{
  contact_graph *g = &world->contact_graph;
  g->bouncer_count = 0;
  for (int32_t i = 0; i < g->rest_count; ++i) {
    const contact_block *cb = &g->blocks[i];
    for (int lane = 0; lane < BLOCK_WIDTH && cb->traits & TRAIT_BOUNCES; ++lane) {
      if (cb->restitution[lane] > 0.0f) {
        g->bouncers[g->bouncer_count++] = (bouncer){i, lane};
        let_bounce(world, &world->contacts[g->contents[i].contact[lane]]);
      }
    }
  }
}

// A small scene without contacts has no time to lay out none.
static bool is_empty(const contact_graph *g)
{
  const coloring *c = &g->coloring;
  return g->block_count == 0 && c->count == 0 && c->serial.first == c->serial.last && !g->young;
}

// The rest, and room for the parts: what they consist of is left to themselves.
static bool place_parts(tn_world *world, builder *make)
{
  contact_graph *g = &world->contact_graph;
  step_parts *parts = &world->parts;
  const placed_contact *rest = world->placed_contacts;
  int32_t count = make->count;
  if (!parts_find(world, rest, count)) {
    return false;
  }
  if (parts_count(world) > 0) {
    rest = parts->sorted;
    count = parts->rest_contacts;
    count_groups(make, rest, count);
  }
  int32_t blocks = g->rest_count = lay_out(make, &g->coloring, 0);
  builder of_part;
  parts->room = 0;
  for (int32_t i = 0; i < parts_count(world); ++i) {
    step_part *part = &parts->list[i];
    count_groups(&of_part, parts->sorted + part->contacts.first,
                 part->contacts.last - part->contacts.first);
    int32_t own = lay_out(&of_part, &part->coloring, 0);
    parts->room = own > parts->room ? own : parts->room;
    part->first = blocks;
    blocks += own;
  }
  if (!reserve_blocks(world, blocks)) {
    return false;
  }
  place_contacts(g->contents, make, &g->coloring, rest, count);
  return true;
}

bool contacts_place(tn_world *world)
{
  builder make;
  memset(&make, 0, sizeof make);
  contact_graph *g = &world->contact_graph;
  if (!color_contacts(world, &make)) {
    return false;
  }
  if (make.count == 0 && is_empty(g)) {
    return true;
  }
  if (!place_parts(world, &make) ||
      !memory_reserve(world, (void **)&g->bouncers, &g->bouncer_capacity, make.count,
                      sizeof(bouncer))) {
    return false;
  }
  g->young = 2 * make.young > make.count;
  g->has_faces = make.has_faces;
  g->passes = g->young ? 1 + SETTLING_PASSES / world->substeps : 1;
  return true;
}

static pack_task make_part_task(tn_world *world, const step_part *part, solver_data *data, float dt,
                                float scale)
{
  pack_task task = make_task(world, data, dt, scale);
  task.contents += part->first;
  task.view.blocks = data->contacts;
  task.in_part = true;
  return task;
}

void part_pack(tn_world *world, const step_part *part, solver_data *data, float dt, float scale)
{
  builder make;
  pack_task task = make_part_task(world, part, data, dt, scale);
  block_content *contents = world->contact_graph.contents + part->first;
  const placed_contact *contacts = world->parts.sorted + part->contacts.first;
  int32_t count = part->contacts.last - part->contacts.first;
  count_groups(&make, contacts, count);
  place_contacts(contents, &make, &part->coloring, contacts, count);
  pack_blocks(first_block(&part->coloring), last_block(&part->coloring), &task);
}

void contacts_pack(tn_world *world, solver_data *data, float dt, float impulse_scale)
{
  pack_task task = make_task(world, data, dt, impulse_scale);
  for_blocks(&task, pack_blocks, PACK_GRAIN);
  list_bouncers(world);
}

// ---------------------------------------------------------------------------------------------
// After the step

static void unpack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    if (i + 1 < last) {
      fetch_contacts(t->world, &t->contents[i + 1], false);
    }
    t->world->contact_ops->unpack(&t->view, i, i + 1);
  }
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

static const contact *hardest_of(const tn_world *world, int32_t first)
{
  const contact *hardest = NULL;
  for (int32_t i = first; i != NO_SLOT; i = world->contacts[i].next) {
    const contact *c = &world->contacts[i];
    if (c->presses && (!hardest || c->approach > hardest->approach)) {
      hardest = c;
    }
  }
  return hardest;
}

// Pairs that begin or end to touch.
static void find_turns(int first, int last, void *context)
{
  const tn_world *world = context;
  for (int i = first; i < last; ++i) {
    const pair_brief *p = &world->briefs[i];
    if (i + FETCH_AHEAD < world->active_pair_count) {
      fetch_contact(world, p[FETCH_AHEAD].contact);
    }
    world->found[i].turns = !p->sensor && (hardest_of(world, p->contact) != NULL) != p->touching;
  }
}

static void tell_turn(tn_world *world, pair *p)
{
  p->touching = !p->touching;
  if (!p->touching) {
    add_contact_event(world, pair_event(world, p, TN_EVENT_END));
    return;
  }
  tn_contact_event e = touch_event(world, p, hardest_of(world, p->first_contact));
  add_contact_event(world, e);
  if (is_hit(world, p, e.speed)) {
    e.kind = TN_EVENT_HIT;
    add_contact_event(world, e);
  }
}

void part_unpack(tn_world *world, const step_part *part, solver_data *data, float dt)
{
  pack_task task = make_part_task(world, part, data, dt, 1.0f);
  unpack_blocks(first_block(&part->coloring), last_block(&part->coloring), &task);
}

void contacts_unpack(tn_world *world, float dt)
{
  pack_task task = make_task(world, NULL, dt, 1.0f);
  for_blocks(&task, unpack_blocks, UNPACK_GRAIN);
  task_run(world->tasks, find_turns, world->active_pair_count, BRIEF_GRAIN, world);
  for (int32_t i = 0; i < world->active_pair_count; ++i) {
    if (world->found[i].turns) {
      tell_turn(world, &world->pairs[world->active_pairs[i]]);
    }
  }
}

void contact_graph_release(tn_world *world)
{
  contact_graph *g = &world->contact_graph;
  memory_give(world, g->blocks, (size_t)g->block_capacity * sizeof *g->blocks);
  memory_give(world, g->contents, (size_t)g->content_capacity * sizeof *g->contents);
  memory_give(world, world->briefs, (size_t)world->brief_capacity * sizeof(pair_brief));
  memory_give(world, g->bouncers, (size_t)g->bouncer_capacity * sizeof *g->bouncers);
  bearings_release(world);
  parts_release(world);
  memory_give(world, world->marks, (size_t)world->mark_capacity * sizeof(body_mark));
  memory_give(world, world->ways, (size_t)world->way_capacity * sizeof(shape_way));
  memory_give(world, world->pair_bits, (size_t)world->pair_bit_capacity * sizeof(uint64_t));
  memory_give(world, world->placed_contacts,
              (size_t)world->placed_capacity * sizeof(placed_contact));
}
