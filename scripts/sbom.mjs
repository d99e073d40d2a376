// The software bill of materials (CycloneDX 1.5): what is linked into the library, the command, the
// Python package and the pages, and what only builds or tests them. The same inputs give the same
// bytes.
// usage: node scripts/sbom.mjs [--check] [FILE]
//   --check  fails if a package of a lock file has no hash, no known licence or comes from elsewhere
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (name) => readFileSync(join(root, name), "utf8");
const locks = ["web", "test/import", "test/programs/gltf"];
const licenses = /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|MPL-2\.0|0BSD|BlueOak-1\.0\.0)$/;

function version() {
  const header = read("include/tenon/base.h");
  return ["MAJOR", "MINOR", "PATCH"]
    .map((part) => header.match(new RegExp(`TN_VERSION_${part} (\\d+)`))[1])
    .join(".");
}

// Debian's libraries: linked into the command and the Python package, not into the core.
function linked() {
  return [
    ["libcjson", "MIT", "command, Python package: scene files"],
    ["expat", "MIT", "command, Python package: robots"],
    ["sqlite3", "blessing", "command: sweeps"],
  ].map(([name, license, use]) => {
    let found = "unknown";
    try {
      found = execFileSync("pkg-config", ["--modversion", name], { stdio: ["ignore", "pipe", "ignore"] });
    } catch {} // not installed here
    return {
      type: "library",
      name,
      version: String(found).trim(),
      licenses: [{ license: license === "blessing" ? { name: license } : { id: license } }],
      description: use,
      scope: "required",
    };
  });
}

function problems(name, entry) {
  const elsewhere = entry.resolved && !entry.resolved.startsWith("https://registry.npmjs.org/");
  return [
    ...(/^sha512-/.test(entry.integrity ?? "") ? [] : [`${name}: no sha512`]),
    ...(licenses.test(entry.license ?? "") ? [] : [`${name}: licence ${entry.license}`]),
    ...(elsewhere ? [`${name}: from ${entry.resolved}`] : []),
    ...(entry.hasInstallScript && !/esbuild$/.test(name) ? [`${name}: runs a script when installed`] : []),
  ];
}

// Packages of a lock file; those of the gallery's pages are required, the rest are tools.
function locked(folder, complaints) {
  const { packages } = JSON.parse(read(join(folder, "package-lock.json")));
  return Object.entries(packages)
    .filter(([path]) => path)
    .map(([path, entry]) => {
      const name = path.replace(/^.*node_modules\//, "");
      complaints.push(...problems(`${folder}: ${name}`, entry));
      return {
        type: "library",
        name,
        version: entry.version,
        purl: `pkg:npm/${name.replace("@", "%40")}@${entry.version}`,
        licenses: [{ license: { id: entry.license } }],
        hashes: [
          { alg: "SHA-512", content: Buffer.from((entry.integrity ?? "").slice(7), "base64").toString("hex") },
        ],
        scope: entry.dev || folder !== "web" ? "excluded" : "required",
      };
    });
}

function python() {
  const [, list] = read("python/pyproject.toml").match(/\ndependencies = \[(.*)\]/);
  return [...list.matchAll(/"([a-z]+)([^"]*)"/g)].map(([, name, range]) => ({
    type: "library",
    name,
    version: range,
    purl: `pkg:pypi/${name}`,
    scope: "required",
  }));
}

const complaints = [];
const components = [...linked(), ...locks.flatMap((l) => locked(l, complaints)), ...python()];
const bill = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: {
    component: { type: "library", name: "tenon", version: version(), licenses: [{ license: { id: "MIT" } }] },
  },
  components,
};
const options = process.argv.slice(2);
const file = options.find((o) => !o.startsWith("--"));
const text = JSON.stringify(bill, null, 2) + "\n";
if (file) {
  writeFileSync(file, text);
} else if (!options.includes("--check")) {
  process.stdout.write(text);
}
if (options.includes("--check")) {
  complaints.forEach((c) => console.error(c));
  console.log(`${components.length} components, ${complaints.length} problems`);
  process.exitCode = complaints.length || components.length < 30 ? 1 : 0;
}
