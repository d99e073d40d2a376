// A chart over time on a canvas: lines with a common scale, ticks at round numbers, and a legend with
// the values at the pointer, or else the last ones.
import { h, number } from './dom.js';

const LEFT = 58; // pixels for the numbers of the axis
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

// Round numbers between two bounds, about `count` of them.
export function ticksOf(lo, hi, count) {
  const rough = (hi - lo) / count;
  if (!(rough > 0)) return [lo];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((k) => k * power >= rough) ?? 10);
  const ticks = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; ++k) ticks.push(k * step);
  return ticks;
}

// Bounds of all values, with a margin; a flat line gets some room.
export function boundsOf(lists) {
  let [lo, hi] = [Infinity, -Infinity];
  for (const value of lists.flat()) {
    if (value === null || !Number.isFinite(value)) continue;
    lo = Math.min(lo, value);
    hi = Math.max(hi, value);
  }
  if (lo > hi) return [0, 1];
  const room = 0.06 * (hi - lo) || 0.1 * Math.abs(hi) || 1;
  return [lo === 0 ? 0 : lo - room, hi + room];
}

export class Plot {
  constructor() {
    this.canvas = h('canvas', { role: 'img' });
    this.legend = h('dl', { class: 'legend' });
    this.title = h('figcaption');
    this.node = h('figure', { class: 'plot' }, [this.title, this.canvas, this.legend]);
    this.at = null; // index under the pointer
    this.canvas.addEventListener('pointermove', (event) => this.point(event));
    this.canvas.addEventListener('pointerleave', () => this.point(null));
  }

  // series: [{ label, color, values }]; bounds: of the values.
  set({ title, unit, times, series, bounds }) {
    Object.assign(this, { unit, times, series, bounds });
    this.title.textContent = title;
    this.canvas.setAttribute('aria-label', `${title}, ${unit}, over time`);
    if (this.legend.children.length !== 2 * series.length) this.legend.replaceChildren();
    series.forEach(({ label, color }, i) => {
      if (!this.legend.children[2 * i]) this.legend.append(h('dt'), h('dd'));
      const name = this.legend.children[2 * i];
      if (name.textContent !== label) name.textContent = label;
      name.style.setProperty('--tone', color);
    });
    this.draw();
  }

  point(event) {
    if (!this.times?.length) return;
    if (event) {
      const [from, to] = this.span();
      const { left, width } = this.canvas.getBoundingClientRect();
      const share = (event.clientX - left - LEFT) / (width - LEFT - RIGHT);
      const time = from + share * (to - from);
      const later = this.times.findIndex((t) => t >= time);
      this.at = later < 0 ? this.times.length - 1 : later;
    } else {
      this.at = null;
    }
    this.draw();
  }

  span() {
    const [from] = this.times;
    return [from, Math.max(from + 1, this.times[this.times.length - 1])];
  }

  tell() {
    const last = this.at ?? this.times.length - 1;
    this.series.forEach(({ values }, i) => {
      const value = values[last];
      const text = value === null || value === undefined ? '–' : number(value, this.unit);
      this.legend.children[2 * i + 1].textContent = text;
    });
  }

  draw() {
    const { canvas } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!this.times?.length || !width) return;
    const ratio = Math.min(devicePixelRatio, 2);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '11px system-ui, sans-serif';
    const style = getComputedStyle(canvas);
    const [from, to] = this.span();
    const [lo, hi] = this.bounds;
    const x = (time) => LEFT + ((time - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (value) => height - BOTTOM - ((value - lo) / (hi - lo)) * (height - TOP - BOTTOM);
    this.drawAxes(pen, style, { x, y, width, height, from, to, lo, hi });
    for (const { color, values } of this.series) {
      pen.strokeStyle = color;
      pen.lineWidth = 1.6;
      pen.beginPath();
      values.forEach((value, i) => value !== null && pen.lineTo(x(this.times[i]), y(value)));
      pen.stroke();
    }
    if (this.at !== null) {
      const place = x(this.times[this.at] ?? to);
      pen.fillStyle = style.color;
      pen.fillRect(place, TOP, 1, height - TOP - BOTTOM);
    }
    this.tell();
  }

  drawAxes(pen, style, { x, y, width, height, from, to, lo, hi }) {
    pen.fillStyle = style.color;
    const line = style.getPropertyValue('--line');
    const rule = (...box) => {
      pen.fillStyle = line;
      pen.fillRect(...box);
      pen.fillStyle = style.color;
    };
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const value of ticksOf(lo, hi, Math.max(2, height / 32))) {
      rule(LEFT, Math.round(y(value)), width - LEFT - RIGHT, 1);
      pen.fillText(number(value, this.unit), LEFT - 6, y(value));
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'alphabetic';
    for (const time of ticksOf(from, to, Math.max(2, width / 110))) {
      pen.fillText(`${+time.toFixed(3)} s`, Math.min(x(time), width - 16), height - 4);
    }
  }
}
