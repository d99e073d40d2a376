// Whether the soft bodies of a glTF file are where the poses say: every particle of the surface at
// every key. usage: node forms.mjs FILE.glb POSES.csv
import { readFile } from 'node:fs/promises';

const [glb, poses] = process.argv.slice(2);
const bytes = await readFile(glb);
const jsonSize = bytes.readUInt32LE(12);
const json = JSON.parse(bytes.toString('utf8', 20, 20 + jsonSize));
const binary = 28 + jsonSize;

function numbers(accessor) {
  const { bufferView, count, type } = json.accessors[accessor];
  const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[type];
  const start = binary + json.bufferViews[bufferView].byteOffset;
  const buffer = bytes.buffer.slice(bytes.byteOffset + start);
  return new Float32Array(buffer, 0, width * count);
}

const particles = new Map(); // soft body and frame -> positions
const frameTimes = new Map();
for (const line of (await readFile(poses, 'utf8')).trim().split('\n').slice(1)) {
  const [frame, time, name, x, y, z] = line.split(',');
  frameTimes.set(Number(frame), Number(time));
  if (name.startsWith('soft ')) {
    const key = `${name.slice(5).split('.')[0]} ${frame}`;
    if (!particles.has(key)) particles.set(key, []);
    particles.get(key).push([Number(x), Number(y), Number(z)]);
  }
}

function turned([x, y, z], [a, b, c, w]) {
  const t = [2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)];
  return [
    x + w * t[0] + b * t[2] - c * t[1],
    y + w * t[1] + c * t[0] - a * t[2],
    z + w * t[2] + a * t[1] - b * t[0],
  ];
}

// The part of a channel that is for a time; it must be there.
function valueAt(channels, path, time) {
  const { input, output } = json.animations[0].samplers[channels[path]];
  const times = numbers(input);
  const at = times.findIndex((t) => Math.abs(t - time) < 1e-4);
  if (at < 0) throw new Error(`no ${path} at ${time} s`);
  const values = numbers(output);
  const width = values.length / times.length;
  return values.subarray(at * width, (at + 1) * width);
}

// Ropes are tubes: their points are a radius away.
function check(node, index) {
  const channels = {};
  for (const { sampler, target } of json.animations[0].channels) {
    if (target.node === index) channels[target.path] = sampler;
  }
  const [primitive] = json.meshes[node.mesh].primitives;
  const base = numbers(primitive.attributes.POSITION);
  const soft = node.name.split(' ').at(-1);
  const isRope = base.length / 3 > particles.get(`${soft} 0`).length;
  let worst = 0;
  const keyTimes = numbers(json.animations[0].samplers[channels.weights].input);
  const frames = [...frameTimes.keys()];
  for (const time of [keyTimes[0], keyTimes[1], keyTimes.at(-1)]) {
    const frame = frames.find((f) => Math.abs(frameTimes.get(f) - time) < 1e-4);
    const weights = valueAt(channels, 'weights', time);
    const place = valueAt(channels, 'translation', time);
    const rotation = valueAt(channels, 'rotation', time);
    const form = Float64Array.from(base);
    weights.forEach((weight, i) => {
      if (weight === 0) return;
      numbers(primitive.targets[i].POSITION).forEach((x, k) => (form[k] += weight * x));
    });
    for (let i = 0; i < form.length; i += 3) {
      const p = turned(form.subarray(i, i + 3), rotation).map((x, k) => x + place[k]);
      let nearest = Infinity;
      for (const q of particles.get(`${soft} ${frame}`)) {
        nearest = Math.min(nearest, Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
      }
      worst = Math.max(worst, nearest);
    }
  }
  return { worst, isRope };
}

let count = 0;
json.nodes.forEach((node, index) => {
  if (!node.name?.startsWith('soft body')) return;
  const { worst, isRope } = check(node, index);
  count += 1;
  if (!(worst < (isRope ? 0.11 : 1e-4))) {
    console.error(`${glb}: ${node.name} is ${worst} m from its particles`);
    process.exitCode = 1;
  }
});
if (count === 0) {
  console.error(`${glb}: no soft bodies`);
  process.exitCode = 1;
}
