// Materials of the scenes, figures that read as one, and where the camera looks.
import { Color } from 'three';
import { KIND } from './engine.js';
import { PATTERNS } from './shaders.js';

const { wood, weave } = PATTERNS;

export const MATERIALS = {
  paint: { rough: 0.5 },
  stone: { rough: 0.85 },
  wood: { rough: 0.55, pattern: wood, scale: 1 },
  steel: { rough: 0.24, metal: 1, color: '#cdd0d4' },
  chrome: { rough: 0.1, metal: 1, color: '#e2e4e6' },
  iron: { rough: 0.42, metal: 1, color: '#8d9198' },
  rubber: { rough: 0.85, color: '#34363b' },
  cloth: { rough: 0.9, pattern: weave, scale: 1 },
  skin: { rough: 0.6, color: '#e8bd98' },
  shoe: { rough: 0.6, color: '#3c3f45' },
};

const WOODS = ['#d8a76a', '#c98f55', '#e0b981', '#b9814b', '#d39c63'];
const SHIRTS = ['#c8553d', '#3f7ea6', '#5f9468', '#d8973c', '#7b5ea7', '#2f7f86'];
const TROUSERS = ['#3d4a5c', '#5b5148', '#44546a', '#6a5a4a'];

// Parts of a ragdoll in the order of their creation.
const RAGDOLL = ['legs', 'shirt', 'skin', 'shirt', 'shirt', 'skin', 'skin', 'legs', 'legs'];
RAGDOLL.push('legs', 'legs', 'skin', 'skin', 'shoe', 'shoe');

const ragdoll = ({ number }) => {
  const [figure, part] = [Math.floor(number / 15), RAGDOLL[number % 15]];
  if (part === 'shirt') return { material: 'paint', color: SHIRTS[figure % SHIRTS.length] };
  if (part === 'legs') return { material: 'paint', color: TROUSERS[figure % TROUSERS.length] };
  return { material: part };
};

const all = (material) => () => ({ material });
const planks = ({ number }) => ({ material: 'wood', color: WOODS[number % WOODS.length] });
const marbles = ({ kind }) => (kind === KIND.sphere ? { material: 'chrome' } : null);
const machine =
  (color) =>
  ({ kind }) =>
    kind === KIND.cylinder || kind === KIND.capsule
      ? { material: 'steel' }
      : { material: 'paint', color };

// Of a scene: look(item) of dynamic bodies, the material of soft bodies, follow: the camera moves with
// the first body, near: its distance, as a share of that of the scene; labels: of its joints.
const LOOKS = {
  ragdoll: { look: ragdoll },
  car: { look: machine('#c8452c'), soft: 'rubber', follow: true, near: 0.5 },
  car_ramp: { follow: true, near: 0.8 },
  springs3: { near: 0.75 },
  joint_zoo: { labels: true },
  joints_basic: { labels: true },
  springs7: { near: 0.8 },
  pendulum_loop: { look: planks, near: 0.6 },
  plate: { near: 0.75 },
  pile: { near: 0.65 },
  capsules: { near: 0.8 },
  conveyor: { near: 0.7 },
  marble_run: { look: marbles, near: 0.75 },
  bounce: { near: 0.7 },
  car_spin: { soft: 'paint' },
  walker: { look: machine('#d8973c'), follow: true, near: 0.75 },
  elk_and_duck: { look: planks, follow: true },
  robot_arm: { look: machine('#e08a3c'), near: 0.75 },
  excavator: { look: machine('#e0a63c') },
  scissor_lift: { look: machine('#c8553d') },
  steering: { look: machine('#3f7ea6') },
  wrecking_ball: {
    look: ({ kind }) =>
      kind === KIND.box ? { material: 'stone', color: '#b5654a' } : { material: 'iron' },
    near: 0.8,
  },
  gears: { look: all('steel') },
  clock: { look: () => ({ material: 'steel', color: '#e8c77a' }) },
  differential: { look: all('iron') },
  winch: { look: machine('#3f7ea6') },
  sculpture: { look: marbles },
  marbles_in_wires: { look: marbles },
  marble_impulse: { look: marbles },
  cradle: { look: all('chrome') },
  bullets: { look: all('iron') },
  coin: { look: () => ({ material: 'steel', color: '#d9a441' }) },
  chain: { look: all('steel') },
  unsolvable: { look: all('steel') },
  rope: { look: () => ({ material: 'cloth', color: '#c9a87a' }) },
  bridge: { look: planks },
  jenga: { look: planks },
  dominoes: { look: planks },
  arch: { look: () => ({ material: 'stone', color: '#c9b79c' }) },
  pendulum_double: { look: planks },
  pendulum_triple: { look: planks },
  tori_on_cloth: { soft: 'cloth', near: 0.85 },
  bowling: { near: 0.75 },
  rolling: { follow: true, near: 0.7 },
};

export const lookOf = (scene) => LOOKS[scene] ?? {};

const colors = new Map();

// The colour of a name, shared.
export function shade(name) {
  if (!colors.has(name)) colors.set(name, new Color(name));
  return colors.get(name);
}
