// Materials of the scenes, figures that read as one, and where the camera looks.
import { Color } from 'three';
import { KIND } from './kinds.js';
import { PATTERNS } from './shaders.js';

const { wood, weave, belt, panels, tiles } = PATTERNS;

export const MATERIALS = {
  paint: { rough: 0.5 },
  stone: { rough: 0.85 },
  wood: { rough: 0.55, pattern: wood, scale: 1 },
  steel: { rough: 0.24, metal: 1, color: '#cdd0d4' },
  chrome: { rough: 0.1, metal: 1, color: '#e2e4e6' },
  iron: { rough: 0.42, metal: 1, color: '#8d9198' },
  rubber: { rough: 0.85, color: '#34363b' },
  cloth: { rough: 0.9, pattern: weave, scale: 1 },
  ball: { rough: 0.35, pattern: panels, scale: 3, color: '#f2e6d2' },
  strand: { rough: 0.8, pattern: panels, scale: 1, color: '#e0bd86' },
  jelly: { rough: 0.35, pattern: tiles, scale: 0.041 },
  belt: { rough: 0.85, color: '#4a4d54', pattern: belt, scale: 16 },
  skin: { rough: 0.6, color: '#e8bd98' },
  shoe: { rough: 0.6, color: '#3c3f45' },
};

const WOODS = ['#d8a76a', '#c98f55', '#e0b981', '#b9814b', '#d39c63'];
const SHIRTS = ['#c8553d', '#3f7ea6', '#5f9468', '#d8973c', '#7b5ea7', '#2f7f86'];
const GEARS = ['#3f7ea6', '#d8973c', '#5f9468'];
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
const wedges = ({ number }) => ({ material: 'stone', color: number % 2 ? '#c9b79c' : '#b7a283' });
const links = ({ number }) => ({ material: 'steel', color: number % 2 ? '#cdd0d4' : '#7d8288' });
const heavyTop = ({ number }, count) => (number === count - 1 ? { material: 'iron' } : null);
const marbles = ({ kind }) => (kind === KIND.sphere ? { material: 'chrome' } : null);
const machine =
  (color) =>
  ({ kind }) =>
    kind === KIND.cylinder || kind === KIND.capsule
      ? { material: 'steel' }
      : { material: 'paint', color };

// Small parts and feet in a dark colour, the rest in that of the robot.
const robot =
  (color) =>
  ({ kind, radius, extents }) =>
    (kind === KIND.sphere && radius < 0.06) || (kind === KIND.box && Math.max(...extents) < 0.12)
      ? { material: 'rubber' }
      : { material: 'paint', color };
const shell = ({ number }) => ({ material: 'paint', color: number % 2 ? '#3c3f45' : '#e08a3c' });

