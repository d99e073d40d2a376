// What the pointer does to a world: picking, holding, pinning, throwing, deleting and creating.
import { softMeshCloth } from 'tenon-physics/scenes';
import { DYNAMIC } from './kinds.js';

const FRAME = 1 / 60;
const UP = [0, 1, 0];
const THIN = 0.02; // m, the least half extent of a box for picking
const BESIDE = 0.015; // of the distance, from a ray to a rope

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]];
const size = (a) => Math.sqrt(dot(a, a));

// Soft bodies are picked as numbers below -1.
const softItem = (index) => -2 - index;
const isSoft = (item) => item < -1;

// Share of a ray before it enters a box about the origin; infinite if it misses.
function boxEntry(from, way, half) {
  let [first, last] = [0, Infinity];
  for (let i = 0; i < 3; ++i) {
    const wide = Math.max(half[i], THIN);
    if (way[i] === 0) {
      if (Math.abs(from[i]) > wide) return Infinity;
      continue;
    }
    const [near, far] = [(-wide - from[i]) / way[i], (wide - from[i]) / way[i]];
    first = Math.max(first, Math.min(near, far));
    last = Math.min(last, Math.max(near, far));
  }
  return first <= last ? first : Infinity;
}

// The particle nearest to a point.
function nearestParticle(points, point) {
  let [best, found] = [Infinity, 0];
  for (let i = 0; 3 * i < points.length; ++i) {
    const away = size(sub(points.subarray(3 * i, 3 * i + 3), point));
    if (away < best) [best, found] = [away, i];
  }
  return found;
}

// Ray casts do not hit ropes: the particle closest to the ray, within a limit.
function ropeEntry(points, from, way) {
  const square = dot(way, way);
  let best = Infinity;
  for (let i = 0; i < points.length; i += 3) {
    const to = sub(points.subarray(i, i + 3), from);
    const along = dot(to, way) / square;
    const aside = size(sub(to, scaled(along, way)));
    if (along > 0 && along < best && aside < BESIDE * size(to)) best = along;
  }
  return best;
}

const LIMBS = [-1, 1].flatMap((side) => [
  { x: 0.46 * side, y: 0.28, radius: 0.09, half: 0.16, swing: 1.4 },
  { x: 0.17 * side, y: -0.72, radius: 0.12, half: 0.24, swing: 0.9 },
]);

export class Hand {
  #world;
  #drawing;
  #own = new Map(); // joints of the page and what they are for
  #joint = 0;
  #attachment = 0;
  #picked = [0, 0, 0];

  constructor(world, drawing) {
    this.#world = world;
    this.#drawing = drawing;
  }

  isOwn(joint) {
    return this.#own.has(joint);
  }

