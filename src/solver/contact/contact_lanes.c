// Transposes contact records into the lanes of blocks when a step begins, and back when it ends.
// Compiled once for each lane width.
//
// A record consists of parts of eight floats, so that a part of TN_LANES contacts becomes eight
// fields of a block by one transposition. Points and normals go from shape to world axes in lanes.
#include "solver/contact/contact_block.h"
#include "solver/gather.h"

#include <stddef.h>

#define CONTACT_PACK PASTE(contact_pack_, TN_LANES)
#define CONTACT_UNPACK PASTE(contact_unpack_, TN_LANES)

_Static_assert(FIELDS(ContactState) == 19 && FIELDS(ContactParams) == 14, "in a record's order");
_Static_assert(offsetof(manifold, normal) == 8 && offsetof(manifold, radius_b) == 24,
               "a part holds normal and radii");
_Static_assert(offsetof(manifold, points) == 32 && sizeof(manifold_point) % 16 == 0 &&
                   offsetof(manifold_point, b) == 12 && offsetof(manifold_point, gap) == 24,
               "a part holds a point's cores and gap");
_Static_assert(offsetof(manifold, segment) % 16 == 0, "parts begin at 16 bytes");
_Static_assert(sizeof(contact_state) == 96 && sizeof(contact_params) == 64 &&
                   sizeof(contact_forces) == 32,
               "whole parts");

// Source of padded lanes: no points, a unit normal.
static const contact EMPTY_CONTACT = {.manifold = {.normal = {0.0f, 0.0f, 1.0f}}};
static const float IDENTITY_POSE[8] = {0.0f, 0.0f, 0.0f, 1.0f};

// One part of TN_LANES records, `offset` bytes from their start.
KERNEL void load_record8(const contact *const *from, size_t offset, R r[8])
{
  const float *part[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    part[i] = (const float *)(const void *)((const char *)from[i] + offset);
  }
  load8(part, r);
}

KERNEL void store_record8(contact *const *to, size_t offset, R r[8])
{
  float *part[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    part[i] = (float *)(void *)((char *)to[i] + offset);
  }
  store8(part, r);
}

// Pose of a shape in world axes, about its body's centre of mass.
typedef struct ShapePose {
  Q turned;
  V at;
} ShapePose;

KERNEL ShapePose load_shape_pose(const contact_pack_view *view, const contact *const *from,
                                 int side)
{
  const float *part[TN_LANES];
  R r[8];
  for (int i = 0; i < TN_LANES; ++i) {
    size_t shape = (size_t)from[i]->shape[side];
    part[i] = from[i] == &EMPTY_CONTACT ? IDENTITY_POSE
                                        : view->shape_poses + view->shape_pose_stride * shape;
  }
  load8(part, r);
  ShapePose p = {{r[0], r[1], r[2], r[3]}, v_make(r[4], r[5], r[6])};
  return p;
}

// Lever arm of a point given in the shape's frame.
KERNEL V lever(const ShapePose *p, V point)
{
  return v_add(p->at, q_rotate(p->turned, point));
}

// Stored impulses are scaled by the ratio of the substep lengths.
KERNEL void pack_state(contact_block *cb, int lane, int points, const contact *const *from, R scale)
{
  R r[24];
  for (int i = 0; i < 3; ++i) {
    load_record8(from, offsetof(contact, state) + 32 * (size_t)i, r + 8 * i);
  }
  ContactState *s = (ContactState *)(void *)r;
  for (int i = 0; i < CONTACT_POINTS; ++i) {
    s->lambda[i] = scale * s->lambda[i];
  }
  s->preload = scale * s->preload;
  s->friction = v_scale(scale, s->friction);
  s->roll = v_scale(scale, s->roll);
  s->twist = scale * s->twist;
  // Rows that no pass of this block solves must not enter its warm start.
  if (!(cb->features & CONTACT_ROLLING_FRICTION)) {
    s->roll = v_zero();
    s->twist = points == 1 ? splat(0.0f) : s->twist;
  }
  // Rims and wires have no friction anchor.
  if (cb->type > CONTACT_ROUND_2) {
    s->offset = v_zero();
    s->angle = splat(0.0f);
  }
  STORE(cb->state, lane, s);
}

