#!/usr/bin/env node
// Writes the robots of models.mjs: MJCF, URDF and meshes beside this file, and the tables from which
// scenes/robots.c builds the same robots without files.
//   node robots/generate.mjs           then: make format
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { robots } from "./models.mjs";
import { loftMesh, massOf } from "./solids.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const number = (x) => String(+(+x).toPrecision(7) + 0);
const text = (values) => values.map(number).join(" ");
const write = (path, content) => {
  mkdirSync(dirname(join(here, path)), { recursive: true });
  writeFileSync(join(here, path), content);
};

// ---------------------------------------------------------------------------------------------
// Where the parts are

const turn = (axis, angle, [x, y, z]) => {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const [a, b, d] = axis;
  const dot = a * x + b * y + d * z;
  const cross = [b * z - d * y, d * x - a * z, a * y - b * x];
  return [x, y, z].map((v, i) => v * c + cross[i] * s + axis[i] * dot * (1 - c));
};

// A point of a part, in the model, with the joints at their home positions.
function place(robot, part, point) {
  let p = point;
  for (let at = part; at; at = robot.parts.find((q) => q.name === at.parent)) {
    const angle = robot.home[at.name] ?? 0;
    if (at.joint?.type === "hinge") p = turn(at.joint.axis, angle, p);
    if (at.joint?.type === "slide") p = p.map((v, i) => v + angle * at.joint.axis[i]);
    p = p.map((v, i) => v + at.at[i]);
  }
  return p;
}

// Height of a free robot that stands on its feet.
function standing(robot) {
  let lowest = Infinity;
  for (const part of robot.parts) {
    for (const s of part.shapes.filter((shape) => shape.foot)) {
      if (s.type === "sphere") lowest = Math.min(lowest, place(robot, part, s.pos)[2] - s.size[0]);
      else for (const x of [-1, 1]) lowest = Math.min(lowest, place(robot, part, [s.pos[0] + x * s.size[0], s.pos[1], s.pos[2] - s.size[2]])[2]);
    }
  }
  return robot.parts[0].at[2] - lowest;
}

// ---------------------------------------------------------------------------------------------
// Meshes

function writeMeshes(robot) {
  for (const part of robot.parts.filter((p) => p.loft)) {
    const { vertices, faces } = loftMesh(part.loft);
    const lines = vertices.map((v) => `v ${text(v.map((x) => Math.round(x * 1e6) / 1e6))}`);
    lines.push(...faces.map((f) => `f ${f.map((i) => i + 1).join(" ")}`));
    write(`${robot.name}/meshes/${part.name}.obj`, lines.join("\n") + "\n");
  }
}

// ---------------------------------------------------------------------------------------------
// MJCF

const color = (part) => (part.parent === "" ? "trunk" : part.shapes.length && !part.loft ? "dark" : "limb");

function mjcfBody(robot, part, indent) {
  const pad = " ".repeat(indent);
  const { mass, center, inertia } = massOf(part);
  const lines = [`${pad}<body name="${part.name}" pos="${text(part.at)}"${part.parent === "" ? ' childclass="robot"' : ""}>`];
  const put = (line) => lines.push(`${pad}  ${line}`);
  const j = part.joint;
  put(`<inertial mass="${number(mass)}" pos="${text(center)}" fullinertia="${text(inertia)}"/>`);
  if (j?.type === "free") put("<freejoint/>");
  else if (j) put(`<joint name="${part.name}" type="${j.type}" axis="${text(j.axis)}" range="${text(j.range)}" armature="${number(j.armature)}"/>`);
  if (part.loft) put(`<geom type="mesh" mesh="${part.name}" material="${color(part)}"/>`);
  for (const s of part.shapes) {
    put(`<geom ${s.foot ? `name="${part.name}" class="foot" ` : ""}type="${s.type}" size="${text(s.size)}" pos="${text(s.pos)}" material="${color(part)}"/>`);
  }
  for (const s of robot.sites.filter((site) => site.part === part.name)) put(`<site name="${s.name}" pos="${text(s.at)}"/>`);
  for (const child of robot.parts.filter((p) => p.parent === part.name)) lines.push(mjcfBody(robot, child, indent + 2));
  return `${lines.join("\n")}\n${pad}</body>`;
}

