// Puts the package together: node assemble.mjs GENERATED DIST MODULE...
import { cpSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [generated, dist, ...modules] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
cpSync(join(here, 'src'), dist, { recursive: true });
for (const name of ['api.js', 'api.d.ts', 'functions.js', 'functions.d.ts']) {
  copyFileSync(join(generated, name), join(dist, name));
}
for (const module of modules) copyFileSync(module, join(dist, basename(module)));
const bytes = readFileSync(modules[0]);
writeFileSync(join(dist, 'bytes.js'), `export default '${bytes.toString('base64')}';\n`);
copyFileSync(join(here, 'package.json'), join(dist, 'package.json'));
copyFileSync(join(here, 'README.md'), join(dist, 'README.md'));
copyFileSync(join(here, '../../LICENSE'), join(dist, 'LICENSE'));
