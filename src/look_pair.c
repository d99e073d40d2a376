// Looking at pairs: where two shapes touch, or how far apart they are. Many at a time, on any
// thread: nothing but the pair's own result is written.
#include "look_pair.h"

#include "collide/distance.h"

#include <math.h>

// As shares of the smaller shape's size.
#define CLEARANCE 0.1f
#define REUSE_LENGTH 1e-3f
#define REUSE_ANGLE 1e-3f

static tn_vec3 vec3_of(const float *v)
{
  return tn_v3(v[0], v[1], v[2]);
}

// How much closer the shapes' surfaces may come in dt.
static float closing(const tn_world *world, const shape *a, const shape *b, float dt)
{
  const body_state *sa = &world->state[a->body];
  const body_state *sb = &world->state[b->body];
  float turn_a = tn_length(vec3_of(sa->w)), turn_b = tn_length(vec3_of(sb->w));
  // What does not turn may reach infinitely far.
  float turn = (turn_a > 0.0f ? turn_a * a->stance.arm : 0.0f) +
               (turn_b > 0.0f ? turn_b * b->stance.arm : 0.0f);
  return dt * (tn_length(tn_sub(vec3_of(sb->v), vec3_of(sa->v))) + turn);
}

static bool hardly_moved(const pair *p, pose now, float size)
{
  tn_vec3 d = tn_sub(now.p, p->at.p);
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->at.q));
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z));
  return tn_length(d) < REUSE_LENGTH * size && 2.0f * sine < REUSE_ANGLE;
}

// Of two shapes, whose inner ball may be stopped: that of a moving one, if it has an inside.
static bool stops_ball_of_b(const tn_world *world, const shape *a, const shape *b)
{
  bool moves = world->bodies[b->body].type == TN_BODY_DYNAMIC;
  return moves ? b->inner_radius > 0.0f : a->inner_radius == 0.0f;
}

// A corner that is stopped does not stop the body: it may turn and fly on. So the ball inside the
// moving shape is stopped as well, as one more point with its own gap. While the way is shorter
// than the ball's radius, the ball's centre stays on its side and the next step finds it there.
void look_at_core(const tn_world *world, const shape *a, const shape *b, pose at, tn_vec3 way,
                  manifold *m)
{
  bool crosses = -tn_dot(m->normal, way) > smaller_inner_radius(a->inner_radius, b->inner_radius);
  bool ball = a->geometry.kind == TN_SHAPE_SPHERE || b->geometry.kind == TN_SHAPE_SPHERE;
  if (!crosses || ball || m->form != MANIFOLD_FLAT) {
    return;
  }
  manifold_point core = {0};
  if (stops_ball_of_b(world, a, b)) {
    tn_vec3 to_surface = tn_scale(m->radius_b - b->inner_radius, pose_unvector(at, m->normal));
    core.b = tn_add(geometry_inner_center(&b->geometry), to_surface);
    tn_vec3 in_a = pose_point(at, core.b);
    core.gap = tn_dot(m->normal, tn_sub(in_a, m->points[0].a));
    core.a = tn_sub(in_a, tn_scale(core.gap, m->normal));
  } else {
    tn_vec3 to_surface = tn_scale(a->inner_radius - m->radius_a, m->normal);
    core.a = tn_add(geometry_inner_center(&a->geometry), to_surface);
    core.gap = tn_dot(m->normal, tn_sub(pose_point(at, m->points[0].b), core.a));
    core.b = pose_unpoint(at, tn_add(core.a, tn_scale(core.gap, m->normal)));
  }
  core.gap -= m->radius_a + m->radius_b;
  core.feature = UINT32_MAX;
  m->points[m->count < MAX_POINTS ? m->count++ : MAX_POINTS - 1] = core;
}

