import { createRequire } from 'node:module';
import initJolt from 'jolt-physics';
import { FRAME, frameOf, GRAVITY } from '../scenes.mjs';

let Jolt = null;
const MOVING = 1;
const FIXED = 0;

export async function load() {
  Jolt = await initJolt();
  const { version } = createRequire(import.meta.url)('jolt-physics/package.json');
  return {
    name: 'Jolt',
    version,
    settings: [
      { name: 'default', text: '10 velocity and 2 position iterations' },
      { name: '40 and 10 iterations', velocity: 40, position: 10 },
      { name: '8 steps', steps: 8, text: '8 collision steps a frame' },
      { name: '8 steps of 40 and 10', steps: 8, velocity: 40, position: 10 },
      { name: '60 steps', steps: 60 },
    ],
    open,
  };
}

// Temporary vectors; Jolt copies them.
function using(values, call) {
  const made = values.map(
    (list) => new [null, null, null, Jolt.Vec3, Jolt.Quat][list.length](...list),
  );
  const result = call(...made);
  for (const one of made) Jolt.destroy(one);
  return result;
}

const place = ([x, y, z]) => new Jolt.RVec3(x, y, z);

function newWorld() {
  const settings = new Jolt.JoltSettings();
  settings.mMaxWorkerThreads = 0;
  const pairs = new Jolt.ObjectLayerPairFilterTable(2);
  pairs.EnableCollision(FIXED, MOVING);
  pairs.EnableCollision(MOVING, MOVING);
  const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
  layers.MapObjectToBroadPhaseLayer(FIXED, new Jolt.BroadPhaseLayer(0));
  layers.MapObjectToBroadPhaseLayer(MOVING, new Jolt.BroadPhaseLayer(1));
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(
    ...[layers, 2, pairs, 2],
  );
  const world = new Jolt.JoltInterface(settings);
  Jolt.destroy(settings);
  return world;
}

function shapeOf(body) {
  switch (body.kind) {
    case 'box':
      return using([body.half], (half) => new Jolt.BoxShape(half, Math.min(0.05, ...body.half)));
    case 'ball':
      return new Jolt.SphereShape(body.radius);
    default: {
      const settings = new Jolt.ConvexHullShapeSettings();
      for (const p of body.points) using([p], (point) => settings.mPoints.push_back(point));
      return settings.Create().Get();
    }
  }
}

// Mass and inertia through the solid box that has them.
function setMass(settings, { mass, inertia: [x, y, z] }) {
  const size = [y + z - x, x + z - y, x + y - z].map((s) => Math.sqrt((6 * s) / mass));
  const properties = settings.mMassPropertiesOverride;
  using([size], (box) =>
    properties.SetMassAndInertiaOfSolidBox(box, mass / (size[0] * size[1] * size[2])),
  );
  settings.mOverrideMassProperties = Jolt.EOverrideMassProperties_MassAndInertiaProvided;
}

// A table of bodies that do not collide with each other, for each group.
function groupTables(scene) {
  const tables = new Map();
  for (const { group } of scene.bodies) {
    if (group && !tables.has(group)) {
      const size = scene.bodies.filter((body) => body.group === group).length;
      const table = new Jolt.GroupFilterTable(size);
      for (let i = 0; i < size; ++i) {
        for (let k = i + 1; k < size; ++k) table.DisableCollision(i, k);
      }
      tables.set(group, { table, used: 0 });
    }
  }
  return tables;
}

function addBody(bodies, scene, body, tables) {
  const at = place(body.position);
  const settings = using([body.rotation], (rotation) => {
    const motion = Jolt.EMotionType_Dynamic;
    return new Jolt.BodyCreationSettings(shapeOf(body), at, rotation, motion, MOVING);
  });
  Jolt.destroy(at);
  setMass(settings, body);
  settings.mFriction = scene.friction;
  settings.mRestitution = scene.restitution;
  settings.mLinearDamping = 0;
  settings.mAngularDamping = 0;
  settings.mAllowSleeping = false;
  const group = tables.get(body.group);
  if (group) {
    const own = settings.mCollisionGroup;
    own.SetGroupFilter(group.table);
    own.SetGroupID(body.group);
    own.SetSubGroupID(group.used++);
  }
  const made = bodies.CreateBody(settings);
  Jolt.destroy(settings);
  bodies.AddBody(made.GetID(), Jolt.EActivation_Activate);
  return made;
}

function addGround(bodies, scene) {
  const [half, at] = [[50, 1, 50], place([0, -1, 0])];
  const shape = using([half], (size) => new Jolt.BoxShape(size));
  const settings = using(
    [[0, 0, 0, 1]],
    (rotation) =>
      new Jolt.BodyCreationSettings(shape, at, rotation, Jolt.EMotionType_Static, FIXED),
  );
  settings.mFriction = scene.friction;
  settings.mRestitution = scene.restitution;
  bodies.AddBody(bodies.CreateBody(settings).GetID(), Jolt.EActivation_DontActivate);
}

function addJoint(physics, bodies, { kind, a, b, point, axis, servo }) {
  const isBall = kind === 'ball';
  const settings = isBall ? new Jolt.PointConstraintSettings() : new Jolt.HingeConstraintSettings();
  const at = place(point);
  settings.mPoint1 = settings.mPoint2 = at;
  if (!isBall) {
    const frame = frameOf(axis);
    using([frame.axis, frame.normal], (along, normal) => {
      settings.mHingeAxis1 = settings.mHingeAxis2 = along;
      settings.mNormalAxis1 = settings.mNormalAxis2 = normal;
    });
    if (servo) {
      const spring = settings.mMotorSettings.mSpringSettings;
      spring.mMode = Jolt.ESpringMode_StiffnessAndDamping;
      spring.mStiffness = servo.stiffness;
      spring.mDamping = servo.damping;
    }
  }
  const first = a < 0 ? Jolt.JoltInterface.prototype.sGetFixedToWorldBody() : bodies[a];
  const constraint = settings.Create(first, bodies[b]);
  physics.AddConstraint(constraint);
  if (servo) {
    const hinge = Jolt.castObject(constraint, Jolt.HingeConstraint);
    hinge.SetMotorState(Jolt.EMotorState_Position);
    hinge.SetTargetAngle(0);
  }
}

function open(scene, { velocity, position, steps = 1 }) {
  const world = newWorld();
  const physics = world.GetPhysicsSystem();
  using([[0, -GRAVITY, 0]], (gravity) => physics.SetGravity(gravity));
  if (velocity) {
    const settings = physics.GetPhysicsSettings();
    settings.mNumVelocitySteps = velocity;
    settings.mNumPositionSteps = position;
    physics.SetPhysicsSettings(settings);
  }
  const list = physics.GetBodyInterface();
  const tables = groupTables(scene);
  if (scene.ground) addGround(list, scene);
  const bodies = scene.bodies.map((body) => addBody(list, scene, body, tables));
  for (const joint of scene.joints) addJoint(physics, bodies, joint);
  physics.OptimizeBroadPhase();
  return {
    step: () => world.Step(FRAME, steps),
    read: () => ({
      pose(i) {
        const p = bodies[i].GetCenterOfMassPosition();
        const position_ = [p.GetX(), p.GetY(), p.GetZ()];
        const q = bodies[i].GetRotation();
        return { position: position_, rotation: [q.GetX(), q.GetY(), q.GetZ(), q.GetW()] };
      },
    }),
    close: () => Jolt.destroy(world),
  };
}
