// Loads of contacts. Three uses: larger moments of inertia for bodies that pass loads on from face
// to face, larger masses for those that are squeezed by many times their weight, and initial loads
// for stacks whose contacts are new.
#include "solver/contact/load_estimate.h"

#include "data/world.h"
#include "detect/detection.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>

static bool reserve_loads(tn_world *world)
{
  return heap_reserve(&world->heap, (void **)&world->solver->body_loads,
                      &world->solver->body_load_capacity, world->body_pool.used, sizeof(body_load));
}

void body_loads_release(tn_world *world)
{
  heap_free(&world->heap, world->solver->body_loads,
            (size_t)world->solver->body_load_capacity * sizeof(body_load));
  heap_free(&world->heap, world->solver->support_faces,
            (size_t)world->solver->support_face_capacity * sizeof(support_face));
}

static bool is_face(const contact *c)
{
  return c->manifold.form == MANIFOLD_FLAT && c->manifold.count >= TUNING_FACE_MIN_POINTS;
}

// From A to B, world axes.
static tn_vec3 normal_of(const tn_world *world, const contact *c)
{
  const float *q = world->shapes[c->shape[0]].shape_cache.rotation;
  return tn_rotate((tn_quat){q[0], q[1], q[2], q[3]}, c->manifold.normal);
}

// ---------------------------------------------------------------------------------------------
// Inertia scaling
//
// With one pass per substep contacts are elastic: a face resists tilting like a spring of stiffness
// I / h^2, and towers and walls that are high enough buckle on such springs. A body that passes a
// load P on from face to face hardly rotates, so a larger moment of inertia changes little but that
// stiffness:
//   I' = I clamp(4000 P h^2 / sqrt(m I), 1, 100),   P h = (sum |p_i| - |sum p_i|) / 2,
// with p_i the impulses per substep on its faces. The factor is 1 for small h. Bodies that also
// bear on edges or round shapes do rotate, and would rattle; joints need the true moments. Neither
// is scaled. Nor is a stack that stands on less than three points: it flies, or tips over an edge,
// and would do so late with moments of inertia that are not there.
//
// Between heavy bodies a light one of mass m is a weak spring in all directions: a pass changes its
// impulses by what its own mass stops, so that a load F moves it by F h^2 / m before it is borne.
// So a body that contacts squeeze by F is heavier for impulses, by the factor
//   m' / m = clamp((64 d)^2, 1, min(F / (64 m g), 1024 d)),   d = F h^2 / sqrt(m I),
// and its moments by at least that. Its weight and all other forces stay as they are. The factor is
// 1 for small h. Impulses that nothing balances count by a 64th: what held a squeezed body on the
// other side may be gone.

// Root of the stack that a body belongs to: dynamic bodies that loaded faces join. It is the lowest
// of them, so that it does not depend on the order in which threads join them.
static int32_t stack_of(const tn_world *world, int32_t slot)
{
  body_load *loads = world->solver->body_loads;
  for (int next; (next = atomic_load_explicit(&loads[slot].stack, memory_order_relaxed)) != slot;) {
    int beyond = atomic_load_explicit(&loads[next].stack, memory_order_relaxed), expected = next;
    if (beyond != next) {
      atomic_compare_exchange_strong(&loads[slot].stack, &expected, beyond);
    }
    slot = next;
  }
  return slot;
}

static void join_stacks(const tn_world *world, const int32_t slots[2])
{
  for (int32_t a = slots[0], b = slots[1];;) {
    a = stack_of(world, a);
    b = stack_of(world, b);
    int high = a > b ? a : b, low = a > b ? b : a, expected = high;
    atomic_int *root = &world->solver->body_loads[high].stack;
    if (a == b || atomic_compare_exchange_strong(root, &expected, low)) {
      return;
    }
  }
}

// Points at which a contact bears or is about to.
static int32_t touching_points(const tn_world *world, uint32_t type, const contact *c)
{
  if (type == CONTACT_FLAT_1 || type == CONTACT_ROUND_1 || type == CONTACT_WIRE_1) {
    return 1;
  }
  if (type != CONTACT_FLAT_4 && type != CONTACT_RIM_4) {
    return 2;
  }
  float size =
      fminf(world->shapes[c->shape[0]].bounding_radius, world->shapes[c->shape[1]].bounding_radius);
  int32_t count = 0;
  for (int i = 0; i < c->manifold.count; ++i) {
    count += c->manifold.points[i].gap < TUNING_SUPPORT_GAP * size;
  }
  return count;
}

static void add_sum(const float *restrict add, const float *restrict sign, float *restrict sum)
{
  for (int i = 0; i < 4; ++i) {
    sum[i] += sign[i] * add[i];
  }
}

