// Completion in scene files: where the cursor is in the text, and what the schema allows there.
import schema from '../../docs/scene.schema.json';

// Containers around a position of a possibly incomplete text, the word before it, and whether a key is
// expected.
export function contextAt(text, cursor) {
  const stack = [];
  let [at, quoted] = [0, null];
  while (at < cursor) {
    const top = stack[stack.length - 1];
    const c = text[at];
    if (c === '"') {
      let end = at + 1;
      while (end < text.length && text[end] !== '"' && text[end] !== '\n') {
        end += text[end] === '\\' ? 2 : 1;
      }
      if (end >= cursor) {
        quoted = { from: at, to: text[end] === '"' ? end + 1 : cursor };
        break;
      }
      const word = text.slice(at + 1, end);
      if (top?.isKey) Object.assign(top, { key: word }).keys.add(word);
      at = end + 1;
      continue;
    }
    if (c === '{' || c === '[')
      stack.push({ kind: c, isKey: c === '{', key: null, keys: new Set() });
    else if (c === '}' || c === ']') stack.pop();
    else if (c === ':' && top) top.isKey = false;
    else if (c === ',' && top) top.isKey = top.kind === '{';
    at += 1;
  }
  const [bare] = text.slice(0, cursor).match(/[\w.-]*$/);
  const from = quoted?.from ?? cursor - bare.length;
  const word = quoted ? text.slice(quoted.from + 1, cursor) : bare;
  const isKey = !!stack[stack.length - 1]?.isKey;
  return { stack, isKey, word, from, to: quoted?.to ?? cursor };
}

// All schemas that a node stands for, without references.
function meant(node) {
  if (!node) return [];
  if (node.$ref)
    return meant({ ...schema.$defs[node.$ref.split('/').pop()], ...node, $ref: undefined });
  const { anyOf, ...rest } = node;
  return anyOf ? anyOf.flatMap((one) => meant({ description: rest.description, ...one })) : [node];
}

// The schemas of the value at the cursor, or of the object whose key is being written.
function nodesAt({ stack, isKey }) {
  let nodes = meant(schema);
  stack.forEach(({ kind, key }, depth) => {
    if (kind === '{') nodes = nodes.filter(({ type }) => type === 'object');
    if (depth === stack.length - 1 && isKey) return;
    nodes = nodes.flatMap(({ properties, additionalProperties, items }) =>
      kind === '[' ? meant(items) : meant(properties?.[key] ?? additionalProperties),
    );
  });
  return nodes;
}

// What a new key begins with.
function beginning(node) {
  const [{ type, enum: words, default: usual, items, properties }] = meant(node);
  if (usual !== undefined) return JSON.stringify(usual).replaceAll(',', ', ');
  if (words) return JSON.stringify(words[0]);
  if (type === 'array') return items && meant(items)[0].properties ? '[{}]' : '[]';
  if (type === 'object' || properties) return '{}';
  return type === 'string' ? '""' : '';
}

// Suggestions at a position: { from, to, list: [{ word, text, hint }] }.
export function suggest(text, cursor) {
  const context = contextAt(text, cursor);
  const { isKey, word, from, to, stack } = context;
  const nodes = stack.length ? nodesAt(context) : [];
  const list = [];
  const add = (name, inserted, hint = '') => {
    const fits = name.startsWith(word) && (name !== word || isKey);
    if (fits && !list.some((one) => one.word === name))
      list.push({ word: name, text: inserted, hint });
  };
  if (isKey) {
    const { keys } = stack[stack.length - 1];
    const isNamed = /^\s*:/.test(text.slice(to)); // only the key is replaced
    for (const { properties = {} } of nodes) {
      for (const [name, node] of Object.entries(properties)) {
        if (keys.has(name)) continue;
        const hint = node.description ?? meant(node)[0]?.description;
        add(name, isNamed ? `"${name}"` : `"${name}": ${beginning(node)}`, hint);
      }
    }
  } else {
    for (const { enum: words = [], type, description } of nodes) {
      for (const one of words) add(`${one}`, JSON.stringify(one), description);
      if (type === 'boolean') for (const one of ['true', 'false']) add(one, one, description);
    }
  }
  return { from, to, list: list.slice(0, 12) };
}
