// Short names for the functions of a module, in the module and in the scripts that call them: the long
// ones are 5 KB of a download, twice.

const CALL = /\.x\.(tn_\w+)/g;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

// The names that scripts call as `.x.name`, less those that one of them looks up by its text.
export function shortNames(scripts) {
  const all = scripts.join('\n');
  const looked = new Set(
    [...all.matchAll(/\[['"`](tn_\w+)|\btn_default_\w+/g)].map(([, name]) => name),
  );
  const isLooked = (name) =>
    looked.has(name) ||
    /^tn_(default_|model_|instance_|articulation_|convex_|world_(save|restore))/.test(name);
  const called = [...new Set([...all.matchAll(CALL)].map(([, name]) => name))].sort();
  const list = called.filter((name) => !isLooked(name));
  return new Map(list.map((name, i) => [name, LETTERS[i % 52] + LETTERS[Math.floor(i / 52) % 52]]));
}

export const shortenScript = (text, names) =>
  text.replace(CALL, (whole, name) => (names.has(name) ? `.x.${names.get(name)}` : whole));

// ---- The export section of a module

function readNumber(bytes, at) {
  let value = 0;
  let shift = 0;
  for (;;) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    shift += 7;
    if (byte < 128) return [value, at];
  }
}

function numberBytes(value) {
  const out = [];
  for (; value >= 128; value = Math.floor(value / 128)) out.push(value % 128 | 128);
  return [...out, value];
}

function shortenSection(bytes, names) {
  const text = Buffer.from(bytes);
  let [count, at] = readNumber(bytes, 0);
  const out = [...numberBytes(count)];
  for (; count > 0; --count) {
    const [length, start] = readNumber(bytes, at);
    const name = text.toString('utf8', start, start + length);
    const [, end] = readNumber(bytes, start + length + 1); // kind, index
    const short = [...Buffer.from(names.get(name) ?? name)];
    out.push(...numberBytes(short.length), ...short, ...bytes.subarray(start + length, end));
    at = end;
  }
  return out;
}

export function shortenModule(bytes, names) {
  const EXPORTS = 7;
  const parts = [bytes.subarray(0, 8)];
  for (let at = 8; at < bytes.length; ) {
    const kind = bytes[at];
    const [size, start] = readNumber(bytes, at + 1);
    const body = bytes.subarray(start, start + size);
    const section = kind === EXPORTS ? Uint8Array.from(shortenSection(body, names)) : body;
    parts.push(Uint8Array.from([kind, ...numberBytes(section.length)]), section);
    at = start + size;
  }
  return Buffer.concat(parts);
}
