// Soft bodies: shaded surfaces with smooth normals, ropes as tubes.
import { Box3, BufferAttribute, BufferGeometry, Group, Vector3 } from 'three';
import { lookOf, MATERIALS, shade } from './looks.js';
import { bodyColors } from './theme.js';
import { paint, Thing } from './things.js';

const SIDES = 8; // of a rope
const THREADS = 170; // radians of the weave across a cloth

// Rings around the particles of a rope, transported with minimal rotation.
function writeTube(points, radius, out) {
  const count = points.length / 3;
  const at = (i) => new Vector3().fromArray(points, 3 * Math.min(count - 1, Math.max(0, i)));
  const side = new Vector3(0.3, 0.5, 0.8);
  for (let i = 0; i < count; ++i) {
    const along = at(i + 1)
      .sub(at(i - 1))
      .normalize();
    side.addScaledVector(along, -side.dot(along)).normalize();
    const other = along.clone().cross(side);
    for (let k = 0; k < SIDES; ++k) {
      const angle = (2 * Math.PI * k) / SIDES;
      at(i)
        .addScaledVector(side, radius * Math.cos(angle))
        .addScaledVector(other, radius * Math.sin(angle))
        .toArray(out, 3 * (i * SIDES + k));
    }
  }
}

function tubeIndices(count) {
  const indices = [];
  for (let i = 0; i < (count - 1) * SIDES; ++i) {
    const ring = Math.floor(i / SIDES) * SIDES;
    const next = ring + ((i + 1) % SIDES);
    indices.push(i, next, i + SIDES, next, next + SIDES, i + SIDES);
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
    const geometry = new BufferGeometry();
    const triangles = isRope ? [] : [...sim.softTriangles(index, soft.triangles)];
    const surface = [...new Set(triangles)]; // particles on the surface; inner ones are not drawn
    const numbers = new Map(surface.map((particle, i) => [particle, i]));
    const vertices = isRope ? soft.particles * SIDES : surface.length;
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * vertices), 3));
    geometry.setIndex(isRope ? tubeIndices(soft.particles) : triangles.map((i) => numbers.get(i)));
    const { color: own, ...material } = MATERIALS[lookOf(sim.scene?.name).soft ?? 'paint'];
    const color = own ? shade(own) : bodyColors[index % bodyColors.length];
    const look = { ...material, color, isDouble: true, isWire: this.isWire };
    const mesh = new Thing(geometry, paint(look));
    mesh.castShadow = true;
    this.group.add(mesh);
    const part = { mesh, isRope, surface, ...soft };
    if (material.pattern) this.keepRest(sim, part, index);
    return part;
  }

  // Coordinates of the pattern: the vertices as they are now, in threads of the cloth.
  keepRest(sim, { mesh, surface, particles }, index) {
    const points = sim.particles(index, particles);
    const box = new Box3().setFromArray([...points]);
    const threads = THREADS / box.getSize(new Vector3()).length();
    const rest = surface.flatMap((k) =>
      [0, 1, 2].map((axis) => threads * points[3 * k + axis]).concat(1),
    );
    mesh.geometry.setAttribute('rest', new BufferAttribute(new Float32Array(rest), 4));
  }

  // Ropes have a minimum width on the screen.
  write(sim, i, least, out) {
    const { isRope, surface, particles, radius } = this.parts[i];
    const points = sim.particles(i, particles);
    if (isRope) writeTube(points, Math.max(radius, least), out);
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
