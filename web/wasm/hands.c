// Interaction: picking, dragging, pinning, deleting, creating.
#include "gallery.h"

#include <math.h>
#include <string.h>

// User data of the page's own joints.
static char hand_mark, pin_mark;

// ---------------------------------------------------------------------------------------------
// Picking

static float picked_point[3];

EXPORT(picked) const float *page_picked(void)
{
  return picked_point;
}

// Distance along a ray to an axis-aligned box about the origin; infinite if it misses.
static float box_entry(tn_vec3 from, tn_vec3 way, tn_vec3 half)
{
  float o[3] = {from.x, from.y, from.z}, d[3] = {way.x, way.y, way.z};
  float h[3] = {half.x, half.y, half.z};
  float first = 0.0f, last = INFINITY;
  for (int i = 0; i < 3; ++i) {
    float wide = fmaxf(h[i], 0.02f); // makes thin rods easier to pick
    if (d[i] == 0.0f) {
      if (fabsf(o[i]) > wide) {
        return INFINITY;
      }
      continue;
    }
    float near = (-wide - o[i]) / d[i], far = (wide - o[i]) / d[i];
    first = fmaxf(first, fminf(near, far));
    last = fminf(last, fmaxf(near, far));
  }
  return first <= last ? first : INFINITY;
}

static float ray_to_body(const tn_world *world, const item *thing, tn_pos from, tn_vec3 way)
{
  tn_transform at = tn_body_transform(world, thing->id);
  tn_quat back = tn_quat_conjugate(at.q);
  tn_vec3 local = tn_sub(tn_rotate(back, tn_between_points(at.p, from)), thing->position);
  return box_entry(local, tn_rotate(back, way), thing->half_extents);
}

static int item_of(const slot *here, tn_shape_id shape)
{
  for (int i = 0; i < here->item_count; ++i) {
    if (TN_SAME_ID(here->items[i].shape, shape)) {
      return i;
    }
  }
  return -1;
}

// The first item hit by a ray, or -1, or a SOFT_ITEM; `picked` is the point.
EXPORT(pick) int page_pick(int s, double x, double y, double z, float dx, float dy, float dz)
{
  const slot *here = &slots[s];
  const tn_world *world = here->run->world;
  tn_pos from = tn_p3(x, y, z);
  tn_vec3 way = tn_v3(dx, dy, dz);
  tn_hit hit = tn_world_ray(world, from, way, tn_default_query_filter());
  float nearest = hit.hit ? hit.fraction : 1.0f;
  int found = hit.hit ? item_of(here, hit.shape) : -1;
  for (int i = 0; i < here->item_count; ++i) {
    const item *thing = &here->items[i];
    if (TN_IS_NULL(thing->shape)) {
      float at = ray_to_body(world, thing, from, way);
      if (at < nearest) {
        nearest = at;
        found = i;
      }
    }
  }
  int soft = hand_soft_pick(world, &hit, from, way, &nearest);
  found = soft < 0 ? found : SOFT_ITEM(soft);
  tn_pos point = tn_offset(from, tn_scale(nearest, way));
  picked_point[0] = (float)point.x;
  picked_point[1] = (float)point.y;
  picked_point[2] = (float)point.z;
  return found;
}

EXPORT(mass_of) float page_mass_of(int s, int i)
{
  if (i < -1) {
    return hand_soft_mass(slots[s].run->world, SOFT_ITEM(i));
  }
  const item *thing = &slots[s].items[i];
  return thing->type == TN_BODY_DYNAMIC ? tn_body_mass(slots[s].run->world, thing->id).mass : 0.0f;
}

// ---------------------------------------------------------------------------------------------
// Holding

static tn_joint_id hold_at(int s, int i, tn_pos point, tn_joint_kind kind, void *mark,
                           float compliance)
{
  tn_world *world = slots[s].run->world;
  tn_body_id body = slots[s].items[i].id;
  tn_joint_def def = tn_default_joint_def(kind);
  def.body_b = body;
  tn_joint_def_at(world, &def, point, tn_v3(0.0f, 1.0f, 0.0f));
  def.compliance = compliance;
  def.user_data = mark;
  def.collide = true;
  tn_body_set_awake(world, body, true);
  return tn_joint_create(world, &def);
}

EXPORT(grab) int page_grab(int s, int i, double x, double y, double z, float compliance)
{
  if (i < -1) {
    return hand_soft_grab(s, SOFT_ITEM(i), tn_p3(x, y, z), compliance);
  }
  if (slots[s].items[i].type != TN_BODY_DYNAMIC) {
    return false;
  }
  slots[s].hold = hold_at(s, i, tn_p3(x, y, z), TN_JOINT_BALL, &hand_mark, compliance);
  return !TN_IS_NULL(slots[s].hold);
}

