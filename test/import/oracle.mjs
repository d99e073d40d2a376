#!/usr/bin/env node
// Compares random trees and the files of features.mjs with MuJoCo: total mass, and of every body mass,
// centre, inertia, and the pose at the reference position and at a keyframe, in the model and in a
// world.
//   node oracle.mjs MODEL_DUMP FOLDER [FIRST LAST]   seeds, 0 200 by default
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare, describe } from "./compare.mjs";
import { dump, loadText } from "./mujoco.mjs";
import { features } from "./features.mjs";
import { randomTree } from "./random_tree.mjs";

const BOUND = 1e-4;
const [program, folder, first = 0, last = 200] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const cases = [];
let refused = 0;
const files = Object.entries(features);
for (let seed = Number(first); seed < Number(last); ++seed) {
  files.push([`seed ${seed}`, randomTree(seed)]);
}
for (const [seed, xml] of files) {
  const path = join(folder, `${seed.replace(" ", "_")}.xml`);
  writeFileSync(path, xml);
  try {
    const model = loadText(xml);
    cases.push({ seed, path, theirs: dump(model) });
    model.delete();
  } catch (error) {
    refused += 1;
    console.log(`${seed}: MuJoCo refuses it: ${String(error.message).trim()}`);
  }
}
const lines = execFileSync(program, cases.map((c) => c.path), { encoding: "utf8", maxBuffer: 1 << 28 });
const ours = lines.trim().split("\n").map(JSON.parse);
let failed = 0;
const worst = {};
cases.forEach(({ seed, theirs }, i) => {
  const errors = ours[i] ? compare(ours[i], theirs) : { unread: 1 };
  for (const [key, value] of Object.entries(errors)) worst[key] = Math.max(worst[key] ?? 0, value);
  if (Object.values(errors).some((e) => !(e <= BOUND))) {
    failed += 1;
    console.log(`${seed}: ${describe(errors)}`);
  }
});
console.log(`${cases.length} files, largest relative errors: ${describe(worst)}`);
console.log(`${cases.length - failed} passed, ${failed + refused} failed`);
process.exitCode = failed + refused || cases.length === 0 ? 1 : 0;
