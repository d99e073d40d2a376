#!/usr/bin/env node
// Writes docs/benchmarks.md from the figures of a run:
//   BENCH_JSON=build/bench.json make bench && node scripts/benchmarks.mjs build/bench.json
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (process.argv.length !== 3) {
  console.error("usage: benchmarks.mjs FILE, as BENCH_JSON wrote it");
  process.exit(2);
}
const rows = readFileSync(process.argv[2], "utf8")
  .split("\n")
  .filter((line) => line)
  .map((line) => JSON.parse(line));

// ---- Numbers -------------------------------------------------------------------------------------

const digits = (x, n) => (x === 0 ? "0" : Number(x.toPrecision(n)).toString());
const whole = (x) => Math.round(x).toLocaleString("en-US");
const ms = (x) => (x === undefined ? "" : x >= 100 ? whole(x) : digits(x, 3));
const ratio = (x) => (x === undefined ? "" : x.toFixed(2));

// Metres in a unit that suits them.
function length(x) {
  if (x === undefined || x === null) return "";
  const size = Math.abs(x);
  if (size < 1e-9) return "0";
  if (size < 1e-3) return `${digits(x * 1e6, 2)} µm`;
  if (size < 1) return `${digits(x * 1e3, 2)} mm`;
  return `${digits(x, 2)} m`;
}

function percent(x) {
  return x === undefined || x === null ? "" : `${digits(100 * x, 2)} %`;
}

// ---- Tables --------------------------------------------------------------------------------------

