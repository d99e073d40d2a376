// The 3D view: renderer, light, camera, and one or two pictures side by side.
import { PerspectiveCamera, Scene, Vector3 } from 'three';
import { Bodies } from './bodies.js';
import { Controls } from './controls.js';
import { DYNAMIC } from './kinds.js';
import { Ground } from './ground.js';
import { lookOfScene } from './looks.js';
import { Overlay } from './overlay.js';
import { Renderer } from './renderer.js';
import { themeOf } from './theme.js';

// Direction of the sun relative to the camera: azimuth and elevation.
const SUN_SIDE = 1.0;
const SUN_HEIGHT = 1.15;
const SLOW = 24; // ms between pictures
const PATIENCE = 40; // slow pictures before the quality is lowered
const ONE = new Vector3(1, 1, 1);
const FRONT = new Vector3(0.62, 0.36, 0.85).normalize();

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new Renderer(canvas);
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.controls = new Controls(this.camera, canvas, (x, y) => this.rayAt(x, y));
    this.ground = new Ground();
    this.sides = [0, 1].map(() => ({ bodies: new Bodies(), overlay: new Overlay() }));
    this.scene.add(this.ground.group);
    for (const side of this.sides) this.scene.add(side.bodies.group, side.overlay.group);
    this.setTheme('light');
    this.isTwo = false;
    this.travel = new Vector3(); // of the camera behind a followed body
    this.followed = null;
    this.level = 2; // of the picture's quality
    this.slow = 0;
    this.covered = { left: 0, right: 0, top: 0, bottom: 0 };
  }

  // Shares of the window that are covered by panels: the scene is centred in the rest.
  setCovered(covered) {
    this.covered = covered;
    this.shift();
  }

  shift() {
    const { left, right, top, bottom } = this.covered;
    const [w, h] = [this.isTwo ? this.width / 2 : this.width, this.height];
    if (w)
      this.camera.setViewOffset(w, h, ((right - left) / 2) * w, ((bottom - top) / 2) * h, w, h);
  }

  setTheme(name) {
    this.theme = themeOf(name);
    this.renderer.light.skyStrength = this.theme.sky;
    this.renderer.light.sunStrength = this.theme.sun;
    this.ground.setTheme(this.theme);
    for (const side of this.sides) {
      side.bodies.setTheme(this.theme);
      side.overlay.setTheme(this.theme);
    }
  }

  // A new scene: bodies, ground, light; also the camera if none is given.
  setScene(sims, look) {
    sims.forEach((sim, i) => {
      this.sides[i].bodies.rebuild(sim);
      this.sides[i].overlay.clear();
    });
    this.isTwo = sims.length > 1;
    const { near = 1, follow = false, isFit = false, view } = lookOfScene(sims[0].scene);
    const { bodies } = this.sides[0];
    if (isFit) this.fit(bodies.measure(sims[0], true));
    else if (view) this.lookFrom({ eye: view.slice(0, 3), target: view.slice(3) }, near, 1.15);
    else this.lookFrom(look, near, follow ? 0.8 : 1.15);
    this.travel.set(0, 0, 0);
    this.followed = follow ? this.placeOf(sims[0].matrices(), bodies) : null;
    if (this.followed && !isFit) this.aimAt(this.followed);
    this.bounds = bodies.measure(sims[0], true);
    if (this.bounds.isEmpty()) this.bounds.setFromCenterAndSize(this.controls.target, ONE);
    const all = bodies.measure(sims[0], false).union(this.bounds);
    if (!follow && !view && near >= 1) this.stepBack(all);
    this.ground.rebuild(sims[0], bodies.items, this.bounds, all.min.y, this.distance);
    for (const { overlay } of this.sides) overlay.floor = this.ground.height;
    this.placeSun();
  }

  get distance() {
    return this.camera.position.distanceTo(this.controls.target);
  }

  // In a tall window the camera moves back to keep the horizontal field of view.
  lookFrom({ eye, target }, near, wide) {
    this.controls.target.fromArray(target);
    this.camera.position.fromArray(eye);
    const back = near * Math.max(1, wide / this.camera.aspect);
    this.camera.position.sub(this.controls.target).multiplyScalar(back).add(this.controls.target);
    this.camera.near = this.distance / 200;
    this.camera.far = this.distance * 60;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  // The nearest camera that sees the whole box.
  fit(box) {
    const center = box.getCenter(new Vector3());
    const size = box.isEmpty() ? 1 : box.getSize(new Vector3()).length();
    const eye = FRONT.clone()
      .multiplyScalar(0.8 * size)
      .add(center);
    this.lookFrom({ eye: eye.toArray(), target: center.toArray() }, 1, 0);
    this.stepBack(box, 40);
    this.lookFrom({ eye: this.camera.position.toArray(), target: center.toArray() }, 1.25, 0);
  }

  // Moves the camera back until the whole box is visible, up to a limit.
  stepBack(box, most = 12) {
    const corner = new Vector3();
    const { left, right, top, bottom } = this.covered;
    for (let tries = 0; tries < most; ++tries) {
      this.camera.updateMatrixWorld();
      let out = 0;
      for (let i = 0; i < 8; ++i) {
        corner.set(
          i & 1 ? box.max.x : box.min.x,
          i & 2 ? box.max.y : box.min.y,
          i & 4 ? box.max.z : box.min.z,
        );
        corner.project(this.camera);
        const x = Math.abs(corner.x - left + right) / (1 - left - right);
        const y = Math.abs(corner.y + top - bottom) / (1 - top - bottom);
        out = Math.max(out, x, y, corner.z > 1 ? 2 : 0);
      }
      if (out < 0.98) break;
      this.camera.position.sub(this.controls.target).multiplyScalar(1.07).add(this.controls.target);
    }
    this.controls.update();
  }

  // Without the way that the camera has followed a body.
  get look() {
    const [eye, target] = [this.camera.position, this.controls.target].map((place) =>
      place.clone().sub(this.travel).toArray(),
    );
    return { eye, target };
  }

  // Middle of all moving bodies.
  placeOf(matrices, { items }) {
    const sum = new Vector3();
    const at = new Vector3();
    let count = 0;
    items.forEach(({ type }, i) => {
      if (type !== DYNAMIC) return;
      sum.add(at.fromArray(matrices, 16 * i + 12));
      count += 1;
    });
    return count ? sum.divideScalar(count) : null;
  }

  aimAt(point) {
    const way = point.clone().sub(this.controls.target);
    this.controls.target.add(way);
    this.camera.position.add(way);
    this.controls.update();
  }

  // The camera, the sun and the ground move with the followed body.
  follow() {
    if (!this.followed) return;
    const { bodies } = this.sides[0];
    const now = this.placeOf(bodies.shown, bodies);
    if (!now) return;
    const way = now.clone().sub(this.followed);
    this.followed = now;
    if (way.lengthSq() === 0) return;
    this.travel.add(way);
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.bounds.translate(way);
    this.ground.move(this.bounds);
    this.placeSun();
  }

  // Lowers the quality if pictures take long and the simulation is not the cause.
  note(between, simulating) {
    this.slow = Math.max(0, this.slow + (between > SLOW && simulating < 0.5 * SLOW ? 1 : -1));
    if (this.slow < PATIENCE || this.level === 0) return;
    this.slow = 0;
    this.level -= 1;
    this.renderer.hasOcclusion = this.level > 0;
    this.width = 0; // the size is set again
  }

  // The shadow map covers the moving bodies within the view of the camera.
  placeSun() {
    const size = this.bounds.getSize(new Vector3()).length();
    const reach = Math.min(0.75 * size + 0.35 * this.distance, 1.6 * this.distance);
    const center = this.bounds.getCenter(new Vector3());
    if (size > 3 * this.distance) center.copy(this.controls.target);
    const eye = this.camera.position.clone().sub(this.controls.target);
    const angle = Math.atan2(eye.z, eye.x) - SUN_SIDE;
    const way = new Vector3(Math.cos(angle), SUN_HEIGHT, Math.sin(angle)).normalize();
    const { light } = this.renderer;
    const { camera } = light;
    camera.position.copy(center).addScaledVector(way, 4 * reach);
    camera.lookAt(center);
    Object.assign(camera, { left: -reach, right: reach, bottom: -reach, top: reach });
    Object.assign(camera, { near: 0.1 * reach, far: 9 * reach });
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    light.offset = 0.004 * reach;
    this.renderer.reach = 0.03 * this.distance;
  }

  get isResized() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    return this.width !== clientWidth || this.height !== clientHeight;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (width === 0 || height === 0) return;
    if (!this.isResized && this.wasTwo === this.isTwo) return;
    Object.assign(this, { width, height, wasTwo: this.isTwo });
    this.renderer.setSize(width, height, Math.min(devicePixelRatio, this.level > 1 ? 2 : 1));
    const pixel = (2 * Math.tan((Math.PI / 360) * this.camera.fov)) / height;
    for (const { bodies } of this.sides) bodies.least.value = 1.3 * pixel;
    this.shift();
  }

  // Updates the picture from the simulations.
  update(sims, see, share) {
    sims.forEach((sim, i) => {
      this.sides[i].bodies.thinnest = 0.0015 * this.distance;
      this.sides[i].bodies.update(sim, share);
      const { overlay, bodies } = this.sides[i];
      const chosen = this.chosen?.side === i ? this.chosen.joint : -1;
      overlay.update(sim, bodies, see, this.distance, chosen);
    });
    this.ground.update(sims[0].time);
    this.follow();
  }

  render() {
    this.resize();
    this.controls.update();
    const { renderer, width, height } = this;
    const count = this.isTwo ? 2 : 1;
    for (let i = 0; i < count; ++i) {
      this.sides.forEach((side, k) => {
        side.bodies.group.visible = side.overlay.group.visible = k === i;
      });
      const box = [(i * width) / count, 0, width / count, height];
      renderer.render(this.scene, this.camera, this.theme.background, box);
    }
  }

  // The picture that contains a point of the window, and the ray through it.
  rayAt(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const width = this.isTwo ? box.width / 2 : box.width;
    const side = this.isTwo && x - box.left > width ? 1 : 0;
    const u = ((x - box.left - side * width) / width) * 2 - 1;
    const v = 1 - ((y - box.top) / box.height) * 2;
    const way = new Vector3(u, v, 0.5).unproject(this.camera).sub(this.camera.position).normalize();
    return { side, from: this.camera.position.clone(), way };
  }

  // Projects a world point to pixels of the canvas, for a picture.
  toScreen(point, side) {
    const p = new Vector3().fromArray(point).project(this.camera);
    const width = this.isTwo ? this.width / 2 : this.width;
    const isBehind = p.z > 1 || Math.abs(p.x) > 1;
    return {
      x: (p.x + 1) * 0.5 * width + side * width,
      y: (1 - p.y) * 0.5 * this.height,
      isBehind,
    };
  }
}
