// Models of robots in the page: dropped with their meshes, broken ones, links, two side by side.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from './check.mjs';
import { zipOf } from './zips.mjs';

const ROBOTS = fileURLToPath(new URL('../../robots', import.meta.url));

// All files of a folder as pairs of path and base64.
async function filesOf(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.\w+$/.test(name));
  return Promise.all(
    names.map(async (name) => [name, (await readFile(join(folder, name))).toString('base64')]),
  );
}

// Runs in the page: drops files as the browser would.
async function drop(list) {
  const transfer = new DataTransfer();
  for (const [name, text] of list) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
}

// Runs in the page: opens files with their folders, which a made drop cannot have.
async function openAll(list) {
  const files = list.map(([name, text]) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return [name, new File([bytes], name)];
  });
  await globalThis.tenon.openFiles(new Map(files));
}

// Runs in the page.
function run(frames) {
  const { app } = globalThis.tenon;
  app.reset();
  for (let i = 0; i < frames; ++i) app.advance();
  app.draw();
  return app.sims[0].hash();
}

const PENDULUM = `<mujoco model="swing">
  <worldbody><body name="rod"><joint name="j" axis="0 1 0"/>
    <geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/></body></worldbody>
</mujoco>`;

const base64 = (text) => Buffer.from(text).toString('base64');

// A robot with its meshes in an archive, beside files that are no models; then a broken one.
async function archives(page, nativeHash) {
  const all = await filesOf(join(ROBOTS, 'arm'));
  const inside = [
    ['robot/package.xml', Buffer.from('<package><name>robot</name></package>')],
    ...all
      .filter(([name]) => !/\.xml$/.test(name))
      .map(([name, text]) => [`robot/${name}`, Buffer.from(text, 'base64')]),
  ];
  const archive = Buffer.from(zipOf(inside));
  await page.evaluate(drop, [['robot.zip', archive.toString('base64')]]);
  await page.waitForFunction(() => /arm/.test(globalThis.tenon.app.scene.text));
  const hash = await page.evaluate(run, 30);
  check(
    'a zip has the native hash',
    hash === (await nativeHash(join(ROBOTS, 'arm/arm.urdf'), 30)),
    hash,
  );
  await page.evaluate(drop, [
    ['cut.zip', archive.subarray(0, archive.length - 100).toString('base64')],
  ]);
  const message = page.locator('.message');
  await message.filter({ hasText: 'archive' }).waitFor();
  const told = await message.innerText();
  check('a broken zip is told', /archive cannot be opened: its end is missing/.test(told), told);
  check('the robot goes on', (await page.evaluate(run, 30)) === hash);
}

export async function models(open, address, pictures, nativeHash) {
  const page = await open(`${address}?still#scene=stack`, { width: 1280, height: 800 });
  const frames = 30;
  for (const [folder, name] of [
    ['arm', 'arm.urdf'],
    ['quadruped', 'scene.xml'],
  ]) {
    // One main file, as users have it: the others of our folders are models of their own.
    const isModel = (file) => /\.(xml|urdf)$/.test(file);
    const all = await filesOf(join(ROBOTS, folder));
    const wanted = all.filter(
      ([file]) =>
        !isModel(file) || file === name || (name === 'scene.xml' && file === `${folder}.xml`),
    );
    await page.evaluate(openAll, wanted);
    const hash = await page.evaluate(run, frames);
    const native = await nativeHash(join(ROBOTS, folder, name), frames);
    check(`${folder}/${name} has the native hash`, hash === native, `${hash}, ${native}`);
    await page.screenshot({ path: join(pictures, `robot-${folder}.png`) });
  }
  const two = await page.evaluate(() => {
    const { app } = globalThis.tenon;
    app.setTwo({ method: app.state.method, substeps: app.state.substeps });
    for (let i = 0; i < 30; ++i) app.advance();
    const hashes = app.sims.map((sim) => sim.hash());
    app.setTwo(null);
    return hashes;
  });
  check('two of one model move alike', two.length === 2 && two[0] === two[1], String(two));

  await archives(page, nativeHash);

  await page.evaluate(drop, [['swing.xml', base64(PENDULUM)]]);
  await page.waitForFunction(() => /swing/.test(globalThis.tenon.app.scene.title));
  const path = join(pictures, 'swing.xml');
  await writeFile(path, PENDULUM);
  const wanted = await nativeHash(path, frames);
  check('a dropped model has the native hash', (await page.evaluate(run, frames)) === wanted);
  const link = await page.evaluate(() => location.hash);
  await page.evaluate(drop, [['broken.xml', base64(PENDULUM.replace('</body>', ''))]]);
  await page.waitForSelector('.editor .wrong');
  const told = await page.locator('.editor .error').innerText();
  check('the error of a broken model stands at its line', /^Line 3: .*mismatched/.test(told), told);
  await page.evaluate((words) => {
    const { app } = globalThis.tenon;
    app.editor.close();
    history.replaceState(null, '', '#scene=stack');
    app.readAddress();
    history.replaceState(null, '', words);
    app.readAddress();
  }, link);
  await page.waitForFunction(() => /swing/.test(globalThis.tenon.app.scene.title));
  check('a link holds the model', (await page.evaluate(run, frames)) === wanted);
  check('models: no error in the console', !page.complaints.length, page.complaints.join('\n'));
  await page.close();
}
