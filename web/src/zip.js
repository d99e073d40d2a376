// Zip archives: the files inside, checked, by the browser's own decompressor.
//
// The directory at the end of an archive lists all files; sizes are taken from there and are verified while
// a file is unpacked, so that a small archive cannot fill the memory.

const ENTRY = 0x02014b50; // of the directory
const LOCAL = 0x04034b50; // before the bytes of a file
const END = 0x06054b50; // after the directory
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const IN_ZIP64 = 0xffffffff; // in place of a size or an offset
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1; // bit of the flags
export const MOST_FILES = 10000;
export const MOST_BYTES = 512e6; // of all files unpacked

export class ZipError extends Error {}

export const isZip = (bytes) =>
  bytes.length >= 4 && bytes[0] === 0x50 && bytes[1] === 0x4b && [3, 5].includes(bytes[2]);

// ---- Checksum

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
  return ~crc >>> 0;
}

// ---- Directory

function findEnd(view) {
  const last = view.byteLength - END_SIZE;
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); --at) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new ZipError('its end is missing');
}

// One line of the directory, and where the next begins.
function readEntry(view, at) {
  if (at + 46 > view.byteLength || view.getUint32(at, true) !== ENTRY)
    throw new ZipError('its directory is damaged');
  const [nameSize, extraSize, commentSize] = [28, 30, 32].map((k) => view.getUint16(at + k, true));
  const next = at + 46 + nameSize + extraSize + commentSize;
  if (next > view.byteLength) throw new ZipError('its directory is damaged');
  const name = new Uint8Array(view.buffer, view.byteOffset + at + 46, nameSize);
  const [crc, packed, size] = [16, 20, 24].map((k) => view.getUint32(at + k, true));
  const entry = {
    path: new TextDecoder().decode(name).replaceAll('\\', '/'),
    flags: view.getUint16(at + 8, true),
    method: view.getUint16(at + 10, true),
    start: view.getUint32(at + 42, true),
    ...{ crc, packed, size },
  };
  return [entry, next];
}

function checkEntry({ path, flags, method, packed, size, start }) {
  if (flags & ENCRYPTED) throw new ZipError(`${path} is encrypted`);
  if (method !== STORED && method !== DEFLATED)
    throw new ZipError(`${path} is packed by method ${method}; only deflate can be read`);
  if ([packed, size, start].includes(IN_ZIP64))
    throw new ZipError('it is in the format for more than 4 GB');
}

const isFile = ({ path }) => !path.endsWith('/') && !path.startsWith('__MACOSX/');

function directoryOf(view) {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (at === IN_ZIP64) throw new ZipError('it is in the format for more than 4 GB');
  if (count > MOST_FILES) throw new ZipError(`it has ${count} files; at most ${MOST_FILES}`);
  const entries = [];
  for (let i = 0; i < count; ++i) {
    const [entry, next] = readEntry(view, at);
    if (isFile(entry)) entries.push(entry);
    at = next;
  }
  entries.forEach(checkEntry);
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > MOST_BYTES) {
    const megabytes = (bytes) => Math.ceil(bytes / 1e6);
    throw new ZipError(
      `its files take ${megabytes(total)} MB unpacked; at most ${megabytes(MOST_BYTES)} MB`,
    );
  }
  return entries;
}

// ---- Files

function packedBytes(view, { path, start, packed }) {
  if (start + 30 > view.byteLength || view.getUint32(start, true) !== LOCAL)
    throw new ZipError(`${path} is damaged`);
  const at = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  if (at + packed > view.byteLength) throw new ZipError(`${path} is cut off`);
  return new Uint8Array(view.buffer, view.byteOffset + at, packed);
}

// Stops as soon as there are more bytes than the directory says.
async function inflated(bytes, { path, size }) {
  const out = new Uint8Array(size);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = stream.getReader();
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new ZipError(`${path} is damaged`);
    });
    if (done) break;
    if (filled + value.length > size) {
      reader.cancel().catch(() => {});
      throw new ZipError(`${path} is larger than its directory says`);
    }
    out.set(value, filled);
    filled += value.length;
  }
  if (filled < size) throw new ZipError(`${path} is cut off`);
  return out;
}

// The files of an archive by their path. Throws a ZipError that says what is wrong with it.
export async function unzipped(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files = new Map();
  for (const entry of directoryOf(view)) {
    const packed = packedBytes(view, entry);
    const content = entry.method === STORED ? packed : await inflated(packed, entry);
    if (content.length !== entry.size || crc32(content) !== entry.crc)
      throw new ZipError(`${entry.path} is damaged`);
    files.set(entry.path, content);
  }
  return files;
}