const driven = (robot) => robot.parts.filter((p) => p.joint && p.joint.type !== "free" && !p.joint.mimics);
const jointed = (robot) => robot.parts.filter((p) => p.joint && p.joint.type !== "free");

function writeMjcf(robot) {
  const meshes = robot.parts.filter((p) => p.loft).map((p) => `    <mesh name="${p.name}" file="${p.name}.obj"/>`);
  const servos = driven(robot).map(
    ({ name, joint: j }) => `    <position name="${name}" joint="${name}" kp="${number(j.stiffness)}" kv="${number(j.damping)}" forcerange="${text([-j.effort, j.effort])}" ctrlrange="${text(j.range)}"/>`,
  );
  const coupled = robot.parts
    .filter((p) => p.joint?.mimics)
    .map((p) => `    <joint joint1="${p.name}" joint2="${p.joint.mimics}" polycoef="0 1 0 0 0"/>`);
  const free = robot.parts[0].joint?.type === "free";
  const q = jointed(robot).map((p) => robot.home[p.name] ?? 0);
  const trunk = free ? [0, 0, standing(robot), 1, 0, 0, 0] : [];
  const controls = driven(robot).map((p) => robot.home[p.name] ?? 0);
  const imu = robot.sites.some((s) => s.name === "imu");
  write(
    `${robot.name}/${robot.name}.xml`,
    `<!-- Written by robots/generate.mjs. -->
<mujoco model="${robot.name}">
  <compiler angle="radian" meshdir="meshes" autolimits="true"/>
  <default>
    <default class="robot">
      <geom condim="3" friction="0.8"/>
      <default class="foot">
        <geom friction="1"/>
      </default>
    </default>
  </default>
  <asset>
    <material name="trunk" rgba=".85 .86 .88 1"/>
    <material name="limb" rgba=".35 .5 .65 1"/>
    <material name="dark" rgba=".2 .2 .22 1"/>
${meshes.join("\n")}
  </asset>
  <worldbody>
${mjcfBody(robot, robot.parts[0], 4)}
  </worldbody>
${coupled.length ? `  <equality>\n${coupled.join("\n")}\n  </equality>\n` : ""}  <actuator>
${servos.join("\n")}
  </actuator>
${imu ? '  <sensor>\n    <gyro name="gyro" site="imu"/>\n    <accelerometer name="accelerometer" site="imu"/>\n    <framequat name="attitude" objtype="site" objname="imu"/>\n  </sensor>\n' : ""}  <keyframe>
    <key name="home" qpos="${text([...trunk, ...q])}" ctrl="${text(controls)}"/>
  </keyframe>
</mujoco>
`,
  );
  write(
    `${robot.name}/scene.xml`,
    `<!-- Written by robots/generate.mjs. -->
<mujoco model="${robot.name} on a floor">
  <include file="${robot.name}.xml"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .1" friction="1"/>
  </worldbody>
</mujoco>
`,
  );
}

// ---------------------------------------------------------------------------------------------
// URDF

function urdfShape(kind, origin, geometry) {
  return `    <${kind}>\n      <origin xyz="${text(origin)}"/>\n      <geometry>${geometry}</geometry>\n    </${kind}>`;
}

function urdfLink(robot, part) {
  const { mass, center, inertia } = massOf(part);
  const [xx, yy, zz, xy, xz, yz] = inertia.map(number);
  const solids = part.loft ? [[[0, 0, 0], `<mesh filename="meshes/${part.name}.obj"/>`]] : [];
  for (const s of part.shapes) {
    solids.push([s.pos, s.type === "box" ? `<box size="${text(s.size.map((x) => 2 * x))}"/>` : `<sphere radius="${number(s.size[0])}"/>`]);
  }
  const shapes = solids.flatMap(([at, g]) => [urdfShape("visual", at, g), urdfShape("collision", at, g)]);
  return `  <link name="${part.name}">
    <inertial>
      <origin xyz="${text(center)}"/>
      <mass value="${number(mass)}"/>
      <inertia ixx="${xx}" iyy="${yy}" izz="${zz}" ixy="${xy}" ixz="${xz}" iyz="${yz}"/>
    </inertial>
${shapes.join("\n")}
  </link>`;
}

