// Overlays: joints, forces, contacts, limits, islands, trails.
import { BufferAttribute, BufferGeometry, Color, Group, Matrix4, Quaternion, Vector3 } from 'three';
import { number } from './dom.js';
import { JOINT_KINDS } from './kinds.js';
import { unitArrow, unitBall, unitCoil, unitRod } from './geometry.js';
import { lookOf } from './looks.js';
import { Strobe } from './strobe.js';
import { Copies, Lines, paint } from './things.js';
import { Trails } from './trails.js';

const UP = new Vector3(0, 1, 0);
const HINGE = 2;
const DISTANCE = 0;
const LABELS = 12;
const REACH = 0.07; // of arcs, per metre of distance
const WEAK = 1e-3; // N, N m: smaller values get no arrow
const SLIDING = [4, 5]; // prismatic, cylinder

// Instances that are updated for every picture.
class Pieces {
  constructor(group, geometry, material) {
    Object.assign(this, { group, geometry, material, count: 0, mesh: null });
    this.make(64);
  }

  make(capacity) {
    const mesh = new Copies(this.geometry, this.material, capacity);
    if (this.mesh) {
      mesh.matrices.array.set(this.mesh.matrices.array);
      if (this.mesh.colors) {
        mesh.setColorAt(0, new Color());
        mesh.colors.array.set(this.mesh.colors.array);
      }
      this.group.remove(this.mesh);
      this.mesh.dispose();
    }
    mesh.castShadow = this.material.isLit;
    mesh.renderOrder = this.material.isThrough ? 1 : 0;
    this.group.add(mesh);
    this.mesh = mesh;
    this.capacity = capacity;
  }

  begin() {
    this.count = 0;
  }

  // An arrow from `at` along `way`, `width` wide.
  add(at, way, width, length = way.length(), color = null) {
    if (!(length > 0)) return;
    if (this.count === this.capacity) this.make(2 * this.capacity);
    const turn = new Quaternion().setFromUnitVectors(UP, way.clone().normalize());
    const scale = new Vector3(width, length, width);
    this.mesh.setMatrixAt(this.count, new Matrix4().compose(at, turn, scale));
    if (color) this.mesh.setColorAt(this.count, color);
    this.count += 1;
  }

  end() {
    this.mesh.count = this.count;
    this.mesh.matrices.needsUpdate = true;
    if (this.mesh.colors) this.mesh.colors.needsUpdate = true;
  }
}

class Drawing {
  constructor(group, isThrough = false) {
    this.material = paint({ isLit: false, isClear: true, opacity: 0.9, isThrough });
    this.mesh = new Lines(new BufferGeometry(), this.material);
    this.mesh.renderOrder = isThrough ? 1 : 0;
    group.add(this.mesh);
  }

  set(numbers) {
    const { geometry } = this.mesh;
    const old = geometry.getAttribute('position');
    if (!old || old.array.length < numbers.length) {
      geometry.dispose();
      const room = new Float32Array(2 * numbers.length + 60);
      geometry.setAttribute('position', new BufferAttribute(room, 3));
    }
    const position = geometry.getAttribute('position');
    position.array.set(numbers);
    position.needsUpdate = true;
    geometry.setDrawRange(0, numbers.length / 3);
    this.mesh.visible = numbers.length > 0;
  }
}

const SAME_COLOR = { rod: 'joint', coil: 'joint', rope: 'joint', bracket: 'joint', hand: 'ours' };
SAME_COLOR.chosen = 'limit';
const NO_LINES = new Float32Array(0);
const vector = (numbers) => new Vector3().fromArray(numbers);

export class Overlay {
  constructor() {
    this.group = new Group();
    const solid = () => paint({ rough: 0.3, metal: 1 });
    const flat = () => paint({ isLit: false });
    const arrow = unitArrow();
    const rod = unitRod();
    const ball = unitBall();
    this.pieces = {
      joint: new Pieces(this.group, ball, solid()),
      rod: new Pieces(this.group, rod, solid()),
      coil: new Pieces(this.group, unitCoil(), paint({ rough: 0.3, metal: 1, isDouble: true })),
      rope: new Pieces(this.group, rod, paint({ rough: 0.9 })),
      bracket: new Pieces(this.group, rod, paint({ rough: 0.45, metal: 1 })),
      ours: new Pieces(this.group, rod, flat()),
      hand: new Pieces(this.group, ball, flat()),
      force: new Pieces(this.group, arrow, flat()),
      torque: new Pieces(this.group, arrow, flat()),
      friction: new Pieces(this.group, arrow, flat()),
      contact: new Pieces(this.group, ball, flat()),
      graph: new Pieces(this.group, rod, paint({ isLit: false, isThrough: true })),
    };
    this.lines = {
      wire: new Drawing(this.group),
      limit: new Drawing(this.group),
      chosen: new Drawing(this.group, true), // of the selected joint
      boxes: new Drawing(this.group),
      island: new Drawing(this.group, true), // from centre to centre, inside bodies
    };
    this.trails = new Trails(this.group);
    this.strobe = new Strobe(this.group);
    this.floor = -Infinity; // height of the ground
    this.labels = [];
    this.springs = new Map(); // of the joints that have been drawn
    this.perNewton = this.perTorque = Infinity;
  }

