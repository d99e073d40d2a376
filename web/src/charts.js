// Charts over time, and the metrics of the scene.
import uPlot from 'uplot';
import { h, number } from './dom.js';

const KEPT = 1200; // frames
const EVERY = 6; // frames between two drawings

export const CHARTS = {
  energy: { title: 'Energy', unit: 'J', keys: ['kinetic', 'potential', 'elastic', 'total'] },
  momentum: { title: 'Momentum', unit: '', keys: ['momentum', 'angular'] },
  error: { title: 'Joint error', unit: 'm', keys: ['gap', 'angle'] },
  depth: { title: 'Penetration', unit: 'm', keys: ['penetration'] },
  cost: {
    title: 'Time',
    unit: 'ms',
    keys: ['milliseconds', 'solve', 'manifolds', 'pairs', 'prepare', 'finish'],
  },
};

const NAMES = {
  kinetic: 'kinetic',
  potential: 'potential',
  elastic: 'elastic',
  total: 'total',
  momentum: 'linear, kg m/s',
  angular: 'angular, kg m²/s',
  gap: 'largest gap, m',
  angle: 'largest angle, rad',
  penetration: 'largest, m',
  milliseconds: 'frame, ms',
  pairs: 'pairs',
  manifolds: 'contacts',
  prepare: 'preparing',
  solve: 'solving',
  finish: 'finishing',
};

const COLORS = [1, 2, 3, 4, 5, 6].map((i) => `--chart-${i}`);

export class Charts {
  constructor(app) {
    this.app = app;
    this.logs = [[], []];
    this.which = 'energy';
    this.plotNode = h('div', { class: 'plot' });
    this.figures = h('dl', { class: 'figures' });
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Chart' });
    for (const [name, { title }] of Object.entries(CHARTS)) {
      this.tabs.append(
        h(
          'button',
          { type: 'button', role: 'tab', id: `tab-${name}`, onclick: () => this.show(name) },
          [title],
        ),
      );
    }
    this.node = h('div', {}, this.tabs, this.plotNode, this.figures);
  }

  clear() {
    this.logs = [[], []];
    this.plot?.destroy();
    this.plot = null;
  }

  show(name) {
    this.which = name;
    this.plot?.destroy();
    this.plot = null;
    this.draw();
  }

  // Adds a frame of a simulation; after going back in time, later entries are dropped.
  note(side, numbers, milliseconds) {
    const log = this.logs[side];
    while (log.length && log[log.length - 1].time >= numbers.time - 1e-9) log.pop();
    log.push({ ...numbers, milliseconds });
    if (log.length > KEPT) log.shift();
  }

  // The series of a chart: a list of [label, value of an entry].
  series() {
    const { keys } = CHARTS[this.which];
    const isTwo = this.app.sims.length > 1;
    if (!isTwo) return keys.map((key) => ({ label: NAMES[key], side: 0, key }));
    const shown = this.which === 'energy' ? ['total'] : keys.slice(0, 1);
    return this.app.sims.flatMap((sim, side) =>
      shown.map((key) => ({ label: `${this.app.nameOfSide(side)}: ${NAMES[key]}`, side, key })),
    );
  }

  data(series) {
    const times = this.logs[0].map((entry) => entry.time);
    return [
      times,
      ...series.map(({ side, key }) => times.map((time, i) => this.logs[side][i]?.[key] ?? null)),
    ];
  }

  // Called for every picture; redraws every few frames, and only if visible.
  update(frame) {
    if (frame % EVERY === 0 && this.node.offsetParent) this.draw();
  }

  draw() {
    for (const tab of this.tabs.children) {
      const isShown = tab.id === `tab-${this.which}`;
      tab.setAttribute('aria-selected', isShown);
    }
    const series = this.series();
    const key = series.map(({ label }) => label).join();
    if (!this.plot || this.key !== key) this.make(series);
    this.key = key;
    this.plot.setData(this.data(series));
    this.drawFigures();
  }

  make(series) {
    this.plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: color('--soft'),
      font: '11px system-ui, sans-serif',
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
    };
    this.plot = new uPlot(
      {
        width: Math.max(200, this.plotNode.clientWidth || 280),
        height: 170,
        cursor: { y: false, points: { size: 5 } },
        scales: { x: { time: false } },
        legend: { live: true },
        axes: [
          { ...axis, size: 24, values: (_, ticks) => ticks.map((t) => `${+t.toFixed(2)} s`) },
          { ...axis, size: 52, values: (_, ticks) => ticks.map((t) => number(t)) },
        ],
        series: [
          { label: 'time', value: (_, v) => (v === null ? '–' : `${v.toFixed(2)} s`) },
          ...series.map(({ label }, i) => ({
            label,
            stroke: color(COLORS[i % COLORS.length]),
            width: 1.6,
            points: { show: false },
            value: (_, v) => (v === null ? '–' : number(v)),
          })),
        ],
      },
      this.data(series),
      this.plotNode,
    );
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
