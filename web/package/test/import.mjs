// Scene files and models of robots in Node: the hashes of the native command, errors, memory.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { articulationChecks } from './articulation.mjs';

const SCENES = [
  ...['excavator', 'pyramid', 'car', 'chain', 'mobile', 'pendulum_triple', 'capsules', 'stack'],
  ...['tori_on_cloth', 'springs3'],
];
const ROBOTS = [
  ...['arm/arm.xml', 'arm/arm.urdf', 'humanoid/humanoid.xml', 'humanoid/humanoid.urdf'],
  ...['quadruped/quadruped.xml', 'quadruped/scene.xml'],
];
const SECONDS = 0.5;
const hex = (hash) => hash.toString(16).padStart(16, '0');

function throwsAt(call, pattern) {
  try {
    call();
  } catch (error) {
    return error.name === 'TenonError' && pattern.test(error.message);
  }
  return false;
}

// All files of a folder by their path in it.
function filesOf(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  const isFile = (name) => /\.\w+$/.test(name);
  return Object.fromEntries(
    names.filter(isFile).map((name) => [name, readFileSync(join(folder, name))]),
  );
}

// Whether a list of points has the eight corners of the unit cube.
function hasCorners(points) {
  const corners = new Set();
  for (let i = 0; i < points.length; i += 3) corners.add(String(points.subarray(i, i + 3)));
  return corners.size === 8;
}

export default async function importChecks(tenon, command, robots, work, check) {
  articulationChecks(tenon, check);
  const { World, SceneFile, SceneWorld, Model, Instance, convexDecompose, writeScene } = tenon;
  const native = (...args) => execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  const nativeHash = (name) =>
    JSON.parse(native('run', name, '--seconds', String(SECONDS), '--json')).hash;

  for (const name of SCENES) {
    const file = join(work, `${name}.json`);
    writeFileSync(file, native('export', name));
    const world = new SceneWorld(readFileSync(file, 'utf8'));
    for (let i = 0; i < 60 * SECONDS; ++i) world.step();
    check(`scene file of ${name}`, hex(world.hash()) === nativeHash(file), hex(world.hash()));
    check(`metrics of ${name}`, Object.values(world.metrics()).some(Number.isFinite));
    world.dispose();
  }
  const text = readFileSync(join(work, 'chain.json'), 'utf8');
  const fine = new SceneWorld(text, { substeps: 3 });
  check('settings override those of the file', fine.substeps() === 3 && fine.title.length > 3);
  check('camera', fine.camera.eye.length === 3 && fine.seconds > 0);
  fine.dispose();
  const file = new SceneFile(text);
  const [first, second] = [new SceneWorld(file), new SceneWorld(file)];
  check('facts of a file', file.seconds > 0 && file.settings.substeps > 0 && file.title.length > 3);
  file.dispose();
  for (const world of [first, second]) world.step();
  check('two worlds of a file, which outlives them', first.hash() === second.hash());
  first.dispose();
  second.dispose();
  check(
    'a disposed file',
    throwsAt(() => new SceneWorld(file), /disposed/),
  );
  const settings = { parameters: { count: 7 }, substeps: 11 };
  const args = ['export', 'chain', '--set', 'count=7', '--substeps', '11'];
  check('scenes are written as by the command', writeScene('chain', settings) === native(...args));
  const broken = text.replace('"position"', '"positoin"');
  const line = broken.slice(0, broken.indexOf('positoin')).split('\n').length;
  check(
    'a misspelt key has its line',
    throwsAt(() => new SceneWorld(broken), new RegExp(`^line:${line}: .*positoin`)),
  );

  for (const name of ROBOTS) {
    const path = join(robots, name);
    const files = filesOf(dirname(path));
    const model = new Model(readFileSync(path), { name: name.replace(/.*\//, ''), files });
    const world = new World({ substeps: 20 });
    const robot = new Instance(world, model);
    world.setGravity(robot.gravity);
    for (let i = 0; i < 60 * SECONDS; ++i) {
      robot.advance();
      world.step();
    }
    check(`${name} has the native bits`, hex(world.hash()) === nativeHash(path), hex(world.hash()));
    const asScene = new SceneWorld(
      new SceneFile(readFileSync(path), { name: name.replace(/.*\//, ''), files }),
    );
    for (let i = 0; i < 60 * SECONDS; ++i) asScene.step();
    check(`${name} as a scene`, asScene.hash() === world.hash());
    asScene.dispose();
    const missing = model.report().filter(({ fate }) => fate === 'missing');
    check(`${name}: all meshes are found`, missing.length === 0, JSON.stringify(missing[0]));
    robot.dispose();
    world.dispose();
    model.dispose();
  }
  drive(tenon, check);

  check(
    'a malformed model has its line',
    throwsAt(() => new Model('<mujoco>\n<worldbody><body></worldbody></mujoco>'), /^model:2: /),
  );
  const lost = new Model(
    '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body><geom type="mesh" mesh="m"/>' +
      '</body></worldbody></mujoco>',
  );
  check(
    'a missing mesh is reported',
    lost.report().some(({ fate }) => fate === 'missing'),
  );
  lost.dispose();
  const cube = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, (i >> 2) & 1]);
  const faces = [
    ...[0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4],
    ...[2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5],
  ];
  const parts = convexDecompose(cube, faces);
  check('a cube is one convex part', parts.length === 1 && hasCorners(parts[0]));
}

// A servo of stiffness k holds a rod of mass m: it sags by m g l / k.
function drive({ Instance, Model, World }, check) {
  const model = new Model(`<mujoco><worldbody><body name="rod"><joint name="j" axis="0 1 0"/>
    <inertial pos=".5 0 0" mass="2" diaginertia=".01 .1 .1"/></body></worldbody>
    <actuator><position name="servo" joint="j" kp="400" kv="40"/></actuator>
    <sensor><jointpos name="angle" joint="j"/></sensor></mujoco>`);
  const world = new World({ substeps: 8, sleeping: false });
  const rod = new Instance(world, model);
  rod.setControl('servo', 0.3);
  for (let i = 0; i < 600; ++i) {
    rod.advance();
    world.step();
  }
  const [angle] = rod.sensor('angle'); // about y: gravity turns the rod down, to larger angles
  const torque = 2 * 9.81 * 0.5 * Math.cos(angle);
  const balance = 0.3 + torque / 400;
  check('a servo sags by load over stiffness', Math.abs(angle - balance) < 1e-4, `${angle}`);
  check('positions are those of the sensor', Math.abs(rod.positions()[0] - angle) < 1e-9);
  rod.setPositions([0.1]);
  check('positions are set', Math.abs(rod.positions()[0] - 0.1) < 1e-6);
  check('parts by name', world.bodyMass(rod.body('rod')).mass === 2 && rod.joint('j') > 0);
  check('names', String(model.names('actuator')) === 'servo' && model.find('joint', 'x') === -1);
  check(
    'an unknown name',
    throwsAt(() => rod.setControl('motor', 1), /no actuator 'motor'/),
  );
  rod.dispose();
  world.dispose();
  model.dispose();
}
