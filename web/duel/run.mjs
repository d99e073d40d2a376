// Tenon beside Rapier, Jolt and MuJoCo, all as WebAssembly in one process: time and error of the same
// scenes.
// usage: node run.mjs PACKAGE [--quick] [--only SCENE,...] [--rounds N] [--json FILE]
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { load as loadJolt } from './engines/jolt.mjs';
import { load as loadMujoco } from './engines/mujoco.mjs';
import { load as loadRapier } from './engines/rapier.mjs';
import { load as loadTenon } from './engines/tenon.mjs';
import { scenes } from './scenes.mjs';

const [dist, ...options] = process.argv.slice(2);
const valueOf = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : null);
const isQuick = options.includes('--quick');
const ROUNDS = Number(valueOf('--rounds') ?? (isQuick ? 1 : 7));
const ENOUGH = 6000; // ms of all runs of a setting, which is not repeated then
const MOST = 60000; // ms of a run, which is left out beyond
const FIRST = 10; // frames by which the length of a run is judged

const engines = [await loadTenon(dist), await loadRapier(), await loadJolt(), await loadMujoco()];

// Milliseconds of processor time of the whole process.
function clock() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// Runs a scene once: the times of its frames, and its error, the largest of all frames, of those from a time
// on, or that after the last one.
function runOnce(engine, scene, setting) {
  const frames = Math.round((isQuick ? Math.min(scene.seconds, 1) : scene.seconds) * 60);
  const world = engine.open(scene, setting);
  if (!world) return null;
  const times = [];
  let total = 0;
  let error = 0;
  for (let frame = 1; frame <= frames; ++frame) {
    const start = clock();
    world.step();
    times.push(clock() - start);
    total += times.at(-1);
    if (frame === FIRST && (total * frames) / FIRST > MOST) {
      world.close();
      return { times, total: Infinity, error: null };
    }
    const now = scene.error(scene, world.read(), frame);
    error = scene.isAtEnd || frame <= 60 * (scene.from ?? 0) ? now : Math.max(error, now);
    if (!Number.isFinite(now)) {
      error = Infinity;
      break;
    }
  }
  world.close();
  return { times, total, error };
}

const applies = (scene, { needs }) =>
  needs === undefined ||
  (needs === 'joints' && scene.joints.length > 0) ||
  scene.hasContacts === (needs === 'contacts');

// All settings of all engines in turn. The work of a frame is the same in every round, so the least time of
// each frame counts: what else the machine does meanwhile falls away.
function duel(scene) {
  const entries = engines.flatMap((engine) =>
    engine.settings
      .filter((setting) => applies(scene, setting))
      .map((setting) => ({ engine, setting, least: [], spent: 0 })),
  );
  for (let round = 0; round < ROUNDS; ++round) {
    for (const entry of entries.filter(({ spent }) => spent < ENOUGH)) {
      const told = runOnce(entry.engine, scene, entry.setting);
      entry.isMissing = !told;
      if (!told) continue;
      entry.least = told.times.map((time, i) => Math.min(time, entry.least[i] ?? Infinity));
      entry.spent += told.total;
      entry.error = told.error;
    }
  }
  return entries
    .filter(({ isMissing }) => !isMissing)
    .map(({ engine, setting, least, error }) => ({
      engine: engine.name,
      setting: setting.name,
      milliseconds: +(least.reduce((sum, time) => sum + time, 0) / least.length).toPrecision(3),
      // null: not finite, or too slow to be run to its end
      error: Number.isFinite(error) ? +error.toPrecision(3) : null,
    }));
}

const only = valueOf('--only')?.split(',');
const results = [];
for (const scene of scenes().filter(({ name }) => !only || only.includes(name))) {
  const { name, unit, law, seconds, bodies, joints } = scene;
  const runs = duel(scene);
  const size = { bodies: bodies.length, joints: joints.length };
  results.push({ name, unit, law, seconds, ...size, rounds: ROUNDS, runs });
  console.log(`\n${name}: ${law}, ${unit}`);
  for (const { engine, setting, milliseconds, error } of runs) {
    console.log(
      `  ${engine.padEnd(8)}${setting.padEnd(28)}${milliseconds.toFixed(3).padStart(9)} ms a frame` +
        `${String(error ?? 'none').padStart(12)} ${unit}`,
    );
  }
}

const json = valueOf('--json');
if (json) {
  const told = engines.map(({ name, version, settings }) => ({
    name,
    version,
    settings: settings.map(({ name: setting, text }) => ({ name: setting, text })),
  }));
  const machine = `${cpus()[0].model}, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  const all = { machine, date, engines: told, scenes: results };
  writeFileSync(json, `${JSON.stringify(all, null, 1)}\n`);
}
