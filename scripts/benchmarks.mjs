#!/usr/bin/env node
// Writes docs/benchmarks.md from the figures of a run:
//   BENCH_JSON=build/bench.json make bench && node scripts/benchmarks.mjs build/bench.json
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (process.argv.length !== 3) {
  console.error("usage: benchmarks.mjs FILE, written by BENCH_JSON=FILE make bench");
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

// Formats a length in µm, mm or m.
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

// Pairs of scene and size, in the order of the run.
function cases(pick) {
  const found = new Map();
  for (const r of rows.filter(pick)) found.set(`${r.scene} ${r.size}`, [r.scene, r.size]);
  return [...found.values()];
}

const kinds = {
  contacts: {
    scenes: ["pyramid", "capsules", "mixed"],
    head: ["drift", "max penetration", "mean penetration", "fallen"],
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
  return table(["scene", "size", "engine", "ms", "p99", "/ Bullet", "/ ODE", ...head, "measured at, s"], lines);
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
  return table(["scene", "size", "setting", "ms", "ns per constraint", "stretch, rms", "published, ms"], lines);
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
  return table(["scene", "size", "ms", "ns", "relative"], lines);
}

// Time per body and phase as heaps grow, µs per frame.
function growth() {
  const lines = of("heaps").map((r) => {
    const each = (part) => digits((1e3 * r.metrics[`ms_${part}`]) / r.size, 2);
    return [whole(r.size), ...parts.map(each), whole(r.metrics.bytes_a_body), whole((r.metrics.bytes_a_body * r.size) / 1e6)];
  });
  return table(["bodies", ...parts, "bytes per body", "MB in total"], lines);
}

// Wall time of scenes at `fast` on 1, 2, 4, ... threads: median, 99th percentile, and gain.
function threads() {
  const list = rows.filter((r) => r.engine === "tenon" && r.scene.startsWith("threads_"));
  const counts = [...new Set(list.map((r) => r.threads))].sort((a, b) => a - b);
  const lines = [...new Set(list.map((r) => `${r.scene} ${r.size}`))].map((name) => {
    const runs = counts.map((n) => list.find((r) => `${r.scene} ${r.size}` === name && r.threads === n));
    const [scene, size] = name.slice("threads_".length).split(" ");
    const cell = (r) => (r ? `${ms(r.metrics.ms_wall)} / ${ms(r.ms_p99)}` : "");
    const last = runs.at(-1);
    return [scene, whole(Number(size)), ...runs.map(cell), last ? ratio(last.metrics.speedup) : ""];
  });
  return table(["scene", "size", ...counts.map((n) => `${n} thread${n > 1 ? "s" : ""}`), "gain"], lines);
}

function stream() {
  const list = of("stream");
  const counts = [...new Set(list.map((r) => r.threads))].sort((a, b) => a - b);
  const rate = (size, n) => list.find((r) => r.size === size && r.threads === n)?.metrics.gb_a_second;
  const lines = [...new Set(list.map((r) => r.size))].map((size) => [
    `reads of ${whole(size)} MB, GB/s`,
    ...counts.map((n) => digits(rate(size, n), 3)),
  ]);
  return table(["", ...counts.map((n) => `${n} thread${n > 1 ? "s" : ""}`)], lines);
}

function twins() {
  const least = (threads) => of("twins").find((r) => r.threads === threads)?.metrics.ms_least;
  const [one, two] = [least(1), least(2)];
  return table(["one world, ms", "both in parallel, ms", "gain"], [[digits(one, 3), digits(two, 3), ratio((2 * one) / two)]]);
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
    ["body without a shape", m.bytes_a_bare_body],
    ["body with one shape", m.bytes_a_body_with_shape],
    ["contact of a pile", m.bytes_a_contact],
    ["joint of a chain", m.bytes_a_joint],
  ].map(([what, bytes]) => [what, bytes === undefined ? "" : whole(bytes)]);
  return table(["object", "bytes"], lines);
}

const curves = {
  curve_pyramid: ["max_drift_m", "max_penetration_m", "max_speed_end", "fallen"],
  curve_stack: ["top_drift_m", "top_drop_m", "force_error_rel", "fallen"],
  curve_capsules: ["mean_penetration_m", "max_penetration_m", "rms_speed_end"],
  curve_chain: ["max_joint_error_m", "energy_rel_max"],
};
const titles = {
  max_drift_m: "drift",
  max_penetration_m: "max penetration",
  max_speed_end: "max speed, m/s",
  rms_speed_end: "rms speed, m/s",
  top_drift_m: "drift of the top",
  top_drop_m: "drop of the top",
  force_error_rel: "force error",
  mean_penetration_m: "mean penetration",
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

// ---- Goals ---------------------------------------------------------------------------------------

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

// Phases and memory of the cases that miss their goal.
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
  const text = `Goals that do not hold, by the phases of a step: at 4 substeps the work done once per step is half of it.
Large scenes are bound by memory, see "Scaling".`;
  return lines.length === 0 ? "" : `${text}\n\n${table(["scene", "size", "setting", ...parts, "MB in total"], lines)}`;
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

// Cases where Tenon is slower than the default of another engine.
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
  return table(["scene", "size", "setting", "time", "error"], lines);
}

const text = `# Benchmarks

Generated by \`scripts/benchmarks.mjs\` from the output of \`make bench\`; do not edit.

    make bench                                      # all benchmarks, ten minutes
    make bench BENCH="pyramid:36 capsules:2000"     # scenes, or scenes of a size
    make bench BENCH="pyramid --setting fast"       # Tenon at one setting: fast, default, accurate
    make bench BENCH="scaling memory"               # groups: race, published, scaling, detection, figures, threads, memory, joints, curve
    BENCH_JSON=build/bench.json make bench          # also writes one JSON object per line
    node scripts/benchmarks.mjs build/bench.json    # this page

All engines simulate the same scene: bodies, masses, inertia, shapes, joints and friction are converted
from the Tenon world (\`bench/peers\`), and the quality is measured by writing their poses back to it.
Bullet runs in single precision with sequential impulses and 10 iterations, ODE in double precision
with QuickStep and 20 iterations, both at one step of 1/60 s and at 20 substeps; sleeping is off except
in the scene \`sleeping\`. The engines alternate every few frames. A pile is dropped once, by Tenon, and
all engines start from it. \`ms\` is the median time of a frame of 1/60 s, \`p99\` the 99th percentile: CPU
time of the thread for one thread, wall time for two. Quality is measured at the time in the last
column; slow engines do not get as far.

The machine is a virtual one with 16 cores. Scenes of the group \`threads\` ran alone, the others eight at a
time, each on two cores of its own. Compare figures with each other, not with those of another machine. Tenon
uses ${widest} lanes unless stated otherwise.

## Goals

Time relative to Bullet's default, one thread.

${reached()}

${limits()}

## Contacts

${races("contacts")}

## Mechanisms

The last link of a chain has 100 kg, the others 1 kg. ODE and Bullet at their defaults are fast here
but do not satisfy the joints: see the joint error.

${races("mechanisms")}

### Mechanisms in lanes

Mechanisms of up to 200 bodies and joints with equal topology, such as ragdolls, form batches of four:
their rows are computed, and their matrices assembled, factored and solved, one in each lane of doubles.
If members differ in their active rows, at limits and where friction slips, the matrix of the batch has
the rows of all members, with zeros where a member lacks one; a member that needs further rows is then
solved alone. The bits are the same as without batches. The rest of a substep runs per member: laws of
the rows, signs of the impulses, update of bodies and joints. \`dolls\` and \`pendula\`, below, measure one
such mechanism and many: per joint, many take less time than one.

## Sleeping and free bodies

${races("rest")}

## Where Tenon is slower

${losses()}

## Threads and lanes

Wall time per frame in ms. A mechanism is solved on one thread, so a single chain gains nothing from a
second one. On a busy machine the second thread waits for a core, and the first waits for it. Steps
with too little work stay on one thread. "Scaling" describes the other losses of a second thread.

One thread chooses the colours of contacts, updates the trees, the list of pairs and the groups, solves ropes,
and publishes events. Its share of the instructions of a step at
\`fast\`, from profiles of callgrind by \`node scripts/serial_share.mjs\`, two steps each:

| scene | serial |
| --- | --- |
| pyramid of 5,050 | 1.8 % |
| 10,000 cubes in heaps | 4.0 % |
| 5,000 hulls in a pile | 2.2 % |
| 1,000 hulls and cubes in a drum | 4.2 % |
| 1,000 ragdolls in a pile | 1.8 % |
| cloth of 10,000 particles | 0.3 % |
| 16 tyres | 1.0 % |
| 27 soft cubes in a heap | 5.7 % |

Of the first, half is the tree, which is put in order for 64 steps after it was made, and a quarter the choice of
colours; of heaps, two fifths the search for groups. The five last are from before loads of contacts were summed on
all threads.

Scenes at \`fast\` on all cores, alone on the machine: wall time of a frame in ms, median / 99th percentile, and the
gain of the last over one thread.

${threads()}

The machine limits the gain first: its sixteen threads read 8.4 times as much from their first caches as one does
alone (table in "Scaling"). 32,000 capsules, 5,000 hulls and 1,000 ragdolls are at that limit. 8,000 capsules, the
pyramid and heaps stay below it: by Amdahl's law the serial shares above cost a fifth to a third of the gain, and
threads meet after each colour, about a dozen times a pass. In the drum the pair search and the sweep of bodies on a
moving shape are likely causes; it was not profiled on this machine. The terrain was not shared out at all in this
run: the estimate of work that decides it counted a pair with a mesh like one of boxes. It counts them by their cost
now; a run on 16 cores since then is missing. The small scenes stay on one thread because they end before another is
awake.

Two threads beside one, and lanes:

${variants()}

## Where the time goes

Mean ms per frame, and ns per substep and contact point, joint, constraint or body, on one thread.

${phases()}

## Joints by Gauss-Seidel

Joints of chains solved by the published method, 8 substeps: ns per joint and substep, including the
integration of bodies.

${links()}

The pass over the joints of a chain of 1,000, compared with the maths of as many joints with all data in
registers: the difference is loading and storing bodies.

${maths()}

## Soft bodies

${soft()}

## Published times

Table 1 of Müller et al. 2020 (3.6 GHz) and Deul et al. 2014, at the same substeps. Deul's pile is
bound by the arithmetic of the narrow phase, four fifths of its time: GJK computes the distances of
cones, cylinders and hulls, and with one substep more of them have moved since the last step.

${published()}

A pendulum of three hinges takes 18,250 instructions per substep (\`valgrind --tool=callgrind
--toggle-collect=tn_world_step build/release/tenon run pendulum_triple --substeps 40 --seconds 1\`):

| part | instructions | share |
| --- | --- | --- |
| rows at the bodies' pose, in lanes | 2,110 | 12 % |
| laws: state and bounds of each row | 1,650 | 9 % |
| matrix and right-hand sides | 3,810 | 21 % |
| elimination | 3,230 | 18 % |
| substitution | 2,320 | 13 % |
| errors, bounds, impulses, added inertia | 2,880 | 16 % |
| kick and drift | 1,430 | 8 % |
| rest of the step | 820 | 4 % |

A third of the published time would be 750 ns per substep, 250 ns per hinge. The published method makes
one correction of each of five rows; Tenon solves all 33 unknowns, fifteen impulses and three bodies'
velocities, together in double precision, for velocities and for errors, which takes 5,550 of these
instructions and leaves joint errors of 5 µm. No other part takes more than a fifth. A joint of the
rope takes 11,500 instructions per substep (\`build/release/tenon run rope --seconds 1\`, likewise), 38 %
of them for elimination and substitution, 21 % for the matrix and right-hand sides. All of these are
bound by instructions: the data fit into a core's first two caches.

## Scaling

Time in ns is per substep and per body, joint or contact point, as stated for each scene.

- \`heaps\`: pyramids of ten cubes; per body
- \`dolls\`: ragdolls without shapes; per joint
- \`pendula\`: three rods on hinges each; per joint
- \`cell\`: cubes of 1 cm in a block, and a body of 100 m; per body
- \`tray\`: cubes on one plate; per contact point
- \`star\`: joints on one body; per joint
- \`net\`: a square net of connected nodes; per joint; its loops add cost

${scaling()}

Heaps do not touch each other, so contacts and instructions per body are the same at every size. The
cost of memory access grows: 1,000 bodies nearly fit into a core's own cache, 100,000 into none. µs per
body and frame, by phase of the step:

${growth()}

Rates of reading a buffer again and again, a cache line at a time, shared out among the threads (\`tenon_bench
stream\`):

${stream()}

A contact of a pyramid takes 3,690 floating-point operations a substep, those of idle lanes counted, and 1,040
instructions of eight lanes (\`scripts/flops.py\` on the profile of \`tenon run pyramid --set base=20 --substeps 4
--seconds 0.4\`, which has 24 frames and 590 contacts); two passes read and write its 624 bytes. One core of another
machine (AMD EPYC, \`tenon_bench flops stream:8\`: 252 GFLOP/s without fused products, 113 GB/s) could do that in
15 ns by its arithmetic and in 22 ns by its third cache; it takes 78 ns with 666 cubes and 143 with 5,050. So
neither limits a substep on one thread: operations of a contact wait for earlier ones of the same contact, and
15.3 kB of registers are loaded and stored, mostly of those that spill.

Contacts are prefetched one block ahead when they are packed and read back, which saves a sixth of the
latter; prefetching the next block in a substep, or its bodies, did not help. The blocks dominate the
traffic: a pass reads and writes most of the 600 bytes of a contact.

Solver groups, which no contact connects to others, go through all substeps one at a time, each in the
cache of one core, and a group runs on one thread (\`src/solver/groups.c\`). One pile is a single group:
there the threads synchronise after each colour, and bodies with contacts on both threads move between
their caches. This, and not memory bandwidth or the machine, limits the second thread: two piles of 2,000
capsules, each in its own world on its own thread, at 20 substeps, take this minimum time per frame:

${twins()}

## Jointed figures

Instructions of a step of 100 ragdolls at 4 substeps on one thread, counted by callgrind (scene \`ragdoll\`,
no stairs): in free fall 12 million, in a pile 90 million. Of those of the pile 80 % belong to mechanisms,
three solves a substep, 4,500 for a joint and solve: elimination and substitution in lanes 22 %, rows and
Jacobians 17 %, results 13 %, active sets 7 %, warm starts of contacts 6 %; detection is 4 %, contacts 3 %.
What remains scalar, a row of a member at a time, costs more than the arithmetic of the matrices.

In flight a step reads most of what a world holds of its joints once: 1,000 ragdolls of 16 bodies with 13 kB
each are 211 MB, 5 to 7 ms at the 31 to 40 GB/s of the table above, of 21 ms that the step takes. A hundred
of them fit into the last cache, and take a twentieth of it. \`build/release/tenon_bench figures\` runs these
scenes, chains with springs and servos, cubes that come and go, and a crowd of soft cubes.

## Memory

Memory of a world, as counted by its allocator.

${memory()}

## Substeps

\`TN_QUALITY_FAST\`, \`_DEFAULT\` and \`_ACCURATE\` are 4, 8 and 20 substeps: for steps of 1/60 s, bodies of
a metre, and the gravity of the Earth. The relative penetration of contacts is proportional to g h² / size;
\`tn_substeps_for\` returns the number for other scenes.

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
// The section on robots comes from test/import/bench.mjs and stays as it is.
const robots = existsSync(target) ? (readFileSync(target, "utf8").match(/\n## Robots\n[^]*?(?=\n## |$)/)?.[0] ?? "") : "";
writeFileSync(target, text.trimEnd() + "\n" + robots);
console.log(`wrote ${target}`);
