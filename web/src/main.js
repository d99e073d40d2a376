// Starts the page, or reports why it cannot start.
import './style.css';
import { App } from './app.js';
import { h } from './dom.js';
import { Engine } from './engine.js';

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

async function module() {
  const inside = globalThis.TENON_WASM;
  if (inside) return WebAssembly.compile(Uint8Array.from(atob(inside), (c) => c.charCodeAt(0)));
  const answer = await fetch('tenon.wasm');
  if (!answer.ok) throw new Error(`tenon.wasm: ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
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
    const app = new App(new Engine(await module()));
    // For the console, and for tests: docs/gallery.md.
    globalThis.tenon = {
      app,
      openFiles: async (files) => (await import('./files.js')).openFiles(app, files),
      readState: async (text) => (await import('./files.js')).readState(app, text),
      recording: async () => (await import('./files.js')).recording(app),
    };
    app.isStill = new URLSearchParams(location.search).has('still');
    app.readAddress();
    document.body.classList.add('ready');
    performance.mark('ready');
  } catch (error) {
    giveUp('The gallery could not start', error.message);
    throw error;
  }
}

start();
