// Queries: ray casts, shape casts, overlaps and closest points.
//
// Each shape is tested in its own frame, starting from a point close to it, so that accuracy
// depends neither on the position in the world nor on the length of the ray. Ties go to the lowest
// slot, so results do not depend on the history of the trees.
#include "base/dvec.h"
#include "collide/distance.h"
#include "data/ids.h"
#include "data/world.h"
#include "detect/detection.h"
#include "kernel/ranges.h"
#include "world/lifetime.h"

#include <math.h>

static const tn_hit miss = {.hit = false};

tn_query_filter tn_default_query_filter(void)
{
  tn_query_filter filter = {.category = UINT64_MAX, .mask = UINT64_MAX, .sensors = false};
  return filter;
}

static bool passes_query_filter(const shape *s, tn_query_filter filter)
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

static tn_pos world_pose_inverse_point(world_pose frame, tn_pos p)
{
  return dquat_rotate(dquat_conjugate(frame.q), pos_sub(p, frame.p));
}

// Keeps candidates at exactly the distance of the best hit, which rounding could reject.
static float with_tie_slack(float bounding_radius)
{
  return 1.000001f * bounding_radius;
}

static tn_hit make_hit(const tn_world *world, int32_t slot, world_pose at, tn_pos point,
                       tn_vec3 normal)
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

typedef struct cast_query {
  const tn_world *world;
  tn_query_filter filter;
  world_pose from;       // pose of the solid, or origin of the ray
  tn_vec3 displacement;  // m, of the whole cast
  const geometry *solid; // the shape that is cast; null for a ray
  float solid_radius;    // bounding radius of it, m
  tn_hit_fn *found;      // called for every hit; null: only the closest one is wanted
  void *context;
  float max_fraction; // end of the remaining range; negative when the query has ended
  tn_hit best;
  int32_t best_slot;
} cast_query;

// The part of the cast inside the bounding sphere of a shape. It does not depend on max_fraction,
// so that equal shapes give equal fractions.
typedef struct fraction_range {
  double start, length; // fractions of the displacement; length < 0: no intersection
} fraction_range;

static fraction_range clip_to_sphere(tn_pos from, tn_pos displacement, float bounding_radius)
{
  fraction_range s = {0.0, 1.0};
  double square = pos_dot(displacement, displacement);
  if (square > 0.0 && isfinite(bounding_radius)) {
    double middle = -pos_dot(from, displacement) / square;
    // The factor puts the start well outside the shape.
    double radius = 1.001 * (double)bounding_radius;
    tn_pos nearest = pos_add(from, pos_scale(middle, displacement));
    double within = radius * radius - pos_dot(nearest, nearest);
    double half = within > 0.0 ? sqrt(within / square) : -HUGE_VAL;
    s.start = middle - half > 0.0 ? middle - half : 0.0;
    s.length = middle + half - s.start;
  }
  return s;
}

// Casts at one shape: fraction of the whole displacement; point and normal in the shape's frame.
static bool cast_at_shape(const cast_query *q, const shape *s, world_pose at, double *fraction,
                          tn_pos *point, tn_vec3 *normal)
{
  tn_pos from = world_pose_inverse_point(at, q->from.p);
  tn_pos displacement = dquat_rotate(dquat_conjugate(at.q), to_pos(q->displacement));
  fraction_range near = clip_to_sphere(from, displacement, s->bounding_radius + q->solid_radius);
  double left = (double)with_tie_slack(q->max_fraction) - near.start;
  if (near.length < 0.0 || left < 0.0) {
    return false;
  }
  float end = left < near.length ? (float)(left / near.length) : 1.0f;
  from = pos_add(from, pos_scale(near.start, displacement));
  displacement = pos_scale(near.length, displacement);
  float along;
  if (q->solid) {
    pose start = {to_vec3(from), world_pose_relative(at, q->from).q};
    cast_hit hit;
    if (!geometry_cast(&s->geometry, q->solid, start, to_vec3(displacement), 0.0f, end, &hit)) {
      return false;
    }
    along = hit.fraction;
    *point = to_pos(hit.point);
    *normal = hit.normal;
  } else {
    ray_hit hit;
    if (!geometry_ray(&s->geometry, to_vec3(from), to_vec3(displacement), end, &hit)) {
      return false;
    }
    along = hit.fraction;
    *point = pos_add(from, pos_scale((double)along, displacement));
    *normal = hit.normal;
  }
  *fraction = near.start + near.length * (double)along;
  return true;
}

