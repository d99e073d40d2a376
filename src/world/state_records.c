// The records of a saved state. What follows from other records is not written, or is their guess:
// the pose of a shape from that of its body, points of a contact on A from those on B, mean forces
// from impulses.
#include "collide/distance.h"
#include "data/soft_elements.h"
#include "detect/broad_phase.h"
#include "kernel/ranges.h"
#include "solver/joint/joint_layout.h"
#include "world/state.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Fields

#define FLAG(type, member) STATE_FIELD(type, member, uint8_t)
#define WORDS(type, member) STATE_FIELD(type, member, int32_t)
#define DOUBLES(type, member) STATE_FIELD(type, member, double)

static const state_field body_fields[] = {
    DOUBLES(body, center),        DOUBLES(body, rotation.x), DOUBLES(body, rotation.y),
    DOUBLES(body, rotation.z),    FLAG(body, has_target),    FLAG(body, lost),
    FLAG(body, supported),        FLAG(body, asleep),        WORDS(body, sleep_time),
    WORDS(body, sleep_ring_next), WORDS(body, force),        WORDS(body, torque),
    DOUBLES(body, target.p),      WORDS(body, target.q),
};

static const state_field body_unit_fields[] = {DOUBLES(body, rotation.w)};

typedef struct motion {
  float v[3], w[3];
  float momentum[3], last[3]; // as AngularState
} motion;

static const state_field velocity_fields[] = {WORDS(motion, v), WORDS(motion, w)};
static const state_field momentum_fields[] = {WORDS(motion, momentum), WORDS(motion, last)};

#define DRIVE(type, member)                                                                        \
  WORDS(type, member.target), WORDS(type, member.velocity), WORDS(type, member.force)
#define AXIS(i) DRIVE(joint, def.axis[i].drive)

static const state_field joint_fields[] = {
    FLAG(joint, broken),
    FLAG(joint, def.enabled),
    FLAG(joint, rates_stale),
    WORDS(joint, axis_features),
    WORDS(joint, force),
    WORDS(joint, torque),
    WORDS(joint, state),
    WORDS(joint, half_kick_impulse),
    WORDS(joint, half_kick_done),
    DOUBLES(joint, angle),
    WORDS(joint, axis_state),
    WORDS(joint, target),
    WORDS(joint, drive_force),
    AXIS(0),
    AXIS(1),
    AXIS(2),
    AXIS(3),
    AXIS(4),
    AXIS(5),
};

static const state_field coupling_fields[] = {
    FLAG(coupling, half_kick_done),
    FLAG(coupling, def.enabled),
    DOUBLES(coupling, coordinate),
    WORDS(coupling, target),
    WORDS(coupling, impulse),
    WORDS(coupling, impulse_ahead),
    DOUBLES(coupling, rate_before_half_kick),
    WORDS(coupling, force),
    WORDS(coupling, drive_force),
    DRIVE(coupling, def.drive),
};

static const state_field shape_fields[] = {
    DOUBLES(shape, box),      WORDS(shape, box_slack),    WORDS(shape, box_sweep),
    WORDS(shape, first_pair), FLAG(shape, pairs_pending), FLAG(shape, waits),
};

static const state_field double_field[] = {{0, 1, sizeof(double)}};

// Needed for the guess of the rest.
static const state_field pair_shape_fields[] = {WORDS(pair, shape)};

static const state_field pair_fields[] = {
    FLAG(pair, sensor),
    FLAG(pair, touching),
    FLAG(pair, is_new),
    FLAG(pair, round),
    FLAG(pair, multi_manifold),
    FLAG(pair, stale_pose),
    FLAG(pair, initial_overlap),
    FLAG(pair, deep),
    WORDS(pair, sort_body),
    WORDS(pair, first_contact),
    WORDS(pair, min_gap),
    WORDS(pair, next),
    DOUBLES(pair, travel_limit),
    WORDS(pair, manifold_pose),
    {offsetof(pair, start), sizeof(core_start), 1},
};