function table(head, lines) {
  return [head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

const main = (r) => r.threads === 1 && r.lanes === widest;
const widest = Math.max(...rows.map((r) => r.lanes));
const of = (scene) => rows.filter((r) => r.scene === scene);
const names = { tenon: "Tenon", bullet: "Bullet", ode: "ODE" };

function who(r) {
  if (r.engine === "tenon") return `Tenon ${r.setting}`;
  return `${names[r.engine]}, ${r.substeps === 1 ? "default" : `${r.substeps} substeps`}`;
}

// Scenes in the order in which they were run, each with its sizes.
function cases(pick) {
  const found = new Map();
  for (const r of rows.filter(pick)) found.set(`${r.scene} ${r.size}`, [r.scene, r.size]);
  return [...found.values()];
}

const kinds = {
  contacts: {
    scenes: ["pyramid", "capsules", "mixed"],
    head: ["drift", "deepest", "mean depth", "fallen"],
    cells: (m) => [length(m.max_drift_m), length(m.max_penetration_m), length(m.mean_penetration_m), m.fallen ?? ""],
  },
  mechanisms: {
    scenes: ["chain", "mobile", "ragdolls"],
    head: ["joint error", "energy"],
    cells: (m) => [length(m.max_joint_error_m), percent(m.energy_rel_final)],
  },
  rest: { scenes: ["sleeping", "bodies"], head: ["awake"], cells: (m) => [m.awake ?? ""] },
};

function races(kind) {
  const { scenes, head, cells } = kinds[kind];
  const lines = rows
    .filter((r) => scenes.includes(r.scene) && (r.engine !== "tenon" || main(r)))
    .map((r) => {
      const start = [r.scene, whole(r.size), who(r)];
      if (r.refused) return [...start, `not run: ${r.refused}`, "", "", "", ...head.map(() => ""), ""];
      const m = r.metrics;
      const seconds = m.seconds === undefined ? "" : digits(m.seconds, 2);
      return [...start, ms(r.ms_median), ms(r.ms_p99), ratio(m.ratio_bullet), ratio(m.ratio_ode), ...cells(m), seconds];
    });
  return table(["scene", "size", "engine", "ms", "p99", "/ Bullet", "/ ODE", ...head, "after, s"], lines);
}

function variants() {
  const lines = [];
  for (const [scene, size] of cases((r) => r.engine === "tenon" && r.threads === 2)) {
    for (const setting of ["fast", "accurate"]) {
      const at = (threads, lanes) =>
        rows.find(
          (r) =>
            r.scene === scene && r.size === size && r.setting === setting && r.threads === threads && r.lanes === lanes,
        )?.metrics.ms_wall;
      const one = at(1, widest);
      const two = at(2, widest);
      if (!one || !two) continue;
      const narrow = [1, 4, 8].map((lanes) => (lanes < widest ? ms(at(1, lanes)) : ""));
      lines.push([scene, whole(size), setting, ms(one), ms(two), ratio(one / two), ...narrow]);
    }
  }
  return table(
    ["scene", "size", "setting", "1 thread", "2 threads", "gain", "1 lane", "4 lanes", "8 lanes"],
    lines,
  );
}

const parts = ["pairs", "manifolds", "prepare", "solve", "finish"];

function phases() {
  const lines = rows
    .filter((r) => r.engine === "tenon" && main(r) && ["fast", "accurate"].includes(r.setting) && r.metrics)
    .map((r) => [
      r.scene,
      whole(r.size),
      r.setting,
      ...parts.map((part) => digits(r.metrics[`ms_${part}`], 2)),
      r.metrics.ns === undefined ? "" : digits(r.metrics.ns, 3),
    ]);
  return table(["scene", "size", "setting", ...parts, "ns"], lines);
}

function soft() {
  const scenes = ["cloth", "tyres", "bends", "folds", "tets", "hexes", "balloon"];
  const lines = rows
    .filter((r) => scenes.includes(r.scene) && main(r))
    .map((r) => [
      r.scene,
      whole(r.size),
      r.setting,
      ms(r.ms_median),
      digits(r.metrics.ns, 3),
      percent(r.metrics.stretch_rms),
      r.metrics.published_ms ?? "",
    ]);
  return table(["scene", "size", "setting", "ms", "ns a constraint", "stretch, rms", "published, ms"], lines);
}

function published() {
  const lines = rows
    .filter((r) => r.setting === "own" && r.metrics.published_ms)
    .map((r) => [
      r.scene,
      r.substeps,
      ms(r.ms_median),
      r.metrics.published_ms,
      ratio(r.metrics.ratio_published),
      r.metrics.ratio_published <= 1 / 3 ? "yes" : "**no**",
    ]);
  return table(["scene", "substeps", "ms", "published, ms", "ratio", "at most a third"], lines);
}

const growing = ["heaps", "dolls", "pendula", "cell", "tray", "star", "net"];

function scaling() {
  const lines = growing.flatMap((scene) => {
    const list = of(scene);
    return list.map((r) => [
      scene,
      whole(r.size),
      ms(r.ms_median),
      digits(r.metrics.ns, 3),
      ratio(r.metrics.ns / list[0].metrics.ns),
    ]);
  });
  return table(["scene", "size", "ms", "ns", "of the smallest"], lines);
}

// Where a body's time goes as heaps grow, µs a frame.
function growth() {
  const lines = of("heaps").map((r) => {
    const each = (part) => digits((1e3 * r.metrics[`ms_${part}`]) / r.size, 2);
    return [whole(r.size), ...parts.map(each), whole(r.metrics.bytes_a_body), whole((r.metrics.bytes_a_body * r.size) / 1e6)];
  });
  return table(["bodies", ...parts, "bytes a body", "MB in all"], lines);
}

function stream() {
  const rate = (size, threads) => of("stream").find((r) => r.size === size && r.threads === threads)?.metrics.gb_a_second;
  const lines = [...new Set(of("stream").map((r) => r.size))].map((size) => {
    const [one, two] = [rate(size, 1), rate(size, 2)];
    return [whole(size), digits(one, 2), digits(two, 2), ratio(two / one)];
  });
  return table(["MB", "1 thread, GB/s", "2 threads, GB/s", "gain"], lines);
}

function twins() {
  const least = (threads) => of("twins").find((r) => r.threads === threads)?.metrics.ms_least;
  const [one, two] = [least(1), least(2)];
  return table(["one world, ms", "both at once, ms", "gain"], [[digits(one, 3), digits(two, 3), ratio((2 * one) / two)]]);
}

function links() {
  const lines = ["links_ball", "links_hinge"].flatMap((scene) =>
    [...new Set(of(scene).map((r) => r.size))].map((size) => {
      const at = (threads, lanes) =>
        of(scene).find((r) => r.size === size && r.threads === threads && r.lanes === lanes)?.metrics.ns;
      const ns = [at(1, 1), at(1, 4), at(1, 8), at(2, 8)];
      return [scene.slice(6), whole(size), ...ns.map((x) => (x === undefined ? "" : digits(x, 3)))];
    }),
  );
  return table(["joint", "bodies", "1 lane", "4 lanes", "8 lanes", "8 lanes, 2 threads"], lines);
}

function maths() {
  const lines = ["pass_ball", "pass_hinge"]
    .flatMap((scene) => of(scene))
    .map((r) => [r.scene.slice(5), digits(r.metrics.ns, 3), digits(r.metrics.ns_maths_alone, 3), ratio(r.metrics.times_maths_alone)]);
  return table(["joint", "pass, ns", "maths alone, ns", "ratio"], lines);
}

function memory() {
  const m = of("memory")[0]?.metrics ?? {};
  const lines = [
    ["a body without a shape", m.bytes_a_bare_body],
    ["a body with one", m.bytes_a_body_with_shape],
    ["a contact of a pile", m.bytes_a_contact],
    ["a joint of a chain", m.bytes_a_joint],
  ].map(([what, bytes]) => [what, bytes === undefined ? "" : whole(bytes)]);
  return table(["of", "bytes"], lines);
}

const curves = {
  curve_pyramid: ["max_drift_m", "max_penetration_m", "max_speed_end", "fallen"],
  curve_stack: ["top_drift_m", "top_drop_m", "force_error_rel", "fallen"],
  curve_capsules: ["mean_penetration_m", "max_penetration_m", "rms_speed_end"],
  curve_chain: ["max_joint_error_m", "energy_rel_max"],
};
const titles = {
  max_drift_m: "drift",
  max_penetration_m: "deepest",
  max_speed_end: "fastest, m/s",
  rms_speed_end: "speed, m/s",
  top_drift_m: "drift of the top",
  top_drop_m: "the top has sunk",
  force_error_rel: "error of forces",
  mean_penetration_m: "mean depth",
  max_joint_error_m: "joint error",
  energy_rel_max: "energy",
  fallen: "fallen",
};

function metric(name, value) {
  if (name.endsWith("_m")) return length(value);
  if (name.includes("_rel")) return percent(value);
  return value === undefined ? "" : digits(value, 2);
}

function curve(scene) {
  const shown = curves[scene];
  const lines = of(scene).map((r) => [
    r.substeps,
    ms(r.ms_median),
    ...shown.map((name) => metric(name, r.metrics[name])),
  ]);
  return table(["substeps", "ms", ...shown.map((name) => titles[name])], lines);
}

// ---- What it shall reach -------------------------------------------------------------------------

const millimetre = 1e-3;
const goals = [
  ["pyramid", 36, "fast", 0.3, { max_drift_m: 10 * millimetre, max_penetration_m: millimetre, fallen: 0 }],
  ["pyramid", 36, "accurate", 1.0, { fallen: 0 }],
  ["pyramid", 100, "fast", 0.33, { fallen: 0 }],
  ["capsules", 2000, "fast", 0.25, { mean_penetration_m: 1.6 * millimetre }],
  ["capsules", 8000, "fast", 0.28, {}],
  ["mixed", 2000, "fast", 0.38, {}],
  ["chain", 500, "accurate", 3.0, { max_joint_error_m: millimetre }],
  ["mobile", 1023, "accurate", 1.5, { max_joint_error_m: 0.1 * millimetre }],
];

const own = (scene, size, setting) =>
  rows.find(
    (row) => row.scene === scene && row.size === size && row.setting === setting && row.engine === "tenon" && main(row),
  );

// Where the time of what is too slow goes, and how much memory it goes through.
function limits() {
  const lines = goals
    .map(([scene, size, setting, bound]) => [own(scene, size, setting), bound])
    .filter(([r, bound]) => r?.metrics && !(r.metrics.ratio_bullet <= bound))
    .map(([r]) => {
      const m = r.metrics;
      const all = parts.reduce((sum, part) => sum + m[`ms_${part}`], 0);
      const bodies = r.scene === "pyramid" ? (r.size * (r.size + 1)) / 2 : r.size;
      const shares = parts.map((part) => percent(m[`ms_${part}`] / all));
      return [r.scene, whole(r.size), r.setting, ...shares, digits((m.bytes_a_body * bodies) / 1e6, 2)];
    });
  const text = `Those that do not hold, by the parts of a step: at 4 substeps what is done once a step is half of it.
In large scenes memory is the limit, see "How time grows".`;
  return lines.length === 0 ? "" : `${text}\n\n${table(["scene", "size", "setting", ...parts, "MB in all"], lines)}`;
}

function reached() {
  const lines = goals.map(([scene, size, setting, bound, quality]) => {
    const r = own(scene, size, setting);
    const m = r?.metrics ?? {};
    const told = Object.entries(quality).map(([name, most]) => {
      const bad = !(m[name] <= most);
      return `${titles[name]} ${metric(name, m[name])}${bad ? ` (**above ${metric(name, most)}**)` : ""}`;
    });
    const holds = m.ratio_bullet <= bound ? "yes" : "**no**";
    return [scene, whole(size), setting, ratio(bound), ratio(m.ratio_bullet), holds, told.join(", ")];
  });
  return table(["scene", "size", "setting", "at most", "measured", "holds", "quality"], lines);
}

// Every place where Tenon is slower than another engine's default, or worse at its default.
function losses() {
  const lines = [];
  for (const r of rows.filter((row) => row.engine === "tenon" && main(row) && row.metrics)) {
    const m = r.metrics;
    const slower = [
      ["Bullet", m.ratio_bullet],
      ["ODE", m.ratio_ode],
    ].filter(([, x]) => x > 1);
    if (slower.length === 0) continue;
    const other = rows.find(
      (row) => row.scene === r.scene && row.size === r.size && row.engine === "bullet" && row.substeps === 1 && row.metrics,
    )?.metrics;
    const error = ["max_joint_error_m", "max_penetration_m"].find((name) => m[name] > 0 || other?.[name] > 0);
    lines.push([
      r.scene,
      whole(r.size),
      r.setting,
      slower.map(([name, x]) => `${ratio(x)} of ${name}`).join(", "),
      error ? `${titles[error]} ${length(m[error])}, Bullet ${length(other?.[error])}` : "",
    ]);
  }
  return table(["scene", "size", "setting", "time", "for"], lines);
}

const text = `# Benchmarks

Written by \`scripts/benchmarks.mjs\` from what \`make bench\` measured; do not edit.

    make bench                                      # all of it, ten minutes
    make bench BENCH="pyramid:36 capsules:2000"     # scenes, or scenes of a size
    make bench BENCH="pyramid --setting fast"       # Tenon at one setting: fast, default, accurate
    make bench BENCH="scaling memory"               # groups: race, published, scaling, memory, joints, curve
    BENCH_JSON=build/bench.json make bench          # one JSON object a line as well
    node scripts/benchmarks.mjs build/bench.json    # this page

All engines get the same scene: bodies, masses, inertia, shapes, joints and friction are translated
from the world that Tenon simulates (\`bench/peers\`), and what they make of it is measured by writing
their poses back. Bullet runs in single precision with sequential impulses and 10 iterations, ODE in
double precision with QuickStep and 20 iterations, both at one step of 1/60 s and at 20 substeps;
sleeping is off but in the scene of that name. They take turns of a few frames, and a pile is dropped
once, by Tenon, and handed to all. \`ms\` is the median of a frame of 1/60 s and \`p99\` what 99 of 100
frames stay below: processor time of the thread on one thread, the time that goes by on two. Quality
is measured where the last column says; what is slow does not get as far.

The machine is two cores of a virtual one, shared. Compare figures with each other, not with those of
another machine. Tenon runs ${widest} lanes unless said otherwise.

## Goals

The time over that of Bullet's default, one thread.

${reached()}

${limits()}

## Contacts

${races("contacts")}

## Mechanisms

A chain ends in a link of 100 kg; the others have 1 kg. ODE and Bullet at their defaults are quick here
because they do not hold: see the error.

${races("mechanisms")}

### Mechanisms in lanes

Mechanisms of up to 200 bodies and joints that are equal but for their numbers, as ragdolls are, form teams
of four: their rows are stated side by side, and their matrices put together, factored and solved, one in
each lane of doubles. Where members differ in the rows that hold, at the ends of ranges and where friction
gives way, the team's matrix has the rows of all, with zeros where a member lacks one; who then needs other
rows goes on alone. Each gets the same bits as alone. What is left of a substep is each member's own: laws,
whether signs are right, and what bodies and joints get. \`dolls\` and \`pendula\`, below, are one such
mechanism and many: by joints, many take less time than one.

## Little to do

${races("rest")}

## Where Tenon is slower

${losses()}

## Threads and lanes

Frames in ms that went by. A mechanism is solved on one thread, so a single chain gains nothing from a
second one. On a machine that is busy the second thread waits for a core, and the first waits for it.
Steps with too little to share out stay on one thread. What cannot be shared out is the search for
pairs and the colouring; what else a second thread loses is said under "How time grows".

${variants()}

## Where the time goes

ms a frame on the mean, and ns a contact point, joint, constraint or body a substep, on one thread.

${phases()}

## Joints by Gauss-Seidel

As the published method solves them, in chains, 8 substeps: ns a joint a substep, bodies, drift and all.

${links()}

The pass over the joints of a chain of 1,000, beside the maths of as many joints with all they need in
registers: the rest is fetching bodies and putting them back.

${maths()}

## Soft bodies

${soft()}

## Published times

Table 1 of Müller et al. 2020 (3.6 GHz) and Deul et al. 2014, at the same substeps. In Deul's pile the
limit is arithmetic, on finding manifolds, four fifths of its time: the distances of cones, cylinders
and hulls are found by GJK, and at one substep more of them have moved since the last step.

${published()}

A pendulum of three hinges takes 18,250 instructions a substep (\`valgrind --tool=callgrind
--toggle-collect=tn_world_step build/release/tenon run pendulum_triple --substeps 40 --seconds 1\`):

| part | instructions | share |
| --- | --- | --- |
| rows at the bodies' pose, in lanes | 2,110 | 12 % |
| laws: what holds each row | 1,650 | 9 % |
| the matrix, and what is asked of its rows | 3,810 | 21 % |
| elimination | 3,230 | 18 % |
| substitution | 2,320 | 13 % |
| errors, bounds, impulses, inertia against heavy loads | 2,880 | 16 % |
| kick and drift | 1,430 | 8 % |
| the step around it | 820 | 4 % |

A third of the published time would be 750 ns a substep, 250 ns a hinge. The published method makes
one correction of each of five rows; here all 33 unknowns, fifteen impulses and three bodies' velocities,
are solved together in double precision, for velocities and for errors, which takes 5,550 of these
instructions and leaves joint errors of 5 µm. No other part is worth more than a fifth. A joint of the
rope takes 11,500 instructions a substep (\`build/release/tenon run rope --seconds 1\`, likewise), 38 % of
them for elimination and substitution, 21 % for the matrix and what is asked of its rows. In all of these
instructions are the limit: what they work on fits into a core's first two caches.

## How time grows

\`heaps\`: pyramids of ten cubes, by bodies. \`dolls\`: ragdolls without shapes, by joints. \`pendula\`:
three rods on hinges each, by joints. \`cell\`: cubes of 1 cm in a block, beside a thing of 100 m, by bodies.
\`tray\`: cubes on one plate, by contact points.
\`star\`: joints on one body. \`net\`: knots in a square that hang together, by joints; its loops make it
dearer.

${scaling()}

Heaps do not touch each other, so there are as many contacts to a body at every size, and as many
instructions. What grows is the way to memory: 1,000 bodies nearly fit into a core's own cache, and
100,000 into none. µs a body and frame, by part of the step:

${growth()}

What memory gives, read a line at a time, by the size of what is read again and again; two threads
read half each. Where the gain here is less than two, it is so for scenes of that size:

${stream()}

Contacts are fetched one block ahead when they are packed and read back, which saves a sixth of the
latter; fetching the next block in a substep, or its bodies, did not help. The blocks themselves are
the stream: a pass reads and writes most of the 600 bytes that a contact takes in them.

What no contact joins goes through all substeps group by group, each group in the cache of one core, and
groups go to threads whole (\`src/solver/groups.c\`). In one pile all is joined: there the threads meet after each
colour, and bodies that contacts of both threads push go to and fro between their caches. That, and not
memory or the machine, is what the second thread loses, for two piles of 2,000 capsules, each in a world
and on a thread of its own, at 20 substeps, take this time a frame, at least:

${twins()}

## Memory

What a world holds, by its allocator's count.

${memory()}

## Substeps

\`TN_QUALITY_FAST\`, \`_DEFAULT\` and \`_ACCURATE\` are 4, 8 and 20 substeps: for steps of 1/60 s, things of
a metre, and the gravity of the Earth. What contacts yield goes as g h² / size; \`tn_substeps_for\`
proposes the number for other scenes.

A pyramid of 666 cubes after 10 s:

${curve("curve_pyramid")}

A tower of ten cubes after 30 s:

${curve("curve_stack")}

500 capsules dropped into a box, after 6 s:

${curve("curve_capsules")}

A chain of 100 links with 100 kg at its end, released level, over 5 s:

${curve("curve_chain")}
`;

const target = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "benchmarks.md");
writeFileSync(target, text);
console.log(`wrote ${target}`);
