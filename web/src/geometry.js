// Geometry of each kind of shape. Round and bevelled shapes use one unit geometry: a vertex is
// position * size.xyz + normal * size.w, so that instances of every size share it.
import { BufferAttribute, BufferGeometry } from 'three';
import { KIND } from './kinds.js';

const BEVEL = 0.07; // of the smallest half extent

function make(positions, normals, indices) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normals), 3));
  geometry.setIndex(indices);
  return geometry;
}

// A surface of revolution, from its top down: radius and y of each ring, and the radial and
// vertical parts of its normal.
function rings(list, sides) {
  const positions = [];
  const normals = [];
  const indices = [];
  list.forEach(({ radius, y, out, up }, row) => {
    for (let k = 0; k <= sides; ++k) {
      const angle = (2 * Math.PI * k) / sides;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      positions.push(radius * c, y, radius * s);
      normals.push(out * c, up, out * s);
      if (row > 0 && k > 0) {
        const [a, b] = [(row - 1) * (sides + 1) + k, row * (sides + 1) + k];
        indices.push(a - 1, a, b - 1, b - 1, a, b);
      }
    }
  });
  return make(positions, normals, indices);
}

// Two hemispheres, apart by twice size.y.
function ball(sides, y) {
  const list = [];
  const half = Math.ceil(sides / 4);
  for (let side = 1; side >= -1; side -= 2) {
    for (let k = 0; k <= half; ++k) {
      const angle = (0.5 * Math.PI * (side > 0 ? half - k : -k)) / half;
      list.push({ radius: 0, y: y * side, out: Math.cos(angle), up: Math.sin(angle) });
    }
  }
  return rings(list, sides);
}

function cylinder(sides) {
  return rings(
    [
      { radius: 0, y: 1, out: 0, up: 1 },
      { radius: 1, y: 1, out: 0, up: 1 },
      { radius: 1, y: 1, out: 1, up: 0 },
      { radius: 1, y: -1, out: 1, up: 0 },
      { radius: 1, y: -1, out: 0, up: -1 },
      { radius: 0, y: -1, out: 0, up: -1 },
    ],
    sides,
  );
}

const LEAN = Math.SQRT1_2; // a normal at 45 degrees

// Radius 1 about the origin.
export function unitBall() {
  const geometry = ball(14, 0);
  geometry.getAttribute('position').array.set(geometry.getAttribute('normal').array);
  return geometry;
}

// Radius 1, from 0 to 1 along y.
export function unitRod() {
  return cylinder(14).scale(1, 0.5, 1).translate(0, 0.5, 0);
}

// From 0 to 1 along y; the shaft is 1 wide.
export function unitArrow() {
  return rings(
    [
      { radius: 0, y: 1, out: LEAN, up: LEAN },
      { radius: 1.5, y: 0.74, out: LEAN, up: LEAN },
      { radius: 1.5, y: 0.74, out: 0, up: -1 },
      { radius: 0.5, y: 0.74, out: 0, up: -1 },
      { radius: 0.5, y: 0.74, out: 1, up: 0 },
      { radius: 0.5, y: 0, out: 1, up: 0 },
      { radius: 0, y: 0, out: 0, up: -1 },
    ],
    12,
  );
}

// A helical spring of radius 1, from 0 to 1 along y.
export function unitCoil() {
  const [turns, around, sides] = [9, 14, 6];
  const positions = [];
  const normals = [];
  const indices = [];
  for (let i = 0; i <= turns * around; ++i) {
    const angle = (2 * Math.PI * i) / around;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    for (let k = 0; k < sides; ++k) {
      const [out, up] = [Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides)];
      const radius = 0.85 + 0.15 * out;
      positions.push(radius * c, i / (turns * around) + 0.014 * up, radius * s);
      normals.push(out * c, up, out * s);
      if (i === 0) continue;
      const [a, b] = [i * sides + k, i * sides + ((k + 1) % sides)];
      indices.push(a - sides, a, b - sides, b - sides, a, b);
    }
  }
  return make(positions, normals, indices);
}

// From -1 to 1 in x and z.
export function unitSquare() {
  const up = [0, 1, 0];
  return make(
    [-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1],
    [...up, ...up, ...up, ...up],
    [0, 2, 1, 0, 3, 2],
  );
}

function cone(sides) {
  const [out, up] = [2 / Math.sqrt(5), 1 / Math.sqrt(5)];
  return rings(
    [
      { radius: 0, y: 1, out, up },
      { radius: 1, y: -1, out, up },
      { radius: 1, y: -1, out: 0, up: -1 },
      { radius: 0, y: -1, out: 0, up: -1 },
    ],
    sides,
  );
}

