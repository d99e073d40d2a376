// The three robots: an arm with a gripper, a quadruped, and a humanoid with hands. Lengths in m, masses in
// kg, z up; the frames of all parts are parallel where all joints are at zero, so that a part is placed by
// the point `at` of its parent alone. A joint turns about an axis, or slides along it.
const X = [1, 0, 0];
const Y = [0, 1, 0];
const Z = [0, 0, 1];
const axisLoft = { x: 0, y: 1, z: 2 };
const loft = (axis, ...sections) => ({ axis: axisLoft[axis], sections });
const box = (size, pos) => ({ type: "box", size, pos });
const ball = (radius, pos) => ({ type: "sphere", size: [radius], pos });

const part = (name, parent, at, mass, joint, more) => ({ name, parent, at, mass, joint, shapes: [], ...more });
// A hinge with its servo: N m/rad, N m s/rad, N m.
const hinge = (axis, range, [stiffness, damping, effort], more = {}) => ({
  type: "hinge", axis, range, stiffness, damping, effort, armature: 0.01, friction: 0, ...more, // prettier-ignore
});

function arm() {
  const strong = [1500, 60, 150];
  const middle = [600, 24, 80];
  const weak = [200, 8, 30];
  const finger = (side, more) => ({
    type: "slide", axis: [0, side, 0], range: [0, 0.035], stiffness: 2000, damping: 60, effort: 60, armature: 0.1, friction: 0, ...more, // prettier-ignore
  });
  return {
    name: "arm",
    floor: true,
    parts: [
      part("base", "", [0, 0, 0], 5, null, { loft: loft("z", [0, 0.1, 0.1], [0.06, 0.09, 0.09], [0.1, 0.075, 0.075]) }),
      part("turret", "base", [0, 0, 0.1], 3, hinge(Z, [-2.9, 2.9], strong), { loft: loft("z", [0.002, 0.074, 0.074], [0.1, 0.07, 0.07], [0.17, 0.05, 0.06]) }),
      part("upper", "turret", [0, 0, 0.12], 3.5, hinge(Y, [-1.9, 1.9], strong), { loft: loft("z", [-0.06, 0.04, 0.05], [0, 0.06, 0.06], [0.38, 0.045, 0.05], [0.43, 0.03, 0.04]) }),
      part("fore", "upper", [0, 0, 0.38], 2.2, hinge(Y, [-2.6, 2.6], middle), { loft: loft("z", [-0.05, 0.03, 0.035], [0, 0.045, 0.045], [0.3, 0.032, 0.032]) }),
      part("roll", "fore", [0, 0, 0.3], 0.8, hinge(Z, [-3, 3], weak), { loft: loft("z", [0.002, 0.03, 0.03], [0.07, 0.03, 0.035], [0.1, 0.02, 0.03]) }),
      part("wrist", "roll", [0, 0, 0.08], 0.6, hinge(Y, [-2, 2], weak), { loft: loft("z", [-0.03, 0.02, 0.025], [0, 0.028, 0.028], [0.07, 0.026, 0.026]) }),
      part("hand", "wrist", [0, 0, 0.07], 0.5, hinge(Z, [-3, 3], weak), { loft: loft("z", [0.002, 0.026, 0.026], [0.02, 0.03, 0.06], [0.05, 0.022, 0.055]) }),
      part("left_finger", "hand", [0, 0, 0.05], 0.08, finger(1), { shapes: [box([0.012, 0.006, 0.03], [0, 0.007, 0.032])] }),
      part("right_finger", "hand", [0, 0, 0.05], 0.08, finger(-1, { mimics: "left_finger" }), { shapes: [box([0.012, 0.006, 0.03], [0, -0.007, 0.032])] }),
    ],
    sites: [{ name: "grip", part: "hand", at: [0, 0, 0.1] }],
    home: { upper: 0.5, fore: 1.2, wrist: 1.0, left_finger: 0.02, right_finger: 0.02 },
  };
}

