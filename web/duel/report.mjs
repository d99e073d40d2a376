// Writes docs/duel.md and docs/duel.svg from the figures of a run.
// usage: node report.mjs FIGURES DOCS
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const COLORS = { Tenon: '#1766a6', Rapier: '#c8372d', Jolt: '#d98c00', MuJoCo: '#3f8f4f' };
const digits = (x) => (x === 0 ? '0' : `${Number(x.toPrecision(2))}`);
const error = (x, unit) => (x === null ? 'none' : `${digits(x)} ${unit}`);
const size = ({ error: x }) => x ?? Infinity;

const runsOf = (scene, engine) => scene.runs.filter((run) => run.engine === engine);
const defaultOf = (scene, engine) => runsOf(scene, engine)[0];
const bestOf = (scene, engine) =>
  runsOf(scene, engine).reduce((a, b) => (size(b) < size(a) ? b : a));

// ---- Chart

const PANEL = { width: 250, height: 190, left: 52, top: 30, right: 14, bottom: 34 };
const COLUMNS = 3;

const decades = (values) => {
  const logs = values.map(Math.log10);
  return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
};

const power = (k) => (k >= -2 && k <= 3 ? `${Number((10 ** k).toPrecision(1))}` : `1e${k}`);

// One scene: time across, error upwards, both in decades; exact zeros and errors below the scale on its
// bottom line.
function panel(scene, column, row) {
  const x0 = column * (PANEL.width + 12) + PANEL.left;
  const y0 = row * (PANEL.height + 12) + PANEL.top;
  const [w, h] = [PANEL.width - PANEL.left - PANEL.right, PANEL.height - PANEL.top - PANEL.bottom];
  const finite = scene.runs.filter((run) => run.error !== null);
  const [left, right] = decades(finite.map((run) => run.milliseconds));
  const shown = finite.map((run) => run.error).filter((x) => x > 1e-7);
  const [low, high] = decades(shown);
  const floor = low - 1; // where zeros stand
  const x = (ms) => x0 + (w * (Math.log10(ms) - left)) / (right - left);
  const y = (e) => y0 + h - (h * ((e > 1e-7 ? Math.log10(e) : floor) - floor)) / (high - floor);
  const out = [`<text class="title" x="${x0}" y="${y0 - 10}">${scene.name}, ${scene.unit}</text>`];
  out.push(`<rect class="frame" x="${x0}" y="${y0}" width="${w}" height="${h}"/>`);
  for (let k = left; k <= right; ++k) {
    const at = x(10 ** k).toFixed(1);
    out.push(`<path class="grid" d="M${at} ${y0}v${h}"/>`);
    out.push(`<text class="tick" x="${at}" y="${y0 + h + 14}">${power(k)}</text>`);
  }
  const step = Math.ceil((high - low) / 5);
  for (let k = low; k <= high; k += step) {
    const at = y(10 ** k).toFixed(1);
    out.push(`<path class="grid" d="M${x0} ${at}h${w}"/>`);
    out.push(`<text class="tick end" x="${x0 - 5}" y="${+at + 4}">${power(k)}</text>`);
  }
  if (shown.length < finite.length)
    out.push(`<text class="tick end" x="${x0 - 5}" y="${y0 + h + 4}">0</text>`);
  for (const engine of Object.keys(COLORS)) {
    for (const run of runsOf(scene, engine).filter((one) => one.error !== null)) {
      const isDefault = run === defaultOf(scene, engine);
      const place = `cx="${x(run.milliseconds).toFixed(1)}" cy="${y(run.error).toFixed(1)}"`;
      const look = isDefault
        ? `r="5" fill="${COLORS[engine]}"`
        : `r="3.5" fill="none" stroke="${COLORS[engine]}" stroke-width="1.6"`;
      const told = `${engine}, ${run.setting}: ${run.milliseconds} ms, ${run.error} ${scene.unit}`;
      out.push(`<circle ${place} ${look}><title>${told}</title></circle>`);
    }
  }
  return out.join('\n');
}

const STYLE = `text { font: 12px system-ui, sans-serif; fill: #1c2127 }
.title { font-weight: 600; font-size: 13px } .tick { font-size: 10.5px; fill: #5c6670; text-anchor: middle }
.end { text-anchor: end } .grid { stroke: #e3e7eb } .frame { fill: none; stroke: #7b858f }`;

