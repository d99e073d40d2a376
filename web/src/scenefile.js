// Scene files: the module that reads them, and texts as links and files.
import { download } from './dom.js';
import { Engine, METHODS } from './engine.js';
import { defaultsOf, FILE } from './share.js';

async function fetched() {
  const inside = globalThis.TENON_FILES_WASM;
  if (inside) return Uint8Array.from(atob(inside), (c) => c.charCodeAt(0));
  const answer = await fetch('tenon-files.wasm');
  if (!answer.ok) throw new Error(`tenon-files.wasm: ${answer.status}`);
  return answer.arrayBuffer();
}

// Replaces the module by the one with scene files; the running scene starts anew.
async function engineFor(app) {
  if (app.engine.api.read_file) return app.engine;
  const engine = new Engine(await WebAssembly.compile(await fetched()));
  app.hands.forget();
  app.inspector?.clear();
  app.engine = engine;
  if (app.sims.length) {
    app.sims = [];
    app.start();
    app.draw();
  }
  return engine;
}

// ---- Texts as parts of links

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function packed(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  let letters = '';
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export async function unpacked(word) {
  const letters = atob(word.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
}

// ---- Reading

export class FileError extends Error {
  constructor(told) {
    const [, line, reason] = /^line:(\d+): ([^]*)$/.exec(told) ?? [null, 1, told];
    super(reason);
    this.line = +line;
  }
}

// Reads a text as the scene of the page, without starting it. Throws a FileError and changes nothing
// if the text is no scene.
export async function readScene(app, text) {
  const engine = await engineFor(app);
  const bytes = new TextEncoder().encode(text);
  const word = await packed(text);
  engine.bytes(engine.api.file_room(bytes.length), bytes.length).set(bytes);
  if (!engine.api.read_file(bytes.length))
    throw new FileError(engine.text(engine.api.file_error()));
  for (const sim of app.sims) sim.isOpen = false; // the module has closed them
  const told = engine.told(engine.api.file_scene());
  app.fileScene = {
    ...told,
    method: METHODS[told.method],
    name: FILE,
    label: told.title || told.name,
  };
  Object.assign(app.fileScene, { text, packed: word });
  return app.fileScene;
}

// Reads a text and runs it; camera and display stay as they are for the same file.
export async function runScene(app, text) {
  const before = app.scene?.name === FILE ? app.state : null;
  const scene = await readScene(app, text);
  const state = defaultsOf(scene);
  if (before) state.see = before.see;
  app.load(state);
  app.writeAddress();
}

// ---- Writing

// The running scene as the text of a file. Throws an Error if it cannot be written.
export async function textOfScene(app) {
  if (app.scene.text) return app.scene.text;
  const engine = await engineFor(app);
  const { method, substeps, iterations } = app.state;
  const { index } = app.scene;
  app.sims[0].setParameters(app.scene, app.state);
  const at = engine.api.write_file(index, METHODS.indexOf(method), substeps, iterations);
  if (!at) throw new Error(engine.text(engine.api.file_error()));
  return engine.text(at);
}

export async function saveScene(app) {
  try {
    const text = await textOfScene(app);
    download(`${app.scene.name}.json`, new Blob([text], { type: 'application/json' }));
  } catch (error) {
    app.say(`This scene cannot be written: ${error.message}.`);
  }
}
