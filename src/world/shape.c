// Shapes: the collision geometry of bodies, with material and filter.
#include "collide/distance.h"
#include "data/events.h"
#include "data/ids.h"
#include "data/recorder.h"
#include "data/wake.h"
#include "data/world.h"
#include "detect/broad_phase.h"
#include "detect/detection.h"
#include "detect/soft_contacts.h"
#include "kernel/ranges.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Definitions

tn_material tn_default_material(void)
{
  tn_material m = {0};
  m.static_friction = m.dynamic_friction = 0.6f;
  return m;
}

tn_shape_def tn_default_shape_def(tn_shape_kind kind)
{
  tn_shape_def def = {0};
  def.kind = kind;
  def.rotation = tn_quat_identity();
  def.radius = 0.5f;
  def.half_length = 0.5f;
  def.half_extents = tn_v3(0.5f, 0.5f, 0.5f);
  def.material = tn_default_material();
  def.filter.category = 1;
  def.filter.mask = UINT64_MAX;
  def.density = 1000.0f;
  def.cookie = DEF_COOKIE;
  return def;
}

static bool is_valid_length(float x)
{
  return x >= 1e-6f && x <= 1e6f; // m; false for NaN
}

static const char *shape_size_error(const tn_shape_def *def)
{
  switch (def->kind) {
  case TN_SHAPE_SPHERE:
  case TN_SHAPE_WIRE:
    return is_valid_length(def->radius) ? NULL : "radius must be from 1e-6 to 1e6 m";
  case TN_SHAPE_CAPSULE:
  case TN_SHAPE_CYLINDER:
  case TN_SHAPE_CONE:
    return is_valid_length(def->radius) && is_valid_length(def->half_length)
               ? NULL
               : "radius and half_length must be from 1e-6 to 1e6 m";
  case TN_SHAPE_BOX:
    return is_valid_length(def->half_extents.x) && is_valid_length(def->half_extents.y) &&
                   is_valid_length(def->half_extents.z)
               ? NULL
               : "half_extents must be from 1e-6 to 1e6 m";
  default:
    return NULL;
  }
}

static bool is_in_range(float x, float most)
{
  return x >= 0.0f && x <= most;
}

const char *material_error(const tn_material *m)
{
  if (!is_in_range(m->static_friction, 1e6f) ||
      !is_in_range(m->dynamic_friction, m->static_friction)) {
    return "friction must be non-negative, the dynamic not above the static";
  }
  if (!is_in_range(m->restitution, 1.0f)) {
    return "restitution must be from 0 to 1";
  }
  if (!is_in_range(m->rolling_friction, 1e6f) || !is_in_range(m->spinning_friction, 1e6f)) {
    return "rolling and spinning friction must be non-negative and finite";
  }
  if (!is_in_range(m->compliance, 1e6f)) {
    return "compliance must be non-negative and finite";
  }
  if (!is_rate(m->surface_velocity)) {
    return "surface velocity is not finite or too large";
  }
  bool known =
      m->combine_friction >= TN_COMBINE_AVERAGE && m->combine_friction <= TN_COMBINE_MAXIMUM &&
      m->combine_restitution >= TN_COMBINE_AVERAGE && m->combine_restitution <= TN_COMBINE_MAXIMUM;
  return known ? NULL : "unknown way to combine materials";
}

static bool needs_geometry(tn_shape_kind kind)
{
  return kind == TN_SHAPE_HULL || kind == TN_SHAPE_MESH || kind == TN_SHAPE_HEIGHT_FIELD ||
         kind == TN_SHAPE_WIRE;
}

static void bind_geometry(const shared_geometry *shared, geometry *g)
{
  switch (shared->kind) {
  case TN_SHAPE_HULL:
    g->hull = shared->data;
    break;
  case TN_SHAPE_MESH:
    g->mesh = shared->data;
    break;
  case TN_SHAPE_HEIGHT_FIELD:
    g->field = shared->data;
    break;
  default:
    g->wire = shared->data;
    break;
  }
}

static const char *why_bad_kind(const tn_shape_def *def)
{
  if (def->cookie != DEF_COOKIE) {
    return "the definition does not come from tn_default_shape_def";
  }
  if ((int)def->kind < 0 || def->kind >= TN_SHAPE_KIND_COUNT) {
    return "unknown kind of shape";
  }
  return shape_size_error(def);
}