  #item(item) {
    return this.#drawing.all[item];
  }

  #soft(item) {
    return this.#world.softs()[softItem(item)];
  }

  // ---- Picking

  // The first item hit by a ray, or a soft body, and the point there; null for none.
  pick(from, way) {
    const hit = this.#world.ray(from, way);
    let nearest = hit.hit ? hit.fraction : 1;
    const { all } = this.#drawing;
    let found = hit.hit && hit.shape ? all.findIndex(({ shape }) => shape === hit.shape) : -1;
    all.forEach((item, i) => {
      const at = item.shape ? Infinity : this.#bodyEntry(item, from, way);
      if (at < nearest) [nearest, found] = [at, i];
    });
    this.#world.softs().forEach((soft, i) => {
      const isHit = hit.hit && hit.soft === soft && nearest === hit.fraction;
      const at = isHit ? nearest : this.#ropeEntry(soft, from, way);
      if (isHit || at < nearest) [nearest, found] = [at, softItem(i)];
    });
    if (found === -1) return null;
    this.#picked = add(from, scaled(nearest, way));
    return { item: found, point: this.#picked };
  }

  #bodyEntry({ body, center, extents }, from, way) {
    const local = sub(this.#world.bodyLocalPoint(body, from), center);
    return boxEntry(local, this.#world.bodyLocalVector(body, way), extents);
  }

  #ropeEntry(soft, from, way) {
    return this.#world.softTriangles(soft).length
      ? Infinity
      : ropeEntry(this.#world.softPositions(soft), from, way);
  }

  massOf(item) {
    const world = this.#world;
    if (isSoft(item)) return world.softMomentum(this.#soft(item), [0, 0, 0]).mass;
    const { type, body } = this.#item(item);
    return type === DYNAMIC ? world.bodyMass(body).mass : 0;
  }

  // ---- Holding

  #hold(item, point, kind, what, compliance) {
    const world = this.#world;
    const { body } = this.#item(item);
    const def = world.jointDefAt({ kind, bodyB: body, collide: true, compliance }, point, UP);
    world.setBodyAwake(body, true);
    const joint = world.createJoint(def);
    this.#own.set(joint, what);
    return joint;
  }

  grab(item, point, compliance) {
    const world = this.#world;
    if (isSoft(item)) {
      const soft = this.#soft(item);
      const particle = nearestParticle(world.softPositions(soft), point);
      this.#attachment = world.createAttachment({ soft, particle, point, compliance });
      return true;
    }
    if (this.#item(item).type !== DYNAMIC) return false;
    this.#joint = this.#hold(item, point, 'ball', 'hold', compliance);
    return true;
  }

  get #holdsBody() {
    return this.#joint !== 0 && this.#world.isJointValid(this.#joint);
  }

  get #holdsSoft() {
    return this.#attachment !== 0 && this.#world.isAttachmentValid(this.#attachment);
  }

  // Call before every step while something is held.
  dragTo(point) {
    const world = this.#world;
    if (this.#holdsBody) {
      world.setJointAnchor(this.#joint, point);
      this.#calm(world.getJointDef(this.#joint));
    } else if (this.#holdsSoft) {
      world.setAttachmentPoint(this.#attachment, point);
    }
  }

  // Damping of the pulling spring, as large as a step allows.
  #calm({ bodyB, frameB, compliance }) {
    const world = this.#world;
    const { mass } = world.bodyMass(bodyB);
    const point = world.bodyWorldPoint(bodyB, frameB.p);
    const damping = Math.min(0.7 * Math.sqrt(mass / compliance), (0.25 * mass) / FRAME);
    world.applyBodyForce(bodyB, scaled(-damping, world.bodyPointVelocity(bodyB, point)), point);
  }

  force() {
    if (this.#holdsSoft) return size(this.#world.getAttachmentState(this.#attachment).force);
    return this.#holdsBody ? size(this.#world.getJointState(this.#joint).force) : 0;
  }

  letGo() {
    if (this.#holdsBody) this.#world.destroyJoint(this.#joint);
    if (this.#holdsSoft) this.#world.destroyAttachment(this.#attachment);
    this.#joint = this.#attachment = 0;
  }

  // A restored world may contain a hold that has ended.
  forget() {
    for (const [joint, what] of this.#own) {
      if (what === 'hold' && this.#world.isJointValid(joint)) this.#world.destroyJoint(joint);
    }
    if (this.#holdsSoft) this.#world.destroyAttachment(this.#attachment);
    this.#joint = this.#attachment = 0;
  }

  // Pins a body at its pose, or releases it; true if it is pinned now.
  pin(item) {
    const world = this.#world;
    if (isSoft(item)) {
      const soft = this.#soft(item);
      const particle = nearestParticle(world.softPositions(soft), this.#picked);
      world.setSoftVelocity(soft, particle, [0, 0, 0]);
      world.setSoftPinned(soft, particle, true);
      return true;
    }
    const { type, body } = this.#item(item);
    if (type !== DYNAMIC) return false;
    const pins = world.bodyJoints(body).filter((joint) => this.#own.get(joint) === 'pin');
    pins.forEach((joint) => world.destroyJoint(joint));
    if (pins.length) return false;
    this.#hold(item, world.bodyCenter(body), 'fixed', 'pin', 0);
    return true;
  }

  throwAt(item, point, velocity) {
    const world = this.#world;
    if (isSoft(item)) {
      const soft = this.#soft(item);
      const thrown = world.softVelocities(soft).map((v, i) => v + velocity[i % 3]);
      world.setSoftVelocities(soft, thrown);
      return;
    }
    const { type, body } = this.#item(item);
    if (type !== DYNAMIC) return;
    world.applyBodyImpulse(body, scaled(world.bodyMass(body).mass, velocity), point);
  }

  remove(item) {
    this.#drawing.isDirty = true;
    const soft = isSoft(item) ? this.#soft(item) : 0;
    const { body } = soft ? { body: 0 } : this.#item(item);
    if (soft) this.#world.destroySoft(soft);
    else if (body) this.#world.destroyBody(body);
    return !!(soft || body);
  }

  // ---- Creating. `half` is about half the width of what is made.

  spawn(kind, at, velocity, half) {
    this.#drawing.isDirty = true;
    if (kind === 'ragdoll') this.#ragdoll(at, 2 * half, velocity);
    else if (kind === 'cloth') this.#cloth(at, half);
    else if (kind === 'ball') this.#make(at, { kind: 'sphere', radius: half }, velocity);
    else this.#make(at, { kind: 'box', halfExtents: [half, half, half] }, velocity);
  }

  #make(position, shape, velocity) {
    const body = this.#world.createBody({ position, velocity });
    this.#world.createShape(body, shape);
    return body;
  }

  // A joint of two parts at a point, with a cone limit about the line between them.
  #connect(a, b, point, swing) {
    const world = this.#world;
    const def = world.jointDefAt({ kind: 'ball', bodyA: a, bodyB: b }, point, UP);
    const damping = 2 * world.bodyMass(b).inertia.xx; // its motion decays at about 2 1/s
    const axis = def.axis.map((each, i) => (i < 3 ? each : { ...each, damping }));
    const angular = [[-0.6, 0.6], def.angular[1], def.angular[2]];
    this.#own.delete(world.createJoint({ ...def, swing, angular, axis }));
  }

  #ragdoll(at, scale, velocity) {
    const place = (x, y) => add(at, [x * scale, y * scale, 0]);
    const chest = { kind: 'box', halfExtents: scaled(scale, [0.32, 0.38, 0.17]) };
    const trunk = this.#make(at, chest, velocity);
    const head = this.#make(place(0, 0.62), { kind: 'sphere', radius: 0.2 * scale }, velocity);
    this.#connect(trunk, head, place(0, 0.41), 0.6);
    for (const { x, y, radius, half, swing } of LIMBS) {
      const shape = { kind: 'capsule', radius: radius * scale, halfLength: half * scale };
      const step = 2 * (half + 0.6 * radius);
      const upper = this.#make(place(x, y), shape, velocity);
      const lower = this.#make(place(x, y - step), shape, velocity);
      this.#connect(trunk, upper, place(x, y + 0.5 * step), swing);
      this.#connect(upper, lower, place(x, y - 0.5 * step), 1.2);
    }
  }

  // A horizontal square sheet.
  #cloth(position, half) {
    const mesh = softMeshCloth(24, 24, 8 * half, 8 * half);
    const material = { mass: 8 * half, radius: 0.05 * half, damping: 0.5 };
    this.#world.createSoft({ ...mesh, position, ...material });
  }
}
