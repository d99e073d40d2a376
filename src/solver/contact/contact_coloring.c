// Contact layout: colours the contacts of a step and assigns them to blocks by colour and type.
#include "base/bits.h"
#include "base/prefetch.h"
#include "data/world.h"
#include "detect/detection.h"
#include "solver/contact/contact_layout.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#define CONTACT_FLAG_GRAIN 256 // bodies in a task

// ---------------------------------------------------------------------------------------------
// Colours: contacts that share a dynamic body get different ones.

// Contacts of one colour, type and contact_loading, which fill blocks of their own.
typedef struct type_bucket {
  int32_t left;      // contacts still to be placed
  int32_t next, end; // free lanes of their open blocks, as block * BLOCK_WIDTH + lane
} type_bucket;

// Contacts in the order of their pairs that a thread takes at once.
#define CHUNK_CONTACTS 512

#if defined(TN_NO_THREADS)
#define IS_SORTED(contacts) 0 // one thread needs no order
#else
#define IS_SORTED(contacts) ((contacts) >= CHUNK_CONTACTS)
#endif

// Not set to zero as a whole: it is large.
typedef struct layout_builder {
  int colors; // that have been used; buckets of others are not set
  // Of each loading kept apart: registers of idle lanes are skipped by passes, and those of fully
  // loaded lanes need no bounds of the impulses.
  type_bucket bucket[MAX_COLORS + 1][CONTACT_TYPE_COUNT][CONTACT_LOADINGS];
  int32_t next_block[MAX_COLORS + 1];
} layout_builder;

// What the contacts of a pair ask for.
typedef struct color_request {
  color_sides sides;
  int32_t home_block; // body block of a body that they move
  uint8_t skip;       // see random_skip()
} color_request;

typedef struct layout_task {
  tn_world *world;
  layout_chunk *chunks;
  layout_builder *make;
  const coloring *coloring;
  const contact_placement *contacts; // to be sorted by colour, then sorted
  int32_t count;
  int32_t (*starts)[MAX_COLORS + 1]; // by chunk of contacts: where its contacts of each colour go
  uint8_t colors[MAX_COLORS + 1];    // those in use
  int32_t color_count;
  int32_t ranges[MAX_COLORS + 2]; // contacts of colour i: ranges[i] to ranges[i + 1]
} layout_task;

KERNEL contact_type type_of(const contact *c)
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

// A contact takes one of the TUNING_COLOR_CHOICES lowest free colours, chosen by a hash. If it were
// always the lowest, contacts on one side of a row of bodies would always be solved before those on
// the other, and the residual of each pass would push the row one way: a pyramid drifts twenty
// times as far. Returns how many of the free colours are skipped.
static uint8_t random_skip(uint32_t seed)
{
  uint32_t chance = RULE(random_colors) ? seed * 2654435761u : 0;
  return (uint8_t)((chance >> 16) % TUNING_COLOR_CHOICES);
}

// The lowest free colour but `skip`; fewer are skipped if there are not as many. MAX_COLORS: none.
KERNEL int free_color(uint64_t taken, int skip)
{
  _Static_assert(TUNING_COLOR_CHOICES == 4, "skips up to three");
  if (taken >> (MAX_COLORS - TUNING_COLOR_CHOICES) == 0) {
    uint64_t more = taken | (taken + 1); // takes the lowest free one
    taken = skip > 0 ? more : taken;
    more = taken | (taken + 1);
    taken = skip > 1 ? more : taken;
    more = taken | (taken + 1);
    taken = skip > 2 ? more : taken;
    return lowest_clear_bit(taken);
  }
  for (int i = 0; i < skip && (taken | (taken + 1)) != UINT64_MAX; ++i) {
    taken |= taken + 1;
  }
  return lowest_clear_bit(taken);
}

