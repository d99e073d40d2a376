// MuJoCo as an oracle: loads files with all that they name, and reads out what a model is.
import loadMujoco from "@mujoco/mujoco";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const mujoco = await loadMujoco();

// A small solid in the place of a mesh that is for the eye alone and not there.
function placeholder(name) {
  if (/\.obj$/i.test(name)) return "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]; // prettier-ignore
  const facet = (a, b, c) =>
    "facet normal 0 0 0\nouter loop\n" +
    [a, b, c].map((i) => `vertex ${corners[i].join(" ")}\n`).join("") +
    "endloop\nendfacet\n";
  const text = facet(0, 2, 1) + facet(0, 1, 3) + facet(0, 3, 2) + facet(1, 2, 3);
  // As binary STL, which is the only kind MuJoCo reads.
  const numbers = [...text.matchAll(/vertex (\S+) (\S+) (\S+)/g)].map((m) => m.slice(1).map(Number));
  const bytes = Buffer.alloc(84 + 50 * 4);
  bytes.writeUInt32LE(4, 80);
  numbers.forEach((v, i) => {
    const at = 84 + 50 * Math.floor(i / 3) + 12 + 12 * (i % 3);
    v.forEach((x, k) => bytes.writeFloatLE(x, at + 4 * k));
  });
  return bytes;
}

function* filesBelow(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

let mounts = 0;

// Copies the folder of a file into MuJoCo's file system; returns the path there.
function mount(path) {
  const folder = dirname(resolve(path));
  const root = `/model${mounts++}`;
  mujoco.FS.mkdirTree(root);
  for (const file of filesBelow(folder)) {
    if (!/\.(xml|urdf|stl|obj|msh|bin|png)$/i.test(file)) continue;
    const to = root + file.slice(folder.length);
    mujoco.FS.mkdirTree(dirname(to));
    mujoco.FS.writeFile(to, readFileSync(file));
  }
  return join(root, basename(path));
}

function unmount(at) {
  const remove = (path) => {
    for (const name of mujoco.FS.readdir(path)) {
      if (name === "." || name === "..") continue;
      const inner = `${path}/${name}`;
      if (mujoco.FS.isDir(mujoco.FS.stat(inner).mode)) remove(inner);
      else mujoco.FS.unlink(inner);
    }
    mujoco.FS.rmdir(path);
  };
  remove(dirname(at));
}

// Loads a file; what is missing is replaced until it loads.
export function load(path) {
  const at = mount(path);
  try {
    for (let tries = 0; tries < 50; ++tries) {
      try {
        return mujoco.MjModel.from_xml_path(at);
      } catch (error) {
        const text = String(error?.message ?? error);
        const missing = text.match(/[Ee]rror opening file '?([^'\n]+?)'?(?::|$|\n)/)?.[1];
        if (!missing || mujoco.FS.analyzePath(missing).exists) throw new Error(text);
        mujoco.FS.mkdirTree(dirname(missing));
        mujoco.FS.writeFile(missing, placeholder(missing));
      }
    }
  } finally {
    unmount(at);
  }
}

export function loadText(xml) {
  return mujoco.MjModel.from_xml_string(xml);
}

const slice = (array, i, n) => Array.from(array.slice(n * i, n * (i + 1)));

function names(model) {
  const bytes = model.names;
  return Array.from(model.name_bodyadr, (start) => {
    let text = "";
    for (let i = start; bytes[i]; ++i) text += typeof bytes === "string" ? bytes[i] : String.fromCharCode(bytes[i]);
    return text;
  });
}

// Inertia in the axes of the body, from principal moments and axes.
function fullInertia(moments, [w, x, y, z]) {
  const r = [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
  const at = (i, j) => [0, 1, 2].reduce((sum, k) => sum + r[i][k] * moments[k] * r[j][k], 0);
  return [at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)];
}

// As test_velocity() in model_dump.c.
const testVelocity = (i) => 0.1 * (1 + ((i * 7) % 11)) * (i % 2 ? -1 : 1);

// Mass matrix, forces that hold the model against gravity at rest, and bias forces in motion.
function dynamics(model, data, key) {
  const reset = () => (key < 0 ? mujoco.mj_resetData(model, data) : mujoco.mj_resetDataKeyframe(model, data, key));
  const forces = (rate) => {
    reset();
    for (let i = 0; i < model.nv; ++i) data.qvel[i] = rate(i);
    mujoco.mj_forward(model, data);
    return Array.from(data.qfrc_bias, (f, i) => f - data.qfrc_gravcomp[i]);
  };
  const hold = forces(() => 0);
  const matrix = new mujoco.DoubleBuffer(model.nv * model.nv);
  mujoco.mj_fullM(model, data, matrix);
  const mass = Array.from(matrix.GetView());
  matrix.delete();
  return { key, qpos: Array.from(data.qpos), mass, hold, bias: forces(testVelocity) };
}

// What model_dump prints, of MuJoCo.
export function dump(model) {
  const data = new mujoco.MjData(model);
  const bodyNames = names(model);
  const positions = [];
  const moving = [];
  for (let key = -1; key < model.nkey; ++key) {
    if (key < 0) mujoco.mj_resetData(model, data);
    else mujoco.mj_resetDataKeyframe(model, data, key);
    mujoco.mj_kinematics(model, data);
    moving.push(model.nv ? dynamics(model, data, key) : { key });
    if (key < 0) mujoco.mj_resetData(model, data);
    else mujoco.mj_resetDataKeyframe(model, data, key);
    mujoco.mj_kinematics(model, data);
    positions.push(
      bodyNames.map((name, i) => ({
        name,
        parent: model.body_parentid[i],
        mass: model.body_mass[i],
        pos: slice(data.xpos, i, 3),
        quat: slice(data.xquat, i, 4),
        center: slice(model.body_ipos, i, 3),
        inertia: fullInertia(slice(model.body_inertia, i, 3), slice(model.body_iquat, i, 4)),
      })),
    );
  }
  const mass = model.body_mass.reduce((a, b) => a + b, 0) - model.body_mass[0];
  const out = { nq: model.nq, nv: model.nv, mass, positions, dynamics: moving };
  data.delete();
  return out;
}

export { mujoco, existsSync };
