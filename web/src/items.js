// What there is to draw of a world: one item for each shape, or body without shapes; joints, contacts,
// soft bodies; and facts about single ones.
import {
  CONTACT_NUMBERS,
  JOINT_NUMBERS,
  readContacts,
  readJoints,
  surfaceOf,
} from 'tenon-physics/view';
import { limitLines } from './limits.js';
import { DYNAMIC, JOINTS, KIND, SHAPES, STATIC, TYPES } from './kinds.js';
import { branchesOf } from './ropes.js';

const LINEAR_A = 0;
const ANGULAR_A = 3;
const AXES = ['linear_a', 'linear_b', 'linear_c', 'angular_a', 'angular_b', 'angular_c'];
const AXIS_NAMES = ['along a', 'along b', 'along c', 'about a', 'about b', 'about c'];
const NO_TURN = [0, 0, 0, 1];

// The slot of a body: bodies that were made together have numbers in a row. -1 is none.
const slotOf = (id) => (id ? id % 2 ** 23 : -1);

// Column-major; the axes are scaled.
function matrixOf([x, y, z], [i, j, k, w], [a, b, c] = [1, 1, 1]) {
  return Float32Array.of(
    a * (1 - 2 * (j * j + k * k)),
    a * 2 * (i * j + k * w),
    a * 2 * (i * k - j * w),
    0,
    b * 2 * (i * j - k * w),
    b * (1 - 2 * (i * i + k * k)),
    b * 2 * (j * k + i * w),
    0,
    c * 2 * (i * k + j * w),
    c * 2 * (j * k - i * w),
    c * (1 - 2 * (i * i + j * j)),
    0,
    ...[x, y, z, 1],
  );
}

// out = a b, for matrices of motions.
function multiply(a, from, b, out, to) {
  for (let c = 0; c < 16; c += 4) {
    const [x, y, z, w] = [b[c], b[c + 1], b[c + 2], b[c + 3]];
    for (let r = 0; r < 3; ++r)
      out[to + c + r] =
        a[from + r] * x + a[from + 4 + r] * y + a[from + 8 + r] * z + a[from + 12 + r] * w;
    out[to + c + 3] = w;
  }
}

const apply = (m, at, [x, y, z]) =>
  at < 0
    ? [x, y, z]
    : [0, 1, 2].map((r) => m[at + r] * x + m[at + 4 + r] * y + m[at + 8 + r] * z + m[at + 12 + r]);
const turn = (m, at, [x, y, z]) =>
  at < 0 ? [x, y, z] : [0, 1, 2].map((r) => m[at + r] * x + m[at + 4 + r] * y + m[at + 8 + r] * z);

// The x axis of a rotation.
const firstAxis = ([i, j, k, w]) => [
  1 - 2 * (j * j + k * k),
  2 * (i * j + k * w),
  2 * (i * k - j * w),
];

// Half extents of the box with a mass and moments of inertia: I_y + I_z - I_x = 2/3 m a_x^2.
function boxOf({ mass, inertia: { xx, yy, zz } }) {
  const half = (beside, other, along) =>
    mass > 0 ? Math.sqrt(Math.max(0, (1.5 * (beside + other - along)) / mass)) : 0;
  return [half(yy, zz, xx), half(xx, zz, yy), half(xx, yy, zz)];
}

// Equal ones are beside each other.
const order = (a, b) =>
  a.kind - b.kind || a.geometry - b.geometry || (a.geometry >= 0 ? a.radius - b.radius : 0);

function isFree({ kind, linear, angular }, axis) {
  switch (kind) {
    case 'distance':
    case 'prismatic':
      return axis === LINEAR_A;
    case 'ball':
    case 'hinge':
      return axis === ANGULAR_A;
    case 'cylinder':
      return axis === LINEAR_A || axis === ANGULAR_A;
    case 'universal':
      return axis === ANGULAR_A || axis === ANGULAR_A + 1;
    case 'generic': {
      const [lo, hi] = axis < ANGULAR_A ? linear[axis] : angular[axis - ANGULAR_A];
      return lo < hi;
    }
    default:
      return false;
  }
}

