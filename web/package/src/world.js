// World: the methods that follow from the headers, and those that lists, callbacks and memory need.
import * as api from './api.js';
import { register, theEngine, unregister, TenonError } from './runtime.js';

const { DRAW, GEOMETRY, WORLD_DEF } = api; // offsets of fields
let nextKey = 1;

const POSE = 7;
const VELOCITY = 6;
const FORCE = 6;
const MATRIX = 16;

export class World extends api.WorldBase {
  #m = theEngine();
  #world = 0;
  #key = nextKey++;
  #buffers = new Map(); // memory of views, by name
  #callbacks = [];
  number = 0; // of the world in ids, known after the first one

  /** Called with 'info', 'warning' or 'error' and a message; by default warnings go to the console. */
  onMessage = (level, message) => {
    if (level === 'warning') console.warn(`tenon: ${message}`);
  };

  #own; // how another file creates, steps and destroys the world

  constructor(def = {}, own = null) {
    super();
    this.#own = own;
    if (!this.#m) throw new TenonError('the engine has not been loaded');
    const m = this.#m.begin(0, this.#key);
    register(this.#key, this);
    try {
      const at = m.tempDef(
        'tn_default_world_def',
        api.size_tn_world_def,
        api.set_tn_world_def,
        def,
      );
      m.setU32(at + WORLD_DEF.log, m.logPlace);
      m.setU32(at + WORLD_DEF.log_context, this.#key);
      m.setU32(at + WORLD_DEF.clock, m.clockPlace);
      this.#world = own ? own.create(m, at) : m.x.tn_world_create(at);
    } finally {
      if (!this.#world) unregister(this.#key);
      m.end();
    }
    if (!this.#world) throw new TenonError('the world could not be created');
  }

  /** Frees the world. Later calls throw. */
  dispose() {
    if (!this.#world) return;
    if (this.#own) this.#own.destroy(this.#m);
    else this.#m.x.tn_world_destroy(this.#world);
    this.#world = 0;
    for (const [at] of this.#buffers.values()) this.#m.x.free(at);
    this.#buffers.clear();
    unregister(this.#key);
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }

  get isDisposed() {
    return !this.#world;
  }

  _begin() {
    if (!this.#world) throw new TenonError('the world has been disposed of');
    return this.#m.begin(this.#world, this.#key);
  }

  _message(level, message) {
    this.onMessage?.(level, message);
  }

  step(dt = 1 / 60) {
    const m = this._begin();
    let status = 0;
    try {
      status = (this.#own ? this.#own.step(m, dt) : m.x.tn_world_step(m.world, dt)) >>> 0;
      return status;
    } finally {
      m.end(!(status & api.STEP.REJECTED));
    }
  }

  // ---- State

  save() {
    return this._save('tn_world_save');
  }

  restore(bytes) {
    this._restore('tn_world_restore', bytes);
  }

  saveState() {
    return this._save('tn_world_save_state');
  }

  restoreState(bytes) {
    this._restore('tn_world_restore_state', bytes);
  }

  _save(name) {
    const m = this._begin();
    try {
      const size = m.x[name](m.world, 0, 0);
      const at = m.temp(size);
      m.x[name](m.world, at, size);
      return m.copy('u8', at, size);
    } finally {
      m.end();
    }
  }

  _restore(name, bytes) {
    const m = this._begin();
    try {
      const at = m.temp(bytes.length);
      m.array('u8', at, bytes.length).set(bytes);
      m.must(
        m.x[name](m.world, at, bytes.length),
        name === 'tn_world_restore' ? 'restore' : 'restoreState',
      );
    } finally {
      m.end();
    }
  }

  // ---- Many bodies in one call. Without a list of ids: all of them, in the order of bodies()

  // A view of memory that the world keeps for it: valid until the next call of that name.
  #view(name, type, count) {
    const size = count * (type === 'f64' ? 8 : type === 'u8' ? 1 : 4);
    const [at, room] = this.#buffers.get(name) ?? [0, 0];
    if (size <= room) return at;
    this.#m.x.free(at);
    const grown = this.#m.x.malloc(size + size / 2);
    if (!grown) throw new TenonError('not enough memory');
    this.#buffers.set(name, [grown, size + size / 2]);
    return grown;
  }

  #read(name, ids, width, type, call) {
    const m = this._begin();
    try {
      const list = m.tempList(ids, 'id', 1);
      const count = ids ? list.count : m.x.tn_world_bodies(m.world, 0, 0);
      const at = this.#view(name, type, Math.max(count, 1) * width);
      m.must(call(m, list.at, count, at), name);
      return m.array(type, at, count * width);
    } finally {
      m.end();
    }
  }

  readPoses(ids, type = 'f32') {
    const number = type === 'f64' ? 1 : 0;
    return this.#read('readPoses', ids, POSE, type, (m, list, count, at) =>
      m.x.tn_bodies_read_poses(m.world, list, count, number, at, 0),
    );
  }

  readVelocities(ids, type = 'f32') {
    const number = type === 'f64' ? 1 : 0;
    return this.#read('readVelocities', ids, VELOCITY, type, (m, list, count, at) =>
      m.x.tn_bodies_read_velocities(m.world, list, count, number, at, 0),
    );
  }

  readMatrices(ids, origin = [0, 0, 0]) {
    return this.#read('readMatrices', ids, MATRIX, 'f32', (m, list, count, at) =>
      m.x.tn_bodies_read_matrices(m.world, list, count, m.tempTuple(origin, 'f64', 3), at, 0),
    );
  }

  readAwake(ids) {
    return this.#read('readAwake', ids, 1, 'u8', (m, list, count, at) =>
      m.x.tn_bodies_read_awake(m.world, list, count, at, 0),
    );
  }

  #write(name, ids, rows, width, call) {
    const m = this._begin();
    try {
      const list = m.tempList(ids, 'id', 1);
      const type = rows instanceof Float64Array ? 'f64' : 'f32';
      const values = m.tempList(rows, type, width);
      if (ids && list.count !== values.count)
        throw new TypeError(`${name}: ${list.count} bodies, but ${values.count} rows`);
      m.must(call(m, list.at, values.count, type === 'f64' ? 1 : 0, values.at), name);
    } finally {
      m.end();
    }
  }

  writePoses(ids, rows) {
    this.#write('writePoses', ids, rows, POSE, (m, list, count, type, at) =>
      m.x.tn_bodies_write_poses(m.world, list, count, type, at, 0),
    );
  }

  writeVelocities(ids, rows) {
    this.#write('writeVelocities', ids, rows, VELOCITY, (m, list, count, type, at) =>
      m.x.tn_bodies_write_velocities(m.world, list, count, type, at, 0),
    );
  }

  applyForces(ids, rows) {
    this.#write('applyForces', ids, rows, FORCE, (m, list, count, type, at) =>
      m.x.tn_bodies_apply_forces(m.world, list, count, type, at, 0),
    );
  }

  // ---- Joints

  #jointDef(name, def, place) {
    const m = this._begin();
    try {
      const at = m.tempDef(
        'tn_default_joint_def',
        api.size_tn_joint_def,
        api.set_tn_joint_def,
        def,
        api.tn_joint_kind,
      );
      m.must(place(m, at), name);
      return api.get_tn_joint_def(m, at);
    } finally {
      m.end();
    }
  }

