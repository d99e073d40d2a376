// The compiled module with the built-in scenes, which needs SIMD.
import { compile } from './load.js';

export const loadScenesModule = () => compile(new URL('./tenon-scenes.wasm', import.meta.url));
