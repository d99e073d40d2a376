// Cost of the page: bytes, time to the first picture, pictures a second at each level of quality, and time
// of a frame in the browser against the native library, both with 4 lanes on one thread.
// usage: node bench.mjs SITE TENON [SCENE[:PARAMETER=VALUE,...]...]
import { spawnSync } from 'node:child_process';
import { launch } from './browser.mjs';
import { serve } from './serve.mjs';

const [site, tenon, ...asked] = process.argv.slice(2);
const FRAMES = { few: 60, many: 600 }; // many for frames below 1 ms
const ROUNDS = 7;
const ALLOWED = { bytes: 500e3, picture: 1000, frame: 1000 / 60, ratio: 1.6 };
const SIGHTS = ['car', 'tori_on_cloth', 'pyramid']; // for pictures a second
const DRAWN = 12; // pictures a round
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

const server = await serve(site, 0);
const browser = await launch();
const verdict = (value, limit) => (value <= limit ? 'holds' : 'DOES NOT HOLD');
const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];

// ---- Loading

// Runs in the page.
function costOfLoading() {
  const [page] = performance.getEntriesByType('navigation');
  const [{ startTime }] = performance.getEntriesByName('picture');
  const files = performance.getEntriesByType('resource');
  const isPicture = ({ name }) => name.endsWith('.webp');
  const bytes = (list) => list.reduce((sum, { encodedBodySize: size }) => sum + size, 0);
  return {
    picture: startTime,
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
  await page.waitForFunction(() => performance.getEntriesByName('picture').length);
  await page.waitForLoadState('networkidle');
  const cost = await page.evaluate(costOfLoading);
  await context.close();
  return cost;
}

async function tellLoading() {
  const loads = [];
  for (let i = 0; i < ROUNDS; ++i) loads.push(await load());
  const picture = middle(loads.map((l) => l.picture));
  const { needed, pictures, shown } = loads[0];
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  console.log(
    `transfer             ${kb(needed)}; at most 500 KB: ${verdict(needed, ALLOWED.bytes)}`,
  );
  console.log(`pictures in view     ${kb(pictures)} more, ${shown} of them, loaded on demand`);
  console.log(
    `first picture after  ${picture.toFixed(0)} ms, cold cache, median of ${ROUNDS}; at most 1000 ms: ` +
      verdict(picture, ALLOWED.picture),
  );
}

// ---- Pictures

// Runs in the page: draws pictures at a level of quality, and waits for each.
function drawMany([level, count]) {
  const { stage } = globalThis.tenon.app;
  stage.level = level;
  stage.renderer.hasOcclusion = level > 0;
  stage.width = 0;
  const { gl } = stage.renderer;
  const pixel = new Uint8Array(4);
  const draw = () => {
    stage.render();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  };
  draw();
  const start = performance.now();
  for (let i = 0; i < count; ++i) draw();
  return (1000 * count) / (performance.now() - start);
}

async function tellPictures() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${server.address}?still#scene=stack`);
  await page.waitForSelector('body.ready');
  const card = await page.evaluate(() => {
    const { gl } = globalThis.tenon.app.stage.renderer;
    const found = gl.getExtension('WEBGL_debug_renderer_info');
    return gl.getParameter(found ? found.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  });
  console.log(`\nPictures a second, 1280 x 800 with panels, best of 3, by ${card}`);
  console.log('scene                    everything   plain pixels   no occlusion');
  for (const scene of SIGHTS) {
    await page.evaluate(openScene, `#scene=${scene}`);
    const rates = [];
    for (const level of [2, 1, 0]) {
      const rounds = [];
      for (let i = 0; i < 3; ++i) rounds.push(await page.evaluate(drawMany, [level, DRAWN]));
      rates.push(Math.max(...rounds));
    }
    const cells = rates.map((rate, i) => rate.toFixed(1).padStart([11, 15, 15][i]));
    console.log(`${scene.padEnd(24)}${cells.join('')}`);
  }
  await page.close();
}

// ---- Frames

// Runs in the page.
function openScene(words) {
  const { app } = globalThis.tenon;
  history.replaceState(null, '', words);
  app.written = null;
  app.readAddress();
  app.sims[0].step();
}

// Runs in the page.
function step(frames) {
  const [sim] = globalThis.tenon.app.sims;
  for (let i = 0; i < frames; ++i) sim.step();
  return sim.hash();
}

// CPU time of the page's thread, s.
async function threadTime(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ThreadTime').value;
}

async function inPage({ page, session }, words, frames) {
  await page.evaluate(openScene, words);
  const start = await threadTime(session);
  const hash = await page.evaluate(step, frames);
  return { ms: (1000 * ((await threadTime(session)) - start)) / frames, hash };
}

// CPU time of a run, ms, and its hash.
function nativeRun(name, settings, frames) {
  const set = settings.flatMap((setting) => ['--set', setting]);
  const fixed = ['--seconds', `${frames / 60}`, '--lanes', '4', '--threads', '1', '--json'];
  const timed = 'TIMEFORMAT="%U %S"; time "$@"';
  const run = spawnSync('bash', ['-c', timed, 'bash', tenon, 'run', name, ...set, ...fixed]);
  const [user, system] = run.stderr.toString().trim().split('\n').pop().split(' ').map(Number);
  return { ms: 1000 * (user + system), hash: JSON.parse(run.stdout).hash };
}

function inNative(name, settings, frames) {
  const [first, all] = [1, 1 + frames].map((count) => nativeRun(name, settings, count));
  return { ms: (all.ms - first.ms) / frames, hash: all.hash };
}

// In alternation, and the best of each: the machine may be busy, and the browser optimises its code
// only after a while.
async function compare(tab, scene) {
  const [name, list = ''] = scene.split(':');
  const settings = list ? list.split(',') : [];
  const words = `#scene=${name}${settings.map((s) => `&p.${s}`).join('')}`;
  const { ms } = await inPage(tab, words, FRAMES.few);
  const frames = ms < 1 ? FRAMES.many : FRAMES.few;
  const best = { browser: Infinity, native: Infinity, isSame: true };
  for (let i = 0; i < ROUNDS; ++i) {
    const there = await inPage(tab, words, frames);
    const here = inNative(name, settings, frames);
    best.browser = Math.min(best.browser, there.ms);
    best.native = Math.min(best.native, here.ms);
    best.isSame &&= there.hash === here.hash;
  }
  return { ...best, ratio: best.browser / best.native };
}

async function tellFrames() {
  const context = await browser.newContext({ viewport: { width: 640, height: 480 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(`${server.address}?still`);
  await page.waitForSelector('body.ready');
  const cells = (list, words) =>
    `${list[0].padEnd(24)}${list
      .slice(1)
      .map((cell) => cell.padStart(10))
      .join('')}   ${words}`;
  console.log('\nA frame of 1/60 s including its readout, 4 lanes, one thread: CPU time, ms,');
  const { few, many } = FRAMES;
  console.log(`mean of ${few} frames, ${many} if below 1 ms, best of ${ROUNDS} rounds`);
  console.log(cells(['scene', 'browser', 'native', 'ratio'], 'at most 16.7 ms; at most 1.6'));
  for (const scene of asked.length ? asked : SCENES) {
    const { browser: ms, native, ratio, isSame } = await compare({ page, session }, scene);
    const words = [verdict(ms, ALLOWED.frame), verdict(ratio, ALLOWED.ratio)];
    if (!isSame) words.push('HASHES DIFFER');
    const numbers = [ms.toFixed(3), native.toFixed(3), ratio.toFixed(2)];
    console.log(cells([scene, ...numbers], words.join('; ')));
  }
}

try {
  if (!asked.length) await tellLoading();
  if (!asked.length) await tellPictures();
  await tellFrames();
} finally {
  await browser.close();
  server.close();
}
