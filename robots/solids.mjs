// Solids of the robots: lofts (closed surfaces through ellipses), boxes and spheres, with their masses.
export const SECTORS = 12;

const add = (a, b) => a.map((x, i) => x + b[i]);
const scale = (s, a) => a.map((x) => s * x);

// A loft runs along an axis (0 x, 1 y, 2 z); each section has its place on the axis, two radii along the
// next two axes in cyclic order, and the offset of its centre along them.
export function loftMesh({ axis, sections }) {
  const vertices = [];
  const faces = [];
  for (const [along, r1, r2, o1 = 0, o2 = 0] of sections) {
    for (let i = 0; i < SECTORS; ++i) {
      const angle = (2 * Math.PI * i) / SECTORS;
      const v = [0, 0, 0];
      v[axis] = along;
      v[(axis + 1) % 3] = o1 + r1 * Math.cos(angle);
      v[(axis + 2) % 3] = o2 + r2 * Math.sin(angle);
      vertices.push(v);
    }
  }
  const last = (sections.length - 1) * SECTORS;
  for (let i = 1; i + 1 < SECTORS; ++i) {
    faces.push([0, i + 1, i], [last, last + i, last + i + 1]);
  }
  for (let s = 0; s + 1 < sections.length; ++s) {
    for (let i = 0; i < SECTORS; ++i) {
      const a = s * SECTORS + i;
      const b = s * SECTORS + ((i + 1) % SECTORS);
      faces.push([a, b, b + SECTORS], [a, b + SECTORS, a + SECTORS]);
    }
  }
  return { vertices, faces };
}

// Mass, centre and inertia about the centre (xx, yy, zz, xy, xz, yz) of a closed mesh of density 1.
function massOfMesh({ vertices, faces }) {
  let mass = 0;
  let first = [0, 0, 0];
  const second = [0, 0, 0, 0, 0, 0]; // of the tetrahedra from the origin
  for (const face of faces) {
    const [a, b, c] = face.map((i) => vertices[i]);
    const volume = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
    const sum = add(add(a, b), c);
    mass += volume;
    first = add(first, scale(volume / 4, sum));
    const pairs = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]]; // prettier-ignore
    pairs.forEach(([i, j], k) => {
      second[k] += (volume / 20) * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]);
    });
  }
  const center = scale(1 / mass, first);
  const [xx, yy, zz, xy, xz, yz] = second;
  return shifted(mass, center, [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz], -1);
}

// Moves the point that inertia is about: sign 1 from the centre to the origin, -1 back.
function shifted(mass, [x, y, z], inertia, sign) {
  const extra = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
  return { mass, center: [x, y, z], inertia: inertia.map((v, i) => v + sign * mass * extra[i]) };
}

function massOfShape({ type, size, pos = [0, 0, 0] }) {
  if (type === "box") {
    const [a, b, c] = size;
    const mass = 8 * a * b * c;
    return { mass, center: pos, inertia: [b * b + c * c, a * a + c * c, a * a + b * b, 0, 0, 0].map((v, i) => (i < 3 ? (mass * v) / 3 : 0)) };
  }
  const mass = (4 / 3) * Math.PI * size[0] ** 3; // a sphere
  const moment = 0.4 * mass * size[0] ** 2;
  return { mass, center: pos, inertia: [moment, moment, moment, 0, 0, 0] };
}

// Of all solids of a part together, scaled to a mass.
export function massOf(part) {
  const solids = part.shapes.map(massOfShape);
  if (part.loft) solids.push(massOfMesh(loftMesh(part.loft)));
  const total = solids.reduce((sum, s) => sum + s.mass, 0);
  const center = scale(1 / total, solids.reduce((sum, s) => add(sum, scale(s.mass, s.center)), [0, 0, 0]));
  const aboutOrigin = solids
    .map((s) => shifted(s.mass, s.center, s.inertia, 1).inertia)
    .reduce((sum, i) => add(sum, i), [0, 0, 0, 0, 0, 0]);
  const { inertia } = shifted(total, center, aboutOrigin, -1);
  const factor = part.mass / total;
  return { mass: part.mass, center, inertia: scale(factor, inertia) };
}
