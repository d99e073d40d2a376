#!/usr/bin/env node
// Draws docs/architecture.svg from the includes of the sources:
//   node scripts/architecture.mjs
// Folders of src are boxes, each above all that it includes. Of the arrows, those that follow from
// others are left out. An include that breaks the order of the layers is drawn in red.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { LAYERS, below, readTree } from "./source_tree.mjs";

export const DIAGRAM = "docs/architecture.svg";

const TEXT = {
  base: "memory, threads, messages",
  kernel: "pure maths of rows, in lanes",
  collide: "geometry of two shapes",
  data: "structures that a world keeps: bodies, shapes, pairs, contacts, joints, soft bodies",
  detect: "broad phase, narrow phase, continuous collision, contacts of soft bodies",
  solver: "the step: layout, warm start, substeps, results; islands, recovery",
  world: "create, destroy, get, set; queries, measures, snapshots, debug draw",
  tools: "inverse kinematics",
};
const PART_TEXT = {
  contact: ["blocks, friction,", "impacts"],
  joint: ["Gauss-Seidel rows,", "breaking"],
  mechanism: ["joints that are", "solved directly"],
  soft: ["rows, chains, clusters,", "tearing"],
};
const PROGRAMS = {
  cli: "the command",
  web: "the gallery",
  bench: "benchmarks",
  study: "comparisons",
  test: "tests",
  files: "scene files",
  scenes: "models",
};
// Folders that may stand side by side at the bottom, from left to right; the others have a row each.
const BOTTOM = ["base", "collide", "kernel"];

// ---- Graph ---------------------------------------------------------------------------------------

// For each folder of src the folders that it includes, itself left out.
function folderGraph(tree) {
  const graph = new Map(LAYERS.map((layer) => [layer, new Set()]));
  for (const file of tree.c.filter((f) => below(f, "src") && graph.has(f.layer))) {
    for (const include of file.includes.filter((i) => !i.system)) {
      const target = include.name.split("/")[0];
      if (graph.has(target) && target !== file.layer) graph.get(file.layer).add(target);
    }
  }
  return graph;
}

const isDown = (from, to) => LAYERS.indexOf(to) < LAYERS.indexOf(from);

// Edges without those that a longer path implies.
function reducedEdges(graph) {
  const down = (from) => [...graph.get(from)].filter((to) => isDown(from, to));
  const reaches = (from, to) => down(from).some((next) => next === to || reaches(next, to));
  return LAYERS.flatMap((from) =>
    down(from)
      .filter((to) => !down(from).some((next) => next !== to && reaches(next, to)))
      .map((to) => ({ from, to })),
  );
}

// Rows of folders from the bottom up: a folder stands above all that it includes. Those of BOTTOM
// stand as high as the folders that include them allow.
function folderRows(graph) {
  const above = (layer) => {
    const users = BOTTOM.filter((user) => isDown(user, layer) && graph.get(user).has(layer));
    return Math.max(0, ...users.map((user) => above(user) + 1));
  };
  const depth = new Map(BOTTOM.map((layer) => [layer, above(layer)]));
  const rows = [];
  for (const layer of BOTTOM)
    (rows[Math.max(...depth.values()) - depth.get(layer)] ??= []).push(layer);
  return [...rows, ...LAYERS.filter((layer) => !BOTTOM.includes(layer)).map((layer) => [layer])];
}