static float keep_closest(cast_query *q, int32_t slot, const tn_hit *hit)
{
  if (!q->best.hit || hit->fraction < q->best.fraction || slot < q->best_slot) {
    q->best = *hit;
    q->best_slot = slot;
  }
  return q->best.fraction;
}

static float call_hit_callback(const cast_query *q, const tn_hit *hit)
{
  float next_fraction = q->found(hit, q->context);
  if (next_fraction == 0.0f) {
    return -1.0f;
  }
  return next_fraction > 0.0f && next_fraction < q->max_fraction ? next_fraction : q->max_fraction;
}

static void test_shape(cast_query *q, int32_t slot)
{
  const shape *s = &q->world->shapes[slot];
  double fraction;
  tn_pos point;
  tn_vec3 normal;
  world_pose at = shape_world_pose(q->world, s);
  if (!passes_query_filter(s, q->filter) || !cast_at_shape(q, s, at, &fraction, &point, &normal) ||
      (float)fraction > q->max_fraction) {
    return;
  }
  tn_hit hit = make_hit(q->world, slot, at, point, normal);
  hit.fraction = (float)fraction;
  q->max_fraction = q->found ? call_hit_callback(q, &hit) : keep_closest(q, slot, &hit);
}

static float visit_cast_shape(int32_t slot, float max_fraction, void *context)
{
  (void)max_fraction;
  cast_query *q = context;
  test_shape(q, slot);
  return with_tie_slack(q->max_fraction);
}

// ---------------------------------------------------------------------------------------------
// Soft bodies: their triangles are hit from both sides

// Fraction at which the ray meets the triangle (Möller-Trumbore), negative if it does not.
static double ray_triangle(tn_pos from, tn_pos displacement, const tn_pos *x, tn_pos *normal)
{
  tn_pos e = pos_sub(x[1], x[0]), f = pos_sub(x[2], x[0]), to = pos_sub(from, x[0]);
  *normal = pos_cross(e, f);
  double d = -pos_dot(displacement, *normal);
  if (d == 0.0) {
    return -1.0;
  }
  tn_pos c = pos_cross(to, displacement);
  double u = pos_dot(f, c) / d, v = -pos_dot(e, c) / d;
  return u < 0.0 || v < 0.0 || u + v > 1.0 ? -1.0 : pos_dot(to, *normal) / d;
}

// A triangle relative to its first vertex.
static geometry triangle_about(const tn_pos *x)
{
  geometry g = {.kind = GEOMETRY_TRIANGLE};
  for (int i = 0; i < 3; ++i) {
    g.corner[i] = to_vec3(pos_sub(x[i], x[0]));
  }
  return g;
}

static float triangle_radius(const geometry *g)
{
  return fmaxf(tn_length(g->corner[1]), tn_length(g->corner[2]));
}

// Fraction at which the solid meets the triangle, negative if it does not.
static double cast_at_triangle(const cast_query *q, const tn_pos *x, tn_hit *hit)
{
  geometry g = triangle_about(x);
  tn_pos from = pos_sub(q->from.p, x[0]), displacement = to_pos(q->displacement);
  fraction_range near = clip_to_sphere(from, displacement, triangle_radius(&g) + q->solid_radius);
  double left = (double)with_tie_slack(q->max_fraction) - near.start;
  if (near.length < 0.0 || left < 0.0) {
    return -1.0;
  }
  float end = left < near.length ? (float)(left / near.length) : 1.0f;
  pose start = {to_vec3(pos_add(from, pos_scale(near.start, displacement))),
                dquat_round(q->from.q)};
  cast_hit found;
  if (!geometry_cast(&g, q->solid, start, to_vec3(pos_scale(near.length, displacement)), 0.0f, end,
                     &found)) {
    return -1.0;
  }
  hit->point = pos_add(x[0], to_pos(found.point));
  hit->normal = found.normal;
  return near.start + near.length * (double)found.fraction;
}

static double ray_at_triangle(const cast_query *q, const tn_pos *x, tn_hit *hit)
{
  tn_pos displacement = to_pos(q->displacement), normal;
  double fraction = ray_triangle(q->from.p, displacement, x, &normal);
  double length =
      sqrt(pos_dot(normal, normal)) * (pos_dot(displacement, normal) > 0.0 ? -1.0 : 1.0);
  hit->point = pos_add(q->from.p, pos_scale(fraction, displacement));
  hit->normal = to_vec3(pos_scale(1.0 / length, normal));
  return fraction;
}

static void corners_of(const soft *s, int32_t triangle, tn_pos *x)
{
  for (int k = 0; k < 3; ++k) {
    x[k] = s->particles[s->triangles[3 * (size_t)triangle + (size_t)k]].at;
  }
}

