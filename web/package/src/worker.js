// A world in a worker: the same methods as World, each returning a promise. Poses come in a buffer
// that is shared where the page allows it, and copied otherwise.
export class WorkerWorld {
  #worker = new Worker(new URL('./worker-thread.js', import.meta.url), { type: 'module' });
  #waiting = new Map();
  #next = 1;
  #shared = null;

  /** Called with messages of the engine. */
  onMessage = (level, message) => {
    if (level === 'warning') console.warn(`tenon: ${message}`);
  };

  /** Starts the worker and its world. */
  static async create(def = {}) {
    const world = new WorkerWorld();
    await world.call('create', [def]);
    return world;
  }

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      if (data.message) return this.onMessage?.(...data.message);
      const { resolve, reject } = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error)
        return reject(Object.assign(new Error(data.error.message), { name: data.error.name }));
      return resolve(data.result);
    };
    this.#worker.onerror = (event) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(event.message || 'the worker failed'));
      this.#waiting.clear();
    };
    return new Proxy(this, {
      get: (target, name) => {
        if (name in target || typeof name === 'symbol' || name === 'then') {
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return (...args) => target.call(name, args);
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
  }

  /** Calls a method of the world by name. */
  call(name, args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, args });
    });
  }

  /** Steps, and brings the poses of all bodies, seven numbers each, in the order of bodies(). */
  async stepAndRead(dt = 1 / 60, steps = 1) {
    const { count, poses, shared } = await this.call('stepAndRead', [
      dt,
      steps,
      !!globalThis.crossOriginIsolated,
    ]);
    if (shared) this.#shared = shared;
    return poses ?? new Float32Array(this.#shared, 0, 7 * count);
  }

  /** Ends the worker. */
  dispose() {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values())
      reject(new Error('the world has been disposed of'));
    this.#waiting.clear();
  }
}
