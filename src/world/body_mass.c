// Mass of bodies: given, or the sum of their shapes by density and place.
//
// A body whose definition gives no mass has that of its shapes: the sum is kept up to date as
// shapes come, go and change, until tn_body_set_mass(). A dynamic body always has a mass: without a
// solid shape it is that of a cube of 1 m and 1 kg.
#include "data/ids.h"
#include "data/recorder.h"
#include "data/world.h"
#include "world/checks.h"
#include "world/lifetime.h"

#include <string.h>

static tn_mass mass_of(const tn_world *world, const shape *s)
{
  const tn_shape_def *def = &s->def;
  tn_mass none = {0};
  switch (def->kind) {
  case TN_SHAPE_SPHERE:
    return tn_mass_sphere(def->radius, def->density);
  case TN_SHAPE_CAPSULE:
    return tn_mass_capsule(def->radius, def->half_length, def->density);
  case TN_SHAPE_BOX:
    return tn_mass_box(def->half_extents, def->density);
  case TN_SHAPE_CYLINDER:
    return tn_mass_cylinder(def->radius, def->half_length, def->density);
  case TN_SHAPE_CONE:
    return tn_mass_cone(def->radius, def->half_length, def->density);
  case TN_SHAPE_HULL:
    return hull_volume_mass("tn_mass_hull",
                            &((const convex_hull *)world->geometries[s->shared].data)->volume,
                            def->density);
  default:
    return none;
  }
}

// tn_mass_box() of a cube of 1 m and 1 kg/m^3.
tn_mass body_default_mass(void)
{
  const float moment = (float)(1.0 / 3.0 * 0.5);
  return (tn_mass){.mass = 1.0f, .inertia = {.xx = moment, .yy = moment, .zz = moment}};
}

bool mass_is_given(const tn_mass *mass)
{
  const tn_sym3 *i = &mass->inertia;
  return mass->mass != 0.0f || mass->center.x != 0.0f || mass->center.y != 0.0f ||
         mass->center.z != 0.0f || i->xx != 0.0f || i->yy != 0.0f || i->zz != 0.0f ||
         i->xy != 0.0f || i->xz != 0.0f || i->yz != 0.0f;
}

// The mass of a shape at its place. At the body's origin that is the same mass, with zeros without
// a sign as tn_mass_at() returns them.
static tn_mass mass_in_place(const tn_world *world, const shape *s)
{
  tn_mass own = mass_of(world, s);
  tn_vec3 p = s->def.position;
  tn_quat q = s->def.rotation;
#if defined(TN_SMALL)
  return tn_mass_at(own, p, q);
#else
  if (own.mass <= 0.0f || p.x != 0.0f || p.y != 0.0f || p.z != 0.0f || q.x != 0.0f || q.y != 0.0f ||
      q.z != 0.0f || q.w != 1.0f) {
    return tn_mass_at(own, p, q);
  }
  tn_vec3 zero = {0.0f, 0.0f, 0.0f};
  own.center = tn_add(own.center, zero);
  own.inertia.xy += 0.0f;
  own.inertia.xz += 0.0f;
  own.inertia.yz += 0.0f;
  return own;
#endif
}

// `total` and the shape as one; all shapes of a body are summed up in the order of its list.
static tn_mass add_shape(const tn_world *world, tn_mass total, bool first, const shape *s)
{
  tn_mass part = mass_in_place(world, s);
  tn_mass both[2] = {total, part};
  return first ? part : tn_mass_compound(both, 2);
}

// Zero without a shape that has mass.
static tn_mass mass_of_shapes(const tn_world *world, const body *b)
{
  tn_mass total = {0};
  bool first = true;
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    if (shape_has_mass(&world->shapes[i])) {
      total = add_shape(world, total, first, &world->shapes[i]);
      first = false;
    }
  }
  return total;
}

static void use_mass_of_shapes(tn_world *world, int32_t slot, tn_mass total)
{
  if (!body_apply_mass(world, slot, total)) {
    report(&world->log, TN_LOG_WARNING,
           "the mass of a body's shapes is out of range: it has 1 kg until it is given one");
    body_apply_mass(world, slot, body_default_mass());
  }
}

void body_mass_refresh(tn_world *world, int32_t slot)
{
  const body *b = &world->bodies[slot];
  if (!b->mass_from_shapes || b->type != TN_BODY_DYNAMIC) {
    return;
  }
  bool any = false;
  for (int32_t i = b->first_shape; i != NO_SLOT; i = world->shapes[i].next) {
    any = any || shape_has_mass(&world->shapes[i]);
  }
  use_mass_of_shapes(world, slot, any ? mass_of_shapes(world, b) : body_default_mass());
}

void body_mass_add_shape(tn_world *world, int32_t slot, int32_t shape_slot)
{
  const body *b = &world->bodies[slot];
  const shape *s = &world->shapes[shape_slot];
  if (!b->mass_from_shapes || b->type != TN_BODY_DYNAMIC || !shape_has_mass(s)) {
    return;
  }
  bool first = true;
  for (int32_t i = b->first_shape; i != shape_slot; i = world->shapes[i].next) {
    first = first && !shape_has_mass(&world->shapes[i]);
  }
  tn_mass fallback = body_default_mass();
  if (!first && memcmp(&b->mass, &fallback, sizeof fallback) == 0) {
    body_mass_refresh(world, slot); // the sum was out of range
    return;
  }
  // The same as the whole sum again: the shape is the last one of the list.
  use_mass_of_shapes(world, slot, add_shape(world, b->mass, first, s));
}

tn_mass tn_body_mass(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_mass");
  return b ? b->mass : (tn_mass){0};
}

bool tn_body_set_mass(tn_world *world, tn_body_id id, tn_mass mass)
{
  RECORD(world, tn_body_set_mass, &id, &mass);
  body *b = body_find(world, id, "tn_body_set_mass");
  if (!b) {
    return false;
  }
  const char *why = mass_problem(&mass);
  if (!why && !body_apply_mass(world, body_slot(world, b), mass)) {
    why = "the centre of mass is too far away, or there is no memory";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_body_set_mass: %s", why);
    return false;
  }
  b->mass_from_shapes = false;
  return true;
}

bool tn_body_mass_from_shapes(const tn_world *world, tn_body_id id)
{
  const body *b = body_find(world, id, "tn_body_mass_from_shapes");
  return b && b->mass_from_shapes;
}

bool tn_body_set_mass_from_shapes(tn_world *world, tn_body_id id)
{
  RECORD(world, tn_body_set_mass_from_shapes, &id);
  body *b = body_find(world, id, "tn_body_set_mass_from_shapes");
  if (!b) {
    return false;
  }
  tn_mass total = mass_of_shapes(world, b);
  const char *why = mass_problem(&total);
  if (!why && !body_apply_mass(world, body_slot(world, b), total)) {
    why = "the centre of mass is too far away, or there is no memory";
  }
  if (why) {
    report(&world->log, TN_LOG_ERROR, "tn_body_set_mass_from_shapes: %s",
           total.mass > 0.0f ? why : "the body has no solid shape");
    return false;
  }
  b->mass_from_shapes = true;
  return true;
}
