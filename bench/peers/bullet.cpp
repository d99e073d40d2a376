// Bullet with the settings of its examples: sequential impulses, ten iterations, a dynamic AABB
// tree.
#include "engine.h"

#include <LinearMath/btConvexHullComputer.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

namespace {

#ifdef BT_USE_DOUBLE_PRECISION
const char *const description = "Bullet, double precision, sequential impulses, 10 iterations";
#else
const char *const description = "Bullet, single precision, sequential impulses, 10 iterations";
#endif

btVector3 vector(const double v[3])
{
  return {btScalar(v[0]), btScalar(v[1]), btScalar(v[2])};
}

btVector3 vector(tn_vec3 v)
{
  return {btScalar(v.x), btScalar(v.y), btScalar(v.z)};
}

btTransform transform(const peer_pose &pose)
{
  const double *q = pose.q;
  return btTransform(btQuaternion(btScalar(q[0]), btScalar(q[1]), btScalar(q[2]), btScalar(q[3])),
                     vector(pose.p));
}

// Bullet multiplies coefficients; these callbacks use the combined values of the scene.
peer_surface surface_of(const btCollisionObject *a, const btCollisionObject *b)
{
  auto one = static_cast<const peer_body *>(a->getUserPointer());
  auto other = static_cast<const peer_body *>(b->getUserPointer());
  return peer_surface_of(&one->shapes[0].def.material, &other->shapes[0].def.material);
}

btScalar friction_of(const btCollisionObject *a, const btCollisionObject *b)
{
  return surface_of(a, b).friction;
}

btScalar restitution_of(const btCollisionObject *a, const btCollisionObject *b)
{
  return surface_of(a, b).restitution;
}

btScalar rolling_of(const btCollisionObject *a, const btCollisionObject *b)
{
  return surface_of(a, b).rolling;
}

btScalar spinning_of(const btCollisionObject *a, const btCollisionObject *b)
{
  return surface_of(a, b).spinning;
}

struct filter : btOverlapFilterCallback {
  bool needBroadphaseCollision(btBroadphaseProxy *a, btBroadphaseProxy *b) const override
  {
    auto one = static_cast<btCollisionObject *>(a->m_clientObject);
    auto other = static_cast<btCollisionObject *>(b->m_clientObject);
    auto *body = static_cast<const peer_body *>(one->getUserPointer());
    auto *mate = static_cast<const peer_body *>(other->getUserPointer());
    return (body->dynamic || mate->dynamic) &&
           peer_shapes_collide(&body->shapes[0].def, &mate->shapes[0].def);
  }
};

struct engine {
  const peer_scene *scene;
  peer_settings settings;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  filter filters;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  std::vector<std::unique_ptr<btTypedConstraint>> joints;
  std::vector<btHingeConstraint *> rubbing; // hinges with friction, and its torque
  std::vector<btScalar> torques;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};

  ~engine()
  {
    for (auto &joint : joints) {
      world.removeConstraint(joint.get());
    }
    for (auto &body : bodies) {
      world.removeRigidBody(body.get());
    }
  }
};

// ---------------------------------------------------------------------------------------------
// Shapes
//
// Bullet adds a margin of 4 cm, or a tenth of the size, to cones and hulls: they are shrunk by as
// much, as Bullet itself does with boxes and cylinders.

btScalar margin_of(double smallest)
{
  return btScalar(std::fmin(0.04, 0.1 * smallest));
}

btCollisionShape *make_cone(const tn_shape_def &def, btVector3 &offset)
{
  double radius = double(def.radius);
  double height = 2.0 * double(def.half_length);
  double slant = std::sqrt(radius * radius + height * height);
  btScalar margin = margin_of(std::fmin(2.0 * radius, height));
  double inner = height - double(margin) * (1.0 + slant / radius);
  auto cone = new btConeShape(btScalar(radius * inner / height), btScalar(inner));
  cone->setMargin(margin);
  offset.setY(btScalar(-0.5 * height + double(margin) + 0.5 * inner));
  return cone;
}

btCollisionShape *make_hull(const peer_hull &hull)
{
  btVector3 low = vector(hull.points[0]);
  btVector3 high = low;
  for (int i = 1; i < hull.point_count; ++i) {
    low.setMin(vector(hull.points[i]));
    high.setMax(vector(hull.points[i]));
  }
  btVector3 size = high - low;
  btScalar margin = margin_of(double(size[size.minAxis()]));
  btConvexHullComputer inner;
  inner.compute(&hull.points[0].x, sizeof hull.points[0], hull.point_count, margin, 0.0f);
  auto shape = new btConvexHullShape();
  for (int i = 0; i < inner.vertices.size(); ++i) {
    shape->addPoint(inner.vertices[i], false);
  }
  shape->recalcLocalAabb();
  shape->setMargin(margin);
  return shape;
}

