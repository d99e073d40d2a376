// The first page: scenes that change every few seconds behind a few words, with the hash of the
// state beside that of the native build.
import { HEROES, titleOf } from './catalog.js';
import { h, number } from './dom.js';
import { defaultsOf } from './share.js';

const SHOWN = 540; // frames of each scene
const COMPARED = 120; // the frame whose native hash the build stores

const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class Home {
  constructor(app) {
    this.app = app;
    this.isOn = false;
    this.index = 0;
    this.ours = h('code', {}, '…');
    this.native = h('code', {}, '…');
    this.verdict = h('p', { class: 'verdict' });
    this.gap = h('p', { class: 'gap' });
    this.name = h('a', { class: 'now' });
    this.node = h('section', { class: 'hero', 'aria-label': 'What Tenon is' }, [
      h('p', { class: 'headline' }, 'A physics engine whose joints hold.'),
      h(
        'p',
        { class: 'claim' },
        'Rigid and soft bodies, joints, drives and contacts in one solver. Joints do not ' +
          'stretch, and every machine computes the same bits.',
      ),
      h('p', { class: 'links' }, [
        h('a', { class: 'main', href: '#scene=car' }, 'Open the car'),
        h('a', { href: 'docs/hello.html' }, 'First program'),
        h('a', { href: 'docs/manual.html' }, 'Manual'),
        h('a', { href: 'docs/package.html' }, 'npm'),
        h('a', { href: 'tenon-source.tar.gz' }, 'Source'),
      ]),
      h('div', { class: 'proof' }, [
        h('p', {}, [this.name]),
        this.gap,
        h('dl', {}, [
          h('dt', {}, 'this browser'),
          h('dd', {}, this.ours),
          h('dt', {}, 'native, at 2 s'),
          h('dd', {}, this.native),
        ]),
        this.verdict,
      ]),
    ]);
  }

  get heroes() {
    return HEROES.filter((name) => this.app.engine.find(name));
  }

  enter() {
    this.isOn = true;
    this.app.stage.controls.canZoom = false; // the wheel scrolls the page
    document.body.classList.add('home');
    this.show();
  }

  leave() {
    this.isOn = false;
    this.app.stage.controls.canZoom = true;
    document.body.classList.remove('home');
  }

  show() {
    const { app, heroes } = this;
    const name = heroes[this.index % heroes.length];
    app.loadState(defaultsOf(app.engine.find(name)));
    app.setPlaying(!app.isStill && !isCalm());
    this.name.textContent = titleOf(name);
    this.name.href = `#scene=${name}`;
    this.native.textContent = globalThis.TENON_NATIVE?.[name] ?? '–';
    this.verdict.textContent = 'The hash of all positions and velocities.';
    this.verdict.classList.remove('same');
    this.update();
  }

  // Called for every picture.
  update() {
    const { app } = this;
    const [sim] = app.sims;
    const now = sim.hash();
    if (app.frame <= COMPARED && app.frame % 4 === 0) this.ours.textContent = now;
    if (app.frame === COMPARED) this.compare(now);
    if (app.frame % 6 === 0) this.tellGap(new Map(sim.metrics()).get('max_joint_error_m'));
    if (app.frame >= SHOWN && !app.isTouched) {
      this.index += 1;
      this.show();
    }
  }

  compare(hash) {
    this.ours.textContent = hash;
    const native = globalThis.TENON_NATIVE?.[this.app.scene.name];
    if (native && !this.app.isTouched) {
      this.verdict.textContent = native === hash ? 'The same bits.' : 'The hashes differ.';
      this.verdict.classList.toggle('same', native === hash);
    }
  }

  tellGap(gap) {
    const isKnown = this.app.sims[0].numbers().joints > 0 && gap > 0;
    this.gap.textContent = isKnown ? `Largest gap in a joint so far: ${number(gap, 'm')}` : '';
  }
}
