// The report of `tenon study --quick` in a browser: all charts are drawn, all numbers and curves
// equal those of their files, all verdicts follow from their numbers.
// usage: study.mjs TENON WORK_DIR
import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasBrowser, launch } from '../browser.mjs';
import { check, finish } from './check.mjs';

const [tenon, work] = process.argv.slice(2);
const out = resolve(work, 'out');
const run = promisify(execFile);

async function study() {
  const { stdout } = await run(tenon, ['study', '--quick', '--out', out]);
  return stdout;
}

// ---- Files

const sheets = new Map();

// label -> rows of { column: number }; an empty field is NaN.
async function sheet(name) {
  if (!sheets.has(name)) {
    const [head, ...lines] = (await readFile(join(out, 'data', `${name}.csv`), 'utf8'))
      .trimEnd()
      .split('\n');
    const columns = head.split(',').slice(1);
    const rows = lines.map((line) => {
      const [label, ...fields] = line.split(',');
      const values = fields.map((field) => (field === '' ? NaN : Number(field)));
      return { label, values: Object.fromEntries(columns.map((c, i) => [c, values[i]])) };
    });
    sheets.set(name, rows);
  }
  return sheets.get(name);
}

// ---- Contents of the page

function readPage() {
  const numbers = [...document.querySelectorAll('.value')].map((node) => ({
    ...node.dataset,
    shown: node.textContent,
  }));
  const charts = [...document.querySelectorAll('figure.chart')].map((figure) => {
    const svg = figure.querySelector(':scope > svg');
    const series = [...svg.querySelectorAll('.series')].map((group) => {
      const line = group.querySelector('.line')?.getAttribute('d');
      const marks = [...group.querySelectorAll('.mark')].map((mark) =>
        mark.tagName === 'circle'
          ? [Number(mark.getAttribute('cx')), Number(mark.getAttribute('cy'))]
          : mark
              .getAttribute('d')
              .match(/M(\S+) (\S+?)l/)
              .slice(1)
              .map(Number)
              .map((v, i) => v + 6 * i),
      );
      const points =
        line === undefined
          ? marks
          : [...line.matchAll(/[ML](\S+) ([-\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]);
      const box = group.getBBox();
      const zeros = group.querySelectorAll('.zero').length;
      return { ...group.dataset, points, zeros, size: Math.max(box.width, box.height) };
    });
    const texts = [...svg.querySelectorAll('.axis')].map((node) => node.textContent);
    const title = figure.querySelector('figcaption').textContent;
    const box = svg.getBoundingClientRect();
    const legend = figure.querySelectorAll('.legend li').length;
    return { ...svg.dataset, title, texts, series, legend, width: box.width, height: box.height };
  });
  const verdicts = [...document.querySelectorAll('.verdicts tbody tr')].map((row) => {
    const cells = [...row.cells];
    return {
      what: cells[1].textContent,
      value: cells[3].querySelector('.value').textContent,
      bound: cells[4].textContent,
      verdict: cells[5].firstChild.textContent,
    };
  });
  const entries = [...document.querySelectorAll('.contents a')].map((a) => a.hash);
  const lost = entries.filter((hash) => !document.querySelector(hash));
  const headings = document.querySelectorAll('h2[id], h3[id]').length;
  const contents = { lost, isWhole: entries.length === headings + 2 };
  return {
    numbers,
    charts,
    verdicts,
    contents,
    scores: document.querySelectorAll('.score').length,
  };
}

async function checkNumbers(numbers) {
  for (const { csv, label, column, shown } of numbers) {
    const row = (await sheet(csv)).findLast((r) => r.label === label);
    const value = row?.values[column];
    const same = Number.isNaN(value)
      ? shown === '—'
      : Math.abs(Number(shown) - value) <= 0.0006 * Math.abs(value);
    check(`${csv}: ${label}, ${column}`, same, `${shown} is not ${value}`);
  }
}

// Maps a value to its position on the axis, with the digits of the drawing.
function place(value, low, high, from, to, isLog) {
  const f = isLog ? Math.log10 : (v) => v;
  return from + ((to - from) * (f(value) - f(low))) / (f(high) - f(low));
}

async function checkSeries(chart, series) {
  const name = `${chart.title}: ${series.csv}, ${series.label}`;
  const isLog = { x: chart.logX === '1', y: chart.logY === '1' };
  const [left, top, right, bottom] = chart.box.split(' ').map(Number);
  const all = (await sheet(series.csv))
    .map((row, i) => ({
      label: row.label,
      x: series.x ? row.values[series.x] : i,
      y: row.values[series.y],
    }))
    .filter(({ label }) => series.label === '' || label === series.label)
    .filter(({ x, y }) => ![x, y].some(Number.isNaN) && !(isLog.x && x <= 0));
  const rows = all.filter(({ y }) => !(isLog.y && y <= 0));
  const zeros = isLog.y ? all.filter(({ y }) => y === 0).length : 0;
  check(`${name}: exact zeros are shown`, series.zeros === zeros, `${series.zeros} of ${zeros}`);
  check(`${name}: as many points`, rows.length === series.points.length);
  const clamp = (v) => Math.min(Math.max(v, -2000), 3000);
  const worst = rows.reduce((most, { x, y }, i) => {
    const px = clamp(place(x, Number(chart.x0), Number(chart.x1), left, right, isLog.x));
    const py = clamp(place(y, Number(chart.y0), Number(chart.y1), bottom, top, isLog.y));
    const [sx, sy] = series.points[i] ?? [NaN, NaN];
    const off = Math.max(Math.abs(px - sx), Math.abs(py - sy));
    return off <= most ? most : off;
  }, 0);
  check(`${name}: points of the file`, worst < 0.05, `${worst} pixels off`);
}

async function checkCharts(charts) {
  check('charts', charts.length >= 20, `${charts.length}`);
  for (const chart of charts) {
    check(`${chart.title}: is drawn`, chart.width > 300 && chart.height > 100);
    check(
      `${chart.title}: axes`,
      chart.texts.length === 2 && chart.texts.every((t) => t.length > 2),
    );
    check(`${chart.title}: legend`, chart.legend === chart.series.length);
    const drawn = chart.series.some(({ points, size }) => points.length > 0 && size > 1);
    check(`${chart.title}: has something`, drawn);
    for (const series of chart.series) {
      await checkSeries(chart, series);
    }
  }
}

function checkVerdicts(verdicts) {
  check('verdicts', verdicts.length > 60, `${verdicts.length}`);
  for (const { what, value, bound, verdict } of verdicts) {
    const [, sign, limit] = bound.match(/([≤≥]) (\S+)/);
    const slack = 0.0006 * Math.abs(Number(limit)); // rounding of the digits shown
    const [v, b] = [Number(value), Number(limit)];
    const close = Math.abs(v - b) <= slack;
    const holds = sign === '≤' ? v <= b : v >= b;
    check(
      `verdict of ${what}`,
      close || (verdict === 'yes') === holds,
      `${value} ${bound}: ${verdict}`,
    );
  }
}

// Pictures of the scenes: files that a browser reads, with two sides of something in each, if only a chain.
async function checkPictures(page) {
  const pictures = await page.evaluate(() =>
    [...document.querySelectorAll('img.scene')].map((image) => {
      const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.naturalWidth, image.naturalHeight);
      const pixels = new Uint32Array(data.buffer);
      const free = pixels.filter((pixel) => pixel === pixels[0]).length / pixels.length;
      return { name: image.alt, shades: new Set(pixels).size, free };
    }),
  );
  check('a picture in every section', pictures.length >= 20, `${pictures.length}`);
  for (const { name, shades, free } of pictures)
    check(name, shades > 2 && free < 0.999, `${shades} shades, ${free} of it empty`);
}

async function checkPrint(page) {
  await page.emulateMedia({ media: 'print' });
  const { wide, hidden } = await page.evaluate(() => ({
    wide: getComputedStyle(document.body).maxWidth,
    hidden: [...document.querySelectorAll('figure.chart')].filter((f) => f.offsetWidth === 0)
      .length,
  }));
  check('print style', wide === 'none' && hidden === 0);
  const pdf = await page.pdf({ path: join(work, 'report.pdf'), format: 'A4' });
  check('prints', pdf.length > 50000);
}

async function checkPage() {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints = [];
  const addresses = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => addresses.push(request.url()));
  await page.goto(`file://${join(out, 'report.html')}`);
  const shown = await page.evaluate(readPage);
  check('states that it is quick', (await page.locator('.quick').count()) === 1);
  check('scores', shown.scores >= 2);
  check(
    'contents at the side',
    shown.contents.isWhole && !shown.contents.lost.length,
    `${shown.contents.lost}`,
  );
  await checkNumbers(shown.numbers);
  await checkCharts(shown.charts);
  await checkPictures(page);
  checkVerdicts(shown.verdicts);
  await page.screenshot({ path: join(work, 'report.png'), fullPage: true });
  await checkPrint(page);
  check('no complaint', complaints.length === 0, complaints.join('\n'));
  const foreign = addresses.filter((a) => !a.startsWith('file:') && !a.startsWith('data:'));
  check('nothing from elsewhere', foreign.length === 0, foreign.join('\n'));
  await browser.close();
}

// Completed parts are kept; damaged ones are measured again.
async function checkResume() {
  const made = (await stat(join(out, 'data', 'seabra_fig1.csv'))).mtimeMs;
  const again = await study();
  const lines = again.trimEnd().split('\n').slice(0, -1);
  const measured = lines.filter((line) => !line.endsWith('already complete'));
  check('is resumed', measured.length === 1 && measured[0].startsWith('seabra_table'), again);
  check('keeps files', made === (await stat(join(out, 'data', 'seabra_fig1.csv'))).mtimeMs);
  await rm(join(out, 'data', 'dahl_fig3.csv'));
  const { stdout } = await run(tenon, ['study', '--quick', '--out', out]);
  const redone = stdout.split('\n').find((line) => line.startsWith('dahl_falloff'));
  check('measures damaged parts again', /: [\d.]+ s$/.test(redone ?? ''), stdout);
}

await rm(work, { recursive: true, force: true });
await run('mkdir', ['-p', work]);
try {
  await study();
  if (hasBrowser()) await checkPage();
  else check('there is a browser', false);
  await checkResume();
} catch (error) {
  check('the test itself', false, error.stack);
}
finish();
