// Data for drawing: shapes and their poses, joints, contacts, debug lines.
#include "gallery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Numbers per item; engine.js has the order of each.
#define ITEM_NUMBERS 10
#define JOINT_NUMBERS 25
#define CONTACT_NUMBERS 10
#define LINE_NUMBERS 7 // the last as bits: red, green, blue, alpha

static int handed_out;

// Number of items in the last array.
EXPORT(count) int page_count(void)
{
  return handed_out;
}

static void put_vector(float **to, tn_vec3 v)
{
  *(*to)++ = v.x;
  *(*to)++ = v.y;
  *(*to)++ = v.z;
}

static void put_position(float **to, tn_pos p)
{
  put_vector(to, tn_v3((float)p.x, (float)p.y, (float)p.z));
}

// ---------------------------------------------------------------------------------------------
// Shapes, sorted so that equal ones are adjacent

static int compare(float a, float b)
{
  return (a > b) - (a < b);
}

static int compare_items(const void *left, const void *right)
{
  const item *a = left, *b = right;
  if (a->kind != b->kind) {
    return a->kind - b->kind;
  }
  if (a->geometry != b->geometry) {
    return a->geometry - b->geometry;
  }
  if (a->geometry >= 0 && compare(a->radius, b->radius) != 0) {
    return compare(a->radius, b->radius);
  }
  return a->order - b->order;
}

static item item_of_shape(const tn_world *world, tn_shape_id id)
{
  tn_shape_def def = tn_shape_get_def(world, id);
  item out = {.kind = (int)def.kind,
              .geometry = (int)def.geometry.index - 1,
              .id = tn_shape_body(world, id),
              .shape = id,
              .sensor = def.sensor,
              .position = def.position,
              .rotation = def.rotation,
              .radius = def.radius,
              .half_length = def.half_length,
              .half_extents = def.half_extents};
  return out;
}

// Bodies without shapes are drawn as the box of their mass and moments of inertia.
static item item_of_body(const scene_run *run, int index)
{
  tn_mass mass = tn_body_mass(run->world, run->bodies[index]);
  item out = {.kind = TN_SHAPE_BOX,
              .geometry = -1,
              .id = run->bodies[index],
              .position = mass.center,
              .rotation = tn_quat_identity(),
              .half_extents = scene_body_box(run, index)};
  return out;
}

static void add_item(slot *here, item thing)
{
  bool of_world = TN_IS_NULL(thing.id);
  thing.body = of_world ? -1 : (int)thing.id.index;
  thing.type = of_world ? TN_BODY_STATIC : (int)tn_body_get_type(here->run->world, thing.id);
  thing.order = here->item_count;
  here->items[here->item_count++] = thing;
}

static bool needs_box(const scene_run *run, int index)
{
  tn_body_id id = run->bodies[index];
  return tn_body_is_valid(run->world, id) && tn_body_shapes(run->world, id, NULL, 0) == 0;
}

static void list_items(slot *here)
{
  const scene_run *run = here->run;
  int shapes = tn_world_shapes(run->world, NULL, 0);
  tn_shape_id *ids = gallery_memory(FOR_IDS, (size_t)(shapes + 1) * sizeof *ids);
  tn_world_shapes(run->world, ids, shapes);
  free(here->items);
  here->items = malloc((size_t)(shapes + run->body_count + 1) * sizeof *here->items);
  here->item_count = 0;
  if (!here->items) {
    __builtin_trap();
  }
  for (int i = 0; i < shapes; ++i) {
    add_item(here, item_of_shape(run->world, ids[i]));
  }
  for (int i = 0; i < run->body_count; ++i) {
    if (needs_box(run, i)) {
      add_item(here, item_of_body(run, i));
    }
  }
  qsort(here->items, (size_t)here->item_count, sizeof *here->items, compare_items);
  here->drawn = tn_world_counters(run->world);
  here->dirty = false;
}

// Whether the list of items is out of date.
EXPORT(changed) int page_changed(int s)
{
  tn_counters now = tn_world_counters(slots[s].run->world);
  return slots[s].dirty || now.shapes != slots[s].drawn.shapes ||
         now.bodies != slots[s].drawn.bodies || now.softs != slots[s].drawn.softs;
}

