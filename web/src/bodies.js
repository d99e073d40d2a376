// All shapes of a simulation, with one instanced mesh for each run of equal shapes.
import { Box3, Color, Group, InstancedBufferAttribute, Matrix4, Vector3 } from 'three';
import { DYNAMIC, KIND, STATIC } from './kinds.js';
import { geometryFor, isRounded, sizeOf } from './geometry.js';
import { lookOfScene, MATERIALS, shade } from './looks.js';
import { Surfaces } from './surfaces.js';
import { bodyColors } from './theme.js';
import { Copies, paint } from './things.js';

const isRun = (a, b) =>
  a.kind === b.kind &&
  a.geometry === b.geometry &&
  a.isGlass === b.isGlass &&
  a.material === b.material &&
  (a.geometry < 0 || a.radius === b.radius);

// Vertical walls would hide their contents: they are drawn as glass, and so are sensors.
function isWall(item, matrices, index) {
  if (item.kind !== KIND.box || item.type !== STATIC) return false;
  const sorted = [...item.extents].sort((a, b) => a - b);
  const thin = item.extents.indexOf(sorted[0]);
  const upright = Math.abs(matrices[16 * index + 4 * thin + 1]) < 0.3;
  return upright && 4 * sorted[0] < sorted[1];
}

export class Bodies {
  constructor() {
    this.group = new Group();
    this.surfaces = new Surfaces();
    this.group.add(this.surfaces.group);
    this.runs = [];
    this.items = [];
    this.showsSleep = true;
    this.isWire = false;
    this.thinnest = 0; // m, of ropes
    this.least = { value: 0.001 }; // smallest half width per metre of distance
  }