  clear() {
    this.springs = new Map();
    this.trails.clear();
    this.strobe.clear();
    this.perNewton = this.perTorque = Infinity;
  }

  setTheme(theme) {
    for (const [name, part] of Object.entries(this.pieces)) {
      if (name === 'graph') continue; // uses the colours of the library
      part.material.color.copy(theme[SAME_COLOR[name] ?? name]);
    }
    for (const [name, part] of Object.entries(this.lines))
      part.material.color.copy(theme[SAME_COLOR[name] ?? name]);
    this.trails.color = theme.trail;
  }

  // `chosen` is the number of the selected joint, -1 for none.
  update(sim, bodies, see, distance, chosen = -1) {
    this.labels = [];
    this.size = Math.max(0.0014 * distance, Math.min(0.008 * distance, 0.45 * bodies.girth));
    this.arrow = 0.0045 * distance; // width
    this.girth = bodies.girth;
    for (const part of Object.values(this.pieces)) part.begin();
    const joints = sim.joints();
    const contacts = see.contacts || see.forces ? sim.contacts() : [];
    if (see.forces) this.chooseScale(joints, contacts, distance);
    if (see.joints)
      joints.forEach((joint, i) => this.drawJoint(joint, this.isSpring(sim, i, joint)));
    else joints.filter((joint) => joint.isOurs).forEach((joint) => this.drawJoint(joint));
    if (see.joints) for (const points of sim.ropes()) this.drawRope(points);
    const { brackets, posts, strobe = 0, labels } = lookOf(sim.scene?.name);
    if (brackets) this.drawBrackets(sim);
    if (posts) joints.forEach((joint) => this.drawPost(joint));
    if (see.forces) joints.forEach((joint) => this.drawForce(joint));
    if (see.joints && !see.forces && labels) this.nameJoints(joints);
    this.drawContacts(contacts, see);
    if (see.colors) this.drawGraph(sim.lines({ colors: true }), distance);
    for (const part of Object.values(this.pieces)) part.end();
    const lines = { wire: see.wire && 'shapes', limit: see.limits && 'limits' };
    Object.assign(lines, { boxes: see.boxes && 'boxes', island: see.islands && 'islands' });
    for (const [name, part] of Object.entries(this.lines)) {
      if (name === 'chosen') continue;
      part.set(lines[name] ? sim.lines({ [lines[name]]: true }).ends : NO_LINES);
    }
    this.lines.chosen.set(chosen < 0 ? NO_LINES : sim.limits(chosen, REACH * distance));
    this.trails.update(bodies, see.trails && !strobe, sim);
    this.strobe.update(bodies, see.trails ? strobe : 0, sim.time);
    this.labels.sort((x, y) => y.size - x.size).splice(LABELS);
  }

  // Scales in metres per newton and per newton metre, so that the strongest arrow fits. They
  // decrease at once and increase slowly.
  chooseScale(joints, contacts, distance) {
    const most = (list) => list.reduce((max, v) => Math.max(max, Math.hypot(...v)), 0);
    const forces = [...joints.map(({ force }) => force), ...contacts.map(({ normal }) => normal)];
    const longest = (0.16 * distance) / Math.max(1, Math.sqrt(forces.length / 60));
    const follow = (scale, strongest) => {
      const wanted = longest / Math.max(strongest, WEAK);
      return wanted < scale ? wanted : scale + 0.02 * (wanted - scale);
    };
    this.perNewton = follow(this.perNewton, most(forces));
    this.perTorque = follow(this.perTorque, most(joints.map(({ torque }) => torque)));
  }

  nameJoints(joints) {
    for (const { b, kind } of joints) {
      this.labels.push({ at: [...b], text: JOINT_KINDS[kind].replace(' joint', ''), size: 0 });
    }
  }

  // Distance joints with a compliance; their number is small, and it never changes.
  isSpring(sim, index, { kind }) {
    if (kind !== DISTANCE) return false;
    if (!this.springs.has(index)) this.springs.set(index, sim.isSpring(index));
    return this.springs.get(index);
  }

