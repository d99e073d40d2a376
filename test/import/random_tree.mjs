// Random MJCF trees: all joint types, defaults, nested frames, orientations in all notations, masses
// from geoms and stated, actuators, tendons, equalities and keyframes.

// The same numbers on every machine.
export function random(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 16777216;
  };
  const r = {
    next,
    between: (lo, hi) => lo + (hi - lo) * next(),
    whole: (lo, hi) => lo + Math.floor(next() * (hi - lo + 1)),
    chance: (p) => next() < p,
    pick: (list) => list[Math.floor(next() * list.length)],
  };
  for (let i = 0; i < 8; ++i) next();
  r.vector = (size) => [r.between(-size, size), r.between(-size, size), r.between(-size, size)];
  r.direction = () => {
    for (;;) {
      const v = r.vector(1);
      const length = Math.hypot(...v);
      if (length > 0.2) return v;
    }
  };
  return r;
}

const text = (values) => values.map((x) => +x.toPrecision(9)).join(" ");
const attributes = (object) =>
  Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${Array.isArray(value) ? text(value) : value}"`)
    .join("");

// `swing`: without limits, friction, couplings and tendons, so that two engines can be compared over
// time. `conservative`: also without damping and actuators. `single`: at most one joint for each body.
// `servo`: hinges and slides alone, each with a damped position servo and a target.
class Tree {
  constructor(seed, { swing = false, conservative = false, single = false, servo = false } = {}) {
    this.servo = servo;
    this.single = single;
    this.swing = swing || conservative;
    this.conservative = conservative;
    this.r = random(seed);
    this.degrees = this.r.chance(0.5);
    this.joints = [];
    this.bodies = [];
    this.geoms = [];
    this.sites = [];
    this.positions = []; // random values of qpos
    this.targets = []; // of servos
    this.classes = ["", "outer", "inner", "other"];
  }
  angle(value) {
    return this.degrees ? (value * 180) / Math.PI : value;
  }
  orientation() {
    const { r } = this;
    switch (r.whole(0, 6)) {
      case 0:
        return { quat: [...r.vector(1), r.between(0.2, 1)] };
      case 1:
        return { axisangle: [...r.direction(), this.angle(r.between(-3, 3))] };
      case 2:
        return { euler: r.vector(3).map((x) => this.angle(x)) };
      case 3:
        return { zaxis: r.direction() };
      case 4: {
        const a = r.direction();
        const b = r.direction();
        const cross = [
          a[1] * b[2] - a[2] * b[1],
          a[2] * b[0] - a[0] * b[2],
          a[0] * b[1] - a[1] * b[0],
        ];
        return Math.hypot(...cross) > 0.1 ? { xyaxes: [...a, ...b] } : {};
      }
      default:
        return {};
    }
  }
  pose(size) {
    return { pos: this.r.chance(0.9) ? this.r.vector(size) : undefined, ...this.orientation() };
  }
  geom() {
    const { r } = this;
    const type = r.pick(["sphere", "capsule", "box", "cylinder", "ellipsoid"]);
    const ends = type !== "sphere" && r.chance(0.3);
    const size = ends ? [r.between(0.01, 0.1)] : [r.between(0.01, 0.2), r.between(0.01, 0.2), r.between(0.01, 0.2)];
    const weight = r.pick([{}, {}, { mass: [r.between(0.01, 5)] }, { density: [r.between(10, 5000)] }]);
    const name = `g${this.geoms.length}`;
    this.geoms.push(name);
    return `<geom${attributes({
      name,
      type,
      size: type === "sphere" ? size.slice(0, 1) : size,
      ...(ends ? { fromto: [...r.vector(0.3), ...r.vector(0.3)] } : this.pose(0.2)),
      ...weight,
      class: this.class(),
      group: r.chance(0.2) ? r.whole(0, 5) : undefined,
      shellinertia: type !== "ellipsoid" && r.chance(0.15) ? "true" : undefined,
    })}/>`;
  }
  class() {
    return this.r.chance(0.3) ? this.r.pick(["outer", "inner", "other"]) : undefined;
  }
  joint(type) {
    const { r } = this;
    const name = `j${this.joints.length}`;
    const turns = type === "hinge" || type === "ball";
    const scale = (x) => (turns ? this.angle(x) : x);
    const ref = type === "hinge" || type === "slide" ? r.between(-0.5, 0.5) : 0;
    this.joints.push({ name, type });
    const q = type === "ball" ? [...r.vector(1), r.between(0.2, 1)] : [r.between(-1, 1)];
    this.positions.push(...(type === "ball" ? q.map((x) => x / Math.hypot(...q)) : q));
    return `<joint${attributes({
      name,
      type: type === "hinge" && r.chance(0.5) ? undefined : type,
      pos: r.chance(0.7) ? r.vector(0.2) : undefined,
      axis: type === "ball" ? undefined : r.chance(0.8) ? r.direction() : undefined,
      ref: ref && r.chance(0.5) ? [scale(ref)] : undefined,
      range: r.chance(0.4) && !this.swing ? (type === "ball" ? [0, scale(1)] : [scale(-1), scale(1.5)]) : undefined,
      damping: ((d) => (this.conservative ? [0] : d))(r.chance(0.4) ? [r.between(0, 1)] : undefined),
      stiffness: r.chance(0.3) ? [r.between(0, 10)] : undefined,
      armature: ((a) => (type === "ball" ? [0] : a))(r.chance(0.3) ? [r.between(0, 0.1)] : undefined),
      frictionloss: ((f) => (this.swing ? undefined : f))(r.chance(0.2) ? [r.between(0, 0.1)] : undefined),
      class: this.class(),
    })}/>`;
  }
  // A trunk may be free; other bodies are fixed, or have up to three hinges and slides, or a ball.
  jointsOf(depth) {
    const { r } = this;
    if (depth === 0 && r.chance(0.4) && !this.servo) {
      const q = [...r.vector(1), ...r.vector(1), r.between(0.2, 1)];
      const length = Math.hypot(...q.slice(3));
      this.joints.push({ name: "", type: "free" });
      this.positions.push(...q.slice(0, 3), ...q.slice(3).map((x) => x / length));
      return r.chance(0.5) ? "<freejoint/>" : '<joint type="free" armature="0" damping="0"/>';
    }
    const kind = r.whole(0, 6);
    if (kind === 0) return "";
    if (kind === 1) return this.joint(this.servo ? "hinge" : "ball");
    const count = kind < 5 || this.single ? 1 : r.whole(2, 3);
    return Array.from({ length: count }, () => this.joint(r.pick(["hinge", "hinge", "slide"]))).join("");
  }
  inertial() {
    const { r } = this;
    const [a, b, c] = [r.between(0.01, 1), r.between(0.01, 1), r.between(0.01, 1)];
    const moments = [b + c, a + c, a + b];
    if (r.chance(0.5)) {
      return `<inertial${attributes({ ...this.pose(0.2), pos: r.vector(0.2), mass: [r.between(0.1, 5)], diaginertia: moments })}/>`;
    }
    const off = r.vector(0.05 * Math.min(a, b, c));
    return `<inertial${attributes({ pos: r.vector(0.2), mass: [r.between(0.1, 5)], fullinertia: [...moments, ...off] })}/>`;
  }
  body(depth) {
    const { r } = this;
    const name = `b${this.bodies.length}`;
    this.bodies.push(name);
    const stated = r.chance(0.4);
    const site = `s${this.sites.length}`;
    this.sites.push(site);
    let inner = this.jointsOf(depth);
    if (stated) inner += this.inertial();
    const geoms = Array.from({ length: r.whole(1, 3) }, () => this.geom()).join("");
    inner += r.chance(0.2) ? `<frame${attributes(this.pose(0.2))}>${geoms}</frame>` : geoms;
    inner += `<site${attributes({ name: site, ...this.pose(0.1) })}/>`;
    const children = depth < 4 ? r.whole(depth === 0 ? 1 : 0, depth < 2 ? 3 : 2) : 0;
    for (let i = 0; i < children; ++i) {
      const child = this.body(depth + 1);
      const enclosed = r.chance(0.2)
        ? `<frame${attributes({ ...this.pose(0.2), childclass: this.class() })}>${child}</frame>`
        : child;
      inner += enclosed;
    }
    return `<body${attributes({ name, ...this.pose(0.3), childclass: this.class(), gravcomp: r.chance(0.1) ? [0.5] : undefined })}>${inner}</body>`;
  }
  defaults() {
    const { r } = this;
    return (
      `<default><geom density="${text([r.between(300, 2000)])}"/>` +
      `<joint damping="0.1"${attributes({ axis: r.chance(0.5) ? r.direction() : undefined })}/>` +
      `<default class="outer"><geom${attributes({ mass: r.chance(0.3) ? [0.5] : undefined, ...this.orientation() })}/>` +
      `<position kp="20"/>` +
      `<default class="inner"><joint${attributes({ pos: r.vector(0.1), armature: [0.01] })}/><geom density="700"/></default>` +
      `</default><default class="other"><joint axis="0 1 0"/><motor ctrlrange="-1 1"/></default></default>`
    );
  }
  compiler() {
    const { r } = this;
    const eulerseq = Array.from({ length: 3 }, () => r.pick([..."xyzXYZ"])).join("");
    return `<compiler${attributes({
      angle: this.degrees ? (r.chance(0.5) ? undefined : "degree") : "radian",
      eulerseq: r.chance(0.5) ? eulerseq : undefined,
      inertiafromgeom: r.chance(0.2) ? "true" : undefined,
      settotalmass: r.chance(0.1) || this.servo ? [7] : undefined,
      inertiagrouprange: r.chance(0.1) ? "0 3" : undefined,
      boundmass: "0.001",
      boundinertia: r.chance(0.3) ? "0" : "1e-6",
    })}/>`;
  }
  actuators() {
    const { r } = this;
    return this.joints
      .filter((j) => j.type === "hinge" || j.type === "slide")
      .map((j) => {
        const kind = r.whole(0, 4);
        if (this.servo) {
          this.targets.push(r.between(-1, 1));
          return `<position${attributes({ joint: j.name, kp: [r.between(500, 2000)], dampratio: [r.between(1, 2)], gear: [r.between(0.5, 2)] })}/>`;
        }
        const common = { joint: j.name, class: this.class(), gear: r.chance(0.3) ? [r.between(0.5, 5)] : undefined };
        if (kind === 0) return `<motor${attributes(common)}/>`;
        if (kind === 1) return `<position${attributes({ ...common, kp: [r.between(1, 50)], kv: [1] })}/>`;
        if (kind === 2) return `<velocity${attributes({ ...common, kv: [2] })}/>`;
        if (kind === 3) return `<general${attributes({ ...common, gainprm: "10", biastype: "affine", biasprm: "0 -10 -1" })}/>`;
        return "";
      })
      .join("");
  }
  write() {
    const { r } = this;
    const trunks = Array.from({ length: r.whole(1, 2) }, () => this.body(0)).join("");
    const scalar = this.joints.filter((j) => j.type === "hinge" || j.type === "slide");
    const tendon =
      scalar.length > 1 && !this.swing
        ? `<tendon><fixed name="t"><joint joint="${scalar[0].name}" coef="1"/><joint joint="${scalar[1].name}" coef="-0.5"/></fixed></tendon>`
        : "";
    const equality =
      scalar.length > 2 && r.chance(0.5) && !this.swing
        ? `<equality><joint joint1="${scalar[1].name}" joint2="${scalar[2].name}" polycoef="0 0.5 0 0 0"/></equality>`
        : "";
    return (
      `<mujoco model="random">${this.compiler()}${this.defaults()}` +
      `<worldbody><geom type="plane" size="1 1 1"/>${trunks}</worldbody>${tendon}${equality}` +
      `<actuator>${this.conservative ? "" : this.actuators()}</actuator>` +
      `<keyframe><key name="k" qpos="${text(this.positions)}"${attributes({ ctrl: this.servo ? this.targets : undefined })}/></keyframe></mujoco>`
    );
  }
}

export const randomTree = (seed, options) => new Tree(seed, options).write();
