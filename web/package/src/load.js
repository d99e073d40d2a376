// The compiled module beside this file, or the scalar one where SIMD is missing.
import { hasSimd } from './runtime.js';

export async function compile(url) {
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    // A word that bundlers for browsers do not look up.
    const { readFile } = await import(/* @vite-ignore */ ['node:fs', 'promises'].join('/'));
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

// Bundlers find files by these expressions.
export const loadModule = () =>
  compile(
    hasSimd()
      ? new URL('./tenon.wasm', import.meta.url)
      : new URL('./tenon-scalar.wasm', import.meta.url),
  );
