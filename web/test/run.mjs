// The page in a browser: every scene against the native library, then interaction. With TENON_LONG
// set the scenes run for two seconds instead of one.
// usage: node run.mjs SITE TENON PICTURES
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { launch } from '../browser.mjs';
import { serve } from '../serve.mjs';
import { behaviour, keyboard } from './behaviour.mjs';
import { documents } from './documents.mjs';
import { models } from './models.mjs';
import { zips } from './zips.mjs';
import { check, finish } from './check.mjs';

const [site, tenon, pictures] = process.argv.slice(2);
const FRAMES = process.env.TENON_LONG ? 120 : 60;
const FEW = process.env.TENON_LONG ? 60 : 12; // frames at other numbers of substeps
const LIMIT = 500000; // bytes, gzipped, 400 KB of it the module of the package; see docs/gallery.md

const run = promisify(execFile);
const server = await serve(site, 0);
const browser = await launch();

// A page that records its error messages.
async function open(address, size = { width: 320, height: 252 }) {
  const page = await browser.newPage({ viewport: size });
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') page.complaints.push(message.text());
  });
  await page.goto(address);
  await page.waitForSelector('body.ready', { timeout: 60000 });
  return page;
}

async function nativeHash(name, frames = FRAMES, ...options) {
  const seconds = ['--seconds', `${frames / 60}`];
  const { stdout } = await run(tenon, ['run', name, ...seconds, ...options, '--json']);
  return JSON.parse(stdout).hash;
}

// ---- Transfer

async function tellTransfer() {
  let [total, brotli] = [0, 0];
  const page = await readFile(join(site, 'index.html'), 'utf8');
  const linked = [...page.matchAll(/(?:src|href)="([^":]+)"/g)].map(([, name]) => name);
  for (const name of ['index.html', ...linked]) {
    const packed = await readFile(join(site, `${name}.gz`));
    check(`${name}.gz`, gunzipSync(packed).equals(await readFile(join(site, name))), 'is outdated');
    total += packed.length;
    const smaller = await readFile(join(site, `${name}.br`));
    check(`${name}.br`, brotliDecompressSync(smaller).equals(await readFile(join(site, name))));
    brotli += smaller.length;
  }
  check('transfer', linked.length > 2 && total < LIMIT, `${total} bytes`);
  console.log(`transfer: ${total} bytes, gzipped; at most ${LIMIT}; ${brotli} by brotli`);
}

// ---- Every scene

// Runs in the page.
function runScene([name, frames]) {
  // Bodies whose centre is below a plane.
  const belowGround = () => {
    const { items } = globalThis.tenon.app.stage.sides[0].bodies;
    const m = globalThis.tenon.app.sims[0].matrices().slice();
    const planes = items.flatMap(({ kind }, i) => (kind === 6 ? [16 * i] : []));
    const isBelow = (at) =>
      planes.some(
        (p) =>
          [0, 1, 2].reduce((d, k) => d + m[p + 4 + k] * (m[at + 12 + k] - m[p + 12 + k]), 0) < 0,
      );
    return items.filter(({ type }, i) => type === 2 && isBelow(16 * i)).length;
  };
  const { app } = globalThis.tenon;
  history.replaceState(null, '', `#scene=${name}`);
  app.readAddress();
  for (let i = 0; i < frames; ++i) app.advance();
  app.draw();
  const { canvas } = app.stage;
  const small = new OffscreenCanvas(64, 48).getContext('2d');
  small.drawImage(canvas, 0, 0, 64, 48);
  const { data } = small.getImageData(0, 0, 64, 48);
  const shades = new Set();
  let dark = 0;
  for (let i = 0; i < data.length; i += 4) {
    shades.add((data[i] >> 3) * 1024 + (data[i + 1] >> 3) * 32 + (data[i + 2] >> 3));
    dark += data[i] + data[i + 1] + data[i + 2] < 60;
  }
  return {
    hash: app.sims[0].hash(),
    isFinite: app.sims[0].matrices().every(Number.isFinite),
    fallen: belowGround(),
    shades: shades.size,
    dark: dark / (data.length / 4),
    picture: canvas.toDataURL('image/jpeg', 0.85),
  };
}

// Runs in the page.
function hashAt([name, substeps, frames]) {
  const { app } = globalThis.tenon;
  history.replaceState(null, '', `#scene=${name}&substeps=${substeps}`);
  app.readAddress();
  for (let i = 0; i < frames; ++i) app.advance();
  return app.sims[0].hash();
}

