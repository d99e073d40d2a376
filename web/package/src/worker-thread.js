// The worker of worker.js: runs the methods of one world by name.
import { loadModule } from './load.js';
import { start } from './runtime.js';
import { World } from './world.js';

const ready = loadModule().then(start); // no top-level await: some bundlers make classic scripts of workers

let world = null;
let shared = null;

const own = {
  create(def) {
    world = new World(def);
    world.onMessage = (level, message) => postMessage({ message: [level, message] });
  },
  stepAndRead(dt, steps, mayShare) {
    for (let i = 0; i < steps; ++i) world.step(dt);
    const count = world.counters().bodies;
    const poses = count ? world.readPoses() : new Float32Array(0);
    if (!mayShare) return { count, poses: poses.slice() };
    const grown = !shared || shared.byteLength < poses.byteLength;
    if (grown) shared = new SharedArrayBuffer(2 * poses.byteLength + 28);
    new Float32Array(shared).set(poses);
    return { count, shared: grown ? shared : undefined };
  },
};

onmessage = async ({ data: { id, name, args } }) => {
  try {
    await ready;
    const method = own[name] ?? world?.[name]?.bind(world);
    if (typeof method !== 'function' || name.startsWith('_'))
      throw new TypeError(`World has no method '${name}'`);
    let result = method(...args);
    if (ArrayBuffer.isView(result)) result = result.slice(); // not a view of the module's memory
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: { name: error.name, message: error.message } });
  }
};