static void cast_at_soft(cast_query *q, int32_t slot)
{
  const soft *s = &q->world->softs[slot];
  for (int32_t i = 0; i < s->triangle_count && q->max_fraction >= 0.0f; ++i) {
    tn_pos x[3];
    corners_of(s, i, x);
    tn_hit hit = miss;
    double fraction = q->solid ? cast_at_triangle(q, x, &hit) : ray_at_triangle(q, x, &hit);
    if (fraction < 0.0 || (float)fraction > q->max_fraction) {
      continue;
    }
    hit.hit = true;
    hit.soft = soft_id_at(q->world, slot);
    hit.triangle = i;
    hit.fraction = (float)fraction;
    // Shapes win ties against soft bodies.
    q->max_fraction = q->found ? call_hit_callback(q, &hit) : keep_closest(q, INT32_MAX, &hit);
  }
}

static bool aabb_meets_ray(const world_aabb *box, tn_pos from, tn_pos displacement,
                           double bounding_radius)
{
  const double lower[3] = {box->lower.x - from.x - bounding_radius,
                           box->lower.y - from.y - bounding_radius,
                           box->lower.z - from.z - bounding_radius};
  const double upper[3] = {box->upper.x - from.x + bounding_radius,
                           box->upper.y - from.y + bounding_radius,
                           box->upper.z - from.z + bounding_radius};
  const double along[3] = {displacement.x, displacement.y, displacement.z};
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

static void cast_at_softs(cast_query *q)
{
  for (int32_t i = 0; i < q->world->soft_pool.used; ++i) {
    const soft *s = &q->world->softs[i];
    if (passes_soft(s, q->filter) &&
        aabb_meets_ray(&s->box, q->from.p, to_pos(q->displacement), (double)q->solid_radius)) {
      cast_at_soft(q, i);
    }
  }
}

// The broad phase casts the AABB of the solid: its centre, which is off the origin, and half
// extents.
static void run_cast(cast_query *q)
{
  tn_pos from = q->from.p;
  tn_vec3 half = {0.0f, 0.0f, 0.0f};
  if (q->solid) {
    pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(q->from.q)};
    aabb box = geometry_aabb(q->solid, turned);
    from = tn_offset(from, tn_scale(0.5f, tn_add(box.lower, box.upper)));
    half = tn_scale(0.500001f, tn_sub(box.upper, box.lower));
  }
  q->max_fraction = 1.0f;
  tree_cast(&q->world->detection->static_tree, from, q->displacement, half,
            with_tie_slack(q->max_fraction), visit_cast_shape, q);
  tree_cast(&q->world->detection->moving_tree, from, q->displacement, half,
            with_tie_slack(q->max_fraction), visit_cast_shape, q);
  cast_at_softs(q);
}

static bool check_displacement(const tn_world *world, tn_pos from, tn_vec3 displacement,
                               const char *caller)
{
  if (!world) {
    return false;
  }
  const char *why = !is_position(from)          ? "the start is not finite or too far away"
                    : !is_finite3(displacement) ? "the way is not finite"
                                                : NULL;
  if (why) {
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return !why;
}

static tn_hit closest_on_ray(const tn_world *world, tn_pos from, tn_vec3 displacement,
                             tn_query_filter filter, const char *caller)
{
  if (!check_displacement(world, from, displacement, caller)) {
    return miss;
  }
  cast_query q = {
      .world = world, .filter = filter, .from = {from, {0, 0, 0, 1}}, .displacement = displacement};
  run_cast(&q);
  return q.best;
}

tn_hit tn_world_ray(const tn_world *world, tn_pos from, tn_vec3 displacement,
                    tn_query_filter filter)
{
  return closest_on_ray(world, from, displacement, filter, "tn_world_ray");
}

void tn_world_rays(const tn_world *world, const tn_pos *from, const tn_vec3 *displacement,
                   int count, tn_query_filter filter, tn_hit *hits)
{
  if (!world || count == 0) {
    return;
  }
  if (!from || !displacement || !hits || count < 0) {
    report(&world->log, TN_LOG_ERROR, "tn_world_rays: %s",
           count < 0 ? "the count is negative" : "from, way and hits must not be null");
    return;
  }
  for (int i = 0; i < count; ++i) {
    hits[i] = closest_on_ray(world, from[i], displacement[i], filter, "tn_world_rays");
  }
}

static bool check_callback(const tn_world *world, tn_hit_fn *hit, const char *caller)
{
  if (!hit) {
    report(&world->log, TN_LOG_ERROR, "%s: the callback is null", caller);
  }
  return hit;
}

void tn_world_ray_all(const tn_world *world, tn_pos from, tn_vec3 displacement,
                      tn_query_filter filter, tn_hit_fn *hit, void *context)
{
  const char *caller = "tn_world_ray_all";
  if (!check_displacement(world, from, displacement, caller) ||
      !check_callback(world, hit, caller)) {
    return;
  }
  cast_query q = {.world = world,
                  .filter = filter,
                  .from = {from, {0, 0, 0, 1}},
                  .displacement = displacement,
                  .found = hit,
                  .context = context};
  run_cast(&q);
}

// Geometry of a definition for a cast or overlap; false with the reason logged.
static bool check_solid(const tn_world *world, const tn_shape_def *def, tn_transform at,
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
    report(&world->log, TN_LOG_ERROR, "%s: %s", caller, why);
  }
  return !why;
}

