// Built-in scenes and numbers for drawing, in Node: the hashes of the native command, states, surfaces.
import { execFileSync } from 'node:child_process';

const FRAMES = 30;
const hex = (hash) => hash.toString(16).padStart(16, '0');

const throws = (call, pattern) => {
  try {
    call();
  } catch (error) {
    return pattern.test(error.message);
  }
  return false;
};

// Ten scenes that have bodies, joints, couplings, motions and soft bodies among them.
const NAMES = [
  ...['excavator', 'pyramid', 'car', 'chain', 'mobile', 'winch', 'tori_on_cloth', 'sculpture'],
  ...['clock', 'robot_reach'],
];

function nativeHash(command, name, ...options) {
  const args = ['run', name, '--seconds', `${FRAMES / 60}`, ...options, '--json'];
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8' })).hash;
}

export default async function scenesChecks({ SceneWorld, scenes }, command, check) {
  const list = scenes();
  const told = execFileSync(command, ['scenes'], { encoding: 'utf8' });
  check('all scenes are there', list.length > 60 && list.every(({ name }) => told.includes(name)));
  for (const scene of NAMES) {
    const world = new SceneWorld({ scene });
    for (let i = 0; i < FRAMES; ++i) world.step();
    check(`scene ${scene}`, hex(world.hash()) === nativeHash(command, scene), hex(world.hash()));
    world.dispose();
  }
  const chain = new SceneWorld({ scene: 'chain', parameters: { count: 9 } }, { substeps: 3 });
  for (let i = 0; i < FRAMES; ++i) chain.step();
  const wanted = nativeHash(command, 'chain', '--set', 'count=9', '--substeps', '3');
  check('parameters and settings', hex(chain.hash()) === wanted);
  chain.dispose();
  check(
    'an unknown parameter',
    throws(
      () => new SceneWorld({ scene: 'chain', parameters: { cuont: 9 } }),
      /no parameter 'cuont'/,
    ),
  );
  check(
    'an unknown scene',
    throws(() => new SceneWorld({ scene: 'chian' }), /no scene 'chian'/),
  );
  states(SceneWorld, check);
  drives(SceneWorld, check);
}

// The motions of a scene are functions of its time: a state has to bring back that as well.
function states(SceneWorld, check) {
  const world = new SceneWorld({ scene: 'excavator' });
  for (let i = 0; i < 20; ++i) world.step();
  const state = world.save();
  const run = () => {
    for (let i = 0; i < 20; ++i) world.step();
    return [world.hash(), world.time, world.metrics().energy_rel_max].join();
  };
  const first = run();
  world.restore(state);
  check('a restored scene moves on alike', run() === first);
  check(
    'a damaged state',
    throws(() => world.restore(state.subarray(0, 100)), /restore/),
  );
  const wild = state.slice();
  wild.fill(255, 0, 400);
  check(
    'a wild state',
    throws(() => world.restore(wild), /restore/),
  );
  world.dispose();
}

// A motor that the user sets against that of the scene.
function drives(SceneWorld, check) {
  const world = new SceneWorld({ scene: 'torque_bar', parameters: { force: 0 } });
  const [joint] = world.joints();
  let calls = 0;
  world.onDrive = () => {
    calls += 1;
    world.setJointDrive(joint, 'angular_a', { damping: 1e6, velocity: 2 });
  };
  for (let i = 0; i < 30; ++i) world.step();
  const rate = world.getJointState(joint).rate[3];
  check('drives of the user', calls === 30 && Math.abs(rate - 2) < 0.02, `${rate}`);
  world.dispose();
}

const size = ([x, y, z]) => Math.hypot(x, y, z);

// Volume that triangles enclose, positive if they are counter-clockwise from outside.
function volumeOf({ vertices: v, indices }) {
  let sum = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => v.subarray(3 * indices[i + k], 3 * indices[i + k] + 3));
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]);
    sum += a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

export function viewChecks({ World }, view, check) {
  const { CONTACT_NUMBERS, JOINT_NUMBERS, readContacts, readJoints, surfaceOf } = view;
  const world = new World({ sleeping: false });
  world.createShape(0, { kind: 'plane' });
  const box = world.createBody({ position: [0, 0.5, 0] });
  world.createShape(box, { kind: 'box', halfExtents: [0.5, 0.5, 0.5] });
  const bob = world.createBody({ position: [3, 2, 0] });
  world.createShape(bob, { kind: 'sphere', radius: 0.1 });
  const hung = world.createJoint(
    world.jointDefAt({ kind: 'ball', bodyB: bob }, [3, 3, 0], [0, 1, 0]),
  );
  for (let i = 0; i < 60; ++i) world.step();
  const contacts = readContacts(world);
  let [force, deepest] = [0, 0];
  for (let i = 0; i < contacts.length; i += CONTACT_NUMBERS) {
    force += contacts[i + 4];
    deepest = Math.min(deepest, contacts[i + 9]);
  }
  const weight = world.bodyMass(box).mass * 9.81;
  check('contacts carry the weight', Math.abs(force / weight - 1) < 1e-3, `${force}, ${weight}`);
  check(
    'and are those of world.contacts()',
    contacts.length === CONTACT_NUMBERS * world.contacts()[0].points.length,
  );
  check(
    'contacts of a body',
    readContacts(world, bob).length === 0 && readContacts(world, box).length > 0,
  );
  const numbers = readJoints(world, [hung]);
  const pull = world.bodyMass(bob).mass * 9.81;
  const isRight = numbers.length === JOINT_NUMBERS && Math.abs(size(numbers) / pull - 1) < 1e-3;
  check('a joint carries its bob', isRight, String(numbers));

  const geometry = world.createHull(
    [1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1, -1],
    64,
  );
  const hull = surfaceOf(world, { kind: 'hull', geometry });
  check('a hull encloses its volume', Math.abs(volumeOf(hull) - 8) < 1e-5, `${volumeOf(hull)}`);
  const points = [0, 1].map((i) => ({ position: [2 * i, 0, 0], tangent: [2, 0, 0] }));
  const wire = surfaceOf(world, {
    kind: 'wire',
    geometry: world.createWire(points, false),
    radius: 0.1,
  });
  let aside = 0;
  for (let i = 0; i < wire.vertices.length; i += 3)
    aside = Math.max(aside, Math.abs(Math.hypot(wire.vertices[i + 1], wire.vertices[i + 2]) - 0.1));
  check('a straight wire is a tube', aside < 1e-6, `${aside}`);
  // Rays hit a field where it is drawn.
  const heights = Array.from({ length: 12 }, (_, i) => 0.1 * i);
  const field = world.createHeightField(heights, 4, 3, 0.5, 1);
  const shape = world.createShape(0, {
    kind: 'height_field',
    geometry: field,
    position: [20, 0, 0],
  });
  const { vertices } = surfaceOf(world, world.getShapeDef(shape));
  const hits = Array.from({ length: 12 }, (_, i) => {
    const [x, y, z] = vertices.subarray(3 * i, 3 * i + 3);
    const hit = world.ray([20 + 0.999 * x, 10, 0.999 * z], [0, -20, 0]);
    return hit.shape === shape && Math.abs(hit.point[1] - y) < 2e-3;
  });
  check('a height field is drawn where rays hit it', hits.every(Boolean), String(hits));
  check('spheres have no triangles', surfaceOf(world, { kind: 'sphere', radius: 1 }) === null);
  world.dispose();
}
