#!/usr/bin/env node
// Share of a step that runs on one thread only, from a profile of callgrind on one thread: what
// tn_world_step() executes outside of task_run() and task_run_stages().
//
//   valgrind --tool=callgrind --toggle-collect=tn_world_step --callgrind-out-file=build/profile.out \
//     build/release/tenon run pyramid --set base=100 --substeps 4 --seconds 0.1
//   node scripts/serial_share.mjs build/profile.out
import { readFileSync } from "node:fs";

const ROOT = "tn_world_step";
const PARALLEL = new Set(["task_run", "task_run_stages"]);
const LEAST = 0.003; // of the whole, for a line

// Instructions of each function itself, and of each of its calls.
function parse(text) {
  const names = new Map(), functions = new Map();
  const nameOf = (field) => {
    const [, id, name] = field.match(/^\((\d+)\)(?: (.*))?$/);
    if (name) {
      names.set(id, name.replace(/"\d+$/, ""));
    }
    return names.get(id);
  };
  const entry = (name) => {
    if (!functions.has(name)) {
      functions.set(name, { self: 0, calls: new Map() });
    }
    return functions.get(name);
  };
  let current, callee, isCall = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("fn=")) {
      current = entry(nameOf(line.slice(3)));
    } else if (line.startsWith("cfn=")) {
      callee = nameOf(line.slice(4));
    } else if (line.startsWith("calls=")) {
      isCall = true;
    } else if (/^[+\-*\d]/.test(line) && current) {
      const cost = Number(line.split(" ")[1]);
      if (isCall) {
        current.calls.set(callee, (current.calls.get(callee) ?? 0) + cost);
      } else {
        current.self += cost;
      }
      isCall = false;
    }
  }
  return functions;
}

const functions = parse(readFileSync(process.argv[2], "utf8"));
if (!functions.has(ROOT)) {
  console.error(`serial_share: no ${ROOT}() in ${process.argv[2]}`);
  process.exit(1);
}

const wholeOf = (f) => [...f.calls.values()].reduce((sum, cost) => sum + cost, f.self);

// Instructions of a function and what it calls, without parallel loops. Calls from several places
// count in proportion.
const serial = new Map();
function serialOf(name) {
  if (!serial.has(name)) {
    serial.set(name, 0); // recursion
    const f = functions.get(name);
    let sum = f?.self ?? 0;
    for (const [to, cost] of f?.calls ?? []) {
      const whole = functions.has(to) ? wholeOf(functions.get(to)) : 0;
      sum += PARALLEL.has(to) || whole === 0 ? 0 : (cost * serialOf(to)) / whole;
    }
    serial.set(name, sum);
  }
  return serial.get(name);
}

const all = wholeOf(functions.get(ROOT));
function print(name, scale, depth, path) {
  const cost = scale * serialOf(name);
  if (cost < LEAST * all || path.includes(name)) {
    return;
  }
  const share = ((100 * cost) / all).toFixed(1).padStart(5);
  console.log(`${share} %  ${"  ".repeat(depth)}${name}`);
  const calls = [...functions.get(name).calls].filter(([to]) => !PARALLEL.has(to));
  for (const [to, part] of calls) {
    print(to, (scale * part) / wholeOf(functions.get(to)), depth + 1, [...path, name]);
  }
}
print(ROOT, 1, 0, []);