KERNEL void pack_params(contact_block *cb, int lane, int points, const contact *const *from,
                        R used[])
{
  R r[16];
  load_record8(from, offsetof(contact, params), r);
  load_record8(from, offsetof(contact, params) + 32, r + 8);
  store_fields(cb->params, lane, r, (int)PARAM_FIELD(max_push_speed)); // set by pack()
  store(cb->restitution + lane, r[13]);
  for (int i = 0; i < points; ++i) {
    used[i] = pick(r[14] > (float)i, splat(1.0f), splat(0.0f));
    store(&cb->used[i][lane], used[i]);
  }
}

KERNEL void pack_segments(contact_block *cb, int lane, const contact *const *from,
                          const ShapePose *a, const ShapePose *b, const V ca[], const V cb_[],
                          int points)
{
  R r[16];
  load_record8(from, offsetof(contact, manifold.segment), r);
  load_record8(from, offsetof(contact, manifold.segment) + 32, r + 8);
  V ends[4];
  for (int i = 0; i < 4; ++i) {
    ends[i] = v_make(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
  }
  RoundStart start;
  load_fields(cb->start, lane, (R *)&start.apart, 3); // set by pack_start()
  start.pa = lever(a, ends[0]);
  start.ea = q_rotate(a->turned, v_sub(ends[1], ends[0]));
  start.pb = lever(b, ends[2]);
  start.eb = q_rotate(b->turned, v_sub(ends[3], ends[2]));
  for (int i = 0; i < points; ++i) {
    start.ca[i] = ca[i];
    start.cb[i] = cb_[i];
  }
  size_t size = points == 1 ? offsetof(RoundStart, ca) : sizeof start; // cores are for two points
  store_fields(cb->start, lane, (const R *)&start, (int)(size / sizeof(R)));
}

KERNEL void clear_sums(contact_block *cb, int lane, R h)
{
  R none[CONTACT_POINTS + 4];
  for (int i = 0; i < CONTACT_POINTS + 4; ++i) {
    none[i] = splat(0.0f);
  }
  store_fields(cb->patch_offset, lane, none, (int)FIELDS(FrictionOffset));
  store_fields(cb->sum, lane, none, CONTACT_POINTS + 4);
  store(cb->time_left + lane, h);
  store(cb->hit_speed + lane, splat(0.0f));
}

KERNEL void pack_lanes(const contact_pack_view *view, contact_block *cb, int lane, int points)
{
  const contact *from[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    int32_t slot = cb->contact[lane + i];
    from[i] = slot < 0 ? &EMPTY_CONTACT : &view->contacts[slot];
  }
  ShapePose a = load_shape_pose(view, from, 0);
  ShapePose b = load_shape_pose(view, from, 1);
  R used[CONTACT_POINTS], r[8];
  pack_params(cb, lane, points, from, used);
  pack_state(cb, lane, points, from, splat(view->scale));
  load_record8(from, offsetof(contact, manifold), r);
  R radius_a = r[5], radius_b = r[6];
  ContactGeometry geom;
  V core_a[CONTACT_POINTS], core_b[CONTACT_POINTS];
  V n = q_rotate(a.turned, v_make(r[2], r[3], r[4]));
  geom.n = v_scale(1.0f / v_length(n), n);
  for (int i = 0; i < points; ++i) {
    M in_use = used[i] > 0.0f;
    load_record8(from, offsetof(contact, manifold.points) + (size_t)i * sizeof(manifold_point), r);
    core_a[i] = v_pick(in_use, lever(&a, v_make(r[0], r[1], r[2])), v_zero());
    core_b[i] = v_pick(in_use, lever(&b, v_make(r[3], r[4], r[5])), v_zero());
    geom.ra[i] = v_add(core_a[i], v_scale(used[i] * radius_a, geom.n));
    geom.rb[i] = v_sub(core_b[i], v_scale(used[i] * radius_b, geom.n));
    geom.gap[i] = pick(in_use, r[6], splat(0.0f));
  }
  store_fields(cb->geom + GEOMETRY_FIELD(n), lane, (const R *)&geom.n, 3);
  store_fields(cb->geom + GEOMETRY_FIELD(ra), lane, (const R *)geom.ra, 3 * points);
  store_fields(cb->geom + GEOMETRY_FIELD(rb), lane, (const R *)geom.rb, 3 * points);
  store_fields(cb->geom + GEOMETRY_FIELD(gap), lane, geom.gap, points);
  if (cb->type == CONTACT_ROUND_1 || cb->type == CONTACT_ROUND_2) {
    pack_segments(cb, lane, from, &a, &b, core_a, core_b, points < 2 ? points : 2);
  } else if (cb->type <= CONTACT_FLAT_4) {
    store_fields(cb->start, lane, geom.gap, points);
    if (cb->turning) {
      store_fields(cb->start + START_FIELD(ra), lane, (const R *)geom.ra, 3 * points);
      store_fields(cb->start + START_FIELD(rb), lane, (const R *)geom.rb, 3 * points);
    }
  }
  clear_sums(cb, lane, splat(view->h));
}

static int points_of(int type)
{
  switch (type) {
  case CONTACT_FLAT_1:
  case CONTACT_ROUND_1:
  case CONTACT_WIRE_1:
    return 1;
  case CONTACT_FLAT_2:
  case CONTACT_ROUND_2:
  case CONTACT_RIM_2:
    return 2;
  default:
    return 4;
  }
}

// Each call of pack_lanes has a constant number of points, for which it is specialised.
void CONTACT_PACK(const contact_pack_view *view, int first, int last)
{
  for (int i = first; i < last; ++i) {
    contact_block *cb = &view->blocks[i];
    int points = points_of(cb->type);
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      if (points == 1) {
        pack_lanes(view, cb, lane, 1);
      } else if (points == 2) {
        pack_lanes(view, cb, lane, 2);
      } else {
        pack_lanes(view, cb, lane, 4);
      }
    }
  }
}