// The bits after `alive`, and `features`.
#define FEATURE_BYTES (offsetof(contact, features) - offsetof(contact, alive))
#define POINT(i) WORDS(contact, manifold.points[i].b), WORDS(contact, manifold.points[i].feature)
#define POINT_OF_RIM(i)                                                                            \
  WORDS(contact, manifold.points[i].rim_center), WORDS(contact, manifold.points[i].turn)

static const state_field contact_fields[] = {
    {offsetof(contact, alive) + 1, FEATURE_BYTES, 1},
    WORDS(contact, next),
    WORDS(contact, hit_speed),
    WORDS(contact, manifold.form),
    WORDS(contact, manifold.count),
    WORDS(contact, manifold.normal),
    WORDS(contact, manifold.radius_a),
    WORDS(contact, manifold.radius_b),
    WORDS(contact, manifold.child),
    POINT(0),
    POINT(1),
    POINT(2),
    POINT(3),
    WORDS(contact, manifold.points[0].gap),
    WORDS(contact, state.lambda[0]),
    WORDS(contact, state.preload),
    WORDS(contact, state.preload_age),
    WORDS(contact, state.friction),
    WORDS(contact, state.twist),
    WORDS(contact, state.sliding),
    WORDS(contact, state.turning),
    WORDS(contact, state.roll),
    WORDS(contact, state.offset),
    WORDS(contact, state.angle),
    {offsetof(contact, params), offsetof(contact_params, material_version) / sizeof(float), 4},
    WORDS(contact, manifold.round_side),
    POINT_OF_RIM(0),
    POINT_OF_RIM(1),
    POINT_OF_RIM(2),
    POINT_OF_RIM(3),
    WORDS(contact, manifold.segment),
    WORDS(contact, manifold.curve),
    WORDS(contact, manifold.parameter),
};

// What is guessed from those.
static const state_field contact_point_fields[] = {
    WORDS(contact, manifold.points[0].a),   WORDS(contact, manifold.points[1].gap),
    WORDS(contact, manifold.points[2].gap), WORDS(contact, manifold.points[3].gap),
    WORDS(contact, state.lambda[1]),        WORDS(contact, state.lambda[2]),
    WORDS(contact, state.lambda[3]),        WORDS(contact, forces.force[0]),
};

// And from those.
static const state_field contact_rest_fields[] = {
    WORDS(contact, manifold.points[1].a),
    WORDS(contact, manifold.points[2].a),
    WORDS(contact, manifold.points[3].a),
    WORDS(contact, forces),
};

static const state_field soft_fields[] = {
    FLAG(soft, asleep),
    FLAG(soft, supported),
    FLAG(soft, lost),
    FLAG(soft, box_grown),
    FLAG(soft, stiffness_limited),
    FLAG(soft, unfold.found),
    FLAG(soft, unfold.active),
    WORDS(soft, sleep_time),
    WORDS(soft, sleep_ring_next),
    WORDS(soft, max_frequency_squared),
    DOUBLES(soft, box),
    WORDS(soft, unfold.element),
    WORDS(soft, unfold.time),
    DOUBLES(soft, unfold.off),
    WORDS(soft, unfold.cluster),
};

static const state_field particle_fields[] = {
    DOUBLES(soft_particle, at),
    WORDS(soft_particle, v),
    WORDS(soft_particle, force),
};

static const state_field cluster_fields[] = {WORDS(soft_cluster, q)};
static const state_field part_fields[] = {WORDS(cluster_part, total_dv)};

static const state_field attachment_fields[] = {
    FLAG(attachment, broken),
    WORDS(attachment, lambda),
    WORDS(attachment, force),
    WORDS(attachment, rope_impulse),
};

static const state_field touch_pair_fields[] = {
    {0, sizeof(soft_touch_pair) / sizeof(int32_t), sizeof(int32_t)},
};

static const state_field soft_contact_fields[] = {
    WORDS(soft_contact, type),     WORDS(soft_contact, soft),     WORDS(soft_contact, other),
    WORDS(soft_contact, particle), WORDS(soft_contact, weight),   WORDS(soft_contact, shape),
    WORDS(soft_contact, body),     WORDS(soft_contact, delta),    WORDS(soft_contact, anchor),
    WORDS(soft_contact, normal),   WORDS(soft_contact, distance), WORDS(soft_contact, gap),
    FLAG(soft_contact, round),     WORDS(soft_contact, force),
};

