// What is where: rays, casts, overlaps, closest points.
//
// A query looks at each shape in that shape's own frame, from a start taken close to it, so that
// neither the place in the world nor the length of the way costs accuracy. Of equal answers the
// shape made in the lower slot counts: the trees' history does not show.
#include "world.h"

#include <math.h>

static const tn_hit miss = {.hit = false};

tn_query_filter tn_default_query_filter(void)
{
  tn_query_filter filter = {.category = UINT64_MAX, .mask = UINT64_MAX, .sensors = false};
  return filter;
}

static bool passes(const shape *s, tn_query_filter filter)
{
  return (s->def.filter.category & filter.mask) != 0 &&
         (filter.category & s->def.filter.mask) != 0 && (filter.sensors || !s->def.sensor);
}

static tn_pos to_pos(tn_vec3 v)
{
  return tn_p3((double)v.x, (double)v.y, (double)v.z);
}

static tn_vec3 to_vec3(tn_pos p)
{
  return tn_v3((float)p.x, (float)p.y, (float)p.z);
}

static tn_pos pos_scale(double s, tn_pos p)
{
  return tn_p3(s * p.x, s * p.y, s * p.z);
}

static tn_pos into_frame(placed frame, tn_pos p)
{
  return dquat_rotate(dquat_conjugate(frame.q), pos_sub(p, frame.p));
}

// So that what is exactly as far as the closest so far is not lost to rounding.
static float with_equals(float reach)
{
  return 1.000001f * reach;
}

static tn_hit make_hit(const tn_world *world, int32_t slot, placed at, tn_pos point, tn_vec3 normal)
{
  tn_hit h = miss;
  h.hit = true;
  h.shape = shape_id_at(world, slot);
  h.body = body_id_at(world, world->shapes[slot].body);
  h.point = pos_add(at.p, dquat_rotate(at.q, point));
  h.normal = to_vec3(dquat_rotate(at.q, to_pos(normal)));
  return h;
}

// ---------------------------------------------------------------------------------------------
// Rays and casts

typedef struct way_query {
  const tn_world *world;
  tn_query_filter filter;
  placed from;
  tn_vec3 way;
  const geometry *solid; // what moves; null for a ray
  float solid_reach;
  tn_hit_fn *found; // null: only the closest hit is wanted
  void *context;
  float max_fraction; // how far the query still goes, or negative when it has ended
  tn_hit best;
  int32_t best_slot;
} way_query;

// The part of the way within a ball around a shape. It does not depend on how far the query still
// goes, so that equal shapes give equal fractions.
typedef struct stretch {
  double start, length; // fractions of the way; negative where there is none
} stretch;

static stretch stretch_near(tn_pos from, tn_pos way, float reach)
{
  stretch s = {0.0, 1.0};
  double square = pos_dot(way, way);
  if (square > 0.0 && isfinite(reach)) {
    double middle = -pos_dot(from, way) / square;
    double radius = 1.001 * (double)reach; // so that the start is well outside of the shape
    tn_pos nearest = pos_add(from, pos_scale(middle, way));
    double within = radius * radius - pos_dot(nearest, nearest);
    double half = within > 0.0 ? sqrt(within / square) : -HUGE_VAL;
    s.start = middle - half > 0.0 ? middle - half : 0.0;
    s.length = middle + half - s.start;
  }
  return s;
}

// Whether a shape is met, in its own frame: fraction of the way, point and normal.
static bool meets(const way_query *q, const shape *s, placed at, double *fraction, tn_pos *point,
                  tn_vec3 *normal)
{
  tn_pos from = into_frame(at, q->from.p);
  tn_pos way = dquat_rotate(dquat_conjugate(at.q), to_pos(q->way));
  stretch near = stretch_near(from, way, s->reach + q->solid_reach);
  double left = (double)with_equals(q->max_fraction) - near.start;
  if (near.length < 0.0 || left < 0.0) {
    return false;
  }
  float end = left < near.length ? (float)(left / near.length) : 1.0f;
  from = pos_add(from, pos_scale(near.start, way));
  way = pos_scale(near.length, way);
  float along;
  if (q->solid) {
    pose start = {to_vec3(from), placed_relative(at, q->from).q};
    cast_hit hit;
    if (!geometry_cast(&s->geometry, q->solid, start, to_vec3(way), 0.0f, end, &hit)) {
      return false;
    }
    along = hit.fraction;
    *point = to_pos(hit.point);
    *normal = hit.normal;
  } else {
    ray_hit hit;
    if (!geometry_ray(&s->geometry, to_vec3(from), to_vec3(way), end, &hit)) {
      return false;
    }
    along = hit.fraction;
    *point = pos_add(from, pos_scale((double)along, way));
    *normal = hit.normal;
  }
  *fraction = near.start + near.length * (double)along;
  return true;
}

