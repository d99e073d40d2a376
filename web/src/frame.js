// The page around the picture.
import { titleOf } from './catalog.js';
import { button, h } from './dom.js';
import { helpCard, listenToKeys } from './keys.js';
import { SceneList } from './list.js';
import { Panel } from './panel.js';
import { Transport } from './transport.js';

const LETTER = 6.5; // pixels, of a label
const NARROW = matchMedia('(max-width: 900px)');
const MIDDLE = matchMedia('(max-width: 1150px)');
const LOW = 700; // pixels, a window without room for charts

export class Frame {
  constructor(app) {
    this.app = app;
    this.canvas = h('canvas', {
      id: 'stage',
      tabIndex: 0,
      'aria-label':
        'The scene in 3D: drag a body to pull it, drag the background to rotate the view',
      role: 'application',
    });
  }

  build(charts) {
    const { app } = this;
    this.list = new SceneList(app);
    this.charts = charts;
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
      this.app.home.node,
    ]);
    document.body.replaceChildren(
      this.header(),
      this.list.node,
      stage,
      charts.node,
      this.panel.node,
      this.help,
    );
    for (const node of [this.list.node, this.panel.node]) node.tabIndex = -1;
    this.makeRoom();
    NARROW.addEventListener('change', () => this.makeRoom());
    MIDDLE.addEventListener('change', () => this.makeRoom());
    new ResizeObserver(() => {
      if (!app.stage.isResized) return;
      this.setCovered();
      if (app.sims.length) app.draw();
    }).observe(stage);
    this.setTheme(this.savedTheme());
    this.canvas.addEventListener('webglcontextlost', () =>
      this.say('The browser lost the graphics context; reload the page.'),
    );
    listenToKeys(app, this);
    this.listenToDrops();
  }

  listenToDrops() {
    const { classList } = document.body;
    addEventListener('dragover', (event) => {
      event.preventDefault();
      classList.toggle('dropping', event.dataTransfer.types.includes('Files'));
    });
    addEventListener(
      'dragleave',
      ({ relatedTarget }) => relatedTarget ?? classList.remove('dropping'),
    );
    addEventListener('drop', (event) => this.drop(event));
  }

  async drop(event) {
    event.preventDefault();
    document.body.classList.remove('dropping');
    const { droppedFiles, openFiles } = await import('./files.js');
    const files = await droppedFiles(event.dataTransfer);
    if (files.size) await openFiles(this.app, files);
  }

  header() {
    return h('header', { class: 'bar' }, [
      button('menu', 'List of scenes', () => this.toggle('list')),
      h(
        'a',
        { class: 'skip', href: '#stage', onclick: (event) => this.skip(event) },
        'Skip to the scene',
      ),
      h('a', { class: 'brand', href: '#', title: 'First page' }, 'Tenon'),
      this.title,
      button('chart', 'Charts (M)', () => this.toggle('charts')),
      button('two', 'Two side by side (2)', () => this.toggleTwo()),
      button(
        'theme',
        'Light or dark (N)',
        () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'),
        { 'data-home': true },
      ),
      button('help', 'Help (?)', () => this.help.showModal(), { 'data-home': true }),
      button('panel', 'Controls', () => this.toggle('panel')),
    ]);
  }

  skip(event) {
    event.preventDefault();
    this.canvas.focus();
  }

  toggle(which) {
    const { classList } = document.body;
    classList.toggle(`no-${which}`);
    if (NARROW.matches && !classList.contains(`no-${which}`)) {
      for (const other of ['list', 'panel', 'charts']) {
        classList.toggle(`no-${other}`, other !== which);
      }
    }
    this.app.charts.draw();
  }

  toggleTwo() {
    this.app.setTwo(this.app.state.two ? null : this.app.otherWay());
  }

  // In a narrow window the panels are closed at first, and lie over the picture when opened.
  makeRoom() {
    const { classList } = document.body;
    classList.toggle('no-list', MIDDLE.matches);
    classList.toggle('no-panel', NARROW.matches);
    classList.toggle('no-charts', NARROW.matches || innerHeight < LOW);
  }

  // The parts of the stage that other things cover.
  setCovered() {
    const { app, transport } = this;
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const covered = { left: 0, right: 0, top: 0, bottom: 0 };
    if (!app.home.isOn) covered.bottom = (transport.node.offsetHeight + 16) / height;
    else if (width > 760)
      covered.left = (app.home.node.offsetLeft + app.home.node.offsetWidth) / width;
    else covered.top = (app.home.node.offsetTop + app.home.node.offsetHeight) / height;
    app.stage.setCovered(covered);
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
    this.list.setTheme(name);
    try {
      localStorage.setItem('tenon-theme', name);
    } catch {
      // as above
    }
    if (this.app.sims.length) {
      this.app.draw();
    }
  }

  // ---- Display

  setScene() {
    const { scene, state } = this.app;
    this.title.textContent = this.app.home.isOn
      ? 'Physics engine'
      : (scene.label ?? titleOf(scene.name));
    const { isOn: isHome } = this.app.home;
    document.title = isHome
      ? 'Tenon, a physics engine'
      : `${scene.label ?? titleOf(scene.name)} · Tenon`;
    this.list.setScene(isHome ? null : scene.name);
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
    const selected = app.inspector?.label();
    if (selected) labels.unshift({ ...selected, kind: 'selected' });
    while (this.labels.children.length > labels.length) this.labels.lastChild.remove();
    while (this.labels.children.length < labels.length) this.labels.append(h('span'));
    const placed = [];
    labels.forEach(({ at, side, text, kind }, i) => {
      const { x: ideal, y, isBehind } = app.stage.toScreen(at, side);
      const x = Math.min(ideal, app.stage.width - LETTER * text.length - 24);
      const wide = LETTER * text.length + 20;
      const isHidden = placed.some(
        (p) => x < p.x + p.wide && p.x < x + wide && Math.abs(p.y - y) < 22,
      );
      const node = this.labels.children[i];
      node.className = kind;
      node.textContent = text;
      node.hidden = isBehind || (isHidden && kind !== 'hand');
      if (!node.hidden) placed.push({ x, y, wide });
      node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    });
  }
}