// What a body that crosses more than the other shape's depth in a step would fly through is found
// by moving it there first; the gaps are then those from where it is.
int look_ahead(const shape *a, const shape *b, pose at, tn_vec3 way, manifold *out, int room)
{
  cast_hit hit;
  if (!geometry_cast(&a->geometry, &b->geometry, at, way, 0.0f, 1.0f, &hit) ||
      hit.fraction <= 0.0f) {
    return 0;
  }
  pose there = at;
  there.p = tn_add(at.p, tn_scale(hit.fraction, way));
  float margin = MARGIN * fminf(shape_size(a), shape_size(b));
  int count = collide(&a->geometry, &b->geometry, there, margin, out, room);
  for (int i = 0; i < count; ++i) {
    float gap = tn_dot(out[i].normal, tn_sub(at.p, there.p));
    for (int k = 0; k < out[i].count; ++k) {
      out[i].points[k].gap += gap;
    }
  }
  return count;
}

static bool needs_look_ahead(const tn_world *world, const shape *a, const shape *b, float way)
{
  const body *sides[2] = {&world->bodies[a->body], &world->bodies[b->body]};
  bool both_dynamic = sides[0]->type == TN_BODY_DYNAMIC && sides[1]->type == TN_BODY_DYNAMIC;
  if (shape_is_complex(a) && shape_is_complex(b)) {
    return false;
  }
  return way > fminf(a->inner_radius, b->inner_radius) &&
         (!both_dynamic || sides[0]->bullet || sides[1]->bullet);
}

// The way of B relative to A in dt, in A's frame.
static tn_vec3 relative_way(const tn_world *world, const shape *a, const shape *b, placed at_a,
                            float dt)
{
  tn_vec3 v = tn_sub(vec3_of(world->state[b->body].v), vec3_of(world->state[a->body].v));
  return tn_rotate(tn_quat_conjugate(dquat_round(at_a.q)), tn_scale(dt, v));
}

