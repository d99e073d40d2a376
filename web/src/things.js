// What can be drawn: a geometry and what it is made of, once, as lines, or many times. Those of
// three.js bring its materials and picking along.
import { Color, InstancedBufferAttribute, Object3D } from 'three';

// What a thing is made of.
export const paint = (look = {}) => ({
  color: new Color('white'),
  isLit: true,
  isWire: false, // edges of triangles only
  isDouble: false, // seen from both sides
  isClear: false, // what is behind shows through
  isThrough: false, // shows through what is in front
  opacity: 1,
  grid: null, // { cell, reach, x, y, color }
  least: { value: 0 }, // half width a metre of distance
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

// Every two vertices are one.
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
