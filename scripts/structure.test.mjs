// Each rule of structure.mjs holds on a small tree, and fails once when one thing in it is wrong.
//   node --test scripts/structure.test.mjs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { DIAGRAM, drawArchitecture } from "./architecture.mjs";
import { LAYERS, readTree } from "./source_tree.mjs";
import { RULES } from "./structure.mjs";

const GOOD = {
  "include/tenon/tenon.h": "typedef struct tn_world tn_world;\n",
  "src/data/world.h": '#include "base/heap.h"\nheap world_heap(void);\n',
  "src/solver/step.c": '#include "data/world.h"\nvoid step(void)\n{\n  do {\n  } while (0);\n}\n',
  "src/solver/gather.h": "#if TN_LANES < 2\n#error lanes\n#endif\n",
  "src/solver/soft/rows.c": "// Rows.\nint rows(void)\n{\n  return 1;\n}\n",
  "scenes/list.h": "int list;\n",
  "scenes/list.c": '#include "list.h"\n',
  "test/test_step.c": '#include "data/world.h"\n',
  "docs/architecture.md":
    "| `step.c`, `step()` | none |\n\n1. `rows()`,\n   `soft/rows.c`\n2. None\n",
  "README.md":
    "`src/solver`, `step.c`, `step.[ch]`, `step()`, `tn_world`, `tn_*`, `test/test_<name>.c`\n",
};
for (const layer of LAYERS)
  GOOD[`src/${layer}/${layer === "base" ? "heap" : `${layer}_type`}.h`] ??= "";
GOOD["src/base/heap.h"] = "typedef int heap;\n";

const body = (lines) => `void f(void)\n{\n${"  ;\n".repeat(lines - 3)}}\n`;
const lines = (count) => "\n".repeat(count);

// For each rule: what is wrong, the files that make it so, and the violation.
const BAD = {
  layers: [
    [
      "a lower folder includes a higher one",
      { "src/data/world.h": '\n#include "solver/gather.h"\n' },
    ],
    ["an include without its folder", { "src/solver/step.c": '\n#include "gather.h"\n' }],
    ["a folder that is no layer", { "src/other/other.c": "" }],
  ],
  "solver parts": [
    ["a part includes the world", { "src/solver/soft/rows.c": '\n#include "data/world.h"\n' }],
    ["a part names the world", { "src/solver/mechanism/tree.c": "\nvoid f(tn_world *world);\n" }],
  ],
  "private headers": [["a scene includes src", { "scenes/list.c": '\n#include "data/world.h"\n' }]],
  "headers stand alone": [["a type is missing", { "src/data/shapes.h": "heap x;\n" }]],
  "file names": [["two files of one name", { "src/world/step.c": "" }]],
  "file sizes": [
    ["a long file", { "test/test_step.c": lines(1001) }],
    ["a long step.c", { "src/solver/step.c": lines(151) }],
    ["a long world.h", { "src/data/world.h": lines(151) }],
  ],
  "function sizes": [
    ["a long function", { "test/test_step.c": body(81) }],
    [
      "long functions in src",
      { "src/solver/step.c": body(31), "src/solver/soft/rows.c": body(31) },
    ],
  ],
  braces: [
    ["if", { "scenes/list.c": "int f(int a)\n{\n  if (a == (1)) return 1;\n  return 0;\n}\n" }],
    ["else", { "scenes/list.c": "void f(int a)\n{\n  if (a) {\n  } else\n    f(1);\n}\n" }],
    ["for", { "scenes/list.c": "void f(int a)\n{\n  for (;;)\n    f(1);\n}\n" }],
    ["while", { "scenes/list.c": "void f(int a)\n{\n  if (a) {\n  }\n  while (a--)\n    ;\n}\n" }],
    ["do", { "scenes/list.c": "void f(int a)\n{\n  do f(1); while (a);\n}\n" }, 2],
  ],
  "names in documents": [
    ["a file", { "docs/page.md": "`src/data/none.h`\n" }],
    ["a short path", { "docs/page.md": "`none.c`\n" }],
    ["a function", { "docs/page.md": "`none()`\n" }],
    ["a public name", { "docs/page.md": "`tn_none`\n" }],
    ["public names", { "docs/page.md": "`tn_none_*`\n" }],
  ],
  "functions beside files": [
    ["no file", { "docs/architecture.md": "| `rows()`, `rows.c` | `step()` |\n" }],
    [
      "another file",
      { "docs/architecture.md": "- `rows.c`\n- `step()`,\n  `solver/soft/rows.c`\n" },
    ],
  ],
  "machine names": [
    ["a path", { "docs/page.md": `see ${["", "home", "me"].join("/")}\n` }],
    ["a folder", { "scripts/run": `cd ${["", "work"].join("/")}\n` }],
    ["a private document", { "docs/page.md": `see ${["shared", "design.md"].join("/")}\n` }],
  ],
  diagram: [["an old diagram", { [DIAGRAM]: "<svg/>\n" }]],
};

function write(root, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

// Calls `use` with the tree of these files.
async function withTree(files, use) {
  const root = mkdtempSync(join(tmpdir(), "structure-"));
  try {
    write(root, files);
    if (!files[DIAGRAM]) write(root, { [DIAGRAM]: drawArchitecture(readTree(root)) });
    await use(readTree(root));
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("all rules hold on the small tree", () =>
  withTree(GOOD, async (tree) => {
    for (const [name, rule] of Object.entries(RULES)) assert.deepEqual(await rule(tree), [], name);
  }));

test("each rule has a case", () => assert.deepEqual(Object.keys(BAD), Object.keys(RULES)));

for (const [name, cases] of Object.entries(BAD)) {
  for (const [what, files, count = 1] of cases) {
    test(`${name}: ${what}`, () =>
      withTree({ ...GOOD, ...files }, async (tree) => {
        const found = await RULES[name](tree);
        assert.equal(found.length, count, found.join("\n"));
        const paths = [...Object.keys(files), "src"];
        for (const line of found) assert.match(line, new RegExp(`^(${paths.join("|")}):\\d+: `));
      }));
  }
}
