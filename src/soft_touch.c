// What particles touch: found once a step, followed by the solver from substep to substep.
#include "soft_touch.h"
#include "collide/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PUSH_OUT 1.0f   // m/s, fastest way out of an overlap
#define NEAR_GAP 0.001f // m: closer than this counts as touching
#define PAIR_BETA 0.2f  // share of an overlap of particles that goes in a substep

static tn_vec3 to_vec3(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static tn_pos to_pos(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static tn_vec3 vec3_of(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// ---------------------------------------------------------------------------------------------
// The list

bool add_touch(tn_world *world, const soft_contact *t)
{
  if (!memory_reserve(world, (void **)&world->touches, &world->touch_capacity,
                      world->touch_count + 1, sizeof *t)) {
    return false;
  }
  world->touches[world->touch_count++] = *t;
  return true;
}

static void drop_touches(tn_world *world, bool (*is_gone)(const soft_contact *t, int32_t slot),
                         int32_t slot)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->touch_count; ++i) {
    if (!is_gone(&world->touches[i], slot)) {
      world->touches[count++] = world->touches[i];
    }
  }
  world->touch_count = count;
}

static bool is_of_soft(const soft_contact *t, int32_t slot)
{
  return t->soft == slot || t->other == slot;
}

static bool is_of_shape(const soft_contact *t, int32_t slot)
{
  return t->shape == slot;
}

void touches_remove_of_soft(tn_world *world, int32_t slot)
{
  meetings_remove_of_soft(world, slot);
  drop_touches(world, is_of_soft, slot);
}

void touches_drop_of_soft(tn_world *world, int32_t slot)
{
  drop_touches(world, is_of_soft, slot);
}

void touches_remove_of_shape(tn_world *world, int32_t slot)
{
  meetings_remove_of_shape(world, slot);
  for (int32_t i = 0; i < world->touch_count; ++i) {
    if (is_of_shape(&world->touches[i], slot)) {
      soft_wake(world, world->touches[i].soft);
    }
  }
  drop_touches(world, is_of_shape, slot);
}

void soft_wake_touched(tn_world *world, int32_t slot)
{
  for (int32_t i = 0; i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    if (t->soft == slot && t->body != NO_SLOT) {
      body_wake(world, t->body);
    } else if (is_of_soft(t, slot)) {
      soft_wake(world, t->soft == slot ? t->other : t->soft);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Particles and shapes

// A shape as the particles of a soft body see it.
typedef struct target {
  tn_world *world;
  const soft *soft;
  int32_t soft_slot, shape_slot;
  const shape *shape;
  const body *body;
  placed at;
  tn_vec3 v;  // of the body
  float spin; // fastest speed by turning
  float dt, margin;
  world_box box;
  world_box widest; // beyond it nothing of the soft body comes to touch
} target;

static tn_pos into_frame(placed frame, tn_pos p)
{
  return dquat_rotate(dquat_conjugate(frame.q), pos_sub(p, frame.p));
}

bool is_near(const world_box *box, tn_pos p, double reach)
{
  return p.x >= box->lower.x - reach && p.x <= box->upper.x + reach &&
         p.y >= box->lower.y - reach && p.y <= box->upper.y + reach &&
         p.z >= box->lower.z - reach && p.z <= box->upper.z + reach;
}

world_box grown_box(world_box box, double by)
{
  box.lower = tn_p3(box.lower.x - by, box.lower.y - by, box.lower.z - by);
  box.upper = tn_p3(box.upper.x + by, box.upper.y + by, box.upper.z + by);
  return box;
}

static float reach_at(const target *t, float speed)
{
  return t->soft->radius + t->margin + 1.5f * t->dt * (speed + t->spin);
}

static float reach_of(const target *t, const soft_particle *p)
{
  return reach_at(t, tn_length(tn_sub(p->v, t->v)));
}

// Most triangles are far from most shapes: whether all corners are beyond one side of the box.
static bool is_beyond(const world_box *box, const soft_particle *const *p)
{
  tn_pos a = p[0]->at, b = p[1]->at, c = p[2]->at;
  const tn_pos *lo = &box->lower, *hi = &box->upper;
  return (a.x < lo->x && b.x < lo->x && c.x < lo->x) ||
         (a.x > hi->x && b.x > hi->x && c.x > hi->x) ||
         (a.y < lo->y && b.y < lo->y && c.y < lo->y) ||
         (a.y > hi->y && b.y > hi->y && c.y > hi->y) ||
         (a.z < lo->z && b.z < lo->z && c.z < lo->z) || (a.z > hi->z && b.z > hi->z && c.z > hi->z);
}

// A ball, a capsule or a wire: its surface keeps its distance from a core.
static bool is_round(int kind)
{
  return kind == TN_SHAPE_SPHERE || kind == TN_SHAPE_CAPSULE || kind == TN_SHAPE_WIRE;
}

static soft_contact touch_of(const target *t, tn_pos x, const closest *c)
{
  soft_contact made;
  memset(&made, 0, sizeof made);
  made.soft = t->soft_slot;
  made.other = NO_SLOT;
  made.shape = t->shape_slot;
  made.body = t->shape->body;
  made.round = is_round(t->shape->geometry.kind);
  float skin = made.round ? t->shape->geometry.radius : 0.0f;
  tn_vec3 core = tn_sub(c->point, tn_scale(skin, c->normal));
  tn_pos at = pos_add(t->at.p, dquat_rotate(t->at.q, to_pos(core)));
  made.normal = to_vec3(dquat_rotate(t->at.q, to_pos(c->normal)));
  made.apart = to_vec3(pos_sub(x, at));
  made.core = to_vec3(pos_sub(at, t->body->center));
  made.distance = t->soft->radius + skin;
  made.gap = c->distance - t->soft->radius;
  return made;
}

static bool touch_particle(const target *t, int32_t index, soft_contact *out)
{
  const soft_particle *p = &t->soft->particles[index];
  if (!is_near(&t->widest, p->at, 0.0)) {
    return false;
  }
  float reach = reach_of(t, p);
  if (!is_near(&t->box, p->at, (double)reach)) {
    return false;
  }
  closest c;
  if (!geometry_closest(&t->shape->geometry, to_vec3(into_frame(t->at, p->at)), reach, &c)) {
    return false;
  }
  soft_contact made = touch_of(t, p->at, &c);
  made.type = TOUCH_BODY_1;
  made.particle[0] = index;
  made.particle[1] = made.particle[2] = made.particle[3] = NO_SLOT;
  made.weight[0] = 1.0f;
  *out = made;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Triangles and shapes: a corner or a ball between the particles

void weights_at(tn_vec3 p, const tn_vec3 *x, float *w)
{
  tn_vec3 e = tn_sub(x[1], x[0]), f = tn_sub(x[2], x[0]), d = tn_sub(p, x[0]);
  float ee = tn_dot(e, e), ef = tn_dot(e, f), ff = tn_dot(f, f);
  float de = tn_dot(d, e), df = tn_dot(d, f), determinant = ee * ff - ef * ef;
  float inv = determinant > 0.0f ? 1.0f / determinant : 0.0f;
  w[1] = fminf(fmaxf((ff * de - ef * df) * inv, 0.0f), 1.0f);
  w[2] = fminf(fmaxf((ee * df - ef * de) * inv, 0.0f), 1.0f - w[1]);
  w[0] = 1.0f - w[1] - w[2];
}

// Triangles stay half as far away as particles: those of a smooth skin on a round body are closer
// than their corners, and must not take turns with them.
#define TRIANGLE_SKIN 0.5f

// Closer than its corners are, which touch for themselves.
static bool is_inner(const target *t, const tn_vec3 *x, float distance, float reach)
{
  for (int i = 0; i < 3; ++i) {
    closest c;
    if (geometry_closest(&t->shape->geometry, x[i], reach, &c) &&
        c.distance < distance + 0.1f * t->soft->radius) {
      return false;
    }
  }
  return true;
}

// The line from the shape to a triangle, in the shape's frame.
static bool find_line(const geometry *other, const geometry *triangle, float reach, separation *s)
{
  pose here = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 1.0f}};
  switch (other->kind) {
  case TN_SHAPE_MESH:
    return mesh_nearest(other->mesh, triangle, here, reach, s);
  case TN_SHAPE_HEIGHT_FIELD:
    return height_field_nearest(other->field, triangle, here, reach, s);
  default:
    *s = convex_distance(other, triangle, here);
    return s->distance <= reach;
  }
}

static bool touch_triangle(const target *t, const int32_t *v, soft_contact *out)
{
  const soft_particle *p[3] = {&t->soft->particles[v[0]], &t->soft->particles[v[1]],
                               &t->soft->particles[v[2]]};
  if (is_beyond(&t->widest, p)) {
    return false;
  }
  geometry g = {.kind = GEOMETRY_TRIANGLE};
  tn_vec3 middle = {0.0f, 0.0f, 0.0f};
  float reach = 0.0f, size = 0.0f;
  for (int i = 0; i < 3; ++i) {
    g.corner[i] = to_vec3(into_frame(t->at, p[i]->at));
    middle = tn_add(middle, tn_scale(1.0f / 3.0f, g.corner[i]));
    reach = fmaxf(reach, reach_of(t, p[i]));
  }
  for (int i = 0; i < 3; ++i) {
    size = fmaxf(size, tn_length(tn_sub(g.corner[i], middle)));
  }
  closest near;
  if (!is_near(&t->box, p[0]->at, (double)(2.0f * size + reach)) ||
      !geometry_closest(&t->shape->geometry, middle, size + reach, &near)) {
    return false;
  }
  separation s;
  if (!find_line(&t->shape->geometry, &g, reach, &s) ||
      !is_inner(t, g.corner, s.distance, size + reach)) {
    return false;
  }
  closest c = {s.distance, s.a, s.normal};
  float w[3];
  weights_at(s.b, g.corner, w);
  tn_pos x = p[0]->at;
  x = pos_add(x, to_pos(tn_scale(w[1], tn_between_points(p[0]->at, p[1]->at))));
  x = pos_add(x, to_pos(tn_scale(w[2], tn_between_points(p[0]->at, p[2]->at))));
  soft_contact made = touch_of(t, x, &c);
  made.type = TOUCH_BODY_3;
  made.distance -= (1.0f - TRIANGLE_SKIN) * t->soft->radius;
  made.gap += (1.0f - TRIANGLE_SKIN) * t->soft->radius;
  made.particle[3] = NO_SLOT;
  for (int i = 0; i < 3; ++i) {
    made.particle[i] = v[i];
    made.weight[i] = w[i];
  }
  *out = made;
  return true;
}

static bool may_touch(const soft *s, const shape *other)
{
  return !other->def.sensor && filters_agree(&s->filter, &other->def.filter);
}

static float arm_of(const shape *s)
{
  return s->reach + tn_length(to_vec3(s->at_point));
}

static target target_of(tn_world *world, int32_t soft_slot, int32_t shape_slot, float dt)
{
  const shape *s = &world->shapes[shape_slot];
  const body_state *state = &world->state[s->body];
  float turn = tn_length(vec3_of(state->w));
  target t = {.world = world,
              .soft = &world->softs[soft_slot],
              .soft_slot = soft_slot,
              .shape_slot = shape_slot,
              .shape = s,
              .body = &world->bodies[s->body],
              .at = shape_placed(world, s),
              .v = vec3_of(state->v),
              .spin = turn > 0.0f ? turn * arm_of(s) : 0.0f,
              .dt = dt,
              .box = s->box};
  t.margin = t.soft->radius + 2.0f * dt * dt * tn_length(world->gravity);
  return t;
}

world_box no_box(void)
{
  world_box box = {tn_p3(HUGE_VAL, HUGE_VAL, HUGE_VAL), tn_p3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
  return box;
}

void widen(world_box *box, tn_pos p)
{
  box->lower = tn_p3(fmin(box->lower.x, p.x), fmin(box->lower.y, p.y), fmin(box->lower.z, p.z));
  box->upper = tn_p3(fmax(box->upper.x, p.x), fmax(box->upper.y, p.y), fmax(box->upper.z, p.z));
}

bool bunch(tn_world *world, const soft *s)
{
  int32_t particles = bunches_of(s->particle_count);
  int32_t count = particles + bunches_of(s->triangle_count);
  if (!memory_reserve(world, (void **)&world->bunches, &world->bunch_capacity, count,
                      sizeof(world_box))) {
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    world->bunches[i] = no_box();
  }
  for (int32_t i = 0; i < s->particle_count; ++i) {
    widen(&world->bunches[i / BUNCH], s->particles[i].at);
  }
  for (int32_t i = 0; i < 3 * s->triangle_count; ++i) {
    widen(&world->bunches[particles + i / (3 * BUNCH)], s->particles[s->triangles[i]].at);
  }
  return true;
}

// What the particles or triangles of a bunch touch, each one place at most.
typedef struct bunch_task {
  const target *target;
  int32_t particles;   // bunches of them; triangles follow
  soft_contact *found; // BUNCH places for each bunch
  int32_t *counts;
} bunch_task;

static void touch_bunches(int first, int last, void *context)
{
  const bunch_task *task = context;
  const target *t = task->target;
  for (int32_t i = first; i < last; ++i) {
    bool triangles = i >= task->particles;
    int32_t from = BUNCH * (triangles ? i - task->particles : i);
    int32_t all = triangles ? t->soft->triangle_count : t->soft->particle_count;
    soft_contact *found = task->found + BUNCH * (size_t)i;
    int32_t count = 0;
    if (boxes_overlap(&t->world->bunches[i], &t->widest)) {
      for (int32_t k = from; k < from + BUNCH && k < all; ++k) {
        count += triangles ? touch_triangle(t, t->soft->triangles + 3 * (size_t)k, &found[count])
                           : touch_particle(t, k, &found[count]);
      }
    }
    task->counts[i] = count;
  }
}

static bool reserve_found(tn_world *world, int32_t bunches)
{
  return memory_reserve(world, (void **)&world->met, &world->met_capacity, BUNCH * bunches,
                        sizeof(soft_contact)) &&
         memory_reserve(world, (void **)&world->met_counts, &world->met_count_capacity, bunches,
                        sizeof(int32_t));
}

// Bunches side by side, and their touches in order.
static bool touch_shape(tn_world *world, int32_t soft_slot, int32_t shape_slot, float fastest,
                        float dt)
{
  target t = target_of(world, soft_slot, shape_slot, dt);
  t.widest = grown_box(t.box, (double)reach_at(&t, fastest + tn_length(t.v)));
  int kind = t.shape->geometry.kind;
  bool solid = kind <= TN_SHAPE_HULL || kind == TN_SHAPE_MESH || kind == TN_SHAPE_HEIGHT_FIELD;
  int32_t particles = bunches_of(t.soft->particle_count);
  int32_t count = particles + (solid ? bunches_of(t.soft->triangle_count) : 0);
  if (!reserve_found(world, count)) {
    return false;
  }
  bunch_task task = {&t, particles, world->met, world->met_counts};
  task_run(world->tasks, touch_bunches, count, 4, &task);
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t k = 0; k < world->met_counts[i]; ++k) {
      if (!add_touch(world, &world->met[BUNCH * (size_t)i + (size_t)k])) {
        return false;
      }
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Shapes near a soft body

float fastest_of(const soft *s)
{
  float fastest = 0.0f;
  for (int32_t i = 0; i < s->particle_count; ++i) {
    fastest = fmaxf(fastest, tn_dot(s->particles[i].v, s->particles[i].v));
  }
  return sqrtf(fastest);
}

static world_box swept_box(const tn_world *world, const soft *s, float dt)
{
  float way = 1.5f * dt * fastest_of(s) + 2.0f * dt * dt * tn_length(world->gravity);
  return grown_box(s->box, (double)(s->radius + way));
}

typedef struct shape_search {
  tn_world *world;
  const soft *soft;
  bool ok;
} shape_search;

static bool collect(int32_t item, void *context)
{
  shape_search *s = context;
  tn_world *world = s->world;
  if (may_touch(s->soft, &world->shapes[item])) {
    s->ok = memory_reserve(world, (void **)&world->candidates, &world->candidate_capacity,
                           world->candidate_count + 1, sizeof(int32_t));
    if (s->ok) {
      world->candidates[world->candidate_count++] = item;
    }
  }
  return s->ok;
}

static int by_slot(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static bool find_shapes(tn_world *world, const soft *s, float dt)
{
  shape_search search = {world, s, true};
  world_box box = swept_box(world, s, dt);
  world->candidate_count = 0;
  tree_query(&world->moving_tree, box, collect, &search);
  if (search.ok) {
    tree_query(&world->fixed_tree, box, collect, &search);
  }
  if (world->candidate_count > 1) {
    qsort(world->candidates, (size_t)world->candidate_count, sizeof(int32_t), by_slot);
  }
  return search.ok;
}

static bool touch_shapes(tn_world *world, int32_t slot, float dt)
{
  if (!find_shapes(world, &world->softs[slot], dt) || !bunch(world, &world->softs[slot])) {
    return false;
  }
  float fastest = fastest_of(&world->softs[slot]);
  for (int32_t i = 0; i < world->candidate_count; ++i) {
    if (!touch_shape(world, slot, world->candidates[i], fastest, dt)) {
      return false;
    }
  }
  return true;
}

// Something that moves has come close to a body asleep.
static bool is_disturbed(tn_world *world, int32_t slot)
{
  const soft *s = &world->softs[slot];
  for (int32_t i = 0; i < world->candidate_count; ++i) {
    const body *b = &world->bodies[world->shapes[world->candidates[i]].body];
    if (!moves(b)) {
      continue;
    }
    target t = target_of(world, slot, world->candidates[i], 0.0f);
    float reach = s->radius + NEAR_GAP;
    for (int32_t k = 0; k < s->particle_count; ++k) {
      closest c;
      if (is_near(&t.box, s->particles[k].at, (double)reach) &&
          geometry_closest(&t.shape->geometry, to_vec3(into_frame(t.at, s->particles[k].at)), reach,
                           &c)) {
        return true;
      }
    }
  }
  return false;
}

static bool wake_disturbed(tn_world *world)
{
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    if (world->softs[i].alive && world->softs[i].asleep) {
      if (!find_shapes(world, &world->softs[i], 0.0f)) {
        return false;
      }
      if (is_disturbed(world, i)) {
        soft_wake(world, i);
      }
    }
  }
  return true;
}

// Bodies asleep that something soft comes to touch wake up; others are as good as static.
static void wake_touched(tn_world *world)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->touch_count; ++i) {
    soft_contact *t = &world->touches[i];
    soft *s = &world->softs[t->soft];
    bool near = t->gap < NEAR_GAP;
    s->supported = s->supported || near;
    if (touch_is_mutual(t) && near) {
      world->softs[t->other].supported = true;
    }
    if (t->body != NO_SLOT && near && world->bodies[t->body].asleep) {
      body_wake(world, t->body);
    }
    if (t->body == NO_SLOT || !world->bodies[t->body].asleep) {
      world->touches[count++] = *t;
    }
  }
  world->touch_count = count;
}

bool touches_find(tn_world *world, float dt)
{
  if (world->soft_list.count == 0) {
    return true;
  }
  world->touch_count = 0;
  if (!wake_disturbed(world)) {
    return false;
  }
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    soft *s = &world->softs[i];
    s->supported = s->pin_count > 0 || s->attachment_count > 0;
    if (s->alive && !s->asleep && !touch_shapes(world, i, dt)) {
      return false;
    }
  }
  if (!touch_particles(world, dt) || !touch_facets(world, dt)) {
    return false;
  }
  wake_touched(world);
  return true;
}

// ---------------------------------------------------------------------------------------------
// In and out of the solver

static tn_vec3 surface_velocity(const tn_world *world, const soft_contact *t)
{
  const shape *s = &world->shapes[t->shape];
  tn_vec3 v = s->def.material.surface_velocity;
  return to_vec3(dquat_rotate(shape_placed(world, s).q, to_pos(v)));
}

static V vec(tn_vec3 v)
{
  return v_make(v.x, v.y, v.z);
}

static TouchParams params_of(const tn_world *world, const soft_contact *t)
{
  TouchParams p;
  memset(&p, 0, sizeof p);
  for (int i = 0; i < TOUCH_PARTICLES; ++i) {
    p.weight[i] = t->weight[i];
  }
  const tn_material *a = &world->softs[t->soft].material;
  bool mutual = touch_is_mutual(t);
  const tn_material *b =
      mutual ? &world->softs[t->other].material : &world->shapes[t->shape].def.material;
  materials_mix(a, b, &p.mu_static, &p.mu_dynamic, &p.restitution);
  p.apart = vec(t->apart);
  p.core = vec(t->core);
  p.normal = vec(t->normal);
  p.round = t->round ? 1.0f : 0.0f;
  p.distance = t->distance;
  p.compliance = mutual ? 0.0f : a->compliance + b->compliance;
  p.beta = mutual ? PAIR_BETA : BETA;
  p.fastest = PUSH_OUT;
  if (t->type >= TOUCH_FACET) {
    const soft_particle *q = world->softs[t->other].particles;
    const int32_t *v = t->particle + touch_own(t);
    p.core = vec(tn_between_points(q[v[0]].at, q[v[1]].at));
    p.slide = vec(tn_between_points(q[v[0]].at, q[v[2]].at));
  } else if (!mutual) {
    p.slide = vec(surface_velocity(world, t));
  }
  return p;
}

static int particles_of(const soft_contact *t)
{
  static const int counts[TOUCH_TYPE_COUNT] = {1, 3, 2, 4, 5};
  return counts[t->type];
}

static int32_t place_of(const tn_world *world, const soft_contact *t, int i)
{
  bool second = touch_is_mutual(t) && i >= touch_own(t);
  return world->softs[second ? t->other : t->soft].first + t->particle[i];
}

static bool is_pushed(const tn_world *world, int32_t slot)
{
  return slot != NO_SLOT && world->bodies[slot].type == TN_BODY_DYNAMIC;
}

static void pack(const tn_world *world, const soft_contact *t, touch_block *block, int lane)
{
  for (int i = 0; i < particles_of(t); ++i) {
    block->place[i][lane] = place_of(world, t, i);
  }
  block->body[lane] = t->body == NO_SLOT ? WORLD_SLOT : t->body;
  block->move[lane] = is_pushed(world, t->body);
  block->touch[lane] = (int32_t)(t - world->touches);
  TouchParams params = params_of(world, t);
  TouchState state;
  memset(&state, 0, sizeof state);
  set_lane(block->params, lane, &params, FIELDS(TouchParams));
  set_lane(block->state, lane, &state, FIELDS(TouchState));
}

static soft_link link_of(const tn_world *world, int32_t index)
{
  const soft_contact *t = &world->touches[index];
  soft_link link = {.count = particles_of(t), .type = t->type};
  link.body = is_pushed(world, t->body) ? t->body : NO_SLOT;
  for (int i = 0; i < link.count; ++i) {
    link.place[i] = place_of(world, t, i);
  }
  return link;
}

bool touches_pack(tn_world *world)
{
  soft_links *links = &world->touch_links;
  soft_data *data = &world->soft_graph.data;
  if (!soft_links_make(world, links, world->touch_count, link_of) ||
      !memory_reserve(world, (void **)&data->touches, &links->block_capacity, links->block_count,
                      sizeof(touch_block))) {
    return false;
  }
  if (links->block_count > 0) {
    memset(data->touches, 0, (size_t)links->block_count * sizeof(touch_block));
  }
  for (int32_t i = 0; i < links->block_count * BLOCK_WIDTH; ++i) {
    data->touches[i / BLOCK_WIDTH].touch[i % BLOCK_WIDTH] = NO_SLOT;
  }
  for (int32_t i = 0; i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    touch_block *block = &data->touches[links->at[i] / BLOCK_WIDTH];
    block->type = t->type;
    pack(world, t, block, links->at[i] % BLOCK_WIDTH);
  }
  return true;
}

void touches_unpack(tn_world *world, float dt)
{
  soft_data *data = &world->soft_graph.data;
  for (int32_t i = 0; i < world->touch_links.block_count * BLOCK_WIDTH; ++i) {
    touch_block *block = &data->touches[i / BLOCK_WIDTH];
    int lane = i % BLOCK_WIDTH;
    if (block->touch[lane] == NO_SLOT) {
      continue;
    }
    TouchState state;
    get_lane(block->state, lane, &state, FIELDS(TouchState));
    soft_contact *t = &world->touches[block->touch[lane]];
    t->force = tn_scale(1.0f / dt, tn_v3(state.sum.x, state.sum.y, state.sum.z));
  }
}

void touches_release(tn_world *world)
{
  soft_links *links = &world->touch_links;
  memory_give(world, world->bunches, (size_t)world->bunch_capacity * sizeof(world_box));
  memory_give(world, world->met, (size_t)world->met_capacity * sizeof(soft_contact));
  memory_give(world, world->met_counts, (size_t)world->met_count_capacity * sizeof(int32_t));
  memory_give(world, world->touches, (size_t)world->touch_capacity * sizeof(soft_contact));
  soft_links_release(world, links);
  memory_give(world, world->soft_graph.data.touches,
              (size_t)links->block_capacity * sizeof(touch_block));
}

// ---------------------------------------------------------------------------------------------

int tn_soft_contacts(const tn_world *world, tn_soft_id id, tn_soft_contact *contacts, int capacity)
{
  const soft *s = soft_find(world, id, "tn_soft_contacts");
  int32_t slot = s ? (int32_t)(s - world->softs) : NO_SLOT;
  int count = 0;
  for (int32_t i = 0; s && i < world->touch_count; ++i) {
    const soft_contact *t = &world->touches[i];
    if (!is_of_soft(t, slot)) {
      continue;
    }
    if (contacts && count < capacity) {
      tn_soft_contact c = {{-1, -1, -1}, {0}, {0}, {0}, -1, t->normal, t->gap, t->force};
      bool mutual = touch_is_mutual(t), second = mutual && t->soft != slot;
      int own = touch_own(t), first = second ? own : 0;
      int last = mutual && !second ? own : particles_of(t);
      for (int k = first; k < last; ++k) {
        c.particles[k - first] = t->particle[k];
      }
      if (mutual) {
        c.other_soft = soft_id_at(world, second ? t->soft : t->other);
        c.other_particle = t->particle[second ? 0 : own];
        c.force = second ? tn_scale(-1.0f, t->force) : t->force;
        c.normal = second ? tn_scale(-1.0f, t->normal) : t->normal;
      } else {
        c.shape = shape_id_at(world, t->shape);
        c.body = body_id_at(world, t->body);
      }
      contacts[count] = c;
    }
    count += 1;
  }
  return count;
}