async function checkScenes() {
  const page = await open(`${server.address}?still`);
  await page.addStyleTag({ content: '.transport { display: none }' });
  const names = await page.evaluate(() => globalThis.tenon.app.engine.scenes.map((s) => s.name));
  const sheet = [];
  for (const name of names) {
    const native = nativeHash(name);
    const result = await page.evaluate(runScene, [name, FRAMES]);
    check(`${name}: state is finite`, result.isFinite);
    check(`${name}: nothing is below the ground`, result.fallen === 0, `${result.fallen}`);
    const wanted = await native;
    check(`${name}: hash`, result.hash === wanted, `${result.hash}, native ${wanted}`);
    check(
      `${name}: picture`,
      result.shades > 12 && result.dark < 0.6,
      JSON.stringify(result.shades),
    );
    sheet.push({ name, picture: result.picture });
    for (const substeps of [1, 20]) {
      const other = nativeHash(name, FEW, '--substeps', `${substeps}`);
      const found = await page.evaluate(hashAt, [name, substeps, FEW]);
      check(`${name}: hash at ${substeps} substeps`, found === (await other), found);
    }
  }
  check(
    'scenes: no error in the console',
    page.complaints.length === 0,
    page.complaints.join('\n'),
  );
  await page.close();
  await writeSheet(sheet);
}

// All pictures on one, for visual inspection.
async function writeSheet(sheet) {
  const page = await browser.newPage({ viewport: { width: 1320, height: 600 } });
  const cells = sheet.map(
    ({ name, picture }) =>
      `<figure><img src="${picture}"><figcaption>${name}</figcaption></figure>`,
  );
  await page.setContent(`<style>
    body { margin: 8px; font: 12px sans-serif; display: grid; gap: 8px; grid-template-columns: repeat(6, 1fr) }
    figure { margin: 0 } img { width: 100% }</style>${cells.join('')}`);
  await page.screenshot({ path: join(pictures, 'scenes.png'), fullPage: true });
  await page.close();
}

// ---- Accessibility

// The first page, a scene, and a scene with the editor and a selection, in light and dark.
async function checkAccess() {
  const axe = createRequire(import.meta.url).resolve('axe-core');
  const size = { width: 1280, height: 800 };
  for (const part of ['', '#scene=pendulum_triple', '#scene=stack']) {
    const page = await open(`${server.address}?still${part}`, size);
    await page.addScriptTag({ path: axe });
    if (part === '#scene=stack') {
      await page.evaluate(async () => {
        const { app } = globalThis.tenon;
        await app.edit();
        await app.select({ x: 0, y: 0, sim: app.sims[0], side: 0, hit: { item: 1 } });
      });
    }
    for (const theme of ['light', 'dark']) await checkTheme(page, part, theme);
    if (part === '#scene=pendulum_triple') await keyboard(page);
    await page.close();
  }
}

async function checkTheme(page, part, theme) {
  await page.evaluate((name) => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    globalThis.tenon.app.frameNode.setTheme(name);
  }, theme);
  await page.evaluate(() =>
    Promise.allSettled(document.getAnimations().map((transition) => transition.finished)),
  );
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`).join('\n');
  check(`accessibility, ${part || 'first page'}, ${theme}`, violations.length === 0, told);
  const name = part.slice(7) || 'first';
  await page.screenshot({ path: join(pictures, `page-${name}-${theme}.png`) });
}

// ---- The single file

async function checkSingleFile() {
  const page = await open(`file://${join(site, 'gallery.html')}?still#scene=stack`);
  const hash = await page.evaluate((frames) => {
    for (let i = 0; i < frames; ++i) globalThis.tenon.app.advance();
    return globalThis.tenon.app.sims[0].hash();
  }, FRAMES);
  check('single file: hash', hash === (await nativeHash('stack')));
  check('single file: no error', page.complaints.length === 0, page.complaints.join('\n'));
  await page.close();
}

await mkdir(pictures, { recursive: true });
try {
  await tellTransfer();
  await documents(join(site, 'docs'));
  await zips();
  await checkScenes();
  await behaviour(browser, open, server.address, pictures, nativeHash);
  await models(open, server.address, pictures, nativeHash);
  await checkAccess();
  await checkSingleFile();
} catch (error) {
  check('the test itself', false, error.stack);
} finally {
  await browser.close();
  server.close();
}
finish();
