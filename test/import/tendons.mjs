#!/usr/bin/env node
// Random spatial tendons around spheres and cylinders, with and without side sites, in random poses:
// their lengths and rates against MuJoCo's.
//   node tendons.mjs SWING_DUMP FOLDER [FIRST LAST]   seeds, 0 40 by default
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadText, mujoco } from "./mujoco.mjs";

const LENGTH = 1e-5; // relative to the length
const RATE = 1e-4; // relative to the largest rate
const TENDONS = 12;

const [program, folder, first = 0, last = 40] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

function generator(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 16777216;
  };
}

function randomTendons(seed) {
  const random = generator(seed);
  const between = (lo, hi) => lo + (hi - lo) * random();
  const point = (reach) => [0, 1, 2].map(() => between(-reach, reach).toFixed(4)).join(" ");
  const inside = { world: "", a: "", b: "", c: "" };
  const bodies = Object.keys(inside);
  const some = () => bodies[Math.floor(random() * bodies.length)];
  let tendons = "";
  for (let i = 0; i < TENDONS; ++i) {
    const solid = some();
    const radius = between(0.05, 0.5);
    const at = point(0.5);
    const [from, to] = [some(), some()];
    inside[from] += `<site name="f${i}" pos="${point(1.2)}"/>`;
    inside[to] += `<site name="t${i}" pos="${point(1.2)}"/>`;
    const type = random() < 0.5 ? "sphere" : "cylinder";
    inside[solid] += `<geom name="g${i}" type="${type}" size="${radius.toFixed(4)} .3" pos="${at}" euler="${point(180)}" contype="0" conaffinity="0"/>`;
    const kind = random();
    let side = "";
    if (kind < 0.6) {
      const reach = kind < 0.2 ? 0.5 * radius : 3 * radius; // within: the tendon passes inside
      const offset = at.split(" ").map((x) => (Number(x) + between(-reach, reach)).toFixed(4));
      inside[solid] += `<site name="s${i}" pos="${offset.join(" ")}"/>`;
      side = ` sidesite="s${i}"`;
    }
    tendons += `<spatial name="l${i}"><site site="f${i}"/><geom geom="g${i}"${side}/><site site="t${i}"/></spatial>`;
  }
  const mass = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>';
  const numbers = (count, reach) => Array.from({ length: count }, () => between(-reach, reach).toFixed(3)).join(" ");
  const sensors = Array.from({ length: TENDONS }, (_, i) => `<tendonpos tendon="l${i}"/><tendonvel tendon="l${i}"/>`).join("");
  return (
    `<mujoco><worldbody>${inside.world}<body pos=".3 0 0">${mass}<joint type="hinge" axis="1 .5 0"/>${inside.a}` +
    `<body pos="0 .4 0">${mass}<joint type="slide" axis="0 .3 1"/>${inside.b}</body></body>` +
    `<body pos="0 0 .2">${mass}<joint type="hinge" axis="0 1 1"/>${inside.c}</body></worldbody>` +
    `<tendon>${tendons}</tendon><sensor>${sensors}</sensor><keyframe><key qpos="${numbers(3, 1.5)}" qvel="${numbers(3, 2)}"/></keyframe></mujoco>`
  );
}

const cases = [];
for (let seed = Number(first); seed < Number(last); ++seed) {
  const xml = randomTendons(seed);
  const path = join(folder, `tendons_${seed}.xml`);
  writeFileSync(path, xml);
  cases.push({ seed, xml, path });
}
const lines = execFileSync(program, [0.02, 1, 1, ...cases.map((c) => c.path)], { encoding: "utf8", maxBuffer: 1 << 28 });
let failed = 0;
const count = { straight: 0, around: 0 };
lines.trim().split("\n").forEach((line, i) => {
  const model = loadText(cases[i].xml);
  const data = new mujoco.MjData(model);
  mujoco.mj_resetDataKeyframe(model, data, 0);
  mujoco.mj_forward(model, data);
  const theirs = Array.from(data.sensordata);
  const ours = JSON.parse(line)[0].sensors.flat();
  const fastest = Math.max(1, ...theirs.filter((_, k) => k % 2).map(Math.abs));
  for (let k = 0; k < TENDONS; ++k) {
    const wraps = data.ten_wrapnum[k];
    count[wraps > 2 ? "around" : "straight"] += 1;
    const length = Math.abs(ours[2 * k] - theirs[2 * k]) / theirs[2 * k];
    const rate = Math.abs(ours[2 * k + 1] - theirs[2 * k + 1]) / fastest;
    if (ours.length !== theirs.length || !(length <= LENGTH) || !(rate <= RATE)) {
      failed += 1;
      console.log(`seed ${cases[i].seed}, tendon ${k} (${wraps} points): length ${ours[2 * k]}, MuJoCo's ${theirs[2 * k]}; rate ${ours[2 * k + 1]}, ${theirs[2 * k + 1]}`);
    }
  }
  data.delete();
  model.delete();
});
const all = count.straight + count.around;
console.log(`${all} tendons, ${count.around} around their geom: ${all - failed} passed, ${failed} failed`);
process.exitCode = failed || count.around < all / 10 ? 1 : 0;
