// A card with what a selected body or joint does, and sliders for the drives of a joint.
import { button, h, number } from './dom.js';
import { JOINT_KINDS, KIND } from './kinds.js';
import { slider } from './fields.js';

const EVERY = 4; // pictures between two readings
const REACH = 16; // pixels around a joint

const size = (vector) => Math.hypot(...vector);
const title = (word) => word[0].toUpperCase() + word.slice(1);
const place = (vector) => `${vector.map((x) => +x.toFixed(3)).join(', ')} m`;

// Unit of the position of an axis, its rate, and its force.
const unitsOf = ({ index }) => (index < 3 ? ['m', 'm/s', 'N'] : ['rad', 'rad/s', 'N m']);

function rowsOfBody(facts) {
  const rows = [['at', place(facts.center)]];
  if (facts.mass === 0) return rows;
  return [
    ['mass', number(facts.mass, 'kg')],
    ...rows,
    ['speed', number(size(facts.velocity), 'm/s')],
    ['spin', number(size(facts.spin), 'rad/s')],
    ['energy of motion', number(facts.linear, 'J')],
    ['energy of rotation', number(facts.rotational, 'J')],
    ['contact points', `${facts.points}`],
    ['pressed by', number(facts.pressed, 'N')],
    ['state', facts.isAwake ? 'awake' : 'asleep'],
  ];
}

function rowsOfJoint(facts) {
  const state = facts.isBroken ? 'broken' : facts.isOn ? 'holds' : 'switched off';
  const rows = [
    ['force', number(size(facts.force), 'N')],
    ['torque', number(size(facts.torque), 'N m')],
    ['gap', number(facts.elongation, 'm')],
    ['angle error', number(facts.angle, 'rad')],
    ['state', state],
  ];
  for (const axis of facts.axes) {
    const [unit, rate, force] = unitsOf(axis);
    rows.push([axis.name, `${number(axis.position, unit)}, ${number(axis.rate, rate)}`]);
    rows.push(['drive', number(axis.drive, force)]);
  }
  return rows;
}

// Slider of one value of a drive: what it is, its unit and its range.
function dials(axis) {
  const [unit, rate, force] = unitsOf(axis);
  const list = [];
  if (axis.stiffness > 0) {
    const wide = axis.index < 3 ? 1 : Math.PI;
    const isBounded = Number.isFinite(axis.lo) && Number.isFinite(axis.hi);
    const [lo, hi] = isBounded ? [axis.lo, axis.hi] : [axis.position - wide, axis.position + wide];
    list.push({ what: 'target', unit, lo, hi });
  }
  if (axis.damping > 0) {
    const most = Math.max(10, 2 * Math.abs(axis.velocity));
    list.push({ what: 'velocity', unit: rate, lo: -most, hi: most });
  }
  const most = Number.isFinite(axis.most) ? axis.most : Math.max(100, 2 * Math.abs(axis.force));
  list.push({ what: 'force', unit: force, lo: -most, hi: most });
  return list.filter(({ lo, hi }) => lo < hi);
}

export class Inspector {
  constructor(app) {
    this.app = app;
    this.facts = h('dl', { class: 'figures' });
    this.extra = h('div');
    this.title = h('h2');
    this.node = h('section', { class: 'inspector', 'aria-label': 'Selection', hidden: true }, [
      this.title,
      button('close', 'Close (Esc)', () => this.close(), { class: 'corner' }),
      this.facts,
      this.extra,
    ]);
    app.frameNode.canvas.parentElement.append(this.node);
    this.count = 0;
  }

  // The joint or body at a place of the window.
  pick(x, y, { side, sim, hit }) {
    const joint = this.app.state.see.joints ? this.jointAt(x, y, sim, side) : -1;
    if (joint >= 0) this.showJoint(sim, side, joint);
    else if (hit && hit.item >= 0) this.showBody(sim, side, hit.item);
    else this.close();
  }

