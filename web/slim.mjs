// An esbuild plugin that removes the methods of three.js whose names do not occur in the bundle. A
// bundler cannot do this, because a method might be called by a computed name; none is here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const METHOD = /^\t(?:(?:static|async|get|set) )*([A-Za-z_]\w*)\(.*\{$/;

const withoutComments = (text) =>
  text
    .replace(/\/\*(?!\s*@__PURE__)[^]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/\s\/\/ .*$/gm, '');

// A file as its methods and the text between them, in order.
function partsOf(text) {
  const parts = [{ lines: [] }];
  for (const line of withoutComments(text).split('\n')) {
    const found = line.match(METHOD);
    if (found && found[1] !== 'constructor') parts.push({ name: found[1], lines: [] });
    parts[parts.length - 1].lines.push(line);
    if (line === '\t}' && parts[parts.length - 1].name) parts.push({ lines: [] });
  }
  return parts;
}

// Names that a part may call: after a dot, or in quotes.
const namesIn = ({ lines }) =>
  [...lines.join('\n').matchAll(/[.'"](\w+)/g)].map(([, name]) => name);

// The rest of each file: methods that the page or another kept method mentions.
function thin(files, words) {
  const parts = new Map(files.map((path) => [path, partsOf(readFileSync(path, 'utf8'))]));
  const all = [...parts.values()].flat();
  const called = new Set(words);
  const look = all.filter(({ name }) => !name);
  while (look.length) {
    for (const name of namesIn(look.pop())) called.add(name);
    for (const part of all) {
      if (part.name && !part.isLeft && called.has(part.name)) {
        part.isLeft = true;
        look.push(part);
      }
    }
  }
  const text = (list) =>
    list
      .filter(({ name, isLeft }) => !name || isLeft)
      .flatMap(({ lines }) => lines)
      .join('\n');
  return new Map([...parts].map(([path, list]) => [path, text(list)]));
}

// inputs: all files of the bundle; own: the folder of those that use three.js.
export function slim(modules, inputs, own) {
  const source = join(modules, 'three/src');
  const isThree = (path) => path.startsWith(join(modules, 'three'));
  const page = inputs.filter((path) => path.startsWith(own) && path.endsWith('.js'));
  const words = page.flatMap((path) => readFileSync(path, 'utf8').match(/\w+/g));
  const thinned = thin(inputs.filter(isThree), words);
  return {
    name: 'slim',
    setup(build) {
      build.onResolve({ filter: /^three$/ }, () => ({
        path: join(source, 'Three.js'),
        sideEffects: false,
      }));
      // Shaders are strings, which a bundler leaves alone.
      build.onLoad({ filter: /src[\\/]shaders\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8')
          .replace(/^ *(\/\/.*)?/gm, '')
          .replace(/\n+/g, '\n'),
      }));
      build.onLoad({ filter: /three[\\/].*\.js$/ }, ({ path }) =>
        thinned.has(path) ? { contents: thinned.get(path) } : null,
      );
    },
  };
}
