// Contacts between records and blocks. Before the substeps: mixes their materials and packs the
// blocks that contact_coloring.c has laid out. After the substeps: unpacks them and raises touch
// events.
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

#define PACK_GRAIN 4          // blocks
#define UNPACK_GRAIN 8        // blocks
#define PAIR_SUMMARY_GRAIN 64 // pairs

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

void contact_flags_begin_body(tn_world *world, int32_t slot, float dt)
{
  body_contact_flags *flags = &world->solver->contact_flags[slot];
  flags->jointed = has_joints(&world->bodies[slot]);
  flags->turns_fast = turns_fast(world, slot, dt);
}

// Whether lever arms follow the bodies. Impacts with restitution have their own poses, and the
// limbs of mechanisms are held by joints.
static bool has_turning_arms(const body_contact_flags *a, const body_contact_flags *b,
                             const contact *c)
{
  return RULE(turning_arms) && (a->turns_fast || b->turns_fast) && !a->jointed && !b->jointed &&
         !(c->features & CONTACT_RESTITUTION);
}

// Geometry at the start of the step. Rims and wires are complete; of round contacts only the offset
// of the centres of mass, which is a difference of doubles. contact_lanes.c adds the segments of
// round contacts and the gaps of flat ones.
static void pack_start(const tn_world *world, const contact *c, contact_block *cb, int lane,
                       bool turning)
{
  const manifold *m = &c->manifold;
  contact_start start;
  if (cb->type <= CONTACT_FLAT_4) {
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

static void pack(tn_world *world, contact_block *cb, int lane, bool in_group)
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
  pack_start(world, c, cb, lane, has_turning_arms(a, b, c));
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
      pack(t->world, cb, lane, t->in_group);
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

static int32_t first_block(const coloring *c)
{
  return c->color[0].first;
}

static int32_t last_block(const coloring *c)
{
  return c->overflow.last;
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
  pack_task task = make_group_pack_task(world, group, data, dt, scale);
  contact_layout_fill_group(world, group);
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

KERNEL void prefetch_contact(const tn_world *world, int32_t slot)
{
  if (slot != NO_SLOT) {
    PREFETCH(&world->contacts[slot].manifold);
  }
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
  contact_coloring_release(world);
}
