// Scenes as worlds: their motions, metrics and exact states.
import { get_tn_world_def, set_tn_world_def } from './api.js';
import { theEngine, TenonError } from './runtime.js';
import { World } from './world.js';

const PARAMETERS = 10;
const METRICS = 32;

/** Runs a call with temporary memory; throws what the engine reports. */
export function using(call) {
  const m = theEngine().begin(0, 0);
  try {
    return call(m);
  } finally {
    m.end();
  }
}

function parametersOf(m, at) {
  const list = [];
  for (let i = 0; i < PARAMETERS && m.u32(at + 40 * i); ++i) {
    const p = at + 40 * i;
    const [name, meaning] = [m.string(m.u32(p)), m.string(m.u32(p + 36))];
    const [lo, hi, value] = m.f64s(p + 8, 3);
    list.push({ name, lo, hi, value, whole: !!m.u8(p + 32), meaning });
  }
  return list;
}

// A structure `scene` as an object; `settings` are those of the solver in a file.
export function sceneAt(m, at, settings = {}) {
  const text = (offset) => m.string(m.u32(at + offset));
  return {
    name: text(0),
    title: text(4),
    source: text(8),
    group: m.string(m.x.run_group(at)),
    camera: { eye: m.f32s(at + 16, 3), target: m.f32s(at + 28, 3) },
    seconds: m.f64(at + 40),
    conserves: !!m.u8(at + 52),
    parameters: parametersOf(m, at + 56),
    settings: { method: 'tenon', substeps: m.i32(at + 48), iterations: 1, ...settings },
  };
}

/** The scenes that are built in. */
export const scenes = () =>
  using((m) => {
    const list = [];
    for (let at; (at = m.x.run_scene(list.length)); ) list.push(sceneAt(m, at));
    return list;
  });

/** Version of the engine. */
export const version = () => using((m) => m.string(m.x.run_version()));

/** The structure of a built-in scene. */
export function findScene(m, name) {
  const at = m.x.run_find(m.tempString(name));
  if (!at) throw new TenonError(`there is no scene '${name}'`);
  return at;
}

/** Values of a scene's parameters: the defaults, then those that are given. */
export function putValues(m, at, given = {}) {
  const known = parametersOf(m, at + 56);
  for (const name of Object.keys(given)) {
    if (!known.some((p) => p.name === name))
      throw new TypeError(`there is no parameter '${name}'; there are ${known.map((p) => p.name)}`);
  }
  const values = m.temp(8 * PARAMETERS);
  known.forEach((p, i) => m.setF64(values + 8 * i, given[p.name] ?? p.value));
  return values;
}

// How an entry point opens what is not built in: takes the engine and what the user gave, returns
// { scene, parameters, settings(def), free(), notes() }.
let openOther = () => {
  throw new TypeError("{ scene: 'name' } is needed; texts are opened by tenon-physics/import");
};

export function readOthersBy(open) {
  openOther = open;
}

function opened(m, source) {
  if (typeof source?.scene !== 'string') return openOther(m, source);
  const scene = findScene(m, source.scene);
  return {
    scene,
    parameters: source.parameters,
    settings: (at) => set_tn_world_def(m, at, { substeps: m.i32(scene + 48) }),
    free() {},
    notes: () => [],
  };
}

/** A world of a scene, with its motions and metrics. */
export class SceneWorld extends World {
  #engine;
  #run;
  #hooks;
  #facts;

  constructor(source, def = {}) {
    const engine = theEngine();
    const hooks = { drive: null };
    let run = 0;
    let facts = null;
    let notes = [];
    super(def, {
      // The solver settings of the scene, then those of the caller; returns the world.
      create(m, at) {
        const found = opened(m, source);
        found.settings(at);
        const { method, substeps, iterations } = get_tn_world_def(m, at);
        set_tn_world_def(m, at, def);
        run = m.x.run_open(found.scene, putValues(m, found.scene, found.parameters), at);
        if (!run) found.free();
        else facts = sceneAt(m, found.scene, { method, substeps, iterations });
        notes = found.notes();
        this.free = found.free;
        return run && m.x.run_world(run);
      },
      step(m, dt) {
        m.x.run_drive(run, dt);
        hooks.drive?.();
        const status = m.x.run_solve(run, dt);
        if (!hooks.isHalf) m.x.run_observe(run, dt, 0);
        return status;
      },
      destroy(m) {
        m.x.run_close(run);
        this.free();
      },
    });
    this.#engine = engine;
    this.#run = run;
    this.#hooks = hooks;
    this.#facts = facts;
    this.notes = notes; // what of a model has no effect, a line each
  }

  /** Name, title, source, camera, parameters and settings. */
  get scene() {
    return this.#facts;
  }

  get title() {
    return this.#facts.title || this.#facts.name;
  }

  get seconds() {
    return this.#facts.seconds;
  }

  get camera() {
    return this.#facts.camera;
  }

  /** Simulated time, s. */
  get time() {
    return this.#call((m) => m.x.run_time(this.#run));
  }

  /** Called after the motions of the scene and before each step. */
  set onDrive(call) {
    this.#hooks.drive = call;
  }

  get onDrive() {
    return this.#hooks.drive;
  }

  #call(call) {
    const m = this._begin();
    try {
      return call(m);
    } finally {
      m.end();
    }
  }

  /** A step without the metrics, which observe() takes: for measuring time. */
  advance(dt = 1 / 60) {
    this.#hooks.isHalf = true;
    try {
      return this.step(dt);
    } finally {
      this.#hooks.isHalf = false;
    }
  }

  /** Returns the largest gap, m, and error of an angle, rad, in a joint of the scene. */
  observe(dt = 1 / 60) {
    return this.#call((m) => {
      const at = m.temp(16);
      m.x.run_observe(this.#run, dt, at);
      return { gap: m.f64(at), angle: m.f64(at + 8) };
    });
  }

  metrics() {
    return this.#call((m) => {
      const at = m.temp(16 * METRICS);
      const count = m.x.run_metrics(this.#run, at);
      return Object.fromEntries(
        m.each(count, (i) => [m.string(m.u32(at + 16 * i)), m.f64(at + 16 * i + 8)]),
      );
    });
  }

  /** The exact state, that of motions and metrics included. */
  save() {
    return this.#call((m) => {
      const size = m.x.run_save(this.#run, 0, 0);
      const at = m.temp(size);
      m.x.run_save(this.#run, at, size);
      return m.copy('u8', at, size);
    });
  }

  restore(bytes) {
    this.#call((m) => {
      const at = m.temp(bytes.length);
      m.array('u8', at, bytes.length).set(bytes);
      m.must(m.x.run_restore(this.#run, at, bytes.length), 'restore');
    });
  }
}
