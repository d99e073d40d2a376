// Readers and writers of C structures, from tables of their fields.

const capital = (name) => name[0].toUpperCase() + name.slice(1);

// How a value of a kind is read at an address, and written: a scalar of the module's memory, 'bool', 'text',
// 'id', numbers as f32*3, '#2' the word of an enum, '@2' a structure, both with their place in `refs`.
function accessOf(kind, refs) {
  const ref = refs[kind.slice(1)];
  const [scalar, count] = kind.split('*');
  const name = { id: 'Id', bool: 'U8', text: 'U32' }[scalar] ?? capital(scalar);
  switch (kind[0]) {
    case '@':
      return ref;
    case '#':
      return [(m, p) => ref[m.i32(p)], (m, p, x) => m.setI32(p, m.word(ref, x))];
  }
  if (count)
    return [(m, p) => m[`${scalar}s`](p, +count), (m, p, x) => m[`set${name}s`](p, x, +count)];
  switch (scalar) {
    case 'bool':
      return [(m, p) => !!m.u8(p), (m, p, x) => m.setU8(p, x ? 1 : 0)];
    case 'text':
      return [(m, p) => m.string(m.u32(p)), (m, p, x) => m.setU32(p, m.tempString(x))];
  }
  return [(m, p) => m[scalar](p), (m, p, x) => m[`set${name}`](p, x)];
}

// A fixed array, of which a counter says how many are in use if there is one.
function arrayAccess(key, [get, set], length, step, counter) {
  return [
    (m, p, start) =>
      m.each(counter ? m.i32(start + +counter) : +length, (i) => get(m, p + step * i)),
    (m, p, list, start) => {
      m.eachOf(key, list, +length, (x, i) => set(m, p + step * i, x));
      if (counter) m.setI32(start + +counter, list.length);
    },
  ];
}

const SIZES = { bool: 1, u8: 1, f64: 8, u64: 8, id: 12 };

/** Where a field is if none is missing before it, and where it ends; unknown behind a structure. */
export function placeOf(kind, end, [length, step]) {
  const [scalar, count = 1] = kind.split('*');
  const size = SIZES[scalar] ?? 4;
  const offset = Math.ceil(end / (size % 8 || 8)) * (size % 8 || 8);
  const isOne = kind === 'list' || !length;
  return [offset, isOne ? (kind[0] === '@' ? NaN : size * count) : length * step];
}

/**
 * Reader and writer of a structure. Each field is key:offset:kind, without an offset where it follows the last one, and of an array :length:step:counter.
 * A list is key:offset:list:type:width:counter; it is written only. A field without a kind is not accessible.
 */
export function structure(name, text, refs = []) {
  let end = 0;
  const fields = new Map(
    text.split(' ').map((field) => {
      const [key, at, kind = '', ...array] = field.split(':');
      const [next, size] = placeOf(kind, end, array);
      const offset = at ? +at : next;
      end = offset + size;
      if (kind === 'list') {
        const [type, width, counter] = array;
        const write = (m, p, x, start) =>
          m.setList(p, x, type, +width, counter ? start + +counter : 0);
        return [key, [offset, null, write]];
      }
      const one = kind ? accessOf(kind, refs) : [];
      return [key, [offset, ...(array.length ? arrayAccess(key, one, ...array) : one)]];
    }),
  );
  const keys = [...fields.keys()];
  const read = (m, p) => {
    const out = {};
    for (const [key, [offset, get]] of fields) if (get) out[key] = get(m, p + offset, p);
    return out;
  };
  const write = (m, p, o) => {
    for (const key of m.keys(o, name)) {
      if (o[key] === undefined) continue;
      const [offset, , set] = fields.get(key) ?? [];
      if (!set) m.unknown(name, key, keys);
      set(m, p + offset, o[key], p);
    }
  };
  write.keys = keys;
  return [read, write];
}