static float keep_closest(way_query *q, int32_t slot, const tn_hit *hit)
{
  if (!q->best.hit || hit->fraction < q->best.fraction || slot < q->best_slot) {
    q->best = *hit;
    q->best_slot = slot;
  }
  return q->best.fraction;
}

static float ask_caller(const way_query *q, const tn_hit *hit)
{
  float go_on = q->found(hit, q->context);
  if (go_on == 0.0f) {
    return -1.0f;
  }
  return go_on > 0.0f && go_on < q->max_fraction ? go_on : q->max_fraction;
}

static void look_on_way(way_query *q, int32_t slot)
{
  const shape *s = &q->world->shapes[slot];
  double fraction;
  tn_pos point;
  tn_vec3 normal;
  placed at = shape_placed(q->world, s);
  if (!passes(s, q->filter) || !meets(q, s, at, &fraction, &point, &normal) ||
      (float)fraction > q->max_fraction) {
    return;
  }
  tn_hit hit = make_hit(q->world, slot, at, point, normal);
  hit.fraction = (float)fraction;
  q->max_fraction = q->found ? ask_caller(q, &hit) : keep_closest(q, slot, &hit);
}

static float visit_on_way(int32_t slot, float max_fraction, void *context)
{
  (void)max_fraction;
  way_query *q = context;
  look_on_way(q, slot);
  return with_equals(q->max_fraction);
}

// ---------------------------------------------------------------------------------------------
// Rays and solids meet the triangles of soft bodies from both sides.

