// The application: simulations, their history, and all actions on them.
import { Charts } from './charts.js';
import { Sim } from './engine.js';
import { Frame } from './frame.js';
import { Hands } from './hands.js';
import { History } from './history.js';
import { Home } from './home.js';
import { defaultsOf, decode, encode, FILE } from './share.js';
import { Stage } from './stage.js';

const STEP = 1 / 60;
const PATIENCE = 10000; // ms
const METHOD_NAMES = { tenon: 'Tenon', xpbd: 'XPBD', jacobi: 'Jacobi' };
const SLOWEST = 0.1; // s, longest time to catch up after a pause of the page

export class App {
  constructor(engine) {
    this.engine = engine;
    this.sims = [];
    this.histories = [];
    this.isPlaying = false;
    this.speed = 1;
    this.frame = 0;
    this.isTouched = false; // the user changed the world: the address no longer describes it
    this.frameNode = new Frame(this);
    this.stage = new Stage(this.frameNode.canvas);
    this.hands = new Hands(this);
    this.charts = new Charts(this);
    this.home = new Home(this);
    this.frameNode.build(this.charts);
    this.stage.controls.onend = () => this.writeAddress();
    addEventListener('hashchange', () => this.readAddress());
    this.due = 0;
    this.isShown = false; // true once the page has all its parts: until then nothing is drawn
  }

  // Draws once when everything is in its place; what the first picture can do without comes after it.
  begin() {
    this.readAddress();
    this.isShown = true;
    if (!this.isStill) {
      requestAnimationFrame(() => this.firstPicture());
      return;
    }
    this.stage.renderer.addOcclusion();
    if (this.sims.length) this.draw();
    requestAnimationFrame((now) => this.picture(now));
  }

  async firstPicture() {
    const { renderer } = this.stage;
    if (this.sims.length) this.draw();
    await renderer.done();
    performance.mark('picture');
    renderer.addOcclusion();
    requestAnimationFrame((now) => this.picture(now));
  }

  // ---- Scenes

  get scene() {
    const { scene } = this.state ?? {};
    return scene === FILE ? this.fileScene : this.engine.find(scene);
  }

  say(message) {
    this.frameNode.say(message);
  }

  // From the address; invalid parts are reported and ignored.
  readAddress() {
    if (location.hash === this.written && this.sims.length) return;
    const word = new URLSearchParams(location.hash.slice(1)).get('file');
    if (word && word !== this.fileScene?.packed) {
      this.openShared(word);
      return;
    }
    const known = this.fileScene ? [this.fileScene] : [];
    const { state, complaints } = decode(location.hash, [...this.engine.scenes, ...known]);
    if (complaints.length) this.say(`Invalid address: ${complaints.join('; ')}.`);
    if (state) this.load(state);
    else if (!this.sims.length || !complaints.length) this.home.enter();
  }

  // The scene file of an address.
  async openShared(word) {
    try {
      const { readScene, unpacked } = await import('./scenefile.js');
      await readScene(this, await unpacked(word));
      this.written = null;
      this.readAddress();
    } catch (error) {
      this.say(`The scene of this link cannot be opened: ${error.message}.`);
      if (!this.sims.length) this.home.enter();
    }
  }

  // A scene file, a saved state, or a model with the files that it names.
  async openText(text, from) {
    const { openText } = await import('./files.js');
    return openText(this, text, from);
  }

  async edit() {
    const { Editor } = await import('./editor.js');
    this.editor ??= new Editor(this);
    if (document.body.classList.contains('editing')) this.editor.close();
    else await this.editor.open();
  }

  writeAddress(extra = {}) {
    if (this.home.isOn) return location.href;
    const isMoved =
      this.lookAtFirst &&
      this.stage.look.eye.some((x, i) => Math.abs(x - this.lookAtFirst.eye[i]) > 1e-3);
    const look = isMoved ? this.stage.look : null;
    this.written = encode({ ...this.state, look, frame: 0, ...extra }, this.scene);
    history.replaceState(null, '', this.written);
    return location.href;
  }

  load(state) {
    this.home.leave();
    this.loadState(state);
    this.runTo(state.frame);
    this.setPlaying(state.frame === 0 && !this.isStill);
    this.draw();
  }

  loadState(state) {
    this.state = state;
    this.written = location.hash;
    this.start();
    this.frameNode.setScene();
    this.draw();
  }

  // Advances to the frame of the address, within a time limit.
  runTo(frame) {
    const start = performance.now();
    while (this.frame < frame && performance.now() - start < PATIENCE) this.advance();
    if (this.frame < frame) this.say(`Time limit reached at frame ${this.frame} of ${frame}.`);
  }

  // Creates the simulations from the settings.
  start() {
    const { state, scene } = this;
    const ways = [state, ...(state.two ? [{ ...state, ...state.two }] : [])];
    while (this.sims.length > ways.length) this.sims.pop().close();
    const key = scene.from?.path ?? scene.name;
    const before = this.sims.length && this.shown === key ? this.stage.look : null;
    this.hands.forget();
    this.inspector?.clear();
    try {
      this.sims = ways.map((way, i) => {
        const sim = this.sims[i] ?? new Sim();
        sim.open(scene, way);
        return sim;
      });
    } catch (error) {
      this.say(`${scene.name}: ${error.message}`);
      this.state = defaultsOf(scene);
      this.sims = [new Sim()];
      this.sims[0].open(scene, this.state);
    }
    this.histories = this.sims.map((sim) => new History(sim));
    this.histories.forEach((history) => history.keep(0));
    this.frame = 0;
    this.isTouched = false;
    this.gravity = this.sims[0].numbers().gravity;
    this.charts.clear();
    this.stage.isTwo = this.sims.length > 1;
    this.stage.resize();
    this.frameNode.setCovered();
    this.applySee();
    this.stage.setScene(this.sims, { eye: scene.eye, target: scene.target });
    this.lookAtFirst = this.stage.look;
    const look = state.look ?? before;
    if (look) this.lookExactly(look);
    this.shown = key;
    this.noteNumbers();
  }

