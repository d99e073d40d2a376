// The module's memory and calls: temporary structures, lists and strings of a call, ids as numbers,
// errors of the engine as exceptions.

/** An error that the engine reported, with its message. */
export class TenonError extends Error {
  name = 'TenonError';
}

// ---- Callbacks -----------------------------------------------------------------------------------

const VALUE_TYPES = { i32: 0x7f, f32: 0x7d, f64: 0x7c };

// A WebAssembly table accepts only exported functions: a small module around a JavaScript function.
function asWasm(parameters, result, call) {
  const types = parameters.map((type) => VALUE_TYPES[type]);
  const results = result ? [1, VALUE_TYPES[result]] : [0];
  const type = [1, 0x60, types.length, ...types, ...results];
  const bytes = new Uint8Array([
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0, //
    1,
    type.length,
    ...type, //
    2,
    7,
    1,
    1,
    97,
    1,
    98,
    0,
    0, // import "a" "b"
    7,
    5,
    1,
    1,
    99,
    0,
    0, // export "c"
  ]);
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { a: { b: call } }).exports.c;
}

// ---- The module ----------------------------------------------------------------------------------

const TEMPORARY = 1 << 18; // bytes for the structures of a call; larger lists get their own
const worlds = new Map(); // by number of their context

class Engine {
  constructor(module) {
    this.x = new WebAssembly.Instance(module, {}).exports;
    this.x._initialize();
    this.base = this.x.malloc(TEMPORARY);
    this.top = this.base;
    this.extra = [];
    this.marks = [];
    this.error = null;
    this.refresh();
    this.logPlace = this.place(['i32', 'i32', 'i32'], null, (level, text, context) =>
      this.log(level, this.string(text), context),
    );
    this.clockPlace = this.place([], 'f64', () => performance.now());
  }

  place(parameters, result, call) {
    const table = this.x.__indirect_function_table;
    const place = table.grow(1);
    table.set(place, asWasm(parameters, result, call));
    return place;
  }

  log(level, message, context) {
    if (level === 2) this.error ??= message;
    worlds.get(context)?._message(['info', 'warning', 'error'][level], message);
  }

  // Growth of the memory detaches its buffer.
  refresh() {
    this.view = new DataView(this.x.memory.buffer);
  }

  get v() {
    if (this.view.buffer !== this.x.memory.buffer) this.refresh();
    return this.view;
  }

  begin(world, number) {
    this.world = world;
    this.number = number;
    this.marks.push([this.top, this.extra.length, world, number]);
    return this;
  }

  // Frees what the call has used. Throws what the engine has reported as an error.
  end(quiet) {
    const [top, kept] = this.marks.pop();
    this.top = top;
    while (this.extra.length > kept) this.x.free(this.extra.pop());
    const outer = this.marks.at(-1);
    if (outer) [, , this.world, this.number] = outer;
    const error = this.error;
    this.error = null;
    if (error !== null && !quiet) throw new TenonError(error);
  }

  must(ok, name) {
    if (!ok && this.error === null) this.error = `${name} failed`;
  }

  temp(size) {
    const at = (this.top + 7) & ~7;
    if (at + size <= this.base + TEMPORARY) {
      this.top = at + size;
      return at;
    }
    const own = this.x.malloc(Math.max(size, 1));
    if (!own) throw new TenonError('not enough memory');
    this.extra.push(own);
    return own;
  }

  // ---- Values

  u8(at) {
    return this.v.getUint8(at);
  }
  i32(at) {
    return this.v.getInt32(at, true);
  }
  u32(at) {
    return this.v.getUint32(at, true);
  }
  u64(at) {
    return this.v.getBigUint64(at, true);
  }
  f32(at) {
    return this.v.getFloat32(at, true);
  }
  f64(at) {
    return this.v.getFloat64(at, true);
  }
  setU8(at, x) {
    this.v.setUint8(at, x);
  }
  setI32(at, x) {
    this.v.setInt32(at, this.number_(x), true);
  }
  setU32(at, x) {
    this.v.setUint32(at, x, true);
  }
  setU64(at, x) {
    this.v.setBigUint64(at, BigInt.asUintN(64, BigInt(x)), true);
  }
  setF32(at, x) {
    this.v.setFloat32(at, this.number_(x), true);
  }
  setF64(at, x) {
    this.v.setFloat64(at, this.number_(x), true);
  }

  number_(x) {
    if (typeof x !== 'number') throw new TypeError(`a number is needed, not ${String(x)}`);
    return x;
  }

  f32s(at, count) {
    return this.each(count, (i) => this.f32(at + 4 * i));
  }

  f64s(at, count) {
    return this.each(count, (i) => this.f64(at + 8 * i));
  }

  setF32s(at, list, count) {
    this.tuple(list, count);
    for (let i = 0; i < count; ++i) this.setF32(at + 4 * i, list[i]);
  }

  setF64s(at, list, count) {
    this.tuple(list, count);
    for (let i = 0; i < count; ++i) this.setF64(at + 8 * i, list[i]);
  }

  tuple(list, count) {
    if (list?.length !== count)
      throw new TypeError(`${count} numbers are needed, not ${String(list)}`);
  }

  tempTuple(list, kind, count) {
    const at = this.temp(8 * count);
    if (kind === 'f32') this.setF32s(at, list, count);
    else this.setF64s(at, list, count);
    return at;
  }

  each(count, get) {
    const list = new Array(count);
    for (let i = 0; i < count; ++i) list[i] = get(i);
    return list;
  }

