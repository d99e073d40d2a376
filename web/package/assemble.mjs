// Puts the package together: node assemble.mjs GENERATED DIST MODULE...
import {
  cpSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  readdirSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { shortenModule, shortenScript, shortNames } from './shorten.mjs';

const [generated, dist, ...modules] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
cpSync(join(here, 'src'), dist, { recursive: true });
for (const name of ['api.js', 'api.d.ts', 'functions.js', 'functions.d.ts', 'layouts.js']) {
  copyFileSync(join(generated, name), join(dist, name));
}
const read = (name) => readFileSync(join(dist, name), 'utf8');
const scripts = readdirSync(dist).filter((file) => file.endsWith('.js'));
const names = shortNames(scripts.map(read));
// Without comments and white space, which the types keep.
for (const name of scripts) {
  const options = { minify: true, format: 'esm', target: 'es2022', legalComments: 'none' };
  const { code } = transformSync(shortenScript(read(name), names), options);
  writeFileSync(join(dist, name), code);
}
for (const module of modules) {
  const bytes = shortenModule(readFileSync(module), names);
  writeFileSync(join(dist, basename(module)), bytes);
  if (basename(module) === 'tenon.wasm')
    writeFileSync(join(dist, 'bytes.js'), `export default '${bytes.toString('base64')}';\n`);
}
copyFileSync(join(here, 'package.json'), join(dist, 'package.json'));
copyFileSync(join(here, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(here, '../../LICENSE'), join(dist, 'LICENSE'));
