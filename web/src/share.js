// The address after '#': scene, parameters, solver, camera, display.
import { METHODS } from './kinds.js';
import { lookOf } from './looks.js';

export const SEE = [
  'joints',
  'forces',
  'contacts',
  'limits',
  'trails',
  'islands',
  'colors',
  'wire',
  'boxes',
  'sleep',
];
// The name of a scene that was read from a file; its text is a part of the address.
export const FILE = 'file';
const SEEN_AT_FIRST = ['joints'];
const MOST_FRAMES = 3600;

const rounded = (numbers) => numbers.map((x) => +x.toPrecision(6)).join(',');

function seenAtFirst({ name }) {
  const seen = [...SEEN_AT_FIRST, ...(lookOf(name).see ?? [])];
  return Object.fromEntries(SEE.map((each) => [each, seen.includes(each)]));
}

export function defaultsOf(scene) {
  return {
    scene: scene.name,
    params: Object.fromEntries(scene.parameters.map((p) => [p.name, p.value])),
    method: scene.method,
    substeps: scene.substeps,
    iterations: scene.iterations,
    gravity: null,
    two: null,
    look: null,
    frame: 0,
    see: seenAtFirst(scene),
  };
}

// Contains only settings that differ from those of the scene.
export function encode(state, scene) {
  const usual = defaultsOf(scene);
  const out = new URLSearchParams({ scene: state.scene });
  for (const [name, value] of Object.entries(state.params)) {
    if (value !== usual.params[name]) out.set(`p.${name}`, value);
  }
  for (const name of ['method', 'substeps', 'iterations']) {
    if (state[name] !== usual[name]) out.set(name, state[name]);
  }
  if (state.gravity) out.set('gravity', rounded(state.gravity));
  if (state.two) out.set('two', `${state.two.method}:${state.two.substeps}`);
  if (state.look) out.set('look', rounded([...state.look.eye, ...state.look.target]));
  if (scene.packed) out.set('file', scene.packed);
  if (state.frame) out.set('frame', state.frame);
  const seen = SEE.filter((name) => state.see[name]);
  if (seen.join() !== SEE.filter((name) => usual.see[name]).join()) out.set('see', seen.join());
  return `#${out.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')}`;
}

class Bad extends Error {}

function wholeIn(text, lo, hi, what) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < lo || value > hi) {
    throw new Bad(`${what} must be an integer from ${lo} to ${hi}, not “${text}”`);
  }
  return value;
}

function numbersOf(text, count, what) {
  const values = text.split(',').map(Number);
  if (values.length !== count || !values.every(Number.isFinite)) {
    throw new Bad(`${what} must be ${count} numbers, not “${text}”`);
  }
  return values;
}

function methodOf(text) {
  if (!METHODS.includes(text)) throw new Bad(`unknown method “${text}”`);
  return text;
}

function readParameter(state, scene, name, text) {
  const p = scene.parameters.find((parameter) => parameter.name === name);
  if (!p) throw new Bad(`${scene.name} has no parameter “${name}”`);
  const value = Number(text);
  if (text === '' || !(value >= p.lo && value <= p.hi) || (p.whole && !Number.isInteger(value))) {
    throw new Bad(`${name} must be ${p.whole ? 'an integer ' : ''}from ${p.lo} to ${p.hi}`);
  }
  state.params[name] = value;
}

const READERS = {
  file: () => {},
  method: (state, text) => (state.method = methodOf(text)),
  substeps: (state, text) => (state.substeps = wholeIn(text, 1, 200, 'substeps')),
  iterations: (state, text) => (state.iterations = wholeIn(text, 1, 50, 'iterations')),
  gravity: (state, text) => (state.gravity = numbersOf(text, 3, 'gravity')),
  frame: (state, text) => (state.frame = wholeIn(text, 0, MOST_FRAMES, 'frame')),
  look: (state, text) => {
    const n = numbersOf(text, 6, 'look');
    state.look = { eye: n.slice(0, 3), target: n.slice(3) };
  },
  two: (state, text) => {
    const [method, substeps] = text.split(':');
    state.two = { method: methodOf(method), substeps: wholeIn(substeps, 1, 200, 'substeps') };
  },
  see: (state, text) => {
    const seen = text.split(',');
    for (const name of SEE) state.see[name] = seen.includes(name);
  },
};

// The state of an address, with messages about invalid parts; null without a scene.
export function decode(address, scenes) {
  const words = new URLSearchParams(address.replace(/^#/, ''));
  const name = words.get('scene');
  if (!name)
    return { state: null, complaints: address.length > 1 ? ['the address names no scene'] : [] };
  const scene = scenes.find((s) => s.name === name);
  if (!scene) return { state: null, complaints: [`unknown scene “${name}”`] };
  const state = defaultsOf(scene);
  const complaints = [];
  for (const [key, text] of words) {
    try {
      if (key.startsWith('p.')) readParameter(state, scene, key.slice(2), text);
      else if (READERS[key]) READERS[key](state, text);
      else if (key !== 'scene') throw new Bad(`unknown key “${key}”`);
    } catch (error) {
      if (!(error instanceof Bad)) throw error;
      complaints.push(error.message);
    }
  }
  return { state, complaints };
}
