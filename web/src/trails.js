// Paths of bodies and of rods' ends in the last second, as fading lines.
import { BufferAttribute, BufferGeometry } from 'three';
import { DYNAMIC } from './kinds.js';
import { Lines, paint } from './things.js';

const LENGTH = 60; // pictures
const MOST = 300; // bodies

export class Trails {
  constructor(group) {
    this.mesh = new Lines(new BufferGeometry(), paint({ isLit: false, isClear: true }));
    group.add(this.mesh);
    this.clear();
  }

  clear() {
    this.past = [];
    this.mesh.visible = false;
  }

  update(bodies, isOn, sim) {
    this.mesh.visible = isOn;
    if (!isOn) {
      this.past = [];
      return;
    }
    const now = [];
    bodies.items.forEach((item, i) => {
      if (item.type === DYNAMIC && now.length < 3 * MOST) {
        now.push(...bodies.shown.subarray(16 * i + 12, 16 * i + 15));
      }
    });
    sim.softs().forEach(({ particles, triangles }, i) => {
      if (triangles === 0 && particles === 2) now.push(...sim.particles(i));
    });
    if (this.past.length && this.past[0].length !== now.length) this.past = [];
    this.past.push(now);
    if (this.past.length > LENGTH) this.past.shift();
    this.draw(now.length / 3);
  }

  draw(count) {
    const pieces = Math.max(0, this.past.length - 1);
    const positions = new Float32Array(6 * pieces * count);
    const colors = new Float32Array(8 * pieces * count);
    const { r, g, b } = this.color;
    let at = 0;
    for (let k = 0; k < pieces; ++k) {
      for (let i = 0; i < count; ++i, ++at) {
        positions.set(this.past[k].slice(3 * i, 3 * i + 3), 6 * at);
        positions.set(this.past[k + 1].slice(3 * i, 3 * i + 3), 6 * at + 3);
        colors.set([r, g, b, k / pieces, r, g, b, (k + 1) / pieces], 8 * at);
      }
    }
    this.mesh.geometry.dispose();
    this.mesh.geometry = new BufferGeometry();
    this.mesh.geometry.setAttribute('position', new BufferAttribute(positions, 3));
    this.mesh.geometry.setAttribute('color', new BufferAttribute(colors, 4));
  }
}