const char *geometry_of_def(const tn_world *world, const tn_shape_def *def, geometry *g)
{
  memset(g, 0, sizeof *g);
  if (why_bad_kind(def)) {
    return why_bad_kind(def);
  }
  g->kind = (int)def->kind;
  g->radius = def->radius;
  g->half_length = def->half_length;
  g->half_extents = def->half_extents;
  if (!needs_geometry(def->kind)) {
    return NULL;
  }
  const char *why;
  const shared_geometry *shared = geometry_find(world, def->geometry, &why);
  if (!shared) {
    return why;
  }
  if (shared->kind != (int)def->kind) {
    return "the geometry is of another kind than the shape";
  }
  bind_geometry(shared, g);
  return NULL;
}

static bool kind_can_be_dynamic(int kind)
{
  return kind_has_volume(kind) || kind == TN_SHAPE_WIRE;
}

bool shape_has_mass(const shape *s)
{
  return !s->def.sensor && kind_has_volume(s->geometry.kind);
}

bool shape_can_be_dynamic(const shape *s)
{
  return kind_can_be_dynamic(s->geometry.kind);
}

const char *shape_def_problem(const tn_shape_def *def)
{
  if (why_bad_kind(def)) {
    return why_bad_kind(def);
  }
  if (!is_offset(def->position) || !is_rotation(def->rotation)) {
    return "the place in the body is not finite, too far away or not a rotation";
  }
  if (material_error(&def->material)) {
    return material_error(&def->material);
  }
  if (!(def->density > 0.0f) || !isfinite(def->density)) {
    return "density must be positive and finite";
  }
  return NULL;
}