function solverParts(tree) {
  const names = tree.c.map((f) => f.path.match(/^src\/solver\/(\w+)\//)?.[1]).filter((n) => n);
  return [...new Set(names)].sort();
}

// ---- Drawing -------------------------------------------------------------------------------------

const WIDTH = 840;
const MARGIN = 20;
const INSET = 24; // of what is inside a frame
const GAP = 30; // between rows: an arrow's length
const BETWEEN = 14; // boxes of a row
const BOX = 54;
const SOLVER = 136;
const CHANNEL = 26; // width that a long edge takes

const STYLE = `
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: #5f6368; }
.name { font-size: 15px; font-weight: 600; fill: #262a30; }
.paper { fill: #f3efe8; }
.frame { fill: none; stroke: #c9bfad; stroke-dasharray: 5 4; }
.box { fill: #fbf9f5; stroke: #b9ad98; }
.part { fill: #efe9df; stroke: #d8cfbf; }
.api { fill: #b4502d; stroke: none; }
.on-api { fill: #ffffff; }
.arrow { fill: none; stroke: #5f6368; stroke-width: 1.5; marker-end: url(#head); }
.wrong { stroke: #c8372d; stroke-dasharray: 5 3; }
.tip { fill: #5f6368; }
@media (prefers-color-scheme: dark) {
  text { fill: #a3a8b0; }
  .name { fill: #e9e5dd; }
  .paper { fill: #15181d; }
  .frame { stroke: #48505c; }
  .box { fill: #1f242b; stroke: #48505c; }
  .part { fill: #2a3038; stroke: #3c434e; }
  .api { fill: #f0955f; }
  .on-api { fill: #1b1f25; }
  .arrow { stroke: #a3a8b0; }
  .wrong { stroke: #ff8a7a; }
  .tip { fill: #a3a8b0; }
}`;

const label = (x, y, text, kind = "", anchor = "middle") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}"${kind && ` class="${kind}"`}>${text}</text>`;
const rect = (b, kind, radius = 6) =>
  `<rect class="${kind}" x="${b.x}" y="${b.y}" width="${b.w}" height="${b.h}" rx="${radius}"/>`;
const middle = (b) => b.x + b.w / 2;

// `count` boxes side by side.
function split(area, count, between = BETWEEN) {
  const w = (area.w - between * (count - 1)) / count;
  return Array.from({ length: count }, (_, i) => ({ ...area, x: area.x + i * (w + between), w }));
}

function drawParts(box, parts) {
  const area = { x: box.x + 14, y: box.y + 56, w: box.w - 28, h: box.h - 70 };
  return split(area, parts.length, 10).flatMap((part, i) => [
    rect(part, "part", 4),
    label(middle(part), part.y + 22, parts[i], "name"),
    ...(PART_TEXT[parts[i]] ?? []).map((line, k) =>
      label(middle(part), part.y + 40 + 16 * k, line),
    ),
  ]);
}

function drawFolder(name, box, parts) {
  const out = [rect(box, "box")];
  out.push(label(middle(box), box.y + 23, name, "name"));
  out.push(label(middle(box), box.y + 42, TEXT[name]));
  return name === "solver" && parts.length ? [...out, ...drawParts(box, parts)] : out;
}

// Edges that pass a row get lanes on the right, counted from the outside; those that begin further up
// are outside of the others.
function assignLanes(rows, edges) {
  const rowOf = (name) => rows.findIndex((row) => row.includes(name));
  const long = edges
    .map((edge) => Object.assign(edge, { top: rowOf(edge.from), end: rowOf(edge.to) }))
    .filter((edge) => edge.top - edge.end > 1)
    .sort((a, b) => b.top - a.top);
  for (const [i, edge] of long.entries()) {
    const outside = long.slice(0, i).filter((other) => other.end < edge.top);
    edge.lane = Math.max(-1, ...outside.map((other) => other.lane)) + 1;
  }
  return long;
}

// Boxes of the folders, the first row at the bottom, and the height of all. Rows leave room for the
// edges that pass them.
function placeRows(rows, edges, top) {
  const boxes = new Map();
  const long = assignLanes(rows, edges);
  let y = top;
  for (let r = rows.length - 1; r >= 0; --r) {
    const passing = long.filter((edge) => edge.top > r && edge.end < r);
    const lanes = Math.max(-1, ...passing.map((edge) => edge.lane)) + 1;
    const h = rows[r].includes("solver") ? SOLVER : BOX;
    const area = { x: MARGIN + INSET, y, w: WIDTH - 2 * (MARGIN + INSET) - CHANNEL * lanes, h };
    split(area, rows[r].length).forEach((box, i) => boxes.set(rows[r][i], box));
    y += h + GAP;
  }
  return { boxes, bottom: y - GAP };
}

// Straight down between neighbouring rows; past the rows in between in a lane.
function arrowDown(a, b, lane) {
  const start = a.y + a.h;
  if (lane === undefined) {
    const x = a.w < b.w ? middle(a) : middle(b);
    return `<path class="arrow" d="M${x} ${start}V${b.y - 1}"/>`;
  }
  const right = WIDTH - MARGIN - INSET - CHANNEL * (lane + 0.5);
  const end = b.x + b.w > right ? "" : `V${b.y - GAP / 2}H${b.x + b.w - 12}`;
  return `<path class="arrow" d="M${right} ${start}${end}V${b.y - 1}"/>`;
}

// An include that must not be, along the left side.
function arrowWrong(a, b, left) {
  const over = a.y - GAP / 2;
  return `<path class="arrow wrong" d="M${a.x + 14} ${a.y}V${over}H${left}V${b.y + b.h / 2}H${b.x - 1}"/>`;
}

function drawArrows(graph, edges, boxes) {
  const wrong = LAYERS.flatMap((from) =>
    [...graph.get(from)]
      .filter((to) => !isDown(from, to))
      .map((to) => [boxes.get(from), boxes.get(to)]),
  );
  return [
    ...edges.map(({ from, to, lane }) => arrowDown(boxes.get(from), boxes.get(to), lane)),
    ...wrong.map(([a, b], i) => arrowWrong(a, b, MARGIN + INSET - 7 - 3 * i)),
  ];
}

// Programs, and the public headers that they and the library include.
function drawTop() {
  const out = [];
  const names = Object.keys(PROGRAMS);
  const strip = { x: MARGIN, y: MARGIN, w: WIDTH - 2 * MARGIN, h: BOX };
  split(strip, names.length, 10).forEach((box, i) => {
    out.push(rect(box, "box"), label(middle(box), box.y + 23, names[i], "name"));
    out.push(label(middle(box), box.y + 42, PROGRAMS[names[i]]));
  });
  const api = { x: MARGIN, y: strip.y + strip.h + GAP, w: strip.w, h: 38 };
  out.push(`<path class="arrow" d="M${WIDTH / 2} ${strip.y + strip.h}V${api.y - 1}"/>`);
  out.push(rect(api, "api"));
  out.push(label(WIDTH / 2, api.y + 24, "include/tenon: the public API", "name on-api"));
  const bottom = api.y + api.h + GAP;
  out.push(`<path class="arrow" d="M${WIDTH / 2} ${bottom}V${bottom - GAP + 1}"/>`);
  return { out, bottom };
}

export function drawArchitecture(tree) {
  const graph = folderGraph(tree);
  const top = drawTop();
  const edges = reducedEdges(graph);
  const frame = { x: MARGIN, y: top.bottom, w: WIDTH - 2 * MARGIN };
  const { boxes, bottom } = placeRows(folderRows(graph), edges, frame.y + 40);
  frame.h = bottom + INSET - frame.y;
  const height = frame.y + frame.h + 44;
  const parts = solverParts(tree);
  const notes =
    "An arrow points to a folder whose headers are included. Arrows that follow from others are left out.";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Folders of the sources and their includes">`,
    `<style>${STYLE}\n</style>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="10"/>`,
    ...top.out,
    rect(frame, "frame", 8),
    label(frame.x + INSET, frame.y + 26, "src", "name", "start"),
    ...LAYERS.flatMap((name) => drawFolder(name, boxes.get(name), parts)),
    ...drawArrows(graph, edges, boxes),
    label(WIDTH / 2, height - 18, notes),
    "</svg>",
    "",
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  writeFileSync(join(root, DIAGRAM), drawArchitecture(readTree(root)));
}
