#!/usr/bin/env node
// Times models beside MuJoCo, in turns, best of three: reading and building, and simulating 1/60 s at 8
// substeps; MuJoCo, compiled to WebAssembly, at the time step of the file. Without files: the robots of
// robots/ on their floor, and a tree of 60 bodies with 20 meshes of 19,800 triangles each.
// With --check: only the tree, without MuJoCo; it must be read and built in a second of processor time.
//   node bench.mjs [--check] ROBOT_BENCH FOLDER [FILE...]
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { load, mujoco } from "./mujoco.mjs";

const SUBSTEPS = 8;
const FRAMES = 200;
const ROUNDS = 3;
const LOADED = 1000; // ms
const check = process.argv.includes("--check");
const [program, folder, ...given] = process.argv.slice(2).filter((a) => !a.startsWith("--"));
mkdirSync(folder, { recursive: true });

// A ball of rings and sectors as binary STL.
function ball(radius) {
  const [rings, sectors] = [100, 100];
  const at = (i, k) => {
    const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * k) / sectors];
    return [radius * Math.sin(a) * Math.cos(b), radius * Math.sin(a) * Math.sin(b), 1.5 * radius * Math.cos(a)];
  };
  const triangles = [];
  for (let i = 0; i < rings; ++i) {
    for (let k = 0; k < sectors; ++k) {
      const [p, q, r, s] = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
      if (i + 1 < rings) triangles.push([p, q, r]);
      if (i > 0) triangles.push([p, r, s]);
    }
  }
  const bytes = Buffer.alloc(84 + 50 * triangles.length);
  bytes.writeUInt32LE(triangles.length, 80);
  triangles.forEach((t, i) => t.flat().forEach((x, k) => bytes.writeFloatLE(x, 84 + 50 * i + 12 + 4 * k)));
  return bytes;
}

function largeModel() {
  const meshes = Array.from({ length: 20 }, (_, i) => i);
  for (const i of meshes) writeFileSync(join(folder, `ball${i}.stl`), ball(0.05 + 0.001 * i));
  const limb = (depth, n) =>
    depth === 0
      ? ""
      : `<body pos="${depth === 10 ? `0 0 .15` : ".25 0 0"}" euler="0 0 ${depth === 10 ? 60 * n : 10}"><joint axis="0 1 0" damping="1" stiffness="20"/><geom type="mesh" mesh="ball${(10 * n + depth) % 20}"/>${limb(depth - 1, n)}</body>`;
  const text = `<mujoco><asset>${meshes.map((i) => `<mesh file="ball${i}.stl"/>`).join("")}</asset><worldbody><geom type="plane" size="0 0 1" pos="0 0 -2"/>${[0, 1, 2, 3, 4, 5].map((n) => limb(10, n)).join("")}</worldbody></mujoco>`;
  const path = join(folder, "large.xml");
  writeFileSync(path, text);
  return path;
}

// Milliseconds of reading, and of 1/60 s of simulation.
function timeMujoco(path) {
  const start = performance.now();
  const model = load(path);
  const read = performance.now() - start;
  const data = new mujoco.MjData(model);
  if (model.nkey) mujoco.mj_resetDataKeyframe(model, data, 0);
  const times = [];
  const steps = Math.max(1, Math.round(1 / 60 / model.opt.timestep));
  for (let i = 0; i < FRAMES; ++i) {
    const before = performance.now();
    for (let k = 0; k < steps; ++k) mujoco.mj_step(model, data);
    times.push(((performance.now() - before) * (1 / 60)) / (steps * model.opt.timestep));
  }
  times.sort((a, b) => a - b);
  const out = { read, step: times[FRAMES >> 1], bodies: model.nbody - 1, dof: model.nv, meshes: model.nmesh };
  data.delete();
  model.delete();
  return out;
}

const beside = (path) => new URL(path, import.meta.url).pathname;
const files = given.length
  ? given
  : [...["arm", "quadruped", "humanoid"].map((name) => beside(`../../robots/${name}/scene.xml`)), largeModel()];
const time = (file, frames) => JSON.parse(execFileSync(program, [SUBSTEPS, frames, file], { encoding: "utf8" }));
if (check) {
  const { processor } = time(largeModel(), 1);
  console.log(`60 bodies and 20 meshes of 19,800 triangles: ${processor.toFixed(0)} ms of processor time`);
  process.exit(processor < LOADED ? 0 : 1);
}
const best = (a, b) => Object.fromEntries(Object.entries(b).map(([k, v]) => [k, Math.min(v, a?.[k] ?? Infinity)]));
console.log("| model | bodies | degrees of freedom | meshes | read and build, ms | step of 1/60 s, ms | MuJoCo reads, ms | MuJoCo 1/60 s, ms |");
console.log("|---|---|---|---|---|---|---|---|");
for (const file of files) {
  let [ours, theirs] = [null, null];
  for (let round = 0; round < ROUNDS; ++round) {
    ours = best(ours, time(file, FRAMES));
    theirs = best(theirs, timeMujoco(file));
  }
  const name = basename(file) === "scene.xml" ? basename(dirname(file)) : basename(file, ".xml");
  const cells = [name, theirs.bodies, theirs.dof, theirs.meshes, (ours.read + ours.build).toFixed(0), ours.step.toFixed(3), theirs.read.toFixed(0), theirs.step.toFixed(3)];
  console.log(`| ${cells.join(" | ")} |`);
}
