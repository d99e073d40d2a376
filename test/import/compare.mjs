// Compares two dumps of a model: total mass, and of every body mass, centre, inertia and poses.
const length = (v) => Math.sqrt(v.reduce((sum, x) => sum + x * x, 0));
const difference = (a, b) => length(a.map((x, i) => x - b[i]));

// Angle between two rotations, rad.
function turn(a, b) {
  const dot = Math.abs(a.reduce((sum, x, i) => sum + x * b[i], 0));
  const apart = Math.min(difference(a, b), difference(a, b.map((x) => -x)));
  return dot > 0.9 ? 2 * apart : 2 * Math.acos(Math.min(1, dot));
}

// Largest difference relative to the largest number.
function relative(ours, theirs) {
  if (!ours || ours.length !== theirs.length) return Infinity;
  const scale = Math.max(1e-9, ...theirs.map(Math.abs));
  return Math.max(0, ...theirs.map((x, i) => Math.abs(x - ours[i]))) / scale;
}

// Mass matrix, holding forces and bias forces at each position.
function compareDynamics(ours, theirs, note) {
  theirs.forEach((there, key) => {
    const here = ours[key];
    if (!there.mass) return;
    if (!here) return note("unmatched", 1);
    note("mass_matrix", relative(here.mass, there.mass));
    note("hold", relative(here.hold, there.hold));
    note("bias", relative(here.bias, there.bias));
  });
}

// Largest relative errors; `size` is the extent of the model.
export function compare(ours, theirs, { byName = false, masses = true, dynamics = false } = {}) {
  const worst = { mass: 0, body_mass: 0, center: 0, inertia: 0, position: 0, rotation: 0, world_position: 0, world_rotation: 0, unmatched: 0 };
  const note = (key, value) => {
    worst[key] = Math.max(worst[key] ?? 0, Number.isFinite(value) ? value : Infinity);
  };
  note("mass", Math.abs(ours.mass - theirs.mass) / Math.max(theirs.mass, 1e-9));
  const size = Math.max(1e-3, ...theirs.positions[0].map((b) => length(b.pos)));
  ours.positions.forEach((bodies, key) => {
    const others = theirs.positions[key];
    if (!others) return note("unmatched", 1);
    if (!byName && bodies.length !== others.length) return note("unmatched", 1);
    bodies.forEach((body, i) => {
      const other = byName ? others.find((b) => b.name === body.name && b.name) : others[i];
      if (!other) return byName ? undefined : note("unmatched", 1);
      note("position", difference(body.pos, other.pos) / size);
      note("rotation", turn(body.quat, other.quat));
      if (key > 0 || i === 0 || !masses) return;
      note("body_mass", Math.abs(body.mass - other.mass) / Math.max(other.mass, 1e-9));
      if (other.mass > 0.0011) { // where a bound of the compiler has no part in it
        note("center", difference(body.center, other.center) / size);
        note("inertia", difference(body.inertia, other.inertia) / Math.max(length(other.inertia), 1e-12));
      }
    });
  });
  (ours.worlds ?? []).forEach((bodies, key) => {
    if (bodies.length !== ours.positions[key].length) return note("unmatched", 1);
    bodies.forEach((body, i) => {
      note("world_position", difference(body.pos, ours.positions[key][i].pos) / size);
      note("world_rotation", turn(body.quat, ours.positions[key][i].quat));
    });
  });
  if (dynamics) compareDynamics(ours.dynamics ?? [], theirs.dynamics ?? [], note);
  return worst;
}

export const describe = (worst) =>
  Object.entries(worst)
    .filter(([, value]) => value > 0)
    .map(([key, value]) => `${key} ${value.toExponential(1)}`)
    .join(", ") || "equal";
