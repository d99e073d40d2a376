// The ground: planes of the scene, or a floor far below what moves, with a grid that fades out.
import { Group, Matrix4, Mesh, MeshLambertMaterial, Vector3 } from 'three';
import { KIND } from './engine.js';
import { unitSquare } from './geometry.js';

const GRID = `
  vec2 cells = vAt / cell;
  vec2 width = fwidth(cells) * 1.2;
  vec2 line = smoothstep(width, vec2(0.0), abs(fract(cells - 0.5) - 0.5));
  vec2 major = smoothstep(width * 0.2, vec2(0.0), abs(fract(cells * 0.1 - 0.5) - 0.5));
  float shade = max(max(line.x, line.y) * 0.55, max(major.x, major.y));
  diffuseColor.rgb = mix(diffuseColor.rgb, gridColor, shade * 0.8);
  diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, length(vAt - center) / reach);
`;

function gridMaterial(uniforms) {
  const material = new MeshLambertMaterial({ transparent: true, depthWrite: false });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec2 vAt;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nvAt = position.xz;');
    shader.fragmentShader = shader.fragmentShader
      .replace(
        '#include <common>',
        '#include <common>\nvarying vec2 vAt;\nuniform float cell, reach;\nuniform vec2 center;\nuniform vec3 gridColor;',
      )
      .replace('#include <color_fragment>', `#include <color_fragment>${GRID}`);
  };
  return material;
}

export class Ground {
  constructor() {
    this.group = new Group();
    this.uniforms = {
      cell: { value: 1 },
      reach: { value: 40 },
      center: { value: { x: 0, y: 0 } },
      gridColor: { value: null },
    };
    this.material = gridMaterial(this.uniforms);
    this.geometry = unitSquare();
  }

  // `bounds` holds what moves, `lowest` is the height of the lowest thing of all; `distance` is that
  // of the camera: what it sees decides the size of the grid.
  rebuild(sim, items, bounds, lowest, distance) {
    this.group.clear();
    const size = bounds.getSize(new Vector3()).length();
    const reach = Math.max(4 * distance, 2.5 * size);
    this.uniforms.reach.value = reach;
    this.uniforms.cell.value = 10 ** Math.round(Math.log10(distance / 12));
    const matrices = sim.matrices();
    const planes = items.flatMap((item, i) =>
      item.kind === KIND.plane ? [new Matrix4().fromArray(matrices, 16 * i)] : [],
    );
    const middle = bounds.getCenter(new Vector3());
    if (planes.length === 0) {
      const below = Math.min(bounds.min.y - 0.75 * size, lowest - 0.02 * distance);
      planes.push(new Matrix4().makeTranslation(0, below, 0));
    }
    for (const matrix of planes) this.add(matrix, reach, middle);
  }

  add(matrix, reach, middle) {
    const local = middle.clone().applyMatrix4(matrix.clone().invert());
    const geometry = this.geometry.clone().scale(reach, 1, reach).translate(local.x, 0, local.z);
    this.uniforms.center.value = { x: local.x, y: local.z };
    const mesh = new Mesh(geometry, this.material);
    mesh.applyMatrix4(matrix);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    this.group.add(mesh);
  }

  setTheme(theme) {
    this.material.color.copy(theme.ground);
    this.uniforms.gridColor.value = theme.grid;
  }
}