  jointAt(x, y, sim, side) {
    const { left, top } = this.app.stage.canvas.getBoundingClientRect();
    let [nearest, found] = [REACH, -1];
    sim.joints().forEach(({ b, isOurs }, i) => {
      const at = this.app.stage.toScreen(b, side);
      const away = Math.hypot(at.x + left - x, at.y + top - y);
      if (isOurs || at.isBehind || away > nearest) return;
      nearest = away;
      found = i;
    });
    return found;
  }

  showBody(sim, side, item) {
    const { items } = this.app.stage.sides[side].bodies;
    this.shown = { sim, side, item, items, body: items[item].body };
    const kinds = Object.keys(KIND);
    this.title.textContent = title(kinds[items[item].kind]);
    const links = sim
      .jointsOf(item)
      .slice(0, 12)
      .map((index) => {
        const { kind } = sim.jointFacts(index);
        const onclick = () => this.showJoint(sim, side, index);
        return h('button', { type: 'button', class: 'chip', onclick }, JOINT_KINDS[kind]);
      });
    this.extra.replaceChildren(h('div', { class: 'chips' }, links));
    this.open();
  }

  showJoint(sim, side, index) {
    const facts = sim.jointFacts(index);
    if (!facts) return;
    this.shown = { sim, side, joint: index };
    this.title.textContent = JOINT_KINDS[facts.kind];
    // A ball joint has three angles to steer; only its forces are shown.
    const axes = facts.kind === 1 ? [] : facts.axes;
    const fields = axes.flatMap((axis) =>
      dials(axis).map(({ what, unit, lo, hi }) =>
        slider({
          label: `${what} ${axis.name}, ${unit}`,
          lo,
          hi,
          value: Math.min(hi, Math.max(lo, axis[what])),
          onchange: (value) => this.setDrive(axis.word, what, value),
        }),
      ),
    );
    this.extra.replaceChildren(...fields.map(({ node }) => node));
    this.open();
  }

  setDrive(axis, what, value) {
    const { sim, joint } = this.shown;
    this.app.interfere(() => sim.setDrive(joint, axis, what, value));
  }

  open() {
    this.node.hidden = false;
    this.app.stage.chosen = this.shown.joint === undefined ? null : this.shown; // shows its limits
    this.app.draw();
  }

  clear() {
    this.shown = this.app.stage.chosen = null;
    this.node.hidden = true;
  }

  close() {
    this.clear();
    this.app.draw();
  }

  get isStale() {
    const { app, shown } = this;
    return !app.sims.includes(shown.sim) || !shown.sim.isOpen;
  }

  // Called for every picture; reads the numbers of every few.
  update(isNow = false) {
    if (!this.shown) return;
    if (this.isStale) {
      this.clear();
      return;
    }
    const { sim, side, joint } = this.shown;
    const { items } = this.app.stage.sides[side].bodies;
    if (joint === undefined && items !== this.shown.items) {
      // The list was made again: bodies were added or removed.
      const item = items.findIndex(({ body }) => body === this.shown.body);
      Object.assign(this.shown, { items, item });
    }
    if (!isNow && this.count++ % EVERY) return;
    const facts = joint === undefined ? this.factsOfBody() : sim.jointFacts(joint);
    if (!facts) {
      this.clear();
      return;
    }
    const rows = joint === undefined ? rowsOfBody(facts) : rowsOfJoint(facts);
    this.facts.replaceChildren(...rows.flatMap(([dt, dd]) => [h('dt', {}, dt), h('dd', {}, dd)]));
  }

  factsOfBody() {
    const { sim, item } = this.shown;
    return item < 0 ? null : sim.bodyFacts(item);
  }

  // Label in the picture.
  label() {
    if (!this.shown || this.isStale) return null;
    const { sim, side, item, joint } = this.shown;
    const at =
      joint === undefined ? item >= 0 && sim.bodyFacts(item).center : sim.joints()[joint]?.b;
    return at ? { at: [...at], side, text: this.title.textContent } : null;
  }
}
