// Vectors as lists of three numbers, rotations as quaternions x, y, z, w.

export const add = (a, b) => a.map((x, i) => x + b[i]);
export const sub = (a, b) => a.map((x, i) => x - b[i]);
export const scale = (s, a) => a.map((x) => s * x);
export const length = (a) => Math.hypot(...a);

export const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];

export function rotate([x, y, z, w], v) {
  const u = [x, y, z];
  const t = scale(2, cross(u, v));
  return add(v, add(scale(w, t), cross(u, t)));
}

export const inverse = ([x, y, z, w]) => [-x, -y, -z, w];

export function about(axis, angle) {
  const [x, y, z] = scale(Math.sin(angle / 2) / length(axis), axis);
  return [x, y, z, Math.cos(angle / 2)];
}

// The same numbers for every engine and run (Park and Miller).
export function random(seed) {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