btCollisionShape *make_shape(const peer_shape &from, btTransform &at)
{
  const tn_shape_def &def = from.def;
  btVector3 offset(0, 0, 0);
  btCollisionShape *shape = nullptr;
  at = transform(from.at);
  switch (def.kind) {
  case TN_SHAPE_SPHERE:
    at.setRotation(btQuaternion::getIdentity());
    return new btSphereShape(def.radius);
  case TN_SHAPE_CAPSULE:
    return new btCapsuleShape(def.radius, 2.0f * def.half_length);
  case TN_SHAPE_BOX:
    return new btBoxShape(vector(def.half_extents));
  case TN_SHAPE_CYLINDER:
    return new btCylinderShape(btVector3(def.radius, def.half_length, def.radius));
  case TN_SHAPE_CONE:
    shape = make_cone(def, offset);
    at.setOrigin(at * offset);
    return shape;
  case TN_SHAPE_HULL:
    return make_hull(from.hull);
  default:
    break;
  }
  btVector3 normal = at.getBasis().getColumn(1);
  shape = new btStaticPlaneShape(normal, normal.dot(at.getOrigin()));
  at.setIdentity();
  return shape;
}

bool is_identity(const btTransform &t)
{
  const btScalar tiny = 1e-6f;
  return t.getOrigin().length() < tiny && std::fabs(t.getRotation().w()) > 1.0f - tiny;
}

btCollisionShape *shape_of(engine &e, const peer_body &from)
{
  btCompoundShape *compound = nullptr;
  for (int i = 0; i < from.shape_count; ++i) {
    btTransform at;
    btCollisionShape *shape = make_shape(from.shapes[i], at);
    e.shapes.emplace_back(shape);
    if (from.shape_count == 1 && is_identity(at)) {
      return shape;
    }
    if (!compound) {
      compound = new btCompoundShape();
      e.shapes.emplace_back(compound);
    }
    compound->addChildShape(at, shape);
  }
  if (!compound) {
    e.shapes.emplace_back(new btEmptyShape());
    return e.shapes.back().get();
  }
  return compound;
}

// ---------------------------------------------------------------------------------------------
// Bodies

void add_body(engine &e, const peer_body &from)
{
  btCollisionShape *shape = shape_of(e, from);
  btRigidBody::btRigidBodyConstructionInfo info(from.dynamic ? btScalar(from.mass) : 0.0f, nullptr,
                                                shape, vector(from.moments));
  info.m_startWorldTransform = transform(from.pose);
  info.m_linearDamping = 1.0f - std::exp(-from.linear_damping);
  info.m_angularDamping = 1.0f - std::exp(-from.angular_damping);
  auto body = new btRigidBody(info);
  e.bodies.emplace_back(body);
  body->setUserPointer(const_cast<peer_body *>(&from));
  if (!e.settings.sleeping) {
    body->setActivationState(DISABLE_DEACTIVATION);
  }
  if (from.shape_count > 0) {
    const tn_material &m = from.shapes[0].def.material;
    body->setRollingFriction(m.rolling_friction);
    body->setSpinningFriction(m.spinning_friction);
  } else {
    body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_NO_CONTACT_RESPONSE);
  }
  if (from.shape_count > 0) {
    e.world.addRigidBody(body);
  } else {
    e.world.addRigidBody(body, 0, 0); // collides with nothing
  }
  if (from.dynamic) {
    body->setGravity(from.gravity_scale * vector(e.scene->gravity));
    body->setLinearVelocity(vector(from.velocity));
    body->setAngularVelocity(vector(from.angular_velocity));
  }
}

// ---------------------------------------------------------------------------------------------
// Joints

btTypedConstraint *make_ball(const tn_joint_def &def, btRigidBody &a, btRigidBody &b,
                             const btTransform frame[2], peer_text *why)
{
  bool swings_freely = !(def.swing < TN_PI);
  bool twists_freely = def.angular[0].hi - def.angular[0].lo >= 2.0f * TN_PI;
  if (swings_freely && twists_freely) {
    return new btPoint2PointConstraint(a, b, frame[0].getOrigin(), frame[1].getOrigin());
  }
  if (std::fabs(def.angular[0].lo + def.angular[0].hi) > 1e-6f) {
    peer_say(why, "the twist limits of a ball joint are not symmetric");
    return nullptr;
  }
  auto cone = new btConeTwistConstraint(a, b, frame[0], frame[1]);
  float swing = swings_freely ? TN_PI : def.swing;
  cone->setLimit(swing, swing, twists_freely ? TN_PI : def.angular[0].hi);
  return cone;
}

// Bullet's hinge axis is z, with the opposite sign of the angle.
btTypedConstraint *make_hinge(engine &e, const tn_joint_def &def, btRigidBody &a, btRigidBody &b,
                              const btTransform frame[2])
{
  btTransform turn(btQuaternion(btVector3(0, 1, 0), SIMD_HALF_PI));
  auto hinge = new btHingeConstraint(a, b, frame[0] * turn, frame[1] * turn);
  if (def.angular[0].hi - def.angular[0].lo < 2.0f * TN_PI) {
    hinge->setLimit(-def.angular[0].hi, -def.angular[0].lo);
  }
  if (def.axis[TN_ANGULAR_A].friction > 0.0f) {
    e.rubbing.push_back(hinge);
    e.torques.push_back(def.axis[TN_ANGULAR_A].friction);
  }
  return hinge;
}