function quadruped() {
  const gains = [200, 8, 40];
  const legs = [["front_left", 1, 1], ["front_right", 1, -1], ["rear_left", -1, 1], ["rear_right", -1, -1]]; // prettier-ignore
  const home = {};
  const parts = [
    part("trunk", "", [0, 0, 0.3], 6, { type: "free" }, {
      loft: loft("x", [-0.24, 0.07, 0.035], [-0.2, 0.095, 0.05], [0.2, 0.095, 0.05], [0.26, 0.06, 0.03]),
    }),
  ];
  for (const [name, front, side] of legs) {
    parts.push(
      part(`${name}_hip`, "trunk", [0.19 * front, 0.05 * side, 0], 0.6, hinge(X, [-0.9, 0.9], gains), {
        loft: loft("y", ...[[-0.03, 0.03, 0.03], [0.05, 0.045, 0.045], [0.1, 0.035, 0.035]].map(([y, a, b]) => [y * side, a, b]).sort((a, b) => a[0] - b[0])), // prettier-ignore
      }),
      part(`${name}_thigh`, `${name}_hip`, [0, 0.08 * side, 0], 0.9, hinge(Y, [-1, 2.6], gains), {
        loft: loft("z", [-0.22, 0.016, 0.014], [-0.05, 0.035, 0.022], [0.03, 0.03, 0.02]),
      }),
      part(`${name}_calf`, `${name}_thigh`, [0, 0, -0.2], 0.2, hinge(Y, [-2.6, -0.4], gains), {
        loft: loft("z", [-0.19, 0.01, 0.01], [-0.02, 0.016, 0.012], [0.015, 0.012, 0.01]),
        shapes: [{ ...ball(0.02, [0, 0, -0.2]), foot: true }],
      }),
    );
    home[`${name}_thigh`] = 0.8;
    home[`${name}_calf`] = -1.6;
  }
  return { name: "quadruped", floor: true, parts, sites: [{ name: "imu", part: "trunk", at: [0, 0, 0] }], home };
}

function finger(parts, hand, name, at, out, gains) {
  // A finger bends towards the palm about y; its end follows.
  const bend = hinge([0, -out, 0], [0, 1.5], gains, { armature: 0.002 });
  parts.push(
    part(`${name}_base`, hand, at, 0.05, bend, { shapes: [box([0.009, 0.009, 0.02], [0, 0, -0.022])] }),
    part(`${name}_tip`, `${name}_base`, [0, 0, -0.044], 0.03, { ...bend, mimics: `${name}_base` }, { shapes: [box([0.008, 0.008, 0.016], [0, 0, -0.017])] }),
  );
}

