// Draws a small picture of every scene with the page, and larger ones for the cards of the first page,
// each in light and dark. Pictures are cached beside the site and drawn again when the module or the
// drawing code changes.
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasBrowser, launch } from './browser.mjs';
import { serve } from './serve.mjs';
import { CARDS } from './src/catalog.js';

const SMALL = { width: 192, height: 120 };
const LARGE = { width: 640, height: 400 };

const DRAWING = [
  'bodies',
  'catalog',
  'geometry',
  'ground',
  'items',
  'looks',
  'overlay',
  'renderer',
  'shaders',
  'stage',
  'surfaces',
  'theme',
];

async function fingerprint(site, frames) {
  const hash = createHash('sha256').update(`${frames}`);
  hash.update(await readFile(join(site, 'tenon-scenes.wasm')));
  for (const name of DRAWING) {
    hash.update(await readFile(new URL(`src/${name}.js`, import.meta.url)));
  }
  return hash.digest('hex');
}

async function kept(folder, key) {
  try {
    const { names, key: of } = JSON.parse(await readFile(join(folder, 'made.json'), 'utf8'));
    if (of !== key) return null;
    const pictures = {};
    for (const name of names) pictures[name] = await readFile(join(folder, `${name}.webp`));
    return pictures;
  } catch {
    return null; // no pictures yet
  }
}

// Runs in the page: its pictures in light and dark.
function drawScene([name, frames]) {
  const { app } = globalThis.tenon;
  history.replaceState(null, '', `#scene=${name}`);
  app.readAddress();
  const worth = Math.min(frames, Math.round(24 * app.scene.seconds));
  for (let i = 0; i < worth; ++i) {
    app.advance();
    if (i % 3 === 2) app.stage.update(app.sims, app.state.see, 1); // trails, and the camera
  }
  return ['light', 'dark'].map((theme) => {
    app.frameNode.setTheme(theme);
    app.draw();
    return app.stage.canvas.toDataURL('image/webp', 0.72);
  });
}

async function make(site, frames) {
  const server = await serve(site, 0);
  const browser = await launch();
  const pictures = {};
  try {
    const page = await browser.newPage({ viewport: SMALL });
    await page.goto(`${server.address}?still#scene=stack`);
    await page.waitForSelector('body.ready');
    await page.addStyleTag({
      content:
        'body > :not(.stage), .stage > :not(canvas) { display: none } body { grid-template-rows: 0 1fr 0 }',
    });
    const names = await page.evaluate(() => globalThis.tenon.app.engine.scenes.map((s) => s.name));
    const take = async (name, key) => {
      const urls = await page.evaluate(drawScene, [name, frames]);
      const [light, dark] = urls.map((url) => Buffer.from(url.split(',')[1], 'base64'));
      Object.assign(pictures, { [key]: light, [`${key}-dark`]: dark });
    };
    for (const name of names) await take(name, name);
    await page.setViewportSize(LARGE);
    for (const name of CARDS) await take(name, `card-${name}`);
  } finally {
    await browser.close();
    server.close();
  }
  return pictures;
}

// Every scene after that many frames, or fewer if it is short.
export async function thumbnails(site, folder, frames) {
  const key = await fingerprint(site, frames);
  const old = await kept(folder, key);
  if (old) return old;
  if (!hasBrowser()) {
    console.log('gallery: no Chromium, the list has no pictures');
    return {};
  }
  const pictures = await make(site, frames);
  await mkdir(folder, { recursive: true });
  for (const [name, data] of Object.entries(pictures)) {
    await writeFile(join(folder, `${name}.webp`), data);
  }
  const names = Object.keys(pictures);
  await writeFile(join(folder, 'made.json'), JSON.stringify({ key, names }));
  return pictures;
}
