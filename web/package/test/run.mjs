// The package as users get it: packed, installed into empty projects, and run in Node, from bundles of
// esbuild and Vite, and in a page without a bundler; its types by tsc.
// usage: node run.mjs DIST WORK NATIVE COMMAND, where NATIVE prints the hashes of worlds.c and COMMAND is
// tenon
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { hasBrowser, launch } from '../../browser.mjs';
import { serve } from '../../serve.mjs';
import { check, finish } from '../../test/check.mjs';

const [dist, work, native, command] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, '../../node_modules');
const run = (command, args, cwd = work) => execFileSync(command, args, { cwd, encoding: 'utf8' });

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const expected = run(native, []).trim().split('\n');
const same = (hashes) =>
  hashes.length === expected.length && hashes.every((hash, i) => hash === expected[i]);

// ---- The tarball
run('npm', ['pack', dist, '--pack-destination', work, '--silent']);
const tarball = join(
  work,
  readdirSync(work).find((name) => name.endsWith('.tgz')),
);
const core = [
  'index.js',
  'load.js',
  'public.js',
  'runtime.js',
  'structures.js',
  'world.js',
  'api.js',
  'functions.js',
  'soft.js',
  'tenon.wasm',
];
const sizeOf = (name) =>
  execFileSync('zopfli', ['-c', join(dist, name)], { maxBuffer: 1 << 24 }).length;
const packed = core.reduce((sum, name) => sum + sizeOf(name), 0);
console.log(`core: ${(packed / 1000).toFixed(1)} KB gzipped by zopfli`);
check('core is at most 350 KB gzipped', packed <= 350e3, String(packed));

function project(name) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  run(
    'npm',
    ['install', tarball, '--offline', '--no-audit', '--no-fund', '--silent', '--legacy-peer-deps'],
    folder,
  );
  cpSync(join(here, 'worlds.mjs'), join(folder, 'worlds.mjs'));
  return folder;
}

// ---- Node: the first example of the README, and the bits of the native library
const plain = project('node');
const example = readFileSync(join(dist, 'README.md'), 'utf8').match(/```js\n([^]*?)```/)[1];
writeFileSync(join(plain, 'example.mjs'), example);
check(
  'example of the README',
  run('node', ['example.mjs'], plain) === '240 kg at rest, 0.200 m above the ground\n',
);
const hashesOf = (from) =>
  `import * as tenon from '${from}';\nimport { worlds } from './worlds.mjs';\nconsole.log(JSON.stringify(worlds(tenon)));\n`;
writeFileSync(join(plain, 'hashes.mjs'), hashesOf('tenon-physics'));
check('Node has the native bits', same(JSON.parse(run('node', ['hashes.mjs'], plain))));
writeFileSync(join(plain, 'inline.mjs'), hashesOf('tenon-physics/inline'));
check('so has the inline module', same(JSON.parse(run('node', ['inline.mjs'], plain))));
const scalar = join(dist, 'tenon-scalar.wasm');
if (readdirSync(dist).includes('tenon-scalar.wasm')) {
  cpSync(scalar, join(plain, 'node_modules/tenon-physics/tenon.wasm'));
  check('so has the scalar module', same(JSON.parse(run('node', ['hashes.mjs'], plain))));
}

// ---- The API
const apiChecks = await import('./api.mjs');
await apiChecks.default(await import(pathToFileURL(join(dist, 'index.js'))), check);
await apiChecks.three(dist, modules, join(work, 'three'), check);

// ---- Scenes, numbers for drawing, scene files and models
const scenesChecks = await import('./scenes.mjs');
const withScenes = await import(pathToFileURL(join(dist, 'scenes.js')));
await scenesChecks.default(withScenes, command, check);
scenesChecks.viewChecks(withScenes, await import(pathToFileURL(join(dist, 'view.js'))), check);
writeFileSync(join(plain, 'scenes.mjs'), hashesOf('tenon-physics/scenes'));
check('the module with scenes has the bits', same(JSON.parse(run('node', ['scenes.mjs'], plain))));
if (readdirSync(dist).includes('tenon-import.wasm')) {
  const importChecks = (await import('./import.mjs')).default;
  const full = await import(pathToFileURL(join(dist, 'import.js')));
  await importChecks(full, command, join(here, '../../../robots'), work, check);
  writeFileSync(join(plain, 'full.mjs'), hashesOf('tenon-physics/import'));
  check('the larger module has the bits', same(JSON.parse(run('node', ['full.mjs'], plain))));
}

