// The ranges of a joint as lines: arcs for angles, a cone for the swing of a ball joint, bars for
// distances, and a pointer at where the joint is now.

const STEPS = 24; // of an arc
const ANGULAR = 3; // the first axis that turns
const TICK = 0.25; // of the reach

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]];

function polyline(points) {
  return points.slice(1).flatMap((point, i) => [...points[i], ...point]);
}

const isBounded = (range) => range.every(Number.isFinite);

function bar({ origin, axes }, axis, [lo, hi], now, reach) {
  const at = (x) => add(origin, scaled(x, axes[axis]));
  const aside = scaled(TICK * reach, axes[(axis + 1) % 3]);
  const tick = (x, share) => [
    ...add(at(x), scaled(share, aside)),
    ...add(at(x), scaled(-share, aside)),
  ];
  return [...at(lo), ...at(hi), ...tick(lo, 1), ...tick(hi, 1), ...tick(now, 0.5)];
}

// Angles about an axis are measured from the next one.
function arc({ origin, axes }, axis, [lo, hi], now, reach) {
  const [x, y] = [axes[(axis + 1) % 3], axes[(axis + 2) % 3]];
  const at = (angle, share = 1) => {
    const out = add(scaled(Math.cos(angle), x), scaled(Math.sin(angle), y));
    return add(origin, scaled(share * reach, out));
  };
  const curve = Array.from({ length: STEPS + 1 }, (_, i) => at(lo + ((hi - lo) * i) / STEPS));
  return [...polyline([origin, ...curve, origin]), ...origin, ...at(now, 1.15)];
}

function cone({ origin, axes }, swing, reach) {
  const [a, b, c] = axes;
  const at = (angle) => {
    const aside = add(scaled(Math.cos(angle), b), scaled(Math.sin(angle), c));
    const out = add(scaled(Math.cos(swing), a), scaled(Math.sin(swing), aside));
    return add(origin, scaled(reach, out));
  };
  const rim = Array.from({ length: STEPS + 1 }, (_, i) => at((2 * Math.PI * i) / STEPS));
  const sides = [0, 6, 12, 18].flatMap((i) => [...origin, ...rim[i]]);
  return [...polyline(rim), ...sides];
}

/** joint: its definition, with origin, axes and positions now, and the axes that are free. */
export function limitLines(joint, reach) {
  const numbers = [];
  for (const axis of joint.free) {
    const isTurning = axis >= ANGULAR;
    const range = Array.from(isTurning ? joint.angular[axis - ANGULAR] : joint.linear[axis]);
    if (!isBounded(range)) continue;
    const draw = isTurning ? arc : bar;
    numbers.push(...draw(joint, axis % 3, range, joint.position[axis], reach));
  }
  if (joint.kind === 'ball' && joint.swing < Math.PI)
    numbers.push(...cone(joint, joint.swing, reach));
  return new Float32Array(numbers);
}