  jointDefAt(def, point, axis) {
    return this.#jointDef('jointDefAt', def, (m, at) =>
      m.x.tn_joint_def_at(m.world, at, m.tempTuple(point, 'f64', 3), m.tempTuple(axis, 'f32', 3)),
    );
  }

  jointDefBetween(def, pointA, pointB) {
    return this.#jointDef('jointDefBetween', def, (m, at) =>
      m.x.tn_joint_def_between(
        m.world,
        at,
        m.tempTuple(pointA, 'f64', 3),
        m.tempTuple(pointB, 'f64', 3),
      ),
    );
  }

  // ---- Queries

  rays(from, way, filter) {
    const m = this._begin();
    try {
      const a = m.tempList(from, ['f64', 3], 3);
      const b = m.tempList(way, ['f32', 3], 3);
      if (a.count !== b.count) throw new TypeError(`rays: ${a.count} starts, but ${b.count} ways`);
      const filter_ = m.tempDef(
        'tn_default_query_filter',
        api.size_tn_query_filter,
        api.set_tn_query_filter,
        filter ?? {},
      );
      const hits = m.temp(api.size_tn_hit * a.count);
      m.x.tn_world_rays(m.world, a.at, b.at, a.count, filter_, hits);
      return m.each(a.count, (i) => api.get_tn_hit(m, hits + api.size_tn_hit * i));
    } finally {
      m.end();
    }
  }

  rayAll(from, way, filter) {
    const hits = [];
    const m = this._begin();
    const place = this.#callback('hit', ['i32', 'i32'], 'f32', (at) => {
      hits.push(api.get_tn_hit(m, at));
      return 1;
    });
    try {
      const filter_ = m.tempDef(
        'tn_default_query_filter',
        api.size_tn_query_filter,
        api.set_tn_query_filter,
        filter ?? {},
      );
      m.x.tn_world_ray_all(
        m.world,
        m.tempTuple(from, 'f64', 3),
        m.tempTuple(way, 'f32', 3),
        filter_,
        place,
        0,
      );
      return hits;
    } finally {
      m.end();
    }
  }

  castAll(def, at, way, filter) {
    const hits = [];
    const m = this._begin();
    const place = this.#callback('hit', ['i32', 'i32'], 'f32', (p) => {
      hits.push(api.get_tn_hit(m, p));
      return 1;
    });
    try {
      const def_ = m.tempDef(
        'tn_default_shape_def',
        api.size_tn_shape_def,
        api.set_tn_shape_def,
        def,
        api.tn_shape_kind,
      );
      const at_ = m.tempStruct(api.size_tn_transform, api.set_tn_transform, at);
      const filter_ = m.tempDef(
        'tn_default_query_filter',
        api.size_tn_query_filter,
        api.set_tn_query_filter,
        filter ?? {},
      );
      m.x.tn_world_cast_all(m.world, def_, at_, m.tempTuple(way, 'f32', 3), filter_, place, 0);
      return hits;
    } finally {
      m.end();
    }
  }

  shapeBox(shape) {
    const m = this._begin();
    try {
      const at = m.temp(48);
      return m.x.tn_shape_box(m.world, m.tempId(shape), at, at + 24)
        ? { lower: m.f64s(at, 3), upper: m.f64s(at + 24, 3) }
        : null;
    } finally {
      m.end();
    }
  }

  // A place in the table that calls the latest function of its name; the table only grows.
  #callback(name, parameters, result, call) {
    let found = this.#callbacks.find((c) => c.name === name);
    if (!found) {
      found = { name, place: this.#m.place(parameters, result, (...args) => found.call(...args)) };
      this.#callbacks.push(found);
    }
    found.call = call;
    return found.place;
  }

  setPairFilter(filter) {
    const m = this._begin();
    const pair = (a, b) => {
      m.begin(m.world, m.number);
      try {
        return filter(m.id(a), m.id(b)) ? 1 : 0;
      } finally {
        m.end(true);
      }
    };
    try {
      const place = filter ? this.#callback('filter', ['i32', 'i32', 'i32'], 'i32', pair) : 0;
      m.must(m.x.tn_world_set_pair_filter(m.world, place, 0), 'setPairFilter');
    } finally {
      m.end();
    }
  }

  // The arrays that a hull, mesh, height field or wire was made of.
  geometrySource(geometry) {
    const m = this._begin();
    try {
      const at = m.temp(GEOMETRY.size);
      m.x.tn_geometry_get_source(at, m.world, m.tempId(geometry));
      const i = (name) => m.i32(at + GEOMETRY[name]);
      const list = (name, type, count) =>
        count > 0 ? m.copy(type, m.u32(at + GEOMETRY[name]), count) : null;
      return {
        kind: api.tn_shape_kind[i('kind')],
        points: list('points', 'f32', 3 * i('point_count')),
        triangles: list('triangles', 'i32', 3 * i('triangle_count')),
        heights: list('heights', 'f32', i('columns') * i('rows')),
        columns: i('columns'),
        rows: i('rows'),
        spacingX: m.f32(at + GEOMETRY.spacing_x),
        spacingZ: m.f32(at + GEOMETRY.spacing_z),
        wirePoints: list('wire_points', 'f32', 6 * i('wire_point_count')),
        closed: !!m.u8(at + GEOMETRY.closed),
      };
    } finally {
      m.end();
    }
  }

  // ---- Debug draw: lines as x y z x y z and a colour 0xRRGGBBAA each

  debugLines(what = { shapes: true }) {
    const m = this._begin();
    const points = [];
    const colors = [];
    const place = this.#callback('line', ['i32', 'i32', 'i32', 'i32'], null, (from, to, rgba) => {
      points.push(...m.f64s(from, 3), ...m.f64s(to, 3));
      colors.push(rgba >>> 0);
    });
    try {
      const at = m.temp(DRAW.size);
      m.x.tn_default_debug_draw(at);
      m.setU32(at + DRAW.line, place);
      for (const key of Object.keys(DRAW.flags)) m.setU8(at + DRAW.flags[key], what[key] ? 1 : 0);
      if (what.forceScale !== undefined) m.setF32(at + DRAW.force_scale, what.forceScale);
      m.x.tn_world_draw(m.world, at);
      return { points: new Float32Array(points), colors: new Uint32Array(colors) };
    } finally {
      m.end();
    }
  }
}