KERNEL contact_loading loading_of(const contact *c)
{
  if (c->idle) {
    return CONTACT_IDLE;
  }
  const float *x = c->state.lambda;
  int loaded = (x[0] > 0.0f) + (x[1] > 0.0f) + (x[2] > 0.0f) + (x[3] > 0.0f);
  return loaded < c->manifold.count ? CONTACT_LOADED_PARTLY : CONTACT_LOADED;
}

KERNEL contact_summary summary_of(const contact *c)
{
  return (contact_summary){type_of(c), loading_of(c), !c->settled};
}

contact_summary contact_summary_of(const contact *c)
{
  return summary_of(c);
}

static void clear_bucket(layout_builder *make, int color)
{
  memset(make->bucket[color], 0, sizeof make->bucket[color]);
}

// Adds contacts to the buckets of their colours, which are clear: those of a group or of one
// colour.
static void add_to_buckets(layout_builder *make, const contact_placement *contacts, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    contact_placement p = contacts[i];
    make->bucket[p.color][p.type][p.loading].left += 1;
  }
}

static void count_buckets(layout_builder *make, const contact_placement *contacts, int32_t count)
{
  make->colors = 0;
  clear_bucket(make, MAX_COLORS);
  for (int32_t i = 0; i < count; ++i) {
    for (; contacts[i].color < MAX_COLORS && make->colors <= contacts[i].color; ++make->colors) {
      clear_bucket(make, make->colors);
    }
    add_to_buckets(make, &contacts[i], 1);
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
      count[color][type] = bucket[CONTACT_LOADED].left + bucket[CONTACT_LOADED_PARTLY].left +
                           bucket[CONTACT_IDLE].left;
    }
  }
  return lay_out_colors(c, first, &count[0][0], CONTACT_TYPE_COUNT, make->colors);
}

// Begins a colour. The last block of each loading is filled up with contacts of the next ones.
static void fill_last_blocks(layout_builder *make, const coloring *c, int color)
{
  make->next_block[color] = color < MAX_COLORS ? c->color[color].first : c->overflow.first;
  for (int type = 0; type < CONTACT_TYPE_COUNT && color < MAX_COLORS; ++type) {
    type_bucket *bucket = make->bucket[color][type];
    for (int i = 0; i < CONTACT_LOADINGS; ++i) {
      int32_t room = -bucket[i].left & (BLOCK_WIDTH - 1);
      for (int k = i + 1; k < CONTACT_LOADINGS; ++k) {
        int32_t held = room < bucket[k].left ? room : bucket[k].left;
        bucket[i].left += held;
        bucket[k].left -= held;
        room -= held;
      }
    }
  }
}

// Lane for a contact, as block * BLOCK_WIDTH + lane: in a block of its own loading, else in one
// that was to be filled up. Blocks are opened on demand, two at a time for
// the 16-lane passes. Contacts of all types thus keep the order of the list within each colour, and
// a thread, which takes a contiguous range, gets the same bodies in every colour. Overflow contacts
// may share bodies and get a block each.
static int32_t take_lane(layout_builder *make, contact_placement p)
{
  type_bucket *bucket = make->bucket[p.color][p.type];
  int loading = p.loading;
  while (loading > 0 && bucket[loading].left == 0) {
    loading -= 1;
  }
  while (bucket[loading].left == 0) {
    loading += 1;
  }
  type_bucket *g = &bucket[loading];
  if (g->next == g->end) {
    int32_t blocks = p.color < MAX_COLORS && g->left > BLOCK_WIDTH ? 2 : 1;
    g->next = make->next_block[p.color] * BLOCK_WIDTH;
    g->end = g->next + (p.color < MAX_COLORS ? blocks * BLOCK_WIDTH : 1);
    make->next_block[p.color] += blocks;
  }
  g->left -= 1;
  return g->next++;
}

// Of a shape only the cached line is read, which the narrow phase has loaded.
static float smaller_radius(const tn_world *world, const pair *p)
{
  return fminf(world->shapes[p->shape[0]].shape_cache.bounding_radius,
               world->shapes[p->shape[1]].shape_cache.bounding_radius);
}

