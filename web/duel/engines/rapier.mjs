import RAPIER from '@dimforge/rapier3d-compat';
import { inverse, rotate } from '../maths.mjs';
import { FRAME, GRAVITY, toBody } from '../scenes.mjs';

const vector = ([x, y, z]) => ({ x, y, z });
const quaternion = ([x, y, z, w]) => ({ x, y, z, w });

export async function load() {
  await RAPIER.init();
  return {
    name: 'Rapier',
    version: RAPIER.version(),
    settings: [
      { name: 'default', text: '4 iterations' },
      { name: '20 iterations', iterations: 20 },
      { name: '8 steps', steps: 8, text: '8 steps of 1/480 s a frame' },
      { name: '8 steps of 20 iterations', steps: 8, iterations: 20 },
      { name: '60 steps', steps: 60 },
      { name: 'multibody joints', multibody: true, needs: 'joints' },
      { name: 'multibody joints, 8 steps', multibody: true, steps: 8, needs: 'joints' },
    ],
    open,
  };
}

function colliderOf(body) {
  const { ColliderDesc } = RAPIER;
  switch (body.kind) {
    case 'box':
      return ColliderDesc.cuboid(...body.half);
    case 'ball':
      return ColliderDesc.ball(body.radius);
    default:
      return ColliderDesc.convexHull(new Float32Array(body.points.flat()));
  }
}

// 16 bits of what it is, 16 of what it collides with.
const groupsOf = (group) => {
  const bit = 1 << group;
  return ((bit << 16) | (group ? 0xffff & ~bit : 0xffff)) >>> 0;
};

function addBody(world, scene, body) {
  const desc = RAPIER.RigidBodyDesc.dynamic()
    .setTranslation(...body.position)
    .setRotation(quaternion(body.rotation))
    .setAdditionalMassProperties(
      body.mass,
      vector([0, 0, 0]),
      vector(body.inertia),
      quaternion([0, 0, 0, 1]),
    )
    .setCanSleep(false);
  const handle = world.createRigidBody(desc);
  const collider = colliderOf(body)
    .setDensity(0)
    .setFriction(scene.friction)
    .setRestitution(scene.restitution)
    .setCollisionGroups(groupsOf(body.group));
  world.createCollider(collider, handle);
  return handle;
}

function addJoint(world, scene, bodies, fixed, { kind, a, b, point, axis, servo }, multibody) {
  const at = (index) => vector(index < 0 ? point : toBody(scene.bodies[index], point));
  const along = (index) =>
    vector(index < 0 ? axis : rotate(inverse(scene.bodies[index].rotation), axis));
  const data =
    kind === 'ball'
      ? RAPIER.JointData.spherical(at(a), at(b))
      : RAPIER.JointData.revoluteWithAxes(at(a), at(b), along(a), along(b));
  const pair = [a < 0 ? fixed : bodies[a], bodies[b], true];
  if (multibody) {
    world.createMultibodyJoint(data, ...pair);
    return;
  }
  const joint = world.createImpulseJoint(data, ...pair);
  if (servo) {
    joint.configureMotorModel(RAPIER.MotorModel.ForceBased);
    joint.configureMotorPosition(0, servo.stiffness, servo.damping);
  }
}

function open(scene, { iterations, steps = 1, multibody = false }) {
  // There joints have no motors, and start at zero angles.
  const rotationOf = (index) => scene.bodies[index]?.rotation ?? [0, 0, 0, 1];
  const isApart = ({ a, b }) => rotationOf(a).some((x, i) => x !== rotationOf(b)[i]);
  if (multibody && scene.joints.some((joint) => joint.servo || isApart(joint))) return null;
  const world = new RAPIER.World(vector([0, -GRAVITY, 0]));
  world.timestep = FRAME / steps;
  if (iterations) world.numSolverIterations = iterations;
  if (scene.ground) {
    const ground = RAPIER.ColliderDesc.cuboid(50, 1, 50)
      .setTranslation(0, -1, 0)
      .setFriction(scene.friction)
      .setRestitution(scene.restitution);
    world.createCollider(ground);
  }
  const bodies = scene.bodies.map((body) => addBody(world, scene, body));
  const fixed = world.createRigidBody(RAPIER.RigidBodyDesc.fixed());
  for (const joint of scene.joints) addJoint(world, scene, bodies, fixed, joint, multibody);
  return {
    step() {
      for (let i = 0; i < steps; ++i) world.step();
    },
    read: () => ({
      pose(i) {
        const p = bodies[i].translation();
        const q = bodies[i].rotation();
        return { position: [p.x, p.y, p.z], rotation: [q.x, q.y, q.z, q.w] };
      },
    }),
    close: () => world.free(),
  };
}