static const load_sum ON_A = {-1.0f, -1.0f, -1.0f, 1.0f}, ON_B = {1.0f, 1.0f, 1.0f, 1.0f};

static void add_contact_load(const tn_world *world, const contact *c, pair_load *sum)
{
  const float *x = c->state.lambda;
  int loaded = (x[0] > 0.0f) + (x[1] > 0.0f) + (x[2] > 0.0f) + (x[3] > 0.0f);
  bool face = c->settled && c->manifold.form == MANIFOLD_FLAT && loaded >= TUNING_FACE_MIN_POINTS;
  if (loaded > 0) {
    float load = x[0] + x[1] + x[2] + x[3];
    tn_vec3 net = tn_scale(load, normal_of(world, c));
    const load_sum press = {net.x, net.y, net.z, load};
    add_sum(press, ON_B, sum->squeeze);
    if (face) {
      add_sum(press, ON_B, sum->load);
      sum->faces = (int8_t)(sum->faces + 1);
    }
  }
  if (!c->idle && !face) {
    uint32_t type = contact_summary_of(c).type;
    sum->points = (int8_t)(sum->points + touching_points(world, type, c));
    sum->has_other = sum->has_other || type != CONTACT_FLAT_4;
  }
}

pair_load pair_load_of(const tn_world *world, const contact *first)
{
  pair_load sum = {0};
  for (const contact *c = first; c; c = c->next == NO_SLOT ? NULL : &world->contacts[c->next]) {
    if (!c->idle) {
      add_contact_load(world, c, &sum);
    }
  }
  return sum;
}

static float net_of(const load_sum sum)
{
  return tn_length(tn_v3(sum[0], sum[1], sum[2]));
}

// Factor of the moments of inertia of a body whose faces pass a load on.
static float inertia_scale_of(const body *of, const body_load *b, float h, float moment,
                              bool stands)
{
  float through = 0.5f * (b->load[3] - net_of(b->load));
  if (!RULE(inertia_scaling) || !stands || !(through > 0.0f) || b->has_other_load) {
    return 1.0f;
  }
  float brace = TUNING_INERTIA_SCALE * h * through / sqrtf(moment * of->mass.mass);
  return fminf(fmaxf(brace, 1.0f), TUNING_INERTIA_SCALE_MAX);
}

// Factor of the mass, and at least of the moments of inertia, of a squeezed body.
static float mass_scale_of(const body *of, const body_load *b, float h, float moment, float gravity)
{
  float net = net_of(b->squeeze);
  float squeeze = 0.5f * (b->squeeze[3] - net) + net / TUNING_MASS_SCALE;
  if (!RULE(mass_scaling) || !(squeeze > 0.0f)) {
    return 1.0f;
  }
  float way = h * squeeze / sqrtf(moment * of->mass.mass);
  float start = TUNING_MASS_SCALE * way;
  float most = TUNING_MASS_SCALE_WAY * way, weight = of->mass.mass * gravity * h;
  if (weight > 0.0f) {
    most = fminf(most, squeeze / (TUNING_MASS_SCALE * weight));
  }
  return fmaxf(1.0f, fminf(start * start, most));
}

static void scale_body(tn_world *world, int32_t slot, float h, float gravity)
{
  body_load *b = &world->solver->body_loads[slot];
  const body *of = &world->bodies[slot];
  if (b->squeeze[3] > 0.0f && !has_links(of)) {
    float moment = (float)((of->moments[0] + of->moments[1] + of->moments[2]) / 3.0);
    const body_load *stack = &world->solver->body_loads[stack_of(world, slot)];
    bool stands =
        atomic_load_explicit(&stack->stack_points, memory_order_relaxed) >= TUNING_FACE_MIN_POINTS;
    float mass_scale = mass_scale_of(of, b, h, moment, gravity);
    b->inverse_mass_scale = 1.0f / mass_scale;
    b->inverse_inertia_scale = 1.0f / fmaxf(inertia_scale_of(of, b, h, moment, stands), mass_scale);
  }
}

// ---------------------------------------------------------------------------------------------
// Sums over the contacts of a body, on all threads. Each thread adds up the loads of a range of
// bodies, from all pairs in their order, so that sums do not depend on the number of threads. Pairs
// are sorted by body: most chunks of them have nothing for a range.

#define LOAD_BODY_GRAIN 256

typedef struct load_task {
  tn_world *world;
  const layout_chunk *chunks;
  int32_t chunk_count, range; // range: bodies of a thread
  float h, gravity;
} load_task;

static void reset_loads(int first, int last, void *context)
{
  const load_task *t = context;
  for (int i = first; i < last; ++i) {
    int32_t slot = t->world->awake[i];
    body_load *b = &t->world->solver->body_loads[slot];
    *b = (body_load){.inverse_inertia_scale = 1.0f, .inverse_mass_scale = 1.0f};
    atomic_store_explicit(&b->stack, slot, memory_order_relaxed);
  }
}