static const char *shape_def_error(const tn_world *world, const body *b, const tn_shape_def *def,
                                   geometry *g)
{
  const char *why = geometry_of_def(world, def, g);
  why = why ? why : shape_def_problem(def);
  if (why) {
    return why;
  }
  if (b->type == TN_BODY_DYNAMIC && !kind_can_be_dynamic((int)def->kind)) {
    return "planes, meshes and height fields cannot move: use hulls on a dynamic body";
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Poses and boxes

// From the frame of the definition, the body's, to its centre of mass and principal axes.
static void update_local_pose(const tn_world *world, shape *s)
{
  const body *b = &world->bodies[s->body];
  dquat to_principal = dquat_conjugate(b->local_principal);
  tn_pos p = {(double)s->def.position.x, (double)s->def.position.y, (double)s->def.position.z};
  s->local_position = dquat_rotate(to_principal, pos_sub(p, b->local_center));
  s->local_rotation = dquat_mul(to_principal, dquat_normalize(dquat_from(s->def.rotation)));
}

bool tn_shape_box(const tn_world *world, tn_shape_id id, tn_pos *lower, tn_pos *upper)
{
  const shape *s = shape_find(world, id, "tn_shape_box");
  if (!s || !lower || !upper) {
    return false;
  }
  world_aabb box = shape_tight_aabb(world, s);
  *lower = box.lower;
  *upper = box.upper;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Trees

static tree *tree_of(tn_world *world, const shape *s)
{
  return s->is_static ? &world->detection->static_tree : &world->detection->moving_tree;
}

static bool insert_in_tree(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  s->is_static = world->bodies[s->body].type == TN_BODY_STATIC;
  s->box = shape_tight_aabb(world, s);
  s->box_slack = s->box_sweep = 0.0f;
  return tree_insert(&world->heap, tree_of(world, s), s->box, s->def.filter.category, slot,
                     &s->tree_leaf);
}

static void remove_from_tree(tn_world *world, shape *s)
{
  if (s->tree_leaf != NO_SLOT) {
    tree_remove(tree_of(world, s), s->tree_leaf);
    s->tree_leaf = NO_SLOT;
  }
}

bool shapes_refresh(tn_world *world, int32_t body_slot)
{
  bool ok = true;
  for (int32_t i = world->bodies[body_slot].first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    shape *s = &world->shapes[i];
    update_local_pose(world, s);
    remove_from_tree(world, s);
    ok = insert_in_tree(world, i) && ok;
    shape_invalidate_pairs(world, i);
  }
  return ok;
}

// A restore must not fail halfway: shapes_reserve_trees() allocates, then shapes_rebuild_trees()
// cannot fail.
bool shapes_reserve_trees(tn_world *world, int32_t count)
{
  return tree_reserve(&world->heap, &world->detection->static_tree, count) &&
         tree_reserve(&world->heap, &world->detection->moving_tree, count);
}

void shapes_rebuild_trees(tn_world *world)
{
  tree_clear(&world->detection->static_tree);
  tree_clear(&world->detection->moving_tree);
  for (int32_t i = 0; i < world->shape_pool.used; ++i) {
    shape *s = &world->shapes[i];
    if (s->alive) {
      s->def.geometry.world = s->shared == NO_SLOT ? 0 : world->world_id;
      geometry_of_def(world, &s->def, &s->geometry);
      s->bounding_radius = geometry_bounding_radius(&s->geometry);
      s->inner_radius = geometry_inner_radius(&s->geometry);
      tree_insert(&world->heap, tree_of(world, s), s->box, s->def.filter.category, i,
                  &s->tree_leaf);
    }
  }
  // Inserting all leaves anew has done most of the optimisation.
  world->detection->tree_reinsert_debt = world->detection->moving_tree.used / 4;
}

// ---------------------------------------------------------------------------------------------
// Create and destroy

static void fill(tn_world *world, int32_t slot, int32_t body_slot, const tn_shape_def *def,
                 const geometry *g)
{
  shape *s = &world->shapes[slot];
  uint32_t generation = s->generation;
  memset(s, 0, sizeof *s);
  s->generation = generation;
  s->body = body_slot;
  s->def = *def;
  s->geometry = *g;
  s->shared = needs_geometry(def->kind) ? (int32_t)def->geometry.index - 1 : NO_SLOT;
  s->tree_leaf = NO_SLOT;
  s->first_pair = NO_SLOT;
  update_local_pose(world, s);
  s->bounding_radius = geometry_bounding_radius(g);
  s->inner_radius = geometry_inner_radius(g);
}

// Append, so that shapes are listed in the order of creation.
static void append_to_body(tn_world *world, int32_t slot)
{
  int32_t *link = &world->bodies[world->shapes[slot].body].first_shape;
  while (*link != NO_SLOT) {
    link = &world->shapes[*link].next;
  }
  *link = slot;
  world->shapes[slot].next = NO_SLOT;
}

static tn_shape_id reject(const tn_world *world, const char *why)
{
  tn_shape_id null = {0};
  report(&world->log, TN_LOG_ERROR, "tn_shape_create: %s", why);
  return null;
}

tn_shape_id tn_shape_create(tn_world *world, tn_body_id id, const tn_shape_def *def)
{
  RECORD(world, tn_shape_create, &id, def);
  tn_shape_id null = {0};
  body *b = NULL;
  if (world) {
    b = TN_IS_NULL(id) ? &world->bodies[WORLD_SLOT] : body_find(world, id, "tn_shape_create");
  }
  if (!b) {
    return null;
  }
  geometry g;
  const char *why = def ? shape_def_error(world, b, def, &g) : "the definition is null";
  if (why) {
    return reject(world, why);
  }
  int32_t used = world->shape_pool.used;
  int32_t slot = pool_alloc(&world->heap, &world->shape_pool, (void **)&world->shapes,
                            sizeof(shape), offsetof(shape, next_free));
  if (slot == NO_SLOT) {
    return reject(world, "out of memory");
  }
  fill(world, slot, body_slot(world, b), def, &g);
  shape *s = &world->shapes[slot];
  if (!insert_in_tree(world, slot)) {
    pool_cancel(&world->shape_pool, world->shapes, sizeof(shape), offsetof(shape, next_free), slot,
                used);
    return reject(world, "out of memory");
  }
  s->alive = true;
  append_to_body(world, slot);
  if (s->shared != NO_SLOT) {
    world->geometries[s->shared].users += 1;
  }
  shape_invalidate_pairs(world, slot);
  body_wake(world, s->body);
  body_mass_add_shape(world, s->body, slot);
  return shape_id_at(world, slot);
}

static void unlink_from_body(tn_world *world, int32_t slot)
{
  int32_t *link = &world->bodies[world->shapes[slot].body].first_shape;
  while (*link != slot) {
    link = &world->shapes[*link].next;
  }
  *link = world->shapes[slot].next;
}

void shape_remove(tn_world *world, int32_t slot)
{
  shape *s = &world->shapes[slot];
  shape_remove_pairs(world, slot);
  contact_events_remove_of(world, slot);
  soft_contacts_remove_shape(world, slot);
  remove_from_tree(world, s);
  unlink_from_body(world, slot);
  if (s->shared != NO_SLOT) {
    world->geometries[s->shared].users -= 1;
  }
  s->alive = s->pairs_pending = false;
  world->detection->pending_shapes_changed = true; // it may be in the list
  s->generation += 1;
  pool_free(&world->shape_pool, world->shapes, sizeof(shape), offsetof(shape, next_free), slot);
}

bool tn_shape_destroy(tn_world *world, tn_shape_id id)
{
  RECORD(world, tn_shape_destroy, &id);
  shape *s = shape_find(world, id, "tn_shape_destroy");
  if (!s) {
    return false;
  }
  int32_t body_slot = s->body;
  bool had_mass = shape_has_mass(s);
  body_wake(world, body_slot);
  shape_remove(world, (int32_t)(s - world->shapes));
  if (had_mass) {
    body_mass_refresh(world, body_slot);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Getters and setters

tn_shape_def tn_shape_get_def(const tn_world *world, tn_shape_id id)
{
  const shape *s = shape_find(world, id, "tn_shape_get_def");
  return s ? s->def : (tn_shape_def){0};
}

// Replaces everything but the kind. Sizes and place take effect as if the shape were new.
static void replace(tn_world *world, shape *s, const tn_shape_def *def, const geometry *g)
{
  int32_t slot = (int32_t)(s - world->shapes);
  shape_remove_pairs(world, slot);
  contact_events_remove_of(world, slot);
  soft_contacts_remove_shape(world, slot);
  remove_from_tree(world, s);
  if (s->shared != NO_SLOT) {
    world->geometries[s->shared].users -= 1;
    s->shared = (int32_t)def->geometry.index - 1;
    world->geometries[s->shared].users += 1;
  }
  s->def = *def;
  s->geometry = *g;
  update_local_pose(world, s);
  s->bounding_radius = geometry_bounding_radius(g);
  s->inner_radius = geometry_inner_radius(g);
  insert_in_tree(world, slot); // cannot fail: a leaf has just been freed
  shape_invalidate_pairs(world, slot);
  world->material_version += 1;
  body_wake(world, s->body);
  body_mass_refresh(world, s->body);
}

bool tn_shape_set_def(tn_world *world, tn_shape_id id, const tn_shape_def *def)
{
  RECORD(world, tn_shape_set_def, &id, def);
  shape *s = shape_find(world, id, "tn_shape_set_def");
  if (!s) {
    return false;
  }
  geometry g;
  const char *why =
      def ? shape_def_error(world, &world->bodies[s->body], def, &g) : "the definition is null";
  if (!why && def->kind != s->def.kind) {
    why = "the kind of a shape cannot change";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_shape_set_def: %s", why);
    return false;
  }
  replace(world, s, def, &g);
  return true;
}

void *tn_shape_user_data(const tn_world *world, tn_shape_id id)
{
  const shape *s = shape_find(world, id, "tn_shape_user_data");
  return s ? s->def.user_data : NULL;
}

bool tn_shape_set_user_data(tn_world *world, tn_shape_id id, void *data)
{
  shape *s = shape_find(world, id, "tn_shape_set_user_data");
  if (s) {
    s->def.user_data = data;
  }
  return s != NULL;
}

tn_material tn_shape_material(const tn_world *world, tn_shape_id id)
{
  const shape *s = shape_find(world, id, "tn_shape_material");
  return s ? s->def.material : (tn_material){0};
}

tn_filter tn_shape_filter(const tn_world *world, tn_shape_id id)
{
  const shape *s = shape_find(world, id, "tn_shape_filter");
  return s ? s->def.filter : (tn_filter){0};
}

tn_body_id tn_shape_body(const tn_world *world, tn_shape_id id)
{
  tn_body_id none = {0};
  const shape *s = shape_find(world, id, "tn_shape_body");
  return s && s->body != WORLD_SLOT ? body_id_at(world, s->body) : none;
}

bool tn_shape_set_material(tn_world *world, tn_shape_id id, tn_material material)
{
  RECORD(world, tn_shape_set_material, &id, &material);
  shape *s = shape_find(world, id, "tn_shape_set_material");
  if (!s) {
    return false;
  }
  const char *why = material_error(&material);
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_shape_set_material: %s", why);
    return false;
  }
  s->def.material = material;
  world->material_version += 1;
  body_wake(world, s->body);
  return true;
}

bool tn_shape_set_filter(tn_world *world, tn_shape_id id, tn_filter filter)
{
  RECORD(world, tn_shape_set_filter, &id, &filter);
  shape *s = shape_find(world, id, "tn_shape_set_filter");
  if (!s) {
    return false;
  }
  int32_t slot = (int32_t)(s - world->shapes);
  s->def.filter = filter;
  tree_set_category(tree_of(world, s), s->tree_leaf, filter.category);
  shape_remove_pairs(world, slot);
  shape_invalidate_pairs(world, slot);
  body_wake(world, s->body);
  return true;
}

int tn_body_shapes(const tn_world *world, tn_body_id id, tn_shape_id *ids, int capacity)
{
  const body *b = NULL;
  if (world) {
    b = TN_IS_NULL(id) ? &world->bodies[WORLD_SLOT] : body_find(world, id, "tn_body_shapes");
  }
  int count = 0;
  for (int32_t i = b ? b->first_shape : NO_SLOT; i != NO_SLOT; i = world->shapes[i].next) {
    if (ids && count < capacity) {
      ids[count] = shape_id_at(world, i);
    }
    count += 1;
  }
  return count;
}
