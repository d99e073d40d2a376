// Charts over time below the picture, one for each simulation, and the metrics of the scene.
import { h, number } from './dom.js';
import { boundsOf, Plot } from './plot.js';

const KEPT = 1200; // frames
const EVERY = 6; // frames between two drawings

// Title and unit of each chart, and its lines with their names.
export const CHARTS = {
  energy: {
    title: 'Energy',
    unit: 'J',
    lines: { total: 'total', kinetic: 'motion', potential: 'height', elastic: 'elastic' },
  },
  momentum: { title: 'Momentum', unit: 'kg m/s', lines: { momentum: 'linear' } },
  angular: { title: 'Angular momentum', unit: 'kg m²/s', lines: { angular: 'angular' } },
  error: { title: 'Joint gap', unit: 'm', lines: { gap: 'largest gap' } },
  angle: { title: 'Joint angle error', unit: 'rad', lines: { angle: 'largest angle' } },
  depth: { title: 'Penetration', unit: 'm', lines: { penetration: 'deepest contact' } },
  cost: {
    title: 'Time of a frame',
    unit: 'ms',
    lines: {
      milliseconds: 'whole frame',
      solve: 'solving',
      manifolds: 'contacts',
      pairs: 'pairs',
      prepare: 'preparing',
      finish: 'finishing',
    },
  },
};

export class Charts {
  constructor(app) {
    this.app = app;
    this.logs = [[], []];
    this.which = 'energy';
    this.plots = [0, 1].map(() => new Plot());
    this.figures = h('dl', { class: 'figures' });
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Chart' });
    for (const [name, { title }] of Object.entries(CHARTS)) {
      const props = { type: 'button', role: 'tab', id: `tab-${name}` };
      this.tabs.append(h('button', { ...props, onclick: () => this.show(name) }, [title]));
    }
    this.node = h('section', { class: 'charts', id: 'charts', 'aria-label': 'Charts' }, [
      this.tabs,
      ...this.plots.map(({ node }) => node),
    ]);
  }

  clear() {
    this.logs = [[], []];
  }

  show(name) {
    this.which = name;
    this.draw();
  }

  // Adds a frame of a simulation; after going back in time, later entries are dropped.
  note(side, numbers, milliseconds) {
    const log = this.logs[side];
    while (log.length && log[log.length - 1].time >= numbers.time - 1e-9) log.pop();
    log.push({ ...numbers, milliseconds });
    if (log.length > KEPT) log.shift();
  }

  // Values of the lines of one simulation: { total: [...], ... }.
  data(side) {
    const { lines } = CHARTS[this.which];
    const log = this.logs[side];
    return Object.fromEntries(
      Object.keys(lines).map((key) => [key, log.map((entry) => entry[key] ?? null)]),
    );
  }

  // Called for every picture; redraws every few frames, and only if visible.
  update(frame) {
    if (frame % EVERY === 0) this.draw();
  }

  draw() {
    for (const tab of this.tabs.children) {
      tab.setAttribute('aria-selected', tab.id === `tab-${this.which}`);
    }
    if (this.node.checkVisibility()) this.drawPlots();
    if (this.figures.checkVisibility()) this.drawFigures();
  }

  // Two simulations share a scale.
  drawPlots() {
    const { title, unit, lines } = CHARTS[this.which];
    const style = getComputedStyle(document.documentElement);
    const isTwo = this.app.sims.length > 1;
    const all = this.app.sims.map((_, side) => this.data(side));
    const bounds = boundsOf(all.flatMap((data) => Object.values(data)));
    this.plots[1].node.hidden = !isTwo;
    all.forEach((data, side) => {
      const series = Object.entries(lines).map(([key, label], i) => ({
        label,
        color: style.getPropertyValue(`--chart-${i + 1}`).trim(),
        values: data[key],
      }));
      const shown = series.filter(({ values }, i) => i === 0 || values.some(Boolean));
      const times = this.logs[side].map(({ time }) => time);
      const name = isTwo ? `${title}, ${this.app.nameOfSide(side)}` : title;
      this.plots[side].set({ title: name, unit, times, series: shown, bounds });
    });
  }

  drawFigures() {
    const lists = this.app.sims.map((sim) => new Map(sim.metrics()));
    const names = [...lists[0].keys()];
    this.figures.replaceChildren(
      ...names.flatMap((name) => [
        h('dt', {}, name.replaceAll('_', ' ')),
        h('dd', {}, lists.map((list) => number(list.get(name) ?? NaN)).join(' | ')),
      ]),
    );
  }
}
