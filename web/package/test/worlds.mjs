// Ten small worlds, the same as in worlds.c: the hash of each after 60 steps.
export function worlds({ World, softMeshBox, softMeshCloth, softMeshRope }) {
  let w;
  const body = (x, y, z) => w.createBody({ position: [x, y, z] });
  const ground = () => w.createShape(0, { kind: 'plane' });
  const box = (x, y, z) => {
    const id = body(x, y, z);
    w.createShape(id, { kind: 'box', halfExtents: [0.5, 0.25, 0.375] });
    return id;
  };
  const jointed = (kind, count, axis) => {
    let last = 0;
    for (let i = 0; i < count; ++i) {
      const next = box(0.5 + i, 4, 0);
      w.createJoint(w.jointDefAt({ kind, bodyA: last, bodyB: next }, [i, 4, 0], axis));
      last = next;
    }
  };
  const make = {
    tower() {
      ground();
      for (let i = 0; i < 5; ++i) box(0.0625 * i, 0.25 + 0.5 * i, 0);
    },
    chain: () => jointed('ball', 6, [1, 0, 0]),
    hinges: () => jointed('hinge', 4, [0, 0, 1]),
    spheres() {
      ground();
      for (let i = 0; i < 12; ++i) {
        const id = body(0.25 * (i % 3), 1 + i, 0.125 * (i % 2));
        w.createShape(id, { kind: 'sphere', radius: 0.25, material: { restitution: 0.5 } });
      }
    },
    capsules() {
      const heights = Float32Array.from({ length: 25 }, (_, i) => ((i * 7) % 5) * 0.125);
      w.createShape(0, {
        kind: 'height_field',
        geometry: w.createHeightField(heights, 5, 5, 1, 1),
      });
      for (let i = 0; i < 6; ++i) {
        const id = body(1 + 0.25 * i, 2 + 0.5 * i, 2);
        w.createShape(id, { kind: 'capsule', radius: 0.25, halfLength: 0.25 });
      }
    },
    hulls() {
      ground();
      const points = [
        0, 0.5, 0, -0.5, -0.25, -0.5, 0.5, -0.25, -0.5, 0.5, -0.25, 0.5, -0.5, -0.25, 0.5,
      ];
      const geometry = w.createHull(new Float32Array(points), 32);
      for (let i = 0; i < 5; ++i)
        w.createShape(body(0.125 * i, 1 + i, 0), { kind: 'hull', geometry });
    },
    mesh() {
      const vertices = [
        [-4, 0, -4],
        [-4, 0, 4],
        [4, 0.5, 4],
        [4, 0.5, -4],
      ];
      w.createShape(0, { kind: 'mesh', geometry: w.createMesh(vertices, [0, 1, 2, 0, 2, 3]) });
      for (let i = 0; i < 4; ++i) box(i - 2, 1.5 + 0.5 * i, 0);
    },
    cloth() {
      ground();
      w.createShape(body(0, 0.5, 0), { kind: 'sphere' });
      w.createSoft({ ...softMeshCloth(12, 12, 2, 2), position: [0, 1.5, 0] });
    },
    rope() {
      const id = w.createSoft({ ...softMeshRope(20, 2), position: [0, 3, 0] });
      w.setSoftPinned(id, 0, true);
    },
    jelly() {
      ground();
      w.createSoft({ ...softMeshBox([3, 3, 3], [0.5, 0.5, 0.5], true), position: [0, 1.5, 0] });
    },
  };
  return Object.values(make).map((build) => {
    w = new World();
    build();
    for (let k = 0; k < 60; ++k) w.step(1 / 60);
    const hash = w.hash().toString(16).padStart(16, '0');
    w.dispose();
    return hash;
  });
}
