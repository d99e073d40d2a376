// The recorded seconds as one binary glTF file: a node for each shape and each soft body, its motion
// as an animation, the deformation of a soft body as morph targets.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { KIND, STATIC } from './kinds.js';
import { formsOf, keysOf } from './forms.js';
import { bakedGeometry } from './geometry.js';

const FLOAT = 5126;
const UINT = 5125;

class Writer {
  constructor() {
    this.parts = [];
    this.size = 0;
    this.json = {
      asset: { version: '2.0', generator: 'Tenon gallery' },
      scene: 0,
      scenes: [{ nodes: [] }],
      nodes: [],
      meshes: [],
      materials: [],
      accessors: [],
      bufferViews: [],
      buffers: [],
    };
  }

  // All numbers have four bytes, so everything is aligned.
  accessor(array, type, componentType, withBounds = false) {
    const width = { SCALAR: 1, VEC3: 3, VEC4: 4 }[type];
    const { json } = this;
    json.bufferViews.push({ buffer: 0, byteOffset: this.size, byteLength: array.byteLength });
    const accessor = { bufferView: json.bufferViews.length - 1, componentType, type };
    accessor.count = array.length / width;
    if (withBounds) {
      const columns = [...Array(width).keys()].map((k) => array.filter((_, i) => i % width === k));
      accessor.min = columns.map((column) => column.reduce((a, b) => Math.min(a, b), Infinity));
      accessor.max = columns.map((column) => column.reduce((a, b) => Math.max(a, b), -Infinity));
    }
    this.parts.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    this.size += array.byteLength;
    return json.accessors.push(accessor) - 1;
  }

  material(color) {
    const pbrMetallicRoughness = {
      baseColorFactor: [color.r, color.g, color.b, 1],
      metallicFactor: 0,
      roughnessFactor: 0.7,
    };
    return this.json.materials.push({ pbrMetallicRoughness, doubleSided: true }) - 1;
  }

  mesh(geometry, material) {
    const attribute = (name) =>
      this.accessor(new Float32Array(geometry.getAttribute(name).array), 'VEC3', FLOAT, true);
    const primitive = {
      attributes: { POSITION: attribute('position'), NORMAL: attribute('normal') },
      material,
    };
    if (geometry.index) {
      primitive.indices = this.accessor(new Uint32Array(geometry.index.array), 'SCALAR', UINT);
    }
    return this.json.meshes.push({ primitives: [primitive] }) - 1;
  }

  // Morph targets are differences from the first shape.
  morphed(mesh, forms, material) {
    const geometry = mesh.geometry.clone();
    const { array } = geometry.getAttribute('position');
    const looks = forms.map((form) => {
      array.set(form);
      geometry.computeVertexNormals();
      return { form, normals: geometry.getAttribute('normal').array.slice() };
    });
    const [first, ...others] = looks;
    array.set(first.form);
    geometry.getAttribute('normal').array.set(first.normals);
    const index = this.mesh(geometry, material);
    const difference = (a, b) => a.map((x, i) => x - b[i]);
    this.json.meshes[index].primitives[0].targets = others.map(({ form, normals }) => ({
      POSITION: this.accessor(difference(form, first.form), 'VEC3', FLOAT, true),
      NORMAL: this.accessor(difference(normals, first.normals), 'VEC3', FLOAT),
    }));
    geometry.dispose();
    return index;
  }

  node(name, mesh, { p, q }) {
    const { nodes, scenes } = this.json;
    nodes.push({ mesh, name, translation: p.toArray(), rotation: q.toArray() });
    scenes[0].nodes.push(nodes.length - 1);
    return nodes.length - 1;
  }

  times(frames) {
    return this.accessor(
      Float32Array.from(frames, (i) => i / 60),
      'SCALAR',
      FLOAT,
      true,
    );
  }

  blob() {
    const { json } = this;
    json.buffers.push({ byteLength: this.size });
    const text = new TextEncoder().encode(JSON.stringify(json));
    const padded = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(32);
    padded.set(text);
    const head = new Uint32Array([0x46546c67, 2, 28 + padded.length + this.size]);
    const jsonHead = new Uint32Array([padded.length, 0x4e4f534a]);
    const binHead = new Uint32Array([this.size, 0x004e4942]);
    return new Blob([head, jsonHead, padded, binHead, ...this.parts], {
      type: 'model/gltf-binary',
    });
  }
}

function poseOf(matrices, index) {
  const pose = { p: new Vector3(), q: new Quaternion(), s: new Vector3() };
  new Matrix4().fromArray(matrices, 16 * index).decompose(pose.p, pose.q, pose.s);
  return pose;
}

// matrices: of all items in each frame; softs: the points of each soft body in each frame.
export function gltfOf(sim, bodies, { matrices, softs }) {
  const writer = new Writer();
  const { json } = writer;
  const animation = { channels: [], samplers: [] };
  const times = writer.times(matrices.map((_, i) => i));
  const materials = new Map();
  const meshes = new Map(); // equal shapes share one
  bodies.items.forEach((item, index) => {
    if (item.kind === KIND.plane) return;
    const color = bodies.colorOf(item);
    if (!materials.has(color)) materials.set(color, writer.material(color));
    const material = materials.get(color);
    const { kind, geometry, radius, half, extents } = item;
    const look = [kind, geometry, radius, half, ...extents, material].join();
    if (!meshes.has(look)) meshes.set(look, writer.mesh(bakedGeometry(sim, item, index), material));
    const poses = matrices.map((all) => poseOf(all, index));
    const node = writer.node(`${Object.keys(KIND)[kind]} ${index}`, meshes.get(look), poses[0]);
    if (item.type !== STATIC) animate(writer, animation, times, poses, node);
  });
  if (matrices.length > 1) addSofts(writer, animation, times, bodies.surfaces.parts, softs);
  if (animation.channels.length) json.animations = [animation];
  return writer.blob();
}

// The first key is the mesh, the others are its targets; at each key only its target has weight 1.
function addSofts(writer, animation, times, parts, softs) {
  if (!parts.length) return;
  const keys = keysOf(softs[0].length);
  const weights = new Float32Array(keys.length * (keys.length - 1));
  for (let i = 1; i < keys.length; ++i) weights[i * (keys.length - 1) + i - 1] = 1;
  const input = writer.times(keys);
  const output = writer.accessor(weights, 'SCALAR', FLOAT);
  const sampler = animation.samplers.push({ input, output }) - 1;
  parts.forEach(({ mesh }, i) => {
    const { poses, forms } = formsOf(softs[i], keys);
    const material = writer.material(mesh.material.color);
    const node = writer.node(`soft body ${i}`, writer.morphed(mesh, forms, material), poses[0]);
    animate(writer, animation, times, poses, node);
    animation.channels.push({ sampler, target: { node, path: 'weights' } });
  });
}

function animate(writer, animation, times, poses, node) {
  for (let i = 1; i < poses.length; ++i) {
    if (poses[i].q.dot(poses[i - 1].q) < 0) poses[i].q.set(...poses[i].q.toArray().map((x) => -x));
  }
  const add = (path, type, values) => {
    const output = writer.accessor(new Float32Array(values), type, FLOAT);
    const sampler = animation.samplers.push({ input: times, output }) - 1;
    animation.channels.push({ sampler, target: { node, path } });
  };
  add(
    'translation',
    'VEC3',
    poses.flatMap(({ p }) => p.toArray()),
  );
  add(
    'rotation',
    'VEC4',
    poses.flatMap(({ q }) => q.toArray()),
  );
}
