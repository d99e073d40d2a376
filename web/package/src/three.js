// A view of a world in three.js: an instanced mesh for every shape, a surface for every soft body,
// interpolated between fixed steps; picking and dragging.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import { surfaceOf } from './surfaces.js';

const MOVING = [0x4f8fc0, 0xc98a4b, 0x6aa36a, 0xb0708f, 0x8a7fc0];

// ---- Geometry of shapes --------------------------------------------------------------------------

function flatGeometry(vertices, indices, isFlat) {
  let geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(vertices), 3));
  geometry.setIndex(Array.from(indices));
  if (isFlat) geometry = geometry.toNonIndexed();
  geometry.computeVertexNormals();
  return geometry;
}

function shapeGeometry(world, def) {
  const { kind, radius, halfLength, halfExtents: e } = def;
  switch (kind) {
    case 'sphere':
      return new SphereGeometry(radius, 32, 20);
    case 'capsule':
      return new CapsuleGeometry(radius, 2 * halfLength, 10, 24);
    case 'box':
      return new BoxGeometry(2 * e[0], 2 * e[1], 2 * e[2]);
    case 'cylinder':
      return new CylinderGeometry(radius, radius, 2 * halfLength, 40);
    case 'cone':
      return new ConeGeometry(radius, 2 * halfLength, 40);
    case 'plane':
      return new PlaneGeometry(200, 200).rotateX(-Math.PI / 2);
    default: {
      const { vertices, indices } = surfaceOf(world, def);
      return flatGeometry(vertices, indices, kind !== 'wire');
    }
  }
}

// Shapes with the same key share one instanced mesh.
const keyOf = (def, moves) =>
  [moves, def.kind, def.geometry, def.radius, def.halfLength, ...Array.from(def.halfExtents)].join(
    ' ',
  );

// ---- The view ------------------------------------------------------------------------------------

const scratch = {
  p: new Vector3(),
  q: new Quaternion(),
  r: new Quaternion(),
  one: new Vector3(1, 1, 1),
  m: new Matrix4(),
};

export class WorldView {
  /** Add this to your scene. */
  group = new Group();
  #world;
  #options;
  #instances = []; // { mesh, items: [{ body row or -1, local }] }
  #softs = new Map();
  #bodies = [];
  #before = new Float32Array(0);
  #now = new Float32Array(0);
  #lines = null;
  #known = '';

  constructor(world, options = {}) {
    this.#world = world;
    this.#options = options;
    this.refresh();
  }

  /** Makes the meshes again; done by capture() whenever something was created or destroyed. */
  refresh() {
    this.#clear();
    const world = this.#world;
    this.#bodies = world.bodies();
    const rows = new Map(this.#bodies.map((id, i) => [id, i]));
    const groups = new Map();
    for (const shape of world.shapes()) {
      const def = world.getShapeDef(shape);
      const body = world.shapeBody(shape);
      const moves = body !== 0 && world.getBodyType(body) !== 'static';
      const key = keyOf(def, moves);
      if (!groups.has(key)) groups.set(key, { def, moves, items: [] });
      const local = new Matrix4().compose(
        new Vector3(...def.position),
        new Quaternion(...def.rotation),
        scratch.one,
      );
      groups.get(key).items.push({ row: rows.get(body) ?? -1, shape, local });
    }
    for (const { def, moves, items } of groups.values()) this.#addGroup(def, moves, items);
    this.#known = this.#signature();
    this.#now = new Float32Array(7 * this.#bodies.length);
    this.capture();
    this.capture();
  }

  #addGroup(def, moves, items) {
    const color = moves ? MOVING[this.#instances.length % MOVING.length] : 0xb8bec4;
    const material =
      this.#options.material?.(def, moves) ?? new MeshStandardMaterial({ color, roughness: 0.7 });
    const mesh = new InstancedMesh(shapeGeometry(this.#world, def), material, items.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false; // its bounds are those of one instance
    mesh.castShadow = moves;
    mesh.receiveShadow = true;
    mesh.visible = !def.sensor;
    mesh.userData.shapes = items.map(({ shape }) => shape);
    this.group.add(mesh);
    this.#instances.push({ mesh, items });
  }

  #signature() {
    const { bodies, shapes, softs } = this.#world.counters();
    return `${bodies} ${shapes} ${softs} ${this.#world.bodies().at(-1) ?? 0}`;
  }

  #clear() {
    for (const child of [...this.group.children]) {
      this.group.remove(child);
      child.geometry.dispose();
    }
    this.#instances = [];
    this.#softs.clear();
    this.#lines = null;
  }

  /** Notes the poses of the world: call it after every step. */
  capture() {
    if (this.#known && this.#known !== this.#signature()) return this.refresh();
    const poses = this.#bodies.length ? this.#world.readPoses(this.#bodies) : new Float32Array(0);
    [this.#before, this.#now] = [this.#now, poses.slice()];
    return undefined;
  }

  /** Moves the meshes: `alpha` from 0, the state before the last step, to 1, that after it. */
  update(alpha = 1) {
    const { p, q, r, one, m } = scratch;
    const poses = this.#bodies.map((_, i) => {
      const a = this.#before.subarray(7 * i, 7 * i + 7);
      const b = this.#now.subarray(7 * i, 7 * i + 7);
      p.set(
        a[0] + alpha * (b[0] - a[0]),
        a[1] + alpha * (b[1] - a[1]),
        a[2] + alpha * (b[2] - a[2]),
      );
      q.set(a[3], a[4], a[5], a[6]).slerp(r.set(b[3], b[4], b[5], b[6]), alpha);
      return new Matrix4().compose(p, q, one);
    });
    for (const { mesh, items } of this.#instances) {
      items.forEach(({ row, local }, i) =>
        mesh.setMatrixAt(i, row < 0 ? local : m.multiplyMatrices(poses[row], local)),
      );
      mesh.instanceMatrix.needsUpdate = true;
    }
    this.#updateSofts();
  }

  #updateSofts() {
    for (const soft of this.#world.softs()) {
      const positions = this.#world.softPositions(soft);
      let mesh = this.#softs.get(soft);
      if (mesh && mesh.geometry.attributes.position.array.length !== positions.length) {
        this.group.remove(mesh); // it tore
        mesh.geometry.dispose();
        mesh = undefined;
      }
      if (!mesh) mesh = this.#addSoft(soft, positions);
      mesh.geometry.attributes.position.array.set(positions);
      mesh.geometry.attributes.position.needsUpdate = true;
      if (mesh.isMesh) mesh.geometry.computeVertexNormals();
    }
  }