static bool is_holding_soft(const slot *here)
{
  return !TN_IS_NULL(here->soft_hold) && tn_attachment_is_valid(here->run->world, here->soft_hold);
}

static bool is_holding(const slot *here)
{
  return !TN_IS_NULL(here->hold) && tn_joint_is_valid(here->run->world, here->hold);
}

// Damping of the pulling spring, as large as a step allows.
static void calm(tn_world *world, const tn_joint_def *def)
{
  float mass = tn_body_mass(world, def->body_b).mass;
  tn_vec3 local = tn_v3((float)def->frame_b.p.x, (float)def->frame_b.p.y, (float)def->frame_b.p.z);
  tn_pos point = tn_body_world_point(world, def->body_b, local);
  float damping = fminf(0.7f * sqrtf(mass / def->compliance), 0.25f * mass / FRAME);
  tn_vec3 velocity = tn_body_point_velocity(world, def->body_b, point);
  tn_body_apply_force(world, def->body_b, tn_scale(-damping, velocity), point);
}

// Call before every step while something is held.
EXPORT(drag_to) void page_drag_to(int s, double x, double y, double z)
{
  if (is_holding(&slots[s])) {
    tn_world *world = slots[s].run->world;
    tn_joint_def def = tn_joint_get_def(world, slots[s].hold);
    tn_joint_set_anchor(world, slots[s].hold, tn_p3(x, y, z));
    calm(world, &def);
  } else if (is_holding_soft(&slots[s])) {
    tn_attachment_set_point(slots[s].run->world, slots[s].soft_hold, tn_p3(x, y, z));
  }
}

EXPORT(hold_force) float page_hold_force(int s)
{
  const slot *here = &slots[s];
  if (is_holding_soft(here)) {
    return tn_length(tn_attachment_get_state(here->run->world, here->soft_hold).force);
  }
  return is_holding(here) ? tn_length(tn_joint_get_state(here->run->world, here->hold).force)
                          : 0.0f;
}

EXPORT(let_go) void page_let_go(int s)
{
  if (is_holding(&slots[s])) {
    tn_joint_destroy(slots[s].run->world, slots[s].hold);
  }
  hand_soft_forget_hand(&slots[s]);
  memset(&slots[s].hold, 0, sizeof slots[s].hold);
}

// A restored world may contain a hold that has ended.
EXPORT(forget_hand) void page_forget_hand(int s)
{
  tn_world *world = slots[s].run->world;
  int count = tn_world_joints(world, NULL, 0);
  tn_joint_id *ids = gallery_memory(FOR_IDS, (size_t)(count + 1) * sizeof *ids);
  tn_world_joints(world, ids, count);
  for (int i = 0; i < count; ++i) {
    if (tn_joint_get_def(world, ids[i]).user_data == &hand_mark) {
      tn_joint_destroy(world, ids[i]);
    }
  }
  memset(&slots[s].hold, 0, sizeof slots[s].hold);
  hand_soft_forget_hand(&slots[s]);
}

static bool take_pins(tn_world *world, tn_body_id body)
{
  int count = tn_body_joints(world, body, NULL, 0);
  tn_joint_id *ids = gallery_memory(FOR_IDS, (size_t)(count + 1) * sizeof *ids);
  tn_body_joints(world, body, ids, count);
  bool had = false;
  for (int i = 0; i < count; ++i) {
    if (tn_joint_get_def(world, ids[i]).user_data == &pin_mark) {
      tn_joint_destroy(world, ids[i]);
      had = true;
    }
  }
  return had;
}

// Pins a body at its pose, or releases it; returns 1 if it is pinned now.
EXPORT(pin) int page_pin(int s, int i)
{
  if (i < -1) {
    tn_pos point = tn_p3((double)picked_point[0], (double)picked_point[1], (double)picked_point[2]);
    hand_soft_pin(s, SOFT_ITEM(i), point);
    return true;
  }
  const item *thing = &slots[s].items[i];
  tn_world *world = slots[s].run->world;
  if (thing->type != TN_BODY_DYNAMIC || take_pins(world, thing->id)) {
    return false;
  }
  hold_at(s, i, tn_body_center(world, thing->id), TN_JOINT_FIXED, &pin_mark, 0.0f);
  return true;
}

EXPORT(throw_at)
void page_throw_at(int s, int i, double x, double y, double z, float vx, float vy, float vz)
{
  if (i < -1) {
    hand_soft_throw(s, SOFT_ITEM(i), tn_v3(vx, vy, vz));
    return;
  }
  const item *thing = &slots[s].items[i];
  tn_world *world = slots[s].run->world;
  if (thing->type == TN_BODY_DYNAMIC) {
    float mass = tn_body_mass(world, thing->id).mass;
    tn_body_apply_impulse(world, thing->id, tn_scale(mass, tn_v3(vx, vy, vz)), tn_p3(x, y, z));
  }
}