export class Drawing {
  isDirty = true; // the items must be listed again
  all = [];
  #world;
  #rows = new Map(); // of bodies in the arrays of the package
  #counts = '';
  #places = new Map(); // definitions of joints, which do not change but for switches
  #centers = new Map(); // centres of mass, in the frames of bodies
  #ropes = new Map(); // paths of couplings
  #brackets = new Map(); // by joint

  constructor(world) {
    this.#world = world;
  }

  // ---- Shapes

  get #now() {
    const { bodies, shapes, softs } = this.#world.counters();
    return `${bodies} ${shapes} ${softs}`;
  }

  // Whether the list of items is out of date.
  get changed() {
    return this.isDirty || this.#now !== this.#counts;
  }

  list() {
    const world = this.#world;
    const bodies = world.bodies();
    const types = new Map(bodies.map((id) => [id, TYPES.indexOf(world.getBodyType(id))]));
    this.#rows = new Map(bodies.map((id, i) => [id, i]));
    const shaped = new Set();
    this.all = world.shapes().map((shape) => {
      const body = world.shapeBody(shape);
      shaped.add(body);
      return { ...this.#shapeItem(shape), body, type: types.get(body) ?? STATIC };
    });
    for (const body of bodies) {
      if (!shaped.has(body))
        this.all.push({ ...this.#bodyItem(body), body, type: types.get(body) });
    }
    this.all.sort(order);
    this.#counts = this.#now;
    this.isDirty = false;
    this.#places.clear();
    this.#centers.clear();
    this.#ropes.clear();
    this.#brackets.clear();
    return this.all.map(
      ({ kind, geometry, body, type, sensor, radius, half, extents, belt, shape }) => ({
        ...{ kind, geometry, body: slotOf(body), type, sensor, radius, half, extents, belt },
        isMass: shape === 0, // the box of a body without shapes
      }),
    );
  }

  #shapeItem(shape) {
    const def = this.#world.getShapeDef(shape);
    const { radius, halfLength: half } = def;
    const kind = SHAPES.indexOf(def.kind);
    // Only cones are scaled by the matrix: other shapes have their size in the geometry.
    const scale = kind === KIND.cone ? [radius, half, radius] : undefined;
    const local = matrixOf(def.position, def.rotation, scale);
    const shared = { shape, geometry: slotOf(def.geometry), sensor: def.sensor };
    const [belt] = def.material.surfaceVelocity; // along x, as those of the scenes
    Object.assign(shared, { belt });
    return { ...shared, kind, local, radius, half, extents: [...def.halfExtents], def };
  }

  // Bodies without shapes are drawn as the box of their mass and moments of inertia.
  #bodyItem(body) {
    const mass = this.#world.bodyMass(body);
    const local = matrixOf(mass.center, NO_TURN);
    const none = { shape: 0, geometry: -1, sensor: false, radius: 0, half: 0, belt: 0 };
    return { ...none, kind: KIND.box, local, center: mass.center, extents: boxOf(mass) };
  }

  surface(index) {
    return surfaceOf(this.#world, this.all[index].def ?? {});
  }

  // Matrices of all bodies, and where that of a body begins; -1 for the world.
  #matricesOfBodies() {
    const world = this.#world;
    const matrices = world.counters().bodies ? world.readMatrices() : new Float32Array(0);
    if (matrices.length !== 16 * this.#rows.size)
      this.#rows = new Map(world.bodies().map((id, i) => [id, i]));
    return matrices;
  }

  #place(body) {
    const row = this.#rows.get(body);
    return row === undefined ? -1 : 16 * row;
  }

  matrices() {
    const bodies = this.#matricesOfBodies();
    const out = new Float32Array(16 * this.all.length);
    this.all.forEach(({ body, local }, i) => {
      const at = this.#place(body);
      if (at < 0) out.set(local, 16 * i);
      else multiply(bodies, at, local, out, 16 * i);
    });
    return out;
  }

  // 1 for items that sleep.
  asleep() {
    const isAwake = this.#world.counters().bodies ? this.#world.readAwake() : [];
    return Uint8Array.from(this.all, ({ body, type }) =>
      type === DYNAMIC && !isAwake[this.#rows.get(body)] ? 1 : 0,
    );
  }

  // ---- Joints and contacts

  #jointPlace(id) {
    let place = this.#places.get(id);
    if (!place) {
      const { kind, bodyA, bodyB, frameA, frameB, compliance } = this.#world.getJointDef(id);
      const axis = firstAxis(frameA.q);
      place = {
        kind: JOINTS.indexOf(kind),
        bodyA,
        bodyB,
        a: frameA.p,
        b: frameB.p,
        axis,
        compliance,
      };
      this.#places.set(id, place);
    }
    return place;
  }

  #center(body) {
    if (!this.#centers.has(body)) this.#centers.set(body, this.#world.bodyMass(body).center);
    return this.#centers.get(body);
  }

  // `isOwn` tells joints of the page.
  joints(isOwn) {
    const world = this.#world;
    const ids = world.joints();
    const numbers = readJoints(world, ids);
    const bodies = this.#matricesOfBodies();
    return ids.map((id, i) => {
      const isOurs = isOwn(id);
      const { kind, bodyA, bodyB, axis, ...points } = this.#jointPlace(id);
      // Anchors in the world may be moved.
      const a = bodyA ? points.a : world.jointAnchor(id);
      const b = bodyB ? points.b : world.jointAnchor(id);
      const [atA, atB] = [this.#place(bodyA), this.#place(bodyB)];
      const n = numbers.subarray(i * JOINT_NUMBERS, (i + 1) * JOINT_NUMBERS);
      return {
        a: apply(bodies, atA, a),
        b: apply(bodies, atB, b),
        axis: turn(bodies, atA, axis),
        force: n.slice(0, 3),
        torque: n.slice(3, 6),
        elongation: n[6],
        angle: n[7],
        kind,
        isOurs,
        isOfWorld: !bodyA,
        isOff: !isOurs && (n[8] !== 0 || !world.isJointEnabled(id)),
      };
    });
  }

  // Paths of couplings, as lists of points.
  ropes() {
    const world = this.#world;
    const bodies = this.#matricesOfBodies();
    return world.couplings().flatMap((id) => {
      if (!this.#ropes.has(id)) this.#ropes.set(id, world.getCouplingDef(id).points);
      const path = this.#ropes.get(id).map(({ body, position, axis, side, ...rest }) => {
        const at = this.#place(body);
        const turned = { axis: turn(bodies, at, axis), side: turn(bodies, at, side) };
        return { ...rest, ...turned, at: apply(bodies, at, position) };
      });
      return branchesOf(path);
    });
  }

  // Struts from boxes to joints outside of them: from, to, width.
  brackets() {
    const bodies = this.#matricesOfBodies();
    const boxes = new Map(
      this.all.filter(({ kind }) => kind === KIND.box).map((item) => [item.body, item]),
    );
    return this.#world.joints().flatMap((id) => {
      if (!this.#brackets.has(id)) this.#brackets.set(id, this.#bracketsOf(id, boxes));
      return this.#brackets.get(id).map(({ body, from, to, width }) => {
        const at = this.#place(body);
        return { from: apply(bodies, at, from), to: apply(bodies, at, to), width };
      });
    });
  }

  #bracketsOf(id, boxes) {
    const { bodyA, bodyB, a, b } = this.#jointPlace(id);
    const ends = [
      [bodyA, a],
      [bodyB, b],
    ];
    return ends.flatMap(([body, to]) => {
      const box = boxes.get(body);
      if (!body || !box) return [];
      const { local, extents } = box;
      const inBox = [0, 1, 2].map((c) =>
        [0, 1, 2].reduce((sum, r) => sum + local[4 * c + r] * (to[r] - local[12 + r]), 0),
      );
      const nearest = inBox.map((x, i) => Math.max(-extents[i], Math.min(extents[i], x)));
      const width = 0.3 * Math.min(...extents);
      const away = Math.hypot(...inBox.map((x, i) => x - nearest[i]));
      return away > 0.3 * width
        ? [{ body, from: apply(local, 0, nearest), to: [...to], width }]
        : [];
    });
  }

  // Lines for the ranges of a joint, six numbers each; `reach` is the radius of arcs.
  limits(index, reach) {
    const id = this.#world.joints()[index];
    if (id === undefined) return new Float32Array(0);
    const def = this.#world.getJointDef(id);
    const at = this.#place(def.bodyA);
    const bodies = this.#matricesOfBodies();
    const frame = matrixOf(def.frameA.p, def.frameA.q);
    const axes = [0, 4, 8].map((c) => turn(bodies, at, frame.subarray(c, c + 3)));
    const origin = apply(bodies, at, def.frameA.p);
    const { position } = this.#world.getJointState(id);
    const free = [0, 1, 2, 3, 4, 5].filter((axis) => isFree(def, axis));
    return limitLines({ ...def, origin, axes, free, position }, reach);
  }

  contacts() {
    const numbers = readContacts(this.#world);
    const contacts = [];
    for (let i = 0; i < numbers.length; i += CONTACT_NUMBERS) {
      const part = (from) => numbers.subarray(i + from, i + from + 3);
      contacts.push({ at: part(0), normal: part(3), friction: part(6), gap: numbers[i + 9] });
    }
    return contacts;
  }

  softs() {
    const world = this.#world;
    return world.softs().map((id) => ({
      particles: world.softMasses(id).length,
      triangles: world.softTriangles(id).length / 3,
      radius: world.softRadius(id),
      asleep: !world.isSoftAwake(id),
    }));
  }

  // ---- Facts

  bodyFacts(index) {
    const world = this.#world;
    const { body, type } = this.all[index];
    const none = [0, 0, 0];
    if (!body) {
      const rest = { linear: 0, rotational: 0, points: 0, pressed: 0, isAwake: false, joints: 0 };
      return { mass: 0, center: none, velocity: none, spin: none, ...rest };
    }
    const velocity = world.bodyVelocity(body);
    const mass = type === DYNAMIC ? world.bodyMass(body).mass : 0;
    const linear = 0.5 * mass * velocity.reduce((sum, x) => sum + x * x, 0);
    const contacts = readContacts(world, body);
    let [points, pressed] = [0, 0];
    for (let i = 0; i < contacts.length; i += CONTACT_NUMBERS) {
      const force = Math.hypot(...contacts.subarray(i + 3, i + 6));
      points += contacts[i + 9] <= 0 || force > 0 ? 1 : 0;
      pressed += force;
    }
    return {
      mass,
      center: world.bodyCenter(body),
      velocity,
      spin: world.bodyAngularVelocity(body),
      linear,
      rotational: world.bodiesEnergy([body]).kinetic - linear,
      points,
      pressed,
      isAwake: world.isBodyAwake(body),
      joints: world.bodyJoints(body).length,
    };
  }

  // Null if there is no such joint any more.
  jointFacts(index) {
    const world = this.#world;
    const id = world.joints()[index];
    if (id === undefined) return null;
    const def = world.getJointDef(id);
    const state = world.getJointState(id);
    const axes = AXIS_NAMES.map((name, i) => {
      const [lo, hi] = i < ANGULAR_A ? def.linear[i] : def.angular[i - ANGULAR_A];
      const { limits, ...drive } = def.axis[i].drive;
      const [least, most] = limits;
      const [position, rate] = [state.position[i], state.rate[i]];
      const now = { position, rate, drive: state.driveForce[i], lo, hi, least, most };
      return { name, index: i, word: AXES[i], isFree: isFree(def, i), ...now, ...drive };
    });
    return {
      kind: JOINTS.indexOf(def.kind),
      force: state.force,
      torque: state.torque,
      elongation: state.elongation,
      angle: state.angularError,
      compliance: def.compliance,
      isOn: def.enabled,
      isBroken: state.broken,
      axes: axes.filter((axis) => axis.isFree),
    };
  }

  isSpring(index) {
    const id = this.#world.joints()[index];
    return id !== undefined && this.#jointPlace(id).compliance > 0;
  }

  jointsOf(index) {
    const world = this.#world;
    const { body } = this.all[index];
    const own = new Set(body ? world.bodyJoints(body) : []);
    const isOfWorld = (id) => {
      const { bodyA, bodyB } = this.#jointPlace(id);
      return !body && (!bodyA || !bodyB);
    };
    return world.joints().flatMap((id, i) => (own.has(id) || isOfWorld(id) ? [i] : []));
  }
}