EXPORT(items) const float *page_items(int s)
{
  slot *here = &slots[s];
  list_items(here);
  size_t size = (size_t)(here->item_count + 1) * ITEM_NUMBERS * sizeof(float);
  float *out = gallery_memory(FOR_FLOATS, size), *to = out;
  for (int i = 0; i < here->item_count; ++i) {
    const item *thing = &here->items[i];
    *to++ = (float)thing->kind;
    *to++ = (float)thing->geometry;
    *to++ = (float)thing->body;
    *to++ = (float)thing->type;
    *to++ = thing->sensor ? 1.0f : 0.0f;
    *to++ = thing->radius;
    *to++ = thing->half_length;
    put_vector(&to, thing->half_extents);
  }
  handed_out = here->item_count;
  return out;
}

EXPORT(surface) const float *page_surface(int s, int i)
{
  const tn_world *world = slots[s].run->world;
  const item *thing = &slots[s].items[i];
  tn_geometry_id none = {0, 0, 0};
  bool shared = thing->geometry >= 0;
  return surface_of(world, shared ? tn_shape_get_def(world, thing->shape).geometry : none,
                    thing->radius);
}

static tn_transform item_place(const tn_world *world, const item *thing)
{
  tn_transform at = {{0.0, 0.0, 0.0}, tn_quat_identity()};
  if (!TN_IS_NULL(thing->id)) {
    at = tn_body_transform(world, thing->id);
  }
  tn_transform out = {tn_offset(at.p, tn_rotate(at.q, thing->position)),
                      tn_quat_mul(at.q, thing->rotation)};
  return out;
}

static void put_matrix(float **to, tn_transform at, tn_vec3 scale)
{
  tn_vec3 axes[3] = {{scale.x, 0.0f, 0.0f}, {0.0f, scale.y, 0.0f}, {0.0f, 0.0f, scale.z}};
  for (int i = 0; i < 3; ++i) {
    put_vector(to, tn_rotate(at.q, axes[i]));
    *(*to)++ = 0.0f;
  }
  put_position(to, at.p);
  *(*to)++ = 1.0f;
}

// Column-major. Only cones are scaled by the matrix: other shapes have their size in the geometry.
EXPORT(matrices) const float *page_matrices(int s)
{
  const slot *here = &slots[s];
  size_t size = (size_t)(here->item_count + 1) * 16 * sizeof(float);
  float *out = gallery_memory(FOR_FLOATS, size), *to = out;
  for (int i = 0; i < here->item_count; ++i) {
    const item *thing = &here->items[i];
    tn_vec3 scale = tn_v3(1.0f, 1.0f, 1.0f);
    if (thing->kind == TN_SHAPE_CONE) {
      scale = tn_v3(thing->radius, thing->half_length, thing->radius);
    }
    put_matrix(&to, item_place(here->run->world, thing), scale);
  }
  handed_out = here->item_count;
  return out;
}

