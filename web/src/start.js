// What the page loads once it is known that it can run.
export { App } from './app.js';
export { Engine } from './engine.js';
