#!/usr/bin/env node
// Small machines, each with one kind of actuator, joint, tendon or setting, over a second, against MuJoCo
// at 0.1 ms: positions of the joints at steps of 1/60 s, and read-outs of the sensors at 1/960 s, since
// accelerations and forces are means over a step.
//   node machines.mjs SWING_DUMP FOLDER [NAME]
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadText, mujoco } from "./mujoco.mjs";

const BOUND = 1e-3; // of positions, relative to the larger of 1 and their size
const READ_OUT = 5e-3; // of sensors, the same
const MEAN = 3e-2; // of those that are means over a step: they lag by half of it
const means = ["accelerometer", "framelinacc", "frameangacc", "force", "torque"];

const [program, folder, only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const arm =
  '<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" size=".04" fromto="0 0 0 .4 0 0" mass="1"/>' +
  '<body name="lower" pos=".4 0 0" euler="0 20 0"><joint name="b" axis="0 1 .3" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".5"/><site name="tip" pos=".3 0 0" euler="20 30 0"/></body></body>';
const wheel = (attributes = "", inertia = "1 1 1.5") =>
  `<body name="w"><joint name="j" axis="0 0 1" ${attributes}/><inertial pos="0 0 0" mass="1" diaginertia="${inertia}"/></body>`;
const key = (attributes) => `<keyframe><key ${attributes}/></keyframe>`;
const file = (bodies, rest = "", more = "") =>
  `<mujoco><compiler angle="degree"/>${more}<worldbody>${bodies}</worldbody>${rest}</mujoco>`;
const drone =
  '<body name="x" pos="0 0 1"><freejoint/><inertial pos="0 0 0" mass="1.3" diaginertia=".04 .025 .06"/>' +
  '<site name="t1" pos="-.14 -.18 .05"/><site name="t2" pos="-.14 .18 .05"/><site name="t3" pos=".14 .18 .08"/><site name="t4" pos=".14 -.18 .08"/></body>';
const muscled =
  arm
    .replace('axis="0 1 .3" damping=".1"', 'axis="0 1 0" damping=".6"')
    .replace('axis="0 1 0" damping=".1"', 'axis="0 1 0" damping=".6"')
    .replace('<site name="tip"', '<site name="i" pos=".05 0 .035"/><site name="j" pos=".05 0 -.035"/><site name="tip"')
    .replace('<body name="lower"', '<site name="f" pos=".15 0 .05"/><site name="g" pos=".15 0 -.05"/><body name="lower"') +
  '<site name="o" pos="-.05 0 1.06"/>';
const flexors =
  '<tendon><spatial name="t"><site site="f"/><site site="i"/></spatial><spatial name="u"><site site="o"/><site site="f"/></spatial><spatial name="v"><site site="g"/><site site="j"/></spatial></tendon>';
const sensors = (list) => `<sensor>${list}</sensor>`;

export const machines = {
  thrust: file(
    drone,
    '<actuator><motor site="t1" gear="0 0 1 0 0 -.0201" ctrlrange="0 13" ctrllimited="true"/><motor site="t2" gear="0 0 1 0 0 .0201"/><motor site="t3" gear="0 0 1 0 0 -.0201"/><motor site="t4" gear="0 0 1 0 0 .0201"/></actuator>' +
      sensors('<gyro site="t1"/><accelerometer site="t2"/><framequat objtype="xbody" objname="x"/><actuatorfrc actuator="x"/>').replace('<actuatorfrc actuator="x"/>', "") +
      key('ctrl="3.3 3.2 3.25 3.2"'),
  ),
  free_motor: file(
    drone,
    '<actuator><motor name="m" joint="f" gear="1 0 .5 0 .1 .05"/><motor joint="f" gear="0 0 13 0 0 0"/></actuator>' + key('ctrl="1 .9"'),
  ).replace("<freejoint/>", '<freejoint name="f"/>'),
  ball_motors: file(
    '<body name="b" pos="0 0 1" euler="10 20 30"><joint name="s" type="ball" damping=".05"/><geom type="box" size=".1 .2 .3" mass="1"/></body>',
    '<actuator><motor joint="s" gear=".3 .1 .2 0 0 0"/><motor jointinparent="s" gear="0 0 .2 0 0 0"/></actuator>' +
      sensors('<ballquat joint="s"/><ballangvel joint="s"/>') +
      key('qpos="1 0 0 0" ctrl="1 .5"'),
  ),
  free_damping: file(
    '<body name="b" pos="0 0 1"><joint type="free" damping=".5" armature=".2"/><inertial pos="0 0 0" mass="1.3" diaginertia=".04 .025 .06"/></body>',
    key('qpos="0 0 1 1 0 0 0" qvel="1 2 3 1 2 1"'),
  ),
  // Exact for small turns; beyond them the axes of a generic joint are not those of MuJoCo's ball.
  ball_armature: file(
    '<body name="a" pos="0 0 1"><joint type="ball"/><inertial pos="0 0 -.3" mass="1" diaginertia=".02 .02 .01"/><body name="b" pos="0 0 -.6"><joint type="ball" armature=".03" damping=".02"/><inertial pos=".1 0 -.2" mass=".7" diaginertia=".01 .02 .02"/></body></body>',
    key('qpos="1 0 0 0 1 0 0 0" qvel=".05 .1 0 .02 -.1 .1"'),
  ),
  filter: file(
    wheel("damping=\".2\""),
    '<actuator><position joint="j" kp="20" kv="3" timeconst=".2"/></actuator>' +
      sensors('<jointpos joint="j"/><jointvel joint="j"/><jointactuatorfrc joint="j"/>') +
      key('ctrl="1" act=".2"'),
  ),
  general_filter: file(
    wheel(),
    '<actuator><general name="g" joint="j" dyntype="filterexact" dynprm=".1" gainprm="3" biastype="affine" biasprm=".1 -2 -.5" gear="2"/></actuator>' +
      sensors('<actuatorpos actuator="g"/><actuatorvel actuator="g"/><actuatorfrc actuator="g"/>') +
      key('ctrl="1.5"'),
  ),
  integrator: file(
    wheel(),
    '<actuator><intvelocity joint="j" kp="30" kv="8" actrange="-3 3"/></actuator>' + key('ctrl="1.5"'),
  ),
  cylinder: file(
    wheel("damping=\"1\""),
    '<actuator><cylinder joint="j" timeconst=".3" area="2" bias=".1 -.5 -.2"/></actuator>' + key('ctrl="1.5"'),
  ),
  damper: file(
    wheel(),
    '<actuator><damper joint="j" kv="2" ctrlrange="0 2"/><motor joint="j" gear="2"/></actuator>' + key('ctrl="1.5 1"'),
  ),
  velocity: file(wheel(), '<actuator><velocity joint="j" kv="4"/></actuator>' + key('ctrl="2"')),
  limited_force: file(
    wheel(),
    '<actuator><position joint="j" kp="50" kv="10" forcerange="-2 3"/></actuator>' + key('ctrl="2"'),
  ),
  joint_force_range: file(
    wheel('actuatorfrcrange="-1 1.5"'),
    '<actuator><motor joint="j"/></actuator>' + sensors('<jointactuatorfrc joint="j"/>') + key('ctrl="2"'),
  ),
  inherit_range: file(
    wheel('range="-60 60"'),
    '<actuator><position joint="j" kp="30" kv="12" inheritrange=".5"/></actuator>' + key('ctrl="9"'),
  ),
  damping_ratio: file(
    arm,
    '<actuator><position joint="a" kp="60" dampratio="1"/><position joint="b" kp="20" dampratio=".7" gear="1.5"/></actuator>' + key('ctrl="-.5 .6"'),
  ),
  spring_damper: file(arm.replace('axis="0 1 .3"', 'axis="0 1 .3" springdamper=".1 .8"'), key('qpos=".2 .5"')),
  springs: file(arm.replace('axis="0 1 .3"', 'axis="0 1 .3" stiffness="3" springref="30" ref="10" armature=".02"'), key('qpos=".2 .5"')),
  fixed_tendon: file(
    arm,
    '<tendon><fixed name="t" stiffness="4" damping=".3" springlength=".2"><joint joint="a" coef=".5"/><joint joint="b" coef="-1.5"/></fixed></tendon>' +
      '<actuator><position name="p" tendon="t" kp="10" kv="1" timeconst=".1"/></actuator>' +
      sensors('<tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="p"/><actuatorfrc actuator="p"/>') +
      key('qpos=".1 .3" ctrl=".5"'),
  ),
  tendon_ratio: file(
    arm,
    '<tendon><fixed name="t"><joint joint="a" coef=".5"/><joint joint="b" coef="-1"/></fixed></tendon><actuator><position tendon="t" kp="20" dampratio="1"/></actuator>' +
      key('qpos=".1 .3" ctrl=".5"'),
  ),
  spatial_tendon: file(
    arm + '<site name="s" pos=".5 0 1.6"/>',
    '<tendon><spatial name="t" stiffness="40" damping="2" springlength=".3"><site site="s"/><site site="tip"/></spatial></tendon>' +
      '<actuator><motor tendon="t" gear="-1"/></actuator>' + sensors('<tendonpos tendon="t"/><tendonvel tendon="t"/>') +
      key('qpos=".1 .3" ctrl="3"'),
  ),
  pulley: file(
    arm + '<site name="s" pos=".5 0 1.6"/><site name="r" pos=".9 0 1.2"/>',
    '<tendon><spatial name="t" stiffness="40" damping="2" springlength=".4"><site site="s"/><site site="tip"/><pulley divisor="2"/><site site="r"/><site site="tip"/></spatial></tendon>' +
      sensors('<tendonpos tendon="t"/>') + key('qpos=".1 .3"'),
  ),
  // A tendon around the elbow, as on a pulley.
  wrapped_tendon: file(
    arm
      .replace('<body name="lower"', '<geom name="g" type="cylinder" size=".06 .1" pos=".4 0 0" euler="90 0 0" mass="0"/><site name="s" pos=".1 0 .05"/><site name="side" pos=".4 0 .1"/><body name="lower"')
      .replace('<site name="tip"', '<site name="t" pos=".2 0 .03"/><site name="tip"'),
    '<tendon><spatial name="t" stiffness="200" damping="2" springlength=".25"><site site="s"/><geom geom="g" sidesite="side"/><site site="t"/></spatial></tendon>' +
      '<actuator><position name="p" tendon="t" kp="200" forcerange="-9 1"/></actuator>' +
      sensors('<tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorfrc actuator="p"/>') + key('qpos=".1 .3" ctrl=".2"'),
  ),
  // Held at an angle, from outside of it. Rigid here; MuJoCo's weight makes it nearly so.
  held_joint: file(
    wheel("damping=\".1\""),
    '<equality><joint joint1="j" polycoef=".3 0 0 0 0" solimp=".9999 .9999 .001"/></equality>' + key('qpos=".1"'),
  ),
  bone: file(
    arm.replace('<site name="tip"', '<geom name="bone" type="sphere" size=".05" pos=".02 .02 0" mass="0"/><site name="tip"') + '<site name="s" pos="-.1 .05 1.1"/>',
    '<tendon><spatial name="t" stiffness="30" damping="1" springlength=".6"><site site="s"/><geom geom="bone"/><site site="tip"/></spatial></tendon>' +
      '<actuator><motor tendon="t"/></actuator>' + sensors('<tendonpos tendon="t"/><tendonvel tendon="t"/>') + key('qpos="-.4 -.8" ctrl="-4"'),
  ),
  muscles: file(
    muscled,
    flexors + '<actuator><muscle name="m" tendon="t" force="20" lengthrange=".1 .35" range=".7 1.1" fpmax="1"/><muscle tendon="u" scale="30" timeconst=".02 .06" tausmooth=".1" lengthrange=".05 .25"/>' +
      '<muscle joint="a" force="3" gear="-1" lengthrange="-2 2" ctrlrange="0 1"/>' +
      '<general tendon="v" dyntype="muscle" gaintype="muscle" biastype="muscle" dynprm=".01 .04" gainprm=".75 1.05 15 200 .5 1.6 1.5 1.3 1.2" biasprm=".75 1.05 15 200 .5 1.6 1.5 1.3 1.2" lengthrange=".15 .4"/></actuator>' +
      sensors('<actuatorpos actuator="m"/><actuatorvel actuator="m"/><actuatorfrc actuator="m"/>') +
      key('qpos=".3 -.8" ctrl=".8 .9 .2 .3" act=".1 .3 .05 .2"'),
  ),
  // Their length ranges follow from those of the joints.
  unmeasured_muscle: file(
    muscled.replace('name="a"', 'name="a" range="-60 60"').replace('name="b"', 'name="b" range="-100 10"'),
    flexors + '<actuator><muscle tendon="t" force="10"/></actuator>' + key('qpos=".3 -.8" ctrl=".3"'),
  ),
  between_sites: file(
    arm + '<site name="base" pos=".1 0 1.1" euler="0 40 0"/>',
    '<actuator><position name="x" site="tip" refsite="base" gear="1 0 0 0 0 0" kp="5" kv=".05"/><motor site="tip" refsite="base" gear="0 0 .1 0 .2 0"/></actuator>' +
      sensors('<actuatorpos actuator="x"/><actuatorvel actuator="x"/>') + key('qpos=".1 .3" ctrl=".4 .6"'),
  ),
  // The site that is counted from moves with the first body: the second joint alone is moved.
  within_the_arm: file(
    arm.replace('<body name="lower"', '<site name="base" pos=".1 0 .1"/><body name="lower"'),
    '<actuator><motor name="z" site="tip" refsite="base" gear="0 0 2 0 0 0"/></actuator>' +
      sensors('<actuatorpos actuator="z"/><actuatorvel actuator="z"/>') + key('qpos=".1 .3" ctrl=".8"'),
  ),
  crank: file(
    wheel('damping=".3"').replace("</body>", '<site name="pin" pos=".1 .02 0"/></body>') + '<site name="slider" pos=".9 0 .1" euler="0 -90 0"/>',
    '<actuator><motor name="p" cranksite="pin" slidersite="slider" cranklength=".6" gear="2"/></actuator>' +
      sensors('<actuatorpos actuator="p"/><actuatorvel actuator="p"/>') + key('qpos=".7" ctrl="8"'),
  ),
  gravity_compensation: file(arm.replace('name="lower"', 'name="lower" gravcomp="1"'), key('qpos=".1 .3"')),
  no_gravity: file(arm, key('qpos=".1 .3" qvel="1 2"'), '<option><flag gravity="disable" damper="disable"/></option>'),
  clamped: file(wheel(), '<actuator><motor joint="j" ctrlrange="-1 1"/></actuator>' + key('ctrl="3"')),
  unclamped: file(wheel(), '<actuator><motor joint="j" ctrlrange="-1 1"/></actuator>' + key('ctrl="3"'), '<option><flag clampctrl="disable"/></option>'),
  frames: file(
    arm + '<body name="other" pos="1 1 1"><joint name="c" axis="1 1 0"/><geom size=".1" pos=".2 0 0"/><site name="o" pos=".1 .1 0" euler="0 50 0"/></body>',
    sensors(
      '<framepos objtype="site" objname="tip" reftype="site" refname="o"/><framequat objtype="site" objname="tip" reftype="xbody" refname="other"/>' +
        '<framelinvel objtype="site" objname="tip" reftype="site" refname="o"/><frameangvel objtype="site" objname="tip" reftype="site" refname="o"/>' +
        '<framexaxis objtype="xbody" objname="lower" reftype="xbody" refname="other"/><framelinacc objtype="site" objname="tip"/><frameangacc objtype="site" objname="tip"/>' +
        '<accelerometer site="tip"/><velocimeter site="tip"/><gyro site="tip"/><magnetometer site="tip"/><subtreecom body="upper"/><subtreelinvel body="upper"/><subtreeangmom body="upper"/>' +
        '<force site="tip"/><torque site="tip"/>',
    ) + key('qpos=".1 .3 .2" qvel="1 2 1"'),
    '<option magnetic="0.1 .3 -.5"/>',
  ),
  drag: file(
    arm + drone.replace("pos", 'euler="30 50 10" pos'),
    key('qpos=".1 .3 0 0 1 .8 .3 .4 .33166248" qvel="1 2 2 -1 1 1 2 -3"'),
    '<option density="20" wind="1 2 0"/>',
  ),
  // Three joints on the first body, in the plane; motors row it through water.
  swimmer: file(
    '<body name="head"><joint type="slide" axis="1 0 0" armature=".1"/><joint type="slide" axis="0 1 0" armature=".1"/><joint axis="0 0 1" armature=".1"/><geom type="capsule" fromto=".9 0 0 .3 0 0" size=".08" contype="0"/>' +
      '<body pos=".3 0 0"><joint name="a" axis="0 0 1" armature=".1"/><geom type="capsule" fromto="0 0 0 -.6 0 0" size=".08" contype="0"/>' +
      '<body pos="-.6 0 0"><joint name="b" axis="0 0 1" armature=".1"/><geom type="capsule" fromto="0 0 0 -.6 0 0" size=".08" contype="0"/></body></body></body>',
    '<actuator><motor joint="a" gear="20"/><motor joint="b" gear="20"/></actuator>' + key('qpos="0 0 .1 .3 -.4" ctrl=".3 -.2"'),
    '<option density="1000" viscosity=".1"/>',
  ),
  viscosity: file(
    arm + drone.replace("pos", 'euler="30 50 10" pos'),
    key('qpos=".1 .3 0 0 1 .8 .3 .4 .33166248" qvel="1 2 2 -1 1 1 2 -3"'),
    '<option viscosity="0.8"/>',
  ),
  range_finder: file(
    '<geom type="plane" size="5 5 1"/>' + arm.replace('euler="20 30 0"', 'zaxis="0 .2 -1"'),
    sensors('<rangefinder site="tip"/>') + key('qpos="-.1 -.3"'),
    '<option><flag contact="disable"/></option>',
  ),
};

function simulate(model) {
  const data = new mujoco.MjData(model);
  model.opt.integrator = 3; // implicitfast
  model.opt.timestep = 1e-4;
  mujoco.mj_resetDataKeyframe(model, data, model.nkey - 1);
  const steps = Math.round(1 / 1e-4);
  for (let i = 0; i < steps; ++i) mujoco.mj_step(model, data);
  mujoco.mj_forward(model, data);
  const sensors = Array.from(model.sensor_adr, (at, i) => Array.from(data.sensordata.slice(at, at + model.sensor_dim[i])));
  const state = { qpos: Array.from(data.qpos), sensors };
  data.delete();
  return state;
}

const apart = (a, b) =>
  a.length === b.length ? Math.max(0, ...a.map((x, i) => Math.abs(x - b[i]) / Math.max(1, Math.abs(b[i])))) : Infinity;
const different = (ours, theirs) => {
  const other = theirs.length === 4 ? theirs.map((x) => -x) : theirs; // quaternions
  return Math.min(apart(ours, theirs), apart(ours, other));
};

function positions(model, ours, theirs) {
  let worst = ours.length === theirs.length ? 0 : Infinity;
  for (let j = 0; j < model.njnt; ++j) {
    const size = [7, 4, 1, 1][model.jnt_type[j]];
    const at = model.jnt_qposadr[j];
    const [a, b] = [ours, theirs].map((q) => q.slice(at, at + size));
    const quaternion = size > 1 ? different(a.slice(-4), b.slice(-4)) : 0;
    worst = Math.max(worst, quaternion, apart(a.slice(0, size === 7 ? 3 : size % 4), b.slice(0, size === 7 ? 3 : size % 4)));
  }
  return worst;
}

const names = Object.keys(machines).filter((n) => !only || n === only);
const paths = names.map((name) => {
  const path = join(folder, `machine_${name}.xml`);
  writeFileSync(path, machines[name]);
  return path;
});
const run = (frames, substeps) =>
  execFileSync(program, [1, frames, substeps, ...paths], { encoding: "utf8", maxBuffer: 1 << 28 })
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).at(-1));
const coarse = run(6, 60);
const fine = run(960, 8);
let failed = 0;
names.forEach((name, i) => {
  const model = loadText(machines[name]);
  const theirs = simulate(model);
  const position = positions(model, coarse[i].qpos, theirs.qpos);
  const kinds = [...machines[name].matchAll(/<(\w+)/g)].map((m) => m[1]).slice(-theirs.sensors.length - 2);
  const bounds = theirs.sensors.map((_, k) => (means.includes(kinds[k]) ? MEAN : READ_OUT));
  const readOuts = theirs.sensors.map((s, k) => different(fine[i].sensors[k], s));
  model.delete();
  const bad = !(position <= BOUND) || readOuts.some((e, k) => !(e <= bounds[k]));
  if (bad || only) {
    failed += bad ? 1 : 0;
    console.log(`${name}: ${[position, ...readOuts].map((e) => e.toExponential(1)).join(" ")}`);
    if (only) console.log(JSON.stringify([coarse[i], fine[i]]), JSON.stringify(theirs));
  }
});
console.log(`${names.length - failed} passed, ${failed} failed`);
process.exitCode = failed || names.length === 0 ? 1 : 0;