  eachOf(name, list, most, set) {
    if (!(list?.length <= most)) throw new TypeError(`${name}: a list of up to ${most} is needed`);
    for (let i = 0; i < list.length; ++i) set(list[i], i);
  }

  word(words, value) {
    for (const [number, word] of Object.entries(words)) if (word === value) return +number;
    throw new TypeError(`'${String(value)}' is none of ${Object.values(words).join(', ')}`);
  }

  string(at) {
    if (!at) return '';
    const bytes = new Uint8Array(this.x.memory.buffer);
    return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
  }

  tempString(text) {
    if (text === null || text === undefined) return 0;
    const bytes = new TextEncoder().encode(`${text}\0`);
    const at = this.temp(bytes.length);
    new Uint8Array(this.x.memory.buffer).set(bytes, at);
    return at;
  }

  // ---- Ids: 23 bits of the slot, 26 of its generation, 4 of the world; 0 is null

  id(at) {
    const index = this.u32(at);
    const generation = this.u32(at + 4);
    if (index === 0) return 0;
    this.own.number = this.u32(at + 8);
    if (index >= 2 ** 23 || generation >= 2 ** 26)
      throw new TenonError('an id does not fit into a number');
    return index + 2 ** 23 * generation + 2 ** 49 * (this.own.number % 16);
  }

  get own() {
    return worlds.get(this.number) ?? {};
  }

  setId(at, id) {
    if (id === null || id === undefined) id = 0;
    if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${String(id)} is not an id`);
    const number = this.own.number ?? 0;
    const other = id !== 0 && Math.floor(id / 2 ** 49) !== number % 16;
    this.setU32(at, id % 2 ** 23);
    this.setU32(at + 4, Math.floor(id / 2 ** 23) % 2 ** 26);
    this.setU32(at + 8, id === 0 ? 0 : other ? 0xffffffff : number);
  }

  tempId(id) {
    const at = this.temp(12);
    this.setId(at, id);
    return at;
  }

  // ---- Structures

  keys(o, name) {
    if (typeof o !== 'object' || o === null)
      throw new TypeError(`${name}: an object is needed, not ${String(o)}`);
    return Object.keys(o);
  }

  unknown(name, key, known) {
    throw new TypeError(`${name} has no field '${key}'; it has ${known.join(', ')}`);
  }

  // All fields are needed: there are no defaults.
  tempStruct(size, set, o, needed = []) {
    const missing = needed.filter((key) => o?.[key] === undefined);
    if (missing.length) throw new TypeError(`missing: ${missing.join(', ')}`);
    const at = this.temp(size);
    new Uint8Array(this.x.memory.buffer, at, size).fill(0);
    set(this, at, o);
    return at;
  }

  // The defaults, then what the caller gives.
  tempDef(usual, size, set, o, kinds) {
    const at = this.temp(size);
    if (kinds) this.x[usual](at, this.word(kinds, o.kind));
    else this.x[usual](at);
    set(this, at, o);
    return at;
  }

  // A part of another definition, with its defaults there.
  tempPart(usual, size, offset, set, o) {
    const at = this.temp(size);
    this.x[usual](at, 0);
    set(this, at + offset, o);
    return at + offset;
  }

  // ---- Lists

  // A list of ids, numbers, vectors (flat or nested) or structures.
  tempList(list, kind, width) {
    if (list === null || list === undefined) return { at: 0, count: 0 };
    if (kind === 'id') {
      const at = this.temp(12 * list.length);
      for (let i = 0; i < list.length; ++i) this.setId(at + 12 * i, list[i]);
      return { at, count: list.length };
    }
    if (Array.isArray(kind) && typeof kind[0] === 'function') {
      const [set, size] = kind;
      const at = this.temp(size * list.length);
      new Uint8Array(this.x.memory.buffer, at, size * list.length).fill(0);
      for (let i = 0; i < list.length; ++i) set(this, at + size * i, list[i]);
      return { at, count: list.length };
    }
    const [type, numbers] = Array.isArray(kind) ? kind : [kind, width];
    const flat =
      typeof list[0] === 'object' ? Array.from(list).flatMap((v) => Array.from(v)) : list;
    if (flat.length % numbers)
      throw new TypeError(`a multiple of ${numbers} numbers is needed, not ${flat.length}`);
    const at = this.temp(flat.length * (type === 'f64' ? 8 : 4));
    this.array(type, at, flat.length).set(flat);
    return { at, count: flat.length / numbers };
  }

  // A list of a definition: its address, and the number of its items.
  setList(at, list, type, width, countAt) {
    const { at: place, count } = this.tempList(list, type, width);
    this.setU32(at, place);
    if (countAt) this.setI32(countAt, count);
  }

  array(type, at, count) {
    const Type = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u8: Uint8Array }[type];
    return new Type(this.x.memory.buffer, at, count);
  }

  copy(type, at, count) {
    return this.array(type, at, count).slice();
  }
}

// ---- Loading -------------------------------------------------------------------------------------

let engine = null;

/**
 * Starts the engine with a compiled module; done by the entry points. One with more functions replaces
 * another for the worlds that follow.
 */
export function start(module, level = 0) {
  if (engine && engine.level >= level) return;
  engine = new Engine(module);
  engine.level = level;
}

export function theEngine() {
  return engine;
}

// For functions without a world.
export function free() {
  return engine.begin(0, 0);
}

export function register(key, world) {
  worlds.set(key, world);
}

export function unregister(key) {
  worlds.delete(key);
}

// (module (func (result v128) i32.const 0 i8x16.splat) ...)
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);

export const hasSimd = () => WebAssembly.validate(SIMD);
