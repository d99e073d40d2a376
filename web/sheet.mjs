// Contact sheets: every scene after two seconds in a desktop and a phone window, to look at after
// changes of the drawing code.
// usage: node sheet.mjs SITE OUTPUT [SCENE...]
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launch } from './browser.mjs';
import { serve } from './serve.mjs';

const [site, output, ...wanted] = process.argv.slice(2);
const FRAMES = 120;
const WINDOWS = { desktop: { width: 960, height: 600 }, phone: { width: 390, height: 844 } };
const COLUMNS = { desktop: 4, phone: 9 };
const CELLS = { desktop: 20, phone: 27 }; // of a sheet

// Runs in the page.
function show([name, frames]) {
  const { app } = globalThis.tenon;
  history.replaceState(null, '', `#scene=${name}`);
  app.readAddress();
  for (let i = 0; i < frames; ++i) {
    app.advance();
    if (i % 3 === 2) app.stage.update(app.sims, app.state.see, 1);
  }
  app.draw();
}

async function pictures(browser, address, size) {
  const page = await browser.newPage({ viewport: size });
  await page.goto(`${address}?still#scene=stack`);
  await page.waitForSelector('body.ready');
  const all = await page.evaluate(() => globalThis.tenon.app.engine.scenes.map((s) => s.name));
  const list = [];
  for (const name of wanted.length ? wanted : all) {
    await page.evaluate(show, [name, FRAMES]);
    const picture = await page.screenshot({ type: 'jpeg', quality: 85 });
    list.push({ name, url: `data:image/jpeg;base64,${picture.toString('base64')}` });
  }
  await page.close();
  return list;
}

async function writeSheet(browser, path, cells, columns) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 600 } });
  const figures = cells.map(
    ({ name, url }) => `<figure><img src="${url}"><figcaption>${name}</figcaption></figure>`,
  );
  await page.setContent(`<style>
    body { margin: 6px; font: 12px sans-serif; display: grid; gap: 6px;
      grid-template-columns: repeat(${columns}, 1fr) }
    figure { margin: 0 } img { width: 100% }</style>${figures.join('')}`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}

await mkdir(output, { recursive: true });
const server = await serve(site, 0);
const browser = await launch();
try {
  for (const [name, size] of Object.entries(WINDOWS)) {
    const list = await pictures(browser, server.address, size);
    for (let i = 0; i < list.length; i += CELLS[name]) {
      const path = join(output, `${name}-${i / CELLS[name] + 1}.png`);
      await writeSheet(browser, path, list.slice(i, i + CELLS[name]), COLUMNS[name]);
      console.log(path);
    }
  }
} finally {
  await browser.close();
  server.close();
}
