// Zip archives of the page: what Debian's zip packs, and every kind of broken one.
import { deflateRawSync } from 'node:zlib';
import { crc32, isZip, MOST_BYTES, unzipped } from '../src/zip.js';
import { check } from './check.mjs';

const bytesOf = (text) => new TextEncoder().encode(text);

// An archive of [path, bytes] as the format describes it; `change` alters the fields of the first file.
export function zipOf(list, change = {}) {
  const parts = [];
  const directory = [];
  let start = 0;
  list.forEach(([path, bytes], i) => {
    const packed = deflateRawSync(bytes);
    const name = Buffer.from(path);
    const usual = { flags: 0, method: 8, crc: crc32(bytes), packed: packed.length };
    const f = { ...usual, size: bytes.length, start, ...(i === 0 ? change : {}) };
    const sizes = Buffer.alloc(12);
    [f.crc, f.packed, f.size].forEach((n, k) => sizes.writeUInt32LE(n, 4 * k));
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(f.flags, 6);
    head.writeUInt16LE(f.method, 8);
    sizes.copy(head, 14);
    head.writeUInt16LE(name.length, 26);
    const line = Buffer.alloc(46);
    line.writeUInt32LE(0x02014b50, 0);
    line.writeUInt16LE(f.flags, 8);
    line.writeUInt16LE(f.method, 10);
    sizes.copy(line, 16);
    line.writeUInt16LE(name.length, 28);
    line.writeUInt32LE(f.start, 42);
    parts.push(head, name, packed);
    directory.push(line, name);
    start += head.length + name.length + packed.length;
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(list.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(start, 16);
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]));
}

async function complaint(bytes) {
  try {
    await unzipped(bytes);
    return 'no error';
  } catch (error) {
    return error.message;
  }
}

export async function zips() {
  const robot = bytesOf('<mujoco/>');
  const mesh = Uint8Array.from({ length: 100000 }, (_, i) => (i * i) % 251);
  const list = [
    ['robot/robot.xml', robot],
    ['robot/meshes/a.stl', mesh],
    ['__MACOSX/robot/._robot.xml', robot],
  ];
  const good = zipOf(list);
  const files = await unzipped(good);
  check('zip: it is recognized', isZip(good) && !isZip(robot));
  check('zip: its files', [...files.keys()].join() === 'robot/robot.xml,robot/meshes/a.stl');
  const isWhole = Buffer.compare(files.get('robot/meshes/a.stl'), mesh) === 0;
  check('zip: their contents', isWhole);
  const cases = [
    ['encrypted', zipOf(list, { flags: 1 }), /robot\.xml is encrypted/],
    ['another method', zipOf(list, { method: 12 }), /method 12; only deflate/],
    ['wrong checksum', zipOf(list, { crc: 1 }), /robot\.xml is damaged/],
    ['a bomb', zipOf(list, { size: 2 * MOST_BYTES }), /at most 512 MB/],
    ['a hidden bomb', zipOf([list[1]], { size: 5000 }), /larger than its directory says/],
    ['too small', zipOf(list, { size: 50 }), /robot\.xml is cut off/],
    ['past its end', zipOf(list, { start: 1e8 }), /robot\.xml is damaged/],
    ['cut off', good.subarray(0, good.length / 2), /its end is missing/],
    ['zip64', zipOf(list, { size: 0xffffffff }), /more than 4 GB/],
    [
      'no directory',
      good.map((byte, i) => (i > good.length - 150 && i < good.length - 22 ? 0 : byte)),
      /directory is damaged/,
    ],
  ];
  for (const [what, bytes, pattern] of cases) {
    const told = await complaint(bytes);
    check(`zip: ${what}`, pattern.test(told), told);
  }
  // No damaged byte may hang the reader, or give other contents without an error.
  let isWrong = 0;
  for (let i = 0; i < good.length; i += 97) {
    const bytes = good.slice();
    bytes[i] ^= 1 << i % 8;
    const got = await unzipped(bytes).catch(() => null);
    for (const [path, content] of got ?? []) {
      const wanted = list.find(([name]) => name === path)?.[1];
      isWrong += wanted && Buffer.compare(content, wanted) !== 0;
    }
  }
  check('zip: damaged bytes are found', isWrong === 0, `${isWrong}`);
}
