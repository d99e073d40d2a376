// An esbuild plugin that leaves out the parts of three.js which the page has no use for: shaders of
// other materials, environment maps, virtual reality, JSON. Comments and indentation of the shaders
// that stay go as well. Together a third of the bundle.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// Materials that the page draws with: their shaders, and whatever those include, are kept.
const MATERIALS = ['meshlambert', 'meshbasic', 'depth'];
// This every shader gets from the renderer.
const ALWAYS = ['colorspace_pars_fragment'];

// Features that none of those uses; these chunks are all inside of an #ifdef.
const UNUSED =
  /^(alphahash|alphamap|aomap|batching|bumpmap|clipping_planes|displacementmap|dithering|emissivemap|envmap|fog|lightmap|lightprobes|logdepthbuf|map|morph|normalmap|skin|uv)/;

const STUBS = {
  'WebXRManager.js': `
    import { EventDispatcher } from '../../core/EventDispatcher.js';
    export class WebXRManager extends EventDispatcher {
      enabled = false;
      isPresenting = false;
      setAnimationLoop() {}
      hasDepthSensing() { return false; }
      getEnvironmentBlendMode() { return 'opaque'; }
      dispose() {}
    }`,
  'PMREMGenerator.js': 'export class PMREMGenerator {}',
  'DFGLUTData.js': 'export const getDFGLUT = () => null;',
};

const shaderFile = /ShaderChunk\/(\w+)\.glsl\.js$|ShaderLib\/(\w+)\.glsl\.js$/;

function included(folder) {
  const names = new Set(ALWAYS);
  const read = (file) => {
    for (const [, name] of readFileSync(join(folder, file), 'utf8').matchAll(/#include <(\w+)>/g)) {
      if (names.has(name) || UNUSED.test(name)) continue;
      names.add(name);
      read(`ShaderChunk/${name}.glsl.js`);
    }
  };
  for (const name of MATERIALS) read(`ShaderLib/${name}.glsl.js`);
  return names;
}

const withoutComments = (text) =>
  text
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+\/\/.*$/gm, '')
    .replace(/^[ \t]+/gm, '')
    .replace(/\n{2,}/g, '\n');

// Writing scenes as JSON and reading them back is a good part of many classes.
function withoutJson(text) {
  let out = text;
  for (let at; (at = out.search(/\n\t(static )?(toJSON|fromJSON)\(/)) >= 0; ) {
    const end = out.indexOf('\n\t}\n', at);
    out = out.slice(0, at) + out.slice(end + 3);
  }
  return out;
}

export function slim(modules) {
  const source = join(modules, 'three/src');
  const kept = included(join(source, 'renderers/shaders'));
  return {
    name: 'slim',
    setup(build) {
      build.onResolve({ filter: /^three$/ }, () => ({
        path: join(source, 'Three.js'),
        sideEffects: false,
      }));
      build.onLoad({ filter: /three[\\/]src[\\/].*\.js$/ }, ({ path }) => {
        const [file] = path.split('/').slice(-1);
        if (STUBS[file]) return { contents: STUBS[file], resolveDir: join(path, '..') };
        const shader = path.match(shaderFile);
        if (!shader) return { contents: withoutJson(readFileSync(path, 'utf8')) };
        const isKept = kept.has(shader[1]) || MATERIALS.includes(shader[2]);
        if (isKept) return { contents: withoutComments(readFileSync(path, 'utf8')) };
        const empty = shader[1] ? 'export default "";' : 'export const vertex = "", fragment = "";';
        return { contents: empty };
      });
    },
  };
}
