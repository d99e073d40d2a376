// What the page costs: bytes, time until it is ready, and a frame in the browser's engine against one
// of the native library, both at 4 lanes on one thread.
// usage: node bench.mjs SITE TENON [SCENE[:PARAMETER=VALUE,...]...]
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './browser.mjs';
import { serve } from './serve.mjs';

const [site, tenon, ...asked] = process.argv.slice(2);
const FRAMES = 60;
const ROUNDS = 5;
const ALLOWED = { bytes: 400e3, ready: 2000, frame: 1000 / 60, ratio: 1.6 };
const SCENES = [
  'pyramid',
  'tori_on_cloth:count=0',
  'tori_on_cloth',
  'capsules',
  'chain',
  'mobile',
  'pendulum_triple',
  'excavator',
  'four_cubes',
];

const work = await mkdtemp(join(tmpdir(), 'tenon-bench-'));
const server = await serve(site, 0);
const browser = await launch();
const verdict = (value, limit) => (value <= limit ? 'holds' : 'DOES NOT HOLD');
const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];

// ---- Loading

// Runs in the page.
function costOfLoading() {
  const [page] = performance.getEntriesByType('navigation');
  const [{ startTime }] = performance.getEntriesByName('ready');
  const files = performance.getEntriesByType('resource');
  const isPicture = ({ name }) => name.endsWith('.webp');
  const bytes = (list) => list.reduce((sum, { encodedBodySize: size }) => sum + size, 0);
  return {
    ready: startTime,
    needed: bytes([page, ...files.filter((file) => !isPicture(file))]),
    pictures: bytes(files.filter(isPicture)),
    shown: files.filter(isPicture).length,
  };
}

async function load() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(server.address);
  await page.waitForSelector('body.ready');
  await page.waitForLoadState('networkidle');
  const cost = await page.evaluate(costOfLoading);
  await context.close();
  return cost;
}

async function tellLoading() {
  const loads = [];
  for (let i = 0; i < ROUNDS; ++i) loads.push(await load());
  const ready = middle(loads.map((l) => l.ready));
  const { needed, pictures, shown } = loads[0];
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  console.log(
    `transfer, gzipped    ${kb(needed)}; at most 400 KB: ${verdict(needed, ALLOWED.bytes)}`,
  );
  console.log(
    `pictures in view     ${kb(pictures)} more, ${shown} of them, loaded as they are seen`,
  );
  console.log(
    `ready after          ${ready.toFixed(0)} ms, median of ${ROUNDS}; at most 2000 ms: ` +
      verdict(ready, ALLOWED.ready),
  );
}

// ---- Frames

// Runs in the page.
function timeFrames([words, frames]) {
  const { app } = globalThis.tenon;
  history.replaceState(null, '', words);
  app.written = null;
  app.readAddress();
  const [sim] = app.sims;
  const times = [];
  for (let i = 0; i < frames; ++i) {
    sim.step();
    times.push(sim.milliseconds);
  }
  return { times, hash: sim.hash() };
}

async function inNative(name, settings) {
  const set = settings.flatMap((setting) => ['--set', setting]);
  const fixed = ['--seconds', `${FRAMES / 60}`, '--lanes', '4', '--threads', '1', '--json'];
  const file = join(work, 'frames.csv');
  const told = execFileSync(tenon, ['run', name, ...set, ...fixed, '--csv', file]);
  const [head, ...lines] = (await readFile(file, 'utf8')).trim().split('\n');
  const column = head.split(',').indexOf('ms');
  const times = lines.map((line) => Number(line.split(',')[column]));
  return { times, hash: JSON.parse(told).hash };
}

// In turns, and the best of every frame: the same frame is the same work in every round, but the
// machine may be busy with other things, and at first the browser's code is not compiled for speed.
async function compare(page, scene) {
  const [name, list = ''] = scene.split(':');
  const settings = list ? list.split(',') : [];
  const words = `#scene=${name}${settings.map((s) => `&p.${s}`).join('')}`;
  const best = { page: Array(FRAMES).fill(Infinity), native: Array(FRAMES).fill(Infinity) };
  let isSame = true;
  for (let i = 0; i < ROUNDS; ++i) {
    const there = await page.evaluate(timeFrames, [words, FRAMES]);
    const here = await inNative(name, settings);
    best.page = best.page.map((ms, k) => Math.min(ms, there.times[k]));
    best.native = best.native.map((ms, k) => Math.min(ms, here.times[k]));
    isSame &&= there.hash === here.hash;
  }
  const slowest = Math.max(...best.page);
  const [ms, native] = [middle(best.page), middle(best.native)];
  return { ms, slowest, native, ratio: ms / native, isSame };
}

async function tellFrames() {
  const context = await browser.newContext({ viewport: { width: 640, height: 480 } });
  const page = await context.newPage();
  await page.goto(`${server.address}?still`);
  await page.waitForSelector('body.ready');
  const cells = (list, words) =>
    `${list[0].padEnd(24)}${list
      .slice(1)
      .map((cell) => cell.padStart(10))
      .join('')}   ${words}`;
  console.log(
    '\nA frame of 1/60 s, 4 lanes, one thread: medians over a second, and its slowest, ms',
  );
  console.log(cells(['scene', 'browser', 'slowest', 'native', 'ratio'], 'at most 16.7 ms and 1.6'));
  for (const scene of asked.length ? asked : SCENES) {
    const { ms, slowest, native, ratio, isSame } = await compare(page, scene);
    const numbers = [ms.toFixed(3), slowest.toFixed(3), native.toFixed(3), ratio.toFixed(2)];
    const holds = ms <= ALLOWED.frame && ratio <= ALLOWED.ratio;
    const words = `${holds ? 'holds' : 'DOES NOT HOLD'}${isSame ? '' : ', HASHES DIFFER'}`;
    console.log(cells([scene, ...numbers], words));
  }
}

try {
  if (!asked.length) await tellLoading();
  await tellFrames();
} finally {
  await browser.close();
  server.close();
  await rm(work, { recursive: true });
}