static tn_pos wide(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

// The points stay where they were in their shapes; only the gaps are new. In double, because what
// rounding adds to a gap tips a tower over in the end.
static void update_gaps(const tn_world *world, const pair *p, placed at_a, placed at_b)
{
  for (int32_t slot = p->first_contact; slot != NO_SLOT; slot = world->contacts[slot].next) {
    manifold *m = &world->contacts[slot].manifold;
    // The normal in A's axes, the world's and B's.
    tn_pos na = wide(m->normal);
    tn_pos n = dquat_rotate(at_a.q, na);
    tn_pos nb = dquat_rotate(dquat_conjugate(at_b.q), n);
    double apart = pos_dot(n, pos_sub(at_b.p, at_a.p));
    for (int i = 0; i < m->count; ++i) {
      double gap = apart + pos_dot(nb, wide(m->points[i].b)) - pos_dot(na, wide(m->points[i].a));
      m->points[i].gap = (float)gap - m->radius_a - m->radius_b;
    }
  }
}

// A marble may pass several cubics of a wire in a step.
static void span_wire(const tn_world *world, const shape *a, const shape *b, placed at_a,
                      placed at_b, float dt, manifold *m)
{
  bool first = m->round_side == 1; // A is the wire
  const shape *rail = first ? a : b;
  const shape *round = first ? b : a;
  tn_vec3 v = tn_sub(vec3_of(world->state[round->body].v), vec3_of(world->state[rail->body].v));
  v = tn_rotate(tn_quat_conjugate(dquat_round((first ? at_a : at_b).q)), v);
  tn_vec3 along = wire_slope(rail->geometry.wire, m);
  float length = tn_length(along);
  float way = length > 0.0f ? dt * tn_dot(v, along) / length : 0.0f;
  float spare = 0.2f * fabsf(way);
  wire_span(rail->geometry.wire, m, spare + fmaxf(-way, 0.0f), spare + fmaxf(way, 0.0f));
}

// ---------------------------------------------------------------------------------------------
// Most pairs are apart and stay so: it is enough to know by how much.

// No point of B has moved further in A's frame since the pair was looked at.
static float moved_most(const pair *p, pose now, float reach)
{
  tn_quat turn = tn_quat_mul(now.q, tn_quat_conjugate(p->at.q));
  float sine = tn_length(tn_v3(turn.x, turn.y, turn.z)); // of half the angle
  return tn_length(tn_sub(now.p, p->at.p)) + 3.2f * sine * reach;
}

// What lies between two shapes along a direction from A to B.
static float clear_along(const shape *a, const shape *b, pose at, tn_vec3 n)
{
  tn_vec3 on_a = convex_support(&a->geometry, n);
  tn_vec3 on_b = convex_support(&b->geometry, pose_unvector(at, tn_scale(-1.0f, n)));
  return tn_dot(n, tn_sub(pose_point(at, on_b), on_a));
}

// Whether two shapes that were apart are still apart by more than `margin`. If they were not known
// to be, `clear` becomes what is between them.
static bool stays_apart(pair *p, const shape *a, const shape *b, pose at, float margin, float size)
{
  if (p->fresh || p->first_contact != NO_SLOT || !shape_is_bounded(a) || !shape_is_bounded(b)) {
    p->clear = 0.0f;
    p->limit = 0.0;
    return false;
  }
  if (!p->astray && moved_most(p, at, b->reach) + margin < p->clear) {
    return true;
  }
  manifold nearest;
  p->at = at;
  p->astray = false;
  p->clear = margin + CLEARANCE * size;
  if (collide(&a->geometry, &b->geometry, at, p->clear, &nearest, 1) > 0) {
    p->clear = clear_along(a, b, at, nearest.normal);
  }
  p->limit = way_until(&a->stance, &b->stance, p->clear);
  return p->clear > margin;
}

static void look_at(const tn_world *world, int32_t index, float dt)
{
  found_pair *found = &world->found[index];
  pair *p = &world->pairs[world->active_pairs[index]];
  const shape *a = &world->shapes[p->shape[0]];
  const shape *b = &world->shapes[p->shape[1]];
  placed at_a = a->stance.here;
  placed at_b = b->stance.here;
  pose at = placed_relative(at_a, at_b);
  if (p->sensor) {
    found->overlap = overlaps(&a->geometry, &b->geometry, at);
    return;
  }
  float size = fminf(shape_size(a), shape_size(b));
  bool known = !p->fresh && !p->astray && p->first_contact != NO_SLOT;
  if (known && !p->complex && hardly_moved(p, at, size)) {
    found->count = KEPT_MANIFOLDS;
    update_gaps(world, p, at_a, at_b);
    return;
  }
  float close = closing(world, a, b, dt);
  if (stays_apart(p, a, b, at, MARGIN * size + close, size)) {
    found->count = KEPT_MANIFOLDS;
    return;
  }
  float margin = MARGIN * size + fminf(close, MARGIN_CAP * size);
  manifold *out = &world->found_manifolds[found->first];
  found->count = collide(&a->geometry, &b->geometry, at, margin, out, found->room);
  bool fast = needs_look_ahead(world, a, b, close);
  tn_vec3 way = relative_way(world, a, b, at_a, dt);
  if (found->count == 0 && fast) {
    if (shape_is_complex(b) || b->geometry.kind == TN_SHAPE_PLANE) {
      // Casts move what is convex: look from the other side.
      pose back = pose_inverse(at);
      found->count =
          look_ahead(b, a, back, pose_unvector(at, tn_scale(-1.0f, way)), out, found->room);
      for (int i = 0; i < found->count; ++i) {
        manifold_flip(&out[i], back);
      }
    } else {
      found->count = look_ahead(a, b, at, way, out, found->room);
    }
  }
  for (int i = 0; i < found->count; ++i) {
    if (fast) {
      look_at_core(world, a, b, at, way, &out[i]);
    }
    if (out[i].form == MANIFOLD_WIRE) {
      span_wire(world, a, b, at_a, at_b, dt, &out[i]);
    }
  }
  p->at = at;
  p->astray = false;
}

// ---------------------------------------------------------------------------------------------
// Spheres and capsules in lanes

// A contact that goes on as it was but for where it is.
static bool continues(const tn_world *world, const pair *p)
{
  const contact *c = p->first_contact == NO_SLOT ? NULL : &world->contacts[p->first_contact];
  return c && !p->fresh && c->next == NO_SLOT && c->manifold.form == MANIFOLD_ROUND &&
         c->manifold.count == 1;
}

static void place_round(manifold *m, const round_batch *batch, int i)
{
  m->normal = tn_v3(batch->nx[i], batch->ny[i], batch->nz[i]);
  m->points[0].a.y = batch->along_a[i];
  m->points[0].b.y = batch->along_b[i];
  m->points[0].gap = batch->gap[i];
}

static void make_round(const shape *a, const shape *b, manifold *m)
{
  float ha = a->stance.half_length, hb = b->stance.half_length;
  *m = (manifold){.form = MANIFOLD_ROUND, .count = 1};
  m->radius_a = a->stance.radius;
  m->radius_b = b->stance.radius;
  m->segment[0][0] = tn_v3(0.0f, -ha, 0.0f);
  m->segment[0][1] = tn_v3(0.0f, ha, 0.0f);
  m->segment[1][0] = tn_v3(0.0f, -hb, 0.0f);
  m->segment[1][1] = tn_v3(0.0f, hb, 0.0f);
}

static void take_round(const tn_world *world, const round_batch *batch, int i, int32_t index,
                       float dt)
{
  found_pair *found = &world->found[index];
  pair *p = &world->pairs[world->active_pairs[index]];
  if (batch->special[i] != 0.0f) {
    look_at(world, index, dt);
    return;
  }
  const shape *a = &world->shapes[p->shape[0]], *b = &world->shapes[p->shape[1]];
  p->astray = true;
  p->clear = batch->gap[i];
  p->limit = way_until(&a->stance, &b->stance, p->clear);
  if (batch->gap[i] > batch->margin[i]) {
    found->count = p->first_contact == NO_SLOT && !p->fresh ? KEPT_MANIFOLDS : 0;
  } else if (continues(world, p)) {
    contact *c = &world->contacts[p->first_contact];
    found->count = KEPT_MANIFOLDS;
    c->steady = batch->steady[i] != 0.0f && world->method == TN_METHOD_TENON;
    place_round(&c->manifold, batch, i);
  } else {
    found->count = 1;
    make_round(a, b, &world->found_manifolds[found->first]);
    place_round(&world->found_manifolds[found->first], batch, i);
  }
}

static void add_to_batch(const tn_world *world, const pair *p, round_batch *batch, int i)
{
  for (int side = 0; side < 2; ++side) {
    batch->shape[side][i] = world->shapes[p->shape[side]].stance.axis;
    batch->motion[side][i] = world->state[p->body[side]].motion;
  }
  tn_pos a = world->shapes[p->shape[0]].stance.here.p, b = world->shapes[p->shape[1]].stance.here.p;
  batch->x[i] = (float)(b.x - a.x);
  batch->y[i] = (float)(b.y - a.y);
  batch->z[i] = (float)(b.z - a.z);
}

static void look_at_batch(const tn_world *world, round_batch *batch, const int32_t *index,
                          int count, float dt)
{
  // Lanes that are left over see the last pair again.
  for (int i = count; i % BLOCK_WIDTH != 0; ++i) {
    add_to_batch(world, &world->pairs[world->active_pairs[index[count - 1]]], batch, i);
  }
  world->contact_ops->look(batch, count, dt);
  for (int i = 0; i < count; ++i) {
    take_round(world, batch, i, index[i], dt);
  }
}

// What a look at the pair asks for. Its shapes lie anywhere.
KERNEL void fetch_pair(const tn_world *world, const pair *p)
{
  for (int side = 0; side < 2; ++side) {
    const stance *s = &world->shapes[p->shape[side]].stance;
    FETCH(s);
    FETCH(&s->here);
  }
  if (p->first_contact != NO_SLOT) {
    FETCH(&world->contacts[p->first_contact].manifold);
    FETCH(world->contacts[p->first_contact].manifold.points);
  }
}

void look_at_pairs(const tn_world *world, int32_t first, int32_t last, float dt)
{
  round_batch batch;
  int32_t index[ROUND_BATCH];
  int count = 0;
  for (int32_t i = first; i < last; ++i) {
    const pair *p = &world->pairs[world->active_pairs[i]];
    if (i + FETCH_AHEAD < last) {
      fetch_pair(world, &world->pairs[world->active_pairs[i + FETCH_AHEAD]]);
    }
    if (!p->round) {
      look_at(world, i, dt);
      continue;
    }
    add_to_batch(world, p, &batch, count);
    index[count++] = i;
    if (count == ROUND_BATCH) {
      look_at_batch(world, &batch, index, count, dt);
      count = 0;
    }
  }
  look_at_batch(world, &batch, index, count, dt);
}