// ---- esbuild
const bundled = project('esbuild');
for (const entry of ['tenon-physics', 'tenon-physics/inline']) {
  writeFileSync(join(bundled, 'main.js'), hashesOf(entry));
  await build({
    entryPoints: [join(bundled, 'main.js')],
    bundle: true,
    minify: true,
    format: 'esm',
    outfile: join(bundled, 'out.mjs'),
    logLevel: 'silent',
  });
  // It keeps the name of the module, which belongs beside the bundle.
  cpSync(join(dist, 'tenon.wasm'), join(bundled, 'tenon.wasm'));
  check(`a bundle of esbuild, ${entry}`, same(JSON.parse(run('node', ['out.mjs'], bundled))));
}

// ---- Types
const typed = project('types');
cpSync(join(here, 'example.ts'), join(typed, 'example.ts'));
symlinkSync(join(modules, 'three'), join(typed, 'node_modules/three'));
writeFileSync(
  join(typed, 'three.d.ts'),
  "declare module 'three' { export class Group {} export class Material {} export class Raycaster {} }\n",
);
const options = [
  '--strict',
  '--noEmit',
  '--target',
  'es2022',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
  '--lib',
  'es2022,dom,esnext.disposable',
];
try {
  run('node', [join(modules, 'typescript/bin/tsc'), ...options, 'example.ts', 'three.d.ts'], typed);
  check('types', true);
} catch (error) {
  check('types', false, error.stdout);
}

// ---- Browsers: a page without a bundler, and a bundle of Vite
if (hasBrowser()) {
  const page = project('page');
  cpSync(join(here, 'page.html'), join(page, 'index.html'));
  const vite = project('vite');
  cpSync(join(here, 'page.html'), join(vite, 'index.html'));
  const html = readFileSync(join(vite, 'index.html'), 'utf8');
  writeFileSync(
    join(vite, 'index.html'),
    html
      .replaceAll('./node_modules/tenon-physics/index.js', 'tenon-physics')
      .replaceAll('./node_modules/tenon-physics/worker.js', 'tenon-physics/worker'),
  );
  const bundles = [['a page without a bundler', page]];
  // Not among the locked packages: its optional packages for other platforms cannot be had everywhere.
  try {
    const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
    run(
      'npm',
      ['install', 'vite@7.3.8', tarball, ...quiet, '--legacy-peer-deps', '--silent'],
      vite,
    );
    bundles.push(['a bundle of Vite', join(vite, 'dist')]);
  } catch (error) {
    console.log(
      `Vite cannot be installed, its bundle is not tested: ${error.message.split('\n')[0]}`,
    );
  }
  if (bundles.length > 1) {
    const options = ['build', '--target', 'es2022', '--logLevel', 'error'];
    run('node', [join(vite, 'node_modules/vite/bin/vite.js'), ...options], vite);
  }
  cpSync(join(page, 'worlds.mjs'), join(page, 'worlds.js'));
  const script = readFileSync(join(page, 'index.html'), 'utf8').replace(
    './worlds.mjs',
    './worlds.js',
  );
  writeFileSync(join(page, 'index.html'), script);
  const browser = await launch();
  for (const [name, folder] of bundles) {
    const { address, close } = await serve(folder, 0);
    const tab = await browser.newPage();
    const problems = [];
    tab.on('pageerror', (error) => problems.push(error.message));
    tab.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await tab.goto(address);
    await tab.waitForFunction(() => globalThis.result, null, { timeout: 60000 }).catch(() => {});
    const result = (await tab.evaluate(() => globalThis.result)) ?? {};
    check(
      `${name} has the native bits`,
      same(result.hashes ?? []),
      result.error ?? problems.join('; '),
    );
    check(
      `${name}: the sphere of the worker lies on the ground`,
      Math.abs(result.height - 0.5) < 1e-3,
      String(result.height),
    );
    check(`${name}: errors of the worker`, /not finite/.test(result.refused ?? ''), result.refused);
    await tab.close();
    close();
  }
  await browser.close();
}
finish();