  lookExactly({ eye, target }) {
    this.stage.controls.target.fromArray(target);
    this.stage.camera.position.fromArray(eye);
    this.stage.controls.update();
  }

  reset() {
    this.start();
    this.draw();
  }

  nameOfSide(side) {
    const { method, substeps } = side ? this.state.two : this.state;
    return `${METHOD_NAMES[method]}, ${substeps} substeps`;
  }

  // ---- Settings

  setParameter(name, value) {
    this.state.params[name] = value;
    this.start();
    this.afterSetting();
  }

  setSolver(change) {
    Object.assign(this.state, change);
    this.interfere(() => this.sims[0].solveBy(this.state), false);
    this.afterSetting();
  }

  setGravity(gravity) {
    this.state.gravity = gravity;
    this.interfere(() => this.sims.forEach((sim) => sim.setGravity(gravity)), false);
    this.afterSetting();
  }

  setTwo(two) {
    this.state.two = two;
    this.start();
    this.afterSetting();
  }

  // Settings of the second simulation.
  otherWay() {
    const { method, substeps } = this.state;
    return { method: method === 'xpbd' ? 'tenon' : 'xpbd', substeps };
  }

  setSee(name, isOn) {
    this.state.see[name] = isOn;
    this.applySee();
    this.afterSetting();
  }

  applySee() {
    for (const { bodies } of this.stage.sides) {
      bodies.setSleep(this.state.see.sleep);
      bodies.setWire(this.state.see.wire);
    }
  }

  afterSetting() {
    this.frameNode.setScene();
    this.writeAddress();
    this.draw();
  }

  // ---- Time

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    this.due = 0;
    this.frameNode.transport.setPlaying(isPlaying);
    this.frameNode.transport.update();
  }

  advance() {
    this.hands.beforeStep();
    const isFine = this.sims.map((sim) => sim.step()).every(Boolean);
    this.frame += 1;
    this.histories.forEach((past) => past.note(this.frame, !!this.hands.held));
    this.noteNumbers();
    if (!isFine) {
      this.setPlaying(false);
      this.say(`A step failed: ${this.sims[0].message() || 'the state is not finite'}.`);
    }
  }

  noteNumbers() {
    this.sims.forEach((sim, i) => this.charts.note(i, sim.numbers(), sim.milliseconds ?? 0));
  }

  stepOnce() {
    this.setPlaying(false);
    this.advance();
    this.draw();
  }

  substepOnce() {
    this.setPlaying(false);
    this.interfere(() => this.sims.forEach((sim) => sim.substep()));
    this.draw();
  }

  goTo(frame) {
    this.setPlaying(false);
    this.hands.forget();
    const past = Math.max(this.histories[0].first, frame);
    this.histories.forEach((history) => history.goTo(past));
    this.frame = past;
    this.noteNumbers();
    this.draw();
  }

  // Changes the world: the history of later frames becomes invalid.
  interfere(change, isTouching = true) {
    const result = change();
    this.isTouched ||= isTouching || this.frame > 0;
    this.histories.forEach((history) => history.keep(this.frame));
    if (!this.isPlaying) this.draw();
    return result;
  }

  // ---- Selection

  // What was clicked; the card is loaded when first needed.
  async select(clicked) {
    if (this.home.isOn) return;
    if (!this.inspector) {
      const { Inspector } = await import('./inspect.js');
      this.inspector ??= new Inspector(this);
    }
    this.inspector.pick(clicked.x, clicked.y, clicked);
  }

  // ---- Pictures

  picture(now) {
    requestAnimationFrame((next) => this.picture(next));
    const between = now - (this.before ?? now);
    const passed = Math.min(SLOWEST, between / 1000);
    this.before = now;
    if (!this.sims.length || this.isStill) return;
    try {
      if (this.isPlaying) {
        this.play(passed);
        const simulating = this.sims.reduce((sum, { milliseconds = 0 }) => sum + milliseconds, 0);
        this.stage.note(between, simulating);
      }
    } catch (error) {
      this.setPlaying(false);
      this.say(`The engine stopped: ${error.message}. Restart the scene (R).`);
    }
    this.render();
  }

  play(passed) {
    this.due = Math.min(this.due + passed * this.speed, 3 * STEP);
    let isNew = false;
    while (this.due >= STEP && this.isPlaying) {
      this.due -= STEP;
      if (this.speed < 1)
        this.stage.sides.forEach(({ bodies }, i) => this.sims[i] && bodies.remember(this.sims[i]));
      const start = performance.now();
      this.advance();
      isNew = true;
      // Scenes that are too slow run in slow motion without skipping frames.
      if (performance.now() - start > 10) this.due = Math.min(this.due, STEP * 0.99);
    }
    if (isNew || this.speed < 1) this.show(this.speed < 1 ? this.due / STEP : 1);
  }

  show(share) {
    this.stage.update(this.sims, this.state.see, share);
    this.charts.update(this.frame);
    this.frameNode.transport.update();
    this.inspector?.update();
    if (this.home.isOn) this.home.update();
  }

  draw() {
    if (!this.isShown) return;
    this.stage.update(this.sims, this.state.see, 1);
    this.charts.draw();
    this.frameNode.transport.update();
    this.inspector?.update(true);
    this.render();
  }

  render() {
    this.stage.render();
    this.frameNode.label();
  }
}
