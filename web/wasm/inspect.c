// Facts about a selected body or joint, and drives that the user has changed.
#include "gallery.h"

#include <string.h>

// Numbers of each; inspect.js has their order.
#define BODY_NUMBERS 16
#define JOINT_NUMBERS 16
#define AXIS_NUMBERS 13

static void put_vector(double **to, tn_vec3 v)
{
  *(*to)++ = (double)v.x;
  *(*to)++ = (double)v.y;
  *(*to)++ = (double)v.z;
}

// ---------------------------------------------------------------------------------------------
// Bodies

// Number of contact points of a body, and the sum of their normal forces.
static void sum_contacts(const tn_world *world, tn_body_id body, double *points, double *force)
{
  int count = tn_body_contacts(world, body, NULL, 0);
  tn_contact *list = gallery_memory(FOR_IDS, (size_t)count * sizeof *list + 1);
  tn_body_contacts(world, body, list, count);
  *points = *force = 0.0;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < list[i].count; ++k) {
      bool touches = list[i].points[k].gap <= 0.0f || list[i].points[k].normal_force > 0.0f;
      *points += touches ? 1.0 : 0.0;
      *force += (double)list[i].points[k].normal_force;
    }
  }
}

EXPORT(body_facts) const double *page_body_facts(int s, int i)
{
  const tn_world *world = slots[s].run->world;
  tn_body_id body = slots[s].items[i].id;
  double *out = gallery_memory(FOR_DOUBLES, BODY_NUMBERS * sizeof *out), *to = out;
  memset(out, 0, BODY_NUMBERS * sizeof *out);
  if (TN_IS_NULL(body)) {
    return out;
  }
  tn_pos at = tn_body_center(world, body);
  tn_vec3 v = tn_body_velocity(world, body);
  tn_energy energy = tn_bodies_energy(world, &body, 1);
  bool moves = tn_body_get_type(world, body) == TN_BODY_DYNAMIC;
  double mass = moves ? (double)tn_body_mass(world, body).mass : 0.0;
  double linear = 0.5 * mass * (double)tn_dot(v, v);
  *to++ = mass;
  *to++ = at.x;
  *to++ = at.y;
  *to++ = at.z;
  put_vector(&to, v);
  put_vector(&to, tn_body_angular_velocity(world, body));
  *to++ = linear;
  *to++ = energy.kinetic - linear;
  sum_contacts(world, body, to, to + 1);
  to += 2;
  *to++ = tn_body_is_awake(world, body) ? 1.0 : 0.0;
  *to++ = tn_body_joints(world, body, NULL, 0);
  return out;
}

static int list_joints(const tn_world *world, tn_joint_id **ids)
{
  int count = tn_world_joints(world, NULL, 0);
  *ids = gallery_memory(FOR_IDS, (size_t)(count + 1) * sizeof **ids);
  return tn_world_joints(world, *ids, count);
}

// Whether joint number `index` of the world holds the body of an item.
EXPORT(holds) int page_holds(int s, int index, int i)
{
  tn_joint_id *ids;
  int count = list_joints(slots[s].run->world, &ids);
  if (index < 0 || index >= count) {
    return false;
  }
  tn_joint_def def = tn_joint_get_def(slots[s].run->world, ids[index]);
  tn_body_id body = slots[s].items[i].id;
  return TN_SAME_ID(def.body_a, body) || TN_SAME_ID(def.body_b, body);
}

// ---------------------------------------------------------------------------------------------
// Joints

static bool is_free(const tn_joint_def *def, int axis)
{
  switch (def->kind) {
  case TN_JOINT_DISTANCE:
  case TN_JOINT_PRISMATIC:
    return axis == TN_LINEAR_A;
  case TN_JOINT_BALL:
  case TN_JOINT_HINGE:
    return axis == TN_ANGULAR_A;
  case TN_JOINT_CYLINDER:
    return axis == TN_LINEAR_A || axis == TN_ANGULAR_A;
  case TN_JOINT_UNIVERSAL:
    return axis == TN_ANGULAR_A || axis == TN_ANGULAR_B;
  case TN_JOINT_GENERIC: {
    tn_range range = axis < TN_ANGULAR_A ? def->linear[axis] : def->angular[axis - TN_ANGULAR_A];
    return range.lo < range.hi;
  }
  default:
    return false;
  }
}