// Of a scene: look(item, count) of dynamic bodies, still(item) of static ones, the material of soft bodies,
// follow: the camera moves with the first body, near: its distance, as a share of that of the scene,
// view: eye and target instead; isFit: from in front, so that the bodies fill the picture; areMassesGlass: boxes for
// bodies without shapes would hide others; labels: of its joints, brackets: where joints are outside of bodies;
// ramp: inclined planes are drawn as boards above a level floor, half so many sizes of the body long; posts: hinges
// of the world stand on the ground; see: what is displayed at first beside joints; strobe: trails are copies of
// the bodies so many seconds apart.
const LOOKS = {
  ragdoll: { look: ragdoll, near: 1.16 },
  car: { look: machine('#c8452c'), soft: 'rubber', follow: true, near: 0.5 },
  car_ramp: { follow: true, near: 0.8 },
  springs3: { near: 0.75 },
  joint_zoo: { labels: true },
  joints_basic: { labels: true, view: [2.8, 0.1, 8.4, 2.8, -0.95, 0] },
  springs7: { near: 0.8 },
  pendulum_loop: { look: planks, near: 0.6 },
  plate: { near: 0.75, strobe: 0.1, see: ['trails'] },
  pile: { near: 0.85 },
  capsules: { near: 0.8 },
  conveyor: { view: [-0.5, 4.2, 14, 5.6, 0, 4.2] },
  marble_run: { look: marbles, near: 0.98 },
  bounce: { look: all('ball'), near: 0.7, strobe: 0.05, see: ['trails'] },
  car_spin: { soft: 'paint' },
  walker: { look: machine('#d8973c'), follow: true, near: 0.75 },
  elk_and_duck: { look: planks, follow: true, near: 1.12 },
  robot_arm: { look: machine('#e08a3c'), near: 0.9 },
  robot_reach: { look: shell, near: 0.8 },
  robot_trot: { look: robot('#d8973c') },
  robot_balance: { look: robot('#e9e4d8'), near: 0.85 },
  excavator: { look: machine('#e0a63c'), brackets: true },
  scissor_lift: { look: machine('#c8553d') },
  steering: { look: machine('#3f7ea6') },
  wrecking_ball: {
    look: ({ kind }) =>
      kind === KIND.box ? { material: 'stone', color: '#b5654a' } : { material: 'iron' },
    near: 0.95,
  },
  gears: { look: ({ number }) => ({ material: 'paint', color: GEARS[number % GEARS.length] }) },
  clock: {
    look: () => ({ material: 'paint', color: '#c99b45' }),
    still: () => ({ material: 'paint', color: '#f1ead9' }),
  },
  differential: { look: machine('#c8553d') },
  winch: { look: machine('#3f7ea6') },
  sculpture: { look: marbles },
  marbles_in_wires: { look: marbles },
  marble_impulse: { look: marbles, near: 0.3 },
  cradle: { look: all('chrome') },
  bullets: { look: all('iron'), view: [-62, 26, 66, 0, -4, 0], see: ['trails'] },
  coin: { look: () => ({ material: 'steel', color: '#d9a441' }) },
  chain: { look: links, near: 1.1, see: ['trails'] },
  unsolvable: { look: links, near: 1 },
  rope: {
    look: all('strand'),
    view: [-1.5, 0.6, 0.95, 3, -0.75, 0],
  },
  rotor: { soft: 'steel', near: 1.05, see: ['trails'] },
  slope: {
    look: () => ({ material: 'paint', color: '#759fba' }),
    ramp: 3,
    view: [3.6, 2.4, 6.4, 0.2, 0.3, 0],
    see: ['forces'],
  },
  torque_bar: { look: machine('#3f7ea6'), posts: true, see: ['forces'] },
  bridge: { look: planks },
  jenga: { look: planks, near: 1.2 },
  dominoes: { look: planks, view: [-0.26, 0.21, 0.38, 0.34, 0.01, 0] },
  arch: { look: wedges },
  pendulum_double: { look: planks, posts: true, see: ['trails'] },
  pendulum_triple: { look: planks, posts: true, see: ['trails'] },
  pendulum_distance: { look: all('chrome'), near: 1.15, see: ['trails'] },
  bunny_chain: { view: [-2.6, 6.8, 6.4, -0.1, -2.7, 1.5] },
  tori_on_cloth: { soft: 'cloth', near: 0.93 },
  bowling: { view: [-2.6, 2.6, 4.4, 2.4, 0, 0] },
  ship: { near: 1.6 },
  soft_cube_spin: { soft: 'jelly', near: 1.35 },
  four_cubes: { soft: 'jelly' },
  overlap: { near: 1.15 },
  stack: { near: 1.12 },
  stack_heavy: { look: heavyTop, near: 1.12 },
  free_bodies: { view: [-6, 3.4, 9, 5, -0.4, 0] },
  rolling: {
    look: all('ball'),
    ramp: 14,
    follow: true,
    near: 0.55,
    strobe: 0.15,
    see: ['trails'],
  },
  sliding: {
    look: () => ({ material: 'wood', color: '#c98f55' }),
    view: [2.6, 2.1, 4.6, 0.9, 0.1, 0],
    strobe: 0.1,
    see: ['trails'],
  },
};

// Models of robots have one colour, fill the picture, and are followed.
const MODEL = { look: robot('#d8973c'), follow: true, isFit: true, areMassesGlass: true };

export const lookOf = (scene) => LOOKS[scene] ?? {};
export const lookOfScene = (scene) =>
  scene?.text && /^\s*</.test(scene.text) ? MODEL : lookOf(scene?.name);

const colors = new Map();

// The colour of a name, shared.
export function shade(name) {
  if (!colors.has(name)) colors.set(name, new Color(name));
  return colors.get(name);
}
