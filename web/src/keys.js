// Keyboard shortcuts, and the help card.
import { button, h } from './dom.js';

const SIGHTS = {
  j: 'joints',
  f: 'forces',
  c: 'contacts',
  l: 'limits',
  v: 'trails',
  i: 'islands',
  h: 'colors',
  w: 'wire',
};
const TOOLS = {
  d: 'drag',
  t: 'throw',
  p: 'pin',
  x: 'delete',
  b: 'box',
  o: 'ball',
  g: 'ragdoll',
  k: 'cloth',
};

const HELP = [
  ['Space', 'play or pause'],
  ['. and ,', 'one frame, one substep'],
  ['← →', 'back and forward over the last seconds'],
  ['R', 'restart'],
  ['S', 'slow motion'],
  ['[ ]', 'previous scene, next scene'],
  ['click', 'select a body or joint: its forces, energies and drives'],
  ['Esc', 'end the selection'],
  ['D T P X', 'drag, throw, pin, delete'],
  ['B O G K', 'drop a box, a ball, a ragdoll, a cloth'],
  ['J F C L', 'joints, forces, contacts, limits'],
  ['V I H W', 'trails, islands, constraint graph, wireframe'],
  ['2', 'two side by side'],
  ['M', 'charts'],
  ['E', 'edit the scene as a file'],
  ['N', 'light or dark'],
  ['?', 'this help'],
];

export function helpCard() {
  const rows = HELP.flatMap(([key, text]) => [h('dt', {}, key), h('dd', {}, text)]);
  const card = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' }, [
    h('h2', { id: 'help-title' }, 'Help'),
    button('close', 'Close', () => card.close(), { class: 'corner' }),
    h(
      'p',
      {},
      'Drag a body to pull it with a spring; the number is the force. Drag the background to rotate the view, with the right button or two fingers to move it; zoom with the wheel or by pinching.',
    ),
    h('dl', {}, rows),
    h(
      'p',
      { class: 'soft' },
      'Every scene runs on the library compiled to WebAssembly. The hash below the picture is the same on every machine for the same scene and frame.',
    ),
  ]);
  card.addEventListener('click', (event) => event.target === card && card.close());
  return card;
}

function neighbour(app, step) {
  const { scenes } = app.engine;
  const next = scenes[(app.scene.index + step + scenes.length) % scenes.length];
  location.hash = `#scene=${next.name}`;
}

const ACTIONS = {
  ' ': (app) => app.setPlaying(!app.isPlaying),
  '.': (app) => app.stepOnce(),
  ',': (app) => app.substepOnce(),
  r: (app) => app.reset(),
  s: (app, frame) => frame.transport.nextSpeed(),
  '[': (app) => neighbour(app, -1),
  ']': (app) => neighbour(app, 1),
  ArrowLeft: (app) => app.goTo(app.frame - 1),
  ArrowRight: (app) => app.frame < app.histories[0].last && app.goTo(app.frame + 1),
  2: (app, frame) => frame.toggleTwo(),
  e: (app) => app.edit(),
  m: (app, frame) => frame.toggle('charts'),
  n: (app, frame) => frame.setTheme(frame.theme === 'dark' ? 'light' : 'dark'),
  Escape: (app) => app.inspector?.shown && app.inspector.close(),
  '?': (app, frame) => frame.help.showModal(),
};

const ADJUSTING = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'];

// Whether a focused control needs a key itself.
function takesKey(node, key) {
  if (key === 'Escape') return false;
  if (node.matches('button, summary, a, [type=checkbox]')) return key === ' ';
  if (node.matches('[type=range]')) return ADJUSTING.includes(key);
  return node.matches('input, select, textarea');
}

// After a click with a pointer the keys belong to the scene again; the Tab key goes on from there.
function releaseFocus({ target, pointerType }) {
  if (!pointerType || !target.closest('button, summary, label, [type=range], [type=checkbox]'))
    return;
  document.activeElement?.blur();
}

export function listenToKeys(app, frame) {
  addEventListener('click', releaseFocus);
  addEventListener('change', ({ target }) => target.matches('select') && target.blur());
  addEventListener('keydown', (event) => {
    if (takesKey(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (frame.help.open || !app.sims.length) return;
    const { key } = event;
    if (SIGHTS[key]) app.setSee(SIGHTS[key], !app.state.see[SIGHTS[key]]);
    else if (TOOLS[key]) frame.panel.setTool(TOOLS[key]);
    else if (ACTIONS[key]) ACTIONS[key](app, frame);
    else return;
    event.preventDefault();
  });
}
