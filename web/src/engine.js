// Running scenes, on the npm package: what the page shows and changes of a world, as plain numbers.
import { SceneWorld, STEP, scenes, version } from 'tenon-physics/scenes';
import { CONTACT_NUMBERS, readContacts } from 'tenon-physics/view';
import { Hand } from './hand.js';
import { Drawing } from './items.js';

const FRAME = 1 / 60;
const FAILED = STEP.REJECTED | STEP.OUT_OF_MEMORY | STEP.NON_FINITE;
const ORIGIN = [0, 0, 0];

// A scene of the package as the page knows it.
export const sceneOf = ({ camera, settings, ...facts }) => ({ ...facts, ...camera, ...settings });

export class Engine {
  constructor() {
    this.version = version();
    this.scenes = scenes().map(sceneOf);
  }

  find(name) {
    return this.scenes.find((scene) => scene.name === name);
  }
}

export class Sim {
  world = null;
  told = '';
  peak = { gap: 0, angle: 0 }; // since they were last asked for
  drives = []; // of the user: set again after the scene has set its own

  get isOpen() {
    return this.world !== null;
  }

  // settings: { params, method, substeps, iterations, gravity }; throws an Error on failure.
  open(scene, { params, method, substeps, iterations, gravity }) {
    this.close();
    const source = scene.file ?? { scene: scene.name, parameters: params };
    const world = new SceneWorld(source, { method, substeps, iterations });
    world.onMessage = (level, text) => {
      if (level !== 'info') this.told = text;
    };
    Object.assign(this, { world, scene, told: '', drives: [], peak: { gap: 0, angle: 0 } });
    world.onDrive = () => this.drives.forEach((drive) => this.setAgain(drive));
    this.drawing = new Drawing(world);
    this.hand = new Hand(world, this.drawing);
    if (gravity) this.setGravity(gravity);
  }

  close() {
    this.world?.dispose();
    this.world = null;
  }

  // The last message, once.
  message() {
    const text = this.told;
    this.told = '';
    return text;
  }

  // What of a model has no effect.
  get notes() {
    return this.world.notes;
  }

  solveBy({ method, substeps, iterations }) {
    this.world.setMethod(method);
    this.world.setSubsteps(substeps);
    this.world.setIterations(iterations);
  }

  setGravity(gravity) {
    this.world.setGravity(gravity);
  }

  // ---- Steps

  step() {
    const start = performance.now();
    const status = this.tried(() => this.world.advance(FRAME));
    this.milliseconds = performance.now() - start;
    const { gap, angle } = this.world.observe(FRAME);
    this.peak.gap = Math.max(this.peak.gap, gap);
    this.peak.angle = Math.max(this.peak.angle, angle);
    return !(status & FAILED);
  }

  // A rejected step is an exception of the package.
  tried(step) {
    try {
      return step();
    } catch (error) {
      this.told = error.message;
      return STEP.REJECTED;
    }
  }

  // A step of the length of a substep, with one substep.
  substep() {
    const substeps = this.world.substeps();
    this.world.setSubsteps(1);
    const status = this.tried(() => this.world.step(FRAME / substeps));
    this.world.setSubsteps(substeps);
    return !(status & FAILED);
  }

  get time() {
    return this.world.time;
  }

  hash() {
    return this.world.hash().toString(16).padStart(16, '0');
  }

  numbers() {
    const { world, peak } = this;
    const momentum = world.momentum(ORIGIN);
    const numbers = {
      time: world.time,
      ...world.energy(),
      momentum: Math.hypot(...momentum.linear),
      angular: Math.hypot(...momentum.angular),
      ...peak,
      penetration: this.deepest(),
      ...world.counters(),
      gravity: world.gravity(),
      ...world.profile(),
    };
    this.peak = { gap: 0, angle: 0 };
    return numbers;
  }

  deepest() {
    const numbers = readContacts(this.world);
    let least = 0;
    for (let i = CONTACT_NUMBERS - 1; i < numbers.length; i += CONTACT_NUMBERS)
      least = Math.min(least, numbers[i]);
    return -least;
  }

  metrics() {
    return Object.entries(this.world.metrics());
  }

  save() {
    return this.world.save();
  }

  restore(state) {
    try {
      this.world.restore(state);
    } catch (error) {
      this.told = error.message;
      return false;
    }
    this.drawing.isDirty = true;
    this.hand.forget();
    return true;
  }

  // ---- Drawing

  get changed() {
    return this.drawing.changed;
  }

  items() {
    return this.drawing.list();
  }

  surface(item) {
    return this.drawing.surface(item);
  }

  matrices() {
    return this.drawing.matrices();
  }

  asleep() {
    return this.drawing.asleep();
  }

  joints() {
    return this.drawing.joints((id) => this.hand.isOwn(id));
  }

  contacts() {
    return this.drawing.contacts();
  }

  ropes() {
    return this.drawing.ropes();
  }

  brackets() {
    return this.drawing.brackets();
  }

  limits(index, reach) {
    return this.drawing.limits(index, reach);
  }

  softs() {
    return this.drawing.softs();
  }

  softTriangles(index) {
    return this.world.softTriangles(this.world.softs()[index]);
  }

  particles(index) {
    return this.world.softPositions(this.world.softs()[index]);
  }

  // Ends of lines, six numbers each, and their colours; `what` is that of debugLines().
  lines(what) {
    const { points, colors } = this.world.debugLines(what);
    return { ends: points, colors };
  }

  // ---- Facts about what is selected

  bodyFacts(item) {
    return this.drawing.bodyFacts(item);
  }

  jointFacts(index) {
    return this.drawing.jointFacts(index);
  }

  isSpring(index) {
    return this.drawing.isSpring(index);
  }

  // Numbers of the joints that hold the body of an item.
  jointsOf(item) {
    return this.drawing.jointsOf(item);
  }

  // `what`: target, velocity or force of the drive of an axis.
  setDrive(index, axis, what, value) {
    const joint = this.world.joints()[index];
    if (joint === undefined) return;
    const isSame = (drive) => drive.joint === joint && drive.axis === axis && drive.what === what;
    this.drives = this.drives.filter((drive) => !isSame(drive));
    this.drives.push({ joint, axis, what, value });
    this.setAgain(this.drives.at(-1));
  }

  setAgain({ joint, axis, what, value }) {
    if (!this.world.isJointValid(joint)) return;
    const drive = this.world.jointDrive(joint, axis);
    this.world.setJointDrive(joint, axis, { ...drive, [what]: value });
  }

  // ---- Interaction

  pick(from, way) {
    return this.hand.pick(from, way);
  }

  massOf(item) {
    return this.hand.massOf(item);
  }

  grab(item, point, compliance) {
    return this.hand.grab(item, point, compliance);
  }

  dragTo(point) {
    this.hand.dragTo(point);
  }

  holdForce() {
    return this.hand.force();
  }

  letGo() {
    this.hand.letGo();
  }

  pin(item) {
    return this.hand.pin(item);
  }

  throwAt(item, point, velocity) {
    this.hand.throwAt(item, point, velocity);
  }

  remove(item) {
    return this.hand.remove(item);
  }

  spawn(kind, at, velocity, size) {
    this.hand.spawn(kind, at, velocity, size);
  }
}