static void join_chunks(int first, int last, void *context)
{
  const load_task *t = context;
  tn_world *world = t->world;
  bool estimated = world->solver->contact_graph.unsettled;
  for (int32_t i = t->chunks[first].first_pair; i < t->chunks[last - 1].last_pair; ++i) {
    pair_summary *p = &world->solver->pair_summaries[i];
    if (p->contact == NO_SLOT) {
      continue;
    }
    if (estimated) { // the load estimate has changed impulses since the summary was made
      p->load = pair_load_of(world, &world->contacts[p->contact]);
    }
    if (p->load.faces > 0 && p->dynamic[0] && p->dynamic[1]) {
      join_stacks(world, p->body);
    }
  }
}

static void add_pair_load(const tn_world *world, const pair_summary *p, int side)
{
  const pair_load *f = &p->load;
  body_load *b = &world->solver->body_loads[p->body[side]];
  const float *sign = side == 0 ? ON_A : ON_B;
  add_sum(f->squeeze, sign, b->squeeze);
  add_sum(f->load, sign, b->load);
  b->has_other_load = b->has_other_load || f->has_other;
  int points = f->points + (p->dynamic[1 - side] ? 0 : TUNING_FACE_MIN_POINTS * f->faces);
  if (points > 0) {
    atomic_fetch_add_explicit(&b->stack_points, points, memory_order_relaxed);
  }
}

static bool bears(const pair_load *f)
{
  return f->squeeze[3] > 0.0f || f->points > 0 || f->has_other;
}

static void add_loads(int first, int last, void *context)
{
  const load_task *t = context;
  const tn_world *world = t->world;
  int32_t low = first * t->range, high = last * t->range;
  const layout_chunk *end = t->chunks + t->chunk_count;
  for (const layout_chunk *chunk = t->chunks; chunk < end; ++chunk) {
    if (chunk->highest_body < low || chunk->lowest_body >= high) {
      continue;
    }
    for (int32_t i = chunk->first_pair; i < chunk->last_pair; ++i) {
      const pair_summary *p = &world->solver->pair_summaries[i];
      for (int side = 0; side < 2 && p->contact != NO_SLOT && bears(&p->load); ++side) {
        if (p->dynamic[side] && p->body[side] >= low && p->body[side] < high) {
          add_pair_load(world, p, side);
        }
      }
    }
  }
}

static void add_stack_points(int first, int last, void *context)
{
  const tn_world *world = ((const load_task *)context)->world;
  body_load *loads = world->solver->body_loads;
  for (int i = first; i < last; ++i) {
    int32_t slot = world->awake[i], stack = stack_of(world, slot);
    int points = atomic_load_explicit(&loads[slot].stack_points, memory_order_relaxed);
    if (slot != stack && points > 0) {
      atomic_fetch_add_explicit(&loads[stack].stack_points, points, memory_order_relaxed);
    }
  }
}

static void scale_bodies(int first, int last, void *context)
{
  const load_task *t = context;
  for (int i = first; i < last; ++i) {
    scale_body(t->world, t->world->awake[i], t->h, t->gravity);
  }
}

