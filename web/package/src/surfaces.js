// Triangles of the geometry that shapes share: hulls, meshes, height fields and wires.

const SIDES = 12; // of a wire
const PIECES = 12; // along each of its cubics

// A polygon as a fan.
function hullSurface(world, geometry) {
  const corners = world.hullIndices(geometry);
  const indices = [];
  for (const { first, count } of world.hullFaces(geometry)) {
    for (let k = 2; k < count; ++k)
      indices.push(corners[first], corners[first + k - 1], corners[first + k]);
  }
  return { vertices: world.hullVertices(geometry), indices };
}

// Heights row by row along z, columns along x, about the middle.
function fieldSurface({ heights, columns, rows, spacingX, spacingZ }) {
  const vertices = new Float32Array(3 * columns * rows);
  const indices = [];
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const at = row * columns + column;
      vertices[3 * at] = (column - 0.5 * (columns - 1)) * spacingX;
      vertices[3 * at + 1] = heights[at];
      vertices[3 * at + 2] = (row - 0.5 * (rows - 1)) * spacingZ;
      if (row + 1 === rows || column + 1 === columns) continue;
      indices.push(at, at + columns, at + 1, at + 1, at + columns, at + columns + 1);
    }
  }
  return { vertices, indices };
}

// ---- Wires

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a) => scaled(1 / Math.sqrt(dot(a, a)), a);
// Some direction across another.
const across = (a) => {
  const least = a.map(Math.abs).indexOf(Math.min(...a.map(Math.abs)));
  return cross(
    a,
    [0, 1, 2].map((i) => (i === least ? 1 : 0)),
  );
};

// Rings are carried along without turning about the axis more than they must.
function wireSurface(world, geometry, { wirePoints, closed }, radius) {
  const cubics = wirePoints.length / 6 - (closed ? 0 : 1);
  const rings = PIECES * cubics + 1;
  const vertices = new Float32Array(3 * rings * SIDES);
  const indices = [];
  const point = (at) => world.wireAt(geometry, Math.min(cubics, Math.max(0, at))).position;
  let side = null;
  for (let ring = 0; ring < rings; ++ring) {
    const at = ring / PIECES;
    const center = point(at);
    let along = sub(point(at + 0.01), point(at - 0.01));
    along = dot(along, along) > 0 ? unit(along) : [1, 0, 0];
    side ??= across(along);
    side = unit(sub(side, scaled(dot(side, along), along)));
    const other = cross(along, side);
    for (let k = 0; k < SIDES; ++k) {
      const angle = (2 * Math.PI * k) / SIDES;
      const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
      for (let i = 0; i < 3; ++i)
        vertices[3 * (ring * SIDES + k) + i] = center[i] + c * side[i] + s * other[i];
      if (ring + 1 === rings) continue;
      const [a, b] = [ring * SIDES + k, ring * SIDES + ((k + 1) % SIDES)];
      indices.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
    }
  }
  return { vertices, indices };
}

function sourceSurface(world, { kind, geometry, radius }) {
  if (kind === 'hull') return hullSurface(world, geometry);
  const source = world.geometrySource(geometry);
  if (kind === 'mesh') return { vertices: source.points, indices: source.triangles };
  if (kind === 'height_field') return fieldSurface(source);
  return kind === 'wire' ? wireSurface(world, geometry, source, radius) : null;
}

/** Vertices and triangles of a hull, mesh, height field or wire in its own frame; null for others. */
export function surfaceOf(world, shape) {
  const surface = shape.geometry ? sourceSurface(world, shape) : null;
  return surface && { vertices: surface.vertices, indices: Uint32Array.from(surface.indices) };
}
