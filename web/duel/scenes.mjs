// The scenes that all engines run: bodies of one shape each, joints, and the law that the motion obeys.
// Mass and inertia are given as numbers, so that no engine computes its own. Every scene is a tree of
// joints, which engines in reduced coordinates need.
import { about, add, cross, inverse, length, random, rotate, scale, sub } from './maths.mjs';

export const GRAVITY = 9.81;
export const FRAME = 1 / 60;

// ---- Parts

const STILL = { rotation: [0, 0, 0, 1], group: 0 };

// Bodies of one group do not collide with each other; group 0 collides with everything.
function box(half, mass, position, more = {}) {
  const [x, y, z] = half.map((h) => 4 * h * h);
  const inertia = [y + z, x + z, x + y].map((sum) => (mass / 12) * sum);
  return { ...STILL, kind: 'box', half, mass, inertia, position, ...more };
}

function ball(radius, mass, position, more = {}) {
  const inertia = Array(3).fill(0.4 * mass * radius * radius);
  return { ...STILL, kind: 'ball', radius, mass, inertia, position, ...more };
}

// Points beside their mirror images, so that the centre of mass is the origin.
function hull(points, mass, position, more = {}) {
  const radius = Math.max(...points.map(length));
  const inertia = Array(3).fill(0.3 * mass * radius * radius);
  return { ...STILL, kind: 'hull', points, mass, inertia, position, ...more };
}

// `a` is the index of a body, or -1 for the world; the point is one of the world at the start.
const joint = (kind, a, b, point, axis = [0, 0, 1]) => ({ kind, a, b, point, axis });

const scene = (parts) => ({
  joints: [],
  ground: false,
  hasContacts: parts.ground || parts.restitution > 0,
  restitution: 0,
  friction: 0.5,
  ...parts,
});

// ---- Measures. A state has the `pose(i)` of each body.

const toWorld = ({ position, rotation }, point) => add(position, rotate(rotation, point));
const toBody = ({ position, rotation }, point) => rotate(inverse(rotation), sub(point, position));

function localPoint(scene, index, point) {
  return index < 0 ? point : toBody(scene.bodies[index], point);
}

// The largest distance between the two points that a joint holds together.
function largestGap(scene, state) {
  scene.anchors ??= scene.joints.map(({ a, b, point }) =>
    [a, b].map((index) => localPoint(scene, index, point)),
  );
  const at = (index, point) => (index < 0 ? point : toWorld(state.pose(index), point));
  return Math.max(
    ...scene.joints.map(({ a, b }, i) => {
      const [p, q] = scene.anchors[i];
      return length(sub(at(a, p), at(b, q)));
    }),
  );
}

const furthest = (scene, state) =>
  Math.max(...scene.bodies.map(({ position }, i) => length(sub(state.pose(i).position, position))));

// How deep the lowest point of a body is below the ground.
function deepest(scene, state) {
  return Math.max(
    0,
    ...scene.bodies.map(({ points }, i) => {
      const pose = state.pose(i);
      return -Math.min(...points.map((p) => toWorld(pose, p)[1]));
    }),
  );
}

// The angle of a body about z against its start.
function turned(scene, state, i) {
  const [x, y] = rotate(
    state.pose(i).rotation,
    rotate(inverse(scene.bodies[i].rotation), [1, 0, 0]),
  );
  return Math.atan2(y, x);
}

// ---- Contacts at rest: nothing moves

const REST = { unit: 'mm', law: 'at rest nothing moves: the furthest that a body has moved' };
const restError = (self, state) => 1000 * furthest(self, state);

function pyramid(rows = 12) {
  const half = [0.25, 0.25, 0.25];
  const bodies = [];
  for (let row = 0; row < rows; ++row) {
    for (let i = 0; i < rows - row; ++i) {
      bodies.push(box(half, 125, [0.52 * (i - (rows - row - 1) / 2), 0.25 + 0.5 * row, 0]));
    }
  }
  return scene({ name: 'pyramid', bodies, ground: true, seconds: 5, ...REST, error: restError });
}