btTypedConstraint *make_slider(const tn_joint_def &def, btRigidBody &a, btRigidBody &b,
                               const btTransform frame[2])
{
  auto slider = new btSliderConstraint(a, b, frame[0], frame[1], true);
  bool bounded = def.linear[0].hi < 1e30f && def.linear[0].lo > -1e30f;
  slider->setLowerLinLimit(bounded ? def.linear[0].lo : 1.0f);
  slider->setUpperLinLimit(bounded ? def.linear[0].hi : -1.0f);
  slider->setLowerAngLimit(0.0f);
  slider->setUpperAngLimit(0.0f);
  return slider;
}

btTypedConstraint *make_joint(engine &e, const peer_joint &from, peer_text *why, peer_text *omitted)
{
  btRigidBody *body[2];
  btTransform frame[2];
  for (int side = 0; side < 2; ++side) {
    body[side] = from.body[side] < 0 ? &btTypedConstraint::getFixedBody()
                                     : e.bodies[size_t(from.body[side])].get();
    frame[side] = transform(from.frame[side]);
  }
  if (from.def.axis[TN_LINEAR_A].friction > 0.0f ||
      (from.def.axis[TN_ANGULAR_A].friction > 0.0f && from.def.kind != TN_JOINT_HINGE)) {
    peer_say(omitted, "friction of joints other than hinges");
  }
  switch (from.def.kind) {
  case TN_JOINT_BALL:
    return make_ball(from.def, *body[0], *body[1], frame, why);
  case TN_JOINT_HINGE:
    return make_hinge(e, from.def, *body[0], *body[1], frame);
  case TN_JOINT_FIXED:
    return new btFixedConstraint(*body[0], *body[1], frame[0], frame[1]);
  case TN_JOINT_PRISMATIC:
    return make_slider(from.def, *body[0], *body[1], frame);
  default:
    peer_say(why, "Bullet has no distance, cylinder, universal or generic joint");
    return nullptr;
  }
}

// ---------------------------------------------------------------------------------------------
// Creation and destruction

void *create(const peer_scene *scene, peer_settings settings, peer_text *why, peer_text *omitted)
{
  std::unique_ptr<engine> e(new engine());
  e->scene = scene;
  e->settings = settings;
  gCalculateCombinedFrictionCallback = friction_of;
  gCalculateCombinedRestitutionCallback = restitution_of;
  gCalculateCombinedRollingFrictionCallback = rolling_of;
  gCalculateCombinedSpinningFrictionCallback = spinning_of;
  e->world.setGravity(vector(scene->gravity));
  if (settings.iterations > 0) {
    e->world.getSolverInfo().m_numIterations = settings.iterations;
  }
  if (scene->has_filters) {
    e->world.getPairCache()->setOverlapFilterCallback(&e->filters);
  }
  for (int i = 0; i < scene->body_count; ++i) {
    add_body(*e, scene->bodies[i]);
  }
  for (int i = 0; i < scene->joint_count; ++i) {
    btTypedConstraint *joint = make_joint(*e, scene->joints[i], why, omitted);
    if (!joint) {
      return nullptr;
    }
    e->joints.emplace_back(joint);
    e->world.addConstraint(joint, !scene->joints[i].def.collide);
  }
  return e.release();
}

void destroy(void *own)
{
  delete static_cast<engine *>(own);
}

void step(void *own, double dt)
{
  engine &e = *static_cast<engine *>(own);
  btScalar h = btScalar(dt / e.settings.substeps);
  for (size_t i = 0; i < e.rubbing.size(); ++i) {
    e.rubbing[i]->enableAngularMotor(true, 0.0f, e.torques[i] * h);
  }
  for (int i = 0; i < e.settings.substeps; ++i) {
    e.world.stepSimulation(h, 0);
  }
}

void read(const void *own, int index, peer_pose *pose, double velocity[3],
          double angular_velocity[3])
{
  const btRigidBody &body = *static_cast<const engine *>(own)->bodies[size_t(index)];
  const btTransform &t = body.getCenterOfMassTransform();
  btQuaternion q = t.getRotation();
  for (int i = 0; i < 3; ++i) {
    pose->p[i] = double(t.getOrigin()[i]);
    velocity[i] = double(body.getLinearVelocity()[i]);
    angular_velocity[i] = double(body.getAngularVelocity()[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pose->q[i] = double(q[i]);
  }
}

int contact_points(const void *own)
{
  const btCollisionDispatcher &dispatcher = static_cast<const engine *>(own)->dispatcher;
  int count = 0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
    count += const_cast<btCollisionDispatcher &>(dispatcher)
                 .getManifoldByIndexInternal(i)
                 ->getNumContacts();
  }
  return count;
}

} // namespace

extern "C" const peer_engine peer_bullet = {"bullet", description, create,        destroy,
                                            step,     read,        contact_points};
