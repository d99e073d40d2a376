// Scene files and models of robots: the module that reads them, and texts as links and files.
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

export const isModel = (text) => /^\s*</.test(text);

const toRoom = (engine, bytes) =>
  engine.bytes(engine.api.file_room(bytes.length), bytes.length).set(bytes);

// A model in XML, with the files that it names: { path, files: Map of paths and bytes }.
function readModel(engine, text, { path, files }) {
  const { api } = engine;
  const encoder = new TextEncoder();
  api.disk_clear();
  for (const [name, content] of [...files, [path, encoder.encode(text)]]) {
    const letters = encoder.encode(`${name}\0`);
    const at = api.malloc(letters.length);
    engine.bytes(at, letters.length).set(letters);
    const room = api.disk_add(at, content.length);
    api.free(at);
    if (!room) throw new Error('there is not enough memory');
    engine.bytes(room, content.length).set(content);
  }
  const bytes = encoder.encode(path);
  toRoom(engine, bytes);
  api.disk_told();
  if (!api.read_model(bytes.length)) {
    const told = engine.text(api.disk_told()).trim();
    const [, line, reason] = /:(\d+): ([^]*)$/.exec(told) ?? [null, 1, told];
    throw new FileError(`line:${line}: ${reason}`);
  }
}

// Reads a text as the scene of the page, without starting it. Throws a FileError and changes nothing
// if the text is no scene.
export async function readScene(app, text, from = { path: 'model.xml', files: new Map() }) {
  const engine = await engineFor(app);
  if (isModel(text)) {
    readModel(engine, text, from);
  } else {
    const bytes = new TextEncoder().encode(text);
    toRoom(engine, bytes);
    if (!engine.api.read_file(bytes.length))
      throw new FileError(engine.text(engine.api.file_error()));
  }
  for (const sim of app.sims) sim.isOpen = false; // the module has closed them
  const told = engine.told(engine.api.file_scene());
  app.fileScene = {
    ...told,
    method: METHODS[told.method],
    name: FILE,
    label: told.title || told.name,
  };
  // A link cannot hold the meshes of a model: it has the scene that the model becomes.
  const isAlone = !isModel(text) || from.files.size === 0;
  const shared = isAlone ? text : (writtenScene(app, -1, app.fileScene) ?? text);
  Object.assign(app.fileScene, { text, from, packed: await packed(shared) });
  return app.fileScene;
}

// Reads a text and runs it; camera and display stay as they are for the same file.
export async function runScene(app, text, from) {
  const before = app.scene?.name === FILE ? app.state : null;
  const scene = await readScene(app, text, from);
  const state = defaultsOf(scene);
  if (before) state.see = before.see;
  app.load(state);
  app.writeAddress();
  if (isModel(text)) tellLosses(app);
}

// What of a model has no effect, as the command says it.
function tellLosses(app) {
  const lines = app.engine.text(app.engine.api.disk_told()).trim().split('\n').filter(Boolean);
  if (lines.length) {
    const more = lines.length > 3 ? ` and ${lines.length - 3} more` : '';
    app.say(`${lines.slice(0, 3).join('; ')}${more}.`);
  }
}

// ---- Writing

// A scene by index, or the opened file, as the text of a file; null with a message in file_error().
function writtenScene({ engine }, index, { method, substeps, iterations }) {
  const at = engine.api.write_file(index, METHODS.indexOf(method), substeps, iterations);
  return at ? engine.text(at) : null;
}

// The running scene as the text of a file. Throws an Error if it cannot be written.
export async function textOfScene(app) {
  if (app.scene.text) return app.scene.text;
  const engine = await engineFor(app);
  app.sims[0].setParameters(app.scene, app.state);
  const text = writtenScene(app, app.scene.index, app.state);
  if (!text) throw new Error(engine.text(engine.api.file_error()));
  return text;
}

export async function saveScene(app) {
  try {
    const text = await textOfScene(app);
    const ending = isModel(text) ? 'xml' : 'json';
    download(`${app.scene.name}.${ending}`, new Blob([text], { type: `application/${ending}` }));
  } catch (error) {
    app.say(`This scene cannot be written: ${error.message}.`);
  }
}