function humanoid() {
  const leg = [2500, 80, 300];
  const ankle = [1500, 40, 150];
  const trunk = [1500, 50, 200];
  const armGains = [150, 5, 50];
  const fingers = [6, 0.2, 3];
  const home = {};
  const parts = [
    part("pelvis", "", [0, 0, 0.86], 6, { type: "free" }, { loft: loft("z", [-0.08, 0.07, 0.11], [0, 0.09, 0.14], [0.08, 0.08, 0.12]) }),
    part("torso", "pelvis", [0, 0, 0.1], 12, hinge(Z, [-1.2, 1.2], trunk), {
      loft: loft("z", [0, 0.08, 0.12], [0.25, 0.1, 0.17], [0.36, 0.09, 0.16], [0.42, 0.04, 0.06]),
    }),
    part("head", "torso", [0, 0, 0.44], 3, hinge(Y, [-0.6, 0.6], [60, 3, 20]), {
      loft: loft("z", [0.005, 0.05, 0.05], [0.06, 0.09, 0.075], [0.16, 0.085, 0.075], [0.2, 0.04, 0.04]),
    }),
  ];
  for (const [side, s] of [["left", 1], ["right", -1]]) { // prettier-ignore
    const n = (name) => `${side}_${name}`;
    parts.push(
      part(n("hip_yaw"), "pelvis", [0, 0.1 * s, -0.06], 0.8, hinge(Z, [-0.8, 0.8], leg), { loft: loft("z", [-0.05, 0.04, 0.04], [0, 0.05, 0.05]) }),
      part(n("hip_roll"), n("hip_yaw"), [0, 0, -0.05], 0.8, hinge(X, [-0.7, 0.7], leg), { loft: loft("x", [-0.05, 0.035, 0.035], [0.05, 0.035, 0.035]) }),
      part(n("thigh"), n("hip_roll"), [0, 0, 0], 4, hinge(Y, [-2, 1], leg), { loft: loft("z", [-0.37, 0.045, 0.045], [-0.1, 0.07, 0.065], [0, 0.06, 0.055]) }),
      part(n("shin"), n("thigh"), [0, 0, -0.36], 2.5, hinge(Y, [0, 2.4], leg), { loft: loft("z", [-0.34, 0.035, 0.035], [-0.1, 0.055, 0.05], [0.02, 0.045, 0.045]) }),
      part(n("ankle"), n("shin"), [0, 0, -0.36], 0.5, hinge(Y, [-0.9, 0.7], ankle), { loft: loft("x", [-0.03, 0.025, 0.025], [0.03, 0.025, 0.025]) }),
      part(n("foot"), n("ankle"), [0, 0, -0.02], 0.9, hinge(X, [-0.4, 0.4], ankle), { shapes: [{ ...box([0.11, 0.045, 0.015], [0.035, 0, -0.035]), foot: true }] }),
      part(n("shoulder"), "torso", [0, 0.19 * s, 0.34], 0.7, hinge(Y, [-3, 1.5], armGains), { loft: loft("y", ...[[-0.02, 0.04, 0.04], [0.05, 0.045, 0.045]].map(([y, a, b]) => [y * s, a, b]).sort((a, b) => a[0] - b[0])) }), // prettier-ignore
      part(n("arm_roll"), n("shoulder"), [0, 0.04 * s, 0], 0.4, hinge(X, s > 0 ? [-0.3, 2.6] : [-2.6, 0.3], armGains), { loft: loft("x", [-0.035, 0.035, 0.035], [0.035, 0.035, 0.035]) }),
      part(n("upper_arm"), n("arm_roll"), [0, 0, -0.03], 1.5, hinge(Z, [-1.5, 1.5], armGains), { loft: loft("z", [-0.27, 0.033, 0.033], [-0.03, 0.045, 0.04], [0, 0.035, 0.035]) }),
      part(n("forearm"), n("upper_arm"), [0, 0, -0.26], 1, hinge(Y, [-2.3, 0], armGains), { loft: loft("z", [-0.22, 0.022, 0.025], [-0.05, 0.035, 0.035], [0.02, 0.03, 0.03]) }),
      part(n("hand"), n("forearm"), [0, 0, -0.225], 0.3, hinge(Z, [-1.5, 1.5], [20, 0.8, 10]), { shapes: [box([0.035, 0.013, 0.04], [0, 0, -0.045])] }),
    );
    finger(parts, n("hand"), n("index"), [0.022, 0, -0.088], -1, fingers);
    finger(parts, n("hand"), n("ring"), [-0.022, 0, -0.088], 1, fingers);
    finger(parts, n("hand"), n("thumb"), [0.045, 0, -0.03], -1, fingers);
    Object.assign(home, { [n("thigh")]: -0.35, [n("shin")]: 0.7, [n("ankle")]: -0.35, [n("arm_roll")]: 0.15 * s, [n("forearm")]: -0.5 });
  }
  return { name: "humanoid", floor: true, parts, sites: [{ name: "imu", part: "torso", at: [0, 0, 0.2] }], home };
}

// In the order in which readers of MJCF count the joints.
function depthFirst(robot) {
  const below = (parent) => robot.parts.filter((p) => p.parent === parent).flatMap((p) => [p, ...below(p.name)]);
  return { ...robot, parts: below("") };
}

export const robots = [arm(), quadruped(), humanoid()].map(depthFirst);
