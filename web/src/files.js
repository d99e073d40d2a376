// Link, screenshot, glTF file, and saving and opening states.
import { download, h } from './dom.js';
import { gltfOf } from './gltf.js';
import { decode, encode } from './share.js';
import { isZip, unzipped, ZipError } from './zip.js';

export async function copyLink(app) {
  const link = app.writeAddress(app.isTouched ? {} : { frame: app.frame });
  try {
    await navigator.clipboard.writeText(link);
    app.say('The link was copied to the clipboard.');
  } catch {
    app.say('The link could not be copied: use the address of this page.');
  }
}

export function screenshot(app) {
  app.draw();
  app.stage.canvas.toBlob((blob) => download(`tenon-${app.scene.name}.png`, blob));
}

// The frames of the history as a glTF file.
export function recording(app) {
  const [history] = app.histories;
  const now = app.frame;
  const { bodies } = app.stage.sides[0];
  const frames = { matrices: [], softs: bodies.surfaces.parts.map(() => []) };
  for (let frame = history.first; frame <= history.last; ++frame) {
    history.goTo(frame);
    const matrices = app.sims[0].matrices().slice();
    const points = bodies.surfaces.points(app.sims[0], bodies.thinnest);
    if (matrices.length === 16 * bodies.items.length && points) {
      frames.matrices.push(matrices);
      points.forEach((all, i) => frames.softs[i].push(all));
    }
  }
  app.goTo(now);
  return gltfOf(app.sims[0], bodies, frames);
}

export function saveGltf(app) {
  download(`tenon-${app.scene.name}.glb`, recording(app));
}

const toText = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(text);
};

export function saveStateFile(app) {
  const file = {
    tenon: app.engine.version,
    address: encode(app.state, app.scene),
    frame: app.frame,
    state: toText(app.sims[0].save()),
  };
  const blob = new Blob([JSON.stringify(file)], { type: 'application/json' });
  download(`tenon-${app.scene.name}-${app.frame}.json`, blob);
}

export function openFile(app) {
  const input = h('input', { type: 'file', accept: FILES, multiple: true });
  input.addEventListener('change', async () => {
    openFiles(app, new Map([...input.files].map((file) => [file.name, file])));
  });
  input.click();
}

const FILES = '.json,.xml,.mjcf,.urdf,.stl,.obj,.gltf,.glb,.bin,.png,.zip';

// All files of a drop by their path, those in folders included.
export async function droppedFiles(transfer) {
  const found = new Map();
  const visit = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.set(entry.fullPath.replace(/^\//, ''), file);
      return;
    }
    const reader = entry.createReader(); // gives a hundred entries at a time
    for (;;) {
      const list = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!list.length) return;
      for (const inner of list) await visit(inner);
    }
  };
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) await visit(entry);
  if (!found.size) for (const file of transfer.files) found.set(file.name, file);
  return found;
}

// The bytes of files by their path; archives are replaced by what is inside.
async function contentsOf(files) {
  const contents = new Map();
  for (const [path, file] of files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (!isZip(bytes)) contents.set(path, bytes);
    else for (const [inner, content] of await unzipped(bytes)) contents.set(inner, content);
  }
  return contents;
}

// Other XML files come with robots: package descriptions, launch files, keyframes to include.
const isMain = (path, text) =>
  /\.json$/i.test(path) ||
  (/<(mujoco|robot)\b/.test(text) && /<(body|include|link|geom)\b/.test(text));

// The file to open among several: a scene or model that no other one names, of the shortest path; the
// last of them otherwise, so that errors of a single file are shown.
function mainOf(contents) {
  const texts = new Map();
  for (const [path, bytes] of contents) {
    if (/\.(json|xml|mjcf|urdf)$/i.test(path)) texts.set(path, new TextDecoder().decode(bytes));
  }
  const isNamed = (path) => {
    const name = path.replace(/.*\//, '');
    return [...texts].some(
      ([other, text]) =>
        other !== path && ['"', "'", '/'].some((before) => text.includes(before + name)),
    );
  };
  const paths = [...texts.keys()].sort((a, b) => a.length - b.length);
  const mains = paths.filter((path) => isMain(path, texts.get(path)));
  const path = mains.find((one) => !isNamed(one)) ?? mains[0] ?? paths[0];
  return { path, text: texts.get(path) };
}

// A scene file, a saved state, or a model with its meshes, from files, folders or zip archives.
export async function openFiles(app, files) {
  let contents;
  try {
    contents = await contentsOf(files);
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    app.say(`The archive cannot be opened: ${error.message}.`);
    return;
  }
  const { path, text } = mainOf(contents);
  if (text === undefined) {
    app.say('There is no scene (JSON) or model (MJCF, URDF) among these files.');
    return;
  }
  contents.delete(path);
  await openText(app, text, { path, files: contents });
}

// A saved state, a scene file or a model; errors of the latter two are shown in the editor, at their
// line.
export async function openText(app, text, from) {
  if (/^\s*\{[^]*"state"\s*:\s*"/.test(text)) {
    readState(app, text);
    return;
  }
  const { runScene } = await import('./scenefile.js');
  try {
    await runScene(app, text, from);
  } catch (error) {
    const { Editor } = await import('./editor.js');
    app.editor ??= new Editor(app);
    await app.editor.open(text, from);
    app.editor.mark(error);
  }
}

// An invalid or damaged file changes nothing and shows a message.
export function readState(app, text) {
  try {
    const file = JSON.parse(text);
    const { state } = decode(file.address, app.engine.scenes);
    const bytes = Uint8Array.from(atob(file.state), (c) => c.charCodeAt(0));
    if (!state || !Number.isInteger(file.frame)) throw new Error('it names no scene of this page');
    app.load({ ...state, two: null });
    app.setPlaying(false);
    if (!app.sims[0].restore(bytes)) throw new Error(app.sims[0].message() || 'it is damaged');
    app.frame = file.frame;
    app.histories.forEach((history) => history.clear());
    app.interfere(() => {});
    app.draw();
  } catch (error) {
    app.say(`This file cannot be opened: ${error.message}.`);
  }
}
