// Builds the site: bundle, module, pictures, documents, and one file that holds everything. Large files
// are compressed here once: zopfli takes seconds, and compresses by a twentieth more than zlib.
// usage: node build.mjs OUTPUT FRAMES TENON PACKAGE: the number of frames until a scene's picture, the native
// command for the hashes on the first page, or "none", and the folder of the npm package
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { writeDocuments } from './documents.mjs';
import { slim } from './slim.mjs';
import { HEROES } from './src/catalog.js';
import { thumbnails } from './thumbnails.mjs';

const [site, frames, tenon, tenonPackage] = process.argv.slice(2);
// Modules of the package: that of the first picture, and that which reads files, loaded later.
const [MODULE, READER] = ['tenon-scenes.wasm', 'tenon-import.wasm'];
const hasReader = existsSync(join(tenonPackage, READER));
const SOURCE = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'Makefile'],
  ...['CMakeLists.txt', 'CMakePresets.json', '.clang-format', 'cmake', 'scripts', 'docs'],
  ...['include', 'src', 'scenes', 'files', 'import', 'cli', 'study', 'sweep', 'bench', 'test'],
  ...['python', 'web'],
];
const here = dirname(fileURLToPath(import.meta.url));

// The npm package, from its folder. In a single file its modules are texts in the page.
function packageFrom(folder, isSingle) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const inside = (name) =>
    `const bytes = () => Uint8Array.from(atob(globalThis.TENON_MODULES['${name}']), (c) => c.charCodeAt(0));
     export const loadScenesModule = () => WebAssembly.compile(bytes());
     export const loadImportModule = loadScenesModule;`;
  return {
    name: 'package',
    setup(it) {
      it.onResolve({ filter: /^tenon-physics\// }, ({ path }) => ({
        path: join(folder, exports[path.replace('tenon-physics', '.')].default),
      }));
      if (!isSingle) return;
      for (const [file, name] of Object.entries({ 'load-scenes': MODULE, 'load-import': READER })) {
        it.onLoad({ filter: new RegExp(`${file}\\.js$`) }, () => ({ contents: inside(name) }));
      }
    },
  };
}

// `inputs` are the files to search for unused methods. What the page loads later are files of their
// own if `splitting`.
function bundle(inputs, splitting) {
  return build({
    absWorkingDir: here,
    entryPoints: { app: 'src/main.js' },
    bundle: true,
    minify: true,
    splitting,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    outdir: 'out',
    write: false,
    metafile: true,
    plugins: [
      packageFrom(resolve(tenonPackage), !splitting),
      slim(join(here, 'node_modules'), inputs, join(here, 'src')),
    ],
  });
}

const all = await bundle([], false);
const inBundle = Object.values(all.metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput ? [join(here, path)] : [],
  ),
);
const whole = await bundle(inBundle, false);
const parts = await bundle(inBundle, true);
const output = (ending) => whole.outputFiles.find((file) => file.path.endsWith(ending)).text;
const [script, style] = [output('.js'), output('.css')];
// The scripts of the first picture: what app.js and start.js, which it loads first, import.
const needed = new Set();
function need(path) {
  if (needed.has(basename(path))) return;
  needed.add(basename(path));
  for (const { kind, path: next } of parts.metafile.outputs[path].imports)
    if (kind === 'import-statement') need(next);
}
const outputs = Object.entries(parts.metafile.outputs);
need('out/app.js');
need(outputs.find(([, { entryPoint }]) => entryPoint === 'src/start.js')[0]);
needed.delete('app.js');
const modules = hasReader ? [MODULE, READER] : [MODULE];
const texts = {};
for (const name of modules)
  texts[name] = (await readFile(join(tenonPackage, name))).toString('base64');
const page = await readFile(join(here, 'src/index.html'), 'utf8');

// A function as the replacement: a string would expand "$" patterns in scripts.
const fill = (head, body) =>
  page.replace('<!--style-->', () => head).replace('<!--script-->', () => body);
const inline = (code) => code.replaceAll('</script', '<\\/script');

// Hashes of the native build after two seconds.
const native = {};
for (const name of tenon === 'none' ? [] : HEROES) {
  const told = execFileSync(tenon, ['run', name, '--seconds', '2', '--json']);
  native[name] = JSON.parse(told).hash;
}
const natives = `globalThis.TENON_NATIVE = ${JSON.stringify(native)};`;

async function writeSite(hasThumbs) {
  const thumbs = hasThumbs ? 'globalThis.TENON_THUMBS = "files";' : '';
  const scripts = [...needed].map((name) => `<link rel="modulepreload" href="${name}" />`).join('');
  const preload = `${scripts}<link rel="preload" as="fetch" crossorigin href="${MODULE}" />`;
  const index = fill(
    `<link rel="stylesheet" href="app.css" />${preload}`,
    `<script>${natives}${thumbs}</script><script type="module" src="app.js"></script>`,
  );
  await writeFile(join(site, 'index.html'), index);
}

// The documents as pages, and the source as one file.
async function copyDocuments() {
  const root = join(here, '..');
  await writeDocuments(root, join(site, 'docs'));
  const file = join(site, 'tenon-source.tar.gz');
  const without = ['node_modules', '__pycache__'].map((name) => `--exclude=${name}`);
  execFileSync('tar', ['-czf', file, ...without, '--transform=s,^,tenon/,', '-C', root, ...SOURCE]);
}

await rm(site, { recursive: true, force: true });
await mkdir(join(site, 'thumbs'), { recursive: true });
for (const { path, contents } of parts.outputFiles) {
  await writeFile(join(site, basename(path)), contents);
}
for (const name of modules) await copyFile(join(tenonPackage, name), join(site, name));
await copyDocuments();
await writeSite(false);

const pictures = await thumbnails(site, `${site}_thumbnails`, Number(frames));
for (const [name, picture] of Object.entries(pictures)) {
  await writeFile(join(site, 'thumbs', `${name}.webp`), picture);
}
await writeSite(Object.keys(pictures).length > 0);

const inside = Object.fromEntries(
  Object.entries(pictures).map(([name, p]) => [
    name,
    `data:image/webp;base64,${p.toString('base64')}`,
  ]),
);
await writeFile(
  join(site, 'gallery.html'),
  fill(
    `<style>${style}</style>`,
    `<script>${natives}globalThis.TENON_THUMBS = ${JSON.stringify(inside)};
globalThis.TENON_MODULES = ${JSON.stringify(texts)};</script>
<script type="module">${inline(script)}</script>`,
  ),
);

// Two forms for servers to choose from: brotli is a sixth smaller, but not every host sends it.
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
const names = ['index.html', 'app.css', 'app.js', ...needed, MODULE];
const waited = names.map((name) => join(site, name));
execFileSync('zopfli', waited);
const later = hasReader ? [join(site, READER)] : [];
for (const file of later) execFileSync('gzip', ['-9k', file]);
for (const file of [...waited, ...later])
  await writeFile(`${file}.br`, brotliCompressSync(await readFile(file), { params: BROTLI }));

const kilobytes = (size) => `${(size / 1000).toFixed(0)} KB`;
for (const [ending, word] of [
  ['gz', 'gzipped'],
  ['br', 'by brotli'],
]) {
  const sizes = await Promise.all(
    waited.map(async (file) => (await stat(`${file}.${ending}`)).size),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`gallery: ${kilobytes(total)} ${word} (module ${kilobytes(sizes.at(-1))})`);
}
console.log(`gallery: ${Object.keys(pictures).length} pictures`);
