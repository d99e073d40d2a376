// Checks of the bindings in Node: errors, views, callbacks, memory; and the view for three.js.
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const throws = (call, pattern, Type = Error) => {
  try {
    call();
  } catch (error) {
    return error instanceof Type && pattern.test(error.message);
  }
  return false;
};

export default async function api(
  { STEP, TenonError, World, massBox, quatAxisAngle, sin, softMeshSphere },
  check,
) {
  const world = new World({ substeps: 4 });
  world.createShape(0, { kind: 'plane' });
  const ball = world.createBody({ position: [0, 2, 0], velocity: [1, 0, 0], name: 'Ball é' });
  const shape = world.createShape(ball, { kind: 'sphere', radius: 0.25, hitEvents: true });

  // Values.
  check('position', String(world.bodyPosition(ball)) === '0,2,0');
  check('name in UTF-8', world.bodyName(ball) === 'Ball é');
  check(
    'definition',
    world.getBodyDef(ball).type === 'dynamic' && world.getShapeDef(shape).kind === 'sphere',
  );
  check(
    'enumerations',
    world.method() === 'tenon' && (world.setMethod('xpbd'), world.method() === 'xpbd'),
  );
  world.setMethod('tenon');
  check('mass of a box', massBox([1, 1, 1], 1000).mass === 8000);
  check(
    'quaternions',
    Math.abs(quatAxisAngle([0, 1, 0], Math.PI)[1] - 1) < 1e-6 &&
      Math.abs(sin(1) - Math.sin(1)) < 1e-7,
  );
  check(
    '64-bit masks',
    (world.setShapeFilter(shape, { mask: 0xfffffffffffffffen }),
    world.shapeFilter(shape).mask === 0xfffffffffffffffen),
  );
  world.setShapeFilter(shape, {});

  // A body that falls 1.75 m arrives after sqrt(2 * 1.75 / 9.81) s.
  let hit = null;
  let frames = 0;
  while (!hit && frames < 100) {
    world.step(1 / 60);
    frames += 1;
    hit = world.contactEvents().find(({ kind }) => kind === 'hit');
  }
  check(
    'hit event',
    hit &&
      Math.abs(frames / 60 - Math.sqrt((2 * 1.75) / 9.81)) < 2 / 60 &&
      Math.abs(hit.speed - Math.sqrt(2 * 9.81 * 1.75)) < 0.1,
  );

  // Errors.
  check(
    'misspelt field',
    throws(() => world.createBody({ postion: [0, 0, 0] }), /has no field 'postion'/, TypeError),
  );
  check(
    'unknown kind',
    throws(() => world.createShape(ball, { kind: 'cube' }), /'cube' is none of/, TypeError),
  );
  check(
    'not finite',
    throws(() => world.createBody({ position: [NaN, 0, 0] }), /not finite/, TenonError),
  );
  check(
    'missing field',
    throws(() => world.setBodyTransform(ball, { p: [0, 0, 0] }), /missing: q/, TypeError),
  );
  check(
    'wrong length',
    throws(() => world.setBodyVelocity(ball, [1, 2]), /3 numbers/, TypeError),
  );
  check(
    'not a number',
    throws(() => world.setBodyVelocity(ball, ['a', 'b', 'c']), /number/, TypeError),
  );
  check(
    'not an id',
    throws(() => world.bodyPosition('box'), /not an id/, TypeError),
  );
  check(
    'rejected step',
    throws(() => world.step(-1), /./, TenonError),
  );
  const bodies = world.counters().bodies;
  const gone = world.createBody({});
  world.destroyBody(gone);
  check(
    'stale id',
    throws(() => world.bodyPosition(gone), /./, TenonError),
  );
  check('nothing changed', world.counters().bodies === bodies);
  const other = new World();
  other.createBody({});
  check(
    'id of another world',
    throws(() => other.bodyPosition(ball), /./, TenonError),
  );
  other.dispose();
  check('disposed', throws(() => other.step(), /disposed/, TenonError) && other.isDisposed);

  // Views and lists.
  for (let i = 0; i < 50; ++i)
    world.createShape(world.createBody({ position: [i, 5, 0] }), { kind: 'box' });
  const ids = world.bodies();
  const poses = world.readPoses(ids, 'f64');
  check('poses', poses.length === 7 * ids.length && poses[7] === world.bodyPosition(ids[1])[0]);
  world.writeVelocities([ids[1]], [0, 1, 0, 0, 0, 0]);
  check('velocities', world.bodyVelocity(ids[1])[1] === 1);
  check(
    'too few rows',
    throws(() => world.writeVelocities(ids, [0, 0, 0, 0, 0, 0]), /1 rows/, TypeError),
  );
  check(
    'rays',
    world
      .rays(
        [
          [0, 9, 0],
          [1, 9, 0],
        ],
        [
          [0, -9, 0],
          [0, -9, 0],
        ],
      )
      .every(({ hit: found }) => found),
  );
  check('all hits of a ray', world.rayAll([0, 9, 0], [0, -20, 0]).length >= 2);

  // Snapshots.
  const state = world.save();
  const hash = world.hash();
  world.step();
  const after = world.hash();
  world.restore(state);
  check('restored', world.hash() === hash && (world.step(), world.hash() === after));
  check(
    'damaged state',
    throws(() => world.restore(state.slice(0, 100)), /./, TenonError),
  );

  // Callbacks.
  let asked = 0;
  const loose = new World();
  loose.createShape(0, { kind: 'plane' });
  loose.createShape(loose.createBody({ position: [0, 0.4, 0] }), { kind: 'sphere' });
  loose.setPairFilter(() => (asked++, false));
  for (let i = 0; i < 30; ++i) loose.step();
  check('pair filter', asked > 0 && loose.bodyPosition(loose.bodies()[0])[1] < 0);
  check('debug lines', loose.debugLines({ shapes: true }).colors.length > 0);
  loose.dispose();

  // Memory: worlds that come and go leave nothing, and growth does not break views.
  const balloon = softMeshSphere(2, 1);
  let last = 0;
  for (let i = 0; i < 40; ++i) {
    const w = new World();
    const soft = w.createSoft({ ...balloon, pressure: 1.5 });
    w.step();
    last = w.softPositions(soft).length;
    w.dispose();
  }
  check('soft bodies', last === 3 * 162);
  const large = new World();
  for (let i = 0; i < 3000; ++i) large.createBody({ position: [i, 0, 0] });
  check(
    'memory has grown',
    large.readMatrices().length === 16 * 3000 && world.bodyPosition(ids[2])[0] === 1,
  );
  large.dispose();
  check('status bits', STEP.NON_FINITE === 4);
  world.dispose();
}

