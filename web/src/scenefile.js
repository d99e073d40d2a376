// Scene files and models of robots: read and written by the package, as links and as files.
import { download } from './dom.js';
import { sceneOf } from './engine.js';
import { defaultsOf, FILE } from './share.js';

// The entry point of the package that reads files, with its own module.
const reader = () => import('tenon-physics/import');

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
    const [, line, reason] = /:(\d+): ([^]*)$/.exec(told) ?? [null, 1, told];
    super(reason);
    this.line = +line;
  }
}

export const isModel = (text) => /^\s*</.test(text);

// Reads a text as the scene of the page, without starting it. Throws a FileError and changes nothing
// if the text is no scene.
export async function readScene(app, text, from = { path: 'model.xml', files: new Map() }) {
  const { Model, SceneFile, TenonError } = await reader();
  const files = Object.fromEntries(from.files);
  let file;
  try {
    file = new SceneFile(text, { name: from.path, files });
  } catch (error) {
    throw error instanceof TenonError ? new FileError(error.message) : error;
  }
  app.fileScene?.file.dispose();
  const facts = sceneOf({ ...file });
  // A link cannot hold the meshes of a model: it has the scene that the model becomes.
  const isAlone = !isModel(text) || from.files.size === 0;
  const shared = isAlone ? text : writtenOr(text, () => file.write());
  const label = facts.title || facts.name;
  const report = isModel(text) ? reportOf(new Model(text, { name: from.path, files })) : [];
  const all = { ...facts, name: FILE, label, file, text, from, report };
  app.fileScene = { ...all, packed: await packed(shared) };
  return app.fileScene;
}

// What of a model moves otherwise than in the file, or not at all.
function reportOf(model) {
  const notes = model.report();
  model.dispose();
  return notes.filter(({ fate }) => ['approximated', 'ignored', 'missing'].includes(fate));
}

function writtenOr(text, write) {
  try {
    return write();
  } catch {
    return text;
  }
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

// In one line; the panel has the list.
function tellLosses(app) {
  const { report } = app.fileScene;
  const parts = ['missing', 'ignored', 'approximated'].flatMap((fate) => {
    const count = report.filter((note) => note.fate === fate).length;
    return count ? [`${count} ${fate}`] : [];
  });
  if (parts.length) app.say(`Notes on this model: ${parts.join(', ')}. The list is under Scene.`);
}

// ---- Writing

// The running scene as the text of a file. Throws an Error if it cannot be written.
export async function textOfScene({ scene, state }) {
  if (scene.text) return scene.text;
  const { writeScene } = await reader();
  const { params: parameters, method, substeps, iterations } = state;
  return writeScene(scene.name, { parameters, method, substeps, iterations });
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
