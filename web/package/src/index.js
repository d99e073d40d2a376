// Entry point: loads the module beside this file, the scalar one where SIMD is missing.
import { hasSimd, start } from './runtime.js';

const url = hasSimd()
  ? new URL('./tenon.wasm', import.meta.url)
  : new URL('./tenon-scalar.wasm', import.meta.url);

async function load() {
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

start(await load());

export * from './public.js';
