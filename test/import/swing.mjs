#!/usr/bin/env node
// Random trees without contacts and limits over a second at 20 substeps, against MuJoCo with RK4 at
// 0.1 ms. A tree is close if its coordinates are within 1e-3 rad rms, or within 100 times what a start
// that is off by 1e-6 does to MuJoCo itself. Of 50 trees 49 must be, and all within 4e-3: limbs that turn at
// 40 rad/s converge with more substeps. With --energy: conservative trees, whose energy must drift
// less than that of MuJoCo with its default integrator at 2 ms. With --single: bodies have at most one
// joint each. With --servo: trees of position servos, which must come to rest within 1e-4 rad of
// MuJoCo's. Trees that MuJoCo itself cannot keep stable are left out.
// With --robots: those of robots/, with their trunks held, without limits and motors, from random positions.
//   node swing.mjs [--energy | --servo | --robots] [--single] SWING_DUMP FOLDER [FIRST LAST]   seeds, 0 20 by default
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load, loadText, mujoco } from "./mujoco.mjs";
import { random, randomTree } from "./random_tree.mjs";

const servo = process.argv.includes("--servo");
const SECONDS = servo ? 4 : 1;
const SETTLED = 1e-4;
const FRAMES = 10;
const SUBSTEPS = 20;
const CLOSE = 1e-3;
const CHAOS = 100;
const PERTURBATION = 1e-6;

const energy = process.argv.includes("--energy");
const robots = process.argv.includes("--robots");
const single = process.argv.includes("--single");
const SHARE = 0.98; // of trees that must be close
const BOUND = 4e-3;
const [program, folder, first = 0, last = 20] = process.argv.slice(2).filter((a) => !a.startsWith("--"));
mkdirSync(folder, { recursive: true });

// Positions at equal times. `integrator`: 0 Euler, 1 RK4.
function simulate(model, integrator, timestep, offset = 0) {
  const data = new mujoco.MjData(model);
  model.opt.integrator = integrator;
  model.opt.timestep = timestep;
  model.opt.disableflags |= 1 << 4; // contacts
  model.opt.enableflags |= 1 << 1; // energy
  mujoco.mj_resetDataKeyframe(model, data, model.nkey - 1);
  const shift = Array.from({ length: model.nv }, (_, i) => (i % 2 ? -offset : offset));
  const start = mujoco.DoubleBuffer.FromArray(Array.from(data.qpos));
  mujoco.mj_integratePos(model, start, shift, 1);
  data.qpos.set(start.GetView());
  start.delete();
  mujoco.mj_forward(model, data);
  const frames = [];
  const read = () => frames.push({ qpos: Array.from(data.qpos), energy: data.energy[0] + data.energy[1], kinetic: data.energy[1] });
  read();
  for (let frame = 0; frame < FRAMES; ++frame) {
    const steps = Math.round(SECONDS / FRAMES / timestep);
    for (let i = 0; i < steps; ++i) mujoco.mj_step(model, data);
    mujoco.mj_forward(model, data);
    read();
  }
  const whole = Math.abs(data.time - SECONDS) < 0.5 * timestep; // it starts again when it diverges
  data.delete();
  return whole ? frames : null;
}

// Differences of the coordinates: rad, m, and the angle between rotations.
function differences(model, a, b) {
  const out = [];
  const turn = (at) => {
    const dot = Math.abs([0, 1, 2, 3].reduce((sum, k) => sum + a[at + k] * b[at + k], 0));
    const apart = [1, -1].map((s) => Math.hypot(...[0, 1, 2, 3].map((k) => a[at + k] - s * b[at + k])));
    out.push(dot > 0.9 ? 2 * Math.min(...apart) : 2 * Math.acos(Math.min(1, dot)));
  };
  for (let j = 0; j < model.njnt; ++j) {
    const at = model.jnt_qposadr[j];
    const type = model.jnt_type[j]; // free, ball, slide, hinge
    if (type === 0) {
      for (let k = 0; k < 3; ++k) out.push(a[at + k] - b[at + k]);
      turn(at + 3);
    } else if (type === 1) turn(at);
    else if (type === 2) out.push(a[at] - b[at]);
    else {
      const d = a[at] - b[at];
      out.push(d - 2 * Math.PI * Math.round(d / (2 * Math.PI)));
    }
  }
  return out;
}

const rms = (model, a, b) => {
  const all = a.flatMap((frame, i) => differences(model, frame.qpos, b[i].qpos));
  return Math.sqrt(all.reduce((sum, x) => sum + x * x, 0) / Math.max(1, all.length));
};
const drift = (frames) => Math.max(...frames.map((f) => Math.abs(f.energy - frames[0].energy)));

