// Builds the site: bundle, module, pictures, and one file that holds everything. Large files are
// compressed here once: zopfli takes seconds, and compresses by a twentieth more than zlib.
// usage: node build.mjs MODULE OUTPUT [FRAMES], the number of frames until a scene's picture
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { slim } from './slim.mjs';
import { thumbnails } from './thumbnails.mjs';

const [module, site, frames = '45'] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

// `inputs` are the files to search for unused methods.
function bundle(inputs) {
  return build({
    absWorkingDir: here,
    entryPoints: ['src/main.js'],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    outdir: 'out',
    write: false,
    metafile: true,
    plugins: [slim(join(here, 'node_modules'), inputs)],
  });
}

const all = await bundle([]);
const inBundle = Object.values(all.metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput ? [join(here, path)] : [],
  ),
);
const { outputFiles } = await bundle(inBundle);
const output = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
const [script, style] = [output('.js'), output('.css')];
const wasm = await readFile(module);
const page = await readFile(join(here, 'src/index.html'), 'utf8');

// A function as the replacement: a string would expand "$" patterns in scripts.
const fill = (head, body) =>
  page.replace('<!--style-->', () => head).replace('<!--script-->', () => body);
const inline = (code) => code.replaceAll('</script', '<\\/script');

async function writeSite(hasThumbs) {
  const thumbs = hasThumbs ? '<script>globalThis.TENON_THUMBS = "files";</script>' : '';
  const index = fill(
    '<link rel="stylesheet" href="app.css" />',
    `${thumbs}<script type="module" src="app.js"></script>`,
  );
  await writeFile(join(site, 'index.html'), index);
}

await rm(site, { recursive: true, force: true });
await mkdir(join(site, 'thumbs'), { recursive: true });
await writeFile(join(site, 'app.js'), script);
await writeFile(join(site, 'app.css'), style);
await copyFile(module, join(site, 'tenon.wasm'));
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
    `<script>globalThis.TENON_THUMBS = ${JSON.stringify(inside)};
globalThis.TENON_WASM = "${wasm.toString('base64')}";</script>
<script type="module">${inline(script)}</script>`,
  ),
);

const waited = ['index.html', 'app.css', 'app.js', 'tenon.wasm'].map((name) => join(site, name));
execFileSync('zopfli', waited);
const packed = await Promise.all(waited.map(async (file) => (await stat(`${file}.gz`)).size));
const total = packed.reduce((sum, size) => sum + size, 0);
console.log(
  `gallery: ${(total / 1000).toFixed(0)} KB gzipped (module ${(packed[3] / 1000).toFixed(0)}), ${Object.keys(pictures).length} pictures`,
);
