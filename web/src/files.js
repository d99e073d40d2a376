// Link, screenshot, glTF file, and saving and opening states.
import { download, h } from './dom.js';
import { gltfOf } from './gltf.js';
import { decode, encode } from './share.js';

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
  const input = h('input', { type: 'file', accept: '.json' });
  input.addEventListener('change', async () => {
    if (input.files[0]) openText(app, await input.files[0].text());
  });
  input.click();
}

// A saved state or a scene file; errors of the latter are shown in the editor, at their line.
export async function openText(app, text) {
  if (/^\s*</.test(text)) {
    app.say('Robots (MJCF, URDF) cannot be opened in the page: use tenon run FILE.');
    return;
  }
  if (/"state"\s*:\s*"/.test(text)) {
    readState(app, text);
    return;
  }
  const { runScene } = await import('./scenefile.js');
  try {
    await runScene(app, text);
  } catch (error) {
    const { Editor } = await import('./editor.js');
    app.editor ??= new Editor(app);
    await app.editor.open(text);
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