function towers(count = 6, height = 10) {
  const bodies = [];
  for (let tower = 0; tower < count; ++tower) {
    for (let i = 0; i < height; ++i) {
      const mass = i === height - 1 ? 1250 : 125; // a heavy one on top
      bodies.push(box([0.25, 0.25, 0.25], mass, [2 * tower, 0.25 + 0.5 * i, 0]));
    }
  }
  return scene({ name: 'towers', bodies, ground: true, seconds: 5, ...REST, error: restError });
}

// ---- Joints

const GAP = { unit: 'mm', law: 'joints do not open: the largest gap in one' };

// Links of 0.1 kg and 100 kg at the end, held out sideways.
function chain(links = 20) {
  const bodies = [];
  const joints = [];
  for (let i = 0; i < links; ++i) {
    bodies.push(box([0.1, 0.03, 0.03], 0.1, [0.1 + 0.2 * i, 0, 0], { group: 1 }));
    joints.push(joint('ball', i - 1, i, [0.2 * i, 0, 0]));
  }
  const end = [0.2 * links, 0, 0];
  bodies.push(ball(0.3, 100, add(end, [0.3, 0, 0]), { group: 1 }));
  joints.push(joint('ball', links - 1, links, end));
  return scene({
    ...{ name: 'chain', bodies, joints, seconds: 5, ...GAP },
    error: (self, state) => 1000 * largestGap(self, state),
  });
}

// Bars that hang from each other in balance, each carried a little above its centre.
function mobile(depth = 5) {
  const bodies = [];
  const joints = [];
  const LIFT = 0.05;
  const STRING = 0.4;
  // Hangs a mobile of some levels from a point of a body; returns its mass.
  const hang = (parent, point, levels, span) => {
    const index = bodies.length;
    const kind = { group: 1 };
    if (levels === 0) {
      bodies.push(ball(0.1, 1, sub(point, [0, STRING, 0]), kind));
      joints.push(joint('ball', parent, index, point));
      return 1;
    }
    const mass = 0.2;
    const carried = 2 ** levels + 0.2 * (2 ** levels - 1) - mass; // by both ends
    bodies.push(box([span, 0.02, 0.02], mass, sub(point, [0, STRING + LIFT, 0]), kind));
    joints.push(joint('ball', parent, index, point));
    const middle = bodies[index].position;
    const ends = [-1, 1].map((side) => add(middle, [side * span, 0, 0]));
    for (const end of ends) hang(index, end, levels - 1, span / 2);
    return mass + carried;
  };
  hang(-1, [0, 0, 0], depth, 3.2);
  return scene({
    ...{ name: 'mobile', bodies, joints, seconds: 5, ...REST },
    law: 'in balance nothing moves: the furthest that a body has moved',
    error: restError,
  });
}

function ragdolls(count = 12) {
  const bodies = [];
  const joints = [];
  const next = random(7);
  const add_ = (index) => {
    const group = 1 + index;
    const axis = [next() - 0.5, next() - 0.5, next() - 0.5];
    const rotation = about(axis, 3 * next());
    const place = [0.9 * (index % 4) - 1.4, 2 + 1.1 * Math.floor(index / 4), 0.5 * (next() - 0.5)];
    const put = (p) => add(place, rotate(rotation, p));
    const first = bodies.length;
    const limb = (half, mass, p) => {
      bodies.push(box(half, mass, put(p), { rotation, group }));
      return bodies.length - 1;
    };
    const join = (kind, a, b, p) =>
      joints.push(joint(kind, a, b, put(p), rotate(rotation, [0, 0, 1])));
    const pelvis = limb([0.15, 0.1, 0.1], 12, [0, 0, 0]);
    const chest = limb([0.18, 0.22, 0.11], 25, [0, 0.34, 0]);
    const head = limb([0.1, 0.12, 0.1], 5, [0, 0.7, 0]);
    join('ball', pelvis, chest, [0, 0.11, 0]);
    join('ball', chest, head, [0, 0.57, 0]);
    for (const side of [-1, 1]) {
      const upper = limb([0.14, 0.05, 0.05], 2.5, [side * 0.34, 0.5, 0]);
      const lower = limb([0.13, 0.04, 0.04], 1.5, [side * 0.63, 0.5, 0]);
      join('ball', chest, upper, [side * 0.19, 0.5, 0]);
      join('hinge', upper, lower, [side * 0.49, 0.5, 0]);
      const thigh = limb([0.07, 0.2, 0.07], 7, [side * 0.09, -0.31, 0]);
      const shin = limb([0.05, 0.2, 0.05], 4, [side * 0.09, -0.72, 0]);
      join('ball', pelvis, thigh, [side * 0.09, -0.1, 0]);
      join('hinge', thigh, shin, [side * 0.09, -0.515, 0]);
    }
    return first;
  };
  for (let i = 0; i < count; ++i) add_(i);
  return scene({
    ...{ name: 'ragdolls', bodies, joints, ground: true, seconds: 4, ...GAP },
    error: (self, state) => 1000 * largestGap(self, state),
  });
}

