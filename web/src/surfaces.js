// Soft bodies: shaded surfaces with smooth normals, ropes as tubes, two particles as balls on a rod.
import { Box3, BufferAttribute, BufferGeometry, Group, Vector3 } from 'three';
import { lookOf, MATERIALS, shade } from './looks.js';
import { bodyColors } from './theme.js';
import { paint, Thing } from './things.js';

const SIDES = { rope: 8, rod: 32 };
const BALL = { radius: 2.2, rod: 0.5, rings: 16 }; // radii of the balls on a rod and of the rod, times its own
const ACROSS = 170; // units of a pattern across a soft body: radians of a weave

// Two particles as rings along the line through them: [distance from the nearer end, radius], outside first.
const HALF_ROD = Array.from({ length: BALL.rings }, (_, k) => {
  const last = Math.PI - Math.asin(BALL.rod / BALL.radius);
  const angle = (last * k) / (BALL.rings - 1);
  return [-BALL.radius * Math.cos(angle), BALL.radius * Math.sin(angle)];
});

function rodOf(ends, radius) {
  const [a, b] = [0, 3].map((at) => new Vector3().fromArray(ends, at));
  const way = b.clone().sub(a).normalize();
  const near = HALF_ROD.map(([x]) => a.clone().addScaledVector(way, radius * x));
  const far = HALF_ROD.map(([x]) => b.clone().addScaledVector(way, -radius * x));
  return [...near, ...far.reverse()].flatMap((point) => point.toArray());
}

const rodRadius = (i) => HALF_ROD[Math.min(i, 2 * BALL.rings - 1 - i)][1];

// Rings around the points of a line, transported with minimal rotation; radiusAt: of each ring.
function writeTube(points, radiusAt, sides, out) {
  const count = points.length / 3;
  const at = (i) => new Vector3().fromArray(points, 3 * Math.min(count - 1, Math.max(0, i)));
  const side = new Vector3(0.3, 0.5, 0.8);
  for (let i = 0; i < count; ++i) {
    const along = at(i + 1)
      .sub(at(i - 1))
      .normalize();
    side.addScaledVector(along, -side.dot(along)).normalize();
    const other = along.clone().cross(side);
    for (let k = 0; k < sides; ++k) {
      const angle = (2 * Math.PI * k) / sides;
      at(i)
        .addScaledVector(side, radiusAt(i) * Math.cos(angle))
        .addScaledVector(other, radiusAt(i) * Math.sin(angle))
        .toArray(out, 3 * (i * sides + k));
    }
  }
}

function tubeIndices(count, sides) {
  const indices = [];
  for (let i = 0; i < (count - 1) * sides; ++i) {
    const ring = Math.floor(i / sides) * sides;
    const next = ring + ((i + 1) % sides);
    indices.push(i, next, i + sides, next, next + sides, i + sides);
  }
  return indices;
}

export class Surfaces {
  constructor() {
    this.group = new Group();
    this.parts = [];
  }

  rebuild(sim) {
    for (const { mesh } of this.parts) {
      this.group.remove(mesh);
      mesh.geometry.dispose();
    }
    this.parts = sim.softs().map((soft, i) => this.add(sim, soft, i));
  }

  add(sim, soft, index) {
    const isRope = soft.triangles === 0;
    const isRod = isRope && soft.particles === 2;
    const [rows, sides] = isRod ? [2 * BALL.rings, SIDES.rod] : [soft.particles, SIDES.rope];
    const geometry = new BufferGeometry();
    const triangles = isRope ? [] : [...sim.softTriangles(index, soft.triangles)];
    const surface = [...new Set(triangles)]; // particles on the surface; inner ones are not drawn
    const numbers = new Map(surface.map((particle, i) => [particle, i]));
    const vertices = isRope ? rows * sides : surface.length;
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * vertices), 3));
    geometry.setIndex(isRope ? tubeIndices(rows, sides) : triangles.map((i) => numbers.get(i)));
    const { color: own, ...material } = MATERIALS[lookOf(sim.scene?.name).soft ?? 'paint'];
    const color = own ? shade(own) : bodyColors[index % bodyColors.length];
    const look = { ...material, color, isDouble: true, isWire: this.isWire };
    const mesh = new Thing(geometry, paint(look));
    mesh.castShadow = true;
    this.group.add(mesh);
    const part = { mesh, isRope, isRod, surface, ...soft };
    if (material.pattern) this.keepRest(sim, part, index);
    return part;
  }

  // Coordinates of the pattern: the vertices as they are now.
  keepRest(sim, { mesh, surface, particles }, index) {
    const points = sim.particles(index, particles);
    const box = new Box3().setFromArray([...points]);
    const scale = ACROSS / box.getSize(new Vector3()).length();
    const from = box.min.toArray();
    const rest = surface.flatMap((k) =>
      from.map((least, axis) => scale * (points[3 * k + axis] - least)).concat(1),
    );
    mesh.geometry.setAttribute('rest', new BufferAttribute(new Float32Array(rest), 4));
  }

  // Ropes have a minimum width on the screen.
  write(sim, i, least, out) {
    const { isRope, isRod, surface, particles, radius } = this.parts[i];
    const points = sim.particles(i, particles);
    const wide = Math.max(radius, least);
    if (isRod) writeTube(rodOf(points, wide), (k) => wide * rodRadius(k), SIDES.rod, out);
    else if (isRope) writeTube(points, () => wide, SIDES.rope, out);
    surface.forEach((particle, k) => {
      for (let axis = 0; axis < 3; ++axis) out[3 * k + axis] = points[3 * particle + axis];
    });
    return out;
  }

  update(sim, least) {
    this.parts.forEach(({ mesh }, i) => {
      const position = mesh.geometry.getAttribute('position');
      this.write(sim, i, least, position.array);
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    });
  }

  // Current vertices of each soft body; null if their number has changed.
  points(sim, least) {
    const now = sim.softs();
    const isSame = (part, i) => part.particles === now[i].particles;
    if (now.length !== this.parts.length || !this.parts.every(isSame)) return null;
    return this.parts.map(({ mesh }, i) => {
      const { length } = mesh.geometry.getAttribute('position').array;
      return this.write(sim, i, least, new Float32Array(length));
    });
  }

  setWire(isWire) {
    this.isWire = isWire;
    for (const { mesh } of this.parts) mesh.material.isWire = isWire;
  }

  // Extends a box by the particles.
  measure(sim, box) {
    this.parts.forEach(({ particles }, i) => {
      const points = sim.particles(i, particles);
      const point = new Vector3();
      for (let k = 0; k < points.length; k += 3) box.expandByPoint(point.fromArray(points, k));
    });
    return box;
  }
}
