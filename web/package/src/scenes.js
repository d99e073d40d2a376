// Entry point with the built-in scenes: everything of the package, on a larger module.
import { loadScenesModule } from './load-scenes.js';
import { start } from './runtime.js';

start(await loadScenesModule(), 1);

export * from './public.js';
export { scenes, SceneWorld, version } from './runs.js';
