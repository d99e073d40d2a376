// Drawable objects: a mesh, lines, or instances of a geometry with a material. Those of three.js
// would include its materials and picking.
import { Color, InstancedBufferAttribute, Object3D } from 'three';

// A material.
export const paint = (look = {}) => ({
  color: new Color('white'),
  isLit: true,
  isWire: false, // edges of triangles only
  isDouble: false, // visible from both sides
  isClear: false, // transparent
  isThrough: false, // visible through objects in front
  opacity: 1,
  rough: 0.6,
  metal: 0,
  pattern: 0,
  scale: 1, // of the pattern
  grid: null, // { cell, reach, x, y, color }
  least: { value: 0 }, // smallest half width per metre of distance
  ...look,
});

export class Thing extends Object3D {
  constructor(geometry, material) {
    super();
    this.geometry = geometry;
    this.material = material;
    this.isLines = false;
    this.count = 1;
  }
}

// Every two vertices form a line.
export class Lines extends Thing {
  isLines = true;
}

export class Copies extends Thing {
  constructor(geometry, material, count) {
    super(geometry, material);
    this.count = count;
    this.matrices = new InstancedBufferAttribute(new Float32Array(16 * count), 16);
    this.colors = null;
  }

  setMatrixAt(index, matrix) {
    matrix.toArray(this.matrices.array, 16 * index);
  }

  setColorAt(index, color) {
    this.colors ??= new InstancedBufferAttribute(
      new Float32Array((3 / 16) * this.matrices.array.length).fill(1),
      3,
    );
    color.toArray(this.colors.array, 3 * index);
  }

  dispose() {
    this.dispatchEvent({ type: 'dispose' });
  }
}
