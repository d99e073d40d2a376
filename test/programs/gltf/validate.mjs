// Checks glTF files with the Khronos validator: no errors, no warnings, and a motion inside.
// usage: node validate.mjs FILE...
import { readFile } from 'node:fs/promises';
import validator from 'gltf-validator';

let bad = 0;
for (const path of process.argv.slice(2)) {
  const bytes = new Uint8Array(await readFile(path));
  const report = await validator.validateBytes(bytes);
  const { numErrors, numWarnings, messages } = report.issues;
  const { animationCount, drawCallCount, totalTriangleCount } = report.info;
  if (numErrors > 0 || numWarnings > 0 || animationCount !== 1 || drawCallCount < 1) {
    bad += 1;
    console.error(path, JSON.stringify(messages.slice(0, 5), null, 2));
  } else {
    console.log(`${path}: valid, ${drawCallCount} parts, ${totalTriangleCount} triangles`);
  }
}
process.exit(bad > 0 ? 1 : 0);
