// The bar below the picture: play, single steps, speed, time.
import { button, h, icon } from './dom.js';

const SPEEDS = [
  [1, '1×'],
  [0.5, '½×'],
  [0.25, '¼×'],
  [0.1, '⅒×'],
];

export class Transport {
  constructor(app) {
    this.app = app;
    this.play = button('play', 'Play or pause (space)', () => app.setPlaying(!app.isPlaying), {
      class: 'play',
    });
    this.speed = h('button', {
      type: 'button',
      class: 'speed',
      title: 'Slow motion (S)',
      onclick: () => this.nextSpeed(),
    });
    this.scrub = h('input', {
      type: 'range',
      class: 'scrub',
      'aria-label': 'Time: position within the last seconds',
      min: 0,
      max: 0,
      step: 1,
    });
    this.scrub.addEventListener('input', () => app.goTo(+this.scrub.value));
    this.time = h('output', { class: 'time' });
    this.hash = h('output', {
      class: 'hash',
      title: 'Hash of the state: the same on every machine',
    });
    this.node = h('div', { class: 'transport', role: 'toolbar', 'aria-label': 'Time' }, [
      this.play,
      button('frame', 'One frame (.)', () => app.stepOnce()),
      button('substep', 'One substep (,)', () => app.substepOnce()),
      button('reset', 'Restart (R)', () => app.reset()),
      this.speed,
      this.scrub,
      h('div', { class: 'readout' }, [this.time, this.hash]),
    ]);
    this.setSpeed(1);
  }

  nextSpeed() {
    const at = SPEEDS.findIndex(([value]) => value === this.app.speed);
    this.setSpeed(SPEEDS[(at + 1) % SPEEDS.length][0]);
  }

  setSpeed(value) {
    this.app.speed = value;
    this.speed.textContent = SPEEDS.find(([speed]) => speed === value)[1];
  }

  setPlaying(isPlaying) {
    this.play.replaceChildren(icon(isPlaying ? 'pause' : 'play'));
    this.play.setAttribute('aria-pressed', isPlaying);
  }

  update() {
    const { app } = this;
    const [history] = app.histories;
    this.scrub.min = history.first;
    this.scrub.max = Math.max(history.last, app.frame);
    this.scrub.value = app.frame;
    this.time.textContent = `${(app.frame / 60).toFixed(2)} s · frame ${app.frame}`;
    if (!app.isPlaying || app.frame % 10 === 0) this.hash.textContent = app.sims[0].hash();
  }
}
