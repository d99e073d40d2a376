// The duel's scenes on all engines for a second, and its document from its figures.
// usage: node test.mjs PACKAGE DOCS WORK
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, finish } from '../test/check.mjs';
import { COLORS, document, draw } from './report.mjs';

const [dist, docs, work] = process.argv.slice(2);
const script = join(dirname(fileURLToPath(import.meta.url)), 'run.mjs');
const told = JSON.parse(readFileSync(join(docs, 'duel.json'), 'utf8'));
const text = (name) => readFileSync(join(docs, name), 'utf8');
check('docs/duel.md is that of docs/duel.json', text('duel.md') === document(told));
check('docs/duel.svg is that of docs/duel.json', text('duel.svg') === draw(told.scenes));
check('nine scenes', told.scenes.length === 9);

// Bounds far above what was measured: a wrong adapter is off by more.
const LIMITS = {
  chain: { Tenon: 1, MuJoCo: 1e-6 }, // mm
  pendula: { Tenon: 1, Rapier: 500, Jolt: 500, MuJoCo: 50 }, // mrad
  towers: { Tenon: 0.1, Rapier: 200, MuJoCo: 20 }, // mm
};
mkdirSync(work, { recursive: true });
for (const [name, limits] of Object.entries(LIMITS)) {
  const file = join(work, `duel-${name}.json`);
  execFileSync('node', [script, dist, '--quick', '--only', name, '--json', file]);
  const [{ runs }] = JSON.parse(readFileSync(file, 'utf8')).scenes;
  for (const engine of Object.keys(COLORS)) {
    const { error } = runs.find((run) => run.engine === engine);
    check(
      `${name}, ${engine}`,
      error !== null && error <= (limits[engine] ?? Infinity),
      `${error}`,
    );
  }
}
finish();
