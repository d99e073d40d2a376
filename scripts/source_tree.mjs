// The files of the project as the checks of its structure see them: text, C code without comments
// and strings, includes and functions.
import { readFileSync, readdirSync } from "node:fs";
import { basename, join, posix } from "node:path";

// Folders of src from the bottom up: a file may include headers of its own folder and of those
// before it.
export const LAYERS = ["base", "kernel", "collide", "data", "detect", "solver", "world", "tools"];
const FOLDERS = ["batch", "bench", "cli", "cmake", "docs", "files", "import", "include", "scenes", "scripts", "src"];
FOLDERS.push("fuzz", "python", "study", "test", "web");
const SKIPPED = new Set([".git", "build", "node_modules"]);
const BINARY = /\.(png|jpg|gif|glb|bin|ico|wasm|woff2?|so|pyc)$/;

// ---- C code --------------------------------------------------------------------------------------

const spaces = (text) => text.replace(/[^\n]/g, " ");

// Comments and the contents of strings and characters become spaces: columns and lines stay.
export function withoutComments(text) {
  const token = /\/\/(?:[^\n\\]|\\[^])*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/g;
  return text.replace(token, (found) =>
    found[0] === "/" ? spaces(found) : found[0] + spaces(found.slice(1, -1)) + found[0],
  );
}

// Directives become spaces as well, with the lines that continue them.
export function withoutDirectives(code) {
  return code.replace(/^[ \t]*#(?:[^\n\\]|\\[^])*/gm, spaces);
}

export const lineAt = (text, index) => text.slice(0, index).split("\n").length;

// Index after the bracket that closes the one at `open`.
export function afterBracket(code, open) {
  const close = { "(": ")", "{": "}" }[code[open]];
  let depth = 0;
  for (let i = open; i < code.length; ++i) {
    if (code[i] === code[open]) ++depth;
    if (code[i] === close && --depth === 0) return i + 1;
  }
  return code.length;
}

// Blocks that hold definitions rather than statements: of C++, and of structures.
const CONTAINER =
  /^\s*(extern "\s*"|namespace\b[^()]*|(template\s*<[^{]*>\s*)?(class|struct)\b[^()=]*)$/;

// Functions defined in `code`, which has neither comments nor directives. Lines are counted from the
// first one of the definition to its closing brace.
export function findFunctions(code, first = 0, last = code.length) {
  const found = [];
  let start = first;
  for (let i = first; i < last; ++i) {
    if (code[i] === ";") start = i + 1;
    if (code[i] !== "{") continue;
    const head = code.slice(start, i);
    const end = afterBracket(code, i);
    if (CONTAINER.test(head)) {
      found.push(...findFunctions(code, i + 1, end - 1));
    } else if (/\([^=]*[)\]](\s|const|noexcept|override)*$/.test(head) && !head.includes("=")) {
      const begin = start + head.replace(/^(\s*\w+\([^()]*\)\n)+/, spaces).search(/\S/);
      const name = head.match(/(\w+)\s*\([^()]*(\([^()]*\)[^()]*)*\)[^()]*$/)?.[1] ?? "?";
      const lines = lineAt(code.slice(begin, end), end - begin);
      found.push({ name, head, body: code.slice(i, end), line: lineAt(code, begin), lines });
    }
    i = end - 1;
    start = end;
  }
  return found;
}

function findIncludes(text) {
  const found = [];
  text.split("\n").forEach((line, i) => {
    const match = line.match(/^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)/);
    if (match) found.push({ name: match[1] ?? match[2], system: !match[1], line: i + 1 });
  });
  return found;
}

// ---- Files ---------------------------------------------------------------------------------------

class SourceFile {
  constructor(root, path) {
    this.path = path;
    this.folder = posix.dirname(path);
    this.name = basename(path);
    this.text = readFileSync(join(root, path), "utf8");
    this.isC = /\.([ch]|cpp|cu)$/.test(path);
    this.isHeader = path.endsWith(".h");
  }
  once(key, make) {
    const value = make();
    Object.defineProperty(this, key, { value });
    return value;
  }
  get lines() {
    return this.once(
      "lines",
      () => this.text.split("\n").length - (this.text.endsWith("\n") ? 1 : 0),
    );
  }
  get code() {
    return this.once("code", () => withoutDirectives(withoutComments(this.text)));
  }
  get includes() {
    return this.once("includes", () => findIncludes(this.text));
  }
  get functions() {
    return this.once("functions", () => findFunctions(this.code));
  }
  // Folder of src that a file of src belongs to: src/solver/soft/x.c is of "solver".
  get layer() {
    return this.path.split("/")[1];
  }
}

function* pathsBelow(root, folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name);
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory() && (folder !== "." || FOLDERS.includes(entry.name))) {
      yield* pathsBelow(root, path);
    } else if (entry.isFile() && !BINARY.test(path)) {
      yield path;
    }
  }
}

// All text files of the project in order of their paths, with `get` by path.
export function readTree(root) {
  const files = [...pathsBelow(root, ".")].sort().map((path) => new SourceFile(root, path));
  const byPath = new Map(files.map((file) => [file.path, file]));
  return { root, files, get: (path) => byPath.get(path), c: files.filter((f) => f.isC) };
}

export const below = (file, folder) => file.path.startsWith(`${folder}/`);

// The file of src that an include names, or undefined.
export function includedSource(tree, file, include) {
  const beside = tree.get(posix.join(file.folder, include.name));
  const named = tree.get(posix.join("src", include.name));
  return beside && !below(beside, "src") ? undefined : named;
}
