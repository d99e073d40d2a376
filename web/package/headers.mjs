// Reads the public headers: structures with their layout in WebAssembly, enumerations, functions, and
// the Doxygen comments of all of them. The headers are formatted by clang-format, so that a few
// patterns suffice; what they do not recognise is an error.
import { readFileSync } from 'node:fs';

const SCALARS = {
  bool: [1, 'u8'],
  int: [4, 'i32'],
  int32_t: [4, 'i32'],
  uint32_t: [4, 'u32'],
  uint64_t: [8, 'u64'],
  uint8_t: [1, 'u8'],
  size_t: [4, 'u32'],
  float: [4, 'f32'],
  double: [8, 'f64'],
};

const cleanComment = (lines) =>
  lines
    .map((line) => line.replace(/^\s*\/\/\/<?\s?/, ''))
    .join('\n')
    .trim();

const constants = new Map(); // of the preprocessor
const lengthOf = (word) => (/^\d+$/.test(word) ? +word : constants.get(word));

// Splits "const tn_vec3 *points" into type, name, pointer depth and array length.
function declarator(text) {
  const found = text.trim().match(/^(const )?(?:struct )?(\w+)\s*(\**)\s*(\w+)?(?:\[(\w+)\])?$/);
  if (!found) throw new Error(`unknown declaration: ${text}`);
  const [, isConst, type, stars, name, length] = found;
  return {
    type,
    name,
    pointer: stars.length,
    isConst: !!isConst,
    length: length ? lengthOf(length) : 0,
  };
}

function parseStruct(body, callbacks) {
  const fields = [];
  let comment = [];
  for (const line of body.split('\n')) {
    if (/^\s*\/\/\/(?!<)/.test(line)) {
      comment.push(line);
      continue;
    }
    const found = line.match(/^\s*([^/;]+);\s*(\/\/\/<.*)?$/);
    if (found) {
      const text = found[1];
      const callback = text.match(/\(\*(\w+)\)\(/);
      const field = callback
        ? { type: 'callback', name: callback[1], pointer: 1, length: 0 }
        : declarator(text);
      if (callbacks.has(field.type)) Object.assign(field, { type: 'callback', pointer: 1 });
      field.comment = cleanComment(found[2] ? [...comment, found[2]] : comment);
      fields.push(field);
      comment = [];
    } else if (/^\s*\/\/\/</.test(line) && fields.length) {
      fields.at(-1).comment += ` ${cleanComment([line])}`;
    }
  }
  return fields;
}

function parseEnum(body) {
  const values = [];
  let next = 0;
  let comment = [];
  for (const line of body.split('\n')) {
    if (/^\s*\/\/\/(?!<)/.test(line)) {
      comment.push(line);
      continue;
    }
    const found = line.match(/^\s*(TN_\w+)(?: = (-?\d+))?,?\s*(\/\/\/<.*)?$/);
    if (found) {
      const value = found[2] === undefined ? next : +found[2];
      next = value + 1;
      values.push({
        name: found[1],
        value,
        comment: cleanComment(found[3] ? [found[3]] : comment),
      });
      comment = [];
    }
  }
  return values;
}

// Names of the values without what they share: TN_SHAPE_BOX is "box".
function shortNames(values) {
  const words = values.map(({ name }) => name.split('_'));
  let shared = 0;
  while (words.every((w) => w.length > shared + 1 && w[shared] === words[0][shared])) shared += 1;
  values.forEach((value, i) => (value.short = words[i].slice(shared).join('_').toLowerCase()));
}

export function readHeaders(paths) {
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  for (const [, name, value] of text.matchAll(/^#define (TN_\w+) (\d+)\b/gm))
    constants.set(name, +value);
  const model = {
    structs: new Map(),
    enums: new Map(),
    functions: [],
    constants: [],
    opaque: new Set(),
  };
  const callbacks = new Set(
    [...text.matchAll(/^typedef [^;{]*?\b(tn_\w+_fn)\(/gm)].map(([, name]) => name),
  );
  const COMMENT = String.raw`((?:^\/\/\/.*\n)*)`;
  for (const [, comment, name, body] of text.matchAll(
    new RegExp(`${COMMENT}^typedef enum (\\w+) \\{\\n([^}]*)\\} \\w+;`, 'gm'),
  )) {
    const values = parseEnum(body);
    shortNames(values);
    model.enums.set(name, { name, values, comment: cleanComment(comment.split('\n')) });
    for (const value of values) constants.set(value.name, value.value);
  }
  for (const [, comment, name, body] of text.matchAll(
    new RegExp(`${COMMENT}^typedef struct (\\w+) \\{\\n([^}]*)\\} \\w+;`, 'gm'),
  )) {
    model.structs.set(name, {
      name,
      fields: parseStruct(body, callbacks),
      comment: cleanComment(comment.split('\n')),
    });
  }
  for (const [, name] of text.matchAll(/^typedef struct (\w+) \w+;/gm)) model.opaque.add(name);
  for (const [, comment, declaration] of text.matchAll(
    new RegExp(`${COMMENT}^TN_API ([^;{]+);`, 'gm'),
  )) {
    const found = declaration.replace(/\s+/g, ' ').match(/^(.*?)(\w+)\((.*)\)$/);
    const result = declarator(`${found[1].trim()} x`.replace(/\* x$/, '*x'));
    const parameters =
      found[3] === 'void'
        ? []
        : found[3].split(', ').map((parameter) => {
            const p = declarator(parameter);
            if (callbacks.has(p.type)) Object.assign(p, { type: 'callback', pointer: 1 });
            return p;
          });
    if (callbacks.has(result.type)) Object.assign(result, { type: 'callback', pointer: 1 });
    model.functions.push({
      name: found[2],
      result,
      parameters,
      comment: cleanComment(comment.split('\n')),
    });
  }
  layOut(model);
  return model;
}

// Sizes and offsets by the rules of C for wasm32; layout.c checks them at compile time.
function layOut(model) {
  const place = (field) => {
    if (field.pointer) return [4, 4];
    if (SCALARS[field.type]) return [SCALARS[field.type][0], SCALARS[field.type][0]];
    if (model.enums.has(field.type)) return [4, 4];
    const inner = model.structs.get(field.type);
    if (!inner) throw new Error(`unknown type ${field.type}`);
    lay(inner);
    return [inner.size, inner.align];
  };
  const lay = (struct) => {
    if (struct.size) return;
    let offset = 0;
    let most = 1;
    for (const field of struct.fields) {
      const [size, align] = place(field);
      offset = Math.ceil(offset / align) * align;
      field.offset = offset;
      offset += size * (field.length || 1);
      most = Math.max(most, align);
    }
    struct.size = Math.ceil(offset / most) * most;
    struct.align = most;
  };
  for (const struct of model.structs.values()) lay(struct);
}

export const scalarOf = (type) => SCALARS[type]?.[1];
export const scalarSize = (type) => SCALARS[type]?.[0];