  drawJoint({ a, b, axis, kind, isOurs, isOff }, isSpring = false) {
    const from = vector(a);
    const way = vector(b).sub(from);
    const size = this.size * (isOff ? 0.5 : 1);
    const long = vector(axis).multiplyScalar(size * 4);
    if (isOurs) {
      this.pieces.ours.add(from, way, 0.4 * this.arrow);
      for (const end of [a, b]) this.pieces.hand.add(vector(end), UP, this.arrow, this.arrow);
      return;
    }
    if (kind === HINGE) {
      this.pieces.rod.add(from.clone().addScaledVector(long, -0.5), long, 0.9 * size);
    } else if (SLIDING.includes(kind)) {
      this.pieces.rod.add(from.clone().sub(long), long.multiplyScalar(2), 0.4 * size);
    } else {
      this.pieces.joint.add(from, UP, size, size);
    }
    if (isSpring) this.pieces.coil.add(from, way, Math.min(1.6 * size, 0.14 * way.length()));
    else if (way.length() > size && !isOff) this.pieces.rod.add(from, way, 0.35 * size);
    if (kind === DISTANCE) this.pieces.joint.add(vector(b), UP, size, size);
  }

  drawRope(points) {
    for (let i = 0; i + 1 < points.length; ++i) {
      const from = vector(points[i]);
      this.pieces.rope.add(from, vector(points[i + 1]).sub(from), 0.3 * this.size);
    }
  }

  drawBrackets(sim) {
    for (const { from, to, width } of sim.brackets()) {
      const at = vector(from);
      this.pieces.bracket.add(at, vector(to).sub(at), width);
      this.pieces.bracket.add(vector(to).sub(new Vector3(0, 0.5 * width, 0)), UP, width, width);
    }
  }

  // A hinge of the world carried by a post behind it, on a foot.
  drawPost({ a, axis, kind, isOfWorld }) {
    if (!isOfWorld || kind !== HINGE) return;
    const { bracket } = this.pieces;
    const wide = 1.5 * this.size;
    const back = vector(axis).multiplyScalar(axis[2] > 0 ? -1 : 1);
    const top = vector(a).addScaledVector(back, 9 * this.size);
    bracket.add(vector(a), top.clone().addScaledVector(back, wide).sub(vector(a)), 0.8 * this.size);
    const foot = new Vector3(top.x, this.floor, top.z);
    bracket.add(foot, top.sub(foot), wide);
    bracket.add(foot, UP, 6 * wide, 0.6 * wide);
  }

  // Short arrows are also thinner.
  drawArrow(kind, at, way) {
    this.pieces[kind].add(at, way, Math.min(this.arrow, 0.1 * way.length()));
  }

  drawForce({ b, force, torque, elongation }) {
    const at = vector(b);
    const [pull, turn] = [Math.hypot(...force), Math.hypot(...torque)];
    const arrow = vector(force).multiplyScalar(this.perNewton);
    this.drawArrow('force', at, arrow);
    const spin = vector(torque).multiplyScalar(this.perTorque);
    this.drawArrow('torque', at, spin);
    const parts = [number(pull, 'N')];
    if (turn * this.perTorque > this.arrow) parts.push(number(turn, 'N m'));
    if (elongation > 1e-6) parts.push(number(elongation, 'm'));
    if (pull * this.perNewton > 2 * this.arrow) {
      this.labels.push({ at: at.add(arrow).toArray(), text: parts.join(' · '), size: pull });
    }
  }

  // A rod for each constraint; those of one colour are solved in parallel.
  drawGraph({ ends, colors }, distance) {
    const width = Math.min(0.0025 * distance, Math.max(0.0008 * distance, 0.15 * this.girth));
    const shades = new Map();
    colors.forEach((rgba, i) => {
      if (!shades.has(rgba)) shades.set(rgba, new Color().setHex(rgba >>> 8).multiplyScalar(0.8));
      const from = new Vector3().fromArray(ends, 6 * i);
      const way = new Vector3().fromArray(ends, 6 * i + 3).sub(from);
      this.pieces.graph.add(from, way, width, way.length(), shades.get(rgba));
    });
  }

  drawContacts(contacts, see) {
    for (const { at, normal, friction, gap } of contacts) {
      const point = vector(at);
      const strength = Math.hypot(...normal);
      if (see.contacts && (gap <= 0 || strength > 0)) {
        this.pieces.contact.add(point, UP, 0.7 * this.arrow, 0.7 * this.arrow);
      }
      if (see.forces && strength > 0) {
        const arrow = vector(normal).multiplyScalar(this.perNewton);
        this.drawArrow('force', point, arrow);
        const rub = vector(friction).multiplyScalar(this.perNewton);
        this.drawArrow('friction', point, rub);
        this.labels.push({
          at: point.add(arrow).toArray(),
          text: number(strength, 'N'),
          size: 0.5 * strength,
        });
      }
    }
  }
}