export function draw(scenes) {
  const rows = Math.ceil(scenes.length / COLUMNS);
  const width = COLUMNS * (PANEL.width + 12);
  const height = rows * (PANEL.height + 12) + 40;
  const keys = Object.entries(COLORS).map(
    ([name, color], i) =>
      `<circle cx="${60 + 78 * i}" cy="${height - 20}" r="5" fill="${color}"/>` +
      `<text x="${70 + 78 * i}" y="${height - 16}">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Time and error of each engine on each scene">
<style>${STYLE}</style><rect width="${width}" height="${height}" fill="#fff"/>
${scenes.map((scene, i) => panel(scene, i % COLUMNS, Math.floor(i / COLUMNS))).join('\n')}
${keys.join('\n')}
<text x="380" y="${height - 16}">across: ms a frame; up: error. Dots: defaults, rings: other settings</text>
</svg>
`;
}

// ---- Table

function rowsOf(scene) {
  return Object.keys(COLORS).map((engine, i) => {
    const [usual, best] = [defaultOf(scene, engine), bestOf(scene, engine)];
    const cells = [
      i === 0 ? `**${scene.name}**` : '',
      engine,
      digits(usual.milliseconds),
      error(usual.error, scene.unit),
      best === usual ? 'default' : best.setting,
      digits(best.milliseconds),
      error(best.error, scene.unit),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

// Where another engine is ahead of Tenon.
export function losses(scenes) {
  return scenes.flatMap((scene) => {
    const ours = defaultOf(scene, 'Tenon');
    const best = bestOf(scene, 'Tenon');
    const told = Object.keys(COLORS).flatMap((engine) => {
      if (engine === 'Tenon') return [];
      const usual = defaultOf(scene, engine);
      const theirs = bestOf(scene, engine);
      const list = [];
      if (size(usual) < size(ours))
        list.push(`${engine} is more accurate with defaults (${error(usual.error, scene.unit)})`);
      if (usual.milliseconds < ours.milliseconds)
        list.push(`${engine} is faster with defaults (${digits(usual.milliseconds)} ms)`);
      if (size(theirs) < size(best))
        list.push(`${engine} is more accurate at its best (${error(theirs.error, scene.unit)})`);
      return list;
    });
    return told.length ? [`- ${scene.name}: ${told.join('; ')}.`] : [];
  });
}

const settingsText = ({ name, version, settings }) =>
  `- ${name} ${version}: ${settings.map(({ name: setting, text }) => (text ? `${setting} (${text})` : setting)).join(', ')}.`;

export function document({ machine, date, engines, scenes }) {
  return `# Duel: Tenon beside Rapier, Jolt and MuJoCo

\`make duel\` runs the same scenes on four engines, all as WebAssembly from npm, in one process of Node, one
thread each, and compares them with the law that each scene obeys. It writes docs/duel.json and this page;
\`web/duel\` holds the scenes and one file for each engine.

![Time and error of each engine on each scene](duel.svg)

Measured on ${date}: ${machine}; two shared cores of a virtual machine. Time is processor time of a frame
of 1/60 s, the mean over the scene. All engines take turns for the rounds below, and the least time of each frame counts.
*Best* is the setting of the list below with the smallest error.

| scene | engine | default, ms | error | best | ms | error |
|---|---|--:|--:|---|--:|--:|
${scenes.flatMap(rowsOf).join('\n')}

## Where others are ahead

${losses(scenes).join('\n') || '- Nowhere.'}

## Laws

${scenes.map(({ name, law, unit, bodies, joints, seconds, rounds }) => `- **${name}** (${bodies} bodies, ${joints} joints, ${digits(seconds)} s, rounds: ${rounds}): ${law}, ${unit}.`).join('\n')}

## Settings

${engines.map(settingsText).join('\n')}

- A setting is not repeated when its runs have taken 6 s; runs that would take more than a minute have no error here.
- Bodies, masses, moments of inertia, joints, friction of 0.5 and servos are the same numbers in all engines;
  nothing sleeps, damping is 0. Errors are computed from the poses, by one program for all.
- MuJoCo solves trees of joints in their own coordinates, so joints cannot open; its contacts are soft by
  design. A frame has 8 of its steps, as its default step is 1/500 s. RK4 is left out where bodies touch,
  because contacts are not smooth.
- Rapier's multibody joints start at zero angles and have no motors in JavaScript, so they are left out of
  pendula, cradle and servo arm.
- All packages are as npm installs them: \`@dimforge/rapier3d-compat\`, \`jolt-physics\`, \`@mujoco/mujoco\`.
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [figures, docs] = process.argv.slice(2);
  const told = JSON.parse(readFileSync(figures, 'utf8'));
  writeFileSync(join(docs, 'duel.md'), document(told));
  writeFileSync(join(docs, 'duel.svg'), draw(told.scenes));
}