static world_pose world_pose_from_transform(tn_transform at)
{
  return (world_pose){at.p, dquat_normalize(dquat_from(at.q))};
}

tn_hit tn_world_cast(const tn_world *world, const tn_shape_def *def, tn_transform at,
                     tn_vec3 displacement, tn_query_filter filter)
{
  const char *caller = "tn_world_cast";
  geometry g;
  if (!check_solid(world, def, at, &g, caller) ||
      !check_displacement(world, at.p, displacement, caller)) {
    return miss;
  }
  cast_query q = {.world = world,
                  .filter = filter,
                  .from = world_pose_from_transform(at),
                  .displacement = displacement,
                  .solid = &g,
                  .solid_radius = geometry_bounding_radius(&g)};
  run_cast(&q);
  return q.best;
}

void tn_world_cast_all(const tn_world *world, const tn_shape_def *def, tn_transform at,
                       tn_vec3 displacement, tn_query_filter filter, tn_hit_fn *hit, void *context)
{
  const char *caller = "tn_world_cast_all";
  geometry g;
  if (!check_solid(world, def, at, &g, caller) ||
      !check_displacement(world, at.p, displacement, caller) ||
      !check_callback(world, hit, caller)) {
    return;
  }
  cast_query q = {.world = world,
                  .filter = filter,
                  .from = world_pose_from_transform(at),
                  .displacement = displacement,
                  .solid = &g,
                  .solid_radius = geometry_bounding_radius(&g),
                  .found = hit,
                  .context = context};
  run_cast(&q);
}

// ---------------------------------------------------------------------------------------------
// Overlaps

typedef struct overlap_query {
  const tn_world *world;
  tn_query_filter filter;
  const geometry *solid; // null: `box` itself is tested
  world_pose at;
  world_aabb box;
  tn_shape_id *shapes;
  int capacity, count;
} overlap_query;

// Keeps the list sorted by slot; when it is full the highest slots are dropped.
static void add_overlap(overlap_query *q, tn_shape_id id)
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
  if (passes_query_filter(s, q->filter) &&
      geometry_overlap(&s->geometry, q->solid,
                       world_pose_relative(shape_world_pose(q->world, s), q->at))) {
    add_overlap(q, shape_id_at(q->world, slot));
  }
  return true;
}

// Tests only the intersection of the box with the shape's box: it is small, so float suffices.
static bool visit_box(int32_t slot, void *context)
{
  overlap_query *q = context;
  const shape *s = &q->world->shapes[slot];
  if (!passes_query_filter(s, q->filter)) {
    return true;
  }
  const world_aabb *a = &q->box, *b = &s->box;
  tn_pos lower = {fmax(a->lower.x, b->lower.x), fmax(a->lower.y, b->lower.y),
                  fmax(a->lower.z, b->lower.z)};
  tn_pos upper = {fmin(a->upper.x, b->upper.x), fmin(a->upper.y, b->upper.y),
                  fmin(a->upper.z, b->upper.z)};
  world_pose at = {pos_scale(0.5, pos_add(lower, upper)), {0, 0, 0, 1}};
  geometry part = {.kind = TN_SHAPE_BOX,
                   .half_extents = to_vec3(pos_scale(0.5, pos_sub(upper, lower)))};
  if (geometry_overlap(&s->geometry, &part,
                       world_pose_relative(shape_world_pose(q->world, s), at))) {
    add_overlap(q, shape_id_at(q->world, slot));
  }
  return true;
}

static int count_overlaps(overlap_query *q, tree_visit_fn *visit)
{
  if (!q->shapes) {
    q->capacity = 0;
  }
  tree_query(&q->world->detection->static_tree, q->box, visit, q);
  tree_query(&q->world->detection->moving_tree, q->box, visit, q);
  return q->count;
}