// Stores the state, with the anchor's offset advanced by this step, and the mean forces: the summed
// impulses over dt. Padded lanes write to `spare`.
KERNEL void unpack_lanes(const contact_pack_view *view, contact_block *cb, int lane, int points,
                         contact *spare)
{
  contact *to[TN_LANES];
  for (int i = 0; i < TN_LANES; ++i) {
    int32_t slot = cb->contact[lane + i];
    to[i] = slot < 0 ? spare : &view->contacts[slot];
  }
  R r[24];
  FrictionOffset patch_offset;
  ContactState *state = (ContactState *)(void *)r;
  LOAD(cb->state, lane, state);
  LOAD(cb->patch_offset, lane, &patch_offset);
  state->offset = v_add(state->offset, patch_offset.offset);
  state->angle = state->angle + patch_offset.angle;
  for (int i = (int)FIELDS(ContactState); i < 24; ++i) {
    r[i] = splat(0.0f);
  }
  R lived = state->preload_age;
  R bears =
      r_max(r_max(state->lambda[0], state->lambda[1]), r_max(state->lambda[2], state->lambda[3]));
  for (int i = 0; i < 3; ++i) {
    store_record8(to, offsetof(contact, state) + 32 * (size_t)i, r + 8 * i);
  }
  load_fields(cb->sum, lane, r, CONTACT_POINTS + 4);
  R most = r_max(r_max(r[0], r[1]), r_max(r[2], r[3]));
  alignas(64) float pressed[TN_LANES], loaded[TN_LANES], preload_age[TN_LANES];
  store(preload_age, lived);
  store(pressed, most);
  store(loaded, bears);
  for (int i = 0; i < CONTACT_POINTS + 4; ++i) {
    r[i] = r[i] / splat(view->dt);
  }
  store_record8(to, offsetof(contact, forces), r);
  for (int i = 0; i < TN_LANES; ++i) {
    to[i]->hit_speed = cb->hit_speed[lane + i];
    to[i]->was_loaded = pressed[i] > 0.0f;
    to[i]->idle = !(loaded[i] > 0.0f);
    to[i]->settled = preload_age[i] >= TUNING_CONTACT_SETTLING_TIME;
    for (int k = 0; k < points; ++k) {
      to[i]->manifold.points[k].gap = cb->geom[GEOMETRY_FIELD(gap) + (size_t)k][lane + i];
    }
  }
}

void CONTACT_UNPACK(const contact_pack_view *view, int first, int last)
{
  contact spare;
  for (int i = first; i < last; ++i) {
    for (int lane = 0; lane < BLOCK_WIDTH; lane += TN_LANES) {
      unpack_lanes(view, &view->blocks[i], lane, points_of(view->blocks[i].type), &spare);
    }
  }
}