// ---- Hulls

function hullPile(count = 80) {
  const next = random(11);
  const bodies = [];
  for (let i = 0; i < count; ++i) {
    const points = [];
    for (let k = 0; k < 8; ++k) {
      const way = [next() - 0.5, next() - 0.5, next() - 0.5];
      const p = scale((0.25 + 0.1 * next()) / length(way), way);
      points.push(p, scale(-1, p));
    }
    const place = [
      0.8 * (i % 4) - 1.2,
      0.5 + 0.8 * Math.floor(i / 16),
      0.8 * (Math.floor(i / 4) % 4),
    ];
    bodies.push(hull(points, 50, place));
  }
  return scene({
    ...{ name: 'hull pile', bodies, ground: true, seconds: 5, unit: 'mm' },
    law: 'bodies at rest do not sink: the deepest corner below the ground in the last second',
    from: 4,
    error: (self, state) => 1000 * deepest(self, state),
  });
}

// ---- Pendula

// The angle of a pendulum of frequency w over time, by Runge and Kutta with small steps.
function swing(start, w, seconds) {
  const steps = 2000;
  const h = FRAME / steps;
  const f = (angle) => -w * w * Math.sin(angle);
  const angles = [start];
  let [a, v] = [start, 0];
  for (let frame = 0; frame < seconds * 60; ++frame) {
    for (let i = 0; i < steps; ++i) {
      const [k1, l1] = [v, f(a)];
      const [k2, l2] = [v + 0.5 * h * l1, f(a + 0.5 * h * k1)];
      const [k3, l3] = [v + 0.5 * h * l2, f(a + 0.5 * h * k2)];
      const [k4, l4] = [v + h * l3, f(a + h * k3)];
      a += (h / 6) * (k1 + 2 * k2 + 2 * k3 + k4);
      v += (h / 6) * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    angles.push(a);
  }
  return angles;
}

const hung = (pivot, arm, angle) => ({
  position: add(pivot, [arm * Math.sin(angle), -arm * Math.cos(angle), 0]),
  rotation: about([0, 0, 1], angle),
});

function pendula(count = 10) {
  const half = [0.04, 0.5, 0.04];
  const bodies = [];
  const joints = [];
  const seconds = 10;
  for (let i = 0; i < count; ++i) {
    const angle = 0.25 + 0.25 * i;
    const pivot = [0, 0, 0.5 * i];
    const pose = hung(pivot, 0.5, angle);
    bodies.push(box(half, 1, pose.position, { ...pose, group: 1 }));
    joints.push(joint('hinge', -1, i, pivot));
  }
  const w = Math.sqrt((GRAVITY * 0.5) / (bodies[0].inertia[2] + 0.25));
  let exact = null;
  return scene({
    ...{ name: 'pendula', bodies, joints, seconds, unit: 'mrad' },
    law: 'the differential equation of the pendulum: the largest error of an angle in 10 s',
    error: (self, state, frame) => {
      exact ??= self.bodies.map((_, i) => swing(0.25 + 0.25 * i, w, seconds));
      const errors = self.bodies.map((_, i) => {
        const away = 0.25 + 0.25 * i + turned(self, state, i) - exact[i][frame];
        return Math.abs(Math.atan2(Math.sin(away), Math.cos(away)));
      });
      return 1000 * Math.max(...errors);
    },
  });
}

// Five balls of one mass: the last flies as high as the first fell, and the others rest, until it
// comes back.
function cradle() {
  const START = -0.6;
  const ARM = 1;
  const bodies = [];
  const joints = [];
  for (let i = 0; i < 5; ++i) {
    const pivot = [0.2 * i, 0, 0];
    bodies.push({ ...ball(0.1, 1, [0, 0, 0]), ...hung(pivot, ARM, i === 0 ? START : 0) });
    joints.push(joint('hinge', -1, i, pivot));
  }
  const w = Math.sqrt((GRAVITY * ARM) / (bodies[0].inertia[2] + ARM * ARM));
  const fall = swing(START, w, 1).findIndex((angle) => angle > 0); // frames until the first hit
  let high = 0;
  let others = 0;
  return scene({
    ...{ name: 'cradle', bodies, joints, seconds: (2 * fall) / 60 + 0.1, restitution: 1 },
    unit: '%',
    law: 'momentum and energy of the impact: angle of the last ball that is missing, or of another that is not 0',
    isAtEnd: true,
    error: (self, state, frame) => {
      if (frame <= 1) [high, others] = [0, 0];
      const angles = self.bodies.map((_, i) => turned(self, state, i) + (i === 0 ? START : 0));
      if (frame > fall + 1) {
        high = Math.max(high, angles[4]);
        others = Math.max(others, ...angles.slice(0, 4).map(Math.abs));
      }
      return (100 * Math.max(Math.abs(high + START), others)) / -START;
    },
  });
}

// ---- Servo arm: each joint sags by its load over its stiffness

const SERVO = { stiffness: 2000, damping: 200 };

function sagOf(links, half, mass) {
  const angles = Array(links).fill(0);
  for (let round = 0; round < 500; ++round) {
    const pivots = [0];
    const centres = [];
    let way = 0;
    angles.forEach((angle, i) => {
      way += angle;
      centres.push(pivots[i] + half * Math.cos(way));
      pivots.push(pivots[i] + 2 * half * Math.cos(way));
    });
    angles.forEach((_, i) => {
      const load = centres.slice(i).reduce((sum, x) => sum + mass * GRAVITY * (x - pivots[i]), 0);
      angles[i] = -load / SERVO.stiffness;
    });
  }
  return angles;
}

function servoArm(links = 6) {
  const half = 0.25;
  const mass = 2;
  const bodies = [];
  const joints = [];
  for (let i = 0; i < links; ++i) {
    bodies.push(box([half, 0.05, 0.05], mass, [half + 2 * half * i, 0, 0], { group: 1 }));
    joints.push({ ...joint('hinge', i - 1, i, [2 * half * i, 0, 0]), servo: SERVO });
  }
  const sag = sagOf(links, half, mass);
  return scene({
    ...{ name: 'servo arm', bodies, joints, seconds: 5, unit: 'mrad', from: 4 },
    law: 'balance of the servos: the largest error of an angle in the last second',
    error: (self, state) => {
      const angles = self.bodies.map((_, i) => turned(self, state, i));
      const errors = sag.map((wanted, i) => angles[i] - (angles[i - 1] ?? 0) - wanted);
      return 1000 * Math.max(...errors.map(Math.abs));
    },
  });
}

export const scenes = () => [
  ...[pyramid(), towers(), chain(), mobile(), ragdolls(), hullPile(), pendula(), cradle()],
  servoArm(),
];

// The orthonormal frame whose x axis is `axis`.
export function frameOf(axis) {
  const x = scale(1 / length(axis), axis);
  const other = Math.abs(x[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0];
  const y = cross(x, other);
  return { axis: x, normal: scale(1 / length(y), y) };
}

export { toBody };
