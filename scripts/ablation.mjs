#!/usr/bin/env node
// What each rule of the solver is good for: runs the scenes of test/scenes/ablation.c with all rules, then
// with each rule switched off, and prints the measures that change.
//   node scripts/ablation.mjs [--rules a,b] [--scenes a,b] [--markdown]
// All figures go to build/rules/ablation.json. The names of rules and scenes come from the program.
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const LEAST_CHANGE = 0.05; // relative to the measure with all rules
const NUDGES = [0, 1, 2, 3, 4]; // runs with all rules whose spread is what chance does
const LONGEST = 300_000; // ms of one run
const SHOWN = 6; // changes of a rule that are printed

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const build = join(root, "build", "rules");
const program = join(build, "test", "ablation");

// ---- Arguments and build -------------------------------------------------------------------------

let only = {};
let markdown = false;
for (let args = process.argv.slice(2); args.length > 0; ) {
  const arg = args.shift();
  if (arg === "--markdown") markdown = true;
  else if ((arg === "--rules" || arg === "--scenes") && args.length > 0) only[arg] = args.shift().split(",");
  else {
    console.error("usage: ablation.mjs [--rules a,b] [--scenes a,b] [--markdown]");
    process.exit(2);
  }
}

function make() {
  const options = { cwd: root, stdio: ["ignore", "ignore", "inherit"] };
  const off = ["TENON_PEERS", "TENON_BUILD_BENCH", "TENON_BUILD_CLI"].map((name) => `-D${name}=OFF`);
  execFileSync(
    "cmake",
    ["-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTENON_RULES=ON", ...off],
    options,
  );
  execFileSync("cmake", ["--build", build, "--target", "ablation"], options);
}

function list(what) {
  const names = execFileSync(program, [what], { encoding: "utf8" }).split("\n").filter(Boolean);
  const wanted = only[`--${what}`] ?? names;
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`ablation: there is no ${unknown.join(", ")}; the ${what} are ${names.join(", ")}`);
    process.exit(2);
  }
  return wanted;
}

// ---- Runs ----------------------------------------------------------------------------------------

// The measures of one run by their name, { value, floor }; null if it crashed or took too long.
function measure(scene, rule, nudge) {
  const env = { ...process.env, TENON_RULES_OFF: rule ?? "" };
  return new Promise((resolve) => {
    execFile(program, [scene, String(nudge)], { env, timeout: LONGEST }, (error, text) => {
      if (error) return resolve(null);
      const found = new Map();
      for (const line of text.split("\n").filter(Boolean)) {
        const [label, name, value, floor] = line.split(" ");
        found.set(`${label} ${name}`, { value: Number(value), floor: Number(floor) });
      }
      resolve(found);
    });
  });
}

// Runs the jobs side by side, and calls `done` after each.
async function all(jobs, done) {
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) {
      const job = jobs[next++];
      job.found = await measure(job.scene, job.rule, job.nudge);
      done(job);
    }
  };
  await Promise.all(Array.from({ length: Number(process.env.JOBS) || availableParallelism() }, worker));
}

// ---- Comparison ----------------------------------------------------------------------------------

// With all rules: the value of the run that is not nudged, and the range over all nudges.
function spread(runs) {
  const measures = new Map();
  for (const run of runs) {
    for (const [name, { value, floor }] of run.found ?? []) {
      const m = measures.get(name) ?? { with: NaN, low: Infinity, high: -Infinity, floor };
      m.with = run.nudge === 0 ? value : m.with;
      m.low = Math.min(m.low, value);
      m.high = Math.max(m.high, value);
      measures.set(name, m);
    }
  }
  return measures;
}

// How far `value` is outside of what chance does; at most 0 if it is not.
function beyond(m, value) {
  if (!Number.isFinite(value)) return Infinity;
  const most = Math.max(Math.abs(m.low), Math.abs(m.high));
  const slack = Math.max(LEAST_CHANGE * most, m.high - m.low, m.floor);
  return Math.max(m.low - value, value - m.high) - slack;
}

function changes(job, measures) {
  if (!job.found) return [{ name: `${job.scene} runs`, with: 1, without: NaN, size: Infinity }];
  const found = [];
  for (const [name, { value }] of job.found) {
    const m = measures.get(name);
    if (m && beyond(m, value) > 0) {
      const size = Math.abs(value - m.with) / Math.max(Math.abs(m.with), m.floor);
      found.push({ name, with: m.with, without: value, size: Number.isFinite(size) ? size : Infinity });
    }
  }
  return found;
}

// ---- Output --------------------------------------------------------------------------------------

const digits = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(3))) : "fails");

function print(rule, found) {
  found.sort((a, b) => b.size - a.size);
  const shown = found.slice(0, SHOWN);
  if (markdown) {
    const cells = shown.map((c) => `${c.name} ${digits(c.with)} → ${digits(c.without)}`);
    console.log(`| \`${rule}\` | ${found.length} | ${cells.join("; ")} |`);
    return;
  }
  console.log(`\n${rule}: ${found.length} measures change by more than ${100 * LEAST_CHANGE} % and chance`);
  for (const c of shown) {
    console.log(`  ${c.name.padEnd(40)} with ${digits(c.with).padStart(10)}  without ${digits(c.without).padStart(10)}`);
  }
}

make();
const rules = list("rules");
const scenes = list("scenes");
const base = scenes.flatMap((scene) => NUDGES.map((nudge) => ({ scene, nudge })));
const tried = rules.flatMap((rule) => scenes.map((scene) => ({ scene, rule, nudge: 0 })));
console.error(`ablation: ${base.length} runs with all rules, then ${tried.length} without one`);
await all(base, () => {});

const measures = spread(base);
const broken = base.filter((job) => !job.found).map((job) => job.scene);
if (broken.length > 0) console.log(`With all rules these do not run: ${[...new Set(broken)].join(", ")}`);
if (markdown) console.log("| rule off | measures that change | largest, with → without |\n|---|---|---|");
const idle = [];
const report = {};
await all(tried, (last) => {
  const jobs = tried.filter((job) => job.rule === last.rule);
  if (jobs.some((job) => job.found === undefined)) return;
  const found = jobs.flatMap((job) => changes(job, measures));
  report[last.rule] = found;
  if (found.length > 0) print(last.rule, found);
  else idle.push(last.rule);
  writeFileSync(join(build, "ablation.json"), JSON.stringify({ measures: [...measures], changes: report }, null, 1));
});
console.log(`\nRules that change no measure: ${idle.join(", ") || "none"}`);