function urdfJoint(part) {
  const j = part.joint;
  return `  <joint name="${part.name}" type="${j.type === "slide" ? "prismatic" : "revolute"}">
    <parent link="${part.parent}"/>
    <child link="${part.name}"/>
    <origin xyz="${text(part.at)}"/>
    <axis xyz="${text(j.axis)}"/>
    <limit lower="${number(j.range[0])}" upper="${number(j.range[1])}" effort="${number(j.effort)}" velocity="20"/>${j.mimics ? `\n    <mimic joint="${j.mimics}"/>` : ""}
  </joint>`;
}

function writeUrdf(robot) {
  const free = robot.parts[0].joint?.type === "free";
  const world = free ? "" : `  <link name="world"/>\n  <joint name="mount" type="fixed">\n    <parent link="world"/>\n    <child link="${robot.parts[0].name}"/>\n  </joint>\n`;
  const links = robot.parts.map((p) => urdfLink(robot, p));
  const joints = jointed(robot).map(urdfJoint);
  write(
    `${robot.name}/${robot.name}.urdf`,
    `<?xml version="1.0"?>\n<!-- Written by robots/generate.mjs. -->\n<robot name="${robot.name}">\n${world}${links.join("\n")}\n${joints.join("\n")}\n</robot>\n`,
  );
}

// ---------------------------------------------------------------------------------------------
// Tables for the scenes

const float = (x) => {
  const s = number(x);
  return `${/[.e]/.test(s) ? s : `${s}.0`}f`;
};
const list = (values) => `{${values.map(float).join(", ")}}`;

function tableRow(robot, part) {
  const index = (name) => robot.parts.findIndex((p) => p.name === name);
  const { mass, center, inertia } = massOf(part);
  const j = part.joint ?? { type: "fixed" };
  const fields = [`"${part.name}"`, index(part.parent), `ROBOT_${j.type.toUpperCase()}`, list(part.at)];
  if (j.axis) {
    const [s, d, e] = j.mimics ? [0, 0, 0] : [j.stiffness, j.damping, j.effort];
    fields.push(`.axis = ${list(j.axis)}, .range = ${list(j.range)}, .armature = ${float(j.armature)}`);
    fields.push(`.stiffness = ${float(s)}, .damping = ${float(d)}, .effort = ${float(e)}`);
    fields.push(`.home = ${float(robot.home[part.name] ?? 0)}`);
  }
  if (part.parent === "" && j.type === "free") fields.push(`.home = ${float(standing(robot))}`);
  fields.push(`.mimics = ${j.mimics ? index(j.mimics) : -1}`);
  fields.push(`.mass = ${float(mass)}, .center = ${list(center)}, .inertia = ${list(inertia)}`);
  if (part.loft) {
    const { axis, sections } = part.loft;
    const rows = sections.map((s) => list([...s, 0, 0].slice(0, 5)));
    fields.push(`.loft_axis = ${axis}, .section_count = ${sections.length}, .sections = {${rows.join(", ")}}`);
  }
  const s = part.shapes[0];
  if (s) {
    const size = s.type === "box" ? s.size : [s.size[0], 0, 0];
    fields.push(`.shape = ROBOT_${s.type.toUpperCase()}, .size = ${list(size)}, .shape_at = ${list(s.pos)}, .foot = ${!!s.foot}`);
  }
  return `    {${fields.join(", ")}},`;
}

function writeTable(robot) {
  write(
    `../scenes/robot_${robot.name}.c`,
    `// Parts of the ${robot.name}. Written by robots/generate.mjs.\n#include "robot_parts.h"\n\n` +
      `static const robot_part parts[] = {\n${robot.parts.map((p) => tableRow(robot, p)).join("\n")}\n};\n\n` +
      `const robot_model robot_${robot.name} = {"${robot.name}", parts, ${robot.parts.length}};\n`,
  );
}

for (const robot of robots) {
  writeMeshes(robot);
  writeMjcf(robot);
  writeUrdf(robot);
  writeTable(robot);
}
