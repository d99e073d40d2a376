// Entry point: loads the module beside it.
import { loadModule } from './load.js';
import { start } from './runtime.js';

start(await loadModule());

export * from './public.js';