// Six faces, and bevels that connect the vertices of neighbouring faces.
function box() {
  const positions = [];
  const normals = [];
  const indices = [];
  const at = {}; // corner and axis -> vertex
  for (let corner = 0; corner < 8; ++corner) {
    const signs = [0, 1, 2].map((axis) => (corner & (1 << axis) ? 1 : -1));
    for (let axis = 0; axis < 3; ++axis) {
      at[corner * 3 + axis] = positions.length / 3;
      positions.push(...signs);
      normals.push(...[0, 1, 2].map((k) => (k === axis ? signs[axis] : 0)));
    }
  }
  const triangle = (...vertices) => {
    // Counter-clockwise from outside: flip if the normal points inwards.
    const p = vertices.map((v) =>
      [0, 1, 2].map((k) => positions[3 * v + k] + 0.3 * normals[3 * v + k]),
    );
    const u = p[1].map((x, k) => x - p[0][k]);
    const w = p[2].map((x, k) => x - p[0][k]);
    const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    const outward = n.reduce((sum, x, k) => sum + x * (p[0][k] + p[1][k] + p[2][k]), 0);
    indices.push(...(outward > 0 ? vertices : [vertices[0], vertices[2], vertices[1]]));
  };
  const quad = (a, b, c, d) => {
    triangle(a, b, c);
    triangle(a, c, d);
  };
  for (let axis = 0; axis < 3; ++axis) {
    const [u, v] = [1 << (axis + 1) % 3, 1 << (axis + 2) % 3];
    for (const side of [0, 1 << axis]) {
      quad(...[side, side + u, side + u + v, side + v].map((corner) => at[corner * 3 + axis]));
    }
    // The four edges along this axis.
    for (const edge of [0, u, v, u + v]) {
      const ends = [edge, edge + (1 << axis)];
      const [e, f] = [(axis + 1) % 3, (axis + 2) % 3];
      quad(at[ends[0] * 3 + e], at[ends[1] * 3 + e], at[ends[1] * 3 + f], at[ends[0] * 3 + f]);
    }
  }
  for (let corner = 0; corner < 8; ++corner) {
    triangle(at[corner * 3], at[corner * 3 + 1], at[corner * 3 + 2]);
  }
  return make(positions, normals, indices);
}

function surface(sim, index, kind) {
  const { vertices, indices } = sim.surface(index);
  let geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(vertices, 3));
  geometry.setIndex(new BufferAttribute(indices, 1));
  const isFlat = kind === KIND.hull || kind === KIND.mesh;
  if (isFlat && indices.length < 3000) geometry = geometry.toNonIndexed();
  geometry.computeVertexNormals();
  return geometry;
}

export const isRounded = (kind) => kind <= KIND.cylinder;

// The geometry of a run of equal items; `count` of them will be drawn.
export function geometryFor(sim, item, index, count) {
  const sides = count > 600 ? 12 : count > 100 ? 20 : 32;
  switch (item.kind) {
    case KIND.sphere:
      return ball(sides, 0);
    case KIND.capsule:
      return ball(sides, 1);
    case KIND.box:
      return box();
    case KIND.cylinder:
      return cylinder(Math.max(20, sides));
    case KIND.cone:
      return cone(Math.max(20, sides));
    default:
      return surface(sim, index, item.kind);
  }
}

// Size of a rounded item: scale of the vertices, and offset along the normals.
export function sizeOf({ kind, radius, half, extents }) {
  if (kind === KIND.sphere) return [0, 0, 0, radius];
  if (kind === KIND.capsule) return [0, half, 0, radius];
  const whole = kind === KIND.box ? extents : [radius, half, radius];
  const bevel = BEVEL * Math.min(...whole);
  return [...whole.map((x) => x - bevel), bevel];
}

// The same shape with its size applied, for files.
export function bakedGeometry(sim, item, index) {
  const geometry = geometryFor(sim, item, index, 1).clone();
  const position = geometry.getAttribute('position');
  const normal = geometry.getAttribute('normal');
  if (isRounded(item.kind)) {
    const size = sizeOf(item);
    for (let i = 0; i < position.array.length; ++i) {
      position.array[i] = position.array[i] * size[i % 3] + normal.array[i] * size[3];
    }
  } else if (item.kind === KIND.cone) {
    geometry.scale(item.radius, item.half, item.radius);
  }
  return geometry;
}