// ---------------------------------------------------------------------------------------------
// Bodies and joints

static AngularState angular_of(const snapshot *s, int32_t slot)
{
  AngularState angular;
  get_lane(s->blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, &angular, FIELDS(AngularState));
  return angular;
}

static motion motion_of(const snapshot *s, int32_t slot)
{
  const body_state *state = &s->states[slot];
  AngularState angular = angular_of(s, slot);
  motion m = {.v = {state->v[0], state->v[1], state->v[2]},
              .w = {state->w[0], state->w[1], state->w[2]},
              .momentum = {angular.momentum.x, angular.momentum.y, angular.momentum.z},
              .last = {angular.last.x, angular.last.y, angular.last.z}};
  return m;
}

// The principal axes at the start of the step are only used by the step, which writes them first.
static void set_motion(snapshot *s, int32_t slot, const motion *m)
{
  body_state *state = &s->states[slot];
  AngularState angular = angular_of(s, slot);
  memcpy(state->v, m->v, sizeof m->v);
  memcpy(state->w, m->w, sizeof m->w);
  tn_quat q = dquat_round(s->bodies[slot].rotation);
  angular.momentum = v_make(m->momentum[0], m->momentum[1], m->momentum[2]);
  angular.last = v_make(m->last[0], m->last[1], m->last[2]);
  angular.start = (Q){q.x, q.y, q.z, q.w};
  set_lane(s->blocks[slot / BLOCK_WIDTH].spin, slot % BLOCK_WIDTH, &angular, FIELDS(AngularState));
}

// Momentum of the velocity w.
static motion guess_momentum(const snapshot *s, int32_t slot, const motion *m)
{
  body_state state = {.w = {m->w[0], m->w[1], m->w[2]}};
  AngularState angular = angular_of(s, slot);
  tn_quat q = dquat_round(s->bodies[slot].rotation);
  angular.start = (Q){q.x, q.y, q.z, q.w};
  body_update_momentum(&state, &angular);
  motion guess = *m;
  memcpy(guess.momentum, &angular.momentum, sizeof guess.momentum);
  memcpy(guess.last, m->w, sizeof guess.last);
  return guess;
}

static void code_rotation(state_coder *c, body *b)
{
  dquat q = b->rotation;
  double square = 1.0 - (q.x * q.x + q.y * q.y + q.z * q.z);
  body guess = {.rotation = {.w = square > 0.0 ? sqrt(square) : 0.0}};
  STATE_CODE(c, body_unit_fields, b, &guess);
}

static void code_bodies(state_coder *c, snapshot *s)
{
  const body *last = &(const body){0};
  motion before = {.v = {0.0f}};
  for (int32_t i = 0; i < s->header.body_pool.used && !c->failed; ++i) {
    body *b = &s->bodies[i];
    if (!b->alive) {
      continue;
    }
    STATE_CODE(c, body_fields, b, last);
    code_rotation(c, b);
    motion m = motion_of(s, i);
    STATE_CODE(c, velocity_fields, &m, &before);
    motion guess = guess_momentum(s, i, &m);
    STATE_CODE(c, momentum_fields, &m, &guess);
    if (!c->saving) {
      set_motion(s, i, &m);
    }
    before = m;
    last = b;
  }
}

static void code_joints(state_coder *c, snapshot *s, const tn_world *world)
{
  joint last = {0};
  for (int32_t i = 0; i < s->header.joint_pool.used && !c->failed; ++i) {
    joint *j = &s->joints[i], unpacked;
    if (!j->alive) {
      continue;
    }
    if (c->saving && j->block != NO_SLOT) {
      unpacked = *j;
      joint_unpack(world, &unpacked);
      j = &unpacked;
    }
    STATE_CODE(c, joint_fields, j, &last);
    last = *j;
  }
}