// A byte for each item: 1 if it sleeps.
EXPORT(asleep) const uint8_t *page_asleep(int s)
{
  const slot *here = &slots[s];
  uint8_t *out = gallery_memory(FOR_IDS, (size_t)here->item_count + 1);
  for (int i = 0; i < here->item_count; ++i) {
    const item *thing = &here->items[i];
    out[i] = thing->type == TN_BODY_DYNAMIC && !tn_body_is_awake(here->run->world, thing->id);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------
// Joints and contacts

static tn_pos end_of(const tn_world *world, tn_body_id body, const tn_transform *frame)
{
  tn_vec3 local = tn_v3((float)frame->p.x, (float)frame->p.y, (float)frame->p.z);
  return TN_IS_NULL(body) ? frame->p : tn_body_world_point(world, body, local);
}

static void put_joint(float **to, const tn_world *world, tn_joint_id id)
{
  tn_joint_def def = tn_joint_get_def(world, id);
  tn_joint_state state = tn_joint_get_state(world, id);
  tn_pos a = end_of(world, def.body_a, &def.frame_a), b = end_of(world, def.body_b, &def.frame_b);
  tn_vec3 axis = tn_rotate(def.frame_a.q, tn_v3(1.0f, 0.0f, 0.0f));
  if (!TN_IS_NULL(def.body_a)) {
    axis = tn_rotate(tn_body_rotation(world, def.body_a), axis);
  }
  put_position(to, a);
  put_position(to, b);
  put_vector(to, axis);
  put_vector(to, state.force);
  put_vector(to, state.torque);
  *(*to)++ = state.elongation;
  *(*to)++ = state.angular_error;
  *(*to)++ = (float)def.kind;
  *(*to)++ = def.user_data ? 1.0f : state.broken || !def.enabled ? 2.0f : 0.0f;
  put_position(to, TN_IS_NULL(def.body_a) ? a : tn_body_center(world, def.body_a));
  put_position(to, TN_IS_NULL(def.body_b) ? b : tn_body_center(world, def.body_b));
}

EXPORT(joints) const float *page_joints(int s)
{
  const tn_world *world = slots[s].run->world;
  int total = tn_world_joints(world, NULL, 0);
  tn_joint_id *ids = gallery_memory(FOR_IDS, (size_t)(total + 1) * sizeof *ids);
  tn_world_joints(world, ids, total);
  float *out = gallery_memory(FOR_FLOATS, (size_t)(total + 1) * JOINT_NUMBERS * sizeof *out);
  float *to = out;
  for (int i = 0; i < total; ++i) {
    put_joint(&to, world, ids[i]);
  }
  handed_out = total;
  return out;
}

static void put_contact(float **to, const tn_contact *c, int point)
{
  put_position(to, c->points[point].position);
  put_vector(to, tn_scale(c->points[point].normal_force, c->normal));
  put_vector(to, tn_scale(1.0f / (float)c->count, c->friction_force));
  *(*to)++ = c->points[point].gap;
}

EXPORT(contacts) const float *page_contacts(int s)
{
  const tn_world *world = slots[s].run->world;
  int total = tn_world_contacts(world, NULL, 0);
  tn_contact *list = gallery_memory(FOR_IDS, (size_t)(total + 1) * sizeof *list);
  tn_world_contacts(world, list, total);
  float *out = gallery_memory(FOR_FLOATS, (size_t)(total + 1) * 4 * CONTACT_NUMBERS * sizeof *out);
  float *to = out;
  handed_out = 0;
  for (int i = 0; i < total; ++i) {
    for (int k = 0; k < list[i].count; ++k) {
      put_contact(&to, &list[i], k);
      handed_out += 1;
    }
  }
  return out;
}

// ---------------------------------------------------------------------------------------------
// Debug lines

typedef struct line_list {
  float *numbers;
  size_t capacity;
} line_list;

static void take_line(tn_pos from, tn_pos to, uint32_t rgba, void *context)
{
  line_list *list = context;
  size_t used = (size_t)handed_out * LINE_NUMBERS;
  if (used + LINE_NUMBERS > list->capacity) {
    size_t capacity = 2 * list->capacity + 1024 * LINE_NUMBERS;
    float *more = realloc(list->numbers, capacity * sizeof *more);
    if (!more) {
      return;
    }
    list->numbers = more;
    list->capacity = capacity;
  }
  float *at = list->numbers + used;
  put_position(&at, from);
  put_position(&at, to);
  memcpy(at, &rgba, sizeof rgba);
  handed_out += 1;
}

// Lines of the library's debug draw: 1 shapes, 2 limits, 4 boxes, 8 islands, 16 colours.
EXPORT(lines) const float *page_lines(int s, int what)
{
  static line_list list;
  tn_debug_draw draw = {.line = take_line,
                        .shapes = what & 1,
                        .limits = what & 2,
                        .boxes = what & 4,
                        .islands = what & 8,
                        .colors = what & 16,
                        .context = &list};
  handed_out = 0;
  tn_world_draw(slots[s].run->world, &draw);
  return list.numbers;
}
