// Entry point with the module inside, for bundlers that cannot load .wasm files.
import { start } from './runtime.js';
import bytes from './bytes.js';

start(await WebAssembly.compile(Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))));

export * from './public.js';
