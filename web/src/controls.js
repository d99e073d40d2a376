// The camera by pointer: one finger or the left button rotates it about its target, two fingers or
// another button move it, pinching or the wheel moves it towards the place under the pointer.
import { Vector3 } from 'three';

const TURN = 2.2; // radians for a drag over the height of the window, over pi
const FADE = 0.88; // of the rotation's speed, per picture
const WHEEL = 0.0012; // per pixel
const STEEPEST = 0.02; // rad from the vertical

export class Controls {
  // rayAt: of a place of the window, as in Stage.
  constructor(camera, canvas, rayAt) {
    Object.assign(this, { camera, canvas, rayAt, enabled: true, canZoom: true });
    this.target = new Vector3();
    this.speed = { x: 0, y: 0 };
    this.pointers = new Map();
    this.onend = () => {};
    canvas.style.touchAction = 'none';
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, (event) => this.up(event));
    }
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  }

  get offset() {
    return this.camera.position.clone().sub(this.target);
  }

  down(event) {
    if (!this.enabled) return;
    this.pointers.set(event.pointerId, event);
    this.speed = { x: 0, y: 0 };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    const other = [...this.pointers.values()].find(
      ({ pointerId }) => pointerId !== event.pointerId,
    );
    this.pointers.set(event.pointerId, event);
    if (other) {
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      const middle = [event, other].map((one) => [one.clientX / 2, one.clientY / 2]);
      this.pan(dx / 2, dy / 2);
      this.zoom(
        apart(before) / Math.max(1, apart(event)),
        ...middle[0].map((x, i) => x + middle[1][i]),
      );
    } else if (event.buttons & 1 && !event.shiftKey) {
      const turn = (TURN * Math.PI) / this.canvas.clientHeight;
      this.speed.x += (1 - FADE) * dx * turn;
      this.speed.y += (1 - FADE) * dy * turn;
    } else {
      this.pan(dx, dy);
    }
  }

  up(event) {
    if (this.pointers.delete(event.pointerId)) this.onend();
  }

  wheel(event) {
    if (!this.enabled || !this.canZoom) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode ? 20 : event.ctrlKey ? 8 : 1);
    this.zoom(Math.exp(WHEEL * pixels), event.clientX, event.clientY);
    this.onend();
  }

  rotate(x, y) {
    const offset = this.offset;
    const away = offset.length();
    const around = Math.atan2(offset.x, offset.z) - x;
    const lean = Math.acos(offset.y / away) - y;
    const down = Math.min(Math.PI - STEEPEST, Math.max(STEEPEST, lean));
    const level = away * Math.sin(down);
    const way = [level * Math.sin(around), away * Math.cos(down), level * Math.cos(around)];
    this.camera.position.fromArray(way).add(this.target);
  }

  // By pixels of the window, at the distance of the target.
  pan(dx, dy) {
    const metre = this.offset.length() * 2 * Math.tan((Math.PI / 360) * this.camera.fov);
    const scale = metre / this.canvas.clientHeight;
    const axis = (i) => new Vector3().setFromMatrixColumn(this.camera.matrixWorld, i);
    const way = axis(0)
      .multiplyScalar(-dx * scale)
      .addScaledVector(axis(1), dy * scale);
    this.target.add(way);
    this.camera.position.add(way);
  }

  // Camera and target move towards the point under the pointer, at the distance of the target.
  zoom(factor, x, y) {
    const { from, way } = this.rayAt(x, y);
    const forward = this.offset.negate();
    const away = forward.length();
    const along = way.dot(forward.normalize());
    const point = from.clone().addScaledVector(way, away / Math.max(0.1, along));
    for (const place of [this.camera.position, this.target]) {
      place.sub(point).multiplyScalar(factor).add(point);
    }
  }

  // Call for every picture.
  update() {
    const { x, y } = this.speed;
    if (Math.abs(x) + Math.abs(y) > 1e-5) {
      // What is left of the rotation is spread over the next pictures.
      this.rotate(x, y);
      this.speed = { x: x * FADE, y: y * FADE };
    } else if (x || y) {
      this.speed = { x: 0, y: 0 };
      this.onend();
    }
    this.camera.lookAt(this.target);
  }
}