static bool has_restitution_material(const tn_world *world, const pair *p)
{
  return world->shapes[p->shape[0]].shape_cache.restitution > 0.0f ||
         world->shapes[p->shape[1]].shape_cache.restitution > 0.0f;
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

// Stamp of this step's records; odd for bodies that move.
static unsigned stamp_of(const tn_world *world, bool moves)
{
  return 2u * (unsigned)world->detection->contact_update_count + moves;
}

static void reset_contact_flags(int first, int last, void *context)
{
  tn_world *world = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i];
    world->solver->body_colors[slot] = 0;
    world->solver->contact_flags[slot] =
        (body_contact_flags){.stamp = stamp_of(world, true),
                             .dynamic = world->bodies[slot].type == TN_BODY_DYNAMIC,
                             .moves = true};
  }
}

// Whether the body moves. If not it gets an empty record, from the thread that stamps it, which
// stays empty: flags are set only where bodies move.
KERNEL bool begin_flags(body_contact_flags *m, unsigned still)
{
  unsigned seen = atomic_load_explicit(&m->stamp, memory_order_relaxed);
  if (seen == still + 1) {
    return true;
  }
  if (seen != still && atomic_compare_exchange_strong(&m->stamp, &seen, still)) {
    atomic_store_explicit(&m->dynamic_contact_count, 0, memory_order_relaxed);
    atomic_store_explicit(&m->in_initial_overlap, false, memory_order_relaxed);
    atomic_store_explicit(&m->supported, false, memory_order_relaxed);
    atomic_store_explicit(&m->may_touch, false, memory_order_relaxed);
    m->mechanism = m->first_restitution_contact = 0;
    m->dynamic = m->moves = m->jointed = m->turns_fast = false;
  }
  return false;
}

// Prefetching of pairs and contacts that come up soon.
KERNEL void prefetch_active_pair(const tn_world *world, int32_t active)
{
  if (active < world->detection->active_pair_count) {
    PREFETCH(&world->pairs[world->detection->active_pairs[active]]);
  }
}

// What the load of a pair needs: state and normal of its first contact, pose of its first shape.
KERNEL void prefetch_contact_load(const tn_world *world, int32_t active)
{
  if (active >= world->detection->active_pair_count) {
    return;
  }
  const pair *p = &world->pairs[world->detection->active_pairs[active]];
  if (p->first_contact != NO_SLOT) {
    PREFETCH(&world->contacts[p->first_contact].manifold);
    PREFETCH(&world->contacts[p->first_contact].state);
    PREFETCH(&world->shapes[p->shape[0]].shape_cache);
  }
}

static bool is_dynamic(const tn_world *world, int32_t slot)
{
  const body_contact_flags *m = &world->solver->contact_flags[slot];
  return atomic_load_explicit(&m->stamp, memory_order_relaxed) == stamp_of(world, true) &&
         m->dynamic;
}

// Number of contacts of a pair that are solved. None without a dynamic body: one that is frozen in
// a recovery leaves rows without any mass.
static int8_t count_contacts(const tn_world *world, const pair_summary *p)
{
  if (p->contact == NO_SLOT || (!is_dynamic(world, p->body[0]) && !is_dynamic(world, p->body[1]))) {
    return 0;
  }
  int8_t count = 1;
  for (int32_t c = p->has_more ? world->contacts[p->contact].next : NO_SLOT; c != NO_SLOT;
       c = world->contacts[c].next) {
    count = (int8_t)(count + 1);
  }
  return count;
}

