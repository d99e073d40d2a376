// Pulling, throwing, pinning, deleting and creating bodies with the pointer.
import { Plane, Vector3 } from 'three';
import { number } from './dom.js';

const THROW = 4; // m/s per metre of pulling back
const CLICK = 4; // pixels: a shorter movement is a click, which selects
const PATIENCE = 250; // ms, a longer press takes hold
const STIFF = 200; // N/m per kg: a held body sags by g / STIFF

export class Hands {
  constructor(app) {
    this.app = app;
    this.tool = 'drag';
    this.compliance = null; // null: chosen by the mass of the body
    this.held = null;
    this.onauto = () => {};
    const { canvas } = app.stage;
    // Handled before the camera controls.
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, (event) => this.up(event));
    }
  }

  pickAt(event) {
    const { app } = this;
    const ray = app.stage.rayAt(event.clientX, event.clientY);
    const sim = app.sims[ray.side];
    const far = app.stage.distance * 40;
    const hit = sim.pick(ray.from.toArray(), ray.way.clone().multiplyScalar(far).toArray());
    return { ...ray, sim, hit };
  }

  down(event) {
    if (event.button !== 0 || this.held) return;
    const found = this.pickAt(event);
    const { sim, side, from, way, hit } = found;
    this.clicked = this.tool === 'drag' ? { ...found, x: event.clientX, y: event.clientY } : null;
    const isBody = hit && sim.massOf(hit.item) > 0;
    if (['box', 'ball', 'ragdoll', 'cloth'].includes(this.tool)) {
      this.make(sim, hit, from, way);
    } else if (!isBody) {
      return; // left to the camera controls
    } else if (this.tool === 'pin') {
      this.app.interfere(() => sim.pin(hit.item));
    } else if (this.tool === 'delete') {
      this.app.interfere(() => sim.remove(hit.item));
    } else {
      this.take(sim, side, hit, event);
    }
    this.app.stage.controls.enabled = false;
    setTimeout(() => (this.app.stage.controls.enabled = !this.held));
  }

  make(sim, hit, from, way) {
    const size = Math.max(0.02, 0.035 * this.app.stage.distance);
    const at = hit
      ? new Vector3(...hit.point).add(new Vector3(0, 3 * size, 0))
      : from.clone().addScaledVector(way, this.app.stage.distance);
    this.app.interfere(() => sim.spawn(this.tool, at.toArray(), [0, 0, 0], size));
  }

  take(sim, side, hit, event) {
    const { app } = this;
    const point = new Vector3(...hit.point);
    const facing = app.stage.camera.getWorldDirection(new Vector3());
    this.held = { sim, side, item: hit.item, start: point.clone(), at: point };
    this.held.plane = new Plane().setFromNormalAndCoplanarPoint(facing, point);
    this.held.isThrow = this.tool === 'throw';
    this.held.items = app.stage.sides[side].bodies.items;
    this.held.isWaiting = !this.held.isThrow;
    if (this.held.isWaiting) this.timer = setTimeout(() => this.grab(), PATIENCE);
    app.stage.canvas.setPointerCapture?.(event.pointerId);
  }

  // The pulling spring, once it is clear that this is no click.
  grab() {
    clearTimeout(this.timer);
    if (!this.held?.isWaiting) return;
    const { sim, item, start } = this.held;
    this.held.isWaiting = false;
    this.clicked = null;
    const compliance = this.compliance ?? 1 / (STIFF * sim.massOf(item));
    if (this.compliance === null) this.onauto(compliance);
    this.app.interfere(() => sim.grab(item, start.toArray(), compliance));
  }

  isAway({ clientX, clientY }) {
    const { clicked } = this;
    return clicked && Math.hypot(clientX - clicked.x, clientY - clicked.y) > CLICK;
  }

  move(event) {
    if (this.isAway(event)) {
      this.clicked = null;
      this.grab();
    }
    if (!this.held) {
      if (event.pointerType === 'mouse' && event.buttons === 0) this.hover(event);
      return;
    }
    const { from, way } = this.app.stage.rayAt(event.clientX, event.clientY);
    const distance = this.held.plane.normal.dot(this.held.start.clone().sub(from));
    const along = this.held.plane.normal.dot(way);
    if (along > 1e-3) this.held.at = from.addScaledVector(way, distance / along);
  }

  hover(event) {
    const now = performance.now();
    if (now - (this.lastHover ?? 0) < 60) return;
    this.lastHover = now;
    const { sim, hit } = this.pickAt(event);
    const isBody = hit && sim.massOf(hit.item) > 0;
    this.app.stage.canvas.style.cursor = isBody ? 'grab' : '';
  }

  up(event) {
    const { clicked } = this;
    this.clicked = null;
    clearTimeout(this.timer);
    if (clicked && event.type === 'pointerup') this.app.select(clicked);
    if (!this.held) return;
    const { sim, item, start, at, isThrow, isWaiting } = this.held;
    this.held = null;
    this.app.stage.controls.enabled = true;
    if (isWaiting) return;
    if (isThrow) {
      const velocity = start.clone().sub(at).multiplyScalar(THROW).toArray();
      this.app.interfere(() => sim.throwAt(item, start.toArray(), velocity));
    } else {
      this.app.interfere(() => sim.letGo());
    }
  }

  // The world was changed otherwise: release the hold.
  forget() {
    clearTimeout(this.timer);
    this.held = null;
    this.app.stage.controls.enabled = true;
  }

  beforeStep() {
    if (this.held && !this.held.isThrow && !this.held.isWaiting)
      this.held.sim.dragTo(this.held.at.toArray());
  }

  // Text and position of the label beside the pointer.
  label() {
    if (!this.held || this.held.isWaiting) return null;
    const { sim, side, at, start, isThrow } = this.held;
    const text = isThrow
      ? number(start.distanceTo(at) * THROW, 'm/s')
      : number(sim.holdForce(), 'N');
    return { at: at.toArray(), side, text };
  }
}