// A robot of robots/ that hangs on its trunk and swings; in a copy of its folder, beside its meshes.
function passiveRobot(seed) {
  const name = ["arm", "quadruped", "humanoid"][seed % 3];
  const to = join(folder, "robots", name);
  cpSync(new URL(`../../robots/${name}/`, import.meta.url).pathname, to, { recursive: true });
  const text = readFileSync(join(to, `${name}.xml`), "utf8");
  const home = text.match(/qpos="([^"]*)"/)[1].split(" ").slice(/<freejoint/.test(text) ? 7 : 0);
  const r = random(seed);
  const qpos = home.map((q) => Number(q) + r.between(-0.7, 0.7));
  const passive = text
    .replace(/<(actuator|equality|sensor|keyframe)>[^]*?<\/\1>/g, "")
    .replace(/<freejoint[^>]*>/, "")
    .replace(/(<joint[^>]*) range="[^"]*"/g, "$1")
    .replace("</mujoco>", `<keyframe><key qpos="${qpos.join(" ")}"/></keyframe></mujoco>`);
  const path = join(to, `swing_${seed}.xml`);
  writeFileSync(path, passive);
  return { seed, path, model: load(path) };
}

const cases = [];
for (let seed = Number(first); robots && seed < Number(last); ++seed) cases.push(passiveRobot(seed));
for (let seed = Number(first); !robots && seed < Number(last); ++seed) {
  const xml = randomTree(seed, { single, servo, swing: true, conservative: energy });
  const path = join(folder, `${energy ? "energy" : servo ? "servo" : "swing"}_${single ? "single" : "linked"}_${seed}.xml`);
  writeFileSync(path, xml);
  try {
    const model = loadText(xml);
    if (model.nv > 0) cases.push({ seed, path, model });
  } catch {
    continue; // a tree of massless bodies, which MuJoCo refuses
  }
}
const lines = execFileSync(program, [SECONDS, FRAMES, SUBSTEPS, ...cases.map((c) => c.path)], {
  encoding: "utf8",
  maxBuffer: 1 << 28,
});
const ours = lines.trim().split("\n").map(JSON.parse);
let failed = 0;
let unstable = 0;
let far = 0;
const sizes = [];
cases.forEach(({ seed, model }, i) => {
  let text, ok;
  if (servo) {
    const exact = simulate(model, 3, 1e-3); // implicitfast
    if (!exact) {
      unstable += 1;
      model.delete();
      return;
    }
    const error = Math.max(...differences(model, exact.at(-1).qpos, ours[i].at(-1).qpos).map(Math.abs));
    const moves = Math.max(...differences(model, exact.at(-1).qpos, exact.at(-2).qpos).map(Math.abs));
    ok = error <= SETTLED + moves; // some still move
    sizes.push(error);
    text = `off by ${error.toExponential(1)}`;
  } else if (energy) {
    const motion = simulate(model, 0, 0.002);
    const theirs = motion ? drift(motion) : Infinity;
    const mine = drift(ours[i]);
    const kinetic = Math.max(...ours[i].map((f) => f.kinetic));
    ok = mine <= theirs + 1e-6 * kinetic;
    sizes.push(mine / kinetic);
    text = `drift ${(mine / kinetic).toExponential(1)} of the kinetic energy, MuJoCo's ${(theirs / kinetic).toExponential(1)}`;
  } else {
    const exact = simulate(model, 1, 1e-4);
    if (!exact) {
      unstable += 1;
      model.delete();
      return;
    }
    const error = rms(model, exact, ours[i]);
    sizes.push(error);
    text = `rms ${error.toExponential(1)}`;
    ok = error <= BOUND;
    if (error > CLOSE) {
      const chaos = rms(model, exact, simulate(model, 1, 1e-4, PERTURBATION));
      const chaotic = error <= CHAOS * chaos;
      ok = ok || chaotic;
      far += chaotic ? 0 : 1;
      text += `, MuJoCo's own divergence ${chaos.toExponential(1)}`;
      if (ok) console.log(`seed ${seed}: ${model.nv} degrees of freedom, ${text}`);
    }
  }
  if (!ok) {
    failed += 1;
    console.log(`seed ${seed}: ${model.nv} degrees of freedom, ${text}`);
  }
  model.delete();
});
sizes.sort((a, b) => a - b);
console.log(`${cases.length - unstable} trees, ${unstable} left out, median ${sizes[sizes.length >> 1].toExponential(1)}, largest ${sizes.at(-1).toExponential(1)}`);
console.log(`${cases.length - unstable - failed} passed, ${failed} failed`);
const tooMany = !energy && !servo && far > (1 - SHARE) * (cases.length - unstable);
if (tooMany) console.log(`${far} are not close`);
process.exitCode = tooMany || failed || cases.length === 0 ? 1 : 0;
