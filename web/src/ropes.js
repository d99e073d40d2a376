// The path of a rope through points and around round solids, as points to draw.

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const size = (a) => Math.sqrt(dot(a, a));
const unit = (a) => (size(a) > 0 ? scaled(1 / size(a), a) : a);
const STEPS = 10; // of an arc

// The arc of a path from one point to another around a solid, in the plane across its axis.
function arc(from, to, { at, radius, axis, side }) {
  const [a, b] = [sub(from, at), sub(to, at)];
  let normal = size(axis) > 0 ? unit(axis) : unit(cross(a, b));
  if (size(normal) === 0) return [];
  const flat = (v) => sub(v, scaled(dot(v, normal), normal));
  const x = unit(flat(a));
  const y = cross(normal, x);
  const angleOf = (v) => Math.atan2(dot(v, y), dot(v, x));
  const [p, q] = [size(flat(a)), size(flat(b))];
  const middle = add(scaled(0.5, a), scaled(0.5, b));
  const isFree = size(flat(middle)) > radius && size(side) === 0;
  if (p <= radius || q <= radius || isFree) return [];
  const outward = size(side) > 0 ? side : middle;
  // Tangents from both ends, on the side that the path passes.
  const [first, last] = [Math.acos(radius / p), Math.acos(radius / q)];
  const toward = angleOf(outward);
  const turn = toward >= 0 ? 1 : -1;
  let start = turn * first;
  let end = angleOf(b) - turn * last;
  while (turn * (end - start) < 0) end += 2 * Math.PI * turn;
  while (turn * (end - start) > 2 * Math.PI) end -= 2 * Math.PI * turn;
  if (turn * (end - start) > 1.9 * Math.PI) return []; // straight past it
  const along = scaled(dot(a, normal), normal);
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const angle = start + ((end - start) * i) / STEPS;
    const out = add(scaled(radius * Math.cos(angle), x), scaled(radius * Math.sin(angle), y));
    return add(at, add(out, along));
  });
}

// Branches of a path: lists of points. A factor of 0 begins a new one.
export function branchesOf(points) {
  const branches = [];
  points.forEach((point, i) => {
    const isFirst = i === 0 || (point.factor === 0 && !(point.radius > 0));
    if (isFirst) branches.push([]);
    const branch = branches.at(-1);
    const next = points[i + 1];
    if (!(point.radius > 0)) branch.push(point.at);
    else if (branch.length && next) branch.push(...arc(branch.at(-1), next.at, point));
  });
  return branches.filter((branch) => branch.length > 1);
}
