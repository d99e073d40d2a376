// Starts the page, or reports why it cannot start.
import './style.css';
import { h } from './dom.js';

// The smallest module that uses SIMD.
const SIMD = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);

function missing() {
  if (typeof WebAssembly !== 'object') return 'WebAssembly';
  if (!WebAssembly.validate(SIMD)) return 'WebAssembly SIMD';
  if (!document.createElement('canvas').getContext('webgl2')) return 'WebGL 2';
  return null;
}

function giveUp(title, text) {
  document.body.replaceChildren(
    h('main', { class: 'sorry' }, [h('h1', {}, title), h('p', {}, text)]),
  );
}

async function start() {
  const lack = missing();
  if (lack) {
    giveUp(
      `This page needs ${lack}`,
      'Current versions of Firefox, Chrome, Edge and Safari support it; it may be disabled in the settings.',
    );
    return;
  }
  try {
    // Loads the engine, which scripts without WebAssembly could not.
    const { App, Engine } = await import('./start.js');
    const app = new App(new Engine());
    // For the console, and for tests: docs/gallery.md.
    globalThis.tenon = {
      app,
      openFiles: async (files) => (await import('./files.js')).openFiles(app, files),
      readState: async (text) => (await import('./files.js')).readState(app, text),
      recording: async () => (await import('./files.js')).recording(app),
    };
    app.isStill = new URLSearchParams(location.search).has('still');
    app.begin();
    document.body.classList.add('ready');
    performance.mark('ready');
  } catch (error) {
    giveUp('The gallery could not start', error.message);
    throw error;
  }
}

start();