static tn_pos pos_cross(tn_pos a, tn_pos b)
{
  return tn_p3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The fraction of the way at which a triangle is met, or a negative number.
static double meet_triangle(tn_pos from, tn_pos way, const tn_pos *x, tn_pos *normal)
{
  tn_pos e = pos_sub(x[1], x[0]), f = pos_sub(x[2], x[0]), to = pos_sub(from, x[0]);
  *normal = pos_cross(e, f);
  double d = -pos_dot(way, *normal);
  if (d == 0.0) {
    return -1.0;
  }
  tn_pos c = pos_cross(to, way);
  double u = pos_dot(f, c) / d, v = -pos_dot(e, c) / d;
  return u < 0.0 || v < 0.0 || u + v > 1.0 ? -1.0 : pos_dot(to, *normal) / d;
}

// A triangle about its first corner.
static geometry triangle_about(const tn_pos *x)
{
  geometry g = {.kind = GEOMETRY_TRIANGLE};
  for (int i = 0; i < 3; ++i) {
    g.corner[i] = to_vec3(pos_sub(x[i], x[0]));
  }
  return g;
}

static float triangle_reach(const geometry *g)
{
  return fmaxf(tn_length(g->corner[1]), tn_length(g->corner[2]));
}

// The same for a solid that moves.
static double meet_solid(const way_query *q, const tn_pos *x, tn_hit *hit)
{
  geometry g = triangle_about(x);
  tn_pos from = pos_sub(q->from.p, x[0]), way = to_pos(q->way);
  stretch near = stretch_near(from, way, triangle_reach(&g) + q->solid_reach);
  double left = (double)with_equals(q->max_fraction) - near.start;
  if (near.length < 0.0 || left < 0.0) {
    return -1.0;
  }
  float end = left < near.length ? (float)(left / near.length) : 1.0f;
  pose start = {to_vec3(pos_add(from, pos_scale(near.start, way))), dquat_round(q->from.q)};
  cast_hit found;
  if (!geometry_cast(&g, q->solid, start, to_vec3(pos_scale(near.length, way)), 0.0f, end,
                     &found)) {
    return -1.0;
  }
  hit->point = pos_add(x[0], to_pos(found.point));
  hit->normal = found.normal;
  return near.start + near.length * (double)found.fraction;
}

static double meet_ray(const way_query *q, const tn_pos *x, tn_hit *hit)
{
  tn_pos way = to_pos(q->way), normal;
  double fraction = meet_triangle(q->from.p, way, x, &normal);
  double length = sqrt(pos_dot(normal, normal)) * (pos_dot(way, normal) > 0.0 ? -1.0 : 1.0);
  hit->point = pos_add(q->from.p, pos_scale(fraction, way));
  hit->normal = to_vec3(pos_scale(1.0 / length, normal));
  return fraction;
}

static void corners_of(const soft *s, int32_t triangle, tn_pos *x)
{
  for (int k = 0; k < 3; ++k) {
    x[k] = s->particles[s->triangles[3 * (size_t)triangle + (size_t)k]].at;
  }
}

static void look_at_soft(way_query *q, int32_t slot)
{
  const soft *s = &q->world->softs[slot];
  for (int32_t i = 0; i < s->triangle_count && q->max_fraction >= 0.0f; ++i) {
    tn_pos x[3];
    corners_of(s, i, x);
    tn_hit hit = miss;
    double fraction = q->solid ? meet_solid(q, x, &hit) : meet_ray(q, x, &hit);
    if (fraction < 0.0 || (float)fraction > q->max_fraction) {
      continue;
    }
    hit.hit = true;
    hit.soft = soft_id_at(q->world, slot);
    hit.triangle = i;
    hit.fraction = (float)fraction;
    q->max_fraction = q->found ? ask_caller(q, &hit) : keep_closest(q, INT32_MAX, &hit);
  }
}

static bool box_meets_way(const world_box *box, tn_pos from, tn_pos way, double reach)
{
  const double lower[3] = {box->lower.x - from.x - reach, box->lower.y - from.y - reach,
                           box->lower.z - from.z - reach};
  const double upper[3] = {box->upper.x - from.x + reach, box->upper.y - from.y + reach,
                           box->upper.z - from.z + reach};
  const double along[3] = {way.x, way.y, way.z};
  double enter = 0.0, leave = 1.0;
  for (int i = 0; i < 3; ++i) {
    if (along[i] == 0.0) {
      leave = lower[i] > 0.0 || upper[i] < 0.0 ? -1.0 : leave;
    } else {
      double a = lower[i] / along[i], b = upper[i] / along[i];
      enter = fmax(enter, fmin(a, b));
      leave = fmin(leave, fmax(a, b));
    }
  }
  return enter <= leave;
}

static bool passes_soft(const soft *s, tn_query_filter filter)
{
  return s->alive && (s->filter.category & filter.mask) && (filter.category & s->filter.mask);
}

static void look_at_softs(way_query *q)
{
  for (int32_t i = 0; i < q->world->soft_list.used; ++i) {
    const soft *s = &q->world->softs[i];
    if (passes_soft(s, q->filter) &&
        box_meets_way(&s->box, q->from.p, to_pos(q->way), (double)q->solid_reach)) {
      look_at_soft(q, i);
    }
  }
}

// The moving solid as a box: half its size, about a point off its origin.
static void go(way_query *q)
{
  tn_pos from = q->from.p;
  tn_vec3 half = {0.0f, 0.0f, 0.0f};
  if (q->solid) {
    pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(q->from.q)};
    box3 box = geometry_box(q->solid, turned);
    from = tn_offset(from, tn_scale(0.5f, tn_add(box.lower, box.upper)));
    half = tn_scale(0.500001f, tn_sub(box.upper, box.lower));
  }
  q->max_fraction = 1.0f;
  tree_cast(&q->world->fixed_tree, from, q->way, half, with_equals(q->max_fraction), visit_on_way,
            q);
  tree_cast(&q->world->moving_tree, from, q->way, half, with_equals(q->max_fraction), visit_on_way,
            q);
  look_at_softs(q);
}

