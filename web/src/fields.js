// Labelled controls: sliders, switches, choices.
import { h } from './dom.js';

let serial = 0;
const newId = () => `field-${++serial}`;

// Wide ranges of positive numbers use a logarithmic scale.
function scaleOf({ lo, hi, whole }) {
  if (!whole && lo > 0 && hi / lo > 200) {
    return { to: Math.log10, from: (x) => +(10 ** x).toPrecision(3), step: 0.01 };
  }
  return { to: (x) => x, from: (x) => x, step: whole ? 1 : (hi - lo) / 200 };
}

// A slider with an input for the exact number.
export function slider({ label, hint, lo, hi, whole, value, onchange }) {
  const id = newId();
  const scale = scaleOf({ lo, hi, whole });
  const range = h('input', {
    type: 'range',
    id,
    min: scale.to(lo),
    max: scale.to(hi),
    step: scale.step,
    title: hint ?? '',
  });
  const box = h('input', {
    type: 'number',
    class: 'exact',
    min: lo,
    max: hi,
    step: whole ? 1 : 'any',
    'aria-label': `${label}, exactly`,
  });
  const set = (next) => {
    range.value = scale.to(next);
    box.value = +Number(next).toPrecision(5);
  };
  const take = (next) => {
    const inside = Math.min(hi, Math.max(lo, whole ? Math.round(next) : next));
    set(inside);
    onchange(inside);
  };
  range.addEventListener('input', () => (box.value = +scale.from(+range.value).toPrecision(4)));
  range.addEventListener('change', () => take(scale.from(+range.value)));
  box.addEventListener('change', () =>
    Number.isFinite(box.valueAsNumber) ? take(box.valueAsNumber) : set(value),
  );
  set(value);
  const node = h('div', { class: 'field', title: hint ?? '' }, [
    h('label', { htmlFor: id }, label),
    box,
    range,
  ]);
  return { node, set };
}

export function toggle({ label, hint, value, onchange }) {
  const input = h('input', { type: 'checkbox', role: 'switch', checked: value });
  input.addEventListener('change', () => onchange(input.checked));
  const node = h('label', { class: 'switch', title: hint ?? '' }, [input, h('span', {}, label)]);
  return { node, set: (next) => (input.checked = next) };
}

export function choice({ label, options, value, onchange }) {
  const id = newId();
  const select = h(
    'select',
    { id },
    options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)),
  );
  select.addEventListener('change', () => onchange(select.value));
  const node = h('div', { class: 'field choice' }, [h('label', { htmlFor: id }, label), select]);
  return { node, set: (next) => (select.value = next) };
}

// A group of buttons, one of them active.
export function oneOf({ label, options, value, onchange }) {
  const buttons = options.map(([key, text, hint]) =>
    h(
      'button',
      {
        type: 'button',
        class: 'chip',
        title: hint ?? text,
        'data-key': key,
        onclick: () => pick(key),
      },
      text,
    ),
  );
  const set = (next) => {
    for (const b of buttons) b.setAttribute('aria-pressed', b.dataset.key === next);
  };
  const pick = (key) => {
    set(key);
    onchange(key);
  };
  set(value);
  return { node: h('div', { class: 'chips', role: 'group', 'aria-label': label }, buttons), set };
}

export function section(title, open, ...children) {
  return h('details', { class: 'section', open }, [
    h('summary', {}, title),
    h('div', { class: 'section-body' }, children),
  ]);
}
