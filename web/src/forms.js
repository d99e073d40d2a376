// Soft bodies as nodes with their rigid motion; the remaining deformation is stored at some frames,
// the keys, and interpolated linearly in between.
import { Quaternion, Vector3 } from 'three';

const MOST_KEYS = 240; // viewers need not support more than 256 morph targets
const ROUNDS = 30;

function centerOf(points) {
  const center = new Vector3();
  const point = new Vector3();
  for (let i = 0; i < points.length; i += 3) center.add(point.fromArray(points, i));
  return center.multiplyScalar(3 / points.length);
}

// The rotation closest to a matrix of three columns, from an initial guess: Mueller et al. 2016,
// A robust method to extract the rotational part of deformations.
function rotationOf(columns, guess) {
  const q = guess.clone();
  const [axis, torque, turn] = [new Vector3(), new Vector3(), new Quaternion()];
  for (let round = 0; round < ROUNDS; ++round) {
    let along = 0;
    torque.set(0, 0, 0);
    columns.forEach((column, i) => {
      axis.set(i === 0, i === 1, i === 2).applyQuaternion(q);
      along += axis.dot(column);
      torque.add(axis.cross(column));
    });
    const size = torque.length();
    if (!(size > 1e-6 * Math.abs(along))) break;
    turn.setFromAxisAngle(torque.normalize(), size / (Math.abs(along) + 1e-9 * size));
    q.premultiply(turn);
  }
  return q.normalize();
}

function posesOf(frames) {
  const [first] = frames;
  const from = centerOf(first);
  let last = new Quaternion();
  return frames.map((points) => {
    const p = centerOf(points);
    const columns = [0, 1, 2].map(() => new Vector3());
    const [a, b] = [new Vector3(), new Vector3()];
    for (let i = 0; i < points.length; i += 3) {
      a.fromArray(first, i).sub(from);
      b.fromArray(points, i).sub(p);
      columns.forEach((column, k) => column.addScaledVector(b, a.getComponent(k)));
    }
    last = rotationOf(columns, last);
    return { p, q: last };
  });
}

export function keysOf(count) {
  const stride = Math.ceil((count - 1) / (MOST_KEYS - 1)) || 1;
  const keys = [];
  for (let i = 0; i < count - 1; i += stride) keys.push(i);
  return [...keys, count - 1];
}

// frames: the points of one soft body in each. Returns its pose in each, and its shape at each key.
export function formsOf(frames, keys) {
  const poses = posesOf(frames);
  const point = new Vector3();
  const forms = keys.map((frame) => {
    const { p, q } = poses[frame];
    const back = q.clone().conjugate();
    const form = frames[frame].slice();
    for (let i = 0; i < form.length; i += 3) {
      point.fromArray(form, i).sub(p).applyQuaternion(back).toArray(form, i);
    }
    return form;
  });
  return { poses, forms };
}
