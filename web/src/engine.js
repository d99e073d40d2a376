// The WebAssembly module: its memory as typed arrays, one Sim for each running scene.

export const METHODS = ['tenon', 'xpbd', 'jacobi'];
export const KIND = {
  sphere: 0,
  capsule: 1,
  box: 2,
  cylinder: 3,
  cone: 4,
  hull: 5,
  plane: 6,
  mesh: 7,
  field: 8,
  wire: 9,
};
export const JOINT_KINDS = [
  'Distance joint',
  'Ball joint',
  'Hinge',
  'Fixed joint',
  'Slider',
  'Cylinder joint',
  'Universal joint',
  'Generic joint',
];
export const STATIC = 0;
export const DYNAMIC = 2;
const PARAMETERS = 10;
const ITEM = 10;
const JOINT = 25;
const CONTACT = 10;
const LINE = 7;
const FAILED = 1 | 2 | 4; // rejected, out of memory, not finite

// (module (import "a" "b" (func (result f64))) (export "c" (func 0)))
const THROUGH = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 124, 2, 7, 1, 1, 97, 1, 98, 0, 0, 7, 5, 1, 1, 99,
  0, 0,
]);

// A WebAssembly table accepts only exported functions: this module wraps a JavaScript function.
function asWasm(call) {
  return new WebAssembly.Instance(new WebAssembly.Module(THROUGH), { a: { b: call } }).exports.c;
}

export class Engine {
  constructor(module) {
    this.api = new WebAssembly.Instance(module, {}).exports;
    this.api._initialize();
    this.giveClock(() => performance.now());
    const { version, scenes } = this.told(this.api.catalog());
    this.version = version;
    this.scenes = scenes;
    scenes.forEach((scene, index) => {
      Object.assign(scene, { index, method: METHODS[scene.method] });
    });
  }

  // The module imports nothing; its clock is put into its function table.
  giveClock(clock) {
    const table = this.api.__indirect_function_table;
    const place = table.grow(1);
    table.set(place, asWasm(clock));
    this.api.use_clock(place);
  }

  // Memory may have grown, so views are created for every use.
  floats(at, count) {
    return new Float32Array(this.api.memory.buffer, at, count);
  }

  doubles(at, count) {
    return new Float64Array(this.api.memory.buffer, at, count);
  }

  bytes(at, count) {
    return new Uint8Array(this.api.memory.buffer, at, count);
  }

  text(at) {
    const bytes = new Uint8Array(this.api.memory.buffer);
    return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
  }

  // JSON in which numbers are indices into a list.
  told(at) {
    const text = this.text(at);
    const from = this.api.catalog_numbers() / 8;
    const numbers = new Float64Array(this.api.memory.buffer);
    return JSON.parse(text, (_, value) =>
      typeof value === 'number' ? numbers[from + value] : value,
    );
  }

  find(name) {
    return this.scenes.find((scene) => scene.name === name);
  }
}

export class Sim {
  constructor(engine, slot) {
    this.engine = engine;
    this.api = engine.api;
    this.slot = slot;
    this.isOpen = false;
  }

  // settings: { params, method, substeps, iterations, gravity }; throws an Error on failure.
  open(scene, settings) {
    this.setParameters(scene, settings);
    const how = [METHODS.indexOf(settings.method), settings.substeps, settings.iterations];
    this.isOpen = !!(scene.text
      ? this.api.open_file(this.slot, ...how)
      : this.api.open(this.slot, scene.index, ...how));
    if (!this.isOpen) throw new Error(this.message() || `${scene.name} could not be created`);
    this.scene = scene;
    if (settings.gravity) this.setGravity(settings.gravity);
  }

  setParameters(scene, { params }) {
    const values = this.engine.doubles(this.api.parameters(), PARAMETERS);
    scene.parameters.forEach((p, i) => (values[i] = params[p.name] ?? p.value));
  }

  close() {
    this.api.close(this.slot);
    this.isOpen = false;
  }

  message() {
    return this.engine.text(this.api.message());
  }

  solveBy({ method, substeps, iterations }) {
    this.api.solve_by(this.slot, METHODS.indexOf(method), substeps, iterations);
  }

  setGravity([x, y, z]) {
    this.api.set_gravity(this.slot, x, y, z);
  }

  step() {
    const start = performance.now();
    const status = this.api.advance(this.slot);
    this.milliseconds = performance.now() - start;
    this.api.observe(this.slot);
    return !(status & FAILED);
  }

  substep() {
    return !(this.api.substep(this.slot) & FAILED);
  }

  hash() {
    return BigInt.asUintN(64, this.api.hash(this.slot)).toString(16).padStart(16, '0');
  }

  numbers() {
    const n = this.engine.doubles(this.api.numbers(this.slot), 29);
    return {
      time: n[0],
      frames: n[1],
      kinetic: n[2],
      potential: n[3],
      elastic: n[4],
      total: n[5],
      momentum: Math.hypot(n[6], n[7], n[8]),
      angular: Math.hypot(n[9], n[10], n[11]),
      gap: n[12],
      angle: n[13],
      penetration: n[14],
      bodies: n[15],
      awake: n[16],
      joints: n[17],
      contacts: n[18],
      points: n[19],
      bytes: n[20],
      gravity: [n[21], n[22], n[23]],
      pairs: n[24],
      manifolds: n[25],
      prepare: n[26],
      solve: n[27],
      finish: n[28],
    };
  }