static void code_couplings(state_coder *c, snapshot *s)
{
  const coupling *last = &(const coupling){0};
  for (int32_t i = 0; i < s->header.coupling_pool.used && !c->failed; ++i) {
    if (s->couplings[i].alive) {
      STATE_CODE(c, coupling_fields, &s->couplings[i], last);
      last = &s->couplings[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Shapes, pairs and contacts

static world_pose pose_of_shape(const snapshot *s, const shape *k)
{
  const body *b = &s->bodies[k->body];
  world_pose at = {pos_add(b->center, dquat_rotate(b->rotation, k->local_position)),
                   dquat_mul(b->rotation, k->local_rotation)};
  return at;
}

// How far the fat box of a shape stands out from the tight one, m.
typedef struct box_room {
  tn_pos lower, upper;
} box_room;

static world_aabb tight_box(const snapshot *s, const shape *k)
{
  world_pose at = pose_of_shape(s, k);
  pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(at.q)};
  aabb b = geometry_aabb(&k->geometry, turned);
  return (world_aabb){tn_offset(at.p, b.lower), tn_offset(at.p, b.upper)};
}

static double to_grid(double x, double grid)
{
  return grid > 0.0 ? floor(x / grid + 0.5) * grid : x;
}

static tn_pos pos_to_grid(tn_pos p, double grid)
{
  return tn_p3(to_grid(p.x, grid), to_grid(p.y, grid), to_grid(p.z, grid));
}

// A box stands out from its shape as that of the shape before; its sides are multiples of a power
// of two.
static void guess_box(const shape *k, const world_aabb *tight, const box_room *room, shape *guess)
{
  double grid = shape_box_grid(k);
  guess->box.lower = pos_to_grid(pos_sub(tight->lower, room->lower), grid);
  guess->box.upper = pos_to_grid(pos_add(tight->upper, room->upper), grid);
}

// Of boxes without an end nothing is learnt: what is left of two infinities has other bits on other
// machines.
static void learn_room(const world_aabb *box, const world_aabb *tight, box_room *room)
{
  box_room now = {pos_sub(tight->lower, box->lower), pos_sub(box->upper, tight->upper)};
  if (is_finite_pos(now.lower) && is_finite_pos(now.upper)) {
    *room = now;
  }
}

// Bounds of the path of points, m: `travel` holds up to the present pose, from which a restored
// shape goes on.
static void code_travel(state_coder *c, snapshot *s, int32_t slot, double *guess)
{
  double *bound = &s->shape_motions[slot], *travel = bound + s->header.shape_pool.used;
  STATE_CODE(c, double_field, travel, guess);
  STATE_CODE(c, double_field, bound, travel);
  *guess = *travel;
  if (!c->saving) {
    s->shapes[slot].shape_cache.travel = *travel;
    s->shapes[slot].shape_cache.pose = pose_of_shape(s, &s->shapes[slot]);
  }
}

static void code_shapes(state_coder *c, snapshot *s)
{
  shape guess = {.first_pair = NO_SLOT};
  double travel = 0.0;
  box_room room = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t i = 0; i < s->header.shape_pool.used && !c->failed; ++i) {
    shape *k = &s->shapes[i];
    if (!k->alive) {
      continue;
    }
    world_aabb tight = tight_box(s, k);
    guess_box(k, &tight, &room, &guess);
    STATE_CODE(c, shape_fields, k, &guess);
    code_travel(c, s, i, &travel);
    learn_room(&k->box, &tight, &room);
    guess.box_slack = k->box_slack;
    guess.box_sweep = k->box_sweep;
    guess.first_pair = k->first_pair;
  }
}

// The list of free slots; while restoring, all others become alive.
static void code_free_slots(state_coder *c, const pool *list, void *slots, size_t size,
                            size_t alive, size_t next_free)
{
  char *at = slots;
  for (int32_t i = 0; i < list->used && !c->saving; ++i) {
    at[(size_t)i * size + alive] = true;
  }
  int32_t slot = list->first_free;
  for (int32_t left = list->used - list->count; left > 0; --left) {
    if (slot < 0 || slot >= list->used || (!c->saving && !at[(size_t)slot * size + alive])) {
      c->failed = true;
      return;
    }
    char *element = at + (size_t)slot * size;
    int32_t next = NO_SLOT;
    if (c->saving) {
      memcpy(&next, element + next_free, sizeof next);
    }
    state_code_number(c, &next, slot - 1);
    if (!c->saving) {
      element[alive] = false;
      memcpy(element + next_free, &next, sizeof next);
    }
    slot = next;
  }
  c->failed = c->failed || slot != NO_SLOT;
}

// As pair_remove() leaves a pair.
static void clear_free_pair(pair *p)
{
  p->travel_limit = (double)INFINITY;
  p->sort_body = INT32_MAX;
  p->first_contact = NO_SLOT;
}

static bool are_shapes(const snapshot *s, const int32_t *slots)
{
  for (int side = 0; side < 2; ++side) {
    if (slots[side] < 0 || slots[side] >= s->header.shape_pool.used ||
        !s->shapes[slots[side]].alive) {
      return false;
    }
  }
  return true;
}

// False if the shapes are none.
static bool guess_pair(const snapshot *s, const pair *p, pair *guess)
{
  if (!are_shapes(s, p->shape)) {
    return false;
  }
  const shape *a = &s->shapes[p->shape[0]], *b = &s->shapes[p->shape[1]];
  guess->sort_body = a->is_static ? b->body : a->body;
  guess->manifold_pose = world_pose_relative(pose_of_shape(s, a), pose_of_shape(s, b));
  guess->first_contact += guess->first_contact != NO_SLOT;
  return true;
}

static void code_pairs(state_coder *c, snapshot *s)
{
  pair guess = {.first_contact = NO_SLOT};
  code_free_slots(c, &s->header.pair_pool, s->pairs, sizeof(pair), offsetof(pair, alive),
                  offsetof(pair, next_free));
  for (int32_t i = 0; i < s->header.pair_pool.used && !c->failed; ++i) {
    pair *p = &s->pairs[i];
    if (!p->alive) {
      if (!c->saving) {
        clear_free_pair(p);
      }
      continue;
    }
    STATE_CODE(c, pair_shape_fields, p, &guess);
    if (!guess_pair(s, p, &guess)) {
      c->failed = true;
      return;
    }
    STATE_CODE(c, pair_fields, p, &guess);
    for (int side = 0; side < 2 && !c->saving; ++side) {
      p->body[side] = s->shapes[p->shape[side]].body;
    }
    guess = *p;
  }
}

// Lists of pairs and contacts: what the links forwards leave open. Wrong links are found by
// snapshot_check(); here they only must not lead astray.
static void link_pairs(snapshot *s)
{
  int64_t left = 2 * (int64_t)s->header.pair_pool.count;
  for (int32_t i = 0; i < s->header.shape_pool.used; ++i) {
    shape *k = &s->shapes[i];
    int32_t from = NO_SLOT;
    k->pair_count = k->crowd = 0;
    for (int32_t at = k->alive ? k->first_pair : NO_SLOT;
         at >= 0 && at / 2 < s->header.pair_pool.used && left > 0; --left) {
      pair *p = &s->pairs[at / 2];
      p->previous[at % 2] = from;
      k->pair_count += 1;
      k->crowd += *(const unsigned char *)&p->deep == 1;
      from = at;
      at = p->next[at % 2];
    }
  }
}

static void link_contacts(snapshot *s)
{
  int64_t left = s->header.contact_pool.count;
  for (int32_t i = 0; i < s->header.pair_pool.used; ++i) {
    const pair *p = &s->pairs[i];
    for (int32_t at = p->alive ? p->first_contact : NO_SLOT;
         at >= 0 && at < s->header.contact_pool.used && left > 0; --left) {
      contact *k = &s->contacts[at];
      if (!k->alive) {
        break;
      }
      k->pair = i;
      memcpy(k->body, p->body, sizeof k->body);
      memcpy(k->shape, p->shape, sizeof k->shape);
      at = k->next;
    }
  }
}

static tn_vec3 point_on_b(const contact *k, const pair *p, int i)
{
  return tn_add(tn_rotate(p->manifold_pose.q, k->manifold.points[i].b), p->manifold_pose.p);
}

static float force_rate(float last_h)
{
  return last_h > 0.0f ? 1.0f / last_h : 0.0f;
}

// The first point on A lies across the gap from that on B, or in the plane in which the contact
// before has its own: neighbours often stand on the same ground. All points carry about the same.
static void guess_contact_points(const contact *k, const pair *p, float last_h, bool same_ground,
                                 contact *guess)
{
  const manifold *m = &k->manifold;
  tn_vec3 b = point_on_b(k, p, 0);
  float apart = m->points[0].gap + m->radius_a + m->radius_b;
  if (same_ground) {
    apart = tn_dot(m->normal, tn_sub(b, guess->manifold.points[0].a));
  }
  guess->manifold.points[0].a = tn_sub(b, tn_scale(apart, m->normal));
  for (int i = 1; i < MAX_MANIFOLD_POINTS; ++i) {
    guess->manifold.points[i].gap = m->points[0].gap;
    guess->state.lambda[i] = k->state.lambda[0];
  }
  guess->forces.force[0] = force_rate(last_h) * k->state.lambda[0];
}

// The other points lie in the plane of the first one; mean forces are those of the last impulses,
// in the ratio of the first point.
static void guess_contact_rest(const contact *k, const pair *p, float last_h, contact *guess)
{
  const manifold *m = &k->manifold;
  float rate = force_rate(last_h);
  float ratio = k->state.lambda[0] > 0.0f ? k->forces.force[0] / k->state.lambda[0] : rate;
  ratio = ratio <= 2.0f * rate && ratio >= 0.5f * rate ? ratio : rate;
  for (int i = 1; i < MAX_MANIFOLD_POINTS; ++i) {
    tn_vec3 b = point_on_b(k, p, i);
    float apart = tn_dot(m->normal, tn_sub(b, m->points[0].a));
    guess->manifold.points[i].a = tn_sub(b, tn_scale(apart, m->normal));
    guess->forces.force[i] = ratio * k->state.lambda[i];
  }
  guess->forces.force[0] = k->forces.force[0];
  guess->forces.friction_force = tn_scale(rate, k->state.friction);
  guess->forces.friction_torque = rate * k->state.twist;
}

static void code_contacts(state_coder *c, snapshot *s)
{
  contact guess = {.next = NO_SLOT};
  code_free_slots(c, &s->header.contact_pool, s->contacts, sizeof(contact),
                  offsetof(contact, alive), offsetof(contact, next_free));
  // In the order of pairs: neighbours are alike, and a contact's pair is known.
  int64_t left = s->header.contact_pool.count;
  int32_t ground = NO_SLOT; // shape A of the contact before
  for (int32_t i = 0; i < s->header.pair_pool.used; ++i) {
    const pair *p = &s->pairs[i];
    for (int32_t at = p->alive ? p->first_contact : NO_SLOT; at != NO_SLOT; --left) {
      c->failed = c->failed || at < 0 || at >= s->header.contact_pool.used || left == 0 ||
                  !s->contacts[at].alive;
      if (c->failed) {
        return;
      }
      contact *k = &s->contacts[at];
      STATE_CODE(c, contact_fields, k, &guess);
      guess_contact_points(k, p, s->header.last_h, p->shape[0] == ground, &guess);
      STATE_CODE(c, contact_point_fields, k, &guess);
      guess_contact_rest(k, p, s->header.last_h, &guess);
      STATE_CODE(c, contact_rest_fields, k, &guess);
      guess = *k;
      ground = p->shape[0];
      at = k->next;
    }
  }
  c->failed = c->failed || left != 0;
}

// ---------------------------------------------------------------------------------------------
// Soft bodies

// Plastic flow changes the parameters of rows as well.
static void code_rows(state_coder *c, const soft *s)
{
  bool plastic = s->plastic || isfinite(s->yield_strain);
  for (int type = 0; type < SOFT_TYPE_COUNT && !c->failed; ++type) {
    soft_layout l = soft_layout_of((soft_type)type);
    int skipped = plastic ? 0 : l.params;
    state_field fields[] = {{0, (uint16_t)(l.params + l.state - skipped), sizeof(float)}};
    const float none[STATE_MOST_VALUES] = {0.0f}, *last = none;
    for (int32_t i = 0; i < s->list[type].count && !c->failed; ++i) {
      float *row = s->list[type].fields + (size_t)i * (size_t)(l.params + l.state) + skipped;
      STATE_CODE(c, fields, row, last);
      last = row;
    }
  }
  const state_field number[] = {{0, 1, sizeof(float)}};
  int32_t count = s->plastic ? 9 * s->list[SOFT_SHAPE_MATCH].count : 0;
  for (int32_t i = 0; i < count && !c->failed; ++i) {
    STATE_CODE(c, number, &s->plastic[i], &(const float){0.0f});
  }
}

static void code_clusters(state_coder *c, const soft *s)
{
  const soft_cluster *last = &(const soft_cluster){0};
  for (int32_t i = 0; i < s->cluster_count && !c->failed; ++i) {
    STATE_CODE(c, cluster_fields, &s->clusters[i], last);
    last = &s->clusters[i];
  }
  const cluster_part *part = &(const cluster_part){0};
  for (int32_t i = 0; i < s->part_count && !c->failed; ++i) {
    STATE_CODE(c, part_fields, &s->cluster_parts[i], part);
    part = &s->cluster_parts[i];
  }
}

static void code_softs(state_coder *c, snapshot *s)
{
  const soft *last = &(const soft){0};
  for (int32_t i = 0; i < s->header.soft_pool.used && !c->failed; ++i) {
    soft *k = &s->softs[i];
    if (!k->alive) {
      continue;
    }
    STATE_CODE(c, soft_fields, k, last);
    const soft_particle *before = &(const soft_particle){0};
    for (int32_t n = 0; n < k->particle_count && !c->failed; ++n) {
      STATE_CODE(c, particle_fields, &k->particles[n], before);
      before = &k->particles[n];
    }
    code_rows(c, k);
    code_clusters(c, k);
    last = k;
  }
}

static void code_attachments(state_coder *c, snapshot *s)
{
  const attachment *last = &(const attachment){0};
  for (int32_t i = 0; i < s->header.attachment_pool.used && !c->failed; ++i) {
    if (s->attachments[i].alive) {
      STATE_CODE(c, attachment_fields, &s->attachments[i], last);
      last = &s->attachments[i];
    }
  }
}

static void count_attachments(snapshot *s)
{
  for (int32_t i = 0; i < s->header.soft_pool.used; ++i) {
    s->softs[i].attachment_count = 0;
  }
  for (int32_t i = 0; i < s->header.attachment_pool.used; ++i) {
    const attachment *a = &s->attachments[i];
    s->softs[a->soft].attachment_count += a->alive && *(const unsigned char *)&a->broken == 0;
  }
}

static void code_soft_contacts(state_coder *c, snapshot *s)
{
  const soft_touch_pair *last = &(const soft_touch_pair){0};
  for (uint64_t i = 0; i < s->header.count.soft_touch_pairs && !c->failed; ++i) {
    STATE_CODE(c, touch_pair_fields, &s->soft_touch_pairs[i], last);
    last = &s->soft_touch_pairs[i];
  }
  const soft_contact *before = &(const soft_contact){0};
  for (uint64_t i = 0; i < s->header.count.soft_contacts && !c->failed; ++i) {
    STATE_CODE(c, soft_contact_fields, &s->soft_contacts[i], before);
    before = &s->soft_contacts[i];
  }
}

void state_code_records(state_coder *c, snapshot *s, const tn_world *world)
{
  code_bodies(c, s);
  code_joints(c, s, world);
  code_couplings(c, s);
  code_shapes(c, s);
  code_pairs(c, s);
  code_contacts(c, s);
  code_softs(c, s);
  code_attachments(c, s);
  code_soft_contacts(c, s);
  if (!c->saving && !c->failed) {
    link_pairs(s);
    link_contacts(s);
    count_attachments(s);
  }
}
