// Entry point with scene files and models of robots: everything of the package, on the largest module.
import {
  get_tn_transform,
  get_tn_world_def,
  set_tn_transform,
  set_tn_world_def,
  size_tn_transform,
  size_tn_world_def,
  WORLD_DEF,
} from './api.js';
import { loadImportModule } from './load-import.js';
import { findScene, putValues, readOthersBy, sceneAt, using } from './runs.js';
import { start, theEngine, TenonError } from './runtime.js';

start(await loadImportModule(), 2);

export * from './public.js';
export { Articulation } from './articulation.js';
export { scenes, SceneWorld, version } from './runs.js';

const FORMATS = { 0: 'auto', 1: 'mjcf', 2: 'urdf', 3: 'tutorial' };
const FATES = { 0: 'honoured', 1: 'approximated', 2: 'ignored', 3: 'visual', 4: 'missing' };
const BASES = { 0: 'auto', 1: 'fixed', 2: 'free' };
const COUNTS = [
  ...['bodies', 'joints', 'positions', 'velocities', 'geoms', 'sites', 'meshes', 'actuators'],
  ...['tendons', 'equalities', 'sensors', 'keyframes'],
];

const bytesOf = (data) =>
  typeof data === 'string'
    ? new TextEncoder().encode(data)
    : data instanceof ArrayBuffer
      ? new Uint8Array(data)
      : data;

function put(m, bytes) {
  const at = m.temp(bytes.length + 1);
  new Uint8Array(m.x.memory.buffer).set(bytes, at);
  return at;
}

// ---- Scene files

// Puts files on the disk in memory, by their path.
function fillDisk(m, files) {
  for (const [path, content] of Object.entries(files)) {
    const bytes = bytesOf(content);
    const room = m.x.disk_add(m.tempString(path), bytes.length);
    if (!room) throw new TenonError('not enough memory');
    new Uint8Array(m.x.memory.buffer).set(bytes, room);
  }
}

// A model with the files that it names; the messages about it are told by the disk.
function readModel(m, text, name, files) {
  m.x.disk_told();
  try {
    fillDisk(m, { ...files, [name]: text });
    return m.x.file_model(m.tempString(name));
  } finally {
    m.x.disk_clear();
  }
}

const isXml = (bytes) => /^\s*</.test(new TextDecoder().decode(bytes.subarray(0, 256)));

// What file_read() or file_model() gives.
function readSource(m, text, name, files) {
  const bytes = bytesOf(text);
  if (isXml(bytes)) {
    const at = readModel(m, bytes, name, files);
    if (!at) throw new TenonError(m.string(m.x.disk_told()).trim() || `${name} cannot be read`);
    return at;
  }
  const at = m.x.file_read(put(m, bytes), bytes.length);
  if (!at) throw new TenonError(m.string(m.x.file_error()));
  return at;
}

/**
 * A scene file (JSON), or a model in XML as a scene, which may name other files. Read and checked once,
 * and opened by SceneWorld.
 */
export class SceneFile {
  #m = theEngine();
  #at = 0;
  #text;
  #name;
  #files;
  #users = 0;
  #isDisposed = false;