// The view: matrices of instances are those of the shapes.
export async function three(dist, modules, folder, check) {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  cpSync(dist, join(folder, 'tenon-physics'), { recursive: true });
  symlinkSync(join(modules, 'three'), join(folder, 'node_modules/three'));
  const at = (name) => pathToFileURL(join(folder, 'tenon-physics', name)).href;
  const { World, softMeshCloth } = await import(at('index.js'));
  const { Dragger, FixedStep, WorldView } = await import(at('three.js'));
  const { Matrix4, Raycaster, Vector3 } = await import(
    pathToFileURL(join(folder, 'node_modules/three/build/three.module.js')).href
  );
  const world = new World();
  world.createShape(0, { kind: 'plane' });
  const body = world.createBody({ position: [0, 2, 0], angularVelocity: [0, 0, 3] });
  world.createShape(body, { kind: 'box', position: [1, 0, 0] });
  world.createShape(body, { kind: 'capsule' });
  world.createSoft({ ...softMeshCloth(4, 4, 1, 1), position: [5, 2, 0] });
  const view = new WorldView(world);
  const loop = new FixedStep(1 / 60);
  loop.advance(0, () => {});
  const alpha = loop.advance(1000 / 60 + 8.34, (dt) => {
    world.step(dt);
    view.capture();
  });
  check('half a step is left', Math.abs(alpha - 0.5) < 0.01, String(alpha));
  view.update(1);
  const box = view.group.children.find(({ geometry }) => geometry.type === 'BoxGeometry');
  const matrix = new Matrix4();
  box.getMatrixAt(0, matrix);
  const expected = world.bodyWorldPoint(body, [1, 0, 0]);
  const found = new Vector3().setFromMatrixPosition(matrix);
  check('an instance is where its shape is', found.distanceTo(new Vector3(...expected)) < 1e-5);
  view.update(0);
  box.getMatrixAt(0, matrix);
  check(
    'and was before the step',
    new Vector3().setFromMatrixPosition(matrix).distanceTo(new Vector3(1, 2, 0)) < 1e-6,
  );
  check(
    'a soft body is drawn',
    view.group.children.some(({ geometry }) => geometry.index?.count === 3 * 18),
  );
  const extra = world.createBody({ position: [0, 9, 0] });
  world.createShape(extra, {
    kind: 'hull',
    geometry: world.createHull([0, 1, 0, 1, 0, 0, -1, 0, 1, -1, 0, -1], 16),
  });
  view.capture();
  check(
    'new shapes appear',
    view.group.children.some((mesh) => mesh.userData.shapes?.includes(world.bodyShapes(extra)[0])),
  );
  const ray = new Raycaster(new Vector3(0, 20, 0), new Vector3(0, -1, 0));
  const dragger = new Dragger(world);
  check('pick', view.pick(ray).body === extra && dragger.begin(ray) && dragger.isDragging);
  ray.ray.origin.x = 3;
  for (let i = 0; i < 60; ++i) {
    dragger.move(ray);
    world.step();
  }
  check(
    'dragged',
    Math.abs(world.bodyPosition(extra)[0] - 3) < 1,
    String(world.bodyPosition(extra)),
  );
  dragger.end();
  view.drawDebug({ shapes: true });
  view.dispose();
  world.dispose();
}
