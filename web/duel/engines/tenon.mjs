import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FRAME, GRAVITY } from '../scenes.mjs';

export async function load(dist) {
  const { World } = await import(pathToFileURL(resolve(dist, 'index.js')).href);
  const { version } = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8'));
  return {
    name: 'Tenon',
    version,
    settings: [
      { name: 'default', text: '8 substeps' },
      { name: '2 substeps', substeps: 2 },
      { name: '20 substeps', substeps: 20 },
      { name: '60 substeps', substeps: 60 },
    ],
    open: (scene, setting) => open(World, scene, setting),
  };
}

function shapeOf(world, scene, body) {
  const material = {
    staticFriction: scene.friction,
    dynamicFriction: scene.friction,
    restitution: scene.restitution,
  };
  const common = { material, filter: { group: -body.group } };
  switch (body.kind) {
    case 'box':
      return { kind: 'box', halfExtents: body.half, ...common };
    case 'ball':
      return { kind: 'sphere', radius: body.radius, ...common };
    default:
      return { kind: 'hull', geometry: world.createHull(body.points.flat(), 64), ...common };
  }
}

function open(World, scene, { substeps = 8 }) {
  const world = new World({ gravity: [0, -GRAVITY, 0], substeps, sleeping: false });
  const { friction, restitution } = scene;
  const material = { staticFriction: friction, dynamicFriction: friction, restitution };
  if (scene.ground) world.createShape(0, { kind: 'plane', material });
  const ids = scene.bodies.map((body) => {
    const id = world.createBody({ position: body.position, rotation: body.rotation });
    world.createShape(id, shapeOf(world, scene, body));
    const [xx, yy, zz] = body.inertia;
    const inertia = { xx, yy, zz, xy: 0, xz: 0, yz: 0 };
    world.setBodyMass(id, { mass: body.mass, center: [0, 0, 0], inertia });
    return id;
  });
  for (const { kind, a, b, point, axis, servo } of scene.joints) {
    const bodies = { bodyA: a < 0 ? 0 : ids[a], bodyB: ids[b] };
    const def = world.jointDefAt({ kind, ...bodies }, point, axis);
    if (servo) def.axis[3].drive = { ...def.axis[3].drive, ...servo };
    world.createJoint(def);
  }
  return {
    step: () => world.step(FRAME),
    read() {
      const rows = world.readPoses(ids, 'f64');
      return {
        pose: (i) => ({
          position: [...rows.subarray(7 * i, 7 * i + 3)],
          rotation: [...rows.subarray(7 * i + 3, 7 * i + 7)],
        }),
      };
    },
    close: () => world.dispose(),
  };
}
