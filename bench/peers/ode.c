// The Open Dynamics Engine: dWorldQuickStep, with contacts created in every step.
#include "engine.h"

#include <ode/ode.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POINTS 8 // per pair

typedef struct engine {
  const peer_scene *scene;
  peer_settings settings;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies; // null: static
  int contact_count;
} engine;

// ---------------------------------------------------------------------------------------------
// Poses: ODE has w first

static void to_ode(const double q[4], dQuaternion out)
{
  out[0] = q[3], out[1] = q[0], out[2] = q[1], out[3] = q[2];
}

static peer_pose world_pose(const engine *e, const peer_joint *j, int side)
{
  int body = j->body[side];
  return body < 0 ? j->frame[side] : peer_pose_mul(&e->scene->bodies[body].pose, &j->frame[side]);
}

// ---------------------------------------------------------------------------------------------
// Shapes. The axis of a shape is z in ODE and y in a scene.

static dGeomID make_hull(engine *e, const peer_hull *hull)
{
  // ODE keeps pointers to the data of the scene; only the points are converted.
  dReal *points = calloc(3 * (size_t)hull->point_count, sizeof *points);
  for (int i = 0; points && i < hull->point_count; ++i) {
    points[3 * i] = (dReal)hull->points[i].x;
    points[3 * i + 1] = (dReal)hull->points[i].y;
    points[3 * i + 2] = (dReal)hull->points[i].z;
  }
  if (!points) {
    return NULL;
  }
  dGeomID geom = dCreateConvex(e->space, hull->planes, (unsigned)hull->plane_count, points,
                               (unsigned)hull->point_count, hull->polygons);
  dGeomSetData(geom, points); // until the geom is assigned to a body
  return geom;
}

static dGeomID make_geom(engine *e, const peer_shape *s, bool *along_z)
{
  const tn_shape_def *d = &s->def;
  *along_z = d->kind == TN_SHAPE_CAPSULE || d->kind == TN_SHAPE_CYLINDER;
  switch (d->kind) {
  case TN_SHAPE_SPHERE:
    return dCreateSphere(e->space, (dReal)d->radius);
  case TN_SHAPE_CAPSULE:
    return dCreateCapsule(e->space, (dReal)d->radius, 2.0 * (dReal)d->half_length);
  case TN_SHAPE_BOX:
    return dCreateBox(e->space, 2.0 * (dReal)d->half_extents.x, 2.0 * (dReal)d->half_extents.y,
                      2.0 * (dReal)d->half_extents.z);
  case TN_SHAPE_CYLINDER:
    return dCreateCylinder(e->space, (dReal)d->radius, 2.0 * (dReal)d->half_length);
  case TN_SHAPE_HULL:
    return make_hull(e, &s->hull);
  default:
    return NULL;
  }
}

static void place_geom(dGeomID geom, dBodyID body, peer_pose at, bool along_z)
{
  if (along_z) { // a quarter turn about x maps z to -y; these shapes are symmetric
    const double half = sqrt(0.5);
    const peer_pose turn = {{0.0, 0.0, 0.0}, {half, 0.0, 0.0, half}};
    at = peer_pose_mul(&at, &turn);
  }
  dQuaternion q = {0.0};
  to_ode(at.q, q);
  if (body) {
    dGeomSetBody(geom, body);
    dGeomSetOffsetPosition(geom, at.p[0], at.p[1], at.p[2]);
    dGeomSetOffsetQuaternion(geom, q);
  } else {
    dGeomSetPosition(geom, at.p[0], at.p[1], at.p[2]);
    dGeomSetQuaternion(geom, q);
  }
}

static dGeomID make_plane(engine *e, const peer_pose *at)
{
  const double up[3] = {0.0, 1.0, 0.0};
  double n[3];
  peer_rotate(at->q, up, n);
  return dCreatePlane(e->space, n[0], n[1], n[2],
                      n[0] * at->p[0] + n[1] * at->p[1] + n[2] * at->p[2]);
}