EXPORT(remove_body) int page_remove_body(int s, int i)
{
  slots[s].dirty = true;
  if (i < -1) {
    return hand_soft_remove(s, SOFT_ITEM(i));
  }
  return !TN_IS_NULL(slots[s].items[i].id) &&
         tn_body_destroy(slots[s].run->world, slots[s].items[i].id);
}

// ---------------------------------------------------------------------------------------------
// Creating bodies

static tn_body_id make(tn_world *world, tn_pos at, tn_shape_def shape, tn_vec3 velocity)
{
  tn_body_def def = tn_default_body_def();
  def.position = at;
  def.velocity = velocity;
  tn_body_id body = tn_body_create(world, &def);
  tn_shape_create(world, body, &shape);
  return body;
}

static tn_shape_def capsule(float radius, float half_length)
{
  tn_shape_def def = tn_default_shape_def(TN_SHAPE_CAPSULE);
  def.radius = radius;
  def.half_length = half_length;
  return def;
}

// A joint of two parts at a point, with a cone limit about the line between them.
static void connect(tn_world *world, tn_body_id a, tn_body_id b, tn_pos point, float swing)
{
  tn_joint_def def = tn_default_joint_def(TN_JOINT_BALL);
  def.body_a = a;
  def.body_b = b;
  tn_joint_def_at(world, &def, point, tn_v3(0.0f, 1.0f, 0.0f));
  def.swing = swing;
  def.angular[0] = tn_between(-0.6f, 0.6f);
  for (int i = 0; i < 3; ++i) { // the motion of part B decays at about 2 1/s
    def.axis[TN_ANGULAR_A + i].damping = 2.0f * tn_body_mass(world, b).inertia.xx;
  }
  tn_joint_create(world, &def);
}

typedef struct limb {
  float x, y, radius, half_length; // upper part; the lower one is below it
  float swing;
} limb;

static void make_limb(tn_world *world, tn_body_id trunk, tn_pos at, float size, limb l, tn_vec3 v)
{
  float step = 2.0f * (l.half_length + 0.6f * l.radius) * size;
  tn_pos upper_at = tn_offset(at, tn_scale(size, tn_v3(l.x, l.y, 0.0f)));
  tn_pos lower_at = tn_offset(upper_at, tn_v3(0.0f, -step, 0.0f));
  tn_shape_def part = capsule(l.radius * size, l.half_length * size);
  tn_body_id upper = make(world, upper_at, part, v);
  tn_body_id lower = make(world, lower_at, part, v);
  connect(world, trunk, upper, tn_offset(upper_at, tn_v3(0.0f, 0.5f * step, 0.0f)), l.swing);
  connect(world, upper, lower, tn_offset(upper_at, tn_v3(0.0f, -0.5f * step, 0.0f)), 1.2f);
}

static void make_ragdoll(tn_world *world, tn_pos at, float size, tn_vec3 v)
{
  static const limb limbs[4] = {{-0.46f, 0.28f, 0.09f, 0.16f, 1.4f},
                                {0.46f, 0.28f, 0.09f, 0.16f, 1.4f},
                                {-0.17f, -0.72f, 0.12f, 0.24f, 0.9f},
                                {0.17f, -0.72f, 0.12f, 0.24f, 0.9f}};
  tn_shape_def chest = tn_default_shape_def(TN_SHAPE_BOX);
  chest.half_extents = tn_scale(size, tn_v3(0.32f, 0.38f, 0.17f));
  tn_shape_def skull = tn_default_shape_def(TN_SHAPE_SPHERE);
  skull.radius = 0.2f * size;
  tn_body_id trunk = make(world, at, chest, v);
  tn_body_id head = make(world, tn_offset(at, tn_v3(0.0f, 0.62f * size, 0.0f)), skull, v);
  connect(world, trunk, head, tn_offset(at, tn_v3(0.0f, 0.41f * size, 0.0f)), 0.6f);
  for (int i = 0; i < 4; ++i) {
    make_limb(world, trunk, at, size, limbs[i], v);
  }
}

// 0: box, 1: ball, 2: ragdoll, 3: cloth; `size` is about half its width.
EXPORT(spawn)
void page_spawn(int s, int kind, double x, double y, double z, float vx, float vy, float vz,
                float size)
{
  tn_world *world = slots[s].run->world;
  tn_pos at = tn_p3(x, y, z);
  tn_vec3 v = tn_v3(vx, vy, vz);
  if (kind == 2) {
    make_ragdoll(world, at, 2.0f * size, v);
  } else if (kind == 3) {
    make_cloth(world, at, size);
  } else {
    tn_shape_def shape = tn_default_shape_def(kind == 1 ? TN_SHAPE_SPHERE : TN_SHAPE_BOX);
    shape.radius = size;
    shape.half_extents = tn_v3(size, size, size);
    make(world, at, shape, v);
  }
  slots[s].dirty = true;
}
