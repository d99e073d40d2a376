// Whether every shape of a scene file is in the glTF file of its run, where the scene file has it:
// those of the world below the node "world", those of a body below the body's.
// usage: node shapes.mjs FILE.glb SCENE.json
import { readFile } from 'node:fs/promises';

const [glb, scene] = process.argv.slice(2);
const bytes = await readFile(glb);
const json = JSON.parse(bytes.toString('utf8', 20, 20 + bytes.readUInt32LE(12)));
const file = JSON.parse(await readFile(scene, 'utf8'));
let count = 0;

function fail(what) {
  console.error(`${glb}: ${what}`);
  process.exitCode = 1;
}

function compare(name, shapes, node) {
  const seen = shapes.filter((shape) => !shape.sensor);
  const parts = (node?.children ?? []).map((child) => json.nodes[child]);
  if (parts.length !== seen.length || parts.some((part) => part.mesh === undefined)) {
    fail(`${name} has ${parts.length} meshes for ${seen.length} shapes`);
    return;
  }
  const places = (list, key) =>
    list.map((item) => (item[key] ?? [0, 0, 0]).map((x) => x.toFixed(4) * 1).join()).sort();
  const wanted = places(seen, 'position');
  const found = places(parts, 'translation');
  if (wanted.join(' ') !== found.join(' ')) fail(`shapes of ${name} at ${found}, not ${wanted}`);
  count += seen.length;
}

const roots = json.scenes[0].nodes.map((root) => json.nodes[root]);
compare('the world', file.shapes ?? [], roots.find((node) => node.name === 'world'));
(file.bodies ?? []).forEach((body, i) => {
  if (body.shapes?.length > 0) compare(body.name ?? `body ${i}`, body.shapes, roots[i]);
});
if (count === 0) fail('no shapes');