static bool add_shape(engine *e, const peer_body *from, dBodyID body, peer_shape *s, peer_text *why)
{
  peer_pose at = body ? s->at : peer_pose_mul(&from->pose, &s->at);
  bool along_z = false;
  dGeomID geom = s->def.kind == TN_SHAPE_PLANE ? make_plane(e, &at) : make_geom(e, s, &along_z);
  if (!geom) {
    peer_say(why, s->def.kind == TN_SHAPE_CONE ? "ODE has no cones" : "out of memory");
    return false;
  }
  if (s->def.kind != TN_SHAPE_PLANE) {
    place_geom(geom, body, at, along_z);
  }
  s->def.user_data = s->def.kind == TN_SHAPE_HULL ? dGeomGetData(geom) : NULL;
  dGeomSetData(geom, s);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Bodies

static void set_state(const peer_body *from, dBodyID body)
{
  dQuaternion q = {0.0};
  to_ode(from->pose.q, q);
  dBodySetPosition(body, from->pose.p[0], from->pose.p[1], from->pose.p[2]);
  dBodySetQuaternion(body, q);
  dBodySetLinearVel(body, (dReal)from->velocity.x, (dReal)from->velocity.y,
                    (dReal)from->velocity.z);
  dBodySetAngularVel(body, (dReal)from->angular_velocity.x, (dReal)from->angular_velocity.y,
                     (dReal)from->angular_velocity.z);
}

static bool add_body(engine *e, int index, peer_text *why)
{
  const peer_body *from = &e->scene->bodies[index];
  if (from->linear_damping > 0.0f || from->angular_damping > 0.0f ||
      (from->dynamic && from->gravity_scale != 0.0f && from->gravity_scale != 1.0f)) {
    peer_say(why, "a body has damping or its own gravity");
    return false;
  }
  dBodyID body = NULL;
  if (from->dynamic) {
    body = dBodyCreate(e->world);
    dMass mass;
    dMassSetParameters(&mass, from->mass, 0.0, 0.0, 0.0, from->moments[0], from->moments[1],
                       from->moments[2], 0.0, 0.0, 0.0);
    dBodySetMass(body, &mass);
    dBodySetGravityMode(body, from->gravity_scale > 0.0f);
    set_state(from, body);
    e->bodies[index] = body;
  }
  for (int i = 0; i < from->shape_count; ++i) {
    if (!add_shape(e, from, body, &from->shapes[i], why)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Joints: angles are relative to the current poses

static bool is_free(tn_range range)
{
  return range.hi - range.lo >= 2.0f * TN_PI;
}

static dJointID make_hinge(engine *e, const peer_joint *from, const double at[3],
                           const double axis[3], dBodyID b, dBodyID a)
{
  dJointID joint = dJointCreateHinge(e->world, NULL);
  dJointAttach(joint, b, a);
  dJointSetHingeAnchor(joint, at[0], at[1], at[2]);
  dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
  if (!is_free(from->def.angular[0])) {
    dJointSetHingeParam(joint, dParamLoStop, (dReal)from->def.angular[0].lo - from->angle);
    dJointSetHingeParam(joint, dParamHiStop, (dReal)from->def.angular[0].hi - from->angle);
  }
  if (from->def.axis[TN_ANGULAR_A].friction > 0.0f) {
    dJointSetHingeParam(joint, dParamVel, 0.0);
    dJointSetHingeParam(joint, dParamFMax, (dReal)from->def.axis[TN_ANGULAR_A].friction);
  }
  return joint;
}

static dJointID make_rod(engine *e, const peer_joint *from, dBodyID b, dBodyID a)
{
  peer_pose on_a = world_pose(e, from, 0), on_b = world_pose(e, from, 1);
  dJointID joint = dJointCreateDBall(e->world, NULL);
  dJointAttach(joint, b, a);
  dJointSetDBallAnchor1(joint, on_b.p[0], on_b.p[1], on_b.p[2]);
  dJointSetDBallAnchor2(joint, on_a.p[0], on_a.p[1], on_a.p[2]);
  dJointSetDBallDistance(joint, (dReal)from->def.linear[0].hi);
  return joint;
}

static const char *reason_against(const tn_joint_def *d)
{
  if (d->kind == TN_JOINT_BALL && (d->swing < TN_PI || !is_free(d->angular[0]))) {
    return "ODE's ball joint has no limits";
  }
  if (d->kind == TN_JOINT_DISTANCE && d->linear[0].lo != d->linear[0].hi) {
    return "ODE's distance joint has no range";
  }
  return d->kind > TN_JOINT_FIXED ? "this kind of joint is not supported for ODE" : NULL;
}

static bool add_joint(engine *e, const peer_joint *from, peer_text *why, peer_text *omitted)
{
  const char *reason = reason_against(&from->def);
  if (!reason && from->error > 1e-3) {
    reason = "a joint has an initial gap, which ODE would keep";
  }
  if (reason) {
    peer_say(why, reason);
    return false;
  }
  if (from->def.kind != TN_JOINT_HINGE && (from->def.axis[TN_ANGULAR_A].friction > 0.0f ||
                                           from->def.axis[TN_LINEAR_A].friction > 0.0f)) {
    peer_say(omitted, "friction of joints other than hinges");
  }
  dBodyID a = from->body[0] < 0 ? NULL : e->bodies[from->body[0]];
  dBodyID b = from->body[1] < 0 ? NULL : e->bodies[from->body[1]];
  peer_pose at = world_pose(e, from, 0);
  const double along[3] = {1.0, 0.0, 0.0};
  double axis[3];
  peer_rotate(at.q, along, axis);
  dJointID joint;
  switch (from->def.kind) {
  case TN_JOINT_BALL:
    joint = dJointCreateBall(e->world, NULL);
    dJointAttach(joint, b, a);
    dJointSetBallAnchor(joint, at.p[0], at.p[1], at.p[2]);
    break;
  case TN_JOINT_HINGE:
    joint = make_hinge(e, from, at.p, axis, b, a);
    break;
  case TN_JOINT_DISTANCE:
    joint = make_rod(e, from, b, a);
    break;
  default:
    joint = dJointCreateFixed(e->world, NULL);
    dJointAttach(joint, b, a);
    dJointSetFixed(joint);
    break;
  }
  dJointSetData(joint, (void *)from);
  return true;
}

static bool are_joined(dBodyID a, dBodyID b)
{
  for (int i = 0; a && b && i < dBodyGetNumJoints(a); ++i) {
    dJointID joint = dBodyGetJoint(a, i);
    const peer_joint *from = dJointGetData(joint);
    if (from && !from->def.collide &&
        (dJointGetBody(joint, 0) == b || dJointGetBody(joint, 1) == b)) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Stepping

static void set_surface(dSurfaceParameters *to, const tn_material *a, const tn_material *b)
{
  peer_surface s = peer_surface_of(a, b);
  to->mode = dContactApprox1;
  to->mu = (dReal)s.friction;
  if (s.restitution > 0.0f) {
    to->mode |= dContactBounce;
    to->bounce = (dReal)s.restitution;
  }
  if (s.rolling > 0.0f || s.spinning > 0.0f) {
    to->mode |= dContactRolling;
    to->rho = to->rho2 = (dReal)s.rolling;
    to->rhoN = (dReal)s.spinning;
  }
}

static void meet(void *own, dGeomID one, dGeomID other)
{
  engine *e = own;
  dBodyID a = dGeomGetBody(one), b = dGeomGetBody(other);
  const peer_shape *s = dGeomGetData(one), *t = dGeomGetData(other);
  if ((!a && !b) || !peer_shapes_collide(&s->def, &t->def) || are_joined(a, b)) {
    return;
  }
  dContact points[MOST_POINTS];
  memset(points, 0, sizeof points);
  int count = dCollide(one, other, MOST_POINTS, &points[0].geom, sizeof points[0]);
  for (int i = 0; i < count; ++i) {
    set_surface(&points[i].surface, &s->def.material, &t->def.material);
    dJointAttach(dJointCreateContact(e->world, e->contacts, &points[i]), a, b);
  }
  e->contact_count += count;
}

static void step(void *own, double dt)
{
  engine *e = own;
  for (int i = 0; i < e->settings.substeps; ++i) {
    e->contact_count = 0;
    dSpaceCollide(e->space, e, meet);
    dWorldQuickStep(e->world, dt / e->settings.substeps);
    dJointGroupEmpty(e->contacts);
  }
}

// ---------------------------------------------------------------------------------------------
// Creation and destruction

static void destroy(void *own)
{
  engine *e = own;
  dJointGroupDestroy(e->contacts);
  dSpaceDestroy(e->space);
  dWorldDestroy(e->world);
  for (int i = 0; i < e->scene->body_count; ++i) {
    const peer_body *b = &e->scene->bodies[i];
    for (int k = 0; k < b->shape_count; ++k) {
      if (b->shapes[k].def.kind == TN_SHAPE_HULL) {
        free(b->shapes[k].def.user_data);
      }
    }
  }
  free(e->bodies);
  free(e);
}

static bool fill(engine *e, peer_text *why, peer_text *omitted)
{
  for (int i = 0; i < e->scene->body_count; ++i) {
    for (int k = 0; k < e->scene->bodies[i].shape_count; ++k) {
      e->scene->bodies[i].shapes[k].def.user_data = NULL; // set to the points of a hull later
    }
  }
  for (int i = 0; i < e->scene->body_count; ++i) {
    if (!add_body(e, i, why)) {
      return false;
    }
  }
  for (int i = 0; i < e->scene->joint_count; ++i) {
    if (!add_joint(e, &e->scene->joints[i], why, omitted)) {
      return false;
    }
  }
  return true;
}

static void *create(const peer_scene *scene, peer_settings settings, peer_text *why,
                    peer_text *omitted)
{
  static bool begun; // ODE's global state, for the whole run of the program
  begun = begun || dInitODE2(0);
  engine *e = calloc(1, sizeof *e);
  dBodyID *bodies = calloc((size_t)scene->body_count + 1, sizeof(dBodyID));
  if (!begun || !e || !bodies) {
    peer_say(why, "out of memory");
    free(bodies);
    free(e);
    return NULL;
  }
  e->scene = scene;
  e->settings = settings;
  e->bodies = bodies;
  e->world = dWorldCreate();
  e->space = dHashSpaceCreate(NULL);
  e->contacts = dJointGroupCreate(0);
  dWorldSetGravity(e->world, (dReal)scene->gravity.x, (dReal)scene->gravity.y,
                   (dReal)scene->gravity.z);
  dWorldSetAutoDisableFlag(e->world, settings.sleeping);
  if (settings.iterations > 0) {
    dWorldSetQuickStepNumIterations(e->world, settings.iterations);
  }
  if (!fill(e, why, omitted)) {
    destroy(e);
    return NULL;
  }
  return e;
}

static void read_body(const void *own, int index, peer_pose *pose, double velocity[3],
                      double angular_velocity[3])
{
  const engine *e = own;
  dBodyID body = e->bodies[index];
  memset(velocity, 0, 3 * sizeof *velocity);
  memset(angular_velocity, 0, 3 * sizeof *angular_velocity);
  *pose = e->scene->bodies[index].pose;
  if (body) {
    const dReal *p = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    for (int i = 0; i < 3; ++i) {
      pose->p[i] = p[i];
      pose->q[i] = q[i + 1];
      velocity[i] = v[i];
      angular_velocity[i] = w[i];
    }
    pose->q[3] = q[0];
  }
}

static int contact_points(const void *own)
{
  return ((const engine *)own)->contact_count;
}

const peer_engine peer_ode = {
    .name = "ode",
    .description = "ODE, double precision, QuickStep, 20 iterations",
    .create = create,
    .destroy = destroy,
    .step = step,
    .read = read_body,
    .contact_points = contact_points,
};
