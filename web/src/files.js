// A moment as a file, and back.
import { download, h } from './dom.js';
import { decode, encode } from './share.js';

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

export function openStateFile(app) {
  const input = h('input', { type: 'file', accept: '.json' });
  input.addEventListener('change', async () => {
    if (input.files[0]) readState(app, await input.files[0].text());
  });
  input.click();
}

// A file that is not one, or is damaged, changes nothing but the message.
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
