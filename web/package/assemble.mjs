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

const [generated, dist, ...modules] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
cpSync(join(here, 'src'), dist, { recursive: true });
for (const name of ['api.js', 'api.d.ts', 'functions.js', 'functions.d.ts']) {
  copyFileSync(join(generated, name), join(dist, name));
}
for (const module of modules) copyFileSync(module, join(dist, basename(module)));
// Without comments and white space, which the types keep.
for (const name of readdirSync(dist).filter((file) => file.endsWith('.js'))) {
  const options = { minify: true, format: 'esm', target: 'es2022', legalComments: 'none' };
  writeFileSync(
    join(dist, name),
    transformSync(readFileSync(join(dist, name), 'utf8'), options).code,
  );
}
const bytes = readFileSync(modules[0]);
writeFileSync(join(dist, 'bytes.js'), `export default '${bytes.toString('base64')}';\n`);
copyFileSync(join(here, 'package.json'), join(dist, 'package.json'));
copyFileSync(join(here, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(here, '../../LICENSE'), join(dist, 'LICENSE'));
