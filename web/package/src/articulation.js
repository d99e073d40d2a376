// Reduced coordinates of mechanisms: joint positions and velocities, mass matrix, Jacobians, dynamics.
import { TenonError } from './runtime.js';

const COUNTS = ['joints', 'loops', 'positions', 'velocities'];
const JOINT = { size: 44, numbers: 24 };
const JOINT_NUMBERS = [
  ...['parent', 'firstPosition', 'positionCount', 'firstVelocity', 'velocityCount'],
];

export class Articulation {
  #world;
  #m;
  #at = 0;
  #counts;

  constructor(world, { roots, cuts = [] }) {
    this.#world = world;
    const m = world._begin();
    try {
      if (!m.x.tn_articulation_create)
        throw new TenonError('the world was created before tenon-physics/import was loaded');
      const def = m.temp(20);
      m.x.tn_default_articulation_def(def);
      [roots, cuts].forEach((list, i) => {
        const { at, count } = m.tempList(list, 'id', 1);
        m.setU32(def + 8 * i, at);
        m.setI32(def + 8 * i + 4, count);
      });
      this.#m = m;
      this.#at = m.x.tn_articulation_create(m.world, def);
      m.must(this.#at, 'Articulation');
      const out = m.temp(16);
      m.x.tn_articulation_get_counts(out, this.#at);
      this.#counts = Object.fromEntries(COUNTS.map((key, i) => [key, m.i32(out + 4 * i)]));
    } finally {
      m.end();
    }
  }

  dispose() {
    if (this.#at) this.#m.x.tn_articulation_destroy(this.#at);
    this.#at = 0;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }

  #call(call) {
    if (!this.#at) throw new TenonError('the articulation has been disposed of');
    const m = this.#world._begin();
    try {
      return call(m, this.#at);
    } finally {
      m.end();
    }
  }

  get counts() {
    return { ...this.#counts };
  }

  joints() {
    const { joints: count } = this.#counts;
    return this.#call((m, at) => {
      const out = m.temp(JOINT.size * count);
      m.x.tn_articulation_joints(at, out, count);
      return m.each(count, (i) => {
        const p = out + JOINT.size * i;
        const numbers = JOINT_NUMBERS.map((key, k) => [key, m.i32(p + JOINT.numbers + 4 * k)]);
        return { joint: m.id(p), body: m.id(p + 12), ...Object.fromEntries(numbers) };
      });
    });
  }

  loops() {
    const { loops: count } = this.#counts;
    return this.#call((m, at) => {
      const out = m.temp(12 * count);
      m.x.tn_articulation_loops(at, out, count);
      return m.each(count, (i) => m.id(out + 12 * i));
    });
  }

  // A list that the engine fills in, from `given` numbers if it takes some.
  #read(name, size, given) {
    return this.#call((m, at) => {
      const lists = given ? [m.tempTuple(given, 'f64', this.#counts.velocities)] : [];
      const out = m.temp(8 * size);
      m.must(m.x[`tn_articulation_${name}`](at, ...lists, out), name);
      return m.copy('f64', out, size);
    });
  }

  #write(name, key, numbers, keep) {
    const { velocities } = this.#counts;
    this.#call((m, at) => {
      const list = m.tempTuple(numbers, 'f64', this.#counts[key]);
      const flags = keep ? m.temp(velocities) : 0;
      if (keep) {
        m.tuple(keep, velocities);
        for (let i = 0; i < velocities; ++i) m.setU8(flags + i, keep[i] ? 1 : 0);
      }
      m.must(m.x[`tn_articulation_${name}`](at, list, flags), name);
    });
  }

  positions() {
    return this.#read('positions', this.#counts.positions);
  }

  setPositions(positions, keep) {
    this.#write('set_positions', 'positions', positions, keep);
  }

  velocities() {
    return this.#read('velocities', this.#counts.velocities);
  }

  setVelocities(velocities, keep) {
    this.#write('set_velocities', 'velocities', velocities, keep);
  }

  integrate(positions, velocities, dt) {
    const { positions: size, velocities: freedom } = this.#counts;
    return this.#call((m, at) => {
      const [q, v] = [m.tempTuple(positions, 'f64', size), m.tempTuple(velocities, 'f64', freedom)];
      m.must(m.x.tn_articulation_integrate(at, q, v, m.number_(dt)), 'integrate');
      return m.copy('f64', q, size);
    });
  }

  // Positions, velocities and targets of drives.
  save() {
    const { positions, velocities } = this.#counts;
    const sizes = { positions, velocities, targets: velocities };
    return this.#call((m, at) => {
      const frame = m.temp(12);
      const lists = Object.entries(sizes).map(([key, size], i) => {
        const list = m.temp(8 * size);
        m.setU32(frame + 4 * i, list);
        return [key, list, size];
      });
      m.must(m.x.tn_articulation_save(at, frame), 'save');
      return Object.fromEntries(lists.map(([key, list, size]) => [key, m.copy('f64', list, size)]));
    });
  }

  apply(keyframe) {
    const { positions, velocities } = this.#counts;
    const sizes = { positions, velocities, targets: velocities };
    this.#call((m, at) => {
      const frame = m.temp(12);
      Object.entries(sizes).forEach(([key, size], i) => {
        const list = keyframe[key];
        m.setU32(frame + 4 * i, list ? m.tempTuple(list, 'f64', size) : 0);
      });
      m.must(m.x.tn_articulation_apply(at, frame), 'apply');
    });
  }

  applyForces(forces) {
    this.#write('apply_forces', 'velocities', forces);
  }

  jointForces() {
    return this.#read('joint_forces', this.#counts.velocities);
  }

  massMatrix() {
    return this.#read('mass_matrix', this.#counts.velocities ** 2);
  }

  biasForces() {
    return this.#read('bias_forces', this.#counts.velocities);
  }

  inverseDynamics(accelerations) {
    return this.#read('inverse_dynamics', this.#counts.velocities, accelerations);
  }

  forwardDynamics(forces) {
    return this.#read('forward_dynamics', this.#counts.velocities, forces);
  }

  jacobian(body, point) {
    const size = 3 * this.#counts.velocities;
    return this.#call((m, at) => {
      const [linear, angular] = [m.temp(8 * size), m.temp(8 * size)];
      const place = m.tempTuple(point, 'f64', 3);
      m.must(m.x.tn_articulation_jacobian(at, m.tempId(body), place, linear, angular), 'jacobian');
      return { linear: m.copy('f64', linear, size), angular: m.copy('f64', angular, size) };
    });
  }
}
