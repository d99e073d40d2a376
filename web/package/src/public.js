// Everything that users see.
export { World } from './world.js';
export { TenonError } from './runtime.js';
export * from './soft.js';
export * from './functions.js';