  #addSoft(soft, positions) {
    const triangles = this.#world.softTriangles(soft);
    const geometry = new BufferGeometry();
    geometry.setAttribute(
      'position',
      new BufferAttribute(new Float32Array(positions.length), 3).setUsage(DynamicDrawUsage),
    );
    if (triangles.length) geometry.setIndex(Array.from(triangles));
    const mesh = triangles.length
      ? new Mesh(geometry, new MeshStandardMaterial({ color: 0xc0504d, roughness: 0.9, side: 2 }))
      : new Line(geometry, new LineBasicMaterial({ color: 0xc0504d }));
    mesh.frustumCulled = false;
    mesh.castShadow = true;
    this.#softs.set(soft, mesh);
    this.group.add(mesh);
    return mesh;
  }

  /** Draws what debugLines() gives; null removes it. */
  drawDebug(what) {
    if (this.#lines) {
      this.group.remove(this.#lines);
      this.#lines.geometry.dispose();
      this.#lines = null;
    }
    if (!what) return;
    const { points, colors } = this.#world.debugLines(what);
    const rgb = new Float32Array(6 * colors.length);
    colors.forEach((c, i) => {
      for (let k = 0; k < 2; ++k)
        rgb.set(
          [(c >>> 24) / 255, ((c >>> 16) & 255) / 255, ((c >>> 8) & 255) / 255],
          6 * i + 3 * k,
        );
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(points, 3));
    geometry.setAttribute('color', new BufferAttribute(rgb, 3));
    this.#lines = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
    this.#lines.frustumCulled = false;
    this.group.add(this.#lines);
  }

  /** What a ray of a three.js Raycaster hits in the world, within `distance` metres. */
  pick(raycaster, distance = 1000) {
    const { origin, direction } = raycaster.ray;
    return this.#world.ray(origin.toArray(), direction.clone().multiplyScalar(distance).toArray());
  }

  dispose() {
    this.#clear();
  }
}

/** Pulls a body by a soft joint to the pointer. */
export class Dragger {
  #world;
  #joint = 0;
  #depth = 0;

  constructor(world) {
    this.#world = world;
  }

  get isDragging() {
    return this.#joint !== 0;
  }

  /** Begins at what the ray hits; returns false if that does not move. */
  begin(raycaster, { compliance = 1e-3, distance = 1000 } = {}) {
    const { origin, direction } = raycaster.ray;
    const hit = this.#world.ray(
      origin.toArray(),
      direction.clone().multiplyScalar(distance).toArray(),
    );
    if (!hit.hit || !hit.body || this.#world.getBodyType(hit.body) !== 'dynamic') return false;
    this.end();
    const mass = this.#world.bodyMass(hit.body).mass;
    const def = this.#world.jointDefAt(
      { kind: 'ball', bodyA: 0, bodyB: hit.body },
      hit.point,
      [1, 0, 0],
    );
    this.#joint = this.#world.createJoint({ ...def, compliance: compliance / mass });
    this.#depth = hit.fraction * distance;
    return true;
  }

  /** Moves the anchor along with the pointer. */
  move(raycaster) {
    if (!this.#joint) return;
    const { origin, direction } = raycaster.ray;
    this.#world.setJointAnchor(
      this.#joint,
      direction.clone().multiplyScalar(this.#depth).add(origin).toArray(),
    );
  }

  end() {
    if (this.#joint && this.#world.isJointValid(this.#joint)) this.#world.destroyJoint(this.#joint);
    this.#joint = 0;
  }
}

/** Steps of a fixed length from the times of frames; returns what update() takes. */
export class FixedStep {
  #left = 0;
  #last = null;

  constructor(dt = 1 / 60, mostSteps = 4) {
    this.dt = dt;
    this.mostSteps = mostSteps;
  }

  /** `now` in ms, as requestAnimationFrame gives it; `step` is called for every step that is due. */
  advance(now, step) {
    this.#left += this.#last === null ? 0 : (now - this.#last) / 1000;
    this.#last = now;
    this.#left = Math.min(this.#left, this.mostSteps * this.dt); // slow motion rather than ever more steps
    while (this.#left >= this.dt) {
      step(this.dt);
      this.#left -= this.dt;
    }
    return this.#left / this.dt;
  }
}