  constructor(text, { name = 'model.xml', files = {} } = {}) {
    this.#text = text;
    this.#name = name;
    this.#files = files;
    this.#at = using((m) => readSource(m, text, name, files));
    Object.assign(this, this.#facts());
  }

  // The source of a run, and how to free it. A model is read again, because it knows its last run.
  _source(m) {
    if (this.#isDisposed) throw new TenonError('the file has been disposed of');
    if (isXml(bytesOf(this.#text))) {
      const at = readSource(m, this.#text, this.#name, this.#files);
      return [at, () => m.x.file_free(at)];
    }
    this.#users += 1;
    const free = () => {
      this.#users -= 1;
      if (this.#isDisposed) this.dispose();
    };
    return [this.#at, free];
  }

  #facts() {
    return using((m) => {
      const def = m.tempDef('tn_default_world_def', size_tn_world_def, set_tn_world_def, {});
      const scene = m.x.file_scene(this.#at);
      m.x.file_settings(this.#at, def);
      const { method, substeps, iterations } = get_tn_world_def(m, def);
      return sceneAt(m, scene, { method, substeps, iterations });
    });
  }

  /** The text of a scene file, also of a model. */
  write(settings = {}) {
    return using((m) => written(m, m.x.file_scene(this.#at), 0, { ...this.settings, ...settings }));
  }

  /** Frees the file once no world uses it. */
  dispose() {
    this.#isDisposed = true;
    if (this.#users > 0) return;
    if (this.#at) this.#m.x.file_free(this.#at);
    this.#at = 0;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

function written(m, scene, values, settings) {
  const def = m.tempDef('tn_default_world_def', size_tn_world_def, set_tn_world_def, settings);
  m.setU32(def + WORLD_DEF.log, m.logPlace);
  const text = m.x.file_write(scene, values, def);
  if (!text) throw new TenonError(m.string(m.x.file_error()));
  m.extra.push(text);
  return m.string(text);
}

/** A built-in scene as the text of a scene file. */
export function writeScene(name, { parameters = {}, ...settings } = {}) {
  return using((m) => {
    const scene = findScene(m, name);
    const all = { substeps: m.i32(scene + 48), ...settings };
    return written(m, scene, putValues(m, scene, parameters), all);
  });
}

readOthersBy((m, source) => {
  let [at, free] = [0, () => m.x.file_free(at)];
  if (source instanceof SceneFile) [at, free] = source._source(m);
  else at = readSource(m, source, 'model.xml', {});
  return {
    scene: m.x.file_scene(at),
    settings: (def) => m.x.file_settings(at, def),
    free,
    notes: () => m.string(m.x.disk_told()).trim().split('\n').filter(Boolean),
  };
});

// ---- Models

/** A robot or machine from a file: MJCF, URDF or a scene of the tutorial. Belongs to no world. */
export class Model {
  #m = theEngine();
  #at = 0;

  constructor(data, options = {}) {
    const { name = 'model', files = {}, format = 'auto', base = 'auto' } = options;
    const { searchPaths = [], maxHulls = 1, meshes = true } = options;
    using((m) => {
      fillDisk(m, files);
      const def = m.temp(36);
      m.x.tn_default_import_def(def);
      m.setI32(def, m.word(FORMATS, format));
      const list = m.temp(4 * searchPaths.length + 4);
      searchPaths.forEach((path, i) => m.setU32(list + 4 * i, m.tempString(path)));
      m.setU32(def + 4, list);
      m.setI32(def + 8, searchPaths.length);
      m.setI32(def + 12, m.word(BASES, base));
      m.setI32(def + 16, maxHulls);
      m.setU8(def + 20, meshes ? 1 : 0);
      m.setU32(def + 24, m.logPlace);
      const bytes = bytesOf(data);
      try {
        this.#at = m.x.tn_model_parse(m.tempString(name), put(m, bytes), bytes.length, def);
      } finally {
        m.x.disk_clear();
      }
      m.must(this.#at, 'Model');
    });
  }

  // The engine that holds the model; the address there, of a world of engine `m`.
  get _engine() {
    return this.#m;
  }

  _address(m) {
    if (!this.#at) throw new TenonError('the model has been disposed of');
    if (m !== this.#m)
      throw new TenonError('the world was created before tenon-physics/import was loaded');
    return this.#at;
  }

  /** Frees the model: after its instances. */
  dispose() {
    if (this.#at) this.#m.x.tn_model_destroy(this.#at);
    this.#at = 0;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }

  #call(call) {
    const m = this.#m.begin(0, 0);
    try {
      return call(m, this._address(m));
    } finally {
      m.end();
    }
  }

  get name() {
    return this.#call((m, at) => m.string(m.x.tn_model_name(at)));
  }

  get format() {
    return this.#call((m, at) => FORMATS[m.x.tn_model_format(at)]);
  }

  get counts() {
    return this.#call((m, at) => {
      const out = m.temp(48);
      m.x.tn_model_get_counts(out, at);
      return Object.fromEntries(COUNTS.map((key, i) => [key, m.i32(out + 4 * i)]));
    });
  }

  get totalMass() {
    return this.#call((m, at) => m.x.tn_model_total_mass(at));
  }

  get gravity() {
    return this.#call((m, at) => {
      const out = m.temp(12);
      m.x.tn_model_gravity(out, at);
      return m.f32s(out, 3);
    });
  }

  // The index of a part by name, -1 for none; an index stays as it is.
  find(kind, name) {
    if (typeof name === 'number') return name;
    const call = this.#m.x[`tn_model_find_${kind}`];
    if (!call) throw new TypeError(`'${kind}' is none of body, joint, actuator, keyframe, sensor`);
    return this.#call((m, at) => call(at, m.tempString(name)));
  }

  names(kind) {
    const call = this.#m.x[`tn_model_${kind}_name`];
    if (kind === 'body') return this.bodies().map(({ name }) => name);
    if (!call) throw new TypeError(`'${kind}' is none of body, joint, actuator, keyframe, sensor`);
    const count = this.counts[`${kind}s`];
    return this.#call((m, at) => m.each(count, (i) => m.string(call(at, i))));
  }

  keyframeControls(keyframe) {
    const index = this.find('keyframe', keyframe);
    return this.#call((m, at) => {
      const count = m.x.tn_model_keyframe_controls(at, index, 0, 0);
      const out = m.temp(8 * count);
      m.x.tn_model_keyframe_controls(at, index, out, count);
      return m.f64s(out, count);
    });
  }

  bodies(keyframe = -1) {
    const index = this.find('keyframe', keyframe);
    return this.#call((m, at) => {
      const count = m.x.tn_model_bodies(at, index, 0, 0);
      const out = m.temp(144 * count);
      m.x.tn_model_bodies(at, index, out, count);
      return m.each(count, (i) => {
        const p = out + 144 * i;
        return {
          name: m.string(m.u32(p)),
          parent: m.i32(p + 4),
          position: m.f64s(p + 8, 3),
          rotation: m.f64s(p + 32, 4),
          mass: m.f64(p + 64),
          center: m.f64s(p + 72, 3),
          inertia: m.f64s(p + 96, 6),
        };
      });
    });
  }

  report() {
    return this.#call((m, at) => {
      const count = m.temp(4);
      const list = m.x.tn_model_report(at, count);
      return m.each(list ? m.i32(count) : 0, (i) => {
        const p = list + 20 * i;
        const [fate, line, times] = [m.i32(p), m.i32(p + 12), m.i32(p + 16)];
        const [text, file] = [m.string(m.u32(p + 4)), m.string(m.u32(p + 8))];
        return { fate: FATES[fate], text, file, line, count: times };
      });
    });
  }
}

/** A model in a world. */
export class Instance {
  #world;
  #model;
  #at = 0;

  constructor(world, model, options = {}) {
    const { place = { p: [0, 0, 0], q: [0, 0, 0, 1] }, yUp = true } = options;
    const { prefix = null, keyframe = -1 } = options;
    this.#world = world;
    this.#model = model;
    const start_ = model.find('keyframe', keyframe);
    this.#call((m) => {
      const def = m.temp(56);
      m.x.tn_default_instance_def(def);
      set_tn_transform(m, def, place);
      m.setU8(def + 40, yUp ? 1 : 0);
      m.setU32(def + 44, m.tempString(prefix));
      m.setI32(def + 48, start_);
      this.#at = m.x.tn_instance_create(m.world, model._address(m), def);
      m.must(this.#at, 'Instance');
    }, true);
  }

  #call(call, isNew) {
    if (!isNew && !this.#at) throw new TenonError('the instance has been disposed of');
    const m = this.#world._begin();
    try {
      return call(m, this.#at);
    } finally {
      m.end();
    }
  }

  // Gives back the memory of the instance; what it has built stays in the world.
  dispose() {
    if (this.#at) this.#model._engine.x.tn_instance_destroy(this.#at);
    this.#at = 0;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }

  #index(kind, name) {
    const index = this.#model.find(kind, name);
    if (index < 0) throw new TenonError(`the model has no ${kind} '${name}'`);
    return index;
  }

  body(name) {
    const index = this.#index('body', name);
    return this.#call((m, at) => {
      const out = m.temp(12);
      m.x.tn_instance_body(out, at, index);
      return m.id(out);
    });
  }

  joint(name) {
    const index = this.#index('joint', name);
    return this.#call((m, at) => {
      const out = m.temp(12);
      m.x.tn_instance_joint(out, at, index);
      return m.id(out);
    });
  }

  transform(name) {
    const index = this.#index('body', name);
    return this.#call((m, at) => {
      const out = m.temp(size_tn_transform);
      m.x.tn_instance_transform(out, at, index);
      return get_tn_transform(m, out);
    });
  }

  get gravity() {
    return this.#call((m, at) => {
      const out = m.temp(12);
      m.x.tn_instance_gravity(out, at);
      return m.f32s(out, 3);
    });
  }

  #numbers(name, key) {
    const count = this.#model.counts[key];
    return this.#call((m, at) => {
      const out = m.temp(8 * count);
      m.must(m.x[name](at, out), name);
      return m.f64s(out, count);
    });
  }

  #setNumbers(name, key, numbers) {
    const count = this.#model.counts[key];
    this.#call((m, at) => {
      const list = m.temp(8 * count);
      m.setF64s(list, numbers, count);
      m.must(m.x[name](at, list), name);
    });
  }

  positions() {
    return this.#numbers('tn_instance_positions', 'positions');
  }

  setPositions(numbers) {
    this.#setNumbers('tn_instance_set_positions', 'positions', numbers);
  }

  velocities() {
    return this.#numbers('tn_instance_velocities', 'velocities');
  }

  setVelocities(numbers) {
    this.#setNumbers('tn_instance_set_velocities', 'velocities', numbers);
  }

  applyKeyframe(name) {
    const index = name === -1 ? -1 : this.#index('keyframe', name);
    this.#call((m, at) => m.must(m.x.tn_instance_apply_keyframe(at, index), 'applyKeyframe'));
  }

  sensor(name) {
    const index = this.#index('sensor', name);
    return this.#call((m, at) => {
      const out = m.temp(8 * 16);
      return m.f64s(out, m.x.tn_instance_sensor(at, index, out, 16));
    });
  }

  control(name) {
    const index = this.#index('actuator', name);
    return this.#call((m, at) => m.x.tn_instance_control(at, index));
  }

  setControl(name, control) {
    const index = this.#index('actuator', name);
    this.#call((m, at) =>
      m.must(m.x.tn_instance_set_control(at, index, m.number_(control)), 'setControl'),
    );
  }

  advance(dt = 1 / 60) {
    this.#call((m, at) => m.must(m.x.tn_instance_advance(at, dt), 'advance'));
  }
}

// ---- Convex parts

/** Splits the solid inside a closed mesh into convex parts: the points of each. */
export function convexDecompose(vertices, triangles, maxParts = 16, error = 0.05) {
  return using((m) => {
    const points = m.tempList(vertices, 'f32', 3);
    const corners = m.tempList(triangles, 'i32', 3);
    const at = m.x.tn_convex_decompose(
      ...[points.at, points.count, corners.at, corners.count, maxParts, error],
    );
    if (!at) throw new TenonError('the mesh encloses nothing, or is invalid');
    const parts = m.i32(at);
    let from = m.u32(at + 8);
    const list = m.each(parts, (i) => {
      const count = m.i32(m.u32(at + 4) + 4 * i);
      const part = m.copy('f32', from, 3 * count);
      from += 12 * count;
      return part;
    });
    m.x.tn_convex_parts_free(at);
    return list;
  });
}
