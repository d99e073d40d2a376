// Where moving bodies were at equal times before, as on a stroboscopic photograph: fading copies.
import { DYNAMIC } from './kinds.js';
import { Copies } from './things.js';

const MOST = 12; // flashes
const STRONGEST = 0.34; // opacity of the last flash
const STILL = 0.05; // m: bodies at rest leave no copies

export class Strobe {
  constructor(group) {
    this.group = group;
    this.flashes = []; // { number, matrices, meshes }, the oldest first
  }

  clear() {
    this.flashes.forEach((flash) => this.remove(flash));
    this.flashes = [];
  }

  remove({ meshes }) {
    for (const mesh of meshes) {
      this.group.remove(mesh);
      mesh.dispose();
    }
  }

  // `period` is the time between flashes, 0 for none.
  update(bodies, period, time) {
    if (!period) {
      this.clear();
      return;
    }
    const number = Math.floor(time / period + 1e-6);
    while (this.flashes.length && this.flashes.at(-1).number > number)
      this.remove(this.flashes.pop());
    const last = this.flashes.at(-1);
    if (!last || (last.number < number && this.hasMoved(last, bodies)))
      this.flashes.push(this.flash(bodies, number));
    if (this.flashes.length > MOST) this.remove(this.flashes.shift());
    this.flashes.forEach(({ meshes }, i) => {
      const age = (this.flashes.length - i) / MOST;
      for (const { material } of meshes) material.opacity = STRONGEST * (1 - 0.85 * age);
    });
  }

  hasMoved({ matrices }, { items, shown }) {
    return items.some(
      ({ type }, i) =>
        type === DYNAMIC &&
        [12, 13, 14].some((k) => Math.abs(shown[16 * i + k] - matrices[16 * i + k]) > STILL),
    );
  }

  // The geometries are those of the bodies.
  flash({ runs, items, shown }, number) {
    const matrices = shown.slice();
    const moving = runs.filter(({ first }) => items[first].type === DYNAMIC);
    const meshes = moving.map(({ mesh, first, count }) => {
      const copy = new Copies(mesh.geometry, { ...mesh.material, isClear: true }, count);
      copy.matrices.array.set(matrices.subarray(16 * first, 16 * (first + count)));
      copy.colors = mesh.colors?.clone() ?? null;
      this.group.add(copy);
      return copy;
    });
    return { number, matrices, meshes };
  }
}
