#!/usr/bin/env node
// Compares random trees, the files of features.mjs and styles/ and the robots of robots/ with MuJoCo: total mass, and of every body mass,
// centre, inertia, and the pose at the reference position and at a keyframe, in the model and in a
// world; mass matrix, forces that hold it at rest and bias forces in motion. Each tree twice: with up to
// three joints on a body, and with one.
//   node oracle.mjs MODEL_DUMP FOLDER [FIRST LAST]   seeds, 0 200 by default
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare, describe } from "./compare.mjs";
import { dump, load, loadText } from "./mujoco.mjs";
import { features } from "./features.mjs";
import { randomTree } from "./random_tree.mjs";

const BOUND = 1e-4;
// Of bias forces in motion where a loop is closed: velocities are made to fit the loop.
const LOOPED = 2.1e-3;
const [program, folder, first = 0, last = 200] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const cases = [];
let refused = 0;
const files = Object.entries(features);
for (let seed = Number(first); seed < Number(last); ++seed) {
  files.push([`seed ${seed}`, randomTree(seed)], [`single ${seed}`, randomTree(seed, { single: true })]);
}
for (const [seed, xml] of files) {
  const path = join(folder, `${seed.replace(" ", "_")}.xml`);
  writeFileSync(path, xml);
  try {
    const model = loadText(xml);
    cases.push({ seed, path, theirs: dump(model) });
    model.delete();
  } catch (error) {
    if (seed.startsWith("single")) continue; // a chain without mass; the other one has it
    refused += 1;
    console.log(`${seed}: MuJoCo refuses it: ${String(error.message).trim()}`);
  }
}
const beside = (path) => new URL(path, import.meta.url).pathname;
const robots = ["arm", "quadruped", "humanoid"].map((name) => [name, beside(`../../robots/${name}/scene.xml`)]);
const styles = readdirSync(beside("styles"))
  .filter((file) => file.endsWith(".xml"))
  .map((file) => [file, beside(`styles/${file}`)]);
for (const [robot, path] of [...robots, ...styles]) {
  const model = load(path);
  cases.push({ seed: robot, path, theirs: dump(model) });
  model.delete();
}
const lines = execFileSync(program, cases.map((c) => c.path), { encoding: "utf8", maxBuffer: 1 << 28 });
const ours = lines.trim().split("\n").map(JSON.parse);
let failed = 0;
const worst = {};
cases.forEach(({ seed, theirs }, i) => {
  const errors = ours[i] ? compare(ours[i], theirs, { dynamics: true }) : { unread: 1 };
  const looped = seed === "gripper.xml";
  for (const [key, value] of Object.entries(errors)) {
    const name = looped && key === "bias" ? "looped_bias" : key;
    worst[name] = Math.max(worst[name] ?? 0, value);
  }
  if (Object.entries(errors).some(([key, e]) => !(e <= (looped && key === "bias" ? LOOPED : BOUND)))) {
    failed += 1;
    console.log(`${seed}: ${describe(errors)}`);
  }
});
console.log(`${cases.length} files, largest relative errors: ${describe(worst)}`);
console.log(`${cases.length - failed} passed, ${failed + refused} failed`);
process.exitCode = failed + refused || cases.length === 0 ? 1 : 0;
