// The compiled module with scene files and models, which needs SIMD.
import { compile } from './load.js';

export const loadImportModule = () => compile(new URL('./tenon-import.wasm', import.meta.url));