static bool is_good_way(const tn_world *world, tn_pos from, tn_vec3 way, const char *caller)
{
  if (!world) {
    return false;
  }
  const char *why = !is_position(from) ? "the start is not finite or too far away"
                    : !is_finite3(way) ? "the way is not finite"
                                       : NULL;
  if (why) {
    report(world, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return !why;
}

static tn_hit closest_on_ray(const tn_world *world, tn_pos from, tn_vec3 way,
                             tn_query_filter filter, const char *caller)
{
  if (!is_good_way(world, from, way, caller)) {
    return miss;
  }
  way_query q = {.world = world, .filter = filter, .from = {from, {0, 0, 0, 1}}, .way = way};
  go(&q);
  return q.best;
}

tn_hit tn_world_ray(const tn_world *world, tn_pos from, tn_vec3 way, tn_query_filter filter)
{
  return closest_on_ray(world, from, way, filter, "tn_world_ray");
}

void tn_world_rays(const tn_world *world, const tn_pos *from, const tn_vec3 *way, int count,
                   tn_query_filter filter, tn_hit *hits)
{
  if (!world || count == 0) {
    return;
  }
  if (!from || !way || !hits || count < 0) {
    report(world, TN_LOG_ERROR, "tn_world_rays: %s",
           count < 0 ? "the count is negative" : "from, way and hits must not be null");
    return;
  }
  for (int i = 0; i < count; ++i) {
    hits[i] = closest_on_ray(world, from[i], way[i], filter, "tn_world_rays");
  }
}

static bool is_good_callback(const tn_world *world, tn_hit_fn *hit, const char *caller)
{
  if (!hit) {
    report(world, TN_LOG_ERROR, "%s: the callback is null", caller);
  }
  return hit;
}

void tn_world_ray_all(const tn_world *world, tn_pos from, tn_vec3 way, tn_query_filter filter,
                      tn_hit_fn *hit, void *context)
{
  const char *caller = "tn_world_ray_all";
  if (!is_good_way(world, from, way, caller) || !is_good_callback(world, hit, caller)) {
    return;
  }
  way_query q = {.world = world,
                 .filter = filter,
                 .from = {from, {0, 0, 0, 1}},
                 .way = way,
                 .found = hit,
                 .context = context};
  go(&q);
}

// The solid of a definition at its place.
static bool is_good_solid(const tn_world *world, const tn_shape_def *def, tn_transform at,
                          geometry *g, const char *caller)
{
  if (!world) {
    return false;
  }
  const char *why = def ? geometry_of_def(world, def, g) : "the definition is null";
  if (!why && g->kind > TN_SHAPE_HULL) {
    why = "the shape must be a sphere, capsule, box, cylinder, cone or hull";
  }
  if (!why && (!is_position(at.p) || !is_rotation(at.q))) {
    why = "the place is not finite, too far away or not a rotation";
  }
  if (why) {
    report(world, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return !why;
}

static placed placed_at(tn_transform at)
{
  return (placed){at.p, dquat_normalize(dquat_from(at.q))};
}

tn_hit tn_world_cast(const tn_world *world, const tn_shape_def *def, tn_transform at, tn_vec3 way,
                     tn_query_filter filter)
{
  const char *caller = "tn_world_cast";
  geometry g;
  if (!is_good_solid(world, def, at, &g, caller) || !is_good_way(world, at.p, way, caller)) {
    return miss;
  }
  way_query q = {.world = world,
                 .filter = filter,
                 .from = placed_at(at),
                 .way = way,
                 .solid = &g,
                 .solid_reach = geometry_reach(&g)};
  go(&q);
  return q.best;
}

void tn_world_cast_all(const tn_world *world, const tn_shape_def *def, tn_transform at, tn_vec3 way,
                       tn_query_filter filter, tn_hit_fn *hit, void *context)
{
  const char *caller = "tn_world_cast_all";
  geometry g;
  if (!is_good_solid(world, def, at, &g, caller) || !is_good_way(world, at.p, way, caller) ||
      !is_good_callback(world, hit, caller)) {
    return;
  }
  way_query q = {.world = world,
                 .filter = filter,
                 .from = placed_at(at),
                 .way = way,
                 .solid = &g,
                 .solid_reach = geometry_reach(&g),
                 .found = hit,
                 .context = context};
  go(&q);
}

// ---------------------------------------------------------------------------------------------
// Overlaps

typedef struct overlap_query {
  const tn_world *world;
  tn_query_filter filter;
  const geometry *solid; // null: the box itself
  placed at;
  world_box box;
  tn_shape_id *shapes;
  int capacity, count;
} overlap_query;

// The list is kept in the order of slots, and if it is too short the last ones go.
static void list(overlap_query *q, tn_shape_id id)
{
  int room = q->count < q->capacity ? q->count : q->capacity - 1;
  bool fits = q->count < q->capacity;
  q->count += 1;
  if (room < 0 || (!fits && id.index > q->shapes[room].index)) {
    return;
  }
  for (; room > 0 && q->shapes[room - 1].index > id.index; --room) {
    q->shapes[room] = q->shapes[room - 1];
  }
  q->shapes[room] = id;
}

static bool visit_overlap(int32_t slot, void *context)
{
  overlap_query *q = context;
  const shape *s = &q->world->shapes[slot];
  if (passes(s, q->filter) &&
      overlaps(&s->geometry, q->solid, placed_relative(shape_placed(q->world, s), q->at))) {
    list(q, shape_id_at(q->world, slot));
  }
  return true;
}

// Only the part of the box that is near the shape matters, and that part is small.
static bool visit_box(int32_t slot, void *context)
{
  overlap_query *q = context;
  const shape *s = &q->world->shapes[slot];
  if (!passes(s, q->filter)) {
    return true;
  }
  const world_box *a = &q->box, *b = &s->box;
  tn_pos lower = {fmax(a->lower.x, b->lower.x), fmax(a->lower.y, b->lower.y),
                  fmax(a->lower.z, b->lower.z)};
  tn_pos upper = {fmin(a->upper.x, b->upper.x), fmin(a->upper.y, b->upper.y),
                  fmin(a->upper.z, b->upper.z)};
  placed at = {pos_scale(0.5, pos_add(lower, upper)), {0, 0, 0, 1}};
  geometry part = {.kind = TN_SHAPE_BOX,
                   .half_extents = to_vec3(pos_scale(0.5, pos_sub(upper, lower)))};
  if (overlaps(&s->geometry, &part, placed_relative(shape_placed(q->world, s), at))) {
    list(q, shape_id_at(q->world, slot));
  }
  return true;
}

static int count_overlaps(overlap_query *q, tree_visit_fn *visit)
{
  if (!q->shapes) {
    q->capacity = 0;
  }
  tree_query(&q->world->fixed_tree, q->box, visit, q);
  tree_query(&q->world->moving_tree, q->box, visit, q);
  return q->count;
}

int tn_world_overlap(const tn_world *world, const tn_shape_def *def, tn_transform at,
                     tn_query_filter filter, tn_shape_id *shapes, int capacity)
{
  geometry g;
  if (!is_good_solid(world, def, at, &g, "tn_world_overlap")) {
    return 0;
  }
  overlap_query q = {.world = world,
                     .filter = filter,
                     .solid = &g,
                     .at = placed_at(at),
                     .shapes = shapes,
                     .capacity = capacity};
  pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(q.at.q)};
  box3 box = geometry_box(&g, turned);
  q.box = (world_box){tn_offset(at.p, box.lower), tn_offset(at.p, box.upper)};
  return count_overlaps(&q, visit_overlap);
}

int tn_world_overlap_box(const tn_world *world, tn_pos lower, tn_pos upper, tn_query_filter filter,
                         tn_shape_id *shapes, int capacity)
{
  if (!world) {
    return 0;
  }
  if (!is_finite_pos(lower) || !is_finite_pos(upper) || lower.x > upper.x || lower.y > upper.y ||
      lower.z > upper.z) {
    report(world, TN_LOG_ERROR,
           "tn_world_overlap_box: the box must be finite, lower not above upper");
    return 0;
  }
  overlap_query q = {.world = world,
                     .filter = filter,
                     .box = {lower, upper},
                     .shapes = shapes,
                     .capacity = capacity};
  return count_overlaps(&q, visit_box);
}

// Triangles, or particles where there are none.
static bool soft_overlaps(const soft *s, const geometry *solid, placed at)
{
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    tn_pos x[3];
    corners_of(s, i, x);
    geometry g = triangle_about(x);
    placed frame = {x[0], {0, 0, 0, 1}};
    if (overlaps(&g, solid, placed_relative(frame, at))) {
      return true;
    }
  }
  for (int32_t i = 0; i < s->particle_count && s->triangle_count == 0; ++i) {
    closest c;
    if (geometry_closest(solid, to_vec3(into_frame(at, s->particles[i].at)), s->radius, &c)) {
      return true;
    }
  }
  return false;
}

// Whether a closed surface has the point inside: by what lies in one direction from it.
static bool encloses(const soft *s, tn_pos point)
{
  tn_pos way = tn_p3(s->box.upper.x - point.x + 1.0, 0.0, 0.0), x[3], normal;
  int crossings = 0;
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    corners_of(s, i, x);
    double fraction = meet_triangle(point, way, x, &normal);
    crossings += fraction > 0.0 ? (pos_dot(way, normal) > 0.0 ? 1 : -1) : 0;
  }
  return s->closed && crossings > 0;
}

int tn_world_overlap_softs(const tn_world *world, const tn_shape_def *def, tn_transform at,
                           tn_query_filter filter, tn_soft_id *softs, int capacity)
{
  geometry g;
  int count = 0;
  if (!is_good_solid(world, def, at, &g, "tn_world_overlap_softs")) {
    return 0;
  }
  placed place = placed_at(at);
  double reach = (double)geometry_reach(&g);
  world_box box = {tn_p3(at.p.x - reach, at.p.y - reach, at.p.z - reach),
                   tn_p3(at.p.x + reach, at.p.y + reach, at.p.z + reach)};
  for (int32_t i = 0; i < world->soft_list.used; ++i) {
    const soft *s = &world->softs[i];
    if (passes_soft(s, filter) && boxes_overlap(&box, &s->box) &&
        (soft_overlaps(s, &g, place) || encloses(s, at.p))) {
      if (softs && count < capacity) {
        softs[count] = soft_id_at(world, i);
      }
      count += 1;
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Closest point

typedef struct closest_query {
  const tn_world *world;
  tn_query_filter filter;
  tn_pos point;
  tn_hit best;
  int32_t best_slot;
} closest_query;

static float visit_closest(int32_t slot, float max_distance, void *context)
{
  closest_query *q = context;
  const shape *s = &q->world->shapes[slot];
  if (!passes(s, q->filter)) {
    return max_distance;
  }
  placed at = shape_placed(q->world, s);
  closest c;
  if (!geometry_closest(&s->geometry, to_vec3(into_frame(at, q->point)), max_distance, &c)) {
    return max_distance;
  }
  bool tie = q->best.hit && c.distance == q->best.distance;
  if (!q->best.hit || c.distance < q->best.distance || (tie && slot < q->best_slot)) {
    q->best = make_hit(q->world, slot, at, to_pos(c.point), c.normal);
    q->best.distance = c.distance;
    q->best_slot = slot;
  }
  // Of those that hold the point the deepest counts.
  return with_equals(fmaxf(q->best.distance, 0.0f));
}

tn_hit tn_world_closest_point(const tn_world *world, tn_pos point, float distance,
                              tn_query_filter filter)
{
  if (!world) {
    return miss;
  }
  if (!is_position(point) || !(distance >= 0.0f)) {
    report(world, TN_LOG_ERROR, "tn_world_closest_point: %s",
           is_position(point) ? "the distance must not be negative"
                              : "the point is not finite or too far away");
    return miss;
  }
  closest_query q = {.world = world, .filter = filter, .point = point};
  tree_nearest(&world->fixed_tree, point, distance, visit_closest, &q);
  float left = q.best.hit ? with_equals(fmaxf(q.best.distance, 0.0f)) : distance;
  tree_nearest(&world->moving_tree, point, left, visit_closest, &q);
  return q.best;
}