static void put_axis(double **to, const tn_joint_def *def, const tn_joint_state *state, int axis)
{
  tn_range range = axis < TN_ANGULAR_A ? def->linear[axis] : def->angular[axis - TN_ANGULAR_A];
  const tn_drive *drive = &def->axis[axis].drive;
  *(*to)++ = is_free(def, axis) ? 1.0 : 0.0;
  *(*to)++ = (double)state->position[axis];
  *(*to)++ = (double)state->rate[axis];
  *(*to)++ = (double)state->drive_force[axis];
  *(*to)++ = (double)range.lo;
  *(*to)++ = (double)range.hi;
  *(*to)++ = (double)drive->stiffness;
  *(*to)++ = (double)drive->damping;
  *(*to)++ = (double)drive->target;
  *(*to)++ = (double)drive->velocity;
  *(*to)++ = (double)drive->force;
  *(*to)++ = (double)drive->limits.lo;
  *(*to)++ = (double)drive->limits.hi;
}

// Null if there is no such joint any more.
EXPORT(joint_facts) const double *page_joint_facts(int s, int index)
{
  const tn_world *world = slots[s].run->world;
  tn_joint_id *ids;
  if (index < 0 || index >= list_joints(world, &ids)) {
    return NULL;
  }
  tn_joint_def def = tn_joint_get_def(world, ids[index]);
  tn_joint_state state = tn_joint_get_state(world, ids[index]);
  size_t size = (JOINT_NUMBERS + TN_JOINT_AXIS_COUNT * AXIS_NUMBERS) * sizeof(double);
  double *out = gallery_memory(FOR_DOUBLES, size), *to = out;
  *to++ = def.kind;
  put_vector(&to, state.force);
  put_vector(&to, state.torque);
  *to++ = (double)state.elongation;
  *to++ = (double)state.angular_error;
  *to++ = (double)def.compliance;
  *to++ = (double)def.angular_compliance;
  *to++ = def.enabled ? 1.0 : 0.0;
  *to++ = state.broken ? 1.0 : 0.0;
  *to++ = (double)def.break_force;
  *to++ = (double)def.break_torque;
  *to++ = (double)state.swing;
  for (int axis = 0; axis < TN_JOINT_AXIS_COUNT; ++axis) {
    put_axis(&to, &def, &state, axis);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------
// Drives of the user: set again after the scene has set its own.

#define MOST_CHANGES 32

typedef struct change {
  tn_joint_id joint;
  tn_joint_axis axis;
  int what; // 0 target, 1 velocity, 2 force
  float value;
} change;

static struct {
  scene scene; // that of the run, with another function for its drives
  void (*drive)(scene_run *run, float dt);
  change list[MOST_CHANGES];
  int count;
} changes[GALLERY_SLOTS];

static void apply(tn_world *world, const change *c)
{
  tn_drive drive = tn_joint_drive(world, c->joint, c->axis);
  float *values[] = {&drive.target, &drive.velocity, &drive.force};
  *values[c->what] = c->value;
  tn_joint_set_drive(world, c->joint, c->axis, drive);
}

static void drive_changed(scene_run *run, float dt)
{
  for (int s = 0; s < GALLERY_SLOTS; ++s) {
    if (slots[s].run != run) {
      continue;
    }
    if (changes[s].drive) {
      changes[s].drive(run, dt);
    }
    for (int i = 0; i < changes[s].count; ++i) {
      if (tn_joint_is_valid(run->world, changes[s].list[i].joint)) {
        apply(run->world, &changes[s].list[i]);
      }
    }
  }
}

void forget_changes(int s)
{
  memset(&changes[s], 0, sizeof changes[s]);
}

static change *change_of(int s, tn_joint_id joint, int axis, int what)
{
  for (int i = 0; i < changes[s].count; ++i) {
    change *c = &changes[s].list[i];
    if (TN_SAME_ID(c->joint, joint) && (int)c->axis == axis && c->what == what) {
      return c;
    }
  }
  return changes[s].count < MOST_CHANGES ? &changes[s].list[changes[s].count++] : NULL;
}

EXPORT(set_drive) int page_set_drive(int s, int index, int axis, int what, float value)
{
  scene_run *run = slots[s].run;
  tn_joint_id *ids;
  if (index < 0 || index >= list_joints(run->world, &ids)) {
    return false;
  }
  tn_joint_id joint = ids[index];
  change *c = change_of(s, joint, axis, what);
  if (!c) {
    return false;
  }
  *c = (change){joint, (tn_joint_axis)axis, what, value};
  apply(run->world, c);
  if (run->scene != &changes[s].scene) {
    changes[s].drive = run->scene->drive;
    changes[s].scene = *run->scene;
    changes[s].scene.drive = drive_changed;
    run->scene = &changes[s].scene;
  }
  return true;
}
