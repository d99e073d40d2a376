// The ground: planes of the scene, or a floor far below all moving bodies, with a fading grid.
import { Color, Group, Matrix4, Vector3 } from 'three';
import { KIND } from './kinds.js';
import { bakedGeometry, unitSquare } from './geometry.js';
import { lookOf, MATERIALS, shade } from './looks.js';
import { PATTERNS } from './shaders.js';
import { paint, Thing } from './things.js';

// A ramp, in sizes of what is on it: half of its width and thickness, and what is up the slope.
const BOARD = { thick: 0.08, wide: 0.8, above: 1.6 };
const FAR = 8; // size of the plane over its visible part, for a camera that follows a body

export class Ground {
  constructor() {
    this.group = new Group();
    this.color = new Color();
    this.gridColor = new Color();
    this.beltColor = new Color();
    this.geometry = unitSquare();
  }

  // `bounds` is the box of moving bodies, `lowest` the lowest height of all shapes; the distance of
  // the camera determines the size of the grid.
  rebuild(sim, items, bounds, lowest, distance) {
    for (const { geometry } of this.group.children) geometry.dispose();
    this.group.clear();
    const size = bounds.getSize(new Vector3()).length();
    const reach = Math.max(4 * distance, 2.5 * size);
    const cell = 10 ** Math.round(Math.log10(distance / 12));
    const matrices = sim.matrices();
    const planes = items.flatMap((item, i) =>
      item.kind === KIND.plane
        ? [Object.assign(new Matrix4().fromArray(matrices, 16 * i), { belt: item.belt })]
        : [],
    );
    const middle = bounds.getCenter(new Vector3());
    if (planes.length === 0) {
      const below = Math.min(bounds.min.y - 0.75 * size, lowest - 0.02 * distance);
      planes.push(new Matrix4().makeTranslation(0, below, 0));
    }
    this.height = planes[0].elements[13];
    for (const matrix of planes) {
      const { ramp } = lookOf(sim.scene?.name);
      const isRamp = ramp && matrix.elements[5] < 0.999;
      const floor = isRamp ? this.addBoard(matrix, middle, size, ramp) : matrix;
      this.add(floor, cell, reach, middle);
    }
  }

  // A board along an inclined plane, which descends along its x axis, of half a length in sizes of what is
  // on it; returns a level floor below.
  addBoard(matrix, middle, size, half) {
    const extents = [half, BOARD.thick, BOARD.wide].map((x) => x * size);
    const geometry = bakedGeometry(null, { kind: KIND.box, extents }, 0);
    const mesh = new Thing(
      geometry,
      paint({ ...MATERIALS.wood, scale: 0.4, color: shade('#c98f55') }),
    );
    const center = middle.clone().applyMatrix4(matrix.clone().invert());
    center.set(center.x + extents[0] - BOARD.above * size, -extents[1], center.z);
    mesh.applyMatrix4(matrix.clone().multiply(new Matrix4().makeTranslation(...center)));
    mesh.castShadow = true;
    this.group.add(mesh);
    const low = new Vector3(center.x + extents[0], -extents[1], center.z).applyMatrix4(matrix);
    return new Matrix4().makeTranslation(0, low.y, 0);
  }

  // Centres the visible part anew; the grid stays where it is.
  move(bounds) {
    const middle = bounds.getCenter(new Vector3());
    for (const { material, matrix } of this.group.children) {
      if (!material.grid) continue;
      const local = middle.clone().applyMatrix4(matrix.clone().invert());
      Object.assign(material.grid, { x: local.x, y: local.z });
    }
  }

  add(matrix, cell, reach, middle) {
    const local = middle.clone().applyMatrix4(matrix.clone().invert());
    const far = FAR * reach;
    const geometry = this.geometry.clone().scale(far, 1, far).translate(local.x, 0, local.z);
    const grid = { cell, reach, x: local.x, y: local.z, color: this.gridColor };
    const mesh = new Thing(
      geometry,
      paint({ color: this.color, isClear: true, rough: 0.95, grid }),
    );
    if (matrix.belt) Object.assign(mesh, { belt: matrix.belt, cell });
    if (matrix.belt) mesh.material.color = this.beltColor;
    mesh.applyMatrix4(matrix);
    mesh.renderOrder = -1;
    this.group.add(mesh);
  }

  // Belts move; every tenth line of the grid is a stronger one.
  update(time) {
    for (const { belt, cell, material } of this.group.children) {
      if (!belt) continue;
      const periods = (belt * time) / (10 * cell);
      material.pattern = PATTERNS.belt + (((periods % 1) + 1) % 1) * 0.999;
    }
  }

  setTheme(theme) {
    this.color.copy(theme.ground);
    this.beltColor.copy(theme.ground).multiplyScalar(0.45);
    this.gridColor.copy(theme.grid);
  }
}