int tn_world_overlap(const tn_world *world, const tn_shape_def *def, tn_transform at,
                     tn_query_filter filter, tn_shape_id *shapes, int capacity)
{
  geometry g;
  if (!check_solid(world, def, at, &g, "tn_world_overlap")) {
    return 0;
  }
  overlap_query q = {.world = world,
                     .filter = filter,
                     .solid = &g,
                     .at = world_pose_from_transform(at),
                     .shapes = shapes,
                     .capacity = capacity};
  pose turned = {{0.0f, 0.0f, 0.0f}, dquat_round(q.at.q)};
  aabb box = geometry_aabb(&g, turned);
  q.box = (world_aabb){tn_offset(at.p, box.lower), tn_offset(at.p, box.upper)};
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
    report(&world->log, TN_LOG_ERROR,
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

// Tests triangles, or particles if there are none.
static bool soft_overlaps(const soft *s, const geometry *solid, world_pose at)
{
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    tn_pos x[3];
    corners_of(s, i, x);
    geometry g = triangle_about(x);
    world_pose frame = {x[0], {0, 0, 0, 1}};
    if (geometry_overlap(&g, solid, world_pose_relative(frame, at))) {
      return true;
    }
  }
  for (int32_t i = 0; i < s->particle_count && s->triangle_count == 0; ++i) {
    closest c;
    if (geometry_closest(solid, to_vec3(world_pose_inverse_point(at, s->particles[i].at)),
                         s->radius, &c)) {
      return true;
    }
  }
  return false;
}

// Whether a closed surface contains the point: signed crossings of a ray in +x direction.
static bool encloses(const soft *s, tn_pos point)
{
  tn_pos displacement = tn_p3(s->box.upper.x - point.x + 1.0, 0.0, 0.0), x[3], normal;
  int crossings = 0;
  for (int32_t i = 0; i < s->triangle_count; ++i) {
    corners_of(s, i, x);
    double fraction = ray_triangle(point, displacement, x, &normal);
    crossings += fraction > 0.0 ? (pos_dot(displacement, normal) > 0.0 ? 1 : -1) : 0;
  }
  return s->closed && crossings > 0;
}

int tn_world_overlap_softs(const tn_world *world, const tn_shape_def *def, tn_transform at,
                           tn_query_filter filter, tn_soft_id *softs, int capacity)
{
  geometry g;
  int count = 0;
  if (!check_solid(world, def, at, &g, "tn_world_overlap_softs")) {
    return 0;
  }
  world_pose place = world_pose_from_transform(at);
  double bounding_radius = (double)geometry_bounding_radius(&g);
  world_aabb box = {
      tn_p3(at.p.x - bounding_radius, at.p.y - bounding_radius, at.p.z - bounding_radius),
      tn_p3(at.p.x + bounding_radius, at.p.y + bounding_radius, at.p.z + bounding_radius)};
  for (int32_t i = 0; i < world->soft_pool.used; ++i) {
    const soft *s = &world->softs[i];
    if (passes_soft(s, filter) && aabbs_overlap(&box, &s->box) &&
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
  if (!passes_query_filter(s, q->filter)) {
    return max_distance;
  }
  world_pose at = shape_world_pose(q->world, s);
  closest c;
  if (!geometry_closest(&s->geometry, to_vec3(world_pose_inverse_point(at, q->point)), max_distance,
                        &c)) {
    return max_distance;
  }
  bool tie = q->best.hit && c.distance == q->best.distance;
  if (!q->best.hit || c.distance < q->best.distance || (tie && slot < q->best_slot)) {
    q->best = make_hit(q->world, slot, at, to_pos(c.point), c.normal);
    q->best.distance = c.distance;
    q->best_slot = slot;
  }
  // Inside several shapes (negative distances) the deepest one wins: do not narrow below zero.
  return with_tie_slack(fmaxf(q->best.distance, 0.0f));
}

tn_hit tn_world_closest_point(const tn_world *world, tn_pos point, float distance,
                              tn_query_filter filter)
{
  if (!world) {
    return miss;
  }
  if (!is_position(point) || !(distance >= 0.0f)) {
    report(&world->log, TN_LOG_ERROR, "tn_world_closest_point: %s",
           is_position(point) ? "the distance must not be negative"
                              : "the point is not finite or too far away");
    return miss;
  }
  closest_query q = {.world = world, .filter = filter, .point = point};
  tree_nearest(&world->detection->static_tree, point, distance, visit_closest, &q);
  float left = q.best.hit ? with_tie_slack(fmaxf(q.best.distance, 0.0f)) : distance;
  tree_nearest(&world->detection->moving_tree, point, left, visit_closest, &q);
  return q.best;
}
