#!/usr/bin/env node
// Checks the structure of the project: which folder includes which, sizes of files and functions,
// braces, and the names that the documents use. Prints `file:line: what is wrong` for each violation
// and fails if there is one.
//   node scripts/structure.mjs [FOLDER]
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DIAGRAM, drawArchitecture } from "./architecture.mjs";
import {
  LAYERS,
  afterBracket,
  below,
  includedSource,
  lineAt,
  readTree,
  withoutComments,
} from "./source_tree.mjs";

const MAX_FILE_LINES = 1000;
const MAX_FUNCTION_LINES = 80;
const MAX_P90_LINES = 30; // of functions in src
const SHORT_FILES = { "src/data/world.h": 150, "src/solver/step.c": 150 };

const at = (file, line, text) => `${file.path}:${line}: ${text}`;

// ---- Includes ------------------------------------------------------------------------------------

export function checkLayers(tree) {
  const found = [];
  for (const file of tree.c.filter((f) => below(f, "src"))) {
    const own = LAYERS.indexOf(file.layer);
    if (own < 0) found.push(at(file, 1, `src/${file.layer} is not one of the layers`));
    for (const include of file.includes.filter((i) => !i.system && !i.name.startsWith("tenon/"))) {
      const layer = LAYERS.indexOf(include.name.split("/")[0]);
      if (layer < 0) {
        found.push(at(file, include.line, `"${include.name}" is not a path from src`));
      } else if (layer > own) {
        found.push(at(file, include.line, `${file.layer} must not include "${include.name}"`));
      }
    }
  }
  return found;
}

// Solvers of mechanisms and soft bodies work on their own data.
export function checkSolverParts(tree) {
  const found = [];
  const parts = ["src/solver/mechanism", "src/solver/soft"];
  for (const file of tree.c.filter((f) => parts.some((part) => below(f, part)))) {
    file.text.split("\n").forEach((line, i) => {
      if (/#\s*include\s*"data\/world\.h"/.test(line)) {
        found.push(at(file, i + 1, `${file.folder} must not include "data/world.h"`));
      } else if (/\btn_world\b/.test(line)) {
        found.push(at(file, i + 1, `${file.folder} must not mention tn_world`));
      }
    });
  }
  return found;
}

export function checkPrivateHeaders(tree) {
  const found = [];
  for (const file of tree.c.filter((f) => !["src", "test", "fuzz"].some((folder) => below(f, folder)))) {
    for (const include of file.includes) {
      if (includedSource(tree, file, include)) {
        found.push(at(file, include.line, `"${include.name}" is a header of src`));
      }
    }
  }
  return found;
}

// Folders whose headers are included by name alone.
const INCLUDE_FOLDERS = [
  "include",
  "src",
  "scenes",
  "files",
  "import",
  "import/include",
  "batch",
  "batch/include",
  "cli",
  "study",
  "test",
  "test/support",
  "fuzz",
  "bench/peers",
  "python/glue",
];

// The compiler's first error for a header on its own, or "".
function compileHeader(tree, file, flags) {
  const folders = INCLUDE_FOLDERS.map((folder) => `-I${join(tree.root, folder)}`);
  const command = ["-std=c17", "-fsyntax-only", "-x", "c", "-DTENON_STATIC", ...folders, ...flags];
  return new Promise((resolve) => {
    execFile(
      process.env.CC || "cc",
      [...command, join(tree.root, file.path)],
      (error, _, stderr) => {
        const line = stderr.split("\n").find((text) => text.includes("error")) ?? String(error);
        resolve(error ? line.replace(`${tree.root}/`, "") : "");
      },
    );
  });
}