// Gathers what colouring reads of the active pairs of a chunk: the records are scattered in memory,
// and colouring is serial.
static void summarize_pairs(tn_world *world, layout_chunk *chunk)
{
  chunk->contacts = 0;
  chunk->lowest_body = INT32_MAX;
  chunk->highest_body = 0;
  for (int i = chunk->first_pair; i < chunk->last_pair; ++i) {
    int32_t slot = world->detection->active_pairs[i];
    pair *p = &world->pairs[slot];
    prefetch_active_pair(world, i + 2 * PREFETCH_DISTANCE);
    prefetch_contact_load(world, i + PREFETCH_DISTANCE);
    pair_summary *summary = &world->solver->pair_summaries[i];
    summary->contact = p->first_contact;
    summary->body[0] = p->body[0];
    summary->body[1] = p->body[1];
    if (p->first_contact != NO_SLOT) {
      const contact *c = &world->contacts[p->first_contact];
      summary->first = summary_of(c);
      summary->load = pair_load_of(world, c);
      for (int side = 0; side < 2; ++side) {
        int32_t held = p->body[side];
        chunk->lowest_body = held < chunk->lowest_body ? held : chunk->lowest_body;
        chunk->highest_body = held > chunk->highest_body ? held : chunk->highest_body;
      }
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
    summary->contact_count = count_contacts(world, summary);
    chunk->contacts += summary->contact_count;
  }
}

static void summarize_task(int first, int last, void *context)
{
  const layout_task *t = context;
  for (int i = first; i < last; ++i) {
    summarize_pairs(t->world, &t->chunks[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Colouring. What it needs of a contact, and the flags of bodies, are gathered on all threads; the
// choice of colours, which depends on those before, is serial.

// Stores only what is not set yet: most contacts find everything set.
KERNEL void set_flag(atomic_bool *flag, bool value)
{
  if (value && !atomic_load_explicit(flag, memory_order_relaxed)) {
    atomic_store_explicit(flag, true, memory_order_relaxed);
  }
}

// Counts up to two, and sometimes more.
KERNEL void count_dynamic(body_contact_flags *m, int32_t contacts)
{
  if (atomic_load_explicit(&m->dynamic_contact_count, memory_order_relaxed) < 2) {
    atomic_fetch_add_explicit(&m->dynamic_contact_count, contacts, memory_order_relaxed);
  }
}

// Sets the flags of a pair's bodies and finds what its contacts ask for. `still`: stamp of bodies
// that do not move.
KERNEL color_request flag_bodies(body_contact_flags *a, body_contact_flags *b, pair_summary *p,
                                 uint32_t seed, unsigned still)
{
  bool a_moves = begin_flags(a, still), b_moves = begin_flags(b, still);
  bool a_dynamic = a_moves && a->dynamic, b_dynamic = b_moves && b->dynamic;
  bool touches = p->contact_count > 0;
  p->dynamic[0] = a_dynamic;
  p->dynamic[1] = b_dynamic;
  if (a_moves) {
    set_flag(&a->supported, p->near_touch && a_dynamic);
    set_flag(&a->may_touch, touches);
  }
  if (b_moves) {
    set_flag(&b->supported, p->near_touch && b_dynamic);
    set_flag(&b->may_touch, touches);
  }
  if (a_dynamic && b_dynamic && touches) {
    count_dynamic(a, p->contact_count);
    count_dynamic(b, p->contact_count);
    set_flag(&a->in_initial_overlap, p->initial_overlap);
    set_flag(&b->in_initial_overlap, p->initial_overlap);
  }
  return (color_request){
      .sides = {{a_dynamic ? p->body[0] : WORLD_SLOT, b_dynamic ? p->body[1] : WORLD_SLOT}},
      .home_block = p->body[a_moves ? 0 : 1] / BLOCK_WIDTH,
      .skip = random_skip(seed)};
}

// Field by field: a copy of the whole takes twice as long.
KERNEL void place_request(contact_placement *to, const color_request *request, int32_t slot,
                          contact_summary c)
{
  to->contact = slot;
  to->home_block = request->home_block;
  to->type = (uint8_t)c.type;
  to->loading = (uint8_t)c.loading;
  to->skip = request->skip;
}

static void request_colors(const tn_world *world, layout_chunk *chunk)
{
  body_contact_flags *flags = world->solver->contact_flags;
  contact_placement *to = world->solver->contact_placements;
  color_sides *sides = world->solver->color_sides;
  to = to ? to + chunk->place : NULL; // null while there is no contact
  sides = sides ? sides + chunk->place : NULL;
  pair_summary *p = world->solver->pair_summaries + chunk->first_pair;
  const pair_summary *end = world->solver->pair_summaries + chunk->last_pair;
  const int32_t *active_pairs = world->detection->active_pairs;
  unsigned still = stamp_of(world, false);
  int32_t unsettled = 0;
  for (; p < end; ++p) {
    if (p->contact == NO_SLOT && !p->near_touch) {
      continue;
    }
    uint32_t seed = (uint32_t)active_pairs[p - world->solver->pair_summaries];
    color_request request = flag_bodies(&flags[p->body[0]], &flags[p->body[1]], p, seed, still);
    contact_summary c = p->first;
    for (int32_t k = p->contact_count > 0 ? p->contact : NO_SLOT; k != NO_SLOT;) {
      unsettled += c.unsettled;
      *sides++ = request.sides;
      place_request(to++, &request, k, c);
      k = p->has_more ? world->contacts[k].next : NO_SLOT;
      if (k != NO_SLOT) {
        c = summary_of(&world->contacts[k]);
      }
    }
  }
  chunk->unsettled = unsettled;
}

static void request_task(int first, int last, void *context)
{
  const layout_task *t = context;
  for (int i = first; i < last; ++i) {
    request_colors(t->world, &t->chunks[i]);
  }
}

// In order: each contact takes a colour that its dynamic bodies do not have yet.
// Returns whether some got none.
static bool choose_colors(tn_world *world, int32_t count)
{
  bool overflows = false;
  contact_placement *list = world->solver->contact_placements;
  const color_sides *sides = world->solver->color_sides;
  uint64_t *colors = world->solver->body_colors;
  colors[WORLD_SLOT] = 0;
  for (int32_t i = 0; i < count; ++i) {
    uint64_t *a = &colors[sides[i].body[0]], *b = &colors[sides[i].body[1]];
    uint64_t taken = *a | *b;
    int color = free_color(taken, list[i].skip);
    uint64_t bit = color < MAX_COLORS ? 1ull << color : 0;
    *a |= bit;
    *b |= bit;
    colors[WORLD_SLOT] = 0;
    list[i].color = (uint8_t)color;
    overflows = overflows || color == MAX_COLORS;
  }
  return overflows;
}

// A contact unites the groups of its bodies. Impacts are resolved one at a time over the whole
// scene, so bodies with restitution stay outside of the groups, as do overflow contacts, which may
// share bodies and are solved serially.
static void join_groups(tn_world *world, bool overflows)
{
  solver_group_set *groups = &world->solver->groups;
  const body_contact_flags *flags = world->solver->contact_flags;
  const contact_placement *placement = world->solver->contact_placements;
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    const pair_summary *p = &world->solver->pair_summaries[i];
    if (p->contact == NO_SLOT) {
      continue;
    }
    bool excluded = p->has_restitution, a_moves = flags[p->body[0]].moves;
    if (a_moves && flags[p->body[1]].moves) {
      groups_join(groups, p->body[0], p->body[1]);
    }
    for (int32_t k = 0; k < p->contact_count && overflows; ++k) {
      excluded = excluded || placement[k].color == MAX_COLORS;
    }
    placement += p->contact_count;
    if (excluded) {
      groups_exclude(groups, p->body[a_moves ? 0 : 1]);
    }
  }
}

static bool reserve_layout(tn_world *world, int32_t pairs, int32_t chunks)
{
  solver *s = world->solver;
  return heap_reserve(&world->heap, (void **)&s->contact_flags, &s->contact_flag_capacity,
                      world->body_pool.used, sizeof(body_contact_flags)) &&
         heap_reserve(&world->heap, (void **)&s->pair_summaries, &s->pair_summary_capacity, pairs,
                      sizeof(pair_summary)) &&
         heap_reserve(&world->heap, (void **)&world->detection->pair_marks,
                      &world->detection->pair_mark_capacity, pairs, sizeof(uint8_t)) &&
         heap_reserve(&world->heap, (void **)&s->body_colors, &s->body_color_capacity,
                      world->body_pool.used, sizeof(uint64_t)) &&
         heap_reserve(&world->heap, (void **)&s->color_sides, &s->color_side_capacity,
                      world->contact_pool.count, sizeof *s->color_sides) &&
         heap_reserve(&world->heap, (void **)&s->contact_placements, &s->contact_placement_capacity,
                      world->contact_pool.count, sizeof(contact_placement)) &&
         heap_reserve(&world->heap, (void **)&s->layout_chunks, &s->layout_chunk_capacity, chunks,
                      sizeof(layout_chunk)) &&
         groups_begin(world);
}

// Returns the sums over all chunks of pairs: `contacts` is the number of contacts.
static layout_chunk color_contacts(tn_world *world, int32_t chunks)
{
  int32_t pairs = world->detection->active_pair_count;
  layout_task task = {.world = world, .chunks = world->solver->layout_chunks};
  layout_chunk sum = {0};
  for (int32_t i = 0; i < chunks; ++i) {
    int32_t last = (i + 1) * CHUNK_PAIRS;
    task.chunks[i] =
        (layout_chunk){.first_pair = i * CHUNK_PAIRS, .last_pair = last < pairs ? last : pairs};
  }
  task_run(world->tasks, reset_contact_flags, world->awake_count, CONTACT_FLAG_GRAIN, world);
  task_run(world->tasks, summarize_task, chunks, 1, &task);
  for (int32_t i = 0; i < chunks; ++i) {
    task.chunks[i].place = sum.contacts;
    sum.contacts += task.chunks[i].contacts;
  }
  task_run(world->tasks, request_task, chunks, 1, &task);
  bool overflows = choose_colors(world, sum.contacts);
  for (int32_t i = 0; i < chunks; ++i) {
    sum.unsettled += task.chunks[i].unsettled;
  }
  if (groups_enabled(&world->solver->groups)) {
    join_groups(world, overflows);
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------
// Blocks. Contacts are sorted by colour, in the order of the list within each; then each colour is
// laid out and filled on its own, on all threads.

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

static void place_contact(block_content *contents, layout_builder *make, contact_placement p)
{
  int32_t place = take_lane(make, p);
  block_content *content = &contents[place / BLOCK_WIDTH];
  content->type = p.type;
  content->contact[place % BLOCK_WIDTH] = p.contact;
}

// Fills the blocks of one colour from its contacts, whose buckets have been counted.
static void fill_color(block_content *contents, layout_builder *make, const coloring *c, int color,
                       const contact_placement *contacts, int32_t count)
{
  color_range range = color < MAX_COLORS ? c->color[color] : c->overflow;
  for (int32_t i = range.first; i < range.last; ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; ++lane) {
      contents[i].contact[lane] = NO_SLOT;
    }
  }
  fill_last_blocks(make, c, color);
  for (int32_t i = 0; i < count; ++i) {
    place_contact(contents, make, contacts[i]);
  }
}

// The same for contacts of all colours, in any order of colours.
static void fill_blocks(block_content *contents, layout_builder *make, const coloring *c,
                        const contact_placement *contacts, int32_t count)
{
  for (int color = 0; color <= make->colors; ++color) {
    fill_color(contents, make, c, color < make->colors ? color : MAX_COLORS, NULL, 0);
  }
  for (int32_t i = 0; i < count; ++i) {
    place_contact(contents, make, contacts[i]);
  }
}

static void count_colors_task(int first, int last, void *context)
{
  const layout_task *t = context;
  for (int i = first; i < last; ++i) {
    int32_t end = (i + 1) * CHUNK_CONTACTS;
    memset(t->starts[i], 0, sizeof t->starts[i]);
    for (int32_t k = i * CHUNK_CONTACTS; k < end && k < t->count; ++k) {
      t->starts[i][t->contacts[k].color] += 1;
    }
  }
}

static void sort_colors_task(int first, int last, void *context)
{
  const layout_task *t = context;
  contact_placement *sorted = t->world->solver->colored_placements;
  for (int i = first; i < last; ++i) {
    int32_t end = (i + 1) * CHUNK_CONTACTS;
    for (int32_t k = i * CHUNK_CONTACTS; k < end && k < t->count; ++k) {
      sorted[t->starts[i][t->contacts[k].color]++] = t->contacts[k];
    }
  }
}

// Turns the counts of all chunks into places, and lists the colours up to the last one in use and
// the overflow.
static void sum_colors(layout_task *t, int32_t chunks)
{
  int32_t next = 0;
  t->make->colors = t->color_count = 0;
  for (int color = 0; color <= MAX_COLORS; ++color) {
    t->ranges[color] = next;
    for (int32_t i = 0; i < chunks; ++i) {
      int32_t count = t->starts[i][color];
      t->starts[i][color] = next;
      next += count;
    }
    if (next > t->ranges[color] && color < MAX_COLORS) {
      t->make->colors = color + 1;
    }
  }
  t->ranges[MAX_COLORS + 1] = next;
  for (; t->color_count < t->make->colors; ++t->color_count) {
    t->colors[t->color_count] = (uint8_t)t->color_count;
  }
  t->colors[t->color_count++] = MAX_COLORS;
}

static void count_buckets_task(int first, int last, void *context)
{
  const layout_task *t = context;
  for (int i = first; i < last; ++i) {
    int color = t->colors[i];
    clear_bucket(t->make, color);
    add_to_buckets(t->make, t->contacts + t->ranges[color],
                   t->ranges[color + 1] - t->ranges[color]);
  }
}

static void fill_colors_task(int first, int last, void *context)
{
  const layout_task *t = context;
  for (int i = first; i < last; ++i) {
    int color = t->colors[i];
    fill_color(t->world->solver->contact_graph.contents, t->make, t->coloring, color,
               t->contacts + t->ranges[color], t->ranges[color + 1] - t->ranges[color]);
  }
}

// Sorts contacts by colour, if there are many, and counts the buckets of each. False when out of
// memory.
static bool sort_contacts(layout_task *t)
{
  if (!IS_SORTED(t->count)) {
    count_buckets(t->make, t->contacts, t->count);
    return true;
  }
  tn_world *world = t->world;
  solver *s = world->solver;
  int32_t chunks = (t->count + CHUNK_CONTACTS - 1) / CHUNK_CONTACTS;
  if (!heap_reserve(&world->heap, (void **)&s->colored_placements, &s->colored_placement_capacity,
                    t->count, sizeof(contact_placement)) ||
      !heap_reserve(&world->heap, &s->color_starts, &s->color_start_capacity, chunks,
                    sizeof *t->starts)) {
    return false;
  }
  t->starts = s->color_starts;
  task_run(world->tasks, count_colors_task, chunks, 1, t);
  sum_colors(t, chunks);
  task_run(world->tasks, sort_colors_task, chunks, 1, t);
  t->contacts = s->colored_placements;
  task_run(world->tasks, count_buckets_task, t->color_count, 1, t);
  return true;
}

static void fill_shared_blocks(layout_task *t)
{
  if (IS_SORTED(t->count)) {
    task_run(t->world->tasks, fill_colors_task, t->color_count, 1, t);
  } else {
    fill_blocks(t->world->solver->contact_graph.contents, t->make, t->coloring, t->contacts,
                t->count);
  }
}

// Whether the last layout was empty: without contacts there is nothing to do then.
static bool is_empty(const contact_graph *g)
{
  const coloring *c = &g->coloring;
  return g->block_count == 0 && c->count == 0 && c->overflow.first == c->overflow.last &&
         !g->unsettled;
}

static void lay_out_groups(tn_world *world, int32_t *blocks)
{
  solver_group_set *groups = &world->solver->groups;
  layout_builder make;
  groups->arena_blocks = 0;
  for (int32_t i = 0; i < groups_count(groups); ++i) {
    solver_group *group = &groups->list[i];
    count_buckets(&make, groups->sorted + group->contacts.first,
                  group->contacts.last - group->contacts.first);
    int32_t own = lay_out_blocks(&make, &group->coloring, 0);
    groups->arena_blocks = own > groups->arena_blocks ? own : groups->arena_blocks;
    group->first = *blocks;
    *blocks += own;
  }
}

// Fills the blocks of the shared contacts and reserves those of the groups, which are filled by
// contact_layout_fill_group().
static bool place_contacts(tn_world *world, int32_t count)
{
  contact_graph *g = &world->solver->contact_graph;
  solver_group_set *groups = &world->solver->groups;
  layout_builder make;
  layout_task task = {.world = world,
                      .make = &make,
                      .coloring = &g->coloring,
                      .contacts = world->solver->contact_placements,
                      .count = count};
  if (!groups_find(world, task.contacts, count)) {
    return false;
  }
  if (groups_count(groups) > 0) {
    task.contacts = groups->sorted;
    task.count = groups->shared_contacts;
  }
  if (!sort_contacts(&task)) {
    return false;
  }
  int32_t blocks = g->shared_block_count = lay_out_blocks(&make, &g->coloring, 0);
  lay_out_groups(world, &blocks);
  if (!reserve_blocks(world, blocks)) {
    return false;
  }
  fill_shared_blocks(&task);
  return true;
}

void contact_layout_fill_group(tn_world *world, const solver_group *group)
{
  layout_builder make;
  const contact_placement *contacts = world->solver->groups.sorted + group->contacts.first;
  int32_t count = group->contacts.last - group->contacts.first;
  count_buckets(&make, contacts, count);
  fill_blocks(world->solver->contact_graph.contents + group->first, &make, &group->coloring,
              contacts, count);
}

bool contact_layout_build(tn_world *world)
{
  contact_graph *g = &world->solver->contact_graph;
  int32_t pairs = world->detection->active_pair_count;
  int32_t chunks = (pairs + CHUNK_PAIRS - 1) / CHUNK_PAIRS;
  if (!reserve_layout(world, pairs, chunks)) {
    return false;
  }
  layout_chunk sum = color_contacts(world, chunks);
  if (sum.contacts == 0 && is_empty(g)) {
    return true;
  }
  if (!place_contacts(world, sum.contacts) ||
      !heap_reserve(&world->heap, (void **)&g->restitution_contacts,
                    &g->restitution_contact_capacity, sum.contacts, sizeof(restitution_contact))) {
    return false;
  }
  g->unsettled = TUNING_CONTACT_UNSETTLED_PART * sum.unsettled > sum.contacts;
  g->min_passes = RULE(settling_passes) && g->unsettled
                      ? 1 + TUNING_CONTACT_SETTLING_PASSES / world->substeps
                      : 1;
  return true;
}

void contact_coloring_release(tn_world *world)
{
  solver *s = world->solver;
  heap_free(&world->heap, s->contact_placements,
            (size_t)s->contact_placement_capacity * sizeof(contact_placement));
  heap_free(&world->heap, s->colored_placements,
            (size_t)s->colored_placement_capacity * sizeof(contact_placement));
  heap_free(&world->heap, s->body_colors, (size_t)s->body_color_capacity * sizeof(uint64_t));
  heap_free(&world->heap, s->color_sides, (size_t)s->color_side_capacity * sizeof *s->color_sides);
  heap_free(&world->heap, s->layout_chunks,
            (size_t)s->layout_chunk_capacity * sizeof(layout_chunk));
  heap_free(&world->heap, s->color_starts,
            (size_t)s->color_start_capacity * sizeof(int32_t[MAX_COLORS + 1]));
}
