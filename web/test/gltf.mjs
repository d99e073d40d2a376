// Opens the command's glTF files with three.js, plays them, and compares bodies with the poses of
// --poses.
// usage: node gltf.mjs TENON DIR
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { AnimationMixer, Quaternion, Vector3 } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

const [tenon, dir] = process.argv.slice(2);
const FRAME = 24;
let failures = 0;

function check(is, what) {
  if (!is) {
    failures += 1;
    console.error(`FAILED: ${what}`);
  }
}

async function opened(scene) {
  const path = `${dir}/${scene}`;
  const files = ['--glb', `${path}.glb`, '--poses', `${path}.csv`];
  const run = spawnSync(tenon, ['run', scene, '--seconds', '0.5', ...files]);
  check(run.status === 0, `${scene}: ${run.stderr}`);
  const { buffer, byteOffset, byteLength } = readFileSync(`${path}.glb`);
  const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
  const { scene: root, animations } = await new GLTFLoader().parseAsync(bytes, '');
  const mixer = new AnimationMixer(root);
  mixer.clipAction(animations[0]).play();
  mixer.setTime(FRAME / 60);
  root.updateMatrixWorld(true);
  const [, ...lines] = readFileSync(`${path}.csv`, 'utf8').trim().split('\n');
  const poses = lines.map((line) => line.split(',').map(Number));
  const isBody = ([frame, , body]) => frame === FRAME && !Number.isNaN(body); // no particle
  return { root, poses: poses.filter(isBody) };
}

// Every body has a part of the file at its position.
function checkBodies(scene, { root, poses }) {
  check(poses.length > 0, `${scene} has bodies`);
  for (const [, , body, x, y, z, ...q] of poses) {
    const at = new Vector3(x, y, z);
    const turn = new Quaternion(...q);
    const isThere = ({ position, quaternion }) =>
      position.distanceTo(at) < 1e-4 && quaternion.angleTo(turn) < 1e-3;
    check(root.children.some(isThere), `${scene}: body ${body} is where its pose is`);
  }
}

// Soft bodies interpolate between at most two of their shapes.
function checkSofts(scene, { root }) {
  const softs = root.children.filter(({ morphTargetInfluences: shapes }) => shapes);
  check(softs.length > 0, `${scene} has soft bodies`);
  for (const { name, morphTargetInfluences: shapes } of softs) {
    const shown = shapes.filter((share) => share > 1e-3);
    const sum = shown.reduce((a, b) => a + b, 0);
    check(shown.length > 0 && shown.length <= 2, `${scene}: shapes of ${name}`);
    check(Math.abs(sum - 1) < 1e-3, `${scene}: shares of ${name}`);
  }
}

mkdirSync(dir, { recursive: true });
for (const scene of ['ragdoll', 'pendulum_loop', 'car']) {
  checkBodies(scene, await opened(scene));
}
for (const scene of ['four_cubes', 'car']) {
  checkSofts(scene, await opened(scene));
}
console.log(failures ? `${failures} failures` : 'three.js opens them');
process.exit(failures ? 1 : 0);