// Headers of vector code need a lane width above one.
export async function checkHeaders(tree) {
  const found = [];
  const waiting = tree.c.filter((f) => f.isHeader);
  const work = async () => {
    for (let file = waiting.pop(); file; file = waiting.pop()) {
      const error = await compileHeader(tree, file, []);
      if (error && (await compileHeader(tree, file, ["-DTN_LANES=4"]))) {
        found.push(at(file, 1, `does not stand alone: ${error}`));
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return found.sort();
}

// ---- Names and sizes -----------------------------------------------------------------------------

export function checkFileNames(tree) {
  const found = [];
  const first = new Map();
  for (const file of tree.c.filter((f) => below(f, "src"))) {
    if (first.has(file.name)) found.push(at(file, 1, `has the name of ${first.get(file.name)}`));
    else first.set(file.name, file.path);
  }
  return found;
}

export function checkFileSizes(tree) {
  return tree.c
    .filter((file) => file.lines > (SHORT_FILES[file.path] ?? MAX_FILE_LINES))
    .map((file) => {
      const most = SHORT_FILES[file.path] ?? MAX_FILE_LINES;
      return at(file, most + 1, `${file.lines} lines, at most ${most}`);
    });
}

const share = (sorted, part) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;

// Lengths of the functions of src.
export function functionFigures(tree) {
  const own = tree.c.filter((file) => below(file, "src")).flatMap((file) => file.functions);
  const lengths = own.map((f) => f.lines).sort((a, b) => a - b);
  return {
    count: own.length,
    median: share(lengths, 0.5),
    p90: share(lengths, 0.9),
    max: share(lengths, 1),
  };
}

export function checkFunctionSizes(tree) {
  const found = tree.c.flatMap((file) =>
    file.functions
      .filter((f) => f.lines > MAX_FUNCTION_LINES)
      .map((f) =>
        at(file, f.line, `${f.name}() has ${f.lines} lines, at most ${MAX_FUNCTION_LINES}`),
      ),
  );
  const { p90 } = functionFigures(tree);
  if (p90 > MAX_P90_LINES) {
    found.push(`src:1: one function in ten has ${p90} lines or more, at most ${MAX_P90_LINES}`);
  }
  return found;
}

// ---- Braces --------------------------------------------------------------------------------------

// Whether a `while` ends a do statement.
function endsDo(code, index) {
  const end = code.slice(0, index).search(/\}\s*$/);
  if (end < 0) return false;
  let depth = 0;
  for (let i = end; i >= 0; --i) {
    if (code[i] === "}") ++depth;
    if (code[i] === "{" && --depth === 0) return /\bdo\s*$/.test(code.slice(0, i));
  }
  return false;
}

export function checkBraces(tree) {
  const found = [];
  for (const file of tree.c) {
    for (const match of file.code.matchAll(/\b(if|else|for|while|do|switch)\b/g)) {
      const after = match.index + match[0].length;
      const plain = match[0] === "else" || match[0] === "do";
      const open = plain ? after : file.code.indexOf("(", after);
      const body = file.code.slice(plain ? after : afterBracket(file.code, open)).trimStart();
      const ok =
        body[0] === "{" ||
        (match[0] === "else" && /^if\b/.test(body)) ||
        (match[0] === "while" && endsDo(file.code, match.index));
      if (!ok) found.push(at(file, lineAt(file.code, match.index), `${match[0]} without braces`));
    }
  }
  return found;
}

// ---- Documents -----------------------------------------------------------------------------------

const DOCUMENTS = /^(docs\/[^/]+|README|CONTRIBUTING)\.md$/;

// `name` as a pattern: * and <...> stand for anything, [ch] and {a,b} for a choice.
function pattern(name) {
  const text = name
    .replace(/[.+?^$()|\\]/g, "\\$&")
    .replace(/\*|<\w+>/g, "\\w*")
    .replace(/\{([^}]*)\}/g, (_, list) => `(${list.replaceAll(",", "|")})`);
  return new RegExp(`(^|/)${text}/?$`);
}

function knownNames(tree) {
  const words = new Set();
  const functions = new Set();
  const folders = new Set();
  for (const file of tree.files) {
    for (let f = file.folder; f !== "."; f = dirname(f)) folders.add(f);
    if (!file.isC && !/\.(m?js|txt|cmake|py)$/.test(file.path)) continue;
    const text = file.isC ? withoutComments(file.text) : file.text;
    for (const match of text.matchAll(/\b[A-Za-z_]\w*\b(\s*\()?/g)) {
      words.add(match[0].replace(/\s*\($/, ""));
      if (match[1]) functions.add(match[0].replace(/\s*\($/, ""));
    }
  }
  return { words, functions, paths: [...tree.files.map((file) => file.path), ...folders] };
}

// What of a name in backticks is not in the tree.
function missingNames(known, text) {
  if (/^src(\/|$)/.test(text) || /^[\w./*<>{},[\]-]+\.[ch\][]+$/.test(text)) {
    return known.paths.some((path) => pattern(text).test(path)) ? [] : [text];
  }
  const called = text.match(/^([A-Za-z_]\w*)\(/)?.[1];
  const missing = called && !known.functions.has(called) ? [`${called}()`] : [];
  for (const [name, end] of text.matchAll(/\b(?:tn|TN)_\w*(\*|\.\.\.)?/g)) {
    const stem = name.replace(/(\*|\.\.\.)$/, "");
    const whole = !end && !stem.endsWith("_");
    const exists = whole ? known.words.has(stem) : [...known.words].some((w) => w.startsWith(stem));
    if (!exists && stem !== called) missing.push(name);
  }
  return missing;
}

export function checkDocumentNames(tree) {
  const found = [];
  const known = knownNames(tree);
  for (const file of tree.files.filter((f) => DOCUMENTS.test(f.path))) {
    const text = file.text.replace(/^```[^]*?^```/gm, (block) => block.replace(/[^\n]/g, " "));
    for (const match of text.matchAll(/`([^`\n]+)`/g)) {
      for (const name of missingNames(known, match[1])) {
        found.push(at(file, lineAt(text, match.index), `\`${name}\` is not in the tree`));
      }
    }
  }
  return found;
}

// Cells of tables, items of lists and paragraphs, each with its place in the text.
function* textUnits(text) {
  for (const match of text.matchAll(/^\|.*|^(?:(?!\||$).+\n?)+/gm)) {
    const parts =
      match[0][0] === "|"
        ? match[0].matchAll(/[^|]+/g)
        : match[0].matchAll(/(?:(?!\n(?:- |\d+\. ))[^])+/g);
    for (const part of parts) yield { text: part[0], index: match.index + part.index };
  }
}

// In the page on the architecture each function stands beside a file that defines it.
export function checkFunctionPlaces(tree) {
  const found = [];
  const page = tree.get("docs/architecture.md");
  const defines = (path, name) =>
    tree.c.some(
      (f) => `/${f.path}`.endsWith(`/${path}`) && f.functions.some((x) => x.name === name),
    );
  for (const unit of page ? textUnits(page.text) : []) {
    const files = [...unit.text.matchAll(/`([\w./]+\.[ch])`/g)].map((match) => match[1]);
    for (const match of unit.text.matchAll(/`((?!tn_)\w+)\(\)`/g)) {
      if (!files.some((path) => defines(path, match[1]))) {
        const line = lineAt(page.text, unit.index + match.index);
        found.push(at(page, line, `\`${match[1]}()\` is not in a file named beside it`));
      }
    }
  }
  return found;
}

// Names that mean something on one machine only.
const MACHINE_NAMES = new RegExp(
  `(?<![\\w.~*-])/(work|root|home)(?=/|$|[\\s"'\`:;,)])|\\bshared/${"design"}\\.md`,
);

export function checkMachineNames(tree) {
  const found = [];
  for (const file of tree.files) {
    file.text.split("\n").forEach((line, i) => {
      const match = line.match(MACHINE_NAMES);
      if (match) found.push(at(file, i + 1, `names ${match[0]}, which is not part of the project`));
    });
  }
  return found;
}

export function checkDiagram(tree) {
  const file = tree.get(DIAGRAM);
  return file?.text === drawArchitecture(tree)
    ? []
    : [`${DIAGRAM}:1: does not show the includes of today: node scripts/architecture.mjs`];
}

// ---- All of them ---------------------------------------------------------------------------------

export const RULES = {
  layers: checkLayers,
  "solver parts": checkSolverParts,
  "private headers": checkPrivateHeaders,
  "headers stand alone": checkHeaders,
  "file names": checkFileNames,
  "file sizes": checkFileSizes,
  "function sizes": checkFunctionSizes,
  braces: checkBraces,
  "names in documents": checkDocumentNames,
  "functions beside files": checkFunctionPlaces,
  "machine names": checkMachineNames,
  diagram: checkDiagram,
};

async function main(root) {
  const tree = readTree(root);
  const counts = [];
  for (const [name, rule] of Object.entries(RULES)) {
    const found = await rule(tree);
    for (const line of found) console.log(line);
    if (found.length > 0) counts.push(`${found.length} ${name}`);
  }
  const { count, median, p90, max } = functionFigures(tree);
  console.log(
    `structure: ${tree.files.length} files; ${count} functions in src, lines: median ${median}, ` +
      `90th percentile ${p90}, longest ${max}`,
  );
  console.log(
    `structure: ${counts.length ? `violations: ${counts.join(", ")}` : "all rules hold"}`,
  );
  return counts.length ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.exitCode = await main(
    process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."),
  );
}
