// Meshes of soft bodies, as definitions with typed arrays for World.createSoft().
import * as api from './api.js';
import { free } from './runtime.js';

const { SOFT } = api;

function make(call) {
  const m = free();
  let at = 0;
  try {
    at = m.temp(api.size_tn_soft_def);
    m.x.tn_default_soft_def(at);
    m.must(call(m, at), 'the mesh');
    const def = {};
    for (const [key, [offset, type, width, countAt]] of Object.entries(SOFT)) {
      const place = m.u32(at + offset);
      const count = m.i32(at + countAt) * width;
      if (place && count > 0) def[key] = m.copy(type, place, count);
    }
    return def;
  } finally {
    if (at) m.x.tn_soft_mesh_free(at);
    m.end();
  }
}

const triple = (m, list) => m.tempList(list, 'i32', 1).at;
const vectors = (m, list) => m.tempList(list, ['f32', 3], 3);

export const softMeshCloth = (columns, rows, sizeX, sizeZ) =>
  make((m, at) => m.x.tn_soft_mesh_cloth(at, columns, rows, sizeX, sizeZ));
export const softMeshRope = (segments, length) =>
  make((m, at) => m.x.tn_soft_mesh_rope(at, segments, length));
export const softMeshBox = (cells, halfExtents, tetrahedra = false) =>
  make((m, at) =>
    m.x.tn_soft_mesh_box(
      at,
      triple(m, cells),
      m.tempTuple(halfExtents, 'f32', 3),
      tetrahedra ? 1 : 0,
    ),
  );
export const softMeshBall = (cells, radius, tetrahedra = false) =>
  make((m, at) => m.x.tn_soft_mesh_ball(at, cells, radius, tetrahedra ? 1 : 0));
export const softMeshTube = (cells, innerRadius, outerRadius, halfLength) =>
  make((m, at) =>
    m.x.tn_soft_mesh_tube(at, triple(m, cells), innerRadius, outerRadius, halfLength),
  );
export const softMeshSphere = (level, radius) =>
  make((m, at) => m.x.tn_soft_mesh_sphere(at, level, radius));
export const softMeshTriangles = (vertices, triangles) =>
  make((m, at) => {
    const v = vectors(m, vertices);
    const t = m.tempList(triangles, 'i32', 3);
    return m.x.tn_soft_mesh_triangles(at, v.at, v.count, t.at, t.count);
  });
export const softMeshSolid = (vertices, triangles, cell, tetrahedra = false) =>
  make((m, at) => {
    const v = vectors(m, vertices);
    const t = m.tempList(triangles, 'i32', 3);
    return m.x.tn_soft_mesh_solid(at, v.at, v.count, t.at, t.count, cell, tetrahedra ? 1 : 0);
  });
