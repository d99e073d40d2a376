// Time of a frame in WebAssembly and natively, both at 4 lanes on one thread: medians over a second.
// usage: node bench.mjs MODULE TENON [SCENE...]
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Engine, Sim } from './src/engine.js';
import { defaultsOf } from './src/share.js';

const [module, tenon, ...asked] = process.argv.slice(2);
const names = asked.length ? asked : ['pendulum_triple', 'chain', 'mobile', 'pyramid', 'capsules'];
const FRAMES = 60;

const engine = new Engine(await WebAssembly.compile(await readFile(module)));

// Twice, as the second run finds the code compiled for speed.
function inWasm(scene) {
  const sim = new Sim(engine, 0);
  let times;
  for (let run = 0; run < 2; ++run) {
    sim.open(scene, defaultsOf(scene));
    times = [];
    for (let i = 0; i < FRAMES; ++i) {
      sim.step();
      times.push(sim.milliseconds);
    }
  }
  times.sort((a, b) => a - b);
  return { ms: times[FRAMES / 2], hash: sim.hash() };
}

function native(scene) {
  const options = ['--seconds', `${FRAMES / 60}`, '--lanes', '4', '--threads', '1', '--json'];
  const { ms_median: ms, hash } = JSON.parse(execFileSync(tenon, ['run', scene.name, ...options]));
  return { ms, hash };
}

console.log('scene               wasm ms   native ms   ratio   hash');
for (const name of names) {
  const scene = engine.find(name);
  const [there, here] = [inWasm(scene), native(scene)];
  const numbers = [there.ms.toFixed(3), here.ms.toFixed(3), (there.ms / here.ms).toFixed(2)];
  const hash = there.hash === here.hash ? here.hash : 'DIFFERS';
  console.log(
    `${name.padEnd(18)} ${numbers[0].padStart(8)} ${numbers[1].padStart(11)} ${numbers[2].padStart(7)}   ${hash}`,
  );
}
