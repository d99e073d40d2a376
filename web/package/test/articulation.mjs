// Reduced coordinates: random chains of hinges, balls and slides against laws of mechanics.

// Numbers in [-1, 1), the same each time.
function drawing(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

const KINDS = ['hinge', 'ball', 'prismatic'];

function chain(world, draw) {
  const parts = 2 + Math.floor(2 * (draw() + 1));
  const bodies = [];
  for (let i = 0; i < parts; ++i) {
    const body = world.createBody({ position: [0.5 + i, 0, 0] });
    world.createShape(body, { kind: 'box', halfExtents: [0.4, 0.1 + 0.05 * (draw() + 1), 0.1] });
    const kind = i === 0 ? 'hinge' : KINDS[Math.floor(1.5 * (draw() + 1))];
    world.createJoint({
      kind,
      bodyA: i ? bodies[i - 1] : 0,
      bodyB: body,
      frameA: { p: [i ? 0.5 : 0, 0, 0], q: [0, 0, 0, 1] },
      frameB: { p: [-0.5, 0, 0], q: [0, 0, 0, 1] },
    });
    bodies.push(body);
  }
  return bodies;
}

const largest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
const times = (matrix, v) =>
  v.map((_, r) => v.reduce((sum, x, c) => sum + matrix[v.length * r + c] * x, 0));

function checkChain(Articulation, world, bodies, draw, check, name) {
  const tree = new Articulation(world, { roots: [bodies[0]] });
  const { joints, velocities: n } = tree.counts;
  check(`${name}: counts`, joints === bodies.length && tree.joints().at(-1).body === bodies.at(-1));
  check(`${name}: no loops`, tree.loops().length === 0);
  const v = Float64Array.from({ length: n }, () => draw());
  tree.setPositions(tree.integrate(tree.positions(), v, 0.3));
  tree.setVelocities(v);
  check(`${name}: velocities`, largest(tree.velocities(), v) < 1e-5);

  const matrix = tree.massMatrix();
  const energy = 0.5 * times(matrix, v).reduce((sum, x, i) => sum + x * v[i], 0);
  const { kinetic } = world.energy();
  check(
    `${name}: kinetic energy`,
    Math.abs(energy - kinetic) < 1e-5 * kinetic,
    `${energy} ${kinetic}`,
  );

  const a = Float64Array.from({ length: n }, () => draw());
  const forces = tree.inverseDynamics(a);
  const bias = tree.biasForces();
  const sum = times(matrix, a).map((x, i) => x + bias[i]);
  const scale = Math.max(...forces.map(Math.abs));
  check(`${name}: M q'' + c`, largest(forces, sum) < 1e-9 * scale);
  check(`${name}: forward of inverse`, largest(tree.forwardDynamics(forces), a) < 1e-7);

  const { linear, angular } = tree.jacobian(bodies.at(-1), [0.1, 0.2, 0.3]);
  const now = tree.velocities();
  const rows = (list) => [0, 1, 2].map((r) => now.reduce((s, x, c) => s + list[n * r + c] * x, 0));
  const turning = world.bodyAngularVelocity(bodies.at(-1));
  check(`${name}: Jacobian`, largest(rows(angular), turning) < 1e-5 && linear.length === 3 * n);

  const kept = tree.save();
  tree.setVelocities(new Float64Array(n));
  tree.apply(kept);
  check(`${name}: keyframe`, largest(tree.velocities(), v) < 1e-5);
  tree.dispose();
  return tree;
}

export function articulationChecks({ World, Articulation }, check) {
  const draw = drawing(7);
  for (let i = 0; i < 20; ++i) {
    const world = new World();
    const bodies = chain(world, draw);
    const tree = checkChain(Articulation, world, bodies, draw, check, `articulation ${i}`);
    const fails = (call, pattern) => {
      try {
        call();
        return false;
      } catch (error) {
        return pattern.test(error.message);
      }
    };
    if (i === 0) {
      check(
        'articulation: disposed',
        fails(() => tree.positions(), /disposed/),
      );
      check(
        'articulation: a root that is none',
        fails(() => new Articulation(world, { roots: [0] }), /./),
      );
      const held = new Articulation(world, { roots: [bodies[0]] });
      check(
        'articulation: a wrong length',
        fails(() => held.applyForces([1]), /numbers are needed/),
      );
      world.destroyBody(bodies[0]);
      check(
        'articulation: a body that is gone',
        fails(() => held.positions(), /./),
      );
      held.dispose();
    }
    world.dispose();
  }
}
