// The page around the picture.
import { button, h } from './dom.js';
import { helpCard, listenToKeys } from './keys.js';
import { plainName, SceneList } from './list.js';
import { Panel } from './panel.js';
import { Transport } from './transport.js';

const LETTER = 6.5; // pixels, of a label
const NARROW = matchMedia('(max-width: 900px)');

export class Frame {
  constructor(app) {
    this.app = app;
    this.canvas = h('canvas', {
      tabIndex: 0,
      'aria-label':
        'The scene in 3D: drag a body to pull it, drag the background to rotate the view',
      role: 'application',
    });
  }

  build(charts) {
    const { app } = this;
    this.list = new SceneList(app);
    this.panel = new Panel(app, charts);
    this.transport = new Transport(app);
    this.message = h('div', { class: 'message', role: 'status', 'aria-live': 'polite' });
    this.labels = h('div', { class: 'labels', 'aria-hidden': 'true' });
    this.sides = h('div', { class: 'sides', 'aria-hidden': 'true' });
    this.title = h('h1');
    this.help = helpCard();
    const stage = h('main', { class: 'stage' }, [
      this.canvas,
      this.labels,
      this.sides,
      this.message,
      this.transport.node,
    ]);
    document.body.replaceChildren(this.header(), this.list.node, stage, this.panel.node, this.help);
    for (const node of [this.list.node, this.panel.node]) node.tabIndex = -1;
    document.body.classList.toggle('no-list', innerWidth < 1150);
    document.body.classList.toggle('no-panel', NARROW.matches);
    new ResizeObserver(() => app.sims.length && app.draw()).observe(stage);
    this.setTheme(this.savedTheme());
    this.canvas.addEventListener('webglcontextlost', () =>
      this.say('The browser lost the graphics context; reload the page.'),
    );
    listenToKeys(app, this);
  }

  header() {
    return h('header', { class: 'bar' }, [
      button('menu', 'List of scenes', () => this.toggle('list')),
      h('a', { class: 'brand', href: '#', onclick: (event) => event.preventDefault() }, 'Tenon'),
      this.title,
      button('two', 'Two side by side (2)', () => this.toggleTwo()),
      button('theme', 'Light or dark (N)', () =>
        this.setTheme(this.theme === 'dark' ? 'light' : 'dark'),
      ),
      button('help', 'Help (?)', () => this.help.showModal()),
      button('panel', 'Controls', () => this.toggle('panel')),
    ]);
  }

  toggle(which) {
    const { classList } = document.body;
    classList.toggle(`no-${which}`);
    const other = which === 'list' ? 'no-panel' : 'no-list';
    if (NARROW.matches && !classList.contains(`no-${which}`)) classList.add(other);
  }

  toggleTwo() {
    this.app.setTwo(this.app.state.two ? null : this.app.otherWay());
  }

  // ---- Light and dark

  savedTheme() {
    let saved = null;
    try {
      saved = localStorage.getItem('tenon-theme');
    } catch {
      // without storage the page uses the system setting
    }
    if (saved === 'dark' || saved === 'light') return saved;
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    this.app.stage.setTheme(name);
    try {
      localStorage.setItem('tenon-theme', name);
    } catch {
      // as above
    }
    if (this.app.sims.length) {
      this.app.charts.show(this.app.charts.which);
      this.app.draw();
    }
  }

  // ---- Display

  setScene() {
    const { scene, state } = this.app;
    this.title.textContent = plainName(scene.name);
    document.title = `${plainName(scene.name)} · Tenon`;
    this.list.setScene(scene.name);
    this.panel.rebuild();
    this.panel.setSee(state.see);
    const names = state.two ? [0, 1].map((side) => h('span', {}, this.app.nameOfSide(side))) : [];
    this.sides.replaceChildren(...names);
    if (NARROW.matches) document.body.classList.add('no-list');
  }

  say(text) {
    this.message.replaceChildren(
      h('span', {}, text),
      button('close', 'Close the message', () => this.message.replaceChildren()),
    );
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.message.replaceChildren(), 12000);
  }

  // Labels of arrows, strongest first and without overlap, and the force of the hand.
  label() {
    const { app } = this;
    const labels = app.sims.flatMap((_, side) =>
      app.stage.sides[side].overlay.labels.map((label) => ({ ...label, side, kind: 'force' })),
    );
    const hand = app.hands.label();
    if (hand) labels.push({ ...hand, kind: 'hand' });
    while (this.labels.children.length > labels.length) this.labels.lastChild.remove();
    while (this.labels.children.length < labels.length) this.labels.append(h('span'));
    const placed = [];
    labels.forEach(({ at, side, text, kind }, i) => {
      const { x: ideal, y, isBehind } = app.stage.toScreen(at, side);
      const x = Math.min(ideal, app.stage.width - LETTER * text.length - 24);
      const isHidden = placed.some((p) => Math.abs(p.x - x) < 100 && Math.abs(p.y - y) < 22);
      const node = this.labels.children[i];
      node.className = kind;
      node.textContent = text;
      node.hidden = isBehind || (isHidden && kind !== 'hand');
      if (!node.hidden) placed.push({ x, y });
      node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    });
  }
}