  metrics() {
    return this.engine.told(this.api.metrics(this.slot));
  }

  save() {
    const at = this.api.save(this.slot);
    return this.engine.bytes(at, this.api.state_size()).slice();
  }

  restore(state) {
    const at = this.api.state_room(state.length);
    this.engine.bytes(at, state.length).set(state);
    if (!this.api.restore(this.slot, state.length)) return false;
    this.api.forget_hand(this.slot);
    return true;
  }

  // ---- Drawing

  get changed() {
    return !!this.api.changed(this.slot);
  }

  items() {
    const at = this.api.items(this.slot);
    const numbers = this.engine.floats(at, this.api.count() * ITEM);
    const items = [];
    for (let i = 0; i < numbers.length; i += ITEM) {
      const [kind, geometry, body, type, sensor, radius, half, x, y, z] = numbers.subarray(i);
      const extents = [x, y, z];
      items.push({ kind, geometry, body, type, sensor: !!sensor, radius, half, extents });
    }
    return items;
  }

  // Vertices and indices of a hull, mesh, height field or wire.
  surface(item) {
    const at = this.api.surface(this.slot, item);
    const [vertices, indices] = this.engine.floats(at, 2);
    return {
      vertices: this.engine.floats(at + 8, 3 * vertices).slice(),
      indices: Uint32Array.from(this.engine.floats(at + 8 + 12 * vertices, indices)),
    };
  }

  matrices() {
    const at = this.api.matrices(this.slot);
    return this.engine.floats(at, this.api.count() * 16);
  }

  asleep(count) {
    return this.engine.bytes(this.api.asleep(this.slot), count);
  }

  joints() {
    const at = this.api.joints(this.slot);
    const numbers = this.engine.floats(at, this.api.count() * JOINT);
    const joints = [];
    for (let i = 0; i < numbers.length; i += JOINT) {
      const part = (from) => numbers.slice(i + from, i + from + 3);
      joints.push({
        a: part(0),
        b: part(3),
        axis: part(6),
        force: part(9),
        torque: part(12),
        elongation: numbers[i + 15],
        angle: numbers[i + 16],
        kind: numbers[i + 17],
        isOurs: numbers[i + 18] === 1,
        isOff: numbers[i + 18] === 2,
      });
    }
    return joints;
  }

  contacts() {
    const at = this.api.contacts(this.slot);
    const numbers = this.engine.floats(at, this.api.count() * CONTACT);
    const contacts = [];
    for (let i = 0; i < numbers.length; i += CONTACT) {
      const part = (from) => numbers.slice(i + from, i + from + 3);
      contacts.push({ at: part(0), normal: part(3), friction: part(6), gap: numbers[i + 9] });
    }
    return contacts;
  }

  softs() {
    const count = this.api.soft_count(this.slot);
    const numbers = this.engine.floats(this.api.softs(this.slot), 4 * count).slice();
    return [...Array(count).keys()].map((i) => {
      const [particles, triangles, radius, asleep] = numbers.subarray(4 * i);
      return { particles, triangles, radius, asleep: !!asleep };
    });
  }

  softTriangles(index, count) {
    const at = this.api.soft_triangles(this.slot, index);
    return new Uint32Array(this.api.memory.buffer, at, 3 * count).slice();
  }

  particles(index, count) {
    return this.engine.floats(this.api.particles(this.slot, index), 3 * count);
  }

  // 1 shapes, 2 limits, 4 boxes, 8 islands, 16 graph colours. Returns the ends of lines, six
  // numbers each, and their colours.
  lines(what) {
    const at = this.api.lines(this.slot, what);
    const count = this.api.count();
    const numbers = this.engine.floats(at, count * LINE);
    const bits = new Uint32Array(this.api.memory.buffer, at, count * LINE);
    const ends = new Float32Array(6 * count);
    const colors = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      ends.set(numbers.subarray(LINE * i, LINE * i + 6), 6 * i);
      colors[i] = bits[LINE * i + 6];
    }
    return { ends, colors };
  }

  // ---- Interaction

  pick(from, way) {
    const item = this.api.pick(this.slot, ...from, ...way);
    return item === -1 ? null : { item, point: [...this.engine.floats(this.api.picked(), 3)] };
  }

  massOf(item) {
    return this.api.mass_of(this.slot, item);
  }

  grab(item, point, compliance) {
    return !!this.api.grab(this.slot, item, ...point, compliance);
  }

  dragTo(point) {
    this.api.drag_to(this.slot, ...point);
  }

  holdForce() {
    return this.api.hold_force(this.slot);
  }

  letGo() {
    this.api.let_go(this.slot);
  }

  pin(item) {
    return !!this.api.pin(this.slot, item);
  }

  throwAt(item, point, velocity) {
    this.api.throw_at(this.slot, item, ...point, ...velocity);
  }

  remove(item) {
    return !!this.api.remove_body(this.slot, item);
  }

  spawn(kind, at, velocity, size) {
    this.api.spawn(
      this.slot,
      ['box', 'ball', 'ragdoll', 'cloth'].indexOf(kind),
      ...at,
      ...velocity,
      size,
    );
  }
}
