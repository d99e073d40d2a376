// Contact layout. Before the substeps: colours the contacts, sorts them by type into blocks, mixes
// their materials and packs the blocks. After the substeps: unpacks them and raises touch events.
#include "solver/contact/contact_layout.h"

#include "base/bits.h"
#include "base/prefetch.h"
#include "data/events.h"
#include "data/world.h"
#include "detect/detection.h"
#include "solver/contact/impact.h"
#include "solver/solver.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

_Static_assert(TN_LANES == 1, "this file works on one contact at a time");

#define PACK_GRAIN 4           // blocks
#define UNPACK_GRAIN 8         // blocks
#define CONTACT_FLAG_GRAIN 256 // bodies
#define PAIR_SUMMARY_GRAIN 64  // pairs

// ---------------------------------------------------------------------------------------------
// Colours: contacts that share a dynamic body get different ones.

// Contacts of one colour, type and load state, which fill blocks of their own.
typedef struct type_bucket {
  int32_t left;      // contacts still to be placed
  int32_t next, end; // free lanes of their open blocks, as block * BLOCK_WIDTH + lane
} type_bucket;

typedef struct layout_builder {
  int32_t count;
  int32_t unsettled; // contacts without a known load
  int colors;        // that have been used; buckets of others are not set
  // [0]: loaded, [1]: idle contacts. Kept apart, because passes skip registers of idle lanes only.
  type_bucket bucket[MAX_COLORS + 1][CONTACT_TYPE_COUNT][2];
  int32_t next_block[MAX_COLORS + 1];
} layout_builder;