bool inertia_scaling_update(tn_world *world, float h)
{
  int32_t chunks = (world->detection->active_pair_count + CHUNK_PAIRS - 1) / CHUNK_PAIRS;
  if (!reserve_loads(world)) {
    return false;
  }
  int32_t team = task_team(world->tasks), bodies = world->body_pool.used;
  load_task task = {.world = world,
                    .chunks = world->solver->layout_chunks,
                    .chunk_count = chunks,
                    .range = (bodies + team - 1) / team,
                    .h = h,
                    .gravity = tn_length(world->gravity)};
  task_run(world->tasks, reset_loads, world->awake_count, LOAD_BODY_GRAIN, &task);
  if (world->method == TN_METHOD_TENON) {
    task_run(world->tasks, join_chunks, chunks, 1, &task);
    task_run(world->tasks, add_loads, team, 1, &task);
    task_run(world->tasks, add_stack_points, world->awake_count, LOAD_BODY_GRAIN, &task);
    task_run(world->tasks, scale_bodies, world->awake_count, LOAD_BODY_GRAIN, &task);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Initial loads
//
// A pass carries a load down by one level, so a high new stack would sink before its weight reaches
// the ground. Bodies at rest on upright faces start from an estimate: from the top down, the weight
// of a body and the load on it are shared evenly by the faces below it.

// `speed` in m/s.
static bool is_slow(const tn_world *world, int32_t slot, float speed)
{
  const float *v = world->state[slot].v;
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2] <= speed * speed;
}

static bool is_touching_face(const tn_world *world, const contact *c)
{
  float size =
      fminf(world->shapes[c->shape[0]].bounding_radius, world->shapes[c->shape[1]].bounding_radius);
  for (int i = 0; i < c->manifold.count; ++i) {
    float gap = c->manifold.points[i].gap;
    if (!(gap < TUNING_SUPPORT_GAP * size) || !(gap > -TUNING_LOAD_MAX_PENETRATION * size)) {
      return false;
    }
  }
  return true;
}

// Lists the contact if it is a new, closed and upright face between slow bodies. `up` is a unit
// vector against gravity.
static void list_support(tn_world *world, int32_t slot, tn_vec3 up, float speed, int32_t *count)
{
  const contact *c = &world->contacts[slot];
  if (c->state.preload_age > 0.0f || !is_face(c) || !is_touching_face(world, c) ||
      !is_slow(world, c->body[0], speed) || !is_slow(world, c->body[1], speed)) {
    return;
  }
  float rise = tn_dot(normal_of(world, c), up);
  if (fabsf(rise) < TUNING_LOAD_UPRIGHT_COSINE) {
    return;
  }
  int32_t upper = c->body[rise > 0.0f ? 1 : 0], lower = c->body[rise > 0.0f ? 0 : 1];
  tn_pos p = world->bodies[upper].center;
  double height = p.x * (double)up.x + p.y * (double)up.y + p.z * (double)up.z;
  if (world->solver->contact_flags[upper].dynamic) {
    world->solver->support_faces[(*count)++] = (support_face){height, slot, upper, lower};
  }
}

// From the bottom up, ties by slot.
static int by_height(const void *first, const void *second)
{
  const support_face *a = first, *b = second;
  if (a->height != b->height) {
    return a->height < b->height ? -1 : 1;
  }
  return (a->contact > b->contact) - (a->contact < b->contact);
}

// Whether a body can pass a load on: it is fixed, or stands on a listed face itself.
static bool is_carried(const tn_world *world, int32_t slot)
{
  return !world->solver->contact_flags[slot].dynamic ||
         world->solver->body_loads[slot].support_count > 0;
}

// `load` in N s per substep. The age makes the contact count as settled.
static void set_preload(contact *c, float load)
{
  int count = c->manifold.count;
  for (int i = 0; i < count; ++i) {
    c->state.lambda[i] = load / (float)count;
  }
  c->state.preload = load / (float)count;
  c->state.preload_age = TUNING_CONTACT_SETTLING_TIME;
  c->settled = true;
  c->idle = false;
}

// gravity_dv: m/s, velocity that gravity adds in a substep.
static void distribute_loads(tn_world *world, int32_t count, float gravity_dv)
{
  for (int32_t i = 0; i < count; ++i) {
    const support_face *s = &world->solver->support_faces[i];
    world->solver->body_loads[s->upper].support_count += is_carried(world, s->lower);
  }
  for (int32_t i = 0; i < world->awake_count; ++i) {
    const body *b = &world->bodies[world->awake[i]];
    world->solver->body_loads[world->awake[i]].total_weight =
        b->mass.mass * b->gravity_scale * gravity_dv;
  }
  for (int32_t i = count - 1; i >= 0; --i) {
    const support_face *s = &world->solver->support_faces[i];
    if (is_carried(world, s->lower)) {
      const body_load *upper = &world->solver->body_loads[s->upper];
      float load = upper->total_weight / (float)upper->support_count;
      set_preload(&world->contacts[s->contact], load);
      world->solver->body_loads[s->lower].total_weight +=
          world->solver->contact_flags[s->lower].dynamic ? load : 0.0f;
    }
  }
}

bool load_estimate_init(tn_world *world, float h)
{
  float gravity = tn_length(world->gravity);
  if (!RULE(load_estimate) || world->method != TN_METHOD_TENON || gravity == 0.0f) {
    return true;
  }
  if (!reserve_loads(world) || !heap_reserve(&world->heap, (void **)&world->solver->support_faces,
                                             &world->solver->support_face_capacity,
                                             world->contact_pool.count, sizeof(support_face))) {
    return false;
  }
  int32_t count = 0;
  tn_vec3 up = tn_scale(-1.0f / gravity, world->gravity);
  for (int32_t i = 0; i < world->awake_count; ++i) {
    world->solver->body_loads[world->awake[i]].support_count = 0;
  }
  for (int32_t i = 0; i < world->detection->active_pair_count; ++i) {
    for (int32_t k = world->pairs[world->detection->active_pairs[i]].first_contact; k != NO_SLOT;
         k = world->contacts[k].next) {
      list_support(world, k, up, gravity * h, &count);
    }
  }
  if (count > 0) {
    qsort(world->solver->support_faces, (size_t)count, sizeof *world->solver->support_faces,
          by_height);
    distribute_loads(world, count, gravity * h);
  }
  return true;
}