  clear() {
    for (const { mesh } of this.runs) {
      this.group.remove(mesh);
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.runs = [];
  }

  // Lists all shapes again; needed after shapes were added or removed.
  rebuild(sim) {
    this.clear();
    this.items = sim.items();
    const matrices = sim.matrices();
    const moving = this.items.filter(({ type }) => type === DYNAMIC);
    this.first = moving.reduce((least, { body }) => Math.min(least, body), Infinity);
    this.movingCount = moving.length;
    const areMassesGlass =
      lookOfScene(sim.scene).areMassesGlass && moving.some(({ isMass }) => !isMass);
    this.items.forEach((item, i) => {
      item.number = item.body - this.first; // among moving bodies, in the order of creation
      item.isGlass = item.sensor || isWall(item, matrices, i) || (areMassesGlass && item.isMass);
      Object.assign(item, this.lookOf(sim, item));
    });
    this.previous = null;
    this.sleeping = null;
    for (let first = 0; first < this.items.length; ) {
      let end = first + 1;
      while (end < this.items.length && isRun(this.items[first], this.items[end])) ++end;
      if (this.items[first].kind !== KIND.plane) this.addRun(sim, first, end - first);
      first = end;
    }
    this.surfaces.rebuild(sim);
    this.girth = this.findGirth();
  }

  // Material and colour of a shape.
  lookOf({ scene }, item) {
    const { look, still } = lookOfScene(scene);
    const special = (item.type === DYNAMIC ? look : still)?.(item, this.movingCount);
    const usual = item.kind === KIND.wire ? 'steel' : item.type === STATIC ? 'stone' : 'paint';
    const material = special?.material ?? (item.belt ? 'belt' : usual);
    return { material, color: special?.color ?? MATERIALS[material].color };
  }

  // Half the typical thickness of moving bodies: joint markers must not hide them.
  findGirth() {
    const list = [];
    for (const { mesh, first, count } of this.runs) {
      if (this.items[first].type !== DYNAMIC) continue;
      mesh.geometry.computeBoundingBox();
      const own = mesh.geometry.boundingBox.getSize(new Vector3());
      for (let i = first; i < first + count; ++i) {
        const item = this.items[i];
        const size = isRounded(item.kind) ? thicknessOf(sizeOf(item)) : Math.min(...own);
        list.push(0.5 * size);
      }
    }
    list.sort((a, b) => a - b);
    return list.length ? list[list.length >> 1] : Infinity;
  }

  addRun(sim, first, count) {
    const item = this.items[first];
    const rounded = isRounded(item.kind);
    const geometry = geometryFor(sim, item, first, count);
    const { rough, metal, pattern, scale } = { ...paint(), ...MATERIALS[item.material] };
    const surface = { rough, metal, pattern, scale };
    const material = paint({ isWire: this.isWire, isDouble: item.kind >= KIND.plane, ...surface });
    if (item.isGlass) Object.assign(material, { isClear: true, opacity: 0.16 });
    const mesh = new Copies(geometry, material, count);
    if (rounded) {
      const sizes = this.items.slice(first, first + count).flatMap(sizeOf);
      geometry.setAttribute('size', new InstancedBufferAttribute(new Float32Array(sizes), 4));
      material.least = this.least;
    }
    mesh.castShadow = !item.isGlass;
    this.group.add(mesh);
    this.runs.push({ mesh, first, count });
  }

  // `share` is the position of the picture between the last two steps.
  update(sim, share = 1) {
    if (sim.changed) this.rebuild(sim);
    const now = sim.matrices().slice(); // a copy: the next call reuses the memory
    const between = share < 1 && this.previous?.length === now.length;
    this.shown = between
      ? now.map((x, i) => this.previous[i] + (x - this.previous[i]) * share)
      : now;
    for (const { mesh, first, count } of this.runs) {
      mesh.matrices.array.set(this.shown.subarray(16 * first, 16 * (first + count)));
      mesh.matrices.needsUpdate = true;
    }
    this.moveBelts(sim.time);
    this.surfaces.update(sim, this.thinnest);
    this.color(sim);
  }

  // The stripes of a belt are a share of its length apart.
  moveBelts(time) {
    for (const { mesh, first } of this.runs) {
      const { belt, extents } = this.items[first];
      if (!belt) continue;
      const periods = (MATERIALS.belt.scale * belt * time) / Math.max(...extents);
      mesh.material.pattern = MATERIALS.belt.pattern + (((periods % 1) + 1) % 1) * 0.999;
    }
  }

  // Call before a step whose picture is interpolated.
  remember(sim) {
    this.previous = sim.changed ? null : sim.matrices().slice();
  }

  color(sim) {
    const sleeping = sim.asleep(this.items.length);
    if (this.sleeping && this.sleeping.every((was, i) => was === sleeping[i])) return;
    this.sleeping = sleeping.slice();
    const mixed = new Color();
    for (const { mesh, first, count } of this.runs) {
      for (let i = 0; i < count; ++i) {
        mixed.copy(this.colorOf(this.items[first + i]));
        if (this.showsSleep && sleeping[first + i]) mixed.lerp(this.theme.asleep, 0.62);
        mesh.setColorAt(i, mixed);
      }
      mesh.colors.needsUpdate = true;
    }
  }

  colorOf(item) {
    if (item.color) return shade(item.color);
    if (item.type === STATIC) return this.theme.fixed;
    if (item.type !== DYNAMIC) return this.theme.moved;
    // Golden-ratio steps: neighbours get different colours.
    return bodyColors[Math.floor(((item.body * 0.618034) % 1) * bodyColors.length)];
  }

  setTheme(theme) {
    this.theme = theme;
    this.sleeping = null;
  }

  setSleep(shows) {
    this.showsSleep = shows;
    this.sleeping = null;
  }

  setWire(isWire) {
    this.isWire = isWire;
    for (const { mesh } of this.runs) mesh.material.isWire = isWire;
    this.surfaces.setWire(isWire);
  }

  // Bounding box of all drawn shapes except planes and glass; `moving` excludes static ones.
  measure(sim, moving) {
    const matrices = sim.matrices();
    const box = new Box3();
    for (const { mesh, first, count } of this.runs) {
      mesh.geometry.computeBoundingBox();
      for (let i = first; i < first + count; ++i) {
        const item = this.items[i];
        if (item.isGlass || (moving && item.type === STATIC)) continue;
        const own = isRounded(item.kind) ? boxOf(sizeOf(item)) : mesh.geometry.boundingBox.clone();
        box.union(own.applyMatrix4(new Matrix4().fromArray(matrices, 16 * i)));
      }
    }
    return this.surfaces.measure(sim, box);
  }
}

const thicknessOf = ([x, y, z, w]) => 2 * (Math.min(x, y, z) + w);

function boxOf([x, y, z, w]) {
  const half = new Vector3(x + w, y + w, z + w);
  return new Box3(half.clone().negate(), half);
}