static contact_type type_of(const contact *c)
{
  const manifold *m = &c->manifold;
  switch (c->fixed_normal ? MANIFOLD_FLAT : m->form) {
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

// One of the TUNING_COLOR_CHOICES lowest free colours, chosen by a hash of the seed. If it were
// always the lowest, contacts on one side of a row of bodies would always be solved before those on
// the other, and the residual of each pass would push the row one way: a pyramid drifts twenty
// times as far.
static int random_free_color(uint64_t taken, uint32_t seed)
{
  uint32_t chance = RULE(random_colors) ? seed * 2654435761u : 0;
  // [skip]: the `skip` lowest free colours count as taken.
  uint64_t after[TUNING_COLOR_CHOICES] = {taken};
  for (int skip = 1; skip < TUNING_COLOR_CHOICES; ++skip) {
    uint64_t more = taken | (taken + 1); // sets the lowest zero bit
    taken = ~more == 0 ? taken : more;
    after[skip] = taken;
  }
  return lowest_clear_bit(after[(chance >> 16) % TUNING_COLOR_CHOICES]);
}

// Only dynamic bodies restrict the colour: a pass reads the others but does not write them.
static int assign_color(body_contact_flags *a, body_contact_flags *b, uint32_t seed)
{
  int color = random_free_color((a->dynamic ? a->colors : 0) | (b->dynamic ? b->colors : 0), seed);
  if (color < MAX_COLORS) {
    a->colors |= 1ull << color;
    b->colors |= 1ull << color;
  }
  return color;
}

static void clear_buckets(layout_builder *make)
{
  make->colors = 0;
  memset(make->bucket[MAX_COLORS], 0, sizeof make->bucket[MAX_COLORS]);
}

static void count_in_bucket(layout_builder *make, contact_placement p)
{
  for (; p.color < MAX_COLORS && make->colors <= p.color; ++make->colors) {
    memset(make->bucket[make->colors], 0, sizeof make->bucket[0]);
  }
  make->bucket[p.color][p.type][p.idle].left += 1;
}

contact_summary contact_summary_of(const contact *c)
{
  return (contact_summary){type_of(c), c->idle, !c->settled};
}

static void color_contact(tn_world *world, layout_builder *make, const pair_summary *p,
                          int32_t slot, contact_summary c)
{
  body_contact_flags *a = &world->solver->contact_flags[p->body[0]],
                     *b = &world->solver->contact_flags[p->body[1]];
  int color = assign_color(a, b, p->seed);
  // Overflow contacts may share bodies, and are solved serially outside of the groups.
  if (color == MAX_COLORS && groups_enabled(&world->solver->groups)) {
    groups_exclude(&world->solver->groups, p->body[a->moves ? 0 : 1]);
  }
  a->may_touch = b->may_touch = true;
  if (a->dynamic && b->dynamic) {
    a->dynamic_contact_count += 1;
    b->dynamic_contact_count += 1;
    a->in_initial_overlap |= p->initial_overlap;
    b->in_initial_overlap |= p->initial_overlap;
  }
  int32_t home_block = p->body[a->moves ? 0 : 1] / BLOCK_WIDTH;
  contact_placement place = {slot, home_block, (uint8_t)color, (uint8_t)c.type, c.idle};
  world->solver->contact_placements[make->count++] = place;
  make->unsettled += c.unsettled;
  count_in_bucket(make, place);
}

// Counts the buckets anew for some of the contacts: those of a group, or the shared ones.
static void count_buckets(layout_builder *make, const contact_placement *contacts, int32_t count)
{
  clear_buckets(make);
  for (int32_t i = 0; i < count; ++i) {
    count_in_bucket(make, contacts[i]);
  }
}

// Assigns each colour its range of blocks, from `first` on; returns the end of the last range.
static int32_t lay_out_blocks(const layout_builder *make, coloring *c, int32_t first)
{
  int32_t count[MAX_COLORS + 1][CONTACT_TYPE_COUNT];
  for (int color = 0; color <= make->colors; ++color) {
    int from = color < make->colors ? color : MAX_COLORS;
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      const type_bucket *bucket = make->bucket[from][type];
      count[color][type] = bucket[0].left + bucket[1].left;
    }
  }
  return lay_out_colors(c, first, &count[0][0], CONTACT_TYPE_COUNT, make->colors);
}

// Idle contacts of a type fill the free lanes in the last block of the loaded ones.
static void fill_last_blocks(layout_builder *make, const coloring *c)
{
  for (int color = 0; color < make->colors; ++color) {
    make->next_block[color] = c->color[color].first;
    for (int type = 0; type < CONTACT_TYPE_COUNT; ++type) {
      type_bucket *loaded = &make->bucket[color][type][0], *idle = &make->bucket[color][type][1];
      int32_t room = -loaded->left & (BLOCK_WIDTH - 1);
      int32_t moved = room < idle->left ? room : idle->left;
      loaded->left += moved;
      idle->left -= moved;
    }
  }
  make->next_block[MAX_COLORS] = c->overflow.first;
}

// Lane for a contact, as block * BLOCK_WIDTH + lane. Blocks are opened on demand, two at a time for
// the 16-lane passes. Contacts of all types thus keep the order of the list within each colour, and
// a thread, which takes a contiguous range, gets the same bodies in every colour. Overflow contacts
// may share bodies and get a block each.
static int32_t take_lane(layout_builder *make, contact_placement p)
{
  type_bucket *g = make->bucket[p.color][p.type];
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

static float smaller_radius(const tn_world *world, const pair *p)
{
  return fminf(world->shapes[p->shape[0]].bounding_radius,
               world->shapes[p->shape[1]].bounding_radius);
}

static bool has_restitution_material(const tn_world *world, const pair *p)
{
  return world->shapes[p->shape[0]].def.material.restitution > 0.0f ||
         world->shapes[p->shape[1]].def.material.restitution > 0.0f;
}

static bool bounces(const tn_world *world, const pair *p)
{
  return has_restitution_material(world, p) &&
         tn_materials_combine(&world->shapes[p->shape[0]].def.material,
                              &world->shapes[p->shape[1]].def.material)
                 .restitution > 0.0f;
}

// Whether some gap of the pair is small enough for the bodies to support each other. Bodies that
// bounce do so only while they bear a load: between impacts they are free.
static bool is_near_touch(const tn_world *world, const pair *p)
{
  if (RULE(impact_free_flight) && bounces(world, p)) {
    bool loaded = false;
    for (int32_t i = p->first_contact; i != NO_SLOT; i = world->contacts[i].next) {
      loaded = loaded || !world->contacts[i].idle;
    }
    return loaded;
  }
  if (p->touching) {
    return true;
  }
  float bound = TUNING_SUPPORT_GAP * smaller_radius(world, p);
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

// Bodies that do not move get an empty record on first use in a step.
static body_contact_flags *contact_flags_of(tn_world *world, int32_t slot)
{
  body_contact_flags *m = &world->solver->contact_flags[slot];
  if (m->stamp != (uint32_t)world->detection->contact_update_count) {
    *m = (body_contact_flags){.stamp = (uint32_t)world->detection->contact_update_count};
  }
  return m;
}

static void reset_contact_flags(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->solver->contact_flags[slot] =
        (body_contact_flags){.stamp = (uint32_t)world->detection->contact_update_count,
                             .dynamic = world->bodies[slot].type == TN_BODY_DYNAMIC,
                             .moves = true};
  }
}

// Prefetching of pairs and contacts that come up soon.
KERNEL void prefetch_active_pair(const tn_world *world, int32_t active)
{
  if (active < world->detection->active_pair_count) {
    PREFETCH(&world->pairs[world->detection->active_pairs[active]]);
  }
}

KERNEL void prefetch_contact(const tn_world *world, int32_t slot)
{
  if (slot != NO_SLOT) {
    PREFETCH(&world->contacts[slot].manifold);
  }
}

KERNEL void prefetch_active_contact(const tn_world *world, int32_t active)
{
  if (active < world->detection->active_pair_count) {
    prefetch_contact(world, world->pairs[world->detection->active_pairs[active]].first_contact);
  }
}

// Gathers what colouring reads of each active pair into one array, on all threads: the records are
// scattered in memory, and colouring is serial.
static void summarize_pairs(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->detection->active_pairs[i];
    pair *p = &world->pairs[slot];
    prefetch_active_pair(world, i + 2 * PREFETCH_DISTANCE);
    prefetch_active_contact(world, i + PREFETCH_DISTANCE);
    pair_summary *summary = &world->solver->pair_summaries[i];
    summary->seed = (uint32_t)slot;
    summary->contact = p->first_contact;
    summary->body[0] = p->body[0];
    summary->body[1] = p->body[1];
    if (p->first_contact != NO_SLOT) {
      const contact *c = &world->contacts[p->first_contact];
      summary->first = contact_summary_of(c);
      summary->load = contact_load_of(world, c);
      summary->has_more = c->next != NO_SLOT;
      p->initial_overlap =
          p->initial_overlap &&
          c->manifold.points[0].gap < -TUNING_CONTACT_INITIAL_OVERLAP * smaller_radius(world, p);
    } else {
      summary->has_more = p->initial_overlap = false;
    }
    summary->sensor = p->sensor;
    summary->touching = p->touching;
    summary->initial_overlap = p->initial_overlap;
    summary->has_restitution =
        groups_enabled(&world->solver->groups) && has_restitution_material(world, p);
    summary->near_touch = !p->sensor && is_near_touch(world, p);
  }
}

// A contact unites the groups of its bodies. Impacts are resolved one at a time over the whole
// scene, so bodies with restitution stay outside of the groups.
static void join_groups(solver_group_set *groups, const pair_summary *p,
                        const body_contact_flags *a, const body_contact_flags *b)
{
  if (a->moves && b->moves) {
    groups_join(groups, p->body[0], p->body[1]);
  }
  if (p->has_restitution) {
    groups_exclude(groups, p->body[a->moves ? 0 : 1]);
  }
}

static void color_pair(tn_world *world, layout_builder *make, const pair_summary *p)
{
  if (p->contact == NO_SLOT && !p->near_touch) {
    return;
  }
  body_contact_flags *a = contact_flags_of(world, p->body[0]),
                     *b = contact_flags_of(world, p->body[1]);
  if (p->near_touch) {
    a->supported = a->dynamic;
    b->supported = b->dynamic;
  }
  // A body that is frozen in a recovery leaves rows without any mass.
  if (!a->dynamic && !b->dynamic) {
    return;
  }
  if (p->contact != NO_SLOT) {
    color_contact(world, make, p, p->contact, p->first);
    if (groups_enabled(&world->solver->groups)) {
      join_groups(&world->solver->groups, p, a, b);
    }
  }
  for (int32_t c = p->has_more ? world->contacts[p->contact].next : NO_SLOT; c != NO_SLOT;
       c = world->contacts[c].next) {
    color_contact(world, make, p, c, contact_summary_of(&world->contacts[c]));
  }
}

static bool color_contacts(tn_world *world, layout_builder *make)
{
  if (!heap_reserve(&world->heap, (void **)&world->solver->contact_flags,
                    &world->solver->contact_flag_capacity, world->body_pool.used,
                    sizeof(body_contact_flags)) ||
      !heap_reserve(&world->heap, (void **)&world->solver->pair_summaries,
                    &world->solver->pair_summary_capacity, world->detection->active_pair_count,
                    sizeof(pair_summary)) ||
      !heap_reserve(&world->heap, (void **)&world->detection->pair_marks,
                    &world->detection->pair_mark_capacity, world->detection->active_pair_count,
                    sizeof(uint8_t)) ||
      !heap_reserve(&world->heap, (void **)&world->solver->contact_placements,
                    &world->solver->contact_placement_capacity, world->contact_pool.count,
                    sizeof(contact_placement)) ||
      !groups_begin(world)) {
    return false;
  }
  task_run(world->tasks, reset_contact_flags, world->awake_count, CONTACT_FLAG_GRAIN, world);
  task_run(world->tasks, summarize_pairs, world->detection->active_pair_count, PAIR_SUMMARY_GRAIN,
           world);
  const pair_summary *summaries = world->solver->pair_summaries;
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    if (i + PREFETCH_DISTANCE < world->detection->active_pair_count) {
      PREFETCH(&world->solver->contact_flags[summaries[i + PREFETCH_DISTANCE].body[0]]);
      PREFETCH(&world->solver->contact_flags[summaries[i + PREFETCH_DISTANCE].body[1]]);
    }
    color_pair(world, make, &summaries[i]);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Materials

static V vec(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

// Shapes and bodies of A and B.
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

static tn_vec3 shape_to_world(const sides *s, int side, tn_vec3 d)
{
  const float *q = s->shape[side]->shape_cache.rotation;
  return tn_rotate((tn_quat){q[0], q[1], q[2], q[3]}, d);
}

// Lever arm of a point of a shape from its body's centre of mass, world axes.
static V lever(const sides *s, int side, tn_vec3 p)
{
  const float *at = s->shape[side]->shape_cache.offset;
  return vec(tn_add(tn_v3(at[0], at[1], at[2]), shape_to_world(s, side, p)));
}

static V direction(const sides *s, int side, tn_vec3 d)
{
  return vec(shape_to_world(s, side, d));
}

// World axes; materials state it in the axes of the body.
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

// Full push speed for two bodies that touch no other dynamic body; also for contacts with static
// and kinematic bodies and for deep overlaps, where a body was driven into another, unless one of
// the bodies was created overlapping others and would be pushed deeper into them.
static float max_push_speed_of(const body_contact_flags *a, const body_contact_flags *b,
                               const contact *c)
{
  bool fixed = !a->dynamic || !b->dynamic;
  bool alone = a->dynamic_contact_count == 1 && b->dynamic_contact_count == 1;
  bool in_initial_overlap = a->in_initial_overlap || b->in_initial_overlap;
  bool overlaps = c->manifold.points[0].gap < -TUNING_CONTACT_OVERLAP / TUNING_CONTACT_DEEP_GAP *
                                                  c->params.deep_gap; // point 0 is enough
  if (!RULE(push_cap)) {
    return TUNING_MAX_FORCE;
  }
  bool full = alone || ((fixed || overlaps) && !in_initial_overlap) || !RULE(crowded_push);
  return full ? TUNING_CONTACT_PUSH_SPEED : TUNING_CONTACT_PUSH_SPEED_CROWDED;
}

// Contacts of jointed bodies are solved alternately with the joints, and what each substep leaves
// adds up to a creep: they keep a friction anchor on round shapes as well.
static bool has_joints(const body *b)
{
  return b->type == TN_BODY_DYNAMIC && has_links(b);
}

static void mix_contact_params(contact *c, const sides *s)
{
  const manifold *m = &c->manifold;
  contact_params *t = &c->params;
  tn_material both = tn_materials_combine(&s->shape[0]->def.material, &s->shape[1]->def.material);
  t->mu_static = both.static_friction;
  t->mu_dynamic = both.dynamic_friction;
  t->restitution = both.restitution;
  t->rolling = both.rolling_friction;
  t->spinning = both.spinning_friction;
  t->alpha = both.compliance;
  t->deep_gap =
      TUNING_CONTACT_DEEP_GAP * fminf(s->shape[0]->bounding_radius, s->shape[1]->bounding_radius);
  bool joined = has_joints(s->body[0]) || has_joints(s->body[1]);
  t->kept_gap = RULE(kept_gap) && joined ? TUNING_CONTACT_KEPT_GAP * t->deep_gap : 0.0f;
  t->radius_a = m->radius_a;
  t->radius_b = m->radius_b;
  t->surface_velocity = tn_sub(surface_velocity(s, 1), surface_velocity(s, 0));
  bool flat = m->form == MANIFOLD_FLAT && m->radius_a == 0.0f && m->radius_b == 0.0f;
  bool follows = RULE(jointed_anchor) && (m->form == MANIFOLD_FLAT || m->form == MANIFOLD_ROUND);
  bool anchored = RULE(friction_anchor) && (flat || (joined && follows));
  t->has_anchor = anchored && tn_length(t->surface_velocity) == 0.0f ? 1.0f : 0.0f;
  t->points = (float)m->count;
}

// A surface velocity turns with its body, so such contacts are mixed again every step.
static bool has_surface_velocity(const sides *s)
{
  tn_vec3 a = s->shape[0]->def.material.surface_velocity;
  tn_vec3 b = s->shape[1]->def.material.surface_velocity;
  return tn_dot(a, a) + tn_dot(b, b) > 0.0f;
}

static void update_contact_params(const tn_world *world, contact *c)
{
  if (c->params.material_version == world->material_version) {
    return;
  }
  sides s = sides_of(world, c);
  contact_params *t = &c->params;
  mix_contact_params(c, &s);
  t->material_version = has_surface_velocity(&s) ? 0 : world->material_version;
  c->features = (uint8_t)((t->rolling > 0.0f || t->spinning > 0.0f ? CONTACT_ROLLING_FRICTION : 0) |
                          (t->restitution > 0.0f ? CONTACT_RESTITUTION : 0) |
                          (t->alpha > 0.0f ? CONTACT_COMPLIANCE : 0) |
                          (tn_length(t->surface_velocity) > 0.0f ? CONTACT_SURFACE_VELOCITY : 0) |
                          (t->has_anchor > 0.0f ? CONTACT_FRICTION_ANCHOR : 0));
}

// ---------------------------------------------------------------------------------------------
// Packing

static V center_offset(const body *a, const body *b)
{
  return vec(tn_between_points(a->center, b->center));
}

static void set_rim(const sides *s, const manifold *m, RimStart *r)
{
  int rim = m->round_side;
  r->apart = center_offset(s->body[0], s->body[1]);
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
  r->apart = center_offset(s->body[0], s->body[1]);
  r->wire_is_b = round == 0 ? 1.0f : 0.0f;
  r->curve[0] = lever(s, 1 - round, m->curve[0]);
  for (int i = 1; i < WIRE_TERMS; ++i) {
    r->curve[i] = direction(s, 1 - round, m->curve[i]);
  }
  r->p = lever(s, round, m->segment[round][0]);
  r->e = v_sub(lever(s, round, m->segment[round][1]), r->p);
  r->parameter = m->parameter;
}

static bool turns_fast(const tn_world *world, int32_t slot, float dt)
{
  const float *w = world->state[slot].w;
  float bound = TUNING_CONTACT_TURN / dt;
  return w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > bound * bound;
}

// Whether lever arms follow the bodies. Impacts with restitution have their own poses, and the
// limbs of mechanisms are held by joints.
static bool has_turning_arms(const tn_world *world, const contact *c, float dt)
{
  return RULE(turning_arms) && !(c->features & CONTACT_RESTITUTION) &&
         !has_joints(&world->bodies[c->body[0]]) && !has_joints(&world->bodies[c->body[1]]) &&
         (turns_fast(world, c->body[0], dt) || turns_fast(world, c->body[1], dt));
}

// Geometry at the start of the step. Rims and wires are complete; of round contacts only the offset
// of the centres of mass, which is a difference of doubles. contact_lanes.c adds the segments of
// round contacts and the gaps of flat ones.
static void pack_start(const tn_world *world, const contact *c, contact_block *cb, int lane,
                       float dt)
{
  const manifold *m = &c->manifold;
  contact_start start;
  if (cb->type <= CONTACT_FLAT_4) {
    bool turning = has_turning_arms(world, c, dt);
    cb->start[START_FIELD(turning)][lane] = turning ? 1.0f : 0.0f;
    cb->turning |= turning;
    return;
  }
  if (m->form == MANIFOLD_ROUND) {
    start.round.apart = center_offset(&world->bodies[c->body[0]], &world->bodies[c->body[1]]);
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

// Groups gather bodies that do not move as the world: another group may write the block that such a
// body shares with moving ones.
static int32_t gathered_slot(int32_t slot, const body_contact_flags *mark, bool in_group)
{
  return in_group && !mark->moves ? WORLD_SLOT : slot;
}

static void pack(tn_world *world, contact_block *cb, int lane, bool in_group, float dt)
{
  contact *c = &world->contacts[cb->contact[lane]];
  const body_contact_flags *a = &world->solver->contact_flags[c->body[0]],
                           *b = &world->solver->contact_flags[c->body[1]];
  update_contact_params(world, c);
  cb->a[lane] = gathered_slot(c->body[0], a, in_group);
  cb->b[lane] = gathered_slot(c->body[1], b, in_group);
  cb->move_a[lane] = a->dynamic;
  cb->move_b[lane] = b->dynamic;
  cb->features |= c->features;
  cb->fixed_a |= !a->dynamic;
  cb->fixed_b |= !b->dynamic;
  cb->params[PARAM_FIELD(max_push_speed)][lane] = max_push_speed_of(a, b, c);
  pack_start(world, c, cb, lane, dt);
}

static void clear_lane(contact_block *cb, int lane)
{
  float none[FIELDS(contact_start)] = {0.0f};
  cb->a[lane] = cb->b[lane] = WORLD_SLOT;
  cb->move_a[lane] = cb->move_b[lane] = 0;
  cb->fixed_a = cb->fixed_b = 1;
  cb->params[PARAM_FIELD(max_push_speed)][lane] = TUNING_CONTACT_PUSH_SPEED;
  set_lane(cb->start, lane, none, FIELDS(contact_start));
}

typedef struct pack_task {
  tn_world *world;
  solver_data *data;
  contact_pack_view view;
  const block_content *contents;
  bool in_group;
  atomic_bool *has_restitution; // set if some block has; null in groups, which have none
} pack_task;

static pack_task make_task(tn_world *world, solver_data *data, float dt, float scale)
{
  contact_pack_view view = {
      .blocks = world->solver->contact_graph.blocks,
      .contacts = world->contacts,
      .shape_poses = world->shape_pool.used > 0 ? world->shapes->shape_cache.rotation : NULL,
      .shape_pose_stride = sizeof(shape) / sizeof(float),
      .h = dt / (float)world->substeps,
      .dt = dt,
      .scale = scale};
  pack_task task = {world, data, view, world->solver->contact_graph.contents, false, NULL};
  return task;
}

// Colour by colour as in the substeps, so that each thread gets the blocks that it will solve.
static void for_contact_blocks(pack_task *task, tn_task_fn *run, int grain)
{
  const coloring *c = &task->world->solver->contact_graph.coloring;
  task_run_stages(task->world->tasks, run, c->color, c->count, grain, task);
  run(c->overflow.first, c->overflow.last, task);
}

// Prefetches the contacts of a block while the block before it is processed.
KERNEL void prefetch_contacts(const tn_world *world, const block_content *content, bool packing)
{
  for (int lane = 0; lane < BLOCK_WIDTH && content->contact[lane] != NO_SLOT; ++lane) {
    const contact *c = &world->contacts[content->contact[lane]];
    PREFETCH(&c->state);
    PREFETCH(&c->forces);
    PREFETCH(&c->manifold);
    PREFETCH(c->manifold.points);
    if (packing) {
      PREFETCH(&c->params);
    }
    if (packing && content->type > CONTACT_FLAT_4) {
      PREFETCH(c->manifold.segment);
    }
  }
}

static void pack_block(const pack_task *t, int i, bool has_next)
{
  contact_block *cb = &t->view.blocks[i];
  const block_content *content = &t->contents[i];
  if (has_next) {
    prefetch_contacts(t->world, content + 1, true);
  }
  cb->type = content->type;
  cb->features = cb->fixed_a = cb->fixed_b = cb->turning = 0;
  for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
    cb->contact[lane] = content->contact[lane];
    if (cb->contact[lane] == NO_SLOT) {
      clear_lane(cb, lane);
    } else {
      pack(t->world, cb, lane, t->in_group, t->view.dt);
    }
  }
  if (t->has_restitution && cb->features & CONTACT_RESTITUTION) {
    atomic_store_explicit(t->has_restitution, true, memory_order_relaxed);
  }
}

// All stages of a block before the next one: the block stays in the cache, and the prefetched
// contacts of the next one have time to arrive.
static void pack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    pack_block(t, i, i + 1 < last);
    t->world->solver->contact_ops->pack(&t->view, i, i + 1);
    t->world->solver->contact_ops->prepare(t->data, i, i + 1);
  }
}

static bool reserve_blocks(tn_world *world, int32_t count)
{
  contact_graph *g = &world->solver->contact_graph;
  int32_t room = g->shared_block_count +
                 (groups_count(&world->solver->groups) > 0
                      ? world->solver->groups.arena_count * world->solver->groups.arena_blocks
                      : 0);
  if (!heap_reserve(&world->heap, (void **)&g->blocks, &g->block_capacity, room,
                    sizeof(contact_block)) ||
      !heap_reserve(&world->heap, (void **)&g->contents, &g->content_capacity, count,
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
  return c->overflow.last;
}

static void fill_contact_blocks(block_content *contents, layout_builder *make, const coloring *c,
                                const contact_placement *contacts, int32_t count)
{
  fill_last_blocks(make, c);
  for (int32_t i = first_block(c); i < last_block(c); ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      contents[i].contact[lane] = NO_SLOT;
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    contact_placement p = contacts[i];
    int32_t place = take_lane(make, p);
    block_content *content = &contents[place / BLOCK_WIDTH];
    content->type = p.type;
    content->contact[place % BLOCK_WIDTH] = p.contact;
  }
}

// Whether the last layout was empty: without contacts there is nothing to do then.
static bool is_empty(const contact_graph *g)
{
  const coloring *c = &g->coloring;
  return g->block_count == 0 && c->count == 0 && c->overflow.first == c->overflow.last &&
         !g->unsettled;
}

// Fills the blocks of the shared contacts and reserves those of the groups, which are filled by
// group_pack_contacts().
static bool place_groups(tn_world *world, layout_builder *make)
{
  contact_graph *g = &world->solver->contact_graph;
  solver_group_set *groups = &world->solver->groups;
  const contact_placement *shared = world->solver->contact_placements;
  int32_t count = make->count;
  if (!groups_find(world, shared, count)) {
    return false;
  }
  if (groups_count(&world->solver->groups) > 0) {
    shared = groups->sorted;
    count = groups->shared_contacts;
    count_buckets(make, shared, count);
  }
  int32_t blocks = g->shared_block_count = lay_out_blocks(make, &g->coloring, 0);
  layout_builder group_builder;
  groups->arena_blocks = 0;
  for (int32_t i = 0; i < groups_count(&world->solver->groups); ++i) {
    solver_group *group = &groups->list[i];
    count_buckets(&group_builder, groups->sorted + group->contacts.first,
                  group->contacts.last - group->contacts.first);
    int32_t own = lay_out_blocks(&group_builder, &group->coloring, 0);
    groups->arena_blocks = own > groups->arena_blocks ? own : groups->arena_blocks;
    group->first = blocks;
    blocks += own;
  }
  if (!reserve_blocks(world, blocks)) {
    return false;
  }
  fill_contact_blocks(g->contents, make, &g->coloring, shared, count);
  return true;
}

bool contact_layout_build(tn_world *world)
{
  layout_builder make; // not set to zero as a whole: it is large
  make.count = make.unsettled = 0;
  clear_buckets(&make);
  contact_graph *g = &world->solver->contact_graph;
  if (!color_contacts(world, &make)) {
    return false;
  }
  if (make.count == 0 && is_empty(g)) {
    return true;
  }
  if (!place_groups(world, &make) ||
      !heap_reserve(&world->heap, (void **)&g->restitution_contacts,
                    &g->restitution_contact_capacity, make.count, sizeof(restitution_contact))) {
    return false;
  }
  g->unsettled = TUNING_CONTACT_UNSETTLED_PART * make.unsettled > make.count;
  g->min_passes = RULE(settling_passes) && g->unsettled
                      ? 1 + TUNING_CONTACT_SETTLING_PASSES / world->substeps
                      : 1;
  return true;
}

static pack_task make_group_pack_task(tn_world *world, const solver_group *group, solver_data *data,
                                      float dt, float scale)
{
  pack_task task = make_task(world, data, dt, scale);
  task.contents += group->first;
  task.view.blocks = data->contacts;
  task.in_group = true;
  return task;
}

void group_pack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt,
                         float scale)
{
  layout_builder make;
  pack_task task = make_group_pack_task(world, group, data, dt, scale);
  block_content *contents = world->solver->contact_graph.contents + group->first;
  const contact_placement *contacts = world->solver->groups.sorted + group->contacts.first;
  int32_t count = group->contacts.last - group->contacts.first;
  count_buckets(&make, contacts, count);
  fill_contact_blocks(contents, &make, &group->coloring, contacts, count);
  pack_blocks(first_block(&group->coloring), last_block(&group->coloring), &task);
}

void contacts_pack(tn_world *world, solver_data *data, float dt, float impulse_scale)
{
  atomic_bool has_restitution = false;
  pack_task task = make_task(world, data, dt, impulse_scale);
  task.has_restitution = &has_restitution;
  for_contact_blocks(&task, pack_blocks, PACK_GRAIN);
  world->solver->contact_graph.restitution_contact_count = 0;
  if (has_restitution) {
    impacts_list(world);
  }
}

// ---------------------------------------------------------------------------------------------
// After the step

static void unpack_blocks(int first, int last, void *context)
{
  const pack_task *t = context;
  for (int i = first; i < last; ++i) {
    if (i + 1 < last) {
      prefetch_contacts(t->world, &t->contents[i + 1], false);
    }
    t->world->solver->contact_ops->unpack(&t->view, i, i + 1);
  }
}

// Sum of the normal impulses of the pair over the step, N s: forces are means over it.
static float pair_impulse(const tn_world *world, const pair *p)
{
  float force = 0.0f;
  for (int32_t i = p->first_contact; i != NO_SLOT; i = world->contacts[i].next) {
    for (int k = 0; k < world->contacts[i].manifold.count; ++k) {
      force += world->contacts[i].forces.force[k];
    }
  }
  return force * (float)world->substeps * world->last_h;
}

// Point on A's surface and normal from A to B, both in world axes, of the first manifold point.
static tn_contact_event begin_event(const tn_world *world, const pair *p, const contact *c)
{
  tn_contact_event e = pair_event(world, p, TN_EVENT_BEGIN);
  const manifold *m = &c->manifold;
  world_pose at = shape_world_pose(world, &world->shapes[p->shape[0]]);
  tn_vec3 local = tn_add(m->points[0].a, tn_scale(m->radius_a, m->normal));
  e.normal = tn_rotate(dquat_round(at.q), m->normal);
  e.point = tn_offset(at.p, tn_rotate(dquat_round(at.q), local));
  e.speed = c->hit_speed;
  e.impulse = pair_impulse(world, p);
  return e;
}

// Approaches slower than what gravity adds in four substeps are those of bodies that come to rest
// on each other, and raise no hit event.
static bool is_hit(const tn_world *world, const pair *p, float speed)
{
  bool asked =
      world->shapes[p->shape[0]].def.hit_events || world->shapes[p->shape[1]].def.hit_events;
  return asked &&
         speed > fmaxf(TUNING_HIT_EVENT_SPEED,
                       TUNING_HIT_EVENT_GRAVITY * tn_length(world->gravity) * world->last_h);
}

static const contact *hardest_contact(const tn_world *world, int32_t first)
{
  const contact *hardest = NULL;
  for (int32_t i = first; i != NO_SLOT; i = world->contacts[i].next) {
    const contact *c = &world->contacts[i];
    if (c->was_loaded && (!hardest || c->hit_speed > hardest->hit_speed)) {
      hardest = c;
    }
  }
  return hardest;
}

// Marks the pairs that began or ended touching in this step.
static void find_touch_changes(int first, int last, void *context)
{
  const tn_world *world = context;
  for (int i = first; i < last; ++i) {
    const pair_summary *p = &world->solver->pair_summaries[i];
    if (i + PREFETCH_DISTANCE < world->detection->active_pair_count) {
      prefetch_contact(world, p[PREFETCH_DISTANCE].contact);
    }
    world->detection->pair_marks[i] =
        !p->sensor && (hardest_contact(world, p->contact) != NULL) != p->touching;
  }
}

static void publish_touch_change(tn_world *world, pair *p)
{
  p->touching = !p->touching;
  if (!p->touching) {
    add_contact_event(world, pair_event(world, p, TN_EVENT_END));
    return;
  }
  tn_contact_event e = begin_event(world, p, hardest_contact(world, p->first_contact));
  add_contact_event(world, e);
  if (is_hit(world, p, e.speed)) {
    e.kind = TN_EVENT_HIT;
    add_contact_event(world, e);
  }
}

void group_unpack_contacts(tn_world *world, const solver_group *group, solver_data *data, float dt)
{
  pack_task task = make_group_pack_task(world, group, data, dt, 1.0f);
  unpack_blocks(first_block(&group->coloring), last_block(&group->coloring), &task);
}

void contacts_unpack(tn_world *world, float dt)
{
  pack_task task = make_task(world, NULL, dt, 1.0f);
  for_contact_blocks(&task, unpack_blocks, UNPACK_GRAIN);
  task_run(world->tasks, find_touch_changes, world->detection->active_pair_count,
           PAIR_SUMMARY_GRAIN, world);
  const uint8_t *marks = world->detection->pair_marks;
  int32_t count = world->detection->active_pair_count;
  for (int32_t i = next_mark(marks, 0, count); i < count; i = next_mark(marks, i + 1, count)) {
    publish_touch_change(world, &world->pairs[world->detection->active_pairs[i]]);
  }
}

void contact_graph_release(tn_world *world)
{
  contact_graph *g = &world->solver->contact_graph;
  heap_free(&world->heap, g->blocks, (size_t)g->block_capacity * sizeof *g->blocks);
  heap_free(&world->heap, g->contents, (size_t)g->content_capacity * sizeof *g->contents);
  heap_free(&world->heap, world->solver->pair_summaries,
            (size_t)world->solver->pair_summary_capacity * sizeof(pair_summary));
  heap_free(&world->heap, g->restitution_contacts,
            (size_t)g->restitution_contact_capacity * sizeof *g->restitution_contacts);
  body_loads_release(world);
  groups_release(world);
  heap_free(&world->heap, world->solver->contact_flags,
            (size_t)world->solver->contact_flag_capacity * sizeof(body_contact_flags));
  heap_free(&world->heap, world->detection->shape_motions,
            (size_t)world->detection->shape_motion_capacity * sizeof(shape_motion));
  heap_free(&world->heap, world->solver->contact_placements,
            (size_t)world->solver->contact_placement_capacity * sizeof(contact_placement));
}
